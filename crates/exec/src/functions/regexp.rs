//! Functions of regular expressions: matching operators, regexp_replace and its kin. Compare `regexp.c` and `replace_text_regexp` in
//! `varlena.c`. Compiled expressions are kept per thread, as PostgreSQL keeps them per backend.

use super::regex_syntax::{Options, invalid as invalid_regex, translate};
use super::string::{char_place, invalid};
use super::{Entry, EvalContext, array, scalar, set};
use catalog::types::text::{char_count, char_offset};
use catalog::{Datum, Result, SqlError};
use regex::{Captures, Regex};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;

/// As many compiled expressions a thread keeps; beyond that all are dropped.
const CACHED: usize = 64;

thread_local! {
    static CACHE: RefCell<FxHashMap<Options, FxHashMap<String, Rc<Regex>>>> = RefCell::default();
}

/// The compiled expression.
fn compiled(pattern: &str, options: Options) -> Result<Rc<Regex>> {
    CACHE.with_borrow_mut(|cache| {
        let patterns = cache.entry(options).or_default();
        if let Some(regex) = patterns.get(pattern) {
            return Ok(regex.clone());
        }
        let regex = Rc::new(compile(pattern, options)?);
        if patterns.len() >= CACHED {
            patterns.clear();
        }
        patterns.insert(pattern.to_owned(), regex.clone());
        Ok(regex)
    })
}

fn compile(pattern: &str, options: Options) -> Result<Regex> {
    let translated = translate(pattern, options)?;
    Regex::new(&translated).map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => invalid_regex("regular expression is too complex"),
        other => {
            let text = other.to_string();
            let reasons = [
                ("repetition", "quantifier operand invalid"),
                ("range", "invalid character range"),
                ("group", "parentheses () not balanced"),
                ("class", "brackets [] not balanced"),
            ];
            let reason = reasons.iter().find(|(word, _)| text.contains(word));
            invalid_regex(reason.map_or("invalid regular expression", |(_, reason)| reason))
        }
    })
}

const PLAIN: Options = Options {
    ignore_case: false,
    newline_stops: false,
    newline_anchors: false,
    expanded: false,
    literal: false,
};
const IGNORE_CASE: Options = Options { ignore_case: true, ..PLAIN };

/// The options in a flags argument, and whether `g` was among them (`parse_re_flags`).
fn flags(text: Option<&str>) -> Result<(Options, bool)> {
    let (mut options, mut global) = (PLAIN, false);
    for letter in text.unwrap_or_default().chars() {
        if letter == 'g' {
            global = true;
        } else if letter == 'b' {
            return Err(SqlError::unsupported("basic regular expression syntax"));
        } else if !options.apply(letter) {
            return Err(invalid(format!("invalid regular expression option: \"{letter}\"")));
        }
    }
    Ok((options, global))
}

fn not_global(function: &str, alternative: Option<&str>) -> SqlError {
    let error = invalid(format!("{function} does not support the \"global\" option"));
    match alternative {
        Some(other) => error.hint(format!("Use the {other} function instead.")),
        None => error,
    }
}

/// Calls back with every match from `start` on, as `setup_regexp_matches` finds them: an empty match is followed by a search one
/// character on. For splitting, empty matches at the ends and right after a match are left out.
fn each_match<'t>(
    regex: &Regex,
    text: &'t str,
    start: usize,
    splitting: bool,
    mut visit: impl FnMut(Captures<'t>) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let mut search = start;
    let mut previous_end = 0;
    while search <= text.len() {
        let Some(captures) = regex.captures_at(text, search) else { break };
        let Some(whole) = captures.get(0) else { break };
        let (begin, end) = (whole.start(), whole.end());
        let wanted = !splitting || (begin < text.len() && end > previous_end);
        if wanted && visit(captures)?.is_break() {
            break;
        }
        previous_end = end;
        search = if begin == end { end + step(text, end) } else { end };
    }
    Ok(())
}

/// Bytes of the character here; one beyond the end.
fn step(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
}

