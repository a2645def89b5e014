//! Distances of dense rows: scattering rows of Y into dense form gives the same bits as the index.

mod common;

use common::distances::{metrics, options};
use sparring::distance::{Float, Measure, Metric, Options, Precision, Search};
use sparring::{Cpu, Csr, Isa};

/// Rows with about `full` of 100 columns, the last row and some others empty; some entries are stored zeros.
fn rows(seed: u64, (nrows, ncols): (usize, usize), full: u64, values: &[f64]) -> Csr<f64> {
    let mut state = seed;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    let (mut row_ptr, mut columns, mut entries) = (vec![0], vec![], vec![]);
    for i in 0..nrows {
        let full = if i % 17 == 5 || i + 1 == nrows { 0 } else { full };
        for j in 0..ncols as u32 {
            if below(100) < full {
                columns.push(j);
                entries.push(if below(40) == 0 { 0.0 } else { values[below(values.len() as u64) as usize] });
            }
        }
        row_ptr.push(columns.len());
    }
    Csr::new(nrows, ncols, row_ptr, columns, entries).expect("rows")
}

/// Bit patterns; all NaNs are equal.
fn bits<T: Float>(values: &[T]) -> Vec<u64> {
    values.iter().map(|d| d.as_f64()).map(|d| if d.is_nan() { f64::NAN.to_bits() } else { d.to_bits() }).collect()
}

/// All tasks with an index, forced by a budget, and without one. Returns whether rows were scattered into dense form.
fn same<T: Float>(measure: impl Measure + Clone, x: &Csr<T>, y: Option<&Csr<T>>, o: Options) -> bool {
    same_on(&[1, 3], measure, x, y, o)
}

/// The same with these numbers of threads.
fn same_on<T: Float>(
    threads: &[usize],
    measure: impl Measure + Clone,
    x: &Csr<T>,
    y: Option<&Csr<T>>,
    o: Options,
) -> bool {
    let name = format!("{}, {:?} and {:?}, {o:?}", measure.name(), x.shape(), y.map(Csr::shape));
    let o = Options { search: Search::Tiles, ..o };
    let index = Options { memory_budget: Some(1 << 40), ..o };
    let mut spread = false;
    for &threads in threads {
        let cpu = Cpu::with_threads(threads).expect("threads");
        let all = |o: Options| cpu.distances(measure.clone(), x).to(y).options(o).eval().expect("distances");
        let (by_index, found) = (all(index), all(o));
        assert_eq!(bits(found.values()), bits(by_index.values()), "{name}");
        for k in [1, 7, y.unwrap_or(x).nrows() + 2] {
            let near =
                |o: Options| cpu.neighbours(measure.clone(), x).to(y).options(o).k(k).eval().expect("neighbours");
            let (by_index, found) = (near(index), near(o));
            assert_eq!(found.indices(), by_index.indices(), "{name}, {k} nearest");
            assert_eq!(bits(found.distances()), bits(by_index.distances()), "{name}, {k} nearest");
            assert!(!by_index.explain.contains("spread"), "{}", by_index.explain);
            spread = found.explain.contains("dense tiles");
        }
        let radius = by_index.values().iter().map(|d| d.as_f64()).filter(|d| d.is_finite()).sum::<f64>()
            / by_index.values().len().max(1) as f64;
        let within =
            |o: Options| cpu.neighbours(measure.clone(), x).to(y).options(o).radius(radius).eval().expect("neighbours");
        let (by_index, found) = (within(index), within(o));
        assert_eq!((found.row_ptr(), found.col_idx()), (by_index.row_ptr(), by_index.col_idx()), "{name}, {radius}");
        assert_eq!(bits(found.values()), bits(by_index.values()), "{name}, within {radius}");
    }
    spread
}

/// Rows this full are scattered where registers have 32 bytes or more. With narrower registers the choice depends on
/// the density; `distance/dense.rs` tests the rule.
#[track_caller]
fn is_wanted(spread: bool, about: &str) {
    assert!(spread || Isa::running().register_bytes() < 32, "not spread out: {about}");
}

