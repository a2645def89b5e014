//! Sparse tensors and their CP decompositions.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::{PyIndexError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use sparring::Dense;
use sparring::algebra::{Array, Type};
use sparring::factor::{CpAls, Sweep};
use sparring::io::{FrosttOptions, WriteOptions, read_frostt_with, write_frostt_values};
use sparring::num_complex::Complex;
use sparring::runtime::Tensor;

use crate::arrays::{self, array, as_array, collected, dtype_argument, name_of, numbers};
use crate::errors::Raise;
use crate::indices::integers;
use crate::machines::machine;

/// A sparse tensor of any order, in coordinates.
///
/// Parameters
/// ----------
/// indices : array of shape (modes, entries), or a sequence of arrays
///     Indices of the entries, from 0.
/// values : array
///     Their values.
/// shape : tuple of int
///     Length of each mode.
///
/// Examples
/// --------
/// >>> import sparring as sp
/// >>> sp.Tensor([[0, 1], [0, 2], [1, 1]], [1.0, 2.0], shape=(2, 3, 2))
/// <sparring.Tensor of float64, 2×3×2 with 2 entries>
#[pyclass(name = "Tensor", module = "sparring", frozen, weakref)]
pub(crate) struct PyTensor(pub(crate) Tensor);

/// Lengths of modes. The reported length of the caller's sequence is not trusted.
fn lengths(shape: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    if shape.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("shape: expected a length per mode, not text"));
    }
    let none = |e: PyErr| PyTypeError::new_err(format!("shape: {e}"));
    let mut all = Vec::new();
    for length in shape.try_iter().map_err(none)?.take(MODES + 1) {
        all.push(length?.extract::<usize>().map_err(|e| match e.is_instance_of::<PyTypeError>(shape.py()) {
            true => none(e),
            false => PyOverflowError::new_err(format!("shape: {e}")),
        })?);
    }
    if all.len() > MODES {
        return Err(PyValueError::new_err(format!("shape: a tensor has at most {MODES} modes")));
    }
    Ok(all)
}

/// Maximum number of modes of a tensor.
const MODES: usize = 255;

#[pymethods]
impl PyTensor {
    #[new]
    #[pyo3(signature = (indices, values, shape))]
    fn make(indices: &Bound<'_, PyAny>, values: &Bound<'_, PyAny>, shape: &Bound<'_, PyAny>) -> PyResult<Self> {
        let shape = lengths(shape)?;
        let mut modes = Vec::with_capacity(shape.len());
        for (mode, line) in indices.try_iter()?.enumerate() {
            let bound = shape.get(mode).copied().ok_or_else(|| {
                PyValueError::new_err(format!("indices of more than {} modes, which shape has", shape.len()))
            })?;
            let found = integers(&line?, "indices")?;
            let check = |(position, &i): (usize, &i64)| {
                let inside = u64::try_from(i).ok().filter(|&i| i < bound as u64);
                inside.ok_or_else(|| {
                    PyIndexError::new_err(format!("indices[{mode}]: number {position} is {i}, not below {bound}"))
                })
            };
            modes.push(collected(found.len(), found.iter().enumerate().map(check), "indices")?);
        }
        if modes.len() != shape.len() {
            let message = format!("indices of {} modes, shape has {}", modes.len(), shape.len());
            return Err(PyValueError::new_err(message));
        }
        let values = arrays::copied(values, "values")?;
        Ok(Self(if shape.iter().all(|&n| u32::try_from(n).is_ok()) {
            let narrow = |mode: Vec<u64>| collected(mode.len(), mode.into_iter().map(|i| Ok(i as u32)), "indices");
            let narrow = modes.into_iter().map(narrow).collect::<PyResult<_>>()?;
            Tensor::new::<u32>(shape, narrow, values).raise()?
        } else {
            Tensor::new::<u64>(shape, modes, values).raise()?
        }))
    }
    /// The tensor of a dense array of any shape, without its zeros.
    #[staticmethod]
    fn from_dense(x: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = x.py();
        let x = as_array(x, None, "x")?;
        let indices = py.import("numpy")?.call_method1("nonzero", (&x,))?;
        let values = x.get_item(&indices)?;
        Self::make(&indices, &values, &x.getattr("shape")?)
    }
    /// Indices of the entries, an array per mode: copies.
    #[getter]
    fn indices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for mode in 0..self.0.dims().len() {
            let wide: Vec<i64> = match self.0.indices::<u32>(mode) {
                Some(narrow) => narrow.iter().map(|&i| i64::from(i)).collect(),
                None => self.0.indices::<u64>(mode).unwrap_or_default().iter().map(|&i| i as i64).collect(),
            };
            list.append(array(py, Array::of(wide))?)?;
        }
        Ok(list)
    }
    /// Values of the entries, a copy.
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        macro_rules! copied {
            ($($variant:ident $t:ty, $name:literal;)*) => {
                match self.0.ty() {
                    $(Type::$variant => Array::of(self.0.values().get::<$t>().unwrap_or_default().to_vec()),)*
                    Type::Struct(of) => return Err(PyTypeError::new_err(format!("no arrays of {}", of.name))),
                }
            };
        }
        array(py, numbers!(copied))
    }
    /// Reads a FROSTT file (``.tns``, optionally compressed): lines of indices, from 1 or from 0, and a value.
    #[staticmethod]
    #[pyo3(signature = (path, *, zero_based=false, max_bytes=None))]
    fn read(py: Python<'_>, path: std::path::PathBuf, zero_based: bool, max_bytes: Option<u64>) -> PyResult<Self> {
        let found = machine(None)?.compute(py, usize::MAX, || {
            let options = FrosttOptions::new().zero_based(zero_based).max_bytes(max_bytes.unwrap_or(u64::MAX));
            read_frostt_with::<f64>(path, &options)
        })?;
        Ok(Self(found.into()))
    }
    /// Writes the tensor as FROSTT text, with indices from 1; complex values are an error.
    fn write(&self, py: Python<'_>, path: std::path::PathBuf) -> PyResult<()> {
        let (dims, values) = (self.0.dims(), self.0.values());
        macro_rules! written {
            ($index:ty) => {{
                let modes: Option<Vec<&[$index]>> = (0..dims.len()).map(|mode| self.0.indices(mode)).collect();
                modes.map(|modes| {
                    let options = WriteOptions::new();
                    py.detach(|| write_frostt_values(path.as_path(), dims, &modes, values, &options)).raise()
                })
            }};
        }
        let found = written!(u32).or_else(|| written!(u64));
        found.unwrap_or_else(|| Err(PyValueError::new_err("the tensor has no indices")))
    }
    /// Length of each mode.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyTuple>> {
        pyo3::types::PyTuple::new(py, self.0.dims())
    }
    /// Number of modes.
    #[getter]
    fn ndim(&self) -> usize {
        self.0.dims().len()
    }
    /// Entries.
    #[getter]
    fn nnz(&self) -> usize {
        self.0.nnz()
    }
    /// NumPy dtype of the values.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        crate::matrix::dtype_of(py, self.0.ty())
    }
    /// A tensor with values of another type.
    fn astype(&self, dtype: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self(self.0.cast(dtype_argument(dtype.py(), dtype)?).raise()?))
    }
    /// The tensor with duplicate entries summed.
    fn sum_duplicates(&self, py: Python<'_>) -> PyResult<Self> {
        let on = machine(None)?;
        let Some(threads) = on.threads() else { return Err(PyValueError::new_err("no threads")) };
        Ok(Self(on.compute(py, self.0.nnz(), || self.0.summed(threads))?))
    }
    fn __repr__(&self) -> String {
        let dims: Vec<String> = self.0.dims().iter().map(usize::to_string).collect();
        format!("<sparring.Tensor of {}, {} with {} entries>", name_of(self.0.ty()), dims.join("×"), self.0.nnz())
    }
}

