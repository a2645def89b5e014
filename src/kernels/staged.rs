//! C = A ⊕.⊗ B unfused: the products of a row of B go to a short buffer, which is then folded.
//!
//! ⊕ and ⊗ are two values, each compiled once: the number of kernels is the sum of the numbers of operators, not their
//! product. Products of short rows of B share one buffer, to amortize the call of the fold.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Arc;

use super::multiply::columns_of_row;
use super::{Fold, Multiply, RowOfA, RowsOfC};
use crate::algebra::{Slice, Word};
use crate::par::OutputSlice;
use crate::simd::{RowsOf, prefetch, within};
use crate::{Index, Pattern};

/// Products in a buffer: 1 KiB of doubles.
pub(crate) const BLOCK: usize = 128;
/// Minimum length of a row of B that is folded directly, bypassing the shared buffer.
const LONG: usize = 16;
/// Prefetch distance, in entries of A: the rows of B they select are prefetched.
const AHEAD: usize = 8;

/// Factors: A(i, k), and B(k, j) for some j.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factors<'a> {
    /// Row of A.
    pub i: usize,
    /// Column of A, row of B.
    pub k: usize,
    /// A(i, k), a single value.
    pub x: Slice<'a>,
    /// Columns of B.
    pub js: &'a [u32],
    /// B(k, j) for each column.
    pub ys: Slice<'a>,
}

/// A(i, k) with some entries of row k of B.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Piece {
    /// Row of A.
    pub i: usize,
    /// Column of A, row of B.
    pub k: usize,
    /// The entry of A.
    pub p: usize,
    /// The first of the consecutive entries of B.
    pub q: usize,
    /// Their number.
    pub n: usize,
}

/// Factors of consecutive products.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pieces<'a> {
    /// Values of A and of B.
    pub xs: Slice<'a>,
    pub ys: Slice<'a>,
    /// Factors of the products.
    pub pieces: &'a [Piece],
    /// Columns of all products.
    pub js: &'a [u32],
}

/// ⊗ with its scratch memory, for at most [`BLOCK`] products at a time.
pub(crate) trait Multiplier<W> {
    /// Products of one entry of A, written to as many words.
    fn multiply(&mut self, f: Factors<'_>, out: &mut [W]);
    /// Products of several entries of A, written to as many words as there are columns.
    fn multiply_pieces(&mut self, pieces: Pieces<'_>, out: &mut [W]);
}

/// ⊗ as a value.
///
/// # Safety
/// There is one type of value, with memory `W`, such that the multiplier overwrites all output words with words of it,
/// whatever the factors.
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
        // SAFETY: the memory of the values, any bytes of which are valid as bytes.
        let bytes_of_b = unsafe { std::slice::from_raw_parts(ys.as_ptr().cast(), ys.len() * ys.ty().size()) };
        let (rows_of_a, rows_of_b) = (RowsOf::without_values(a), RowsOf::without_values(b));
        Self { a, b, xs, ys, rows_of_a, rows_of_b, bytes_of_b, fold, mul }
    }

