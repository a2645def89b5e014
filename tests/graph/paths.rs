//! Searches, shortest paths and components compared with textbooks on dense tables.

use sparring::graph::{
    Graph, GraphKind, UNREACHED, all_pairs_shortest_paths, all_pairs_shortest_paths_into, bellman_ford, bfs, bfs_tree,
    connected_components, multi_source_bfs, sssp, sssp_tree, strongly_connected_components,
};
use sparring::{Cpu, Csr, Error};

use crate::common::{Sample, by_threads, grid, large, samples};

/// The smallest path weights, by relaxing every edge n times (Bellman–Ford).
fn lengths(sample: &Sample, source: usize, weight: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut d = vec![f64::INFINITY; sample.n];
    d[source] = 0.0;
    for _ in 0..sample.n {
        for (e, &(i, j)) in sample.edges.iter().enumerate() {
            d[j] = d[j].min(d[i] + weight(e));
            if !sample.is_directed() {
                d[i] = d[i].min(d[j] + weight(e));
            }
        }
    }
    d
}

fn as_levels(lengths: &[f64]) -> Vec<u32> {
    lengths.iter().map(|&d| if d.is_finite() { d as u32 } else { UNREACHED }).collect()
}

/// Sources: all vertices of a small graph, some of a large one.
fn sources(n: usize) -> Vec<usize> {
    if n <= 40 { (0..n).collect() } else { vec![0, n / 3, n - 1] }
}

#[test]
fn levels_and_parents_are_those_of_a_table() {
    for sample in samples() {
        let a = sample.dense();
        for source in sources(sample.n) {
            let want = as_levels(&lengths(&sample, source, |_| 1.0));
            let tree = by_threads(&sample.name, |cpu| {
                let g = sample.graph(cpu);
                assert_eq!(bfs(cpu, &g, source).unwrap(), want, "{} from {source}", sample.name);
                let unprepared = bfs_tree(cpu, &g, source).unwrap();
                g.prepare(cpu).unwrap();
                assert_eq!(bfs_tree(cpu, &g, source).unwrap(), unprepared);
                unprepared
            });
            assert_eq!(tree.levels, want);
            let parent = |v: usize| match want[v] {
                UNREACHED => UNREACHED,
                0 => v as u32,
                level => (0..sample.n).find(|&u| want[u] == level - 1 && a[u][v].is_some()).unwrap() as u32,
            };
            assert_eq!(tree.parents, (0..sample.n).map(parent).collect::<Vec<_>>(), "{} from {source}", sample.name);
        }
    }
}

/// Levels that all threads push, and pulled levels, in a graph with low and high degrees.
#[test]
fn a_large_search_is_the_same_by_every_way() {
    for kind in [GraphKind::Directed, GraphKind::Undirected] {
        let sample = large(13, 12, kind, 5);
        for source in [0, 1, 77] {
            let bare = by_threads(&sample.name, |cpu| bfs_tree(cpu, &sample.graph(cpu), source).unwrap());
            let prepared = by_threads(&sample.name, |cpu| {
                let g = sample.graph(cpu);
                g.prepare(cpu).unwrap();
                bfs_tree(cpu, &g, source).unwrap()
            });
            assert_eq!(bare, prepared);
            let cpu = Cpu::new();
            let g = sample.graph(&cpu);
            assert_eq!(bfs(&cpu, &g, source).unwrap(), bare.levels);
            let unit = sssp(&cpu, &g, source).unwrap();
            assert_eq!(as_levels(&unit), bare.levels);
        }
    }
}

/// Frontiers of a grid are regular: a level is the sum of row and column, and the smallest parent is the vertex above.
#[test]
fn searches_of_grids_find_rows_and_columns() {
    let (m, k) = (150, 130);
    let grid = grid(m, k);
    let tree = by_threads("a grid", |cpu| bfs_tree(cpu, &grid.graph(cpu), 0).unwrap());
    let levels = by_threads("a grid", |cpu| bfs(cpu, &grid.graph(cpu), 0).unwrap());
    assert_eq!(levels, tree.levels);
    for (v, &level) in levels.iter().enumerate() {
        let (i, j) = (v / k, v % k);
        assert_eq!(level as usize, i + j, "{v}");
        assert_eq!(tree.parents[v] as usize, if i > 0 { v - k } else { j.saturating_sub(1) }, "{v}");
    }
}

