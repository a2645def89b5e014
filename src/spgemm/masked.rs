//! The pattern of a masked product: nothing outside the mask is ever stored.
//!
//! A row of the mask flags its columns; the rows of B then turn flags into hits. The numeric phase multiplies only
//! where C has an entry. Flags are one byte per column, or a hash map where columns far outnumber the work. Source:
//! Milaković et al. 2022 (mask as accumulator); Wolf et al. 2017 (masked products for triangles).

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

/// The state of the columns of one row of a mask.
trait MaskFlags<I>: Sized {
    /// Whether loops over them are worth the widest instructions.
    const WIDE: bool;
    /// For rows of `ncols` columns, at most `longest` of them in the mask.
    fn new(ncols: usize, longest: usize) -> Result<Self>;
    /// Bytes that [`new`](Self::new) takes.
    fn bytes(ncols: usize, longest: usize) -> u128;
    fn set(&mut self, cols: &[I]);
    fn clear(&mut self, cols: &[I]);
    /// Records that B has a column, if the mask has it.
    fn hit(&mut self, j: I);
    /// The state of a column; 0 if it is not in the mask.
    fn get(&self, j: I) -> u8;
}

impl<I: Index> MaskFlags<I> for Vec<u8> {
    const WIDE: bool = true;
    fn new(ncols: usize, _: usize) -> Result<Self> {
        filled(ncols, 0, "flags of a mask")
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
        let flag = &mut self[j.get()];
        *flag |= (*flag & IN_MASK) << 1;
    }
    #[inline(always)]
    fn get(&self, j: I) -> u8 {
        self[j.get()]
    }
}

impl<I: Index> MaskFlags<I> for HashMap<I, u8> {
    const WIDE: bool = false;
    fn new(_: usize, longest: usize) -> Result<Self> {
        let mut flags = HashMap::new();
        flags.try_reserve(longest).map_err(|_| out_of_memory::<(I, u8)>("flags of a mask", longest))?;
        Ok(flags)
    }
    /// hashbrown fills seven eighths of a power of two of buckets, each with a control byte, and a group of spare
    /// control bytes.
    fn bytes(_: usize, longest: usize) -> u128 {
        let positions =
            (longest.saturating_mul(8) / 7).saturating_add(1).checked_next_power_of_two().unwrap_or(usize::MAX);
        bytes_of::<(I, u8)>(positions) + bytes_of::<u8>(positions) + 64
    }
    fn set(&mut self, cols: &[I]) {
        self.extend(cols.iter().map(|&j| (j, IN_MASK)));
    }
    fn clear(&mut self, _: &[I]) {
        HashMap::clear(self);
    }
    fn hit(&mut self, j: I) {
        if let Some(flag) = self.get_mut(&j) {
            *flag |= HIT;
        }
    }
    fn get(&self, j: I) -> u8 {
        HashMap::get(self, &j).copied().unwrap_or(0)
    }
}

/// Columns per unit of work (multiplications and mask entries) above which flags are hashed: clearing a byte is some
/// sixteen times as fast as looking up an entry.
const HYPERSPARSE: u64 = 16;

/// The pattern of C⟨M⟩ = A·B, or of C⟨¬M⟩ if `complement`, and the length of its longest row. The mask's rows are
/// sorted.
///
/// Cost: O(flops + nnz(M)) time; without a complement, a row whose mask is empty costs nothing. Scratch: one byte a
/// column for each thread, where columns are at most 16 times the work and `budget` allows it.
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
    let rows = |by| Masked::<I, Vec<u8>> { of, mask, complement, work, longest, by, flags: PhantomData };
    let hashed = |by| Masked::<I, HashMap<I, u8>> { of, mask, complement, work, longest, by, flags: PhantomData };
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
    flags: PhantomData<fn() -> M>,
}

impl<I: Index, M> Masked<'_, I, M> {
    /// Multiplications of the longest row that is searched without the mask.
    fn searched(&self) -> u64 {
        if self.complement { self.work.max_row_flops } else { 0 }
    }
    /// Columns in the longest row found.
    fn room(&self) -> usize {
        let found = usize::try_from(self.work.max_row_flops).unwrap_or(usize::MAX).min(self.of.b.ncols());
        if self.complement { found } else { found.min(self.longest) }
    }
}

impl<I: Index, M: MaskFlags<I>> FindRows<I> for Masked<'_, I, M> {
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
        let (flags, finder, found) = state;
        let masked = mask.row(i);
        found.clear();
        if self.complement {
            let n = finder.find(of, i, part);
            flags.set(masked);
            found.extend(finder.cols[..n].iter().filter(|j| flags.get(**j) == 0));
        } else if !masked.is_empty() {
            flags.set(masked);
            let b = RowsOf::without_values(of.b);
            for k in of.a.row(i) {
                for &j in b.row(k.get()).0 {
                    flags.hit(j);
                }
            }
            let inside = |j: &&I| part.is_none_or(|p| p.contains(&j.get()));
            found.extend(masked.iter().filter(inside).filter(|j| flags.get(**j) & HIT != 0));
        }
        flags.clear(masked);
        found
    }
    fn most(&self) -> u64 {
        if self.complement { self.work.flops } else { self.work.flops.min(self.mask.nnz() as u64) }
    }
    /// Under a complement: the least length of each row of A·B, less its masked positions.
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

    /// A product of few columns, and the same product spread over a width that requires hashing.
    #[test]
    fn hashed_flags_equal_byte_flags() {
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
            let narrow = product(1, complement);
            assert!(narrow.len() > 30, "{}", narrow.len());
            assert_eq!(product(1 << 26, complement), narrow);
        }
    }
}
