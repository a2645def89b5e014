//! PageRank by power iteration; each vertex pulls along its incoming edges.
//!
//! Sources: Brin, Page 1998, "The anatomy of a large-scale hypertextual Web search engine"; Beamer, Asanović, Patterson
//! 2015, "The GAP Benchmark Suite" (its variant).

use super::place::{GraphBackend, Place};
use super::pull::Pull;
use super::structure::Graph;
use crate::par::{filled, note, reserved};
use crate::{Cpu, Error, Result};

/// Options of [`pagerank`].
#[derive(Clone, Debug, PartialEq)]
pub struct PageRankOptions {
    /// Damping factor, in [0, 1).
    pub damping: f64,
    /// The iteration stops when `Σ |r'(v) − r(v)|` is less than this.
    pub tolerance: f64,
    /// Failing to converge within this many iterations is an error.
    pub max_iterations: u32,
    /// Teleport distribution, up to a factor; uniform if absent.
    pub personalization: Option<Vec<f64>>,
    /// Drop the rank of dangling vertices, as the GAP benchmark does; the ranks then add up to less than 1. Otherwise
    /// it follows the teleport distribution.
    pub drop_dangling: bool,
}

impl Default for PageRankOptions {
    fn default() -> Self {
        Self { damping: 0.85, tolerance: 1e-6, max_iterations: 100, personalization: None, drop_dangling: false }
    }
}

/// The result of [`pagerank`].
#[derive(Clone, Debug, PartialEq)]
pub struct PageRank {
    /// The rank of each vertex.
    pub ranks: Vec<f64>,
    /// Number of iterations.
    pub iterations: u32,
    /// Total change of the ranks in the last iteration.
    pub change: f64,
}

/// `r(v) = (1 − d) p(v) + d (Σ_{u → v} r(u) w(u, v) / s(u) + p(v) Σ_{u without edges} r(u))`, where s(u) is the sum of
/// the weights that leave u and p the personalization, which adds up to 1.
///
/// An undirected edge is one in each direction; self-loops are edges; edges of an unweighted graph have weight 1. The
/// convention is that of networkx, whose tolerance is ours over n. Cost: O(n + m) per step, 32n bytes, and the
/// transpose of a directed graph once. Bitwise the same for any number of threads.
/// # Errors
/// [`Error::Argument`] for a damping outside [0, 1), a tolerance that is not positive, negative weights or
/// personalization, a personalization that sums to 0 or has another length than the graph, and if the ranks have not
/// converged after the last step; [`Error::OutOfMemory`]; [`Error::Cancelled`]; on a GPU [`Error::DeviceMemory`],
/// [`Error::Device`].
/// # Example
/// ```
/// use sparring::prelude::*;
/// use sparring::graph::{Graph, GraphKind, PageRankOptions, pagerank};
/// // 0 → 2 ← 1, 2 → 0.
/// let a = Csr::<f64>::new(3, 3, vec![0, 1, 2, 3], vec![2, 2, 0], vec![1.0; 3])?;
/// let cpu = Cpu::new();
/// let found = pagerank(&cpu, &Graph::new(&cpu, &a, GraphKind::Directed)?, &PageRankOptions::default())?;
/// assert!(found.ranks[2] > found.ranks[0] && found.ranks[0] > found.ranks[1]);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Brin, Page 1998.
pub fn pagerank(on: &(impl GraphBackend + ?Sized), g: &Graph, options: &PageRankOptions) -> Result<PageRank> {
    let n = g.vertices();
    let refuse = |name, message| Err(Error::Argument { name, message });
    if !(0.0..1.0).contains(&options.damping) {
        return refuse("damping", format!("{} is not in [0, 1)", options.damping));
    }
    // Also rejects NaN.
    if options.tolerance.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
        return refuse("tolerance", format!("{} is not positive", options.tolerance));
    }
    g.check_weights("pagerank")?;
    let jumps = match &options.personalization {
        None => None,
        Some(p) => Some(normalized(p, n)?),
    };
    if n == 0 {
        return Ok(PageRank { ranks: vec![], iterations: 0, change: 0.0 });
    }
    let found = match on.place()? {
        Place::Cpu(cpu) => iterated(cpu, g, options, jumps.as_deref())?,
        #[cfg(feature = "cuda")]
        Place::Cuda(cuda) => {
            let found = g.on_device(cuda)?.pagerank(&crate::gpu::Ranking {
                damping: options.damping,
                tolerance: options.tolerance,
                max_iterations: options.max_iterations,
                drop_dangling: options.drop_dangling,
                jumps: jumps.as_deref(),
                weights: g.outgoing().weights,
            })?;
            PageRank { ranks: found.ranks, iterations: found.iterations, change: found.change }
        }
    };
    if found.change < options.tolerance {
        note(|| format!("pagerank: {} steps, each over {} edges", found.iterations, g.pattern().nnz()));
        return Ok(found);
    }
    let (step, change, tolerance) = (found.iterations, found.change, options.tolerance);
    refuse("max_iterations", format!("ranks change by {change} in step {step}, not by less than {tolerance}"))
}

