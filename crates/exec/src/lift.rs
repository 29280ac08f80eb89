//! Lifting literals: a simple query that differs from an earlier one only in its literals shares that one's plan.
//!
//! The text is read token by token, far more cheaply than it is parsed. Every number and plain string that can become a typed
//! parameter is replaced by `$n`; what is left, with the literals' kinds, is the key that the plan cache is asked by. Literals that
//! shape a plan or a type stay in the text:
//!
//! - in ORDER BY and GROUP BY lists (they are column positions there) and DISTINCT ON,
//! - in LIMIT and FETCH FIRST: how many rows are wanted decides between ways to get them,
//! - type modifiers (`varchar(10)`), typed literals (`date '2020-01-01'`, `interval '1' day`), also after `::` and `AS`,
//! - strings with escapes (`E'..'`, `U&'..'`, `$$..$$`), and those next to another string (they are one literal).
//!
//! Lifting is tried, never trusted: where the lifted statement does not bind, the statement as written is bound instead, and the
//! cache remembers that. Only SELECT, INSERT, UPDATE, DELETE, VALUES and WITH are lifted.

/// What a lifted literal is before its context gives it a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LiteralKind {
    /// Fits an integer.
    Int4,
    /// Fits a bigint.
    Int8,
    /// Any other number.
    Numeric,
    /// A string: of type unknown.
    Unknown,
}

/// A literal taken out of a statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Literal {
    /// Its kind.
    pub kind: LiteralKind,
    /// Where it starts in the text, in bytes.
    pub start: usize,
    /// Where it ends. For a string both quotes are inside.
    pub end: usize,
}

/// A statement with its literals lifted. Reused from statement to statement.
#[derive(Default, Debug)]
pub struct Lifted {
    /// The text with `$n` for each literal.
    pub text: String,
    /// The literals.
    pub literals: Vec<Literal>,
    /// The kinds as bytes: with the text, the cache key.
    pub kinds: Vec<u8>,
}

/// Statements with more literals are bound as they are: a bulk INSERT gains nothing.
const LITERALS_MAX: usize = 64;
/// Longer statements are bound as they are.
const BYTES_MAX: usize = 16 * 1024;

/// The clause that the scan is in, as far as it matters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Clause {
    /// Literals may be lifted.
    Free,
    /// ORDER BY, GROUP BY and the like: they stay.
    Fixed,
}

/// What the last token was, as far as it matters to the next literal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// Anything after which a literal stands for itself.
    Other,
    /// A word that is not a keyword after which expressions begin: a literal behind it belongs to it.
    Name,
    /// A word whose parenthesis holds modifiers.
    TypeName,
    /// A string.
    Text,
    /// `::`, or AS.
    Cast,
    /// The type name behind a cast.
    CastType,
}

impl Lifted {
    /// Reads `sql`; false if it is not to be lifted (several statements, parameters, other kinds of statements, too long).
    pub fn read(&mut self, sql: &str) -> bool {
        self.text.clear();
        self.literals.clear();
        self.kinds.clear();
        sql.len() <= BYTES_MAX && self.scan(sql).is_some()
    }