/// Factors as two-dimensional arrays.
pub(crate) fn dense_factors(py: Python<'_>, factors: Vec<Dense<f64>>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for factor in factors {
        let shape = factor.shape();
        list.append(array(py, Array::of(factor.into_values()))?.call_method1(intern!(py, "reshape"), shape)?)?;
    }
    Ok(list)
}

/// A decomposition: weights, factors, fit, fits after each sweep, whether it converged, and the algorithm.
type Model<'py> = (Bound<'py, PyAny>, Bound<'py, PyList>, f64, Vec<f64>, bool, String);

/// CP by alternating least squares.
#[pyfunction]
#[pyo3(signature = (x, rank, sweeps, tolerance, seed, starts, nonnegative, ridge, time_limit=None, progress=None,
    device=None))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn _cp_als<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyTensor>,
    rank: usize,
    sweeps: usize,
    tolerance: Option<f64>,
    seed: u64,
    starts: usize,
    nonnegative: bool,
    ridge: f64,
    time_limit: Option<f64>,
    progress: Option<Py<PyAny>>,
    device: Option<&str>,
) -> PyResult<Model<'py>> {
    let (x, on) = (&x.get().0, machine(device)?);
    let failed = Mutex::new(None);
    let limit = time_limit.map(Duration::try_from_secs_f64).transpose();
    let limit = limit.map_err(|e| PyValueError::new_err(format!("time_limit: {e}")))?;
    // Signals are checked after each sweep, so that Ctrl-C ends the decomposition.
    let watch = |sweep: Sweep| {
        let told = Python::attach(|py| {
            py.check_signals()?;
            progress.as_ref().map(|f| f.call1(py, (sweep.number, sweep.fit))).transpose().map(drop)
        });
        match told {
            Ok(()) => ControlFlow::Continue(()),
            Err(e) => {
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(e);
                ControlFlow::Break(())
            }
        }
    };
    let fit = || {
        let als = CpAls::<f64>::new(rank).sweeps(sweeps).tol(tolerance.unwrap_or(0.0)).seed(seed).starts(starts);
        let als = als.nonnegative(nonnegative).ridge(ridge).on_sweep(watch);
        on.cp_als(&if let Some(limit) = limit { als.time_limit(limit) } else { als }, x)
    };
    // A progress callback runs on the caller's thread, and can stop between sweeps.
    let found = if progress.is_some() { py.detach(fit).raise() } else { on.compute(py, x.nnz(), fit) };
    if let Some(e) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(e);
    }
    let found = found?;
    let (weights, of_modes) = found.model.into_parts();
    let list = dense_factors(py, of_modes)?;
    Ok((array(py, Array::of(weights))?, list, found.fit, found.fits, found.converged, found.explain))
}
