//! The Kronecker product of two matrices on the device: see `cuda/kronecker.cu`.

use super::Cuda;
use super::csr::RawCsr;
use super::defines::{Prefix, Setting};
use super::jit::{Source, Unit, source};
use super::launch::{Shape, args};
use super::pattern::DevicePattern;
use crate::algebra::Printed;
use crate::{Error, Result};

const SOURCE: Source = source!("kronecker.cu");

fn settings([a, b, c]: [&'static str; 3]) -> [Setting; 3] {
    [Setting::Type("OffsetA", a), Setting::Type("OffsetB", b), Setting::Type("OffsetC", c)]
}

impl Cuda {
    /// C(i·p + k, j·q + l) = A(i, j) ∘ B(k, l) for each entry of A and each of B.
    ///
    /// Shapes: `a` m×n, `b` p×q, result mp×nq, rows sorted where those of both operands are. Cost: a thread for each
    /// entry of C, and 4 bytes for each entry of A and of B beside the result. The result is bitwise that of the CPU.
    /// # Errors
    /// [`Error::IndexOverflow`] if mp, nq or nnz(A)·nnz(B) is too large for the device; [`Error::DeviceMemory`],
    /// [`Error::Device`].
    pub(crate) fn kronecker_raw(&self, op: &Printed, a: &RawCsr, b: &RawCsr) -> Result<RawCsr> {
        a.values.check("the left matrix", op.a)?;
        b.values.check("the right matrix", op.b)?;
        let (ap, bp) = (&*a.pattern, &*b.pattern);
        let rows = product("rows of a Kronecker product", ap.nrows, bp.nrows, u32::MAX as usize)?;
        let cols = product("columns of a Kronecker product", ap.ncols, bp.ncols, u32::MAX as usize)?;
        let nnz = product("entries of a Kronecker product", ap.nnz, bp.nnz, usize::MAX)?;

        let row_ptr = self.alloc_offsets(nnz > u32::MAX as usize, rows + 1, "row pointers of a Kronecker product")?;
        let col_idx = self.alloc::<u32>(nnz, "columns of a Kronecker product")?;
        let values = self.alloc_raw(op.out, nnz, "values of a Kronecker product")?;
        let settings = settings([ap.row_ptr.cuda(), bp.row_ptr.cuda(), row_ptr.cuda()]);
        let program = self.program_of(SOURCE, Prefix::new(&op.text, &settings))?;
        program.kernel("kronecker_rows")?.launch(
            Shape::for_each(rows + 1, 256)?,
            args![&ap.row_ptr, &bp.row_ptr, bp.nrows as u64, bp.nnz as u64, rows as u64, nnz as u64, &row_ptr],
        )?;
        if nnz > 0 {
            let rows_of = |p: &DevicePattern| {
                let rows = self.alloc::<u32>(p.nnz, "rows of entries")?;
                self.row_indices(p, &rows)?;
                Ok::<_, Error>(rows)
            };
            let (a_rows, b_rows) = (rows_of(ap)?, rows_of(bp)?);
            program.kernel("kronecker_fill")?.launch(
                Shape::for_each(nnz, 256)?,
                args![
                    &ap.row_ptr,
                    &a_rows,
                    &ap.col_idx,
                    &a.values,
                    &bp.row_ptr,
                    &b_rows,
                    &bp.col_idx,
                    &b.values,
                    bp.nnz as u64,
                    bp.ncols as u64,
                    nnz as u64,
                    &col_idx,
                    &values
                ],
            )?;
        }
        let sorted = nnz == 0 || ap.sorted && bp.sorted;
        Ok(RawCsr::new(DevicePattern::new((rows, cols), sorted, row_ptr, col_idx), values))
    }
}

fn product(what: &'static str, x: usize, y: usize, max: usize) -> Result<usize> {
    let needed = x as u128 * y as u128;
    if needed <= max as u128 {
        Ok(needed as usize)
    } else {
        Err(Error::IndexOverflow { what, needed, max: max as u128 })
    }
}

/// The programs of this file with representative settings, for the test that compiles all.
pub(crate) fn programs() -> Vec<Unit> {
    use crate::algebra::{Minus, Times, printed_binary};
    let (small, large) = ("unsigned int", "unsigned long long");
    let unit = |op: &Printed, offsets| Unit {
        source: SOURCE,
        prefix: Prefix::new(&op.text, &settings(offsets)).text(),
        hot: &["kronecker_fill"],
    };
    vec![
        unit(&printed_binary(Times::<f64>::new()), [small; 3]),
        unit(&printed_binary(Minus::<u8>::new()), [small, small, large]),
        unit(&printed_binary(Times::<f32>::new()), [large; 3]),
    ]
}
