//! Numbers that tell of the entries of each row: how many, their mean, where the least and the greatest stand.

use std::marker::PhantomData;

use super::container::{Container, Vectors};
use super::operations::{Mask, flipped, masked};
use super::{Backend, Operation, TransposeA};
use crate::algebra::{Cast, ColIndex, Equal, Lor, Max, Min, Monoid, Num, Plus, Ring, Value, ValueEq};
use crate::op;
use crate::spgemm::Options;
use crate::{Index, Result};

op! { /// a / b, the mean of b numbers whose sum is a.
pub(super) MeanOf (a: f64, b: i64) -> f64 { a / b.cast() } }

/// What is told of each row: [`Count`], [`Mean`], [`ArgMin`] or [`ArgMax`].
pub trait RowAggregate<T: Value> {
    /// Type of the number.
    type Out: Value;
    #[doc(hidden)]
    const NAME: &'static str;
    #[doc(hidden)]
    fn of_rows<M: Backend<I>, I: Index>(m: &M, a: &M::Matrix<T>) -> Result<M::Vector<Self::Out>>;
}
/// How many entries a row has.
#[derive(Clone, Copy, Debug)]
pub struct Count;
/// Their sum over their number.
#[derive(Clone, Copy, Debug)]
pub struct Mean;
/// The column of the least one.
#[derive(Clone, Copy, Debug)]
pub struct ArgMin;
/// The column of the greatest one.
#[derive(Clone, Copy, Debug)]
pub struct ArgMax;

impl<T: Value> RowAggregate<T> for Count {
    type Out = i64;
    const NAME: &'static str = "count_rows";
    fn of_rows<M: Backend<I>, I: Index>(m: &M, a: &M::Matrix<T>) -> Result<M::Vector<i64>> {
        m.row_counts(a)
    }
}
impl<T: Num> RowAggregate<T> for Mean {
    type Out = f64;
    const NAME: &'static str = "mean_rows";
    fn of_rows<M: Backend<I>, I: Index>(m: &M, a: &M::Matrix<T>) -> Result<M::Vector<f64>> {
        let sums = m.reduce_rows_of(Plus::<f64>::new(), &m.apply_matrix(Cast::<T, f64>::new(), a)?, None)?;
        m.ewise_mult_vectors(MeanOf::new(), &sums, &m.row_counts(a)?)
    }
}
impl<T: Num> RowAggregate<T> for ArgMin {
    type Out = i64;
    const NAME: &'static str = "argmin_rows";
    fn of_rows<M: Backend<I>, I: Index>(m: &M, a: &M::Matrix<T>) -> Result<M::Vector<i64>> {
        m.row_arg(a, false)
    }
}
impl<T: Num> RowAggregate<T> for ArgMax {
    type Out = i64;
    const NAME: &'static str = "argmax_rows";
    fn of_rows<M: Backend<I>, I: Index>(m: &M, a: &M::Matrix<T>) -> Result<M::Vector<i64>> {
        m.row_arg(a, true)
    }
}

/// A number for each row that has entries.
pub struct AggregateRows<G, T: Value, M: Backend<I>, I: Index> {
    pub(super) a: M::Matrix<T>,
    pub(super) flip: bool,
    pub(super) of: PhantomData<G>,
}
impl<G: RowAggregate<T>, T: Value, M: Backend<I>, I: Index> Operation<M, I> for AggregateRows<G, T, M, I> {
    type Kind = Vectors;
    type Out = G::Out;
    const NAME: &'static str = G::NAME;
    fn compute(self, m: &M, mask: Mask<'_, M::Places>) -> Result<M::Vector<G::Out>> {
        masked::<M, I, Vectors, _>(m, G::of_rows(m, &flipped(m, self.a, self.flip)?)?, mask)
    }
}
impl<G, T: Value, M: Backend<I>, I: Index> TransposeA for AggregateRows<G, T, M, I> {
    fn flip_a(&mut self) {
        self.flip = !self.flip;
    }
}

/// Entries of the rows that have some.
pub(super) fn counts<M: Backend<I>, I: Index, T: Value>(m: &M, a: &M::Matrix<T>) -> Result<M::Vector<i64>> {
    m.reduce_rows_of(Plus::<i64>::new(), &m.pattern_matrix(&a.places(m)?, 1i64)?, None)
}
/// The column of the first least or greatest value of each row: of those that equal the fold of the row.
pub(super) fn arg<M: Backend<I>, I: Index, T: Num>(m: &M, a: &M::Matrix<T>, greatest: bool) -> Result<M::Vector<i64>> {
    if greatest { column_of(m, Max::<T>::new(), a) } else { column_of(m, Min::<T>::new(), a) }
}
fn column_of<M: Backend<I>, I: Index, P: Monoid>(m: &M, monoid: P, a: &M::Matrix<P::Out>) -> Result<M::Vector<i64>> {
    let ends = m.diagonal_matrix(&m.reduce_rows_of(monoid, a, None)?, 0)?;
    let ring = Ring(Lor::<bool>::new(), Equal::<P::Out>::new());
    let is_end = m.product(ring, &ends, a, None, &Options::default())?;
    let ends = m.select_matrix(ValueEq::<bool>::new(), &is_end, true)?;
    let columns = m.apply_index_matrix(ColIndex::<bool, i64>::new(), &ends, 0)?;
    m.reduce_rows_of(Min::<i64>::new(), &columns, None)
}
