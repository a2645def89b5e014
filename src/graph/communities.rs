//! Communities of high modularity: the Louvain and Leiden methods.
//!
//! Source: Blondel, Guillaume, Lambiotte, Lefebvre 2008, "Fast unfolding of communities in large networks"; Traag,
//! Waltman, van Eck 2019, "From Louvain to Leiden: guaranteeing well-connected communities".

mod moving;
mod network;
mod refining;

use super::Graph;
use super::draws::Draws;
use crate::par::{collected, copied, filled, note};
use crate::{Cpu, Error, Result};

use moving::Moving;
use network::{Groups, Network, check, renumber};
use refining::refined;

/// Communities of a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Communities {
    /// The community of each vertex, below `count`. Communities are numbered in the order of their least vertices.
    pub labels: Vec<u32>,
    /// Number of communities.
    pub count: usize,
    /// Their [`modularity`]; 0 if the total edge weight is 0.
    pub modularity: f64,
}

/// `Q = Σ_c (w_c / m − γ (k_c / 2m)²)`: the modularity of the communities `labels` of an undirected graph, with w_c the
/// weight of the edges within community c, k_c the sum of the weighted degrees of its vertices, m the total edge weight
/// and γ = `resolution`; for a directed graph `Q = Σ_c (w_c / m − γ k_c⁺ k_c⁻ / m²)`, with out- and in-degrees.
///
/// A self-loop counts once in w and m and twice in an undirected degree, as in networkx. Edges of an unweighted graph
/// have weight 1. If the total edge weight is 0, so is the modularity. Cost: O(n + m). The sums are in the order of the
/// vertices.
/// # Errors
/// [`Error::Length`] if there is not one label per vertex; [`Error::Argument`] for a label that is not below n and a
/// resolution that is not finite; [`Error::OutOfMemory`].
/// # Example
/// ```
/// use sparring::graph::{Graph, GraphKind, modularity};
/// use sparring::{Cpu, Csr};
/// // 0 – 1, 2 – 3.
/// let a = Csr::<f64>::new(4, 4, vec![0, 1, 1, 2, 2], vec![1, 3], vec![1.0; 2])?;
/// let cpu = Cpu::new();
/// let g = Graph::new(&cpu, &a, GraphKind::Undirected)?;
/// assert_eq!(modularity(&cpu, &g, &[0, 0, 1, 1], 1.0)?, 0.5);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Newman, Girvan 2004; Leicht, Newman 2008 (directed); Reichardt, Bornholdt 2006 (resolution).
pub fn modularity(cpu: &Cpu, g: &Graph, labels: &[u32], resolution: f64) -> Result<f64> {
    let n = g.vertices();
    if labels.len() != n {
        return Err(Error::Length { what: "labels of vertices", found: labels.len(), expected: n });
    }
    if let Some(v) = labels.iter().position(|&l| l as usize >= n) {
        let message = format!("vertex {v} has label {}, which is not below {n}", labels[v]);
        return Err(Error::Argument { name: "labels", message });
    }
    check(resolution)?;
    cpu.threads().alone("modularity", || {
        let (lists, both) = (g.outgoing(), g.has_both_directions());
        let (mut inside, mut all) = (0.0, 0.0);
        // Out- and in-degree of each community, equal in an undirected graph.
        let mut degrees = filled(n, (0.0, 0.0), "degrees of communities")?;
        for v in 0..n {
            let mut out = 0.0;
            if lists.weights.is_none() {
                // Integers: exact sums without a dependency chain of floats.
                let (label, list) = (labels[v], lists.of(v));
                let mut same = list.iter().filter(|&&u| labels[u as usize] == label).count();
                let mut degree = list.len();
                if both && g.self_loops() > 0 && list.binary_search(&(v as u32)).is_ok() {
                    (same, degree) = (same + 1, degree + 1);
                }
                if !both {
                    list.iter().for_each(|&u| degrees[labels[u as usize] as usize].1 += 1.0);
                }
                (inside, all) = (inside + same as f64, all + degree as f64);
                degrees[label as usize].0 += degree as f64;
                continue;
            }
            for (u, w) in lists.weighted(v) {
                let w = if both && u == v { 2.0 * w } else { w };
                out += w;
                inside += if labels[u] == labels[v] { w } else { 0.0 };
                if !both {
                    degrees[labels[u] as usize].1 += w;
                }
            }
            all += out;
            degrees[labels[v] as usize].0 += out;
        }
        if all == 0.0 {
            return Ok(0.0);
        }
        let expected: f64 =
            degrees.iter().map(|&(out, into)| out / all * ((if both { out } else { into }) / all)).sum();
        Ok(inside / all - resolution * expected)
    })
}

