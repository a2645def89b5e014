//! Prefetches the next matrices while this one is computed. Otherwise loops over matrices that exceed the cache would
//! alternate between computing and waiting.

use std::array::from_fn;
use std::ops::Range;

use crate::simd::CacheLines;

/// Least distance in bytes between the computed and the prefetched part of an array.
const AHEAD: usize = 4096;

/// Values of a cache line.
pub(super) const fn line<T>() -> usize {
    match size_of::<T>() {
        0 => 64,
        size if size < 64 => 64 / size,
        _ => 1,
    }
}

/// Prefetch offsets of the next matrices in A, B and C: a cache line of each per step over this one.
#[derive(Clone, Copy)]
pub(super) struct Ahead {
    /// From the start of this matrix to the first line.
    first: [usize; 3],
    /// From one line to the next, in values.
    each: usize,
}

impl Ahead {
    /// The prefetches while `columns` of the `of` columns of a matrix are computed in `steps` steps. `next` is the
    /// distance to the prefetched matrix, and `size` the number of values of the largest matrix.
    pub(super) fn new(next: [usize; 3], size: usize, columns: Range<usize>, of: usize, steps: usize) -> Self {
        let [start, end] = [columns.start, columns.end].map(|column| size / of.max(1) * column);
        Self { first: next.map(|t| t.wrapping_add(start)), each: (end - start).div_ceil(steps.max(1)) }
    }
    /// For a matrix that begins at these offsets.
    pub(super) fn lines<T>(&self, data: [&[T]; 3], starts: [usize; 3]) -> CacheLines<T> {
        let first = |t: usize| data[t].as_ptr().wrapping_add(starts[t].wrapping_add(self.first[t]));
        CacheLines { next: from_fn(first), each: self.each }
    }
}

/// The distance from a matrix to the one prefetched meanwhile, in A, B and C, which have up to `elements` values each.
pub(super) fn steps_ahead<T>(l: &[[usize; 3]], elements: usize) -> [usize; 3] {
    let [first, second, ..] = l else { return [0; 3] };
    let matrices = AHEAD.div_ceil(elements.saturating_mul(size_of::<T>()).max(1));
    [0, 1, 2].map(|t| second[t].wrapping_sub(first[t]).wrapping_mul(matrices))
}
