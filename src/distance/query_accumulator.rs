//! Queries of all rows of Y by one row of X at a time, or by several together. Keys of rows that share a column come
//! from sums, those of the others from their norms. Where a row shares columns with most of Y, each row of Y has a sum,
//! and keys are computed for all.

use std::array::from_fn;
use std::ops::Range;

use super::by_columns::{ByColumns, RowSums};
use super::engine::{EachKey, RowQuery, Whole};
use super::float::Float;
use super::loops::{Loops, TOGETHER};
use super::rows::Rows;
use crate::Result;
use crate::par::filled;

/// Rows whose keys are computed at a time.
const BLOCK: usize = 256;
/// A row is queried by its rare columns if all its columns together have at least this many entries, and if reading the
/// rows of the rare columns takes a small fraction of the time. A row of Y costs as much as `ROW` entries plus about as
/// many as x has columns.
const MANY: u64 = 512;
const ROW: u64 = 8;
/// That fraction, as 1 in this many.
const PART: u64 = 4;
/// Queries by rare columns that are tried before they stop, and the interval of new trials.
const CREDIT: i32 = 16;
/// A row uses a sum for each row of Y where its columns have at least one entry per this many rows: looking up the
/// position of touched rows then takes longer than computing all.
const SHARED: usize = 2;
/// Norms whose keys are computed at a time; most queries need few.
const NORMS: usize = 8;

/// Prepared rows, those of Y indexed by column too.
#[derive(Clone, Copy)]
pub(super) struct WholeIndex<'e, 'a, W: Float> {
    pub(super) loops: &'e dyn Loops<W>,
    pub(super) x: &'e Rows<'a, W>,
    pub(super) y: &'e Rows<'a, W>,
    pub(super) by_columns: &'e ByColumns<W>,
    /// Y is X.
    pub(super) same: bool,
    /// Rows may be queried by their rare columns alone.
    pub(super) prunes: bool,
    /// Rows that share columns with most rows of Y use a sum for each.
    pub(super) dense: bool,
    /// And several rows may query together.
    pub(super) together: bool,
}

impl<W: Float> WholeIndex<'_, '_, W> {
    /// The key of a pair over the union of its columns.
    fn exact(&self, i: usize, j: usize) -> W {
        let Self { loops, x, y, .. } = self;
        loops.exact(x.entries.row(i), y.entries.row(j), [x.norms(i), y.norms(j)])
    }
}

impl<W: Float> Whole for WholeIndex<'_, '_, W> {
    fn row_query(&self) -> Result<Box<dyn RowQuery + '_>> {
        let (engine, by_columns) = (*self, self.by_columns);
        let touched = by_columns.sums(engine.y.entries.nrows(), engine.loops.facts().counts)?;
        let (rare, credit, queried_rare) = (Vec::new(), CREDIT, false);
        let rows = engine.y.entries.nrows();
        let each = if engine.together { TOGETHER } else { 1 };
        let room = if engine.dense { each * rows.next_power_of_two() } else { 0 };
        let sums = filled(room, W::ZERO, "sums")?;
        let x = if engine.prunes { filled(engine.y.entries.width(), W::NOTHING, "a row")? } else { Vec::new() };
        let mut block = Block::new()?;
        for (norms, uniform) in block.norms.iter_mut().zip(by_columns.uniform()) {
            norms.fill(uniform.unwrap_or(W::ZERO));
        }
        Ok(Box::new(QueryAccumulator {
            engine,
            by_columns,
            touched,
            sums,
            order: SumOrder::Touched,
            row: 0,
            block,
            x,
            rare,
            credit,
            queried_rare,
        }))
    }
}

/// The inputs of the keys of a block of rows.
struct Block<W> {
    /// The common norms of all rows, or the norms of each position.
    norms: [Vec<W>; 2],
    sums: Vec<W>,
    shared: Vec<W>,
    keys: Vec<f64>,
}

impl<W: Float> Block<W> {
    fn new() -> Result<Self> {
        let room = || filled(BLOCK, W::ZERO, "a block of rows");
        Ok(Self {
            norms: [room()?, room()?],
            sums: room()?,
            shared: room()?,
            keys: filled(BLOCK, 0.0, "a block of rows")?,
        })
    }
}

/// The layout of sums.
#[derive(Clone, Copy, PartialEq)]
enum SumOrder {
    /// Only for the rows that share a column.
    Touched,
    /// One for each row of Y.
    Dense,
    /// Interleaved for rows of X from `first` on, for each row of Y.
    Together { first: usize },
}

/// The sums of one row of X with the rows of Y that share a column.
struct QueryAccumulator<'e, 'a, W: Float> {
    engine: WholeIndex<'e, 'a, W>,
    by_columns: &'e ByColumns<W>,
    touched: RowSums<W>,
    /// A sum for each row of Y, padded to a power of two, for one row of X or for [`TOGETHER`]; 0 unless in use. Empty
    /// if dense sums are not allowed.
    sums: Vec<W>,
    order: SumOrder,
    /// The row that queries.
    row: usize,
    block: Block<W>,
    /// The querying row in dense form, [`Float::NOTHING`] where it has no entry; empty without pruning.
    x: Vec<W>,
    /// For each column of the query: its number of rows of Y, and its position.
    rare: Vec<(u32, u32)>,
    /// The balance of what queries by rare columns have saved and cost so far; they are used while it is positive.
    credit: i32,
    /// The last query used only rare columns, so its sums are incomplete.
    queried_rare: bool,
}

