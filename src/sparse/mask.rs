//! Masks: the indices of a result that may be written.

use super::bitmap::Bitmap;
use super::vector_pattern::{Indices, VectorPattern};
use crate::{Error, Index, Result};

/// The mask of a result: the indices of a pattern, or with `complement` all others.
///
/// The pattern is borrowed and never copied; the complement is a flag and never materialized.
#[derive(Debug)]
pub struct MaskSpec<'a, P> {
    /// A pattern of the result's shape.
    pub pattern: &'a P,
    /// Whether all other indices are allowed.
    pub complement: bool,
}

impl<P> Clone for MaskSpec<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P> Copy for MaskSpec<'_, P> {}

impl<'a, P> MaskSpec<'a, P> {
    /// The indices of a pattern, or with `complement` all others.
    pub fn new(pattern: &'a P, complement: bool) -> Self {
        Self { pattern, complement }
    }
}

impl<'a, I: Index> MaskSpec<'a, VectorPattern<I>> {
    /// Rejects a mask of another length.
    /// # Errors
    /// [`Error::Length`].
    pub(crate) fn check(&self, expected: usize) -> Result<()> {
        let found = self.pattern.len();
        if found == expected { Ok(()) } else { Err(Error::Length { what: "mask", found, expected }) }
    }
    /// Number of allowed indices.
    pub(crate) fn count(&self) -> usize {
        let nnz = self.pattern.nnz();
        if self.complement { self.pattern.len() - nnz } else { nnz }
    }
    /// The allowed indices, increasing.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn to_list(self) -> Result<Vec<I>> {
        match self.complemented()? {
            Some(pattern) => pattern.to_list(),
            None => self.pattern.to_list(),
        }
    }
    /// The mask in the form used by inner loops.
    pub(crate) fn effective(&self) -> EffectiveMask<'a, I> {
        EffectiveMask { indices: self.pattern.indices(), complement: self.complement }
    }
    /// The pattern of the allowed indices if the mask is complemented; `None` if it is the pattern itself.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn complemented(&self) -> Result<Option<VectorPattern<I>>> {
        if !self.complement {
            return Ok(None);
        }
        let len = self.pattern.len();
        Ok(Some(match self.pattern.indices() {
            Indices::All => VectorPattern::list(len, Vec::new()),
            Indices::Bitmap(words) => VectorPattern::bitmap(Bitmap::of(len, |at| !words[at])?),
            Indices::List(indices) => {
                let mut bits = Bitmap::of(len, |_| !0)?;
                indices.iter().for_each(|i| _ = bits.remove(i.get()));
                VectorPattern::bitmap(bits)
            }
        }))
    }
}

/// A mask in the form used by inner loops: its indices, and whether they are complemented.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EffectiveMask<'a, I> {
    pub(crate) indices: Indices<'a, I>,
    pub(crate) complement: bool,
}

impl<I: Index> EffectiveMask<'_, I> {
    /// Whether index `i` is allowed; `i` must be below the length.
    #[inline(always)]
    pub(crate) fn allows(&self, i: usize) -> bool {
        self.indices.contains(i) != self.complement
    }
}
