//! Function calls, aggregates among them (compare `ParseFuncOrColumn` in `parse_func.c`, `transformAggregateCall` in `parse_agg.c`).

use super::overload::{Resolution, ResolvedFunction, resolve_function};
use super::scope::{Clause, Scope};
use super::type_info::{self, format};
use super::visit;
use crate::bound::{AggregateCall, Call, CallForm, ColumnRef, Expr, SqlType};
use crate::parse::ast::{self, ExprKind, FuncCall};
use catalog::pg::{CastContext, LOOKUP, PG_AGGREGATE, ProcKind};
use catalog::types::oid;
use catalog::{Oid, Result, SqlError, SqlState};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// aggkind and number of direct arguments by aggregate.
static AGGREGATES: LazyLock<FxHashMap<Oid, (u8, usize)>> = LazyLock::new(|| {
    let t = &*PG_AGGREGATE;
    let (oid, kind, direct) = (t.column("aggfnoid"), t.column("aggkind"), t.column("aggnumdirectargs"));
    let text = |row: &'static Vec<Option<String>>, at: usize| {
        row.get(at).and_then(|v| v.as_deref()).unwrap_or_default()
    };
    let read = |row: &'static Vec<Option<String>>| {
        let kind = text(row, kind).bytes().next().unwrap_or(b'n');
        (Oid(text(row, oid).parse().unwrap_or(0)), (kind, text(row, direct).parse().unwrap_or(0)))
    };
    t.rows.iter().map(read).collect()
});

fn wrong(message: String, position: u32) -> SqlError {
    SqlError::new(SqlState::WRONG_OBJECT_TYPE, message).at(position)
}