impl<W: Float> Drop for QueryAccumulator<'_, '_, W> {
    fn drop(&mut self) {
        self.by_columns.give_back(std::mem::replace(&mut self.touched, RowSums::nothing()));
    }
}

impl<W: Float> QueryAccumulator<'_, '_, W> {
    /// Keys of the block, from its norms, sums and shared columns; `j_of` maps a position to a row of Y.
    fn keys(&mut self, len: usize, norms: [Option<&[W]>; 2], itself: Option<usize>, j_of: &dyn Fn(usize) -> usize) {
        let Self { engine, row, block, .. } = self;
        let (loops, of_x) = (engine.loops, engine.x.norms(*row));
        let own = [norms[0].unwrap_or(&block.norms[0][..len]), norms[1].unwrap_or(&block.norms[1][..len])];
        let shared = if loops.facts().counts { &block.shared[..len] } else { &[] };
        let keys = &mut block.keys[..len];
        if loops.keys(of_x, own, &block.sums[..len], shared, keys) {
            loops.refine(of_x, own, keys, itself, &mut |position| engine.exact(*row, j_of(position)));
        }
        // NaN stays NaN.
        if let Some(key) = itself.and_then(|position| keys.get_mut(position)).filter(|key| !key.is_nan()) {
            *key = 0.0;
        }
    }
    /// Resets to sums of touched rows only.
    fn clear_sums(&mut self) {
        let each = match std::mem::replace(&mut self.order, SumOrder::Touched) {
            SumOrder::Touched => 0,
            SumOrder::Dense => 1,
            SumOrder::Together { .. } => TOGETHER,
        };
        self.sums[..each * self.engine.y.entries.nrows()].fill(W::ZERO);
    }
    /// The number of the row itself, if its distance to itself is 0.
    fn itself(&self) -> Option<u32> {
        (self.engine.same && self.engine.loops.facts().zero_self).then_some(self.row as u32)
    }
}

