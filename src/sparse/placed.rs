//! Entries with their rows and columns side by side, put in order.

use std::ops::Range;

use super::sort::{Entries, to_rows};
use crate::algebra::words::{Fold, Moves, moved};
use crate::algebra::{Value, Word};
use crate::par::Threads;
use crate::pattern::Pattern;
use crate::{Index, Result};

/// Compressed rows of entries at these rows and columns, which are in range and as many as values; repeated entries are
/// folded in the order given, or are an error.
pub(super) fn placed<T: Value, I: Index>(
    threads: &Threads,
    shape: (usize, usize),
    places: (&[I], &[I]),
    values: &[T],
    fold: Option<impl Fn(T, T) -> T + Sync>,
) -> Result<(Pattern<I>, Vec<T>)> {
    moved(ToRows { threads, shape, places }, values, fold)
}

/// Entries at these rows and columns become compressed rows.
struct ToRows<'a, I> {
    threads: &'a Threads,
    shape: (usize, usize),
    places: (&'a [I], &'a [I]),
}
impl<I: Index> Moves for ToRows<'_, I> {
    type Found = Pattern<I>;
    fn run<W: Word>(self, values: &[W], fold: Option<Fold<'_, W>>) -> Result<(Pattern<I>, Vec<W>)> {
        to_rows(self.threads, self.shape, &Placed { places: self.places, values }, fold)
    }
}

/// Rows, columns and values side by side.
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
