//! `sparring cp FILE --rank R`.

use std::ops::ControlFlow;
use std::time::Duration;

use clap::Args;
use serde_json::json;
use sparring::Error;
use sparring::factor::{CpAls, CpFit};
use sparring::gpu::TensorForm;
use sparring::tensor::{AnyTensor, Kruskal};

use super::{plot, save};
use crate::context::{Context, Form};
use crate::device::DeviceArg;
use crate::failure::Result;
use crate::output::{ms, seconds, thousands};
use crate::plot::Picture;
#[cfg(feature = "cluster")]
use crate::timing::timed;
use crate::write::Writing;

#[derive(Args)]
pub(crate) struct Arguments {
    /// FROSTT file (.tns, .tns.gz), - for standard input, or gen:NAME
    pub(crate) file: String,
    /// Number of components
    #[arg(long, short, value_name = "R")]
    rank: usize,
    /// Maximum number of sweeps per start
    #[arg(long, default_value_t = 100, value_name = "N")]
    sweeps: usize,
    /// Stop when the fit changes by less
    #[arg(long, default_value_t = 1e-4, value_name = "T")]
    tol: f64,
    /// Seed of the first start, NumPy's PCG64
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Number of random starts; the best result is kept
    #[arg(long, default_value_t = 1, value_name = "N")]
    starts: usize,
    /// Require nonnegative factors
    #[arg(long)]
    nonneg: bool,
    /// Ridge: penalize the squared norms of the factors by this weight
    #[arg(long, default_value_t = 0.0, value_name = "RHO")]
    ridge: f64,
    /// MTTKRP variant: a, b, c, copies, tree, linear or single; on a GPU copies, c, remapped or parts
    /// [default: automatic]
    #[arg(long, value_name = "NAME")]
    variant: Option<String>,
    /// Continue from a model: a .json written by -o, - for standard input, or a .ktensor of the Tensor Toolbox
    #[arg(long, value_name = "FILE")]
    resume: Option<String>,
    /// Stop after the sweep in which this time limit is exceeded
    #[arg(long, value_name = "SECONDS")]
    time_limit: Option<f64>,
    /// Write weights and factors: FILE.json, FILE.ktensor (Tensor Toolbox), FILE.npz, a folder of tables, or - for
    /// standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<String>,
    /// Draw 1 - fit by sweep, and the columns of the factors: FILE.svg, FILE.png, or - for SVG on standard output
    #[arg(long, value_name = "FILE")]
    plot: Option<String>,
    #[command(flatten)]
    writing: Writing,
    #[command(flatten)]
    pub(crate) place: DeviceArg,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result {
    let output = save::Model::new(context, arguments.output.as_ref(), arguments.writing)?;
    let picture = Picture::new(context, "--plot", arguments.plot.as_deref())?;
    let variant = arguments.variant.as_deref().map(|name| context.variant(name)).transpose()?;
    let guess = arguments.resume.as_deref().map(|file| save::load(file, context.most_bytes())).transpose()?;
    let results = (output.as_ref(), picture.as_ref());
    #[cfg(feature = "cluster")]
    if let Some(cluster) = context.cluster()
        && let Some((path, options)) = context.reading().tensor_by_parts(&arguments.file)
    {
        let (x, read_ms) = timed(|| cluster.read_frostt::<f64>(path, &options));
        let x = x?;
        let run = |als: &CpAls<'_, f64>, _| cluster.cp_als(als, &x);
        return compute(context, arguments, (x.dims(), x.nnz()), &run, (variant, guess), read_ms, results);
    }
    let (x, read_ms) = context.load_tensor(&arguments.file)?;
    let run = |als: &CpAls<'_, f64>, form| match &x {
        AnyTensor::Narrow(x) => context.cp(als, x, form),
        AnyTensor::Wide(x) => context.cp(als, x, form),
    };
    compute(context, arguments, (x.dims(), x.nnz()), &run, (variant, guess), read_ms, results)
}

