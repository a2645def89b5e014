//! Distributed breadth-first search on CPU ranks, by loops over local blocks.
//!
//! In each level a rank gathers the frontier of its grid row, scans the edges of its block from it, and sends each
//! column reached to its owner, once in the whole search. Nothing is transposed, and a rank receives at most
//! n / r + n / c words in total.
//!
//! Source: Yoo et al. 2005, "A scalable distributed parallel breadth-first search algorithm on BlueGene/L" (blocks of a
//! grid, expand and fold).

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use sparring::algebra::Value;
use sparring::runtime::{Machine, Matrix, Vector};
use sparring::{Cpu, Pattern, Result};

use super::follow::{followed, reach};
use super::held::{Ownership, pairs};
use super::{distributed, entries, on_ranks};
use crate::Cluster;
use crate::cluster::Shared;
use crate::link::Parts;
use crate::wire::{Bytes, broken, buffer, bytes, reserved, zeros};

/// No level, or no vertex.
const NONE: u32 = u32::MAX;

/// Levels and parents of the vertices of a piece.
struct Tree {
    levels: Vec<u32>,
    parents: Vec<u32>,
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
    let on_processors = machine.typed::<Cluster>().is_some_and(|cluster| cluster.inner().typed::<Cpu>().is_some());
    if !on_processors || u32::try_from(n).is_err() {
        return Ok(None);
    }
    let (shared, block) = on_ranks(machine, name, a)?;
    let Tree { levels, parents } = search(shared, n, shared.ready(block.pattern().ok_or_else(broken))?, source)?;
    let found = levels.iter().zip(&parents).enumerate().filter(|(_, (level, _))| **level != NONE);
    let piece = entries(levels.len(), found.map(|(v, (&level, &parent))| (v, of(level, parent))));
    distributed(shared, n, piece).map(Some)
}

/// The state of the columns of a block: the smallest frontier row that leads to each.
struct Columns<'a> {
    block: &'a Pattern,
    /// The vertices of the first row and the first column.
    first: [u32; 2],
    /// Bitmap of the columns reached in previous levels.
    seen: Vec<u64>,
    least: Vec<AtomicU32>,
}

impl Columns<'_> {
    /// Scans the edges of rows; vertices reached for the first time are appended to `new`.
    fn scan(&self, rows: &[u32], new: &mut Vec<u32>) -> Result<()> {
        for &row in rows {
            for &col in self.block.row(row as usize) {
                let is_seen = self.seen[col as usize / 64] >> (col % 64) & 1 == 1;
                if !is_seen && self.least[col as usize].fetch_min(row, Relaxed) == NONE {
                    reach(new, self.first[1] + col)?;
                }
            }
        }
        Ok(())
    }
    /// Messages to the owners of these vertices: the parent of each. Marks them as seen.
    fn messages(&mut self, owned: &Ownership<'_>, new: &[u32]) -> Result<Parts> {
        owned.messages(new, |k| {
            let col = (new[k] - self.first[1]) as usize;
            self.seen[col / 64] |= 1 << (col % 64);
            (self.least[col].load(Relaxed) + self.first[0]).to_le_bytes()
        })
    }
}

/// BFS from `source` over a distributed n×n pattern. Collective, within an operation.
fn search(shared: &Shared, n: usize, block: &Pattern, source: usize) -> Result<Tree> {
    let (owned, (rows, cols)) = (Ownership::new(shared, n), shared.grid.block((n, n)));
    let piece = owned.piece.clone();
    let made = || {
        let mut found = Tree { levels: zeros(piece.len())?, parents: zeros(piece.len())? };
        found.levels.fill(NONE);
        let first = [rows.start as u32, cols.start as u32];
        let mut least = reserved(cols.len(), "parents")?;
        least.resize_with(cols.len(), || AtomicU32::new(NONE));
        let columns = Columns { block, first, seen: zeros(cols.len().div_ceil(64))?, least };
        let frontier: Vec<u32> = reserved(piece.len(), "a level")?;
        let all: Vec<u32> = reserved(rows.len(), "a level")?;
        let new: Vec<u32> = reserved(cols.len(), "a level")?;
        Ok((found, columns, frontier, all, new))
    };
    let (mut found, mut columns, mut frontier, mut all, mut new) = shared.ready(made())?;
    if piece.contains(&source) {
        found.levels[source - piece.start] = 0;
        found.parents[source - piece.start] = source as u32;
        frontier.push((source - rows.start) as u32);
    }
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
        let to = followed(shared, &all, &mut new, |rows, new| columns.scan(rows, new));
        let to = to.and_then(|()| Ok(((), columns.messages(&owned, &new)?)));
        received = shared.world.all_to_all(to).and_then(|((), got)| {
            frontier.clear();
            for message in got.iter() {
                for (vertex, parent) in pairs(message)? {
                    let (index, parent) = (owned.local(vertex)?, u32::from_le_bytes(parent));
                    let known = &mut found.levels[index];
                    if *known == NONE {
                        *known = level;
                        found.parents[index] = parent;
                        frontier.push(vertex - rows.start as u32);
                    } else if *known == level {
                        found.parents[index] = found.parents[index].min(parent);
                    }
                }
            }
            Ok(())
        });
    }
    Ok(found)
}