const VALUES: [f64; 7] = [1.0, 1.0, 2.0, 0.5, 3.0, 0.1, 1e-9];
/// Metrics whose ⊗ takes one or a few instructions.
const CHEAP: [Metric; 6] =
    [Metric::Dot, Metric::Cosine, Metric::Euclidean, Metric::Correlation, Metric::Manhattan, Metric::Jaccard];

#[test]
fn all_metrics_have_the_same_bits_spread_out() {
    // Incomplete groups and column blocks; a single block; a group plus one row; nearly full rows.
    for (seed, shape, full) in [(1, (77, 300), 70), (2, (150, 100), 60), (3, (33, 257), 95)] {
        let (x, y) = (rows(seed, shape, full, &VALUES), rows(seed + 50, (shape.0 / 2 + 30, shape.1), full, &VALUES));
        for (metric, normalize) in metrics() {
            let o = options(normalize);
            for (y, o) in [(None, o), (Some(&y), o), (None, Options { exclude_self: true, ..o })] {
                let spread = same_on(if CHEAP.contains(&metric) { &[1, 3] } else { &[3] }, metric, &x, y, o);
                if CHEAP.contains(&metric) {
                    is_wanted(spread, metric.name());
                }
            }
        }
    }
}

#[test]
fn f32_has_the_same_bits_spread_out() {
    let single = |a: &Csr<f64>| a.map(|&v| v as f32).expect("f32");
    let (x, y) = (single(&rows(7, (200, 300), 60, &VALUES)), single(&rows(8, (70, 300), 80, &VALUES)));
    for metric in CHEAP {
        for o in [options(None), Options { precision: Precision::Entries, ..options(None) }] {
            for y in [None, Some(&y)] {
                is_wanted(same(metric, &x, y, o), metric.name());
            }
        }
    }
}

/// Several tiles and several blocks of query rows; both halves of a symmetric result.
#[test]
fn many_rows_have_the_same_bits_spread_out() {
    let (x, y) = (rows(20, (700, 140), 50, &VALUES), rows(21, (300, 140), 50, &VALUES));
    for metric in [Metric::Cosine, Metric::Euclidean] {
        for y in [None, Some(&y)] {
            is_wanted(same(metric, &x, y, options(None)), metric.name());
        }
    }
}

/// Mixed signs, and products that overflow, vanish or cancel; then values that are not finite, which exclude rows of X
/// from the dense loops.
#[test]
fn awkward_values_have_the_same_bits_spread_out() {
    let sets: [&[f64]; 4] = [
        &[1.0, -1.0, 2.0, -2.0],
        &[1e200, -1e200, 1e160, 1.0],
        &[1e-200, -1e-200, 1e-170],
        &[1e16, 1.0, 3.0, -1.0, 1e16 + 4.0],
    ];
    for (seed, values) in (30..).zip(sets) {
        let (x, y) = (rows(seed, (70, 200), 60, values), rows(seed + 9, (45, 200), 60, values));
        for metric in [Metric::Dot, Metric::Cosine, Metric::Euclidean, Metric::Correlation, Metric::Manhattan] {
            same(metric, &x, None, options(None));
            same(metric, &x, Some(&y), options(None));
        }
    }
    let wild = rows(40, (70, 200), 60, &[1.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 2.0]);
    let tame = rows(41, (70, 200), 60, &VALUES);
    let o = Options { unchecked: true, ..options(None) };
    assert!(!same(Metric::Dot, &wild, None, o), "x · 0 may be NaN");
    assert!(!same(Metric::Dot, &wild, Some(&tame), o));
    is_wanted(same(Metric::Dot, &tame, Some(&wild), o), "nothing is multiplied by 0 but x");
    is_wanted(same(Metric::Dot, &tame, None, o), "among themselves");
}

#[test]
fn no_rows_and_no_columns_have_distances() {
    for shape in [(0, 300), (40, 0), (0, 0), (1, 300), (31, 40), (32, 1)] {
        let (x, y) = (rows(50, shape, 80, &VALUES), rows(51, (70, shape.1), 80, &VALUES));
        for metric in CHEAP {
            same(metric, &x, None, options(None));
            same(metric, &x, Some(&y), options(None));
            same(metric, &y, Some(&x), options(None));
        }
    }
}
