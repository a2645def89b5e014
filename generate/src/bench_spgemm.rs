//! The matrices of `bench_spgemm.py`: hash `splitmix64(counter + seed)`.
//!
//! Unless a matrix has given values, its entry (i, j) is `0.5 + u(h(7, i, j))` with u the upper 53 bits
//! as a number in [0, 1) and `h(s, i, j) = splitmix64(splitmix64(i + s) xor j)`.

use super::keys::{check_size, cross, cube, from_keys, stencil_keys};
use super::memory::{grow, reserved};
use super::{splitmix64, unit};
use sparring::algebra::Plus;
use sparring::par::Threads;
use sparring::{Coo, Csr, Error, Result};

const DRAWS: &str = "the draws of a generated matrix";

fn hash2(seed: u64, i: u64, j: u64) -> u64 {
    splitmix64(splitmix64(i.wrapping_add(seed)) ^ j)
}

/// The rule for values: from the position of the entry in the matrix.
pub(super) fn value(_: u64, i: u64, j: u64) -> f64 {
    unit(hash2(7, i, j)) + 0.5
}

/// A recursive random graph (R-MAT): 2^scale vertices, edge_factor · 2^scale draws, each placed level by level
/// into a quadrant with probabilities 0.57, 0.19, 0.19, 0.05. Self-loops and duplicates are dropped.
///
/// Source: Chakrabarti, Zhan, Faloutsos 2004; parameters of Graph500.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rmat {
    /// Binary logarithm of the number of vertices, 1 to 31.
    pub scale: u32,
    /// Draws per vertex.
    pub edge_factor: u64,
    /// Seed.
    pub seed: u64,
    /// Whether (j, i) is added to each (i, j).
    pub symmetric: bool,
    /// Whether labels are shuffled; otherwise low labels have the high degrees.
    pub shuffled: bool,
}

impl Rmat {
    /// A symmetric graph with shuffled labels, seed 1.
    #[must_use]
    pub fn new(scale: u32, edge_factor: u64) -> Self {
        Self { scale, edge_factor, seed: 1, symmetric: true, shuffled: true }
    }
    /// The adjacency matrix.
    /// # Errors
    /// [`Error::Argument`] for sizes out of range, [`Error::OutOfMemory`].
    pub fn matrix(self) -> Result<Csr<f64>> {
        let keys = self.keys()?;
        let n = 1 << self.scale;
        from_keys(n, n, keys, value)
    }
    /// Row · n + column of each entry, with duplicates.
    pub(super) fn keys(self) -> Result<Vec<u64>> {
        check_size("scale", self.scale.into(), 31)?;
        check_size("edge_factor", self.edge_factor, 1 << 24)?;
        let (n, draws) = (1u64 << self.scale, self.edge_factor << self.scale);
        let label = if self.shuffled { shuffle(n, self.seed)? } else { Vec::new() };
        let label = |i: u64| label.get(i as usize).copied().map_or(i, u64::from);
        let mut keys = reserved(draws as usize * (1 + usize::from(self.symmetric)), DRAWS)?;
        for e in 0..draws {
            let (mut i, mut j) = (0u64, 0u64);
            for level in 0..u64::from(self.scale) {
                let u = unit(splitmix64((e * 64 + level).wrapping_add(self.seed << 40)));
                i = 2 * i + u64::from(u >= 0.76);
                j = 2 * j + u64::from((0.57..0.76).contains(&u) || u >= 0.95);
            }
            let (i, j) = (label(i), label(j));
            if i != j {
                keys.push(i * n + j);
                if self.symmetric {
                    keys.push(j * n + i);
                }
            }
        }
        Ok(keys)
    }
}

/// New labels of 0..n: the rank of each by its hash.
fn shuffle(n: u64, seed: u64) -> Result<Vec<u32>> {
    let mut order: Vec<u32> = reserved(n as usize, DRAWS)?;
    order.extend(0..n as u32);
    order.sort_by_cached_key(|&i| splitmix64(u64::from(i).wrapping_add(seed + 12345)));
    let mut label = reserved(n as usize, DRAWS)?;
    label.resize(n as usize, 0);
    for (rank, &i) in order.iter().enumerate() {
        label[i as usize] = rank as u32;
    }
    Ok(label)
}

/// n × n with `d` uniform draws per row, duplicates dropped.
/// # Errors
/// [`Error::Argument`] for sizes out of range, [`Error::OutOfMemory`].
pub fn er(n: u64, d: u64, seed: u64) -> Result<Csr<f64>> {
    check_size("n", n, 1 << 31)?;
    check_size("d", d, 1 << 24)?;
    let mut keys = reserved((n * d) as usize, DRAWS)?;
    keys.extend((0..n * d).map(|t| t / d * n + splitmix64(t.wrapping_add(seed << 40)) % n));
    from_keys(n, n, keys, value)
}

