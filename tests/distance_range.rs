//! Extreme ranges: large and small numbers, large means, NaN and infinities, distances that tie after rounding,
//! matrices with very many columns.

mod common;

use std::cmp::Ordering;

use common::dense_distance as textbook;
use common::distances::{Sample, all, close, large, metrics, nearest, options, within};
use quickcheck::QuickCheck;
use sparring::algebra::{MaxFromZero, Plus, Union, V};
use sparring::distance::{Domain, Float, Formula, Measure, Metric, Neighbours, Options, Precision};
use sparring::{Cpu, Csr};

fn cpu() -> Cpu {
    Cpu::new()
}

fn distances(metric: Metric, normalize: Option<bool>, x: &Csr<f64>, y: Option<&Csr<f64>>) -> Vec<f64> {
    all(&cpu(), metric, x, y, &options(normalize)).expect("distances").into_values()
}

/// 2^e, including overflow and underflow.
fn two_to(e: i32) -> f64 {
    2f64.powi(e / 2) * 2f64.powi(e - e / 2)
}

fn narrow(a: &Csr<f64>) -> Csr<f32> {
    a.map(|&v| v as f32).expect("entries")
}

/// Scaling x and y by s scales the distance by this power of s; `None` if there is no such power.
fn degree(metric: Metric, normalize: Option<bool>) -> Option<f64> {
    let normalized = normalize.unwrap_or(metric == Metric::JensenShannon);
    Some(match metric {
        Metric::Dot => return None,
        Metric::Euclidean | Metric::Manhattan | Metric::Chebyshev | Metric::Minkowski(_) => 1.0,
        Metric::SquaredEuclidean => 2.0,
        Metric::Hellinger | Metric::JensenShannon if !normalized => 0.5,
        Metric::Kl | Metric::KlIntersection if !normalized => 1.0,
        _ => 0.0,
    })
}

#[test]
fn large_and_small_rows_are_as_far_apart_as_others() {
    let rows = large(60, 25);
    // Thirds as well, which no power of two makes exact.
    let thirds = rows.map(|v| v / 3.0).expect("thirds");
    let mut cases = metrics();
    cases.extend([2.5, 19.0, 64.0, 300.0, 1e4].map(|p| (Metric::Minkowski(p), None)));
    for (metric, normalize) in cases {
        let Some(degree) = degree(metric, normalize) else { continue };
        for x in [&rows, &thirds] {
            let base = distances(metric, normalize, x, None);
            // Exponents down to where 1 has as many digits as the largest entry.
            for e in [-960, -660, -150, 20, 150, 660, 1016] {
                let scaled = x.map(|v| v * two_to(e)).expect("scaled");
                let by = degree * f64::from(e);
                let found = distances(metric, normalize, &scaled, None);
                let (i, j) = (found.len() / 60 / 2, 3);
                for (place, (&f, &b)) in found.iter().zip(&base).enumerate() {
                    let e = b * two_to(by as i32 / 2) * two_to(by as i32 - by as i32 / 2);
                    // Terms of both signs cancel.
                    let tiny = 1e-14 * two_to(by as i32) + 1e-320;
                    assert!(
                        close(f, e, 1e-11, tiny),
                        "{metric} {normalize:?}, 2^{by}, place {place}: {f:e}, not {e:e}"
                    );
                }
                let near = nearest(&cpu(), metric, 5, &scaled, None, &options(normalize)).expect("neighbours");
                let mut expected: Vec<f64> = found[i * 60..][..60].to_vec();
                expected.sort_by(f64::total_cmp);
                assert_eq!(near.row(i).1[..j], expected[..j], "{metric} {normalize:?}, 2^{by}");
                let other = distances(metric, normalize, &scaled, Some(&scaled));
                let same = other.iter().zip(&found).all(|(&a, &b)| close(a, b, 1e-11, 1e-320));
                assert!(same, "{metric}, the same rows as Y");
            }
        }
    }
}

