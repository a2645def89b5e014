//! One pass over common columns by an inverted index: the engine of every recipe.
//!
//! A tile of rows of Y is transposed: for each column the rows that have it. A row of X then adds `a ⊗ b` into one
//! accumulator per row of the tile, column after column, so that work is done for common columns alone: Σ_c |X_c| |Y_c|, where
//! a scan of rows does nrows(X) · nnz(Y). Each accumulator's fold goes in the order of X's columns, whatever the tiles and threads.
//!
//! A column that many rows of the tile have is kept dense where ⊗ is cheap: vector instructions then do all rows sooner than one
//! after the other those that have it. What is added for the others is 0, so the sums are the same bits.
//!
//! There are no bounds that spare pairs: with them each list has to ask for itself, where this pass does a pair once for both.
//!
//! Source: Gustavson 1978 (row-wise products); the one-pass form of [`Recipe`].

use std::ops::Range;
use std::sync::OnceLock;

use super::engine::{Engine, Sink, Tile};
use super::recipe::{Norms, Recipe};
use super::rows::{Postings, Rows};
use crate::Result;
use crate::algebra::{At, Host, MulOp, Num, Number, V};
use crate::par::filled;
use crate::simd::{Work, dispatch_work, scatter_places};

/// Rows in a tile: accumulators of 16 KiB, half of a common first-level cache, leave room for what streams by; half as many where
/// rows are long, so that the tile's entries stay near too.
const TILE: usize = 2048;
/// Entries of a tile above which it has half as many rows.
const TILE_ENTRIES: usize = 1 << 17;

/// Prepared rows, of both sides, or of one if Y is X.
pub(crate) struct OnePassEngine<'a, R: Recipe> {
    pub(crate) recipe: R,
    pub(crate) x: Rows<'a, R::W>,
    /// Where Y is X, and its rows are prepared alike, there is none.
    pub(crate) y: Option<Rows<'a, R::W>>,
    /// Y is X.
    pub(crate) same: bool,
    /// Entries are finite, so that ⊗ with 0 is what it should be.
    pub(crate) finite: bool,
    /// What [`dense_columns`](Self::dense_columns) found.
    pub(crate) dense: OnceLock<usize>,
}

/// Rows of a tile by columns.
struct Indexed<'a, R: Recipe> {
    engine: &'a OnePassEngine<'a, R>,
    rows: Range<usize>,
    postings: Postings<R::W>,
    /// Where each column stands among the dense ones, or [`SPARSE`]; nothing if there are none.
    dense: Vec<u32>,
    /// Dense columns, an entry or 0 for each row of the tile.
    columns: Vec<R::W>,
}

/// No dense column.
const SPARSE: u32 = u32::MAX;
/// A column is kept dense where at least one row of so many has it.
const DENSE: usize = 4;

impl<'a, R: Recipe> OnePassEngine<'a, R> {
    fn y(&self) -> &Rows<'a, R::W> {
        self.y.as_ref().unwrap_or(&self.x)
    }
    /// Whether columns that many rows have are kept dense.
    fn keeps_dense(&self) -> bool {
        R::CHEAP && !R::COUNTS && self.finite
    }
    /// Columns that a tile would keep dense if all tiles were alike.
    fn dense_columns(&self) -> usize {
        *self.dense.get_or_init(|| {
            if !self.keeps_dense() {
                return 0;
            }
            let (entries, nrows) = (&self.y().entries, self.y().entries.nrows());
            // Where there is no memory for counting there will be none for tiles.
            let Ok(mut counts) = filled(entries.pattern.ncols(), 0u32, "counts of columns") else { return 0 };
            entries.pattern.col_idx().iter().for_each(|&c| counts[c as usize] = counts[c as usize].saturating_add(1));
            counts.iter().filter(|&&count| nrows > 0 && count as usize * DENSE >= nrows).count()
        })
    }
    /// The key of a pair over the union of its columns.
    fn exact(&self, i: usize, j: usize) -> R::W {
        let (x, y) = (self.x.entries.row(i), self.y().entries.row(j));
        let sum = union_sum(self.recipe.exact(), x, y);
        self.recipe.exact_key(norms::<R>(&self.x, i), norms::<R>(self.y(), j), V::<Host, _>(sum)).0
    }
}

#[inline(always)]
fn norms<R: Recipe>(rows: &Rows<'_, R::W>, i: usize) -> Norms<Host, R::W> {
    (V(rows.norms[0][i]), V(rows.norms[1][i]))
}

/// a ⊗ b.
#[inline(always)]
fn times<X: MulOp>(mul: X, a: X::A, b: X::B) -> X::Out {
    mul.mul::<Host>(V(a), V(b), nowhere()).0
}

#[inline(always)]
fn nowhere() -> At<Host> {
    At { i: V(0), k: V(0), j: V(0) }
}

