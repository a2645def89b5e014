//! `sparring bench mxv|vxm|transpose|reduce|ewise|build|masked|steps`: single operations on a matrix, for comparison
//! with other libraries.

use serde_json::{Map, Value, json};
use sparring::algebra::{Plus, PlusTimes};
use sparring::backend::Backend;
use sparring::par::{Threads, filled};
use sparring::runtime::Machine;
use sparring::{Coo, Cpu, Csr, Vector};
use sparring_generate::{self as generate, splitmix64};

use super::case::{Output, Variant, load, verify};
use super::steps::Steps;
use crate::context::Context;
use crate::failure::Result;
use crate::output::thousands;
use crate::timing::{self, Times, timed};

/// The operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Operation {
    /// y = A·x into a new vector, and into an existing one.
    Mxv,
    /// yᵀ = xᵀ·A, where about one element of x in 2, 8 or 64 is present, chosen by a hash.
    Vxm,
    Transpose,
    /// The sum of all entries; row sums.
    Reduce,
    /// A + Aᵀ, with Aᵀ precomputed.
    Ewise,
    /// A from its entries in shuffled order.
    Build,
    /// A·A masked by A, and unmasked.
    Masked,
    /// Elementwise operations and submatrices, untyped.
    Steps,
}

pub(super) const CASES: &[&str] = &["rmat14", "web18", "stencil27_60", "lap2d_1000", "er18d8"];

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Self::Mxv => "mxv",
            Self::Vxm => "vxm",
            Self::Transpose => "transpose",
            Self::Reduce => "reduce",
            Self::Ewise => "ewise",
            Self::Build => "build",
            Self::Masked => "masked",
            Self::Steps => "steps",
        }
    }

    fn variants<'a>(self, cpu: &'a Cpu, a: &'a Csr<f64>, more: &'a mut More) -> Vec<Variant<'a>> {
        let threads: &Threads = cpu.threads();
        match self {
            Self::Mxv => {
                let More { x, y, .. } = more;
                vec![
                    ("", Box::new(|| Ok(Output::Vector(cpu.mxv(RING(), a, &*x).eval()?)))),
                    (
                        "into_",
                        Box::new(|| {
                            cpu.mxv(RING(), a, &*x).into(y)?;
                            Ok(Output::Nothing)
                        }),
                    ),
                ]
            }
            Self::Vxm => {
                let variant = |(prefix, x): (&'static str, &'a Vector<f64>)| -> Variant<'a> {
                    (prefix, Box::new(move || Ok(Output::Entries(cpu.vxm(RING(), x, a).eval()?))))
                };
                FRONTIERS.iter().map(|f| f.0).zip(&more.frontiers).map(variant).collect()
            }
            Self::Transpose => vec![("", Box::new(|| Ok(Output::Matrix(a.transpose(threads)?))))],
            Self::Reduce => vec![
                ("", Box::new(|| Ok(Output::Number(cpu.reduce(Plus::new(), a).eval()?)))),
                ("rows_", Box::new(|| Ok(Output::Vector(cpu.reduce_rows(Plus::new(), a).eval()?)))),
            ],
            Self::Ewise => {
                let More { transposed, .. } = more;
                vec![("", Box::new(|| Ok(Output::Matrix(cpu.ewise_add(Plus::new(), a, &*transposed).eval()?))))]
            }
            Self::Build => {
                let More { entries, .. } = more;
                vec![("", Box::new(|| Ok(Output::Matrix(entries.to_csr_on(threads, Plus::new())?))))]
            }
            Self::Masked => vec![
                ("", Box::new(move || Ok(Output::Matrix(cpu.mxm(RING(), a, a).mask(a.pattern().clone()).eval()?)))),
                ("all_", Box::new(move || Ok(Output::Matrix(cpu.mxm(RING(), a, a).eval()?)))),
            ],
            Self::Steps => more.steps.as_ref().map_or_else(Vec::new, |steps| steps.variants()),
        }
    }
}

