//! An operation about to be computed, with its optional parts chained.

use std::marker::PhantomData;

use super::Backend;
use super::container::{Kind, Mask, Vectors};
use super::indices::Line;
use super::write::{Accum, Accumulate, Plain, WriteMask, write};
use crate::algebra::{BinaryOp, Value};
use crate::par::explained;
use crate::sparse::{IndexList, MaskSpec};
use crate::{Csr, Index, Result};

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
    ///
    /// Aᵀ is made first, at O(m + n + nnz(A)), but for Aᵀx: that is [`vxm`](super::Backend::vxm) of x and A, whose cost and
    /// order of the fold it has.
    pub fn transpose_a(mut self) -> Self {
        self.op.flip_a();
        self
    }
}
impl<M, I, Op: TransposeB, S, A> Build<'_, M, I, Op, S, A> {
    /// Takes the right matrix transposed.
    ///
    /// Bᵀ is made first, at O(m + n + nnz(B)), but for xᵀBᵀ: that is [`mxv`](super::Backend::mxv) of B and x, whose cost
    /// and order of the fold it has; a fold ends where ⊕ has met its terminal value.
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
    /// The result, and how it was computed: the forms of the operands, the kernel that ran, and why, line by line.
    ///
    /// ```
    /// use sparring::prelude::*;
    /// let a = Csr::<f64>::new(3, 3, vec![0, 1, 2, 3], vec![1, 2, 0], vec![1.0; 3])?;
    /// let x = Vector::<f64>::full(vec![1.0, 2.0, 3.0])?;
    /// let (y, how) = Cpu::new().mxv(PlusTimes::new(), &a, &x).explain()?;
    /// assert_eq!(y.as_full(), Some(&[2.0, 3.0, 1.0][..]));
    /// assert!(how.starts_with("mxv: 3×3 with 3 entries as compressed rows; 3 places with 3 entries as a full vector"));
    /// assert!(how.ends_with("all rows, each folded whole: the vector is full"));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// Those of [`eval`](Self::eval).
    pub fn explain(self) -> Result<(ResultOf<Op, M, I>, String)> {
        let (made, how) = explained(|| self.eval());
        Ok((made?, how))
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
    /// Writes the result into `c`; how it was computed and written, as [`explain`](Build::explain) tells it.
    /// # Errors
    /// Those of [`into`](Self::into).
    pub fn explain_into(self, c: &mut ResultOf<Op, M, I>) -> Result<String> {
        let (done, how) = explained(|| self.into(c));
        done.map(|()| how)
    }
}

impl<M, I, Op, S, A> Build<'_, M, I, Op, S, A>
where
    M: Backend<I>,
    I: Index,
    Op: Operation<M, I, Kind = Vectors>,
    S: Masking<M::Places>,
    A: Accumulate<Op::Out>,
{
    /// Writes the result into row i of `c`; mask, accumulator and replace concern this row alone. After
    /// [`assign`](Backend::assign) it is C(i, J)⟨m, r⟩ ⊙= u (`GrB_Row_assign`).
    ///
    /// Cost: that of the operation, and of [`assign_matrix`](Backend::assign_matrix) of one row.
    /// ```
    /// use sparring::prelude::*;
    /// let mut c = Csr::<i32>::new(2, 3, vec![0, 1, 2], vec![0, 2], vec![1, 2])?;
    /// let u = Vector::<i32>::full(vec![7, 8])?;
    /// Cpu::new().assign(&u, 1..3).accum(Plus::new()).into_row(&mut c, 1)?;
    /// assert_eq!(c, Csr::new(2, 3, vec![0, 1, 3], vec![0, 1, 2], vec![1, 7, 10])?);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// Those of [`into`](Self::into); [`Error::ListIndex`](crate::Error::ListIndex) if there is no such row.
    pub fn into_row(self, c: &mut M::Matrix<Op::Out>, i: usize) -> Result<()> {
        self.into_line(c, &Line::Row(i, IndexList::all()))
    }
    /// Writes the result into column j of `c`, likewise (`GrB_Col_assign`).
    /// # Errors
    /// As for [`into_row`](Self::into_row).
    pub fn into_column(self, c: &mut M::Matrix<Op::Out>, j: usize) -> Result<()> {
        self.into_line(c, &Line::Column(IndexList::all(), j))
    }
    fn into_line(self, c: &mut M::Matrix<Op::Out>, line: &Line) -> Result<()> {
        let Self { machine: m, op, mask, accum, .. } = self;
        let mut x = m.extract_line(c, line)?;
        op.write_into(m, &mut x, mask.resolved()?, accum)?;
        let shape = if let Line::Row(..) = line { (1, m.len(&x)) } else { (m.len(&x), 1) };
        let a = m.upload(&Csr::from_places(shape, m.download_vector(&x)?)?)?;
        let (rows, cols) = line.part();
        m.assign_part(c, a, (&rows, &cols), None)
    }
}
