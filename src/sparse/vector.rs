//! The vector type: a list of entries, a bitmap, or full, chosen by density.

use std::sync::Arc;

use super::bitmap::{Bitmap, ones};
use super::entries::VectorEntries;
use super::vector_pattern::{Indices, VectorPattern};
use super::vector_target::{Combine, NEW, Source, Target};
use super::vector_write::{conform, put, retain, spread};
use super::{BitmapVec, MaskSpec, SparseVec, copied, reserved};
use crate::algebra::{BinaryOp, Slice, SliceMut, Value};
use crate::par::{Threads, filled, zero_values};
use crate::pattern::check_len;
use crate::{Error, Index, Result};

/// A vector with entries at some or all of its indices.
///
/// A new vector is a list up to density [1/16](Self::SPARSE), full at density 1, and a bitmap between the two. Results
/// do not depend on the form. Stored zeros are entries like any other. Clones share their storage and cost O(1); the
/// first write copies it.
///
/// Writes are in place and cost O(entries written), amortized. A list becomes a bitmap when its density exceeds 1/8, or
/// when insertions have shifted more than len/16 entries. A bitmap becomes a list when an operation makes a new vector
/// of it.
/// ```
/// use sparring::Vector;
/// let mut v = Vector::<f64>::new(5, vec![1, 4], vec![2.0, 3.0])?;
/// assert_eq!((v.len(), v.nnz(), v.get(4), v.get(0)), (5, 2, Some(&3.0), None));
/// let before = v.clone();
/// v.set(0, 7.0)?;
/// assert_eq!((v.nnz(), before.nnz()), (3, 2));
/// assert_eq!(v.to_dense(0.0)?, [7.0, 2.0, 0.0, 0.0, 3.0]);
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Debug)]
pub struct Vector<T, I: Index = u32> {
    pattern: Arc<VectorPattern<I>>,
    /// One per entry of a list, otherwise one per index.
    values: Arc<Vec<T>>,
    /// Number of list entries shifted by insertions.
    moved: usize,
}

impl<T, I: Index> Clone for Vector<T, I> {
    fn clone(&self) -> Self {
        Self { pattern: Arc::clone(&self.pattern), values: Arc::clone(&self.values), moved: self.moved }
    }
}

/// The entries of a vector.
#[derive(Clone, Copy, Debug)]
pub(crate) enum View<'a, T, I> {
    /// Increasing indices and their values.
    List(&'a [I], &'a [T]),
    /// A bit and a value slot for each index.
    Bitmap(&'a [u64], &'a [T]),
    Full(&'a [T]),
}

impl<T, I: Index> Vector<T, I> {
    /// [`nnz`](Vector::nnz), without a bound on T.
    pub(super) fn entries(&self) -> usize {
        self.pattern.nnz()
    }
    /// [`pattern`](Vector::pattern), without a bound on T.
    pub(super) fn shared_pattern(&self) -> &Arc<VectorPattern<I>> {
        &self.pattern
    }
    /// [`get`](Vector::get), without a bound on T.
    pub(super) fn at(&self, i: usize) -> Option<&T> {
        self.values.get(self.pattern.find(i)?)
    }
}

impl<T: Value, I: Index> Vector<T, I> {
    /// A new vector is a list if its density is at most 1/`SPARSE`.
    pub const SPARSE: usize = NEW;