    fn scan(&mut self, sql: &str) -> Option<()> {
        let bytes = sql.as_bytes();
        let mut at = 0;
        let mut copied = 0;
        let mut last = Last::Other;
        let mut first_word = true;
        // One clause per open parenthesis.
        let mut clauses = vec![Clause::Free];
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => at += 1,
                b'-' if bytes.get(at + 1) == Some(&b'-') => {
                    at += memchr::memchr2(b'\n', b'\r', &bytes[at..]).unwrap_or(bytes.len() - at);
                }
                // Nested comments are rare, and the parser knows them.
                b'/' if bytes.get(at + 1) == Some(&b'*') => return None,
                b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => {
                    let start = at;
                    while bytes
                        .get(at)
                        .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | 0x80..))
                    {
                        at += 1;
                    }
                    let word = bytes.get(start..at)?;
                    let quoted = match bytes.get(at) {
                        Some(b'&') => bytes.get(at + 1) == Some(&b'\''),
                        other => other == Some(&b'\''),
                    };
                    if quoted && is_string_prefix(word) {
                        return None;
                    }
                    if first_word {
                        if !is_liftable_start(word) {
                            return None;
                        }
                        first_word = false;
                    }
                    last = self.word(word, last, clauses.last_mut()?);
                }
                b'"' => {
                    at += 1 + memchr::memchr(b'"', bytes.get(at + 1..)?)? + 1;
                    last = if last == Last::Cast { Last::CastType } else { Last::Name };
                }
                b'\'' => {
                    let start = at;
                    at = string_end(bytes, at)?;
                    if last == Last::Text {
                        // Two strings in a row are one literal; the parser knows when.
                        return None;
                    }
                    let free = clauses.last() == Some(&Clause::Free) && matches!(last, Last::Other);
                    if free {
                        self.lift(sql, &mut copied, Literal { kind: LiteralKind::Unknown, start, end: at })?;
                    }
                    last = Last::Text;
                }
                b'0'..=b'9' => {
                    let start = at;
                    let kind;
                    (at, kind) = number_end(bytes, at)?;
                    // `-2147483648` is one constant: its sign decides its type.
                    let signed =
                        kind != LiteralKind::Int4 && start > 0 && bytes.get(start - 1) == Some(&b'-');
                    let free = clauses.last() == Some(&Clause::Free) && last == Last::Other && !signed;
                    if free {
                        self.lift(sql, &mut copied, Literal { kind, start, end: at })?;
                    }
                    last = Last::Name;
                }
                b'.' if bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => return None,
                b'$' => return None,
                b';' => {
                    // Only white space may follow.
                    if bytes.get(at + 1..)?.iter().any(|b| !b.is_ascii_whitespace()) {
                        return None;
                    }
                    self.text.push_str(sql.get(copied..at)?);
                    return self.finish(first_word);
                }
                b'(' => {
                    let fixed = clauses.last() == Some(&Clause::Fixed)
                        || matches!(last, Last::TypeName | Last::CastType | Last::Cast);
                    clauses.push(if fixed { Clause::Fixed } else { Clause::Free });
                    last = Last::Other;
                    at += 1;
                }
                b')' => {
                    clauses.pop();
                    if clauses.is_empty() {
                        return None;
                    }
                    last = Last::Name;
                    at += 1;
                }
                b':' if bytes.get(at + 1) == Some(&b':') => {
                    last = Last::Cast;
                    at += 2;
                }
                b'.' => {
                    // A qualified name goes on.
                    at += 1;
                }
                b']' => {
                    last = Last::Name;
                    at += 1;
                }
                _ => {
                    last = Last::Other;
                    at += 1;
                }
            }
        }
        self.text.push_str(sql.get(copied..)?);
        self.finish(first_word)
    }

    fn finish(&self, empty: bool) -> Option<()> {
        (!empty).then_some(())
    }

    /// What a word means to the literal behind it, and to its clause.
    fn word(&self, word: &[u8], last: Last, clause: &mut Clause) -> Last {
        if last == Last::Cast {
            return Last::CastType;
        }
        if last == Last::CastType {
            // `double precision`, `timestamp with time zone`: still the type, unless a clause begins.
            if !is_expression_keyword(word) {
                return Last::CastType;
            }
        }
        let mut upper = [0u8; 12];
        let Some(buffer) = upper.get_mut(..word.len()) else { return Last::Name };
        buffer.copy_from_slice(word);
        buffer.make_ascii_uppercase();
        match &*buffer {
            b"ORDER" | b"GROUP" | b"PARTITION" | b"FETCH" | b"DISTINCT" | b"LIMIT" => {
                *clause = Clause::Fixed;
                Last::Other
            }
            b"OFFSET" | b"WHERE" | b"HAVING" | b"FROM" | b"SELECT" | b"VALUES" | b"SET" | b"UNION"
            | b"INTERSECT" | b"EXCEPT" | b"RETURNING" | b"ON" => {
                *clause = Clause::Free;
                Last::Other
            }
            b"AS" => Last::Cast,
            b"VARCHAR" | b"CHAR" | b"CHARACTER" | b"BPCHAR" | b"NUMERIC" | b"DECIMAL" | b"DEC" | b"BIT"
            | b"VARBIT" | b"TIME" | b"TIMESTAMP" | b"TIMETZ" | b"TIMESTAMPTZ" | b"INTERVAL" | b"FLOAT"
            | b"VARYING" | b"NCHAR" | b"LOCALTIME" | b"CURRENT_TIME" => Last::TypeName,
            other if is_expression_keyword(other) => Last::Other,
            _ => Last::Name,
        }
    }

    fn lift(&mut self, sql: &str, copied: &mut usize, literal: Literal) -> Option<()> {
        if self.literals.len() == LITERALS_MAX {
            return None;
        }
        self.text.push_str(sql.get(*copied..literal.start)?);
        self.text.push('$');
        let number = self.literals.len() + 1;
        if number >= 10 {
            self.text.push((b'0' + (number / 10) as u8) as char);
        }
        self.text.push((b'0' + (number % 10) as u8) as char);
        *copied = literal.end;
        self.kinds.push(literal.kind as u8);
        self.literals.push(literal);
        Some(())
    }
}

