//! Functions in LANGUAGE sql that the views of information_schema call. Their bodies take the place of the calls (compare
//! `inline_function` in `clauses.c` and `information_schema.sql`).

use super::scope::Scope;
use crate::bound::Expr;
use catalog::Result;

/// Name and body, with `$n` for the arguments.
const BODIES: &[(&str, &str)] = &[
    ("_pg_truetypid", "CASE WHEN ($2).typtype = 'd' THEN ($2).typbasetype ELSE ($1).atttypid END"),
    ("_pg_truetypmod", "CASE WHEN ($2).typtype = 'd' THEN ($2).typtypmod ELSE ($1).atttypmod END"),
    (
        "_pg_char_max_length",
        "CASE WHEN $2 = -1 THEN null WHEN $1 IN (1042, 1043) THEN $2 - 4 WHEN $1 IN (1560, 1562) THEN $2 ELSE null END",
    ),
    (
        "_pg_char_octet_length",
        "CASE WHEN $1 IN (25, 1042, 1043) THEN CASE WHEN $2 = -1 THEN 1073741824 WHEN $1 = 25 THEN null ELSE ($2 - 4) * 4 END ELSE null END",
    ),
    (
        "_pg_numeric_precision",
        "CASE $1 WHEN 21 THEN 16 WHEN 23 THEN 32 WHEN 20 THEN 64 WHEN 1700 THEN CASE WHEN $2 = -1 THEN null ELSE (($2 - 4) >> 16) & 65535 END \
         WHEN 700 THEN 24 WHEN 701 THEN 53 ELSE null END",
    ),
    (
        "_pg_numeric_precision_radix",
        "CASE WHEN $1 IN (21, 20, 23, 700, 701) THEN 2 WHEN $1 IN (1700) THEN 10 ELSE null END",
    ),
    (
        "_pg_numeric_scale",
        "CASE WHEN $1 IN (21, 23, 20) THEN 0 WHEN $1 IN (1700) THEN CASE WHEN $2 = -1 THEN null ELSE ($2 - 4) & 65535 END ELSE null END",
    ),
    (
        "_pg_datetime_precision",
        "CASE WHEN $1 IN (1082) THEN 0 WHEN $1 IN (1083, 1114, 1184, 1266) THEN CASE WHEN $2 < 0 THEN 6 ELSE $2 END \
         WHEN $1 IN (1186) THEN CASE WHEN $2 < 0 OR $2 & 65535 = 65535 THEN 6 ELSE $2 & 65535 END ELSE null END",
    ),
    (
        "_pg_interval_type",
        "CASE WHEN $1 IN (1186) THEN nullif(upper(btrim(substr(split_part(format_type($1, $2), '(', 1), 9))), '') ELSE null END",
    ),
    (
        "_pg_index_position",
        "(SELECT array_position((indkey)::int2[], $2) + 1 FROM pg_catalog.pg_index WHERE indexrelid = $1)",
    ),
];

impl Scope<'_> {
    /// A call of one of these functions, with its arguments bound.
    pub(super) fn inline(&self, name: &str, args: &[Expr]) -> Result<Option<Expr>> {
        let Some((_, body)) = BODIES.iter().find(|(n, _)| *n == name) else { return Ok(None) };
        let parsed = crate::parse::parse_expression(body)?;
        let before = self.arguments.replace(Some(args.to_vec()));
        let bound = self.expr(&parsed);
        self.arguments.replace(before);
        bound.map(Some)
    }

    /// Argument `$number` of the body around, as seen from here.
    pub(super) fn argument(&self, number: u32) -> Option<Expr> {
        let mut scope = Some(self);
        let mut level = 0;
        while let Some(at) = scope {
            if let Some(args) = at.arguments.borrow().as_ref() {
                let mut expr = args.get((number as usize).wrapping_sub(1))?.clone();
                super::visit::shift_levels(&mut expr, level);
                return Some(expr);
            }
            scope = at.parent;
            level += 1;
        }
        None
    }
}

/// A view's query with `_pg_expandarray(array) AS x`, whose rows are pairs, written as two set-returning functions side by side.
pub(super) fn expand_pairs(definition: &str) -> String {
    const CALL: &str = "information_schema._pg_expandarray(";
    let Some(start) = definition.find(CALL) else { return definition.to_owned() };
    let open = start + CALL.len();
    let mut depth = 1;
    let rest = definition.get(open..).unwrap_or_default();
    let close = rest.char_indices().find_map(|(i, c)| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(i)
    });
    let Some(close) = close else { return definition.to_owned() };
    let array = rest.get(..close).unwrap_or_default();
    let tail = rest.get(close + 1..).unwrap_or_default();
    let tail = tail.strip_prefix(" AS x").unwrap_or(tail);
    let head = definition.get(..start).unwrap_or_default();
    format!("{head}unnest({array}) AS x_x, generate_subscripts({array}, 1) AS x_n{tail}")
        .replace("(ss.x).n", "ss.x_n")
        .replace("(ss.x).x", "ss.x_x")
}
