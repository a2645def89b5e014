//! Betweenness of vertices by Brandes' algorithm, expressed in GraphBLAS operations.
//!
//! Forward, one level at a time: q⟨¬paths, replace⟩ = qᵀ plus.first A and paths⟨q⟩ = q. Backward from the last level,
//! with u(v) one more than the dependency of v: u += w ∘ q, where w⟨q⟩ = A plus.second (u ∘ 1/r), r the paths to the
//! vertices of the next level and q those to the vertices of this one. Sources: Brandes 2001, "A Faster Algorithm for
//! Betweenness Centrality"; Kepner, Gilbert (eds.) 2011, "Graph Algorithms in the Language of Linear Algebra".

use super::checks::vertices;
use crate::algebra::{Div, First, Identity, Plus, Ring, Second, Times, Value};
use crate::backend::{Backend, Container};
use crate::par::{collected, out_of_memory};
use crate::{Error, Index, Result, Vector};

/// For each vertex v, the sum over the sources s and all vertices t of the fraction of the shortest paths from s to t
/// that pass through v, v neither s nor t.
///
/// Entry (i, j) of the adjacency matrix is an edge from i to j, whatever its value; `at` is its transpose. With all
/// vertices as sources the result is the betweenness centrality of a directed graph, or twice that of an undirected
/// one. Path counts are doubles: beyond 2¹⁰²⁴, as on a grid of 1000×1000, the result is NaN. Cost: O(sources · (n +
/// nnz)) operations of the backend, per source in twice as many steps as there are levels, and O(n) values.
/// # Errors
/// [`Error::NotSquare`]; [`Error::Shape`] if `at` has another shape; [`Error::Argument`] for a source that is no
/// vertex; those of the [`Backend`].
/// # Example
/// ```
/// use sparring::prelude::*;
/// use sparring::graph::betweenness;
/// // 0 → 1 → 2: the path from 0 to 2 goes through 1.
/// let a = Csr::<f64>::new(3, 3, vec![0, 1, 2, 2], vec![1, 2], vec![1.0, 1.0])?;
/// let cpu = Cpu::new();
/// assert_eq!(betweenness(&cpu, &a, &cpu.transpose(&a).eval()?, &[0, 1, 2])?, [0.0, 1.0, 0.0]);
/// # Ok::<(), sparring::Error>(())
/// ```
pub fn betweenness<B: Backend, T: Value>(
    on: &B,
    a: &B::Matrix<T>,
    at: &B::Matrix<T>,
    sources: &[usize],
) -> Result<Vec<f64>> {
    let n = vertices(on, "betweenness", a, sources)?;
    if on.shape(at) != (n, n) {
        return Err(Error::Shape { op: "betweenness", lhs: (n, n), rhs: on.shape(at) });
    }
    let forward = Ring(Plus::<f64>::new(), First::<f64, T>::default());
    let backward = Ring(Plus::<f64>::new(), Second::<f64, T>::default());
    let mut centrality = on.upload_vector(&Vector::constant(n, -(sources.len() as f64))?)?;
    for &source in sources {
        let start = on.upload_vector(&Vector::new(n, vec![u32::cast(source)], vec![1.0])?)?;
        let (mut paths, mut q, mut levels) = (start.clone(), start, vec![]);
        loop {
            on.vxm(forward, &q, a).with_transpose(at).mask(!paths.structure()).replace().into(&mut q)?;
            if on.nnz(&q)? == 0 {
                break;
            }
            on.apply(Identity::new(), &q).mask(q.structure()).into(&mut paths)?;
            let so_many = levels.len() + 1;
            levels.try_reserve(1).map_err(|_| out_of_memory::<B::Vector<f64>>("levels", so_many))?;
            levels.push(q.clone());
        }
        let mut update = on.upload_vector(&Vector::constant(n, 1.0)?)?;
        while let Some(next) = levels.pop() {
            let Some(q) = levels.last() else { break };
            let w = on.ewise_mult(Div::new(), &update, &next).eval()?;
            let w = on.mxv(backward, a, &w).with_transpose(at).mask(q.structure()).eval()?;
            on.ewise_mult(Times::new(), &w, q).accum(Plus::new()).into(&mut update)?;
        }
        on.apply(Identity::new(), &update).accum(Plus::new()).into(&mut centrality)?;
    }
    let centrality = on.download_vector(&centrality)?;
    collected(n, (0..n).map(|i| centrality.get(i).copied().unwrap_or(0.0)), "betweenness")
}
