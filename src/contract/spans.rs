//! Offsets in large tensors: contiguous indices merge into runs, which need no list of offsets.

use std::ops::Range;

use super::einsum::INDICES;
use super::tables::{Shape, table};
use crate::Result;

/// Offsets of several indices in N tensors, the last index fastest. Offsets are added modulo 2⁶⁴, like those of a
/// table.
#[derive(Debug)]
pub(super) struct Spans<const N: usize> {
    /// The start of each run.
    outer: Vec<[usize; N]>,
    run: usize,
    /// The stride within a run.
    pub(super) steps: [usize; N],
}

impl<const N: usize> Spans<N> {
    /// The offsets of `indices`.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if the starts of the runs do not fit in memory.
    pub(super) fn new(indices: &[u8], extents: &[usize; INDICES], shapes: [&Shape; N]) -> Result<Self> {
        let mut outer: Vec<u8> = indices.iter().copied().filter(|&i| extents[usize::from(i)] != 1).collect();
        let of = |i: u8| shapes.map(|shape| shape.stride(i) as usize);
        let (mut run, mut steps) = (1, [0; N]);
        if let Some(i) = outer.pop() {
            (run, steps) = (extents[usize::from(i)], of(i));
        }
        // An index merges into the run if its stride is the run's length in every tensor.
        while let Some(&i) = outer.last().filter(|&&i| of(i) == steps.map(|step| step.wrapping_mul(run))) {
            let Some(longer) = run.checked_mul(extents[usize::from(i)]) else { break };
            run = longer;
            outer.pop();
        }
        Ok(Self { outer: table(&outer, extents, shapes)?, run, steps })
    }
    /// Number of elements.
    pub(super) fn len(&self) -> usize {
        self.outer.len() * self.run
    }
    /// Bytes of the offsets.
    pub(super) fn bytes(&self) -> u128 {
        size_of_val(&self.outer[..]) as u128
    }
    /// The parts of runs that make up `range`: the start and the length of each.
    #[inline(always)]
    pub(super) fn runs(&self, range: Range<usize>) -> impl Iterator<Item = ([usize; N], usize)> {
        let mut at = range.start;
        std::iter::from_fn(move || {
            if at >= range.end {
                return None;
            }
            let (outer, first) = if self.outer.len() == 1 { (0, at) } else { (at / self.run, at % self.run) };
            let count = (self.run - first).min(range.end - at);
            let mut offset = self.outer[outer];
            for (offset, step) in offset.iter_mut().zip(self.steps) {
                *offset = offset.wrapping_add(step.wrapping_mul(first));
            }
            at += count;
            Some((offset, count))
        })
    }
    /// The offsets of one element.
    pub(super) fn at(&self, e: usize) -> [usize; N] {
        self.runs(e..e + 1).next().map_or([0; N], |run| run.0)
    }
    /// Appends the offsets of `range` in tensor `t`.
    pub(super) fn list(&self, range: Range<usize>, t: usize, to: &mut Vec<usize>) {
        for (at, count) in self.runs(range) {
            to.extend((0..count).map(|i| at[t].wrapping_add(self.steps[t].wrapping_mul(i))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three indices of which the first two, the last two or all merge.
    #[test]
    fn runs_are_as_long_as_strides_allow() {
        let mut extents = [1; INDICES];
        (extents[0], extents[1], extents[2]) = (2, 3, 5);
        for (strides, run) in [([15, 5, 1], 30), ([40, 5, 1], 15), ([40, 10, 1], 5), ([-15, -5, -1], 30), ([0; 3], 30)]
        {
            let mut shape = Shape::new(0);
            (0..3).for_each(|i| shape.with(i, strides[usize::from(i)]));
            let spans = Spans::new(&[0, 1, 2], &extents, [&shape, &shape]).unwrap();
            assert_eq!((spans.len(), spans.run), (30, run));
            let wanted = table(&[0, 1, 2], &extents, [&shape]).unwrap();
            let mut found = vec![];
            spans.list(0..7, 0, &mut found);
            spans.list(7..30, 1, &mut found);
            assert!(found.iter().zip(&wanted).all(|(f, w)| *f == w[0]) && found.len() == 30);
            assert_eq!(spans.at(19), [wanted[19][0]; 2]);
        }
        let one = Spans::<1>::new(&[], &extents, [&Shape::new(0)]).unwrap();
        assert_eq!((one.len(), one.at(0)), (1, [0]));
        extents[1] = 0;
        assert_eq!(Spans::<1>::new(&[0, 1], &extents, [&Shape::new(0)]).unwrap().len(), 0);
    }
}
