//! Tiles of Y in dense storage: groups of rows side by side, column after column, with 0 where a row has no entry.
//!
//! Where rows are dense, an index spends most of its savings on locating where terms go. Here each entry of a row of X
//! is multiplied with a group of rows at once, whose sums stay in registers. A block of X's rows goes through a block
//! of columns that fits the first-level cache, row by row, and then on to the next block of columns. Every sum is still
//! one chain in the order of X's columns, and the terms that an index skips are zeros, so the results are bitwise the
//! same.
//!
//! Source: Gustavson 1978 for the order of the sums; register and cache blocking as in Goto and van de Geijn 2008, with
//! one side compressed.

use std::ops::Range;

use super::entries::Entries;
use super::float::Float;
use super::tile::times;
use crate::Result;
use crate::algebra::MulOp;
use crate::par::filled;
use crate::simd::{Work, dispatch_work, prefetch};

/// Bytes of a column of a group: four registers of the widest kind, as many as additions in flight.
const GROUP_BYTES: usize = 256;
/// Columns of a block: 32 KiB with such groups. Half as many take 6 % longer with rows that are 17 % full, twice as
/// many 20 % longer with rows that are 60 % full.
pub(crate) const COLUMNS: usize = 128;
/// Rows of X that go through a block together.
pub(crate) const TOGETHER: usize = 128;
/// Byte limit of a tile of more than one group, and its most rows.
const TILE_BYTES: usize = 16 << 20;
const TILE_ROWS: usize = 256;

/// Rows in a group.
pub(crate) const fn group_rows<W>() -> usize {
    GROUP_BYTES / size_of::<W>()
}

/// Nanoseconds of a thread, about: of a term by an index (`SCATTERED`), of a term in a dense column (`STREAMED`), of
/// indexing an entry of Y (`INDEXED`), of finding a column per row of Y (`FOUND`), of a term in dense storage by the
/// width of registers (`DENSE_TERM`), and of an element of a dense tile (`DENSE_FILL`). (Measured on a Zen 4 with rows
/// 5 to 60 % full.)
const SCATTERED: f64 = 0.55;
const STREAMED: f64 = 0.25;
const INDEXED: f64 = 6.0;
const FOUND: f64 = 0.008;
const DENSE_TERM: [(usize, f64); 3] = [(64, 0.1), (32, 0.12), (16, 0.4)];
const DENSE_FILL: f64 = 0.6;

/// The inputs of the cost model that chooses between an index and dense tiles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CostModel {
    /// Rows of X, rows of Y, columns.
    pub(crate) shape: [usize; 3],
    /// Entries of X and of Y.
    pub(crate) entries: [usize; 2],
    /// Entries of X in columns that tiles store dense.
    pub(crate) dense_entries: u64,
    /// Shared columns of pairs, other than those.
    pub(crate) rare: u64,
    /// Whether each pair is computed once for both rows.
    pub(crate) half: bool,
}

impl CostModel {
    /// Nanoseconds by an index, and by dense tiles on a CPU with registers of `register` bytes. Keys, which both ways
    /// compute, are not included.
    pub(crate) fn times(&self, register: usize) -> [f64; 2] {
        let ([_, m, columns], [of_x, of_y]) = (self.shape.map(|n| n as f64), self.entries.map(|n| n as f64));
        let pairs = if self.half { 0.5 } else { 1.0 };
        let terms = SCATTERED * self.rare as f64 + STREAMED * self.dense_entries as f64 * m;
        let each = DENSE_TERM.iter().find(|(bytes, _)| register >= *bytes).map_or(1.0, |&(_, each)| each);
        // A column is looked up in each tile, of about a thousand rows.
        let terms = terms + FOUND * of_x * m;
        [pairs * terms + INDEXED * of_y, pairs * each * of_x * m + DENSE_FILL * m * columns]
    }
    /// Whether tiles are stored dense, because multiplying the zeros costs less than skipping them. Few rows of Y do
    /// not fill a group, and few rows of X do not amortize building the tile.
    pub(crate) fn prefers_dense<W>(&self, register: usize) -> bool {
        let [by_index, spread] = self.times(register);
        self.shape[1] >= group_rows::<W>() && spread < by_index
    }
}

/// Rows in a tile of `width` columns: whole groups, at least one.
pub(crate) fn tile_rows<W>(width: usize) -> usize {
    let group = group_rows::<W>();
    (TILE_BYTES / (width.max(1) * GROUP_BYTES)).clamp(1, TILE_ROWS / group) * group
}

