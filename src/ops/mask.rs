//! Which places of a result are computed.

use bitvec::slice::BitSlice;

use crate::{Error, Result};

/// The places of a result that are computed: those whose bit is set, or those whose bit is not.
#[derive(Clone, Copy, Debug)]
pub struct VectorMask<'a> {
    /// One for each place of the result.
    pub bits: &'a BitSlice<u64>,
    /// Computes the places whose bit is not set.
    pub complement: bool,
}

impl VectorMask<'_> {
    /// Whether place `i` is computed.
    /// # Panics
    /// If there is no such place.
    #[inline(always)]
    #[must_use]
    pub fn lets(&self, i: usize) -> bool {
        self.bits[i] != self.complement
    }
}

/// Whether a mask, if there is one, has a bit for each of `len` places.
pub(super) fn check_mask(mask: Option<VectorMask<'_>>, len: usize) -> Result<()> {
    match mask {
        Some(m) if m.bits.len() != len => Err(Error::Length { what: "mask", found: m.bits.len(), expected: len }),
        _ => Ok(()),
    }
}