const RING: fn() -> PlusTimes<f64> = PlusTimes::default;
/// Prefixes of times, and the inverse density of x.
const FRONTIERS: [(&str, u64); 3] = [("half_", 2), ("eighth_", 8), ("few_", 64)];

/// Further operands and outputs of the operations.
struct More {
    x: Vector<f64>,
    y: Vector<f64>,
    frontiers: Vec<Vector<f64>>,
    transposed: Csr<f64>,
    entries: Coo<f64>,
    steps: Option<Steps>,
}

impl More {
    /// The operands of `operation`; the others are empty.
    fn new(context: &Context, operation: Operation, a: &Csr<f64>) -> sparring::Result<Self> {
        let cpu = &context.quiet;
        let ((m, n), threads) = (a.shape(), cpu.threads());
        let of = |wanted| operation == wanted;
        let number = |k: usize| 0.5 + (k % 17) as f64 / 4.0;
        let frontier = |(_, part): (&str, u64)| {
            let ks: Vec<u32> = (0..m as u32).filter(|&k| splitmix64(u64::from(k)).is_multiple_of(part)).collect();
            let xs = ks.iter().map(|&k| number(k as usize)).collect();
            Vector::new(m, ks, xs)
        };
        let entries = if of(Operation::Build) {
            let mut order: Vec<usize> = (0..a.nnz()).collect();
            order.sort_by_key(|&p| splitmix64(p as u64));
            let rows: Vec<u32> = a.iter().map(|(i, _, _)| i as u32).collect();
            let take = |from: &[u32]| order.iter().map(|&p| from[p]).collect();
            let values = order.iter().map(|&p| a.values()[p]).collect();
            Coo::new(m, n, take(&rows), take(a.col_idx()), values)?
        } else {
            Coo::new(m, n, vec![], vec![], vec![])?
        };
        let mut x = filled(if of(Operation::Mxv) { n } else { 0 }, 0.0, "x")?;
        x.iter_mut().enumerate().for_each(|(k, x)| *x = number(k));
        Ok(Self {
            x: Vector::full(x)?,
            y: Vector::full(filled(if of(Operation::Mxv) { m } else { 0 }, 0.0, "y")?)?,
            frontiers: if of(Operation::Vxm) {
                FRONTIERS.into_iter().map(frontier).collect::<sparring::Result<_>>()?
            } else {
                vec![]
            },
            transposed: if of(Operation::Ewise) { a.transpose(threads)? } else { Csr::empty(0, 0)? },
            entries,
            steps: match &context.cuda {
                _ if !of(Operation::Steps) => None,
                Some(cuda) => Some(Steps::new(cuda.clone().into(), cpu, a)?),
                None => Some(Steps::new(Machine::cpu(threads.count(), None)?, cpu, a)?),
            },
        })
    }
}

pub(super) fn heading() -> String {
    format!("{:18} {:>14}  medians in ms", "case", "|A|")
}

/// Measures the operation on one case.
pub(super) fn run(context: &Context, operation: Operation, name: &str, repeat: u32) -> Result {
    let a = load(context, name)?;
    let cpu = &context.quiet;
    let mut more = More::new(context, operation, &a)?;
    context.progress.stage(format!("measuring {name}"));
    let mut line = Map::new();
    for (key, value) in [
        ("op", json!(operation.name())),
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
    for (prefix, mut variant) in operation.variants(cpu, &a, &mut more) {
        let mut times = Times::default();
        // The first run is the warm-up.
        if let Some((nnz, found)) = variant()?.checks()? {
            for (key, value) in [("nnz", json!(nnz)), ("sum", json!(found.sum)), ("wsum", json!(found.wsum))] {
                line.insert(format!("{prefix}{key}"), value);
            }
            if (operation, prefix) == (Operation::Masked, "all_") {
                verify(name, generate::expected(&[&a, &a])?, found, [None, None])?;
            }
        }
        for _ in 0..repeat {
            let (made, ms) = timed(&mut variant);
            made?;
            times.push(ms);
        }
        timing::insert(&mut line, prefix, &times);
        text += &format!("  {}{:.3}", prefix.replace('_', " "), times.median());
    }
    context.result(Value::Object(line), || text)
}
