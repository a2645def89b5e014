//! The symbolic phase: the length of each row of C.

use std::ops::Range;

use super::super::accumulator::{Columns, DenseCounter, Pools, Rows, Table, Worker};
use super::super::budget::{Budget, bytes_of};
use super::super::select::{self, Kind, KkSettings, Phase};
use super::super::stats::compression_by;
use super::super::{Accumulator, Compress, Options, Policy, tasks};
use super::found::{RowsOfB, Symbolic, start, whole_rows, workers};
use crate::par::{Threads, filled, overwrite_blocks};
use crate::simd::{self, dispatch_work};
use crate::sparse::{BitRows, out_of_memory, units};
use crate::{Error, Index, Pattern, Result};

/// Prefetch distance: entries of A ahead of the current one whose rows of B are prefetched.
const AHEAD: usize = 8;

const WORDS: &str = "B with 32 columns to a word";

/// Lengths of the rows of C = A·B. Cost: O(flops), or the compressed fraction of it, and O(nnz(A) + nnz(B)).
/// # Errors
/// [`Error::Shape`]; [`Error::Argument`] for settings out of range; [`Error::Budget`]; [`Error::OutOfMemory`].
pub(in crate::spgemm) fn symbolic<I: Index>(
    threads: &Threads,
    a: &Pattern<I>,
    b: &Pattern<I>,
    options: &Options,
    budget: &mut Budget,
) -> Result<Symbolic> {
    if a.ncols() != b.nrows() {
        return Err(Error::Shape { op: "mxm", lhs: a.shape(), rhs: b.shape() });
    }
    options.kk.check()?;
    let settings = &options.kk;
    let work = tasks::cut(threads, a, b)?;
    let tasks = whole_rows(&work)?;
    budget.take("the tasks of a product", work.bytes() + bytes_of::<Range<usize>>(tasks.len()))?;

    // B is counted first, and filled only if that saves enough work; `Off` does not even count.
    let counts = match options.compress {
        Compress::Off => None,
        _ => {
            budget.take(WORDS, BitRows::<u32, I>::count_bytes(threads, b))?;
            Some(BitRows::<u32, I>::count(threads, b)?)
        }
    };
    let saved = counts.as_ref().map(|counts| compression_by(threads, a, b, counts)).transpose()?;
    let (compressed, why_compressed) =
        select::compresses(options.compress, saved.map(|s| s.cf), settings.compress_cutoff);
    if let Some(counts) = counts.as_ref().filter(|_| compressed) {
        budget.take(WORDS, counts.fill_bytes())?;
    }
    let packed = counts.filter(|_| compressed).map(|counts| counts.fill(threads)).transpose()?;

    // A word stands for 32 columns, so both the keys and the bound on a row's length shrink.
    let keys = if compressed { b.ncols().div_ceil(32) } else { b.ncols() };
    let most = if compressed { saved.map_or(work.max_row_flops, |s| s.compressed_max_row) } else { work.max_row_flops };
    let longest = usize::try_from(most).unwrap_or(usize::MAX).min(keys);
    let choose = |phase, keys, longest| select::accumulator(options.accumulator, phase, keys, longest, settings);
    let (kind, why) = choose(Phase::Symbolic { compressed }, keys, longest);

    let len = a.nrows().checked_add(1).ok_or_else(|| out_of_memory::<usize>("row pointers of C", a.nrows()))?;
    let n = workers(threads, tasks.len());
    // The first numeric phase copies the row pointers, and its budget covers them from then on.
    budget.take("the lengths of rows of C", bytes_of::<usize>(len) + bytes_of::<[usize; 8]>(tasks.len()))?;
    let mut row_ptr = filled(len, 0usize, "row pointers of C")?;
    let by = Counting { threads, workers: n, kind, keys, longest, settings };
    let lens = &mut row_ptr[1..];
    match &packed {
        Some(packed) => {
            let rows = RowsOfB::packed(packed);
            by.count((a, b.row_ptr()), rows, &tasks, budget, lens)?;
        }
        None => {
            let rows = RowsOfB { ptr: b.row_ptr(), keys: b.col_idx(), bits: units(b.nnz()) };
            by.count((a, b.row_ptr()), rows, &tasks, budget, lens)?;
        }
    }
    let (mut sum, mut max_row_nnz) = (0usize, 0);
    for n in &mut row_ptr {
        max_row_nnz = max_row_nnz.max(*n);
        sum = sum.checked_add(*n).ok_or_else(|| out_of_memory::<I>("entries of C", usize::MAX))?;
        *n = sum;
    }

    let (numeric, why_numeric) = choose(Phase::Numeric, b.ncols(), max_row_nnz);
    let policy = if options.policy == Policy::KkSpGemm { "kkSpGEMM" } else { "accumulators of kkSpGEMM" };
    let windows = numeric != Kind::Dense && options.accumulator == Accumulator::Auto;
    let narrow = if windows { ", narrow rows by windows" } else { "" };
    let order = if options.unsorted { "" } else { "; rows sorted at the end" };
    Ok(Symbolic {
        row_ptr,
        flops: work.flops,
        max_row_flops: work.max_row_flops,
        max_row_nnz,
        cf: saved.map(|s| s.cf),
        cmrf: saved.map(|s| s.cmrf),
        words: packed.map(|packed| packed.pairs()),
        symbolic: kind,
        numeric,
        windows,
        reasons: format!("{policy}: {why_numeric}{narrow}, {why}, {why_compressed}{order}"),
        tasks,
        settings: settings.clone(),
        unsorted: options.unsorted,
    })
}

