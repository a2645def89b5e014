//! Rows made ready: zeros dropped, entries prepared, norms kept.

use std::ops::Range;

use super::recipe::{Recipe, Row, Side};
use super::table::Domain;
use crate::algebra::{Host, Num, Real, V};
use crate::par::{Fresh, Threads, collected, filled, split};
use crate::{Csr, Error, Index, Pattern, Result};

/// The entries of a matrix that are not 0, as numbers of type `W`, rows in order of their columns.
#[derive(Clone, Debug)]
pub(crate) struct Entries<W> {
    pub(crate) pattern: Pattern<u32>,
    pub(crate) values: Vec<W>,
}

impl<W> Entries<W> {
    pub(crate) fn row(&self, i: usize) -> (&[u32], &[W]) {
        let range = self.pattern.row_ptr()[i]..self.pattern.row_ptr()[i + 1];
        (&self.pattern.col_idx()[range.clone()], &self.values[range])
    }
    pub(crate) fn nrows(&self) -> usize {
        self.pattern.nrows()
    }
    /// Blocks of rows of about equal work.
    fn blocks(&self) -> Vec<Range<usize>> {
        let row_ptr = self.pattern.row_ptr();
        let parts = (self.values.len() / (1 << 14)).clamp(1, 1024);
        split(self.nrows(), parts, |i| (row_ptr[i] + i) as u64)
    }
}

/// Of each column, where its rows start, and those rows, counted from the first, with what belongs to their entries.
pub(crate) type Postings<E> = (Vec<u32>, Vec<u16>, Vec<E>);

