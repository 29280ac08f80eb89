//! What resolution needs to know of any type of pg_type, implemented or not: category, preference, element (compare `lsyscache.c`).

use catalog::Oid;
use catalog::pg::PG_TYPE;
use catalog::types::oid;
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// A type as overload resolution sees it.
#[derive(Clone, Debug)]
pub struct TypeInfo {
    /// typname
    pub name: &'static str,
    /// typcategory
    pub category: u8,
    /// typispreferred
    pub preferred: bool,
    /// typtype: `b`, `c`, `d`, `e`, `p`, `r`, `m`.
    pub kind: u8,
    /// Element type if this is a true array.
    pub element: Oid,
    /// typarray
    pub array: Oid,
}

/// What a row type of a user's relation is.
static COMPOSITE: TypeInfo = TypeInfo {
    name: "record",
    category: b'C',
    preferred: false,
    kind: b'c',
    element: Oid::INVALID,
    array: Oid::INVALID,
};

static TYPES: LazyLock<FxHashMap<Oid, TypeInfo>> = LazyLock::new(|| {
    let t = &*PG_TYPE;
    let column = |name| t.column(name);
    let (oid, name, category, preferred, kind, elem, array, subscript) = (
        column("oid"),
        column("typname"),
        column("typcategory"),
        column("typispreferred"),
        column("typtype"),
        column("typelem"),
        column("typarray"),
        column("typsubscript"),
    );
    let text = |row: &'static [Option<String>], at: usize| -> &'static str {
        row.get(at).and_then(|v| v.as_deref()).unwrap_or_default()
    };
    let number = |row: &'static [Option<String>], at: usize| Oid(text(row, at).parse().unwrap_or(0));
    let first = |text: &str| text.bytes().next().unwrap_or(b'X');
    let read = |row: &'static Vec<Option<String>>| {
        let is_array = matches!(text(row, subscript), "array_subscript_handler" | "6179");
        let info = TypeInfo {
            name: text(row, name),
            category: first(text(row, category)),
            preferred: text(row, preferred) == "t",
            kind: first(text(row, kind)),
            element: if is_array { number(row, elem) } else { Oid::INVALID },
            array: number(row, array),
        };
        (number(row, oid), info)
    };
    t.rows.iter().map(read).collect()
});

static BY_NAME: LazyLock<FxHashMap<&'static str, Oid>> =
    LazyLock::new(|| TYPES.iter().map(|(oid, info)| (info.name, *oid)).collect());

/// What is known of the type. OIDs outside pg_catalog are row types of relations.
pub fn info(typ: Oid) -> &'static TypeInfo {
    TYPES.get(&typ).unwrap_or(&COMPOSITE)
}

/// Whether pg_type has this row.
pub fn is_known(typ: Oid) -> bool {
    TYPES.contains_key(&typ)
}

/// The type of this name in pg_type.
pub fn by_name(name: &str) -> Option<Oid> {
    BY_NAME.get(name).copied()
}

/// `get_element_type`: zero unless a true array.
pub fn element_of(typ: Oid) -> Oid {
    info(typ).element
}

/// `get_array_type`: zero if there is none.
pub fn array_of(typ: Oid) -> Oid {
    info(typ).array
}

/// Whether values of the type are rows (`ISCOMPLEX`).
pub fn is_complex(typ: Oid) -> bool {
    info(typ).kind == b'c'
}

/// `IsPolymorphicType`
pub fn is_polymorphic(typ: Oid) -> bool {
    is_family_1(typ) || is_family_2(typ)
}

/// `IsPolymorphicTypeFamily1`: anyelement and its kin.
pub fn is_family_1(typ: Oid) -> bool {
    matches!(
        typ,
        oid::ANYELEMENT
            | oid::ANYARRAY
            | oid::ANYNONARRAY
            | oid::ANYENUM
            | oid::ANYRANGE
            | oid::ANYMULTIRANGE
    )
}

/// `IsPolymorphicTypeFamily2`: anycompatible and its kin.
pub fn is_family_2(typ: Oid) -> bool {
    matches!(
        typ,
        oid::ANYCOMPATIBLE
            | oid::ANYCOMPATIBLEARRAY
            | oid::ANYCOMPATIBLENONARRAY
            | ANYCOMPATIBLERANGE
            | ANYCOMPATIBLEMULTIRANGE
    )
}

/// anycompatiblerange
pub const ANYCOMPATIBLERANGE: Oid = Oid(5080);
/// anycompatiblemultirange
pub const ANYCOMPATIBLEMULTIRANGE: Oid = Oid(4538);

/// `format_type_be`, also for types that have no implementation.
pub fn format(typ: Oid) -> String {
    match catalog::types::format_type(typ, -1) {
        // `format_type_be` is not told of a modifier, and says so by the standard's name.
        blank_padded if blank_padded.starts_with("bpchar") => blank_padded.replace("bpchar", "character"),

        unknown if unknown == "???" => {
            let info = info(typ);
            if info.element.is_valid() { format(info.element) + "[]" } else { quoted(info.name) }
        }
        known => known,
    }
}

fn quoted(name: &str) -> String {
    match name {
        "any" | "char" => format!("\"{name}\""),
        "varbit" => "bit varying".to_owned(),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_know_their_elements() {
        assert_eq!(element_of(oid::INT4_ARRAY), oid::INT4);
        assert_eq!(array_of(oid::INT4), oid::INT4_ARRAY);
        assert_eq!(element_of(oid::INT2VECTOR), oid::INT2);
        assert_eq!(info(oid::TEXT).category, b'S');
        assert_eq!(format(oid::ANY), "\"any\"");
    }
}
