//! The pattern of a masked product: only what the mask lets through is ever collected.
//!
//! A row of the mask marks its columns; the rows of B then turn marks into hits. Nothing outside the mask is
//! stored, and the numeric phase multiplies only where C has an entry. Marks are a byte for each column, or a hash map where
//! the columns are many more than the work.
//! Source: Milaković et al. 2022 (mask as accumulator); Wolf et al. 2017 (masked products for triangles).

use std::marker::PhantomData;
use std::ops::Range;

use hashbrown::HashMap;

use super::budget::{Budget, bytes_of};
use super::columns::{ColumnFinder, Operands, Search};
use super::product::{FindRows, collect, scratch};
use super::tasks::Work;
use crate::kernels::columns_of_row;
use crate::par::{Threads, filled, out_of_memory, reserved};
use crate::simd::{RowsOf, Shift, meet};
use crate::{Index, Pattern, Result};

const IN_MASK: u8 = 1;
const HIT: u8 = 2;

/// What is known of the columns of one row of a mask.
trait Marks<I>: Sized {
    /// For rows of `ncols` columns, at most `longest` of them in the mask.
    fn new(ncols: usize, longest: usize) -> Result<Self>;
    /// Bytes that these take.
    fn bytes(ncols: usize, longest: usize) -> u128;
    fn set(&mut self, cols: &[I]);
    fn clear(&mut self, cols: &[I]);
    /// Marks a column that B has, if the mask has it.
    fn hit(&mut self, j: I);
    /// The marks of a column; 0 of one that is not in the mask.
    fn get(&self, j: I) -> u8;
}

impl<I: Index> Marks<I> for Vec<u8> {
    fn new(ncols: usize, _: usize) -> Result<Self> {
        filled(ncols, 0, "marks of a mask")
    }
    fn bytes(ncols: usize, _: usize) -> u128 {
        bytes_of::<u8>(ncols)
    }
    fn set(&mut self, cols: &[I]) {
        cols.iter().for_each(|j| self[j.get()] = IN_MASK);
    }
    fn clear(&mut self, cols: &[I]) {
        cols.iter().for_each(|j| self[j.get()] = 0);
    }
    #[inline(always)]
    fn hit(&mut self, j: I) {
        let mark = &mut self[j.get()];
        *mark |= (*mark & IN_MASK) << 1;
    }
    #[inline(always)]
    fn get(&self, j: I) -> u8 {
        self[j.get()]
    }
}

impl<I: Index> Marks<I> for HashMap<I, u8> {
    fn new(_: usize, longest: usize) -> Result<Self> {
        let mut marks = HashMap::new();
        marks.try_reserve(longest).map_err(|_| out_of_memory::<(I, u8)>("marks of a mask", longest))?;
        Ok(marks)
    }
    /// Seven eighths of a power of two of places are used, with a byte each beside the entry, and a few more.
    fn bytes(_: usize, longest: usize) -> u128 {
        let places =
            (longest.saturating_mul(8) / 7).saturating_add(1).checked_next_power_of_two().unwrap_or(usize::MAX);
        bytes_of::<(I, u8)>(places) + bytes_of::<u8>(places) + 64
    }
    fn set(&mut self, cols: &[I]) {
        self.extend(cols.iter().map(|&j| (j, IN_MASK)));
    }
    fn clear(&mut self, _: &[I]) {
        HashMap::clear(self);
    }
    fn hit(&mut self, j: I) {
        if let Some(mark) = self.get_mut(&j) {
            *mark |= HIT;
        }
    }
    fn get(&self, j: I) -> u8 {
        HashMap::get(self, &j).copied().unwrap_or(0)
    }
}

/// Columns for each multiplication and entry of the mask from which on marks are hashed: a byte is cleared some sixteen
/// times as fast as an entry is looked up.
const HYPERSPARSE: u64 = 16;

/// The pattern of C⟨M⟩ = A·B, or of C⟨¬M⟩ if `complement`, and the length of its longest row. The mask's rows are sorted.
///
/// Cost: O(flops + nnz(M)); a row that the mask leaves nothing of costs nothing. Beside it a byte a column for each thread, where
/// the columns are not more than 16 times the work and `budget` has room for them.
pub(super) fn structure<I: Index>(
    threads: &Threads,
    of: Operands<'_, I>,
    mask: &Pattern<I>,
    complement: bool,
    work: &Work,
    budget: &mut Budget,
) -> Result<(Pattern<I>, usize)> {
    let entries = work.flops.saturating_add(mask.nnz() as u64);
    let longest = mask.longest_row();
    let rows = |by| Masked::<I, Vec<u8>> { of, mask, complement, work, longest, by, marks: PhantomData };
    let hashed = |by| Masked::<I, HashMap<I, u8>> { of, mask, complement, work, longest, by, marks: PhantomData };
    if of.b.ncols() as u64 / HYPERSPARSE <= entries {
        for by in [Search::Bits, Search::Lists] {
            if budget.fits(scratch(threads, work, &rows(by))) {
                return collect(threads, of, work, &rows(by), budget);
            }
        }
    }
    let lists = !budget.fits(scratch(threads, work, &hashed(Search::Bits)));
    collect(threads, of, work, &hashed(if lists { Search::Lists } else { Search::Bits }), budget)
}

