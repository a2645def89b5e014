//! Commands for cores, trusses, clustering, communities, independent sets, colorings, forests, matchings and orders.

use clap::{Args, Subcommand};
use serde_json::json;
use sparring::Result;
use sparring::graph::{
    Communities, Graph, asynchronous_label_propagation, bipartite_matching, core_numbers, greedy_coloring, k_truss,
    label_propagation, leiden, local_clustering, louvain, maximal_independent_set, minimum_spanning_forest,
    topological_order, transitivity, truss_numbers,
};
use sparring::par::filled;

use super::answer::{Answer, Figure, PlotKind, Values, sizes};
use super::centrality::scored;
use super::common::{Common, Example, Plotted, Run, Top, Weights};
use crate::context::Context;
use crate::device::{self, Device, DeviceArg};
use crate::output::thousands;

pub(super) const EXAMPLES: &[(&str, [Example; 2])] = &[
    (
        "kcore",
        [
            ("sparring kcore graph.txt --top 3", "The three vertices of largest core number"),
            ("sparring kcore a.mtx -o cores.mtx --plot cores.svg", "The core number of each vertex"),
        ],
    ),
    (
        "ktruss",
        [
            ("sparring ktruss graph.txt --k 3 -o truss.mtx", "The 3-truss"),
            ("sparring ktruss graph.txt", "The truss number of each edge"),
        ],
    ),
    (
        "louvain",
        [
            ("sparring louvain graph.txt --kind undirected", "Communities by modularity"),
            (
                "sparring louvain a.mtx --kind undirected --weighted --resolution 2 --seed 7",
                "Smaller communities of a weighted graph, vertices in another order",
            ),
        ],
    ),
    (
        "leiden",
        [
            ("sparring leiden graph.txt --kind undirected --plot communities.svg", "Connected communities, drawn"),
            ("sparring leiden a.mtx --kind undirected -o communities.mtx --json", "The community of each vertex"),
        ],
    ),
    (
        "clustering",
        [
            ("sparring clustering graph.txt --kind undirected", "Average clustering and transitivity"),
            ("sparring clustering a.mtx --kind undirected -o local.mtx", "Local clustering coefficients"),
        ],
    ),
    (
        "mis",
        [
            ("sparring mis graph.txt", "The size of a maximal independent set"),
            ("sparring mis a.mtx -o set.mtx", "Its vertices"),
        ],
    ),
    (
        "color",
        [
            ("sparring color graph.txt", "The number of colors of a greedy coloring"),
            ("sparring color a.mtx -o colors.npy", "The color of each vertex"),
        ],
    ),
    (
        "cdlp",
        [
            ("sparring cdlp graph.txt --plot sizes.svg --plot-kind sizes", "Sizes of communities by label propagation"),
            ("sparring cdlp a.mtx --iterations 5 -o labels.mtx --json", "After five iterations"),
        ],
    ),
    (
        "msf",
        [
            ("sparring msf graph.txt --kind undirected", "The weight of a minimum spanning forest"),
            ("sparring msf a.mtx --kind undirected -o forest.mtx", "The edges of the forest as a matrix"),
        ],
    ),
    (
        "matching",
        [
            ("sparring matching graph.txt", "The structural rank"),
            ("sparring matching a.mtx -o pairs.mtx", "The matched column of each row"),
        ],
    ),
    (
        "toposort",
        [
            (
                "sparring select a.mtx --op triu --scalar 1 -o dag.mtx && sparring toposort dag.mtx",
                "Sort the upper triangle topologically",
            ),
            ("sparring toposort dag.mtx -o order.mtx", "Write the order"),
        ],
    ),
];

