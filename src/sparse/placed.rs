//! Entries given as three parallel arrays (rows, columns, values), sorted into compressed rows.

use std::ops::Range;

use super::sort::{Entries, to_rows};
use crate::algebra::words::{Fold, Moves, moved};
use crate::algebra::{Value, Word};
use crate::par::Threads;
use crate::pattern::Pattern;
use crate::{Index, Result};

/// Compressed rows of parallel arrays of rows, columns and values, whose indices are in range; repeated entries are
/// folded in the order given, or an error without a fold.
pub(super) fn placed<T: Value, I: Index>(
    threads: &Threads,
    shape: (usize, usize),
    places: (&[I], &[I]),
    values: &[T],
    fold: Option<impl Fn(T, T) -> T + Sync>,
) -> Result<(Pattern<I>, Vec<T>)> {
    moved(ToRows { threads, shape, places }, values, fold)
}

/// Conversion of rows and columns to compressed rows.
struct ToRows<'a, I> {
    threads: &'a Threads,
    shape: (usize, usize),
    places: (&'a [I], &'a [I]),
}
impl<I: Index> Moves for ToRows<'_, I> {
    type Structure = Pattern<I>;
    fn run<W: Word>(self, values: &[W], fold: Option<Fold<'_, W>>) -> Result<(Pattern<I>, Vec<W>)> {
        to_rows(self.threads, self.shape, &Placed { places: self.places, values }, fold)
    }
}

/// Parallel arrays of rows, columns and values.
struct Placed<'a, W, I> {
    places: (&'a [I], &'a [I]),
    values: &'a [W],
}
impl<W: Copy + Sync, I: Index> Entries<W, I> for Placed<'_, W, I> {
    fn len(&self) -> usize {
        self.values.len()
    }
    #[inline(always)]
    fn visit(&self, range: Range<usize>, mut f: impl FnMut(I, I, W)) {
        let (rows, cols, values) = (&self.places.0[range.clone()], &self.places.1[range.clone()], &self.values[range]);
        for ((&i, &j), &x) in rows.iter().zip(cols).zip(values) {
            f(i, j, x);
        }
    }
    fn any(&self) -> Option<W> {
        self.values.first().copied()
    }
}
