//! Bound expressions as SQL text, as PostgreSQL's `ruleutils.c` prints them: for kept definitions, `pg_get_expr`, EXPLAIN.

mod query;

pub use query::{query_text, view_text};

use crate::bound::{BooleanTest, Call, CallForm, Expr, RowCompareOp, SqlType, Subscript};
use crate::ddl::quote;
use crate::environment::Environment;
use catalog::pg::LOOKUP;
use catalog::types::{by_oid, format_type, oid};
use catalog::{Oid, Relation, Style, Value};

/// How an expression is printed.
pub struct Deparser<'a> {
    /// The name of a column reference: level, entry, column.
    pub column: &'a dyn Fn(u16, u16, u16) -> String,
    /// The session, for names of relations in constants; `None` prints them with their schema always.
    pub env: Option<&'a dyn Environment>,
    /// The objects that names are found in.
    pub objects: &'a catalog::DatabaseObjects,
    /// Leave out parentheses that are not needed (`PRETTYFLAG_PAREN`).
    pub pretty: bool,
    /// CASEs around, each of which indents by a step; begins at zero.
    pub depth: std::cell::Cell<usize>,
    /// Prints what only a query around gives a meaning: subqueries, aggregates, window calls, grouping expressions.
    pub within: Option<&'a Within<'a>>,
}

/// See [`Deparser::within`].
pub type Within<'w> = dyn Fn(&Deparser<'_>, &Expr, bool, &mut String) + 'w;

/// What stands around an expression, as far as parentheses hang on it.
#[derive(Clone, Copy)]
enum Parent<'e> {
    /// An operator with its arguments.
    Operator(&'e Call),
    /// AND (true) or OR.
    AndOr(bool),
    /// NOT
    Not,
    /// A function call, list or the like, which has parentheses of its own.
    Enclosing,
    /// A cast.
    Cast,
    /// Anything else.
    Other,
}

