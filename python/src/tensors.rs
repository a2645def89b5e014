//! Sparse tensors, MTTKRP, CP, and contractions of dense arrays.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use numpy::PyUntypedArrayMethods;
use pyo3::exceptions::{PyIndexError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use sparring::algebra::{Array, PlusTimes, Slice, Type};
use sparring::contract::{AnyView, Einsum, Layout, View};
use sparring::factor::{CpAls, Sweep};
use sparring::io::{FrosttOptions, WriteOptions, read_frostt_with, write_frostt_values};
use sparring::num_complex::Complex;
use sparring::runtime::{DenseView, Semiring, Tensor};
use sparring::{Cpu, Dense};

use crate::arrays::{self, Values, array, as_array, collected, dtype_argument, name_of, numbers, promoted};
use crate::errors::Raise;
use crate::indices::integers;
use crate::machines::machine;
use crate::operands;

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
pub(crate) struct PyTensor(Tensor);

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

/// Factors, a matrix per mode: row-major values of one type, and their rank. That of `mode` is read only if no other
/// factor gives the rank.
fn factors(of: &Bound<'_, PyAny>, x: &Tensor, mode: usize) -> PyResult<(Vec<Values>, usize)> {
    let (name, dims) = (name_of(x.ty()), x.dims());
    // At most one more than needed: an iterator may be infinite.
    let given = of.try_iter()?.take(dims.len() + 1).collect::<PyResult<Vec<_>>>()?;
    if given.len() != dims.len() {
        return Err(PyValueError::new_err(format!("factors: {} of a tensor of {} modes", given.len(), dims.len())));
    }
    let (mut all, mut rank) = (Vec::new(), None);
    for (m, (factor, &expected)) in given.iter().zip(dims).enumerate() {
        if m == mode && dims.len() > 1 {
            all.push(Values::none(x.ty()));
            continue;
        }
        let factor = arrays::as_array(factor, Some(name), "factors")?;
        let (values, shape) = Values::of(factor.as_any(), "factors")?;
        let &[rows, columns] = &shape[..] else {
            return Err(PyValueError::new_err(format!("factors[{m}]: {} dimensions, not two", shape.len())));
        };
        if m != mode && rows != expected {
            return Err(PyValueError::new_err(format!("factors[{m}]: {rows} rows, the mode has {expected}")));
        }
        let rank = *rank.get_or_insert(columns);
        if rank != columns {
            return Err(PyValueError::new_err(format!("factors[{m}]: {columns} columns, others have {rank}")));
        }
        all.push(values);
    }
    Ok((all, rank.unwrap_or(0)))
}

/// V = X₍ₘ₎ · (⊙ of the other factors): the product of a sparse tensor, matricized along a mode, with the Khatri–Rao
/// product of factors, over any semiring.
///
/// Parameters
/// ----------
/// x : Tensor
/// factors : sequence of arrays
///     A matrix per mode, with as many rows as the mode is long; that of ``mode`` is not read.
/// mode : int
/// semiring : str
///
/// Returns
/// -------
/// array of shape (x.shape[mode], rank)
#[pyfunction]
#[pyo3(signature = (x, factors, mode, semiring="plus_times"))]
pub(crate) fn mttkrp<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyTensor>,
    factors: &Bound<'py, PyAny>,
    mode: usize,
    semiring: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let (x, on) = (&x.get().0, machine(None)?);
    if mode >= x.dims().len() {
        return Err(PyValueError::new_err(format!("mode {mode} of a tensor of {}", x.dims().len())));
    }
    let (all, rank) = self::factors(factors, x, mode)?;
    let ring = Semiring::new(semiring, x.ty()).raise()?;
    let slices: Vec<_> = all.iter().map(Values::slice).collect();
    let floats = matches!(x.ty(), Type::F32 | Type::F64) && semiring == "plus_times";
    let work = || match floats {
        true => on.mttkrp_plan(x, rank, None, Some(mode))?.eval(&slices, mode),
        false => on.mttkrp(&ring, x, &slices, rank, mode),
    };
    let found = on.compute(py, x.nnz().saturating_mul(rank), work)?;
    array(py, found)?.call_method1(intern!(py, "reshape"), (x.dims()[mode], rank))
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

/// Operands of a contraction, row-major.
fn views<'a, V>(
    values: &'a [Values],
    shapes: &[Vec<usize>],
    view: impl Fn(Slice<'a>, Layout) -> sparring::Result<V>,
) -> PyResult<Vec<V>> {
    let one = |(values, shape): (&'a Values, &Vec<usize>)| view(values.slice(), Layout::row_major(shape)?);
    values.iter().zip(shapes).map(|pair| one(pair).raise()).collect()
}

/// Extents of the result's indices.
fn result_shape(expression: &str, shapes: &[Vec<usize>]) -> Vec<usize> {
    let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<Vec<_>>();
    let (left, right) = expression.split_once("->").unwrap_or((expression, ""));
    let known: Vec<(char, usize)> =
        left.split(',').zip(shapes).flat_map(|(text, shape)| letters(text).into_iter().zip(shape.clone())).collect();
    let extent = |c| known.iter().find(|(letter, _)| *letter == c).map(|(_, n)| *n);
    letters(right).into_iter().filter_map(extent).collect()
}

/// The contraction of arrays in a GPU's memory.
fn einsum_on_device<'py>(
    py: Python<'py>,
    expression: &str,
    operands: &Bound<'py, pyo3::types::PyTuple>,
    semiring: &str,
    device: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let (mut vectors, mut shapes, mut kind, mut on) = (Vec::new(), Vec::new(), None, None);
    for of in operands.iter() {
        shapes.push(of.getattr(intern!(py, "shape"))?.extract::<Vec<usize>>()?);
        let (vector, own) = operands::vector(&of.call_method1(intern!(py, "reshape"), (-1,))?)?;
        on.get_or_insert(machine(Some(&vector.machine()))?);
        kind.get_or_insert(own);
        vectors.push(vector);
    }
    let (Some(kind), Some(on)) = (kind, on) else { return Err(PyValueError::new_err("einsum: no operands")) };
    if let Some(device) = device.filter(|device| *device != on.name()) {
        return Err(PyValueError::new_err(format!("device: {device:?}, but the operands are on {:?}", on.name())));
    }
    let ring = Semiring::new(semiring, vectors[0].ty()).raise()?;
    let views = vectors.iter().zip(&shapes).map(|(x, shape)| DenseView::vector(x, Layout::row_major(shape)?));
    let views = views.collect::<sparring::Result<Vec<_>>>().raise()?;
    let einsum = Einsum::new(expression, &views).raise()?;
    let places = shapes.iter().map(|shape| shape.iter().product::<usize>()).sum();
    let found = on.compute(py, places, || on.einsum_vectors(&ring, &einsum))?;
    let shape = result_shape(expression, &shapes);
    operands::give_vector(py, found, &kind)?.call_method1(intern!(py, "reshape"), (shape,))
}

/// The contraction of dense arrays over any semiring, like ``numpy.einsum`` over + and ×.
///
/// Parameters
/// ----------
/// expression : str
///     A letter for each index: ``"bij,bjk->bik"``.
/// operands : arrays
///     Of NumPy; or all of CuPy, or others in the memory of one GPU, which then computes: the result is of the same kind.
/// semiring : str
/// device : str, optional
///     ``"cuda:0"``: arrays of NumPy are sent to this GPU, and the result comes back. For arrays on a GPU, none but theirs.
///
/// Examples
/// --------
/// >>> import numpy as np, sparring as sp
/// >>> a = np.arange(4.0).reshape(2, 2)
/// >>> sp.einsum("ij,jk->ik", a, a)
/// array([[ 2.,  3.],
///        [ 6., 11.]])
/// >>> sp.einsum("ij,jk->ik", a, a, semiring="min_plus")
/// array([[0., 1.],
///        [2., 3.]])
#[pyfunction]
#[pyo3(signature = (expression, *operands, semiring="plus_times", device=None))]
pub(crate) fn einsum<'py>(
    py: Python<'py>,
    expression: &str,
    operands: &Bound<'py, pyo3::types::PyTuple>,
    semiring: &str,
    device: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    if !expression.contains("->") {
        return Err(PyValueError::new_err(format!(
            "expression: {expression:?} needs -> and the indices of the result"
        )));
    }
    let there = operands.iter().map(|of| arrays::is_on_device(&of)).collect::<PyResult<Vec<_>>>()?;
    if there.contains(&true) {
        if there.contains(&false) {
            return Err(PyTypeError::new_err("operands: some are in a GPU's memory, others are not"));
        }
        return einsum_on_device(py, expression, operands, semiring, device);
    }
    let on = machine(device)?;
    let given = operands.iter().map(|of| arrays::as_array(&of, None, "operands")).collect::<PyResult<Vec<_>>>()?;
    let mut ty = None;
    for of in &given {
        let own = arrays::type_of(&of.dtype(), "operands")?;
        ty = Some(ty.map_or(Ok(own), |ty| promoted(py, ty, own))?);
    }
    let ty = ty.ok_or_else(|| PyValueError::new_err("einsum: no operands"))?;
    let (mut values, mut shapes) = (Vec::new(), Vec::new());
    for of in &given {
        let of = arrays::as_array(of.as_any(), Some(name_of(ty)), "operands")?;
        let (own, shape) = Values::of(of.as_any(), "operands")?;
        values.push(own);
        shapes.push(shape);
    }
    let ring = Semiring::new(semiring, ty).raise()?;
    let places = shapes.iter().map(|shape| shape.iter().product::<usize>()).sum();
    // + and × of f64 have compiled loops.
    let found = match on.typed::<Cpu>() {
        Some(cpu) if ty == Type::F64 && ring.formula().name().as_deref() == Some("plus_times") => {
            let views = views(&values, &shapes, |x, layout| View::new(x.get::<f64>().unwrap_or_default(), layout))?;
            let einsum = Einsum::new(expression, &views).raise()?;
            let ring = PlusTimes::<f64>::default();
            Array::of(on.compute(py, places, || cpu.einsum(ring, einsum).eval())?.into_values())
        }
        _ => {
            let views = views(&values, &shapes, AnyView::new)?;
            let einsum = Einsum::new(expression, &views).raise()?;
            on.compute(py, places, || on.einsum(&ring, &einsum))?
        }
    };
    let shape = result_shape(expression, &shapes);
    array(py, found)?.call_method1(intern!(py, "reshape"), (shape,))
}
