//! Nearest neighbours of every row: the result, and the lists that grow into it.

use crate::algebra::Real;
use crate::par::{collected, filled, reserved};
use crate::{Csr, Index, Result};

/// The nearest rows of Y for each row of X, nearest first; rows at equal distance in order of their numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbours<T> {
    nrows: usize,
    ncols: usize,
    k: usize,
    indices: Vec<u32>,
    distances: Vec<T>,
    /// What ran, and why.
    pub explain: String,
}

impl<T: Real> Neighbours<T> {
    /// The result of rows that all have `k` neighbours among `ncols`.
    pub(crate) fn new(
        ncols: usize,
        k: usize,
        indices: Vec<u32>,
        distances: Vec<T>,
        nrows: usize,
        explain: String,
    ) -> Self {
        debug_assert!(indices.len() == nrows * k && distances.len() == nrows * k);
        Self { nrows, ncols, k, indices, distances, explain }
    }
    /// Rows of X.
    pub fn nrows(&self) -> usize {
        self.nrows
    }
    /// Neighbours of each row: what was asked for, or as many as there are.
    pub fn k(&self) -> usize {
        self.k
    }
    /// Numbers of the neighbours, k for each row.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }
    /// Distances to them.
    pub fn distances(&self) -> &[T] {
        &self.distances
    }
    /// Neighbours of row `i`, and distances to them.
    pub fn row(&self, i: usize) -> (&[u32], &[T]) {
        let range = i * self.k..(i + 1) * self.k;
        (&self.indices[range.clone()], &self.distances[range])
    }
    /// The graph of neighbours, nrows(X) × nrows(Y): an entry for each neighbour, its value the distance.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn to_csr<I: Index>(&self) -> Result<Csr<T, I>> {
        let n = self.indices.len();
        let (mut columns, mut values) = (reserved(n, "columns")?, reserved(n, "distances")?);
        let mut order: Vec<usize> = reserved(self.k, "neighbours")?;
        for i in 0..self.nrows {
            let (near, distances) = self.row(i);
            order.clear();
            order.extend(0..self.k);
            order.sort_unstable_by_key(|&p| near[p]);
            columns.extend(order.iter().map(|&p| I::cast(near[p] as usize)));
            values.extend(order.iter().map(|&p| distances[p]));
        }
        let row_ptr = collected(self.nrows + 1, (0..=self.nrows).map(|i| i * self.k), "row pointers")?;
        Csr::new(self.nrows, self.ncols, row_ptr, columns, values)
    }
}

/// The k nearest so far of some rows: a heap each, the farthest on top.
pub(crate) struct Lists {
    k: usize,
    /// Entries of each heap.
    len: Vec<u32>,
    /// Key that a candidate must be below to be looked at: one that was refused, or ∞; NaN, which refuses nothing, of a heap that is not
    /// full or holds what is not a number.
    worst: Vec<f64>,
    /// How far, and which.
    heaps: Vec<(f64, u32)>,
}

/// Whether `a` is farther than `b`. NaN is farther than anything else.
fn farther(a: (f64, u32), b: (f64, u32)) -> bool {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).is_gt()
}

impl Lists {
    pub(crate) fn new(rows: usize, k: usize) -> Result<Self> {
        let places = rows.saturating_mul(k);
        Ok(Self {
            k,
            len: filled(rows, 0, "neighbours")?,
            worst: filled(rows, f64::NAN, "neighbours")?,
            heaps: filled(places, (0.0, 0), "neighbours")?,
        })
    }
    /// Bytes of lists of that size.
    pub(crate) fn bytes(rows: usize, k: usize) -> u64 {
        (rows as u64).saturating_mul(12 + 16 * k as u64)
    }
    /// Keys that a candidate of each row must be below.
    pub(crate) fn worst(&self) -> &[f64] {
        &self.worst
    }
    /// Takes candidate `j` for row `i` if it is nearer than what the row has: `far` away, which grows with its key, but may be the same
    /// for several keys.
    pub(crate) fn push(&mut self, i: usize, key: f64, far: f64, j: u32) {
        if self.k == 0 {
            return;
        }
        let heap = &mut self.heaps[i * self.k..][..self.k];
        let len = self.len[i] as usize;
        if len < self.k {
            heap[len] = (far, j);
            let mut at = len;
            while at > 0 && farther(heap[at], heap[(at - 1) / 2]) {
                heap.swap(at, (at - 1) / 2);
                at = (at - 1) / 2;
            }
            self.len[i] += 1;
        } else if farther(heap[0], (far, j)) {
            heap[0] = (far, j);
            let mut at = 0;
            while 2 * at + 1 < heap.len() {
                let mut child = 2 * at + 1;
                if child + 1 < heap.len() && farther(heap[child + 1], heap[child]) {
                    child += 1;
                }
                if !farther(heap[child], heap[at]) {
                    break;
                }
                heap.swap(at, child);
                at = child;
            }
        } else {
            // So is what has a larger key.
            self.worst[i] = key;
        }
        if self.worst[i].is_nan() && self.len[i] as usize == self.k && !heap[0].0.is_nan() {
            self.worst[i] = f64::INFINITY;
        }
    }
    /// What row `i` has.
    pub(crate) fn row(&self, i: usize) -> &[(f64, u32)] {
        &self.heaps[i * self.k..][..self.len[i] as usize]
    }
}
