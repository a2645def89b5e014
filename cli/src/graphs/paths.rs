//! Commands for searches, shortest paths and components.

use clap::{Args, Subcommand};
use serde_json::{Value, json};
#[cfg(feature = "cluster")]
use sparring::algebra::Type;
use sparring::graph::{
    Graph, ShortestPaths, UNREACHED, bellman_ford, bfs, bfs_tree, connected_components, multi_source_bfs, sssp,
    sssp_tree, strongly_connected_components,
};
use sparring::par::filled;
#[cfg(feature = "cluster")]
use sparring::runtime::{Machine, Matrix, Vector};

use super::answer::{Answer, Figure, PlotKind, Values, sizes};
use super::common::{Common, Example, Plotted, Run, Top};
use crate::context::Context;
use crate::device::{self, Device, DeviceArg};
use crate::output::thousands;

pub(super) const EXAMPLES: &[(&str, [Example; 2])] = &[
    (
        "bfs",
        [
            ("sparring bfs graph.txt --source 0 --plot frontier.svg", "Levels from vertex 0 and the size of each"),
            ("sparring bfs a.mtx --source 2 --parents -o tree.mtx", "A breadth-first tree"),
        ],
    ),
    (
        "sssp",
        [
            ("sparring sssp a.mtx --source 0 --to 2", "A shortest path with the values as weights"),
            ("sparring sssp a.mtx --source 0 -o lengths.npy --json", "All distances as a NumPy array"),
        ],
    ),
    (
        "components",
        [
            ("sparring components graph.txt", "Count connected components"),
            ("sparring components a.mtx -o parts.mtx --plot parts.svg", "The component of each vertex"),
        ],
    ),
    (
        "scc",
        [
            ("sparring scc graph.txt", "Count strongly connected components"),
            ("sparring scc a.mtx --json", "Their number and the largest size as JSON"),
        ],
    ),
];

#[derive(Subcommand)]
pub(crate) enum Paths {
    /// Breadth-first search: the smallest number of edges from a source to each vertex
    Bfs(Bfs),
    /// Find shortest paths from a source, with the values of the matrix as weights
    Sssp(Sssp),
    /// Find connected components; for a directed graph, weakly connected ones
    Components(Components),
    /// Find strongly connected components
    Scc(Parts),
}

#[derive(Args)]
pub(crate) struct Bfs {
    #[command(flatten)]
    common: Common,
    /// Source vertex, or several (0,5,7) for one search and one column of levels each
    #[arg(long, value_name = "V", value_delimiter = ',', required = true)]
    source: Vec<usize>,
    /// Write the parent of each vertex in a breadth-first tree instead of its level; needs a single source
    #[arg(long)]
    parents: bool,
    #[command(flatten)]
    place: DeviceArg,
}

#[derive(Args)]
pub(crate) struct Sssp {
    #[command(flatten)]
    common: Common,
    /// Source vertex
    #[arg(long, value_name = "V")]
    source: usize,
    /// Print the path to this vertex
    #[arg(long, value_name = "V")]
    to: Option<usize>,
    /// Write the predecessor of each vertex instead of its distance
    #[arg(long)]
    parents: bool,
    /// Allow negative weights (Bellman-Ford); a reachable negative cycle is an error
    #[arg(long)]
    negative: bool,
    #[command(flatten)]
    top: Top,
    #[command(flatten)]
    place: DeviceArg,
}

#[derive(Args)]
pub(crate) struct Components {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    plotted: Plotted,
    #[command(flatten)]
    place: DeviceArg,
}

#[derive(Args)]
pub(crate) struct Parts {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    plotted: Plotted,
}

