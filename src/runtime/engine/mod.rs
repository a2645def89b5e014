//! The engine interface: operations on matrices and vectors whose types are known at run time.
//!
//! It is for crates with an engine of their own, as `sparring-cluster` has for the processes of an MPI job: they
//! implement [`Engine`] and [`Remote`] for their objects, and wrap the engine by
//! [`Machine::from_engine`](super::Machine::from_engine). The traits may change in any version.

mod cpu;
#[cfg(feature = "cuda")]
mod cuda;
mod wire;

use std::any::Any;
use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

use super::dense_view::DenseView;
use super::distances::{Comparison, Neighbours};
use super::index::RowIndex;
use super::matrix::{Matrix, Sum};
use super::operator::{BinaryOp, Monoid, UnaryOp};
use super::plan::Plan;
use super::product::Product;
use super::scalar::Scalar;
use super::semiring::Semiring;
use super::vector::Vector;
use crate::algebra::{Array, Slice, SliceMut, Type};
use crate::contract::Einsum;
use crate::distance::{Measure, Options as DistanceOptions};
use crate::factor::CpMachine;
use crate::graph::{TriangleMethod, Triangles};
use crate::ops::{Direction, Pairing};
use crate::par::Threads;
use crate::sparse::IndexList;
use crate::spgemm::Options;
use crate::{Error, Result};

pub use super::index::EngineIndex;
pub use super::plan::EnginePlan;
pub use super::remote::Remote;
pub use crate::graph::triangles::{PanelRows, masked_pairs};
pub use wire::{bytes_of, raw_entries, values_of};

