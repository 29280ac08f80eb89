//! What does a value cost on its way from a row to a DataRow message?

use catalog::Datum;
use catalog::types::{Type, bpchar, float, int, text};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::sync::Arc;
use wire::serialize::{ColumnWriters, RowSerializer};

fn serialize(criterion: &mut Criterion) {
    let line = "x".repeat(60);
    let cases: [(&str, Vec<&'static Type>, Vec<Datum<'_>>); 4] = [
        ("int4", vec![&int::INT4; 8], (0..8).map(|i| Datum::Int(i * 7919 + 1)).collect()),
        ("text60", vec![&text::TEXT; 8], vec![Datum::text(&line); 8]),
        ("float8", vec![&float::FLOAT8; 8], (0..8).map(|i| Datum::Float(i as f64 * 1.37)).collect()),
        (
            "sysbench",
            vec![&int::INT4, &int::INT4, &bpchar::BPCHAR, &bpchar::BPCHAR],
            vec![Datum::Int(500_123), Datum::Int(49_999), Datum::text(&line), Datum::text(&line)],
        ),
    ];
    for (name, types, row) in &cases {
        for format in [0, 1] {
            let writers = ColumnWriters::new(types.iter().copied(), |_| format).expect("valid formats");
            let serializer = RowSerializer::new(writers, Arc::default());
            let mut out = Vec::with_capacity(128 << 10);
            let mut group = criterion.benchmark_group(if format == 0 { "text" } else { "binary" });
            group.throughput(Throughput::Elements(row.len() as u64));
            group.bench_function(*name, |bencher| {
                bencher.iter(|| {
                    if out.len() > 64 << 10 {
                        out.clear();
                    }
                    serializer.row(black_box(row), &mut out);
                });
            });
        }
    }
}

criterion_group!(benches, serialize);
criterion_main!(benches);
