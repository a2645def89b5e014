//! One vector type: a list of entries, a bitmap, or a value everywhere, whichever suits its entries.

use std::sync::Arc;

use bitvec::slice::BitSlice;

use super::{BitmapVec, SparseVec, reserved};
use crate::algebra::{Monoid, Value};
use crate::pattern::check_len;
use crate::{Error, Index, Result};

/// A vector with entries at some or all of its places.
///
/// It is kept as a list where one place in [16](Self::SPARSE) or fewer has an entry, without marks where every place has
/// one, and with a bit for each place between the two. Which of them it is shows in no result. Stored zeros are entries like
/// any other. A clone is another name for the same vector and costs nothing; entries are copied when one of the two is
/// written.
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
    form: Arc<Form<T, I>>,
}

impl<T, I: Index> Clone for Vector<T, I> {
    fn clone(&self) -> Self {
        Self { form: Arc::clone(&self.form) }
    }
}

/// How the entries are kept.
#[derive(Clone, Debug)]
pub(crate) enum Form<T, I: Index> {
    Sparse(SparseVec<T, I>),
    Bitmap(BitmapVec<T>),
    Full(Vec<T>),
}

impl<T: Value, I: Index> Vector<T, I> {
    /// A list is kept where at most one place in so many has an entry: it takes a twentieth of a bitmap's memory there, and
    /// going through it is as fast.
    pub const SPARSE: usize = 16;

    /// From increasing indices and their values.
    /// # Errors
    /// Those of [`SparseVec::new`].
    pub fn new(len: usize, indices: Vec<I>, values: Vec<T>) -> Result<Self> {
        SparseVec::new(len, indices, values)?.try_into()
    }
    /// From indices in any order; repeats are folded with `duplicates` in the order given.
    /// # Errors
    /// Those of [`SparseVec::from_entries`].
    pub fn from_entries<O: Monoid<Out = T>>(
        len: usize,
        indices: Vec<I>,
        values: Vec<T>,
        duplicates: O,
    ) -> Result<Self> {
        SparseVec::from_entries(len, indices, values, duplicates)?.try_into()
    }
    /// `len` places without entries.
    /// # Errors
    /// [`Error::IndexOverflow`] if `len` does not fit `I`.
    pub fn empty(len: usize) -> Result<Self> {
        check_len::<I>(len)?;
        Ok(Form::Sparse(SparseVec::from_parts(len, Vec::new(), Vec::new())).into())
    }
    /// A value at every place.
    /// # Errors
    /// [`Error::IndexOverflow`] if there are more places than `I` can name.
    pub fn full(values: Vec<T>) -> Result<Self> {
        check_len::<I>(values.len())?;
        Ok(Form::Full(values).into())
    }
    /// `x` at each of `len` places.
    /// # Errors
    /// [`Error::IndexOverflow`], [`Error::OutOfMemory`].
    pub fn constant(len: usize, x: T) -> Result<Self> {
        check_len::<I>(len)?;
        Ok(Form::Full(crate::par::filled(len, x, "a vector")?).into())
    }
    /// In the form that suits its entries.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn of(form: Form<T, I>) -> Result<Self> {
        let (len, nnz) = (form.len(), form.nnz());
        let sparse = nnz * Self::SPARSE <= len && nnz < len;
        Ok(match form {
            Form::Bitmap(v) if nnz == len => Form::Full(v.into_values()),
            Form::Bitmap(v) if sparse => Form::Sparse(v.to_sparse()?),
            Form::Sparse(v) if nnz == len => Form::Full(v.into_parts().1),
            Form::Sparse(v) if !sparse => Form::Bitmap(v.to_bitmap()?),
            form => form,
        }
        .into())
    }
    pub(crate) fn form(&self) -> &Form<T, I> {
        &self.form
    }
    /// Places, with or without an entry.
    #[must_use]
    pub fn len(&self) -> usize {
        self.form.len()
    }
    /// Whether there are no places.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Entries, stored zeros included.
    #[must_use]
    pub fn nnz(&self) -> usize {
        self.form.nnz()
    }
    /// The value at `i`, or `None` where there is no entry (or no such place).
    #[must_use]
    pub fn get(&self, i: usize) -> Option<&T> {
        match &*self.form {
            Form::Sparse(v) => v.get(i),
            Form::Bitmap(v) => v.get(i),
            Form::Full(v) => v.get(i),
        }
    }
    /// Entries as (index, value), indices increasing.
    pub fn iter(&self) -> Box<dyn Iterator<Item = (usize, &T)> + '_> {
        match &*self.form {
            Form::Sparse(v) => Box::new(v.iter()),
            Form::Bitmap(v) => Box::new(v.iter()),
            Form::Full(v) => Box::new(v.iter().enumerate()),
        }
    }
    /// The values of all places in order, if each has one.
    #[must_use]
    pub fn as_full(&self) -> Option<&[T]> {
        match &*self.form {
            Form::Full(v) => Some(v),
            _ => None,
        }
    }
    /// Every place's value, `absent` where there is no entry.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn to_dense(&self, absent: T) -> Result<Vec<T>> {
        match &*self.form {
            Form::Full(v) => super::copied(v, "a dense vector"),
            Form::Sparse(v) => v.to_dense(absent),
            Form::Bitmap(v) => {
                let mut values = crate::par::filled(v.len(), absent, "a dense vector")?;
                v.iter().for_each(|(i, x)| values[i] = *x);
                Ok(values)
            }
        }
    }
    /// The entries as a list.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn to_sparse(&self) -> Result<SparseVec<T, I>> {
        match &*self.form {
            Form::Sparse(v) => v.try_clone(),
            Form::Bitmap(v) => v.to_sparse(),
            Form::Full(v) => SparseVec::from_dense(v, |_| true),
        }
    }
    /// Puts an entry at `i`; the one that was there.
    ///
    /// O(1) but in a list, where it moves the entries behind it.
    /// # Errors
    /// [`Error::IndexRange`]; [`Error::OutOfMemory`].
    pub fn set(&mut self, i: usize, x: T) -> Result<Option<T>> {
        let bound = self.len();
        if i >= bound {
            return Err(Error::IndexRange { axis: "vector", position: 0, index: i as u128, bound });
        }
        let old = match self.unshared()? {
            Form::Full(v) => Some(std::mem::replace(&mut v[i], x)),
            Form::Bitmap(v) => v.set(i, x)?,
            Form::Sparse(v) => v.set(i, x)?,
        };
        if old.is_none() {
            self.settle()?;
        }
        Ok(old)
    }
    /// Takes the entry at `i` away, if there is one.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn remove(&mut self, i: usize) -> Result<Option<T>> {
        if self.get(i).is_none() {
            return Ok(None);
        }
        if let Some(values) = self.as_full() {
            let all = BitmapVec::all(super::copied(values, "a bitmap vector")?)?;
            self.form = Arc::new(Form::Bitmap(all));
        }
        let old = match self.unshared()? {
            Form::Bitmap(v) => v.remove(i),
            Form::Sparse(v) => v.remove(i),
            Form::Full(_) => None,
        };
        self.settle()?;
        Ok(old)
    }
    /// The form, which no clone shares any more.
    fn unshared(&mut self) -> Result<&mut Form<T, I>> {
        if Arc::get_mut(&mut self.form).is_none() {
            self.form = Arc::new(self.form.try_clone()?);
        }
        let shared = || Error::Argument { name: "vector", message: "its entries are shared".into() };
        Arc::get_mut(&mut self.form).ok_or_else(shared)
    }
    /// Goes over to the form that suits the entries, unless it is close to the limit.
    fn settle(&mut self) -> Result<()> {
        let (len, nnz) = (self.len(), self.nnz());
        let leaves = match &*self.form {
            Form::Sparse(_) => nnz * Self::SPARSE / 2 > len || nnz == len,
            Form::Bitmap(_) => nnz == len || nnz * Self::SPARSE * 2 <= len,
            Form::Full(_) => false,
        };
        if leaves {
            let form = std::mem::replace(&mut self.form, Arc::new(Form::Full(Vec::new())));
            let form = match Arc::try_unwrap(form) {
                Ok(form) => form,
                Err(shared) => shared.try_clone()?,
            };
            *self = Self::of(form)?;
        }
        Ok(())
    }
    /// Which places have an entry; `None` if all have.
    pub(crate) fn marks(&self) -> Result<Option<bitvec::vec::BitVec<u64>>> {
        Ok(match &*self.form {
            Form::Full(_) => None,
            Form::Bitmap(v) => Some(super::vector_forms::same_bits(v.present())?),
            Form::Sparse(v) => {
                let mut bits = super::vector_forms::cleared(v.len())?;
                v.indices().iter().for_each(|i| bits.set(i.get(), true));
                Some(bits)
            }
        })
    }
    /// The entries at the places that `keep` marks.
    pub(crate) fn kept(&self, keep: &BitSlice<u64>) -> Result<Self> {
        match &*self.form {
            Form::Sparse(v) => {
                let n = v.indices().iter().filter(|i| keep[i.get()]).count();
                let (mut indices, mut values) = (reserved(n, "indices")?, reserved(n, "values")?);
                for (i, x) in v.indices().iter().zip(v.values()).filter(|(i, _)| keep[i.get()]) {
                    indices.push(*i);
                    values.push(*x);
                }
                Self::of(Form::Sparse(SparseVec::from_parts(v.len(), indices, values)))
            }
            Form::Bitmap(v) => {
                let mut bits = super::vector_forms::same_bits(v.present())?;
                bits &= keep;
                Self::of(Form::Bitmap(BitmapVec::from_parts(bits, super::copied(v.values(), "a bitmap vector")?)))
            }
            Form::Full(v) => {
                let bits = super::vector_forms::same_bits(keep)?;
                Self::of(Form::Bitmap(BitmapVec::from_parts(bits, super::copied(v, "a bitmap vector")?)))
            }
        }
    }
}

