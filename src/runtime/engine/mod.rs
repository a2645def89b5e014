//! What a machine brings: operations on matrices and vectors whose types are known at run time.
//!
//! For crates that bring a machine of their own, as `sparring-cluster` brings the processes of an MPI job: they
//! implement [`Engine`], hold their objects behind [`Remote`], and
//! [`Machine::from_engine`](super::Machine::from_engine) makes a machine of it. The traits may change in any version.

mod cpu;
#[cfg(feature = "cuda")]
mod cuda;
mod wire;

use std::any::Any;
use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

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
use crate::distance::{Measure, Options as DistanceOptions};
use crate::factor::CpMachine;
use crate::graph::{TriangleMethod, Triangles};
use crate::ops::{Direction, Pairing};
use crate::par::Threads;
use crate::sparse::IndexList;
use crate::spgemm::Options;
use crate::{Error, Result};

pub use super::index::EngineIndex;
pub use super::plan::RemotePlan;
pub use super::remote::Remote;
pub use crate::graph::triangles::{PanelRows, masked_pairs};
pub use wire::{bytes_of, raw_entries, values_of};

/// A machine: one entry point for every operation, and the memory that holds its operands.
///
/// No method assumes shared memory: operands that lie elsewhere are sent for the call, and results stay where they are
/// computed. Callers of [`run`](Self::run) check that the operator takes the types of its operands; engines check
/// shapes.
///
/// # Errors
/// Those of the operations and of the device.
pub trait Engine: Any + Debug + Send + Sync {
    /// `cpu`, or `cuda:0` and so on.
    fn name(&self) -> String;
    /// What it is, in words that begin with its name.
    fn describe(&self) -> String;
    /// Waits for all operations before.
    /// # Errors
    /// Those of operations before.
    fn wait(&self) -> Result<()>;
    /// Refuses an operator that calls a function of the host, the one of this name, where it cannot.
    /// # Errors
    /// [`Error::Unsupported`].
    fn check_host_function(&self, _name: Option<&str>) -> Result<()> {
        Ok(())
    }
    /// Whether the operand is in its memory.
    fn holds(&self, x: Operand<'_>) -> bool;
    /// Whether this engine made the plan.
    fn made(&self, plan: &Plan) -> bool;
    /// The operand in its memory; itself if it is there.
    /// # Errors
    /// See [`Engine`].
    fn upload(&self, x: Operand<'_>) -> Result<Object>;
    /// The result of an operation.
    /// # Errors
    /// See [`Engine`].
    fn run(&self, call: &Call<'_>) -> Result<Object>;
    /// The structure of C = A·B, where the mask allows.
    /// # Errors
    /// See [`Engine`].
    fn symbolic(&self, a: &Matrix, b: &Matrix, mask: Option<MaskSpec<'_>>, options: &Options) -> Result<Plan>;
    /// The values of C for a plan.
    /// # Errors
    /// See [`Engine`].
    fn numeric(&self, plan: &Plan, ring: &Semiring, a: &Matrix, b: &Matrix) -> Result<Matrix>;
    /// C for one use.
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
    /// The values for a plan, over those of `c`, which is of the semiring's type; in place unless they are shared.
    /// # Errors
    /// See [`Engine`].
    fn numeric_into(&self, plan: &Plan, ring: &Semiring, a: &Matrix, b: &Matrix, c: &mut Matrix) -> Result<()>;
    /// The values of A ⊕.⊗ X, row-major, X having `columns` columns and as many rows as A has columns.
    /// # Errors
    /// See [`Engine`].
    fn spmm(&self, ring: &Semiring, a: &Matrix, x: Slice<'_>, columns: usize) -> Result<Array>;
    /// [`spmm`](Self::spmm) over `y`, which has as many values of the type of the result.
    /// # Errors
    /// See [`Engine`]. After [`Error::Cancelled`] some values may be new.
    fn spmm_into(&self, ring: &Semiring, a: &Matrix, x: (Slice<'_>, usize), y: &mut SliceMut<'_>) -> Result<()> {
        y.copy_from(&self.spmm(ring, a, x.0, x.1)?.slice());
        Ok(())
    }
    /// Whether a product y = A ⊕.⊗ x is less work by the rows of A that the mask allows than by those of Aᵀ that x names.
    /// # Errors
    /// See [`Engine`].
    fn is_by_rows(&self, _ring: &Semiring, at: &Matrix, x: &Vector, _mask: Option<MaskSpec<'_>>) -> Result<bool> {
        let ((len, rows), nnz, entries) = (at.shape(), at.nnz(), x.nvals()?);
        Ok(Direction::estimated((rows, nnz), (len, entries)).is_by_rows())
    }
    /// The sum of all values as a number to print.
    /// # Errors
    /// See [`Engine`].
    fn sum(&self, a: &Matrix) -> Result<Sum>;

    /// Keeps the entries of x that the mask allows, in place; `None` if it does not write in place.
    fn retain(&self, _x: &mut Vector, _mask: &Vector, _complement: bool) -> Option<Result<()>> {
        None
    }
    /// The entries of t, and elsewhere those of x, in place; where both have one it is x ⊙ t if there is ⊙. `None` if
    /// it does not write in place.
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
    /// C(I, J) = A where the mask allows, without an accumulator and not replacing what is outside of the mask; `None`
    /// if it is to be made of other operations.
    fn assign(
        &self,
        _c: &mut Matrix,
        _a: &Matrix,
        _part: (&IndexList, &IndexList),
        _mask: Option<(&Matrix, bool)>,
    ) -> Option<Result<()>> {
        None
    }
    /// C⟨M⟩ = s, s of C's type, for a mask that is no complement; `None` if it is to be made of other operations.
    fn fill(&self, _c: &mut Matrix, _s: &Scalar, _mask: &Matrix) -> Option<Result<()>> {
        None
    }
    /// The m×n matrix with s at each place of its part (I, J), whose lists may repeat indices; `None` if it is to be made
    /// on the host.
    fn constant(&self, _s: &Scalar, _part: (&IndexList, &IndexList), _shape: (usize, usize)) -> Option<Result<Matrix>> {
        None
    }
    /// A vector as a matrix of one row, or of one column; `None` as for [`constant`](Self::constant).
    fn line_matrix(&self, _x: &Vector, _is_row: bool) -> Option<Result<Matrix>> {
        None
    }
    /// The block matrix of blocks of one type, with this shape and number of entries; `None` as for
    /// [`constant`](Self::constant).
    fn concat(&self, _blocks: &[&[&Matrix]], _shape: (usize, usize, usize)) -> Option<Result<Matrix>> {
        None
    }
    /// How many entries each row has that has some: i64.
    /// # Errors
    /// See [`Engine`].
    fn row_counts(&self, a: &Matrix) -> Result<Vector>;
    /// The column of the least entry of each row, or of the greatest one, the first of equal ones: i64.
    /// # Errors
    /// See [`Engine`]; [`Error::Unsupported`] for values without an order.
    fn best_of_rows(&self, a: &Matrix, greatest: bool) -> Result<Vector>;
    /// How many entries each column has that has some; `None` if it is to be made of other operations.
    fn column_counts(&self, _a: &Matrix) -> Option<Result<Vector>> {
        None
    }
    /// The pool of threads, of engines that have one.
    fn threads(&self) -> Option<&Threads> {
        None
    }
    /// The capability to count triangles.
    fn triangles(&self) -> Option<&dyn TriangleEngine> {
        None
    }
    /// The capability to compare rows.
    fn distances(&self) -> Option<&dyn DistanceEngine> {
        None
    }
    /// CP-ALS of tensors whose indices are of 32 bits and of 64, if an engine of another crate has it.
    fn cp(&self) -> Option<CpMachines<'_>> {
        None
    }
}

/// An engine that counts triangles of graphs.
pub trait TriangleEngine {
    /// Triangles of the graph.
    /// # Errors
    /// Those of [`triangles`](crate::graph::triangles).
    fn count(&self, a: &Matrix, method: TriangleMethod) -> Result<Triangles>;
    /// Triangles at each vertex.
    /// # Errors
    /// Those of [`triangles_per_vertex`](crate::graph::triangles_per_vertex).
    fn per_vertex(&self, a: &Matrix) -> Result<Vec<u64>>;
    /// Triangles at each edge.
    /// # Errors
    /// Those of [`triangles_per_edge`](crate::graph::triangles_per_edge).
    fn per_edge(&self, a: &Matrix) -> Result<Matrix>;
}

/// An engine that compares rows; operands are of f32 or f64.
pub trait DistanceEngine {
    /// All distances, row after row into `out`, which has room for them; what ran, and why.
    /// # Errors
    /// See [`DistanceBackend`](crate::backend::DistanceBackend).
    fn all(&self, question: &Comparison, out: &mut SliceMut<'_>) -> Result<String>;
    /// The `k` nearest rows.
    /// # Errors
    /// See [`DistanceBackend`](crate::backend::DistanceBackend).
    fn nearest(&self, question: &Comparison, k: usize) -> Result<Neighbours>;
    /// The rows at most `radius` away.
    /// # Errors
    /// See [`DistanceBackend`](crate::backend::DistanceBackend).
    fn within(&self, question: &Comparison, radius: f64) -> Result<Matrix>;
    /// Rows of Y, prepared and indexed.
    /// # Errors
    /// See [`DistanceBackend`](crate::backend::DistanceBackend).
    fn index(&self, measure: Arc<dyn Measure>, y: &Matrix, options: DistanceOptions) -> Result<RowIndex>;
    /// The index of a file, whose rows are of this type.
    /// # Errors
    /// Those of [`Cpu::load_index`](crate::Cpu::load_index).
    fn load_index(&self, path: &Path, ty: Type) -> Result<RowIndex>;
    /// The `k` nearest rows of an index.
    /// # Errors
    /// See [`DistanceBackend`](crate::backend::DistanceBackend).
    fn nearest_of(&self, index: &RowIndex, x: &Matrix, k: usize) -> Result<Neighbours>;
    /// The rows of an index at most `radius` away.
    /// # Errors
    /// See [`DistanceBackend`](crate::backend::DistanceBackend).
    fn within_of(&self, index: &RowIndex, x: &Matrix, radius: f64) -> Result<Matrix>;
}

/// What CP-ALS runs on: tensors whose indices are of 32 bits, and those whose indices are of 64.
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
    /// Shape, entries and form in words.
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

/// What an operation gives.
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

/// The places of a mask, or all others.
#[derive(Clone, Copy, Debug)]
pub struct MaskSpec<'a> {
    /// It allows where this has an entry, whatever its value.
    pub structure: Operand<'a>,
    /// It allows everywhere else.
    pub complement: bool,
}

/// What [`Op::Aggregate`] tells of the entries of a row; of columns with
/// [`transpose_a`](super::Operation::transpose_a).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    /// How many there are: i64.
    Count,
    /// Their sum over their number, as f64; of numbers that are not complex.
    Mean,
    /// The column of the least one, the first of equal ones: i64. NaN is no least one.
    ArgMin,
    /// The column of the greatest one, the first of equal ones: i64. NaN is no greatest one.
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
    /// A ∘ B where either has an entry, these values standing for an absent one of A and of B.
    EwiseUnion(&'a BinaryOp, &'a Scalar, &'a Scalar),
    /// A ∘ B for the pairs of entries that the pairing names; of vectors for [`Pairing::EwiseMult`] alone.
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
    /// A(I, J): C(p, q) = A(I(p), J(q)). Of a vector u(I), J being [all](IndexList::all).
    Extract(&'a IndexList, &'a IndexList),
    /// A(I, j): a column of a matrix as a vector.
    ExtractColumn(&'a IndexList, usize),
    /// A(i, J): a row of a matrix as a vector.
    ExtractRow(usize, &'a IndexList),
    /// C(I, J) = A, and w(I) = u: the operand's entries, absent ones too, replace what stands there. Only into a result
    /// that exists, whose shape the mask has (`GrB_assign`).
    Assign(&'a IndexList, &'a IndexList),
    /// C(I, j) = u. The mask is a vector of C's rows; it and replace concern this column alone.
    AssignColumn(&'a IndexList, usize),
    /// C(i, J) = u, likewise.
    AssignRow(usize, &'a IndexList),
    /// C(I, J) = s, and w(I) = s: an entry at every such place that the mask allows. Its operand is `()`.
    AssignScalar(&'a Scalar, &'a IndexList, &'a IndexList),
    /// T(i) = u(p) ⊕ u(q) ⊕ … over the p, q, … with I(p) = I(q) = … = i, a vector of so many places: an assign whose
    /// indices may repeat. A GPU wants ⊕ to be a monoid.
    Scatter(&'a IndexList, usize, &'a BinaryOp),
    /// A number for each row that has entries, as a vector.
    Aggregate(Aggregate),
    /// The square matrix whose diagonal k is a vector, n + |k| rows for n places.
    Diag(i64),
    /// The diagonal k of a matrix, as a vector.
    Diagonal(i64),
    /// T(I, J) = A, of this shape: what an assign writes.
    #[doc(hidden)]
    Place(&'a IndexList, &'a IndexList, (usize, usize)),
    /// The entries in (I, J): what an assign replaces.
    #[doc(hidden)]
    Within(&'a IndexList, &'a IndexList),
    /// A itself: what a mask or an accumulator is for.
    Identity,
}

impl Op<'_> {
    /// Whether entries of the result stand at other places than those of the operand.
    pub(super) fn moves(&self) -> bool {
        matches!(self, Op::Extract(..) | Op::Place(..) | Op::Scatter(..) | Op::Diag(_))
    }
    /// Whether it writes into a part of a result that exists.
    pub(super) fn assigns(&self) -> bool {
        matches!(self, Op::Assign(..) | Op::AssignColumn(..) | Op::AssignRow(..) | Op::AssignScalar(..))
    }
    /// The name of a function that runs on the processor alone, if its operator calls one.
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
    /// Where the result may have entries.
    pub mask: Option<MaskSpec<'a>>,
}

impl<'a> Call<'a> {
    /// An operation on one operand.
    #[must_use]
    pub fn unary(op: Op<'a>, a: impl Into<Operand<'a>>) -> Self {
        Self { op, a: a.into(), b: None, mask: None }
    }
    /// An operation on two.
    #[must_use]
    pub fn binary(op: Op<'a>, a: impl Into<Operand<'a>>, b: impl Into<Operand<'a>>) -> Self {
        Self { op, a: a.into(), b: Some(b.into()), mask: None }
    }
    /// The same under a mask.
    #[must_use]
    pub fn mask(self, structure: impl Into<Operand<'a>>, complement: bool) -> Self {
        Self { mask: Some(MaskSpec { structure: structure.into(), complement }), ..self }
    }
}

/// The error of operands that an operation does not have: a matrix where it takes a vector, or one too few.
pub fn unfit() -> Error {
    Error::Argument { name: "operands", message: "the operation takes matrices and vectors in other places".into() }
}
