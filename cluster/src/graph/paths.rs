//! Lengths of shortest paths on the ranks of a grid, by loops over their blocks.
//!
//! In each round a rank gathers the vertices that its row of the grid is to look at, with their lengths, follows the
//! edges of its block from them, and tells the least length of each column that came nearer to the rank that holds it.
//! Vertices are looked at once those nearer by Δ have been, all that came nearer at a time where a weight is negative.
//!
//! Source: Meyer, Sanders 2003 (Δ-stepping); Bellman 1958.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;
use sparring::{Csr, Error, Result};

use super::search::{holder, holders};
use crate::cluster::Shared;
use crate::link::Parts;
use crate::wire::{Bytes, broken, buffer, put_indices, reserved, zeros};

/// Vertices of a task.
const TASK: usize = 64;
/// Δ is the mean weight, and more where vertices have fewer edges than this: rounds cost messages.
const EDGES: f64 = 32.0;

/// Bits in the order of numbers, negative ones too.
fn ordered(x: f64) -> u64 {
    let bits = x.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}
fn number(ordered: u64) -> f64 {
    f64::from_bits(if ordered >> 63 == 1 { ordered & !(1 << 63) } else { !ordered })
}

/// What is known of the columns of a block.
struct Columns<'a> {
    block: &'a Csr<f64>,
    /// The least lengths of paths by way of rows of the block, ordered bits.
    least: Vec<AtomicU64>,
    /// Whether that is to be told.
    fell: Vec<AtomicBool>,
    /// Whether one thread follows edges, which needs no locked instructions.
    alone: bool,
}

impl Columns<'_> {
    /// Follows the edges of rows; columns that come nearer are added to `new`.
    fn follow(&self, rows: &[(u32, f64)], new: &mut Vec<u32>) {
        for &(row, length) in rows {
            let (cols, weights) = self.block.row(row as usize);
            for (&col, &weight) in cols.iter().zip(weights) {
                // One zero for both.
                let sum = length + weight + 0.0;
                // A path of infinite length is none.
                if weight == f64::INFINITY || sum == f64::INFINITY {
                    continue;
                }
                let (least, fell, sum) = (&self.least[col as usize], &self.fell[col as usize], ordered(sum));
                if sum >= least.load(Relaxed) {
                    continue;
                }
                let is_new = if self.alone {
                    least.store(sum, Relaxed);
                    let fell_before = fell.load(Relaxed);
                    fell.store(true, Relaxed);
                    !fell_before
                } else {
                    sum < least.fetch_min(sum, Relaxed) && !fell.swap(true, Relaxed)
                };
                if is_new {
                    new.push(col);
                }
            }
        }
    }
}

/// Vertices of a piece whose edges are to be looked at.
struct Waiting {
    lengths: Vec<f64>,
    /// Whether a vertex came nearer since its edges were looked at.
    waits: Vec<bool>,
    /// Those at less than the bound, and the others.
    near: Vec<u32>,
    far: Vec<u32>,
    bound: f64,
}

impl Waiting {
    fn put(&mut self, place: usize, length: f64) -> Result<()> {
        let known = self.lengths.get_mut(place).ok_or_else(broken)?;
        if length >= *known {
            return Ok(());
        }
        let (before, waited) = (std::mem::replace(known, length), std::mem::replace(&mut self.waits[place], true));
        let is_near = length < self.bound;
        // Where it waits already, it may have to wait with the near ones.
        if !waited || is_near && before >= self.bound {
            let to = if is_near { &mut self.near } else { &mut self.far };
            to.try_reserve(1).map_err(|_| Error::OutOfMemory { bytes: 4, what: "vertices that came nearer" })?;
            to.push(place as u32);
        }
        Ok(())
    }
    /// The least length of those that wait, infinite where there is none.
    fn least(&self) -> f64 {
        let waiting = self.far.iter().filter(|place| self.waits[**place as usize]);
        waiting.map(|&place| self.lengths[place as usize]).fold(f64::INFINITY, f64::min)
    }
    /// Makes those below another bound near.
    fn advance(&mut self, bound: f64) -> Result<()> {
        self.bound = bound;
        let Self { lengths, waits, near, far, .. } = self;
        near.try_reserve(far.len())
            .map_err(|_| Error::OutOfMemory { bytes: 4 * far.len() as u128, what: "vertices that came nearer" })?;
        far.retain(|&place| {
            let stays = waits[place as usize] && lengths[place as usize] >= bound;
            if waits[place as usize] && !stays {
                near.push(place);
            }
            stays
        });
        Ok(())
    }
    /// The near ones, as a message: rows counted from `first`, and their lengths.
    fn message(&mut self, first: usize) -> Result<Vec<u8>> {
        let Self { lengths, waits, near, .. } = self;
        near.retain(|&place| std::mem::replace(&mut waits[place as usize], false));
        let mut made = buffer(12 * near.len())?;
        put_indices(&mut made, near.iter().map(|&place| (first + place as usize) as u32));
        near.iter().for_each(|&place| made.extend_from_slice(&lengths[place as usize].to_le_bytes()));
        near.clear();
        Ok(made)
    }
}

/// Numbers with lengths, out of a message.
fn pairs(bytes: &[u8]) -> Result<impl Iterator<Item = (u32, f64)>> {
    let (mut bytes, count) = (Bytes(bytes), bytes.len() / 12);
    let numbers = bytes.indices(count)?;
    Ok(numbers.zip(bytes.take(8 * count)?.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b))))
}

