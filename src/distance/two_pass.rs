//! The paper's two passes over the union, for a NAMM whose ⊕ is not +.
//!
//! First pass: a row of X is expanded into a dense array, and ⊗ is applied to every entry of each row of Y, with 0
//! where X has none. Second pass, roles exchanged: the columns of a row of Y are marked, and ⊗ is applied to the
//! unmarked entries of X. An accumulator's fold goes over Y's columns in order, then over the columns that only X has.
//!
//! Source: Nolet et al. 2022, §3.3.1.

use std::ops::Range;

use super::engine::{Engine, Sink, Tile};
use super::entries::Entries;
use super::float::Float;
use crate::Result;
use crate::algebra::{At, Host, Monoid, MulOp, Union, V};
use crate::par::filled;

/// Rows of X that are compared with a tile before the roles are exchanged.
const BLOCK: usize = 64;
/// Rows in a tile.
const TILE: usize = 512;

pub(crate) struct TwoPassEngine<'a, W: Clone, P, X> {
    pub(crate) namm: Union<P, X>,
    pub(crate) x: Entries<'a, W>,
    /// `None` where Y is X.
    pub(crate) y: Option<Entries<'a, W>>,
}

struct Rows<'a, W: Clone, P, X> {
    engine: &'a TwoPassEngine<'a, W, P, X>,
    rows: Range<usize>,
}

impl<'a, W: Clone, P, X> TwoPassEngine<'a, W, P, X> {
    fn y(&self) -> &Entries<'a, W> {
        self.y.as_ref().unwrap_or(&self.x)
    }
}

impl<W: Float, P: Monoid<Out = W>, X: MulOp<A = W, B = W, Out = W>> Engine for TwoPassEngine<'_, W, P, X> {
    fn nrows(&self) -> (usize, usize) {
        (self.x.nrows(), self.y().nrows())
    }
    fn work_before(&self, i: usize) -> u64 {
        (self.x.pattern.row_ptr()[i] + 64 * i) as u64
    }
    fn symmetric(&self) -> bool {
        // A custom NAMM need not be.
        false
    }
    fn tile_rows(&self) -> usize {
        TILE
    }
    fn tile_bytes(&self) -> u64 {
        // Rows are read in place.
        0
    }
    fn task_bytes(&self) -> u64 {
        (self.x.width() * (size_of::<W>() + 4) + TILE * (BLOCK * size_of::<W>() + 8)) as u64
    }
    fn bytes(&self) -> u64 {
        self.x.bytes() + self.y.as_ref().map_or(0, Entries::bytes)
    }
    fn open(&self, rows: Range<usize>) -> Result<Box<dyn Tile + '_>> {
        Ok(Box::new(Rows { engine: self, rows }))
    }
    fn finish(&self, _: &mut [f64]) {}
    fn explain(&self) -> String {
        "union in two passes, a row in a dense array".into()
    }
}

impl<W: Float, P: Monoid<Out = W>, X: MulOp<A = W, B = W, Out = W>> Tile for Rows<'_, W, P, X> {
    fn keys(&self, queries: Range<usize>, half: bool, sink: &mut Sink<'_>) -> Result<()> {
        debug_assert!(!half, "not symmetric");
        let (x, y) = (&self.engine.x, self.engine.y());
        let Union(add, mul) = self.engine.namm;
        let n = self.rows.len();
        let mut sums = filled(BLOCK * n, P::IDENTITY, "accumulators")?;
        let mut dense = filled(x.width(), W::ZERO, "a dense row")?;
        let mut stamps = filled(x.width(), u32::MAX, "stamps")?;
        let mut keys = filled(n, 0.0f64, "keys")?;
        let fold = |sum: W, a: W, b: W, i: usize, k: u32, j: usize| {
            let at = At { i: V(i as u64), k: V(u64::from(x.number(k))), j: V(j as u64) };
            add.apply::<Host>(V(sum), mul.mul::<Host>(V(a), V(b), at)).0
        };
        for first in queries.clone().step_by(BLOCK) {
            let block = first..(first + BLOCK).min(queries.end);
            for (i, sums) in block.clone().zip(sums.chunks_mut(n)) {
                let (columns, values) = x.row(i);
                columns.iter().zip(values).for_each(|(&c, &v)| dense[c as usize] = v);
                for (sum, j) in sums.iter_mut().zip(self.rows.clone()) {
                    let (columns, values) = y.row(j);
                    let entries = columns.iter().zip(values);
                    *sum = entries.fold(P::IDENTITY, |sum, (&c, &b)| fold(sum, dense[c as usize], b, i, c, j));
                }
                columns.iter().for_each(|&c| dense[c as usize] = W::ZERO);
            }
            for (position, j) in self.rows.clone().enumerate() {
                y.row(j).0.iter().for_each(|&c| stamps[c as usize] = position as u32);
                for (i, sums) in block.clone().zip(sums.chunks_mut(n)) {
                    let (columns, values) = x.row(i);
                    let unmatched = columns.iter().zip(values).filter(|&(&c, _)| stamps[c as usize] != position as u32);
                    sums[position] = unmatched.fold(sums[position], |sum, (&c, &a)| fold(sum, a, W::ZERO, i, c, j));
                }
            }
            stamps.fill(u32::MAX);
            for (i, sums) in block.clone().zip(sums.chunks(n)) {
                keys.iter_mut().zip(sums).for_each(|(key, sum)| *key = sum.as_f64());
                sink(i, &mut keys)?;
            }
        }
        Ok(())
    }
}