#[test]
fn rows_may_be_scaled_each_for_itself_where_only_directions_matter() {
    let x = large(60, 25).map(|v| v / 3.0).expect("thirds");
    let scaled = |a: &Csr<f64>, by: fn(usize) -> i32| {
        let row = |i: usize| a.row(i).1.iter().map(move |v| v * two_to(by(i)));
        let values = (0..a.nrows()).flat_map(row).collect();
        Csr::with_pattern(a.pattern().clone(), values).expect("rows")
    };
    let wild = scaled(&x, |i| [0, 900, -900, 500, -500, 3][i % 6]);
    for (metric, normalize) in [
        (Metric::Cosine, None),
        (Metric::Correlation, None),
        (Metric::JensenShannon, None),
        (Metric::Hellinger, Some(true)),
    ] {
        let (base, found) = (distances(metric, normalize, &x, None), distances(metric, normalize, &wild, None));
        assert!(base.iter().zip(&found).all(|(&b, &f)| close(f, b, 1e-12, 1e-12)), "{metric}");
    }
    // Subnormal numbers with few significant digits.
    let least = Csr::<f64>::new(2, 2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![3e-323, 4e-323, 4e-323, 3e-323]);
    let d = distances(Metric::Cosine, None, &least.expect("2×2"), None);
    let (a, b) = (3e-323 / 5e-324, 4e-323 / 5e-324);
    assert!(close(d[1], 1.0 - 2.0 * a * b / (a * a + b * b), 1e-12, 0.0), "{d:?}");
}

/// Rows of very different magnitudes in one matrix: no single scale suits them all.
#[test]
fn large_rows_hide_no_small_ones() {
    let sizes = [1e-300, 1e-200, 1e-90, 1.0, 1e90, 1e200, 1e300];
    let rows: Vec<f64> = sizes.iter().flat_map(|s| [3.0 * s, 0.0, 3.0 * s, 4.0 * s]).collect();
    let both = Csr::<f64>::new(14, 2, (0..=14).map(|i| 2 * i).collect(), [0u32, 1].repeat(14), rows).expect("14×2");
    for (metric, of_pair) in [
        (Metric::Euclidean, 4.0),
        (Metric::Manhattan, 4.0),
        (Metric::Minkowski(3.0), 4.0),
        (Metric::Minkowski(64.0), 4.0),
        (Metric::Chebyshev, 4.0),
    ] {
        let d = distances(metric, None, &both, None);
        let near = nearest(&cpu(), metric, 2, &both, None, &options(None)).expect("neighbours");
        for (pair, s) in sizes.iter().enumerate() {
            let (i, j) = (2 * pair, 2 * pair + 1);
            // 1/3 is rounded, and its error grows with the logarithm of the sum.
            assert!(close(d[i * 14 + j], of_pair * s, 1e-13, 0.0), "{metric}, {s:e}: {:e}", d[i * 14 + j]);
            assert_eq!(d[i * 14 + i], 0.0);
            assert_eq!(near.row(i).0[0], i as u32, "{metric}, {s:e}");
        }
        // Between 0 and the smallest rows: the rows of 1e-300 are nearest to each other.
        assert_eq!((near.row(0).0, near.row(1).0), (&[0, 1][..], &[1, 0][..]), "{metric}");
    }
    let x = Csr::<f64>::new(2, 2, vec![0, 1, 2], vec![0, 0], vec![1e5, 5e4]).expect("2×2");
    assert_eq!(distances(Metric::Minkowski(64.0), None, &x, None), [0.0, 5e4, 5e4, 0.0]);
    // Differences whose powers vanish beside those of the entries.
    let x = Csr::<f64>::new(2, 1, vec![0, 1, 2], vec![0, 0], vec![1.0, 1.0 + 1e-9]).expect("2×1");
    let apart = (1.0 + 1e-9) - 1.0;
    assert!(close(distances(Metric::Minkowski(64.0), None, &x, None)[1], apart, 1e-14, 0.0));
    // Overflowing squares give ∞; those of equal rows give 0.
    let x = Csr::<f64>::new(2, 1, vec![0, 1, 2], vec![0, 0], vec![1e200, 2e200]).expect("2×1");
    assert_eq!(distances(Metric::SquaredEuclidean, None, &x, None), [0.0, f64::INFINITY, f64::INFINITY, 0.0]);
}

#[test]
fn single_precision_has_less_room() {
    let x = large(60, 25);
    let single = Options { precision: Precision::Entries, ..Options::default() };
    for metric in
        [Metric::Cosine, Metric::Euclidean, Metric::Minkowski(3.0), Metric::Minkowski(64.0), Metric::Correlation]
    {
        let base = distances(metric, None, &x, None);
        for e in [-70, 0, 70] {
            let scaled = narrow(&x.map(|v| v * two_to(e)).expect("scaled"));
            let by = two_to(degree(metric, None).expect("known") as i32 * e);
            let d = all(&cpu(), metric, &scaled, None, &single).expect("distances");
            let good = d.values().iter().zip(&base).all(|(&d, &b)| close(f64::from(d), b * by, 1e-4, 1e-5 * by));
            assert!(good, "{metric}, 2^{e}");
        }
    }
}

