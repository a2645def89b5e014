//! The inner loops of a distance whose ⊕ is +, as a value.
//!
//! An engine calls them once per row of X and tile of Y, so the engine is compiled per number type and not per recipe.
//! The code that adds terms is compiled per ⊗, which many recipes share.

use std::array::from_fn;
#[cfg(feature = "cuda")]
use std::sync::Arc;

use super::by_columns::{ByColumns, RowSums};
use super::dense::{self, Dense, QueryRows};
use super::float::Float;
use super::recipe::{DisjointOrder, Invariance, Norms, Recipe, Row, Side};
use super::tile::{Indexed, Query, times};
use crate::algebra::{Host, MulOp, Num, Number, V};
#[cfg(feature = "cuda")]
use crate::algebra::{Plus, Printed, Ring, printed_ring};
use crate::simd::{Work, dispatch_work, scatter, scatter_lane, scatter_positions};

/// The properties of inner loops that an engine depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    /// Keys depend on the number of shared columns.
    pub(crate) counts: bool,
    /// d(x, y) = d(y, x).
    pub(crate) symmetric: bool,
    /// d(x, x) = 0.
    pub(crate) zero_self: bool,
    /// ⊗ takes a few instructions, and x ⊗ 0 = 0.
    pub(crate) cheap: bool,
    /// Also 0 ⊗ y = 0.
    pub(crate) annihilates: bool,
    /// A term depends on the one-sided terms of its entries.
    pub(crate) one_sided: bool,
    /// The order of rows that share no column.
    pub(crate) disjoint_order: DisjointOrder,
    /// A row can query all of Y at once.
    pub(crate) queries_all: bool,
}

/// Rows of X that query all of Y together: an AVX2 register holds a number of each.
pub(crate) const TOGETHER: usize = 4;
/// Columns and entries of such rows, some of which may be empty.
pub(crate) type Together<'a, W> = [(&'a [u32], &'a [W]); TOGETHER];

/// The two norms of a range of rows.
pub(crate) type NormsOf<'a, W> = [&'a [W]; 2];

