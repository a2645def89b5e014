//! The pattern of a masked product: only what the mask lets through is ever collected.
//!
//! A row of the mask marks its columns; the rows of B then turn marks into hits. Nothing outside the mask is
//! stored, and the numeric phase multiplies only where C has an entry. Marks are a byte for each column, or a hash map where
//! the columns are many more than the work.
//! Source: Milaković et al. 2022 (mask as accumulator); Wolf et al. 2017 (masked products for triangles).

use hashbrown::HashMap;

use super::columns::{ColumnFinder, Operands};
use super::product::collect;
use super::tasks::Work;
use crate::par::{Threads, filled, out_of_memory};
use crate::simd::RowsOf;
use crate::{Index, Pattern, Result};

const IN_MASK: u8 = 1;
const HIT: u8 = 2;

/// What is known of the columns of one row of a mask.
trait Marks<I>: Sized {
    /// For rows of `ncols` columns, at most `longest` of them in the mask.
    fn new(ncols: usize, longest: usize) -> Result<Self>;
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

/// The pattern of C⟨M⟩ = A·B, or of C⟨¬M⟩ if `complement`. The mask's rows are sorted.
///
/// Cost: O(flops + nnz(M)); a row that the mask leaves nothing of costs nothing. Beside it a byte a column for each thread, where
/// the columns are not more than 16 times the work.
pub(super) fn structure<I: Index>(
    threads: &Threads,
    of: Operands<'_, I>,
    mask: &Pattern<I>,
    complement: bool,
    work: &Work,
) -> Result<Pattern<I>> {
    let entries = work.flops.saturating_add(mask.nnz() as u64);
    if of.b.ncols() as u64 / HYPERSPARSE > entries {
        with::<I, HashMap<I, u8>>(threads, of, mask, complement, work)
    } else {
        with::<I, Vec<u8>>(threads, of, mask, complement, work)
    }
}

fn with<I: Index, M: Marks<I>>(
    threads: &Threads,
    of: Operands<'_, I>,
    mask: &Pattern<I>,
    complement: bool,
    work: &Work,
) -> Result<Pattern<I>> {
    let longest = mask.row_ptr().windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0);
    let state = || -> Result<(M, ColumnFinder<I>)> {
        let finder = ColumnFinder::new(of, if complement { work.max_row_flops } else { 0 })?;
        Ok((M::new(of.b.ncols(), longest)?, finder))
    };
    collect(threads, of, work, state, |(marks, finder), i, part, out| {
        let masked = mask.row(i);
        if complement {
            let n = finder.find(of, i, part);
            marks.set(masked);
            out.extend(finder.cols[..n].iter().filter(|j| marks.get(**j) == 0));
        } else if !masked.is_empty() {
            marks.set(masked);
            let b = RowsOf::without_values(of.b);
            for k in of.a.row(i) {
                for &j in b.row(k.get()).0 {
                    marks.hit(j);
                }
            }
            let inside = |j: &&I| part.is_none_or(|p| p.contains(&j.get()));
            out.extend(masked.iter().filter(inside).filter(|j| marks.get(**j) & HIT != 0));
        }
        marks.clear(masked);
    })
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
            let random = |e: u64| crate::generate::splitmix64(seed * 1000 + e) as usize;
            (0..n).map(|e| (random(2 * e) % rows, random(2 * e + 1) % 20)).collect()
        };
        let product = |width: usize, complement: bool| {
            let (a, b) = (spread(1, 30, &random(1, 30, 90)), spread(width, 20, &random(2, 20, 60)));
            let mask = spread(width, 30, &random(3, 30, 200));
            let cpu = Cpu::with_threads(2).unwrap();
            let product = cpu.mxm(PlusTimes::default(), &a, &b).mask(mask.structure());
            let c = if complement { product.complement().eval() } else { product.eval() }.unwrap();
            c.iter().map(|(i, j, x)| (i, j / width, *x)).collect::<Vec<_>>()
        };
        for complement in [false, true] {
            let few = product(1, complement);
            assert!(few.len() > 30, "{}", few.len());
            assert_eq!(product(1 << 26, complement), few);
        }
    }
}