/// Keywords after which an expression begins, so that a literal behind one stands for itself.
fn is_expression_keyword(word: &[u8]) -> bool {
    let mut upper = [0u8; 10];
    let Some(buffer) = upper.get_mut(..word.len()) else { return false };
    buffer.copy_from_slice(word);
    buffer.make_ascii_uppercase();
    matches!(
        &*buffer,
        b"SELECT"
            | b"WHERE"
            | b"AND"
            | b"OR"
            | b"NOT"
            | b"IN"
            | b"LIKE"
            | b"ILIKE"
            | b"BETWEEN"
            | b"SYMMETRIC"
            | b"VALUES"
            | b"SET"
            | b"WHEN"
            | b"THEN"
            | b"ELSE"
            | b"CASE"
            | b"LIMIT"
            | b"OFFSET"
            | b"HAVING"
            | b"ALL"
            | b"ANY"
            | b"SOME"
            | b"RETURNING"
            | b"ON"
            | b"FROM"
            | b"UNION"
            | b"EXCEPT"
            | b"INTERSECT"
            | b"ESCAPE"
            | b"DISTINCT"
    )
}

fn is_liftable_start(word: &[u8]) -> bool {
    [&b"SELECT"[..], b"INSERT", b"UPDATE", b"DELETE", b"WITH", b"VALUES"]
        .iter()
        .any(|k| word.eq_ignore_ascii_case(k))
}

/// `E'..'`, `B'..'`, `X'..'`, `N'..'`, `U&'..'`
fn is_string_prefix(word: &[u8]) -> bool {
    matches!(word, [b'e' | b'E' | b'b' | b'B' | b'x' | b'X' | b'n' | b'N' | b'u' | b'U'])
}

/// One past the closing quote. Doubled quotes stay inside; a backslash in a plain string means nothing.
fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at += memchr::memchr(b'\'', bytes.get(at..)?)? + 1;
        if bytes.get(at) != Some(&b'\'') {
            return Some(at);
        }
        at += 1;
    }
}

