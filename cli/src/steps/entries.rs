//! Elementwise operations: `sparring ewise|apply|select|reduce`.

use clap::{Args, Subcommand, ValueEnum};
use sparring::Error;
use sparring::algebra::Type;
use sparring::runtime::{Aggregate, BinaryOp, Monoid, Object, Op, Pairing, UnaryOp};

use super::common::{Common, Loaded, Run};
use super::lists::scalar;

/// Two examples per command: shell commands and their descriptions.
pub(super) const EXAMPLES: &[(&str, [(&str, &str); 2])] = &[
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
            ("sparring apply a.mtx --op \"a / f64(1 + i)\" --type f64 -o -", "By a formula of values and indices"),
        ],
    ),
    (
        "select",
        [
            ("sparring select a.mtx --op tril --scalar -1 -o lower.mtx", "The strictly lower triangle"),
            ("sparring select a.mtx --op \"a > 1\" -o -", "By a formula of values and indices"),
        ],
    ),
    (
        "reduce",
        [
            ("sparring reduce a.mtx --op max", "The largest entry"),
            ("sparring reduce a.mtx --op argmax --of rows -o best.mtx", "The column of the largest entry of each row"),
        ],
    ),
];

#[derive(Subcommand)]
pub(crate) enum Entries {
    /// Combine two matrices elementwise: C(i, j) = A(i, j) ∘ B(i, j)
    Ewise(Ewise),
    /// Apply a function to each entry: C(i, j) = f(A(i, j), s, i, j)
    Apply(OfEntries),
    /// Select the entries that satisfy an operator
    Select(OfEntries),
    /// Reduce a matrix to a scalar, or by rows or columns
    Reduce(Reduce),
}

/// The pattern of C.
#[derive(Clone, Copy, ValueEnum)]
enum On {
    /// Intersection of both patterns
    Both,
    /// Union of both patterns; an entry without a counterpart is copied
    Either,
    /// Union of both patterns, with --alpha and --beta for absent entries of A and B
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
    /// Pattern of the result
    #[arg(long, value_enum, default_value = "both")]
    on: On,
    /// Value for absent entries of A
    #[arg(long, value_name = "VALUE", default_value = "0", allow_hyphen_values = true)]
    alpha: String,
    /// Value for absent entries of B
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

/// What is reduced to one value.
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
    /// Monoid ⊕: a name (plus, max), or a formula with its identity: "a + b - a*b identity 0"; by rows and columns also
    /// count, mean, argmin, argmax
    #[arg(long, value_name = "OP", default_value = "plus")]
    op: String,
    /// What is reduced to one value
    #[arg(long, value_enum, default_value = "all")]
    of: Of,
    #[command(flatten)]
    common: Common,
}

impl Run for Entries {
    fn common(&self) -> &Common {
        match self {
            Self::Ewise(Ewise { common, .. })
            | Self::Apply(OfEntries { common, .. })
            | Self::Select(OfEntries { common, .. })
            | Self::Reduce(Reduce { common, .. }) => common,
        }
    }
    fn operands(&self) -> Vec<&str> {
        match self {
            Self::Ewise(ewise) => vec![&ewise.a, &ewise.b],
            Self::Apply(of) | Self::Select(of) => vec![&of.a],
            Self::Reduce(reduce) => vec![&reduce.a],
        }
    }
    fn operator(&self) -> &str {
        match self {
            Self::Ewise(ewise) => &ewise.op,
            Self::Apply(of) | Self::Select(of) => &of.op,
            Self::Reduce(reduce) => &reduce.op,
        }
    }
    fn moves(&self) -> bool {
        matches!(self, Self::Select(_))
    }
    fn compute(&self, on: &Loaded<'_>) -> sparring::Result<Object> {
        let (machine, a, ty) = (on.machine, on.a(), on.ty);
        match self {
            Self::Ewise(ewise) => {
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
                on.matrix(machine.call(op, (a, on.b())))
            }
            Self::Apply(arguments) => on.matrix(machine.call(Op::Apply(&of_entries(arguments, ty)?), a)),
            Self::Select(arguments) => on.matrix(machine.call(Op::Select(&of_entries(arguments, ty)?), a)),
            Self::Reduce(reduce) => {
                let monoid;
                let op = match (aggregate(&reduce.op), reduce.of) {
                    (Some(_), Of::All) => {
                        let message = format!("{} works on rows or columns: use --of rows", reduce.op);
                        return Err(Error::Argument { name: "--op", message });
                    }
                    (Some(aggregate), _) => Op::Aggregate(aggregate),
                    (None, of) => {
                        monoid = Monoid::new(&reduce.op, ty)?;
                        if of == Of::All { Op::Reduce(&monoid) } else { Op::ReduceRows(&monoid) }
                    }
                };
                if reduce.of == Of::All && on.mask.is_some() {
                    let message = "a mask applies to rows or columns: use --of rows".into();
                    return Err(Error::Argument { name: "--mask", message });
                }
                let call = machine.call(op, a);
                on.vector(if reduce.of == Of::Columns { call.transpose_a() } else { call })
            }
        }
    }
}

/// The operator of `apply` and `select`, with its scalar.
fn of_entries(arguments: &OfEntries, ty: Type) -> sparring::Result<UnaryOp> {
    let op = UnaryOp::new(&arguments.op, ty)?;
    match (op.takes_scalar(), &arguments.scalar) {
        (Some(ty), Some(text)) => op.with(scalar("--scalar", text, ty)?),
        (Some(ty), None) => {
            let message = format!("{} needs a scalar of type {ty}", arguments.op);
            Err(Error::Argument { name: "--scalar", message })
        }
        (None, Some(_)) => {
            let message = format!("{} takes no scalar", arguments.op);
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
