//! Where operations run, and how they are called. [`Cpu`] is a value that owns its threads and settings, as `Cuda`
//! (feature `cuda`) owns a device; [`Backend`] is what an algorithm needs of any machine.
//!
//! Every operation is a chain that ends in `eval()`, a new result, or `into(&mut c)`: [`Build`].
//!
//! | operation | formula | GraphBLAS |
//! | --- | --- | --- |
//! | [`mxm`](Backend::mxm), [`mxv`](Backend::mxv), [`vxm`](Backend::vxm) | A ⊕.⊗ B, A ⊕.⊗ x, xᵀ ⊕.⊗ A | `GrB_mxm`, `GrB_mxv`, `GrB_vxm` |
//! | [`ewise_add`](Backend::ewise_add), [`ewise_mult`](Backend::ewise_mult), [`ewise_union`](Backend::ewise_union) | A ∘ B | `GrB_eWiseAdd`, `GrB_eWiseMult`, `GxB_eWiseUnion` |
//! | [`kronecker`](Backend::kronecker) | A ⊗ B, each entry of A with each of B | `GrB_kronecker` |
//! | [`apply`](Backend::apply), [`apply_index`](Backend::apply_index), [`select`](Backend::select) | f(A), f(A, s, i, j) | `GrB_apply`, `GrB_select` |
//! | [`reduce`](Backend::reduce), [`reduce_rows`](Backend::reduce_rows) | ⊕ over all, over each row | `GrB_reduce` |
//! | [`transpose`](Backend::transpose), [`extract`](Backend::extract), [`assign`](Backend::assign), [`assign_scalar`](Backend::assign_scalar) | | `GrB_transpose`, `GrB_extract`, `GrB_assign` |
//! | [`plan`](Backend::plan) | the structure of A·B | |
//! | [`mttkrp`](Cpu::mttkrp) | X₍ₙ₎ (⊙ Aₘ), of sparse tensors | |
//! | [`einsum`](Cpu::einsum) | C(r…) = ⊕ x₁(…) ⊗ x₂(…) ⊗ …, of dense tensors | |
//! | [`neighbours`](DistanceBackend::neighbours), [`distances`](DistanceBackend::distances) | distances between rows | |

mod arithmetic;
mod build;
mod container;
mod cpu;
mod cpu_backend;
mod cpu_contract;
mod cpu_distance;
mod cpu_hyper;
mod cpu_tensor;
mod cpu_union;
mod neighbours;
mod operations;
mod write;

pub use crate::par::Progress;
pub use crate::sparse::MaskSpec;
pub use build::{Build, Masked, Operation, TransposeA, TransposeB, Unmasked};
use container::Kind;
pub use container::{Complement, Container, Mask, Matrices, Structure, Vectors};
pub use cpu::Cpu;
pub use cpu_contract::AskedEinsum;
pub use cpu_tensor::AskedMttkrp;
pub use neighbours::{All, AmongNeighbours, Asked, DistanceBackend, Near, Nearest, PreparedRows, Within};
pub use operations::{
    Apply, ApplyIndex, Assign, AssignScalar, EwiseAdd, EwiseMult, EwiseUnion, Extract, Mxm, Mxv, Pairs, PlanOf, Reduce,
    ReduceRows, Select, Transpose, Vxm,
};
pub use write::{Accum, Accumulate, Plain, WriteMask};
pub(crate) use write::{Parts, write_parts};

use std::marker::PhantomData;

use crate::algebra::{BinaryOp, IndexUnaryOp, Lhs, Monoid, Num, Out, Rhs, Second, Semiring, UnaryOp, Value};
use crate::ops::Pairing;
use crate::spgemm::Options;
use crate::{Csr, Dense, Index, Result, Vector};

