//! An operation about to be computed, with its optional parts chained.

use std::marker::PhantomData;

use super::Backend;
use super::container::{Kind, Mask};
use super::write::{Accum, Accumulate, Plain, Where, put, write};
use crate::algebra::{BinaryOp, Value};
use crate::{Index, Result};

/// What a result is written to.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a, C> {
    /// As it is.
    pub c: &'a C,
    /// Whether the result joins it by an accumulator.
    pub accumulates: bool,
}

/// The matrix or vector that an operation gives.
pub type ResultOf<Op, M, I> = <<Op as Operation<M, I>>::Kind as Kind<M, I>>::Of<<Op as Operation<M, I>>::Out>;
/// Where the result of an operation has entries.
pub type PlacesOf<Op, M, I> = <<Op as Operation<M, I>>::Kind as Kind<M, I>>::Places;

/// What is computed, before masks, accumulators and replace: T.
pub trait Operation<M: Backend<I>, I: Index>: Sized {
    /// [`Matrices`](super::Matrices) or [`Vectors`](super::Vectors).
    type Kind: Kind<M, I>;
    /// Type of the result's values.
    type Out: Value;
    /// Its name in messages.
    const NAME: &'static str;
    /// T at the places of the mask (or at all others, if the flag says complement); `target` is what the result is written to.
    /// # Errors
    /// Those of the operation.
    fn compute(
        self,
        m: &M,
        target: Option<Target<'_, ResultOf<Self, M, I>>>,
        mask: Option<(&PlacesOf<Self, M, I>, bool)>,
    ) -> Result<ResultOf<Self, M, I>>;
    /// T in the place of what is there.
    /// # Errors
    /// Those of the operation.
    fn overwrite(self, m: &M, c: &mut ResultOf<Self, M, I>) -> Result<()> {
        let t = self.compute(m, Some(Target { c, accumulates: false }), None)?;
        write::<M, I, Self::Kind, _>(m, Self::NAME, c, t, None, None)
    }
    /// T in the place of what is there at the places of the mask, or at all others.
    /// # Errors
    /// Those of the operation.
    fn overwrite_at(
        self,
        m: &M,
        c: &mut <Self::Kind as Kind<M, I>>::Of<Self::Out>,
        mask: (&<Self::Kind as Kind<M, I>>::Places, bool),
    ) -> Result<()> {
        let t = self.compute(m, Some(Target { c, accumulates: false }), Some(mask))?;
        put::<M, I, Self::Kind, _>(m, Self::NAME, c, t, mask)
    }
}

/// An operation whose left matrix may be transposed.
pub trait TransposeA {
    #[doc(hidden)]
    fn flip_a(&mut self);
}
/// An operation whose right matrix may be transposed.
pub trait TransposeB {
    #[doc(hidden)]
    fn flip_b(&mut self);
}

/// No mask: every place is written.
#[derive(Clone, Copy, Debug)]
pub struct Unmasked;
/// A mask.
#[derive(Debug)]
pub struct Masked<P> {
    places: Result<(P, bool)>,
    replace: bool,
}

/// [`Unmasked`] or [`Masked`].
pub trait Masking<P> {
    #[doc(hidden)]
    fn places(self) -> Result<Option<(P, bool, bool)>>;
}
impl<P> Masking<P> for Unmasked {
    fn places(self) -> Result<Option<(P, bool, bool)>> {
        Ok(None)
    }
}
impl<P> Masking<P> for Masked<P> {
    fn places(self) -> Result<Option<(P, bool, bool)>> {
        let (places, complement) = self.places?;
        Ok(Some((places, complement, self.replace)))
    }
}

/// An operation on machine `M` about to be computed: `C⟨M⟩ ⊙= T`.
///
/// [`eval`](Self::eval) gives a new result, [`into`](Self::into) writes into one that is there. The chain holds its operands, so
/// one of them may be what is written: `m.vxm(ring, &q, &a).mask(!seen.structure()).replace().into(&mut q)?`.
///
/// A complement without a mask does not compile:
/// ```compile_fail
/// use sparring::prelude::*;
/// let cpu = Cpu::new();
/// let a = Csr::<f64>::empty(2, 2)?;
/// cpu.mxm(PlusTimes::<f64>::default(), &a, &a).complement().eval()?;
/// # Ok::<(), sparring::Error>(())
/// ```
#[must_use = "nothing is computed before eval() or into()"]
#[derive(Debug)]
pub struct Build<'m, M, I, Op, S = Unmasked, A = Plain> {
    machine: &'m M,
    pub(super) op: Op,
    mask: S,
    accum: A,
    index: PhantomData<I>,
}

