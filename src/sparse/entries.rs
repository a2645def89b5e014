//! Iterators over the entries of matrices and vectors.

use std::slice::Iter;

use super::vector_pattern::{Form, IndexIter, VectorPattern};
use crate::{Index, Pattern};

/// The entries (i, j, x) of a matrix, row by row: [`Csr::iter`](crate::Csr::iter).
///
/// ```
/// use sparring::Csr;
/// let a = Csr::<f64>::new(2, 3, vec![0, 1, 3], vec![2, 0, 1], vec![5.0, 6.0, 7.0])?;
/// let mut sum = 0.0;
/// for (i, j, x) in &a {
///     sum += (i + j) as f64 * x;
/// }
/// assert_eq!(sum, 2.0 * 5.0 + 6.0 + 2.0 * 7.0);
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MatrixEntries<'a, T, I: Index = u32> {
    pattern: &'a Pattern<I>,
    values: &'a [T],
    /// Indices of the stored rows, if not all rows are stored.
    labels: Option<&'a [I]>,
    row: usize,
    next: usize,
}
impl<'a, T, I: Index> MatrixEntries<'a, T, I> {
    pub(super) fn new(pattern: &'a Pattern<I>, values: &'a [T], labels: Option<&'a [I]>) -> Self {
        Self { pattern, values, labels, row: 0, next: 0 }
    }
}
impl<'a, T, I: Index> Iterator for MatrixEntries<'a, T, I> {
    type Item = (usize, usize, &'a T);
    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let p = self.next;
        let x = self.values.get(p)?;
        while self.pattern.row_ptr()[self.row + 1] <= p {
            self.row += 1;
        }
        self.next = p + 1;
        let i = self.labels.map_or(self.row, |labels| labels[self.row].get());
        Some((i, self.pattern.col_idx()[p].get(), x))
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.values.len() - self.next;
        (left, Some(left))
    }
}
impl<T, I: Index> ExactSizeIterator for MatrixEntries<'_, T, I> {}

/// The entries (i, j, x) of coordinates, in their order.
#[derive(Clone, Debug)]
pub struct CooEntries<'a, T, I: Index = u32> {
    rows: Iter<'a, I>,
    cols: Iter<'a, I>,
    values: Iter<'a, T>,
}
impl<'a, T, I: Index> CooEntries<'a, T, I> {
    pub(super) fn new((rows, cols, values): (&'a [I], &'a [I], &'a [T])) -> Self {
        Self { rows: rows.iter(), cols: cols.iter(), values: values.iter() }
    }
}
impl<'a, T, I: Index> Iterator for CooEntries<'a, T, I> {
    type Item = (usize, usize, &'a T);
    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        Some((self.rows.next()?.get(), self.cols.next()?.get(), self.values.next()?))
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.values.size_hint()
    }
}
impl<T, I: Index> ExactSizeIterator for CooEntries<'_, T, I> {}

/// The entries (i, x) of a vector, indices increasing: [`Vector::iter`](crate::Vector::iter).
#[derive(Clone, Debug)]
pub struct VectorEntries<'a, T, I: Index = u32> {
    indices: IndexIter<'a, I>,
    values: &'a [T],
    /// Whether values are stored contiguously in entry order, rather than each at its index.
    is_list: bool,
    next: usize,
    nnz: usize,
}
impl<'a, T, I: Index> VectorEntries<'a, T, I> {
    pub(super) fn new(pattern: &'a VectorPattern<I>, values: &'a [T]) -> Self {
        let is_list = matches!(pattern.form(), Form::List(_));
        let indices = pattern.indices().iter(pattern.len());
        Self { indices, values, is_list, next: 0, nnz: pattern.nnz() }
    }
}
impl<'a, T, I: Index> Iterator for VectorEntries<'a, T, I> {
    type Item = (usize, &'a T);
    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let i = self.indices.next()?;
        let p = if self.is_list { self.next } else { i };
        self.next += 1;
        Some((i, self.values.get(p)?))
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.nnz - self.next;
        (left, Some(left))
    }
}
impl<T, I: Index> ExactSizeIterator for VectorEntries<'_, T, I> {}
