//! Nearest neighbours of every row: the result, and the heaps it is built from.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::algebra::Real;
use crate::par::{collected, filled, reserved};
use crate::{Csr, Error, Index, Result};

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
    /// A result computed by other means: `k` neighbours among `ncols` rows of Y for each of `nrows` rows of X, row
    /// after row, nearest first.
    ///
    /// ```
    /// use sparring::distance::Neighbours;
    /// let near = Neighbours::from_parts((2, 5), 1, vec![4, 0], vec![0.5, 0.25])?;
    /// assert_eq!(near.row(1), (&[0][..], &[0.25][..]));
    /// // Row 5 of 5.
    /// assert!(Neighbours::from_parts((1, 5), 1, vec![5], vec![0.5]).is_err());
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// [`Error::Length`] unless both have `nrows` · `k` elements; [`Error::Argument`] for a neighbour that is no row of
    /// Y.
    pub fn from_parts((nrows, ncols): (usize, usize), k: usize, indices: Vec<u32>, distances: Vec<T>) -> Result<Self> {
        let expected = nrows.saturating_mul(k);
        for (what, found) in [("neighbours", indices.len()), ("distances", distances.len())] {
            if found != expected {
                return Err(Error::Length { what, found, expected });
            }
        }
        if let Some(&j) = indices.iter().find(|&&j| j as usize >= ncols) {
            let message = format!("there is no row {j} of {ncols}");
            return Err(Error::Argument { name: "indices", message });
        }
        Ok(Self::new(ncols, k, indices, distances, nrows, String::new()))
    }
    /// Rows of X.
    pub fn nrows(&self) -> usize {
        self.nrows
    }
    /// Neighbours of each row: the requested number, or all rows if there are fewer.
    pub fn k(&self) -> usize {
        self.k
    }
    /// Row numbers of the neighbours, k for each row.
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
    /// The neighbour graph, nrows(X) × nrows(Y): an entry for each neighbour, its value the distance.
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

/// The k nearest so far of several rows: a heap for each, the farthest on top.
pub(crate) struct Lists {
    k: usize,
    /// Entries of each heap.
    len: Vec<u32>,
    /// Threshold for candidates: only keys below it are examined. It is a refused key, or ∞; NaN, which refuses
    /// nothing, for a heap that is not full or holds NaN.
    worst: Vec<f64>,
    /// Distance and row.
    heaps: Vec<(f64, u32)>,
}

/// Whether `a` is farther than `b`. NaN is farther than anything else.
fn farther(a: (f64, u32), b: (f64, u32)) -> bool {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).is_gt()
}

/// A key as a sortable number in descending order; 0 stands for NaN.
fn code(key: f64) -> u64 {
    let bits = key.to_bits();
    if bits >> 63 == 0 { !(bits | 1 << 63) } else { bits }
}

/// The key of a number.
fn of_code(code: u64) -> f64 {
    f64::from_bits(if code >> 63 == 0 { !code & !(1 << 63) } else { code })
}

