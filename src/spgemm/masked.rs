//! The pattern of a masked product: only what the mask lets through is ever collected.
//!
//! A row of the mask marks its columns; the rows of B then turn marks into hits. Nothing outside the mask is stored,
//! and the numeric phase multiplies only where C has an entry. Marks are a byte for each column, or a hash map where
//! the columns are many more than the work. Source: Milaković et al. 2022 (mask as accumulator); Wolf et al. 2017
//! (masked products for triangles).

use std::marker::PhantomData;
use std::ops::Range;

use hashbrown::HashMap;

use super::budget::{Budget, bytes_of};
use super::columns::{ColumnFinder, Search};
use super::product::{FindRows, collect, least_in_row, scratch};
use super::shifted_rows::Operands;
use super::tasks::Work;
use crate::par::{Threads, filled, out_of_memory, reserved};
use crate::simd::RowsOf;
use crate::{Index, Pattern, Result};

const IN_MASK: u8 = 1;
const HIT: u8 = 2;

/// What is known of the columns of one row of a mask.
trait Marks<I>: Sized {
    /// Whether loops over them are worth the widest instructions.
    const WIDE: bool;
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
    const WIDE: bool = true;
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
    const WIDE: bool = false;
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

/// The pattern of C⟨M⟩ = A·B, or of C⟨¬M⟩ if `complement`, and the length of its longest row. The mask's rows are
/// sorted.
///
/// Cost: O(flops + nnz(M)); a row that the mask leaves nothing of costs nothing. Beside it a byte a column for each
/// thread, where the columns are not more than 16 times the work and `budget` has room for them.
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
    const WIDE: bool = M::WIDE;
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
    /// Under a complement, what a row of A·B has at least, but for the places that the mask takes from it.
    fn least(&self) -> u64 {
        if !self.complement {
            return 0;
        }
        let left = |i: usize| least_in_row(self.of, i).saturating_sub(self.mask.row(i).len() as u64);
        (0..self.of.a.nrows()).map(left).sum()
    }
}

#[cfg(test)]
mod tests {
    use crate::algebra::{Plus, PlusTimes};
    use crate::backend::{Backend, Container};
    use crate::sparse::Builder;
    use crate::{Cpu, Csr};

    /// Products whose columns are few, and the same with columns spread over a width that is hashed.
    #[test]
    fn marks_in_a_map_are_those_in_an_array() {
        let spread = |width: usize, nrows, entries: &[(usize, usize)]| -> Csr<f64> {
            let mut a = Builder::new(nrows, 20 * width).unwrap();
            for &(i, j) in entries {
                a.push(i, j * width, 1.0 + j as f64).unwrap();
            }
            a.finish(Plus::new()).unwrap()
        };
        let random = |seed: u64, rows: usize, n: u64| -> Vec<(usize, usize)> {
            let random = |e: u64| sparring_generate::splitmix64(seed * 1000 + e) as usize;
            (0..n).map(|e| (random(2 * e) % rows, random(2 * e + 1) % 20)).collect()
        };
        let product = |width: usize, complement: bool| {
            let (a, b) = (spread(1, 30, &random(1, 30, 90)), spread(width, 20, &random(2, 20, 60)));
            let mask = spread(width, 30, &random(3, 30, 200));
            let cpu = Cpu::with_threads(2).unwrap();
            let plan = cpu.plan(&a, &b);
            let plan =
                if complement { plan.mask(!mask.structure()) } else { plan.mask(mask.structure()) }.eval().unwrap();
            let c = cpu.mxm(PlusTimes::default(), &a, &b).plan(&plan).eval().unwrap();
            c.iter().map(|(i, j, x)| (i, j / width, *x)).collect::<Vec<_>>()
        };
        for complement in [false, true] {
            let few = product(1, complement);
            assert!(few.len() > 30, "{}", few.len());
            assert_eq!(product(1 << 26, complement), few);
        }
    }
}
