//! The matrices and tensors of `gen.py`: hash `mix(seed·G + (counter + 1)·K)`, mix the finalizer of splitmix64.
//!
//! Unless a matrix has given values, its p-th entry in row order is `0.5 + u(seed + 1, p)`.

use super::keys::{check_size, cross, cube, from_keys, stencil_keys};
use super::memory::{grow, listed, reserved};
use super::{mix, places, unit};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use sparring::par::{Threads, filled};
use sparring::tensor::Tensor;
use sparring::{Csr, Error, Result};

const DRAWS: &str = "the draws of a generated matrix";
/// Rows generated per task by [`docs`].
const ROWS: usize = 64;

fn hash(seed: u64, counter: u64) -> u64 {
    let (g, k) = (0x9E37_79B9_7F4A_7C15_u64, 0xD134_2543_DE82_EF95_u64);
    mix(seed.wrapping_mul(g).wrapping_add(counter.wrapping_add(1).wrapping_mul(k)))
}

fn uniform(seed: u64, counter: u64) -> f64 {
    unit(hash(seed, counter))
}

/// xʸ; a square is a single multiplication, rounded once.
fn power(x: f64, y: f64) -> f64 {
    if y == 2.0 { x * x } else { x.powf(y) }
}

fn matrix(nrows: u64, ncols: u64, keys: Vec<u64>, seed: u64) -> Result<Csr<f64>> {
    from_keys(nrows, ncols, keys, |p, _, _| value(seed, p))
}

/// Value of the p-th entry in row order.
fn value(seed: u64, p: u64) -> f64 {
    0.5 + uniform(seed + 1, p)
}

/// A recursive random graph (R-MAT): 2^scale vertices, edge_factor · 2^scale draws with quadrant probabilities
/// 0.57, 0.19, 0.19, 0.05; directed, self-loops kept, labels not shuffled, duplicates dropped.
/// # Errors
/// [`Error::Argument`] for sizes out of range, [`Error::OutOfMemory`].
pub fn rmat(scale: u32, edge_factor: u64, seed: u64) -> Result<Csr<f64>> {
    check_size("scale", scale.into(), 31)?;
    check_size("edge_factor", edge_factor, 1 << 24)?;
    let (a, b, c) = (0.57, 0.19, 0.19);
    let (lower, lower_right) = (a + b, a + b + c);
    let (n, draws) = (1u64 << scale, edge_factor << scale);
    let mut keys = reserved(draws as usize, DRAWS)?;
    keys.extend((0..draws).map(|e| {
        let (mut i, mut j) = (0u64, 0u64);
        for level in 0..u64::from(scale) {
            let u = uniform(seed, e * u64::from(scale) + level);
            i = 2 * i + u64::from(u >= lower);
            j = 2 * j + u64::from((a..lower).contains(&u) || u >= lower_right);
        }
        i * n + j
    }));
    matrix(n, n, keys, seed)
}

/// n × n with `d` uniform draws per row, duplicates dropped.
/// # Errors
/// [`Error::Argument`] for sizes out of range, [`Error::OutOfMemory`].
pub fn er(n: u64, d: u64, seed: u64) -> Result<Csr<f64>> {
    check_size("n", n, 1 << 31)?;
    check_size("d", d, 1 << 24)?;
    let mut keys = reserved((n * d) as usize, DRAWS)?;
    keys.extend((0..n * d).map(|t| t / d * n + hash(seed, t) % n));
    matrix(n, n, keys, seed)
}

/// The pattern of the 27-point stencil on k³ points.
/// # Errors
/// [`Error::Argument`] for sizes out of range, [`Error::OutOfMemory`].
pub fn stencil27(k: u64, seed: u64) -> Result<Csr<f64>> {
    check_size("k", k, 1290)?;
    matrix(k.pow(3), k.pow(3), stencil_keys([k; 3], &cube())?, seed)
}

