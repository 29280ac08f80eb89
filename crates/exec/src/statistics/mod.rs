//! Statistics of tables: `sample` reads rows, `column` looks at one column's values, `keeper` repeats it in the background when tables
//! have changed. Compare PostgreSQL's `analyze.c` and `autovacuum.c`.

mod column;
mod keeper;
mod sample;

pub(crate) use keeper::Keeper;

use crate::row::access::corrupt;
use catalog::object::Table;
use catalog::row::RowLayout;
use catalog::statistics::{ColumnStatistics, TableStatistics};
use catalog::{Datum, Result, types};
use sample::Sample;
use storage::{ReadView, RelationId, Store};

/// `default_statistics_target`: most common values, and parts of a histogram.
pub const DEFAULT_TARGET: usize = 100;

/// Looks at a table's rows as a view sees them. `wanted` are places of columns (empty: all); what is known of the others stays. `stop` is
/// asked now and then.
pub fn analyze(
    table: &Table,
    before: Option<&TableStatistics>,
    wanted: &[u16],
    target: usize,
    view: &ReadView,
    store: &Store,
    stop: &dyn Fn() -> Result<()>,
) -> Result<TableStatistics> {
    // Before the rows are read: what is written meanwhile counts as changed since.
    let writes = store.statistics(RelationId(table.relation)).writes;
    let sample = Sample::read(view, RelationId(table.relation), target.max(1) * 300, stop)?;
    let layout = crate::plan::access::row_layout(table)?;
    let mut columns = Vec::with_capacity(table.columns.len());
    for (place, column) in table.columns.iter().enumerate() {
        if column.dropped {
            continue;
        }
        stop()?;
        let place = place as u16;
        if !wanted.is_empty() && !wanted.contains(&place) {
            columns.extend(before.and_then(|b| b.column(place, column.typ)).cloned());
            continue;
        }
        columns.extend(look_at(table, &layout, place, target, &sample)?);
    }
    Ok(TableStatistics {
        table: table.oid,
        relation: table.relation,
        rows: sample.total as f64,
        writes,
        analyzed_at: crate::clock::now_micros(),
        columns,
    })
}

/// One column's statistics; none of an empty table.
fn look_at(
    table: &Table,
    layout: &RowLayout,
    place: u16,
    target: usize,
    sample: &Sample,
) -> Result<Option<ColumnStatistics>> {
    let Some(typ) = table.columns.get(usize::from(place)).and_then(|c| types::by_oid(c.typ)) else {
        return Ok(None);
    };
    if sample.rows.is_empty() {
        return Ok(None);
    }
    let mut slots = vec![Datum::Null; usize::from(place) + 1];
    let mut wanted = vec![false; slots.len()];
    if let Some(last) = wanted.last_mut() {
        *last = true;
    }
    let mut values = Vec::with_capacity(sample.rows.len());
    for row in &sample.rows {
        layout.decode(row, &wanted, &mut slots).map_err(|_| corrupt(&table.name))?;
        values.push(slots.last().copied().unwrap_or_default());
    }
    Ok(Some(column::statistics(place, typ, &values, sample.total as f64, target)))
}
