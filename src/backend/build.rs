//! An operation about to be computed, with its optional parts chained.

use std::marker::PhantomData;

use super::Backend;
use super::container::{Kind, Mask};
use super::write::{Accum, Accumulate, Plain, WriteMask, write};
use crate::algebra::{BinaryOp, Value};
use crate::sparse::MaskSpec;
use crate::{Index, Result};

/// The matrix or vector that an operation gives.
type ResultOf<Op, M, I> = <<Op as Operation<M, I>>::Kind as Kind<M, I>>::Of<<Op as Operation<M, I>>::Out>;
/// Where the result of an operation has entries.
type PlacesOf<Op, M, I> = <<Op as Operation<M, I>>::Kind as Kind<M, I>>::Places;

/// What is computed, before masks, accumulators and replace: T.
pub trait Operation<M: Backend<I>, I: Index>: Sized {
    /// [`Matrices`](super::Matrices) or [`Vectors`](super::Vectors).
    type Kind: Kind<M, I>;
    /// Type of the result's values.
    type Out: Value;
    /// Its name in messages.
    const NAME: &'static str;
    /// T where the mask allows.
    /// # Errors
    /// Those of the operation.
    fn compute(self, m: &M, mask: Option<MaskSpec<'_, PlacesOf<Self, M, I>>>) -> Result<ResultOf<Self, M, I>>;
    /// C⟨M, r⟩ ⊙= T. The operands are let go before c is written: one that is c is then not shared any more.
    /// # Errors
    /// Those of the operation.
    #[allow(clippy::type_complexity, reason = "the result and the mask of the operation")]
    fn write_into<A: Accumulate<Self::Out>>(
        self,
        m: &M,
        c: &mut ResultOf<Self, M, I>,
        mask: Option<WriteMask<PlacesOf<Self, M, I>>>,
        accum: A,
    ) -> Result<()> {
        let t = self.compute(m, mask.as_ref().map(WriteMask::spec))?;
        write::<M, I, Self::Kind, _, _>(m, Self::NAME, c, t, mask, accum)
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
    fn resolved(self) -> Result<Option<WriteMask<P>>>;
}
impl<P> Masking<P> for Unmasked {
    fn resolved(self) -> Result<Option<WriteMask<P>>> {
        Ok(None)
    }
}
impl<P> Masking<P> for Masked<P> {
    fn resolved(self) -> Result<Option<WriteMask<P>>> {
        let (pattern, complement) = self.places?;
        Ok(Some(WriteMask { pattern, complement, replace: self.replace }))
    }
}

/// An operation on machine `M` about to be computed: `C⟨M⟩ ⊙= T`.
///
/// [`eval`](Self::eval) gives a new result, [`into`](Self::into) writes into one that is there. The chain holds its
/// operands, so one of them may be what is written:
/// `m.vxm(ring, &q, &a).mask(!seen.structure()).replace().into(&mut q)?`.
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
        let mask = self.mask.resolved()?;
        self.op.compute(self.machine, mask.as_ref().map(WriteMask::spec))
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
    /// shape. `c` is as it was then, unless the error is one of the machine that computes in place, or of memory that
    /// runs out between removing entries and adding others.
    pub fn into(self, c: &mut ResultOf<Op, M, I>) -> Result<()> {
        let Self { machine, op, mask, accum, .. } = self;
        op.write_into(machine, c, mask.resolved()?, accum)
    }
}
