//! Whole queries as SQL text: view definitions as `pg_get_viewdef` prints them (`get_query_def` in `ruleutils.c`).
//!
//! A bound query knows no longer how some things were written: USING and NATURAL print as ON, and columns always with their table.

use super::{Deparser, operator_name};
use crate::bind::relation_name_of_system;
use crate::bound::{
    AggregateCall, Body, Cte, Distinct, Expr, FrameBound, FrameExclude, FrameUnit, FromItem, JoinKind,
    LockStrength, LockWait, Query, RangeEntry, Select, SetOp, SetOperation, SortKey, Source, SubqueryKind,
    WindowCall,
};
use crate::ddl::quote;
use crate::environment::Environment;
use catalog::pg::ProcKind;
use catalog::{DatabaseObjects, Oid, Style, Value};
use std::cell::RefCell;

/// Indentation of clauses, of joins and of further list items.
const STEP: i32 = 8;
const ITEM: i32 = 4;

/// A query as text. With `env`, names that its search path finds are printed without their schema. `columns` are the names that the
/// output columns are to have.
pub fn query_text(
    query: &Query,
    objects: &DatabaseObjects,
    env: Option<&dyn Environment>,
    pretty: bool,
    columns: Option<&[String]>,
) -> String {
    let printer = Printer {
        objects,
        env,
        pretty,
        out: RefCell::default(),
        indent: RefCell::new(0),
        levels: RefCell::default(),
    };
    printer.query(query, columns, true);
    printer.out.into_inner()
}

/// The query of a view of ours as `pg_get_viewdef` prints it to this session, with a semicolon; the kept text if it no longer binds.
pub fn view_text(env: &dyn Environment, style: &Style, view: Oid, pretty: bool) -> Option<String> {
    use crate::bind::{BindContext, bind_text};
    let objects = env.objects();
    let view = objects.view(view)?;
    let cx = BindContext { fold: false, ..BindContext::plain(env, style) };
    let names: Vec<String> = view.columns.iter().map(|c| c.name.clone()).collect();
    match bind_text(&view.definition, 0, &cx).map(|bound| bound.statement) {
        Ok(crate::bound::Statement::Query(query)) => {
            Some(query_text(&query, &objects, Some(env), pretty, Some(&names)) + ";")
        }
        _ => Some(view.definition.clone()),
    }
}

/// Names of one query level.
struct Level<'q> {
    select: Option<&'q Select>,
    aliases: Vec<String>,
    ctes: &'q [Cte],
}

struct Printer<'p, 'q> {
    objects: &'p DatabaseObjects,
    env: Option<&'p dyn Environment>,
    pretty: bool,
    out: RefCell<String>,
    indent: RefCell<i32>,
    /// The queries around, outermost first.
    levels: RefCell<Vec<Level<'q>>>,
}

