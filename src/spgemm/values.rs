//! Values of a row of C whose columns are known.
//!
//! Where the row's columns lie close together, products gather in a small window of a dense accumulator
//! (column modulo the window, which cannot collide) and are read off in order; the accumulator holds the
//! identity of ⊕ between rows, so nothing is marked and nothing cleared. Where they lie far apart, each
//! column is first told its place in the row, in two bytes, and products go straight to their place.
//! Products of one entry are folded in the order of the contraction index, from the identity.

use std::ops::Range;

use super::multiply::{Multiply, Products};
use super::tasks::{Task, within};
use crate::algebra::{At, BinaryOp, Host, Lhs, Monoid, MulOp, Out, Rhs, Semiring, V, Value};
use crate::par::{Slots, filled};
use crate::simd::{RowsOf, scatter, scatter_at};
use crate::{Csr, Index, Pattern, Result};

/// Columns that the window of the dense accumulator spans at most.
///
/// 128 KiB of doubles stay in the second-level cache. Wider windows lost to places on email-Enron (36 692 columns: 50 ms
/// against 45, numeric only) and er18d8 (262 144: 74 against 61); stencil27_60 (14 763) just fits, and gains by it (58
/// against 64). Narrower windows were not tried.
const WINDOW: usize = 1 << 14;
/// Widest C whose columns are told their places; in wider ones they are searched for.
const WIDEST: usize = 1 << 28;
const AHEAD: usize = 8;

/// Runs `$go` with the columns and values of each row of B that a row of A meets, in the order of A's row, and with
/// `$f(z, y, j)` = z ⊕ (a ⊗ y), asking ahead for the rows to come.
macro_rules! each_row_of_b {
    ($row:ident, $i:ident, |$js:ident, $ys:ident, $f:ident| $go:expr) => {
        let (add, mul) = ($row.ring.add(), $row.ring.mul());
        let b = RowsOf::new($row.b.pattern(), $row.b.values());
        let (ks, xs) = $row.a.row($i);
        let soon = $row.a.col_idx().get($row.a.row_ptr()[$i] + AHEAD..).unwrap_or(&[]);
        for (p, (&k, &x)) in ks.iter().zip(xs).enumerate() {
            if let Some(k) = soon.get(p) {
                b.prefetch(k.get());
            }
            let ($js, $ys) = match $row.part {
                None => b.row(k.get()),
                Some(cols) => row_part(b.row(k.get()), cols),
            };
            let $f = |z: Out<R>, y: Rhs<R>, j: I| {
                let at = At { i: V($i as u64), k: V(k.get() as u64), j: V(j.get() as u64) };
                add.apply::<Host>(V(z), mul.mul::<Host>(V(x), V(y), at)).0
            };
            $go;
        }
    };
}

/// The entries of a sorted row in the columns of `part`.
#[cold]
fn row_part<'a, I: Index, Y>((js, ys): (&'a [I], &'a [Y]), part: &Range<usize>) -> (&'a [I], &'a [Y]) {
    let range = within(js, 0..js.len(), part);
    (&js[range.clone()], &ys[range])
}

/// Computes the values of one row of C after another. One per thread.
pub(super) struct RowFiller<T> {
    dense: Vec<T>,
    places: Places,
    masked: bool,
}

/// For each column, its place in the current row; stale elsewhere.
enum Places {
    /// Rows of C have fewer than 65 536 entries.
    Short(Vec<u16>),
    Long(Vec<u32>),
    /// No table: C is narrow enough for the window, or too wide for anything but a search.
    None,
}

impl<T: Value> RowFiller<T> {
    /// For rows with at most `longest` entries in `ncols` columns; `masked` if products outside C are to be left out.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(super) fn new(identity: T, ncols: usize, longest: usize, masked: bool) -> Result<Self> {
        let window = if masked { 1 } else { ncols.clamp(1, WINDOW).next_power_of_two() };
        let table = ncols.next_power_of_two();
        // NOWHERE is no place of a row, so a masked row has one entry less than its type could count.
        let places = if ncols <= window || ncols > WIDEST || longest >= u32::MAX as usize {
            Places::None
        } else if longest < 1 << 16 {
            Places::Short(filled(table, u16::MAX, "places of columns")?)
        } else {
            Places::Long(filled(table, u32::MAX, "places of columns")?)
        };
        Ok(Self { dense: filled(window, identity, "dense accumulator")?, places, masked })
    }

    /// Values of the rows of C = A·B that `task` names, written to `slots` in the order of C's columns.
    pub(super) fn fill<R: Semiring<Mul: MulOp<Out = T>>, I: Index>(
        &mut self,
        products: &Products<'_, R, I>,
        c: &Pattern<I>,
        task: &Task,
        slots: &mut Slots<'_, T>,
    ) {
        let &Products { ring, a, b } = products;
        let mut from = task.rows.start;
        while from < task.rows.end {
            // Neighbouring rows that go the same way are one call.
            let near = self.is_near(c, from, task.cols.as_ref());
            let mut to = from + 1;
            while to < task.rows.end && self.is_near(c, to, task.cols.as_ref()) == near {
                to += 1;
            }
            let rows = Rows { ring, rows: from..to, a, b, c, part: task.cols.as_ref(), masked: self.masked };
            match &mut self.places {
                _ if near && !self.masked => rows.by_window(&mut self.dense, slots),
                Places::Short(places) => rows.by_places(places, |p| p as u16, u16::MAX, slots),
                Places::Long(places) => rows.by_places(places, |p| p as u32, u32::MAX, slots),
                Places::None => by_search(products, c, rows.rows, rows.part, slots),
            }
            from = to;
        }
    }

    /// Whether the columns of row `i` fit the window.
    #[inline(always)]
    fn is_near<I: Index>(&self, c: &Pattern<I>, i: usize, part: Option<&Range<usize>>) -> bool {
        match &c.col_idx()[part_of_row(c, i, part)] {
            [first, .., last] => last.get() - first.get() < self.dense.len(),
            _ => true,
        }
    }
}

