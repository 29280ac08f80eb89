//! BEGIN, COMMIT, ROLLBACK, SAVEPOINT and their like.

use super::unsupported;
use crate::utility::{Tokens, TransactionModes, Utility};
use catalog::Result;

pub(super) fn parse(t: &mut Tokens<'_>) -> Result<Utility> {
    if t.accept("begin") {
        transaction_word(t);
        return Ok(Utility::Begin(modes(t)?, false));
    }
    if t.accept("start") {
        t.expect("transaction")?;
        return Ok(Utility::Begin(modes(t)?, true));
    }
    if t.accept("savepoint") {
        return Ok(Utility::Savepoint(t.name()?));
    }
    if t.accept("release") {
        t.accept("savepoint");
        return Ok(Utility::Release(t.name()?));
    }
    let commit = t.is(0, "commit") || t.is(0, "end");
    let word = t.label()?;
    if t.is(0, "prepared") {
        return unsupported(t, format!("{} PREPARED", word.to_uppercase()));
    }
    transaction_word(t);
    if word == "rollback" && t.accept("to") {
        t.accept("savepoint");
        return Ok(Utility::RollbackTo(t.name()?));
    }
    let chain = if t.accept("and") {
        let no = t.accept("no");
        t.expect("chain")?;
        !no
    } else {
        false
    };
    Ok(if commit { Utility::Commit(chain) } else { Utility::Rollback(chain) })
}

fn transaction_word(t: &mut Tokens<'_>) {
    let _ = t.accept("work") || t.accept("transaction");
}

/// `transaction_mode_list_or_empty`; commas between modes are optional.
pub(super) fn modes(t: &mut Tokens<'_>) -> Result<TransactionModes> {
    let mut modes = TransactionModes::default();
    while !t.at_end() {
        if t.accept("isolation level") {
            modes.isolation = Some(if t.accept("read committed") {
                "read committed"
            } else if t.accept("read uncommitted") {
                "read uncommitted"
            } else if t.accept("repeatable read") {
                "repeatable read"
            } else {
                t.expect("serializable")?;
                "serializable"
            });
        } else if t.accept("read") {
            let read_only = t.accept("only");
            if !read_only {
                t.expect("write")?;
            }
            modes.read_only = Some(read_only);
        } else if t.accept("not deferrable") {
            modes.deferrable = Some(false);
        } else if t.accept("deferrable") {
            modes.deferrable = Some(true);
        } else {
            return Err(t.unexpected());
        }
        if t.accept_punct(",") && t.at_end() {
            return Err(t.unexpected());
        }
    }
    Ok(modes)
}
