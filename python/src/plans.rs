//! Plans of products, and explanations of operations.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use sparring::par::explained;
use sparring::runtime::{Plan, Semiring};
use sparring::spgemm::Options;

use crate::arrays::promoted;
use crate::errors::Raise;
use crate::machines::machine;
use crate::matrix::PyMatrix;
use crate::operands::{self, give};

/// The structure of a product of two matrices, for any values and any semiring, created by :func:`plan`.
///
/// ``plan(a, b, semiring="plus_times", out=None)`` computes the values for matrices with the patterns of the plan;
/// other patterns are an error.
#[pyclass(name = "Plan", module = "sparring", frozen)]
pub(crate) struct PyPlan {
    plan: Plan,
    on: String,
}

#[pymethods]
impl PyPlan {
    /// Multiplications.
    #[getter]
    fn flops(&self) -> u64 {
        self.plan.flops()
    }
    /// Entries of the result.
    #[getter]
    fn nnz(&self) -> usize {
        self.plan.nnz()
    }
    /// Rows and columns of the result.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        self.plan.shape()
    }
    /// The chosen algorithm, and why.
    fn explain(&self) -> String {
        self.plan.explain()
    }
    /// The product; written in place to ``out``, an earlier result of the plan, if given.
    #[pyo3(signature = (a, b, semiring="plus_times", *, out=None))]
    fn __call__<'py>(
        &self,
        a: &Bound<'py, PyAny>,
        b: &Bound<'py, PyAny>,
        semiring: &str,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = a.py();
        let ((a, kind), (b, _)) = (operands::matrix(a)?, operands::matrix(b)?);
        let ty = promoted(py, a.ty(), b.ty())?;
        let ring = Semiring::new(semiring, ty).raise()?;
        let (a, b) = (operands::cast(py, &a, ty)?, operands::cast(py, &b, ty)?);
        let (on, entries) = (machine(Some(&self.on))?, a.nnz() + b.nnz());
        let Some(out) = out else {
            let c = on.compute(py, entries, || on.numeric(&self.plan, &ring, &a, &b))?;
            return give(py, c, &kind);
        };
        let Ok(c) = out.cast::<PyMatrix>() else {
            let message = format!("out: expected a sparring.Matrix, not {}", out.get_type().name()?);
            return Err(PyTypeError::new_err(message));
        };
        let mut held = c.get().held.lock(py);
        let to = &mut *held;
        on.compute(py, entries, || on.numeric_into(&self.plan, &ring, &a, &b, to))?;
        drop(held);
        Ok(out.clone())
    }
    fn __repr__(&self) -> String {
        let ((m, n), flops) = (self.plan.shape(), self.plan.flops());
        format!("<sparring.Plan of {m}×{n} with {} entries, {flops} products, on {}>", self.plan.nnz(), self.on)
    }
}

/// The structure of A·B, optionally masked, from the patterns alone.
///
/// Parameters
/// ----------
/// a, b : Matrix, or sparse array or matrix of SciPy or PyData
/// mask : Matrix, optional
///     A structural mask, or its complement with ``complement``.
/// device : str, optional
///
/// Examples
/// --------
/// >>> import numpy as np, scipy.sparse, sparring as sp
/// >>> a = scipy.sparse.csr_array(np.array([[0., 2.], [3., 0.]]))
/// >>> plan = sp.plan(a, a)
/// >>> plan
/// <sparring.Plan of 2×2 with 2 entries, 2 products, on cpu>
/// >>> plan(a, a).toarray(), plan(2 * a, a, "min_plus").toarray()
/// (array([[6., 0.],
///        [0., 6.]]), array([[7., 0.],
///        [0., 8.]]))
#[pyfunction]
#[pyo3(signature = (a, b, *, mask=None, complement=false, device=None))]
pub(crate) fn plan(
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    mask: Option<&Bound<'_, PyAny>>,
    complement: bool,
    device: Option<&str>,
) -> PyResult<PyPlan> {
    let py = a.py();
    let ((a, _), (b, _)) = (operands::matrix(a)?, operands::matrix(b)?);
    let mask = mask.map(|mask| operands::matrix(mask)).transpose()?;
    if mask.is_none() && complement {
        return Err(PyValueError::new_err("complement: it needs a mask"));
    }
    let on = machine(device.or((!a.is_on_host()).then(|| a.machine()).as_deref()))?;
    let options = Options::default();
    let mask = mask.as_ref().map(|(mask, _)| (mask, complement));
    let plan = on.compute(py, a.nnz() + b.nnz(), || on.plan_masked(&a, &b, mask, &options))?;
    Ok(PyPlan { plan, on: on.name() })
}

/// Calls a function and explains its operations: the storage forms of operands, the kernels, and the reasons.
///
/// Returns
/// -------
/// result, text
///
/// Examples
/// --------
/// >>> import scipy.sparse, sparring as sp
/// >>> a = scipy.sparse.eye_array(3, format="csr")
/// >>> _, text = sp.explain(sp.transpose, a)
/// >>> print(text)
/// transpose: 3×3 with 3 entries as compressed rows
#[pyfunction]
#[pyo3(signature = (function, *args, **kwargs))]
pub(crate) fn explain<'py>(
    function: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<(Bound<'py, PyAny>, String)> {
    let (result, text) = explained(|| function.call(args, kwargs));
    Ok((result?, text))
}
