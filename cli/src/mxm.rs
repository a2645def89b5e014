//! `sparring mxm A [B]`.

mod gpu;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use sparring::algebra::Type;
use sparring::algebra::dynamic::{SEMIRINGS, canonical};
use sparring::runtime::{Machine, Matrix, Product, Semiring, Sum};
use sparring::spgemm::{self, Options};

use crate::context::Context;
use crate::device::{DeviceArg, refuse};
use crate::failure::Result;
use crate::formats::SPARSE;
use crate::operands;
use crate::output::{ms, number, seconds, shape, thousands};
use crate::semiring::warn_outside_of;
use crate::suggest::suggested;
use crate::timing::Times;
use crate::write::{Output, Writing};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Left matrix: a Matrix Market file, or gen:NAME
    pub(crate) a: String,
    /// Right matrix [default: the left one]
    pub(crate) b: Option<String>,
    /// Semiring: a name from `sparring semirings`, or ⊕ and ⊗ as formulas: "min, a + 2*b"
    #[arg(long, default_value = "plus_times", value_name = "NAME")]
    semiring: String,
    /// Type of the values, to which both matrices are converted [default: the smallest common type of the files;
    /// patterns become bool for Boolean semirings, else i64, each entry 1]
    #[arg(long = "type", value_name = "TYPE")]
    values: Option<Type>,
    #[command(flatten)]
    how: How,
    /// Multiply N times and report medians, also of the phases of a plan
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Also multiply with a plan, as for repeated products, and report its phases and choices
    #[arg(long)]
    explain: bool,
    /// Transpose the left matrix
    #[arg(long)]
    transpose_a: bool,
    /// Transpose the right matrix
    #[arg(long)]
    transpose_b: bool,
    /// Mask: compute the product only where this matrix has entries, whatever their values
    #[arg(long, value_name = "FILE")]
    pub(crate) mask: Option<String>,
    /// Complement the mask
    #[arg(long, requires = "mask")]
    complement: bool,
    /// Write the product to this file: .mtx, .npz (SciPy), .npy, .csv, .svm, also with .gz or .zst, or - for standard
    /// output
    #[arg(short, long, value_name = "OUT")]
    output: Option<String>,
    #[command(flatten)]
    writing: Writing,
    #[command(flatten)]
    pub(crate) place: DeviceArg,
}

/// The options of a product.
#[derive(Args)]
pub(crate) struct How {
    /// Rules that choose the algorithm
    #[arg(long, value_enum, default_value_t)]
    policy: Policy,
    /// Accumulator of a row: linked lists, linear probing, or dense
    #[arg(long, value_enum, default_value_t)]
    accumulator: Accumulator,
    /// Whether the symbolic phase compresses the columns of the right matrix into words
    #[arg(long, value_enum, default_value_t)]
    compress: Compress,
    /// Allow unsorted rows in the product
    #[arg(long)]
    unsorted: bool,
}

