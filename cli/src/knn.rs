//! `sparring knn X [--to Y]`.

use std::io::{self, Write};

use clap::Args;
use serde_json::json;
use sparring::distance::{AnyMetric, Measure, NeighbourIndex, Neighbours, Options};
use sparring::{Cuda, Error};

use crate::context::Context;
use crate::device::{DeviceArg, refuse, timed_on};
use crate::failure::Result;
use crate::formats::{Format, SPARSE, STANDARD, to_file};
use crate::memory::Growth;
use crate::output::{ms, seconds, thousands};
use crate::plot::{Histogram, Picture};
use crate::room;
use crate::timing::timed;
use crate::vectors::{Cost, Files, MetricArgs, Vectors, sum_of_finite};
use crate::write::{Output, Writing};

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) files: Files,
    /// Neighbours per row; fewer if there are fewer rows
    #[arg(short, long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    k: u32,
    #[command(flatten)]
    metric_args: MetricArgs,
    /// Exclude each row from its own neighbours
    #[arg(long, conflicts_with = "to")]
    exclude_self: bool,
    /// The vectors y from an index written by --save-index, instead of --to; metric and settings must be those of the
    /// index
    #[arg(long, value_name = "FILE", conflicts_with_all = ["to", "exclude_self"])]
    index: Option<String>,
    /// Save an index of the vectors y, for --index; - is standard output
    #[arg(long, value_name = "FILE", conflicts_with = "index")]
    save_index: Option<String>,
    /// Write the neighbours. OUT.tsv: tab-separated lines of row, neighbour, distance, nearest first. OUT.mtx, .npz,
    /// .npy, .csv, .svm, or - for standard output: the neighbour graph, entry (i, j) the distance. .tsv and .mtx number
    /// rows from 1
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

/// Neighbours, and the cost of the search.
struct Search {
    near: Neighbours<f64>,
    /// Memory estimate, reported before the search.
    bytes: u64,
    ms: f64,
    growth: Option<u64>,
    /// Milliseconds of uploading the rows to a GPU, and of the first search there, which compiles its programs.
    sent: Option<(f64, f64)>,
}

/// Reports the memory estimate of the search.
fn state(context: &Context, rows: usize, bytes: u64) {
    context.progress.stage_of(&format!("searching, {} bytes", thousands(bytes)), rows, "rows");
}

/// The index in a file, and the milliseconds of loading it. An index for another metric is an error.
fn load(
    context: &Context,
    file: &str,
    metric: &AnyMetric,
    options: &Options,
) -> sparring::Result<(NeighbourIndex<f64>, f64)> {
    context.progress.stage(format!("reading {file}"));
    let (index, ms) = timed(|| context.cpu.load_index::<f64, u32>(file));
    let index = index?;
    let settings = |o: &Options| (o.normalize, o.unchecked);
    if index.measure().named() != metric.named() || settings(index.options()) != settings(options) {
        let message = format!("{file} is an index for {}, perhaps with other settings", index.measure().name());
        return Err(Error::Argument { name: "index", message });
    }
    Ok((index, ms))
}

fn search(
    context: &Context,
    metric: &AnyMetric,
    k: usize,
    vectors: &Vectors,
    index: Option<&NeighbourIndex<f64>>,
    options: &Options,
) -> sparring::Result<Search> {
    let (x, y, cpu) = (&vectors.x, vectors.to.as_ref(), &context.cpu);
    let growth = Growth::start(None);
    let (found, ms) = timed(|| {
        let rows = match index {
            Some(index) => index.rows(cpu, x)?,
            None => cpu.neighbours(metric.clone(), x).to(y).options(*options).prepare()?,
        };
        let bytes = rows.nearest_bytes(k);
        state(context, vectors.x.nrows(), bytes);
        Ok::<_, Error>((rows.nearest(k)?, bytes))
    });
    let (near, bytes) = found?;
    Ok(Search { near, bytes, ms, growth: growth.bytes(), sent: None })
}

/// A search by all processes of a job, each with all vectors.
#[cfg(feature = "cluster")]
fn search_on_cluster(
    cluster: &sparring_cluster::Cluster,
    metric: &AnyMetric,
    k: usize,
    vectors: &Vectors,
    options: &Options,
) -> sparring::Result<Search> {
    use sparring::runtime::Comparison;
    let growth = Growth::start(None);
    let (x, y) = (vectors.x.clone().into(), vectors.to.clone().map(Into::into));
    let request = Comparison { measure: std::sync::Arc::new(metric.clone()), x, y, options: *options };
    let (found, ms) = timed(|| cluster.machine().neighbours(&request, k));
    let found = found?;
    let distances = found.distances().get::<f64>().ok_or_else(sparring::runtime::engine::unfit)?.to_vec();
    let mut near = Neighbours::from_parts(request.shape(), found.k(), found.indices().to_vec(), distances)?;
    near.explain = found.explain().into();
    // Every process has the lists of all rows.
    let bytes = near.indices().len() as u64 * 12;
    Ok(Search { near, bytes, ms, growth: growth.bytes(), sent: None })
}

