//! The operations that end in a mask, an accumulator and a result: one type each, which [`Backend`]'s methods make.

use std::marker::PhantomData;

use super::container::{Container, Kind, Matrices, Vectors};
use super::{Backend, Build, Operation, Target, TransposeA, TransposeB};
use crate::algebra::{BinaryOp, IndexUnaryOp, Lhs, Monoid, Out, Rhs, Semiring, UnaryOp, Value};
use crate::spgemm::Options;
use crate::{Error, Index, Result};

/// The places of a mask, and whether all others are meant.
type Hint<'a, P> = Option<(&'a P, bool)>;

/// T where the mask lets it through, for operations that compute it everywhere.
fn masked<M: Backend<I>, I: Index, K: Kind<M, I>, T: Value>(
    m: &M,
    t: K::Of<T>,
    mask: Hint<'_, K::Places>,
) -> Result<K::Of<T>> {
    match mask {
        Some((places, complement)) => K::restrict(m, &t, places, complement),
        None => Ok(t),
    }
}

fn flipped<M: Backend<I>, I: Index, T: Value>(m: &M, a: M::Matrix<T>, flip: bool) -> Result<M::Matrix<T>> {
    if flip { m.transposed(&a) } else { Ok(a) }
}

/// C = A ⊕.⊗ B.
pub struct Mxm<R: Semiring, M: Backend<I>, I: Index> {
    pub(super) ring: R,
    pub(super) a: M::Matrix<Lhs<R>>,
    pub(super) b: M::Matrix<Rhs<R>>,
    pub(super) flip: [bool; 2],
    pub(super) options: Options,
    pub(super) plan: Option<M::Plan>,
}

impl<'m, R: Semiring, M: Backend<I>, I: Index, S, A> Build<'m, M, I, Mxm<R, M, I>, S, A> {
    /// How to compute it.
    pub fn options(mut self, options: Options) -> Self {
        self.op.options = options;
        self
    }
    /// By a plan made before, for operands of the same structure: only values are computed. `into` a matrix that the plan
    /// made writes its values in place. The plan has its mask, if it was made under one.
    pub fn plan(mut self, plan: &M::Plan) -> Self {
        self.op.plan = Some(plan.clone());
        self
    }
}

impl<R: Semiring, M: Backend<I>, I: Index> Operation<M, I> for Mxm<R, M, I> {
    type Kind = Matrices;
    type Out = Out<R>;
    const NAME: &'static str = "mxm";
    fn compute(
        self,
        m: &M,
        _: Option<Target<'_, M::Matrix<Out<R>>>>,
        mask: Hint<'_, M::Pattern>,
    ) -> Result<M::Matrix<Out<R>>> {
        let (a, b) = (flipped(m, self.a, self.flip[0])?, flipped(m, self.b, self.flip[1])?);
        let Some(plan) = self.plan else {
            return m.product(self.ring, &a, &b, mask, &self.options);
        };
        masked::<M, I, Matrices, _>(m, m.numeric(&plan, self.ring, &a, &b)?, mask)
    }
    fn overwrite(self, m: &M, c: &mut M::Matrix<Out<R>>) -> Result<()> {
        let planned = self.plan.as_ref().is_some_and(|plan| m.is_of_plan(plan, c));
        if planned && let Some(plan) = &self.plan {
            let (a, b) = (flipped(m, self.a, self.flip[0])?, flipped(m, self.b, self.flip[1])?);
            return m.numeric_into(plan, self.ring, &a, &b, c);
        }
        let t = self.compute(m, None, None)?;
        super::write::write::<M, I, Matrices, _>(m, Self::NAME, c, t, None, None)
    }
}
impl<R: Semiring, M: Backend<I>, I: Index> TransposeA for Mxm<R, M, I> {
    fn flip_a(&mut self) {
        self.flip[0] = !self.flip[0];
    }
}
impl<R: Semiring, M: Backend<I>, I: Index> TransposeB for Mxm<R, M, I> {
    fn flip_b(&mut self) {
        self.flip[1] = !self.flip[1];
    }
}

/// The structure of C = A·B.
#[must_use = "no plan is made before eval()"]
pub struct PlanOf<'m, M: Backend<I>, I: Index> {
    pub(super) machine: &'m M,
    pub(super) a: Result<M::Pattern>,
    pub(super) b: Result<M::Pattern>,
    pub(super) mask: Option<Result<(M::Pattern, bool)>>,
    pub(super) options: Options,
}

