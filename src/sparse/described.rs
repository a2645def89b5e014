//! Descriptions of shape, entries and storage form, for `explain`.

use super::csr::{Csr, MatrixForm};
use super::dense::Dense;
use super::vector::Vector;
use super::vector_pattern::{Indices, VectorPattern};
use crate::Index;
use crate::algebra::Value;

/// A matrix or vector that describes its shape, entries and storage form.
pub(crate) trait Described {
    /// `1000×1000 with 5000 entries as compressed rows`.
    fn described(&self) -> String;
}
impl<T, I: Index> Described for Csr<T, I> {
    fn described(&self) -> String {
        let (m, n) = self.shape();
        let form = match self.form() {
            MatrixForm::Rows => "compressed rows",
            MatrixForm::Hypersparse => "hypersparse rows",
            MatrixForm::Bitmap => "a bitmap",
            MatrixForm::Full => "a full matrix",
        };
        format!("{m}×{n} with {} entries as {form}", self.nnz())
    }
}
impl<I: Index> Described for VectorPattern<I> {
    fn described(&self) -> String {
        let form = match self.indices() {
            Indices::List(_) => "a list",
            Indices::Bitmap(_) => "a bitmap",
            Indices::All => "a full vector",
        };
        format!("length {} with {} entries as {form}", self.len(), self.nnz())
    }
}
impl<T: Value, I: Index> Described for Vector<T, I> {
    fn described(&self) -> String {
        self.pattern().described()
    }
}
impl<T> Described for Dense<T> {
    fn described(&self) -> String {
        format!("{}×{} dense", self.nrows(), self.ncols())
    }
}
