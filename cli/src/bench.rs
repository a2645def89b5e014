//! `sparring bench [spgemm|triangles]`: medians and minima on generated cases or files, with checksums.

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use sparring::algebra::PlusTimes;
use sparring::generate::{self, Case, Checks, Product, checks};
use sparring::graph::{TriangleMethod, triangles};
use sparring::spgemm::{Options, Plan};
use sparring::{Cpu, Csr, Error};

use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::output::{ms, thousands};
use crate::timing::{Times, timed};
use crate::{memory, read};

#[derive(Args)]
pub(crate) struct Arguments {
    /// What to measure [default: both]
    #[arg(value_enum)]
    kind: Option<Kind>,
    /// Cases: names of generated matrices, or Matrix Market files [default: all of the kind]
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',')]
    case: Vec<String>,
    /// Timed runs, after one that is not counted
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Give freed memory back to the system between runs, so that each run pays for touching its result first
    #[arg(long)]
    fresh_memory: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Kind {
    /// Products: A·A, and R·A·P for rap100
    Spgemm,
    /// Triangles of graphs
    Triangles,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result {
    let names = |known: &[&str]| match &arguments.case[..] {
        [] => known.iter().map(ToString::to_string).collect(),
        given => given.to_vec(),
    };
    if !arguments.fresh_memory {
        sparring::par::keep_freed_memory();
    }
    // Not after minutes of measuring others.
    arguments.case.iter().try_for_each(|name| read::check(&source(name)))?;
    if arguments.kind != Some(Kind::Triangles) {
        let columns = ["case", "|C|", "symbolic", "numeric", "both", "reuse", "unsorted"];
        context.heading(&row(columns.map(Into::into), "medians in ms; chosen"))?;
        for name in names(generate::SPGEMM) {
            spgemm(context, &name, arguments.repeat)?;
        }
    }
    if arguments.kind != Some(Kind::Spgemm) {
        context.heading(&format!("{:18} {:>14} {:>10} {:>10}  method", "case", "triangles", "median ms", "minimum"))?;
        for name in names(generate::TRIANGLES) {
            count(context, &name, arguments.repeat)?;
        }
    }
    Ok(())
}

/// What `context.load` calls a case: a name is that of a generated one, unless it looks like a file's.
fn source(name: &str) -> String {
    let file = name.ends_with(".mtx") || name.ends_with(".gz") || read::generated(name).is_some();
    if file { name.into() } else { format!("gen:{name}") }
}

fn load(context: &Context, name: &str) -> Result<Csr<f64>> {
    Ok(context.load(&source(name))?.0.matrix)
}

fn spgemm(context: &Context, name: &str, repeat: u32) -> Result {
    let case = if name == "rap100" {
        context.progress.stage(format!("making {name}"));
        context.quiet.threads().install(|| generate::case(name))?
    } else {
        let product = Product { name: name.into(), factors: vec![0, 0] };
        Case { matrices: vec![load(context, name)?], products: vec![product] }
    };
    for product in &case.products {
        let factors: Vec<_> = product.factors.iter().map(|&f| &case.matrices[f]).collect();
        context.progress.stage(format!("measuring {}", product.name));
        measure(context, &product.name, &factors, repeat)?;
    }
    Ok(())
}

/// A product of two or more matrices, from the left: one plan and one result for each step.
struct Chain {
    plans: Vec<Plan>,
    results: Vec<Csr<f64>>,
}

const RING: fn() -> PlusTimes<f64> = PlusTimes::default;

impl Chain {
    /// Computes the product; milliseconds of the symbolic and of the numeric phases.
    fn new(cpu: &Cpu, factors: &[&Csr<f64>], options: &Options) -> sparring::Result<(Self, f64, f64)> {
        let (mut chain, mut symbolic, mut numeric) = (Self { plans: vec![], results: vec![] }, 0.0, 0.0);
        for b in &factors[1..] {
            let a = chain.results.last().unwrap_or(factors[0]);
            let (plan, ms) = timed(|| cpu.plan_with(a, b, options));
            let plan = plan?;
            symbolic += ms;
            let (c, ms) = timed(|| cpu.numeric(&plan, RING(), a, b));
            numeric += ms;
            let c = c?;
            chain.plans.push(plan);
            chain.results.push(c);
        }
        Ok((chain, symbolic, numeric))
    }
    /// Computes the values again, in place; milliseconds.
    fn again(&mut self, cpu: &Cpu, factors: &[&Csr<f64>]) -> sparring::Result<f64> {
        let (done, ms) = timed(|| {
            self.plans.iter().zip(&factors[1..]).enumerate().try_for_each(|(step, (plan, b))| {
                let (before, after) = self.results.split_at_mut(step);
                cpu.numeric_into(plan, RING(), before.last().unwrap_or(factors[0]), b, &mut after[0])
            })
        });
        done.map(|()| ms)
    }
    fn flops(&self) -> u64 {
        self.plans.iter().map(Plan::flops).sum()
    }
    fn chosen(&self) -> String {
        self.plans.iter().map(Plan::explain).collect::<Vec<_>>().join("; then ")
    }
}

fn measure(context: &Context, name: &str, factors: &[&Csr<f64>], repeat: u32) -> Result {
    let cpu = &context.quiet;
    let [mut symbolic, mut numeric, mut both, mut reuse, mut unsorted]: [Times; 5] = Default::default();
    let mut last = None;
    // What reading took is not the product's.
    let alone = memory::forget_peak();
    // Round 0 warms up: pages of C, caches, the pool.
    for round in 0..=repeat {
        drop(last.take());
        let (chain, s, n) = Chain::new(cpu, factors, &Options::default())?;
        if round > 0 {
            symbolic.push(s);
            numeric.push(n);
            both.push(s + n);
        }
        last = Some(chain);
    }
    let Some(mut chain) = last else { unreachable!("there is at least the first round") };
    for round in 0..=repeat {
        let t = chain.again(cpu, factors)?;
        if round > 0 {
            reuse.push(t);
        }
    }
    let Some(c) = chain.results.last() else {
        return Err(Error::Argument { name: "case", message: format!("{name} has no product") }.into());
    };
    let peak = memory::peak().filter(|_| alone);
    let mut inputs: Vec<_> = factors.to_vec();
    inputs.dedup_by(|a, b| std::ptr::eq(*a, *b));
    let (input_bytes, result_bytes) = (bytes(inputs.into_iter()), bytes(chain.results.iter()));
    let (nnz, found, flops, chosen) = (c.nnz(), checks(c), chain.flops(), chain.chosen());
    let shape = (c.nrows(), factors[0].ncols(), c.ncols());
    drop(chain);
    let options = Options { unsorted: true, ..Options::default() };
    let mut unsorted_checks = None;
    for round in 0..=repeat {
        let (chain, s, n) = Chain::new(cpu, factors, &options)?;
        if round > 0 {
            unsorted.push(s + n);
        }
        if round == repeat {
            unsorted_checks = chain.results.last().map(checks);
        }
    }
    let mut line = Map::new();
    for (key, value) in [
        ("op", json!("spgemm")),
        ("case", json!(name)),
        ("threads", json!(context.threads())),
        ("m", json!(shape.0)),
        ("n", json!(shape.1)),
        ("k", json!(shape.2)),
        ("fm", json!(flops)),
        ("nnz", json!(nnz)),
        ("sum", json!(found.sum)),
        ("wsum", json!(found.wsum)),
    ] {
        line.insert(key.into(), value);
    }
    insert(&mut line, "", &both);
    insert(&mut line, "symbolic_", &symbolic);
    insert(&mut line, "numeric_", &numeric);
    insert(&mut line, "reuse_", &reuse);
    insert(&mut line, "unsorted_", &unsorted);
    // Resident at most during the sorted product, everything included; null where the system does not tell.
    for (key, value) in
        [("peak_bytes", json!(peak)), ("input_bytes", json!(input_bytes)), ("result_bytes", json!(result_bytes))]
    {
        line.insert(key.into(), value);
    }
    line.insert("gflops".into(), json!(2e-6 * flops as f64 / both.median()));
    line.insert("chosen".into(), json!(chosen));
    context.result(Value::Object(line), || {
        let times = [&symbolic, &numeric, &both, &reuse, &unsorted].map(|t| format!("{:.3}", t.median()));
        let [s, n, b, r, u] = times;
        row([name.into(), thousands(nnz as u64), s, n, b, r, u], &chosen)
    })?;
    verify(name, generate::expected(factors)?, found, unsorted_checks)
}

/// Bytes of the arrays of `matrices`.
fn bytes<'a>(matrices: impl Iterator<Item = &'a Csr<f64>>) -> usize {
    matrices.map(|a| size_of_val(a.row_ptr()) + size_of_val(a.col_idx()) + size_of_val(a.values())).sum()
}

