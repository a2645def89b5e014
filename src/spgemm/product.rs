//! Our own way through a product: columns in order from bits, then values at known columns.
//!
//! [`structure`] finds the pattern of C, [`Fill`] its values.
//!
//! Tried: both in one pass over the rows, for a product used once, so that B is read once. Lost or level on all
//! of rmat14 (227 ms against 212), web18 (179, 176), lap2d_1000 (76, 73), er18d8 (133, 140): B's rows come from
//! the cache anyway, and the values pay one more copy.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::columns::{ColumnFinder, Operands};
use super::tasks::{Task, Work};
use super::values::{RowFiller, part_of_row};
use crate::algebra::Word;
use crate::kernels::Multiply;
use crate::par::{Fresh, Threads, append_blocks, filled, refill};
use crate::simd::dispatch;
use crate::sparse::out_of_memory;
use crate::{Index, Pattern, Result};

/// The pattern of C.
pub(super) fn structure<I: Index>(threads: &Threads, of: Operands<'_, I>, work: &Work) -> Result<Pattern<I>> {
    let state = || ColumnFinder::new(of, work.max_row_flops);
    collect(threads, of, work, state, |finder, i, part, out| {
        let n = finder.find(of, i, part);
        out.extend_from_slice(&finder.cols[..n]);
    })
}

/// The pattern whose rows are what `row(state, i, part, out)` appends to `out`, in increasing order; there is room
/// for all that row `i` can hold.
pub(super) fn collect<I: Index, S>(
    threads: &Threads,
    of: Operands<'_, I>,
    work: &Work,
    state: impl Fn() -> Result<S> + Sync,
    row: impl Fn(&mut S, usize, Option<&Range<usize>>, &mut Vec<I>) + Sync,
) -> Result<Pattern<I>> {
    let (nrows, ncols) = (of.a.nrows(), of.b.ncols());
    let mut row_ptr = filled(nrows.saturating_add(1), 0, "row pointers of C")?;
    // Parts of a cut row share its length, so they get a slot each and are added up below.
    let parts = work.tasks.iter().filter(|t| t.cols.is_some()).count();
    let mut part_lens = filled(parts, 0, "row pointers of C")?;
    let mut lengths = Vec::new();
    lengths
        .try_reserve_exact(work.tasks.len())
        .map_err(|_| out_of_memory::<&mut [usize]>("tasks", work.tasks.len()))?;
    let (mut rows, mut cut, mut at) = (&mut row_ptr[1..], &mut part_lens[..], 0);
    for task in &work.tasks {
        if task.cols.is_some() {
            lengths.push(Mutex::new(cut.split_off_mut(..1).unwrap_or_default()));
        } else {
            let _ = rows.split_off_mut(..task.rows.start - at);
            lengths.push(Mutex::new(rows.split_off_mut(..task.rows.len()).unwrap_or_default()));
            at = task.rows.end;
        }
    }
    // Memory is reserved for the most there can be and touched only where there is something.
    let hint = usize::try_from(work.flops).unwrap_or(0);
    let longest = usize::try_from(work.max_row_flops).unwrap_or(usize::MAX).min(ncols);
    let cols = append_blocks(threads, "symbolic", work.tasks.len(), hint, state, |s, t, cols: &mut Vec<I>| {
        let task = &work.tasks[t];
        let mut lens = lengths[t].lock().unwrap_or_else(PoisonError::into_inner);
        dispatch(|| {
            for (i, len) in task.rows.clone().zip(lens.iter_mut()) {
                let before = cols.len();
                cols.try_reserve(longest).map_err(|_| out_of_memory::<I>("a block of C", before + longest))?;
                row(s, i, task.cols.as_ref(), cols);
                *len = cols.len() - before;
            }
            Ok(())
        })
    })?;
    drop(lengths);
    let cut_rows = work.tasks.iter().filter(|t| t.cols.is_some()).map(|t| t.rows.start);
    for (i, len) in cut_rows.zip(part_lens) {
        row_ptr[i + 1] += len;
    }
    for i in 0..nrows {
        row_ptr[i + 1] += row_ptr[i];
    }
    Ok(Pattern::from_parts(nrows, ncols, row_ptr, cols, true))
}

/// Number of entries of C, holding none of them.
pub(super) fn count<I: Index>(threads: &Threads, of: Operands<'_, I>, work: &Work) -> Result<u128> {
    let total = Mutex::new(0u128);
    threads.for_each(
        work.tasks.len(),
        || ColumnFinder::new(of, work.max_row_flops),
        |finder, t| {
            let task = &work.tasks[t];
            let n: usize = dispatch(|| task.rows.clone().map(|i| finder.find(of, i, task.cols.as_ref())).sum());
            *total.lock().unwrap_or_else(PoisonError::into_inner) += n as u128;
            Ok(())
        },
    )?;
    Ok(total.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Values of C = A·B where `c` has entries.
pub(super) struct Fill<'a, W, I: Index> {
    pub products: &'a dyn Multiply<W, I>,
    pub c: &'a Pattern<I>,
    pub tasks: &'a [Task],
    /// Entries in the longest row of C.
    pub longest: usize,
    /// Whether A·B has entries that C has not.
    pub masked: bool,
}

impl<W: Word, I: Index> Fill<'_, W, I> {
    /// Into new memory.
    pub(super) fn fresh(&self, threads: &Threads) -> Result<Vec<W>> {
        Fresh::new(self.c.nnz(), "values of C")?.fill(
            threads,
            "numeric",
            self.tasks.len(),
            |t| self.start(t),
            || self.filler(),
            |filler, t, slots| {
                filler.fill(self.products, self.c, &self.tasks[t], slots);
                Ok(())
            },
        )
    }
    /// In place.
    pub(super) fn in_place(&self, threads: &Threads, values: &mut [W]) -> Result<()> {
        refill(
            values,
            threads,
            "numeric",
            self.tasks.len(),
            |t| self.start(t),
            || self.filler(),
            |filler, t, slots| {
                filler.fill(self.products, self.c, &self.tasks[t], slots);
                Ok(())
            },
        )
    }
    fn filler(&self) -> Result<RowFiller<W>> {
        RowFiller::new(self.products.identity(), self.c.ncols(), self.longest, self.masked)
    }
    /// Where the entries of task `t` begin.
    fn start(&self, t: usize) -> usize {
        self.tasks.get(t).map_or(self.c.nnz(), |task| part_of_row(self.c, task.rows.start, task.cols.as_ref()).start)
    }
}
