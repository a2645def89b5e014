//! Python's operators `+ - * / ** @`, `abs`, and sums along axes, with SciPy's semantics.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use sparring::algebra::Type;
use sparring::runtime::{BinaryOp, Monoid, Op, Pairing, Scalar, UnaryOp};

use crate::arrays::promoted;
use crate::errors::Raise;
use crate::operands::{self, Kind, Operand, either, is_vector};
use crate::operations::product;
use crate::scalars::{scalar, type_of_number};
use crate::sums;
use crate::written::{Written, common, together};

/// `a @ b`.
pub(crate) fn matmul<'py>(a: &Bound<'py, PyAny>, b: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    product(a, b, "plus_times", Written::plain())
}

/// `a + b`, absent entries being 0.
pub(crate) fn sum<'py>(a: &Bound<'py, PyAny>, b: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if is_number(b)? {
        type_of_number(b)?;
        // Python's sum() starts with 0.
        if b.eq(0)? {
            return Ok(a.clone());
        }
        return Err(PyValueError::new_err("adding a nonzero number would fill the whole matrix"));
    }
    if is_vector(a) != is_vector(b) {
        return Err(PyTypeError::new_err("a matrix and a vector cannot be added"));
    }
    let py = a.py();
    let ((left, kind), (right, _)) = (either(a)?, either(b)?);
    let (left, right, ty) = common(py, left, right)?;
    let (op, written) = (BinaryOp::new("plus", ty).raise()?, Written::plain());
    let on = written.machine(&[&left, &right])?;
    written.run(py, &on, Op::EwiseAdd(&op), &[&left, &right], &kind)
}

/// The sum of all entries, of each column (`axis` 0) or of each row, in NumPy's accumulator type.
pub(crate) fn sum_along<'py>(a: &Bound<'py, PyAny>, axis: Option<i64>) -> PyResult<Bound<'py, PyAny>> {
    let py = a.py();
    let of = either(a)?.0;
    let wide = match of.ty() {
        Type::Bool | Type::I8 | Type::I16 | Type::I32 => Type::I64,
        Type::U8 | Type::U16 | Type::U32 => Type::U64,
        ty => ty,
    };
    let (of, written) = (of.cast(py, wide)?, Written::plain());
    let (plus, on) = (Monoid::new("plus", wide).raise()?, written.machine(&[&of])?);
    let Some(axis) = axis else { return written.run(py, &on, Op::Reduce(&plus), &[&of], &Kind::Own) };
    let by_columns = match axis {
        0 | -2 => true,
        1 | -1 => false,
        _ => return Err(PyValueError::new_err(format!("axis: {axis} is out of range for a matrix, use 0 or 1"))),
    };
    if by_columns
        && let Operand::Matrix(of) = &of
        && let Some(found) = sums::of_columns(py, &on, of)?
    {
        return operands::dense(py, &found, None);
    }
    let call = on.call(Op::ReduceRows(&plus), together(&[&of]));
    let call = if by_columns { call.transpose_a() } else { call };
    let sums = on.compute(py, of.entries(), || call.eval())?;
    operands::dense(py, &sums, None)
}

/// `a - b`, absent entries being 0.
pub(crate) fn difference<'py>(a: &Bound<'py, PyAny>, b: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = a.py();
    let ((left, kind), (right, _)) = (either(a)?, either(b)?);
    let (left, right, ty) = common(py, left, right)?;
    let zero = Scalar::parse(if ty == Type::Bool { "false" } else { "0" }, ty).raise()?;
    let (op, written) = (BinaryOp::new("minus", ty).raise()?, Written::plain());
    let on = written.machine(&[&left, &right])?;
    written.run(py, &on, Op::EwiseUnion(&op, &zero, &zero), &[&left, &right], &kind)
}

/// `a * b`: elementwise, or by a number.
pub(crate) fn times<'py>(a: &Bound<'py, PyAny>, b: &Bound<'py, PyAny>, op: &str) -> PyResult<Bound<'py, PyAny>> {
    let (py, written) = (a.py(), Written::plain());
    if !is_number(b)? {
        let ((left, kind), (right, _)) = (either(a)?, either(b)?);
        let (left, right, ty) = common(py, left, right)?;
        let (op, on) = (BinaryOp::new(op, ty).raise()?, written.machine(&[&left, &right])?);
        return written.run(py, &on, Op::Pairs(Pairing::EwiseMult, &op), &[&left, &right], &kind);
    }
    let (of, kind) = either(a)?;
    let ty = with_number(of.ty(), b)?;
    let of = of.cast(py, ty)?;
    let op = BinaryOp::new(op, ty).raise()?.with_second(scalar(b, ty)?).raise()?;
    let on = written.machine(&[&of])?;
    written.run(py, &on, Op::Apply(&op), &[&of], &kind)
}

/// `a ** b` elementwise, for a positive exponent, so that absent entries remain 0.
pub(crate) fn power<'py>(a: &Bound<'py, PyAny>, b: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if !is_number(b)? || !b.gt(0)? {
        return Err(PyValueError::new_err(format!("the exponent {b} is not a positive number")));
    }
    if b.eq(1)? {
        return Ok(a.clone());
    }
    if b.eq(2)? { unary(a, "square") } else { times(a, b, "pow") }
}

/// Whether the object is zero-dimensional.
pub(crate) fn is_number(b: &Bound<'_, PyAny>) -> PyResult<bool> {
    let shape = b.getattr_opt(intern!(b.py(), "shape"))?;
    Ok(shape.is_none_or(|shape| shape.len().is_ok_and(|n| n == 0)))
}

/// The common type of a matrix and a number: the matrix's type if it can represent a Python number, as in NumPy.
pub(crate) fn with_number(mut ty: Type, b: &Bound<'_, PyAny>) -> PyResult<Type> {
    let of_number = type_of_number(b)?;
    let weak = !b.hasattr("dtype")?;
    let rank = |ty: Type| match ty {
        Type::Bool => 0,
        Type::F32 | Type::F64 => 2,
        Type::ComplexF32 | Type::ComplexF64 => 3,
        _ => 1,
    };
    if !weak || rank(of_number) > rank(ty) {
        ty = promoted(b.py(), ty, of_number)?;
    }
    Ok(ty)
}

/// Applies a unary operator by name.
pub(crate) fn unary<'py>(a: &Bound<'py, PyAny>, op: &str) -> PyResult<Bound<'py, PyAny>> {
    let (of, kind) = either(a)?;
    let (op, written) = (UnaryOp::new(op, of.ty()).raise()?, Written::plain());
    let on = written.machine(&[&of])?;
    written.run(a.py(), &on, Op::Apply(&op), &[&of], &kind)
}
