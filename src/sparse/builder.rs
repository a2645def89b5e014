//! Construction of a matrix entry by entry.

use hashbrown::HashMap;

use super::hyper::HyperCsr;
use super::out_of_memory;
use super::sort::Scratch;
use super::{Coo, reserved};
use crate::algebra::{BinaryOp, Value};
use crate::par::Threads;
use crate::pattern::{check_ncols, check_nrows};
use crate::{Csr, Error, Index, Result};

/// Collects entries in any order, and assembles a matrix from them.
///
/// Cost: O(1) per entry, amortized; O(entries) memory, independent of the shape.
#[derive(Clone, Debug)]
pub struct Builder<T, I: Index = u32> {
    nrows: usize,
    ncols: usize,
    rows: Vec<I>,
    cols: Vec<I>,
    values: Vec<T>,
    refused: Option<Refused>,
}

/// Why a collected entry was rejected.
#[derive(Clone, Copy, Debug)]
enum Refused {
    Overflow { what: &'static str, needed: usize },
    Memory { entries: usize },
}

/// The smallest matrix that contains these entries (i, j, x). An index out of the range of `I`, or a failed allocation,
/// is reported by the method that finishes the builder.
///
/// ```
/// use sparring::sparse::Builder;
/// let a = [(1, 2, 0.5), (0, 0, 2.0)].into_iter().collect::<Builder<f64>>().unique()?;
/// assert_eq!((a.shape(), a.get(1, 2)), ((2, 3), Some(&0.5)));
/// let far = [(0, usize::MAX, 1.0)].into_iter().collect::<Builder<f64>>();
/// assert!(far.unique().is_err());
/// # Ok::<(), sparring::Error>(())
/// ```
impl<T: Value, I: Index> FromIterator<(usize, usize, T)> for Builder<T, I> {
    fn from_iter<E: IntoIterator<Item = (usize, usize, T)>>(entries: E) -> Self {
        let mut made = Self { nrows: 0, ncols: 0, rows: vec![], cols: vec![], values: vec![], refused: None };
        made.extend(entries);
        made
    }
}
/// The shape grows to contain these entries.
impl<T: Value, I: Index> Extend<(usize, usize, T)> for Builder<T, I> {
    fn extend<E: IntoIterator<Item = (usize, usize, T)>>(&mut self, entries: E) {
        for (i, j, x) in entries {
            if self.refused.is_some() {
                return;
            }
            let grown = |index: usize| index.checked_add(1).filter(|&n| n <= I::MAX_LEN);
            let overflow = |what, index: usize| Refused::Overflow { what, needed: index.saturating_add(1) };
            match (grown(i), grown(j)) {
                (Some(m), Some(n)) => (self.nrows, self.ncols) = (self.nrows.max(m), self.ncols.max(n)),
                (None, _) => self.refused = Some(overflow("rows", i)),
                (_, None) => self.refused = Some(overflow("columns", j)),
            }
            if self.refused.is_none() && self.push(i, j, x).is_err() {
                self.refused = Some(Refused::Memory { entries: self.values.len() + 1 });
            }
        }
    }
}

impl<T: Value, I: Index> Builder<T, I> {
    /// For an nrows × ncols matrix.
    /// # Errors
    /// [`Error::IndexOverflow`] if nrows or ncols does not fit `I`.
    /// # Example
    /// ```
    /// use sparring::{algebra::Plus, sparse::Builder};
    /// let mut b = Builder::<f64>::new(2, 3)?;
    /// b.push(1, 2, 1.0)?;
    /// b.push(0, 0, 2.0)?;
    /// b.push(1, 2, 4.0)?;
    /// assert_eq!(b.finish(Plus::new())?.get(1, 2), Some(&5.0));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn new(nrows: usize, ncols: usize) -> Result<Self> {
        check_nrows::<I>(nrows)?;
        check_ncols::<I>(ncols)?;
        Ok(Self { nrows, ncols, rows: Vec::new(), cols: Vec::new(), values: Vec::new(), refused: None })
    }
    /// Reserves memory for `additional` more entries.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn reserve(&mut self, additional: usize) -> Result<()> {
        let needed = self.values.len().saturating_add(additional);
        let full = |_| out_of_memory::<(I, I, T)>("entries", needed);
        self.rows.try_reserve(additional).map_err(full)?;
        self.cols.try_reserve(additional).map_err(full)?;
        self.values.try_reserve(additional).map_err(full)
    }
    /// Adds the entry (i, j, x).
    /// # Errors
    /// [`Error::IndexRange`], [`Error::OutOfMemory`]; the builder is unchanged on error.
    pub fn push(&mut self, i: usize, j: usize, x: T) -> Result<()> {
        let out = |axis, index: usize, bound| {
            Err(Error::IndexRange { axis, position: self.values.len(), index: index as u128, bound })
        };
        if i >= self.nrows {
            return out("row", i, self.nrows);
        }
        if j >= self.ncols {
            return out("column", j, self.ncols);
        }
        self.reserve(1)?;
        self.rows.push(I::cast(i));
        self.cols.push(I::cast(j));
        self.values.push(x);
        Ok(())
    }
    fn check(&self) -> Result<()> {
        match self.refused {
            None => Ok(()),
            Some(Refused::Overflow { what, needed }) => {
                Err(Error::IndexOverflow { what, needed: needed as u128, max: I::MAX_LEN as u128 })
            }
            Some(Refused::Memory { entries }) => Err(out_of_memory::<(I, I, T)>("entries", entries)),
        }
    }
    /// Number of entries so far, including repeats.
    pub fn len(&self) -> usize {
        self.values.len()
    }
    /// Whether there are no entries so far.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The matrix; repeated entries are folded with `duplicates` in the order given, from the left
    /// (`GrB_Matrix_build`). `duplicates` need not be a monoid.
    /// ```
    /// use sparring::{algebra::Minus, sparse::Builder};
    /// let entries = [(0, 0, 10), (0, 1, 1), (0, 0, 3), (0, 0, 2)];
    /// let a = entries.into_iter().collect::<Builder<i32>>().finish(Minus::new())?;
    /// assert_eq!(a.values(), [5, 1]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn finish<O: BinaryOp<A = T, B = T, Out = T>>(self, duplicates: O) -> Result<Csr<T, I>> {
        self.into_coo()?.to_csr(duplicates)
    }
    /// The matrix; a repeated entry is an error.
    /// # Errors
    /// [`Error::Duplicate`] for the first by row and column; [`Error::OutOfMemory`].
    pub fn unique(self) -> Result<Csr<T, I>> {
        self.into_coo()?.to_csr_unique()
    }
    /// The entries in coordinate form.
    /// # Errors
    /// None for entries added by [`push`](Self::push), which checks them; [`Error::IndexOverflow`] and
    /// [`Error::OutOfMemory`] for collected entries.
    pub fn into_coo(self) -> Result<Coo<T, I>> {
        self.check()?;
        Coo::new(self.nrows, self.ncols, self.rows, self.cols, self.values)
    }

    /// The matrix as hypersparse rows: O(entries + r log r) for r non-empty rows, independent of nrows.
    /// # Errors
    /// [`Error::OutOfMemory`].
    /// # Example
    /// ```
    /// use sparring::{algebra::Plus, sparse::Builder};
    /// let mut b = Builder::<f64>::new(4_000_000_000, 4_000_000_000)?;
    /// b.push(3_999_999_999, 5, 1.0)?;
    /// let a = b.finish_hyper(Plus::new())?;
    /// assert_eq!((a.rows(), a.get(3_999_999_999, 5)), (&[3_999_999_999][..], Some(&1.0)));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn finish_hyper<O: BinaryOp<A = T, B = T, Out = T>>(self, duplicates: O) -> Result<HyperCsr<T, I>> {
        self.check()?;
        let Self { nrows, ncols, rows: mut row_of, cols, values, .. } = self;
        // Rows are numbered by first occurrence, then sorted by index.
        let full = |n: usize| move |_| out_of_memory::<(I, I)>("a map of rows", n);
        let mut place: HashMap<I, I> = HashMap::new();
        let (mut rows, mut first) = (Vec::new(), Vec::new());
        for i in &mut row_of {
            if place.len() == place.capacity() {
                place.try_reserve(1).map_err(|_| out_of_memory::<(I, I)>("a map of rows", rows.len() + 1))?;
            }
            let next = I::cast(rows.len());
            let r = *place.entry(*i).or_insert(next);
            if r == next {
                rows.try_reserve(1).map_err(full(rows.len() + 1))?;
                first.try_reserve(1).map_err(full(rows.len() + 1))?;
                rows.push(*i);
                first.push(next);
            }
            *i = r;
        }
        Scratch::default().sort_row(&Threads::current(), nrows, &mut rows, &mut first)?;
        let mut rank = reserved(rows.len(), "ranks of rows")?;
        rank.resize(rows.len(), I::default());
        first.iter().enumerate().for_each(|(r, f)| rank[f.get()] = I::cast(r));
        row_of.iter_mut().for_each(|r| *r = rank[r.get()]);
        let compact = Coo::new(rows.len(), ncols, row_of, cols, values)?.to_csr(duplicates)?;
        HyperCsr::new(nrows, rows, compact)
    }
}
