//! Backends and their operations. [`Cpu`] owns a thread pool and settings, `Cuda` (feature `cuda`) owns a device;
//! [`Backend`] is the interface for algorithms that run on both.
//!
//! Every operation is a builder ([`Build`]) that is run by `eval()`, for a new result, or by `into(&mut c)`.
//!
//! | operation | formula | GraphBLAS |
//! | --- | --- | --- |
//! | [`mxm`](Backend::mxm), [`mxv`](Backend::mxv), [`vxm`](Backend::vxm) | A ⊕.⊗ B, A ⊕.⊗ x, xᵀ ⊕.⊗ A | `GrB_mxm`, `GrB_mxv`, `GrB_vxm` |
//! | [`spmm`](Backend::spmm) | A ⊕.⊗ X, X and the result dense | |
//! | [`ewise_add`](Backend::ewise_add), [`ewise_mult`](Backend::ewise_mult), [`ewise_union`](Backend::ewise_union) | A ∘ B, elementwise | `GrB_eWiseAdd`, `GrB_eWiseMult`, `GxB_eWiseUnion` |
//! | [`kronecker`](Backend::kronecker) | the Kronecker product of A and B | `GrB_kronecker` |
//! | [`apply`](Backend::apply), [`apply_index`](Backend::apply_index), [`select`](Backend::select) | f(A), f(A, s, i, j) | `GrB_apply`, `GrB_select` |
//! | [`reduce`](Backend::reduce), [`reduce_rows`](Backend::reduce_rows) | ⊕ over all, over each row | `GrB_reduce` |
//! | [`count_rows`](Backend::count_rows), [`mean_rows`](Backend::mean_rows), [`argmin_rows`](Backend::argmin_rows), [`argmax_rows`](Backend::argmax_rows) | row aggregates: count, mean, argmin, argmax | |
//! | [`transpose`](Backend::transpose) | Aᵀ | `GrB_transpose` |
//! | [`extract`](Backend::extract), [`extract_matrix`](Backend::extract_matrix), [`extract_row`](Backend::extract_row), [`extract_column`](Backend::extract_column) | v(I), A(I, J), A(i, J), A(I, j) | `GrB_extract`, `GrB_Col_extract` |
//! | [`assign`](Backend::assign), [`assign_matrix`](Backend::assign_matrix), [`into_row`](Build::into_row), [`into_column`](Build::into_column) | w(I) = v, C(I, J) = A, C(i, J) = v, C(I, j) = v | `GrB_assign`, `GrB_Row_assign`, `GrB_Col_assign` |
//! | [`assign_scalar`](Backend::assign_scalar), [`assign_scalar_at`](Backend::assign_scalar_at), [`assign_scalar_matrix`](Backend::assign_scalar_matrix) | w = x, w(I) = x, C(I, J) = x | `GrB_assign` |
//! | [`scatter`](Backend::scatter) | T(I) ⊕= u; I may repeat indices | |
//! | [`diag`](Backend::diag), [`diagonal`](Backend::diagonal) | a matrix from a diagonal, the diagonal of a matrix | `GrB_Matrix_diag`, `GxB_Vector_diag` |
//! | [`concat`](Backend::concat), [`split`](Backend::split), [`resize`](Backend::resize) | block matrices, resizing | `GxB_Matrix_concat`, `GxB_Matrix_split`, `GrB_Matrix_resize` |
//! | [`plan`](Backend::plan) | the structure of A·B | |
//! | [`mttkrp`](Cpu::mttkrp) | X₍ₙ₎ (⊙ Aₘ), of sparse tensors | |
//! | [`einsum`](Cpu::einsum) | C(r…) = ⊕ x₁(…) ⊗ x₂(…) ⊗ …, of dense tensors | |
//! | [`neighbours`](DistanceBackend::neighbours), [`distances`](DistanceBackend::distances) | distances between rows | |

