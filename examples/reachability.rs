//! An index that answers "is t reachable from s?" by one bitwise operation, over a user-defined semiring.
//!
//! 64 high-degree vertices are landmarks. The set of landmarks reachable from a vertex is a 64-bit word, and
//! so is the set of landmarks that reach it. Sets are propagated unchanged along edges and combined by `or`: the
//! semiring (or, second), defined in one line below. If the words of s and t have a common landmark, a path leads
//! through it. Otherwise most pairs are not connected, and a search decides.
//!
//! ```sh
//! cargo run --release --example reachability
//! ```

use sparring::algebra::{Bor, Ring, Second};
use sparring::backend::Backend;
use sparring::graph::{Graph, GraphKind, UNREACHED, bfs};
use sparring::{Cpu, Csr, Vector, io};
use sparring_generate::splitmix64;

/// Propagation and union of landmark sets.
type Landmarks = Ring<Bor<u64>, Second<u64>>;

fn main() -> sparring::Result<()> {
    let cpu = Cpu::new();
    let votes: Csr<f64> = io::read_matrix_market("data/wiki-Vote.mtx.gz")?.csr()?;
    let n = votes.nrows();
    let a = Csr::with_pattern(votes.pattern().clone(), vec![1u64; votes.nnz()])?;
    let t = cpu.transpose(&a).eval()?;

    let mut landmarks: Vec<usize> = (0..n).collect();
    landmarks.sort_by_key(|&v| std::cmp::Reverse(a.row(v).0.len() * t.row(v).0.len()));
    landmarks.truncate(64);
    let mut own = vec![0u64; n];
    for (bit, &v) in landmarks.iter().enumerate() {
        own[v] |= 1 << bit;
    }
    let (reaches, reached) = (spread(&cpu, &a, &own)?, spread(&cpu, &t, &own)?);

    let g = Graph::new(&cpu, &a, GraphKind::Directed)?;
    let (mut yes, mut told) = (0, 0);
    for source in 0..100 {
        let s = (splitmix64(source) % n as u64) as usize;
        let levels = bfs(&cpu, &g, s)?;
        for (v, level) in levels.iter().enumerate().filter(|(v, _)| *v != s) {
            let through = reaches[s] & reached[v] != 0;
            assert!(!through || *level != UNREACHED, "a path from {s} to {v}");
            yes += usize::from(*level != UNREACHED);
            told += usize::from(through);
        }
    }
    println!(
        "{yes} pairs are connected, {told} of them known by the index ({:.1} %)",
        100.0 * told as f64 / yes as f64
    );
    assert!(told * 10 > yes * 9);
    Ok(())
}

/// The landmarks reachable from each vertex by edges of `a`, itself included.
fn spread(cpu: &Cpu, a: &Csr<u64>, own: &[u64]) -> sparring::Result<Vec<u64>> {
    let mut sets = Vector::full(own.to_vec())?;
    loop {
        let before = sets.clone();
        cpu.mxv(Landmarks::default(), a, &before).accum(Bor::new()).into(&mut sets)?;
        if sets == before {
            return sets.to_dense(0);
        }
    }
}
