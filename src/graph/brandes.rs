//! Betweenness of vertices by a search from each source: forward for path counts, backward for dependencies.
//!
//! Source: Brandes 2001, "A Faster Algorithm for Betweenness Centrality"; Brandes, Pich 2007, "Centrality estimation in
//! large networks" (samples of sources).

use super::place::{GraphBackend, Place};
use super::search::UNREACHED;
use super::sssp::Steps;
use super::structure::{Graph, GraphKind, Lists};
use crate::par::{Threads, filled, for_each_part, note, out_of_memory, reserved};
use crate::{Cpu, Error, Result};

/// `B(v) = Σ σ(s, t | v) / σ(s, t)` over pairs s ≠ v ≠ t: the fraction of the shortest paths from s to t that pass
/// through v. Each pair of an undirected graph counts once.
///
/// Paths are shortest by weights if the graph has them, otherwise by numbers of edges. With `normalized` the result is
/// divided by the number of pairs, (n − 1)(n − 2), or half of it for an undirected graph, as in networkx by default.
/// Cost: O(n (n + m)) time, O(n (n + m + n log n)) with weights; 256n bytes, and 20n per thread. Bitwise the same for
/// any number of threads.
/// # Errors
/// [`Error::Argument`] naming an edge whose weight is not positive, and if weights differ so much in magnitude that
/// adding one does not change a distance; [`Error::OutOfMemory`]; [`Error::Cancelled`]; on a GPU
/// [`Error::DeviceMemory`], [`Error::Device`], and [`Error::Unsupported`] for weights.
/// # Example
/// ```
/// use sparring::prelude::*;
/// use sparring::graph::{Graph, GraphKind, betweenness_centrality};
/// // The path 0 – 1 – 2.
/// let a = Csr::<f64>::new(3, 3, vec![0, 1, 2, 2], vec![1, 2], vec![1.0; 2])?;
/// let cpu = Cpu::new();
/// let g = Graph::new(&cpu, &a, GraphKind::Undirected)?;
/// assert_eq!(betweenness_centrality(&cpu, &g, false)?, [0.0, 1.0, 0.0]);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Brandes 2001.
pub fn betweenness_centrality(on: &(impl GraphBackend + ?Sized), g: &Graph, normalized: bool) -> Result<Vec<f64>> {
    let n = g.vertices();
    let mut all = reserved(n, "sources")?;
    all.extend(0..n);
    let scale = scale(g, normalized);
    let mut found = dependencies(on, g, &all)?;
    found.iter_mut().for_each(|x| *x *= scale);
    Ok(found)
}

/// An estimate of [`betweenness_centrality`] from `samples` sources, drawn without replacement by `seed`: n/samples
/// times their sum.
///
/// The sources are the same on every backend. Cost: that of `samples` searches.
/// # Errors
/// Those of [`betweenness_centrality`]; [`Error::Argument`] for zero samples, or more than vertices.
/// # Example
/// ```
/// use sparring::prelude::*;
/// use sparring::graph::{Graph, GraphKind, sampled_betweenness};
/// let a = Csr::<f64>::new(3, 3, vec![0, 1, 2, 2], vec![1, 2], vec![1.0; 2])?;
/// let cpu = Cpu::new();
/// let g = Graph::new(&cpu, &a, GraphKind::Undirected)?;
/// assert_eq!(sampled_betweenness(&cpu, &g, 3, 1, false)?, [0.0, 1.0, 0.0]);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Brandes, Pich 2007.
pub fn sampled_betweenness(
    on: &(impl GraphBackend + ?Sized),
    g: &Graph,
    samples: usize,
    seed: u64,
    normalized: bool,
) -> Result<Vec<f64>> {
    let n = g.vertices();
    if samples == 0 || samples > n {
        return Err(Error::Argument { name: "samples", message: format!("{samples} of a graph of {n} vertices") });
    }
    // A partial Fisher–Yates shuffle.
    let mut drawn = reserved(n, "sources")?;
    drawn.extend(0..n);
    let mut state = seed;
    for k in 0..samples {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        drawn.swap(k, k + ((u128::from(z) * (n - k) as u128) >> 64) as usize);
    }
    let scale = scale(g, normalized) * n as f64 / samples as f64;
    let mut found = dependencies(on, g, &drawn[..samples])?;
    found.iter_mut().for_each(|x| *x *= scale);
    Ok(found)
}

