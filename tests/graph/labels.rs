//! Label propagation.

use sparring::graph::{GraphKind, label_propagation};

use super::common::{Sample, by_threads, large, samples};

/// One synchronous step: the least of the most frequent labels of neighbors, in both directions.
fn step(s: &Sample, labels: &[u32]) -> Vec<u32> {
    let mut counts = vec![std::collections::BTreeMap::new(); s.n];
    for &(i, j) in &s.edges {
        *counts[i].entry(labels[j]).or_insert(0) += 1;
        // A loop of an undirected graph is one neighbor.
        if i != j || s.is_directed() {
            *counts[j].entry(labels[i]).or_insert(0) += 1;
        }
    }
    let mode = |v: usize| {
        let most = counts[v].values().max()?;
        counts[v].iter().find(|x| x.1 == most).map(|x| *x.0)
    };
    (0..s.n).map(|v| mode(v).unwrap_or(labels[v])).collect()
}

#[test]
fn labels_are_those_of_synchronous_steps() {
    let large = [GraphKind::Undirected, GraphKind::Directed].map(|kind| large(11, 3, kind, 4));
    for s in samples().into_iter().chain(large) {
        let mut want: Vec<u32> = (0..s.n as u32).collect();
        for iterations in 0..24 {
            let next = step(&s, &want);
            if [0, 1, 2, 3, 7, 22, 23].contains(&iterations) {
                let name = format!("{}, {iterations} iterations", s.name);
                let found = by_threads(&name, |cpu| label_propagation(cpu, &s.graph(cpu), iterations).unwrap());
                assert_eq!(found.labels, want, "{name}");
                assert!(!found.stable || next == want, "{name}");
                assert!(found.iterations <= iterations, "{name}");
            }
            want = next;
        }
    }
}

/// The two sides of a star exchange their labels for ever.
#[test]
fn labels_that_alternate_end() {
    let star = samples().into_iter().find(|s| s.name.starts_with("a star,")).unwrap();
    let run = |iterations| by_threads("a star", |cpu| label_propagation(cpu, &star.graph(cpu), iterations).unwrap());
    let (even, odd) = (run(1 << 40), run((1 << 40) + 1));
    assert!(even.iterations < 6 && !even.stable && !odd.stable);
    assert_eq!((even.labels, odd.labels), (run(40).labels, run(41).labels));
}
