//! Graph algorithms on a [`Cluster`] and on any other [`Machine`], with the same results. CPU ranks run dedicated
//! kernels. GPU ranks have a dedicated kernel for PageRank and run breadth-first search by matrix operations; for the
//! other algorithms, blocks of the graph are downloaded and processed on the CPUs of the ranks.
//!
//! A graph is given by its adjacency matrix, of any type: entry (i, j) is the edge from i to j, explicit zeros
//! included. Results are vectors of the backend: on a cluster, each rank has its piece, and
//! [`download`](sparring::runtime::Vector::download) gathers all of it.

mod bfs;
mod components;
mod contract;
mod ends;
mod follow;
mod held;
mod merge;
mod pagerank;
mod panels;
mod paths;
mod pull;
#[cfg(feature = "cuda")]
mod ranked;
mod search;
mod sssp;
pub(crate) mod triangles;

pub use bfs::{bfs_levels, bfs_parents};
pub use components::connected_components;
pub use pagerank::{PageRank, pagerank};
pub use sssp::sssp;

use std::sync::Arc;

use sparring::algebra::{Array, Type, Value};
use sparring::graph::{Graph, GraphBackend, GraphKind};
use sparring::runtime::{BinaryOp, Machine, Matrix, Scalar, UnaryOp, Vector};
use sparring::{Cpu, Error, Result};

use crate::Cluster;
use crate::blocks::{Block, Piece};
use crate::cluster::Shared;
use crate::wire::{broken, reserved};

/// Checks that the matrix is square and that the source vertex is in range; returns the number of vertices.
fn check(op: &'static str, a: &Matrix, source: Option<usize>) -> Result<usize> {
    let (nrows, ncols) = a.shape();
    if nrows != ncols {
        return Err(Error::NotSquare { op, nrows, ncols });
    }
    match source {
        Some(source) if source >= nrows => {
            Err(Error::Argument { name: "source", message: format!("vertex {source} of a graph of {nrows}") })
        }
        _ => Ok(nrows),
    }
}

/// The CPU or GPU of the backend, if there is only one rank.
fn on_one_rank(machine: &Machine) -> Option<&Machine> {
    let machine = match machine.typed::<Cluster>() {
        Some(cluster) if cluster.size() == 1 => cluster.inner(),
        _ => machine,
    };
    machine.place().is_ok().then_some(machine)
}

/// The graph of a matrix, for the single-node kernels.
fn graph_of(one: &Machine, a: &Matrix, weighted: bool) -> Result<Graph> {
    let kind = Some(GraphKind::Directed);
    match one.typed::<Cpu>() {
        Some(cpu) => a.graph(cpu, kind, weighted),
        None => a.graph(&Cpu::new(), kind, weighted),
    }
}

/// The ranks of a cluster, and this rank's block in host memory. Collective; opens an operation.
fn on_ranks<'a>(machine: &'a Machine, what: &str, a: &Matrix) -> Result<(&'a Arc<Shared>, Matrix)> {
    let cluster = machine.typed::<Cluster>().ok_or_else(|| Error::Unsupported {
        what: format!("{what} on {}", machine.name()),
        why: "it runs on processors, GPUs and ranks of these".into(),
    })?;
    let a = machine.upload(a)?;
    cluster.0.begin(what)?;
    Ok((&cluster.0, cluster.0.ready(block_of(&a).and_then(|a| a.block.download()))?))
}

/// The vector of which each rank has this piece. Collective; closes an operation.
fn distributed(shared: &Arc<Shared>, len: usize, piece: Result<Vector>) -> Result<Vector> {
    let made = piece.and_then(|piece| {
        let nnz = piece.nvals()?;
        Ok((shared.inner.upload_vector(&piece)?, nnz))
    });
    let (piece, nnz) = shared.finish(made)?;
    Ok(Piece { shared: Arc::clone(shared), len, nnz, piece }.into())
}

/// The vector of these entries, in increasing order of their indices.
fn entries<T: Value>(len: usize, of: impl Iterator<Item = (usize, T)> + Clone) -> Result<Vector> {
    let count = of.clone().count();
    let (mut indices, mut values) = (reserved(count, "vertices")?, reserved(count, "values of vertices")?);
    for (index, value) in of {
        indices.push(index as u32);
        values.push(value);
    }
    Vector::new(len, indices, Array::of(values))
}

/// The same pattern, all values equal to `s`.
fn constant(machine: &Machine, a: &Matrix, s: impl Into<Scalar>) -> Result<Matrix> {
    let s = s.into();
    let f = UnaryOp::between("s", a.ty(), s.ty())?.with(s)?;
    machine.apply(&f, a)
}

/// The pattern of A + Aᵀ without its diagonal; all values are 1, of this integer type.
fn simple(machine: &Machine, a: &Matrix, ty: Type) -> Result<Matrix> {
    let ones = constant(machine, a, Scalar::from(true).cast(ty)?)?;
    let both = machine.ewise_add(&BinaryOp::new("first", ty)?, &ones, &machine.transpose(&ones)?)?;
    machine.select(&UnaryOp::new("i != j", ty)?, &both)
}

/// This rank's block of a distributed matrix.
fn block_of(a: &Matrix) -> Result<&Block> {
    a.as_remote().and_then(|there| there.as_any().downcast_ref()).ok_or_else(broken)
}
