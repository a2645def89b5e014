//! Values of a row of C whose columns are known.
//!
//! Where the row's columns lie close together, products gather in a small window of a dense accumulator
//! (column modulo the window, which cannot collide) and are read off in order; the accumulator holds the
//! identity of ⊕ between rows, so nothing is marked and nothing cleared. Where they lie far apart, each
//! column is first told its place in the row, in two bytes, and products go straight to their place.
//! Products of one entry are folded in the order of the contraction index, from the identity.
//!
//! What a product is only the kernel knows, one call of which does the products of a row of A, or of neighbouring rows
//! that go through the window.

use std::ops::Range;

use super::budget::bytes_of;
use super::product_finder::{ProductFinder, WIDEST};
use super::tasks::Task;
use crate::algebra::Word;
use crate::kernels::{Multiply, OneByOne, RowOfA, RowsOfC, columns_of_row};
use crate::par::{Slots, filled};
use crate::simd::{self, dispatch_work, within};
use crate::{Index, Pattern, Result};

/// Columns that the window of the dense accumulator spans at most.
///
/// 128 KiB of doubles stay in the second-level cache. Wider windows lost to places on email-Enron (36 692 columns: 50
/// ms against 45, numeric only) and er18d8 (262 144: 74 against 61); stencil27_60 (14 763) just fits, and gains by it
/// (58 against 64). Narrower windows were not tried.
const WINDOW: usize = 1 << 14;

/// Computes the values of one row of C after another. One per thread.
pub(super) struct RowFiller<W> {
    dense: Vec<W>,
    places: Places,
    masked: bool,
    lookup: Lookup,
}

/// How the place of a column in a row of C is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lookup {
    /// By a table of all columns, unless they are too many.
    Table,
    /// Under a mask, by a table, from which the products that count are listed before they are computed.
    MaskedProducts,
    /// By a search in the row: slower, but without memory.
    Search,
}

/// For each column, its place in the current row; stale elsewhere.
enum Places {
    /// Rows of C have fewer than 65 536 entries.
    Short(Vec<u16>),
    Long(Vec<u32>),
    /// Of columns that C has; under a mask.
    Masked(ProductFinder),
    /// No table: C is narrow enough for the window, or too wide for anything but a search.
    None,
}

impl<W: Word> RowFiller<W> {
    /// For rows with at most `longest` entries in `ncols` columns; `masked` if products outside C are to be left out.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(super) fn new<I: Index>(
        identity: W,
        ncols: usize,
        longest: usize,
        masked: bool,
        lookup: Lookup,
    ) -> Result<Self> {
        let places = match table(ncols, longest, masked, lookup) {
            _ if lookup == Lookup::MaskedProducts => Places::Masked(ProductFinder::new::<I>(ncols)?),
            None => Places::None,
            Some((len, true)) => Places::Short(filled(len, u16::MAX, "places of columns")?),
            Some((len, false)) => Places::Long(filled(len, u32::MAX, "places of columns")?),
        };
        Ok(Self { dense: filled(window(ncols, masked), identity, "dense accumulator")?, places, masked, lookup })
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

    /// How it finds places.
    pub(super) fn lookup(&self) -> Lookup {
        self.lookup
    }
    /// Makes it ready for a semiring with this identity, where the one before had another.
    pub(super) fn set_identity(&mut self, identity: W) {
        self.dense.fill(identity);
    }

    /// Values of the rows of C = A·B that `task` names, written to `slots` in the order of C's columns.
    pub(super) fn fill<I: Index>(
        &mut self,
        products: &dyn Multiply<W, I>,
        c: &Pattern<I>,
        task: &Task,
        slots: &mut Slots<'_, W>,
    ) {
        if let (Places::Masked(finder), Some(products)) = (&mut self.places, products.one_by_one()) {
            return dispatch_work(Listed { products, c, task, finder, slots });
        }
        let (identity, masked, part) = (products.identity(), self.masked, task.cols.as_ref());
        let window = self.dense.len();
        // Rows that are not in order do not show how far they reach.
        let is_near = |i| c.ncols() <= window || c.is_sorted() && is_near(columns_of_row(c, i, part), window);
        let mut i = task.rows.start;
        while i < task.rows.end {
            if !masked && is_near(i) {
                let near = i..task.rows.end;
                let end = near.clone().find(|&i| !is_near(i)).unwrap_or(near.end);
                products.by_window(RowsOfC { rows: i..end, c, part }, &mut self.dense, slots);
                i = end;
                continue;
            }
            let (row, cols) = (RowOfA { i, part }, columns_of_row(c, i, part));
            let values = slots.take(cols.len(), identity);
            match &mut self.places {
                Places::Short(places) => {
                    place(places, cols, |p| p as u16);
                    products.to_short_places(row, values, places);
                    if masked {
                        place(places, cols, |_| u16::MAX);
                    }
                }
                Places::Long(places) => {
                    place(places, cols, |p| p as u32);
                    products.to_places(row, values, places);
                    if masked {
                        place(places, cols, |_| u32::MAX);
                    }
                }
                Places::None | Places::Masked(_) => by_search(products, row, cols, values),
            }
            i += 1;
        }
    }
}

