//! Communities, cores, colours, sets, forests and matchings.

use clap::{Args, Subcommand};
use serde_json::json;
use sparring::graph::{
    Communities, Graph, UNMATCHED, bipartite_matching, core_numbers, greedy_coloring, k_truss, label_propagation,
    leiden, local_clustering, louvain, maximal_independent_set, minimum_spanning_forest, topological_order,
    transitivity, truss_numbers,
};
use sparring::prelude::Plus;
use sparring::runtime::Matrix;
use sparring::{Coo, Result};

use super::answer::{Answer, ranked, sizes};
use super::centrality::scored;
use super::common::{Common, Example, Run, Top, Weights, column};
use crate::context::Context;
use crate::output::thousands;
use crate::plot::Curve;

pub(super) const EXAMPLES: &[(&str, [Example; 2])] = &[
    (
        "kcore",
        [
            ("sparring kcore graph.txt --top 3", "The vertices deepest in the graph"),
            ("sparring kcore a.mtx -o cores.mtx --plot cores.svg", "The core number of each vertex"),
        ],
    ),
    (
        "ktruss",
        [
            ("sparring ktruss graph.txt --k 3 -o truss.mtx", "Edges that are in triangles of such edges"),
            ("sparring ktruss graph.txt", "The largest k of each edge"),
        ],
    ),
    (
        "louvain",
        [
            ("sparring louvain graph.txt --kind undirected", "Communities by moving vertices"),
            ("sparring louvain a.mtx --kind undirected --weighted --resolution 2", "Smaller ones, by weights"),
        ],
    ),
    (
        "leiden",
        [
            ("sparring leiden graph.txt --kind undirected --plot sizes.svg", "Communities that hang together"),
            ("sparring leiden a.mtx --kind undirected -o communities.mtx --json", "Of each vertex its community"),
        ],
    ),
    (
        "clustering",
        [
            ("sparring clustering graph.txt --kind undirected", "How many neighbours are neighbours"),
            ("sparring clustering a.mtx --kind undirected -o local.mtx", "The same of each vertex"),
        ],
    ),
    (
        "mis",
        [
            ("sparring mis graph.txt", "Vertices no two of which are neighbours"),
            ("sparring mis a.mtx -o set.mtx", "1 for each vertex of the set"),
        ],
    ),
    (
        "color",
        [
            ("sparring color graph.txt", "How many colours make all neighbours differ"),
            ("sparring color a.mtx -o colors.npy", "The colour of each vertex"),
        ],
    ),
    (
        "cdlp",
        [
            ("sparring cdlp graph.txt --plot communities.svg", "Communities by the labels of neighbours"),
            ("sparring cdlp a.mtx --iterations 5 -o labels.mtx --json", "After five iterations"),
        ],
    ),
    (
        "msf",
        [
            ("sparring msf graph.txt --kind undirected", "The forest of least weight"),
            ("sparring msf a.mtx --kind undirected -o forest.mtx", "Its edges as a matrix"),
        ],
    ),
    (
        "matching",
        [
            ("sparring matching graph.txt", "How many rows and columns can be paired"),
            ("sparring matching a.mtx -o pairs.mtx", "The column of each row"),
        ],
    ),
    (
        "toposort",
        [
            (
                "sparring select a.mtx --op triu --scalar 1 -o dag.mtx && sparring toposort dag.mtx",
                "An order in which edges lead forwards",
            ),
            ("sparring toposort dag.mtx -o order.mtx", "The vertices in that order"),
        ],
    ),
];

#[derive(Subcommand)]
pub(crate) enum Structure {
    /// Compute core numbers: the largest k for which each vertex is in a subgraph of degrees from k on
    Kcore(Scored),
    /// Find the k-truss, whose edges are in k - 2 of its triangles, or the largest k of each edge
    Ktruss(Ktruss),
    /// Find communities of high modularity by moving vertices (Louvain)
    Louvain(Louvain),
    /// Find communities of high modularity that hang together (Leiden)
    Leiden(Leiden),
    /// Compute clustering coefficients: of the pairs of neighbours, those that are neighbours
    Clustering(Scored),
    /// Find a maximal independent set
    Mis(Plain),
    /// Colour vertices so that neighbours differ
    Color(Plain),
    /// Find communities by label propagation, synchronous as in LDBC Graphalytics
    Cdlp(Cdlp),
    /// Find the minimum spanning forest, the values of the matrix as weights
    Msf(Plain),
    /// Find a maximum matching of rows and columns
    Matching(Plain),
    /// Put the vertices of a directed graph without cycles in order
    Toposort(Plain),
}

