//! Distributed shortest path lengths, by loops over local blocks.
//!
//! In each round a rank gathers the active vertices of its grid row with their distances, relaxes their edges in its
//! block, and sends the minimum of each improved column to its owner. Vertices are processed in buckets of width Δ
//! (Δ-stepping). If some weight is negative, every improved vertex is active in the next round (Bellman–Ford).
//!
//! Source: Meyer, Sanders 2003 (Δ-stepping); Bellman 1958.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use sparring::{Csr, Error, Result};

use super::follow::{followed, reach};
use super::held::{Ownership, pairs};
use crate::cluster::Shared;
use crate::link::Parts;
use crate::wire::{broken, buffer, grow, put_indices, reserved, zeros};

/// Δ is the mean weight, scaled up if the mean degree is below this: fewer rounds, hence fewer messages.
const EDGES: f64 = 32.0;

/// An order-preserving map of floats to integers, negative numbers included.
fn ordered(x: f64) -> u64 {
    let bits = x.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}
fn number(ordered: u64) -> f64 {
    f64::from_bits(if ordered >> 63 == 1 { ordered & !(1 << 63) } else { !ordered })
}

/// Tentative distances of the columns of a block.
struct Columns<'a> {
    block: &'a Csr<f64>,
    /// The vertex of the first column.
    first: u32,
    /// Minimum distance by way of rows of the block, as ordered bits.
    least: Vec<AtomicU64>,
    /// Whether the minimum has improved and must be sent to the owner.
    improved: Vec<AtomicBool>,
    /// Whether a single thread relaxes edges, without atomic read-modify-write instructions.
    alone: bool,
}

impl Columns<'_> {
    /// Relaxes the edges of rows; improved vertices are appended to `new`.
    fn relax(&self, rows: &[(u32, f64)], new: &mut Vec<u32>) -> Result<()> {
        for &(row, length) in rows {
            let (cols, weights) = self.block.row(row as usize);
            for (&col, &weight) in cols.iter().zip(weights) {
                // Adding 0 turns −0 into +0.
                let sum = length + weight + 0.0;
                // Infinite length means no path.
                if weight == f64::INFINITY || sum == f64::INFINITY {
                    continue;
                }
                let (least, improved, sum) = (&self.least[col as usize], &self.improved[col as usize], ordered(sum));
                if sum >= least.load(Relaxed) {
                    continue;
                }
                let is_new = if self.alone {
                    least.store(sum, Relaxed);
                    let improved_before = improved.load(Relaxed);
                    improved.store(true, Relaxed);
                    !improved_before
                } else {
                    sum < least.fetch_min(sum, Relaxed) && !improved.swap(true, Relaxed)
                };
                if is_new {
                    reach(new, self.first + col)?;
                }
            }
        }
        Ok(())
    }
    /// Messages to the owners of these vertices: the length of each. Marks them as sent.
    fn messages(&self, owned: &Ownership<'_>, new: &[u32]) -> Result<Parts> {
        owned.messages(new, |k| {
            let col = (new[k] - self.first) as usize;
            self.improved[col].store(false, Relaxed);
            number(self.least[col].load(Relaxed)).to_le_bytes()
        })
    }
}

/// The vertices of a piece, with their distances, and the queue of those whose edges must be relaxed.
struct Buckets {
    lengths: Vec<f64>,
    /// Whether a vertex has improved since its edges were last relaxed.
    queued: Vec<bool>,
    /// Queued vertices at a distance below the bound, and the others.
    near: Vec<u32>,
    far: Vec<u32>,
    bound: f64,
}

impl Buckets {
    fn put(&mut self, index: usize, length: f64) -> Result<()> {
        let known = self.lengths.get_mut(index).ok_or_else(broken)?;
        if length >= *known {
            return Ok(());
        }
        let (before, waited) = (std::mem::replace(known, length), std::mem::replace(&mut self.queued[index], true));
        let is_near = length < self.bound;
        // A vertex queued as far may have to move to the near queue.
        if !waited || is_near && before >= self.bound {
            let to = if is_near { &mut self.near } else { &mut self.far };
            grow(to, 1, "vertices with a new distance")?;
            to.push(index as u32);
        }
        Ok(())
    }
    /// The minimum distance of far vertices; infinite if there are none.
    fn least(&self) -> f64 {
        let buckets = self.far.iter().filter(|index| self.queued[**index as usize]);
        buckets.map(|&index| self.lengths[index as usize]).fold(f64::INFINITY, f64::min)
    }
    /// Raises the bound, and moves far vertices below it to the near queue.
    fn advance(&mut self, bound: f64) -> Result<()> {
        self.bound = bound;
        let Self { lengths, queued, near, far, .. } = self;
        grow(near, far.len(), "vertices with a new distance")?;
        far.retain(|&index| {
            let stays = queued[index as usize] && lengths[index as usize] >= bound;
            if queued[index as usize] && !stays {
                near.push(index);
            }
            stays
        });
        Ok(())
    }
    /// Empties the near queue into a message: rows relative to the block, from `first` on, and their distances.
    fn message(&mut self, first: usize) -> Result<Vec<u8>> {
        let Self { lengths, queued, near, .. } = self;
        near.retain(|&index| std::mem::replace(&mut queued[index as usize], false));
        let mut made = buffer(12 * near.len())?;
        put_indices(&mut made, near.iter().map(|&index| (first + index as usize) as u32));
        near.iter().for_each(|&index| made.extend_from_slice(&lengths[index as usize].to_le_bytes()));
        near.clear();
        Ok(made)
    }
}

