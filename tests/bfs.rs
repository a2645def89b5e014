//! Breadth-first levels compared with a queue, on the CPU.

mod common;

use common::arbitrary::AnyGraph;
use common::backend_checks::{levels, path};
use common::data;
use quickcheck::quickcheck;
use sparring::graph::bfs_levels;
use sparring::{Cpu, Csr, Error};

fn on_all(a: &Csr<f64>, source: usize) -> Result<(), String> {
    let cpu = |threads| Cpu::with_threads(threads).expect("threads");
    let check = |n| levels(&cpu(n), a, source).map_err(|e| format!("{n} threads: {e}"));
    [1, 2, 3, 8].into_iter().try_for_each(check)
}

quickcheck! {
    /// Directed, with self-loops, shuffled rows and stored zeros.
    fn levels_are_those_of_a_queue(graph: AnyGraph, seed: u64) -> Result<(), String> {
        let a: Csr<f64> = graph.0.matrix(seed);
        if a.nrows() == 0 { Ok(()) } else { on_all(&a, seed as usize % a.nrows()) }
    }
}

#[test]
fn levels_of_the_files_at_hand() {
    for fact in data::facts().iter().filter(|f| f.is_square()) {
        let a = fact.read();
        for source in [0, a.nrows() / 2] {
            on_all(&a, source).unwrap_or_else(|e| panic!("{}: {e}", fact.name()));
        }
    }
}

#[test]
fn a_long_path() {
    let n = 3000;
    let a = path(n);
    on_all(&a, 0).unwrap();
    let found = bfs_levels(&Cpu::new(), &a, None, n as usize - 1).expect("levels");
    assert_eq!(found.iter().flatten().copied().collect::<Vec<_>>(), [0]);
}

#[test]
fn what_is_no_graph_or_no_vertex_is_refused() {
    let e = bfs_levels(&Cpu::new(), &Csr::<f64>::empty(3, 4).expect("a"), None, 0).unwrap_err();
    assert!(matches!(e, Error::NotSquare { op: "bfs_levels", nrows: 3, ncols: 4 }), "{e}");
    for n in [0, 3] {
        let e = bfs_levels(&Cpu::new(), &Csr::<f64>::empty(n, n).expect("a"), None, n).unwrap_err();
        assert!(matches!(e, Error::Argument { name: "source", .. }) && e.to_string().contains(&n.to_string()), "{e}");
    }
}
