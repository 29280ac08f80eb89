//! Bound expressions as EXPLAIN prints them; compare PostgreSQL's `ruleutils.c`.

use super::scope::SUBQUERY_ENTRY;
use crate::bound::{
    BooleanTest, Call, CallForm, Expr, RangeEntry, RowCompareOp, Source, SqlType, SubqueryKind, Subscript,
};
use catalog::object::Table;
use catalog::pg::LOOKUP;
use catalog::types::{by_oid, format_type, oid};
use catalog::{Style, Value};
use rustc_hash::FxHashMap;
use std::fmt::Write;
use std::sync::Arc;

/// Names of range entries by the depth of their query.
#[derive(Default)]
pub struct Names {
    by_depth: FxHashMap<u32, Vec<EntryNames>>,
}

struct EntryNames {
    alias: String,
    columns: Columns,
}

enum Columns {
    Table(Arc<Table>),
    Named(Vec<String>),
}

impl Names {
    /// Sets the names of a query's entries.
    pub fn set(&mut self, depth: u32, entries: &[RangeEntry]) {
        let names = entries.iter().map(|e| EntryNames {
            alias: e.alias.clone(),
            columns: match &e.source {
                Source::Table(table) => Columns::Table(Arc::clone(table)),
                _ => Columns::Named(e.columns.iter().map(|c| c.name.clone()).collect()),
            },
        });
        self.by_depth.insert(depth, names.collect());
    }

    /// An expression of the query at this depth.
    pub fn print(&self, e: &Expr, depth: u32) -> String {
        let mut printer = Printer { names: self, depth, out: String::with_capacity(32) };
        printer.expr(e);
        printer.out
    }

    /// Several conditions, as one.
    pub fn conjunction<'e>(&self, list: impl ExactSizeIterator<Item = &'e Expr>, depth: u32) -> String {
        let many = list.len() > 1;
        let mut printer = Printer { names: self, depth, out: String::with_capacity(32) };
        for (i, e) in list.enumerate() {
            printer.out.push_str(match (many, i) {
                (true, 0) => "(",
                (true, _) => " AND ",
                (false, _) => "",
            });
            printer.expr(e);
        }
        if many {
            printer.out.push(')');
        }
        printer.out
    }
}

struct Printer<'p> {
    names: &'p Names,
    depth: u32,
    out: String,
}