impl Deparser<'_> {
    /// The text.
    pub fn text(&self, expr: &Expr) -> String {
        let mut out = String::new();
        self.expr(expr, false, &mut out);
        out
    }

    /// `get_rule_expr_paren`
    fn paren(&self, expr: &Expr, implicit: bool, parent: Parent<'_>, out: &mut String) {
        let needed = self.pretty && !self.is_simple(expr, parent);
        if needed {
            out.push('(');
        }
        self.expr(expr, implicit, out);
        if needed {
            out.push(')');
        }
    }

    /// `isSimpleNode`
    fn is_simple(&self, expr: &Expr, parent: Parent<'_>) -> bool {
        let enclosed = || match parent {
            Parent::AndOr(_) | Parent::Not | Parent::Enclosing => true,
            Parent::Operator(_) | Parent::Cast | Parent::Other => false,
        };
        match expr {
            Expr::And(_) | Expr::Or(_) | Expr::Not(_) => match parent {
                Parent::AndOr(and) => match expr {
                    Expr::Or(_) => !and,
                    _ => true,
                },
                Parent::Enclosing => true,
                Parent::Not | Parent::Operator(_) | Parent::Cast | Parent::Other => false,
            },
            Expr::Call(call) => match call.form {
                CallForm::Operator(_) => match parent {
                    Parent::Operator(outer) => simple_operands(expr, call, outer),
                    _ => enclosed(),
                },
                CallForm::ImplicitCast | CallForm::ExplicitCast => {
                    call.args.first().is_none_or(|arg| self.is_simple(arg, Parent::Cast))
                }
                CallForm::Function | CallForm::Special => true,
            },
            Expr::Relabel(arg, ..)
            | Expr::IoCast(arg, ..)
            | Expr::Typmod(arg, ..)
            | Expr::ArrayCast(arg, ..) => self.is_simple(arg, Parent::Cast),
            Expr::IsNull(_)
            | Expr::IsNotNull(_)
            | Expr::BooleanTest(..)
            | Expr::Distinct(_)
            | Expr::ScalarArray(..)
            | Expr::RowCompare { .. }
            | Expr::Subquery(_) => enclosed(),
            _ => true,
        }
    }

    /// `get_rule_expr`
    pub(self) fn expr(&self, expr: &Expr, implicit: bool, out: &mut String) {
        match expr {
            Expr::Const(value, typ) => self.constant(value, *typ, true, out),
            Expr::Param(index, _) => out.push_str(&format!("${}", index + 1)),
            Expr::Column(c) => out.push_str(&(self.column)(c.level, c.entry, c.column)),
            Expr::Call(call) => self.call(call, implicit, out),
            Expr::And(list) => self.and_or(list, true, out),
            Expr::Or(list) => self.and_or(list, false, out),
            Expr::Not(arg) => self.wrapped(out, |out| {
                if let Expr::Distinct(call) = &**arg {
                    // NOT DISTINCT is written so, though bound as a negation.
                    return self.binary(&call.args, " IS NOT DISTINCT FROM ", call, out);
                }
                out.push_str("NOT ");
                self.paren(arg, false, Parent::Not, out);
            }),
            Expr::IsNull(arg) => self.test(arg, " IS NULL", out),
            Expr::IsNotNull(arg) => self.test(arg, " IS NOT NULL", out),
            Expr::BooleanTest(arg, test) => self.test(
                arg,
                match test {
                    BooleanTest::IsTrue => " IS TRUE",
                    BooleanTest::IsNotTrue => " IS NOT TRUE",
                    BooleanTest::IsFalse => " IS FALSE",
                    BooleanTest::IsNotFalse => " IS NOT FALSE",
                    BooleanTest::IsUnknown => " IS UNKNOWN",
                    BooleanTest::IsNotUnknown => " IS NOT UNKNOWN",
                },
                out,
            ),
            Expr::Distinct(call) => {
                self.wrapped(out, |out| self.binary(&call.args, " IS DISTINCT FROM ", call, out));
            }
            Expr::NullIf(call, _) => self.function("NULLIF", &call.args, out),
            Expr::Case { operand, branches, otherwise, typ } => {
                keyword("CASE", self.depth.get(), out);
                self.depth.set(self.depth.get() + 1);
                if let Some(operand) = operand {
                    out.push(' ');
                    self.expr(operand, true, out);
                }
                for (when, then) in branches {
                    keyword("WHEN ", self.depth.get(), out);
                    match (operand, when) {
                        // `CASE x WHEN y`: the comparison with the operand is not written.
                        (Some(_), Expr::Call(call)) if call.args.len() == 2 => {
                            if let Some(value) = call.args.get(1) {
                                self.expr(value, false, out);
                            }
                        }
                        _ => self.expr(when, false, out),
                    }
                    out.push_str(" THEN ");
                    self.expr(then, true, out);
                }
                keyword("ELSE ", self.depth.get(), out);
                match otherwise {
                    Some(otherwise) => self.expr(otherwise, true, out),
                    None => self.constant(&Value::Null, *typ, true, out),
                }
                self.depth.set(self.depth.get() - 1);
                keyword("END", self.depth.get(), out);
            }
            Expr::CaseOperand(_) => out.push_str("CASE_TEST_EXPR"),
            Expr::Coalesce(list, _) => self.function("COALESCE", list, out),
            Expr::MinMax(greatest, list, _) => {
                self.function(if *greatest { "GREATEST" } else { "LEAST" }, list, out);
            }
            Expr::Relabel(arg, typ, form) | Expr::IoCast(arg, typ, form, _) => {
                self.cast(arg, *typ, *form, implicit, out);
            }
            Expr::Typmod(arg, typ, form) => {
                // The cast to the type itself is part of the same `::`.
                let inner = match &**arg {
                    Expr::Relabel(inner, own, _) | Expr::IoCast(inner, own, _, _) if own.oid == typ.oid => {
                        inner
                    }
                    Expr::Call(call) if call.form == CallForm::ExplicitCast && call.typ.oid == typ.oid => {
                        call.args.first().unwrap_or(arg)
                    }
                    other => other,
                };
                let arg = if *form == CallForm::ExplicitCast { inner } else { arg };
                self.cast(arg, *typ, *form, implicit, out);
            }
            Expr::ArrayCast(arg, _, typ, form) => self.cast(arg, *typ, *form, implicit, out),
            Expr::ScalarArray(call, all) => self.wrapped(out, |out| {
                if let [left, array] = call.args.as_slice() {
                    self.paren(left, true, Parent::Operator(call), out);
                    let op = operator_name(call).unwrap_or("=");
                    out.push_str(&format!(" {op} {} (", if *all { "ALL" } else { "ANY" }));
                    self.paren(array, true, Parent::Enclosing, out);
                    out.push(')');
                }
            }),
            Expr::Array(list, typ, _) => {
                out.push_str("ARRAY[");
                self.list(list, out);
                out.push(']');
                if list.is_empty() {
                    out.push_str(&format!("::{}", format_type(typ.oid, -1)));
                }
            }
            Expr::Subscript(arg, subscripts, _) => {
                if matches!(**arg, Expr::Column(_)) {
                    self.expr(arg, true, out);
                } else {
                    out.push('(');
                    self.expr(arg, true, out);
                    out.push(')');
                }
                for subscript in subscripts {
                    out.push('[');
                    match subscript {
                        Subscript::Index(e) => self.expr(e, false, out),
                        Subscript::Slice(low, high) => {
                            if let Some(low) = low {
                                self.expr(low, false, out);
                            }
                            out.push(':');
                            if let Some(high) = high {
                                self.expr(high, false, out);
                            }
                        }
                    }
                    out.push(']');
                }
            }
            Expr::Row(list, _) => self.function("ROW", list, out),
            Expr::Field(arg, place, _) => {
                self.paren(arg, true, Parent::Other, out);
                out.push_str(&format!(".f{}", place + 1));
            }
            Expr::RowCompare { op, left, right } => self.wrapped(out, |out| {
                self.function("ROW", left, out);
                out.push_str(match op {
                    RowCompareOp::Eq => " = ",
                    RowCompareOp::Ne => " <> ",
                    RowCompareOp::Lt => " < ",
                    RowCompareOp::Le => " <= ",
                    RowCompareOp::Gt => " > ",
                    RowCompareOp::Ge => " >= ",
                });
                self.function("ROW", right, out);
            }),
            Expr::NextValue(sequence, _) => {
                let name = self.relation(sequence.oid).unwrap_or_else(|| quote(&sequence.name));
                out.push_str(&format!("nextval('{}'::regclass)", name.replace('\'', "''")));
            }
            Expr::Subquery(_)
            | Expr::Aggregate(..)
            | Expr::GroupKey(..)
            | Expr::Grouping(_)
            | Expr::Window(..)
            | Expr::SetFunction(..) => match self.within {
                Some(within) => within(self, expr, implicit, out),
                None => out.push_str("(...)"),
            },
        }
    }

    fn wrapped(&self, out: &mut String, inside: impl FnOnce(&mut String)) {
        if !self.pretty {
            out.push('(');
        }
        inside(out);
        if !self.pretty {
            out.push(')');
        }
    }

    fn test(&self, arg: &Expr, words: &str, out: &mut String) {
        self.wrapped(out, |out| {
            self.paren(arg, true, Parent::Other, out);
            out.push_str(words);
        });
    }

    fn and_or(&self, list: &[Expr], and: bool, out: &mut String) {
        self.wrapped(out, |out| {
            for (i, arg) in list.iter().enumerate() {
                if i > 0 {
                    out.push_str(if and { " AND " } else { " OR " });
                }
                self.paren(arg, false, Parent::AndOr(and), out);
            }
        });
    }

    fn binary(&self, args: &[Expr], op: &str, call: &Call, out: &mut String) {
        if let [left, right] = args {
            self.paren(left, true, Parent::Operator(call), out);
            out.push_str(op);
            self.paren(right, true, Parent::Operator(call), out);
        }
    }

    fn list(&self, list: &[Expr], out: &mut String) {
        for (i, arg) in list.iter().enumerate() {
            if i > 0 {
                out.push_str(", ");
            }
            self.expr(arg, true, out);
        }
    }

    fn function(&self, name: &str, args: &[Expr], out: &mut String) {
        out.push_str(name);
        out.push('(');
        self.list(args, out);
        out.push(')');
    }

    fn call(&self, call: &Call, implicit: bool, out: &mut String) {
        match call.form {
            CallForm::Operator(_) => {
                let op = operator_name(call).unwrap_or("?");
                self.wrapped(out, |out| match call.args.as_slice() {
                    [arg] => {
                        out.push_str(&format!("{op} "));
                        self.paren(arg, true, Parent::Operator(call), out);
                    }
                    args => self.binary(args, &format!(" {op} "), call, out),
                });
            }
            CallForm::ImplicitCast | CallForm::ExplicitCast => {
                if let Some(arg) = call.args.first() {
                    self.cast(arg, call.typ, call.form, implicit, out);
                }
            }
            CallForm::Function => self.function(&function_name(&call.proc.name), &call.args, out),
            CallForm::Special => self.special(call, out),
        }
    }

    /// `get_func_sql_syntax`, and the value functions of SQL.
    fn special(&self, call: &Call, out: &mut String) {
        let arg = |i: usize, out: &mut String| {
            if let Some(arg) = call.args.get(i) {
                self.expr(arg, false, out);
            }
        };
        match (call.proc.name.as_str(), call.args.len()) {
            ("now", 0) => out.push_str("CURRENT_TIMESTAMP"),
            ("current_user", 0) => out.push_str("CURRENT_USER"),
            ("session_user", 0) => out.push_str("SESSION_USER"),
            ("current_database", 0) => out.push_str("CURRENT_CATALOG"),
            ("current_schema", 0) => out.push_str("CURRENT_SCHEMA"),
            ("date" | "timetz" | "time" | "timestamp" | "timestamptz", _)
                if self.is_now(call.args.first()) =>
            {
                value_function(call.typ, out);
            }
            ("timezone", 2) => {
                out.push('(');
                if let Some(value) = call.args.get(1) {
                    self.paren(value, false, Parent::Other, out);
                }
                out.push_str(" AT TIME ZONE ");
                if let Some(zone) = call.args.first() {
                    self.paren(zone, false, Parent::Other, out);
                }
                out.push(')');
            }
            ("extract", 2) => {
                out.push_str("EXTRACT(");
                match call.args.first() {
                    Some(Expr::Const(Value::Bytes(field), _)) => {
                        out.push_str(&String::from_utf8_lossy(field))
                    }
                    _ => arg(0, out),
                }
                out.push_str(" FROM ");
                arg(1, out);
                out.push(')');
            }
            ("overlay", 3 | 4) => {
                out.push_str("OVERLAY(");
                arg(0, out);
                out.push_str(" PLACING ");
                arg(1, out);
                out.push_str(" FROM ");
                arg(2, out);
                if call.args.len() == 4 {
                    out.push_str(" FOR ");
                    arg(3, out);
                }
                out.push(')');
            }
            ("position", 2) => {
                out.push_str("POSITION((");
                arg(1, out);
                out.push_str(") IN (");
                arg(0, out);
                out.push_str("))");
            }
            ("substring", 2 | 3) => {
                out.push_str("SUBSTRING(");
                arg(0, out);
                out.push_str(" FROM ");
                arg(1, out);
                if call.args.len() == 3 {
                    out.push_str(" FOR ");
                    arg(2, out);
                }
                out.push(')');
            }
            ("ltrim" | "rtrim" | "btrim", 1 | 2) => {
                out.push_str(match call.proc.name.as_str() {
                    "ltrim" => "TRIM(LEADING ",
                    "rtrim" => "TRIM(TRAILING ",
                    _ => "TRIM(BOTH ",
                });
                if call.args.len() == 2 {
                    arg(1, out);
                    out.push(' ');
                }
                out.push_str("FROM ");
                arg(0, out);
                out.push(')');
            }
            _ => self.function(&function_name(&call.proc.name), &call.args, out),
        }
    }

    /// Whether this is `now()` (with a precision), as the value functions of SQL are bound.
    fn is_now(&self, arg: Option<&Expr>) -> bool {
        match arg {
            Some(Expr::Call(call)) => {
                call.form == CallForm::Special && (call.proc.name == "now" || self.is_now(call.args.first()))
            }
            Some(Expr::Typmod(arg, ..)) => self.is_now(Some(arg)),
            _ => false,
        }
    }

    /// A cast, unless it is one that nobody wrote and nobody wants to see; compare `get_coercion_expr`.
    fn cast(&self, arg: &Expr, typ: SqlType, form: CallForm, implicit: bool, out: &mut String) {
        match form {
            CallForm::ImplicitCast if !implicit => return self.paren(arg, false, Parent::Cast, out),
            // CURRENT_DATE and its like are casts of now().
            CallForm::Special => {
                value_function(typ, out);
                return;
            }
            _ => {}
        }
        match arg {
            Expr::Const(value, from) if from.oid == typ.oid && from.typmod == -1 => {
                self.constant(value, *from, false, out);
            }
            _ => self.wrapped(out, |out| self.paren(arg, false, Parent::Cast, out)),
        }
        out.push_str(&format!("::{}", format_type(typ.oid, typ.typmod)));
    }

    /// `get_const_expr`
    fn constant(&self, value: &Value, typ: SqlType, label: bool, out: &mut String) {
        let name = || format!("::{}", format_type(typ.oid, typ.typmod));
        if value.is_null() {
            out.push_str("NULL");
            if label {
                out.push_str(&name());
            }
            return;
        }
        let text = self.value_text(value, typ.oid);
        let negative = text.starts_with('-');
        let labelled;
        match typ.oid {
            oid::INT4 if !negative => {
                labelled = false;
                out.push_str(&text);
            }
            oid::NUMERIC
                if text.starts_with(|c: char| c.is_ascii_digit()) && text.contains(['e', 'E', '.']) =>
            {
                labelled = typ.typmod >= 0;
                out.push_str(&text);
            }
            oid::BOOL => {
                labelled = false;
                out.push_str(if text == "t" { "true" } else { "false" });
            }
            other => {
                labelled = other != oid::UNKNOWN;
                out.push_str(&literal(&text));
            }
        }
        if label && labelled {
            out.push_str(&name());
        }
    }

    fn value_text(&self, value: &Value, typ: Oid) -> String {
        if let (oid::REGCLASS, Value::Int(number)) = (typ, value)
            && let Some(name) = self.relation(Oid(*number as u32))
        {
            return name;
        }
        let Some(found) = by_oid(typ) else { return String::new() };
        let mut bytes = Vec::new();
        // Definitions are printed the same whatever the session's styles are.
        (found.output)(value.datum(), &Style::default(), &mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// A relation's name, with its schema unless the session's search path finds it.
    fn relation(&self, id: Oid) -> Option<String> {
        let relation: &Relation = self.objects.relations.get(&id)?;
        if let Some(env) = self.env {
            let path = env.search_path(true);
            let found = path.iter().find_map(|schema| self.objects.relation(*schema, relation.name()));
            if found.is_some_and(|f| f.oid() == id) {
                return Some(quote(relation.name()));
            }
        }
        let schema = self.objects.schemas.get(&relation.schema()).map(|s| quote(&s.name)).unwrap_or_default();
        Some(format!("{schema}.{}", quote(relation.name())))
    }
}

/// CURRENT_DATE and its like, by their type.
fn value_function(typ: SqlType, out: &mut String) {
    out.push_str(match typ.oid {
        oid::DATE => "CURRENT_DATE",
        oid::TIMETZ => "CURRENT_TIME",
        oid::TIMESTAMPTZ => "CURRENT_TIMESTAMP",
        oid::TIME => "LOCALTIME",
        _ => "LOCALTIMESTAMP",
    });
    if typ.typmod >= 0 {
        out.push_str(&format!("({})", typ.typmod));
    }
}

/// A string constant (`simple_quote_literal`).
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A keyword on a line of its own; the depth in steps of four (`appendContextKeyword`).
fn keyword(word: &str, depth: usize, out: &mut String) {
    while out.ends_with(' ') {
        out.pop();
    }
    out.push('\n');
    out.push_str(&"    ".repeat(depth));
    out.push_str(word);
}

/// A function's name, quoted where it must be.
fn function_name(name: &str) -> String {
    quote(name)
}

fn operator_name(call: &Call) -> Option<&'static str> {
    let by_form = match call.form {
        CallForm::Operator(id) => LOOKUP.operator(id),
        _ => None,
    };
    by_form
        .or_else(|| LOOKUP.operators.iter().find(|o| o.code == call.proc.oid))
        .map(|operator| operator.name.as_str())
}

