//! Conversion of Python numbers to values, and back.

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt};
use sparring::algebra::Type;
use sparring::num_complex::Complex;
use sparring::runtime::Scalar;

use crate::arrays::{name_of, numbers};
use crate::errors::shown;

/// Converts a number to a value of the type.
/// # Errors
/// `TypeError` for objects that are not numbers; `OverflowError` for numbers outside the type's range.
pub(crate) fn scalar(x: &Bound<'_, PyAny>, ty: Type) -> PyResult<Scalar> {
    let py = x.py();
    let refused = |e: PyErr| {
        if e.is_instance_of::<PyOverflowError>(py) {
            PyOverflowError::new_err(format!("{} does not fit {}", shown(x), name_of(ty)))
        } else if e.is_instance_of::<PyTypeError>(py) {
            PyTypeError::new_err(format!("{} is not a valid {}", shown(x), name_of(ty)))
        } else {
            // The error of the object's own conversion.
            e
        }
    };
    macro_rules! integer {
        ($t:ty) => {
            x.extract::<$t>().map(Scalar::from).map_err(refused)
        };
    }
    let complex = || x.extract::<Complex<f64>>().map_err(refused);
    match ty {
        // Not the truth value of any object: None is not a number.
        Type::Bool if x.hasattr(intern!(py, "__float__"))? => Ok(Scalar::from(x.is_truthy()?)),
        Type::Bool => Err(PyTypeError::new_err(format!("{} is not a bool", shown(x)))),
        Type::I8 => integer!(i8),
        Type::I16 => integer!(i16),
        Type::I32 => integer!(i32),
        Type::I64 => integer!(i64),
        Type::U8 => integer!(u8),
        Type::U16 => integer!(u16),
        Type::U32 => integer!(u32),
        Type::U64 => integer!(u64),
        Type::F32 => Ok(Scalar::from(x.extract::<f64>().map_err(refused)? as f32)),
        Type::F64 => Ok(Scalar::from(x.extract::<f64>().map_err(refused)?)),
        Type::ComplexF32 => complex().map(|z| Scalar::from(Complex::new(z.re as f32, z.im as f32))),
        Type::ComplexF64 => complex().map(Scalar::from),
        Type::Struct(of) => Err(PyTypeError::new_err(format!("no {} from Python", of.name))),
    }
}

/// The default type of a Python number.
pub(crate) fn type_of_number(x: &Bound<'_, PyAny>) -> PyResult<Type> {
    if let Ok(dtype) = x.getattr("dtype") {
        return crate::arrays::dtype_argument(x.py(), &dtype);
    }
    Ok(if x.is_instance_of::<PyBool>() {
        Type::Bool
    } else if x.is_instance_of::<PyInt>() {
        Type::I64
    } else if x.is_instance_of::<PyFloat>() {
        Type::F64
    } else if x.is_instance_of::<PyComplex>() {
        Type::ComplexF64
    } else {
        return Err(PyTypeError::new_err(format!("{} is not a number", shown(x))));
    })
}

/// Converts a value to a Python number.
pub(crate) fn number<'py>(py: Python<'py>, x: &Scalar) -> PyResult<Bound<'py, PyAny>> {
    macro_rules! numbers_of {
        ($($variant:ident $t:ty, $name:literal;)*) => {
            match x.ty() {
                $(Type::$variant => x.get::<$t>().map(|x| x.into_bound_py_any(py)),)*
                Type::Struct(_) => None,
            }
        };
    }
    let found: Option<PyResult<Bound<'py, PyAny>>> = numbers!(numbers_of);
    found.unwrap_or_else(|| Err(PyTypeError::new_err(format!("no number of {}", x.ty()))))
}