/// A command line option with the variants of a library option.
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
    /// Rejects options that do not apply to a GPU.
    pub(crate) fn take_gpu(&self) -> sparring::Result<()> {
        let How { policy, accumulator, compress, .. } = &self.how;
        let ours = *policy == Policy::Auto && *accumulator == Accumulator::Auto;
        let columns = "its default policy reads columns; use --policy kkspgemm";
        refuse(&[
            (
                *accumulator == Accumulator::Dense,
                "--accumulator dense",
                "it would need a slot per column for every concurrent row",
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

/// The operands, and the machine.
#[derive(Clone, Copy)]
struct Operands<'a> {
    a: &'a Matrix,
    b: &'a Matrix,
    mask: Option<&'a Matrix>,
}

/// The report of a product.
struct Report {
    shape: (usize, usize),
    nnz: usize,
    ty: Type,
    flops: u64,
    sum: Sum,
    chosen: String,
    /// Milliseconds of a single-use product; empty on a GPU, where that is the two phases.
    once: Times,
    phases: Option<Phases>,
    /// Measurements on a GPU.
    gpu: Option<gpu::Figures>,
}

/// Milliseconds of the phases of a plan, and the plan's choices.
#[derive(Default)]
struct Phases {
    symbolic: Times,
    numeric: Times,
    reuse: Times,
    chosen: String,
}

/// A product to be computed.
#[derive(Clone, Copy)]
struct Request<'a> {
    context: &'a Context,
    machine: &'a Machine,
    ring: &'a Semiring,
    operands: Operands<'a>,
    complement: bool,
    options: &'a Options,
    repeat: u32,
}

impl Request<'_> {
    fn mask(&self) -> Option<(&Matrix, bool)> {
        self.operands.mask.map(|mask| (mask, self.complement))
    }
    fn product(&self) -> sparring::Result<Product> {
        let Operands { a, b, .. } = self.operands;
        self.machine.mxm_with(self.ring, a, b, self.mask(), self.options)
    }
    /// The single-use product, and its times.
    fn once(&self) -> sparring::Result<(Product, Times)> {
        let (mut made, mut times) = (None, Times::default());
        for _ in 0..self.repeat {
            // Freed first, or the peak would be two products.
            drop(made.take());
            let (product, ms) = self.context.timed(|| self.product())?;
            times.push(ms);
            made = Some(product);
        }
        let Some(made) = made else { unreachable!("repeat is at least 1") };
        Ok((made, times))
    }
    /// The product by a plan. With `reuse`, also times a numeric phase into the same matrix.
    fn phases(&self, reuse: bool) -> sparring::Result<(Matrix, u64, Phases)> {
        let Self { context, machine, ring, operands: Operands { a, b, .. }, .. } = *self;
        let (mut phases, mut made) = (Phases::default(), None);
        for _ in 0..self.repeat {
            drop(made.take());
            let (plan, ms) = context.timed(|| machine.plan_masked(a, b, self.mask(), self.options))?;
            phases.symbolic.push(ms);
            let (c, ms) = context.timed(|| machine.numeric(&plan, ring, a, b))?;
            phases.numeric.push(ms);
            made = Some((plan, c));
        }
        let Some((plan, mut c)) = made else { unreachable!("repeat is at least 1") };
        for _ in 0..if reuse { self.repeat } else { 0 } {
            let ((), ms) = context.timed(|| machine.numeric_into(&plan, ring, a, b, &mut c))?;
            phases.reuse.push(ms);
        }
        phases.chosen = plan.explain();
        Ok((c, plan.flops(), phases))
    }
}

/// The product over the semiring, written to `output`.
fn multiply(
    context: &Context,
    arguments: &Arguments,
    ring: &Semiring,
    operands: Operands<'_>,
    output: Option<&Output>,
) -> sparring::Result<Report> {
    let (machine, options) = (&context.machine()?, &arguments.how.options());
    let sent = gpu::send(context, machine, (operands.a, operands.b))?;
    let operands = sent.as_ref().map_or(operands, |sent| Operands { a: &sent.a, b: &sent.b, ..operands });
    let (complement, repeat) = (arguments.complement, arguments.repeat);
    let request = Request { context, machine, ring, operands, complement, options, repeat };
    let report = |result: &Matrix, flops, chosen, once, phases, gpu| {
        if let Some(output) = output {
            output.save(context, result)?;
        }
        let sum = machine.sum(result)?;
        Ok(Report { shape: result.shape(), nnz: result.nnz(), ty: result.ty(), flops, sum, chosen, once, phases, gpu })
    };
    if let Some(sent) = &sent {
        // The first product compiles or loads its programs. Further ones run only for timing.
        let (first, first_ms) = context.timed(|| request.product())?;
        let (c, flops, chosen, phases) = if arguments.explain || repeat > 1 {
            drop(first);
            let (c, flops, phases) = request.phases(true)?;
            (c, flops, phases.chosen.clone(), Some(phases))
        } else {
            let (flops, chosen) = (first.flops(), first.explain());
            (first.into_matrix(), flops, chosen, None)
        };
        let (figures, host) = sent.figures(context, first_ms, output.is_some(), || c.download())?;
        return report(host.as_ref().unwrap_or(&c), flops, chosen, Times::default(), phases, Some(figures));
    }
    let (product, once) = request.once()?;
    let mut report = report(product.matrix(), product.flops(), product.explain(), once, None, None)?;
    if arguments.explain || repeat > 1 {
        drop(product);
        report.phases = Some(request.phases(true)?.2);
    }
    Ok(report)
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result {
    let output = Output::new(context, arguments.output.as_ref(), arguments.writing, SPARSE)?;
    let rows = canonical(&arguments.semiring);
    let truth = SEMIRINGS.iter().any(|row| row.name == rows && row.values().contains(&Type::Bool));
    let files: Vec<&str> = [Some(&*arguments.a), arguments.b.as_deref()].into_iter().flatten().collect();
    let operands::Operands { all, ty, ones, mut read_ms } =
        operands::Operands::load(context, &files, arguments.values, truth, |_| false)?;
    let (a, b) = (all[0].clone(), all[all.len() - 1].clone());
    drop(all);
    let mask = match &arguments.mask {
        Some(file) => {
            let (mask, ms) = operands::load(context, file, None)?;
            read_ms += ms;
            Some(mask)
        }
        None => None,
    };
    let ring = Semiring::new(&arguments.semiring, ty);
    let ring = suggested(ring, &arguments.semiring, SEMIRINGS.iter().map(|row| row.name))?;
    warn_outside_of(context, &arguments.semiring, &[&a, &b])?;
    let turned = |m: Matrix, turn: bool| if turn { context.transposed(&m) } else { Ok(m) };
    let (a, b) = (turned(a, arguments.transpose_a)?, turned(b, arguments.transpose_b)?);
    context.progress.stage_of("multiplying", a.shape().0, "rows");
    let found = multiply(context, arguments, &ring, Operands { a: &a, b: &b, mask: mask.as_ref() }, output.as_ref())?;
    context.result(json(context, arguments, &found, read_ms), || text(arguments, &found, ones))
}

fn json(context: &Context, arguments: &Arguments, found: &Report, read_ms: f64) -> Value {
    let mut json = json!({
        "nrows": found.shape.0, "ncols": found.shape.1, "nnz": found.nnz, "flops": found.flops,
        "sum": number(found.sum), "type": found.ty.name(), "chosen": found.chosen,
        "semiring": arguments.semiring, "repeat": arguments.repeat, "read_ms": ms(read_ms),
        "device": context.device.to_string(),
    });
    if !found.once.is_empty() {
        (json["compute_ms"], json["compute_min_ms"]) = (ms(found.once.median()), ms(found.once.minimum()));
    }
    if let Some(phases) = &found.phases {
        for (key, times) in [("symbolic", &phases.symbolic), ("numeric", &phases.numeric), ("reuse", &phases.reuse)] {
            json[format!("{key}_ms")] = ms(times.median());
        }
        json["planned"] = phases.chosen.clone().into();
    }
    match &found.gpu {
        Some(figures) => figures.insert(&mut json),
        None => json["threads"] = context.threads().into(),
    }
    json
}

fn text(arguments: &Arguments, found: &Report, ones: bool) -> String {
    let (before, after) = found.gpu.as_ref().map(gpu::Figures::text).unwrap_or_default();
    let mut times = Vec::new();
    if !found.once.is_empty() {
        times.push(format!("multiplied in {}", seconds(found.once.median())));
    }
    let mut planned = String::new();
    if let Some(Phases { symbolic, numeric, reuse, chosen }) = &found.phases {
        times.push(format!("symbolic {}, numeric {}", seconds(symbolic.median()), seconds(numeric.median())));
        if !reuse.is_empty() {
            times.push(format!("again {}", seconds(reuse.median())));
        }
        if found.gpu.is_none() {
            planned = format!("\nplanned: {chosen}");
        }
    }
    format!(
        "{}, {} entries of {} from {} multiplications over {}{}\n{before}{}   sum {}{after}\nchosen: {}{planned}",
        shape(found.shape.0, found.shape.1),
        thousands(found.nnz as u64),
        found.ty,
        thousands(found.flops),
        arguments.semiring,
        if ones { ", pattern entries as 1" } else { "" },
        times.join(", "),
        found.sum,
        found.chosen
    )
}
