//! Maximal independent sets.

use sparring::graph::{GraphKind, maximal_independent_set};

use super::common::{by_threads, large, samples};

#[test]
fn the_set_is_independent_and_maximal() {
    for s in samples().into_iter().chain([large(12, 4, GraphKind::Undirected, 2)]) {
        let found = by_threads(&s.name, |cpu| maximal_independent_set(cpu, &s.graph(cpu)).unwrap());
        assert!(found.is_sorted_by(|u, v| u < v), "{}", s.name);
        let mut taken = vec![false; s.n];
        found.iter().for_each(|&v| taken[v as usize] = true);
        let mut covered = taken.clone();
        for &(i, j) in s.edges.iter().filter(|e| e.0 != e.1) {
            assert!(!(taken[i] && taken[j]), "{}: {i} and {j}", s.name);
            covered[i] |= taken[j];
            covered[j] |= taken[i];
        }
        assert!(covered.iter().all(|&c| c), "{}", s.name);
    }
}

/// The leaves of a star, not its center.
#[test]
fn small_degrees_come_first() {
    let star = samples().into_iter().find(|s| s.name.starts_with("a star,")).unwrap();
    assert_eq!(
        by_threads("a star", |cpu| maximal_independent_set(cpu, &star.graph(cpu)).unwrap()),
        [1, 2, 3, 4, 5, 6, 7, 8]
    );
}
