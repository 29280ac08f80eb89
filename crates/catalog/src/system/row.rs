//! A row of a system relation on its way: values by their meaning, in the order of the columns.

use super::SystemRelation;
use crate::types::{InputContext, by_oid, oid};
use crate::{Arena, Datum, Oid, Result, SqlError, Style};

/// The row.
pub struct Row<'a> {
    arena: &'a Arena,
    relation: &'a SystemRelation,
    values: Vec<Datum<'a>>,
}

impl<'a> Row<'a> {
    pub(super) fn new(arena: &'a Arena, relation: &'a SystemRelation) -> Self {
        Row { arena, relation, values: Vec::with_capacity(relation.columns.len()) }
    }

    pub(super) fn finish(self) -> Result<Vec<Datum<'a>>> {
        if self.values.len() != self.relation.columns.len() {
            return Err(SqlError::internal(format!(
                "{} values for the {} columns of {}",
                self.values.len(),
                self.relation.columns.len(),
                self.relation.name
            )));
        }
        Ok(self.values)
    }

    fn push(&mut self, value: Datum<'a>) -> &mut Self {
        self.values.push(value);
        self
    }

    /// An OID, also of the reg types and xid.
    pub fn oid(&mut self, value: Oid) -> &mut Self {
        self.push(Datum::Int(value.0.into()))
    }

    /// An integer.
    pub fn int(&mut self, value: i64) -> &mut Self {
        self.push(Datum::Int(value))
    }

    /// A float.
    pub fn float(&mut self, value: f64) -> &mut Self {
        self.push(Datum::Float(value))
    }

    /// A boolean.
    pub fn bool(&mut self, value: bool) -> &mut Self {
        self.push(Datum::Bool(value))
    }

    /// A `"char"`; zero is the empty one.
    pub fn char(&mut self, value: u8) -> &mut Self {
        // Signed, as "char" keeps it.
        self.push(Datum::Int(i64::from(value as i8)))
    }

    /// text, name, pg_node_tree.
    pub fn text(&mut self, value: &str) -> &mut Self {
        let value = Datum::Bytes(self.arena.bytes(value.as_bytes()));
        self.push(value)
    }

    /// A value in its packed form.
    pub fn bytes(&mut self, value: &[u8]) -> &mut Self {
        let value = Datum::Bytes(self.arena.bytes(value));
        self.push(value)
    }

    /// Text, or NULL.
    pub fn text_or_null(&mut self, value: Option<&str>) -> &mut Self {
        match value {
            Some(value) => self.text(value),
            None => self.null(),
        }
    }

    /// NULL
    pub fn null(&mut self) -> &mut Self {
        self.push(Datum::Null)
    }

    /// Several NULLs.
    pub fn nulls(&mut self, count: usize) -> &mut Self {
        for _ in 0..count {
            self.null();
        }
        self
    }

    /// int2vector or oidvector, as the column's type says.
    pub fn vector(&mut self, values: impl IntoIterator<Item = i64>) -> Result<&mut Self> {
        let list: Vec<String> = values.into_iter().map(|v| v.to_string()).collect();
        self.input(&list.join(" "))
    }

    /// An array of integers or OIDs, as the column's type says.
    pub fn array(&mut self, values: impl IntoIterator<Item = i64>) -> Result<&mut Self> {
        let list: Vec<String> = values.into_iter().map(|v| v.to_string()).collect();
        self.input(&format!("{{{}}}", list.join(",")))
    }

    /// An array of texts.
    pub fn text_array(&mut self, values: &[String]) -> Result<&mut Self> {
        let quoted: Vec<String> =
            values.iter().map(|v| format!("\"{}\"", v.replace('\\', "\\\\").replace('"', "\\\""))).collect();
        self.input(&format!("{{{}}}", quoted.join(",")))
    }

    /// A value by its text form.
    pub fn input(&mut self, text: &str) -> Result<&mut Self> {
        let column = self.relation.columns.get(self.values.len());
        let typ = column.map_or(oid::TEXT, |column| column.typ);
        let value = from_text(typ, text, self.arena)?;
        Ok(self.push(value))
    }
}

/// A value of a catalog column from its text form. Types that pgfusion lacks are kept as text.
pub fn from_text<'a>(typ: Oid, text: &str, arena: &'a Arena) -> Result<Datum<'a>> {
    match typ {
        // Captured as plain numbers.
        oid::OID | oid::REGPROC | oid::REGCLASS | oid::REGTYPE | oid::XID => {
            return Ok(Datum::Int(if text == "-" { 0 } else { text.parse().unwrap_or(0) }));
        }
        oid::PG_NODE_TREE => return Ok(Datum::Bytes(arena.bytes(text.as_bytes()))),
        _ => {}
    }
    let text = arena.str(text);
    let Some(found) = by_oid(typ) else { return Ok(Datum::Bytes(text.as_bytes())) };
    let style = Style::default();
    let cx = InputContext { arena, style: &style, typ: found, typmod: -1, now: 0 };
    // The value may borrow from a style that dies here only by its arena, so it is copied.
    let value = input(found, text, &cx)?;
    Ok(value.copy_in(arena))
}

fn input<'a>(typ: &'static crate::types::Type, text: &'a str, cx: &InputContext<'a>) -> Result<Datum<'a>> {
    (typ.input)(text, cx)
}
