//! Where operations run. [`Cpu`] is a value that owns its threads and settings, as `Cuda` (feature `cuda`) owns a device;
//! [`Backend`] is what an algorithm needs to run on any machine.

mod cpu;
mod cpu_distance;
mod cpu_ops;
mod mxm;

pub use crate::par::Progress;
pub use cpu::Cpu;
pub use mxm::Mxm;

use crate::algebra::{BinaryOp, IndexUnaryOp, Lhs, Monoid, Out, Real, Rhs, Semiring, UnaryOp, Value};
use crate::distance::{Measure, Neighbours, Options};
use crate::sparse::{Dense, SparseVec};
use crate::{Csr, Result};

/// A machine that holds matrices and vectors and computes with them: the operations of which graph algorithms are made, and
/// distances between rows.
///
/// An algorithm written against this trait uploads what it starts from, leaves everything where it is while it runs, and
/// downloads its result. What an operation computes is defined in [`ops`](crate::ops), and for
/// [`mxm`](Self::mxm) in [`Mxm`], for distances in [`distance`](crate::distance); a backend gives those results, bit for bit where arithmetic is exact. Its own
/// documentation says where floats may be rounded or folded otherwise.
///
/// Columns are counted with 32 bits. Dense vectors have a value everywhere; sparse ones have entries, sorted. A mask of a
/// vector is a dense vector of truth values; a mask of a matrix is the pattern of a matrix (structural), whatever its
/// values. The flag beside a mask is `true` for its complement.
///
/// # Errors
/// Operands that do not fit: [`Error::Shape`](crate::Error::Shape), [`Error::Length`](crate::Error::Length); memory:
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Budget`](crate::Error::Budget); progress stopped by the
/// caller: [`Error::Cancelled`](crate::Error::Cancelled); and what the machine itself may fail with.
///
/// # Example
/// ```
/// use sparring::algebra::{PlusTimes, Value};
/// use sparring::{Cpu, Csr, Result, backend::Backend};
///
/// /// A·(A·x), on any machine.
/// fn twice<B: Backend>(on: &B, a: &Csr<f64>, x: &[f64]) -> Result<Vec<f64>> {
///     let (a, x) = (on.upload(a)?, on.upload_vec(x)?);
///     let y = on.mxv(PlusTimes::default(), &a, &x, None)?;
///     on.download_vec(&on.mxv(PlusTimes::default(), &a, &y, None)?)
/// }
/// let a = Csr::<f64>::new(2, 2, vec![0, 1, 2], vec![1, 0], vec![2.0, 3.0])?;
/// assert_eq!(twice(&Cpu::new(), &a, &[1.0, 10.0])?, [6.0, 60.0]);
/// # Ok::<(), sparring::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no machine to compute on",
    note = "use `Cpu::new()`, or with the feature `cuda` a GPU: `Cuda::new(0)?`"
)]
pub trait Backend {
    /// A sparse matrix on this machine.
    type Matrix<T: Value>;
    /// A dense matrix on this machine.
    type Dense<T: Value>;
    /// A dense vector on this machine.
    type Vector<T: Value>;
    /// A sparse vector on this machine.
    type SparseVector<T: Value>;

    /// A copy of the matrix on this machine.
    /// # Errors
    /// See [`Backend`].
    fn upload<T: Value>(&self, a: &Csr<T>) -> Result<Self::Matrix<T>>;
    /// The matrix, in the memory of the host.
    /// # Errors
    /// See [`Backend`].
    fn download<T: Value>(&self, a: &Self::Matrix<T>) -> Result<Csr<T>>;
    /// The dense matrix, in the memory of the host.
    /// # Errors
    /// See [`Backend`].
    fn download_dense<T: Value>(&self, a: &Self::Dense<T>) -> Result<Dense<T>>;
    /// A copy of the dense vector on this machine.
    /// # Errors
    /// See [`Backend`].
    fn upload_vec<T: Value>(&self, x: &[T]) -> Result<Self::Vector<T>>;
    /// The dense vector, in the memory of the host.
    /// # Errors
    /// See [`Backend`].
    fn download_vec<T: Value>(&self, x: &Self::Vector<T>) -> Result<Vec<T>>;
    /// A copy of the sparse vector on this machine.
    /// # Errors
    /// See [`Backend`].
    fn upload_sparse<T: Value>(&self, x: &SparseVec<T>) -> Result<Self::SparseVector<T>>;
    /// The sparse vector, in the memory of the host.
    /// # Errors
    /// See [`Backend`].
    fn download_sparse<T: Value>(&self, x: &Self::SparseVector<T>) -> Result<SparseVec<T>>;

    /// Rows and columns.
    fn shape<T: Value>(&self, a: &Self::Matrix<T>) -> (usize, usize);
    /// Entries of a matrix, stored zeros included.
    fn nnz<T: Value>(&self, a: &Self::Matrix<T>) -> usize;
    /// Entries of a sparse vector, stored zeros included.
    fn nnz_sparse<T: Value>(&self, x: &Self::SparseVector<T>) -> usize;

