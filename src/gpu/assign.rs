//! In-place assignment to vectors, at given indices or under a mask, and arrays of one value. See `cuda/assign.cu` and
//! `cuda/vector.cu`.

use std::sync::Arc;

use super::Cuda;
use super::arg::Arg;
use super::buffer::{Buffer, RawBuffer, same_type};
use super::defines::{Prefix, Setting};
use super::jit::{Source, Unit, source};
use super::launch::{Shape, args};
use super::vector_form::{Form, PLACES, RawVector, moves};
use super::vector_ops::same_len;
use crate::algebra::{Slice, Type};
use crate::{Error, Result};

const SOURCE: Source = source!("assign.cu");

/// The right-hand side of an assignment: a value, or a value for each index.
pub(crate) enum Assigned<'a> {
    Scalar(Slice<'a>),
    Vector(&'a RawVector),
}

impl Cuda {
    /// w(indices(k)) = the k-th assigned value; without `indices`, w is overwritten. Where an assigned vector has no
    /// entry, w loses its entry. Of equal indices the last one wins.
    pub(crate) fn vector_assign_raw(
        &self,
        w: &mut RawVector,
        indices: Option<&[u32]>,
        what: &Assigned<'_>,
    ) -> Result<()> {
        let ty = match what {
            Assigned::Scalar(x) => x.ty(),
            Assigned::Vector(u) => u.ty(),
        };
        w.values.check("the vector of an assignment", ty)?;
        let n = indices.map_or(w.len, <[_]>::len);
        check_length(what, n)?;
        let settings = moves(ty);
        let Some(indices) = indices else {
            *w = match what {
                Assigned::Vector(u) => (*u).clone(),
                Assigned::Scalar(x) => {
                    let x = self.scalar(*x, ty)?;
                    let values = self.alloc_raw(ty, n, "values of a vector")?;
                    let none: Option<&RawBuffer> = None;
                    self.each(Prefix::new("", &settings), "fill_absent", n, args![none, &x, &x, n as u64, &values])?;
                    RawVector::full(values)
                }
            };
            return Ok(());
        };
        let wanted = self.upload_indices(w.len, indices)?;
        self.vector_assign_at(w, &wanted, what)
    }
    /// The same for indices on the device, each below w's length.
    pub(super) fn vector_assign_at(&self, w: &mut RawVector, wanted: &Buffer<u32>, what: &Assigned<'_>) -> Result<()> {
        let (ty, n) = (w.ty(), wanted.len());
        check_length(what, n)?;
        let settings = moves(ty);
        let (from, present, scalar) = match what {
            Assigned::Scalar(x) => (self.scalar(*x, ty)?, None, 1u32),
            Assigned::Vector(u) => {
                let u = self.to_bitmap_raw(u)?;
                let present = u.present().cloned();
                (u.values, present, 0)
            }
        };
        self.make_writable(w)?;
        if present.is_some() && matches!(w.form, Form::Full) {
            w.form = Form::Bitmap(self.filled_bitmap(w.len)?.into());
        }
        let last = self.zeroed::<u32>(w.len, "the last of equal indices")?;
        self.each(PLACES, "last_of", n, args![wanted, n as u64, &last])?;
        let arguments = args![wanted, n as u64, &last, present.as_ref(), &from, scalar, w.present(), &w.values];
        self.each(Prefix::new("", &settings), "assign_at", n, arguments)
    }
    /// w(i) = x in the pattern of a mask, or with `complement` outside it. The mask's values are not read.
    ///
    /// Cost: O(nnz) for a sparse mask without `complement`, if w is not sparse and its arrays are not shared; else
    /// O(n).
    pub(crate) fn vector_assign_masked_raw(
        &self,
        w: &mut RawVector,
        mask: &RawVector,
        complement: bool,
        x: Slice<'_>,
    ) -> Result<()> {
        same_len("a mask", w, mask)?;
        self.make_writable(w)?;
        if let (Form::List(indices), false) = (&mask.form, complement) {
            return self.assign_listed(&w.values, w.present(), indices, x);
        }
        let x = self.scalar(x, w.ty())?;
        let of_mask = match &mask.form {
            Form::List(indices) => Some(self.present_of(mask.len, indices)?),
            Form::Bitmap(present) => Some(present.flags.clone()),
            Form::Full => None,
        };
        let (settings, n) = (moves(w.ty()), w.len as u64);
        let arguments = args![of_mask.as_ref(), u32::from(complement), &x, n, w.present(), &w.values];
        self.each(Prefix::new("", &settings), "assign_where", w.len, arguments)
    }

    /// w(i) = x at the indices of a list, x being one value of w's type, and `present` set to true there. One kernel,
    /// which writes each of these elements once. No wait, unless x is a struct.
    fn assign_listed(
        &self,
        w: &RawBuffer,
        present: Option<&Buffer<bool>>,
        indices: &Buffer<u32>,
        x: Slice<'_>,
    ) -> Result<()> {
        one_value(x, w.ty())?;
        let from = match x.ty() {
            Type::Struct(_) => Some(self.put_raw(x, "a scalar")?),
            _ => None,
        };
        let program = self.program_of(SOURCE, Prefix::new("", &[Setting::words(w.ty())]))?;
        let arguments = args![indices, indices.len() as u64, from.as_deref(), Arg::value(x), present, w];
        program.kernel("assign")?.launch(Shape::for_each(indices.len(), 256)?, arguments)
    }
    /// One value of type `ty` as an array: the scalar operand of a function, or the fill for absent entries. No wait,
    /// unless it is a struct.
    pub(crate) fn scalar(&self, x: Slice<'_>, ty: Type) -> Result<Arc<RawBuffer>> {
        one_value(x, ty)?;
        let what = "a scalar";
        if let Type::Struct(_) = ty {
            return self.put_raw(x, what);
        }
        let to = self.alloc_raw(ty, 1, what)?;
        let program = self.program_of(SOURCE, Prefix::new("", &[Setting::words(ty)]))?;
        program.kernel("set_value")?.launch(Shape::blocks(1, 32, 0)?, args![Arg::value(x), &to])?;
        Ok(to)
    }
}

fn check_length(what: &Assigned<'_>, expected: usize) -> Result<()> {
    match what {
        Assigned::Vector(u) if u.len != expected => {
            Err(Error::Length { what: "the vector that is assigned", found: u.len, expected })
        }
        _ => Ok(()),
    }
}
fn one_value(x: Slice<'_>, ty: Type) -> Result<()> {
    same_type("the scalar of a function", x.ty(), ty)?;
    if x.len() != 1 {
        return Err(Error::Length { what: "the scalar of a function", found: x.len(), expected: 1 });
    }
    Ok(())
}

/// The programs of this file with representative settings, for the test that compiles all.
pub(crate) fn programs() -> Vec<Unit> {
    [1, 12, 16, 32]
        .map(|size| Prefix::new("", &[Setting::Words("Value", size)]).text())
        .map(|prefix| Unit { source: SOURCE, prefix, hot: &["assign"] })
        .into()
}