/// Messages for these columns, to their holders, of the places there and the lengths; lengths are told once.
fn dealt(columns: &Columns<'_>, holders: &[(Range<usize>, usize)], mut cols: Vec<u32>) -> Result<Parts> {
    cols.sort_unstable();
    let mut made = Parts { bytes: buffer(12 * cols.len())?, lengths: zeros(holders.len())? };
    for part in cols.chunk_by(|a, b| holder(holders, *a) == holder(holders, *b)) {
        let k = holder(holders, part[0]);
        let (range, start) = &holders[k];
        made.lengths[k] = 12 * part.len();
        put_indices(&mut made.bytes, part.iter().map(|&col| (col as usize - range.start + start) as u32));
        for &col in part {
            columns.fell[col as usize].store(false, Relaxed);
            let length = number(columns.least[col as usize].load(Relaxed));
            made.bytes.extend_from_slice(&length.to_le_bytes());
        }
    }
    Ok(made)
}

/// How far the bound moves, infinite where a weight is negative. Collective.
fn step(shared: &Shared, weights: &[f64], n: usize, edges: usize) -> f64 {
    let sum = weights.iter().filter(|w| w.is_finite()).sum::<f64>();
    let least = weights.iter().copied().fold(0.0, f64::min);
    let all = shared.world.all_words([f64::to_bits(sum), f64::to_bits(least)]);
    if all.iter().any(|words| f64::from_bits(words[1]) < 0.0) {
        return f64::INFINITY;
    }
    let mean = all.iter().map(|words| f64::from_bits(words[0])).sum::<f64>() / edges.max(1) as f64;
    let step = mean * (EDGES * n as f64 / edges.max(1) as f64).max(1.0);
    // Weights that are all zero, or so large or small that their mean is no number to divide by.
    if step.is_normal() { step } else { 1.0 }
}

/// For each vertex that this rank holds the length of a shortest path from `source`, infinite where there is none, in
/// an n×n matrix of so many weights, of which this rank has a block. Collective.
pub(super) fn lengths(
    shared: &Shared,
    n: usize,
    edges: usize,
    block: Result<&Csr<f64>>,
    source: usize,
) -> Result<Vec<f64>> {
    let (piece, (rows, cols)) = (shared.grid.piece(n), shared.grid.block((n, n)));
    let threads = shared.inner.threads().filter(|threads| threads.count() > 1);
    let made = block.and_then(|block| {
        let weights = block.values();
        if let Some(k) = weights.iter().position(|w| w.is_nan()) {
            let row = block.pattern().row_ptr().partition_point(|end| *end <= k) - 1;
            let (u, v) = (rows.start + row, cols.start + block.pattern().col_idx()[k] as usize);
            let message = format!("that of the edge from {u} to {v} is NaN");
            return Err(Error::Argument { name: "weight", message });
        }
        let (least, fell) = (reserved(cols.len(), "lengths")?, reserved(cols.len(), "columns")?);
        let mut columns = Columns { block, least, fell, alone: threads.is_none() };
        columns.least.resize_with(cols.len(), || AtomicU64::new(u64::MAX));
        columns.fell.resize_with(cols.len(), AtomicBool::default);
        let (mut lengths, waits): (Vec<f64>, _) = (zeros(piece.len())?, zeros(piece.len())?);
        lengths.fill(f64::INFINITY);
        let mut waiting = Waiting { lengths, waits, near: vec![], far: vec![], bound: f64::INFINITY };
        if piece.contains(&source) {
            waiting.put(source - piece.start, 0.0)?;
        }
        Ok((columns, waiting, holders(shared, n)))
    });
    let (columns, mut waiting, holders) = shared.ready(made)?;
    let step = step(shared, columns.block.values(), n, edges);
    waiting.bound = step;
    let (mut came, mut rounds) = (Ok(()), 0usize);
    loop {
        let message = came.and_then(|()| waiting.message(piece.start - rows.start));
        let gathered = shared.row.gather(message.map(|message| ((), message))).and_then(|((), parts)| {
            let mut all: Vec<(u32, f64)> = reserved(parts.bytes.len() / 12, "vertices")?;
            for bytes in parts.iter() {
                all.extend(pairs(bytes)?);
            }
            let count = all.len();
            Ok((all, count))
        });
        let (all, total) = shared.counted(gathered)?;
        if total == 0 {
            let least = shared.world.all_words([ordered(waiting.least()), 0]);
            let least = number(least.iter().map(|words| words[0]).min().unwrap_or(u64::MAX));
            if least == f64::INFINITY {
                return Ok(waiting.lengths);
            }
            // A step that adds nothing to a large length.
            let bound = (least + step).max(least.next_up());
            came = waiting.advance(bound);
            continue;
        }
        rounds += 1;
        if rounds > n && step == f64::INFINITY {
            let message = format!("a cycle of negative length is reached from vertex {source}");
            return shared.ready(Err(Error::Argument { name: "weight", message }));
        }
        let mut new = Vec::new();
        match threads {
            None => columns.follow(&all, &mut new),
            Some(threads) => threads.install(|| {
                let parts = all.par_chunks(TASK).fold(Vec::new, |mut new, rows| {
                    columns.follow(rows, &mut new);
                    new
                });
                parts.collect::<Vec<_>>().into_iter().for_each(|part| new.extend(part));
            }),
        }
        let to = dealt(&columns, &holders, new).map(|to| ((), to));
        came = shared.world.deal(to).and_then(|((), got)| {
            for bytes in got.iter() {
                for (place, length) in pairs(bytes)? {
                    waiting.put(place as usize, length)?;
                }
            }
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_in_the_order_of_numbers() {
        let all = [f64::NEG_INFINITY, -1e300, -2.0, -1.0, -1e-310, 0.0, 1e-310, 0.5, 1.0, 1e300, f64::INFINITY];
        for (x, y) in all.iter().zip(&all[1..]) {
            assert!(ordered(*x) < ordered(*y), "{x} {y}");
            assert_eq!(number(ordered(*x)), *x);
        }
    }
}