/// Noise with few digits, to which large numbers can be added without rounding.
fn noise(rows: usize, ncols: usize) -> Vec<Vec<f64>> {
    let mut state = 7u64;
    let mut next = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        f64::from((state >> 40) as i32 % 4096 - 2048) / 1024.0
    };
    (0..rows).map(|_| (0..ncols).map(|_| next()).collect()).collect()
}

fn moved(rows: &textbook::Rows, by: impl Fn(usize) -> f64) -> textbook::Rows {
    rows.iter().enumerate().map(|(i, row)| row.iter().map(|x| x + by(i)).collect()).collect()
}

/// Correlation is invariant under adding a constant to all columns of a row.
#[test]
fn correlation_of_rows_far_from_zero() {
    for ncols in [12, 300] {
        let (rows, few) = (noise(70, ncols), noise(40, ncols));
        let sparse = |rows: &textbook::Rows| textbook::sparse(rows, ncols, |_, _| false);
        let x = sparse(&rows);
        // Together with rows of few entries.
        let y: textbook::Rows = few
            .iter()
            .enumerate()
            .map(|(i, r)| r.iter().enumerate().map(|(j, &v)| if j % (i + 1) == 0 { v } else { 0.0 }).collect())
            .collect();
        let y = sparse(&y);
        let (among, between) = (
            textbook::all(Metric::Correlation, None, &rows, &rows),
            textbook::all(Metric::Correlation, None, &rows, &textbook::dense(&y)),
        );
        let right = nearest(&cpu(), Metric::Correlation, 10, &x, None, &options(None)).expect("neighbours");
        for mean in [-32.0, 1024.0, -1048576.0, 134217728.0, 1073741824.0] {
            let far = sparse(&moved(&rows, |i| if i % 5 == 4 { 0.0 } else { mean }));
            for (other, expected) in [(None, &among), (Some(&y), &between)] {
                let d = distances(Metric::Correlation, None, &far, other);
                for (place, (&d, &e)) in d.iter().zip(expected).enumerate() {
                    assert!(close(d, e, 1e-12, 1e-12), "mean {mean}, place {place}: {d} instead of {e}");
                }
                if other.is_none() {
                    let back = distances(Metric::Correlation, None, &x, Some(&far));
                    assert!(back.iter().zip(expected).all(|(&d, &e)| close(d, e, 1e-12, 1e-12)), "mean {mean}, Y");
                }
            }
            let near = nearest(&cpu(), Metric::Correlation, 10, &far, None, &options(None)).expect("neighbours");
            for i in 0..70 {
                let same = near.row(i).1.iter().zip(right.row(i).1).all(|(&a, &b)| close(a, b, 1e-12, 1e-12));
                assert!(same, "mean {mean}, row {i}");
                assert_eq!(near.row(i).0[..3], right.row(i).0[..3], "mean {mean}, row {i}: all that differ are found");
            }
        }
        // Numbers representable in f32.
        for mean in [0.0, 512.0, 8192.0] {
            let far = narrow(&sparse(&moved(&rows, |_| mean)));
            for (precision, off) in [(Precision::Double, 1e-6), (Precision::Entries, 2e-5)] {
                let asked = Options { precision, ..options(None) };
                let d = all(&cpu(), Metric::Correlation, &far, None, &asked).expect("distances");
                let good = d.values().iter().zip(&among).all(|(&d, &e)| close(f64::from(d), e, off, off));
                assert!(good, "f32, mean {mean}, {precision:?}");
            }
        }
        // Constant rows have zero variance, however large; so have constant rows that are nearly full.
        let mut odd = moved(&rows, |_| 1e6);
        odd[0] = vec![123456789.1; ncols];
        odd[1] = vec![0.0; ncols];
        odd[2] = vec![-0.3; ncols];
        let gone = ncols / 2;
        odd[3][gone] = 0.0;
        // Constant except for one absent entry.
        odd[4] = vec![1e6; ncols];
        odd[4][gone + 1] = 0.0;
        let d = distances(Metric::Correlation, None, &sparse(&odd), None);
        let expected = textbook::all(Metric::Correlation, None, &odd, &odd);
        for (i, j) in [(0, 0), (0, 1), (1, 2), (2, 0)] {
            assert_eq!(d[i * 70 + j], 0.0, "({i}, {j})");
        }
        for j in 3..70 {
            assert_eq!([d[j], d[70 + j], d[2 * 70 + j]], [1.0; 3]);
            for i in [3, 4] {
                assert!(close(d[i * 70 + j], expected[i * 70 + j], 1e-9, 1e-9), "({i}, {j})");
            }
        }
    }
}

