//! Single operations: `sparring ewise|apply|select|reduce|extract|mxv`.

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};
use sparring::Error;
use sparring::algebra::Type;
use sparring::runtime::{
    Aggregate, BinaryOp, IndexList, Machine, Matrix, Monoid, Object, Op, Operation, Pairing, Scalar, Semiring, UnaryOp,
    Vector,
};

use crate::context::Context;
use crate::device::{Device, Where};
use crate::failure::Result;
use crate::formats::SPARSE;
use crate::operands::Operands;
use crate::output::{ms, number, seconds, shape, thousands};
use crate::write::{Output, Writing};

/// Two examples of each of these commands: lines for a shell, and what they do.
pub(crate) const EXAMPLES: &[(&str, [(&str, &str); 2])] = &[
    (
        "ewise",
        [
            ("sparring ewise a.mtx b.mtx --op plus --on either -o sum.mtx", "A + B"),
            ("sparring ewise a.mtx b.mtx --op \"a - 2*b\" --on union --alpha 0 --beta 0 -o -", "By a formula"),
        ],
    ),
    (
        "apply",
        [
            ("sparring apply a.mtx --op abs -o absolute.mtx", "Absolute values"),
            ("sparring apply a.mtx --op \"a / f64(1 + i)\" --type f64 -o -", "By a formula of values and places"),
        ],
    ),
    (
        "select",
        [
            ("sparring select a.mtx --op tril --scalar -1 -o lower.mtx", "What is below the diagonal"),
            ("sparring select a.mtx --op \"a > 1\" -o -", "By a formula of values and places"),
        ],
    ),
    (
        "reduce",
        [
            ("sparring reduce a.mtx --op max", "The greatest entry"),
            ("sparring reduce a.mtx --op argmax --of rows -o best.mtx", "The column of the greatest entry of each row"),
        ],
    ),
    (
        "extract",
        [
            ("sparring extract a.mtx --rows 0:2 --cols 1,0 -o part.mtx", "Two rows, two columns in another order"),
            ("sparring extract a.mtx --rows ::-1 -o -", "The rows from the last to the first"),
        ],
    ),
    (
        "mxv",
        [
            ("sparring mxv a.mtx x.mtx -o y.mtx", "y = A·x"),
            ("sparring mxv a.mtx x.mtx --semiring min_plus --transpose -o -", "Shortest ways of one more step"),
        ],
    ),
];

/// Operators on truth values that are no operators on numbers by another name.
const TRUTH: [&str; 9] = ["land", "lor", "lxor", "lxnor", "first", "second", "any", "lor_land", "any_pair"];

#[derive(Subcommand)]
pub(crate) enum Step {
    /// Join two matrices entry by entry: C(i, j) = A(i, j) ∘ B(i, j)
    Ewise(Ewise),
    /// Compute a function of each entry: C(i, j) = f(A(i, j), s, i, j)
    Apply(OfEntries),
    /// Keep the entries for which an operator holds
    Select(OfEntries),
    /// Fold all entries of a matrix, those of each row, or of each column
    Reduce(Reduce),
    /// Take rows and columns in any order: C = A(I, J)
    Extract(Extract),
    /// Multiply a matrix with a vector over any semiring: y = A ⊕.⊗ x
    Mxv(Mxv),
}

/// Where entries of the result may be, and where it goes.
#[derive(Args)]
pub(crate) struct Common {
    /// Type of the values, to which operands are converted [default: the least that holds those of the files; patterns
    /// are truth values for operators of logic, else i64, each entry 1]
    #[arg(long = "type", value_name = "TYPE")]
    values: Option<Type>,
    /// Keep what this matrix allows: where it has a value that is not 0
    #[arg(long, value_name = "FILE")]
    mask: Option<String>,
    /// The mask allows where it has an entry, whatever its value
    #[arg(long, requires = "mask")]
    structure: bool,
    /// The mask allows all other places
    #[arg(long, requires = "mask")]
    complement: bool,
    /// Write the result to this file: .mtx, .npz (SciPy), .npy, .csv, .svm, .gz behind them, or - for standard output; a
    /// vector is a matrix of one column
    #[arg(short, long, value_name = "OUT")]
    output: Option<String>,
    #[command(flatten)]
    writing: Writing,
    #[command(flatten)]
    place: Where,
}

