//! ⊗ of two operands of which either may be one value for all products: rows of dense arrays.

use crate::algebra::Word;

/// An operand of ⊗: one value for all products, or one for each.
#[derive(Clone, Copy)]
pub(super) enum Side<'a, W> {
    One(&'a W),
    Many(&'a [W]),
}

/// Products of two sides, written to as many words, at most [`BLOCK`](super::BLOCK).
pub(super) type SideMultiplier<'a, W> = dyn FnMut(Side<'_, W>, Side<'_, W>, &mut [W]) + 'a;

/// ⊗ as a value, of operands and results of one type.
///
/// # Safety
/// There is one type of value, with memory `W`, of which the multiplier writes words, all that it is given, if it is
/// handed words of that type.
pub(super) unsafe trait MulSides<W: Word>: Send + Sync {
    /// Runs `work` with a multiplier.
    fn with(&self, work: &mut dyn FnMut(&mut SideMultiplier<'_, W>));
}
