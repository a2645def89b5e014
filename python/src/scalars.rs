//! Numbers of Python as values of a type, and back.

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt};
use sparring::algebra::Type;
use sparring::num_complex::Complex;
use sparring::runtime::Scalar;

use crate::arrays::{name_of, numbers};

/// The number as a value of the type.
/// # Errors
/// `TypeError` for what is no number; `OverflowError` for one that the type does not have.
pub(crate) fn scalar(x: &Bound<'_, PyAny>, ty: Type) -> PyResult<Scalar> {
    macro_rules! integer {
        ($t:ty) => {
            match x.extract::<$t>() {
                Ok(x) => Ok(Scalar::from(x)),
                Err(_) if x.is_instance_of::<PyInt>() => {
                    Err(PyOverflowError::new_err(format!("{x} does not fit {}", name_of(ty))))
                }
                Err(_) => Err(PyTypeError::new_err(format!("{x} is no {}", name_of(ty)))),
            }
        };
    }
    match ty {
        Type::Bool => Ok(Scalar::from(x.is_truthy()?)),
        Type::I8 => integer!(i8),
        Type::I16 => integer!(i16),
        Type::I32 => integer!(i32),
        Type::I64 => integer!(i64),
        Type::U8 => integer!(u8),
        Type::U16 => integer!(u16),
        Type::U32 => integer!(u32),
        Type::U64 => integer!(u64),
        Type::F32 => Ok(Scalar::from(x.extract::<f64>()? as f32)),
        Type::F64 => Ok(Scalar::from(x.extract::<f64>()?)),
        Type::ComplexF32 => x.extract::<Complex<f64>>().map(|z| Scalar::from(Complex::new(z.re as f32, z.im as f32))),
        Type::ComplexF64 => x.extract::<Complex<f64>>().map(Scalar::from),
        Type::Struct(of) => Err(PyTypeError::new_err(format!("no {} from Python", of.name))),
    }
}

/// The type that a number of Python alone has.
pub(crate) fn type_of_number(x: &Bound<'_, PyAny>) -> PyResult<Type> {
    if let Ok(dtype) = x.getattr("dtype") {
        return crate::arrays::asked_type(x.py(), &dtype);
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
        return Err(PyTypeError::new_err(format!("{x} is no number")));
    })
}

/// The value as a number of Python.
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
