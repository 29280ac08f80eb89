//! A session's settings (PostgreSQL's GUC, `guc.c`): what there is, what it is set to, and what of that outlives a transaction.
//!
//! Three layers: the values that a session starts with (built in, ALTER DATABASE and ROLE ... SET, startup packet), those of SET, and
//! those of SET LOCAL over them. SET is undone when its transaction or savepoint is rolled back, SET LOCAL when its transaction ends.

pub mod definition;
mod special;
pub mod value;

use catalog::{ByteaOutput, IntervalStyle, Result, SqlError, SqlState, Style};
use definition::{Context, DEFINITIONS, Definition, Kind};
use rustc_hash::FxHashMap;
use special::unrecognized;
use std::sync::Arc;
use std::time::Duration;

/// How long a SET holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SetScope {
    /// SET: for the session.
    Session,
    /// SET LOCAL: until the transaction ends.
    Local,
    /// The value that RESET goes back to: startup packet, ALTER ... SET.
    Startup,
}

/// Who a setting is: its place in the table, or a custom one's name.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
enum Key {
    Known(usize),
    Custom(String),
}

/// What a change replaced, to undo it.
#[derive(Clone, Debug)]
struct Undo {
    level: u32,
    key: Key,
    session: Option<String>,
    local: Option<String>,
}

/// A row of SHOW ALL.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Name.
    pub name: String,
    /// Value.
    pub value: String,
    /// Description.
    pub description: String,
}

/// A session's settings.
#[derive(Clone, Debug)]
pub struct Settings {
    start: FxHashMap<Key, String>,
    session: FxHashMap<Key, String>,
    local: FxHashMap<Key, String>,
    undo: Vec<Undo>,
    level: u32,
    superuser: bool,
    style: Arc<Style>,
    search_path: Arc<[String]>,
    statement_timeout: Option<Duration>,
    lock_timeout: Option<Duration>,
    idle_in_transaction_timeout: Option<Duration>,
    idle_session_timeout: Option<Duration>,
    synchronous_commit: bool,
    notice_level: u8,
    /// Changed settings that clients are to be told of.
    to_report: Vec<usize>,
    generation: u64,
}

impl Default for Settings {
    fn default() -> Self {
        let mut settings = Settings {
            start: FxHashMap::default(),
            session: FxHashMap::default(),
            local: FxHashMap::default(),
            undo: Vec::new(),
            level: 0,
            superuser: true,
            style: Arc::default(),
            search_path: Arc::new([]),
            statement_timeout: None,
            lock_timeout: None,
            idle_in_transaction_timeout: None,
            idle_session_timeout: None,
            synchronous_commit: true,
            notice_level: 0,
            to_report: Vec::new(),
            generation: 0,
        };
        settings.recompute();
        settings.generation = 0;
        settings
    }
}

impl Settings {
    /// The built-in values, for a role.
    pub fn new(role: &str, superuser: bool) -> Settings {
        let mut settings = Settings { superuser, ..Settings::default() };
        settings.force("session_authorization", role);
        settings.force("is_superuser", if superuser { "on" } else { "off" });
        settings
    }

    /// Sets the session's own start value of a setting that users cannot change (data_directory, port, is_superuser, ...).
    pub fn force(&mut self, name: &str, value: &str) {
        if let Some(place) = DEFINITIONS.place(name) {
            self.start.insert(Key::Known(place), value.to_owned());
            self.recompute();
        }
    }

    /// The role changed (SET ROLE, SET SESSION AUTHORIZATION): whose privileges decide what may be set.
    pub fn set_superuser(&mut self, superuser: bool) {
        self.superuser = superuser;
        self.force("is_superuser", if superuser { "on" } else { "off" });
        self.to_report.extend(DEFINITIONS.place("is_superuser"));
    }

    // Changing.

