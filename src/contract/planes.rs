//! Products whose innermost index is the longest: the result is cut along it, across all its other indices.
//!
//! Cut along any other index, each block would reread most of both operands. A block is here a list of runs, one for
//! each value of the other indices.

use std::sync::{Mutex, PoisonError};

use super::lanes::lanes;
use super::plan::Planes;
use super::product::{Arrays, Offsets};
use super::update::Update;
use crate::Result;
use crate::algebra::{Arithmetic, Value};
use crate::par::{Threads, reserved};

/// Computes all of C; offsets are those of the whole result.
pub(super) fn planes<T: Value, A: Arithmetic<T>>(
    threads: &Threads,
    ring: A,
    arrays: Arrays<'_, T>,
    offsets: Offsets<'_>,
    update: Update<T>,
    cut: Planes,
) -> Result<()> {
    let Arrays { a, b, c } = arrays;
    let mut runs = reserved(offsets.l.len() * offsets.m.len() * offsets.n.len(), "offsets")?;
    for &[la, lb, lc] in offsets.l {
        for &[ma, mc] in offsets.m {
            runs.extend(offsets.n.iter().map(|&[nb, nc]| [la.wrapping_add(ma), lb.wrapping_add(nb), lc + mc + nc]));
        }
    }
    // In the order of C, where runs are disjoint: no element of a result occurs twice.
    runs.sort_unstable_by_key(|run| run[2]);
    let blocks = cut.count.div_ceil(cut.width);
    let mut parts = reserved(blocks, "blocks")?;
    for _ in 0..blocks {
        parts.push(Mutex::new(reserved(runs.len(), "blocks")?));
    }
    let (mut rest, mut at) = (c, 0);
    for &[.., start] in &runs {
        let (run, tail) = std::mem::take(&mut rest).split_at_mut(start - at).1.split_at_mut(cut.count);
        (rest, at) = (tail, start + cut.count);
        for (part, piece) in parts.iter_mut().zip(run.chunks_mut(cut.width)) {
            part.get_mut().unwrap_or_else(PoisonError::into_inner).push(piece);
        }
    }
    let one = Offsets { l: &[[0; 3]], m: &[[0; 2]], n: &[[0; 2]], k: offsets.k };
    threads.for_each_beside(
        "einsum",
        blocks,
        || Ok(()),
        |(), t| {
            let mut part = parts[t].lock().unwrap_or_else(PoisonError::into_inner);
            let first = t * cut.width;
            for (c, &[run_a, run_b, _]) in part.iter_mut().zip(&runs) {
                let (a, b) = (
                    (a.0, a.1.wrapping_add(run_a).wrapping_add(first)),
                    (b.0, b.1.wrapping_add(run_b).wrapping_add(first)),
                );
                let count = c.len();
                lanes(ring, Arrays { a, b, c }, one, update, count);
            }
            Ok(())
        },
    )
}
