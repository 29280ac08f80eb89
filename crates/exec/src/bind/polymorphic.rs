//! Polymorphic arguments: whether actual types fit them together, and what they stand for in one call.
//! Compare `check_generic_type_consistency` and `enforce_generic_type_consistency` in `parse_coerce.c`.

use super::coerce::{can_coerce, common_type_of};
use super::type_info::{self, array_of, element_of, format};
use catalog::pg::CastContext;
use catalog::types::oid;
use catalog::{Oid, Result, SqlError, SqlState};

/// What the polymorphic names stand for in one call; zero while not known.
#[derive(Clone, Copy, Default)]
struct Meaning {
    element: Oid,
    array: Oid,
    compatible: Oid,
    /// Whether there are polymorphic arguments of the first and of the second family.
    families: (bool, bool),
}

/// Whether the actual types fit the declared polymorphic ones. Arguments of type unknown fit anything.
pub fn fits(actual: &[Oid], declared: &[Oid]) -> bool {
    match meaning(actual, declared) {
        Ok(m) => {
            !m.families.1
                || !m.compatible.is_valid()
                || actual.iter().zip(declared).all(|(a, d)| match *d {
                    oid::ANYCOMPATIBLE | oid::ANYCOMPATIBLENONARRAY => {
                        can_coerce(*a, m.compatible, CastContext::Implicit)
                    }
                    oid::ANYCOMPATIBLEARRAY if *a != oid::UNKNOWN => {
                        can_coerce(element_of(*a), m.compatible, CastContext::Implicit)
                    }
                    _ => true,
                })
        }
        Err(_) => false,
    }
}

/// Replaces the polymorphic types in `declared` by what they stand for, and gives the result type.
pub fn resolve(actual: &[Oid], declared: &mut [Oid], result: Oid) -> Result<Oid> {
    if !declared.iter().any(|d| type_info::is_polymorphic(*d)) {
        return Ok(result);
    }
    let mut m = meaning(actual, declared)?;
    if m.families.0 {
        if !m.element.is_valid() {
            let message = "could not determine polymorphic type because input has type unknown";
            return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message));
        }
        let wants_array = result == oid::ANYARRAY || declared.contains(&oid::ANYARRAY);
        if wants_array && !m.array.is_valid() {
            m.array = array_type(m.element)?;
        }
    }
    let mut compatible_array = Oid::INVALID;
    if m.families.1 {
        if !m.compatible.is_valid() {
            m.compatible = oid::TEXT;
        }
        if result == oid::ANYCOMPATIBLEARRAY || declared.contains(&oid::ANYCOMPATIBLEARRAY) {
            compatible_array = array_type(m.compatible)?;
        }
    }
    let replace = |typ: Oid| match typ {
        oid::ANYELEMENT | oid::ANYNONARRAY | oid::ANYENUM => m.element,
        oid::ANYARRAY => m.array,
        oid::ANYCOMPATIBLE | oid::ANYCOMPATIBLENONARRAY => m.compatible,
        oid::ANYCOMPATIBLEARRAY => compatible_array,
        other => other,
    };
    for typ in declared.iter_mut() {
        *typ = replace(*typ);
    }
    Ok(replace(result))
}

fn array_type(element: Oid) -> Result<Oid> {
    match array_of(element) {
        array if array.is_valid() => Ok(array),
        _ => Err(SqlError::new(
            SqlState::UNDEFINED_OBJECT,
            format!("could not find array type for data type {}", format(element)),
        )),
    }
}

fn meaning(actual: &[Oid], declared: &[Oid]) -> Result<Meaning> {
    let mut m = Meaning::default();
    let mut compatible = Vec::new();
    let (mut non_array, mut is_enum) = (false, false);
    for (actual, declared) in actual.iter().copied().zip(declared.iter().copied()) {
        if !type_info::is_polymorphic(declared) {
            continue;
        }
        m.families.0 |= type_info::is_family_1(declared);
        m.families.1 |= type_info::is_family_2(declared);
        non_array |= declared == oid::ANYNONARRAY;
        is_enum |= declared == oid::ANYENUM;
        if actual == oid::UNKNOWN {
            continue;
        }
        match declared {
            oid::ANYELEMENT | oid::ANYNONARRAY | oid::ANYENUM => alike(&mut m.element, actual, "anyelement")?,
            oid::ANYARRAY => alike(&mut m.array, actual, "anyarray")?,
            oid::ANYCOMPATIBLE | oid::ANYCOMPATIBLENONARRAY => {
                if declared == oid::ANYCOMPATIBLENONARRAY && element_of(actual).is_valid() {
                    return Err(mismatch(format!(
                        "type matched to anycompatiblenonarray is an array type: {}",
                        format(actual)
                    )));
                }
                compatible.push(actual);
            }
            oid::ANYCOMPATIBLEARRAY => match element_of(actual) {
                element if element.is_valid() => compatible.push(element),
                _ => {
                    return Err(mismatch(format!(
                        "argument declared anycompatiblearray is not an array but type {}",
                        format(actual)
                    )));
                }
            },
            // Ranges are not implemented: nothing is one.
            other => {
                return Err(mismatch(format!(
                    "argument declared {} is not a range type but type {}",
                    format(other),
                    format(actual)
                )));
            }
        }
    }
    if m.array.is_valid() {
        let element = element_of(m.array);
        if !element.is_valid() {
            let text = format!("argument declared anyarray is not an array but type {}", format(m.array));
            return Err(mismatch(text));
        }
        if !m.element.is_valid() {
            m.element = element;
        } else if m.element != element {
            let text = "argument declared anyarray is not consistent with argument declared anyelement";
            return Err(mismatch(text).detail(format!("{} versus {}", format(m.array), format(m.element))));
        }
    }
    if non_array && m.element.is_valid() && element_of(m.element).is_valid() {
        return Err(mismatch(format!("type matched to anynonarray is an array type: {}", format(m.element))));
    }
    if is_enum && m.element.is_valid() && type_info::info(m.element).kind != b'e' {
        return Err(mismatch(format!("type matched to anyenum is not an enum type: {}", format(m.element))));
    }
    if !compatible.is_empty() {
        m.compatible = common_type_of(&compatible)
            .ok_or_else(|| mismatch("arguments of anycompatible family cannot be cast to a common type"))?;
    }
    Ok(m)
}

fn alike(slot: &mut Oid, actual: Oid, name: &str) -> Result<()> {
    if slot.is_valid() && *slot != actual {
        return Err(mismatch(format!("arguments declared \"{name}\" are not all alike")).detail(format!(
            "{} versus {}",
            format(*slot),
            format(actual)
        )));
    }
    *slot = actual;
    Ok(())
}

fn mismatch(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::DATATYPE_MISMATCH, message)
}