fn number_end(bytes: &[u8], start: usize) -> Option<(usize, LiteralKind)> {
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let mut at = digits(start);
    let integer_end = at;
    let mut integer = true;
    if bytes.get(at) == Some(&b'.') {
        if bytes.get(at + 1) == Some(&b'.') {
            return None;
        }
        integer = false;
        at = digits(at + 1);
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        integer = false;
        at += 1;
        if matches!(bytes.get(at), Some(b'+' | b'-')) {
            at += 1;
        }
        if !bytes.get(at).is_some_and(u8::is_ascii_digit) {
            return None;
        }
        at = digits(at);
    }
    if bytes.get(at).is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'$' | 0x80..)) {
        return None;
    }
    let kind = if !integer {
        LiteralKind::Numeric
    } else {
        let text = std::str::from_utf8(bytes.get(start..integer_end)?).ok()?;
        match text.parse::<i64>() {
            // With a minus before them these two have the next smaller type, which a parameter's own type cannot say.
            Ok(2_147_483_648) => return None,
            Err(_) if text == "9223372036854775808" => return None,
            Ok(value) if i32::try_from(value).is_ok() => LiteralKind::Int4,
            Ok(_) => LiteralKind::Int8,
            Err(_) => LiteralKind::Numeric,
        }
    };
    Some((at, kind))
}

/// The text inside a string literal's quotes, doubled quotes made single.
pub fn unquote(literal: &str) -> std::borrow::Cow<'_, str> {
    let inner = literal.get(1..literal.len().saturating_sub(1)).unwrap_or_default();
    if inner.contains("''") { inner.replace("''", "'").into() } else { inner.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lifted(sql: &str) -> Option<(String, Vec<String>)> {
        let mut lifted = Lifted::default();
        lifted.read(sql).then(|| {
            let literals = lifted.literals.iter().map(|l| sql[l.start..l.end].to_owned()).collect();
            (lifted.text, literals)
        })
    }

    #[test]
    fn literals_become_parameters() {
        let (text, literals) = lifted("SELECT c FROM sbtest1 WHERE id=5047").expect("lifts");
        assert_eq!(text, "SELECT c FROM sbtest1 WHERE id=$1");
        assert_eq!(literals, ["5047"]);
        let (text, literals) = lifted("INSERT INTO t (id, c) VALUES (0, 'it''s'), (-3, '')").expect("lifts");
        assert_eq!(text, "INSERT INTO t (id, c) VALUES ($1, $2), (-$3, $4)");
        assert_eq!(literals, ["0", "'it''s'", "3", "''"]);
        let (text, _) = lifted("UPDATE t SET c='x' WHERE id IN (1,2) LIMIT 5;  ").expect("lifts");
        assert_eq!(text, "UPDATE t SET c=$1 WHERE id IN ($2,$3) LIMIT 5");
    }

    #[test]
    fn literals_that_shape_the_plan_stay() {
        let (text, _) =
            lifted("SELECT a::varchar(10), cast(b AS numeric(8,2)) FROM t WHERE x > 1 ORDER BY 2 LIMIT 3")
                .expect("lifts");
        assert_eq!(
            text,
            "SELECT a::varchar(10), cast(b AS numeric(8,2)) FROM t WHERE x > $1 ORDER BY 2 LIMIT 3"
        );
        let (text, _) =
            lifted("SELECT date '2020-01-01' + 1, interval '1' day, count(*) FROM t GROUP BY 1, 2")
                .expect("lifts");
        assert_eq!(text, "SELECT date '2020-01-01' + $1, interval '1' day, count(*) FROM t GROUP BY 1, 2");
        let (text, _) = lifted("SELECT x FROM t1 WHERE y < 1.5e3 AND z = 99999999999").expect("lifts");
        assert_eq!(text, "SELECT x FROM t1 WHERE y < $1 AND z = $2");
    }

    #[test]
    fn what_is_not_one_plain_statement_is_left_alone() {
        for sql in [
            "SELECT 1; SELECT 2",
            "SELECT $1",
            "SET x = 5",
            "",
            "SELECT E'a\\n'",
            "SELECT /* c */ 1",
            "SELECT 'a' 'b'",
            "SELECT 'unterminated",
            "SELECT $$a$$",
            "SELECT U&'x'",
        ] {
            assert_eq!(lifted(sql), None, "{sql}");
        }
    }
}