    /// From increasing indices and their values.
    /// # Errors
    /// Those of [`SparseVec::new`].
    pub fn new(len: usize, indices: Vec<I>, values: Vec<T>) -> Result<Self> {
        SparseVec::new(len, indices, values)?.try_into()
    }
    /// From indices in any order; repeats are folded with `duplicates` in the order given, from the left.
    /// `duplicates` need not be a monoid.
    /// ```
    /// use sparring::{Vector, algebra::Second};
    /// let x = Vector::<i32>::from_entries(4, vec![3, 1, 3], vec![7, 8, 9], Second::new())?;
    /// assert_eq!(x, Vector::new(4, vec![1, 3], vec![8, 9])?);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// Those of [`SparseVec::from_entries`].
    pub fn from_entries<O: BinaryOp<A = T, B = T, Out = T>>(
        len: usize,
        indices: Vec<I>,
        values: Vec<T>,
        duplicates: O,
    ) -> Result<Self> {
        SparseVec::from_entries(len, indices, values, duplicates)?.try_into()
    }
    /// From indices in any order; a repeated one is an error.
    /// # Errors
    /// Those of [`SparseVec::from_unique`].
    pub fn from_unique(len: usize, indices: Vec<I>, values: Vec<T>) -> Result<Self> {
        SparseVec::from_unique(len, indices, values)?.try_into()
    }
    /// The vector of length `len` without entries.
    /// # Errors
    /// [`Error::IndexOverflow`] if `len` does not fit `I`.
    pub fn empty(len: usize) -> Result<Self> {
        check_len::<I>(len)?;
        Ok(Self::with_pattern(Arc::new(VectorPattern::list(len, Vec::new())), Vec::new()))
    }
    /// A full vector of these values.
    /// # Errors
    /// [`Error::IndexOverflow`] if the length does not fit `I`.
    pub fn full(values: Vec<T>) -> Result<Self> {
        check_len::<I>(values.len())?;
        Ok(Self::with_pattern(Arc::new(VectorPattern::full(values.len())), values))
    }
    /// The full vector of length `len` with every value `x`.
    /// # Errors
    /// [`Error::IndexOverflow`], [`Error::OutOfMemory`].
    pub fn constant(len: usize, x: T) -> Result<Self> {
        check_len::<I>(len)?;
        Self::full(filled(len, x, "a vector")?)
    }
    /// From a pattern, possibly shared, and its stored values.
    pub(crate) fn with_pattern(pattern: Arc<VectorPattern<I>>, values: Vec<T>) -> Self {
        debug_assert_eq!(pattern.values(), values.len());
        Self { pattern, values: Arc::new(values), moved: 0 }
    }
    /// From increasing indices, in the form chosen by density.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn from_list(len: usize, indices: Vec<I>, values: Vec<T>) -> Result<Self> {
        Self::of_values(VectorPattern::list(len, indices).into(), values.into())
    }
    /// From a bitmap and a value slot for each index, in the form chosen by density.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn from_bitmap(bits: Bitmap, values: Vec<T>) -> Result<Self> {
        Self::of_values(VectorPattern::bitmap(bits).into(), values.into())
    }
    /// From a pattern and its stored values, both possibly shared, in the form chosen by density.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn of_values(pattern: Arc<VectorPattern<I>>, values: Arc<Vec<T>>) -> Result<Self> {
        debug_assert_eq!(pattern.values(), values.len());
        let mut made = Self { pattern, values, moved: 0 };
        conform(made.target())?;
        Ok(made)
    }
    /// The same entries in the form of a new vector.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn settled(&self) -> Result<Self> {
        Self::of_values(Arc::clone(&self.pattern), Arc::clone(&self.values))
    }
    /// The pattern.
    #[must_use]
    pub fn pattern(&self) -> &Arc<VectorPattern<I>> {
        &self.pattern
    }
    /// The stored values, in the layout of the pattern.
    pub(crate) fn values(&self) -> &Arc<Vec<T>> {
        &self.values
    }
    /// The entries by form; a list or a bitmap of all indices is [`View::Full`].
    pub(crate) fn view(&self) -> View<'_, T, I> {
        match self.pattern.indices() {
            Indices::List(indices) => View::List(indices, &self.values),
            Indices::Bitmap(words) => View::Bitmap(words, &self.values),
            Indices::All => View::Full(&self.values),
        }
    }
    /// The length.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pattern.len()
    }
    /// Whether the length is 0.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Entries, stored zeros included.
    #[must_use]
    pub fn nnz(&self) -> usize {
        self.pattern.nnz()
    }
    /// The value at `i`, or `None` if there is no entry or `i` is out of bounds.
    #[must_use]
    pub fn get(&self, i: usize) -> Option<&T> {
        self.values.get(self.pattern.find(i)?)
    }
    /// Entries as (index, value), indices increasing.
    pub fn iter(&self) -> VectorEntries<'_, T, I> {
        VectorEntries::new(&self.pattern, &self.values)
    }
    /// Indices and values of the entries, indices increasing (`GrB_Vector_extractTuples`).
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn extract_tuples(&self) -> Result<(Vec<I>, Vec<T>)> {
        Ok(self.to_sparse()?.into_parts())
    }
    /// The values in order, if every index has an entry.
    #[must_use]
    pub fn as_full(&self) -> Option<&[T]> {
        match self.view() {
            View::Full(values) => Some(values),
            _ => None,
        }
    }
    /// The dense vector, with `absent` where there is no entry.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn to_dense(&self, absent: T) -> Result<Vec<T>> {
        if let Some(values) = self.as_full() {
            return copied(values, "a dense vector");
        }
        let mut values = filled(self.len(), absent, "a dense vector")?;
        self.iter().for_each(|(i, x)| values[i] = *x);
        Ok(values)
    }
    /// The entries as a list.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn to_sparse(&self) -> Result<SparseVec<T, I>> {
        let values = match self.view() {
            View::List(_, values) | View::Full(values) => copied(values, "values")?,
            View::Bitmap(words, values) => {
                let mut kept = zero_values(self.nnz(), "values")?;
                SliceMut::of(&mut kept).gather(&Slice::of(values), ones(words));
                kept
            }
        };
        Ok(SparseVec::from_parts(self.len(), self.pattern.to_list()?, values))
    }
    /// Sets the entry at `i`; returns the previous value.
    ///
    /// Cost: O(1), amortized; for a list O(log nnz), plus the entries shifted by an insertion.
    /// # Errors
    /// [`Error::IndexRange`]; [`Error::OutOfMemory`].
    pub fn set(&mut self, i: usize, x: T) -> Result<Option<T>> {
        let bound = self.len();
        if i >= bound {
            return Err(Error::IndexRange { axis: "vector", position: 0, index: i as u128, bound });
        }
        let old = self.get(i).copied();
        let at = VectorPattern::list(bound, vec![I::cast(i)]);
        self.put_values(&Threads::caller(), &at, Slice::of(&[x]), None)?;
        Ok(old)
    }
    /// Removes the entry at `i`, if it exists; returns its value.
    ///
    /// Cost: as [`set`](Self::set); O(n) for the first removal from a full vector.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn remove(&mut self, i: usize) -> Result<Option<T>> {
        let old = self.get(i).copied();
        if old.is_some() {
            let at = VectorPattern::list(self.len(), vec![I::cast(i)]);
            self.retain(MaskSpec::new(&at, true))?;
        }
        Ok(old)
    }

    /// Converts a list to a bitmap.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn spread(&mut self) -> Result<()> {
        spread(self.target())
    }
    fn target(&mut self) -> Target<'_, I> {
        Target { pattern: &mut self.pattern, values: &mut self.values, moved: &mut self.moved }
    }
    /// c = c ⊙ t in place. Where both have an entry, `combine` joins them, or t's replaces c's without it; elsewhere
    /// the existing entry is kept.
    ///
    /// Cost: O(nnz(t)), amortized; storage shared with a clone is copied first. c is unchanged on error.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn put(&mut self, threads: &Threads, t: Self, combine: Option<&Combine<'_>>) -> Result<()> {
        if self.nnz() == 0 {
            *self = t;
            return Ok(());
        }
        let t = (&t.pattern, &t.values);
        self.put_values(threads, t.0, Slice::of(t.1), combine)
    }
    /// [`put`](Self::put) of a pattern with its values, or with one value for all of its indices.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn put_values(
        &mut self,
        threads: &Threads,
        pattern: &VectorPattern<I>,
        values: Slice<'_>,
        combine: Option<&Combine<'_>>,
    ) -> Result<()> {
        put(threads, self.target(), Source { pattern, values }, combine)
    }
    /// c(i) = x where the mask allows; the mask has c's length.
    ///
    /// Cost: O(nnz of the mask), amortized; for a complement O(n).
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn put_scalar(&mut self, threads: &Threads, x: T, mask: MaskSpec<'_, VectorPattern<I>>) -> Result<()> {
        let made = mask.complemented()?;
        self.put_values(threads, made.as_ref().unwrap_or(mask.pattern), Slice::of(&[x]), None)
    }
    /// Keeps the entries that the mask allows, in place.
    ///
    /// Cost: O(min(nnz, nnz of the mask)), amortized; O(n) to remove a list of indices from a full vector.
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::Length`] for a mask of another length.
    pub(crate) fn retain(&mut self, mask: MaskSpec<'_, VectorPattern<I>>) -> Result<()> {
        mask.check(self.len())?;
        retain(self.target(), mask)
    }
    /// The entries that the mask allows; shares values with this vector if possible.
    /// # Errors
    /// As for [`retain`](Self::retain).
    pub(crate) fn retained(&self, mask: MaskSpec<'_, VectorPattern<I>>) -> Result<Self> {
        let mut kept = self.clone();
        kept.retain(mask)?;
        Ok(kept)
    }
    /// The pattern of the entries x at i for which `keep(i, x)` holds; the pattern itself if all are kept.
    ///
    /// Cost: O(nnz), for a bitmap O(n / 64 + nnz).
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn pattern_where(&self, keep: impl Fn(usize, T) -> bool) -> Result<Arc<VectorPattern<I>>> {
        let len = self.len();
        let kept = match self.view() {
            View::List(indices, values) => {
                let mut kept = reserved(indices.len(), "indices")?;
                kept.extend(indices.iter().zip(values).filter(|(i, x)| keep(i.get(), **x)).map(|e| *e.0));
                VectorPattern::list(len, kept)
            }
            View::Bitmap(words, values) => VectorPattern::bitmap(Bitmap::of(len, |at| {
                let bits = ones(&words[at..=at]);
                bits.fold(0, |word, b| word | u64::from(keep(64 * at + b, values[64 * at + b])) << b)
            })?),
            View::Full(values) => VectorPattern::bitmap(Bitmap::of(len, |at| {
                let range = 64 * at..len.min(64 * at + 64);
                range.fold(0, |word, i| word | u64::from(keep(i, values[i])) << (i % 64))
            })?),
        };
        Ok(if kept.nnz() == self.nnz() { Arc::clone(&self.pattern) } else { Arc::new(kept) })
    }
    /// The entries for which `keep(i, x)` holds; shares values with this vector if possible.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn filtered(&self, keep: impl Fn(usize, T) -> bool) -> Result<Self> {
        let pattern = self.pattern_where(keep)?;
        if let View::List(..) = self.view() {
            return self.retained(MaskSpec::new(&pattern, false));
        }
        if Arc::ptr_eq(&pattern, &self.pattern) {
            return Ok(self.clone());
        }
        Self::of_values(pattern, Arc::clone(&self.values))
    }
    /// Whether both share one storage.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.pattern, &other.pattern) && Arc::ptr_eq(&self.values, &other.values)
    }
}

impl<T: Value, I: Index> TryFrom<SparseVec<T, I>> for Vector<T, I> {
    type Error = Error;
    fn try_from(v: SparseVec<T, I>) -> Result<Self> {
        let len = v.len();
        let (indices, values) = v.into_parts();
        Self::from_list(len, indices, values)
    }
}
impl<T: Value, I: Index> TryFrom<BitmapVec<T>> for Vector<T, I> {
    type Error = Error;
    fn try_from(v: BitmapVec<T>) -> Result<Self> {
        check_len::<I>(v.len())?;
        let (bits, values) = v.into_parts()?;
        Self::from_bitmap(bits, values)
    }
}
impl<T: Value, I: Index> TryFrom<Vec<T>> for Vector<T, I> {
    type Error = Error;
    fn try_from(v: Vec<T>) -> Result<Self> {
        Self::full(v)
    }
}

impl<T: Value, I: Index> PartialEq for Vector<T, I> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.nnz() == other.nnz() && self.iter().eq(other.iter())
    }
}

impl<'a, T: Value, I: Index> IntoIterator for &'a Vector<T, I> {
    type Item = (usize, &'a T);
    type IntoIter = VectorEntries<'a, T, I>;
    fn into_iter(self) -> VectorEntries<'a, T, I> {
        self.iter()
    }
}
