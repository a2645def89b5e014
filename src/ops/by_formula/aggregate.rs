//! Row and column statistics in one pass.

use super::super::aggregate::{arg_rows, column_histogram};
use super::super::blocks::blocks;
use super::vector::AnyVector;
use crate::algebra::{Array, Num, Type, for_each_type};
use crate::kernels::{Operand, fill};
use crate::par::{Threads, collected};
use crate::sparse::{Bitmap, VectorPattern};
use crate::{Csr, Index, Pattern, Result};

/// The number of entries of each nonempty row.
///
/// Cost: O(m).
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Cancelled`](crate::Error::Cancelled).
pub(crate) fn counts(threads: &Threads, a: &Pattern) -> Result<AnyVector> {
    let blocks = blocks(a.nrows(), &|i| i as u64)?;
    let y = fill(threads, NAME, &blocks, &|i| i, 0i64, &|rows, y| {
        rows.zip(y).for_each(|(i, y)| *y = a.row(i).len() as i64);
    })?;
    found(threads, a, y, |i| !a.row(i).is_empty())
}

/// The number of entries of each nonempty column. `None` if there are more than four billion entries.
///
/// Cost: that of [`column_histogram`].
/// # Errors
/// Those of [`counts`].
pub(crate) fn column_counts(threads: &Threads, a: &Pattern) -> Option<Result<AnyVector>> {
    let counted = |y: Vec<i64>| {
        let bits = Bitmap::on(threads, NAME, a.ncols(), |j| j as u64, |j| y[j] > 0)?;
        Ok(AnyVector::of(VectorPattern::bitmap(bits), Array::of(y)))
    };
    Some(column_histogram(threads, a)?.and_then(counted))
}

/// The column of the minimum or maximum of each row, the first on ties; NaN is skipped. `None` if values of this type
/// have no order.
///
/// Cost: O(m + nnz).
/// # Errors
/// Those of [`counts`].
pub(crate) fn column_of_best(threads: &Threads, a: Operand<'_>, greatest: bool) -> Option<Result<AnyVector>> {
    macro_rules! of_type {
        ($($variant:ident $t:ty),*) => {
            match a.values.ty() {
                $(Type::$variant => best::<$t>(threads, a.csr.downcast_ref()?, greatest),)*
                _ => return None,
            }
        };
    }
    Some(for_each_type!(ordered, of_type!()))
}

fn best<T: Num>(threads: &Threads, a: &Csr<T>, greatest: bool) -> Result<AnyVector> {
    let (rows, columns) = arg_rows(threads, a, greatest)?;
    let rows = collected(rows.len(), rows.into_iter().map(<u32 as Index>::cast), NAME)?;
    Ok(AnyVector::list(a.nrows(), rows, Array::of(columns)))
}

const NAME: &str = "aggregate";

fn found(threads: &Threads, a: &Pattern, y: Vec<i64>, has: impl Fn(usize) -> bool + Sync) -> Result<AnyVector> {
    let bits = Bitmap::on(threads, NAME, a.nrows(), |i| i as u64, has)?;
    Ok(AnyVector::of(VectorPattern::bitmap(bits), Array::of(y)))
}
