//! The numeric phase: columns and values of C, or its values alone where the columns are known.
//!
//! Rows come out in the order of the accumulator, and are then sorted one by one unless any order will do.
//!
//! The accumulator turns the columns of a row of B into slots, and one call of [`Multiply::to_slots`] then folds the
//! products of that row into them.

use std::ops::Range;

use super::super::accumulator::{Levels, Pools, SLOTS, Shape, Table, Worker};
use super::super::budget::bytes_of;
use super::found::{Symbolic, workers};
use crate::algebra::Word;
use crate::kernels::Multiply;
use crate::par::{Fresh, Slots, Threads, refill};
use crate::simd::prefetch;
use crate::sparse::Scratch;
use crate::{Error, Index, Pattern, Result};

/// Entries of A ahead of the current one whose rows of B are asked for.
const AHEAD: usize = 8;

/// Columns and values of C = A·B, whose row pointers are those of `symbolic`. Cost: O(flops), and
/// O(nnz(C) log d) for sorting rows of d entries.
/// # Errors
/// [`Error::OutOfMemory`].
pub(in crate::spgemm) fn numeric<W: Word, I: Index>(
    threads: &Threads,
    symbolic: &Symbolic,
    products: &dyn Multiply<W, I>,
) -> Result<(Vec<I>, Vec<W>)> {
    let (a, b) = products.patterns();
    let (tasks, row_ptr, ncols) = (&symbolic.tasks, &symbolic.row_ptr, b.ncols());
    let pools = pools::<W, I>(threads, symbolic, ncols, products.identity())?;
    let cols = Fresh::new(symbolic.nnz(), "columns of C")?;
    let values = Fresh::new(symbolic.nnz(), "values of C")?;
    cols.fill_with(
        values,
        threads,
        "numeric",
        tasks.len(),
        |t| row_ptr[start(tasks, a.nrows(), t)],
        || Ok((pools.worker()?, Scratch::default())),
        |(worker, scratch), t, cols, values| {
            let sort = symbolic.sorts().then_some((threads, scratch, ncols));
            let out = Output::Fresh { row_ptr, cols, values, sort };
            fill_task(worker, products, tasks[t].clone(), out)
        },
    )
}

/// Values of C = A·B for the entries of `c`, which has the structure that `symbolic` found, its rows in any
/// order; nothing is allocated but the accumulators. Cost: O(flops).
/// # Errors
/// [`Error::PatternChanged`] if `c` has other row pointers, [`Error::Length`] if there is not one value per
/// entry, [`Error::OutOfMemory`].
pub(in crate::spgemm) fn numeric_into<W: Word, I: Index>(
    threads: &Threads,
    symbolic: &Symbolic,
    products: &dyn Multiply<W, I>,
    c: &Pattern<I>,
    values: &mut [W],
) -> Result<()> {
    if c.row_ptr() != symbolic.row_ptr {
        return Err(Error::PatternChanged { operand: "C", found: c.nnz(), planned: symbolic.nnz() });
    }
    if values.len() != c.nnz() {
        return Err(Error::Length { what: "values", found: values.len(), expected: c.nnz() });
    }
    let tasks = &symbolic.tasks;
    let (a, b) = products.patterns();
    let pools = pools::<W, I>(threads, symbolic, b.ncols(), products.identity())?;
    refill(
        values,
        threads,
        "numeric",
        tasks.len(),
        |t| c.row_ptr()[start(tasks, a.nrows(), t)],
        || pools.worker(),
        |worker, t, values| fill_task(worker, products, tasks[t].clone(), Output::InPlace { c, values }),
    )
}

/// Bytes that a numeric phase takes beside C, for which it copies the row pointers.
pub(in crate::spgemm) fn scratch<W: Word, I: Index>(
    threads: &Threads,
    symbolic: &Symbolic,
    products: &dyn Multiply<W, I>,
) -> u128 {
    let shape = shape(symbolic, products.patterns().1.ncols(), products.identity());
    let workers = workers(threads, symbolic.tasks.len());
    let pools = Pools::<I, W>::bytes(workers, symbolic.numeric, symbolic.max_row_nnz, shape, &symbolic.settings);
    // A row that is sorted is there twice more, by key and by value.
    let sorted = if symbolic.sorts() { bytes_of::<(u64, u64, W)>(symbolic.max_row_nnz) } else { 0 };
    let tasks = bytes_of::<[usize; 16]>(symbolic.tasks.len());
    pools.saturating_add(workers as u128 * sorted).saturating_add(tasks)
}

