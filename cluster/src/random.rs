//! Graphs and matrices drawn at random, of which every rank draws a part.
//!
//! Entry e is a hash of e and the seed, and rank r of p draws those from ⌊m·r / p⌋ on: the same matrix on any number of
//! ranks.

use rayon::prelude::*;
use sparring::algebra::Type;
use sparring::runtime::{BinaryOp, Matrix};
use sparring::{Error, Result};

use crate::cluster::Cluster;
use crate::permute::Permutation;
use crate::route::Triplets;
use crate::wire::{bytes, reserved};

/// Entries that a rank draws before it sends them.
const ROUND: u64 = 1 << 20;

/// How an R-MAT graph is drawn.
///
/// ```
/// use sparring::Cpu;
/// use sparring_cluster::{Cluster, Rmat};
/// let a = Cluster::new(Cpu::new())?.rmat(10, 8, 1, &Rmat::new().undirected(true))?;
/// assert_eq!(a.shape(), (1024, 1024));
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rmat {
    quadrants: [f64; 3],
    is_shuffled: bool,
    is_undirected: bool,
}

impl Default for Rmat {
    fn default() -> Self {
        Self { quadrants: [0.57, 0.19, 0.19], is_shuffled: true, is_undirected: false }
    }
}

impl Rmat {
    /// The probabilities of Graph500, vertices shuffled, each edge in the direction in which it is drawn.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
    /// Probabilities of the quadrants: upper left, upper right, lower left; lower right has the rest.
    #[must_use]
    pub fn quadrants(mut self, a: f64, b: f64, c: f64) -> Self {
        self.quadrants = [a, b, c];
        self
    }
    /// Whether vertices have numbers in a random order, so that those of high degree are not the first.
    #[must_use]
    pub fn shuffled(mut self, shuffled: bool) -> Self {
        self.is_shuffled = shuffled;
        self
    }
    /// Whether each edge has both directions.
    #[must_use]
    pub fn undirected(mut self, undirected: bool) -> Self {
        self.is_undirected = undirected;
        self
    }
}

/// The finalizer of splitmix64.
fn mixed(x: u64) -> u64 {
    let z = x.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}
/// In [0, 1).
fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1u64 << 53) as f64
}
/// Below `n`.
fn below(bits: u64, n: usize) -> usize {
    ((u128::from(bits) * n as u128) >> 64) as usize
}

