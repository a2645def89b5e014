//! Neighbours where most pairs of rows share no column: the inverted index over all of Y gives the same bits as tiles.

mod common;

use common::distances::{Draws, FEW as VALUES, metrics, options, scattered as rows};
use sparring::distance::{Float, Formula, Measure, Metric, Options, Precision, Search};
use sparring::{Cpu, Csr};

/// Indices and distances of neighbours, bit by bit.
type Bits = (Vec<u32>, Vec<u64>);

fn nearest<T: Float>(cpu: &Cpu, measure: impl Measure, k: usize, x: &Csr<T>, y: Option<&Csr<T>>, o: Options) -> Bits {
    let near = cpu.neighbours(measure, x).to(y).options(o).k(k).eval().expect("neighbours");
    let bits = near.distances().iter().map(|d| d.as_f64().to_bits()).collect();
    // The requested search is used where the measure allows it.
    if o.search == Search::Tiles {
        assert!(near.explain.contains("tiles") || near.explain.contains("two passes"), "{}", near.explain);
    }
    (near.indices().to_vec(), bits)
}

fn within<T: Float>(
    cpu: &Cpu,
    measure: impl Measure,
    radius: f64,
    x: &Csr<T>,
    y: Option<&Csr<T>>,
    o: Options,
) -> (Vec<usize>, Bits) {
    let found = cpu.neighbours(measure, x).to(y).options(o).radius(radius).eval().expect("neighbours");
    let bits = found.values().iter().map(|d| d.as_f64().to_bits()).collect();
    (found.row_ptr().to_vec(), (found.col_idx().to_vec(), bits))
}

/// Both search algorithms on the same rows.
fn same<T: Float>(measure: impl Measure + Clone, x: &Csr<T>, y: Option<&Csr<T>>, o: Options) {
    same_on(&[1, 3], measure, x, y, o);
}

/// The same with these numbers of threads.
fn same_on<T: Float>(threads: &[usize], measure: impl Measure + Clone, x: &Csr<T>, y: Option<&Csr<T>>, o: Options) {
    let name = format!("{}, {:?} and {:?}, {o:?}", measure.name(), x.shape(), y.map(Csr::shape));
    let m = y.unwrap_or(x).nrows();
    let (tiles, shared) = (Options { search: Search::Tiles, ..o }, Options { search: Search::Shared, ..o });
    for &threads in threads {
        let cpu = Cpu::with_threads(threads).expect("threads");
        for k in [0, 1, 4, 30, m + 3] {
            let found = nearest(&cpu, measure.clone(), k, x, y, shared);
            assert_eq!(found, nearest(&cpu, measure.clone(), k, x, y, tiles), "{name}, {k} nearest");
        }
        let all = cpu.distances(measure.clone(), x).to(y).options(o).eval().expect("distances");
        let mut seen: Vec<f64> = all.values().iter().map(|d| d.as_f64()).filter(|d| d.is_finite()).collect();
        seen.sort_by(f64::total_cmp);
        seen.dedup();
        let some = (0..4).filter_map(|part| seen.get(part * seen.len() / 4).copied());
        for radius in some.chain([-1.0, 0.0, f64::INFINITY]).chain(seen.last().copied()) {
            let found = within(&cpu, measure.clone(), radius, x, y, shared);
            assert_eq!(found, within(&cpu, measure.clone(), radius, x, y, tiles), "{name}, within {radius}");
        }
    }
}

fn all_options(normalize: Option<bool>) -> [Options; 3] {
    let o = options(normalize);
    [o, Options { exclude_self: true, ..o }, Options { precision: Precision::Entries, ..o }]
}

