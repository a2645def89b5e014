//! Neighbours within a radius, as a sparse matrix.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::engine::{Batches, Engine, RowQuery, Whole, query_blocks};
use super::entries::within;
use super::float::{Float, Form, OfType, Typed};
use crate::par::{Threads, filled, out_of_memory, reserved};
use crate::{Csr, Error, Index, Result};

/// A neighbour: row within its block, column, distance.
type Hit<T, I> = (u32, I, T);

/// The neighbours of a block of rows in some tiles, row after row, in order.
struct BlockHits<T, I> {
    /// Offset of each row, and the end.
    starts: Vec<usize>,
    columns: Vec<I>,
    values: Vec<T>,
}

impl<T: Float, I: Index> BlockHits<T, I> {
    /// From the hits of `rows` rows, those of a row in order.
    fn new(rows: usize, hits: &[Hit<T, I>]) -> Result<Self> {
        let mut starts = filled(rows + 1, 0usize, "neighbours")?;
        hits.iter().for_each(|&(row, ..)| starts[row as usize + 1] += 1);
        (0..rows).for_each(|row| starts[row + 1] += starts[row]);
        let (mut columns, mut values) =
            (filled(hits.len(), I::cast(0), "neighbours")?, filled(hits.len(), T::ZERO, "distances")?);
        for &(row, column, distance) in hits {
            let next = &mut starts[row as usize];
            (columns[*next], values[*next]) = (column, distance);
            *next += 1;
        }
        // Each start has advanced to that of the next row.
        starts.rotate_right(1);
        starts[0] = 0;
        Ok(Self { starts, columns, values })
    }
    /// Bytes of `hits` hits in `rows` rows.
    fn bytes(rows: usize, hits: usize) -> u64 {
        ((rows + 1) * size_of::<usize>() + hits * (size_of::<T>() + size_of::<I>())) as u64
    }
    fn row(&self, row: usize) -> (&[I], &[T]) {
        let range = self.starts[row]..self.starts[row + 1];
        (&self.columns[range.clone()], &self.values[range])
    }
}

/// The bytes taken, and the budget.
struct BytesTaken {
    bytes: AtomicU64,
    budget: Option<u64>,
}

