//! GraphBLAS operations as functions: operators by name or formula, masks, accumulators, `out=`.

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use sparring::Error;
use sparring::algebra::Type;
use sparring::runtime::{Aggregate, BinaryOp, Monoid, Op, Pairing, Semiring, UnaryOp};
use sparring::spgemm::Options;

use crate::arrays::{Values, array, promoted};
use crate::dense::{self, is_dense};
use crate::errors::Raise;
use crate::machines::{On, machine, machine_of_arrays};
use crate::operands::{self, Kind, Operand, cast, cast_vector, either, give_vector, is_array_there, is_vector};
use crate::scalars::{number, scalar};
use crate::sums;
use crate::written::{Written, common};

/// An operand; a CSC matrix becomes the transpose of a CSR matrix.
fn oriented(a: &Bound<'_, PyAny>, flip: &mut bool) -> PyResult<(Operand, Kind)> {
    let found = if is_vector(a) { None } else { operands::columns(a)? };
    match found {
        Some((t, kind)) => {
            *flip = !*flip;
            Ok((Operand::Matrix(t), kind))
        }
        None => either(a),
    }
}

/// The operands of an elementwise operation; if both are CSC, operands and result are transposes.
fn both<'py>(
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    written: &Written<'py>,
) -> PyResult<((Operand, Kind), (Operand, Kind))> {
    if written.is_plain()
        && let Some((left, kind)) = operands::columns(a)?
        && let Some((right, of_b)) = operands::columns(b)?
        && left.shape() == right.shape()
    {
        return Ok(((Operand::Matrix(left), kind), (Operand::Matrix(right), of_b)));
    }
    Ok((either(a)?, either(b)?))
}

/// A·B with a CSC matrix A is (Bᵀ·Aᵀ)ᵀ: A is used without conversion, and so is B if it is CSC too.
fn by_columns<'py>(
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    semiring: &str,
    written: &Written<'py>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = a.py();
    if is_vector(a) || is_vector(b) {
        return Ok(None);
    }
    let Some((left, kind)) = operands::columns(a)? else { return Ok(None) };
    let right = match operands::columns(b)? {
        Some((right, _)) => right,
        None => {
            let (b, on) = (operands::matrix(b)?.0, machine(None)?);
            if !b.is_on_host() {
                return Ok(None);
            }
            on.compute(py, b.nnz(), || on.transpose(&b))?
        }
    };
    if right.shape().1 != left.shape().0 {
        // The error reports the shapes as given.
        return Ok(None);
    }
    let (left, right, ty) = common(py, Operand::Matrix(left), Operand::Matrix(right))?;
    let (ring, options) = (Semiring::new(semiring, ty).raise()?.transposed(), Options::default());
    let on = written.machine(&[&left, &right])?;
    written.run(py, &on, Op::Mxm(&ring, &options), &[&right, &left], &kind).map(Some)
}

/// A·x with a NumPy array over a semiring whose ⊕ is +, so that empty rows are 0: neither x nor the result is copied.
fn with_array<'py>(
    a: &Bound<'py, PyAny>,
    x: &Bound<'py, PyAny>,
    semiring: &str,
    written: &Written<'py>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    // Cheapest tests first: they dominate the time of small products.
    let is_line = x.cast::<PyUntypedArray>().is_ok_and(|x| x.ndim() == 1);
    if !is_line || !adds(semiring) {
        return Ok(None);
    }
    let of_x = Values::of_line(x, "x")?;
    let (py, x, on) = (x.py(), of_x.slice(), written.machine(&[])?);
    if on.is_gpu() || x.ty() == Type::Bool {
        return Ok(None);
    }
    let ring = Semiring::new(semiring, x.ty()).raise()?;
    // × distributes over +, so duplicates need no merging first.
    if semiring == "plus_times"
        && let Some((of, false)) = operands::stored(a)?
        && let Some((row_ptr, columns, values)) = of.entries_of(x)?
    {
        let (shape, values) = ((of.lines, of.across), values.slice());
        let arrays = (row_ptr, columns, values);
        let made = on.compute(py, values.len(), || match on.mxv_of_entries(&ring, shape, arrays, x) {
            // The checked path reports it.
            Err(Error::IndexRange { .. } | Error::RowPointer { .. } | Error::Length { .. }) => Ok(None),
            made => made.map(Some),
        })?;
        if let Some(y) = made {
            return array(py, y).map(Some);
        }
    }
    let Some(a) = operands::by_rows(a)? else { return Ok(None) };
    if x.ty() != a.ty() || x.len() != a.shape().1 || !a.is_on_host() {
        return Ok(None);
    }
    array(py, on.compute(py, a.nnz(), || on.mxv_dense(&ring, &a, x))?).map(Some)
}

