//! Centralities that are fixed points of sums over neighbors: eigenvector, Katz, hubs and authorities.

use std::sync::{Mutex, PoisonError};

use super::leading::accelerate;
use super::pull::Pull;
use super::structure::Graph;
use crate::par::{Threads, filled, for_each_part, note, reserved};
use crate::{Cpu, Error, Result};

/// Stopping criteria of an iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Iteration {
    /// Converged when the sum over all vertices of the changes in a step is less than this.
    pub tolerance: f64,
    /// Failing to converge within this many steps is an error.
    pub max_iterations: u32,
}

impl Default for Iteration {
    fn default() -> Self {
        Self { tolerance: 1e-6, max_iterations: 1000 }
    }
}

/// Estimated remaining steps of the power method above which conjugate gradients take fewer.
const SLOW: f64 = 8.0;

/// Hub and authority scores of vertices.
#[derive(Clone, Debug, PartialEq)]
pub struct Hits {
    /// Quality of the authorities that each vertex links to; the hubs sum to 1.
    pub hubs: Vec<f64>,
    /// Quality of the hubs that link to each vertex; the authorities sum to 1.
    pub authorities: Vec<f64>,
}

impl Iteration {
    fn check(self) -> Result<()> {
        // NaN is not positive.
        if self.tolerance.partial_cmp(&0.0) == Some(std::cmp::Ordering::Greater) {
            return Ok(());
        }
        Err(Error::Argument { name: "tolerance", message: format!("{} is not positive", self.tolerance) })
    }
    /// Runs `step`, which returns the size of its change, until convergence. A call may count as more than one step.
    fn run(self, op: &'static str, mut step: impl FnMut(&mut u32) -> Result<f64>) -> Result<()> {
        self.check()?;
        let (mut change, mut k) = (f64::INFINITY, 0);
        while k < self.max_iterations {
            k += 1;
            change = step(&mut k)?;
            if change < self.tolerance {
                note(|| format!("{op}: {k} steps"));
                return Ok(());
            }
            if !change.is_finite() {
                break;
            }
        }
        let message = format!(
            "{op}: {} steps, the last of which changed {change}, not less than {}",
            self.max_iterations, self.tolerance
        );
        Err(Error::Argument { name: "max_iterations", message })
    }
}

/// The eigenvector of Aᵀ of the largest eigenvalue, of length 1: `x(v) ∝ Σ_{u → v} w(u, v) x(u)`.
///
/// Steps are `x ← (I + Aᵀ) x`, which has the same eigenvector and does not oscillate on bipartite graphs, as in
/// networkx. It is unique on a (strongly) connected graph; 1/√n everywhere without edges. On slow convergence on an
/// undirected graph, conjugate gradients take over, with the same limit and each counted as a step; a final step
/// `(I + Aᵀ) x` confirms the tolerance. Cost: O(n + m) per step.
/// # Errors
/// [`Error::Argument`] for negative weights, a tolerance that is not positive, and if `iteration` ends before it
/// converges; [`Error::OutOfMemory`]; [`Error::Cancelled`].
/// # Example
/// ```
/// use sparring::prelude::*;
/// use sparring::graph::{Graph, GraphKind, Iteration, eigenvector_centrality};
/// // The path 0 – 1 – 2.
/// let a = Csr::<f64>::new(3, 3, vec![0, 1, 2, 2], vec![1, 2], vec![1.0; 2])?;
/// let cpu = Cpu::new();
/// let g = Graph::new(&cpu, &a, GraphKind::Undirected)?;
/// let x = eigenvector_centrality(&cpu, &g, Iteration::default())?;
/// assert!((x[1] - 0.5f64.sqrt()).abs() < 1e-5);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Bonacich 1972, "Factoring and weighting approaches to status scores and clique identification".
pub fn eigenvector_centrality(cpu: &Cpu, g: &Graph, iteration: Iteration) -> Result<Vec<f64>> {
    g.check_weights("eigenvector_centrality")?;
    let n = g.vertices();
    let pull = Pull::new(cpu.threads(), g.incoming(cpu)?)?;
    let mut x = filled(n, 1.0 / (n.max(1) as f64).sqrt(), "centralities")?;
    let (mut next, mut unused) = (filled(n, 0.0, "centralities")?, filled(n, 0.0, "centralities")?);
    let (mut before, mut accelerated) = (f64::INFINITY, !g.has_both_directions());
    iteration.run("eigenvector_centrality", |k| {
        let squares = pull.step("eigenvector_centrality", &x, &mut next, &mut unused, |v, sum, to, _| {
            *to = x[v] + sum;
            *to * *to
        })?;
        // An empty graph has norm 0.
        let norm = if squares > 0.0 { squares.sqrt() } else { 1.0 };
        let change = next.iter_mut().zip(&mut x).map(|(to, x)| {
            *to /= norm;
            (*to - std::mem::replace(x, *to)).abs()
        });
        let change: f64 = change.sum();
        // Estimate of the remaining steps, if each shrinks the change as the last did.
        let left = (iteration.tolerance / change).ln() / (change / std::mem::replace(&mut before, change)).ln();
        if !accelerated && *k > 2 && change >= iteration.tolerance && !(0.0..SLOW).contains(&left) {
            accelerated = true;
            let most = iteration.max_iterations - *k;
            *k += accelerate(cpu.threads(), &pull, "eigenvector_centrality", &mut x, iteration.tolerance, most)?;
        }
        Ok(change)
    })?;
    Ok(x)
}

