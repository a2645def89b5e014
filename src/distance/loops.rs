//! The inner loops of a distance whose ⊕ is +, as a value.
//!
//! An engine calls them once for a row of X and a tile of Y, so it is compiled for a type of numbers and not for a
//! recipe; and what adds terms is compiled for a ⊗, which many recipes share.

use std::array::from_fn;
#[cfg(feature = "cuda")]
use std::sync::Arc;

use super::by_columns::{ByColumns, RowSums};
use super::dense::{self, Dense, QueryRows};
use super::float::Float;
use super::recipe::{Apart, Invariance, Norms, Recipe, Row, Side};
use super::tile::{Indexed, Query, times};
use crate::algebra::{Host, MulOp, Num, Number, V};
#[cfg(feature = "cuda")]
use crate::algebra::{Plus, Printed, Ring, printed_ring};
use crate::simd::{Work, dispatch_work, scatter, scatter_lane, scatter_places};

/// What an engine has to know of the inner loops.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    /// Keys need the number of shared columns.
    pub(crate) counts: bool,
    /// d(x, y) = d(y, x).
    pub(crate) symmetric: bool,
    /// d(x, x) = 0.
    pub(crate) zero_self: bool,
    /// ⊗ is an instruction or a few, and gives 0 for 0.
    pub(crate) cheap: bool,
    /// And 0 for 0 on the left.
    pub(crate) annihilates: bool,
    /// A term is not told without what its entries add alone.
    pub(crate) alone: bool,
    /// What is known of rows that share no column.
    pub(crate) apart: Apart,
    /// A row can be asked about all of Y at once.
    pub(crate) meets: bool,
}

/// Rows of X that query all of Y together: a register of AVX2 has a number of each.
pub(crate) const TOGETHER: usize = 4;
/// Columns and entries of such rows; some may have none.
pub(crate) type Together<'a, W> = [(&'a [u32], &'a [W]); TOGETHER];

/// Two numbers kept for each of some rows.
pub(crate) type NormsOf<'a, W> = [&'a [W]; 2];

