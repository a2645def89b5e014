//! The semantics of mask, accumulator and replace, for matrices and vectors on every backend: C⟨M, r⟩ ⊙= T.
//!
//! T is the result of an operation, with entries only where the mask allows them.
//!
//! | | without accumulator | with ⊙ |
//! | --- | --- | --- |
//! | no mask | C = T | C = C ⊙ T |
//! | mask | C = C⟨¬M⟩ ∪ T | C = C ⊙ T |
//! | mask, replace | C = T | C = C⟨M⟩ ⊙ T |
//!
//! ⊙ is applied where both have an entry; an entry without a counterpart is kept.
//! Source: GraphBLAS C API 2.1, §2.3 and §4.3 (accumulate, then mask and replace).

use std::marker::PhantomData;

use super::container::Kind;
use super::kernels::Kernels;
use crate::algebra::{BinaryOp, Host, V, Value};
use crate::par::note;
use crate::sparse::MaskSpec;
use crate::{Error, Index, Result};

/// The mask of a write; owns its pattern.
#[derive(Clone, Debug)]
pub struct WriteMask<P> {
    pub(crate) pattern: P,
    pub(crate) complement: bool,
    /// Whether entries outside of the mask are removed.
    pub(crate) replace: bool,
}

impl<P> WriteMask<P> {
    /// The written indices.
    pub(crate) fn spec(&self) -> MaskSpec<'_, P> {
        MaskSpec::new(&self.pattern, self.complement)
    }
}

