//! EXPLAIN: plans as PostgreSQL prints them (`explain.c`), in all four formats, and what EXPLAIN ANALYZE measures.
//!
//! A plan becomes a tree of [`Shown`] nodes: operators that PostgreSQL has no node for (projections, scopes) are left out. The formats
//! differ only in how they print that tree.

use super::dml::DmlPlan;
use super::node::{AccessPath, CteQuery, JoinType, Plan, PlanKind, PlanNode, SubPlan, SubPlanKind};
use super::print::quoted;
use super::subplans::for_each_subplan;
use crate::bound::{ExplainFormat, ExplainOptions};
use crate::row::context::{ExecContext, Flow, Sink};
use catalog::Result;
use std::cell::RefCell;
use std::fmt::Write;
use std::time::{Duration, Instant};
use storage::Direction;

/// What EXPLAIN ANALYZE measures, by node number.
#[derive(Default)]
pub struct Instrumentation {
    /// Per node.
    pub nodes: RefCell<Vec<NodeStatistics>>,
}

/// What one node did.
#[derive(Clone, Copy, Default, Debug)]
pub struct NodeStatistics {
    /// Runs.
    pub loops: u64,
    /// Rows put out over all runs.
    pub rows: u64,
    /// Rows that the node's filter refused.
    pub removed: u64,
    /// Time until the first row of the first run.
    pub first: Duration,
    /// Time of all runs, without the consumer's.
    pub total: Duration,
    /// Memory in bytes, for sorts and hashes.
    pub memory: usize,
}

impl Instrumentation {
    /// Room for a plan's nodes.
    pub fn new(nodes: usize) -> Self {
        Instrumentation { nodes: RefCell::new(vec![NodeStatistics::default(); nodes]) }
    }

    fn update(&self, id: usize, f: impl FnOnce(&mut NodeStatistics)) {
        if let Some(node) = self.nodes.borrow_mut().get_mut(id) {
            f(node);
        }
    }

    /// Counts a row that a filter refused.
    pub fn removed(&self, id: usize) {
        self.update(id, |n| n.removed += 1);
    }

    /// Notes memory used.
    pub fn memory(&self, id: usize, bytes: usize) {
        self.update(id, |n| n.memory = n.memory.max(bytes));
    }

    /// Runs a node and notes its time, without that of whoever consumes its rows.
    pub fn measure(
        &self,
        id: usize,
        cx: &ExecContext<'_>,
        out: &mut Sink<'_>,
        body: &mut dyn FnMut(&ExecContext<'_>, &mut Sink<'_>) -> Result<Flow>,
    ) -> Result<Flow> {
        let start = Instant::now();
        let mut elsewhere = Duration::ZERO;
        let mut first = None;
        let mut rows = 0u64;
        let flow = body(cx, &mut |icx, row| {
            let before = Instant::now();
            rows += 1;
            first.get_or_insert(before.duration_since(start).saturating_sub(elsewhere));
            let flow = out(icx, row);
            elsewhere += before.elapsed();
            flow
        });
        let total = start.elapsed().saturating_sub(elsewhere);
        self.update(id, |n| {
            if n.loops == 0 {
                n.first = first.unwrap_or(total);
            }
            n.loops += 1;
            n.rows += rows;
            n.total += total;
        });
        flow
    }
}

/// The lines of EXPLAIN for a query.
pub fn explain_query(
    plan: &Plan,
    options: &ExplainOptions,
    instrumentation: Option<&Instrumentation>,
    elapsed: Duration,
) -> Vec<String> {
    let path = if matches!(plan.root.kind, PlanKind::Relational(_)) { "relational" } else { "row" };
    let shower = Shower { instrumentation };
    let mut roots = Vec::new();
    shower.show(&plan.root, None, &mut Vec::new(), &mut roots);
    print(roots, options, path, elapsed)
}

