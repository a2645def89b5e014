//! The extension module of the Python package `sparring`.

mod arithmetic;
mod arrays;
#[cfg(feature = "mpi")]
mod cluster;
mod compare;
mod dense;
mod einsum;
mod errors;
mod files;
mod graph;
mod held;
mod indices;
mod machines;
mod matrix;
mod mttkrp;
mod neighbors;
mod operands;
mod operations;
mod operators;
mod parts;
mod plans;
mod scalars;
mod sums;
mod tensors;
mod vector;
mod written;

use pyo3::prelude::*;

/// Sparse linear algebra and sparse tensors over any semiring.
// Safe without the GIL: settings and machines are behind one mutex (`machines`), each matrix and vector behind its own
// (`held`), every class is frozen and its contents are `Sync`, functions of other packages are looked up once
// (`PyOnceLock`), and no lock is held while Python code runs.
#[pymodule(gil_used = false)]
fn _sparring(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add_class::<matrix::PyMatrix>()?;
    m.add_class::<vector::PyVector>()?;
    m.add_class::<written::MaskOf>()?;
    m.add_class::<plans::PyPlan>()?;
    m.add_class::<tensors::PyTensor>()?;
    m.add_class::<mttkrp::PyMttkrpPlan>()?;
    macro_rules! functions {
        ($($path:path),* $(,)?) => {
            $(m.add_function(wrap_pyfunction!($path, m)?)?;)*
        };
    }
    functions![
        machines::devices,
        machines::get_threads,
        machines::set_memory_budget,
        machines::set_threads,
        einsum::einsum,
        matrix::_matrix_of_bytes,
        mttkrp::mttkrp,
        mttkrp::mttkrp_plan,
        parts::assign,
        parts::block,
        parts::diag,
        parts::ewise_union,
        parts::extract,
        parts::resize,
        parts::scatter,
        parts::split,
        plans::explain,
        plans::plan,
        operations::aggregate,
        operations::apply,
        operations::ewise_add,
        operations::ewise_mult,
        operations::kronecker,
        operations::mxm,
        operations::mxv,
        operations::reduce,
        operations::reduce_rows,
        operations::select,
        operations::transpose,
        operations::vxm,
        operators::_check_operator,
        tensors::_cp_als,
        vector::_vector_of_bytes,
    ];
    #[cfg(feature = "mpi")]
    m.add_submodule(&cluster::module(m.py())?)?;
    m.add_submodule(&files::module(m.py())?)?;
    m.add_submodule(&graph::module(m.py())?)?;
    m.add_submodule(&neighbors::module(m.py())?)?;
    Ok(())
}
