//! Validation of operators given as text.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sparring::algebra::Type;
use sparring::runtime::{BinaryOp, Monoid, Semiring, UnaryOp};

use crate::errors::Raise;

/// Rejects a text that is not an operator of its kind for any value type, with the error for floats.
#[pyfunction]
pub(crate) fn _check_operator(kind: &str, text: &str) -> PyResult<()> {
    let on = |ty| match kind {
        "unary" => UnaryOp::new(text, ty).map(drop),
        "binary" => BinaryOp::new(text, ty).map(drop),
        "monoid" => Monoid::new(text, ty).map(drop),
        _ => Semiring::new(text, ty).map(drop),
    };
    if text.is_empty() {
        return Err(PyValueError::new_err(format!("a {kind} operator needs a name or a formula, not an empty text")));
    }
    let others = [Type::I64, Type::Bool, Type::U64, Type::ComplexF64];
    on(Type::F64).or_else(|e| if others.iter().any(|&ty| on(ty).is_ok()) { Ok(()) } else { Err(e) }).raise()
}
