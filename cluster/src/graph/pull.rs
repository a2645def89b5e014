//! Repeated products y = Aᵀ·x for a distributed pattern A, without a global transpose; communication is planned once.
//!
//! A rank transposes its own block, and numbers its non-empty rows and columns. Before a product it imports x at these
//! rows from their owners, the ranks of its grid row. Afterwards it exports partial sums for these columns to their
//! owners, which add them up in rank order. The numbering is sorted by owner, so messages are sent from and received
//! into the vectors of the product without packing.
//!
//! Source: Baker, Heroux 2012, "Tpetra, and the use of generic programming in scientific computing" (Import, Export).

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;
use sparring::{Pattern, Result};

use super::ends::{Ends, Numbers};
use super::merge::Merge;
use crate::cluster::Shared;
use crate::wire::{Bytes, broken, bytes, bytes_mut, collected, reserved, zeros};

/// Approximate number of edges, or of values, per task.
const TASK: usize = 1 << 14;
/// Elements of a piece per partial sum; a fixed size makes sums independent of the number of threads.
const BLOCK: usize = 1 << 12;
/// The transposed block: targets in numbering order, with their sources. Consecutive targets of equal degree form a
/// run, so that inner loops have fixed length and predictable branches.
struct Transposed {
    sources: Vec<u32>,
    /// Number of targets of a run, and their degree.
    runs: Vec<(u32, u32)>,
    /// Ranges of runs, targets and edges of each task.
    tasks: Vec<[Range<usize>; 3]>,
}

impl Transposed {
    fn new(block: &Pattern, by_number: &[u32], cols: &Numbers, degrees: &[u32]) -> Result<Self> {
        let targets = cols.indices.len();
        // Degrees first, then the position of the next source of each target.
        let mut next: Vec<usize> = zeros(targets)?;
        for (&degree, &number) in degrees.iter().zip(&cols.number).filter(|(d, _)| **d > 0) {
            next[number as usize] = degree as usize;
        }
        let mut made = Self { sources: zeros(block.nnz())?, runs: Vec::new(), tasks: Vec::new() };
        // A run does not extend across tasks.
        let (mut task, mut at) = ([0..0, 0..0, 0..0], 0);
        let count = 1 + next.chunk_by(|a, b| a == b).count() + (block.nnz() + targets) / TASK;
        made.runs = reserved(count, "runs of vertices")?;
        made.tasks = reserved(count, "tasks")?;
        for (target, next) in next.iter_mut().enumerate() {
            let degree = std::mem::replace(next, at);
            at += degree;
            let full = task[2].len() + task[1].len() >= TASK;
            if full {
                let after = task.clone().map(|range| range.end..range.end);
                made.tasks.push(std::mem::replace(&mut task, after));
            }
            match made.runs.last_mut() {
                Some((n, of)) if *of as usize == degree && !full => *n += 1,
                _ => made.runs.push((1, degree as u32)),
            }
            task[0].end = made.runs.len();
            task[1].end = target + 1;
            task[2].end = at;
        }
        if !task[1].is_empty() {
            made.tasks.push(task);
        }
        for (source, &row) in by_number.iter().enumerate() {
            for &col in block.row(row as usize) {
                let at = &mut next[cols.number[col as usize] as usize];
                made.sources[*at] = source as u32;
                *at += 1;
            }
        }
        Ok(made)
    }
    /// y(target) = Σ x(source) for the targets of a task.
    fn sums(&self, task: &[Range<usize>; 3], x: &[f64], y: &mut [f64]) {
        fn of<const D: usize>(sources: &[u32], x: &[f64], y: &mut [f64]) {
            for (y, sources) in y.iter_mut().zip(sources.as_chunks::<D>().0) {
                *y = sources.iter().fold(0.0, |sum, &u| sum + x[u as usize]);
            }
        }
        let (mut sources, mut y) = (&self.sources[task[2].clone()], y);
        for &(n, degree) in &self.runs[task[0].clone()] {
            let (n, degree) = (n as usize, degree as usize);
            let (mine, others) = std::mem::take(&mut y).split_at_mut(n);
            let (from, rest) = sources.split_at(n * degree);
            (y, sources) = (others, rest);
            match degree {
                1 => of::<1>(from, x, mine),
                2 => of::<2>(from, x, mine),
                3 => of::<3>(from, x, mine),
                4 => of::<4>(from, x, mine),
                5 => of::<5>(from, x, mine),
                6 => of::<6>(from, x, mine),
                _ => mine.iter_mut().zip(from.chunks_exact(degree)).for_each(|(y, from)| *y = sum(from, x)),
            }
        }
    }
}

