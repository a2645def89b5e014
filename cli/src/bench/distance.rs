//! `sparring bench distance`: distances and nearest neighbours.

use std::cell::Cell;

use clap::{Args, ValueEnum};
use serde_json::json;
use sparring::distance::{AnyMetric, Float, Metric, Neighbours, Options, Precision};
use sparring::gpu::DeviceCsr;
use sparring::sparse::Dense;
use sparring::{Cpu, Csr, Cuda, Error, par};
use sparring_generate as generate;

use super::case::load;
use crate::context::Context;
use crate::device::timed_on;
use crate::failure::{Failure, Result};
use crate::memory::Growth;
use crate::output::ms;
use crate::timing::{Times, timed};

/// Default exponent of Minkowski, as in the compared programs.
const P: f64 = 3.0;

/// Options of `bench distance`.
#[derive(Args)]
pub(super) struct Settings {
    /// Task: nearest neighbours, or all distances [default: knn]
    #[arg(long, value_enum, help_heading = "Distances")]
    task: Option<Task>,
    /// Metrics from `sparring metrics`, or formulas [default: cosine, euclidean, manhattan]
    #[arg(long, value_name = "NAME", num_args = 1.., help_heading = "Distances")]
    metric: Vec<String>,
    /// Neighbours per row [default: 10]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Distances")]
    k: Option<u32>,
    /// Exponent of minkowski [default: 3]
    #[arg(long, help_heading = "Distances")]
    p: Option<f64>,
    /// Use only the first ROWS rows of each case
    #[arg(long, value_name = "ROWS", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Distances")]
    rows: Option<u32>,
    /// Query only the first ROWS rows [default: all rows; for generated cases, the published number]
    #[arg(long, value_name = "ROWS", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Distances")]
    queries: Option<u32>,
    /// Type of the entries [default: f64]
    #[arg(long, value_enum, help_heading = "Distances")]
    entries: Option<EntryType>,
    /// Precision of the computation [default: double]
    #[arg(long, value_enum, help_heading = "Distances")]
    precision: Option<Computed>,
}

#[derive(Clone, Copy, Default, PartialEq, ValueEnum)]
enum Task {
    /// The k nearest neighbours of each row
    #[default]
    Knn,
    /// All distances, into a dense matrix
    Pairwise,
    /// The k nearest neighbours of each row from a prebuilt index, queried once
    Index,
}

#[derive(Clone, Copy, Default, PartialEq, ValueEnum)]
enum EntryType {
    #[default]
    F64,
    F32,
}

#[derive(Clone, Copy, Default, PartialEq, ValueEnum)]
enum Computed {
    /// f64
    #[default]
    Double,
    /// The type of the entries
    Entries,
}

impl Settings {
    /// Whether any of these options is given, for benchmarks that reject them.
    pub(super) fn given(&self) -> bool {
        let Self { task, metric, k, p, rows, queries, entries, precision } = self;
        let counts = [k, rows, queries].into_iter().any(Option::is_some);
        task.is_some() || !metric.is_empty() || counts || p.is_some() || entries.is_some() || precision.is_some()
    }
    /// The requested metrics; `p` applies only to Minkowski.
    pub(super) fn metrics(&self) -> sparring::Result<Vec<AnyMetric>> {
        let named = |name: &str| match AnyMetric::named(name, None) {
            Err(Error::Argument { name: "p", .. }) => AnyMetric::named(name, Some(self.p.unwrap_or(P))),
            found => found,
        };
        match &self.metric[..] {
            [] => Ok([Metric::Cosine, Metric::Euclidean, Metric::Manhattan].map(AnyMetric::Named).into()),
            names => names.iter().flat_map(|names| parts(names)).map(named).collect(),
        }
    }
}

/// Splits at commas outside of parentheses.
fn parts(text: &str) -> Vec<&str> {
    let mut open = 0usize;
    let between = |c: char| {
        match c {
            '(' => open += 1,
            ')' => open = open.saturating_sub(1),
            _ => {}
        }
        c == ',' && open == 0
    };
    text.split(between).collect()
}

