//! max |x − y| without a pass over the union.
//!
//! Over common columns the inverted index finds the largest |a − b|. A column that only one row has contributes its
//! |v|, so of those only the largest matters: the first entry, in order of magnitude, that has no counterpart. Entries
//! carry their rank in that order, and each pair keeps a mask of the leading ranks matched on either side; the answer
//! is the first rank missing from the mask. Where all leading ranks are matched and the row has more entries, the pair
//! is merged.

use std::ops::Range;

use super::engine::{Engine, Sink, Tile};
use super::entries::Entries;
use super::float::Float;
use super::postings::Postings;
use crate::Result;
use crate::par::{collected, filled};
use crate::simd::{dispatch, scatter_positions};

/// Ranks in a mask.
const HEAD: usize = u32::BITS as usize;
/// Rows in a tile.
const TILE: usize = 2048;

/// Rows with the ranks of their entries.
pub(crate) struct Ranked<'a, W: Clone> {
    entries: Entries<'a, W>,
    /// Bit of the entry's rank in its row, or 0 beyond the head.
    bits: Vec<u32>,
    /// The largest magnitudes of each row, then zeros.
    heads: Vec<[W; HEAD]>,
}

pub(crate) struct ChebyshevEngine<'a, W: Clone> {
    pub(crate) x: Ranked<'a, W>,
    /// `None` where Y is X.
    pub(crate) y: Option<Ranked<'a, W>>,
}

/// The largest difference of a pair so far.
#[derive(Clone, Copy)]
struct Largest<W> {
    most: W,
    x: u32,
    y: u32,
}

struct Indexed<'a, W: Clone> {
    engine: &'a ChebyshevEngine<'a, W>,
    rows: Range<usize>,
    postings: Postings<(W, u32)>,
    /// Rows, relative to the first, with entries that are not finite.
    odd: Vec<usize>,
}

/// Bytes that [`Ranked::new`] takes, including those of the rows that are not the caller's.
pub(crate) fn ranked_bytes<W: Clone>(entries: &Entries<'_, W>) -> u64 {
    entries.bytes() + (4 * entries.values.len() + entries.nrows() * HEAD * size_of::<W>()) as u64
}

impl<'a, W: Float> Ranked<'a, W> {
    pub(crate) fn new(entries: Entries<'a, W>) -> Result<Self> {
        let mut bits = filled(entries.values.len(), 0u32, "ranks")?;
        let mut heads = filled(entries.nrows(), [W::ZERO; HEAD], "heads of rows")?;
        let mut order: Vec<u32> = Vec::new();
        for (i, head) in heads.iter_mut().enumerate() {
            let start = entries.pattern.row_ptr()[i];
            let (_, values) = entries.row(i);
            order.clear();
            order.extend(0..values.len() as u32);
            let by_size = |&p: &u32, &q: &u32| {
                let (a, b) = (values[p as usize].wrapping_abs(), values[q as usize].wrapping_abs());
                b.as_f64().total_cmp(&a.as_f64()).then(p.cmp(&q))
            };
            if order.len() > HEAD {
                order.select_nth_unstable_by(HEAD - 1, by_size);
                order.truncate(HEAD);
            }
            order.sort_unstable_by(by_size);
            for (rank, &p) in order.iter().enumerate() {
                bits[start + p as usize] = 1 << rank;
                head[rank] = values[p as usize].wrapping_abs();
            }
        }
        Ok(Self { entries, bits, heads })
    }
    /// Whether row `i` has an entry that is not finite, as unchecked rows may. The first head shows it: NaN sorts
    /// before ∞, and ∞ before finite magnitudes.
    fn is_odd(&self, i: usize) -> bool {
        !self.heads[i][0].as_f64().is_finite()
    }
    /// The largest magnitude of row `i` whose rank is not in the mask; `None` if it lies beyond the head.
    #[inline(always)]
    fn unmatched(&self, i: usize, matched: u32) -> Option<W> {
        let rank = matched.trailing_ones() as usize;
        match self.heads[i].get(rank) {
            Some(&v) => Some(v),
            None => (self.entries.row(i).0.len() <= HEAD).then_some(W::ZERO),
        }
    }
}

impl<'a, W: Float> ChebyshevEngine<'a, W> {
    fn y(&self) -> &Ranked<'a, W> {
        self.y.as_ref().unwrap_or(&self.x)
    }
    /// The distance by merging; NaN if one of the differences is NaN.
    #[cold]
    fn merged(&self, i: usize, j: usize) -> W {
        let ((xc, xv), (yc, yv)) = (self.x.entries.row(i), self.y().entries.row(j));
        let (mut p, mut q) = (0, 0);
        let mut most = W::ZERO;
        while p < xc.len() || q < yc.len() {
            let x_here = q == yc.len() || p < xc.len() && xc[p] <= yc[q];
            let y_here = p == xc.len() || q < yc.len() && yc[q] <= xc[p];
            let a = if x_here { xv[p] } else { W::ZERO };
            let b = if y_here { yv[q] } else { W::ZERO };
            let difference = a.abs_diff(b);
            most = if difference.as_f64().is_nan() { difference } else { most.maximum(difference) };
            p += usize::from(x_here);
            q += usize::from(y_here);
        }
        most
    }
}

