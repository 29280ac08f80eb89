//! Checks that run over every listed type.

use super::{InputContext, Type, all, by_oid, oid};
use crate::{Arena, Datum, Oid, Style, pg};
use proptest::prelude::*;
use std::cmp::Ordering;

#[test]
fn identities_are_those_of_pg_type() {
    let table = &*pg::PG_TYPE;
    let column = |name| table.column(name);
    let (oid, name, len, category, preferred, array, element, collation) = (
        column("oid"),
        column("typname"),
        column("typlen"),
        column("typcategory"),
        column("typispreferred"),
        column("typarray"),
        column("typelem"),
        column("typcollation"),
    );
    let mut seen = 0;
    for row in &table.rows {
        let text = |column: usize| row[column].as_deref().unwrap_or_default();
        let Some(typ) = by_oid(Oid(text(oid).parse().expect("an OID"))) else { continue };
        seen += 1;
        assert_eq!(typ.name, text(name));
        assert_eq!(typ.len.to_string(), text(len), "length of {typ:?}");
        assert_eq!((typ.category as char).to_string(), text(category), "category of {typ:?}");
        assert_eq!(if typ.preferred { "t" } else { "f" }, text(preferred), "preference of {typ:?}");
        assert_eq!(typ.array_oid.to_string(), text(array), "array of {typ:?}");
        // typelem of name is "char", for subscripts only; ours says what is an array.
        if typ.category == b'A' || typ.is_array() {
            assert_eq!(typ.element.to_string(), text(element), "element of {typ:?}");
        }
        assert_eq!(typ.collatable, text(collation) != "0", "collation of {typ:?}");
    }
    assert_eq!(seen, all().count(), "every type of ours is one of PostgreSQL's");
}

/// Texts that a type reads, chosen to meet its corners.
fn samples(typ: &Type) -> Vec<&'static str> {
    match typ.name {
        "bool" => vec!["t", "f"],
        "int2" => vec!["0", "1", "-1", "32767", "-32768", "255", "256"],
        "int4" => vec!["0", "1", "-1", "2147483647", "-2147483648", "65536"],
        "int8" => vec!["0", "1", "-1", "9223372036854775807", "-9223372036854775808"],
        "oid" | "xid" | "cid" => vec!["0", "1", "4294967295", "65536"],
        "xid8" => vec!["0", "1", "18446744073709551615"],
        "tid" => vec!["(0,0)", "(1,2)", "(1,3)", "(4294967295,65535)"],
        "char" => vec!["", "a", "b", "\\200", "\\377"],
        "float4" => vec!["0", "-0", "1.5", "-1.5", "1e-45", "3.4e38", "NaN", "Infinity", "-Infinity"],
        "float8" => {
            vec!["0", "-0", "1.5", "-1.5", "5e-324", "1.7e308", "NaN", "Infinity", "-Infinity", "0.1"]
        }
        "numeric" => vec![
            "0",
            "0.00",
            "1",
            "1.0",
            "1.00",
            "-1",
            "1e100",
            "-1e100",
            "1e-100",
            "NaN",
            "Infinity",
            "-Infinity",
            "12345.6789",
            "99999999999999999999999999999999999999999",
            "0.1",
            "10",
            "100",
            "9.99",
            "-9.99",
            "-10",
        ],
        "date" => vec![
            "2000-01-01",
            "1999-12-31",
            "0001-01-01 BC",
            "5874897-12-31",
            "infinity",
            "-infinity",
            "2024-02-29",
        ],
        "time" => vec!["00:00", "24:00", "12:34:56.789", "23:59:59.999999"],
        "timetz" => vec!["00:00+00", "12:00+05", "12:00-05", "17:00+10", "07:00+00", "24:00-15:59"],
        "timestamp" | "timestamptz" => vec![
            "2000-01-01",
            "1999-12-31 23:59:59.999999",
            "4714-11-24 BC",
            "294276-12-31 23:59:59",
            "infinity",
            "-infinity",
            "2024-02-29 12:34:56.5",
            "0044-03-15 BC",
        ],
        "interval" => vec![
            "0",
            "1 month",
            "30 days",
            "720 hours",
            "-1 month",
            "1 day",
            "24 hours",
            "1 day -1 microsecond",
            "178000000 years",
            "-178000000 years",
            "2147483647 days",
            "1 year 2 mons -3 days 04:05:06.7",
        ],
        "uuid" => vec![
            "00000000-0000-0000-0000-000000000000",
            "ffffffff-ffff-ffff-ffff-ffffffffffff",
            "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}",
        ],
        "bytea" => vec!["\\x", "\\x00", "\\x0000", "\\x00ff", "\\x01", "\\xff", "\\x61", "abc"],
        "text" | "varchar" | "name" => {
            vec!["", "a", "ab", "b", "ä", "€", "a b", "NULL", "\"q\"", "back\\slash"]
        }
        "bpchar" => vec!["", " ", "a", "a  ", "ab", "b", "ä"],
        "json" => vec!["{}", "[1, 2]", " \"x\" ", "null", "-1.5e3"],
        "pg_lsn" => vec!["0/0", "16/B374D848", "FFFFFFFF/FFFFFFFF"],
        "int2vector" => vec!["", "1", "1 2", "-1 3", "2"],
        "oidvector" => vec!["", "1", "1 2", "4294967295", "2"],
        "aclitem" => vec!["postgres=r/postgres"],
        "xml" => vec!["<a/>"],
        name if name.starts_with("reg") => vec!["-", "1", "4294967295"],
        _ => Vec::new(),
    }
}

