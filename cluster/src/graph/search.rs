//! Distributed breadth-first search on CPU ranks, by loops over local blocks.
//!
//! In each level a rank gathers the frontier of its grid row, scans the edges of its block from it, and sends each
//! column reached to its owner, once in the whole search. Nothing is transposed, and a rank receives at most
//! n / r + n / c words in total.
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

/// No level, or no vertex.
const NONE: u32 = u32::MAX;
/// Vertices per task.
const TASK: usize = 64;

/// Levels and parents of the vertices of a piece.
pub(super) struct Tree {
    pub(super) levels: Vec<u32>,
    pub(super) parents: Vec<u32>,
}

/// The vector of `of(level, parent)` over the vertices reachable from `source`, on multiple CPU ranks; `None` on other
/// backends. `name` identifies the call in the handshake.
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
    let Tree { levels, parents } = search(shared, n, pattern, source)?;
    let made = || {
        let count = levels.iter().filter(|level| **level != NONE).count();
        let (mut indices, mut values) = (reserved(count, "vertices")?, reserved(count, "values of vertices")?);
        for (index, (&level, &parent)) in levels.iter().zip(&parents).enumerate().filter(|(_, (l, _))| **l != NONE) {
            indices.push(index as u32);
            values.push(of(level, parent));
        }
        Ok((shared.inner.upload_vector(&Vector::new(levels.len(), indices, Array::of(values))?)?, count))
    };
    let (piece, nnz) = shared.finish(made())?;
    Ok(Some(Piece { shared: Arc::clone(shared), len: n, nnz, piece }.into()))
}

/// For each rank of the world: the columns of this rank's block that it owns, and the local index there of the first.
pub(super) fn owners(shared: &Shared, n: usize) -> Vec<(Range<usize>, usize)> {
    let cols = shared.grid.block((n, n)).1;
    let of = |at| {
        let piece = shared.grid.piece_of(n, at);
        let [start, end] = [piece.start, piece.end].map(|index| index.clamp(cols.start, cols.end));
        (start - cols.start..end - cols.start, start.saturating_sub(piece.start))
    };
    shared.grid.all().map(of).collect()
}

/// The rank that owns a column of a block; pieces are contiguous in rank order.
pub(super) fn owner(owners: &[(Range<usize>, usize)], col: u32) -> usize {
    owners.partition_point(|(range, _)| range.end <= col as usize)
}

/// The state of the columns of a block: the smallest frontier row that leads to each.
struct Columns<'a> {
    block: &'a Pattern,
    /// Bitmap of the columns reached in previous levels.
    seen: Vec<AtomicU64>,
    least: Vec<AtomicU32>,
}

impl Columns<'_> {
    /// Scans the edges of rows; columns reached for the first time are appended to `new`.
    fn scan(&self, rows: &[u32], new: &mut Vec<u32>) {
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

/// Messages of pairs: a local index on the receiving rank, and its parent.
struct Messages {
    parts: Parts,
    next: Vec<usize>,
}

impl Messages {
    /// Fills the messages to the owners of these columns.
    fn fill(&mut self, owners: &[(Range<usize>, usize)], cols: &[u32], parent: impl Fn(u32) -> u32) {
        let owner = |col: u32| owner(owners, col);
        self.next.fill(0);
        cols.iter().for_each(|&col| self.next[owner(col)] += 8);
        self.parts.lengths.copy_from_slice(&self.next);
        let mut end = 0;
        for next in &mut self.next {
            end += std::mem::replace(next, end);
        }
        self.parts.bytes.resize(end, 0);
        for &col in cols {
            let k = owner(col);
            let (range, start) = &owners[k];
            let index = (col as usize - range.start + start) as u32;
            let at = &mut self.next[k];
            let pair = u64::from(index) | u64::from(parent(col)) << 32;
            self.parts.bytes[*at..*at + 8].copy_from_slice(&pair.to_le_bytes());
            *at += 8;
        }
    }
}

/// BFS from `source` over a distributed n×n pattern. Collective, within an operation.
fn search(shared: &Shared, n: usize, block: &Pattern, source: usize) -> Result<Tree> {
    let (piece, (rows, cols)) = (shared.grid.piece(n), shared.grid.block((n, n)));
    let owners = owners(shared, n);
    let made = || {
        let mut found = Tree { levels: zeros(piece.len())?, parents: zeros(piece.len())? };
        found.levels.fill(NONE);
        let mut columns = Columns { block, seen: Vec::new(), least: reserved(cols.len(), "parents")? };
        columns.seen = reserved(cols.len().div_ceil(64), "columns")?;
        columns.seen.resize_with(cols.len().div_ceil(64), AtomicU64::default);
        columns.least.resize_with(cols.len(), || AtomicU32::new(NONE));
        let frontier: Vec<u32> = reserved(piece.len(), "a level")?;
        let all: Vec<u32> = reserved(rows.len(), "a level")?;
        let new: Vec<u32> = reserved(cols.len(), "a level")?;
        let sent: Vec<u8> = reserved(8 * cols.len(), "a level")?;
        Ok((found, columns, frontier, all, new, sent))
    };
    let (mut found, columns, mut frontier, mut all, mut new, sent) = shared.ready(made())?;
    let parts = Parts { bytes: sent, lengths: vec![0; owners.len()] };
    let mut to = Messages { parts, next: vec![0; owners.len()] };
    if piece.contains(&source) {
        found.levels[source - piece.start] = 0;
        found.parents[source - piece.start] = source as u32;
        frontier.push((source - rows.start) as u32);
    }
    let threads = shared.inner.threads().filter(|threads| threads.count() > 1);
    // An error of this rank's level, reported in the next gather.
    let mut received = Ok(());
    for level in 1.. {
        // The frontier as rows of the block, gathered from the pieces of the grid row.
        let mine = received.and_then(|()| {
            let mut mine = buffer(4 * frontier.len())?;
            mine.extend_from_slice(bytes(&frontier));
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
            None => columns.scan(&all, &mut new),
            Some(threads) => threads.install(|| {
                let parts = all.par_chunks(TASK).fold(Vec::new, |mut new, rows| {
                    columns.scan(rows, &mut new);
                    new
                });
                parts.collect::<Vec<_>>().into_iter().for_each(|part| new.extend(part));
            }),
        }
        to.fill(&owners, &new, |col| {
            columns.seen[col as usize / 64].fetch_or(1 << (col % 64), Relaxed);
            columns.least[col as usize].load(Relaxed) + rows.start as u32
        });
        received = shared.world.exchange(&to.parts).and_then(|got| {
            frontier.clear();
            for pair in got.bytes.as_chunks::<8>().0 {
                let pair = u64::from_le_bytes(*pair);
                let (index, parent) = (pair as u32 as usize, (pair >> 32) as u32);
                let known = found.levels.get_mut(index).ok_or_else(broken)?;
                if *known == NONE {
                    *known = level;
                    found.parents[index] = parent;
                    frontier.push((piece.start - rows.start + index) as u32);
                } else if *known == level {
                    found.parents[index] = found.parents[index].min(parent);
                }
            }
            Ok(())
        });
    }
    Ok(found)
}