/// Where C has entries.
#[derive(Clone, Copy, ValueEnum)]
enum On {
    /// Where both matrices have one
    Both,
    /// Where either has one; an entry of one alone stands as it is
    Either,
    /// Where either has one, --alpha and --beta standing for an absent one of A and of B
    Union,
}

#[derive(Args)]
pub(crate) struct Ewise {
    /// Left matrix: a file, or gen:NAME
    a: String,
    /// Right matrix
    b: String,
    /// Operator ∘: a name, or a formula of a and b: "a + 2*b"
    #[arg(long, value_name = "OP")]
    op: String,
    /// Where the result has entries
    #[arg(long, value_enum, default_value = "both")]
    on: On,
    /// What stands for an absent entry of A
    #[arg(long, value_name = "VALUE", default_value = "0", allow_hyphen_values = true)]
    alpha: String,
    /// What stands for an absent entry of B
    #[arg(long, value_name = "VALUE", default_value = "0", allow_hyphen_values = true)]
    beta: String,
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
pub(crate) struct OfEntries {
    /// Matrix: a file, or gen:NAME
    a: String,
    /// Operator: a name (abs, tril, valuegt), or a formula of a, s, i and j: "a*a", "(i < j) | (a > s)"
    #[arg(long, value_name = "OP")]
    op: String,
    /// The scalar s of the operator
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    scalar: Option<String>,
    #[command(flatten)]
    common: Common,
}

/// What is folded to one value.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Of {
    /// The whole matrix
    All,
    /// Each row
    Rows,
    /// Each column
    Columns,
}