impl<'m, M, I, Op> Build<'m, M, I, Op> {
    pub(super) fn new(machine: &'m M, op: Op) -> Self {
        Self { machine, op, mask: Unmasked, accum: Plain, index: PhantomData }
    }
}

impl<'m, M: Backend<I>, I: Index, Op: Operation<M, I>, A> Build<'m, M, I, Op, Unmasked, A> {
    /// Writes only at the places of the mask; what is there at others stays, unless [`replace`](Build::replace).
    /// See [`Mask`] for what may be given.
    #[allow(clippy::type_complexity, reason = "the chain, with a mask")]
    pub fn mask(self, mask: impl Mask<M, I, Op::Kind>) -> Build<'m, M, I, Op, Masked<PlacesOf<Op, M, I>>, A> {
        let mask = Masked { places: mask.resolve(self.machine), replace: false };
        Build { machine: self.machine, op: self.op, mask, accum: self.accum, index: PhantomData }
    }
}
impl<M, I, Op, P, A> Build<'_, M, I, Op, Masked<P>, A> {
    /// Writes only at the places that the mask does not have.
    pub fn complement(mut self) -> Self {
        if let Ok((_, complement)) = &mut self.mask.places {
            *complement = !*complement;
        }
        self
    }
    /// Removes what is there outside of the mask.
    pub fn replace(mut self) -> Self {
        self.mask.replace = true;
        self
    }
}
impl<'m, M, I, Op, S> Build<'m, M, I, Op, S, Plain> {
    /// Joins the result to what is there by ⊙: where both have an entry it is `there ⊙ new`, else the one that is.
    pub fn accum<O: BinaryOp>(self, op: O) -> Build<'m, M, I, Op, S, Accum<O>> {
        let Self { machine, op: operation, mask, .. } = self;
        Build { machine, op: operation, mask, accum: Accum(op), index: PhantomData }
    }
}
impl<M, I, Op: TransposeA, S, A> Build<'_, M, I, Op, S, A> {
    /// Takes the left (or only) matrix transposed.
    pub fn transpose_a(mut self) -> Self {
        self.op.flip_a();
        self
    }
}
impl<M, I, Op: TransposeB, S, A> Build<'_, M, I, Op, S, A> {
    /// Takes the right matrix transposed.
    pub fn transpose_b(mut self) -> Self {
        self.op.flip_b();
        self
    }
}

impl<M: Backend<I>, I: Index, Op: Operation<M, I>, S: Masking<PlacesOf<Op, M, I>>> Build<'_, M, I, Op, S, Plain> {
    /// The result, a new matrix or vector; under a mask it has entries at the mask's places alone.
    /// # Errors
    /// Those of the operation, of the mask and of the machine.
    pub fn eval(self) -> Result<ResultOf<Op, M, I>> {
        let mask = self.mask.places()?;
        self.op.compute(self.machine, None, mask.as_ref().map(|(p, c, _)| (p, *c)))
    }
}

impl<M, I, Op, S, A> Build<'_, M, I, Op, S, A>
where
    M: Backend<I>,
    I: Index,
    Op: Operation<M, I>,
    S: Masking<PlacesOf<Op, M, I>>,
    A: Accumulate<Op::Out>,
{
    /// Writes the result into `c`, which may be an operand too.
    /// # Errors
    /// Those of the operation, of the mask and of the machine; [`Error::Shape`](crate::Error::Shape) if `c` has another
    /// shape. `c` is as it was then, unless the error is one of the machine that computes in place.
    pub fn into(self, c: &mut ResultOf<Op, M, I>) -> Result<()> {
        let Self { machine: m, op, mask, accum, .. } = self;
        let mask = mask.places()?;
        if mask.is_none() && !A::SOME {
            return op.overwrite(m, c);
        }
        if let (Some((places, complement, false)), false) = (&mask, A::SOME) {
            return op.overwrite_at(m, c, (places, *complement));
        }
        let target = Target { c: &*c, accumulates: A::SOME };
        let t = op.compute(m, Some(target), mask.as_ref().map(|(p, complement, _)| (p, *complement)))?;
        let mask = mask.as_ref().map(|(places, complement, replace)| Where {
            places,
            complement: *complement,
            replace: *replace,
        });
        let add = |x: &_, y: &_| accum.join::<M, I, Op::Kind>(m, x, y);
        let add: &dyn Fn(&_, &_) -> _ = &add;
        write::<M, I, Op::Kind, _>(m, Op::NAME, c, t, mask, A::SOME.then_some(add))
    }
}
