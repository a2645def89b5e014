//! Triangle counts by every method, against known counts and the textbook.

mod common;

use common::arbitrary::{AnyGraph, AnyPattern, Rng};
use common::{data, reference};
use quickcheck::quickcheck;
use sparring::graph::{TriangleMethod, triangles};
use sparring::{Cpu, Csr, Error};

const METHODS: [TriangleMethod; 3] = [TriangleMethod::Auto, TriangleMethod::Masked, TriangleMethod::Compressed];

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

fn known(fact: &data::Fact) {
    let Some(want) = fact.triangles() else { return };
    let a = fact.read();
    let cpu = Cpu::with_threads(2).expect("threads");
    for method in METHODS {
        assert_eq!(count(&cpu, &a, method), want, "{}, {method:?}", fact.name());
    }
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

/// Small graphs of which the count is plain.
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

/// A complete graph has n(n−1)(n−2)/6 triangles, whichever half of it is stored.
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

/// Zeros that are stored are edges like any other, and values of any type do not matter.
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
}

/// A star has no triangle although its centre is joined to all; with a rim it is a wheel.
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
