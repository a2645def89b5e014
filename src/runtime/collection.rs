//! What operations are on: matrices and vectors.

use super::engine::{Object, Op, Operand};
use super::operator::check;
use super::{BinaryOp, Machine, Matrix, UnaryOp, Vector};
use crate::algebra::Type;
use crate::{Error, Result};

/// A [`Matrix`] or a [`Vector`]: what operations entry by entry, folds, masks and accumulators are on.
///
/// Its methods are those of [`Machine`](super::Machine).
pub trait Collection: Clone + sealed::OnMachine {}
impl Collection for Matrix {}
impl Collection for Vector {}

pub(super) mod sealed {
    use super::{BinaryOp, Machine, Object, Operand, Result, Type};

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
        /// What an operation made.
        fn made(object: Object) -> Result<Self>;
    }
}
use sealed::OnMachine;

macro_rules! on_machine {
    ($($kind:ident |$x:ident| $shape:expr, $put:ident, $retain:ident;)*) => {$(
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
            fn made(object: Object) -> Result<Self> {
                object.try_into()
            }
        }
    )*};
}
on_machine! {
    Matrix |a| a.shape(), put_matrix, retain_matrix;
    Vector |x| (x.len(), 1), put, retain;
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
            (Op::Pairs(_, op), Some(b)) => check_ewise(op, a.ty(), b.ty(), false),
            (Op::Apply(f), None) => check("a", f, f.takes(), a.ty()),
            (Op::Select(f), None) => check("a", f, f.takes(), a.ty()).and_then(|()| selects(f)),
            (Op::Reduce(monoid) | Op::ReduceRows(monoid), None) => check("a", monoid, monoid.ty(), a.ty()),
            _ => Ok(()),
        }
    }
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