/// Δ, the width of a bucket; infinite if a weight is negative. Collective.
fn step(shared: &Shared, weights: &[f64], n: usize, edges: usize) -> f64 {
    let sum = weights.iter().filter(|w| w.is_finite()).sum::<f64>();
    let least = weights.iter().copied().fold(0.0, f64::min);
    let all = shared.world.all_words([f64::to_bits(sum), f64::to_bits(least)]);
    if all.iter().any(|words| f64::from_bits(words[1]) < 0.0) {
        return f64::INFINITY;
    }
    let mean = all.iter().map(|words| f64::from_bits(words[0])).sum::<f64>() / edges.max(1) as f64;
    let step = mean * (EDGES * n as f64 / edges.max(1) as f64).max(1.0);
    // The mean may be zero, subnormal or infinite.
    if step.is_normal() { step } else { 1.0 }
}

/// The distance from `source` of each vertex that this rank owns, infinite if unreachable, in a distributed n×n matrix
/// of weights with `edges` entries. Collective.
pub(super) fn lengths(
    shared: &Shared,
    n: usize,
    edges: usize,
    block: Result<&Csr<f64>>,
    source: usize,
) -> Result<Vec<f64>> {
    let (owned, (rows, cols)) = (Ownership::new(shared, n), shared.grid.block((n, n)));
    let piece = owned.piece.clone();
    let made = block.and_then(|block| {
        let weights = block.values();
        if let Some(k) = weights.iter().position(|w| w.is_nan()) {
            let row = block.pattern().row_ptr().partition_point(|end| *end <= k) - 1;
            let (u, v) = (rows.start + row, cols.start + block.pattern().col_idx()[k] as usize);
            let message = format!("that of the edge from {u} to {v} is NaN");
            return Err(Error::Argument { name: "weight", message });
        }
        let (least, improved) = (reserved(cols.len(), "lengths")?, reserved(cols.len(), "columns")?);
        let alone = shared.inner.threads().is_none_or(|threads| threads.count() == 1);
        let mut columns = Columns { block, first: cols.start as u32, least, improved, alone };
        columns.least.resize_with(cols.len(), || AtomicU64::new(u64::MAX));
        columns.improved.resize_with(cols.len(), AtomicBool::default);
        let (mut lengths, queued): (Vec<f64>, _) = (zeros(piece.len())?, zeros(piece.len())?);
        lengths.fill(f64::INFINITY);
        let mut buckets = Buckets { lengths, queued, near: vec![], far: vec![], bound: f64::INFINITY };
        if piece.contains(&source) {
            buckets.put(source - piece.start, 0.0)?;
        }
        Ok((columns, buckets, reserved(cols.len(), "vertices with a new distance")?))
    });
    let (columns, mut buckets, mut new) = shared.ready(made)?;
    let step = step(shared, columns.block.values(), n, edges);
    buckets.bound = step;
    let (mut received, mut rounds) = (Ok(()), 0usize);
    loop {
        let message = received.and_then(|()| buckets.message(piece.start - rows.start));
        let gathered = shared.row.gather(message.map(|message| ((), message))).and_then(|((), parts)| {
            let mut all: Vec<(u32, f64)> = reserved(parts.bytes.len() / 12, "vertices")?;
            for bytes in parts.iter() {
                all.extend(pairs(bytes)?.map(|(row, length)| (row, f64::from_le_bytes(length))));
            }
            let count = all.len();
            Ok((all, count))
        });
        let (all, total) = shared.counted(gathered)?;
        if total == 0 {
            let least = shared.world.all_words([ordered(buckets.least()), 0]);
            let least = number(least.iter().map(|words| words[0]).min().unwrap_or(u64::MAX));
            if least == f64::INFINITY {
                return Ok(buckets.lengths);
            }
            // Δ may vanish in rounding when added to a large distance.
            let bound = (least + step).max(least.next_up());
            received = buckets.advance(bound);
            continue;
        }
        rounds += 1;
        if rounds > n && step == f64::INFINITY {
            let message = format!("a cycle of negative length is reached from vertex {source}");
            return shared.ready(Err(Error::Argument { name: "weight", message }));
        }
        let to = followed(shared, &all, &mut new, |rows, new| columns.relax(rows, new));
        let to = to.and_then(|()| Ok(((), columns.messages(&owned, &new)?)));
        received = shared.world.all_to_all(to).and_then(|((), got)| {
            for bytes in got.iter() {
                for (vertex, length) in pairs(bytes)? {
                    buckets.put(owned.local(vertex)?, f64::from_le_bytes(length))?;
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
