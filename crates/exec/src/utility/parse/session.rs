//! SET, SHOW, PREPARE, cursors, notifications, maintenance.

use super::{transaction, unsupported};
use crate::parse::lexer::Kind;
use crate::utility::object::Ddl;
use crate::utility::{DeclareCursor, Discard, FetchDirection, Lock, SetValue, Tokens, Utility, Vacuum};
use catalog::{Result, SqlError, SqlState};
use storage::TableLockMode;

pub(super) fn parse(t: &mut Tokens<'_>) -> Result<Utility> {
    if t.accept("set") {
        return set(t);
    }
    if t.accept("reset") {
        return Ok(if t.accept("all") { Utility::ResetAll } else { Utility::Reset(variable(t)?) });
    }
    if t.accept("show") {
        return Ok(if t.accept("all") { Utility::ShowAll } else { Utility::Show(variable(t)?) });
    }
    t.expect("discard")?;
    Ok(Utility::Discard(if t.accept("all") {
        Discard::All
    } else if t.accept("plans") {
        Discard::Plans
    } else if t.accept("sequences") {
        Discard::Sequences
    } else if t.accept("temp") || t.accept("temporary") {
        Discard::Temp
    } else {
        return Err(t.unexpected());
    }))
}

/// The name of a setting in RESET and SHOW, with the words that stand for some.
fn variable(t: &mut Tokens<'_>) -> Result<String> {
    if t.accept("time zone") {
        return Ok("timezone".into());
    }
    if t.accept("transaction isolation level") {
        return Ok("transaction_isolation".into());
    }
    if t.accept("session authorization") {
        return Ok("session_authorization".into());
    }
    setting_name(t)
}

/// `var_name`: names joined by dots.
pub(super) fn setting_name(t: &mut Tokens<'_>) -> Result<String> {
    let mut name = t.name()?;
    while t.accept_punct(".") {
        name = format!("{name}.{}", t.name()?);
    }
    Ok(name)
}

fn set(t: &mut Tokens<'_>) -> Result<Utility> {
    if t.accept("constraints") {
        let names = if t.accept("all") { Vec::new() } else { t.comma_list(Tokens::qualified)? };
        let deferred = t.accept("deferred");
        if !deferred {
            t.expect("immediate")?;
        }
        return Ok(Utility::SetConstraints(names, deferred));
    }
    if t.accept("session characteristics as transaction") {
        let modes = transaction::modes(t)?;
        return Ok(Utility::SetTransaction(modes, true));
    }
    // `local` and `session` are also names of nothing else here, but SESSION AUTHORIZATION is a setting.
    let local = t.accept("local");
    if !local && t.is(0, "session") && !t.is(1, "authorization") {
        t.advance();
    }
    if t.is(0, "transaction") && !t.is(1, "to") {
        t.advance();
        if t.is(0, "snapshot") {
            return unsupported(t, "SET TRANSACTION SNAPSHOT");
        }
        if t.at_end() {
            return Err(t.unexpected());
        }
        return Ok(Utility::SetTransaction(transaction::modes(t)?, false));
    }
    let (name, value) = assignment(t)?;
    Ok(Utility::Set(name, value, local))
}

/// The part of SET that ALTER DATABASE and ALTER ROLE share (`set_rest`).
pub(super) fn assignment(t: &mut Tokens<'_>) -> Result<(String, SetValue)> {
    let special = |name: &str, value: String| Ok((name.to_owned(), SetValue::Values(vec![value])));
    if t.accept("time zone") {
        if t.accept("local") || t.accept("default") {
            return Ok(("timezone".into(), SetValue::Default));
        }
        if t.accept("interval") {
            let text = t.string()?;
            if t.accept("hour") && t.accept("to") {
                t.expect("minute")?;
            }
            return special("timezone", format!("interval {text}"));
        }
        let value = t.option_value()?;
        return special("timezone", value);
    }
    if t.accept("session authorization") {
        if t.accept("default") {
            return Ok(("session_authorization".into(), SetValue::Default));
        }
        let value = t.option_value()?;
        return special("session_authorization", value);
    }
    if t.is(0, "role") && !t.is(1, "to") && !matches!(t.peek(1), Some(Kind::Op(op)) if op == "=") {
        t.advance();
        let value = t.option_value()?;
        return special("role", value);
    }
    if t.accept("names") {
        if t.at_end() || t.accept("default") {
            return Ok(("client_encoding".into(), SetValue::Default));
        }
        let value = t.string()?;
        return special("client_encoding", value);
    }
    if t.accept("schema") {
        let value = t.string()?;
        return special("search_path", value);
    }
    if t.accept("xml option") {
        let value = t.label()?;
        return special("xmloption", value);
    }
    let name = setting_name(t)?;
    if t.accept("from current") {
        return Ok((name, SetValue::Current));
    }
    if !t.accept("to") && !t.accept_op("=") {
        return Err(t.unexpected());
    }
    if t.accept("default") {
        return Ok((name, SetValue::Default));
    }
    let values = t.comma_list(set_value)?;
    Ok((name, SetValue::Values(values)))
}

