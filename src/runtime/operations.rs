//! All operations but the matrix product: products with vectors, elementwise operations, folds.

use super::engine::{Call, Object, Op, Operand};
use super::{BinaryOp, Collection, Machine, Matrix, Monoid, Scalar, Semiring, UnaryOp, Vector};
#[cfg(doc)]
use crate::Error;
use crate::ops::Pairing;
use crate::par::note;
use crate::{Cpu, Result};

/// Operations on matrices and vectors whose types are known at run time.
///
/// The operations of [`Backend`](crate::backend::Backend), bitwise the same on the CPU for any number of threads. On a
/// GPU, operands in other memory are uploaded for the call, and results stay there. Types are never converted
/// implicitly: a mismatch is an error that names both types, and [`Matrix::cast`] converts.
///
/// ```
/// use sparring::algebra::Type;
/// use sparring::runtime::{BinaryOp, Machine, Matrix, Monoid, Scalar, Semiring, Vector};
/// use sparring::{Cpu, Csr};
/// let a = Matrix::from(Csr::<i64>::new(2, 3, vec![0, 2, 3], vec![0, 2, 1], vec![4, 5, -2])?);
/// let x = Vector::from(sparring::Vector::<i64>::full(vec![1, 10, 100])?);
/// let cpu = Machine::from(Cpu::new());
/// let y = cpu.mxv(&Semiring::new("plus_times", Type::I64)?, &a, &x)?;
/// assert_eq!(y.typed::<i64>().unwrap().as_full(), Some(&[504, -20][..]));
/// assert_eq!(cpu.reduce(&Monoid::new("plus", Type::I64)?, &a)?, Scalar::from(7i64));
/// let b = cpu.ewise_mult(&BinaryOp::new("a - 2*b", Type::I64)?, &a, &a)?;
/// assert_eq!(b.csr::<i64>().unwrap().values(), [-4, -5, 2]);
/// let error = cpu.reduce(&Monoid::new("plus", Type::F64)?, &a).unwrap_err().to_string();
/// assert_eq!(error, "a: its values are i64, but plus takes f64");
/// # Ok::<(), sparring::Error>(())
/// ```
impl Machine {
    /// The result of an operation, after checking that its operands have the operator's types.
    pub(super) fn run(&self, call: &Call<'_>) -> Result<Object> {
        call.op.check(call.a, call.b)?;
        self.note_call(call.op.name(), &[Some(call.a), call.b]);
        if let Some(made) = self.run_wide(call) {
            return made;
        }
        if let Op::Aggregate(aggregate) = call.op {
            return self.aggregate(aggregate, call);
        }
        self.engine().run(call)
    }
    /// Logs an operation, its operands and their storage forms, and the machine unless it is the CPU.
    pub(super) fn note_call(&self, op: &str, operands: &[Option<Operand<'_>>]) {
        note(|| {
            let operands: Vec<String> = operands.iter().flatten().map(Operand::described).collect();
            let place = if self.typed::<Cpu>().is_none() { format!(" on {}", self.name()) } else { String::new() };
            format!("{op}{place}: {}", operands.join("; "))
        });
    }
    /// `y(i) = e ⊕ A(i, k) ⊗ x(k) ⊕ …` over the k where A and x both have an entry, in the order of A's row, e the
    /// identity of ⊕; y has an entry if there is such a k.
    ///
    /// Shapes: `a` m×k, `x` k, result m. A positional ⊗ sees (i, k, 0). Cost: O(m + nnz(A)) time.
    /// # Errors
    /// [`Error::Shape`]; [`Error::Argument`] if ⊗ takes other types; [`Error::OutOfMemory`], [`Error::Cancelled`] and
    /// those of the machine.
    pub fn mxv(&self, ring: &Semiring, a: &Matrix, x: &Vector) -> Result<Vector> {
        self.run(&Call::binary(Op::Mxv(ring), a, x))?.try_into()
    }
    /// `y(j) = e ⊕ x(k) ⊗ A(k, j) ⊕ …` over the k where x and A both have an entry, k increasing; y has an entry if
    /// there is such a k.
    ///
    /// Shapes: `x` k, `a` k×n, result n. A positional ⊗ sees (0, k, j). Cost: that of
    /// [`Backend::vxm`](crate::backend::Backend::vxm).
    /// # Errors
    /// As for [`mxv`](Self::mxv).
    pub fn vxm(&self, ring: &Semiring, x: &Vector, a: &Matrix) -> Result<Vector> {
        self.run(&Call::binary(Op::Vxm(ring), x, a))?.try_into()
    }
    /// c = a ∘ b where both have an entry; where one has, that entry. Matrices or vectors.
    ///
    /// Shapes: all the same. Cost: O(m + nnz(A) + nnz(B)) time; unsorted rows are sorted first.
    /// # Errors
    /// [`Error::Shape`]; [`Error::Argument`] if the operator takes other types, or is not on a single type;
    /// [`Error::OutOfMemory`], [`Error::Cancelled`] and those of the machine.
    pub fn ewise_add<X: Collection>(&self, op: &BinaryOp, a: &X, b: &X) -> Result<X> {
        X::from_object(self.run(&Call::binary(Op::EwiseAdd(op), a.operand_of(), b.operand_of()))?)
    }
    /// c = a ∘ b where both have an entry. Matrices or vectors; their types and that of the result may differ.
    ///
    /// Shapes and cost: as for [`ewise_add`](Self::ewise_add).
    /// # Errors
    /// As for [`ewise_add`](Self::ewise_add).
    pub fn ewise_mult<X: Collection>(&self, op: &BinaryOp, a: &X, b: &X) -> Result<X> {
        X::from_object(self.run(&Call::binary(Op::Pairs(Pairing::EwiseMult, op), a.operand_of(), b.operand_of()))?)
    }
    /// c = f(a), or f(a, s, i, j), where a has an entry; j is 0 for an entry of a vector.
    ///
    /// Cost: O(nnz) time, O(m + nnz) for a positional f on a matrix.
    /// # Errors
    /// [`Error::Argument`] if f takes another type, or reads a scalar that is not set; [`Error::OutOfMemory`],
    /// [`Error::Cancelled`] and those of the machine.
    pub fn apply<X: Collection>(&self, op: &UnaryOp, a: &X) -> Result<X> {
        X::from_object(self.run(&Call::unary(Op::Apply(op), a.operand_of()))?)
    }
    /// The entries of a for which f(a, s, i, j) holds; rows sorted.
    ///
    /// Cost: as [`apply`](Self::apply), and one byte per entry.
    /// # Errors
    /// As for [`apply`](Self::apply); [`Error::Argument`] if f does not give bool.
    pub fn select<X: Collection>(&self, op: &UnaryOp, a: &X) -> Result<X> {
        X::from_object(self.run(&Call::unary(Op::Select(op), a.operand_of()))?)
    }
    /// ⊕ over all entries; the identity if there are none.
    ///
    /// On the CPU the fold of [`Backend::reduce`](crate::backend::Backend::reduce), cut after every 16 384th entry; on
    /// a GPU in an order of its own, the same in every run. Cost: O(nnz) time.
    /// # Errors
    /// [`Error::Argument`] if ⊕ is on another type; [`Error::OutOfMemory`], [`Error::Cancelled`] and those of the
    /// machine.
    pub fn reduce<X: Collection>(&self, monoid: &Monoid, a: &X) -> Result<Scalar> {
        self.run(&Call::unary(Op::Reduce(monoid), a.operand_of()))?.try_into()
    }
    /// `y(i) = e ⊕ A(i, j) ⊕ …` over the entries of row i in storage order; y has an entry if the row is nonempty.
    ///
    /// Shapes: `a` m×n, result m. Cost: O(m + nnz) time.
    /// # Errors
    /// As for [`reduce`](Self::reduce).
    pub fn reduce_rows(&self, monoid: &Monoid, a: &Matrix) -> Result<Vector> {
        self.run(&Call::unary(Op::ReduceRows(monoid), a))?.try_into()
    }
    /// C(i·p + k, j·q + l) = A(i, j) ∘ B(k, l) for every entry of A and every entry of B.
    ///
    /// Shapes: `a` m×n, `b` p×q, result mp×nq. Cost: O(m·p + nnz(A)·nnz(B)) time.
    /// # Errors
    /// [`Error::IndexOverflow`] if mp, nq or nnz(A)·nnz(B) is too large; [`Error::Argument`] if the operator takes
    /// other types; [`Error::OutOfMemory`], [`Error::Cancelled`] and those of the machine.
    pub fn kronecker(&self, op: &BinaryOp, a: &Matrix, b: &Matrix) -> Result<Matrix> {
        self.run(&Call::binary(Op::Pairs(Pairing::Kronecker, op), a, b))?.try_into()
    }
    /// Aᵀ, rows sorted.
    ///
    /// Cost: O(m + n + nnz) time.
    /// # Errors
    /// [`Error::OutOfMemory`]; those of the machine.
    pub fn transpose(&self, a: &Matrix) -> Result<Matrix> {
        self.run(&Call::unary(Op::Transpose, a))?.try_into()
    }
}