/// The lines of EXPLAIN for INSERT, UPDATE, DELETE.
pub fn explain_dml(
    plan: &dyn DmlPlan,
    options: &ExplainOptions,
    instrumentation: Option<&Instrumentation>,
    elapsed: Duration,
) -> Vec<String> {
    let shower = Shower { instrumentation };
    let mut root = Shown { label: plan.label(), ..Shown::default() };
    let verb = root.label.split(' ').next().unwrap_or_default().to_owned();
    root.properties.push(("Node Type".into(), Property::Text("ModifyTable".into())));
    root.properties.push(("Operation".into(), Property::Text(verb)));
    if let Some(input) = plan.input() {
        root.estimate = Some((input.startup, input.cost, 0.0, 0));
        shower.show(input, None, &mut Vec::new(), &mut root.children);
    }
    print(vec![root], options, "row", elapsed)
}

/// A property of a node in the structured formats.
enum Property {
    Text(String),
    Number(String),
    List(Vec<String>),
}

/// A node as it is shown.
#[derive(Default)]
struct Shown {
    /// Its line in the text format, without figures.
    label: String,
    /// `SubPlan 1`, `CTE x`: a line above the node.
    heading: Option<String>,
    relationship: Option<&'static str>,
    properties: Vec<(String, Property)>,
    /// startup, total, rows, width
    estimate: Option<(f64, f64, f64, usize)>,
    actual: Option<NodeStatistics>,
    /// Further lines of the text format.
    lines: Vec<String>,
    children: Vec<Shown>,
}

struct Shower<'p> {
    instrumentation: Option<&'p Instrumentation>,
}

