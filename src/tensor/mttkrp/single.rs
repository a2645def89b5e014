//! One list for all modes: the tensor in stored or linearized order, cut into a fixed number of segments. Each segment
//! accumulates in rows of its own, which are added up in order at the end.

use super::choose::SEGMENTS;
use super::lanes::{Factors, Through, scatter};
use crate::algebra::{Arithmetic, Value};
use crate::par::{Threads, collected, filled, for_each_part, overwrite_blocks};
use crate::{Index, Result};

/// Rows per task of the final sum.
const ROWS: usize = 256;

/// The range of row indices in each segment of the list: first and one past the last.
pub(super) fn intervals<I: Index>(threads: &Threads, rows: &[I]) -> Result<Vec<(usize, usize)>> {
    let mut found = filled(SEGMENTS, (0, 0), "segments of a tensor")?;
    let parts = collected(SEGMENTS, found.iter_mut().enumerate(), "segments of a tensor")?;
    for_each_part(
        threads,
        parts,
        || Ok(()),
        |(), (t, found)| {
            let list = &rows[segment(rows.len(), t)];
            let bounds = |(low, high): (usize, usize), i: &I| (low.min(i.get()), high.max(i.get() + 1));
            *found = list.iter().fold((usize::MAX, 0), bounds);
            found.0 = found.0.min(found.1);
            Ok(())
        },
    )?;
    Ok(found)
}

fn segment(n: usize, t: usize) -> std::ops::Range<usize> {
    let at = |t: usize| (n as u128 * t as u128 / SEGMENTS as u128) as usize;
    at(t)..at(t + 1)
}

/// Total number of rows of all segments.
pub(super) fn buffer_rows(intervals: &[(usize, usize)]) -> usize {
    intervals.iter().map(|(low, high)| high - low).sum()
}

/// `out`(row of e) = ⊕ x ⊗ the factor rows of e.
pub(super) fn buffered<T: Value, A: Arithmetic<T>, I: Index>(
    threads: &Threads,
    ring: A,
    entries: &Through<'_, T, I>,
    (rows, intervals): (&[I], &[(usize, usize)]),
    factors: Factors<'_, T>,
    room: &mut Vec<T>,
    out: &mut [T],
) -> Result<()> {
    let rank = factors.rank;
    let len = buffer_rows(intervals) * rank;
    if room.len() < len {
        *room = filled(len, A::ZERO, "rows of segments")?;
    }
    let (mut buffers, mut rest) = (Vec::with_capacity(SEGMENTS), &mut room[..len]);
    for (low, high) in intervals {
        let (buffer, behind) = rest.split_at_mut((high - low) * rank);
        buffers.push(buffer);
        rest = behind;
    }
    let parts = collected(SEGMENTS, buffers.iter_mut().zip(intervals).enumerate(), "segments of a tensor")?;
    for_each_part(
        threads,
        parts,
        || Ok(()),
        |(), (t, (buffer, (low, _)))| {
            buffer.fill(A::ZERO);
            scatter(ring, entries, factors, segment(rows.len(), t), (rows, *low), buffer);
            Ok(())
        },
    )?;
    let nrows = out.len().checked_div(rank).unwrap_or(0);
    overwrite_blocks(
        out,
        threads,
        "mttkrp",
        nrows.div_ceil(ROWS),
        |b| nrows.min(b * ROWS) * rank,
        || Ok(()),
        |(), b, slots| {
            let (start, end) = (b * ROWS, nrows.min((b + 1) * ROWS));
            let sums = slots.rest(A::ZERO);
            for (buffer, &(low, high)) in buffers.iter().zip(intervals) {
                let (from, to) = (start.max(low), end.min(high));
                if from < to {
                    let own = &buffer[(from - low) * rank..(to - low) * rank];
                    let sums = &mut sums[(from - start) * rank..(to - start) * rank];
                    sums.iter_mut().zip(own).for_each(|(sum, &x)| *sum = ring.plus(*sum, x));
                }
            }
            Ok(())
        },
    )
}
