//! C(l, m, n) = ⊕ₖ A(l, m, k) ⊗ B(l, k, n) of large matrices: blocks of both are packed for the register tiles.
//!
//! A block of A has a few hundred rows, one of B a few hundred columns, both with as many terms as the second-level
//! cache holds. The sums of a block of C stay until all its terms are added, in order. Each element is therefore one
//! fold from its first term to its last, and the result is bitwise the same for any size of blocks and registers.
//!
//! Source: Goto, van de Geijn 2008, Anatomy of High-Performance Matrix Multiplication.

use std::ops::Range;

use super::ahead::line;
use super::side::Side;
use super::spans::Spans;
use super::target::{self, Target};
use super::update::Update;
use crate::Result;
use crate::algebra::{Arithmetic, Value};
use crate::par::{Threads, filled, reserved};
use crate::simd::{Work, dispatch_work, prefetch_at, register};

/// Bytes of a column of a block of A (`ROWS`), of a row of a block of B (`COLUMNS`), and of a packed row of either
/// (`TERMS`): 256 rows, 1024 columns and 192 terms of f64. None of eight alternatives was faster by 5 % (Xeon with
/// AVX-512, 2 MB of second-level cache, products of 512 to 2048 rows).
const ROWS: usize = 2048;
const COLUMNS: usize = 8192;
const TERMS: usize = 1536;
/// Most rows of a block of A for which B is prefetched before it is packed, because nothing else hides its latency (16
/// × 4000 × 4000: 42 GF/s without, 51 with prefetch; 2048³: 138 without, 125 with).
const SKINNY: usize = 64;
/// Blocks of at most this many rows and columns are not halved to occupy more threads.
const LEAST: usize = 64;
/// Most elements of C for which folds are split into parts: these are fewer blocks than a CPU has threads.
const SMALL: usize = 1 << 14;
/// Least multiplications of a part, and least terms of a part.
const PART: f64 = (1 << 20) as f64;
const PART_TERMS: usize = 1024;
/// Most parts of a fold.
const PARTS: usize = 64;

/// A product of large matrices.
#[derive(Debug)]
pub(super) struct Blocked {
    pub(super) a: Side,
    pub(super) b: Side,
    /// Offsets in A, B and C.
    pub(super) l: Spans<3>,
    /// Offsets in A and C.
    pub(super) m: Spans<2>,
    /// Offsets in B and C.
    pub(super) n: Spans<2>,
    /// Offsets in A and B.
    pub(super) k: Spans<2>,
}

/// The blocking of a product, for a number of threads and a size of values.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Blocks {
    rows: usize,
    columns: usize,
    terms: usize,
    /// Parts of each fold, and terms per part.
    parts: usize,
    part: usize,
}

/// Rows and columns of a register tile of C, which takes 16 of the 32 registers of 64 bytes, or 12 of 16 narrower ones.
const fn tile(register: usize, size: usize) -> (usize, usize) {
    let columns = 2 * register / if size == 0 { 1 } else { size };
    let columns = match columns {
        32.. => 32,
        16.. => 16,
        8.. => 8,
        _ => 4,
    };
    (if register == 64 { 8 } else { 6 }, columns)
}

impl Blocked {
    /// Parts of each fold. They depend on sizes alone, because they affect rounding; blocks do not.
    pub(super) fn parts(&self) -> usize {
        let k = self.k.len();
        let elements = self.l.len().saturating_mul(self.m.len()).saturating_mul(self.n.len());
        if elements > SMALL {
            return 1;
        }
        let parts = ((elements as f64 * k as f64 / PART) as usize).min(k / PART_TERMS).clamp(1, PARTS);
        k.div_ceil(k.div_ceil(parts).max(1)).max(1)
    }
    fn blocks(&self, threads: usize, size: usize) -> Blocks {
        let [l, m, n, k] = [self.l.len(), self.m.len(), self.n.len(), self.k.len()];
        let parts = self.parts();
        let part = k.div_ceil(parts);
        let size = size.max(1);
        let terms = part.div_ceil(part.div_ceil((TERMS / size).max(16)).max(1)).max(1);
        let (r, w) = tile(register(), size);
        let round = |count: usize, to: usize| count.max(1).next_multiple_of(to);
        let (mut rows, mut columns) = (m.min((ROWS / size).max(r)), n.min((COLUMNS / size).max(w)));
        let tasks = |rows: usize, columns: usize| (l * parts).saturating_mul(m.div_ceil(rows) * n.div_ceil(columns));
        while threads > 1 && tasks(rows.max(1), columns.max(1)) < 2 * threads && rows.max(columns) > LEAST {
            if rows > columns { rows = rows.div_ceil(2) } else { columns = columns.div_ceil(2) }
        }
        Blocks { rows: round(rows, r), columns: round(columns, w), terms, parts, part }
    }
    /// Elements and offsets of a thread, and elements of all parts.
    fn room(&self, blocks: Blocks) -> (usize, usize, usize) {
        let Blocks { rows, columns, terms, parts, .. } = blocks;
        let elements = (rows + columns) * terms + rows * columns + columns;
        let all = if parts > 1 { parts * self.l.len() * self.m.len() * self.n.len() } else { 0 };
        (elements, rows + columns + 2 * terms, all)
    }
    /// Bytes besides operands, result and offset tables.
    pub(super) fn workspace(&self, threads: usize, size: usize) -> u128 {
        let (elements, offsets, parts) = self.room(self.blocks(threads, size));
        let each = elements as u128 * size as u128 + (offsets * size_of::<usize>()) as u128;
        threads as u128 * each + parts as u128 * size as u128 + target::workspace(parts)
    }

