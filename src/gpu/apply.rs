//! Applying a function to every entry, and selecting entries: see `cuda/apply.cu`.

use std::sync::Arc;

use super::Cuda;
use super::buffer::same_type;
use super::csr::RawCsr;
use super::defines::{Prefix, Setting};
use super::jit::{Source, Unit, source};
use super::launch::{Shape, args};
use super::pattern::DevicePattern;
use super::rows::tiles;
use crate::Result;
use crate::algebra::{Printed, Slice, Type};

const SOURCE: Source = source!("apply.cu");
const SMALL: &str = "unsigned int";

fn at_settings(a: &'static str) -> [Setting; 2] {
    [Setting::Switch("AT"), Setting::Type("OffsetA", a)]
}
fn select_settings(a: &'static str, c: &'static str) -> [Setting; 3] {
    [Setting::Switch("SELECT"), Setting::Type("OffsetA", a), Setting::Type("OffsetC", c)]
}

impl Cuda {
    /// C(i, j) = f(A(i, j)) for every entry; C shares A's pattern.
    ///
    /// Cost: reads and writes each value once. Bitwise the CPU's, except for functions such as `exp` and `ln`, whose
    /// last bits differ between devices.
    pub(crate) fn apply_raw(&self, op: &Printed, a: &RawCsr) -> Result<RawCsr> {
        a.values.check("the matrix of a function", op.a)?;
        let values = self.alloc_raw(op.out, a.nnz(), "values of a function of a matrix")?;
        let program = self.program_of(SOURCE, Prefix::new(&op.text, &[]))?;
        let shape = Shape::for_each(a.nnz(), 256)?;
        program.kernel("apply_values")?.launch(shape, args![&a.values, a.nnz() as u64, &values])?;
        Ok(RawCsr { pattern: Arc::clone(&a.pattern), values })
    }

    /// C(i, j) = f(A(i, j), s, i, j) for every entry, `s` one value; C shares A's pattern.
    ///
    /// Cost: reads and writes each value once. Another `s` does not recompile.
    pub(crate) fn apply_at_raw(&self, op: &Printed, a: &RawCsr, s: Slice<'_>) -> Result<RawCsr> {
        let p = &*a.pattern;
        a.values.check("the matrix of a function", op.a)?;
        let scalar = self.scalar(s, op.b)?;
        let values = self.alloc_raw(op.out, p.nnz, "values of a function of a matrix")?;
        let program = self.program_of(SOURCE, Prefix::new(&op.text, &at_settings(p.row_ptr.cuda())))?;
        program.kernel("apply_at")?.launch(
            tiles(p.nnz)?,
            args![&p.row_ptr, &p.col_idx, &a.values, p.nrows as u64, p.nnz as u64, &scalar, &values],
        )?;
        Ok(RawCsr { pattern: Arc::clone(&a.pattern), values })
    }
    /// The entries of A for which f(A(i, j), s, i, j) holds, `s` one value; rows sorted.
    ///
    /// Cost: reads the entries twice, and 8 bytes an entry beside the result; if A's rows are unsorted, the result is
    /// sorted afterwards. Another `s` does not recompile.
    pub(crate) fn select_raw(&self, op: &Printed, a: &RawCsr, s: Slice<'_>) -> Result<RawCsr> {
        let p = &*a.pattern;
        a.values.check("the matrix of a selection", op.a)?;
        same_type("the result of a selecting operator", op.out, Type::Bool)?;
        let scalar = self.scalar(s, op.b)?;
        let kept = self.alloc::<u32>(p.nnz, "marks of a selection")?;
        // Flagging does not depend on the type of C's offsets. It uses the program that most matrices go on with.
        let program = self.program_of(SOURCE, Prefix::new(&op.text, &select_settings(p.row_ptr.cuda(), SMALL)))?;
        program.kernel("mark")?.launch(
            tiles(p.nnz)?,
            args![&p.row_ptr, &p.col_idx, &a.values, p.nrows as u64, p.nnz as u64, &scalar, &kept],
        )?;
        let (before, nnz) = self.offsets(&kept, "offsets of a selection")?;
        let nnz = nnz as usize;

        let row_ptr = self.alloc_offsets(before.is_large(), p.nrows + 1, "row pointers of a selection")?;
        let col_idx = self.alloc::<u32>(nnz, "columns of a selection")?;
        let values = self.alloc_raw(op.a, nnz, "values of a selection")?;
        let program =
            self.program_of(SOURCE, Prefix::new(&op.text, &select_settings(p.row_ptr.cuda(), before.cuda())))?;
        program
            .kernel("select_rows")?
            .launch(Shape::for_each(p.nrows + 1, 256)?, args![&p.row_ptr, p.nrows as u64, &before, &row_ptr])?;
        program.kernel("select_fill")?.launch(
            Shape::for_each(p.nnz, 256)?,
            args![&p.col_idx, &a.values, p.nnz as u64, &before, &col_idx, &values],
        )?;
        let pattern = DevicePattern::new((p.nrows, p.ncols), p.sorted, row_ptr, col_idx);
        self.sorted_raw(&RawCsr::new(pattern, values))
    }
}

/// The programs of this file with representative settings, for the test that compiles all.
pub(crate) fn programs() -> Vec<Unit> {
    use crate::algebra::{Cast, Exp, RowIndex, Tril, ValueGt, printed_index_unary, printed_unary};
    let large = "unsigned long long";
    let apply = |op: &Printed| Unit { source: SOURCE, prefix: op.text.clone(), hot: &["apply_values"] };
    let at = |op: &Printed, a| Unit {
        source: SOURCE,
        prefix: Prefix::new(&op.text, &at_settings(a)).text(),
        hot: &["apply_at"],
    };
    let select = |op: &Printed, a, c| Unit {
        source: SOURCE,
        prefix: Prefix::new(&op.text, &select_settings(a, c)).text(),
        hot: &["mark", "select_fill"],
    };
    vec![
        apply(&printed_unary(Exp::<f64>::new())),
        apply(&printed_unary(Cast::<f32, bool>::new())),
        at(&printed_index_unary(RowIndex::<f64, i64>::new()), SMALL),
        at(&printed_index_unary(ValueGt::<u8>::new()), large),
        select(&printed_index_unary(Tril::<f64>::new()), SMALL, SMALL),
        select(&printed_index_unary(ValueGt::<u8>::new()), large, SMALL),
        select(&printed_index_unary(ValueGt::<f32>::new()), large, large),
    ]
}
