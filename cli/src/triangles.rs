//! `sparring triangles FILE`.

use clap::{Args, ValueEnum};
use serde_json::json;
use sparring::graph::{self, TriangleMethod};
use sparring::{Csr, Cuda};

use crate::context::Context;
use crate::device::{Where, refuse, timed_on};
use crate::failure::Result;
use crate::output::{ms, seconds, thousands};
use crate::timing::timed;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Matrix Market file, or gen:NAME
    file: String,
    /// How to count
    #[arg(long, value_enum, default_value_t)]
    method: Method,
    #[command(flatten)]
    pub(crate) place: Where,
}

#[derive(Clone, Copy, Default, PartialEq, ValueEnum)]
pub(crate) enum Method {
    /// Chosen from the graph
    #[default]
    Auto,
    /// Masked product over plus-pair, rows ordered by degree
    Masked,
    /// Compressed rows, intersected word by word
    Compressed,
}

impl From<Method> for TriangleMethod {
    fn from(method: Method) -> Self {
        match method {
            Method::Auto => Self::Auto,
            Method::Masked => Self::Masked,
            Method::Compressed => Self::Compressed,
        }
    }
}

impl Arguments {
    /// Refuses what a GPU does not have.
    pub(crate) fn take_gpu(&self) -> sparring::Result<()> {
        refuse(&[(self.method != Method::Auto, "--method", "it has one method")])
    }
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result {
    let (source, read_ms) = context.load(&arguments.file)?;
    context.progress.stage("counting triangles".into());
    if let Some(cuda) = &context.cuda {
        return on_gpu(context, cuda, arguments, &source.matrix, read_ms);
    }
    let (found, count_ms) = timed(|| graph::triangles(&context.cpu, &source.matrix, arguments.method.into()));
    let found = found?;
    let json = json!({
        "triangles": found.count, "read_ms": ms(read_ms), "count_ms": ms(count_ms), "method": found.method,
        "file": arguments.file, "n": source.matrix.nrows(), "nnz": source.matrix.nnz(), "threads": context.threads(),
        "device": context.device.to_string(),
    });
    context.result(json, || {
        let (read, counted) = (seconds(read_ms), seconds(count_ms));
        format!("{}   read {read}, counted {counted}   method: {}", triangles(found.count), found.method)
    })
}

fn triangles(count: u64) -> String {
    format!("{} {}", thousands(count), if count == 1 { "triangle" } else { "triangles" })
}

/// Counted twice on the device, once its programs are compiled or found in their folder.
fn on_gpu(context: &Context, cuda: &Cuda, arguments: &Arguments, a: &Csr<f64>, read_ms: f64) -> Result {
    cuda.reset_peak_memory()?;
    let (pattern, upload_ms) = timed_on(cuda, || cuda.upload_pattern(a.pattern()))?;
    let count = || timed_on(cuda, || graph::triangles(cuda, &pattern, TriangleMethod::Auto));
    let (_, first_ms) = count()?;
    let (found, count_ms) = count()?;
    let peak = cuda.peak_memory()?;
    let json = json!({
        "triangles": found.count, "read_ms": ms(read_ms), "upload_ms": ms(upload_ms), "first_ms": ms(first_ms),
        "count_ms": ms(count_ms), "method": found.method, "file": arguments.file, "n": a.nrows(), "nnz": a.nnz(),
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