    /// Each entry `p` of A, A(i, k), with its row of B, which is prefetched ahead.
    #[inline(always)]
    fn row_pieces<'f>(&'f self, row: &'f RowOfA<'_>) -> impl Iterator<Item = (Piece, &'f [u32])> + 'f {
        let i = row.i;
        let (entries, soon) = (self.a.row_ptr()[i]..self.a.row_ptr()[i + 1], self.rows_of_a.columns_after(i, AHEAD));
        let met = entries.zip(self.rows_of_a.row(i).0).enumerate().map(move |(s, (p, k))| {
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
            (Piece { i, k, p, q, n: js.len() }, js)
        });
        met.filter(|(piece, _)| piece.n > 0)
    }
    /// Buffers the factors of a whole row, if they fit and its rows of B are short.
    #[inline(always)]
    fn push_row(&self, row: &RowOfA<'_>, buffer: &mut Buffer<W>) -> bool {
        let before = (buffer.n, buffer.count);
        for (piece, _) in self.row_pieces(row) {
            if piece.n >= LONG || buffer.n + piece.n > BLOCK {
                (buffer.n, buffer.count) = before;
                return false;
            }
            buffer.push(piece, self.b);
        }
        true
    }
    /// Multiplies the buffered factors: columns and products.
    fn multiply<'b>(&self, mul: &mut dyn Multiplier<W>, buffer: &'b mut Buffer<W>) -> (&'b [u32], &'b [W]) {
        let (n, count) = (std::mem::take(&mut buffer.n), std::mem::take(&mut buffer.count));
        let Buffer { js, zs, pieces, .. } = buffer;
        let (js, zs) = (&js[..n], &mut zs[..n]);
        if n > 0 {
            mul.multiply_pieces(Pieces { xs: self.xs, ys: self.ys, pieces: &pieces[..count], js }, zs);
        }
        (js, zs)
    }
    /// Multiplies the buffered factors and folds them row by row.
    fn finish(
        &self,
        rows: &mut Rows<'_, '_, '_, W>,
        mul: &mut dyn Multiplier<W>,
        buffer: &mut Buffer<W>,
        ends: &[(usize, usize)],
    ) {
        let ((js, zs), mut start) = (self.multiply(mul, buffer), 0);
        for &(i, end) in ends {
            self.fold.to_window(rows.window, &js[start..end], &zs[start..end]);
            rows.read_off(i, self.fold.identity());
            start = end;
        }
    }
    /// Calls `fold` with columns and products, in order, for each row of B that the row of A selects.
    #[inline(always)]
    fn each(
        &self,
        row: RowOfA<'_>,
        mul: &mut dyn Multiplier<W>,
        buffer: &mut Buffer<W>,
        mut fold: impl FnMut(&[u32], &[W]),
    ) {
        for (Piece { i, k, p, mut q, n }, js) in self.row_pieces(&row) {
            if buffer.n > 0 && (buffer.n + n > BLOCK || n >= LONG) {
                let (js, zs) = self.multiply(mul, buffer);
                fold(js, zs);
            }
            if n < LONG {
                buffer.push(Piece { i, k, p, q, n }, self.b);
                continue;
            }
            for js in js.chunks(BLOCK) {
                let products = &mut buffer.zs[..js.len()];
                let (x, ys) = (self.xs.part(p..p + 1), self.ys.part(q..q + js.len()));
                mul.multiply(Factors { i, k, x, js, ys }, products);
                fold(js, products);
                q += js.len();
            }
        }
        if buffer.n > 0 {
            let (js, zs) = self.multiply(mul, buffer);
            fold(js, zs);
        }
    }
    fn buffer(&self) -> Buffer<W> {
        Buffer { js: [0; BLOCK], zs: [self.fold.identity(); BLOCK], n: 0, pieces: [Piece::default(); BLOCK], count: 0 }
    }
}

/// Rows of C to be copied from a window.
struct Rows<'a, 's, 'w, W> {
    c: &'a Pattern,
    part: Option<&'a Range<usize>>,
    window: &'w mut [W],
    slots: &'w mut OutputSlice<'s, W>,
}
impl<W: Word> Rows<'_, '_, '_, W> {
    /// Copies the values of row i and resets the window to the identity.
    fn read_off(&mut self, i: usize, identity: W) {
        let (cols, mask) = (columns_of_row(self.c, i, self.part), self.window.len() - 1);
        for (j, z) in cols.iter().zip(self.slots.take(cols.len(), identity)) {
            *z = std::mem::replace(&mut self.window[j.get() & mask], identity);
        }
    }
}

/// Pending columns and products.
struct Buffer<W> {
    js: [u32; BLOCK],
    zs: [W; BLOCK],
    /// Number of pending products.
    n: usize,
    pieces: [Piece; BLOCK],
    /// Number of pending pieces, each of at least one product.
    count: usize,
}
impl<W> Buffer<W> {
    /// Buffers a piece with fewer than [`LONG`] entries of B; the caller checks that it fits.
    #[inline(always)]
    fn push(&mut self, piece: Piece, b: &Pattern) {
        let (to, from) = (&mut self.js[self.n..], &b.col_idx()[piece.q..]);
        match (to.first_chunk_mut::<LONG>(), from.first_chunk::<LONG>()) {
            // A copy of fixed length: the surplus is overwritten by the next piece.
            (Some(to), Some(from)) => *to = *from,
            _ => to[..piece.n].copy_from_slice(&from[..piece.n]),
        }
        self.pieces[self.count] = piece;
        self.n += piece.n;
        self.count += 1;
    }
}

