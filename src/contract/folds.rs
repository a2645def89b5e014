//! C(o) = ⊕ₖ A(o, k) ⊗ B(o, k), or ⊕ₖ A(o, k): long sums, inner products, matrix-vector products, by all threads.
//!
//! If there are few folds, each is split into parts. Where terms are contiguous, those of a part are distributed over
//! [`SUMS`] sums; where results are, each part is one sum in order. Parts and sums are combined pairwise. All of this
//! follows from sizes and strides alone, so results are bitwise the same for any number of threads and on every CPU.

use std::array::from_fn;
use std::marker::PhantomData;
use std::ops::Range;

use super::blocked::join;
use super::side::Side;
use super::spans::Spans;
use super::target::Target;
use crate::Result;
use crate::algebra::{Arithmetic, Contract, Monoid, Value};
use crate::par::{Threads, UninitOutput, filled};
use crate::simd::{Work, dispatch_work};

/// Partial sums of a fold with contiguous terms: enough registers to hide the latency of an addition.
const SUMS: usize = 32;
/// Results that are processed in rotation, `RUN` terms of each, because a single stream does not saturate the memory
/// (4000 × 4000 times a vector, f64, two threads, Xeon with AVX-512: 0.27 ns a term by one stream, 0.15 by four).
const RESULTS: usize = 4;
const RUN: usize = 256;
/// Number of results from which folds are not split: they occupy all threads.
const MANY_FOLDS: usize = 1024;
/// Terms that justify a part, and most parts of a fold.
const PART: usize = 1 << 15;
const PARTS: usize = 256;
/// Results that are computed side by side, and terms that are added to them at a time.
const WIDE: usize = 2048;
const TOGETHER: usize = 4;
/// Terms of a task, about.
const TASK: usize = 1 << 17;

/// Folds of one operand, or of products of two.
#[derive(Debug)]
pub(super) struct Folds {
    pub(super) a: Side,
    pub(super) b: Option<Side>,
    /// Offsets in A, B and C.
    pub(super) o: Spans<3>,
    /// Offsets in A and B.
    pub(super) k: Spans<2>,
    /// Results are contiguous, with every operand either contiguous or constant along them.
    pub(super) wide: bool,
}

impl Folds {
    /// Whether results are computed side by side: they are contiguous in all operands that vary along them, and the
    /// terms of a fold are not, or are few.
    pub(super) fn is_wide(o: &Spans<3>, k: &Spans<2>, two: bool) -> bool {
        let (a, b) = (o.steps[0], if two { o.steps[1] } else { 0 });
        let long = k.steps[0] <= 1 && (!two || k.steps[1] <= 1) && k.len() >= SUMS;
        a <= 1 && b <= 1 && (a == 1 || b == 1) && !long
    }
    /// Parts of each fold, and terms per part; a function of sizes alone.
    fn cut(&self) -> (usize, usize) {
        let (o, k) = (self.o.len().max(1), self.k.len());
        let parts = if o < MANY_FOLDS { (o.saturating_mul(k) / PART).clamp(1, PARTS) } else { 1 };
        let part = k.div_ceil(parts).max(1).next_multiple_of(SUMS);
        (k.div_ceil(part).max(1), part)
    }
    /// Results of a task.
    fn chunk(&self, threads: usize, part: usize) -> usize {
        let share = self.o.len().div_ceil(4 * threads).max(1);
        if self.wide { share.clamp(64, WIDE) } else { (TASK / part).clamp(1, WIDE).min(share) }
    }
    /// Bytes besides operands, result and offset tables.
    pub(super) fn workspace(&self, threads: usize, size: usize) -> u128 {
        let (parts, part) = self.cut();
        let all = if parts > 1 { parts * self.o.len() } else { 0 };
        (all + threads * self.chunk(threads, part)) as u128 * size as u128
    }
    /// Parts of each fold.
    pub(super) fn parts(&self) -> usize {
        self.cut().0
    }

