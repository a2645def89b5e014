//! Y = A ⊕.⊗ X with dense X and Y: see `cuda/spmm.cu`.

use std::sync::Arc;

use super::Cuda;
use super::buffer::{Buffer, RawBuffer};
use super::csr::{DeviceCsr, RawCsr};
use super::defines::{Prefix, Setting};
use super::jit::{Source, Unit, source};
use super::launch::{Shape, args};
use super::pattern::DevicePattern;
use super::vector::DeviceDense;
use crate::algebra::{Lhs, Out, PlusTimes, Printed, Rhs, Semiring, printed_ring};
use crate::{Error, Result};

const SOURCE: Source = source!("spmm.cu");
const PLAN: Source = source!("spmm_plan.cu");
/// Entries of a part of a row. Half as many are faster below 32 columns, twice as many above 128.
const SPLIT: usize = 256;

/// The mapping of columns to threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Groups {
    /// Threads per row.
    lanes: usize,
    /// Adjacent columns of a thread: the width of a vector load.
    vec: usize,
    /// Vector loads of a thread per entry.
    packs: usize,
    /// Entries whose rows of X are loaded concurrently.
    deep: usize,
}

impl Groups {
    /// For `columns` columns; `sizes` are the bytes of a value of X and of Y.
    ///
    /// Vector loads are as wide as the columns allow, at most 16 bytes, but narrow enough that eight threads share a
    /// row; beyond 64 columns of 8 bytes, scalar loads in fours. `deep` covers 32 to 64 bytes for each thread: more is
    /// slower, since fewer threads fit. Best on eight matrices, 4 to 256 columns of f32 and f64, on an H200.
    fn of(columns: usize, sizes: [usize; 2]) -> Self {
        let bytes = sizes[0].max(sizes[1]);
        let fits = |vec: usize| vec * bytes <= 16 && columns.is_multiple_of(vec);
        let vec = match columns {
            _ if !sizes.iter().all(|size| size.is_power_of_two()) || bytes == 8 && columns > 64 => 1,
            32.. if fits(4) => 4,
            8.. if fits(2) => 2,
            _ => 1,
        };
        let lanes = columns.div_ceil(vec).clamp(1, 32).next_power_of_two();
        // More columns per thread reuse the entry of A that it holds, but large values would not fit its registers.
        let most = (32 / (vec * bytes).max(1)).clamp(1, 4);
        let packs = columns.div_ceil(lanes * vec).clamp(1, most).next_power_of_two().min(most);
        let deep = match (vec * packs * bytes, bytes) {
            (..=8, _) if vec * packs == 1 => 8,
            (..=8, _) => 4,
            (..=16, ..=4) if lanes >= 16 => 3,
            (..=16, _) => 4,
            (..=32, ..=4) => 3,
            _ => 2,
        };
        Self { lanes, vec, packs, deep }
    }
}

fn settings(offset: &'static str, groups: Groups) -> [Setting; 6] {
    let Groups { lanes, vec, packs, deep } = groups;
    [
        Setting::Type("Offset", offset),
        Setting::Constant("SPLIT", SPLIT as u32),
        Setting::Constant("LANES", lanes as u32),
        Setting::Constant("VEC", vec as u32),
        Setting::Constant("PACKS", packs as u32),
        Setting::Constant("DEEP", deep as u32),
    ]
}

fn plan_settings(offset: &'static str) -> [Setting; 2] {
    [Setting::Type("Offset", offset), Setting::Constant("SPLIT", SPLIT as u32)]
}

/// The parts of the rows of more than [`SPLIT`] entries, in the layout of `cuda/spmm.cu`.
struct LongRows {
    parts: usize,
    rows: usize,
    part_row: Buffer<u64>,
    part_start: Buffer<u64>,
    long_row: Buffer<u64>,
    long_first: Buffer<u64>,
}

