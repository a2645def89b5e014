//! Dense folds over a semiring known at run time: contractions of one or two arrays, and rows of an MTTKRP.
//!
//! Up to [`BLOCK`] products go to a buffer, which is then folded, as in [`Staged`](super::staged::Staged).

use std::ops::Range;

use super::blocks::fill_words;
use super::by_formula::with_type;
use super::sides::{MulSides, Side, SideMultiplier};
use super::unfused::no_structs;
use super::{BLOCK, CompiledRing, Fold};
use crate::algebra::words::{from_words, words};
use crate::algebra::{Array, Slice, Type, Value, Word};
use crate::par::{Threads, collected, reserved};
use crate::{Error, Index, Result};

/// A loop over one index: its extent and its stride in each operand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loop {
    pub(crate) extent: usize,
    pub(crate) steps: [isize; 2],
}

impl Loop {
    /// The operand offsets `at`, advanced by `by` steps.
    fn advanced(&self, at: [usize; 2], by: isize) -> [usize; 2] {
        [0, 1].map(|t| at[t].wrapping_add(self.steps[t].wrapping_mul(by) as usize))
    }
}

/// `C(o…) = ⊕ over k… of A(o…, k…) ⊗ B(o…, k…)`, C row-major; without B the fold of A alone.
#[derive(Clone, Debug)]
pub(crate) struct Nest {
    /// Indices of the result, slowest first; without the inner one.
    pub(crate) outer: Vec<Loop>,
    /// Contracted indices, slowest first; without the inner one.
    pub(crate) folded: Vec<Loop>,
    /// The index along which the buffer is filled, of the result or contracted.
    pub(crate) inner: Loop,
    pub(crate) inner_is_folded: bool,
    /// Offset of the first element of each operand.
    pub(crate) bases: [usize; 2],
}

/// Target number of products per task.
const TASK: usize = 1 << 15;

impl Nest {
    /// Result elements along the inner index, which is cut into pieces of a buffer each; 1 if it is contracted.
    fn columns(&self) -> usize {
        if self.inner_is_folded { 1 } else { self.inner.extent }
    }
    /// Pieces of the inner index.
    fn pieces(&self) -> usize {
        self.columns().div_ceil(BLOCK)
    }
    /// The first result element of piece `t`.
    fn start(&self, t: usize) -> usize {
        let pieces = self.pieces().max(1);
        t / pieces * self.columns() + (t % pieces * BLOCK).min(self.columns())
    }
    /// Ranges of pieces, one task each; `None` if there are too many to count.
    fn blocks(&self) -> Result<Vec<Range<usize>>> {
        let product = |loops: &[Loop]| match loops.iter().any(|l| l.extent == 0) {
            true => Some(0),
            false => loops.iter().map(|l| l.extent).try_fold(1, usize::checked_mul),
        };
        let too_many = Error::OutOfMemory { what: "einsum", bytes: u128::MAX };
        let rows = product(&self.outer).and_then(|rows| rows.checked_mul(self.pieces())).ok_or(too_many)?;
        let inner = if self.inner_is_folded { self.inner.extent } else { self.columns().min(BLOCK) };
        let each = product(&self.folded).and_then(|n| n.checked_mul(inner)).unwrap_or(usize::MAX).max(1);
        let step = (TASK / each).max(1);
        let count = rows.div_ceil(step);
        collected(count, (0..count).map(|b| b * step..rows.min((b + 1) * step)), "blocks")
    }
    /// The operand offsets of row `o` of the result.
    fn row(&self, mut o: usize) -> [usize; 2] {
        self.outer.iter().rev().fold(self.bases, |at, l| {
            let k = o % l.extent;
            o /= l.extent;
            l.advanced(at, k as isize)
        })
    }
    /// Calls `each` with the operand offsets of every tuple of contracted indices, in order.
    fn walk(&self, mut at: [usize; 2], counters: &mut [usize], mut each: impl FnMut([usize; 2])) {
        // An empty fold ends at once, whatever the extents of the other indices.
        if self.folded.iter().chain([&self.inner]).any(|l| l.extent == 0) {
            return;
        }
        loop {
            each(at);
            let mut done = true;
            for (counter, l) in counters.iter_mut().zip(&self.folded).rev() {
                *counter += 1;
                at = l.advanced(at, 1);
                if *counter < l.extent {
                    done = false;
                    break;
                }
                at = l.advanced(at, -(*counter as isize));
                *counter = 0;
            }
            if done {
                return;
            }
        }
    }
}

/// `n` values from `at` on, `step` apart.
fn side<'s, W: Word>(x: &'s [W], at: usize, step: isize, n: usize, room: &'s mut [W]) -> Side<'s, W> {
    match step {
        0 => Side::One(&x[at]),
        1 => Side::Many(&x[at..][..n]),
        _ => {
            for (p, to) in room[..n].iter_mut().enumerate() {
                *to = x[at.wrapping_add(step.wrapping_mul(p as isize) as usize)];
            }
            Side::Many(&room[..n])
        }
    }
}