#[test]
fn all_metrics_have_the_same_bits_both_ways() {
    for (seed, size) in [(1, [90, 300, 6]), (2, [70, 40, 12]), (3, [40, 1, 1]), (4, [1, 5, 3]), (5, [300, 4000, 4])] {
        let (x, y) = (rows(seed, size, &VALUES), rows(seed + 50, [size[0] / 2, size[1], size[2]], &VALUES));
        for (metric, normalize) in metrics() {
            for o in all_options(normalize) {
                let threads: &[usize] = if size[0] > 100 { &[3] } else { &[1, 3] };
                same_on(threads, metric, &x, None, o);
                if !o.exclude_self {
                    same_on(threads, metric, &x, Some(&y), o);
                }
            }
        }
    }
}

#[test]
fn f32_has_the_same_bits_both_ways() {
    let single = |a: &Csr<f64>| a.map(|&v| v as f32).expect("f32");
    let (x, y) = (single(&rows(7, [120, 200, 6], &VALUES)), single(&rows(8, [60, 200, 6], &VALUES)));
    for (metric, normalize) in metrics() {
        for o in all_options(normalize) {
            same(metric, &x, None, o);
        }
        same(metric, &x, Some(&y), Options { precision: Precision::Entries, ..options(normalize) });
    }
}

/// Mixed signs, values whose products overflow, vanish or give ∞ − ∞, and distances that tie only by rounding.
#[test]
fn awkward_values_have_the_same_bits_both_ways() {
    let sets: [&[f64]; 4] = [
        &[1.0, -1.0, 2.0, -2.0],
        &[1e200, -1e200, 1e160, 1.0],
        &[1e-200, -1e-200, 1e-170],
        &[1e16, 1.0, 3.0, -1.0, 1e16 + 4.0],
    ];
    for (seed, values) in (10..).zip(sets) {
        let x = rows(seed, [150, 60, 5], values);
        for metric in [
            Metric::Dot,
            Metric::Cosine,
            Metric::Euclidean,
            Metric::SquaredEuclidean,
            Metric::Manhattan,
            Metric::Canberra,
            Metric::Minkowski(3.0),
            Metric::Hamming,
            Metric::Correlation,
            Metric::Chebyshev,
            Metric::Jaccard,
        ] {
            same(metric, &x, None, options(None));
            same(metric, &x, Some(&x), options(None));
        }
    }
}

/// Where a measure cannot bound the distance of rows without shared columns, or entries are unchecked, both searches
/// use tiles.
#[test]
fn what_tells_no_order_goes_by_tiles() {
    let x = rows(20, [80, 300, 4], &VALUES);
    same(Formula::new("|a-b|", |a: f64, b: f64| (a - b).abs()), &x, None, Options::default());
    let wild = rows(21, [80, 300, 4], &[f64::NAN, f64::INFINITY, 1.0, -1.0]);
    for metric in [Metric::Cosine, Metric::Dot, Metric::Manhattan] {
        same(metric, &wild, None, Options { unchecked: true, ..Options::default() });
    }
}

#[test]
fn which_way_is_chosen_depends_on_the_columns_that_pairs_share() {
    let cpu = Cpu::with_threads(2).expect("threads");
    let (few, many) = (rows(30, [500, 5000, 5], &VALUES), rows(31, [500, 20, 10], &VALUES));
    let how = |x: &Csr<f64>, search| {
        let near = cpu.neighbours(Metric::Cosine, x).search(search).k(3).eval().expect("neighbours");
        near.explain
    };
    assert!(how(&few, Search::Auto).contains("over the rows that share a column"));
    assert!(how(&few, Search::Tiles).contains("tiles"));
    assert!(how(&many, Search::Auto).contains("tiles"));
    assert!(how(&many, Search::Shared).contains("over the rows that share a column"));
    // Without memory for the index, tiles are used.
    let rows = cpu.neighbours(Metric::Cosine, &few).search(Search::Shared).prepare().expect("rows");
    let needs = rows.nearest_bytes(3);
    let by = |budget| {
        let asked = cpu.neighbours(Metric::Cosine, &few).search(Search::Shared).memory_budget(budget).k(3).eval();
        asked.map(|near| near.explain)
    };
    assert!(by(needs).expect("enough").contains("share a column"));
    let less = by(needs - 1);
    assert!(less.as_ref().is_ok_and(|how| how.contains("tiles")) || less.is_err(), "{less:?}");
}