impl<'q> Printer<'_, 'q> {
    fn push(&self, text: &str) {
        self.out.borrow_mut().push_str(text);
    }

    /// `appendContextKeyword`
    fn keyword(&self, word: &str, before: i32, after: i32, plus: i32) {
        let mut indent = self.indent.borrow_mut();
        *indent += before;
        let mut out = self.out.borrow_mut();
        let kept = out.trim_end_matches(' ').len();
        out.truncate(kept);
        out.push('\n');
        out.push_str(&" ".repeat((*indent).max(0) as usize + plus.max(0) as usize));
        out.push_str(word);
        *indent = (*indent + after).max(0);
    }

    /// Prints something into a buffer of its own.
    fn aside(&self, print: impl FnOnce()) -> String {
        let held = std::mem::take(&mut *self.out.borrow_mut());
        print();
        std::mem::replace(&mut *self.out.borrow_mut(), held)
    }

    /// The same with everything else put back, for a subquery.
    fn query(&self, query: &'q Query, columns: Option<&[String]>, visible: bool) {
        let indent = *self.indent.borrow();
        let level = self.level(query);
        self.levels.borrow_mut().push(level);
        self.with_clause(&query.ctes);
        match &query.body {
            Body::Select(select) => {
                self.select(query, select, columns, visible);
                self.order_by(query, Some(select));
            }
            Body::SetOperation(set) => {
                // Both arms' columns go by the names of the whole.
                let own: Vec<String> = query.columns.iter().map(|c| c.name.clone()).collect();
                self.set_operation(set, columns.unwrap_or(&own));
                self.order_by(query, None);
            }
            Body::Values(rows) => {
                *self.indent.borrow_mut() += STEP;
                self.push(" ");
                self.values(rows);
                self.order_by(query, None);
            }
            Body::Dml(_) => self.push("(...)"),
        }
        if let Some(offset) = &query.offset {
            self.keyword(" OFFSET ", -STEP, STEP, 0);
            self.expr(offset, false);
        }
        if let Some(limit) = &query.limit {
            if query.with_ties {
                self.keyword(" FETCH FIRST ", -STEP, STEP, 0);
                self.expr(limit, false);
                self.push(" ROWS WITH TIES");
            } else {
                self.keyword(" LIMIT ", -STEP, STEP, 0);
                match limit {
                    Expr::Const(Value::Null, _) => self.push("ALL"),
                    limit => self.expr(limit, false),
                }
            }
        }
        for locking in &query.locking {
            self.keyword(
                match locking.strength {
                    LockStrength::KeyShare => " FOR KEY SHARE",
                    LockStrength::Share => " FOR SHARE",
                    LockStrength::NoKeyUpdate => " FOR NO KEY UPDATE",
                    LockStrength::Update => " FOR UPDATE",
                },
                -STEP,
                STEP,
                0,
            );
            for entry in &locking.entries {
                let alias = self.alias(0, *entry as u16);
                self.push(&format!(" OF {alias}"));
            }
            match locking.wait {
                LockWait::Block => {}
                LockWait::NoWait => self.push(" NOWAIT"),
                LockWait::SkipLocked => self.push(" SKIP LOCKED"),
            }
        }
        self.levels.borrow_mut().pop();
        *self.indent.borrow_mut() = indent;
    }

    /// The level that a query makes, its entries' names made different from all that are visible (`set_rtable_names`).
    fn level(&self, query: &'q Query) -> Level<'q> {
        let select = match &query.body {
            Body::Select(select) => Some(&**select),
            _ => None,
        };
        let mut taken: Vec<String> = self.levels.borrow().iter().flat_map(|l| l.aliases.clone()).collect();
        let mut aliases = Vec::new();
        for entry in select.map_or(&[][..], |s| s.entries.as_slice()) {
            let mut name = entry.alias.clone();
            let mut number = 0;
            while taken.contains(&name) {
                number += 1;
                name = format!("{}_{number}", entry.alias);
            }
            taken.push(name.clone());
            aliases.push(name);
        }
        Level { select, aliases, ctes: &query.ctes }
    }

    /// The quoted alias of an entry, `up` queries up.
    fn alias(&self, up: u16, entry: u16) -> String {
        let levels = self.levels.borrow();
        let level = levels.len().checked_sub(1 + usize::from(up)).and_then(|i| levels.get(i));
        level.and_then(|l| l.aliases.get(usize::from(entry))).map(|name| quote(name)).unwrap_or_default()
    }

    fn column(&self, up: u16, entry: u16, column: u16) -> String {
        let levels = self.levels.borrow();
        let level = levels.len().checked_sub(1 + usize::from(up)).and_then(|i| levels.get(i));
        let Some(level) = level else { return String::new() };
        let found = level.select.and_then(|s| s.entries.get(usize::from(entry)));
        let name = found.and_then(|e| e.columns.get(usize::from(column))).map(|c| quote(&c.name));
        let alias = level.aliases.get(usize::from(entry)).map(|a| quote(a)).unwrap_or_default();
        format!("{alias}.{}", name.unwrap_or_default())
    }

    fn expr(&self, expr: &'q Expr, implicit: bool) {
        let text = self.text(expr, implicit);
        self.push(&text);
    }

    fn text(&self, expr: &'q Expr, implicit: bool) -> String {
        let column = |up, entry, column| self.column(up, entry, column);
        let within = |deparser: &Deparser<'_>, e: &Expr, implicit: bool, out: &mut String| {
            self.within(deparser, e, implicit, out);
        };
        let deparser = Deparser {
            column: &column,
            env: self.env,
            objects: self.objects,
            pretty: self.pretty,
            depth: std::cell::Cell::new((*self.indent.borrow() / ITEM).max(0) as usize),
            within: Some(&within),
        };
        let mut out = String::new();
        deparser.expr(expr, implicit, &mut out);
        out
    }

    /// Expressions that stand for something of the query around.
    fn within(&self, deparser: &Deparser<'_>, expr: &Expr, implicit: bool, out: &mut String) {
        let select = self.levels.borrow().last().and_then(|l| l.select);
        match (expr, select) {
            (Expr::GroupKey(i, _), Some(select)) => {
                if let Some(key) = select.group_by.get(*i) {
                    deparser.expr(key, implicit, out);
                }
            }
            (Expr::Aggregate(i, _), Some(select)) => {
                if let Some(call) = select.aggregates.get(*i) {
                    self.aggregate(deparser, call, out);
                }
            }
            (Expr::Window(i, _), Some(select)) => {
                if let Some(call) = select.windows.get(*i) {
                    self.window(deparser, call, out);
                }
            }
            (Expr::SetFunction(i, _), Some(select)) => {
                if let Some(call) = select.set_functions.get(*i) {
                    deparser.expr(&Expr::Call(Box::new(call.clone())), implicit, out);
                }
            }
            (Expr::Grouping(keys), Some(select)) => {
                let list: Vec<String> = keys
                    .iter()
                    .filter_map(|i| select.group_by.get(*i))
                    .map(|key| {
                        let mut text = String::new();
                        deparser.expr(key, true, &mut text);
                        text
                    })
                    .collect();
                out.push_str(&format!("GROUPING({})", list.join(", ")));
            }
            (Expr::Subquery(subquery), _) => self.subquery(deparser, subquery, out),
            _ => out.push_str("(...)"),
        }
    }

    /// `get_sublink_expr`
    fn subquery(&self, deparser: &Deparser<'_>, subquery: &crate::bound::Subquery, out: &mut String) {
        // The tree lives as long as the printer's; levels keep references into it only while it is printed.
        let nested = Printer {
            objects: self.objects,
            env: self.env,
            pretty: self.pretty,
            out: RefCell::default(),
            indent: RefCell::new(*self.indent.borrow()),
            levels: RefCell::new(
                self.levels
                    .borrow()
                    .iter()
                    .map(|l| Level { select: l.select, aliases: l.aliases.clone(), ctes: l.ctes })
                    .collect(),
            ),
        };
        nested.query(&subquery.query, None, false);
        let text = nested.out.into_inner();
        match &subquery.kind {
            SubqueryKind::Exists => out.push_str(&format!("(EXISTS ({text}))")),
            SubqueryKind::Scalar => out.push_str(&format!("({text})")),
            SubqueryKind::Array => out.push_str(&format!("ARRAY({text})")),
            SubqueryKind::Quantified { all, test, .. } => {
                out.push('(');
                let op = quantified_sides(test, &mut |lefts| {
                    if lefts.len() > 1 {
                        out.push('(');
                    }
                    for (i, left) in lefts.iter().enumerate() {
                        if i > 0 {
                            out.push_str(", ");
                        }
                        deparser.expr(left, true, out);
                    }
                    if lefts.len() > 1 {
                        out.push(')');
                    }
                });
                match (op.as_str(), all) {
                    ("=", false) => out.push_str(" IN "),
                    (op, false) => out.push_str(&format!(" {op} ANY ")),
                    (op, true) => out.push_str(&format!(" {op} ALL ")),
                }
                out.push_str(&format!("({text}))"));
            }
        }
    }

    /// `get_agg_expr`
    fn aggregate(&self, deparser: &Deparser<'_>, call: &AggregateCall, out: &mut String) {
        out.push_str(&quote(&call.proc.name));
        out.push('(');
        if call.distinct {
            out.push_str("DISTINCT ");
        }
        let list = |list: &[Expr], out: &mut String| {
            for (i, arg) in list.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                deparser.expr(arg, true, out);
            }
        };
        let ordered_set =
            !call.direct.is_empty() || call.proc.src.contains("ordered_set") || is_ordered_set(call);
        if ordered_set {
            list(&call.direct, out);
            out.push_str(") WITHIN GROUP (ORDER BY ");
            let keys = call.args.iter().zip(call.order_by.iter());
            for (i, (arg, (_, desc, nulls_first))) in keys.enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                deparser.expr(arg, true, out);
                direction(*desc, *nulls_first, out);
            }
            if call.order_by.is_empty() {
                list(&call.args, out);
            }
        } else if call.args.is_empty() && call.proc.kind == ProcKind::Aggregate {
            out.push('*');
        } else {
            list(&call.args, out);
            self.inner_order(deparser, &call.order_by, " ORDER BY ", out);
        }
        if let Some(filter) = &call.filter {
            out.push_str(") FILTER (WHERE ");
            deparser.expr(filter, false, out);
        }
        out.push(')');
    }

    fn inner_order(
        &self,
        deparser: &Deparser<'_>,
        keys: &[(Expr, bool, bool)],
        words: &str,
        out: &mut String,
    ) {
        for (i, (key, desc, nulls_first)) in keys.iter().enumerate() {
            out.push_str(if i == 0 { words } else { ", " });
            self.sort_expr(deparser, key, out);
            direction(*desc, *nulls_first, out);
        }
    }

    /// An expression of ORDER BY, GROUP BY and their like: anything but a column in parentheses where it could be misread.
    fn sort_expr(&self, deparser: &Deparser<'_>, expr: &Expr, out: &mut String) {
        let bare = matches!(expr, Expr::Column(_) | Expr::Const(..));
        let function = match expr {
            Expr::Call(call) => {
                matches!(call.form, crate::bound::CallForm::Function | crate::bound::CallForm::Special)
            }
            Expr::Aggregate(..) | Expr::Window(..) => true,
            _ => false,
        };
        let paren = !bare && (self.pretty || function);
        if paren {
            out.push('(');
        }
        deparser.expr(expr, true, out);
        if paren {
            out.push(')');
        }
    }

    /// `get_windowfunc_expr`, the window always written in place.
    fn window(&self, deparser: &Deparser<'_>, call: &WindowCall, out: &mut String) {
        let inner = &call.call;
        if inner.args.is_empty() && inner.proc.kind != ProcKind::Aggregate {
            out.push_str(&format!("{}()", quote(&inner.proc.name)));
        } else {
            self.aggregate(deparser, inner, out);
        }
        out.push_str(" OVER (");
        let start = out.len();
        for (i, key) in call.partition_by.iter().enumerate() {
            out.push_str(if i == 0 { "PARTITION BY " } else { ", " });
            self.sort_expr(deparser, key, out);
        }
        if !call.order_by.is_empty() {
            let words = if out.len() > start { " ORDER BY " } else { "ORDER BY " };
            self.inner_order(deparser, &call.order_by, words, out);
        }
        let frame = &call.frame;
        let default = frame.unit == FrameUnit::Range
            && matches!(frame.start, FrameBound::UnboundedPreceding)
            && matches!(frame.end, FrameBound::CurrentRow)
            && frame.exclude == FrameExclude::NoOthers;
        if !default {
            if out.len() > start {
                out.push(' ');
            }
            out.push_str(match frame.unit {
                FrameUnit::Rows => "ROWS BETWEEN ",
                FrameUnit::Range => "RANGE BETWEEN ",
                FrameUnit::Groups => "GROUPS BETWEEN ",
            });
            frame_bound(deparser, &frame.start, out);
            out.push_str(" AND ");
            frame_bound(deparser, &frame.end, out);
            out.push_str(match frame.exclude {
                FrameExclude::NoOthers => "",
                FrameExclude::CurrentRow => " EXCLUDE CURRENT ROW",
                FrameExclude::Group => " EXCLUDE GROUP",
                FrameExclude::Ties => " EXCLUDE TIES",
            });
        }
        out.push(')');
    }

    /// `get_with_clause`
    fn with_clause(&self, ctes: &'q [Cte]) {
        if ctes.is_empty() {
            return;
        }
        *self.indent.borrow_mut() += STEP;
        self.push(" ");
        let recursive = ctes.iter().any(|cte| cte.recursive);
        for (i, cte) in ctes.iter().enumerate() {
            self.push(match (i, recursive) {
                (0, true) => "WITH RECURSIVE ",
                (0, false) => "WITH ",
                _ => ", ",
            });
            self.push(&quote(&cte.name));
            let names: Vec<String> = cte.query.columns.iter().map(|c| quote(&c.name)).collect();
            if cte.recursive {
                self.push(&format!("({})", names.join(", ")));
            }
            self.push(match cte.materialized {
                Some(true) => " AS MATERIALIZED (",
                Some(false) => " AS NOT MATERIALIZED (",
                None => " AS (",
            });
            self.keyword("", 0, 0, 0);
            let names: Vec<String> = cte.query.columns.iter().map(|c| c.name.clone()).collect();
            self.query(&cte.query, Some(&names), true);
            self.keyword("", 0, 0, 0);
            self.push(")");
        }
        *self.indent.borrow_mut() -= STEP;
        self.keyword("", 0, 0, 0);
    }

    /// `get_basic_select_query`
    fn select(&self, query: &'q Query, select: &'q Select, columns: Option<&[String]>, visible: bool) {
        *self.indent.borrow_mut() += STEP;
        self.push(" SELECT");
        match &select.distinct {
            Distinct::None => {}
            Distinct::All => self.push(" DISTINCT"),
            Distinct::On(places) => {
                self.push(" DISTINCT ON (");
                for (i, place) in places.iter().enumerate() {
                    if i > 0 {
                        self.push(", ");
                    }
                    if let Some(target) = select.targets.get(*place) {
                        self.sorted(target);
                    }
                }
                self.push(")");
            }
        }
        self.targets(query, select, columns, visible);
        for (i, item) in select.from.iter().enumerate() {
            if i == 0 {
                self.keyword(" FROM ", -STEP, STEP, 2);
                self.join_tree(select, item);
            } else {
                self.push(", ");
                let text = self.aside(|| self.join_tree(select, item));
                self.keyword("", -STEP, STEP, ITEM);
                self.push(&text);
            }
        }
        if let Some(filter) = &select.filter {
            self.keyword(" WHERE ", -STEP, STEP, 1);
            self.expr(filter, false);
        }
        self.group_by(select);
        if let Some(having) = &select.having {
            self.keyword(" HAVING ", -STEP, STEP, 0);
            self.expr(having, false);
        }
    }

    fn sorted(&self, expr: &'q Expr) {
        let column = |up, entry, column| self.column(up, entry, column);
        let within = |deparser: &Deparser<'_>, e: &Expr, implicit: bool, out: &mut String| {
            self.within(deparser, e, implicit, out);
        };
        let deparser = Deparser {
            column: &column,
            env: self.env,
            objects: self.objects,
            pretty: self.pretty,
            depth: std::cell::Cell::new((*self.indent.borrow() / ITEM).max(0) as usize),
            within: Some(&within),
        };
        let mut text = String::new();
        self.sort_expr(&deparser, expr, &mut text);
        self.push(&text);
    }

    fn group_by(&self, select: &'q Select) {
        if select.group_by.is_empty() && select.grouping_sets.is_none() {
            return;
        }
        self.keyword(" GROUP BY ", -STEP, STEP, 1);
        match &select.grouping_sets {
            None => {
                for (i, key) in select.group_by.iter().enumerate() {
                    if i > 0 {
                        self.push(", ");
                    }
                    self.sorted(key);
                }
            }
            Some(sets) => {
                self.push("GROUPING SETS (");
                for (i, set) in sets.iter().enumerate() {
                    self.push(if i == 0 { "(" } else { ", (" });
                    for (j, place) in set.iter().enumerate() {
                        if j > 0 {
                            self.push(", ");
                        }
                        if let Some(key) = select.group_by.get(*place) {
                            self.expr(key, true);
                        }
                    }
                    self.push(")");
                }
                self.push(")");
            }
        }
    }

    /// `get_target_list`
    fn targets(&self, query: &'q Query, select: &'q Select, columns: Option<&[String]>, visible: bool) {
        for (i, target) in select.targets.iter().take(select.visible).enumerate() {
            self.push(if i == 0 { " " } else { ", " });
            let mut text = self.text(target, true);
            let shown = match target {
                Expr::GroupKey(key, _) => select.group_by.get(*key).unwrap_or(target),
                other => other,
            };
            let own = match shown {
                Expr::Column(c) => {
                    let levels = self.levels.borrow();
                    let level =
                        levels.len().checked_sub(1 + usize::from(c.level)).and_then(|i| levels.get(i));
                    level
                        .and_then(|l| l.select)
                        .and_then(|s| s.entries.get(usize::from(c.entry)))
                        .and_then(|e| e.columns.get(usize::from(c.column)))
                        .map(|c| c.name.clone())
                }
                _ if !visible => Some("?column?".to_owned()),
                _ => None,
            };
            let wanted = columns.and_then(|c| c.get(i)).or(query.columns.get(i).map(|c| &c.name));
            if let Some(wanted) = wanted
                && own.as_ref() != Some(wanted)
            {
                text.push_str(&format!(" AS {}", quote(wanted)));
            }
            let leading = text.starts_with('\n');
            if leading {
                let mut out = self.out.borrow_mut();
                let kept = out.trim_end_matches(' ').len();
                out.truncate(kept);
            } else if i > 0 {
                self.keyword("", -STEP, STEP, ITEM);
            }
            self.push(&text);
        }
    }

    /// `get_from_clause_item`
    fn join_tree(&self, select: &'q Select, item: &'q FromItem) {
        match item {
            FromItem::Entry(place) => {
                if let Some(entry) = select.entries.get(*place) {
                    self.entry(entry, *place);
                }
            }
            FromItem::Join { kind, left, right, on } => {
                if !self.pretty {
                    self.push("(");
                }
                self.join_tree(select, left);
                let word = match (kind, on) {
                    (JoinKind::Inner | JoinKind::Cross, Some(_)) => " JOIN ",
                    (JoinKind::Inner | JoinKind::Cross, None) => " CROSS JOIN ",
                    (JoinKind::Left, _) => " LEFT JOIN ",
                    (JoinKind::Right, _) => " RIGHT JOIN ",
                    (JoinKind::Full, _) => " FULL JOIN ",
                };
                self.keyword(word, -STEP, STEP, ITEM);
                let paren = self.pretty && matches!(**right, FromItem::Join { .. });
                if paren {
                    self.push("(");
                }
                self.join_tree(select, right);
                if paren {
                    self.push(")");
                }
                match on {
                    Some(on) => {
                        self.push(if self.pretty { " ON " } else { " ON (" });
                        self.expr(on, false);
                        if !self.pretty {
                            self.push(")");
                        }
                    }
                    None if matches!(kind, JoinKind::Inner | JoinKind::Cross) => {}
                    None => self.push(" ON TRUE"),
                }
                if !self.pretty {
                    self.push(")");
                }
            }
        }
    }

    fn entry(&self, entry: &'q RangeEntry, place: usize) {
        // Functions may always refer to what stands before them; the word shows when they do.
        let lateral = match &entry.source {
            Source::Function { calls, .. } => calls.iter().any(|(call, _)| refers_to_siblings(call)),
            _ => entry.lateral,
        };
        if lateral {
            self.push("LATERAL ");
        }
        let alias = self.alias(0, place as u16);
        let own_columns = || {
            let names: Vec<String> = entry.columns.iter().map(|c| quote(&c.name)).collect();
            format!("({})", names.join(", "))
        };
        let unless_same = |name: &str| {
            if name == alias { String::new() } else { format!(" {alias}") }
        };
        match &entry.source {
            Source::Table(table) => {
                self.push(&self.relation(table.oid, &table.name));
                self.push(&unless_same(&quote(&table.name)));
            }
            Source::System(oid) => {
                let (schema, name) = relation_name_of_system(*oid).unwrap_or(("pg_catalog", &entry.alias));
                if schema == "pg_catalog" && self.env.is_some() {
                    self.push(&quote(name));
                } else {
                    self.push(&format!("{schema}.{}", quote(name)));
                }
                self.push(&unless_same(&quote(name)));
            }
            Source::Subquery(query) => {
                // A view prints by its name: its query's columns come from it.
                if let Some(view) = self.view_of(query) {
                    self.push(&self.relation(view, &entry.alias));
                    let name = self.objects.view(view).map(|v| quote(&v.name)).unwrap_or_default();
                    self.push(&unless_same(&name));
                    return;
                }
                self.push("(");
                self.query(query, None, true);
                self.push(&format!(") {alias}"));
                let same = entry.columns.iter().map(|c| &c.name).eq(query.columns.iter().map(|c| &c.name));
                if !same {
                    self.push(&own_columns());
                }
            }
            Source::Cte(up, at) => {
                let levels = self.levels.borrow();
                let level = levels.len().checked_sub(1 + *up).and_then(|i| levels.get(i));
                let name = level.and_then(|l| l.ctes.get(*at)).map(|c| quote(&c.name)).unwrap_or_default();
                drop(levels);
                self.push(&name);
                self.push(&unless_same(&name));
            }
            Source::Function { calls, ordinality } => {
                let several = calls.len() > 1;
                if several {
                    self.push("ROWS FROM(");
                }
                for (i, (call, _)) in calls.iter().enumerate() {
                    if i > 0 {
                        self.push(", ");
                    }
                    self.expr(call, true);
                }
                if several {
                    self.push(")");
                }
                if *ordinality {
                    self.push(" WITH ORDINALITY");
                }
                self.push(&format!(" {alias}{}", own_columns()));
            }
            Source::Values(rows) => {
                self.push("(");
                self.values(rows);
                self.push(&format!(") {alias}{}", own_columns()));
            }
            Source::Given => self.push(&alias),
        }
    }

    /// The view that a subquery is the expansion of: all its columns say so.
    fn view_of(&self, query: &Query) -> Option<Oid> {
        let (view, _) = query.columns.first()?.origin?;
        self.objects.view(view)?;
        let all = query.columns.iter().enumerate().all(|(i, c)| c.origin == Some((view, i as i16 + 1)));
        all.then_some(view)
    }

    /// `get_values_def`
    fn values(&self, rows: &'q [Vec<Expr>]) {
        self.push("VALUES ");
        for (i, row) in rows.iter().enumerate() {
            self.push(if i == 0 { "(" } else { ", (" });
            for (j, value) in row.iter().enumerate() {
                if j > 0 {
                    self.push(",");
                }
                self.expr(value, false);
            }
            self.push(")");
        }
    }

    /// `get_setop_query`
    fn set_operation(&self, set: &'q SetOperation, columns: &[String]) {
        let left_nested = match &set.left.body {
            Body::SetOperation(inner) if is_plain(&set.left) => Some(inner),
            _ => None,
        };
        match left_nested {
            Some(inner) => {
                let paren = inner.op != set.op || inner.all != set.all;
                if paren {
                    self.push("(");
                    self.keyword("", STEP, 0, 0);
                }
                self.nested_set(&set.left, inner, columns);
                if paren {
                    self.keyword(") ", -STEP, 0, 0);
                } else {
                    self.keyword("", 0, 0, 0);
                }
            }
            None => {
                self.arm(&set.left, columns);
                self.keyword("", 0, 0, 0);
            }
        }
        self.push(match set.op {
            SetOp::Union => "UNION ",
            SetOp::Intersect => "INTERSECT ",
            SetOp::Except => "EXCEPT ",
        });
        if set.all {
            self.push("ALL ");
        }
        match &set.right.body {
            Body::SetOperation(inner) if is_plain(&set.right) => {
                self.push("(");
                self.keyword("", STEP, 0, 0);
                self.nested_set(&set.right, inner, columns);
                *self.indent.borrow_mut() -= STEP;
                self.keyword(")", 0, 0, 0);
            }
            _ => {
                self.keyword("", 0, 0, 0);
                self.arm(&set.right, columns);
            }
        }
    }

    fn nested_set(&self, query: &'q Query, set: &'q SetOperation, columns: &[String]) {
        let level = self.level(query);
        self.levels.borrow_mut().push(level);
        self.set_operation(set, columns);
        self.levels.borrow_mut().pop();
    }

    fn arm(&self, query: &'q Query, columns: &[String]) {
        let paren = !is_plain(query);
        if paren {
            self.push("(");
        }
        self.query(query, Some(columns), true);
        if paren {
            self.push(")");
        }
    }

    /// ORDER BY; over a set operation by column number.
    fn order_by(&self, query: &'q Query, select: Option<&'q Select>) {
        for (i, SortKey { column, desc, nulls_first }) in query.order_by.iter().enumerate() {
            if i == 0 {
                self.keyword(" ORDER BY ", -STEP, STEP, 1);
            } else {
                self.push(", ");
            }
            match select {
                Some(select) => {
                    if let Some(target) = select.targets.get(*column) {
                        self.sorted(target);
                    }
                }
                None => self.push(&(column + 1).to_string()),
            }
            let mut words = String::new();
            direction(*desc, *nulls_first, &mut words);
            self.push(&words);
        }
    }

    /// A relation's name, with its schema unless the search path finds it.
    fn relation(&self, oid: Oid, name: &str) -> String {
        let column = |_, _, _| String::new();
        let deparser = Deparser {
            column: &column,
            env: self.env,
            objects: self.objects,
            pretty: false,
            depth: Default::default(),
            within: None,
        };
        deparser.relation(oid).unwrap_or_else(|| quote(name))
    }
}

