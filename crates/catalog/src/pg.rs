//! PostgreSQL's own catalogs as data: the rows of pg_type, pg_proc, pg_operator and so on that every cluster has, captured from a
//! real PostgreSQL 15 by `data/capture`. Overload resolution and the system relations read them.

use crate::Oid;
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// A captured relation: named columns, rows of optional text (COPY text form, unescaped).
pub struct Tsv {
    /// Column names.
    pub columns: Vec<&'static str>,
    /// Rows.
    pub rows: Vec<Vec<Option<String>>>,
}

impl Tsv {
    fn parse(text: &'static str) -> Tsv {
        let mut lines = text.lines();
        let columns = lines.next().unwrap_or_default().split('\t').collect();
        Tsv { columns, rows: lines.map(|line| line.split('\t').map(unescape).collect()).collect() }
    }

    /// The place of a column.
    pub fn column(&self, name: &str) -> usize {
        self.columns.iter().position(|c| *c == name).expect("a column named in our own data files")
    }
}

fn unescape(field: &str) -> Option<String> {
    if field == "\\N" {
        return None;
    }
    if !field.contains('\\') {
        return Some(field.to_owned());
    }
    let mut text = String::with_capacity(field.len());
    let mut chars = field.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => text.push(match chars.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                Some(other) => other,
                None => '\\',
            }),
            other => text.push(other),
        }
    }
    Some(text)
}

macro_rules! relations {
    ($($(#[$doc:meta])* $name:ident $file:literal)*) => {
        $($(#[$doc])* pub static $name: LazyLock<Tsv> = LazyLock::new(|| Tsv::parse(include_str!(concat!("../data/", $file))));)*
    };
}

relations! {
    /// pg_type
    PG_TYPE "pg_type.tsv"
    /// pg_proc
    PG_PROC "pg_proc.tsv"
    /// The rows of pg_proc in the schema information_schema; their names begin with `_pg_`.
    INFORMATION_SCHEMA_PROC "information_schema_proc.tsv"
    /// Functions of pgfusion's own, in the form of pg_proc, which does not list them.
    OWN_PROC "own_proc.tsv"
    /// pg_operator
    PG_OPERATOR "pg_operator.tsv"
    /// pg_cast
    PG_CAST "pg_cast.tsv"
    /// pg_aggregate
    PG_AGGREGATE "pg_aggregate.tsv"
    /// pg_am
    PG_AM "pg_am.tsv"
    /// pg_opclass
    PG_OPCLASS "pg_opclass.tsv"
    /// pg_opfamily
    PG_OPFAMILY "pg_opfamily.tsv"
    /// pg_amop
    PG_AMOP "pg_amop.tsv"
    /// pg_amproc
    PG_AMPROC "pg_amproc.tsv"
    /// pg_language
    PG_LANGUAGE "pg_language.tsv"
    /// pg_range
    PG_RANGE "pg_range.tsv"
    /// pg_collation
    PG_COLLATION "pg_collation.tsv"
    /// pg_settings
    PG_SETTINGS "pg_settings.tsv"
    /// Columns of all system relations
    SYSTEM_COLUMNS "system_columns.tsv"
    /// System views with their queries
    SYSTEM_VIEWS "system_views.tsv"
    /// Constraints of the system relations
    SYSTEM_CONSTRAINTS "system_constraints.tsv"
    /// Indexes of the system relations
    SYSTEM_INDEXES "system_indexes.tsv"
    /// Comments on built-in types and so on
    PG_DESCRIPTION "pg_description.tsv"
}

/// What kind of function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProcKind {
    /// `f`
    Function,
    /// `p`
    Procedure,
    /// `a`
    Aggregate,
    /// `w`
    Window,
}

/// How often a function may change its mind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Volatility {
    /// `i`
    Immutable,
    /// `s`
    Stable,
    /// `v`
    Volatile,
}

/// A row of pg_proc.
#[derive(Clone, Debug)]
pub struct Proc {
    /// oid
    pub oid: Oid,
    /// proname
    pub name: String,
    /// prokind
    pub kind: ProcKind,
    /// proisstrict
    pub strict: bool,
    /// proretset
    pub returns_set: bool,
    /// provolatile
    pub volatility: Volatility,
    /// proargtypes: the input arguments
    pub args: Vec<Oid>,
    /// pronargdefaults
    pub default_count: usize,
    /// proargdefaults as SQL text, a comma-separated list
    pub defaults: Option<String>,
    /// provariadic, zero if none
    pub variadic: Oid,
    /// prorettype
    pub result: Oid,
    /// Output columns of a function with OUT arguments: name and type.
    pub out_columns: Vec<(String, Oid)>,
    /// proargnames of the input arguments
    pub arg_names: Vec<String>,
    /// prosrc: the internal name; implementations are registered by it
    pub src: String,
    /// The SQL body of a function in LANGUAGE sql, if its body is in the new style, else `src` is the body.
    pub is_sql: bool,
    /// prorows
    pub rows: f64,
}

/// A row of pg_operator.
#[derive(Clone, Debug)]
pub struct Operator {
    /// oid
    pub oid: Oid,
    /// oprname
    pub name: String,
    /// oprleft, zero for a prefix operator
    pub left: Oid,
    /// oprright
    pub right: Oid,
    /// oprresult
    pub result: Oid,
    /// oprcom
    pub commutator: Oid,
    /// oprnegate
    pub negator: Oid,
    /// oprcode
    pub code: Oid,
    /// oprcanhash
    pub can_hash: bool,
}

/// When a cast may be applied.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CastContext {
    /// `i`: anywhere
    Implicit,
    /// `a`: in assignments
    Assignment,
    /// `e`: only as `CAST` or `::`
    Explicit,
}

/// How a cast is carried out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CastMethod {
    /// `f`: by this function
    Function(Oid),
    /// `i`: through text
    InOut,
    /// `b`: the bytes stay as they are
    Binary,
}

