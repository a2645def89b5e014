//! y = x ⊕.⊗ A with sparse x and y: see `cuda/spmspv.cu`.

use super::Cuda;
use super::buffer::Buffer;
use super::csr::RawCsr;
use super::defines::{Prefix, Setting};
use super::jit::{Source, Unit, source};
use super::launch::{Shape, args};
use super::scan::Scan;
use super::spmv::RawMask;
use super::vector::check_mask;
use super::vector_form::RawEntries;
use crate::algebra::{PlusTimes, Printed, printed_ring};
use crate::{Error, Result};

const SOURCE: Source = source!("spmspv.cu");
/// Keys per block of the sort: `TILE` in the source.
const TILE: usize = 4096;

impl Cuda {
    /// `y(j) = ⊕_k x(k) ⊗ A(k,j)`, that is yᵀ = xᵀA, at the columns j that have a product and that `mask` allows: where
    /// it is true or, complemented, where it is false. Each fold starts at the identity of ⊕ and proceeds in the order
    /// of k, and the result is bitwise that of this fold.
    ///
    /// Shapes: `x` m, `a` m×n, result n, `mask` n, of the types of `ring`; the caller has checked. A positional ⊗
    /// receives (0, k, j).
    ///
    /// Cost, for P products (the entries of A in the rows of x's pattern): O(P) passes over memory, one for each eight
    /// bits of n and a few more; P · (20 + the size of a value) bytes at the peak; about 20 kernels for any P, and two
    /// waits, or one if P is `known`. A column with c products is folded sequentially by one thread. The cost does not
    /// depend on m, n or the rest of A.
    pub(super) fn vxm_sorted(
        &self,
        ring: &Printed,
        (x_indices, x_values): &RawEntries,
        a: &RawCsr,
        mask: RawMask<'_>,
        known: Option<u64>,
    ) -> Result<RawEntries> {
        let p = &*a.pattern;
        check_mask(mask, p.ncols)?;
        let nothing = || Ok((self.alloc(0, "indices of vxm")?, self.alloc_raw(ring.out, 0, "values of vxm")?));
        if x_indices.len() == 0 || p.nnz == 0 {
            return nothing();
        }
        let settings = [Setting::Type("Offset", p.row_ptr.cuda())];
        let program = self.program_of(SOURCE, Prefix::new(&ring.text, &settings))?;
        let launch = |name, shape, arguments: &[_]| program.kernel(name)?.launch(shape, arguments);

        let nnz = x_indices.len() as u64;
        let counts = self.alloc::<u32>(x_indices.len(), "products of vxm")?;
        launch("spmspv_counts", Shape::for_each(x_indices.len(), 256)?, args![x_indices, nnz, &p.row_ptr, &counts])?;
        let scan = Scan::begin(self, &counts, known.unwrap_or(p.nnz as u64), 0)?;
        let total = match known {
            Some(total) => total,
            None => scan.get(self)?.0,
        };
        if total == 0 {
            return nothing();
        }
        let too_many = |_| Error::IndexOverflow { what: "products of vxm", needed: total.into(), max: u32::MAX.into() };
        let (products, total) = (total as usize, u32::try_from(total).map_err(too_many)?);
        let offsets = scan.offsets(self, &counts, false, "products of vxm")?;
        let each = Shape::for_each(products, 256)?;

        let keys = self.alloc::<u32>(products, "columns of vxm")?;
        let values = self.alloc_raw(ring.out, products, "products of vxm")?;
        let arguments =
            args![x_indices, x_values, nnz, &offsets, total, &p.row_ptr, &p.col_idx, &a.values, &keys, &values];
        launch("spmspv_expand", each, arguments)?;
        drop((scan, counts, offsets));

        // A radix sort by column, eight bits at a time from the lowest; at least one pass, which also numbers the
        // products.
        let bits = usize::BITS - p.ncols.saturating_sub(1).leading_zeros();
        let (tiles, shape) = (products.div_ceil(TILE), Shape::blocks(products.div_ceil(TILE), 256, 0)?);
        let counts = self.alloc::<u32>(256 * tiles, "counts of a sort")?;
        let mut sorted: (Buffer<u32>, Option<Buffer<u32>>) = (keys, None);
        // The buffers of the previous pass, reused.
        let mut spare: Option<(Buffer<u32>, Buffer<u32>)> = None;
        for pass in 0..bits.div_ceil(8).max(1) {
            let (shift, tiles) = (8 * pass, tiles as u32);
            launch("spmspv_digits", shape, args![&sorted.0, total, shift, tiles, &counts])?;
            // The total is known, so there is no wait.
            let positions = self.offsets_of_sum(&counts, products as u64, "offsets of a sort")?;
            let (keys, ids) = match spare.take() {
                Some(pair) => pair,
                None => (self.alloc(products, "columns of vxm")?, self.alloc(products, "order of vxm")?),
            };
            let arguments = args![&sorted.0, sorted.1.as_ref(), total, shift, tiles, &positions, &keys, &ids];
            launch("spmspv_place", shape, arguments)?;
            if let (keys, Some(ids)) = std::mem::replace(&mut sorted, (keys, Some(ids))) {
                spare = Some((keys, ids));
            }
        }
        drop((counts, spare));

        let complement = u32::from(mask.is_some_and(|(_, c)| c));
        let mask = mask.map(|(m, _)| m);
        let heads = self.alloc::<u32>(products, "columns of vxm")?;
        launch("spmspv_heads", each, args![&sorted.0, total, mask, complement, &heads])?;
        let scan = Scan::begin(self, &heads, products as u64, 0)?;
        let positions = scan.offsets(self, &heads, false, "positions in the result of vxm")?;
        let entries = scan.get(self)?.0;
        let indices = self.alloc(entries as usize, "indices of vxm")?;
        let y = self.alloc_raw(ring.out, entries as usize, "values of vxm")?;
        let arguments = args![&sorted.0, sorted.1.as_ref(), &values, total, &heads, &positions, &indices, &y];
        launch("spmspv_fold", each, arguments)?;
        Ok((indices, y))
    }
}

/// Programs to compile without a device.
pub(crate) fn programs() -> Vec<Unit> {
    let ring = printed_ring(PlusTimes::<f64>::default());
    let unit = |offset| Unit {
        source: SOURCE,
        prefix: Prefix::new(&ring.text, &[Setting::Type("Offset", offset)]).text(),
        hot: &["spmspv_place", "spmspv_expand", "spmspv_fold"],
    };
    vec![unit("unsigned int"), unit("unsigned long long")]
}
