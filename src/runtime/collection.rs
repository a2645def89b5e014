//! What operations are on: matrices and vectors.

use std::sync::Arc;

use super::operator::check;
use super::{BinaryOp, Machine, Matrix, Monoid, Scalar, UnaryOp, Vector};
use crate::algebra::Type;
use crate::kernels::Operand;
use crate::ops::by_formula::{self, Move};
use crate::{Error, Result};

/// A [`Matrix`] or a [`Vector`]: what operations entry by entry, folds, masks and accumulators are on.
///
/// Its methods are those of [`Machine`].
pub trait Collection: Clone + sealed::OnMachine {}
impl Collection for Matrix {}
impl Collection for Vector {}

pub(super) mod sealed {
    use super::{BinaryOp, Machine, Monoid, Result, Scalar, Type, UnaryOp};

    /// The operations, their operands' types looked at.
    pub trait OnMachine: Sized {
        /// Type of the values.
        fn type_of(&self) -> Type;
        /// Rows and columns; places and 1 of a vector.
        fn shape_of(&self) -> (usize, usize);
        /// a ∘ b where both have an entry, or with `union` where one has.
        fn ewise(m: &Machine, op: &BinaryOp, a: &Self, b: &Self, union: bool) -> Result<Self>;
        /// f of every entry.
        fn apply(m: &Machine, op: &UnaryOp, a: &Self) -> Result<Self>;
        /// The entries for which the operator holds.
        fn select(m: &Machine, op: &UnaryOp, a: &Self) -> Result<Self>;
        /// ⊕ over all entries.
        fn reduce(m: &Machine, monoid: &Monoid, a: &Self) -> Result<Scalar>;
        /// The entries where the mask has one, or where it has none.
        fn restrict(m: &Machine, a: &Self, mask: &Self, complement: bool) -> Result<Self>;
    }
}
use sealed::OnMachine;

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

impl OnMachine for Matrix {
    fn type_of(&self) -> Type {
        self.ty()
    }
    fn shape_of(&self) -> (usize, usize) {
        self.shape()
    }
    fn ewise(m: &Machine, op: &BinaryOp, a: &Self, b: &Self, union: bool) -> Result<Self> {
        check_ewise(op, a.ty(), b.ty(), union)?;
        match m {
            Machine::Cpu(cpu) => {
                let (a, b) = (a.sorted(cpu.threads())?, b.sorted(cpu.threads())?);
                let operands = (a.operand()?, b.operand()?);
                let (pattern, values) = by_formula::ewise(cpu.threads(), op.compiled(), operands, union)?;
                Matrix::new(pattern, values)
            }
            #[cfg(feature = "cuda")]
            Machine::Cuda(cuda) => {
                let (a, b, op) = (m.there(a)?, m.there(b)?, op.printed());
                let made = if union { cuda.ewise_add_raw(op, None, &a, &b) } else { cuda.ewise_mult_raw(op, &a, &b) };
                Ok(Matrix::on_device(cuda, made?))
            }
        }
    }
    fn apply(m: &Machine, op: &UnaryOp, a: &Self) -> Result<Self> {
        check("a", op, op.takes(), a.ty())?;
        match m {
            Machine::Cpu(cpu) => {
                let a = a.operand()?;
                let values = by_formula::apply(cpu.threads(), op.compiled(), a, op.scalar()?)?;
                Matrix::new(Arc::clone(a.pattern), values)
            }
            #[cfg(feature = "cuda")]
            Machine::Cuda(cuda) => {
                let (a, s) = (m.there(a)?, op.scalar()?);
                let made = match op.printed() {
                    (op, false) => cuda.apply_raw(op, &a),
                    (op, true) => cuda.apply_at_raw(op, &a, s.slice()),
                };
                Ok(Matrix::on_device(cuda, made?))
            }
        }
    }
    fn select(m: &Machine, op: &UnaryOp, a: &Self) -> Result<Self> {
        check("a", op, op.takes(), a.ty())?;
        selects(op)?;
        match m {
            Machine::Cpu(cpu) => {
                let a = a.sorted(cpu.threads())?;
                let flags = by_formula::apply(cpu.threads(), op.compiled(), a.operand()?, op.scalar()?)?;
                a.moved(cpu.threads(), Move::Keep(flags.slice().get().unwrap_or_default()))
            }
            #[cfg(feature = "cuda")]
            Machine::Cuda(cuda) => {
                Ok(Matrix::on_device(cuda, cuda.select_raw(op.printed_at(), &*m.there(a)?, op.scalar()?.slice())?))
            }
        }
    }
    fn reduce(m: &Machine, monoid: &Monoid, a: &Self) -> Result<Scalar> {
        check("a", monoid, monoid.ty(), a.ty())?;
        match m {
            Machine::Cpu(cpu) => {
                let Operand { values, .. } = a.operand()?;
                Scalar::only(by_formula::reduce(cpu.threads(), monoid.compiled(), values)?.slice())
            }
            #[cfg(feature = "cuda")]
            Machine::Cuda(cuda) => {
                let sum = cuda.fold_raw(monoid.printed(), &m.there(a)?.values)?;
                Scalar::only(cuda.get_raw(&sum, "a fold")?.slice())
            }
        }
    }
    fn restrict(m: &Machine, a: &Self, mask: &Self, complement: bool) -> Result<Self> {
        match m {
            Machine::Cpu(cpu) => {
                let (a, mask) = (a.sorted(cpu.threads())?, mask.sorted(cpu.threads())?);
                let pattern = mask.operand()?.pattern;
                a.moved(cpu.threads(), Move::Restrict(pattern, complement))
            }
            #[cfg(feature = "cuda")]
            Machine::Cuda(cuda) => {
                let (a, mask) = (m.there(a)?, m.there(mask)?);
                Ok(Matrix::on_device(cuda, cuda.restrict_raw(&a, &mask.pattern, complement)?))
            }
        }
    }
}

