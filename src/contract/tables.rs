//! Offsets of the elements that a step accesses.
//!
//! Any set of indices with any strides becomes one list of offsets, so loops need not know layouts. Offsets are added
//! modulo 2⁶⁴, which handles negative strides; every access is bounds-checked.

use super::einsum::INDICES;
use super::path::{Set, members};
use crate::par::reserved;
use crate::{Error, Result};

/// The position and strides of one tensor, by index number.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) set: Set,
    pub(crate) base: usize,
    /// 0 for indices outside the set.
    pub(super) strides: [isize; INDICES],
}

impl Shape {
    pub(crate) fn new(base: usize) -> Self {
        Self { set: 0, base, strides: [0; INDICES] }
    }
    /// Adds an index, or another occurrence of one: a diagonal has the sum of the strides.
    pub(crate) fn with(&mut self, index: u8, stride: isize) {
        self.set |= 1 << index;
        let sum = &mut self.strides[usize::from(index)];
        *sum = sum.wrapping_add(stride);
    }
    pub(crate) fn stride(&self, index: u8) -> isize {
        self.strides[usize::from(index)]
    }
    /// The index of least stride in a result, among those of extent above 1; the batch of a group has no stride.
    pub(crate) fn closest(&self, extents: &[usize; INDICES]) -> Option<u8> {
        members(self.set)
            .filter(|&i| extents[usize::from(i)] > 1 && self.stride(i) != 0)
            .min_by_key(|&i| self.stride(i))
    }
}

/// Offsets in N tensors for every value of `indices`, the last fastest.
pub(super) fn table<const N: usize>(
    indices: &[u8],
    extents: &[usize; INDICES],
    shapes: [&Shape; N],
) -> Result<Vec<[usize; N]>> {
    let extent = |&i: &u8| extents[usize::from(i)];
    let len = if indices.iter().any(|i| extent(i) == 0) {
        0
    } else {
        let wide = indices.iter().try_fold(1u128, |n, i| n.checked_mul(extent(i) as u128)).unwrap_or(u128::MAX);
        usize::try_from(wide).map_err(|_| Error::OutOfMemory { what: "offsets", bytes: wide })?
    };
    let mut offsets = reserved(len, "offsets")?;
    if len == 0 {
        return Ok(offsets);
    }
    offsets.push([0; N]);
    // Each index, from the last to the first, replicates the list so far, so that no sum is computed twice.
    for &index in indices.iter().rev() {
        let have = offsets.len();
        for value in 1..extent(&index) {
            for k in 0..have {
                let mut at = offsets[k];
                for (at, shape) in at.iter_mut().zip(shapes) {
                    *at = at.wrapping_add((value as isize).wrapping_mul(shape.stride(index)) as usize);
                }
                offsets.push(at);
            }
        }
    }
    Ok(offsets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_index_is_fastest() {
        let mut extents = [0; INDICES];
        (extents[0], extents[1]) = (2, 3);
        let mut shape = Shape::new(0);
        shape.with(0, 10);
        shape.with(1, 1);
        shape.with(1, -3);
        let at = |offsets: &[isize]| offsets.iter().map(|&p| [p as usize]).collect::<Vec<_>>();
        assert_eq!(table(&[0, 1], &extents, [&shape]).unwrap(), at(&[0, -2, -4, 10, 8, 6]));
        assert_eq!(table(&[], &extents, [&shape]).unwrap(), at(&[0]));
        assert!(table(&[0, 2], &extents, [&shape]).unwrap().is_empty());
        extents = [usize::MAX; INDICES];
        assert!(matches!(table(&[0], &extents, [&shape]), Err(Error::OutOfMemory { .. })));
        assert!(matches!(table(&[0, 1, 2], &extents, [&shape]), Err(Error::OutOfMemory { .. })));
    }
}