/// The benchmark runner.
pub(super) struct Bench<'a> {
    pub(super) context: &'a Context,
    pub(super) settings: &'a Settings,
    pub(super) metrics: Vec<AnyMetric>,
    pub(super) repeat: u32,
    /// Whether freed memory is returned to the system between runs.
    pub(super) fresh: bool,
    /// Whether it was retained, which makes the growth of memory meaningless.
    pub(super) kept: Cell<bool>,
}

impl Bench<'_> {
    /// Measures each metric on the rows of the case `name`.
    pub(super) fn run(&self, name: &str) -> Result {
        let mut a = load(self.context, name)?;
        let threads = self.context.quiet.threads();
        let first = |a: &Csr<f64>, n: usize| a.select_rows(threads, &Vec::from_iter(0..n));
        let fewer = |rows: Option<u32>, a: &Csr<f64>| rows.map(|rows| rows as usize).filter(|&rows| rows < a.nrows());
        if let Some(rows) = fewer(self.settings.rows, &a) {
            a = first(&a, rows)?;
        }
        let published = generate::queries(name.strip_prefix("gen:").unwrap_or(name)).filter(|&rows| rows < a.nrows());
        let queries = match self.settings.queries {
            None => published,
            requested => fewer(requested, &a),
        };
        let x = queries.map(|rows| first(&a, rows)).transpose()?;
        for metric in &self.metrics {
            self.context.progress.stage(format!("measuring {name}, {metric}"));
            match self.settings.entries.unwrap_or_default() {
                EntryType::F64 => self.measure(name, metric, x.as_ref(), &a)?,
                EntryType::F32 => {
                    let single = |a: &Csr<f64>| a.map(|&x| x as f32);
                    self.measure(name, metric, x.as_ref().map(single).transpose()?.as_ref(), &single(&a)?)?;
                }
            }
        }
        Ok(())
    }
}

/// The computation for a metric.
struct Query {
    task: Task,
    metric: AnyMetric,
    k: usize,
    options: Options,
}

/// The result of a run.
enum Answer<T> {
    Nearest(Neighbours<T>),
    All(Dense<T>),
}

/// A run, and its time in milliseconds.
struct Run<T> {
    answer: Answer<T>,
    chosen: String,
    ms: f64,
    /// Time without preparing the rows, if that is measured separately.
    prepared_ms: Option<f64>,
}

impl Query {
    fn on_processor<T: Float>(&self, cpu: &Cpu, x: &Csr<T>, y: Option<&Csr<T>>) -> sparring::Result<Run<T>> {
        let Self { task, metric, k, options } = self;
        match task {
            Task::Knn => {
                let (near, ms) = timed(|| cpu.neighbours(metric.clone(), x).to(y).options(*options).k(*k).eval());
                let near = near?;
                Ok(Run { chosen: near.explain.clone(), answer: Answer::Nearest(near), ms, prepared_ms: None })
            }
            Task::Index => {
                let index = cpu.index(metric.clone(), y.unwrap_or(x), *options)?;
                index.knn(cpu, x, *k)?;
                let (near, ms) = timed(|| index.knn(cpu, x, *k));
                let near = near?;
                Ok(Run { chosen: near.explain.clone(), answer: Answer::Nearest(near), ms, prepared_ms: None })
            }
            Task::Pairwise => {
                let (made, ms) = timed(|| {
                    let mut all = Dense::filled(x.nrows(), y.unwrap_or(x).nrows(), T::ZERO)?;
                    let chosen = cpu.distances(metric.clone(), x).to(y).options(*options).into(all.values_mut())?;
                    Ok::<_, Error>((all, chosen))
                });
                let (all, chosen) = made?;
                Ok(Run { answer: Answer::All(all), chosen, ms, prepared_ms: None })
            }
        }
    }
    /// The time includes downloading neighbours, but not all distances.
    fn on_gpu<T: Float>(&self, cuda: &Cuda, x: &DeviceCsr<T>, y: Option<&DeviceCsr<T>>) -> sparring::Result<Run<T>> {
        if self.task == Task::Index {
            let index = cuda.index(self.metric.clone(), y.unwrap_or(x), self.options)?;
            index.knn(x, self.k)?;
            let (near, ms) = timed_on(cuda, || index.knn(x, self.k))?;
            return Ok(Run { chosen: near.explain.clone(), answer: Answer::Nearest(near), ms, prepared_ms: Some(ms) });
        }
        let (rows, preparing_ms) =
            timed_on(cuda, || cuda.neighbours(self.metric.clone(), x).to(y).options(self.options).prepare())?;
        let (answer, ms) = match self.task {
            Task::Knn | Task::Index => {
                let (near, ms) = timed_on(cuda, || rows.nearest(self.k))?;
                (Answer::Nearest(near), ms)
            }
            Task::Pairwise => {
                let (all, ms) = timed_on(cuda, || rows.all())?;
                (Answer::All(cuda.download_dense(&all)?), ms)
            }
        };
        Ok(Run { answer, chosen: rows.explain(), ms: preparing_ms + ms, prepared_ms: Some(ms) })
    }
}

