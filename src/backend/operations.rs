//! The operations with mask, accumulator and result: one type each, created by the methods of
//! [`Backend`](super::Backend).

use std::marker::PhantomData;

use super::container::{Container, Kind, Matrices, Vectors};
use super::indices::Indices;
use super::kernels::Kernels;
use super::write::{Accum, Accumulate, JoinScalar, On, Plain, WriteMask, keep_allowed, write};
use super::{Build, Operation, TransposeA, TransposeB};
use crate::algebra::{
    BinaryOp, Flipped, IndexUnaryOp, Lhs, Monoid, Out, Rhs, Semiring, Type, UnaryOp, Value, transposed_ring,
};
use crate::ops::{Pairing, check_transpose};
use crate::par::explained;
use crate::sparse::MaskSpec;
use crate::spgemm::Options;
use crate::{Error, Index, Result};

/// The mask of a result, if there is one.
pub(super) type Mask<'a, P> = Option<MaskSpec<'a, P>>;
/// The mask of a write, if there is one.
pub(super) type Write<P> = Option<WriteMask<P>>;

/// Applies the mask to T, for operations that ignore the mask while computing.
pub(super) fn masked<M: Kernels<I>, I: Index, K: Kind<M, I>, T: Value>(
    m: &M,
    mut t: K::Of<T>,
    mask: Mask<'_, K::Pattern>,
) -> Result<K::Of<T>> {
    if let Some(mask) = mask {
        K::retain(m, &mut t, mask)?;
    }
    Ok(t)
}

/// An operand of an elementwise operation, with the mask applied if that is cheap. Also returns whether the operand
/// needs no further masking.
fn masked_operand<M: Kernels<I>, I: Index, K: Entrywise<M, I>, T: Value>(
    m: &M,
    x: K::Of<T>,
    flip: bool,
    mask: Mask<'_, K::Pattern>,
) -> Result<(K::Of<T>, bool)> {
    let x = K::transposed(m, x, flip)?;
    let applied = mask.is_none() || K::masks_operand(m, &x);
    Ok((masked::<M, I, K, T>(m, x, mask.filter(|_| applied))?, applied))
}
/// The result of an elementwise operation; the mask is applied unless the operands are `masked`.
fn masked_result<M: Kernels<I>, I: Index, K: Kind<M, I>, T: Value>(
    m: &M,
    t: K::Of<T>,
    mask: Mask<'_, K::Pattern>,
    is_masked: bool,
) -> Result<K::Of<T>> {
    masked::<M, I, K, T>(m, t, mask.filter(|_| !is_masked))
}

pub(super) fn flipped<M: Kernels<I>, I: Index, T: Value>(m: &M, a: M::Matrix<T>, flip: bool) -> Result<M::Matrix<T>> {
    if flip { m.transposed(&a) } else { Ok(a) }
}

/// C = A ⊕.⊗ B.
pub struct Mxm<R: Semiring, M: Kernels<I>, I: Index> {
    pub(super) ring: R,
    pub(super) a: M::Matrix<Lhs<R>>,
    pub(super) b: M::Matrix<Rhs<R>>,
    pub(super) flip: [bool; 2],
    pub(super) options: Options,
    pub(super) plan: Option<M::Plan>,
}

impl<'m, R: Semiring, M: Kernels<I>, I: Index, S, A> Build<'m, M, I, Mxm<R, M, I>, S, A> {
    /// Sets options of the algorithm.
    pub fn options(mut self, options: Options) -> Self {
        self.op.options = options;
        self
    }
    /// Uses a plan for operands of the same structure: only values are computed. `into` a matrix with the structure of
    /// the plan writes its values in place. A plan with a mask applies that mask.
    pub fn plan(mut self, plan: &M::Plan) -> Self {
        self.op.plan = Some(plan.clone());
        self
    }
}

impl<R: Semiring, M: Kernels<I>, I: Index> Operation<M, I> for Mxm<R, M, I> {
    type Kind = Matrices;
    type Out = Out<R>;
    const NAME: &'static str = "mxm";
    fn compute(self, m: &M, mask: Mask<'_, M::Pattern>) -> Result<M::Matrix<Out<R>>> {
        let (a, b) = (flipped(m, self.a, self.flip[0])?, flipped(m, self.b, self.flip[1])?);
        let Some(plan) = self.plan else {
            return m.product(self.ring, &a, &b, mask.map(|m| (m.pattern, m.complement)), &self.options);
        };
        masked::<M, I, Matrices, _>(m, m.numeric(&plan, self.ring, &a, &b)?, mask)
    }
    fn write_into<A: Accumulate<Out<R>>>(
        self,
        m: &M,
        c: &mut M::Matrix<Out<R>>,
        mask: Write<M::Pattern>,
        accum: A,
    ) -> Result<()> {
        if mask.is_none()
            && !A::SOME
            && let Some(plan) = self.plan.as_ref().filter(|plan| m.is_of_plan(plan, c))
        {
            let (a, b) = (flipped(m, self.a, self.flip[0])?, flipped(m, self.b, self.flip[1])?);
            return m.numeric_into(plan, self.ring, &a, &b, c);
        }
        let t = self.compute(m, mask.as_ref().map(WriteMask::spec))?;
        write::<M, I, Matrices, _, _>(m, Self::NAME, c, t, mask, accum)
    }
}
impl<R: Semiring, M: Kernels<I>, I: Index> TransposeA for Mxm<R, M, I> {
    fn flip_a(&mut self) {
        self.flip[0] = !self.flip[0];
    }
}
impl<R: Semiring, M: Kernels<I>, I: Index> TransposeB for Mxm<R, M, I> {
    fn flip_b(&mut self) {
        self.flip[1] = !self.flip[1];
    }
}