/// The entries of row `i` of C, or those of them in the columns of `part`.
#[inline(always)]
pub(super) fn part_of_row<I: Index>(c: &Pattern<I>, i: usize, part: Option<&Range<usize>>) -> Range<usize> {
    let range = c.row_ptr()[i]..c.row_ptr()[i + 1];
    match part {
        None => range,
        Some(cols) => within(c.col_idx(), range, cols),
    }
}

/// Some rows of a product.
struct Rows<'a, R: Semiring, I: Index> {
    ring: R,
    rows: Range<usize>,
    a: &'a Csr<Lhs<R>, I>,
    b: &'a Csr<Rhs<R>, I>,
    c: &'a Pattern<I>,
    part: Option<&'a Range<usize>>,
    masked: bool,
}

impl<R: Semiring, I: Index> Rows<'_, R, I> {
    /// Through a window of a dense accumulator, which holds the identity before and after.
    ///
    /// Not inlined, like its siblings: as functions they keep the promise that their slices do not overlap,
    /// without which each product may reload them.
    #[inline(never)]
    fn by_window(self, dense: &mut [Out<R>], slots: &mut Slots<'_, Out<R>>) {
        let mask = dense.len() - 1;
        for i in self.rows.clone() {
            each_row_of_b!(self, i, |js, ys, f| scatter(dense, mask, js, ys, f));
            let cols = &self.c.col_idx()[part_of_row(self.c, i, self.part)];
            let values = slots.take(cols.len(), <R::Add as Monoid>::IDENTITY);
            for (z, j) in values.iter_mut().zip(cols) {
                *z = std::mem::replace(&mut dense[j.get() & mask], <R::Add as Monoid>::IDENTITY);
            }
        }
    }

    /// Straight to each column's place in the row. Under a mask, columns without a place are at `nowhere`, which
    /// lies beyond the row, and are never multiplied.
    #[inline(never)]
    fn by_places<P: Copy + Into<u64>>(
        self,
        places: &mut [P],
        place: impl Fn(usize) -> P,
        nowhere: P,
        slots: &mut Slots<'_, Out<R>>,
    ) {
        let mask = places.len() - 1;
        for i in self.rows.clone() {
            let cols = &self.c.col_idx()[part_of_row(self.c, i, self.part)];
            let values = slots.take(cols.len(), <R::Add as Monoid>::IDENTITY);
            for (p, j) in cols.iter().enumerate() {
                places[j.get() & mask] = place(p);
            }
            each_row_of_b!(self, i, |js, ys, f| scatter_at(values, places, mask, js, ys, f));
            if self.masked {
                for j in cols {
                    places[j.get() & mask] = nowhere;
                }
            }
        }
    }
}

/// Values of some rows by searching each column's place, in rows too wide for a table.
#[cold]
#[inline(never)]
fn by_search<T: Value, I: Index>(
    products: &dyn Multiply<T, I>,
    c: &Pattern<I>,
    rows: Range<usize>,
    part: Option<&Range<usize>>,
    slots: &mut Slots<'_, T>,
) {
    let (a, b) = products.patterns();
    for i in rows {
        let cols = &c.col_idx()[part_of_row(c, i, part)];
        let values = slots.take(cols.len(), products.identity());
        for p in a.row_ptr()[i]..a.row_ptr()[i + 1] {
            for q in part_of_row(b, a.col_idx()[p].get(), part) {
                if let Ok(place) = cols.binary_search(&b.col_idx()[q]) {
                    products.fold(values, &[place], i, p, q);
                }
            }
        }
    }
}
