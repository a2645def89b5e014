//! y = A·x of dense vectors of doubles again and again: the ranges that ranks exchange are found once.

use std::ops::Range;
use std::sync::Arc;

use sparring::algebra::{Slice, SliceMut, Type};
use sparring::runtime::Semiring;
use sparring::{Error, Result};

use crate::blocks::Block;
use crate::cluster::Shared;
use crate::fold::Line;
use crate::wire::{broken, reserved};

/// Most places of a vector on the ranks of a line, so that counts of bytes have 31 bits.
const MOST: usize = 1 << 27;

/// A square block matrix of doubles, and what its products with vectors need.
pub(crate) struct Repeated {
    shared: Arc<Shared>,
    a: Block,
    ring: Semiring,
    /// Bytes to and from each rank of the world, before the ranks of a column gather.
    dealt: (Vec<usize>, Vec<usize>),
    /// Bytes of the ranks of the column.
    gathered: Vec<usize>,
    /// Bytes to each rank of the row, and from each.
    folded: (Vec<usize>, Vec<usize>),
    /// The part of x of this rank's column, gathered in two steps, and what the ranks of the row send.
    part: Vec<f64>,
    x: Vec<f64>,
    sums: Vec<f64>,
}

fn both(a: &Range<usize>, b: &Range<usize>) -> usize {
    8 * a.end.min(b.end).saturating_sub(a.start.max(b.start))
}
fn zeros(n: usize) -> Result<Vec<f64>> {
    let mut made = reserved(n, "a vector")?;
    made.resize(n, 0.0);
    Ok(made)
}

impl Repeated {
    /// For a matrix of f64 and the semiring whose ⊗ is the value of x.
    pub(crate) fn new(shared: &Arc<Shared>, a: Block) -> Result<Self> {
        let (n, grid) = (a.shape.0, shared.grid);
        if n >= MOST {
            let what = format!("a vector of {n} places on the ranks of a line");
            return Err(Error::Unsupported { what, why: "messages have up to 2³⁰ bytes".into() });
        }
        let (mine, next) = (grid.piece(n), grid.column_piece_of(n, grid.at()));
        let sent = grid.all().map(|at| both(&mine, &grid.column_piece_of(n, at))).collect();
        let got = grid.all().map(|at| both(&next, &grid.piece_of(n, at))).collect();
        let gathered = shared.parts(Line::Column, n).iter().map(|part| 8 * part.len()).collect();
        let to: Vec<usize> = shared.parts(Line::Row, n).iter().map(|part| 8 * part.len()).collect();
        let from = vec![8 * mine.len(); to.len()];
        Ok(Self {
            ring: Semiring::new("plus_second", Type::F64)?,
            part: zeros(next.len())?,
            x: zeros(shared.span(Line::Column, n).len())?,
            sums: zeros(mine.len() * to.len())?,
            dealt: (sent, got),
            gathered,
            folded: (to, from),
            shared: Arc::clone(shared),
            a,
        })
    }
    /// `y = Σ x(k)` over the entries (i, k): of this rank's piece of x, its piece of y. Partial sums of the ranks of a row
    /// are added in their order.
    pub(crate) fn multiply(&mut self, x: &[f64], y: &mut [f64]) -> Result<()> {
        let shared = &self.shared;
        shared.world.exchange_over(bytes(x)?, &self.dealt.0, &self.dealt.1, bytes_mut(&mut self.part)?);
        shared.col.all_gather_over(bytes(&self.part)?, &self.gathered, bytes_mut(&mut self.x)?);
        let part = shared.inner.mxv_dense(&self.ring, &self.a.block, Slice::of(&self.x))?;
        let part = part.slice().as_bytes().ok_or_else(broken)?;
        shared.row.exchange_over(part, &self.folded.0, &self.folded.1, bytes_mut(&mut self.sums)?);
        let n = y.len();
        y.fill(0.0);
        for sums in self.sums.chunks_exact(n.max(1)) {
            y.iter_mut().zip(sums).for_each(|(y, x)| *y += x);
        }
        Ok(())
    }
}

fn bytes(x: &[f64]) -> Result<&[u8]> {
    Slice::of(x).as_bytes().ok_or_else(broken)
}
fn bytes_mut(x: &mut [f64]) -> Result<&mut [u8]> {
    SliceMut::of(x).into_bytes().ok_or_else(broken)
}
