//! Building from entries with 64-bit indices, reading them, and edits of single ones.

use super::labels::{Labels, check_dimension, is_wide};
use super::object::{Inner, Wide};
use super::relabel::entries;
use crate::algebra::{Array, Type};
use crate::par::{Threads, collected, copied};
use crate::runtime::cast::check_exact;
use crate::runtime::engine::Object;
use crate::runtime::{BinaryOp, Machine, Matrix, Scalar, Vector};
use crate::{Cpu, Error, Result};

/// The used indices of a dimension and the rank of each given index; in a dimension that is not wide, all of them and
/// the index itself.
fn ranked(axis: &'static str, indices: &[usize], n: usize) -> Result<(Labels, Vec<u32>)> {
    if let Some(position) = indices.iter().position(|&i| i >= n) {
        return Err(Error::IndexRange { axis, position, index: indices[position] as u128, bound: n });
    }
    let labels = if is_wide(n) { Labels::of(copied(indices, "used indices")?)? } else { Labels::default() };
    let ranks = indices.iter().filter_map(|&i| labels.rank(i)).map(|rank| rank as u32);
    let ranks = collected(indices.len(), ranks, "ranks of indices")?;
    Ok((labels, ranks))
}

impl Matrix {
    /// [`build`](Self::build) from indices of 64 bits: the nrows × ncols matrix of these entries, in any order. A
    /// dimension may be up to 2⁶⁰; its memory is that of the entries.
    ///
    /// Cost: O(n log n) for n entries.
    /// ```
    /// use sparring::algebra::{Array, Type};
    /// use sparring::par::Threads;
    /// use sparring::runtime::{Machine, Matrix, Semiring};
    /// use sparring::Cpu;
    /// let (n, threads) = (1 << 60, Threads::new(1)?);
    /// let entries = (vec![0, n - 1], vec![n - 1, 7], Array::of(vec![2.0, 3.0]));
    /// let a = Matrix::build_wide(&threads, (n, n), entries, None)?;
    /// let c = Machine::from(Cpu::new()).mxm(&Semiring::new("plus_times", Type::F64)?, &a, &a)?;
    /// assert_eq!((c.shape(), c.get(0, 7)?), ((n, n), Some(6.0.into())));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// Those of [`build`](Self::build); [`Error::IndexOverflow`] for a dimension beyond 2⁶⁰.
    pub fn build_wide(
        threads: &Threads,
        shape: (usize, usize),
        (rows, cols, values): (Vec<usize>, Vec<usize>, Array),
        dup: Option<&BinaryOp>,
    ) -> Result<Self> {
        Self::of_indices(shape, (&rows, &cols), |shape, rows, cols| {
            Self::build(threads, shape, (rows, cols, values), dup)
        })
    }
    /// [`from_coo`](Self::from_coo) with indices of 64 bits, for dimensions up to 2⁶⁰.
    /// # Errors
    /// Those of [`from_coo`](Self::from_coo); [`Error::IndexOverflow`] for a dimension beyond 2⁶⁰.
    pub fn from_coo_wide(
        threads: &Threads,
        shape: (usize, usize),
        (rows, cols): (&[usize], &[usize]),
        values: Array,
    ) -> Result<Self> {
        Self::of_indices(shape, (rows, cols), |(m, n), rows, cols| Self::from_coo(threads, m, n, rows, cols, values))
    }
    /// The matrix of entries at these indices, from that of their ranks.
    pub(in crate::runtime) fn of_indices(
        (nrows, ncols): (usize, usize),
        (rows, cols): (&[usize], &[usize]),
        make: impl FnOnce((usize, usize), Vec<u32>, Vec<u32>) -> Result<Self>,
    ) -> Result<Self> {
        check_dimension("number of rows", nrows as u128)?;
        check_dimension("number of columns", ncols as u128)?;
        let ((of_rows, rows), (of_cols, cols)) = (ranked("row", rows, nrows)?, ranked("column", cols, ncols)?);
        let made = make((of_rows.len(nrows), of_cols.len(ncols)), rows, cols).map_err(|e| match e {
            Error::Duplicate { row, column } => {
                Error::Duplicate { row: of_rows.index(row), column: of_cols.index(column) }
            }
            e => e,
        })?;
        let labels = [of_rows, of_cols];
        Wide { shape: (nrows, ncols), labels, inner: Inner::Matrix(made) }.into_object()?.try_into()
    }
    /// [`extract_tuples`](Self::extract_tuples) with indices of 64 bits: rows, columns and values of the entries, row
    /// by row.
    /// # Errors
    /// Those of [`extract_tuples`](Self::extract_tuples).
    pub fn extract_tuples_wide(&self) -> Result<(Vec<usize>, Vec<usize>, Array)> {
        let all = Labels::default;
        let (labels, inner) = match Wide::of(self) {
            Some(wide) => (wide.labels.clone(), wide.matrix()?),
            None => ([all(), all()], self),
        };
        let (rows, cols, values) = inner.extract_tuples()?;
        Ok((labels[0].indices(&rows)?, labels[1].indices(&cols)?, values))
    }
    /// The empty matrix, if a dimension is wide.
    pub(in crate::runtime) fn empty_wide(ty: Type, shape: (usize, usize)) -> Option<Result<Self>> {
        let make = |(m, n): (usize, usize), _, _| Self::empty(ty, m, n);
        (is_wide(shape.0) || is_wide(shape.1)).then(|| Self::of_indices(shape, (&[], &[]), make))
    }
    /// Sets or removes the entry at (i, j) of a wide matrix.
    pub(in crate::runtime) fn edit_wide(&mut self, i: usize, j: usize, x: Option<&Scalar>) -> Option<Result<()>> {
        let (there, nnz) = self.remote_mut()?;
        let wide = there.as_any_mut().downcast_mut::<Wide>()?;
        Some(wide.edit([i, j], x).and_then(|()| {
            *nnz = wide.inner.nnz()?;
            Ok(())
        }))
    }
}