    /// SET name TO value; `None` is TO DEFAULT. The value is one string, for lists already joined ([`Settings::set_list`]).
    pub fn set(&mut self, name: &str, value: Option<&str>, scope: SetScope) -> Result<()> {
        let Some(place) = DEFINITIONS.place(name) else { return self.set_custom(name, value, scope) };
        let Some(definition) = DEFINITIONS.all.get(place) else { return Err(unrecognized(name)) };
        self.check_context(definition, scope)?;
        let key = Key::Known(place);
        let kept = match value {
            None => self.start.get(&key).cloned().unwrap_or_else(|| definition.default.clone()),
            Some(text) => self.check_value(definition, name, text)?,
        };
        self.store(key, kept, scope);
        if definition.reported {
            self.to_report.push(place);
        }
        self.recompute();
        Ok(())
    }

    /// SET with values as written: several only for lists, whose elements are quoted where needed (`flatten_set_variable_args`).
    pub fn set_list(&mut self, name: &str, values: &[String], scope: SetScope) -> Result<()> {
        let list = DEFINITIONS.place(name).and_then(|place| DEFINITIONS.all.get(place)).and_then(|d| d.list);
        match (values, list) {
            ([value], None) => self.set(name, Some(value), scope),
            (_, None) => Err(SqlError::new(
                SqlState::INVALID_PARAMETER_VALUE,
                format!("SET {name} takes only one argument"),
            )),
            (values, Some(quote)) => {
                let joined: Vec<String> = values
                    .iter()
                    .map(|v| if quote { value::quote_identifier(v) } else { v.clone() })
                    .collect();
                self.set(name, Some(&joined.join(", ")), scope)
            }
        }
    }

    /// Checks a value as SET would, for ALTER DATABASE and ROLE ... SET; gives the text to keep there.
    pub fn check_assignment(&self, name: &str, values: &[String]) -> Result<String> {
        let mut scratch = self.clone();
        scratch.set_list(name, values, SetScope::Session)?;
        scratch.show(name).ok_or_else(|| unrecognized(name))
    }

    fn set_custom(&mut self, name: &str, value: Option<&str>, scope: SetScope) -> Result<()> {
        if !name.contains('.') {
            return Err(unrecognized(name));
        }
        let word = |part: &str| {
            part.starts_with(|c: char| c.is_alphabetic() || c == '_')
                && part.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$')
        };
        if !name.split('.').all(word) {
            return Err(SqlError::new(
                SqlState::INVALID_NAME,
                format!("invalid configuration parameter name \"{name}\""),
            )
            .detail("Custom parameter names must be two or more simple identifiers separated by dots."));
        }
        let key = Key::Custom(name.to_ascii_lowercase());
        let value = match value {
            Some(value) => value.to_owned(),
            None => self.start.get(&key).cloned().unwrap_or_default(),
        };
        // Once named, a custom setting stays, if only empty.
        self.start.entry(key.clone()).or_default();
        self.store(key, value, scope);
        self.generation += 1;
        Ok(())
    }

    fn store(&mut self, key: Key, value: String, scope: SetScope) {
        if scope == SetScope::Startup {
            self.start.insert(key, value);
            return;
        }
        self.undo.push(Undo {
            level: self.level,
            key: key.clone(),
            session: self.session.get(&key).cloned(),
            local: self.local.get(&key).cloned(),
        });
        match scope {
            SetScope::Local => {
                self.local.insert(key, value);
            }
            SetScope::Session | SetScope::Startup => {
                self.local.remove(&key);
                self.session.insert(key, value);
            }
        }
    }

    fn check_context(&self, definition: &Definition, scope: SetScope) -> Result<()> {
        let name = &definition.name;
        let refuse = |how: &str| {
            Err(SqlError::new(SqlState::CANT_CHANGE_RUNTIME_PARAM, format!("parameter \"{name}\" {how}")))
        };
        match definition.context {
            Context::Internal => refuse("cannot be changed"),
            Context::Postmaster => refuse("cannot be changed without restarting the server"),
            Context::Sighup => refuse("cannot be changed now"),
            Context::Backend if scope != SetScope::Startup => refuse("cannot be set after connection start"),
            Context::Superuser if !self.superuser => Err(SqlError::new(
                SqlState::INSUFFICIENT_PRIVILEGE,
                format!("permission denied to set parameter \"{name}\""),
            )),
            Context::Backend | Context::Superuser | Context::User => Ok(()),
        }
    }

