//! `sparring triangles FILE`.

use clap::{Args, ValueEnum};
use serde_json::json;
use sparring::graph::{self, TriangleMethod};
use sparring::runtime::Matrix;
use sparring::{Csr, Cuda};

use crate::context::Context;
use crate::device::{DeviceArg, refuse, timed_on};
use crate::failure::Result;
use crate::formats::SPARSE;
use crate::output::{ms, seconds, thousands};
use crate::timing::timed;
use crate::write::{Output, Writing};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Matrix Market file, or gen:NAME
    pub(crate) file: String,
    /// Counting method
    #[arg(long, value_enum, default_value_t)]
    method: Method,
    /// Count the triangles of each vertex, or of each edge
    #[arg(long, value_enum, conflicts_with = "method")]
    per: Option<Per>,
    /// Write these counts: a column with a row per vertex, or a symmetric matrix; the format follows the name: .mtx,
    /// .npz (SciPy), .npy, .csv, .svm, also with .gz or .zst, or - for standard output
    #[arg(short, long, value_name = "FILE", requires = "per")]
    output: Option<String>,
    #[command(flatten)]
    writing: Writing,
    #[command(flatten)]
    pub(crate) place: DeviceArg,
}

/// The unit of the counts.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Per {
    /// Triangles of each vertex
    Vertex,
    /// Triangles of each edge
    Edge,
}

#[derive(Clone, Copy, Default, PartialEq, ValueEnum)]
pub(crate) enum Method {
    /// Chosen by the graph
    #[default]
    Auto,
    /// Masked product over plus-pair, rows ordered by degree
    Masked,
    /// Intersection of bit-compressed rows, word by word
    Compressed,
    /// Intersection of uncompressed rows
    Direct,
}

impl From<Method> for TriangleMethod {
    fn from(method: Method) -> Self {
        match method {
            Method::Auto => Self::Auto,
            Method::Masked => Self::Masked,
            Method::Compressed => Self::Compressed,
            Method::Direct => Self::Direct,
        }
    }
}