/// An engine: one entry point for every operation, and the memory that holds its operands.
///
/// No method assumes shared memory: operands in other memory are transferred for the call, and results stay where they
/// are computed. Callers of [`run`](Self::run) check that the operator takes the types of its operands; engines check
/// shapes.
///
/// # Errors
/// Those of the operations and of the device.
pub trait Engine: Any + Debug + Send + Sync {
    /// `cpu`, or `cuda:0` and so on.
    fn name(&self) -> String;
    /// A description that begins with the name.
    fn describe(&self) -> String;
    /// Waits for all pending operations.
    /// # Errors
    /// Those of the pending operations.
    fn wait(&self) -> Result<()>;
    /// Rejects an operator that calls a host function of this name, if the engine cannot call it.
    /// # Errors
    /// [`Error::Unsupported`].
    fn check_host_function(&self, _name: Option<&str>) -> Result<()> {
        Ok(())
    }
    /// Whether the operand is in this engine's memory.
    fn holds(&self, x: Operand<'_>) -> bool;
    /// Whether this engine made the plan.
    fn made(&self, plan: &Plan) -> bool;
    /// The operand in this engine's memory; returned unchanged if it is there already.
    /// # Errors
    /// See [`Engine`].
    fn upload(&self, x: Operand<'_>) -> Result<Object>;
    /// The result of an operation.
    /// # Errors
    /// See [`Engine`].
    fn run(&self, call: &Call<'_>) -> Result<Object>;
    /// Symbolic phase of C⟨M⟩ = A·B.
    /// # Errors
    /// See [`Engine`].
    fn symbolic(&self, a: &Matrix, b: &Matrix, mask: Option<MaskSpec<'_>>, options: &Options) -> Result<Plan>;
    /// Numeric phase for a plan.
    /// # Errors
    /// See [`Engine`].
    fn numeric(&self, plan: &Plan, ring: &Semiring, a: &Matrix, b: &Matrix) -> Result<Matrix>;
    /// C for a single use, without a plan to reuse.
    /// # Errors
    /// See [`Engine`].
    fn product(
        &self,
        ring: &Semiring,
        a: &Matrix,
        b: &Matrix,
        mask: Option<MaskSpec<'_>>,
        options: &Options,
    ) -> Result<Product> {
        let plan = self.symbolic(a, b, mask, options)?;
        Ok(Product::planned(self.numeric(&plan, ring, a, b)?, plan))
    }
    /// Numeric phase over the values of `c`, of the semiring's type; in place unless they are shared.
    /// # Errors
    /// See [`Engine`].
    fn numeric_into(&self, plan: &Plan, ring: &Semiring, a: &Matrix, b: &Matrix, c: &mut Matrix) -> Result<()>;
    /// The values of A ⊕.⊗ X, row-major; X has `columns` columns and one row per column of A.
    /// # Errors
    /// See [`Engine`].
    fn spmm(&self, ring: &Semiring, a: &Matrix, x: Slice<'_>, columns: usize) -> Result<Array>;
    /// [`spmm`](Self::spmm), overwriting `y`, which has as many values of the result type.
    /// # Errors
    /// See [`Engine`]. After [`Error::Cancelled`] some values may be new.
    fn spmm_into(&self, ring: &Semiring, a: &Matrix, x: (Slice<'_>, usize), y: &mut SliceMut<'_>) -> Result<()> {
        y.copy_from(&self.spmm(ring, a, x.0, x.1)?.slice());
        Ok(())
    }
    /// [`spmm`](Self::spmm) of the values of a full vector, into another; `None` if the values have to go by the host.
    fn spmm_vector(&self, _ring: &Semiring, _a: &Matrix, _x: &Vector, _columns: usize) -> Option<Result<Vector>> {
        None
    }
    /// The contraction of dense arrays, row-major, as a full vector; `None` if the engine has none.
    fn einsum(&self, _ring: &Semiring, _einsum: &Einsum<'_, (), DenseView<'_>>) -> Option<Result<Vector>> {
        None
    }
    /// Whether y = A ⊕.⊗ x is cheaper by the rows of A that the mask allows (pull) than by the rows of Aᵀ selected by
    /// x.
    /// # Errors
    /// See [`Engine`].
    fn is_by_rows(&self, _ring: &Semiring, at: &Matrix, x: &Vector, _mask: Option<MaskSpec<'_>>) -> Result<bool> {
        let ((len, rows), nnz, entries) = (at.shape(), at.nnz(), x.nvals()?);
        Ok(Direction::estimated((rows, nnz), (len, entries)).is_by_rows())
    }
    /// The sum of all values, for printing.
    /// # Errors
    /// See [`Engine`].
    fn sum(&self, a: &Matrix) -> Result<Sum>;

    /// Retains the entries of x that the mask allows, in place; `None` if the engine does not write in place.
    fn retain(&self, _x: &mut Vector, _mask: &Vector, _complement: bool) -> Option<Result<()>> {
        None
    }
    /// Writes the entries of t into x in place; where both have one, x ⊙ t if ⊙ is given, otherwise t. `None` if the
    /// engine does not write in place.
    fn put(&self, _x: &mut Vector, _t: &Vector, _op: Option<&BinaryOp>) -> Option<Result<()>> {
        None
    }
    /// [`retain`](Self::retain) of a matrix.
    fn retain_matrix(&self, _a: &mut Matrix, _mask: &Matrix, _complement: bool) -> Option<Result<()>> {
        None
    }
    /// [`put`](Self::put) of a matrix.
    fn put_matrix(&self, _a: &mut Matrix, _t: &Matrix, _op: Option<&BinaryOp>) -> Option<Result<()>> {
        None
    }
    /// C(I, J) = A where the mask allows, without an accumulator or replace; `None` to compose it from other
    /// operations.
    fn assign(
        &self,
        _c: &mut Matrix,
        _a: &Matrix,
        _part: (&IndexList, &IndexList),
        _mask: Option<(&Matrix, bool)>,
    ) -> Option<Result<()>> {
        None
    }
    /// C⟨M⟩ = s, s of C's type, for a mask without complement; `None` to compose it from other operations.
    fn fill(&self, _c: &mut Matrix, _s: &Scalar, _mask: &Matrix) -> Option<Result<()>> {
        None
    }
    /// The m×n matrix with s at each position of its part (I, J), whose lists may repeat indices; `None` to build it
    /// on the host.
    fn constant(&self, _s: &Scalar, _part: (&IndexList, &IndexList), _shape: (usize, usize)) -> Option<Result<Matrix>> {
        None
    }
    /// The vector of this length with s at every index; `None` to build it on the host.
    fn full(&self, _s: &Scalar, _len: usize) -> Option<Result<Vector>> {
        None
    }
    /// A vector as a matrix of one row or one column; `None` to build it on the host.
    fn line_matrix(&self, _x: &Vector, _is_row: bool) -> Option<Result<Matrix>> {
        None
    }
    /// The block matrix of blocks of one type, with this shape and number of entries; `None` to build it on the
    /// host.
    fn concat(&self, _blocks: &[&[&Matrix]], _shape: (usize, usize, usize)) -> Option<Result<Matrix>> {
        None
    }
    /// The number of entries of each nonempty row: i64.
    /// # Errors
    /// See [`Engine`].
    fn row_counts(&self, a: &Matrix) -> Result<Vector>;
    /// The column of the minimum or maximum of each row, the first on ties: i64.
    /// # Errors
    /// See [`Engine`]; [`Error::Unsupported`] for values without an order.
    fn best_of_rows(&self, a: &Matrix, greatest: bool) -> Result<Vector>;
    /// The number of entries of each nonempty column; `None` to compose it from other operations.
    fn column_counts(&self, _a: &Matrix) -> Option<Result<Vector>> {
        None
    }
    /// The thread pool, if the engine has one.
    fn threads(&self) -> Option<&Threads> {
        None
    }
    /// Triangle counting, if the engine supports it.
    fn triangles(&self) -> Option<&dyn TriangleEngine> {
        None
    }
    /// Distances between rows, if the engine supports them.
    fn distances(&self) -> Option<&dyn DistanceEngine> {
        None
    }
    /// CP-ALS of tensors with 32-bit and with 64-bit indices, for engines of other crates that have it.
    fn cp(&self) -> Option<CpMachines<'_>> {
        None
    }
}

/// Triangle counting on an engine.
pub trait TriangleEngine {
    /// The number of triangles of the graph.
    /// # Errors
    /// Those of [`triangles`](crate::graph::triangles).
    fn count(&self, a: &Matrix, method: TriangleMethod) -> Result<Triangles>;
    /// The number of triangles at each vertex.
    /// # Errors
    /// Those of [`triangles_per_vertex`](crate::graph::triangles_per_vertex).
    fn per_vertex(&self, a: &Matrix) -> Result<Vec<u64>>;
    /// The number of triangles at each edge.
    /// # Errors
    /// Those of [`triangles_per_edge`](crate::graph::triangles_per_edge).
    fn per_edge(&self, a: &Matrix) -> Result<Matrix>;
}

/// Distances between rows on an engine; operands are of f32 or f64.
pub trait DistanceEngine {
    /// All distances, row-major, into `out`, which has their number of elements; returns the explanation.
    /// # Errors
    /// See [`DistanceBackend`](crate::backend::DistanceBackend).
    fn all(&self, comparison: &Comparison, out: &mut SliceMut<'_>) -> Result<String>;
    /// The `k` nearest rows.
    /// # Errors
    /// See [`DistanceBackend`](crate::backend::DistanceBackend).
    fn nearest(&self, comparison: &Comparison, k: usize) -> Result<Neighbours>;
    /// The rows within distance `radius`.
    /// # Errors
    /// See [`DistanceBackend`](crate::backend::DistanceBackend).
    fn within(&self, comparison: &Comparison, radius: f64) -> Result<Matrix>;
    /// An index of the rows of Y.
    /// # Errors
    /// See [`DistanceBackend`](crate::backend::DistanceBackend).
    fn index(&self, measure: Arc<dyn Measure>, y: &Matrix, options: DistanceOptions) -> Result<RowIndex>;
    /// The index saved to a file, with rows of this type.
    /// # Errors
    /// Those of [`Cpu::load_index`](crate::Cpu::load_index).
    fn load_index(&self, path: &Path, ty: Type) -> Result<RowIndex>;
    /// The `k` nearest rows of an index.
    /// # Errors
    /// See [`DistanceBackend`](crate::backend::DistanceBackend).
    fn nearest_of(&self, index: &RowIndex, x: &Matrix, k: usize) -> Result<Neighbours>;
    /// The rows of an index within distance `radius`.
    /// # Errors
    /// See [`DistanceBackend`](crate::backend::DistanceBackend).
    fn within_of(&self, index: &RowIndex, x: &Matrix, radius: f64) -> Result<Matrix>;
}

/// CP-ALS engines for tensors with 32-bit and with 64-bit indices.
pub type CpMachines<'a> = (&'a dyn CpMachine<f64, u32>, &'a dyn CpMachine<f64, u64>);

/// A matrix or a vector, borrowed.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a> {
    /// A matrix.
    Matrix(&'a Matrix),
    /// A vector.
    Vector(&'a Vector),
}

impl Operand<'_> {
    /// Type of the values.
    #[must_use]
    pub fn ty(&self) -> Type {
        match self {
            Self::Matrix(a) => a.ty(),
            Self::Vector(x) => x.ty(),
        }
    }
    /// Shape, number of entries and storage form, as text.
    pub(super) fn described(&self) -> String {
        match self {
            Self::Matrix(a) => a.described(),
            Self::Vector(x) => x.described(),
        }
    }
}
impl<'a> From<&'a Matrix> for Operand<'a> {
    fn from(a: &'a Matrix) -> Self {
        Self::Matrix(a)
    }
}
impl<'a> From<&'a Vector> for Operand<'a> {
    fn from(x: &'a Vector) -> Self {
        Self::Vector(x)
    }
}

/// The result of an operation.
#[derive(Clone, Debug)]
pub enum Object {
    /// A matrix.
    Matrix(Matrix),
    /// A vector.
    Vector(Vector),
    /// A scalar.
    Scalar(Scalar),
}

impl Object {
    /// As an operand.
    /// # Errors
    /// [`Error::Argument`] for a scalar.
    pub fn operand(&self) -> Result<Operand<'_>> {
        match self {
            Self::Matrix(a) => Ok(a.into()),
            Self::Vector(x) => Ok(x.into()),
            Self::Scalar(_) => Err(unfit()),
        }
    }
}

macro_rules! objects {
    ($($kind:ident)*) => {$(
        impl From<$kind> for Object {
            fn from(x: $kind) -> Self {
                Self::$kind(x)
            }
        }
        impl TryFrom<Object> for $kind {
            type Error = Error;
            fn try_from(object: Object) -> Result<Self> {
                match object {
                    Object::$kind(x) => Ok(x),
                    _ => Err(unfit()),
                }
            }
        }
    )*};
}
objects! { Matrix Vector Scalar }

/// A mask: the positions of its entries, or the complement.
#[derive(Clone, Copy, Debug)]
pub struct MaskSpec<'a> {
    /// It allows the positions of these entries, whatever their values.
    pub structure: Operand<'a>,
    /// It allows all other positions instead.
    pub complement: bool,
}

/// The statistic of [`Op::Aggregate`] for each row, or for each column with
/// [`transpose_a`](super::Operation::transpose_a).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    /// Number of entries: i64.
    Count,
    /// Mean of the values, as f64; not for complex numbers.
    Mean,
    /// Column of the minimum, the first on ties: i64. NaN is skipped.
    ArgMin,
    /// Column of the maximum, the first on ties: i64. NaN is skipped.
    ArgMax,
}

/// An operation, for [`Machine::call`](super::Machine::call).
#[derive(Clone, Copy, Debug)]
pub enum Op<'a> {
    /// A ⊕.⊗ B.
    Mxm(&'a Semiring, &'a Options),
    /// A ⊕.⊗ x.
    Mxv(&'a Semiring),
    /// xᵀ ⊕.⊗ A; operands in this order.
    Vxm(&'a Semiring),
    /// A ∘ B where both have an entry; where one has, that entry.
    EwiseAdd(&'a BinaryOp),
    /// A ∘ B where either has an entry, with these values in place of absent entries of A and of B.
    EwiseUnion(&'a BinaryOp, &'a Scalar, &'a Scalar),
    /// A ∘ B for the pairs of entries that the pairing defines; for vectors [`Pairing::EwiseMult`] alone.
    Pairs(Pairing, &'a BinaryOp),
    /// f(A, s, i, j).
    Apply(&'a UnaryOp),
    /// The entries for which f(A, s, i, j) holds.
    Select(&'a UnaryOp),
    /// ⊕ over all entries: a scalar.
    Reduce(&'a Monoid),
    /// ⊕ over each row: a vector.
    ReduceRows(&'a Monoid),
    /// Aᵀ.
    Transpose,
    /// A(I, J): C(p, q) = A(I(p), J(q)). For a vector u(I), with J [all](IndexList::all).
    Extract(&'a IndexList, &'a IndexList),
    /// A(I, j): a column of a matrix as a vector.
    ExtractColumn(&'a IndexList, usize),
    /// A(i, J): a row of a matrix as a vector.
    ExtractRow(usize, &'a IndexList),
    /// C(I, J) = A, or w(I) = u: the operand's entries replace the part, absent ones too. Only into an existing result,
    /// whose shape is that of the mask (`GrB_assign`).
    Assign(&'a IndexList, &'a IndexList),
    /// C(I, j) = u. The mask is a vector over C's rows; mask and replace apply to this column alone.
    AssignColumn(&'a IndexList, usize),
    /// C(i, J) = u. The mask is a vector over C's columns; mask and replace apply to this row alone.
    AssignRow(usize, &'a IndexList),
    /// C(I, J) = s, or w(I) = s: an entry at every such position that the mask allows. Its operand is `()`.
    AssignScalar(&'a Scalar, &'a IndexList, &'a IndexList),
    /// T(i) = u(p) ⊕ u(q) ⊕ … over the p, q, … with I(p) = I(q) = … = i, a vector of this length: an assignment with
    /// repeated indices. A GPU requires ⊕ to be a monoid.
    Scatter(&'a IndexList, usize, &'a BinaryOp),
    /// A statistic of each nonempty row, as a vector.
    Aggregate(Aggregate),
    /// The square matrix whose diagonal k is a vector: n + |k| rows for length n.
    Diag(i64),
    /// The diagonal k of a matrix, as a vector.
    Diagonal(i64),
    /// T(I, J) = A, of this shape: the new entries of an assignment.
    #[doc(hidden)]
    Place(&'a IndexList, &'a IndexList, (usize, usize)),
    /// The entries in (I, J): those an assignment replaces.
    #[doc(hidden)]
    Within(&'a IndexList, &'a IndexList),
    /// A itself, to apply a mask or an accumulator to it.
    Identity,
}

impl Op<'_> {
    /// Whether entries of the result have other positions than those of the operand.
    pub(super) fn moves(&self) -> bool {
        matches!(self, Op::Extract(..) | Op::Place(..) | Op::Scatter(..) | Op::Diag(_))
    }
    /// Whether it writes into a part of an existing result.
    pub(super) fn assigns(&self) -> bool {
        matches!(self, Op::Assign(..) | Op::AssignColumn(..) | Op::AssignRow(..) | Op::AssignScalar(..))
    }
    /// The name of a host function that its operator calls, if any.
    #[cfg(feature = "cuda")]
    pub(super) fn host_function(&self) -> Option<&str> {
        match self {
            Op::Mxm(ring, _) | Op::Mxv(ring) | Op::Vxm(ring) => ring.host_function(),
            Op::EwiseAdd(op) | Op::EwiseUnion(op, ..) | Op::Pairs(_, op) | Op::Scatter(_, _, op) => {
                op.formula().host_function()
            }
            Op::Apply(op) | Op::Select(op) => op.formula().host_function(),
            Op::Reduce(monoid) | Op::ReduceRows(monoid) => monoid.formula().op().host_function(),
            _ => None,
        }
    }
    /// Its name in messages.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Op::Mxm(..) => "mxm",
            Op::Mxv(_) => "mxv",
            Op::Vxm(_) => "vxm",
            Op::EwiseAdd(_) => "ewise_add",
            Op::EwiseUnion(..) => "ewise_union",
            Op::Pairs(pairing, _) => pairing.name(),
            Op::Apply(_) => "apply",
            Op::Select(_) => "select",
            Op::Reduce(_) => "reduce",
            Op::ReduceRows(_) => "reduce_rows",
            Op::Transpose => "transpose",
            Op::Extract(..) | Op::ExtractColumn(..) | Op::ExtractRow(..) | Op::Within(..) => "extract",
            Op::Assign(..) | Op::AssignColumn(..) | Op::AssignRow(..) | Op::AssignScalar(..) | Op::Place(..) => {
                "assign"
            }
            Op::Scatter(..) => "scatter",
            Op::Aggregate(_) => "aggregate",
            Op::Diag(_) => "diag",
            Op::Diagonal(_) => "diagonal",
            Op::Identity => "write",
        }
    }
}

/// An operation with its operands and its mask: T⟨M⟩ of C⟨M⟩ ⊙= T.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The operation.
    pub op: Op<'a>,
    /// Its left or only operand.
    pub a: Operand<'a>,
    /// Its right operand, of operations that have two.
    pub b: Option<Operand<'a>>,
    /// The positions where the result may have entries.
    pub mask: Option<MaskSpec<'a>>,
}

impl<'a> Call<'a> {
    /// An operation on one operand.
    #[must_use]
    pub fn unary(op: Op<'a>, a: impl Into<Operand<'a>>) -> Self {
        Self { op, a: a.into(), b: None, mask: None }
    }
    /// An operation on two operands.
    #[must_use]
    pub fn binary(op: Op<'a>, a: impl Into<Operand<'a>>, b: impl Into<Operand<'a>>) -> Self {
        Self { op, a: a.into(), b: Some(b.into()), mask: None }
    }
    /// The call with a mask.
    #[must_use]
    pub fn mask(self, structure: impl Into<Operand<'a>>, complement: bool) -> Self {
        Self { mask: Some(MaskSpec { structure: structure.into(), complement }), ..self }
    }
}

/// The error of operands of the wrong kind: a matrix for a vector, or one too few.
pub fn unfit() -> Error {
    Error::Argument { name: "operands", message: "the operation takes matrices and vectors in other positions".into() }
}