/// regexp_replace: replaces the `nth` match from `start` on, or all with zero.
fn replace<'a>(
    cx: &EvalContext<'a>,
    text: &'a str,
    regex: &Regex,
    replacement: &str,
    start: usize,
    nth: i64,
) -> Result<Datum<'a>> {
    let mut out: Vec<u8> = Vec::new();
    let mut copied = 0;
    let mut count = 0;
    each_match(regex, text, start, false, |captures| {
        count += 1;
        if nth > 0 && count != nth {
            return Ok(ControlFlow::Continue(()));
        }
        let Some(whole) = captures.get(0) else { return Ok(ControlFlow::Break(())) };
        out.extend_from_slice(&text.as_bytes()[copied..whole.start()]);
        expand(replacement, &captures, &mut out);
        copied = whole.end();
        Ok(if nth > 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    if copied == 0 && out.is_empty() {
        return Ok(Datum::text(text));
    }
    out.extend_from_slice(&text.as_bytes()[copied..]);
    Ok(Datum::Bytes(cx.arena.bytes(&out)))
}

/// Appends a replacement: `\1` to `\9`, `\&`, `\\`.
fn expand(replacement: &str, captures: &Captures<'_>, out: &mut Vec<u8>) {
    let mut rest = replacement;
    while let Some(at) = rest.find('\\') {
        let (plain, tail) = rest.split_at(at);
        out.extend_from_slice(plain.as_bytes());
        let mut chars = tail.chars();
        chars.next();
        match chars.next() {
            Some(digit @ '1'..='9') => {
                let group = captures.get(digit as usize - '0' as usize);
                out.extend_from_slice(group.map_or("", |g| g.as_str()).as_bytes());
                rest = chars.as_str();
            }
            Some('&') => {
                out.extend_from_slice(captures.get(0).map_or("", |g| g.as_str()).as_bytes());
                rest = chars.as_str();
            }
            Some('\\') => {
                out.push(b'\\');
                rest = chars.as_str();
            }
            _ => {
                out.push(b'\\');
                rest = &tail[1..];
            }
        }
    }
    out.extend_from_slice(rest.as_bytes());
}

/// The groups of a match, or the whole if there are none, as an array.
fn groups<'a>(cx: &EvalContext<'a>, captures: &Captures<'a>) -> Datum<'a> {
    let first = usize::from(captures.len() > 1);
    let values: Vec<Datum<'a>> = (first..captures.len())
        .map(|i| captures.get(i).map_or(Datum::Null, |g| Datum::text(g.as_str())))
        .collect();
    array::text_array(cx, &values)
}

fn split<'t>(
    regex: &Regex,
    text: &'t str,
    mut visit: impl FnMut(&'t str) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let mut begin = 0;
    let mut stopped = false;
    each_match(regex, text, 0, true, |captures| {
        let Some(whole) = captures.get(0) else { return Ok(ControlFlow::Break(())) };
        let flow = visit(&text[begin..whole.start()])?;
        begin = whole.end();
        stopped = flow.is_break();
        Ok(flow)
    })?;
    if !stopped {
        visit(&text[begin..])?.is_break();
    }
    Ok(())
}

/// The matching parts for regexp_substr and regexp_instr: the `nth` match's group.
fn nth_match(
    regex: &Regex,
    text: &str,
    start: usize,
    nth: i64,
    group: usize,
) -> Result<Option<(usize, usize)>> {
    if group >= regex.captures_len() {
        return Ok(None);
    }
    let mut count = 0;
    let mut found = None;
    each_match(regex, text, start, false, |captures| {
        count += 1;
        if count < nth {
            return Ok(ControlFlow::Continue(()));
        }
        found = captures.get(group).map(|g| (g.start(), g.end()));
        Ok(ControlFlow::Break(()))
    })?;
    Ok(found)
}

fn positive(value: i64, name: &str) -> Result<i64> {
    if value <= 0 {
        return Err(invalid(format!("invalid value for parameter \"{name}\": {value}")));
    }
    Ok(value)
}

/// Byte place of the character `start` (from 1).
fn start_place(text: &str, start: Option<&Datum<'_>>) -> Result<usize> {
    let start = start.map_or(1, |d| d.as_int());
    let count = positive(start, "start")? - 1;
    let length = char_count(text.as_bytes()) as i64;
    // Past the end: nothing matches.
    Ok(if count > length { text.len() + 1 } else { char_offset(text.as_bytes(), count as usize) })
}

fn flags_at<'a>(a: &[Datum<'a>], i: usize) -> Option<&'a str> {
    a.get(i).map(|d| d.as_str())
}

fn count<'a>(a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (options, global) = flags(flags_at(a, 3))?;
    if global {
        return Err(not_global("regexp_count()", None));
    }
    let text = a[0].as_str();
    let start = start_place(text, a.get(2))?;
    let mut count = 0;
    each_match(&*compiled(a[1].as_str(), options)?, text, start, false, |_| {
        count += 1;
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(Datum::Int(count))
}

fn like<'a>(a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (options, global) = flags(flags_at(a, 2))?;
    if global {
        return Err(not_global("regexp_like()", None));
    }
    Ok(Datum::Bool(compiled(a[1].as_str(), options)?.is_match(a[0].as_str())))
}

