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

use super::Backend;
use super::container::Kind;
use crate::algebra::{BinaryOp, Second, Value};
use crate::{Error, Index, Result};

/// The mask of a result, and whether what lies outside it goes.
pub(super) struct Where<'a, P> {
    pub(super) places: &'a P,
    pub(super) complement: bool,
    pub(super) replace: bool,
}

/// x ⊙ y.
type Add<'a, C> = &'a dyn Fn(&C, &C) -> Result<C>;

/// C⟨M, r⟩ = C ⊙ T, `add` being C ⊙ T, or nothing without an accumulator.
pub(super) fn write<M: Backend<I>, I: Index, K: Kind<M, I>, T: Value>(
    m: &M,
    op: &'static str,
    c: &mut K::Of<T>,
    t: K::Of<T>,
    mask: Option<Where<'_, K::Places>>,
    accum: Option<Add<'_, K::Of<T>>>,
) -> Result<()> {
    let (found, made) = (K::shape(m, c), K::shape(m, &t));
    if found != made {
        return Err(Error::Shape { op, lhs: found, rhs: made });
    }
    *c = match (mask, accum) {
        (None, None) => t,
        (None, Some(add)) => add(c, &t)?,
        (Some(Where { replace: true, .. }), None) => t,
        (Some(Where { places, complement, replace: true }), Some(add)) => {
            add(&K::restrict(m, c, places, complement)?, &t)?
        }
        (Some(Where { places, complement, .. }), None) => {
            union::<M, I, K, T>(m, &K::restrict(m, c, places, !complement)?, &t)?
        }
        (Some(_), Some(add)) => add(c, &t)?,
    };
    Ok(())
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

/// Entries of both, which have none at the same place.
fn union<M: Backend<I>, I: Index, K: Kind<M, I>, T: Value>(m: &M, x: &K::Of<T>, y: &K::Of<T>) -> Result<K::Of<T>> {
    K::ewise_add(m, Second::<T, T>::default(), x, y)
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
