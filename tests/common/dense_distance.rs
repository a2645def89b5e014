//! Every metric by its definition, on dense rows: so plain that it is right by reading.

use sparring::Csr;
use sparring::distance::Metric;

pub(crate) type Rows = Vec<Vec<f64>>;

/// The sparse matrix with these rows: nonzeros, and explicit zeros where `stored` says.
pub(crate) fn sparse(rows: &Rows, ncols: usize, stored: impl Fn(usize, usize) -> bool) -> Csr<f64> {
    let (mut row_ptr, mut columns, mut values) = (vec![0], vec![], vec![]);
    for (i, row) in rows.iter().enumerate() {
        for (j, &x) in row.iter().enumerate() {
            if x != 0.0 || stored(i, j) {
                columns.push(j as u32);
                values.push(x);
            }
        }
        row_ptr.push(columns.len());
    }
    Csr::new(rows.len(), ncols, row_ptr, columns, values).expect("a matrix")
}

pub(crate) fn dense(a: &Csr<f64>) -> Rows {
    let mut rows = vec![vec![0.0; a.ncols()]; a.nrows()];
    for (i, row) in rows.iter_mut().enumerate() {
        let (columns, values) = a.row(i);
        columns.iter().zip(values).for_each(|(&j, &x)| row[j as usize] = x);
    }
    rows
}

/// d for all pairs of rows, row by row.
pub(crate) fn all(metric: Metric, normalize: Option<bool>, x: &Rows, y: &Rows) -> Vec<f64> {
    x.iter().flat_map(|a| y.iter().map(move |b| distance(metric, normalize, a, b))).collect()
}

fn sum(a: &[f64], b: &[f64], f: impl Fn(f64, f64) -> f64) -> f64 {
    a.iter().zip(b).map(|(&a, &b)| f(a, b)).sum()
}

/// a / b, 0/0 = 0.
fn over(a: f64, b: f64) -> f64 {
    if a == 0.0 && b == 0.0 { 0.0 } else { a / b }
}

fn by_sum(x: &[f64]) -> Vec<f64> {
    let s: f64 = x.iter().sum();
    x.iter().map(|&v| over(v, s)).collect()
}

/// x ln(x/y), 0 for x = 0.
fn rel(x: f64, y: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x * (x / y).ln() }
}

fn cosine(a: &[f64], b: &[f64]) -> f64 {
    let norm = |v: &[f64]| sum(v, v, |p, q| p * q).sqrt();
    // Rows that are constant up to rounding count as zero rows.
    match (norm(a) < 1e-13, norm(b) < 1e-13) {
        (true, true) => 0.0,
        (true, false) | (false, true) => 1.0,
        _ => {
            let (na, nb) = (norm(a), norm(b));
            0.5 * sum(a, b, |p, q| (p / na - q / nb).powi(2))
        }
    }
}

pub(crate) fn distance(metric: Metric, normalize: Option<bool>, x: &[f64], y: &[f64]) -> f64 {
    let k = x.len() as f64;
    let (nx, ny) = (sum(x, x, |a, _| f64::from(a != 0.0)), sum(y, y, |a, _| f64::from(a != 0.0)));
    let both = sum(x, y, |a, b| f64::from(a != 0.0 && b != 0.0));
    let (p, q) = (nx - both, ny - both);
    let neither = k - nx - ny + both;
    let normalized = normalize.unwrap_or(metric == Metric::JensenShannon);
    let (u, v) = if normalized { (by_sum(x), by_sum(y)) } else { (x.to_vec(), y.to_vec()) };
    match metric {
        Metric::Dot => sum(x, y, |a, b| a * b),
        Metric::Cosine => cosine(x, y),
        Metric::Correlation => {
            let centre = |v: &[f64]| -> Vec<f64> {
                let mean = v.iter().sum::<f64>() / k;
                v.iter().map(|a| a - mean).collect()
            };
            cosine(&centre(x), &centre(y))
        }
        Metric::Euclidean => sum(x, y, |a, b| (a - b).powi(2)).sqrt(),
        Metric::SquaredEuclidean => sum(x, y, |a, b| (a - b).powi(2)),
        Metric::Manhattan => sum(x, y, |a, b| (a - b).abs()),
        Metric::Canberra => sum(x, y, |a, b| over((a - b).abs(), a.abs() + b.abs())),
        Metric::Chebyshev | Metric::Minkowski(f64::INFINITY) => {
            x.iter().zip(y).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        }
        Metric::Hamming => over(sum(x, y, |a, b| f64::from(a != b)), k),
        Metric::HammingCount => sum(x, y, |a, b| f64::from(a != b)),
        Metric::Minkowski(p) => sum(x, y, |a, b| (a - b).abs().powf(p)).powf(1.0 / p),
        Metric::Hellinger => sum(&u, &v, |a, b| 0.5 * (a.sqrt() - b.sqrt()).powi(2)).sqrt(),
        Metric::JensenShannon => {
            if normalized && (nx == 0.0) != (ny == 0.0) {
                return std::f64::consts::LN_2.sqrt();
            }
            (0.5 * sum(&u, &v, |a, b| rel(a, 0.5 * (a + b)) + rel(b, 0.5 * (a + b)))).max(0.0).sqrt()
        }
        Metric::Kl => sum(&u, &v, |a, b| if a > 0.0 && b == 0.0 { f64::INFINITY } else { rel(a, b) }),
        Metric::KlIntersection => sum(&u, &v, |a, b| if b == 0.0 { 0.0 } else { rel(a, b) }),
        Metric::Jaccard => over(p + q, p + q + both),
        Metric::Dice => over(p + q, nx + ny),
        Metric::RussellRao => over(k - both, k),
        Metric::BrayCurtis => over(sum(x, y, |a, b| (a - b).abs()), sum(x, y, |a, b| a + b)),
        Metric::Ruzicka => over(sum(x, y, |a, b| (a - b).abs()), sum(x, y, f64::max)),
        Metric::Yule => over(2.0 * p * q, if p * q == 0.0 { 0.0 } else { both * neither + p * q }),
        Metric::RogersTanimoto | Metric::SokalMichener => over(2.0 * (p + q), k + p + q),
        Metric::SokalSneath => over(2.0 * (p + q), both + 2.0 * (p + q)),
        Metric::Matching => over(p + q, k),
        Metric::Kulsinski => over(p + q - both + k, k + p + q),
        _ => panic!("{metric} has no textbook"),
    }
}