impl Vector {
    /// The vector of entries at these indices, from that of their ranks.
    pub(in crate::runtime) fn of_indices(
        len: usize,
        indices: &[usize],
        make: impl FnOnce(usize, Vec<u32>) -> Result<Self>,
    ) -> Result<Self> {
        check_dimension("length", len as u128)?;
        let (labels, ranks) = ranked("vector", indices, len)?;
        let made = make(labels.len(len), ranks).map_err(|e| match e {
            Error::RepeatedIndex { list, index } => Error::RepeatedIndex { list, index: labels.index(index) },
            Error::Duplicate { row, column } => Error::Duplicate { row, column: labels.index(column) },
            e => e,
        })?;
        let labels = [labels, Labels::default()];
        Wide { shape: (len, 1), labels, inner: Inner::Vector(made) }.into_object()?.try_into()
    }
    /// [`from_coo`](Self::from_coo) with indices of 64 bits, for lengths up to 2⁶⁰.
    /// # Errors
    /// Those of [`from_coo`](Self::from_coo); [`Error::IndexOverflow`] for a length beyond 2⁶⁰.
    pub fn from_coo_wide(threads: &Threads, len: usize, indices: Vec<usize>, values: Array) -> Result<Self> {
        Self::of_indices(len, &indices, |len, ranks| Self::from_coo(threads, len, ranks, values))
    }
    /// [`extract_tuples`](Self::extract_tuples) with indices of 64 bits, for lengths up to 2⁶⁰.
    /// # Errors
    /// Those of [`extract_tuples`](Self::extract_tuples).
    /// ```
    /// use sparring::algebra::Array;
    /// use sparring::par::Threads;
    /// use sparring::runtime::Vector;
    /// let (n, threads) = (1 << 60, Threads::new(1)?);
    /// let x = Vector::build(&threads, n, (vec![n - 1, 3], Array::of(vec![5i8, 6])), None)?;
    /// assert_eq!((x.len(), x.extract_tuples_wide()?.0), (n, vec![3, n - 1]));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn extract_tuples_wide(&self) -> Result<(Vec<usize>, Array)> {
        let (labels, inner) = match Wide::of(self) {
            Some(wide) => (wide.labels[0].clone(), wide.vector()?),
            None => (Labels::default(), self),
        };
        let (indices, values) = inner.entries()?;
        Ok((labels.indices(&indices)?, values))
    }
    /// The empty vector, if its length is wide.
    pub(in crate::runtime) fn empty_wide(ty: Type, len: usize) -> Option<Result<Self>> {
        is_wide(len).then(|| Self::of_indices(len, &[], |len, _| Self::empty(ty, len)))
    }
    /// Sets or removes the entry at an index of a wide vector.
    pub(in crate::runtime) fn edit_wide(&mut self, i: usize, x: Option<&Scalar>) -> Option<Result<()>> {
        Some(self.remote_mut()?.as_any_mut().downcast_mut::<Wide>()?.edit([i, 0], x))
    }
}

impl Wide {
    /// The value at an index of the shape.
    pub(in crate::runtime) fn get(&self, [i, j]: [usize; 2]) -> Result<Option<Scalar>> {
        match (self.labels[0].rank(i), self.labels[1].rank(j), &self.inner) {
            (Some(r), Some(c), Inner::Matrix(a)) => a.get(r, c),
            (Some(r), _, Inner::Vector(x)) => x.get(r),
            _ => Ok(None),
        }
    }
    /// Sets or removes the entry at an index of the shape.
    ///
    /// Cost: that of the inner object, and O(entries) if a row or a column is used for the first time.
    fn edit(&mut self, [i, j]: [usize; 2], x: Option<&Scalar>) -> Result<()> {
        if x.is_some() {
            let labels = [self.labels[0].with(i)?, self.labels[1].with(j)?];
            if labels != self.labels {
                let host = Machine::from(Cpu::new());
                let inner = self.relabeled(&host, [&labels[0], &labels[1]])?;
                (self.inner, self.labels) = (inner.operand()?.into(), labels);
            }
        }
        let (Some(r), Some(c)) = (self.labels[0].rank(i), self.labels[1].rank(j)) else { return Ok(()) };
        match (&mut self.inner, x) {
            (Inner::Matrix(a), Some(x)) => a.set(r, c, x.clone()),
            (Inner::Matrix(a), None) => a.remove(r, c),
            (Inner::Vector(v), Some(x)) => v.set(r, x.clone()),
            (Inner::Vector(v), None) => v.remove(r),
        }
    }
    /// The object with values of another type, by the rules of [`Matrix::cast`], or of [`Matrix::wrapping_cast`].
    pub(in crate::runtime) fn cast(&self, ty: Type, wraps: bool) -> Result<Object> {
        if !wraps {
            let (rows, cols, values) = entries(self.inner.operand())?;
            check_exact(values.slice(), ty, |p| {
                let (i, j) = (self.labels[0].index(rows[p] as usize), self.labels[1].index(cols[p] as usize));
                match self.inner {
                    Inner::Matrix(_) => format!("entry {:?}, ", (i, j)),
                    Inner::Vector(_) => format!("entry {i}, "),
                }
            })?;
        }
        self.with(match &self.inner {
            Inner::Matrix(a) => a.wrapping_cast(ty)?.into(),
            Inner::Vector(x) => x.wrapping_cast(ty)?.into(),
        })
    }
}