/// The inner loops of a distance over numbers of type `W`.
pub(crate) trait Loops<W: Float>: Send + Sync {
    fn facts(&self) -> Facts;
    /// What may be done to rows so that sums neither overflow nor vanish nor cancel.
    fn invariance(&self) -> Invariance {
        Invariance::None
    }
    /// The sums of a row of `ncols` columns: over its entries, and over them when the first sum is known.
    fn sums(&self, side: Side, values: &[W], ncols: usize) -> [W; 2];
    /// Makes values of a row the entries that ⊗ sees.
    fn entries(&self, side: Side, sums: [W; 2], ncols: usize, values: &mut [W]);
    /// What is kept of a row.
    fn norms(&self, side: Side, sums: [W; 2], nnz: usize, ncols: usize) -> [W; 2];
    /// What each entry adds alone.
    fn alone(&self, _side: Side, _entries: &[W], _out: &mut [W]) {}
    /// Adds the terms of a row of X to the sums of the rows of a tile; counts shared columns if `shared` is not empty.
    fn add(&self, row: Query<'_, W>, tile: &Indexed<W>, sums: &mut [W], shared: &mut [W]);
    /// Adds the terms of some rows of X to the sums of the rows of a tile that is spread out, as [`dense::add`] does;
    /// asked if ⊗ is [`cheap`](Facts::cheap).
    fn add_dense(&self, queries: &QueryRows<'_, W>, tile: &Dense<W>, half: bool, sums: &mut [W]);
    /// Adds the terms of a row of X to the sums of all rows that share a column with it, and counts shared columns if
    /// those are kept; asked if it [`meets`](Facts::meets). `ahead` are its columns, and those that are likely to be
    /// asked for next.
    fn meet(&self, _row: (&[u32], &[W]), _ahead: &[u32], _all: &ByColumns<W>, _met: &mut RowSums<W>) {}
    /// The same into a sum for each row of Y, as many as a power of two, whether it shares a column or not; asked if ⊗
    /// is [`cheap`](Facts::cheap).
    fn meet_dense(&self, _row: (&[u32], &[W]), _all: &ByColumns<W>, _sums: &mut [W]) {}
    /// The same for some rows of X at once, which have their sums side by side; asked if ⊗
    /// [`annihilates`](Facts::annihilates), for finite entries.
    fn meet_together(&self, _rows: Together<'_, W>, _all: &ByColumns<W>, _sums: &mut [[W; TOGETHER]]) {}
    /// A number below the keys of rows that share with x none but columns with Σ a² = `part`, if it is known.
    fn at_least(&self, _x: [W; 2], _part: f64) -> Option<f64> {
        None
    }
    /// The sum of a row of Y with a row of X by columns, [`Float::NOTHING`] where that has none, and the shared
    /// columns.
    fn sum(&self, _x: &[W], _y: (&[u32], &[W])) -> (W, W) {
        (W::ZERO, W::ZERO)
    }
    /// Keys from sums; whether any is so near that it has to be computed again.
    fn keys(&self, x: [W; 2], y: NormsOf<'_, W>, sums: &[W], shared: &[W], keys: &mut [f64]) -> bool;
    /// Has the near keys computed again, but the one at `skip`.
    fn again(
        &self,
        x: [W; 2],
        y: NormsOf<'_, W>,
        keys: &mut [f64],
        skip: Option<usize>,
        exact: &mut dyn FnMut(usize) -> W,
    );
    /// The key of a pair over the union of its columns.
    fn exact(&self, x: (&[u32], &[W]), y: (&[u32], &[W]), norms: [[W; 2]; 2]) -> W;
    /// Turns keys into distances.
    fn finish(&self, keys: &mut [f64]);
    /// CUDA text, as [`emit_recipe`](super::recipe::emit_recipe) has it, if there is one.
    #[cfg(feature = "cuda")]
    fn text(&self) -> Option<Arc<str>>;
    /// CUDA text of + and ⊗, for a product whose values are sums over common columns, if there is one.
    #[cfg(feature = "cuda")]
    fn ring(&self) -> Option<Arc<Printed>> {
        None
    }
}

/// The inner loops of a recipe.
pub(crate) struct Of<R>(pub(crate) R);

#[inline(always)]
fn count<W: Float>(n: usize) -> V<Host, W> {
    V(W::from_index(n as u64))
}

impl<R: Recipe> Of<R> {
    #[inline(always)]
    fn row([first, second]: [R::W; 2], nnz: usize, ncols: usize) -> Row<Host, R::W> {
        Row { first: V(first), second: V(second), nnz: count(nnz), ncols: count(ncols) }
    }
}

impl<R: Recipe> Loops<R::W> for Of<R> {
    fn facts(&self) -> Facts {
        let (counts, symmetric, zero_self, cheap) = (R::COUNTS, R::SYMMETRIC, R::ZERO_SELF, R::CHEAP);
        let annihilates = R::CHEAP && R::ANNIHILATES;
        Facts { counts, symmetric, zero_self, cheap, annihilates, alone: false, apart: R::APART, meets: true }
    }
    fn invariance(&self) -> Invariance {
        self.0.invariance()
    }
    fn sums(&self, side: Side, values: &[R::W], ncols: usize) -> [R::W; 2] {
        let zero = V::<Host, _>(R::W::ZERO);
        let first = values.iter().fold(zero, |sum, &x| sum + self.0.first(side, V(x)));
        let (nnz, ncols) = (count(values.len()), count(ncols));
        let second = values.iter().fold(zero, |sum, &x| sum + self.0.second(V(x), first, nnz, ncols));
        [first.0, second.0]
    }
    fn entries(&self, side: Side, sums: [R::W; 2], ncols: usize, values: &mut [R::W]) {
        let row = Self::row(sums, values.len(), ncols);
        values.iter_mut().for_each(|x| *x = self.0.entry(side, V(*x), row).0);
    }
    fn norms(&self, side: Side, sums: [R::W; 2], nnz: usize, ncols: usize) -> [R::W; 2] {
        let (first, second) = self.0.norms(side, Self::row(sums, nnz, ncols));
        [first.0, second.0]
    }
    fn add(&self, row: Query<'_, R::W>, tile: &Indexed<R::W>, sums: &mut [R::W], shared: &mut [R::W]) {
        let term = self.0.term();
        if R::STAGED { add_staged(term, row, tile, sums) } else { add_fused(term, row, tile, sums, shared) }
    }
    fn add_dense(&self, queries: &QueryRows<'_, R::W>, tile: &Dense<R::W>, half: bool, sums: &mut [R::W]) {
        if R::CHEAP {
            dense::add(self.0.term(), queries, tile, half, sums);
        }
    }
    fn meet(&self, row: (&[u32], &[R::W]), ahead: &[u32], all: &ByColumns<R::W>, met: &mut RowSums<R::W>) {
        // Where ⊗ is short, places are what takes the time.
        let term = self.0.term();
        if R::STAGED {
            dispatch_work(Meet::<_, _, true> { term, row, ahead, all, met });
        } else {
            Meet::<_, _, false> { term, row, ahead, all, met }.run();
        }
    }
    fn meet_dense(&self, row: (&[u32], &[R::W]), all: &ByColumns<R::W>, sums: &mut [R::W]) {
        if R::CHEAP {
            add_whole(self.0.term(), row, all, sums);
        }
    }
    fn meet_together(&self, rows: Together<'_, R::W>, all: &ByColumns<R::W>, sums: &mut [[R::W; TOGETHER]]) {
        if R::CHEAP && R::ANNIHILATES {
            add_together(self.0.term(), rows, all, sums);
        }
    }
    fn at_least(&self, x: [R::W; 2], part: f64) -> Option<f64> {
        // Sums of as many numbers as rows have lose less.
        self.0.at_least(x, part, if size_of::<R::W>() == 4 { 2e-3 } else { 1e-9 }).filter(|least| least.is_finite())
    }
    fn sum(&self, x: &[R::W], (columns, entries): (&[u32], &[R::W])) -> (R::W, R::W) {
        let (mut sum, mut shared) = (R::W::ZERO, 0u64);
        for (&c, &b) in columns.iter().zip(entries) {
            let a = x[c as usize];
            if !a.is_nothing() {
                sum = sum.wrapping_add(times(self.0.term(), a, b));
                shared += 1;
            }
        }
        (sum, R::W::from_index(shared))
    }
    fn keys(&self, x: [R::W; 2], y: NormsOf<'_, R::W>, sums: &[R::W], shared: &[R::W], keys: &mut [f64]) -> bool {
        dispatch_work(Keys { recipe: self.0, x: V2(x).norms(), y, sums, shared, keys })
    }
    fn again(
        &self,
        x: [R::W; 2],
        [y0, y1]: NormsOf<'_, R::W>,
        keys: &mut [f64],
        skip: Option<usize>,
        exact: &mut dyn FnMut(usize) -> R::W,
    ) {
        let x = V2(x).norms();
        for (j, ((key, &y0), &y1)) in keys.iter_mut().zip(y0).zip(y1).enumerate() {
            if skip != Some(j) && self.0.near::<Host>(V(R::W::from_f64(*key)), x, V2([y0, y1]).norms()).0 {
                *key = exact(j).as_f64();
            }
        }
    }
    fn exact(&self, x: (&[u32], &[R::W]), y: (&[u32], &[R::W]), [of_x, of_y]: [[R::W; 2]; 2]) -> R::W {
        let sum = union_sum(self.0.exact(), x, y);
        self.0.exact_key(V2(of_x).norms(), V2(of_y).norms(), V::<Host, _>(sum)).0
    }
    fn finish(&self, keys: &mut [f64]) {
        dispatch_work(Finish(self.0, keys));
    }
    #[cfg(feature = "cuda")]
    fn text(&self) -> Option<Arc<str>> {
        Some(super::printed::printed_recipe(self.0))
    }
    #[cfg(feature = "cuda")]
    fn ring(&self) -> Option<Arc<Printed>> {
        Some(printed_ring(Ring(Plus::<R::W>::new(), self.0.term())))
    }
}

/// Two norms as values of the host.
struct V2<W>([W; 2]);

impl<W: Float> V2<W> {
    #[inline(always)]
    fn norms(self) -> Norms<Host, W> {
        (V(self.0[0]), V(self.0[1]))
    }
}

/// Terms added as they are computed.
struct Fused<'a, 'b, W, X> {
    term: X,
    row: Query<'a, W>,
    tile: &'a Indexed<W>,
    sums: &'b mut [W],
    shared: &'b mut [W],
}

impl<W: Float, X: MulOp<A = W, B = W, Out = W>> Work for Fused<'_, '_, W, X> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let Self { term, row, tile, sums, shared } = self;
        let mask = sums.len() - 1;
        for (at, (&c, &a)) in row.columns.iter().zip(row.entries).enumerate() {
            if let Some(column) = tile.dense(c) {
                sums[..row.len].iter_mut().zip(column).for_each(|(sum, &b)| *sum = sum.wrapping_add(times(term, a, b)));
                continue;
            }
            let (places, values) = tile.postings.at(tile.postings.range(c, row.before.map(|before| before + at)));
            scatter_places(sums, mask, places, values, |sum, b| sum.wrapping_add(times(term, a, b)));
            if !shared.is_empty() {
                scatter_places(shared, mask, places, values, |n, _| n.wrapping_add(W::ONE));
            }
        }
    }
}

#[inline(never)]
fn add_fused<W: Float, X: MulOp<A = W, B = W, Out = W>>(
    term: X,
    row: Query<'_, W>,
    tile: &Indexed<W>,
    sums: &mut [W],
    shared: &mut [W],
) {
    dispatch_work(Fused { term, row, tile, sums, shared });
}

/// Terms computed side by side before they are added: their functions are long, and vector instructions shorten them.
struct Staged<'a, 'b, W, X> {
    term: X,
    row: Query<'a, W>,
    tile: &'a Indexed<W>,
    sums: &'b mut [W],
}

impl<W: Float, X: MulOp<A = W, B = W, Out = W>> Work for Staged<'_, '_, W, X> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let Self { term, row, tile, sums } = self;
        let mask = sums.len() - 1;
        let mut terms = [W::ZERO; 64];
        for (at, (&c, &a)) in row.columns.iter().zip(row.entries).enumerate() {
            let (places, values) = tile.postings.at(tile.postings.range(c, row.before.map(|before| before + at)));
            for (places, values) in places.chunks(64).zip(values.chunks(64)) {
                let terms = &mut terms[..values.len()];
                for (t, &b) in terms.iter_mut().zip(values) {
                    *t = times(term, a, b);
                }
                scatter_places(sums, mask, places, terms, |sum, t| sum.wrapping_add(t));
            }
        }
    }
}