#[test]
fn searches_from_several_vertices_are_searches_from_each() {
    for sample in samples() {
        let mut from = sources(sample.n);
        from.extend(sources(sample.n));
        from.extend(sources(sample.n));
        let found = by_threads(&sample.name, |cpu| multi_source_bfs(cpu, &sample.graph(cpu), &from).unwrap());
        for (levels, &source) in found.chunks(sample.n.max(1)).zip(&from) {
            assert_eq!(levels, as_levels(&lengths(&sample, source, |_| 1.0)), "{} from {source}", sample.name);
        }
    }
}

/// A graph of many levels, whose sources are searched one by one: a ladder, a path apart and a vertex without edges.
#[test]
fn searches_of_a_deep_graph_are_searches_from_each() {
    let (rungs, apart) = (200, 70);
    let mut edges: Vec<(usize, usize)> = (0..rungs).map(|i| (i, rungs + i)).collect();
    edges.extend((1..rungs).flat_map(|i| [(i - 1, i), (rungs + i - 1, rungs + i)]));
    edges.extend((1..apart).map(|i| (2 * rungs + i - 1, 2 * rungs + i)));
    let n = 2 * rungs + apart + 1;
    for kind in [GraphKind::Undirected, GraphKind::Directed] {
        let sample = Sample::new("a ladder", n, kind, &edges);
        // The first source decides: the ladder has 200 levels from there, the last vertex one.
        for from in [[0, 399, 150, 2 * rungs + 3, n - 1, 0], [n - 1, 0, 1, 399, n - 1, 2 * rungs]] {
            let found = by_threads("a ladder", |cpu| multi_source_bfs(cpu, &sample.graph(cpu), &from).unwrap());
            assert_eq!(found.len(), n * from.len());
            for (levels, &source) in found.chunks(n).zip(&from) {
                assert_eq!(levels, as_levels(&lengths(&sample, source, |_| 1.0)), "from {source}");
            }
        }
    }
}

#[test]
fn lengths_of_shortest_paths_are_those_of_a_table() {
    for sample in samples() {
        let all = by_threads(&sample.name, |cpu| all_pairs_shortest_paths(cpu, &sample.graph(cpu)).unwrap());
        // Old contents of the caller's memory are overwritten.
        let (cpu, mut there) = (Cpu::new(), vec![7.0; all.len()]);
        all_pairs_shortest_paths_into(&cpu, &sample.graph(&cpu), &mut there).unwrap();
        assert_eq!(there, all, "{}", sample.name);
        there.push(0.0);
        let e = all_pairs_shortest_paths_into(&cpu, &sample.graph(&cpu), &mut there).unwrap_err();
        assert!(matches!(e, Error::Length { what: "distances", found, expected } if found == expected + 1), "{e}");
        for source in sources(sample.n) {
            let want = lengths(&sample, source, |e| sample.weight(e));
            assert_eq!(all[source * sample.n..][..sample.n], want, "{} from {source}", sample.name);
            let tree = by_threads(&sample.name, |cpu| {
                let g = sample.graph(cpu);
                assert_eq!(sssp(cpu, &g, source).unwrap(), want, "{} from {source}", sample.name);
                sssp_tree(cpu, &g, source).unwrap()
            });
            let rounds = bellman_ford(&cpu, &sample.graph(&cpu), source).unwrap();
            assert_eq!((&tree.distances, &rounds.distances), (&want, &want));
            let a = sample.dense();
            for v in 0..sample.n {
                for found in [&tree, &rounds] {
                    let path = found.path(v);
                    assert_eq!(path.is_some(), want[v].is_finite(), "{} from {source} to {v}", sample.name);
                    let Some(path) = path else { continue };
                    assert_eq!((path[0] as usize, path[path.len() - 1] as usize), (source, v));
                    let sum: f64 = path.windows(2).map(|e| a[e[0] as usize][e[1] as usize].unwrap()).sum();
                    assert_eq!(sum, want[v], "{} from {source} to {v}: {path:?}", sample.name);
                }
                let parent = tree.parents[v] as usize;
                let nearer =
                    (0..sample.n).find(|&u| want[u] < want[v] && a[u][v].is_some_and(|w| want[u] + w == want[v]));
                assert!(nearer.is_none_or(|u| parent == u), "{} from {source}: {v} has {parent}", sample.name);
            }
        }
    }
}