impl Cluster {
    /// The adjacency matrix of an R-MAT graph of 2^`scale` vertices, of which `edge_factor`·2^`scale` edges are drawn;
    /// values are 1, as f64, also where an edge is drawn more than once. Collective; the same graph on any number of
    /// ranks.
    ///
    /// Each edge falls into one of four quadrants of the matrix, of that into one of its four, and so on. Cost: O(scale
    /// · edges / p) time and O(edges / p) memory for each rank.
    /// # Errors
    /// [`Error::Argument`] for more vertices than 32-bit indices have, more edges than 64 bits count, and probabilities
    /// that are none; [`Error::OutOfMemory`]; on every rank if one has them.
    /// # Example
    /// ```
    /// use sparring::Cpu;
    /// use sparring_cluster::{Cluster, Rmat};
    /// let a = Cluster::new(Cpu::new())?.rmat(8, 16, 1, &Rmat::new())?;
    /// assert_eq!(a.shape(), (256, 256));
    /// assert!(a.nnz() > 1000 && a.nnz() < 16 * 256);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// Source: Chakrabarti, Zhan, Faloutsos 2004, "R-MAT: a recursive model for graph mining".
    pub fn rmat(&self, scale: u32, edge_factor: u64, seed: u64, options: &Rmat) -> Result<Matrix> {
        let [a, b, c] = options.quadrants;
        let refused = |name, message| Err(Error::Argument { name, message });
        if scale > 31 {
            return refused("scale", format!("2^{scale} vertices do not fit 32-bit indices"));
        }
        if [a, b, c, 1.0 - (a + b + c)].iter().any(|p| !(-1e-12..=1.0).contains(p)) {
            return refused("quadrants", format!("{a}, {b}, {c} and the rest are no probabilities"));
        }
        let Some(edges) = edge_factor.checked_mul(1 << scale) else {
            return refused("edge_factor", format!("{edge_factor}·2^{scale} edges are more than 64 bits count"));
        };
        let names = Permutation::new(1 << scale, mixed(seed));
        let (first, key) = (a + b, mixed(seed ^ 0x524d_4154));
        let draw = |edge: u64| {
            let (mut i, mut j, own) = (0usize, 0usize, mixed(key ^ mixed(edge)));
            for level in 1..=u64::from(scale) {
                let x = unit(mixed(own.wrapping_add(level)));
                let (down, right) = (x >= first, if x < first { x >= a } else { x >= first + c });
                (i, j) = (2 * i + usize::from(down), 2 * j + usize::from(right));
            }
            let (i, j) = if options.is_shuffled { (names.image(i), names.image(j)) } else { (i, j) };
            (i, j, 1.0)
        };
        let what = format!("R-MAT graph of scale {scale}, {edge_factor} edges a vertex, seed {seed}, {options:?}");
        self.drawn(&what, (1 << scale, 1 << scale), edges, options.is_undirected, draw)
    }
    /// A matrix with `entries` entries drawn, each at any place: those at a place that is drawn more than once are one.
    /// Values are in [0, 1), as f64, by their place. Collective; the same matrix on any number of ranks.
    ///
    /// Cost: O(entries / p) for each rank.
    /// # Errors
    /// [`Error::Argument`] for entries of a matrix that has no place; [`Error::IndexOverflow`]; [`Error::OutOfMemory`]; on
    /// every rank if one has them.
    /// # Example
    /// ```
    /// use sparring::Cpu;
    /// use sparring_cluster::Cluster;
    /// let a = Cluster::new(Cpu::new())?.uniform((1000, 50), 400, 1)?;
    /// assert!(a.shape() == (1000, 50) && a.nnz() > 380 && a.nnz() <= 400);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn uniform(&self, (m, n): (usize, usize), entries: u64, seed: u64) -> Result<Matrix> {
        if entries > 0 && (m == 0 || n == 0) {
            let message = format!("there are {entries} for a matrix of {m}×{n}, which has no place");
            return Err(Error::Argument { name: "entries", message });
        }
        Matrix::empty(Type::F64, 0, n)?;
        let key = mixed(seed ^ 0x554e_4946);
        let draw = |entry: u64| {
            let own = mixed(key ^ mixed(entry));
            let (i, j) = (below(mixed(own.wrapping_add(1)), m), below(mixed(own.wrapping_add(2)), n));
            (i, j, unit(mixed(key ^ mixed(i as u64) ^ mixed(mixed(j as u64)))))
        };
        self.drawn(&format!("{m}×{n} matrix, {entries} entries drawn, seed {seed}"), (m, n), entries, false, draw)
    }
    fn drawn(
        &self,
        what: &str,
        shape: (usize, usize),
        entries: u64,
        is_undirected: bool,
        draw: impl Fn(u64) -> (usize, usize, f64) + Sync,
    ) -> Result<Matrix> {
        let start = |rank: usize| (u128::from(entries) * rank as u128 / self.size() as u128) as u64;
        let (mine, end) = (start(self.rank()), start(self.rank() + 1));
        let rounds = entries.div_ceil(self.size() as u64).div_ceil(ROUND).max(1);
        let round = |round: u64| {
            let at = |round: u64| end.min(mine.saturating_add(round * ROUND));
            let range = at(round)..at(round + 1);
            let count = (range.end - range.start) as usize;
            let (mut places, mut values) = (reserved(count, "places")?, reserved(count, "values")?);
            // Without their index no threads are asked for.
            match self.inner().threads().filter(|threads| threads.count() > 1) {
                None => places.extend(range.map(&draw)),
                Some(threads) => threads.install(|| places.par_extend(range.into_par_iter().map(&draw))),
            }
            let both = if is_undirected { 2 } else { 1 };
            let (mut rows, mut cols) = (reserved(both * count, "rows")?, reserved(both * count, "columns")?);
            for (i, j, x) in places {
                for (i, j) in [(i, j), (j, i)].into_iter().take(both) {
                    rows.push(i);
                    cols.push(j);
                    values.push(x);
                }
            }
            Ok(Triplets { ty: Type::F64, rows, cols, values: bytes(&values).to_vec() })
        };
        // Entries at one place have one value.
        let first = BinaryOp::new("first", Type::F64)?;
        let twice = |row, column| Error::Duplicate { row, column };
        self.made(what, shape, |shared| shared.routed_in_rounds(shape, (0..rounds).map(round), Some(&first)), twice)
    }
}

#[cfg(test)]
mod tests {
    use sparring::Cpu;

    use super::*;

    #[test]
    fn quadrants_have_their_probabilities() {
        let cluster = Cluster::alone(Cpu::new());
        let a = cluster.rmat(1, 50_000, 3, &Rmat::new().shuffled(false)).unwrap();
        assert_eq!((a.shape(), a.nnz()), ((2, 2), 4));
        let of = |a, b, c| cluster.rmat(9, 8, 5, &Rmat::new().quadrants(a, b, c).shuffled(false)).unwrap();
        assert_eq!(of(1.0, 0.0, 0.0).download().unwrap().pattern().unwrap().row(0), [0]);
        assert_eq!(of(0.0, 1.0, 0.0).download().unwrap().pattern().unwrap().row(0), [511]);
        assert_eq!(of(0.0, 0.0, 1.0).download().unwrap().pattern().unwrap().row(511), [0]);
        assert_eq!(of(0.0, 0.0, 0.0).download().unwrap().pattern().unwrap().row(511), [511]);
        let a = of(0.57, 0.19, 0.19).download().unwrap();
        let above = a.pattern().unwrap().row_ptr()[256] as f64 / a.nnz() as f64;
        assert!((0.6..0.8).contains(&above), "{above}");
        for refused in [
            cluster.rmat(32, 1, 0, &Rmat::new()),
            cluster.rmat(9, u64::MAX, 0, &Rmat::new()),
            cluster.rmat(9, 1, 0, &Rmat::new().quadrants(0.5, 0.5, 0.1)),
            cluster.rmat(9, 1, 0, &Rmat::new().quadrants(f64::NAN, 0.5, 0.1)),
            cluster.uniform((0, 5), 1, 0),
        ] {
            assert!(matches!(refused, Err(Error::Argument { .. })));
        }
        assert_eq!(cluster.uniform((0, 5), 0, 0).unwrap().shape(), (0, 5));
    }
}
