//! CREATE and ALTER SEQUENCE (`commands/sequence.c`).

use super::DdlContext;
use crate::utility::Name;
use crate::utility::table::SequenceOptions;
use catalog::object::{Object, Persistence, Sequence};
use catalog::types::oid;
use catalog::{Oid, Relation, Result, SqlError, SqlState};
use storage::{SequenceId, TableLockMode};

/// CREATE SEQUENCE.
pub fn create_sequence(
    cx: &DdlContext<'_>,
    name: &Name,
    if_not_exists: bool,
    persistence: Persistence,
    options: &SequenceOptions,
) -> Result<()> {
    if persistence == Persistence::Temporary {
        return Err(SqlError::unsupported("CREATE TEMPORARY SEQUENCE"));
    }
    let schema = cx.creation_schema(name)?;
    if cx.claim_relation_name(schema, name.last())? {
        return exists(cx, name.last(), if_not_exists);
    }
    let mut sequence = new_sequence(cx, schema, name.last().to_owned(), persistence)?;
    set_options(&mut sequence, options, true)?;
    if let Some(Some(owner)) = &options.owned_by {
        sequence.owned_by = Some(owned_by(cx, &sequence, owner)?);
    }
    cx.put(Object::Sequence(sequence))
}

/// 42P07, or the notice of IF NOT EXISTS.
pub fn exists(cx: &DdlContext<'_>, name: &str, if_not_exists: bool) -> Result<()> {
    let message = format!("relation \"{name}\" already exists");
    if if_not_exists {
        cx.notice(SqlState::DUPLICATE_TABLE, format!("{message}, skipping"));
        return Ok(());
    }
    Err(SqlError::new(SqlState::DUPLICATE_TABLE, message))
}

/// A sequence with PostgreSQL's defaults, not yet stored.
pub fn new_sequence(
    cx: &DdlContext<'_>,
    schema: Oid,
    name: String,
    persistence: Persistence,
) -> Result<Sequence> {
    let id = cx.new_oid()?;
    Ok(Sequence {
        oid: id,
        schema,
        name,
        owner: cx.session.current_role(),
        typ: oid::INT8,
        start: 1,
        increment: 1,
        min: 1,
        max: i64::MAX,
        cache: 1,
        cycle: false,
        owned_by: None,
        persistence,
        relation: id.0,
    })
}

fn invalid(message: String) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}

fn type_bounds(typ: Oid) -> (i64, i64, &'static str) {
    match typ {
        oid::INT2 => (i16::MIN.into(), i16::MAX.into(), "smallint"),
        oid::INT4 => (i32::MIN.into(), i32::MAX.into(), "integer"),
        _ => (i64::MIN, i64::MAX, "bigint"),
    }
}

/// Applies options and checks the whole (`init_params`).
pub fn set_options(s: &mut Sequence, options: &SequenceOptions, new: bool) -> Result<()> {
    let (mut reset_min, mut reset_max) = (false, false);
    if let Some(typ) = &options.typ {
        let typ = super::resolve_type(typ, |_| true)?.oid;
        if !matches!(typ, oid::INT2 | oid::INT4 | oid::INT8) {
            return Err(invalid("sequence type must be smallint, integer, or bigint".into()));
        }
        // A bound that was the old type's own becomes the new type's.
        let (low, high, _) = type_bounds(s.typ);
        reset_max = !new && s.max == high;
        reset_min = !new && s.min == low;
        s.typ = typ;
    }
    if let Some(increment) = options.increment {
        if increment == 0 {
            return Err(invalid("INCREMENT must not be zero".into()));
        }
        s.increment = increment;
    }
    if let Some(cycle) = options.cycle {
        s.cycle = cycle;
    }
    let (low, high, type_name) = type_bounds(s.typ);
    let ascending = s.increment > 0;
    match options.max {
        Some(Some(max)) => s.max = max,
        Some(None) => s.max = if ascending { high } else { -1 },
        None if new || reset_max => s.max = if ascending || reset_max { high } else { -1 },
        None => {}
    }
    if s.max < low || s.max > high {
        return Err(invalid(format!(
            "MAXVALUE ({}) is out of range for sequence data type {type_name}",
            s.max
        )));
    }
    match options.min {
        Some(Some(min)) => s.min = min,
        Some(None) => s.min = if ascending { 1 } else { low },
        None if new || reset_min => s.min = if ascending && !reset_min { 1 } else { low },
        None => {}
    }
    if s.min < low || s.min > high {
        return Err(invalid(format!(
            "MINVALUE ({}) is out of range for sequence data type {type_name}",
            s.min
        )));
    }
    if s.min >= s.max {
        return Err(invalid(format!("MINVALUE ({}) must be less than MAXVALUE ({})", s.min, s.max)));
    }
    match options.start {
        Some(start) => s.start = start,
        None if new => s.start = if ascending { s.min } else { s.max },
        None => {}
    }
    if s.start < s.min {
        return Err(invalid(format!("START value ({}) cannot be less than MINVALUE ({})", s.start, s.min)));
    }
    if s.start > s.max {
        return Err(invalid(format!(
            "START value ({}) cannot be greater than MAXVALUE ({})",
            s.start, s.max
        )));
    }
    if let Some(cache) = options.cache {
        if cache <= 0 {
            return Err(invalid(format!("CACHE ({cache}) must be greater than zero")));
        }
        s.cache = cache;
    }
    Ok(())
}

