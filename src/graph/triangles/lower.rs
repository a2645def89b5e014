//! L in packed rows for fast intersection, and the count.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::adjacency::{Adjacency, Order};
use crate::par::{Threads, append_blocks, counters, filled, reserved, try_split, zeros};
use crate::simd::{
    self, SLACK, count_intersections, dispatch_work, emit_sets, labels_below, load_packed, packed_row, prefetch,
    push_packed, set_bits,
};
use crate::sparse::out_of_memory;
use crate::{Index, Result};

/// The bitmap of a row, and a list of its nonzero words.
pub(super) struct Scratch {
    words: Vec<u64>,
    touched: Vec<u32>,
}

/// Appends the row of `names`, which may have repeats.
#[inline(always)]
fn push(rows: &mut Vec<u64>, names: &[u32], scratch: &mut Scratch) -> Result<()> {
    let mask = scratch.words.len() - 1;
    let n = set_bits(names, &mut scratch.words, mask, &mut scratch.touched);
    push_packed(rows, &scratch.touched[..n], &mut scratch.words)
}

/// Unpacks the row at `at` into `names`, which has room for it and [`SLACK`]; returns its length and the start of the
/// next row.
#[inline(always)]
fn names_at(rows: &[u64], at: usize, names: &mut [u32]) -> (usize, usize) {
    let (sets, bits, next) = packed_row(rows, at);
    (emit_sets(sets, bits, names), next)
}

/// The strictly lower triangle L, packed.
pub(super) struct Lower {
    /// Packed rows, 64 columns to a word, after an empty row.
    rows: Vec<u64>,
    /// The start of each row.
    starts: Vec<AtomicU64>,
    /// Ranges of rows of about equal work.
    blocks: Vec<Range<usize>>,
    /// Words in a bitmap of all labels, a power of two.
    words: usize,
    /// Maximum entries in a row.
    longest: usize,
}

/// Minimum entries of A per block.
const BLOCK: usize = 1 << 13;
/// Maximum number of blocks.
const BLOCKS: usize = 1024;
/// Rows of L that are prefetched together.
const BATCH: usize = 256;

impl Lower {
    pub(super) fn new<I: Index>(threads: &Threads, graph: &Adjacency<'_, I>, order: &Order) -> Result<Self> {
        let n = graph.vertices();
        let total = graph.before(n);
        let blocks = try_split(n, (total / BLOCK).clamp(1, BLOCKS), |u| (graph.before(u) + u) as u64)?;
        let words = order.named.div_ceil(64).next_power_of_two();
        let mut lens = zeros(n, "lengths of rows")?;
        let mut rest = &mut lens[..];
        // For each block, its packed rows and their total length.
        let parts: Vec<_> =
            blocks.iter().map(|b| Mutex::new((rest.split_off_mut(..b.len()).unwrap_or_default(), 0))).collect();
        let longest = AtomicUsize::new(0);
        let room = order.longest.saturating_add(SLACK + 1);
        let state = || {
            let scratch =
                Scratch { words: filled(words, 0, "bits of a row")?, touched: filled(room, 0, "words of a row")? };
            Ok((scratch, filled(room, 0u32, "neighbors of a row")?))
        };
        let hint = total + n;
        let rows = append_blocks(
            threads,
            "triangles",
            blocks.len(),
            hint,
            state,
            |(scratch, names), b, rows: &mut Vec<u64>| {
                let mut part = parts[b].lock().unwrap_or_else(PoisonError::into_inner);
                let (lens, sum) = &mut *part;
                if b == 0 {
                    rows.try_reserve(1).map_err(|_| out_of_memory::<u64>("rows of L", 1))?;
                    rows.push(0);
                }
                let (first, of) = (rows.len(), blocks[b].clone());
                let most = dispatch_work(Block::<I> { graph, order, of, lens, rows, names, scratch })?;
                *sum = rows.len() - first;
                longest.fetch_max(most, Ordering::Relaxed);
                Ok(())
            },
        )?;
        let mut at = 1;
        let mut runs = reserved(blocks.len(), "runs of rows")?;
        for part in parts {
            let first = at;
            at += part.into_inner().unwrap_or_else(PoisonError::into_inner).1;
            runs.push(first..at);
        }
        let starts = counters(order.named, "places of rows")?;
        threads.for_each(
            blocks.len(),
            || Ok(()),
            |(), b| {
                let mut at = runs[b].start;
                for (u, &len) in blocks[b].clone().zip(&lens[blocks[b].clone()]) {
                    if len > 0 {
                        starts[order.label[u] as usize].store(at as u64, Ordering::Relaxed);
                        at += len;
                    }
                }
                Ok(())
            },
        )?;
        Ok(Self { rows, starts, blocks: runs, words, longest: longest.into_inner() })
    }