impl Lists {
    pub(crate) fn new(rows: usize, k: usize) -> Result<Self> {
        let capacity = rows.saturating_mul(k);
        Ok(Self {
            k,
            len: filled(rows, 0, "neighbours")?,
            worst: filled(rows, f64::NAN, "neighbours")?,
            heaps: filled(capacity, (0.0, 0), "neighbours")?,
        })
    }
    /// Bytes of such lists.
    pub(crate) fn bytes(rows: usize, k: usize) -> u64 {
        (rows as u64).saturating_mul(12 + 16 * k as u64)
    }
    /// Thresholds of all rows.
    pub(crate) fn worst(&self) -> &[f64] {
        &self.worst
    }
    /// Takes candidate `j` for row `i` if the heap is not full or the candidate is nearer than the farthest in it.
    /// `distance` is nondecreasing in the key, but several keys may have the same distance.
    pub(crate) fn push(&mut self, i: usize, key: f64, distance: f64, j: u32) {
        if self.k == 0 {
            return;
        }
        let heap = &mut self.heaps[i * self.k..][..self.k];
        let len = self.len[i] as usize;
        if len < self.k {
            heap[len] = (distance, j);
            let mut at = len;
            while at > 0 && farther(heap[at], heap[(at - 1) / 2]) {
                heap.swap(at, (at - 1) / 2);
                at = (at - 1) / 2;
            }
            self.len[i] += 1;
        } else if farther(heap[0], (distance, j)) {
            heap[0] = (distance, j);
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
            // Larger keys are refused too.
            self.worst[i] = key;
        }
        if self.worst[i].is_nan() && self.len[i] as usize == self.k && !heap[0].0.is_nan() {
            self.worst[i] = f64::INFINITY;
        }
    }
    /// Takes over the tighter bounds of other threads.
    pub(crate) fn adopt_bounds(&mut self, bounds: &[AtomicU64], rows: Range<usize>) {
        for (worst, bound) in self.worst[rows.clone()].iter_mut().zip(&bounds[rows]) {
            let bound = of_code(bound.load(Ordering::Relaxed));
            *worst = if bound < *worst || worst.is_nan() { bound } else { *worst };
        }
    }
    /// Publishes bounds to other threads, whose lists have other candidates: a key whose distance exceeds that of a
    /// full list, whatever its row. `distances_of` turns keys into distances in place.
    pub(crate) fn publish_bounds(&self, bounds: &[AtomicU64], rows: Range<usize>, distances_of: impl Fn(&mut [f64])) {
        let (mut found, mut keys, mut n) = ([0; 64], [0.0; 64], 0);
        let publish = |found: &[usize], keys: &[f64; 64]| {
            let mut distances = *keys;
            distances_of(&mut distances[..found.len()]);
            for ((&i, &key), &distance) in found.iter().zip(keys).zip(&distances) {
                if self.len[i] as usize == self.k && distance > self.heaps[i * self.k].0 {
                    bounds[i].fetch_max(code(key), Ordering::Relaxed);
                }
            }
        };
        for i in rows {
            if self.worst[i] < f64::INFINITY && code(self.worst[i]) > bounds[i].load(Ordering::Relaxed) {
                (found[n], keys[n]) = (i, self.worst[i]);
                n += 1;
                if n == found.len() {
                    publish(&found, &keys);
                    n = 0;
                }
            }
        }
        publish(&found[..n], &keys);
    }
    /// The neighbours of row `i`.
    pub(crate) fn row(&self, i: usize) -> &[(f64, u32)] {
        &self.heaps[i * self.k..][..self.len[i] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_keys_fall() {
        let keys = [f64::NEG_INFINITY, -2.0, -f64::MIN_POSITIVE, -0.0, 0.0, 1e-300, 1.0, f64::MAX, f64::INFINITY];
        assert!(keys.map(code).is_sorted_by(|a, b| a > b) && code(f64::INFINITY) > 0);
        assert!(keys.iter().all(|&key| of_code(code(key)).to_bits() == key.to_bits()));
        assert!(of_code(0).is_nan());
    }

    /// Bounds come from full lists only, and no key of a tied candidate is published.
    #[test]
    fn published_bounds_are_farther_than_the_list() {
        let bounds: Vec<AtomicU64> = (0..3).map(|_| AtomicU64::new(0)).collect();
        let mut lists = Lists::new(3, 2).unwrap();
        // Distances are keys rounded down.
        let far = |keys: &mut [f64]| keys.iter_mut().for_each(|key| *key = key.floor());
        for (i, key, j) in [(0, 1.0, 0), (0, 2.5, 1), (0, 3.5, 2), (1, 1.0, 0), (1, 2.5, 1), (1, 2.75, 2), (2, 1.0, 0)]
        {
            lists.push(i, key, key.floor(), j);
        }
        lists.publish_bounds(&bounds, 0..3, far);
        let published: Vec<f64> = bounds.iter().map(|bound| of_code(bound.load(Ordering::Relaxed))).collect();
        assert!(published[0] == 3.5 && published[1].is_nan() && published[2].is_nan(), "{published:?}");
        let mut others = Lists::new(3, 2).unwrap();
        others.adopt_bounds(&bounds, 0..3);
        assert!(others.worst()[0] == 3.5 && others.worst()[1].is_nan());
        // A worse bound is neither published nor adopted.
        lists.worst[0] = 4.5;
        lists.publish_bounds(&bounds, 0..3, far);
        others.worst[0] = 3.0;
        others.adopt_bounds(&bounds, 0..3);
        assert!(of_code(bounds[0].load(Ordering::Relaxed)) == 3.5 && others.worst()[0] == 3.0);
    }
}
