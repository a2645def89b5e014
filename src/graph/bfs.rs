//! Breadth-first levels and trees of a graph, expressed as products of a sparse vector and the adjacency matrix.
//!
//! The frontier is a vector q. One step is q⟨¬levels, replace⟩ = qᵀ any.pair A: the unvisited vertices with an edge
//! from the frontier. Given Aᵀ, a step may instead pull from the unvisited vertices, if that is less work. Sources:
//! Kepner, Gilbert (eds.) 2011, "Graph Algorithms in the Language of Linear Algebra"; Beamer, Asanović, Patterson 2012,
//! "Direction-optimizing breadth-first search".

use super::checks::vertices;
use crate::algebra::{Any, Identity, Min, Pair, Ring, SecondI, Value};
use crate::backend::{Backend, Container};
use crate::par::filled;
use crate::{Index, Result, Vector};

/// The least number of edges on a path from `source` to each vertex, `None` if there is no path.
///
/// Entry (i, j) of the adjacency matrix is an edge from i to j, whatever its value; `at` is its transpose, for a
/// symmetric matrix the matrix itself. Without it each step follows the edges of the frontier. On the CPU
/// [`bfs`](super::bfs()) is faster. Cost: O(n + nnz) operations of the backend in as many steps as there are levels.
/// # Errors
/// [`Error::NotSquare`](crate::Error::NotSquare); [`Error::Argument`](crate::Error::Argument) if there is no vertex
/// `source`, or `at` cannot be the transpose; those of the [`Backend`].
/// # Example
/// ```
/// use sparring::{Cpu, Csr, graph::bfs_levels};
/// // 0 → 1 → 2, and 3 apart.
/// let a = Csr::<f64>::new(4, 4, vec![0, 1, 2, 2, 2], vec![1, 2], vec![1.0, 1.0])?;
/// assert_eq!(bfs_levels(&Cpu::new(), &a, None, 0)?, [Some(0), Some(1), Some(2), None]);
/// # Ok::<(), sparring::Error>(())
/// ```
pub fn bfs_levels<B: Backend, T: Value>(
    on: &B,
    a: &B::Matrix<T>,
    at: Option<&B::Matrix<T>>,
    source: usize,
) -> Result<Vec<Option<u32>>> {
    let n = vertices(on, "bfs_levels", a, &[source])?;
    let next = Ring(Any::<bool>::new(), Pair::<bool, bool, T>::default());
    // Vertices fit 32 bits, like columns.
    let mut q = on.upload_vector(&Vector::new(n, vec![u32::cast(source)], vec![true])?)?;
    let mut levels = on.upload_vector(&Vector::<u32>::empty(n)?)?;
    let mut level = 0;
    while on.nnz(&q)? > 0 {
        on.assign_scalar(level).mask(q.structure()).into(&mut levels)?;
        let step = on.vxm(next, &q, a);
        let step = if let Some(at) = at { step.with_transpose(at) } else { step };
        step.mask(!levels.structure()).replace().into(&mut q)?;
        level += 1;
    }
    let levels = on.download_vector(&levels)?;
    let mut found = filled(n, None, "levels")?;
    levels.iter().for_each(|(v, &level)| found[v] = Some(level));
    Ok(found)
}

/// Parents in a breadth-first tree: for each reachable vertex, the least vertex one level nearer with an edge to it;
/// for `source`, itself.
///
/// Entry (i, j) of the adjacency matrix is an edge from i to j, whatever its value. Cost: that of [`bfs_levels`].
/// # Errors
/// As for [`bfs_levels`].
/// # Example
/// ```
/// use sparring::{Cpu, Csr, graph::bfs_parents};
/// // 0 → 1 → 2, and 3 apart.
/// let a = Csr::<f64>::new(4, 4, vec![0, 1, 2, 2, 2], vec![1, 2], vec![1.0, 1.0])?;
/// assert_eq!(bfs_parents(&Cpu::new(), &a, None, 0)?, [Some(0), Some(0), Some(1), None]);
/// # Ok::<(), sparring::Error>(())
/// ```
pub fn bfs_parents<B: Backend, T: Value>(
    on: &B,
    a: &B::Matrix<T>,
    at: Option<&B::Matrix<T>>,
    source: usize,
) -> Result<Vec<Option<u32>>> {
    let n = vertices(on, "bfs_parents", a, &[source])?;
    let next = Ring(Min::<i64>::new(), SecondI::<i64, T, i64>::new());
    let mut q = on.upload_vector(&Vector::new(n, vec![u32::cast(source)], vec![source as i64])?)?;
    let mut parents = on.upload_vector(&Vector::<i64>::empty(n)?)?;
    while on.nnz(&q)? > 0 {
        on.apply(Identity::new(), &q).mask(q.structure()).into(&mut parents)?;
        let step = on.vxm(next, &q, a);
        let step = if let Some(at) = at { step.with_transpose(at) } else { step };
        step.mask(!parents.structure()).replace().into(&mut q)?;
    }
    let parents = on.download_vector(&parents)?;
    let mut found = filled(n, None, "parents")?;
    // Vertices fit 32 bits.
    parents.iter().for_each(|(v, &parent)| found[v] = Some(parent as u32));
    Ok(found)
}
