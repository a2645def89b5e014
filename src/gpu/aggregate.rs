//! Aggregates of rows and columns: counts and arguments of extrema. See `cuda/aggregate.cu`.

use super::Cuda;
use super::buffer::Buffer;
use super::csr::{RawCsr, column_bound};
use super::defines::{Prefix, Setting};
use super::index::offsets;
use super::jit::{Source, Unit, source};
use super::launch::{Shape, args};
use super::pattern::DevicePattern;
use super::vector_form::RawVector;
use crate::algebra::Type;
use crate::{Error, Result};

const SOURCE: Source = source!("aggregate.cu");
const COUNTS: Prefix<'_> = Prefix { operator: "", settings: &[] };

/// Longest row that a group of threads processes: SHORT in the source.
const SHORT: usize = 2048;

fn settings(ty: Type) -> [Setting; 2] {
    [Setting::Switch("BEST"), Setting::Type("Number", ty.cuda())]
}

/// Threads per row, for rows of `mean` entries: reads are coalesced, and every thread has entries to process.
fn group(mean: usize) -> u32 {
    if mean <= 8 { 4 } else { 32 }
}

impl Cuda {
    /// The number of entries of each non-empty row, as i64.
    ///
    /// Cost: O(nrows).
    pub(crate) fn row_counts_raw(&self, p: &DevicePattern) -> Result<RawVector> {
        column_bound(p.nrows)?;
        let (present, counts) = self.numbers_of(p.nrows)?;
        let arguments = args![offsets(&p.row_ptr), p.nrows as u64, &present, &counts];
        let kernel = self.program_of(SOURCE, COUNTS)?.kernel("count_rows")?;
        kernel.launch(Shape::for_each(p.nrows, 256)?, arguments)?;
        Ok(RawVector::bitmap(present, counts.raw().clone()))
    }
    /// The number of entries of each non-empty column, as i64.
    ///
    /// Cost: O(nnz + ncols), an atomic addition for each entry.
    pub(crate) fn column_counts_raw(&self, p: &DevicePattern) -> Result<RawVector> {
        let (present, counts) = self.numbers_of(p.ncols)?;
        self.fill_bytes(&counts, 0)?;
        let program = self.program_of(SOURCE, COUNTS)?;
        let arguments = args![&p.col_idx, p.nnz as u64, &counts];
        program.kernel("count_columns")?.launch(Shape::for_each(p.nnz, 256)?, arguments)?;
        let arguments = args![&counts, p.ncols as u64, &present];
        program.kernel("columns_present")?.launch(Shape::for_each(p.ncols, 256)?, arguments)?;
        Ok(RawVector::bitmap(present, counts.raw().clone()))
    }
    /// The column of the least or the greatest entry of each row, as i64; of equal ones the first. NaN is skipped.
    ///
    /// Cost: O(nrows + nnz), in one pass.
    /// # Errors
    /// [`Error::Unsupported`] for values without an order; [`Error::DeviceMemory`], [`Error::Device`].
    pub(crate) fn best_of_rows_raw(&self, a: &RawCsr, greatest: bool) -> Result<RawVector> {
        if let Type::ComplexF32 | Type::ComplexF64 | Type::Struct(_) = a.ty() {
            return Err(Error::Unsupported {
                what: format!("the least or the greatest of {}", a.ty()),
                why: "these values have no order".into(),
            });
        }
        let (p, n, greatest) = (&*a.pattern, a.shape().0, u32::from(greatest));
        column_bound(n)?;
        let (present, columns) = self.numbers_of(n)?;
        let program = self.program_of(SOURCE, Prefix::new("", &settings(a.ty())))?;
        let group = group(p.nnz.checked_div(n).unwrap_or(0));
        // A bound on the number of long rows.
        let most = p.nnz / SHORT;
        let (long, number) = (self.alloc::<u64>(most, "long rows")?, self.zeroed::<u64>(1, "long rows")?);
        let row_ptr = offsets(&p.row_ptr);
        let arguments =
            args![&row_ptr, &p.col_idx, &a.values, n as u64, group, greatest, &present, &columns, &long, &number];
        program.kernel("best_short")?.launch(Shape::for_each(n.saturating_mul(group as usize), 256)?, arguments)?;
        let blocks = most.min(4 * self.limits().multiprocessors as usize);
        let arguments = args![&row_ptr, &p.col_idx, &a.values, greatest, &long, &number, &present, &columns];
        program.kernel("best_long")?.launch(Shape::blocks(blocks, 256, 0)?, arguments)?;
        Ok(RawVector::bitmap(present, columns.raw().clone()))
    }
    fn numbers_of(&self, n: usize) -> Result<(Buffer<bool>, Buffer<i64>)> {
        let what = "numbers of rows or columns";
        Ok((self.alloc(n, what)?, self.alloc(n, what)?))
    }
}

/// The programs of this file with representative settings, for the test that compiles all.
pub(crate) fn programs() -> Vec<Unit> {
    let best =
        |ty| Unit { source: SOURCE, prefix: Prefix::new("", &settings(ty)).text(), hot: &["best_short", "best_long"] };
    vec![
        Unit { source: SOURCE, prefix: COUNTS.text(), hot: &["count_rows", "count_columns"] },
        best(Type::F64),
        best(Type::Bool),
        best(Type::I8),
    ]
}