/// Whether ⊕ is +.
fn adds(semiring: &str) -> bool {
    semiring.strip_prefix("plus").is_some_and(|rest| rest.starts_with(['_', ',']))
}

/// The same with an array in the memory of a GPU, where the result is computed densely.
fn with_array_there<'py>(
    a: &Bound<'py, PyAny>,
    x: &Bound<'py, PyAny>,
    semiring: &str,
    written: &Written<'py>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    if !adds(semiring) || !is_array_there(x, 1) {
        return Ok(None);
    }
    let Some(a) = operands::by_rows(a)? else { return Ok(None) };
    let (py, (x, kind)) = (x.py(), operands::vector(x)?);
    if x.ty() == Type::Bool || x.len() != a.shape().1 {
        return Ok(None);
    }
    let on = machine_of_arrays(&x.machine(), written.device())?;
    let ty = promoted(py, a.ty(), x.ty())?;
    let (a, x, ring) = (cast(py, &a, ty)?, cast_vector(py, &x, ty)?, Semiring::new(semiring, ty).raise()?);
    let y = on.compute(py, a.nnz(), || on.spmm_vector(&ring, &a, &x, 1))?;
    give_vector(py, y, &kind).map(Some)
}

/// A product of two operands.
pub(crate) fn product<'py>(
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    semiring: &str,
    mut written: Written<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = a.py();
    if is_dense(a) || is_dense(b) {
        return dense::product(a, b, semiring, &written);
    }
    if written.is_plain() {
        if let Some(found) = with_array(a, b, semiring, &written)? {
            return Ok(found);
        }
        if let Some(found) = by_columns(a, b, semiring, &written)? {
            return Ok(found);
        }
    }
    if is_array_there(a, 2) || is_array_there(b, 2) {
        return dense::product(a, b, semiring, &written);
    }
    if written.is_plain()
        && let Some(found) = with_array_there(a, b, semiring, &written)?
    {
        return Ok(found);
    }
    // The product with a vector is a vector, for either orientation of the matrix.
    let [flip_a, flip_b] = &mut written.transpose;
    let (left, of_a) = if is_vector(b) { oriented(a, flip_a)? } else { either(a)? };
    let (right, of_b) = if is_vector(a) { oriented(b, flip_b)? } else { either(b)? };
    let (left, right, ty) = common(py, left, right)?;
    let ring = Semiring::new(semiring, ty).raise()?;
    let on = written.machine(&[&left, &right])?;
    let options = Options::default();
    let (op, kind) = match (&left, &right) {
        (Operand::Matrix(_), Operand::Matrix(_)) => (Op::Mxm(&ring, &options), of_a),
        (Operand::Matrix(_), Operand::Vector(_)) => (Op::Mxv(&ring), of_b),
        (Operand::Vector(_), Operand::Matrix(_)) => (Op::Vxm(&ring), of_a),
        (Operand::Vector(x), Operand::Vector(y)) => {
            // x·y = ⊕ xᵢ ⊗ yᵢ.
            let text = semiring.split_once(',').or_else(|| semiring.split_once('_'));
            let (add, mul) = text.ok_or_else(|| PyValueError::new_err(format!("semiring: {semiring:?}")))?;
            let (mul, add) = (BinaryOp::new(mul, ty).raise()?, Monoid::new(add, ty).raise()?);
            let found = py.detach(|| on.reduce(&add, &on.ewise_mult(&mul, x, y)?)).raise()?;
            return number(py, &found);
        }
    };
    written.run(py, &on, op, &[&left, &right], &kind)
}

