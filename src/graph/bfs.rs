//! Breadth-first levels of a graph, by products of a sparse vector and the adjacency matrix.
//!
//! The frontier is a sparse vector f. One step is f⟨¬visited⟩ᵀ = fᵀ any.pair A: the vertices that an edge from the
//! frontier leads to and that no earlier step has reached.
//! Source: Kepner, Gilbert (eds.) 2011, "Graph Algorithms in the Language of Linear Algebra".

use crate::algebra::{Any, Pair, Ring, Value};
use crate::backend::Backend;
use crate::par::{collected, filled};
use crate::sparse::SparseVec;
use crate::{Error, Index, Result};

/// No vertex: levels are below the number of vertices, which fits 32 bits.
const UNREACHED: u32 = u32::MAX;

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
    let mut visited = on.upload_vec(&filled(n, false, "visited vertices")?)?;
    let mut levels = on.upload_vec(&filled(n, UNREACHED, "levels")?)?;
    // A vertex fits 32 bits, as columns do.
    let mut frontier = on.upload_sparse(&SparseVec::new(n, vec![u32::cast(source)], vec![true])?)?;
    let mut level = 0;
    while on.nnz_sparse(&frontier) > 0 {
        on.assign(&mut visited, &frontier, true)?;
        on.assign(&mut levels, &frontier, level)?;
        frontier = on.vxm(next, &frontier, a, Some((&visited, true)))?;
        level += 1;
    }
    let levels = on.download_vec(&levels)?;
    collected(n, levels.into_iter().map(|l| (l != UNREACHED).then_some(l)), "levels")
}
