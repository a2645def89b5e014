//! Lower bounds on the cost of a contraction.

use super::einsum::Einsum;
use super::pairs::{Pairs, sets};
use super::path::{Set, size};
use super::view::Viewed;
use crate::Result;

/// Bytes of a contraction that reads and writes each element once, and operations of its folds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// Operands once; the result once, or twice if its previous values are read.
    pub bytes: f64,
    /// ⊕ and ⊗ of all steps, in the order of [`path`](crate::backend::EinsumBuilder::path).
    pub operations: f64,
}

impl Bound {
    /// The least time at this memory bandwidth.
    #[must_use]
    pub fn seconds(&self, bytes_per_second: f64) -> f64 {
        self.bytes / bytes_per_second
    }
    /// Pmax: the operations a second that the bandwidth allows. For C = A·B + C with n rows and columns: n/16 of the
    /// bytes a second in f64, n/8 in f32.
    #[must_use]
    pub fn operations_per_second(&self, bytes_per_second: f64) -> f64 {
        self.operations / self.seconds(bytes_per_second)
    }
}

/// The lower bounds of the contraction on any machine. `reads_result`: the result is
/// [`accumulated`](crate::backend::EinsumBuilder::accumulate) or has a [`beta`](crate::backend::EinsumBuilder::beta).
///
/// Elements shared by several values of an index are counted once.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
/// ```
/// use sparring::contract::{Einsum, Layout, View, bound};
/// // C = A·B + C for 1000 matrices of 4 rows.
/// let numbers = vec![1.0f64; 16_000];
/// let x = View::new(&numbers, Layout::row_major(&[4, 4])?.batched(1000)?)?;
/// let least = bound(&Einsum::new("ij,jk->ik", &[x.clone(), x])?, true)?;
/// assert_eq!(least.bytes, 4.0 * 16.0 * 8.0 * 1000.0);
/// assert_eq!(least.operations, 2.0 * 64.0 * 1000.0);
/// // On an H200, which copies 4.2 TB/s: Pmax = 4 · B / 16.
/// assert_eq!(least.operations_per_second(4.2e12), 4.0 * 4.2e12 / 16.0);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Abdelfattah et al. 2016, §5.1.
pub fn bound<T, V: Viewed>(einsum: &Einsum<'_, T, V>, reads_result: bool) -> Result<Bound> {
    let (extents, batch) = einsum.result();
    let result: f64 = extents.iter().map(|&e| e as f64).product::<f64>() * batch as f64;
    let distinct = |x: &V| {
        let group = if x.layout().is_group() { x.layout().batch() as f64 } else { 1.0 };
        x.layout().axes().filter(|axis| axis.1 != 0).map(|axis| axis.0 as f64).product::<f64>() * group
    };
    let empty = |x: &V| x.layout().elements() == 0;
    let read: f64 = einsum.operands.iter().map(|x| if empty(x) { 0.0 } else { distinct(x) }).sum();
    let (sets, out) = sets(einsum);
    let tree = Pairs::new(&sets, out, &einsum.extents)?;
    let n = sets.len();
    let of = |set: Set| size(set, &einsum.extents);
    let folds: f64 = (0..n).filter(|&k| tree.remaining[k] != sets[k] || n == 1).map(|k| of(sets[k])).sum();
    let pairs: f64 = tree.order.iter().map(|&(i, j)| 2.0 * of(tree.remaining[i] | tree.remaining[j])).sum();
    let elements = read + result * if reads_result { 2.0 } else { 1.0 };
    Ok(Bound { bytes: elements * size_of::<T>() as f64, operations: folds + pairs })
}
