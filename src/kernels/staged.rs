//! C = A ⊕.⊗ B in two steps: products of a row of B go to a short buffer, which is then folded.
//!
//! So ⊕ and ⊗ are two values, each compiled once: the number of kernels is a sum of operators, not a product. Products
//! of short rows of B gather in one buffer, so that a fold is worth its call.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Arc;

use super::multiply::columns_of_row;
use super::{Fold, Multiply, RowOfA, RowsOfC};
use crate::algebra::{Slice, Word};
use crate::par::Slots;
use crate::simd::{RowsOf, prefetch, within};
use crate::{Index, Pattern};

/// Products in a buffer: of doubles, 1 KiB.
pub(crate) const BLOCK: usize = 128;
/// Rows of B from this length on are folded without going through the common buffer.
const LONG: usize = 16;
/// Entries of A ahead of the current one whose rows of B are asked for.
const AHEAD: usize = 8;

/// What is multiplied: A(i, k) with B(k, j) for some j.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factors<'a> {
    /// Row of A.
    pub i: usize,
    /// Column of A, row of B.
    pub k: usize,
    /// A(i, k), alone.
    pub x: Slice<'a>,
    /// Columns of B.
    pub js: &'a [u32],
    /// B(k, j) for each of them; to be pushed, these and what follows them in B.
    pub ys: Slice<'a>,
}

/// ⊗ with memory of its own, for at most [`BLOCK`] products at a time.
pub(crate) trait Multiplier<W> {
    /// Products of one entry of A, written to as many words.
    fn multiply(&mut self, f: Factors<'_>, out: &mut [W]);
    /// Takes the factors of products number `at` and following, to be multiplied with those of other entries of A.
    fn push(&mut self, at: usize, f: Factors<'_>);
    /// All products of factors that were pushed, from number 0 on; `js` are their columns.
    fn multiply_pushed(&mut self, js: &[u32], out: &mut [W]);
}

/// ⊗ as a value.
///
/// # Safety
/// There is one type of value, with memory `W`, of which the multiplier writes words, all that it is given, whatever
/// the factors.
pub(crate) unsafe trait MulRow<W: Word>: Send + Sync {
    /// Runs `work` with a multiplier.
    fn with(&self, work: &mut dyn FnMut(&mut dyn Multiplier<W>));
}

/// ⊕, ⊗ and the operands.
pub(crate) struct Staged<'a, W: Word> {
    a: &'a Arc<Pattern>,
    b: &'a Arc<Pattern>,
    xs: Slice<'a>,
    ys: Slice<'a>,
    rows_of_a: RowsOf<'a, u32, ()>,
    rows_of_b: RowsOf<'a, u32, ()>,
    bytes_of_b: &'a [MaybeUninit<u8>],
    fold: &'a dyn Fold<W>,
    mul: &'a dyn MulRow<W>,
}

impl<'a, W: Word> Staged<'a, W> {
    /// A(i, k) ⊗ B(k, j), to be summed by ⊕.
    /// # Panics
    /// If there is not one value per entry.
    /// # Safety
    /// ⊕ and ⊗ are on one type of value, and ⊗ takes values of the operands' types.
    pub(crate) unsafe fn new(
        (a, xs): (&'a Arc<Pattern>, Slice<'a>),
        (b, ys): (&'a Arc<Pattern>, Slice<'a>),
        fold: &'a dyn Fold<W>,
        mul: &'a dyn MulRow<W>,
    ) -> Self {
        assert!(xs.len() == a.nnz() && ys.len() == b.nnz());
        // SAFETY: the values' memory, any bytes of which are valid as such.
        let bytes_of_b = unsafe { std::slice::from_raw_parts(ys.as_ptr().cast(), ys.len() * ys.ty().size()) };
        let (rows_of_a, rows_of_b) = (RowsOf::without_values(a), RowsOf::without_values(b));
        Self { a, b, xs, ys, rows_of_a, rows_of_b, bytes_of_b, fold, mul }
    }

