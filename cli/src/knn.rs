//! `sparring knn X [--to Y]`.

use std::fs::File;
use std::io::{BufWriter, Write};

use clap::Args;
use serde_json::json;
use sparring::Error;
use sparring::distance::{Neighbours, Options, knn, knn_bytes};

use crate::context::Context;
use crate::failure::Result;
use crate::memory::Growth;
use crate::output::{ms, seconds, thousands};
use crate::timing::timed;
use crate::vectors::{Cost, Files, Question, sum_of_finite};
use crate::write;

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    files: Files,
    /// Neighbours of each row; fewer where there are fewer rows
    #[arg(short, long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    k: u32,
    #[command(flatten)]
    question: Question,
    /// Leave each row out of its own neighbours
    #[arg(long, conflicts_with = "to")]
    exclude_self: bool,
    /// Where the neighbours go. OUT.mtx or OUT.mtx.gz: the graph of neighbours, entry (i, j) the distance. Any other name:
    /// lines of row, neighbour, distance with tabs between, nearest first. Both count rows from 1, as Matrix Market does
    #[arg(short, long, value_name = "OUT.tsv")]
    output: Option<String>,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result {
    let (question, k) = (&arguments.question, arguments.k as usize);
    let metric = question.metric()?;
    let vectors = arguments.files.load(context)?;
    let options = Options { exclude_self: arguments.exclude_self, ..question.options() };
    let (x, y, threads) = (&vectors.x, vectors.to.as_ref(), context.cpu.threads());
    context.progress.stage("preparing the search".into());
    let bytes = knn_bytes(threads, metric, k, x, y, &options)?;
    context.progress.stage(format!("searching, {} bytes", thousands(bytes)));
    let growth = Growth::start();
    let (near, search_ms) = timed(|| knn(threads, metric, k, x, y, &options));
    let near = near?;
    let cost = Cost { ms: search_ms, growth: growth.bytes(), chosen: near.explain.clone() };
    if let Some(path) = &arguments.output {
        context.progress.stage(format!("writing {path}"));
        save(path, &near)?;
    }
    let sum = sum_of_finite(near.distances());
    let mut json = json!({ "metric": metric.name(), "k": near.k(), "exclude_self": arguments.exclude_self });
    question.insert(&mut json);
    vectors.insert(&mut json);
    cost.insert(context, &mut json);
    for (key, value) in [("search_bytes", json!(bytes)), ("read_ms", ms(vectors.read_ms)), ("sum", json!(sum))] {
        json[key] = value;
    }
    context.result(json, || {
        format!(
            "{}: {} nearest by {metric}   read {}, searched {}",
            vectors.text(),
            thousands(near.k() as u64),
            seconds(vectors.read_ms),
            cost.text(vectors.pairs()),
        )
    })
}

/// Writes neighbours to the file `path`, in the form that its name asks for.
fn save(path: &str, near: &Neighbours<f64>) -> sparring::Result<()> {
    if path.ends_with(".mtx") || path.ends_with(".mtx.gz") {
        return write::save(path, &near.to_csr()?);
    }
    let lines = || {
        let mut out = BufWriter::new(File::create(path)?);
        writeln!(out, "# row\tneighbour\tdistance; rows are counted from 1")?;
        for i in 0..near.nrows() {
            let (columns, distances) = near.row(i);
            for (j, d) in columns.iter().zip(distances) {
                // Debug: the shortest text that reads as the same number, with an exponent where that is shorter.
                writeln!(out, "{}\t{}\t{d:?}", i + 1, u64::from(*j) + 1)?;
            }
        }
        out.flush()
    };
    lines().map_err(|source| Error::Io { path: path.into(), source })
}