    fn check_value(&self, definition: &Definition, name: &str, text: &str) -> Result<String> {
        let kept = value::check(definition, name, text)?;
        special::check(&definition.name, kept, &self.style)
    }

    /// RESET name.
    pub fn reset(&mut self, name: &str) -> Result<()> {
        match DEFINITIONS.place(name) {
            None if !name.contains('.') => Err(unrecognized(name)),
            _ => self.set(name, None, SetScope::Session),
        }
    }

    /// RESET ALL: everything that users may change, but for transaction modes, role and session authorization.
    pub fn reset_all(&mut self) {
        let keys: Vec<Key> = self.session.keys().chain(self.local.keys()).cloned().collect();
        for key in keys {
            let value = match &key {
                Key::Known(place) => {
                    let Some(definition) = DEFINITIONS.all.get(*place) else { continue };
                    let kept = matches!(
                        definition.name.as_str(),
                        "role"
                            | "session_authorization"
                            | "transaction_isolation"
                            | "transaction_read_only"
                            | "transaction_deferrable"
                    );
                    if kept {
                        continue;
                    }
                    if definition.reported {
                        self.to_report.push(*place);
                    }
                    self.start.get(&key).cloned().unwrap_or_else(|| definition.default.clone())
                }
                Key::Custom(_) => self.start.get(&key).cloned().unwrap_or_default(),
            };
            self.store(key, value, SetScope::Session);
        }
        self.recompute();
    }

    // Transactions.

    /// A transaction begins: its isolation, read-only and deferrable modes start from their defaults.
    pub fn begin_transaction(&mut self) {
        self.undo.clear();
        self.level = 0;
    }

    /// A savepoint begins.
    pub fn push_level(&mut self) {
        self.level += 1;
    }

    /// The innermost savepoint is released: its changes are the outer level's.
    pub fn release_level(&mut self) {
        self.level = self.level.saturating_sub(1);
        for undo in &mut self.undo {
            undo.level = undo.level.min(self.level);
        }
    }

    /// Rolled back to the start of the innermost savepoint, which goes on (ROLLBACK TO) or not (`release_level` follows).
    pub fn rollback_level(&mut self) {
        let level = self.level;
        self.undo_from(level);
    }

    /// The transaction is committed: SET stays, SET LOCAL goes.
    pub fn commit_transaction(&mut self) {
        self.undo.clear();
        self.level = 0;
        self.drop_local();
    }

    /// The transaction is rolled back: both go.
    pub fn rollback_transaction(&mut self) {
        self.undo_from(0);
        self.level = 0;
        self.drop_local();
    }

    fn undo_from(&mut self, level: u32) {
        let mut changed = false;
        while let Some(undo) = self.undo.pop_if(|u| u.level >= level) {
            let restore = |map: &mut FxHashMap<Key, String>, old: Option<String>| match old {
                Some(value) => map.insert(undo.key.clone(), value),
                None => map.remove(&undo.key),
            };
            restore(&mut self.session, undo.session);
            restore(&mut self.local, undo.local);
            self.note_report(&undo.key);
            changed = true;
        }
        if changed {
            self.recompute();
        }
    }

    fn drop_local(&mut self) {
        if self.local.is_empty() {
            return;
        }
        let keys: Vec<Key> = self.local.drain().map(|(key, _)| key).collect();
        for key in &keys {
            self.note_report(key);
        }
        self.recompute();
    }

    fn note_report(&mut self, key: &Key) {
        if let Key::Known(place) = key
            && DEFINITIONS.all.get(*place).is_some_and(|d| d.reported)
        {
            self.to_report.push(*place);
        }
    }

    // Reading.

