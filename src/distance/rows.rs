//! Rows prepared for a recipe: entries and norms.

use super::entries::Entries;
use super::float::Float;
use super::loops::Loops;
use super::recipe::Side;
use crate::Result;
use crate::par::{Threads, UninitOutput, filled, reserved, split};

/// Rows prepared by a recipe.
pub(crate) struct Rows<'a, W: Clone> {
    pub(crate) entries: Entries<'a, W>,
    /// The first norms of all rows, and the second norms.
    norms: [Vec<W>; 2],
    /// The one-sided term of each entry, where terms depend on it; otherwise empty.
    one_sided: Vec<W>,
}

impl<W: Float> Rows<'_, W> {
    /// The norms of row `i`.
    #[inline(always)]
    pub(crate) fn norms(&self, i: usize) -> [W; 2] {
        [self.norms[0][i], self.norms[1][i]]
    }
    /// The norms of `len` rows from `first` on.
    pub(crate) fn norms_from(&self, first: usize, len: usize) -> [&[W]; 2] {
        [&self.norms[0][first..][..len], &self.norms[1][first..][..len]]
    }
    /// The one-sided terms of the entries of row `i`.
    pub(crate) fn one_sided(&self, i: usize) -> &[W] {
        let row_ptr = self.entries.pattern.row_ptr();
        if self.one_sided.is_empty() { &[] } else { &self.one_sided[row_ptr[i]..row_ptr[i + 1]] }
    }
}

/// Bytes that [`prepare`] takes, including those of the given rows that are not the caller's.
pub(crate) fn prepared_bytes<T: Float, W: Float>(loops: &dyn Loops<W>, given: &Entries<'_, T>) -> u64 {
    let of_entry = size_of::<W>() * if loops.facts().one_sided { 2 } else { 1 };
    // Two sums and two norms of a row.
    given.bytes() + (given.values.len() * of_entry + 4 * given.nrows() * size_of::<W>()) as u64
}

/// Prepares the rows of one side for `loops`.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub(crate) fn prepare<'a, T: Float, W: Float>(
    threads: &Threads,
    loops: &dyn Loops<W>,
    side: Side,
    given: &Entries<'_, T>,
) -> Result<Rows<'a, W>> {
    let (pattern, nnz) = (&given.pattern, given.values.len());
    let (nrows, ncols, row_ptr) = (pattern.nrows(), given.ncols(), pattern.row_ptr());
    let blocks = split(nrows, (nnz >> 14).clamp(1, 1024), |i| (row_ptr[i] + i) as u64);
    let end = |b: usize| b.checked_sub(1).map_or(0, |b| blocks[b].end);
    let values_of = |i: usize| &given.values[row_ptr[i]..row_ptr[i + 1]];
    let sums = UninitOutput::new(nrows, "sums of rows")?.fill(
        threads,
        "sums of rows",
        blocks.len(),
        end,
        || Ok(Vec::new()),
        |row: &mut Vec<W>, b, slots| {
            for (i, slot) in blocks[b].clone().zip(slots.take(blocks[b].len(), [W::ZERO; 2])) {
                let values = values_of(i);
                if row.len() < values.len() {
                    *row = filled(values.len().next_power_of_two(), W::ZERO, "a row")?;
                }
                let row = &mut row[..values.len()];
                row.iter_mut().zip(values).for_each(|(w, x)| *w = x.cast());
                *slot = loops.sums(side, row, ncols);
            }
            Ok(())
        },
    )?;
    let values = UninitOutput::new(nnz, "prepared entries")?.fill(
        threads,
        "prepared entries",
        blocks.len(),
        |b| row_ptr[end(b)],
        || Ok(()),
        |(), b, slots| {
            for i in blocks[b].clone() {
                let slots = slots.take(row_ptr[i + 1] - row_ptr[i], W::ZERO);
                slots.iter_mut().zip(values_of(i)).for_each(|(slot, x)| *slot = x.cast());
                loops.entries(side, sums[i], ncols, slots);
            }
            Ok(())
        },
    )?;
    let mut norms = [reserved(nrows, "norms")?, reserved(nrows, "norms")?];
    for (i, &sums) in sums.iter().enumerate() {
        let of_row = loops.norms(side, sums, row_ptr[i + 1] - row_ptr[i], ncols);
        norms.iter_mut().zip(of_row).for_each(|(norms, norm)| norms.push(norm));
    }
    let one_sided = if loops.facts().one_sided {
        UninitOutput::new(nnz, "prepared entries")?.fill(
            threads,
            "prepared entries",
            blocks.len(),
            |b| row_ptr[end(b)],
            || Ok(()),
            |(), b, slots| {
                let range = row_ptr[blocks[b].start]..row_ptr[blocks[b].end];
                loops.one_sided(side, &values[range.clone()], slots.take(range.len(), W::ZERO));
                Ok(())
            },
        )?
    } else {
        Vec::new()
    };
    Ok(Rows { entries: given.with_values(values), norms, one_sided })
}