impl Run for Paths {
    fn common(&self) -> &Common {
        match self {
            Self::Bfs(of) => &of.common,
            Self::Sssp(of) => &of.common,
            Self::Components(of) => &of.common,
            Self::Scc(of) => &of.common,
        }
    }
    fn device(&self) -> Device {
        match self {
            Self::Bfs(of) => of.place.device,
            Self::Sssp(of) => of.place.device,
            Self::Components(of) => of.place.device,
            Self::Scc(_) => Device::Cpu,
        }
    }
    fn plot_kind(&self) -> Option<PlotKind> {
        match self {
            Self::Components(of) => of.plotted.plot_kind,
            Self::Scc(of) => of.plotted.plot_kind,
            _ => None,
        }
    }
    fn top(&self) -> usize {
        if let Self::Sssp(of) = self { of.top.top } else { 0 }
    }
    fn is_weighted(&self) -> bool {
        matches!(self, Self::Sssp(_))
    }
    fn result_bytes(&self, n: usize) -> u128 {
        match self {
            Self::Bfs(of) if of.source.len() > 1 => (of.source.len() * size_of::<u32>()) as u128 * n as u128,
            _ => 0,
        }
    }
    #[cfg(feature = "cluster")]
    fn on_cluster(&self, machine: &Machine, a: &Matrix) -> Option<sparring::Result<Answer>> {
        match self {
            Self::Bfs(of) if of.source.len() == 1 => Some(of.search_by(machine, a)),
            Self::Sssp(of) if of.to.is_none() && !of.parents => Some(of.search_by(machine, a)),
            Self::Components(_) => Some(components_by(machine, a)),
            _ => None,
        }
    }
    fn compute(&self, context: &Context, g: &Graph) -> sparring::Result<Answer> {
        match self {
            Self::Bfs(of) => of.search(context, g),
            Self::Sssp(of) => of.search(context, g),
            Self::Components(_) => parts(connected_components(context, g)?, "connected components"),
            Self::Scc(_) => parts(strongly_connected_components(&context.cpu, g)?, "strongly connected components"),
        }
    }
}

impl Bfs {
    fn search(&self, context: &Context, g: &Graph) -> sparring::Result<Answer> {
        let [source] = self.source[..] else { return self.searches(context, g) };
        let (levels, parents) = if self.parents {
            let tree = bfs_tree(context, g, source)?;
            (tree.levels, Some(tree.parents))
        } else {
            (bfs(context, g, source)?, None)
        };
        Self::found(source, levels, parents)
    }
    #[cfg(feature = "cluster")]
    fn search_by(&self, machine: &Machine, a: &Matrix) -> sparring::Result<Answer> {
        let source = self.source[0];
        let levels = sparring_cluster::graph::bfs_levels(machine, a, source)?;
        let parents = if self.parents {
            let parents = sparring_cluster::graph::bfs_parents(machine, a, source)?;
            Some(numbers(&parents.download()?.wrapping_cast(Type::U32)?, UNREACHED)?)
        } else {
            None
        };
        Self::found(source, numbers(&levels.download()?, UNREACHED)?, parents)
    }
    fn found(source: usize, levels: Vec<u32>, parents: Option<Vec<u32>>) -> sparring::Result<Answer> {
        let found = Frontiers::of(&levels)?;
        Ok(Answer {
            text: format!(
                "{} of {} vertices reached from {source}, at most {} edges away",
                thousands(found.reached),
                thousands(levels.len()),
                found.depth
            ),
            figures: found.figures(("source", json!(source))),
            values: Values::Numbers(levels),
            parents,
            figure: Figure::Levels(found.counts),
        })
    }
    /// Searches from several sources.
    fn searches(&self, context: &Context, g: &Graph) -> sparring::Result<Answer> {
        if self.parents {
            let message = format!("a breadth-first tree needs a single source, not {}", self.source.len());
            return Err(sparring::Error::Argument { name: "--parents", message });
        }
        device::refuse(&[(context.cuda.is_some(), "several sources", "they are searched only on the processor")])?;
        let levels = multi_source_bfs(&context.cpu, g, &self.source)?;
        let (found, k) = (Frontiers::of(&levels)?, self.source.len());
        Ok(Answer {
            text: format!(
                "{} of {k} × {} vertices reached from {k} sources, at most {} edges away",
                thousands(found.reached),
                thousands(g.vertices()),
                found.depth
            ),
            figures: found.figures(("sources", json!(self.source))),
            values: Values::Levels(levels),
            parents: None,
            figure: Figure::Levels(found.counts),
        })
    }
}

/// Numbers of vertices reached at each level, by one or several searches.
struct Frontiers {
    counts: Vec<u64>,
    depth: u32,
    reached: u64,
}

