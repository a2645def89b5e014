//! The pattern of a vector, shared by vectors, their clones and masks.

use super::bitmap::{Bitmap, Ones, bit, ones};
use super::index_list::IndexList;
use super::vector_forms::check_indices;
use super::{copied, reserved};
use crate::par::collected;
use crate::pattern::check_len;
use crate::{Index, Result};

/// The pattern of a vector: a list of indices, a bitmap, or all indices. Results do not depend on the form.
///
/// Vectors share patterns as matrices share a [`Pattern`](crate::Pattern): [`Vector::pattern`](crate::Vector::pattern)
/// and structural masks copy nothing.
/// ```
/// use sparring::sparse::VectorPattern;
/// let p = VectorPattern::<u32>::new(5, vec![1, 4])?;
/// assert_eq!((p.len(), p.nnz(), p.contains(4), p.contains(0)), (5, 2, true, false));
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Debug)]
pub struct VectorPattern<I: Index = u32> {
    len: usize,
    form: Form<I>,
}

/// A list of more than len / `LISTED` indices becomes a bitmap.
const LISTED: usize = 32;

/// The storage form of the indices.
#[derive(Debug)]
pub(crate) enum Form<I> {
    /// Increasing, and below the length.
    List(Vec<I>),
    Bitmap(Bitmap),
    Full,
}

/// The indices of a pattern, borrowed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Indices<'a, I> {
    /// Increasing.
    List(&'a [I]),
    /// One bit per index, not all set.
    Bitmap(&'a [u64]),
    All,
}

impl<I: Index> VectorPattern<I> {
    /// From increasing indices.
    /// # Errors
    /// Those of [`SparseVec::new`](super::SparseVec::new).
    pub fn new(len: usize, indices: Vec<I>) -> Result<Self> {
        check_len::<I>(len)?;
        check_indices(len, &indices)?;
        Ok(Self::list(len, indices))
    }
    /// From increasing indices below `len`.
    pub(crate) fn list(len: usize, indices: Vec<I>) -> Self {
        debug_assert!(indices.windows(2).all(|w| w[0] < w[1]) && indices.last().is_none_or(|i| i.get() < len));
        Self { len, form: Form::List(indices) }
    }
    /// The indices of a list in any order.
    /// # Errors
    /// [`Error::ListIndex`](crate::Error::ListIndex);
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn of_list(list: &IndexList, len: usize) -> Result<Self> {
        let list = list.check("indices", len)?;
        if list.as_range() == Some(0..len) {
            return Ok(Self::full(len));
        }
        if list.len() > len / LISTED {
            let mut bits = Bitmap::empty(len)?;
            (0..list.len()).for_each(|p| _ = bits.insert(list.at(p)));
            return Ok(if bits.count() == len { Self::full(len) } else { Self::bitmap(bits) });
        }
        let mut indices = collected(list.len(), (0..list.len()).map(|p| I::cast(list.at(p))), "indices")?;
        if !list.is_sorted() {
            indices.sort_unstable();
        }
        indices.dedup();
        Ok(Self::list(len, indices))
    }
    /// From a bitmap.
    pub(crate) fn bitmap(bits: Bitmap) -> Self {
        Self { len: bits.len(), form: Form::Bitmap(bits) }
    }
    /// All of `len` indices.
    pub(crate) fn full(len: usize) -> Self {
        Self { len, form: Form::Full }
    }
    pub(crate) fn form(&self) -> &Form<I> {
        &self.form
    }
    pub(crate) fn form_mut(&mut self) -> &mut Form<I> {
        &mut self.form
    }
    pub(crate) fn try_clone(&self) -> Result<Self> {
        let form = match &self.form {
            Form::List(indices) => Form::List(copied(indices, "indices")?),
            Form::Bitmap(bits) => Form::Bitmap(bits.try_clone()?),
            Form::Full => Form::Full,
        };
        Ok(Self { len: self.len, form })
    }
    /// The length.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }
    /// Whether the length is 0.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// Entries.
    #[must_use]
    pub fn nnz(&self) -> usize {
        match &self.form {
            Form::List(indices) => indices.len(),
            Form::Bitmap(bits) => bits.count(),
            Form::Full => self.len,
        }
    }
    /// The indices by form; a list or a bitmap of all of them is [`Indices::All`].
    #[inline]
    pub(crate) fn indices(&self) -> Indices<'_, I> {
        match &self.form {
            Form::List(indices) if indices.len() < self.len => Indices::List(indices),
            Form::Bitmap(bits) if bits.count() < self.len => Indices::Bitmap(bits.words()),
            _ => Indices::All,
        }
    }
    /// Whether there is an entry at `i`.
    ///
    /// Cost: O(1), for a list O(log nnz).
    #[must_use]
    pub fn contains(&self, i: usize) -> bool {
        self.find(i).is_some()
    }
    /// Position of the value of index `i`: its position in a list, otherwise `i`.
    #[inline]
    pub(crate) fn find(&self, i: usize) -> Option<usize> {
        match &self.form {
            Form::List(indices) => indices.binary_search(&I::new(i)?).ok(),
            Form::Bitmap(bits) => bits.get(i).then_some(i),
            Form::Full => (i < self.len).then_some(i),
        }
    }
    /// The indices, increasing.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.indices().iter(self.len)
    }
    /// Number of values that a vector of this pattern stores.
    pub(crate) fn values(&self) -> usize {
        match &self.form {
            Form::List(indices) => indices.len(),
            Form::Bitmap(_) | Form::Full => self.len,
        }
    }
    /// The indices as a bitmap.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn to_bitmap(&self) -> Result<Bitmap> {
        match &self.form {
            Form::Bitmap(bits) => bits.try_clone(),
            Form::Full => Bitmap::of(self.len, |_| !0),
            Form::List(indices) => {
                let mut bits = Bitmap::empty(self.len)?;
                indices.iter().for_each(|i| _ = bits.insert(i.get()));
                Ok(bits)
            }
        }
    }
    /// The indices as a list.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn to_list(&self) -> Result<Vec<I>> {
        if let Form::List(indices) = &self.form {
            return copied(indices, "indices");
        }
        let mut list = reserved(self.nnz(), "indices")?;
        list.extend(self.iter().map(I::cast));
        Ok(list)
    }
}