/// `var_value`: a boolean word, a name, a string or a number.
fn set_value(t: &mut Tokens<'_>) -> Result<String> {
    match t.peek(0) {
        Some(Kind::Word(word, _)) if matches!(word.as_str(), "true" | "false" | "on") => t.label(),
        Some(Kind::Word(..) | Kind::Quoted(_)) => t.name(),
        Some(Kind::String(_)) => t.string(),
        _ => t.number(),
    }
}

pub(super) fn parse_other(t: &mut Tokens<'_>) -> Result<Utility> {
    let word = t.label()?;
    Ok(match word.as_str() {
        "prepare" => return prepare(t),
        "execute" => {
            let name = t.name()?;
            let mut args = Vec::new();
            if t.accept_punct("(") {
                args = t.comma_list(Tokens::expression)?;
                t.expect_punct(")")?;
            }
            Utility::Execute(name, args)
        }
        "deallocate" => {
            t.accept("prepare");
            Utility::Deallocate(if t.accept("all") { None } else { Some(t.name()?) })
        }
        "listen" => Utility::Listen(t.name()?),
        "unlisten" => Utility::Unlisten(if t.accept_op("*") { None } else { Some(t.name()?) }),
        "notify" => {
            let channel = t.name()?;
            let payload = if t.accept_punct(",") { Some(t.string()?) } else { None };
            Utility::Notify(channel, payload)
        }
        "declare" => return declare(t),
        "fetch" | "move" => return fetch(t, word == "move"),
        "close" => Utility::Close(if t.accept("all") { None } else { Some(t.name()?) }),
        "vacuum" | "analyze" | "analyse" => return vacuum(t, word == "vacuum"),
        "checkpoint" => Utility::Checkpoint,
        "lock" => return lock(t),
        "reindex" => return reindex(t),
        other => return unsupported(t, other.to_uppercase()),
    })
}

fn prepare(t: &mut Tokens<'_>) -> Result<Utility> {
    if t.is(0, "transaction") {
        return unsupported(t, "PREPARE TRANSACTION");
    }
    let name = t.name()?;
    let mut types = Vec::new();
    if t.accept_punct("(") {
        types = t.comma_list(Tokens::typ)?;
        t.expect_punct(")")?;
    }
    t.expect("as")?;
    Ok(Utility::Prepare(name, types, t.rest()?))
}

fn declare(t: &mut Tokens<'_>) -> Result<Utility> {
    let name = t.name()?;
    let (mut binary, mut insensitive, mut scroll) = (false, false, None);
    loop {
        if t.accept("binary") {
            binary = true;
        } else if t.accept("insensitive") {
            insensitive = true;
        } else if t.accept("asensitive") {
        } else if t.accept("no scroll") {
            scroll = Some(false);
        } else if t.accept("scroll") {
            scroll = Some(true);
        } else {
            break;
        }
    }
    t.expect("cursor")?;
    let hold = t.accept("with hold");
    if !hold {
        t.accept("without hold");
    }
    t.expect("for")?;
    let query = t.rest()?;
    Ok(Utility::Declare(Box::new(DeclareCursor { name, binary, insensitive, scroll, hold, query })))
}

