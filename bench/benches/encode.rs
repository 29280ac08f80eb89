//! How long printing takes: the text form of 24 typical columns, all together and each alone.

use catalog::types::datetime::zone;
use catalog::types::{self, InputContext, Type};
use catalog::{Arena, Datum, Style};
use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;

/// Type and text of each column.
const COLUMNS: [(&str, &str); 24] = [
    ("bool", "t"),
    ("int2", "-12"),
    ("int4", "123456"),
    ("int8", "9007199254740993"),
    ("oid", "16384"),
    ("float4", "3.14"),
    ("float8", "0.1"),
    ("float8", "12345.678901234567"),
    ("numeric", "1234.56"),
    ("numeric", "12345678901234567890.123456789"),
    ("text", "a text of usual length"),
    ("varchar", "alice@example.com"),
    ("bpchar", "DE   "),
    ("name", "pg_class"),
    ("bytea", "\\x00112233445566778899aabbccddeeff"),
    ("date", "2024-02-29"),
    ("time", "12:34:56.789"),
    ("timetz", "12:34:56+02"),
    ("timestamp", "2024-02-29 12:34:56.789"),
    ("timestamptz", "2024-02-29 12:34:56.789+00"),
    ("interval", "1 year 2 mons 3 days 04:05:06"),
    ("uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
    ("json", "{\"a\": [1, 2, 3]}"),
    ("_int4", "{1,2,3}"),
];

fn encode(c: &mut Criterion) {
    let arena = Arena::new();
    let style = Style { time_zone: zone::by_name("UTC").expect("UTC"), ..Style::default() };
    let columns: Vec<(&'static Type, Datum<'_>)> = COLUMNS
        .iter()
        .map(|(name, text)| {
            let typ = types::by_name(name).expect("a type");
            let cx = InputContext { arena: &arena, style: &style, typ, typmod: -1, now: 0 };
            (typ, (typ.input)(text, &cx).expect("a value"))
        })
        .collect();
    let mut out = Vec::with_capacity(4096);
    c.bench_function("text of 24 columns", |b| {
        b.iter(|| {
            out.clear();
            for (typ, value) in black_box(&columns) {
                (typ.output)(*value, &style, &mut out);
            }
            out.len()
        });
    });
    for ((name, text), (typ, value)) in COLUMNS.iter().zip(&columns) {
        c.bench_function(&format!("text of {name} {text}"), |b| {
            b.iter(|| {
                out.clear();
                (typ.output)(black_box(*value), &style, &mut out);
                out.len()
            });
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).measurement_time(std::time::Duration::from_millis(400)).warm_up_time(std::time::Duration::from_millis(100));
    targets = encode
}
criterion_main!(benches);
