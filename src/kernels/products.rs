//! Fused loops: ⊕ and ⊗ are type parameters.

use std::ops::Range;
use std::sync::Arc;

use super::{Multiply, OneByOne, RowOfA, RowsOfC};
use crate::algebra::words::{values_mut, word};
use crate::algebra::{At, BinaryOp, Host, Lhs, Monoid, MulOp, Out, Rhs, Semiring, V, Value};
use crate::par::{OutputSlice, out_of_memory};
use crate::simd::{
    self, MaskedProducts, RowsOf, Sixteen, SortedColumns, SparseAccumulator, prefetch, scatter, scatter_at,
};
use crate::{Csr, Index, Pattern, Result};

/// Prefetch distance, in entries of A: the rows of B they select are prefetched.
const AHEAD: usize = 8;

/// A semiring and its operands.
pub(crate) struct Products<'a, R: Semiring, I: Index> {
    ring: R,
    a: &'a Csr<Lhs<R>, I>,
    b: &'a Csr<Rhs<R>, I>,
    rows_of_a: RowsOf<'a, I, Lhs<R>>,
    rows_of_b: RowsOf<'a, I, Rhs<R>>,
}

impl<'a, R: Semiring, I: Index> Products<'a, R, I> {
    /// A(i, k) ⊗ B(k, j), to be summed by ⊕.
    pub(crate) fn new(ring: R, a: &'a Csr<Lhs<R>, I>, b: &'a Csr<Rhs<R>, I>) -> Self {
        let (rows_of_a, rows_of_b) = (RowsOf::new(a.pattern(), a.values()), RowsOf::new(b.pattern(), b.values()));
        Self { ring, a, b, rows_of_a, rows_of_b }
    }

    /// Runs `fold(js, ys, f)` for the columns and values of each row of B that the row of A selects, in order, with
    /// `f(z, y, j)` = z ⊕ (a ⊗ y). Prefetches the next rows.
    #[inline(always)]
    fn each_row_of_b(&self, row: RowOfA<'_>, mut fold: impl FoldRow<R, I>) {
        let Self { ring, rows_of_b: rows, .. } = *self;
        let i = row.i;
        let ((ks, xs), soon) = (self.rows_of_a.row(i), self.rows_of_a.columns_after(i, AHEAD));
        for (p, (&k, &x)) in ks.iter().zip(xs).enumerate() {
            if let Some(k) = soon.get(p) {
                rows.prefetch(k.get());
            }
            let (js, ys) = match row.part {
                None => rows.row(k.get()),
                Some(cols) => rows.part_of_row(k.get(), cols),
            };
            fold.row(js, ys, |z, y, j| add_product(ring, (i, k.get(), j.get()), z, x, y));
        }
    }
}

/// z ⊕ (x ⊗ y) at (i, k, j).
#[inline(always)]
fn add_product<R: Semiring>(ring: R, (i, k, j): (usize, usize, usize), z: Out<R>, x: Lhs<R>, y: Rhs<R>) -> Out<R> {
    let at = At { i: V(i as u64), k: V(k as u64), j: V(j as u64) };
    ring.add().apply::<Host>(V(z), ring.mul().mul::<Host>(V(x), V(y), at)).0
}

/// x ⊗ y at (i, k, j), folded onto the identity like any other product.
#[inline(always)]
fn only_product<R: Semiring>(ring: R, at: (usize, usize, usize), x: Lhs<R>, y: Rhs<R>) -> <Out<R> as Value>::Word {
    word(add_product(ring, at, <R::Add as Monoid>::IDENTITY, x, y))
}

/// Consumer of the products of a row of B: a function generic in a closure.
trait FoldRow<R: Semiring, I: Index> {
    fn row(&mut self, js: &[I], ys: &[Rhs<R>], f: impl Fn(Out<R>, Rhs<R>, I) -> Out<R>);
}

struct ToWindow<'a, T>(&'a mut [T]);
impl<R: Semiring, I: Index> FoldRow<R, I> for ToWindow<'_, Out<R>> {
    #[inline(always)]
    fn row(&mut self, js: &[I], ys: &[Rhs<R>], f: impl Fn(Out<R>, Rhs<R>, I) -> Out<R>) {
        scatter(self.0, self.0.len() - 1, js, ys, f);
    }
}

struct ToPositions<'a, T, P>(&'a mut [T], &'a [P]);
impl<R: Semiring, I: Index, P: Copy + Into<u64>> FoldRow<R, I> for ToPositions<'_, Out<R>, P> {
    #[inline(always)]
    fn row(&mut self, js: &[I], ys: &[Rhs<R>], f: impl Fn(Out<R>, Rhs<R>, I) -> Out<R>) {
        scatter_at(self.0, self.1, self.1.len() - 1, js, ys, f);
    }
}

