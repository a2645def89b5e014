//! `sparring mttkrp FILE --mode N`: the matricized tensor times a Khatri–Rao product, over any semiring.

use clap::Args;
use serde_json::json;
use sparring::algebra::dynamic::{SEMIRINGS, canonical};
use sparring::algebra::{Slice, Type};
use sparring::par::filled;
use sparring::runtime::{Semiring, Sum, Tensor};
use sparring::tensor::{Kruskal, Pcg64};
use sparring::{Dense, Error};

use super::{dims, save};
use crate::context::Context;
use crate::failure::Result;
use crate::formats::{self, Format, SPARSE};
use crate::output::{ms, number, seconds, shape, thousands};
use crate::semiring::warn_outside;
use crate::suggest::suggested;
use crate::timing::{Times, timed};
use crate::write::{Output, Writing};

#[derive(Args)]
pub(crate) struct Arguments {
    /// FROSTT file (.tns, .tns.gz), - for standard input, or gen:NAME
    pub(crate) file: String,
    /// Mode of the result, counted from 0
    #[arg(long, default_value_t = 0, value_name = "N")]
    mode: usize,
    /// Factors, one per mode in order, of which that of --mode is not read: matrix files, with 0 for absent elements;
    /// or a model written by cp as .json or .ktensor
    #[arg(long, value_name = "FILE", num_args = 1.., value_delimiter = ',', conflicts_with_all = ["rank", "seed"])]
    factors: Vec<String>,
    /// Columns of random factors [default: 16]
    #[arg(long, short, value_name = "R", value_parser = clap::value_parser!(u32).range(1..))]
    rank: Option<u32>,
    /// Seed of random factors, NumPy's PCG64: elements in [0, 1), factor after factor [default: 0]
    #[arg(long)]
    seed: Option<u64>,
    /// Semiring on f64: a name from `sparring semirings`, or ⊕ and ⊗ as formulas: "min, a + 2*b"
    #[arg(long, default_value = "plus_times", value_name = "NAME")]
    semiring: String,
    /// Compute N times and report the median
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Write the product, a row per index of the mode: .npy, .csv, .mtx, .npz (SciPy), .svm, also with .gz or .zst, or -
    /// for standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<String>,
    #[command(flatten)]
    writing: Writing,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result {
    let formats: Vec<Format> = [Format::Npy].into_iter().chain(SPARSE.iter().copied()).collect();
    let output = Output::new(context, arguments.output.as_ref(), arguments.writing, &formats)?;
    let ring = Semiring::new(&arguments.semiring, Type::F64);
    let ring = suggested(ring, &arguments.semiring, SEMIRINGS.iter().map(|row| row.name))?;
    let (x, read_ms) = context.load_tensor(&arguments.file)?;
    compute(context, arguments, &x.into(), &ring, read_ms, output.as_ref())
}

/// Factors for a tensor of these extents, from files or random, and the milliseconds of reading them.
fn factors(context: &Context, arguments: &Arguments, dims: &[usize]) -> Result<(Vec<Dense<f64>>, f64)> {
    if let [model] = &arguments.factors[..]
        && formats::kind(model).is_some_and(|kind| matches!(kind.format, Format::Json | Format::Ktensor))
    {
        let (model, ms) = timed(|| save::load(model, context.most_bytes()));
        // The weights are multiplied into the first factor that is read.
        let mut model: Kruskal<f64> = model?;
        model.distribute(usize::from(arguments.mode == 0))?;
        return Ok((model.into_parts().1, ms));
    }
    let (mut factors, mut read_ms) = (vec![], 0.0);
    if arguments.factors.is_empty() {
        let mut random = Pcg64::new(arguments.seed.unwrap_or(0));
        let rank = arguments.rank.unwrap_or(16) as usize;
        for &n in dims {
            let len = n.checked_mul(rank).ok_or(Error::OutOfMemory { what: "factors", bytes: u128::MAX })?;
            let mut values = filled(len, 0.0, "factors")?;
            values.iter_mut().for_each(|x| *x = random.unit());
            factors.push(Dense::new(n, rank, values)?);
        }
        return Ok((factors, 0.0));
    }
    for name in &arguments.factors {
        let (source, ms) = context.load(name)?;
        read_ms += ms;
        factors.push(source.matrix.to_dense(context.quiet.threads(), 0.0)?);
    }
    Ok((factors, read_ms))
}

/// Number of columns of the factors, which must match the tensor.
fn rank_of(factors: &[Dense<f64>], dims: &[usize], mode: usize) -> Result<usize> {
    let rows: Vec<usize> = factors.iter().map(Dense::nrows).collect();
    if rows.len() != dims.len() || (0..dims.len()).any(|m| m != mode && rows[m] != dims[m]) {
        return Err(Error::Dims { op: "mttkrp", lhs: dims.to_vec(), rhs: rows }.into());
    }
    // For a vector, no other factor exists, and its own gives the rank.
    let mut others = factors.iter().enumerate().filter(|(m, _)| *m != mode).map(|(_, f)| f);
    let rank = others.clone().next().or(factors.first()).map_or(0, Dense::ncols);
    match others.find(|f| f.ncols() != rank) {
        Some(f) => Err(Error::Shape { op: "mttkrp", lhs: (f.nrows(), rank), rhs: f.shape() }.into()),
        None => Ok(rank),
    }
}

fn compute(
    context: &Context,
    arguments: &Arguments,
    x: &Tensor,
    ring: &Semiring,
    mut read_ms: f64,
    output: Option<&Output>,
) -> Result {
    let (factors, of_factors) = factors(context, arguments, x.dims())?;
    read_ms += of_factors;
    let mut values: Vec<_> = factors.iter().map(|f| Slice::of(f.values())).collect();
    values.push(x.values());
    warn_outside(context, &arguments.semiring, &values);
    context.progress.stage_of("multiplying", x.dims().get(arguments.mode).copied().unwrap_or(0), "rows");
    let (machine, mode) = (context.machine()?, arguments.mode);
    let (rank, factors) = (rank_of(&factors, x.dims(), mode)?, &values[..factors.len()]);
    let plus_times = canonical(&arguments.semiring) == "plus_times";
    let (mut made, mut times) = (None, Times::default());
    for _ in 0..arguments.repeat {
        drop(made.take());
        let (v, ms) = timed(|| match plus_times {
            true => machine.mttkrp_plan(x, rank, None, Some(mode))?.eval(factors, mode),
            false => machine.mttkrp(ring, x, factors, rank, mode),
        });
        made = Some(v?);
        times.push(ms);
    }
    let Some(v) = made else { unreachable!("repeat is at least 1") };
    let (nrows, ncols) = (x.dims()[mode], rank);
    if let Some(output) = output {
        output.write(context, |out| formats::write_dense(out, output.kind.format, (nrows, ncols), v.slice()))?;
    }
    let sum = Sum::Real(v.slice().get::<f64>().unwrap_or(&[]).iter().sum());
    let json = json!({
        "file": arguments.file, "dims": x.dims(), "nnz": x.nnz(), "mode": arguments.mode, "rank": ncols, "nrows": nrows,
        "ncols": ncols, "type": "f64", "semiring": arguments.semiring, "sum": number(sum), "repeat": arguments.repeat,
        "read_ms": ms(read_ms), "compute_ms": ms(times.median()), "compute_min_ms": ms(times.minimum()),
        "device": context.device.to_string(), "threads": context.threads(),
    });
    context.result(json, || {
        format!(
            "{}   {} entries   mode {}\n{} of f64 over {}   sum {sum}\nread {}, multiplied {}",
            dims(x.dims()),
            thousands(x.nnz() as u64),
            arguments.mode,
            shape(nrows, ncols),
            arguments.semiring,
            seconds(read_ms),
            seconds(times.median()),
        )
    })
}
