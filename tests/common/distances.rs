//! Shared by the distance tests of CPU and GPU: reference vectors, generators of overlapping rows, all metrics.

use quickcheck::{Arbitrary, Gen};
use serde_json::Value;
use sparring::backend::DistanceBackend;
use sparring::distance::{Float, Measure, Metric, Neighbours, Options};
use sparring::{Csr, Result};

use super::dense_distance::{self as textbook, Rows};

/// All pairwise distances on a device.
pub(crate) fn all<B: DistanceBackend<T, A>, T: Float, A>(
    on: &B,
    measure: impl Measure,
    x: &A,
    y: Option<&A>,
    options: &Options,
) -> Result<B::Distances> {
    on.distances(measure, x).to(y).options(*options).eval()
}

/// The `k` nearest rows on a device.
pub(crate) fn nearest<B: DistanceBackend<T, A>, T: Float, A>(
    on: &B,
    measure: impl Measure,
    k: usize,
    x: &A,
    y: Option<&A>,
    options: &Options,
) -> Result<Neighbours<T>> {
    on.neighbours(measure, x).to(y).options(*options).k(k).eval()
}

/// The rows within a radius on a device.
pub(crate) fn within<B: DistanceBackend<T, A>, T: Float, A>(
    on: &B,
    measure: impl Measure,
    radius: f64,
    x: &A,
    y: Option<&A>,
    options: &Options,
) -> Result<B::Graph> {
    on.neighbours(measure, x).to(y).options(*options).radius(radius).eval()
}

/// Whether `a` equals the expected `b`: NaN and infinities exactly, other values within the tolerances.
pub(crate) fn close(a: f64, b: f64, rtol: f64, atol: f64) -> bool {
    a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= atol + rtol * b.abs()
}

/// A number in the file of reference vectors, including "nan" and "inf".
fn number(x: &Value) -> f64 {
    match x.as_str() {
        Some("nan") => f64::NAN,
        Some("inf") => f64::INFINITY,
        Some("-inf") => f64::NEG_INFINITY,
        _ => x.as_f64().expect("a number"),
    }
}

fn table(x: &Value) -> Rows {
    x.as_array().expect("rows").iter().map(|r| r.as_array().expect("a row").iter().map(number).collect()).collect()
}

/// The rows as a matrix, with explicit zeros at the given positions.
fn matrix(rows: &Rows, ncols: usize, zeros: Option<&Value>) -> Csr<f64> {
    let stored: Vec<(usize, usize)> = zeros
        .map(|z| z.as_array().expect("places").iter())
        .into_iter()
        .flatten()
        .map(|p| (p[0].as_u64().expect("row") as usize, p[1].as_u64().expect("column") as usize))
        .collect();
    textbook::sparse(rows, ncols, |i, j| stored.contains(&(i, j)))
}

fn vectors() -> Value {
    serde_json::from_str(include_str!("../golden/distance-vectors.json")).expect("reference vectors")
}

fn metric_of(case: &Value) -> Metric {
    let p = case["p"].as_f64().or((case["metric"] == "minkowski").then_some(3.0));
    Metric::named(case["metric"].as_str().expect("a name"), p).expect("known")
}

/// Checks every reference vector on a function that computes all distances, row by row.
pub(crate) fn check_vectors(all: impl Fn(Metric, &Csr<f64>, Option<&Csr<f64>>, &Options) -> Vec<f64>) {
    for case in vectors()["cases"].as_array().expect("cases") {
        let id = case["id"].as_str().expect("an id");
        let (x, y) = (table(&case["x"]), (!case["y"].is_null()).then(|| table(&case["y"])));
        let ncols = case["shape"][2].as_u64().expect("columns") as usize;
        let zeros = |side: &str| case.get("explicit_zeros").and_then(|z| z.get(side));
        let (a, b) = (matrix(&x, ncols, zeros("x")), y.map(|y| matrix(&y, ncols, zeros("y"))));
        let options = Options { unchecked: id.starts_with("negative"), ..Options::default() };
        let found = all(metric_of(case), &a, b.as_ref(), &options);
        let expected: Vec<f64> = table(&case["expected"]).concat();
        let (rtol, atol) = (case["rtol"].as_f64().expect("rtol"), case["atol"].as_f64().expect("atol"));
        assert_eq!(found.len(), expected.len(), "{id}");
        for (place, (&f, &e)) in found.iter().zip(&expected).enumerate() {
            assert!(close(f, e, rtol, atol), "{id}, place {place}: {f:e} instead of {e:e}");
        }
    }
}

/// Checks every reference vector of neighbours on a function that finds the k nearest among the rows themselves.
pub(crate) fn check_vectors_of_neighbours(knn: impl Fn(Metric, usize, &Csr<f64>) -> Neighbours<f64>) {
    for case in vectors()["knn"].as_array().expect("cases") {
        let id = case["id"].as_str().expect("an id");
        let rows = table(&case["x"]);
        let x = matrix(&rows, rows[0].len(), None);
        let near = knn(metric_of(case), case["k"].as_u64().expect("k") as usize, &x);
        let (indices, distances) = (table(&case["indices"]), table(&case["distances"]));
        for i in 0..x.nrows() {
            let (found, d) = near.row(i);
            assert_eq!(found.iter().map(|&j| f64::from(j)).collect::<Vec<_>>(), indices[i], "{id}, row {i}");
            assert_eq!(d.len(), distances[i].len(), "{id}, row {i}");
            for (d, e) in d.iter().zip(&distances[i]) {
                assert!(close(*d, *e, 1e-12, 1e-12), "{id}, row {i}: {d:e} instead of {e:e}");
            }
        }
    }
}