struct IntoAccumulator<'a, T, I>(&'a mut SparseAccumulator<I>, &'a mut [T]);
impl<R: Semiring, I: Index> FoldRow<R, I> for IntoAccumulator<'_, Out<R>, I> {
    #[inline(always)]
    fn row(&mut self, js: &[I], ys: &[Rhs<R>], f: impl Fn(Out<R>, Rhs<R>, I) -> Out<R>) {
        self.0.fold(self.1, js, ys, f);
    }
}

// Not inlined: as function parameters, the slices are known not to alias. Without that, each product may reload them.
//
// SAFETY: 1. the type is `Out<R>`, and the identity is of it; 2. the words passed in are of it by the caller's
// promise, so they may be read and written as values of it.
unsafe impl<R: Semiring, I: Index> Multiply<<Out<R> as Value>::Word, I> for Products<'_, R, I> {
    fn patterns(&self) -> (&Arc<Pattern<I>>, &Arc<Pattern<I>>) {
        (self.a.pattern(), self.b.pattern())
    }
    fn identity(&self) -> <Out<R> as Value>::Word {
        word(<R::Add as Monoid>::IDENTITY)
    }
    #[inline(never)]
    fn by_window(
        &self,
        rows: RowsOfC<'_, I>,
        window: &mut [<Out<R> as Value>::Word],
        slots: &mut OutputSlice<'_, <Out<R> as Value>::Word>,
    ) {
        let identity = <R::Add as Monoid>::IDENTITY;
        // SAFETY: words of this type, by the caller's promise.
        let window = unsafe { values_mut::<Out<R>>(window) };
        // SAFETY: these words are copies of the identity.
        let take = |n| unsafe { values_mut::<Out<R>>(slots.take(n, word(identity))) };
        rows.each(identity, window, take, |row, window| self.each_row_of_b(row, ToWindow(window)));
    }
    #[inline(never)]
    fn to_short_positions(&self, row: RowOfA<'_>, values: &mut [<Out<R> as Value>::Word], positions: &[u16]) {
        // SAFETY: as above.
        self.each_row_of_b(row, ToPositions(unsafe { values_mut::<Out<R>>(values) }, positions));
    }
    #[inline(never)]
    fn to_positions(&self, row: RowOfA<'_>, values: &mut [<Out<R> as Value>::Word], positions: &[u32]) {
        // SAFETY: as above.
        self.each_row_of_b(row, ToPositions(unsafe { values_mut::<Out<R>>(values) }, positions));
    }
    #[inline(never)]
    fn to_slots(&self, i: usize, p: usize, q: usize, values: &mut [<Out<R> as Value>::Word], slots: &[usize]) {
        // SAFETY: as above.
        let values = unsafe { values_mut::<Out<R>>(values) };
        let Self { ring, a, b, .. } = *self;
        let (ks, bptr) = (a.col_idx(), b.row_ptr());
        let (mut p, mut q, mut slots) = (p, q, slots);
        while !slots.is_empty() {
            if let Some(k) = ks.get(p + AHEAD) {
                prefetch(b.values(), bptr[k.get()]);
            }
            let (k, x) = (ks[p].get(), a.values()[p]);
            let (now, later) = slots.split_at(slots.len().min(bptr[k + 1] - q));
            let entries = q..q + now.len();
            for ((&j, &y), &slot) in b.col_idx()[entries.clone()].iter().zip(&b.values()[entries]).zip(now) {
                let z = &mut values[slot];
                *z = add_product(ring, (i, k, j.get()), *z, x, y);
            }
            (p, slots) = (p + 1, later);
            q = ks.get(p).map_or(0, |k| bptr[k.get()]);
        }
    }
    fn one_by_one(&self) -> Option<&dyn OneByOne<<Out<R> as Value>::Word, I>> {
        Some(self)
    }
}

