//! The columns of a row of C, in order.
//!
//! A short row is sorted in registers. A longer row sets one bit per column (or ors the words of compressed B) and then
//! reads the bits off in order: no hashing, no sorting, no test whether a column is new. Where the row spans a wide
//! range but has few entries, one byte per eight words flags the words in use.

use std::ops::Range;

use super::budget::bytes_of;
use super::shifted_rows::{Operands, ShiftedRows, sample};
use crate::par::{filled, reserved};
use crate::simd::{
    RowsOf, SHORT, ShortList, count_new, emit_columns, emit_flagged, or_bits, or_bits_flagged, or_words,
    or_words_flagged, take_count, take_count_flagged,
};
use crate::sparse::out_of_memory;
use crate::{Index, Pattern, Result};

/// Prefetch distance: entries of A ahead of the current one whose rows of B are prefetched.
const AHEAD: usize = 8;
/// Widest B whose rows use a bitmap (64 MiB of bits a thread); wider ones are sorted.
const WIDEST: usize = 1 << 29;

/// Words of bitmap per product of a row above which its columns are sorted instead. (B of 10⁸ columns, 316 products in
/// a row, two threads: 95 ms by flags, 42 by sorting.)
pub(super) const SPARSE: usize = 1 << 12;

/// Rows of at most this many columns make the next row try a single register first.
const SHORT_ROW: usize = 16;

/// Widest B for which the first rows are tested for covering all columns.
const NARROW: usize = 1 << 12;
/// The first 1/16 of the rows of B that a row of A selects are sampled, and their columns are counted after every 16.
const SAMPLE_STEP: usize = 16;

/// Whether rows of C are likely to be full. The first products of a row then show it, and B need not be compressed.
pub(super) fn are_full(nrows: usize, ncols: usize, flops: u64) -> bool {
    ncols <= NARROW && flops as u128 >= (4 * SAMPLE_STEP) as u128 * nrows as u128 * ncols as u128
}

/// How the columns of a row that is not short are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Search {
    /// By a bitmap, unless there are too many columns.
    Bits,
    /// By sorting the list of all columns: slower, but its memory is that of the longest row.
    Lists,
    /// Counted only, not found: each column has a stamp, the number of the last row that had it.
    Stamps,
}

/// Finds the columns of one row of C after another. One per thread.
pub(super) struct ColumnFinder<I: Index> {
    words: Vec<u64>,
    flags: Vec<u8>,
    list: ShortList<I>,
    /// Longest list that is sorted in registers.
    short: usize,
    /// Whether longer ones are sorted too.
    lists: bool,
    /// For each column the number of the last row that had it; empty unless columns are only counted.
    stamps: Vec<u32>,
    row: u32,
    /// Holds the columns found last, in its first elements.
    pub cols: Vec<I>,
}