/// Sums in four interleaved accumulators.
fn sum(sources: &[u32], x: &[f64]) -> f64 {
    let (fours, rest) = sources.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for four in fours {
        sums.iter_mut().zip(four).for_each(|(sum, &u)| *sum += x[u as usize]);
    }
    sums.iter_mut().zip(rest).for_each(|(sum, &u)| *sum += x[u as usize]);
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// A block of the piece: its number, the slices of two vectors, and its partial sums.
type Numbered<'a> = (usize, ((&'a mut [f64], &'a mut [f64]), &'a mut [f64; 2]));

/// A distributed square pattern, with the communication plan and buffers of its products.
pub(super) struct Pull {
    shared: Arc<Shared>,
    transposed: Transposed,
    /// Elements of the piece that each rank of the grid row imports, rank by rank, and the send buffer of their values.
    wanted: Vec<u32>,
    sent: Vec<f64>,
    /// Bytes sent to and received from each rank of the grid row.
    imports: [Vec<usize>; 2],
    /// Bytes sent to and received from each rank of the world.
    exports: [Vec<usize>; 2],
    /// x at the non-empty rows of the block, and partial sums of its non-empty columns.
    x: Vec<f64>,
    y: Vec<f64>,
    /// Received partial sums, and how they map to vertices.
    got: Vec<f64>,
    merge: Merge,
    /// Partial sums of each block of the piece.
    partial: Vec<[f64; 2]>,
}

