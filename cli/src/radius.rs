//! `sparring radius X [--to Y]`.

use clap::Args;
use serde_json::json;
use sparring::distance::Options;
use sparring::{Csr, Error};

use crate::context::Context;
use crate::device::{DeviceArg, timed_on};
use crate::failure::Result;
use crate::formats::SPARSE;
use crate::memory::Growth;
use crate::output::{ms, seconds, thousands};
use crate::timing::timed;
use crate::vectors::{Cost, Files, MetricArgs, sum_of_finite};
use crate::write::{Output, Writing};

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) files: Files,
    /// Largest distance of a neighbour; of a similarity (dot) the smallest
    #[arg(short, long, value_name = "R", allow_negative_numbers = true)]
    radius: f64,
    #[command(flatten)]
    metric_args: MetricArgs,
    /// Exclude each row from its own neighbours
    #[arg(long, conflicts_with = "to")]
    exclude_self: bool,
    /// Write the neighbour graph to this file, entry (i, j) the distance: .mtx, .npz (SciPy), .npy, .csv, .svm, also
    /// with .gz or .zst, or - for standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<String>,
    #[command(flatten)]
    writing: Writing,
    #[command(flatten)]
    pub(crate) place: DeviceArg,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result {
    let (metric_args, radius) = (&arguments.metric_args, arguments.radius);
    let metric = metric_args.metric()?;
    if radius.is_nan() {
        return Err(Error::Argument { name: "radius", message: "it is not a number".into() }.into());
    }
    let output = Output::new(context, arguments.output.as_ref(), arguments.writing, SPARSE)?;
    let vectors = arguments.files.load(context, "radius")?;
    let (exclude_self, memory_budget) = (arguments.exclude_self, context.memory_budget);
    let options = Options { exclude_self, memory_budget, ..metric_args.options() };
    context.progress.stage_of("searching", vectors.x.nrows(), "rows");
    let growth = Growth::start(context.cuda.as_ref());
    let (x, y) = (&vectors.x, vectors.to.as_ref());
    let (found, search_ms) = match &context.cuda {
        None => {
            let search = || -> sparring::Result<(Csr<f64>, String)> {
                let rows = context.cpu.neighbours(metric.clone(), x).to(y).options(options).prepare()?;
                Ok((rows.within(radius)?, rows.explain()))
            };
            let (found, ms) = timed(search);
            (found?, ms)
        }
        Some(cuda) => {
            let (x, y) = (cuda.upload(x)?, y.map(|y| cuda.upload(y)).transpose()?);
            timed_on(cuda, || {
                let rows = cuda.neighbours(metric.clone(), &x).to(y.as_ref()).options(options).prepare()?;
                let graph = rows.within(radius)?;
                Ok((cuda.download(&graph)?, rows.explain()))
            })?
        }
    };
    let (graph, chosen) = found;
    let cost = Cost { ms: search_ms, growth: growth.bytes(), chosen };
    let (nnz, sum) = (graph.nnz(), sum_of_finite(graph.values()));
    if let Some(output) = &output {
        output.save(context, &graph.into())?;
    }
    let mut json = json!({
        "metric": metric.name(), "radius": radius, "neighbours": nnz, "exclude_self": arguments.exclude_self,
    });
    metric_args.insert(&mut json);
    vectors.insert(&mut json);
    cost.insert(context, &mut json);
    (json["read_ms"], json["sum"]) = (ms(vectors.read_ms), json!(sum));
    context.result(json, || {
        format!(
            "{}: {} neighbours within {radius} by {metric}   read {}, searched {}",
            vectors.text(),
            thousands(nnz as u64),
            seconds(vectors.read_ms),
            cost.text(vectors.pairs()),
        )
    })
}
