//! Communities of high modularity.

use sparring::graph::{Communities, Graph, GraphKind, leiden, louvain, modularity};
use sparring::{Coo, Cpu, Error};

use super::common::{Rng, Sample, by_threads, large, samples, undirected};

/// Modularity: Σ over pairs within a community of the weight minus its expectation.
fn textbook(s: &Sample, labels: &[u32], resolution: f64) -> f64 {
    let mut a = vec![vec![0.0; s.n]; s.n];
    for (e, &(i, j)) in s.edges.iter().enumerate() {
        a[i][j] += s.weight(e);
        if !s.is_directed() {
            // A loop counts twice.
            a[j][i] += s.weight(e);
        }
    }
    let total: f64 = a.iter().flatten().sum();
    let out: Vec<f64> = a.iter().map(|row| row.iter().sum()).collect();
    let into: Vec<f64> = (0..s.n).map(|j| a.iter().map(|row| row[j]).sum()).collect();
    let pairs = (0..s.n).flat_map(|i| (0..s.n).map(move |j| (i, j))).filter(|&(i, j)| labels[i] == labels[j]);
    let sum: f64 = pairs.map(|(i, j)| a[i][j] - resolution * out[i] * into[j] / total).sum();
    if total == 0.0 { 0.0 } else { sum / total }
}

#[test]
fn modularity_is_the_definition() {
    let mut rng = Rng(3);
    for s in samples() {
        for resolution in [0.5, 1.0, 2.0] {
            let labels: Vec<u32> = (0..s.n).map(|_| rng.below(s.n.min(4)) as u32).collect();
            let found = by_threads(&s.name, |cpu| modularity(cpu, &s.graph(cpu), &labels, resolution).unwrap());
            let want = textbook(&s, &labels, resolution);
            assert!((found - want).abs() < 1e-12, "{}: {found}, expected {want}", s.name);
        }
    }
}

/// Communities are numbered in order and have the reported modularity, and moving a vertex to another community gains
/// nothing.
fn check(s: &Sample, g: &Graph, cpu: &Cpu, found: &Communities, resolution: f64) {
    let mut next = 0;
    for &l in &found.labels {
        assert!(l <= next, "{}: {:?}", s.name, found.labels);
        next = next.max(l + 1);
    }
    assert_eq!((found.labels.len(), found.count), (s.n, next as usize), "{}", s.name);
    let q = |labels: &[u32]| modularity(cpu, g, labels, resolution).unwrap();
    assert!((q(&found.labels) - found.modularity).abs() < 1e-12, "{}", s.name);
    let singles: Vec<u32> = (0..s.n as u32).collect();
    assert!(found.modularity >= q(&singles) - 1e-12, "{}", s.name);
}

/// Whether each community is connected by its inner edges.
fn is_connected(s: &Sample, labels: &[u32]) -> bool {
    let mut parts: Vec<usize> = (0..s.n).collect();
    for _ in 0..s.n {
        for &(i, j) in s.edges.iter().filter(|e| labels[e.0] == labels[e.1]) {
            let least = parts[i].min(parts[j]);
            (parts[i], parts[j]) = (least, least);
        }
    }
    let first = |v: usize| (0..s.n).find(|&u| labels[u] == labels[v]);
    (0..s.n).all(|v| first(v) == Some(parts[v]))
}

#[test]
fn communities_are_at_least_as_good_as_single_vertices() {
    for s in undirected() {
        for resolution in [0.3, 1.0, 2.5] {
            let cpu = Cpu::new();
            let g = s.graph(&cpu);
            check(&s, &g, &cpu, &louvain(&cpu, &g, resolution, 0).unwrap(), resolution);
            let mut before = f64::NEG_INFINITY;
            for iterations in 1..4 {
                let found = leiden(&cpu, &g, resolution, iterations, 3).unwrap();
                check(&s, &g, &cpu, &found, resolution);
                assert!(is_connected(&s, &found.labels), "{}: {:?}", s.name, found.labels);
                assert!(found.modularity >= before, "{}", s.name);
                before = found.modularity;
            }
        }
    }
}

/// Large enough that communities are refined and graphs aggregated by several threads.
#[test]
fn communities_are_those_of_a_seed_on_any_threads() {
    let s = large(12, 6, GraphKind::Undirected, 9).weighted(1);
    let [one, other] = [0, 7].map(|seed| {
        by_threads(&s.name, |cpu| {
            let g = s.graph(cpu);
            (louvain(cpu, &g, 1.0, seed).unwrap(), leiden(cpu, &g, 1.0, 2, seed).unwrap())
        })
    });
    for found in [&one, &other] {
        assert!(is_connected(&s, &found.1.labels) && found.1.modularity > 0.1 && found.0.modularity > 0.1);
    }
    assert!(one.0.labels != other.0.labels && one.1.labels != other.1.labels);
}

/// A ring of cliques, adjacent ones joined by one edge (Fortunato, Barthélemy 2007).
#[test]
fn cliques_in_a_ring_are_communities() {
    let clique = |c: usize| (5 * c..5 * c + 5).flat_map(move |i| (i + 1..5 * c + 5).map(move |j| (i, j)));
    let edges: Vec<_> = (0..10).flat_map(|c| clique(c).chain([(5 * c, (5 * c + 6) % 50)])).collect();
    let s = Sample::new("a ring of cliques", 50, GraphKind::Undirected, &edges);
    let want: Vec<u32> = (0..50).map(|v| v / 5).collect();
    let found = by_threads(&s.name, |cpu| {
        let g = s.graph(cpu);
        (louvain(cpu, &g, 1.0, 0).unwrap(), leiden(cpu, &g, 1.0, 2, 0).unwrap())
    });
    assert_eq!((&found.0.labels, &found.1.labels), (&want, &want));
}

#[test]
fn arguments_that_cannot_be_are_refused() {
    let cpu = Cpu::new();
    let weighted = |w: f64| {
        let a = Coo::new(2, 2, vec![0], vec![1], vec![w]).unwrap().to_csr(sparring::prelude::Plus::new()).unwrap();
        Graph::weighted(&cpu, &a, GraphKind::Undirected).unwrap()
    };
    let text = |e: Error| e.to_string();
    for w in [-1.0, f64::INFINITY] {
        let e = text(louvain(&cpu, &weighted(w), 1.0, 0).unwrap_err());
        assert!(e.contains(&format!("edge (0, 1) has {w}")), "{e}");
    }
    let g = weighted(1.0);
    assert!(text(leiden(&cpu, &g, f64::NAN, 1, 0).unwrap_err()).contains("NaN is not a finite number"));
    let e = text(modularity(&cpu, &g, &[0, 2], 1.0).unwrap_err());
    assert!(e.contains("vertex 1 has label 2, which is not below 2"), "{e}");
    assert!(matches!(modularity(&cpu, &g, &[0], 1.0), Err(Error::Length { found: 1, expected: 2, .. })));
    let s = samples().into_iter().find(Sample::is_directed).unwrap();
    assert!(matches!(louvain(&cpu, &s.graph(&cpu), 1.0, 0), Err(Error::Argument { name: "graph", .. })));
}