    /// Number of triangles.
    pub(super) fn count(&self, threads: &Threads) -> Result<u64> {
        let sum = AtomicU64::new(0);
        let room = BATCH.saturating_add(self.longest).saturating_add(SLACK);
        threads.for_each(
            self.blocks.len(),
            || {
                Ok(Batch {
                    words: filled(self.words, 0, "bits of a row")?,
                    names: filled(room, 0, "neighbors of rows")?,
                    starts: filled(room, 0, "places of rows")?,
                    owners: filled(BATCH, (0, 0), "rows at hand")?,
                })
            },
            |batch, b| {
                let block = self.blocks[b].clone();
                sum.fetch_add(dispatch_work(Count { lower: self, block, batch }), Ordering::Relaxed);
                Ok(())
            },
        )?;
        Ok(sum.into_inner())
    }

    /// Triangles whose largest label has its row in the block.
    ///
    /// Rows of L are accessed at random, so they are prefetched in batches.
    #[inline(always)]
    fn count_block(&self, block: Range<usize>, batch: &mut Batch) -> u64 {
        let Batch { words, names, starts, owners } = batch;
        let mut at = block.start;
        let mut sum = 0;
        while at < block.end {
            let (mut n, mut rows) = (0, 0);
            while at < block.end && n < BATCH && rows < BATCH {
                let (found, next) = names_at(&self.rows, at, &mut names[n..]);
                // b = min L(a) has no neighbor below it in L(a).
                if found >= 2 {
                    let own = &mut names[n..n + found];
                    let smallest = own.iter().fold(u32::MAX, |x, &b| x.min(b));
                    if let Some(p) = own.iter().position(|&b| b == smallest) {
                        own[p] = own[found - 1];
                    }
                    n += found - 1;
                    owners[rows] = (at, n);
                    rows += 1;
                }
                at = next;
            }
            for (start, &b) in starts.iter_mut().zip(&names[..n]) {
                *start = self.starts[b as usize].load(Ordering::Relaxed) as usize;
                prefetch(&self.rows, *start);
            }
            let mut first = 0;
            for &(at, end) in &owners[..rows] {
                let mask = words.len() - 1;
                load_packed(&self.rows, at, words, mask, false);
                sum += count_intersections(&self.rows, &starts[first..end], words, mask);
                load_packed(&self.rows, at, words, mask, true);
                first = end;
            }
        }
        sum
    }
}

/// A block of vertices whose rows of L are built, for [`dispatch_work`].
struct Block<'a, 'g, I: Index> {
    graph: &'a Adjacency<'g, I>,
    order: &'a Order,
    of: Range<usize>,
    lens: &'a mut [usize],
    rows: &'a mut Vec<u64>,
    names: &'a mut [u32],
    scratch: &'a mut Scratch,
}

impl<I: Index> simd::Work for Block<'_, '_, I> {
    /// Maximum entries of a row.
    type Out = Result<usize>;
    #[inline(always)]
    fn run(self) -> Result<usize> {
        let Self { graph, order, of, lens, rows, names, scratch } = self;
        let (mask, mut most) = (order.label.len() - 1, 0);
        for (u, len) in of.zip(lens) {
            let a = order.label[u];
            if a == Order::NAMELESS {
                continue;
            }
            let [own, others] = graph.neighbors(u);
            let mut n = labels_below(own, &order.label, mask, a, names);
            if graph.repeats() {
                n += labels_below(others, &order.label, mask, a, &mut names[n..]);
            }
            most = most.max(n);
            if n > 0 {
                let at = rows.len();
                push(rows, &names[..n], scratch)?;
                *len = rows.len() - at;
            }
        }
        Ok(most)
    }
}

/// A block whose triangles are counted, for [`dispatch_work`].
struct Count<'a> {
    lower: &'a Lower,
    block: Range<usize>,
    batch: &'a mut Batch,
}

impl simd::Work for Count<'_> {
    type Out = u64;
    #[inline(always)]
    fn run(self) -> u64 {
        self.lower.count_block(self.block, self.batch)
    }
}

/// Some rows of L whose neighbors' rows are looked up together. One per thread.
struct Batch {
    words: Vec<u64>,
    /// Labels b in these rows, except the smallest of each.
    names: Vec<u32>,
    /// The starts of the rows of these labels.
    starts: Vec<usize>,
    /// The start of each of these rows, and the end of its labels.
    owners: Vec<(usize, usize)>,
}
