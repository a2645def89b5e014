//! The parsed entries of a piece of text.

use num_complex::Complex;

use super::order::Order;
use crate::Index;

/// Consecutive entries. Types are erased, so that code which handles blocks is compiled only once.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) indices: AnyIndices,
    pub(super) values: Values,
    /// Positions of entries stored above the diagonal in the file, which were mirrored; empty once checked.
    pub(super) above: Vec<u32>,
}

/// Row and column indices, as wide as the larger dimension requires.
#[derive(Clone, Debug)]
pub(super) enum AnyIndices {
    Narrow(Indices<u32>),
    Wide(Indices<u64>),
}

/// Zero-based row and column indices.
#[derive(Clone, Debug, Default)]
pub(super) struct Indices<I> {
    pub(super) rows: Vec<I>,
    pub(super) cols: Vec<I>,
    /// Known sort orders.
    pub(super) order: Order,
}

/// Values of the type of the field.
#[derive(Clone, Debug)]
pub(super) enum Values {
    Real(Vec<f64>),
    Integer(Vec<i64>),
    Unsigned(Vec<u64>),
    Pattern(Vec<()>),
    Complex(Vec<Complex<f64>>),
}

/// Runs `$body` with `$indices` of whatever type `$any` has.
macro_rules! with_indices {
    ($any:expr, $indices:ident => $body:expr) => {
        match $any {
            AnyIndices::Narrow($indices) => $body,
            AnyIndices::Wide($indices) => $body,
        }
    };
}
/// Runs `$body` with `$list` of whatever type `$values` has.
macro_rules! with_values {
    ($values:expr, $list:ident => $body:expr) => {
        match $values {
            Values::Real($list) => $body,
            Values::Integer($list) => $body,
            Values::Unsigned($list) => $body,
            Values::Pattern($list) => $body,
            Values::Complex($list) => $body,
        }
    };
}
pub(super) use {with_indices, with_values};

impl Block {
    /// Number of entries.
    pub(super) fn len(&self) -> usize {
        with_values!(&self.values, list => list.len())
    }
}

impl AnyIndices {
    /// Row and column of an entry.
    pub(super) fn at(&self, e: usize) -> (usize, usize) {
        with_indices!(self, p => (p.rows[e].get(), p.cols[e].get()))
    }
    /// Number of off-diagonal entries.
    pub(super) fn off_diagonal(&self) -> usize {
        with_indices!(self, p => p.rows.iter().zip(&p.cols).filter(|(i, j)| i != j).count())
    }
}
