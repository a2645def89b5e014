//! Triangles by masked products.

use sparring::algebra::Type;
use sparring::graph::{TriangleMethod, Triangles};
use sparring::runtime::{BinaryOp, IndexList, Machine, Matrix, Monoid, Op, Semiring, Sum, UnaryOp, Vector};
use sparring::{Error, Result};

use super::{check, simple};
use crate::Cluster;

/// The matrix on the one rank there is.
fn on_inner<'a>(machine: &'a Machine, a: &Matrix) -> Result<Option<(&'a Machine, Matrix)>> {
    Ok(match machine.typed::<Cluster>() {
        Some(cluster) if cluster.size() == 1 => Some((cluster.inner(), cluster.inner().upload(&a.download()?)?)),
        _ => None,
    })
}

/// Σ L ∘ (L·L), vertices in the order of their degrees, greatest first.
pub(crate) fn count(machine: &Machine, a: &Matrix) -> Result<Triangles> {
    let n = check("triangles", a, None)?;
    if let Some((inner, a)) = on_inner(machine, a)? {
        return inner.triangles(&a, TriangleMethod::Auto);
    }
    let graph = simple(machine, &machine.upload(a)?)?;
    let degrees = machine.reduce_rows(&Monoid::new("plus", Type::U64)?, &graph)?.download()?;
    let degrees = degrees.typed::<u64>().ok_or_else(|| unexpected("degrees"))?.to_dense(0)?;
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|&v| (std::cmp::Reverse(degrees[v]), v));
    let order = IndexList::from(order);
    let sorted: Matrix = machine.call(Op::Extract(&order, &order), &graph).eval()?;
    let lower = machine.select(&UnaryOp::new("j < i", Type::U64)?, &sorted)?;
    let ring = Semiring::new("plus_pair", Type::U64)?;
    let found = machine.mxm_with(&ring, &lower, &lower, Some((&lower, false)), &Default::default())?;
    let count = match machine.sum(found.matrix())? {
        Sum::Integer(count) => count as u64,
        _ => return Err(unexpected("counts")),
    };
    let method = "masked product L⟨L⟩ = L·L of blocks, vertices in the order of their degrees".into();
    Ok(Triangles { count, method })
}

/// S = B ∘ (B·B).
pub(crate) fn per_edge(machine: &Machine, a: &Matrix) -> Result<Matrix> {
    check("triangles_per_edge", a, None)?;
    if let Some((inner, a)) = on_inner(machine, a)? {
        return machine.upload(&inner.triangles_per_edge(&a)?.download()?);
    }
    let graph = simple(machine, &machine.upload(a)?)?;
    let ring = Semiring::new("plus_pair", Type::U64)?;
    let found = machine.mxm_with(&ring, &graph, &graph, Some((&graph, false)), &Default::default())?;
    // Edges in no triangle are there too.
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
