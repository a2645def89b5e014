//! A·A over a semiring that `op!` defines, (min, a + 2·b): `cargo bench --bench own -- FILE THREADS REPEAT` prints one
//! JSON line, as `sparring mxm --json` does for the same semiring as text. `benches/compare/own.py` runs both.

use std::time::Instant;

use sparring::algebra::{Min, Ring};
use sparring::backend::Backend;
use sparring::io::read_matrix_market;
use sparring::{Cpu, Csr};

sparring::op! {
    /// a + 2·b.
    Weighted<T: sparring::algebra::Num> (a, b) -> T { a + b + b }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Cargo adds `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let [file, threads, repeat] = &arguments[..] else { return Err("usage: own FILE THREADS REPEAT".into()) };
    let cpu = Cpu::with_threads(threads.parse()?)?;
    let a: Csr<f64> = read_matrix_market(file)?.csr()?;
    let (mut least, mut sum) = (f64::INFINITY, 0.0);
    for round in 0..=repeat.parse::<usize>()? {
        let start = Instant::now();
        let c = cpu.mxm(Ring::<Min<f64>, Weighted<f64>>::new(), &a, &a).eval()?;
        // The first is the warm-up.
        if round > 0 {
            least = least.min(start.elapsed().as_secs_f64());
        }
        sum = c.values().iter().sum();
    }
    println!("{{\"ms_min\": {}, \"sum\": {sum}}}", 1e3 * least);
    Ok(())
}
