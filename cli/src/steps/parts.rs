//! Submatrices and blocks: `sparring extract`, `assign`, `scatter`, `diag`, `concat` and `resize`.

use clap::{Args, Subcommand};
use sparring::Error;
use sparring::runtime::{BinaryOp, IndexList, Matrix, Object, Op};

use super::common::{Common, Loaded, Run};
use super::lists::{index_list, scalar};

/// Two examples per command: shell commands and their descriptions.
pub(super) const EXAMPLES: &[(&str, [(&str, &str); 2])] = &[
    (
        "extract",
        [
            ("sparring extract a.mtx --rows 0:2 --cols 1,0 -o part.mtx", "Two rows, two columns in reverse order"),
            ("sparring extract a.mtx --rows ::-1 -o -", "The rows in reverse order"),
        ],
    ),
    (
        "assign",
        [
            ("sparring assign a.mtx b.mtx --rows ::-1 -o assigned.mtx", "Assign B to A, with rows reversed"),
            ("sparring assign a.mtx --value 9 --mask b.mtx --structure -o -", "9 where B has an entry"),
        ],
    ),
    (
        "scatter",
        [
            (
                "sparring scatter x.mtx --to 1,0,1 --len 3 --op plus -o -",
                "Sums at duplicate indices: entry p goes to I(p)",
            ),
            ("sparring scatter x.mtx places.mtx --len 4 --op max -o scattered.mtx", "Indices from a file"),
        ],
    ),
    (
        "diag",
        [
            ("sparring diag x.mtx -o diagonal.mtx", "A diagonal matrix"),
            ("sparring diag a.mtx --extract --diagonal 1 -o -", "The diagonal above the main one, as a vector"),
        ],
    ),
    (
        "concat",
        [
            ("sparring concat a.mtx b.mtx -o beside.mtx", "[A B]"),
            ("sparring concat a.mtx b.mtx b.mtx a.mtx --across 2 -o -", "[A B; B A]; --across 1 stacks all"),
        ],
    ),
    (
        "resize",
        [
            ("sparring resize a.mtx --nrows 2 -o less.mtx", "The first two rows"),
            ("sparring resize a.mtx --nrows 10 --ncols 10 -o -", "Additional empty rows and columns"),
        ],
    ),
];

#[derive(Subcommand)]
pub(crate) enum Parts {
    /// Extract rows and columns in any order: C = A(I, J)
    Extract(Extract),
    /// Assign a matrix or a value to rows and columns of another: C(I, J) = A
    Assign(Assign),
    /// Scatter the entries of a vector, folding duplicate indices: w(i) = u(p) ⊕ u(q) ⊕ … over I(p) = I(q) = i
    Scatter(Scatter),
    /// Build a diagonal matrix, or extract a diagonal
    Diag(Diag),
    /// Concatenate matrices into a block matrix
    Concat(Concat),
    /// Change the number of rows and columns; entries outside are dropped
    Resize(Resize),
}

