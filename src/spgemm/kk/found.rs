//! What the phases hand to each other, and how their work is split among threads.

use std::ops::Range;

use super::super::budget::bytes_of;
use super::super::select::{Kind, KkSettings};
use super::super::tasks::Work;
use crate::par::Threads;
use crate::simd::prefetch;
use crate::sparse::{BitRows, out_of_memory};
use crate::{Index, Result};

/// The result of the symbolic phase, and its choices.
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
    /// Fraction of the multiplications that compression leaves, CF; if counted.
    pub cf: Option<f64>,
    /// Fraction of the row-length bound that compression leaves, CMRF; if counted.
    pub cmrf: Option<f64>,
    /// Number of words of B, if it was compressed.
    pub words: Option<usize>,
    /// Accumulator of the symbolic phase.
    pub symbolic: Kind,
    /// Accumulator of the numeric phase.
    pub numeric: Kind,
    /// Whether narrow rows go through a dense window instead.
    pub windows: bool,
    /// The choices and their reasons.
    pub reasons: String,
    /// Rows per task, in order.
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

/// Rows of B, compressed or not.
#[derive(Clone, Copy)]
pub(super) struct RowsOfB<'b, I, V> {
    pub ptr: &'b [usize],
    pub keys: &'b [I],
    pub bits: &'b [V],
}
impl<'b, I: Index> RowsOfB<'b, I, u32> {
    pub(super) fn packed(packed: &'b BitRows<u32, I>) -> Self {
        Self { ptr: packed.sets().row_ptr(), keys: packed.sets().col_idx(), bits: packed.words() }
    }
}
impl<'b, I: Index, V> RowsOfB<'b, I, V> {
    #[inline(always)]
    pub(super) fn row(&self, k: usize) -> (&'b [I], &'b [V]) {
        let range = self.ptr[k]..self.ptr[k + 1];
        (&self.keys[range.clone()], &self.bits[range])
    }
    /// Prefetches the beginning of row `k`.
    #[inline(always)]
    pub(super) fn prefetch(&self, k: usize) {
        prefetch(self.keys, self.ptr[k]);
        prefetch(self.bits, self.ptr[k]);
    }
}

/// The first row of task `t`.
pub(super) fn start(tasks: &[Range<usize>], nrows: usize, t: usize) -> usize {
    tasks.get(t).map_or(nrows, |rows| rows.start)
}

/// Threads that work on this many tasks.
pub(super) fn workers(threads: &Threads, tasks: usize) -> usize {
    threads.count().min(tasks).max(1)
}

/// The tasks of `work` with every row whole, because one accumulator gathers a row.
pub(super) fn whole_rows(work: &Work) -> Result<Vec<Range<usize>>> {
    let mut tasks: Vec<Range<usize>> = Vec::new();
    tasks.try_reserve_exact(work.tasks.len()).map_err(|_| out_of_memory::<Range<usize>>("tasks", work.tasks.len()))?;
    for task in &work.tasks {
        // The first part of a row split by columns stands for the whole row.
        if task.cols.as_ref().is_none_or(|cols| cols.start == 0) {
            tasks.push(task.rows.clone());
        }
    }
    Ok(tasks)
}
