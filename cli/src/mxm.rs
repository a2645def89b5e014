//! `sparring mxm A [B]`.

mod gpu;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use sparring::Error;
use sparring::algebra::Type;
use sparring::algebra::dynamic::SEMIRINGS;
use sparring::runtime::{Matrix, Plan, Semiring, Sum};
use sparring::spgemm::{self, Options};

use crate::context::Context;
use crate::device::{Where, refuse};
use crate::failure::Result;
use crate::formats::SPARSE;
use crate::near::suggested;
use crate::output::{ms, number, seconds, shape, thousands};
use crate::timing::Times;
use crate::write::Output;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Left matrix: a Matrix Market file, or gen:NAME
    a: String,
    /// Right matrix [default: the left one]
    b: Option<String>,
    /// Semiring: a name that `sparring semirings` lists, or ⊕ and ⊗ as formulas: "min, a + 2*b"
    #[arg(long, default_value = "plus_times", value_name = "NAME")]
    semiring: String,
    /// Type of the values, to which both matrices are converted [default: that of the files: integers are i64, patterns bool]
    #[arg(long = "type", value_name = "TYPE")]
    values: Option<Type>,
    #[command(flatten)]
    how: How,
    /// Multiply N times and report medians
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Multiply by Aᵀ from the left
    #[arg(long)]
    transpose_a: bool,
    /// Multiply by Bᵀ from the right; without B by Aᵀ
    #[arg(long)]
    transpose_b: bool,
    /// Compute the product only where this matrix has entries, whatever their values
    #[arg(long, value_name = "FILE")]
    mask: Option<String>,
    /// Compute it only where the mask has none
    #[arg(long, requires = "mask")]
    complement: bool,
    /// Write the product to this file: .mtx, .npz (SciPy), .npy, .csv, .svm, .gz behind them, or - for standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<String>,
    #[command(flatten)]
    pub(crate) place: Where,
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

/// What is multiplied, and where.
struct Operands<'a> {
    a: &'a Matrix,
    b: &'a Matrix,
    mask: Option<&'a Matrix>,
}

/// What is said of a product.
struct Product {
    shape: (usize, usize),
    nnz: usize,
    ty: Type,
    flops: u64,
    sum: Sum,
    chosen: String,
    symbolic: Times,
    numeric: Times,
    reuse: Times,
    /// What there is to say of a GPU.
    gpu: Option<gpu::Figures>,
}

/// The product over the semiring; `reuse` measures the numeric phase into the same matrix too.
fn multiply(
    context: &Context,
    arguments: &Arguments,
    ring: &Semiring,
    Operands { a, b, mask }: Operands<'_>,
    output: Option<&Output>,
    reuse: bool,
) -> sparring::Result<Product> {
    let (machine, options) = (context.machine()?, arguments.how.options());
    let sent = gpu::send(context, &machine, (a, b))?;
    let (a, b) = sent.as_ref().map_or((a, b), |sent| (&sent.a, &sent.b));
    let mask = mask.map(|mask| (mask, arguments.complement));
    let plan = || context.timed(|| machine.plan_masked(a, b, mask, &options));
    let numeric = |plan: &Plan| context.timed(|| machine.numeric(plan, ring, a, b));
    let first = match &sent {
        Some(_) => {
            let once = || machine.numeric(&machine.plan_masked(a, b, mask, &options)?, ring, a, b);
            Some(context.timed(once)?.1)
        }
        None => None,
    };
    let (mut symbolic, mut numerics, mut again) = (Times::default(), Times::default(), Times::default());
    let mut made = None;
    for _ in 0..arguments.repeat {
        // The memory of the last round is given back first, or the peak would be two products.
        drop(made.take());
        let (plan, ms) = plan()?;
        symbolic.push(ms);
        let (c, ms) = numeric(&plan)?;
        numerics.push(ms);
        made = Some((plan, c));
    }
    let Some((plan, mut c)) = made else { unreachable!("repeat is at least 1") };
    for _ in 0..if reuse { arguments.repeat } else { 0 } {
        let ((), ms) = context.timed(|| machine.numeric_into(&plan, ring, a, b, &mut c))?;
        again.push(ms);
    }
    let gpu = match sent {
        Some(sent) => Some(sent.figures(context, first, output.is_some(), || c.download())?),
        None => None,
    };
    let (figures, host) = gpu.map_or((None, None), |(figures, host)| (Some(figures), host));
    let result = host.as_ref().unwrap_or(&c);
    if let Some(output) = output {
        output.save(context, result)?;
    }
    Ok(Product {
        shape: plan.shape(),
        nnz: plan.nnz(),
        ty: c.ty(),
        flops: plan.flops(),
        sum: machine.sum(result)?,
        chosen: plan.explain(),
        symbolic,
        numeric: numerics,
        reuse: again,
        gpu: figures,
    })
}

