//! Which columns a row of C has, in order.
//!
//! A short row is sorted in registers. A longer one sets one bit a column (or ors the words of compressed
//! B), and reads the bits off in order: no hashing, no sorting, no test whether a column is new.
//! Where the row reaches far and holds little, a byte for every eight words says where to look.

use std::ops::Range;

use super::budget::bytes_of;
use crate::par::filled;
use crate::simd::{
    RowsOf, SHORT, ShortList, emit_columns, emit_flagged, or_bits, or_bits_flagged, or_words, or_words_flagged,
};
use crate::sparse::BitRows;
use crate::{Index, Pattern, Result};

/// Entries of A ahead of the current one whose rows of B are asked for.
const AHEAD: usize = 8;
/// Widest B whose rows get a bit a column (64 MiB of bits a thread); wider ones are sorted.
const WIDEST: usize = 1 << 29;

/// How the columns of a row that is not short are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Search {
    /// By a bit a column, unless the columns are too many.
    Bits,
    /// By sorting the list of all: slower, but its memory is that of the longest row.
    Lists,
}

/// The operands of a product.
#[derive(Clone, Copy)]
pub(super) struct Operands<'a, I: Index> {
    pub a: &'a Pattern<I>,
    pub b: &'a Pattern<I>,
    /// B with 64 columns to a word, where that saves work.
    pub packed: Option<&'a BitRows<u64, I>>,
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
    /// The columns found last are the first so many of these.
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
            cols: filled(room, I::cast(0), "columns of a row")?,
        })
    }
    /// Bytes that [`new`](Self::new) takes.
    pub(super) fn bytes(of: Operands<'_, I>, max_row_flops: u64, by: Search) -> u128 {
        let (nwords, room) = Self::room(of, max_row_flops, by);
        bytes_of::<Self>(1) + bytes_of::<u64>(nwords) + bytes_of::<u8>(nwords / 8) + bytes_of::<I>(room)
    }
    /// Words of bits, and columns.
    fn room(of: Operands<'_, I>, max_row_flops: u64, by: Search) -> (usize, usize) {
        let (ncols, longest) = (of.b.ncols(), usize::try_from(max_row_flops).unwrap_or(usize::MAX));
        let lists = Self::lists(of, by);
        let bits = if longest <= Self::short(of) || lists { 0 } else { ncols.div_ceil(64).next_power_of_two() };
        let room = if lists { longest } else { longest.min(ncols) };
        (bits.max(8), room.saturating_add(2 * SHORT))
    }
    fn short(of: Operands<'_, I>) -> usize {
        // Compressed rows are read faster than short lists are sorted, unless the list is very short.
        if of.packed.is_some() { SHORT / 4 } else { SHORT }
    }
    fn lists(of: Operands<'_, I>, by: Search) -> bool {
        by == Search::Lists || of.b.ncols() > WIDEST
    }

    /// Number of columns of row `i` of C within `part`.
    #[inline(always)]
    pub(super) fn count(&mut self, of: Operands<'_, I>, i: usize, part: Option<&Range<usize>>) -> usize {
        // A row that is one of B need not be copied to be counted: a column times a row has nothing else.
        if let ([k], None, true) = (of.a.row(i), part, of.b.is_sorted()) {
            return of.b.row(k.get()).len();
        }
        self.find(of, i, part)
    }

    /// Number of columns of row `i` of C within `part` (all if `None`); they are in `self.cols`, increasing.
    #[inline(always)]
    pub(super) fn find(&mut self, of: Operands<'_, I>, i: usize, part: Option<&Range<usize>>) -> usize {
        let plain = RowsOf::without_values(of.b);
        let row = |k: I| match part {
            None => plain.row(k.get()).0,
            Some(part) => plain.part_of_row(k.get(), part).0,
        };
        let ks = of.a.row(i);
        let (mut flops, mut live, mut only): (usize, usize, &[I]) = (0, 0, &[]);
        let (mut lo, mut hi) = (usize::MAX, 0);
        // What this loop and the next ones read of B is asked for here, across the ends of rows.
        let soon = of.a.col_idx().get(of.a.row_ptr()[i] + AHEAD..).unwrap_or(&[]);
        for (p, &k) in ks.iter().enumerate() {
            if let Some(k) = soon.get(p) {
                plain.prefetch(k.get());
            }
            if let Some(k) = soon.get(p + AHEAD) {
                plain.prefetch_pointer(k.get());
            }
            let js = row(k);
            if let [first, .., last] | [first @ last] = js {
                (lo, hi) = (lo.min(first.get()), hi.max(last.get()));
                flops += js.len();
                live += 1;
                only = js;
            }
        }
        if flops == 0 {
            return 0;
        }
        if live == 1 && of.b.is_sorted() {
            self.cols[..flops].copy_from_slice(only);
            return flops;
        }
        if flops <= self.short {
            self.list.clear();
            for &k in ks {
                self.list.push_all(of.b.col_idx(), row(k));
            }
            return self.list.sort_dedup(&mut self.cols);
        }
        if self.lists {
            return self.sorted(ks.iter().map(|&k| row(k)));
        }
        if !of.b.is_sorted() {
            (lo, hi) = (0, of.b.ncols() - 1);
        }
        let span = lo >> 6..(hi >> 6) + 1;
        let (words, flags) = (&mut self.words[..], &mut self.flags[..]);
        let mask = words.len() - 1;
        // Looking through eight empty words costs about what flagging one multiplication does.
        let flagged = span.len() / 8 > flops;
        match of.packed {
            // A part of a row may begin inside a word, so parts read the plain columns.
            Some(packed) if part.is_none() => {
                let packed = RowsOf::new(packed.sets(), packed.words());
                for (p, k) in ks.iter().enumerate() {
                    if let Some(k) = soon.get(p) {
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
        if flagged {
            emit_flagged(words, flags, span, &mut self.cols)
        } else {
            emit_columns(words, span, &mut self.cols)
        }
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