/// The factor that counts pairs once and, if `normalized`, divides by their number.
fn scale(g: &Graph, normalized: bool) -> f64 {
    let n = g.vertices() as f64;
    let both = if g.kind() == GraphKind::Undirected { 0.5 } else { 1.0 };
    match normalized {
        true if n > 2.0 => 1.0 / ((n - 1.0) * (n - 2.0)),
        _ => both,
    }
}

/// `δ(v) = Σ_s Σ_t σ(s, t | v) / σ(s, t)` over the given sources s ≠ v and all vertices t ≠ v: the dependency of the
/// sources on v. Repeated sources count repeatedly.
///
/// Over all vertices it is [`betweenness_centrality`] of a directed graph, or twice that of an undirected one. Cost:
/// O(n + m) per source; sources are distributed over the threads, or on a GPU over groups of blocks, each with 32n
/// bytes and up to 4 GiB in all. Sources whose path counts overflow a double are moved from a GPU to the CPU.
/// # Errors
/// Those of [`betweenness_centrality`]; [`Error::Argument`] naming a source that is no vertex.
/// # Example
/// ```
/// use sparring::prelude::*;
/// use sparring::graph::{Graph, GraphKind, dependencies};
/// // The path 0 – 1 – 2.
/// let a = Csr::<f64>::new(3, 3, vec![0, 1, 2, 2], vec![1, 2], vec![1.0; 2])?;
/// let cpu = Cpu::new();
/// let g = Graph::new(&cpu, &a, GraphKind::Undirected)?;
/// assert_eq!(dependencies(&cpu, &g, &[0])?, [0.0, 1.0, 0.0]);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Brandes 2001.
pub fn dependencies(on: &(impl GraphBackend + ?Sized), g: &Graph, sources: &[usize]) -> Result<Vec<f64>> {
    sources.iter().try_for_each(|&s| g.check("sources", s))?;
    g.check_positive("betweenness")?;
    let n = g.vertices();
    if n == 0 || sources.is_empty() {
        return filled(n, 0.0, "dependencies");
    }
    match on.place()? {
        Place::Cpu(cpu) => by_threads(cpu, g, sources),
        #[cfg(feature = "cuda")]
        Place::Cuda(_) if g.is_weighted() => Err(Error::Unsupported {
            what: "betweenness by weights on a GPU".into(),
            why: "only the CPU supports it".into(),
        }),
        #[cfg(feature = "cuda")]
        Place::Cuda(cuda) => {
            let found = g.on_device(cuda)?.dependencies(sources)?;
            let (count, at_once, left) = (sources.len(), found.at_once, found.left.len());
            note(|| {
                let long = match left {
                    0 => String::new(),
                    _ => format!("; {left} on the CPU, with more paths than a double holds"),
                };
                format!("betweenness: {count} searches, {at_once} at once{long}")
            });
            let mut all = found.of;
            if left > 0 {
                let rest = by_threads(&Cpu::new(), g, &found.left)?;
                all.iter_mut().zip(rest).for_each(|(to, x)| *to += x);
            }
            Ok(all)
        }
    }
}

