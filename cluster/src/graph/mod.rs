//! Graph algorithms on a [`Cluster`] and on any other [`Machine`], with the same results. Ranks of processors have
//! kernels of their own, ranks of GPUs for PageRank; there breadth-first search goes by operations, and blocks of the
//! graph come to the processors of the ranks for the others.
//!
//! A graph is its adjacency matrix, of any type: entry (i, j) is the edge from i to j, stored zeros too. Results are
//! vectors of the machine: on a cluster each rank has its piece, and
//! [`download`](sparring::runtime::Vector::download) gathers all.

mod bfs;
mod components;
mod contract;
mod ends;
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

use sparring::algebra::Type;
use sparring::graph::{Graph, GraphBackend, GraphKind};
use sparring::runtime::{BinaryOp, Machine, Matrix, Scalar, UnaryOp};
use sparring::{Cpu, Error, Result};

use crate::Cluster;
use crate::blocks::Block;
use crate::cluster::Shared;
use crate::wire::broken;

/// Refuses a matrix that is no graph, and a vertex that it does not have.
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

/// The processor or the GPU that is the machine, or the one rank of it.
fn on_one_rank(machine: &Machine) -> Option<&Machine> {
    let machine = match machine.typed::<Cluster>() {
        Some(cluster) if cluster.size() == 1 => cluster.inner(),
        _ => machine,
    };
    machine.place().is_ok().then_some(machine)
}

/// The graph of a matrix, for the library's own kernels.
fn graph_of(one: &Machine, a: &Matrix, weighted: bool) -> Result<Graph> {
    let kind = Some(GraphKind::Directed);
    match one.typed::<Cpu>() {
        Some(cpu) => a.graph(cpu, kind, weighted),
        None => a.graph(&Cpu::new(), kind, weighted),
    }
}

/// Several ranks, and this rank's block in the memory of its processor. Collective, and the beginning of an operation.
fn on_ranks<'a>(machine: &'a Machine, what: &str, a: &Matrix) -> Result<(&'a Arc<Shared>, Matrix)> {
    let cluster = machine.typed::<Cluster>().ok_or_else(|| Error::Unsupported {
        what: format!("{what} on {}", machine.name()),
        why: "it runs on processors, GPUs and ranks of these".into(),
    })?;
    let a = machine.upload(a)?;
    cluster.0.begin(what)?;
    Ok((&cluster.0, cluster.0.ready(block_of(&a).and_then(|a| a.block.download()))?))
}

/// The same entries, all of one value.
fn constant(machine: &Machine, a: &Matrix, s: impl Into<Scalar>) -> Result<Matrix> {
    let s = s.into();
    let f = UnaryOp::between("s", a.ty(), s.ty())?.with(s)?;
    machine.apply(&f, a)
}

/// The pattern of A + Aᵀ without its diagonal, each entry a one of this type of integers.
fn simple(machine: &Machine, a: &Matrix, ty: Type) -> Result<Matrix> {
    let ones = constant(machine, a, Scalar::from(true).cast(ty)?)?;
    let both = machine.ewise_add(&BinaryOp::new("first", ty)?, &ones, &machine.transpose(&ones)?)?;
    machine.select(&UnaryOp::new("i != j", ty)?, &both)
}

/// This rank's block of a matrix of a cluster.
fn block_of(a: &Matrix) -> Result<&Block> {
    a.as_remote().and_then(|there| there.as_any().downcast_ref()).ok_or_else(broken)
}
