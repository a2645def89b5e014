//! What a product takes is told before it is taken.
//!
//! Every part of a phase that may be large has a function `bytes` beside the one that makes it. A phase adds them up
//! here and is refused before it touches what does not fit; where there is a way that takes less, it asks first.

use crate::{Error, Result};

/// Bytes that a phase may take, results and scratch together, and those that it has taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    limit: Option<u64>,
    taken: u128,
}

impl Budget {
    /// Nothing taken yet; without a limit the system's is the only one.
    pub(super) fn new(limit: Option<u64>) -> Self {
        Self { limit, taken: 0 }
    }
    /// Whether there is a limit.
    pub(super) fn is_limited(&self) -> bool {
        self.limit.is_some()
    }
    /// Whether `bytes` more are allowed.
    pub(super) fn fits(&self, bytes: u128) -> bool {
        self.limit.is_none_or(|limit| self.taken.saturating_add(bytes) <= u128::from(limit))
    }
    /// Takes `bytes` for `what`.
    /// # Errors
    /// [`Error::Budget`], with the sum of all that the phase needs so far.
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

/// Bytes of `len` elements.
pub(super) fn bytes_of<T>(len: usize) -> u128 {
    len as u128 * size_of::<T>() as u128
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_adds_up() {
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
