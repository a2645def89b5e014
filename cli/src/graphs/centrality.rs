//! Centralities of vertices.

use clap::{Args, Subcommand};
use serde_json::json;
use sparring::graph::{
    Graph, Iteration, PageRankOptions, betweenness_centrality, closeness_centrality, eigenvector_centrality,
    harmonic_centrality, hits, katz_centrality, pagerank, sampled_betweenness,
};
use sparring::{Error, Result};

use super::answer::{Answer, highest, ranked};
use super::common::{Common, Example, Run, Top, Weights, column};
use crate::context::Context;

pub(super) const EXAMPLES: &[(&str, [Example; 2])] = &[
    (
        "pagerank",
        [
            ("sparring pagerank graph.txt --top 3", "The three vertices of the highest ranks"),
            ("sparring pagerank a.mtx --weighted --personalize 0,2 -o ranks.mtx", "Ranks as seen from two vertices"),
        ],
    ),
    (
        "betweenness",
        [
            ("sparring betweenness graph.txt --top 2 --plot between.svg", "What shortest paths go through"),
            ("sparring betweenness a.mtx --samples 2 --seed 7 --normalized", "An estimate from two sources"),
        ],
    ),
    (
        "closeness",
        [
            ("sparring closeness graph.txt --top 2", "How near the others are"),
            ("sparring closeness a.mtx --harmonic --weighted -o near.npy", "The sum of 1/distance, weights as lengths"),
        ],
    ),
    (
        "eigenvector",
        [
            ("sparring eigenvector graph.txt --kind undirected --top 2", "Who has neighbours that have neighbours"),
            ("sparring eigenvector a.mtx --alpha 0.1 -o katz.mtx", "Katz centrality: walks of every length"),
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
    /// Rank vertices by the ranks of those that lead to them
    Pagerank(Pagerank),
    /// Count the shortest paths through each vertex
    Betweenness(Betweenness),
    /// Compute how near all others are to each vertex
    Closeness(Closeness),
    /// Compute the eigenvector of the adjacency matrix, or Katz centrality
    Eigenvector(Eigenvector),
    /// Compute hubs and authorities
    Hits(Hits),
}

#[derive(Args)]
pub(crate) struct Pagerank {
    #[command(flatten)]
    common: Common,
    /// Part of a rank that is passed on along edges
    #[arg(long, value_name = "D", default_value_t = 0.85)]
    damping: f64,
    #[command(flatten)]
    until: Until,
    /// Vertices that the rest of the ranks goes to [default: all]
    #[arg(long, value_name = "V", value_delimiter = ',')]
    personalize: Vec<usize>,
    /// What vertices without edges outwards pass on is lost, as in the GAP benchmark
    #[arg(long)]
    drop_dangling: bool,
    #[command(flatten)]
    weights: Weights,
    #[command(flatten)]
    top: Top,
}

/// When an iteration ends.
#[derive(Args)]
pub(crate) struct Until {
    /// Stop when a step changes the results by less than this in all
    #[arg(long, value_name = "X", default_value_t = 1e-6)]
    tolerance: f64,
    /// Give up after so many steps
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
    /// Estimate from so many sources [default: all vertices, exactly]
    #[arg(long, value_name = "N")]
    samples: Option<usize>,
    /// Which sources are drawn
    #[arg(long, value_name = "N", default_value_t = 0, requires = "samples")]
    seed: u64,
    /// Divide by the number of pairs
    #[arg(long)]
    normalized: bool,
    #[command(flatten)]
    weights: Weights,
    #[command(flatten)]
    top: Top,
}

#[derive(Args)]
pub(crate) struct Closeness {
    #[command(flatten)]
    common: Common,
    /// The sum of 1/distance, which needs no path to all
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
    /// Katz centrality: each edge of a walk weighs this much
    #[arg(long, value_name = "X")]
    alpha: Option<f64>,
    /// Of Katz centrality: what every vertex has of itself
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
    /// List, write and draw the authorities, not the hubs
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
    fn is_weighted(&self) -> bool {
        self.parts().1.weighted
    }
    fn top(&self) -> usize {
        self.parts().2.top
    }
    fn reads_incoming(&self) -> bool {
        !matches!(self, Self::Closeness(_))
    }
    fn compute(&self, context: &Context, g: &Graph) -> Result<Answer> {
        let cpu = &context.cpu;
        match self {
            Self::Pagerank(of) => of.ranks(context, g),
            Self::Betweenness(of) => {
                let found = match of.samples {
                    Some(samples) => sampled_betweenness(cpu, g, samples, of.seed, of.normalized)?,
                    None => betweenness_centrality(cpu, g, of.normalized)?,
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
    fn ranks(&self, context: &Context, g: &Graph) -> Result<Answer> {
        let n = g.vertices();
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
        let found = pagerank(
            &context.cpu,
            g,
            &PageRankOptions {
                damping: self.damping,
                tolerance: self.until.tolerance,
                max_iterations: self.until.max_iterations,
                personalization,
                drop_dangling: self.drop_dangling,
            },
        )?;
        let mut answer = scored("rank", found.ranks)?;
        answer.text = format!("{} steps, the last changed {:.1e}   {}", found.iterations, found.change, answer.text);
        answer.figures.extend([("iterations", json!(found.iterations)), ("change", json!(found.change))]);
        Ok(answer)
    }
}

/// A score for each vertex.
pub(super) fn scored(what: &'static str, scores: Vec<f64>) -> Result<Answer> {
    let sum: f64 = scores.iter().sum();
    let best = highest(&scores, 1);
    let text = match best[..] {
        [(v, x), ..] => format!("highest {what} {x} of vertex {v}"),
        [] => format!("no vertex has a {what}"),
    };
    Ok(Answer {
        text,
        figures: vec![
            ("highest", json!(best.first().map(|best| best.1))),
            ("vertex", json!(best.first().map(|best| best.0))),
            ("sum", json!(sum)),
        ],
        result: Some(column(scores.iter().map(|&x| Some(x)))?),
        figure: ranked(what, &scores),
        scores: Some(scores),
    })
}