    /// Entry `p` of A, A(i, k), and the entries of B with these columns, from `q` on.
    fn factors<'f>(&'f self, (i, k): (usize, usize), p: usize, js: &'f [u32], q: usize) -> Factors<'f> {
        Factors { i, k, x: self.xs.part(p..p + 1), js, ys: self.ys.part(q..q + js.len()) }
    }
    /// Takes the factors of one entry of A and a short row of B, as products number `at` and following.
    #[inline(always)]
    fn push(
        &self,
        (i, k): (usize, usize),
        p: usize,
        js: &[u32],
        q: usize,
        mul: &mut dyn Multiplier<W>,
        (columns, at): (&mut [u32], usize),
    ) {
        match (columns.first_chunk_mut::<LONG>(), self.b.col_idx()[q..].first_chunk::<LONG>()) {
            // One move: what it writes too much is written again.
            (Some(to), Some(from)) => *to = *from,
            _ => columns[..js.len()].copy_from_slice(js),
        }
        mul.push(at, Factors { i, k, x: self.xs.part(p..p + 1), js, ys: self.ys.part(q..self.ys.len()) });
    }
    /// Takes the factors of a whole row, as products number `at` and following, and says where they end; `None` if they
    /// do not fit, or rows of B are long.
    #[inline(always)]
    fn push_row(
        &self,
        row: RowOfA<'_>,
        mul: &mut dyn Multiplier<W>,
        columns: &mut [u32; BLOCK],
        at: usize,
    ) -> Option<usize> {
        let (i, mut n) = (row.i, at);
        let (entries, soon) = (self.a.row_ptr()[i]..self.a.row_ptr()[i + 1], self.rows_of_a.columns_after(i, AHEAD));
        for (s, (p, k)) in entries.zip(self.rows_of_a.row(i).0).enumerate() {
            if let Some(k) = soon.get(s) {
                self.rows_of_b.prefetch(k.get());
                prefetch(self.bytes_of_b, self.b.row_ptr()[k.get()] * self.ys.ty().size());
            }
            let (mut js, mut q) = (self.rows_of_b.row(k.get()).0, self.b.row_ptr()[k.get()]);
            if let Some(part) = row.part {
                let range = within(js, part);
                (js, q) = (&js[range.clone()], q + range.start);
            }
            if js.len() >= LONG || n + js.len() > BLOCK {
                return None;
            }
            if !js.is_empty() {
                self.push((i, k.get()), p, js, q, mul, (&mut columns[n..], n));
                n += js.len();
            }
        }
        Some(n)
    }
    /// Multiplies what was pushed, and folds it row by row.
    fn finish(
        &self,
        rows: &mut Rows<'_, '_, '_, W>,
        mul: &mut dyn Multiplier<W>,
        Buffer { js, zs }: &mut Buffer<W>,
        ends: &[(usize, usize)],
    ) {
        let Some(&(_, n)) = ends.last() else { return };
        mul.multiply_pushed(&js[..n], &mut zs[..n]);
        let mut start = 0;
        for &(i, end) in ends {
            self.fold.to_window(rows.window, &js[start..end], &zs[start..end]);
            rows.read_off(i, self.fold.identity());
            start = end;
        }
    }
    /// Calls `fold` with columns and products, in order, for each row of B that a row of A meets.
    #[inline(always)]
    fn each(
        &self,
        row: RowOfA<'_>,
        mul: &mut dyn Multiplier<W>,
        buffer: &mut Buffer<W>,
        mut fold: impl FnMut(&[u32], &[W]),
    ) {
        let (i, mut n) = (row.i, 0);
        let Buffer { js: columns, zs: products } = buffer;
        let (entries, soon) = (self.a.row_ptr()[i]..self.a.row_ptr()[i + 1], self.rows_of_a.columns_after(i, AHEAD));
        for (s, (p, k)) in entries.zip(self.rows_of_a.row(i).0).enumerate() {
            if let Some(k) = soon.get(s) {
                self.rows_of_b.prefetch(k.get());
                prefetch(self.bytes_of_b, self.b.row_ptr()[k.get()] * self.ys.ty().size());
            }
            let k = k.get();
            let (mut js, mut q) = (self.rows_of_b.row(k).0, self.b.row_ptr()[k]);
            if let Some(part) = row.part {
                let range = within(js, part);
                (js, q) = (&js[range.clone()], q + range.start);
            }
            if js.is_empty() {
                continue;
            }
            if n > 0 && (n + js.len() > BLOCK || js.len() >= LONG) {
                mul.multiply_pushed(&columns[..n], &mut products[..n]);
                fold(&columns[..n], &products[..n]);
                n = 0;
            }
            if js.len() < LONG {
                self.push((i, k), p, js, q, mul, (&mut columns[n..], n));
                n += js.len();
                continue;
            }
            for js in js.chunks(BLOCK) {
                let products = &mut products[..js.len()];
                mul.multiply(self.factors((i, k), p, js, q), products);
                fold(js, products);
                q += js.len();
            }
        }
        if n > 0 {
            mul.multiply_pushed(&columns[..n], &mut products[..n]);
            fold(&columns[..n], &products[..n]);
        }
    }
    fn buffer(&self) -> Buffer<W> {
        Buffer { js: [0; BLOCK], zs: [self.fold.identity(); BLOCK] }
    }
}

/// Rows of C that are read off a window.
struct Rows<'a, 's, 'w, W> {
    c: &'a Pattern,
    part: Option<&'a Range<usize>>,
    window: &'w mut [W],
    slots: &'w mut Slots<'s, W>,
}
impl<W: Word> Rows<'_, '_, '_, W> {
    /// The values of row i, which leave the identity behind.
    fn read_off(&mut self, i: usize, identity: W) {
        let (cols, mask) = (columns_of_row(self.c, i, self.part), self.window.len() - 1);
        for (j, z) in cols.iter().zip(self.slots.take(cols.len(), identity)) {
            *z = std::mem::replace(&mut self.window[j.get() & mask], identity);
        }
    }
}

