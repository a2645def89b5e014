//! Arrays of values as arrays of words, and arrays whose type is known at run time.
//!
//! Whoever moves values and does not compute with them is compiled for words, once for a size. Here is the only way from values
//! to words and back; a [`Slice`] remembers the type and gives the values back to those who name it.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Range;

use super::{Type, Value};

/// The memory of a value.
#[inline(always)]
pub(crate) fn word<T: Value>(x: T) -> T::Word {
    const { same_layout::<T>() };
    // SAFETY: same size (checked); a word may hold any bytes, padding included.
    unsafe { std::mem::transmute_copy(&x) }
}
/// The value that a word is the memory of.
/// # Safety
/// `w` came from a value of type `T`.
#[inline(always)]
pub(crate) unsafe fn value<T: Value>(w: T::Word) -> T {
    const { same_layout::<T>() };
    // SAFETY: same size (checked), and the bytes are those of a `T` by the caller's promise.
    unsafe { std::mem::transmute_copy(&w) }
}

const fn same_layout<T: Value>() {
    assert!(size_of::<T>() == size_of::<T::Word>() && align_of::<T>() == align_of::<T::Word>());
}

/// Values as words.
#[inline(always)]
pub(crate) fn words<T: Value>(x: &[T]) -> &[T::Word] {
    const { same_layout::<T>() };
    // SAFETY: same size and alignment (checked); a word may hold any bytes; nothing is written through the result.
    unsafe { std::slice::from_raw_parts(x.as_ptr().cast(), x.len()) }
}
/// Values as words that may be replaced.
/// # Safety
/// Every word written is that of a value of type `T`.
#[inline(always)]
pub(crate) unsafe fn words_mut<T: Value>(x: &mut [T]) -> &mut [T::Word] {
    const { same_layout::<T>() };
    // SAFETY: same size and alignment (checked); what is written is a `T` by the caller's promise.
    unsafe { std::slice::from_raw_parts_mut(x.as_mut_ptr().cast(), x.len()) }
}
/// Words as values.
/// # Safety
/// Every word is that of a value of type `T`.
#[inline(always)]
pub(crate) unsafe fn values<T: Value>(x: &[T::Word]) -> &[T] {
    const { same_layout::<T>() };
    // SAFETY: same size and alignment (checked); the words are values by the caller's promise.
    unsafe { std::slice::from_raw_parts(x.as_ptr().cast(), x.len()) }
}
/// Words as values that may be replaced.
/// # Safety
/// Every word is that of a value of type `T`.
#[inline(always)]
pub(crate) unsafe fn values_mut<T: Value>(x: &mut [T::Word]) -> &mut [T] {
    const { same_layout::<T>() };
    // SAFETY: as for `values`; what is written is a value, and a word may hold any.
    unsafe { std::slice::from_raw_parts_mut(x.as_mut_ptr().cast(), x.len()) }
}
/// A vector of values as one of words; nothing is copied.
pub(crate) fn into_words<T: Value>(x: Vec<T>) -> Vec<T::Word> {
    const { same_layout::<T>() };
    let mut x = ManuallyDrop::new(x);
    // SAFETY: 1. same size and alignment (checked), so the allocation is that of a vector of words; 2. a word may hold any
    // bytes; 3. `x` is not dropped.
    unsafe { Vec::from_raw_parts(x.as_mut_ptr().cast(), x.len(), x.capacity()) }
}
/// A vector of words as one of values; nothing is copied.
/// # Safety
/// Every word is that of a value of type `T`.
pub(crate) unsafe fn from_words<T: Value>(x: Vec<T::Word>) -> Vec<T> {
    const { same_layout::<T>() };
    let mut x = ManuallyDrop::new(x);
    // SAFETY: as for `into_words`, and the words are values by the caller's promise.
    unsafe { Vec::from_raw_parts(x.as_mut_ptr().cast(), x.len(), x.capacity()) }
}

/// Values of a type known at run time, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct Slice<'a> {
    ty: Type,
    at: *const u8,
    len: usize,
    of: PhantomData<&'a [u8]>,
}
// SAFETY: it is a shared borrow of values, which are `Sync`.
unsafe impl Send for Slice<'_> {}
// SAFETY: as above.
unsafe impl Sync for Slice<'_> {}

