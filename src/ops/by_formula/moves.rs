//! What puts the entries of a matrix in other places, or takes some: compiled once for a size of value.

use std::sync::Arc;

use super::super::assign::{AssignRows, FillRows};
use super::super::ewise::PutRows;
use super::super::extract::{extract_values, place_values, within_values};
use super::super::restrict::restrict_values;
use super::super::select::{Band, Keeps, band_values, keep_values};
use crate::algebra::words::{Fold, Moves, moved as by_word, moved_two};
use crate::algebra::{Value, Word};
use crate::par::Threads;
use crate::sparse::{IndexList, sorted_values, transposed_values};
use crate::{Csr, Error, Index, Pattern, Result};

/// What becomes of the entries.
#[derive(Clone, Copy)]
pub(crate) enum Move<'a, I: Index = u32> {
    /// Aᵀ, rows sorted.
    Transpose,
    /// A, rows sorted.
    Sort,
    /// The entries that these flags keep, of a matrix with sorted rows.
    Keep(&'a Keeps<'a>),
    /// Those that an operator on places keeps, of a matrix with sorted rows.
    Band(Band),
    /// The entries where this pattern has one, or where it has none if the flag is set; both have sorted rows.
    Restrict(&'a Pattern<I>, bool),
    /// A(I, J), of a matrix with sorted rows.
    Extract(&'a IndexList, &'a IndexList),
    /// The matrix of this shape whose part (I, J) is A.
    Place(&'a IndexList, &'a IndexList, (usize, usize)),
    /// The entries in (I, J), of a matrix with sorted rows.
    Within(&'a IndexList, &'a IndexList),
}

struct Moved<'a, I: Index> {
    threads: &'a Threads,
    pattern: &'a Pattern<I>,
    how: Move<'a, I>,
}

impl<I: Index> Moves for Moved<'_, I> {
    type Found = Pattern<I>;
    fn run<W: Word>(self, words: &[W], _: Option<Fold<'_, W>>) -> Result<(Pattern<I>, Vec<W>)> {
        let Self { threads, pattern, how } = self;
        match how {
            Move::Transpose => transposed_values(threads, pattern, words),
            Move::Sort => sorted_values(threads, pattern, words),
            Move::Keep(keeps) => keep_values(threads, pattern, words, keeps),
            Move::Band(band) => band_values(threads, pattern, words, band),
            Move::Restrict(mask, complement) => restrict_values(threads, pattern, words, mask, complement),
            Move::Extract(rows, cols) => extract_values(threads, pattern, words, (rows, cols)),
            Move::Place(rows, cols, shape) => place_values(threads, pattern, words, (rows, cols), shape),
            Move::Within(rows, cols) => within_values(threads, pattern, words, (rows, cols)),
        }
    }
}

/// The matrix with its entries moved.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Cancelled`](crate::Error::Cancelled);
/// [`Error::IndexOverflow`](crate::Error::IndexOverflow) for a transpose of too many rows,
/// [`Error::Shape`](crate::Error::Shape) for a mask of another shape.
pub(crate) fn moved<T: Value, I: Index>(threads: &Threads, a: &Csr<T, I>, how: Move<'_, I>) -> Result<Csr<T, I>> {
    let (pattern, values) = by_word(Moved { threads, pattern: a.pattern(), how }, a.values(), None::<fn(T, T) -> T>)?;
    Csr::with_pattern(Arc::new(pattern), values)
}

/// The entries of T, and elsewhere those of C, which has its shape; rows of both are sorted.
/// # Errors
/// [`Error::Shape`](crate::Error::Shape), [`Error::OutOfMemory`](crate::Error::OutOfMemory),
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub(crate) fn put_over<T: Value, I: Index>(threads: &Threads, c: &Csr<T, I>, t: &Csr<T, I>) -> Result<Csr<T, I>> {
    if c.shape() != t.shape() {
        return Err(Error::Shape { op: "ewise_add", lhs: c.shape(), rhs: t.shape() });
    }
    let put = PutRows { threads, a: c.pattern(), b: t.pattern() };
    let (pattern, values) = moved_two(put, c.values(), t.values())?;
    Csr::with_pattern(Arc::new(pattern), values)
}

/// C with the value s at each place of a mask; rows of both are sorted. C keeps its pattern where that has them all.
/// # Errors
/// [`Error::Shape`](crate::Error::Shape), [`Error::OutOfMemory`](crate::Error::OutOfMemory),
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub(crate) fn filled_where<T: Value, I: Index>(
    threads: &Threads,
    c: &Csr<T, I>,
    s: T,
    mask: &Pattern<I>,
) -> Result<Csr<T, I>> {
    let (pattern, values) = moved_two(FillRows { threads, c: c.pattern(), mask }, c.values(), &[s])?;
    Csr::with_pattern(pattern, values)
}

/// C with A as its part (I, J), where the mask allows; all rows are sorted.
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) unless A is |I|×|J| and the mask of C's shape;
/// [`Error::ListIndex`](crate::Error::ListIndex), [`Error::RepeatedIndex`](crate::Error::RepeatedIndex);
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Cancelled`](crate::Error::Cancelled).
pub(crate) fn assigned<T: Value, I: Index>(
    threads: &Threads,
    c: &Csr<T, I>,
    a: &Csr<T, I>,
    part: (&IndexList, &IndexList),
    mask: Option<(&Pattern<I>, bool)>,
) -> Result<Csr<T, I>> {
    let assign = AssignRows { threads, c: c.pattern(), a: a.pattern(), part, mask };
    let (pattern, values) = moved_two(assign, c.values(), a.values())?;
    Csr::with_pattern(Arc::new(pattern), values)
}