impl Arguments {
    /// Rejects options that do not apply to a GPU.
    pub(crate) fn take_gpu(&self) -> sparring::Result<()> {
        refuse(&[
            (self.method != Method::Auto, "--method", "it has one method"),
            (self.per.is_some(), "--per", "it counts only the total"),
        ])
    }
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result {
    if let Some(per) = arguments.per {
        return each(context, arguments, per);
    }
    let (source, read_ms) = context.load(&arguments.file)?;
    context.progress.stage_of("counting triangles", source.matrix.nrows(), "vertices");
    if let Some(cuda) = &context.cuda {
        return on_gpu(context, cuda, arguments, &source.matrix, read_ms);
    }
    let (found, count_ms) = timed(|| graph::triangles(&context.cpu, &source.matrix, arguments.method.into()));
    let found = found?;
    let json = json!({
        "triangles": found.count, "read_ms": ms(read_ms), "compute_ms": ms(count_ms), "method": found.method,
        "file": arguments.file, "nrows": source.matrix.nrows(), "nnz": source.matrix.nnz(), "threads": context.threads(),
        "device": context.device.to_string(),
    });
    context.result(json, || {
        let (read, counted) = (seconds(read_ms), seconds(count_ms));
        format!("{}   read {read}, counted {counted}   method: {}", triangles(found.count), found.method)
    })
}

/// Triangle counting on all processes of a job.
#[cfg(feature = "cluster")]
pub(crate) fn on_cluster(context: &Context, cluster: &sparring_cluster::Cluster, arguments: &Arguments) -> Result {
    arguments.take_gpu()?;
    let (a, read_ms) = crate::cluster::load(context, cluster, &arguments.file, None)?;
    let (found, count_ms) = timed(|| cluster.machine().triangles(&a, Default::default()));
    let found = found?;
    let json = json!({
        "triangles": found.count, "read_ms": ms(read_ms), "compute_ms": ms(count_ms), "method": found.method,
        "file": arguments.file, "nrows": a.shape().0, "nnz": a.nnz(), "threads": context.threads(), "device": context.device.to_string(),
    });
    context.result(json, || {
        let (read, counted) = (seconds(read_ms), seconds(count_ms));
        format!("{}   read {read}, counted {counted}   method: {}", triangles(found.count), found.method)
    })
}

/// Counts per vertex or edge, written to a file if one is named.
fn each(context: &Context, arguments: &Arguments, per: Per) -> Result {
    let output = Output::new(context, arguments.output.as_ref(), arguments.writing, SPARSE)?;
    let (source, read_ms) = context.load(&arguments.file)?;
    let a = source.matrix;
    context.progress.stage_of("counting triangles", a.nrows(), "vertices");
    // A triangle has three vertices, and three edges stored in both directions.
    let (name, times, (counts, count_ms)) = match per {
        Per::Vertex => ("vertex", 3, timed(|| column(graph::triangles_per_vertex(&context.cpu, &a)?))),
        Per::Edge => ("edge", 6, timed(|| graph::triangles_per_edge(&context.cpu, &a))),
    };
    let counts = counts?;
    let most = counts.values().iter().copied().max().unwrap_or(0);
    let found = counts.values().iter().sum::<u64>() / times;
    if let Some(output) = output {
        output.save(context, &Matrix::from(counts))?;
    }
    let json = json!({
        "triangles": found, "per": name, "most": most, "read_ms": ms(read_ms), "compute_ms": ms(count_ms),
        "file": arguments.file, "nrows": a.nrows(), "nnz": a.nnz(), "threads": context.threads(),
        "device": context.device.to_string(),
    });
    context.result(json, || {
        let (read, counted) = (seconds(read_ms), seconds(count_ms));
        format!("{}, at most {} per {name}   read {read}, counted {counted}", triangles(found), thousands(most))
    })
}

/// Counts as a column.
fn column(counts: Vec<u64>) -> sparring::Result<Csr<u64>> {
    let n = counts.len();
    let mut row_ptr = sparring::par::filled(n + 1, 0, "row pointers")?;
    row_ptr.iter_mut().enumerate().for_each(|(i, place)| *place = i);
    Csr::new(n, 1, row_ptr, sparring::par::filled(n, 0, "column indices")?, counts)
}

fn triangles(count: u64) -> String {
    format!("{} {}", thousands(count), if count == 1 { "triangle" } else { "triangles" })
}

/// Counts twice on the device: the first run compiles its programs or loads them from the cache.
fn on_gpu(context: &Context, cuda: &Cuda, arguments: &Arguments, a: &Csr<f64>, read_ms: f64) -> Result {
    cuda.reset_peak_memory()?;
    let (pattern, upload_ms) = timed_on(cuda, || cuda.upload_pattern(a.pattern()))?;
    let count = || timed_on(cuda, || graph::triangles(cuda, &pattern, TriangleMethod::Auto));
    let (_, first_ms) = count()?;
    let (found, count_ms) = count()?;
    let peak = cuda.peak_memory()?;
    let json = json!({
        "triangles": found.count, "read_ms": ms(read_ms), "upload_ms": ms(upload_ms), "first_ms": ms(first_ms),
        "compute_ms": ms(count_ms), "method": found.method, "file": arguments.file, "nrows": a.nrows(), "nnz": a.nnz(),
        "device": context.device.to_string(), "device_name": cuda.limits().name, "device_peak_bytes": peak,
    });
    context.result(json, || {
        format!(
            "{}   read {}, sent {}, first {}, counted {}   device memory {} bytes   method: {}",
            triangles(found.count),
            seconds(read_ms),
            seconds(upload_ms),
            seconds(first_ms),
            seconds(count_ms),
            thousands(peak),
            found.method
        )
    })
}