#[inline(never)]
fn add_staged<W: Float, X: MulOp<A = W, B = W, Out = W>>(
    term: X,
    row: Query<'_, W>,
    tile: &Indexed<W>,
    sums: &mut [W],
) {
    dispatch_work(Staged { term, row, tile, sums });
}

/// Columns after which a column is asked for that is fetched now.
const AHEAD: usize = 12;

/// Terms added to the sums of all rows, some computed side by side.
struct Meet<'a, 'b, W, X, const STAGED: bool> {
    term: X,
    row: (&'a [u32], &'a [W]),
    ahead: &'a [u32],
    all: &'a ByColumns<W>,
    met: &'b mut RowSums<W>,
}

impl<W: Float, X: MulOp<A = W, B = W, Out = W>, const STAGED: bool> Work for Meet<'_, '_, W, X, STAGED> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let Self { term, row: (columns, entries), ahead, all, met } = self;
        let mut terms = [W::ZERO; 64];
        for (at, (&c, &a)) in columns.iter().zip(entries).enumerate() {
            // Columns lie anywhere: what takes the time is waiting for them.
            if let Some(&c) = ahead.get(at + 2 * AHEAD) {
                all.prefetch_start(c);
            }
            if let Some(&c) = ahead.get(at + AHEAD) {
                all.prefetch(c);
            }
            let (rows, values) = all.column(c);
            if !STAGED {
                met.add_each(rows, values, |b| times(term, a, b));
                continue;
            }
            for (rows, values) in rows.chunks(64).zip(values.chunks(64)) {
                let terms = &mut terms[..values.len()];
                for (t, &b) in terms.iter_mut().zip(values) {
                    *t = times(term, a, b);
                }
                met.add(rows, terms);
            }
        }
    }
}