/// Array texts over the samples of the element type.
fn array_samples(typ: &Type) -> Vec<String> {
    let Some(element) = by_oid(typ.element) else { return Vec::new() };
    let quoted: Vec<String> = samples(element)
        .iter()
        .map(|s| format!("\"{}\"", s.replace('\\', "\\\\").replace('"', "\\\"")))
        .collect();
    if quoted.is_empty() {
        return Vec::new();
    }
    let (first, last) = (&quoted[0], &quoted[quoted.len() - 1]);
    let mut texts = vec![
        "{}".into(),
        "{NULL}".into(),
        format!("{{{}}}", quoted.join(",")),
        format!("{{{first},NULL,{last}}}"),
        format!("{{{{{first},{last}}},{{{last},{first}}}}}"),
        format!("[-1:0]={{{first},{last}}}"),
    ];
    texts.extend(quoted.iter().map(|q| format!("{{{q}}}")));
    texts
}

/// Reads the texts and checks on every value and pair: what is printed and sent reads back as an equal value, keys order as
/// `compare` orders, equal values have equal keys, and keys that decode give the value back.
fn check(typ: &'static Type, texts: &[String]) {
    let (arena, style) = (Arena::new(), Style::default());
    let cx = InputContext { arena: &arena, style: &style, typ, typmod: -1, now: 0 };
    let mut values: Vec<(Datum<'_>, Vec<u8>)> = Vec::new();
    for text in texts {
        let value = (typ.input)(text, &cx).unwrap_or_else(|e| panic!("{typ:?} reads {text:?}: {e}"));
        let mut printed = Vec::new();
        (typ.output)(value, &style, &mut printed);
        let printed = arena.str(std::str::from_utf8(&printed).expect("UTF-8"));
        let again =
            (typ.input)(printed, &cx).unwrap_or_else(|e| panic!("{typ:?} reads its own {printed:?}: {e}"));
        assert!((typ.compare)(value, again).is_eq(), "{typ:?}: {text:?} printed as {printed:?}");
        let mut sent = Vec::new();
        (typ.send)(value, &style, &mut sent);
        if typ.name != "aclitem" && typ.name != "_aclitem" {
            let sent = arena.bytes(&sent);
            let received =
                (typ.receive)(sent, &cx).unwrap_or_else(|e| panic!("{typ:?} receives its own {text:?}: {e}"));
            let mut sent_again = Vec::new();
            (typ.send)(received, &style, &mut sent_again);
            assert_eq!(sent, sent_again, "{typ:?} {text:?}");
            assert!(
                (typ.receive)(&sent[..sent.len().saturating_sub(1)], &cx).is_err()
                    || typ.physical == super::Physical::Bytes
            );
        }
        let mut key = Vec::new();
        if let Some(encode) = typ.encode_key {
            encode(value, &mut key);
            if let Some(decode) = typ.decode_key {
                let mut with_more = key.clone();
                with_more.extend_from_slice(&[0, 255, 7]);
                let mut rest = arena.bytes(&with_more);
                let decoded = decode(&mut rest, &arena).expect("a key of our own");
                assert_eq!(decoded, value, "{typ:?} {text:?}");
                assert_eq!(rest, [0, 255, 7], "{typ:?}: keys delimit themselves");
            }
        }
        values.push((value, key));
    }
    if typ.encode_key.is_none() {
        return;
    }
    for (a, key_a) in &values {
        for (b, key_b) in &values {
            let order = (typ.compare)(*a, *b);
            assert_eq!(order, key_a.cmp(key_b), "{typ:?} {a:?} {b:?}");
            assert_eq!(order, (typ.compare)(*b, *a).reverse());
            // Keys in composite keys are followed by others: no key may be the beginning of another.
            if order != Ordering::Equal {
                assert!(!key_b.starts_with(key_a), "{typ:?} {a:?} {b:?}");
            }
        }
    }
}

#[test]
fn every_type_keeps_its_promises() {
    for typ in all() {
        let texts = if typ.is_array() {
            array_samples(typ)
        } else {
            samples(typ).into_iter().map(str::to_owned).collect()
        };
        check(typ, &texts);
    }
}

fn strategy(typ: &'static Type) -> BoxedStrategy<String> {
    match typ.oid {
        oid::INT2 => any::<i16>().prop_map(|v| v.to_string()).boxed(),
        oid::INT4 => any::<i32>().prop_map(|v| v.to_string()).boxed(),
        oid::INT8 => any::<i64>().prop_map(|v| v.to_string()).boxed(),
        oid::FLOAT4 => any::<f32>().prop_map(|v| v.to_string()).boxed(),
        oid::FLOAT8 => any::<f64>().prop_map(|v| v.to_string()).boxed(),
        oid::NUMERIC => "-?[0-9]{1,50}(\\.[0-9]{0,30})?(e-?[0-9]{1,2})?".boxed(),
        oid::TEXT | oid::BPCHAR => "[^\0]{0,12}".boxed(),
        oid::BYTEA => proptest::collection::vec(any::<u8>(), 0..12)
            .prop_map(|bytes| bytes.iter().fold("\\x".to_owned(), |text, b| format!("{text}{b:02x}")))
            .boxed(),
        oid::INTERVAL => (any::<i16>(), any::<i16>(), any::<i32>())
            .prop_map(|(months, days, micros)| format!("{months} mons {days} days {micros} us"))
            .boxed(),
        _ => "(19|20)[0-9]{2}-0[1-9]-[12][0-8] [01][0-9]:[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,6})?".boxed(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_values_keep_the_promises_too(seeds in proptest::collection::vec(any::<u64>(), 12)) {
        use proptest::strategy::ValueTree;
        use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
        for id in [oid::INT2, oid::INT4, oid::INT8, oid::FLOAT4, oid::FLOAT8, oid::NUMERIC, oid::TEXT, oid::BPCHAR, oid::BYTEA, oid::INTERVAL, oid::DATE, oid::TIMESTAMP, oid::TIMESTAMPTZ] {
            let typ = by_oid(id).expect("a type of ours");
            let texts: Vec<String> = seeds
                .iter()
                .map(|seed| {
                    let mut bytes = [0u8; 32];
                    bytes[..8].copy_from_slice(&seed.to_le_bytes());
                    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
                    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
                    strategy(typ).new_tree(&mut runner).expect("a sample").current()
                })
                .collect();
            check(typ, &texts);
        }
    }

    #[test]
    fn no_text_and_no_bytes_make_a_type_panic(
        words in proptest::collection::vec("[0-9]{1,20}|[-+:./ ,{}\\[\\]\"\\\\()=@]|[a-z]{1,3}|jan|bc|ago|year|now|t|j|y|h|s|P|T|infinity|nan|e[-+]?[0-9]{1,4}|\\PC", 0..10),
        bytes in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        let (arena, text) = (Arena::new(), words.concat());
        for interval_style in [crate::IntervalStyle::Postgres, crate::IntervalStyle::SqlStandard] {
            let style = Style { interval_style, ..Style::default() };
            for typ in all() {
                let cx = InputContext { arena: &arena, style: &style, typ, typmod: -1, now: 0 };
                for value in [(typ.input)(&text, &cx), (typ.receive)(&bytes, &cx)].into_iter().flatten() {
                    let mut out = Vec::new();
                    (typ.output)(value, &style, &mut out);
                    (typ.send)(value, &style, &mut out);
                    if let Some(encode) = typ.encode_key {
                        encode(value, &mut out);
                    }
                }
                // Stored forms that are damaged must not panic either.
                if typ.shape == super::Shape::Bytes {
                    let mut out = Vec::new();
                    (typ.output)(Datum::Bytes(&bytes), &style, &mut out);
                    let _ = (typ.compare)(Datum::Bytes(&bytes), Datum::Bytes(&bytes));
                }
            }
        }
    }
}
