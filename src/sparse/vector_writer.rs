//! Blocked writes of values: overwriting, or combining with the existing ones.

use super::vector_target::{Combine, Source};
use crate::algebra::{Array, Slice, SliceMut};
use crate::{Index, Result};

/// Pairs of values combined at a time.
pub(super) const BLOCK: usize = 128;
/// Bitmap words of a run combined at a time.
const RUN: usize = 32;
/// Up to this many values are combined one by one, without buffers.
const FEW: usize = 4;

/// Writes new values over existing ones.
pub(super) struct Writer<'a> {
    pub(super) combine: Option<&'a Combine<'a>>,
    /// Buffers of existing and new values; `None` for few values.
    buffers: Option<[Array; 2]>,
    /// Copies of the single value that is written everywhere.
    copies: Option<Array>,
    /// Whether a single value is written everywhere.
    same: bool,
    /// Bitmap words of consecutive values combined at a time.
    pub(super) run: usize,
}

impl<'a> Writer<'a> {
    pub(super) fn new<I: Index>(t: &Source<'_, I>, combine: Option<&'a Combine<'a>>) -> Result<Self> {
        let (ty, count) = (t.values.ty(), t.pattern.nnz());
        let same = t.values.len() == 1 && t.pattern.values() != 1;
        let mut made = Self { combine, buffers: None, copies: None, same, run: if same { BLOCK / 64 } else { RUN } };
        if combine.is_some() && count > FEW {
            made.buffers = Some([Array::zeros(ty, BLOCK)?, Array::zeros(ty, BLOCK)?]);
        }
        if combine.is_some() && same {
            let mut copies = Array::zeros(ty, BLOCK)?;
            copies.slice_mut().copy_from(&t.values);
            made.copies = Some(copies);
        }
        Ok(made)
    }
    /// Position of the value of entry `p`.
    pub(super) fn position(&self, p: usize) -> usize {
        if self.same { 0 } else { p }
    }
    /// Positions of the values of `n` entries from `p` on.
    pub(super) fn span(&self, p: usize, n: usize) -> std::ops::Range<usize> {
        if self.same { 0..1 } else { p..p + n }
    }
    /// Overwrites value `to` by `from[at]`, or combines them, for each pair (to, at).
    pub(super) fn write(&mut self, values: &mut SliceMut<'_>, from: Slice<'_>, pairs: &[(usize, usize)]) {
        let Some(combine) = self.combine else { return values.copy_pairs(&from, pairs) };
        let Some([x, y]) = &mut self.buffers else {
            for &(to, at) in pairs {
                let at = if self.same { 0 } else { at };
                combine(&mut values.part(to..to + 1), &from.part(at..at + 1));
            }
            return;
        };
        for pairs in pairs.chunks(BLOCK) {
            let (n, same) = (pairs.len(), self.same);
            x.slice_mut().gather(&values.as_slice(), pairs.iter().map(|p| p.0));
            y.slice_mut().gather(&from, pairs.iter().map(|p| if same { 0 } else { p.1 }));
            combine(&mut x.slice_mut().part(0..n), &y.slice().part(0..n));
            values.scatter(&x.slice().part(0..n), pairs.iter().map(|p| p.0));
        }
    }
    /// Combines `values` with the `n` new values from position `at` on.
    pub(super) fn combine_run(&mut self, values: &mut SliceMut<'_>, from: Slice<'_>, at: usize, n: usize) {
        let Some(combine) = self.combine else { return };
        match &self.copies {
            Some(copies) => combine(values, &copies.slice().part(0..n)),
            None => combine(values, &from.part(at..at + n)),
        }
    }
}
