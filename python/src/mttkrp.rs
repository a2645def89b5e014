//! Products of a sparse tensor with factors.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use sparring::algebra::Type;
use sparring::runtime::{MttkrpPlan, Semiring, Tensor, Vector};

use crate::arrays::{self, Values, array, name_of};
use crate::errors::Raise;
use crate::machines::{On, machine, machine_of_arrays};
use crate::operands::{self, Kind, give_vector};
use crate::tensors::PyTensor;

/// Factors, a matrix per mode, row-major: of the tensor's type, in host memory or in that of one GPU.
enum Factors {
    Host(Vec<Values>),
    There(Vec<Vector>, Kind),
}

/// The factors, and their rank. That of `mode` is read only if no other factor gives the rank.
fn factors(of: &Bound<'_, PyAny>, x: &Tensor, mode: usize) -> PyResult<(Factors, usize)> {
    let dims = x.dims();
    if mode >= dims.len() {
        return Err(PyValueError::new_err(format!("mode {mode} of a tensor of {}", dims.len())));
    }
    // At most one more than needed: an iterator may be infinite.
    let given = of.try_iter()?.take(dims.len() + 1).collect::<PyResult<Vec<_>>>()?;
    if given.len() != dims.len() {
        return Err(PyValueError::new_err(format!("factors: {} of a tensor of {} modes", given.len(), dims.len())));
    }
    let is_read = |m: usize| m != mode || dims.len() == 1;
    let there = (0..dims.len()).filter(|&m| is_read(m)).map(|m| arrays::is_on_device(&given[m]));
    let there = there.collect::<PyResult<Vec<_>>>()?;
    let (mut values, mut vectors, mut kind, mut rank) = (Vec::new(), Vec::new(), None, None);
    for (m, (factor, &expected)) in given.iter().zip(dims).enumerate() {
        if !is_read(m) {
            values.push(Values::none(x.ty()));
            vectors.push(Vector::empty(x.ty(), 0).raise()?);
            continue;
        }
        let shape = if there[0] && arrays::is_on_device(factor)? {
            let (vector, shape, own) = operands::values_there(factor)?;
            vectors.push(vector);
            kind.get_or_insert(own);
            shape
        } else if there.contains(&true) {
            return Err(PyTypeError::new_err("factors: some are in a GPU's memory, others are not"));
        } else {
            let factor = arrays::as_array(factor, Some(name_of(x.ty())), "factors")?;
            let (of, shape) = Values::of(factor.as_any(), "factors")?;
            values.push(of);
            shape
        };
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
    }
    Ok((kind.map_or(Factors::Host(values), |kind| Factors::There(vectors, kind)), rank.unwrap_or(0)))
}

/// The machine of a product: that of the factors if they are on a GPU.
fn machine_of(factors: &Factors, mode: usize, device: Option<&str>) -> PyResult<On> {
    match factors {
        Factors::There(all, _) => {
            let first = all.iter().enumerate().find(|(m, _)| *m != mode).map_or(&all[mode], |(_, first)| first);
            machine_of_arrays(&first.machine(), device)
        }
        Factors::Host(_) => machine(device),
    }
}

/// V = X₍ₘ₎ · (⊙ of the other factors): the product of a sparse tensor, matricized along a mode, with the Khatri–Rao
/// product of factors, over any semiring.
///
/// Cost: O(modes · rank · entries), and a sort of the entries; :func:`mttkrp_plan` sorts them once for many products.
///
/// Parameters
/// ----------
/// x : Tensor
/// factors : sequence of arrays
///     A matrix per mode, with as many rows as the mode is long; that of ``mode`` is not read. Of NumPy; or all of
///     CuPy, or others in the memory of one GPU, which then computes: the result is of the same kind.
/// mode : int
/// semiring : str
/// device : str, optional
///     ``"cuda:0"``: the tensor and factors of NumPy are sent to this GPU, and the result comes back.
///
/// Returns
/// -------
/// array of shape (x.shape[mode], rank)
///
/// Examples
/// --------
/// >>> import numpy as np, sparring as sp
/// >>> x = sp.Tensor([[0, 1], [0, 2], [1, 1]], [1.0, 2.0], shape=(2, 3, 2))
/// >>> sp.mttkrp(x, [np.ones((n, 2)) for n in x.shape], 0)
/// array([[1., 1.],
///        [2., 2.]])
#[pyfunction]
#[pyo3(signature = (x, factors, mode, semiring="plus_times", *, device=None))]
pub(crate) fn mttkrp<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyTensor>,
    factors: &Bound<'py, PyAny>,
    mode: usize,
    semiring: &str,
    device: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let x = &x.get().0;
    let (all, rank) = self::factors(factors, x, mode)?;
    let on = machine_of(&all, mode, device)?;
    let ring = Semiring::new(semiring, x.ty()).raise()?;
    if matches!(x.ty(), Type::F32 | Type::F64) && semiring == "plus_times" {
        let plan = on.compute(py, x.nnz(), || on.mttkrp_plan(x, rank, None, Some(mode)))?;
        return product(py, &on, &plan, &all, mode);
    }
    let work = x.nnz().saturating_mul(rank);
    let found = match &all {
        Factors::Host(values) => {
            let slices: Vec<_> = values.iter().map(Values::slice).collect();
            array(py, on.compute(py, work, || on.mttkrp(&ring, x, &slices, rank, mode))?)?
        }
        Factors::There(vectors, kind) => {
            give_vector(py, on.compute(py, work, || on.mttkrp_vectors(&ring, x, vectors, rank, mode))?, kind)?
        }
    };
    found.call_method1(intern!(py, "reshape"), ((x.dims()[mode], rank),))
}