/// Two matrices with fewer than `ROWS` rows and at most `COLUMNS` columns, so that many columns are shared: zeros,
/// repeated rows, empty rows, full rows, stored zeros.
#[derive(Clone, Debug)]
pub(crate) struct Sample<const ROWS: u64, const COLUMNS: u64> {
    pub(crate) x: Rows,
    pub(crate) y: Rows,
    ncols: usize,
    stored: u64,
}

impl<const ROWS: u64, const COLUMNS: u64> Arbitrary for Sample<ROWS, COLUMNS> {
    fn arbitrary(g: &mut Gen) -> Self {
        let below = |g: &mut Gen, n: u64| (u64::arbitrary(g) % n) as usize;
        let ncols = 1 + below(g, COLUMNS);
        let rows = |g: &mut Gen| -> Rows {
            let mut rows: Rows = vec![];
            for _ in 0..below(g, ROWS) {
                let density = [0, 1, 3, 10][below(g, 4)];
                let row = match below(g, 8) {
                    0 if !rows.is_empty() => rows[below(g, rows.len() as u64)].clone(),
                    1 => (0..ncols).map(|j| (j + 1) as f64).collect(),
                    _ => (0..ncols)
                        .map(|_| if below(g, 10) < density { below(g, 9) as f64 / 4.0 } else { 0.0 })
                        .collect(),
                };
                rows.push(row);
            }
            rows
        };
        Self { x: rows(g), y: rows(g), ncols, stored: u64::arbitrary(g) }
    }
}

impl<const ROWS: u64, const COLUMNS: u64> Sample<ROWS, COLUMNS> {
    /// X and Y; some of the zeros are stored.
    pub(crate) fn matrices(&self) -> (Csr<f64>, Csr<f64>) {
        let stored = |i: usize, j: usize| self.stored >> ((i * 7 + j) % 64) & 1 == 1;
        (textbook::sparse(&self.x, self.ncols, stored), textbook::sparse(&self.y, self.ncols, stored))
    }
}

/// Every metric, with and without normalized rows where that makes a difference.
pub(crate) fn metrics() -> Vec<(Metric, Option<bool>)> {
    let mut all: Vec<_> = Metric::ALL.iter().map(|&m| (m, None)).collect();
    all.extend([1.0, 1.5, 2.0, f64::INFINITY].map(|p| (Metric::Minkowski(p), None)));
    for m in [Metric::Hellinger, Metric::JensenShannon, Metric::Kl, Metric::KlIntersection] {
        all.extend([(m, Some(true)), (m, Some(false))]);
    }
    all
}

pub(crate) fn options(normalize: Option<bool>) -> Options {
    Options { normalize, ..Options::default() }
}

/// Many rows, some repeated and one full; columns of very different lengths.
pub(crate) fn large(n: usize, ncols: usize) -> Csr<f64> {
    let mut state = 1u64;
    let mut next = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state >> 33
    };
    let mut rows: Rows = vec![];
    for i in 0..n {
        let mut row = vec![0.0; ncols];
        if i % 50 == 7 {
            row.clone_from(&rows[i / 3]);
        } else if i != n / 2 {
            for _ in 0..next() % 12 {
                row[(next() % ncols as u64 * (next() % ncols as u64) / ncols as u64) as usize] =
                    (next() % 8) as f64 / 4.0;
            }
        } else {
            row.iter_mut().enumerate().for_each(|(j, x)| *x = j as f64);
        }
        rows.push(row);
    }
    textbook::sparse(&rows, ncols, |_, _| false)
}

/// Few distinct values, so that many pairs tie; magnitudes differ widely.
pub(crate) const FEW: [f64; 6] = [1.0, 1.0, 2.0, 0.5, 3.0, 1e-9];

/// The same numbers on every platform.
pub(crate) struct Draws(pub(crate) u64);

impl Draws {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) % n as u64) as usize
    }
}

/// Rows of up to `most` entries in `ncols` columns, few of them popular; some rows are empty, some repeat earlier ones.
pub(crate) fn scattered(seed: u64, [nrows, ncols, most]: [usize; 3], values: &[f64]) -> Csr<f64> {
    let mut draws = Draws(seed);
    let mut made: Vec<Vec<(u32, f64)>> = vec![];
    for i in 0..nrows {
        let kind = draws.below(10);
        let mut row = vec![];
        if kind == 0 && i > 0 {
            row = made[draws.below(i)].clone();
        } else if kind > 1 {
            let popular = (ncols / 16).max(1);
            for _ in 0..draws.below(most + 1) {
                let column = if draws.below(8) == 0 { draws.below(popular) } else { draws.below(ncols) };
                row.push((column as u32, values[draws.below(values.len())]));
            }
            row.sort_by_key(|entry| entry.0);
            row.dedup_by_key(|entry| entry.0);
        }
        made.push(row);
    }
    let row_ptr = std::iter::once(0).chain(made.iter().scan(0, |end, row| {
        *end += row.len();
        Some(*end)
    }));
    let (columns, values) = made.iter().flatten().copied().unzip();
    Csr::new(nrows, ncols, row_ptr.collect(), columns, values).expect("rows")
}