/// A builder for the plan of C = A·B.
#[must_use = "no plan is made before eval()"]
pub struct PlanOf<'m, M: Kernels<I>, I: Index> {
    pub(super) machine: &'m M,
    pub(super) a: Result<M::Pattern>,
    pub(super) b: Result<M::Pattern>,
    pub(super) mask: Option<Result<(M::Pattern, bool)>>,
    pub(super) options: Options,
}

impl<M: Kernels<I>, I: Index> PlanOf<'_, M, I> {
    /// Sets options of the algorithm.
    pub fn options(mut self, options: &Options) -> Self {
        self.options = options.clone();
        self
    }
    /// Restricts C to the entries that the mask allows.
    pub fn mask(mut self, mask: impl super::Mask<M, I, Matrices>) -> Self {
        self.mask = Some(mask.resolve(self.machine));
        self
    }
    /// The plan; it depends on patterns only, not on values or the semiring.
    /// # Errors
    /// [`Error::Shape`], [`Error::OutOfMemory`], [`Error::Budget`], those of the backend.
    pub fn eval(self) -> Result<M::Plan> {
        let mask = self.mask.transpose()?;
        self.machine.symbolic(&self.a?, &self.b?, mask.as_ref().map(|(p, c)| (p, *c)), &self.options)
    }
}

impl<I: Index> PlanOf<'_, super::Cpu, I> {
    /// Statistics of the product, including nnz(C), without its pattern; for estimates of memory and size.
    ///
    /// ```
    /// use sparring::prelude::*;
    /// let a = sparring_generate::matrix("lap2d_1000")?;
    /// let stats = Cpu::new().plan(&a, &a).count()?;
    /// assert_eq!((stats.flops, stats.nnz), (24_964_008, 12_980_004));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// Those of [`eval`](Self::eval).
    pub fn count(self) -> Result<crate::spgemm::Stats> {
        let (mask, a, b) = (self.mask.transpose()?, self.a?, self.b?);
        let (a, b) = (a.rows()?, b.rows()?);
        let pattern = mask.as_ref().map(|(pattern, _)| pattern.rows()).transpose()?;
        let mask = pattern.as_ref().zip(mask.as_ref()).map(|(pattern, (_, complement))| (&***pattern, *complement));
        let request = crate::spgemm::Request { options: &self.options, budget: self.machine.budget(), mask };
        crate::spgemm::count(self.machine.threads(), &a, &b, &request)
    }
}

/// y = A ⊕.⊗ x.
pub struct Mxv<R: Semiring, M: Kernels<I>, I: Index> {
    pub(super) ring: R,
    pub(super) a: M::Matrix<Lhs<R>>,
    pub(super) x: M::Vector<Rhs<R>>,
    pub(super) flip: bool,
    pub(super) transpose: Option<M::Matrix<Lhs<R>>>,
}

