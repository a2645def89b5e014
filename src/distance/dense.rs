//! Rows of Y spread out: groups of them side by side, column after column, with 0 where a row has no entry.
//!
//! Where rows are dense, most of what an index saves is spent on finding where terms go. Here each entry of a row of X
//! meets a group of rows at once, whose sums stay in registers: a row of X goes through a block of columns that a
//! first-level cache holds, then the next row does, then they all go on to the next block. Every sum is still one chain
//! in the order of X's columns, and the terms that an index leaves out are zeros, so the results are the same bits.
//!
//! Source: Gustavson 1978 for the order of the sums; blocks of registers and caches as in Goto and van de Geijn 2008,
//! one side of them compressed.

use std::ops::Range;

use super::entries::Entries;
use super::float::Float;
use super::tile::times;
use crate::Result;
use crate::algebra::MulOp;
use crate::par::filled;
use crate::simd::{Work, dispatch_work, prefetch};

/// Bytes of a column of a group: four registers of the widest kind, as many as additions that are under way.
const GROUP_BYTES: usize = 256;
/// Columns of a block: with such groups 32 KiB. Half as many take 6 % longer with rows that are 17 % full, twice as
/// many 20 % with rows that are 60 % full.
pub(crate) const COLUMNS: usize = 128;
/// Rows of X that go through a block together.
pub(crate) const TOGETHER: usize = 128;
/// Bytes of a tile of more than one group, and rows that are enough for one.
const TILE_BYTES: usize = 16 << 20;
const TILE_ROWS: usize = 256;

/// Rows in a group.
pub(crate) const fn group_rows<W>() -> usize {
    GROUP_BYTES / size_of::<W>()
}

/// Nanoseconds of a thread, about: of a term by an index, of one in a column that is kept dense, of opening an entry of
/// Y, of finding a column, by rows of Y; of a term in a block, by the width of registers, and of a place of a tile that
/// is spread out. (Measured on a Zen 4 with rows 5 to 60 % full.)
const SCATTERED: f64 = 0.55;
const STREAMED: f64 = 0.25;
const INDEXED: f64 = 6.0;
const FOUND: f64 = 0.008;
const SPREAD: [(usize, f64); 3] = [(64, 0.1), (32, 0.12), (16, 0.4)];
const PLACED: f64 = 0.6;

/// What comparing rows takes, by either way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weighed {
    /// Rows of X and of Y, columns.
    pub(crate) shape: [usize; 3],
    /// Entries of X and of Y.
    pub(crate) entries: [usize; 2],
    /// Entries of X in columns that tiles keep dense.
    pub(crate) often: u64,
    /// Columns that pairs share, but for those.
    pub(crate) rare: u64,
    /// Each pair is looked at once for both.
    pub(crate) half: bool,
}

impl Weighed {
    /// Nanoseconds by an index, and with rows spread out on a processor with registers of so many bytes; of the terms
    /// alone.
    pub(crate) fn times(&self, register: usize) -> [f64; 2] {
        let ([_, m, columns], [of_x, of_y]) = (self.shape.map(|n| n as f64), self.entries.map(|n| n as f64));
        let pairs = if self.half { 0.5 } else { 1.0 };
        let terms = SCATTERED * self.rare as f64 + STREAMED * self.often as f64 * m;
        let each = SPREAD.iter().find(|(bytes, _)| register >= *bytes).map_or(1.0, |&(_, each)| each);
        // A column is looked for in each tile, of a thousand rows about.
        let terms = terms + FOUND * of_x * m;
        [pairs * terms + INDEXED * of_y, pairs * each * of_x * m + PLACED * m * columns]
    }
    /// Whether rows of Y are spread out: where the terms that are zeros cost less than finding out which are not. Few
    /// rows of Y do not fill a group, and few of X do not pay for opening it.
    pub(crate) fn spreads<W>(&self, register: usize) -> bool {
        let [by_index, spread] = self.times(register);
        self.shape[1] >= group_rows::<W>() && spread < by_index
    }
}