/// The product by a plan.
fn product<'py>(
    py: Python<'py>,
    on: &On,
    plan: &MttkrpPlan,
    factors: &Factors,
    mode: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let work = plan.tensor().nnz().saturating_mul(plan.rank());
    let shape = (plan.tensor().dims()[mode], plan.rank());
    let found = match factors {
        Factors::Host(values) => {
            let slices: Vec<_> = values.iter().map(Values::slice).collect();
            array(py, on.compute(py, work, || plan.eval(&slices, mode))?)?
        }
        Factors::There(vectors, kind) => {
            give_vector(py, on.compute(py, work, || plan.eval_vectors(vectors, mode))?, kind)?
        }
    };
    found.call_method1(intern!(py, "reshape"), (shape,))
}

/// Products of a sparse tensor with factors of one rank, prepared for all modes by :func:`mttkrp_plan`.
///
/// ``plan(factors, mode)`` is ``mttkrp(x, factors, mode)``.
#[pyclass(name = "MttkrpPlan", module = "sparring", frozen)]
pub(crate) struct PyMttkrpPlan {
    plan: MttkrpPlan,
    on: String,
}

#[pymethods]
impl PyMttkrpPlan {
    /// Columns of the factors.
    #[getter]
    fn rank(&self) -> usize {
        self.plan.rank()
    }
    /// Length of each mode of the tensor.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.plan.tensor().dims())
    }
    /// The form of the tensor and the algorithm for each mode, and why.
    fn explain(&self) -> String {
        self.plan.explain()
    }
    /// The product for a mode.
    fn __call__<'py>(&self, factors: &Bound<'py, PyAny>, mode: usize) -> PyResult<Bound<'py, PyAny>> {
        let py = factors.py();
        let (all, rank) = self::factors(factors, self.plan.tensor(), mode)?;
        if rank != self.plan.rank() {
            let message = format!("factors of {rank} columns, the plan is for {}", self.plan.rank());
            return Err(PyValueError::new_err(message));
        }
        product(py, &machine_of(&all, mode, Some(&self.on))?, &self.plan, &all, mode)
    }
    fn __repr__(&self) -> String {
        let dims: Vec<String> = self.plan.tensor().dims().iter().map(usize::to_string).collect();
        let (dims, nnz) = (dims.join("×"), self.plan.tensor().nnz());
        format!("<sparring.MttkrpPlan of rank {} for {dims} with {nnz} entries, on {}>", self.plan.rank(), self.on)
    }
}

/// Sorts and copies the entries of a tensor for products with factors of one rank, over + and ×, for each mode.
///
/// A decomposition of one's own calls the plan once for each mode and sweep. On a GPU the tensor stays there.
///
/// Parameters
/// ----------
/// x : Tensor
///     Of floats on a GPU.
/// rank : int
///     Columns of the factors.
/// device : str, optional
///     ``"cuda:0"``: the plan takes factors of NumPy, which it sends there, and those in the memory of that GPU.
///
/// Returns
/// -------
/// MttkrpPlan
///
/// Raises
/// ------
/// TypeError
///     If a GPU does not support the type of the values.
/// MemoryError
///     If the copies do not fit into the memory budget.
///
/// Examples
/// --------
/// >>> import numpy as np, sparring as sp
/// >>> x = sp.Tensor([[0, 1], [0, 2], [1, 1]], [1.0, 2.0], shape=(2, 3, 2))
/// >>> plan = sp.mttkrp_plan(x, 1)
/// >>> plan
/// <sparring.MttkrpPlan of rank 1 for 2×3×2 with 2 entries, on cpu>
/// >>> factors = [np.ones((n, 1)) for n in x.shape]
/// >>> [plan(factors, mode).ravel().tolist() for mode in range(3)]
/// [[1.0, 2.0], [1.0, 0.0, 2.0], [0.0, 3.0]]
#[pyfunction]
#[pyo3(signature = (x, rank, *, device=None))]
pub(crate) fn mttkrp_plan(
    py: Python<'_>,
    x: &Bound<'_, PyTensor>,
    rank: usize,
    device: Option<&str>,
) -> PyResult<PyMttkrpPlan> {
    let (x, on) = (&x.get().0, machine(device)?);
    let plan = on.compute(py, x.nnz(), || on.mttkrp_plan(x, rank, None, None))?;
    Ok(PyMttkrpPlan { plan, on: on.name() })
}
