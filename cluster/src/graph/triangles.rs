//! Triangles by masked products.

use std::sync::Arc;

use sparring::algebra::{Array, Type};
use sparring::graph::{TriangleMethod, Triangles};
use sparring::runtime::{BinaryOp, Machine, Matrix, Monoid, Semiring, Sum, UnaryOp, Vector};
use sparring::spgemm::Options;
use sparring::{Error, Pattern, Result};

use super::{block_of, check, piece_of, simple};
use crate::Cluster;
use crate::blocks::Block;
use crate::fold::Line;
use crate::wire::{broken, reserved};

/// The matrix on the one rank there is.
fn on_inner<'a>(machine: &'a Machine, a: &Matrix) -> Result<Option<(&'a Machine, Matrix)>> {
    Ok(match machine.typed::<Cluster>() {
        Some(cluster) if cluster.size() == 1 => Some((cluster.inner(), cluster.inner().upload(&a.download()?)?)),
        _ => None,
    })
}

/// Σ U ∘ (U·U), U the edges from a vertex of lower degree to one of higher degree, of equal ones to the one behind.
pub(crate) fn count(machine: &Machine, a: &Matrix) -> Result<Triangles> {
    let n = check("triangles", a, None)?;
    if let Some((inner, a)) = on_inner(machine, a)? {
        return inner.triangles(&a, TriangleMethod::Auto);
    }
    let graph = simple(machine, &machine.upload(a)?, Type::U32)?;
    let upward = upward(machine, &graph, n)?;
    let ring = Semiring::new("plus_pair", Type::U32)?;
    let found = machine.mxm_with(&ring, &upward, &upward, Some((&upward, false)), &Options::default())?;
    let count = match machine.sum(found.matrix())? {
        Sum::Integer(count) => count as u64,
        _ => return Err(unexpected("counts")),
    };
    let method = "masked product U⟨U⟩ = U·U of blocks, each edge to its end of higher degree".into();
    Ok(Triangles { count, method })
}

/// Of a simple graph, the edges that lead to an end of higher degree.
fn upward(machine: &Machine, graph: &Matrix, n: usize) -> Result<Matrix> {
    let cluster = machine.typed::<Cluster>().ok_or_else(|| unexpected("machines"))?;
    let (shared, block) = (&cluster.0, block_of(graph)?);
    let degrees = machine.reduce_rows(&Monoid::new("plus", Type::U32)?, graph)?;
    let (made, nnz) = shared.together("triangles", || {
        let along = |line| -> Result<Vec<u32>> {
            let degrees = shared.gathered(line, n, piece_of(&degrees)?)?.download()?;
            degrees.typed::<u32>().ok_or_else(|| unexpected("degrees"))?.to_dense(0)
        };
        // Both are gathered, whatever became of the first: the other ranks wait.
        let (of_rows, of_cols) = (along(Line::Row), along(Line::Column));
        let (of_rows, of_cols) = (of_rows?, of_cols?);
        let (rows, cols) = shared.grid.block((n, n));
        let here = block.block.download()?;
        let pattern = here.pattern().ok_or_else(broken)?;
        let mut row_ptr = reserved(pattern.nrows() + 1, "row pointers")?;
        let mut kept = reserved(pattern.nnz(), "columns")?;
        row_ptr.push(0);
        for (i, degree) in of_rows.into_iter().enumerate() {
            let own = (degree, rows.start + i);
            let leads_up = |j: &u32| (of_cols[*j as usize], cols.start + *j as usize) > own;
            kept.extend(pattern.row(i).iter().copied().filter(leads_up));
            row_ptr.push(kept.len());
        }
        let nnz = kept.len();
        let pattern = Pattern::from_unsorted(pattern.nrows(), pattern.ncols(), row_ptr, kept)?;
        let mut ones = reserved(nnz, "values")?;
        ones.resize(nnz, 1u32);
        Ok((shared.inner.upload(&Matrix::new(Arc::new(pattern), Array::of(ones))?)?, nnz))
    })?;
    Ok(Block { shared: Arc::clone(shared), shape: (n, n), nnz, block: made }.into())
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
