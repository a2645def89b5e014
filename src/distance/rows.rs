//! Rows made ready: checked, zeros dropped, entries prepared, norms kept.

use std::any::Any;
use std::borrow::Cow;
use std::ops::Range;

use super::recipe::{Recipe, Row, Side};
use super::table::Domain;
use crate::algebra::{Host, Num, Number, Real, V};
use crate::par::{Fresh, Threads, collected, filled, split};
use crate::{Csr, Error, Index, Pattern, Result};

/// The entries of a matrix that are not 0, as numbers of type `W`, rows in order of their columns; borrowed where the matrix
/// has them so.
#[derive(Clone, Debug)]
pub(crate) struct Entries<'a, W: Clone> {
    pub(crate) pattern: Cow<'a, Pattern<u32>>,
    pub(crate) values: Cow<'a, [W]>,
}

impl<W: Clone> Entries<'_, W> {
    pub(crate) fn row(&self, i: usize) -> (&[u32], &[W]) {
        let range = self.pattern.row_ptr()[i]..self.pattern.row_ptr()[i + 1];
        (&self.pattern.col_idx()[range.clone()], &self.values[range])
    }
    pub(crate) fn nrows(&self) -> usize {
        self.pattern.nrows()
    }
}

/// The transpose of some rows: of each column the rows that have it, counted from the first, with what belongs to their entries.
pub(crate) struct Postings<E> {
    starts: Vec<u32>,
    places: Vec<u16>,
    entries: Vec<E>,
    /// Of each entry of the rows, in their order, how many rows before its own have its column; empty if not asked for.
    before: Vec<u16>,
}

impl<E> Postings<E> {
    /// Rows that have column `c`, and what belongs to their entries.
    #[inline(always)]
    pub(crate) fn column(&self, c: u32) -> (&[u16], &[E]) {
        let range = self.starts[c as usize] as usize..self.starts[c as usize + 1] as usize;
        (&self.places[range.clone()], &self.entries[range])
    }
    /// The same of column `c` up to the row whose entry, counted from the first row's first, is number `at`.
    #[inline(always)]
    pub(crate) fn column_up_to(&self, c: u32, at: usize) -> (&[u16], &[E]) {
        let start = self.starts[c as usize] as usize;
        let range = start..start + usize::from(self.before[at]) + 1;
        (&self.places[range.clone()], &self.entries[range])
    }
    /// Number of rows that have each column.
    pub(crate) fn counts(&self) -> impl Iterator<Item = usize> {
        self.starts.windows(2).map(|pair| (pair[1] - pair[0]) as usize)
    }
}

impl<W: Clone> Entries<'_, W> {
    /// The transpose of some rows, at most 65,536, by a stable counting sort; `entry` gives what belongs to an entry. With
    /// `ordered`, the place of every entry in its column is kept.
    /// # Errors
    /// [`Error::IndexOverflow`] for more than 2³² entries; [`Error::OutOfMemory`].
    pub(crate) fn postings<E: Copy>(
        &self,
        rows: Range<usize>,
        ordered: bool,
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
            let here = *start;
            *start = sum;
            sum += here;
        }
        let mut places = filled(range.len(), 0u16, "postings")?;
        let mut entries = filled(range.len(), zero, "postings")?;
        for i in rows.clone() {
            for at in row_ptr[i]..row_ptr[i + 1] {
                let next = &mut starts[self.pattern.col_idx()[at] as usize];
                places[*next as usize] = (i - rows.start) as u16;
                entries[*next as usize] = entry(at);
                *next += 1;
            }
        }
        // Each start has moved to that of the next column.
        starts.rotate_right(1);
        starts[0] = 0;
        let mut before = filled(if ordered { range.len() } else { 0 }, 0u16, "postings")?;
        if ordered {
            let mut met = filled(self.pattern.ncols(), 0u16, "postings")?;
            for (before, &c) in before.iter_mut().zip(&self.pattern.col_idx()[range]) {
                *before = met[c as usize];
                met[c as usize] += 1;
            }
        }
        Ok(Postings { starts, places, entries, before })
    }
}

/// A matrix that was checked: rows in order of their columns, no entry 0.
pub(crate) enum Checked<'a, T, I: Index> {
    /// As it was given.
    Given(&'a Csr<T, I>),
    /// Sorted, without its zeros.
    Made(Csr<T, I>),
}