impl<R: Semiring, M: Kernels<I>, I: Index, S, A> Build<'_, M, I, Mxv<R, M, I>, S, A> {
    /// Supplies a precomputed Aᵀ: the product then uses the rows of A that the mask allows (pull) or the rows of Aᵀ at
    /// the indices of x (push), whichever is cheaper.
    ///
    /// ```
    /// use sparring::prelude::*;
    /// // A step of a breadth-first search along 0 → 1 → 2, y = Aᵀq.
    /// let a = Csr::<bool>::new(3, 3, vec![0, 1, 2, 2], vec![1, 2], vec![true; 2])?;
    /// let (cpu, q) = (Cpu::new(), Vector::new(3, vec![0], vec![true])?);
    /// let at = cpu.transpose(&a).eval()?;
    /// let next = cpu.mxv(AnyPair::<bool>::new(), &at, &q).with_transpose(&a).mask(!q.structure()).eval()?;
    /// assert_eq!(next.to_sparse()?.indices(), [1]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    ///
    /// Both directions give the same entries, bitwise if ⊕ is exact; sums of floats may be rounded differently, as
    /// documented at [`mxv`](super::Backend::mxv) and [`vxm`](super::Backend::vxm). The choice depends on counts alone,
    /// not on threads; on the CPU it costs O(nnz(x)). A matrix that is not the transpose gives a wrong result; only its
    /// shape and number of entries are checked.
    pub fn with_transpose(mut self, at: &M::Matrix<Lhs<R>>) -> Self {
        self.op.transpose = Some(at.clone());
        self
    }
}
impl<R: Semiring, M: Kernels<I>, I: Index> Operation<M, I> for Mxv<R, M, I> {
    type Kind = Vectors;
    type Out = Out<R>;
    const NAME: &'static str = "mxv";
    fn compute(self, m: &M, mask: Mask<'_, M::VectorPattern>) -> Result<M::Vector<Out<R>>> {
        let Self { ring, a, x, flip, transpose } = self;
        let (shape, len) = (transposed_shape(m.shape(&a), flip), m.len(&x));
        if len != shape.1 {
            return Err(Error::Shape { op: Self::NAME, lhs: shape, rhs: (len, 1) });
        }
        // Aᵀ is not computed: Aᵀx uses the rows of A at the indices of x.
        match direction::<_, _, R::Add, _, _>(m, &a, transpose.as_ref(), !flip, &x, mask)? {
            (true, rows) => m.mxv_masked(ring, rows, &x, mask),
            (false, named) => m.vxm_masked(transposed_ring(ring), &x, named, mask),
        }
    }
}
impl<R: Semiring, M: Kernels<I>, I: Index> TransposeA for Mxv<R, M, I> {
    fn flip_a(&mut self) {
        self.flip = !self.flip;
    }
}

/// yᵀ = xᵀ ⊕.⊗ A.
pub struct Vxm<R: Semiring, M: Kernels<I>, I: Index> {
    pub(super) ring: R,
    pub(super) x: M::Vector<Lhs<R>>,
    pub(super) a: M::Matrix<Rhs<R>>,
    pub(super) flip: bool,
    pub(super) transpose: Option<M::Matrix<Rhs<R>>>,
}

impl<R: Semiring, M: Kernels<I>, I: Index, S, A> Build<'_, M, I, Vxm<R, M, I>, S, A> {
    /// Supplies a precomputed Aᵀ: the product then uses the rows of A at the indices of x (push) or the rows of Aᵀ that
    /// the mask allows (pull), whichever is cheaper; see [`with_transpose`](Build::with_transpose) of `mxv`.
    pub fn with_transpose(mut self, at: &M::Matrix<Rhs<R>>) -> Self {
        self.op.transpose = Some(at.clone());
        self
    }
}
impl<R: Semiring, M: Kernels<I>, I: Index> Operation<M, I> for Vxm<R, M, I> {
    type Kind = Vectors;
    type Out = Out<R>;
    const NAME: &'static str = "vxm";
    fn compute(self, m: &M, mask: Mask<'_, M::VectorPattern>) -> Result<M::Vector<Out<R>>> {
        let Self { ring, x, a, flip, transpose } = self;
        let (shape, len) = (transposed_shape(m.shape(&a), flip), m.len(&x));
        if len != shape.0 {
            return Err(Error::Shape { op: Self::NAME, lhs: (1, len), rhs: shape });
        }
        // Aᵀ is not computed: xᵀAᵀ folds each row of A, and stops at the terminal value of ⊕.
        match direction::<_, _, R::Add, _, _>(m, &a, transpose.as_ref(), flip, &x, mask)? {
            (false, named) => m.vxm_masked(ring, &x, named, mask),
            (true, rows) => m.mxv_masked(transposed_ring(ring), rows, &x, mask),
        }
    }
}
impl<R: Semiring, M: Kernels<I>, I: Index> TransposeB for Vxm<R, M, I> {
    fn flip_b(&mut self) {
        self.flip = !self.flip;
    }
}

/// The shape, transposed if `flip`.
fn transposed_shape(shape: (usize, usize), flip: bool) -> (usize, usize) {
    if flip { (shape.1, shape.0) } else { shape }
}

/// Direction of a matrix–vector product: true for pull, by the matrix whose rows are those of the result, or false for
/// push, by its transpose; and the matrix to use. Without a given transpose it is `a`, which pulls if `is_rows`.
fn direction<'a, M: Kernels<I>, I: Index, P: Monoid, T: Value, X: Value>(
    m: &M,
    a: &'a M::Matrix<T>,
    transpose: Option<&'a M::Matrix<T>>,
    is_rows: bool,
    x: &M::Vector<X>,
    mask: Mask<'_, M::VectorPattern>,
) -> Result<(bool, &'a M::Matrix<T>)> {
    let Some(at) = transpose else { return Ok((is_rows, a)) };
    let (shape, nnz, of_at, nnz_of_at) = (m.shape(a), a.count(m)?, m.shape(at), at.count(m)?);
    check_transpose((shape, nnz), (of_at, nnz_of_at))?;
    let (rows, named) = if is_rows { (a, at) } else { (at, a) };
    let stops = P::IS_LAST || P::TERMINAL.is_some() && P::Out::TYPE == Type::Bool;
    Ok(if m.is_by_rows(named, x, mask, stops)? { (true, rows) } else { (false, named) })
}