impl Cuda {
    /// `Y(i,j) = ⊕_k A(i,k) ⊗ X(k,j)` over the stored entries of row i, from the identity of ⊕, in stored order. A row
    /// of more than 256 entries is cut into parts of 256, each folded in this way and then joined in order; a single
    /// column is folded as by `mxv`. For ⊕ on floats the rounding differs from the CPU's; the result is bitwise the
    /// same in every run and depends on a row's entries alone.
    ///
    /// Shapes: `a` m×k, `x` k×n, result m×n. A positional ⊗ receives (i, k, j). Cost: O(n · (nnz + m)) time; in memory
    /// n values for each part, and 48 bytes for 256 entries cached with A's pattern.
    /// # Errors
    /// [`Error::Shape`]; [`Error::IndexOverflow`] if m·n overflows; [`Error::Compile`], [`Error::NoCompiler`],
    /// [`Error::DeviceMemory`], [`Error::Device`].
    pub fn spmm_product<R: Semiring>(
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
        let mut y = DeviceDense { nrows, ncols, values: self.alloc(len, "the result of spmm")? };
        self.spmm_product_into(ring, a, x, &mut y)?;
        Ok(y)
    }
    /// [`spmm_product`](Self::spmm_product) into an existing matrix.
    /// # Errors
    /// Those of [`spmm_product`](Self::spmm_product), and [`Error::Shape`] for a result of another shape.
    pub fn spmm_product_into<R: Semiring>(
        &self,
        ring: R,
        a: &DeviceCsr<Lhs<R>>,
        x: &DeviceDense<Rhs<R>>,
        y: &mut DeviceDense<Out<R>>,
    ) -> Result<()> {
        let p = &*a.pattern;
        if x.nrows != p.ncols {
            return Err(Error::Shape { op: "spmm", lhs: p.shape(), rhs: x.shape() });
        }
        if y.shape() != (p.nrows, x.ncols) {
            return Err(Error::Shape { op: "the result of spmm", lhs: (p.nrows, x.ncols), rhs: y.shape() });
        }
        self.spmm_raw(&printed_ring(ring), &a.raw(), x.ncols, &x.values, &y.values)
    }
    /// `columns` columns of x, into as many of y; the caller has checked the shapes.
    pub(crate) fn spmm_raw(
        &self,
        ring: &Printed,
        a: &RawCsr,
        columns: usize,
        x: &RawBuffer,
        y: &RawBuffer,
    ) -> Result<()> {
        let p = &*a.pattern;
        a.values.check("the matrix of spmm", ring.a)?;
        x.check("the dense matrix of spmm", ring.b)?;
        y.check("the result of spmm", ring.out)?;
        if columns == 0 || p.nrows == 0 {
            return Ok(());
        }
        if columns == 1 {
            return self.mxv_over(None, ring, a, x, None, y);
        }
        let groups = Groups::of(columns, [ring.b.size(), ring.out.size()]);
        let long = (self.mxv_choice(p)?.0.longest_row > SPLIT).then(|| self.long_rows(p)).transpose()?;
        let parts = long.as_ref().map_or(0, |long| long.parts);
        let chunks = columns.div_ceil(groups.lanes * groups.vec * groups.packs);
        let too_many = |needed: u128| Error::IndexOverflow {
            what: "values and groups of a kernel",
            needed,
            max: usize::MAX as u128,
        };
        let lines = p.nrows as u128 + parts as u128;
        let needed = lines * columns as u128;
        let work = usize::try_from(lines * chunks as u128).map_err(|_| too_many(needed))?;
        let sums = parts.checked_mul(columns).ok_or_else(|| too_many(needed))?;
        let scratch = self.alloc_raw(ring.out, sums, "the parts of long rows of spmm")?;
        let program = self.program_of(SOURCE, Prefix::new(&ring.text, &settings(p.row_ptr.cuda(), groups)))?;
        let (part_row, part_start) = long.as_deref().map(|long| (&long.part_row, &long.part_start)).unzip();
        let (nrows, columns, chunks) = (p.nrows as u64, columns as u64, chunks as u64);
        let arguments = args![
            &p.row_ptr,
            &p.col_idx,
            &a.values,
            nrows,
            x,
            columns,
            chunks,
            parts as u64,
            part_row.map(|part_row| &**part_row),
            part_start.map(|part_start| &**part_start),
            &scratch,
            y
        ];
        let blocks = work.div_ceil(256 / groups.lanes);
        program.kernel("spmm_rows")?.launch(Shape::blocks(blocks, 256, 0)?, arguments)?;
        let Some(long) = long else { return Ok(()) };
        let arguments = args![&p.row_ptr, long.rows as u64, &long.long_row, &long.long_first, &scratch, columns, y];
        program.kernel("spmm_join")?.launch(Shape::for_each(long.rows * columns as usize, 256)?, arguments)
    }
    /// The parts of the pattern's long rows.
    fn long_rows(&self, p: &DevicePattern) -> Result<Arc<LongRows>> {
        p.facts.get_or_make(|| {
            // A long row has more than SPLIT entries, and at most one part that is not full.
            let rows = p.nnz / SPLIT;
            let alloc = |len| self.alloc::<u64>(len, "parts of long rows");
            let (part_row, part_start) = (alloc(2 * rows)?, alloc(2 * rows)?);
            let (long_row, long_first) = (alloc(rows)?, alloc(rows)?);
            let totals = self.zeroed::<u64>(2, "the number of long rows")?;
            let program = self.program_of(PLAN, Prefix::new("", &plan_settings(p.row_ptr.cuda())))?;
            let nrows = p.nrows as u64;
            let arguments = args![&p.row_ptr, nrows, &totals, &part_row, &part_start, &long_row, &long_first];
            program.kernel("spmm_parts")?.launch(Shape::for_each(p.nrows, 256)?, arguments)?;
            let (parts, rows) = (self.get_at(&totals, 0)? as usize, self.get_at(&totals, 1)? as usize);
            Ok(LongRows { parts, rows, part_row, part_start, long_row, long_first })
        })
    }
}