impl<'a, T: Real, I: Index> Checked<'a, T, I> {
    /// Checks `a` against `domain` unless `unchecked`.
    /// # Errors
    /// [`Error::Argument`] for an entry that the domain does not have; [`Error::IndexOverflow`] if columns do not fit u32.
    pub(crate) fn new(threads: &Threads, a: &'a Csr<T, I>, domain: Domain, unchecked: bool) -> Result<Self> {
        let max = u32::MAX as usize;
        if a.ncols() > max {
            return Err(Error::IndexOverflow { what: "columns", needed: a.ncols() as u128, max: max as u128 });
        }
        let both = |(takes, full), &x: &T| (takes & (unchecked | domain.takes(x)), full & (x != T::ZERO));
        let (takes, full) = a.values().iter().fold((true, true), both);
        if !takes {
            let at = a.values().iter().position(|&x| !domain.takes(x)).unwrap_or_default();
            let row = a.pattern().row_ptr().partition_point(|&p| p <= at) - 1;
            let (column, value) = (a.pattern().col_idx()[at].get(), a.values()[at]);
            return Err(domain.refuses(value, row, column));
        }
        if full && a.pattern().is_sorted() {
            return Ok(Self::Given(a));
        }
        Ok(Self::Made(a.select(threads, |_, _, &x| x != T::ZERO)?))
    }
    fn matrix(&self) -> &Csr<T, I> {
        match self {
            Self::Given(a) => a,
            Self::Made(a) => a,
        }
    }
    fn pattern(&self) -> Result<Cow<'a, Pattern<u32>>> {
        let given = match *self {
            Self::Given(a) => (a.pattern() as &dyn Any).downcast_ref(),
            Self::Made(_) => None,
        };
        if let Some(pattern) = given {
            return Ok(Cow::Borrowed(pattern));
        }
        let p = self.matrix().pattern();
        let columns = collected(p.nnz(), p.col_idx().iter().map(|j| j.get() as u32), "columns")?;
        let row_ptr = collected(p.nrows() + 1, p.row_ptr().iter().copied(), "row pointers")?;
        Ok(Cow::Owned(Pattern::new(p.nrows(), p.ncols(), row_ptr, columns)?))
    }
    /// The entries as they are.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn entries<W: Real>(&self) -> Result<Entries<'a, W>> {
        let given = match *self {
            Self::Given(a) => (a as &dyn Any).downcast_ref::<Csr<W, u32>>(),
            Self::Made(_) => None,
        };
        if let Some(a) = given {
            return Ok(Entries { pattern: Cow::Borrowed(a.pattern()), values: Cow::Borrowed(a.values()) });
        }
        let values = self.matrix().values();
        let values = collected(values.len(), values.iter().map(|x| x.cast::<W>()), "entries")?;
        Ok(Entries { pattern: self.pattern()?, values: Cow::Owned(values) })
    }
}

/// Rows prepared by a recipe.
#[derive(Clone, Debug)]
pub(crate) struct Rows<'a, W: Clone> {
    pub(crate) entries: Entries<'a, W>,
    /// The first norm of every row, and the second.
    pub(crate) norms: [Vec<W>; 2],
}

/// What `recipe` makes of the rows of one side.
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn prepare<'a, R: Recipe, T: Real, I: Index>(
    threads: &Threads,
    recipe: R,
    side: Side,
    checked: &Checked<'a, T, I>,
) -> Result<Rows<'a, R::W>> {
    let (matrix, pattern) = (checked.matrix(), checked.pattern()?);
    let row_ptr = matrix.pattern().row_ptr();
    let blocks = split(matrix.nrows(), (matrix.nnz() >> 14).clamp(1, 1024), |i| (row_ptr[i] + i) as u64);
    let end = |b: usize| b.checked_sub(1).map_or(0, |b| blocks[b].end);
    let values_of = |i: usize| matrix.values()[row_ptr[i]..row_ptr[i + 1]].iter().map(|x| V(x.cast::<R::W>()));
    let of_row = |i: usize, [first, second]: [R::W; 2]| -> Row<Host, R::W> {
        let of = |n: usize| V(R::W::from_index(n as u64));
        Row { first: V(first), second: V(second), nnz: of(row_ptr[i + 1] - row_ptr[i]), ncols: of(matrix.ncols()) }
    };
    let sums = Fresh::new(matrix.nrows(), "sums of rows")?.fill(
        threads,
        "sums of rows",
        blocks.len(),
        end,
        || Ok(()),
        |(), b, slots| {
            let zero = V::<Host, _>(R::W::ZERO);
            for (i, slot) in blocks[b].clone().zip(slots.take(blocks[b].len(), [R::W::ZERO; 2])) {
                let first = values_of(i).fold(zero, |sum, x| sum + recipe.first(side, x));
                let row = of_row(i, [first.0, R::W::ZERO]);
                let second = values_of(i).fold(zero, |sum, x| sum + recipe.second(x, first, row.nnz, row.ncols));
                *slot = [first.0, second.0];
            }
            Ok(())
        },
    )?;
    let values = Fresh::new(matrix.nnz(), "prepared entries")?.fill(
        threads,
        "prepared entries",
        blocks.len(),
        |b| row_ptr[end(b)],
        || Ok(()),
        |(), b, slots| {
            for i in blocks[b].clone() {
                let row = of_row(i, sums[i]);
                let slots = slots.take(row_ptr[i + 1] - row_ptr[i], R::W::ZERO);
                slots.iter_mut().zip(values_of(i)).for_each(|(slot, x)| *slot = recipe.entry(side, x, row).0);
            }
            Ok(())
        },
    )?;
    let norms = || sums.iter().enumerate().map(|(i, &sums)| recipe.norms(side, of_row(i, sums)));
    let norms = [
        collected(sums.len(), norms().map(|n| n.0.0), "norms")?,
        collected(sums.len(), norms().map(|n| n.1.0), "norms")?,
    ];
    Ok(Rows { entries: Entries { pattern, values: Cow::Owned(values) }, norms })
}
