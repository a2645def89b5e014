//! [`Cuda`] as a [`Backend`]: matrices and vectors are those of the device, operations those of the files beside this
//! one.

use super::{Cuda, DeviceCsr, DeviceDense, DeviceSparseVec, DeviceVec};
use crate::algebra::{BinaryOp, IndexUnaryOp, Lhs, Monoid, Out, Rhs, Semiring, UnaryOp, Value};
use crate::backend::Backend;
use crate::sparse::{Dense, SparseVec};
use crate::{Csr, Result};

/// The results of [`Cpu`](crate::Cpu), and the same in every run. They are its bits as well, except where floats are
/// folded as a tree: [`mxv`](Cuda::mxv), [`reduce_rows`](Cuda::reduce_rows) for long rows, [`reduce`](Cuda::reduce),
/// the norms in distances; and where [`apply`](Cuda::apply) has functions such as `exp`. [`Any`](crate::algebra::Any) gives a value that is
/// there, perhaps another one.
///
/// The methods are those that [`Cuda`] has under the same names, where the documentation of each is; `mxm` is the chain
/// of [`Cuda::mxm`], evaluated.
impl Backend for Cuda {
    type Matrix<T: Value> = DeviceCsr<T>;
    type Dense<T: Value> = DeviceDense<T>;
    type Vector<T: Value> = DeviceVec<T>;
    type SparseVector<T: Value> = DeviceSparseVec<T>;

    fn upload<T: Value>(&self, a: &Csr<T>) -> Result<DeviceCsr<T>> {
        Cuda::upload(self, a)
    }
    fn download<T: Value>(&self, a: &DeviceCsr<T>) -> Result<Csr<T>> {
        Cuda::download(self, a)
    }
    fn download_dense<T: Value>(&self, a: &DeviceDense<T>) -> Result<Dense<T>> {
        Cuda::download_dense(self, a)
    }
    fn upload_vec<T: Value>(&self, x: &[T]) -> Result<DeviceVec<T>> {
        Cuda::upload_vec(self, x)
    }
    fn download_vec<T: Value>(&self, x: &DeviceVec<T>) -> Result<Vec<T>> {
        Cuda::download_vec(self, x)
    }
    fn upload_sparse<T: Value>(&self, x: &SparseVec<T>) -> Result<DeviceSparseVec<T>> {
        Cuda::upload_sparse(self, x)
    }
    fn download_sparse<T: Value>(&self, x: &DeviceSparseVec<T>) -> Result<SparseVec<T>> {
        Cuda::download_sparse(self, x)
    }

    fn shape<T: Value>(&self, a: &DeviceCsr<T>) -> (usize, usize) {
        a.shape()
    }
    fn nnz<T: Value>(&self, a: &DeviceCsr<T>) -> usize {
        a.nnz()
    }
    fn nnz_sparse<T: Value>(&self, x: &DeviceSparseVec<T>) -> usize {
        x.nnz()
    }

    fn mxm<R: Semiring, S: Value>(
        &self,
        ring: R,
        a: &DeviceCsr<Lhs<R>>,
        b: &DeviceCsr<Rhs<R>>,
        mask: Option<(&DeviceCsr<S>, bool)>,
    ) -> Result<DeviceCsr<Out<R>>> {
        let product = Cuda::mxm(self, ring, a, b);
        match mask {
            None => product.eval(),
            Some((mask, false)) => product.mask(mask).eval(),
            Some((mask, true)) => product.mask(mask).complement().eval(),
        }
    }
    fn mxv<R: Semiring>(
        &self,
        ring: R,
        a: &DeviceCsr<Lhs<R>>,
        x: &DeviceVec<Rhs<R>>,
        mask: Option<(&DeviceVec<bool>, bool)>,
    ) -> Result<DeviceVec<Out<R>>> {
        Cuda::mxv(self, ring, a, x, mask)
    }
    fn vxm<R: Semiring>(
        &self,
        ring: R,
        x: &DeviceSparseVec<Lhs<R>>,
        a: &DeviceCsr<Rhs<R>>,
        mask: Option<(&DeviceVec<bool>, bool)>,
    ) -> Result<DeviceSparseVec<Out<R>>> {
        Cuda::vxm(self, ring, x, a, mask)
    }

    fn ewise_union<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(
        &self,
        op: O,
        a: &DeviceCsr<T>,
        b: &DeviceCsr<T>,
    ) -> Result<DeviceCsr<T>> {
        Cuda::ewise_union(self, op, a, b)
    }
    fn ewise_intersection<O: BinaryOp>(
        &self,
        op: O,
        a: &DeviceCsr<O::A>,
        b: &DeviceCsr<O::B>,
    ) -> Result<DeviceCsr<O::Out>> {
        Cuda::ewise_intersection(self, op, a, b)
    }
    fn apply<O: UnaryOp>(&self, op: O, a: &DeviceCsr<O::A>) -> Result<DeviceCsr<O::Out>> {
        Cuda::apply(self, op, a)
    }
    fn select<O: IndexUnaryOp<Out = bool>>(&self, op: O, a: &DeviceCsr<O::A>, s: O::S) -> Result<DeviceCsr<O::A>> {
        Cuda::select(self, op, a, s)
    }
    fn reduce_rows<M: Monoid>(&self, monoid: M, a: &DeviceCsr<M::Out>) -> Result<DeviceVec<M::Out>> {
        Cuda::reduce_rows(self, monoid, a)
    }
    fn reduce<M: Monoid>(&self, monoid: M, a: &DeviceCsr<M::Out>) -> Result<M::Out> {
        Cuda::reduce(self, monoid, a)
    }
    fn transpose<T: Value>(&self, a: &DeviceCsr<T>) -> Result<DeviceCsr<T>> {
        Cuda::transpose(self, a)
    }
    fn assign<T: Value, S: Value>(&self, w: &mut DeviceVec<T>, places: &DeviceSparseVec<S>, x: T) -> Result<()> {
        Cuda::assign(self, w, places, x)
    }
}