    fn kept(&self, key: &Key) -> Option<&str> {
        let own = self.local.get(key).or_else(|| self.session.get(key)).or_else(|| self.start.get(key));
        match (own, key) {
            (Some(value), _) => Some(value),
            (None, Key::Known(place)) => DEFINITIONS.all.get(*place).map(|d| d.default.as_str()),
            (None, Key::Custom(_)) => None,
        }
    }

    /// A setting in the form in which it is kept (numbers in its unit), as pg_settings shows it.
    pub fn raw(&self, name: &str) -> Option<&str> {
        match DEFINITIONS.place(name) {
            Some(place) => self.kept(&Key::Known(place)),
            None => self.kept(&Key::Custom(name.to_ascii_lowercase())),
        }
    }

    /// A setting as SHOW prints it.
    pub fn show(&self, name: &str) -> Option<String> {
        let kept = self.raw(name)?;
        Some(match DEFINITIONS.place(name).and_then(|place| DEFINITIONS.all.get(place)) {
            Some(definition) if definition.name == "seed" => "unavailable".into(),
            Some(definition) => value::show(definition, kept),
            None => kept.to_owned(),
        })
    }

    /// SHOW name: the column's name and the value; 42704 for an unknown one.
    pub fn show_column(&self, name: &str) -> Result<(String, String)> {
        let value = self.show(name).ok_or_else(|| unrecognized(name))?;
        let own =
            DEFINITIONS.place(name).and_then(|place| DEFINITIONS.all.get(place)).map(|d| d.name.clone());
        Ok((own.unwrap_or_else(|| name.to_owned()), value))
    }

    /// SHOW ALL.
    pub fn show_all(&self) -> Vec<Shown> {
        let visible = DEFINITIONS.all.iter().enumerate().filter(|(_, d)| !d.hidden);
        visible
            .map(|(place, d)| Shown {
                name: d.name.clone(),
                value: value::show(d, self.kept(&Key::Known(place)).unwrap_or_default()),
                description: d.description.clone(),
            })
            .collect()
    }

    /// Settings that clients are told of: all, at startup.
    pub fn reported(&self) -> Vec<(String, String)> {
        let reported = DEFINITIONS.all.iter().filter(|d| d.reported);
        reported.map(|d| (d.name.clone(), self.show(&d.name).unwrap_or_default())).collect()
    }

    /// Those that may have changed since the last call.
    pub fn take_reports(&mut self) -> Vec<(String, String)> {
        if self.to_report.is_empty() {
            return Vec::new();
        }
        let mut places = std::mem::take(&mut self.to_report);
        places.sort_unstable();
        places.dedup();
        let names = places.into_iter().filter_map(|place| DEFINITIONS.all.get(place)).map(|d| d.name.clone());
        names
            .map(|name| (self.show(&name).unwrap_or_default(), name))
            .map(|(value, name)| (name, value))
            .collect()
    }

    /// Counts changes; what depends on settings is made anew when it differs.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    // The hot ones, ready.

    /// The styles by which values are read and printed.
    pub fn style(&self) -> Arc<Style> {
        Arc::clone(&self.style)
    }

    /// search_path's names, `$user` as it is.
    pub fn search_path(&self) -> Arc<[String]> {
        Arc::clone(&self.search_path)
    }

    /// statement_timeout; `None` is off.
    pub fn statement_timeout(&self) -> Option<Duration> {
        self.statement_timeout
    }

    /// lock_timeout
    pub fn lock_timeout(&self) -> Option<Duration> {
        self.lock_timeout
    }

    /// idle_in_transaction_session_timeout
    pub fn idle_in_transaction_timeout(&self) -> Option<Duration> {
        self.idle_in_transaction_timeout
    }

    /// idle_session_timeout
    pub fn idle_session_timeout(&self) -> Option<Duration> {
        self.idle_session_timeout
    }

    /// Whether commits wait for the disk: synchronous_commit is not off.
    pub fn synchronous_commit(&self) -> bool {
        self.synchronous_commit
    }