/// Programs to compile without a device.
pub(crate) fn programs() -> Vec<Unit> {
    let ring = printed_ring(PlusTimes::<f64>::default());
    let unit = |columns, offset| Unit {
        source: SOURCE,
        prefix: Prefix::new(&ring.text, &settings(offset, Groups::of(columns, [8; 2]))).text(),
        hot: &["spmm_rows"],
    };
    let plan = |offset| Unit { source: PLAN, prefix: Prefix::new("", &plan_settings(offset)).text(), hot: &[] };
    vec![
        plan("unsigned int"),
        unit(2, "unsigned int"),
        unit(16, "unsigned int"),
        unit(64, "unsigned int"),
        unit(200, "unsigned long long"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_cover_the_columns() {
        let of = |columns, bytes| {
            let Groups { lanes, vec, packs, deep } = Groups::of(columns, [bytes; 2]);
            [lanes, vec, packs, deep]
        };
        let singles =
            [(2, [2, 1, 1, 8]), (4, [4, 1, 1, 8]), (8, [4, 2, 1, 4]), (32, [8, 4, 1, 4]), (64, [16, 4, 1, 3])];
        for (columns, groups) in singles.into_iter().chain([(100, [32, 4, 1, 3]), (256, [32, 4, 2, 3])]) {
            assert_eq!(of(columns, 4), groups, "{columns} of f32");
        }
        let doubles = [(4, [4, 1, 1, 8]), (8, [4, 2, 1, 4]), (32, [16, 2, 1, 4]), (64, [32, 2, 1, 4])];
        for (columns, groups) in doubles.into_iter().chain([(100, [32, 1, 4, 2]), (256, [32, 1, 4, 2])]) {
            assert_eq!(of(columns, 8), groups, "{columns} of f64");
        }
        assert_eq!([of(999, 4), of(999, 16), of(999, 24)], [[32, 1, 4, 3], [32, 1, 2, 2], [32, 1, 1, 2]]);
        for (columns, bytes) in (1..300).flat_map(|columns| [1, 2, 4, 8, 12, 16, 40].map(|bytes| (columns, bytes))) {
            let Groups { lanes, vec, packs, .. } = Groups::of(columns, [bytes, 4]);
            assert!(columns % vec == 0 && lanes <= 32 && vec * packs <= 8 && (vec == 1 || vec * bytes <= 16));
        }
    }
}