fn shape<W>(symbolic: &Symbolic, ncols: usize, empty: W) -> Shape<W> {
    Shape { keys: ncols, growth: 4, max_occupancy: symbolic.settings.max_occupancy, empty }
}

/// The first row of task `t`.
fn start(tasks: &[Range<usize>], nrows: usize, t: usize) -> usize {
    tasks.get(t).map_or(nrows, |rows| rows.start)
}

fn pools<W: Word, I: Index>(threads: &Threads, symbolic: &Symbolic, ncols: usize, empty: W) -> Result<Pools<I, W>> {
    let settings = &symbolic.settings;
    let shape = shape(symbolic, ncols, empty);
    let workers = workers(threads, symbolic.tasks.len());
    Pools::new(threads, workers, symbolic.numeric, symbolic.max_row_nnz, shape, settings)
}

/// Where the rows of a task go.
enum Output<'o, 's, 't, I: Index, W> {
    /// New columns and values, to be sorted or not.
    Fresh {
        row_ptr: &'o [usize],
        cols: &'o mut Slots<'s, I>,
        values: &'o mut Slots<'t, W>,
        sort: Option<(&'o Threads, &'o mut Scratch<W>, usize)>,
    },
    /// Values for the columns of `c`.
    InPlace { c: &'o Pattern<I>, values: &'o mut Slots<'t, W> },
}

fn fill_task<W: Word, I: Index>(
    worker: &mut Worker<'_, I, W>,
    products: &dyn Multiply<W, I>,
    rows: Range<usize>,
    out: Output<'_, '_, '_, I, W>,
) -> Result<()> {
    match worker {
        Worker::LinkedList(levels) => fill_rows(levels, products, rows, out),
        Worker::LinearProbe(levels) => fill_rows(levels, products, rows, out),
        Worker::Dense(levels) => fill_rows(levels, products, rows, out),
    }
}

#[inline(never)]
fn fill_rows<W: Word, I: Index, A: Table<I, W>>(
    levels: &mut Levels<'_, A>,
    products: &dyn Multiply<W, I>,
    rows: Range<usize>,
    mut out: Output<'_, '_, '_, I, W>,
) -> Result<()> {
    let (a, b) = products.patterns();
    let (identity, mut slots) = (products.identity(), [0; SLOTS]);
    let (acols, bptr, bcols) = (a.col_idx(), b.row_ptr(), b.col_idx());
    for i in rows {
        let filled = levels.row::<I, W, _>(|row| {
            for p in a.row_ptr()[i]..a.row_ptr()[i + 1] {
                if let Some(k) = acols.get(p + AHEAD) {
                    prefetch(bcols, bptr[k.get()]);
                }
                let k = acols[p].get();
                let fold = |values: &mut [W], slots: &[usize], from| {
                    products.to_slots(i, p, bptr[k] + from, values, slots);
                };
                row.runs(&bcols[bptr[k]..bptr[k + 1]], &mut slots, fold);
            }
            match &mut out {
                Output::Fresh { row_ptr, cols, values, .. } => {
                    let len = row_ptr[i + 1] - row_ptr[i];
                    debug_assert_eq!(row.len::<I, W>(), len, "row {i}");
                    let cols = cols.take(len, I::LAST);
                    let values = values.take(len, identity);
                    let mut places = cols.iter_mut().zip(values.iter_mut());
                    row.each(|j, z| {
                        if let Some(place) = places.next() {
                            (*place.0, *place.1) = (j, z);
                        }
                    });
                    Some((cols, values))
                }
                Output::InPlace { c, values } => {
                    let cols = c.row(i);
                    for (z, &j) in values.take(cols.len(), identity).iter_mut().zip(cols) {
                        if let Some(value) = row.get(j) {
                            *z = value;
                        }
                    }
                    None
                }
            }
        });
        // Only here, the chunk being back in the pool: sorting a long row may run other rows on this thread,
        // and those may wait for a chunk.
        if let (Some((cols, values)), Output::Fresh { sort: Some((threads, scratch, ncols)), .. }) = (filled, &mut out)
        {
            scratch.sort_row_if_needed(threads, *ncols, cols, values)?;
        }
    }
    Ok(())
}
