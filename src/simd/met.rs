//! Columns of a row in the order in which they are met, each with its sum.

use std::hint::select_unpredictable;

use crate::par::filled;
use crate::{Index, Result};

/// For each column the place of its sum, if it was met in this row. One per thread.
///
/// Places are marked by numbers that only grow, from row to row, so that nothing is cleared between rows.
pub(crate) struct Met<I> {
    /// For each column the number that it got last.
    marks: Vec<u32>,
    /// The number of place 0 in this row, and that of the next place.
    first: u32,
    next: u32,
    /// The columns of the places.
    cols: Vec<I>,
}

impl<I: Index> Met<I> {
    /// For rows of `ncols` columns, of which a row has at most `most` places.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    /// # Panics
    /// If these are 2³¹ or more.
    pub(crate) fn new(ncols: usize, most: usize) -> Result<Self> {
        assert!(most < 1 << 31);
        let marks = filled(ncols.max(1).next_power_of_two(), 0, "marks of columns")?;
        Ok(Self { marks, first: 1, next: 1, cols: filled(most, I::cast(0), "columns of a row")? })
    }
    /// Begins a row: no column was met.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        self.first = self.next;
        if self.first >= 1 << 31 {
            self.marks.fill(0);
            (self.first, self.next) = (1, 1);
        }
    }
    /// The columns that were met, by their places.
    #[inline(always)]
    pub(crate) fn cols(&self) -> &[I] {
        &self.cols[..(self.next - self.first) as usize]
    }
    /// The place of a column that was met in this row; of another one, anything.
    #[inline(always)]
    pub(crate) fn place(&self, j: I) -> u32 {
        self.marks[j.get() & (self.marks.len() - 1)].wrapping_sub(self.first)
    }
    /// `sums[p] = f(sums[p], y, j)` for each column `j` and value `y`, in order, p being the column's place: one that
    /// it has, or the next.
    /// # Panics
    /// If columns and values differ in number, or there are not so many places or sums left.
    #[inline(always)]
    pub(crate) fn fold<Y: Copy, T: Copy>(&mut self, sums: &mut [T], js: &[I], ys: &[Y], f: impl Fn(T, Y, I) -> T) {
        let Self { ref mut marks, first, ref mut next, ref mut cols } = *self;
        let taken = (*next - first) as usize;
        assert!(js.len() == ys.len() && taken + js.len() <= cols.len().min(sums.len()));
        let (mask, mut n) = (marks.len() - 1, *next);
        // As if all were new, so that no mark is beyond it should `f` panic; less than 2³² like `first` and the places
        // together.
        *next += js.len() as u32;
        // Indexed by numbers.
        let cols = cols.as_mut_ptr().wrapping_sub(first as usize);
        let sums = sums.as_mut_ptr().wrapping_sub(first as usize);
        for (&j, &y) in js.iter().zip(ys) {
            // SAFETY: an index & (length − 1) is less than the length, which is a power of two.
            let mark = unsafe { marks.get_unchecked_mut(j.get() & mask) };
            let new = *mark < first;
            // No branch: which column is new nobody can guess.
            let p = select_unpredictable(new, n, *mark);
            n += u32::from(new);
            *mark = p;
            // SAFETY: p − first is a place that was taken in this row (numbers from `first` on were given since
            // `clear`, and grow) or the next; there are more columns and sums than places taken, as checked above for
            // all of `js`.
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
    fn a_column_has_one_place_in_a_row_and_none_in_the_next() {
        let mut met = Met::<u32>::new(10, 5).unwrap();
        for row in 0..3 {
            let mut sums = [0; 5];
            met.clear();
            met.fold(&mut sums, &[7, 3], &[1, 2], |z, y, _| z + y);
            met.fold(&mut sums, &[3, 9], &[4, 8], |z, y, j| z + y + u32::from(j == 9) * 100);
            assert_eq!((met.cols(), sums), (&[7, 3, 9][..], [1, 6, 108, 0, 0]));
            met.clear();
            assert!(met.cols().is_empty());
            let mut sums = [0; 5];
            met.fold(&mut sums, &[9, 3, 0], &[row, 16, 32], |z, y, _| z + y);
            assert_eq!((met.cols(), sums), (&[9, 3, 0][..], [row, 16, 32, 0, 0]));
        }
    }

    #[test]
    fn numbers_begin_anew_before_they_are_used_up() {
        let mut met = Met::<u32>::new(4, 2).unwrap();
        met.fold(&mut [0; 2], &[1, 2], &[1, 1], |z, y, _| z + y);
        met.next = 1 << 31;
        met.clear();
        assert_eq!((met.first, met.next, &met.marks[..]), (1, 1, &[0; 4][..]));
        let mut sums = [0; 2];
        met.fold(&mut sums, &[2, 1], &[5, 6], |z, y, _| z + y);
        assert_eq!((met.cols(), sums), (&[2, 1][..], [5, 6]));
    }

    #[test]
    #[should_panic(expected = "assertion failed")]
    fn sums_may_not_become_fewer() {
        let mut met = Met::<u32>::new(4, 3).unwrap();
        met.fold(&mut [0; 3], &[1, 2], &[1, 1], |z, y, _| z + y);
        met.fold(&mut [0; 1], &[2], &[1], |z, y, _| z + y);
    }

    #[test]
    fn a_panic_leaves_no_mark_beyond_the_places() {
        let mut met = Met::<u32>::new(4, 4).unwrap();
        let fold = |met: &mut Met<u32>| {
            met.fold(&mut [0; 4], &[1, 2, 3], &[1, 1, 1], |z: i32, y, j| {
                assert!(j != 3, "a test");
                z + y
            });
        };
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| fold(&mut met))).is_err());
        assert!(met.marks.iter().all(|&mark| mark < met.next));
        met.clear();
        let mut sums = [0; 1];
        met.fold(&mut sums, &[2], &[5], |z, y, _| z + y);
        assert_eq!((met.cols(), sums), (&[2][..], [5]));
    }

    #[test]
    #[should_panic(expected = "assertion failed")]
    fn no_place_beyond_the_last() {
        let mut met = Met::<u32>::new(4, 2).unwrap();
        met.fold(&mut [0; 1], &[1, 2], &[1, 1], |z, y, _| z + y);
    }
}
