//! Cursors of SQL: DECLARE, FETCH, MOVE, CLOSE (compare portalcmds.c). A cursor's rows are computed when it is declared and kept, so it
//! sees its snapshot and can go both ways.

use super::prepare::Body;
use super::{Block, ResultColumn, Session};
use crate::client::{Client, CommandTag};
use crate::row::rows::RowStore;
use crate::utility::{DeclareCursor, FetchDirection};
use catalog::{Datum, Result, SqlError, SqlState};
use std::ops::ControlFlow;

/// An open cursor.
pub(crate) struct Cursor {
    /// Rows.
    rows: RowStore,
    /// Columns, for FETCH's description.
    columns: Vec<ResultColumn>,
    /// Zero before the first row, then the number of the current row, one past the last behind it.
    position: usize,
    /// NO SCROLL.
    forward_only: bool,
    /// WITH HOLD: outlives its transaction.
    pub(super) hold: bool,
}

impl Session {
    pub(super) fn declare_cursor(&mut self, declare: &DeclareCursor) -> Result<CommandTag> {
        if !declare.hold && !matches!(self.block, Block::InBlock) {
            return Err(SqlError::new(
                SqlState::NO_ACTIVE_SQL_TRANSACTION,
                "DECLARE CURSOR can only be used in transaction blocks",
            ));
        }
        if declare.binary {
            return Err(SqlError::unsupported("DECLARE BINARY CURSOR"));
        }
        if self.cursors.contains_key(&declare.name) {
            return Err(SqlError::new(
                SqlState::DUPLICATE_CURSOR,
                format!("cursor \"{}\" already exists", declare.name),
            ));
        }
        let source = &declare.query;
        let parsed = crate::parse::parse(&source.text)?
            .pop()
            .ok_or_else(|| SqlError::internal("a cursor needs a query"))?;
        let prepared = self
            .prepare_parsed(parsed, source.text.as_str().into(), Box::new([]), false)
            .map_err(|mut error| {
                if let Some(at) = &mut error.fields_mut().position {
                    *at += source.offset;
                }
                error
            })?;
        let planned = self.current_plan(&prepared)?;
        let Body::Query(plan) = &planned.body else {
            return Err(SqlError::new(
                SqlState::INVALID_CURSOR_DEFINITION,
                "DECLARE CURSOR must not contain data-modifying statements in WITH",
            ));
        };
        self.lock_tables(&planned.locks)?;
        let view = self.state.transaction(|t| {
            t.begin_statement();
            t.view()
        })?;
        let columns = prepared.columns.clone().unwrap_or_default();
        let mut rows = RowStore::new(columns.len());
        let result = self.with_context(plan.cache_slots, &view, &[], None, |cx, _| {
            crate::row::run(&plan.root, cx, &mut |row_cx, row| {
                planned.named.with_names(row_cx, row, |row| {
                    rows.push(row);
                    Ok(ControlFlow::Continue(()))
                })
            })
            .map(|_| ())
        });
        drop(view);
        self.end_statement(result)?;
        let cursor = Cursor {
            rows,
            columns,
            position: 0,
            forward_only: declare.scroll == Some(false),
            hold: declare.hold,
        };
        self.cursors.insert(declare.name.clone(), cursor);
        Ok(CommandTag::plain("DECLARE CURSOR"))
    }

    /// Columns of an open cursor of SQL, which the protocol knows as a portal.
    pub fn cursor(&self, name: &str) -> Option<&[ResultColumn]> {
        self.cursors.get(name).map(|cursor| &*cursor.columns)
    }

    /// Execute of the protocol on an open cursor of SQL: the next rows, all if `rows_max` is `None`. Returns how many.
    pub fn execute_cursor(
        &mut self,
        name: &str,
        rows_max: Option<u64>,
        client: &mut dyn Client,
    ) -> Result<u64> {
        let count = rows_max.and_then(|max| i64::try_from(max).ok()).unwrap_or(i64::MAX);
        let tag = self.fetch(name, FetchDirection::Forward(count), false, client)?;
        Ok(tag.count.unwrap_or(0))
    }