/// Dependencies of at least one source on a nonempty graph.
fn by_threads(cpu: &Cpu, g: &Graph, sources: &[usize]) -> Result<Vec<f64>> {
    let n = g.vertices();
    // The transpose of a directed graph costs about a search.
    let incoming = if g.has_incoming() || sources.len() > GROUPS { Some(g.incoming(cpu)?) } else { None };
    let groups = sources.len().min(GROUPS);
    let len = n.checked_mul(groups).ok_or_else(|| out_of_memory::<f64>("dependencies", usize::MAX))?;
    let mut all = filled(len, 0.0, "dependencies")?;
    let mut parts = reserved(groups, "groups of sources")?;
    let cut = |group: usize| group * sources.len() / groups;
    parts.extend(all.chunks_mut(n).enumerate());
    note(|| format!("betweenness: {} searches, at most {} at once", sources.len(), groups.min(cpu.threads().count())));
    let alone = Threads::caller();
    for_each_part(
        cpu.threads(),
        parts,
        || Ok((Paths::new(n)?, g.is_weighted().then(|| ByWeights::new(&alone, g)).transpose()?)),
        |(paths, by_weights): &mut (Paths, Option<ByWeights<'_>>), (group, to): (usize, &mut [f64])| {
            for &s in &sources[cut(group)..cut(group + 1)] {
                cpu.threads().alone("betweenness", || Ok(()))?;
                match by_weights {
                    Some(by_weights) => paths.add_weighted(g.outgoing(), by_weights, s, to)?,
                    None => paths.add(g.outgoing(), incoming, s, to)?,
                }
            }
            Ok(())
        },
    )?;
    let (total, others) = all.split_at_mut(n);
    for group in others.chunks(n) {
        total.iter_mut().zip(group).for_each(|(to, x)| *to += x);
    }
    all.truncate(n);
    Ok(all)
}

/// Whether an edge of weight `w` ends a shortest path, from a vertex at distance `d` to one at distance `there`.
fn is_tight(d: f64, w: f64, there: f64) -> bool {
    d < there && d + w == there && there < f64::INFINITY
}

/// Threshold at which a path count is rescaled, and its logarithm to base 2.
const LARGE: f64 = (1u64 << 60) as f64;
const LARGE_BITS: i32 = 60;

/// 2ᵉ, flushed to 0 below the normal doubles.
#[inline(always)]
fn power(e: i32) -> f64 {
    if e < -1022 { 0.0 } else { f64::from_bits((e.min(1023) + 1023) as u64 * (1 << 52)) }
}

/// Reciprocal of the fraction of the vertices below which a level's edges are not counted exactly.
const SMALL: usize = 64;

/// Groups of sources, each with its own sums: the maximum parallelism.
const GROUPS: usize = 32;

/// Search state of a vertex.
#[derive(Clone, Copy)]
struct Node {
    /// Number of shortest paths, then `(1 + δ) / σ`.
    paths: f64,
    level: u32,
    /// For path counts beyond a double, the power of 2 that scales `paths`.
    exponent: i32,
}
const UNSEEN: Node = Node { paths: 0.0, level: UNREACHED, exponent: 0 };

/// Scratch of a thread's weighted searches.
struct ByWeights<'a> {
    steps: Steps<'a>,
    /// Distance of each vertex.
    length: Vec<f64>,
    /// Vertices by distance, as bits.
    order: Vec<(u64, u32)>,
}

impl<'a> ByWeights<'a> {
    fn new(threads: &'a Threads, g: &'a Graph) -> Result<Self> {
        let n = g.vertices();
        let (length, order) = (filled(n, 0.0, "distances")?, reserved(n, "an order of vertices")?);
        Ok(Self { steps: Steps::new(threads, g)?, length, order })
    }
}

/// Scratch of a thread's searches.
struct Paths {
    nodes: Vec<Node>,
    /// Vertices in order of distance, and one spare element.
    order: Vec<u32>,
    /// The start of each level in the order, and the end of the last.
    starts: Vec<usize>,
    /// Sums of `(1 + δ) / σ` over the next level, when scattered.
    sums: Vec<f64>,
}

