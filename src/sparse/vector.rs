//! One vector type: a list of entries, a bitmap, or a value everywhere, whichever suits its entries.

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

/// A vector with entries at some or all of its places.
///
/// A new vector is a list where one place in [16](Self::SPARSE) or fewer has an entry, full where every place has one,
/// and a bitmap between the two. Which of them it is shows in no result. Stored zeros are entries like any other. A
/// clone is another name for the same vector and costs nothing; what is written of the two is copied, once.
///
/// Writes are in place and cost O(entries written), amortized: a list becomes a bitmap when one place in 8 has an
/// entry, or when entries that were inserted have moved as many others as one in 16 places; a bitmap becomes a list
/// when an operation makes a new vector of it.
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
    /// As many as entries of a list, else one for each place.
    values: Arc<Vec<T>>,
    /// Entries of the list that inserts have moved.
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
    /// A bit and a value for each place.
    Bitmap(&'a [u64], &'a [T]),
    Full(&'a [T]),
}

impl<T, I: Index> Vector<T, I> {
    /// [`nnz`](Vector::nnz), of values of any type.
    pub(super) fn entries(&self) -> usize {
        self.pattern.nnz()
    }
    /// [`pattern`](Vector::pattern), likewise.
    pub(super) fn places(&self) -> &Arc<VectorPattern<I>> {
        &self.pattern
    }
    /// [`get`](Vector::get), likewise.
    pub(super) fn at(&self, i: usize) -> Option<&T> {
        self.values.get(self.pattern.find(i)?)
    }
}

impl<T: Value, I: Index> Vector<T, I> {
    /// A new vector is a list where at most one place in so many has an entry.
    pub const SPARSE: usize = NEW;