/// Elementwise operations of matrices and vectors.
pub trait Entrywise<M: Kernels<I>, I: Index>: Kind<M, I> {
    #[doc(hidden)]
    fn ewise_mult<O: BinaryOp>(m: &M, op: O, a: &Self::Of<O::A>, b: &Self::Of<O::B>) -> Result<Self::Of<O::Out>>;
    #[doc(hidden)]
    fn ewise_union<O: BinaryOp>(
        m: &M,
        op: O,
        a: (&Self::Of<O::A>, O::A),
        b: (&Self::Of<O::B>, O::B),
    ) -> Result<Self::Of<O::Out>>;
    #[doc(hidden)]
    fn apply<O: UnaryOp>(m: &M, op: O, a: &Self::Of<O::A>) -> Result<Self::Of<O::Out>>;
    #[doc(hidden)]
    fn apply_index<O: IndexUnaryOp>(m: &M, op: O, a: &Self::Of<O::A>, s: O::S) -> Result<Self::Of<O::Out>>;
    #[doc(hidden)]
    fn select<O: IndexUnaryOp<Out = bool>>(m: &M, op: O, a: &Self::Of<O::A>, s: O::S) -> Result<Self::Of<O::A>>;
    #[doc(hidden)]
    fn reduce<P: Monoid>(m: &M, monoid: P, a: &Self::Of<P::Out>) -> Result<P::Out>;
    #[doc(hidden)]
    fn transposed<T: Value>(m: &M, a: Self::Of<T>, flip: bool) -> Result<Self::Of<T>>;
}

macro_rules! entrywise {
    ($kind:ident: $mult:ident($($pairing:expr)?) $union:ident $apply:ident $index:ident $select:ident $reduce:ident $flip:expr) => {
        impl<M: Kernels<I>, I: Index> Entrywise<M, I> for $kind {
            fn ewise_mult<O: BinaryOp>(
                m: &M,
                op: O,
                a: &Self::Of<O::A>,
                b: &Self::Of<O::B>,
            ) -> Result<Self::Of<O::Out>> {
                m.$mult($($pairing,)? op, a, b)
            }
            fn ewise_union<O: BinaryOp>(
                m: &M,
                op: O,
                a: (&Self::Of<O::A>, O::A),
                b: (&Self::Of<O::B>, O::B),
            ) -> Result<Self::Of<O::Out>> {
                m.$union(op, a, b)
            }
            fn apply<O: UnaryOp>(m: &M, op: O, a: &Self::Of<O::A>) -> Result<Self::Of<O::Out>> {
                m.$apply(op, a)
            }
            fn apply_index<O: IndexUnaryOp>(m: &M, op: O, a: &Self::Of<O::A>, s: O::S) -> Result<Self::Of<O::Out>> {
                m.$index(op, a, s)
            }
            fn select<O: IndexUnaryOp<Out = bool>>(
                m: &M,
                op: O,
                a: &Self::Of<O::A>,
                s: O::S,
            ) -> Result<Self::Of<O::A>> {
                m.$select(op, a, s)
            }
            fn reduce<P: Monoid>(m: &M, monoid: P, a: &Self::Of<P::Out>) -> Result<P::Out> {
                m.$reduce(monoid, a)
            }
            fn transposed<T: Value>(m: &M, a: Self::Of<T>, flip: bool) -> Result<Self::Of<T>> {
                let transposed: fn(&M, Self::Of<T>, bool) -> Result<Self::Of<T>> = $flip;
                transposed(m, a, flip)
            }
        }
    };
}
entrywise!(Matrices: pairs(Pairing::EwiseMult) ewise_union_matrices apply_matrix apply_index_matrix select_matrix reduce_matrix
    |m, a, flip| flipped(m, a, flip));
entrywise!(Vectors: ewise_mult_vectors() ewise_union_vectors apply_vector apply_index_vector select_vector reduce_vector
    |_, a, _| Ok(a));

/// The matrix or vector type of kind `K` with values `T` on backend `M`.
type Of<M, I, K, T> = <K as Kind<M, I>>::Of<T>;