#[derive(Subcommand)]
pub(crate) enum Structure {
    /// Compute core numbers
    Kcore(Scored),
    /// Find the k-truss, or compute truss numbers
    Ktruss(Ktruss),
    /// Find communities by the Louvain method
    Louvain(Louvain),
    /// Find connected communities by the Leiden method
    Leiden(Leiden),
    /// Compute clustering coefficients
    Clustering(Scored),
    /// Find a maximal independent set
    Mis(Plain),
    /// Color vertices greedily
    Color(Plain),
    /// Find communities by label propagation (LDBC Graphalytics CDLP, or asynchronous)
    Cdlp(Cdlp),
    /// Find the minimum spanning forest, with the values of the matrix as weights
    Msf(Plain),
    /// Find a maximum matching of the rows and columns of a matrix of any shape
    Matching(Plain),
    /// Sort the vertices of a directed acyclic graph topologically
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
    /// k [default: compute all truss numbers]
    #[arg(long, value_name = "K")]
    k: Option<u32>,
}

#[derive(Args)]
pub(crate) struct Louvain {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    weights: Weights,
    /// Resolution: values above 1 favor smaller communities
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    resolution: f64,
    /// Seed of the random vertex order
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    plotted: Plotted,
}

#[derive(Args)]
pub(crate) struct Leiden {
    #[command(flatten)]
    louvain: Louvain,
    /// Iterations, fewer if modularity does not improve
    #[arg(long, value_name = "N", default_value_t = 2)]
    iterations: usize,
}

#[derive(Args)]
pub(crate) struct Cdlp {
    #[command(flatten)]
    common: Common,
    /// Iterations, fewer if the labels are stable [default: 10; until they are stable with --asynchronous]
    #[arg(long, value_name = "N")]
    iterations: Option<usize>,
    /// Update labels one vertex at a time (Raghavan, Albert, Kumara)
    #[arg(long)]
    asynchronous: bool,
    #[command(flatten)]
    plotted: Plotted,
    #[command(flatten)]
    place: DeviceArg,
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
    fn device(&self) -> Device {
        if let Self::Cdlp(of) = self { of.place.device } else { Device::Cpu }
    }
    fn top(&self) -> usize {
        if let Self::Kcore(of) | Self::Clustering(of) = self { of.top.top } else { 0 }
    }
    fn plot_kind(&self) -> Option<PlotKind> {
        match self {
            Self::Louvain(of) => of.plotted.plot_kind,
            Self::Leiden(of) => of.louvain.plotted.plot_kind,
            Self::Cdlp(of) => of.plotted.plot_kind,
            _ => None,
        }
    }
    fn is_weighted(&self) -> bool {
        match self {
            Self::Louvain(of) => of.weights.weighted,
            Self::Leiden(of) => of.louvain.weights.weighted,
            _ => matches!(self, Self::Msf(_)),
        }
    }
    fn takes_rectangles(&self) -> bool {
        matches!(self, Self::Matching(_))
    }
    fn compute(&self, context: &Context, g: &Graph) -> Result<Answer> {
        let cpu = &context.cpu;
        match self {
            Self::Kcore(_) => {
                let found = core_numbers(cpu, g)?;
                let most = found.iter().copied().max().unwrap_or(0);
                let vertex = found.iter().position(|&k| k == most);
                Ok(Answer {
                    text: format!("largest core number {most}"),
                    figures: vec![
                        ("highest", json!(most)),
                        ("vertex", json!(vertex)),
                        ("sum", json!(found.iter().map(|&k| u64::from(k)).sum::<u64>())),
                    ],
                    values: Values::Numbers(found),
                    parents: None,
                    figure: Figure::Ranked("core number"),
                })
            }
            Self::Ktruss(of) => of.truss(context, g),
            Self::Louvain(of) => communities(louvain(cpu, g, of.resolution, of.seed)?),
            Self::Leiden(of) => communities(leiden(cpu, g, of.louvain.resolution, of.iterations, of.louvain.seed)?),
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
                let mut members = filled(g.vertices(), 0, "a set of vertices")?;
                set.iter().for_each(|&v| members[v as usize] = 1);
                Ok(sized(format!("{} vertices", thousands(set.len() as u64)), set.len(), Values::Members(members)))
            }
            Self::Color(_) => {
                let found = greedy_coloring(cpu, g)?;
                Ok(Answer {
                    text: format!("{} colors", found.count),
                    figures: vec![("colors", json!(found.count))],
                    values: Values::Numbers(found.colors),
                    parents: None,
                    figure: Figure::Sizes("rank of the color"),
                })
            }
            Self::Cdlp(of) => {
                let found = if of.asynchronous {
                    let why = "its vertices are updated sequentially";
                    device::refuse(&[(context.cuda.is_some(), "--asynchronous", why)])?;
                    asynchronous_label_propagation(cpu, g, of.iterations.unwrap_or(usize::MAX))?
                } else {
                    label_propagation(context, g, of.iterations.unwrap_or(10))?
                };
                let mut answer = parts(found.labels, String::new())?;
                let end = if found.stable { "stable" } else { "not stable" };
                answer.text = format!("{} after {} iterations, {end}", answer.text, found.iterations);
                answer.figures.push(("iterations", json!(found.iterations)));
                Ok(answer)
            }
            Self::Msf(_) => {
                let found = minimum_spanning_forest(cpu, g)?;
                let (edges, n) = (found.edges.len(), g.vertices());
                Ok(Answer {
                    text: format!("{} edges of total weight {}", thousands(edges as u64), found.weight),
                    figures: vec![
                        ("size", json!(edges)),
                        ("weight", json!(found.weight)),
                        ("components", json!(n - edges)),
                    ],
                    values: Values::Forest(found.edges),
                    parents: None,
                    figure: Figure::Ranked("weight"),
                })
            }
            Self::Matching(_) => {
                let found = bipartite_matching(cpu, g.pattern())?;
                Ok(sized(format!("{} pairs", thousands(found.size as u64)), found.size, Values::Numbers(found.rows)))
            }
            Self::Toposort(_) => {
                let order = topological_order(cpu, g)?;
                Ok(sized(
                    format!("{} vertices in order", thousands(order.len() as u64)),
                    order.len(),
                    Values::Numbers(order),
                ))
            }
        }
    }
}

