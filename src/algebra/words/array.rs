//! Owned arrays of values of a run-time type, and single values.

use std::sync::Arc;

use super::super::{Type, Value};
use super::{Slice, SliceMut, same_layout};
use crate::{Error, Result};

/// A value of a run-time type. Constants are compared by their bits: −0 differs from 0, and a NaN equals itself.
///
/// ```
/// use sparring::algebra::{Constant, Type};
/// let c = Constant::of(2.5);
/// assert_eq!((c.ty(), c.get::<f64>(), c.get::<i32>()), (Type::F64, Some(2.5), None));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Constant {
    ty: Type,
    /// The bytes of the value; padding of structs is 0.
    words: Arc<[u64]>,
}

impl Constant {
    /// Erases the type of a value.
    #[must_use]
    pub fn of<T: Value>(x: T) -> Self {
        const { same_layout::<T>() };
        let mut words = vec![0u64; size_of::<T>().div_ceil(8)];
        // SAFETY: both have the size of a `T`; its fields are at the offsets of its type (`Value`'s promise).
        unsafe { copy_fields(T::TYPE, (&raw const x).cast(), words.as_mut_ptr().cast()) };
        Self { ty: T::TYPE, words: words.into() }
    }
    /// Its type.
    #[must_use]
    pub fn ty(&self) -> Type {
        self.ty
    }
    /// The value, if it is of type `T`.
    #[must_use]
    pub fn get<T: Value>(&self) -> Option<T> {
        self.slice().get::<T>().map(|x| x[0])
    }
    /// An array of this one value.
    #[must_use]
    pub fn slice(&self) -> Slice<'_> {
        // SAFETY: the words are the bytes of a value, and their alignment is at least that of any value.
        unsafe { Slice::new(self.ty, self.words.as_ptr().cast(), 1) }
    }
    /// Field `index` of a struct, or part of a complex number.
    pub(crate) fn field(&self, index: usize) -> Option<Self> {
        let (ty, offset) = match self.ty {
            Type::Struct(s) => s.fields.get(index).map(|f| (f.1, f.2))?,
            Type::ComplexF32 if index < 2 => (Type::F32, 4 * index),
            Type::ComplexF64 if index < 2 => (Type::F64, 8 * index),
            _ => return None,
        };
        let mut words = vec![0u64; ty.size().div_ceil(8)];
        let from = self.words.as_ptr().cast::<u8>();
        // SAFETY: the field lies within the struct, which is stored in the words.
        unsafe { copy_fields(ty, from.add(offset), words.as_mut_ptr().cast()) };
        Some(Self { ty, words: words.into() })
    }
}

/// Copies a value without its padding.
/// # Safety
/// `from` is a value of the type, `to` has its size, and they do not overlap.
unsafe fn copy_fields(ty: Type, from: *const u8, to: *mut u8) {
    match ty {
        Type::Struct(s) => {
            for &(_, field, offset) in s.fields {
                // SAFETY: a field lies within its struct.
                unsafe { copy_fields(field, from.add(offset), to.add(offset)) };
            }
        }
        // SAFETY: the caller's promise.
        _ => unsafe { to.copy_from_nonoverlapping(from, ty.size()) },
    }
}

/// Zeroed memory for a number of values of any type.
#[derive(Debug)]
pub(crate) struct Zeroed {
    ty: Type,
    words: Vec<u64>,
    len: usize,
}

