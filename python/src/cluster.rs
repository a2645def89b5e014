//! Matrices on the processes of an MPI job, behind `sparring.cluster`.

use std::path::PathBuf;

use pyo3::prelude::*;
use sparring::algebra::Type;
use sparring::graph::PageRankOptions;
use sparring::io::EdgeOptions;
use sparring::runtime::{Machine, Matrix, Vector};
use sparring_cluster::{Cluster, Rmat, graph};

use crate::errors::Raise;
use crate::machines::{self, machine};
use crate::matrix::PyMatrix;
use crate::operands;

/// The job and its machine, started on first use.
fn job() -> PyResult<(Machine, Cluster)> {
    let on = machine(Some(machines::CLUSTER))?;
    let Some(cluster) = on.typed::<Cluster>() else { unreachable!("the machine of this name is one") };
    Ok((cluster.machine(), cluster.clone()))
}

/// The cluster around the processor, or around a GPU of its own for each rank of a node.
pub(crate) fn start(
    gpus: bool,
    budget: Option<u64>,
    processor: impl FnOnce() -> PyResult<Machine>,
) -> PyResult<Machine> {
    let inner = if gpus { Machine::cuda(Cluster::local_rank().raise()?, budget).raise()? } else { processor()? };
    Ok(Cluster::new(inner).raise()?.machine())
}

/// Whether each rank of a job computes on a GPU.
pub(crate) fn is_on_gpus(job: &Machine) -> bool {
    job.typed::<Cluster>().is_some_and(|cluster| cluster.inner().is_gpu())
}

/// Rank of this process.
#[pyfunction]
fn rank() -> PyResult<usize> {
    Ok(job()?.1.rank())
}

/// Number of processes.
#[pyfunction]
fn size() -> PyResult<usize> {
    Ok(job()?.1.size())
}

/// Whether folds have the bits of one rank.
#[pyfunction]
fn set_reproducible(yes: bool) -> PyResult<()> {
    job()?.1.set_reproducible(yes);
    Ok(())
}

/// Leaves the job.
#[pyfunction]
fn end(py: Python<'_>) {
    let held = machines::take(machines::CLUSTER);
    py.detach(|| drop(held));
}

/// Runs `f` without the GIL.
fn on_job<T: Send>(py: Python<'_>, f: impl FnOnce(&Machine, &Cluster) -> sparring::Result<T> + Send) -> PyResult<T> {
    let (machine, cluster) = job()?;
    py.detach(|| f(&machine, &cluster)).raise()
}

#[pyfunction]
fn read_matrix_market(py: Python<'_>, path: PathBuf) -> PyResult<PyMatrix> {
    on_job(py, |_, cluster| cluster.read_matrix_market(&path)).map(PyMatrix::new)
}

#[pyfunction]
fn read_edges(py: Python<'_>, path: PathBuf, undirected: Option<bool>, zero_based: bool) -> PyResult<PyMatrix> {
    on_job(py, |_, cluster| {
        let options = EdgeOptions::new().zero_based(zero_based);
        let options = if let Some(undirected) = undirected { options.undirected(undirected) } else { options };
        cluster.read_edges(&path, &options)
    })
    .map(PyMatrix::new)
}

#[pyfunction]
fn write_matrix_market(py: Python<'_>, path: PathBuf, a: &Bound<'_, PyAny>) -> PyResult<()> {
    let (a, _) = operands::matrix(a)?;
    on_job(py, |machine, cluster| cluster.write_matrix_market(&path, &machine.upload(&a)?))
}

#[pyfunction]
fn rmat(py: Python<'_>, scale: u32, edge_factor: u64, seed: u64, undirected: bool) -> PyResult<PyMatrix> {
    let options = Rmat::new().undirected(undirected);
    on_job(py, |_, cluster| cluster.rmat(scale, edge_factor, seed, &options)).map(PyMatrix::new)
}

/// Runs a graph algorithm; its result is gathered by every rank.
fn of_graph<'py>(
    a: &Bound<'py, PyAny>,
    ty: Type,
    f: impl FnOnce(&Machine, &Matrix) -> sparring::Result<Vector> + Send,
) -> PyResult<Bound<'py, PyAny>> {
    let py = a.py();
    let (a, _) = operands::matrix(a)?;
    let found = on_job(py, |machine, _| f(machine, &machine.upload(&a)?)?.download()?.wrapping_cast(ty))?;
    let fill = match ty {
        Type::F64 => f64::INFINITY.into_pyobject(py)?.into_any(),
        _ => (-1i32).into_pyobject(py)?.into_any(),
    };
    operands::dense(py, &found, Some(&fill))
}

#[pyfunction]
fn bfs<'py>(a: &Bound<'py, PyAny>, source: usize) -> PyResult<Bound<'py, PyAny>> {
    of_graph(a, Type::I32, |machine, a| graph::bfs_levels(machine, a, source))
}

#[pyfunction]
fn bfs_parents<'py>(a: &Bound<'py, PyAny>, source: usize) -> PyResult<Bound<'py, PyAny>> {
    of_graph(a, Type::I64, |machine, a| graph::bfs_parents(machine, a, source))
}

#[pyfunction]
fn connected_components<'py>(a: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    of_graph(a, Type::I64, graph::connected_components)
}

#[pyfunction]
fn sssp<'py>(a: &Bound<'py, PyAny>, source: usize) -> PyResult<Bound<'py, PyAny>> {
    of_graph(a, Type::F64, |machine, a| graph::sssp(machine, a, source))
}

#[pyfunction]
fn pagerank<'py>(
    a: &Bound<'py, PyAny>,
    damping: f64,
    tolerance: f64,
    max_iterations: u32,
) -> PyResult<Bound<'py, PyAny>> {
    let options = PageRankOptions { damping, tolerance, max_iterations, ..PageRankOptions::default() };
    of_graph(a, Type::F64, |machine, a| Ok(graph::pagerank(machine, a, &options)?.ranks))
}

pub(crate) fn module<'py>(py: Python<'py>) -> PyResult<Bound<'py, PyModule>> {
    let m = PyModule::new(py, "_cluster")?;
    macro_rules! functions {
        ($($name:ident)*) => { $(m.add_function(wrap_pyfunction!($name, &m)?)?;)* };
    }
    functions! {
        bfs bfs_parents connected_components end pagerank rank read_edges read_matrix_market rmat set_reproducible size sssp
        write_matrix_market
    }
    Ok(m)
}