impl Printer<'_> {
    fn list(&mut self, list: &[Expr], separator: &str) {
        for (i, e) in list.iter().enumerate() {
            if i > 0 {
                self.out.push_str(separator);
            }
            self.expr(e);
        }
    }

    fn call_args(&mut self, name: &str, args: &[Expr]) {
        self.out.push_str(name);
        self.out.push('(');
        self.list(args, ", ");
        self.out.push(')');
    }

    fn suffixed(&mut self, e: &Expr, suffix: &str) {
        self.out.push('(');
        self.expr(e);
        self.out.push_str(suffix);
        self.out.push(')');
    }

    fn cast(&mut self, e: &Expr, typ: SqlType) {
        let plain = matches!(e, Expr::Column(_) | Expr::Call(_) | Expr::Param(..));
        if !plain || matches!(e, Expr::Column(_)) {
            self.out.push('(');
        }
        self.expr(e);
        if !plain || matches!(e, Expr::Column(_)) {
            self.out.push(')');
        }
        let _ = write!(self.out, "::{}", format_type(typ.oid, typ.typmod));
    }

    fn constant(&mut self, value: &Value, typ: SqlType) {
        let text = text_of(value, typ);
        match (value, typ.oid) {
            (Value::Null, _) => {
                let _ = write!(self.out, "NULL::{}", format_type(typ.oid, typ.typmod));
            }
            (_, oid::BOOL) => self.out.push_str(if text == "t" { "true" } else { "false" }),
            (_, oid::INT4 | oid::NUMERIC) if !text.starts_with('-') => self.out.push_str(&text),
            _ => {
                let _ =
                    write!(self.out, "'{}'::{}", text.replace('\'', "''"), format_type(typ.oid, typ.typmod));
            }
        }
    }

    fn column(&mut self, level: u16, entry: u16, column: u16) {
        let depth = self.depth.saturating_sub(u32::from(level));
        if entry == SUBQUERY_ENTRY {
            let _ = write!(self.out, "${column}");
            return;
        }
        let entries = self.names.by_depth.get(&depth);
        let Some(names) = entries.and_then(|list| list.get(usize::from(entry))) else {
            let _ = write!(self.out, "?column{column}?");
            return;
        };
        // PostgreSQL qualifies as soon as the plan has several relations.
        let several = self.names.by_depth.values().map(Vec::len).sum::<usize>() > 1;
        if several {
            self.out.push_str(&quoted(&names.alias));
            self.out.push('.');
        }
        let name = match &names.columns {
            Columns::Table(table) => table.columns.get(usize::from(column)).map(|c| c.name.as_str()),
            Columns::Named(list) => list.get(usize::from(column)).map(String::as_str),
        };
        self.out.push_str(&quoted(name.unwrap_or("?column?")));
    }

    fn operator(&mut self, call: &Call, middle: &str) {
        let name = operator_name(call);
        match call.args.as_slice() {
            [left, right] => {
                self.out.push('(');
                self.expr(left);
                let _ = write!(self.out, " {name} {middle}");
                self.expr(right);
                self.out.push(')');
            }
            [only] => {
                let _ = write!(self.out, "({name} ");
                self.expr(only);
                self.out.push(')');
            }
            _ => {}
        }
    }

    fn expr(&mut self, e: &Expr) {
        match e {
            Expr::Const(value, typ) => self.constant(value, *typ),
            Expr::Param(i, _) => {
                let _ = write!(self.out, "${}", i + 1);
            }
            Expr::Column(c) => self.column(c.level, c.entry, c.column),
            Expr::Call(call) => match (call.form, call.args.first()) {
                (CallForm::Operator(_), _) => self.operator(call, ""),
                (CallForm::ImplicitCast, Some(arg)) => self.cast(arg, call.typ),
                (CallForm::ExplicitCast, Some(arg)) => self.cast(arg, call.typ),
                _ => self.call_args(&call.proc.name, &call.args),
            },
            Expr::And(list) => {
                self.out.push('(');
                self.list(list, " AND ");
                self.out.push(')');
            }
            Expr::Or(list) => {
                self.out.push('(');
                self.list(list, " OR ");
                self.out.push(')');
            }
            Expr::Not(e) => {
                self.out.push_str("(NOT ");
                self.expr(e);
                self.out.push(')');
            }
            Expr::IsNull(e) => self.suffixed(e, " IS NULL"),
            Expr::IsNotNull(e) => self.suffixed(e, " IS NOT NULL"),
            Expr::BooleanTest(e, test) => self.suffixed(
                e,
                match test {
                    BooleanTest::IsTrue => " IS TRUE",
                    BooleanTest::IsNotTrue => " IS NOT TRUE",
                    BooleanTest::IsFalse => " IS FALSE",
                    BooleanTest::IsNotFalse => " IS NOT FALSE",
                    BooleanTest::IsUnknown => " IS UNKNOWN",
                    BooleanTest::IsNotUnknown => " IS NOT UNKNOWN",
                },
            ),
            Expr::Distinct(call) => {
                if let [left, right] = call.args.as_slice() {
                    self.out.push('(');
                    self.expr(left);
                    self.out.push_str(" IS DISTINCT FROM ");
                    self.expr(right);
                    self.out.push(')');
                }
            }
            Expr::NullIf(call, _) => self.call_args("NULLIF", &call.args),
            Expr::Case { operand, branches, otherwise, .. } => {
                self.out.push_str("CASE");
                if let Some(e) = operand {
                    self.out.push(' ');
                    self.expr(e);
                }
                for (when, then) in branches {
                    self.out.push_str(" WHEN ");
                    match (operand, when) {
                        (Some(_), Expr::Call(call)) if call.args.len() == 2 => {
                            call.args.iter().skip(1).for_each(|e| self.expr(e));
                        }
                        _ => self.expr(when),
                    }
                    self.out.push_str(" THEN ");
                    self.expr(then);
                }
                if let Some(e) = otherwise {
                    self.out.push_str(" ELSE ");
                    self.expr(e);
                }
                self.out.push_str(" END");
            }
            Expr::CaseOperand(_) => self.out.push_str("CASE_TEST_EXPR"),
            Expr::Coalesce(list, _) => self.call_args("COALESCE", list),
            Expr::MinMax(greatest, list, _) => {
                self.call_args(if *greatest { "GREATEST" } else { "LEAST" }, list);
            }
            Expr::Relabel(e, typ, _) | Expr::IoCast(e, typ, ..) => self.cast(e, *typ),
            Expr::Typmod(e, typ, _) => self.cast(e, *typ),
            Expr::ArrayCast(e, _, typ, _) => self.cast(e, *typ),
            Expr::ScalarArray(call, all) => {
                if let [left, right] = call.args.as_slice() {
                    self.out.push('(');
                    self.expr(left);
                    let word = if *all { "ALL" } else { "ANY" };
                    let _ = write!(self.out, " {} {word} (", operator_name(call));
                    self.expr(right);
                    self.out.push_str("))");
                }
            }
            Expr::Array(list, typ, _) => {
                let constants = list.iter().map(|e| match e {
                    Expr::Const(value, t) => Some(text_of(value, *t)),
                    _ => None,
                });
                match constants.collect::<Option<Vec<_>>>() {
                    Some(values) => {
                        let typ = format_type(typ.oid, typ.typmod);
                        let _ = write!(self.out, "'{{{}}}'::{typ}", values.join(","));
                    }
                    None => {
                        self.out.push_str("ARRAY[");
                        self.list(list, ", ");
                        self.out.push(']');
                    }
                }
            }
            Expr::Subscript(e, subscripts, _) => {
                self.expr(e);
                for s in subscripts {
                    self.out.push('[');
                    match s {
                        Subscript::Index(e) => self.expr(e),
                        Subscript::Slice(low, high) => {
                            low.iter().for_each(|e| self.expr(e));
                            self.out.push(':');
                            high.iter().for_each(|e| self.expr(e));
                        }
                    }
                    self.out.push(']');
                }
            }
            Expr::Row(list, _) => self.call_args("ROW", list),
            Expr::Field(e, place, _) => {
                self.out.push('(');
                self.expr(e);
                let _ = write!(self.out, ").f{}", place + 1);
            }
            Expr::RowCompare { op, left, right } => {
                self.out.push('(');
                self.call_args("ROW", left);
                self.out.push_str(match op {
                    RowCompareOp::Eq => " = ",
                    RowCompareOp::Ne => " <> ",
                    RowCompareOp::Lt => " < ",
                    RowCompareOp::Le => " <= ",
                    RowCompareOp::Gt => " > ",
                    RowCompareOp::Ge => " >= ",
                });
                self.call_args("ROW", right);
                self.out.push(')');
            }
            Expr::Subquery(s) => self.out.push_str(match s.kind {
                SubqueryKind::Quantified { hashable: Some(_), .. } => "(hashed SubPlan)",
                _ => "(SubPlan)",
            }),
            Expr::Aggregate(i, _) => {
                let _ = write!(self.out, "(aggregate {})", i + 1);
            }
            Expr::GroupKey(i, _) => {
                let _ = write!(self.out, "(key {})", i + 1);
            }
            Expr::Grouping(_) => self.out.push_str("GROUPING()"),
            Expr::Window(i, _) => {
                let _ = write!(self.out, "(window {})", i + 1);
            }
            Expr::SetFunction(i, _) => {
                let _ = write!(self.out, "(set function {})", i + 1);
            }
            Expr::NextValue(sequence, _) => {
                let _ = write!(self.out, "nextval('{}'::regclass)", sequence.name);
            }
        }
    }
}

fn operator_name(call: &Call) -> &str {
    match call.form {
        CallForm::Operator(operator) => {
            LOOKUP.operator(operator).map_or(call.proc.name.as_str(), |o| o.name.as_str())
        }
        _ => {
            let named = LOOKUP.operators.iter().find(|o| o.code == call.proc.oid);
            named.map_or(call.proc.name.as_str(), |o| o.name.as_str())
        }
    }
}

fn text_of(value: &Value, typ: SqlType) -> String {
    let mut out = Vec::new();
    match by_oid(typ.oid) {
        _ if value.is_null() => out.extend_from_slice(b"NULL"),
        Some(typ) => (typ.output)(value.datum(), &Style::default(), &mut out),
        None => out.push(b'?'),
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// An identifier, in quotes where it needs them (`quote_identifier`, keywords aside).
pub fn quoted(name: &str) -> String {
    let plain = name.bytes().enumerate().all(|(i, b)| match b {
        b'a'..=b'z' | b'_' => true,
        b'0'..=b'9' | b'$' => i > 0,
        _ => false,
    });
    if plain && !name.is_empty() { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}