impl<M: Backend<I>, I: Index> PlanOf<'_, M, I> {
    /// How to compute it.
    pub fn options(mut self, options: &Options) -> Self {
        self.options = options.clone();
        self
    }
    /// Only the entries that the mask lets through are in C; nothing else is multiplied.
    pub fn mask(mut self, mask: impl super::Mask<M, I, Matrices>) -> Self {
        self.mask = Some(mask.resolve(self.machine));
        self
    }
    /// The plan: patterns only, no values, no semiring.
    /// # Errors
    /// [`Error::Shape`], [`Error::OutOfMemory`], [`Error::Budget`], those of the machine.
    pub fn eval(self) -> Result<M::Plan> {
        let mask = self.mask.transpose()?;
        self.machine.symbolic(&self.a?, &self.b?, mask.as_ref().map(|(p, c)| (p, *c)), &self.options)
    }
}

impl<I: Index> PlanOf<'_, super::Cpu, I> {
    /// The figures of the product, its number of entries among them, without finding which those are: where memory is to be
    /// judged, or only the size asked for.
    ///
    /// ```
    /// use sparring::prelude::*;
    /// let a = sparring::generate::matrix("lap2d_1000")?;
    /// let stats = Cpu::new().plan(&a, &a).count()?;
    /// assert_eq!((stats.flops, stats.nnz), (24_964_008, 12_980_004));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// Those of [`eval`](Self::eval).
    pub fn count(self) -> Result<crate::spgemm::Stats> {
        let mask = self.mask.transpose()?;
        let mask = mask.as_ref().map(|(pattern, complement)| (&**pattern, *complement));
        let request = crate::spgemm::Request { options: &self.options, budget: self.machine.budget(), mask };
        crate::spgemm::count(self.machine.threads(), &self.a?, &self.b?, &request)
    }
}

/// y = A ⊕.⊗ x.
pub struct Mxv<R: Semiring, M: Backend<I>, I: Index> {
    pub(super) ring: R,
    pub(super) a: M::Matrix<Lhs<R>>,
    pub(super) x: M::Vector<Rhs<R>>,
    pub(super) flip: bool,
}
impl<R: Semiring, M: Backend<I>, I: Index> Operation<M, I> for Mxv<R, M, I> {
    type Kind = Vectors;
    type Out = Out<R>;
    const NAME: &'static str = "mxv";
    fn compute(
        self,
        m: &M,
        _: Option<Target<'_, M::Vector<Out<R>>>>,
        mask: Hint<'_, M::Places>,
    ) -> Result<M::Vector<Out<R>>> {
        m.mxv_masked(self.ring, &flipped(m, self.a, self.flip)?, &self.x, mask)
    }
}
impl<R: Semiring, M: Backend<I>, I: Index> TransposeA for Mxv<R, M, I> {
    fn flip_a(&mut self) {
        self.flip = !self.flip;
    }
}

/// yᵀ = xᵀ ⊕.⊗ A.
pub struct Vxm<R: Semiring, M: Backend<I>, I: Index> {
    pub(super) ring: R,
    pub(super) x: M::Vector<Lhs<R>>,
    pub(super) a: M::Matrix<Rhs<R>>,
    pub(super) flip: bool,
}
impl<R: Semiring, M: Backend<I>, I: Index> Operation<M, I> for Vxm<R, M, I> {
    type Kind = Vectors;
    type Out = Out<R>;
    const NAME: &'static str = "vxm";
    fn compute(
        self,
        m: &M,
        _: Option<Target<'_, M::Vector<Out<R>>>>,
        mask: Hint<'_, M::Places>,
    ) -> Result<M::Vector<Out<R>>> {
        m.vxm_masked(self.ring, &self.x, &flipped(m, self.a, self.flip)?, mask)
    }
}
impl<R: Semiring, M: Backend<I>, I: Index> TransposeB for Vxm<R, M, I> {
    fn flip_b(&mut self) {
        self.flip = !self.flip;
    }
}

