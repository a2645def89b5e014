//! Memory accounting: a phase declares its allocations before it makes them.
//!
//! Every large part of a phase has a function `bytes` beside its constructor. The phase adds these up here and fails
//! before it allocates what does not fit. Where a cheaper algorithm exists, the phase checks [`Budget::fits`] first and
//! falls back to it.

use crate::{Error, Result};

/// The limit of a phase in bytes, results and scratch together, and the bytes taken so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    limit: Option<u64>,
    taken: u128,
}

impl Budget {
    /// Nothing taken yet. `None` is no limit but the system's.
    pub(super) fn new(limit: Option<u64>) -> Self {
        Self { limit, taken: 0 }
    }
    /// Whether there is a limit.
    pub(super) fn is_limited(&self) -> bool {
        self.limit.is_some()
    }
    /// Whether `bytes` more fit.
    pub(super) fn fits(&self, bytes: u128) -> bool {
        self.limit.is_none_or(|limit| self.taken.saturating_add(bytes) <= u128::from(limit))
    }
    /// Reserves `bytes` for `what`.
    /// # Errors
    /// [`Error::Budget`], with the total that the phase needs so far.
    pub(super) fn take(&mut self, what: &'static str, bytes: u128) -> Result<()> {
        let needed = self.taken.saturating_add(bytes);
        match self.limit.map(u128::from) {
            Some(budget) if needed > budget => Err(Error::Budget { what, bytes: needed, budget }),
            _ => {
                self.taken = needed;
                Ok(())
            }
        }
    }
}

/// Size of `len` elements in bytes.
pub(super) fn bytes_of<T>(len: usize) -> u128 {
    len as u128 * size_of::<T>() as u128
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reservations_add_up() {
        let mut budget = Budget::new(Some(10));
        assert!(budget.fits(10) && !budget.fits(11) && !budget.fits(u128::MAX));
        budget.take("one part", 7).unwrap();
        assert!(matches!(budget.take("another", 4), Err(Error::Budget { what: "another", bytes: 11, budget: 10 })));
        budget.take("a smaller one", 3).unwrap();
        assert!(!budget.fits(1));
        let mut free = Budget::new(None);
        free.take("all", u128::MAX).unwrap();
        assert!(free.fits(u128::MAX) && !free.is_limited());
    }
}