impl<'a> Slice<'a> {
    /// These values.
    /// ```
    /// use sparring::algebra::{Slice, Type};
    /// let s = Slice::of(&[1.0, 2.0]);
    /// assert_eq!((s.ty(), s.len(), s.get::<f64>()), (Type::F64, 2, Some(&[1.0, 2.0][..])));
    /// assert_eq!(s.get::<u64>(), None);
    /// ```
    #[must_use]
    pub fn of<T: Value>(x: &'a [T]) -> Self {
        Self { ty: T::TYPE, at: x.as_ptr().cast(), len: x.len(), of: PhantomData }
    }
    /// Their type.
    #[must_use]
    pub fn ty(&self) -> Type {
        self.ty
    }
    /// Their number.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// The values, if they are of type `T`.
    #[inline]
    #[must_use]
    pub fn get<T: Value>(&self) -> Option<&'a [T]> {
        // SAFETY: 1. types that are equal as data have one layout and one meaning: a number is itself, a struct its fields at
        // their places (`Value`'s promise); 2. the values are borrowed for 'a.
        (T::TYPE == self.ty).then(|| unsafe { std::slice::from_raw_parts(self.at.cast(), self.len) })
    }
    /// Some of them.
    /// # Panics
    /// If the range is not within `0..len()`.
    #[inline]
    #[must_use]
    pub fn part(&self, range: Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: within the values, or one past their end.
        let at = unsafe { self.at.add(range.start * self.ty.size()) };
        Self { at, len: range.len(), ..*self }
    }
    /// The bytes from the first to the last; those between the fields of a struct are undefined, so they may only be copied.
    #[inline]
    pub(crate) fn as_ptr(&self) -> *const u8 {
        self.at
    }
}

/// Values of a type known at run time, borrowed to be replaced.
#[derive(Debug)]
pub struct SliceMut<'a> {
    ty: Type,
    at: *mut u8,
    len: usize,
    of: PhantomData<&'a mut [u8]>,
}
// SAFETY: it is a unique borrow of values, which are `Send`.
unsafe impl Send for SliceMut<'_> {}
// SAFETY: a shared `SliceMut` gives nothing but its type and length.
unsafe impl Sync for SliceMut<'_> {}

impl<'a> SliceMut<'a> {
    /// These values.
    #[must_use]
    pub fn of<T: Value>(x: &'a mut [T]) -> Self {
        Self { ty: T::TYPE, at: x.as_mut_ptr().cast(), len: x.len(), of: PhantomData }
    }
    /// Their type.
    #[must_use]
    pub fn ty(&self) -> Type {
        self.ty
    }
    /// Their number.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// The values, if they are of type `T`.
    #[inline]
    #[must_use]
    pub fn get<T: Value>(&mut self) -> Option<&mut [T]> {
        // SAFETY: as for `Slice::get`; the borrow is unique as long as `self` is borrowed.
        (T::TYPE == self.ty).then(|| unsafe { std::slice::from_raw_parts_mut(self.at.cast(), self.len) })
    }
    /// The same values, for a while.
    #[inline]
    #[must_use]
    pub fn reborrow(&mut self) -> SliceMut<'_> {
        SliceMut { ty: self.ty, at: self.at, len: self.len, of: PhantomData }
    }
    /// Some of them.
    /// # Panics
    /// If the range is not within `0..len()`.
    #[inline]
    #[must_use]
    pub fn part(&mut self, range: Range<usize>) -> SliceMut<'_> {
        assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: within the values, or one past their end.
        let at = unsafe { self.at.add(range.start * self.ty.size()) };
        SliceMut { ty: self.ty, at, len: range.len(), of: PhantomData }
    }
    /// The values, to be read.
    #[must_use]
    pub fn as_slice(&self) -> Slice<'_> {
        Slice { ty: self.ty, at: self.at, len: self.len, of: PhantomData }
    }
}

/// A vector of values whose type is known at run time.
#[derive(Debug)]
pub struct Array {
    ty: Type,
    values: Box<dyn Elements>,
}

/// A vector of values, of whatever type. The vector itself cannot be told from its slice but by [`Array`].
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
    /// These values; nothing is copied.
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
    /// Type of the values.
    #[must_use]
    pub fn ty(&self) -> Type {
        self.ty
    }
    /// Their number.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slice().len()
    }
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The values.
    #[must_use]
    pub fn slice(&self) -> Slice<'_> {
        self.values.slice()
    }
    /// The values, to be replaced.
    #[must_use]
    pub fn slice_mut(&mut self) -> SliceMut<'_> {
        self.values.slice_mut()
    }
    /// The vector, if its values are of type `T`; nothing is copied.
    /// # Errors
    /// The array itself, if they are not.
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

    crate::value! {
        /// With padding at its end.
        struct Padded {
            /// Eight bytes.
            x: f64,
            /// One.
            y: u8,
        }
    }

    #[test]
    fn words_are_the_values() {
        let values = vec![Padded { x: 1.5, y: 2 }, Padded { x: f64::NAN, y: 3 }];
        let words = into_words(values.clone());
        assert_eq!(words.len(), 2);
        // SAFETY: they came from such values.
        let back = unsafe { from_words::<Padded>(words) };
        assert_eq!((back[0], back[1].y), (values[0], 3));
        let w = word(7u16);
        // SAFETY: it came from such a value.
        assert_eq!(unsafe { value::<u16>(w) }, 7);
    }

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

    #[test]
    #[should_panic(expected = "range.end <= self.len")]
    fn parts_lie_within() {
        let _ = Slice::of(&[1u8]).part(0..2);
    }
}
