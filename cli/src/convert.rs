//! `sparring convert IN OUT` and `sparring transpose IN OUT`: from one file format to another.

use clap::Args;
use serde_json::json;
use sparring::algebra::Type;

use crate::context::Context;
use crate::failure::Result;
use crate::formats::SPARSE;
use crate::output::{ms, seconds, shape, thousands};
use crate::timing::timed;
use crate::write::{Output, Writing};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Matrix to read: .mtx, .npz (SciPy), .npy, .csv, .svm, an edge list, .gr, .graph, also with .gz or .zst, - for
    /// standard input, or gen:NAME
    pub(crate) input: String,
    /// File to write, its format given by its name: .mtx, .npz (SciPy), .npy, .csv, .svm, also with .gz or .zst, or - for
    /// standard output
    output: String,
    /// Convert the values to this type; values that it cannot represent are an error [default: the type of the file]
    #[arg(long = "type", value_name = "TYPE")]
    values: Option<Type>,
    /// Convert unrepresentable values too: integers wrap, floats saturate, NaN becomes 0
    #[arg(long, requires = "values")]
    wrapping: bool,
    #[command(flatten)]
    writing: Writing,
}

pub(crate) fn run(context: &Context, arguments: &Arguments, transpose: bool) -> Result {
    let Some(output) = Output::new(context, Some(&arguments.output), arguments.writing, SPARSE)? else { return Ok(()) };
    let (mut a, read_ms) = context.load_any(&arguments.input, arguments.values.filter(|_| !arguments.wrapping))?;
    if let Some(ty) = arguments.values {
        a = a.wrapping_cast(ty)?;
    }
    if transpose {
        a = context.transposed(&a)?;
    }
    let (written, write_ms) = timed(|| output.save(context, &a));
    written?;
    let ((nrows, ncols), nnz, ty) = (a.shape(), a.nnz(), a.ty());
    let json = json!({
        "nrows": nrows, "ncols": ncols, "nnz": nnz, "type": ty.name(), "read_ms": ms(read_ms), "write_ms": ms(write_ms),
    });
    context.result(json, || {
        let (read, written) = (seconds(read_ms), seconds(write_ms));
        format!("{}, {} entries of {ty}   read {read}, written {written}", shape(nrows, ncols), thousands(nnz as u64))
    })
}
