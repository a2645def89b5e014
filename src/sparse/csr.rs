//! The sparse matrix type: compressed rows (a shared pattern and one value per entry), or another storage form.

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
/// The default form is compressed rows with a shared pattern: matrices of one structure (the results of one plan, say)
/// share one copy of it. A dense matrix that is written becomes a [bitmap](MatrixForm::Bitmap), which takes an entry in
/// O(1). A matrix with at least 2²⁰ rows, of which at most 1/16 are non-empty, stores
/// [these rows alone](MatrixForm::Hypersparse). Results do not depend on the [form](Self::form). Stored zeros are
/// entries like any other.
///
/// Clones share their storage and cost O(1); values are copied on the first [write](Self::values_mut).
#[derive(Debug)]
pub struct Csr<T, I: Index = u32> {
    /// For a matrix of another form: built at the first use, cached until the matrix is written.
    rows: OnceLock<Rows<T, I>>,
    /// The other form.
    pub(super) other: Option<OtherForm<T, I>>,
    /// Entries copied by writes so far.
    pub(super) moved: usize,
}

/// The storage form of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixForm {
    /// Compressed rows.
    Rows,
    /// Compressed rows of the non-empty rows alone, and their indices.
    Hypersparse,
    /// A bit and a value slot for each (i, j).
    Bitmap,
    /// A value for each (i, j).
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

    /// From arrays that may belong to another owner, without a copy; columns in any order within each row.
    ///
    /// Cost: O(nrows + nnz), once, for validation. [`Storage`] shows how to pass arrays of SciPy's types.
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
    /// From another form.
    pub(super) fn of_other(form: OtherForm<T, I>) -> Self {
        Self { rows: OnceLock::new(), other: Some(form), moved: 0 }
    }

    /// The matrix, with its compressed rows built and cached: later reads of them cannot run out of memory.
    ///
    /// Cost: O(1); for another form O(nrows·ncols / 64 + nnz) the first time after a write.
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
            // As for any failed allocation of a clone in Rust.
            Err(error) => panic!("{error}: compressed() says so without a panic"),
        }
    }
    /// The hypersparse rows, if stored in that form.
    pub(crate) fn as_hyper(&self) -> Option<&HyperRows<T, I>> {
        match &self.other.as_ref()?.form {
            Form::Hyper(rows) => Some(rows),
            // If merging runs out of memory, the caller requests compressed rows next, and gets the error there.
            Form::Edited(edited) if edited.is_hyper() => match edited.merged() {
                Ok(Base::Hyper(rows)) => Some(rows),
                _ => None,
            },
            Form::RowMajor(_) | Form::Edited(_) => None,
        }
    }
    /// The matrix, with its pending edits merged.
    ///
    /// Cost: O(1), or that of the merge.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn settled(&self) -> Result<&Self> {
        match self.other.as_ref().map(|other| &other.form) {
            Some(Form::Edited(edited)) if edited.is_hyper() => edited.merged().map(|_| self),
            Some(Form::Edited(_)) => self.compressed(),
            _ => Ok(self),
        }
    }
    /// The pending edits, mutable; invalidates cached rows.
    pub(super) fn edited_mut(&mut self) -> Option<&mut Edited<T, I>> {
        let Some(OtherForm { form: Form::Edited(edited), .. }) = &mut self.other else { return None };
        self.rows.take();
        Some(edited)
    }
    /// The entries row by row, and the indices of the rows if not all are stored.
    #[inline]
    fn by_stored_rows(&self) -> (&Rows<T, I>, Option<&[I]>) {
        match self.rows.get() {
            Some(rows) => (rows, None),
            None => self.as_hyper().map_or_else(|| (self.made(), None), |rows| (rows.rows(), Some(&rows.labels()[..]))),
        }
    }
    /// The matrix as compressed rows; other forms are dropped.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn into_compressed(mut self) -> Result<Self> {
        self.compressed()?;
        self.other = None;
        Ok(self)
    }
    /// The compressed rows, mutable; other forms are dropped.
    fn rows_mut(&mut self) -> &mut Rows<T, I> {
        self.by_rows();
        self.other = None;
        match self.rows.get_mut() {
            Some(rows) => rows,
            None => unreachable!("they were made just now"),
        }
    }
    /// The bitmap or full form, mutable, if stored so; invalidates cached rows.
    pub(super) fn row_major_mut(&mut self) -> Option<&mut RowMajor<T, I>> {
        let Some(OtherForm { form: Form::RowMajor(form), .. }) = &mut self.other else { return None };
        self.rows.take();
        Some(form)
    }
    /// The compressed rows.
    pub(super) fn as_rows(&self) -> Result<&Rows<T, I>> {
        self.compressed().map(Self::by_rows)
    }
    /// Whether both share one storage.
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
    /// The storage form.
    pub fn form(&self) -> MatrixForm {
        match self.other.as_ref().map(|other| &other.form) {
            None => MatrixForm::Rows,
            Some(Form::Hyper(_)) => MatrixForm::Hypersparse,
            Some(Form::Edited(edited)) if edited.is_hyper() => MatrixForm::Hypersparse,
            Some(Form::Edited(_)) => MatrixForm::Rows,
            Some(Form::RowMajor(x)) if x.nnz() < x.len() => MatrixForm::Bitmap,
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
    /// The pattern, as compressed rows.
    /// # Panics
    /// If the matrix has another form and there is no memory for its compressed rows; [`compressed`](Self::compressed)
    /// returns an error instead.
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
    /// Values, row by row, mutable, if no clone shares them and they do not belong to another owner.
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
    /// The value at (i, j), or `None` if there is no entry or (i, j) is out of bounds.
    pub fn get(&self, i: usize, j: usize) -> Option<&T> {
        match &self.other {
            None => self.values().get(self.pattern().find(i, j)?),
            Some(other) => other.form.get(i, j),
        }
    }
    /// Values, row by row, mutable. Values shared with a clone, or of another owner, are copied first; as for any clone
    /// in Rust, there must be memory for the copy. [`unshared_mut`](Self::unshared_mut) never copies.
    #[inline]
    pub fn values_mut(&mut self) -> &mut [T]
    where
        T: Clone,
    {
        let values = &mut self.rows_mut().values;
        // Cloning a storage copies it into a vector of its own.
        if values.is_foreign() {
            *values = Arc::new(Storage::clone(values));
        }
        Arc::make_mut(values).owned_mut().unwrap_or_default()
    }
    /// The pattern and the values; values shared with a clone are copied.
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