/// Columns and products on their way.
struct Buffer<W> {
    js: [u32; BLOCK],
    zs: [W; BLOCK],
}

// SAFETY: the type is that of ⊕ and ⊗ (`new`): the identity is of it, ⊗ writes words of it, and ⊕ keeps to it.
unsafe impl<W: Word> Multiply<W, u32> for Staged<'_, W> {
    fn patterns(&self) -> (&Arc<Pattern>, &Arc<Pattern>) {
        (self.a, self.b)
    }
    fn identity(&self) -> W {
        self.fold.identity()
    }
    fn by_window(&self, rows: RowsOfC<'_, u32>, window: &mut [W], slots: &mut Slots<'_, W>) {
        let (mut buffer, identity) = (self.buffer(), self.fold.identity());
        let RowsOfC { rows, c, part } = rows;
        let mut of_c = Rows { c, part, window, slots };
        // Rows of A whose products wait in the buffer, with their ends there: small ones are multiplied together.
        let (mut ends, mut waiting) = ([(0, 0); BLOCK], 0);
        self.mul.with(&mut |mul| {
            for i in rows.clone() {
                // No products: of hypersparse matrices most rows.
                if columns_of_row(c, i, part).is_empty() {
                    continue;
                }
                let row = || RowOfA { i, part };
                let at = ends[..waiting].last().map_or(0, |end| end.1);
                let mut end = (waiting < BLOCK).then(|| self.push_row(row(), mul, &mut buffer.js, at)).flatten();
                if end.is_none() && waiting > 0 {
                    self.finish(&mut of_c, mul, &mut buffer, &ends[..waiting]);
                    waiting = 0;
                    end = self.push_row(row(), mul, &mut buffer.js, 0);
                }
                if let Some(end) = end {
                    ends[waiting] = (i, end);
                    waiting += 1;
                } else {
                    self.each(row(), mul, &mut buffer, |js, zs| self.fold.to_window(of_c.window, js, zs));
                    of_c.read_off(i, identity);
                }
            }
            self.finish(&mut of_c, mul, &mut buffer, &ends[..waiting]);
            waiting = 0;
        });
    }
    fn to_short_places(&self, row: RowOfA<'_>, values: &mut [W], places: &[u16]) {
        let mut buffer = self.buffer();
        self.mul.with(&mut |mul| {
            self.each(row, mul, &mut buffer, |js, zs| self.fold.to_short_places(values, places, js, zs));
        });
    }
    fn to_places(&self, row: RowOfA<'_>, values: &mut [W], places: &[u32]) {
        let mut buffer = self.buffer();
        self.mul.with(&mut |mul| {
            self.each(row, mul, &mut buffer, |js, zs| self.fold.to_places(values, places, js, zs));
        });
    }
    fn to_slots(&self, i: usize, p: usize, q: usize, values: &mut [W], slots: &[usize]) {
        let (mut buffer, k) = (self.buffer(), self.a.col_idx()[p].get());
        self.mul.with(&mut |mul| {
            for (s, slots) in slots.chunks(BLOCK).enumerate() {
                let entries = q + s * BLOCK..q + s * BLOCK + slots.len();
                let (js, ys) = (&self.b.col_idx()[entries.clone()], self.ys.part(entries));
                let zs = &mut buffer.zs[..slots.len()];
                mul.multiply(Factors { i, k, x: self.xs.part(p..p + 1), js, ys }, zs);
                self.fold.to_slots(values, slots, zs);
            }
        });
    }
}