    /// Computes all of C.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Cancelled`](crate::Error::Cancelled).
    pub(super) fn run<T: Value, A: Arithmetic<T>>(
        &self,
        threads: &Threads,
        ring: A,
        a: (&[T], usize),
        b: Option<(&[T], usize)>,
        c: &Target<'_, T>,
    ) -> Result<()> {
        let (o, (parts, part)) = (self.o.len(), self.cut());
        let chunk = self.chunk(threads.count(), part);
        let chunks = o.div_ceil(chunk);
        let range = |t: usize| t * chunk..o.min((t + 1) * chunk);
        let fold = |o: Range<usize>, p: usize, sums: &mut [T]| {
            let k = p * part..self.k.len().min((p + 1) * part);
            match b {
                Some(b) => dispatch_work(Fold::<T, A, true> { ring, folds: self, a, b, o, k, sums }),
                None => dispatch_work(Fold::<T, A, false> { ring, folds: self, a, b: (&[], 0), o, k, sums }),
            }
        };
        let store = |o: Range<usize>, mut sums: &[T]| {
            for ([.., offset], count) in self.o.runs(o) {
                let (now, later) = sums.split_at(count);
                c.store(ring, offset, self.o.steps[2], now);
                sums = later;
            }
        };
        if parts == 1 {
            let state = || filled(chunk, A::ZERO, "einsum");
            return threads.for_each_beside("einsum", chunks, state, |sums, t| {
                let sums = &mut sums[..range(t).len()];
                fold(range(t), 0, sums);
                store(range(t), sums);
                Ok(())
            });
        }
        let start = |t: usize| t / chunks * o + range(t % chunks).start.min(o);
        let mut partials = UninitOutput::new(parts * o, "einsum")?.fill(
            threads,
            "einsum",
            parts * chunks,
            start,
            || Ok(()),
            |(), t, slots| {
                fold(range(t % chunks), t / chunks, slots.rest(A::ZERO));
                Ok(())
            },
        )?;
        join(ring, &mut partials, o);
        store(0..o, &partials[..o]);
        Ok(())
    }
}

/// A range of results, from a range of their terms.
struct Fold<'a, T, A, const TWO: bool> {
    ring: A,
    folds: &'a Folds,
    a: (&'a [T], usize),
    b: (&'a [T], usize),
    o: Range<usize>,
    k: Range<usize>,
    sums: &'a mut [T],
}

impl<T: Value, A: Arithmetic<T>, const TWO: bool> Work for Fold<'_, T, A, TWO> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        // On x86-64 this runs without FMA instructions, where fused operations would be calls.
        if cfg!(target_arch = "x86_64") { self.plain() } else { self.run_in::<16>() }
    }
    #[inline(always)]
    fn run_in<const BYTES: usize>(self) {
        if self.folds.wide { self.wide() } else { self.long() }
    }
}

/// sum ⊕ x ⊗ y, or sum ⊕ x.
#[inline(always)]
fn add<T: Value, A: Arithmetic<T>, const TWO: bool>(ring: A, sum: T, x: T, y: T) -> T {
    if TWO { ring.fold(sum, x, y) } else { ring.plus(sum, x) }
}