impl<I: Index> ColumnFinder<I> {
    /// For rows of at most `max_row_flops` multiplications.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(super) fn new(of: Operands<'_, I>, max_row_flops: u64, by: Search) -> Result<Self> {
        let (nwords, room) = Self::room(of, max_row_flops, by);
        Ok(Self {
            words: filled(nwords, 0, "bits of a row")?,
            flags: filled(nwords / 8, 0, "bits of a row")?,
            list: ShortList::new(),
            short: Self::short(of),
            lists: Self::lists(of, by),
            stamps: filled(if by == Search::Stamps { of.b.ncols() } else { 0 }, 0, "stamps of columns")?,
            row: 0,
            cols: filled(room, I::cast(0), "columns of a row")?,
        })
    }
    /// Bytes that [`new`](Self::new) takes.
    pub(super) fn bytes(of: Operands<'_, I>, max_row_flops: u64, by: Search) -> u128 {
        let (nwords, room) = Self::room(of, max_row_flops, by);
        let stamps = if by == Search::Stamps { bytes_of::<u32>(of.b.ncols()) } else { 0 };
        bytes_of::<Self>(1) + bytes_of::<u64>(nwords) + bytes_of::<u8>(nwords / 8) + bytes_of::<I>(room) + stamps
    }
    /// Words of bitmap, and room for columns.
    fn room(of: Operands<'_, I>, max_row_flops: u64, by: Search) -> (usize, usize) {
        let (ncols, longest) = (of.b.ncols(), usize::try_from(max_row_flops).unwrap_or(usize::MAX));
        let lists = Self::lists(of, by);
        let bits = if longest <= Self::short(of) || lists || by == Search::Stamps {
            0
        } else {
            ncols.div_ceil(64).next_power_of_two()
        };
        let room = match by {
            Search::Stamps => 0,
            _ if lists => longest,
            _ => longest.min(ncols),
        };
        (bits.max(8), room.saturating_add(2 * SHORT))
    }
    fn short(of: Operands<'_, I>) -> usize {
        // Compressed rows are read faster than short lists are sorted, unless the list is very short.
        if of.packed.is_some() { SHORT / 4 } else { SHORT }
    }
    fn lists(of: Operands<'_, I>, by: Search) -> bool {
        by == Search::Lists || of.b.ncols() > WIDEST
    }

    /// Appends the columns of `rows` of C to `out`, each row sorted, and writes their lengths to `lens`.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    #[inline(always)]
    pub(super) fn append(
        &mut self,
        of: Operands<'_, I>,
        rows: Range<usize>,
        lens: &mut [usize],
        out: &mut Vec<I>,
    ) -> Result<()> {
        let (mut shifted, mut before, mut try_short) = (ShiftedRows::new::<I>(rows.start), 0, true);
        for (i, len) in rows.zip(lens) {
            *len = if of.a.row(i).is_empty() {
                0
            } else if let Some(by) = shifted.shift(of, i) {
                shifted.by.repeat(out, before, by)?;
                before
            } else if try_short
                && let Some(n) =
                    self.list.append_few(RowsOf::without_values(of.b), of.a.row(i), prefetch_ahead(of, i), out)?
            {
                n
            } else if let Some(n) = self.collect::<true>(of, i, None) {
                try_short = n <= SHORT_ROW;
                extend(out, &self.cols[..n])?;
                n
            } else {
                let n = self.list.sort_append(out)?;
                try_short = n <= SHORT_ROW;
                n
            };
            before = *len;
        }
        Ok(())
    }

    /// Writes the number of columns of each of `rows` of C to `lens`.
    #[inline(always)]
    pub(super) fn count_rows(&mut self, of: Operands<'_, I>, rows: Range<usize>, lens: &mut [usize]) {
        let (mut shifted, mut before, mut try_short) = (ShiftedRows::new::<I>(rows.start), 0, true);
        for (i, len) in rows.zip(lens) {
            *len = if shifted.shift(of, i).is_some() {
                before
            } else if try_short
                && let Some(n) = self.list.count_few(RowsOf::without_values(of.b), of.a.row(i), prefetch_ahead(of, i))
            {
                n
            } else if !self.stamps.is_empty() {
                self.count_stamped(of, i, None)
            } else {
                self.collect::<false>(of, i, None).unwrap_or_else(|| self.list.sort_dedup(&mut self.cols))
            };
            (before, try_short) = (*len, *len <= SHORT_ROW);
        }
    }

    /// Number of columns of row `i` of C within `part`.
    #[inline(always)]
    pub(super) fn count_part(&mut self, of: Operands<'_, I>, i: usize, part: &Range<usize>) -> usize {
        if self.stamps.is_empty() { self.find(of, i, Some(part)) } else { self.count_stamped(of, i, Some(part)) }
    }

    /// Number of columns of row `i` of C within `part`, by stamps: new columns are counted, and nothing is cleared.
    #[inline(always)]
    fn count_stamped(&mut self, of: Operands<'_, I>, i: usize, part: Option<&Range<usize>>) -> usize {
        // A row of C that equals one row of B has its length: always so in an outer product.
        if let ([k], None) = (of.a.row(i), part) {
            return of.b.row(k.get()).len();
        }
        if self.row == u32::MAX {
            self.stamps.fill(0);
            self.row = 0;
        }
        self.row += 1;
        let (row, b, prefetch) = (self.row, RowsOf::without_values(of.b), prefetch_ahead(of, i));
        let mut n = 0;
        for (p, k) in of.a.row(i).iter().enumerate() {
            prefetch(p);
            let js = match part {
                None => b.row(k.get()).0,
                Some(part) => b.part_of_row(k.get(), part).0,
            };
            n += count_new(&mut self.stamps, row, js);
        }
        n
    }

    /// Number of columns of row `i` of C within `part` (all if `None`); they are in `self.cols`, increasing.
    #[inline(always)]
    pub(super) fn find(&mut self, of: Operands<'_, I>, i: usize, part: Option<&Range<usize>>) -> usize {
        self.collect::<true>(of, i, part).unwrap_or_else(|| self.list.sort_dedup(&mut self.cols))
    }

    /// As [`find`](Self::find), without the columns unless `KEEP`. `None`: the columns are in `self.list`, unsorted and
    /// possibly repeated.
    #[inline(always)]
    fn collect<const KEEP: bool>(
        &mut self,
        of: Operands<'_, I>,
        i: usize,
        part: Option<&Range<usize>>,
    ) -> Option<usize> {
        let plain = RowsOf::without_values(of.b);
        let row = |k: I| match part {
            None => plain.row(k.get()).0,
            Some(part) => plain.part_of_row(k.get(), part).0,
        };
        let ks = of.a.row(i);
        if part.is_none()
            && of.b.ncols() <= NARROW
            && ks.len() >= of.b.ncols().max(SAMPLE_STEP)
            && self.is_full(of.b, &ks[..ks.len() / SAMPLE_STEP])
        {
            if KEEP {
                self.cols.iter_mut().zip(0..of.b.ncols()).for_each(|(col, j)| *col = I::cast(j));
            }
            return Some(of.b.ncols());
        }
        let (mut flops, mut live, mut only): (usize, usize, &[I]) = (0, 0, &[]);
        let (mut lo, mut hi) = (usize::MAX, 0);
        let upcoming = of.a.col_idx().get(of.a.row_ptr()[i] + AHEAD..).unwrap_or(&[]);
        let prefetch = prefetch_ahead(of, i);
        for (p, &k) in ks.iter().enumerate() {
            prefetch(p);
            let js = row(k);
            if let [first, .., last] | [first @ last] = js {
                (lo, hi) = (lo.min(first.get()), hi.max(last.get()));
                flops += js.len();
                live += 1;
                only = js;
            }
        }
        if flops == 0 {
            return Some(0);
        }
        if live == 1 && of.b.is_sorted() {
            if KEEP {
                self.cols[..flops].copy_from_slice(only);
            }
            return Some(flops);
        }
        if flops <= self.short {
            self.list.clear();
            for &k in ks {
                self.list.push_all(of.b.col_idx(), row(k));
            }
            return None;
        }
        if self.lists {
            return Some(self.sorted(ks.iter().map(|&k| row(k))));
        }
        if !of.b.is_sorted() {
            (lo, hi) = (0, of.b.ncols() - 1);
        }
        let span = lo >> 6..(hi >> 6) + 1;
        // Scanning the flags of that many words takes longer than sorting.
        if span.len() / SPARSE > flops {
            return Some(self.sorted(ks.iter().map(|&k| row(k))));
        }
        let (words, flags) = (&mut self.words[..], &mut self.flags[..]);
        let mask = words.len() - 1;
        // Scanning eight empty words costs about as much as flagging one multiplication.
        let flagged = span.len() / 8 > flops;
        match of.packed {
            // A part of a row may begin inside a word, so parts read the uncompressed columns.
            Some(packed) if part.is_none() => {
                let packed = RowsOf::new(packed.sets(), packed.words());
                for (p, k) in ks.iter().enumerate() {
                    if let Some(k) = upcoming.get(p) {
                        packed.prefetch(k.get());
                    }
                    let (sets, bits) = packed.row(k.get());
                    if flagged {
                        or_words_flagged(words, flags, mask, sets, bits);
                    } else {
                        or_words(words, mask, sets, bits);
                    }
                }
            }
            _ => {
                for &k in ks {
                    if flagged {
                        or_bits_flagged(words, flags, mask, row(k));
                    } else {
                        or_bits(words, mask, row(k));
                    }
                }
            }
        }
        Some(match (flagged, KEEP) {
            (true, true) => emit_flagged(words, flags, span, &mut self.cols),
            (false, true) => emit_columns(words, span, &mut self.cols),
            (true, false) => take_count_flagged(words, flags, span),
            (false, false) => take_count(words, span),
        })
    }

    /// Whether a sample of rows of B covers all columns together: then no other row needs to be read.
    fn is_full(&mut self, b: &Pattern<I>, ks: &[I]) -> bool {
        let used = b.ncols().div_ceil(64);
        if used == 0 || used > self.words.len() {
            return false;
        }
        let (words, rows, mut full) = (&mut self.words[..], RowsOf::without_values(b), false);
        let mask = words.len() - 1;
        for ks in ks.chunks(SAMPLE_STEP) {
            ks.iter().for_each(|k| or_bits(words, mask, rows.row(k.get()).0));
            full = words[..used].iter().map(|word| word.count_ones() as usize).sum::<usize>() == b.ncols();
            if full {
                break;
            }
        }
        words[..used].fill(0);
        full
    }

    /// The columns by sorting the list of all of them.
    #[cold]
    fn sorted<'a>(&mut self, rows: impl Iterator<Item = &'a [I]>) -> usize {
        let mut n = 0;
        for row in rows {
            self.cols[n..n + row.len()].copy_from_slice(row);
            n += row.len();
        }
        self.cols[..n].sort_unstable();
        let mut kept = 0;
        for p in 0..n {
            if kept == 0 || self.cols[kept - 1] != self.cols[p] {
                self.cols[kept] = self.cols[p];
                kept += 1;
            }
        }
        kept
    }
}

