//! Our own two-phase product: sorted columns from a bitmap, then values at known columns.
//!
//! [`structure`] finds the pattern of C, [`Fill`] its values.
//!
//! Tried: both in one pass over the rows, for a product used once, so that B is read once. Lost or level on all of
//! rmat14 (227 ms against 212), web18 (179, 176), lap2d_1000 (76, 73), er18d8 (133, 140): B's rows come from the cache
//! anyway, and the values pay one more copy.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::budget::{Budget, bytes_of};
use super::columns::{ColumnFinder, Search, extend};
use super::scratch_cache::{Borrowed, ScratchCache};
use super::shifted_rows::Operands;
use super::tasks::{Task, Work};
use super::values::{Lookup, RowFiller, part_of_row};
use crate::algebra::Word;
use crate::kernels::Multiply;
use crate::par::{Threads, UninitOutput, append_blocks, enough, filled, overwrite_blocks, reserved, zeros};
use crate::simd::{self, dispatch, dispatch_work};
use crate::sparse::accumulate;
use crate::{Index, Pattern, Result};

/// Finds the rows of a result, one after another.
pub(super) trait FindRows<I: Index>: Sync {
    /// The scratch of a thread.
    type State;
    /// Whether its loops are compiled for each instruction set. Not worthwhile where they are memory-bound.
    const WIDE: bool = true;
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    fn state(&self) -> Result<Self::State>;
    /// Bytes of a state.
    fn bytes(&self) -> u128;
    /// The columns of row `i` within `part` (all if `None`), sorted.
    fn row<'s>(&self, state: &'s mut Self::State, i: usize, part: Option<&Range<usize>>) -> &'s [I];
    /// Appends the columns of a task's rows to `out`, row after row, and writes their lengths to `lens`.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    #[inline(always)]
    fn append(&self, state: &mut Self::State, task: &Task, lens: &mut [usize], out: &mut Vec<I>) -> Result<()> {
        for (i, len) in task.rows.clone().zip(lens) {
            let row = self.row(state, i, task.cols.as_ref());
            extend(out, row)?;
            *len = row.len();
        }
        Ok(())
    }
    /// As [`append`](Self::append), lengths only.
    #[inline(always)]
    fn count(&self, state: &mut Self::State, task: &Task, lens: &mut [usize]) {
        for (i, len) in task.rows.clone().zip(lens) {
            *len = self.row(state, i, task.cols.as_ref()).len();
        }
    }
    /// Upper bound on the entries of the result.
    fn most(&self) -> u64;
    /// Lower bound on the entries of the result.
    fn least(&self) -> u64;
}

/// The rows of A·B.
struct Rows<'a, I: Index> {
    of: Operands<'a, I>,
    work: &'a Work,
    by: Search,
}

impl<I: Index> FindRows<I> for Rows<'_, I> {
    type State = ColumnFinder<I>;
    fn state(&self) -> Result<ColumnFinder<I>> {
        ColumnFinder::new(self.of, self.work.max_row_flops, self.by)
    }
    fn bytes(&self) -> u128 {
        ColumnFinder::bytes(self.of, self.work.max_row_flops, self.by)
    }
    #[inline(always)]
    fn row<'s>(&self, finder: &'s mut ColumnFinder<I>, i: usize, part: Option<&Range<usize>>) -> &'s [I] {
        let n = finder.find(self.of, i, part);
        &finder.cols[..n]
    }
    #[inline(always)]
    fn append(&self, finder: &mut ColumnFinder<I>, task: &Task, lens: &mut [usize], out: &mut Vec<I>) -> Result<()> {
        match &task.cols {
            None => finder.append(self.of, task.rows.clone(), lens, out),
            part => {
                let row = self.row(finder, task.rows.start, part.as_ref());
                extend(out, row)?;
                lens[0] = row.len();
                Ok(())
            }
        }
    }
    #[inline(always)]
    fn count(&self, finder: &mut ColumnFinder<I>, task: &Task, lens: &mut [usize]) {
        match &task.cols {
            None => finder.count_rows(self.of, task.rows.clone(), lens),
            Some(part) => lens[0] = finder.count_part(self.of, task.rows.start, part),
        }
    }
    fn most(&self) -> u64 {
        self.work.flops
    }
    /// A row of C has all columns of the longest row of B that contributes to it.
    fn least(&self) -> u64 {
        (0..self.of.a.nrows()).map(|i| least_in_row(self.of, i)).sum()
    }
}

