//! `sparring bench hyper`: products of hypersparse matrices.

use serde_json::json;
use sparring::algebra::{Plus, PlusTimes};
use sparring::backend::Backend;
use sparring::sparse::{Builder, HyperCsr};
use sparring::{Csr, Error, Result as LibResult};
use sparring_generate::splitmix64;

use crate::context::Context;
use crate::failure::Result;
use crate::output::{ms, thousands};
use crate::timing::{Times, timed};

/// A matrix: dimensions, number of random entries, and the maximum number of nonempty rows and columns (unlimited for
/// the columns of a wide matrix).
struct Shape {
    name: &'static str,
    n: u64,
    draws: u64,
    live: u64,
    /// Columns of the right operand, if different from the left one.
    wide: Option<u64>,
}

const fn shape(name: &'static str, n: u64, draws: u64, live: u64, wide: Option<u64>) -> Shape {
    Shape { name, n, draws, live, wide }
}

const SHAPES: [Shape; 6] = [
    shape("hyper7", 10_000_000, 100_000, 100_000, None),
    shape("hyper7hubs", 10_000_000, 1_000_000, 100_000, None),
    shape("hyper8", 100_000_000, 1_000_000, 1_000_000, None),
    shape("hyper9", 1_000_000_000, 100_000, 100_000, None),
    shape("hyper9few", 1_000_000_000, 10_000, 10_000, None),
    shape("wide8", 10_000, 100_000, 10_000, Some(100_000_000)),
];
pub(super) const CASES: [&str; SHAPES.len()] = {
    let (mut names, mut s) = ([""; SHAPES.len()], 0);
    while s < SHAPES.len() {
        names[s] = SHAPES[s].name;
        s += 1;
    }
    names
};

impl Shape {
    /// Duplicate entries are summed, exactly.
    fn matrix(&self, wide: Option<u64>) -> LibResult<HyperCsr<f64>> {
        let place = |x: u64| splitmix64(splitmix64(x) % self.live + (1 << 50)) % self.n;
        let ncols = wide.unwrap_or(self.n);
        let column = |x: u64| wide.map_or_else(|| place(x), |n| splitmix64(x + (1 << 41)) % n);
        let mut a = Builder::new(self.n as usize, ncols as usize)?;
        for e in 0..self.draws {
            a.push(place(2 * e) as usize, column(2 * e + 1) as usize, 0.5 + (e % 17) as f64 / 4.0)?;
        }
        a.finish_hyper(Plus::new())
    }
}

pub(super) fn heading() -> String {
    format!("{:12} {:>12} {:>12} {:>10} {:>10}", "case", "|A|", "|C|", "median ms", "minimum")
}

/// Measures A·A by stored rows, or the product with a wide matrix.
pub(super) fn run(context: &Context, name: &str, repeat: u32) -> Result {
    let unknown = || Error::Argument { name: "case", message: format!("{name} is none of {}", CASES.join(", ")) };
    let shape = SHAPES.iter().find(|s| s.name == name).ok_or_else(unknown)?;
    context.progress.stage(format!("measuring {name}"));
    let (cpu, ring) = (&context.quiet, PlusTimes::<f64>::new());
    let a: Csr<f64> = shape.matrix(None)?.try_into()?;
    let entries = a.nnz();
    let found = match shape.wide {
        None => measured(repeat, || cpu.mxm(ring, &a, &a).eval(), |c: &Csr<f64>, each| c.iter().for_each(each))?,
        wide => {
            let b = shape.matrix(wide)?.into_csr()?;
            measured(repeat, || cpu.mxm(ring, &a, &b).eval(), |c: &Csr<f64>, each| c.iter().for_each(each))?
        }
    };
    let Measured { nnz, sum, wsum, times } = found;
    let json = json!({
        "op": "hyper", "case": name, "device": "cpu", "nrows": shape.n, "ncols": shape.wide.unwrap_or(shape.n), "a_nnz": entries,
        "nnz": nnz, "sum": sum, "wsum": wsum, "threads": context.threads(), "compute_ms": ms(times.median()), "compute_min_ms": ms(times.minimum()),
    });
    context.result(json, || {
        let (entries, nnz) = (thousands(entries as u64), thousands(nnz));
        format!("{name:12} {entries:>12} {nnz:>12} {:>10.3} {:>10.3}", times.median(), times.minimum())
    })
}

/// The times of a product, and its checksums, which the counterpart must match.
#[derive(Default)]
struct Measured {
    nnz: u64,
    sum: f64,
    wsum: f64,
    times: Times,
}

/// Runs the product once as a warm-up, passing its entries to `each`, then `repeat` times.
fn measured<C>(
    repeat: u32,
    product: impl Fn() -> LibResult<C>,
    each: impl Fn(&C, &mut dyn FnMut((usize, usize, &f64))),
) -> LibResult<Measured> {
    let mut found = Measured::default();
    each(&product()?, &mut |(i, j, &x)| {
        found.nnz += 1;
        found.sum += x;
        found.wsum += x * (i % 1009 + j % 1013) as f64;
    });
    for _ in 0..repeat {
        let (made, ms) = timed(&product);
        made?;
        found.times.push(ms);
    }
    Ok(found)
}
