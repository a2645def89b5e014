//! Which columns a row of C has, in order.
//!
//! A short row is sorted in registers. A longer one sets one bit a column (or ors the words of compressed
//! B), and reads the bits off in order: no hashing, no sorting, no test whether a column is new.
//! Where the row reaches far and holds little, a byte for every eight words says where to look.

use std::ops::Range;

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
    /// Longest list that is sorted.
    short: usize,
    /// The columns found last are the first so many of these.
    pub cols: Vec<I>,
}

impl<I: Index> ColumnFinder<I> {
    /// For rows of at most `max_row_flops` multiplications.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(super) fn new(of: Operands<'_, I>, max_row_flops: u64) -> Result<Self> {
        let (ncols, longest) = (of.b.ncols(), usize::try_from(max_row_flops).unwrap_or(usize::MAX));
        // Compressed rows are read faster than short lists are sorted, unless the list is very short.
        let short = if of.packed.is_some() { SHORT / 4 } else { SHORT };
        let nwords = if longest <= short || ncols > WIDEST { 8 } else { ncols.div_ceil(64).next_power_of_two().max(8) };
        let room = if ncols > WIDEST { longest } else { longest.min(ncols) };
        Ok(Self {
            words: filled(nwords, 0, "bits of a row")?,
            flags: filled(nwords / 8, 0, "bits of a row")?,
            list: ShortList::new(),
            short,
            cols: filled(room.saturating_add(2 * SHORT), I::cast(0), "columns of a row")?,
        })
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
        for &k in ks {
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
        let soon = of.a.col_idx().get(of.a.row_ptr()[i] + AHEAD..).unwrap_or(&[]);
        if flops <= self.short {
            self.list.clear();
            for (p, &k) in ks.iter().enumerate() {
                if let Some(k) = soon.get(p) {
                    plain.prefetch(k.get());
                }
                self.list.push_all(of.b.col_idx(), row(k));
            }
            return self.list.sort_dedup(&mut self.cols);
        }
        if of.b.ncols() > WIDEST {
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
                for (p, &k) in ks.iter().enumerate() {
                    if let Some(k) = soon.get(p) {
                        plain.prefetch(k.get());
                    }
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
