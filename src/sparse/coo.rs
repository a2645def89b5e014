//! Coordinate form: entries in any order, possibly repeated, as produced by readers and builders.

use std::sync::Arc;

use super::entries::CooEntries;
use super::hyper_form::suits_hyper;
use super::placed::placed;
use crate::algebra::{BinaryOp, Host, V, Value};
use crate::par::{Threads, copied, reserved};
use crate::pattern::{check_ncols, check_nrows};
use crate::{Csr, Error, Index, Result};

/// Entries (row, column, value) of an nrows × ncols matrix, in any order, repeats allowed.
#[derive(Clone, Debug, PartialEq)]
pub struct Coo<T, I: Index = u32> {
    nrows: usize,
    ncols: usize,
    rows: Vec<I>,
    cols: Vec<I>,
    values: Vec<T>,
}

impl<T: Value, I: Index> Coo<T, I> {
    /// From three lists of the same length.
    /// # Errors
    /// [`Error::Length`] and [`Error::IndexRange`], for the first violation; [`Error::IndexOverflow`] if
    /// nrows or ncols does not fit `I`.
    /// # Example
    /// ```
    /// use sparring::{Coo, algebra::Plus};
    /// let a = Coo::<f64>::new(2, 3, vec![1, 0, 1], vec![2, 0, 2], vec![1.0, 2.0, 4.0])?.to_csr(Plus::new())?;
    /// assert_eq!(a.row(1), (&[2][..], &[5.0][..]));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn new(nrows: usize, ncols: usize, rows: Vec<I>, cols: Vec<I>, values: Vec<T>) -> Result<Self> {
        check_ncols::<I>(ncols)?;
        check_nrows::<I>(nrows)?;
        if cols.len() != rows.len() {
            return Err(Error::Length { what: "columns", found: cols.len(), expected: rows.len() });
        }
        if values.len() != rows.len() {
            return Err(Error::Length { what: "values", found: values.len(), expected: rows.len() });
        }
        if let Some(position) = rows.iter().position(|i| i.get() >= nrows) {
            return Err(Error::IndexRange { axis: "row", position, index: rows[position].get() as u128, bound: nrows });
        }
        if let Some(position) = cols.iter().position(|j| j.get() >= ncols) {
            return Err(Error::IndexRange {
                axis: "column",
                position,
                index: cols[position].get() as u128,
                bound: ncols,
            });
        }
        Ok(Self { nrows, ncols, rows, cols, values })
    }

    /// From lists of the same length whose indices are known to be in range, as those of a reader;
    /// checked in debug builds.
    pub(crate) fn from_parts(nrows: usize, ncols: usize, rows: Vec<I>, cols: Vec<I>, values: Vec<T>) -> Self {
        debug_assert!(rows.len() == values.len() && cols.len() == values.len());
        debug_assert!(rows.iter().all(|i| i.get() < nrows) && cols.iter().all(|j| j.get() < ncols));
        Self { nrows, ncols, rows, cols, values }
    }

    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.nrows, self.ncols)
    }
    /// Number of entries, including repeats.
    pub fn len(&self) -> usize {
        self.values.len()
    }
    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
    /// Row indices, column indices, values.
    pub fn parts(&self) -> (&[I], &[I], &[T]) {
        (&self.rows, &self.cols, &self.values)
    }

    /// Row indices, column indices, values, by value.
    pub fn into_parts(self) -> (Vec<I>, Vec<I>, Vec<T>) {
        (self.rows, self.cols, self.values)
    }

    /// The matrix, columns sorted; repeated entries are folded with `duplicates` in the order given, from the left.
    /// `duplicates` need not be a monoid. A matrix with at least 2²⁰ rows and at least 16 rows per entry is stored as
    /// [hypersparse rows](crate::sparse::MatrixForm::Hypersparse).
    ///
    /// Runs on the threads of the caller's pool; the result does not depend on their number.
    /// Cost: O(entries + nrows), plus O(d log d) for each unsorted row of d entries.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn to_csr<O: BinaryOp<A = T, B = T, Out = T>>(&self, duplicates: O) -> Result<Csr<T, I>> {
        self.to_csr_on(&Threads::current(), duplicates)
    }
    /// [`to_csr`](Self::to_csr) on the threads of `threads`.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn to_csr_on<O: BinaryOp<A = T, B = T, Out = T>>(&self, threads: &Threads, duplicates: O) -> Result<Csr<T, I>> {
        self.compress(threads, Some(|x, y| duplicates.apply::<Host>(V(x), V(y)).0))
    }

    /// Compressed rows; a repeated entry is an error.
    /// # Errors
    /// [`Error::Duplicate`] for the first by row and column; [`Error::OutOfMemory`].
    pub fn to_csr_unique(&self) -> Result<Csr<T, I>> {
        self.to_csr_unique_on(&Threads::current())
    }
    /// [`to_csr_unique`](Self::to_csr_unique) on `threads`.
    /// # Errors
    /// As [`to_csr_unique`](Self::to_csr_unique).
    pub fn to_csr_unique_on(&self, threads: &Threads) -> Result<Csr<T, I>> {
        self.compress(threads, None::<fn(T, T) -> T>)
    }

    /// Compressed rows; repeated entries are folded in the order given, or an error without `fold`.
    pub(crate) fn compress(&self, threads: &Threads, fold: Option<impl Fn(T, T) -> T + Sync>) -> Result<Csr<T, I>> {
        let stored = if suits_hyper(self.nrows, self.len()) { Some(stored(&self.rows)?) } else { None };
        let (nrows, rows) = stored.as_ref().map_or((self.nrows, &self.rows[..]), |s| (s.labels.len(), &s.rows));
        let made = placed(threads, (nrows, self.ncols), (rows, &self.cols), &self.values, fold);
        let Some(Stored { labels, .. }) = stored else {
            let (pattern, values) = made?;
            return Csr::with_pattern(Arc::new(pattern), values);
        };
        let (pattern, values) = made.map_err(|error| match error {
            Error::Duplicate { row, column } => Error::Duplicate { row: labels[row].get(), column },
            other => other,
        })?;
        Csr::with_pattern(Arc::new(pattern), values)?.labelled(self.nrows, Arc::new(labels))
    }
}

/// The non-empty rows, increasing, and for each entry the position of its row among them.
struct Stored<I> {
    labels: Vec<I>,
    rows: Vec<I>,
}

#[inline(never)]
fn stored<I: Index>(row_of: &[I]) -> Result<Stored<I>> {
    let mut labels = copied(row_of, "labels of rows")?;
    labels.sort_unstable();
    labels.dedup();
    let mut rows = reserved(row_of.len(), "rows")?;
    rows.extend(row_of.iter().map(|i| labels.binary_search(i).map_or(I::LAST, I::cast)));
    Ok(Stored { labels, rows })
}

impl<'a, T: Value, I: Index> IntoIterator for &'a Coo<T, I> {
    type Item = (usize, usize, &'a T);
    type IntoIter = CooEntries<'a, T, I>;
    fn into_iter(self) -> CooEntries<'a, T, I> {
        CooEntries::new(self.parts())
    }
}