/// C = A ∘ B over the union of the patterns; an entry without a counterpart is kept.
pub struct EwiseAdd<O: BinaryOp, K: Kind<M, I>, M: Kernels<I>, I: Index> {
    pub(super) op: O,
    pub(super) a: Of<M, I, K, O::A>,
    pub(super) b: Of<M, I, K, O::B>,
    pub(super) flip: [bool; 2],
}
impl<T: Value, O: BinaryOp<A = T, B = T, Out = T>, K: Entrywise<M, I>, M: Kernels<I>, I: Index> Operation<M, I>
    for EwiseAdd<O, K, M, I>
{
    type Kind = K;
    type Out = T;
    const NAME: &'static str = "ewise_add";
    fn compute(self, m: &M, mask: Mask<'_, K::Pattern>) -> Result<K::Of<T>> {
        let (a, of_a) = masked_operand::<M, I, K, T>(m, self.a, self.flip[0], mask)?;
        let (b, of_b) = masked_operand::<M, I, K, T>(m, self.b, self.flip[1], mask)?;
        masked_result::<M, I, K, T>(m, K::ewise_add(m, self.op, &a, &b)?, mask, of_a && of_b)
    }
    /// c = c ∘ B and c = A ∘ c are written as an accumulation of B or A into c.
    fn write_into<A: Accumulate<T>>(self, m: &M, c: &mut K::Of<T>, mask: Write<K::Pattern>, accum: A) -> Result<()> {
        let (is_a, is_b) = (!self.flip[0] && K::is_same(m, &self.a, c), !self.flip[1] && K::is_same(m, &self.b, c));
        if A::SOME || is_a == is_b {
            let t = self.compute(m, mask.as_ref().map(WriteMask::spec))?;
            return write::<M, I, K, _, _>(m, Self::NAME, c, t, mask, accum);
        }
        let Self { op, a, b, flip } = self;
        // The operand that is c is dropped, so that c is not shared and not copied.
        let (same, t, flip) = if is_a { (a, b, flip[1]) } else { (b, a, flip[0]) };
        drop(same);
        let t = K::transposed(m, t, flip)?;
        let t = masked::<M, I, K, T>(m, t, mask.as_ref().map(WriteMask::spec))?;
        if is_a {
            write::<M, I, K, _, _>(m, Self::NAME, c, t, mask, Accum(op))
        } else {
            write::<M, I, K, _, _>(m, Self::NAME, c, t, mask, Accum(Flipped(op)))
        }
    }
}

/// C = A ∘ B over the intersection of the patterns.
pub struct EwiseMult<O: BinaryOp, K: Kind<M, I>, M: Kernels<I>, I: Index> {
    pub(super) op: O,
    pub(super) a: Of<M, I, K, O::A>,
    pub(super) b: Of<M, I, K, O::B>,
    pub(super) flip: [bool; 2],
}
impl<O: BinaryOp, K: Entrywise<M, I>, M: Kernels<I>, I: Index> Operation<M, I> for EwiseMult<O, K, M, I> {
    type Kind = K;
    type Out = O::Out;
    const NAME: &'static str = "ewise_mult";
    fn compute(self, m: &M, mask: Mask<'_, K::Pattern>) -> Result<K::Of<O::Out>> {
        let (a, of_a) = masked_operand::<M, I, K, O::A>(m, self.a, self.flip[0], mask)?;
        let (b, of_b) = masked_operand::<M, I, K, O::B>(m, self.b, self.flip[1], mask)?;
        // Every entry of the result is an entry of both operands.
        masked_result::<M, I, K, O::Out>(m, K::ewise_mult(m, self.op, &a, &b)?, mask, of_a || of_b)
    }
}

/// C = A ∘ B of matrices, for the pairs of entries selected by a [`Pairing`].
pub struct Pairs<O: BinaryOp, M: Kernels<I>, I: Index> {
    pub(super) pairing: Pairing,
    pub(super) op: O,
    pub(super) a: M::Matrix<O::A>,
    pub(super) b: M::Matrix<O::B>,
    pub(super) flip: [bool; 2],
}
impl<O: BinaryOp, M: Kernels<I>, I: Index> Operation<M, I> for Pairs<O, M, I> {
    type Kind = Matrices;
    type Out = O::Out;
    const NAME: &'static str = "pairs";
    fn compute(self, m: &M, mask: Mask<'_, M::Pattern>) -> Result<M::Matrix<O::Out>> {
        let (a, b) = (flipped(m, self.a, self.flip[0])?, flipped(m, self.b, self.flip[1])?);
        masked::<M, I, Matrices, O::Out>(m, m.pairs(self.pairing, self.op, &a, &b)?, mask)
    }
    fn write_into<A: Accumulate<O::Out>>(
        self,
        m: &M,
        c: &mut M::Matrix<O::Out>,
        mask: Write<M::Pattern>,
        accum: A,
    ) -> Result<()> {
        let name = self.pairing.name();
        let t = self.compute(m, mask.as_ref().map(WriteMask::spec))?;
        write::<M, I, Matrices, _, _>(m, name, c, t, mask, accum)
    }
}
impl<O: BinaryOp, M: Kernels<I>, I: Index> TransposeA for Pairs<O, M, I> {
    fn flip_a(&mut self) {
        self.flip[0] = !self.flip[0];
    }
}
impl<O: BinaryOp, M: Kernels<I>, I: Index> TransposeB for Pairs<O, M, I> {
    fn flip_b(&mut self) {
        self.flip[1] = !self.flip[1];
    }
}

