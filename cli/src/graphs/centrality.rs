//! Commands for vertex centralities.

use clap::{Args, Subcommand};
use serde_json::json;
use sparring::graph::{
    Graph, Iteration, PageRank, PageRankOptions, betweenness_centrality, closeness_centrality, eigenvector_centrality,
    harmonic_centrality, hits, katz_centrality, pagerank, sampled_betweenness,
};
use sparring::{Error, Result};

use super::answer::{Answer, Figure, Values};
use super::common::{Common, Example, Run, Top, Weights};
use crate::context::Context;
use crate::device::{Device, DeviceArg};

pub(super) const EXAMPLES: &[(&str, [Example; 2])] = &[
    (
        "pagerank",
        [
            ("sparring pagerank graph.txt --top 3", "The three vertices of highest rank"),
            (
                "sparring pagerank a.mtx --weighted --personalize 0,2 -o ranks.mtx",
                "Personalized PageRank of two vertices",
            ),
        ],
    ),
    (
        "betweenness",
        [
            ("sparring betweenness graph.txt --top 2 --plot between.svg", "The two most central vertices"),
            ("sparring betweenness a.mtx --samples 2 --seed 7 --normalized", "An estimate from two sampled sources"),
        ],
    ),
    (
        "closeness",
        [
            ("sparring closeness graph.txt --top 2", "The two closest vertices"),
            (
                "sparring closeness a.mtx --harmonic --weighted -o near.npy",
                "Harmonic centrality with weights as lengths",
            ),
        ],
    ),
    (
        "eigenvector",
        [
            ("sparring eigenvector graph.txt --kind undirected --top 2", "The two most central vertices"),
            ("sparring eigenvector a.mtx --alpha 0.1 -o katz.mtx", "Katz centrality"),
        ],
    ),
    (
        "hits",
        [
            ("sparring hits graph.txt --top 2", "The best hubs"),
            ("sparring hits a.mtx --authorities --top 2 --json", "The best authorities, as JSON"),
        ],
    ),
];

#[derive(Subcommand)]
pub(crate) enum Centrality {
    /// Compute PageRank
    Pagerank(Pagerank),
    /// Compute betweenness centrality, exactly or from sampled sources
    Betweenness(Betweenness),
    /// Compute closeness or harmonic centrality
    Closeness(Closeness),
    /// Compute eigenvector or Katz centrality
    Eigenvector(Eigenvector),
    /// Compute hubs and authorities (HITS)
    Hits(Hits),
}

#[derive(Args)]
pub(crate) struct Pagerank {
    #[command(flatten)]
    common: Common,
    /// Damping factor
    #[arg(long, value_name = "D", default_value_t = 0.85)]
    damping: f64,
    #[command(flatten)]
    until: Until,
    /// Teleport to these vertices only [default: all]
    #[arg(long, value_name = "V", value_delimiter = ',')]
    personalize: Vec<usize>,
    /// Drop the rank of vertices without outgoing edges, as the GAP benchmark does
    #[arg(long)]
    drop_dangling: bool,
    #[command(flatten)]
    weights: Weights,
    #[command(flatten)]
    top: Top,
    #[command(flatten)]
    place: DeviceArg,
}

/// Convergence criterion of an iteration.
#[derive(Args)]
pub(crate) struct Until {
    /// Stop when the results change by less than X in the 1-norm
    #[arg(long, value_name = "X", default_value_t = 1e-6)]
    tolerance: f64,
    /// Fail after N iterations
    #[arg(long, value_name = "N", default_value_t = 1000)]
    max_iterations: u32,
}

impl From<&Until> for Iteration {
    fn from(until: &Until) -> Self {
        Self { tolerance: until.tolerance, max_iterations: until.max_iterations }
    }
}

#[derive(Args)]
pub(crate) struct Betweenness {
    #[command(flatten)]
    common: Common,
    /// Estimate from N sampled sources [default: exact]
    #[arg(long, value_name = "N")]
    samples: Option<usize>,
    /// Seed of the sample
    #[arg(long, value_name = "N", default_value_t = 0, requires = "samples")]
    seed: u64,
    /// Divide by the number of pairs of other vertices
    #[arg(long)]
    normalized: bool,
    #[command(flatten)]
    weights: Weights,
    #[command(flatten)]
    top: Top,
    #[command(flatten)]
    place: DeviceArg,
}

#[derive(Args)]
pub(crate) struct Closeness {
    #[command(flatten)]
    common: Common,
    /// Harmonic centrality: the sum of 1/distance
    #[arg(long)]
    harmonic: bool,
    #[command(flatten)]
    weights: Weights,
    #[command(flatten)]
    top: Top,
}

#[derive(Args)]
pub(crate) struct Eigenvector {
    #[command(flatten)]
    common: Common,
    /// Katz centrality with this attenuation factor
    #[arg(long, value_name = "X")]
    alpha: Option<f64>,
    /// Katz centrality: the constant weight of each vertex
    #[arg(long, value_name = "X", default_value_t = 1.0, requires = "alpha")]
    beta: f64,
    #[command(flatten)]
    until: Until,
    #[command(flatten)]
    weights: Weights,
    #[command(flatten)]
    top: Top,
}

#[derive(Args)]
pub(crate) struct Hits {
    #[command(flatten)]
    common: Common,
    /// List, write and draw authorities instead of hubs
    #[arg(long)]
    authorities: bool,
    #[command(flatten)]
    until: Until,
    #[command(flatten)]
    weights: Weights,
    #[command(flatten)]
    top: Top,
}

