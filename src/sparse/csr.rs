//! The type of sparse matrices: compressed rows, a shared pattern and one value per entry, or another form.

use std::sync::{Arc, OnceLock};

use super::edits::{Base, Edited};
use super::entries::MatrixEntries;
use super::hyper_rows::HyperRows;
use super::other_form::{Form, OtherForm};
use super::row_major::RowMajor;
use super::rows::Rows;
use crate::algebra::Value;
use crate::par::Storage;
use crate::pattern::Pattern;
use crate::{Error, Index, Result};

/// An nrows × ncols sparse matrix.
///
/// It is kept as compressed rows, whose pattern is shared: matrices with the same structure (the results of one plan,
/// say) hold one copy of it. A matrix that is written while it is dense is kept as a [bitmap](MatrixForm::Bitmap),
/// which takes an entry in O(1). One of 2²⁰ rows or more, of which a sixteenth at most have entries, keeps
/// [these rows alone](MatrixForm::Hypersparse). Which [form](Self::form) it has shows in no result. Stored zeros are
/// entries like any other.
///
/// A clone is another name for the same matrix and costs nothing; the values are copied when one of the two is
/// [written](Self::values_mut).
#[derive(Debug)]
pub struct Csr<T, I: Index = u32> {
    /// Of a matrix of another form they are made when they are first asked for, and kept until it is written.
    rows: OnceLock<Rows<T, I>>,
    /// The other form.
    pub(super) other: Option<OtherForm<T, I>>,
    /// Entries that writes have moved since the matrix was made.
    pub(super) moved: usize,
}

/// How a matrix is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixForm {
    /// Compressed rows.
    Rows,
    /// The compressed rows that have entries, and which they are.
    Hypersparse,
    /// A bit and a value for each place.
    Bitmap,
    /// A value for each place.
    Full,
}

impl<T, I: Index> From<Rows<T, I>> for Csr<T, I> {
    fn from(rows: Rows<T, I>) -> Self {
        Self::of_rows(rows)
    }
}

impl<T, I: Index> Clone for Csr<T, I> {
    fn clone(&self) -> Self {
        Self { rows: self.rows.clone(), other: self.other.clone(), moved: self.moved }
    }
}

impl<T: PartialEq, I: Index> PartialEq for Csr<T, I> {
    fn eq(&self, other: &Self) -> bool {
        if self.shape() != other.shape() || self.nnz() != other.nnz() {
            return false;
        }
        if let (Some(a), Some(b)) = (self.as_hyper(), other.as_hyper()) {
            return a.labels() == b.labels()
                && a.rows().pattern == b.rows().pattern
                && a.rows().values == b.rows().values;
        }
        let (a, b) = (self.by_rows(), other.by_rows());
        (Arc::ptr_eq(&a.pattern, &b.pattern) || a.pattern == b.pattern) && a.values == b.values
    }
}