/// A row of pg_cast.
#[derive(Clone, Debug)]
pub struct Cast {
    /// castsource
    pub source: Oid,
    /// casttarget
    pub target: Oid,
    /// castcontext
    pub context: CastContext,
    /// castmethod, castfunc
    pub method: CastMethod,
}

/// The parsed pg_proc, pg_operator and pg_cast with the lookups that binding needs.
pub struct Lookup {
    /// All functions, by OID order.
    pub procs: Vec<Proc>,
    /// All operators.
    pub operators: Vec<Operator>,
    /// All casts.
    pub casts: Vec<Cast>,
    procs_by_name: FxHashMap<String, Vec<usize>>,
    procs_by_oid: FxHashMap<Oid, usize>,
    operators_by_name: FxHashMap<String, Vec<usize>>,
    operators_by_oid: FxHashMap<Oid, usize>,
    casts_by_pair: FxHashMap<(Oid, Oid), usize>,
}

impl Lookup {
    /// All functions of that name.
    pub fn procs_named(&self, name: &str) -> impl Iterator<Item = &Proc> {
        self.procs_by_name.get(name).into_iter().flatten().map(|i| &self.procs[*i])
    }

    /// A function by OID.
    pub fn proc(&self, oid: Oid) -> Option<&Proc> {
        self.procs_by_oid.get(&oid).map(|i| &self.procs[*i])
    }

    /// All operators of that name.
    pub fn operators_named(&self, name: &str) -> impl Iterator<Item = &Operator> {
        self.operators_by_name.get(name).into_iter().flatten().map(|i| &self.operators[*i])
    }

    /// An operator by OID.
    pub fn operator(&self, oid: Oid) -> Option<&Operator> {
        self.operators_by_oid.get(&oid).map(|i| &self.operators[*i])
    }