impl Shower<'_> {
    fn statistics(&self, node: &PlanNode) -> Option<NodeStatistics> {
        self.instrumentation.map(|i| i.nodes.borrow().get(node.id).copied().unwrap_or_default())
    }

    /// Adds what is shown of a node to `out`. `extra` are details of nodes above that are not shown themselves.
    fn show(
        &self,
        node: &PlanNode,
        relationship: Option<&'static str>,
        extra: &mut Vec<Shown>,
        out: &mut Vec<Shown>,
    ) {
        // Left out: their input stands for them.
        match &node.kind {
            PlanKind::Project { input, .. } => {
                self.subplans(node, extra);
                return self.show(input, relationship, extra, out);
            }
            PlanKind::Scope { input, finish, .. } => {
                for (_, plan) in finish {
                    extra.push(self.cte(&plan.name, &plan.query));
                }
                return self.show(input, relationship, extra, out);
            }
            PlanKind::Unframe { input, slot: None, .. } if !is_inner(relationship) => {
                return self.show(input, relationship, extra, out);
            }
            _ => {}
        }
        let mut shown = Shown {
            relationship,
            estimate: Some((node.startup, node.cost, node.rows, node.width)),
            actual: self.statistics(node),
            children: std::mem::take(extra),
            ..Shown::default()
        };
        let mut children: Vec<(&PlanNode, &'static str)> = Vec::new();
        let label = self.label(node, &mut shown, &mut children);
        shown.label = label;
        for (name, text) in &node.details {
            shown.line(name, text);
            let removed = shown.actual.map_or(0, |a| a.removed);
            let counted = matches!(*name, "Filter" | "Join Filter");
            if counted && removed > 0 {
                let loops = shown.actual.map_or(1, |a| a.loops.max(1));
                let title =
                    if *name == "Filter" { "Rows Removed by Filter" } else { "Rows Removed by Join Filter" };
                shown.line(title, &(removed / loops).to_string());
            }
        }
        if let (PlanKind::Sort { bound, .. }, Some(actual)) = (&node.kind, shown.actual) {
            let method = if bound.is_some() { "top-N heapsort" } else { "quicksort" };
            shown.line("Sort Method", &format!("{method}  Memory: {}kB", actual.memory.div_ceil(1024)));
        }
        if let PlanKind::Relational(plan) = &node.kind {
            shown.lines.extend(plan.explain());
        }
        self.subplans(node, &mut shown.children);
        for (child, relationship) in children {
            self.show(child, Some(relationship), &mut Vec::new(), &mut shown.children);
        }
        out.push(shown);
    }

    fn subplans(&self, node: &PlanNode, out: &mut Vec<Shown>) {
        for_each_subplan(node, &mut |plan| out.push(self.subplan(plan)));
    }

    fn subplan(&self, plan: &SubPlan) -> Shown {
        let initial = plan.cache.is_some() && !matches!(plan.kind, SubPlanKind::Hashed { .. });
        let (word, relationship) = if initial { ("InitPlan", "InitPlan") } else { ("SubPlan", "SubPlan") };
        let mut list = Vec::new();
        self.show(&plan.plan, Some(relationship), &mut Vec::new(), &mut list);
        let mut shown = list.pop().unwrap_or_default();
        shown.heading = Some(format!("{word} {}", plan.number));
        shown
    }

    fn cte(&self, name: &str, query: &CteQuery) -> Shown {
        let mut list = Vec::new();
        match query {
            CteQuery::Plain(node) => self.show(node, Some("InitPlan"), &mut Vec::new(), &mut list),
            CteQuery::Recursive { start, step, .. } => {
                let mut union = Shown {
                    label: "Recursive Union".into(),
                    relationship: Some("InitPlan"),
                    estimate: Some((
                        start.startup,
                        start.cost + 10.0 * step.cost,
                        start.rows + 10.0 * step.rows,
                        start.width,
                    )),
                    ..Shown::default()
                };
                union.properties.push(("Node Type".into(), Property::Text("Recursive Union".into())));
                self.show(start, Some("Outer"), &mut Vec::new(), &mut union.children);
                self.show(step, Some("Inner"), &mut Vec::new(), &mut union.children);
                list.push(union);
            }
        }
        let mut shown = list.pop().unwrap_or_default();
        shown.heading = Some(format!("CTE {name}"));
        shown
    }

    /// The line of a node, its properties and its inputs.
    fn label<'n>(
        &self,
        node: &'n PlanNode,
        shown: &mut Shown,
        children: &mut Vec<(&'n PlanNode, &'static str)>,
    ) -> String {
        let named = |shown: &mut Shown, typ: &str| {
            shown.properties.push(("Node Type".into(), Property::Text(typ.into())));
            typ.to_owned()
        };
        let on = |shown: &mut Shown, typ: &str, kind: &str, name: &str, alias: &str| {
            shown.properties.push(("Node Type".into(), Property::Text(typ.into())));
            if !name.is_empty() {
                shown.properties.push((kind.into(), Property::Text(name.into())));
            }
            shown.properties.push(("Alias".into(), Property::Text(alias.into())));
        };
        let aliased = |name: &str, alias: &str| match name == alias || alias.is_empty() {
            true => quoted(name),
            false => format!("{} {}", quoted(name), quoted(alias)),
        };
        match &node.kind {
            PlanKind::Result | PlanKind::Empty => named(shown, "Result"),
            PlanKind::Filter { input, .. } => {
                children.push((input, "Outer"));
                named(shown, "Result")
            }
            PlanKind::Scan(scan) => {
                let relation = aliased(&scan.table.name, &scan.alias);
                let (typ, index, direction) = match &scan.path {
                    AccessPath::Full(direction) => ("Seq Scan", None, *direction),
                    AccessPath::Key { index, range } => ("Index Scan", index.as_ref(), range.direction),
                    AccessPath::Index { index, range, covering, .. } => {
                        let typ = if covering.is_some() { "Index Only Scan" } else { "Index Scan" };
                        (typ, Some(index), range.direction)
                    }
                };
                on(shown, typ, "Relation Name", &scan.table.name, &scan.alias);
                let backward = if direction == Direction::Backward { " Backward" } else { "" };
                match index {
                    Some(index) => {
                        shown.properties.push(("Index Name".into(), Property::Text(index.name.clone())));
                        format!("{typ}{backward} using {} on {relation}", quoted(&index.name))
                    }
                    None => format!("{typ}{backward} on {relation}"),
                }
            }
            PlanKind::System(system) => {
                on(shown, "Seq Scan", "Relation Name", &system.alias, &system.alias);
                format!("Seq Scan on {}", quoted(&system.alias))
            }
            PlanKind::Project { input, .. } | PlanKind::Scope { input, .. } => {
                children.push((input, "Outer"));
                named(shown, "Result")
            }
            PlanKind::Unframe { input, .. } => {
                children.push((input, "Outer"));
                named(shown, "Materialize")
            }
            PlanKind::Limit { input, .. } => {
                children.push((input, "Outer"));
                named(shown, "Limit")
            }
            PlanKind::Sort { input, .. } => {
                children.push((input, "Outer"));
                named(shown, "Sort")
            }
            PlanKind::Distinct { input, sorted, .. } => {
                children.push((input, "Outer"));
                named(shown, if *sorted { "Unique" } else { "HashAggregate" })
            }
            PlanKind::Aggregate(aggregate) => {
                children.push((&aggregate.input, "Outer"));
                let typ = match (&aggregate.sets, aggregate.keys.is_empty()) {
                    (Some(_), _) => "MixedAggregate",
                    (None, true) => "Aggregate",
                    (None, false) => "HashAggregate",
                };
                named(shown, typ)
            }
            PlanKind::Window(window) => {
                children.push((&window.input, "Outer"));
                named(shown, "WindowAgg")
            }
            PlanKind::ProjectSet { input, .. } => {
                children.push((input, "Outer"));
                named(shown, "ProjectSet")
            }
            PlanKind::NestedLoop(join) => {
                children.push((&join.left, "Outer"));
                children.push((&join.right, "Inner"));
                let label = joined("Nested Loop", join.join, "");
                shown.properties.push(("Node Type".into(), Property::Text("Nested Loop".into())));
                shown.properties.push(("Join Type".into(), Property::Text(join_name(join.join).into())));
                label
            }
            PlanKind::HashJoin(join) => {
                children.push((&join.left, "Outer"));
                children.push((&join.right, "Inner"));
                shown.properties.push(("Node Type".into(), Property::Text("Hash Join".into())));
                shown.properties.push(("Join Type".into(), Property::Text(join_name(join.join).into())));
                joined("Hash", join.join, " Join")
            }
            PlanKind::Append(inputs) => {
                children.extend(inputs.iter().map(|i| (i, "Member")));
                named(shown, "Append")
            }
            PlanKind::SetOperation { left, right, except, all, .. } => {
                children.push((left, "Outer"));
                children.push((right, "Inner"));
                shown.properties.push(("Node Type".into(), Property::Text("SetOp".into())));
                let op = if *except { "Except" } else { "Intersect" };
                format!("HashSetOp {op}{}", if *all { " All" } else { "" })
            }
            PlanKind::Values(_) => {
                on(shown, "Values Scan", "Relation Name", "", "*VALUES*");
                "Values Scan on \"*VALUES*\"".into()
            }
            PlanKind::Function(function) => {
                let name = function.calls.first().map_or("", |c| c.name.as_str());
                on(shown, "Function Scan", "Function Name", name, &function.alias);
                format!("Function Scan on {}", aliased(name, &function.alias))
            }
            PlanKind::Cte { plan, .. } => {
                on(shown, "CTE Scan", "CTE Name", &plan.name, &plan.name);
                shown.children.push(self.cte(&plan.name, &plan.query));
                format!("CTE Scan on {}", quoted(&plan.name))
            }
            PlanKind::WorkTable { name, .. } => {
                on(shown, "WorkTable Scan", "CTE Name", name, name);
                format!("WorkTable Scan on {}", quoted(name))
            }
            PlanKind::Lock { input, .. } => {
                children.push((input, "Outer"));
                named(shown, "LockRows")
            }
            PlanKind::Dml(plan) => {
                if let Some(input) = plan.input() {
                    children.push((input, "Outer"));
                }
                shown.properties.push(("Node Type".into(), Property::Text("ModifyTable".into())));
                plan.label()
            }
            PlanKind::Relational(_) => named(shown, "Relational"),
        }
    }
}

