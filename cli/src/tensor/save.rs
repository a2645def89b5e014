//! Models in files: `.json` and `.ktensor`, which can be resumed, `.npz` for NumPy, or a folder of tables.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use sparring::algebra::Slice;
use sparring::io::{parse_ktensor, read_bytes, read_bytes_from, write_file, write_ktensor_to, write_npz_arrays_to};
use sparring::tensor::Kruskal;
use sparring::{Error, Result};

use crate::context::Context;
use crate::failure::STDIN;
use crate::formats::{Format, STANDARD, kind};
use crate::write::{Output, Writing};

/// The output of a model.
pub(super) enum Model {
    File(Output),
    Folder(String),
}

impl Model {
    /// Rejects a name without a known format, before anything is computed.
    pub(super) fn new(context: &Context, name: Option<&String>, writing: Writing) -> Result<Option<Self>> {
        let Some(name) = name else { return Ok(None) };
        let path = Path::new(name);
        if name != STANDARD && writing.is_default() && (path.is_dir() || path.extension().is_none()) {
            return Ok(Some(Self::Folder(name.clone())));
        }
        let known = Output::new(context, Some(name), writing, &[Format::Json, Format::Ktensor, Format::Npz]);
        let refused = |e| match e {
            Error::Argument { name: "output", .. } => {
                let message = format!("a model is written as .json, .ktensor, .npz, or into a folder, not as '{name}'");
                Error::Argument { name: "--output", message }
            }
            e => e,
        };
        Ok(known.map_err(refused)?.map(Self::File))
    }

    /// Writes the model.
    pub(super) fn save(&self, context: &Context, model: &Kruskal<f64>) -> Result<()> {
        match self {
            Self::Folder(name) => folder(context, Path::new(name), model),
            Self::File(output) if output.kind.format == Format::Json => output.write(context, |out| {
                // Streamed number by number, without holding the text in memory.
                let mut out = BufWriter::new(out);
                serde_json::to_writer(&mut out, model).map_err(io::Error::from)?;
                writeln!(out)?;
                Ok(out.flush()?)
            }),
            Self::File(output) if output.kind.format == Format::Ktensor => {
                output.write(context, |out| Ok(write_ktensor_to(out, model)?))
            }
            Self::File(output) => {
                let shapes: Vec<_> = model.factors().iter().map(|factor| <[usize; 2]>::from(factor.shape())).collect();
                let names: Vec<_> = (0..shapes.len()).map(|mode| format!("factor{mode}")).collect();
                let rank = [model.rank()];
                let mut list = vec![("weights", &rank[..], Slice::of(model.weights()))];
                for ((name, shape), factor) in names.iter().zip(&shapes).zip(model.factors()) {
                    list.push((name, shape, Slice::of(factor.values())));
                }
                output.write(context, |out| Ok(write_npz_arrays_to(out, &list)?))
            }
        }
    }
}

/// Tables, a file for the weights and each factor.
fn folder(context: &Context, folder: &Path, model: &Kruskal<f64>) -> Result<()> {
    let io = |path: &Path, source: io::Error| Error::Io { path: path.display().to_string(), source };
    context.progress.stage(format!("writing {}", folder.display()));
    std::fs::create_dir_all(folder).map_err(|e| io(folder, e))?;
    let table = |file: String, values: &[f64], columns: usize| {
        let path = folder.join(file);
        let written = write_file(&path, |out| {
            let mut out = BufWriter::new(out);
            for row in values.chunks(columns.max(1)) {
                for (k, x) in row.iter().enumerate() {
                    write!(out, "{}{x}", if k == 0 { "" } else { "," })?;
                }
                writeln!(out)?;
            }
            out.flush()
        });
        written.map_err(|e| io(&path, e))
    };
    table("weights.csv".into(), model.weights(), model.rank())?;
    for (mode, factor) in model.factors().iter().enumerate() {
        table(format!("factor{mode}.csv"), factor.values(), factor.ncols())?;
    }
    Ok(())
}

/// A model from `.json` or `.ktensor`, or as JSON from standard input; at most `most` bytes, decompressed.
pub(super) fn load(name: &str, most: u64) -> Result<Kruskal<f64>> {
    let file = if name == STANDARD { STDIN } else { name };
    let bytes = match name {
        STANDARD => read_bytes_from(&mut io::stdin().lock(), file, most),
        name => read_bytes(name, most),
    }?;
    if kind(name).is_some_and(|kind| kind.format == Format::Ktensor) {
        return parse_ktensor(&bytes, name);
    }
    serde_json::from_slice(&bytes).map_err(|e| Error::Parse {
        file: file.to_owned(),
        line: e.line() as u64,
        column: e.column() as u64,
        message: e.to_string(),
    })
}