    /// The cast between two types.
    pub fn cast(&self, source: Oid, target: Oid) -> Option<&Cast> {
        self.casts_by_pair.get(&(source, target)).map(|i| &self.casts[*i])
    }
}

/// The lookups, made once.
pub static LOOKUP: LazyLock<Lookup> = LazyLock::new(build);

fn build() -> Lookup {
    let mut procs = read_procs(&PG_PROC);
    procs.extend(read_procs(&INFORMATION_SCHEMA_PROC));
    procs.extend(read_procs(&OWN_PROC));
    let operators = read_operators();
    let casts = read_casts();
    let mut procs_by_name: FxHashMap<String, Vec<usize>> = FxHashMap::default();
    let mut procs_by_oid = FxHashMap::default();
    for (i, proc) in procs.iter().enumerate() {
        procs_by_name.entry(proc.name.clone()).or_default().push(i);
        procs_by_oid.insert(proc.oid, i);
    }
    let mut operators_by_name: FxHashMap<String, Vec<usize>> = FxHashMap::default();
    let mut operators_by_oid = FxHashMap::default();
    for (i, operator) in operators.iter().enumerate() {
        operators_by_name.entry(operator.name.clone()).or_default().push(i);
        operators_by_oid.insert(operator.oid, i);
    }
    let casts_by_pair = casts.iter().enumerate().map(|(i, c)| ((c.source, c.target), i)).collect();
    Lookup {
        procs,
        operators,
        casts,
        procs_by_name,
        procs_by_oid,
        operators_by_name,
        operators_by_oid,
        casts_by_pair,
    }
}

/// One row of a [`Tsv`] with typed access by column place.
struct Row<'a>(&'a [Option<String>]);

impl Row<'_> {
    fn text(&self, column: usize) -> &str {
        self.0.get(column).and_then(|v| v.as_deref()).unwrap_or_default()
    }

    fn oid(&self, column: usize) -> Oid {
        Oid(self.text(column).parse().unwrap_or(0))
    }

    fn bool(&self, column: usize) -> bool {
        self.text(column) == "t"
    }

    fn oids(&self, column: usize) -> Vec<Oid> {
        let list = self.text(column).trim_matches(['{', '}']);
        list.split([' ', ',']).filter_map(|v| v.parse().ok().map(Oid)).collect()
    }

    fn texts(&self, column: usize) -> Vec<String> {
        let list = self.text(column).trim_matches(['{', '}']);
        if list.is_empty() {
            Vec::new()
        } else {
            list.split(',').map(|v| v.trim_matches('"').to_owned()).collect()
        }
    }
}

