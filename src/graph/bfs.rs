//! Breadth-first levels and trees of a graph, by products of a sparse vector and the adjacency matrix.
//!
//! The frontier is a vector q. One step is q⟨¬levels, replace⟩ = qᵀ any.pair A: the vertices that an edge from the
//! frontier leads to and that no earlier step has reached. Source: Kepner, Gilbert (eds.) 2011, "Graph Algorithms in
//! the Language of Linear Algebra".

use super::checks::vertices;
use crate::algebra::{Any, Identity, Min, Pair, Ring, SecondI, Value};
use crate::backend::{Backend, Container};
use crate::par::collected;
use crate::{Index, Result, Vector};

/// The least number of edges on a way from `source` to each vertex, `None` where there is no way.
///
/// Entry (i, j) of the adjacency matrix is an edge from i to j, whatever its value. On the processor
/// [`bfs`](super::bfs()) is faster. Cost: O(n + nnz) operations of the machine in as many steps as there are levels.
/// # Errors
/// [`Error::NotSquare`](crate::Error::NotSquare); [`Error::Argument`](crate::Error::Argument) if there is no vertex
/// `source`; those of the [`Backend`].
/// # Example
/// ```
/// use sparring::{Cpu, Csr, graph::bfs_levels};
/// // 0 → 1 → 2, and 3 apart.
/// let a = Csr::<f64>::new(4, 4, vec![0, 1, 2, 2, 2], vec![1, 2], vec![1.0, 1.0])?;
/// assert_eq!(bfs_levels(&Cpu::new(), &a, 0)?, [Some(0), Some(1), Some(2), None]);
/// # Ok::<(), sparring::Error>(())
/// ```
pub fn bfs_levels<B: Backend, T: Value>(on: &B, a: &B::Matrix<T>, source: usize) -> Result<Vec<Option<u32>>> {
    let n = vertices(on, "bfs_levels", a, &[source])?;
    let next = Ring(Any::<bool>::new(), Pair::<bool, bool, T>::default());
    // A vertex fits 32 bits, as columns do.
    let mut q = on.upload_vector(&Vector::new(n, vec![u32::cast(source)], vec![true])?)?;
    let mut levels = on.upload_vector(&Vector::<u32>::empty(n)?)?;
    let mut level = 0;
    while on.nnz(&q)? > 0 {
        on.assign_scalar(level).mask(q.structure()).into(&mut levels)?;
        on.vxm(next, &q, a).mask(!levels.structure()).replace().into(&mut q)?;
        level += 1;
    }
    let levels = on.download_vector(&levels)?;
    collected(n, (0..n).map(|i| levels.get(i).copied()), "levels")
}

/// Parents in a breadth-first tree: of each vertex that `source` leads to the least of those vertices, a level nearer,
/// from which an edge leads to it; of `source` itself.
///
/// Entry (i, j) of the adjacency matrix is an edge from i to j, whatever its value. Cost: that of [`bfs_levels`].
/// # Errors
/// As for [`bfs_levels`].
/// # Example
/// ```
/// use sparring::{Cpu, Csr, graph::bfs_parents};
/// // 0 → 1 → 2, and 3 apart.
/// let a = Csr::<f64>::new(4, 4, vec![0, 1, 2, 2, 2], vec![1, 2], vec![1.0, 1.0])?;
/// assert_eq!(bfs_parents(&Cpu::new(), &a, 0)?, [Some(0), Some(0), Some(1), None]);
/// # Ok::<(), sparring::Error>(())
/// ```
pub fn bfs_parents<B: Backend, T: Value>(on: &B, a: &B::Matrix<T>, source: usize) -> Result<Vec<Option<u32>>> {
    let n = vertices(on, "bfs_parents", a, &[source])?;
    let next = Ring(Min::<i64>::new(), SecondI::<i64, T, i64>::new());
    let mut q = on.upload_vector(&Vector::new(n, vec![u32::cast(source)], vec![source as i64])?)?;
    let mut parents = on.upload_vector(&Vector::<i64>::empty(n)?)?;
    while on.nnz(&q)? > 0 {
        on.apply(Identity::new(), &q).mask(q.structure()).into(&mut parents)?;
        on.vxm(next, &q, a).mask(!parents.structure()).replace().into(&mut q)?;
    }
    let parents = on.download_vector(&parents)?;
    // A vertex fits 32 bits.
    collected(n, (0..n).map(|i| parents.get(i).map(|&p| p as u32)), "parents")
}
