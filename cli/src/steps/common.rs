//! Shared parts of single operations: options, operands, masks.

use clap::Args;
use sparring::algebra::Type;
use sparring::runtime::{Machine, Matrix, Object, Op, Operation};

use crate::device::DeviceArg;
use crate::write::Writing;

/// Mask and output options.
#[derive(Args)]
pub(crate) struct Common {
    /// Type of the values, to which operands are converted [default: the smallest common type of the files; patterns
    /// become bool for Boolean operators, else i64, each entry 1]
    #[arg(long = "type", value_name = "TYPE")]
    pub(super) values: Option<Type>,
    /// Mask: compute, or write, only where this matrix has a nonzero value
    #[arg(long, value_name = "FILE")]
    pub(super) mask: Option<String>,
    /// Structural mask: use its entries, whatever their values
    #[arg(long, requires = "mask")]
    pub(super) structure: bool,
    /// Complement the mask
    #[arg(long, requires = "mask")]
    pub(super) complement: bool,
    /// Write the result to this file: .mtx, .npz (SciPy), .npy, .csv, .svm, also with .gz or .zst, or - for standard
    /// output; a vector is a matrix of one column
    #[arg(short, long, value_name = "OUT")]
    pub(super) output: Option<String>,
    #[command(flatten)]
    pub(super) writing: Writing,
    #[command(flatten)]
    pub(super) place: DeviceArg,
}

/// A single operation with its arguments.
pub(super) trait Run {
    fn common(&self) -> &Common;
    /// Files of the operands, converted to a common type.
    fn operands(&self) -> Vec<&str>;
    /// A file of indices.
    fn places(&self) -> Option<&str> {
        None
    }
    /// Whether operand `k` is a vector or a dense array, which stays in host memory.
    fn is_vector(&self, _k: usize) -> bool {
        false
    }
    /// The name of the operator.
    fn operator(&self) -> &str;
    /// Whether the operation moves entries unchanged, whatever their type.
    fn moves(&self) -> bool {
        false
    }
    /// The result.
    fn compute(&self, on: &Loaded<'_>) -> sparring::Result<Object>;
}

/// The loaded operands of a single operation.
pub(super) struct Loaded<'a> {
    pub(super) machine: &'a Machine,
    pub(super) all: Vec<Matrix>,
    pub(super) places: Option<Matrix>,
    pub(super) mask: Option<Matrix>,
    pub(super) common: &'a Common,
    /// Type of the values.
    pub(super) ty: Type,
}

impl Loaded<'_> {
    /// The first operand.
    pub(super) fn a(&self) -> &Matrix {
        &self.all[0]
    }
    /// The second operand, by default the first.
    pub(super) fn b(&self) -> &Matrix {
        self.all.get(1).unwrap_or(self.a())
    }
    /// The operation under the mask, if there is one, for a vector or a matrix.
    pub(super) fn under<'o>(&self, call: Operation<'o>, of_vector: bool) -> sparring::Result<Operation<'o>> {
        let Some(mask) = &self.mask else { return Ok(call) };
        let call = if of_vector { call.mask(&mask.to_vector()?) } else { call.mask(mask) };
        let call = if self.common.structure { call.structure() } else { call };
        Ok(if self.common.complement { call.complement() } else { call })
    }
    pub(super) fn matrix(&self, call: Operation<'_>) -> sparring::Result<Object> {
        self.under(call, false)?.eval_object()
    }
    pub(super) fn vector(&self, call: Operation<'_>) -> sparring::Result<Object> {
        self.under(call, true)?.eval_object()
    }
    /// The entries allowed by the mask.
    pub(super) fn allowed(&self, made: Matrix) -> sparring::Result<Object> {
        if self.mask.is_none() { Ok(made.into()) } else { self.matrix(self.machine.call(Op::Identity, &made)) }
    }
}
