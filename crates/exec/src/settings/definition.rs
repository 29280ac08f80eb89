//! The table of settings: PostgreSQL's `pg_settings`, as captured, and the few that it hides.

use catalog::pg::PG_SETTINGS;
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// The type of a setting with its bounds.
#[derive(Clone, Debug)]
pub enum Kind {
    /// boolean
    Bool,
    /// integer, between bounds.
    Int(i64, i64),
    /// real, between bounds.
    Real(f64, f64),
    /// string
    Text,
    /// One of these words.
    Enum(Vec<String>),
}

/// Who may change a setting, and when (`GucContext`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Context {
    Internal,
    Postmaster,
    Sighup,
    Backend,
    Superuser,
    User,
}

/// A setting.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Name in its own capitals.
    pub name: String,
    /// Type.
    pub kind: Kind,
    /// Unit of numbers: empty, `B`, `kB`, `8kB`, `MB`, `ms`, `s`, `min`.
    pub unit: String,
    /// Who may change it.
    pub context: Context,
    /// The value that a session starts with, as kept (numbers in the unit).
    pub default: String,
    /// Description.
    pub description: String,
    /// Not in SHOW ALL and pg_settings (`GUC_NO_SHOW_ALL`).
    pub hidden: bool,
    /// Elements are identifiers (`GUC_LIST_QUOTE`), or plain (`GUC_LIST_INPUT`).
    pub list: Option<bool>,
    /// Clients are told of changes (`GUC_REPORT`).
    pub reported: bool,
}

/// All settings by place, and their places by lower-case name.
pub struct Definitions {
    /// In order of name.
    pub all: Vec<Definition>,
    by_name: FxHashMap<String, usize>,
}

impl Definitions {
    /// The place of a setting.
    pub fn place(&self, name: &str) -> Option<usize> {
        if let Some(place) = self.by_name.get(name) {
            return Some(*place);
        }
        self.by_name.get(&name.to_ascii_lowercase()).copied()
    }
}

/// The settings.
pub static DEFINITIONS: LazyLock<Definitions> = LazyLock::new(read);

/// A setting of our own: whether literals are lifted out of simple queries.
pub const LITERAL_LIFTING: &str = "pgfusion.literal_lifting";

/// Version that clients are told.
pub const SERVER_VERSION: &str = "15.18";

/// Where a captured value belongs to the cluster it was captured from, the value here.
const OWN_VALUES: &[(&str, &str)] = &[
    ("server_version", SERVER_VERSION),
    ("server_version_num", "150018"),
    ("application_name", ""),
    ("config_file", ""),
    ("data_directory", ""),
    ("hba_file", ""),
    ("ident_file", ""),
    ("external_pid_file", ""),
    ("port", "5432"),
    ("listen_addresses", "localhost"),
    ("unix_socket_directories", ""),
    ("shared_memory_size", "0"),
    ("shared_memory_size_in_huge_pages", "-1"),
];

const REPORTED: &[&str] = &[
    "application_name",
    "client_encoding",
    "DateStyle",
    "default_transaction_read_only",
    "in_hot_standby",
    "integer_datetimes",
    "IntervalStyle",
    "is_superuser",
    "server_encoding",
    "server_version",
    "session_authorization",
    "standard_conforming_strings",
    "TimeZone",
];

/// The time zone that the environment variable TZ names, else the built-in one; initdb decides so too.
fn machine_time_zone(built_in: &str) -> String {
    let named = std::env::var("TZ").ok();
    let known = named.as_deref().and_then(super::special::time_zone);
    known.map_or_else(|| built_in.to_owned(), |(_, name)| name)
}

fn read() -> Definitions {
    let t = &*PG_SETTINGS;
    let c = |name| t.column(name);
    let (name, setting, unit, desc, context, vartype, min, max, values) = (
        c("name"),
        c("setting"),
        c("unit"),
        c("short_desc"),
        c("context"),
        c("vartype"),
        c("min_val"),
        c("max_val"),
        c("enumvals"),
    );
    let mut all: Vec<Definition> = Vec::with_capacity(t.rows.len() + 4);
    for row in &t.rows {
        let text = |column: usize| row.get(column).and_then(|v| v.as_deref()).unwrap_or_default();
        let kind = match text(vartype) {
            "bool" => Kind::Bool,
            "integer" => Kind::Int(text(min).parse().unwrap_or(0), text(max).parse().unwrap_or(i64::MAX)),
            "real" => Kind::Real(text(min).parse().unwrap_or(0.0), real_bound(text(max))),
            "enum" => {
                let list = text(values).trim_matches(['{', '}']);
                Kind::Enum(list.split(',').map(|v| v.trim_matches('"').to_owned()).collect())
            }
            _ => Kind::Text,
        };
        let own = OWN_VALUES.iter().find(|(n, _)| *n == text(name)).map(|(_, v)| *v);
        all.push(Definition {
            name: text(name).to_owned(),
            kind,
            unit: text(unit).to_owned(),
            context: match text(context) {
                "internal" => Context::Internal,
                "postmaster" => Context::Postmaster,
                "sighup" => Context::Sighup,
                "backend" | "superuser-backend" => Context::Backend,
                "superuser" => Context::Superuser,
                _ => Context::User,
            },
            default: match text(name) {
                "TimeZone" | "log_timezone" => machine_time_zone(text(setting)),
                _ => own.unwrap_or(text(setting)).to_owned(),
            },
            description: text(desc).to_owned(),
            hidden: false,
            list: None,
            reported: false,
        });
    }
    for (name, default, description, context) in [
        ("is_superuser", "on", "Shows whether the current user is a superuser.", Context::Internal),
        ("role", "none", "Sets the current role.", Context::User),
        ("seed", "0", "Sets the seed for random-number generation.", Context::User),
        ("session_authorization", "postgres", "Sets the session user name.", Context::User),
    ] {
        let kind = match name {
            "is_superuser" => Kind::Bool,
            "seed" => Kind::Real(-1.0, 1.0),
            _ => Kind::Text,
        };
        all.push(Definition {
            name: name.into(),
            kind,
            unit: String::new(),
            context,
            default: default.into(),
            description: description.into(),
            hidden: true,
            list: None,
            reported: false,
        });
    }
    all.push(Definition {
        name: LITERAL_LIFTING.into(),
        kind: Kind::Bool,
        unit: String::new(),
        context: Context::User,
        default: "on".into(),
        description: "Lets simple queries that differ in their literals only share a plan.".into(),
        hidden: true,
        list: None,
        reported: false,
    });
    for definition in &mut all {
        definition.reported = REPORTED.contains(&definition.name.as_str());
        definition.list = match definition.name.as_str() {
            "search_path"
            | "temp_tablespaces"
            | "session_preload_libraries"
            | "shared_preload_libraries"
            | "local_preload_libraries"
            | "unix_socket_directories" => Some(true),
            "DateStyle"
            | "log_destination"
            | "wal_consistency_checking"
            | "synchronous_standby_names"
            | "listen_addresses"
            | "debug_io_direct" => Some(false),
            _ => None,
        };
    }
    all.sort_by_key(|d| d.name.to_ascii_lowercase());
    let by_name = all.iter().enumerate().map(|(i, d)| (d.name.to_ascii_lowercase(), i)).collect();
    Definitions { all, by_name }
}

fn real_bound(text: &str) -> f64 {
    // 1.79769e+308 stands for DBL_MAX.
    if text.starts_with("1.79769e+308") { f64::MAX } else { text.parse().unwrap_or(f64::MAX) }
}
