//! Conversions between values and words, for computations that are generic in the word.

use super::{Multiply, Products};
use crate::algebra::words::{from_words, words_mut};
use crate::algebra::{Out, Semiring, Word};
use crate::{Index, Result};

/// A numeric phase, over kernels of any word.
///
/// Its only words are those of the kernel: the implementation is generic in the word type, and a [`Word`] cannot be
/// constructed. (No implementation queries `Any` for the type of a word. Scratch that a plan retains,
/// `spgemm/values.rs`, is checked to hold words of this type and reset to the kernel's identity before use.)
pub(crate) trait Numeric<I: Index> {
    /// Side output of the phase.
    type Structure;
    /// New values.
    fn make<W: Word>(&self, products: &dyn Multiply<W, I>) -> Result<(Self::Structure, Vec<W>)>;
}
/// A numeric phase that can overwrite existing values.
pub(crate) trait NumericInto<I: Index>: Numeric<I> {
    /// Overwrites `values`.
    fn numeric_into<W: Word>(&self, products: &dyn Multiply<W, I>, values: &mut [W]) -> Result<()>;
}

/// New values of a semiring's type.
pub(crate) fn numeric<R: Semiring, I: Index, N: Numeric<I>>(
    products: &Products<'_, R, I>,
    phase: &N,
) -> Result<(N::Structure, Vec<Out<R>>)> {
    let (found, values) = phase.make(products)?;
    // SAFETY: 1. `make` has no words but copies of those that the kernel returned or wrote (`Numeric`); 2. these are
    // values of type `Out<R>` (`Multiply`, implemented by `Products`).
    Ok((found, unsafe { from_words(values) }))
}

/// Values of a semiring's type, overwriting others.
pub(crate) fn numeric_into<R: Semiring, I: Index, N: NumericInto<I>>(
    products: &Products<'_, R, I>,
    phase: &N,
    values: &mut [Out<R>],
) -> Result<()> {
    // SAFETY: 1. `numeric_into` has no words but copies of these values and of those that the kernel returned or
    // wrote; 2. as above, also if it panics: each word is written whole.
    phase.numeric_into(products, unsafe { words_mut(values) })
}
