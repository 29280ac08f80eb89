//! Pseudo types and types whose values only PostgreSQL itself makes: they can be named and printed, but not read. Compare
//! PostgreSQL's `pseudotypes.c`.

use super::text::TEXT_LIKE;
use super::{Shape, Type, oid};
use crate::{Datum, Oid};

/// void: `SELECT f()` of a procedure-like function prints an empty string.
pub static VOID: Type = Type {
    oid: oid::VOID,
    name: "void",
    sql_name: "void",
    len: 4,
    category: b'P',
    shape: Shape::Bytes,
    input: |_, _| Ok(Datum::Bytes(b"")),
    receive: |_, _| Ok(Datum::Bytes(b"")),
    ..Type::BASE
};

/// anyarray: the columns of pg_statistic and pg_stats that hold arrays of a table's own types.
pub static ANYARRAY: Type = Type {
    oid: oid::ANYARRAY,
    name: "anyarray",
    sql_name: "anyarray",
    len: -1,
    category: b'P',
    output: super::array::print,
    ..Type::BASE
};

macro_rules! pseudo_types {
    ($($(#[$doc:meta])* $name:ident $typname:literal $sql:literal $oid:expr, $array:literal, $len:literal $category:literal;)*) => {
        $($(#[$doc])* pub static $name: Type = Type {
            oid: $oid, name: $typname, sql_name: $sql, array_oid: Oid($array), len: $len, category: $category, ..Type::BASE
        };)*
        /// All of them.
        pub(super) static PSEUDO_TYPES: &[&Type] = &[&VOID, &ANYARRAY, &PG_NODE_TREE, &ACLITEM, &XML, $(&$name),*];
    };
}

pseudo_types! {
    /// "any"
    ANY "any" "\"any\"" oid::ANY, 0, 4 b'P';
    /// anyelement
    ANYELEMENT "anyelement" "anyelement" oid::ANYELEMENT, 0, 4 b'P';
    /// anynonarray
    ANYNONARRAY "anynonarray" "anynonarray" oid::ANYNONARRAY, 0, 4 b'P';
    /// anyenum
    ANYENUM "anyenum" "anyenum" oid::ANYENUM, 0, 4 b'P';
    /// anyrange
    ANYRANGE "anyrange" "anyrange" oid::ANYRANGE, 0, -1 b'P';
    /// anymultirange
    ANYMULTIRANGE "anymultirange" "anymultirange" oid::ANYMULTIRANGE, 0, -1 b'P';
    /// anycompatible
    ANYCOMPATIBLE "anycompatible" "anycompatible" oid::ANYCOMPATIBLE, 0, 4 b'P';
    /// anycompatiblearray
    ANYCOMPATIBLEARRAY "anycompatiblearray" "anycompatiblearray" oid::ANYCOMPATIBLEARRAY, 0, -1 b'P';
    /// anycompatiblenonarray
    ANYCOMPATIBLENONARRAY "anycompatiblenonarray" "anycompatiblenonarray" oid::ANYCOMPATIBLENONARRAY, 0, 4 b'P';
    /// internal
    INTERNAL "internal" "internal" oid::INTERNAL, 0, 8 b'P';
    /// trigger
    TRIGGER "trigger" "trigger" oid::TRIGGER, 0, 4 b'P';
    /// event_trigger
    EVENT_TRIGGER "event_trigger" "event_trigger" Oid(3838), 0, 4 b'P';
    /// language_handler
    LANGUAGE_HANDLER "language_handler" "language_handler" Oid(2280), 0, 4 b'P';
    /// fdw_handler
    FDW_HANDLER "fdw_handler" "fdw_handler" Oid(3115), 0, 4 b'P';
    /// index_am_handler
    INDEX_AM_HANDLER "index_am_handler" "index_am_handler" Oid(325), 0, 4 b'P';
    /// tsm_handler
    TSM_HANDLER "tsm_handler" "tsm_handler" Oid(3310), 0, 4 b'P';
    /// table_am_handler
    TABLE_AM_HANDLER "table_am_handler" "table_am_handler" Oid(269), 0, 4 b'P';
    /// pg_ddl_command
    PG_DDL_COMMAND "pg_ddl_command" "pg_ddl_command" Oid(32), 0, 8 b'P';
}

/// pg_node_tree: columns like `pg_attrdef.adbin`; text that cannot be read.
pub static PG_NODE_TREE: Type = Type {
    oid: oid::PG_NODE_TREE,
    name: "pg_node_tree",
    sql_name: "pg_node_tree",
    category: b'Z',
    input: Type::BASE.input,
    receive: Type::BASE.receive,
    encode_key: None,
    decode_key: None,
    ..TEXT_LIKE
};

/// aclitem, as the text that PostgreSQL prints; what is read is taken as it is.
pub static ACLITEM: Type = Type {
    oid: oid::ACLITEM,
    name: "aclitem",
    sql_name: "aclitem",
    array_oid: oid::ACLITEM_ARRAY,
    len: 12,
    category: b'U',
    collatable: false,
    receive: Type::BASE.receive,
    ..TEXT_LIKE
};

/// xml: text that is kept as it is; it has no order and is not parsed.
pub static XML: Type = Type {
    oid: oid::XML,
    name: "xml",
    sql_name: "xml",
    array_oid: Oid(143),
    category: b'U',
    collatable: false,
    encode_key: None,
    decode_key: None,
    ..TEXT_LIKE
};
