//! What the steps of large tensors write to: any elements, by any thread.

use std::sync::{Mutex, PoisonError};

use super::update::Update;
use crate::Result;
use crate::algebra::{Arithmetic, Value};
use crate::par::reserved;

/// Parts of an array, at most, and elements of one, at least: two threads seldom want the same one.
const PARTS: usize = 4096;
const PART: usize = 2048;

/// An array in parts of equal length, each written by one thread at a time.
pub(super) struct Target<'a, T> {
    parts: Vec<Mutex<&'a mut [T]>>,
    /// Elements of a part.
    len: usize,
    update: Update<T>,
}

/// Parts of an array of so many elements, and elements of one.
fn cut(elements: usize) -> (usize, usize) {
    let len = elements.div_ceil(PARTS).max(PART);
    (elements.div_ceil(len), len)
}

/// Bytes beside an array of so many elements.
pub(super) fn workspace(elements: usize) -> u128 {
    (cut(elements).0 * size_of::<Mutex<&mut [u8]>>()) as u128
}

impl<'a, T: Value> Target<'a, T> {
    /// Of a whole array.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(super) fn new(data: &'a mut [T], update: Update<T>) -> Result<Self> {
        let (count, len) = cut(data.len());
        let mut parts = reserved(count, "blocks")?;
        parts.extend(data.chunks_mut(len).map(Mutex::new));
        Ok(Self { parts, len, update })
    }
    /// Makes `sums` the values of the elements from `at` on, `step` apart.
    pub(super) fn put<A: Arithmetic<T>>(&self, ring: A, mut at: usize, step: usize, mut sums: &[T]) {
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
