//! Searches, shortest paths and components.

use clap::{Args, Subcommand};
use serde_json::json;
use sparring::graph::{
    Graph, UNREACHED, bellman_ford, bfs_tree, connected_components, sssp_tree, strongly_connected_components,
};

use super::answer::{Answer, ranked, sizes};
use super::common::{Common, Example, Run, Top, column};
use crate::context::Context;
use crate::output::thousands;
use crate::plot::Curve;

pub(super) const EXAMPLES: &[(&str, [Example; 2])] = &[
    (
        "bfs",
        [
            ("sparring bfs graph.txt --source 0 --plot frontier.svg", "Levels from vertex 0, and how many are on each"),
            ("sparring bfs a.mtx --source 2 --parents -o tree.mtx", "A tree of fewest edges"),
        ],
    ),
    (
        "sssp",
        [
            ("sparring sssp a.mtx --source 0 --to 2", "A shortest path, by the values as weights"),
            ("sparring sssp a.mtx --source 0 -o lengths.npy --json", "The lengths of all, as NumPy reads them"),
        ],
    ),
    (
        "components",
        [
            ("sparring components graph.txt", "How many parts hang together"),
            ("sparring components a.mtx -o parts.mtx --plot parts.svg", "Of each vertex the least one of its part"),
        ],
    ),
    (
        "scc",
        [
            ("sparring scc graph.txt", "Parts in which each vertex leads to each"),
            ("sparring scc a.mtx --json", "Their number and the largest as JSON"),
        ],
    ),
];

#[derive(Subcommand)]
pub(crate) enum Paths {
    /// Search breadth-first: the fewest edges from a vertex to each
    Bfs(Bfs),
    /// Find the shortest paths from a vertex, the values of the matrix as weights
    Sssp(Sssp),
    /// Find the connected components, of a directed graph the weak ones
    Components(Parts),
    /// Find the strongly connected components
    Scc(Parts),
}

#[derive(Args)]
pub(crate) struct Bfs {
    #[command(flatten)]
    common: Common,
    /// Vertex that the search begins at
    #[arg(long, value_name = "V")]
    source: usize,
    /// Write the parent of each vertex in a tree, not its level
    #[arg(long)]
    parents: bool,
}

#[derive(Args)]
pub(crate) struct Sssp {
    #[command(flatten)]
    common: Common,
    /// Vertex that the paths begin at
    #[arg(long, value_name = "V")]
    source: usize,
    /// Print the path to this vertex
    #[arg(long, value_name = "V")]
    to: Option<usize>,
    /// Write the vertex before each on its path, not the length
    #[arg(long)]
    parents: bool,
    /// Weights may be negative: rounds over all edges (Bellman-Ford), and an error for a cycle of negative length
    #[arg(long)]
    negative: bool,
    #[command(flatten)]
    top: Top,
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
            Self::Components(of) | Self::Scc(of) => &of.common,
        }
    }
    fn top(&self) -> usize {
        if let Self::Sssp(of) = self { of.top.top } else { 0 }
    }
    fn is_weighted(&self) -> bool {
        matches!(self, Self::Sssp(_))
    }
    fn compute(&self, context: &Context, g: &Graph) -> sparring::Result<Answer> {
        let cpu = &context.cpu;
        match self {
            Self::Bfs(of) => of.search(context, g),
            Self::Sssp(of) => of.search(context, g),
            Self::Components(_) => parts(connected_components(cpu, g)?, "connected components"),
            Self::Scc(_) => parts(strongly_connected_components(cpu, g)?, "strongly connected components"),
        }
    }
}

/// Those that are a vertex.
fn vertices(numbers: &[u32]) -> sparring::Result<sparring::runtime::Matrix> {
    column(numbers.iter().map(|&x| (x != UNREACHED).then_some(x)))
}

impl Bfs {
    fn search(&self, context: &Context, g: &Graph) -> sparring::Result<Answer> {
        let tree = bfs_tree(&context.cpu, g, self.source)?;
        let mut frontiers: Vec<u64> = vec![];
        for &level in tree.levels.iter().filter(|level| **level != UNREACHED) {
            frontiers.resize(frontiers.len().max(level as usize + 1), 0);
            frontiers[level as usize] += 1;
        }
        let (reached, depth) = (frontiers.iter().sum::<u64>(), frontiers.len() - 1);
        let sum: u64 = (0..).zip(&frontiers).map(|(level, count)| level * count).sum();
        let points = (0..).zip(&frontiers).map(|(level, &n)| (f64::from(level), n as f64)).collect();
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
            scores: None,
            result: Some(vertices(if self.parents { &tree.parents } else { &tree.levels })?),
            figure: Curve::linear("edges from the source", "vertices", points),
        })
    }
}

impl Sssp {
    fn search(&self, context: &Context, g: &Graph) -> sparring::Result<Answer> {
        let search = if self.negative { bellman_ford } else { sssp_tree };
        let found = search(&context.cpu, g, self.source)?;
        let lengths = found.distances.iter().copied().filter(|d| d.is_finite());
        let (reached, sum) = (lengths.clone().count(), lengths.clone().sum::<f64>());
        let longest = lengths.clone().fold(f64::NEG_INFINITY, f64::max);
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
        let finite: Vec<f64> = lengths.collect();
        Ok(Answer {
            text,
            figures,
            result: Some(if self.parents {
                vertices(&found.parents)?
            } else {
                column(found.distances.iter().map(|&d| d.is_finite().then_some(d)))?
            }),
            figure: ranked("length of the shortest path", &finite),
            scores: Some(found.distances.iter().map(|&d| if d.is_finite() { d } else { f64::NEG_INFINITY }).collect()),
        })
    }
}

fn parts(labels: Vec<u32>, what: &'static str) -> sparring::Result<Answer> {
    let (sizes, figure) = sizes("rank of the component", &labels);
    let largest = sizes.first().copied().unwrap_or(0);
    Ok(Answer {
        text: format!("{} {what}, the largest of {} vertices", thousands(sizes.len() as u64), thousands(largest)),
        figures: vec![("components", json!(sizes.len())), ("largest", json!(largest))],
        scores: None,
        result: Some(column(labels.iter().map(|&label| Some(label)))?),
        figure,
    })
}