    /// Computes all of C.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Cancelled`](crate::Error::Cancelled).
    pub(super) fn run<T: Value, A: Arithmetic<T>>(
        &self,
        threads: &Threads,
        ring: A,
        a: (&[T], usize),
        b: (&[T], usize),
        c: &Target<'_, T>,
    ) -> Result<()> {
        let blocks = self.blocks(threads.count(), size_of::<T>());
        let (m, n) = (self.m.len(), self.n.len());
        if blocks.parts == 1 {
            return self.all(threads, ring, a, b, blocks, |sums, [l, i, j], _| {
                let at = self.l.at(l)[2].wrapping_add(self.m.at(i)[1]);
                let mut sums = sums;
                for ([_, offset], count) in self.n.runs(j..j + sums.len()) {
                    let (now, later) = sums.split_at(count);
                    c.store(ring, at.wrapping_add(offset), self.n.steps[1], now);
                    sums = later;
                }
            });
        }
        let elements = self.l.len() * m * n;
        let mut partials = filled(blocks.parts * elements, A::ZERO, "einsum")?;
        let parts = Target::new(&mut partials, Update::PLAIN)?;
        self.all(threads, ring, a, b, blocks, |sums, [l, i, j], part| {
            parts.store(ring, part * elements + (l * m + i) * n + j, 1, sums);
        })?;
        drop(parts);
        join(ring, &mut partials, elements);
        for (row, sums) in partials[..elements].chunks(n.max(1)).enumerate() {
            let at = self.l.at(row / m)[2].wrapping_add(self.m.at(row % m)[1]);
            let mut sums = sums;
            for ([_, offset], count) in self.n.runs(0..n) {
                let (now, later) = sums.split_at(count);
                c.store(ring, at.wrapping_add(offset), self.n.steps[1], now);
                sums = later;
            }
        }
        Ok(())
    }

    /// Passes columns from j on of row i of matrix l to `store`, for each part of their folds.
    fn all<T: Value, A: Arithmetic<T>>(
        &self,
        threads: &Threads,
        ring: A,
        a: (&[T], usize),
        b: (&[T], usize),
        blocks: Blocks,
        store: impl Fn(&[T], [usize; 3], usize) + Sync,
    ) -> Result<()> {
        let Blocks { rows, columns, terms, parts, part } = blocks;
        let (m, n, k) = (self.m.len(), self.n.len(), self.k.len());
        let (r, w) = tile(register(), size_of::<T>());
        let (by_m, by_n) = (m.div_ceil(rows), n.div_ceil(columns));
        let tasks = by_m * by_n * self.l.len() * parts;
        let state = || Packed::<T>::new(ring, blocks);
        threads.for_each_beside("einsum", tasks, state, |packed, t| {
            let (block, rest) = (t % by_m, t / by_m);
            let (i, j) = (block * rows, rest % by_n * columns);
            let (l, p) = (rest / by_n % self.l.len(), rest / by_n / self.l.len());
            let (i, j) = (i..m.min(i + rows), j..n.min(j + columns));
            let [la, lb, _] = self.l.at(l);
            let (a_at, b_at) = (a.1.wrapping_add(la), b.1.wrapping_add(lb));
            packed.of(&self.m, i.clone(), r, &self.n, j.clone(), w);
            let (tall, wide) = (packed.rows.len(), packed.columns.len());
            packed.sums[..tall * wide].fill(A::ZERO);
            let end = k.min((p + 1) * part);
            for first in (p * part..end).step_by(terms) {
                let count = terms.min(end - first);
                packed.terms(&self.k, first..first + count);
                let Packed { a: to_a, b: to_b, sums, rows, columns, in_a, in_b, .. } = &mut *packed;
                pack((b.0, b_at), (columns, w), in_b, tall <= SKINNY, &mut to_b[..count * wide]);
                pack((a.0, a_at), (rows, r), in_a, false, &mut to_a[..count * tall]);
                dispatch_work(Tiles {
                    ring,
                    a: &to_a[..count * tall],
                    b: &to_b[..count * wide],
                    sums: &mut sums[..tall * wide],
                    terms: count,
                });
            }
            let Packed { sums, row, .. } = &mut *packed;
            for (y, i) in i.enumerate() {
                for (x, to) in row[..wide].chunks_mut(w).enumerate() {
                    to.copy_from_slice(&sums[(x * tall + y / r * r) * w + y % r * w..][..w]);
                }
                store(&row[..j.len()], [l, i, j.start], p);
            }
            Ok(())
        })
    }
}