/// Many vertices in a bucket, weights from 10⁻³⁰⁰ to 10³⁰⁰, zeros, and edges to unreachable vertices.
#[test]
fn weights_of_every_size_have_their_lengths() {
    for kind in [GraphKind::Directed, GraphKind::Undirected] {
        for (k, of) in [
            |x: u64| (x % 1000) as f64 / 8.0,
            |x: u64| 10f64.powi((x % 600) as i32 - 300),
            |x: u64| if x.is_multiple_of(7) { f64::INFINITY } else { (x % 3) as f64 },
            |_: u64| 0.0,
            |x: u64| f64::MAX / (1 + x % 4) as f64,
        ]
        .into_iter()
        .enumerate()
        {
            let mut sample = large(12, 8, kind, 9);
            let mut rng = crate::common::Rng(k as u64);
            sample.weights = Some(sample.edges.iter().map(|_| of(rng.next())).collect());
            let name = format!("{}, weights {k}", sample.name);
            let found = by_threads(&name, |cpu| sssp_tree(cpu, &sample.graph(cpu), 1).unwrap());
            let cpu = Cpu::new();
            let want = bellman_ford(&cpu, &sample.graph(&cpu), 1).unwrap();
            assert_eq!(found.distances, want.distances, "{name}");
            for v in 0..sample.n {
                assert_eq!(found.path(v).is_some(), want.distances[v].is_finite(), "{name}: {v}");
            }
        }
    }
}

#[test]
fn negative_weights_are_told_and_have_paths_of_their_own() {
    let cpu = Cpu::new();
    // 0 → 1 → 2 → 3, and a shorter detour 0 → 2.
    let a = Csr::<f64>::new(4, 4, vec![0, 2, 3, 4, 4], vec![1, 2, 2, 3], vec![5.0, 3.0, -4.0, 1.0]).unwrap();
    let g = Graph::weighted(&cpu, &a, GraphKind::Directed).unwrap();
    assert_eq!(bellman_ford(&cpu, &g, 0).unwrap().distances, [0.0, 5.0, 1.0, 2.0]);
    for e in [sssp(&cpu, &g, 0).unwrap_err(), all_pairs_shortest_paths(&cpu, &g).unwrap_err()] {
        assert!(e.to_string().contains("edge (1, 2) is -4"), "{e}");
    }
    let round = Csr::<f64>::new(3, 3, vec![0, 1, 2, 3], vec![1, 2, 1], vec![1.0, 2.0, -2.5]).unwrap();
    let g = Graph::weighted(&cpu, &round, GraphKind::Directed).unwrap();
    let e = bellman_ford(&cpu, &g, 0).unwrap_err().to_string();
    assert!(e.contains("cycle of negative length goes through vertex 1") || e.contains("through vertex 2"), "{e}");
    for found in [bfs(&cpu, &g, 3).unwrap_err(), sssp(&cpu, &g, 9).unwrap_err()] {
        assert!(matches!(found, Error::Argument { name: "source", .. }), "{found}");
    }
}

#[test]
fn components_have_the_least_vertex_as_their_label() {
    let mut all = samples();
    // Large enough that all threads link components.
    all.extend([GraphKind::Directed, GraphKind::Undirected].map(|kind| large(16, 8, kind, 3)));
    for sample in all {
        let (mut weak, mut changes) = ((0..sample.n as u32).collect::<Vec<_>>(), true);
        while changes {
            changes = false;
            for &(i, j) in &sample.edges {
                let least = weak[i].min(weak[j]);
                changes |= weak[i] != weak[j];
                (weak[i], weak[j]) = (least, least);
            }
        }
        let found = by_threads(&sample.name, |cpu| connected_components(cpu, &sample.graph(cpu)).unwrap());
        assert!(found == weak, "{}", sample.name);
        if sample.n > 40 {
            continue;
        }
        let reach: Vec<_> = (0..sample.n).map(|s| lengths(&sample, s, |_| 1.0)).collect();
        let both = |u: usize, v: usize| reach[u][v].is_finite() && reach[v][u].is_finite();
        let strong: Vec<_> = (0..sample.n).map(|v| (0..sample.n).find(|&u| both(u, v)).unwrap() as u32).collect();
        let found = by_threads(&sample.name, |cpu| strongly_connected_components(cpu, &sample.graph(cpu)).unwrap());
        assert_eq!(found, strong, "{}", sample.name);
    }
}
