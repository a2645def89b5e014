//! Vectors of a fixed form: sorted lists and bitmaps.

use super::bitmap::{Bitmap, ones};
use super::placed::placed;
use super::reserved;
use crate::algebra::{BinaryOp, Host, V, Value};
use crate::par::{Threads, filled, zero_values};
use crate::pattern::check_len;
use crate::{Error, Index, Result};

/// Rejects indices that do not increase or are not below the length.
/// # Errors
/// [`Error::IndexRange`], [`Error::NotSorted`], [`Error::Duplicate`].
pub(super) fn check_indices<I: Index>(len: usize, indices: &[I]) -> Result<()> {
    if let Some(position) = indices.iter().position(|i| i.get() >= len) {
        let index = indices[position].get() as u128;
        return Err(Error::IndexRange { axis: "vector", position, index, bound: len });
    }
    match indices.windows(2).position(|w| w[0] >= w[1]) {
        None => Ok(()),
        Some(p) if indices[p] == indices[p + 1] => Err(Error::Duplicate { row: 0, column: indices[p + 1].get() }),
        Some(p) => Err(Error::NotSorted { row: 0, position: p + 1, column: indices[p + 1].get() }),
    }
}

/// A sparse vector, stored as a list of indices and values.
///
/// Invariant: indices increase and are below the length. Stored zeros are entries like any other.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseVec<T, I: Index = u32> {
    len: usize,
    indices: Vec<I>,
    values: Vec<T>,
}

impl<T, I: Index> SparseVec<T, I> {
    /// From increasing indices and their values.
    /// # Errors
    /// [`Error::Length`], [`Error::IndexRange`], [`Error::NotSorted`], [`Error::Duplicate`] (as row 0), each for
    /// the first violation; [`Error::IndexOverflow`] if `len` does not fit `I`.
    /// # Example
    /// ```
    /// use sparring::sparse::SparseVec;
    /// let v = SparseVec::<f64>::new(5, vec![1, 4], vec![2.0, 3.0])?;
    /// assert_eq!((v.get(4), v.get(0)), (Some(&3.0), None));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn new(len: usize, indices: Vec<I>, values: Vec<T>) -> Result<Self> {
        check_len::<I>(len)?;
        if values.len() != indices.len() {
            return Err(Error::Length { what: "values", found: values.len(), expected: indices.len() });
        }
        check_indices(len, &indices)?;
        Ok(Self { len, indices, values })
    }
    /// From parts known to satisfy the invariant; checked in debug builds.
    pub(crate) fn from_parts(len: usize, indices: Vec<I>, values: Vec<T>) -> Self {
        debug_assert!(indices.windows(2).all(|w| w[0] < w[1]) && indices.last().is_none_or(|i| i.get() < len));
        debug_assert_eq!(indices.len(), values.len());
        Self { len, indices, values }
    }
    /// The length.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }
    /// Whether the length is 0.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// Entries, stored zeros included.
    #[inline]
    pub fn nnz(&self) -> usize {
        self.indices.len()
    }
    /// Indices of the entries, increasing.
    #[inline]
    pub fn indices(&self) -> &[I] {
        &self.indices
    }
    /// Values of the entries.
    #[inline]
    pub fn values(&self) -> &[T] {
        &self.values
    }
    /// Values of the entries, mutable.
    #[inline]
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }
    /// Indices and values.
    pub fn into_parts(self) -> (Vec<I>, Vec<T>) {
        (self.indices, self.values)
    }
    /// Entries as (index, value), indices increasing.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &T)> + '_ {
        self.indices.iter().zip(&self.values).map(|(i, x)| (i.get(), x))
    }
    /// The value at `i`, or `None` where there is no entry.
    pub fn get(&self, i: usize) -> Option<&T> {
        let p = self.indices.binary_search(&I::new(i)?).ok()?;
        self.values.get(p)
    }
}

