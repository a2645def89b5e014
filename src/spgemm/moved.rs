//! Rows of B that are a row some rows before, moved by some columns.
//!
//! Where a row of A is the row before moved by s columns, and the rows of B that it takes are those s rows before them,
//! moved, all by as much, the row of C is the row before moved so. On grids nearly all rows are, s is 1 (3 where three
//! points are made one), and each row of B is taken by several of A: compared once, it need not be read again.

use std::ops::Range;

use super::budget::bytes_of;
use crate::par::{Threads, collected, filled, for_each_part};
use crate::simd::{self, Shift, dispatch_work};
use crate::sparse::{cut, row_blocks};
use crate::{Index, Pattern, Result};

/// For each row of B by how many columns it is the row `step` rows before, moved.
pub(super) struct Moved<I> {
    pub(super) step: I,
    /// [`Index::LAST`] where it is not.
    by: Vec<I>,
}

impl<I: Index> Moved<I> {
    /// Compares each row with the one `step` rows before. Cost: O(nnz(B)).
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Cancelled`](crate::Error::Cancelled).
    pub(super) fn find(threads: &Threads, b: &Pattern<I>, step: I) -> Result<Self> {
        let mut by = filled(b.nrows(), I::LAST, "rows that are moved")?;
        let blocks = row_blocks(threads, b.nrows(), |i| (b.row_ptr()[i] + i) as u64)?;
        let parts = cut(&mut by, blocks.len(), blocks.iter().map(Range::len))?;
        let parts = collected(blocks.len(), blocks.into_iter().zip(parts), "rows that are moved")?;
        for_each_part(
            threads,
            parts,
            || Ok(()),
            |(), (rows, by)| {
                dispatch_work(Compare { b, rows, step: step.get(), by });
                Ok(())
            },
        )?;
        Ok(Self { step, by })
    }
    /// Whether a look is worth it in a product of so many multiplications: rows of B that hardly any row of A takes are
    /// not, nor are those of rows of A that are all the same.
    pub(super) fn is_worth(b: &Pattern<I>, step: I, flops: u64) -> bool {
        (1..b.nrows() / 2).contains(&step.get()) && flops >= 2 * b.nnz() as u64
    }
    /// Bytes that [`find`](Self::find) takes.
    pub(super) fn bytes(b: &Pattern<I>) -> u128 {
        bytes_of::<I>(b.nrows())
    }
    /// By how much all rows `ks` of B are moved, if all by as much.
    #[inline(always)]
    pub(super) fn all(&self, ks: &[I]) -> Option<I> {
        let by = self.by[ks.first()?.get()];
        (by != I::LAST && ks.iter().all(|k| self.by[k.get()] == by)).then_some(by)
    }
}

/// Some rows of B, for [`dispatch_work`].
struct Compare<'a, I: Index> {
    b: &'a Pattern<I>,
    rows: Range<usize>,
    step: usize,
    by: &'a mut [I],
}

impl<I: Index> simd::Work for Compare<'_, I> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let shift = Shift::new::<I>();
        for (k, by) in self.rows.zip(self.by) {
            let Some(before) = k.checked_sub(self.step) else { continue };
            let (row, before) = (self.b.row(k), self.b.row(before));
            if let (Some(j), Some(l)) = (row.first(), before.first())
                && shift.is(row, before, j.wrapping_sub(*l))
            {
                *by = j.wrapping_sub(*l);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_compared_with_those_before() {
        let rows: [&[u32]; 8] = [&[1, 3], &[2, 4], &[2, 5], &[0, 3], &[], &[], &[0, 3], &[0, 3, 4]];
        let mut row_ptr = vec![0];
        row_ptr.extend(rows.iter().scan(0, |end, row| {
            *end += row.len();
            Some(*end)
        }));
        let b = Pattern::<u32>::new(8, 9, row_ptr, rows.concat()).unwrap();
        for threads in [1, 3] {
            let threads = Threads::new(threads).unwrap();
            let moved = Moved::find(&threads, &b, 1).unwrap();
            let none = u32::LAST;
            assert_eq!(moved.by, [none, 1, none, 0u32.wrapping_sub(2), none, none, none, none]);
            assert_eq!(moved.all(&[1, 1]), Some(1));
            assert!([&[1u32, 3][..], &[0], &[1, 2], &[]].iter().all(|ks| moved.all(ks).is_none()));
            let by_three = Moved::find(&threads, &b, 3).unwrap();
            assert_eq!(by_three.by, [none, none, none, none, none, none, 0, none]);
        }
    }
}
