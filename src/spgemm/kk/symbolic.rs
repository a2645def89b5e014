//! The symbolic phase: how long each row of C is.

use std::ops::Range;

use super::super::accumulator::{Levels, Pools, Shape, Table, Worker};
use super::super::budget::{Budget, bytes_of};
use super::super::select::{self, Phase};
use super::super::stats::compression_by;
use super::super::{Compress, Options, Policy, tasks};
use super::found::{Symbolic, whole_rows, workers};
use crate::par::{Threads, filled, refill};
use crate::simd::{self, dispatch_work, prefetch};
use crate::sparse::{BitRows, out_of_memory, units};
use crate::{Error, Index, Pattern, Result};

/// Entries of A ahead of the current one whose rows of B are asked for.
const AHEAD: usize = 8;

const WORDS: &str = "B with 32 columns to a word";

/// Lengths of the rows of C = A·B. Cost: O(flops), or what compression leaves of it, and O(nnz(A) + nnz(B)).
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

    // B is counted first and filled only if that saves enough; `Off` does not even count.
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
    // The first numeric phase copies the row pointers; its count of bytes is from there on.
    budget.take("the lengths of rows of C", bytes_of::<usize>(len) + bytes_of::<[usize; 8]>(tasks.len()))?;
    let mut row_ptr = filled(len, 0usize, "row pointers of C")?;
    match &packed {
        Some(packed) => {
            let shape = Shape { keys, growth: 2, max_occupancy: settings.max_occupancy, empty: 0u32 };
            budget.take("accumulators", Pools::<I, u32>::bytes(n, kind, longest, shape, settings))?;
            let pools = Pools::new(threads, n, kind, longest, shape, settings)?;
            let rows = Rows { ptr: packed.sets().row_ptr(), keys: packed.sets().col_idx(), bits: packed.words() };
            count_all(threads, &pools, a, rows, &tasks, &mut row_ptr[1..])?;
        }
        None => {
            let shape = Shape { keys, growth: 2, max_occupancy: settings.max_occupancy, empty: () };
            budget.take("accumulators", Pools::<I, ()>::bytes(n, kind, longest, shape, settings))?;
            let pools = Pools::new(threads, n, kind, longest, shape, settings)?;
            let rows = Rows { ptr: b.row_ptr(), keys: b.col_idx(), bits: units(b.nnz()) };
            count_all(threads, &pools, a, rows, &tasks, &mut row_ptr[1..])?;
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
    let order = if options.unsorted { "" } else { "; rows sorted at the end" };
    Ok(Symbolic {
        row_ptr,
        flops: work.flops,
        max_row_flops: work.max_row_flops,
        max_row_nnz,
        cf: saved.map(|s| s.cf),
        cmrf: saved.map(|s| s.cmrf),
        #[cfg(test)]
        compressed,
        #[cfg(test)]
        symbolic: kind,
        numeric,
        reasons: format!("{policy}: {why_numeric}, {why}, {why_compressed}{order}"),
        tasks,
        settings: settings.clone(),
        unsorted: options.unsorted,
    })
}

/// What a key of the symbolic phase carries: the columns of a word, or nothing beside the column itself.
trait Columns: Copy + Send + Sync + 'static {
    /// Both sets.
    fn or(self, other: Self) -> Self;
    /// Number of columns.
    fn count(self) -> usize;
}
impl Columns for u32 {
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self | other
    }
    #[inline(always)]
    fn count(self) -> usize {
        self.count_ones() as usize
    }
}
impl Columns for () {
    #[inline(always)]
    fn or(self, (): Self) {}
    #[inline(always)]
    fn count(self) -> usize {
        1
    }
}

/// Rows of B, compressed or not.
#[derive(Clone, Copy)]
struct Rows<'b, I, W> {
    ptr: &'b [usize],
    keys: &'b [I],
    bits: &'b [W],
}

/// Lengths of all rows of C, to `lens`.
fn count_all<I: Index, W: Columns>(
    threads: &Threads,
    pools: &Pools<I, W>,
    a: &Pattern<I>,
    b: Rows<'_, I, W>,
    tasks: &[Range<usize>],
    lens: &mut [usize],
) -> Result<()> {
    let start = |t: usize| tasks.get(t).map_or(a.nrows(), |rows| rows.start);
    refill(
        lens,
        threads,
        "symbolic",
        tasks.len(),
        start,
        || pools.worker(),
        |worker, t, slots| {
            let (rows, lens) = (tasks[t].clone(), slots.take(tasks[t].len(), 0));
            // For the popcount, which the baseline of x86-64 lacks.
            match worker {
                Worker::LinkedList(levels) => dispatch_work(Count { levels, a, b, rows, lens }),
                Worker::LinearProbe(levels) => dispatch_work(Count { levels, a, b, rows, lens }),
                Worker::Dense(levels) => dispatch_work(Count { levels, a, b, rows, lens }),
            }
            Ok(())
        },
    )
}

/// Rows of C whose lengths are counted, for [`dispatch_work`].
struct Count<'a, 'l, I: Index, W, A> {
    levels: &'a mut Levels<'l, A>,
    a: &'a Pattern<I>,
    b: Rows<'a, I, W>,
    rows: Range<usize>,
    lens: &'a mut [usize],
}

impl<I: Index, W: Columns, A: Table<I, W>> simd::Work for Count<'_, '_, I, W, A> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let Self { levels, a, b, rows, lens } = self;
        let cols = a.col_idx();
        for (i, len) in rows.zip(lens) {
            *len = levels.row::<I, W, _>(|row| {
                for p in a.row_ptr()[i]..a.row_ptr()[i + 1] {
                    if let Some(k) = cols.get(p + AHEAD) {
                        prefetch(b.keys, b.ptr[k.get()]);
                        prefetch(b.bits, b.ptr[k.get()]);
                    }
                    let k = cols[p].get();
                    let range = b.ptr[k]..b.ptr[k + 1];
                    for (&key, &bits) in b.keys[range.clone()].iter().zip(&b.bits[range]) {
                        row.add(key, |columns| columns.or(bits));
                    }
                }
                let mut n = 0;
                row.each(|_: I, columns: W| n += columns.count());
                n
            });
        }
    }
}