impl<T, I: Index> Csr<T, I> {
    /// From row pointers, columns that increase within each row, and values.
    /// # Errors
    /// Those of [`Pattern::new`]; [`Error::Length`] if there is not one value per entry.
    /// # Example
    /// ```
    /// use sparring::Csr;
    /// let a = Csr::<f64>::new(2, 3, vec![0, 2, 3], vec![0, 2, 1], vec![1.0, 2.0, 3.0])?;
    /// assert_eq!(a.nnz(), 3);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn new(nrows: usize, ncols: usize, row_ptr: Vec<usize>, col_idx: Vec<I>, values: Vec<T>) -> Result<Self> {
        Self::with_pattern(Arc::new(Pattern::new(nrows, ncols, row_ptr, col_idx)?), values)
    }

    /// From row pointers, columns in any order within each row, and values.
    /// # Errors
    /// Those of [`Pattern::from_unsorted`]; [`Error::Length`] if there is not one value per entry.
    pub fn from_unsorted(
        nrows: usize,
        ncols: usize,
        row_ptr: Vec<usize>,
        col_idx: Vec<I>,
        values: Vec<T>,
    ) -> Result<Self> {
        Self::with_pattern(Arc::new(Pattern::from_unsorted(nrows, ncols, row_ptr, col_idx)?), values)
    }

    /// From a pattern, which may be shared with other matrices, and its values.
    /// # Errors
    /// [`Error::Length`] if there is not one value per entry.
    pub fn with_pattern(pattern: Arc<Pattern<I>>, values: Vec<T>) -> Result<Self> {
        Self::with_storage(pattern, values.into())
    }

    /// From arrays that may belong to another owner, without copying them; columns in any order within each row.
    ///
    /// Cost: O(nrows + nnz), once, to check them. [`Storage`] shows how arrays of SciPy's types are taken.
    /// # Errors
    /// Those of [`from_unsorted`](Self::from_unsorted).
    pub fn from_storage(
        nrows: usize,
        ncols: usize,
        row_ptr: Storage<usize>,
        col_idx: Storage<I>,
        values: Storage<T>,
    ) -> Result<Self> {
        Self::with_storage(Arc::new(Pattern::from_storage(nrows, ncols, row_ptr, col_idx)?), values)
    }

    /// From a pattern and values that may belong to another owner.
    /// # Errors
    /// [`Error::Length`] if there is not one value per entry.
    pub fn with_storage(pattern: Arc<Pattern<I>>, values: Storage<T>) -> Result<Self> {
        if values.len() != pattern.nnz() {
            return Err(Error::Length { what: "values", found: values.len(), expected: pattern.nnz() });
        }
        Ok(Self::of_rows(Rows { pattern, values: Arc::new(values) }))
    }
    pub(super) fn of_rows(rows: Rows<T, I>) -> Self {
        Self { rows: OnceLock::from(rows), other: None, moved: 0 }
    }
    /// Of another form.
    pub(super) fn of_other(form: OtherForm<T, I>) -> Self {
        Self { rows: OnceLock::new(), other: Some(form), moved: 0 }
    }

    /// The matrix, after its compressed rows are made if it has another form: what reads them next cannot fail for want
    /// of memory.
    ///
    /// Cost: O(1), of another form O(places / 64 + nnz) the first time after it was written.
    /// # Errors
    /// [`Error::OutOfMemory`].
    #[inline]
    pub fn compressed(&self) -> Result<&Self> {
        if self.rows.get().is_none() {
            self.make_rows()?;
        }
        Ok(self)
    }
    #[cold]
    #[inline(never)]
    fn make_rows(&self) -> Result<()> {
        if let Some(other) = &self.other {
            let made = (other.compress)(&other.form)?;
            self.rows.get_or_init(|| made);
        }
        Ok(())
    }
    #[inline]
    fn by_rows(&self) -> &Rows<T, I> {
        match self.rows.get() {
            Some(rows) => rows,
            None => self.made(),
        }
    }
    #[cold]
    fn made(&self) -> &Rows<T, I> {
        match self.compressed().map(|a| a.rows.get()) {
            Ok(Some(rows)) => rows,
            Ok(None) => unreachable!("a matrix has a form"),
            // As of any copy in Rust.
            Err(error) => panic!("{error}: compressed() says so without a panic"),
        }
    }
    /// The rows that have entries, if it is kept as these.
    pub(crate) fn as_hyper(&self) -> Option<&HyperRows<T, I>> {
        match &self.other.as_ref()?.form {
            Form::Hyper(rows) => Some(rows),
            // Rows that cannot be made for want of memory are asked for again as compressed ones, which is an error.
            Form::Edited(edited) if edited.is_hyper() => match edited.merged() {
                Ok(Base::Hyper(rows)) => Some(rows),
                _ => None,
            },
            Form::RowMajor(_) | Form::Edited(_) => None,
        }
    }
    /// The matrix, after entries that wait beside its rows are merged.
    ///
    /// Cost: O(1), or that of merging.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn settled(&self) -> Result<&Self> {
        match self.other.as_ref().map(|other| &other.form) {
            Some(Form::Edited(edited)) if edited.is_hyper() => edited.merged().map(|_| self),
            Some(Form::Edited(_)) => self.compressed(),
            _ => Ok(self),
        }
    }
    /// What waits beside its rows, for change; the rows made of it are out of date then.
    pub(super) fn edited_mut(&mut self) -> Option<&mut Edited<T, I>> {
        let Some(OtherForm { form: Form::Edited(edited), .. }) = &mut self.other else { return None };
        self.rows.take();
        Some(edited)
    }
    /// The entries row by row, and which rows these are if not all.
    #[inline]
    fn by_stored_rows(&self) -> (&Rows<T, I>, Option<&[I]>) {
        match self.rows.get() {
            Some(rows) => (rows, None),
            None => self.as_hyper().map_or_else(|| (self.made(), None), |rows| (rows.rows(), Some(&rows.labels()[..]))),
        }
    }
    /// The matrix as compressed rows alone.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn into_compressed(mut self) -> Result<Self> {
        self.compressed()?;
        self.other = None;
        Ok(self)
    }
    /// The rows for change, the only form from here on.
    fn rows_mut(&mut self) -> &mut Rows<T, I> {
        self.by_rows();
        self.other = None;
        match self.rows.get_mut() {
            Some(rows) => rows,
            None => unreachable!("they were made just now"),
        }
    }
    /// The places for change, if that is the form it has; the rows made of them are out of date then.
    pub(super) fn row_major_mut(&mut self) -> Option<&mut RowMajor<T, I>> {
        let Some(OtherForm { form: Form::RowMajor(places), .. }) = &mut self.other else { return None };
        self.rows.take();
        Some(places)
    }
    /// The compressed rows.
    pub(super) fn as_rows(&self) -> Result<&Rows<T, I>> {
        self.compressed().map(Self::by_rows)
    }
    /// Whether both are names of one matrix.
    pub(super) fn has_same_rows(&self, other: &Self) -> bool {
        match (self.rows.get(), other.rows.get()) {
            (Some(a), Some(b)) => Arc::ptr_eq(&a.pattern, &b.pattern) && Arc::ptr_eq(&a.values, &b.values),
            _ => false,
        }
    }

    /// Rows.
    #[inline]
    pub fn nrows(&self) -> usize {
        self.shape().0
    }
    /// Columns.
    #[inline]
    pub fn ncols(&self) -> usize {
        self.shape().1
    }
    /// How it is kept.
    pub fn form(&self) -> MatrixForm {
        match self.other.as_ref().map(|other| &other.form) {
            None => MatrixForm::Rows,
            Some(Form::Hyper(_)) => MatrixForm::Hypersparse,
            Some(Form::Edited(edited)) if edited.is_hyper() => MatrixForm::Hypersparse,
            Some(Form::Edited(_)) => MatrixForm::Rows,
            Some(Form::RowMajor(x)) if x.nnz() < x.places() => MatrixForm::Bitmap,
            Some(Form::RowMajor(_)) => MatrixForm::Full,
        }
    }
    /// Rows and columns.
    #[inline]
    pub fn shape(&self) -> (usize, usize) {
        match &self.other {
            None => self.by_rows().pattern.shape(),
            Some(other) => other.form.shape(),
        }
    }
    /// Entries, stored zeros included.
    #[inline]
    pub fn nnz(&self) -> usize {
        match &self.other {
            None => self.by_rows().values.len(),
            Some(other) => other.form.nnz(),
        }
    }
    /// Where the entries are, as compressed rows.
    /// # Panics
    /// If the matrix has another form and there is no memory for its rows: [`compressed`](Self::compressed) gives an
    /// error then.
    #[inline]
    pub fn pattern(&self) -> &Arc<Pattern<I>> {
        &self.by_rows().pattern
    }
    /// Row pointers: row i is `row_ptr[i]..row_ptr[i + 1]`.
    /// # Panics
    /// As [`pattern`](Self::pattern).
    #[inline]
    pub fn row_ptr(&self) -> &[usize] {
        self.by_rows().pattern.row_ptr()
    }
    /// Column indices, row by row.
    #[inline]
    pub fn col_idx(&self) -> &[I] {
        self.by_stored_rows().0.pattern.col_idx()
    }
    /// Values, row by row.
    #[inline]
    pub fn values(&self) -> &[T] {
        &self.by_stored_rows().0.values
    }
    /// Values, row by row, for change in place, if no clone shares them and they do not belong to another owner.
    #[inline]
    pub fn unshared_mut(&mut self) -> Option<&mut [T]> {
        self.compressed().ok()?;
        Arc::get_mut(&mut self.rows_mut().values).and_then(Storage::owned_mut)
    }
    /// Columns and values of row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> (&[I], &[T]) {
        let (Rows { pattern, values }, labels) = self.by_stored_rows();
        let r = match labels {
            None => i,
            Some(labels) => match I::new(i).and_then(|i| labels.binary_search(&i).ok()) {
                Some(r) => r,
                None => return (&[], &[]),
            },
        };
        let range = pattern.row_ptr()[r]..pattern.row_ptr()[r + 1];
        (&pattern.col_idx()[range.clone()], &values[range])
    }
    /// Entries as (row, column, value), row by row.
    pub fn iter(&self) -> MatrixEntries<'_, T, I> {
        let (Rows { pattern, values }, labels) = self.by_stored_rows();
        MatrixEntries::new(pattern, values, labels)
    }
    /// The value at (i, j), or `None` where there is no entry (or no such place).
    pub fn get(&self, i: usize, j: usize) -> Option<&T> {
        match &self.other {
            None => self.values().get(self.pattern().find(i, j)?),
            Some(other) => other.form.get(i, j),
        }
    }
    /// Values, row by row, for change in place. Values that a clone shares, or that belong to another owner, are copied
    /// first, and there must be memory for them, as there must be for any clone in Rust;
    /// [`unshared_mut`](Self::unshared_mut) never copies.
    #[inline]
    pub fn values_mut(&mut self) -> &mut [T]
    where
        T: Clone,
    {
        let values = &mut self.rows_mut().values;
        // A clone of a storage is a vector of its own.
        if values.is_foreign() {
            *values = Arc::new(Storage::clone(values));
        }
        Arc::make_mut(values).owned_mut().unwrap_or_default()
    }
    /// The pattern and the values, which are copied if a clone shares them.
    pub fn into_parts(self) -> (Arc<Pattern<I>>, Vec<T>)
    where
        T: Clone,
    {
        let Rows { pattern, values } = self.by_rows().clone();
        drop(self);
        (pattern, Arc::unwrap_or_clone(values).into_vec())
    }
    /// The same pattern with values `f(x)`.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn map<U: Value>(&self, f: impl Fn(&T) -> U) -> Result<Csr<U, I>> {
        let rows = self.as_rows()?;
        let mut values = super::reserved(rows.values.len(), "values")?;
        values.extend(rows.values.iter().map(f));
        Csr::with_pattern(Arc::clone(&rows.pattern), values)
    }
}

impl<'a, T, I: Index> IntoIterator for &'a Csr<T, I> {
    type Item = (usize, usize, &'a T);
    type IntoIter = MatrixEntries<'a, T, I>;
    fn into_iter(self) -> MatrixEntries<'a, T, I> {
        self.iter()
    }
}
