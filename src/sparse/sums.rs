//! Repeated entries, added up as far as their type holds the sums.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::algebra::Value;
use crate::par::{Threads, collected};
use crate::{Coo, Csr, Error, Index, Result};

/// Adds up, and remembers whether the type held every sum.
#[derive(Default)]
pub(crate) struct Sums(AtomicBool);

impl Sums {
    /// The sum of `sum` and more; where the type does not hold it, `sum`.
    #[inline]
    pub(crate) fn keep<T>(&self, sum: T, checked: Option<T>) -> T {
        checked.unwrap_or_else(|| {
            self.0.store(true, Ordering::Relaxed);
            sum
        })
    }
    /// Whether there was a sum that the type does not hold.
    pub(crate) fn are_beyond(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Compressed rows of the entries that errors call `name`, repeated ones added up by `add` in the order given.
/// # Errors
/// [`Error::Unsupported`] if `T` does not hold a sum, with the place, counted from 1; [`Error::OutOfMemory`].
pub(crate) fn summed<T: Value, I: Index>(
    threads: &Threads,
    coo: &Coo<T, I>,
    name: &str,
    add: fn(T, T) -> Option<T>,
) -> Result<Csr<T, I>> {
    let sums = Sums::default();
    // A declared size beyond memory is refused here, not where row pointers are first asked for.
    let made = coo.compress(threads, Some(|sum, again| sums.keep(sum, add(sum, again))))?.into_compressed()?;
    if sums.are_beyond() { Err(not_held(coo, name, add)) } else { Ok(made) }
}

/// The error that a type does not hold the sum of the entries at one place, the first by rows.
#[cold]
fn not_held<T: Value, I: Index>(coo: &Coo<T, I>, name: &str, add: fn(T, T) -> Option<T>) -> Error {
    let (rows, cols, values) = coo.parts();
    let order = by_place(rows, cols).unwrap_or_default();
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
    beyond::<T>(&format!("{name}: the sum of the repeated entries{place}"))
}

/// The numbers of the entries by rows and columns, those at one place as they come.
#[inline(never)]
fn by_place<I: Index>(rows: &[I], cols: &[I]) -> Result<Vec<usize>> {
    let mut order = collected(rows.len(), 0..rows.len(), "an order of entries")?;
    order.sort_unstable_by_key(|&e| (rows[e], cols[e], e));
    Ok(order)
}

/// The error that `T` does not hold what is called so.
pub(crate) fn beyond<T: Value>(what: &str) -> Error {
    Error::Unsupported {
        what: format!("{what} as {}", T::TYPE),
        why: "the type does not hold it; take values of a wider one".to_owned(),
    }
}
