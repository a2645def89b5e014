//! Values of a row of C whose columns are known.
//!
//! Narrow rows: products accumulate in a small window of a dense accumulator (column modulo the window, which cannot
//! collide) and are read off in order. The accumulator holds the identity of ⊕ between rows, so nothing is marked and
//! nothing cleared. Wide rows: a table first gets the position of each column in the row, in two bytes, and products go
//! straight to their position. Products of one entry are folded in the order of the contraction index, from the
//! identity.
//!
//! Only the kernel knows how a product is computed. One of its calls does the products of a row of A, or of neighboring
//! rows that go through the window.

use std::ops::Range;

use super::budget::bytes_of;
use super::product_finder::{ProductFinder, WIDEST};
use super::tasks::Task;
use crate::algebra::Word;
use crate::kernels::{Multiply, OneByOne, RowOfA, RowsOfC, columns_of_row};
use crate::par::{OutputSlice, filled};
use crate::simd::{self, dispatch_work, within};
use crate::{Index, Pattern, Result};

/// Widest row that goes through the window of the dense accumulator.
///
/// 128 KiB of doubles stay in the second-level cache. Wider windows lost to positions on email-Enron (36 692 columns:
/// 50 ms against 45, numeric only) and er18d8 (262 144: 74 against 61); stencil27_60 (14 763) just fits, and gains by
/// it (58 against 64). Narrower windows were not tried.
const WINDOW: usize = 1 << 14;

/// Computes the values of one row of C after another. One per thread.
pub(super) struct RowFiller<W> {
    dense: Vec<W>,
    positions: PositionTable,
    masked: bool,
    lookup: Lookup,
}

/// How the position of a column in a row of C is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lookup {
    /// By a table of all columns, unless there are too many.
    Table,
    /// Under a mask: by a table, from which the allowed products are listed before they are computed.
    MaskedProducts,
    /// By a search in the row: slower, but needs no memory.
    Search,
}

/// The position of each column in the current row; stale for other columns.
enum PositionTable {
    /// Rows of C have fewer than 65 536 entries.
    Short(Vec<u16>),
    Long(Vec<u32>),
    /// Under a mask: the finder of the allowed products.
    Masked(ProductFinder),
    /// No table: C is narrow enough for the window, or too wide for anything but a search.
    None,
}

impl<W: Word> RowFiller<W> {
    /// For rows with at most `longest` entries in `ncols` columns; `masked` if A·B has entries outside C.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(super) fn new<I: Index>(
        identity: W,
        ncols: usize,
        longest: usize,
        masked: bool,
        lookup: Lookup,
    ) -> Result<Self> {
        let positions = match table(ncols, longest, masked, lookup) {
            _ if lookup == Lookup::MaskedProducts => PositionTable::Masked(ProductFinder::new::<I>(ncols)?),
            None => PositionTable::None,
            Some((len, true)) => PositionTable::Short(filled(len, u16::MAX, "positions of columns")?),
            Some((len, false)) => PositionTable::Long(filled(len, u32::MAX, "positions of columns")?),
        };
        Ok(Self { dense: filled(window(ncols, masked), identity, "dense accumulator")?, positions, masked, lookup })
    }
    /// Bytes that [`new`](Self::new) takes.
    pub(super) fn bytes(ncols: usize, longest: usize, masked: bool, lookup: Lookup) -> u128 {
        let table = match table(ncols, longest, masked, lookup) {
            _ if lookup == Lookup::MaskedProducts => ProductFinder::bytes(ncols),
            None => 0,
            Some((len, true)) => bytes_of::<u16>(len),
            Some((len, false)) => bytes_of::<u32>(len),
        };
        bytes_of::<Self>(1) + bytes_of::<W>(window(ncols, masked)) + table
    }

    /// How positions are found.
    pub(super) fn lookup(&self) -> Lookup {
        self.lookup
    }
    /// Resets the accumulator for a semiring with this identity.
    pub(super) fn set_identity(&mut self, identity: W) {
        self.dense.fill(identity);
    }

    /// Values of the rows of C = A·B in `task`, written to `slots` in the order of C's columns.
    pub(super) fn fill<I: Index>(
        &mut self,
        products: &dyn Multiply<W, I>,
        c: &Pattern<I>,
        task: &Task,
        slots: &mut OutputSlice<'_, W>,
    ) {
        if let (PositionTable::Masked(finder), Some(products)) = (&mut self.positions, products.one_by_one()) {
            return dispatch_work(Listed { products, c, task, finder, slots });
        }
        let (identity, masked, part) = (products.identity(), self.masked, task.cols.as_ref());
        let window = self.dense.len();
        // Unsorted rows do not show their column range.
        let fits_window = |i| c.ncols() <= window || c.is_sorted() && fits_window(columns_of_row(c, i, part), window);
        let mut i = task.rows.start;
        while i < task.rows.end {
            if !masked && fits_window(i) {
                let narrow = i..task.rows.end;
                let end = narrow.clone().find(|&i| !fits_window(i)).unwrap_or(narrow.end);
                products.by_window(RowsOfC { rows: i..end, c, part }, &mut self.dense, slots);
                i = end;
                continue;
            }
            let (row, cols) = (RowOfA { i, part }, columns_of_row(c, i, part));
            let values = slots.take(cols.len(), identity);
            match &mut self.positions {
                PositionTable::Short(positions) => {
                    place(positions, cols, |p| p as u16);
                    products.to_short_positions(row, values, positions);
                    if masked {
                        place(positions, cols, |_| u16::MAX);
                    }
                }
                PositionTable::Long(positions) => {
                    place(positions, cols, |p| p as u32);
                    products.to_positions(row, values, positions);
                    if masked {
                        place(positions, cols, |_| u32::MAX);
                    }
                }
                PositionTable::None | PositionTable::Masked(_) => by_search(products, row, cols, values),
            }
            i += 1;
        }
    }
}

