//! Readers and writers of files, behind `sparring.io`.

use std::path::PathBuf;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyList;
use sparring::algebra::{Array, Slice};
use sparring::io::{
    self, CsvOptions, EdgeOptions, LabeledMatrix, Labels, MatlabOptions, NumpyOptions, ReadOptions, Repeated,
    SvmlightOptions, WriteOptions, read_csv_with, read_dimacs_with, read_edges_with, read_mat_with,
    read_matrix_market_with, read_metis_with, read_npy_with, read_npz_with, read_svmlight_with, write_csv,
    write_matrix_market_any, write_npy, write_npz, write_svmlight,
};
use sparring::runtime::Matrix;
use sparring::tensor::Kruskal;
use sparring::{Dense, Pattern, Result};

use crate::arrays::{Values, array, as_array};
use crate::errors::Raise;
use crate::machines::machine;
use crate::matrix::PyMatrix;
use crate::operands;
use crate::tensors::dense_factors;

/// Maximum bytes of uncompressed text.
fn most(max_bytes: Option<u64>) -> u64 {
    max_bytes.unwrap_or(u64::MAX)
}

/// A matrix, row labels, column names, and the original numbers of the rows in the file.
type Read<'py> = (PyMatrix, Vec<String>, Vec<String>, Bound<'py, PyAny>);

fn read(py: Python<'_>, entries: impl FnOnce() -> Result<LabeledMatrix> + Send) -> PyResult<Read<'_>> {
    let found = machine(None)?.compute(py, usize::MAX, entries)?;
    let texts = |labels: &Labels| labels.iter().map(str::to_owned).collect();
    let (labels, columns) = (texts(&found.labels), texts(&found.columns));
    let made = Matrix::new(found.pattern, found.values).raise()?;
    Ok((PyMatrix::new(made), labels, columns, array(py, Array::of(found.ids))?))
}

/// The matrix of a Matrix Market file, in the type of its banner.
#[pyfunction]
#[pyo3(signature = (path, lenient, max_bytes))]
pub(crate) fn read_matrix_market(
    py: Python<'_>,
    path: PathBuf,
    lenient: bool,
    max_bytes: Option<u64>,
) -> PyResult<PyMatrix> {
    let on = machine(None)?;
    let made = on.compute(py, usize::MAX, || {
        let options = ReadOptions::new().lenient(lenient).max_bytes(most(max_bytes));
        let (pattern, values) = read_matrix_market_with(path, &options)?.any()?;
        Matrix::new(pattern, values)
    })?;
    Ok(PyMatrix::new(made))
}

/// The table of a CSV file.
#[pyfunction]
#[pyo3(signature = (path, header, delimiter, max_bytes))]
pub(crate) fn read_csv<'py>(
    py: Python<'py>,
    path: PathBuf,
    header: Option<bool>,
    delimiter: &str,
    max_bytes: Option<u64>,
) -> PyResult<Read<'py>> {
    let &[delimiter] = delimiter.as_bytes() else {
        return Err(PyValueError::new_err(format!("delimiter: {delimiter:?} is not one character")));
    };
    read(py, || {
        let options = CsvOptions::new().delimiter(delimiter).max_bytes(most(max_bytes));
        read_csv_with(path, &if let Some(header) = header { options.header(header) } else { options })
    })
}

/// The rows and labels of an svmlight file.
#[pyfunction]
#[pyo3(signature = (path, zero_based, columns, max_bytes))]
pub(crate) fn read_svmlight<'py>(
    py: Python<'py>,
    path: PathBuf,
    zero_based: bool,
    columns: Option<usize>,
    max_bytes: Option<u64>,
) -> PyResult<Read<'py>> {
    read(py, || {
        let options = SvmlightOptions::new().zero_based(zero_based).max_bytes(most(max_bytes));
        read_svmlight_with(path, &if let Some(n) = columns { options.columns(n) } else { options })
    })
}

/// The adjacency matrix of an edge list, or of a METIS or DIMACS graph.
#[pyfunction]
#[pyo3(signature = (path, format, zero_based, undirected, bipartite, renumber, named, repeated, lenient, max_bytes))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn read_graph<'py>(
    py: Python<'py>,
    path: PathBuf,
    format: &str,
    zero_based: Option<bool>,
    undirected: Option<bool>,
    bipartite: bool,
    renumber: bool,
    named: bool,
    repeated: Option<&str>,
    lenient: bool,
    max_bytes: Option<u64>,
) -> PyResult<Read<'py>> {
    let repeated = match repeated {
        None => Repeated::default(),
        Some("sum") => Repeated::Sum,
        Some("min") => Repeated::Min,
        Some("max") => Repeated::Max,
        Some(other) => {
            return Err(PyValueError::new_err(format!("repeated: {other:?} is none of 'sum', 'min', 'max'")));
        }
    };
    let options = EdgeOptions::new().bipartite(bipartite).renumber(renumber).named(named).repeated(repeated);
    let options = options.lenient(lenient).max_bytes(most(max_bytes));
    let options = zero_based.map_or(options, |yes| options.zero_based(yes));
    let options = undirected.map_or(options, |yes| options.undirected(yes));
    match format {
        "metis" => read(py, || read_metis_with(path, &options)),
        "dimacs" => read(py, || read_dimacs_with(path, &options)),
        _ => read(py, || read_edges_with(path, &options)),
    }
}

