//! `sparring triangles FILE`.

use clap::{Args, ValueEnum};
use serde_json::json;
use sparring::graph::{self, TriangleMethod};

use crate::context::Context;
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
}

#[derive(Clone, Copy, Default, ValueEnum)]
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

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result {
    let (source, read_ms) = context.load(&arguments.file)?;
    context.progress.stage("counting triangles".into());
    let (found, count_ms) = timed(|| graph::triangles(&context.cpu, &source.matrix, arguments.method.into()));
    let found = found?;
    let json = json!({
        "triangles": found.count, "read_ms": ms(read_ms), "count_ms": ms(count_ms), "method": found.method,
        "file": arguments.file, "n": source.matrix.nrows(), "nnz": source.matrix.nnz(), "threads": context.threads(),
    });
    context.result(json, || {
        let count = thousands(found.count);
        let noun = if found.count == 1 { "triangle" } else { "triangles" };
        format!("{count} {noun}   read {}, counted {}   method: {}", seconds(read_ms), seconds(count_ms), found.method)
    })
}