impl OnMachine for Vector {
    fn type_of(&self) -> Type {
        self.ty()
    }
    fn shape_of(&self) -> (usize, usize) {
        (self.len(), 1)
    }
    fn ewise(m: &Machine, op: &BinaryOp, a: &Self, b: &Self, union: bool) -> Result<Self> {
        check_ewise(op, a.ty(), b.ty(), union)?;
        match m {
            Machine::Cpu(cpu) => {
                let operands = (a.view()?, b.view()?);
                Vector::of(by_formula::ewise_vectors(cpu.threads(), op.compiled(), operands, union)?)
            }
            #[cfg(feature = "cuda")]
            Machine::Cuda(cuda) => {
                let (a, b, op) = (m.vector_there(a)?, m.vector_there(b)?, op.printed());
                let made = if union {
                    cuda.vector_ewise_add_raw(op, None, &a, &b)
                } else {
                    cuda.vector_ewise_mult_raw(op, &a, &b)
                };
                Ok(Vector::on_device(cuda, made?))
            }
        }
    }
    fn apply(m: &Machine, op: &UnaryOp, a: &Self) -> Result<Self> {
        check("a", op, op.takes(), a.ty())?;
        match m {
            Machine::Cpu(cpu) => {
                Vector::of(by_formula::apply_vector(cpu.threads(), op.compiled(), a.view()?, op.scalar()?)?)
            }
            #[cfg(feature = "cuda")]
            Machine::Cuda(cuda) => {
                let (a, s) = (m.vector_there(a)?, op.scalar()?);
                let made = match op.printed() {
                    (op, false) => cuda.vector_apply_raw(op, &a),
                    (op, true) => cuda.vector_apply_at_raw(op, &a, s.slice()),
                };
                Ok(Vector::on_device(cuda, made?))
            }
        }
    }
    fn select(m: &Machine, op: &UnaryOp, a: &Self) -> Result<Self> {
        check("a", op, op.takes(), a.ty())?;
        selects(op)?;
        match m {
            Machine::Cpu(cpu) => {
                a.kept(&by_formula::marks_where(cpu.threads(), op.compiled(), a.view()?, op.scalar()?)?)
            }
            #[cfg(feature = "cuda")]
            Machine::Cuda(cuda) => {
                let a = m.vector_there(a)?;
                Ok(Vector::on_device(cuda, cuda.vector_select_raw(op.printed_at(), &a, op.scalar()?.slice())?))
            }
        }
    }
    fn reduce(m: &Machine, monoid: &Monoid, a: &Self) -> Result<Scalar> {
        check("a", monoid, monoid.ty(), a.ty())?;
        match m {
            Machine::Cpu(cpu) => {
                Scalar::only(by_formula::reduce_vector(cpu.threads(), monoid.compiled(), a.view()?)?.slice())
            }
            #[cfg(feature = "cuda")]
            Machine::Cuda(cuda) => {
                let sum = cuda.vector_reduce_raw(monoid.printed(), &*m.vector_there(a)?)?;
                Scalar::only(cuda.get_raw(&sum, "a fold")?.slice())
            }
        }
    }
    fn restrict(m: &Machine, a: &Self, mask: &Self, complement: bool) -> Result<Self> {
        match m {
            Machine::Cpu(_) => {
                let marks = mask.view()?.marks()?;
                if marks.len() != a.len() {
                    return Err(Error::Shape { op: "mask", lhs: (a.len(), 1), rhs: (marks.len(), 1) });
                }
                if complement { a.kept(&!marks) } else { a.kept(&marks) }
            }
            #[cfg(feature = "cuda")]
            Machine::Cuda(cuda) => {
                let (a, mask) = (m.vector_there(a)?, m.vector_there(mask)?);
                Ok(Vector::on_device(cuda, cuda.vector_restrict_raw(&a, &mask, complement)?))
            }
        }
    }
}
