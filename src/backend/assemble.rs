//! Splitting into blocks, resizing, diagonals, and scatters with repeated indices.

use super::container::{Matrices, Vectors};
use super::indices::{Indices, list_of};
use super::kernels::Kernels;
use super::operations::{Mask, masked};
use super::{Operation, TransposeA};
use crate::algebra::{Monoid, Value};
use crate::ops::block_ranges;
use crate::pattern::check_ncols;
use crate::sparse::IndexList;
use crate::{Index, Result};

/// T(i) = u(p) ⊕ u(q) ⊕ … over the p, q, … with indices(p) = indices(q) = … = i.
pub struct Scatter<'i, P: Monoid, M: Kernels<I>, I: Index> {
    pub(super) monoid: P,
    pub(super) u: M::Vector<P::Out>,
    pub(super) indices: Indices<'i, I>,
    pub(super) len: usize,
}
impl<P: Monoid, M: Kernels<I>, I: Index> Operation<M, I> for Scatter<'_, P, M, I> {
    type Kind = Vectors;
    type Out = P::Out;
    const NAME: &'static str = "scatter";
    fn compute(self, m: &M, mask: Mask<'_, M::VectorPattern>) -> Result<M::Vector<P::Out>> {
        let indices = self.indices.resolve(self.len)?;
        m.scatter_fold(self.monoid, &self.u, (&indices, self.len), mask)
    }
}

/// The square matrix whose diagonal k is v.
pub struct DiagMatrix<T: Value, M: Kernels<I>, I: Index> {
    pub(super) v: M::Vector<T>,
    pub(super) k: i64,
}
impl<T: Value, M: Kernels<I>, I: Index> Operation<M, I> for DiagMatrix<T, M, I> {
    type Kind = Matrices;
    type Out = T;
    const NAME: &'static str = "diag";
    fn compute(self, m: &M, mask: Mask<'_, M::Pattern>) -> Result<M::Matrix<T>> {
        masked::<M, I, Matrices, T>(m, m.diagonal_matrix(&self.v, self.k)?, mask)
    }
}

/// The diagonal k as a vector.
pub struct Diagonal<T: Value, M: Kernels<I>, I: Index> {
    pub(super) a: M::Matrix<T>,
    pub(super) k: i64,
}
impl<T: Value, M: Kernels<I>, I: Index> Operation<M, I> for Diagonal<T, M, I> {
    type Kind = Vectors;
    type Out = T;
    const NAME: &'static str = "diagonal";
    fn compute(self, m: &M, mask: Mask<'_, M::VectorPattern>) -> Result<M::Vector<T>> {
        masked::<M, I, Vectors, T>(m, m.diagonal_of(&self.a, self.k)?, mask)
    }
}
impl<T: Value, M: Kernels<I>, I: Index> TransposeA for Diagonal<T, M, I> {
    /// Diagonal k of Aᵀ is diagonal −k of A.
    fn flip_a(&mut self) {
        self.k = self.k.wrapping_neg();
    }
}

/// The blocks with these numbers of rows and columns.
pub(super) fn split<M: Kernels<I>, I: Index, T: Value>(
    m: &M,
    a: &M::Matrix<T>,
    (nrows, ncols): (&[usize], &[usize]),
) -> Result<Vec<Vec<M::Matrix<T>>>> {
    let shape = m.shape(a);
    let (rows, cols) = (block_ranges("nrows", nrows, shape.0)?, block_ranges("ncols", ncols, shape.1)?);
    rows.iter().map(|rows| cols.iter().map(|cols| m.extract_part(a, (rows, cols))).collect()).collect()
}

/// The matrix resized to another shape.
pub(super) fn resize<M: Kernels<I>, I: Index, T: Value>(
    m: &M,
    a: &M::Matrix<T>,
    shape: (usize, usize),
) -> Result<M::Matrix<T>> {
    check_ncols::<I>(shape.1)?;
    let (nrows, ncols) = m.shape(a);
    let (rows, cols) = (IndexList::from(0..nrows.min(shape.0)), IndexList::from(0..ncols.min(shape.1)));
    let mut made = a.clone();
    if shape.0 < nrows || shape.1 < ncols {
        made = m.extract_part(&made, (&rows, &cols))?;
    }
    if shape.0 > nrows || shape.1 > ncols {
        made = m.place_part(&made, (&rows, &cols), shape)?;
    }
    Ok(made)
}

/// The vector resized to another length.
pub(super) fn resize_vector<M: Kernels<I>, I: Index, T: Value>(
    m: &M,
    v: &M::Vector<T>,
    len: usize,
) -> Result<M::Vector<T>> {
    check_ncols::<I>(len)?;
    let now = m.len(v);
    let list = list_of::<I>(&IndexList::from(0..now.min(len)), "indices", now)?;
    if len < now { m.extract_vector(v, &list) } else { m.scatter_vector(v, &list, len) }
}