/// A machine that holds matrices and vectors and computes with them.
///
/// An algorithm written against this trait uploads what it starts from, leaves everything where it is while it runs,
/// and downloads its result. Nothing here assumes one memory. Matrices and vectors are handles: cloning one costs
/// nothing.
///
/// The methods in the first half are the chains that programs write; those in the second half, from
/// [`upload`](Self::upload) on, are what a machine brings. What masks, accumulators and replace mean is told once, from
/// these. Every machine gives the results of [`Cpu`], bit for bit where arithmetic is exact; its own documentation says
/// where floats may be rounded or folded otherwise.
///
/// # Errors
/// Operands that do not fit: [`Error::Shape`](crate::Error::Shape), [`Error::Length`](crate::Error::Length); memory:
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Budget`](crate::Error::Budget); progress stopped by the
/// caller: [`Error::Cancelled`](crate::Error::Cancelled); and what the machine itself may fail with.
///
/// # Example
/// ```
/// use sparring::prelude::*;
///
/// /// Levels of a breadth-first search from `source`, on any machine.
/// fn levels<B: Backend>(m: &B, a: &B::Matrix<bool>, source: usize) -> Result<Vector<u32>> {
///     let n = m.shape(a).0;
///     let mut q = m.upload_vector(&Vector::new(n, vec![source as u32], vec![true])?)?;
///     let mut levels = m.upload_vector(&Vector::empty(n)?)?;
///     for level in 0..n as u32 {
///         m.assign_scalar(level).mask(q.structure()).into(&mut levels)?;
///         m.vxm(AnyPair::<bool>::new(), &q, a).mask(!levels.structure()).replace().into(&mut q)?;
///         if m.nnz(&q)? == 0 {
///             break;
///         }
///     }
///     m.download_vector(&levels)
/// }
/// // 0 → 1 → 2, and 3 apart.
/// let a = Csr::<bool>::new(4, 4, vec![0, 1, 2, 2, 2], vec![1, 2], vec![true, true])?;
/// assert_eq!(levels(&Cpu::new(), &a, 0)?, Vector::new(4, vec![0, 1, 2], vec![0, 1, 2])?);
/// # Ok::<(), sparring::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no machine to compute on",
    note = "use `Cpu::new()`, or with the feature `cuda` a GPU: `Cuda::new(0)?`, and matrices that it holds"
)]
pub trait Backend<I: Index = u32>:
    Sized
    + DistanceBackend<
        f32,
        <Self as Backend<I>>::Matrix<f32>,
        Distances = <Self as Backend<I>>::Dense<f32>,
        Graph = <Self as Backend<I>>::Matrix<f32>,
    > + DistanceBackend<
        f64,
        <Self as Backend<I>>::Matrix<f64>,
        Distances = <Self as Backend<I>>::Dense<f64>,
        Graph = <Self as Backend<I>>::Matrix<f64>,
    >
{
    /// C = A ⊕.⊗ B; rows sorted.
    fn mxm<R: Semiring>(
        &self,
        ring: R,
        a: &Self::Matrix<Lhs<R>>,
        b: &Self::Matrix<Rhs<R>>,
    ) -> Build<'_, Self, I, Mxm<R, Self, I>> {
        let options = Options::default();
        Build::new(self, Mxm { ring, a: a.clone(), b: b.clone(), flip: [false; 2], options, plan: None })
    }
    /// The structure of C = A·B, for any values and any semiring: `m.plan(&a, &b).eval()?`, then
    /// `m.mxm(ring, &a, &b).plan(&plan).eval()?`.
    fn plan<A: Container<Self, I, Kind = Matrices>, B: Container<Self, I, Kind = Matrices>>(
        &self,
        a: &A,
        b: &B,
    ) -> PlanOf<'_, Self, I> {
        PlanOf { machine: self, a: a.places(self), b: b.places(self), mask: None, options: Options::default() }
    }
    /// y = A ⊕.⊗ x: y(i) = ⊕ A(i, k) ⊗ x(k) over the k for which both have an entry, where there is one.
    ///
    /// On the processor a row is folded in the order in which its entries are stored, and the fold stops soon after it
    /// has met the terminal value of ⊕. Where x has an entry at every place, `PlusTimes` of f32 and f64 has eight sums
    /// a row instead, which need not wait for each other: sum s has the entries s, s + 8, … of the row from 0 on, and
    /// the row is ((s₀ + s₁) + (s₂ + s₃)) + ((s₄ + s₅) + (s₆ + s₇)). Either way the bits are the same for any number of
    /// threads and under any mask.
    fn mxv<R: Semiring>(
        &self,
        ring: R,
        a: &Self::Matrix<Lhs<R>>,
        x: &Self::Vector<Rhs<R>>,
    ) -> Build<'_, Self, I, Mxv<R, Self, I>> {
        Build::new(self, Mxv { ring, a: a.clone(), x: x.clone(), flip: false })
    }
    /// yᵀ = xᵀ ⊕.⊗ A: y(j) = ⊕ x(k) ⊗ A(k, j) over the k for which both have an entry, where there is one.
    fn vxm<R: Semiring>(
        &self,
        ring: R,
        x: &Self::Vector<Lhs<R>>,
        a: &Self::Matrix<Rhs<R>>,
    ) -> Build<'_, Self, I, Vxm<R, Self, I>> {
        Build::new(self, Vxm { ring, x: x.clone(), a: a.clone(), flip: false })
    }
    /// C = A ∘ B where both have an entry; where one has, that entry. Of two matrices or two vectors.
    fn ewise_add<T: Value, O: BinaryOp<A = T, B = T, Out = T>, C>(
        &self,
        op: O,
        a: &C,
        b: &C,
    ) -> Build<'_, Self, I, EwiseAdd<O, C::Kind, Self, I>>
    where
        C: Container<Self, I, Value = T>,
        C::Kind: Kind<Self, I, Of<T> = C>,
    {
        Build::new(self, EwiseAdd { op, a: a.clone(), b: b.clone(), flip: [false; 2] })
    }
    /// C = A ∘ B where both have an entry. Of two matrices or two vectors, whose values may differ in type.
    fn ewise_mult<O: BinaryOp, C, D>(&self, op: O, a: &C, b: &D) -> Build<'_, Self, I, EwiseMult<O, C::Kind, Self, I>>
    where
        C: Container<Self, I, Value = O::A>,
        D: Container<Self, I, Value = O::B, Kind = C::Kind>,
        C::Kind: Kind<Self, I, Of<O::A> = C> + Kind<Self, I, Of<O::B> = D>,
    {
        Build::new(self, EwiseMult { op, a: a.clone(), b: b.clone(), flip: [false; 2] })
    }
    /// C = A ∘ B where either has an entry, `for_a` and `for_b` standing for one that is missing.
    fn ewise_union<O: BinaryOp, C, D>(
        &self,
        op: O,
        a: &C,
        for_a: O::A,
        b: &D,
        for_b: O::B,
    ) -> Build<'_, Self, I, EwiseUnion<O, C::Kind, Self, I>>
    where
        C: Container<Self, I, Value = O::A>,
        D: Container<Self, I, Value = O::B, Kind = C::Kind>,
        C::Kind: Kind<Self, I, Of<O::A> = C> + Kind<Self, I, Of<O::B> = D>,
    {
        Build::new(self, EwiseUnion { op, a: (a.clone(), for_a), b: (b.clone(), for_b), flip: [false; 2] })
    }
    /// C = f(A) where A has an entry. Of a matrix or a vector.
    fn apply<O: UnaryOp, C>(&self, op: O, a: &C) -> Build<'_, Self, I, Apply<O, C::Kind, Self, I>>
    where
        C: Container<Self, I, Value = O::A>,
        C::Kind: Kind<Self, I, Of<O::A> = C>,
    {
        Build::new(self, Apply { op, a: a.clone(), flip: false })
    }
    /// C = f(A, s, i, j) where A has an entry, of a vector f(a, s, i, 0).
    fn apply_index<O: IndexUnaryOp, C>(
        &self,
        op: O,
        a: &C,
        s: O::S,
    ) -> Build<'_, Self, I, ApplyIndex<O, C::Kind, Self, I>>
    where
        C: Container<Self, I, Value = O::A>,
        C::Kind: Kind<Self, I, Of<O::A> = C>,
    {
        Build::new(self, ApplyIndex { op, a: a.clone(), s, flip: false })
    }
    /// The entries of A for which f(a, s, i, j) holds, of a vector f(a, s, i, 0).
    fn select<O: IndexUnaryOp<Out = bool>, C>(
        &self,
        op: O,
        a: &C,
        s: O::S,
    ) -> Build<'_, Self, I, Select<O, C::Kind, Self, I>>
    where
        C: Container<Self, I, Value = O::A>,
        C::Kind: Kind<Self, I, Of<O::A> = C>,
    {
        Build::new(self, Select { op, a: a.clone(), s, flip: false })
    }
    /// ⊕ over all entries of a matrix or a vector; the identity if there are none.
    ///
    /// On the processor the values, row by row as stored, are cut after every 16 384th; each part is folded as a row by
    /// [`reduce_rows`](Self::reduce_rows), and so are then the results of the parts. For floats this is another
    /// rounding than one long fold, and the same for any number of threads.
    fn reduce<P: Monoid, C: Container<Self, I, Value = P::Out>>(&self, monoid: P, a: &C) -> Reduce<'_, P, C, Self, I> {
        Reduce { machine: self, monoid, a: a.clone(), index: PhantomData }
    }
    /// y(i) = ⊕ over row i, where it has an entry.
    ///
    /// On the processor rows are folded in the order in which they are stored, but rows of more than sixteen entries
    /// that are added ([`Plus`](crate::algebra::Plus)) by sixteen sums: sum s has the entries s, s + 16, … from 0 on,
    /// then neighbours are joined until there is one.
    fn reduce_rows<P: Monoid>(
        &self,
        monoid: P,
        a: &Self::Matrix<P::Out>,
    ) -> Build<'_, Self, I, ReduceRows<P, Self, I>> {
        Build::new(self, ReduceRows { monoid, a: a.clone(), flip: false })
    }
    /// C(i·p + k, j·q + l) = A(i, j) ∘ B(k, l) for each entry of A and each of B, which is p×q.
    fn kronecker<O: BinaryOp>(
        &self,
        op: O,
        a: &Self::Matrix<O::A>,
        b: &Self::Matrix<O::B>,
    ) -> Build<'_, Self, I, Pairs<O, Self, I>> {
        Build::new(self, Pairs { pairing: Pairing::Kronecker, op, a: a.clone(), b: b.clone(), flip: [false; 2] })
    }
    /// Aᵀ; rows sorted.
    fn transpose<T: Value>(&self, a: &Self::Matrix<T>) -> Build<'_, Self, I, Transpose<T, Self, I>> {
        Build::new(self, Transpose { a: a.clone(), flip: false })
    }
    /// w(p) = v(indices(p)), where v has an entry there.
    fn extract<'m, 'i, T: Value>(
        &'m self,
        v: &Self::Vector<T>,
        indices: &'i [I],
    ) -> Build<'m, Self, I, Extract<'i, T, Self, I>> {
        Build::new(self, Extract { v: v.clone(), indices })
    }
    /// w(indices(p)) = v(p), to be written `into(&mut w)`; places that v has no entry for lose theirs, others stay. No
    /// index twice. A mask and its complement are those of w.
    fn assign<'m, 'i, T: Value>(
        &'m self,
        v: &Self::Vector<T>,
        indices: &'i [I],
    ) -> Build<'m, Self, I, Assign<'i, T, Self, I>> {
        Build::new(self, Assign { v: v.clone(), indices })
    }
    /// w(i) = x at every place, or every one that the mask lets through, to be written `into(&mut w)`.
    fn assign_scalar<T: Value>(&self, x: T) -> Build<'_, Self, I, AssignScalar<T>> {
        Build::new(self, AssignScalar { x })
    }

    /// Entries of a matrix or a vector, stored zeros included.
    /// # Errors
    /// See [`Backend`]; a machine may have to count them.
    fn nnz<C: Container<Self, I>>(&self, x: &C) -> Result<usize> {
        x.count(self)
    }

    /// A sparse matrix on this machine.
    type Matrix<T: Value>: Container<Self, I, Kind = Matrices, Value = T>;
    /// A vector on this machine.
    type Vector<T: Value>: Container<Self, I, Kind = Vectors, Value = T>;
    /// A dense matrix on this machine.
    type Dense<T: Value>;
    /// Where a matrix has entries.
    type Pattern: Clone;
    /// Where a vector has entries.
    type Places: Clone;
    /// The structure of a product.
    type Plan: Clone;

    /// A copy of the matrix on this machine.
    /// # Errors
    /// See [`Backend`].
    fn upload<T: Value>(&self, a: &Csr<T, I>) -> Result<Self::Matrix<T>>;
    /// The matrix, in the memory of the host.
    /// # Errors
    /// See [`Backend`].
    fn download<T: Value>(&self, a: &Self::Matrix<T>) -> Result<Csr<T, I>>;
    /// A copy of the vector on this machine.
    /// # Errors
    /// See [`Backend`].
    fn upload_vector<T: Value>(&self, x: &Vector<T, I>) -> Result<Self::Vector<T>>;
    /// The vector, in the memory of the host.
    /// # Errors
    /// See [`Backend`].
    fn download_vector<T: Value>(&self, x: &Self::Vector<T>) -> Result<Vector<T, I>>;
    /// A copy of the dense matrix on this machine.
    /// # Errors
    /// See [`Backend`].
    fn upload_dense<T: Value>(&self, a: &Dense<T>) -> Result<Self::Dense<T>>;
    /// The dense matrix, in the memory of the host.
    /// # Errors
    /// See [`Backend`].
    fn download_dense<T: Value>(&self, a: &Self::Dense<T>) -> Result<Dense<T>>;

    /// Rows and columns.
    fn shape<T: Value>(&self, a: &Self::Matrix<T>) -> (usize, usize);
    /// Places of a vector, with or without an entry.
    fn len<T: Value>(&self, x: &Self::Vector<T>) -> usize;

    /// The structure of C = A·B at the places of the mask, or at all others.
    /// # Errors
    /// See [`Backend`].
    fn symbolic(
        &self,
        a: &Self::Pattern,
        b: &Self::Pattern,
        mask: Option<(&Self::Pattern, bool)>,
        options: &Options,
    ) -> Result<Self::Plan>;
    /// C = A ⊕.⊗ B, or what the mask leaves of it, for one use. A machine that has a way without a plan brings it.
    /// # Errors
    /// See [`Backend`].
    fn product<R: Semiring>(
        &self,
        ring: R,
        a: &Self::Matrix<Lhs<R>>,
        b: &Self::Matrix<Rhs<R>>,
        mask: Option<(&Self::Pattern, bool)>,
        options: &Options,
    ) -> Result<Self::Matrix<Out<R>>> {
        self.numeric(&self.symbolic(&a.places(self)?, &b.places(self)?, mask, options)?, ring, a, b)
    }
    /// Values of C for a plan.
    /// # Errors
    /// See [`Backend`]; [`Error::PatternChanged`](crate::Error::PatternChanged).
    fn numeric<R: Semiring>(
        &self,
        plan: &Self::Plan,
        ring: R,
        a: &Self::Matrix<Lhs<R>>,
        b: &Self::Matrix<Rhs<R>>,
    ) -> Result<Self::Matrix<Out<R>>>;
    /// Whether the matrix has the structure that the plan found, so that its values can be computed in place.
    fn is_of_plan<T: Value>(&self, plan: &Self::Plan, c: &Self::Matrix<T>) -> bool;
    /// Values of C in place.
    /// # Errors
    /// See [`Backend`]; [`Error::PatternChanged`](crate::Error::PatternChanged).
    fn numeric_into<R: Semiring>(
        &self,
        plan: &Self::Plan,
        ring: R,
        a: &Self::Matrix<Lhs<R>>,
        b: &Self::Matrix<Rhs<R>>,
        c: &mut Self::Matrix<Out<R>>,
    ) -> Result<()>;
    /// y = A ⊕.⊗ x where the mask allows.
    /// # Errors
    /// See [`Backend`].
    fn mxv_masked<R: Semiring>(
        &self,
        ring: R,
        a: &Self::Matrix<Lhs<R>>,
        x: &Self::Vector<Rhs<R>>,
        mask: Option<MaskSpec<'_, Self::Places>>,
    ) -> Result<Self::Vector<Out<R>>>;
    /// yᵀ = xᵀ ⊕.⊗ A where the mask allows.
    /// # Errors
    /// See [`Backend`].
    fn vxm_masked<R: Semiring>(
        &self,
        ring: R,
        x: &Self::Vector<Lhs<R>>,
        a: &Self::Matrix<Rhs<R>>,
        mask: Option<MaskSpec<'_, Self::Places>>,
    ) -> Result<Self::Vector<Out<R>>>;
    /// Y = A ⊕.⊗ X, both dense; a row of A without entries gives a row of the identity of ⊕.
    /// # Errors
    /// See [`Backend`].
    fn mxd<R: Semiring>(
        &self,
        ring: R,
        a: &Self::Matrix<Lhs<R>>,
        x: &Self::Dense<Rhs<R>>,
    ) -> Result<Self::Dense<Out<R>>>;
    /// Aᵀ; rows sorted.
    /// # Errors
    /// See [`Backend`].
    fn transposed<T: Value>(&self, a: &Self::Matrix<T>) -> Result<Self::Matrix<T>>;
    /// ⊕ over each row that has an entry, where the mask allows.
    /// # Errors
    /// See [`Backend`].
    fn reduce_rows_of<P: Monoid>(
        &self,
        monoid: P,
        a: &Self::Matrix<P::Out>,
        mask: Option<MaskSpec<'_, Self::Places>>,
    ) -> Result<Self::Vector<P::Out>>;

    /// Where the values are not 0.
    /// # Errors
    /// See [`Backend`].
    fn nonzero_matrix<T: Num>(&self, a: &Self::Matrix<T>) -> Result<Self::Pattern>;
    /// The entries at the places of a mask, or at all others.
    /// # Errors
    /// See [`Backend`].
    fn restrict_matrix<T: Value>(
        &self,
        a: &Self::Matrix<T>,
        mask: &Self::Pattern,
        complement: bool,
    ) -> Result<Self::Matrix<T>>;
    /// A ∘ B where both have an entry; where one has, that entry.
    /// # Errors
    /// See [`Backend`].
    fn ewise_add_matrices<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(
        &self,
        op: O,
        a: &Self::Matrix<T>,
        b: &Self::Matrix<T>,
    ) -> Result<Self::Matrix<T>>;
    /// A ∘ B for the pairs of entries that the pairing names.
    /// # Errors
    /// See [`Backend`].
    fn pairs<O: BinaryOp>(
        &self,
        pairing: Pairing,
        op: O,
        a: &Self::Matrix<O::A>,
        b: &Self::Matrix<O::B>,
    ) -> Result<Self::Matrix<O::Out>>;
    /// A ∘ B where either has an entry, a value standing for one that is missing.
    /// # Errors
    /// See [`Backend`].
    fn ewise_union_matrices<O: BinaryOp>(
        &self,
        op: O,
        a: (&Self::Matrix<O::A>, O::A),
        b: (&Self::Matrix<O::B>, O::B),
    ) -> Result<Self::Matrix<O::Out>>;
    /// f(A).
    /// # Errors
    /// See [`Backend`].
    fn apply_matrix<O: UnaryOp>(&self, op: O, a: &Self::Matrix<O::A>) -> Result<Self::Matrix<O::Out>>;
    /// f(A, s, i, j).
    /// # Errors
    /// See [`Backend`].
    fn apply_index_matrix<O: IndexUnaryOp>(
        &self,
        op: O,
        a: &Self::Matrix<O::A>,
        s: O::S,
    ) -> Result<Self::Matrix<O::Out>>;
    /// The entries for which f(a, s, i, j) holds.
    /// # Errors
    /// See [`Backend`].
    fn select_matrix<O: IndexUnaryOp<Out = bool>>(
        &self,
        op: O,
        a: &Self::Matrix<O::A>,
        s: O::S,
    ) -> Result<Self::Matrix<O::A>>;
    /// ⊕ over all entries.
    /// # Errors
    /// See [`Backend`].
    fn reduce_matrix<P: Monoid>(&self, monoid: P, a: &Self::Matrix<P::Out>) -> Result<P::Out>;

    /// Where the values are not 0.
    /// # Errors
    /// See [`Backend`].
    fn nonzero_vector<T: Num>(&self, x: &Self::Vector<T>) -> Result<Self::Places>;
    /// The entries that the mask allows.
    /// # Errors
    /// See [`Backend`].
    fn restrict_vector<T: Value>(
        &self,
        x: &Self::Vector<T>,
        mask: MaskSpec<'_, Self::Places>,
    ) -> Result<Self::Vector<T>>;
    /// x ∘ y where both have an entry; where one has, that entry.
    /// # Errors
    /// See [`Backend`].
    fn ewise_add_vectors<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(
        &self,
        op: O,
        x: &Self::Vector<T>,
        y: &Self::Vector<T>,
    ) -> Result<Self::Vector<T>>;
    /// x ∘ y where both have an entry.
    /// # Errors
    /// See [`Backend`].
    fn ewise_mult_vectors<O: BinaryOp>(
        &self,
        op: O,
        x: &Self::Vector<O::A>,
        y: &Self::Vector<O::B>,
    ) -> Result<Self::Vector<O::Out>>;
    /// x ∘ y where either has an entry, a value standing for one that is missing.
    /// # Errors
    /// See [`Backend`].
    fn ewise_union_vectors<O: BinaryOp>(
        &self,
        op: O,
        x: (&Self::Vector<O::A>, O::A),
        y: (&Self::Vector<O::B>, O::B),
    ) -> Result<Self::Vector<O::Out>>;
    /// f(x).
    /// # Errors
    /// See [`Backend`].
    fn apply_vector<O: UnaryOp>(&self, op: O, x: &Self::Vector<O::A>) -> Result<Self::Vector<O::Out>>;
    /// f(x, s, i, 0).
    /// # Errors
    /// See [`Backend`].
    fn apply_index_vector<O: IndexUnaryOp>(
        &self,
        op: O,
        x: &Self::Vector<O::A>,
        s: O::S,
    ) -> Result<Self::Vector<O::Out>>;
    /// The entries for which f(x, s, i, 0) holds.
    /// # Errors
    /// See [`Backend`].
    fn select_vector<O: IndexUnaryOp<Out = bool>>(
        &self,
        op: O,
        x: &Self::Vector<O::A>,
        s: O::S,
    ) -> Result<Self::Vector<O::A>>;
    /// ⊕ over all entries.
    /// # Errors
    /// See [`Backend`].
    fn reduce_vector<P: Monoid>(&self, monoid: P, x: &Self::Vector<P::Out>) -> Result<P::Out>;
    /// w(p) = v(indices(p)).
    /// # Errors
    /// See [`Backend`]; [`Error::IndexRange`](crate::Error::IndexRange).
    fn extract_vector<T: Value>(&self, v: &Self::Vector<T>, indices: &[I]) -> Result<Self::Vector<T>>;
    /// The vector of `len` places with w(indices(p)) = v(p).
    /// # Errors
    /// See [`Backend`]; [`Error::IndexRange`](crate::Error::IndexRange), [`Error::Duplicate`](crate::Error::Duplicate).
    fn scatter_vector<T: Value>(&self, v: &Self::Vector<T>, indices: &[I], len: usize) -> Result<Self::Vector<T>>;
    /// The pattern of `indices` of `len`.
    /// # Errors
    /// As for [`scatter_vector`](Self::scatter_vector).
    fn index_pattern(&self, indices: &[I], len: usize) -> Result<Self::Places>;
    /// `x` where the mask allows.
    /// # Errors
    /// See [`Backend`].
    fn full_vector<T: Value>(
        &self,
        len: usize,
        x: T,
        mask: Option<MaskSpec<'_, Self::Places>>,
    ) -> Result<Self::Vector<T>>;

    /// Whether a mask of an operation entry by entry on vectors is applied to its operands: for machines on which that
    /// costs no more than the entries of the mask.
    const MASKS_OPERANDS: bool = false;
    /// Whether a mask of an operation entry by entry is applied to this operand: where that costs no more than the
    /// entries of the mask.
    fn masks_operand<T: Value>(&self, _: &Self::Matrix<T>) -> bool {
        false
    }
    /// Whether both are names of one matrix: if so, an operation on it is written in place.
    fn is_same_matrix<T: Value>(&self, _: &Self::Matrix<T>, _: &Self::Matrix<T>) -> bool {
        false
    }
    /// Keeps the entries that the mask allows. A machine that writes in place brings its own, as of the next.
    /// # Errors
    /// See [`Backend`].
    fn retain_matrix<T: Value>(&self, x: &mut Self::Matrix<T>, mask: MaskSpec<'_, Self::Pattern>) -> Result<()> {
        *x = self.restrict_matrix(x, mask.pattern, mask.complement)?;
        Ok(())
    }
    /// x = x ∘ t where both have an entry; where one has, that entry.
    /// # Errors
    /// See [`Backend`].
    fn accumulate_matrix<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(
        &self,
        op: O,
        x: &mut Self::Matrix<T>,
        t: Self::Matrix<T>,
    ) -> Result<()> {
        *x = self.ewise_add_matrices(op, x, &t)?;
        Ok(())
    }
    /// Whether both are names of one vector: if so, an operation on it is written in place.
    fn is_same_vector<T: Value>(&self, _: &Self::Vector<T>, _: &Self::Vector<T>) -> bool {
        false
    }
    /// Whether the pattern is the one that x has, shared.
    fn is_own_pattern<T: Value>(&self, _: &Self::Vector<T>, _: &Self::Places) -> bool {
        false
    }
    /// Whether t, whose entries the mask allows, is known to have one wherever it does.
    fn fills_mask<T: Value>(&self, _: &Self::Vector<T>, _: MaskSpec<'_, Self::Places>) -> bool {
        false
    }
    /// Keeps the entries that the mask allows. A machine that writes in place brings its own, as of the next three.
    /// # Errors
    /// See [`Backend`].
    fn retain_vector<T: Value>(&self, x: &mut Self::Vector<T>, mask: MaskSpec<'_, Self::Places>) -> Result<()> {
        *x = self.restrict_vector(x, mask)?;
        Ok(())
    }
    /// The entries of t, and elsewhere those of x.
    /// # Errors
    /// See [`Backend`].
    fn put_vector<T: Value>(&self, x: &mut Self::Vector<T>, t: Self::Vector<T>) -> Result<()> {
        self.accumulate_vector(Second::<T, T>::default(), x, t)
    }
    /// x = x ∘ t where both have an entry; where one has, that entry.
    /// # Errors
    /// See [`Backend`].
    fn accumulate_vector<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(
        &self,
        op: O,
        x: &mut Self::Vector<T>,
        t: Self::Vector<T>,
    ) -> Result<()> {
        *x = self.ewise_add_vectors(op, x, &t)?;
        Ok(())
    }
    /// w(i) = `x` where the mask allows; other places stay.
    /// # Errors
    /// See [`Backend`].
    fn assign_masked<T: Value>(&self, w: &mut Self::Vector<T>, x: T, mask: MaskSpec<'_, Self::Places>) -> Result<()> {
        let t = self.full_vector(self.len(w), x, Some(mask))?;
        self.put_vector(w, t)
    }
}