/// The rows of a task under a mask, by lists of the allowed products.
struct Listed<'f, 's, 't, W, I: Index> {
    products: &'f dyn OneByOne<W, I>,
    c: &'f Pattern<I>,
    task: &'f Task,
    finder: &'f mut ProductFinder,
    slots: &'t mut OutputSlice<'s, W>,
}

impl<W: Word, I: Index> simd::Work for Listed<'_, '_, '_, W, I> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let Self { products, c, task, finder, slots } = self;
        let ((a, b), identity, part) = (products.patterns(), products.identity(), task.cols.as_ref());
        for i in task.rows.clone() {
            let cols = columns_of_row(c, i, part);
            if !cols.is_empty() {
                let values = slots.take(cols.len(), identity);
                finder.row((a, b), i, part, cols, |found| products.fold_masked(i, found, values));
            }
        }
    }
}

/// Width of the window.
fn window(ncols: usize, masked: bool) -> usize {
    if masked { 1 } else { ncols.clamp(1, WINDOW).next_power_of_two() }
}

/// Length of the position table, if there is one, and whether two bytes hold every position.
fn table(ncols: usize, longest: usize, masked: bool, lookup: Lookup) -> Option<(usize, bool)> {
    // The largest number is never a position, so a masked row has one entry less than its type could count.
    let none = ncols <= window(ncols, masked) || ncols > WIDEST || longest >= u32::MAX as usize;
    if none || lookup != Lookup::Table { None } else { Some((ncols.next_power_of_two(), longest < 1 << 16)) }
}

/// Whether the columns of a row fit the window.
#[inline(always)]
pub(super) fn fits_window<I: Index>(cols: &[I], window: usize) -> bool {
    match cols {
        [first, .., last] => last.get() - first.get() < window,
        _ => true,
    }
}

/// Stores the position of each column of a row.
#[inline(always)]
fn place<P, I: Index>(positions: &mut [P], cols: &[I], at: impl Fn(usize) -> P) {
    let mask = positions.len() - 1;
    for (p, j) in cols.iter().enumerate() {
        positions[j.get() & mask] = at(p);
    }
}

/// The entries of row `i` of C within the columns of `part` (all if `None`).
#[inline(always)]
pub(super) fn part_of_row<I: Index>(c: &Pattern<I>, i: usize, part: Option<&Range<usize>>) -> Range<usize> {
    let range = c.row_ptr()[i]..c.row_ptr()[i + 1];
    match part {
        None => range,
        Some(cols) => {
            let part = within(&c.col_idx()[range.clone()], cols);
            range.start + part.start..range.start + part.end
        }
    }
}

/// Searches the position of each column. For rows too wide for a table, and where filling one would take longer than
/// all searches.
fn by_search<W: Word, I: Index>(products: &dyn Multiply<W, I>, row: RowOfA<'_>, cols: &[I], values: &mut [W]) {
    const ROOM: usize = 64;
    let ((a, b), mut slots) = (products.patterns(), [0; ROOM]);
    for p in a.row_ptr()[row.i]..a.row_ptr()[row.i + 1] {
        // Entries first..q of B have the positions slots[..q − first].
        let range = part_of_row(b, a.col_idx()[p].get(), row.part);
        let (mut first, mut n) = (range.start, 0);
        for q in range {
            let position = cols.binary_search(&b.col_idx()[q]);
            if let Ok(position) = position {
                slots[n] = position;
                n += 1;
            }
            if position.is_err() || n == ROOM {
                products.to_slots(row.i, p, first, values, &slots[..n]);
                (first, n) = (q + 1, 0);
            }
        }
        products.to_slots(row.i, p, first, values, &slots[..n]);
    }
}
