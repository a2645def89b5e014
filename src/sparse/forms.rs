//! A matrix changes its form: what is written in place, and when.
//!
//! A matrix is compressed rows until it is written while an eighth of its places have an entry, or, where it has few
//! rows or columns, when its writes have moved as many entries as a sixteenth of its places: from then on it keeps a
//! bit and a value for each place, and a write costs O(entries written). It is compressed rows again once a mask leaves
//! an entry at a thirty-second of its places or fewer; a result that has one at a sixteenth or fewer is made so.

use super::csr::Csr;
use super::matrix_pattern::MatrixPattern;
use super::other_form::{self, OtherForm};
use super::row_major::{RowMajor, places_of, places_of_rows};
use super::select::sorted_rows;
use super::vector::Vector;
use super::vector_pattern::Form;
use super::vector_target::Combine;
use super::{MaskSpec, copied};
use crate::algebra::{Slice, Value};
use crate::par::Threads;
use crate::{Error, Index, Result};

/// A matrix that is written becomes a bitmap when one place in so many has an entry.
const DENSE: usize = 8;
/// Or when writes have moved entries as many as one in so many places, if it has [`FEW`] rows or columns.
const MOVED: usize = 16;
/// So many rows or columns are few: the bitmap takes little more memory than a vector's.
const FEW: usize = 64;
/// Writes of so many entries at once, or more, are no writes to a few places.
const MANY: usize = 8;

impl<T, I: Index> Csr<T, I> {
    /// Where the entries are, shared.
    pub(crate) fn matrix_pattern(&self) -> MatrixPattern<I> {
        match self.other.as_ref().map(|other| &other.form) {
            Some(other_form::Form::RowMajor(places)) => {
                MatrixPattern::of_places(self.shape(), places.entries.places().clone())
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
    /// Of a vector with an entry for each of the matrix's, i·n + j for (i, j), in the form that suits it.
    ///
    /// Cost: O(1), of a list O(nrows + nnz).
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn from_places(shape: (usize, usize), entries: Vector<T, I>) -> Result<Self> {
        let is_list = matches!(entries.pattern().form(), Form::List(_));
        let form = RowMajor::new(shape, entries);
        if is_list {
            return form.compress().map(Self::of_rows);
        }
        let compress = |form: &other_form::Form<T, I>| match form {
            other_form::Form::RowMajor(places) => places.compress(),
            other_form::Form::Hyper(rows) => rows.compress(),
            other_form::Form::Edited(edited) => edited.compress(),
        };
        Ok(Self::of_other(OtherForm { form: other_form::Form::RowMajor(form), compress }))
    }
    /// The entries by their places, if that is the form it has.
    pub(crate) fn as_places(&self) -> Option<&Vector<T, I>> {
        match &self.other.as_ref()?.form {
            other_form::Form::RowMajor(places) => Some(&places.entries),
            other_form::Form::Hyper(_) | other_form::Form::Edited(_) => None,
        }
    }
    /// The entries by their places.
    ///
    /// Cost: O(nrows + nnz) of compressed rows; of rows that are not sorted, sorting them.
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::IndexOverflow`] if an index cannot name all places.
    pub(crate) fn to_places(&self, threads: &Threads) -> Result<Vector<T, I>> {
        if let Some(places) = self.as_places() {
            return Ok(places.clone());
        }
        if self.compressed()?.pattern().is_sorted() {
            let places = places_of_rows(self.pattern())?;
            return Ok(Vector::with_pattern(places.into(), copied(self.values(), "values")?));
        }
        let (pattern, values) = sorted_rows(threads, self.pattern(), self.values())?;
        Ok(Vector::with_pattern(places_of_rows(&pattern)?.into(), values))
    }
    /// Whether both are names of one matrix.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self.as_places(), other.as_places()) {
            (Some(a), Some(b)) => self.shape() == other.shape() && a.is_same(b),
            (None, None) => self.has_same_rows(other) || self.has_same_hyper(other),
            _ => false,
        }
    }
    /// Whether a write of `entries` is to be made in place, in a bitmap.
    fn suits_places(&self, entries: usize) -> bool {
        let ((nrows, ncols), nnz) = (self.shape(), self.nnz());
        let few = nrows.min(ncols) <= FEW;
        places_of::<I>(self.shape()).is_some_and(|places| {
            let moved = self.moved.saturating_add(nnz);
            nnz / MANY >= entries && (nnz >= places / DENSE || few && moved > places / MOVED)
        })
    }
    /// c = c ⊙ t in place, ⊙ as `combine` has it; false if c has a form that is not written in place, and t is to be
    /// joined otherwise.
    ///
    /// Cost: O(nrows + entries of t), amortized; a matrix that a clone shares is copied first.
    /// # Errors
    /// [`Error::Shape`], [`Error::OutOfMemory`].
    pub(crate) fn put(&mut self, threads: &Threads, t: &Self, combine: &Combine<'_>) -> Result<bool> {
        if self.shape() != t.shape() {
            return Err(Error::Shape { op: "ewise_add", lhs: self.shape(), rhs: t.shape() });
        }
        self.settled()?;
        t.settled()?;
        let is_rows = self.as_places().is_none() && self.as_hyper().is_none();
        if is_rows && self.suits_places(t.nnz()) {
            // What has no memory for a bitmap stays as it is.
            if let Ok(mut entries) = self.to_places(threads)
                && entries.spread().is_ok()
            {
                *self = Self::from_places(self.shape(), entries)?;
            }
        }
        let Some(RowMajor { entries, .. }) = self.row_major_mut() else { return Ok(false) };
        if let Some(t) = t.as_places() {
            entries.put_values(threads, t.pattern(), Slice::of(t.values()), Some(combine))?;
        } else if t.pattern().is_sorted() {
            entries.put_values(threads, &places_of_rows(t.pattern())?, Slice::of(t.values()), Some(combine))?;
        } else {
            let t = t.to_places(threads)?;
            entries.put_values(threads, t.pattern(), Slice::of(t.values()), Some(combine))?;
        }
        Ok(true)
    }
    /// The result of a write that was not in place, which moved what c had.
    pub(crate) fn replace(&mut self, written: Self) {
        let moved = self.moved.saturating_add(self.nnz());
        *self = written;
        self.moved = moved;
    }
    /// Keeps the entries that the mask, which has c's shape, allows, in place; false if c has a form that is not
    /// written in place.
    ///
    /// Cost: that of [`Vector`]s.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn retain(&mut self, threads: &Threads, mask: MaskSpec<'_, MatrixPattern<I>>) -> Result<bool> {
        let Some(places) = self.row_major_mut() else { return Ok(false) };
        let allowed = mask.pattern.places(threads)?;
        places.entries.retain(MaskSpec::new(&allowed, mask.complement))?;
        if let Form::List(_) = places.entries.pattern().form() {
            *self = Self::of_rows(places.compress()?);
        }
        Ok(true)
    }
}
