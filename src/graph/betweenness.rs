//! Betweenness of vertices by Brandes' algorithm, all sources at once.
//!
//! Row s of each matrix belongs to source s. Forward, paths += F with F⟨¬paths, replace⟩ = F plus.first A, a level at a
//! time; backward, the dependency of each vertex on those a level further, update += paths ∘ ((update ∘ 1/paths)
//! plus.first Aᵀ). Sources: Brandes 2001, "A Faster Algorithm for Betweenness Centrality"; Kepner, Gilbert (eds.) 2011,
//! "Graph Algorithms in the Language of Linear Algebra".

use super::checks::vertices;
use crate::algebra::{Div, First, Plus, Ring, Times, Value};
use crate::backend::{Backend, Container};
use crate::par::{collected, filled};
use crate::{Csr, Error, Index, Result, Vector};

/// For each vertex v, the sum over the sources s and all vertices t of the part of the shortest paths from s to t that
/// go through v, v neither s nor t.
///
/// Entry (i, j) of the adjacency matrix is an edge from i to j, whatever its value; `at` is its transpose. With all
/// vertices as sources it is the betweenness centrality of a directed graph, of an undirected one twice that. Cost:
/// O(sources · (n + nnz)) operations of the machine in twice as many steps as there are levels, and two dense matrices
/// of sources × n values.
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
    let ns = sources.len();
    let paths_of = Ring(Plus::<f64>::new(), First::<f64, T>::default());
    let at_sources = collected(ns, sources.iter().map(|&s| u32::cast(s)), "sources")?;
    let start = Csr::new(ns, n, (0..=ns).collect(), at_sources, filled(ns, 1.0, "paths")?)?;
    let mut paths = on.upload(&start)?;
    let mut f = on.mxm(paths_of, &paths, a).mask(!paths.structure()).eval()?;
    let mut levels = vec![];
    while on.nnz(&f)? > 0 {
        levels.push(f.structure());
        on.ewise_add(Plus::new(), &paths, &f).into(&mut paths)?;
        on.mxm(paths_of, &f, a).mask(!paths.structure()).replace().into(&mut f)?;
    }
    let places = ns.checked_mul(n).ok_or(Error::OutOfMemory { what: "updates", bytes: u128::MAX })?;
    let columns = collected(places, (0..ns).flat_map(|_| (0..n).map(u32::cast)), "columns")?;
    let rows = (0..=ns).map(|s| s * n).collect();
    let mut update = on.upload(&Csr::new(ns, n, rows, columns, filled(places, 1.0, "updates")?)?)?;
    for d in (1..levels.len()).rev() {
        let w = on.ewise_mult(Div::new(), &update, &paths).mask(levels[d].clone()).eval()?;
        let w = on.mxm(paths_of, &w, at).mask(levels[d - 1].clone()).eval()?;
        on.ewise_mult(Times::new(), &w, &paths).accum(Plus::new()).into(&mut update)?;
    }
    // Update began at 1 for each source, of which a vertex is not on the way to itself.
    let mut centrality = on.upload_vector(&Vector::constant(n, -(ns as f64))?)?;
    on.reduce_rows(Plus::new(), &update).transpose_a().accum(Plus::new()).into(&mut centrality)?;
    let centrality = on.download_vector(&centrality)?;
    collected(n, (0..n).map(|i| centrality.get(i).copied().unwrap_or(0.0)), "betweenness")
}