impl Centrality {
    fn parts(&self) -> (&Common, &Weights, &Top) {
        match self {
            Self::Pagerank(of) => (&of.common, &of.weights, &of.top),
            Self::Betweenness(of) => (&of.common, &of.weights, &of.top),
            Self::Closeness(of) => (&of.common, &of.weights, &of.top),
            Self::Eigenvector(of) => (&of.common, &of.weights, &of.top),
            Self::Hits(of) => (&of.common, &of.weights, &of.top),
        }
    }
}

impl Run for Centrality {
    fn common(&self) -> &Common {
        self.parts().0
    }
    fn device(&self) -> Device {
        match self {
            Self::Pagerank(of) => of.place.device,
            Self::Betweenness(of) => of.place.device,
            Self::Closeness(_) | Self::Eigenvector(_) | Self::Hits(_) => Device::Cpu,
        }
    }
    fn is_weighted(&self) -> bool {
        self.parts().1.weighted
    }
    fn top(&self) -> usize {
        self.parts().2.top
    }
    fn reads_incoming(&self) -> bool {
        !matches!(self, Self::Closeness(_))
    }
    #[cfg(feature = "cluster")]
    fn on_cluster(
        &self,
        machine: &sparring::runtime::Machine,
        a: &sparring::runtime::Matrix,
    ) -> Option<Result<Answer>> {
        match self {
            Self::Pagerank(of) if !of.weights.weighted => Some(of.ranks_of_matrix(machine, a)),
            _ => None,
        }
    }
    fn compute(&self, context: &Context, g: &Graph) -> Result<Answer> {
        let cpu = &context.cpu;
        match self {
            Self::Pagerank(of) => of.ranks(context, g),
            Self::Betweenness(of) => {
                let found = match of.samples {
                    Some(samples) => sampled_betweenness(context, g, samples, of.seed, of.normalized)?,
                    None => betweenness_centrality(context, g, of.normalized)?,
                };
                scored("betweenness", found)
            }
            Self::Closeness(of) if of.harmonic => scored("harmonic centrality", harmonic_centrality(cpu, g)?),
            Self::Closeness(_) => scored("closeness", closeness_centrality(cpu, g)?),
            Self::Eigenvector(of) => match of.alpha {
                Some(alpha) => scored("Katz centrality", katz_centrality(cpu, g, alpha, of.beta, (&of.until).into())?),
                None => scored("eigenvector centrality", eigenvector_centrality(cpu, g, (&of.until).into())?),
            },
            Self::Hits(of) => {
                let found = hits(cpu, g, (&of.until).into())?;
                if of.authorities { scored("authority", found.authorities) } else { scored("hub", found.hubs) }
            }
        }
    }
}

impl Pagerank {
    #[cfg(feature = "cluster")]
    fn ranks_of_matrix(&self, machine: &sparring::runtime::Machine, a: &sparring::runtime::Matrix) -> Result<Answer> {
        let found = sparring_cluster::graph::pagerank(machine, a, &self.options(a.shape().0)?)?;
        let ranks = found.ranks.download()?;
        let ranks = ranks.typed::<f64>().map_or_else(|| Ok(vec![]), |ranks| ranks.to_dense(0.0))?;
        Self::ranked(PageRank { ranks, iterations: found.iterations, change: found.change })
    }
    fn ranks(&self, context: &Context, g: &Graph) -> Result<Answer> {
        Self::ranked(pagerank(context, g, &self.options(g.vertices())?)?)
    }
    /// The options for a graph of n vertices.
    fn options(&self, n: usize) -> Result<PageRankOptions> {
        let personalization = if self.personalize.is_empty() {
            None
        } else {
            let mut p = sparring::par::filled(n, 0.0, "personalization")?;
            for &v in &self.personalize {
                let message = || format!("vertex {v} of a graph of {n}");
                *p.get_mut(v).ok_or_else(|| Error::Argument { name: "personalize", message: message() })? = 1.0;
            }
            Some(p)
        };
        Ok(PageRankOptions {
            damping: self.damping,
            tolerance: self.until.tolerance,
            max_iterations: self.until.max_iterations,
            personalization,
            drop_dangling: self.drop_dangling,
        })
    }
    fn ranked(found: PageRank) -> Result<Answer> {
        let mut answer = scored("rank", found.ranks)?;
        answer.text = format!("{} iterations, last change {:.1e}   {}", found.iterations, found.change, answer.text);
        answer.figures.extend([("iterations", json!(found.iterations)), ("change", json!(found.change))]);
        Ok(answer)
    }
}

/// A score for each vertex.
pub(super) fn scored(what: &'static str, scores: Vec<f64>) -> Result<Answer> {
    let sum: f64 = scores.iter().sum();
    let best = scores.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0)));
    let text = match best {
        Some((v, x)) => format!("highest {what} {x} of vertex {v}"),
        None => format!("no vertex has a {what}"),
    };
    Ok(Answer {
        text,
        figures: vec![
            ("highest", json!(best.map(|best| best.1))),
            ("vertex", json!(best.map(|best| best.0))),
            ("sum", json!(sum)),
        ],
        values: Values::Scores(scores),
        parents: None,
        figure: Figure::Ranked(what),
    })
}