#[derive(Args)]
pub(crate) struct Extract {
    /// Matrix: a file, or gen:NAME
    a: String,
    /// Rows, counted from 0: comma-separated indices and ranges START:STOP:STEP, STOP excluded
    #[arg(long, value_name = "LIST", default_value = ":", allow_hyphen_values = true)]
    rows: String,
    /// Columns, likewise
    #[arg(long, value_name = "LIST", default_value = ":", allow_hyphen_values = true)]
    cols: String,
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
pub(crate) struct Assign {
    /// Target matrix: a file, or gen:NAME; the file itself is not changed
    c: String,
    /// Matrix to assign, with as many rows and columns as the lists select
    #[arg(required_unless_present = "value", conflicts_with = "value")]
    a: Option<String>,
    /// Assign this value to the whole submatrix
    #[arg(long, allow_hyphen_values = true)]
    value: Option<String>,
    /// Target rows, counted from 0: comma-separated indices and ranges START:STOP:STEP
    #[arg(long, value_name = "LIST", default_value = ":", allow_hyphen_values = true)]
    rows: String,
    /// Columns, likewise
    #[arg(long, value_name = "LIST", default_value = ":", allow_hyphen_values = true)]
    cols: String,
    /// Accumulator ⊙: C(I, J) = C(I, J) ⊙ A
    #[arg(long, value_name = "OP")]
    accum: Option<String>,
    /// Delete the entries outside the mask
    #[arg(long, requires = "mask")]
    replace: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
pub(crate) struct Scatter {
    /// Vector: a matrix of one row or one column
    u: String,
    /// Vector of indices, counted from 0: a matrix of one row or one column with an entry for each element of u
    #[arg(required_unless_present = "to", conflicts_with = "to")]
    places: Option<String>,
    /// The indices as a list: comma-separated indices and ranges START:STOP:STEP
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    to: Option<String>,
    /// Length of the result
    #[arg(long, value_name = "N")]
    len: usize,
    /// Operator ⊕ that folds entries with the same index, in the order of u; on a GPU a monoid
    #[arg(long, value_name = "OP", default_value = "plus")]
    op: String,
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
pub(crate) struct Diag {
    /// Vector, a matrix of one row or one column; with --extract any matrix
    a: String,
    /// Diagonal: 0 is the main diagonal, positive numbers are above it
    #[arg(long, value_name = "K", default_value = "0", allow_hyphen_values = true)]
    diagonal: i64,
    /// Extract the diagonal of the matrix, as a vector
    #[arg(long)]
    extract: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
pub(crate) struct Concat {
    /// Blocks: files, or gen:NAME; row by row, from left to right
    #[arg(required = true)]
    blocks: Vec<String>,
    /// Blocks per row, 1 to stack all [default: all of them]
    #[arg(long, value_name = "N")]
    across: Option<usize>,
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
#[group(id = "size", required = true, multiple = true, args = ["nrows", "ncols"])]
pub(crate) struct Resize {
    /// Matrix: a file, or gen:NAME
    a: String,
    /// Rows of the result [default: those of the matrix]
    #[arg(long, value_name = "M")]
    nrows: Option<usize>,
    /// Columns of the result [default: those of the matrix]
    #[arg(long, value_name = "N")]
    ncols: Option<usize>,
    #[command(flatten)]
    common: Common,
}

impl Run for Parts {
    fn common(&self) -> &Common {
        match self {
            Self::Extract(Extract { common, .. })
            | Self::Assign(Assign { common, .. })
            | Self::Scatter(Scatter { common, .. })
            | Self::Diag(Diag { common, .. })
            | Self::Concat(Concat { common, .. })
            | Self::Resize(Resize { common, .. }) => common,
        }
    }
    fn operands(&self) -> Vec<&str> {
        match self {
            Self::Extract(Extract { a, .. }) | Self::Diag(Diag { a, .. }) | Self::Resize(Resize { a, .. }) => vec![a],
            Self::Assign(of) => [Some(&*of.c), of.a.as_deref()].into_iter().flatten().collect(),
            Self::Scatter(of) => vec![&of.u],
            Self::Concat(of) => of.blocks.iter().map(String::as_str).collect(),
        }
    }
    fn places(&self) -> Option<&str> {
        match self {
            Self::Scatter(of) => of.places.as_deref(),
            _ => None,
        }
    }
    fn is_vector(&self, _k: usize) -> bool {
        matches!(self, Self::Scatter(_) | Self::Diag(Diag { extract: false, .. }))
    }
    fn operator(&self) -> &str {
        match self {
            Self::Extract(_) => "extract",
            Self::Assign(of) => of.accum.as_deref().unwrap_or("assign"),
            Self::Scatter(of) => &of.op,
            Self::Diag(_) => "diag",
            Self::Concat(_) => "concat",
            Self::Resize(_) => "resize",
        }
    }
    fn moves(&self) -> bool {
        match self {
            Self::Scatter(_) => false,
            Self::Assign(of) => of.accum.is_none(),
            _ => true,
        }
    }
    fn compute(&self, on: &Loaded<'_>) -> sparring::Result<Object> {
        let (machine, a) = (on.machine, on.a());
        let (m, n) = a.shape();
        match self {
            Self::Extract(of) => {
                let (rows, cols) = (index_list("--rows", &of.rows, m)?, index_list("--cols", &of.cols, n)?);
                on.matrix(machine.call(Op::Extract(&rows, &cols), a))
            }
            Self::Assign(of) => of.compute(on),
            Self::Scatter(of) => {
                let (u, op) = (a.to_vector()?, BinaryOp::new(&of.op, on.ty)?);
                let list = match (&on.places, &of.to) {
                    (Some(places), _) => places.to_vector()?.to_index_list()?,
                    (None, Some(list)) => index_list("--to", list, of.len)?,
                    (None, None) => IndexList::all(),
                };
                let (found, expected) = (list.len(u.len()), u.len());
                if found != expected {
                    return Err(Error::Length { what: "places", found, expected });
                }
                on.vector(machine.call(Op::Scatter(&list, of.len, &op), &u))
            }
            Self::Diag(of) if of.extract => on.vector(machine.call(Op::Diagonal(of.diagonal), a)),
            Self::Diag(of) => on.matrix(machine.call(Op::Diag(of.diagonal), &a.to_vector()?)),
            Self::Concat(of) => {
                let across = of.across.unwrap_or(on.all.len());
                if across == 0 || !on.all.len().is_multiple_of(across) {
                    let message = format!("{} matrices with {across} per row leave a row incomplete", on.all.len());
                    return Err(Error::Argument { name: "--across", message });
                }
                let all: Vec<&Matrix> = on.all.iter().collect();
                on.allowed(machine.concat(&all.chunks(across).collect::<Vec<_>>())?)
            }
            Self::Resize(of) => on.allowed(machine.resize(a, of.nrows.unwrap_or(m), of.ncols.unwrap_or(n))?),
        }
    }
}

impl Assign {
    fn compute(&self, on: &Loaded<'_>) -> sparring::Result<Object> {
        let mut c = on.a().clone();
        let (m, n) = c.shape();
        let (rows, cols) = (index_list("--rows", &self.rows, m)?, index_list("--cols", &self.cols, n)?);
        let accum = self.accum.as_ref().map(|op| BinaryOp::new(op, on.ty)).transpose()?;
        let value;
        let mut call = match &self.value {
            Some(text) => {
                value = scalar("--value", text, on.ty)?;
                on.machine.call(Op::AssignScalar(&value, &rows, &cols), ())
            }
            None => on.machine.call(Op::Assign(&rows, &cols), on.b()),
        };
        if let Some(accum) = &accum {
            call = call.accum(accum);
        }
        if self.replace {
            call = call.replace();
        }
        on.under(call, false)?.into(&mut c)?;
        Ok(c.into())
    }
}
