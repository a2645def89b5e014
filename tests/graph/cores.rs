//! Core numbers.

use sparring::graph::{GraphKind, core_numbers};

use super::common::{Sample, by_threads, large, samples};

/// For each k, vertices with fewer than k neighbors are removed one by one; the rest is the k-core.
fn textbook(s: &Sample) -> Vec<u32> {
    let a = s.simple();
    let mut cores = vec![0; s.n];
    for k in 1..=s.n {
        let mut left = vec![true; s.n];
        let degree = |left: &[bool], v: usize| (0..s.n).filter(|&u| left[u] && a[v][u]).count();
        while let Some(v) = (0..s.n).find(|&v| left[v] && degree(&left, v) < k) {
            left[v] = false;
        }
        (0..s.n).filter(|&v| left[v]).for_each(|v| cores[v] = k as u32);
    }
    cores
}

#[test]
fn core_numbers_are_the_definition() {
    for s in samples() {
        let found = by_threads(&s.name, |cpu| core_numbers(cpu, &s.graph(cpu)).unwrap());
        assert_eq!(found, textbook(&s), "{}", s.name);
    }
}

/// Every vertex has at least as many neighbors of its core number or more as that number, and this fails for a number
/// one larger.
#[test]
fn core_numbers_of_a_large_graph_hold() {
    let s = large(12, 8, GraphKind::Undirected, 3);
    let cores = by_threads(&s.name, |cpu| core_numbers(cpu, &s.graph(cpu)).unwrap());
    let mut inside = vec![0; s.n];
    for &(i, j) in s.edges.iter().filter(|e| e.0 != e.1) {
        inside[i] += u32::from(cores[j] >= cores[i]);
        inside[j] += u32::from(cores[i] >= cores[j]);
    }
    assert!(cores.iter().zip(&inside).all(|(core, inside)| inside >= core));
    assert!(cores.iter().max().is_some_and(|&most| most > 20));
}
