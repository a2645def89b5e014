//! Type erasure: arrays of values as arrays of words, and arrays with a run-time type.
//!
//! Code that moves values without computing on them is compiled for words, once per size. This module has the only
//! conversions between values and words. A [`Slice`] records the type, and returns the values for that type.

mod array;
mod slice;

pub(crate) use array::Zeroed;
pub use array::{Array, Constant};
pub(crate) use slice::Tile;
pub use slice::{Slice, SliceMut};

use std::mem::ManuallyDrop;

use super::{Value, Word};
use crate::Result;

/// The word of a value.
#[inline(always)]
pub(crate) fn word<T: Value>(x: T) -> T::Word {
    const { same_layout::<T>() };
    // SAFETY: same size (checked); a word may hold any bytes, padding included.
    unsafe { std::mem::transmute_copy(&x) }
}
/// The value of a word.
/// # Safety
/// `w` is the word of a value of type `T`.
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
/// Values as mutable words.
/// # Safety
/// Every word written is that of a value of type `T`.
#[inline(always)]
pub(crate) unsafe fn words_mut<T: Value>(x: &mut [T]) -> &mut [T::Word] {
    const { same_layout::<T>() };
    // SAFETY: same size and alignment (checked); written words are of a `T` by the caller's promise.
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
/// Words as mutable values.
/// # Safety
/// Every word is that of a value of type `T`.
#[inline(always)]
pub(crate) unsafe fn values_mut<T: Value>(x: &mut [T::Word]) -> &mut [T] {
    const { same_layout::<T>() };
    // SAFETY: as for `values`; values are written, and a word may hold any of them.
    unsafe { std::slice::from_raw_parts_mut(x.as_mut_ptr().cast(), x.len()) }
}
/// A vector of values as one of words; nothing is copied.
#[cfg(test)]
pub(crate) fn into_words<T: Value>(x: Vec<T>) -> Vec<T::Word> {
    const { same_layout::<T>() };
    let mut x = ManuallyDrop::new(x);
    // SAFETY: 1. same size and alignment (checked), so the allocation is that of a vector of words; 2. a word may hold
    // any bytes; 3. `x` is not dropped.
    unsafe { Vec::from_raw_parts(x.as_mut_ptr().cast(), x.len(), x.capacity()) }
}
/// A vector of words as one of values; nothing is copied.
/// # Safety
/// Every word is that of a value of type `T`.
pub(crate) unsafe fn from_words<T: Value>(x: Vec<T::Word>) -> Vec<T> {
    const { same_layout::<T>() };
    let mut x = ManuallyDrop::new(x);
    // SAFETY: 1. same size and alignment (checked), so the allocation is that of a vector of values; 2. the words are
    // values by the caller's promise; 3. `x` is not dropped.
    unsafe { Vec::from_raw_parts(x.as_mut_ptr().cast(), x.len(), x.capacity()) }
}

/// The all-zero value: 0, `false`, or a struct of these.
#[inline(always)]
pub(crate) const fn zero<T: Value>() -> T {
    // SAFETY: zeros are a value of every type of numbers and of bool, and a struct is its fields (`Value`'s promise).
    unsafe { std::mem::zeroed() }
}

/// A growable vector of values with an erased type.
pub(crate) trait ValueVec {
    /// The values, mutable.
    fn slice_mut(&mut self) -> SliceMut<'_>;
    /// Reserves memory for `additional` values; false if the allocation fails.
    fn try_reserve(&mut self, additional: usize) -> bool;
    /// Appends zeros or truncates.
    fn resize_zeroed(&mut self, len: usize);
}
impl<T: Value> ValueVec for Vec<T> {
    fn slice_mut(&mut self) -> SliceMut<'_> {
        SliceMut::of(self)
    }
    fn try_reserve(&mut self, additional: usize) -> bool {
        Vec::try_reserve(self, additional).is_ok()
    }
    fn resize_zeroed(&mut self, len: usize) {
        self.resize(len, zero());
    }
}

/// A fold of two values into one.
pub(crate) type Fold<'a, W> = &'a (dyn Fn(W, W) -> W + Sync);

/// A data movement: code that copies and folds values, compiled once per value size.
///
/// An implementation can return only copies of the given words and results of the fold on them: it is generic over the
/// word type, and a [`Word`] cannot be constructed. (Implementations must not query the type of a word by `Any`.)
pub(crate) trait Moves {
    /// The structure computed beside the values.
    type Structure;
    /// The moved values, some of them folded.
    fn run<W: Word>(self, values: &[W], fold: Option<Fold<'_, W>>) -> Result<(Self::Structure, Vec<W>)>;
}

/// Runs a data movement on values of type `T`, with an optional fold.
pub(crate) fn moved<T: Value, M: Moves>(
    moves: M,
    values: &[T],
    fold: Option<impl Fn(T, T) -> T + Sync>,
) -> Result<(M::Structure, Vec<T>)> {
    let on_words = fold.map(|fold| {
        move |x: T::Word, y: T::Word| {
            // SAFETY: the words of the movement are copies of those of `values` and results of this fold (`Moves`): all
            // are of a `T`.
            word(fold(unsafe { value::<T>(x) }, unsafe { value::<T>(y) }))
        }
    });
    let (found, moved) = moves.run(words(values), on_words.as_ref().map(|fold| fold as Fold<'_, T::Word>))?;
    // SAFETY: as above.
    Ok((found, unsafe { from_words(moved) }))
}

/// A data movement of the values of two operands of one type; otherwise as [`Moves`].
pub(crate) trait MovesTwo {
    /// The structure computed beside the values.
    type Structure;
    /// The moved values of both operands.
    fn run<W: Word>(self, a: &[W], b: &[W]) -> Result<(Self::Structure, Vec<W>)>;
}

/// Runs a data movement of two operands on values of type `T`.
pub(crate) fn moved_two<T: Value, M: MovesTwo>(moves: M, a: &[T], b: &[T]) -> Result<(M::Structure, Vec<T>)> {
    let (found, moved) = moves.run(words(a), words(b))?;
    // SAFETY: the words of the movement are copies of those of `a` and `b` (`MovesTwo`): all are of a `T`.
    Ok((found, unsafe { from_words(moved) }))
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
        // SAFETY: the words came from values of this type.
        let back = unsafe { from_words::<Padded>(words) };
        assert_eq!((back[0], back[1].y), (values[0], 3));
        let w = word(7u16);
        // SAFETY: the word came from a value of this type.
        assert_eq!(unsafe { value::<u16>(w) }, 7);
    }
}
