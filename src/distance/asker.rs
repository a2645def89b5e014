//! One row of X at a time asks all rows of Y: keys of those that it meets, and of the others by their norms.

use super::by_columns::{ByColumns, Met};
use super::engine::{Asker, EachKey, Whole};
use super::float::Float;
use super::one_pass::OnePassEngine;
use crate::Result;

/// Rows whose keys are computed at a time.
const BLOCK: usize = 256;
/// Norms whose keys are computed at a time: most rows want few.
const NORMS: usize = 8;

/// An engine with all rows of Y by columns.
pub(super) struct All<'e, 'a, W: Float> {
    pub(super) engine: &'e OnePassEngine<'a, W>,
    pub(super) by_columns: &'e ByColumns<W>,
}

impl<W: Float> Whole for All<'_, '_, W> {
    fn asker(&self) -> Result<Box<dyn Asker + '_>> {
        let Self { engine, by_columns } = *self;
        let met = by_columns.sums(engine.y().entries.nrows(), engine.loops.facts().counts)?;
        Ok(Box::new(Asking { engine, by_columns, met, row: 0, block: Block::new() }))
    }
}

/// What keys of some rows are computed from.
struct Block<W> {
    norms: [[W; BLOCK]; 2],
    sums: [W; BLOCK],
    shared: [W; BLOCK],
    keys: [f64; BLOCK],
}

impl<W: Float> Block<W> {
    fn new() -> Self {
        Self { norms: [[W::ZERO; BLOCK]; 2], sums: [W::ZERO; BLOCK], shared: [W::ZERO; BLOCK], keys: [0.0; BLOCK] }
    }
}

/// The sums of one row of X.
struct Asking<'e, 'a, W: Float> {
    engine: &'e OnePassEngine<'a, W>,
    by_columns: &'e ByColumns<W>,
    met: Met<W>,
    /// That row.
    row: usize,
    block: Block<W>,
}

impl<W: Float> Drop for Asking<'_, '_, W> {
    fn drop(&mut self) {
        self.by_columns.give_back(std::mem::replace(&mut self.met, Met::nothing()));
    }
}

impl<W: Float> Asking<'_, '_, W> {
    /// Keys of the rows at `place` of the block, from its norms, sums and shared columns; `j_of` tells their numbers.
    fn keys(&mut self, len: usize, norms: [Option<&[W]>; 2], itself: Option<usize>, j_of: &dyn Fn(usize) -> usize) {
        let Self { engine, row, block, .. } = self;
        let (loops, of_x) = (&*engine.loops, engine.x.norms(*row));
        let own = [norms[0].unwrap_or(&block.norms[0][..len]), norms[1].unwrap_or(&block.norms[1][..len])];
        let shared = if loops.facts().counts { &block.shared[..len] } else { &[] };
        let keys = &mut block.keys[..len];
        if loops.keys(of_x, own, &block.sums[..len], shared, keys) {
            loops.again(of_x, own, keys, itself, &mut |place| engine.exact(*row, j_of(place)));
        }
        // What is not a number stays so.
        if let Some(key) = itself.and_then(|place| keys.get_mut(place)).filter(|key| !key.is_nan()) {
            *key = 0.0;
        }
    }
    /// Where the row itself is at a distance of 0, its number.
    fn itself(&self) -> Option<u32> {
        (self.engine.same && self.engine.loops.facts().zero_self).then_some(self.row as u32)
    }
}

impl<W: Float> Asker for Asking<'_, '_, W> {
    fn ask(&mut self, i: usize) {
        self.met.clear();
        self.row = i;
        self.engine.loops.meet(self.engine.x.entries.row(i), self.by_columns, &mut self.met);
    }
    fn is_ordered(&self) -> bool {
        self.by_columns.is_ordered()
    }
    fn met(&mut self, each: &mut EachKey<'_>) {
        let engine = self.engine;
        let (itself, alike, y) = (self.itself(), self.by_columns.alike(), engine.y());
        let counts = engine.loops.facts().counts;
        for norm in 0..2 {
            if let Some(x) = alike[norm] {
                self.block.norms[norm].fill(x);
            }
        }
        // Not borrowed while keys are computed.
        let met = std::mem::replace(&mut self.met, Met::nothing());
        for rows in met.rows().chunks(BLOCK) {
            let mut place_of_itself = None;
            for (place, &j) in rows.iter().enumerate() {
                let (sum, shared) = met.sum(j as usize);
                self.block.sums[place] = sum;
                if counts {
                    self.block.shared[place] = shared;
                }
                if Some(j) == itself {
                    place_of_itself = Some(place);
                }
            }
            for norm in 0..2 {
                if alike[norm].is_none() {
                    let of_y = y.norms_from(0, y.entries.nrows())[norm];
                    rows.iter().zip(&mut self.block.norms[norm]).for_each(|(&j, to)| *to = of_y[j as usize]);
                }
            }
            self.keys(rows.len(), [None; 2], place_of_itself, &|place| rows[place] as usize);
            each(rows, &self.block.keys[..rows.len()]);
        }
        self.met = met;
    }
    fn others(&mut self, each: &mut dyn FnMut(f64, &mut dyn Iterator<Item = u32>) -> bool) {
        let by_columns = self.by_columns;
        for first in (0..by_columns.groups()).step_by(NORMS) {
            let len = NORMS.min(by_columns.groups() - first);
            self.block.sums[..len].fill(W::ZERO);
            self.block.shared[..len].fill(W::ZERO);
            let norms = by_columns.norms(first, len).map(Some);
            self.keys(len, norms, None, &|place| by_columns.group(first + place)[0] as usize);
            for (group, place) in (first..).zip(0..len) {
                let met = &self.met;
                let mut rows = by_columns.group(group).iter().copied().filter(|&j| !met.has(j));
                if !each(self.block.keys[place], &mut rows) {
                    return;
                }
            }
        }
    }
    fn all(&mut self, each: &mut dyn FnMut(usize, &mut [f64])) {
        let (y, itself) = (self.engine.y(), self.itself());
        let m = y.entries.nrows();
        for first in (0..m).step_by(BLOCK) {
            let len = BLOCK.min(m - first);
            for place in 0..len {
                (self.block.sums[place], self.block.shared[place]) = self.met.sum(first + place);
            }
            let norms = y.norms_from(first, len).map(Some);
            let place_of_itself = itself.and_then(|i| (i as usize).checked_sub(first)).filter(|&place| place < len);
            self.keys(len, norms, place_of_itself, &|place| first + place);
            each(first, &mut self.block.keys[..len]);
        }
    }
}