/// Communities by the Louvain method: vertices move to the community of a neighbor as long as [`modularity`] grows,
/// then communities become the vertices of a smaller graph, until none moves.
///
/// Vertices are visited in a random order drawn from `seed`, and again when a neighbor has moved. The result is
/// deterministic for any number of threads; modularities for several seeds differ by about a percent. Vertices whose
/// indices differ by 16384 or more are not shuffled with each other. Communities may be disconnected; those of
/// [`leiden`] are not. A resolution above 1 gives more and smaller communities. Cost: O(n + m) per level, usually few
/// levels; O(n + m) memory. Vertices move on one thread; the smaller graphs are built by all.
/// # Errors
/// [`Error::Argument`] for a directed graph, a weight that is negative or infinite, and a resolution that is not
/// finite; [`Error::OutOfMemory`]; [`Error::Cancelled`].
/// # Example
/// ```
/// use sparring::graph::{Graph, GraphKind, louvain};
/// use sparring::{Cpu, Csr};
/// // Two triangles, 0, 1, 2 and 3, 4, 5, and the edge 2 – 3.
/// let (ptr, cols) = (vec![0, 2, 3, 4, 6, 7, 7], vec![1, 2, 2, 3, 4, 5, 5]);
/// let a = Csr::<f64>::new(6, 6, ptr, cols, vec![1.0; 7])?;
/// let cpu = Cpu::new();
/// let found = louvain(&cpu, &Graph::new(&cpu, &a, GraphKind::Undirected)?, 1.0, 0)?;
/// assert_eq!(found.labels, [0, 0, 0, 1, 1, 1]);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Blondel et al. 2008, with a queue of vertices (Traag et al. 2019, Algorithm A.2).
pub fn louvain(cpu: &Cpu, g: &Graph, resolution: f64, seed: u64) -> Result<Communities> {
    let mut draws = Draws::new(seed);
    let mut network = Network::of(g, resolution)?;
    let n = g.vertices();
    let mut labels = collected(n, 0..n as u32, "communities")?;
    let mut levels = 0;
    loop {
        let singles = collected(network.vertices(), 0..network.vertices() as u32, "communities")?;
        let moved = cpu.threads().alone("louvain", || Moving::new(&network, singles, &mut draws)?.run(false))?;
        let (moved, count) = renumber(moved)?;
        if count == network.vertices() {
            break;
        }
        labels.iter_mut().for_each(|l| *l = moved[*l as usize]);
        network = network.aggregated(cpu.threads(), "louvain", &moved, &Groups::new(&moved, count)?)?;
        levels += 1;
    }
    note(|| format!("louvain: {levels} levels, {} communities", network.vertices()));
    Ok(Communities { labels, count: network.vertices(), modularity: network.modularity() })
}

/// Communities by the Leiden method: like [`louvain`], but each community is split again into well-connected parts,
/// which become the vertices of the smaller graph.
///
/// Every community is connected. Each of `iterations` starts with the communities of the previous one; iteration ends
/// early if modularity does not grow. Vertices move in an order drawn from `seed`, as in [`louvain`], and a vertex
/// joins the part with the largest gain of modularity, so the result is deterministic for any number of threads. Cost:
/// per iteration that of [`louvain`], and as much again for the parts. Vertices move on one thread; parts and smaller
/// graphs are built by all.
/// # Errors
/// Those of [`louvain`]; [`Error::Argument`] for zero iterations.
/// # Example
/// ```
/// use sparring::graph::{Graph, GraphKind, leiden};
/// use sparring::{Cpu, Csr};
/// // Two triangles, 0, 1, 2 and 3, 4, 5, and the edge 2 – 3.
/// let (ptr, cols) = (vec![0, 2, 3, 4, 6, 7, 7], vec![1, 2, 2, 3, 4, 5, 5]);
/// let a = Csr::<f64>::new(6, 6, ptr, cols, vec![1.0; 7])?;
/// let cpu = Cpu::new();
/// let found = leiden(&cpu, &Graph::new(&cpu, &a, GraphKind::Undirected)?, 1.0, 2, 0)?;
/// assert_eq!(found.labels, [0, 0, 0, 1, 1, 1]);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Traag, Waltman, van Eck 2019, Algorithm A.2, with the best part in place of a random one.
pub fn leiden(cpu: &Cpu, g: &Graph, resolution: f64, iterations: usize, seed: u64) -> Result<Communities> {
    let (n, threads, mut draws) = (g.vertices(), cpu.threads(), Draws::new(seed));
    if iterations == 0 {
        return Err(Error::Argument { name: "iterations", message: "at least one is needed".into() });
    }
    let mut found = Communities { labels: collected(n, 0..n as u32, "communities")?, count: n, modularity: 0.0 };
    for iteration in 0..iterations {
        let mut network = Network::of(g, resolution)?;
        let mut labels = collected(n, 0..n as u32, "communities")?;
        // Communities of the vertices of the network.
        let mut coarse = std::mem::take(&mut found.labels);
        let before = if iteration == 0 { f64::NEG_INFINITY } else { found.modularity };
        let kept = copied(&coarse, "communities")?;
        loop {
            let moved = threads.alone("leiden", || Moving::new(&network, coarse, &mut draws)?.run(true))?;
            // There are at most as many communities as parts.
            let (moved, count) = renumber(moved)?;
            let (parts, count) = renumber(refined(threads, &network, &Groups::new(&moved, count)?)?)?;
            if count == network.vertices() {
                break;
            }
            coarse = filled(count, 0u32, "communities")?;
            parts.iter().zip(&moved).for_each(|(&part, &c)| coarse[part as usize] = c);
            labels.iter_mut().for_each(|l| *l = parts[*l as usize]);
            network = network.aggregated(threads, "leiden", &parts, &Groups::new(&parts, count)?)?;
        }
        let modularity = network.modularity();
        if modularity <= before {
            found.labels = kept;
            break;
        }
        found = Communities { labels, count: network.vertices(), modularity };
    }
    note(|| format!("leiden: {} communities", found.count));
    Ok(found)
}
