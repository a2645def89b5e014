//! Storage forms of a matrix other than compressed rows.

use super::edits::Edited;
use super::hyper_rows::HyperRows;
use super::row_major::RowMajor;
use super::rows::Rows;
use crate::{Index, Result};

/// A form other than compressed rows.
#[derive(Debug)]
pub(super) enum Form<T, I: Index> {
    RowMajor(RowMajor<T, I>),
    Hyper(HyperRows<T, I>),
    /// Compressed or hypersparse rows with pending edits.
    Edited(Edited<T, I>),
}

/// The storage of a matrix in another form.
#[derive(Debug)]
pub(super) struct OtherForm<T, I: Index> {
    pub(super) form: Form<T, I>,
    /// Converts to compressed rows; a function pointer, because this needs `T: Value` and reading a matrix does not.
    pub(super) compress: Compress<T, I>,
}

/// Conversion of a form to compressed rows.
pub(super) type Compress<T, I> = fn(&Form<T, I>) -> Result<Rows<T, I>>;

impl<T, I: Index> Clone for OtherForm<T, I> {
    fn clone(&self) -> Self {
        let form = match &self.form {
            Form::RowMajor(places) => Form::RowMajor(places.clone()),
            Form::Hyper(rows) => Form::Hyper(rows.clone()),
            Form::Edited(edited) => Form::Edited(edited.clone()),
        };
        Self { form, compress: self.compress }
    }
}

impl<T, I: Index> Form<T, I> {
    pub(super) fn shape(&self) -> (usize, usize) {
        match self {
            Self::RowMajor(places) => places.shape(),
            Self::Hyper(rows) => rows.shape(),
            Self::Edited(edited) => edited.shape(),
        }
    }
    pub(super) fn nnz(&self) -> usize {
        match self {
            Self::RowMajor(places) => places.nnz(),
            Self::Hyper(rows) => rows.nnz(),
            Self::Edited(edited) => edited.nnz(),
        }
    }
    pub(super) fn get(&self, i: usize, j: usize) -> Option<&T> {
        match self {
            Self::RowMajor(places) => places.get(i, j),
            Self::Hyper(rows) => rows.get(i, j),
            Self::Edited(edited) => edited.get(i, j),
        }
    }
}