impl Scope<'_> {
    /// A call in function notation.
    pub(super) fn function(&self, call: &FuncCall, position: u32) -> Result<Expr> {
        let (schema, name) = match call.name.as_slice() {
            [name] => (None, name.as_str()),
            [schema, name] | [_, schema, name] => (Some(schema.as_str()), name.as_str()),
            _ => (None, ""),
        };
        // Names in the arguments of an aggregate are bound before one knows that it is one; the flags say it afterwards.
        let aggregates_before = self.aggregate_calls.borrow().len();
        let windows_before = self.windows.borrow().len();
        let sets_before = self.set_functions.borrow().len();
        let nested_clause = self.clause.get();
        // Columns in an aggregate's arguments are no ungrouped uses.
        let aggregate =
            LOOKUP.procs_named(name).any(|p| p.kind == ProcKind::Aggregate) && call.over.is_none();
        let column_positions = if aggregate { Some(self.column_positions.borrow().clone()) } else { None };
        let mut args = Vec::with_capacity(call.args.len());
        let mut positions = Vec::with_capacity(call.args.len());
        let sets_outer = self.no_sets_in.get();
        // A set-returning function in FROM may not have another one in its arguments.
        if nested_clause == Clause::FromFunction {
            self.no_sets_in.set(Some("FROM"));
        }
        for arg in &call.args {
            match &arg.kind {
                ExprKind::Column(names, true) => {
                    // `f(t.*)` is the whole row; `f(*)` alone was taken by the parser.
                    let table = names.last().map_or("", String::as_str);
                    let schema = names.len().checked_sub(2).and_then(|i| names.get(i)).map(String::as_str);
                    let found = self.find_relation(schema, table, arg.pos)?;
                    let found = found.ok_or_else(|| self.missing_relation(schema, table, arg.pos))?;
                    args.push(self.whole_row(&found)?);
                }
                _ => args.push(self.expr(arg)?),
            }
            positions.push(arg.leftmost());
        }
        self.no_sets_in.set(sets_outer);
        let mut order_by = Vec::new();
        if call.within_group {
            // The arguments of an ordered-set aggregate: direct ones, then those it orders by.
            for item in &call.order_by {
                args.push(self.expr(&item.expr)?);
                positions.push(item.expr.leftmost());
            }
        }
        if let Some(before) = column_positions {
            self.column_positions.replace(before);
        }
        if args.len() > 100 {
            let message = "cannot pass more than 100 arguments to a function";
            return Err(SqlError::new(SqlState::TOO_MANY_ARGUMENTS, message).at(position));
        }
        if schema == Some("information_schema")
            && let Some(body) = self.inline(name, &args)?
        {
            return Ok(body);
        }
        let types: Vec<SqlType> = args.iter().map(Expr::typ).collect();
        let names: Vec<Option<&str>> = if call.arg_names.iter().any(Option::is_some) {
            call.arg_names.iter().map(|n| n.as_ref().map(|(n, _)| n.as_str())).collect()
        } else {
            Vec::new()
        };
        check_named(call)?;
        if let Some(schema) = schema.filter(|s| self.binder.schema_oid(s).is_none()) {
            return Err(SqlError::new(
                SqlState::UNDEFINED_SCHEMA,
                format!("schema \"{schema}\" does not exist"),
            )
            .at(position));
        }
        // `relation.column` in function notation.
        if let ([arg], None) = (args.as_slice(), schema)
            && type_info::is_complex(arg.typ().oid)
            && LOOKUP.procs_named(name).next().is_none()
            && let Some(columns) = self.row_columns(arg.typ().oid)
            && let Some((place, (_, typ))) = columns.iter().enumerate().find(|(_, (n, _))| n == name)
        {
            return Ok(Expr::Field(Box::new(args.remove(0)), place, *typ));
        }
        let resolved = match resolve_function(name, schema, &types, call.variadic, &names) {
            Ok(Resolution::Function(resolved)) => resolved,
            Ok(Resolution::Cast(target)) => {
                let arg = args.pop().ok_or_else(|| SqlError::internal("a cast without argument"))?;
                let at = positions.first().copied().unwrap_or(position);
                return self.coerce(
                    arg,
                    SqlType::plain(target),
                    CastContext::Explicit,
                    CallForm::ExplicitCast,
                    at,
                );
            }
            Err(error) => return Err(error.at(position)),
        };
        let kind = resolved.proc.kind;
        let full = call.name.join(".");
        match kind {
            ProcKind::Function | ProcKind::Procedure => {
                let refuse = |what: &str| {
                    Err(wrong(format!("{what}, but {full} is not an aggregate function"), position))
                };
                if kind == ProcKind::Procedure {
                    return Err(wrong(format!("{full} is a procedure"), position)
                        .hint("To call a procedure, use CALL."));
                }
                if call.star {
                    return Err(wrong(
                        format!("{full}(*) specified, but {full} is not an aggregate function"),
                        position,
                    ));
                }
                if call.distinct {
                    return refuse("DISTINCT specified");
                }
                if call.within_group {
                    return refuse("WITHIN GROUP specified");
                }
                if !call.order_by.is_empty() {
                    return refuse("ORDER BY specified");
                }
                if call.filter.is_some() {
                    return refuse("FILTER specified");
                }
                if call.over.is_some() {
                    let message = format!(
                        "OVER specified, but {full} is not a window function nor an aggregate function"
                    );
                    return Err(wrong(message, position));
                }
                self.plain_call(call, &resolved, args, &positions, position)
            }
            ProcKind::Window => {
                let Some(over) = &call.over else {
                    return Err(wrong(format!("window function {full} requires an OVER clause"), position));
                };
                if call.within_group {
                    return Err(wrong(format!("window function {full} cannot have WITHIN GROUP"), position));
                }
                if call.filter.is_some() {
                    let message = "FILTER is not implemented for non-aggregate window functions";
                    return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(position));
                }
                if call.distinct {
                    let message = "DISTINCT is not implemented for window functions";
                    return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(position));
                }
                if !call.order_by.is_empty() {
                    let message = "aggregate ORDER BY is not implemented for window functions";
                    return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(position));
                }
                self.check_no_windows(windows_before, position)?;
                self.check_no_sets(sets_before, "window function calls")?;
                let args = self.binder.coercion().arguments(&resolved, args, &positions)?;
                let aggregate = self.aggregate_call(&resolved, args, position)?;
                self.window(aggregate, over, position)
            }
            ProcKind::Aggregate => {
                let (aggkind, direct_count) =
                    AGGREGATES.get(&resolved.proc.oid).copied().unwrap_or((b'n', 0));
                if call.args.is_empty() && !call.star && !call.within_group && aggkind == b'n' {
                    let message =
                        format!("{full}(*) must be used to call a parameterless aggregate function");
                    return Err(wrong(message, position));
                }
                if aggkind != b'n' && !call.within_group {
                    return Err(wrong(
                        format!("WITHIN GROUP is required for ordered-set aggregate {full}"),
                        position,
                    ));
                }
                if aggkind == b'n' && call.within_group {
                    let message =
                        format!("{full} is not an ordered-set aggregate, so it cannot have WITHIN GROUP");
                    return Err(wrong(message, position));
                }
                if call.variadic && resolved.proc.variadic == oid::ANY {
                    return Err(SqlError::unsupported("VARIADIC in an aggregate call").at(position));
                }
                self.check_no_sets(sets_before, "aggregate function calls")?;
                let direct_types = types;
                let mut args = self.binder.coercion().arguments(&resolved, args, &positions)?;
                let mut aggregate = if aggkind == b'n' {
                    for item in &call.order_by {
                        let expr = self.settle_unknown(self.expr(&item.expr)?)?;
                        order_by.push((expr, item));
                    }
                    self.aggregate_call(&resolved, args, position)?
                } else {
                    let direct: Vec<Expr> = args.drain(..direct_count.min(args.len())).collect();
                    for (expr, item) in args.iter().zip(&call.order_by) {
                        order_by.push((expr.clone(), item));
                    }
                    AggregateCall { direct, ..self.aggregate_call(&resolved, args, position)? }
                };
                let _ = direct_types;
                for (expr, item) in order_by {
                    let (desc, nulls_first) = self.sort_direction(item, expr.typ(), item.expr.leftmost())?;
                    aggregate.order_by.push((expr, desc, nulls_first));
                }
                if call.distinct {
                    self.check_distinct(&mut aggregate, position)?;
                }
                if let Some(filter) = &call.filter {
                    aggregate.filter = Some(self.condition(Clause::Filter, "FILTER", filter)?);
                }
                match &call.over {
                    Some(over) => {
                        if call.within_group {
                            let message = format!("OVER is not supported for ordered-set aggregate {full}");
                            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(position));
                        }
                        if aggregate.distinct {
                            let message = "DISTINCT is not implemented for window functions";
                            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(position));
                        }
                        if !aggregate.order_by.is_empty() {
                            let message = "aggregate ORDER BY is not implemented for window functions";
                            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(position));
                        }
                        self.check_no_windows(windows_before, position)?;
                        self.window(aggregate, over, position)
                    }
                    None => self.plain_aggregate(aggregate, aggregates_before, windows_before, position),
                }
            }
        }
    }

    fn aggregate_call(
        &self,
        resolved: &ResolvedFunction,
        args: Vec<Expr>,
        position: u32,
    ) -> Result<AggregateCall> {
        Ok(AggregateCall {
            proc: resolved.proc,
            implementation: crate::functions::implementation(resolved.proc).map_err(|e| e.at(position))?,
            direct: Vec::new(),
            args,
            distinct: false,
            order_by: Vec::new(),
            filter: None,
            typ: SqlType::plain(resolved.result),
        })
    }

    fn check_no_windows(&self, before: usize, position: u32) -> Result<()> {
        if let Some(inner) = self.window_calls.borrow().get(before) {
            let message = "window function calls cannot be nested";
            return Err(SqlError::new(SqlState::WINDOWING_ERROR, message).at(*inner).at(position));
        }
        Ok(())
    }

    fn check_no_sets(&self, before: usize, what: &str) -> Result<()> {
        if let Some(inner) = self.set_functions.borrow().get(before) {
            let position = inner.position;
            let message = format!("{what} cannot contain set-returning function calls");
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message)
                .hint("You might be able to move the set-returning function into a LATERAL FROM item.")
                .at(position));
        }
        Ok(())
    }

    fn check_distinct(&self, aggregate: &mut AggregateCall, position: u32) -> Result<()> {
        if aggregate.args.is_empty() {
            let message = "DISTINCT specified, but the aggregate has no arguments";
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(position));
        }
        let in_args = |e: &Expr| aggregate.args.iter().any(|a| visit::same(a, e));
        if !aggregate.order_by.iter().all(|(e, _, _)| in_args(e)) {
            let message = "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list";
            return Err(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message).at(position));
        }
        for arg in &aggregate.args {
            self.equality(arg.typ(), position)?;
        }
        aggregate.distinct = true;
        Ok(())
    }

    /// A scalar or set-returning function.
    fn plain_call(
        &self,
        call: &FuncCall,
        resolved: &ResolvedFunction,
        args: Vec<Expr>,
        positions: &[u32],
        position: u32,
    ) -> Result<Expr> {
        let form = if call.special { CallForm::Special } else { CallForm::Function };
        let variadic = call.variadic;
        let args = self.binder.coercion().arguments(resolved, args, positions)?;
        if variadic && resolved.proc.variadic == oid::ANY {
            // concat(VARIADIC array) and its kin see one array.
            return Err(SqlError::unsupported(format_args!(
                "VARIADIC \"any\" in a call of {}",
                resolved.proc.name
            ))
            .at(position));
        }
        let typ = SqlType::plain(resolved.result);
        if !resolved.proc.returns_set {
            return self.binder.coercion().call(resolved.proc, args, typ, form, position);
        }
        let implementation = crate::functions::implementation(resolved.proc).map_err(|e| e.at(position))?;
        let call = Call { proc: resolved.proc, implementation, args, typ, form, position };
        self.place_set_function(call, position)
    }

    /// `check_srf_call_placement`
    fn place_set_function(&self, call: Call, position: u32) -> Result<Expr> {
        let refuse = |place: &str| {
            let message = format!("set-returning functions are not allowed in {place}");
            SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(position)
        };
        match (self.clause.get(), self.no_sets_in.get()) {
            (Clause::FromFunction, None) => return Ok(Expr::Call(Box::new(call))),
            (Clause::FromFunction, Some(_)) => {
                let message = "set-returning functions must appear at top level of FROM";
                return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(position));
            }
            (_, Some(construct)) => {
                return Err(refuse(construct)
                    .hint("You might be able to move the set-returning function into a LATERAL FROM item."));
            }
            (
                Clause::Target
                | Clause::OrderBy
                | Clause::GroupBy
                | Clause::DistinctOn
                | Clause::ValuesSingle,
                None,
            ) => {}
            (Clause::WindowPartition | Clause::WindowOrder, None) => {
                return Err(refuse("window definitions"));
            }
            (clause, None) => return Err(refuse(clause.disallowed_in())),
        }
        let typ = call.typ;
        let mut list = self.set_functions.borrow_mut();
        list.push(call);
        Ok(Expr::SetFunction(list.len() - 1, typ))
    }

    /// An aggregate that is no window function (`check_agglevels_and_constraints`).
    fn plain_aggregate(
        &self,
        mut aggregate: AggregateCall,
        aggregates_before: usize,
        windows_before: usize,
        position: u32,
    ) -> Result<Expr> {
        let typ = aggregate.typ;
        let level = aggregate_level(&aggregate);
        if level == 0
            && let Some(inner) = self.aggregate_calls.borrow().get(aggregates_before)
        {
            let message = "aggregate function calls cannot be nested";
            return Err(SqlError::new(SqlState::GROUPING_ERROR, message).at(*inner));
        }
        if let Some(inner) = self.window_calls.borrow().get(windows_before) {
            let message = "aggregate function calls cannot contain window function calls";
            return Err(SqlError::new(SqlState::GROUPING_ERROR, message).at(*inner));
        }
        let scope = self.up(level);
        match scope.clause.get() {
            Clause::Target
            | Clause::Having
            | Clause::OrderBy
            | Clause::DistinctOn
            | Clause::WindowPartition
            | Clause::WindowOrder => {}
            clause => {
                let message = format!("aggregate functions are not allowed in {}", clause.disallowed_in());
                return Err(SqlError::new(SqlState::GROUPING_ERROR, message).at(position));
            }
        }
        if level > 0 {
            lower(&mut aggregate, level).map_err(|e| e.at(position))?;
            scope.used_below.set(true);
        }
        scope.aggregate_calls.borrow_mut().push(position);
        let place = scope.add_aggregate(aggregate);
        Ok(if level == 0 {
            Expr::Aggregate(place, typ)
        } else {
            Expr::Column(ColumnRef { level, entry: super::group::AGGREGATES, column: place as u16, typ })
        })
    }

    /// Equal aggregates are computed once.
    fn add_aggregate(&self, mut aggregate: AggregateCall) -> usize {
        let mut list = self.aggregates.borrow_mut();
        let volatile = has_volatile(&mut aggregate);
        if !volatile && let Some(place) = list.iter().position(|a| same_aggregate(a, &aggregate)) {
            return place;
        }
        list.push(aggregate);
        list.len() - 1
    }

    /// Whether values of a type can be told apart; else 42883 as PostgreSQL says it.
    pub(super) fn equality(&self, typ: SqlType, position: u32) -> Result<()> {
        let comparable = catalog::types::by_oid(typ.oid).is_some_and(|t| t.encode_key.is_some());
        let row = typ.oid == oid::RECORD || type_info::is_complex(typ.oid);
        if comparable || row || type_info::element_of(typ.oid).is_valid() {
            return Ok(());
        }
        let text = format(typ.oid);
        let message = format!("could not identify an equality operator for type {text}");
        Err(SqlError::new(SqlState::UNDEFINED_FUNCTION, message).at(position))
    }

    /// GROUPING(...)
    pub(super) fn grouping_call(&self, items: &[ast::Expr], position: u32) -> Result<Expr> {
        if items.len() > 31 {
            let message = "GROUPING must have fewer than 32 arguments";
            return Err(SqlError::new(SqlState::TOO_MANY_ARGUMENTS, message).at(position));
        }
        match self.clause.get() {
            Clause::Target | Clause::Having | Clause::OrderBy | Clause::DistinctOn => {}
            clause => {
                let message = format!("grouping operations are not allowed in {}", clause.disallowed_in());
                return Err(SqlError::new(SqlState::GROUPING_ERROR, message).at(position));
            }
        }
        let args: Result<Vec<(Expr, u32)>> =
            items.iter().map(|e| Ok((self.expr(e)?, e.leftmost()))).collect();
        let mut list = self.groupings.borrow_mut();
        list.push(args?);
        // The place in `groupings`, marked by the top bit; `group.rs` puts the keys in.
        Ok(Expr::Grouping(vec![super::group::PENDING_GROUPING, list.len() - 1]))
    }
}

