//! Distances and nearest neighbors, behind `sparring.neighbors`.

use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use sparring::algebra::{Array, Slice, SliceMut, Type};
use sparring::distance::{AnyMetric, Measure, Metric, Options, Precision};
use sparring::par::filled;
use sparring::runtime::{Comparison, Matrix, Neighbours, RowIndex};

use crate::arrays::{self, array, collected, name_of};
use crate::errors::Raise;
use crate::machines::machine;
use crate::matrix::PyMatrix;
use crate::operands;

/// Metric and options of a comparison.
#[derive(Clone)]
struct Query {
    measure: Arc<dyn Measure>,
    options: Options,
}

impl Query {
    fn new(metric: &str, p: Option<f64>, normalize: Option<bool>, single: bool, exclude_self: bool) -> PyResult<Self> {
        let measure = Arc::new(AnyMetric::named(metric, p).raise()?);
        let precision = if single { Precision::Entries } else { Precision::Double };
        Ok(Self { measure, options: Options { normalize, precision, exclude_self, ..Options::default() } })
    }
    /// The comparison of the rows of both matrices, converted to a common type.
    fn of(self, x: &Bound<'_, PyAny>, y: Option<&Bound<'_, PyAny>>) -> PyResult<Comparison> {
        let (x, y) = (rows(x)?, y.map(rows).transpose()?);
        let (x, y) = match y {
            Some(y) if y.ty() != x.ty() => (cast(&x, Type::F64)?, Some(cast(&y, Type::F64)?)),
            y => (x, y),
        };
        Ok(Comparison { measure: self.measure, x, y, options: self.options })
    }
}

/// The matrix of rows: float32 is kept, others are converted to float64.
fn rows(a: &Bound<'_, PyAny>) -> PyResult<Matrix> {
    let (a, _) = operands::matrix(a)?;
    match a.ty() {
        Type::F32 | Type::F64 => Ok(a),
        ty @ (Type::ComplexF32 | Type::ComplexF64 | Type::Struct(_)) => {
            Err(PyTypeError::new_err(format!("distances between rows of {} are not supported", name_of(ty))))
        }
        _ => cast(&a, Type::F64),
    }
}

fn cast(a: &Matrix, ty: Type) -> PyResult<Matrix> {
    Python::attach(|py| operands::cast(py, a, ty))
}

/// Number of pairs of rows.
fn pairs((n, m): (usize, usize)) -> usize {
    n.saturating_mul(m)
}

fn copy_of(values: Slice<'_>) -> PyResult<Array> {
    Ok(match values.get::<f32>() {
        Some(values) => Array::of(arrays::copy_of(values).raise()?),
        None => Array::of(arrays::copy_of(values.get::<f64>().unwrap_or_default()).raise()?),
    })
}

/// Indices and distances of neighbors, n rows of k, and the algorithm.
type KnnResult<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, String);

fn knn_result<'py>(py: Python<'py>, near: &Neighbours, n: usize) -> PyResult<KnnResult<'py>> {
    let k = near.k();
    let indices = near.indices();
    let indices = collected(indices.len(), indices.iter().map(|&i| Ok(i64::from(i))), "indices")?;
    let (indices, distances) = (array(py, Array::of(indices))?, array(py, copy_of(near.distances())?)?);
    let shaped = |of: Bound<'py, PyAny>| of.call_method1(intern!(py, "reshape"), (n, k));
    Ok((shaped(indices)?, shaped(distances)?, near.explain().into()))
}

/// The k nearest rows of Y for each row of X.
#[pyfunction]
#[pyo3(signature = (x, y, k, metric, p=None, normalize=None, single=false, exclude_self=false, device=None))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn nearest<'py>(
    x: &Bound<'py, PyAny>,
    y: Option<&Bound<'py, PyAny>>,
    k: usize,
    metric: &str,
    p: Option<f64>,
    normalize: Option<bool>,
    single: bool,
    exclude_self: bool,
    device: Option<&str>,
) -> PyResult<KnnResult<'py>> {
    let (py, on, query) = (x.py(), machine(device)?, Query::new(metric, p, normalize, single, exclude_self)?);
    let comparison = query.of(x, y)?;
    let n = comparison.shape().0;
    let near = on.compute(py, pairs(comparison.shape()), || on.neighbours(&comparison, k))?;
    knn_result(py, &near, n)
}

/// The rows of Y within `radius` of each row of X: a matrix of distances, including zeros.
#[pyfunction]
#[pyo3(signature = (x, y, radius, metric, p=None, normalize=None, single=false, exclude_self=false, device=None))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn within(
    x: &Bound<'_, PyAny>,
    y: Option<&Bound<'_, PyAny>>,
    radius: f64,
    metric: &str,
    p: Option<f64>,
    normalize: Option<bool>,
    single: bool,
    exclude_self: bool,
    device: Option<&str>,
) -> PyResult<PyMatrix> {
    let (py, on, query) = (x.py(), machine(device)?, Query::new(metric, p, normalize, single, exclude_self)?);
    let comparison = query.of(x, y)?;
    Ok(PyMatrix::new(on.compute(py, pairs(comparison.shape()), || on.within(&comparison, radius)?.download())?))
}

