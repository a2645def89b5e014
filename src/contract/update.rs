//! What becomes of a fold: C = α ⊗ sum, or C = (β ⊗ C) ⊕ (α ⊗ sum).

use crate::algebra::{Arithmetic, Value};

/// α, if it is to be multiplied, and what becomes of the values that C has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Update<T> {
    pub(crate) alpha: Option<T>,
    pub(crate) old: Old<T>,
}

/// The values that C has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Old<T> {
    /// They are never read.
    Gone,
    Kept,
    Times(T),
}

impl<T: Value> Old<T> {
    /// β ⊗ C, where C is forgotten if β is the identity of ⊕.
    pub(crate) fn times<A: Arithmetic<T>>(beta: T) -> Self {
        if beta == A::ZERO { Self::Gone } else { Self::Times(beta) }
    }
}

impl<T: Value> Update<T> {
    /// C = sum.
    pub(crate) const PLAIN: Self = Self { alpha: None, old: Old::Gone };

    /// Makes sums the values of C; `old` are those that C has, asked for only if they matter.
    #[inline(always)]
    pub(super) fn apply<A: Arithmetic<T>, const B: usize>(
        &self,
        ring: A,
        sums: &mut [T; B],
        old: impl FnOnce() -> [T; B],
    ) {
        if let Some(alpha) = self.alpha {
            for sum in sums.iter_mut() {
                *sum = ring.times(alpha, *sum);
            }
        }
        match self.old {
            Old::Gone => {}
            Old::Kept => {
                let old = old();
                for (sum, &c) in sums.iter_mut().zip(&old) {
                    *sum = ring.plus(c, *sum);
                }
            }
            Old::Times(beta) => {
                let old = old();
                for (sum, &c) in sums.iter_mut().zip(&old) {
                    *sum = ring.plus(ring.times(beta, c), *sum);
                }
            }
        }
    }
}
