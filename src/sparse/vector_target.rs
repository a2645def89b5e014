//! A vector that is written in place: its forms, and what clones share.
//!
//! A list that is written pays for what an insert moves. It becomes a bitmap, which takes an entry in O(1), when one
//! place in [`DENSE`] has an entry, or when inserts have moved as many entries as one in [`MOVED`] places: that is what
//! making the bitmap costs, so writes cost O(entries written), amortized. A bitmap becomes a list where a pass over all
//! of its words leaves an entry at one place in [`SPARSE`] or fewer.

use std::sync::Arc;

use super::copied;
use super::vector_pattern::{Form, VectorPattern};
use crate::algebra::words::ValueVec;
use crate::algebra::{Slice, SliceMut, Value};
use crate::par::zero_values;
use crate::{Error, Index, Result};

/// A new vector is a list where at most one place in so many has an entry: it takes a twentieth of a bitmap's memory
/// there, and going through it is as fast.
pub(super) const NEW: usize = 16;
/// A list of an entry at more than one place in so many becomes a bitmap.
const DENSE: usize = 8;
/// A list whose inserts have moved more entries than one in so many places becomes a bitmap.
const MOVED: usize = 16;
/// A bitmap of an entry at one place in so many, or fewer, becomes a list.
const SPARSE: usize = 32;
/// A bitmap's values take no more bytes than this where a list of few entries would do.
const LARGE: usize = 256 << 20;

/// x(p) = x(p) ⊙ y(p), for arrays of one type and length.
pub(crate) type Combine<'a> = dyn Fn(&mut SliceMut<'_>, &Slice<'_>) + Sync + 'a;

/// The vector that is written.
pub(super) struct Target<'a, I: Index> {
    pub(super) pattern: &'a mut Arc<VectorPattern<I>>,
    pub(super) values: &'a mut dyn SharedValues,
    /// Entries of the list that inserts have moved.
    pub(super) moved: &'a mut usize,
}

/// What is written: values at the indices of a pattern, or one value at all of them.
pub(super) struct Source<'a, I: Index> {
    pub(super) pattern: &'a VectorPattern<I>,
    pub(super) values: Slice<'a>,
}

/// Values of a vector, which clones may share.
pub(super) trait SharedValues {
    /// The values, for change in place; copied first if a clone shares them.
    fn unshared(&mut self) -> Result<&mut dyn ValueVec>;
    /// The values.
    fn slice(&self) -> Slice<'_>;
    /// Takes `n` other values, zeros that `fill(old, new)` replaces.
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

/// Nobody else has a copy that was made just now.
pub(super) fn shared() -> Error {
    Error::Argument { name: "vector", message: "its entries are shared".into() }
}

/// The pattern, for change in place; copied first if someone shares it.
pub(super) fn unshared<I: Index>(pattern: &mut Arc<VectorPattern<I>>) -> Result<&mut VectorPattern<I>> {
    if Arc::get_mut(pattern).is_none() {
        *pattern = Arc::new(pattern.try_clone()?);
    }
    Arc::get_mut(pattern).ok_or_else(shared)
}

impl<I: Index> Target<'_, I> {
    /// Whether a list that gets `fresh` entries, or loses some, and moves `moves`, is to become a bitmap.
    pub(super) fn suits_bitmap(&self, fresh: usize, moves: usize) -> bool {
        let (len, nnz) = (self.pattern.len(), self.pattern.nnz() + fresh);
        let affordable = len.saturating_mul(self.values.slice().ty().size()) <= LARGE || nnz > len / 256;
        moves > 0 && affordable && (nnz > len / DENSE || self.moved.saturating_add(moves) > len / MOVED)
    }
    /// Makes a bitmap of a list.
    pub(super) fn spread(&mut self) -> Result<()> {
        let Form::List(list) = self.pattern.form() else { return Ok(()) };
        let (len, bits) = (self.pattern.len(), self.pattern.to_bitmap()?);
        self.values.renew(len, &mut |old, new| new.scatter(&old, list.iter().map(|i| i.get())))?;
        *self.pattern = Arc::new(VectorPattern::bitmap(bits));
        *self.moved = 0;
        Ok(())
    }
    /// Keeps a list of the entries at `indices`, whose values stand at `at`.
    pub(super) fn gather(&mut self, indices: Vec<I>, at: impl Iterator<Item = usize> + Clone) -> Result<()> {
        self.values.renew(indices.len(), &mut |old, new| new.gather(&old, at.clone()))?;
        *self.pattern = Arc::new(VectorPattern::list(self.pattern.len(), indices));
        *self.moved = 0;
        Ok(())
    }
    /// Makes a list of a bitmap of few entries.
    pub(super) fn settle(&mut self) -> Result<()> {
        let Form::Bitmap(bits) = self.pattern.form() else { return Ok(()) };
        if bits.count() > self.pattern.len() / SPARSE { Ok(()) } else { self.list() }
    }
    /// Makes a list of a bitmap.
    fn list(&mut self) -> Result<()> {
        let pattern = Arc::clone(self.pattern);
        self.gather(pattern.to_list()?, pattern.indices().iter(pattern.len()))
    }
    /// Takes the form that a new vector of these entries has.
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
