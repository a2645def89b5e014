//! `sparring bench [spgemm|triangles|distance|mttkrp|contract|read|mxv|…|write|graph|bfs|…]`: medians and minima on
//! generated matrices or files, with checksums.

mod case;
mod contract;
mod distance;
mod doors;
mod graph;
mod graphs;
mod hyper;
mod machine;
mod mttkrp;
mod operations;
mod read;
mod steps;
mod write;

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use sparring::graph::{TriangleMethod, triangles};
use sparring::{Csr, Error};
use sparring_generate::{self as generate, Case, Product};

use crate::context::Context;
use crate::device::{DeviceArg, refuse, refused, timed_on};
use crate::failure::{Failure, Result};
use crate::output::{ms, thousands};
use crate::timing::{self, Times, timed};
use case::{load, source, verify};
pub(crate) use contract::Floats;
use graphs::Algorithm;
use machine::Machine;
use operations::Operation;

#[derive(Args)]
pub(crate) struct Arguments {
    /// What to measure [default: spgemm and triangles]
    #[arg(value_enum)]
    kind: Option<Kind>,
    /// Cases: names of generated matrices, or Matrix Market files [default: all cases of the benchmark]
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',')]
    pub(crate) case: Vec<String>,
    /// Timed runs, after one warm-up run
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Return freed memory to the system between runs, so that each run includes the page faults of its result
    #[arg(long)]
    fresh_memory: bool,
    #[command(flatten)]
    distance: distance::Settings,
    #[command(flatten)]
    mttkrp: mttkrp::Settings,
    #[command(flatten)]
    contract: contract::Settings,
    #[command(flatten)]
    graph: graph::Settings,
    #[command(flatten)]
    pub(crate) place: DeviceArg,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Kind {
    /// Products: A·A, or A·Aᵀ of nonsquare files; R·A·P for rap100, two factors for diagonal, permuted, dot, …
    Spgemm,
    /// Triangles of graphs
    Triangles,
    /// Distances and nearest neighbours between rows
    Distance,
    /// MTTKRP of sparse tensors, over all modes
    Mttkrp,
    /// Contractions of batches of small dense tensors
    Contract,
    /// Reading Matrix Market files into CSR
    Read,
    /// y = A·x
    Mxv,
    /// yᵀ = xᵀ·A for sparse x
    Vxm,
    /// Aᵀ
    Transpose,
    /// The sum of all entries, and row sums
    Reduce,
    /// A + Aᵀ
    Ewise,
    /// A from its entries in shuffled order
    Build,
    /// A·A masked by A
    Masked,
    /// Elementwise operations, extract and assign, untyped
    Steps,
    /// Products of hypersparse matrices
    Hyper,
    /// A single A·A by the typed and the untyped interface, which share their kernels
    Doors,
    /// Writing one entry into a vector, with masks and accumulators
    Write,
    /// Graph algorithms, on a graph that is built once
    Graph,
    /// Levels of a breadth-first search in GraphBLAS operations, like the next three
    Bfs,
    /// Parents in a breadth-first tree
    Parents,
    /// Lengths of shortest paths
    Sssp,
    /// Betweenness from four sources at once
    Betweenness,
}

impl Kind {
    fn operation(self) -> Option<Operation> {
        Some(match self {
            Self::Mxv => Operation::Mxv,
            Self::Vxm => Operation::Vxm,
            Self::Transpose => Operation::Transpose,
            Self::Reduce => Operation::Reduce,
            Self::Ewise => Operation::Ewise,
            Self::Build => Operation::Build,
            Self::Masked => Operation::Masked,
            Self::Steps => Operation::Steps,
            Self::Spgemm
            | Self::Triangles
            | Self::Distance
            | Self::Mttkrp
            | Self::Contract
            | Self::Read
            | Self::Hyper
            | Self::Doors
            | Self::Write
            | Self::Graph
            | Self::Bfs
            | Self::Parents
            | Self::Sssp
            | Self::Betweenness => return None,
        })
    }
    fn algorithm(self) -> Option<Algorithm> {
        match self {
            Self::Bfs => Some(Algorithm::Bfs),
            Self::Parents => Some(Algorithm::Parents),
            Self::Sssp => Some(Algorithm::Sssp),
            Self::Betweenness => Some(Algorithm::Betweenness),
            _ => None,
        }
    }
}