fn fetch(t: &mut Tokens<'_>, is_move: bool) -> Result<Utility> {
    use FetchDirection::{Absolute, Forward, Relative};
    let is_number = |t: &Tokens<'_>| {
        matches!(t.peek(0), Some(Kind::Int(_) | Kind::Number(_)))
            || matches!(t.peek(0), Some(Kind::Op(op)) if op == "-" || op == "+")
    };
    let direction = if t.accept("next") {
        Forward(1)
    } else if t.accept("prior") {
        Forward(-1)
    } else if t.accept("first") {
        Absolute(1)
    } else if t.accept("last") {
        Absolute(-1)
    } else if t.accept("absolute") {
        Absolute(t.integer()?)
    } else if t.accept("relative") {
        Relative(t.integer()?)
    } else if t.accept("all") {
        Forward(i64::MAX)
    } else if t.is(0, "forward") || t.is(0, "backward") {
        let sign = if t.accept("forward") {
            1
        } else {
            t.advance();
            -1
        };
        if t.accept("all") {
            Forward(i64::MAX * sign)
        } else if is_number(t) {
            Forward(t.integer()?.saturating_mul(sign))
        } else {
            Forward(sign)
        }
    } else if is_number(t) {
        Forward(t.integer()?)
    } else {
        Forward(1)
    };
    let _ = t.accept("from") || t.accept("in");
    Ok(Utility::Fetch(t.name()?, direction, is_move))
}

fn vacuum(t: &mut Tokens<'_>, is_vacuum: bool) -> Result<Utility> {
    let mut v = Vacuum { vacuum: is_vacuum, analyze: !is_vacuum, ..Vacuum::default() };
    if t.accept_punct("(") {
        t.comma_list(|t| {
            let position = t.position();
            let name = t.label()?;
            let value =
                if t.is_punct(0, ",") || t.is_punct(0, ")") { "true".into() } else { t.option_value()? };
            let on = !matches!(value.as_str(), "false" | "off" | "0" | "no");
            match name.as_str() {
                "full" if is_vacuum => v.full = on,
                "verbose" => v.verbose = on,
                "analyze" | "analyse" if is_vacuum => v.analyze = on,
                "freeze"
                | "disable_page_skipping"
                | "index_cleanup"
                | "process_toast"
                | "truncate"
                | "parallel"
                    if is_vacuum => {}
                "skip_locked" => {}
                _ => {
                    let verb = if is_vacuum { "VACUUM" } else { "ANALYZE" };
                    return Err(SqlError::new(
                        SqlState::SYNTAX_ERROR,
                        format!("unrecognized {verb} option \"{name}\""),
                    )
                    .at(position));
                }
            }
            Ok(())
        })?;
        t.expect_punct(")")?;
    } else {
        v.full = is_vacuum && t.accept("full");
        if is_vacuum {
            t.accept("freeze");
        }
        v.verbose = t.accept("verbose");
        if is_vacuum && (t.accept("analyze") || t.accept("analyse")) {
            v.analyze = true;
        }
    }
    if !t.at_end() {
        v.tables = t.comma_list(|t| {
            let name = t.qualified()?;
            let columns = if t.is_punct(0, "(") { t.column_list()? } else { Vec::new() };
            Ok((name, columns))
        })?;
    }
    Ok(Utility::Vacuum(Box::new(v)))
}

fn lock(t: &mut Tokens<'_>) -> Result<Utility> {
    t.accept("table");
    let tables = t.comma_list(|t| {
        t.accept("only");
        let name = t.qualified()?;
        t.accept_op("*");
        Ok(name)
    })?;
    let mut mode = TableLockMode::AccessExclusive;
    if t.accept("in") {
        const MODES: [(&str, TableLockMode); 8] = [
            ("access share", TableLockMode::AccessShare),
            ("row share", TableLockMode::RowShare),
            ("row exclusive", TableLockMode::RowExclusive),
            ("share update exclusive", TableLockMode::ShareUpdateExclusive),
            ("share row exclusive", TableLockMode::ShareRowExclusive),
            ("share", TableLockMode::Share),
            ("exclusive", TableLockMode::Exclusive),
            ("access exclusive", TableLockMode::AccessExclusive),
        ];
        let Some((_, found)) = MODES.iter().find(|(words, _)| t.accept(words)) else {
            return Err(t.unexpected());
        };
        mode = *found;
        t.expect("mode")?;
    }
    let nowait = t.accept("nowait");
    Ok(Utility::Lock(Box::new(Lock { tables, mode, nowait })))
}

fn reindex(t: &mut Tokens<'_>) -> Result<Utility> {
    if t.is_punct(0, "(") {
        t.parenthesized()?;
    }
    let kind = t.label()?;
    if !matches!(kind.as_str(), "index" | "table" | "schema" | "database" | "system") {
        return Err(t.unexpected());
    }
    t.accept("concurrently");
    let name = if t.at_end() { None } else { Some(t.qualified()?) };
    Ok(Utility::Ddl(Box::new(Ddl::Reindex(kind, name))))
}
