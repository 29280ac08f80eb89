//! Scopes: what names mean inside one query level (compare `ParseState` and `ParseNamespaceItem` in `parse_node.h`).

use super::Binder;
use crate::bound::{
    AggregateCall, Call, ColumnRef, Cte, EntryColumn, Expr, QueryColumn, RangeEntry, SqlType, WindowCall,
};
use crate::parse::ast;
use catalog::{Oid, Result, SqlError, SqlState};
use std::cell::{Cell, RefCell};

/// Where in a statement an expression stands (`ParseExprKind`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Clause {
    Target,
    JoinOn,
    FromSubquery,
    FromFunction,
    Where,
    Having,
    Filter,
    WindowPartition,
    WindowOrder,
    WindowFrame(&'static str),
    InsertTarget,
    UpdateSource,
    GroupBy,
    OrderBy,
    DistinctOn,
    Limit,
    Offset,
    Returning,
    Values,
    ValuesSingle,
    Check,
    Default,
    IndexExpression,
    IndexPredicate,
    Generated,
    Parameter,
    ConflictWhere,
    AlterUsing,
}

impl Clause {
    /// PostgreSQL's word (`ParseExprKindName`).
    pub fn name(self) -> &'static str {
        match self {
            Clause::Target => "SELECT",
            Clause::JoinOn => "JOIN/ON",
            Clause::FromSubquery => "sub-SELECT in FROM",
            Clause::FromFunction => "function in FROM",
            Clause::Where | Clause::ConflictWhere => "WHERE",
            Clause::Having => "HAVING",
            Clause::Filter => "FILTER",
            Clause::WindowPartition => "window PARTITION BY",
            Clause::WindowOrder => "window ORDER BY",
            Clause::WindowFrame(name) => name,
            Clause::InsertTarget => "INSERT",
            Clause::UpdateSource => "UPDATE",
            Clause::GroupBy => "GROUP BY",
            Clause::OrderBy => "ORDER BY",
            Clause::DistinctOn => "DISTINCT ON",
            Clause::Limit => "LIMIT",
            Clause::Offset => "OFFSET",
            Clause::Returning => "RETURNING",
            Clause::Values | Clause::ValuesSingle => "VALUES",
            Clause::Check => "CHECK",
            Clause::Default => "DEFAULT",
            Clause::IndexExpression => "index expression",
            Clause::IndexPredicate => "index predicate",
            Clause::Generated => "GENERATED AS",
            Clause::Parameter => "EXECUTE",
            Clause::AlterUsing => "USING",
        }
    }

    /// What aggregates, window and set-returning functions are "not allowed in" here.
    pub(super) fn disallowed_in(self) -> &'static str {
        match self {
            Clause::JoinOn => "JOIN conditions",
            Clause::FromFunction => "functions in FROM",
            Clause::FromSubquery => "FROM clause of their own query level",
            Clause::Check => "check constraints",
            Clause::Default => "DEFAULT expressions",
            Clause::IndexExpression => "index expressions",
            Clause::IndexPredicate => "index predicates",
            Clause::Generated => "column generation expressions",
            Clause::Parameter => "EXECUTE parameters",
            Clause::AlterUsing => "transform expressions",
            Clause::WindowPartition | Clause::WindowOrder => "window definitions",
            other => other.name(),
        }
    }
}

/// What a visible name stands for.
#[derive(Clone, Debug)]
pub(crate) enum Var {
    /// A column of a range entry.
    Column(usize, usize),
    /// A merged column of FULL JOIN USING and its like, at level 0.
    Expr(Box<Expr>),
}

/// A visible column.
#[derive(Clone, Debug)]
pub(crate) struct NsColumn {
    pub(crate) name: String,
    pub(crate) var: Var,
}

/// Something that names in FROM make visible.
#[derive(Clone, Debug)]
pub(crate) struct NsItem {
    /// Alias or name; empty for a join without alias.
    pub(crate) name: String,
    /// The relation it is, when it may be referred to by its qualified name.
    pub(crate) relation: Option<Oid>,
    /// Range entry, unless it is a join.
    pub(crate) entry: Option<usize>,
    pub(crate) columns: Vec<NsColumn>,
    /// `name.column` works.
    pub(crate) rel_visible: bool,
    /// `column` works.
    pub(crate) cols_visible: bool,
    /// Only LATERAL items see it so far.
    pub(crate) lateral_only: bool,
    /// And may they?
    pub(crate) lateral_ok: bool,
}

/// Names of one query level.
pub(crate) struct Scope<'p> {
    pub(crate) binder: &'p Binder<'p>,
    pub(crate) parent: Option<&'p Scope<'p>>,
    pub(crate) clause: Cell<Clause>,
    pub(crate) entries: RefCell<Vec<RangeEntry>>,
    /// Relation behind each entry and whether it is aliased, for hints.
    pub(crate) entry_relations: RefCell<Vec<(Option<Oid>, bool)>>,
    pub(crate) namespace: RefCell<Vec<NsItem>>,
    pub(crate) lateral: Cell<bool>,
    /// WITH queries of this level.
    pub(crate) ctes: RefCell<Vec<Cte>>,
    /// The recursive WITH query being bound: its place (behind `ctes`) and columns.
    pub(crate) recursion: RefCell<Option<(String, Vec<QueryColumn>)>>,
    pub(crate) aggregates: RefCell<Vec<AggregateCall>>,
    /// Positions of all aggregate calls of this level, in the order of binding.
    pub(crate) aggregate_calls: RefCell<Vec<u32>>,
    /// Subqueries use aggregates or grouping columns of this level.
    pub(crate) used_below: Cell<bool>,
    /// FROM holds a reference of a recursive WITH query to itself.
    pub(crate) self_reference: Cell<bool>,
    /// Arguments of the function whose body is being bound in place of its call.
    pub(crate) arguments: RefCell<Option<Vec<Expr>>>,
    pub(crate) windows: RefCell<Vec<WindowCall>>,
    /// Positions of the window calls.
    pub(crate) window_calls: RefCell<Vec<u32>>,
    pub(crate) named_windows: RefCell<Vec<ast::Window>>,
    pub(crate) set_functions: RefCell<Vec<Call>>,
    /// GROUPING() calls' arguments until the grouping is known.
    pub(crate) groupings: RefCell<Vec<Vec<(Expr, u32)>>>,
    /// Where a column was first referred to, for errors about it that come late.
    pub(crate) column_positions: RefCell<rustc_hash::FxHashMap<(u16, u16), u32>>,
    /// Inside CASE, COALESCE and so on, where set-returning functions may not stand.
    pub(crate) no_sets_in: Cell<Option<&'static str>>,
}