/// regexp_instr(string, pattern, start, n, endoption, flags, subexpr)
fn instr<'a>(a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let text = a[0].as_str();
    let start = start_place(text, a.get(2))?;
    let nth = positive(a.get(3).map_or(1, |d| d.as_int()), "n")?;
    let at_end = match a.get(4).map_or(0, |d| d.as_int()) {
        0 => false,
        1 => true,
        other => return Err(invalid(format!("invalid value for parameter \"endoption\": {other}"))),
    };
    let (options, global) = flags(flags_at(a, 5))?;
    if global {
        return Err(not_global("regexp_instr()", None));
    }
    let group = subexpression(a.get(6))?;
    let found = nth_match(&*compiled(a[1].as_str(), options)?, text, start, nth, group)?;
    let place = found.map(|(begin, end)| char_place(text, if at_end { end } else { begin }));
    Ok(Datum::Int(place.unwrap_or(0)))
}

fn subexpression(d: Option<&Datum<'_>>) -> Result<usize> {
    let value = d.map_or(0, |d| d.as_int());
    usize::try_from(value).map_err(|_| invalid(format!("invalid value for parameter \"subexpr\": {value}")))
}

/// regexp_substr(string, pattern, start, n, flags, subexpr)
fn substr<'a>(a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let text = a[0].as_str();
    let start = start_place(text, a.get(2))?;
    let nth = positive(a.get(3).map_or(1, |d| d.as_int()), "n")?;
    let (options, global) = flags(flags_at(a, 4))?;
    if global {
        return Err(not_global("regexp_substr()", None));
    }
    let group = subexpression(a.get(5))?;
    let found = nth_match(&*compiled(a[1].as_str(), options)?, text, start, nth, group)?;
    Ok(found.map_or(Datum::Null, |(begin, end)| Datum::text(&text[begin..end])))
}

fn replace_flagged<'a>(cx: &EvalContext<'a>, a: &[Datum<'a>], letters: Option<&str>) -> Result<Datum<'a>> {
    // A digit here is a start position meant for the other form of the function.
    if let Some(first) = letters.and_then(|l| l.chars().next())
        && first.is_ascii_digit()
    {
        return Err(invalid(format!("invalid regular expression option: \"{first}\""))
            .hint("If you meant to use regexp_replace() with a start parameter, cast the fourth argument to integer explicitly."));
    }
    let (options, global) = flags(letters)?;
    let regex = compiled(a[1].as_str(), options)?;
    replace(cx, a[0].as_str(), &regex, a[2].as_str(), 0, if global { 0 } else { 1 })
}

fn replace_extended<'a>(cx: &EvalContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let text = a[0].as_str();
    let start = start_place(text, a.get(3))?;
    let nth = match a.get(4).map(|d| d.as_int()) {
        Some(n) if n < 0 => return Err(invalid(format!("invalid value for parameter \"n\": {n}"))),
        other => other,
    };
    let (options, global) = flags(flags_at(a, 5))?;
    let nth = nth.unwrap_or(if global { 0 } else { 1 });
    replace(cx, text, &*compiled(a[1].as_str(), options)?, a[2].as_str(), start, nth)
}

fn first_match<'a>(cx: &EvalContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (options, global) = flags(flags_at(a, 2))?;
    if global {
        return Err(not_global("regexp_match()", Some("regexp_matches")));
    }
    let found = compiled(a[1].as_str(), options)?.captures(a[0].as_str()).map(|c| groups(cx, &c));
    Ok(found.unwrap_or(Datum::Null))
}

fn matches(cx: &EvalContext<'_>, a: &[Datum<'_>], emit: &mut super::Emit<'_>) -> Result<()> {
    let (options, global) = flags(flags_at(a, 2))?;
    each_match(&*compiled(a[1].as_str(), options)?, a[0].as_str(), 0, false, |captures| {
        let first = usize::from(captures.len() > 1);
        let values: Vec<Datum<'_>> = (first..captures.len())
            .map(|i| captures.get(i).map_or(Datum::Null, |g| Datum::text(g.as_str())))
            .collect();
        let flow = emit(&[array::text_array(cx, &values)])?;
        Ok(if global { flow } else { ControlFlow::Break(()) })
    })
}