/// Lower bound on the entries of row i of A·B: the length of the longest row of B that contributes to it.
pub(super) fn least_in_row<I: Index>(of: Operands<'_, I>, i: usize) -> u64 {
    of.a.row(i).iter().map(|k| of.b.row(k.get()).len() as u64).max().unwrap_or(0)
}

/// The pattern of C, and the length of its longest row; no bitmap where `budget` has no room for it.
pub(super) fn structure<I: Index>(
    threads: &Threads,
    of: Operands<'_, I>,
    work: &Work,
    budget: &mut Budget,
) -> Result<(Pattern<I>, usize)> {
    let rows = |by| Rows { of, work, by };
    let lists = sorts(of, work) || !budget.fits(scratch(threads, work, &rows(Search::Bits)));
    collect(threads, of, work, &rows(if lists { Search::Lists } else { Search::Bits }), budget)
}

/// Whether multiplications are so few and columns so many that clearing a bitmap would take longer than sorting.
fn sorts<I: Index>(of: Operands<'_, I>, work: &Work) -> bool {
    of.b.ncols() as u64 / 256 > work.flops
}

/// What budget errors name.
const WHAT: &str = "the structure of C";

/// Widest B whose columns get stamps, four bytes each, when they are only counted. Stamps are not worth filling for
/// fewer than one multiplication per four columns.
const MAX_STAMPS: usize = 1 << 24;

/// The number of entries of C, and of its longest row.
pub(super) fn size<I: Index>(
    threads: &Threads,
    of: Operands<'_, I>,
    work: &Work,
    budget: &mut Budget,
) -> Result<(usize, usize)> {
    let rows = |by| Rows { of, work, by };
    // Words of compressed rows are fewer than products; otherwise stamps are the cheapest way to count.
    let stamps = of.packed.is_none() && of.b.ncols() <= MAX_STAMPS && of.b.ncols() as u64 / 4 <= work.flops;
    let first = if stamps { Search::Stamps } else { Search::Bits };
    let lists = sorts(of, work) || !budget.fits(scratch(threads, work, &rows(first)));
    let rows = rows(if lists { Search::Lists } else { first });
    budget.take(WHAT, bytes_of::<usize>(of.a.nrows()) + work.lens_bytes() + scratch(threads, work, &rows))?;
    let mut lens = Lengths::new(of.a.nrows(), work)?;
    let starts = count(threads, work, &rows, lens.of_tasks(work)?)?;
    Ok((starts[work.tasks.len()], lens.into_row_ptr(threads, work)?.1))
}

/// Bytes of the scratch of all threads.
pub(super) fn scratch<I: Index>(threads: &Threads, work: &Work, rows: &impl FindRows<I>) -> u128 {
    threads.workers(work.tasks.len()) as u128 * rows.bytes()
}

/// [`FindRows::append`], for [`dispatch_work`].
struct Append<'a, I: Index, R: FindRows<I>> {
    rows: &'a R,
    state: &'a mut R::State,
    task: &'a Task,
    lens: &'a mut [usize],
    cols: &'a mut Vec<I>,
}
impl<I: Index, R: FindRows<I>> simd::Work for Append<'_, I, R> {
    type Out = Result<()>;
    #[inline(always)]
    fn run(self) -> Result<()> {
        self.rows.append(self.state, self.task, self.lens, self.cols)
    }
}

/// [`FindRows::count`], for [`dispatch_work`].
struct Count<'a, I: Index, R: FindRows<I>> {
    rows: &'a R,
    state: &'a mut R::State,
    task: &'a Task,
    lens: &'a mut [usize],
}
impl<I: Index, R: FindRows<I>> simd::Work for Count<'_, I, R> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        self.rows.count(self.state, self.task, self.lens);
    }
}

