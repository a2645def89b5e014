//! Assignment to vectors, in place: at places that are named, or at those of a mask; and arrays of one value. See
//! `cuda/assign.cu` and `cuda/vector.cu`.

use std::sync::Arc;

use super::Cuda;
use super::arg::Arg;
use super::buffer::{Buffer, RawBuffer, same_type};
use super::front::{Front, Setting};
use super::jit::{Source, Unit, source};
use super::launch::{Shape, args};
use super::vector_form::{Form, PLACES, RawVector, moves};
use super::vector_ops::same_len;
use crate::algebra::{Slice, Type};
use crate::{Error, Result};

const SOURCE: Source = source!("assign.cu");

/// What is assigned: a value, or a value for each place.
pub(crate) enum Assigned<'a> {
    Scalar(Slice<'a>),
    Vector(&'a RawVector),
}

impl Cuda {
    /// w(places(k)) = what is assigned at k; without places, w = what is assigned. Where a vector has no entry, w has
    /// none then. Of equal places the last counts.
    pub(crate) fn vector_assign_raw(
        &self,
        w: &mut RawVector,
        places: Option<&[u32]>,
        what: &Assigned<'_>,
    ) -> Result<()> {
        let ty = match what {
            Assigned::Scalar(x) => x.ty(),
            Assigned::Vector(u) => u.ty(),
        };
        w.values.check("the vector of an assignment", ty)?;
        let n = places.map_or(w.len, <[_]>::len);
        check_length(what, n)?;
        let front = moves(ty);
        let Some(places) = places else {
            *w = match what {
                Assigned::Vector(u) => (*u).clone(),
                Assigned::Scalar(x) => {
                    let x = self.scalar(*x, ty)?;
                    let values = self.alloc_raw(ty, n, "values of a vector")?;
                    let none: Option<&RawBuffer> = None;
                    self.each(Front::new("", &front), "fill_absent", n, args![none, &x, &x, n as u64, &values])?;
                    RawVector::full(values)
                }
            };
            return Ok(());
        };
        let wanted = self.wanted(w.len, places)?;
        self.vector_assign_at(w, &wanted, what)
    }
    /// The same for places on the device, each below w's length.
    pub(super) fn vector_assign_at(&self, w: &mut RawVector, wanted: &Buffer<u32>, what: &Assigned<'_>) -> Result<()> {
        let (ty, n) = (w.ty(), wanted.len());
        check_length(what, n)?;
        let front = moves(ty);
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
            w.form = Form::Bitmap(self.filled_places(w.len)?.into());
        }
        let last = self.zeroed::<u32>(w.len, "the last of equal places")?;
        self.each(PLACES, "last_of", n, args![wanted, n as u64, &last])?;
        let arguments = args![wanted, n as u64, &last, present.as_ref(), &from, scalar, w.present(), &w.values];
        self.each(Front::new("", &front), "assign_at", n, arguments)
    }
    /// w(i) = x at the places of a mask, or with `complement` at the others. The mask's values do not matter.
    ///
    /// Cost: O(nnz) of a mask that is a list, if w is none and no one shares its values; else O(n).
    pub(crate) fn vector_assign_where_raw(
        &self,
        w: &mut RawVector,
        mask: &RawVector,
        complement: bool,
        x: Slice<'_>,
    ) -> Result<()> {
        same_len("a mask", w, mask)?;
        self.make_writable(w)?;
        if let (Form::List(places), false) = (&mask.form, complement) {
            return self.assign_listed(&w.values, w.present(), places, x);
        }
        let x = self.scalar(x, w.ty())?;
        let of_mask = match &mask.form {
            Form::List(places) => Some(self.present_of(mask.len, places)?),
            Form::Bitmap(present) => Some(present.places.clone()),
            Form::Full => None,
        };
        let (front, n) = (moves(w.ty()), w.len as u64);
        let arguments = args![of_mask.as_ref(), u32::from(complement), &x, n, w.present(), &w.values];
        self.each(Front::new("", &front), "assign_where", w.len, arguments)
    }

    /// w(i) = x at the places of a list, x being one value of w's type, and `present` true there. One kernel, which
    /// writes each of those places once; nothing is waited for, unless x is a struct.
    fn assign_listed(
        &self,
        w: &RawBuffer,
        present: Option<&Buffer<bool>>,
        places: &Buffer<u32>,
        x: Slice<'_>,
    ) -> Result<()> {
        one_value(x, w.ty())?;
        let from = match x.ty() {
            Type::Struct(_) => Some(self.put_raw(x, "a scalar")?),
            _ => None,
        };
        let program = self.program_of(SOURCE, Front::new("", &[Setting::words(w.ty())]))?;
        let arguments = args![places, places.len() as u64, from.as_deref(), Arg::value(x), present, w];
        program.kernel("assign")?.launch(Shape::for_each(places.len(), 256)?, arguments)
    }
    /// One value of type `ty` as an array: the scalar beside a function's operand, or what stands in for absent
    /// entries. Nothing is waited for, unless it is a struct.
    pub(crate) fn scalar(&self, x: Slice<'_>, ty: Type) -> Result<Arc<RawBuffer>> {
        one_value(x, ty)?;
        let what = "a scalar";
        if let Type::Struct(_) = ty {
            return self.put_raw(x, what);
        }
        let to = self.alloc_raw(ty, 1, what)?;
        let program = self.program_of(SOURCE, Front::new("", &[Setting::words(ty)]))?;
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

/// The programs of this file, as they are used.
pub(crate) fn programs() -> Vec<Unit> {
    [1, 12, 16, 32]
        .map(|size| Front::new("", &[Setting::Words("Value", size)]).text())
        .map(|prefix| Unit { source: SOURCE, prefix, hot: &["assign"] })
        .into()
}