/// Multiplications for each entry of the mask up to which all of A·B is found first.
const ALL: u64 = 32;
/// And for each entry of operands and mask together, so that a plan does not hold much more than these.
const HELD: u64 = 12;

/// Whether all columns of A·B are to be found before the mask picks its own: then nothing asks of each product whether it counts, which
/// processors guess wrongly where much of it does.
pub(super) fn suits_all<I: Index>(a: &Pattern<I>, b: &Pattern<I>, mask: &Pattern<I>, work: &Work) -> bool {
    let held = (a.nnz() as u64).saturating_add(b.nnz() as u64).saturating_add(mask.nnz() as u64);
    work.flops <= ALL.saturating_mul(mask.nnz() as u64) && work.flops <= HELD.saturating_mul(held)
}

/// The pattern of what `all` and the mask have both, and the length of its longest row.
pub(super) fn within<I: Index>(
    threads: &Threads,
    of: Operands<'_, I>,
    all: &Pattern<I>,
    mask: &Pattern<I>,
    work: &Work,
    budget: &mut Budget,
) -> Result<(Pattern<I>, usize)> {
    collect(threads, of, work, &Within { all, mask }, budget)
}

/// The rows of what two sorted patterns have both.
struct Within<'a, I: Index> {
    all: &'a Pattern<I>,
    mask: &'a Pattern<I>,
}

impl<I: Index> FindRows<I> for Within<'_, I> {
    type State = (Vec<I>, Shift);
    fn state(&self) -> Result<(Vec<I>, Shift)> {
        Ok((filled(self.mask.longest_row() + 1, I::default(), "columns of a row")?, Shift::new::<I>()))
    }
    fn bytes(&self) -> u128 {
        bytes_of::<I>(self.mask.longest_row() + 1)
    }
    #[inline(always)]
    fn row<'s>(&self, (found, with): &'s mut Self::State, i: usize, part: Option<&Range<usize>>) -> &'s [I] {
        let (all, mask) = (columns_of_row(self.all, i, part), columns_of_row(self.mask, i, part));
        let n = if all.len() / SEARCH > mask.len() {
            let (mut n, mut p) = (0, 0);
            for &j in mask {
                p += all[p..].partition_point(|&k| k < j);
                found[n] = j;
                n += usize::from(all.get(p) == Some(&j));
            }
            n
        } else {
            meet(*with, all, mask, found)
        };
        &found[..n]
    }
    fn most(&self) -> u64 {
        self.mask.nnz().min(self.all.nnz()) as u64
    }
    fn least(&self) -> u64 {
        0
    }
}

/// Entries of a row for each entry of the mask from which on those of the mask are searched for.
const SEARCH: usize = 16;

/// The rows of C⟨M⟩, or of C⟨¬M⟩.
struct Masked<'a, I: Index, M> {
    of: Operands<'a, I>,
    mask: &'a Pattern<I>,
    complement: bool,
    work: &'a Work,
    /// Entries in the longest row of the mask.
    longest: usize,
    by: Search,
    marks: PhantomData<fn() -> M>,
}

impl<I: Index, M> Masked<'_, I, M> {
    /// Multiplications of the longest row that is looked for without the mask.
    fn searched(&self) -> u64 {
        if self.complement { self.work.max_row_flops } else { 0 }
    }
    /// Columns in the longest row that is found.
    fn room(&self) -> usize {
        let found = usize::try_from(self.work.max_row_flops).unwrap_or(usize::MAX).min(self.of.b.ncols());
        if self.complement { found } else { found.min(self.longest) }
    }
}

