//! Results of a type known at run time, computed block by block with typed writers.

use std::ops::Range;

use super::blocks::fill;
use super::by_formula::with_type;
use crate::algebra::words::{from_words, values_mut, word, words};
use crate::algebra::{Array, Number, Slice, SliceMut, Type, Value, Word};
use crate::par::{Threads, collected};
use crate::{Error, Result};

/// Writes the results of a block of positions over as many initialized values.
pub(crate) type WriteAny<'a> = dyn Fn(Range<usize>, &mut SliceMut<'_>) + Sync + 'a;

/// An array of this type: zeros, of which `work(block, elements)` overwrites the elements
/// `start(block.start)..start(block.end)`. Structs run on one thread.
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
        let mut values = Array::zeros(ty, blocks.last().map_or(0, |last| start(last.end)))?;
        for block in blocks {
            work(block.clone(), &mut values.slice_mut().part(start(block.start)..start(block.end)));
        }
        Ok(values)
    })
}

/// Computes values in sequence, each batch from a list of items.
///
/// Its only words are the initial one and those that `write` wrote: the implementation is generic in the word type, and
/// a [`Word`] cannot be constructed.
pub(crate) trait FromItems {
    /// The input of one value.
    type Item;
    /// Side output of the computation.
    type Structure;
    /// The values: `write(items, words)` writes the words of some items over words that equal `first`.
    fn make<W: Word>(&self, first: W, write: &Write<'_, Self::Item, W>) -> Result<(Self::Structure, Vec<W>)>;
}
/// Writes one word per item.
pub(crate) type Write<'a, X, W> = dyn Fn(&[X], &mut [W]) + Sync + 'a;

/// Values of this type, written by `write(items, values)` over zeros.
/// # Errors
/// [`Error::Unsupported`] for structs; those of `source`.
pub(crate) fn listed_any<X: FromItems>(
    ty: Type,
    source: &X,
    write: &(dyn Fn(&[X::Item], &mut SliceMut<'_>) + Sync),
) -> Result<(X::Structure, Array)> {
    with_type!(ty, T => {
        let write = |items: &[X::Item], words: &mut [<T as Value>::Word]| {
            // SAFETY: every word is `first`, a value of this type.
            write(items, &mut SliceMut::of(unsafe { values_mut::<T>(words) }));
        };
        let (found, values) = source.make(word(T::ZERO), &write)?;
        // SAFETY: each word is `first` or was overwritten by `write` with a value of this type (`FromItems`).
        Ok((found, Array::of(unsafe { from_words::<T>(values) })))
    }, Err(Error::Unsupported {
        what: format!("{ty} entry by entry, by a formula"),
        why: "only numbers have compiled loops; an operator of `op!` compiles its own".into(),
    }))
}

/// Joins several arrays into one by copying values: compiled once per value size.
///
/// The implementation is generic in the value type, so it can only copy the values that it is given.
pub(crate) trait Joins {
    /// Side output of the computation.
    type Structure;
    /// The joined values.
    fn join<T: Copy + Send + Sync>(&self, arrays: &[&[T]]) -> Result<(Self::Structure, Vec<T>)>;
}

/// Joins arrays of one type; `None` for structs.
/// # Errors
/// [`Error::OutOfMemory`]; those of `joins`.
pub(crate) fn joined_any<J: Joins>(arrays: &[Slice<'_>], joins: &J) -> Result<Option<(J::Structure, Array)>> {
    let Some(first) = arrays.first() else { return Ok(None) };
    with_type!(first.ty(), T => {
        let arrays = arrays.iter().map(|array| words(array.get::<T>().unwrap_or_default()));
        let (found, values) = joins.join(&collected(arrays.len(), arrays, "arrays")?)?;
        // SAFETY: the words are copies of values of this type (`Joins`).
        Ok(Some((found, Array::of(unsafe { from_words::<T>(values) }))))
    }, Ok(None))
}