/// Combines the parts of folds, `elements` each, pairwise until one is left.
pub(super) fn join<T: Value, A: Arithmetic<T>>(ring: A, partials: &mut [T], elements: usize) {
    let mut parts = partials.len() / elements.max(1);
    while parts > 1 {
        let half = parts.div_ceil(2);
        for p in 0..half {
            let (to, from) = (p * elements, 2 * p * elements);
            for e in 0..elements {
                let first = partials[from + e];
                let both = 2 * p + 1 < parts;
                partials[to + e] = if both { ring.plus(first, partials[from + elements + e]) } else { first };
            }
        }
        parts = half;
    }
}

/// The packing buffers and accumulators of a thread.
struct Packed<T> {
    a: Vec<T>,
    b: Vec<T>,
    sums: Vec<T>,
    row: Vec<T>,
    /// Offsets of the rows in A and of the columns in B; the last ones are repeated to fill tiles.
    rows: Vec<usize>,
    columns: Vec<usize>,
    /// Offsets of the terms in A and B.
    in_a: Vec<usize>,
    in_b: Vec<usize>,
}

impl<T: Value> Packed<T> {
    fn new<A: Arithmetic<T>>(_: A, blocks: Blocks) -> Result<Self> {
        let Blocks { rows, columns, terms, .. } = blocks;
        let room = |len: usize| filled(len, A::ZERO, "einsum");
        Ok(Self {
            a: room(rows * terms)?,
            b: room(columns * terms)?,
            sums: room(rows * columns)?,
            row: room(columns)?,
            rows: reserved(rows, "einsum")?,
            columns: reserved(columns, "einsum")?,
            in_a: reserved(terms, "einsum")?,
            in_b: reserved(terms, "einsum")?,
        })
    }
    fn of(&mut self, m: &Spans<2>, i: Range<usize>, r: usize, n: &Spans<2>, j: Range<usize>, w: usize) {
        for (list, spans, range, to) in [(&mut self.rows, m, i, r), (&mut self.columns, n, j, w)] {
            list.clear();
            spans.list(range, 0, list);
            let last = list.last().copied().unwrap_or(0);
            list.resize(list.len().next_multiple_of(to), last);
        }
    }
    fn terms(&mut self, k: &Spans<2>, range: Range<usize>) {
        for (t, list) in [&mut self.in_a, &mut self.in_b].into_iter().enumerate() {
            list.clear();
            k.list(range.clone(), t, list);
        }
    }
}

/// Whether offsets are contiguous.
fn side_by_side(offsets: &[usize]) -> bool {
    offsets.windows(2).all(|w| w[1] == w[0].wrapping_add(1))
}

/// Whether tiles of this type have `lines` rows or columns, for some register size.
const fn is_side<T>(lines: usize) -> bool {
    let [a, b, c] = [tile(16, size_of::<T>()), tile(32, size_of::<T>()), tile(64, size_of::<T>())];
    lines == a.0 || lines == c.0 || lines == a.1 || lines == b.1 || lines == c.1
}

/// Packs an operand in panels: `width` rows of A or columns of B side by side for each term, panel after panel.
fn pack<T: Value>(
    (data, base): (&[T], usize),
    (lines, width): (&[usize], usize),
    terms: &[usize],
    ahead: bool,
    to: &mut [T],
) {
    macro_rules! widths {
        ($($w:literal)*) => {
            match width {
                $($w if const { is_side::<T>($w) } => panels::<T, $w>((data, base), lines, terms, ahead, to),)*
                _ => unreachable!("tiles are of these sizes"),
            }
        };
    }
    widths!(4 6 8 16 32);
}

