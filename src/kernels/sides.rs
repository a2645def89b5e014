//! ⊗ of two operands, each either one value per product or a single value for all: rows of dense arrays.

use crate::algebra::Word;

/// An operand of ⊗: a single value for all products, or one per product.
#[derive(Clone, Copy)]
pub(super) enum Side<'a, W> {
    One(&'a W),
    Many(&'a [W]),
}

/// Writes the products of two sides, at most [`BLOCK`](super::BLOCK), over as many words.
pub(super) type SideMultiplier<'a, W> = dyn FnMut(Side<'_, W>, Side<'_, W>, &mut [W]) + 'a;

/// ⊗ as a value, with operands and results of one type.
///
/// # Safety
/// There is one type of value, with memory `W`, such that the multiplier overwrites all output words with words of it,
/// provided the words passed in are of it.
pub(super) unsafe trait MulSides<W: Word>: Send + Sync {
    /// Runs `work` with a multiplier.
    fn with(&self, work: &mut dyn FnMut(&mut SideMultiplier<'_, W>));
}
