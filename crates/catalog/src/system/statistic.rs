//! pg_statistic.

use super::{Emitter, SystemContext, SystemRelation};
use crate::pg::{PG_AMOP, PG_OPCLASS, Tsv};
use crate::statistics::{ColumnStatistics, PackedArray};
use crate::types::{by_oid, oid};
use crate::{Oid, Result};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// Kinds of statistics (`STATISTIC_KIND_MCV` and so on), in the order in which ANALYZE fills the slots.
const COMMON: i64 = 1;
const HISTOGRAM: i64 = 2;
const CORRELATION: i64 = 3;
/// Slots of a row.
const SLOTS: usize = 5;

/// A slot of a row of pg_statistic.
#[derive(Clone, Copy, Default)]
struct Slot<'a> {
    kind: i64,
    operator: Oid,
    collation: Oid,
    numbers: Option<&'a [f64]>,
    values: Option<&'a PackedArray>,
}

/// pg_statistic
pub fn pg_statistic(
    cx: &SystemContext<'_>,
    relation: &SystemRelation,
    out: &mut Emitter<'_, '_>,
) -> Result<()> {
    for statistics in cx.objects.statistics.values() {
        if cx.only.is_some_and(|only| only != statistics.table) {
            continue;
        }
        let Some(table) = cx.objects.table(statistics.table) else { continue };
        for (place, column) in table.columns.iter().enumerate().filter(|(_, c)| !c.dropped) {
            let Some(found) = statistics.column(place as u16, column.typ) else { continue };
            let correlation = found.correlation.map(|c| [c]);
            let slots = slots(found, correlation.as_ref().map(<[f64; 1]>::as_slice));
            out.row(relation, |r| {
                r.oid(statistics.table).int(place as i64 + 1).bool(false);
                r.float(single(found.null_fraction)).int(found.width.into()).float(single(found.distinct));
                for slot in &slots {
                    r.int(slot.kind);
                }
                for slot in &slots {
                    r.oid(slot.operator);
                }
                for slot in &slots {
                    r.oid(slot.collation);
                }
                for slot in &slots {
                    match slot.numbers {
                        None => r.null(),
                        Some(numbers) => {
                            let list: Vec<String> = numbers.iter().map(|n| (*n as f32).to_string()).collect();
                            r.input(&format!("{{{}}}", list.join(",")))?
                        }
                    };
                }
                for slot in &slots {
                    match slot.values {
                        None => r.null(),
                        Some(values) => r.bytes(&values.0),
                    };
                }
                Ok(())
            })?;
        }
    }
    Ok(())
}

/// real keeps what fits it.
fn single(value: f64) -> f64 {
    f64::from(value as f32)
}

fn slots<'a>(found: &'a ColumnStatistics, correlation: Option<&'a [f64]>) -> [Slot<'a>; SLOTS] {
    let mut slots = [Slot::default(); SLOTS];
    let (equal, less) = operators(found.typ);
    let collation = match by_oid(found.typ) {
        Some(typ) if typ.oid == oid::NAME => Oid(950),
        Some(typ) if typ.collatable => Oid(100),
        _ => Oid::INVALID,
    };
    let mut places = slots.iter_mut();
    let mut add = |slot: Slot<'a>| {
        if let Some(place) = places.next() {
            *place = slot;
        }
    };
    if !found.common.is_none() {
        let (numbers, values) = (Some(found.frequencies.as_slice()), Some(&found.common));
        add(Slot { kind: COMMON, operator: equal, collation, numbers, values });
    }
    if !found.histogram.is_none() {
        add(Slot {
            kind: HISTOGRAM,
            operator: less,
            collation,
            numbers: None,
            values: Some(&found.histogram),
        });
    }
    if correlation.is_some() {
        add(Slot { kind: CORRELATION, operator: less, collation, numbers: correlation, values: None });
    }
    slots
}

/// The `=` and `<` of the default B-tree operator class of a type.
fn operators(typ: Oid) -> (Oid, Oid) {
    // Types that borrow another one's class.
    let typ = match typ {
        oid::VARCHAR => oid::TEXT,
        other if by_oid(other).is_some_and(crate::types::Type::is_array) => oid::ANYARRAY,
        other => other,
    };
    OPERATORS.get(&typ).copied().unwrap_or_default()
}

static OPERATORS: LazyLock<FxHashMap<Oid, (Oid, Oid)>> = LazyLock::new(|| {
    let number = |tsv: &Tsv, row: &[Option<String>], name: &str| -> Oid {
        let text = row.get(tsv.column(name)).and_then(|v| v.as_deref()).unwrap_or_default();
        Oid(text.parse().unwrap_or(0))
    };
    let is_true = |text: Option<&str>| text == Some("t");
    let mut map = FxHashMap::default();
    let classes = &*PG_OPCLASS;
    for class in &classes.rows {
        let default = class.get(classes.column("opcdefault")).and_then(|v| v.as_deref());
        if number(classes, class, "opcmethod") != Oid(403) || !is_true(default) {
            continue;
        }
        let (family, typ) = (number(classes, class, "opcfamily"), number(classes, class, "opcintype"));
        let members = &*PG_AMOP;
        let operator = |strategy: u32| {
            let found = members.rows.iter().find(|row| {
                number(members, row, "amopfamily") == family
                    && number(members, row, "amoplefttype") == typ
                    && number(members, row, "amoprighttype") == typ
                    && number(members, row, "amopstrategy") == Oid(strategy)
            });
            found.map_or(Oid::INVALID, |row| number(members, row, "amopopr"))
        };
        map.insert(typ, (operator(3), operator(1)));
    }
    map
});
