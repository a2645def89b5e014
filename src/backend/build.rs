//! Operation builders: lazily evaluated operations with chained mask, accumulator and descriptor settings.

use std::marker::PhantomData;

use super::container::{Kind, Mask, Vectors};
use super::indices::Line;
use super::kernels::Kernels;
use super::write::{Accum, Accumulate, Plain, WriteMask, write};
use crate::algebra::{BinaryOp, Value};
use crate::par::explained;
use crate::sparse::{IndexList, MaskSpec};
use crate::{Csr, Index, Result};

/// The result type of an operation.
type ResultOf<Op, M, I> = <<Op as Operation<M, I>>::Kind as Kind<M, I>>::Of<<Op as Operation<M, I>>::Out>;
/// The pattern type of the result of an operation.
type PatternOf<Op, M, I> = <<Op as Operation<M, I>>::Kind as Kind<M, I>>::Pattern;

/// The computation of an operation: its result T, before mask, accumulator and replace.
pub trait Operation<M: Kernels<I>, I: Index>: Sized {
    /// [`Matrices`](super::Matrices) or [`Vectors`](super::Vectors).
    type Kind: Kind<M, I>;
    /// Type of the result's values.
    type Out: Value;
    /// Its name in messages.
    const NAME: &'static str;
    /// T where the mask allows.
    /// # Errors
    /// Those of the operation.
    fn compute(self, m: &M, mask: Option<MaskSpec<'_, PatternOf<Self, M, I>>>) -> Result<ResultOf<Self, M, I>>;
    /// C⟨M, r⟩ ⊙= T. Operands are dropped before c is written, so that an operand that shares storage with c does not
    /// force a copy.
    /// # Errors
    /// Those of the operation.
    #[allow(clippy::type_complexity, reason = "the result and the mask of the operation")]
    fn write_into<A: Accumulate<Self::Out>>(
        self,
        m: &M,
        c: &mut ResultOf<Self, M, I>,
        mask: Option<WriteMask<PatternOf<Self, M, I>>>,
        accum: A,
    ) -> Result<()> {
        let t = self.compute(m, mask.as_ref().map(WriteMask::spec))?;
        write::<M, I, Self::Kind, _, _>(m, Self::NAME, c, t, mask, accum)
    }
}

/// An operation whose left (or only) matrix may be transposed.
pub trait TransposeA {
    #[doc(hidden)]
    fn flip_a(&mut self);
}
/// An operation whose right matrix may be transposed.
pub trait TransposeB {
    #[doc(hidden)]
    fn flip_b(&mut self);
}

/// No mask: every index is written.
#[derive(Clone, Copy, Debug)]
pub struct Unmasked;
/// A mask.
#[derive(Debug)]
pub struct Masked<P> {
    pattern: Result<(P, bool)>,
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
        let (pattern, complement) = self.pattern?;
        Ok(Some(WriteMask { pattern, complement, replace: self.replace }))
    }
}

/// A builder for an operation `C⟨M⟩ ⊙= T` on a backend.
///
/// [`eval`](Self::eval) returns a new result, [`into`](Self::into) writes into an existing one. The builder owns clones
/// of its operands, so the output may be one of them:
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

impl<'m, M: Kernels<I>, I: Index, Op: Operation<M, I>, A> Build<'m, M, I, Op, Unmasked, A> {
    /// Writes only at the indices of the mask; other entries are kept, unless [`replace`](Build::replace) is set.
    /// [`Mask`] lists the accepted types.
    #[allow(clippy::type_complexity, reason = "the chain, with a mask")]
    pub fn mask(self, mask: impl Mask<M, I, Op::Kind>) -> Build<'m, M, I, Op, Masked<PatternOf<Op, M, I>>, A> {
        let mask = Masked { pattern: mask.resolve(self.machine), replace: false };
        Build { machine: self.machine, op: self.op, mask, accum: self.accum, index: PhantomData }
    }
}
impl<M, I, Op, P, A> Build<'_, M, I, Op, Masked<P>, A> {
    /// Complements the mask: writes only at the indices that are not in it.
    pub fn complement(mut self) -> Self {
        if let Ok((_, complement)) = &mut self.mask.pattern {
            *complement = !*complement;
        }
        self
    }
    /// Removes existing entries outside of the mask.
    pub fn replace(mut self) -> Self {
        self.mask.replace = true;
        self
    }
}
impl<'m, M, I, Op, S> Build<'m, M, I, Op, S, Plain> {
    /// Accumulates the result into the existing entries by ⊙: `old ⊙ new` where both exist, otherwise the one that
    /// exists.
    pub fn accum<O: BinaryOp>(self, op: O) -> Build<'m, M, I, Op, S, Accum<O>> {
        let Self { machine, op: operation, mask, .. } = self;
        Build { machine, op: operation, mask, accum: Accum(op), index: PhantomData }
    }
}
impl<M, I, Op: TransposeA, S, A> Build<'_, M, I, Op, S, A> {
    /// Transposes the left (or only) matrix.
    ///
    /// Aᵀ is computed first, in O(m + n + nnz(A)). The exception is Aᵀx, which is [`vxm`](super::Backend::vxm) of x and
    /// A, with its cost and fold order.
    pub fn transpose_a(mut self) -> Self {
        self.op.flip_a();
        self
    }
}
impl<M, I, Op: TransposeB, S, A> Build<'_, M, I, Op, S, A> {
    /// Transposes the right matrix.
    ///
    /// Bᵀ is computed first, in O(m + n + nnz(B)). The exception is xᵀBᵀ, which is [`mxv`](super::Backend::mxv) of B
    /// and x, with its cost and fold order; a fold ends once it reaches the terminal value of ⊕.
    pub fn transpose_b(mut self) -> Self {
        self.op.flip_b();
        self
    }
}