/// The inner loops of a distance over numbers of type `W`.
pub(crate) trait Loops<W: Float>: Send + Sync {
    fn facts(&self) -> Facts;
    /// The transformations of rows that keep sums from overflowing, underflowing or cancelling.
    fn invariance(&self) -> Invariance {
        Invariance::None
    }
    /// The sums of a row of `ncols` columns: over its entries, and over them again once the first sum is known.
    fn sums(&self, side: Side, values: &[W], ncols: usize) -> [W; 2];
    /// Turns the values of a row into the entries that ⊗ takes.
    fn entries(&self, side: Side, sums: [W; 2], ncols: usize, values: &mut [W]);
    /// The norms of a row.
    fn norms(&self, side: Side, sums: [W; 2], nnz: usize, ncols: usize) -> [W; 2];
    /// The one-sided term of each entry.
    fn one_sided(&self, _side: Side, _entries: &[W], _out: &mut [W]) {}
    /// Adds the terms of a row of X to the sums of the rows of a tile; counts shared columns if `shared` is not empty.
    fn add(&self, row: Query<'_, W>, tile: &Indexed<W>, sums: &mut [W], shared: &mut [W]);
    /// Adds the terms of several rows of X to the sums of the rows of a dense tile, as [`dense::add`] does; called if ⊗
    /// is [`cheap`](Facts::cheap).
    fn add_dense(&self, queries: &QueryRows<'_, W>, tile: &Dense<W>, half: bool, sums: &mut [W]);
    /// Adds the terms of a row of X to the sums of all rows that share a column with it, and counts shared columns if
    /// those are stored; called if [`queries_all`](Facts::queries_all). `ahead` are its columns, followed by those of
    /// likely later queries.
    fn accumulate(&self, _row: (&[u32], &[W]), _ahead: &[u32], _all: &ByColumns<W>, _touched: &mut RowSums<W>) {}
    /// The same into a sum for each row of Y, whether it shares a column or not; their number is rounded up to a power
    /// of two. Called if ⊗ is [`cheap`](Facts::cheap).
    fn accumulate_dense(&self, _row: (&[u32], &[W]), _all: &ByColumns<W>, _sums: &mut [W]) {}
    /// The same for several rows of X at once, whose sums are interleaved; called if ⊗
    /// [`annihilates`](Facts::annihilates), for finite entries.
    fn accumulate_together(&self, _rows: Together<'_, W>, _all: &ByColumns<W>, _sums: &mut [[W; TOGETHER]]) {}
    /// A lower bound on the keys of rows that share with x only columns with Σ a² = `part`, if known.
    fn at_least(&self, _x: [W; 2], _part: f64) -> Option<f64> {
        None
    }
    /// The sum of a row of Y with a row of X in dense form, [`Float::NOTHING`] where the latter has no entry; and the
    /// number of shared columns.
    fn sum(&self, _x: &[W], _y: (&[u32], &[W])) -> (W, W) {
        (W::ZERO, W::ZERO)
    }
    /// Computes keys from sums; returns whether any is so small that it has to be recomputed.
    fn keys(&self, x: [W; 2], y: NormsOf<'_, W>, sums: &[W], shared: &[W], keys: &mut [f64]) -> bool;
    /// Recomputes the near keys, except the one at `skip`.
    fn refine(
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
    /// CUDA text, as from [`emit_recipe`](super::recipe::emit_recipe), if there is one.
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
        Facts {
            counts,
            symmetric,
            zero_self,
            cheap,
            annihilates,
            one_sided: false,
            disjoint_order: R::DISJOINT_ORDER,
            queries_all: true,
        }
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
    fn accumulate(&self, row: (&[u32], &[R::W]), ahead: &[u32], all: &ByColumns<R::W>, touched: &mut RowSums<R::W>) {
        // Where ⊗ is short, scattered access dominates.
        let term = self.0.term();
        if R::STAGED {
            dispatch_work(Accumulate::<_, _, true> { term, row, ahead, all, touched });
        } else {
            Accumulate::<_, _, false> { term, row, ahead, all, touched }.run();
        }
    }
    fn accumulate_dense(&self, row: (&[u32], &[R::W]), all: &ByColumns<R::W>, sums: &mut [R::W]) {
        if R::CHEAP {
            add_whole(self.0.term(), row, all, sums);
        }
    }
    fn accumulate_together(&self, rows: Together<'_, R::W>, all: &ByColumns<R::W>, sums: &mut [[R::W; TOGETHER]]) {
        if R::CHEAP && R::ANNIHILATES {
            add_together(self.0.term(), rows, all, sums);
        }
    }
    fn at_least(&self, x: [R::W; 2], part: f64) -> Option<f64> {
        // Sums over the length of a row lose less than this by rounding.
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
    fn refine(
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

/// Adds terms as they are computed.
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
            let (positions, values) = tile.postings.at(tile.postings.range(c, row.before.map(|before| before + at)));
            scatter_positions(sums, mask, positions, values, |sum, b| sum.wrapping_add(times(term, a, b)));
            if !shared.is_empty() {
                scatter_positions(shared, mask, positions, values, |n, _| n.wrapping_add(W::ONE));
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

/// Computes terms in batches before they are added: ⊗ is long here, and vector instructions speed it up.
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
            let (positions, values) = tile.postings.at(tile.postings.range(c, row.before.map(|before| before + at)));
            for (positions, values) in positions.chunks(64).zip(values.chunks(64)) {
                let terms = &mut terms[..values.len()];
                for (t, &b) in terms.iter_mut().zip(values) {
                    *t = times(term, a, b);
                }
                scatter_positions(sums, mask, positions, terms, |sum, t| sum.wrapping_add(t));
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

/// Prefetch distance in columns.
const AHEAD: usize = 12;

/// Adds terms to the sums of all rows; with `STAGED`, computes them in batches first.
struct Accumulate<'a, 'b, W, X, const STAGED: bool> {
    term: X,
    row: (&'a [u32], &'a [W]),
    ahead: &'a [u32],
    all: &'a ByColumns<W>,
    touched: &'b mut RowSums<W>,
}

impl<W: Float, X: MulOp<A = W, B = W, Out = W>, const STAGED: bool> Work for Accumulate<'_, '_, W, X, STAGED> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let Self { term, row: (columns, entries), ahead, all, touched } = self;
        let mut terms = [W::ZERO; 64];
        for (at, (&c, &a)) in columns.iter().zip(entries).enumerate() {
            // Columns are scattered in memory, so latency dominates.
            if let Some(&c) = ahead.get(at + 2 * AHEAD) {
                all.prefetch_start(c);
            }
            if let Some(&c) = ahead.get(at + AHEAD) {
                all.prefetch(c);
            }
            let (rows, values) = all.column(c);
            if !STAGED {
                touched.add_each(rows, values, |b| times(term, a, b));
                continue;
            }
            for (rows, values) in rows.chunks(64).zip(values.chunks(64)) {
                let terms = &mut terms[..values.len()];
                for (t, &b) in terms.iter_mut().zip(values) {
                    *t = times(term, a, b);
                }
                touched.add(rows, terms);
            }
        }
    }
}

/// Adds the terms of a row of X to a sum for each row of Y.
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

/// Adds the terms of several rows of X to their interleaved sums for each row of Y. A column of Y is read once for all
/// rows that have it; rows that lack it add zeros, which do not change a sum.
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
            let (positions, values) = all.column(c);
            if have == 1 {
                let a = entries[last];
                scatter_lane(sums, mask, last, positions, values, |sum, b| sum.wrapping_add(times(term, a, b)));
            } else {
                scatter(sums, mask, positions, values, |sums, b, _| {
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