/// Operations entry by entry: how matrices and vectors do them.
pub trait Entrywise<M: Backend<I>, I: Index>: Kind<M, I> {
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
    ($kind:ident: $mult:ident $union:ident $apply:ident $index:ident $select:ident $reduce:ident $flip:expr) => {
        impl<M: Backend<I>, I: Index> Entrywise<M, I> for $kind {
            fn ewise_mult<O: BinaryOp>(
                m: &M,
                op: O,
                a: &Self::Of<O::A>,
                b: &Self::Of<O::B>,
            ) -> Result<Self::Of<O::Out>> {
                m.$mult(op, a, b)
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
entrywise!(Matrices: ewise_mult_matrices ewise_union_matrices apply_matrix apply_index_matrix select_matrix reduce_matrix
    |m, a, flip| flipped(m, a, flip));
entrywise!(Vectors: ewise_mult_vectors ewise_union_vectors apply_vector apply_index_vector select_vector reduce_vector
    |_, a, _| Ok(a));

/// The type of values of a container's kind on machine `M`.
type Of<M, I, K, T> = <K as Kind<M, I>>::Of<T>;

/// C = A ∘ B where both have an entry; where one has, that entry.
pub struct EwiseAdd<O: BinaryOp, K: Kind<M, I>, M: Backend<I>, I: Index> {
    pub(super) op: O,
    pub(super) a: Of<M, I, K, O::A>,
    pub(super) b: Of<M, I, K, O::B>,
    pub(super) flip: [bool; 2],
}
impl<T: Value, O: BinaryOp<A = T, B = T, Out = T>, K: Entrywise<M, I>, M: Backend<I>, I: Index> Operation<M, I>
    for EwiseAdd<O, K, M, I>
{
    type Kind = K;
    type Out = T;
    const NAME: &'static str = "ewise_add";
    fn compute(self, m: &M, _: Option<Target<'_, K::Of<T>>>, mask: Hint<'_, K::Places>) -> Result<K::Of<T>> {
        let (a, b) = (K::transposed(m, self.a, self.flip[0])?, K::transposed(m, self.b, self.flip[1])?);
        masked::<M, I, K, T>(m, K::ewise_add(m, self.op, &a, &b)?, mask)
    }
}

/// C = A ∘ B where both have an entry.
pub struct EwiseMult<O: BinaryOp, K: Kind<M, I>, M: Backend<I>, I: Index> {
    pub(super) op: O,
    pub(super) a: Of<M, I, K, O::A>,
    pub(super) b: Of<M, I, K, O::B>,
    pub(super) flip: [bool; 2],
}
impl<O: BinaryOp, K: Entrywise<M, I>, M: Backend<I>, I: Index> Operation<M, I> for EwiseMult<O, K, M, I> {
    type Kind = K;
    type Out = O::Out;
    const NAME: &'static str = "ewise_mult";
    fn compute(self, m: &M, _: Option<Target<'_, K::Of<O::Out>>>, mask: Hint<'_, K::Places>) -> Result<K::Of<O::Out>> {
        let (a, b) = (K::transposed(m, self.a, self.flip[0])?, K::transposed(m, self.b, self.flip[1])?);
        masked::<M, I, K, O::Out>(m, K::ewise_mult(m, self.op, &a, &b)?, mask)
    }
}

/// C = A ∘ B where either has an entry, a given value standing for one that is missing.
pub struct EwiseUnion<O: BinaryOp, K: Kind<M, I>, M: Backend<I>, I: Index> {
    pub(super) op: O,
    pub(super) a: (Of<M, I, K, O::A>, O::A),
    pub(super) b: (Of<M, I, K, O::B>, O::B),
    pub(super) flip: [bool; 2],
}
impl<O: BinaryOp, K: Entrywise<M, I>, M: Backend<I>, I: Index> Operation<M, I> for EwiseUnion<O, K, M, I> {
    type Kind = K;
    type Out = O::Out;
    const NAME: &'static str = "ewise_union";
    fn compute(self, m: &M, _: Option<Target<'_, K::Of<O::Out>>>, mask: Hint<'_, K::Places>) -> Result<K::Of<O::Out>> {
        let (a, b) = (K::transposed(m, self.a.0, self.flip[0])?, K::transposed(m, self.b.0, self.flip[1])?);
        masked::<M, I, K, O::Out>(m, K::ewise_union(m, self.op, (&a, self.a.1), (&b, self.b.1))?, mask)
    }
}

macro_rules! flips {
    ($($name:ident)*) => {$(
        impl<O: BinaryOp, K: Kind<M, I>, M: Backend<I>, I: Index> TransposeA for $name<O, K, M, I> {
            fn flip_a(&mut self) {
                self.flip[0] = !self.flip[0];
            }
        }
        impl<O: BinaryOp, K: Kind<M, I>, M: Backend<I>, I: Index> TransposeB for $name<O, K, M, I> {
            fn flip_b(&mut self) {
                self.flip[1] = !self.flip[1];
            }
        }
    )*};
}
flips! { EwiseAdd EwiseMult EwiseUnion }

/// C = f(A).
pub struct Apply<O: UnaryOp, K: Kind<M, I>, M: Backend<I>, I: Index> {
    pub(super) op: O,
    pub(super) a: Of<M, I, K, O::A>,
    pub(super) flip: bool,
}
impl<O: UnaryOp, K: Entrywise<M, I>, M: Backend<I>, I: Index> Operation<M, I> for Apply<O, K, M, I> {
    type Kind = K;
    type Out = O::Out;
    const NAME: &'static str = "apply";
    fn compute(self, m: &M, _: Option<Target<'_, K::Of<O::Out>>>, mask: Hint<'_, K::Places>) -> Result<K::Of<O::Out>> {
        let t = K::apply(m, self.op, &K::transposed(m, self.a, self.flip)?)?;
        masked::<M, I, K, O::Out>(m, t, mask)
    }
}
impl<O: UnaryOp, K: Kind<M, I>, M: Backend<I>, I: Index> TransposeA for Apply<O, K, M, I> {
    fn flip_a(&mut self) {
        self.flip = !self.flip;
    }
}

/// C = f(A, s, i, j).
pub struct ApplyIndex<O: IndexUnaryOp, K: Kind<M, I>, M: Backend<I>, I: Index> {
    pub(super) op: O,
    pub(super) a: Of<M, I, K, O::A>,
    pub(super) s: O::S,
    pub(super) flip: bool,
}
impl<O: IndexUnaryOp, K: Entrywise<M, I>, M: Backend<I>, I: Index> Operation<M, I> for ApplyIndex<O, K, M, I> {
    type Kind = K;
    type Out = O::Out;
    const NAME: &'static str = "apply_index";
    fn compute(self, m: &M, _: Option<Target<'_, K::Of<O::Out>>>, mask: Hint<'_, K::Places>) -> Result<K::Of<O::Out>> {
        let t = K::apply_index(m, self.op, &K::transposed(m, self.a, self.flip)?, self.s)?;
        masked::<M, I, K, O::Out>(m, t, mask)
    }
}

/// The entries for which f(a, s, i, j) holds.
pub struct Select<O: IndexUnaryOp, K: Kind<M, I>, M: Backend<I>, I: Index> {
    pub(super) op: O,
    pub(super) a: Of<M, I, K, O::A>,
    pub(super) s: O::S,
    pub(super) flip: bool,
}
impl<O: IndexUnaryOp<Out = bool>, K: Entrywise<M, I>, M: Backend<I>, I: Index> Operation<M, I> for Select<O, K, M, I> {
    type Kind = K;
    type Out = O::A;
    const NAME: &'static str = "select";
    fn compute(self, m: &M, _: Option<Target<'_, K::Of<O::A>>>, mask: Hint<'_, K::Places>) -> Result<K::Of<O::A>> {
        let t = K::select(m, self.op, &K::transposed(m, self.a, self.flip)?, self.s)?;
        masked::<M, I, K, O::A>(m, t, mask)
    }
}

macro_rules! flips_index {
    ($($name:ident)*) => {$(
        impl<O: IndexUnaryOp, K: Kind<M, I>, M: Backend<I>, I: Index> TransposeA for $name<O, K, M, I> {
            fn flip_a(&mut self) {
                self.flip = !self.flip;
            }
        }
    )*};
}
flips_index! { ApplyIndex Select }

/// y(i) = ⊕ over row i.
pub struct ReduceRows<P: Monoid, M: Backend<I>, I: Index> {
    pub(super) monoid: P,
    pub(super) a: M::Matrix<P::Out>,
    pub(super) flip: bool,
}
impl<P: Monoid, M: Backend<I>, I: Index> Operation<M, I> for ReduceRows<P, M, I> {
    type Kind = Vectors;
    type Out = P::Out;
    const NAME: &'static str = "reduce_rows";
    fn compute(
        self,
        m: &M,
        _: Option<Target<'_, M::Vector<P::Out>>>,
        mask: Hint<'_, M::Places>,
    ) -> Result<M::Vector<P::Out>> {
        let t = m.reduce_rows_of(self.monoid, &flipped(m, self.a, self.flip)?)?;
        masked::<M, I, Vectors, P::Out>(m, t, mask)
    }
}
impl<P: Monoid, M: Backend<I>, I: Index> TransposeA for ReduceRows<P, M, I> {
    fn flip_a(&mut self) {
        self.flip = !self.flip;
    }
}

/// Aᵀ.
pub struct Transpose<T: Value, M: Backend<I>, I: Index> {
    pub(super) a: M::Matrix<T>,
    pub(super) flip: bool,
}
impl<T: Value, M: Backend<I>, I: Index> Operation<M, I> for Transpose<T, M, I> {
    type Kind = Matrices;
    type Out = T;
    const NAME: &'static str = "transpose";
    fn compute(self, m: &M, _: Option<Target<'_, M::Matrix<T>>>, mask: Hint<'_, M::Pattern>) -> Result<M::Matrix<T>> {
        masked::<M, I, Matrices, T>(m, flipped(m, self.a, !self.flip)?, mask)
    }
}
impl<T: Value, M: Backend<I>, I: Index> TransposeA for Transpose<T, M, I> {
    fn flip_a(&mut self) {
        self.flip = !self.flip;
    }
}

/// w(p) = v(indices(p)).
pub struct Extract<'i, T: Value, M: Backend<I>, I: Index> {
    pub(super) v: M::Vector<T>,
    pub(super) indices: &'i [I],
}
impl<T: Value, M: Backend<I>, I: Index> Operation<M, I> for Extract<'_, T, M, I> {
    type Kind = Vectors;
    type Out = T;
    const NAME: &'static str = "extract";
    fn compute(self, m: &M, _: Option<Target<'_, M::Vector<T>>>, mask: Hint<'_, M::Places>) -> Result<M::Vector<T>> {
        masked::<M, I, Vectors, T>(m, m.extract_vector(&self.v, self.indices)?, mask)
    }
}

/// w(indices(p)) = v(p); other places of w stay.
pub struct Assign<'i, T: Value, M: Backend<I>, I: Index> {
    pub(super) v: M::Vector<T>,
    pub(super) indices: &'i [I],
}
/// w(i) = x.
pub struct AssignScalar<T> {
    pub(super) x: T,
}

/// An assignment is written into something.
fn no_target<T>() -> Result<T> {
    Err(Error::Unsupported {
        what: "eval() of an assignment".into(),
        why: "it says what to write and not where: call into(&mut w)".into(),
    })
}

impl<T: Value, M: Backend<I>, I: Index> Assign<'_, T, M, I> {
    /// With an accumulator the entries of v at their places; without, w with the assigned places replaced, those that v has no
    /// entry for removed.
    fn z(&self, m: &M, Target { c: w, accumulates }: Target<'_, M::Vector<T>>) -> Result<M::Vector<T>> {
        let t = m.scatter_vector(&self.v, self.indices, m.len(w))?;
        if accumulates {
            return Ok(t);
        }
        let region = m.marks(self.indices, m.len(w))?;
        let kept = m.restrict_vector(w, &region, true)?;
        m.ewise_add_vectors(crate::algebra::Second::<T, T>::default(), &kept, &t)
    }
}
impl<T: Value, M: Backend<I>, I: Index> Operation<M, I> for Assign<'_, T, M, I> {
    type Kind = Vectors;
    type Out = T;
    const NAME: &'static str = "assign";
    fn compute(self, m: &M, w: Option<Target<'_, M::Vector<T>>>, mask: Hint<'_, M::Places>) -> Result<M::Vector<T>> {
        let Some(w) = w else { return no_target() };
        masked::<M, I, Vectors, T>(m, self.z(m, w)?, mask)
    }
}
impl<T: Value, M: Backend<I>, I: Index> Operation<M, I> for AssignScalar<T> {
    type Kind = Vectors;
    type Out = T;
    const NAME: &'static str = "assign";
    fn compute(self, m: &M, w: Option<Target<'_, M::Vector<T>>>, mask: Hint<'_, M::Places>) -> Result<M::Vector<T>> {
        let Some(w) = w else { return no_target() };
        m.constant_vector(m.len(w.c), self.x, mask)
    }
    fn overwrite_at(self, m: &M, w: &mut M::Vector<T>, mask: (&M::Places, bool)) -> Result<()> {
        m.assign_where(w, self.x, mask)
    }
}

/// ⊕ over all entries.
#[must_use = "nothing is computed before eval() or into()"]
pub struct Reduce<'m, P: Monoid, C, M, I> {
    pub(super) machine: &'m M,
    pub(super) monoid: P,
    pub(super) a: C,
    pub(super) index: PhantomData<I>,
}
impl<P: Monoid, C, M: Backend<I>, I: Index> Reduce<'_, P, C, M, I>
where
    C: Container<M, I, Value = P::Out>,
    C::Kind: Entrywise<M, I> + Kind<M, I, Of<P::Out> = C>,
{
    /// The fold.
    /// # Errors
    /// Those of the machine.
    pub fn eval(self) -> Result<P::Out> {
        <C::Kind as Entrywise<M, I>>::reduce(self.machine, self.monoid, &self.a)
    }
}
