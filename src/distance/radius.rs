//! Neighbours within a radius, as a sparse matrix.

use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

use super::engine::{Batches, Engine, query_blocks};
use super::float::{Float, Form, OfType, Typed};
use crate::par::{Threads, reserved};
use crate::{Csr, Error, Index, Result};

/// What a block of rows has found: of each row its neighbours, in order.
struct Found<T, I> {
    columns: Vec<Vec<I>>,
    values: Vec<Vec<T>>,
}

/// Which pairs are wanted, and the bytes that they may take.
#[derive(Clone, Copy)]
pub(super) struct Radius {
    pub(super) radius: f64,
    pub(super) similarity: bool,
    pub(super) exclude_self: bool,
    pub(super) budget: Option<u64>,
}

/// A matrix as a [`Form`].
pub(super) struct Graph<I>(PhantomData<I>);

impl<I: Index> Form for Graph<I> {
    type Of<T: Float> = Csr<T, I>;
}

/// The rows within a radius, columns counted with u32, values of the type `of`.
pub(super) fn narrow(
    threads: &Threads,
    engine: &dyn Engine,
    wanted: Radius,
    of: Typed<OfType>,
) -> Result<Typed<Graph<u32>>> {
    within(threads, engine, wanted, of)
}

/// The rows within a radius, columns counted with u64, values of the type `of`.
pub(super) fn wide(
    threads: &Threads,
    engine: &dyn Engine,
    wanted: Radius,
    of: Typed<OfType>,
) -> Result<Typed<Graph<u64>>> {
    within(threads, engine, wanted, of)
}

fn within<I: Index>(
    threads: &Threads,
    engine: &dyn Engine,
    wanted: Radius,
    of: Typed<OfType>,
) -> Result<Typed<Graph<I>>> {
    Ok(match of {
        Typed::F32(_) => Typed::F32(within_as(threads, engine, wanted)?),
        Typed::F64(_) => Typed::F64(within_as(threads, engine, wanted)?),
    })
}

fn within_as<T: Float, I: Index>(threads: &Threads, engine: &dyn Engine, wanted: Radius) -> Result<Csr<T, I>> {
    let Radius { radius, similarity, exclude_self, budget } = wanted;
    let (n, m) = engine.nrows();
    if m as u128 > I::MAX_LEN as u128 {
        return Err(Error::IndexOverflow { what: "columns", needed: m as u128, max: I::MAX_LEN as u128 });
    }
    let blocks = query_blocks(engine, threads)?;
    let mut found = reserved(blocks.len(), "neighbours")?;
    for block in &blocks {
        let mut of_block = Found::<T, I> {
            columns: reserved(block.len(), "neighbours")?,
            values: reserved(block.len(), "neighbours")?,
        };
        of_block.columns.resize_with(block.len(), Vec::new);
        of_block.values.resize_with(block.len(), Vec::new);
        found.push(Mutex::new(of_block));
    }
    let bytes = std::sync::atomic::AtomicU64::new(Batches::new(engine).bytes());
    let entry = (size_of::<T>() + size_of::<I>()) as u64;
    Batches::new(engine).for_each(threads, |open| {
        threads.for_each_of(
            "neighbours within a radius",
            blocks.len(),
            || Ok(()),
            |(), b| {
                let mut found = found[b].lock().unwrap_or_else(PoisonError::into_inner);
                let mut new = 0;
                for (rows, tile) in open {
                    tile.keys(blocks[b].clone(), false, &mut |i, keys| {
                        engine.finish(keys);
                        let row = i - blocks[b].start;
                        let inside = |d: f64| if similarity { d >= radius } else { d <= radius };
                        let hits = keys.iter().filter(|&&d| inside(d)).count();
                        let refused =
                            |_| Error::OutOfMemory { what: "neighbours", bytes: hits as u128 * u128::from(entry) };
                        found.columns[row].try_reserve(hits).map_err(refused)?;
                        found.values[row].try_reserve(hits).map_err(refused)?;
                        for (&d, j) in keys.iter().zip(rows.clone()) {
                            if inside(d) && !(exclude_self && i == j) {
                                found.columns[row].push(I::cast(j));
                                found.values[row].push(T::from_f64(d));
                                new += entry;
                            }
                        }
                        Ok(())
                    })?;
                }
                let taken = bytes.fetch_add(new, std::sync::atomic::Ordering::Relaxed) + new;
                match budget {
                    Some(budget) if taken > budget => {
                        let (bytes, budget) = (taken.into(), budget.into());
                        Err(Error::Budget { what: "neighbours within a radius", bytes, budget })
                    }
                    _ => Ok(()),
                }
            },
        )
    })?;
    let mut row_ptr = reserved(n + 1, "row pointers")?;
    row_ptr.push(0usize);
    let mut found: Vec<_> = found.into_iter().map(|f| f.into_inner().unwrap_or_else(PoisonError::into_inner)).collect();
    let nnz = found.iter().flat_map(|f| &f.columns).map(Vec::len).sum();
    let (mut columns, mut values) = (reserved(nnz, "neighbours")?, reserved(nnz, "distances")?);
    for block in &mut found {
        for (c, v) in block.columns.drain(..).zip(block.values.drain(..)) {
            columns.extend(c);
            values.extend(v);
            row_ptr.push(columns.len());
        }
    }
    Csr::new(n, m, row_ptr, columns, values)
}