fn split_table(a: &[Datum<'_>], emit: &mut super::Emit<'_>) -> Result<()> {
    let (options, global) = flags(flags_at(a, 2))?;
    if global {
        return Err(not_global("regexp_split_to_table()", None));
    }
    split(&*compiled(a[1].as_str(), options)?, a[0].as_str(), |part| emit(&[Datum::text(part)]))
}

fn split_array<'a>(cx: &EvalContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (options, global) = flags(flags_at(a, 2))?;
    if global {
        return Err(not_global("regexp_split_to_array()", None));
    }
    let mut parts = Vec::new();
    split(&*compiled(a[1].as_str(), options)?, a[0].as_str(), |part| {
        parts.push(Datum::text(part));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(array::text_array(cx, &parts))
}

/// `substring(text FROM pattern)`: the first group, or the whole match.
fn substring<'a>(a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let regex = compiled(a[1].as_str(), PLAIN)?;
    let found = regex.captures(a[0].as_str()).and_then(|c| c.get(usize::from(c.len() > 1)));
    Ok(found.map_or(Datum::Null, |m| Datum::text(m.as_str())))
}

macro_rules! operator {
    ($options:expr, $wanted:literal) => {
        scalar(|_, _, a| {
            let matched = compiled(a[1].as_str(), $options)?.is_match(a[0].as_str());
            Ok(Datum::Bool(matched == $wanted))
        })
    };
}

pub(super) const FUNCTIONS: &[Entry] = &[
    ("textregexeq", operator!(PLAIN, true)),
    ("textregexne", operator!(PLAIN, false)),
    ("nameregexeq", operator!(PLAIN, true)),
    ("nameregexne", operator!(PLAIN, false)),
    ("texticregexeq", operator!(IGNORE_CASE, true)),
    ("texticregexne", operator!(IGNORE_CASE, false)),
    ("nameicregexeq", operator!(IGNORE_CASE, true)),
    ("nameicregexne", operator!(IGNORE_CASE, false)),
    ("textregexsubstr", scalar(|_, _, a| substring(a))),
    ("textregexreplace_noopt", scalar(|cx, _, a| replace_flagged(cx, a, None))),
    ("textregexreplace", scalar(|cx, _, a| replace_flagged(cx, a, Some(a[3].as_str())))),
    ("textregexreplace_extended", scalar(|cx, _, a| replace_extended(cx, a))),
    ("textregexreplace_extended_no_flags", scalar(|cx, _, a| replace_extended(cx, a))),
    ("textregexreplace_extended_no_n", scalar(|cx, _, a| replace_extended(cx, a))),
    ("regexp_match", scalar(|cx, _, a| first_match(cx, a))),
    ("regexp_match_no_flags", scalar(|cx, _, a| first_match(cx, a))),
    ("regexp_matches", set(|cx, _, a, emit| matches(cx, a, emit))),
    ("regexp_matches_no_flags", set(|cx, _, a, emit| matches(cx, a, emit))),
    ("regexp_split_to_table", set(|_, _, a, emit| split_table(a, emit))),
    ("regexp_split_to_table_no_flags", set(|_, _, a, emit| split_table(a, emit))),
    ("regexp_split_to_array", scalar(|cx, _, a| split_array(cx, a))),
    ("regexp_split_to_array_no_flags", scalar(|cx, _, a| split_array(cx, a))),
    ("regexp_like", scalar(|_, _, a| like(a))),
    ("regexp_like_no_flags", scalar(|_, _, a| like(a))),
    ("regexp_count", scalar(|_, _, a| count(a))),
    ("regexp_count_no_flags", scalar(|_, _, a| count(a))),
    ("regexp_count_no_start", scalar(|_, _, a| count(a))),
    ("regexp_instr", scalar(|_, _, a| instr(a))),
    ("regexp_instr_no_subexpr", scalar(|_, _, a| instr(a))),
    ("regexp_instr_no_flags", scalar(|_, _, a| instr(a))),
    ("regexp_instr_no_endoption", scalar(|_, _, a| instr(a))),
    ("regexp_instr_no_n", scalar(|_, _, a| instr(a))),
    ("regexp_instr_no_start", scalar(|_, _, a| instr(a))),
    ("regexp_substr", scalar(|_, _, a| substr(a))),
    ("regexp_substr_no_subexpr", scalar(|_, _, a| substr(a))),
    ("regexp_substr_no_flags", scalar(|_, _, a| substr(a))),
    ("regexp_substr_no_n", scalar(|_, _, a| substr(a))),
    ("regexp_substr_no_start", scalar(|_, _, a| substr(a))),
];

/// Functions in LANGUAGE sql over patterns: `substring(text, pattern, escape)`.
pub(super) const SQL_FUNCTIONS: &[(u32, super::Implementation)] = &[(
    2074,
    scalar(|cx, _, a| {
        let pattern = super::pattern::similar_to(cx, a[1].as_str(), Some(a[2].as_str()))?;
        substring(&[a[0], pattern])
    }),
)];