/// A ⊗ that gives ∞ or NaN beside an absent entry: results follow the union, pair by pair.
#[test]
fn a_namm_whose_entries_alone_are_no_numbers() {
    sparring::op! {
        /// a ln(a/b), the naive form.
        Naive (a: f64, b: f64) -> f64 { a * (a / b).ln() }
    }
    sparring::op! {
        /// The same, 0 for a = 0.
        Guarded (a: f64, b: f64) -> f64 { a.eq(V::lit(0.0)).select(V::lit(0.0), a * (a / b).ln()) }
    }
    sparring::op! {
        /// 1 / (a b).
        Inverse (a: f64, b: f64) -> f64 { V::lit(1.0) / (a * b) }
    }
    let dense: textbook::Rows =
        (0..40).map(|i| (0..9).map(|j| f64::from(1 + (i * 7 + j * 5) % 11) / 8.0).collect()).collect();
    let mut some = dense.clone();
    some.iter_mut().enumerate().for_each(|(i, row)| (0..9).filter(|j| (i + j) % 4 == 0).for_each(|j| row[j] = 0.0));
    let full = textbook::sparse(&dense, 9, |_, _| false);
    let some = textbook::sparse(&some, 9, |_, _| false);
    macro_rules! check {
        ($mul:expr, $closure:expr) => {
            for (x, y) in [(&full, &full), (&full, &some), (&some, &full), (&some, &some)] {
                let namm = Union(Plus::new(), $mul);
                let by_union = Cpu::with_threads(2).expect("threads").union_mxm(namm, x, y).expect("the union");
                for same in [false, true] {
                    if same && !std::ptr::eq(x, y) {
                        continue;
                    }
                    let to = (!same).then_some(y);
                    for d in [
                        all(&cpu(), namm, x, to, &options(None)).expect("distances"),
                        all(&cpu(), Formula::new("a closure", $closure), x, to, &options(None)).expect("distances"),
                    ] {
                        for (place, (&d, &e)) in d.values().iter().zip(by_union.values()).enumerate() {
                            assert!(
                                close(d, e, 1e-12, 1e-12),
                                "{}, place {place}: {d} instead of {e}",
                                stringify!($mul)
                            );
                        }
                    }
                    let near = nearest(&cpu(), namm, 3, x, to, &options(None)).expect("neighbours");
                    for i in 0..40 {
                        let mut row = by_union.row(i).to_vec();
                        row.sort_by(|a, b| {
                            if a.is_nan() || b.is_nan() { a.is_nan().cmp(&b.is_nan()) } else { a.total_cmp(b) }
                        });
                        let same = near.row(i).1.iter().zip(&row).all(|(&a, &b)| close(a, b, 1e-12, 1e-12));
                        assert!(same, "{}, row {i}", stringify!($mul));
                    }
                }
            }
        };
    }
    check!(Naive::new(), |a: f64, b: f64| a * (a / b).ln());
    check!(Guarded::new(), |a: f64, b: f64| if a == 0.0 { 0.0 } else { a * (a / b).ln() });
    check!(Inverse::new(), |a: f64, b: f64| 1.0 / (a * b));
}

/// Row indices ordered by returned distance, then by index.
fn order<T: Float>(row: &[T], similarity: bool, skip: Option<usize>) -> Vec<u32> {
    let key = |j: u32| if similarity { -row[j as usize].as_f64() } else { row[j as usize].as_f64() };
    let mut order: Vec<u32> = (0..row.len() as u32).filter(|&j| skip != Some(j as usize)).collect();
    order.sort_by(|&p, &q| key(p).partial_cmp(&key(q)).unwrap_or(Ordering::Equal).then(p.cmp(&q)));
    order
}

