//! `sparring info FILE`.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use sparring::Csr;
use sparring::backend::Backend;
use sparring::spgemm::{Compress, Options, Policy, Stats};

use crate::context::Context;
use crate::failure::Result;
use crate::output::{ms, ratio, seconds, shape, thousands};
use crate::plot::{Figures, Picture};
use crate::spy;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Matrix: a file of any format that `sparring help` lists, - for standard input, or gen:NAME
    pub(crate) file: String,
    /// Also analyze the product A·A, or A·Aᵀ if A is not square: multiplications, entries, compression. Takes about
    /// half the time of a product
    #[arg(long)]
    pub(crate) product: bool,
    /// Draw the sparsity pattern
    #[arg(long, value_name = "OUT.png")]
    spy: Option<PathBuf>,
    /// Draw the sparsity pattern with axes, and the distribution of row lengths: FILE.svg, FILE.png, or - for SVG on
    /// standard output
    #[arg(long, value_name = "FILE")]
    plot: Option<String>,
}

/// Numbers of entries per row.
struct Degrees {
    min: usize,
    mean: f64,
    max: usize,
    empty: usize,
}

impl Degrees {
    fn of(a: &Csr<f64>) -> Self {
        let degrees = || a.row_ptr().windows(2).map(|w| w[1] - w[0]);
        Self {
            min: degrees().min().unwrap_or(0),
            mean: a.nnz() as f64 / a.nrows().max(1) as f64,
            max: degrees().max().unwrap_or(0),
            empty: degrees().filter(|&d| d == 0).count(),
        }
    }
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result {
    let picture = Picture::new(context, "--plot", arguments.plot.as_deref())?;
    let (source, read_ms) = context.load(&arguments.file)?;
    let a = &source.matrix;
    if let Some(path) = &arguments.spy {
        context.progress.stage(format!("drawing {}", path.display()));
        spy::draw(a, path)?;
    }
    if let Some(picture) = &picture {
        context.progress.stage("drawing".into());
        picture.draw(&Figures::of(
            format!("{}, {} entries", shape(a.nrows(), a.ncols()), thousands(a.nnz() as u64)),
            a,
        )?)?;
    }
    let degrees = Degrees::of(a);
    let square = a.nrows() == a.ncols();
    let mut json = json!({
        "file": arguments.file, "nrows": a.nrows(), "ncols": a.ncols(), "nnz": a.nnz(), "stored": source.stored,
        "field": source.field, "symmetry": source.symmetry, "layout": source.layout,
        "row_nnz_min": degrees.min, "row_nnz_mean": degrees.mean, "row_nnz_max": degrees.max, "empty_rows": degrees.empty,
    });
    let mut text = format!(
        "shape    {}   {} {} {}\nentries  {}   stored {}   read {}\nrows     min {}, mean {:.2}, max {}, empty {}",
        shape(a.nrows(), a.ncols()),
        source.layout,
        source.field,
        source.symmetry,
        thousands(a.nnz() as u64),
        thousands(source.stored as u64),
        seconds(read_ms),
        thousands(degrees.min as u64),
        degrees.mean,
        thousands(degrees.max as u64),
        thousands(degrees.empty as u64),
    );
    if arguments.product {
        context.progress.stage_of("multiplying patterns", a.nrows(), "rows");
        let stats = product(context, a, square)?;
        for (key, value) in [
            ("product", json!(if square { "A*A" } else { "A*A'" })),
            ("flops", json!(stats.flops)),
            ("row_flops_max", json!(stats.max_row_flops)),
            ("product_row_nnz_max", json!(stats.max_row_nnz)),
            ("product_nnz", json!(stats.nnz)),
            ("cf", json!(stats.cf)),
            ("cmrf", json!(stats.cmrf)),
        ] {
            json[key] = value;
        }
        text += &format!(
            "\n{}   fm {}   maxrf {}   maxrs {}   |C| {}   CF {}   CMRF {}",
            if square { "A·A   " } else { "A·Aᵀ  " },
            thousands(stats.flops),
            thousands(stats.max_row_flops),
            thousands(stats.max_row_nnz as u64),
            thousands(stats.nnz as u64),
            ratio(stats.cf),
            ratio(stats.cmrf),
        );
    }
    (json["read_ms"], json["threads"]) = (ms(read_ms), context.threads().into());
    context.result(json, || text)
}

/// Statistics of A·A, or of A·Aᵀ. Compression is enabled, because CF and CMRF are counted with it.
fn product(context: &Context, a: &Csr<f64>, square: bool) -> sparring::Result<Stats> {
    // This policy counts the rows of the product without storing them.
    let options = Options { policy: Policy::KkSpGemm, compress: Compress::On, ..Options::default() };
    let transposed = if square { None } else { Some(a.transpose(context.cpu.threads())?) };
    let plan = context.cpu.plan(a, transposed.as_ref().unwrap_or(a)).options(&options).eval()?;
    Ok(plan.stats().clone())
}