    /// default_transaction_isolation
    pub fn default_isolation(&self) -> &str {
        self.raw("default_transaction_isolation").unwrap_or("read committed")
    }

    /// A boolean setting; false for others.
    pub fn is_on(&self, name: &str) -> bool {
        self.raw(name) == Some("on")
    }

    /// An integer setting in its unit; 0 for others.
    pub fn integer(&self, name: &str) -> i64 {
        self.raw(name).and_then(|v| v.parse().ok()).unwrap_or(0)
    }

    /// Whether client_min_messages lets a message of this severity through to the client.
    pub fn sends(&self, severity: catalog::Severity) -> bool {
        use catalog::Severity;
        let weight = match severity {
            Severity::Debug => 1,
            Severity::Log => 2,
            Severity::Notice => 4,
            Severity::Warning => 5,
            // INFO is always sent.
            Severity::Info | Severity::Error | Severity::Fatal | Severity::Panic => return true,
        };
        weight >= self.notice_level
    }

    fn recompute(&mut self) {
        self.generation += 1;
        let milliseconds = |settings: &Settings, name| match settings.integer(name) {
            0 => None,
            ms => Some(Duration::from_millis(ms.unsigned_abs())),
        };
        self.statement_timeout = milliseconds(self, "statement_timeout");
        self.lock_timeout = milliseconds(self, "lock_timeout");
        self.idle_in_transaction_timeout = milliseconds(self, "idle_in_transaction_session_timeout");
        self.idle_session_timeout = milliseconds(self, "idle_session_timeout");
        self.synchronous_commit = self.raw("synchronous_commit") != Some("off");
        self.notice_level = match self.raw("client_min_messages").unwrap_or_default() {
            level if level.starts_with("debug") => 1,
            "log" => 2,
            "info" => 3,
            "notice" => 4,
            "warning" => 5,
            _ => 6,
        };
        let path = value::split_identifiers(self.raw("search_path").unwrap_or_default()).unwrap_or_default();
        if *self.search_path != *path {
            self.search_path = path.into();
        }
        let style = self.make_style();
        if !same_style(&style, &self.style) {
            self.style = Arc::new(style);
        }
    }

    fn make_style(&self) -> Style {
        let default = Style::default();
        let raw = |name| self.raw(name).unwrap_or_default();
        let (date_style, date_order) = special::date_style("DateStyle", raw("DateStyle"), &default)
            .unwrap_or((default.date_style, default.date_order));
        let zone = raw("TimeZone");
        let (time_zone, time_zone_name) = if zone == self.style.time_zone_name {
            (self.style.time_zone.clone(), zone.to_owned())
        } else {
            special::time_zone(zone).unwrap_or((default.time_zone, default.time_zone_name))
        };
        Style {
            date_style,
            date_order,
            interval_style: match raw("IntervalStyle") {
                "postgres_verbose" => IntervalStyle::PostgresVerbose,
                "sql_standard" => IntervalStyle::SqlStandard,
                "iso_8601" => IntervalStyle::Iso8601,
                _ => IntervalStyle::Postgres,
            },
            bytea_output: if raw("bytea_output") == "escape" {
                ByteaOutput::Escape
            } else {
                ByteaOutput::Hex
            },
            extra_float_digits: self.integer("extra_float_digits") as i32,
            time_zone,
            time_zone_name,
        }
    }
}

fn same_style(a: &Style, b: &Style) -> bool {
    a.date_style == b.date_style
        && a.date_order == b.date_order
        && a.interval_style == b.interval_style
        && a.bytea_output == b.bytea_output
        && a.extra_float_digits == b.extra_float_digits
        && a.time_zone_name == b.time_zone_name
}

