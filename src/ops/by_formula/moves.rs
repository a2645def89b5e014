//! Operations that permute or filter the entries of a matrix: compiled once per value size.

use std::sync::Arc;

use super::super::apply_mask::apply_mask_values;
use super::super::assign::{AssignRows, FillRows};
use super::super::ewise::PutRows;
use super::super::extract::{extract_values, place_values, within_values};
use super::super::select::{Band, Keeps, band_values, keep_values};
use crate::algebra::words::{Fold, Moves, moved as by_word, moved_two};
use crate::algebra::{Value, Word};
use crate::par::Threads;
use crate::sparse::{IndexList, sorted_values, transposed_values};
use crate::{Csr, Error, Index, Pattern, Result};

/// How to permute or filter the entries.
#[derive(Clone, Copy)]
pub(crate) enum Rearrange<'a, I: Index = u32> {
    /// Aᵀ, rows sorted.
    Transpose,
    /// A, rows sorted.
    Sort,
    /// The flagged entries, of a matrix with sorted rows.
    Select(&'a Keeps<'a>),
    /// The entries that a positional operator selects, of a matrix with sorted rows.
    Band(Band),
    /// The entries in this pattern, or with the flag those not in it; both have sorted rows.
    Mask(&'a Pattern<I>, bool),
    /// A(I, J), of a matrix with sorted rows.
    Extract(&'a IndexList, &'a IndexList),
    /// The matrix of this shape with A as its part (I, J).
    Place(&'a IndexList, &'a IndexList, (usize, usize)),
    /// The entries in (I, J), of a matrix with sorted rows.
    Within(&'a IndexList, &'a IndexList),
}

struct Rearranged<'a, I: Index> {
    threads: &'a Threads,
    pattern: &'a Pattern<I>,
    how: Rearrange<'a, I>,
}

impl<I: Index> Moves for Rearranged<'_, I> {
    type Structure = Pattern<I>;
    fn run<W: Word>(self, words: &[W], _: Option<Fold<'_, W>>) -> Result<(Pattern<I>, Vec<W>)> {
        let Self { threads, pattern, how } = self;
        match how {
            Rearrange::Transpose => transposed_values(threads, pattern, words),
            Rearrange::Sort => sorted_values(threads, pattern, words),
            Rearrange::Select(keeps) => keep_values(threads, pattern, words, keeps),
            Rearrange::Band(band) => band_values(threads, pattern, words, band),
            Rearrange::Mask(mask, complement) => apply_mask_values(threads, pattern, words, mask, complement),
            Rearrange::Extract(rows, cols) => extract_values(threads, pattern, words, (rows, cols)),
            Rearrange::Place(rows, cols, shape) => place_values(threads, pattern, words, (rows, cols), shape),
            Rearrange::Within(rows, cols) => within_values(threads, pattern, words, (rows, cols)),
        }
    }
}

/// The matrix with its entries permuted or filtered.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Cancelled`](crate::Error::Cancelled);
/// [`Error::IndexOverflow`](crate::Error::IndexOverflow) for a transpose of too many rows,
/// [`Error::Shape`](crate::Error::Shape) for a mask of another shape.
pub(crate) fn rearranged<T: Value, I: Index>(
    threads: &Threads,
    a: &Csr<T, I>,
    how: Rearrange<'_, I>,
) -> Result<Csr<T, I>> {
    let (pattern, values) =
        by_word(Rearranged { threads, pattern: a.pattern(), how }, a.values(), None::<fn(T, T) -> T>)?;
    Csr::with_pattern(Arc::new(pattern), values)
}

/// C with the entries of T inserted or overwriting; both have one shape and sorted rows.
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

/// C with the value s at each position of a mask; rows of both are sorted. C keeps its pattern if that includes the
/// mask.
/// # Errors
/// [`Error::Shape`](crate::Error::Shape), [`Error::OutOfMemory`](crate::Error::OutOfMemory),
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub(crate) fn fill_masked<T: Value, I: Index>(
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
