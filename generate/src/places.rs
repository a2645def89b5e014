//! Linear indices of tensor entries: mixed-radix numbers with the digits i_1, …, i_d and the sizes of the modes as
//! bases.

use super::check::hash;
use super::memory::{for_each, listed, sort};
use sparring::tensor::Tensor;
use sparring::{Index, Result};

/// Name of the lists of draws in errors.
pub(super) const DRAWS: &str = "the draws of a generated tensor";

/// An integer type for linear indices.
pub(super) trait LinearIndex: Copy + Ord + Default + Send + Sync {
    /// Appends a digit.
    fn then(self, base: u64, digit: u64) -> Self;
    /// The digit of base `base` that is followed by digits of the bases `after`.
    fn digit(self, base: u64, after: &[u64]) -> u32;
}
macro_rules! linear_indices {
    ($($t:ty)*) => {$(
        impl LinearIndex for $t {
            #[inline(always)]
            fn then(self, base: u64, digit: u64) -> Self {
                self * <$t>::from(base) + <$t>::from(digit)
            }
            #[inline(always)]
            fn digit(self, base: u64, after: &[u64]) -> u32 {
                let behind: $t = after.iter().map(|&base| <$t>::from(base)).product();
                (self / behind % <$t>::from(base)) as u32
            }
        }
    )*};
}
linear_indices! { u64 u128 }

/// Appends `digit(p)` of `base` to the p-th linear index, for every p, in parallel.
pub(super) fn append<K: LinearIndex>(linear: &mut [K], base: u64, digit: impl Fn(usize) -> u64 + Sync) {
    for_each(linear, |p, index| *index = index.then(base, digit(p)));
}

/// Sorts linear indices and removes duplicates.
pub(super) fn distinct<K: LinearIndex>(linear: &mut Vec<K>) {
    sort(linear);
    linear.dedup();
}

/// The tensor with these values, whose p-th entry is at `index(p)`.
pub(super) fn tensor<K: LinearIndex>(
    dims: &[u64],
    values: Vec<f64>,
    index: impl Fn(usize) -> K + Sync,
) -> Result<Tensor<f64>> {
    let mut indices = Vec::with_capacity(dims.len());
    for (mode, &base) in dims.iter().enumerate() {
        indices.push(listed(values.len(), |p| index(p).digit(base, &dims[mode + 1..]), DRAWS)?);
    }
    Tensor::new(dims.iter().map(|&n| n as usize).collect(), indices, values)
}

/// Hashes of the indices of each mode, then of the bits of the values: Σₚ s(s(p) xor wₚ) mod 2⁶⁴, with s splitmix64 and
/// wₚ the p-th number as a 64-bit word. Different tensors almost certainly differ.
#[must_use]
pub fn tensor_fingerprint<I: Index>(x: &Tensor<f64, I>) -> Vec<u64> {
    let indices = x.all_indices().iter().map(|list| hash(list.iter().map(|i| i.get() as u64)));
    indices.chain([hash(x.values().iter().map(|x| x.to_bits()))]).collect()
}