/// The kind of a setting as pg_settings calls it, with its bounds and values: vartype, min_val, max_val, enumvals.
pub fn describe(
    definition: &Definition,
) -> (&'static str, Option<String>, Option<String>, Option<Vec<String>>) {
    match &definition.kind {
        Kind::Bool => ("bool", None, None, None),
        Kind::Int(min, max) => ("integer", Some(min.to_string()), Some(max.to_string()), None),
        Kind::Real(min, max) => ("real", Some(value::format_g(*min)), Some(value::format_g(*max)), None),
        Kind::Text => ("string", None, None, None),
        Kind::Enum(values) => ("enum", None, None, Some(values.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show_after(name: &str, value: &str) -> String {
        let mut settings = Settings::default();
        match settings.set(name, Some(value), SetScope::Session) {
            Ok(()) => settings.show(name).expect("shown"),
            Err(error) => error.message().to_owned(),
        }
    }

    #[test]
    fn values_are_read_and_shown_as_postgresql_does() {
        for (name, value, shown) in [
            ("work_mem", "1.5MB", "1536kB"),
            (
                "work_mem",
                "1",
                "1 kB is outside the valid range for parameter \"work_mem\" (64 .. 2147483647)",
            ),
            ("work_mem", "64MBx", "invalid value for parameter \"work_mem\": \"64MBx\""),
            ("statement_timeout", "90000", "90s"),
            ("statement_timeout", "24h", "1d"),
            ("vacuum_cost_delay", "1.5", "1500us"),
            ("effective_cache_size", "1GB", "1GB"),
            ("enable_seqscan", "OF", "off"),
            ("enable_seqscan", "o", "parameter \"enable_seqscan\" requires a Boolean value"),
            ("bytea_output", "HEX", "hex"),
            ("seq_page_cost", "1e3", "1000"),
            (
                "seq_page_cost",
                "-1",
                "-1 is outside the valid range for parameter \"seq_page_cost\" (0 .. 1.79769e+308)",
            ),
            ("datestyle", "german", "German, DMY"),
            ("datestyle", "sql, dmy", "SQL, DMY"),
            ("timezone", "America/New_York", "America/New_York"),
            ("timezone", "nowhere/x", "invalid value for parameter \"TimeZone\": \"nowhere/x\""),
            ("timezone", "-5", "<-05>+05"),
            ("timezone", "utc", "UTC"),
            ("timezone", "EST5EDT", "EST5EDT"),
            ("timezone", "interval -08:00", "<-08>+08"),
            ("client_encoding", "utf-8", "UTF8"),
            ("fsync", "off", "parameter \"fsync\" cannot be changed now"),
            ("synchronous_commit", "true", "on"),
            ("nosuch", "1", "unrecognized configuration parameter \"nosuch\""),
            ("a.b", "c", "c"),
            (
                "standard_conforming_strings",
                "off",
                "setting parameter \"standard_conforming_strings\" to \"off\" is not supported",
            ),
        ] {
            assert_eq!(show_after(name, value), shown, "{name} = {value}");
        }
    }

    #[test]
    fn set_ends_with_its_transaction_and_local_with_every_one() {
        let mut s = Settings::default();
        s.begin_transaction();
        s.set("work_mem", Some("1MB"), SetScope::Session).expect("set");
        s.push_level();
        s.set("work_mem", Some("2MB"), SetScope::Local).expect("set");
        assert_eq!(s.show("work_mem").as_deref(), Some("2MB"));
        s.rollback_level();
        assert_eq!(s.show("work_mem").as_deref(), Some("1MB"));
        s.rollback_transaction();
        assert_eq!(s.show("work_mem").as_deref(), Some("4MB"));
        s.begin_transaction();
        s.set("timezone", Some("UTC"), SetScope::Local).expect("set");
        assert_eq!(s.take_reports(), [("TimeZone".to_owned(), "UTC".to_owned())]);
        s.commit_transaction();
        assert_eq!(s.take_reports(), [("TimeZone".to_owned(), "Etc/UTC".to_owned())]);
        s.set_list("search_path", &["A b".into(), "$user".into(), "public".into()], SetScope::Session)
            .expect("set");
        assert_eq!(s.show("search_path").as_deref(), Some("\"A b\", \"$user\", public"));
        assert_eq!(&*s.search_path(), ["A b", "$user", "public"]);
    }
}
