//! Bound queries become trees. Whatever is not surely the same thing on this path gives `None`, and the row path takes the query.

mod from;
mod group;

use crate::column::{Kind, is_native};
use crate::expression::{Computed, Form};
use crate::tree::{Aggregation, Order, Tree};
use catalog::pg::Volatility;
use catalog::types::{Type, oid};
use exec::bound::{Body, Distinct, Expr, Query, Select, SetOp, SortKey, SqlType};
use exec::plan::PlanContext;
use exec::plan::print::Names;
use exec::plan::rewrite::inline_ctes;
use exec::plan::scope::{Layout, Scope};
use exec::plan::select::Planner;
use exec::plan::walk::{self, Seen};
use exec::row::expr::PhysicalExpr as RowExpr;
use std::sync::Arc;

/// A tree and where its values lie.
pub struct Relation {
    /// The tree.
    pub tree: Tree,
    /// What its columns are; columns of the query itself need no names here.
    pub layout: Layout,
    /// Their kinds.
    pub kinds: Vec<Kind>,
    /// Estimated rows.
    pub rows: f64,
}

/// A query lowered.
pub struct Lowered {
    /// The tree.
    pub tree: Tree,
    /// How many of its leading columns are the query's.
    pub visible: usize,
    /// LIMIT.
    pub limit: Option<RowExpr>,
    /// OFFSET.
    pub offset: Option<RowExpr>,
    /// Rows of all tables that are read.
    pub scanned: f64,
    /// Whether it joins, groups or drops duplicates: whether there is something to win. A sort alone stays on the row path:
    /// its rows would only be turned to arrow and back, and a bench has not shown that this pays.
    pub heavy: bool,
}

/// Lowers one statement.
pub struct Lowerer<'a> {
    cx: &'a PlanContext<'a>,
    names: Names,
    scanned: f64,
    heavy: bool,
}

/// Lowers a statement's query.
pub fn lower(query: &Query, cx: &PlanContext<'_>) -> Option<Lowered> {
    let inlined;
    let query = if query.ctes.is_empty() {
        query
    } else {
        inlined = inline_ctes(query);
        &inlined
    };
    let mut lowerer = Lowerer { cx, names: Names::default(), scanned: 0.0, heavy: false };
    let limit = query.limit.as_ref().map(alone).transpose_option()?;
    let offset = query.offset.as_ref().map(alone).transpose_option()?;
    let relation = lowerer.query(query)?;
    Some(Lowered {
        tree: relation.tree,
        visible: query.columns.len(),
        limit,
        offset,
        scanned: lowerer.scanned,
        heavy: lowerer.heavy,
    })
}

/// `Option<Option<T>>` the way `?` wants it.
trait TransposeOption<T> {
    fn transpose_option(self) -> Option<Option<T>>;
}

impl<T> TransposeOption<T> for Option<Option<T>> {
    fn transpose_option(self) -> Option<Option<T>> {
        match self {
            Some(inner) => inner.map(Some),
            None => Some(None),
        }
    }
}

/// An expression that reads no columns. The session evaluates it, so it may be stable.
fn alone(e: &Expr) -> Option<RowExpr> {
    let mut plain = true;
    walk::expr(e, 0, &mut |seen, _| {
        plain &= matches!(seen, Seen::Expr(e) if !matches!(e, Expr::Subquery(_) | Expr::Column(_)));
    });
    if !plain {
        return None;
    }
    let layout = Layout::new();
    Planner::for_expressions().compile(e, 0, &Scope::new(&layout, None)).ok()
}

/// The type of an expression's values.
fn type_of(typ: SqlType) -> Option<&'static Type> {
    catalog::types::by_oid(typ.oid)
}

/// The kind of an expression's column.
fn kind_of(typ: SqlType) -> Option<Kind> {
    Kind::of(type_of(typ)?)
}

