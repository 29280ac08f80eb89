//! Parameters and the inference of their types (compare `parse_param.c`).

use super::ParameterType;
use super::coerce::{ParameterTypes, inconsistent_parameter};
use crate::bound::{Expr, SqlType};
use catalog::types::oid;
use catalog::{Oid, Result, SqlError, SqlState};
use std::cell::RefCell;

/// Parameters of one statement.
pub(crate) struct Parameters<'a> {
    given: &'a [ParameterType],
    more: bool,
    /// Types; zero for a number not used yet, `unknown` for one used but not inferred.
    types: RefCell<Vec<Oid>>,
}

/// Most parameters the protocol can carry.
const PARAMETERS_MAX: u32 = 65535;

impl<'a> Parameters<'a> {
    pub(super) fn new(given: &'a [ParameterType], more: bool) -> Self {
        let types = given
            .iter()
            .map(|p| match p {
                ParameterType::Fixed(typ) => *typ,
                ParameterType::Infer => Oid::INVALID,
                ParameterType::Lifted => oid::UNKNOWN,
            })
            .collect();
        Parameters { given, more, types: RefCell::new(types) }
    }

    /// A reference to `$number`.
    pub(super) fn reference(&self, number: u32, position: u32) -> Result<Expr> {
        let index = (number as usize).wrapping_sub(1);
        let mut types = self.types.borrow_mut();
        let known = index < types.len();
        if !known && (!self.more || number == 0 || number > PARAMETERS_MAX) {
            let message = format!("there is no parameter ${number}");
            return Err(SqlError::new(SqlState::UNDEFINED_PARAMETER, message).at(position));
        }
        if !known {
            types.resize(index + 1, Oid::INVALID);
        }
        let typ = types.get_mut(index).map_or(oid::UNKNOWN, |typ| {
            if !typ.is_valid() {
                *typ = oid::UNKNOWN;
            }
            *typ
        });
        Ok(Expr::Param(index, SqlType::plain(typ)))
    }

    /// All types, at the end of binding: 42P18 for a parameter that nothing told about.
    pub(super) fn finish(&self) -> Result<Vec<Oid>> {
        let types = self.types.borrow();
        let mut all = Vec::with_capacity(types.len());
        for (i, typ) in types.iter().enumerate() {
            let lifted = self.given.get(i) == Some(&ParameterType::Lifted);
            all.push(match *typ {
                oid::UNKNOWN | Oid::INVALID if lifted => oid::TEXT,
                oid::UNKNOWN | Oid::INVALID => {
                    let message = format!("could not determine data type of parameter ${}", i + 1);
                    return Err(SqlError::new(SqlState::INDETERMINATE_DATATYPE, message));
                }
                known => known,
            });
        }
        Ok(all)
    }
}

impl ParameterTypes for Parameters<'_> {
    fn set_type(&self, index: usize, typ: Oid, position: u32) -> Result<()> {
        let mut types = self.types.borrow_mut();
        if let Some(slot) = types.get_mut(index) {
            if *slot != oid::UNKNOWN && *slot != typ {
                return Err(inconsistent_parameter(index, *slot, typ).at(position));
            }
            *slot = typ;
        }
        Ok(())
    }
}
