//! `sparring mxm A [B]`.

mod gpu;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use sparring::Csr;
use sparring::backend::Backend;
use sparring::spgemm::{self, Options};
use sparring_named::Scalar;

use crate::context::Context;
use crate::device::refuse;
use crate::failure::Result;
use crate::output::{ms, seconds, shape, thousands};
use crate::timing::{Times, timed};
use crate::{semiring, write};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Left matrix: a Matrix Market file, or gen:NAME
    a: String,
    /// Right matrix [default: the left one]
    b: Option<String>,
    /// Semiring, one that `sparring semirings` lists
    #[arg(long, default_value = "plus_times", value_name = "NAME")]
    semiring: String,
    #[command(flatten)]
    how: How,
    /// Multiply N times and report medians
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Write the product to this Matrix Market file
    #[arg(short, long, value_name = "OUT.mtx")]
    output: Option<String>,
}

/// The options of a product.
#[derive(Args)]
pub(crate) struct How {
    /// Whose rules choose the algorithm
    #[arg(long, value_enum, default_value_t)]
    policy: Policy,
    /// What gathers the products of a row: linked lists, linear probing, or one slot a column
    #[arg(long, value_enum, default_value_t)]
    accumulator: Accumulator,
    /// Whether the symbolic phase reads the right matrix with its columns packed in words
    #[arg(long, value_enum, default_value_t)]
    compress: Compress,
    /// Allow rows of the product in any order
    #[arg(long)]
    unsorted: bool,
}

/// An option of the library as one of the command line: the same variants.
macro_rules! option {
    ($name:ident { $($(#[$attribute:meta])* $variant:ident => $theirs:ident,)* }) => {
        #[derive(Clone, Copy, Default, PartialEq, ValueEnum)]
        enum $name { $($(#[$attribute])* $variant,)* }
        impl From<$name> for spgemm::$name {
            fn from(x: $name) -> Self {
                match x { $($name::$variant => Self::$theirs,)* }
            }
        }
    };
}
option! { Policy { #[default] Auto => Auto, #[value(name = "kkspgemm")] KkSpGemm => KkSpGemm, } }
option! { Accumulator { #[default] Auto => Auto, Ll => LinkedList, Lp => LinearProbe, Dense => Dense, } }
option! { Compress { #[default] Auto => Auto, On => On, Off => Off, } }

impl Arguments {
    /// Refuses what a GPU does not have.
    pub(crate) fn take_gpu(&self) -> sparring::Result<()> {
        let How { policy, accumulator, compress, .. } = &self.how;
        let ours = *policy == Policy::Auto && *accumulator == Accumulator::Auto;
        let columns = "its default policy reads columns; ask for --policy kkspgemm";
        refuse(&[
            (
                *accumulator == Accumulator::Dense,
                "--accumulator dense",
                "it would take a slot a column for every row at a time",
            ),
            (ours && *compress == Compress::On, "--compress", columns),
        ])
    }
}

impl How {
    fn options(&self) -> Options {
        Options {
            policy: self.policy.into(),
            accumulator: self.accumulator.into(),
            compress: self.compress.into(),
            unsorted: self.unsorted,
            ..Options::default()
        }
    }
}

/// What is said of a product.
struct Product {
    shape: (usize, usize),
    nnz: usize,
    flops: u64,
    sum: f64,
    chosen: String,
    symbolic: Times,
    numeric: Times,
    reuse: Times,
    /// What there is to say of a GPU.
    gpu: Option<gpu::Figures>,
}

/// The product over the semiring asked for; `reuse` measures the numeric phase into the same matrix too.
fn multiply(
    context: &Context,
    arguments: &Arguments,
    a: &Csr<f64>,
    b: &Csr<f64>,
    reuse: bool,
) -> sparring::Result<Product> {
    let (cpu, options, name) = (&context.cpu, arguments.how.options(), &arguments.semiring);
    let (mut symbolic, mut numeric, mut again) = (Times::default(), Times::default(), Times::default());
    let mut made = None;
    for _ in 0..arguments.repeat {
        // The memory of the last round is given back first, or the peak would be two products.
        drop(made.take());
        let (plan, ms) = timed(|| cpu.plan(a, b).options(&options).eval());
        symbolic.push(ms);
        let plan = plan?;
        let (c, ms) = timed(|| f64::numeric(cpu, &plan, name, a, b));
        numeric.push(ms);
        made = Some((plan, c?));
    }
    let Some((plan, mut c)) = made else { unreachable!("repeat is at least 1") };
    for _ in 0..if reuse { arguments.repeat } else { 0 } {
        let (done, ms) = timed(|| f64::numeric_into(cpu, &plan, name, a, b, c.as_any_mut()));
        done?;
        again.push(ms);
    }
    if let Some(path) = &arguments.output {
        context.progress.stage(format!("writing {path}"));
        write::save(path, &c.to_f64()?)?;
    }
    Ok(Product {
        shape: c.shape(),
        nnz: c.nnz(),
        flops: plan.flops(),
        sum: c.sum(),
        chosen: plan.explain(),
        symbolic,
        numeric,
        reuse: again,
        gpu: None,
    })
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result {
    semiring::check(&arguments.semiring)?;
    let (a, mut read_ms) = context.load(&arguments.a)?;
    let b = match &arguments.b {
        Some(file) => {
            let (b, ms) = context.load(file)?;
            read_ms += ms;
            Some(b.matrix)
        }
        None => None,
    };
    let (a, b) = (&a.matrix, b.as_ref().unwrap_or(&a.matrix));
    context.progress.stage("multiplying".into());
    let reuse = context.is_json() || arguments.repeat > 1;
    let found = match &context.cuda {
        Some(cuda) => gpu::multiply(context, cuda, arguments, a, b, reuse)?,
        None => multiply(context, arguments, a, b, reuse)?,
    };
    context.result(json(context, arguments, &found, read_ms), || text(arguments, &found, reuse))
}

fn json(context: &Context, arguments: &Arguments, found: &Product, read_ms: f64) -> Value {
    let mut json = json!({
        "nrows": found.shape.0, "ncols": found.shape.1, "nnz": found.nnz, "flops": found.flops,
        "symbolic_ms": ms(found.symbolic.median()), "numeric_ms": ms(found.numeric.median()),
        "reuse_ms": ms(found.reuse.median()), "sum": found.sum, "chosen": found.chosen,
        "semiring": arguments.semiring, "repeat": arguments.repeat, "read_ms": ms(read_ms),
        "device": context.device.to_string(),
    });
    match &found.gpu {
        Some(figures) => figures.insert(&mut json),
        None => json["threads"] = context.threads().into(),
    }
    json
}

fn text(arguments: &Arguments, found: &Product, reuse: bool) -> String {
    let again = if reuse { format!(", again {}", seconds(found.reuse.median())) } else { String::new() };
    let (before, after) = found.gpu.as_ref().map(gpu::Figures::text).unwrap_or_default();
    format!(
        "{}, {} entries from {} products over {}\n{before}symbolic {}, numeric {}{again}   sum {}{after}\nchosen: {}",
        shape(found.shape.0, found.shape.1),
        thousands(found.nnz as u64),
        thousands(found.flops),
        arguments.semiring,
        seconds(found.symbolic.median()),
        seconds(found.numeric.median()),
        found.sum,
        found.chosen
    )
}
