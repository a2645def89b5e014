//! Breadth-first search on the ranks of a grid of processors, by loops over their blocks.
//!
//! In each level a rank gathers the new vertices that its row of the grid has, follows the edges of its block from
//! them, and tells each column that it comes to, once in the whole search, to the rank that holds it. Nothing is
//! transposed, and at most n / r + n / c words come to a rank in all.
//!
//! Source: Yoo et al. 2005, "A scalable distributed parallel breadth-first search algorithm on BlueGene/L" (blocks of a
//! grid, expand and fold).

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;
use sparring::algebra::{Array, Value};
use sparring::runtime::{Machine, Matrix, Vector};
use sparring::{Cpu, Pattern, Result};

use super::block_of;
use crate::Cluster;
use crate::blocks::Piece;
use crate::cluster::Shared;
use crate::link::Parts;
use crate::wire::{Bytes, broken, buffer, bytes, reserved, zeros};

/// No level, and no vertex.
const NONE: u32 = u32::MAX;
/// Vertices of a task.
const TASK: usize = 64;

/// Levels and parents of the vertices of a piece.
pub(super) struct Found {
    pub(super) levels: Vec<u32>,
    pub(super) parents: Vec<u32>,
}

/// What `of` makes of level and parent of each vertex that `source` reaches, on several ranks of processors; `None` on
/// other machines. The name tells the ranks' calls apart.
pub(super) fn reached<T: Value>(
    name: &str,
    machine: &Machine,
    a: &Matrix,
    source: usize,
    of: impl Fn(u32, u32) -> T,
) -> Result<Option<Vector>> {
    let n = a.shape().0;
    let Some(cluster) = machine.typed::<Cluster>() else { return Ok(None) };
    if cluster.inner().typed::<Cpu>().is_none() || u32::try_from(n).is_err() {
        return Ok(None);
    }
    let shared = &cluster.0;
    let a = machine.upload(a)?;
    shared.begin(name)?;
    let block = shared.ready(block_of(&a).and_then(|a| a.block.download()))?;
    let pattern = shared.ready(block.pattern().ok_or_else(broken))?;
    let Found { levels, parents } = search(shared, n, pattern, source)?;
    let made = || {
        let count = levels.iter().filter(|level| **level != NONE).count();
        let (mut places, mut values) = (reserved(count, "vertices")?, reserved(count, "values of vertices")?);
        for (place, (&level, &parent)) in levels.iter().zip(&parents).enumerate().filter(|(_, (l, _))| **l != NONE) {
            places.push(place as u32);
            values.push(of(level, parent));
        }
        Ok((shared.inner.upload_vector(&Vector::new(levels.len(), places, Array::of(values))?)?, count))
    };
    let (piece, nnz) = shared.finish(made())?;
    Ok(Some(Piece { shared: Arc::clone(shared), len: n, nnz, piece }.into()))
}

/// The columns of a block that each rank of the world holds, and the place of the first in what it holds.
pub(super) fn holders(shared: &Shared, n: usize) -> Vec<(Range<usize>, usize)> {
    let cols = shared.grid.block((n, n)).1;
    let of = |at| {
        let piece = shared.grid.piece_of(n, at);
        let [start, end] = [piece.start, piece.end].map(|place| place.clamp(cols.start, cols.end));
        (start - cols.start..end - cols.start, start.saturating_sub(piece.start))
    };
    shared.grid.all().map(of).collect()
}

/// The rank that holds a column of a block: pieces follow each other in the order of ranks.
pub(super) fn holder(holders: &[(Range<usize>, usize)], col: u32) -> usize {
    holders.partition_point(|(range, _)| range.end <= col as usize)
}

/// What one level finds out: the least row of the level that leads to each column.
struct Columns<'a> {
    block: &'a Pattern,
    /// Columns of levels before.
    seen: Vec<AtomicU64>,
    least: Vec<AtomicU32>,
}

impl Columns<'_> {
    /// Follows the edges of rows; columns that no row has led to before are added to `new`.
    fn follow(&self, rows: &[u32], new: &mut Vec<u32>) {
        for &row in rows {
            for &col in self.block.row(row as usize) {
                let is_seen = self.seen[col as usize / 64].load(Relaxed) >> (col % 64) & 1 == 1;
                if !is_seen && self.least[col as usize].fetch_min(row, Relaxed) == NONE {
                    new.push(col);
                }
            }
        }
    }
}

