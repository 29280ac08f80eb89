//! Filters that only compare integers of the row with values that stay the same for the whole scan: what most scans that are worth
//! speeding up have. They are read off the filter when the scan begins, and then cost a load and a comparison per row.

use super::context::ExecContext;
use super::expr::{CompareKind, CompareOp, PhysicalExpr};
use catalog::Datum;

/// `slot op value`
#[derive(Clone, Copy, Debug)]
struct IntTest {
    slot: usize,
    op: CompareOp,
    value: i64,
}

/// All of them must hold.
#[derive(Debug)]
pub struct IntTests(Vec<IntTest>);

impl IntTests {
    /// The filter as tests, if it is nothing else. A comparison with NULL is left to the filter.
    pub fn of(filter: &PhysicalExpr, cx: &ExecContext<'_>) -> Option<IntTests> {
        let mut tests = Vec::new();
        collect(filter, cx, &mut tests).then_some(IntTests(tests))
    }

    /// Whether the row passes; NULL does not.
    #[inline]
    pub fn hold(&self, row: &[Datum<'_>]) -> bool {
        self.0.iter().all(|test| match row.get(test.slot) {
            Some(Datum::Int(value)) => test.op.holds(value.cmp(&test.value)),
            _ => false,
        })
    }
}

fn collect(filter: &PhysicalExpr, cx: &ExecContext<'_>, tests: &mut Vec<IntTest>) -> bool {
    match filter {
        PhysicalExpr::SlotIntConst(op, slot, value) => {
            tests.push(IntTest { slot: *slot, op: *op, value: *value });
            true
        }
        PhysicalExpr::Compare(op, CompareKind::Int, sides) => {
            let test = match &**sides {
                (PhysicalExpr::Slot(slot), other) => fixed(other, cx).map(|value| (*slot, *op, value)),
                (other, PhysicalExpr::Slot(slot)) => {
                    fixed(other, cx).map(|value| (*slot, op.commuted(), value))
                }
                _ => None,
            };
            tests.extend(test.map(|(slot, op, value)| IntTest { slot, op, value }));
            test.is_some()
        }
        PhysicalExpr::And(list) => list.iter().all(|e| collect(e, cx, tests)),
        _ => false,
    }
}

/// The value of a constant, a parameter or an outer row's column.
fn fixed(e: &PhysicalExpr, cx: &ExecContext<'_>) -> Option<i64> {
    let value = match e {
        PhysicalExpr::Const(value) => value.datum(),
        PhysicalExpr::Param(index) => cx.params.get(*index).copied()?,
        PhysicalExpr::Outer(depth, slot) => cx.outer_row(*depth).get(*slot).copied()?,
        _ => return None,
    };
    match value {
        Datum::Int(value) => Some(value),
        _ => None,
    }
}