    /// C⟨M⟩ = A ⊕.⊗ B; rows sorted. Without a mask, its type is to be named: `on.mxm::<_, bool>(ring, &a, &b, None)`.
    /// # Errors
    /// See [`Backend`].
    fn mxm<R: Semiring, S: Value>(
        &self,
        ring: R,
        a: &Self::Matrix<Lhs<R>>,
        b: &Self::Matrix<Rhs<R>>,
        mask: Option<(&Self::Matrix<S>, bool)>,
    ) -> Result<Self::Matrix<Out<R>>>;
    /// y = A ⊕.⊗ x, dense: [`ops::mxv`](crate::ops::mxv).
    /// # Errors
    /// See [`Backend`].
    fn mxv<R: Semiring>(
        &self,
        ring: R,
        a: &Self::Matrix<Lhs<R>>,
        x: &Self::Vector<Rhs<R>>,
        mask: Option<(&Self::Vector<bool>, bool)>,
    ) -> Result<Self::Vector<Out<R>>>;
    /// yᵀ = xᵀ ⊕.⊗ A, sparse: [`ops::vxm`](crate::ops::vxm).
    /// # Errors
    /// See [`Backend`].
    fn vxm<R: Semiring>(
        &self,
        ring: R,
        x: &Self::SparseVector<Lhs<R>>,
        a: &Self::Matrix<Rhs<R>>,
        mask: Option<(&Self::Vector<bool>, bool)>,
    ) -> Result<Self::SparseVector<Out<R>>>;

    /// C = A ∘ B where either has an entry: [`ops::ewise_union`](crate::ops::ewise_union).
    /// # Errors
    /// See [`Backend`].
    fn ewise_union<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(
        &self,
        op: O,
        a: &Self::Matrix<T>,
        b: &Self::Matrix<T>,
    ) -> Result<Self::Matrix<T>>;
    /// C = A ∘ B where both have an entry: [`ops::ewise_intersection`](crate::ops::ewise_intersection).
    /// # Errors
    /// See [`Backend`].
    fn ewise_intersection<O: BinaryOp>(
        &self,
        op: O,
        a: &Self::Matrix<O::A>,
        b: &Self::Matrix<O::B>,
    ) -> Result<Self::Matrix<O::Out>>;
    /// C = f(A): [`ops::apply`](crate::ops::apply).
    /// # Errors
    /// See [`Backend`].
    fn apply<O: UnaryOp>(&self, op: O, a: &Self::Matrix<O::A>) -> Result<Self::Matrix<O::Out>>;
    /// The entries for which f(a, i, j, s) holds: [`ops::select`](crate::ops::select).
    /// # Errors
    /// See [`Backend`].
    fn select<O: IndexUnaryOp<Out = bool>>(&self, op: O, a: &Self::Matrix<O::A>, s: O::S)
    -> Result<Self::Matrix<O::A>>;
    /// ⊕ over each row: [`ops::reduce_rows`](crate::ops::reduce_rows).
    /// # Errors
    /// See [`Backend`].
    fn reduce_rows<M: Monoid>(&self, monoid: M, a: &Self::Matrix<M::Out>) -> Result<Self::Vector<M::Out>>;
    /// ⊕ over all entries: [`ops::reduce`](crate::ops::reduce).
    /// # Errors
    /// See [`Backend`].
    fn reduce<M: Monoid>(&self, monoid: M, a: &Self::Matrix<M::Out>) -> Result<M::Out>;
    /// Aᵀ, rows sorted.
    /// # Errors
    /// See [`Backend`].
    fn transpose<T: Value>(&self, a: &Self::Matrix<T>) -> Result<Self::Matrix<T>>;
    /// w(i) = x where `places` has an entry: [`ops::assign`](crate::ops::assign).
    /// # Errors
    /// See [`Backend`].
    fn assign<T: Value, S: Value>(&self, w: &mut Self::Vector<T>, places: &Self::SparseVector<S>, x: T) -> Result<()>;

    /// All distances between rows of X and of Y, or of X alone: [`distance::pairwise`](crate::distance::pairwise).
    /// # Errors
    /// See [`Backend`]; [`Error::Argument`](crate::Error::Argument) for an entry outside the metric's domain.
    fn pairwise<T: Real, M: Measure>(
        &self,
        measure: M,
        x: &Self::Matrix<T>,
        y: Option<&Self::Matrix<T>>,
        options: &Options,
    ) -> Result<Self::Dense<T>>;
    /// The `k` nearest rows of each row of X, in the memory of the host: [`distance::knn`](crate::distance::knn).
    /// # Errors
    /// Those of [`pairwise`](Self::pairwise).
    fn knn<T: Real, M: Measure>(
        &self,
        measure: M,
        k: usize,
        x: &Self::Matrix<T>,
        y: Option<&Self::Matrix<T>>,
        options: &Options,
    ) -> Result<Neighbours<T>>;
    /// The rows within `radius` of each row of X: [`distance::radius`](crate::distance::radius).
    /// # Errors
    /// Those of [`pairwise`](Self::pairwise); [`Error::Argument`](crate::Error::Argument) for a radius that is NaN.
    fn radius<T: Real, M: Measure>(
        &self,
        measure: M,
        radius: f64,
        x: &Self::Matrix<T>,
        y: Option<&Self::Matrix<T>>,
        options: &Options,
    ) -> Result<Self::Matrix<T>>;
}
