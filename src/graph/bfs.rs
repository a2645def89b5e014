//! Breadth-first levels of a graph, by products of a sparse vector and the adjacency matrix.
//!
//! The frontier is a vector q. One step is q⟨¬levels, replace⟩ = qᵀ any.pair A: the vertices that an edge from the frontier
//! leads to and that no earlier step has reached.
//! Source: Kepner, Gilbert (eds.) 2011, "Graph Algorithms in the Language of Linear Algebra".

use crate::algebra::{Any, Pair, Ring, Value};
use crate::backend::{Backend, Container};
use crate::par::collected;
use crate::{Error, Index, Result, Vector};

/// The least number of edges on a way from `source` to each vertex, `None` where there is no way.
///
/// Entry (i, j) of the adjacency matrix is an edge from i to j, whatever its value. Cost: O(n + nnz) operations of the
/// machine in as many steps as there are levels.
/// # Errors
/// [`Error::NotSquare`]; [`Error::Argument`] if there is no vertex `source`; those of the [`Backend`].
/// # Example
/// ```
/// use sparring::{Cpu, Csr, graph::bfs_levels};
/// // 0 → 1 → 2, and 3 apart.
/// let a = Csr::<f64>::new(4, 4, vec![0, 1, 2, 2, 2], vec![1, 2], vec![1.0, 1.0])?;
/// assert_eq!(bfs_levels(&Cpu::new(), &a, 0)?, [Some(0), Some(1), Some(2), None]);
/// # Ok::<(), sparring::Error>(())
/// ```
pub fn bfs_levels<B: Backend, T: Value>(on: &B, a: &B::Matrix<T>, source: usize) -> Result<Vec<Option<u32>>> {
    let (n, ncols) = on.shape(a);
    if n != ncols {
        return Err(Error::NotSquare { op: "bfs_levels", nrows: n, ncols });
    }
    if source >= n {
        return Err(Error::Argument { name: "source", message: format!("vertex {source} of a graph of {n}") });
    }
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
