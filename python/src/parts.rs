//! Extract, assign, scatter, blocks, diagonals and resizing.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use sparring::runtime::{BinaryOp, Matrix, Op, Scalar};
use sparring::sparse::IndexList;

use crate::arrays::promoted;
use crate::errors::Raise;
use crate::machines::machine;
use crate::matrix::{PyMatrix, index_list};
use crate::operands::{self, Kind, Operand, either, give, is_vector, matrix};
use crate::scalars::{scalar, type_of_number};
use crate::written::{Target, Written, common};

/// Indices of a dimension, by default all.
fn indices(of: Option<&Bound<'_, PyAny>>, dimension: usize) -> PyResult<IndexList> {
    of.map_or_else(|| Ok(IndexList::all()), |of| index_list(of, dimension))
}

/// C = A(I, J): entry (p, q) is the one at (I[p], J[q]); of a vector, entry p is the one at I[p].
///
/// Parameters
/// ----------
/// a : Matrix, Vector, or an array of SciPy or NumPy
///     The result has its type.
/// rows, columns : slice, array of indices or of bools, optional
///     Indices in any order, possibly repeated; all by default. A vector takes only the first.
///
/// The other parameters are those of :func:`mxm`.
///
/// Examples
/// --------
/// >>> import numpy as np, scipy.sparse, sparring as sp
/// >>> a = scipy.sparse.csr_array(np.array([[0., 2.], [3., 0.]]))
/// >>> sp.extract(a, [1, 0, 1], slice(1)).toarray()
/// array([[3.],
///        [0.],
///        [3.]])
#[pyfunction]
#[pyo3(signature = (a, rows=None, columns=None, *, mask=None, complement=false, accum=None, replace=false, out=None,
    transpose_a=false, device=None))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn extract<'py>(
    a: &Bound<'py, PyAny>,
    rows: Option<&Bound<'py, PyAny>>,
    columns: Option<&Bound<'py, PyAny>>,
    mask: Option<Bound<'py, PyAny>>,
    complement: bool,
    accum: Option<String>,
    replace: bool,
    out: Option<Bound<'py, PyAny>>,
    transpose_a: bool,
    device: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let written = Written::new((mask, complement, accum, replace, out, device, [transpose_a, false]));
    let (of, kind) = either(a)?;
    let (m, n) = match &of {
        Operand::Matrix(a) if transpose_a => (a.shape().1, a.shape().0),
        Operand::Matrix(a) => a.shape(),
        Operand::Vector(x) => (x.len(), 1),
    };
    if is_vector(a) && columns.is_some() {
        return Err(PyValueError::new_err("columns: a vector has one dimension"));
    }
    let (rows, columns, on) = (indices(rows, m)?, indices(columns, n)?, written.machine(&[&of])?);
    written.run(a.py(), &on, Op::Extract(&rows, &columns), &[&of], &kind)
}

/// C(I, J) = A, in place: A replaces the submatrix, including absent entries; for a vector, w(I) = u.
///
/// Parameters
/// ----------
/// out : Matrix or Vector
///     Written, and returned.
/// a : Matrix, Vector, an array of SciPy or NumPy, or a number
///     A number is written to every position of (I, J) that the mask allows.
/// rows, columns : slice, array of indices or of bools, optional
///     Target indices, all by default. They must not repeat; :func:`scatter` allows duplicates.
/// mask : Matrix, Vector or Mask, optional
///     Of the shape of ``out``.
///
/// The other parameters are those of :func:`mxm`.
///
/// Examples
/// --------
/// >>> import sparring as sp
/// >>> c = sp.Matrix.empty((2, 3), "int64")
/// >>> sp.assign(c, 7, [0], slice(1, None)).toarray()
/// array([[0, 7, 7],
///        [0, 0, 0]])
#[pyfunction]
#[pyo3(signature = (out, a, rows=None, columns=None, *, mask=None, complement=false, accum=None, replace=false,
    transpose_a=false, device=None))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn assign<'py>(
    out: &Bound<'py, PyAny>,
    a: &Bound<'py, PyAny>,
    rows: Option<&Bound<'py, PyAny>>,
    columns: Option<&Bound<'py, PyAny>>,
    mask: Option<Bound<'py, PyAny>>,
    complement: bool,
    accum: Option<String>,
    replace: bool,
    transpose_a: bool,
    device: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = out.py();
    let target = Target::new(out)?;
    let (m, n) = target.shape(py);
    if matches!(target, Target::Vector(_)) && columns.is_some() {
        return Err(PyValueError::new_err("columns: a vector has one dimension"));
    }
    let (rows, columns, ty) = (indices(rows, m)?, indices(columns, n)?, target.ty(py));
    let is_list = a.is_instance_of::<PyList>() || a.is_instance_of::<PyTuple>();
    let a = &if is_list { py.import("numpy")?.call_method1("asarray", (a,))? } else { a.clone() };
    // The output stays on its device.
    let device = device.or_else(|| target.device(py));
    let written = Written::new((mask, complement, accum, replace, Some(out.clone()), device, [transpose_a, false]));
    if type_of_number(a).is_ok() && !a.hasattr("tocsr")? && !is_vector(a) {
        let (x, on) = (scalar(a, ty)?, written.machine(&[])?);
        return written.run(py, &on, Op::AssignScalar(&x, &rows, &columns), &[], &Kind::Own);
    }
    let of = either(a)?.0.cast(py, ty)?;
    let on = written.machine(&[&of])?;
    written.run(py, &on, Op::Assign(&rows, &columns), &[&of], &Kind::Own)
}

