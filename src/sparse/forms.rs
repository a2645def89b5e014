//! Changes of the storage form: when a matrix is written in place.
//!
//! A matrix of compressed rows becomes a bitmap, with a bit and a value slot for each (i, j), at a write while its
//! density is at least 1/8. A matrix with few rows or columns also does so once writes have copied nrows·ncols / 16
//! entries. A write into a bitmap costs O(entries written). A bitmap becomes compressed rows once a mask leaves a
//! density of at most 1/32; a new result becomes compressed rows at a density of at most 1/16.

use super::csr::Csr;
use super::matrix_pattern::MatrixPattern;
use super::other_form::{self, OtherForm};
use super::row_major::{RowMajor, row_major_indices, row_major_len};
use super::select::sorted_rows;
use super::vector::Vector;
use super::vector_pattern::Form;
use super::vector_target::Combine;
use super::{MaskSpec, copied};
use crate::algebra::{Slice, Value};
use crate::par::Threads;
use crate::{Error, Index, Result};

/// Reciprocal of the density from which on a written matrix becomes a bitmap.
const DENSE: usize = 8;
/// A matrix with at most [`FEW`] rows or columns becomes a bitmap once its writes have copied more than
/// nrows·ncols / `MOVED` entries.
const MOVED: usize = 16;
/// Up to this many rows or columns, a bitmap takes little more memory than that of a vector.
const FEW: usize = 64;
/// A write is small if it has at most nnz / `MANY` entries; only small writes turn a matrix into a bitmap.
const MANY: usize = 8;

impl<T, I: Index> Csr<T, I> {
    /// The pattern, shared.
    pub(crate) fn matrix_pattern(&self) -> MatrixPattern<I> {
        match self.other.as_ref().map(|other| &other.form) {
            Some(other_form::Form::RowMajor(form)) => {
                MatrixPattern::of_row_major(self.shape(), form.entries.shared_pattern().clone())
            }
            Some(other_form::Form::Hyper(rows)) => MatrixPattern::of_hyper(rows.pattern()),
            Some(other_form::Form::Edited(_)) | None => match self.as_hyper() {
                Some(rows) => MatrixPattern::of_hyper(rows.pattern()),
                None => self.pattern().clone().into(),
            },
        }
    }
}

impl<T: Value, I: Index> Csr<T, I> {
    /// From a vector in row-major order, with entry i·n + j for (i, j): a bitmap, or compressed rows for a list.
    ///
    /// Cost: O(1), for a list O(nrows + nnz).
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn from_row_major(shape: (usize, usize), entries: Vector<T, I>) -> Result<Self> {
        let is_list = matches!(entries.pattern().form(), Form::List(_));
        let form = RowMajor::new(shape, entries);
        if is_list {
            return form.compress().map(Self::of_rows);
        }
        let compress = |form: &other_form::Form<T, I>| match form {
            other_form::Form::RowMajor(form) => form.compress(),
            other_form::Form::Hyper(rows) => rows.compress(),
            other_form::Form::Edited(edited) => edited.compress(),
        };
        Ok(Self::of_other(OtherForm { form: other_form::Form::RowMajor(form), compress }))
    }
    /// The entries in row-major order, if stored in that form.
    pub(crate) fn as_row_major(&self) -> Option<&Vector<T, I>> {
        match &self.other.as_ref()?.form {
            other_form::Form::RowMajor(form) => Some(&form.entries),
            other_form::Form::Hyper(_) | other_form::Form::Edited(_) => None,
        }
    }
    /// The entries as a vector in row-major order.
    ///
    /// Cost: O(1) for a bitmap, O(nrows + nnz) for compressed rows, plus sorting for unsorted rows.
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::IndexOverflow`] if nrows·ncols does not fit `I`.
    pub(crate) fn to_row_major(&self, threads: &Threads) -> Result<Vector<T, I>> {
        if let Some(entries) = self.as_row_major() {
            return Ok(entries.clone());
        }
        if self.compressed()?.pattern().is_sorted() {
            let indices = row_major_indices(self.pattern())?;
            return Ok(Vector::with_pattern(indices.into(), copied(self.values(), "values")?));
        }
        let (pattern, values) = sorted_rows(threads, self.pattern(), self.values())?;
        Ok(Vector::with_pattern(row_major_indices(&pattern)?.into(), values))
    }
    /// Whether both share one storage.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self.as_row_major(), other.as_row_major()) {
            (Some(a), Some(b)) => self.shape() == other.shape() && a.is_same(b),
            (None, None) => self.has_same_rows(other) || self.has_same_hyper(other),
            _ => false,
        }
    }
    /// Whether a matrix of compressed rows is to become a bitmap for a write of `entries`.
    fn suits_bitmap(&self, entries: usize) -> bool {
        let ((nrows, ncols), nnz) = (self.shape(), self.nnz());
        let few = nrows.min(ncols) <= FEW;
        row_major_len::<I>(self.shape()).is_some_and(|len| {
            let moved = self.moved.saturating_add(nnz);
            nnz / MANY >= entries && (nnz >= len / DENSE || few && moved > len / MOVED)
        })
    }
    /// c = c ⊙ t in place, ⊙ being `combine`. Returns false, without a write, if the form of c is not written in place.
    ///
    /// Cost: O(nrows + nnz(t)), amortized; storage shared with a clone is copied first.
    /// # Errors
    /// [`Error::Shape`], [`Error::OutOfMemory`].
    pub(crate) fn put(&mut self, threads: &Threads, t: &Self, combine: &Combine<'_>) -> Result<bool> {
        if self.shape() != t.shape() {
            return Err(Error::Shape { op: "ewise_add", lhs: self.shape(), rhs: t.shape() });
        }
        self.settled()?;
        t.settled()?;
        let is_rows = self.as_row_major().is_none() && self.as_hyper().is_none();
        if is_rows && self.suits_bitmap(t.nnz()) {
            // Without memory for a bitmap, c keeps its form.
            if let Ok(mut entries) = self.to_row_major(threads)
                && entries.spread().is_ok()
            {
                *self = Self::from_row_major(self.shape(), entries)?;
            }
        }
        let Some(RowMajor { entries, .. }) = self.row_major_mut() else { return Ok(false) };
        if let Some(t) = t.as_row_major() {
            entries.put_values(threads, t.pattern(), Slice::of(t.values()), Some(combine))?;
        } else if t.pattern().is_sorted() {
            entries.put_values(threads, &row_major_indices(t.pattern())?, Slice::of(t.values()), Some(combine))?;
        } else {
            let t = t.to_row_major(threads)?;
            entries.put_values(threads, t.pattern(), Slice::of(t.values()), Some(combine))?;
        }
        Ok(true)
    }
    /// Takes the result of a write that was not in place, and counts the entries that it copied.
    pub(crate) fn replace(&mut self, written: Self) {
        let moved = self.moved.saturating_add(self.nnz());
        *self = written;
        self.moved = moved;
    }
    /// Keeps the entries that the mask allows, in place; the mask has c's shape. Returns false, without a write, if the
    /// form of c is not written in place.
    ///
    /// Cost: as for a [`Vector`].
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn retain(&mut self, threads: &Threads, mask: MaskSpec<'_, MatrixPattern<I>>) -> Result<bool> {
        let Some(form) = self.row_major_mut() else { return Ok(false) };
        let allowed = mask.pattern.row_major(threads)?;
        form.entries.retain(MaskSpec::new(&allowed, mask.complement))?;
        if let Form::List(_) = form.entries.pattern().form() {
            *self = Self::of_rows(form.compress()?);
        }
        Ok(true)
    }
}