    /// Close of the protocol on a cursor of SQL; nothing if not there.
    pub fn drop_cursor(&mut self, name: &str) {
        self.cursors.remove(name);
    }

    /// Columns of an open cursor, which FETCH puts out.
    pub(super) fn cursor_columns(&self, name: &str) -> Result<Vec<ResultColumn>> {
        self.cursors.get(name).map(|cursor| cursor.columns.clone()).ok_or_else(|| no_cursor(name))
    }

    pub(super) fn fetch(
        &mut self,
        name: &str,
        direction: FetchDirection,
        is_move: bool,
        client: &mut dyn Client,
    ) -> Result<CommandTag> {
        let cursor = self.cursors.get_mut(name).ok_or_else(|| no_cursor(name))?;
        let places = cursor.advance(direction)?;
        let count = places.len() as u64;
        if !is_move {
            let mut row = Vec::new();
            for place in places {
                row.clear();
                cursor.rows.read(place, &mut row);
                if client.row(&row)?.is_break() {
                    break;
                }
            }
        }
        Ok(CommandTag::counted(if is_move { "MOVE" } else { "FETCH" }, count))
    }

    pub(super) fn close_cursor(&mut self, name: Option<&str>) -> Result<CommandTag> {
        match name {
            Some(name) => {
                self.cursors.remove(name).ok_or_else(|| no_cursor(name))?;
                Ok(CommandTag::plain("CLOSE CURSOR"))
            }
            None => {
                self.cursors.clear();
                Ok(CommandTag::plain("CLOSE CURSOR ALL"))
            }
        }
    }
}

impl Cursor {
    /// Moves, and gives the rows passed (their places from zero), in the order of passing.
    fn advance(&mut self, direction: FetchDirection) -> Result<Vec<usize>> {
        let len = self.rows.len();
        let goto = |target: i64| -> usize { usize::try_from(target.max(0)).unwrap_or(0).min(len + 1) };
        let backward = || {
            Err(SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, "cursor can only scan forward")
                .hint("Declare it with SCROLL option to enable backward scan."))
        };
        let one =
            |position: usize| if (1..=len).contains(&position) { vec![position - 1] } else { Vec::new() };
        match direction {
            FetchDirection::Forward(0) => Ok(one(self.position)),
            FetchDirection::Forward(count) if count > 0 => {
                let start = self.position.min(len);
                let end = len.min(start.saturating_add(usize::try_from(count).unwrap_or(usize::MAX)));
                let ran_out = end - start < usize::try_from(count).unwrap_or(usize::MAX);
                let rows = (start..end).collect();
                self.position = if ran_out { len + 1 } else { end };
                Ok(rows)
            }
            FetchDirection::Forward(count) => {
                if self.forward_only {
                    return backward();
                }
                let wanted = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
                let above = self.position.saturating_sub(1).min(len);
                let end = above.saturating_sub(wanted);
                let rows = (end..above).rev().collect();
                self.position = if above - end < wanted { 0 } else { end + 1 };
                Ok(rows)
            }
            FetchDirection::Absolute(target) => {
                let position = if target < 0 { goto(len as i64 + 1 + target) } else { goto(target) };
                if self.forward_only && position < self.position {
                    return backward();
                }
                self.position = position;
                Ok(one(position))
            }
            FetchDirection::Relative(offset) => {
                let position = goto((self.position as i64).saturating_add(offset));
                if self.forward_only && position < self.position {
                    return backward();
                }
                self.position = position;
                Ok(one(position))
            }
        }
    }
}

fn no_cursor(name: &str) -> SqlError {
    SqlError::new(SqlState::UNDEFINED_CURSOR, format!("cursor \"{name}\" does not exist"))
}
