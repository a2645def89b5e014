//! The first part of the numeric phase: the columns of C.
//!
//! With a compressed B, the words of a row are gathered as in the symbolic phase, and their bits are read off in order.
//! Otherwise rows come out in the order of the accumulator and are then sorted one by one, unless unsorted rows are
//! allowed; a dense accumulator uses a bitmap. Rows of few products are sorted in registers.

use std::ops::Range;

use super::super::accumulator::{Columns, Pools, Rows, Table, Worker};
use super::super::budget::bytes_of;
use super::super::columns::{ColumnFinder, Search};
use super::super::select::Kind;
use super::super::shifted_rows::Operands;
use super::super::{Compress, choice};
use super::found::{RowsOfB, Symbolic, start, workers};
use super::sort::RowSort;
use crate::par::{OutputSlice, Threads, UninitOutput};
use crate::simd::{self, SHORT, ShortList, dispatch_work};
use crate::sparse::{BitRows, units};
use crate::{Index, Pattern, Result};

/// Prefetch distance: entries of A ahead of the current one whose rows of B are prefetched.
const AHEAD: usize = 8;

/// The columns of C = A·B, whose row pointers are those of `symbolic`. Cost: O(flops), or the compressed fraction of
/// it, and O(nnz(C) log d) for sorting rows of d entries.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub(in crate::spgemm) fn columns<I: Index>(
    threads: &Threads,
    symbolic: &Symbolic,
    (a, b): (&Pattern<I>, &Pattern<I>),
) -> Result<Vec<I>> {
    let by = Finding { threads, symbolic, a, b };
    match (kind(symbolic), symbolic.words) {
        (Kind::Dense, Some(_)) if reads_words(symbolic, (a, b)) => by.dense(Some(&BitRows::new(threads, b)?)),
        (Kind::Dense, _) => by.dense(None),
        (kind, None) => by.gathered(kind, RowsOfB { ptr: b.row_ptr(), keys: b.col_idx(), bits: units(b.nnz()) }),
        (kind, Some(_)) => by.gathered(kind, RowsOfB::packed(&BitRows::<u32, I>::new(threads, b)?)),
    }
}

/// Whether the dense accumulator's bitmap is set by words, by the rule of our own policy: rows of few products are
/// sorted faster.
fn reads_words<I: Index>(symbolic: &Symbolic, (a, b): (&Pattern<I>, &Pattern<I>)) -> bool {
    let mean = symbolic.flops as f64 / a.nrows().max(1) as f64;
    choice::worth_counting(Compress::Auto, mean, symbolic.flops, b.nnz())
        && symbolic.cf.is_some_and(choice::compression_pays)
}

/// The accumulator for the columns: the one that gathers words, if B was compressed.
fn kind(symbolic: &Symbolic) -> Kind {
    if symbolic.words.is_some() { symbolic.symbolic } else { symbolic.numeric }
}

/// Bytes that [`columns`] takes besides its result.
pub(super) fn scratch<I: Index>(threads: &Threads, symbolic: &Symbolic, (a, b): (&Pattern<I>, &Pattern<I>)) -> u128 {
    let (workers, longest, settings) =
        (workers(threads, symbolic.tasks.len()), symbolic.max_row_nnz, &symbolic.settings);
    // With words, fewer rows count as short.
    let most = symbolic.max_row_flops.max(if symbolic.words.is_some() { SHORT as u64 + 1 } else { 0 });
    let dense = ColumnFinder::bytes(operands(a, b, None), most, Search::Bits);
    let words = symbolic
        .words
        .map_or(0, |words| BitRows::<u64, I>::count_bytes(threads, b) + bytes_of::<I>(words) + bytes_of::<u64>(words));
    let pools = match symbolic.words {
        Some(_) => Pools::<I, u32, ColumnFinder<I>>::bytes(workers, kind(symbolic), longest, settings, dense),
        None => Pools::<I, (), ColumnFinder<I>>::bytes(workers, kind(symbolic), longest, settings, dense),
    };
    let sorted = RowSort::<I>::bytes(b.ncols(), longest) + bytes_of::<(I, u32)>(longest);
    pools.saturating_add(words).saturating_add(workers as u128 * sorted)
}

fn operands<'a, I: Index>(
    a: &'a Pattern<I>,
    b: &'a Pattern<I>,
    packed: Option<&'a BitRows<u64, I>>,
) -> Operands<'a, I> {
    Operands { a, b, packed, shifted_b: None }
}

/// Finds the columns.
struct Finding<'a, I: Index> {
    threads: &'a Threads,
    symbolic: &'a Symbolic,
    a: &'a Pattern<I>,
    b: &'a Pattern<I>,
}