impl<'p> Scope<'p> {
    pub(crate) fn new(binder: &'p Binder<'p>, parent: Option<&'p Scope<'p>>) -> Self {
        Scope {
            binder,
            parent,
            clause: Cell::new(Clause::Target),
            entries: RefCell::default(),
            entry_relations: RefCell::default(),
            namespace: RefCell::default(),
            lateral: Cell::new(false),
            ctes: RefCell::default(),
            recursion: RefCell::default(),
            aggregates: RefCell::default(),
            aggregate_calls: RefCell::default(),
            used_below: Cell::new(false),
            self_reference: Cell::new(false),
            arguments: RefCell::default(),
            windows: RefCell::default(),
            window_calls: RefCell::default(),
            named_windows: RefCell::default(),
            set_functions: RefCell::default(),
            groupings: RefCell::default(),
            column_positions: RefCell::default(),
            no_sets_in: Cell::new(None),
        }
    }

    /// Runs `f` with the clause set.
    pub(crate) fn within<T>(&self, clause: Clause, f: impl FnOnce() -> Result<T>) -> Result<T> {
        let before = self.clause.replace(clause);
        let result = f();
        self.clause.set(before);
        result
    }

    /// Binds an expression in a clause.
    pub(crate) fn expr_in(&self, clause: Clause, expr: &ast::Expr) -> Result<Expr> {
        self.within(clause, || self.expr(expr))
    }

    /// Binds a condition, to boolean.
    pub(crate) fn condition(&self, clause: Clause, construct: &str, expr: &ast::Expr) -> Result<Expr> {
        let bound = self.expr_in(clause, expr)?;
        self.binder.coercion().to_boolean(bound, construct, expr.leftmost())
    }

    /// Adds a range entry.
    pub(crate) fn add_entry(&self, entry: RangeEntry, relation: Option<Oid>, aliased: bool) -> usize {
        let mut entries = self.entries.borrow_mut();
        entries.push(entry);
        self.entry_relations.borrow_mut().push((relation, aliased));
        entries.len() - 1
    }

    /// The namespace item that makes an entry visible; dropped columns (without a name) stay hidden.
    pub(crate) fn item(&self, entry: usize, relation: Option<Oid>) -> NsItem {
        let entries = self.entries.borrow();
        let (name, columns) = match entries.get(entry) {
            Some(e) => (e.alias.clone(), columns_of(entry, &e.columns)),
            None => (String::new(), Vec::new()),
        };
        NsItem {
            name,
            relation,
            entry: Some(entry),
            columns,
            rel_visible: true,
            cols_visible: true,
            lateral_only: false,
            lateral_ok: true,
        }
    }

    /// A column of an entry as seen from `level` queries below.
    pub(crate) fn column(&self, level: u16, entry: usize, column: usize) -> Expr {
        let typ = self
            .entries
            .borrow()
            .get(entry)
            .and_then(|e| e.columns.get(column))
            .map_or(SqlType::plain(catalog::types::oid::UNKNOWN), |c| c.typ);
        Expr::Column(ColumnRef { level, entry: entry as u16, column: column as u16, typ })
    }

    /// What a variable stands for, as seen from `level` queries below.
    pub(crate) fn var(&self, level: u16, var: &Var) -> Expr {
        match var {
            Var::Column(entry, column) => self.column(level, *entry, *column),
            Var::Expr(expr) => {
                let mut expr = (**expr).clone();
                super::visit::shift_levels(&mut expr, level);
                expr
            }
        }
    }

    /// Raises 42712 if a name of `new` is among `old` (`checkNameSpaceConflicts`).
    pub(crate) fn check_conflicts(old: &[NsItem], new: &[NsItem]) -> Result<()> {
        for item in new.iter().filter(|i| i.rel_visible && !i.name.is_empty()) {
            let clash = old.iter().any(|o| {
                o.rel_visible
                    && o.name == item.name
                    // Two relations of different schemas may share their name.
                    && !(o.relation.is_some() && item.relation.is_some() && o.relation != item.relation)
            });
            if clash {
                let message = format!("table name \"{}\" specified more than once", item.name);
                return Err(SqlError::new(SqlState::DUPLICATE_ALIAS, message));
            }
        }
        Ok(())
    }

    /// Number of entries so far; places in bound trees are 16 bits wide.
    pub(crate) fn check_size(&self) -> Result<()> {
        if self.entries.borrow().len() >= usize::from(u16::MAX) {
            return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "too many range table entries"));
        }
        Ok(())
    }
}

fn columns_of(entry: usize, columns: &[EntryColumn]) -> Vec<NsColumn> {
    let visible = columns.iter().enumerate().filter(|(_, c)| !c.name.is_empty());
    visible.map(|(place, c)| NsColumn { name: c.name.clone(), var: Var::Column(entry, place) }).collect()
}
