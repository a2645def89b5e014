//! Triangle counts by every method, compared with known counts and the textbook.

mod common;

use common::arbitrary::{AnyGraph, AnyPattern, Rng};
use common::{data, reference};
use quickcheck::quickcheck;
use sparring::graph::{TriangleMethod, triangles, triangles_per_edge, triangles_per_vertex};
use sparring::{Cpu, Csr, Error, Index};

const METHODS: [TriangleMethod; 4] =
    [TriangleMethod::Auto, TriangleMethod::Masked, TriangleMethod::Compressed, TriangleMethod::Direct];

fn count(cpu: &Cpu, a: &Csr<f64>, method: TriangleMethod) -> u64 {
    triangles(cpu, a, method).unwrap_or_else(|e| panic!("{method:?}: {e}")).count
}

quickcheck! {
    /// Directed, with self-loops, shuffled rows and stored zeros, on 1 and 3 threads.
    fn every_method_is_the_definition(graph: AnyGraph, seed: u64) -> Result<(), String> {
        let a: Csr<f64> = graph.0.matrix(seed);
        let want = reference::triangles(a.pattern());
        for threads in [1, 3] {
            let cpu = Cpu::with_threads(threads).map_err(|e| e.to_string())?;
            for method in METHODS {
                let found = triangles(&cpu, &a, method).map_err(|e| e.to_string())?;
                if found.count != want {
                    return Err(format!("{method:?} on {threads} threads: {}, expected {want}", found.count));
                }
                if found.method.is_empty() {
                    return Err(format!("{method:?} does not say what ran"));
                }
            }
        }
        Ok(())
    }
}

/// Counts per edge and per vertex compared with the textbook, and their sums with the total count.
fn counts_are_the_definition<I: Index>(a: &Csr<f64, I>, threads: usize) {
    let cpu = Cpu::with_threads(threads).expect("threads");
    let want = reference::triangles_per_edge(a.pattern());
    let edges = triangles_per_edge(&cpu, a).expect("counts of edges");
    assert!(edges.pattern().is_sorted());
    assert_eq!(reference::table(&edges), want, "{threads} threads");
    let rows = (0..a.nrows()).map(|i| edges.row(i).1.iter().sum::<u64>() / 2).collect::<Vec<_>>();
    let vertices = triangles_per_vertex(&cpu, a).expect("counts of vertices");
    assert_eq!(vertices, rows, "{threads} threads");
    let all = triangles(&cpu, a, TriangleMethod::Auto).expect("a count").count;
    assert_eq!(vertices.iter().sum::<u64>(), 3 * all);
}

quickcheck! {
    /// Directed, with self-loops, shuffled rows and stored zeros.
    fn counts_of_vertices_and_edges(graph: AnyGraph, seed: u64) -> bool {
        let a: Csr<f64> = graph.0.matrix(seed);
        [1, 3].into_iter().for_each(|threads| counts_are_the_definition(&a, threads));
        true
    }
}

/// A random undirected graph of `n` vertices with about `degree` neighbours each, and `hubs` adjacent to all.
fn undirected(n: usize, degree: usize, hubs: usize, seed: u64) -> AnyPattern {
    let mut rng = Rng(seed);
    let mut rows = vec![vec![]; n];
    let mut join = |i: usize, j: usize| {
        rows[i].push(j as u32);
        rows[j].push(i as u32);
    };
    for i in 0..n {
        (0..degree / 2).for_each(|_| join(i, rng.below(n)));
        (0..hubs).for_each(|hub| join(i, hub * n / hubs.max(1)));
    }
    for (i, row) in rows.iter_mut().enumerate() {
        row.retain(|&j| j as usize != i);
        row.sort_unstable();
        row.dedup();
    }
    AnyPattern { ncols: n, rows, shuffle: 0 }
}