/// The type that holds the values of both: the wider of the two kinds, in the order of truth values, integers, reals, complex
/// numbers. Where that could lose digits the user is to say.
fn common(a: Type, b: Type) -> sparring::Result<Type> {
    let rank = |t: Type| match t {
        Type::Bool => 0,
        Type::F32 | Type::F64 => 2,
        Type::ComplexF32 | Type::ComplexF64 => 3,
        _ => 1,
    };
    if a == b || rank(a) != rank(b) {
        return Ok(if rank(a) >= rank(b) { a } else { b });
    }
    let message = format!("the left matrix has {a}, the right one {b}; say --type");
    Err(Error::Argument { name: "type", message })
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result {
    let output = Output::new(context, arguments.output.as_ref(), SPARSE)?;
    let (a, mut read_ms) = context.load_any(&arguments.a)?;
    let b = match &arguments.b {
        Some(file) => {
            let (b, ms) = context.load_any(file)?;
            read_ms += ms;
            b
        }
        None => a.clone(),
    };
    let ty = match arguments.values {
        Some(ty) => ty,
        None => common(a.ty(), b.ty())?,
    };
    let mask = match &arguments.mask {
        Some(file) => {
            let (mask, ms) = context.load_any(file)?;
            read_ms += ms;
            Some(mask)
        }
        None => None,
    };
    let ring = Semiring::new(&arguments.semiring, ty).map_err(|e| match e {
        Error::Formula { text, at, message } if ty == Type::Bool && arguments.values.is_none() => {
            let message = format!("{message}; the values here are bool: --type i64 or f64 makes numbers of them");
            Error::Formula { text, at, message }
        }
        e => e,
    });
    let ring = suggested(ring, &arguments.semiring, SEMIRINGS.iter().map(|row| row.name))?;
    let turned = |m: Matrix, turn: bool| if turn { context.transposed(&m) } else { Ok(m) };
    let (a, b) = (a.cast(ty)?, b.cast(ty)?);
    let (a, b) = (turned(a, arguments.transpose_a)?, turned(b, arguments.transpose_b)?);
    context.progress.stage("multiplying".into());
    let reuse = context.is_json() || arguments.repeat > 1;
    let found =
        multiply(context, arguments, &ring, Operands { a: &a, b: &b, mask: mask.as_ref() }, output.as_ref(), reuse)?;
    context.result(json(context, arguments, &found, read_ms), || text(arguments, &found, reuse))
}

fn json(context: &Context, arguments: &Arguments, found: &Product, read_ms: f64) -> Value {
    let mut json = json!({
        "nrows": found.shape.0, "ncols": found.shape.1, "nnz": found.nnz, "flops": found.flops,
        "symbolic_ms": ms(found.symbolic.median()), "numeric_ms": ms(found.numeric.median()),
        "reuse_ms": ms(found.reuse.median()), "sum": number(found.sum), "type": found.ty.name(), "chosen": found.chosen,
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
        "{}, {} entries of {} from {} products over {}\n{before}symbolic {}, numeric {}{again}   sum {}{after}\nchosen: {}",
        shape(found.shape.0, found.shape.1),
        thousands(found.nnz as u64),
        found.ty,
        thousands(found.flops),
        arguments.semiring,
        seconds(found.symbolic.median()),
        seconds(found.numeric.median()),
        found.sum,
        found.chosen
    )
}
