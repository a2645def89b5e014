//! What operations are on: matrices and vectors.

use super::engine::{Call, Object, Op, Operand};
use super::operator::check;
use super::{BinaryOp, Machine, Matrix, Monoid, Scalar, UnaryOp, Vector};
use crate::algebra::Type;
use crate::{Error, Result};

/// A [`Matrix`] or a [`Vector`]: what operations entry by entry, folds, masks and accumulators are on.
///
/// Its methods are those of [`Machine`].
pub trait Collection: Clone + sealed::OnMachine {}
impl Collection for Matrix {}
impl Collection for Vector {}

pub(super) mod sealed {
    use super::{Object, Operand, Result, Type, Vector};

    /// What operations need of either.
    pub trait OnMachine: Sized {
        /// Type of the values.
        fn type_of(&self) -> Type;
        /// Rows and columns; places and 1 of a vector.
        fn shape_of(&self) -> (usize, usize);
        /// As an operand.
        fn operand_of(&self) -> Operand<'_>;
        /// The vector, if it is one.
        fn vector_of(&mut self) -> Option<&mut Vector>;
        /// What an operation made.
        fn made(object: Object) -> Result<Self>;
    }
}
use sealed::OnMachine;

macro_rules! on_machine {
    ($($kind:ident |$x:ident| $shape:expr, |$v:ident| $vector:expr;)*) => {$(
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
            fn vector_of(&mut self) -> Option<&mut Vector> {
                let $v = self;
                $vector
            }
            fn made(object: Object) -> Result<Self> {
                object.try_into()
            }
        }
    )*};
}
on_machine! {
    Matrix |a| a.shape(), |_a| None;
    Vector |x| (x.len(), 1), |x| Some(x);
}

impl Machine {
    fn call<X: Collection>(&self, op: Op<'_>, a: &X, b: Option<&X>) -> Result<X> {
        let call = Call { op, a: a.operand_of(), b: b.map(X::operand_of), mask: None };
        X::made(self.engine().run(&call)?)
    }
    /// a ∘ b where both have an entry, or with `union` where one has.
    pub(super) fn ewise<X: Collection>(&self, op: &BinaryOp, a: &X, b: &X, union: bool) -> Result<X> {
        check_ewise(op, a.type_of(), b.type_of(), union)?;
        self.call(if union { Op::EwiseAdd(op) } else { Op::EwiseMult(op) }, a, Some(b))
    }
    /// f of every entry.
    pub(super) fn apply_to<X: Collection>(&self, op: &UnaryOp, a: &X) -> Result<X> {
        check("a", op, op.takes(), a.type_of())?;
        self.call(Op::Apply(op), a, None)
    }
    /// The entries for which the operator holds.
    pub(super) fn select_of<X: Collection>(&self, op: &UnaryOp, a: &X) -> Result<X> {
        check("a", op, op.takes(), a.type_of())?;
        selects(op)?;
        self.call(Op::Select(op), a, None)
    }
    /// ⊕ over all entries.
    pub(super) fn reduce_of<X: Collection>(&self, monoid: &Monoid, a: &X) -> Result<Scalar> {
        check("a", monoid, monoid.ty(), a.type_of())?;
        self.engine().run(&Call { op: Op::Reduce(monoid), a: a.operand_of(), b: None, mask: None })?.try_into()
    }
    /// The entries where the mask has one, or where it has none.
    pub(super) fn restrict<X: Collection>(&self, a: &X, mask: &X, complement: bool) -> Result<X> {
        let call = Call { op: Op::Identity, a: a.operand_of(), b: None, mask: None };
        X::made(self.engine().run(&call.mask(mask.operand_of(), complement))?)
    }
}

fn selects(op: &UnaryOp) -> Result<()> {
    if op.ty() == Type::Bool {
        return Ok(());
    }
    Err(Error::Argument { name: "op", message: format!("what selects gives bool, but {op} gives {}", op.ty()) })
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
