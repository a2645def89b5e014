//! Graph algorithms by operations, on a [`Cluster`] and on any other [`Machine`] with the same results; PageRank,
//! breadth-first search and the count of triangles have kernels of their own on ranks of processors, PageRank also on
//! GPUs.
//!
//! A graph is its adjacency matrix, of any type: entry (i, j) is the edge from i to j, stored zeros too. Results are
//! vectors of the machine: on a cluster each rank has its piece, and
//! [`download`](sparring::runtime::Vector::download) gathers all.

mod bfs;
mod components;
mod ends;
mod merge;
mod pagerank;
mod panels;
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

use sparring::algebra::Type;
use sparring::graph::{Graph, GraphKind};
use sparring::runtime::{BinaryOp, Machine, Matrix, Scalar, UnaryOp};
use sparring::{Cpu, Error, Result};

use crate::Cluster;
use crate::blocks::Block;
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

/// The graph of a matrix and the processor, where the machine is one, or a cluster of one rank: the library has kernels
/// for it.
fn on_one_rank<'a>(machine: &'a Machine, a: &Matrix, weighted: bool) -> Result<Option<(&'a Cpu, Graph)>> {
    let machine = match machine.typed::<Cluster>() {
        Some(cluster) if cluster.size() == 1 => cluster.inner(),
        _ => machine,
    };
    let Some(cpu) = machine.typed::<Cpu>() else { return Ok(None) };
    Ok(Some((cpu, a.graph(cpu, Some(GraphKind::Directed), weighted)?)))
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
