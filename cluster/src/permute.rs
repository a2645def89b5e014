//! Assembly of matrices from entries contributed by all ranks, and random permutations for load balance.

use std::sync::Arc;

use sparring::algebra::Array;
use sparring::runtime::engine::bytes_of;
use sparring::runtime::{BinaryOp, Matrix, Vector};
use sparring::{Error, Result};

use crate::Cluster;
use crate::blocks::Piece;
use crate::route::Triplets;
use crate::wire::reserved;

/// Rounds of the Feistel network.
const ROUNDS: u64 = 4;

/// A pseudo-random permutation π of 0, 1, …, n − 1, the same on every rank, computed without a table.
///
/// π(i) takes expected O(1) time: a four-round Feistel network on the smallest even number of bits that can hold n − 1,
/// repeated while the result is n or more (cycle walking).
///
/// ```
/// use sparring_cluster::Permutation;
/// let p = Permutation::new(5, 1);
/// let mut images: Vec<usize> = (0..5).map(|i| p.image(i)).collect();
/// assert!((0..5).all(|i| p.preimage(images[i]) == i));
/// images.sort_unstable();
/// assert_eq!(images, [0, 1, 2, 3, 4]);
/// ```
/// Source: Black and Rogaway 2002, "Ciphers with arbitrary finite domains", §3 (cycle walking).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permutation {
    len: usize,
    seed: u64,
    /// Bits of each half of a Feistel block.
    half: u32,
}

impl Permutation {
    /// The permutation of `len` numbers with this seed.
    #[must_use]
    pub fn new(len: usize, seed: u64) -> Self {
        let bits = usize::BITS - len.saturating_sub(1).leading_zeros();
        Self { len, seed, half: bits.div_ceil(2).max(1) }
    }
    /// n, the number of elements permuted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }
    /// Whether n = 0.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// π(i).
    /// # Panics
    /// If `i` is not below [`len`](Self::len).
    #[must_use]
    pub fn image(&self, i: usize) -> usize {
        self.walk(i, |(left, right), round| (right, left ^ self.mixed(right, round)), 0..ROUNDS)
    }
    /// i with π(i) = `j`.
    /// # Panics
    /// If `j` is not below [`len`](Self::len).
    #[must_use]
    pub fn preimage(&self, j: usize) -> usize {
        self.walk(j, |(left, right), round| (right ^ self.mixed(left, round), left), (0..ROUNDS).rev())
    }
    /// Applies all rounds until the result is less than n.
    fn walk(
        &self,
        i: usize,
        step: impl Fn((u64, u64), u64) -> (u64, u64),
        rounds: impl Iterator<Item = u64> + Clone,
    ) -> usize {
        assert!(i < self.len, "{i} is not below {}", self.len);
        let mask = (1u64 << self.half) - 1;
        let mut x = i as u64;
        loop {
            let (left, right) = rounds.clone().fold((x >> self.half, x & mask), &step);
            x = left << self.half | right;
            if x < self.len as u64 {
                return x as usize;
            }
        }
    }
    /// Round function: the finalizer of splitmix64.
    fn mixed(&self, half: u64, round: u64) -> u64 {
        let mut z = (half ^ round << 40).wrapping_add(self.seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) & ((1 << self.half) - 1)
    }
}