/// C = A ⊕.⊗ B, C⟨M⟩ ⊙= A ⊕.⊗ B: the product of two matrices over a semiring.
///
/// Parameters
/// ----------
/// a, b : Matrix, or sparse array or matrix of SciPy or PyData
///     m×k and k×n; the result has the type of ``a``. One of them may be a two-dimensional dense array; then the result
///     is dense, with the identity of ⊕ for empty sums.
/// semiring : str
///     A name, ``'min_plus'``, or ⊕ and a formula of ⊗, ``'min, a + 2*b'``.
/// mask : Matrix or Mask, optional
///     Positions to write: where the mask is nonzero; ``M.S`` where it has an entry, ``~M`` the complement.
/// complement : bool
///     Complements the mask.
/// accum : str, optional
///     An operator that accumulates the result into ``out``.
/// replace : bool
///     Deletes entries of ``out`` outside the mask.
/// out : Matrix, optional
///     Written in place, and returned.
/// transpose_a, transpose_b : bool
///     Transposes an operand.
/// device : str, optional
///     Device of the computation, by default that of the operands.
///
/// Examples
/// --------
/// >>> import numpy as np, scipy.sparse, sparring as sp
/// >>> a = scipy.sparse.csr_array(np.array([[0., 2.], [3., 0.]]))
/// >>> sp.mxm(a, a, "min_plus").toarray()
/// array([[5., 0.],
///        [0., 5.]])
#[pyfunction]
#[pyo3(signature = (a, b, semiring="plus_times", *, mask=None, complement=false, accum=None, replace=false, out=None,
    transpose_a=false, transpose_b=false, device=None))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn mxm<'py>(
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    semiring: &str,
    mask: Option<Bound<'py, PyAny>>,
    complement: bool,
    accum: Option<String>,
    replace: bool,
    out: Option<Bound<'py, PyAny>>,
    transpose_a: bool,
    transpose_b: bool,
    device: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
    if is_vector(a) || is_vector(b) {
        return Err(PyTypeError::new_err("mxm multiplies matrices: use mxv or vxm for a vector"));
    }
    let written = Written::new((mask, complement, accum, replace, out, device, [transpose_a, transpose_b]));
    product(a, b, semiring, written)
}

/// y = A ⊕.⊗ x, y⟨m⟩ ⊙= A ⊕.⊗ x: the product of a matrix and a vector over a semiring.
///
/// Parameters are those of :func:`mxm`, with ``x`` a Vector or a one-dimensional array; the result has its type.
///
/// Examples
/// --------
/// >>> import numpy as np, scipy.sparse, sparring as sp
/// >>> a = scipy.sparse.csr_array(np.array([[0., 2.], [3., 0.]]))
/// >>> sp.mxv(a, np.array([1., 10.]))
/// array([20.,  3.])
#[pyfunction]
#[pyo3(signature = (a, x, semiring="plus_times", *, mask=None, complement=false, accum=None, replace=false, out=None,
    transpose_a=false, device=None))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn mxv<'py>(
    a: &Bound<'py, PyAny>,
    x: &Bound<'py, PyAny>,
    semiring: &str,
    mask: Option<Bound<'py, PyAny>>,
    complement: bool,
    accum: Option<String>,
    replace: bool,
    out: Option<Bound<'py, PyAny>>,
    transpose_a: bool,
    device: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
    if is_vector(a) || !is_vector(x) {
        return Err(PyTypeError::new_err("mxv multiplies a matrix and a vector"));
    }
    let written = Written::new((mask, complement, accum, replace, out, device, [transpose_a, false]));
    product(a, x, semiring, written)
}

/// yᵀ = xᵀ ⊕.⊗ A, yᵀ⟨m⟩ ⊙= xᵀ ⊕.⊗ A: the product of a vector and a matrix over a semiring.
///
/// Parameters are those of :func:`mxv`.
#[pyfunction]
#[pyo3(signature = (x, a, semiring="plus_times", *, mask=None, complement=false, accum=None, replace=false, out=None,
    transpose_a=false, device=None))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn vxm<'py>(
    x: &Bound<'py, PyAny>,
    a: &Bound<'py, PyAny>,
    semiring: &str,
    mask: Option<Bound<'py, PyAny>>,
    complement: bool,
    accum: Option<String>,
    replace: bool,
    out: Option<Bound<'py, PyAny>>,
    transpose_a: bool,
    device: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
    if is_vector(a) || !is_vector(x) {
        return Err(PyTypeError::new_err("vxm multiplies a vector and a matrix"));
    }
    let written = Written::new((mask, complement, accum, replace, out, device, [false, transpose_a]));
    product(x, a, semiring, written)
}

