//! Some rows of Y by columns, as the inner loops see them.

use std::ops::Range;

use super::float::Float;
use super::postings::Postings;
use crate::Result;
use crate::algebra::{At, Host, MulOp, V};
use crate::par::filled;

/// No dense column.
pub(crate) const SPARSE: u32 = u32::MAX;
/// A column is kept dense where at least one row of so many has it.
pub(crate) const DENSE: usize = 4;

/// Rows of a tile by columns.
pub(crate) struct Indexed<W> {
    pub(crate) rows: Range<usize>,
    pub(crate) postings: Postings<W>,
    /// What each entry adds alone, where a term is not told without it; else nothing.
    pub(crate) alone: Vec<W>,
    /// Where each column stands among the dense ones, or [`SPARSE`]; nothing if there are none.
    dense: Vec<u32>,
    /// Dense columns, an entry or 0 for each row of the tile.
    columns: Vec<W>,
}

impl<W: Float> Indexed<W> {
    pub(crate) fn new(rows: Range<usize>, postings: Postings<W>) -> Self {
        Self { rows, postings, alone: Vec::new(), dense: Vec::new(), columns: Vec::new() }
    }
    /// Keeps those columns dense that many rows have.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn keep_dense(&mut self, ncols: usize) -> Result<()> {
        let n = self.rows.len();
        let is_dense = |rows: usize| rows * DENSE >= n;
        let count = self.postings.counts().filter(|&rows| is_dense(rows)).count();
        if count == 0 {
            return Ok(());
        }
        self.dense = filled(ncols, SPARSE, "dense columns")?;
        self.columns = filled(count * n, W::ZERO, "dense columns")?;
        let mut columns = self.columns.chunks_exact_mut(n).zip(0..);
        for (c, _) in (0..).zip(self.postings.counts()).filter(|&(_, rows)| is_dense(rows)) {
            let Some((column, number)) = columns.next() else { break };
            let (places, values) = self.postings.at(self.postings.range(c, None));
            places.iter().zip(values).for_each(|(&p, &b)| column[usize::from(p)] = b);
            self.dense[c as usize] = number;
        }
        Ok(())
    }
    /// Column `c` if it is kept dense.
    #[inline(always)]
    pub(crate) fn dense(&self, c: u32) -> Option<&[W]> {
        let dense = self.dense.get(c as usize).copied().unwrap_or(SPARSE);
        (dense != SPARSE).then(|| &self.columns[dense as usize * self.rows.len()..][..self.rows.len()])
    }
}

/// A row of X that asks the rows of a tile.
#[derive(Clone, Copy)]
pub(crate) struct Query<'a, W> {
    pub(crate) columns: &'a [u32],
    pub(crate) entries: &'a [W],
    /// What each entry adds alone, where a term is not told without it; else nothing.
    pub(crate) alone: &'a [W],
    /// Rows of the tile that are asked.
    pub(crate) len: usize,
    /// If these are the rows up to its own alone: its first entry's number among those of the tile.
    pub(crate) before: Option<usize>,
}

#[inline(always)]
fn nowhere() -> At<Host> {
    At { i: V(0), k: V(0), j: V(0) }
}

/// a ⊗ b.
#[inline(always)]
pub(crate) fn times<X: MulOp>(mul: X, a: X::A, b: X::B) -> X::Out {
    mul.mul::<Host>(V(a), V(b), nowhere()).0
}