/// The query level that an aggregate belongs to: the innermost one whose columns its arguments use.
fn aggregate_level(aggregate: &AggregateCall) -> u16 {
    let mut least: Option<u16> = None;
    let all =
        aggregate.args.iter().chain(&aggregate.filter).chain(aggregate.order_by.iter().map(|(e, _, _)| e));
    for expr in all {
        visit::any(expr, &mut |e, level| {
            if let Expr::Column(c) = e
                && c.entry != u16::MAX
                && c.level >= level
            {
                let up = c.level - level;
                least = Some(least.map_or(up, |l| l.min(up)));
            }
            false
        });
    }
    least.unwrap_or(0)
}

/// Moves an aggregate's expressions from a subquery to the query `by` levels up that it belongs to.
fn lower(aggregate: &mut AggregateCall, by: u16) -> Result<()> {
    let mut nested = false;
    let orders = aggregate.order_by.iter_mut().map(|(e, _, _)| e);
    for expr in aggregate.args.iter_mut().chain(&mut aggregate.filter).chain(orders) {
        visit::walk(expr, 0, &mut |e, _| {
            nested |= matches!(e, Expr::Subquery(_));
            if let Expr::Column(c) = e {
                c.level = c.level.saturating_sub(by);
            }
            true
        });
    }
    if nested {
        return Err(SqlError::unsupported("a subquery in an aggregate of an outer query"));
    }
    Ok(())
}

