//! Repeated entries of a file, added up as far as their type holds the sums.

use std::sync::atomic::{AtomicBool, Ordering};

use hashbrown::HashMap;

use super::matrix_market::MarketValue;
use crate::par::Threads;
use crate::{Coo, Csr, Error, Index, Result};

/// Adds up, and remembers whether the type held every sum.
#[derive(Default)]
pub(super) struct Sums(AtomicBool);

impl Sums {
    /// The sum; where the type does not hold it, what there was.
    #[inline]
    pub(super) fn add<T: MarketValue>(&self, sum: T, again: T) -> T {
        sum.checked_repeated(again).unwrap_or_else(|| {
            self.0.store(true, Ordering::Relaxed);
            sum
        })
    }
    /// Whether there was a sum that the type does not hold.
    pub(super) fn are_beyond(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Compressed rows of the entries of the file `name`, repeated ones added up in the order given.
/// # Errors
/// [`Error::Unsupported`] if `T` does not hold a sum, with the place, counted from 1; [`Error::OutOfMemory`].
pub(super) fn summed<T: MarketValue, I: Index>(threads: &Threads, coo: &Coo<T, I>, name: &str) -> Result<Csr<T, I>> {
    let sums = Sums::default();
    // A declared size beyond memory is refused here, not where row pointers are first asked for.
    let made = coo.compress(threads, Some(|sum, again| sums.add(sum, again)))?.into_compressed()?;
    if sums.are_beyond() { Err(not_held(coo, name)) } else { Ok(made) }
}

/// The error that a type does not hold the sum of the entries at one place, the first that is found.
#[cold]
fn not_held<T: MarketValue, I: Index>(coo: &Coo<T, I>, name: &str) -> Error {
    let mut sums = HashMap::new();
    let mut place = String::new();
    let (rows, cols, values) = coo.parts();
    for ((i, j), &x) in rows.iter().map(|i| i.get()).zip(cols.iter().map(|j| j.get())).zip(values) {
        if sums.try_reserve(1).is_err() {
            break;
        }
        let sum = sums.entry((i, j)).or_insert(None::<T>);
        let Some(next) = sum.map_or(Some(x), |sum| sum.checked_repeated(x)) else {
            place = format!(" ({}, {})", i + 1, j + 1);
            break;
        };
        *sum = Some(next);
    }
    beyond::<T>(&format!("{name}: the sum of the repeated entries{place}"))
}

/// The error that `T` does not hold what is called so.
pub(super) fn beyond<T: MarketValue>(what: &str) -> Error {
    Error::Unsupported {
        what: format!("{what} as {}", T::TYPE),
        why: "the type does not hold it; read the file with values of a wider one".to_owned(),
    }
}
