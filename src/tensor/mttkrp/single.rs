//! One list for all modes: the tensor as it stands, or linearised, cut into a fixed number of stretches, each with rows
//! of its own that are added up in their order at the end.

use super::choose::STRETCHES;
use super::lanes::{Factors, Through, scatter};
use crate::algebra::{Arithmetic, Value};
use crate::par::{Threads, collected, filled, for_each_part, refill};
use crate::{Index, Result};

/// Rows of a task of the sum.
const ROWS: usize = 256;

/// The indices that the stretches of a list lie between: first and one past the last.
pub(super) fn intervals<I: Index>(threads: &Threads, rows: &[I]) -> Result<Vec<(usize, usize)>> {
    let mut found = filled(STRETCHES, (0, 0), "stretches of a tensor")?;
    let parts = collected(STRETCHES, found.iter_mut().enumerate(), "stretches of a tensor")?;
    for_each_part(
        threads,
        parts,
        || Ok(()),
        |(), (t, found)| {
            let list = &rows[stretch(rows.len(), t)];
            let bounds = |(low, high): (usize, usize), i: &I| (low.min(i.get()), high.max(i.get() + 1));
            *found = list.iter().fold((usize::MAX, 0), bounds);
            found.0 = found.0.min(found.1);
            Ok(())
        },
    )?;
    Ok(found)
}

fn stretch(n: usize, t: usize) -> std::ops::Range<usize> {
    let at = |t: usize| (n as u128 * t as u128 / STRETCHES as u128) as usize;
    at(t)..at(t + 1)
}

/// Rows that the stretches have of their own, added up.
pub(super) fn buffer_rows(intervals: &[(usize, usize)]) -> usize {
    intervals.iter().map(|(low, high)| high - low).sum()
}

/// `out`(row of e) = ⊕ x ⊗ the rows that e meets.
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
        *room = filled(len, A::ZERO, "rows of stretches")?;
    }
    let (mut buffers, mut rest) = (Vec::with_capacity(STRETCHES), &mut room[..len]);
    for (low, high) in intervals {
        let (buffer, behind) = rest.split_at_mut((high - low) * rank);
        buffers.push(buffer);
        rest = behind;
    }
    let parts = collected(STRETCHES, buffers.iter_mut().zip(intervals).enumerate(), "stretches of a tensor")?;
    for_each_part(
        threads,
        parts,
        || Ok(()),
        |(), (t, (buffer, (low, _)))| {
            buffer.fill(A::ZERO);
            scatter(ring, entries, factors, stretch(rows.len(), t), (rows, *low), buffer);
            Ok(())
        },
    )?;
    let nrows = out.len().checked_div(rank).unwrap_or(0);
    refill(
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
