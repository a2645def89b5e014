//! Memory of objects: on a machine, and moved there.

use super::object::Wide;
use crate::Result;
use crate::runtime::matrix::Sum;
use crate::runtime::{Collection, Machine, Matrix, Vector};

impl Machine {
    /// The matrix on this machine; returned unchanged if it is there already, otherwise transferred through host
    /// memory.
    /// # Errors
    /// Those of the machines.
    pub fn upload(&self, a: &Matrix) -> Result<Matrix> {
        if let Some(wide) = Wide::of(a) {
            return wide.with(self.upload(wide.matrix()?)?.into())?.try_into();
        }
        if self.engine().holds(a.into()) { Ok(a.clone()) } else { self.engine().upload(a.into())?.try_into() }
    }
    /// The vector on this machine; returned unchanged if it is there already, otherwise transferred through host
    /// memory.
    /// # Errors
    /// Those of the machines.
    pub fn upload_vector(&self, x: &Vector) -> Result<Vector> {
        if let Some(wide) = Wide::of(x) {
            return wide.with(self.upload_vector(wide.vector()?)?.into())?.try_into();
        }
        if self.engine().holds(x.into()) { Ok(x.clone()) } else { self.engine().upload(x.into())?.try_into() }
    }
    /// Whether the matrix or vector is in this machine's memory.
    #[must_use]
    pub fn holds<X: Collection>(&self, x: &X) -> bool {
        let x = x.operand_of();
        self.engine().holds(Wide::of(x).map_or(x, |wide| wide.inner.operand()))
    }
    /// Sum of the values: in storage order on the CPU ([`Matrix::sum`]); on a GPU in an order of its own, the same in
    /// every run, integers modulo 2⁶⁴.
    /// # Errors
    /// Those of the machine; [`Error::Unsupported`](crate::Error::Unsupported) for structs.
    pub fn sum(&self, a: &Matrix) -> Result<Sum> {
        match Wide::of(a) {
            Some(wide) => self.engine().sum(wide.matrix()?),
            None => self.engine().sum(a),
        }
    }
}