mod aggregate;
mod arithmetic;
mod assemble;
mod assign;
mod build;
mod container;
mod cpu;
mod cpu_backend;
mod cpu_contract;
mod cpu_distance;
mod cpu_hyper;
mod cpu_parts;
mod cpu_tensor;
mod cpu_union;
mod indices;
mod kernels;
mod neighbours;
mod operations;
mod parts;
mod spmm;
mod write;

pub use crate::par::Progress;
pub use crate::sparse::{IndexList, MaskSpec};
pub use aggregate::{AggregateRows, ArgMax, ArgMin, Count, Mean, RowAggregate};
pub use assemble::{DiagMatrix, Diagonal, Scatter};
pub use build::{Build, Masked, Operation, TransposeA, TransposeB, Unmasked};
use container::Kind;
pub use container::{Complement, Container, Mask, Matrices, Structure, Vectors};
pub use cpu::Cpu;
pub use cpu_contract::EinsumBuilder;
pub use cpu_tensor::MttkrpBuilder;
pub use indices::{Indices, Line};
pub use kernels::Kernels;
pub use neighbours::{DistanceBackend, Knn, KnnOrRadius, NeighbourQuery, Pairwise, PreparedRows, QueryBuilder, Radius};
pub use operations::{
    Apply, ApplyIndex, Assign, AssignScalar, EwiseAdd, EwiseMult, EwiseUnion, Extract, Mxm, Mxv, Pairs, PlanOf, Reduce,
    ReduceRows, Select, Transpose, Vxm,
};
pub use parts::{AssignMatrix, AssignScalarAt, AssignScalarMatrix, ExtractLine, ExtractMatrix};
pub use spmm::Spmm;
pub use write::{Accum, Accumulate, JoinScalar, Plain, WriteMask};
pub(crate) use write::{WriteOps, write_with};

use std::marker::PhantomData;

use crate::algebra::{BinaryOp, IndexUnaryOp, Lhs, Monoid, Num, Rhs, Semiring, UnaryOp, Value};
use crate::ops::Pairing;
use crate::spgemm::Options;
use crate::{Index, Result};

