//! GROUP BY, aggregates and HAVING.

use super::{Lowerer, Relation, kind_of, type_of};
use crate::aggregate::{Call, FIRST};
use crate::column::{Kind, is_native};
use crate::expression::{Computed, Form};
use crate::tree::{Aggregation, Function, Tree};
use catalog::types::oid;
use exec::bound::{AggregateCall, Expr, Select};
use exec::functions::{CallTypes, Implementation};
use exec::plan::scope::{Layout, SlotKey};
use exec::row::hash::HashClass;
use std::sync::Arc;

/// Where a grouping expression's value lies.
pub fn key(place: usize) -> SlotKey {
    SlotKey::GroupKey(0, place)
}

/// Where an aggregate's value lies.
pub fn aggregate(place: usize) -> SlotKey {
    SlotKey::Aggregate(0, place)
}

impl Lowerer<'_> {
    /// Groups a relation as the SELECT says.
    pub(super) fn group(&mut self, select: &Select, input: Relation) -> Option<Relation> {
        self.heavy = true;
        let mut keys = Vec::new();
        let mut calls = Vec::new();
        let mut layout = Layout::new();
        // Keys come first, aggregates behind them.
        let count = select.group_by.len();
        let mut kinds = Vec::new();
        let mut firsts: Vec<(usize, Computed)> = Vec::new();
        for (i, e) in select.group_by.iter().enumerate() {
            let typ = type_of(e.typ())?;
            let value = self.computed(e, &input.layout)?;
            if is_native(typ) {
                layout.bind(key(i), i);
                kinds.push(value.kind);
                keys.push(value);
                continue;
            }
            // Grouped by hash bytes; the value shown is that of the group's first row.
            let class = HashClass::of(typ);
            if matches!(class, HashClass::Text(_)) {
                return None;
            }
            keys.push(Computed { form: Form::Hash(class), kind: Kind::Bytes, ..value.clone() });
            kinds.push(Kind::Bytes);
            firsts.push((i, value));
        }
        for (i, call) in select.aggregates.iter().enumerate() {
            layout.bind(aggregate(i), count + calls.len());
            kinds.push(kind_of(call.typ)?);
            calls.push(self.call(call, &input.layout)?);
        }
        for (i, value) in firsts {
            let typ = select.group_by.get(i)?.typ();
            layout.bind(key(i), count + calls.len());
            kinds.push(value.kind);
            let types = CallTypes { args: vec![typ], result: typ };
            let call = Call { name: "first".into(), function: FIRST, types, kind: value.kind };
            let name = format!("first({})", value.name);
            let function = Function::Exec(Arc::new(call));
            calls.push(Aggregation { function, args: vec![value], filter: None, name });
        }
        layout.set_width(kinds.len());
        let rows = if count == 0 { 1.0 } else { (input.rows / 10.0).max(1.0) };
        let mut tree = Tree::Aggregate { input: Box::new(input.tree), keys, calls };
        if let Some(having) = &select.having {
            tree = Tree::Filter(Box::new(tree), self.formed(having, &layout, Form::Value, Kind::Bool)?);
        }
        Some(Relation { tree, layout, kinds, rows })
    }

    fn call(&self, call: &AggregateCall, layout: &Layout) -> Option<Aggregation> {
        if call.distinct || !call.order_by.is_empty() || !call.direct.is_empty() {
            return None;
        }
        let Implementation::Aggregate(function) = call.implementation else { return None };
        let filter = match &call.filter {
            Some(e) => Some(self.formed(e, layout, Form::Value, Kind::Bool)?),
            None => None,
        };
        let mut args = call.args.iter().map(|a| self.computed(a, layout)).collect::<Option<Vec<_>>>()?;
        let argument = call.args.first().map(Expr::typ);
        let native = argument.and_then(type_of).is_some_and(is_native);
        let function = match (call.proc.name.as_str(), argument.map(|t| t.oid)) {
            ("count", _) if args.len() < 2 => Function::Count,
            // Sums of bigints are numeric; those of smaller integers wrap around in bigint, as int4_sum does.
            ("sum", Some(oid::INT2 | oid::INT4)) => {
                args.iter_mut().for_each(|a| a.kind = Kind::Int64);
                Function::Sum
            }
            ("min", Some(_)) if native && argument == Some(call.typ) => Function::Min,
            ("max", Some(_)) if native && argument == Some(call.typ) => Function::Max,
            _ => {
                let types = CallTypes { args: call.args.iter().map(Expr::typ).collect(), result: call.typ };
                // DataFusion tells the number of rows by an argument.
                if args.is_empty() {
                    return None;
                }
                let (name, kind) = (call.proc.name.clone(), kind_of(call.typ)?);
                Function::Exec(Arc::new(Call { name, function, types, kind }))
            }
        };
        let list: Vec<&str> = args.iter().map(|a| a.name.as_str()).collect();
        let list = if list.is_empty() { "*".to_owned() } else { list.join(", ") };
        let name = format!("{}({list})", call.proc.name);
        Some(Aggregation { function, args, filter, name })
    }
}
