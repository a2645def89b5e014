//! Integer arguments, rejected where NumPy's conversion would truncate, wrap or guess.

use pyo3::exceptions::{PyIndexError, PyOverflowError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use sparring::algebra::{Array, Type};

use crate::arrays::{self, collected, name_of};
use crate::errors::shown;

/// The integers of a one-dimensional array or sequence.
/// # Errors
/// `TypeError` for values that are not integers, including bool; `IndexError` beyond int64; those of
/// [`arrays::line`].
pub(crate) fn integers(of: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<i64>> {
    let line = arrays::line(of, what)?;
    let count = numpy::PyUntypedArrayMethods::len(&line);
    if count == 0 {
        // NumPy makes an empty list float64.
        return Ok(Vec::new());
    }
    let values = arrays::copied(line.as_any(), what)?;
    macro_rules! wide {
        ($t:ty) => {
            collected(count, vector::<$t>(values).into_iter().map(|i| Ok(i64::from(i))), what)?
        };
    }
    Ok(match values.ty() {
        Type::I64 => vector(values),
        Type::I8 => wide!(i8),
        Type::I16 => wide!(i16),
        Type::I32 => wide!(i32),
        Type::U8 => wide!(u8),
        Type::U16 => wide!(u16),
        Type::U32 => wide!(u32),
        Type::U64 => {
            let values = vector::<u64>(values);
            let narrow = |(position, &i): (usize, &u64)| {
                i64::try_from(i).map_err(|_| PyIndexError::new_err(format!("{what}: number {position} is {i}")))
            };
            collected(count, values.iter().enumerate().map(narrow), what)?
        }
        ty => return Err(PyTypeError::new_err(format!("{what}: expected integers, not {}", name_of(ty)))),
    })
}

fn vector<T: sparring::algebra::Value>(values: Array) -> Vec<T> {
    values.into_vec().unwrap_or_default()
}

/// An object as an index; `None` if it is not an integer.
/// # Errors
/// `IndexError` beyond int64; any error of its `__index__` other than `TypeError`.
pub(crate) fn integer(of: &Bound<'_, PyAny>) -> PyResult<Option<i64>> {
    let py = of.py();
    if !of.hasattr(intern!(py, "__index__"))? {
        return Ok(None);
    }
    match of.extract::<i64>() {
        Ok(i) => Ok(Some(i)),
        Err(e) if e.is_instance_of::<PyOverflowError>(py) => {
            Err(PyIndexError::new_err(format!("index {} is out of bounds for any dimension", shown(of))))
        }
        // Arrays of several elements have the method, too.
        Err(e) if e.is_instance_of::<PyTypeError>(py) => Ok(None),
        Err(e) => Err(e),
    }
}