/// The primitives of a write, for matrices or vectors X with mask patterns P. Each is in place if X supports it.
pub(crate) trait WriteOps<X, P> {
    /// Rows and columns.
    fn shape(&self, x: &X) -> (usize, usize);
    /// Whether the pattern shares the storage of x's pattern.
    fn is_own(&self, x: &X, pattern: &P) -> bool;
    /// Whether t, whose entries the mask allows, is known to have an entry at every allowed index.
    fn fills(&self, t: &X, mask: MaskSpec<'_, P>) -> bool;
    /// Keeps the entries that the mask allows.
    fn retain(&self, x: &mut X, mask: MaskSpec<'_, P>) -> Result<()>;
    /// Overwrites x by the entries of t; other entries of x are kept.
    fn put(&self, x: &mut X, t: X) -> Result<()>;
    /// x = x ⊙ t.
    fn accumulate(&self, x: &mut X, t: X) -> Result<()>;
}

/// C⟨M, r⟩ = T, or with `accumulates` C⟨M, r⟩ ⊙= T.
///
/// The mask is dropped before C is written, so that a mask that shares C's pattern does not force a copy.
pub(crate) fn write_with<X, P>(
    parts: &impl WriteOps<X, P>,
    op: &'static str,
    c: &mut X,
    t: X,
    mask: Option<WriteMask<P>>,
    accumulates: bool,
) -> Result<()> {
    let (lhs, rhs) = (parts.shape(c), parts.shape(&t));
    if lhs != rhs {
        return Err(Error::Shape { op, lhs, rhs });
    }
    let replace = mask.as_ref().is_none_or(|mask| mask.replace);
    note(|| {
        format!(
            "write: {}",
            match (mask.is_some(), replace, accumulates) {
                (_, true, false) => "C = T, which takes C's place",
                (true, true, true) => "C = C⟨M⟩ ⊙ T",
                (_, _, true) => "C = C ⊙ T",
                _ => "C = C⟨¬M⟩ ∪ T",
            }
        )
    });
    match mask {
        Some(mask) if replace && accumulates => {
            let allows_some = keep_allowed(parts, c, mask)?;
            if allows_some {
                return parts.accumulate(c, t);
            }
        }
        Some(mask) if !replace && !accumulates => {
            // Entries outside of the mask are kept, and T is inserted.
            let outside = WriteMask { complement: !mask.complement, ..mask };
            let filled = parts.fills(&t, MaskSpec::new(&outside.pattern, !outside.complement));
            if filled {
                drop(outside);
                return parts.put(c, t);
            }
            if keep_allowed(parts, c, outside)? {
                return parts.put(c, t);
            }
        }
        mask if accumulates => {
            drop(mask);
            return parts.accumulate(c, t);
        }
        _ => {}
    }
    *c = t;
    Ok(())
}

/// Keeps the entries of C that the mask allows, and drops the mask. Returns false, without a change, if it allows none.
pub(crate) fn keep_allowed<X, P>(parts: &impl WriteOps<X, P>, c: &mut X, mask: WriteMask<P>) -> Result<bool> {
    if parts.is_own(c, &mask.pattern) {
        return Ok(!mask.complement);
    }
    parts.retain(c, mask.spec())?;
    Ok(true)
}

/// The primitives of a write on backend M, for values T and accumulator A.
pub(super) struct On<'m, M, I, K, T, A> {
    m: &'m M,
    accum: A,
    of: PhantomData<(I, K, T)>,
}
impl<'m, M, I, K, T, A> On<'m, M, I, K, T, A> {
    pub(super) fn new(m: &'m M, accum: A) -> Self {
        Self { m, accum, of: PhantomData }
    }
}
impl<M: Kernels<I>, I: Index, K: Kind<M, I>, T: Value, A: Accumulate<T>> WriteOps<K::Of<T>, K::Pattern>
    for On<'_, M, I, K, T, A>
{
    fn shape(&self, x: &K::Of<T>) -> (usize, usize) {
        K::shape(self.m, x)
    }
    fn is_own(&self, x: &K::Of<T>, pattern: &K::Pattern) -> bool {
        K::is_own(self.m, x, pattern)
    }
    fn fills(&self, t: &K::Of<T>, mask: MaskSpec<'_, K::Pattern>) -> bool {
        K::fills(self.m, t, mask)
    }
    fn retain(&self, x: &mut K::Of<T>, mask: MaskSpec<'_, K::Pattern>) -> Result<()> {
        K::retain(self.m, x, mask)
    }
    fn put(&self, x: &mut K::Of<T>, t: K::Of<T>) -> Result<()> {
        K::put(self.m, x, t)
    }
    fn accumulate(&self, x: &mut K::Of<T>, t: K::Of<T>) -> Result<()> {
        self.accum.accumulate::<M, I, K>(self.m, x, t)
    }
}

/// [`write_with`] for typed matrices and vectors.
pub(super) fn write<M: Kernels<I>, I: Index, K: Kind<M, I>, T: Value, A: Accumulate<T>>(
    m: &M,
    op: &'static str,
    c: &mut K::Of<T>,
    t: K::Of<T>,
    mask: Option<WriteMask<K::Pattern>>,
    accum: A,
) -> Result<()> {
    write_with(&On::<M, I, K, T, A>::new(m, accum), op, c, t, mask, A::SOME)
}

/// The accumulator of a write: [`Plain`] or [`Accum`].
pub trait Accumulate<T: Value>: Sized {
    /// x = x ⊙ t, or t without ⊙.
    #[doc(hidden)]
    fn accumulate<M: Kernels<I>, I: Index, K: Kind<M, I>>(&self, m: &M, x: &mut K::Of<T>, t: K::Of<T>) -> Result<()>;
    /// Whether there is an accumulator.
    #[doc(hidden)]
    const SOME: bool;
}

/// No accumulator: existing entries are replaced.
#[derive(Clone, Copy, Debug)]
pub struct Plain;
/// The accumulator ⊙.
#[derive(Clone, Copy, Debug)]
pub struct Accum<O>(pub(super) O);

impl<T: Value> Accumulate<T> for Plain {
    const SOME: bool = false;
    fn accumulate<M: Kernels<I>, I: Index, K: Kind<M, I>>(&self, _: &M, x: &mut K::Of<T>, t: K::Of<T>) -> Result<()> {
        *x = t;
        Ok(())
    }
}
impl<T: Value, O: BinaryOp<A = T, B = T, Out = T>> Accumulate<T> for Accum<O> {
    const SOME: bool = true;
    fn accumulate<M: Kernels<I>, I: Index, K: Kind<M, I>>(&self, m: &M, x: &mut K::Of<T>, t: K::Of<T>) -> Result<()> {
        K::accumulate(m, self.0, x, t)
    }
}

/// The accumulator of a scalar result: [`Plain`] or [`Accum`].
pub trait JoinScalar<T> {
    /// s ⊙ t, where both exist; without ⊙ it is t.
    #[doc(hidden)]
    fn join_scalar(&self, s: Option<T>, t: Option<T>) -> Option<T>;
}
impl<T> JoinScalar<T> for Plain {
    fn join_scalar(&self, _: Option<T>, t: Option<T>) -> Option<T> {
        t
    }
}
impl<T: Value, O: BinaryOp<A = T, B = T, Out = T>> JoinScalar<T> for Accum<O> {
    fn join_scalar(&self, s: Option<T>, t: Option<T>) -> Option<T> {
        match (s, t) {
            (Some(s), Some(t)) => Some(self.0.apply::<Host>(V(s), V(t)).0),
            (s, t) => s.or(t),
        }
    }
}