fn read_procs(t: &Tsv) -> Vec<Proc> {
    let c = |name| t.column(name);
    let (oid, name, kind, strict, set, volatile) =
        (c("oid"), c("proname"), c("prokind"), c("proisstrict"), c("proretset"), c("provolatile"));
    let (args, ndefaults, defaults, variadic, result) =
        (c("proargtypes"), c("pronargdefaults"), c("proargdefaults"), c("provariadic"), c("prorettype"));
    let (all_args, modes, names, src, lang, rows, body) = (
        c("proallargtypes"),
        c("proargmodes"),
        c("proargnames"),
        c("prosrc"),
        c("prolang"),
        c("prorows"),
        c("prosqlbody"),
    );
    let read = |row: &Vec<Option<String>>| {
        let r = Row(row);
        let all = r.oids(all_args);
        let all_names = r.texts(names);
        let all_modes = r.texts(modes);
        let name_at = |i: usize| all_names.get(i).cloned().unwrap_or_default();
        let is_out = |mode: &str| matches!(mode, "o" | "b" | "t");
        let is_in = |mode: &str| matches!(mode, "i" | "b" | "v");
        let out_columns = all_modes
            .iter()
            .enumerate()
            .filter(|(_, mode)| is_out(mode))
            .map(|(i, _)| (name_at(i), all.get(i).copied().unwrap_or_default()))
            .collect();
        let arg_names = if all_modes.is_empty() {
            all_names.clone()
        } else {
            let inputs = all_modes.iter().enumerate().filter(|(_, mode)| is_in(mode));
            inputs.map(|(i, _)| name_at(i)).collect()
        };
        let is_sql = r.oid(lang) == Oid(14);
        Proc {
            oid: r.oid(oid),
            name: r.text(name).to_owned(),
            kind: match r.text(kind) {
                "a" => ProcKind::Aggregate,
                "w" => ProcKind::Window,
                "p" => ProcKind::Procedure,
                _ => ProcKind::Function,
            },
            strict: r.bool(strict),
            returns_set: r.bool(set),
            volatility: match r.text(volatile) {
                "i" => Volatility::Immutable,
                "s" => Volatility::Stable,
                _ => Volatility::Volatile,
            },
            args: r.oids(args),
            default_count: r.text(ndefaults).parse().unwrap_or(0),
            defaults: row.get(defaults).cloned().flatten(),
            variadic: r.oid(variadic),
            result: r.oid(result),
            out_columns,
            arg_names,
            src: match row.get(body).cloned().flatten() {
                Some(body) if is_sql => body,
                _ => r.text(src).to_owned(),
            },
            is_sql,
            rows: r.text(rows).parse().unwrap_or(0.0),
        }
    };
    t.rows.iter().map(read).collect()
}

fn read_operators() -> Vec<Operator> {
    let t = &*PG_OPERATOR;
    let c = |name| t.column(name);
    let (oid, name, left, right, result) =
        (c("oid"), c("oprname"), c("oprleft"), c("oprright"), c("oprresult"));
    let (com, neg, code, hash) = (c("oprcom"), c("oprnegate"), c("oprcode"), c("oprcanhash"));
    let read = |row: &Vec<Option<String>>| {
        let r = Row(row);
        Operator {
            oid: r.oid(oid),
            name: r.text(name).to_owned(),
            left: r.oid(left),
            right: r.oid(right),
            result: r.oid(result),
            commutator: r.oid(com),
            negator: r.oid(neg),
            code: r.oid(code),
            can_hash: r.bool(hash),
        }
    };
    t.rows.iter().map(read).collect()
}

fn read_casts() -> Vec<Cast> {
    let t = &*PG_CAST;
    let c = |name| t.column(name);
    let (source, target, function, context, method) =
        (c("castsource"), c("casttarget"), c("castfunc"), c("castcontext"), c("castmethod"));
    let read = |row: &Vec<Option<String>>| {
        let r = Row(row);
        Cast {
            source: r.oid(source),
            target: r.oid(target),
            context: match r.text(context) {
                "i" => CastContext::Implicit,
                "a" => CastContext::Assignment,
                _ => CastContext::Explicit,
            },
            method: match r.text(method) {
                "f" => CastMethod::Function(r.oid(function)),
                "i" => CastMethod::InOut,
                _ => CastMethod::Binary,
            },
        }
    };
    t.rows.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_captured_catalogs_read() {
        let abs: Vec<_> = LOOKUP.procs_named("abs").map(|p| p.src.as_str()).collect();
        assert!(abs.contains(&"int4abs"), "{abs:?}");
        let plus = LOOKUP
            .operators_named("+")
            .find(|o| o.left == Oid(23) && o.right == Oid(23))
            .expect("int4 + int4");
        assert_eq!(LOOKUP.proc(plus.code).expect("its function").src, "int4pl");
        assert_eq!(LOOKUP.cast(Oid(23), Oid(20)).expect("int4 to int8").context, CastContext::Implicit);
        let srf = LOOKUP.procs_named("pg_get_keywords").next().expect("pg_get_keywords");
        assert_eq!(srf.out_columns[0].0, "word");
    }
}
