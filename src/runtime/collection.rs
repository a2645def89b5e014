//! The operands of operations: matrices and vectors.

use super::engine::{Object, Op, Operand};
use super::operator::check;
use super::{BinaryOp, Machine, Matrix, Scalar, UnaryOp, Vector};
use crate::algebra::Type;
use crate::{Error, Result};

/// A [`Matrix`] or a [`Vector`]: the operands of elementwise operations, folds, masks and accumulators.
///
/// Its methods are those of [`Machine`](super::Machine).
pub trait Collection: Clone + sealed::OnMachine {}
impl Collection for Matrix {}
impl Collection for Vector {}

pub(super) mod sealed {
    use super::{BinaryOp, Machine, Matrix, Object, Operand, Result, Type};

    /// The common interface of matrices and vectors.
    pub trait OnMachine: Sized {
        /// Type of the values.
        fn type_of(&self) -> Type;
        /// Rows and columns; length and 1 for a vector.
        fn shape_of(&self) -> (usize, usize);
        /// As an operand.
        fn operand_of(&self) -> Operand<'_>;
        /// Combines t into it in place; `None` if the machine does not write in place.
        fn put_by(&mut self, machine: &Machine, t: &Self, op: Option<&BinaryOp>) -> Option<Result<()>>;
        /// Retains the entries that the mask allows in place; `None` if the machine does not write in place.
        fn retain_by(&mut self, machine: &Machine, mask: &Self, complement: bool) -> Option<Result<()>>;
        /// Number of entries.
        fn count_of(&self) -> Result<usize>;
        /// The matrix, unless it is a vector.
        fn matrix_mut(&mut self) -> Option<&mut Matrix>;
        /// The result of an operation.
        fn from_object(object: Object) -> Result<Self>;
    }
}
use sealed::OnMachine;

macro_rules! on_machine {
    ($($kind:ident |$x:ident| $shape:expr, $count:expr, $matrix:expr, $put:ident, $retain:ident;)*) => {$(
        impl OnMachine for $kind {
            fn type_of(&self) -> Type {
                self.ty()
            }
            fn shape_of(&self) -> (usize, usize) {
                let $x = self;
                $shape
            }
            fn operand_of(&self) -> Operand<'_> {
                self.into()
            }
            fn put_by(&mut self, machine: &Machine, t: &Self, op: Option<&BinaryOp>) -> Option<Result<()>> {
                machine.engine().$put(self, t, op)
            }
            fn retain_by(&mut self, machine: &Machine, mask: &Self, complement: bool) -> Option<Result<()>> {
                machine.engine().$retain(self, mask, complement)
            }
            fn count_of(&self) -> Result<usize> {
                let $x = self;
                $count
            }
            fn matrix_mut(&mut self) -> Option<&mut Matrix> {
                let $x = self;
                $matrix
            }
            fn from_object(object: Object) -> Result<Self> {
                object.try_into()
            }
        }
    )*};
}
on_machine! {
    Matrix |a| a.shape(), Ok(a.nnz()), Some(a), put_matrix, retain_matrix;
    Vector |x| (x.len(), 1), x.nvals(), { _ = x; None }, put, retain;
}

fn selects(op: &UnaryOp) -> Result<()> {
    if op.ty() == Type::Bool {
        return Ok(());
    }
    Err(Error::Argument { name: "op", message: format!("a selection operator gives bool, but {op} gives {}", op.ty()) })
}

impl Op<'_> {
    /// Rejects operands of types that the operator does not take; kernels check the types of products.
    pub(super) fn check(&self, a: Operand<'_>, b: Option<Operand<'_>>) -> Result<()> {
        match (*self, b) {
            (Op::EwiseAdd(op), Some(b)) => check_ewise(op, a.ty(), b.ty(), true),
            (Op::EwiseUnion(op, for_a, for_b), Some(b)) => {
                check_ewise(op, a.ty(), b.ty(), false)?;
                check_scalar("alpha", op, op.takes().0, for_a)?;
                check_scalar("beta", op, op.takes().1, for_b)
            }
            (Op::Pairs(_, op), Some(b)) => check_ewise(op, a.ty(), b.ty(), false),
            (Op::Apply(f), None) => check("a", f, f.takes(), a.ty()),
            (Op::Select(f), None) => check("a", f, f.takes(), a.ty()).and_then(|()| selects(f)),
            (Op::Scatter(_, _, op), None) => check_ewise(op, a.ty(), a.ty(), true),
            (Op::Reduce(monoid) | Op::ReduceRows(monoid), None) => check("a", monoid, monoid.ty(), a.ty()),
            _ => Ok(()),
        }
    }
}

/// Rejects a scalar of another type than the operator takes.
fn check_scalar(name: &'static str, op: &BinaryOp, takes: Type, s: &Scalar) -> Result<()> {
    if takes == s.ty() {
        return Ok(());
    }
    Err(Error::Argument { name, message: format!("it is {}, but {op} takes {takes}", s.ty()) })
}

/// Rejects operands of types that the operator does not take; with `union` the operator must be on one type.
fn check_ewise(op: &BinaryOp, a: Type, b: Type, union: bool) -> Result<()> {
    let (of_a, of_b) = op.takes();
    check("a", op, of_a, a)?;
    check("b", op, of_b, b)?;
    if union && (of_a != op.ty() || of_b != op.ty()) {
        let message =
            format!("an entry of one operand alone is copied, but {op} takes {of_a} and {of_b} and gives {}", op.ty());
        return Err(Error::Argument { name: "op", message });
    }
    Ok(())
}
