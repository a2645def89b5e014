//! [`Cpu`] as a [`Backend`]: matrices and vectors are those of the host, operations those of [`ops`].

use super::Backend;
use crate::algebra::{BinaryOp, IndexUnaryOp, Lhs, Monoid, Out, Rhs, Semiring, UnaryOp, Value};
use crate::ops::{self, VectorMask};
use crate::sparse::{Dense, SparseVec, copied};
use crate::{Cpu, Csr, Result};

/// A mask of a vector, as the operations take it.
fn vector_mask<'a>((bits, complement): (&'a Vec<bool>, bool)) -> VectorMask<'a> {
    VectorMask { bits, complement }
}

fn copy<T: Value>(x: &SparseVec<T>) -> Result<SparseVec<T>> {
    Ok(SparseVec::from_parts(x.len(), copied(x.indices(), "indices")?, copied(x.values(), "values")?))
}

/// Bit for bit the same for any number of threads. Copies of a matrix share its pattern.
impl Backend for Cpu {
    type Matrix<T: Value> = Csr<T>;
    type Dense<T: Value> = Dense<T>;
    type Vector<T: Value> = Vec<T>;
    type SparseVector<T: Value> = SparseVec<T>;

    fn upload<T: Value>(&self, a: &Csr<T>) -> Result<Csr<T>> {
        a.try_clone()
    }
    fn download<T: Value>(&self, a: &Csr<T>) -> Result<Csr<T>> {
        a.try_clone()
    }
    fn download_dense<T: Value>(&self, a: &Dense<T>) -> Result<Dense<T>> {
        Dense::new(a.nrows(), a.ncols(), copied(a.values(), "a dense matrix")?)
    }
    fn upload_vec<T: Value>(&self, x: &[T]) -> Result<Vec<T>> {
        copied(x, "a dense vector")
    }
    fn download_vec<T: Value>(&self, x: &Vec<T>) -> Result<Vec<T>> {
        copied(x, "a dense vector")
    }
    fn upload_sparse<T: Value>(&self, x: &SparseVec<T>) -> Result<SparseVec<T>> {
        copy(x)
    }
    fn download_sparse<T: Value>(&self, x: &SparseVec<T>) -> Result<SparseVec<T>> {
        copy(x)
    }

    fn shape<T: Value>(&self, a: &Csr<T>) -> (usize, usize) {
        a.shape()
    }
    fn nnz<T: Value>(&self, a: &Csr<T>) -> usize {
        a.nnz()
    }
    fn nnz_sparse<T: Value>(&self, x: &SparseVec<T>) -> usize {
        x.nnz()
    }

    fn mxm<R: Semiring, S: Value>(
        &self,
        ring: R,
        a: &Csr<Lhs<R>>,
        b: &Csr<Rhs<R>>,
        mask: Option<(&Csr<S>, bool)>,
    ) -> Result<Csr<Out<R>>> {
        let product = Cpu::mxm(self, ring, a, b);
        match mask {
            None => product.eval(),
            Some((mask, false)) => product.mask(mask.pattern()).eval(),
            Some((mask, true)) => product.mask(mask.pattern()).complement().eval(),
        }
    }
    fn mxv<R: Semiring>(
        &self,
        ring: R,
        a: &Csr<Lhs<R>>,
        x: &Vec<Rhs<R>>,
        mask: Option<(&Vec<bool>, bool)>,
    ) -> Result<Vec<Out<R>>> {
        ops::mxv(self.threads(), ring, a, x, mask.map(vector_mask))
    }
    fn vxm<R: Semiring>(
        &self,
        ring: R,
        x: &SparseVec<Lhs<R>>,
        a: &Csr<Rhs<R>>,
        mask: Option<(&Vec<bool>, bool)>,
    ) -> Result<SparseVec<Out<R>>> {
        ops::vxm(self.threads(), ring, x, a, mask.map(vector_mask))
    }

    fn ewise_union<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(
        &self,
        op: O,
        a: &Csr<T>,
        b: &Csr<T>,
    ) -> Result<Csr<T>> {
        ops::ewise_union(self.threads(), op, a, b)
    }
    fn ewise_intersection<O: BinaryOp>(&self, op: O, a: &Csr<O::A>, b: &Csr<O::B>) -> Result<Csr<O::Out>> {
        ops::ewise_intersection(self.threads(), op, a, b)
    }
    fn apply<O: UnaryOp>(&self, op: O, a: &Csr<O::A>) -> Result<Csr<O::Out>> {
        ops::apply(self.threads(), op, a)
    }
    fn select<O: IndexUnaryOp<Out = bool>>(&self, op: O, a: &Csr<O::A>, s: O::S) -> Result<Csr<O::A>> {
        ops::select(self.threads(), op, a, s)
    }
    fn reduce_rows<M: Monoid>(&self, monoid: M, a: &Csr<M::Out>) -> Result<Vec<M::Out>> {
        ops::reduce_rows(self.threads(), monoid, a)
    }
    fn reduce<M: Monoid>(&self, monoid: M, a: &Csr<M::Out>) -> Result<M::Out> {
        ops::reduce(self.threads(), monoid, a)
    }
    fn transpose<T: Value>(&self, a: &Csr<T>) -> Result<Csr<T>> {
        a.transpose(self.threads())
    }
    fn assign<T: Value, S: Value>(&self, w: &mut Vec<T>, places: &SparseVec<S>, x: T) -> Result<()> {
        ops::assign(w, places, x)
    }
}