/// The pattern of the 5-point Laplacian on k² points.
/// # Errors
/// [`Error::Argument`] for sizes out of range, [`Error::OutOfMemory`].
pub fn lap2d(k: u64, seed: u64) -> Result<Csr<f64>> {
    check_size("k", k, 46_340)?;
    matrix(k * k, k * k, stencil_keys([1, k, k], &cross(2))?, seed)
}

/// Trilinear interpolation from ⌈k/2⌉³ points to k³: along each axis, weight 1 at even points, ½ and ½
/// at odd ones (weights beyond the boundary are dropped).
/// # Errors
/// [`Error::Argument`] for sizes out of range, [`Error::OutOfMemory`].
pub fn interp3d(k: u64) -> Result<Csr<f64>> {
    check_size("k", k, 1290)?;
    let coarse = k.div_ceil(2);
    // Coarse points that contribute to a point along one axis; the weight is 1 at even points, else ½.
    let sources = |i: u64| (i / 2..=i.div_ceil(2)).filter(move |&j| j < coarse);
    let mut keys = Vec::new();
    let (n, m) = (k.pow(3), coarse.pow(3));
    for i in 0..n {
        let [x, y, z] = [i / k / k, i / k % k, i % k];
        grow(&mut keys, 8, DRAWS)?;
        for a in sources(x) {
            for b in sources(y) {
                keys.extend(sources(z).map(|c| i * m + (a * coarse + b) * coarse + c));
            }
        }
    }
    let weight = |x: u64| if x.is_multiple_of(2) { 1.0 } else { 0.5 };
    from_keys(n, m, keys, |_, i, _| weight(i / k / k) * weight(i / k % k) * weight(i % k))
}

/// Bag-of-words rows: row i has ⌈degree · (¼ + 1½ u²)⌉ draws, each of column ⌊ncols · u^(1 + skew)⌋;
/// duplicates dropped.
/// # Errors
/// [`Error::Argument`] for sizes out of range, [`Error::OutOfMemory`].
pub fn docs(nrows: u64, ncols: u64, degree: u64, seed: u64, skew: f64) -> Result<Csr<f64>> {
    check_size("nrows", nrows, 1 << 31)?;
    check_size("ncols", ncols, 1 << 31)?;
    check_size("degree", degree, 1 << 31)?;
    let n = nrows as usize;
    let mut draws_before = reserved(n + 1, DRAWS)?;
    draws_before.push(0u64);
    for i in 0..nrows {
        let draws = (degree as f64 * (0.25 + 1.5 * power(uniform(seed, i), 2.0))).ceil() as u64;
        draws_before.push(draws_before[i as usize] + draws);
    }
    // Rows depend on each other only through the number of draws before them, so blocks of rows are generated in
    // parallel.
    let block = |first: usize| -> Result<(Vec<u32>, Vec<usize>)> {
        let rows = first..n.min(first + ROWS);
        let draws = draws_before[rows.end] - draws_before[first];
        let (mut columns, mut lengths) = (reserved(draws as usize, DRAWS)?, reserved(rows.len(), DRAWS)?);
        let mut row: Vec<u32> = Vec::new();
        for i in rows {
            row.clear();
            grow(&mut row, (draws_before[i + 1] - draws_before[i]) as usize, DRAWS)?;
            row.extend((draws_before[i]..draws_before[i + 1]).map(|t| {
                let column = power(uniform(seed + 1, t), 1.0 + skew) * ncols as f64;
                (column as u64).min(ncols - 1) as u32
            }));
            row.sort_unstable();
            row.dedup();
            columns.extend_from_slice(&row);
            lengths.push(row.len());
        }
        Ok((columns, lengths))
    };
    let firsts = (0..n.div_ceil(ROWS)).into_par_iter().map(|b| b * ROWS);
    let blocks = Threads::current().install(|| firsts.map(block).collect::<Result<Vec<_>>>())?;
    let nnz = blocks.iter().map(|(columns, _)| columns.len()).sum();
    let (mut row_ptr, mut col_idx) = (reserved(n + 1, "row pointers")?, reserved(nnz, "column indices")?);
    row_ptr.push(0);
    for (columns, lengths) in blocks {
        for length in lengths {
            row_ptr.push(row_ptr[row_ptr.len() - 1] + length);
        }
        col_idx.extend_from_slice(&columns);
    }
    let values = listed(nnz, |p| value(seed, p as u64), "values")?;
    Csr::new(n, ncols as usize, row_ptr, col_idx, values)
}

