//! `sparring distances X [--to Y]`.

use clap::Args;
use serde_json::json;
use sparring::distance::{self, Metric, Options};
use sparring::io::{WriteOptions, write_matrix_market_columns};
use sparring::sparse::Dense;
use sparring::{Csr, par};

use crate::context::Context;
use crate::failure::Result;
use crate::memory::Growth;
use crate::output::{ms, seconds};
use crate::timing::timed;
use crate::vectors::{Cost, Files, Question, sum_of_finite};

/// Bytes of distances that are in memory at a time.
const HELD: usize = 1 << 30;

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    question: Question,
    /// Write the distances to this Matrix Market file: an array, d(x, y) in the row of x and the column of y
    #[arg(short, long, value_name = "OUT.mtx")]
    output: Option<String>,
}

/// All distances, made and handed on.
struct Made {
    sum: f64,
    /// Milliseconds of making them, not of what is done with them.
    ms: f64,
    chosen: String,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result {
    let question = &arguments.question;
    let metric = question.metric()?;
    let vectors = arguments.files.load(context)?;
    let (x, y, options) = (&vectors.x, vectors.to.as_ref(), question.options());
    context.progress.stage("computing distances".into());
    let growth = Growth::start();
    let threads = context.cpu.threads();
    let (made, all_ms) = match &arguments.output {
        None => timed(|| columns(threads, metric, x, y, &options, &mut |_| Ok(()))),
        Some(path) => timed(|| {
            let mut made = None;
            let comment = format!("distances of rows by {metric}");
            let written = WriteOptions::new().threads(context.quiet.threads()).comment(&comment);
            write_matrix_market_columns(path, x.nrows(), vectors.y().nrows(), &written, |write| {
                made = Some(columns(threads, metric, x, y, &options, write)?);
                Ok(())
            })?;
            Ok(made.unwrap_or(Made { sum: 0.0, ms: 0.0, chosen: String::new() }))
        }),
    };
    let Made { sum, ms: made_ms, chosen } = made?;
    let cost = Cost { ms: made_ms, growth: growth.bytes(), chosen };
    let mut json = json!({ "metric": metric.name() });
    question.insert(&mut json);
    vectors.insert(&mut json);
    cost.insert(context, &mut json);
    let write_ms = arguments.output.as_ref().map(|_| all_ms - made_ms);
    for (key, value) in [
        ("read_ms", ms(vectors.read_ms)),
        ("write_ms", write_ms.map_or(serde_json::Value::Null, ms)),
        ("sum", json!(sum)),
    ] {
        json[key] = value;
    }
    context.result(json, || {
        let written = write_ms.map_or(String::new(), |ms| format!(", written {}", seconds(ms)));
        format!(
            "{}: {metric}   sum {sum}   read {}{written}, computed {}",
            vectors.text(),
            seconds(vectors.read_ms),
            cost.text(vectors.pairs()),
        )
    })
}

/// Hands the distances to `take`, column by column, a block of whole columns at a time.
fn columns(
    threads: &par::Threads,
    metric: Metric,
    x: &Csr<f64>,
    y: Option<&Csr<f64>>,
    options: &Options,
    take: &mut dyn FnMut(&[f64]) -> sparring::Result<()>,
) -> sparring::Result<Made> {
    let (n, m) = (x.nrows(), y.unwrap_or(x).nrows());
    let (mut sum, mut elsewhere) = (0.0, 0.0);
    let mut hand_on = |block: &[f64]| {
        let (taken, ms) = timed(|| {
            sum += sum_of_finite(block);
            take(block)
        });
        elsewhere += ms;
        taken
    };
    // A column of D(X, Y) is a row of D(Y, X) where d(x, y) = d(y, x).
    let symmetric = !matches!(metric, Metric::Kl | Metric::KlIntersection);
    let small = n.checked_mul(m).is_some_and(|places| places <= HELD / size_of::<f64>());
    let (chosen, ms) = if symmetric && !small {
        let rows = HELD / 4 / size_of::<f64>() / n.max(1);
        let (first, second) = (y.unwrap_or(x), y.map(|_| x));
        timed(|| distance::pairwise_blocks(threads, metric, first, second, options, rows, |_, block| hand_on(block)))
    } else if symmetric {
        let (first, second) = (y.unwrap_or(x), y.map(|_| x));
        timed(|| {
            let mut all = Dense::filled(m, n, 0.0)?;
            let chosen = distance::pairwise_into(threads, metric, first, second, options, all.values_mut())?;
            hand_on(all.values())?;
            Ok(chosen)
        })
    } else {
        timed(|| {
            let mut all = Dense::filled(n, m, 0.0)?;
            let chosen = distance::pairwise_into(threads, metric, x, y, options, all.values_mut())?;
            let width = (HELD / 16 / size_of::<f64>() / n.max(1)).clamp(1, m.max(1));
            let mut block = par::filled(n * width, 0.0, "columns of distances")?;
            for first in (0..m).step_by(width) {
                let width = width.min(m - first);
                for (i, row) in all.values().chunks_exact(m).enumerate() {
                    row[first..first + width].iter().enumerate().for_each(|(j, &d)| block[j * n + i] = d);
                }
                hand_on(&block[..n * width])?;
            }
            Ok(chosen)
        })
    };
    Ok(Made { sum, ms: ms - elsewhere, chosen: chosen? })
}
