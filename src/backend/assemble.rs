//! Block concatenation and splitting, resizing, diagonals, and scatters with repeated indices.

use std::sync::Arc;

use super::Backend;
use super::container::{Matrices, Vectors};
use super::indices::{Indices, list_of};
use super::operations::{Mask, masked};
use super::{Operation, TransposeA};
use crate::algebra::{Monoid, Slice, Value};
use crate::ops::{block_ranges, concat_blocks, concat_shape, diagonal_pattern};
use crate::par::{Threads, reserved};
use crate::pattern::check_ncols;
use crate::sparse::IndexList;
use crate::{Csr, Index, Result};

/// T(i) = u(p) ⊕ u(q) ⊕ … over the p, q, … with indices(p) = indices(q) = … = i.
pub struct Scatter<'i, P: Monoid, M: Backend<I>, I: Index> {
    pub(super) monoid: P,
    pub(super) u: M::Vector<P::Out>,
    pub(super) indices: Indices<'i, I>,
    pub(super) len: usize,
}
impl<P: Monoid, M: Backend<I>, I: Index> Operation<M, I> for Scatter<'_, P, M, I> {
    type Kind = Vectors;
    type Out = P::Out;
    const NAME: &'static str = "scatter";
    fn compute(self, m: &M, mask: Mask<'_, M::VectorPattern>) -> Result<M::Vector<P::Out>> {
        let indices = self.indices.resolve(self.len)?;
        m.scatter_fold(self.monoid, &self.u, (&indices, self.len), mask)
    }
}

/// The square matrix whose diagonal k is v.
pub struct DiagMatrix<T: Value, M: Backend<I>, I: Index> {
    pub(super) v: M::Vector<T>,
    pub(super) k: i64,
}
impl<T: Value, M: Backend<I>, I: Index> Operation<M, I> for DiagMatrix<T, M, I> {
    type Kind = Matrices;
    type Out = T;
    const NAME: &'static str = "diag";
    fn compute(self, m: &M, mask: Mask<'_, M::Pattern>) -> Result<M::Matrix<T>> {
        masked::<M, I, Matrices, T>(m, m.diagonal_matrix(&self.v, self.k)?, mask)
    }
}

/// The diagonal k as a vector.
pub struct Diagonal<T: Value, M: Backend<I>, I: Index> {
    pub(super) a: M::Matrix<T>,
    pub(super) k: i64,
}
impl<T: Value, M: Backend<I>, I: Index> Operation<M, I> for Diagonal<T, M, I> {
    type Kind = Vectors;
    type Out = T;
    const NAME: &'static str = "diagonal";
    fn compute(self, m: &M, mask: Mask<'_, M::VectorPattern>) -> Result<M::Vector<T>> {
        masked::<M, I, Vectors, T>(m, m.diagonal_of(&self.a, self.k)?, mask)
    }
}
impl<T: Value, M: Backend<I>, I: Index> TransposeA for Diagonal<T, M, I> {
    /// Diagonal k of Aᵀ is diagonal −k of A.
    fn flip_a(&mut self) {
        self.k = self.k.wrapping_neg();
    }
}

/// The square matrix whose diagonal k is v, assembled in host memory.
pub(super) fn diagonal_matrix<M: Backend<I>, I: Index, T: Value>(
    m: &M,
    v: &M::Vector<T>,
    k: i64,
) -> Result<M::Matrix<T>> {
    let here = m.download_vector(v)?;
    let (indices, values) = here.to_sparse()?.into_parts();
    m.upload(&Csr::with_pattern(Arc::new(diagonal_pattern(here.len(), indices, k)?), values)?)
}

/// The block matrix of these rows of blocks, assembled in host memory.
pub(super) fn concat<M: Backend<I>, I: Index, T: Value>(m: &M, blocks: &[&[&M::Matrix<T>]]) -> Result<M::Matrix<T>> {
    let threads = Threads::current();
    let here = |a: &&M::Matrix<T>| {
        let a = m.download(*a)?;
        if a.compressed()?.pattern().is_sorted() { Ok(a) } else { a.sorted(&threads) }
    };
    let here: Vec<Vec<Csr<T, I>>> = blocks.iter().map(|row| row.iter().map(here).collect()).collect::<Result<_>>()?;
    let of_all = |a: &Csr<T, I>| (a.shape(), a.nnz());
    let shapes: Vec<Vec<_>> = here.iter().map(|row| row.iter().map(of_all).collect()).collect();
    let shape = concat_shape::<I>(&shapes)?;
    let blocks = here.iter().map(|row| row.iter().map(|a| (&**a.pattern(), Slice::of(a.values()))).collect());
    let (pattern, values) = concat_blocks(&threads, &blocks.collect::<Vec<Vec<_>>>(), shape)?;
    let values = match values.into_vec() {
        Ok(values) => values,
        // A type-erased array of structs cannot be converted back.
        Err(_) => values_by_rows(&here, shape.2)?,
    };
    m.upload(&Csr::with_pattern(Arc::new(pattern), values)?)
}
fn values_by_rows<T: Value, I: Index>(blocks: &[Vec<Csr<T, I>>], nnz: usize) -> Result<Vec<T>> {
    let mut values = reserved(nnz, "values")?;
    for row in blocks {
        for i in 0..row.first().map_or(0, Csr::nrows) {
            row.iter().for_each(|block| values.extend_from_slice(block.row(i).1));
        }
    }
    Ok(values)
}

/// The blocks with these numbers of rows and columns.
pub(super) fn split<M: Backend<I>, I: Index, T: Value>(
    m: &M,
    a: &M::Matrix<T>,
    (nrows, ncols): (&[usize], &[usize]),
) -> Result<Vec<Vec<M::Matrix<T>>>> {
    let shape = m.shape(a);
    let (rows, cols) = (block_ranges("nrows", nrows, shape.0)?, block_ranges("ncols", ncols, shape.1)?);
    rows.iter().map(|rows| cols.iter().map(|cols| m.extract_part(a, (rows, cols))).collect()).collect()
}

/// The matrix resized to another shape.
pub(super) fn resize<M: Backend<I>, I: Index, T: Value>(
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
pub(super) fn resize_vector<M: Backend<I>, I: Index, T: Value>(
    m: &M,
    v: &M::Vector<T>,
    len: usize,
) -> Result<M::Vector<T>> {
    check_ncols::<I>(len)?;
    let now = m.len(v);
    let list = list_of::<I>(&IndexList::from(0..now.min(len)), "indices", now)?;
    if len < now { m.extract_vector(v, &list) } else { m.scatter_vector(v, &list, len) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cpu;

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
        let c = Backend::<u32>::concat(&Cpu::with_threads(2).unwrap(), &[&[&a, &a], &[&a, &a]]).unwrap();
        let found: Vec<_> = c.iter().map(|(i, j, x)| (i, j, x.b)).collect();
        let half = [(0, 1, 1), (0, 3, 1), (1, 0, 2), (1, 1, 3), (1, 2, 2), (1, 3, 3)];
        let below = half.map(|(i, j, b)| (i + 2, j, b));
        assert_eq!(found, [half, below].concat());
    }
}
