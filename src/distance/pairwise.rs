//! All distances, as one dense matrix or as a stream of its rows.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::engine::{Batches, Engine, query_blocks};
use super::float::{Float, Form, Typed};
use crate::par::{Threads, filled, reserved};
use crate::{Error, Result};

/// Bytes that [`fill`] takes besides the result, including the prepared rows.
pub(super) fn scratch(threads: &Threads, engine: &dyn Engine, entry: usize) -> u64 {
    // A thread has a strip of distances: a block of rows against a tile.
    let strip = engine.tile_rows().min(engine.nrows().1) * 128 * entry;
    Batches::new(engine).all_bytes(threads) + (threads.count() * strip) as u64
}

/// The output of distances, as a [`Form`].
pub(super) struct Out<'a>(PhantomData<&'a ()>);

impl<'a> Form for Out<'a> {
    type Of<T: Float> = &'a mut [T];
}

/// Rows `rows` of the matrix of distances, row after row.
pub(super) fn fill(threads: &Threads, engine: &dyn Engine, rows: Range<usize>, out: Typed<Out<'_>>) -> Result<()> {
    match out {
        Typed::F32(out) => fill_as(threads, engine, rows, out),
        Typed::F64(out) => fill_as(threads, engine, rows, out),
    }
}

fn fill_as<T: Float>(threads: &Threads, engine: &dyn Engine, rows: Range<usize>, out: &mut [T]) -> Result<()> {
    let (n, m) = engine.nrows();
    let whole = rows == (0..n);
    let half = whole && engine.symmetric();
    let mut blocks = query_blocks(engine, threads)?;
    blocks.iter_mut().for_each(|b| *b = b.start.max(rows.start)..b.end.min(rows.end));
    blocks.retain(|b| !b.is_empty());
    // Each block of rows is written by one thread at a time.
    let mut parts = reserved(blocks.len(), "blocks of rows")?;
    let mut rest = out;
    for block in &blocks {
        let (part, tail) = rest.split_at_mut(block.len() * m);
        rest = tail;
        parts.push(Mutex::new(part));
    }
    let lock = |b: usize| parts[b].lock().unwrap_or_else(PoisonError::into_inner);
    Batches::new(engine).for_each(threads, |open| {
        let mut tasks = reserved(blocks.len() * open.len(), "tasks")?;
        let all = (0..blocks.len()).flat_map(|b| (0..open.len()).map(move |t| (t, b)));
        tasks.extend(all.filter(|&(t, b)| !half || blocks[b].end > open[t].0.start));
        threads.for_each_of(
            "pairwise distances",
            tasks.len(),
            || Ok(Vec::new()),
            |strip: &mut Vec<T>, task| {
                let (t, b) = tasks[task];
                let (tile_rows, tile) = &open[t];
                let (block, width) = (blocks[b].clone(), tile_rows.len());
                if strip.len() < block.len() * width {
                    *strip = filled(block.len() * width, T::ZERO, "a strip of distances")?;
                }
                tile.keys(block.clone(), half, &mut |i, keys| {
                    engine.finish(keys);
                    let to = &mut strip[(i - block.start) * width..];
                    to.iter_mut().zip(&*keys).for_each(|(to, &key)| *to = T::from_f64(key));
                    Ok(())
                })?;
                {
                    let mut part = lock(b);
                    for (row, i) in block.clone().enumerate() {
                        let len = if half { (i + 1).saturating_sub(tile_rows.start).min(width) } else { width };
                        part[row * m + tile_rows.start..][..len].copy_from_slice(&strip[row * width..][..len]);
                    }
                }
                if half {
                    mirror(&blocks, &lock, block, tile_rows.clone(), strip, m);
                }
                Ok(())
            },
        )
    })
}

/// Mirrors a strip from below the diagonal to above it.
fn mirror<'a, T: Float>(
    blocks: &[Range<usize>],
    lock: &dyn Fn(usize) -> std::sync::MutexGuard<'a, &'a mut [T]>,
    rows: Range<usize>,
    columns: Range<usize>,
    strip: &[T],
    m: usize,
) {
    let first = blocks.partition_point(|b| b.end <= columns.start);
    for (b, block) in blocks.iter().enumerate().skip(first).take_while(|(_, b)| b.start < columns.end.min(rows.end)) {
        let mut part = lock(b);
        for j in block.start.max(columns.start)..block.end.min(columns.end).min(rows.end) {
            // Rows of the strip below the diagonal in column j.
            let below = rows.start.max(j + 1)..rows.end;
            let to = &mut part[(j - block.start) * m..][below.clone()];
            for (to, i) in to.iter_mut().zip(below) {
                *to = strip[(i - rows.start) * columns.len() + (j - columns.start)];
            }
        }
    }
}

/// The length of a dense n × m result of `T`, checked against the budget and the address space.
pub(super) fn checked_len<T>(n: usize, m: usize, budget: Option<u64>, scratch: u64) -> Result<usize> {
    let bytes = n as u128 * m as u128 * size_of::<T>() as u128;
    let all = bytes + u128::from(scratch);
    if let Some(budget) = budget.map(u128::from).filter(|&b| all > b) {
        return Err(Error::Budget { what: "all distances", bytes: all, budget });
    }
    if bytes > isize::MAX as u128 {
        return Err(Error::OutOfMemory { what: "all distances", bytes });
    }
    Ok(n * m)
}
