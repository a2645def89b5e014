//! Searches and components of real graphs, compared with the facts in `data/index.json`.

use sparring::graph::{Graph, GraphKind, UNREACHED, bfs, connected_components, sssp, strongly_connected_components};
use sparring::{Cpu, Csr, io};

use crate::data::{Fact, collection, facts};

fn directed(fact: &Fact, a: &Csr<f64>) -> GraphKind {
    let t = a.pattern().transpose(&sparring::par::Threads::current()).unwrap();
    let kind = if t == **a.pattern() { GraphKind::Undirected } else { GraphKind::Directed };
    assert_eq!(kind == GraphKind::Directed, fact.fraction("scc").is_some(), "{}", fact.name());
    kind
}

/// Number of components, and size of the largest.
fn sizes(labels: &[u32]) -> (u64, u64) {
    let mut count = vec![0u64; labels.len()];
    labels.iter().for_each(|&label| count[label as usize] += 1);
    (count.iter().filter(|x| **x > 0).count() as u64, count.into_iter().max().unwrap_or(0))
}

#[test]
fn real_graphs_have_their_facts() {
    let cpu = Cpu::with_threads(2).unwrap();
    let all: Vec<_> = facts().into_iter().chain(collection()).filter(|fact| fact.fraction("wcc").is_some()).collect();
    assert!(all.len() >= 6);
    for fact in all {
        let (name, a) = (fact.name(), io::read_matrix_market(&fact.path).unwrap().csr::<f64>().unwrap());
        let g = Graph::new(&cpu, &a, directed(&fact, &a)).unwrap();
        let known = (fact.number("wcc"), fact.number("wccmax"));
        assert_eq!(sizes(&connected_components(&cpu, &g).unwrap()), known, "{name}: components");
        if g.kind() == GraphKind::Directed {
            let labels = strongly_connected_components(&cpu, &g).unwrap();
            assert_eq!(sizes(&labels).0, fact.number("scc"), "{name}: strongly connected components");
        }
        let search = fact.numbers("bfs");
        let source = (0..g.vertices()).rev().max_by_key(|&v| g.degree(v)).unwrap();
        assert_eq!(source as u64 + 1, search[0], "{name}: source");
        for levels in [bfs(&cpu, &g, source).unwrap(), as_levels(&sssp(&cpu, &g, source).unwrap())] {
            let reached: Vec<_> = levels.iter().filter(|x| **x != UNREACHED).map(|&x| u64::from(x)).collect();
            let found = [reached.len() as u64, reached.iter().copied().max().unwrap(), reached.iter().sum()];
            assert_eq!(found[..], search[1..], "{name}: search");
        }
    }
}

fn as_levels(lengths: &[f64]) -> Vec<u32> {
    lengths.iter().map(|&d| if d.is_finite() { d as u32 } else { UNREACHED }).collect()
}