impl<I: Index, M: Marks<I>> FindRows<I> for Masked<'_, I, M> {
    type State = (M, ColumnFinder<I>, Vec<I>);
    fn state(&self) -> Result<Self::State> {
        let finder = ColumnFinder::new(self.of, self.searched(), self.by)?;
        Ok((M::new(self.of.b.ncols(), self.longest)?, finder, reserved(self.room(), "columns of a row")?))
    }
    fn bytes(&self) -> u128 {
        ColumnFinder::bytes(self.of, self.searched(), self.by)
            + M::bytes(self.of.b.ncols(), self.longest)
            + bytes_of::<I>(self.room())
    }
    #[inline(always)]
    fn row<'s>(&self, state: &'s mut Self::State, i: usize, part: Option<&Range<usize>>) -> &'s [I] {
        let Self { of, mask, .. } = *self;
        let (marks, finder, found) = state;
        let masked = mask.row(i);
        found.clear();
        if self.complement {
            let n = finder.find(of, i, part);
            marks.set(masked);
            found.extend(finder.cols[..n].iter().filter(|j| marks.get(**j) == 0));
        } else if !masked.is_empty() {
            marks.set(masked);
            let b = RowsOf::without_values(of.b);
            for k in of.a.row(i) {
                for &j in b.row(k.get()).0 {
                    marks.hit(j);
                }
            }
            let inside = |j: &&I| part.is_none_or(|p| p.contains(&j.get()));
            found.extend(masked.iter().filter(inside).filter(|j| marks.get(**j) & HIT != 0));
        }
        marks.clear(masked);
        found
    }
    fn most(&self) -> u64 {
        if self.complement { self.work.flops } else { self.work.flops.min(self.mask.nnz() as u64) }
    }
    fn least(&self) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::super::{product, tasks};
    use super::*;
    use crate::sparse::Builder;

    type Entries = Vec<(usize, usize)>;

    /// Products whose columns are few, and the same with columns spread over a width that is hashed: by marks in an array, in a map, and
    /// from all of the product.
    #[test]
    fn all_ways_agree() {
        let spread = |width: usize, nrows, entries: &[(usize, usize)]| -> Pattern<u32> {
            let mut a = Builder::<bool>::new(nrows, 20 * width).unwrap();
            for &(i, j) in entries {
                a.push(i, j * width, true).unwrap();
            }
            Pattern::clone(a.finish(crate::algebra::Lor::new()).unwrap().pattern())
        };
        let random = |seed: u64, rows: usize, n: u64| -> Entries {
            let random = |e: u64| crate::generate::splitmix64(seed * 1000 + e) as usize;
            (0..n).map(|e| (random(2 * e) % rows, random(2 * e + 1) % 20)).collect()
        };
        let threads = Threads::new(2).unwrap();
        for (of_mask, least) in [(200, 30), (25, 3)] {
            let product = |width: usize, complement: bool, whole: bool| -> Entries {
                let (a, b) = (spread(1, 30, &random(1, 30, 90)), spread(width, 20, &random(2, 20, 60)));
                let mask = spread(width, 30, &random(3, 30, of_mask));
                let work = tasks::cut(&threads, &a, &b).unwrap();
                let (of, free) = (Operands { a: &a, b: &b, packed: None }, &mut Budget::new(None));
                let (c, longest) = if whole {
                    let (all, _) = product::structure(&threads, of, &work, free).unwrap();
                    within(&threads, of, &all, &mask, &work, free).unwrap()
                } else {
                    structure(&threads, of, &mask, complement, &work, free).unwrap()
                };
                assert_eq!(longest, c.longest_row());
                (0..30).flat_map(|i| c.row(i).iter().map(move |j| (i, j.get() / width))).collect()
            };
            for complement in [false, true] {
                let few = product(1, complement, false);
                assert!(few.len() > least, "{}", few.len());
                assert_eq!(product(1 << 26, complement, false), few);
                if !complement {
                    assert_eq!((product(1, false, true), product(1 << 26, false, true)), (few.clone(), few));
                }
            }
        }
    }

    #[test]
    fn the_choice_follows_the_work() {
        let pattern = |n: usize, of_row: usize| {
            let cols = (0..n).flat_map(|i| (0..of_row).map(move |j| ((i + j) % n) as u32)).collect();
            Pattern::from_unsorted(n, n, (0..=n).map(|i| i * of_row).collect(), cols).unwrap()
        };
        let threads = Threads::new(1).unwrap();
        let suits = |of_row: usize, of_mask: usize| {
            let a = pattern(100, of_row);
            suits_all(&a, &a, &pattern(100, of_mask), &tasks::cut(&threads, &a, &a).unwrap())
        };
        // 16 rows of 16 are 256 products a row: 32 for each of 8 entries of the mask, 12 for each of 16 + 16 + 8 are more.
        assert!(suits(16, 8) && !suits(16, 7));
        // 64 rows of 64 are 4096: no more than 32 of 128, more than 12 of 64 + 64 + 128.
        assert!(!suits(64, 100) && suits(8, 100));
    }
}
