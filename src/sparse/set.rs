//! Writes of single entries of a matrix.

use std::sync::Arc;

use super::csr::Csr;
use super::edits::{Base, Edited};
use super::hyper_rows::HyperRows;
use super::other_form::{Form, OtherForm};
use super::rows::Rows;
use super::select::sorted_rows;
use crate::algebra::Value;
use crate::par::Threads;
use crate::{Error, Index, Result};

impl<T: Value, I: Index> Csr<T, I> {
    /// Sets the entry at (i, j); returns the previous value.
    ///
    /// Edits of compressed rows are pending until the next read: n of them cost O(n log n), and that read merges them
    /// once, in O(nrows + nnz). [`get`](Self::get), [`nnz`](Self::nnz) and [`shape`](Self::shape) do not merge them. A
    /// [bitmap](super::MatrixForm::Bitmap) or full matrix takes an entry in O(1).
    /// ```
    /// use sparring::Csr;
    /// let mut a = Csr::<f64>::empty(3, 4)?;
    /// assert_eq!(a.set(2, 1, 5.0)?, None);
    /// assert_eq!(a.set(0, 3, 7.0)?, None);
    /// assert_eq!(a.set(2, 1, 6.0)?, Some(5.0));
    /// assert_eq!(a.remove(0, 3)?, Some(7.0));
    /// assert_eq!((a.nnz(), a.get(2, 1)), (1, Some(&6.0)));
    /// assert_eq!(a, Csr::new(3, 4, vec![0, 0, 0, 1], vec![1], vec![6.0])?);
    /// assert!(a.set(3, 0, 1.0).is_err());
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// [`Error::IndexRange`] out of bounds; [`Error::OutOfMemory`]; [`Error::IndexOverflow`] for a row of a
    /// [hypersparse](super::MatrixForm::Hypersparse) matrix that does not fit `I`.
    pub fn set(&mut self, i: usize, j: usize, x: T) -> Result<Option<T>> {
        let (nrows, ncols) = self.shape();
        let outside = |axis, index: usize, bound| Error::IndexRange { axis, position: 0, index: index as u128, bound };
        if i >= nrows {
            return Err(outside("row", i, nrows));
        }
        if j >= ncols {
            return Err(outside("column", j, ncols));
        }
        self.edit(i, j, Some(x))
    }
    /// Removes the entry at (i, j), if it exists; returns its value.
    ///
    /// Cost: as [`set`](Self::set).
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn remove(&mut self, i: usize, j: usize) -> Result<Option<T>> {
        if self.get(i, j).is_none() {
            return Ok(None);
        }
        self.edit(i, j, None)
    }
    fn edit(&mut self, i: usize, j: usize, x: Option<T>) -> Result<Option<T>> {
        let ncols = self.ncols();
        if let Some(form) = self.row_major_mut() {
            return match x {
                Some(x) => form.entries.set(i * ncols + j, x),
                None => form.entries.remove(i * ncols + j),
            };
        }
        self.edited()?.edit(i, j, x)
    }
    /// Switches to the form with pending edits; invalidates cached rows.
    fn edited(&mut self) -> Result<&mut Edited<T, I>> {
        let base = match self.other.as_ref().map(|other| &other.form) {
            Some(Form::Edited(_)) => None,
            Some(Form::Hyper(rows)) => {
                let (nrows, labels) = (rows.shape().0, Arc::clone(rows.labels()));
                Some(Base::Hyper(HyperRows::new(nrows, labels, in_order(rows.rows())?)))
            }
            None | Some(Form::RowMajor(_)) => Some(Base::Rows(in_order(self.as_rows()?)?)),
        };
        if let Some(base) = base {
            let compress = |form: &Form<T, I>| match form {
                Form::Edited(edited) => edited.compress(),
                Form::RowMajor(_) | Form::Hyper(_) => unreachable!("a matrix that was edited"),
            };
            let moved = self.moved;
            *self = Self::of_other(OtherForm { form: Form::Edited(Edited::new(base)), compress });
            self.moved = moved;
        }
        match self.edited_mut() {
            Some(edited) => Ok(edited),
            None => unreachable!("it was made so just now"),
        }
    }
}

/// The rows, sorted.
fn in_order<T: Value, I: Index>(rows: &Rows<T, I>) -> Result<Rows<T, I>> {
    if rows.pattern.is_sorted() {
        return Ok(rows.clone());
    }
    let (pattern, values) = sorted_rows(&Threads::caller(), &rows.pattern, &rows.values)?;
    Ok(Rows { pattern: Arc::new(pattern), values: Arc::new(values.into()) })
}