impl Paths {
    fn new(n: usize) -> Result<Self> {
        Ok(Self {
            nodes: filled(n, UNSEEN, "numbers of paths")?,
            order: filled(n + 1, 0, "a queue of vertices")?,
            starts: vec![],
            sums: filled(n, 0.0, "dependencies")?,
        })
    }
    /// Adds the dependencies of `source`, with paths measured in edges. Between two adjacent levels the edges of the
    /// level with fewer are followed, given the `incoming` edges.
    fn add(&mut self, outgoing: Lists<'_>, incoming: Option<Lists<'_>>, source: usize, to: &mut [f64]) -> Result<()> {
        self.forward(outgoing, incoming, source)?;
        if self.order[..self.end()].iter().any(|&v| self.nodes[v as usize].paths == f64::INFINITY) {
            self.add_long(outgoing, to);
        } else {
            self.backward(outgoing, incoming, to);
        }
        for &v in &self.order[..self.end()] {
            self.nodes[v as usize] = UNSEEN;
        }
        Ok(())
    }
    /// Number of vertices reached.
    fn end(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }
    fn forward(&mut self, outgoing: Lists<'_>, incoming: Option<Lists<'_>>, source: usize) -> Result<()> {
        let (nodes, order, starts) = (&mut self.nodes[..], &mut self.order[..], &mut self.starts);
        nodes[source] = Node { paths: 1.0, level: 0, exponent: 0 };
        order[0] = source as u32;
        starts.clear();
        starts.extend([0, 1]);
        let (mut head, mut tail) = (0, 1);
        let mut left = incoming.map_or(0, |lists| lists.ends.len());
        for level in 0.. {
            let end = tail;
            // The edges of small levels are not subtracted from the remainder.
            let large = incoming.filter(|_| end - head > nodes.len() / SMALL);
            left -= large.map_or(0, |lists| lists.edges_of(&order[head..end]));
            match large {
                Some(lists) if (left + nodes.len()) / 2 < outgoing.edges_of(&order[head..end]) => {
                    for v in 0..nodes.len() {
                        if nodes[v].level != UNREACHED {
                            continue;
                        }
                        let before = lists.of(v).iter().map(|&u| nodes[u as usize]);
                        let paths = before.map(|node| if node.level == level { node.paths } else { 0.0 }).sum();
                        if paths > 0.0 {
                            nodes[v] = Node { paths, level: level + 1, exponent: 0 };
                            order[tail] = v as u32;
                            tail += 1;
                        }
                    }
                }
                _ => {
                    for k in head..end {
                        let v = order[k] as usize;
                        let paths = nodes[v].paths;
                        for &u in outgoing.of(v) {
                            let there = &mut nodes[u as usize];
                            order[tail] = u;
                            tail += usize::from(there.level == UNREACHED);
                            there.level = there.level.min(level + 1);
                            there.paths += if there.level == level + 1 { paths } else { 0.0 };
                        }
                    }
                }
            }
            head = end;
            if tail == end {
                break;
            }
            starts.try_reserve(1).map_err(|_| out_of_memory::<usize>("levels", starts.len()))?;
            starts.push(tail);
        }
        Ok(())
    }
    fn backward(&mut self, outgoing: Lists<'_>, incoming: Option<Lists<'_>>, to: &mut [f64]) {
        let (nodes, order, sums) = (&mut self.nodes[..], &self.order[..], &mut self.sums[..]);
        let levels = self.starts.len() - 1;
        for level in (1..levels).rev() {
            let here = &order[self.starts[level]..self.starts[level + 1]];
            let next_level = self.starts.get(level + 2).map_or(&[][..], |&end| &order[self.starts[level + 1]..end]);
            // If few edges enter the next level, they are followed backward.
            let scattered = incoming
                .filter(|_| here.len() > nodes.len() / SMALL)
                .filter(|lists| lists.edges_of(next_level) < outgoing.edges_of(here) / 2);
            if let Some(lists) = scattered {
                sums.fill(0.0);
                // Vertices outside this level that receive a sum are in later levels, whose results are final.
                for &u in next_level {
                    let share = nodes[u as usize].paths;
                    lists.of(u as usize).iter().for_each(|&v| sums[v as usize] += share);
                }
            }
            for &v in here {
                let v = v as usize;
                let paths = nodes[v].paths;
                let sum = if scattered.is_some() {
                    sums[v]
                } else {
                    let further = outgoing.of(v).iter().map(|&u| nodes[u as usize]);
                    further.map(|node| if node.level == level as u32 + 1 { node.paths } else { 0.0 }).sum()
                };
                let delta = paths * sum;
                nodes[v].paths = (1.0 + delta) / paths;
                to[v] += delta;
            }
        }
    }
    /// `forward` and `backward` for path counts that overflow a double: each is a mantissa times a power of 2.
    #[cold]
    fn add_long(&mut self, lists: Lists<'_>, to: &mut [f64]) {
        let end = self.end();
        let (nodes, order, delta) = (&mut self.nodes[..], &self.order[..end], &mut self.sums[..]);
        for &v in order {
            nodes[v as usize].paths = 0.0;
        }
        nodes[order[0] as usize].paths = 1.0;
        for &v in order {
            let Node { paths: x, level, exponent: e } = nodes[v as usize];
            for &u in lists.of(v as usize) {
                let there = &mut nodes[u as usize];
                if there.level != level + 1 {
                    continue;
                }
                let (y, f) = (there.paths, there.exponent);
                let most = if y == 0.0 { e } else { e.max(f) };
                let sum = x * power(e - most) + y * power(f - most);
                // Keeps mantissas near 1.
                (there.paths, there.exponent) =
                    if sum > LARGE { (sum / LARGE, most.saturating_add(LARGE_BITS)) } else { (sum, most) };
            }
        }
        for &v in order.iter().skip(1).rev() {
            let Node { paths: x, level, exponent: e } = nodes[v as usize];
            let mut sum = 0.0;
            for &u in lists.of(v as usize) {
                let further = nodes[u as usize];
                if further.level == level + 1 {
                    sum += x / further.paths * power(e - further.exponent) * (1.0 + delta[u as usize]);
                }
            }
            delta[v as usize] = sum;
            to[v as usize] += sum;
        }
    }
    /// Adds the dependencies of `source` on a weighted graph: an edge is on a shortest path if the distances of its
    /// ends differ by its weight, in the rounding of the search.
    fn add_weighted(&mut self, lists: Lists<'_>, by: &mut ByWeights<'_>, source: usize, to: &mut [f64]) -> Result<()> {
        let ByWeights { steps, length, order } = by;
        steps.search(source)?;
        length.iter_mut().zip(steps.lengths()).for_each(|(to, d)| *to = d);
        order.clear();
        let reached = (0..).zip(&length[..]).filter(|(_, d)| **d < f64::INFINITY);
        order.extend(reached.map(|(v, d)| (d.to_bits(), v)));
        order.sort_unstable();
        let nodes = &mut self.nodes[..];
        nodes[source].paths = 1.0;
        for &(d, v) in &order[..] {
            let (v, d) = (v as usize, f64::from_bits(d));
            let paths = nodes[v].paths;
            if paths == 0.0 {
                let message = format!("the weight of an edge to vertex {v} vanishes in a distance of {d}");
                return Err(Error::Argument { name: "weight", message });
            }
            for (u, w) in lists.weighted(v) {
                if is_tight(d, w, length[u]) {
                    nodes[u].paths += paths;
                }
            }
        }
        for &(d, v) in order.iter().skip(1).rev() {
            let (v, d) = (v as usize, f64::from_bits(d));
            let further = lists.weighted(v).filter(|&(u, w)| is_tight(d, w, length[u]));
            let delta = nodes[v].paths * further.map(|(u, _)| nodes[u].paths).sum::<f64>();
            nodes[v].paths = (1.0 + delta) / nodes[v].paths;
            to[v] += delta;
        }
        order.iter().for_each(|&(_, v)| nodes[v as usize].paths = 0.0);
        Ok(())
    }
}
