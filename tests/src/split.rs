//! Splitting a script into statements, as psql does: at semicolons outside of quotes, comments and parentheses.

/// One statement of a script, without its semicolon.
#[derive(Debug, PartialEq, Eq)]
pub struct Statement<'a> {
    /// Whole comment lines in front of it.
    pub comment: &'a str,
    /// The statement's text.
    pub sql: &'a str,
}

/// The statements of a script. Comments inside a statement stay in it, those in front are set apart.
pub fn statements(script: &str) -> Vec<Statement<'_>> {
    let mut found = Vec::new();
    let mut rest = script;
    loop {
        let comment_end = leading_comments(rest);
        let (comment, body) = rest.split_at(comment_end);
        let end = statement_end(body);
        let sql = body[..end].trim();
        if sql.is_empty() && end == body.len() {
            return found;
        }
        found.push(Statement { comment: comment.trim(), sql });
        rest = body.get(end + 1..).unwrap_or("");
    }
}

fn leading_comments(text: &str) -> usize {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        if !trimmed.is_empty() && !trimmed.starts_with("--") {
            break;
        }
        at += line.len();
    }
    at
}

/// Where the first statement of the text ends: its semicolon, or the end of the text.
fn statement_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let rest = &text[at..];
        at += match byte {
            b';' => return at,
            b'\'' | b'"' => quoted(rest, at > 0 && byte == b'\'' && matches!(bytes[at - 1], b'e' | b'E')),
            b'-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            b'/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |n| n + 2),
            b'$' => dollar_quoted(rest),
            _ => rest.chars().next().map_or(1, char::len_utf8),
        };
    }
    text.len()
}

fn quoted(text: &str, escapes: bool) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        if escapes && bytes[at] == b'\\' {
            at += 2;
        } else if bytes[at] == bytes[0] {
            return at + 1;
        } else {
            at += 1;
        }
    }
    bytes.len()
}

fn dollar_quoted(text: &str) -> usize {
    let tag_end = text[1..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_').map(|n| n + 1);
    match tag_end {
        Some(end) if text[end..].starts_with('$') && !text[1..].starts_with(|c: char| c.is_ascii_digit()) => {
            let tag = &text[..=end];
            text[tag.len()..].find(tag).map_or(text.len(), |n| n + 2 * tag.len())
        }
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_outside_of_quotes_only() {
        let script =
            "-- one\nselect ';', \"a;b\";\nselect E'\\';' -- ;\n; select $x$;$x$, $1; /* ; */ select 2";
        let found: Vec<_> = statements(script).iter().map(|s| s.sql).collect();
        assert_eq!(
            found,
            ["select ';', \"a;b\"", "select E'\\';' -- ;", "select $x$;$x$, $1", "/* ; */ select 2"]
        );
        assert_eq!(statements(script)[0].comment, "-- one");
    }
}