impl<T: Value, I: Index> SparseVec<T, I> {
    /// From indices in any order; repeats are folded with `duplicates` in the order given, from the left.
    /// `duplicates` need not be a monoid.
    /// # Errors
    /// [`Error::Length`], [`Error::IndexRange`], [`Error::IndexOverflow`], [`Error::OutOfMemory`].
    pub fn from_entries<O: BinaryOp<A = T, B = T, Out = T>>(
        len: usize,
        indices: Vec<I>,
        values: Vec<T>,
        duplicates: O,
    ) -> Result<Self> {
        Self::folded(len, indices, values, Some(|x, y| duplicates.apply::<Host>(V(x), V(y)).0))
    }
    /// From indices in any order; a repeated one is an error.
    /// # Errors
    /// [`Error::RepeatedIndex`] for the smallest one; those of [`from_entries`](Self::from_entries).
    pub fn from_unique(len: usize, indices: Vec<I>, values: Vec<T>) -> Result<Self> {
        Self::folded(len, indices, values, None::<fn(T, T) -> T>).map_err(|e| match e {
            Error::Duplicate { column, .. } => Error::RepeatedIndex { list: "indices", index: column },
            other => other,
        })
    }
    fn folded(len: usize, indices: Vec<I>, values: Vec<T>, fold: Option<impl Fn(T, T) -> T + Sync>) -> Result<Self> {
        check_len::<I>(len)?;
        if values.len() != indices.len() {
            return Err(Error::Length { what: "values", found: values.len(), expected: indices.len() });
        }
        if let Some(position) = indices.iter().position(|i| i.get() >= len) {
            let index = indices[position].get() as u128;
            return Err(Error::IndexRange { axis: "vector", position, index, bound: len });
        }
        // A vector is sorted as a matrix of one row.
        let rows = filled(indices.len(), I::default(), "entries")?;
        let (pattern, values) = placed(&Threads::current(), (1, len), (&rows, &indices), &values, fold)?;
        let indices = pattern.into_parts().1;
        Ok(Self::from_parts(len, indices, values))
    }
    /// The entries x of `values` for which `keep(x)` holds.
    /// # Errors
    /// [`Error::IndexOverflow`], [`Error::OutOfMemory`].
    pub fn from_dense(values: &[T], keep: impl Fn(&T) -> bool) -> Result<Self> {
        check_len::<I>(values.len())?;
        let nnz = values.iter().filter(|x| keep(x)).count();
        let (mut indices, mut kept) = (reserved(nnz, "indices")?, reserved(nnz, "values")?);
        for (i, x) in values.iter().enumerate().filter(|(_, x)| keep(x)) {
            indices.push(I::cast(i));
            kept.push(*x);
        }
        Ok(Self::from_parts(values.len(), indices, kept))
    }
    /// The dense vector, with `absent` where there is no entry.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn to_dense(&self, absent: T) -> Result<Vec<T>> {
        let mut values = filled(self.len, absent, "a dense vector")?;
        self.iter().for_each(|(i, x)| values[i] = *x);
        Ok(values)
    }
    /// The same entries as a bitmap.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn to_bitmap(&self) -> Result<BitmapVec<T>> {
        let mut v = BitmapVec::empty(self.len)?;
        for (i, x) in self.iter() {
            v.set(i, *x)?;
        }
        Ok(v)
    }
}

/// A vector with one bit per index, set where there is an entry. Insertion and removal cost O(1).
#[derive(Clone, Debug)]
pub struct BitmapVec<T> {
    present: Bitmap,
    /// One per index, or empty before the first insertion.
    values: Vec<T>,
}

impl<T: Value> BitmapVec<T> {
    /// The bitmap, and a value slot for each index.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn into_parts(self) -> Result<(Bitmap, Vec<T>)> {
        let Self { present, values } = self;
        let values = if values.is_empty() { zero_values(present.len(), "a bitmap vector")? } else { values };
        Ok((present, values))
    }
    /// The vector of length `len` without entries.
    /// # Errors
    /// [`Error::OutOfMemory`].
    /// # Example
    /// ```
    /// use sparring::sparse::BitmapVec;
    /// let mut v = BitmapVec::<f64>::empty(5)?;
    /// v.set(3, 2.0)?;
    /// assert_eq!((v.get(3), v.nnz()), (Some(&2.0), 1));
    /// assert_eq!((v.remove(3), v.nnz()), (Some(2.0), 0));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn empty(len: usize) -> Result<Self> {
        Ok(Self { present: Bitmap::empty(len)?, values: Vec::new() })
    }
    /// The length.
    pub fn len(&self) -> usize {
        self.present.len()
    }
    /// Whether the length is 0.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Entries, stored zeros included.
    pub fn nnz(&self) -> usize {
        self.present.count()
    }
    /// The value at `i`, or `None` where there is no entry.
    pub fn get(&self, i: usize) -> Option<&T> {
        if self.present.get(i) { self.values.get(i) } else { None }
    }
    /// Sets the entry at `i`; returns the previous value.
    /// # Errors
    /// [`Error::IndexRange`]; [`Error::OutOfMemory`] at the first entry.
    pub fn set(&mut self, i: usize, x: T) -> Result<Option<T>> {
        let bound = self.len();
        if i >= bound {
            return Err(Error::IndexRange { axis: "vector", position: self.nnz(), index: i as u128, bound });
        }
        if self.values.is_empty() {
            self.values = zero_values(bound, "a bitmap vector")?;
        }
        let old = std::mem::replace(&mut self.values[i], x);
        Ok(if self.present.insert(i) { None } else { Some(old) })
    }
    /// Removes the entry at `i`, if it exists; returns its value.
    pub fn remove(&mut self, i: usize) -> Option<T> {
        let old = *self.get(i)?;
        self.present.remove(i);
        Some(old)
    }
    /// Entries as (index, value), indices increasing.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &T)> + '_ {
        ones(self.present.words()).map(|i| (i, &self.values[i]))
    }
    /// The same entries as a list.
    /// # Errors
    /// [`Error::IndexOverflow`] if the length does not fit `I`, [`Error::OutOfMemory`].
    pub fn to_sparse<I: Index>(&self) -> Result<SparseVec<T, I>> {
        check_len::<I>(self.len())?;
        let (mut indices, mut values) = (reserved(self.nnz(), "indices")?, reserved(self.nnz(), "values")?);
        for (i, x) in self.iter() {
            indices.push(I::cast(i));
            values.push(*x);
        }
        Ok(SparseVec::from_parts(self.len(), indices, values))
    }
}

impl<T: Value> PartialEq for BitmapVec<T> {
    fn eq(&self, other: &Self) -> bool {
        self.present == other.present && self.iter().eq(other.iter())
    }
}
