//! LIKE and ILIKE. Compare `like.c`, `like_match.c`. Regular expressions are in `regex`.

use super::string::invalid;
use super::{Entry, EvalContext, scalar};
use catalog::{Datum, Result, SqlError, SqlState};

/// Whether the text matches the LIKE pattern. Backtracks to the last `%` only, which suffices since `%` matches anything.
pub(super) fn like(text: &[u8], pattern: &[u8], fold: bool) -> Result<bool> {
    let same = |a: u8, b: u8| if fold { a.eq_ignore_ascii_case(&b) } else { a == b };
    let (mut t, mut p) = (0, 0);
    // After the last `%`: where in the pattern, and where in the text its match ends so far.
    let mut star: Option<(usize, usize)> = None;
    loop {
        let step = match pattern.get(p) {
            Some(b'%') => {
                p += 1;
                star = Some((p, t));
                if p == pattern.len() {
                    return Ok(true);
                }
                continue;
            }
            None if t == text.len() => return Ok(true),
            None => None,
            // PostgreSQL does not look at the rest of the pattern once the text is used up.
            Some(_) if t == text.len() => None,
            Some(b'_') => Some((1, char_len(text, t))),
            Some(b'\\') => match pattern.get(p + 1) {
                None => {
                    return Err(SqlError::new(
                        SqlState::INVALID_ESCAPE_SEQUENCE,
                        "LIKE pattern must not end with escape character",
                    ));
                }
                Some(literal) => text.get(t).filter(|c| same(**c, *literal)).map(|_| (2, 1)),
            },
            Some(literal) => text.get(t).filter(|c| same(**c, *literal)).map(|_| (1, 1)),
        };
        match (step, star) {
            (Some((dp, dt)), _) => {
                p += dp;
                t += dt;
            }
            // Let the last `%` take one character more.
            (None, Some((after, end))) if end < text.len() => {
                let end = end + char_len(text, end);
                star = Some((after, end));
                p = after;
                t = end;
            }
            (None, _) => return Ok(false),
        }
    }
}

/// Bytes of the character that begins here.
fn char_len(text: &[u8], at: usize) -> usize {
    let rest = text.get(at + 1..).unwrap_or_default();
    1 + rest.iter().take_while(|b| **b & 0xc0 == 0x80).count()
}

/// LIKE ... ESCAPE: the pattern with backslash as its escape character (`like_escape`).
fn like_escape<'a>(cx: &EvalContext<'a>, pattern: &'a str, escape: &str) -> Result<&'a [u8]> {
    let mut chars = escape.chars();
    let (escape, more) = (chars.next(), chars.next());
    if more.is_some() {
        return Err(SqlError::new(SqlState::INVALID_ESCAPE_SEQUENCE, "invalid escape string")
            .hint("Escape string must be empty or one character."));
    }
    if escape == Some('\\') {
        return Ok(pattern.as_bytes());
    }
    cx.arena.build(|out| {
        let mut after_escape = false;
        for c in pattern.chars() {
            if Some(c) == escape && !after_escape {
                out.push(b'\\');
                after_escape = true;
                continue;
            }
            if c == '\\' && !after_escape {
                out.push(b'\\');
            }
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            after_escape = false;
        }
        Ok(())
    })
}