impl<M: Kernels<I>, I: Index, Op: Operation<M, I>, S: Masking<PatternOf<Op, M, I>>> Build<'_, M, I, Op, S, Plain> {
    /// The result, a new matrix or vector; under a mask, only its allowed entries.
    /// # Errors
    /// Those of the operation, the mask and the backend.
    pub fn eval(self) -> Result<ResultOf<Op, M, I>> {
        let mask = self.mask.resolved()?;
        self.op.compute(self.machine, mask.as_ref().map(WriteMask::spec))
    }
    /// The result, and a description of how it was computed: the forms of the operands, the kernel and the reason for
    /// its choice, line by line.
    ///
    /// ```
    /// use sparring::prelude::*;
    /// let a = Csr::<f64>::new(3, 3, vec![0, 1, 2, 3], vec![1, 2, 0], vec![1.0; 3])?;
    /// let x = Vector::<f64>::full(vec![1.0, 2.0, 3.0])?;
    /// let (y, how) = Cpu::new().mxv(PlusTimes::new(), &a, &x).explain()?;
    /// assert_eq!(y.as_full(), Some(&[2.0, 3.0, 1.0][..]));
    /// assert!(how.starts_with("mxv: 3×3 with 3 entries as compressed rows; length 3 with 3 entries as a full vec"));
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
    M: Kernels<I>,
    I: Index,
    Op: Operation<M, I>,
    S: Masking<PatternOf<Op, M, I>>,
    A: Accumulate<Op::Out>,
{
    /// Writes the result into `c`, which may also be an operand.
    /// # Errors
    /// Those of the operation, the mask and the backend; [`Error::Shape`](crate::Error::Shape) if `c` has another
    /// shape. `c` is unchanged on error, unless a backend fails while computing in place, or memory runs out between
    /// the removal and the insertion of entries.
    pub fn into(self, c: &mut ResultOf<Op, M, I>) -> Result<()> {
        let Self { machine, op, mask, accum, .. } = self;
        op.write_into(machine, c, mask.resolved()?, accum)
    }
    /// Writes the result into `c`; returns a description of the computation and the write, as
    /// [`explain`](Build::explain) does.
    /// # Errors
    /// Those of [`into`](Self::into).
    pub fn explain_into(self, c: &mut ResultOf<Op, M, I>) -> Result<String> {
        let (done, how) = explained(|| self.into(c));
        done.map(|()| how)
    }
}

impl<M, I, Op, S, A> Build<'_, M, I, Op, S, A>
where
    M: Kernels<I>,
    I: Index,
    Op: Operation<M, I, Kind = Vectors>,
    S: Masking<M::VectorPattern>,
    A: Accumulate<Op::Out>,
{
    /// Writes the result into row i of `c`; mask, accumulator and replace apply to this row alone. After
    /// [`assign`](super::Backend::assign), C(i, J)⟨m, r⟩ ⊙= u (`GrB_Row_assign`).
    ///
    /// Cost: that of the operation, and of [`assign_matrix`](super::Backend::assign_matrix) of one row.
    /// ```
    /// use sparring::prelude::*;
    /// let mut c = Csr::<i32>::new(2, 3, vec![0, 1, 2], vec![0, 2], vec![1, 2])?;
    /// let u = Vector::<i32>::full(vec![7, 8])?;
    /// Cpu::new().assign(&u, 1..3).accum(Plus::new()).into_row(&mut c, 1)?;
    /// assert_eq!(c, Csr::new(2, 3, vec![0, 1, 3], vec![0, 1, 2], vec![1, 7, 10])?);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// Those of [`into`](Self::into); [`Error::ListIndex`](crate::Error::ListIndex) if the row is out of bounds.
    pub fn into_row(self, c: &mut M::Matrix<Op::Out>, i: usize) -> Result<()> {
        self.into_line(c, &Line::Row(i, IndexList::all()))
    }
    /// Writes the result into column j of `c`; otherwise as [`into_row`](Self::into_row) (`GrB_Col_assign`).
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
        let a = m.upload(&Csr::from_row_major(shape, m.download_vector(&x)?)?)?;
        let (rows, cols) = line.part();
        m.assign_part(c, a, (&rows, &cols), None)
    }
}