fn is_inner(relationship: Option<&str>) -> bool {
    relationship == Some("Inner")
}

fn join_name(join: JoinType) -> &'static str {
    match join {
        JoinType::Inner => "Inner",
        JoinType::Left => "Left",
        JoinType::Right => "Right",
        JoinType::Full => "Full",
        JoinType::Semi => "Semi",
        JoinType::Anti => "Anti",
    }
}

fn joined(method: &str, join: JoinType, inner: &str) -> String {
    match join {
        JoinType::Inner => format!("{method}{inner}"),
        other => format!("{method} {} Join", join_name(other)),
    }
}

impl Shown {
    fn line(&mut self, name: &str, text: &str) {
        self.lines.push(format!("{name}: {text}"));
        let property = match name {
            "Sort Key" | "Group Key" => Property::List(text.split(", ").map(str::to_owned).collect()),
            _ if text.bytes().all(|b| b.is_ascii_digit()) && !text.is_empty() => {
                Property::Number(text.to_owned())
            }
            _ => Property::Text(text.to_owned()),
        };
        self.properties.push((name.to_owned(), property));
    }

    /// The node's line with its figures.
    fn headline(&self, options: &ExplainOptions) -> String {
        let mut line = self.label.clone();
        if options.costs
            && let Some((startup, total, rows, width)) = self.estimate
        {
            let _ = write!(line, "  (cost={startup:.2}..{total:.2} rows={rows:.0} width={width})");
        }
        if let Some(actual) = &self.actual {
            if actual.loops == 0 {
                line.push_str(" (never executed)");
            } else if options.timing {
                let (first, total, rows) = per_loop(actual);
                let _ = write!(
                    line,
                    " (actual time={first:.3}..{total:.3} rows={rows:.0} loops={})",
                    actual.loops
                );
            } else {
                let (_, _, rows) = per_loop(actual);
                let _ = write!(line, " (actual rows={rows:.0} loops={})", actual.loops);
            }
        }
        line
    }