/// Bytes of such a tile.
pub(crate) fn tile_bytes<W>(width: usize) -> u64 {
    (tile_rows::<W>(width) * width * size_of::<W>()) as u64
}

/// Bytes that rows of X take while they query one.
pub(crate) fn task_bytes<W>(width: usize) -> u64 {
    let (rows, ends) = (tile_rows::<W>(width), (width.div_ceil(COLUMNS) + 1) * TOGETHER * size_of::<usize>());
    (TOGETHER * rows * size_of::<W>() + 8 * rows + ends) as u64
}

/// A block of rows in dense storage.
pub(crate) struct Dense<W> {
    pub(crate) rows: Range<usize>,
    /// Columns.
    width: usize,
    /// Group after group, each column after column.
    values: Vec<W>,
}

impl<W: Float> Dense<W> {
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn new(entries: &Entries<'_, W>, rows: Range<usize>) -> Result<Self> {
        let (group, width) = (group_rows::<W>(), entries.width());
        let mut values = filled(rows.len().div_ceil(group) * group * width, W::ZERO, "a dense tile")?;
        for (position, i) in rows.clone().enumerate() {
            let values = &mut values[position / group * group * width + position % group..];
            let (columns, entries) = entries.row(i);
            columns.iter().zip(entries).for_each(|(&c, &b)| values[c as usize * group] = b);
        }
        Ok(Self { rows, width, values })
    }
    /// Number of sums of each query row.
    pub(crate) fn room(&self) -> usize {
        self.rows.len().next_multiple_of(group_rows::<W>())
    }
}

/// Rows of X that query together.
pub(crate) struct QueryRows<'a, W> {
    rows: Range<usize>,
    columns: &'a [u32],
    entries: &'a [W],
    /// For each block of columns its offset in each row, and the end of the last one.
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
        for (position, i) in rows.clone().enumerate() {
            let mut at = row_ptr[i];
            for block in 0..=blocks {
                ends[block * n + position] = at;
                let of_row = &columns[at..row_ptr[i + 1]];
                at += of_row.iter().take_while(|&&c| (c as usize) < (block + 1) * COLUMNS).count();
            }
        }
        Ok(Self { rows, columns, entries: &x.values, ends })
    }
}

/// Adds the terms of rows of X to their sums with the rows of a tile, [`Dense::room`] for each; with `half`, skips the
/// groups whose rows all come after them.
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
        // The first row that queries this group.
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
    /// The first `J` of the `room` sums of each row of X.
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
                // Prefetches the next block while this one is processed.
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

    /// A matrix against itself, with the same fraction of entries in every column.
    fn square(rows: usize, columns: usize, full: f64) -> CostModel {
        let entries = (rows as f64 * columns as f64 * full) as usize;
        let shared = (rows as f64 * rows as f64 * columns as f64 * full * full) as u64;
        let (dense_entries, rare) = if full >= 0.25 { (entries as u64, 0) } else { (0, shared) };
        CostModel { shape: [rows, rows, columns], entries: [entries; 2], dense_entries, rare, half: true }
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
            let found = [64, 32, 16].map(|register| square(3000, 2000, full).prefers_dense::<f64>(register));
            assert_eq!(found, [wide, narrow, least], "{full}");
        }
        // Few query rows do not amortize the tile, and few rows of Y do not fill a group.
        let many = square(3000, 2000, 0.6);
        let few = CostModel {
            shape: [1, 3000, 2000],
            entries: [1200, many.entries[1]],
            dense_entries: 1200,
            half: false,
            ..many
        };
        assert!(!CostModel { shape: [1, 3000, 2000], entries: [1200, 1200], ..few }.prefers_dense::<f64>(64));
        assert!(!square(31, 2000, 0.6).prefers_dense::<f64>(64) && !square(63, 2000, 0.6).prefers_dense::<f32>(64));
        assert!(square(64, 2000, 0.6).prefers_dense::<f32>(64));
    }

    #[test]
    fn tiles_are_whole_groups_of_some_megabytes() {
        assert_eq!([0, 1, 8192, 10_000, 65_536, 1 << 20].map(tile_rows::<f64>), [256, 256, 256, 192, 32, 32]);
        assert_eq!([0, 1, 8192, 65_536, 1 << 20].map(tile_rows::<f32>), [256, 256, 256, 64, 64]);
        assert_eq!(tile_bytes::<f64>(8192), 16 << 20);
    }
}