impl Zeroed {
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn new(ty: Type, len: usize) -> Result<Self> {
        let refused = |bytes| Error::OutOfMemory { what: "values", bytes };
        let bytes = len.checked_mul(ty.size()).ok_or(refused(len as u128 * ty.size() as u128))?;
        let mut words: Vec<u64> = Vec::new();
        words.try_reserve_exact(bytes.div_ceil(8)).map_err(|_| refused(bytes as u128))?;
        words.resize(bytes.div_ceil(8), 0);
        Ok(Self { ty, words, len })
    }
    #[inline]
    pub(crate) fn slice(&self) -> Slice<'_> {
        // SAFETY: 1. the words have the bytes of `len` values (`new`), and at least the alignment of any value; 2. zero
        // bytes are valid values: numbers may be 0, and a struct consists of its fields.
        unsafe { Slice::new(self.ty, self.words.as_ptr().cast(), self.len) }
    }
    #[inline]
    pub(crate) fn slice_mut(&mut self) -> SliceMut<'_> {
        // SAFETY: as for `slice`; the words are mutably borrowed.
        unsafe { SliceMut::new(self.ty, self.words.as_mut_ptr().cast(), self.len) }
    }
}

impl Elements for Zeroed {
    fn slice(&self) -> Slice<'_> {
        self.slice()
    }
    fn slice_mut(&mut self) -> SliceMut<'_> {
        self.slice_mut()
    }
}

/// A vector of values of a run-time type.
#[derive(Debug)]
pub struct Array {
    ty: Type,
    values: Box<dyn Elements>,
}

/// A vector of values of any type, owned by an [`Array`].
trait Elements: Send + Sync + std::fmt::Debug + std::any::Any {
    fn slice(&self) -> Slice<'_>;
    fn slice_mut(&mut self) -> SliceMut<'_>;
}
impl<T: Value> Elements for Vec<T> {
    fn slice(&self) -> Slice<'_> {
        Slice::of(self)
    }
    fn slice_mut(&mut self) -> SliceMut<'_> {
        SliceMut::of(self)
    }
}

impl Array {
    /// Erases the type of a vector, without a copy.
    /// ```
    /// use sparring::algebra::Array;
    /// let a = Array::of(vec![1u8, 2]);
    /// assert_eq!(a.slice().get::<u8>(), Some(&[1, 2][..]));
    /// assert_eq!(a.into_vec::<u8>().unwrap(), [1, 2]);
    /// ```
    #[must_use]
    pub fn of<T: Value>(values: Vec<T>) -> Self {
        Self { ty: T::TYPE, values: Box::new(values) }
    }
    /// `len` zeros, or structs of zeros, as an output buffer; [`into_vec`](Self::into_vec) fails for this storage.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn zeros(ty: Type, len: usize) -> Result<Self> {
        Ok(Self { ty, values: Box::new(Zeroed::new(ty, len)?) })
    }
    /// Type of the values.
    #[must_use]
    pub fn ty(&self) -> Type {
        self.ty
    }
    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slice().len()
    }
    /// Whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The values.
    #[must_use]
    pub fn slice(&self) -> Slice<'_> {
        self.values.slice()
    }
    /// The values, mutable.
    #[must_use]
    pub fn slice_mut(&mut self) -> SliceMut<'_> {
        self.values.slice_mut()
    }
    /// The vector, if its values are of type `T`, without a copy.
    /// # Errors
    /// The array itself otherwise.
    pub fn into_vec<T: Value>(self) -> Result<Vec<T>, Self> {
        let Self { ty, values } = self;
        if !(&*values as &dyn std::any::Any).is::<Vec<T>>() {
            return Err(Self { ty, values });
        }
        match (values as Box<dyn std::any::Any>).downcast::<Vec<T>>() {
            Ok(values) => Ok(*values),
            Err(_) => unreachable!("its type was looked at"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_is_checked() {
        let mut x = [1u32, 2, 3];
        let mut s = SliceMut::of(&mut x);
        assert!(s.get::<f32>().is_none());
        s.part(1..3).get::<u32>().unwrap()[0] = 9;
        assert_eq!(s.as_slice().get::<u32>(), Some(&[1, 9, 3][..]));
        assert_eq!(Slice::of(&x).part(1..2).get::<u32>(), Some(&[9][..]));
        let array = Array::of(vec![true]);
        assert!(array.into_vec::<u8>().is_err());
    }
}