#[derive(Args)]
pub(crate) struct Plain {
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
pub(crate) struct Scored {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    top: Top,
}

#[derive(Args)]
pub(crate) struct Ktruss {
    #[command(flatten)]
    common: Common,
    /// The truss that is wanted [default: the largest k of each edge]
    #[arg(long, value_name = "K")]
    k: Option<u32>,
}

#[derive(Args)]
pub(crate) struct Louvain {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    weights: Weights,
    /// The higher, the smaller the communities
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    resolution: f64,
}

#[derive(Args)]
pub(crate) struct Leiden {
    #[command(flatten)]
    louvain: Louvain,
    /// Times that communities are refined, if modularity still rises
    #[arg(long, value_name = "N", default_value_t = 2)]
    iterations: usize,
}

#[derive(Args)]
pub(crate) struct Cdlp {
    #[command(flatten)]
    common: Common,
    /// Steps, if labels do not come to rest before
    #[arg(long, value_name = "N", default_value_t = 10)]
    iterations: usize,
}

impl Run for Structure {
    fn common(&self) -> &Common {
        match self {
            Self::Kcore(of) | Self::Clustering(of) => &of.common,
            Self::Mis(of) | Self::Color(of) | Self::Msf(of) | Self::Matching(of) | Self::Toposort(of) => &of.common,
            Self::Cdlp(of) => &of.common,
            Self::Ktruss(of) => &of.common,
            Self::Louvain(of) => &of.common,
            Self::Leiden(of) => &of.louvain.common,
        }
    }
    fn top(&self) -> usize {
        if let Self::Kcore(of) | Self::Clustering(of) = self { of.top.top } else { 0 }
    }
    fn is_weighted(&self) -> bool {
        match self {
            Self::Louvain(of) => of.weights.weighted,
            Self::Leiden(of) => of.louvain.weights.weighted,
            _ => matches!(self, Self::Msf(_)),
        }
    }
    fn compute(&self, context: &Context, g: &Graph) -> Result<Answer> {
        let cpu = &context.cpu;
        match self {
            Self::Kcore(_) => {
                let found = core_numbers(cpu, g)?;
                let mut answer = scored("core number", found.iter().map(|&k| f64::from(k)).collect())?;
                answer.result = Some(column(found.iter().map(|&k| Some(k)))?);
                Ok(answer)
            }
            Self::Ktruss(of) => of.truss(context, g),
            Self::Louvain(of) => communities(louvain(cpu, g, of.resolution)?),
            Self::Leiden(of) => communities(leiden(cpu, g, of.louvain.resolution, of.iterations)?),
            Self::Clustering(_) => {
                let (found, global) = (local_clustering(cpu, g)?, transitivity(cpu, g)?);
                let mean = found.iter().sum::<f64>() / found.len().max(1) as f64;
                let mut answer = scored("clustering coefficient", found)?;
                answer.text = format!("average {mean:.6}, transitivity {global:.6}   {}", answer.text);
                answer.figures.extend([("average", json!(mean)), ("transitivity", json!(global))]);
                Ok(answer)
            }
            Self::Mis(_) => {
                let set = maximal_independent_set(cpu, g)?;
                let mut holds = sparring::par::filled(g.vertices(), None, "a set")?;
                set.iter().for_each(|&v| holds[v as usize] = Some(1u32));
                Ok(Answer {
                    text: format!("{} vertices, no two of them neighbours", thousands(set.len() as u64)),
                    figures: vec![("size", json!(set.len()))],
                    scores: None,
                    result: Some(column(holds.into_iter())?),
                    figure: degrees(g),
                })
            }
            Self::Color(_) => {
                let found = greedy_coloring(cpu, g)?;
                let (_, figure) = sizes("rank of the color", &found.colors);
                Ok(Answer {
                    text: format!("{} colors", found.count),
                    figures: vec![("colors", json!(found.count))],
                    scores: None,
                    result: Some(column(found.colors.iter().map(|&c| Some(c)))?),
                    figure,
                })
            }
            Self::Cdlp(of) => {
                let found = label_propagation(cpu, g, of.iterations)?;
                let (parts, figure) = sizes("rank of the community", &found.labels);
                let rest = if found.stable { "labels at rest" } else { "labels still change" };
                Ok(Answer {
                    text: format!(
                        "{} communities, the largest of {} vertices, after {} iterations, {rest}",
                        thousands(parts.len() as u64),
                        thousands(parts.first().copied().unwrap_or(0)),
                        found.iterations
                    ),
                    figures: vec![
                        ("communities", json!(parts.len())),
                        ("largest", json!(parts.first().copied().unwrap_or(0))),
                        ("iterations", json!(found.iterations)),
                    ],
                    scores: None,
                    result: Some(column(found.labels.iter().map(|&label| Some(label)))?),
                    figure,
                })
            }
            Self::Msf(_) => {
                let found = minimum_spanning_forest(cpu, g)?;
                let n = g.vertices();
                let (rows, cols): (Vec<_>, Vec<_>) = found.edges.iter().copied().unzip();
                let weight = |&(u, v): &(u32, u32)| {
                    let at = g.neighbours(u as usize).binary_search(&v).ok();
                    at.and_then(|k| g.weights(u as usize).map(|w| w[k])).unwrap_or(1.0)
                };
                let weights: Vec<f64> = found.edges.iter().map(weight).collect();
                let figure = ranked("weight of the edge", &weights);
                let forest = Coo::new(n, n, rows, cols, weights)?.to_csr(Plus::new())?;
                Ok(Answer {
                    text: format!("{} edges of weight {} in all", thousands(found.edges.len() as u64), found.weight),
                    figures: vec![
                        ("size", json!(found.edges.len())),
                        ("weight", json!(found.weight)),
                        ("components", json!(n - found.edges.len())),
                    ],
                    scores: None,
                    result: Some(Matrix::from(forest)),
                    figure,
                })
            }
            Self::Matching(_) => {
                let found = bipartite_matching(cpu, g.pattern())?;
                Ok(Answer {
                    text: format!("{} pairs", thousands(found.size as u64)),
                    figures: vec![("size", json!(found.size))],
                    scores: None,
                    result: Some(column(found.rows.iter().map(|&j| (j != UNMATCHED).then_some(j)))?),
                    figure: degrees(g),
                })
            }
            Self::Toposort(_) => {
                let order = topological_order(cpu, g)?;
                Ok(Answer {
                    text: format!("{} vertices in order", thousands(order.len() as u64)),
                    figures: vec![("size", json!(order.len()))],
                    scores: None,
                    result: Some(column(order.iter().map(|&v| Some(v)))?),
                    figure: degrees(g),
                })
            }
        }
    }
}

fn communities(found: Communities) -> Result<Answer> {
    let (parts, figure) = sizes("rank of the community", &found.labels);
    let largest = parts.first().copied().unwrap_or(0);
    Ok(Answer {
        text: format!(
            "{} communities of modularity {:.6}, the largest of {} vertices",
            thousands(found.count as u64),
            found.modularity,
            thousands(largest)
        ),
        figures: vec![
            ("communities", json!(found.count)),
            ("modularity", json!(found.modularity)),
            ("largest", json!(largest)),
        ],
        scores: None,
        result: Some(column(found.labels.iter().map(|&label| Some(label)))?),
        figure,
    })
}

impl Ktruss {
    fn truss(&self, context: &Context, g: &Graph) -> Result<Answer> {
        let cpu = &context.cpu;
        let (edges, numbers) = match self.k {
            Some(k) => {
                let edges = k_truss(cpu, g, k)?;
                let numbers = sparring::par::filled(edges.len(), k, "truss numbers")?;
                (edges, numbers)
            }
            None => {
                let found = truss_numbers(cpu, g)?;
                (found.edges, found.numbers)
            }
        };
        let most = numbers.iter().copied().max().unwrap_or(0);
        let text = match self.k {
            Some(k) => format!("{} edges in the {k}-truss", thousands(edges.len() as u64)),
            None => format!("edges are in trusses up to k = {most}"),
        };
        let figure = ranked("truss number of the edge", &numbers.iter().map(|&k| f64::from(k)).collect::<Vec<_>>());
        let (rows, cols): (Vec<_>, Vec<_>) = edges.iter().copied().unzip();
        let truss = Coo::new(g.vertices(), g.vertices(), rows, cols, numbers)?.to_csr(Plus::new())?;
        Ok(Answer {
            text,
            figures: vec![("size", json!(edges.len())), ("highest", json!(most))],
            scores: None,
            result: Some(Matrix::from(truss)),
            figure,
        })
    }
}

/// How many edges leave vertices, where there is nothing else to draw.
fn degrees(g: &Graph) -> Curve {
    let degrees: Vec<f64> = (0..g.vertices()).map(|v| g.degree(v) as f64).collect();
    ranked("degree of the vertex", &degrees)
}