/// Σ x ⊗ y over the union of the columns, in their order.
fn union_sum<W: Num, X: MulOp<A = W, B = W, Out = W>>(mul: X, x: (&[u32], &[W]), y: (&[u32], &[W])) -> W {
    let (mut p, mut q) = (0, 0);
    let mut sum = W::ZERO;
    while p < x.0.len() || q < y.0.len() {
        let (c, d) = (x.0.get(p).copied().unwrap_or(u32::MAX), y.0.get(q).copied().unwrap_or(u32::MAX));
        let a = if c <= d && p < x.0.len() { x.1[p] } else { W::ZERO };
        let b = if d <= c && q < y.0.len() { y.1[q] } else { W::ZERO };
        p += usize::from(c <= d);
        q += usize::from(d <= c);
        sum = sum.wrapping_add(mul.mul::<Host>(V(a), V(b), nowhere()).0);
    }
    sum
}

impl<R: Recipe> Engine for OnePassEngine<'_, R> {
    fn nrows(&self) -> (usize, usize) {
        (self.x.entries.nrows(), self.y().entries.nrows())
    }
    fn work_before(&self, i: usize) -> u64 {
        (self.x.entries.pattern.row_ptr()[i] + 16 * i) as u64
    }
    fn symmetric(&self) -> bool {
        self.same && R::SYMMETRIC
    }
    fn tile_rows(&self) -> usize {
        let (entries, rows) = (self.y().entries.values.len(), self.nrows().1);
        let most = if entries / TILE_ENTRIES > rows / TILE { TILE / 2 } else { TILE };
        most.min(rows.next_power_of_two())
    }
    fn tile_bytes(&self) -> u64 {
        let y = &self.y().entries;
        let tiles = y.nrows().div_ceil(self.tile_rows()).max(1);
        // Its place, its value, its number in the column.
        let of_entry = 2 + size_of::<R::W>() + if self.symmetric() { 2 } else { 0 };
        let dense = self.dense_columns() * self.tile_rows() * size_of::<R::W>();
        (8 * (y.pattern.ncols() + 1) + y.values.len().div_ceil(tiles) * of_entry + dense) as u64
    }
    fn open(&self, rows: Range<usize>) -> Result<Box<dyn Tile + '_>> {
        let y = &self.y().entries;
        let postings = y.postings(rows.clone(), self.symmetric(), R::W::ZERO, |at| y.values[at])?;
        let mut tile = Indexed { engine: self, rows, postings, dense: Vec::new(), columns: Vec::new() };
        if self.keeps_dense() {
            tile.keep_dense()?;
        }
        Ok(Box::new(tile))
    }
    fn finish(&self, keys: &mut [f64]) {
        dispatch_work(Finish(self.recipe, keys));
    }
    fn explain(&self) -> String {
        let halves = if self.symmetric() { "each pair once" } else { "all pairs" };
        let dense = match self.dense_columns() {
            0 => String::new(),
            dense => format!(
                ", {dense} of {} columns dense (in 1/{DENSE} of the rows or more)",
                self.y().entries.pattern.ncols()
            ),
        };
        format!("inverted index, one pass, tiles of {} rows, {halves}{dense}", self.tile_rows())
    }
}

impl<R: Recipe> Tile for Indexed<'_, R> {
    fn keys(&self, queries: Range<usize>, half: bool, sink: &mut Sink<'_>) -> Result<()> {
        let n = self.rows.len();
        let room = n.next_power_of_two();
        let mut sums = filled(room, R::W::ZERO, "accumulators")?;
        let mut shared = filled(if R::COUNTS { room } else { 0 }, R::W::ZERO, "accumulators")?;
        let mut keys = filled(n, 0.0f64, "keys")?;
        for i in queries {
            let len = if half { (i + 1).saturating_sub(self.rows.start).min(n) } else { n };
            if len > 0 {
                dispatch_work(Row { tile: self, i, sums: &mut sums, shared: &mut shared, keys: &mut keys[..len] });
                sink(i, &mut keys[..len])?;
            }
        }
        Ok(())
    }
}

/// Keys of row `i` of X; leaves the accumulators at 0.
struct Row<'a, 'b, R: Recipe> {
    tile: &'a Indexed<'b, R>,
    i: usize,
    sums: &'a mut [R::W],
    shared: &'a mut [R::W],
    keys: &'a mut [f64],
}

impl<R: Recipe> Work for Row<'_, '_, R> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let Row { tile, i, sums, shared, keys } = self;
        tile.row(i, sums, shared, keys);
    }
}

/// Turns keys into distances.
struct Finish<'a, R>(R, &'a mut [f64]);