/// C = A ∘ B over the union of the patterns; given values replace missing entries.
pub struct EwiseUnion<O: BinaryOp, K: Kind<M, I>, M: Kernels<I>, I: Index> {
    pub(super) op: O,
    pub(super) a: (Of<M, I, K, O::A>, O::A),
    pub(super) b: (Of<M, I, K, O::B>, O::B),
    pub(super) flip: [bool; 2],
}
impl<O: BinaryOp, K: Entrywise<M, I>, M: Kernels<I>, I: Index> Operation<M, I> for EwiseUnion<O, K, M, I> {
    type Kind = K;
    type Out = O::Out;
    const NAME: &'static str = "ewise_union";
    fn compute(self, m: &M, mask: Mask<'_, K::Pattern>) -> Result<K::Of<O::Out>> {
        let (a, of_a) = masked_operand::<M, I, K, O::A>(m, self.a.0, self.flip[0], mask)?;
        let (b, of_b) = masked_operand::<M, I, K, O::B>(m, self.b.0, self.flip[1], mask)?;
        let t = K::ewise_union(m, self.op, (&a, self.a.1), (&b, self.b.1))?;
        masked_result::<M, I, K, O::Out>(m, t, mask, of_a && of_b)
    }
}

macro_rules! flips {
    ($($name:ident)*) => {$(
        impl<O: BinaryOp, K: Kind<M, I>, M: Kernels<I>, I: Index> TransposeA for $name<O, K, M, I> {
            fn flip_a(&mut self) {
                self.flip[0] = !self.flip[0];
            }
        }
        impl<O: BinaryOp, K: Kind<M, I>, M: Kernels<I>, I: Index> TransposeB for $name<O, K, M, I> {
            fn flip_b(&mut self) {
                self.flip[1] = !self.flip[1];
            }
        }
    )*};
}
flips! { EwiseAdd EwiseMult EwiseUnion }

/// C = f(A).
pub struct Apply<O: UnaryOp, K: Kind<M, I>, M: Kernels<I>, I: Index> {
    pub(super) op: O,
    pub(super) a: Of<M, I, K, O::A>,
    pub(super) flip: bool,
}
impl<O: UnaryOp, K: Entrywise<M, I>, M: Kernels<I>, I: Index> Operation<M, I> for Apply<O, K, M, I> {
    type Kind = K;
    type Out = O::Out;
    const NAME: &'static str = "apply";
    fn compute(self, m: &M, mask: Mask<'_, K::Pattern>) -> Result<K::Of<O::Out>> {
        let (a, is_masked) = masked_operand::<M, I, K, O::A>(m, self.a, self.flip, mask)?;
        masked_result::<M, I, K, O::Out>(m, K::apply(m, self.op, &a)?, mask, is_masked)
    }
}
impl<O: UnaryOp, K: Kind<M, I>, M: Kernels<I>, I: Index> TransposeA for Apply<O, K, M, I> {
    fn flip_a(&mut self) {
        self.flip = !self.flip;
    }
}

/// C = f(A, s, i, j).
pub struct ApplyIndex<O: IndexUnaryOp, K: Kind<M, I>, M: Kernels<I>, I: Index> {
    pub(super) op: O,
    pub(super) a: Of<M, I, K, O::A>,
    pub(super) s: O::S,
    pub(super) flip: bool,
}
impl<O: IndexUnaryOp, K: Entrywise<M, I>, M: Kernels<I>, I: Index> Operation<M, I> for ApplyIndex<O, K, M, I> {
    type Kind = K;
    type Out = O::Out;
    const NAME: &'static str = "apply_index";
    fn compute(self, m: &M, mask: Mask<'_, K::Pattern>) -> Result<K::Of<O::Out>> {
        let (a, is_masked) = masked_operand::<M, I, K, O::A>(m, self.a, self.flip, mask)?;
        masked_result::<M, I, K, O::Out>(m, K::apply_index(m, self.op, &a, self.s)?, mask, is_masked)
    }
}

/// The entries for which f(a, s, i, j) holds.
pub struct Select<O: IndexUnaryOp, K: Kind<M, I>, M: Kernels<I>, I: Index> {
    pub(super) op: O,
    pub(super) a: Of<M, I, K, O::A>,
    pub(super) s: O::S,
    pub(super) flip: bool,
}
impl<O: IndexUnaryOp<Out = bool>, K: Entrywise<M, I>, M: Kernels<I>, I: Index> Operation<M, I> for Select<O, K, M, I> {
    type Kind = K;
    type Out = O::A;
    const NAME: &'static str = "select";
    fn compute(self, m: &M, mask: Mask<'_, K::Pattern>) -> Result<K::Of<O::A>> {
        let (a, is_masked) = masked_operand::<M, I, K, O::A>(m, self.a, self.flip, mask)?;
        masked_result::<M, I, K, O::A>(m, K::select(m, self.op, &a, self.s)?, mask, is_masked)
    }
}