/// Rows as stored, of one register and of several, with and without hubs; then with a self-loop, which changes nothing,
/// and with one entry too few or too many, which keeps the graph but makes the matrix unsymmetric. Also with 64-bit
/// columns.
#[test]
fn symmetric_graphs_nearly_so() {
    for (n, degree, hubs) in [(40, 4, 0), (150, 6, 1), (150, 20, 0), (120, 40, 2), (150, 70, 1), (200, 150, 0)] {
        let graph = undirected(n, degree, hubs, (n + degree) as u64);
        let want = reference::triangles(graph.matrix::<f64>(0).pattern());
        for change in 0..4 {
            let mut changed = AnyPattern { ncols: n, rows: graph.rows.clone(), shuffle: 0 };
            match change {
                1 => changed.rows[n / 2] = with(&graph.rows[n / 2], n / 2),
                2 => drop(changed.rows[n - 1].pop()),
                3 => drop(changed.rows[0].remove(0)),
                _ => {}
            }
            let a: Csr<f64> = changed.matrix(1);
            let wide = Csr::<f64, u64>::new(
                n,
                n,
                a.pattern().row_ptr().to_vec(),
                a.pattern().col_idx().iter().map(|&j| u64::from(j)).collect(),
                a.values().to_vec(),
            )
            .expect("wide columns");
            for threads in [1, 2, 5] {
                let cpu = Cpu::with_threads(threads).expect("threads");
                for method in METHODS {
                    let found = triangles(&cpu, &a, method).expect("a count");
                    assert_eq!(found.count, want, "{n}, {degree}, {hubs}, change {change}: {}", found.method);
                    assert_eq!(triangles(&cpu, &wide, method).expect("a count").count, want);
                }
            }
            counts_are_the_definition(&a, 2);
            counts_are_the_definition(&wide, 3);
        }
    }
}

fn with(row: &[u32], column: usize) -> Vec<u32> {
    let mut row = row.to_vec();
    row.push(column as u32);
    row.sort_unstable();
    row.dedup();
    row
}

/// A mesh is processed as stored, a graph with hubs by lists, and long lists by bitmaps; under any instruction set.
#[test]
fn the_method_follows_the_degrees() {
    let of = |n, degree, hubs| {
        let a: Csr<f64> = undirected(n, degree, hubs, 1).matrix(0);
        triangles(&Cpu::new(), &a, TriangleMethod::Auto).expect("a count").method
    };
    for (n, degree, hubs, method) in
        [(2000, 0, 0, "direct"), (2000, 4, 0, "direct"), (2000, 4, 2, "masked"), (500, 600, 0, "compressed")]
    {
        assert!(of(n, degree, hubs).starts_with(method), "{n}, {degree}, {hubs}: {}", of(n, degree, hubs));
    }
}

fn known(fact: &data::Fact) {
    let Some(want) = fact.triangles() else { return };
    let a = fact.read();
    let cpu = Cpu::with_threads(2).expect("threads");
    for method in METHODS {
        assert_eq!(count(&cpu, &a, method), want, "{}, {method:?}", fact.name());
    }
    let vertices = triangles_per_vertex(&cpu, &a).expect("counts of vertices");
    let edges = triangles_per_edge(&cpu, &a).expect("counts of edges");
    let sums = (vertices.iter().sum::<u64>(), edges.values().iter().sum::<u64>());
    assert_eq!(sums, (3 * want, 6 * want), "{}", fact.name());
}

#[test]
fn known_counts_of_the_files_at_hand() {
    let facts = data::facts();
    assert!(facts.iter().filter(|f| f.triangles().is_some()).count() >= 6);
    facts.iter().for_each(known);
}

#[test]
fn known_counts_of_the_collection() {
    data::collection().iter().for_each(known);
}

