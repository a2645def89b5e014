//! What was worked out before: which program serves what, and how it is started.

use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::HashMap;

use super::tiling::Tiling;

/// A program's text behind its operator, and how it is started.
#[derive(Debug)]
pub(super) struct Worked {
    pub(super) text: String,
    pub(super) threads: u32,
    /// Bytes of dynamic shared memory of a block.
    pub(super) shared: u32,
    /// What a block takes of all that is to be done.
    pub(super) members: usize,
    /// What it was made by.
    pub(super) tiling: Tiling,
}

/// By the numbers that they were worked out from; `None`: there is no program for these.
type Known = HashMap<Box<[u64]>, Option<Arc<Worked>>>;

/// Programs that were worked out.
#[derive(Debug, Default)]
pub(super) struct Programs(Mutex<Known>);

impl Programs {
    /// The program for these numbers, worked out once.
    pub(super) fn get(&self, numbers: &[u64], work: impl FnOnce() -> Option<Worked>) -> Option<Arc<Worked>> {
        if let Some(known) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(numbers) {
            return known.clone();
        }
        let made = work().map(Arc::new);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(numbers.into(), made.clone());
        made
    }
    /// From here on it is this one.
    pub(super) fn set(&self, numbers: &[u64], made: Arc<Worked>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(numbers.into(), Some(made));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_worked_out_is_found() {
        let programs = Programs::default();
        let tiling = Tiling { rows: 1, columns: 1, times: 1, group: 1, turns: 1, prefetch: true, resident: 0 };
        let worked = |members| Worked { text: String::new(), threads: 1, shared: 0, members, tiling };
        assert_eq!(programs.get(&[1, 2], || Some(worked(3))).map(|w| w.members), Some(3));
        assert_eq!(programs.get(&[1, 2], || unreachable!()).map(|w| w.members), Some(3));
        assert!(programs.get(&[1], || None).is_none() && programs.get(&[1], || Some(worked(4))).is_none());
        programs.set(&[1], Arc::new(worked(5)));
        assert_eq!(programs.get(&[1], || unreachable!()).map(|w| w.members), Some(5));
    }
}