/// A backend: storage for matrices and vectors, and operations on them.
///
/// An algorithm written against this trait uploads its inputs, keeps all data on the backend while it runs, and
/// downloads its result. Host memory and backend memory may be distinct. Matrices and vectors are handles: a clone
/// costs O(1).
///
/// Its methods are the builders that programs use, with masks, accumulators and replace, implemented once for all
/// backends on top of their [`Kernels`]: storage, conversions ([`upload`](Kernels::upload)) and loops. Every backend
/// gives the results of [`Cpu`], bitwise where arithmetic is exact; its documentation states where floats may be
/// rounded or folded differently.
///
/// # Errors
/// Operands that do not match: [`Error::Shape`](crate::Error::Shape), [`Error::Length`](crate::Error::Length); memory:
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Budget`](crate::Error::Budget); cancellation by the
/// caller: [`Error::Cancelled`](crate::Error::Cancelled); and errors of the backend itself.
///
/// # Example
/// ```
/// use sparring::prelude::*;
///
/// /// Levels of a breadth-first search from `source`, on any backend.
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
/// // 0 → 1 → 2, and 3 isolated.
/// let a = Csr::<bool>::new(4, 4, vec![0, 1, 2, 2, 2], vec![1, 2], vec![true, true])?;
/// assert_eq!(levels(&Cpu::new(), &a, 0)?, Vector::new(4, vec![0, 1, 2], vec![0, 1, 2])?);
/// # Ok::<(), sparring::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a backend",
    note = "use `Cpu::new()`, or with the feature `cuda` a GPU: `Cuda::new(0)?`, and matrices on that device"
)]
pub trait Backend<I: Index = u32>: Kernels<I> {
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
        PlanOf {
            machine: self,
            a: a.entry_pattern(self),
            b: b.entry_pattern(self),
            mask: None,
            options: Options::default(),
        }
    }
    /// y = A ⊕.⊗ x: y(i) = ⊕ A(i, k) ⊗ x(k) over the k for which both have an entry; no entry if there is no such k.
    ///
    /// On the CPU a row is folded in storage order, and the fold stops soon after it reaches the terminal value of ⊕.
    /// If x is full, `PlusTimes` of f32 and f64 uses eight independent partial sums per row instead: sum s has the
    /// entries s, s + 8, … of the row, and the result is ((s₀ + s₁) + (s₂ + s₃)) + ((s₄ + s₅) + (s₆ + s₇)). In both
    /// cases, results are bitwise identical for any number of threads and any mask.
    fn mxv<R: Semiring>(
        &self,
        ring: R,
        a: &Self::Matrix<Lhs<R>>,
        x: &Self::Vector<Rhs<R>>,
    ) -> Build<'_, Self, I, Mxv<R, Self, I>> {
        Build::new(self, Mxv { ring, a: a.clone(), x: x.clone(), flip: false, transpose: None })
    }
    /// yᵀ = xᵀ ⊕.⊗ A: y(j) = ⊕ x(k) ⊗ A(k, j) over the k for which both have an entry; no entry if there is no such k.
    fn vxm<R: Semiring>(
        &self,
        ring: R,
        x: &Self::Vector<Lhs<R>>,
        a: &Self::Matrix<Rhs<R>>,
    ) -> Build<'_, Self, I, Vxm<R, Self, I>> {
        Build::new(self, Vxm { ring, x: x.clone(), a: a.clone(), flip: false, transpose: None })
    }
    /// Y = A ⊕.⊗ X, X and Y dense: Y(i, j) = ⊕ A(i, k) ⊗ X(k, j) over the entries of row i in storage order; the
    /// identity of ⊕ for an empty row.
    ///
    /// Cost: O(n·(m + nnz)) for n columns of X.
    /// ```
    /// use sparring::prelude::*;
    /// let a = Csr::<f64>::new(2, 3, vec![0, 1, 3], vec![2, 0, 1], vec![2.0, 1.0, 3.0])?;
    /// let (cpu, x) = (Cpu::new(), Dense::new(3, 2, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?);
    /// let mut y = cpu.spmm(PlusTimes::new(), &a, &x).eval()?;
    /// assert_eq!(y.values(), [10.0, 12.0, 10.0, 14.0]);
    /// cpu.spmm(PlusTimes::new(), &a, &x).accum(Plus::new()).into(&mut y)?;
    /// assert_eq!(y.row(1), [20.0, 28.0]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    fn spmm<'m, R: Semiring>(
        &'m self,
        ring: R,
        a: &Self::Matrix<Lhs<R>>,
        x: &'m Self::Dense<Rhs<R>>,
    ) -> Spmm<'m, R, Self, I> {
        Spmm { machine: self, ring, a: a.clone(), x, flip: false, accum: Plain, index: PhantomData }
    }
    /// C = A ∘ B over the union of the patterns: A ∘ B where both have an entry, otherwise the entry that exists. For
    /// two matrices or two vectors.
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
    /// C = A ∘ B over the intersection of the patterns. For two matrices or two vectors, whose value types may differ.
    fn ewise_mult<O: BinaryOp, C, D>(&self, op: O, a: &C, b: &D) -> Build<'_, Self, I, EwiseMult<O, C::Kind, Self, I>>
    where
        C: Container<Self, I, Value = O::A>,
        D: Container<Self, I, Value = O::B, Kind = C::Kind>,
        C::Kind: Kind<Self, I, Of<O::A> = C> + Kind<Self, I, Of<O::B> = D>,
    {
        Build::new(self, EwiseMult { op, a: a.clone(), b: b.clone(), flip: [false; 2] })
    }
    /// C = A ∘ B over the union of the patterns; `for_a` and `for_b` replace missing entries of A and B.
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
    /// C = f(A), for each entry of a matrix or vector.
    fn apply<O: UnaryOp, C>(&self, op: O, a: &C) -> Build<'_, Self, I, Apply<O, C::Kind, Self, I>>
    where
        C: Container<Self, I, Value = O::A>,
        C::Kind: Kind<Self, I, Of<O::A> = C>,
    {
        Build::new(self, Apply { op, a: a.clone(), flip: false })
    }
    /// C = f(A, s, i, j) for each entry of a matrix; f(a, s, i, 0) for a vector.
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
    /// The entries of a matrix for which f(a, s, i, j) holds; f(a, s, i, 0) for a vector.
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
    /// ⊕ over all entries of a matrix or vector; the identity if there are none.
    ///
    /// On the CPU the values, in storage order, are split into parts of 16 384. Each part is folded as a row by
    /// [`reduce_rows`](Self::reduce_rows), and so are the results of the parts. For floats the rounding differs from
    /// one long fold, but not with the number of threads.
    fn reduce<P: Monoid, C: Container<Self, I, Value = P::Out>>(&self, monoid: P, a: &C) -> Reduce<'_, P, C, Self, I> {
        Reduce { machine: self, monoid, a: a.clone(), accum: Plain, index: PhantomData }
    }
    /// y(i) = ⊕ over row i; no entry for an empty row.
    ///
    /// On the CPU rows are folded in storage order, with one exception: sums ([`Plus`](crate::algebra::Plus)) of rows
    /// with more than 16 entries use 16 partial sums. Sum s has the entries s, s + 16, …; then neighbouring sums are
    /// added pairwise until one is left.
    fn reduce_rows<P: Monoid>(
        &self,
        monoid: P,
        a: &Self::Matrix<P::Out>,
    ) -> Build<'_, Self, I, ReduceRows<P, Self, I>> {
        Build::new(self, ReduceRows { monoid, a: a.clone(), flip: false })
    }
    /// C(i·p + k, j·q + l) = A(i, j) ∘ B(k, l) for each entry of A and each entry of the p×q matrix B.
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
    /// w(p) = v(indices(p)), if v has that entry. The indices are a slice, an [`IndexList`], a range or `..`; they may
    /// repeat.
    fn extract<'m, 'i, T: Value>(
        &'m self,
        v: &Self::Vector<T>,
        indices: impl Into<Indices<'i, I>>,
    ) -> Build<'m, Self, I, Extract<'i, T, Self, I>> {
        Build::new(self, Extract { v: v.clone(), indices: indices.into() })
    }
    /// C(p, q) = A(I(p), J(q)), if A has that entry. Lists are an [`IndexList`], a range, an array or `..`, in any
    /// order; they may repeat indices.
    ///
    /// Cost on the CPU: O(|I| + |J| + entries of the selected rows), plus O(ncols) unless ncols is far larger.
    /// ```
    /// use sparring::prelude::*;
    /// let a = Csr::<i32>::new(2, 3, vec![0, 2, 4], vec![0, 2, 1, 2], vec![1, 2, 3, 4])?;
    /// let c = Cpu::new().extract_matrix(&a, .., [2, 0]).eval()?;
    /// assert_eq!(c, Csr::new(2, 2, vec![0, 2, 3], vec![0, 1, 0], vec![2, 1, 4])?);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    fn extract_matrix<T: Value>(
        &self,
        a: &Self::Matrix<T>,
        rows: impl Into<IndexList>,
        cols: impl Into<IndexList>,
    ) -> Build<'_, Self, I, ExtractMatrix<T, Self, I>> {
        Build::new(self, ExtractMatrix { a: a.clone(), part: (rows.into(), cols.into()), flip: false })
    }
    /// w(q) = A(i, J(q)): a row as a vector.
    fn extract_row<T: Value>(
        &self,
        a: &Self::Matrix<T>,
        i: usize,
        cols: impl Into<IndexList>,
    ) -> Build<'_, Self, I, ExtractLine<T, Self, I>> {
        Build::new(self, ExtractLine { a: a.clone(), line: Line::Row(i, cols.into()) })
    }
    /// w(p) = A(I(p), j): a column as a vector (`GrB_Col_extract`).
    fn extract_column<T: Value>(
        &self,
        a: &Self::Matrix<T>,
        rows: impl Into<IndexList>,
        j: usize,
    ) -> Build<'_, Self, I, ExtractLine<T, Self, I>> {
        Build::new(self, ExtractLine { a: a.clone(), line: Line::Column(rows.into(), j) })
    }
    /// w(indices(p)) = v(p), written by `into(&mut w)`, or by [`into_row`](Build::into_row) or
    /// [`into_column`](Build::into_column) of a matrix. An entry of w at a listed index is removed if v has no entry
    /// for it; entries at other indices are kept. Indices must not repeat. A mask has the length of w.
    fn assign<'m, 'i, T: Value>(
        &'m self,
        v: &Self::Vector<T>,
        indices: impl Into<Indices<'i, I>>,
    ) -> Build<'m, Self, I, Assign<'i, T, Self, I>> {
        Build::new(self, Assign { v: v.clone(), indices: indices.into() })
    }
    /// C(I(p), J(q)) = A(p, q), written by `into(&mut c)`. Entries of C in (I, J) are removed if A has no entry for
    /// them; entries outside are kept. Indices must not repeat. A mask has the shape of C; replace removes entries
    /// outside of the mask in all of C (`GrB_assign`).
    ///
    /// Cost on the CPU: O(nrows + nnz(C) + nnz(A)), plus O(nrows·ncols / 64) if C is a bitmap. If C is a bitmap or full
    /// and A, without a mask, has all entries of I × J, the cost is O(nrows + nnz(A)).
    /// ```
    /// use sparring::prelude::*;
    /// let mut c = Csr::<i32>::new(3, 3, vec![0, 1, 2, 3], vec![0, 1, 2], vec![1, 2, 3])?;
    /// let a = Csr::<i32>::new(2, 2, vec![0, 1, 1], vec![1], vec![9])?;
    /// Cpu::new().assign_matrix(&a, 0..2, [1, 2]).into(&mut c)?;
    /// assert_eq!(c, Csr::new(3, 3, vec![0, 2, 2, 3], vec![0, 2, 2], vec![1, 9, 3])?);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    fn assign_matrix<T: Value>(
        &self,
        a: &Self::Matrix<T>,
        rows: impl Into<IndexList>,
        cols: impl Into<IndexList>,
    ) -> Build<'_, Self, I, AssignMatrix<T, Self, I>> {
        Build::new(self, AssignMatrix { a: a.clone(), part: (rows.into(), cols.into()), flip: false })
    }
    /// w(i) = x at every index, or at those that the mask allows; written by `into(&mut w)`.
    fn assign_scalar<T: Value>(&self, x: T) -> Build<'_, Self, I, AssignScalar<T>> {
        Build::new(self, AssignScalar { x })
    }
    /// w(i) = x at these indices, which may repeat; written by `into(&mut w)` or into a row or column of a matrix.
    fn assign_scalar_at<'m, 'i, T: Value>(
        &'m self,
        x: T,
        indices: impl Into<Indices<'i, I>>,
    ) -> Build<'m, Self, I, AssignScalarAt<'i, T, I>> {
        Build::new(self, AssignScalarAt { x, indices: indices.into() })
    }
    /// C(i, j) = x for (i, j) in I × J, or for those that the mask allows; written by `into(&mut c)`.
    ///
    /// Cost on the CPU: O(nrows + nnz(C) + nnz of the mask); without a mask O(nrows + nnz(C) + |I|·|J|).
    /// ```
    /// use sparring::prelude::*;
    /// let mut c = Csr::<f64>::empty(2, 3)?;
    /// Cpu::new().assign_scalar_matrix(1.0, 0..1, [0, 2]).into(&mut c)?;
    /// assert_eq!(c, Csr::new(2, 3, vec![0, 2, 2], vec![0, 2], vec![1.0; 2])?);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    fn assign_scalar_matrix<T: Value>(
        &self,
        x: T,
        rows: impl Into<IndexList>,
        cols: impl Into<IndexList>,
    ) -> Build<'_, Self, I, AssignScalarMatrix<T>> {
        Build::new(self, AssignScalarMatrix { x, part: (rows.into(), cols.into()) })
    }

    /// T(i) = u(p) ⊕ u(q) ⊕ … over the p, q, … with indices(p) = indices(q) = … = i, a vector of length `len`: an
    /// assignment whose indices may repeat. `m.scatter(Min::new(), &u, &f, n).accum(Min::new()).into(&mut g)` is
    /// `g[f] min= u`.
    ///
    /// Cost on the CPU: O(|I| + nnz(u)), plus sorting of unsorted indices.
    /// ```
    /// use sparring::prelude::*;
    /// let u = Vector::<i32>::full(vec![5, 1, 7])?;
    /// let t = Cpu::new().scatter(Plus::new(), &u, &[2, 0, 2], 4).eval()?;
    /// assert_eq!(t, Vector::new(4, vec![0, 2], vec![1, 12])?);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    fn scatter<'m, 'i, P: Monoid>(
        &'m self,
        monoid: P,
        u: &Self::Vector<P::Out>,
        indices: impl Into<Indices<'i, I>>,
        len: usize,
    ) -> Build<'m, Self, I, Scatter<'i, P, Self, I>> {
        Build::new(self, Scatter { monoid, u: u.clone(), indices: indices.into(), len })
    }
    /// y(i) = number of entries of row i, as i64, for non-empty rows. With [`transpose_a`](Build::transpose_a), this
    /// and the next three methods aggregate columns.
    /// ```
    /// use sparring::prelude::*;
    /// let a = Csr::<f64>::new(3, 3, vec![0, 2, 2, 3], vec![0, 2, 1], vec![1.0, 4.0, 2.0])?;
    /// let cpu = Cpu::new();
    /// assert_eq!(cpu.count_rows(&a).eval()?, Vector::new(3, vec![0, 2], vec![2, 1])?);
    /// assert_eq!(cpu.mean_rows(&a).eval()?, Vector::new(3, vec![0, 2], vec![2.5, 2.0])?);
    /// assert_eq!(cpu.argmax_rows(&a).eval()?, Vector::new(3, vec![0, 2], vec![2, 1])?);
    /// assert_eq!(cpu.argmax_rows(&a).transpose_a().eval()?, Vector::new(3, vec![0, 1, 2], vec![0, 2, 0])?);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    fn count_rows<T: Value>(&self, a: &Self::Matrix<T>) -> Build<'_, Self, I, AggregateRows<Count, T, Self, I>> {
        Build::new(self, AggregateRows { a: a.clone(), flip: false, of: PhantomData })
    }
    /// y(i) = mean of row i as f64, for non-empty rows.
    fn mean_rows<T: Num>(&self, a: &Self::Matrix<T>) -> Build<'_, Self, I, AggregateRows<Mean, T, Self, I>> {
        Build::new(self, AggregateRows { a: a.clone(), flip: false, of: PhantomData })
    }
    /// y(i) = column of the minimum of row i, as i64, the first one of ties; no entry if the row has no value other
    /// than NaN, which is ignored.
    fn argmin_rows<T: Num>(&self, a: &Self::Matrix<T>) -> Build<'_, Self, I, AggregateRows<ArgMin, T, Self, I>> {
        Build::new(self, AggregateRows { a: a.clone(), flip: false, of: PhantomData })
    }
    /// y(i) = column of the maximum of row i; otherwise as [`argmin_rows`](Self::argmin_rows).
    fn argmax_rows<T: Num>(&self, a: &Self::Matrix<T>) -> Build<'_, Self, I, AggregateRows<ArgMax, T, Self, I>> {
        Build::new(self, AggregateRows { a: a.clone(), flip: false, of: PhantomData })
    }
    /// The square matrix whose diagonal k is v, above the main diagonal for k > 0; it has n + |k| rows for length n
    /// (`GrB_Matrix_diag`).
    ///
    /// Cost: O(n + |k|), plus the download of a vector on a GPU.
    fn diag<T: Value>(&self, v: &Self::Vector<T>, k: i64) -> Build<'_, Self, I, DiagMatrix<T, Self, I>> {
        Build::new(self, DiagMatrix { v: v.clone(), k })
    }
    /// The diagonal k of A as a vector: w(p) = A(p, p + k), or A(p − k, p) for k < 0 (`GxB_Vector_diag`).
    ///
    /// Cost on the CPU: one binary search per element of the diagonal.
    /// ```
    /// use sparring::prelude::*;
    /// let v = Vector::<i32>::new(2, vec![1], vec![5])?;
    /// let a = Cpu::new().diag(&v, -1).eval()?;
    /// assert_eq!((a.shape(), a.get(2, 1)), ((3, 3), Some(&5)));
    /// assert_eq!(Cpu::new().diagonal(&a, -1).eval()?, v);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    fn diagonal<T: Value>(&self, a: &Self::Matrix<T>, k: i64) -> Build<'_, Self, I, Diagonal<T, Self, I>> {
        Build::new(self, Diagonal { a: a.clone(), k })
    }

    /// The block matrix of these rows of blocks (`GxB_Matrix_concat`). All rows have the same number of blocks, blocks
    /// of one block row the same number of rows, blocks of one block column the same number of columns.
    ///
    /// Cost: O(entries + rows · blocks per row), plus the download of matrices on a GPU.
    /// ```
    /// use sparring::prelude::*;
    /// let (cpu, a) = (Cpu::new(), Csr::<i32>::new(1, 2, vec![0, 1], vec![1], vec![5])?);
    /// let c = cpu.concat(&[&[&a, &a], &[&a, &a]])?;
    /// assert_eq!((c.shape(), c.col_idx()), ((2, 4), &[1, 3, 1, 3][..]));
    /// assert_eq!(cpu.split(&c, &[1, 1], &[2, 2])?[1][0], a);
    /// assert_eq!(cpu.resize(&c, 1, 2)?, a);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// See [`Backend`]; [`Error::Shape`](crate::Error::Shape) for blocks that do not fit,
    /// [`Error::Argument`](crate::Error::Argument) for no blocks,
    /// [`Error::IndexOverflow`](crate::Error::IndexOverflow).
    fn concat<T: Value>(&self, blocks: &[&[&Self::Matrix<T>]]) -> Result<Self::Matrix<T>> {
        self.concat_blocks(blocks)
    }
    /// The blocks with these numbers of rows and columns (`GxB_Matrix_split`).
    /// # Errors
    /// See [`Backend`]; [`Error::Argument`](crate::Error::Argument) unless the numbers sum to the shape.
    fn split<T: Value>(
        &self,
        a: &Self::Matrix<T>,
        nrows: &[usize],
        ncols: &[usize],
    ) -> Result<Vec<Vec<Self::Matrix<T>>>> {
        assemble::split(self, a, (nrows, ncols))
    }
    /// The matrix resized to another shape: entries out of bounds are dropped, new rows and columns are empty
    /// (`GrB_Matrix_resize`).
    /// # Errors
    /// See [`Backend`]; [`Error::IndexOverflow`](crate::Error::IndexOverflow).
    fn resize<T: Value>(&self, a: &Self::Matrix<T>, nrows: usize, ncols: usize) -> Result<Self::Matrix<T>> {
        assemble::resize(self, a, (nrows, ncols))
    }
    /// The vector resized to another length; otherwise as [`resize`](Self::resize).
    /// # Errors
    /// As for [`resize`](Self::resize).
    fn resize_vector<T: Value>(&self, v: &Self::Vector<T>, len: usize) -> Result<Self::Vector<T>> {
        assemble::resize_vector(self, v, len)
    }

    /// Number of entries of a matrix or vector, stored zeros included.
    /// # Errors
    /// See [`Backend`]; a backend may have to count them.
    fn nnz<C: Container<Self, I>>(&self, x: &C) -> Result<usize> {
        x.count(self)
    }
}

impl<M: Kernels<I>, I: Index> Backend<I> for M {}
