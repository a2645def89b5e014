//! What steps have in common: options, operands, masks.

use clap::Args;
use sparring::algebra::Type;
use sparring::runtime::{Machine, Matrix, Object, Op, Operation};

use crate::device::Where;
use crate::write::Writing;

/// Where entries of the result may be, and where it goes.
#[derive(Args)]
pub(crate) struct Common {
    /// Type of the values, to which operands are converted [default: the least that holds those of the files; patterns
    /// are truth values for operators of logic, else i64, each entry 1]
    #[arg(long = "type", value_name = "TYPE")]
    pub(super) values: Option<Type>,
    /// Keep, or write, what this matrix allows: where it has a value that is not 0
    #[arg(long, value_name = "FILE")]
    pub(super) mask: Option<String>,
    /// The mask allows where it has an entry, whatever its value
    #[arg(long, requires = "mask")]
    pub(super) structure: bool,
    /// The mask allows all other places
    #[arg(long, requires = "mask")]
    pub(super) complement: bool,
    /// Write the result to this file: .mtx, .npz (SciPy), .npy, .csv, .svm, .gz or .zst behind them, or - for standard
    /// output; a vector is a matrix of one column
    #[arg(short, long, value_name = "OUT")]
    pub(super) output: Option<String>,
    #[command(flatten)]
    pub(super) writing: Writing,
    #[command(flatten)]
    pub(super) place: Where,
}

/// A step with its arguments.
pub(super) trait Run {
    fn common(&self) -> &Common;
    /// Files of matrices that are taken as values of one type.
    fn operands(&self) -> Vec<&str>;
    /// A file of places.
    fn places(&self) -> Option<&str> {
        None
    }
    /// Whether operand number `k` is a vector or an array, which is read where it is.
    fn is_vector(&self, _k: usize) -> bool {
        false
    }
    /// The name of its operator.
    fn operator(&self) -> &str;
    /// Whether it moves entries as they are, whatever their type.
    fn moves(&self) -> bool {
        false
    }
    /// The result.
    fn compute(&self, on: &Loaded<'_>) -> sparring::Result<Object>;
}

/// What a step works on.
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
    /// The second one; the first where there is no other.
    pub(super) fn b(&self) -> &Matrix {
        self.all.get(1).unwrap_or(self.a())
    }
    /// The operation under the mask, if there is one, that of a vector or of a matrix.
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
    /// The entries that the mask allows.
    pub(super) fn allowed(&self, made: Matrix) -> sparring::Result<Object> {
        if self.mask.is_none() { Ok(made.into()) } else { self.matrix(self.machine.call(Op::Identity, &made)) }
    }
}
