//! What the next matrices bring is asked for while this one is computed: loops over matrices that leave the cache would
//! otherwise compute and wait in turns.

use std::array::from_fn;
use std::ops::Range;

use crate::simd::Lines;

/// Bytes of an array between what is computed and what is asked for, at least.
const AHEAD: usize = 4096;

/// Values of a cache line.
pub(super) const fn line<T>() -> usize {
    match size_of::<T>() {
        0 => 64,
        size if size < 64 => 64 / size,
        _ => 1,
    }
}

/// Places of the next matrices in A, B and C, a line of each with each of the steps over this one.
#[derive(Clone, Copy)]
pub(super) struct Ahead {
    /// From the beginning of this matrix to the first line.
    first: [usize; 3],
    /// From one line to the next.
    each: usize,
}

impl Ahead {
    /// What is asked for while `columns` of a matrix of so many are computed, in `steps` steps; `next` is from a matrix
    /// to the one that is asked for, `size` are the values of the largest.
    pub(super) fn new(next: [usize; 3], size: usize, columns: Range<usize>, of: usize, steps: usize) -> Self {
        let [start, end] = [columns.start, columns.end].map(|column| size / of.max(1) * column);
        Self { first: next.map(|t| t.wrapping_add(start)), each: (end - start).div_ceil(steps.max(1)) }
    }
    /// For a matrix that begins at these places.
    pub(super) fn lines<T>(&self, data: [&[T]; 3], starts: [usize; 3]) -> Lines<T> {
        let first = |t: usize| data[t].as_ptr().wrapping_add(starts[t].wrapping_add(self.first[t]));
        Lines { next: from_fn(first), each: self.each }
    }
}

/// From a matrix to the one that is asked for meanwhile, in A, B and C, which have up to `elements` values each.
pub(super) fn steps_ahead<T>(l: &[[usize; 3]], elements: usize) -> [usize; 3] {
    let [first, second, ..] = l else { return [0; 3] };
    let matrices = AHEAD.div_ceil(elements.saturating_mul(size_of::<T>()).max(1));
    [0, 1, 2].map(|t| second[t].wrapping_sub(first[t]).wrapping_mul(matrices))
}
