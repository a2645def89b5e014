//! Row aggregates that are not folds: count, mean, argmin and argmax.

use std::marker::PhantomData;

use super::container::Vectors;
use super::kernels::Kernels;
use super::operations::{Mask, masked};
use super::{Operation, TransposeA};
use crate::algebra::{Cast, Num, Plus, Value};
use crate::op;
use crate::{Index, Result};

op! { /// a / b, the mean of b numbers whose sum is a.
pub(super) MeanOf (a: f64, b: i64) -> f64 { a / b.cast() } }

/// An aggregate of each row: [`Count`], [`Mean`], [`ArgMin`] or [`ArgMax`].
pub trait RowAggregate<T: Value> {
    /// Type of the result.
    type Out: Value;
    #[doc(hidden)]
    const NAME: &'static str;
    #[doc(hidden)]
    fn of_rows<M: Kernels<I>, I: Index>(m: &M, a: &M::Matrix<T>) -> Result<M::Vector<Self::Out>>;
    #[doc(hidden)]
    fn of_columns<M: Kernels<I>, I: Index>(m: &M, a: &M::Matrix<T>) -> Result<M::Vector<Self::Out>> {
        Self::of_rows(m, &m.transposed(a)?)
    }
}
/// The number of entries.
#[derive(Clone, Copy, Debug)]
pub struct Count;
/// The mean of the entries.
#[derive(Clone, Copy, Debug)]
pub struct Mean;
/// The column of the minimum.
#[derive(Clone, Copy, Debug)]
pub struct ArgMin;
/// The column of the maximum.
#[derive(Clone, Copy, Debug)]
pub struct ArgMax;

impl<T: Value> RowAggregate<T> for Count {
    type Out = i64;
    const NAME: &'static str = "count_rows";
    fn of_rows<M: Kernels<I>, I: Index>(m: &M, a: &M::Matrix<T>) -> Result<M::Vector<i64>> {
        m.row_counts(a)
    }
    fn of_columns<M: Kernels<I>, I: Index>(m: &M, a: &M::Matrix<T>) -> Result<M::Vector<i64>> {
        m.column_counts(a)
    }
}
impl<T: Num> RowAggregate<T> for Mean {
    type Out = f64;
    const NAME: &'static str = "mean_rows";
    fn of_rows<M: Kernels<I>, I: Index>(m: &M, a: &M::Matrix<T>) -> Result<M::Vector<f64>> {
        let sums = m.reduce_rows_of(Plus::<f64>::new(), &m.apply_matrix(Cast::<T, f64>::new(), a)?, None)?;
        m.ewise_mult_vectors(MeanOf::new(), &sums, &m.row_counts(a)?)
    }
}
impl<T: Num> RowAggregate<T> for ArgMin {
    type Out = i64;
    const NAME: &'static str = "argmin_rows";
    fn of_rows<M: Kernels<I>, I: Index>(m: &M, a: &M::Matrix<T>) -> Result<M::Vector<i64>> {
        m.row_arg(a, false)
    }
}
impl<T: Num> RowAggregate<T> for ArgMax {
    type Out = i64;
    const NAME: &'static str = "argmax_rows";
    fn of_rows<M: Kernels<I>, I: Index>(m: &M, a: &M::Matrix<T>) -> Result<M::Vector<i64>> {
        m.row_arg(a, true)
    }
}

/// An aggregate of each non-empty row.
pub struct AggregateRows<G, T: Value, M: Kernels<I>, I: Index> {
    pub(super) a: M::Matrix<T>,
    pub(super) flip: bool,
    pub(super) of: PhantomData<G>,
}
impl<G: RowAggregate<T>, T: Value, M: Kernels<I>, I: Index> Operation<M, I> for AggregateRows<G, T, M, I> {
    type Kind = Vectors;
    type Out = G::Out;
    const NAME: &'static str = G::NAME;
    fn compute(self, m: &M, mask: Mask<'_, M::VectorPattern>) -> Result<M::Vector<G::Out>> {
        let of = if self.flip { G::of_columns(m, &self.a)? } else { G::of_rows(m, &self.a)? };
        masked::<M, I, Vectors, _>(m, of, mask)
    }
}
impl<G, T: Value, M: Kernels<I>, I: Index> TransposeA for AggregateRows<G, T, M, I> {
    fn flip_a(&mut self) {
        self.flip = !self.flip;
    }
}
