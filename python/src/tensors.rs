//! Sparse tensors, their products with factors, CP, and contractions of dense arrays.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyList;
use sparring::Cpu;
use sparring::algebra::{Array, PlusTimes, Slice, Type};
use sparring::contract::{AnyView, Einsum, Layout, View};
use sparring::factor::{CpAls, Sweep};
use sparring::io::{FrosttOptions, read_frostt_with};
use sparring::runtime::{Semiring, Tensor};

use crate::arrays::{self, Values, array, asked_type, name_of, promoted};
use crate::errors::Raise;
use crate::machines::machine;

/// A sparse tensor of any order: values at places, each of them an index for every mode.
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

#[pymethods]
impl PyTensor {
    #[new]
    #[pyo3(signature = (indices, values, shape))]
    fn make(indices: &Bound<'_, PyAny>, values: &Bound<'_, PyAny>, shape: Vec<usize>) -> PyResult<Self> {
        let py = values.py();
        let asarray = py.import("numpy")?.getattr("asarray")?;
        let mut modes = Vec::with_capacity(shape.len());
        for (mode, line) in indices.try_iter()?.enumerate() {
            let bound = shape.get(mode).copied().ok_or_else(|| {
                PyValueError::new_err(format!("indices of more than {} modes, which shape has", shape.len()))
            })?;
            let wide = asarray.call1((line?, "int64"))?;
            let found = arrays::copied(&wide, "indices")?.into_vec::<i64>().unwrap_or_default();
            let check = |(position, &i): (usize, &i64)| {
                let inside = u64::try_from(i).ok().filter(|&i| i < bound as u64);
                inside.ok_or_else(|| {
                    PyIndexError::new_err(format!("indices[{mode}]: number {position} is {i}, not below {bound}"))
                })
            };
            modes.push(found.iter().enumerate().map(check).collect::<PyResult<Vec<u64>>>()?);
        }
        if modes.len() != shape.len() {
            let message = format!("indices of {} modes, shape has {}", modes.len(), shape.len());
            return Err(PyValueError::new_err(message));
        }
        let values = arrays::copied(&asarray.call1((values,))?, "values")?;
        Ok(Self(if shape.iter().all(|&n| u32::try_from(n).is_ok()) {
            let narrow = modes.into_iter().map(|mode| mode.into_iter().map(|i| i as u32).collect()).collect();
            Tensor::new::<u32>(shape, narrow, values).raise()?
        } else {
            Tensor::new::<u64>(shape, modes, values).raise()?
        }))
    }
    /// The tensor of a FROSTT file (``.tns``, perhaps compressed): lines of indices from 1 and a value.
    #[staticmethod]
    fn read(py: Python<'_>, path: std::path::PathBuf) -> PyResult<Self> {
        let found = py.detach(|| read_frostt_with::<f64>(path, &FrosttOptions::new())).raise()?;
        Ok(Self(found.into()))
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
    /// Type of the values, as NumPy has it.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        crate::matrix::dtype_of(py, self.0.ty())
    }
    /// The same entries with values of another type.
    fn astype(&self, dtype: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self(self.0.cast(asked_type(dtype.py(), dtype)?).raise()?))
    }
    /// The tensor with entries of one place added up.
    fn sum_duplicates(&self, py: Python<'_>) -> PyResult<Self> {
        let on = machine(None)?;
        let Some(threads) = on.threads() else { return Err(PyValueError::new_err("no threads")) };
        Ok(Self(py.detach(|| self.0.summed(threads)).raise()?))
    }
    fn __repr__(&self) -> String {
        let dims: Vec<String> = self.0.dims().iter().map(usize::to_string).collect();
        format!("<sparring.Tensor of {}, {} with {} entries>", name_of(self.0.ty()), dims.join("×"), self.0.nnz())
    }
}