/// Whether an operand needs no parentheses below another operator: both are the basic ones, and it binds tighter or stands on the left.
fn simple_operands(expr: &Expr, inner: &Call, outer: &Call) -> bool {
    let basic = |call: &Call| {
        if call.args.len() != 2 {
            return None;
        }
        match operator_name(call)? {
            "+" | "-" => Some(1),
            "*" | "/" | "%" => Some(2),
            _ => None,
        }
    };
    match (basic(inner), basic(outer)) {
        (Some(a), Some(b)) if a != b => a > b,
        (Some(_), Some(_)) => outer.args.first().is_some_and(|first| std::ptr::eq(first, expr)),
        _ => false,
    }
}

/// A kept expression of a table (or of none) as `pg_get_expr` prints it to this session; the kept text if it no longer binds.
pub fn kept(env: &dyn Environment, style: &Style, text: &str, table: Oid, pretty: bool) -> String {
    use crate::bind::{BindContext, Clause, rules};
    let objects = env.objects();
    let table = objects.table(table);
    let cx = BindContext { fold: false, ..BindContext::plain(env, style) };
    match rules::bind_expression(text, 0, table, Clause::Check, &cx) {
        Err(_) => text.to_owned(),
        Ok(expr) => {
            let column = |_, _, column: u16| {
                let found = table.and_then(|t| t.columns.get(usize::from(column)));
                found.map(|c| quote(&c.name)).unwrap_or_default()
            };
            Deparser {
                column: &column,
                env: Some(env),
                objects: &objects,
                pretty,
                depth: Default::default(),
                within: None,
            }
            .text(&expr)
        }
    }
}