fn has_volatile(aggregate: &mut AggregateCall) -> bool {
    aggregate.args.iter().any(|arg| {
        visit::any(arg, &mut |e, _| {
            matches!(e, Expr::Call(c) if c.proc.volatility == catalog::pg::Volatility::Volatile)
                || matches!(e, Expr::Subquery(_))
        })
    })
}

fn same_aggregate(a: &AggregateCall, b: &AggregateCall) -> bool {
    let lists =
        |a: &[Expr], b: &[Expr]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| visit::same(a, b));
    a.proc.oid == b.proc.oid
        && a.distinct == b.distinct
        && lists(&a.direct, &b.direct)
        && lists(&a.args, &b.args)
        && a.order_by.len() == b.order_by.len()
        && a.order_by
            .iter()
            .zip(&b.order_by)
            .all(|(x, y)| x.1 == y.1 && x.2 == y.2 && visit::same(&x.0, &y.0))
        && match (&a.filter, &b.filter) {
            (Some(x), Some(y)) => visit::same(x, y),
            (None, None) => true,
            _ => false,
        }
}

fn check_named(call: &FuncCall) -> Result<()> {
    let mut seen: Vec<&str> = Vec::new();
    for (arg, name) in call.args.iter().zip(&call.arg_names) {
        match name {
            Some((name, at)) => {
                if seen.contains(&name.as_str()) {
                    let message = format!("argument name \"{name}\" used more than once");
                    return Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(*at));
                }
                seen.push(name);
            }
            None if !seen.is_empty() => {
                let message = "positional argument cannot follow named argument";
                return Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(arg.leftmost()));
            }
            None => {}
        }
    }
    Ok(())
}