impl Cluster {
    /// `C(i, j) = ⊕ x` over the triples (i, j, x) contributed by all ranks. Each rank generates its own entries, and
    /// every entry is sent to its owner. Collective.
    ///
    /// Shapes: `rows`, `cols` and the values have the same length on a rank, possibly 0, which may differ between
    /// ranks. Duplicates are combined by `dup` in rank order. Cost: O(entries / p) per rank if contributions are
    /// balanced.
    /// # Errors
    /// [`Error::Length`]; [`Error::IndexRange`]; [`Error::Duplicate`] for duplicates without `dup`;
    /// [`Error::OutOfMemory`]. An error of one rank is reported on all.
    /// # Example
    /// ```
    /// use sparring::algebra::{Array, Type};
    /// use sparring::{Cpu, runtime::BinaryOp};
    /// use sparring_cluster::Cluster;
    /// let cluster = Cluster::new(Cpu::new())?;
    /// // Each rank contributes its diagonal entry, and 1 to entry (0, 0).
    /// let (r, p) = (cluster.rank() as u32, cluster.size());
    /// let entries = (vec![r, 0], vec![r, 0], Array::of(vec![1i64, 1]));
    /// let a = cluster.build((p, p), entries, Some(&BinaryOp::new("plus", Type::I64)?))?;
    /// assert_eq!(a.download()?.csr::<i64>().unwrap().values()[0], 1 + p as i64);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn build(
        &self,
        shape: (usize, usize),
        (rows, cols, values): (Vec<u32>, Vec<u32>, Array),
        dup: Option<&BinaryOp>,
    ) -> Result<Matrix> {
        let what = format!("build {}×{} of {}", shape.0, shape.1, values.ty());
        self.collected(&what, shape, || triplets(shape, &rows, &cols, &values), dup)
    }
    /// `B(π(i), ρ(j)) = A(i, j)` for a permutation π of the rows and ρ of the columns. Collective.
    ///
    /// Random permutations balance the entries per block, wherever A is dense. With π = ρ, B is the adjacency matrix of
    /// the relabeled graph: vertex v becomes π(v). [`permuted_back`](Self::permuted_back) maps results per vertex back.
    /// Cost: O(nnz / p) per rank.
    /// # Errors
    /// [`Error::Length`] if a permutation does not match the dimension; [`Error::OutOfMemory`]; those of the device.
    /// # Example
    /// ```
    /// use sparring::{Cpu, Csr, runtime::Matrix};
    /// use sparring_cluster::{Cluster, Permutation, graph::bfs_levels};
    /// let cluster = Cluster::new(Cpu::new())?;
    /// // 0 → 1 → 2
    /// let a = Matrix::from(Csr::<f32>::new(3, 3, vec![0, 1, 2, 2], vec![1, 2], vec![1.0; 2])?);
    /// let p = Permutation::new(3, 7);
    /// let b = cluster.permuted(&a, &p, &p)?;
    /// let levels = bfs_levels(&cluster.machine(), &b, p.image(0))?;
    /// let levels = cluster.permuted_back(&levels, &p)?.download()?;
    /// assert_eq!(levels.typed::<u32>().unwrap().as_full(), Some(&[0, 1, 2][..]));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn permuted(&self, a: &Matrix, rows: &Permutation, cols: &Permutation) -> Result<Matrix> {
        let (m, n) = a.shape();
        for (what, permutation, expected) in [("rows permuted", rows, m), ("columns permuted", cols, n)] {
            if permutation.len() != expected {
                return Err(Error::Length { what, found: permutation.len(), expected });
            }
        }
        let a = self.block(a)?;
        let (of_rows, of_cols) = self.0.grid.block(a.shape);
        let to = |i: usize, j: usize| Some((rows.image(of_rows.start + i), cols.image(of_cols.start + j)));
        self.collected("permute", a.shape, || Triplets::of(&a.block, to), None)
    }
    /// `x(i) = y(π(i))`: maps a vector over the rows of a [`permuted`](Self::permuted) matrix back to the original
    /// rows. Collective; O(n / p) per rank.
    /// # Errors
    /// As for [`permuted`](Self::permuted).
    pub fn permuted_back(&self, y: &Vector, permutation: &Permutation) -> Result<Vector> {
        let (len, shared) = (y.len(), &self.0);
        if permutation.len() != len {
            return Err(Error::Length { what: "elements permuted", found: permutation.len(), expected: len });
        }
        let y = self.piece(y)?;
        let start = shared.grid.piece(len).start;
        let (piece, nnz) = shared.together("permute back", || {
            let to = |j: usize| Some((permutation.preimage(start + j), 0));
            let piece = shared.routed_vector(len, Triplets::of_vector(&y.piece, to), None)?;
            let nnz = piece.nvals()?;
            Ok((piece, nnz))
        })?;
        Ok(Piece { shared: Arc::clone(shared), len, nnz, piece }.into())
    }
}

/// Entries, after a check that they lie within the shape.
fn triplets((m, n): (usize, usize), rows: &[u32], cols: &[u32], values: &Array) -> Result<Triplets> {
    let expected = rows.len();
    for (what, found) in [("columns", cols.len()), ("values", values.slice().len())] {
        if found != expected {
            return Err(Error::Length { what, found, expected });
        }
    }
    let list = |axis, from: &[u32], bound: usize| -> Result<Vec<usize>> {
        let mut to = reserved(from.len(), "entries")?;
        for (position, &index) in from.iter().enumerate() {
            if index as usize >= bound {
                return Err(Error::IndexRange { axis, position, index: index.into(), bound });
            }
            to.push(index as usize);
        }
        Ok(to)
    };
    let (rows, cols) = (list("row", rows, m)?, list("column", cols, n)?);
    Ok(Triplets { ty: values.ty(), rows, cols, values: bytes_of(values.slice())? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_one_image() {
        for len in [0, 1, 2, 3, 5, 16, 17, 100, 1000, 4097] {
            for seed in [0, 1, u64::MAX] {
                let p = Permutation::new(len, seed);
                let mut seen = vec![false; len];
                for i in 0..len {
                    let j = p.image(i);
                    assert!(!std::mem::replace(&mut seen[j], true), "{len}, {seed}");
                    assert_eq!(p.preimage(j), i);
                }
            }
        }
        let (p, q) = (Permutation::new(1000, 1), Permutation::new(1000, 2));
        assert!((0..1000).filter(|&i| p.image(i) == q.image(i)).count() < 20);
        // The lower half maps evenly to both halves.
        let low = (0..500).filter(|&i| p.image(i) < 500).count();
        assert!((200..300).contains(&low), "{low}");
    }
}