macro_rules! elementwise {
    ($($(#[$doc:meta])* $name:ident $op:expr, $default:tt;)*) => {$(
        $(#[$doc])*
        #[pyfunction]
        #[pyo3(signature = (a, b, op=$default, *, mask=None, complement=false, accum=None, replace=false, out=None,
            transpose_a=false, transpose_b=false, device=None))]
        #[allow(clippy::too_many_arguments, reason = "keywords of Python")]
        pub(crate) fn $name<'py>(
            a: &Bound<'py, PyAny>,
            b: &Bound<'py, PyAny>,
            op: &str,
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
            let ((left, kind), (right, _)) = both(a, b, &written)?;
            let (left, right, ty) = common(py, left, right)?;
            let op = BinaryOp::new(op, ty).raise()?;
            let on = written.machine(&[&left, &right])?;
            written.run(py, &on, $op(&op), &[&left, &right], &kind)
        }
    )*};
}

elementwise! {
    /// C = A ⊕ B on the union of the patterns: a ⊕ b where both have an entry, else the single entry.
    ///
    /// Parameters are those of :func:`mxm`, with ``op`` an operator by name or a formula of ``a`` and ``b``.
    ewise_add Op::EwiseAdd, "plus";
    /// C = A ⊗ B on the intersection of the patterns.
    ///
    /// Parameters are those of :func:`ewise_add`.
    ewise_mult (|op| Op::Pairs(Pairing::EwiseMult, op)), "times";
    /// The Kronecker product of two matrices: entry (i·p + k, j·q + l) is aᵢⱼ ⊗ bₖₗ, B being p×q.
    ///
    /// Parameters are those of :func:`ewise_add`.
    kronecker (|op| Op::Pairs(Pairing::Kronecker, op)), "times";
}

/// A unary operator, with its scalar bound if given.
fn unary_op(op: &str, ty: Type, thunk: Option<&Bound<'_, PyAny>>) -> PyResult<UnaryOp> {
    let Some(thunk) = thunk else { return UnaryOp::new(op, ty).raise() };
    let made = UnaryOp::new(op, ty).raise()?;
    let takes = made.takes_scalar().unwrap_or(ty);
    made.with(scalar(thunk, takes)?).raise()
}

macro_rules! of_entries {
    ($($(#[$doc:meta])* $name:ident $op:ident;)*) => {$(
        $(#[$doc])*
        #[pyfunction]
        #[pyo3(signature = (a, op, thunk=None, *, mask=None, complement=false, accum=None, replace=false, out=None,
            transpose_a=false, device=None))]
        #[allow(clippy::too_many_arguments, reason = "keywords of Python")]
        pub(crate) fn $name<'py>(
            a: &Bound<'py, PyAny>,
            op: &str,
            thunk: Option<&Bound<'py, PyAny>>,
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
            let op = unary_op(op, of.ty(), thunk)?;
            let on = written.machine(&[&of])?;
            written.run(a.py(), &on, Op::$op(&op), &[&of], &kind)
        }
    )*};
}

of_entries! {
    /// C = f(A), elementwise.
    ///
    /// Parameters
    /// ----------
    /// a : Matrix, Vector, or an array of SciPy or NumPy
    ///     The entries; the result has its type.
    /// op : str
    ///     An operator by name, ``'sqrt'``, or a formula of the entry ``a``, its row ``i``, its column ``j`` and the
    ///     scalar ``s``: ``'a / (1 + s)'``.
    /// thunk : number, optional
    ///     The scalar.
    ///
    /// The other parameters are those of :func:`mxm`.
    apply Apply;
    /// The entries that satisfy an operator: ``'tril'``, ``'valuegt'`` with a scalar, or a formula, ``'i < j'``.
    ///
    /// Parameters are those of :func:`apply`.
    select Select;
}

