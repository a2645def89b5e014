//! Extracting from vectors and assigning to them by index lists, with folds over repeated indices.

use std::sync::Arc;

use super::assign::Assigned;
use super::buffer::Buffer;
use super::csr::{RawCsr, column_bound};
use super::defines::Prefix;
use super::index::DeviceList;
use super::launch::args;
use super::pattern::{DevicePattern, Offsets};
use super::vector_form::{Form, RawVector, moves};
use super::{Cuda, RawBuffer};
use crate::algebra::{Printed, Type};
use crate::sparse::IndexList;
use crate::{Error, Result};

impl Cuda {
    /// w(p) = v(I(p)) where v has that entry.
    ///
    /// Cost: O(|I|); for a sparse v, a binary search for each index.
    pub(crate) fn vector_part_raw(&self, v: &RawVector, list: &IndexList) -> Result<RawVector> {
        let list = self.device_list(list, "indices", v.len)?;
        if list.is_all(v.len) {
            return Ok(v.clone());
        }
        self.vector_gather_raw(v, &self.indices_of(&list)?)
    }
    /// The vector of length `len` with w(I(p)) = u(p).
    ///
    /// Cost: O(nnz(u)) where the list increases and u is full or sparse, else O(len).
    pub(crate) fn vector_place_raw(&self, u: &RawVector, list: &IndexList, len: usize) -> Result<RawVector> {
        column_bound(len)?;
        let list = self.distinct_list(list, "indices", len)?;
        if list.len != u.len {
            return Err(Error::Shape { op: "assign", lhs: (list.len, 1), rhs: (u.len, 1) });
        }
        if list.is_all(len) {
            return Ok(u.clone());
        }
        let indices = self.indices_of(&list)?;
        match &u.form {
            Form::Full if list.increases() => Ok(RawVector::list(len, indices, Arc::clone(&u.values))),
            Form::List(listed) if list.increases() => {
                let (settings, n) = (moves(Type::U32), listed.len());
                let to = self.alloc::<u32>(n, "indices of a vector")?;
                self.each(Prefix::new("", &settings), "gather", n, args![listed, n as u64, &indices, &to])?;
                Ok(RawVector::list(len, to, Arc::clone(&u.values)))
            }
            _ => {
                let mut w = RawVector::list(len, self.alloc(0, "indices of a vector")?, self.nothing(u.ty())?);
                self.vector_assign_at(&mut w, &indices, &Assigned::Vector(u))?;
                Ok(w)
            }
        }
    }
    /// The entries of u at the indices of a list.
    ///
    /// Cost: O(|I|) for an increasing list, else O(n).
    pub(crate) fn vector_within_raw(&self, u: &RawVector, list: &IndexList) -> Result<RawVector> {
        let list = self.device_list(list, "indices", u.len)?;
        if list.is_all(u.len) {
            return Ok(u.clone());
        }
        // The values of a mask are not read.
        let mask = self.pattern_of(&list, u.len)?;
        self.vector_apply_mask_raw(u, &mask, false)
    }
    /// A vector of length `len` with entries at the indices of a list, which may repeat them.
    fn pattern_of(&self, list: &DeviceList, len: usize) -> Result<RawVector> {
        let indices = self.indices_of(list)?;
        if list.increases() {
            let values = Arc::clone(indices.raw());
            return Ok(RawVector::list(len, indices, values));
        }
        let present = self.present_of(len, &indices)?;
        let values = Arc::clone(present.raw());
        Ok(RawVector::bitmap(present, values))
    }
    /// T(i) = u(p) ⊕ u(q) ⊕ … over all p, q, … with I(p) = I(q) = … = i, a vector of length `len`: uᵀ·P over a ring
    /// whose ⊗ returns its first operand, where P has an entry (p, I(p)) for each p.
    pub(crate) fn vector_scatter_raw(
        &self,
        ring: &Printed,
        u: &RawVector,
        list: &IndexList,
        len: usize,
    ) -> Result<RawVector> {
        let list = self.device_list(list, "indices", len)?;
        if list.len != u.len {
            return Err(Error::Shape { op: "assign", lhs: (list.len, 1), rhs: (u.len, 1) });
        }
        self.vector_fold_raw(ring, u, &self.indices_of(&list)?, len)
    }
    /// The same for indices on the device: one for each index of u, each below `len`.
    pub(crate) fn vector_fold_raw(
        &self,
        ring: &Printed,
        u: &RawVector,
        to: &Buffer<u32>,
        len: usize,
    ) -> Result<RawVector> {
        column_bound(len)?;
        let row_ptr = self.indices_of(&DeviceList::range(0, to.len() + 1))?;
        let pattern = DevicePattern::new((to.len(), len), true, Offsets::Small(row_ptr), to.clone());
        let values = self.alloc_raw(ring.b, to.len(), "values of a fold")?;
        self.fill_bytes(&values, 0)?;
        self.vxm_vector(ring, u, &RawCsr::new(pattern, values), None)
    }
    fn nothing(&self, ty: Type) -> Result<Arc<RawBuffer>> {
        self.alloc_raw(ty, 0, "values of a vector")
    }
    /// A vector as a matrix of one row, or of one column.
    pub(crate) fn vector_matrix_raw(&self, v: &RawVector, is_row: bool) -> Result<RawCsr> {
        let row = self.as_row(v)?;
        if is_row { Ok(row) } else { self.transpose_raw(&row) }
    }
}