/// Whether an expression uses columns of the query that it stands in.
fn refers_to_siblings(expr: &Expr) -> bool {
    let mut found = false;
    crate::plan::walk::expr(expr, 0, &mut |seen, level| {
        if let crate::plan::walk::Seen::Expr(Expr::Column(c)) = seen {
            found |= c.level == level;
        }
    });
    found
}

/// Whether a query has nothing but its body, so that it needs no parentheses as an arm of a set operation.
fn is_plain(query: &Query) -> bool {
    query.ctes.is_empty()
        && query.order_by.is_empty()
        && query.limit.is_none()
        && query.offset.is_none()
        && query.locking.is_empty()
}

fn direction(desc: bool, nulls_first: bool, out: &mut String) {
    if desc {
        out.push_str(" DESC");
    }
    match (desc, nulls_first) {
        (false, true) => out.push_str(" NULLS FIRST"),
        (true, false) => out.push_str(" NULLS LAST"),
        _ => {}
    }
}

fn frame_bound(deparser: &Deparser<'_>, bound: &FrameBound, out: &mut String) {
    match bound {
        FrameBound::UnboundedPreceding => out.push_str("UNBOUNDED PRECEDING"),
        FrameBound::Preceding(e) => {
            deparser.expr(e, false, out);
            out.push_str(" PRECEDING");
        }
        FrameBound::CurrentRow => out.push_str("CURRENT ROW"),
        FrameBound::Following(e) => {
            deparser.expr(e, false, out);
            out.push_str(" FOLLOWING");
        }
        FrameBound::UnboundedFollowing => out.push_str("UNBOUNDED FOLLOWING"),
    }
}

/// The left sides of a quantified test, handed to `print`, and its operator.
fn quantified_sides(test: &Expr, print: &mut dyn FnMut(&[&Expr])) -> String {
    let parts: Vec<&Expr> = match test {
        Expr::And(list) | Expr::Or(list) => list.iter().collect(),
        one => vec![one],
    };
    let mut lefts = Vec::new();
    let mut op = String::from("=");
    for part in parts {
        match part {
            Expr::Call(call) => {
                if let Some(name) = operator_name(call) {
                    op = name.to_owned();
                }
                lefts.extend(call.args.first());
            }
            Expr::RowCompare { left, .. } => lefts.extend(left.iter()),
            other => lefts.push(other),
        }
    }
    print(&lefts);
    op
}

fn is_ordered_set(call: &AggregateCall) -> bool {
    matches!(call.proc.name.as_str(), "percentile_cont" | "percentile_disc" | "mode")
}