/// n × n, full within `half` of the diagonal.
/// # Errors
/// [`Error::Argument`] for sizes out of range, [`Error::OutOfMemory`].
pub fn banded(n: u64, half: u64) -> Result<Csr<f64>> {
    check_size("n", n, 1 << 31)?;
    let width = half.saturating_mul(2).saturating_add(1).min(n);
    let mut keys = reserved((n * width) as usize, DRAWS)?;
    keys.extend(
        (0..n).flat_map(|i| (i.saturating_sub(half)..=(i.saturating_add(half)).min(n - 1)).map(move |j| i * n + j)),
    );
    from_keys(n, n, keys, value)
}

fn laplacian(dims: [u64; 3], offsets: &[[i64; 3]], diagonal: f64) -> Result<Csr<f64>> {
    let n = dims.iter().product();
    from_keys(n, n, stencil_keys(dims, offsets)?, |_, i, j| if i == j { diagonal } else { -1.0 })
}

/// The 5-point Laplacian on nx² points: 4 on the diagonal, −1 off the diagonal.
/// # Errors
/// [`Error::Argument`] for sizes out of range, [`Error::OutOfMemory`].
pub fn lap2d(nx: u64) -> Result<Csr<f64>> {
    check_size("nx", nx, 46_340)?;
    laplacian([1, nx, nx], &cross(2), 4.0)
}
/// The 7-point Laplacian on nx³ points: 6 on the diagonal, −1 off the diagonal.
/// # Errors
/// [`Error::Argument`] for sizes out of range, [`Error::OutOfMemory`].
pub fn lap3d(nx: u64) -> Result<Csr<f64>> {
    check_size("nx", nx, 1290)?;
    laplacian([nx; 3], &cross(3), 6.0)
}
/// The 27-point stencil on nx³ points: 26 on the diagonal, −1 off the diagonal.
/// # Errors
/// [`Error::Argument`] for sizes out of range, [`Error::OutOfMemory`].
pub fn stencil27(nx: u64) -> Result<Csr<f64>> {
    check_size("nx", nx, 1290)?;
    laplacian([nx; 3], &cube(), 26.0)
}

/// A Galerkin triple (R, A, P) of smoothed aggregation; R·A·P is the coarse-grid matrix.
///
/// A is [`lap3d`], P = (I − ⅔ D⁻¹ A) P₀ with P₀ the indicator of boxes of 3³ points, R = Pᵀ.
/// # Errors
/// [`Error::Argument`] for sizes out of range, [`Error::OutOfMemory`].
pub fn galerkin(nx: u64) -> Result<[Csr<f64>; 3]> {
    let a = lap3d(nx)?;
    let boxes = nx.div_ceil(3);
    let box_of = |i: u64| ((i / nx / nx / 3 * boxes) + i / nx % nx / 3) * boxes + i % nx / 3;
    let weight = 2.0 / 3.0 / 6.0;
    let mut row_ptr = reserved(a.nrows() + 1, "row pointers")?;
    let (mut col_idx, mut values) = (reserved(a.nnz(), "column indices")?, reserved(a.nnz(), "values")?);
    row_ptr.push(0);
    for i in 0..a.nrows() {
        let own = box_of(i as u64);
        // (box, row i of A · P₀): at most seven boxes, and sums of integers, so the order does not matter.
        let mut row: Vec<(u64, f64)> = Vec::with_capacity(7);
        let (cols, entries) = a.row(i);
        for (&j, x) in cols.iter().zip(entries) {
            let b = box_of(j.into());
            match row.iter_mut().find(|(c, _)| *c == b) {
                Some((_, sum)) => *sum += x,
                None => row.push((b, *x)),
            }
        }
        row.sort_unstable_by_key(|&(b, _)| b);
        for (b, sum) in row {
            let p0 = if b == own { 1.0 } else { 0.0 };
            col_idx.push(b as u32);
            values.push(p0 - weight * sum);
        }
        row_ptr.push(col_idx.len());
    }
    let p = Csr::new(a.nrows(), boxes.pow(3) as usize, row_ptr, col_idx, values)?;
    Ok([p.transpose(&Threads::current())?, a, p])
}

/// A web-like graph: out-degrees follow a power law; four fifths of a page's links form one run within
/// its host of 256 pages (navigation), the rest lead to popular pages, which are in blocks of 64.
/// # Errors
/// [`Error::Argument`] for sizes out of range, [`Error::OutOfMemory`].
pub fn weblike(n: u64, seed: u64) -> Result<Csr<f64>> {
    const HOST: u64 = 256;
    check_size("n", n, 1 << 31)?;
    let mut keys = Vec::new();
    for i in 0..n {
        let draw = unit(splitmix64(i.wrapping_add(seed << 40)));
        let degree = (3.0 * (1.0 - draw).powf(-0.75)).min(1500.0) as u64;
        let local = (degree * 4 / 5).min(HOST);
        grow(&mut keys, degree as usize, DRAWS)?;
        let host = i / HOST;
        let start = hash2(seed, host, splitmix64(i) % 4) % HOST;
        keys.extend((0..local).map(|t| i * n + (host * HOST + (start + t) % HOST).min(n - 1)));
        keys.extend((0..degree - local).map(|t| {
            let u = unit(hash2(seed.wrapping_add(9), i, t));
            let page = ((n as f64 * u.powf(4.0)) as u64).min(n - 1);
            i * n + (page / 64 * HOST * 37 + page % 64) % n
        }));
    }
    from_keys(n, n, keys, value)
}

