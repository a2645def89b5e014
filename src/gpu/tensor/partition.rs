//! Balanced partitions of a mode's rows, and the positions of entries in their order.
//!
//! Source: Wijeratne, Kannan, Prasanna 2024, §3.4 and Algorithm 1: rows by decreasing number of entries, each assigned
//! to the least loaded partition, so that the fullest has at most 4/3 of the optimum (Graham 1969). Rows of more than a
//! quarter of a partition are split first, which the paper does not do; the bound is then 5/4 of the mean, plus one
//! entry.

use super::entries::{Store, sort};
use super::schedule::{Schedule, SplitRow, SplitRows};
use crate::Result;
use crate::algebra::Type;
use crate::gpu::Cuda;
use crate::gpu::buffer::Buffer;
use crate::gpu::launch::{Shape, args};
use crate::gpu::transpose::Sorter;

/// Most partitions: one thread of a block each.
const MOST_PARTITIONS: usize = 1024;
/// Least entries per partition, unless the tensor has fewer.
const LEAST_ENTRIES: usize = 1024;
/// Pieces of a mean partition: an item fills at most one of them.
const PIECES: usize = 4;

/// Partitions of a tensor of `nnz` entries: 3 per multiprocessor, as many blocks as are resident.
pub(super) fn partitions(multiprocessors: u32, nnz: usize) -> usize {
    (3 * multiprocessors as usize).min(nnz / LEAST_ENTRIES).clamp(1, MOST_PARTITIONS)
}

/// Most entries per item.
pub(super) fn largest_item(nnz: usize, partitions: usize) -> usize {
    nnz.div_ceil(partitions * PIECES).max(1)
}

/// The greedy assignment: each item in turn goes to the least loaded partition.
pub(super) struct Assigned {
    /// Partition of each item.
    pub(super) part_of: Buffer<u32>,
    /// Entries per partition.
    pub(super) loads: Buffer<u32>,
}

/// The order of a mode of a remapped tensor.
pub(super) struct Partitioned {
    pub(super) schedule: Schedule,
    /// The position of each entry in it.
    pub(super) positions: Buffer<u32>,
    /// Entries per partition.
    pub(super) loads: Buffer<u32>,
}