/// Runs `work` with the instruction set that suits `R`.
#[inline(always)]
fn run<I: Index, R: FindRows<I>, W: simd::Work>(work: W) -> W::Out {
    if R::WIDE { dispatch_work(work) } else { work.run() }
}

/// The pattern whose rows are `rows`, and the length of the longest.
///
/// Where the upper bound fits, rows are found once. Otherwise they are counted first, so that C is written in place if
/// it fits and refused before any of it is computed if it does not.
pub(super) fn collect<I: Index, R: FindRows<I>>(
    threads: &Threads,
    of: Operands<'_, I>,
    work: &Work,
    rows: &R,
    budget: &mut Budget,
) -> Result<(Pattern<I>, usize)> {
    let (nrows, ncols) = (of.a.nrows(), of.b.ncols());
    budget.take(WHAT, bytes_of::<usize>(nrows) + work.lens_bytes() + scratch(threads, work, rows))?;
    let mut lens = Lengths::new(nrows, work)?;
    let most = u128::from(rows.most()) * size_of::<I>() as u128;
    // Blocks that wait for their turn lie in buffers that grow by doubling.
    let fits = if budget.is_limited() { budget.fits(4 * most) } else { true };
    let cols = if fits && enough(most) {
        // The upper bound is reserved, but pages are touched only where there are entries.
        let hint = usize::try_from(rows.most()).unwrap_or(0);
        let lens = lens.of_tasks(work)?;
        let state = || rows.state();
        append_blocks(threads, "symbolic", work.tasks.len(), hint, state, |s, t, cols: &mut Vec<I>| {
            let task = &work.tasks[t];
            let mut lens = lens[t].lock().unwrap_or_else(PoisonError::into_inner);
            run::<I, R, _>(Append { rows, state: s, task, lens: &mut lens, cols })
        })?
    } else {
        let least = u128::from(rows.least()) * size_of::<I>() as u128;
        if !budget.fits(least) {
            // The lower bound alone exceeds the budget: no need to count.
            budget.take(WHAT, least)?;
        }
        if !enough(least) {
            return Err(crate::Error::OutOfMemory { what: "columns of C", bytes: least });
        }
        let starts = count(threads, work, rows, lens.of_tasks(work)?)?;
        let nnz = starts[work.tasks.len()];
        budget.take(WHAT, bytes_of::<I>(nnz))?;
        UninitOutput::new(nnz, "columns of C")?.fill(
            threads,
            "symbolic",
            work.tasks.len(),
            |t| starts[t],
            || rows.state(),
            |s, t, cols| {
                let task = &work.tasks[t];
                let mut copy = || task.rows.clone().for_each(|i| cols.copy(rows.row(s, i, task.cols.as_ref())));
                if R::WIDE {
                    dispatch(copy)
                } else {
                    copy()
                }
                Ok(())
            },
        )?
    };
    let (row_ptr, longest) = lens.into_row_ptr(threads, work)?;
    Ok((Pattern::from_parts(nrows, ncols, row_ptr, cols, true), longest))
}

/// Writes the lengths of the rows to `lens`; returns the offset at which the columns of each task begin, and the total.
fn count<I: Index, R: FindRows<I>>(
    threads: &Threads,
    work: &Work,
    rows: &R,
    lens: Vec<Mutex<&mut [usize]>>,
) -> Result<Vec<usize>> {
    let tasks = work.tasks.len();
    let state = || rows.state();
    threads.for_each_beside("count", tasks, state, |s, t| {
        let task = &work.tasks[t];
        let mut lens = lens[t].lock().unwrap_or_else(PoisonError::into_inner);
        run::<I, R, _>(Count { rows, state: s, task, lens: &mut lens });
        Ok(())
    })?;
    let mut starts = filled(tasks + 1, 0usize, "tasks")?;
    for (t, lens) in lens.into_iter().enumerate() {
        let len: usize = lens.into_inner().unwrap_or_else(PoisonError::into_inner).iter().sum();
        starts[t + 1] = starts[t].saturating_add(len);
    }
    Ok(starts)
}