#[derive(Args)]
pub(crate) struct Reduce {
    /// Matrix: a file, or gen:NAME
    a: String,
    /// Monoid ⊕: a name (plus, max), or a formula with its identity: "a + b - a*b identity 0"; of rows and columns also
    /// count, mean, argmin, argmax
    #[arg(long, value_name = "OP", default_value = "plus")]
    op: String,
    /// What is folded to one value
    #[arg(long, value_enum, default_value = "all")]
    of: Of,
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
pub(crate) struct Extract {
    /// Matrix: a file, or gen:NAME
    a: String,
    /// Rows, counted from 0: indices and ranges START:STOP:STEP with commas between; STOP is not part of them
    #[arg(long, value_name = "LIST", default_value = ":", allow_hyphen_values = true)]
    rows: String,
    /// Columns, likewise
    #[arg(long, value_name = "LIST", default_value = ":", allow_hyphen_values = true)]
    cols: String,
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
pub(crate) struct Mxv {
    /// Matrix: a file, or gen:NAME
    a: String,
    /// Vector: a matrix of one row or one column
    x: String,
    /// Semiring: a name that `sparring semirings` lists, or formulas: "min, a + 2*b"
    #[arg(long, value_name = "RING", default_value = "plus_times")]
    semiring: String,
    /// Multiply Aᵀ with the vector
    #[arg(long)]
    transpose: bool,
    #[command(flatten)]
    common: Common,
}

impl Step {
    fn common(&self) -> &Common {
        match self {
            Self::Ewise(Ewise { common, .. })
            | Self::Apply(OfEntries { common, .. })
            | Self::Select(OfEntries { common, .. })
            | Self::Reduce(Reduce { common, .. })
            | Self::Extract(Extract { common, .. })
            | Self::Mxv(Mxv { common, .. }) => common,
        }
    }
    /// The files that it reads.
    pub(crate) fn files(&self) -> Vec<&str> {
        let (a, b) = match self {
            Self::Ewise(ewise) => (&ewise.a, Some(&ewise.b)),
            Self::Apply(of) | Self::Select(of) => (&of.a, None),
            Self::Reduce(reduce) => (&reduce.a, None),
            Self::Extract(extract) => (&extract.a, None),
            Self::Mxv(mxv) => (&mxv.a, Some(&mxv.x)),
        };
        [Some(a), b, self.common().mask.as_ref()].into_iter().flatten().map(|file| &**file).collect()
    }
    /// Where it computes.
    pub(crate) fn device(&self) -> Device {
        self.common().place.device
    }
    /// The name of its operator.
    fn operator(&self) -> &str {
        match self {
            Self::Ewise(ewise) => &ewise.op,
            Self::Apply(of) | Self::Select(of) => &of.op,
            Self::Reduce(reduce) => &reduce.op,
            Self::Extract(_) => "extract",
            Self::Mxv(mxv) => &mxv.semiring,
        }
    }
}

/// A list of rows or columns as it stands on the command line.
fn index_list(name: &'static str, text: &str, n: usize) -> sparring::Result<IndexList> {
    if text == ":" {
        return Ok(IndexList::all());
    }
    let bad = |part: &str, why: &str| Error::Argument {
        name,
        message: format!("{part:?} {why}; expected indices from 0 and ranges START:STOP:STEP, as 0:10,12 or ::2"),
    };
    let whole = |part: &str, text: &str| text.parse::<usize>().map_err(|_| bad(part, "is no index"));
    // Start, step and number of indices.
    let range = |part: &str| -> sparring::Result<(usize, isize, usize)> {
        let fields: Vec<&str> = part.split(':').collect();
        let (start, stop, step) = match fields[..] {
            [one] => return Ok((whole(part, one)?, 1, 1)),
            [start, stop] => (start, stop, ""),
            [start, stop, step] => (start, stop, step),
            _ => return Err(bad(part, "is no range")),
        };
        let step = match step {
            "" => 1,
            step => step.parse::<isize>().ok().filter(|s| *s != 0).ok_or_else(|| bad(part, "has no step"))?,
        };
        let last = n.saturating_sub(1);
        let start = if start.is_empty() { if step > 0 { 0 } else { last } } else { whole(part, start)? };
        let stop = match stop {
            "" if step > 0 => n as i128,
            "" => -i128::from(n > 0),
            stop => whole(part, stop)? as i128,
        };
        let (reach, by) = ((stop - start as i128) * step.signum() as i128, step.unsigned_abs() as i128);
        let len = usize::try_from((reach + by - 1).max(0) / by).map_err(|_| bad(part, "has too many indices"))?;
        Ok((start, step, len))
    };
    if !text.contains(',') {
        let (start, step, len) = range(text)?;
        return Ok(IndexList::strided(start, step, len));
    }
    let mut list = Vec::new();
    for part in text.split(',') {
        let (start, step, len) = range(part)?;
        list.extend(IndexList::strided(start, step, len).to_vec(name, n)?);
    }
    Ok(list.into())
}

/// A scalar of the command line, for an operator that takes one.
fn scalar(name: &'static str, text: &str, ty: Type) -> sparring::Result<Scalar> {
    let negative = text.strip_prefix('-').filter(|_| matches!(ty, Type::U8 | Type::U16 | Type::U32 | Type::U64));
    if negative.is_some() {
        return Err(Error::Argument { name, message: format!("{text} is below 0, and values are {ty}") });
    }
    Scalar::parse(text, ty)
}

/// The operator of `apply` and `select`, with its scalar.
fn of_entries(arguments: &OfEntries, ty: Type) -> sparring::Result<UnaryOp> {
    let op = UnaryOp::new(&arguments.op, ty)?;
    match (op.takes_scalar(), &arguments.scalar) {
        (Some(ty), Some(text)) => op.with(scalar("--scalar", text, ty)?),
        (Some(ty), None) => {
            let message = format!("{} reads a scalar of {ty}: give it one", arguments.op);
            Err(Error::Argument { name: "--scalar", message })
        }
        (None, Some(_)) => {
            let message = format!("{} reads no scalar", arguments.op);
            Err(Error::Argument { name: "--scalar", message })
        }
        (None, None) => Ok(op),
    }
}

fn aggregate(name: &str) -> Option<Aggregate> {
    Some(match name {
        "count" => Aggregate::Count,
        "mean" => Aggregate::Mean,
        "argmin" => Aggregate::ArgMin,
        "argmax" => Aggregate::ArgMax,
        _ => return None,
    })
}

pub(crate) fn run(context: &Context, step: &Step) -> Result {
    let common = step.common();
    let output = Output::new(context, common.output.as_ref(), common.writing, SPARSE)?;
    let truth = TRUTH.contains(&step.operator()) || matches!(step, Step::Extract(_) | Step::Select(_));
    let second = match step {
        Step::Ewise(ewise) => Some(&ewise.b),
        Step::Mxv(mxv) => Some(&mxv.x),
        _ => None,
    };
    let first = step.files()[0];
    let Operands { a, b, ty, ones, mut read_ms } = Operands::load(context, (first, second), common.values, truth)?;
    let mask = match &common.mask {
        Some(file) => {
            let (mask, ms) = context.load_any(file, None)?;
            read_ms += ms;
            Some(mask)
        }
        None => None,
    };
    context.progress.stage_of("computing", a.shape().0, "rows");
    let machine = context.machine()?;
    let a = machine.upload(&a)?;
    let (made, compute_ms) = context.timed(|| compute(&machine, step, &a, &b, ty, mask.as_ref()))?;
    let head = json!({
        "operator": step.operator(), "read_ms": ms(read_ms), "compute_ms": ms(compute_ms),
        "threads": context.threads(), "device": context.device.to_string(),
    });
    let (read, computed) = (seconds(read_ms), seconds(compute_ms));
    let times = format!("read {read}, computed {computed}");
    let ones = if ones { ", each entry of a pattern 1" } else { "" };
    let (matrix, is_vector) = match made {
        Object::Matrix(c) => (c, false),
        Object::Vector(y) => (y.to_column()?, true),
        Object::Scalar(s) => {
            if let Some(output) = &output {
                output.save(context, &Matrix::constant(&s, (1, 1))?)?;
            }
            let json = with(head, [("type", json!(s.ty().name())), ("value", json!(s.to_string()))]);
            return context.result(json, || format!("{s} of {} by {}{ones}   {times}", s.ty(), step.operator()));
        }
    };
    if let Some(output) = &output {
        output.save(context, &matrix.download()?)?;
    }
    let (sum, (nrows, ncols), nnz, ty) = (machine.sum(&matrix)?, matrix.shape(), matrix.nnz(), matrix.ty());
    let figures = [
        ("nrows", json!(nrows)),
        ("ncols", json!(ncols)),
        ("nnz", json!(nnz)),
        ("type", json!(ty.name())),
        ("sum", number(sum)),
    ];
    context.result(with(head, figures), || {
        let what = if is_vector { format!("{} places", thousands(nrows as u64)) } else { shape(nrows, ncols) };
        let entries = thousands(nnz as u64);
        format!("{what}, {entries} entries of {ty} by {}{ones}   {times}   sum {sum}", step.operator())
    })
}

fn with<const N: usize>(mut object: Value, more: [(&str, Value); N]) -> Value {
    more.into_iter().for_each(|(key, value)| object[key] = value);
    object
}

/// The result of a step.
fn compute(
    machine: &Machine,
    step: &Step,
    a: &Matrix,
    b: &Matrix,
    ty: Type,
    mask: Option<&Matrix>,
) -> sparring::Result<Object> {
    let common = step.common();
    let masked = |call: Operation<'_>, of_vector: bool| -> sparring::Result<Object> {
        let Some(mask) = mask else { return call.eval_object() };
        let call = if of_vector { call.mask(&mask.to_vector()?) } else { call.mask(mask) };
        let call = if common.structure { call.structure() } else { call };
        if common.complement { call.complement() } else { call }.eval_object()
    };
    match step {
        Step::Ewise(ewise) => {
            let op = BinaryOp::new(&ewise.op, ty)?;
            let (for_a, for_b);
            let op = match ewise.on {
                On::Both => Op::Pairs(Pairing::EwiseMult, &op),
                On::Either => Op::EwiseAdd(&op),
                On::Union => {
                    (for_a, for_b) = (scalar("--alpha", &ewise.alpha, ty)?, scalar("--beta", &ewise.beta, ty)?);
                    Op::EwiseUnion(&op, &for_a, &for_b)
                }
            };
            masked(machine.call(op, (a, b)), false)
        }
        Step::Apply(arguments) => masked(machine.call(Op::Apply(&of_entries(arguments, ty)?), a), false),
        Step::Select(arguments) => masked(machine.call(Op::Select(&of_entries(arguments, ty)?), a), false),
        Step::Reduce(reduce) => {
            let monoid;
            let op = match (aggregate(&reduce.op), reduce.of) {
                (Some(_), Of::All) => {
                    let message = format!("{} is of rows or columns: say --of rows", reduce.op);
                    return Err(Error::Argument { name: "--op", message });
                }
                (Some(aggregate), _) => Op::Aggregate(aggregate),
                (None, of) => {
                    monoid = Monoid::new(&reduce.op, ty)?;
                    if of == Of::All { Op::Reduce(&monoid) } else { Op::ReduceRows(&monoid) }
                }
            };
            if reduce.of == Of::All && mask.is_some() {
                let message = "a mask is for rows or columns: say --of rows".into();
                return Err(Error::Argument { name: "--mask", message });
            }
            let call = machine.call(op, a);
            masked(if reduce.of == Of::Columns { call.transpose_a() } else { call }, true)
        }
        Step::Extract(extract) => {
            let (m, n) = a.shape();
            let (rows, cols) = (index_list("--rows", &extract.rows, m)?, index_list("--cols", &extract.cols, n)?);
            masked(machine.call(Op::Extract(&rows, &cols), a), false)
        }
        Step::Mxv(mxv) => {
            let (ring, x): (_, Vector) = (Semiring::new(&mxv.semiring, ty)?, b.to_vector()?);
            if mxv.transpose {
                masked(machine.call(Op::Vxm(&ring), (&x, a)), true)
            } else {
                masked(machine.call(Op::Mxv(&ring), (a, &x)), true)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_read_like_slices() {
        let of = |text: &str, n| index_list("--rows", text, n).and_then(|list| list.to_vec("--rows", n));
        for (text, want) in [
            (":", &[0, 1, 2, 3, 4][..]),
            ("1:3", &[1, 2]),
            ("::2", &[0, 2, 4]),
            ("::-1", &[4, 3, 2, 1, 0]),
            ("3:0:-2", &[3, 1]),
            ("2:2", &[]),
            ("4,0:2,4", &[4, 0, 1, 4]),
        ] {
            assert_eq!(of(text, 5).unwrap(), want, "{text}");
        }
        assert_eq!(of(":", 0).unwrap(), [0; 0]);
        assert_eq!(of("::-1", 0).unwrap_or_default(), [0; 0]);
        for text in ["", "x", "1:9", "5", "-1", "0:2:0", "1:2:3:4", "1,,2"] {
            let error = of(text, 5).unwrap_err().to_string();
            assert!(error.starts_with("--rows: "), "{text}: {error}");
        }
    }
}