/// Two columns common to nearly all rows, and groups of nearly equal rows. Rare columns alone find the neighbours,
/// except where rows have only popular columns, where fewer than k rows share the rare ones, or where all distances
/// tie.
#[test]
fn rare_columns_first_have_the_same_bits() {
    for values in [&[1.0][..], &[1.0, 2.0, 0.5], &[1.0, -1.0], &[1.0, 1e-7]] {
        let mut draws = Draws(40);
        let (n, mut columns, mut entries, mut row_ptr) = (400u32, vec![], vec![], vec![0]);
        for i in 0..n {
            let mut row: Vec<u32> = (0..4).filter(|_| draws.below(8) > 0).collect();
            if draws.below(6) > 0 {
                let group = 10 + 6 * (i / 9);
                row.extend((0..6).filter(|_| draws.below(5) > 0).map(|c| group + c));
            }
            entries.extend(row.iter().map(|_| values[draws.below(values.len())]));
            columns.extend(row);
            row_ptr.push(columns.len());
        }
        let x = Csr::new(n as usize, 400, row_ptr, columns, entries).expect("rows");
        let single: Csr<f32> = x.map(|&v| v as f32).expect("f32");
        for metric in [Metric::Cosine, Metric::Euclidean, Metric::SquaredEuclidean, Metric::Jaccard, Metric::Dice] {
            for o in all_options(None) {
                same(metric, &x, None, o);
                same_on(&[3], metric, &single, None, o);
            }
            same(metric, &x, Some(&x), options(None));
        }
    }
}

/// Rows that share columns with most others: each query keeps a sum for every row of Y, and several rows of X query
/// together where many have the columns.
#[test]
fn rows_that_share_many_columns_have_the_same_bits() {
    for (seed, values) in [(60, &VALUES[..]), (61, &[1.0, -1.0, 2.0, -0.5]), (62, &[1.0, 1e-3, -1e-3])] {
        for size in [[150, 12, 10], [70, 60, 90]] {
            let (x, y) = (rows(seed, size, values), rows(seed + 20, [61, size[1], size[2]], values));
            let single = |a: &Csr<f64>| a.map(|&v| v as f32).expect("f32");
            for (metric, normalize) in metrics() {
                let signed = matches!(metric, Metric::Dot | Metric::Cosine | Metric::Euclidean | Metric::Manhattan);
                if !signed && values.iter().any(|&v| v < 0.0) {
                    continue;
                }
                for o in all_options(normalize) {
                    same_on(&[2], metric, &x, None, o);
                }
                same_on(&[1, 2], metric, &x, Some(&y), options(normalize));
                let entries = Options { precision: Precision::Entries, ..options(normalize) };
                same_on(&[2], metric, &single(&x), Some(&single(&y)), entries);
            }
        }
    }
}

#[test]
fn an_index_whose_columns_many_rows_have_is_asked_by_some_rows_together() {
    let cpu = Cpu::with_threads(2).expect("threads");
    let x = rows(70, [500, 30, 20], &VALUES);
    let how = |x: &Csr<f64>, metric: Metric| {
        let shared = Options { search: Search::Shared, ..Options::default() };
        let index = cpu.index(metric, x, shared).expect("an index");
        index.knn(&cpu, x, 3).expect("neighbours").explain
    };
    for metric in [Metric::Cosine, Metric::Dot, Metric::Euclidean, Metric::Manhattan] {
        assert!(how(&x, metric).contains("some rows together"), "{}", how(&x, metric));
    }
    assert!(!how(&x, Metric::Canberra).contains("together"));
    let apart = rows(71, [500, 5000, 5], &VALUES);
    assert!(!how(&apart, Metric::Cosine).contains("together"));
}
