//! PageRank on a single GPU, or on one GPU per rank connected by NCCL.

use std::sync::Arc;

use sparring::Result;
use sparring::gpu::Cuda;
use sparring::graph::PageRankOptions;
use sparring::runtime::{Machine, Matrix};

use super::block_of;
use super::pagerank::PageRank;
use crate::Cluster;
use crate::blocks::Piece;

/// The result after the last iteration; `None` if there is no GPU, or the GPUs of the ranks are not connected by NCCL.
pub(super) fn on_gpus(
    machine: &Machine,
    a: &Matrix,
    options: &PageRankOptions,
    jumps: Option<&[f64]>,
) -> Result<Option<PageRank>> {
    let n = a.shape().0;
    let Some(cluster) = machine.typed::<Cluster>() else {
        if machine.typed::<Cuda>().is_none() {
            return Ok(None);
        }
        let a = machine.upload(a)?;
        let mut part = machine.rank_part(&a, 0..n, 1)?;
        let count = part.columns().len();
        part.expect(0)?;
        let lost =
            part.begin(&[(0..count, false, 0)], options.damping, options.drop_dangling, (1.0 / n as f64, jumps))?;
        let (iterations, change) = iterated(options, lost, |rest| {
            part.multiply()?;
            part.step(rest)
        })?;
        return Ok(Some(PageRank { ranks: machine.ranks_of(part)?, iterations, change }));
    };
    let shared = &cluster.0;
    let Some(cuda) = shared.inner.typed::<Cuda>() else { return Ok(None) };
    if shared.world.size() == 1 {
        let block = cluster.block(a)?;
        let Some(found) = on_gpus(&shared.inner, &block.block, options, jumps)? else { return Ok(None) };
        let ranks = Piece { shared: Arc::clone(shared), len: n, nnz: n, piece: found.ranks }.into();
        return Ok(Some(PageRank { ranks, ..found }));
    }
    #[cfg(feature = "mpi")]
    if shared.by_gpus() {
        return on_ranks(cluster, cuda, a, options, jumps).map(Some);
    }
    _ = cuda;
    Ok(None)
}

/// Iterates until the change is below the tolerance or the maximum is reached; returns the number of iterations and the
/// last change.
fn iterated(
    options: &PageRankOptions,
    mut lost: f64,
    mut step: impl FnMut(f64) -> Result<[f64; 2]>,
) -> Result<(u32, f64)> {
    let (mut change, mut iterations) = (f64::INFINITY, 0);
    while change >= options.tolerance && iterations < options.max_iterations {
        iterations += 1;
        [change, lost] = step((1.0 - options.damping) + options.damping * lost)?;
    }
    Ok((iterations, change))
}

