//! Indices of a step as kernels see them: an extent, and a stride in each tensor.

/// The operands that an index occurs in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum In {
    Both,
    A,
    B,
}

/// An index, or several fused ones that traverse all three tensors with one stride each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    pub(super) extent: usize,
    /// Strides in A, B and C; 0 where the index does not occur.
    pub(super) strides: [isize; 3],
    pub(super) of: In,
}

impl Axis {
    /// Fuses this index with `inner`, which runs faster, if their strides allow it.
    pub(super) fn joined(&self, inner: &Self) -> Option<Self> {
        let reach = |t: usize| inner.strides[t].checked_mul(isize::try_from(inner.extent).ok()?);
        let through = (0..3).all(|t| reach(t) == Some(self.strides[t]));
        let extent =
            self.extent.checked_mul(inner.extent).filter(|_| through && self.of == inner.of && self.extent > 0)?;
        Some(Self { extent, ..*inner })
    }
}

/// The same indices, neighbors fused where possible.
pub(super) fn joined(axes: &[Axis]) -> Vec<Axis> {
    let mut found: Vec<Axis> = vec![];
    for axis in axes {
        match found.last_mut().and_then(|outer| Some((outer.joined(axis)?, outer))) {
            Some((both, outer)) => *outer = both,
            None => found.push(*axis),
        }
    }
    found
}

/// Product of the extents; `None` on overflow.
pub(super) fn values(axes: &[Axis]) -> Option<usize> {
    if axes.iter().any(|axis| axis.extent == 0) {
        return Some(0);
    }
    axes.iter().try_fold(1usize, |n, axis| n.checked_mul(axis.extent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_run_as_one_where_all_tensors_let_them() {
        let axis = |extent, strides, of| Axis { extent, strides, of };
        let (i, j, k) = (axis(2, [12, 0, 6], In::A), axis(3, [4, 0, 2], In::A), axis(2, [1, 0, 1], In::A));
        assert_eq!(joined(&[i, j, k]), [axis(6, [4, 0, 2], In::A), k], "there is a gap in A between j and k");
        assert_eq!(joined(&[j, axis(2, [2, 0, 1], In::A)]), [axis(6, [2, 0, 1], In::A)]);
        assert_eq!(joined(&[i, axis(3, [4, 0, 2], In::Both)]).len(), 2, "of other operands");
        assert_eq!(values(&[i, j]), Some(6));
        assert_eq!(values(&[axis(usize::MAX, [0; 3], In::A), axis(3, [0; 3], In::A)]), None);
        assert_eq!(values(&[axis(usize::MAX, [0; 3], In::A), axis(0, [0; 3], In::A)]), Some(0));
    }
}
