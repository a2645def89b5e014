//! Y ⊙= A ⊕.⊗ X, X and Y dense: a sparse matrix times a tall dense one.

use std::marker::PhantomData;

use super::kernels::Kernels;
use super::operations::flipped;
use super::write::{Accum, Plain};
use crate::algebra::{BinaryOp, Lhs, Out, Rhs, Semiring};
use crate::par::explained;
use crate::{Index, Result};

/// A builder for A ⊕.⊗ X. The result is dense, so there is no mask.
#[must_use = "nothing is computed before eval() or into()"]
pub struct Spmm<'m, R: Semiring, M: Kernels<I>, I: Index, A = Plain> {
    pub(super) machine: &'m M,
    pub(super) ring: R,
    pub(super) a: M::Matrix<Lhs<R>>,
    pub(super) x: &'m M::Dense<Rhs<R>>,
    pub(super) flip: bool,
    pub(super) accum: A,
    pub(super) index: PhantomData<I>,
}

impl<'m, R: Semiring, M: Kernels<I>, I: Index> Spmm<'m, R, M, I> {
    /// Accumulates the result by ⊙: y = y ⊙ t, elementwise.
    pub fn accum<O: BinaryOp<A = Out<R>, B = Out<R>, Out = Out<R>>>(self, op: O) -> Spmm<'m, R, M, I, Accum<O>> {
        let Self { machine, ring, a, x, flip, index, .. } = self;
        Spmm { machine, ring, a, x, flip, accum: Accum(op), index }
    }
    /// The result, a new dense matrix.
    /// # Errors
    /// See [`Backend`](super::Backend); [`Error::Shape`](crate::Error::Shape).
    pub fn eval(self) -> Result<M::Dense<Out<R>>> {
        self.product()
    }
    /// The result, and a description of the computation, as [`Build::explain`](super::Build::explain) gives it.
    /// # Errors
    /// Those of [`eval`](Self::eval).
    pub fn explain(self) -> Result<(M::Dense<Out<R>>, String)> {
        let (made, how) = explained(|| self.eval());
        Ok((made?, how))
    }
    /// Overwrites `y` with the result. On the CPU, `PlusTimes` of f32 and f64 allocates no memory.
    /// # Errors
    /// Those of [`eval`](Self::eval); [`Error::Shape`](crate::Error::Shape) if `y` has another shape. After
    /// [`Error::Cancelled`](crate::Error::Cancelled) some values may be overwritten.
    pub fn into(self, y: &mut M::Dense<Out<R>>) -> Result<()> {
        let Self { machine, ring, a, x, flip, .. } = self;
        machine.spmm_product_into(ring, &flipped(machine, a, flip)?, x, y)
    }
}
impl<R: Semiring, M: Kernels<I>, I: Index, A> Spmm<'_, R, M, I, A> {
    /// Transposes A.
    pub fn transpose_a(mut self) -> Self {
        self.flip = !self.flip;
        self
    }
    fn product(self) -> Result<M::Dense<Out<R>>> {
        self.machine.spmm_product(self.ring, &flipped(self.machine, self.a, self.flip)?, self.x)
    }
}
impl<R: Semiring, M: Kernels<I>, I: Index, O> Spmm<'_, R, M, I, Accum<O>>
where
    O: BinaryOp<A = Out<R>, B = Out<R>, Out = Out<R>>,
{
    /// y = y ⊙ (A ⊕.⊗ X).
    /// # Errors
    /// See [`Backend`](super::Backend); [`Error::Shape`](crate::Error::Shape) if `y` has another shape.
    pub fn into(self, y: &mut M::Dense<Out<R>>) -> Result<()> {
        let (m, op) = (self.machine, self.accum.0);
        let t = self.product()?;
        let (lhs, rhs) = (m.dense_shape(y), m.dense_shape(&t));
        if lhs != rhs {
            return Err(crate::Error::Shape { op: "spmm", lhs, rhs });
        }
        m.accumulate_dense(op, y, t)
    }
}
