//! A block of rows of Y indexed by column, as the inner loops see it.

use std::ops::Range;

use super::float::Float;
use super::postings::Postings;
use crate::Result;
use crate::algebra::{At, Host, MulOp, V};
use crate::par::filled;

/// Not a dense column.
pub(crate) const SPARSE: u32 = u32::MAX;
/// A column is stored dense where at least one row in this many has it.
pub(crate) const DENSE: usize = 4;

/// Rows of a tile indexed by column.
pub(crate) struct Indexed<W> {
    pub(crate) rows: Range<usize>,
    pub(crate) postings: Postings<W>,
    /// The one-sided term of each entry, where terms depend on it; otherwise empty.
    pub(crate) one_sided: Vec<W>,
    /// The index of each column among the dense ones, or [`SPARSE`]; empty if there are none.
    dense: Vec<u32>,
    /// Dense columns, with an entry or 0 for each row of the tile.
    columns: Vec<W>,
}

impl<W: Float> Indexed<W> {
    pub(crate) fn new(rows: Range<usize>, postings: Postings<W>) -> Self {
        Self { rows, postings, one_sided: Vec::new(), dense: Vec::new(), columns: Vec::new() }
    }
    /// Stores the frequent columns dense.
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
            let (positions, values) = self.postings.at(self.postings.range(c, None));
            positions.iter().zip(values).for_each(|(&p, &b)| column[usize::from(p)] = b);
            self.dense[c as usize] = number;
        }
        Ok(())
    }
    /// Column `c` if it is stored dense.
    #[inline(always)]
    pub(crate) fn dense(&self, c: u32) -> Option<&[W]> {
        let dense = self.dense.get(c as usize).copied().unwrap_or(SPARSE);
        (dense != SPARSE).then(|| &self.columns[dense as usize * self.rows.len()..][..self.rows.len()])
    }
}

/// A row of X that queries the rows of a tile.
#[derive(Clone, Copy)]
pub(crate) struct Query<'a, W> {
    pub(crate) columns: &'a [u32],
    pub(crate) entries: &'a [W],
    /// The one-sided term of each entry, where terms depend on it; otherwise empty.
    pub(crate) one_sided: &'a [W],
    /// Number of queried rows of the tile.
    pub(crate) len: usize,
    /// If only rows up to the query itself are queried: the number of its first entry among those of the tile.
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