    /// From increasing indices and their values.
    /// # Errors
    /// Those of [`SparseVec::new`].
    pub fn new(len: usize, indices: Vec<I>, values: Vec<T>) -> Result<Self> {
        SparseVec::new(len, indices, values)?.try_into()
    }
    /// From indices in any order; repeats are folded with `duplicates` in the order given, from the left: any operator,
    /// a monoid or not.
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
    /// `len` places without entries.
    /// # Errors
    /// [`Error::IndexOverflow`] if `len` does not fit `I`.
    pub fn empty(len: usize) -> Result<Self> {
        check_len::<I>(len)?;
        Ok(Self::with_pattern(Arc::new(VectorPattern::list(len, Vec::new())), Vec::new()))
    }
    /// A value at every place.
    /// # Errors
    /// [`Error::IndexOverflow`] if there are more places than `I` can name.
    pub fn full(values: Vec<T>) -> Result<Self> {
        check_len::<I>(values.len())?;
        Ok(Self::with_pattern(Arc::new(VectorPattern::full(values.len())), values))
    }
    /// `x` at each of `len` places.
    /// # Errors
    /// [`Error::IndexOverflow`], [`Error::OutOfMemory`].
    pub fn constant(len: usize, x: T) -> Result<Self> {
        check_len::<I>(len)?;
        Self::full(filled(len, x, "a vector")?)
    }
    /// Of a pattern, which others may share, and the values that it keeps.
    pub(crate) fn with_pattern(pattern: Arc<VectorPattern<I>>, values: Vec<T>) -> Self {
        debug_assert_eq!(pattern.values(), values.len());
        Self { pattern, values: Arc::new(values), moved: 0 }
    }
    /// From increasing indices, in the form that suits them.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn from_list(len: usize, indices: Vec<I>, values: Vec<T>) -> Result<Self> {
        Self::of_values(VectorPattern::list(len, indices).into(), values.into())
    }
    /// From bits and a value for each place, in the form that suits them.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn from_bitmap(bits: Bitmap, values: Vec<T>) -> Result<Self> {
        Self::of_values(VectorPattern::bitmap(bits).into(), values.into())
    }
    /// Of a pattern and the values that it keeps, others' perhaps, in the form that suits them.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn of_values(pattern: Arc<VectorPattern<I>>, values: Arc<Vec<T>>) -> Result<Self> {
        debug_assert_eq!(pattern.values(), values.len());
        let mut made = Self { pattern, values, moved: 0 };
        conform(made.target())?;
        Ok(made)
    }
    /// The same entries in the form that a new vector of them has.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn settled(&self) -> Result<Self> {
        Self::of_values(Arc::clone(&self.pattern), Arc::clone(&self.values))
    }
    /// Where the entries are.
    #[must_use]
    pub fn pattern(&self) -> &Arc<VectorPattern<I>> {
        &self.pattern
    }
    /// The values that the pattern keeps.
    pub(crate) fn values(&self) -> &Arc<Vec<T>> {
        &self.values
    }
    /// The entries; a list or a bitmap of all places is full.
    pub(crate) fn view(&self) -> View<'_, T, I> {
        match self.pattern.indices() {
            Indices::List(indices) => View::List(indices, &self.values),
            Indices::Bitmap(words) => View::Bitmap(words, &self.values),
            Indices::All => View::Full(&self.values),
        }
    }
    /// Places, with or without an entry.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pattern.len()
    }
    /// Whether there are no places.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Entries, stored zeros included.
    #[must_use]
    pub fn nnz(&self) -> usize {
        self.pattern.nnz()
    }
    /// The value at `i`, or `None` where there is no entry (or no such place).
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
    /// The values of all places in order, if each has one.
    #[must_use]
    pub fn as_full(&self) -> Option<&[T]> {
        match self.view() {
            View::Full(values) => Some(values),
            _ => None,
        }
    }
    /// Every place's value, `absent` where there is no entry.
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
    /// Puts an entry at `i`; the one that was there.
    ///
    /// Cost: O(1), of a list O(log nnz) and what it moves, amortized.
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
    /// Takes the entry at `i` away, if there is one.
    ///
    /// Cost: as [`set`](Self::set); O(n) the first time that a full vector loses an entry.
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

    /// Makes a bitmap of a list.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn spread(&mut self) -> Result<()> {
        spread(self.target())
    }
    fn target(&mut self) -> Target<'_, I> {
        Target { pattern: &mut self.pattern, values: &mut self.values, moved: &mut self.moved }
    }
    /// c = c ⊙ t in place: where both have an entry, `combine` of both, or t's without it; elsewhere the one that is.
    ///
    /// Cost: O(entries of t), amortized; a vector that a clone shares is copied first. c is as it was if there is an
    /// error.
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
    /// The same, of values at the indices of a pattern, or of one for all of them.
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
    /// c(i) = x where the mask, which has c's length, allows.
    ///
    /// Cost: O(entries of the mask), amortized; of a complement O(n).
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn put_scalar(&mut self, threads: &Threads, x: T, mask: MaskSpec<'_, VectorPattern<I>>) -> Result<()> {
        let made = mask.complemented()?;
        self.put_values(threads, made.as_ref().unwrap_or(mask.pattern), Slice::of(&[x]), None)
    }
    /// Keeps the entries that the mask allows, in place.
    ///
    /// Cost: O(min(entries, entries of the mask)), amortized; O(n) where a full vector loses the indices of a list.
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::Length`] for a mask of another length.
    pub(crate) fn retain(&mut self, mask: MaskSpec<'_, VectorPattern<I>>) -> Result<()> {
        mask.check(self.len())?;
        retain(self.target(), mask)
    }
    /// The entries that the mask allows; shares values with this vector where it may.
    /// # Errors
    /// As for [`retain`](Self::retain).
    pub(crate) fn retained(&self, mask: MaskSpec<'_, VectorPattern<I>>) -> Result<Self> {
        let mut kept = self.clone();
        kept.retain(mask)?;
        Ok(kept)
    }
    /// Where `keep(i, x)` holds for the entry x at i; the pattern itself, if it does for all.
    ///
    /// Cost: O(nnz), of a bitmap O(n / 64 + nnz).
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
    /// The entries for which `keep(i, x)` holds; shares values with this vector where it may.
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
    /// Whether both are names of one vector.
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
