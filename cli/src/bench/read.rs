//! `sparring bench read`: from a Matrix Market file to CSR of f64.

use serde_json::json;
use sparring::Csr;
use sparring::Error;
use sparring::io::{ReadOptions, read_matrix_market_with};

use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::output::{ms, thousands};
use crate::timing::{Times, timed};

pub(super) fn heading() -> String {
    format!("{:28} {:>12} {:>12} {:>10} {:>10} {:>8}", "file", "entries", "bytes", "median ms", "minimum", "MB/s")
}

/// Reads the file `name`, which is in the page cache after the warm-up run.
pub(super) fn run(context: &Context, name: &str, repeat: u32) -> Result {
    let about = std::fs::metadata(name).map_err(|source| Error::Io { path: name.into(), source })?;
    context.progress.stage(format!("reading {name}"));
    let threads = context.quiet.threads();
    let read = || -> sparring::Result<Csr<f64>> {
        threads.install(|| read_matrix_market_with(name, &ReadOptions::new())?.csr())
    };
    let a = read()?;
    let ((nrows, ncols), nnz, sum) = (a.shape(), a.nnz(), a.values().iter().sum::<f64>());
    drop(a);
    let mut times = Times::default();
    for _ in 0..repeat {
        let (again, ms) = timed(read);
        let found = again?.nnz();
        if found != nnz {
            return Err(Failure::Wrong(format!("{name}: {nnz} entries, then {found}")));
        }
        times.push(ms);
    }
    let speed = about.len() as f64 / times.minimum() / 1e3;
    let json = json!({
        "op": "read", "case": name, "device": "cpu", "nrows": nrows, "ncols": ncols, "nnz": nnz, "sum": sum, "bytes": about.len(),
        "threads": context.threads(), "compute_ms": ms(times.median()), "compute_min_ms": ms(times.minimum()), "mb_s": speed,
    });
    context.result(json, || {
        let short = std::path::Path::new(name).file_name().map_or(name.into(), |n| n.to_string_lossy());
        let (median, minimum) = (times.median(), times.minimum());
        let (entries, bytes) = (thousands(nnz as u64), thousands(about.len()));
        format!("{short:28} {entries:>12} {bytes:>12} {median:>10.3} {minimum:>10.3} {speed:>8.0}")
    })
}