/// The rows of a task under a mask, by lists of the products that count.
struct Listed<'f, 's, 't, W, I: Index> {
    products: &'f dyn OneByOne<W, I>,
    c: &'f Pattern<I>,
    task: &'f Task,
    finder: &'f mut ProductFinder,
    slots: &'t mut Slots<'s, W>,
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

/// Columns of the dense accumulator.
fn window(ncols: usize, masked: bool) -> usize {
    if masked { 1 } else { ncols.clamp(1, WINDOW).next_power_of_two() }
}

/// Places in the table, if there is one, and whether two bytes hold any of them.
fn table(ncols: usize, longest: usize, masked: bool, lookup: Lookup) -> Option<(usize, bool)> {
    // The largest number is no place of a row, so a masked row has one entry less than its type could count.
    let none = ncols <= window(ncols, masked) || ncols > WIDEST || longest >= u32::MAX as usize;
    if none || lookup != Lookup::Table { None } else { Some((ncols.next_power_of_two(), longest < 1 << 16)) }
}

/// Whether the columns of a row fit the window.
#[inline(always)]
pub(super) fn is_near<I: Index>(cols: &[I], window: usize) -> bool {
    match cols {
        [first, .., last] => last.get() - first.get() < window,
        _ => true,
    }
}

/// Gives each column of a row its place.
#[inline(always)]
fn place<P, I: Index>(places: &mut [P], cols: &[I], at: impl Fn(usize) -> P) {
    let mask = places.len() - 1;
    for (p, j) in cols.iter().enumerate() {
        places[j.get() & mask] = at(p);
    }
}

/// The entries of row `i` of C, or those of them in the columns of `part`.
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

/// By searching each column's place, in rows too wide for a table, or where filling one would take longer than all
/// searches.
fn by_search<W: Word, I: Index>(products: &dyn Multiply<W, I>, row: RowOfA<'_>, cols: &[I], values: &mut [W]) {
    const ROOM: usize = 64;
    let ((a, b), mut slots) = (products.patterns(), [0; ROOM]);
    for p in a.row_ptr()[row.i]..a.row_ptr()[row.i + 1] {
        // Entries first..q of B have the places slots[..q − first].
        let range = part_of_row(b, a.col_idx()[p].get(), row.part);
        let (mut first, mut n) = (range.start, 0);
        for q in range {
            let place = cols.binary_search(&b.col_idx()[q]);
            if let Ok(place) = place {
                slots[n] = place;
                n += 1;
            }
            if place.is_err() || n == ROOM {
                products.to_slots(row.i, p, first, values, &slots[..n]);
                (first, n) = (q + 1, 0);
            }
        }
        products.to_slots(row.i, p, first, values, &slots[..n]);
    }
}
