//! What operations are on: matrices and vectors.

use super::engine::{Object, Op, Operand};
use super::operator::check;
use super::{BinaryOp, Machine, Matrix, Scalar, UnaryOp, Vector};
use crate::algebra::Type;
use crate::{Error, Result};

/// A [`Matrix`] or a [`Vector`]: what operations entry by entry, folds, masks and accumulators are on.
///
/// Its methods are those of [`Machine`](super::Machine).
pub trait Collection: Clone + sealed::OnMachine {}
impl Collection for Matrix {}
impl Collection for Vector {}

pub(super) mod sealed {
    use super::{BinaryOp, Machine, Matrix, Object, Operand, Result, Type};

    /// What operations need of either.
    pub trait OnMachine: Sized {
        /// Type of the values.
        fn type_of(&self) -> Type;
        /// Rows and columns; places and 1 of a vector.
        fn shape_of(&self) -> (usize, usize);
        /// As an operand.
        fn operand_of(&self) -> Operand<'_>;
        /// Joins t to it in place, if the machine writes so.
        fn put_by(&mut self, machine: &Machine, t: &Self, op: Option<&BinaryOp>) -> Option<Result<()>>;
        /// Keeps what the mask allows in place, if the machine writes so.
        fn retain_by(&mut self, machine: &Machine, mask: &Self, complement: bool) -> Option<Result<()>>;
        /// Entries.
        fn count_of(&self) -> Result<usize>;
        /// Itself, if it is a matrix.
        fn matrix_mut(&mut self) -> Option<&mut Matrix>;
        /// What an operation made.
        fn made(object: Object) -> Result<Self>;
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
            fn made(object: Object) -> Result<Self> {
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
    Err(Error::Argument { name: "op", message: format!("what selects gives bool, but {op} gives {}", op.ty()) })
}

impl Op<'_> {
    /// Refuses operands of other types than those of the operator; products are checked by their kernels.
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

/// Refuses a scalar of another type than what takes it.
fn check_scalar(name: &'static str, op: &BinaryOp, takes: Type, s: &Scalar) -> Result<()> {
    if takes == s.ty() {
        return Ok(());
    }
    Err(Error::Argument { name, message: format!("it is {}, but {op} takes {takes}", s.ty()) })
}

/// Refuses operands of other types than those of the operator, which with `union` has one type alone.
fn check_ewise(op: &BinaryOp, a: Type, b: Type, union: bool) -> Result<()> {
    let (of_a, of_b) = op.takes();
    check("a", op, of_a, a)?;
    check("b", op, of_b, b)?;
    if union && (of_a != op.ty() || of_b != op.ty()) {
        let message = format!(
            "an entry of one operand alone stands as it is, but {op} takes {of_a} and {of_b} and gives {}",
            op.ty()
        );
        return Err(Error::Argument { name: "op", message });
    }
    Ok(())
}