impl<T: Value, I: Index> Form<T, I> {
    fn len(&self) -> usize {
        match self {
            Self::Sparse(v) => v.len(),
            Self::Bitmap(v) => v.len(),
            Self::Full(v) => v.len(),
        }
    }
    fn nnz(&self) -> usize {
        match self {
            Self::Sparse(v) => v.nnz(),
            Self::Bitmap(v) => v.nnz(),
            Self::Full(v) => v.len(),
        }
    }
    fn try_clone(&self) -> Result<Self> {
        Ok(match self {
            Self::Sparse(v) => Self::Sparse(v.try_clone()?),
            Self::Bitmap(v) => Self::Bitmap(v.try_clone()?),
            Self::Full(v) => Self::Full(super::copied(v, "a vector")?),
        })
    }
}

impl<T, I: Index> From<Form<T, I>> for Vector<T, I> {
    fn from(form: Form<T, I>) -> Self {
        Self { form: Arc::new(form) }
    }
}
impl<T: Value, I: Index> TryFrom<SparseVec<T, I>> for Vector<T, I> {
    type Error = Error;
    fn try_from(v: SparseVec<T, I>) -> Result<Self> {
        Self::of(Form::Sparse(v))
    }
}
impl<T: Value, I: Index> TryFrom<BitmapVec<T>> for Vector<T, I> {
    type Error = Error;
    fn try_from(v: BitmapVec<T>) -> Result<Self> {
        check_len::<I>(v.len())?;
        Self::of(Form::Bitmap(v))
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