// SAFETY: as above.
unsafe impl<R: Semiring, I: Index> OneByOne<<Out<R> as Value>::Word, I> for Products<'_, R, I> {
    #[inline(never)]
    fn fold_masked(&self, i: usize, found: &MaskedProducts, values: &mut [<Out<R> as Value>::Word]) {
        // SAFETY: as above.
        let values = unsafe { values_mut::<Out<R>>(values) };
        let ((ks, xs), (js, ys)) = (self.rows_of_a.row(i), (self.b.col_idx(), self.b.values()));
        let (p, q, s) = found.each();
        for ((&p, &q), &s) in p.iter().zip(q).zip(s) {
            let (p, q, z) = (p as usize, q as usize, &mut values[s as usize]);
            *z = add_product(self.ring, (i, ks[p].get(), js[q].get()), *z, xs[p], ys[q]);
        }
    }
    #[inline(never)]
    fn accumulate_row(&self, row: RowOfA<'_>, spa: &mut SparseAccumulator<I>, sums: &mut [<Out<R> as Value>::Word]) {
        // SAFETY: as above.
        self.each_row_of_b(row, IntoAccumulator(spa, unsafe { values_mut::<Out<R>>(sums) }));
    }
    #[inline(never)]
    fn rows_of_b(
        &self,
        rows: Range<usize>,
        mut cols: Option<&mut OutputSlice<'_, I>>,
        values: &mut OutputSlice<'_, <Out<R> as Value>::Word>,
    ) {
        let Self { ring, rows_of_a, rows_of_b, .. } = *self;
        for i in rows {
            let ((ks, xs), soon) = (rows_of_a.row(i), rows_of_a.columns_after(i, AHEAD));
            let (&[k], &[x]) = (ks, xs) else { continue };
            if let Some(k) = soon.first() {
                rows_of_b.prefetch(k.get());
            }
            let (js, ys) = rows_of_b.row(k.get());
            if let Some(cols) = &mut cols {
                cols.copy_row(rows_of_b.columns_after(k.get(), 0), js.len(), |j| j);
            }
            values.take_with(js.len(), |t| only_product(ring, (i, k.get(), js[t].get()), x, ys[t]));
        }
    }
    #[inline(never)]
    fn rows_of_a(&self, rows: Range<usize>, values: &mut OutputSlice<'_, <Out<R> as Value>::Word>) {
        let Self { ring, b, rows_of_a, .. } = *self;
        for i in rows {
            let (ks, xs) = rows_of_a.row(i);
            values.take_with(ks.len(), |t| {
                let k = ks[t].get();
                only_product(ring, (i, k, k), xs[t], b.values()[k])
            });
        }
    }
    fn short_rows(
        &self,
        by: Sixteen,
        rows: Range<usize>,
        lens: &mut [usize],
        to: (&mut Vec<I>, &mut Vec<<Out<R> as Value>::Word>),
    ) -> Result<usize> {
        by.run(ShortRows { of: self, by, rows, lens, to })
    }
}

/// The work of [`OneByOne::short_rows`].
struct ShortRows<'a, 'p, R: Semiring, I: Index> {
    of: &'a Products<'p, R, I>,
    by: Sixteen,
    rows: Range<usize>,
    lens: &'a mut [usize],
    to: (&'a mut Vec<I>, &'a mut Vec<<Out<R> as Value>::Word>),
}

impl<R: Semiring, I: Index> simd::Work for ShortRows<'_, '_, R, I> {
    type Out = Result<usize>;
    /// Products are computed row of B by row of B and folded in column order. These rows are so short that the exit of
    /// a loop of variable length would usually be mispredicted. So products are computed in groups of four, repeating
    /// the last product of a row of B, and folded in groups of eight, with the surplus going to a position past the
    /// last.
    #[inline(always)]
    fn run(self) -> Result<usize> {
        const MOST: usize = 16;
        const FOUR: usize = 4;
        let Self { of: &Products { ring, rows_of_a, rows_of_b, .. }, by, rows, lens, to: (cols, values) } = self;
        let identity = <R::Add as Monoid>::IDENTITY;
        let (mut products, mut order) = ([identity; MOST + FOUR - 1], [0; MOST]);
        let add = |z: Out<R>, x: Out<R>| ring.add().apply::<Host>(V(z), V(x)).0;
        let all = rows.len();
        assert!(lens.len() >= all);
        for (done, (i, len)) in rows.zip(lens).enumerate() {
            let ((ks, xs), soon) = (rows_of_a.row(i), rows_of_a.columns_after(i, AHEAD));
            let each = |p: usize, at: usize, js: &[I], ys: &[Rhs<R>]| {
                if let Some(k) = soon.get(p) {
                    rows_of_b.prefetch(k.get());
                }
                let (k, x) = (ks[p], xs[p]);
                for from in (0..js.len()).step_by(FOUR) {
                    for t in 0..FOUR {
                        let q = (from + t).min(js.len() - 1);
                        let at_ = At { i: V(i as u64), k: V(k.get() as u64), j: V(js[q].get() as u64) };
                        products[at + from + t] = ring.mul().mul::<Host>(V(x), V(ys[q]), at_).0;
                    }
                }
            };
            let Some(SortedColumns { new, len: n }) = by.append_sorted(rows_of_b, ks, each, cols, &mut order)? else {
                return Ok(done);
            };
            *len = new.count_ones() as usize;
            if n == 0 {
                continue;
            }
            let from = values.len();
            values.try_reserve(MOST + 1).map_err(|_| out_of_memory::<Out<R>>("a block of C", from + MOST + 1))?;
            values.resize(from + MOST + 1, word(identity));
            // SAFETY: these words are copies of the identity.
            let row = unsafe { values_mut::<Out<R>>(&mut values[from..]) };
            let (new, mut place) = (new | 1 << n, 0);
            let mut fold = |s: usize| {
                let z = &mut row[place];
                *z = add(*z, products[order[s] as usize % MOST]);
                place += (new >> (s + 1) & 1) as usize;
            };
            (0..MOST / 2).for_each(&mut fold);
            if n > MOST / 2 {
                (MOST / 2..MOST).for_each(fold);
            }
            values.truncate(from + *len);
        }
        Ok(all)
    }
}