fn check_order<T: Float>(metric: Metric, k: usize, x: &Csr<T>, y: Option<&Csr<T>>, asked: &Options) {
    for threads in [1, 3] {
        let cpu = Cpu::with_threads(threads).expect("threads");
        let d = all(&cpu, metric, x, y, asked).expect("distances");
        let near: Neighbours<T> = nearest(&cpu, metric, k, x, y, asked).expect("neighbours");
        for i in 0..x.nrows() {
            let order = order(d.row(i), metric.is_similarity(), asked.exclude_self.then_some(i));
            assert_eq!(near.row(i).0, &order[..near.k()], "{metric}, row {i}, {threads} threads");
            let right = near.row(i).0.iter().map(|&j| d.row(i)[j as usize].as_f64());
            assert!(near.row(i).1.iter().zip(right).all(|(a, b)| a.as_f64() == b), "{metric}, row {i}");
        }
    }
}

/// Different keys may become equal distances after the root is taken and rounded.
#[test]
fn equal_distances_come_in_order_of_number() {
    fn property(sample: Sample<40, 60>, k: u8, exclude: bool) {
        let (x, y) = sample.matrices();
        let thirds = |a: &Csr<f64>| a.map(|v| v / 3.0).expect("thirds");
        let (x, y) = (thirds(&x), thirds(&y));
        let (u, v) = (narrow(&x), narrow(&y));
        for (metric, normalize) in metrics() {
            for other in [false, true] {
                let exclude_self = exclude && !other;
                let asked = Options { exclude_self, ..options(normalize) };
                let single = Options { precision: Precision::Entries, ..asked };
                let k = usize::from(k % 12);
                check_order(metric, k, &x, other.then_some(&y), &asked);
                check_order(metric, k, &u, other.then_some(&v), &asked);
                check_order(metric, k, &u, other.then_some(&v), &single);
            }
        }
    }
    QuickCheck::new().tests(12).quickcheck(property as fn(Sample<40, 60>, u8, bool));
    // Many more than k points on a circle: all are at distance 1 in f32, none exactly in f64.
    let points: Vec<f64> = (0..700).flat_map(|i| [1.0 + f64::from(i * 389 % 700) * 1e-12, 1e-3]).collect();
    let x = Csr::<f64>::new(700, 2, (0..=700).map(|i| 2 * i).collect(), [0u32, 1].repeat(700), points).expect("700×2");
    let origin = Csr::<f64>::new(1, 2, vec![0, 0], vec![], vec![]).expect("1×2");
    let (x, origin) = (narrow(&x), narrow(&origin));
    check_order(Metric::Euclidean, 10, &origin, Some(&x), &options(None));
    let wide = large(2300, 40).map(|v| v / 3.0).expect("thirds");
    for metric in [Metric::Euclidean, Metric::Minkowski(3.0), Metric::Jaccard, Metric::Dot] {
        check_order(metric, 9, &narrow(&wide), None, &options(None));
    }
}

/// A radius is compared with the returned distances.
#[test]
fn a_radius_holds_what_is_returned() {
    let x = narrow(&large(150, 30).map(|v| v / 3.0).expect("thirds"));
    for metric in [Metric::Euclidean, Metric::Cosine, Metric::Manhattan, Metric::Dot, Metric::Minkowski(3.0)] {
        let d = all(&cpu(), metric, &x, None, &options(None)).expect("distances");
        for at in (0..d.values().len()).step_by(97) {
            let r = f64::from(d.values()[at]);
            let found = within(&cpu(), metric, r, &x, None, &options(None)).expect("neighbours");
            for i in 0..150 {
                let inside = |d: f32| if metric.is_similarity() { f64::from(d) >= r } else { f64::from(d) <= r };
                let right: Vec<u32> = (0..150).filter(|&j| inside(d.row(i)[j as usize])).collect();
                assert_eq!(found.row(i).0, right, "{metric}, radius {r}, row {i}");
            }
        }
    }
}