/// Small graphs with obvious counts.
#[test]
fn golden_graphs() {
    let golden: toml::Table = include_str!("golden/graphs.toml").parse().expect("golden/graphs.toml");
    for case in golden["graph"].as_array().expect("graphs") {
        let name = case["name"].as_str().expect("a name");
        let n = case["n"].as_integer().expect("n") as usize;
        let mut rows = vec![vec![]; n];
        for edge in case["edges"].as_array().expect("edges") {
            let end = |p: usize| edge[p].as_integer().expect("a vertex") as u32;
            rows[end(0) as usize].push(end(1));
        }
        for row in &mut rows {
            row.sort_unstable();
            row.dedup();
        }
        let a: Csr<f64> = AnyPattern { ncols: n, rows, shuffle: 0 }.matrix(0);
        let want = case["triangles"].as_integer().expect("triangles") as u64;
        assert_eq!(reference::triangles(a.pattern()), want, "{name}: the textbook");
        for method in METHODS {
            assert_eq!(count(&Cpu::new(), &a, method), want, "{name}, {method:?}");
        }
    }
}

/// A complete graph has n(n−1)(n−2)/6 triangles, whichever half is stored.
#[test]
fn complete_graphs() {
    for n in [0usize, 1, 2, 3, 64, 65, 200] {
        let want = (n * n.saturating_sub(1) * n.saturating_sub(2) / 6) as u64;
        let half = |keep: fn(u32, u32) -> bool| {
            let rows = (0..n as u32).map(|i| (0..n as u32).filter(|&j| keep(i, j)).collect()).collect();
            AnyPattern { ncols: n, rows, shuffle: 0 }.matrix::<f64>(0)
        };
        for a in [half(|i, j| i > j), half(|i, j| i < j), half(|i, j| i != j), half(|_, _| true)] {
            for method in METHODS {
                assert_eq!(count(&Cpu::new(), &a, method), want, "n = {n}, {method:?}");
            }
        }
    }
}

/// Stored zeros are edges, and the value type is irrelevant.
#[test]
fn values_do_not_matter() {
    let a = Csr::<f64>::new(3, 3, vec![0, 2, 3, 3], vec![1, 2, 2], vec![0.0, f64::NAN, -1.0]).expect("a");
    for method in METHODS {
        assert_eq!(count(&Cpu::new(), &a, method), 1);
        let by = |c: Result<_, Error>| -> sparring::graph::Triangles { c.expect("a count") };
        assert_eq!(by(triangles(&Cpu::new(), &a.map(|_| false).expect("memory"), method)).count, 1);
        assert_eq!(by(triangles(&Cpu::new(), &a.map(|_| 0u8).expect("memory"), method)).count, 1);
    }
}

#[test]
fn no_entries_no_triangles() {
    for n in [0, 1, 5, 100_000] {
        for method in METHODS {
            assert_eq!(count(&Cpu::new(), &Csr::empty(n, n).expect("empty"), method), 0);
        }
    }
}

#[test]
fn a_matrix_that_is_not_square_is_refused() {
    for method in METHODS {
        let found = triangles(&Cpu::new(), &Csr::<f64>::empty(3, 4).expect("empty"), method);
        assert!(matches!(found, Err(Error::NotSquare { nrows: 3, ncols: 4, .. })), "{found:?}");
    }
    let a = Csr::<f64>::empty(3, 4).expect("empty");
    let found = triangles_per_vertex(&Cpu::new(), &a).expect_err("not square").to_string();
    assert_eq!(found, "triangles_per_vertex: the matrix must be square, but it is 3×4");
    let found = triangles_per_edge(&Cpu::new(), &a).expect_err("not square").to_string();
    assert_eq!(found, "triangles_per_edge: the matrix must be square, but it is 3×4");
}

/// A star has no triangles although its centre is adjacent to all; with a rim, it is a wheel.
#[test]
fn hubs() {
    let n = 5000u32;
    let star = |rim: bool| {
        let mut rows: Vec<Vec<u32>> = vec![(1..n).collect()];
        rows.extend((1..n).map(|i| if rim { vec![if i + 1 < n { i + 1 } else { 1 }] } else { vec![] }));
        AnyPattern { ncols: n as usize, rows, shuffle: Rng(3).next() }.matrix::<f64>(0)
    };
    for method in METHODS {
        assert_eq!(count(&Cpu::new(), &star(false), method), 0);
        assert_eq!(count(&Cpu::new(), &star(true), method), u64::from(n) - 1);
    }
}
