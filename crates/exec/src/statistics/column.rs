//! One column's statistics from a sample of its values (`compute_scalar_stats` and its like in `analyze.c`).

use catalog::Datum;
use catalog::statistics::{ColumnStatistics, PackedArray};
use catalog::types::array::{Dimension, build_array};
use catalog::types::{Physical, Type};

/// Longer values count, but are neither compared nor kept (`WIDTH_THRESHOLD`).
const WIDE: usize = 1_024;

/// The statistics of a column with these values, in the order of the rows, out of `total` rows.
pub fn statistics(
    place: u16,
    typ: &'static Type,
    values: &[Datum<'_>],
    total: f64,
    target: usize,
) -> ColumnStatistics {
    let rows = values.len() as f64;
    let present = values.iter().filter(|v| !v.is_null()).count();
    let bytes: usize = values.iter().map(|v| width(typ, *v)).sum();
    let mut found = ColumnStatistics {
        column: place,
        typ: typ.oid,
        null_fraction: (rows - present as f64) / rows,
        width: match (typ.len, present) {
            (1.., _) => typ.len.into(),
            (_, 0) => 0,
            _ => (bytes as f64 / present as f64) as i32,
        },
        distinct: 0.0,
        common: PackedArray::default(),
        frequencies: Vec::new(),
        histogram: PackedArray::default(),
        correlation: None,
    };
    if present > 0 && typ.encode_key.is_some() {
        scalar(&mut found, typ, values, total, target);
    }
    found
}

/// Bytes as PostgreSQL stores the value: with a length of one byte for short ones.
fn width(typ: &Type, value: Datum<'_>) -> usize {
    match value {
        Datum::Null => 0,
        Datum::Bytes(b) if typ.physical == Physical::Bytes => b.len() + if b.len() < 127 { 1 } else { 4 },
        _ => usize::try_from(typ.len).unwrap_or(8),
    }
}

/// A value that occurs more than once: how often, and where its run of sorted values begins.
#[derive(Clone, Copy)]
struct Track {
    count: usize,
    first: usize,
}

fn scalar(found: &mut ColumnStatistics, typ: &'static Type, values: &[Datum<'_>], total: f64, target: usize) {
    let narrow = |v: &Datum<'_>| !matches!(v, Datum::Bytes(b) if b.len() > WIDE);
    let kept = values.iter().filter(|v| !v.is_null() && narrow(v)).copied();
    let mut sorted: Vec<(Datum<'_>, usize)> = kept.enumerate().map(|(i, v)| (v, i)).collect();
    let present = values.iter().filter(|v| !v.is_null()).count();
    let wide = present - sorted.len();
    // Wide values are taken to be all different.
    if sorted.is_empty() {
        found.distinct = -(1.0 - found.null_fraction);
        return;
    }
    sorted.sort_unstable_by(|a, b| (typ.compare)(a.0, b.0).then(a.1.cmp(&b.1)));
    let (mut distinct, mut multiple, mut sum) = (0usize, 0usize, 0f64);
    let mut tracks: Vec<Track> = Vec::with_capacity(target + 1);
    let mut start = 0;
    for (i, (value, row)) in sorted.iter().enumerate() {
        sum += i as f64 * *row as f64;
        let last = sorted.get(i + 1).is_none_or(|next| (typ.compare)(*value, next.0).is_ne());
        if !last {
            continue;
        }
        distinct += 1;
        let count = i + 1 - start;
        if count > 1 {
            multiple += 1;
            let at = tracks.partition_point(|t| t.count >= count);
            if at < target {
                tracks.insert(at, Track { count, first: start });
                tracks.truncate(target);
            }
        }
        start = i + 1;
    }
    found.distinct = estimate_distinct(found, values.len(), distinct, multiple, wide, total);
    let common = if tracks.len() == distinct && wide == 0 && found.distinct > 0.0 {
        tracks.len()
    } else {
        worth_keeping(&tracks, found, values.len(), total)
    };
    tracks.truncate(common);
    let element = |list: &[Datum<'_>]| {
        let mut packed = Vec::new();
        build_array(typ, list, &[Dimension { len: list.len() as i32, lower: 1 }], &mut packed);
        PackedArray(packed)
    };
    let at = |i: usize| sorted.get(i).map(|(v, _)| *v).unwrap_or_default();
    if !tracks.is_empty() {
        let list: Vec<Datum<'_>> = tracks.iter().map(|t| at(t.first)).collect();
        found.common = element(&list);
        found.frequencies = tracks.iter().map(|t| t.count as f64 / values.len() as f64).collect();
    }
    let bounds = (distinct - tracks.len()).min(target + 1);
    if bounds >= 2 {
        tracks.sort_unstable_by_key(|t| t.first);
        let mut rest: Vec<Datum<'_>> = Vec::with_capacity(sorted.len());
        let mut next = 0;
        for track in &tracks {
            rest.extend((next..track.first).map(at));
            next = track.first + track.count;
        }
        rest.extend((next..sorted.len()).map(at));
        let list: Vec<Datum<'_>> = (0..bounds)
            .map(|i| rest.get(i * (rest.len() - 1) / (bounds - 1)).copied().unwrap_or_default())
            .collect();
        found.histogram = element(&list);
    }
    let n = sorted.len() as f64;
    if n > 1.0 {
        let (x, x2) = (n * (n - 1.0) / 2.0, n * (n - 1.0) * (2.0 * n - 1.0) / 6.0);
        found.correlation = Some((n * sum - x * x) / (n * x2 - x * x));
    }
}

/// How many different values the whole table has (Haas and Stokes' estimator Duj1), as `stadistinct` says it.
fn estimate_distinct(
    found: &ColumnStatistics,
    rows: usize,
    distinct: usize,
    multiple: usize,
    wide: usize,
    total: f64,
) -> f64 {
    let mut estimate = if multiple == 0 {
        return -(1.0 - found.null_fraction);
    } else if wide == 0 && multiple == distinct {
        distinct as f64
    } else {
        let once = (distinct - multiple + wide) as f64;
        let seen = once + multiple as f64;
        let n = rows as f64 * (1.0 - found.null_fraction);
        let all = total * (1.0 - found.null_fraction);
        let estimate = if all > 0.0 { n * seen / ((n - once) + once * n / all) } else { 0.0 };
        (estimate.max(seen).min(all) + 0.5).floor()
    };
    if estimate > 0.1 * total {
        estimate = -(estimate / total);
    }
    estimate
}

/// How many of the values that occur most often are much more common than the rest (`analyze_mcv_list`).
fn worth_keeping(tracks: &[Track], found: &ColumnStatistics, rows: usize, total: f64) -> usize {
    let n = rows as f64;
    if n >= total || total <= 1.0 {
        return tracks.len();
    }
    let distinct = if found.distinct < 0.0 { -found.distinct * total } else { found.distinct };
    let mut count = tracks.len();
    let before = |count: usize| tracks.iter().take(count).map(|t| t.count as f64).sum::<f64>();
    while let Some(track) = count.checked_sub(1).and_then(|last| tracks.get(last)) {
        let mut selectivity = (1.0 - before(count - 1) / n - found.null_fraction).clamp(0.0, 1.0);
        let others = distinct - (count as f64 - 1.0);
        if others > 1.0 {
            selectivity /= others;
        }
        let k = total * track.count as f64 / n;
        let variance = n * k * (total - k) * (total - n) / (total * total * (total - 1.0));
        if track.count as f64 > selectivity * n + 2.0 * variance.sqrt() + 0.5 {
            break;
        }
        count -= 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use catalog::types::int::INT4;
    use catalog::types::text::TEXT;

    fn ints(values: impl Iterator<Item = i64>, total: f64) -> ColumnStatistics {
        let list: Vec<Datum<'_>> = values.map(Datum::Int).collect();
        statistics(0, &INT4, &list, total, 100)
    }

    #[test]
    fn a_key_is_all_different_and_in_order() {
        let s = ints(0..1000, 1000.0);
        assert_eq!((s.distinct, s.null_fraction, s.width), (-1.0, 0.0, 4));
        assert_eq!(s.correlation, Some(1.0));
        assert!(s.common.is_none());
        let bounds: Vec<i64> = s.histogram.read().iter().map(|d| d.as_int()).collect();
        assert_eq!((bounds.len(), bounds[0], bounds[50], bounds[100]), (101, 0, 499, 999));
    }

    #[test]
    fn a_few_values_are_all_common() {
        let s = ints((0..900).map(|i| i % 3), 900.0);
        assert_eq!(s.distinct, 3.0);
        assert_eq!(s.common.read().len(), 3);
        assert!(s.histogram.is_none());
        assert!(s.frequencies.iter().all(|f| (f - 1.0 / 3.0).abs() < 1e-9));
    }

    #[test]
    fn what_stands_out_in_a_sample_is_common() {
        // Half of the rows are -1, the others all different; a tenth of the table was read.
        let s = ints((0..1000).map(|i| if i % 2 == 0 { -1 } else { i }), 10_000.0);
        assert_eq!(s.common.read().len(), 1);
        assert_eq!(s.frequencies, [0.5]);
        assert_eq!(s.distinct, 911.0);
        assert_eq!(s.histogram.read().len(), 101);
    }

    #[test]
    fn nulls_and_wide_values() {
        let wide = vec![b'x'; 2000];
        let list = [Datum::Null, Datum::Bytes(b"a"), Datum::Bytes(&wide), Datum::Null];
        let s = statistics(0, &TEXT, &list, 4.0, 100);
        assert_eq!(s.null_fraction, 0.5);
        assert_eq!(s.width, 1003);
        let s = statistics(0, &TEXT, &[Datum::Null, Datum::Null], 2.0, 100);
        assert_eq!((s.null_fraction, s.width, s.distinct), (1.0, 0, 0.0));
    }
}