/// OWNED BY table.column.
fn owned_by(cx: &DdlContext<'_>, sequence: &Sequence, owner: &Name) -> Result<(Oid, u16, bool)> {
    let mut table = owner.clone();
    let column = table.parts.pop().unwrap_or_default();
    if table.parts.is_empty() {
        return Err(SqlError::new(SqlState::SYNTAX_ERROR, "invalid OWNED BY option")
            .hint("Specify OWNED BY table.column or OWNED BY NONE."));
    }
    let Relation::Table(table) = cx.relation(&table)? else {
        return Err(SqlError::new(
            SqlState::WRONG_OBJECT_TYPE,
            format!("sequence cannot be owned by relation \"{}\"", table.last()),
        ));
    };
    let prerequisite =
        |message: &str| Err(SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message));
    if table.owner != sequence.owner {
        return prerequisite("sequence must have same owner as table it is linked to");
    }
    if table.schema != sequence.schema {
        return prerequisite("sequence must be in same schema as table it is linked to");
    }
    match table.column(&column) {
        Some((place, _)) => Ok((table.oid, place as u16, false)),
        None => Err(SqlError::new(
            SqlState::UNDEFINED_COLUMN,
            format!("column \"{column}\" of relation \"{}\" does not exist", table.name),
        )),
    }
}

/// ALTER SEQUENCE with options.
pub fn alter_sequence(cx: &DdlContext<'_>, sequence: &Sequence, options: &SequenceOptions) -> Result<()> {
    cx.lock_relation(sequence.oid, TableLockMode::ShareRowExclusive)?;
    let Some(current) = cx.objects().sequence(sequence.oid).cloned() else {
        return Err(SqlError::undefined_table(&sequence.name));
    };
    let mut changed = (*current).clone();
    set_options(&mut changed, options, false)?;
    if let Some(owner) = &options.owned_by {
        if current.owned_by.is_some_and(|(_, _, identity)| identity) {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "cannot change ownership of identity sequence",
            )
            .detail(format!(
                "Sequence \"{}\" is linked to table \"{}\".",
                current.name,
                owner_table(cx, &current)
            )));
        }
        changed.owned_by = match owner {
            None => None,
            Some(name) => Some(owned_by(cx, &changed, name)?),
        };
    }
    if let Some(restart) = options.restart {
        let value = restart.unwrap_or(changed.start);
        if value < changed.min {
            return Err(invalid(format!(
                "RESTART value ({value}) cannot be less than MINVALUE ({})",
                changed.min
            )));
        }
        if value > changed.max {
            return Err(invalid(format!(
                "RESTART value ({value}) cannot be greater than MAXVALUE ({})",
                changed.max
            )));
        }
        restart_at(cx, &mut changed, value)?;
    } else {
        // The place where it stands must fit the new bounds (`init_params`, "crosscheck RESTART").
        let (last, _) = cx.session.sequence_state(current.oid)?;
        if last < changed.min {
            return Err(invalid(format!(
                "RESTART value ({last}) cannot be less than MINVALUE ({})",
                changed.min
            )));
        }
        if last > changed.max {
            return Err(invalid(format!(
                "RESTART value ({last}) cannot be greater than MAXVALUE ({})",
                changed.max
            )));
        }
    }
    cx.put(Object::Sequence(changed))
}

fn owner_table(cx: &DdlContext<'_>, sequence: &Sequence) -> String {
    let table = sequence.owned_by.map(|(table, _, _)| table).unwrap_or_default();
    cx.objects().table(table).map(|t| t.name.clone()).unwrap_or_default()
}

/// Makes a sequence give `value` next, transactionally: it gets a new state, and the old one goes when the transaction commits.
pub fn restart_at(cx: &DdlContext<'_>, sequence: &mut Sequence, value: i64) -> Result<()> {
    let old = sequence.relation;
    let new = cx.new_oid()?;
    sequence.relation = new.0;
    cx.transaction(|t| {
        t.drop_relation(storage::RelationId(old));
        t.sequence_set(SequenceId(new.0), value, false);
        Ok(())
    })
}
