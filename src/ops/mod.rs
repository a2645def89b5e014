//! All operations but the sparse matrix product: products with vectors and dense matrices, elementwise operations,
//! folds.
//!
//! | operation | formula |
//! | --- | --- |
//! | [`mxv_entries`] | y = A ⊕.⊗ x |
//! | [`vxm_entries`] | yᵀ = xᵀ ⊕.⊗ A |
//! | [`spmm`] | Y = A ⊕.⊗ X, X and Y dense |
//! | [`mxm_hyper`] | C = A ⊕.⊗ B of hypersparse matrices |
//! | [`ewise_add`], [`ewise_mult`] | C = A ∘ B on the union, or the intersection, of their patterns |
//! | [`kronecker`] | C(i·p + k, j·q + l) = A(i, j) ∘ B(k, l) |
//! | [`apply`], [`select`] | C = f(A); the entries of A for which f(a, i, j, s) holds |
//! | [`reduce_rows`], [`reduce`] | ⊕ over each row, over all entries |
//! | [`union_spmv`] | y(i) = ⊕ over A(i, :) ∪ x of A(i, k) ⊗ x(k), an absent operand being 0 |
//! | [`union_mxm`] | C(i, j) = ⊕ over A(i, :) ∪ B(j, :) of A(i, k) ⊗ B(j, k), an absent operand being 0 |
//!
//! A fold starts at the identity of ⊕. Results are bitwise the same for any number of threads. Work is scheduled in
//! blocks; each finished block is reported as progress, and the callback may cancel ([`Threads::on_progress`]).
//!
//! Code that does not depend on the operator is compiled once per value type: it calls the loops through closures
//! behind `dyn`, once per block.
//!
//! [`Threads::on_progress`]: crate::par::Threads::on_progress

mod aggregate;
mod apply;
mod apply_index;
mod apply_mask;
mod assign;
mod blocks;
pub(crate) mod by_formula;
mod concat;
mod diagonal;
mod direction;
mod ewise;
mod extract;
mod hyper;
mod kronecker;
mod mxv;
mod mxv_entries;
mod ranked;
mod reduce;
mod select;
mod spmm;
mod union;
pub(crate) mod vector;
mod vxm;

pub(crate) use aggregate::{arg_rows, column_histogram};
pub(crate) use apply::apply;
pub(crate) use apply_index::apply_index;
pub(crate) use apply_mask::{apply_mask, nonzero};
pub(crate) use concat::{block_ranges, concat_blocks, concat_shape};
pub(crate) use diagonal::{diagonal_entries, diagonal_of, diagonal_pattern};
pub(crate) use direction::{Direction, check_transpose, products};
pub(crate) use ewise::{ewise_add, ewise_mult};
pub(crate) use hyper::mxm_hyper;
pub(crate) use kronecker::kronecker;
pub(crate) use mxv_entries::{mxv_entries, vxm_entries};
pub(crate) use reduce::{reduce, reduce_rows};
pub(crate) use select::{keep, select};
pub(crate) use spmm::{spmm, spmm_into};
pub(crate) use union::{union_mxm, union_spmv};

use std::sync::Arc;

use crate::algebra::{Array, BinaryOp};
use crate::kernels::{CompiledOp, Operand};
use crate::par::Threads;
use crate::{Csr, Index, Pattern, Result};

/// The pairs of entries of A and B that the operator ∘ combines, for operations C = A ∘ B on matrices of possibly
/// different types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// Entries at the same position: [`ewise_mult`](crate::backend::Backend::ewise_mult).
    EwiseMult,
    /// Every entry of A with every entry of B: [`kronecker`](crate::backend::Backend::kronecker).
    Kronecker,
}

impl Pairing {
    /// The operation's name in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::EwiseMult => "ewise_mult",
            Self::Kronecker => "kronecker",
        }
    }
    /// C, with a statically typed operator.
    pub(crate) fn typed<O: BinaryOp, I: Index>(
        self,
        threads: &Threads,
        op: O,
        a: &Csr<O::A, I>,
        b: &Csr<O::B, I>,
    ) -> Result<Csr<O::Out, I>> {
        match self {
            Self::EwiseMult => ewise_mult(threads, op, a, b),
            Self::Kronecker => kronecker(threads, op, a, b),
        }
    }
    /// C, with an operator known at run time; rows of A and B are sorted if [required](Self::sorts).
    pub(crate) fn by_formula(
        self,
        threads: &Threads,
        op: &CompiledOp,
        a: Operand<'_>,
        b: Operand<'_>,
    ) -> Result<(Arc<Pattern>, Array)> {
        match self {
            Self::EwiseMult => by_formula::ewise(threads, op, (a, b), by_formula::Ewise::Mult),
            Self::Kronecker => kronecker::kronecker_by_formula(threads, op, a, b),
        }
    }
    /// Whether the operands must have sorted rows.
    pub(crate) fn sorts(self) -> bool {
        self == Self::EwiseMult
    }
}