/// A block of rows of C whose lengths are counted.
#[derive(Clone)]
struct Part<'a, I: Index, V> {
    a: &'a Pattern<I>,
    /// Row pointers of uncompressed B.
    plain: &'a [usize],
    b: RowsOfB<'a, I, V>,
    rows: Range<usize>,
}

/// The parameters of the count.
struct Counting<'a> {
    threads: &'a Threads,
    workers: usize,
    kind: Kind,
    /// All keys are below this.
    keys: usize,
    /// Most keys of a row.
    longest: usize,
    settings: &'a KkSettings,
}

impl Counting<'_> {
    /// Writes the lengths of all rows of C to `lens`.
    fn count<I: Index, V: Columns>(
        &self,
        (a, plain): (&Pattern<I>, &[usize]),
        b: RowsOfB<'_, I, V>,
        tasks: &[Range<usize>],
        budget: &mut Budget,
        lens: &mut [usize],
    ) -> Result<()> {
        let &Self { threads, workers, kind, keys, longest, settings } = self;
        let dense = V::Dense::<I>::bytes(keys, longest);
        budget.take("accumulators", Pools::<I, V, V::Dense<I>>::bytes(workers, kind, longest, settings, dense))?;
        let pools = Pools::<I, V, _>::new(threads, workers, kind, longest, settings, || V::Dense::new(keys, longest))?;
        overwrite_blocks(
            lens,
            threads,
            "symbolic",
            tasks.len(),
            |t| start(tasks, a.nrows(), t),
            || pools.worker(),
            |worker, t, slots| {
                let (part, lens) = (Part { a, plain, b, rows: tasks[t].clone() }, slots.take(tasks[t].len(), 0));
                match worker {
                    Worker::LinkedList(levels) => levels.rows(|rows| part.count_by_table(rows, lens)),
                    Worker::LinearProbe(levels) => levels.rows(|rows| part.count_by_table(rows, lens)),
                    // For the popcount, which baseline x86-64 lacks.
                    Worker::Dense(pool) => dispatch_work(CountDense { part, dense: &mut *pool.take(), lens }),
                }
                Ok(())
            },
        )
    }
}

impl<I: Index, V: Columns> Part<'_, I, V> {
    /// The length of row `i` of C, if A has at most one entry there: that of a row of B, or 0.
    #[inline(always)]
    fn single(&self, i: usize) -> Option<usize> {
        match self.a.row(i) {
            [] => Some(0),
            [k] => Some(self.plain[k.get() + 1] - self.plain[k.get()]),
            _ => None,
        }
    }
    /// The words of the row of B that entry `p` of A selects; prefetches those of later entries.
    #[inline(always)]
    fn words(&self, p: usize) -> (&[I], &[V]) {
        if let Some(k) = self.a.col_idx().get(p + AHEAD) {
            self.b.prefetch(k.get());
        }
        self.b.row(self.a.col_idx()[p].get())
    }

    #[inline(never)]
    fn count_by_table<A: Table<I, V>>(&self, row: &mut Rows<'_, I, V, A>, lens: &mut [usize]) {
        for (i, len) in self.rows.clone().zip(lens) {
            *len = self.single(i).unwrap_or_else(|| {
                let bound = self.a.row(i).iter().map(|k| self.b.ptr[k.get() + 1] - self.b.ptr[k.get()]);
                row.begin(bound.fold(0, usize::saturating_add));
                for p in self.a.row_ptr()[i]..self.a.row_ptr()[i + 1] {
                    let (keys, bits) = self.words(p);
                    row.insert(keys, |t| bits[t]);
                }
                let n = row.count();
                row.clear();
                n
            });
        }
    }
}

/// A block of rows of C whose lengths are counted by a dense accumulator, for [`dispatch_work`].
struct CountDense<'a, I: Index, V: Columns> {
    part: Part<'a, I, V>,
    dense: &'a mut V::Dense<I>,
    lens: &'a mut [usize],
}

impl<I: Index, V: Columns> simd::Work for CountDense<'_, I, V> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let Self { part, dense, lens } = self;
        for (i, len) in part.rows.clone().zip(lens) {
            if let Some(n) = part.single(i) {
                *len = n;
                continue;
            }
            for p in part.a.row_ptr()[i]..part.a.row_ptr()[i + 1] {
                let (keys, bits) = part.words(p);
                dense.add(keys, bits);
            }
            *len = dense.take_count();
        }
    }
}