impl<I: Index> Finding<'_, I> {
    /// By a bitmap.
    fn dense(&self, packed: Option<&BitRows<u64, I>>) -> Result<Vec<I>> {
        let &Self { symbolic, a, b, .. } = self;
        let of = operands(a, b, packed);
        let new = || ColumnFinder::new(of, symbolic.max_row_flops, Search::Bits);
        self.each_task(&self.pools::<(), _>(Kind::Dense, new)?, |worker, rows, cols, _| {
            if let Worker::Dense(pool) = worker {
                dispatch_work(Find { of, finder: &mut *pool.take(), rows, cols });
            }
            Ok(())
        })
    }
    /// By a hash map over the keys of `words`.
    fn gathered<V: Emit>(&self, kind: Kind, words: RowsOfB<'_, I, V>) -> Result<Vec<I>> {
        let pools = self.pools::<V, ()>(kind, || Ok(()))?;
        self.each_task(&pools, |worker, rows, cols, sort| match worker {
            Worker::LinkedList(levels) => levels.rows(|row| self.gather(words, row, rows, cols, sort)),
            Worker::LinearProbe(levels) => levels.rows(|row| self.gather(words, row, rows, cols, sort)),
            Worker::Dense(_) => Ok(()),
        })
    }

    fn pools<V: Columns, D: Send>(&self, kind: Kind, dense: impl Fn() -> Result<D> + Sync) -> Result<Pools<I, V, D>> {
        let &Self { threads, symbolic, .. } = self;
        let workers = workers(threads, symbolic.tasks.len());
        Pools::new(threads, workers, kind, symbolic.max_row_nnz, &symbolic.settings, dense)
    }
    fn each_task<V: Columns, D: Send>(
        &self,
        pools: &Pools<I, V, D>,
        work: impl Fn(&mut Worker<'_, I, V, D>, Range<usize>, &mut OutputSlice<'_, I>, &mut RowSort<I>) -> Result<()> + Sync,
    ) -> Result<Vec<I>> {
        let &Self { threads, symbolic, a, b } = self;
        let (tasks, row_ptr) = (&symbolic.tasks, &symbolic.row_ptr);
        UninitOutput::new(symbolic.nnz(), "columns of C")?.fill(
            threads,
            "numeric",
            tasks.len(),
            |t| row_ptr[start(tasks, a.nrows(), t)],
            || Ok((pools.worker()?, RowSort::new(b.ncols(), symbolic.max_row_nnz))),
            |(worker, sort), t, cols| work(worker, tasks[t].clone(), cols, sort),
        )
    }

    #[inline(never)]
    fn gather<V: Emit, A: Table<I, V>>(
        &self,
        words: RowsOfB<'_, I, V>,
        row: &mut Rows<'_, I, V, A>,
        rows: Range<usize>,
        cols: &mut OutputSlice<'_, I>,
        sort: &mut RowSort<I>,
    ) -> Result<()> {
        let &Self { symbolic, a, b, .. } = self;
        let (mut list, mut sorted) = (ShortList::new(), [I::LAST; SHORT + SHORT]);
        for i in rows {
            let (ks, len) = (a.row(i), symbolic.row_ptr[i + 1] - symbolic.row_ptr[i]);
            if let [k] = ks
                && (!symbolic.sorts() || b.is_sorted())
            {
                cols.copy(b.row(k.get()));
                continue;
            }
            let products = ks.iter().map(|k| b.row(k.get()).len()).fold(0, usize::saturating_add);
            if products <= V::SHORT {
                list.clear();
                ks.iter().for_each(|k| list.push_all(b.col_idx(), b.row(k.get())));
                list.sort_dedup(&mut sorted);
                cols.copy(&sorted[..len]);
                continue;
            }
            row.begin(len);
            for p in a.row_ptr()[i]..a.row_ptr()[i + 1] {
                if let Some(k) = a.col_idx().get(p + AHEAD) {
                    words.prefetch(k.get());
                }
                let (keys, bits) = words.row(a.col_idx()[p].get());
                row.insert(keys, |t| bits[t]);
            }
            V::emit(row, cols.take(len, I::LAST), symbolic.sorts(), sort)?;
            row.clear();
        }
        Ok(())
    }
}

/// Reads off the columns of a row from its keys.
trait Emit: Columns {
    /// Rows of at most this many products are sorted in registers.
    const SHORT: usize;
    /// Writes the columns of the keys to `cols`, which has the length of the row; sorted if `sorts`.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    fn emit<I: Index, A: Table<I, Self>>(
        row: &Rows<'_, I, Self, A>,
        cols: &mut [I],
        sorts: bool,
        sort: &mut RowSort<I>,
    ) -> Result<()>;
}
impl Emit for () {
    const SHORT: usize = SHORT;
    #[inline(always)]
    fn emit<I: Index, A: Table<I, ()>>(
        row: &Rows<'_, I, (), A>,
        cols: &mut [I],
        sorts: bool,
        sort: &mut RowSort<I>,
    ) -> Result<()> {
        row.keys(cols);
        if sorts { sort.row(cols) } else { Ok(()) }
    }
}
impl Emit for u32 {
    /// Reading words is faster than sorting short lists, unless the list is very short.
    const SHORT: usize = SHORT / 4;
    #[inline(always)]
    fn emit<I: Index, A: Table<I, u32>>(
        row: &Rows<'_, I, u32, A>,
        cols: &mut [I],
        _: bool,
        sort: &mut RowSort<I>,
    ) -> Result<()> {
        let mut cols = cols.iter_mut();
        let all = |words: &mut Vec<(I, u32)>| row.each(|set, bits| words.push((set, bits)));
        sort.words(row.len(), all, |set, mut bits| {
            while bits != 0 {
                if let Some(j) = cols.next() {
                    *j = I::cast((set.get() << 5) + bits.trailing_zeros() as usize);
                }
                bits &= bits - 1;
            }
        })
    }
}

/// Columns by a bitmap, for [`dispatch_work`].
struct Find<'a, 's, 'c, I: Index> {
    of: Operands<'a, I>,
    finder: &'a mut ColumnFinder<I>,
    rows: Range<usize>,
    cols: &'c mut OutputSlice<'s, I>,
}

impl<I: Index> simd::Work for Find<'_, '_, '_, I> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let Self { of, finder, rows, cols } = self;
        for i in rows {
            let n = finder.find(of, i, None);
            cols.copy(&finder.cols[..n]);
        }
    }
}
