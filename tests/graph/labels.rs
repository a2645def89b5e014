//! Label propagation.

use std::collections::BTreeMap;

use sparring::graph::{GraphKind, asynchronous_label_propagation, label_propagation};

use super::common::{Sample, by_threads, large, samples};

/// The neighbors of each vertex: first those that edges lead to, then those that edges come from.
fn neighbors(s: &Sample) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]; s.n];
    if s.is_directed() {
        s.edges.iter().for_each(|&(i, j)| all[i].push(j));
        s.edges.iter().for_each(|&(i, j)| all[j].push(i));
        return all;
    }
    for &(i, j) in &s.edges {
        all[i].push(j);
        // A self-loop counts as one neighbor.
        if i != j {
            all[j].push(i);
        }
    }
    all
}

/// The number of neighbors with each label.
fn counts(neighbors: &[usize], labels: &[u32]) -> BTreeMap<u32, usize> {
    let mut counts = BTreeMap::new();
    neighbors.iter().for_each(|&u| *counts.entry(labels[u]).or_insert(0) += 1);
    counts
}

/// The smallest of the most frequent labels among the neighbors; `own` without neighbors.
fn mode(counts: &BTreeMap<u32, usize>, own: u32) -> u32 {
    let most = counts.values().max();
    counts.iter().find(|x| Some(x.1) == most).map_or(own, |x| *x.0)
}

/// One synchronous step.
fn step(s: &Sample, labels: &[u32]) -> Vec<u32> {
    neighbors(s).iter().zip(labels).map(|(of, &own)| mode(&counts(of, labels), own)).collect()
}

/// Asynchronous updates in the documented order. The next pass revisits the vertices with a neighbor that changed to a
/// label different from theirs.
fn asynchronous(s: &Sample, passes: usize) -> (Vec<u32>, usize) {
    let (of, mut labels) = (neighbors(s), (0..s.n as u32).collect::<Vec<_>>());
    let blocks = (0..s.n).step_by(4096);
    let mut queue: Vec<_> = blocks.flat_map(|first| (0..4096).map(move |k| first + k * 2531 % 4096)).collect();
    queue.retain(|&v| v < s.n);
    let (mut awake, mut done) = (vec![true; s.n], 0);
    while done < passes && !queue.is_empty() {
        let mut next = vec![];
        for v in queue {
            awake[v] = false;
            let counts = counts(&of[v], &labels);
            let is_most = counts.get(&labels[v]) == counts.values().max();
            let label = if is_most { labels[v] } else { mode(&counts, labels[v]) };
            if label != labels[v] {
                labels[v] = label;
                for &u in &of[v] {
                    if !awake[u] && labels[u] != label {
                        awake[u] = true;
                        next.push(u);
                    }
                }
            }
        }
        (queue, done) = (next, done + 1);
    }
    (labels, queue.len())
}

#[test]
fn asynchronous_labels_are_those_of_one_vertex_after_the_other() {
    let large = [GraphKind::Undirected, GraphKind::Directed].map(|kind| large(13, 3, kind, 4));
    for s in samples().into_iter().chain(large) {
        for passes in [0, 1, 2, usize::MAX] {
            let found = by_threads(&s.name, |cpu| asynchronous_label_propagation(cpu, &s.graph(cpu), passes).unwrap());
            let (labels, awake) = asynchronous(&s, passes);
            let is_same = (&found.labels, found.stable) == (&labels, awake == 0);
            assert!(is_same, "{}, {passes} passes", s.name);
            assert!(passes < usize::MAX || found.stable, "{}", s.name);
        }
        let found = by_threads(&s.name, |cpu| asynchronous_label_propagation(cpu, &s.graph(cpu), 1000).unwrap());
        for (v, of) in neighbors(&s).iter().enumerate() {
            let counts = counts(of, &found.labels);
            assert_eq!(counts.get(&found.labels[v]), counts.values().max(), "{}: {v}", s.name);
        }
    }
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

/// The two sides of a star exchange their labels forever.
#[test]
fn labels_that_alternate_end() {
    let star = samples().into_iter().find(|s| s.name.starts_with("a star,")).unwrap();
    let run = |iterations| by_threads("a star", |cpu| label_propagation(cpu, &star.graph(cpu), iterations).unwrap());
    let (even, odd) = (run(1 << 40), run((1 << 40) + 1));
    assert!(even.iterations < 6 && !even.stable && !odd.stable);
    assert_eq!((even.labels, odd.labels), (run(40).labels, run(41).labels));
}
