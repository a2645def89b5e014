//! Searches, shortest paths and components.

use clap::{Args, Subcommand};
use serde_json::json;
use sparring::graph::{
    Graph, ShortestPaths, UNREACHED, bellman_ford, bfs, bfs_tree, connected_components, sssp, sssp_tree,
    strongly_connected_components,
};
use sparring::par::filled;

use super::answer::{Answer, Figure, Values, sizes};
use super::common::{Common, Example, Run, Top};
use crate::context::Context;
use crate::device::{self, Device, Where};
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
    /// Breadth-first search: the least number of edges from a source to each vertex
    Bfs(Bfs),
    /// Find shortest paths from a source, with the values of the matrix as weights
    Sssp(Sssp),
    /// Find connected components; weak ones of a directed graph
    Components(Components),
    /// Find strongly connected components
    Scc(Parts),
}

#[derive(Args)]
pub(crate) struct Bfs {
    #[command(flatten)]
    common: Common,
    /// Source vertex
    #[arg(long, value_name = "V")]
    source: usize,
    /// Write the parent of each vertex in a breadth-first tree instead of its level
    #[arg(long)]
    parents: bool,
    #[command(flatten)]
    place: Where,
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
    place: Where,
}

#[derive(Args)]
pub(crate) struct Components {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    place: Where,
}

#[derive(Args)]
pub(crate) struct Parts {
    #[command(flatten)]
    common: Common,
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
    fn top(&self) -> usize {
        if let Self::Sssp(of) = self { of.top.top } else { 0 }
    }
    fn is_weighted(&self) -> bool {
        matches!(self, Self::Sssp(_))
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
        let (levels, parents) = if self.parents {
            let tree = bfs_tree(context, g, self.source)?;
            (tree.levels, Some(tree.parents))
        } else {
            (bfs(context, g, self.source)?, None)
        };
        let depth = levels.iter().filter(|level| **level != UNREACHED).max().copied().unwrap_or(0);
        let mut frontiers = filled(depth as usize + 1, 0u64, "levels")?;
        levels.iter().filter(|level| **level != UNREACHED).for_each(|&level| frontiers[level as usize] += 1);
        let reached = frontiers.iter().sum::<u64>();
        let sum: u64 = (0..).zip(&frontiers).map(|(level, count)| level * count).sum();
        Ok(Answer {
            text: format!(
                "{} of {} vertices reached from {}, at most {depth} edges away",
                thousands(reached),
                thousands(g.vertices()),
                self.source
            ),
            figures: vec![
                ("source", json!(self.source)),
                ("reached", json!(reached)),
                ("depth", json!(depth)),
                ("sum", json!(sum)),
            ],
            values: Values::Numbers(levels),
            parents,
            figure: Figure::Levels(frontiers),
        })
    }
}

impl Sssp {
    fn search(&self, context: &Context, g: &Graph) -> sparring::Result<Answer> {
        if self.negative {
            device::refuse(&[(context.cuda.is_some(), "--negative", "rounds over all edges run on the processor")])?;
        }
        let found = match (self.negative, self.parents || self.to.is_some()) {
            (true, _) => bellman_ford(&context.cpu, g, self.source)?,
            (false, true) => sssp_tree(context, g, self.source)?,
            (false, false) => ShortestPaths { distances: sssp(context, g, self.source)?, parents: vec![] },
        };
        let lengths = found.distances.iter().copied().filter(|d| d.is_finite());
        let (reached, sum) = (lengths.clone().count(), lengths.clone().sum::<f64>());
        let longest = lengths.fold(f64::NEG_INFINITY, f64::max);
        let mut text = format!(
            "{} of {} vertices reached from {}, at most {longest} away",
            thousands(reached as u64),
            thousands(g.vertices()),
            self.source
        );
        let mut figures = vec![
            ("source", json!(self.source)),
            ("reached", json!(reached)),
            ("longest", json!(longest)),
            ("sum", json!(sum)),
        ];
        if let Some(to) = self.to {
            if to >= g.vertices() {
                let message = format!("vertex {to} of a graph of {}", g.vertices());
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