impl Pull {
    /// For this rank's block of an n×n pattern. Also returns the out-degrees of its piece, in the order of
    /// [`order`](Self::order). Collective.
    pub(super) fn new(shared: &Arc<Shared>, n: usize, block: &Pattern) -> Result<(Self, Vec<u32>)> {
        let piece = shared.grid.piece(n);
        let made = || {
            let ends = Ends::new(shared, n, block, true)?;
            let (sources, targets) = (&ends.rows, &ends.cols);
            let degrees = sources.by_number(&ends.row_degrees, &ends.row_degrees)?;
            let mut by_number: Vec<u32> = zeros(sources.indices.len())?;
            for (row, _) in ends.row_degrees.iter().enumerate().filter(|(_, d)| **d > 0) {
                by_number[sources.number[row] as usize] = row as u32;
            }
            let transposed = Transposed::new(block, &by_number, targets, &ends.col_degrees)?;
            let (x, y) = (zeros(sources.indices.len())?, zeros(targets.indices.len())?);
            Ok((transposed, x, y, sources.messages(Some(&degrees))?, targets.messages(None)?))
        };
        let (transposed, x, y, to_row, to_world) = shared.ready(made())?;
        let from_row = shared.ready(shared.row.exchange(&to_row))?;
        let from_world = shared.ready(shared.world.exchange(&to_world))?;
        let made = || {
            let mut wanted = reserved(from_row.bytes.len() / 8, "indices")?;
            let mut degrees: Vec<u32> = zeros(piece.len())?;
            for bytes in from_row.iter() {
                let (mut bytes, count) = (Bytes(bytes), bytes.len() / 8);
                wanted.extend(bytes.indices(count)?);
                let indices = &wanted[wanted.len() - count..];
                for (&index, degree) in indices.iter().zip(bytes.indices(count)?) {
                    *degrees.get_mut(index as usize).ok_or_else(broken)? += degree;
                }
            }
            let total = from_world.bytes.len() / 4;
            let indices = collected(total, Bytes(&from_world.bytes).indices(total)?, "indices")?;
            let (merge, number) = Merge::new(piece.len(), &indices)?;
            wanted.iter_mut().for_each(|index: &mut u32| *index = number[*index as usize]);
            let ordered = merge.order.iter().map(|&index| degrees[index as usize]);
            let ordered = collected(piece.len(), ordered, "degrees")?;
            let bytes = |lengths: &[usize], each: usize| lengths.iter().map(|n| n / each * 8).collect();
            let made = Self {
                partial: zeros(piece.len().div_ceil(BLOCK))?,
                sent: zeros(wanted.len())?,
                imports: [bytes(&from_row.lengths, 8), bytes(&to_row.lengths, 8)],
                exports: [bytes(&to_world.lengths, 4), bytes(&from_world.lengths, 4)],
                got: zeros(total)?,
                shared: Arc::clone(shared),
                transposed,
                wanted,
                x,
                y,
                merge,
            };
            Ok((made, ordered))
        };
        shared.ready(made())
    }
    /// Local indices of the piece in the order in which vectors store them.
    pub(super) fn order(&self) -> &[u32] {
        &self.merge.order
    }
    /// Computes y = Aᵀ·x, and calls `each(v, y(v), &mut a[v], &mut x[v])` for the vertices of the piece. Returns this
    /// rank's sum of the results of `each`. Collective.
    pub(super) fn step(
        &mut self,
        x: &mut [f64],
        a: &mut [f64],
        each: impl Fn(usize, f64, &mut f64, &mut f64) -> [f64; 2] + Sync,
    ) -> [f64; 2] {
        let threads = self.shared.inner.threads().filter(|threads| threads.count() > 1);
        // Packs the values to send.
        let pack = |(to, indices): (&mut [f64], &[u32])| {
            to.iter_mut().zip(indices).for_each(|(to, &index)| *to = x[index as usize]);
        };
        match threads {
            None => pack((&mut self.sent, &self.wanted)),
            Some(threads) => threads.install(|| {
                self.sent.par_chunks_mut(TASK).zip(self.wanted.par_chunks(TASK)).for_each(pack);
            }),
        }
        let [sent, received] = &self.imports;
        self.shared.row.exchange_over(bytes(&self.sent), sent, received, bytes_mut(&mut self.x));
        match threads {
            None => self.transposed.tasks.iter().for_each(|task| {
                self.transposed.sums(task, &self.x, &mut self.y[task[1].clone()]);
            }),
            Some(threads) => {
                let mut rest = &mut self.y[..];
                let parts = self.transposed.tasks.iter().map(|task| {
                    let (part, others) = std::mem::take(&mut rest).split_at_mut(task[1].len());
                    rest = others;
                    (task, part)
                });
                let parts: Vec<_> = parts.collect();
                threads.install(|| parts.into_par_iter().for_each(|(task, y)| self.transposed.sums(task, &self.x, y)));
            }
        }
        let [sent, received] = &self.exports;
        self.shared.world.exchange_over(bytes(&self.y), sent, received, bytes_mut(&mut self.got));
        let of_block = |(k, ((a, x), sums)): Numbered<'_>| {
            *sums = [0.0; 2];
            let first = k * BLOCK;
            self.merge.for_each(first..first + a.len(), &self.got, |v, sum| {
                let more = each(v, sum, &mut a[v - first], &mut x[v - first]);
                sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
            });
        };
        match threads {
            None => {
                let blocks = a.chunks_mut(BLOCK).zip(x.chunks_mut(BLOCK)).zip(&mut self.partial);
                blocks.enumerate().for_each(of_block);
            }
            Some(threads) => threads.install(|| {
                let blocks = a.par_chunks_mut(BLOCK).zip(x.par_chunks_mut(BLOCK)).zip(&mut self.partial);
                blocks.enumerate().for_each(of_block);
            }),
        }
        self.partial.iter().fold([0.0; 2], |sum, more| [sum[0] + more[0], sum[1] + more[1]])
    }
}