impl<W: Float> RowQuery for QueryAccumulator<'_, '_, W> {
    fn query(&mut self, i: usize) {
        self.touched.clear();
        (self.row, self.queried_rare) = (i, false);
        let x = &self.engine.x.entries;
        self.clear_sums();
        let m = self.engine.y.entries.nrows();
        if !self.sums.is_empty() {
            let terms: usize = x.row(i).0.iter().map(|&c| self.by_columns.count(c)).sum();
            if terms >= m / SHARED {
                self.order = SumOrder::Dense;
                let sums = &mut self.sums[..m.next_power_of_two()];
                self.engine.loops.accumulate_dense(x.row(i), self.by_columns, sums);
                return;
            }
        }
        let ahead = &x.pattern.col_idx()[x.pattern.row_ptr()[i]..];
        self.engine.loops.accumulate(x.row(i), ahead, self.by_columns, &mut self.touched);
    }
    fn query_together(&mut self, rows: Range<usize>) -> usize {
        let n = rows.len().min(TOGETHER);
        if !self.engine.together || n < 2 {
            return 0;
        }
        self.touched.clear();
        self.clear_sums();
        self.queried_rare = false;
        self.order = SumOrder::Together { first: rows.start };
        let x = &self.engine.x.entries;
        let rows = from_fn(|q| if q < n { x.row(rows.start + q) } else { (&[][..], &[][..]) });
        let (sums, _) = self.sums.as_chunks_mut();
        self.engine.loops.accumulate_together(rows, self.by_columns, sums);
        n
    }
    fn select_row(&mut self, i: usize) {
        self.row = i;
    }
    fn query_rare(&mut self, i: usize) -> Option<f64> {
        if self.x.is_empty() {
            return None;
        }
        // After many failures, one query in `CREDIT` is tried.
        self.credit += i32::from(self.credit <= 0 && i.is_multiple_of(CREDIT as usize));
        if self.credit <= 0 {
            return None;
        }
        let (columns, entries) = self.engine.x.entries.row(i);
        let mut all = 0;
        self.rare.clear();
        // Without memory, query by all columns.
        self.rare.try_reserve(columns.len()).ok()?;
        for (position, &c) in (0..).zip(columns) {
            let count = self.by_columns.count(c);
            all += count as u64;
            self.rare.push((count.min(u32::MAX as usize) as u32, position));
        }
        if all < MANY {
            return None;
        }
        self.rare.sort_unstable();
        let of_row = PART * (ROW + columns.len() as u64);
        let mut total = 0;
        let rare = self.rare.iter().take_while(|&&(count, _)| {
            total += u64::from(count);
            total * of_row <= all
        });
        let rare = rare.count();
        let part = self.rare[rare..].iter().map(|&(_, position)| entries[position as usize].as_f64().powi(2)).sum();
        // If no column is rare, later queries are unlikely to have one.
        self.credit -= i32::from(rare == 0);
        let least = self.engine.loops.at_least(self.engine.x.norms(i), part).filter(|_| rare > 0)?;
        self.touched.clear();
        (self.row, self.queried_rare) = (i, true);
        for &(_, position) in &self.rare[..rare] {
            let (c, a) = ([columns[position as usize]], [entries[position as usize]]);
            self.engine.loops.accumulate((&c, &a), &[], self.by_columns, &mut self.touched);
        }
        Some(least)
    }
    fn record_outcome(&mut self, enough: bool) {
        self.credit = if enough { (self.credit + 1).min(4 * CREDIT) } else { self.credit - 2 };
    }
    fn is_ordered(&self) -> bool {
        self.order == SumOrder::Touched && self.by_columns.is_ordered()
    }
    fn touched(&mut self, each: &mut EachKey<'_>) {
        let engine = self.engine;
        let (itself, uniform, y) = (self.itself(), self.by_columns.uniform(), engine.y);
        let counts = engine.loops.facts().counts;
        // Moved out, because computing keys borrows `self`.
        let touched = std::mem::replace(&mut self.touched, RowSums::nothing());
        let (columns, entries) = engine.x.entries.row(self.row);
        if self.queried_rare {
            columns.iter().zip(entries).for_each(|(&c, &a)| self.x[c as usize] = a);
        }
        let own_position = itself.and_then(|i| touched.position(i));
        let (sums, shared) = touched.sums();
        for (first, rows) in (0..).step_by(BLOCK).zip(touched.rows().chunks(BLOCK)) {
            if self.queried_rare {
                for (position, &j) in rows.iter().enumerate() {
                    (self.block.sums[position], self.block.shared[position]) =
                        engine.loops.sum(&self.x, y.entries.row(j as usize));
                }
            } else {
                self.block.sums[..rows.len()].copy_from_slice(&sums[first..][..rows.len()]);
                if counts {
                    self.block.shared[..rows.len()].copy_from_slice(&shared[first..][..rows.len()]);
                }
            }
            let own_position = own_position.and_then(|at| at.checked_sub(first)).filter(|&at| at < rows.len());
            let of_y = y.norms_from(0, y.entries.nrows());
            for ((norms, uniform), of_y) in self.block.norms.iter_mut().zip(uniform).zip(of_y) {
                if uniform.is_none() {
                    rows.iter().zip(norms).for_each(|(&j, to)| *to = of_y[j as usize]);
                }
            }
            self.keys(rows.len(), [None; 2], own_position, &|position| rows[position] as usize);
            each(rows, &self.block.keys[..rows.len()]);
        }
        if self.queried_rare {
            columns.iter().for_each(|&c| self.x[c as usize] = W::NOTHING);
        }
        self.touched = touched;
    }
    fn others(&mut self, each: &mut dyn FnMut(f64, &mut dyn Iterator<Item = u32>) -> bool) {
        let by_columns = self.by_columns;
        for first in (0..by_columns.groups()).step_by(NORMS) {
            let len = NORMS.min(by_columns.groups() - first);
            self.block.sums[..len].fill(W::ZERO);
            self.block.shared[..len].fill(W::ZERO);
            let norms = by_columns.norms(first, len).map(Some);
            self.keys(len, norms, None, &|position| by_columns.group(first + position)[0] as usize);
            for (group, position) in (first..).zip(0..len) {
                let touched = &self.touched;
                let mut rows = by_columns.group(group).iter().copied().filter(|&j| touched.position(j).is_none());
                if !each(self.block.keys[position], &mut rows) {
                    return;
                }
            }
        }
    }
    fn all(&mut self, each: &mut dyn FnMut(usize, &mut [f64])) {
        let (y, itself) = (self.engine.y, self.itself());
        let m = y.entries.nrows();
        for first in (0..m).step_by(BLOCK) {
            let len = BLOCK.min(m - first);
            let sums = &mut self.block.sums[..len];
            match self.order {
                SumOrder::Touched => {
                    for (position, (sum, shared)) in sums.iter_mut().zip(&mut self.block.shared).enumerate() {
                        (*sum, *shared) = self.touched.sum(first + position);
                    }
                }
                SumOrder::Dense => sums.copy_from_slice(&self.sums[first..][..len]),
                SumOrder::Together { first: row } => {
                    let (of_rows, _) = self.sums.as_chunks::<TOGETHER>();
                    let position = self.row - row;
                    sums.iter_mut().zip(&of_rows[first..]).for_each(|(to, sums)| *to = sums[position]);
                }
            }
            let norms = y.norms_from(first, len).map(Some);
            let own_position = itself.and_then(|i| (i as usize).checked_sub(first)).filter(|&position| position < len);
            self.keys(len, norms, own_position, &|position| first + position);
            each(first, &mut self.block.keys[..len]);
        }
    }
}
