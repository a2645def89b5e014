//! Filling two vectors at the same time, block by block: say, the columns and values of a matrix.

use super::{OutputSlice, Parts, Threads, UninitOutput, fill_blocks};
use crate::Result;

impl<T: Copy + Send> UninitOutput<T> {
    /// Like [`fill`](Self::fill), for two vectors of one length whose blocks are filled together.
    /// # Errors
    /// The first error of `work`.
    /// # Panics
    /// If `work` leaves slots unwritten, which is a bug of the caller in this crate.
    #[expect(clippy::too_many_arguments, reason = "those of `fill`, and the second vector")]
    pub(crate) fn fill_with<U: Copy + Send, S>(
        mut self,
        mut other: UninitOutput<U>,
        threads: &Threads,
        op: &'static str,
        blocks: usize,
        offsets: impl Fn(usize) -> usize,
        state: impl Fn() -> Result<S> + Sync,
        work: impl Fn(&mut S, usize, &mut OutputSlice<'_, T>, &mut OutputSlice<'_, U>) -> Result<()> + Sync,
    ) -> Result<(Vec<T>, Vec<U>)> {
        let mut parts = Parts::cut(&mut other.vec.spare_capacity_mut()[..other.len], blocks, &offsets)?;
        fill_blocks(
            &mut self.vec.spare_capacity_mut()[..self.len],
            threads,
            op,
            blocks,
            offsets,
            state,
            |s, b, slots| work(s, b, slots, &mut parts.part(b)),
        )?;
        parts.check_written();
        drop(parts);
        // SAFETY: 1. The capacities are at least the lengths. 2. The blocks partition the elements of both vectors, and
        // `check_written` found no free slot in any. A slot leaves `free` only in `OutputSlice::next` and `write_rest`:
        // for `take` and `copy`, which write it before anything can unwind, and for `take_with`, `copy_row` and
        // `write_rest`, which have written it before.
        unsafe {
            self.vec.set_len(self.len);
            other.vec.set_len(other.len);
        }
        Ok((self.vec, other.vec))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_vectors_are_filled() {
        for threads in [1, 2, 8] {
            let pool = Threads::new(threads).unwrap();
            let ends = [0, 3, 3, 10, 11];
            let (x, y) = UninitOutput::<u8>::new(11, "x")
                .unwrap()
                .fill_with(
                    UninitOutput::<u64>::new(11, "y").unwrap(),
                    &pool,
                    "test",
                    4,
                    |b| ends[b],
                    || Ok(()),
                    |(), b, x, y| {
                        x.take(ends[b + 1] - ends[b], b as u8);
                        for p in ends[b]..ends[b + 1] {
                            y.copy(&[p as u64]);
                        }
                        Ok(())
                    },
                )
                .unwrap();
            assert_eq!(x, [0, 0, 0, 2, 2, 2, 2, 2, 2, 2, 3]);
            assert_eq!(y, (0..11).collect::<Vec<u64>>());
        }
    }

    #[test]
    #[should_panic(expected = "were not written")]
    fn a_vector_left_unfilled_is_a_bug() {
        let one = Threads::new(1).unwrap();
        let (x, y) = (UninitOutput::<u8>::new(2, "x").unwrap(), UninitOutput::<u8>::new(2, "y").unwrap());
        let _ = x.fill_with(
            y,
            &one,
            "test",
            1,
            |b| 2 * b,
            || Ok(()),
            |(), _, x, y| {
                x.take(2, 0);
                y.take(1, 0);
                Ok(())
            },
        );
    }
}
