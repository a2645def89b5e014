//! `sparring bench write`: the cost of writing one entry into a vector of length n, for several n.

use serde_json::{Map, json};
use sparring::algebra::{Any, Pair, Ring};
use sparring::prelude::*;
use sparring_generate::splitmix64;

use crate::context::Context;
use crate::failure::Result;
use crate::timing::{self, Times, timed};

/// log₂ of the vector lengths.
const SIZES: [u32; 5] = [10, 14, 17, 20, 22];
pub(super) const CASES: [&str; SIZES.len()] = ["write10", "write14", "write17", "write20", "write22"];

/// Writes in one measurement.
const WRITES: usize = 200;

pub(super) fn heading() -> String {
    format!("{:10} {:>10}  medians in µs per write", "case", "n")
}

/// Vectors of length n, and a matrix.
struct Inputs {
    /// Every second element is present.
    half: Vector<u32>,
    distances: Vector<f64>,
    /// One entry each, at different indices.
    ones: Vec<Vector<bool>>,
    steps: Vec<Vector<f64>>,
    /// Four entries per row.
    a: Csr<f64>,
}

impl Inputs {
    fn new(n: usize) -> sparring::Result<Self> {
        let places = || (0..WRITES).map(|w| (splitmix64(w as u64) % n as u64) as u32);
        let even: Vec<u32> = (0..n as u32).step_by(2).collect();
        // The columns of a row differ from its number in one of four bits.
        let row = |i: usize| {
            let mut row = [i ^ 1, i ^ 2, i ^ (n / 4), i ^ (n / 2)].map(|j| j as u32);
            row.sort_unstable();
            row
        };
        let cols = (0..n).flat_map(row).collect();
        Ok(Self {
            half: Vector::new(n, even.clone(), vec![7; even.len()])?,
            distances: Vector::new(n, even.clone(), vec![7.0; even.len()])?,
            ones: places().map(|i| Vector::new(n, vec![i], vec![true])).collect::<sparring::Result<_>>()?,
            steps: places().map(|i| Vector::new(n, vec![i], vec![3.0])).collect::<sparring::Result<_>>()?,
            a: Csr::new(n, n, (0..=n).map(|i| 4 * i).collect(), cols, vec![1.0; 4 * n])?,
        })
    }
}

/// A kind of write: the name of its times, and a function that performs one write.
type Variant<'a> = (&'static str, Box<dyn FnMut(usize) -> sparring::Result<()> + 'a>);

fn variants<'a>(cpu: &'a Cpu, inputs: &'a Inputs) -> Vec<Variant<'a>> {
    let Inputs { half, distances, ones, steps, a } = inputs;
    // Each kind has its own vectors, unshared after the first write.
    let (mut levels, mut parents, mut least, mut next) =
        (half.clone(), half.clone(), distances.clone(), ones[0].clone());
    let reaches = Ring(Any::<bool>::new(), Pair::<bool, bool, f64>::default());
    vec![
        ("scalar", Box::new(move |w| cpu.assign_scalar(3).mask(ones[w].structure()).into(&mut levels))),
        (
            "apply",
            Box::new(move |w| {
                cpu.apply(sparring::algebra::One::new(), half).mask(ones[w].structure()).into(&mut parents)
            }),
        ),
        (
            "accum",
            Box::new(move |w| {
                cpu.apply(sparring::algebra::Identity::new(), &steps[w]).accum(Min::new()).into(&mut least)
            }),
        ),
        ("vxm", Box::new(move |w| cpu.vxm(reaches, &ones[w], a).mask(!half.structure()).replace().into(&mut next))),
        ("unmasked", Box::new(move |w| cpu.vxm(reaches, &ones[w], a).eval().map(|_| ()))),
    ]
}

/// Measures one case.
pub(super) fn run(context: &Context, name: &str, repeat: u32) -> Result {
    let Some(size) = CASES.iter().position(|case| *case == name).map(|c| SIZES[c]) else {
        let message = format!("{name} is none of {}", CASES.join(", "));
        return Err(Error::Argument { name: "case", message }.into());
    };
    let n = 1 << size;
    context.progress.stage(format!("measuring {name}"));
    let inputs = Inputs::new(n)?;
    let mut line = Map::new();
    for (key, value) in [
        ("op", json!("write")),
        ("case", json!(name)),
        ("device", json!("cpu")),
        ("length", json!(n)),
        ("threads", json!(context.threads())),
    ] {
        line.insert(key.into(), value);
    }
    let mut text = format!("{name:10} {n:>10}");
    for (what, mut variant) in variants(&context.quiet, &inputs) {
        let mut times = Times::default();
        // The first measurement is the warm-up: it copies shared data and settles the storage form of the vector.
        let mut once = || (0..WRITES).try_for_each(&mut variant);
        once()?;
        for _ in 0..repeat {
            let (done, ms) = timed(&mut once);
            done?;
            times.push(ms / WRITES as f64);
        }
        timing::insert(&mut line, &format!("{what}_"), &times);
        text += &format!("  {what} {:.3}", 1e3 * times.median());
    }
    context.result(serde_json::Value::Object(line), || text)
}
