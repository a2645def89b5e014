//! From values to words and back, for computations that are the same for any word.

use super::{Multiply, Products};
use crate::algebra::words::{from_words, words_mut};
use crate::algebra::{Out, Semiring, Word};
use crate::{Index, Result};

/// A numeric phase, for kernels of any word.
///
/// It has no word but those of the kernel: it is written for every type of word, and a [`Word`] cannot be made. (No one
/// asks `Any` for the type of a word. Scratch that a plan keeps, `spgemm/values.rs`, is asked whether it is for words
/// of this type, and its words are replaced by the kernel's identity before it is used.)
pub(crate) trait Numeric<I: Index> {
    /// What is found beside the values.
    type Found;
    /// New values.
    fn make<W: Word>(&self, products: &dyn Multiply<W, I>) -> Result<(Self::Found, Vec<W>)>;
}
/// A numeric phase that can be done again.
pub(crate) trait Again<I: Index>: Numeric<I> {
    /// Values written over `values`.
    fn refill<W: Word>(&self, products: &dyn Multiply<W, I>, values: &mut [W]) -> Result<()>;
}

/// New values of a semiring's type.
pub(crate) fn numeric<R: Semiring, I: Index, N: Numeric<I>>(
    products: &Products<'_, R, I>,
    phase: &N,
) -> Result<(N::Found, Vec<Out<R>>)> {
    let (found, values) = phase.make(products)?;
    // SAFETY: 1. `make` has no other words than copies of those that the kernel gave or wrote (`Numeric`); 2. these are
    // values of type `Out<R>` (`Multiply`, implemented by `Products`).
    Ok((found, unsafe { from_words(values) }))
}

/// Values of a semiring's type, written over others.
pub(crate) fn numeric_into<R: Semiring, I: Index, N: Again<I>>(
    products: &Products<'_, R, I>,
    phase: &N,
    values: &mut [Out<R>],
) -> Result<()> {
    // SAFETY: 1. `refill` has no other words than copies of these values and of those that the kernel gave or wrote; 2.
    // as above, also when it ends by a panic: a word is written whole.
    phase.refill(products, unsafe { words_mut(values) })
}