/// Messages to ranks, of pairs: a place of what the rank holds, and the vertex that leads there.
struct Messages {
    parts: Parts,
    next: Vec<usize>,
}

impl Messages {
    /// The messages for these columns, each to its holder.
    fn deal(&mut self, holders: &[(Range<usize>, usize)], cols: &[u32], parent: impl Fn(u32) -> u32) {
        let holder = |col: u32| holder(holders, col);
        self.next.fill(0);
        cols.iter().for_each(|&col| self.next[holder(col)] += 8);
        self.parts.lengths.copy_from_slice(&self.next);
        let mut end = 0;
        for next in &mut self.next {
            end += std::mem::replace(next, end);
        }
        self.parts.bytes.resize(end, 0);
        for &col in cols {
            let k = holder(col);
            let (range, start) = &holders[k];
            let place = (col as usize - range.start + start) as u32;
            let at = &mut self.next[k];
            let pair = u64::from(place) | u64::from(parent(col)) << 32;
            self.parts.bytes[*at..*at + 8].copy_from_slice(&pair.to_le_bytes());
            *at += 8;
        }
    }
}

/// The search from `source` over an n×n pattern of which this rank has a block. Collective; between the beginning and
/// the end of an operation.
fn search(shared: &Shared, n: usize, block: &Pattern, source: usize) -> Result<Found> {
    let (piece, (rows, cols)) = (shared.grid.piece(n), shared.grid.block((n, n)));
    let holders = holders(shared, n);
    let made = || {
        let mut found = Found { levels: zeros(piece.len())?, parents: zeros(piece.len())? };
        found.levels.fill(NONE);
        let mut columns = Columns { block, seen: Vec::new(), least: reserved(cols.len(), "parents")? };
        columns.seen = reserved(cols.len().div_ceil(64), "columns")?;
        columns.seen.resize_with(cols.len().div_ceil(64), AtomicU64::default);
        columns.least.resize_with(cols.len(), || AtomicU32::new(NONE));
        let front: Vec<u32> = reserved(piece.len(), "a level")?;
        let all: Vec<u32> = reserved(rows.len(), "a level")?;
        let new: Vec<u32> = reserved(cols.len(), "a level")?;
        let sent: Vec<u8> = reserved(8 * cols.len(), "a level")?;
        Ok((found, columns, front, all, new, sent))
    };
    let (mut found, columns, mut front, mut all, mut new, sent) = shared.ready(made())?;
    let parts = Parts { bytes: sent, lengths: vec![0; holders.len()] };
    let mut to = Messages { parts, next: vec![0; holders.len()] };
    if piece.contains(&source) {
        found.levels[source - piece.start] = 0;
        found.parents[source - piece.start] = source as u32;
        front.push((source - rows.start) as u32);
    }
    let threads = shared.inner.threads().filter(|threads| threads.count() > 1);
    // Of this rank's level, which it tells the others where it has an error.
    let mut came = Ok(());
    for level in 1.. {
        // Rows of the block that are new, one piece of the row of the grid after another.
        let mine = came.and_then(|()| {
            let mut mine = buffer(4 * front.len())?;
            mine.extend_from_slice(bytes(&front));
            Ok(((), mine))
        });
        let gathered = shared.row.gather(mine).and_then(|((), gathered)| {
            all.clear();
            all.extend(Bytes(&gathered.bytes).indices(gathered.bytes.len() / 4)?);
            Ok(((), all.len()))
        });
        if shared.counted(gathered)?.1 == 0 {
            break;
        }
        new.clear();
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
        to.deal(&holders, &new, |col| {
            columns.seen[col as usize / 64].fetch_or(1 << (col % 64), Relaxed);
            columns.least[col as usize].load(Relaxed) + rows.start as u32
        });
        came = shared.world.exchange(&to.parts).and_then(|got| {
            front.clear();
            for pair in got.bytes.as_chunks::<8>().0 {
                let pair = u64::from_le_bytes(*pair);
                let (place, parent) = (pair as u32 as usize, (pair >> 32) as u32);
                let known = found.levels.get_mut(place).ok_or_else(broken)?;
                if *known == NONE {
                    *known = level;
                    found.parents[place] = parent;
                    front.push((piece.start - rows.start + place) as u32);
                } else if *known == level {
                    found.parents[place] = found.parents[place].min(parent);
                }
            }
            Ok(())
        });
    }
    Ok(found)
}
