//! Triangles of a graph distributed in blocks: the count of one process.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::par::{Threads, append_blocks, filled, reserved, try_split};
use crate::simd::{self, count_intersections, dispatch_work, packed_row, prefetch, push_packed, set_bits};
use crate::sparse::out_of_memory;
use crate::{Error, Result};

/// Minimum entries per block of rows.
const BLOCK: usize = 1 << 13;
/// Maximum number of blocks.
const BLOCKS: usize = 1024;

/// Rows of a pattern with unsorted names: row i has `names[ptr[i]..ptr[i + 1]]`.
#[derive(Clone, Copy, Debug)]
pub struct PanelRows<'a> {
    ptr: &'a [u32],
    names: &'a [u32],
}

impl<'a> PanelRows<'a> {
    /// Rows with these pointers into `names`.
    /// # Errors
    /// [`Error::Argument`] for invalid pointers.
    pub fn new(ptr: &'a [u32], names: &'a [u32]) -> Result<Self> {
        let end = ptr.last().map(|&end| end as usize);
        let fits = ptr.first() == Some(&0) && end == Some(names.len()) && ptr.is_sorted();
        let message = || "pointers do not increase from 0 to the number of entries".into();
        if fits { Ok(Self { ptr, names }) } else { Err(Error::Argument { name: "ptr", message: message() }) }
    }
    fn len(&self) -> usize {
        self.ptr.len() - 1
    }
    #[inline(always)]
    fn row(&self, i: usize) -> &'a [u32] {
        &self.names[self.ptr[i] as usize..self.ptr[i + 1] as usize]
    }
    fn longest(&self) -> usize {
        self.ptr.windows(2).map(|w| (w[1] - w[0]) as usize).max().unwrap_or(0)
    }
}

/// `Σ M ∘ (A·B)` over (+, pair): for each row i of M, the number of names that it shares with those rows of B that row
/// i of A names. If all three are blocks of the lower triangle L of a graph, the result counts triangles.
///
/// Shapes: M m×n; A m×k, in column blocks that name rows of the whole B; B k×n, in row blocks. A repeated name in a row
/// of M or B counts once. Rows of B are packed, 64 names to a word. Cost: O(m + nnz(M) + nnz(A) + nnz(B)) time, and a
/// step per word of row k of B for each entry (i, k) of A in nonempty rows of M; O(nnz(B) + k) memory, and n / 8 bytes
/// per thread. The same count for any number of threads.
/// # Errors
/// [`Error::Shape`] if blocks of A differ from M in rows; [`Error::OutOfMemory`]; [`Error::Cancelled`].
/// # Panics
/// If a name of A is no row of B.
/// # Example
/// ```
/// use sparring::par::Threads;
/// use sparring::runtime::engine::{PanelRows, masked_pairs};
/// // Rows 1 – 0, 2 – 0, 2 – 1.
/// let l = PanelRows::new(&[0, 0, 1, 3], &[0, 0, 1])?;
/// assert_eq!(masked_pairs(&Threads::caller(), 3, l, &[l], &[l])?, 1);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Tom, Karypis 2019, "A 2D parallel triangle counting algorithm for distributed-memory architectures".
pub fn masked_pairs(
    threads: &Threads,
    n: usize,
    mask: PanelRows<'_>,
    a: &[PanelRows<'_>],
    b: &[PanelRows<'_>],
) -> Result<u64> {
    if let Some(a) = a.iter().find(|a| a.len() != mask.len()) {
        return Err(Error::Shape { op: "masked_pairs", lhs: (mask.len(), n), rhs: (a.len(), 0) });
    }
    if mask.names.is_empty() {
        return Ok(0);
    }
    let packed = Packed::new(threads, n, b)?;
    let before = |i: usize| a.iter().map(|a| a.ptr[i] as usize).sum::<usize>();
    let blocks = try_split(mask.len(), (before(mask.len()) / BLOCK).clamp(1, BLOCKS), |i| (before(i) + i) as u64)?;
    let longest = a.iter().map(PanelRows::longest).sum();
    let sum = AtomicU64::new(0);
    threads.for_each_of(
        "triangles",
        blocks.len(),
        || Ok((filled(packed.words, 0, "bits of a row")?, filled(longest, 0, "places of rows")?)),
        |(words, starts), block| {
            let count = Count { packed: &packed, mask, a, block: blocks[block].clone(), words, starts };
            sum.fetch_add(dispatch_work(count), Ordering::Relaxed);
            Ok(())
        },
    )?;
    Ok(sum.into_inner())
}

/// Packed rows of B, 64 columns to a word, after an empty row.
struct Packed {
    rows: Vec<u64>,
    /// The start of each row; 0 if empty.
    starts: Vec<usize>,
    /// Words in a bitmap of all columns, a power of two.
    words: usize,
}

impl Packed {
    fn new(threads: &Threads, n: usize, b: &[PanelRows<'_>]) -> Result<Self> {
        let words = n.div_ceil(64).next_power_of_two();
        let mut blocks = reserved(b.iter().map(|b| b.names.len() / BLOCK + 1).sum(), "blocks")?;
        for &b in b {
            let parts = try_split(b.len(), b.names.len() / BLOCK + 1, |i| (b.ptr[i] as usize + i) as u64)?;
            blocks.extend(parts.into_iter().map(|part| (b, part)));
        }
        let longest = b.iter().map(PanelRows::longest).max().unwrap_or(0);
        let (rows_in_all, hint) = (b.iter().map(PanelRows::len).sum(), b.iter().map(|b| 2 * b.names.len()).sum());
        let rows = append_blocks(
            threads,
            "triangles",
            blocks.len(),
            hint,
            || Ok((filled(words, 0, "bits of a row")?, filled(longest + 1, 0, "words of a row")?)),
            |(words, touched), block, rows: &mut Vec<u64>| {
                if block == 0 {
                    rows.try_reserve(1).map_err(|_| out_of_memory::<u64>("rows of L", 1))?;
                    rows.push(0);
                }
                let (b, block) = blocks[block].clone();
                dispatch_work(Pack { b, block, rows, words, touched })
            },
        )?;
        let mut starts = reserved(rows_in_all, "places of rows")?;
        let mut at = 1;
        for ends in b.iter().flat_map(|b| b.ptr.windows(2)) {
            let empty = ends[0] == ends[1];
            starts.push(if empty { 0 } else { at });
            if !empty {
                at = packed_row(&rows, at).2;
            }
        }
        Ok(Self { rows, starts, words })
    }
}

/// A range of rows to be packed, for [`dispatch_work`].
struct Pack<'a> {
    b: PanelRows<'a>,
    block: Range<usize>,
    rows: &'a mut Vec<u64>,
    words: &'a mut [u64],
    touched: &'a mut [u32],
}

impl simd::Work for Pack<'_> {
    type Out = Result<()>;
    #[inline(always)]
    fn run(self) -> Result<()> {
        let mask = self.words.len() - 1;
        for i in self.block {
            let names = self.b.row(i);
            if !names.is_empty() {
                let n = set_bits(names, self.words, mask, self.touched);
                push_packed(self.rows, &self.touched[..n], self.words)?;
            }
        }
        Ok(())
    }
}

/// A range of rows to be counted, for [`dispatch_work`].
struct Count<'a> {
    packed: &'a Packed,
    mask: PanelRows<'a>,
    a: &'a [PanelRows<'a>],
    block: Range<usize>,
    words: &'a mut [u64],
    starts: &'a mut [usize],
}

