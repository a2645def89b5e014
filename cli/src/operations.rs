//! Operations on matrices by an operator: `sparring kronecker A [B]`.

use clap::{Args, Subcommand};
use serde_json::json;
use sparring::algebra::Type;
use sparring::runtime::{BinaryOp, Matrix, Op, Pairing};

use crate::context::Context;
use crate::device::{Device, Where};
use crate::failure::Result;
use crate::formats::SPARSE;
use crate::operands::Operands;
use crate::output::{ms, number, seconds, shape, thousands};
use crate::write::{Output, Writing};

/// Operators on truth values that are no operators on numbers by another name.
const TRUTH: [&str; 7] = ["land", "lor", "lxor", "lxnor", "first", "second", "any"];

/// Two examples of each of these commands: lines for a shell, and what they do.
pub(crate) const EXAMPLES: &[(&str, [(&str, &str); 2])] = &[(
    "kronecker",
    [
        ("sparring kronecker a.mtx b.mtx -o k.mtx", "A ⊗ B"),
        ("sparring kronecker a.mtx --op \"a + 2*b\" -o -", "By a formula, to standard output"),
    ],
)];

#[derive(Subcommand)]
pub(crate) enum Operation {
    /// Multiply each entry of a matrix with each of another: C(i·p + k, j·q + l) = A(i, j) ∘ B(k, l)
    Kronecker(Arguments),
}

#[derive(Args)]
pub(crate) struct Arguments {
    /// Left matrix: a Matrix Market file, or gen:NAME
    a: String,
    /// Right matrix [default: the left one]
    b: Option<String>,
    /// Operator ∘: a name, or a formula of a and b: "a + 2*b" [default: times]
    #[arg(long, value_name = "OP")]
    op: Option<String>,
    /// Type of the values, to which both matrices are converted [default: the least that holds those of the files;
    /// patterns are truth values for land, lor, lxor, lxnor, first, second and any, else i64, each entry 1]
    #[arg(long = "type", value_name = "TYPE")]
    values: Option<Type>,
    /// Write the result to this file: .mtx, .npz (SciPy), .npy, .csv, .svm, .gz behind them, or - for standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<String>,
    #[command(flatten)]
    writing: Writing,
    #[command(flatten)]
    place: Where,
}

impl Operation {
    fn parts(&self) -> (Pairing, &Arguments) {
        match self {
            Self::Kronecker(arguments) => (Pairing::Kronecker, arguments),
        }
    }
    /// The files that it reads.
    pub(crate) fn files(&self) -> Vec<&str> {
        let arguments = self.parts().1;
        [Some(&*arguments.a), arguments.b.as_deref()].into_iter().flatten().collect()
    }
    /// Where it computes.
    pub(crate) fn device(&self) -> Device {
        self.parts().1.place.device
    }
}

pub(crate) fn run(context: &Context, operation: &Operation) -> Result {
    let (pairing, arguments) = operation.parts();
    let output = Output::new(context, arguments.output.as_ref(), arguments.writing, SPARSE)?;
    let name = arguments.op.as_deref().unwrap_or("times");
    let both = (&*arguments.a, arguments.b.as_ref());
    let Operands { a, b, ty, ones, read_ms } = Operands::load(context, both, arguments.values, TRUTH.contains(&name))?;
    let op = BinaryOp::new(name, ty)?;
    context.progress.stage_of("computing", a.shape().0 * b.shape().0, "rows");
    let machine = context.machine()?;
    let (a, b) = (machine.upload(&a)?, machine.upload(&b)?);
    let (c, compute_ms) = context.timed(|| machine.call(Op::Pairs(pairing, &op), (&a, &b)).eval::<Matrix>())?;
    if let Some(output) = &output {
        output.save(context, &c.download()?)?;
    }
    let (sum, (nrows, ncols), nnz) = (machine.sum(&c)?, c.shape(), c.nnz());
    let json = json!({
        "nrows": nrows, "ncols": ncols, "nnz": nnz, "type": c.ty().name(), "sum": number(sum), "operator": name,
        "read_ms": ms(read_ms), "compute_ms": ms(compute_ms), "threads": context.threads(), "device": context.device.to_string(),
    });
    context.result(json, || {
        let (read, computed) = (seconds(read_ms), seconds(compute_ms));
        let entries = thousands(nnz as u64);
        format!(
            "{}, {entries} entries of {} by {name}{}   read {read}, computed {computed}   sum {sum}",
            shape(nrows, ncols),
            c.ty(),
            if ones { ", each entry of a pattern 1" } else { "" }
        )
    })
}
