//! All-pairs shortest paths, by products over the semiring (min, +).
//!
//! `D ← D min.+ D` doubles the maximum number of edges of a path, so ⌈log₂ n⌉ products give all distances. The
//! result is dense, which limits the method to graphs of a few thousand vertices; here, a club of 34 people. For a
//! single source, use [`sssp`], which gives the same distances.
//!
//! ```sh
//! cargo run --release --example all_pairs
//! ```

use sparring::algebra::{Min, MinPlus};
use sparring::backend::Backend;
use sparring::graph::{Graph, GraphKind, sssp};
use sparring::{Cpu, Csr, io};

fn main() -> sparring::Result<()> {
    let cpu = Cpu::new();
    let friends: Csr<f64> = io::read_matrix_market("data/karate.mtx.gz")?.csr()?;
    let n = friends.nrows();
    // 1 for each edge, and 0 from each vertex to itself.
    let one = Csr::with_pattern(friends.pattern().clone(), vec![1.0; friends.nnz()])?;
    let here = Csr::new(n, n, (0..=n).collect(), (0..n as u32).collect(), vec![0.0; n])?;
    let mut d = cpu.ewise_add(Min::new(), &one, &here).eval()?;

    let mut rounds = 0;
    loop {
        let next = cpu.mxm(MinPlus::<f64>::default(), &d, &d).eval()?;
        rounds += 1;
        if next == d {
            break;
        }
        d = next;
    }
    let longest = d.values().iter().fold(0.0, |most: f64, &x| most.max(x));
    let mean = d.values().iter().sum::<f64>() / (n * (n - 1)) as f64;
    println!("{n} vertices, {rounds} products: at most {longest} edges apart, {mean:.3} in the mean");
    assert_eq!((d.nnz(), longest, (mean * 1e3).round()), (n * n, 5.0, 2408.0));

    let g = Graph::weighted(&cpu, &one, GraphKind::Undirected)?;
    for v in 0..n {
        assert_eq!(d.row(v).1, sssp(&cpu, &g, v)?);
    }
    Ok(())
}