/// A + Aᵀ without the diagonal and without zeros.
/// # Errors
/// [`Error::OutOfMemory`]; [`Error::NotSquare`].
pub fn symmetrized(a: &Csr<f64>) -> Result<Csr<f64>> {
    if a.nrows() != a.ncols() {
        return Err(Error::NotSquare { op: "symmetrized", nrows: a.nrows(), ncols: a.ncols() });
    }
    let len = 2 * a.nnz();
    let (mut rows, mut cols, mut values) =
        (reserved(len, "row indices")?, reserved(len, "column indices")?, reserved(len, "values")?);
    for (i, j, &x) in a.iter().filter(|(i, j, _)| i != j) {
        rows.extend([i as u32, j as u32]);
        cols.extend([j as u32, i as u32]);
        values.extend([x, x]);
    }
    let sum = Coo::new(a.nrows(), a.ncols(), rows, cols, values)?.to_csr(Plus::<f64>::new())?;
    if sum.values().iter().all(|x| *x != 0.0) {
        return Ok(sum);
    }
    let keys = sum.iter().filter(|e| *e.2 != 0.0).map(|(i, j, _)| i as u64 * a.ncols() as u64 + j as u64).collect();
    from_keys(a.nrows() as u64, a.ncols() as u64, keys, |_, i, j| *sum.get(i as usize, j as usize).unwrap_or(&0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint;

    #[track_caller]
    fn same(a: Result<Csr<f64>>, shape: (usize, usize), nnz: usize, bits: [u64; 3]) {
        let a = a.unwrap();
        assert_eq!((a.shape(), a.nnz()), (shape, nnz));
        assert_eq!(fingerprint(&a), bits);
    }

    /// Fingerprints of the matrices of the Python script.
    #[test]
    fn small_matrices_have_the_bits_of_the_script() {
        let raw = Rmat { seed: 5, symmetric: false, shuffled: false, ..Rmat::new(7, 8) };
        #[rustfmt::skip]
        let cases = [
            (Rmat::new(8, 4).matrix(), 256, 1456, [0xf88f76fb3748dbcc, 0x3898d6b1079293f0, 0x96c033046d3f4ceb]),
            (raw.matrix(), 128, 704, [0x27ff74560ab27661, 0xa77731edc5901eba, 0x20440a2d4c7ce93f]),
            (er(500, 5, 2), 500, 2489, [0xe4a21654567ad559, 0x8c2eeef058bd01e9, 0x650ab471a0d1dceb]),
            (banded(50, 3), 50, 338, [0xec67d262d8669e08, 0x8f2f44c3620b15ef, 0x948467a482265792]),
            (lap2d(7), 49, 217, [0x9105f25c3ba0b8dd, 0x5a58b9af3756dc14, 0x9710cc9b3aa04b68]),
            (lap3d(5), 125, 725, [0xcb8525a5b2884795, 0x2c6b6c4b9197d853, 0x1d2d5a17599fa875]),
            (stencil27(4), 64, 1000, [0x9b94f9cb27dc035d, 0xc48e27b876a4dcfa, 0x392d5b8c750b8c5f]),
            (weblike(1000, 3), 1000, 10189, [0x5d7359d4113e19ff, 0x01e622788755f447, 0xeb8d8feff4f0aa5f]),
            (weblike(1000, 3).and_then(|a| symmetrized(&a)), 1000, 20000, [0xc7923c2cee8c971d, 0x4bbdf8ffff6abcbe, 0x8cfcffa9154a5d61]),
        ];
        for (a, n, nnz, bits) in cases {
            same(a, (n, n), nnz, bits);
        }
        let [r, a, p] = galerkin(7).unwrap();
        same(Ok(r), (27, 343), 931, [0x66b5a560d522cc95, 0xf4056afe59adf388, 0x76e456dfae72b92f]);
        same(Ok(a), (343, 343), 2107, [0x023fa7f54bdd9e64, 0x0e2097e743aee12b, 0xb5b294c8bc49329e]);
        same(Ok(p), (343, 27), 931, [0x9a791cc551f3f0b4, 0x1c4ed62926013f43, 0x1cbbc12b32f1dbce]);
    }

    #[test]
    fn symmetrizing_drops_what_cancels() {
        let a = Csr::new(2, 2, vec![0, 2, 3], vec![0, 1, 0], vec![5.0, 1.0, -1.0]).unwrap();
        assert_eq!(symmetrized(&a).unwrap().nnz(), 0);
        assert!(symmetrized(&Csr::empty(2, 3).unwrap()).is_err());
    }

    #[test]
    fn sizes_out_of_range_are_refused() {
        assert_eq!(Rmat::new(40, 8).matrix().unwrap_err().to_string(), "scale: 40 is not between 1 and 31");
        for refused in [er(0, 1, 2), er(5, 0, 2), banded(0, 3), lap2d(0), lap3d(2000), stencil27(0), weblike(0, 3)] {
            assert!(refused.is_err());
        }
        assert_eq!(banded(3, u64::MAX).unwrap().nnz(), 9);
    }
}