impl simd::Work for Count<'_> {
    type Out = u64;
    #[inline(always)]
    fn run(self) -> u64 {
        let Self { packed, mask, a, block, words, starts } = self;
        let of_words = words.len() - 1;
        let mut sum = 0;
        for i in block {
            let names = mask.row(i);
            if names.is_empty() {
                continue;
            }
            let mut rows = 0;
            for &k in a.iter().flat_map(|a| a.row(i)) {
                let start = packed.starts[k as usize];
                starts[rows] = start;
                rows += usize::from(start > 0);
                prefetch(&packed.rows, start);
            }
            if rows > 0 {
                names.iter().for_each(|&j| words[(j as usize >> 6) & of_words] |= 1 << (j & 63));
                sum += count_intersections(&packed.rows, &starts[..rows], words, of_words);
                names.iter().for_each(|&j| words[(j as usize >> 6) & of_words] = 0);
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against three loops, on patterns with empty rows, each operand whole and in two blocks.
    #[test]
    fn counts_are_those_of_the_definition() {
        let mut state = 7u64;
        let mut next = move |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for case in 0..60 {
            let (m, k, n) = (next(9), 1 + next(80), 1 + next(300));
            let mut rows = |of: usize, below: usize| {
                let (mut ptr, mut names) = (vec![0], vec![]);
                for _ in 0..of {
                    let full = next(4);
                    names.extend((0..below as u32).filter(|_| next(4) < full));
                    ptr.push(names.len() as u32);
                }
                (ptr, names)
            };
            let parts = [rows(m, n), rows(m, k), rows(m, k), rows(k / 2, n), rows(k - k / 2, n)];
            let [mask, a, a_too, b, b_too] = parts.each_ref().map(|(ptr, names)| PanelRows::new(ptr, names).unwrap());
            let common = |i: usize, k: u32| {
                let (k, first) = (k as usize, b.len());
                let of_b = if k < first { b.row(k) } else { b_too.row(k - first) };
                mask.row(i).iter().filter(|j| of_b.contains(j)).count() as u64
            };
            let want =
                |a: PanelRows<'_>| -> u64 { (0..m).map(|i| a.row(i).iter().map(|&k| common(i, k)).sum::<u64>()).sum() };
            for threads in [1, 2] {
                let threads = Threads::new(threads).unwrap();
                let count = |a: &[PanelRows<'_>]| masked_pairs(&threads, n, mask, a, &[b, b_too]).unwrap();
                assert_eq!(count(&[a]), want(a), "case {case}");
                assert_eq!(count(&[a, a_too]), want(a) + want(a_too), "case {case}");
            }
        }
    }

    #[test]
    fn rows_that_do_not_fit_are_refused() {
        let threads = Threads::caller();
        assert!(PanelRows::new(&[0, 2], &[1]).is_err() && PanelRows::new(&[], &[]).is_err());
        let (one, two) = (PanelRows::new(&[0, 1], &[0]).unwrap(), PanelRows::new(&[0, 0, 2], &[0, 0]).unwrap());
        assert!(masked_pairs(&threads, 1, two, &[one], &[one]).unwrap_err().to_string().contains("masked_pairs"));
        assert_eq!(masked_pairs(&threads, 1, one, &[one], &[two]).unwrap(), 0);
        assert_eq!(masked_pairs(&threads, 1, two, &[two], &[one]).unwrap(), 2);
        assert_eq!(masked_pairs(&threads, 1, one, &[], &[]).unwrap(), 0);
    }
}