/// Terms of a row of X added to a sum for each row of Y.
#[inline(never)]
fn add_whole<W: Float, X: MulOp<A = W, B = W, Out = W>>(
    term: X,
    (columns, entries): (&[u32], &[W]),
    all: &ByColumns<W>,
    sums: &mut [W],
) {
    let mask = sums.len() - 1;
    for (at, (&c, &a)) in columns.iter().zip(entries).enumerate() {
        if let Some(&c) = columns.get(at + AHEAD) {
            all.prefetch(c);
        }
        let (rows, values) = all.column(c);
        scatter(sums, mask, rows, values, |sum, b, _| sum.wrapping_add(times(term, a, b)));
    }
}

#[inline(never)]
fn add_together<W: Float, X: MulOp<A = W, B = W, Out = W>>(
    term: X,
    rows: Together<'_, W>,
    all: &ByColumns<W>,
    sums: &mut [[W; TOGETHER]],
) {
    dispatch_work(SideBySide { term, rows, all, sums });
}

/// Terms of rows of X, side by side, added to their sums for each row of Y. A column of Y is read once for all rows
/// that have it; rows that lack it add zeros, which leave a sum as it is.
struct SideBySide<'a, 'b, W, X> {
    term: X,
    rows: Together<'a, W>,
    all: &'a ByColumns<W>,
    sums: &'b mut [[W; TOGETHER]],
}