// SAFETY: the type is that of ⊕ and ⊗ (`new`): the identity is of it, ⊗ writes words of it, and ⊕ preserves it.
unsafe impl<W: Word> Multiply<W, u32> for Staged<'_, W> {
    fn patterns(&self) -> (&Arc<Pattern>, &Arc<Pattern>) {
        (self.a, self.b)
    }
    fn identity(&self) -> W {
        self.fold.identity()
    }
    fn by_window(&self, rows: RowsOfC<'_, u32>, window: &mut [W], slots: &mut OutputSlice<'_, W>) {
        let (mut buffer, identity) = (self.buffer(), self.fold.identity());
        let RowsOfC { rows, c, part } = rows;
        let mut of_c = Rows { c, part, window, slots };
        // Rows of A whose products are pending, with their ends in the buffer: short rows are multiplied together.
        let (mut ends, mut waiting) = ([(0, 0); BLOCK], 0);
        self.mul.with(&mut |mul| {
            for i in rows.clone() {
                // No products: the most common case in hypersparse matrices.
                if columns_of_row(c, i, part).is_empty() {
                    continue;
                }
                let row = RowOfA { i, part };
                let mut is_pushed = waiting < BLOCK && self.push_row(&row, &mut buffer);
                if !is_pushed && waiting > 0 {
                    self.finish(&mut of_c, mul, &mut buffer, &ends[..waiting]);
                    waiting = 0;
                    is_pushed = self.push_row(&row, &mut buffer);
                }
                if is_pushed {
                    ends[waiting] = (i, buffer.n);
                    waiting += 1;
                } else {
                    self.each(row, mul, &mut buffer, |js, zs| self.fold.to_window(of_c.window, js, zs));
                    of_c.read_off(i, identity);
                }
            }
            self.finish(&mut of_c, mul, &mut buffer, &ends[..waiting]);
            waiting = 0;
        });
    }
    fn to_short_positions(&self, row: RowOfA<'_>, values: &mut [W], positions: &[u16]) {
        let mut buffer = self.buffer();
        self.mul.with(&mut |mul| {
            self.each(row, mul, &mut buffer, |js, zs| self.fold.to_short_positions(values, positions, js, zs));
        });
    }
    fn to_positions(&self, row: RowOfA<'_>, values: &mut [W], positions: &[u32]) {
        let mut buffer = self.buffer();
        self.mul.with(&mut |mul| {
            self.each(row, mul, &mut buffer, |js, zs| self.fold.to_positions(values, positions, js, zs));
        });
    }
    fn to_slots(&self, i: usize, p: usize, q: usize, values: &mut [W], slots: &[usize]) {
        let mut buffer = self.buffer();
        self.mul.with(&mut |mul| {
            let (mut p, mut q, mut slots) = (p, q, slots);
            while !slots.is_empty() {
                let k = self.a.col_idx()[p].get();
                let n = slots.len().min(BLOCK).min(self.b.row_ptr()[k + 1] - q);
                let (now, later) = slots.split_at(n);
                let (js, ys) = (&self.b.col_idx()[q..q + n], self.ys.part(q..q + n));
                let zs = &mut buffer.zs[..n];
                mul.multiply(Factors { i, k, x: self.xs.part(p..p + 1), js, ys }, zs);
                self.fold.to_slots(values, now, zs);
                (q, slots) = (q + n, later);
                if !slots.is_empty() && q == self.b.row_ptr()[k + 1] {
                    p += 1;
                    q = self.b.row_ptr()[self.a.col_idx()[p].get()];
                }
            }
        });
    }
}