/// SIMILAR TO: the pattern as a regular expression (`similar_escape_internal`).
pub(super) fn similar_to<'a>(cx: &EvalContext<'a>, pattern: &str, escape: Option<&str>) -> Result<Datum<'a>> {
    let escape = match escape {
        None => Some('\\'),
        Some(text) => {
            let mut chars = text.chars();
            let first = chars.next();
            if chars.next().is_some() {
                return Err(SqlError::new(SqlState::INVALID_ESCAPE_SEQUENCE, "invalid escape string")
                    .hint("Escape string must be empty or one character."));
            }
            first
        }
    };
    let bytes = cx.arena.build(|out| {
        out.extend_from_slice(b"^(?:");
        let (mut after_escape, mut in_class, mut quotes) = (false, false, 0);
        for c in pattern.chars() {
            let mut push = |text: &str| out.extend_from_slice(text.as_bytes());
            if after_escape {
                if c == '"' && !in_class {
                    // The two marks that SUBSTRING ... SIMILAR uses to tell the wanted part.
                    match quotes {
                        0 => push("){1,1}?("),
                        1 => push("){1,1}(?:"),
                        _ => {
                            return Err(invalid(
                                "SQL regular expression may not contain more than two escape-double-quote separators",
                            ));
                        }
                    }
                    quotes += 1;
                } else {
                    push("\\");
                    push(c.encode_utf8(&mut [0; 4]));
                }
                after_escape = false;
            } else if Some(c) == escape {
                after_escape = true;
            } else if in_class {
                if c == '\\' {
                    push("\\");
                }
                push(c.encode_utf8(&mut [0; 4]));
                in_class = c != ']';
            } else {
                match c {
                    '[' => {
                        push("[");
                        in_class = true;
                    }
                    '%' => push(".*"),
                    '_' => push("."),
                    '(' => push("(?:"),
                    '\\' | '.' | '^' | '$' => {
                        push("\\");
                        push(c.encode_utf8(&mut [0; 4]));
                    }
                    other => push(other.encode_utf8(&mut [0; 4])),
                }
            }
        }
        out.extend_from_slice(b")$");
        Ok(())
    })?;
    Ok(Datum::Bytes(bytes))
}

macro_rules! matching {
    ($text:expr, $fold:literal, $wanted:literal) => {
        scalar(|_, _, a| {
            let text: fn(Datum<'_>) -> &[u8] = $text;
            like(text(a[0]), a[1].as_bytes(), $fold).map(|m| Datum::Bool(m == $wanted))
        })
    };
}

pub(super) const FUNCTIONS: &[Entry] = &[
    ("textlike", matching!(|d| d.as_bytes(), false, true)),
    ("textnlike", matching!(|d| d.as_bytes(), false, false)),
    ("namelike", matching!(|d| d.as_bytes(), false, true)),
    ("namenlike", matching!(|d| d.as_bytes(), false, false)),
    ("bytealike", matching!(|d| d.as_bytes(), false, true)),
    ("byteanlike", matching!(|d| d.as_bytes(), false, false)),
    ("texticlike", matching!(|d| d.as_bytes(), true, true)),
    ("texticnlike", matching!(|d| d.as_bytes(), true, false)),
    ("nameiclike", matching!(|d| d.as_bytes(), true, true)),
    ("nameicnlike", matching!(|d| d.as_bytes(), true, false)),
    ("like_escape", scalar(|cx, _, a| like_escape(cx, a[0].as_str(), a[1].as_str()).map(Datum::Bytes))),
    ("similar_to_escape_1", scalar(|cx, _, a| similar_to(cx, a[0].as_str(), None))),
    ("similar_to_escape_2", scalar(|cx, _, a| similar_to(cx, a[0].as_str(), Some(a[1].as_str())))),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn like_matches_as_postgresql_does() {
        let cases: [(&str, &str, bool); 10] = [
            ("abc", "a%", true),
            ("abc", "%c", true),
            ("abc", "a_c", true),
            ("äbc", "_bc", true),
            ("abc", "b%", false),
            ("a%c", "a\\%c", true),
            ("abc", "a\\%c", false),
            ("aXbXc", "%X%c", true),
            ("", "%", true),
            ("abcabd", "%ab_", true),
        ];
        for (text, pattern, expected) in cases {
            let matched = like(text.as_bytes(), pattern.as_bytes(), false).expect("a pattern");
            assert_eq!(matched, expected, "{text} LIKE {pattern}");
        }
        assert!(like(b"ABC", b"a%", true).expect("a pattern"));
        assert!(like(b"abc", b"abc\\", false).is_ok_and(|m| !m) || like(b"abc", b"abc\\", false).is_err());
    }
}
