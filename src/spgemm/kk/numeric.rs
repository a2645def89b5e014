//! The second part of the numeric phase: the values of C, whose columns are known.
//!
//! A hash map gives each column its position in the row and translates the columns of rows of B into positions. A call
//! of [`Multiply::to_slots`] then folds many products straight into C. The dense accumulator is that of our own policy.
//! Narrow rows go through a dense window at any width of C, unless a hash map was forced.

use std::ops::Range;

use super::super::accumulator::{Pools, Rows, Table, Worker};
use super::super::budget::bytes_of;
use super::super::tasks::Task;
use super::super::values::{Lookup, RowFiller, fits_window};
use super::columns;
use super::found::{Symbolic, start, workers};
use crate::algebra::Word;
use crate::kernels::{Multiply, RowsOfC};
use crate::par::{OutputSlice, Threads, UninitOutput, filled, overwrite_blocks};
use crate::simd::RowsOf;
use crate::{Error, Index, Pattern, Result};

/// Prefetch distance: entries of A ahead of the current one whose rows of B are prefetched.
const AHEAD: usize = 8;

/// Positions found before values are updated. They stay in the first-level cache.
const POSITIONS: usize = 256;

/// Widest row that goes through the window where the accumulator is a hash map: 512 KiB of doubles.
///
/// Numeric phase alone by lists and by windows, one thread, restricted to AVX2 (ms): lap2d_1000 92, 40; a grid of 80³
/// points 87, 37; cnr-2000 282, 200. Other widths were not tried.
pub(super) const WINDOW: usize = 1 << 16;

/// Values of C = A·B for the entries of `c`, which has the structure found by `symbolic`, its rows in any order. Cost:
/// O(flops).
/// # Errors
/// [`Error::PatternChanged`] if `c` has other row pointers, [`Error::OutOfMemory`].
pub(in crate::spgemm) fn numeric<W: Word, I: Index>(
    threads: &Threads,
    symbolic: &Symbolic,
    products: &dyn Multiply<W, I>,
    c: &Pattern<I>,
) -> Result<Vec<W>> {
    let pools = pools::<W, I>(threads, symbolic, products, c)?;
    let tasks = &symbolic.tasks;
    UninitOutput::new(c.nnz(), "values of C")?.fill(
        threads,
        "numeric",
        tasks.len(),
        |t| c.row_ptr()[start(tasks, c.nrows(), t)],
        || Ok((pools.worker()?, filled(window(symbolic, c.ncols()), products.identity(), "window of a row")?)),
        |(worker, window), t, values| {
            fill_task(worker, window, products, c, tasks[t].clone(), values);
            Ok(())
        },
    )
}

/// As [`numeric`], in place; allocates only the accumulators.
/// # Errors
/// As [`numeric`], and [`Error::Length`] if there is not one value per entry.
pub(in crate::spgemm) fn numeric_into<W: Word, I: Index>(
    threads: &Threads,
    symbolic: &Symbolic,
    products: &dyn Multiply<W, I>,
    c: &Pattern<I>,
    values: &mut [W],
) -> Result<()> {
    let pools = pools::<W, I>(threads, symbolic, products, c)?;
    if values.len() != c.nnz() {
        return Err(Error::Length { what: "values", found: values.len(), expected: c.nnz() });
    }
    let tasks = &symbolic.tasks;
    overwrite_blocks(
        values,
        threads,
        "numeric",
        tasks.len(),
        |t| c.row_ptr()[start(tasks, c.nrows(), t)],
        || Ok((pools.worker()?, filled(window(symbolic, c.ncols()), products.identity(), "window of a row")?)),
        |(worker, window), t, values| {
            fill_task(worker, window, products, c, tasks[t].clone(), values);
            Ok(())
        },
    )
}

/// Bytes that a numeric phase takes besides C, whose row pointers it copies; `first` if it also finds the columns.
pub(in crate::spgemm) fn scratch<W: Word, I: Index>(
    threads: &Threads,
    symbolic: &Symbolic,
    products: &dyn Multiply<W, I>,
    first: bool,
) -> u128 {
    let (a, b) = products.patterns();
    let (workers, longest) = (workers(threads, symbolic.tasks.len()), symbolic.max_row_nnz);
    let dense = RowFiller::<W>::bytes(b.ncols(), longest, false, Lookup::Table);
    let values = Pools::<I, (), RowFiller<W>>::bytes(workers, symbolic.numeric, longest, &symbolic.settings, dense);
    // The two parts run one after the other.
    let columns = if first { columns::scratch(threads, symbolic, (a, b)) } else { 0 };
    let windows = workers as u128 * bytes_of::<W>(window(symbolic, b.ncols()));
    values.saturating_add(windows).max(columns).saturating_add(bytes_of::<[usize; 16]>(symbolic.tasks.len()))
}