impl<T: Value, A: Arithmetic<T>, const TWO: bool> Fold<'_, T, A, TWO> {
    /// The same folds for a CPU without wide registers, term by term: their slowdown does not justify the code size of
    /// all loops for such CPUs too.
    fn plain(self) {
        let Self { ring, folds, a: (a, a_base), b: (b, b_base), o, k, sums: to } = self;
        let steps = folds.k.steps;
        let several = !folds.wide && !<A as Contract>::Add::IS_LAST;
        for (o, to) in o.zip(to) {
            let [oa, ob, _] = folds.o.at(o);
            let (mut sums, mut next) = ([A::ZERO; SUMS], 0);
            for ([ka, kb], count) in folds.k.runs(k.clone()) {
                let (mut x, mut y) =
                    (a_base.wrapping_add(oa).wrapping_add(ka), b_base.wrapping_add(ob).wrapping_add(kb));
                for _ in 0..count {
                    let factor = if TWO { b[y] } else { A::ZERO };
                    sums[next] = add::<T, A, TWO>(ring, sums[next], a[x], factor);
                    (x, y) = (x.wrapping_add(steps[0]), y.wrapping_add(steps[1]));
                    next = if several { (next + 1) % SUMS } else { 0 };
                }
            }
            *to = if several { joined(ring, sums) } else { sums[0] };
        }
    }

    /// A few results at a time, their terms distributed over sums.
    #[inline(always)]
    fn long(self) {
        let Self { ring, folds, a: (a, a_base), b: (b, b_base), o, k, sums: to } = self;
        let steps = folds.k.steps;
        for (t, to) in to.chunks_mut(RESULTS).enumerate() {
            let first = o.start + t * RESULTS;
            let starts: [[usize; 2]; RESULTS] = from_fn(|r| {
                let [oa, ob, _] = folds.o.at((first + r).min(o.end - 1));
                [a_base.wrapping_add(oa), b_base.wrapping_add(ob)]
            });
            let mut dealt = [Dealt::<T, A>::NEW; RESULTS];
            for ([ka, kb], count) in folds.k.runs(k.clone()) {
                for i in (0..count).step_by(RUN) {
                    let n = RUN.min(count - i);
                    let [ka, kb] = [0, 1].map(|t| [ka, kb][t].wrapping_add(steps[t].wrapping_mul(i)));
                    for (dealt, start) in dealt[..to.len()].iter_mut().zip(starts) {
                        let at = [start[0].wrapping_add(ka), start[1].wrapping_add(kb)];
                        dealt.add::<TWO>(ring, (a, at[0], steps[0]), (b, at[1], steps[1]), n);
                    }
                }
            }
            for (to, dealt) in to.iter_mut().zip(dealt) {
                *to = dealt.sum::<TWO>(ring);
            }
        }
    }

    /// Results side by side, each in the order of its terms: a few terms of all results at a time.
    #[inline(always)]
    fn wide(self) {
        let Self { ring, folds, a: (a, a_base), b: (b, b_base), o, k, sums } = self;
        let (sa, sb) = (folds.o.steps[0], folds.o.steps[1]);
        let mut rest = sums;
        for ([oa, ob, _], count) in folds.o.runs(o) {
            let (sums, later) = std::mem::take(&mut rest).split_at_mut(count);
            rest = later;
            sums.fill(A::ZERO);
            let (oa, ob) = (a_base.wrapping_add(oa), b_base.wrapping_add(ob));
            for ([ka, kb], terms) in folds.k.runs(k.clone()) {
                let (oa, ob) = (oa.wrapping_add(ka), ob.wrapping_add(kb));
                // An operand that is constant along the results has one element.
                let line = |t: usize, i: usize, step: usize| {
                    let (data, at) = [(a, oa), (b, ob)][t];
                    let at = at.wrapping_add(folds.k.steps[t].wrapping_mul(i));
                    &data[at..][..if step == 0 { 1 } else { count }]
                };
                let x = |i: usize| line(0, i, sa);
                let y = |i: usize| if TWO { line(1, i, sb) } else { x(i) };
                let whole = terms / TOGETHER * TOGETHER;
                for i in (0..whole).step_by(TOGETHER) {
                    rows::<T, A, TWO, TOGETHER>(ring, sums, from_fn(|g| x(i + g)), from_fn(|g| y(i + g)));
                }
                for i in whole..terms {
                    rows::<T, A, TWO, 1>(ring, sums, [x(i)], [y(i)]);
                }
            }
        }
    }
}

/// A fold whose terms are distributed over sums.
#[derive(Clone, Copy)]
struct Dealt<T, A> {
    sums: [T; SUMS],
    /// Buffered terms, until there is one for each sum.
    xs: [T; SUMS],
    ys: [T; SUMS],
    have: usize,
    ring: PhantomData<A>,
}

impl<T: Value, A: Arithmetic<T>> Dealt<T, A> {
    const NEW: Self =
        Self { sums: [A::ZERO; SUMS], xs: [A::ZERO; SUMS], ys: [A::ZERO; SUMS], have: 0, ring: PhantomData };

