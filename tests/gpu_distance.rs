//! Distances and neighbours on the GPU: reference vectors, the textbook, awkward inputs, several tiles, budgets.
#![cfg(feature = "cuda")]

mod common;

use common::backend_checks;
use common::dense_distance as textbook;
use common::distances::{
    self, FEW, all as pairwise, close, large, metrics, nearest as knn, options, scattered, within,
};
use common::gpu::cuda;
use quickcheck::{Arbitrary, Gen, QuickCheck};
use sparring::algebra::{AbsDiff, Contract, MaxFromZero, Min, Plus, Real, Union, V, emit_contract};
use sparring::distance::{
    CanberraDiff, Domain, Float, Formula, Measure, Metric, Neighbours, Options, Precision, Search,
};
use sparring::sparse::Dense;
use sparring::{Cpu, Csr, Cuda, Error, Result};

fn all(cuda: &Cuda, measure: impl Measure, x: &Csr<f64>, y: Option<&Csr<f64>>, options: &Options) -> Dense<f64> {
    try_all(cuda, measure, x, y, options).expect("distances")
}

fn try_all(
    cuda: &Cuda,
    measure: impl Measure,
    x: &Csr<f64>,
    y: Option<&Csr<f64>>,
    options: &Options,
) -> Result<Dense<f64>> {
    cuda.download_dense(&pairwise(cuda, measure, x, y, options)?)
}

type Sample = distances::Sample<120, 80>;

#[test]
#[ignore = "needs a GPU"]
fn reference_vectors() {
    let cuda = cuda();
    distances::check_vectors(|metric, x, y, options| all(&cuda, metric, x, y, options).into_values());
}

#[test]
#[ignore = "needs a GPU"]
fn reference_vectors_of_neighbours() {
    let cuda = cuda();
    distances::check_vectors_of_neighbours(|metric, k, x| {
        knn(&cuda, metric, k, x, None, &Options::default()).expect("neighbours")
    });
}