/// All distances, n rows of m.
#[pyfunction]
#[pyo3(signature = (x, y, metric, p=None, normalize=None, single=false, device=None))]
pub(crate) fn distances<'py>(
    x: &Bound<'py, PyAny>,
    y: Option<&Bound<'py, PyAny>>,
    metric: &str,
    p: Option<f64>,
    normalize: Option<bool>,
    single: bool,
    device: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, on, query) = (x.py(), machine(device)?, Query::new(metric, p, normalize, single, false)?);
    let comparison = query.of(x, y)?;
    let ty = comparison.x.ty();
    let (n, m) = comparison.shape();
    let Some(places) = n.checked_mul(m) else { return Err(PyValueError::new_err(format!("{n}×{m} distances"))) };
    let all = match ty {
        Type::F32 => {
            let mut all = filled(places, 0f32, "distances").raise()?;
            on.compute(py, pairs(comparison.shape()), || on.distances_into(&comparison, &mut SliceMut::of(&mut all)))?;
            Array::of(all)
        }
        _ => {
            let mut all = filled(places, 0f64, "distances").raise()?;
            on.compute(py, pairs(comparison.shape()), || on.distances_into(&comparison, &mut SliceMut::of(&mut all)))?;
            Array::of(all)
        }
    };
    array(py, all)?.call_method1(intern!(py, "reshape"), (n, m))
}

/// An index of rows, preprocessed for a metric, for repeated neighbor queries.
///
/// Parameters
/// ----------
/// y : sparse matrix
///     The indexed rows.
/// metric : str
///     A name from :func:`sparring.neighbors.metrics`, or a formula of ``a`` and ``b`` for the term of a column.
/// p : float, optional
///     Exponent of minkowski.
/// normalize : bool, optional
///     Normalizes rows by their sums, for metrics of distributions.
/// single : bool
///     Computes in float32 if the rows are float32.
/// device : str, optional
///     Device of the index.
#[pyclass(name = "Index", module = "sparring.neighbors", frozen, weakref)]
pub(crate) struct PyIndex {
    index: RowIndex,
    device: Option<String>,
    metric: String,
}

#[pymethods]
impl PyIndex {
    #[new]
    #[pyo3(signature = (y, metric="euclidean", *, p=None, normalize=None, single=false, device=None))]
    fn make(
        y: &Bound<'_, PyAny>,
        metric: &str,
        p: Option<f64>,
        normalize: Option<bool>,
        single: bool,
        device: Option<String>,
    ) -> PyResult<Self> {
        let (py, on) = (y.py(), machine(device.as_deref())?);
        let (query, y) = (Query::new(metric, p, normalize, single, false)?, rows(y)?);
        let index = on.compute(py, y.nnz(), || on.index(query.measure, &y, query.options))?;
        Ok(Self { index, device, metric: metric.into() })
    }
    /// Rows and columns.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        self.index.shape()
    }
    /// Distances to the k nearest rows for each row of X, and their indices: n rows of k each.
    #[pyo3(signature = (x, k))]
    fn kneighbors<'py>(&self, x: &Bound<'py, PyAny>, k: usize) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let (py, on, x) = (x.py(), machine(self.device.as_deref())?, cast(&rows(x)?, self.index.ty())?);
        let near =
            on.compute(py, pairs((x.shape().0, self.index.shape().0)), || on.knn_of_index(&self.index, &x, k))?;
        let (indices, distances, _) = knn_result(py, &near, x.shape().0)?;
        Ok((distances, indices))
    }
    /// The rows within ``radius`` of each row of X: a matrix of distances, including zeros.
    #[pyo3(signature = (x, radius))]
    fn radius_neighbors(&self, x: &Bound<'_, PyAny>, radius: f64) -> PyResult<PyMatrix> {
        let (py, on, x) = (x.py(), machine(self.device.as_deref())?, cast(&rows(x)?, self.index.ty())?);
        Ok(PyMatrix::new(on.compute(py, pairs((x.shape().0, self.index.shape().0)), || {
            on.radius_of_index(&self.index, &x, radius)?.download()
        })?))
    }
    /// Loads an index from a file written by :meth:`save`, on any device.
    #[staticmethod]
    #[pyo3(signature = (path, *, device=None))]
    fn load(py: Python<'_>, path: std::path::PathBuf, device: Option<String>) -> PyResult<Self> {
        let on = machine(device.as_deref())?;
        let metric = format!("the metric of {}", path.display());
        Ok(Self { index: on.compute(py, usize::MAX, || on.load_index(path))?, device, metric })
    }
    /// Writes the index to a file.
    fn save(&self, py: Python<'_>, path: std::path::PathBuf) -> PyResult<()> {
        py.detach(|| self.index.save(path)).raise()
    }
    fn __repr__(&self) -> String {
        let ((n, columns), ty) = (self.index.shape(), name_of(self.index.ty()));
        format!("<sparring.neighbors.Index of {n} rows of {columns} columns, {ty}, by {}>", self.metric)
    }
}

/// Names of the metrics.
#[pyfunction]
pub(crate) fn metrics() -> Vec<String> {
    let mut all: Vec<String> = Metric::ALL.iter().map(|metric| metric.name().to_string()).collect();
    all.push("minkowski".into());
    all.sort();
    all.dedup();
    all
}

/// Whether the largest values of a metric are the nearest.
#[pyfunction]
#[pyo3(signature = (metric, p=None))]
pub(crate) fn is_similarity(metric: &str, p: Option<f64>) -> PyResult<bool> {
    Ok(AnyMetric::named(metric, p).raise()?.is_similarity())
}

/// The functions of `sparring._sparring._neighbors`.
pub(crate) fn module<'py>(py: Python<'py>) -> PyResult<Bound<'py, PyModule>> {
    let m = PyModule::new(py, "_neighbors")?;
    m.add_class::<PyIndex>()?;
    macro_rules! functions {
        ($($name:ident)*) => {
            $(m.add_function(wrap_pyfunction!($name, &m)?)?;)*
        };
    }
    functions! { distances is_similarity metrics nearest within }
    Ok(m)
}
