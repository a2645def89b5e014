//! Topological orders.

use sparring::graph::{GraphKind, topological_order};
use sparring::{Cpu, Error};

use super::common::{Rng, Sample, by_threads, samples};

/// Repeatedly takes the smallest vertex without an unplaced predecessor; `None` if there is none.
fn textbook(s: &Sample) -> Option<Vec<u32>> {
    let mut order = vec![];
    let mut placed = vec![false; s.n];
    while order.len() < s.n {
        let v = (0..s.n).find(|&v| !placed[v] && s.edges.iter().all(|e| e.1 != v || placed[e.0]))?;
        placed[v] = true;
        order.push(v as u32);
    }
    Some(order)
}

#[test]
fn the_order_is_the_least() {
    let mut rng = Rng(8);
    let mut graphs: Vec<Sample> = samples().into_iter().filter(Sample::is_directed).collect();
    // Acyclic: edges follow a random permutation.
    for case in 0..20 {
        let n = [30, 200][case % 2];
        let rank: Vec<u64> = (0..n).map(|_| rng.next()).collect();
        let draws: Vec<_> =
            (0..2 * n).map(|_| (rng.below(n), rng.below(n))).filter(|e| rank[e.0] < rank[e.1]).collect();
        graphs.push(Sample::new("acyclic", n, GraphKind::Directed, &draws));
    }
    let mut acyclic = 0;
    for s in graphs {
        let found = by_threads(&s.name, |cpu| topological_order(cpu, &s.graph(cpu)).map_err(|e| e.to_string()));
        let want = textbook(&s);
        acyclic += usize::from(want.is_some());
        assert_eq!(found.as_ref().ok(), want.as_ref(), "{}", s.name);
    }
    assert!(acyclic >= 20);
}

#[test]
fn a_cycle_is_named() {
    let cpu = Cpu::new();
    let error = |n, edges: &[_]| {
        let s = Sample::new("a cycle", n, GraphKind::Directed, edges);
        topological_order(&cpu, &s.graph(&cpu)).unwrap_err().to_string()
    };
    // 0 comes first; 4 is reachable only through the cycle.
    let e = error(5, &[(0, 2), (2, 3), (3, 1), (1, 2), (1, 4)]);
    assert!(e.contains("vertex 1 is on a cycle of 3 edges"), "{e}");
    let e = error(2, &[(0, 1), (1, 1)]);
    assert!(e.contains("vertex 1 is on a cycle of 1 edge"), "{e}");
    let s = Sample::new("undirected", 2, GraphKind::Undirected, &[(0, 1)]);
    assert!(matches!(topological_order(&cpu, &s.graph(&cpu)), Err(Error::Argument { name: "graph", .. })));
}
