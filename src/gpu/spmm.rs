//! Y = A ⊕.⊗ X with dense X and Y: see `cuda/spmm.cu`.

use super::Cuda;
use super::buffer::RawBuffer;
use super::csr::{DeviceCsr, RawCsr};
use super::front::{Front, Setting};
use super::jit::{Source, Unit, source};
use super::launch::{Shape, args};
use super::vector::DeviceDense;
use crate::algebra::{Lhs, Out, PlusTimes, Printed, Rhs, Semiring, printed_ring};
use crate::{Error, Result};

const SOURCE: Source = source!("spmm.cu");

/// Threads of a row, and columns of each of them, for `columns` columns of `bytes` bytes each.
fn shape_of_groups(columns: usize, bytes: usize) -> (usize, usize) {
    let lanes = columns.clamp(1, 32).next_power_of_two();
    // More columns for a thread reuse the entry of A that it holds; large values would not fit its registers.
    let each = match columns.div_ceil(32) {
        _ if bytes > 8 => 1,
        0 | 1 => 1,
        2 => 2,
        _ => 4,
    };
    (lanes, each)
}

fn settings(offset: &'static str, (lanes, each): (usize, usize)) -> [Setting; 3] {
    [Setting::Type("Offset", offset), Setting::Constant("LANES", lanes as u32), Setting::Constant("EACH", each as u32)]
}

impl Cuda {
    /// `Y(i,j) = ⊕_k A(i,k) ⊗ X(k,j)` over the stored entries of row i, from the identity of ⊕, in the order in which
    /// they are stored: the bits are those of that fold.
    ///
    /// Shapes: `a` m×k, `x` k×n, result m×n. A positional ⊗ sees (i, k, j). Cost: O(n · (nnz + m)) time; rows are not
    /// split, so one row of A takes the time of its entries one after the other.
    /// # Errors
    /// [`Error::Shape`]; [`Error::IndexOverflow`] if m·n is no size; [`Error::Compile`], [`Error::NoCompiler`],
    /// [`Error::DeviceMemory`], [`Error::Device`].
    pub fn mxd<R: Semiring>(
        &self,
        ring: R,
        a: &DeviceCsr<Lhs<R>>,
        x: &DeviceDense<Rhs<R>>,
    ) -> Result<DeviceDense<Out<R>>> {
        let (nrows, ncols) = (a.pattern.nrows, x.ncols);
        let len = nrows.checked_mul(ncols).ok_or(Error::IndexOverflow {
            what: "number of values",
            needed: nrows as u128 * ncols as u128,
            max: usize::MAX as u128,
        })?;
        let mut y = DeviceDense { nrows, ncols, values: self.alloc(len, "the result of mxd")? };
        self.mxd_into(ring, a, x, &mut y)?;
        Ok(y)
    }
    /// [`mxd`](Self::mxd) into a matrix that is there.
    /// # Errors
    /// Those of [`mxd`](Self::mxd), and [`Error::Shape`] for a result of another shape.
    pub fn mxd_into<R: Semiring>(
        &self,
        ring: R,
        a: &DeviceCsr<Lhs<R>>,
        x: &DeviceDense<Rhs<R>>,
        y: &mut DeviceDense<Out<R>>,
    ) -> Result<()> {
        let p = &*a.pattern;
        if x.nrows != p.ncols {
            return Err(Error::Shape { op: "mxd", lhs: p.shape(), rhs: x.shape() });
        }
        if y.shape() != (p.nrows, x.ncols) {
            return Err(Error::Shape { op: "the result of mxd", lhs: (p.nrows, x.ncols), rhs: y.shape() });
        }
        self.mxd_raw(&printed_ring(ring), &a.raw(), x.ncols, &x.values, &y.values)
    }
    /// `columns` columns of x, into as many of y, whose shapes have been checked.
    pub(crate) fn mxd_raw(
        &self,
        ring: &Printed,
        a: &RawCsr,
        columns: usize,
        x: &RawBuffer,
        y: &RawBuffer,
    ) -> Result<()> {
        let p = &*a.pattern;
        a.values.check("the matrix of mxd", ring.a)?;
        x.check("the dense matrix of mxd", ring.b)?;
        y.check("the result of mxd", ring.out)?;
        if columns == 0 || p.nrows == 0 {
            return Ok(());
        }
        let groups = shape_of_groups(columns, ring.b.size().max(ring.out.size()));
        let (lanes, each) = groups;
        let chunks = columns.div_ceil(lanes * each);
        let work = p.nrows.checked_mul(chunks).ok_or(Error::IndexOverflow {
            what: "groups of a kernel",
            needed: p.nrows as u128 * chunks as u128,
            max: usize::MAX as u128,
        })?;
        let program = self.program_of(SOURCE, Front::new(&ring.text, &settings(p.row_ptr.cuda(), groups)))?;
        let (nrows, columns, chunks) = (p.nrows as u64, columns as u64, chunks as u64);
        let arguments = args![&p.row_ptr, &p.col_idx, &a.values, nrows, x, columns, chunks, y];
        program.kernel("spmm_rows")?.launch(Shape::blocks(work.div_ceil(256 / lanes), 256, 0)?, arguments)
    }
}

/// Programs to compile where there is no device.
pub(crate) fn programs() -> Vec<Unit> {
    let ring = printed_ring(PlusTimes::<f64>::default());
    let unit = |columns, offset| Unit {
        source: SOURCE,
        prefix: Front::new(&ring.text, &settings(offset, shape_of_groups(columns, 8))).text(),
        hot: &["spmm_rows"],
    };
    vec![unit(1, "unsigned int"), unit(16, "unsigned int"), unit(64, "unsigned int"), unit(200, "unsigned long long")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_cover_the_columns() {
        let cases =
            [(1, (1, 1)), (3, (4, 1)), (32, (32, 1)), (33, (32, 2)), (64, (32, 2)), (65, (32, 4)), (999, (32, 4))];
        for (columns, groups) in cases {
            assert_eq!(shape_of_groups(columns, 8), groups, "{columns}");
        }
        assert_eq!(shape_of_groups(999, 16), (32, 1));
    }
}
