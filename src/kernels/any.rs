//! Results whose type is known at run time: made block by block by who writes values of that type.

use std::ops::Range;

use super::blocks::fill;
use super::by_formula::with_type;
use crate::algebra::words::{from_words, values_mut, word, words};
use crate::algebra::{Array, Number, Slice, SliceMut, Type, Value, Word};
use crate::par::{Threads, collected};
use crate::{Error, Result};

/// Writes the results of a block: those of the range, over as many values that are there.
pub(crate) type WriteAny<'a> = dyn Fn(Range<usize>, &mut SliceMut<'_>) + Sync + 'a;

/// The array of values of this type whose elements `start(block.start)..start(block.end)` are what
/// `work(block, elements)` makes of zeros; structs on one thread.
pub(crate) fn fill_any(
    ty: Type,
    threads: &Threads,
    op: &'static str,
    blocks: &[Range<usize>],
    start: &dyn Fn(usize) -> usize,
    work: &WriteAny<'_>,
) -> Result<Array> {
    with_type!(ty, T => {
        let write = |block: Range<usize>, values: &mut [T]| work(block, &mut SliceMut::of(values));
        Ok(Array::of(fill(threads, op, blocks, start, T::ZERO, &write)?))
    }, {
        let mut made = Array::zeros(ty, blocks.last().map_or(0, |last| start(last.end)))?;
        for block in blocks {
            work(block.clone(), &mut made.slice_mut().part(start(block.start)..start(block.end)));
        }
        Ok(made)
    })
}

/// What makes values one after the other, of items that it lists.
///
/// It has no word but the first and those that `write` wrote: it is written for every type of word, and a [`Word`]
/// cannot be made.
pub(crate) trait Listing {
    /// What a value is made of.
    type Item;
    /// What is found beside the values.
    type Found;
    /// The values: `write(items, words)` writes those of some items over words that are `first`.
    fn make<W: Word>(&self, first: W, write: &Write<'_, Self::Item, W>) -> Result<(Self::Found, Vec<W>)>;
}
/// Writes the words of some items.
pub(crate) type Write<'a, X, W> = dyn Fn(&[X], &mut [W]) + Sync + 'a;

/// Values of this type, written by `write(items, values)` over zeros.
/// # Errors
/// [`Error::Unsupported`] for structs; those of the listing.
pub(crate) fn listed_any<X: Listing>(
    ty: Type,
    way: &X,
    write: &(dyn Fn(&[X::Item], &mut SliceMut<'_>) + Sync),
) -> Result<(X::Found, Array)> {
    with_type!(ty, T => {
        let write = |items: &[X::Item], words: &mut [<T as Value>::Word]| {
            // SAFETY: all are `first`, a value of this type.
            write(items, &mut SliceMut::of(unsafe { values_mut::<T>(words) }));
        };
        let (found, made) = way.make(word(T::ZERO), &write)?;
        // SAFETY: they are `first`, or what was written over it, values of this type (`Listing`).
        Ok((found, Array::of(unsafe { from_words::<T>(made) })))
    }, Err(Error::Unsupported {
        what: format!("{ty} entry by entry, by a formula"),
        why: "its loops are compiled for numbers; an operator of `op!` has loops of its own".into(),
    }))
}

/// What makes one array of several, by moves alone: compiled once for a size of value.
///
/// It is written for every type, so that all that it has are copies of the values that it is given.
pub(crate) trait Joins {
    /// What is found beside the values.
    type Found;
    /// The values of the arrays, moved.
    fn join<T: Copy + Send + Sync>(&self, arrays: &[&[T]]) -> Result<(Self::Found, Vec<T>)>;
}

/// Joins arrays of one type; `None` for structs.
/// # Errors
/// [`Error::OutOfMemory`]; those of the work.
pub(crate) fn joined_any<J: Joins>(arrays: &[Slice<'_>], joins: &J) -> Result<Option<(J::Found, Array)>> {
    let Some(first) = arrays.first() else { return Ok(None) };
    with_type!(first.ty(), T => {
        let arrays = arrays.iter().map(|array| words(array.get::<T>().unwrap_or_default()));
        let (found, made) = joins.join(&collected(arrays.len(), arrays, "arrays")?)?;
        // SAFETY: they are copies of values of this type (`Joins`).
        Ok(Some((found, Array::of(unsafe { from_words::<T>(made) }))))
    }, Ok(None))
}