    fn text(&self, options: &ExplainOptions, indent: usize, top: bool, out: &mut Vec<String>) {
        let mut indent = indent;
        if let Some(heading) = &self.heading {
            out.push(format!("{:indent$}{heading}", ""));
            indent += 2;
        }
        let arrow = if top { "" } else { "->  " };
        out.push(format!("{:indent$}{arrow}{}", "", self.headline(options)));
        let inner = indent + if top { 2 } else { 6 };
        for line in &self.lines {
            out.push(format!("{:inner$}{line}", ""));
        }
        for child in &self.children {
            child.text(options, inner, false, out);
        }
    }

    /// The node as a value of the structured formats.
    fn value(&self, options: &ExplainOptions) -> serde_json::Value {
        let mut map = serde_json::Map::new();
        for (i, (name, property)) in self.properties.iter().enumerate() {
            let value = match property {
                Property::Text(text) => text.as_str().into(),
                Property::Number(text) => text.parse::<u64>().unwrap_or(0).into(),
                Property::List(list) => list.iter().map(|s| serde_json::Value::from(s.as_str())).collect(),
            };
            map.insert(name.clone(), value);
            if i == 0
                && let Some(relationship) = self.relationship
            {
                map.insert("Parent Relationship".into(), relationship.into());
            }
        }
        if let Some(heading) = &self.heading {
            map.insert("Subplan Name".into(), heading.as_str().into());
        }
        let rounded = |v: f64| serde_json::Value::from((v * 100.0).round() / 100.0);
        if options.costs
            && let Some((startup, total, rows, width)) = self.estimate
        {
            map.insert("Startup Cost".into(), rounded(startup));
            map.insert("Total Cost".into(), rounded(total));
            map.insert("Plan Rows".into(), (rows.round() as u64).into());
            map.insert("Plan Width".into(), width.into());
        }
        if let Some(actual) = &self.actual {
            let (first, total, rows) = per_loop(actual);
            if options.timing {
                map.insert("Actual Startup Time".into(), ((first * 1000.0).round() / 1000.0).into());
                map.insert("Actual Total Time".into(), ((total * 1000.0).round() / 1000.0).into());
            }
            map.insert("Actual Rows".into(), (rows.round() as u64).into());
            map.insert("Actual Loops".into(), actual.loops.into());
        }
        if !self.children.is_empty() {
            let children: Vec<serde_json::Value> = self.children.iter().map(|c| c.value(options)).collect();
            map.insert("Plans".into(), children.into());
        }
        map.into()
    }
}