impl<W> Entries<W> {
    /// The transpose of some rows, at most 65,536, by a stable counting sort; `entry` gives what belongs to an entry.
    /// # Errors
    /// [`Error::IndexOverflow`] for more than 2³² entries; [`Error::OutOfMemory`].
    pub(crate) fn postings<E: Copy>(
        &self,
        rows: Range<usize>,
        zero: E,
        entry: impl Fn(usize) -> E,
    ) -> Result<Postings<E>> {
        let row_ptr = self.pattern.row_ptr();
        let range = row_ptr[rows.start]..row_ptr[rows.end];
        if range.len() > u32::MAX as usize {
            let (needed, max) = (range.len() as u128, u128::from(u32::MAX));
            return Err(Error::IndexOverflow { what: "entries of a tile of rows", needed, max });
        }
        let mut starts = filled(self.pattern.ncols() + 1, 0u32, "starts of postings")?;
        for &c in &self.pattern.col_idx()[range.clone()] {
            starts[c as usize] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut places = filled(range.len(), 0u16, "postings")?;
        let mut entries = filled(range.len(), zero, "postings")?;
        // From the last to the first, so that each column's rows come in order.
        for i in rows.clone().rev() {
            for at in (row_ptr[i]..row_ptr[i + 1]).rev() {
                let start = &mut starts[self.pattern.col_idx()[at] as usize];
                *start -= 1;
                places[*start as usize] = (i - rows.start) as u16;
                entries[*start as usize] = entry(at);
            }
        }
        Ok((starts, places, entries))
    }
}

/// The error for an entry that `domain` does not have.
pub(crate) fn refused<T: Real>(row: usize, column: usize, value: T, domain: Domain) -> Error {
    let takes = if domain == Domain::NonNegative { "finite numbers that are not negative" } else { "finite numbers" };
    let message = format!("row {row}, column {column} holds {value:?}, but the metric takes {takes}");
    Error::Argument { name: "entries", message }
}

/// The entries of `a` that are not 0, checked against `domain` unless `unchecked`.
/// # Errors
/// [`Error::Argument`] for an entry that the domain does not have; [`Error::IndexOverflow`] if columns do not fit u32.
pub(crate) fn entries<T: Real, W: Real, I: Index>(
    threads: &Threads,
    a: &Csr<T, I>,
    domain: Domain,
    unchecked: bool,
) -> Result<Entries<W>> {
    let sorted;
    let a = if a.pattern().is_sorted() {
        a
    } else {
        sorted = a.sorted(threads)?;
        &sorted
    };
    let max = u32::MAX as usize;
    if a.ncols() > max {
        return Err(Error::IndexOverflow { what: "columns", needed: a.ncols() as u128, max: max as u128 });
    }
    let zeros = a.values().iter().filter(|&&x| x == T::ZERO).count();
    if !unchecked {
        let odd = |x: T| !x.to_f64().is_finite() || domain == Domain::NonNegative && x < T::ZERO;
        if let Some(at) = a.values().iter().position(|&x| odd(x)) {
            let row = a.pattern().row_ptr().partition_point(|&p| p <= at) - 1;
            let (column, value) = (a.pattern().col_idx()[at].get(), a.values()[at]);
            return Err(refused(row, column, value, domain));
        }
    }
    let kept = a.nnz() - zeros;
    let place = |at: usize| a.values()[at] != T::ZERO;
    let columns = a.pattern().col_idx().iter().enumerate().filter(|&(at, _)| place(at)).map(|(_, j)| j.get() as u32);
    let values = a.values().iter().filter(|&&x| x != T::ZERO).map(|x| x.cast::<W>());
    let (columns, values) = (collected(kept, columns, "columns")?, collected(kept, values, "entries")?);
    let mut row_ptr = filled(a.nrows() + 1, 0usize, "row pointers")?;
    for i in 0..a.nrows() {
        let range = a.pattern().row_ptr()[i]..a.pattern().row_ptr()[i + 1];
        let here = if zeros == 0 { range.len() } else { range.filter(|&at| place(at)).count() };
        row_ptr[i + 1] = row_ptr[i] + here;
    }
    Ok(Entries { pattern: Pattern::new(a.nrows(), a.ncols(), row_ptr, columns)?, values })
}

/// Rows prepared by a recipe.
#[derive(Clone, Debug)]
pub(crate) struct Rows<W> {
    pub(crate) entries: Entries<W>,
    /// The first norm of every row, and the second.
    pub(crate) norms: [Vec<W>; 2],
}

/// What `recipe` makes of the rows of one side.
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn prepare<R: Recipe>(
    threads: &Threads,
    recipe: R,
    side: Side,
    entries: &Entries<R::W>,
) -> Result<Rows<R::W>> {
    let blocks = entries.blocks();
    let ncols = R::W::from_index(entries.pattern.ncols() as u64);
    let of_row = |i: usize| -> Row<Host, R::W> {
        let (_, xs) = entries.row(i);
        let (nnz, ncols) = (V(R::W::from_index(xs.len() as u64)), V(ncols));
        let zero = V::<Host, _>(R::W::ZERO);
        let first = xs.iter().fold(zero, |sum, &x| sum + recipe.first(side, V(x)));
        let second = xs.iter().fold(zero, |sum, &x| sum + recipe.second(V(x), first, nnz, ncols));
        Row { first, second, nnz, ncols }
    };
    let end = |b: usize| b.checked_sub(1).map_or(0, |b| blocks[b].end);
    let norms = Fresh::new(entries.nrows(), "norms")?.fill(
        threads,
        "norms",
        blocks.len(),
        end,
        || Ok(()),
        |(), b, slots| {
            for (i, slot) in blocks[b].clone().zip(slots.take(blocks[b].len(), [R::W::ZERO; 2])) {
                let norms = recipe.norms(side, of_row(i));
                *slot = [norms.0.0, norms.1.0];
            }
            Ok(())
        },
    )?;
    let row_ptr = entries.pattern.row_ptr();
    let values = Fresh::new(entries.values.len(), "prepared entries")?.fill(
        threads,
        "prepared entries",
        blocks.len(),
        |b| row_ptr[end(b)],
        || Ok(()),
        |(), b, slots| {
            for i in blocks[b].clone() {
                let (row, xs) = (of_row(i), entries.row(i).1);
                for (slot, &x) in slots.take(xs.len(), R::W::ZERO).iter_mut().zip(xs) {
                    *slot = recipe.entry(side, V(x), row).0;
                }
            }
            Ok(())
        },
    )?;
    let norm = |n: usize| collected(norms.len(), norms.iter().map(|both| both[n]), "norms");
    Ok(Rows { entries: Entries { pattern: entries.pattern.clone(), values }, norms: [norm(0)?, norm(1)?] })
}