/// Katz centrality `x = α Aᵀ x + β`, normalized to length 1: counts paths of every length that end at a vertex, each
/// edge weighing α.
///
/// It exists for α below the inverse of the largest eigenvalue of A. The convention is that of networkx. Cost: O(n + m)
/// per step.
/// # Errors
/// [`Error::Argument`] for negative weights, negative or non-finite α or β, a tolerance that is not positive, and if
/// `iteration` ends before it converges, as it does if α is too large; [`Error::OutOfMemory`];
/// [`Error::Cancelled`].
/// # Example
/// ```
/// use sparring::prelude::*;
/// use sparring::graph::{Graph, GraphKind, Iteration, katz_centrality};
/// // 0 → 1: x = (β, αβ + β) before it is divided.
/// let a = Csr::<f64>::new(2, 2, vec![0, 1, 1], vec![1], vec![1.0])?;
/// let cpu = Cpu::new();
/// let x = katz_centrality(&cpu, &Graph::new(&cpu, &a, GraphKind::Directed)?, 0.5, 1.0, Iteration::default())?;
/// assert!((x[1] / x[0] - 1.5).abs() < 1e-12);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Katz 1953, "A new status index derived from sociometric analysis".
pub fn katz_centrality(cpu: &Cpu, g: &Graph, alpha: f64, beta: f64, iteration: Iteration) -> Result<Vec<f64>> {
    for (name, x) in [("alpha", alpha), ("beta", beta)] {
        if !(0.0..f64::INFINITY).contains(&x) {
            return Err(Error::Argument { name, message: format!("{x} is not a nonnegative number") });
        }
    }
    g.check_weights("katz_centrality")?;
    let n = g.vertices();
    let pull = Pull::new(cpu.threads(), g.incoming(cpu)?)?;
    let (mut x, mut next) = (filled(n, 0.0, "centralities")?, filled(n, 0.0, "centralities")?);
    let mut unused = filled(n, 0.0, "centralities")?;
    iteration.run("katz_centrality", |_| {
        let change = pull.step("katz_centrality", &x, &mut next, &mut unused, |v, sum, to, _| {
            *to = alpha * sum + beta;
            (*to - x[v]).abs()
        })?;
        std::mem::swap(&mut x, &mut next);
        Ok(change)
    })?;
    let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
    if norm > 0.0 {
        x.iter_mut().for_each(|x| *x /= norm);
    }
    Ok(x)
}