/// The sum of the finite distances, and the same over nonempty rows: definitions differ for empty ones.
fn sums<T: Float>(answer: &Answer<T>, x: &Csr<T>, y: &Csr<T>) -> (f64, f64) {
    let full = |a: &Csr<T>| Vec::from_iter((0..a.nrows()).map(|i| a.row(i).1.iter().any(|&x| x != T::ZERO)));
    let (rows, columns) = (full(x), full(y));
    let finite = |d: &T| Some(d.as_f64()).filter(|d| d.is_finite());
    let (mut sum, mut nonempty) = (0.0, 0.0);
    for (i, &full) in rows.iter().enumerate() {
        match answer {
            Answer::Nearest(near) => {
                let row: f64 = near.row(i).1.iter().filter_map(finite).sum();
                sum += row;
                nonempty += if full { row } else { 0.0 };
            }
            Answer::All(all) => {
                let row = all.row(i);
                sum += row.iter().filter_map(finite).sum::<f64>();
                let others = row.iter().zip(&columns).filter(|(_, there)| full && **there);
                nonempty += others.filter_map(|(d, _)| finite(d)).sum::<f64>();
            }
        }
    }
    (sum, nonempty)
}

impl Bench<'_> {
    fn measure<T: Float>(&self, name: &str, metric: &AnyMetric, x: Option<&Csr<T>>, y: &Csr<T>) -> Result {
        let (context, settings) = (self.context, self.settings);
        let (task, k) = (settings.task.unwrap_or_default(), settings.k.unwrap_or(10) as usize);
        let precision = match settings.precision.unwrap_or_default() {
            Computed::Double => Precision::Double,
            Computed::Entries => Precision::Entries,
        };
        let query = Query { task, metric: metric.clone(), k, options: Options { precision, ..Options::default() } };
        let (first, second) = (x.unwrap_or(y), x.map(|_| y));
        let there = match &context.cuda {
            Some(cuda) => Some((cuda, cuda.upload(first)?, second.map(|y| cuda.upload(y)).transpose()?)),
            None => None,
        };
        let run = || match &there {
            Some((cuda, x, y)) => query.on_gpu(cuda, x, y.as_ref()),
            None => query.on_processor(&context.quiet, first, second),
        };
        // Growth of the warm-up run, if it takes all its memory from the system; on a GPU, memory in use.
        let growth = Growth::start(context.cuda.as_ref());
        let Run { answer, chosen, .. } = run()?;
        let growth = growth.bytes().filter(|_| there.is_some() || !self.kept.get());
        let (sum, nonempty) = sums(&answer, first, y);
        drop(answer);
        if !self.fresh {
            self.kept.set(par::keep_freed_memory());
        }
        let (mut times, mut prepared) = (Times::default(), Times::default());
        for _ in 0..self.repeat {
            let Run { answer, ms, prepared_ms, .. } = run()?;
            times.push(ms);
            prepared_ms.into_iter().for_each(|ms| prepared.push(ms));
            let (again, _) = sums(&answer, first, y);
            if again.to_bits() != sum.to_bits() {
                return Err(Failure::Wrong(format!("{name}, {metric}: the sum is {sum}, then {again}")));
            }
        }
        let (n, m) = (first.nrows(), y.nrows());
        let pairs = n as u64 * m as u64;
        let rate = pairs as f64 / times.median() / 1e6;
        let task_name = match task {
            Task::Knn => "knn",
            Task::Index => "index",
            Task::Pairwise => "pairwise",
        };
        let bits = 8 * size_of::<T>();
        let mut json = json!({
            "op": "distance", "case": name, "task": task_name, "metric": metric.name(), "device": context.device.to_string(),
            "nrows": n, "to_nrows": m, "ncols": y.ncols(), "nnz": y.nnz(), "pairs": pairs, "type": format!("f{bits}"),
            "compute_ms": ms(times.median()), "compute_min_ms": ms(times.minimum()), "gpairs_s": rate,
            "sum": sum, "nonempty_sum": nonempty, "peak_growth_bytes": growth, "chosen": chosen,
        });
        if there.is_some() {
            (json["prepared_ms"], json["prepared_min_ms"]) = (ms(prepared.median()), ms(prepared.minimum()));
        } else {
            json["threads"] = context.threads().into();
        }
        if task != Task::Pairwise {
            json["k"] = k.into();
        }
        if let AnyMetric::Named(Metric::Minkowski(p)) = metric {
            json["p"] = (*p).into();
        }
        context.result(json, || {
            let cells = [
                task_name.into(),
                metric.name().into(),
                format!("{n} × {m}"),
                format!("{:.3}", times.median()),
                format!("{:.3}", times.minimum()),
                if there.is_some() { format!("{:.3}", prepared.median()) } else { "-".into() },
                format!("{rate:.4}"),
                growth.map_or("-".into(), |bytes| format!("{:.1}", bytes as f64 / f64::from(1 << 20))),
            ];
            row(name, &cells, &chosen)
        })
    }
}