impl Arguments {
    /// Rejects options that do not apply to a GPU.
    pub(crate) fn take_gpu(&self) -> sparring::Result<()> {
        refuse(&[(self.fresh_memory, "--fresh-memory", "freed device memory stays in a pool for the next run")])
    }
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result {
    let names = |known: &[&str]| match &arguments.case[..] {
        [] => known.iter().map(ToString::to_string).collect(),
        given => given.to_vec(),
    };
    if arguments.kind == Some(Kind::Contract) {
        distance::refuse(&arguments.distance)?;
        mttkrp::refuse(&arguments.mttkrp)?;
        return contract::run(context, &arguments.contract, &names(contract::CASES), arguments.repeat);
    }
    contract::refuse(&arguments.contract)?;
    if arguments.kind != Some(Kind::Graph) {
        graph::refuse(&arguments.graph)?;
    }
    if arguments.kind == Some(Kind::Mttkrp) {
        distance::refuse(&arguments.distance)?;
        if !arguments.fresh_memory {
            sparring::par::keep_freed_memory();
        }
        context.heading(&mttkrp::heading())?;
        return names(mttkrp::CASES)
            .iter()
            .try_for_each(|name| mttkrp::run(context, &arguments.mttkrp, name, arguments.repeat));
    }
    mttkrp::refuse(&arguments.mttkrp)?;
    if arguments.kind == Some(Kind::Hyper) {
        distance::refuse(&arguments.distance)?;
        if context.cuda.is_some() {
            return Err(refused("these products", "they are measured on the processor").into());
        }
        if !arguments.fresh_memory {
            sparring::par::keep_freed_memory();
        }
        context.heading(&hyper::heading())?;
        return names(&hyper::CASES).iter().try_for_each(|name| hyper::run(context, name, arguments.repeat));
    }
    if arguments.kind == Some(Kind::Write) {
        distance::refuse(&arguments.distance)?;
        if context.cuda.is_some() {
            return Err(refused("these writes", "they are measured on the processor").into());
        }
        sparring::par::keep_freed_memory();
        context.heading(&write::heading())?;
        return names(&write::CASES).iter().try_for_each(|name| write::run(context, name, arguments.repeat));
    }
    // Checked up front, not after minutes of measuring other cases.
    arguments.case.iter().try_for_each(|name| crate::read::check(&source(name)))?;
    if arguments.kind == Some(Kind::Distance) {
        let bench = distance::Bench {
            context,
            settings: &arguments.distance,
            metrics: arguments.distance.metrics()?,
            repeat: arguments.repeat,
            fresh: arguments.fresh_memory,
            kept: false.into(),
        };
        context.heading(&distance::heading())?;
        return names(generate::DISTANCE).iter().try_for_each(|name| bench.run(name));
    }
    distance::refuse(&arguments.distance)?;
    if !arguments.fresh_memory {
        sparring::par::keep_freed_memory();
    }
    if arguments.kind == Some(Kind::Graph) {
        return graph::run(context, &arguments.graph, &names(graph::CASES), arguments.repeat);
    }
    if let Some(algorithm) = arguments.kind.and_then(Kind::algorithm) {
        context.heading(&graphs::heading())?;
        return names(graphs::CASES)
            .iter()
            .try_for_each(|name| graphs::run(context, algorithm, name, arguments.repeat));
    }
    let operation = arguments.kind.and_then(Kind::operation);
    let on_processor = operation.is_some_and(|operation| operation != Operation::Steps);
    if context.cuda.is_some() && (on_processor || arguments.kind == Some(Kind::Doors)) {
        return Err(refused("these operations", "they are measured on the processor").into());
    }
    if arguments.kind == Some(Kind::Doors) {
        context.heading(&doors::heading())?;
        return names(doors::CASES).iter().try_for_each(|name| doors::run(context, name, arguments.repeat));
    }
    if let Some(operation) = operation {
        context.heading(&operations::heading())?;
        return names(operations::CASES)
            .iter()
            .try_for_each(|name| operations::run(context, operation, name, arguments.repeat));
    }
    if arguments.kind == Some(Kind::Read) {
        context.heading(&read::heading())?;
        return names(&[]).iter().try_for_each(|name| read::run(context, name, arguments.repeat));
    }
    if arguments.kind != Some(Kind::Triangles) {
        let columns = ["case", "|C|", "symbolic", "numeric", "whole", "reuse", "unsorted"];
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

fn spgemm(context: &Context, name: &str, repeat: u32) -> Result {
    let case = if generate::is_product(name) {
        context.progress.stage(format!("making {name}"));
        context.quiet.threads().install(|| generate::case(name))?
    } else {
        let a = load(context, name)?;
        let square = a.nrows() == a.ncols();
        let matrices = if square { vec![a] } else { vec![a.clone(), a.transpose(context.quiet.threads())?] };
        let product = Product { name: name.into(), factors: vec![0, matrices.len() - 1] };
        Case { matrices, products: vec![product] }
    };
    match &context.cuda {
        Some(cuda) => {
            let there = case.matrices.iter().map(|a| cuda.upload(a)).collect::<sparring::Result<Vec<_>>>()?;
            measure_all(context, cuda, &case, &there, repeat)
        }
        None => measure_all(context, &context.quiet, &case, &case.matrices, repeat),
    }
}

/// Measures the products of a case, whose matrices are uploaded as `there`.
fn measure_all<M: Machine>(context: &Context, machine: &M, case: &Case, there: &[M::Matrix], repeat: u32) -> Result {
    for product in &case.products {
        let hosts: Vec<_> = product.factors.iter().map(|&f| &case.matrices[f]).collect();
        let factors: Vec<_> = product.factors.iter().map(|&f| &there[f]).collect();
        context.progress.stage(format!("measuring {}", product.name));
        measure(context, machine, &product.name, &hosts, &factors, repeat)?;
    }
    Ok(())
}

/// A product of two or more matrices, from the left: one plan and one result for each step.
struct Chain<M: Machine> {
    plans: Vec<M::Plan>,
    results: Vec<M::Matrix>,
}

/// The result of `f` and its time in milliseconds; the machine is idle before and after.
fn timed_with<M: Machine, T>(machine: &M, f: impl FnOnce() -> sparring::Result<T>) -> sparring::Result<(T, f64)> {
    machine.wait()?;
    let (result, ms) = timed(|| f().and_then(|x| machine.wait().map(|()| x)));
    Ok((result?, ms))
}

impl<M: Machine> Chain<M> {
    /// Computes the product. Returns it with the milliseconds of the symbolic and the numeric phases.
    fn new(machine: &M, factors: &[&M::Matrix]) -> sparring::Result<(Self, f64, f64)> {
        let (mut chain, mut symbolic, mut numeric) = (Self { plans: vec![], results: vec![] }, 0.0, 0.0);
        for b in &factors[1..] {
            let a = chain.results.last().unwrap_or(factors[0]);
            let (plan, ms) = timed_with(machine, || machine.plan(a, b))?;
            symbolic += ms;
            let (c, ms) = timed_with(machine, || machine.numeric(&plan, a, b))?;
            numeric += ms;
            chain.plans.push(plan);
            chain.results.push(c);
        }
        Ok((chain, symbolic, numeric))
    }
    /// Recomputes the values in place. Returns milliseconds.
    fn renumeric(&mut self, machine: &M, factors: &[&M::Matrix]) -> sparring::Result<f64> {
        let ((), ms) = timed_with(machine, || {
            self.plans.iter().zip(&factors[1..]).enumerate().try_for_each(|(step, (plan, b))| {
                let (before, after) = self.results.split_at_mut(step);
                machine.numeric_into(plan, before.last().unwrap_or(factors[0]), b, &mut after[0])
            })
        })?;
        Ok(ms)
    }
    fn flops(&self) -> u64 {
        self.plans.iter().map(M::flops).sum()
    }
    fn chosen(&self) -> String {
        self.plans.iter().map(M::explain).collect::<Vec<_>>().join("; then ")
    }
}

/// Measures the product of `factors`, the uploaded copies of `hosts`.
fn measure<M: Machine>(
    context: &Context,
    machine: &M,
    name: &str,
    hosts: &[&Csr<f64>],
    factors: &[&M::Matrix],
    repeat: u32,
) -> Result {
    let [mut symbolic, mut numeric, mut both, mut reuse]: [Times; 4] = Default::default();
    let mut last = None;
    // Excludes the memory peak of reading.
    let alone = machine.forget_peak();
    // Round 0 warms up: pages of C, caches, the pool, programs to compile.
    for round in 0..=repeat {
        drop(last.take());
        let (chain, s, n) = Chain::new(machine, factors)?;
        if round > 0 {
            symbolic.push(s);
            numeric.push(n);
            both.push(s + n);
        }
        last = Some(chain);
    }
    let Some(mut chain) = last else { unreachable!("there is at least the first round") };
    for round in 0..=repeat {
        let t = chain.renumeric(machine, factors)?;
        if round > 0 {
            reuse.push(t);
        }
    }
    let Some(c) = chain.results.last() else {
        return Err(Error::Argument { name: "case", message: format!("{name} has no product") }.into());
    };
    let peak = machine.peak().filter(|_| alone);
    let mut inputs: Vec<_> = factors.to_vec();
    inputs.dedup_by(|a, b| std::ptr::eq(*a, *b));
    let input_bytes: u64 = inputs.into_iter().map(M::bytes).sum();
    let result_bytes: u64 = chain.results.iter().map(M::bytes).sum();
    let (nnz, found, flops, chosen) = (M::nnz(c), machine.checks(c)?, chain.flops(), chain.chosen());
    let shape = (hosts[0].nrows(), hosts[0].ncols(), hosts.last().map_or(0, |b| b.ncols()));
    drop(chain);
    // The single-use product. On a machine without a dedicated algorithm for it, this is the two phases.
    let (mut once, mut once_checks) = ([Times::default(), Times::default()], [None, None]);
    for ((times, checks), any_order) in once.iter_mut().zip(&mut once_checks).zip([false, true]) {
        for round in 0..=repeat {
            let (c, ms) = timed_with(machine, || {
                let mut c = machine.once(factors[0], factors[1], any_order)?;
                for b in &factors[2..] {
                    c = c.map_or(Ok(None), |c| machine.once(&c, b, any_order))?;
                }
                Ok(c)
            })?;
            let Some(c) = c else { break };
            if round > 0 {
                times.push(ms);
            }
            if round == repeat {
                *checks = Some(machine.checks(&c)?);
            }
        }
    }
    let [sorted, unsorted] = once;
    let whole = if sorted.is_empty() { both } else { sorted };
    let mut counted = Times::default();
    for round in 0..=repeat {
        let [a, b] = factors[..] else { break };
        let (count, ms) = timed_with(machine, || machine.count(a, b))?;
        match count {
            None => break,
            Some(count) if count != nnz => {
                return Err(Failure::Wrong(format!("{name}: {count} entries counted, {nnz} found")));
            }
            Some(_) if round > 0 => counted.push(ms),
            Some(_) => {}
        }
    }
    let mut line = Map::new();
    for (key, value) in [
        ("op", json!("spgemm")),
        ("case", json!(name)),
        ("device", json!(context.device.to_string())),
        ("nrows", json!(shape.0)),
        ("inner", json!(shape.1)),
        ("ncols", json!(shape.2)),
        ("flops", json!(flops)),
        ("nnz", json!(nnz)),
        ("sum", json!(found.sum)),
        ("wsum", json!(found.wsum)),
    ] {
        line.insert(key.into(), value);
    }
    timing::insert(&mut line, "compute_", &whole);
    timing::insert(&mut line, "symbolic_", &symbolic);
    timing::insert(&mut line, "numeric_", &numeric);
    timing::insert(&mut line, "reuse_", &reuse);
    if !unsorted.is_empty() {
        line.insert("threads".into(), json!(context.threads()));
        timing::insert(&mut line, "unsorted_", &unsorted);
    }
    if !counted.is_empty() {
        timing::insert(&mut line, "count_", &counted);
    }
    // Peak memory of the sorted product, everything included: resident memory on the processor (null if the system does
    // not report it), device memory on a GPU.
    for (key, value) in
        [("peak_bytes", json!(peak)), ("input_bytes", json!(input_bytes)), ("result_bytes", json!(result_bytes))]
    {
        line.insert(key.into(), value);
    }
    line.insert("gflops".into(), json!(2e-6 * flops as f64 / whole.median()));
    line.insert("chosen".into(), json!(chosen));
    context.result(Value::Object(line), || {
        let text = |t: &Times| if t.is_empty() { "-".into() } else { format!("{:.3}", t.median()) };
        let [s, n, b, r, u] = [&symbolic, &numeric, &whole, &reuse, &unsorted].map(text);
        row([name.into(), thousands(nnz as u64), s, n, b, r, u], &chosen)
    })?;
    verify(name, generate::expected(hosts)?, found, once_checks)
}

fn row([name, nnz, times @ ..]: [String; 7], rest: &str) -> String {
    let times: String = times.iter().map(|t| format!(" {t:>10}")).collect();
    format!("{name:18} {nnz:>14}{times}  {rest}")
}

fn count(context: &Context, name: &str, repeat: u32) -> Result {
    let a = load(context, name)?;
    context.progress.stage(format!("counting triangles of {name}"));
    let method = TriangleMethod::Auto;
    let there = match &context.cuda {
        Some(cuda) => Some((cuda, cuda.upload_pattern(a.pattern())?)),
        None => None,
    };
    let run = || match &there {
        Some((cuda, a)) => timed_on(cuda, || triangles(*cuda, a, method)),
        None => {
            let (found, ms) = timed(|| triangles(&context.quiet, &a, method));
            Ok((found?, ms))
        }
    };
    let mut times = Times::default();
    let (mut found, _) = run()?;
    for _ in 0..repeat {
        let (again, ms) = run()?;
        times.push(ms);
        if again.count != found.count {
            return Err(Failure::Wrong(format!("{name}: {} triangles, then {}", found.count, again.count)));
        }
        found = again;
    }
    let mut json = json!({
        "op": "triangles", "case": name, "device": context.device.to_string(), "nrows": a.nrows(), "nnz": a.nnz(),
        "triangles": found.count, "compute_ms": ms(times.median()), "compute_min_ms": ms(times.minimum()), "method": found.method,
    });
    if there.is_none() {
        json["threads"] = context.threads().into();
    }
    context.result(json, || {
        let (median, minimum) = (times.median(), times.minimum());
        format!("{name:18} {:>14} {median:>10.3} {minimum:>10.3}  {}", thousands(found.count), found.method)
    })
}
