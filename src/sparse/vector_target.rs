//! In-place writes of a vector: changes of its form, and copies of shared storage.
//!
//! An insertion into a list costs the entries that it shifts. A list becomes a bitmap, which takes an entry in O(1),
//! when its density exceeds 1/[`DENSE`], or when insertions have shifted more than len/[`MOVED`] entries. The latter is
//! the cost of the conversion, so writes cost O(entries written), amortized. A bitmap becomes a list when a pass over
//! all of its words leaves a density of at most 1/[`SPARSE`].

use std::sync::Arc;

use super::copied;
use super::vector_pattern::{Form, VectorPattern};
use crate::algebra::words::ValueVec;
use crate::algebra::{Slice, SliceMut, Value};
use crate::par::zero_values;
use crate::{Error, Index, Result};

/// A new vector is a list up to density 1/`NEW`: at that density a list of f64 with 32-bit indices takes about a tenth
/// of the memory of a bitmap, and iteration is as fast.
pub(super) const NEW: usize = 16;
/// A list of a density above 1/`DENSE` becomes a bitmap.
const DENSE: usize = 8;
/// A list becomes a bitmap once insertions have shifted more than len/`MOVED` entries.
const MOVED: usize = 16;
/// A bitmap of a density of at most 1/`SPARSE` becomes a list.
const SPARSE: usize = 32;
/// Largest size in bytes of the values of a bitmap that replaces a list of few entries.
const LARGE: usize = 256 << 20;

/// x(p) = x(p) ⊙ y(p), for arrays of one type and length.
pub(crate) type Combine<'a> = dyn Fn(&mut SliceMut<'_>, &Slice<'_>) + Sync + 'a;

/// The vector that is written to.
pub(super) struct Target<'a, I: Index> {
    pub(super) pattern: &'a mut Arc<VectorPattern<I>>,
    pub(super) values: &'a mut dyn SharedValues,
    /// Number of list entries shifted by insertions.
    pub(super) moved: &'a mut usize,
}

/// The entries to be written: values at the indices of a pattern, or one value for all of them.
pub(super) struct Source<'a, I: Index> {
    pub(super) pattern: &'a VectorPattern<I>,
    pub(super) values: Slice<'a>,
}

/// Values of a vector, possibly shared with clones.
pub(super) trait SharedValues {
    /// The values, mutable; copied first if shared.
    fn unshared(&mut self) -> Result<&mut dyn ValueVec>;
    /// The values.
    fn slice(&self) -> Slice<'_>;
    /// Replaces the values by `n` zeros, which `fill(old, new)` overwrites.
    fn renew(&mut self, n: usize, fill: &mut dyn FnMut(Slice<'_>, &mut SliceMut<'_>)) -> Result<()>;
}
impl<T: Value> SharedValues for Arc<Vec<T>> {
    fn unshared(&mut self) -> Result<&mut dyn ValueVec> {
        if Arc::get_mut(self).is_none() {
            *self = Arc::new(copied(self, "values")?);
        }
        match Arc::get_mut(self) {
            Some(values) => Ok(values),
            None => Err(shared()),
        }
    }
    fn slice(&self) -> Slice<'_> {
        Slice::of(self)
    }
    fn renew(&mut self, n: usize, fill: &mut dyn FnMut(Slice<'_>, &mut SliceMut<'_>)) -> Result<()> {
        let mut values = zero_values::<T>(n, "values")?;
        fill(Slice::of(self), &mut SliceMut::of(&mut values));
        *self = Arc::new(values);
        Ok(())
    }
}

/// The error for an `Arc` that is still shared after a copy, which cannot occur.
pub(super) fn shared() -> Error {
    Error::Argument { name: "vector", message: "its entries are shared".into() }
}

/// The pattern, mutable; copied first if shared.
pub(super) fn unshared<I: Index>(pattern: &mut Arc<VectorPattern<I>>) -> Result<&mut VectorPattern<I>> {
    if Arc::get_mut(pattern).is_none() {
        *pattern = Arc::new(pattern.try_clone()?);
    }
    Arc::get_mut(pattern).ok_or_else(shared)
}

impl<I: Index> Target<'_, I> {
    /// Whether a list is to become a bitmap at a write that inserts `fresh` entries and moves `moves` in the list.
    pub(super) fn suits_bitmap(&self, fresh: usize, moves: usize) -> bool {
        let (len, nnz) = (self.pattern.len(), self.pattern.nnz() + fresh);
        let affordable = len.saturating_mul(self.values.slice().ty().size()) <= LARGE || nnz > len / 256;
        moves > 0 && affordable && (nnz > len / DENSE || self.moved.saturating_add(moves) > len / MOVED)
    }
    /// Converts a list to a bitmap.
    pub(super) fn spread(&mut self) -> Result<()> {
        let Form::List(list) = self.pattern.form() else { return Ok(()) };
        let (len, bits) = (self.pattern.len(), self.pattern.to_bitmap()?);
        self.values.renew(len, &mut |old, new| new.scatter(&old, list.iter().map(|i| i.get())))?;
        *self.pattern = Arc::new(VectorPattern::bitmap(bits));
        *self.moved = 0;
        Ok(())
    }
    /// Replaces the vector by the list of the entries at `indices`, whose values are at positions `at`.
    pub(super) fn gather(&mut self, indices: Vec<I>, at: impl Iterator<Item = usize> + Clone) -> Result<()> {
        self.values.renew(indices.len(), &mut |old, new| new.gather(&old, at.clone()))?;
        *self.pattern = Arc::new(VectorPattern::list(self.pattern.len(), indices));
        *self.moved = 0;
        Ok(())
    }
    /// Converts a bitmap of low density to a list.
    pub(super) fn settle(&mut self) -> Result<()> {
        let Form::Bitmap(bits) = self.pattern.form() else { return Ok(()) };
        if bits.count() > self.pattern.len() / SPARSE { Ok(()) } else { self.list() }
    }
    /// Converts a bitmap to a list.
    fn list(&mut self) -> Result<()> {
        let pattern = Arc::clone(self.pattern);
        self.gather(pattern.to_list()?, pattern.indices().iter(pattern.len()))
    }
    /// Converts to the form of a new vector with these entries.
    pub(super) fn conform(&mut self) -> Result<()> {
        let (len, nnz) = (self.pattern.len(), self.pattern.nnz());
        let is_list = nnz.saturating_mul(NEW) <= len;
        match self.pattern.form() {
            Form::List(_) | Form::Bitmap(_) if nnz == len => *self.pattern = Arc::new(VectorPattern::full(len)),
            Form::Bitmap(_) if is_list => self.list()?,
            Form::List(_) if !is_list => self.spread()?,
            _ => {}
        }
        Ok(())
    }
}