#[cfg(feature = "mpi")]
fn on_ranks(
    cluster: &Cluster,
    cuda: &Cuda,
    a: &Matrix,
    options: &PageRankOptions,
    jumps: Option<&[f64]>,
) -> Result<PageRank> {
    use crate::fold::Line;
    use crate::link::Parts;
    use crate::nccl::Stretch;
    use crate::wire::{Bytes, broken, put_word};

    let (machine, shared, n) = (cluster.machine(), &cluster.0, a.shape().0);
    let a = machine.upload(a)?;
    shared.begin("pagerank")?;
    let (grid, inner) = (shared.grid, &shared.inner);
    let (rows, cols) = grid.block((n, n));
    let piece = grid.piece(n);
    let parts = shared.parts(Line::Row, n);
    let (row, in_row) = (&shared.row, shared.row.rank());
    let own = parts[in_row].clone();
    // Boundaries of the block's columns by owner, in rank order.
    let bounds: Vec<u32> =
        grid.all().map(|at| (grid.piece_of(n, at).start.clamp(cols.start, cols.end) - cols.start) as u32).collect();
    let made = || {
        let part = inner.rank_part(&block_of(&a)?.block, own.clone(), parts.len())?;
        let mut cuts = part.below(&bounds)?;
        cuts.push(part.columns().len());
        Ok((part, cuts))
    };
    let (mut part, cuts) = shared.ready(made())?;
    let (me, all) = (shared.world.rank(), shared.world.size());
    let sent = |k: usize| cuts[k]..cuts[k + 1];
    let mut counts = Vec::with_capacity(8 * all);
    (0..all).for_each(|k| put_word(&mut counts, sent(k).len()));
    let counts = shared.ready(shared.world.exchange(&Parts { bytes: counts, lengths: vec![8; all] }))?;
    // Received from each rank: a list of columns once, and as many sums in each iteration.
    let read = || -> Result<Vec<usize>> { counts.iter().map(|bytes| Bytes(bytes).word()).collect() };
    let counts = shared.ready(read())?;
    let mut end = 0;
    let comes: Vec<_> = counts
        .iter()
        .enumerate()
        .map(|(k, &count)| {
            let start = end;
            end += if k == me { 0 } else { count };
            start..end
        })
        .collect();
    shared.ready(part.expect(end))?;
    let others = || (0..all).filter(|&k| k != me);
    let (world, along) = (shared.group(None).ok_or_else(broken)?, shared.group(Some(Line::Row)));
    let behind = part.columns().len();
    // Between ranks whose columns and pieces overlap: column lists, and their sums.
    let stretches = |array: &sparring::gpu::DeviceArray, room: &sparring::gpu::DeviceArray, before: usize| {
        let to = others().map(|k| Stretch::of(k, array, sent(k))).collect::<Result<Vec<_>>>()?;
        let moved = |k: usize| comes[k].start + before..comes[k].end + before;
        let from = others().map(|k| Stretch::of(k, room, moved(k))).collect::<Result<Vec<_>>>()?;
        Ok::<_, sparring::Error>((to, from))
    };
    let (columns, sums) = (part.columns(), part.sums());
    let of_columns = stretches(&columns, &part.other_columns(), 0)?;
    let of_sums = stretches(&sums, &sums, behind)?;
    // Along the grid row: degrees to the owners of the vertices, and scaled ranks to all.
    let neighbours = || (0..parts.len()).filter(|&k| k != in_row);
    let (degrees, room, x) = (part.degrees(), part.other_degrees(), part.x());
    let degrees_to = neighbours().map(|k| Stretch::of(k, &degrees, parts[k].clone())).collect::<Result<Vec<_>>>()?;
    let degrees_from = neighbours()
        .enumerate()
        .map(|(at, k)| Stretch::of(k, &room, at * own.len()..(at + 1) * own.len()))
        .collect::<Result<Vec<_>>>()?;
    let x_to = neighbours().map(|k| Stretch::of(k, &x, own.clone())).collect::<Result<Vec<_>>>()?;
    let x_from = neighbours().map(|k| Stretch::of(k, &x, parts[k].clone())).collect::<Result<Vec<_>>>()?;
    let gathered = || {
        if let Some(along) = along {
            along.moved(&**row, cuda, &x_to, &x_from);
        }
    };
    world.moved(&*shared.world, cuda, &of_columns.0, &of_columns.1);
    if let Some(along) = along {
        along.moved(&**row, cuda, &degrees_to, &degrees_from);
    }
    // All-reduce in rank order.
    let total = |mine: [f64; 2]| {
        let words = shared.world.all_words(mine.map(f64::to_bits));
        words.iter().fold([0.0, 0.0], |sum, w| [sum[0] + f64::from_bits(w[0]), sum[1] + f64::from_bits(w[1])])
    };
    let shift = |first: usize| (first as u32).wrapping_sub(piece.start as u32);
    let lists: Vec<_> = grid
        .all()
        .enumerate()
        .map(|(k, (_, j))| {
            let first = shift(grid.cols(n, j).start);
            if k == me { (sent(me), false, first) } else { (comes[k].clone(), true, first) }
        })
        .collect();
    let mine = jumps.map(|p| &p[piece.clone()]);
    let lost = part.begin(&lists, options.damping, options.drop_dangling, (1.0 / n as f64, mine));
    let lost = total([0.0, shared.ready(lost)?])[1];
    debug_assert_eq!(rows.len(), x.len());
    let (iterations, change) = iterated(options, lost, |rest| {
        gathered();
        let mine = part.multiply().and_then(|()| {
            world.moved(&*shared.world, cuda, &of_sums.0, &of_sums.1);
            part.step(rest)
        });
        // The other ranks would block on the sums of this one.
        let mine = mine.unwrap_or_else(|error| {
            eprintln!("rank {me}: {error}");
            shared.world.abort(1)
        });
        Ok(total(mine))
    })?;
    let made = inner.ranks_of(part).map(|piece| (piece, own.len()));
    let (piece, nnz) = shared.finish(made)?;
    let ranks = Piece { shared: Arc::clone(shared), len: n, nnz, piece }.into();
    Ok(PageRank { ranks, iterations, change })
}
