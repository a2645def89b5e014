//! Centrality in a network: five measures for the elections of Wikipedia's administrators.
//!
//! An edge leads from the voter to the candidate. The number of votes is the simplest score; PageRank weighs a vote by
//! the rank of the voter, and authority scores by the voter's other good choices. Betweenness finds vertices that
//! connect parts of the network, hub scores those who vote for many important candidates.
//!
//! ```sh
//! cargo run --release --example who_matters
//! ```

use sparring::graph::{Graph, GraphKind, Iteration, PageRankOptions, betweenness_centrality, hits, pagerank};
use sparring::{Cpu, Csr, io};

fn main() -> sparring::Result<()> {
    let cpu = Cpu::new();
    let votes: Csr<f64> = io::read_matrix_market("data/wiki-Vote.mtx.gz")?.csr()?;
    let g = Graph::new(&cpu, &votes, GraphKind::Directed)?;

    let mut received = vec![0.0; g.vertices()];
    (0..g.vertices()).flat_map(|v| g.neighbors(v)).for_each(|&u| received[u as usize] += 1.0);
    let ranks = pagerank(&cpu, &g, &PageRankOptions::default())?.ranks;
    let scores = hits(&cpu, &g, Iteration::default())?;
    let between = betweenness_centrality(&cpu, &g, false)?;

    let tops = [
        ("votes", received),
        ("PageRank", ranks),
        ("authorities", scores.authorities),
        ("betweenness", between),
        ("hubs", scores.hubs),
    ]
    .map(|(name, scores)| {
        let top = top(&scores, 5);
        println!("{name:12} {}", top.iter().map(|v| format!("{v:>6}")).collect::<String>());
        top[0]
    });
    assert_eq!(tops, [3649, 3649, 2204, 2356, 2356]);
    Ok(())
}

/// The vertices with the largest scores.
fn top(scores: &[f64], count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&u, &v| scores[v].total_cmp(&scores[u]));
    order.truncate(count);
    order
}