/// Lengths of rows while they are found. The parts of a split row share its length, so each part gets a slot.
pub(super) struct Lengths {
    row_ptr: Vec<usize>,
    parts: Vec<usize>,
}

impl Lengths {
    pub(super) fn new(nrows: usize, work: &Work) -> Result<Self> {
        let parts = work.tasks.iter().filter(|t| t.cols.is_some()).count();
        Ok(Self {
            row_ptr: zeros(nrows.saturating_add(1), "row pointers of C")?,
            parts: filled(parts, 0, "row pointers of C")?,
        })
    }
    /// The lengths that each task writes.
    pub(super) fn of_tasks(&mut self, work: &Work) -> Result<Vec<Mutex<&mut [usize]>>> {
        let mut lens = reserved(work.tasks.len(), "tasks")?;
        let (mut rows, mut parts, mut at) = (&mut self.row_ptr[1..], &mut self.parts[..], 0);
        for task in &work.tasks {
            if task.cols.is_some() {
                lens.push(Mutex::new(parts.split_off_mut(..1).unwrap_or_default()));
            } else {
                let _ = rows.split_off_mut(..task.rows.start - at);
                lens.push(Mutex::new(rows.split_off_mut(..task.rows.len()).unwrap_or_default()));
                at = task.rows.end;
            }
        }
        Ok(lens)
    }
    /// The row pointers, and the length of the longest row.
    pub(super) fn into_row_ptr(self, threads: &Threads, work: &Work) -> Result<(Vec<usize>, usize)> {
        let Self { mut row_ptr, parts } = self;
        let cut_rows = work.tasks.iter().filter(|t| t.cols.is_some()).map(|t| t.rows.start);
        for (i, len) in cut_rows.zip(parts) {
            row_ptr[i + 1] += len;
        }
        let longest = accumulate(threads, &mut row_ptr)?;
        Ok((row_ptr, longest))
    }
}

/// Upper bound on the bytes to hand out a task: its lock, its part of the result, its offset.
pub(super) const TASK: u128 = 64;

/// Values of C = A·B at the entries of `c`.
pub(super) struct Fill<'a, W, I: Index> {
    pub products: &'a dyn Multiply<W, I>,
    pub c: &'a Pattern<I>,
    pub tasks: &'a [Task],
    /// Entries in the longest row of C.
    pub longest: usize,
    /// Whether A·B has entries that C lacks.
    pub masked: bool,
    /// How the position of a column is found.
    pub lookup: Lookup,
    /// Scratch of the threads, cached between phases.
    pub scratch: &'a ScratchCache,
}

impl<W: Word, I: Index> Fill<'_, W, I> {
    /// Into new memory.
    pub(super) fn fresh(&self, threads: &Threads) -> Result<Vec<W>> {
        self.scratch.for_phase::<W>(threads.workers(self.tasks.len()), self.lookup);
        UninitOutput::new(self.c.nnz(), "values of C")?.fill(
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
        self.scratch.for_phase::<W>(threads.workers(self.tasks.len()), self.lookup);
        overwrite_blocks(
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
    /// Bytes that the threads take besides the values.
    pub(super) fn scratch(&self, threads: &Threads) -> u128 {
        let filler = RowFiller::<W>::bytes(self.c.ncols(), self.longest, self.masked, self.lookup);
        threads.workers(self.tasks.len()) as u128 * filler + self.tasks.len() as u128 * TASK
    }
    fn filler(&self) -> Result<Borrowed<'_, W>> {
        let identity = self.products.identity();
        self.scratch.filler(identity, self.lookup, || {
            RowFiller::new::<I>(identity, self.c.ncols(), self.longest, self.masked, self.lookup)
        })
    }
    /// Offset of the first entry of task `t`.
    fn start(&self, t: usize) -> usize {
        self.tasks.get(t).map_or(self.c.nnz(), |task| part_of_row(self.c, task.rows.start, task.cols.as_ref()).start)
    }
}