macro_rules! flips_index {
    ($($name:ident)*) => {$(
        impl<O: IndexUnaryOp, K: Kind<M, I>, M: Kernels<I>, I: Index> TransposeA for $name<O, K, M, I> {
            fn flip_a(&mut self) {
                self.flip = !self.flip;
            }
        }
    )*};
}
flips_index! { ApplyIndex Select }

/// y(i) = ⊕ over row i.
pub struct ReduceRows<P: Monoid, M: Kernels<I>, I: Index> {
    pub(super) monoid: P,
    pub(super) a: M::Matrix<P::Out>,
    pub(super) flip: bool,
}
impl<P: Monoid, M: Kernels<I>, I: Index> Operation<M, I> for ReduceRows<P, M, I> {
    type Kind = Vectors;
    type Out = P::Out;
    const NAME: &'static str = "reduce_rows";
    fn compute(self, m: &M, mask: Mask<'_, M::VectorPattern>) -> Result<M::Vector<P::Out>> {
        m.reduce_rows_of(self.monoid, &flipped(m, self.a, self.flip)?, mask)
    }
}
impl<P: Monoid, M: Kernels<I>, I: Index> TransposeA for ReduceRows<P, M, I> {
    fn flip_a(&mut self) {
        self.flip = !self.flip;
    }
}

/// Aᵀ.
pub struct Transpose<T: Value, M: Kernels<I>, I: Index> {
    pub(super) a: M::Matrix<T>,
    pub(super) flip: bool,
}
impl<T: Value, M: Kernels<I>, I: Index> Operation<M, I> for Transpose<T, M, I> {
    type Kind = Matrices;
    type Out = T;
    const NAME: &'static str = "transpose";
    fn compute(self, m: &M, mask: Mask<'_, M::Pattern>) -> Result<M::Matrix<T>> {
        masked::<M, I, Matrices, T>(m, flipped(m, self.a, !self.flip)?, mask)
    }
}
impl<T: Value, M: Kernels<I>, I: Index> TransposeA for Transpose<T, M, I> {
    fn flip_a(&mut self) {
        self.flip = !self.flip;
    }
}

/// w(p) = v(indices(p)).
pub struct Extract<'i, T: Value, M: Kernels<I>, I: Index> {
    pub(super) v: M::Vector<T>,
    pub(super) indices: Indices<'i, I>,
}
impl<T: Value, M: Kernels<I>, I: Index> Operation<M, I> for Extract<'_, T, M, I> {
    type Kind = Vectors;
    type Out = T;
    const NAME: &'static str = "extract";
    fn compute(self, m: &M, mask: Mask<'_, M::VectorPattern>) -> Result<M::Vector<T>> {
        let Self { v, indices } = self;
        let t = match &indices {
            all if all.is_all() => v,
            Indices::List(list) => m.extract_listed(&v, list)?,
            Indices::Slice(indices) => m.extract_vector(&v, indices)?,
        };
        masked::<M, I, Vectors, T>(m, t, mask)
    }
}

/// w(indices(p)) = v(p); other entries of w are kept.
pub struct Assign<'i, T: Value, M: Kernels<I>, I: Index> {
    pub(super) v: M::Vector<T>,
    pub(super) indices: Indices<'i, I>,
}
/// w(i) = x.
pub struct AssignScalar<T> {
    pub(super) x: T,
}

/// The error of `eval` for an assignment, which requires a target.
pub(super) fn no_target<T>() -> Result<T> {
    Err(Error::Unsupported {
        what: "eval() of an assignment".into(),
        why: "it says what to write and not where: call into(&mut w)".into(),
    })
}

