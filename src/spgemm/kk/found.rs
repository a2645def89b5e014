//! What the phases hand to each other, and the work of their threads.

use std::ops::Range;

use super::super::budget::bytes_of;
use super::super::select::{Kind, KkSettings};
use super::super::tasks::Work;
use crate::Result;
use crate::par::Threads;
use crate::sparse::out_of_memory;

/// What the symbolic phase found and decided.
#[derive(Clone, Debug)]
pub(in crate::spgemm) struct Symbolic {
    /// Row pointers of C.
    pub row_ptr: Vec<usize>,
    /// Multiplications, fm.
    pub flops: u64,
    /// Most multiplications in a row, maxrf.
    pub max_row_flops: u64,
    /// Longest row of C, maxrs.
    pub max_row_nnz: usize,
    /// Part of the multiplications that compression leaves, CF; if counted.
    pub cf: Option<f64>,
    /// Part of the bound on a row's length that compression leaves, CMRF; if counted.
    pub cmrf: Option<f64>,
    /// Whether B was compressed, and the accumulator of the symbolic phase.
    #[cfg(test)]
    pub compressed: bool,
    #[cfg(test)]
    pub symbolic: Kind,
    /// Accumulator of the numeric phase.
    pub numeric: Kind,
    /// What was chosen, and why.
    pub reasons: String,
    /// Rows that one thread works on, in order.
    pub(super) tasks: Vec<Range<usize>>,
    pub(super) settings: KkSettings,
    pub(super) unsorted: bool,
}

impl Symbolic {
    /// Entries of C.
    pub(in crate::spgemm) fn nnz(&self) -> usize {
        self.row_ptr[self.row_ptr.len() - 1]
    }
    /// Bytes of the row pointers and the tasks.
    pub(in crate::spgemm) fn bytes(&self) -> u128 {
        bytes_of::<usize>(self.row_ptr.len()) + bytes_of::<Range<usize>>(self.tasks.len())
    }
    /// Whether the numeric phase sorts the rows of C.
    pub(in crate::spgemm) fn sorts(&self) -> bool {
        !self.unsorted
    }
}

/// Threads that work on so many tasks.
pub(super) fn workers(threads: &Threads, tasks: usize) -> usize {
    threads.count().min(tasks).max(1)
}

/// The tasks of `work` with every row whole: here a row is gathered in one accumulator.
pub(super) fn whole_rows(work: &Work) -> Result<Vec<Range<usize>>> {
    let mut tasks: Vec<Range<usize>> = Vec::new();
    tasks.try_reserve_exact(work.tasks.len()).map_err(|_| out_of_memory::<Range<usize>>("tasks", work.tasks.len()))?;
    for task in &work.tasks {
        // The first part of a row cut by columns stands for all of it.
        if task.cols.as_ref().is_none_or(|cols| cols.start == 0) {
            tasks.push(task.rows.clone());
        }
    }
    Ok(tasks)
}