/// Searches twice on the device: the first run compiles its programs or loads them from the cache.
fn search_on(
    context: &Context,
    cuda: &Cuda,
    metric: &AnyMetric,
    k: usize,
    vectors: &Vectors,
    options: &Options,
) -> sparring::Result<Search> {
    let ((x, y), upload_ms) =
        timed_on(cuda, || Ok((cuda.upload(&vectors.x)?, vectors.to.as_ref().map(|y| cuda.upload(y)).transpose()?)))?;
    let growth = Growth::start(Some(cuda));
    let once = || {
        timed_on(cuda, || {
            let rows = cuda.neighbours(metric.clone(), &x).to(y.as_ref()).options(*options).prepare()?;
            let bytes = rows.nearest_bytes(k);
            state(context, vectors.x.nrows(), bytes);
            Ok((rows.nearest(k)?, bytes))
        })
    };
    let (_, first_ms) = once()?;
    let ((near, bytes), ms) = once()?;
    Ok(Search { near, bytes, ms, growth: growth.bytes(), sent: Some((upload_ms, first_ms)) })
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result {
    let (metric_args, k) = (&arguments.metric_args, arguments.k as usize);
    let metric = metric_args.metric()?;
    let picture = Picture::new(context, "--plot", arguments.plot.as_deref())?;
    let output =
        Output::new(context, arguments.output.as_ref(), arguments.writing, &[SPARSE, &[Format::Tsv]].concat())?;
    if context.cuda.is_some() {
        let why = "indexes are built and queried on the processor";
        refuse(&[(arguments.index.is_some(), "--index", why), (arguments.save_index.is_some(), "--save-index", why)])?;
    }
    #[cfg(feature = "cluster")]
    if context.cluster().is_some() {
        let given = [(&arguments.index, "--index"), (&arguments.save_index, "--save-index")];
        if let Some((_, option)) = given.iter().find(|(file, _)| file.is_some()) {
            let why = "an index file holds the rows of a single process".into();
            return Err(Error::Unsupported { what: format!("{option} with --cluster"), why }.into());
        }
    }
    if arguments.save_index.as_deref() == Some(STANDARD) {
        context.give_up_stdout()?;
    }
    let mut vectors = context.read_by_all(arguments.files.load(context, "knn"))?;
    let (exclude_self, memory_budget) = (arguments.exclude_self, context.memory_budget);
    let options = Options { exclude_self, memory_budget, ..metric_args.options() };
    let mut index = None;
    if let Some(file) = &arguments.index {
        let (of_file, read_ms) = load(context, file, &metric, &options)?;
        vectors.read_ms += read_ms;
        vectors.to = Some(of_file.matrix().clone());
        index = Some(of_file);
    }
    if let Some(output) = &output {
        let (n, m) = (vectors.x.nrows(), vectors.y().nrows());
        room::check(output, (n, m), n as u128 * k.min(m - usize::from(exclude_self && m > 0)) as u128)?;
    }
    if let Some(file) = &arguments.save_index {
        context.progress.stage(format!("writing {file}"));
        let options = Options { exclude_self: false, ..options };
        let index = context.cpu.index(metric.clone(), vectors.y(), options)?;
        match &**file {
            STANDARD => to_file(file, None, |out| Ok(index.save_to(out)?))?,
            file => index.save(file)?,
        }
    }
    context.progress.stage_of("searching", vectors.x.nrows(), "rows");
    let here = || match &context.cuda {
        Some(cuda) => search_on(context, cuda, &metric, k, &vectors, &options),
        None => search(context, &metric, k, &vectors, index.as_ref(), &options),
    };
    #[cfg(feature = "cluster")]
    let found = match context.cluster() {
        Some(cluster) => search_on_cluster(cluster, &metric, k, &vectors, &options),
        None => here(),
    };
    #[cfg(not(feature = "cluster"))]
    let found = here();
    let Search { near, bytes, ms: search_ms, growth, sent } = found?;
    let cost = Cost { ms: search_ms, growth, chosen: near.explain.clone() };
    match &output {
        Some(output) if output.kind.format == Format::Tsv => {
            output.write(context, |out| Ok(lines(out, &near)?))?;
        }
        Some(output) => output.save(context, &near.to_csr()?.into())?,
        None => {}
    }
    if let Some(picture) = picture.as_ref().filter(|_| !context.is_silent()) {
        let title = format!("{metric} of the {} nearest", thousands(near.k() as u64));
        let mut histogram = Histogram::new(title, "distance");
        histogram.add(near.distances());
        picture.draw(&histogram)?;
    }
    let sum = sum_of_finite(near.distances());
    let mut json = json!({ "metric": metric.name(), "k": near.k(), "exclude_self": arguments.exclude_self });
    metric_args.insert(&mut json);
    vectors.insert(&mut json);
    cost.insert(context, &mut json);
    for (key, value) in [("search_bytes", json!(bytes)), ("read_ms", ms(vectors.read_ms)), ("sum", json!(sum))] {
        json[key] = value;
    }
    if let Some((upload, first)) = sent {
        (json["upload_ms"], json["first_ms"]) = (ms(upload), ms(first));
    }
    context.result(json, || {
        let sent = sent
            .map_or(String::new(), |(upload, first)| format!(", sent {}, first {}", seconds(upload), seconds(first)));
        format!(
            "{}: {} nearest by {metric}   read {}{sent}, searched {}",
            vectors.text(),
            thousands(near.k() as u64),
            seconds(vectors.read_ms),
            cost.text(vectors.pairs()),
        )
    })
}

/// Writes neighbours as text lines.
fn lines(out: &mut dyn Write, near: &Neighbours<f64>) -> io::Result<()> {
    writeln!(out, "# row\tneighbour\tdistance; rows are counted from 1")?;
    for i in 0..near.nrows() {
        let (columns, distances) = near.row(i);
        for (j, d) in columns.iter().zip(distances) {
            // Debug format: the shortest text that round-trips, with an exponent if that is shorter.
            writeln!(out, "{}\t{}\t{d:?}", i + 1, u64::from(*j) + 1)?;
        }
    }
    Ok(())
}
