//! Clustering coefficients.

use sparring::graph::{average_clustering, local_clustering, transitivity};
use sparring::{Cpu, Error};

use super::common::{Sample, by_threads, samples, undirected};

/// Pairs of neighbors of each vertex, and the number of adjacent pairs.
fn textbook(s: &Sample) -> Vec<(f64, f64)> {
    let a = s.simple();
    let pairs =
        |v: usize| (0..s.n).flat_map(move |i| (0..i).map(move |j| (i, j))).filter(move |&(i, j)| i != v && j != v);
    (0..s.n)
        .map(|v| {
            let of_neighbors: Vec<_> = pairs(v).filter(|&(i, j)| a[v][i] && a[v][j]).collect();
            let joined = of_neighbors.iter().filter(|&&(i, j)| a[i][j]).count();
            (of_neighbors.len() as f64, joined as f64)
        })
        .collect()
}

#[test]
fn coefficients_are_the_definition() {
    for s in undirected() {
        let want = textbook(&s);
        let ratio = |(pairs, joined): (f64, f64)| if joined == 0.0 { 0.0 } else { joined / pairs };
        let local: Vec<f64> = want.iter().map(|&x| ratio(x)).collect();
        let found = by_threads(&s.name, |cpu| {
            let g = s.graph(cpu);
            let (average, global) = (average_clustering(cpu, &g).unwrap(), transitivity(cpu, &g).unwrap());
            (local_clustering(cpu, &g).unwrap(), average, global)
        });
        let near = |x: f64, y: f64| (x - y).abs() < 1e-14;
        assert!(found.0.len() == s.n && found.0.iter().zip(&local).all(|(&x, &y)| near(x, y)), "{}", s.name);
        assert!(near(found.1, local.iter().sum::<f64>() / s.n.max(1) as f64), "{}: {}", s.name, found.1);
        let all = want.iter().fold((0.0, 0.0), |sum, x| (sum.0 + x.0, sum.1 + x.1));
        assert!(near(found.2, ratio(all)), "{}: {}", s.name, found.2);
    }
}

#[test]
fn directed_graphs_are_refused() {
    let cpu = Cpu::new();
    let s = samples().into_iter().find(Sample::is_directed).unwrap();
    let refused = |e: Error| matches!(&e, Error::Argument { name: "graph", .. });
    assert!(refused(local_clustering(&cpu, &s.graph(&cpu)).unwrap_err()));
    assert!(refused(transitivity(&cpu, &s.graph(&cpu)).unwrap_err()));
}