/// `draws` draws of entries, with index ⌊n u^(1 + skew)⌋ in a mode of size n; duplicates dropped, sorted. The p-th
/// value is `0.5 + u(seed + 99, p)`.
/// # Errors
/// [`Error::Argument`] for sizes out of range, [`Error::OutOfMemory`].
pub fn tensor(dims: &[u64], draws: usize, seed: u64, skew: f64) -> Result<Tensor<f64>> {
    let mut elements = 1u64;
    for &n in dims {
        check_size("dims", n, 1 << 31)?;
        elements = elements.checked_mul(n).ok_or_else(|| {
            let message = format!("{dims:?} have more than 2⁶⁴ elements");
            Error::Argument { name: "dims", message }
        })?;
    }
    let mut drawn = filled(draws, 0u64, places::DRAWS)?;
    for (&n, seed) in dims.iter().zip(seed..) {
        places::append(&mut drawn, n, |e| {
            let u = uniform(seed, e as u64);
            let u = if skew == 0.0 { u } else { power(u, 1.0 + skew) };
            ((u * n as f64) as u64).min(n - 1)
        });
    }
    places::distinct(&mut drawn);
    let values = listed(drawn.len(), |p| 0.5 + uniform(seed + 99, p as u64), places::DRAWS)?;
    places::tensor(dims, values, |p| drawn[p])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint;

    /// Fingerprints of the matrices of the Python script.
    #[test]
    fn small_matrices_have_the_bits_of_the_script() {
        #[rustfmt::skip]
        let cases = [
            (rmat(8, 8, 1), (256, 256), 1534, [0xa36389b5ce41446f, 0x4d910bf371520abc, 0xf4bed936d164d38f]),
            (er(500, 5, 2), (500, 500), 2493, [0x107d3d2c407ed6a9, 0xe743d7e7a519030b, 0xa586efc67218100c]),
            (stencil27(4, 3), (64, 64), 1000, [0x9b94f9cb27dc035d, 0xc48e27b876a4dcfa, 0xe8b3aa5831d18f0e]),
            (lap2d(7, 4), (49, 49), 217, [0x9105f25c3ba0b8dd, 0x5a58b9af3756dc14, 0x859fbb564145f808]),
            (interp3d(6), (216, 27), 512, [0xf8aad8dcc07a71fd, 0x212e1a2703465e77, 0x24c7390e5a99f447]),
            (interp3d(7), (343, 64), 1000, [0x9aac304ef1cdaa1d, 0xc9d30c59202d19ea, 0xae9b03badff8f0d3]),
            (docs(300, 1000, 20, 51, 1.5), (300, 1000), 4559, [0xf80d58a1fbdb7ca0, 0x537d8249d6fd0a1c, 0x574e45c949672e51]),
            (docs(300, 1000, 20, 51, 1.0), (300, 1000), 4674, [0xe08f8036786c3a28, 0xc06e60d801fe8239, 0xf2216ff6dca14ad8]),
            (docs(300, 1000, 20, 71, 0.5), (300, 1000), 4606, [0x1012ce96f4bf86a9, 0xba53657bc7a6e16e, 0xc4e40f6a1129aa2b]),
        ];
        for (a, shape, nnz, bits) in cases {
            let a = a.unwrap();
            assert_eq!((a.shape(), a.nnz()), (shape, nnz));
            assert_eq!(fingerprint(&a), bits);
        }
    }
}
