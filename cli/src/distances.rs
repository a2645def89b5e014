//! `sparring distances X [--to Y]`.

use std::cell::RefCell;
use std::io::{self, Write as _};

use clap::Args;
use serde_json::json;
use sparring::algebra::Slice;
use sparring::distance::{AnyMetric, Options};
use sparring::io::{WriteOptions, write_matrix_market_columns_to, write_npy_columns_to};
use sparring::{Csr, par};

use crate::context::Context;
use crate::device::DeviceArg;
use crate::failure::Result;
use crate::formats::{self, Format};
use crate::memory::Growth;
use crate::output::{ms, seconds, thousands};
use crate::plot::{Histogram, Picture};
use crate::room;
use crate::timing::timed;
use crate::vectors::{Cost, Files, MetricArgs, sum_of_finite};
use crate::write::{Output, Writing};

/// Bytes of distances in memory at a time, unless the budget is lower.
const HELD: usize = 1 << 30;

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) files: Files,
    #[command(flatten)]
    metric_args: MetricArgs,
    /// Write the distances to this file, d(x, y) in the row of x and the column of y: a Matrix Market array (.mtx), a
    /// NumPy array (.npy), .csv, .npz, .svm, also with .gz or .zst, or - for standard output. The first two are written
    /// without holding all distances in memory
    #[arg(short, long, value_name = "OUT")]
    output: Option<String>,
    /// Draw a histogram of the finite distances: FILE.svg, FILE.png, or - for SVG on standard output
    #[arg(long, value_name = "FILE")]
    plot: Option<String>,
    #[command(flatten)]
    writing: Writing,
    #[command(flatten)]
    pub(crate) place: DeviceArg,
}

/// Outcome of computing all distances.
struct Computed {
    sum: f64,
    /// Milliseconds of computing the distances, without consuming them.
    ms: f64,
    chosen: String,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result {
    let metric_args = &arguments.metric_args;
    let metric = metric_args.metric()?;
    let picture = Picture::new(context, "--plot", arguments.plot.as_deref())?;
    let output = Output::new(context, arguments.output.as_ref(), arguments.writing, formats::SPARSE)?;
    let vectors = arguments.files.load(context, "distances")?;
    let (x, y) = (&vectors.x, vectors.to.as_ref());
    announce(context, x.nrows(), vectors.y().nrows(), output.is_some());
    if let Some(output) = &output {
        room::check(output, (x.nrows(), vectors.y().nrows()), vectors.pairs().into())?;
    }
    let options = Options { memory_budget: context.memory_budget, ..metric_args.options() };
    let title = format!("{metric} of all pairs");
    let histogram = picture.as_ref().map(|_| RefCell::new(Histogram::new(title, "distance")));
    let query = Query { context, metric: &metric, options, histogram: histogram.as_ref() };
    context.progress.stage_of("computing distances", vectors.y().nrows(), "columns");
    let growth = Growth::start(context.cuda.as_ref());
    let (n, m) = (x.nrows(), vectors.y().nrows());
    let (made, all_ms) = match &output {
        None => timed(|| query.columns(x, y, &mut |_| Ok(()))),
        Some(output) => timed(|| {
            let mut made = None;
            if !matches!(output.kind.format, Format::MatrixMarket | Format::Npy) {
                let mut rows = par::filled(n.saturating_mul(m), 0.0, "distances")?;
                let mut column = 0;
                let found = query.columns(x, y, &mut |block| {
                    for part in block.chunks(n.max(1)) {
                        part.iter().enumerate().for_each(|(i, &d)| rows[i * m + column] = d);
                        column += 1;
                    }
                    Ok(())
                })?;
                output.write(context, |out| formats::write_dense(out, output.kind.format, (n, m), Slice::of(&rows)))?;
                return Ok(found);
            }
            output.write_made(|out| {
                if output.kind.format == Format::Npy {
                    return Ok(write_npy_columns_to(out, n, m, |write| {
                        made = Some(query.columns(x, y, write)?);
                        Ok(())
                    })?);
                }
                let comment = format!("distances of rows by {metric}");
                let written = WriteOptions::new().threads(context.quiet.threads()).comment(&comment);
                Ok(write_matrix_market_columns_to(out, n, m, &written, |write| {
                    made = Some(query.columns(x, y, write)?);
                    Ok(())
                })?)
            })?;
            Ok(made.unwrap_or(Computed { sum: 0.0, ms: 0.0, chosen: String::new() }))
        }),
    };
    let Computed { sum, ms: made_ms, chosen } = made?;
    if let (Some(picture), Some(histogram)) = (&picture, &histogram) {
        picture.draw(&*histogram.borrow())?;
    }
    let cost = Cost { ms: made_ms, growth: growth.bytes(), chosen };
    let mut json = json!({ "metric": metric.name() });
    metric_args.insert(&mut json);
    vectors.insert(&mut json);
    cost.insert(context, &mut json);
    let write_ms = output.as_ref().map(|_| all_ms - made_ms);
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

/// Warns on standard error if the number of distances is very large.
fn announce(context: &Context, n: usize, m: usize, written: bool) {
    const MANY: u128 = 10_000_000_000;
    let pairs = n as u128 * m as u128;
    if pairs > MANY {
        let bytes = if written { format!(", {:.0} GB", pairs as f64 * 8e-9) } else { String::new() };
        let warning = format!(
            "warning: {} × {} rows have {:.2e} distances{bytes}; knn and radius do not store them all",
            thousands(n as u64),
            thousands(m as u64),
            pairs as f64
        );
        context.progress.suspend(|| drop(writeln!(io::stderr(), "{warning}")));
    }
}

/// The distance computation: metric, options and device.
struct Query<'a> {
    context: &'a Context,
    metric: &'a AnyMetric,
    options: Options,
    /// Histogram of the distances.
    histogram: Option<&'a RefCell<Histogram>>,
}

impl Query<'_> {
    /// Passes the distances to `take` in blocks of whole columns.
    fn columns(
        &self,
        x: &Csr<f64>,
        y: Option<&Csr<f64>>,
        take: &mut dyn FnMut(&[f64]) -> sparring::Result<()>,
    ) -> sparring::Result<Computed> {
        let (n, m) = (x.nrows(), y.unwrap_or(x).nrows());
        let (mut sum, mut elsewhere, mut done) = (0.0, 0.0, 0);
        let at_once =
            if self.metric.is_symmetric() { self.at_once(n, m) } else { self.at_once(n.saturating_mul(2), m) };
        self.context.progress.part(0, at_once.min(m));
        let mut hand_on = |block: &[f64]| {
            done += block.len() / n.max(1);
            self.context.progress.part(done, at_once.min(m.saturating_sub(done)));
            let (taken, ms) = timed(|| {
                // By columns, so that the sum does not depend on the block size.
                block.chunks(n.max(1)).for_each(|column| sum += sum_of_finite(column));
                if let Some(histogram) = self.histogram {
                    histogram.borrow_mut().add(block);
                }
                take(block)
            });
            elsewhere += ms;
            taken
        };
        let (chosen, ms) = if self.metric.is_symmetric() {
            // A column of D(X, Y) is a row of D(Y, X).
            let (first, second) = (y.unwrap_or(x), y.map(|_| x));
            timed(|| self.rows(first, second, at_once, &mut hand_on))
        } else {
            // Computed by rows and transposed.
            timed(|| self.transposed(x, y, at_once, &mut hand_on))
        };
        Ok(Computed { sum, ms: ms - elsewhere, chosen: chosen? })
    }