/// Ranks after the step that changes them by less than the tolerance, or after the last step.
fn iterated(cpu: &Cpu, g: &Graph, options: &PageRankOptions, jumps: Option<&[f64]>) -> Result<PageRank> {
    let n = g.vertices();
    let (even, damping) = (1.0 / n as f64, options.damping);
    let jump = |v: usize| jumps.map_or(even, |p| p[v]);
    // Rank sent along each edge of weight 1, relative to the rank of the vertex; 0 for dangling vertices.
    let outgoing = g.outgoing();
    let mut share = reserved(n, "shares of ranks")?;
    share.extend((0..n).map(|u| {
        let strength = match outgoing.weights {
            None => outgoing.degree(u) as f64,
            Some(_) => outgoing.weighted(u).map(|(_, w)| w).sum(),
        };
        if strength > 0.0 { damping / strength } else { 0.0 }
    }));
    let mut ranks = reserved(n, "ranks")?;
    ranks.extend((0..n).map(jump));
    let mut passed = reserved(n, "shares of ranks")?;
    passed.extend(ranks.iter().zip(&share).map(|(r, s)| r * s));
    let mut next = filled(n, 0.0, "shares of ranks")?;
    let mut dangling = reserved(share.iter().filter(|s| **s == 0.0).count(), "dangling vertices")?;
    dangling.extend((0..n as u32).filter(|&u| share[u as usize] == 0.0));
    let pull = Pull::new(cpu.threads(), g.incoming(cpu)?)?;
    let (mut change, mut iterations) = (f64::INFINITY, 0);
    while change >= options.tolerance && iterations < options.max_iterations {
        iterations += 1;
        let lost: f64 = if options.drop_dangling { 0.0 } else { dangling.iter().map(|&u| ranks[u as usize]).sum() };
        let rest = (1.0 - damping) + damping * lost;
        change = pull.step("pagerank", &passed, &mut ranks, &mut next, |v, sum, rank, passed| {
            let new = rest * jump(v) + sum;
            *passed = new * share[v];
            (new - std::mem::replace(rank, new)).abs()
        })?;
        std::mem::swap(&mut passed, &mut next);
    }
    Ok(PageRank { ranks, iterations, change })
}

/// `p`, normalized to sum to 1.
fn normalized(p: &[f64], n: usize) -> Result<Vec<f64>> {
    if p.len() != n {
        return Err(Error::Length { what: "personalization", found: p.len(), expected: n });
    }
    if let Some(v) = p.iter().position(|x| !(0.0..f64::INFINITY).contains(x)) {
        return Err(Error::Argument { name: "personalization", message: format!("that of vertex {v} is {}", p[v]) });
    }
    let sum: f64 = p.iter().sum();
    if sum == 0.0 || sum.is_infinite() {
        return Err(Error::Argument { name: "personalization", message: format!("it adds up to {sum}") });
    }
    crate::par::collected(n, p.iter().map(|x| x / sum), "personalization")
}