/// The sums of a product follow from its factors; a result with others is wrong, however fast.
fn verify(name: &str, expected: Checks, found: Checks, unsorted: Option<Checks>) -> Result {
    for (what, found) in [("", Some(found)), (", unsorted", unsorted)] {
        if let Some(found) = found.filter(|found| !found.agrees(&expected)) {
            return Err(Failure::Wrong(format!("{name}{what}: checksums {found:?}, expected {expected:?}")));
        }
    }
    Ok(())
}

fn insert(line: &mut Map<String, Value>, prefix: &str, times: &Times) {
    line.insert(format!("{prefix}ms"), ms(times.median()));
    line.insert(format!("{prefix}ms_min"), ms(times.minimum()));
}

fn row([name, nnz, times @ ..]: [String; 7], rest: &str) -> String {
    let times: String = times.iter().map(|t| format!(" {t:>10}")).collect();
    format!("{name:18} {nnz:>14}{times}  {rest}")
}

fn count(context: &Context, name: &str, repeat: u32) -> Result {
    let a = load(context, name)?;
    context.progress.stage(format!("counting triangles of {name}"));
    let mut times = Times::default();
    let mut found = triangles(&context.quiet, &a, TriangleMethod::Auto)?;
    for _ in 0..repeat {
        let (again, ms) = timed(|| triangles(&context.quiet, &a, TriangleMethod::Auto));
        times.push(ms);
        let again = again?;
        if again.count != found.count {
            return Err(Failure::Wrong(format!("{name}: {} triangles, then {}", found.count, again.count)));
        }
        found = again;
    }
    let json = json!({
        "op": "triangles", "case": name, "threads": context.threads(), "n": a.nrows(), "nnz": a.nnz(),
        "triangles": found.count, "ms": ms(times.median()), "ms_min": ms(times.minimum()), "method": found.method,
    });
    context.result(json, || {
        let (median, minimum) = (times.median(), times.minimum());
        format!("{name:18} {:>14} {median:>10.3} {minimum:>10.3}  {}", thousands(found.count), found.method)
    })
}