/// Whether an expression means the same apart from its session: immutable, without subqueries, over this query's rows alone.
fn is_detached(e: &Expr) -> bool {
    let mut good = true;
    walk::expr(e, 0, &mut |seen, _| {
        good &= match seen {
            Seen::Source(_) => false,
            Seen::Expr(e) => match e {
                Expr::Subquery(_)
                | Expr::Window(..)
                | Expr::SetFunction(..)
                | Expr::Grouping(_)
                | Expr::NextValue(..) => false,
                Expr::Column(c) => c.level == 0,
                Expr::Call(call)
                | Expr::Distinct(call)
                | Expr::ScalarArray(call, _)
                | Expr::NullIf(call, _) => call.proc.volatility == Volatility::Immutable,
                // Text of points in time may say `now`.
                Expr::IoCast(_, to, ..) => {
                    !matches!(to.oid, oid::DATE | oid::TIME | oid::TIMETZ | oid::TIMESTAMP | oid::TIMESTAMPTZ)
                        && to.oid.0 < 10_000
                        && type_of(*to).is_some_and(|t| !t.is_array() && !t.name.starts_with("reg"))
                }
                _ => true,
            },
        };
    });
    good
}

impl Lowerer<'_> {
    /// Compiles an expression over columns; it must mean the same on another thread.
    fn row_expr(&self, e: &Expr, layout: &Layout) -> Option<RowExpr> {
        if !is_detached(e) {
            return None;
        }
        Planner::for_expressions().compile(e, 0, &Scope::new(layout, None)).ok()
    }

    /// An expression as a column of a given form and kind.
    fn formed(&self, e: &Expr, layout: &Layout, form: Form, kind: Kind) -> Option<Computed> {
        let expr = self.row_expr(e, layout)?;
        let mut slots = Vec::new();
        walk::expr(e, 0, &mut |seen, _| {
            let slot = match seen {
                Seen::Expr(Expr::Column(c)) => layout.slot(from::column_key(c)),
                Seen::Expr(Expr::GroupKey(i, _)) => layout.slot(group::key(*i)),
                Seen::Expr(Expr::Aggregate(i, _)) => layout.slot(group::aggregate(*i)),
                _ => None,
            };
            slots.extend(slot);
        });
        slots.sort_unstable();
        slots.dedup();
        let name = self.names.print(e, 0);
        Some(Computed { expr: Arc::new(expr), slots: slots.into(), form, kind, name })
    }

    /// An expression as a column.
    fn computed(&self, e: &Expr, layout: &Layout) -> Option<Computed> {
        self.formed(e, layout, Form::Value, kind_of(e.typ())?)
    }

    /// A query; its LIMIT is its caller's business. The layout is empty: the columns are the query's, then hidden ones.
    fn query(&mut self, query: &Query) -> Option<Relation> {
        let unplanned = query.ctes.iter().any(|c| c.references > 0 || matches!(c.query.body, Body::Dml(_)));
        if unplanned || query.with_ties || !query.locking.is_empty() {
            return None;
        }
        let (relation, types) = match &query.body {
            Body::Select(select) => {
                let relation = self.select(select)?;
                (relation, select.targets.iter().map(Expr::typ).collect::<Vec<_>>())
            }
            Body::SetOperation(operation) => {
                if operation.op != SetOp::Union {
                    return None;
                }
                let types: Vec<SqlType> = query.columns.iter().map(|c| c.typ).collect();
                let left = self.arm(&operation.left, types.len())?;
                let right = self.arm(&operation.right, types.len())?;
                if left.kinds != right.kinds {
                    return None;
                }
                let union = Relation {
                    tree: Tree::Union(vec![left.tree, right.tree]),
                    layout: Layout::new(),
                    kinds: left.kinds,
                    rows: left.rows + right.rows,
                };
                (if operation.all { union } else { self.distinct(union, &types)? }, types)
            }
            Body::Values(_) | Body::Dml(_) => return None,
        };
        self.sorted(relation, &types, &query.order_by)
    }

    /// A query within another: without LIMIT, and with its own columns only.
    fn inner(&mut self, query: &Query) -> Option<Relation> {
        if query.limit.is_some() || query.offset.is_some() {
            return None;
        }
        self.arm(query, query.columns.len())
    }

    fn arm(&mut self, query: &Query, columns: usize) -> Option<Relation> {
        if query.limit.is_some() || query.offset.is_some() {
            return None;
        }
        let names = std::mem::take(&mut self.names);
        let relation = self.query(query);
        self.names = names;
        let mut relation = relation?;
        if relation.kinds.len() > columns {
            let kept = relation.kinds.iter().take(columns).enumerate();
            let kept = kept.map(|(i, kind)| Computed::slot(i, *kind, &format!("column{}", i + 1))).collect();
            relation.tree = Tree::Project(Box::new(relation.tree), kept);
            relation.kinds.truncate(columns);
        }
        Some(relation)
    }

    fn select(&mut self, select: &Select) -> Option<Relation> {
        if select.grouping_sets.is_some()
            || !select.windows.is_empty()
            || !select.set_functions.is_empty()
            || matches!(select.distinct, Distinct::On(_))
        {
            return None;
        }
        self.names.set(0, &select.entries);
        let mut relation = self.from(select)?;
        if select.grouped {
            relation = self.group(select, relation)?;
        }
        let targets = select.targets.iter().map(|t| self.computed(t, &relation.layout));
        let targets = targets.collect::<Option<Vec<_>>>()?;
        relation.kinds = targets.iter().map(|t| t.kind).collect();
        relation.tree = Tree::Project(Box::new(relation.tree), targets);
        relation.layout = Layout::new();
        if select.distinct == Distinct::All {
            if select.targets.len() != select.visible {
                return None;
            }
            let types: Vec<SqlType> = select.targets.iter().map(Expr::typ).collect();
            relation = self.distinct(relation, &types)?;
        }
        Some(relation)
    }

    /// Drops duplicates. Arrow must know which rows are: values that are equal but look different stay on the row path.
    fn distinct(&mut self, relation: Relation, types: &[SqlType]) -> Option<Relation> {
        if types.is_empty() || !types.iter().all(|t| type_of(*t).is_some_and(is_native)) {
            return None;
        }
        self.heavy = true;
        let kinds = relation.kinds.iter().enumerate();
        let keys = kinds.map(|(i, kind)| Computed::slot(i, *kind, &format!("column{}", i + 1))).collect();
        let calls: Vec<Aggregation> = Vec::new();
        Some(Relation { tree: Tree::Aggregate { input: Box::new(relation.tree), keys, calls }, ..relation })
    }

    /// ORDER BY. Types whose order is not arrow's get a hidden column of key bytes.
    fn sorted(&self, mut relation: Relation, types: &[SqlType], keys: &[SortKey]) -> Option<Relation> {
        if keys.is_empty() {
            return Some(relation);
        }
        let mut columns: Vec<Computed> = relation
            .kinds
            .iter()
            .enumerate()
            .map(|(i, kind)| Computed::slot(i, *kind, &format!("column{}", i + 1)))
            .collect();
        let width = columns.len();
        let mut order = Vec::with_capacity(keys.len());
        for key in keys {
            let typ = type_of(*types.get(key.column)?)?;
            let mut column = key.column;
            if !is_native(typ) {
                typ.encode_key?;
                let expr = Arc::new(RowExpr::Slot(key.column));
                let slots = Arc::new([key.column]);
                column = columns.len();
                let name = format!("key{}", column + 1);
                columns.push(Computed { expr, slots, form: Form::Order(typ), kind: Kind::Bytes, name });
            }
            order.push(Order { column, desc: key.desc, nulls_first: key.nulls_first });
        }
        if columns.len() > width {
            relation.kinds.resize(columns.len(), Kind::Bytes);
            relation.tree = Tree::Project(Box::new(relation.tree), columns);
        }
        relation.tree = Tree::Sort(Box::new(relation.tree), order);
        Some(relation)
    }
}
