//! Places of a tensor's entries as numbers, one a place: i_1, …, i_d are the digits, the sizes of the modes their
//! bases.

use super::check::hash;
use super::memory::{for_each, listed, sort};
use sparring::tensor::Tensor;
use sparring::{Index, Result};

/// What lists of draws are for, in errors.
pub(super) const DRAWS: &str = "the draws of a generated tensor";

/// A number that holds every place of a tensor.
pub(super) trait Place: Copy + Ord + Default + Send + Sync {
    /// One more digit behind the others.
    fn then(self, base: u64, digit: u64) -> Self;
    /// The digit of this base behind which there are others of the bases `after`.
    fn digit(self, base: u64, after: &[u64]) -> u32;
}
macro_rules! places {
    ($($t:ty)*) => {$(
        impl Place for $t {
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
places! { u64 u128 }

/// Puts `digit(p)` of `base` behind the p-th place, for every p, by all threads.
pub(super) fn append<K: Place>(places: &mut [K], base: u64, digit: impl Fn(usize) -> u64 + Sync) {
    for_each(places, |p, place| *place = place.then(base, digit(p)));
}

/// Sorts places and leaves each once.
pub(super) fn distinct<K: Place>(places: &mut Vec<K>) {
    sort(places);
    places.dedup();
}

/// The tensor whose p-th entry is at `place(p)`, with these values.
pub(super) fn tensor<K: Place>(
    dims: &[u64],
    values: Vec<f64>,
    place: impl Fn(usize) -> K + Sync,
) -> Result<Tensor<f64>> {
    let mut indices = Vec::with_capacity(dims.len());
    for (mode, &base) in dims.iter().enumerate() {
        indices.push(listed(values.len(), |p| place(p).digit(base, &dims[mode + 1..]), DRAWS)?);
    }
    Tensor::new(dims.iter().map(|&n| n as usize).collect(), indices, values)
}

/// Hashes of the indices of each mode, then of the bits of the values: Σₚ s(s(p) xor wₚ) mod 2⁶⁴, with s splitmix64 and
/// wₚ the p-th number as a 64-bit word. Equal tensors, and hardly any others, agree.
#[must_use]
pub fn tensor_fingerprint<I: Index>(x: &Tensor<f64, I>) -> Vec<u64> {
    let indices = x.all_indices().iter().map(|list| hash(list.iter().map(|i| i.get() as u64)));
    indices.chain([hash(x.values().iter().map(|x| x.to_bits()))]).collect()
}