#[test]
fn what_is_no_number_is_far_by_chebyshev_too() {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    let rows = [
        vec![1.0, 0.0, 2.0],
        vec![nan, 0.0, 2.0],
        vec![1.0, nan, 0.0],
        vec![inf, 0.0, 0.0],
        vec![inf, 5.0, 0.0],
        vec![0.0, 0.0, 0.0],
    ];
    for long in [false, true] {
        // Also with more entries than are examined one by one.
        let rows: textbook::Rows =
            rows.iter().map(|r| r.iter().copied().chain(vec![7.0; if long { 50 } else { 0 }]).collect()).collect();
        let x = textbook::sparse(&rows, rows[0].len(), |_, _| false);
        let unchecked = Options { unchecked: true, ..options(None) };
        for y in [None, Some(&x)] {
            let d = all(&cpu(), Metric::Chebyshev, &x, y, &unchecked).expect("unchecked");
            for i in 0..6 {
                for j in 0..6 {
                    let apart = |k: usize| (rows[i][k] - rows[j][k]).abs();
                    let any = (0..rows[0].len()).any(|k| apart(k).is_nan());
                    let e = if any { nan } else { (0..rows[0].len()).map(apart).fold(0.0, f64::max) };
                    assert!(close(d.row(i)[j], e, 0.0, 0.0), "({i}, {j}): {} instead of {e}", d.row(i)[j]);
                }
            }
            let near = nearest(&cpu(), Metric::Chebyshev, 6, &x, y, &unchecked).expect("unchecked");
            assert_eq!(near.row(0).0[0], 0);
            assert!(near.row(0).1[4..].iter().all(|d| d.is_nan()), "they are the farthest");
        }
    }
}

/// Columns without entries cost nothing, yet count where a metric depends on the number of columns.
#[test]
fn very_many_columns() {
    sparring::op! {
        /// |a − b| · k: a ⊗ that depends on the column.
        Placed (a: f64, b: f64) at (i, k, j) -> f64 {{
            let _ = (i, j);
            a.abs_diff(b) * k.cast::<f64>()
        }}
    }
    // Enough columns for compaction, few enough for the textbook to loop over them.
    let ncols = 70_000;
    let spread = |a: Csr<f64>| {
        let columns = a.col_idx().iter().map(|&j| j * 2801 + 17).collect();
        Csr::new(a.nrows(), ncols, a.row_ptr().to_vec(), columns, a.values().to_vec()).expect("rows")
    };
    let (x, y) = (spread(large(4, 25)), spread(large(3, 25)));
    let (a, b) = (textbook::dense(&x), textbook::dense(&y));
    for (metric, normalize) in metrics() {
        for (other, to, rows) in [(None, &x, &a), (Some(&y), &y, &b)] {
            let d = distances(metric, normalize, &x, other);
            let e = textbook::all(metric, normalize, &a, rows);
            assert!(
                d.iter().zip(&e).all(|(&d, &e)| close(d, e, 1e-11, 1e-11)),
                "{metric} {normalize:?}, {}",
                to.nrows()
            );
        }
    }
    let d = all(&cpu(), Union(MaxFromZero::new(), Placed::new()), &x, Some(&y), &options(None)).expect("distances");
    for (i, a) in a.iter().enumerate() {
        for (j, b) in b.iter().enumerate() {
            let e = (0..ncols).map(|k| (a[k] - b[k]).abs() * k as f64).fold(0.0, f64::max);
            assert_eq!(d.row(i)[j], e, "({i}, {j})");
        }
    }
    // The maximum number of columns, in little memory.
    let most = u32::MAX;
    let columns = vec![0, 7, most - 1, 7, most - 1];
    let wide =
        Csr::<f64>::new(2, most as usize, vec![0, 3, 5], columns, vec![1.0, 2.0, 3.0, 2.0, 4.0]).expect("2 rows");
    for (metric, normalize) in metrics().into_iter().filter(|(m, _)| m.entry().domain != Domain::Sets) {
        let little = Options { memory_budget: Some(100_000), ..options(normalize) };
        let few = Cpu::with_threads(2).expect("threads");
        all(&few, metric, &wide, None, &little).unwrap_or_else(|e| panic!("{metric}: {e}"));
        nearest(&few, metric, 1, &wide, None, &little).unwrap_or_else(|e| panic!("{metric}: {e}"));
        within(&few, metric, 1.0, &wide, None, &little).unwrap_or_else(|e| panic!("{metric}: {e}"));
    }
    assert_eq!(distances(Metric::Manhattan, None, &wide, None), [0.0, 2.0, 2.0, 0.0]);
    assert_eq!(distances(Metric::RussellRao, None, &wide, None)[1], (f64::from(most) - 2.0) / f64::from(most));
}
