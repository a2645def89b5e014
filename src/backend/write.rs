//! What masks, accumulators and replace mean, for matrices and vectors on every machine: C⟨M, r⟩ ⊙= T.
//!
//! T is the result of an operation, with entries at most where the mask lets them through.
//!
//! | | without accumulator | with ⊙ |
//! | --- | --- | --- |
//! | no mask | C = T | C = C ⊙ T |
//! | mask | C = C⟨¬M⟩ ∪ T | C = C ⊙ T |
//! | mask, replace | C = T | C = C⟨M⟩ ⊙ T |
//!
//! ⊙ is applied where both have an entry; where one has, that entry stands.
//! Source: GraphBLAS C API 2.1, §2.3 and §4.3 (accumulate, then mask and replace).

use std::marker::PhantomData;

use super::Backend;
use super::container::Kind;
use crate::algebra::{BinaryOp, Second, Value};
use crate::{Error, Index, Result};

/// The mask of a result, and whether what lies outside it goes.
pub(crate) struct Where<'a, P> {
    pub(crate) places: &'a P,
    pub(crate) complement: bool,
    pub(crate) replace: bool,
}

/// x ⊙ y.
type Add<'a, C> = &'a dyn Fn(&C, &C) -> Result<C>;

/// What the rules need of matrices or vectors X whose masks are P.
pub(crate) trait Parts<X, P> {
    /// Rows and columns.
    fn shape(&self, x: &X) -> (usize, usize);
    /// The entries at the places of a mask, or at all others.
    fn restrict(&self, x: &X, places: &P, complement: bool) -> Result<X>;
    /// Entries of both, which have none at the same place.
    fn union(&self, x: &X, y: &X) -> Result<X>;
}

/// C⟨M, r⟩ = C ⊙ T, `add` being C ⊙ T, or nothing without an accumulator.
pub(crate) fn write_parts<X, P>(
    parts: &impl Parts<X, P>,
    op: &'static str,
    c: &mut X,
    t: X,
    mask: Option<Where<'_, P>>,
    accum: Option<Add<'_, X>>,
) -> Result<()> {
    let (found, made) = (parts.shape(c), parts.shape(&t));
    if found != made {
        return Err(Error::Shape { op, lhs: found, rhs: made });
    }
    *c = match (mask, accum) {
        (None, None) => t,
        (None, Some(add)) => add(c, &t)?,
        (Some(Where { replace: true, .. }), None) => t,
        (Some(Where { places, complement, replace: true }), Some(add)) => {
            add(&parts.restrict(c, places, complement)?, &t)?
        }
        (Some(Where { places, complement, .. }), None) => parts.union(&parts.restrict(c, places, !complement)?, &t)?,
        (Some(_), Some(add)) => add(c, &t)?,
    };
    Ok(())
}

/// Matrices or vectors of T on machine M.
struct On<'m, M, I, K, T>(&'m M, PhantomData<(I, K, T)>);
impl<M: Backend<I>, I: Index, K: Kind<M, I>, T: Value> Parts<K::Of<T>, K::Places> for On<'_, M, I, K, T> {
    fn shape(&self, x: &K::Of<T>) -> (usize, usize) {
        K::shape(self.0, x)
    }
    fn restrict(&self, x: &K::Of<T>, places: &K::Places, complement: bool) -> Result<K::Of<T>> {
        K::restrict(self.0, x, places, complement)
    }
    fn union(&self, x: &K::Of<T>, y: &K::Of<T>) -> Result<K::Of<T>> {
        K::ewise_add(self.0, Second::<T, T>::default(), x, y)
    }
}

/// [`write_parts`], by types.
pub(super) fn write<M: Backend<I>, I: Index, K: Kind<M, I>, T: Value>(
    m: &M,
    op: &'static str,
    c: &mut K::Of<T>,
    t: K::Of<T>,
    mask: Option<Where<'_, K::Places>>,
    accum: Option<Add<'_, K::Of<T>>>,
) -> Result<()> {
    write_parts(&On::<M, I, K, T>(m, PhantomData), op, c, t, mask, accum)
}

/// C⟨M⟩ = T: entries outside of the mask stay.
pub(super) fn put<M: Backend<I>, I: Index, K: Kind<M, I>, T: Value>(
    m: &M,
    op: &'static str,
    c: &mut K::Of<T>,
    t: K::Of<T>,
    (places, complement): (&K::Places, bool),
) -> Result<()> {
    write::<M, I, K, T>(m, op, c, t, Some(Where { places, complement, replace: false }), None)
}

/// How a result joins what is there: [`Plain`] or [`Accum`].
pub trait Accumulate<T: Value>: Sized {
    /// Runs `f` with ⊙, if there is one.
    #[doc(hidden)]
    fn join<M: Backend<I>, I: Index, K: Kind<M, I>>(&self, m: &M, x: &K::Of<T>, y: &K::Of<T>) -> Result<K::Of<T>>;
    /// Whether there is an accumulator.
    #[doc(hidden)]
    const SOME: bool;
}

/// No accumulator: what is there is replaced.
#[derive(Clone, Copy, Debug)]
pub struct Plain;
/// The accumulator ⊙.
#[derive(Clone, Copy, Debug)]
pub struct Accum<O>(pub(super) O);

impl<T: Value> Accumulate<T> for Plain {
    const SOME: bool = false;
    fn join<M: Backend<I>, I: Index, K: Kind<M, I>>(&self, _: &M, _: &K::Of<T>, y: &K::Of<T>) -> Result<K::Of<T>> {
        Ok(y.clone())
    }
}
impl<T: Value, O: BinaryOp<A = T, B = T, Out = T>> Accumulate<T> for Accum<O> {
    const SOME: bool = true;
    fn join<M: Backend<I>, I: Index, K: Kind<M, I>>(&self, m: &M, x: &K::Of<T>, y: &K::Of<T>) -> Result<K::Of<T>> {
        K::ewise_add(m, self.0, x, y)
    }
}
