//! Shifted rows of B: each equals the row s rows earlier, shifted by some columns.
//!
//! Let a row of A be the previous row, shifted by s columns. If the rows of B that it selects equal those s rows
//! earlier, all shifted equally, the row of C is the previous row with that shift. On structured grids nearly all rows
//! are shifted, with s = 1 (s = 3 if A merges three points into one, as a restriction does). Several rows of A use each
//! row of B, which is compared once.

use std::ops::Range;

use super::budget::bytes_of;
use crate::par::{Threads, collected, filled, for_each_part};
use crate::simd::{self, Shift, dispatch_work};
use crate::sparse::{cut, row_blocks};
use crate::{Index, Pattern, Result};

/// The shift of each row of B from the row `step` rows earlier.
pub(super) struct ShiftedOperandRows<I> {
    pub(super) step: I,
    /// [`Index::LAST`] where the row is not shifted.
    by: Vec<I>,
}

impl<I: Index> ShiftedOperandRows<I> {
    /// Compares each row with the one `step` rows earlier. Cost: O(nnz(B)).
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Cancelled`](crate::Error::Cancelled).
    pub(super) fn find(threads: &Threads, b: &Pattern<I>, step: I) -> Result<Self> {
        let mut by = filled(b.nrows(), I::LAST, "shifted rows of B")?;
        let blocks = row_blocks(threads, b.nrows(), |i| (b.row_ptr()[i] + i) as u64)?;
        let parts = cut(&mut by, blocks.len(), blocks.iter().map(Range::len))?;
        let parts = collected(blocks.len(), blocks.into_iter().zip(parts), "shifted rows of B")?;
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
    /// Whether the comparison pays in a product of `flops` multiplications. It does not where few rows of A use a row
    /// of B, nor where all rows of A are equal.
    pub(super) fn is_worth(b: &Pattern<I>, step: I, flops: u64) -> bool {
        (1..b.nrows() / 2).contains(&step.get()) && flops >= 2 * b.nnz() as u64
    }
    /// Bytes that [`find`](Self::find) takes.
    pub(super) fn bytes(b: &Pattern<I>) -> u128 {
        bytes_of::<I>(b.nrows())
    }
    /// The common shift of rows `ks` of B, if they have one.
    #[inline(always)]
    pub(super) fn all(&self, ks: &[I]) -> Option<I> {
        let by = self.by[ks.first()?.get()];
        (by != I::LAST && ks.iter().all(|k| self.by[k.get()] == by)).then_some(by)
    }
}

/// A block of rows of B, for [`dispatch_work`].
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
            let shifted = ShiftedOperandRows::find(&threads, &b, 1).unwrap();
            let none = u32::LAST;
            assert_eq!(shifted.by, [none, 1, none, 0u32.wrapping_sub(2), none, none, none, none]);
            assert_eq!(shifted.all(&[1, 1]), Some(1));
            assert!([&[1u32, 3][..], &[0], &[1, 2], &[]].iter().all(|ks| shifted.all(ks).is_none()));
            let by_three = ShiftedOperandRows::find(&threads, &b, 3).unwrap();
            assert_eq!(by_three.by, [none, none, none, none, none, none, 0, none]);
        }
    }
}