/// Operands and operators of a contraction.
struct Contraction<'a, W: Word> {
    nest: &'a Nest,
    a: &'a [W],
    /// `None` if A alone is folded.
    b: Option<&'a [W]>,
    fold: &'a dyn Fold<W>,
    mul: &'a dyn MulSides<W>,
}

impl<W: Word> Contraction<'_, W> {
    fn run(&self, threads: &Threads) -> Result<Vec<W>> {
        let blocks = self.nest.blocks()?;
        fill_words(threads, "einsum", &blocks, &|t| self.nest.start(t), self.fold.identity(), &|block, c| {
            self.mul.with(&mut |multiply| self.block(block.clone(), multiply, c));
        })
    }
    /// The pieces of a block.
    fn block(&self, block: Range<usize>, multiply: &mut SideMultiplier<'_, W>, c: &mut [W]) {
        let (nest, fold) = (self.nest, self.fold);
        let (columns, identity) = (columns(), fold.identity());
        let (mut zs, mut rooms) = ([identity; BLOCK], [[identity; BLOCK]; 2]);
        let mut counters = vec![0; nest.folded.len()];
        let first = nest.start(block.start);
        for t in block {
            let (start, end) = (nest.start(t) - first, nest.start(t + 1) - first);
            let at = nest.row(t / nest.pieces());
            let mut products = |at: [usize; 2], n: usize, zs: &mut [W]| {
                let [of_a, of_b] = &mut rooms;
                let x = side(self.a, at[0], nest.inner.steps[0], n, of_a);
                match (self.b, x) {
                    (Some(b), x) => multiply(x, side(b, at[1], nest.inner.steps[1], n, of_b), zs),
                    (None, Side::One(x)) => zs.fill(*x),
                    (None, Side::Many(x)) => zs.copy_from_slice(x),
                }
            };
            if nest.inner_is_folded {
                let mut z = identity;
                nest.walk(at, &mut counters, |at| {
                    for k in (0..nest.inner.extent).step_by(BLOCK) {
                        let n = (nest.inner.extent - k).min(BLOCK);
                        products(nest.inner.advanced(at, k as isize), n, &mut zs[..n]);
                        z = fold.dot(z, &zs[..n]);
                    }
                });
                c[start] = z;
                continue;
            }
            let (at, n) = (nest.inner.advanced(at, (t % nest.pieces() * BLOCK) as isize), end - start);
            let mut sums = [identity; BLOCK];
            nest.walk(at, &mut counters, |at| {
                products(at, n, &mut zs[..n]);
                fold.to_window(&mut sums, &columns[..n], &zs[..n]);
            });
            c[start..end].copy_from_slice(&sums[..n]);
        }
    }
}

/// The positions of a buffer's elements.
fn columns() -> [u32; BLOCK] {
    std::array::from_fn(|j| j as u32)
}

/// Rejects semirings on more than one type and positional semirings: dense arrays have no entry positions.
pub(crate) fn check_dense(ring: &CompiledRing, op: &str, ty: Type) -> Result<()> {
    let mul = ring.formula().mul();
    let refused = |why: String| {
        let what = format!("{op} over {}", ring.text());
        Err(Error::Unsupported { what, why })
    };
    let takes = mul.parameters().iter().filter(|p| mul.reads(&p.0)).find(|p| ["a", "b"].contains(&&*p.0) && p.1 != ty);
    if let Some((_, takes)) = takes {
        return refused(format!("its ⊗ takes {takes}, but the values are {ty}"));
    }
    if ring.ty() != ty {
        return refused(format!("its ⊗ gives {} for values of {ty}", ring.ty()));
    }
    if ["i", "j", "k"].into_iter().any(|place| mul.reads(place)) {
        return refused("its ⊗ reads the row or the column of an entry".into());
    }
    Ok(())
}

/// The contraction of A and B, row-major; the fold of A alone without B.
/// # Errors
/// [`Error::Unsupported`] for structs, and as [`check_dense`]; [`Error::OutOfMemory`], [`Error::Cancelled`].
pub(crate) fn contract_by_formula(
    threads: &Threads,
    ring: &CompiledRing,
    a: Slice<'_>,
    b: Option<Slice<'_>>,
    nest: &Nest,
) -> Result<Array> {
    check_dense(ring, "einsum", a.ty())?;
    with_type!(ring.ty(), T => {
        let kernels = ring.unfused::<T>()?;
        let b = b.as_ref().map(typed_words::<T>).transpose()?;
        let (a, fold) = (typed_words::<T>(&a)?, kernels.fold());
        let c = Contraction { nest, a, b, fold, mul: kernels }.run(threads)?;
        // SAFETY: each word is a copy of an operand's word or a result of ⊕ or ⊗: a value of type T.
        Ok(Array::of(unsafe { from_words::<T>(c) }))
    }, Err(no_structs()))
}