/// Runs the decomposition.
type Run<'a> = &'a dyn Fn(&CpAls<'_, f64>, Option<TensorForm>) -> sparring::Result<CpFit<f64>>;

fn compute(
    context: &Context,
    arguments: &Arguments,
    (dims, nnz): (&[usize], usize),
    run: Run<'_>,
    (variant, guess): (Option<Form>, Option<Kruskal<f64>>),
    read_ms: f64,
    (output, picture): (Option<&save::Model>, Option<&Picture>),
) -> Result {
    context.progress.stage("preparing the tensor".into());
    let mut als = CpAls::new(arguments.rank)
        .sweeps(arguments.sweeps)
        .tol(arguments.tol)
        .seed(arguments.seed)
        .starts(arguments.starts)
        .nonnegative(arguments.nonneg)
        .ridge(arguments.ridge)
        .on_sweep(|sweep| {
            let start = if arguments.starts > 1 { format!("start {}, ", sweep.start + 1) } else { String::new() };
            let message = format!("{start}sweep {}: fit {:.8}, {:+.1e}", sweep.number, sweep.fit, sweep.change);
            context.progress.stage(message);
            ControlFlow::Continue(())
        });
    if let Some(Form::Variant(variant)) = variant {
        als = als.variant(variant);
    }
    let form = match variant {
        Some(Form::Device(form)) => Some(form),
        _ => None,
    };
    if let Some(model) = guess {
        als = als.guess(model);
    }
    if let Some(limit) = arguments.time_limit {
        let wrong =
            |_| Error::Argument { name: "--time-limit", message: format!("{limit} is not a number of seconds") };
        als = als.time_limit(Duration::try_from_secs_f64(limit).map_err(wrong)?);
    }
    let found = run(&als, form)?;
    if context.is_silent() {
        return Ok(());
    }
    if let Some(output) = output {
        output.save(context, &found.model)?;
    }
    if let Some(picture) = picture {
        picture.draw(&plot::Decomposition(&found))?;
    }
    tell(context, arguments, (dims, nnz), &found, read_ms)
}

fn tell(
    context: &Context,
    arguments: &Arguments,
    (dims, nnz): (&[usize], usize),
    found: &CpFit<f64>,
    read_ms: f64,
) -> Result {
    let time = |t: Duration| t.as_secs_f64() * 1e3;
    let chosen = found.explain.trim_end();
    let json = json!({
        "file": arguments.file, "dims": dims, "nnz": nnz, "rank": arguments.rank, "fit": found.fit,
        "sweeps": found.fits.len(), "converged": found.converged, "start": found.start, "singular": found.singular,
        "weights": found.model.weights(), "fits": found.fits, "read_ms": ms(read_ms), "setup_ms": ms(time(found.setup)),
        "mttkrp_ms": ms(time(found.mttkrp)), "compute_ms": ms(time(found.total)), "threads": context.threads(),
        "device": context.device.to_string(), "chosen": chosen,
    });
    context.result(json, || {
        let weights: Vec<String> = found.model.weights().iter().map(|&w| weight(w)).collect();
        let ended = if found.converged { "converged" } else { "not converged" };
        let singular = if found.singular > 0 { format!("   {} singular systems", found.singular) } else { String::new() };
        let start = if arguments.starts > 1 { format!("   best: start {}", found.start + 1) } else { String::new() };
        format!(
            "{}   {} entries   rank {}\nfit {:.10}   {} sweeps, {ended}{start}{singular}\nweights {}\nread {}, preparation {}, MTTKRP {}, total {}\n{chosen}",
            super::dims(dims),
            thousands(nnz as u64),
            arguments.rank,
            found.fit,
            found.fits.len(),
            weights.join(" "),
            seconds(read_ms),
            seconds(time(found.setup)),
            seconds(time(found.mttkrp)),
            seconds(time(found.total)),
        )
    })
}

/// A weight with eight decimals, in exponent notation if those would all be zero.
fn weight(w: f64) -> String {
    if w == 0.0 || (1e-4..1e9).contains(&w.abs()) { format!("{w:.8}") } else { format!("{w:.8e}") }
}
