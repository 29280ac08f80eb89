//! Filters that only compare columns of the row with values that stay the same for the whole scan, as integers or by bytes: what most
//! scans that are worth speeding up have. They are read off the filter when the scan begins, and then cost a load and a comparison
//! per row.

use super::context::ExecContext;
use super::expr::{CompareKind, CompareOp, PhysicalExpr};
use catalog::Datum;

/// `slot op value`
#[derive(Clone, Copy, Debug)]
struct FixedTest<'a> {
    slot: usize,
    op: CompareOp,
    value: Fixed<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Fixed<'a> {
    Int(i64),
    Bytes(&'a [u8]),
}

/// All of them must hold.
#[derive(Debug)]
pub struct FixedTests<'a>(Vec<FixedTest<'a>>);

impl<'a> FixedTests<'a> {
    /// The filter as tests, if it is nothing else. A comparison with NULL is left to the filter.
    pub fn of(filter: &'a PhysicalExpr, cx: &ExecContext<'a>) -> Option<FixedTests<'a>> {
        let mut tests = Vec::new();
        collect(filter, cx, &mut tests).then_some(FixedTests(tests))
    }

    /// Whether the row passes; NULL does not.
    #[inline]
    pub fn hold(&self, row: &[Datum<'_>]) -> bool {
        self.0.iter().all(|test| match (row.get(test.slot), test.value) {
            (Some(Datum::Int(value)), Fixed::Int(fixed)) => test.op.holds(value.cmp(&fixed)),
            (Some(Datum::Bytes(value)), Fixed::Bytes(fixed)) => match test.op {
                CompareOp::Eq => *value == fixed,
                CompareOp::Ne => *value != fixed,
                op => op.holds((*value).cmp(fixed)),
            },
            _ => false,
        })
    }
}

fn collect<'a>(filter: &'a PhysicalExpr, cx: &ExecContext<'a>, tests: &mut Vec<FixedTest<'a>>) -> bool {
    match filter {
        PhysicalExpr::SlotIntConst(op, slot, value) => {
            tests.push(FixedTest { slot: *slot, op: *op, value: Fixed::Int(*value) });
            true
        }
        PhysicalExpr::Compare(op, kind, sides) => {
            let test = match &**sides {
                (PhysicalExpr::Slot(slot), other) => fixed(other, *kind, cx).map(|value| (*slot, *op, value)),
                (other, PhysicalExpr::Slot(slot)) => {
                    fixed(other, *kind, cx).map(|value| (*slot, op.commuted(), value))
                }
                _ => None,
            };
            tests.extend(test.map(|(slot, op, value)| FixedTest { slot, op, value }));
            test.is_some()
        }
        PhysicalExpr::And(list) => list.iter().all(|e| collect(e, cx, tests)),
        _ => false,
    }
}

/// The value of a constant, a parameter or an outer row's column, if it is one of the kind.
fn fixed<'a>(e: &'a PhysicalExpr, kind: CompareKind, cx: &ExecContext<'a>) -> Option<Fixed<'a>> {
    let value = match e {
        PhysicalExpr::Const(value) => value.datum(),
        PhysicalExpr::Param(index) => cx.params.get(*index).copied()?,
        PhysicalExpr::Outer(depth, slot) => cx.outer_row(*depth).get(*slot).copied()?,
        _ => return None,
    };
    match (kind, value) {
        (CompareKind::Int, Datum::Int(value)) => Some(Fixed::Int(value)),
        (CompareKind::Bytes, Datum::Bytes(value)) => Some(Fixed::Bytes(value)),
        _ => None,
    }
}