impl<W: Float, X: MulOp<A = W, B = W, Out = W>> Work for SideBySide<'_, '_, W, X> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let Self { term, rows, all, sums } = self;
        let (mask, mut at) = (sums.len() - 1, [0; TOGETHER]);
        loop {
            // No column has the last number.
            let next: [u32; TOGETHER] = from_fn(|q| rows[q].0.get(at[q]).copied().unwrap_or(u32::MAX));
            let c = next.into_iter().fold(u32::MAX, u32::min);
            if c == u32::MAX {
                break;
            }
            let (mut entries, mut have, mut last) = ([W::ZERO; TOGETHER], 0, 0);
            for q in (0..TOGETHER).filter(|&q| next[q] == c) {
                entries[q] = rows[q].1[at[q]];
                at[q] += 1;
                (have, last) = (have + 1, q);
                if let Some(&c) = rows[q].0.get(at[q] + 2) {
                    all.prefetch(c);
                }
            }
            let (places, values) = all.column(c);
            if have == 1 {
                let a = entries[last];
                scatter_lane(sums, mask, last, places, values, |sum, b| sum.wrapping_add(times(term, a, b)));
            } else {
                scatter(sums, mask, places, values, |sums, b, _| {
                    from_fn(|q| sums[q].wrapping_add(times(term, entries[q], b)))
                });
            }
        }
    }
}

/// Keys of the rows of a tile.
struct Keys<'a, 'b, R: Recipe> {
    recipe: R,
    x: Norms<Host, R::W>,
    y: NormsOf<'a, R::W>,
    sums: &'a [R::W],
    shared: &'a [R::W],
    keys: &'b mut [f64],
}

impl<R: Recipe> Work for Keys<'_, '_, R> {
    type Out = bool;
    #[inline(always)]
    fn run(self) -> bool {
        let Self { recipe, x, y: [y0, y1], sums, shared, keys } = self;
        let n = keys.len();
        let (y0, y1, sums) = (&y0[..n], &y1[..n], &sums[..n]);
        let shared = if R::COUNTS { &shared[..n] } else { sums };
        let mut any_near = false;
        for (j, key) in keys.iter_mut().enumerate() {
            let y = (V(y0[j]), V(y1[j]));
            let k = recipe.key::<Host>(x, y, V(sums[j]), V(if R::COUNTS { shared[j] } else { R::W::ZERO }));
            if R::REFINES {
                any_near |= recipe.near(k, x, y).0;
            }
            *key = k.0.as_f64();
        }
        any_near
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

/// Σ x ⊗ y over the union of the columns, in their order.
fn union_sum<W: Num, X: MulOp<A = W, B = W, Out = W>>(mul: X, x: (&[u32], &[W]), y: (&[u32], &[W])) -> W {
    let mut sum = W::ZERO;
    for_union(x, y, W::ZERO, |a, b| sum = sum.wrapping_add(times(mul, a, b)));
    sum
}

/// The entries of two rows over the union of their columns, in order, with `zero` where a row has none.
#[inline(always)]
pub(crate) fn for_union<W: Copy>(x: (&[u32], &[W]), y: (&[u32], &[W]), zero: W, mut each: impl FnMut(W, W)) {
    let (mut p, mut q) = (0, 0);
    while p < x.0.len() || q < y.0.len() {
        let (c, d) = (x.0.get(p).copied().unwrap_or(u32::MAX), y.0.get(q).copied().unwrap_or(u32::MAX));
        let a = if c <= d && p < x.0.len() { x.1[p] } else { zero };
        let b = if d <= c && q < y.0.len() { y.1[q] } else { zero };
        p += usize::from(c <= d);
        q += usize::from(d <= c);
        each(a, b);
    }
}