    /// How many of `count` lines of `len` distances are in memory at a time: all, or few enough that the first results
    /// arrive early.
    fn at_once(&self, len: usize, count: usize) -> usize {
        let allowed =
            self.options.memory_budget.map_or(usize::MAX, |bytes| usize::try_from(bytes / 2).unwrap_or(usize::MAX));
        let places = HELD.min(allowed) / size_of::<f64>();
        if len.saturating_mul(count) <= places { count.max(1) } else { (places / 4 / len).max(1) }
    }

    /// Rows of D(X, Y), `rows` at a time, from the selected device. Returns the algorithm, and why.
    fn rows(
        &self,
        x: &Csr<f64>,
        y: Option<&Csr<f64>>,
        rows: usize,
        take: &mut dyn FnMut(&[f64]) -> sparring::Result<()>,
    ) -> sparring::Result<String> {
        let Self { context, metric, options, .. } = self;
        match &context.cuda {
            None => {
                context.cpu.distances((*metric).clone(), x).to(y).options(*options).blocks(rows, |_, block| take(block))
            }
            Some(cuda) => {
                cuda.distances((*metric).clone(), x).to(y).options(*options).blocks(rows, |_, block| take(block))
            }
        }
    }

    /// Columns of D(X, Y), `columns` at a time: distances to that many rows of Y, transposed.
    fn transposed(
        &self,
        x: &Csr<f64>,
        y: Option<&Csr<f64>>,
        columns: usize,
        take: &mut dyn FnMut(&[f64]) -> sparring::Result<()>,
    ) -> sparring::Result<String> {
        let (n, all) = (x.nrows(), y.unwrap_or(x));
        let m = all.nrows();
        let mut transposed = par::filled(n * columns.min(m), 0.0, "columns of distances")?;
        let mut chosen = String::new();
        // Runs once even without columns, to validate X.
        for first in (0..m.max(1)).step_by(columns) {
            let some = first..m.min(first + columns);
            let width = some.len();
            let part = if width == m {
                None
            } else {
                Some(all.select_rows(self.context.quiet.threads(), &Vec::from_iter(some))?)
            };
            chosen = self.rows(x, part.as_ref().or(y), n, &mut |rows| {
                for (i, row) in rows.chunks_exact(width.max(1)).enumerate() {
                    row.iter().enumerate().for_each(|(j, &d)| transposed[j * n + i] = d);
                }
                Ok(())
            })?;
            take(&transposed[..n * width])?;
        }
        Ok(chosen)
    }
}
