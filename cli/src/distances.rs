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
use crate::device::Where;
use crate::failure::Result;
use crate::formats::{self, Format};
use crate::memory::Growth;
use crate::output::{ms, seconds, thousands};
use crate::plot::{Histogram, Picture};
use crate::room;
use crate::timing::timed;
use crate::vectors::{Cost, Files, Question, sum_of_finite};
use crate::write::{Output, Writing};

/// Bytes of distances that are in memory at a time, unless a budget allows less.
const HELD: usize = 1 << 30;

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) files: Files,
    #[command(flatten)]
    question: Question,
    /// Write the distances to this file, d(x, y) in the row of x and the column of y: a Matrix Market array (.mtx), an
    /// array of NumPy (.npy), .csv, .npz, .svm, .gz or .zst behind them, or - for standard output. The first two need
    /// no memory for all distances at once
    #[arg(short, long, value_name = "OUT")]
    output: Option<String>,
    /// Draw how often distances come, those that are finite: FILE.svg, FILE.png, or - for SVG on standard output
    #[arg(long, value_name = "FILE")]
    plot: Option<String>,
    #[command(flatten)]
    writing: Writing,
    #[command(flatten)]
    pub(crate) place: Where,
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
    let picture = Picture::new(context, "--plot", arguments.plot.as_deref())?;
    let output = Output::new(context, arguments.output.as_ref(), arguments.writing, formats::SPARSE)?;
    let vectors = arguments.files.load(context, "distances")?;
    let (x, y) = (&vectors.x, vectors.to.as_ref());
    announce(context, x.nrows(), vectors.y().nrows(), output.is_some());
    if let Some(output) = &output {
        room::check(output, (x.nrows(), vectors.y().nrows()), vectors.pairs().into())?;
    }
    let options = Options { memory_budget: context.memory_budget, ..question.options() };
    let title = format!("{metric} of all pairs");
    let histogram = picture.as_ref().map(|_| RefCell::new(Histogram::new(title, "distance")));
    let asked = Asked { context, metric: &metric, options, histogram: histogram.as_ref() };
    context.progress.stage_of("computing distances", vectors.y().nrows(), "columns");
    let growth = Growth::start(context.cuda.as_ref());
    let (n, m) = (x.nrows(), vectors.y().nrows());
    let (made, all_ms) = match &output {
        None => timed(|| asked.columns(x, y, &mut |_| Ok(()))),
        Some(output) => timed(|| {
            let mut made = None;
            if !matches!(output.kind.format, Format::MatrixMarket | Format::Npy) {
                let mut rows = par::filled(n.saturating_mul(m), 0.0, "distances")?;
                let mut column = 0;
                let found = asked.columns(x, y, &mut |block| {
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
                        made = Some(asked.columns(x, y, write)?);
                        Ok(())
                    })?);
                }
                let comment = format!("distances of rows by {metric}");
                let written = WriteOptions::new().threads(context.quiet.threads()).comment(&comment);
                Ok(write_matrix_market_columns_to(out, n, m, &written, |write| {
                    made = Some(asked.columns(x, y, write)?);
                    Ok(())
                })?)
            })?;
            Ok(made.unwrap_or(Made { sum: 0.0, ms: 0.0, chosen: String::new() }))
        }),
    };
    let Made { sum, ms: made_ms, chosen } = made?;
    if let (Some(picture), Some(histogram)) = (&picture, &histogram) {
        picture.draw(&*histogram.borrow())?;
    }
    let cost = Cost { ms: made_ms, growth: growth.bytes(), chosen };
    let mut json = json!({ "metric": metric.name() });
    question.insert(&mut json);
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

/// Says on standard error how many distances there will be, where they are very many.
fn announce(context: &Context, n: usize, m: usize, written: bool) {
    const MANY: u128 = 10_000_000_000;
    let pairs = n as u128 * m as u128;
    if pairs > MANY {
        let bytes = if written { format!(", {:.0} GB", pairs as f64 * 8e-9) } else { String::new() };
        let said = format!(
            "warning: {} × {} rows have {:.2e} distances{bytes}; knn and radius find the near rows without them all",
            thousands(n as u64),
            thousands(m as u64),
            pairs as f64
        );
        context.progress.suspend(|| drop(writeln!(io::stderr(), "{said}")));
    }
}

/// What is asked of each pair of rows, and where.
struct Asked<'a> {
    context: &'a Context,
    metric: &'a AnyMetric,
    options: Options,
    /// Counts them.
    histogram: Option<&'a RefCell<Histogram>>,
}

impl Asked<'_> {
    /// Hands the distances to `take`, column by column, a block of whole columns at a time.
    fn columns(
        &self,
        x: &Csr<f64>,
        y: Option<&Csr<f64>>,
        take: &mut dyn FnMut(&[f64]) -> sparring::Result<()>,
    ) -> sparring::Result<Made> {
        let (n, m) = (x.nrows(), y.unwrap_or(x).nrows());
        let (mut sum, mut elsewhere, mut done) = (0.0, 0.0, 0);
        let at_once =
            if self.metric.is_symmetric() { self.at_once(n, m) } else { self.at_once(n.saturating_mul(2), m) };
        self.context.progress.part(0, at_once.min(m));
        let mut hand_on = |block: &[f64]| {
            done += block.len() / n.max(1);
            self.context.progress.part(done, at_once.min(m.saturating_sub(done)));
            let (taken, ms) = timed(|| {
                // By columns, so that it does not depend on how many there are in a block.
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
            // As rows, and turned.
            timed(|| self.turned(x, y, at_once, &mut hand_on))
        };
        Ok(Made { sum, ms: ms - elsewhere, chosen: chosen? })
    }

    /// Lines of `len` distances, of `count` in all, to be in memory at a time: all, or so many that parts of them come
    /// early.
    fn at_once(&self, len: usize, count: usize) -> usize {
        let allowed =
            self.options.memory_budget.map_or(usize::MAX, |bytes| usize::try_from(bytes / 2).unwrap_or(usize::MAX));
        let places = HELD.min(allowed) / size_of::<f64>();
        if len.saturating_mul(count) <= places { count.max(1) } else { (places / 4 / len).max(1) }
    }

    /// Rows of D(X, Y), `rows` at a time, from the machine that computes; what ran, and why.
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

    /// Columns of D(X, Y), `columns` at a time: distances to so many rows of Y, turned.
    fn turned(
        &self,
        x: &Csr<f64>,
        y: Option<&Csr<f64>>,
        columns: usize,
        take: &mut dyn FnMut(&[f64]) -> sparring::Result<()>,
    ) -> sparring::Result<String> {
        let (n, all) = (x.nrows(), y.unwrap_or(x));
        let m = all.nrows();
        let mut turned = par::filled(n * columns.min(m), 0.0, "columns of distances")?;
        let mut chosen = String::new();
        // Once where there are none, for X is to be checked.
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
                    row.iter().enumerate().for_each(|(j, &d)| turned[j * n + i] = d);
                }
                Ok(())
            })?;
            take(&turned[..n * width])?;
        }
        Ok(chosen)
    }
}