/// The accumulators of a phase for `c`, which must have the structure found by `symbolic`.
fn pools<W: Word, I: Index>(
    threads: &Threads,
    symbolic: &Symbolic,
    products: &dyn Multiply<W, I>,
    c: &Pattern<I>,
) -> Result<Pools<I, (), RowFiller<W>>> {
    if c.row_ptr() != symbolic.row_ptr {
        return Err(Error::PatternChanged { operand: "C", found: c.nnz(), planned: symbolic.nnz() });
    }
    let (workers, longest) = (workers(threads, symbolic.tasks.len()), symbolic.max_row_nnz);
    Pools::new(threads, workers, symbolic.numeric, longest, &symbolic.settings, || {
        RowFiller::new::<I>(products.identity(), c.ncols(), longest, false, Lookup::Table)
    })
}

/// Columns of the window; 0 if it is unused.
fn window(symbolic: &Symbolic, ncols: usize) -> usize {
    if symbolic.windows { ncols.clamp(1, WINDOW).next_power_of_two() } else { 0 }
}

fn fill_task<W: Word, I: Index>(
    worker: &mut Worker<'_, I, (), RowFiller<W>>,
    window: &mut [W],
    products: &dyn Multiply<W, I>,
    c: &Pattern<I>,
    rows: Range<usize>,
    values: &mut OutputSlice<'_, W>,
) {
    match worker {
        Worker::LinkedList(levels) => levels.rows(|row| fill_rows(row, window, products, c, rows, values)),
        Worker::LinearProbe(levels) => levels.rows(|row| fill_rows(row, window, products, c, rows, values)),
        Worker::Dense(pool) => pool.take().fill(products, c, &Task { rows, cols: None }, values),
    }
}

#[inline(never)]
fn fill_rows<W: Word, I: Index, A: Table<I, ()>>(
    row: &mut Rows<'_, I, (), A>,
    window: &mut [W],
    products: &dyn Multiply<W, I>,
    c: &Pattern<I>,
    rows: Range<usize>,
    values: &mut OutputSlice<'_, W>,
) {
    let (a, b) = products.patterns();
    let (identity, rows_of_b, mut positions) = (products.identity(), RowsOf::without_values(b), [0; POSITIONS]);
    let width = window.len();
    let fits_window = |i: &usize| c.is_sorted() && fits_window(c.row(*i), width);
    let mut next = rows.start;
    while next < rows.end {
        let i = next;
        let wide = if width == 0 { i } else { (i..rows.end).find(|i| !fits_window(i)).unwrap_or(rows.end) };
        if wide > i {
            products.by_window(RowsOfC { rows: i..wide, c, part: None }, window, values);
            next = wide;
            continue;
        }
        next += 1;
        let cols = c.row(i);
        if cols.is_empty() {
            continue;
        }
        let values = values.take(cols.len(), identity);
        row.begin(cols.len());
        row.insert_new(cols);
        // The entries of A and B of the first product whose position was found, and the number of such products.
        let (mut first, mut n) = ((0, 0), 0);
        for p in a.row_ptr()[i]..a.row_ptr()[i + 1] {
            if let Some(k) = a.col_idx().get(p + AHEAD) {
                rows_of_b.prefetch(k.get());
            }
            let k = a.col_idx()[p].get();
            let (mut js, mut q) = (rows_of_b.row(k).0, b.row_ptr()[k]);
            while !js.is_empty() {
                if n == 0 {
                    first = (p, q);
                }
                let (now, later) = js.split_at(js.len().min(POSITIONS - n));
                row.positions(now, &mut positions[n..n + now.len()]);
                (js, q, n) = (later, q + now.len(), n + now.len());
                if n == POSITIONS {
                    products.to_slots(i, first.0, first.1, values, &positions);
                    n = 0;
                }
            }
        }
        products.to_slots(i, first.0, first.1, values, &positions[..n]);
        row.clear();
    }
}