/// A result that is summarized by its size.
fn sized(text: String, size: usize, values: Values) -> Answer {
    let figures = vec![("size", json!(size))];
    Answer { text, figures, values, parents: None, figure: Figure::Degrees }
}

/// A partition of the vertices; `quality` is printed after the number of parts.
fn parts(labels: Vec<u32>, quality: String) -> Result<Answer> {
    let sizes = sizes(&labels)?;
    let largest = sizes.first().copied().unwrap_or(0);
    let count = thousands(sizes.len() as u64);
    Ok(Answer {
        text: format!("{count} communities{quality}, the largest of {} vertices", thousands(largest)),
        figures: vec![("communities", json!(sizes.len())), ("largest", json!(largest))],
        values: Values::Numbers(labels),
        parents: None,
        figure: Figure::Communities,
    })
}

/// Communities and their modularity.
pub(super) fn communities(found: Communities) -> Result<Answer> {
    let mut answer = parts(found.labels, format!(" of modularity {:.6}", found.modularity))?;
    answer.figures.push(("modularity", json!(found.modularity)));
    Ok(answer)
}

impl Ktruss {
    fn truss(&self, context: &Context, g: &Graph) -> Result<Answer> {
        let cpu = &context.cpu;
        let (edges, numbers) = match self.k {
            Some(k) => {
                let edges = k_truss(cpu, g, k)?;
                let numbers = filled(edges.len(), k, "truss numbers")?;
                (edges, numbers)
            }
            None => {
                let found = truss_numbers(cpu, g)?;
                (found.edges, found.numbers)
            }
        };
        let most = numbers.iter().copied().max().unwrap_or(0);
        let count = edges.len();
        Ok(Answer {
            text: match self.k {
                Some(k) => format!("{} edges in the {k}-truss", thousands(count as u64)),
                None => format!("largest truss number {most}"),
            },
            figures: vec![("size", json!(count)), ("highest", json!(most))],
            values: Values::Edges(edges, numbers),
            parents: None,
            figure: Figure::Ranked("truss number"),
        })
    }
}
