//! All-pairs shortest path lengths.

use clap::Args;
use serde_json::json;
use sparring::graph::{Graph, all_pairs_shortest_paths};

use super::answer::{Answer, Figure, Values};
use super::common::{Common, Example, Run};
use crate::context::Context;
use crate::output::thousands;

pub(super) const EXAMPLES: &[(&str, [Example; 2])] = &[(
    "apsp",
    [
        ("sparring apsp a.mtx -o distances.npy", "Shortest path lengths between all pairs of vertices"),
        ("sparring apsp graph.txt --plot eccentricity.svg --json", "The diameter and the eccentricity of each vertex"),
    ],
)];

#[derive(Args)]
pub(crate) struct AllPairs {
    #[command(flatten)]
    common: Common,
}

impl Run for AllPairs {
    fn common(&self) -> &Common {
        &self.common
    }
    fn is_weighted(&self) -> bool {
        true
    }
    fn result_bytes(&self, n: usize) -> u128 {
        let n = n as u128;
        n * n * size_of::<f64>() as u128
    }
    fn keeps_to_budget(&self) -> bool {
        true
    }
    fn compute(&self, context: &Context, g: &Graph) -> sparring::Result<Answer> {
        let (n, distances) = (g.vertices(), all_pairs_shortest_paths(&context.cpu, g)?);
        let (mut reached, mut sum, mut longest) = (0u64, 0.0, 0.0f64);
        for (u, row) in distances.chunks(n.max(1)).enumerate() {
            for (_, &d) in row.iter().enumerate().filter(|(v, d)| *v != u && d.is_finite()) {
                (reached, sum, longest) = (reached + 1, sum + d, longest.max(d));
            }
        }
        let average = if reached == 0 { 0.0 } else { sum / reached as f64 };
        Ok(Answer {
            text: format!(
                "{} pairs of vertices are connected, path length at most {longest}, on average {average}",
                thousands(reached)
            ),
            figures: vec![
                ("reached", json!(reached)),
                ("longest", json!(longest)),
                ("average", json!(average)),
                ("sum", json!(sum)),
            ],
            values: Values::Pairs(distances),
            parents: None,
            figure: Figure::Ranked("eccentricity"),
        })
    }
}
