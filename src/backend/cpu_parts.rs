//! Submatrices, blocks and diagonals on the CPU. The code that moves entries is compiled once per value size.

use std::borrow::Cow;
use std::sync::Arc;

use super::Kernels;
use super::assign::assign;
use crate::algebra::{IndexUnaryOp, Monoid, Num, Second, Slice, Value};
use crate::ops::by_formula::{Band, Rearrange, assigned, fill_masked, rearranged};
use crate::ops::{
    self, arg_rows, column_histogram, concat_blocks, concat_shape, diagonal_entries, diagonal_of, diagonal_pattern,
};
use crate::par::{collected, filled, note, reserved};
use crate::pattern::check_ncols;
use crate::sparse::{IndexList, MaskSpec, MatrixPattern, VectorPattern};
use crate::{Cpu, Csr, Error, Index, Result, Vector};

type Part<'a> = (&'a IndexList, &'a IndexList);

/// Number of entries from which on it pays to look up a built-in operator.
const MANY: usize = 4096;

impl Cpu {
    /// The matrix itself if its rows are sorted, otherwise a sorted copy.
    fn in_order<'a, T: Value, I: Index>(&self, a: &'a Csr<T, I>) -> Result<Cow<'a, Csr<T, I>>> {
        let a = a.compressed()?;
        Ok(if a.pattern().is_sorted() {
            Cow::Borrowed(a)
        } else {
            Cow::Owned(rearranged(self.threads(), a, Rearrange::Sort)?)
        })
    }
    /// A(I, J); for a hypersparse matrix and all rows, on its stored rows alone.
    pub(super) fn extracted<T: Value, I: Index>(&self, a: &Csr<T, I>, (rows, cols): Part<'_>) -> Result<Csr<T, I>> {
        if let (Some(stored), true) = (a.as_hyper(), rows.is_all()) {
            let made = self.extracted(&Csr::of_stored(stored), (rows, cols))?;
            return made.labelled(a.nrows(), Arc::clone(stored.labels()));
        }
        rearranged(self.threads(), &*self.in_order(a)?, Rearrange::Extract(rows, cols))
    }
    /// The matrix whose part (I, J) is A.
    pub(super) fn placed<T: Value, I: Index>(
        &self,
        a: &Csr<T, I>,
        (rows, cols): Part<'_>,
        shape: (usize, usize),
    ) -> Result<Csr<T, I>> {
        rearranged(self.threads(), a.compressed()?, Rearrange::Place(rows, cols, shape))
    }
    /// The entries in (I, J); for a hypersparse matrix and all rows, on its stored rows alone.
    pub(super) fn within<T: Value, I: Index>(&self, a: &Csr<T, I>, (rows, cols): Part<'_>) -> Result<Csr<T, I>> {
        if let (Some(stored), true) = (a.as_hyper(), rows.is_all()) {
            let made = self.within(&Csr::of_stored(stored), (rows, cols))?;
            return made.labelled(a.nrows(), Arc::clone(stored.labels()));
        }
        rearranged(self.threads(), &*self.in_order(a)?, Rearrange::Within(rows, cols))
    }
    /// A row or a column.
    pub(super) fn line_of<T: Value, I: Index>(&self, a: &Csr<T, I>, (rows, cols): Part<'_>) -> Result<Vector<T, I>> {
        self.extracted(a, (rows, cols))?.to_row_major(self.threads())
    }
    /// The block matrix of these rows of blocks.
    pub(super) fn joined<T: Value, I: Index>(&self, blocks: &[&[&Csr<T, I>]]) -> Result<Csr<T, I>> {
        let blocks: Vec<Vec<Cow<'_, Csr<T, I>>>> =
            blocks.iter().map(|row| row.iter().map(|a| self.in_order(a)).collect()).collect::<Result<_>>()?;
        let shapes: Vec<Vec<_>> = blocks.iter().map(|row| row.iter().map(|a| (a.shape(), a.nnz())).collect()).collect();
        let shape = concat_shape::<I>(&shapes)?;
        let parts = blocks.iter().map(|row| row.iter().map(|a| (&**a.pattern(), Slice::of(a.values()))).collect());
        let (pattern, values) = concat_blocks(self.threads(), &parts.collect::<Vec<Vec<_>>>(), shape)?;
        let values = match values.into_vec() {
            Ok(values) => values,
            // A type-erased array of structs cannot be converted back.
            Err(_) => values_by_rows(&blocks, shape.2)?,
        };
        Csr::with_pattern(Arc::new(pattern), values)
    }
    /// The square matrix whose diagonal k is v.
    pub(super) fn of_diagonal<T: Value, I: Index>(&self, v: &Vector<T, I>, k: i64) -> Result<Csr<T, I>> {
        let (indices, values) = v.to_sparse()?.into_parts();
        Csr::with_pattern(Arc::new(diagonal_pattern(v.len(), indices, k)?), values)
    }
    /// C(I, J) = A. A bitmap or full matrix is written in place, in the steps of [`assign`].
    pub(super) fn assigned<T: Value, I: Index>(
        &self,
        c: &mut Csr<T, I>,
        a: Csr<T, I>,
        part: Part<'_>,
        mask: Option<MaskSpec<'_, MatrixPattern<I>>>,
    ) -> Result<()> {
        if c.as_row_major().is_some() {
            note(|| "  in place: C is a bitmap or full".into());
            return assign(self, c, a, part, mask);
        }
        note(|| "  in one pass over the rows: rows outside the list are copied, the others merged".into());
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
    /// C(i, j) = x at the entries of a pattern.
    pub(super) fn filled<T: Value, I: Index>(&self, c: &mut Csr<T, I>, x: T, pattern: &MatrixPattern<I>) -> Result<()> {
        if c.shape() != pattern.shape() {
            return Err(Error::Shape { op: "mask", lhs: c.shape(), rhs: pattern.shape() });
        }
        let by_rows = c.settled()?.as_hyper().is_none() && c.as_row_major().is_none();
        if !by_rows || pattern.as_hyper().is_some() || pattern.as_row_major().is_some() {
            let t = self.of_pattern(pattern, x)?;
            return self.accumulate_matrix(Second::<T, T>::default(), c, t);
        }
        note(|| "  in one pass over the rows: values alone where C has all entries of the mask".into());
        let rows = pattern.rows()?;
        let rows = if rows.is_sorted() { rows } else { Cow::Owned(Arc::new(rows.sorted(self.threads())?)) };
        let made = fill_masked(self.threads(), &*self.in_order(c)?, x, &rows)?;
        c.replace(made);
        Ok(())
    }
    /// The entries selected by an operator.
    pub(super) fn selected<O: IndexUnaryOp<Out = bool>, I: Index>(
        &self,
        op: O,
        a: &Csr<O::A, I>,
        s: O::S,
    ) -> Result<Csr<O::A, I>> {
        match Some(op).filter(|_| a.nnz() >= MANY).and_then(|op| Band::of(op, s)) {
            Some(band) => {
                note(|| "  by cuts of rows: the operator reads indices alone".into());
                rearranged(self.threads(), &*self.in_order(a)?, Rearrange::Band(band))
            }
            None => ops::select(self.threads(), op, a, s),
        }
    }
    /// The matrix with `x` at the entries of a pattern, in the form of the pattern.
    pub(super) fn of_pattern<T: Value, I: Index>(&self, pattern: &MatrixPattern<I>, x: T) -> Result<Csr<T, I>> {
        if let Some(indices) = pattern.as_row_major() {
            let values = filled(indices.values(), x, "values")?;
            return Csr::from_row_major(pattern.shape(), Vector::with_pattern(Arc::clone(indices), values));
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
    /// Number of entries of each non-empty row.
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
    /// Number of entries of each non-empty column; `None` if counting by the transpose is faster, or the only way.
    pub(super) fn counted_columns<T: Value, I: Index>(&self, a: &Csr<T, I>) -> Result<Option<Vector<i64, I>>> {
        /// Columns per entry up to which a histogram over all columns is used.
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
    /// The column of the first minimum or maximum of each row.
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

fn values_by_rows<T: Value, I: Index>(blocks: &[Vec<Cow<'_, Csr<T, I>>>], nnz: usize) -> Result<Vec<T>> {
    let mut values = reserved(nnz, "values")?;
    for row in blocks {
        for i in 0..row.first().map_or(0, |a| a.nrows()) {
            row.iter().for_each(|block| values.extend_from_slice(block.row(i).1));
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::value! {
        /// Two numbers.
        pub(super) struct Two {
            /// One.
            pub(super) a: f64,
            /// The other.
            pub(super) b: u8,
        }
    }

    #[test]
    fn blocks_of_structs_are_joined() {
        let two = |b| Two { a: 0.5, b };
        let a = Csr::<Two>::new(2, 2, vec![0, 1, 3], vec![1, 0, 1], vec![two(1), two(2), two(3)]).unwrap();
        let c = Cpu::with_threads(2).unwrap().joined(&[&[&a, &a], &[&a, &a]]).unwrap();
        let found: Vec<_> = c.iter().map(|(i, j, x)| (i, j, x.b)).collect();
        let half = [(0, 1, 1), (0, 3, 1), (1, 0, 2), (1, 1, 3), (1, 2, 2), (1, 3, 3)];
        let below = half.map(|(i, j, b)| (i + 2, j, b));
        assert_eq!(found, [half, below].concat());
    }
}
