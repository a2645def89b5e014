//! y = A ⊕.⊗ x with dense x and y: see `cuda/spmv.cu`.

use std::sync::{Arc, PoisonError};

use super::Cuda;
use super::buffer::RawBuffer;
use super::csr::RawCsr;
use super::defines::{Prefix, Setting};
use super::jit::{Source, Unit, source};
use super::launch::{Shape, args};
use super::memory::alone;
use super::spmv_plan::{self, CONSTANTS, SpmvKind, THREADS};
use super::vector::check_mask;
use crate::algebra::{PlusTimes, Printed, Type, printed_ring};
use crate::{Error, Result};

const SOURCE: Source = source!("spmv.cu");

fn settings(offset: &'static str, kind: SpmvKind) -> Vec<Setting> {
    let offset = Setting::Type("Offset", offset);
    match kind {
        SpmvKind::Rows { .. } => vec![offset, Setting::Constant("LANES", kind.lanes())],
        SpmvKind::Merge => [&[offset, Setting::Switch("MERGE")], &CONSTANTS[..]].concat(),
    }
}

/// A mask as one bool for each index, and whether it is complemented.
pub(crate) type RawMask<'a> = Option<(&'a RawBuffer, bool)>;

impl Cuda {
    /// `y(i) = ⊕_k A(i,k) ⊗ x(k)` over the stored entries of row i, from the identity of ⊕. Empty rows yield the
    /// identity, and so do rows that `mask` excludes: where it is false or, complemented, where it is true.
    ///
    /// Shapes: `a` m×n, `x` n, result m, `mask` m. A positional ⊗ receives (i, k, 0). Cost: O(nnz + m) time; if
    /// `spmv_plan::choose` selects the merge, a value and 8 bytes for every 896 entries and rows, cached with A's
    /// pattern.
    ///
    /// The result is the same in every run. For ⊕ on floats it is not bitwise the CPU's: a row is folded in parts,
    /// which are joined as a tree (lane l of g has the entries l, l + g, …; the parts of a merge are in the order of
    /// the row). It is the CPU's for `Rows { lanes: 1 }`, and whenever ⊕ is exact. `Any` returns the last entry of the
    /// last lane, or of the row.
    ///
    /// Uses the given strategy, or chooses one; the values of `y` must not be shared. After the first call for a
    /// pattern nothing is allocated, and the call returns once the work is enqueued.
    ///
    /// Source of the merge: Merrill, Garland 2016, "Merge-based parallel sparse matrix-vector multiplication".
    pub(crate) fn mxv_raw(
        &self,
        kind: Option<SpmvKind>,
        ring: &Printed,
        a: &RawCsr,
        x: &RawBuffer,
        mask: RawMask<'_>,
        y: &mut Arc<RawBuffer>,
    ) -> Result<()> {
        let p = &*a.pattern;
        if x.len() != p.ncols {
            return Err(Error::Shape { op: "mxv", lhs: p.shape(), rhs: (x.len(), 1) });
        }
        if y.len() != p.nrows {
            return Err(Error::Length { what: "result of mxv", found: y.len(), expected: p.nrows });
        }
        check_mask(mask, p.nrows)?;
        a.values.check("the matrix of mxv", ring.a)?;
        x.check("the vector of mxv", ring.b)?;
        y.check("the result of mxv", ring.out)?;
        alone(y, "y")?;
        self.mxv_over(kind, ring, a, x, mask, y)
    }
    /// [`mxv_raw`](Self::mxv_raw) of checked arrays.
    pub(super) fn mxv_over(
        &self,
        kind: Option<SpmvKind>,
        ring: &Printed,
        a: &RawCsr,
        x: &RawBuffer,
        mask: RawMask<'_>,
        y: &RawBuffer,
    ) -> Result<()> {
        let p = &*a.pattern;
        let kind = match kind {
            Some(kind) => kind,
            None => self.mxv_choice(p)?.1,
        };
        let program = self.program_of(SOURCE, Prefix::new(&ring.text, &settings(p.row_ptr.cuda(), kind)))?;
        let (nrows, complement) = (p.nrows as u64, u32::from(mask.is_some_and(|(_, c)| c)));
        let mask = mask.map(|(m, _)| m);
        if let SpmvKind::Rows { .. } = kind {
            // 256 threads of a block hold 256 / lanes rows.
            let shape = Shape::blocks(p.nrows.div_ceil(256 / kind.lanes() as usize), 256, 0)?;
            let arguments = args![&p.row_ptr, &p.col_idx, &a.values, nrows, x, mask, complement, y];
            return program.kernel("spmv_rows")?.launch(shape, arguments);
        }
        let shares = self.shares(p)?;
        // The stream serializes products; the lock keeps the two kernels of one product together.
        let mut carry = shares.carry.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = shares.tiles * ring.out.size();
        if carry.len() < bytes {
            *carry = self.alloc_raw(Type::U8, bytes, "carries of mxv")?;
        }
        let arguments = args![
            &p.row_ptr,
            &p.col_idx,
            &a.values,
            nrows,
            p.nnz as u64,
            x,
            mask,
            complement,
            &shares.starts,
            y,
            &*carry
        ];
        program.kernel("spmv_merge")?.launch(Shape::blocks(shares.tiles, THREADS, 0)?, arguments)?;
        if shares.tiles < 2 {
            return Ok(());
        }
        // A warp for each tile.
        let tiles = shares.tiles as u64;
        let arguments = args![&p.row_ptr, nrows, tiles, mask, complement, &shares.starts, &*carry, y];
        program.kernel("spmv_carry")?.launch(Shape::blocks(shares.tiles.div_ceil(8), 256, 0)?, arguments)
    }
}

/// Programs to compile without a device.
pub(crate) fn programs() -> Vec<Unit> {
    let rows = |lanes| SpmvKind::Rows { lanes };
    let ring = printed_ring(PlusTimes::<f64>::default());
    let unit = |kind, offset, hot| Unit {
        source: SOURCE,
        prefix: Prefix::new(&ring.text, &settings(offset, kind)).text(),
        hot,
    };
    let plan = Unit {
        source: spmv_plan::SOURCE,
        prefix: Prefix::new("", &spmv_plan::settings("unsigned int")).text(),
        hot: &[],
    };
    vec![
        plan,
        unit(rows(1), "unsigned int", &["spmv_rows"]),
        unit(rows(32), "unsigned long long", &["spmv_rows"]),
        unit(SpmvKind::Merge, "unsigned int", &["spmv_merge"]),
        unit(SpmvKind::Merge, "unsigned long long", &["spmv_merge"]),
    ]
}