/// Rows in a tile of so many columns: whole groups, at least one.
pub(crate) fn tile_rows<W>(width: usize) -> usize {
    let group = group_rows::<W>();
    (TILE_BYTES / (width.max(1) * GROUP_BYTES)).clamp(1, TILE_ROWS / group) * group
}

/// Bytes of such a tile.
pub(crate) fn tile_bytes<W>(width: usize) -> u64 {
    (tile_rows::<W>(width) * width * size_of::<W>()) as u64
}

/// Bytes that rows of X take while they ask one.
pub(crate) fn task_bytes<W>(width: usize) -> u64 {
    let (rows, ends) = (tile_rows::<W>(width), (width.div_ceil(COLUMNS) + 1) * TOGETHER * size_of::<usize>());
    (TOGETHER * rows * size_of::<W>() + 8 * rows + ends) as u64
}

/// Some rows, spread out.
pub(crate) struct Dense<W> {
    pub(crate) rows: Range<usize>,
    /// Columns.
    width: usize,
    /// Group after group, in each column after column.
    values: Vec<W>,
}

impl<W: Float> Dense<W> {
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn new(entries: &Entries<'_, W>, rows: Range<usize>) -> Result<Self> {
        let (group, width) = (group_rows::<W>(), entries.width());
        let mut values = filled(rows.len().div_ceil(group) * group * width, W::ZERO, "rows spread out")?;
        for (place, i) in rows.clone().enumerate() {
            let values = &mut values[place / group * group * width + place % group..];
            let (columns, entries) = entries.row(i);
            columns.iter().zip(entries).for_each(|(&c, &b)| values[c as usize * group] = b);
        }
        Ok(Self { rows, width, values })
    }
    /// Sums of each query row, one after the other.
    pub(crate) fn room(&self) -> usize {
        self.rows.len().next_multiple_of(group_rows::<W>())
    }
}

/// Rows of X that query together.
pub(crate) struct QueryRows<'a, W> {
    rows: Range<usize>,
    columns: &'a [u32],
    entries: &'a [W],
    /// Of each block of columns where it begins in each row, and where the last one ends.
    ends: Vec<usize>,
}

impl<'a, W: Float> QueryRows<'a, W> {
    /// Rows of `x`, at most [`TOGETHER`].
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn new(x: &'a Entries<'_, W>, rows: Range<usize>) -> Result<Self> {
        let (n, row_ptr, columns) = (rows.len(), x.pattern.row_ptr(), x.pattern.col_idx());
        let blocks = x.width().div_ceil(COLUMNS);
        let mut ends = filled((blocks + 1) * n, 0usize, "blocks of columns")?;
        for (place, i) in rows.clone().enumerate() {
            let mut at = row_ptr[i];
            for block in 0..=blocks {
                ends[block * n + place] = at;
                let of_row = &columns[at..row_ptr[i + 1]];
                at += of_row.iter().take_while(|&&c| (c as usize) < (block + 1) * COLUMNS).count();
            }
        }
        Ok(Self { rows, columns, entries: &x.values, ends })
    }
}

/// Adds the terms of rows of X to their sums with the rows of a tile, [`Dense::room`] for each; with `half` not with
/// all groups of which every row comes after them.
#[inline(never)]
pub(crate) fn add<W: Float, X: MulOp<A = W, B = W, Out = W>>(
    term: X,
    queries: &QueryRows<'_, W>,
    tile: &Dense<W>,
    half: bool,
    sums: &mut [W],
) {
    let (group, room) = (group_rows::<W>(), tile.room());
    let groups = tile.values.chunks_exact((group * tile.width).max(1)).zip((0..room).step_by(group));
    for (values, first) in groups {
        // The first row that asks these.
        let skip = if half { (tile.rows.start + first).saturating_sub(queries.rows.start) } else { 0 };
        let sums = &mut sums[first..];
        if size_of::<W>() == 4 {
            dispatch_work(Group::<_, _, 64> { term, queries, skip, values, sums, room });
        } else {
            dispatch_work(Group::<_, _, 32> { term, queries, skip, values, sums, room });
        }
    }
}