/// Hubs and authorities: `a ∝ Aᵀ h` and `h ∝ A a`, each summing to 1.
///
/// They are the leading singular vectors of A, in the convention of networkx. In a graph without edges each vertex has
/// 1/n. Cost: O(n + m) per step, two products; the transpose of a directed graph once.
/// # Errors
/// [`Error::Argument`] for negative weights, a tolerance that is not positive, and if `iteration` ends before it
/// converges; [`Error::OutOfMemory`]; [`Error::Cancelled`].
/// # Example
/// ```
/// use sparring::prelude::*;
/// use sparring::graph::{Graph, GraphKind, Iteration, hits};
/// // 0 → 2 ← 1.
/// let a = Csr::<f64>::new(3, 3, vec![0, 1, 2, 2], vec![2, 2], vec![1.0; 2])?;
/// let cpu = Cpu::new();
/// let found = hits(&cpu, &Graph::new(&cpu, &a, GraphKind::Directed)?, Iteration::default())?;
/// assert_eq!((found.hubs, found.authorities), (vec![0.5, 0.5, 0.0], vec![0.0, 0.0, 1.0]));
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Kleinberg 1999, "Authoritative sources in a hyperlinked environment".
pub fn hits(cpu: &Cpu, g: &Graph, iteration: Iteration) -> Result<Hits> {
    g.check_weights("hits")?;
    let n = g.vertices();
    let even = 1.0 / n.max(1) as f64;
    let (mut hubs, mut authorities) = (filled(n, even, "hubs")?, filled(n, even, "authorities")?);
    if g.pattern().nnz() == 0 {
        iteration.check()?;
        return Ok(Hits { hubs, authorities });
    }
    let (mut next, mut unused) = (filled(n, 0.0, "hubs")?, filled(n, 0.0, "authorities")?);
    let (threads, lists) = (cpu.threads(), g.incoming(cpu)?);
    let into = Pull::new(threads, lists)?;
    // In an undirected graph both directions coincide.
    let other = if g.has_both_directions() { None } else { Some(Pull::new(threads, g.outgoing())?) };
    let out = other.as_ref().unwrap_or(&into);
    iteration.run("hits", |k| {
        let total = if *k == 1 && lists.weights.is_none() {
            // The first product, with a constant, needs only degrees.
            (0..n).zip(&mut authorities).for_each(|(v, a)| *a = even * lists.degree(v) as f64);
            authorities.iter().sum()
        } else {
            into.step("hits", &hubs, &mut authorities, &mut unused, |_, sum, a, _| {
                *a = sum;
                sum
            })?
        };
        scale(threads, &mut authorities, total, &hubs)?;
        let total = out.step("hits", &authorities, &mut next, &mut unused, |_, sum, h, _| {
            *h = sum;
            sum
        })?;
        let change = scale(threads, &mut next, total, &hubs)?;
        std::mem::swap(&mut hubs, &mut next);
        Ok(change)
    })?;
    Ok(Hits { hubs, authorities })
}

/// Vertices per block: sums are taken by block, independently of the number of threads.
const BLOCK: usize = 1 << 13;

/// Divides `x` by `total`, unless it is 0, and returns the distance from `before`, `Σ |x − before|`.
fn scale(threads: &Threads, x: &mut [f64], total: f64, before: &[f64]) -> Result<f64> {
    let blocks = x.len().div_ceil(BLOCK);
    let sums = Mutex::new(filled(blocks, 0.0, "sums of blocks")?);
    let by = if total > 0.0 { total } else { 1.0 };
    let mut parts = reserved(blocks, "blocks")?;
    parts.extend(x.chunks_mut(BLOCK).zip(before.chunks(BLOCK)).enumerate());
    for_each_part(
        threads,
        parts,
        || Ok(()),
        |(), (k, (x, before))| {
            // Four partial sums, to break the dependency chain.
            let mut four = [0.0; 4];
            for (x, before) in x.chunks_mut(4).zip(before.chunks(4)) {
                for ((x, before), sum) in x.iter_mut().zip(before).zip(&mut four) {
                    *x /= by;
                    *sum += (*x - before).abs();
                }
            }
            sums.lock().unwrap_or_else(PoisonError::into_inner)[k] = (four[0] + four[1]) + (four[2] + four[3]);
            Ok(())
        },
    )?;
    Ok(sums.into_inner().unwrap_or_else(PoisonError::into_inner).iter().sum())
}