/// Factors, a matrix for each mode: row-major values of one type, and their rank.
fn factors(of: &Bound<'_, PyAny>, x: &Tensor, mode: usize) -> PyResult<(Vec<Values>, usize)> {
    let py = of.py();
    let name = name_of(x.ty());
    let (mut all, mut rank) = (Vec::new(), None);
    for (m, factor) in of.try_iter()?.enumerate() {
        let factor = py.import("numpy")?.getattr("asarray")?.call1((factor?, name))?;
        let (values, shape) = Values::of(&factor, "factors")?;
        let &[rows, columns] = &shape[..] else {
            return Err(PyValueError::new_err(format!("factors[{m}]: {} dimensions, not two", shape.len())));
        };
        if m != mode && x.dims().get(m) != Some(&rows) {
            let message = format!("factors[{m}]: {rows} rows, the mode has {:?}", x.dims().get(m));
            return Err(PyValueError::new_err(message));
        }
        if *rank.get_or_insert(columns) != columns && m != mode {
            return Err(PyValueError::new_err(format!("factors[{m}]: {columns} columns, others have {rank:?}")));
        }
        all.push(values);
    }
    if all.len() != x.dims().len() {
        return Err(PyValueError::new_err(format!("{} factors of a tensor of {} modes", all.len(), x.dims().len())));
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
///     A matrix for each mode, of as many rows as the mode is long; that of ``mode`` is not read.
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
    let found = py.detach(work).raise()?;
    array(py, found)?.call_method1(intern!(py, "reshape"), (x.dims()[mode], rank))
}

/// What a decomposition found: weights, factors, fit, fits after sweeps, whether it converged, and what ran.
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
    // After each sweep signals are looked at, so that Ctrl-C ends the decomposition.
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
    let found = py.detach(|| {
        let als = CpAls::<f64>::new(rank).sweeps(sweeps).tol(tolerance.unwrap_or(0.0)).seed(seed).starts(starts);
        let als = als.nonnegative(nonnegative).ridge(ridge).on_sweep(watch);
        on.cp_als(&if let Some(limit) = limit { als.time_limit(limit) } else { als }, x)
    });
    if let Some(e) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(e);
    }
    let found = found.raise()?;
    let (weights, of_modes) = found.model.into_parts();
    let list = PyList::empty(py);
    for factor in of_modes {
        let shape = factor.shape();
        list.append(array(py, Array::of(factor.into_values()))?.call_method1(intern!(py, "reshape"), shape)?)?;
    }
    Ok((array(py, Array::of(weights))?, list, found.fit, found.fits, found.converged, found.explain))
}

/// Operands as contractions take them, row-major.
fn views<'a, V>(
    values: &'a [Values],
    shapes: &[Vec<usize>],
    view: impl Fn(Slice<'a>, Layout) -> sparring::Result<V>,
) -> PyResult<Vec<V>> {
    let one = |(values, shape): (&'a Values, &Vec<usize>)| view(values.slice(), Layout::row_major(shape)?);
    values.iter().zip(shapes).map(|pair| one(pair).raise()).collect()
}

/// The contraction of dense arrays over any semiring, as ``numpy.einsum`` has it over + and ×.
///
/// Parameters
/// ----------
/// expression : str
///     A letter for each index: ``"bij,bjk->bik"``.
/// operands : arrays
/// semiring : str
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
#[pyo3(signature = (expression, *operands, semiring="plus_times"))]
pub(crate) fn einsum<'py>(
    py: Python<'py>,
    expression: &str,
    operands: &Bound<'py, pyo3::types::PyTuple>,
    semiring: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let on = machine(None)?;
    let Some((left, right)) = expression.split_once("->") else {
        return Err(PyValueError::new_err(format!(
            "expression: {expression:?} does not say what the result has, behind ->"
        )));
    };
    let asarray = py.import("numpy")?.getattr("asarray")?;
    let given = operands.iter().map(|of| asarray.call1((of,))).collect::<PyResult<Vec<_>>>()?;
    let mut ty = None;
    for of in &given {
        let own = arrays::type_of(of.getattr("dtype")?.cast()?, "operands")?;
        ty = Some(ty.map_or(Ok(own), |ty| promoted(py, ty, own))?);
    }
    let ty = ty.ok_or_else(|| PyValueError::new_err("einsum: no operands"))?;
    let (mut values, mut shapes) = (Vec::new(), Vec::new());
    for of in &given {
        let (own, shape) = Values::of(&asarray.call1((of, name_of(ty)))?, "operands")?;
        values.push(own);
        shapes.push(shape);
    }
    let ring = Semiring::new(semiring, ty).raise()?;
    // + and × of doubles have loops of their own.
    let found = match on.typed::<Cpu>() {
        Some(cpu) if ty == Type::F64 && ring.formula().name().as_deref() == Some("plus_times") => {
            let views = views(&values, &shapes, |x, layout| View::new(x.get::<f64>().unwrap_or_default(), layout))?;
            let einsum = Einsum::new(expression, &views).raise()?;
            Array::of(py.detach(|| cpu.einsum(PlusTimes::<f64>::default(), einsum).eval()).raise()?.into_values())
        }
        _ => {
            let views = views(&values, &shapes, AnyView::new)?;
            let einsum = Einsum::new(expression, &views).raise()?;
            py.detach(|| on.einsum(&ring, &einsum)).raise()?
        }
    };
    // Lengths of the letters of the result.
    let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<Vec<_>>();
    let known: Vec<(char, usize)> =
        left.split(',').zip(&shapes).flat_map(|(text, shape)| letters(text).into_iter().zip(shape.clone())).collect();
    let shape: Vec<usize> = letters(right)
        .into_iter()
        .filter_map(|c| known.iter().find(|(letter, _)| *letter == c).map(|(_, n)| *n))
        .collect();
    array(py, found)?.call_method1(intern!(py, "reshape"), (shape,))
}