/// The first line of the table.
pub(super) fn heading() -> String {
    let cells =
        ["task", "metric", "rows × rows", "median ms", "minimum", "prepared", "Gpairs/s", "MiB"].map(Into::into);
    row("case", &cells, "chosen")
}

fn row(name: &str, [task, metric, size, times @ .., rate, memory]: &[String; 8], chosen: &str) -> String {
    let times: String = times.iter().map(|t| format!(" {t:>10}")).collect();
    format!("{name:18} {task:8} {metric:16} {size:>15}{times} {rate:>9} {memory:>8}  {chosen}")
}

/// Rejects the options of distances in other benchmarks.
pub(super) fn refuse(settings: &Settings) -> sparring::Result<()> {
    if !settings.given() {
        return Ok(());
    }
    let message = "its settings are for `sparring bench distance`".into();
    Err(Error::Argument { name: "distance", message })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minkowski_has_an_exponent_of_its_own() {
        let settings = |p| Settings {
            task: None,
            metric: vec!["minkowski".into(), "l1".into()],
            k: None,
            p,
            rows: None,
            queries: None,
            entries: None,
            precision: None,
        };
        let names = |p| settings(p).metrics().unwrap().iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(names(None), ["minkowski, p = 3", "manhattan"]);
        assert_eq!(names(Some(1.5)), ["minkowski, p = 1.5", "manhattan"]);
        assert!(settings(Some(0.5)).metrics().is_err());
    }
}
