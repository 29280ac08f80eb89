//! Portals: statements bound to parameter values, and what a partial Execute has left. Compare PostgreSQL's `portalmem.c`,
//! `pquery.c`.
//!
//! A statement runs once, at the portal's first Execute, to its end. Rows beyond the row limit are kept in the portal as finished
//! DataRow messages, and later Executes copy from there.

use catalog::{Result, SqlError, SqlState, Value};
use exec::client::CommandTag;
use exec::session::Prepared;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use wire::frontend::Formats;

/// A portal.
pub(super) struct Portal {
    /// The statement; `None` is an empty one.
    pub(super) prepared: Option<Arc<Prepared>>,
    /// Its parameters.
    pub(super) parameters: Vec<Value>,
    /// Formats of its result.
    pub(super) formats: ResultFormats,
    /// How far it has run.
    pub(super) progress: Progress,
}

/// How far a portal has run.
pub(super) enum Progress {
    /// Not at all.
    New,
    /// The statement has run; these rows are still to be sent.
    Held(HeldRows),
    /// The statement returns no rows and has run, or it failed: the portal cannot run again.
    Done,
}

/// Format codes of a result's columns.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ResultFormats {
    /// One for all.
    All(i16),
    /// One for each column.
    Each(Box<[i16]>),
}

impl ResultFormats {
    /// The formats of a Bind message, their number having been checked.
    pub(super) fn new(formats: Formats<'_>) -> ResultFormats {
        match formats.len() {
            0 | 1 => ResultFormats::All(formats.code(0)),
            _ => ResultFormats::Each(formats.codes().collect()),
        }
    }

    /// The format of a column.
    pub(super) fn code(&self, column: usize) -> i16 {
        match self {
            ResultFormats::All(code) => *code,
            ResultFormats::Each(codes) => codes.get(column).copied().unwrap_or(0),
        }
    }

    /// Whether all is text.
    pub(super) fn is_text(&self) -> bool {
        *self == ResultFormats::All(0)
    }
}

/// Rows not yet sent.
pub(super) struct HeldRows {
    /// DataRow messages, one behind the other.
    rows: Vec<u8>,
    /// How much of them has been sent.
    sent: usize,
    /// The statement's tag.
    pub(super) tag: CommandTag,
}

impl HeldRows {
    pub(super) fn new(rows: Vec<u8>, tag: CommandTag) -> HeldRows {
        HeldRows { rows, sent: 0, tag }
    }

    /// Takes up to so many rows: their bytes and their number.
    pub(super) fn take(&mut self, rows_max: Option<u64>) -> (&[u8], u64) {
        let start = self.sent;
        let mut count = 0;
        while rows_max.is_none_or(|max| count < max) {
            let word = self.rows.get(self.sent + 1..).and_then(|rest| rest.first_chunk::<4>());
            let Some(word) = word else { break };
            self.sent += 1 + u32::from_be_bytes(*word) as usize;
            count += 1;
        }
        (self.rows.get(start..self.sent).unwrap_or_default(), count)
    }
}

/// The portals of a session.
#[derive(Default)]
pub(super) struct Portals {
    /// The portal without a name, which most clients use only.
    unnamed: Option<Portal>,
    named: FxHashMap<String, Portal>,
}

impl Portals {
    /// Checks that a portal of this name may be made; the unnamed one may always. SQL's cursors share the names.
    pub(super) fn check_new(&self, name: &str, is_cursor: bool) -> Result<()> {
        if name.is_empty() || !(is_cursor || self.named.contains_key(name)) {
            return Ok(());
        }
        Err(SqlError::new(SqlState::DUPLICATE_CURSOR, format!("cursor \"{name}\" already exists")))
    }

    /// Enters a portal.
    pub(super) fn insert(&mut self, name: &str, portal: Portal) {
        if name.is_empty() {
            self.unnamed = Some(portal);
        } else {
            self.named.insert(name.to_owned(), portal);
        }
    }

    /// The portal of this name, or 34000.
    pub(super) fn find(&mut self, name: &str) -> Result<&mut Portal> {
        let portal = if name.is_empty() { self.unnamed.as_mut() } else { self.named.get_mut(name) };
        portal.ok_or_else(|| {
            SqlError::new(SqlState::UNDEFINED_CURSOR, format!("portal \"{name}\" does not exist"))
        })
    }

    /// Drops the portal of this name, if there is one.
    pub(super) fn remove(&mut self, name: &str) {
        if name.is_empty() {
            self.unnamed = None;
        } else {
            self.named.remove(name);
        }
    }

    /// Drops all, at the end of the transaction.
    pub(super) fn clear(&mut self) {
        self.unnamed = None;
        if !self.named.is_empty() {
            self.named.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_rows_are_taken_in_portions() {
        let frames = [&b"D\0\0\0\x06\0\0"[..], b"D\0\0\0\x0b\0\x01\0\0\0\x01x", b"D\0\0\0\x06\0\0"];
        let mut held = HeldRows::new(frames.concat(), CommandTag::counted("SELECT", 9));
        assert_eq!(held.take(Some(2)), (frames[..2].concat().as_slice(), 2));
        assert_eq!(held.take(Some(2)), (frames[2], 1));
        assert_eq!(held.take(None), (&[][..], 0));
    }

    #[test]
    fn the_unnamed_portal_is_replaced_a_named_one_is_not() {
        let portal = || Portal {
            prepared: None,
            parameters: Vec::new(),
            formats: ResultFormats::All(0),
            progress: Progress::New,
        };
        let mut portals = Portals::default();
        portals.insert("", portal());
        portals.insert("c", portal());
        assert!(portals.check_new("", false).is_ok());
        assert!(portals.check_new("d", true).is_err());
        assert_eq!(
            portals.check_new("c", false).expect_err("there").message(),
            "cursor \"c\" already exists"
        );
        portals.clear();
        assert_eq!(portals.find("c").err().map(|e| e.code()), Some(SqlState::UNDEFINED_CURSOR));
    }
}