impl<T: Value, M: Kernels<I>, I: Index> Operation<M, I> for Assign<'_, T, M, I> {
    type Kind = Vectors;
    type Out = T;
    const NAME: &'static str = "assign";
    fn compute(self, _: &M, _: Mask<'_, M::VectorPattern>) -> Result<M::Vector<T>> {
        no_target()
    }
    /// With an accumulator, T is v scattered to the indices. Without one, only the listed indices of w are written: the
    /// index list, intersected with the mask of w, is the effective mask.
    fn write_into<A: Accumulate<T>>(
        self,
        m: &M,
        w: &mut M::Vector<T>,
        mask: Write<M::VectorPattern>,
        accum: A,
    ) -> Result<()> {
        let (Self { v, indices }, len) = (self, m.len(w));
        let spec = mask.as_ref().map(WriteMask::spec);
        if indices.is_all() {
            let t = masked::<M, I, Vectors, T>(m, v, spec)?;
            return write::<M, I, Vectors, _, _>(m, Self::NAME, w, t, mask, accum);
        }
        let indices = indices.resolve(len)?;
        let t = masked::<M, I, Vectors, T>(m, m.scatter_vector(&v, &indices, len)?, spec)?;
        drop(v);
        if A::SOME {
            return write::<M, I, Vectors, _, _>(m, Self::NAME, w, t, mask, accum);
        }
        let mut pattern = m.index_pattern(&indices, len)?;
        if let Some(mask) = mask {
            let allowed = m.full_vector(len, true, Some(MaskSpec::new(&pattern, false)))?;
            pattern = masked::<M, I, Vectors, bool>(m, allowed, Some(mask.spec()))?.entry_pattern(m)?;
            if mask.replace && !keep_allowed(&On::<M, I, Vectors, T, _>::new(m, Plain), w, mask)? {
                *w = t;
                return Ok(());
            }
        }
        let written = WriteMask { pattern, complement: false, replace: false };
        write::<M, I, Vectors, _, _>(m, Self::NAME, w, t, Some(written), Plain)
    }
}
impl<T: Value, M: Kernels<I>, I: Index> Operation<M, I> for AssignScalar<T> {
    type Kind = Vectors;
    type Out = T;
    const NAME: &'static str = "assign";
    fn compute(self, _: &M, _: Mask<'_, M::VectorPattern>) -> Result<M::Vector<T>> {
        no_target()
    }
    fn write_into<A: Accumulate<T>>(
        self,
        m: &M,
        w: &mut M::Vector<T>,
        mask: Write<M::VectorPattern>,
        accum: A,
    ) -> Result<()> {
        match mask {
            Some(mask) if !A::SOME && !mask.replace => m.assign_masked(w, self.x, mask.spec()),
            mask => {
                let t = m.full_vector(m.len(w), self.x, mask.as_ref().map(WriteMask::spec))?;
                write::<M, I, Vectors, _, _>(m, "assign", w, t, mask, accum)
            }
        }
    }
}

/// A builder for ⊕ over all entries.
#[must_use = "nothing is computed before eval() or into()"]
pub struct Reduce<'m, P: Monoid, C, M, I, A = Plain> {
    pub(super) machine: &'m M,
    pub(super) monoid: P,
    pub(super) a: C,
    pub(super) accum: A,
    pub(super) index: PhantomData<I>,
}
impl<'m, P: Monoid, C, M, I> Reduce<'m, P, C, M, I> {
    /// Accumulates the fold into the existing scalar by ⊙; for [`into`](Reduce::into).
    pub fn accum<O: BinaryOp>(self, op: O) -> Reduce<'m, P, C, M, I, Accum<O>> {
        let Self { machine, monoid, a, index, .. } = self;
        Reduce { machine, monoid, a, accum: Accum(op), index }
    }
}
impl<P: Monoid, C, M: Kernels<I>, I: Index> Reduce<'_, P, C, M, I>
where
    C: Container<M, I, Value = P::Out>,
    C::Kind: Entrywise<M, I> + Kind<M, I, Of<P::Out> = C>,
{
    /// The fold; the identity if there are no entries.
    /// # Errors
    /// Those of the backend.
    pub fn eval(self) -> Result<P::Out> {
        <C::Kind as Entrywise<M, I>>::reduce(self.machine, self.monoid, &self.a)
    }
    /// The fold, and a description of the computation, as [`Build::explain`] gives it.
    /// # Errors
    /// Those of [`eval`](Self::eval).
    pub fn explain(self) -> Result<(P::Out, String)> {
        let (made, how) = explained(|| self.eval());
        Ok((made?, how))
    }
}
impl<P: Monoid, C, M: Kernels<I>, I: Index, A: JoinScalar<P::Out>> Reduce<'_, P, C, M, I, A>
where
    C: Container<M, I, Value = P::Out>,
    C::Kind: Entrywise<M, I> + Kind<M, I, Of<P::Out> = C>,
{
    /// Writes the fold into a scalar that may be absent (`GrB_reduce` into a `GrB_Scalar`). Without ⊙, the scalar
    /// becomes absent if there are no entries. With ⊙, it is then unchanged; an absent scalar becomes the fold.
    /// ```
    /// use sparring::prelude::*;
    /// let (cpu, x, mut s) = (Cpu::new(), Vector::<i32>::full(vec![4, 2])?, None);
    /// cpu.reduce(Max::new(), &Vector::<i32>::empty(5)?).into(&mut s)?;
    /// assert_eq!(s, None);
    /// cpu.reduce(Max::new(), &x).into(&mut s)?;
    /// cpu.reduce(Max::new(), &x).accum(Plus::new()).into(&mut s)?;
    /// assert_eq!(s, Some(8));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// Those of the backend.
    pub fn into(self, s: &mut Option<P::Out>) -> Result<()> {
        let Self { machine, monoid, a, accum, .. } = self;
        let t = match a.count(machine)? {
            0 => None,
            _ => Some(<C::Kind as Entrywise<M, I>>::reduce(machine, monoid, &a)?),
        };
        *s = accum.join_scalar(*s, t);
        Ok(())
    }
}