impl<R: Recipe> Work for Finish<'_, R> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        for key in self.1 {
            *key = self.0.finish::<Host>(V(R::W::from_f64(*key))).0.as_f64();
        }
    }
}

impl<R: Recipe> Indexed<'_, R> {
    /// Keeps those columns dense that many rows have.
    fn keep_dense(&mut self) -> Result<()> {
        let n = self.rows.len();
        let is_dense = |rows: usize| rows * DENSE >= n;
        let count = self.postings.counts().filter(|&rows| is_dense(rows)).count();
        if count == 0 {
            return Ok(());
        }
        self.dense = filled(self.engine.y().entries.pattern.ncols(), SPARSE, "dense columns")?;
        self.columns = filled(count * n, R::W::ZERO, "dense columns")?;
        let mut columns = self.columns.chunks_exact_mut(n).zip(0..);
        for (c, _) in (0..).zip(self.postings.counts()).filter(|&(_, rows)| is_dense(rows)) {
            let Some((column, number)) = columns.next() else { break };
            let (places, values) = self.postings.column(c);
            places.iter().zip(values).for_each(|(&p, &b)| column[usize::from(p)] = b);
            self.dense[c as usize] = number;
        }
        Ok(())
    }

    #[inline(always)]
    fn row(&self, i: usize, sums: &mut [R::W], shared: &mut [R::W], keys: &mut [f64]) {
        let recipe = self.engine.recipe;
        let (x, y) = (&self.engine.x, self.engine.y());
        let (columns, entries) = x.entries.row(i);
        let term = recipe.term();
        let mask = sums.len() - 1;
        // Rows up to this one: no more is asked for.
        let cut = keys.len() < self.rows.len();
        let row_ptr = x.entries.pattern.row_ptr();
        let before = if cut { row_ptr[i] - row_ptr[self.rows.start] } else { 0 };
        for ((&c, &a), at) in columns.iter().zip(entries).zip(before..) {
            let dense = self.dense.get(c as usize).copied().unwrap_or(SPARSE);
            if dense != SPARSE {
                let column = &self.columns[dense as usize * self.rows.len()..][..keys.len()];
                sums[..keys.len()].iter_mut().zip(column).for_each(|(sum, &b)| *sum = *sum + times(term, a, b));
                continue;
            }
            let (places, values) = if cut { self.postings.column_up_to(c, at) } else { self.postings.column(c) };
            if R::STAGED {
                // Terms first, side by side: their functions are long, and vector instructions shorten them.
                let mut terms = [R::W::ZERO; 64];
                for (places, values) in places.chunks(64).zip(values.chunks(64)) {
                    let terms = &mut terms[..values.len()];
                    for (t, &b) in terms.iter_mut().zip(values) {
                        *t = times(term, a, b);
                    }
                    scatter_places(sums, mask, places, terms, |sum, t| sum + t);
                }
            } else {
                scatter_places(sums, mask, places, values, |sum, b| sum + times(term, a, b));
            }
            if R::COUNTS {
                scatter_places(shared, mask, places, values, |n, _| n + R::W::ONE);
            }
        }
        let of_x = norms::<R>(x, i);
        let first = self.rows.start;
        let (y0, y1) = (&y.norms[0][first..][..keys.len()], &y.norms[1][first..][..keys.len()]);
        let mut any_near = false;
        for (((key, sum), &y0), (&y1, j)) in keys.iter_mut().zip(&*sums).zip(y0).zip(y1.iter().zip(0..)) {
            let shared = if R::COUNTS { shared[j] } else { R::W::ZERO };
            let of_y = (V(y0), V(y1));
            let k = recipe.key::<Host>(of_x, of_y, V(*sum), V(shared));
            if R::REFINES {
                any_near |= recipe.near(k, of_x, of_y).0;
            }
            *key = k.0.as_f64();
        }
        sums.fill(R::W::ZERO);
        if R::COUNTS {
            shared.fill(R::W::ZERO);
        }
        if any_near {
            self.refine(i, keys);
        }
        if R::ZERO_SELF && self.engine.same && self.rows.contains(&i) {
            // What is not a number stays so.
            if let Some(key) = keys.get_mut(i - first).filter(|key| !key.is_nan()) {
                *key = 0.0;
            }
        }
    }

    /// Computes near pairs again.
    #[cold]
    #[inline(never)]
    fn refine(&self, i: usize, keys: &mut [f64]) {
        let recipe = self.engine.recipe;
        let of_x = norms::<R>(&self.engine.x, i);
        for (key, j) in keys.iter_mut().zip(self.rows.clone()) {
            let same = R::ZERO_SELF && self.engine.same && i == j;
            if !same && recipe.near::<Host>(V(R::W::from_f64(*key)), of_x, norms::<R>(self.engine.y(), j)).0 {
                *key = self.engine.exact(i, j).as_f64();
            }
        }
    }
}
