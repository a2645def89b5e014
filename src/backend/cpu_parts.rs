//! Parts of matrices on the processor: what moves entries is compiled once for a size of value.

use std::borrow::Cow;
use std::sync::Arc;

use super::Backend;
use super::assign::assign;
use crate::algebra::{IndexUnaryOp, Monoid, Num, Second, Value};
use crate::ops::by_formula::{Band, Move, assigned, filled_where, moved};
use crate::ops::{self, arg_rows, column_histogram, diagonal_entries, diagonal_of};
use crate::par::{collected, filled, note};
use crate::pattern::check_ncols;
use crate::sparse::{IndexList, MaskSpec, MatrixPattern, VectorPattern};
use crate::{Cpu, Csr, Error, Index, Result, Vector};

type Part<'a> = (&'a IndexList, &'a IndexList);

/// Entries from which on an operator is looked up among the built-in ones.
const MANY: usize = 4096;

impl Cpu {
    /// The matrix itself if its rows are sorted, else a sorted copy.
    fn in_order<'a, T: Value, I: Index>(&self, a: &'a Csr<T, I>) -> Result<Cow<'a, Csr<T, I>>> {
        let a = a.compressed()?;
        Ok(if a.pattern().is_sorted() { Cow::Borrowed(a) } else { Cow::Owned(moved(self.threads(), a, Move::Sort)?) })
    }
    /// A(I, J); of a hypersparse matrix with all rows by the rows that it stores.
    pub(super) fn extracted<T: Value, I: Index>(&self, a: &Csr<T, I>, (rows, cols): Part<'_>) -> Result<Csr<T, I>> {
        if let (Some(stored), true) = (a.as_hyper(), rows.is_all()) {
            let made = self.extracted(&Csr::of_stored(stored), (rows, cols))?;
            return made.labelled(a.nrows(), Arc::clone(stored.labels()));
        }
        moved(self.threads(), &*self.in_order(a)?, Move::Extract(rows, cols))
    }
    /// The matrix whose part (I, J) is A.
    pub(super) fn placed<T: Value, I: Index>(
        &self,
        a: &Csr<T, I>,
        (rows, cols): Part<'_>,
        shape: (usize, usize),
    ) -> Result<Csr<T, I>> {
        moved(self.threads(), a.compressed()?, Move::Place(rows, cols, shape))
    }
    /// The entries in (I, J), likewise.
    pub(super) fn within<T: Value, I: Index>(&self, a: &Csr<T, I>, (rows, cols): Part<'_>) -> Result<Csr<T, I>> {
        if let (Some(stored), true) = (a.as_hyper(), rows.is_all()) {
            let made = self.within(&Csr::of_stored(stored), (rows, cols))?;
            return made.labelled(a.nrows(), Arc::clone(stored.labels()));
        }
        moved(self.threads(), &*self.in_order(a)?, Move::Within(rows, cols))
    }
    /// A row or a column.
    pub(super) fn line_of<T: Value, I: Index>(&self, a: &Csr<T, I>, (rows, cols): Part<'_>) -> Result<Vector<T, I>> {
        self.extracted(a, (rows, cols))?.to_places(self.threads())
    }
    /// C(I, J) = A. A matrix of places is written in place, which takes as long as the part.
    pub(super) fn assigned<T: Value, I: Index>(
        &self,
        c: &mut Csr<T, I>,
        a: Csr<T, I>,
        part: Part<'_>,
        mask: Option<MaskSpec<'_, MatrixPattern<I>>>,
    ) -> Result<()> {
        if c.as_places().is_some() {
            note(|| "  in place: it is kept by its places".into());
            return assign(self, c, a, part, mask);
        }
        note(|| "  in one pass over the rows: those outside of the list are copied, others merged".into());
        let sorted;
        let mask = match mask {
            None => None,
            Some(mask) => {
                let rows = mask.pattern.rows()?;
                sorted = if rows.is_sorted() { rows } else { Cow::Owned(Arc::new(rows.sorted(self.threads())?)) };
                Some((&**sorted, mask.complement))
            }
        };
        let made = assigned(self.threads(), &*self.in_order(c)?, &*self.in_order(&a)?, part, mask)?;
        c.replace(made);
        Ok(())
    }
    /// C(i, j) = x at the places of a pattern.
    pub(super) fn filled<T: Value, I: Index>(&self, c: &mut Csr<T, I>, x: T, pattern: &MatrixPattern<I>) -> Result<()> {
        if c.shape() != pattern.shape() {
            return Err(Error::Shape { op: "mask", lhs: c.shape(), rhs: pattern.shape() });
        }
        let by_rows = c.settled()?.as_hyper().is_none() && c.as_places().is_none();
        if !by_rows || pattern.as_hyper().is_some() || pattern.as_places().is_some() {
            let t = self.of_pattern(pattern, x)?;
            return self.accumulate_matrix(Second::<T, T>::default(), c, t);
        }
        note(|| "  in one pass over the rows: values alone where C has all entries of the mask".into());
        let rows = pattern.rows()?;
        let rows = if rows.is_sorted() { rows } else { Cow::Owned(Arc::new(rows.sorted(self.threads())?)) };
        let made = filled_where(self.threads(), &*self.in_order(c)?, x, &rows)?;
        c.replace(made);
        Ok(())
    }
    /// The entries that an operator keeps.
    pub(super) fn selected<O: IndexUnaryOp<Out = bool>, I: Index>(
        &self,
        op: O,
        a: &Csr<O::A, I>,
        s: O::S,
    ) -> Result<Csr<O::A, I>> {
        match Some(op).filter(|_| a.nnz() >= MANY).and_then(|op| Band::of(op, s)) {
            Some(band) => {
                note(|| "  by cuts of rows: the operator reads places alone".into());
                moved(self.threads(), &*self.in_order(a)?, Move::Band(band))
            }
            None => ops::select(self.threads(), op, a, s),
        }
    }
    /// `x` at the places of a pattern, in its form.
    pub(super) fn of_pattern<T: Value, I: Index>(&self, pattern: &MatrixPattern<I>, x: T) -> Result<Csr<T, I>> {
        if let Some(places) = pattern.as_places() {
            let values = filled(places.values(), x, "values")?;
            return Csr::from_places(pattern.shape(), Vector::with_pattern(Arc::clone(places), values));
        }
        if let Some(stored) = pattern.as_hyper() {
            let rows = Csr::with_pattern(Arc::clone(&stored.rows().pattern), filled(stored.nnz(), x, "values")?)?;
            return rows.labelled(pattern.shape().0, Arc::clone(stored.labels()));
        }
        let rows = pattern.rows()?.into_owned();
        let values = filled(rows.nnz(), x, "values")?;
        Csr::with_pattern(rows, values)
    }
    /// The diagonal k.
    pub(super) fn diagonal<T: Value, I: Index>(&self, a: &Csr<T, I>, k: i64) -> Result<Vector<T, I>> {
        let ((top, left), len) = diagonal_of(a.shape(), k);
        if a.as_hyper().is_some() {
            check_ncols::<I>(len)?;
            let on_it = |(i, j, x): (usize, usize, &T)| {
                let p = i.checked_sub(top)?;
                (j.checked_sub(left) == Some(p)).then_some((I::cast(p), *x))
            };
            let n = a.iter().filter_map(on_it).count();
            let indices = collected(n, a.iter().filter_map(on_it).map(|entry| entry.0), "indices")?;
            return Vector::from_list(len, indices, collected(n, a.iter().filter_map(on_it).map(|e| e.1), "values")?);
        }
        let a = self.in_order(a)?;
        let (indices, positions) = diagonal_entries(a.pattern(), k)?;
        let values = collected(positions.len(), positions.iter().map(|&p| a.values()[p]), "values")?;
        Vector::from_list(len, indices, values)
    }
    /// T(i) = u(p) ⊕ u(q) ⊕ …, folded in the order of u.
    pub(super) fn scattered<P: Monoid, I: Index>(
        &self,
        monoid: P,
        u: &Vector<P::Out, I>,
        (indices, len): (&[I], usize),
        mask: Option<MaskSpec<'_, VectorPattern<I>>>,
    ) -> Result<Vector<P::Out, I>> {
        if u.len() != indices.len() {
            return Err(Error::Length { what: "indices of a scatter", found: indices.len(), expected: u.len() });
        }
        if let Some(position) = indices.iter().position(|i| i.get() >= len) {
            let index = indices[position].get() as u128;
            return Err(Error::IndexRange { axis: "vector", position, index, bound: len });
        }
        let (mut at, values) = u.to_sparse()?.into_parts();
        at.iter_mut().for_each(|p| *p = indices[p.get()]);
        let mut made = Vector::from_entries(len, at, values, monoid)?;
        if let Some(mask) = mask {
            made.retain(mask)?;
        }
        Ok(made)
    }
    /// Entries of the rows that have some.
    pub(super) fn counted<T: Value, I: Index>(&self, a: &Csr<T, I>) -> Result<Vector<i64, I>> {
        let (stored, labels) = match a.as_hyper() {
            Some(rows) => (&*rows.rows().pattern, Some(rows.labels())),
            None => (&**a.compressed()?.pattern(), None),
        };
        check_ncols::<I>(a.nrows())?;
        let row_nnz = |r: usize| (stored.row_ptr()[r + 1] - stored.row_ptr()[r]) as i64;
        let some = || (0..stored.nrows()).filter(|&r| row_nnz(r) > 0);
        let n = some().count();
        let label = |r: usize| labels.map_or_else(|| I::cast(r), |labels| labels[r]);
        let indices = collected(n, some().map(label), "indices")?;
        Vector::from_list(a.nrows(), indices, collected(n, some().map(row_nnz), "values")?)
    }
    /// Entries of the columns that have some; `None` where the transpose tells them faster, or alone.
    pub(super) fn counted_columns<T: Value, I: Index>(&self, a: &Csr<T, I>) -> Result<Option<Vector<i64, I>>> {
        /// Columns for each entry up to which each column is counted.
        const DENSE: usize = 8;
        let stored = match a.as_hyper() {
            Some(rows) => &*rows.rows().pattern,
            None => &**a.compressed()?.pattern(),
        };
        if a.ncols() / DENSE > a.nnz() {
            return Ok(None);
        }
        let Some(counts) = column_histogram(self.threads(), stored).transpose()? else { return Ok(None) };
        let some = || counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let n = some().count();
        let columns = collected(n, some().map(|(j, _)| I::cast(j)), "indices")?;
        Vector::from_list(a.ncols(), columns, collected(n, some().map(|(_, &count)| count), "values")?).map(Some)
    }
    /// The column of the first least or greatest value of each row.
    pub(super) fn arg_of_rows<T: Num, I: Index>(&self, a: &Csr<T, I>, greatest: bool) -> Result<Vector<i64, I>> {
        check_ncols::<I>(a.nrows())?;
        let (rows, columns) = match a.as_hyper() {
            Some(stored) => {
                let (rows, columns) = arg_rows(self.threads(), &Csr::of_stored(stored), greatest)?;
                (collected(rows.len(), rows.iter().map(|&r| stored.labels()[r]), "indices")?, columns)
            }
            None => {
                let (rows, columns) = arg_rows(self.threads(), a.compressed()?, greatest)?;
                (collected(rows.len(), rows.iter().map(|&i| I::cast(i)), "indices")?, columns)
            }
        };
        Vector::from_list(a.nrows(), rows, columns)
    }
}
