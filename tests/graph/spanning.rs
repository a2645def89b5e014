//! Minimum spanning forests.

use sparring::graph::{Graph, GraphKind, minimum_spanning_forest};
use sparring::{Cpu, Error};

use super::common::{Rng, Sample, by_threads, large, samples, undirected};

/// Kruskal: edges ordered by (weight, edge), each taken if its ends have different labels.
fn textbook(s: &Sample) -> (Vec<(u32, u32)>, f64) {
    let mut edges: Vec<usize> = (0..s.edges.len()).collect();
    edges.sort_by(|&e, &f| s.weight(e).total_cmp(&s.weight(f)).then(s.edges[e].cmp(&s.edges[f])));
    let mut labels: Vec<usize> = (0..s.n).collect();
    let (mut taken, mut sum) = (vec![], 0.0);
    for e in edges {
        let (i, j) = s.edges[e];
        let (from, to) = (labels[i], labels[j]);
        if from != to {
            labels.iter_mut().filter(|l| **l == from).for_each(|l| *l = to);
            taken.push((i as u32, j as u32));
            sum += s.weight(e);
        }
    }
    taken.sort_unstable();
    (taken, sum)
}

fn check(s: &Sample) {
    let found = by_threads(&s.name, |cpu| minimum_spanning_forest(cpu, &s.graph(cpu)).unwrap());
    let (edges, weight) = textbook(s);
    assert!(found.edges == edges, "{}: {:?}, expected {edges:?}", s.name, found.edges);
    assert_eq!(found.weight, weight, "{}", s.name);
}

#[test]
fn the_forest_is_that_of_kruskal() {
    undirected().iter().for_each(check);
}

/// Graphs dense enough that heavy edges are filtered: with many ties, with few, and with negative weights.
#[test]
fn the_forest_of_a_dense_graph_is_that_of_kruskal() {
    let mut rng = Rng(5);
    for range in [1, 4, 1000, 1 << 40] {
        let mut s = large(9, 16, GraphKind::Undirected, 7);
        s.weights = Some(s.edges.iter().map(|_| (rng.below(range) as f64 - (range / 2) as f64) / 2.0).collect());
        check(&s);
    }
}

#[test]
fn infinite_weights_are_weights() {
    let mut s = Sample::new("infinite", 3, GraphKind::Undirected, &[(0, 1), (0, 2), (1, 2)]);
    s.weights = Some(vec![f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY]);
    let cpu = Cpu::new();
    assert_eq!(minimum_spanning_forest(&cpu, &s.graph(&cpu)).unwrap().edges, [(0, 1), (0, 2)]);
}

#[test]
fn directed_graphs_are_refused() {
    let cpu = Cpu::new();
    let s = samples().into_iter().find(Sample::is_directed).unwrap();
    let g: Graph = s.graph(&cpu);
    assert!(matches!(minimum_spanning_forest(&cpu, &g), Err(Error::Argument { name: "graph", .. })));
}