impl Store<'_> {
    /// Assigns items to `partitions`; `missing` is `most` minus the entries of each item.
    pub(super) fn assign(&self, missing: &Buffer<u32>, most: usize, partitions: usize) -> Result<Assigned> {
        let (cuda, items) = (self.cuda, missing.len());
        let (sorted, order) = sort(&Sorter::new(cuda, Type::U32, items)?, missing, None, most + 1)?;
        let part_of = cuda.alloc::<u32>(items, "partitions of items")?;
        let loads = cuda.alloc::<u32>(partitions, "entries of partitions")?;
        let arguments = args![&sorted, &order, most as u32, items as u64, partitions as u32, &part_of, &loads];
        self.program()?.kernel("assign_items")?.launch(Shape::blocks(1, 1024, 0)?, arguments)?;
        Ok(Assigned { part_of, loads })
    }

    /// Partitions the `rows` rows of a mode; `keys` are the sorted indices, `order` is their permutation.
    pub(super) fn partitioned(
        &self,
        (keys, order): (&Buffer<u32>, &Buffer<u32>),
        rows: usize,
        partitions: usize,
    ) -> Result<Partitioned> {
        let (cuda, n) = (self.cuda, keys.len());
        let most = largest_item(n, partitions);
        let what = "partitions of a tensor's entries";
        let alloc = |len: usize| cuda.alloc::<u32>(len, what);
        let program = self.program()?;
        let row_ptr = self.row_starts(keys, rows)?;

        let each_row = Shape::for_each(rows, 256)?;
        let (counts, split_counts, split) = (alloc(rows)?, alloc(rows)?, alloc(rows)?);
        let arguments = args![&row_ptr, rows as u64, most as u32, &counts, &split_counts, &split];
        program.kernel("count_items")?.launch(each_row, arguments)?;
        let (item_of, items) = self.small_offsets(&counts, what)?;
        drop(counts);
        let (split_of, split_items) = self.small_offsets(&split_counts, what)?;
        drop(split_counts);
        let (listed_at, listed_rows) = self.small_offsets(&split, what)?;
        drop(split);
        let (missing, item_targets) = (alloc(items)?, alloc(items)?);
        let listed = [alloc(listed_rows)?, alloc(listed_rows)?, alloc(listed_rows)?];
        let arguments = args![
            &row_ptr,
            rows as u64,
            most as u32,
            &item_of,
            &split_of,
            &listed_at,
            &missing,
            &item_targets,
            &listed[0],
            &listed[1],
            &listed[2],
        ];
        program.kernel("place_items")?.launch(each_row, arguments)?;

        let Assigned { part_of, loads } = self.assign(&missing, most, partitions)?;
        // By partition, and by row within each: neighbors of the kernel that reads them.
        let (parts, by_part) = sort(&Sorter::new(cuda, Type::U32, items)?, &part_of, None, partitions)?;
        let first = self.row_starts(&parts, partitions)?;
        let each_item = Shape::for_each(items, 256)?;
        let sizes = alloc(items)?;
        let arguments = args![&by_part, &missing, most as u32, items as u64, &sizes];
        program.kernel("order_sizes")?.launch(each_item, arguments)?;
        let (starts, _) = self.small_offsets(&sizes, what)?;
        drop(sizes);
        let (targets, item_starts) = (alloc(items)?, alloc(items)?);
        let arguments = args![&by_part, &starts, &item_targets, items as u64, &targets, &item_starts];
        program.kernel("order_items")?.launch(each_item, arguments)?;
        let bounds = alloc(partitions + 1)?;
        let arguments = args![&first, &starts, partitions as u64, &bounds];
        program.kernel("block_starts")?.launch(Shape::for_each(partitions + 1, 256)?, arguments)?;

        let positions = alloc(n)?;
        let arguments = args![keys, order, n as u64, &row_ptr, &item_of, &item_starts, &positions];
        program.kernel("place_entries")?.launch(Shape::for_each(n, 256)?, arguments)?;

        let split = self.split_rows(&listed)?;
        let with_entries = items - split_items + listed_rows;
        let schedule = Schedule::new([bounds, first, starts, targets], split, 2 * split_items, with_entries);
        Ok(Partitioned { schedule, positions, loads })
    }

    /// For the entry at each of `positions`, its position in the next order.
    pub(super) fn links(&self, positions: &Buffer<u32>, next: &Buffer<u32>) -> Result<Buffer<u32>> {
        let n = positions.len();
        let links = self.cuda.alloc::<u32>(n, "positions in the order of the next mode")?;
        let arguments = args![positions, next, n as u64, &links];
        self.program()?.kernel("link_positions")?.launch(Shape::for_each(n, 256)?, arguments)?;
        Ok(links)
    }

    fn row_starts(&self, keys: &Buffer<u32>, rows: usize) -> Result<Buffer<u32>> {
        use crate::gpu::pattern::Offsets;
        match Sorter::new(self.cuda, Type::U32, keys.len())?.row_starts(keys, rows)? {
            Offsets::Small(starts) => Ok(starts),
            Offsets::Large(_) => Err(crate::Error::IndexOverflow {
                what: "entries of a tensor on a device",
                needed: keys.len() as u128,
                max: u32::MAX.into(),
            }),
        }
    }

    fn split_rows(&self, [rows, firsts, counts]: &[Buffer<u32>; 3]) -> Result<SplitRows> {
        let get = |list| self.cuda.get(list, "rows of several partitions");
        let (rows, firsts, counts) = (get(rows)?, get(firsts)?, get(counts)?);
        let all = rows.iter().zip(&firsts).zip(&counts).map(|((&row, &first), &runs)| SplitRow { row, first, runs });
        SplitRows::new(self.cuda, crate::par::collected(rows.len(), all, "rows of several partitions")?)
    }
}

/// The partition of each item of these sizes, and the load of each partition, as a device assigns them; for tests.
/// # Errors
/// [`Error::Device`](crate::Error::Device).
pub fn loads_of(cuda: &Cuda, sizes: &[u32], partitions: usize) -> Result<(Vec<u32>, Vec<u32>)> {
    use std::sync::Arc;
    let most = sizes.iter().copied().max().unwrap_or(0) as usize;
    let missing: Vec<u32> = sizes.iter().map(|size| most as u32 - size).collect();
    let missing = cuda.put(&missing, "items")?;
    let none = || cuda.alloc::<u32>(0, "no entries");
    let tensor = super::entries::RawTensor {
        dims: Arc::from([0]),
        columns: Arc::from([none()?]),
        values: Arc::clone(none()?.raw()),
    };
    let Assigned { part_of, loads } =
        Store::new(cuda, &tensor).assign(&missing, most, partitions.clamp(1, MOST_PARTITIONS))?;
    Ok((cuda.get(&part_of, "partitions of items")?, cuda.get(&loads, "entries of partitions")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_fill_the_device_and_no_item_fills_one() {
        assert_eq!(partitions(132, 10_000_000), 396);
        assert_eq!(partitions(132, 10_000), 9);
        assert_eq!(partitions(132, 0), 1);
        assert_eq!(partitions(1000, usize::MAX), 1024);
        assert_eq!(largest_item(0, 1), 1);
        assert_eq!(largest_item(1000, 10), 25);
        assert_eq!(largest_item(1001, 10), 26);
    }
}