impl<I: Index> PartialEq for VectorPattern<I> {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.nnz() == other.nnz() && self.iter().eq(other.iter())
    }
}

impl<'a, I: Index> Indices<'a, I> {
    /// Whether the pattern contains index `i`, which must be below the length.
    #[inline(always)]
    pub(crate) fn contains(self, i: usize) -> bool {
        match self {
            Self::Bitmap(words) => bit(words, i),
            Self::List(indices) => indices.binary_search(&I::cast(i)).is_ok(),
            Self::All => true,
        }
    }
    /// Number of indices, given the length of the pattern.
    pub(crate) fn count(self, len: usize) -> usize {
        match self {
            Self::List(indices) => indices.len(),
            Self::Bitmap(words) => words.iter().map(|word| word.count_ones() as usize).sum(),
            Self::All => len,
        }
    }
    /// The indices, increasing, given the length of the pattern.
    pub(crate) fn iter(self, len: usize) -> IndexIter<'a, I> {
        match self {
            Self::List(indices) => IndexIter::List(indices.iter()),
            Self::Bitmap(words) => IndexIter::Bitmap(ones(words)),
            Self::All => IndexIter::All(0..len),
        }
    }
}

/// The iterator of [`Indices::iter`].
#[derive(Clone, Debug)]
pub(crate) enum IndexIter<'a, I> {
    List(std::slice::Iter<'a, I>),
    Bitmap(Ones<'a>),
    All(std::ops::Range<usize>),
}
impl<I: Index> Iterator for IndexIter<'_, I> {
    type Item = usize;
    #[inline]
    fn next(&mut self) -> Option<usize> {
        match self {
            Self::List(indices) => indices.next().map(|i| i.get()),
            Self::Bitmap(ones) => ones.next(),
            Self::All(range) => range.next(),
        }
    }
}
