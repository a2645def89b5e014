//! What a piece of text holds.

use num_complex::Complex;

use super::order::Order;
use crate::Index;

/// Consecutive entries. Their types are known at run time: what takes blocks from place to place is compiled once.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) places: Places,
    pub(super) values: Values,
    /// Which of them are mirror images of what stands in the file, above the diagonal; none where that is settled.
    pub(super) above: Vec<u32>,
}

/// Indices are as wide as the larger dimension needs.
#[derive(Clone, Debug)]
pub(super) enum Places {
    Narrow(Indices<u32>),
    Wide(Indices<u64>),
}

/// Rows and columns of entries, from 0.
#[derive(Clone, Debug, Default)]
pub(super) struct Indices<I> {
    pub(super) rows: Vec<I>,
    pub(super) cols: Vec<I>,
    /// In which orders they increase, as far as that was looked at.
    pub(super) order: Order,
}

/// Values of the type that the field calls for.
#[derive(Clone, Debug)]
pub(super) enum Values {
    Real(Vec<f64>),
    Integer(Vec<i64>),
    Unsigned(Vec<u64>),
    Pattern(Vec<()>),
    Complex(Vec<Complex<f64>>),
}

/// Runs `$body` with `$indices` of whatever type `$places` has.
macro_rules! with_places {
    ($places:expr, $indices:ident => $body:expr) => {
        match $places {
            Places::Narrow($indices) => $body,
            Places::Wide($indices) => $body,
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
pub(super) use {with_places, with_values};

impl Block {
    /// Number of entries.
    pub(super) fn len(&self) -> usize {
        with_values!(&self.values, list => list.len())
    }
}

impl Places {
    /// Row and column of an entry.
    pub(super) fn at(&self, e: usize) -> (usize, usize) {
        with_places!(self, p => (p.rows[e].get(), p.cols[e].get()))
    }
    /// Entries off the diagonal.
    pub(super) fn off_diagonal(&self) -> usize {
        with_places!(self, p => p.rows.iter().zip(&p.cols).filter(|(i, j)| i != j).count())
    }
}
