//! The update of the result: C = α ⊗ sum, or C = (β ⊗ C) ⊕ (α ⊗ sum).

use crate::algebra::{Arithmetic, Value};

/// α, if present, and the treatment of C's previous values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Update<T> {
    pub(crate) alpha: Option<T>,
    pub(crate) old: Old<T>,
}

/// C's previous values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Old<T> {
    /// Never read.
    Ignored,
    Added,
    Scaled(T),
}

impl<T: Value> Old<T> {
    /// β ⊗ C; C is not read if β is the identity of ⊕.
    pub(crate) fn scaled<A: Arithmetic<T>>(beta: T) -> Self {
        if beta == A::ZERO { Self::Ignored } else { Self::Scaled(beta) }
    }
}

impl<T: Value> Update<T> {
    /// C = sum.
    pub(crate) const PLAIN: Self = Self { alpha: None, old: Old::Ignored };

    /// Turns sums into new values of C; `old` reads its previous values, and is called only if they matter.
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
            Old::Ignored => {}
            Old::Added => {
                let old = old();
                for (sum, &c) in sums.iter_mut().zip(&old) {
                    *sum = ring.plus(c, *sum);
                }
            }
            Old::Scaled(beta) => {
                let old = old();
                for (sum, &c) in sums.iter_mut().zip(&old) {
                    *sum = ring.plus(ring.times(beta, c), *sum);
                }
            }
        }
    }
}