impl BytesTaken {
    /// Reserves `bytes` more.
    fn reserve(&self, bytes: u64) -> Result<()> {
        let all = self.bytes.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        within("neighbours within a radius", all, self.budget)
    }
    fn release(&self, bytes: u64) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// The parameters of a radius search.
#[derive(Clone, Copy)]
pub(super) struct RadiusSpec {
    pub(super) radius: f64,
    pub(super) similarity: bool,
    pub(super) exclude_self: bool,
    pub(super) budget: Option<u64>,
}

impl RadiusSpec {
    /// Whether a distance, as returned, is within the radius.
    fn inside<T: Float>(&self, d: T) -> bool {
        if self.similarity { d.as_f64() >= self.radius } else { d.as_f64() <= self.radius }
    }
}

/// A matrix as a [`Form`].
pub(super) struct Graph<I>(PhantomData<I>);

impl<I: Index> Form for Graph<I> {
    type Of<T: Float> = Csr<T, I>;
}

/// The rows within a radius, column indices u32, values of the type `of`.
pub(super) fn narrow(
    threads: &Threads,
    engine: &dyn Engine,
    wanted: RadiusSpec,
    of: Typed<OfType>,
) -> Result<Typed<Graph<u32>>> {
    of_type(threads, engine, wanted, of)
}

/// The rows within a radius, column indices u64, values of the type `of`.
pub(super) fn wide(
    threads: &Threads,
    engine: &dyn Engine,
    wanted: RadiusSpec,
    of: Typed<OfType>,
) -> Result<Typed<Graph<u64>>> {
    of_type(threads, engine, wanted, of)
}

fn of_type<I: Index>(
    threads: &Threads,
    engine: &dyn Engine,
    wanted: RadiusSpec,
    of: Typed<OfType>,
) -> Result<Typed<Graph<I>>> {
    Ok(match of {
        Typed::F32(_) => Typed::F32(within_as(threads, engine, wanted)?),
        Typed::F64(_) => Typed::F64(within_as(threads, engine, wanted)?),
    })
}

fn within_as<T: Float, I: Index>(threads: &Threads, engine: &dyn Engine, wanted: RadiusSpec) -> Result<Csr<T, I>> {
    let RadiusSpec { exclude_self, budget, .. } = wanted;
    let (n, m) = engine.nrows();
    if m as u128 > I::MAX_LEN as u128 {
        return Err(Error::IndexOverflow { what: "columns", needed: m as u128, max: I::MAX_LEN as u128 });
    }
    let blocks = query_blocks(engine, threads)?;
    let rows = 8 * (n as u64 + 1);
    if let Some(bytes) =
        engine.whole_bytes(threads).filter(|&bytes| budget.is_none_or(|b| bytes.saturating_add(rows) <= b))
        && let Some(whole) = engine.whole(threads)?
    {
        let taken = BytesTaken { bytes: AtomicU64::new(0), budget };
        taken.reserve(bytes + rows)?;
        match by_whole(threads, engine, &*whole, &wanted, &blocks, &taken) {
            // Tiles may need less memory.
            Err(Error::Budget { .. }) => {}
            found => return joined(&blocks, found?, (n, m)),
        }
    }
    let mut found = reserved(blocks.len(), "neighbours")?;
    found.resize_with(blocks.len(), || Mutex::new(Vec::<BlockHits<T, I>>::new()));
    let taken = BytesTaken { bytes: AtomicU64::new(0), budget };
    taken.reserve(Batches::new(engine).all_bytes(threads) + rows)?;
    Batches::new(engine).for_each(threads, |open| {
        threads.for_each_of(
            "neighbours within a radius",
            blocks.len(),
            || Ok(Vec::new()),
            |hits: &mut Vec<Hit<T, I>>, b| {
                hits.clear();
                let block = blocks[b].clone();
                for (rows, tile) in open {
                    tile.keys(block.clone(), false, &mut |i, keys| {
                        engine.finish(keys);
                        // As returned: rounded in f32.
                        let inside = |d: T| wanted.inside(d);
                        let here = keys.iter().filter(|&&d| inside(T::from_f64(d))).count();
                        make_room(hits, here, &taken)?;
                        let row = (i - block.start) as u32;
                        for (d, j) in keys.iter().map(|&d| T::from_f64(d)).zip(rows.clone()) {
                            if inside(d) && !(exclude_self && i == j) {
                                hits.push((row, I::cast(j), d));
                            }
                        }
                        Ok(())
                    })?;
                }
                // Once here, and once in the result.
                taken.reserve(BlockHits::<T, I>::bytes(block.len(), 2 * hits.len()))?;
                let of_block = BlockHits::new(block.len(), hits)?;
                let mut found = found[b].lock().unwrap_or_else(PoisonError::into_inner);
                found.try_reserve(1).map_err(|_| out_of_memory::<BlockHits<T, I>>("neighbours", 1))?;
                found.push(of_block);
                Ok(())
            },
        )
    })?;
    joined(&blocks, found, (n, m))
}

/// Reserves room for `more` hits.
fn make_room<T, I>(hits: &mut Vec<Hit<T, I>>, more: usize, taken: &BytesTaken) -> Result<()> {
    if hits.capacity() - hits.len() < more {
        let of_hit = size_of::<Hit<T, I>>() as u64;
        let (had, wanted) = (hits.capacity(), (hits.len() + more).next_power_of_two());
        // Both buffers exist while the hits are copied.
        taken.reserve(wanted as u64 * of_hit)?;
        let refused = |_| out_of_memory::<Hit<T, I>>("neighbours", wanted);
        hits.try_reserve_exact(wanted - hits.len()).map_err(refused)?;
        taken.release(had as u64 * of_hit);
    }
    Ok(())
}

/// The neighbours of each block of rows, in the order of the tiles.
type OfBlocks<T, I> = Vec<Mutex<Vec<BlockHits<T, I>>>>;

/// The rows within a radius, each row of X querying all of Y at once.
fn by_whole<T: Float, I: Index>(
    threads: &Threads,
    engine: &dyn Engine,
    whole: &dyn Whole,
    wanted: &RadiusSpec,
    blocks: &[Range<usize>],
    taken: &BytesTaken,
) -> Result<OfBlocks<T, I>> {
    let mut found = reserved(blocks.len(), "neighbours")?;
    found.resize_with(blocks.len(), || Mutex::new(Vec::new()));
    threads.for_each_of(
        "neighbours within a radius",
        blocks.len(),
        || Ok((whole.row_query()?, Vec::new())),
        |(query, hits): &mut (Box<dyn RowQuery + '_>, Vec<Hit<T, I>>), b| {
            hits.clear();
            for i in blocks[b].clone() {
                of_row(engine, &mut **query, wanted, i, (i - blocks[b].start) as u32, hits, taken)?;
            }
            taken.reserve(BlockHits::<T, I>::bytes(blocks[b].len(), 2 * hits.len()))?;
            let of_block = BlockHits::new(blocks[b].len(), hits)?;
            let mut found = found[b].lock().unwrap_or_else(PoisonError::into_inner);
            found.try_reserve(1).map_err(|_| out_of_memory::<BlockHits<T, I>>("neighbours", 1))?;
            found.push(of_block);
            Ok(())
        },
    )?;
    Ok(found)
}

/// Appends the hits of row `i`, number `row` of its block, in order.
fn of_row<T: Float, I: Index>(
    engine: &dyn Engine,
    query: &mut dyn RowQuery,
    wanted: &RadiusSpec,
    i: usize,
    row: u32,
    hits: &mut Vec<Hit<T, I>>,
    taken: &BytesTaken,
) -> Result<()> {
    let exclude_self = wanted.exclude_self;
    let inside = |d: T| wanted.inside(d);
    let skip = |j: usize| exclude_self && i == j;
    let (first, m) = (hits.len(), engine.nrows().1);
    let mut done = Ok(());
    let mut finished = Vec::new();
    query.query(i);
    let ordered = query.is_ordered();
    let mut of_touched = |rows: &[u32], keys: &[f64]| {
        if done.is_err() {
            return;
        }
        finished.clear();
        finished.extend_from_slice(keys);
        engine.finish(&mut finished);
        done = make_room(hits, rows.len(), taken);
        if done.is_ok() {
            let of_rows = rows.iter().zip(&finished).map(|(&j, &d)| (row, I::cast(j as usize), T::from_f64(d)));
            hits.extend(of_rows.filter(|&(_, j, d)| inside(d) && !skip(j.get())));
        }
    };
    if ordered {
        query.touched(&mut of_touched);
    }
    // If very many rows that share no column are within the radius, all rows are scanned in order instead.
    let most = hits.len() + m / 8;
    let mut many = !ordered;
    let mut of_others = |key: f64, rows: &mut dyn Iterator<Item = u32>| {
        let mut distance = [key];
        engine.finish(&mut distance);
        let distance = T::from_f64(distance[0]);
        if done.is_err() || !inside(distance) {
            return false;
        }
        for j in rows.filter(|&j| !skip(j as usize)) {
            many = hits.len() == most;
            done = make_room(hits, 1, taken);
            if many || done.is_err() {
                return false;
            }
            hits.push((row, I::cast(j as usize), distance));
        }
        true
    };
    if ordered {
        query.others(&mut of_others);
    }
    if many {
        hits.truncate(first);
        query.all(&mut |first, keys| {
            engine.finish(keys);
            let here = keys.iter().filter(|&&d| inside(T::from_f64(d))).count();
            if done.is_ok() {
                done = make_room(hits, here, taken);
            }
            if done.is_ok() {
                let of_rows = (first..).zip(&*keys).map(|(j, &d)| (j, T::from_f64(d)));
                hits.extend(of_rows.filter(|&(j, d)| inside(d) && !skip(j)).map(|(j, d)| (row, I::cast(j), d)));
            }
        });
    } else {
        hits[first..].sort_unstable_by_key(|hit| hit.1);
    }
    done
}

/// The matrix of all hits.
fn joined<T: Float, I: Index>(
    blocks: &[Range<usize>],
    found: OfBlocks<T, I>,
    (n, m): (usize, usize),
) -> Result<Csr<T, I>> {
    let mut row_ptr = reserved(n + 1, "row pointers")?;
    row_ptr.push(0usize);
    let mut found: Vec<_> = found.into_iter().map(|f| f.into_inner().unwrap_or_else(PoisonError::into_inner)).collect();
    let nnz = found.iter().flatten().map(|f| f.columns.len()).sum();
    let (mut columns, mut values) = (reserved(nnz, "neighbours")?, reserved(nnz, "distances")?);
    for (block, of_block) in blocks.iter().zip(&mut found) {
        // Frees each block as soon as it is copied.
        let of_block = std::mem::take(of_block);
        for row in 0..block.len() {
            for (c, v) in of_block.iter().map(|found| found.row(row)) {
                columns.extend_from_slice(c);
                values.extend_from_slice(v);
            }
            row_ptr.push(columns.len());
        }
    }
    Csr::new(n, m, row_ptr, columns, values)
}