/// Entries of a sparse tensor ordered by one mode: those of row i are `order[ptr[i]..ptr[i + 1]]`.
#[derive(Clone, Copy)]
pub(crate) struct Entries<'a> {
    pub(crate) ptr: &'a [usize],
    /// `order`, and the indices of the entries in the other modes.
    pub(crate) indices: &'a (dyn EntryIndices + Sync),
}

/// Entry numbers and indices, read once per block of columns.
pub(crate) trait EntryIndices {
    /// The number of the p-th entry in the order.
    fn entry(&self, p: usize) -> usize;
    /// The index of an entry in the m-th other mode.
    fn index(&self, m: usize, entry: usize) -> usize;
}

/// [`EntryIndices`] as lists of one index type.
pub(crate) struct Lists<'a, I> {
    pub(crate) order: &'a [I],
    /// Indices in the other modes.
    pub(crate) indices: &'a [&'a [I]],
}
impl<I: Index> EntryIndices for Lists<'_, I> {
    fn entry(&self, p: usize) -> usize {
        self.order[p].get()
    }
    fn index(&self, m: usize, entry: usize) -> usize {
        self.indices[m][entry].get()
    }
}

/// `V(i, r) = ⊕ x(e) ⊗ A₁(i₁(e), r) ⊗ …` over the entries e of row i in order, ⊗ associating to the left; rows have
/// `rank` columns. `factors` holds the factors of the other modes.
/// # Errors
/// As [`contract_by_formula`].
/// # Panics
/// If an index has no row in its factor.
pub(crate) fn mttkrp_by_formula(
    threads: &Threads,
    ring: &CompiledRing,
    entries: Entries<'_>,
    values: Slice<'_>,
    factors: &[Slice<'_>],
    rank: usize,
) -> Result<Array> {
    check_dense(ring, "mttkrp", values.ty())?;
    with_type!(ring.ty(), T => {
        let kernels = ring.unfused::<T>()?;
        let factors = factors.iter().map(typed_words::<T>).collect::<Result<Vec<_>>>()?;
        let (values, fold) = (typed_words::<T>(&values)?, kernels.fold());
        let v = Mttkrp { entries, values, factors: &factors, rank, fold, mul: kernels }.run(threads)?;
        // SAFETY: as for `contract_by_formula`.
        Ok(Array::of(unsafe { from_words::<T>(v) }))
    }, Err(no_structs()))
}

/// The words of values of type T.
fn typed_words<'a, T: Value>(x: &Slice<'a>) -> Result<&'a [T::Word]> {
    x.get::<T>().map(words::<T>).ok_or_else(no_structs)
}

struct Mttkrp<'a, W: Word> {
    entries: Entries<'a>,
    values: &'a [W],
    factors: &'a [&'a [W]],
    rank: usize,
    fold: &'a dyn Fold<W>,
    mul: &'a dyn MulSides<W>,
}

impl<W: Word> Mttkrp<'_, W> {
    fn run(&self, threads: &Threads) -> Result<Vec<W>> {
        let blocks = row_blocks(self.entries.ptr, (TASK / self.rank.max(1)).max(1))?;
        fill_words(threads, "mttkrp", &blocks, &|i| i * self.rank, self.fold.identity(), &|block, v| {
            self.mul.with(&mut |multiply| self.rows(block.clone(), multiply, v));
        })
    }
    fn rows(&self, block: Range<usize>, multiply: &mut SideMultiplier<'_, W>, v: &mut [W]) {
        let Entries { ptr, indices } = self.entries;
        let (columns, identity) = (columns(), self.fold.identity());
        let (mut zs, mut next) = ([identity; BLOCK], [identity; BLOCK]);
        for (i, v) in block.zip(v.chunks_mut(self.rank.max(1))) {
            for (c, v) in v.chunks_mut(BLOCK).enumerate() {
                let (mut sums, n) = ([identity; BLOCK], v.len());
                for p in ptr[i]..ptr[i + 1] {
                    let e = indices.entry(p);
                    let x = &self.values[e];
                    zs[..n].fill(*x);
                    for (m, factor) in self.factors.iter().enumerate() {
                        let row = Side::Many(&factor[indices.index(m, e) * self.rank + c * BLOCK..][..n]);
                        let left = if m == 0 { Side::One(x) } else { Side::Many(&zs[..n]) };
                        multiply(left, row, &mut next[..n]);
                        std::mem::swap(&mut zs, &mut next);
                    }
                    self.fold.to_window(&mut sums, &columns[..n], &zs[..n]);
                }
                v.copy_from_slice(&sums[..n]);
            }
        }
    }
}

/// Ranges of rows with at least `entries` entries, or with as many rows; the last range may be smaller.
fn row_blocks(ptr: &[usize], entries: usize) -> Result<Vec<Range<usize>>> {
    let rows = ptr.len() - 1;
    let mut blocks = reserved(ptr[rows] / entries + rows / entries + 1, "blocks")?;
    let mut first = 0;
    for i in 0..rows {
        if i + 1 == rows || ptr[i + 1] - ptr[first] >= entries || i + 1 - first >= entries {
            blocks.push(first..i + 1);
            first = i + 1;
        }
    }
    Ok(blocks)
}
