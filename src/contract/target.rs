//! The output of steps of large tensors: any thread may write any elements.

use std::sync::{Mutex, PoisonError};

use super::update::Update;
use crate::Result;
use crate::algebra::{Arithmetic, Value};
use crate::par::reserved;

/// Most parts of an array, and least elements of a part, so that threads rarely contend for a part.
const PARTS: usize = 4096;
const PART: usize = 2048;

/// An array in parts of equal length, each written by one thread at a time.
pub(super) struct Target<'a, T> {
    parts: Vec<Mutex<&'a mut [T]>>,
    /// Elements of a part.
    len: usize,
    update: Update<T>,
}

/// Number of parts of an array, and elements of one.
fn cut(elements: usize) -> (usize, usize) {
    let len = elements.div_ceil(PARTS).max(PART);
    (elements.div_ceil(len), len)
}

/// Bytes of the locks of an array of `elements` elements.
pub(super) fn workspace(elements: usize) -> u128 {
    (cut(elements).0 * size_of::<Mutex<&mut [u8]>>()) as u128
}

impl<'a, T: Value> Target<'a, T> {
    /// Covers a whole array.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(super) fn new(data: &'a mut [T], update: Update<T>) -> Result<Self> {
        let (count, len) = cut(data.len());
        let mut parts = reserved(count, "blocks")?;
        parts.extend(data.chunks_mut(len).map(Mutex::new));
        Ok(Self { parts, len, update })
    }
    /// Stores `sums` to the elements from `at` on, `step` apart.
    pub(super) fn store<A: Arithmetic<T>>(&self, ring: A, mut at: usize, step: usize, mut sums: &[T]) {
        while !sums.is_empty() {
            let (part, first) = (at / self.len, at % self.len);
            let fits = if sums.len() == 1 { 1 } else { (self.len - first).div_ceil(step) };
            let (now, later) = sums.split_at(fits.min(sums.len()));
            let mut data = self.parts[part].lock().unwrap_or_else(PoisonError::into_inner);
            if step == 1 && self.update == Update::PLAIN {
                data[first..][..now.len()].copy_from_slice(now);
            } else {
                for (i, &sum) in now.iter().enumerate() {
                    let c = &mut data[first + i * step];
                    let mut value = [sum];
                    self.update.apply(ring, &mut value, || [*c]);
                    *c = value[0];
                }
            }
            at = at.wrapping_add(now.len().wrapping_mul(step));
            sums = later;
        }
    }
}