/// `w[indices] = a`.
pub(crate) fn assign_part(out: &Bound<'_, PyAny>, a: &Bound<'_, PyAny>, at: &Bound<'_, PyAny>) -> PyResult<()> {
    assign(out, a, Some(at), None, None, false, None, false, false, None).map(drop)
}

/// w(i) = u(p) ⊕ u(q) ⊕ … over all p, q, … with index i: an assign with duplicate indices.
///
/// Parameters
/// ----------
/// x : Vector or array
/// indices : slice, array of indices or of bools
///     The target index of each element of ``x``.
/// size : int
///     Length of the result.
/// op : str
///     The operator for duplicates, applied in the order of ``x``; on a GPU a monoid's operator.
///
/// The other parameters are those of :func:`mxm`.
///
/// Returns
/// -------
/// Vector
///
/// Examples
/// --------
/// >>> import numpy as np, sparring as sp
/// >>> sp.scatter(np.array([1., 5., 2.]), [3, 0, 3], 4).to_numpy()
/// array([5., 0., 0., 3.])
#[pyfunction]
#[pyo3(signature = (x, indices, size, op="plus", *, mask=None, complement=false, accum=None, replace=false, out=None,
    device=None))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn scatter<'py>(
    x: &Bound<'py, PyAny>,
    indices: &Bound<'py, PyAny>,
    size: usize,
    op: &str,
    mask: Option<Bound<'py, PyAny>>,
    complement: bool,
    accum: Option<String>,
    replace: bool,
    out: Option<Bound<'py, PyAny>>,
    device: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let written = Written::new((mask, complement, accum, replace, out, device, [false; 2]));
    let of = Operand::Vector(operands::vector(x)?.0);
    let (op, list) = (BinaryOp::new(op, of.ty()).raise()?, index_list(indices, size)?);
    let on = written.machine(&[&of])?;
    written.run(x.py(), &on, Op::Scatter(&list, size, &op), &[&of], &Kind::Own)
}

/// C = A ⊕ B on the union of the patterns, with default values for absent entries.
///
/// Parameters
/// ----------
/// a, b : Matrix, Vector, or an array of SciPy or NumPy
/// op : str
///     An operator by name or a formula of ``a`` and ``b``.
/// left, right : number
///     Values for absent entries of ``a``, and of ``b``.
///
/// The other parameters are those of :func:`mxm`.
///
/// Examples
/// --------
/// >>> import numpy as np, scipy.sparse, sparring as sp
/// >>> a = scipy.sparse.csr_array(np.array([[0., 2.], [3., 0.]]))
/// >>> sp.ewise_union(a, a.T, "minus").toarray()
/// array([[ 0., -1.],
///        [ 1.,  0.]])
#[pyfunction]
#[pyo3(signature = (a, b, op="minus", left=None, right=None, *, mask=None, complement=false, accum=None, replace=false,
    out=None, transpose_a=false, transpose_b=false, device=None))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn ewise_union<'py>(
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    op: &str,
    left: Option<&Bound<'py, PyAny>>,
    right: Option<&Bound<'py, PyAny>>,
    mask: Option<Bound<'py, PyAny>>,
    complement: bool,
    accum: Option<String>,
    replace: bool,
    out: Option<Bound<'py, PyAny>>,
    transpose_a: bool,
    transpose_b: bool,
    device: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let written = Written::new((mask, complement, accum, replace, out, device, [transpose_a, transpose_b]));
    let py = a.py();
    let ((x, kind), (y, _)) = (either(a)?, either(b)?);
    let (x, y, ty) = common(py, x, y)?;
    let absent = |of: Option<&Bound<'py, PyAny>>| match of {
        None => Scalar::from(0i8).cast(ty).raise(),
        Some(of) => scalar(of, ty),
    };
    let (left, right, op) = (absent(left)?, absent(right)?, BinaryOp::new(op, ty).raise()?);
    let on = written.machine(&[&x, &y])?;
    written.run(py, &on, Op::EwiseUnion(&op, &left, &right), &[&x, &y], &kind)
}