impl Frontiers {
    fn of(levels: &[u32]) -> sparring::Result<Self> {
        let depth = levels.iter().filter(|level| **level != UNREACHED).max().copied().unwrap_or(0);
        let mut counts = filled(depth as usize + 1, 0u64, "levels")?;
        levels.iter().filter(|level| **level != UNREACHED).for_each(|&level| counts[level as usize] += 1);
        let reached = counts.iter().sum();
        Ok(Self { counts, depth, reached })
    }
    fn figures(&self, source: (&'static str, Value)) -> Vec<(&'static str, Value)> {
        let sum: u64 = (0..).zip(&self.counts).map(|(level, count)| level * count).sum();
        vec![source, ("reached", json!(self.reached)), ("depth", json!(self.depth)), ("sum", json!(sum))]
    }
}

impl Sssp {
    fn search(&self, context: &Context, g: &Graph) -> sparring::Result<Answer> {
        if self.negative {
            device::refuse(&[(context.cuda.is_some(), "--negative", "Bellman-Ford runs only on the processor")])?;
        }
        let found = match (self.negative, self.parents || self.to.is_some()) {
            (true, _) => bellman_ford(&context.cpu, g, self.source)?,
            (false, true) => sssp_tree(context, g, self.source)?,
            (false, false) => ShortestPaths { distances: sssp(context, g, self.source)?, parents: vec![] },
        };
        self.found(found)
    }
    #[cfg(feature = "cluster")]
    fn search_by(&self, machine: &Machine, a: &Matrix) -> sparring::Result<Answer> {
        let distances = sparring_cluster::graph::sssp(machine, a, self.source)?.download()?;
        let distances = distances.typed::<f64>().map_or_else(|| Ok(vec![]), |x| x.to_dense(f64::INFINITY))?;
        self.found(ShortestPaths { distances, parents: vec![] })
    }
    fn found(&self, found: ShortestPaths) -> sparring::Result<Answer> {
        let n = found.distances.len();
        let lengths = found.distances.iter().copied().filter(|d| d.is_finite());
        let (reached, sum) = (lengths.clone().count(), lengths.clone().sum::<f64>());
        let longest = lengths.fold(f64::NEG_INFINITY, f64::max);
        let mut text = format!(
            "{} of {} vertices reached from {}, at most {longest} away",
            thousands(reached as u64),
            thousands(n),
            self.source
        );
        let mut figures = vec![
            ("source", json!(self.source)),
            ("reached", json!(reached)),
            ("longest", json!(longest)),
            ("sum", json!(sum)),
        ];
        if let Some(to) = self.to {
            if to >= n {
                let message = format!("vertex {to} of a graph of {}", n);
                return Err(sparring::Error::Argument { name: "to", message });
            }
            let path = found.path(to);
            text = match &path {
                Some(path) => {
                    let names: Vec<_> = path.iter().map(u32::to_string).collect();
                    format!("{}   length {}   {text}", names.join(" → "), found.distances[to])
                }
                None => format!("no path to {to}   {text}"),
            };
            figures.extend([
                ("path_vertices", json!(path)),
                ("path_length", json!(path.as_ref().map(|_| found.distances[to]))),
            ]);
        }
        Ok(Answer {
            text,
            figures,
            values: Values::Scores(found.distances),
            parents: self.parents.then_some(found.parents),
            figure: Figure::Ranked("length of the shortest path"),
        })
    }
}

/// The values of a u32 vector, with a default for absent ones.
#[cfg(feature = "cluster")]
fn numbers(x: &Vector, absent: u32) -> sparring::Result<Vec<u32>> {
    x.typed::<u32>().map_or_else(|| Ok(vec![]), |x| x.to_dense(absent))
}

#[cfg(feature = "cluster")]
fn components_by(machine: &Machine, a: &Matrix) -> sparring::Result<Answer> {
    let labels = sparring_cluster::graph::connected_components(machine, a)?.download()?.wrapping_cast(Type::U32)?;
    parts(numbers(&labels, UNREACHED)?, "connected components")
}

fn parts(labels: Vec<u32>, what: &'static str) -> sparring::Result<Answer> {
    let sizes = sizes(&labels)?;
    let largest = sizes.first().copied().unwrap_or(0);
    Ok(Answer {
        text: format!("{} {what}, the largest of {} vertices", thousands(sizes.len() as u64), thousands(largest)),
        figures: vec![("components", json!(sizes.len())), ("largest", json!(largest))],
        values: Values::Numbers(labels),
        parents: None,
        figure: Figure::Sizes("rank of the component"),
    })
}
