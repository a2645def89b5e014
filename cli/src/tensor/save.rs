//! Models in files: `.json` that can be gone on from, `.npz` for NumPy, or a folder of tables.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use sparring::algebra::Slice;
use sparring::io::{write_file, write_npz_arrays_to};
use sparring::tensor::Kruskal;
use sparring::{Error, Result};

use crate::formats::to_file;

/// Refuses a name that says no format, before anything is computed.
pub(super) fn check(name: &str) -> Result<()> {
    let path = Path::new(name);
    match path.extension().and_then(|e| e.to_str()) {
        Some("json" | "npz") | None => Ok(()),
        Some(_) if path.is_dir() => Ok(()),
        Some(other) => {
            let message = format!("a model is written as .json, .npz, or into a folder, not as .{other}");
            Err(Error::Argument { name: "--output", message })
        }
    }
}

/// Writes the model.
pub(super) fn save(name: &str, model: &Kruskal<f64>) -> Result<()> {
    let io = |path: &Path, source: io::Error| Error::Io { path: path.display().to_string(), source };
    if name.ends_with(".json") {
        let text = serde_json::to_string(model).map_err(|e| io(Path::new(name), io::Error::other(e)))?;
        return write_file(name, |out| out.write_all(text.as_bytes())).map_err(|e| io(Path::new(name), e));
    }
    if name.ends_with(".npz") {
        let shapes: Vec<_> = model.factors().iter().map(|factor| <[usize; 2]>::from(factor.shape())).collect();
        let names: Vec<_> = (0..shapes.len()).map(|mode| format!("factor{mode}")).collect();
        let rank = [model.rank()];
        let mut list = vec![("weights", &rank[..], Slice::of(model.weights()))];
        for ((name, shape), factor) in names.iter().zip(&shapes).zip(model.factors()) {
            list.push((name, shape, Slice::of(factor.values())));
        }
        return to_file(name, false, |out| Ok(write_npz_arrays_to(out, &list)?));
    }
    let folder = Path::new(name);
    std::fs::create_dir_all(folder).map_err(|e| io(folder, e))?;
    let table = |file: String, values: &[f64], columns: usize| {
        let mut text = String::new();
        for row in values.chunks(columns.max(1)) {
            let row: Vec<String> = row.iter().map(f64::to_string).collect();
            // Text takes what is written to it.
            let _ = writeln!(text, "{}", row.join(","));
        }
        let path = folder.join(file);
        write_file(&path, |out| out.write_all(text.as_bytes())).map_err(|e| io(&path, e))
    };
    table("weights.csv".into(), model.weights(), model.rank())?;
    for (mode, factor) in model.factors().iter().enumerate() {
        table(format!("factor{mode}.csv"), factor.values(), factor.ncols())?;
    }
    Ok(())
}

/// A model that was saved as `.json`.
pub(super) fn load(name: &str) -> Result<Kruskal<f64>> {
    let text = std::fs::read_to_string(name).map_err(|source| Error::Io { path: name.to_owned(), source })?;
    serde_json::from_str(&text).map_err(|e| Error::Parse {
        file: name.to_owned(),
        line: e.line() as u64,
        column: e.column() as u64,
        message: e.to_string(),
    })
}