/// A matrix of a MAT-file.
#[pyfunction]
#[pyo3(signature = (path, variable, max_bytes))]
pub(crate) fn read_mat<'py>(
    py: Python<'py>,
    path: PathBuf,
    variable: Option<&str>,
    max_bytes: Option<u64>,
) -> PyResult<Read<'py>> {
    read(py, || {
        let options = MatlabOptions::new().max_bytes(most(max_bytes));
        read_mat_with(path, &if let Some(name) = variable { options.variable(name) } else { options })
    })
}

/// The matrix of a file written by `scipy.sparse.save_npz`, or of a two-dimensional array written by `numpy.save`.
#[pyfunction]
#[pyo3(signature = (path, is_archive, max_bytes))]
pub(crate) fn read_numpy<'py>(
    py: Python<'py>,
    path: PathBuf,
    is_archive: bool,
    max_bytes: Option<u64>,
) -> PyResult<Read<'py>> {
    read(py, || {
        let options = NumpyOptions::new().max_bytes(most(max_bytes));
        if is_archive { read_npz_with(path, &options) } else { read_npy_with(path, &options) }
    })
}

/// Writes a matrix in the named format.
#[pyfunction]
#[pyo3(signature = (path, a, format, comment, symmetric, pattern_only, labels))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn write(
    py: Python<'_>,
    path: PathBuf,
    a: &Bound<'_, PyAny>,
    format: &str,
    comment: Option<&str>,
    symmetric: bool,
    pattern_only: bool,
    labels: Vec<String>,
) -> PyResult<()> {
    let a = operands::matrix(a)?.0.download().raise()?;
    let (Some(pattern), Some(values)) = (a.pattern(), a.values()) else {
        return Err(PyTypeError::new_err(format!("a matrix of {} cannot be written", a.ty())));
    };
    let options = comment.map_or_else(WriteOptions::new, |text| WriteOptions::new().comment(text));
    let options = if symmetric { options.symmetric() } else { options };
    let options = if pattern_only { options.pattern_only() } else { options };
    let work = || -> Result<()> {
        let labels = Labels::of(labels.iter().map(String::as_str))?;
        written(&path, pattern, values, format, &labels, &options)
    };
    machine(None)?.compute(py, usize::MAX, work)
}

/// The weights and factors of a Kruskal tensor.
#[pyfunction]
pub(crate) fn read_ktensor(py: Python<'_>, path: PathBuf) -> PyResult<(Bound<'_, PyAny>, Bound<'_, PyList>)> {
    let (weights, factors) = machine(None)?.compute(py, usize::MAX, || io::read_ktensor(path))?.into_parts();
    Ok((array(py, Array::of(weights))?, dense_factors(py, factors)?))
}

/// Writes weights and factors as a Kruskal tensor.
#[pyfunction]
pub(crate) fn write_ktensor(
    py: Python<'_>,
    path: PathBuf,
    weights: &Bound<'_, PyAny>,
    factors: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let doubles = |of: &Bound<'_, PyAny>, what| -> PyResult<(Vec<f64>, Vec<usize>)> {
        let (values, shape) = Values::of(as_array(of, Some("float64"), what)?.as_any(), what)?;
        Ok((values.slice().get::<f64>().unwrap_or_default().to_vec(), shape))
    };
    let mut all = Vec::new();
    for factor in factors.try_iter()? {
        let (values, shape) = doubles(&factor?, "factors")?;
        let &[rows, columns] = &shape[..] else {
            return Err(PyValueError::new_err(format!("factors: one has {} dimensions, not two", shape.len())));
        };
        all.push(Dense::new(rows, columns, values).raise()?);
    }
    let model = Kruskal::new(doubles(weights, "weights")?.0, all).raise()?;
    py.detach(|| io::write_ktensor(path, &model)).raise()
}

fn written(
    path: &PathBuf,
    pattern: &Pattern,
    values: Slice<'_>,
    format: &str,
    labels: &Labels,
    options: &WriteOptions<'_>,
) -> Result<()> {
    match format {
        "csv" => write_csv(path, pattern, values, options),
        "svmlight" => write_svmlight(path, pattern, values, labels, options),
        "npz" => write_npz(path, pattern, values),
        "npy" => write_npy(path, pattern, values),
        _ => write_matrix_market_any(path, pattern, values, options),
    }
}

/// The functions of `sparring._sparring._io`.
pub(crate) fn module<'py>(py: Python<'py>) -> PyResult<Bound<'py, PyModule>> {
    let m = PyModule::new(py, "_io")?;
    macro_rules! functions {
        ($($name:ident)*) => {
            $(m.add_function(wrap_pyfunction!($name, &m)?)?;)*
        };
    }
    functions! {
        read_csv read_graph read_ktensor read_mat read_matrix_market read_numpy read_svmlight write write_ktensor
    }
    Ok(m)
}