/// The square matrix with a vector on diagonal ``k``, or diagonal ``k`` of a matrix as a Vector.
///
/// Examples
/// --------
/// >>> import numpy as np, sparring as sp
/// >>> d = sp.diag(np.array([1., 2.]), 1)
/// >>> d.toarray()
/// array([[0., 1., 0.],
///        [0., 0., 2.],
///        [0., 0., 0.]])
/// >>> sp.diag(d, 1).to_numpy()
/// array([1., 2.])
#[pyfunction]
#[pyo3(signature = (a, k=0, *, device=None))]
pub(crate) fn diag<'py>(a: &Bound<'py, PyAny>, k: i64, device: Option<String>) -> PyResult<Bound<'py, PyAny>> {
    let (of, _) = either(a)?;
    let written = Written::on(device);
    let on = written.machine(&[&of])?;
    let op = if matches!(of, Operand::Vector(_)) { Op::Diag(k) } else { Op::Diagonal(k) };
    written.run(a.py(), &on, op, &[&of], &Kind::Own)
}

/// A block matrix from rows of blocks, with the type of the first block.
///
/// Parameters
/// ----------
/// blocks : sequence of sequences of matrices
///     Blocks of a row have the same number of rows, those of a column the same number of columns.
/// device : str, optional
///
/// Examples
/// --------
/// >>> import scipy.sparse, sparring as sp
/// >>> one = scipy.sparse.eye_array(2, format="csr")
/// >>> sp.block([[one, 2 * one]]).toarray()
/// array([[1., 0., 2., 0.],
///        [0., 1., 0., 2.]])
#[pyfunction]
#[pyo3(signature = (blocks, *, device=None))]
pub(crate) fn block<'py>(blocks: &Bound<'py, PyAny>, device: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
    let py = blocks.py();
    let (mut all, mut first, mut ty) = (Vec::new(), None, None);
    for row in blocks.try_iter()? {
        let mut of_row = Vec::new();
        for one in row?.try_iter()? {
            let (one, kind) = matrix(&one?)?;
            first.get_or_insert(kind);
            ty = Some(ty.map_or(Ok(one.ty()), |ty| promoted(py, ty, one.ty()))?);
            of_row.push(one);
        }
        all.push(of_row);
    }
    let (Some(kind), Some(ty)) = (first, ty) else {
        return Err(PyValueError::new_err("blocks: at least one block is needed"));
    };
    let cast = |row: Vec<Matrix>| row.iter().map(|one| operands::cast(py, one, ty)).collect::<PyResult<Vec<_>>>();
    let all = all.into_iter().map(cast).collect::<PyResult<Vec<_>>>()?;
    let rows: Vec<Vec<&Matrix>> = all.iter().map(|row| row.iter().collect()).collect();
    let rows: Vec<&[&Matrix]> = rows.iter().map(|row| &row[..]).collect();
    let elsewhere = all.iter().flatten().find(|one| !one.is_on_host()).map(Matrix::machine);
    let (on, entries) = (machine(device.or(elsewhere.as_deref()))?, all.iter().flatten().map(Matrix::nnz).sum());
    give(py, on.compute(py, entries, || on.concat(&rows))?, &kind)
}

/// The blocks with these numbers of rows and columns, as a list of lists of Matrix.
///
/// Parameters
/// ----------
/// a : Matrix, or sparse array or matrix of SciPy or PyData
/// rows, columns : sequence of int
///     They add up to the shape.
/// device : str, optional
///
/// Examples
/// --------
/// >>> import scipy.sparse, sparring as sp
/// >>> parts = sp.split(scipy.sparse.eye_array(3, format="csr"), [1, 2], [3])
/// >>> [block.shape for row in parts for block in row]
/// [(1, 3), (2, 3)]
#[pyfunction]
#[pyo3(signature = (a, rows, columns, *, device=None))]
pub(crate) fn split(
    a: &Bound<'_, PyAny>,
    rows: Vec<usize>,
    columns: Vec<usize>,
    device: Option<&str>,
) -> PyResult<Vec<Vec<PyMatrix>>> {
    let (py, (a, _)) = (a.py(), matrix(a)?);
    let on = machine(device.or((!a.is_on_host()).then(|| a.machine()).as_deref()))?;
    let parts = on.compute(py, a.nnz(), || on.split(&a, &rows, &columns))?;
    Ok(parts.into_iter().map(|row| row.into_iter().map(PyMatrix::new).collect()).collect())
}

/// The matrix or vector with another shape; entries outside are dropped.
///
/// Parameters
/// ----------
/// a : Matrix, Vector, or an array of SciPy or NumPy
/// shape : (int, int), or int for a vector
///
/// Returns
/// -------
/// Matrix or Vector
#[pyfunction]
#[pyo3(signature = (a, shape))]
pub(crate) fn resize<'py>(a: &Bound<'py, PyAny>, shape: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = a.py();
    let (of, _) = either(a)?;
    let on = Written::on(None).machine(&[&of])?;
    match of {
        Operand::Matrix(a) => {
            let (m, n) =
                shape.extract().map_err(|_| PyTypeError::new_err(format!("shape: two integers, not {shape}")))?;
            give(py, on.compute(py, a.nnz(), || on.resize(&a, m, n))?, &Kind::Own)
        }
        Operand::Vector(x) => {
            let len = shape.extract().map_err(|_| PyTypeError::new_err(format!("shape: an integer, not {shape}")))?;
            operands::give_vector(py, on.compute(py, x.len(), || on.resize_vector(&x, len))?, &Kind::Own)
        }
    }
}
