//! Elementwise comparisons of matrices and vectors; absent entries are 0.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;
use sparring::algebra::Type;
use sparring::runtime::{BinaryOp, Matrix, Op, Scalar, UnaryOp, Vector};
use sparring::sparse::IndexList;
use sparring::{Error, Result};

use crate::arithmetic::{is_number, with_number};
use crate::errors::Raise;
use crate::machines::On;
use crate::operands::{Kind, Operand, either, give, give_vector};
use crate::scalars::{scalar, type_of_number};
use crate::written::{Written, common, together};

/// The result of `a < b` and other comparisons, with the true values as entries; ``b`` may be a number.
/// `NotImplemented` for other objects.
pub(crate) fn compare<'py>(a: &Bound<'py, PyAny>, b: &Bound<'py, PyAny>, by: CompareOp) -> PyResult<Bound<'py, PyAny>> {
    let py = a.py();
    let unfit = || Ok(py.NotImplemented().into_bound(py));
    let name = match by {
        CompareOp::Lt => "lt",
        CompareOp::Le => "le",
        CompareOp::Eq => "eq",
        CompareOp::Ne => "ne",
        CompareOp::Gt => "gt",
        CompareOp::Ge => "ge",
    };
    let (of, written) = (either(a)?.0, Written::on(None));
    let (of, other, ty) = if is_number(b)? {
        if type_of_number(b).is_err() {
            return unfit();
        }
        let ty = with_number(of.ty(), b)?;
        (of.cast(py, ty)?, None, ty)
    } else {
        let Ok((other, _)) = either(b) else { return unfit() };
        let (of, other, ty) = common(py, of, other)?;
        (of, Some(other), ty)
    };
    if matches!(ty, Type::ComplexF32 | Type::ComplexF64) && !matches!(by, CompareOp::Eq | CompareOp::Ne) {
        return Err(PyTypeError::new_err("complex numbers are not ordered"));
    }
    let op = BinaryOp::new(name, ty).raise()?;
    let zero = Scalar::from(0i8).cast(ty).raise()?;
    let with = if other.is_none() { scalar(b, ty)? } else { zero.clone() };
    let all = [Some(&of), other.as_ref()].into_iter().flatten().collect::<Vec<_>>();
    let on = written.machine(&all)?;
    let entries = all.iter().map(|of| of.entries()).sum();
    let made = on.compute(py, entries, || {
        // The result where both are absent is the same everywhere.
        let elsewhere = op.eval(&zero, &with)?.get::<bool>().unwrap_or(false);
        match (&of, &other) {
            (Operand::Matrix(a), _) => {
                let found: Matrix = answers(&on, &all, &op, &zero, &with)?;
                let places = || Matrix::empty(Type::Bool, a.shape().0, a.shape().1);
                finish(&on, found, elsewhere, places).map(Operand::Matrix)
            }
            (Operand::Vector(x), _) => {
                let found: Vector = answers(&on, &all, &op, &zero, &with)?;
                finish(&on, found, elsewhere, || Vector::empty(Type::Bool, x.len())).map(Operand::Vector)
            }
        }
    })?;
    match made {
        Operand::Matrix(a) => give(py, a, &Kind::Own),
        Operand::Vector(x) => give_vector(py, x, &Kind::Own),
    }
}

/// The results on the union of the patterns.
fn answers<X>(on: &On, all: &[&Operand], op: &BinaryOp, zero: &Scalar, with: &Scalar) -> Result<X>
where
    X: TryFrom<sparring::runtime::Object, Error = Error>,
{
    if all.len() == 1 {
        return on.call(Op::Apply(&op.with_second(with.clone())?), together(all)).eval();
    }
    on.call(Op::EwiseUnion(op, zero, zero), together(all)).eval()
}

/// The true results, including all absent positions if those are true.
fn finish<X>(on: &On, found: X, elsewhere: bool, empty: impl FnOnce() -> Result<X>) -> Result<X>
where
    X: sparring::runtime::Collection
        + Clone
        + Into<sparring::runtime::Object>
        + TryFrom<sparring::runtime::Object, Error = Error>,
    for<'a> sparring::runtime::Operands: From<&'a X>,
{
    let holds = UnaryOp::new("a", Type::Bool)?;
    let found_true: X = on.call(Op::Select(&holds), &found).eval()?;
    if !elsewhere {
        return Ok(found_true);
    }
    let (mut all, yes, whole) = (empty()?, Scalar::from(true), IndexList::all());
    on.call(Op::AssignScalar(&yes, &whole, &whole), ()).mask(&found).structure().complement().into(&mut all)?;
    let or = BinaryOp::new("lor", Type::Bool)?;
    on.ewise_add(&or, &all, &found_true)
}