    /// Adds `n` terms, given the array, offset and stride of each operand.
    #[inline(always)]
    fn add<const TWO: bool>(&mut self, ring: A, x: (&[T], usize, usize), y: (&[T], usize, usize), n: usize) {
        let of = |x: (&[T], usize, usize), i: usize| x.0[x.1.wrapping_add(x.2.wrapping_mul(i))];
        if <A as Contract>::Add::IS_LAST {
            // Neither order nor number of terms may change, so there is one sum.
            for i in 0..n {
                let y = if TWO { of(y, i) } else { A::ZERO };
                self.sums[0] = add::<T, A, TWO>(ring, self.sums[0], of(x, i), y);
            }
            return;
        }
        let straight = x.2 == 1 && (!TWO || y.2 == 1);
        let mut i = 0;
        while i < n {
            let (xs, ys) = if self.have == 0 && straight && n - i >= SUMS {
                let whole = (n - i) / SUMS * SUMS;
                let (at_x, at_y) = (x.1.wrapping_add(i), y.1.wrapping_add(i));
                i += whole;
                let xs = &x.0[at_x..][..whole];
                (xs, if TWO { &y.0[at_y..][..whole] } else { xs })
            } else {
                let end = n.min(i + SUMS - self.have);
                while i < end {
                    self.xs[self.have] = of(x, i);
                    if TWO {
                        self.ys[self.have] = of(y, i);
                    }
                    (i, self.have) = (i + 1, self.have + 1);
                }
                if self.have < SUMS {
                    return;
                }
                self.have = 0;
                (&self.xs[..], &self.ys[..])
            };
            self.sums = deal::<T, A, TWO>(ring, self.sums, xs, ys);
        }
    }
    /// The sum of all terms; sums are combined pairwise.
    #[inline(always)]
    fn sum<const TWO: bool>(mut self, ring: A) -> T {
        if <A as Contract>::Add::IS_LAST {
            return self.sums[0];
        }
        for s in 0..self.have {
            self.sums[s] = add::<T, A, TWO>(ring, self.sums[s], self.xs[s], self.ys[s]);
        }
        joined(ring, self.sums)
    }
}

/// Combines sums pairwise until one is left.
#[inline(always)]
fn joined<T: Value, A: Arithmetic<T>>(ring: A, mut sums: [T; SUMS]) -> T {
    let mut n = SUMS;
    while n > 1 {
        n /= 2;
        for s in 0..n {
            sums[s] = ring.plus(sums[2 * s], sums[2 * s + 1]);
        }
    }
    sums[0]
}

/// Distributes terms over sums.
#[inline(always)]
fn deal<T: Value, A: Arithmetic<T>, const TWO: bool>(ring: A, mut sums: [T; SUMS], xs: &[T], ys: &[T]) -> [T; SUMS] {
    for (xs, ys) in xs.as_chunks::<SUMS>().0.iter().zip(ys.as_chunks::<SUMS>().0) {
        for s in 0..SUMS {
            sums[s] = add::<T, A, TWO>(ring, sums[s], xs[s], ys[s]);
        }
    }
    sums
}

/// Adds G terms to each sum, in order; a constant operand has one element.
#[inline(always)]
fn rows<T: Value, A: Arithmetic<T>, const TWO: bool, const G: usize>(
    ring: A,
    sums: &mut [T],
    xs: [&[T]; G],
    ys: [&[T]; G],
) {
    let count = sums.len();
    let many = |lines: &[&[T]; G]| lines.iter().all(|line| line.len() == count);
    macro_rules! sums {
        (|$g:ident, $j:ident| $x:expr, $y:expr) => {
            for ($j, to) in sums.iter_mut().enumerate() {
                let mut sum = *to;
                for $g in 0..G {
                    sum = add::<T, A, TWO>(ring, sum, $x, $y);
                }
                *to = sum;
            }
        };
    }
    match (many(&xs), many(&ys)) {
        (_, many) if !TWO || many && xs[0].len() == count => {
            let (xs, ys) = (xs.map(|x| &x[..count]), ys.map(|y| &y[..count]));
            sums!(|g, j| xs[g][j], ys[g][j]);
        }
        (false, true) => {
            let (xs, ys) = (xs.map(|x| x[0]), ys.map(|y| &y[..count]));
            sums!(|g, j| xs[g], ys[g][j]);
        }
        _ => {
            let (xs, ys) = (xs.map(|x| &x[..count]), ys.map(|y| y[0]));
            sums!(|g, j| xs[g][j], ys[g]);
        }
    }
}
