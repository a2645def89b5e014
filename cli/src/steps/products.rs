//! Products: `sparring kronecker|mxv|spmm`.

use std::sync::Arc;

use clap::{Args, Subcommand};
use sparring::Error;
use sparring::algebra::Slice;
use sparring::runtime::{BinaryOp, Machine, Matrix, Object, Op, Pairing, Scalar, Semiring};

use super::common::{Common, Loaded, Run};
use crate::formats::full;

/// Two examples per command: shell commands and their descriptions.
pub(super) const EXAMPLES: &[(&str, [(&str, &str); 2])] = &[
    (
        "kronecker",
        [
            ("sparring kronecker a.mtx b.mtx -o k.mtx", "A ⊗ B"),
            ("sparring kronecker a.mtx --op \"a + 2*b\" -o -", "By a formula, to standard output"),
        ],
    ),
    (
        "mxv",
        [
            ("sparring mxv a.mtx x.mtx -o y.mtx", "y = A·x"),
            ("sparring mxv a.mtx x.mtx --semiring min_plus --transpose -o -", "Shortest paths, extended by one edge"),
        ],
    ),
    (
        "spmm",
        [
            ("sparring spmm a.mtx x.mtx -o y.npy", "Y = A·X, as a NumPy array"),
            ("sparring spmm a.mtx x.mtx --transpose --type f64 -o -", "Aᵀ·X in f64, to standard output"),
        ],
    ),
];

#[derive(Subcommand)]
pub(crate) enum Products {
    /// Compute a Kronecker product: C(i·p + k, j·q + l) = A(i, j) ∘ B(k, l)
    Kronecker(Kronecker),
    /// Multiply a matrix with a vector over any semiring: y = A ⊕.⊗ x
    Mxv(Mxv),
    /// Multiply a sparse matrix with a dense one over any semiring: Y = A ⊕.⊗ X
    Spmm(Spmm),
}

#[derive(Args)]
pub(crate) struct Kronecker {
    /// Left matrix: a file, or gen:NAME
    a: String,
    /// Right matrix [default: the left one]
    b: Option<String>,
    /// Operator ∘: a name, or a formula of a and b: "a + 2*b"
    #[arg(long, value_name = "OP", default_value = "times")]
    op: String,
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

#[derive(Args)]
pub(crate) struct Spmm {
    /// Sparse matrix: a file, or gen:NAME
    a: String,
    /// Dense matrix: an array (.npy, .csv, .mtx), or any matrix, with 0 for absent elements
    x: String,
    /// Semiring: a name that `sparring semirings` lists, or formulas: "min, a + 2*b"
    #[arg(long, value_name = "RING", default_value = "plus_times")]
    semiring: String,
    /// Multiply Aᵀ with the dense matrix
    #[arg(long)]
    transpose: bool,
    #[command(flatten)]
    common: Common,
}

/// The matrix as a dense array, with 0 for absent entries.
fn dense(machine: &Machine, x: &Matrix) -> sparring::Result<Matrix> {
    let zeros = Matrix::constant(&Scalar::from(false).cast(x.ty())?, x.shape())?;
    let second = BinaryOp::new("second", x.ty())?;
    machine.call(Op::EwiseAdd(&second), (&zeros, x)).eval::<Matrix>()?.download()
}

impl Run for Products {
    fn common(&self) -> &Common {
        match self {
            Self::Kronecker(Kronecker { common, .. })
            | Self::Mxv(Mxv { common, .. })
            | Self::Spmm(Spmm { common, .. }) => common,
        }
    }
    fn operands(&self) -> Vec<&str> {
        match self {
            Self::Kronecker(of) => [Some(&*of.a), of.b.as_deref()].into_iter().flatten().collect(),
            Self::Mxv(mxv) => vec![&mxv.a, &mxv.x],
            Self::Spmm(spmm) => vec![&spmm.a, &spmm.x],
        }
    }
    fn is_vector(&self, k: usize) -> bool {
        k == 1 && matches!(self, Self::Mxv(_) | Self::Spmm(_))
    }
    fn operator(&self) -> &str {
        match self {
            Self::Kronecker(of) => &of.op,
            Self::Mxv(mxv) => &mxv.semiring,
            Self::Spmm(spmm) => &spmm.semiring,
        }
    }
    fn compute(&self, on: &Loaded<'_>) -> sparring::Result<Object> {
        let (machine, a, ty) = (on.machine, on.a(), on.ty);
        match self {
            Self::Kronecker(of) => {
                let op = BinaryOp::new(&of.op, ty)?;
                on.matrix(machine.call(Op::Pairs(Pairing::Kronecker, &op), (a, on.b())))
            }
            Self::Mxv(mxv) => {
                let (ring, x) = (Semiring::new(&mxv.semiring, ty)?, on.b().to_vector()?);
                on.vector(if mxv.transpose {
                    machine.call(Op::Vxm(&ring), (&x, a))
                } else {
                    machine.call(Op::Mxv(&ring), (a, &x))
                })
            }
            Self::Spmm(spmm) => {
                let (ring, x) = (Semiring::new(&spmm.semiring, ty)?, dense(machine, on.b())?);
                let (m, n) = a.shape();
                let lhs = if spmm.transpose { (n, m) } else { (m, n) };
                if lhs.1 != x.shape().0 {
                    return Err(Error::Shape { op: "spmm", lhs, rhs: x.shape() });
                }
                let columns = x.shape().1;
                let values = x.values().unwrap_or_else(|| Slice::of::<bool>(&[]));
                let call = machine.spmm(&ring, a, values, columns);
                let y = if spmm.transpose { call.transpose_a() } else { call }.eval()?;
                on.allowed(machine.upload(&Matrix::new(Arc::new(full(lhs.0, columns)?), y)?)?)
            }
        }
    }
}
