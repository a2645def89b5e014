//! `sparring bench bfs|parents|sssp|betweenness`: graph algorithms in GraphBLAS operations.

use serde_json::json;
use sparring::graph::{betweenness, bfs_levels, bfs_parents, sssp_distances};
use sparring::prelude::*;
use sparring_generate::graphs::weight;

use super::case::load;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::output::ms;
use crate::timing::{Times, timed};

/// The algorithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Algorithm {
    /// Levels of a breadth-first search.
    Bfs,
    /// Parents in a breadth-first tree.
    Parents,
    /// Shortest path lengths (Bellman–Ford), relaxing only edges of the vertices that improved in the previous round.
    Sssp,
    /// Betweenness by shortest paths from [`SOURCES`] sources at once.
    Betweenness,
}

/// Number of sources of [`Algorithm::Betweenness`], the first vertices with an edge to another vertex.
const SOURCES: usize = 4;

pub(super) const CASES: &[&str] = &["lap2d_1000", "tc_rmat16"];

impl Algorithm {
    fn name(self) -> &'static str {
        match self {
            Self::Bfs => "bfs",
            Self::Parents => "parents",
            Self::Sssp => "sssp",
            Self::Betweenness => "betweenness",
        }
    }
    /// Number of vertices reached, and the sum of their results.
    fn run<B: Backend>(self, m: &B, graph: &DeviceGraph<B>) -> sparring::Result<(usize, f64)> {
        fn of_some(x: &[Option<u32>]) -> (usize, f64) {
            (x.iter().flatten().count(), x.iter().flatten().map(|&x| f64::from(x)).sum())
        }
        let DeviceGraph { a, transposed, sources } = graph;
        let source = sources[0];
        Ok(match self {
            Self::Bfs => of_some(&bfs_levels(m, a, transposed.as_ref(), source)?),
            Self::Parents => of_some(&bfs_parents(m, a, transposed.as_ref(), source)?),
            Self::Sssp => {
                let lengths = sssp_distances(m, a, source, None)?;
                let reached = || lengths.iter().copied().filter(|d| d.is_finite());
                (reached().count(), reached().sum())
            }
            Self::Betweenness => {
                let through = betweenness(m, a, transposed.as_ref().unwrap_or(a), sources)?;
                (through.len(), through.iter().sum())
            }
        })
    }
}

/// A graph on a backend.
struct DeviceGraph<B: Backend> {
    a: B::Matrix<f64>,
    /// The transpose, for algorithms that use it.
    transposed: Option<B::Matrix<f64>>,
    sources: Vec<usize>,
}

pub(super) fn heading() -> String {
    format!("{:18} {:>12} {:>16} {:>12} {:>12}", "case", "reached", "sum", "median ms", "minimum")
}

/// Measures the algorithm on one graph.
pub(super) fn run(context: &Context, algorithm: Algorithm, name: &str, repeat: u32) -> Result {
    let a = load(context, name)?;
    let n = a.nrows() as u64;
    let weights = a.iter().map(|(i, j, _)| weight(n, i as u64, j as u64)).collect();
    let a = Csr::with_pattern(a.pattern().clone(), weights)?;
    let has_edge = |i: &usize| a.row(*i).0.iter().any(|&j| j as usize != *i);
    let sources: Vec<usize> = (0..a.nrows()).filter(has_edge).take(SOURCES).collect();
    if sources.is_empty() {
        return Err(Error::Argument { name: "case", message: format!("{name} has no edge") }.into());
    }
    context.progress.stage(format!("measuring {name}"));
    match &context.cuda {
        Some(cuda) => measured(context, cuda, (algorithm, name, repeat), &a, sources),
        None => measured(context, &context.quiet, (algorithm, name, repeat), &a, sources),
    }
}

fn measured<B: Backend>(
    context: &Context,
    m: &B,
    (algorithm, name, repeat): (Algorithm, &str, u32),
    a: &Csr<f64>,
    sources: Vec<usize>,
) -> Result {
    let on = m.upload(a)?;
    let transposed = (algorithm != Algorithm::Sssp).then(|| m.transpose(&on).eval()).transpose()?;
    let (source, there) = (sources[0], DeviceGraph { a: on, transposed, sources });
    let found = algorithm.run(m, &there)?;
    let mut times = Times::default();
    for _ in 0..repeat {
        let (again, ms) = timed(|| algorithm.run(m, &there));
        times.push(ms);
        let again = again?;
        if again != found {
            return Err(Failure::Wrong(format!("{name}: {again:?}, then {found:?}")));
        }
    }
    let (nnz, sum) = found;
    let json = json!({
        "op": algorithm.name(), "case": name, "device": context.device.to_string(), "nrows": a.nrows(), "a_nnz": a.nnz(),
        "source": source, "nnz": nnz, "sum": sum, "threads": context.threads(), "compute_ms": ms(times.median()), "compute_min_ms": ms(times.minimum()),
    });
    context.result(json, || format!("{name:18} {nnz:>12} {sum:>16} {:>12.3} {:>12.3}", times.median(), times.minimum()))
}