/// Rows of X from the one at `skip` on, and a group of `J` rows of Y.
struct Group<'a, 'b, W, X, const J: usize> {
    term: X,
    queries: &'a QueryRows<'a, W>,
    skip: usize,
    values: &'a [W],
    /// Of each row of X the first `J` of `room`.
    sums: &'b mut [W],
    room: usize,
}

impl<W: Float, X: MulOp<A = W, B = W, Out = W>, const J: usize> Work for Group<'_, '_, W, X, J> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let Self { term, queries: QueryRows { rows, columns, entries, ends }, skip, values, sums, room } = self;
        let (n, (values, _)) = (rows.len(), values.as_chunks::<J>());
        let blocks = values.chunks(COLUMNS).zip(ends.chunks_exact(n).zip(ends[n..].chunks_exact(n)));
        for ((block, (from, to)), first) in blocks.zip((0..).step_by(COLUMNS)) {
            for row in skip..n {
                let range = from[row]..to[row];
                let Some((sums, _)) = sums[row * room..].split_first_chunk_mut::<J>() else { break };
                let next = first + COLUMNS + row * COLUMNS / TOGETHER;
                // The next block while this one is at work.
                (0..J * size_of::<W>())
                    .step_by(64)
                    .for_each(|line| prefetch(values.as_flattened(), next * J + line / size_of::<W>()));
                let mut in_registers = *sums;
                for (&c, &a) in columns[range.clone()].iter().zip(&entries[range]) {
                    let column = &block[c as usize - first];
                    for (sum, &b) in in_registers.iter_mut().zip(column) {
                        *sum = sum.wrapping_add(times(term, a, b));
                    }
                }
                *sums = in_registers;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows among themselves of which a part of the columns is full, each column as often.
    fn alike(rows: usize, columns: usize, full: f64) -> Weighed {
        let entries = (rows as f64 * columns as f64 * full) as usize;
        let shared = (rows as f64 * rows as f64 * columns as f64 * full * full) as u64;
        let (often, rare) = if full >= 0.25 { (entries as u64, 0) } else { (0, shared) };
        Weighed { shape: [rows, rows, columns], entries: [entries; 2], often, rare, half: true }
    }

    #[test]
    fn rows_are_spread_out_where_an_index_spares_little() {
        for (full, wide, narrow, least) in [
            (0.01, false, false, false),
            (0.1, false, false, false),
            (0.2, true, true, false),
            (0.24, true, true, false),
            (0.3, true, true, false),
            (0.6, true, true, false),
        ] {
            let found = [64, 32, 16].map(|register| alike(3000, 2000, full).spreads::<f64>(register));
            assert_eq!(found, [wide, narrow, least], "{full}");
        }
        // Few that ask do not pay for it, and few that are asked do not fill a group.
        let many = alike(3000, 2000, 0.6);
        let few =
            Weighed { shape: [1, 3000, 2000], entries: [1200, many.entries[1]], often: 1200, half: false, ..many };
        assert!(!Weighed { shape: [1, 3000, 2000], entries: [1200, 1200], ..few }.spreads::<f64>(64));
        assert!(!alike(31, 2000, 0.6).spreads::<f64>(64) && !alike(63, 2000, 0.6).spreads::<f32>(64));
        assert!(alike(64, 2000, 0.6).spreads::<f32>(64));
    }

    #[test]
    fn tiles_are_whole_groups_of_some_megabytes() {
        assert_eq!([0, 1, 8192, 10_000, 65_536, 1 << 20].map(tile_rows::<f64>), [256, 256, 256, 192, 32, 32]);
        assert_eq!([0, 1, 8192, 65_536, 1 << 20].map(tile_rows::<f32>), [256, 256, 256, 64, 64]);
        assert_eq!(tile_bytes::<f64>(8192), 16 << 20);
    }
}