impl<W: Float> Engine for ChebyshevEngine<'_, W> {
    fn nrows(&self) -> (usize, usize) {
        (self.x.entries.nrows(), self.y().entries.nrows())
    }
    fn work_before(&self, i: usize) -> u64 {
        (self.x.entries.pattern.row_ptr()[i] + 64 * i) as u64
    }
    fn symmetric(&self) -> bool {
        self.y.is_none()
    }
    fn tile_rows(&self) -> usize {
        TILE.min(self.nrows().1.next_power_of_two())
    }
    fn tile_bytes(&self) -> u64 {
        let y = &self.y().entries;
        let of_entry = 2 + size_of::<(W, u32)>() + if self.symmetric() { 2 } else { 0 };
        (6 * (y.width() + 1) + y.most_entries(self.tile_rows()) * of_entry) as u64
    }
    fn task_bytes(&self) -> u64 {
        (self.tile_rows() * (size_of::<Largest<W>>() + 8)) as u64
    }
    fn bytes(&self) -> u64 {
        [Some(&self.x), self.y.as_ref()].into_iter().flatten().map(|side| ranked_bytes(&side.entries)).sum()
    }
    fn open(&self, rows: Range<usize>) -> Result<Box<dyn Tile + '_>> {
        let y = self.y();
        let entry = |at: usize| (y.entries.values[at], y.bits[at]);
        let postings = Postings::new(&y.entries.pattern, rows.clone(), self.symmetric(), (W::ZERO, 0), entry)?;
        let count = rows.clone().filter(|&j| y.is_odd(j)).count();
        let odd = collected(count, (0..rows.len()).filter(|at| y.is_odd(rows.start + at)), "rows that are not finite")?;
        Ok(Box::new(Indexed { engine: self, rows, postings, odd }))
    }
    fn finish(&self, _: &mut [f64]) {}
    fn explain(&self) -> String {
        let halves = if self.symmetric() { "each pair once" } else { "all pairs" };
        format!("inverted index and ranks of the largest entries, tiles of {} rows, {halves}", self.tile_rows())
    }
}

impl<W: Float> Tile for Indexed<'_, W> {
    fn keys(&self, queries: Range<usize>, half: bool, sink: &mut Sink<'_>) -> Result<()> {
        let (x, y) = (&self.engine.x, self.engine.y());
        let n = self.rows.len();
        let nothing = Largest { most: W::ZERO, x: 0, y: 0 };
        let mut accumulators = filled(n.next_power_of_two(), nothing, "accumulators")?;
        let mut keys = filled(n, 0.0f64, "keys")?;
        for i in queries {
            let len = if half { (i + 1).saturating_sub(self.rows.start).min(n) } else { n };
            if len == 0 {
                continue;
            }
            let keys = &mut keys[..len];
            dispatch(|| {
                let range = x.entries.pattern.row_ptr()[i]..x.entries.pattern.row_ptr()[i + 1];
                let (columns, values) = x.entries.row(i);
                // With `half`, only rows up to this one are needed.
                let cut = len < n;
                let before = if cut { range.start - x.entries.pattern.row_ptr()[self.rows.start] } else { 0 };
                for (((&c, &a), &bit), at) in columns.iter().zip(values).zip(&x.bits[range]).zip(before..) {
                    let (positions, values) = self.postings.at(self.postings.range(c, cut.then_some(at)));
                    let mask = accumulators.len() - 1;
                    scatter_positions(&mut accumulators, mask, positions, values, |m, (b, of_y)| Largest {
                        most: m.most.maximum(a.abs_diff(b)),
                        x: m.x | bit,
                        y: m.y | of_y,
                    });
                }
                for ((key, m), j) in keys.iter_mut().zip(&mut accumulators).zip(self.rows.clone()) {
                    *key = match (x.unmatched(i, m.x), y.unmatched(j, m.y)) {
                        (Some(a), Some(b)) => m.most.maximum(a).maximum(b),
                        _ => self.engine.merged(i, j),
                    }
                    .as_f64();
                    *m = nothing;
                }
            });
            // Comparisons miss NaN, so pairs with entries that are not finite are merged.
            let of_x = x.is_odd(i).then_some(0..len).into_iter().flatten();
            for at in self.odd.iter().copied().take_while(|&at| at < len).chain(of_x) {
                keys[at] = self.engine.merged(i, self.rows.start + at).as_f64();
            }
            sink(i, keys)?;
        }
        Ok(())
    }
}
