//! Shared by the tests: textbook results, generators of awkward inputs, plain readers of the data files.

// Every test program includes this module and uses part of it.
#![allow(dead_code)]

pub(crate) mod arbitrary;
pub(crate) mod backend_checks;
pub(crate) mod counting;
pub(crate) mod data;
pub(crate) mod dense_distance;
pub(crate) mod distances;
pub(crate) mod golden;
#[cfg(feature = "cuda")]
pub(crate) mod gpu;
pub(crate) mod layouts;
pub(crate) mod reference;
pub(crate) mod rings;
pub(crate) mod tensors;
pub(crate) mod unions;

use std::fmt::Debug;

use sparring::algebra::Value;
use sparring::{Csr, Index, Pattern};

use reference::Table;

/// Equality of results: bitwise, except that all NaNs are equal.
pub(crate) trait Same: Debug {
    /// Whether `self` and `other` are the same result.
    fn same(&self, other: &Self) -> bool;
}
impl Same for f64 {
    fn same(&self, other: &Self) -> bool {
        self.to_bits() == other.to_bits() || self.is_nan() && other.is_nan()
    }
}
impl Same for f32 {
    fn same(&self, other: &Self) -> bool {
        self.to_bits() == other.to_bits() || self.is_nan() && other.is_nan()
    }
}
macro_rules! same {
    ($($t:ty)*) => {$(impl Same for $t { fn same(&self, other: &Self) -> bool { self == other } })*};
}
same! { i64 u64 u32 u8 bool rings::Paths rings::Best }

/// Checks the invariants of a matrix on its arrays.
pub(crate) fn check_invariants<T, I: Index>(c: &Csr<T, I>) -> Result<(), String> {
    let (m, n) = c.shape();
    let again = Pattern::<I>::from_unsorted(m, n, c.row_ptr().to_vec(), c.col_idx().to_vec())
        .map_err(|e| format!("the result is not a matrix: {e}"))?;
    if again.is_sorted() != c.pattern().is_sorted() {
        return Err(format!("says sorted: {}, is: {}", c.pattern().is_sorted(), again.is_sorted()));
    }
    if c.values().len() != again.nnz() {
        return Err(format!("{} values for {} entries", c.values().len(), again.nnz()));
    }
    Ok(())
}

/// Whether `c` has exactly the entries of `want`, and sorted rows if `sorted`.
pub(crate) fn check<T: Value + Same, I: Index>(c: &Csr<T, I>, want: &Table<T>, sorted: bool) -> Result<(), String> {
    check_invariants(c)?;
    if c.shape() != want.shape {
        return Err(format!("shape is {:?}, expected {:?}", c.shape(), want.shape));
    }
    if sorted && !c.pattern().is_sorted() {
        return Err("rows are not sorted".into());
    }
    for (i, j, x) in c.iter() {
        match want.entries.get(&(i, j)) {
            None => return Err(format!("entry ({i}, {j}) = {x:?} should not be there")),
            Some(y) if !x.same(y) => return Err(format!("entry ({i}, {j}) is {x:?}, expected {y:?}")),
            Some(_) => {}
        }
    }
    if c.nnz() != want.entries.len() {
        return Err(format!("{} entries, expected {}", c.nnz(), want.entries.len()));
    }
    Ok(())
}

/// Whether two matrices have identical arrays, bit for bit.
pub(crate) fn identical<T: Value + Same, I: Index>(x: &Csr<T, I>, y: &Csr<T, I>) -> bool {
    x.pattern() == y.pattern()
        && x.values().len() == y.values().len()
        && x.values().iter().zip(y.values()).all(|(a, b)| a.same(b))
}