#[test]
#[ignore = "needs a GPU"]
fn all_metrics_are_their_definitions() {
    let cuda = cuda();
    let mut g = Gen::new(30);
    for round in 0..12 {
        let sample = Sample::arbitrary(&mut g);
        for (metric, normalize) in metrics() {
            let mut sample = sample.clone();
            if round % 2 == 1 && metric.entry().domain != Domain::NonNegative {
                sample.x.iter_mut().for_each(|r| r.iter_mut().step_by(3).for_each(|v| *v = -*v));
            }
            let (x, y) = sample.matrices();
            let options = options(normalize);
            for (b, other) in [(Some(&y), &sample.y), (None, &sample.x)] {
                let found = all(&cuda, metric, &x, b, &options);
                let expected = textbook::all(metric, normalize, &sample.x, other);
                assert_eq!(found.values().len(), expected.len());
                for (place, (&f, &e)) in found.values().iter().zip(&expected).enumerate() {
                    assert!(close(f, e, 1e-11, 1e-11), "{metric} {normalize:?}, place {place}: {f:e} instead of {e:e}");
                }
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn a_gpu_is_a_backend_of_distances() {
    let cuda = cuda();
    let mut g = Gen::new(30);
    for round in 0..20 {
        let (x, y) = Sample::arbitrary(&mut g).matrices();
        backend_checks::distances(&cuda, &x, &y).unwrap_or_else(|e| panic!("round {round}: {e}"));
        let rows = cuda.neighbours(Metric::Cosine, &x).prepare().expect("rows");
        let budget = |b: u64| Options { memory_budget: Some(b), ..Options::default() };
        let whole =
            knn(&cuda, Metric::Cosine, 3, &x, None, &budget(rows.nearest_bytes(3))).expect("as much as it says");
        // A smaller budget uses parts, if these fit.
        if let Ok(parts) = knn(&cuda, Metric::Cosine, 3, &x, None, &budget(rows.nearest_bytes(3).saturating_sub(1))) {
            assert_eq!((parts.indices(), parts.distances()), (whole.indices(), whole.distances()));
        }
    }
}

/// Row indices of Y ordered by distance from row `i`: NaN last, ties by index.
fn order(d: &Dense<f64>, i: usize, similarity: bool, exclude_self: bool) -> Vec<u32> {
    let mut order: Vec<u32> = (0..d.ncols() as u32).filter(|&j| !(exclude_self && i == j as usize)).collect();
    let sign = if similarity { -1.0 } else { 1.0 };
    let key = |j: u32| {
        let v = sign * d.row(i)[j as usize];
        if v.is_nan() { f64::NAN } else { v + 0.0 }
    };
    order.sort_by(|&p, &q| key(p).total_cmp(&key(q)).then(p.cmp(&q)));
    order
}

/// Compares neighbours with all distances, both from the device.
fn check_neighbours(cuda: &Cuda, metric: Metric, k: usize, x: &Csr<f64>, y: Option<&Csr<f64>>, options: &Options) {
    let near = knn(cuda, metric, k, x, y, options).expect("neighbours");
    let d = all(cuda, metric, x, y, options);
    let m = y.unwrap_or(x).nrows();
    assert_eq!(near.k(), k.min(m - usize::from(options.exclude_self && m > 0)));
    for i in 0..x.nrows() {
        let right = order(&d, i, metric.is_similarity(), options.exclude_self);
        let (found, distances) = near.row(i);
        let mut seen = vec![false; m];
        for (place, (&j, &value)) in found.iter().zip(distances).enumerate() {
            let (expected, at) = (d.row(i)[right[place] as usize], d.row(i)[j as usize]);
            assert!(close(value, at, 1e-15, 0.0), "{metric}, row {i}: {j} is at {at}, not {value}");
            // Neighbours rank by keys, not by their roots, so pairs that tie up to rounding may be exchanged.
            assert!(close(expected, at, 1e-14, 1e-15), "{metric}, row {i}, place {place}: {at} not {expected}");
            assert!(!std::mem::replace(&mut seen[j as usize], true), "{metric}, row {i}: {j} twice");
            if options.exclude_self {
                assert_ne!(i, j as usize);
            }
            if place > 0 && distances[place - 1].to_bits() == value.to_bits() && metric == Metric::Hamming {
                assert!(found[place - 1] < j, "{metric}, row {i}: equal ones in order of their numbers");
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn neighbours_are_the_first_of_all_distances() {
    let cuda = cuda();
    let mut g = Gen::new(30);
    for k in [0, 1, 2, 7, 31, 32, 33, 64, 65, 130, 1500] {
        let (x, y) = Sample::arbitrary(&mut g).matrices();
        for (metric, normalize) in metrics() {
            for b in [Some(&y), None] {
                let options = Options { exclude_self: b.is_none() && k % 2 == 1, ..options(normalize) };
                check_neighbours(&cuda, metric, k, &x, b, &options);
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn radius_finds_what_is_inside() {
    let cuda = cuda();
    let mut g = Gen::new(30);
    for percent in [0, 5, 30, 71, 100] {
        let (x, y) = Sample::arbitrary(&mut g).matrices();
        for (metric, normalize) in metrics() {
            for b in [Some(&y), None] {
                let options = Options { exclude_self: b.is_none() && percent % 2 == 0, ..options(normalize) };
                let d = all(&cuda, metric, &x, b, &options);
                let mut sorted: Vec<f64> = d.values().iter().copied().filter(|v| v.is_finite()).collect();
                sorted.sort_by(f64::total_cmp);
                let Some(&r) = sorted.get((sorted.len() * percent / 100).min(sorted.len().saturating_sub(1))) else {
                    continue;
                };
                let found = within(&cuda, metric, r, &x, b, &options).expect("neighbours");
                let found: Csr<f64> = cuda.download(&found).expect("neighbours");
                assert_eq!(found.shape(), d.shape());
                for i in 0..x.nrows() {
                    let inside = |v: f64| if metric.is_similarity() { v >= r } else { v <= r };
                    // Which half of a symmetric result was mirrored shows in no bit, because the sums are exact.
                    let expected: Vec<u32> = (0..d.ncols())
                        .filter(|&j| inside(d.row(i)[j]) && !(options.exclude_self && i == j))
                        .map(|j| j as u32)
                        .collect();
                    let (columns, values) = found.row(i);
                    let apart = columns
                        .iter()
                        .filter(|j| !expected.contains(j))
                        .chain(expected.iter().filter(|j| !columns.contains(j)));
                    for &j in apart {
                        assert!(close(d.row(i)[j as usize], r, 1e-13, 1e-15), "{metric}, ({i}, {j})");
                    }
                    for (&j, &v) in columns.iter().zip(values) {
                        assert!(close(v, d.row(i)[j as usize], 1e-13, 1e-15), "{metric}, ({i}, {j})");
                    }
                    assert!(columns.windows(2).all(|w| w[0] < w[1]), "{metric}, row {i}");
                }
            }
        }
    }
}

/// The rows of `a` from `first` on.
fn some_rows(a: &Csr<f64>, first: usize, count: usize) -> Csr<f64> {
    let (mut row_ptr, mut columns, mut values) = (vec![0], vec![], vec![]);
    for i in first..first + count {
        columns.extend_from_slice(a.row(i).0);
        values.extend_from_slice(a.row(i).1);
        row_ptr.push(columns.len());
    }
    Csr::new(count, a.ncols(), row_ptr, columns, values).expect("rows")
}

#[test]
#[ignore = "needs a GPU"]
fn several_tiles_are_the_definition() {
    let cuda = cuda();
    let y = large(9001, 70);
    let x = some_rows(&y, 4488, 37);
    let (a, b) = (textbook::dense(&x), textbook::dense(&y));
    for (metric, normalize) in metrics() {
        let options = options(normalize);
        let found = all(&cuda, metric, &x, Some(&y), &options);
        let expected = textbook::all(metric, normalize, &a, &b);
        for (place, (&f, &e)) in found.values().iter().zip(&expected).enumerate() {
            assert!(close(f, e, 1e-11, 1e-11), "{metric} {normalize:?}, place {place}: {f:e} instead of {e:e}");
        }
        for k in [5, 40] {
            check_neighbours(&cuda, metric, k, &x, Some(&y), &options);
        }
    }
    check_neighbours(&cuda, Metric::Cosine, 1500, &x, Some(&y), &Options::default());
}

#[test]
#[ignore = "needs a GPU"]
fn half_of_the_pairs_is_all_of_them() {
    let cuda = cuda();
    let x = large(4500, 90);
    for metric in [Metric::Cosine, Metric::Manhattan, Metric::JensenShannon, Metric::Kl, Metric::Dot, Metric::Yule] {
        let half = all(&cuda, metric, &x, None, &Options::default());
        let full = all(&cuda, metric, &x, Some(&x), &Options::default());
        for i in 0..x.nrows() {
            for j in 0..x.nrows() {
                let (h, f) = (half.row(i)[j], full.row(i)[j]);
                assert!(close(h, f, 1e-12, 1e-7), "{metric} ({i}, {j}): {h:e} and {f:e}");
                assert!(metric == Metric::Kl || h.to_bits() == half.row(j)[i].to_bits(), "{metric} ({i}, {j})");
            }
        }
        check_neighbours(&cuda, metric, 10, &x, None, &Options { exclude_self: true, ..Options::default() });
    }
}

#[test]
#[ignore = "needs a GPU"]
fn the_same_bits_in_every_run() {
    let cuda = cuda();
    let x = large(3000, 60);
    for metric in [Metric::Cosine, Metric::JensenShannon, Metric::Minkowski(3.0)] {
        let bits = || -> Vec<u64> {
            let d = all(&cuda, metric, &x, None, &Options::default());
            d.values().iter().map(|v| v.to_bits()).collect()
        };
        assert!(bits() == bits(), "{metric}");
    }
}

#[test]
#[ignore = "needs a GPU"]
fn one_huge_row_and_columns_without_an_index() {
    let cuda = cuda();
    // 20 million columns and several tiles: segments are found by binary search.
    let ncols = 20_000_000;
    let (mut row_ptr, mut columns, mut values) = (vec![0usize], vec![], vec![]);
    for i in 0..5000u32 {
        if i == 1234 {
            columns.extend((0..60_000u32).map(|p| p * 300));
            values.extend((0..60_000u32).map(|p| f64::from(p % 17 + 1)));
        } else {
            let mut own: Vec<u32> = (0..i % 9).map(|p| (i * 131 + p * 7919) % 60_000 * 300).collect();
            own.sort_unstable();
            own.dedup();
            values.extend(own.iter().map(|c| f64::from(c % 13 + 1)));
            columns.extend(own);
        }
        row_ptr.push(columns.len());
    }
    let y = Csr::<f64>::new(5000, ncols, row_ptr, columns, values).expect("5000 rows");
    let x = some_rows(&y, 1220, 30);
    for metric in [Metric::Cosine, Metric::Manhattan, Metric::Jaccard, Metric::JensenShannon, Metric::Kl] {
        let found = all(&cuda, metric, &x, Some(&y), &Options::default());
        let expected = pairwise(&Cpu::new(), metric, &x, Some(&y), &Options::default()).expect("CPU");
        for (place, (&f, &e)) in found.values().iter().zip(expected.values()).enumerate() {
            assert!(close(f, e, 1e-11, 1e-11), "{metric}, place {place}: {f:e} instead of {e:e}");
        }
        check_neighbours(&cuda, metric, 6, &x, Some(&y), &Options::default());
    }
}

/// Neighbours over the rows that share a column are bitwise equal to those by tiles.
#[test]
#[ignore = "needs a GPU"]
fn rows_that_share_a_column_give_the_bits_of_tiles() {
    let cuda = cuda();
    let (x, y) = (scattered(1, [400, 300, 9], &FEW), scattered(2, [1500, 300, 9], &FEW));
    let shapes = [
        (scattered(3, [1, 1, 1], &FEW), None),
        (scattered(4, [50, 3, 3], &FEW), None),
        (x.clone(), Some(y)),
        (x, None),
        (scattered(5, [3000, 4000, 4], &FEW), None),
        (scattered(6, [700, 50, 40], &[1.0, -2.5, 0.1]), None),
        (Csr::new(5, 4, vec![0; 6], vec![], vec![]).expect("empty rows"), None),
    ];
    let mut shared = 0;
    for (metric, normalize) in metrics() {
        for (x, y) in &shapes {
            let m = y.as_ref().unwrap_or(x).nrows();
            for (k, exclude_self) in [(1, false), (5, y.is_none()), (40, false), (1100, y.is_none()), (m, false)] {
                let o = Options { exclude_self, ..options(normalize) };
                let near = |search| knn(&cuda, metric, k, x, y.as_ref(), &Options { search, ..o });
                match (near(Search::Shared), near(Search::Tiles)) {
                    (Ok(a), Ok(b)) => {
                        assert!(found(&a) == found(&b), "{metric} {normalize:?}, {:?}, {k} nearest", x.shape());
                        assert!(!b.explain.contains("share a column"), "{}", b.explain);
                        shared += usize::from(a.explain.contains("share a column"));
                    }
                    // Some metrics reject negative entries.
                    (Err(a), Err(b)) => assert_eq!(a.to_string(), b.to_string()),
                    (a, b) => panic!("{metric}: {:?} and {:?}", a.err(), b.err()),
                }
            }
        }
    }
    assert!(shared > 300, "{shared} searches by rows that share a column");
    let many = scattered(7, [60_000, 80_000, 6], &FEW);
    let auto = knn(&cuda, Metric::Cosine, 5, &many, None, &Options::default()).expect("neighbours");
    assert!(auto.explain.contains("share a column"), "{}", auto.explain);
    let cpu = knn(&Cpu::new(), Metric::Cosine, 5, &many, None, &Options::default()).expect("neighbours");
    for (a, b) in auto.distances().iter().zip(cpu.distances()) {
        assert!(close(*a, *b, 1e-13, 1e-13), "{a} and {b}");
    }
    let index = cuda.index(Metric::Euclidean, &many, Options::default()).expect("an index");
    let asked = index.knn(&scattered(8, [5000, 80_000, 6], &FEW), 3).expect("neighbours");
    assert_eq!((asked.k(), asked.indices().len()), (3, 15_000));
}

#[test]
#[ignore = "needs a GPU"]
fn a_namm_of_the_callers() {
    let cuda = cuda();
    sparring::op! {
        /// (a − b)² / (a + b + 1).
        Damped (a: f64, b: f64) -> f64 { (a - b) * (a - b) / (a + b + V::lit(1.0)) }
    }
    let (x, y) = (large(120, 30), large(2900, 30));
    let (a, b) = (textbook::dense(&x), textbook::dense(&y));
    let d = all(&cuda, Union(Plus::new(), Damped::new()), &x, Some(&y), &Options::default());
    for (i, a) in a.iter().enumerate() {
        for (j, b) in b.iter().enumerate() {
            let right: f64 = a.iter().zip(b).map(|(a, b)| (a - b).powi(2) / (a + b + 1.0)).sum();
            assert!(close(d.row(i)[j], right, 1e-11, 1e-11), "({i}, {j}): {} not {right}", d.row(i)[j]);
        }
    }
}

sparring::op! {
    /// (a − b)² / (|a| + |b| + 1).
    Damping (a: f64, b: f64) -> f64 { (a - b) * (a - b) / (a.abs() + b.abs() + V::lit(1.0)) }
}
sparring::op! {
    /// |a − b| · (i + 3j + k): a positional ⊗.
    Placed (a: f64, b: f64) at (i, k, j) -> f64 {{
        let three = V::lit(3.0);
        a.abs_diff(b) * (i.cast::<f64>() + three * j.cast::<f64>() + k.cast::<f64>())
    }}
}
sparring::op! {
    /// a + 2b, and infinity where both are 0.
    Detour (a: f64, b: f64) -> f64 {{
        let nothing = a.eq(V::lit(0.0)) & b.eq(V::lit(0.0));
        nothing.select(V::lit(f64::INFINITY), a + b + b)
    }}
}
sparring::op! {
    /// a + b − ab: the probability that at least one of two independent events happens.
    Either (a: f64, b: f64) -> f64 { a + b - a * b } identity 0.0
}
sparring::op! {
    /// |a − b| / (1 + |a − b|).
    Likely (a: f64, b: f64) -> f64 { a.abs_diff(b) / (V::lit(1.0) + a.abs_diff(b)) }
}

fn bits<T: Real>(values: &[T]) -> Vec<u64> {
    values.iter().map(|v| v.as_f64().to_bits()).collect()
}

/// Indices of neighbours, and the bits of their distances.
fn found<T: Real>(near: &Neighbours<T>) -> (usize, &[u32], Vec<u64>) {
    (near.k(), near.indices(), bits(near.distances()))
}

/// Distances, neighbours and radius search are bitwise equal to the CPU.
fn as_the_cpu<T: Float>(cuda: &Cuda, namm: impl Measure + Copy, x: &Csr<T>, y: Option<&Csr<T>>, options: &Options) {
    let cpu = Options { memory_budget: None, ..*options };
    let right = pairwise(&Cpu::new(), namm, x, y, &cpu).expect("CPU");
    let d = pairwise(cuda, namm, x, y, options).expect("distances");
    assert!(bits(cuda.download_dense(&d).expect("distances").values()) == bits(right.values()), "all distances");
    let mut stream = vec![];
    cuda.distances(namm, x)
        .to(y)
        .options(*options)
        .blocks(50, |first, rows| {
            assert_eq!(first * right.ncols(), stream.len());
            stream.extend_from_slice(rows);
            Ok(())
        })
        .expect("distances");
    assert!(bits(&stream) == bits(right.values()), "blocks");
    for k in [1, 7, 40, 1500] {
        let near = knn(cuda, namm, k, x, y, options).expect("neighbours");
        let right = knn(&Cpu::new(), namm, k, x, y, &cpu).expect("CPU");
        assert!(found(&near) == found(&right), "{k} neighbours");
    }
    let mut sorted: Vec<f64> = right.values().iter().map(|v| v.as_f64()).filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    for radius in [-1.0, sorted[sorted.len() / 9], f64::INFINITY] {
        let near = within(cuda, namm, radius, x, y, options).expect("neighbours");
        let near: Csr<T> = cuda.download(&near).expect("neighbours");
        let right: Csr<T> = within(&Cpu::new(), namm, radius, x, y, &cpu).expect("CPU");
        assert!(near.pattern() == right.pattern(), "within {radius}");
        assert!(bits(near.values()) == bits(right.values()), "within {radius}");
    }
}

#[test]
#[ignore = "needs a GPU"]
fn a_namm_whose_sum_is_no_sum() {
    let cuda = cuda();
    let (x, y) = (large(120, 30), large(2900, 30));
    let (plain, own) = (Options::default(), Options { exclude_self: true, ..Options::default() });
    let largest = Union(MaxFromZero::<f64>::new(), Damping::new());
    let placed = Union(MaxFromZero::<f64>::new(), Placed::new());
    let detour = Union(Min::<f64>::new(), Detour::new());
    for b in [Some(&y), None] {
        as_the_cpu(&cuda, largest, &x, b, &plain);
        as_the_cpu(&cuda, placed, &x, b, &plain);
        as_the_cpu(&cuda, detour, &x, b, &plain);
    }
    as_the_cpu(&cuda, placed, &x, None, &own);
    // Blocks of few rows.
    let tight = Options { memory_budget: Some(12 << 20), ..plain };
    as_the_cpu(&cuda, placed, &y, Some(&x), &tight);
    // Computed in a type other than that of the entries.
    let narrow = |a: &Csr<f64>| a.map(|&v| v as f32).expect("entries");
    as_the_cpu(&cuda, largest, &narrow(&x), Some(&narrow(&y)), &plain);
    as_the_cpu(&cuda, Union(MaxFromZero::<f32>::new(), AbsDiff::new()), &x, Some(&y), &plain);

    // A ⊕ that rounds is folded in another order.
    let either = Union(Either::new(), Likely::new());
    let right = pairwise(&Cpu::new(), either, &x, Some(&y), &plain).expect("CPU");
    let d = all(&cuda, either, &x, Some(&y), &plain);
    assert!(d.values().iter().zip(right.values()).all(|(&a, &b)| close(a, b, 1e-12, 1e-12)));
    assert!(cuda.distances(either, &x).to(&y).explain().expect("rows").contains("two passes"));

    // NaN ranks after all numbers and lies within no radius.
    let odd = Csr::<f64>::new(3, 4, vec![0, 1, 1, 3], vec![0, 1, 3], vec![1.0, 2.0, f64::NAN]).expect("3×4");
    assert!(try_all(&cuda, detour, &odd, None, &plain).is_err());
    let unchecked = Options { unchecked: true, ..plain };
    let bad = Union(Either::new(), Likely::new());
    let near = knn(&cuda, bad, 3, &odd, None, &unchecked).expect("unchecked");
    assert_eq!(near.row(0).0, [0, 1, 2], "NaN is farthest");
    assert!(near.row(0).1[2].is_nan());
    assert_eq!(within(&cuda, bad, f64::INFINITY, &odd, None, &unchecked).expect("unchecked").nnz(), 4);

    let none = Csr::<f64>::new(0, 30, vec![0], vec![], vec![]).expect("0×30");
    assert_eq!(all(&cuda, largest, &none, Some(&x), &plain).shape(), (0, 120));
    assert_eq!(all(&cuda, largest, &x, Some(&none), &plain).shape(), (120, 0));
    assert_eq!(knn(&cuda, largest, 3, &x, Some(&none), &plain).expect("none").k(), 0);
    assert_eq!(knn(&cuda, largest, 3, &none, None, &plain).expect("none").nrows(), 0);
    assert_eq!(within(&cuda, largest, 9.0, &x, Some(&none), &plain).expect("none").shape(), (120, 0));
}

/// The numbers of blocks of X and parts of Y that a search used, from its explanation.
fn pieces<T: Real>(near: &Neighbours<T>) -> (usize, usize) {
    let words = near.explain.rsplit_once("; X in ").map_or("1 blocks, Y in 1 parts", |(_, words)| words);
    let numbers: Vec<usize> = words.split(' ').filter_map(|word| word.parse().ok()).collect();
    (numbers[0], numbers[1])
}

#[test]
#[ignore = "needs a GPU"]
fn rows_in_parts_give_the_same_bits() {
    let cuda = cuda();
    let y = large(3000, 60);
    let x = some_rows(&y, 1400, 300);
    let on_device = (cuda.upload(&x).expect("x"), cuda.upload(&y).expect("y"));
    fn check(
        cuda: &Cuda,
        measure: impl Measure + Copy,
        x: &Csr<f64>,
        y: Option<&Csr<f64>>,
        k: usize,
        options: &Options,
    ) {
        let whole = knn(cuda, measure, k, x, y, options).expect("at once");
        assert_eq!(pieces(&whole), (1, 1));
        let budget = (12 * x.nrows() * k) as u64 + 250_000;
        let tight = Options { memory_budget: Some(budget), ..*options };
        let parts = knn(cuda, measure, k, x, y, &tight).expect("in parts");
        assert!(pieces(&parts).1 > 1, "{}", parts.explain);
        assert!(found(&parts) == found(&whole), "{}, {k} neighbours: {}", measure.name(), parts.explain);
    }
    let own = Options { exclude_self: true, ..Options::default() };
    let p3 = Metric::Minkowski(3.0);
    use Metric as M;
    for metric in
        [M::Cosine, M::Correlation, M::Dot, M::Manhattan, M::JensenShannon, M::Kl, M::Chebyshev, M::Jaccard, p3]
    {
        for k in [5, 40] {
            check(&cuda, metric, &x, Some(&y), k, &Options::default());
        }
        check(&cuda, metric, &y, None, 5, &Options::default());
        check(&cuda, metric, &y, None, 33, &own);
    }
    check(&cuda, Metric::Hamming, &x, Some(&y), 1500, &Options::default());
    let placed = Union(MaxFromZero::<f64>::new(), Placed::new());
    for k in [5, 40] {
        check(&cuda, placed, &x, Some(&y), k, &Options::default());
        check(&cuda, placed, &y, None, k, &own);
    }

    // Operands already on the device.
    let tight = Options { memory_budget: Some(300_000), ..Options::default() };
    let whole = knn(&cuda, Metric::Canberra, 4, &x, Some(&y), &Options::default()).expect("at once");
    let parts = knn(&cuda, Metric::Canberra, 4, &on_device.0, Some(&on_device.1), &tight).expect("in parts");
    assert!(pieces(&parts).1 > 1 && found(&parts) == found(&whole));

    // Distances in blocks.
    for (y, budget) in [(Some(&y), 400_000), (None, 70_000)] {
        let width = y.unwrap_or(&x).nrows();
        let stream = |options: &Options| {
            let mut stream = vec![];
            cuda.distances(Metric::JensenShannon, &x)
                .to(y)
                .options(*options)
                .blocks(7, |first, rows| {
                    assert_eq!(first * width, stream.len());
                    stream.extend(bits(rows));
                    Ok(())
                })
                .expect("blocks");
            stream
        };
        let tight = Options { memory_budget: Some(budget), ..Options::default() };
        let refused = cuda.distances(Metric::JensenShannon, &x).to(y).options(tight).prepare();
        assert!(matches!(refused, Err(Error::Budget { .. })), "it does not fit at once");
        assert!(stream(&tight) == stream(&Options::default()));
    }

    // An entry outside the metric's domain is reported with its row in the whole matrix.
    let mut odd = y.clone();
    let at = odd.row_ptr()[2510];
    odd.values_mut()[at] = -1.0;
    let row = odd.row_ptr().partition_point(|&p| p <= at) - 1;
    let refused = knn(&cuda, Metric::Hellinger, 4, &x, Some(&odd), &tight).expect_err("refused").to_string();
    assert!(refused.contains(&format!("row {row}, column")), "{refused}");
    let tiny = Options { memory_budget: Some(3700), ..Options::default() };
    let refused = knn(&cuda, Metric::Cosine, 1, &x, Some(&y), &tiny);
    assert!(matches!(refused, Err(Error::Budget { .. })), "a row does not fit");
}

#[test]
#[ignore = "needs a GPU"]
fn a_budget_of_the_device_is_kept_by_parts() {
    let cuda = cuda();
    let y = large(20_000, 60);
    let x = some_rows(&y, 7000, 200);
    let whole = knn(&cuda, Metric::Euclidean, 6, &x, Some(&y), &Options::default()).expect("at once");
    let cuda = cuda.memory_budget(2 << 20);
    let parts = knn(&cuda, Metric::Euclidean, 6, &x, Some(&y), &Options::default()).expect("in parts");
    assert!(pieces(&parts).1 > 1 && found(&parts) == found(&whole), "{}", parts.explain);
    assert!(cuda.peak_memory().expect("peak") > 0);
}

#[test]
#[ignore = "needs a GPU"]
fn what_a_radius_finds_counts_for_the_budget() {
    let cuda = cuda();
    let x = large(700, 20);
    let tight = Options { memory_budget: Some(2_000_000), ..Options::default() };
    assert!(within(&cuda, Metric::Manhattan, 0.5, &x, None, &tight).is_ok());
    let refused = within(&cuda, Metric::Manhattan, f64::INFINITY, &x, None, &tight).expect_err("490000 neighbours");
    assert!(refused.to_string().contains("neighbours within a radius needs"), "{refused}");
    let namm = Union(MaxFromZero::<f64>::new(), Damping::new());
    let refused = within(&cuda, namm, f64::INFINITY, &x, None, &tight).expect_err("490000 neighbours");
    assert!(matches!(refused, Error::Budget { .. }), "{refused}");
}

#[test]
#[ignore = "needs a GPU"]
fn single_precision() {
    let cuda = cuda();
    let wide = large(700, 50);
    let narrow = Csr::with_pattern(wide.pattern().clone(), wide.values().iter().map(|&v| v as f32).collect::<Vec<_>>())
        .expect("a matrix");
    let get = |metric, options: &Options| -> Vec<f32> {
        let d = pairwise(&cuda, metric, &narrow, None, options).expect("distances");
        cuda.download_dense(&d).expect("distances").into_values()
    };
    for (metric, normalize) in metrics() {
        let d = all(&cuda, metric, &wide, None, &options(normalize));
        // Entries are multiples of 1/4: only the result is rounded.
        let double = get(metric, &options(normalize));
        assert!(double.iter().zip(d.values()).all(|(&a, &b)| a == b as f32), "{metric}");
        let single = get(metric, &Options { precision: Precision::Entries, ..options(normalize) });
        let scale = d.values().iter().copied().filter(|v| v.is_finite()).fold(1.0, |a: f64, b| a.max(b.abs()));
        for (&a, &b) in single.iter().zip(d.values()) {
            assert!(close(f64::from(a), b, 1e-4, 2e-5 * scale), "{metric}: {a:e} instead of {b:e}");
        }
        let near = knn(&cuda, metric, 3, &narrow, None, &options(normalize)).expect("neighbours");
        assert_eq!((near.nrows(), near.k()), (700, 3));
    }
}

#[test]
#[ignore = "needs a GPU"]
fn blocks_and_a_result_that_is_there() {
    let cuda = cuda();
    let (x, y) = (large(130, 20), large(70, 20));
    let options = Options::default();
    for b in [Some(&y), None] {
        let d = all(&cuda, Metric::Canberra, &x, b, &options);
        for rows in [0, 1, 33, 130, 1000] {
            let mut stream = vec![];
            cuda.distances(Metric::Canberra, &x)
                .to(b)
                .options(options)
                .blocks(rows, |first, rows| {
                    assert_eq!(first * d.ncols(), stream.len());
                    stream.extend_from_slice(rows);
                    Ok(())
                })
                .expect("distances");
            assert!(stream.iter().zip(d.values()).all(|(&s, &d)| close(s, d, 1e-14, 1e-14)), "blocks of {rows}");
        }
    }
    let d = all(&cuda, Metric::Canberra, &x, Some(&y), &options);
    let mut own = cuda.upload_dense(&Dense::filled(130, 70, -1.0).expect("room")).expect("room");
    cuda.distances(Metric::Canberra, &x).to(&y).into(&mut own).expect("distances");
    assert_eq!(cuda.download_dense(&own).expect("distances"), d);
    let refused = cuda.distances(Metric::Canberra, &y).to(&x).into(&mut own);
    assert!(matches!(refused, Err(Error::Shape { .. })));
    let stopped = cuda
        .distances(Metric::Canberra, &x)
        .to(&y)
        .blocks(10, |_, _: &[f64]| Err(Error::Argument { name: "block", message: "enough".into() }));
    assert!(matches!(stopped, Err(Error::Argument { name: "block", .. })));
}

#[test]
#[ignore = "needs a GPU"]
fn no_rows_and_no_columns() {
    let cuda = cuda();
    let none = Csr::<f64>::new(0, 5, vec![0], vec![], vec![]).expect("0×5");
    let some = Csr::<f64>::new(2, 5, vec![0, 1, 1], vec![2], vec![1.0]).expect("2×5");
    let thin = Csr::<f64>::new(3, 0, vec![0; 4], vec![], vec![]).expect("3×0");
    let zeros = Csr::<f64>::new(2, 5, vec![0, 2, 3], vec![0, 2, 2], vec![0.0; 3]).expect("2×5");
    let options = Options::default();
    for &metric in &Metric::ALL {
        assert_eq!(all(&cuda, metric, &none, Some(&some), &options).shape(), (0, 2));
        assert_eq!(all(&cuda, metric, &some, Some(&none), &options).shape(), (2, 0));
        assert_eq!(knn(&cuda, metric, 3, &some, Some(&none), &options).expect("none").k(), 0);
        assert_eq!(knn(&cuda, metric, 3, &none, None, &options).expect("none").nrows(), 0);
        let d = all(&cuda, metric, &thin, None, &options);
        assert!(d.values().iter().all(|v| v.is_finite()), "{metric}: {:?}", d.values());
        assert_eq!(within(&cuda, metric, 9.0, &none, None, &options).expect("none").nnz(), 0);
        let found = all(&cuda, metric, &zeros, Some(&some), &options).into_values();
        let expected = textbook::all(metric, None, &textbook::dense(&zeros), &textbook::dense(&some));
        assert!(found.iter().zip(&expected).all(|(&f, &e)| close(f, e, 1e-12, 1e-12)), "{metric}: {found:?}");
    }
}

#[test]
#[ignore = "needs a GPU"]
fn what_is_refused() {
    let cuda = cuda();
    let options = Options::default();
    let text = |r: Result<Dense<f64>>| r.expect_err("refused").to_string();
    let odd = |x: f64| Csr::<f64>::new(3, 4, vec![0, 1, 1, 3], vec![0, 1, 3], vec![1.0, 2.0, x]).expect("3×4");
    let t = text(try_all(&cuda, Metric::Hellinger, &odd(-2.5), None, &options));
    assert!(t.contains("row 2, column 3 holds -2.5") && t.contains("not negative"), "{t}");
    let t = text(try_all(&cuda, Metric::Cosine, &odd(f64::NAN), None, &options));
    assert!(t.contains("row 2") && t.contains("NaN"), "{t}");
    let t = text(try_all(&cuda, Metric::Cosine, &odd(1.0), Some(&odd(f64::INFINITY)), &options));
    assert!(t.contains("row 2") && t.contains("inf"), "{t}");
    let unchecked = Options { unchecked: true, ..options };
    let d = all(&cuda, Metric::Manhattan, &odd(f64::NAN), None, &unchecked);
    assert!(d.row(0)[2].is_nan() && d.row(0)[1] == 1.0);
    for k in [3, 40] {
        let near = knn(&cuda, Metric::Manhattan, k, &odd(f64::NAN), None, &unchecked).expect("unchecked");
        assert_eq!(near.row(0).0, [0, 1, 2], "NaN is farthest");
        assert!(near.row(0).1[2].is_nan());
    }

    let wide = Csr::<f64>::new(1, 9, vec![0, 0], vec![], vec![]).expect("1×9");
    let t = text(try_all(&cuda, Metric::Dot, &wide, Some(&odd(1.0)), &options));
    assert!(t.contains("1×9") && t.contains("3×4"), "{t}");
    let t = text(try_all(&cuda, Metric::Minkowski(0.5), &wide, None, &options));
    assert!(t.contains("0.5 is below 1"), "{t}");
    let exclude = Options { exclude_self: true, ..options };
    assert!(text(try_all(&cuda, Metric::Dot, &wide, Some(&wide), &exclude)).contains("exclude_self"));
    assert!(within(&cuda, Metric::Dot, f64::NAN, &wide, None, &options).is_err());

    let x = large(500, 20);
    let tight = Options { memory_budget: Some(10_000), ..options };
    let t = text(try_all(&cuda, Metric::Dot, &x, None, &tight));
    assert!(t.contains("the budget is 10000 bytes"), "{t}");
    assert!(matches!(knn(&cuda, Metric::Dot, 5, &x, None, &tight), Err(Error::Budget { .. })));
}

#[test]
#[ignore = "needs a GPU"]
fn matrices_of_the_device_and_unsorted_rows() {
    let cuda = cuda();
    fn property(sample: Sample) -> bool {
        let cuda = Cuda::new(0).expect("the device that was there");
        let (x, y) = sample.matrices();
        // The same rows, columns in reverse order.
        let backwards = |a: &Csr<f64>| {
            let (mut columns, mut values) = (a.col_idx().to_vec(), a.values().to_vec());
            for r in a.row_ptr().windows(2) {
                columns[r[0]..r[1]].reverse();
                values[r[0]..r[1]].reverse();
            }
            Csr::<f64>::from_unsorted(a.nrows(), a.ncols(), a.row_ptr().to_vec(), columns, values).expect("rows")
        };
        let (u, v) = (cuda.upload(&backwards(&x)).expect("x"), cuda.upload(&backwards(&y)).expect("y"));
        let d = pairwise(&cuda, Metric::Euclidean, &u, Some(&v), &Options::default()).expect("distances");
        cuda.download_dense(&d).expect("distances") == all(&cuda, Metric::Euclidean, &x, Some(&y), &Options::default())
    }
    drop(cuda);
    QuickCheck::new().tests(10).quickcheck(property as fn(Sample) -> bool);
}

/// Textual formulas compared with the CPU: all distances and neighbours, in f64 and in f32.
#[test]
#[ignore = "needs a GPU"]
fn formulas_that_are_text() {
    let cuda = cuda();
    fn check<T: Float>(cuda: &Cuda, text: &str, x: &Csr<T>, y: Option<&Csr<T>>, (rtol, atol): (f64, f64)) {
        let formula = Formula::parse(text).expect("a formula");
        let options = Options { precision: Precision::Entries, ..Options::default() };
        let same = |found: &[T], right: &[T]| {
            let pairs = found.iter().zip(right);
            found.len() == right.len()
                && pairs.fold(true, |all, (a, b)| all & close(a.as_f64(), b.as_f64(), rtol, atol))
        };
        let right = pairwise(&Cpu::new(), formula.clone(), x, y, &options).expect("CPU");
        let (u, v) = (cuda.upload(x).expect("x"), y.map(|y| cuda.upload(y).expect("y")));
        let d = pairwise(cuda, formula.clone(), &u, v.as_ref(), &options).expect("GPU");
        let d = cuda.download_dense(&d).expect("distances");
        assert!(same(d.values(), right.values()), "{text}: all distances, {}, {}", T::TYPE, y.is_some());
        let right = knn(&Cpu::new(), formula.clone(), 5, x, y, &options).expect("CPU");
        let near = knn(cuda, formula, 5, &u, v.as_ref(), &options).expect("GPU");
        assert!(same(near.distances(), right.distances()), "{text}: neighbours, {}, {}", T::TYPE, y.is_some());
    }
    let (x, y) = (large(700, 60), large(2300, 60));
    let shares = |a: &Csr<f64>| a.map(|v| v / 3.0).expect("thirds");
    let (x, y) = (shares(&x), shares(&y));
    let narrow = |a: &Csr<f64>| a.map(|&v| v as f32).expect("entries");
    let (u, v) = (narrow(&x), narrow(&y));
    for text in [
        "abs(a-b)",
        "abs(a-b) / (a+b+1)",
        "if a == b then 0 else abs(a-b) / (abs(a)+abs(b))",
        "(a-b) * (a-b)",
        "a - 3*b",
        "let d = abs(a - b); sqrt(d) + pow(d, 1.5)",
        "if a == 0 then 0 else a * ln(a/b)",
        "max(a, b) - min(a, b)",
    ] {
        check(&cuda, text, &x, None, (1e-9, 1e-10));
        check(&cuda, text, &x, Some(&y), (1e-9, 1e-10));
        check(&cuda, text, &u, None, (1e-2, 1e-3));
        check(&cuda, text, &u, Some(&v), (1e-2, 1e-3));
    }
}

/// A textual formula compared with the CPU's closures.
#[test]
#[ignore = "needs a GPU"]
fn a_formula_by_its_text() {
    let cuda = cuda();
    fn text<N: Contract>(namm: N) -> String {
        emit_contract(namm)
    }
    let over = |a: f64, b: f64| (a - b).abs() / if a == 0.0 && b == 0.0 { 1.0 } else { a.abs() + b.abs() };
    let texts =
        [text(Union(Plus::new(), CanberraDiff::<f32>::new())), text(Union(Plus::new(), CanberraDiff::<f64>::new()))];
    let formula = Formula::new("|a-b| / (|a|+|b|)", over).cuda(texts);
    let (x, y) = (large(700, 60), large(2300, 60));
    for b in [None, Some(&y)] {
        let plain = Options::default();
        let right = pairwise(&Cpu::new(), formula.clone(), &x, b, &plain).expect("CPU");
        let d = all(&cuda, formula.clone(), &x, b, &plain);
        assert!(d.values().iter().zip(right.values()).all(|(&a, &b)| close(a, b, 1e-12, 1e-12)));
        let near = knn(&cuda, formula.clone(), 5, &x, b, &plain).expect("neighbours");
        let right = knn(&Cpu::new(), formula.clone(), 5, &x, b, &plain).expect("CPU");
        assert!(near.distances().iter().zip(right.distances()).all(|(&a, &b)| close(a, b, 1e-12, 1e-12)));
    }
    let unknown = Formula::new("|a-b|", |a: f64, b: f64| (a - b).abs());
    let refused = try_all(&cuda, unknown, &x, None, &Options::default()).expect_err("no text").to_string();
    assert!(refused.contains("|a-b|") && refused.contains("no GPU text"), "{refused}");
}