fn panels<T: Value, const W: usize>(
    (data, base): (&[T], usize),
    lines: &[usize],
    terms: &[usize],
    ahead: bool,
    to: &mut [T],
) {
    /// Terms of a panel that are packed before those of the next one, so that as many lines of memory are streamed at a
    /// time.
    const TOGETHER: usize = 8;
    let (lines, count) = (lines.as_chunks::<W>().0, terms.len());
    let straight = side_by_side(terms);
    // Contiguous lines are copied for a few terms of all panels at a time, in memory order.
    for first in (0..count).step_by(TOGETHER) {
        let (all, terms) = (terms, &terms[first..count.min(first + TOGETHER)]);
        for (panel, lines) in lines.iter().enumerate().filter(|(_, lines)| side_by_side(&lines[..])) {
            let to = &mut to[(panel * count + first) * W..][..terms.len() * W];
            for (i, (to, &term)) in to.as_chunks_mut::<W>().0.iter_mut().zip(terms).enumerate() {
                let at = base.wrapping_add(lines[0]);
                let from = &data[at.wrapping_add(term)..];
                *to = *from.first_chunk().expect("lines of an operand");
                if let Some(&next) = all.get(first + TOGETHER + i).filter(|_| ahead) {
                    for line in (0..W).step_by(line::<T>()) {
                        prefetch_at(data.as_ptr().wrapping_add(at.wrapping_add(next).wrapping_add(line)));
                    }
                }
            }
        }
    }
    for (panel, lines) in lines.iter().enumerate().filter(|(_, lines)| !side_by_side(&lines[..])) {
        let to = to[panel * count * W..][..count * W].as_chunks_mut::<W>().0;
        if straight {
            let from = lines.map(|line| &data[base.wrapping_add(line).wrapping_add(terms[0])..][..count]);
            for (t, to) in to.iter_mut().enumerate() {
                for (to, from) in to.iter_mut().zip(from) {
                    *to = from[t];
                }
            }
        } else {
            for (to, &term) in to.iter_mut().zip(terms) {
                for (to, &line) in to.iter_mut().zip(lines) {
                    *to = data[base.wrapping_add(line).wrapping_add(term)];
                }
            }
        }
    }
}

/// Adds the products of packed blocks to sums, tile after tile, those of one panel of B first.
struct Tiles<'a, T, A> {
    ring: A,
    a: &'a [T],
    b: &'a [T],
    sums: &'a mut [T],
    terms: usize,
}

/// Sums of one tile. Rows are named variables, because an array of them would be kept in memory.
macro_rules! tiles {
    ($name:ident $rows:literal: $($i:literal $row:ident)*) => {
        #[inline(always)]
        fn $name<T: Value, A: Arithmetic<T>, const W: usize>(tiles: Tiles<'_, T, A>) {
            let Tiles { ring, a, b, sums, terms } = tiles;
            let mut sums = sums.as_chunks_mut::<W>().0.as_chunks_mut::<$rows>().0.iter_mut();
            for b in b.chunks_exact(terms * W) {
                for a in a.chunks_exact(terms * $rows) {
                    let Some(sums) = sums.next() else { return };
                    let [$(mut $row),*] = *sums;
                    for (a, b) in a.as_chunks::<$rows>().0.iter().zip(b.as_chunks::<W>().0) {
                        $(for (sum, &y) in $row.iter_mut().zip(b) {
                            *sum = ring.fold(*sum, a[$i], y);
                        })*
                    }
                    *sums = [$($row),*];
                }
            }
        }
    };
}
tiles!(by_six 6: 0 r_0 1 r_1 2 r_2 3 r_3 4 r_4 5 r_5);
tiles!(by_eight 8: 0 r_0 1 r_1 2 r_2 3 r_3 4 r_4 5 r_5 6 r_6 7 r_7);

impl<T: Value, A: Arithmetic<T>> Work for Tiles<'_, T, A> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        self.run_in::<16>();
    }
    #[inline(always)]
    fn run_in<const BYTES: usize>(self) {
        match const { tile(BYTES, size_of::<T>()) } {
            (8, 4) => by_eight::<T, A, 4>(self),
            (8, 8) => by_eight::<T, A, 8>(self),
            (8, 16) => by_eight::<T, A, 16>(self),
            (8, _) => by_eight::<T, A, 32>(self),
            (_, 4) => by_six::<T, A, 4>(self),
            (_, 8) => by_six::<T, A, 8>(self),
            (_, 16) => by_six::<T, A, 16>(self),
            (_, _) => by_six::<T, A, 32>(self),
        }
    }
}