/// Appends a row to a block of C.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
#[inline(always)]
pub(super) fn extend<T: Copy>(out: &mut Vec<T>, row: &[T]) -> Result<()> {
    out.try_reserve(row.len()).map_err(|_| out_of_memory::<T>("a block of C", out.len() + row.len()))?;
    out.extend_from_slice(row);
    Ok(())
}

/// Prefetches the rows of B for entries of A to come, from row `i` on and across row boundaries: to be called for each
/// entry.
#[inline(always)]
fn prefetch_ahead<I: Index>(of: Operands<'_, I>, i: usize) -> impl Fn(usize) {
    let upcoming = of.a.col_idx().get(of.a.row_ptr()[i] + AHEAD..).unwrap_or(&[]);
    let b = RowsOf::without_values(of.b);
    move |p| {
        if let Some(k) = upcoming.get(p) {
            b.prefetch(k.get());
        }
        if let Some(k) = upcoming.get(p + AHEAD) {
            b.prefetch_pointer(k.get());
        }
    }
}

/// The fraction of rows with at most sixteen products, from a sample of 64.
pub(super) fn short_rows<I: Index>(a: &Pattern<I>, b: &Pattern<I>) -> f64 {
    let products = |i: usize| a.row(i).iter().map(|k| b.row(k.get()).len()).sum::<usize>();
    let short = sample(a.nrows()).filter(|&i| products(i) <= SHORT_ROW).count();
    short as f64 / sample(a.nrows()).count().max(1) as f64
}

/// Products per column of C, from a sample of 64 rows, or fewer where these have more than 1/512 of the `flops`
/// products.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub(super) fn products_a_column<I: Index>(a: &Pattern<I>, b: &Pattern<I>, flops: u64) -> Result<f64> {
    const LONG: usize = 1 << 14;
    let (mut row, mut products, mut columns) = (reserved(LONG, "a sample of columns")?, 0, 0);
    for i in sample(a.nrows()) {
        row.clear();
        for k in a.row(i) {
            let js = b.row(k.get());
            row.extend_from_slice(&js[..js.len().min(LONG - row.len())]);
        }
        products += row.len();
        row.sort_unstable();
        row.dedup();
        columns += row.len();
        if products as u64 > flops / 512 {
            break;
        }
    }
    Ok(products as f64 / columns.max(1) as f64)
}
