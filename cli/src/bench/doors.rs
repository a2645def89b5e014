//! `sparring bench doors`: a single-use A·A by the typed and the untyped interface, alternating. They share kernels.

use serde_json::{Map, Value, json};
use sparring::algebra::{PlusTimes, Type};
use sparring::backend::Backend;
use sparring::runtime::{self, Matrix, Semiring};
use sparring::spgemm::Options;
use sparring::{Cpu, Csr};
use sparring_generate::{self as generate, Checks};

use super::case::{load, verify};
use crate::context::Context;
use crate::failure::Result;
use crate::output::thousands;
use crate::timing::{self, Times, timed};

pub(super) const CASES: &[&str] = &["rmat14", "web18", "lap2d_1000", "er18d8"];

/// The product: A·A, unsorted A·A, or A·A masked by A.
#[derive(Clone, Copy, PartialEq)]
enum What {
    Plain,
    Unsorted,
    Masked,
}
const WHAT: [(What, &str); 3] = [(What::Plain, ""), (What::Unsorted, "unsorted_"), (What::Masked, "masked_")];

/// The interfaces: typed, untyped, and untyped in two phases.
const DOORS: [&str; 3] = ["", "named_", "phases_"];

/// A matrix, and the interfaces that multiply it.
struct Doors<'a> {
    cpu: &'a Cpu,
    a: Csr<f64>,
    machine: runtime::Machine,
    any: Matrix,
    ring: Semiring,
}

impl Doors<'_> {
    fn product(&self, door: &str, what: What) -> sparring::Result<Csr<f64>> {
        let options = Options { unsorted: what == What::Unsorted, ..Options::default() };
        let Self { cpu, a, machine, any, ring } = self;
        let mask = (what == What::Masked).then_some((any, false));
        let c = match (door, what) {
            ("", What::Masked) => return cpu.mxm(PlusTimes::<f64>::new(), a, a).mask(a.pattern().clone()).eval(),
            ("", _) => return cpu.mxm(PlusTimes::<f64>::new(), a, a).options(options).eval(),
            ("named_", _) => machine.mxm_with(ring, any, any, mask, &options)?.into_matrix(),
            _ => machine.numeric(&machine.plan_masked(any, any, mask, &options)?, ring, any, any)?,
        };
        Ok(c.csr::<f64>().cloned().unwrap_or_else(|| unreachable!("plus_times of f64 gives f64")))
    }
}

pub(super) fn heading() -> String {
    format!("{:18} {:>14}  minima in ms: typed, untyped, untyped in two phases", "case", "|A|")
}

/// Measures the interfaces on one case.
pub(super) fn run(context: &Context, name: &str, repeat: u32) -> Result {
    let a = load(context, name)?;
    context.progress.stage(format!("measuring {name}"));
    let doors = Doors {
        cpu: &context.quiet,
        any: a.clone().into(),
        machine: Cpu::with_threads(context.threads())?.into(),
        ring: Semiring::new("plus_times", Type::F64)?,
        a,
    };
    let a = &doors.a;
    let expected = generate::expected(&[a, a])?;
    let mut line = Map::new();
    for (key, value) in [
        ("op", json!("doors")),
        ("case", json!(name)),
        ("device", json!(context.device.to_string())),
        ("nrows", json!(a.nrows())),
        ("ncols", json!(a.ncols())),
        ("a_nnz", json!(a.nnz())),
        ("threads", json!(context.threads())),
    ] {
        line.insert(key.into(), value);
    }
    let mut text = format!("{name:18} {:>14}", thousands(a.nnz() as u64));
    for (what, prefix) in WHAT {
        let mut times: [Times; DOORS.len()] = Default::default();
        let mut checks: [Option<Checks>; DOORS.len()] = [None; DOORS.len()];
        // Round 0 is the warm-up.
        for round in 0..=repeat {
            for ((door, times), checks) in DOORS.iter().zip(&mut times).zip(&mut checks) {
                let (c, ms) = timed(|| doors.product(door, what));
                let c = c?;
                if round > 0 {
                    times.push(ms);
                    continue;
                }
                *checks = Some(generate::checks(&c));
                if door.is_empty() {
                    line.insert(format!("{prefix}nnz"), json!(c.nnz()));
                }
            }
        }
        let [typed, named, phases] = checks;
        if let Some(typed) = typed {
            for (key, sum) in [("sum", typed.sum), ("wsum", typed.wsum)] {
                line.insert(format!("{prefix}{key}"), json!(sum));
            }
            verify(name, if what == What::Masked { typed } else { expected }, typed, [named, phases])?;
        }
        text += &format!("  {}", prefix.replace('_', " "));
        for (door, times) in DOORS.iter().zip(&times) {
            timing::insert(&mut line, &format!("{door}{prefix}"), times);
            text += &format!(" {:.3}", times.minimum());
        }
    }
    context.result(Value::Object(line), || text)
}
