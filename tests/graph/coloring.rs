//! Greedy coloring.

use sparring::graph::{GraphKind, greedy_coloring};

use super::common::{Sample, by_threads, large, samples};

/// Vertices in order of degree, each with the smallest free color.
fn textbook(s: &Sample) -> Vec<u32> {
    let mut neighbors = vec![vec![]; s.n];
    for &(i, j) in s.edges.iter().filter(|e| e.0 != e.1) {
        neighbors[i].push(j);
        neighbors[j].push(i);
    }
    neighbors.iter_mut().for_each(|list| {
        list.sort_unstable();
        list.dedup();
    });
    let mut order: Vec<usize> = (0..s.n).collect();
    order.sort_by_key(|&v| std::cmp::Reverse(neighbors[v].len()));
    let mut colors = vec![u32::MAX; s.n];
    for v in order {
        let free = |&c: &u32| neighbors[v].iter().all(|&u| colors[u] != c);
        colors[v] = (0..).find(free).unwrap();
    }
    colors
}

#[test]
fn colors_are_the_greedy_ones() {
    // More colors than bits in a word.
    let clique: Vec<_> = (0..150).flat_map(|i| (i + 1..150).map(move |j| (i, j))).collect();
    let cliques = [Sample::new("a large clique", 152, GraphKind::Undirected, &clique)];
    for s in samples().into_iter().chain(cliques).chain([large(9, 20, GraphKind::Directed, 1)]) {
        let found = by_threads(&s.name, |cpu| greedy_coloring(cpu, &s.graph(cpu)).unwrap());
        let want = textbook(&s);
        assert_eq!(found.count, want.iter().max().map_or(0, |most| most + 1), "{}", s.name);
        assert!(found.colors == want, "{}", s.name);
        assert!(s.edges.iter().all(|&(i, j)| i == j || want[i] != want[j]), "{}", s.name);
    }
}