/// ⊕ over all entries, as a number: ``'plus'``, ``'max'``, any monoid by name or formula.
#[pyfunction]
#[pyo3(signature = (a, monoid="plus", *, device=None))]
pub(crate) fn reduce<'py>(a: &Bound<'py, PyAny>, monoid: &str, device: Option<String>) -> PyResult<Bound<'py, PyAny>> {
    if device.is_none()
        && monoid == "plus"
        && let Some(sum) = sums::of_all(a)?
    {
        return number(a.py(), &sum);
    }
    // The orientation does not matter for a full reduction.
    let (of, kind) = oriented(a, &mut false)?;
    let written = Written::on(device);
    let (monoid, on) = (Monoid::new(monoid, of.ty()).raise()?, written.machine(&[&of])?);
    written.run(a.py(), &on, Op::Reduce(&monoid), &[&of], &kind)
}

/// ⊕ over the entries of each row, as a vector; of columns with ``transpose_a``. Empty rows have no entry.
///
/// Parameters are those of :func:`apply`, with a monoid instead of the operator.
#[pyfunction]
#[pyo3(signature = (a, monoid="plus", *, mask=None, complement=false, accum=None, replace=false, out=None,
    transpose_a=false, device=None))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn reduce_rows<'py>(
    a: &Bound<'py, PyAny>,
    monoid: &str,
    mask: Option<Bound<'py, PyAny>>,
    complement: bool,
    accum: Option<String>,
    replace: bool,
    out: Option<Bound<'py, PyAny>>,
    transpose_a: bool,
    device: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut written = Written::new((mask, complement, accum, replace, out, device, [transpose_a, false]));
    if monoid == "plus"
        && written.goes_anywhere()
        && let Some(found) = sums::of_lines(a, transpose_a)?
    {
        return operands::give_vector(a.py(), found, &Kind::Own);
    }
    let (of, on) = matrix_of(a, &mut written)?;
    let monoid = Monoid::new(monoid, of.ty()).raise()?;
    written.run(a.py(), &on, Op::ReduceRows(&monoid), &[&of], &Kind::Own)
}

/// Aggregates of each row: ``'count'``, ``'mean'``, ``'argmin'``, ``'argmax'``; of columns with ``transpose_a``.
///
/// Parameters are those of :func:`reduce_rows`.
#[pyfunction]
#[pyo3(signature = (a, what, *, transpose_a=false, device=None))]
pub(crate) fn aggregate<'py>(
    a: &Bound<'py, PyAny>,
    what: &str,
    transpose_a: bool,
    device: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let what = match what {
        "count" => Aggregate::Count,
        "mean" => Aggregate::Mean,
        "argmin" => Aggregate::ArgMin,
        "argmax" => Aggregate::ArgMax,
        _ => return Err(PyValueError::new_err(format!("{what:?} is none of 'count', 'mean', 'argmin', 'argmax'"))),
    };
    let mut written = Written::on(device);
    written.transpose = [transpose_a, false];
    let (of, on) = matrix_of(a, &mut written)?;
    written.run(a.py(), &on, Op::Aggregate(what), &[&of], &Kind::Own)
}

/// The transpose of a matrix.
///
/// Parameters are those of :func:`mxm`.
#[pyfunction]
#[pyo3(signature = (a, *, mask=None, complement=false, accum=None, replace=false, out=None, device=None))]
pub(crate) fn transpose<'py>(
    a: &Bound<'py, PyAny>,
    mask: Option<Bound<'py, PyAny>>,
    complement: bool,
    accum: Option<String>,
    replace: bool,
    out: Option<Bound<'py, PyAny>>,
    device: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let written = Written::new((mask, complement, accum, replace, out, device, [false; 2]));
    let (found, kind) = operands::matrix(a)?;
    let of = Operand::Matrix(found);
    let on = written.machine(&[&of])?;
    written.run(a.py(), &on, Op::Transpose, &[&of], &kind)
}

/// A matrix operand, and the machine of an operation on it.
fn matrix_of<'py>(a: &Bound<'py, PyAny>, written: &mut Written<'py>) -> PyResult<(Operand, On)> {
    let of = match operands::columns(a)? {
        Some((t, _)) => {
            written.transpose[0] = !written.transpose[0];
            Operand::Matrix(t)
        }
        None => Operand::Matrix(operands::matrix(a)?.0),
    };
    let on = written.machine(&[&of])?;
    Ok((of, on))
}
