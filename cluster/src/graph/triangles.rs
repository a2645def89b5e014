//! Triangles: total count by panels of L; counts per edge and per vertex by a masked product.

use sparring::algebra::Type;
use sparring::graph::{TriangleMethod, Triangles};
use sparring::runtime::{BinaryOp, Machine, Matrix, Monoid, Semiring, UnaryOp, Vector};
use sparring::{Error, Result};

use super::{check, on_ranks, panels, simple};
use crate::Cluster;
use crate::wire::broken;

/// The local device and matrix of a cluster of one rank.
fn on_inner<'a>(machine: &'a Machine, a: &Matrix) -> Result<Option<(&'a Machine, Matrix)>> {
    Ok(match machine.typed::<Cluster>() {
        Some(cluster) if cluster.size() == 1 => Some((cluster.inner(), cluster.block(a)?.block.clone())),
        _ => None,
    })
}

/// Σ L ∘ (L·L), by panels of L.
pub(crate) fn count(machine: &Machine, a: &Matrix) -> Result<Triangles> {
    let n = check("triangles", a, None)?;
    if let Some((inner, a)) = on_inner(machine, a)? {
        return inner.triangles(&a, TriangleMethod::Auto);
    }
    let (shared, block) = on_ranks(machine, "triangles", a)?;
    let count = panels::count(shared, n, shared.ready(block.pattern().ok_or_else(broken))?)?;
    Ok(Triangles { count, method: "compressed: panels of L on the lines of the grid, 64 columns to a word".into() })
}

/// S = B ∘ (B·B).
pub(crate) fn per_edge(machine: &Machine, a: &Matrix) -> Result<Matrix> {
    check("triangles_per_edge", a, None)?;
    if let Some((inner, a)) = on_inner(machine, a)? {
        return machine.upload(&inner.triangles_per_edge(&a)?.download()?);
    }
    let graph = simple(machine, &machine.upload(a)?, Type::U64)?;
    let ring = Semiring::new("plus_pair", Type::U64)?;
    let found = machine.mxm_with(&ring, &graph, &graph, Some((&graph, false)), &Default::default())?;
    // Edges in no triangle get an explicit zero.
    let zeros = machine.apply(&UnaryOp::new("0 * a", Type::U64)?, &graph)?;
    machine.ewise_add(&BinaryOp::new("plus", Type::U64)?, &zeros, found.matrix())
}

/// ½ S·1.
pub(crate) fn per_vertex(machine: &Machine, a: &Matrix) -> Result<Vec<u64>> {
    if let Some((inner, a)) = on_inner(machine, a)? {
        return inner.triangles_per_vertex(&a);
    }
    let sums: Vector = machine.reduce_rows(&Monoid::new("plus", Type::U64)?, &per_edge(machine, a)?)?;
    let sums = sums.download()?;
    let sums = sums.typed::<u64>().ok_or_else(|| unexpected("sums"))?.to_dense(0)?;
    Ok(sums.into_iter().map(|twice| twice / 2).collect())
}

fn unexpected(what: &str) -> Error {
    Error::Device { what: "cluster".into(), message: format!("{what} are of another type") }
}
