//! The sparse accumulator (SPA): the columns of a row in the order of their first product, with their sums.
//!
//! Source: Gilbert, Moler, Schreiber 1992, §3.1.3.

use std::hint::select_unpredictable;

use crate::par::filled;
use crate::{Index, Result};

/// For each column that the row has touched, the position of its sum. One per thread.
///
/// Marks only grow from row to row, so nothing is cleared between rows.
pub(crate) struct SparseAccumulator<I> {
    /// The latest mark of each column.
    marks: Vec<u32>,
    /// The mark of position 0 in this row, and the mark of the next free position.
    first: u32,
    next: u32,
    /// The column of each position.
    cols: Vec<I>,
}

impl<I: Index> SparseAccumulator<I> {
    /// For rows of `ncols` columns, at most `most` of them touched.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    /// # Panics
    /// If `most` is 2³¹ or more.
    pub(crate) fn new(ncols: usize, most: usize) -> Result<Self> {
        assert!(most < 1 << 31);
        let marks = filled(ncols.max(1).next_power_of_two(), 0, "marks of columns")?;
        Ok(Self { marks, first: 1, next: 1, cols: filled(most, I::cast(0), "columns of a row")? })
    }
    /// Starts a row: no column is touched.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        self.first = self.next;
        if self.first >= 1 << 31 {
            self.marks.fill(0);
            (self.first, self.next) = (1, 1);
        }
    }
    /// The touched columns, by position.
    #[inline(always)]
    pub(crate) fn cols(&self) -> &[I] {
        &self.cols[..(self.next - self.first) as usize]
    }
    /// The position of a touched column; unspecified for other columns.
    #[inline(always)]
    pub(crate) fn place(&self, j: I) -> u32 {
        self.marks[j.get() & (self.marks.len() - 1)].wrapping_sub(self.first)
    }
    /// `sums[p] = f(sums[p], y, j)` for each column `j` and value `y`, in order, where p is the column's position: an
    /// untouched column gets the next one.
    /// # Panics
    /// If columns and values differ in number, or if they exceed the remaining positions or sums.
    #[inline(always)]
    pub(crate) fn fold<Y: Copy, T: Copy>(&mut self, sums: &mut [T], js: &[I], ys: &[Y], f: impl Fn(T, Y, I) -> T) {
        let Self { ref mut marks, first, ref mut next, ref mut cols } = *self;
        let taken = (*next - first) as usize;
        assert!(js.len() == ys.len() && taken + js.len() <= cols.len().min(sums.len()));
        let (mask, mut n) = (marks.len() - 1, *next);
        // Assumes that all columns are new, so that no mark exceeds `next` should `f` panic. The sum is below 2³²,
        // since `first` and the number of positions are both below 2³¹.
        *next += js.len() as u32;
        // Offset, so that marks index them directly.
        let cols = cols.as_mut_ptr().wrapping_sub(first as usize);
        let sums = sums.as_mut_ptr().wrapping_sub(first as usize);
        for (&j, &y) in js.iter().zip(ys) {
            // SAFETY: an index & (length − 1) is less than the length, which is a power of two.
            let mark = unsafe { marks.get_unchecked_mut(j.get() & mask) };
            let new = *mark < first;
            // Branch-free: whether a column is new is unpredictable.
            let p = select_unpredictable(new, n, *mark);
            n += u32::from(new);
            *mark = p;
            // SAFETY: p − first is a position taken in this row (marks from `first` on were assigned since `clear`, and
            // grow) or the next one; there are more columns and sums than positions taken, as checked above for all of
            // `js`.
            let (col, sum) = unsafe { (&mut *cols.wrapping_add(p as usize), &mut *sums.wrapping_add(p as usize)) };
            *col = j;
            *sum = f(*sum, y, j);
        }
        *next = n;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_one_slot_per_row() {
        let mut spa = SparseAccumulator::<u32>::new(10, 5).unwrap();
        for row in 0..3 {
            let mut sums = [0; 5];
            spa.clear();
            spa.fold(&mut sums, &[7, 3], &[1, 2], |z, y, _| z + y);
            spa.fold(&mut sums, &[3, 9], &[4, 8], |z, y, j| z + y + u32::from(j == 9) * 100);
            assert_eq!((spa.cols(), sums), (&[7, 3, 9][..], [1, 6, 108, 0, 0]));
            spa.clear();
            assert!(spa.cols().is_empty());
            let mut sums = [0; 5];
            spa.fold(&mut sums, &[9, 3, 0], &[row, 16, 32], |z, y, _| z + y);
            assert_eq!((spa.cols(), sums), (&[9, 3, 0][..], [row, 16, 32, 0, 0]));
        }
    }

    #[test]
    fn marks_restart_before_they_overflow() {
        let mut spa = SparseAccumulator::<u32>::new(4, 2).unwrap();
        spa.fold(&mut [0; 2], &[1, 2], &[1, 1], |z, y, _| z + y);
        spa.next = 1 << 31;
        spa.clear();
        assert_eq!((spa.first, spa.next, &spa.marks[..]), (1, 1, &[0; 4][..]));
        let mut sums = [0; 2];
        spa.fold(&mut sums, &[2, 1], &[5, 6], |z, y, _| z + y);
        assert_eq!((spa.cols(), sums), (&[2, 1][..], [5, 6]));
    }

    #[test]
    #[should_panic(expected = "assertion failed")]
    fn fewer_sums_than_before_panic() {
        let mut spa = SparseAccumulator::<u32>::new(4, 3).unwrap();
        spa.fold(&mut [0; 3], &[1, 2], &[1, 1], |z, y, _| z + y);
        spa.fold(&mut [0; 1], &[2], &[1], |z, y, _| z + y);
    }

    #[test]
    fn a_panic_leaves_no_mark_beyond_the_slots() {
        let mut spa = SparseAccumulator::<u32>::new(4, 4).unwrap();
        let fold = |spa: &mut SparseAccumulator<u32>| {
            spa.fold(&mut [0; 4], &[1, 2, 3], &[1, 1, 1], |z: i32, y, j| {
                assert!(j != 3, "a test");
                z + y
            });
        };
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| fold(&mut spa))).is_err());
        assert!(spa.marks.iter().all(|&mark| mark < spa.next));
        spa.clear();
        let mut sums = [0; 1];
        spa.fold(&mut sums, &[2], &[5], |z, y, _| z + y);
        assert_eq!((spa.cols(), sums), (&[2][..], [5]));
    }

    #[test]
    #[should_panic(expected = "assertion failed")]
    fn no_slot_beyond_the_last() {
        let mut spa = SparseAccumulator::<u32>::new(4, 2).unwrap();
        spa.fold(&mut [0; 1], &[1, 2], &[1, 1], |z, y, _| z + y);
    }
}
