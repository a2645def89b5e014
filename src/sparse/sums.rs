//! Summation of repeated entries with overflow detection.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::algebra::Value;
use crate::par::{Threads, collected};
use crate::{Coo, Csr, Error, Index, Result};

/// Overflow flag of a summation, shared by threads.
#[derive(Default)]
pub(crate) struct Sums(AtomicBool);

impl Sums {
    /// `checked`, the next sum, or `sum` on overflow, which sets the flag.
    #[inline]
    pub(crate) fn keep<T>(&self, sum: T, checked: Option<T>) -> T {
        checked.unwrap_or_else(|| {
            self.0.store(true, Ordering::Relaxed);
            sum
        })
    }
    /// Whether a sum overflowed.
    pub(crate) fn overflowed(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Compressed rows of entries, called `name` in errors; repeated ones are summed by `add` in the order given.
/// # Errors
/// [`Error::Unsupported`] if a sum overflows `T`, with its row and column, counted from 1; [`Error::OutOfMemory`].
pub(crate) fn summed<T: Value, I: Index>(
    threads: &Threads,
    coo: &Coo<T, I>,
    name: &str,
    add: fn(T, T) -> Option<T>,
) -> Result<Csr<T, I>> {
    let sums = Sums::default();
    // `into_compressed` rejects a declared size beyond memory here, rather than at the first use of row pointers.
    let made = coo.compress(threads, Some(|sum, again| sums.keep(sum, add(sum, again))))?.into_compressed()?;
    if sums.overflowed() { Err(first_overflow(coo, name, add)) } else { Ok(made) }
}

/// The error for the first overflowing sum, in row-major order.
#[cold]
fn first_overflow<T: Value, I: Index>(coo: &Coo<T, I>, name: &str, add: fn(T, T) -> Option<T>) -> Error {
    let (rows, cols, values) = coo.parts();
    let order = row_major_order(rows, cols).unwrap_or_default();
    let mut sum = order.first().map(|&e| values[e]);
    let mut place = String::new();
    for pair in order.windows(2) {
        let (before, e) = (pair[0], pair[1]);
        let again = (rows[before], cols[before]) == (rows[e], cols[e]);
        sum = if again { sum.and_then(|sum| add(sum, values[e])) } else { Some(values[e]) };
        if sum.is_none() {
            place = format!(" ({}, {})", rows[e].get() + 1, cols[e].get() + 1);
            break;
        }
    }
    overflow::<T>(&format!("{name}: the sum of the repeated entries{place}"))
}

/// The permutation that sorts the entries by row and column; stable for repeated entries.
#[inline(never)]
fn row_major_order<I: Index>(rows: &[I], cols: &[I]) -> Result<Vec<usize>> {
    let mut order = collected(rows.len(), 0..rows.len(), "an order of entries")?;
    order.sort_unstable_by_key(|&e| (rows[e], cols[e], e));
    Ok(order)
}

/// The error that `what` overflows `T`.
pub(crate) fn overflow<T: Value>(what: &str) -> Error {
    Error::Unsupported {
        what: format!("{what} as {}", T::TYPE),
        why: "the type does not hold it; take values of a wider one".to_owned(),
    }
}
