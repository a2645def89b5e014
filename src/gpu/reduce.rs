//! Folds by a monoid, of each row or of all values of a matrix: see `cuda/reduce.cu`.

use std::sync::Arc;

use super::Cuda;
use super::buffer::{Buffer, RawBuffer};
use super::csr::RawCsr;
use super::defines::{Prefix, Setting};
use super::jit::{Source, Unit, source};
use super::launch::{Shape, args};
use crate::Result;
use crate::algebra::{Monoid, Printed, printed_monoid};

const SOURCE: Source = source!("reduce.cu");
const SMALL: &str = "unsigned int";
/// Values that one block folds.
const CHUNK: usize = 4096;

fn settings(offset: &'static str, chunk: &'static str) -> [Setting; 2] {
    [Setting::Type("OffsetA", offset), Setting::Type("OffsetChunk", chunk)]
}

impl Cuda {
    /// c(i) = e ⊕ A(i, j₁) ⊕ A(i, j₂) …, e the identity of ⊕, which is the fold of an empty row.
    ///
    /// A row of at most 128 entries is folded in stored order, so floats are bitwise the CPU's. A longer row is cut
    /// into chunks of 4096 entries. In a chunk, part t < 256 is the fold of entries t, t + 256, … from e; parts are
    /// folded by halves (t with t + 128, then with t + 64, …), then chunks in order. Every part starts at e and none is
    /// empty, so [`Any`](crate::algebra::Any) returns a value of the row. The result is bitwise the same in every run.
    ///
    /// Cost: reads each value once.
    pub(crate) fn reduce_rows_raw(&self, monoid: &Printed, a: &RawCsr) -> Result<Arc<RawBuffer>> {
        let (pattern, nrows) = (&*a.pattern, a.pattern.nrows as u64);
        a.values.check("the matrix of a fold", monoid.out)?;
        let folds = self.alloc_raw(monoid.out, pattern.nrows, "folds of rows")?;
        let chunks = self.alloc::<u32>(pattern.nrows, "chunks of long rows")?;
        let program = self.program_of(SOURCE, Prefix::new(&monoid.text, &settings(pattern.row_ptr.cuda(), SMALL)))?;
        let each_row = Shape::for_each(pattern.nrows, 256)?;
        program
            .kernel("fold_short_rows")?
            .launch(each_row, args![&pattern.row_ptr, &a.values, nrows, &folds, &chunks])?;
        let (first_chunk, total) = self.offsets(&chunks, "chunks of long rows")?;
        if total > 0 {
            let parts = self.alloc_raw(monoid.out, total as usize, "folds of chunks of rows")?;
            let settings = settings(pattern.row_ptr.cuda(), first_chunk.cuda());
            let program = self.program_of(SOURCE, Prefix::new(&monoid.text, &settings))?;
            program.kernel("fold_row_chunks")?.launch(
                Shape::blocks(total as usize, 256, 0)?,
                args![&pattern.row_ptr, &a.values, nrows, &first_chunk, &parts],
            )?;
            program.kernel("fold_long_rows")?.launch(each_row, args![nrows, &first_chunk, &parts, &folds])?;
        }
        Ok(folds)
    }

    /// e ⊕ all values of an array, e the identity of ⊕. Waits for the device.
    ///
    /// The order is that of a long row in [`reduce_rows_raw`](Self::reduce_rows_raw), over all values; the chunks'
    /// folds are folded in the same way again, until one is left. The order depends on the number of values alone, so
    /// the result is bitwise the same in every run; for floats it differs from a fold in stored order.
    ///
    /// Cost: reads each value once.
    pub(crate) fn fold_buffer<M: Monoid>(&self, monoid: M, values: &Buffer<M::Out>) -> Result<M::Out> {
        if values.len() == 0 {
            return Ok(M::IDENTITY);
        }
        self.get_at(&Buffer::of(self.fold_raw(&printed_monoid(monoid), values.raw())?)?, 0)
    }
    /// The fold of an array as an array of one value; the identity for an empty one.
    pub(crate) fn fold_raw(&self, monoid: &Printed, values: &Arc<RawBuffer>) -> Result<Arc<RawBuffer>> {
        values.check("the values of a fold", monoid.out)?;
        let program = self.program_of(SOURCE, Prefix::new(&monoid.text, &settings(SMALL, SMALL)))?;
        let kernel = program.kernel("fold_chunks")?;
        let fold = |from: &RawBuffer| {
            // An empty chunk yields the identity.
            let chunks = from.len().div_ceil(CHUNK).max(1);
            let to = self.alloc_raw(monoid.out, chunks, "folds of chunks")?;
            kernel.launch(Shape::blocks(chunks, 256, 0)?, args![from, from.len() as u64, &to])?;
            Ok::<_, crate::Error>(to)
        };
        let mut folds = fold(values)?;
        while folds.len() > 1 {
            folds = fold(&folds)?;
        }
        Ok(folds)
    }
}

/// The programs of this file with representative settings, for the test that compiles all.
pub(crate) fn programs() -> Vec<Unit> {
    use crate::algebra::{Any, Lor, Min, Plus};
    let large = "unsigned long long";
    let unit = |monoid: &Printed, offset, chunk| Unit {
        source: SOURCE,
        prefix: Prefix::new(&monoid.text, &settings(offset, chunk)).text(),
        hot: &["fold_chunks", "fold_short_rows", "fold_row_chunks"],
    };
    vec![
        unit(&printed_monoid(Plus::<f64>::new()), SMALL, SMALL),
        unit(&printed_monoid(Min::<f32>::new()), large, SMALL),
        unit(&printed_monoid(Lor::<bool>::new()), large, large),
        unit(&printed_monoid(Any::<i64>::new()), SMALL, SMALL),
    ]
}