fn per_loop(actual: &NodeStatistics) -> (f64, f64, f64) {
    let loops = actual.loops.max(1) as f64;
    let millis = |d: Duration| d.as_secs_f64() * 1000.0;
    (millis(actual.first), millis(actual.total) / loops, actual.rows as f64 / loops)
}

fn print(roots: Vec<Shown>, options: &ExplainOptions, path: &str, elapsed: Duration) -> Vec<String> {
    let millis = elapsed.as_secs_f64() * 1000.0;
    let Some(root) = roots.into_iter().next() else { return Vec::new() };
    if options.format == ExplainFormat::Text {
        let mut lines = Vec::new();
        root.text(options, 0, true, &mut lines);
        lines.push(format!("Path: {path}"));
        if options.summary {
            lines.push(format!("Planning Time: {:.3} ms", 0.0));
            if options.analyze {
                lines.push(format!("Execution Time: {millis:.3} ms"));
            }
        }
        return lines;
    }
    let mut map = serde_json::Map::new();
    map.insert("Plan".into(), root.value(options));
    map.insert("Path".into(), path.into());
    if options.summary {
        map.insert("Planning Time".into(), 0.0.into());
        if options.analyze {
            map.insert("Execution Time".into(), ((millis * 1000.0).round() / 1000.0).into());
        }
    }
    let value = serde_json::Value::Array(vec![map.into()]);
    let mut text = String::new();
    match options.format {
        ExplainFormat::Xml => {
            text.push_str("<explain xmlns=\"http://www.postgresql.org/2009/explain\">\n");
            if let Some(query) = value.get(0) {
                xml("Query", query, 1, &mut text);
            }
            text.push_str("</explain>");
        }
        ExplainFormat::Yaml => yaml(&value, 0, &mut text),
        ExplainFormat::Json | ExplainFormat::Text => {
            text = serde_json::to_string_pretty(&value).unwrap_or_default();
        }
    }
    vec![text.trim_end().to_owned()]
}

fn scalar(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(s) => s.clone(),
        other => other.to_string(),
    }
}

fn xml(name: &str, value: &serde_json::Value, depth: usize, out: &mut String) {
    let tag = name.replace(' ', "-");
    let indent = depth * 2;
    match value {
        serde_json::Value::Object(map) => {
            let _ = writeln!(out, "{:indent$}<{tag}>", "");
            map.iter().for_each(|(k, v)| xml(k, v, depth + 1, out));
            let _ = writeln!(out, "{:indent$}</{tag}>", "");
        }
        serde_json::Value::Array(list) => {
            let _ = writeln!(out, "{:indent$}<{tag}>", "");
            let item = if name == "Plans" { "Plan" } else { "Item" };
            list.iter().for_each(|v| xml(item, v, depth + 1, out));
            let _ = writeln!(out, "{:indent$}</{tag}>", "");
        }
        other => {
            let text = scalar(other).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            let _ = writeln!(out, "{:indent$}<{tag}>{text}</{tag}>", "");
        }
    }
}

fn yaml(value: &serde_json::Value, depth: usize, out: &mut String) {
    let indent = depth * 2;
    match value {
        serde_json::Value::Array(list) => {
            for item in list {
                let start = out.len();
                yaml(item, depth + 1, out);
                // The first key of an item stands behind its dash.
                let dashed = format!("{:indent$}- ", "");
                if let Some(first) = out.get(start..) {
                    let rest = first.trim_start().to_owned();
                    out.truncate(start);
                    out.push_str(&dashed);
                    out.push_str(&rest);
                }
            }
        }
        serde_json::Value::Object(map) => {
            for (name, value) in map {
                match value {
                    serde_json::Value::Array(_) | serde_json::Value::Object(_) => {
                        let _ = writeln!(out, "{:indent$}{name}: ", "");
                        yaml(value, depth + 1, out);
                    }
                    serde_json::Value::String(text) => {
                        let _ = writeln!(out, "{:indent$}{name}: \"{}\"", "", text.replace('"', "\\\""));
                    }
                    other => {
                        let _ = writeln!(out, "{:indent$}{name}: {other}", "");
                    }
                }
            }
        }
        other => {
            let _ = writeln!(out, "{:indent$}\"{}\"", "", scalar(other));
        }
    }
}
