//! Aᵀ, and sorting within rows: see `cuda/transpose.cu`.
//!
//! Both are stable sorts of the entries: Aᵀ sorts by column; sorting the rows of A sorts by column and then by row.

use std::sync::Arc;

use super::buffer::{Buffer, RawBuffer};
use super::csr::{RawCsr, column_bound};
use super::defines::{Prefix, Setting};
use super::jit::{Source, Unit, source};
use super::launch::{Arg, Program, Shape, args};
use super::pattern::{DevicePattern, Offsets};
use super::{Cuda, DeviceCsr};
use crate::Result;
use crate::algebra::{Type, Value};

const SOURCE: Source = source!("transpose.cu");

/// Most bits of a key per pass: 256 digits, one thread each.
const DIGIT_BITS: u32 = 8;

/// Keys per block: as many as fit 48 KiB of shared memory.
fn tile(large: bool) -> usize {
    if large { 2048 } else { 4096 }
}

fn settings(ty: Type, large: bool) -> [Setting; 2] {
    let position = if large { "unsigned long long" } else { "unsigned int" };
    [Setting::Type("Position", position), Setting::words(ty)]
}

/// Entries sorted by key: the keys, and the original position of each entry.
pub(super) struct Ordered {
    pub(super) keys: Buffer<u32>,
    pub(super) positions: Offsets,
}

/// The program for one value type, and the width of its positions.
pub(super) struct Sorter<'a> {
    cuda: &'a Cuda,
    program: Arc<Program>,
    large: bool,
    n: usize,
}

impl<'a> Sorter<'a> {
    pub(super) fn new(cuda: &'a Cuda, ty: Type, n: usize) -> Result<Self> {
        let large = u32::try_from(n).is_err();
        Ok(Self { cuda, program: cuda.program_of(SOURCE, Prefix::new("", &settings(ty, large)))?, large, n })
    }

    /// Entries by increasing key, stable for equal keys. Keys are below `bound`. `positions` are those of the entries;
    /// without it, 0, 1, 2, ….
    pub(super) fn sort(&self, keys: &Buffer<u32>, positions: Option<&Offsets>, bound: usize) -> Result<Ordered> {
        let bits = (usize::BITS - bound.saturating_sub(1).leading_zeros()).max(1);
        let passes = bits.div_ceil(DIGIT_BITS);
        let width = bits.div_ceil(passes);
        let digits = 1u32 << width;
        let tiles = self.n.div_ceil(tile(self.large));
        let shape = Shape::blocks(tiles, 256, 0)?;
        let counts = self.cuda.alloc::<u32>(digits as usize * tiles, "counts of digits")?;
        let (count, place) = (self.program.kernel("count_digits")?, self.program.kernel("place_digits")?);

        let mut sorted: Option<Ordered> = None;
        let mut spare: Option<Ordered> = None;
        for pass in 0..passes {
            let (keys, positions) = match &sorted {
                Some(last) => (&last.keys, Some(&last.positions)),
                None => (keys, positions),
            };
            let shift = pass * width;
            count.launch(shape, args![keys, self.n as u64, shift, digits, &counts])?;
            let offsets = self.cuda.offsets_of_sum(&counts, self.n as u64, "offsets of digits")?;
            debug_assert!(offsets.is_large() == self.large);
            let to = match spare.take() {
                Some(room) => room,
                None => self.room()?,
            };
            let positions = positions.map_or(Arg::from(0u64), Arg::from);
            let arguments = args![keys, positions, self.n as u64, shift, digits, &offsets, &to.keys, &to.positions];
            place.launch(shape, arguments)?;
            spare = sorted.replace(to);
        }
        // There is at least one pass; the fallback only avoids a panic.
        sorted.map_or_else(|| self.room(), Ok)
    }

    fn room(&self) -> Result<Ordered> {
        let what = "entries in order";
        Ok(Ordered {
            keys: self.cuda.alloc(self.n, what)?,
            positions: self.cuda.alloc_offsets(self.large, self.n, what)?,
        })
    }

    /// Row pointers of `nrows` rows, from the sorted row indices of the entries.
    pub(super) fn row_starts(&self, rows: &Buffer<u32>, nrows: usize) -> Result<Offsets> {
        let row_ptr = self.cuda.alloc_offsets(self.large, nrows + 1, "row pointers of a transpose")?;
        let shape = Shape::for_each(nrows + 1, 256)?;
        self.program.kernel("row_starts")?.launch(shape, args![rows, self.n as u64, nrows as u64, &row_ptr])?;
        Ok(row_ptr)
    }

    /// `to[p] = from[positions[p]]` by the kernel `kernel`.
    pub(super) fn gather(&self, kernel: &str, positions: &Offsets, from: &RawBuffer, to: &RawBuffer) -> Result<()> {
        let shape = Shape::for_each(self.n, 256)?;
        self.program.kernel(kernel)?.launch(shape, args![positions, self.n as u64, from, to])
    }

    /// Aᵀ, and the position of each of its entries in A.
    pub(super) fn transpose(&self, a: &DevicePattern) -> Result<(DevicePattern, Offsets)> {
        column_bound(a.nrows)?;
        let Ordered { keys, positions } = self.sort(&a.col_idx, None, a.ncols)?;
        let row_ptr = self.row_starts(&keys, a.ncols)?;
        let rows = self.cuda.alloc(self.n, "rows of entries")?;
        self.cuda.row_indices(a, &rows)?;
        // The keys are no longer needed; the columns of Aᵀ reuse their buffer.
        self.gather("gather_indices", &positions, &rows, &keys)?;
        let (nrows, ncols) = (a.ncols, a.nrows);
        Ok((DevicePattern::new((nrows, ncols), true, row_ptr, keys), positions))
    }

    /// A with columns increasing in every row, and the original position of each entry.
    fn sorted(&self, a: &DevicePattern) -> Result<(DevicePattern, Offsets)> {
        column_bound(a.nrows)?;
        let by_column = self.sort(&a.col_idx, None, a.ncols)?;
        let rows = self.cuda.alloc(self.n, "rows of entries")?;
        self.cuda.row_indices(a, &rows)?;
        self.gather("gather_indices", &by_column.positions, &rows, &by_column.keys)?;
        drop(rows);
        let Ordered { keys, positions } = self.sort(&by_column.keys, Some(&by_column.positions), a.nrows)?;
        self.gather("gather_indices", &positions, &a.col_idx, &keys)?;
        let row_ptr = self.cuda.duplicate_offsets(&a.row_ptr, "row pointers of sorted rows")?;
        let pattern = DevicePattern::new((a.nrows, a.ncols), true, row_ptr, keys);
        Ok((pattern, positions))
    }

    /// The values of `a` as a matrix of `pattern`: entry p has the value from `positions[p]`.
    fn permuted(&self, a: &RawCsr, (pattern, positions): (DevicePattern, Offsets)) -> Result<RawCsr> {
        let values = self.cuda.alloc_raw(a.ty(), self.n, "values in a new order")?;
        self.gather("gather_values", &positions, &a.values, &values)?;
        Ok(RawCsr::new(pattern, values))
    }
}

impl Cuda {
    /// Aᵀ, rows sorted (also for an unsorted A). The same arrays in every run, identical to those of
    /// [`Csr::transpose`](crate::Csr::transpose).
    ///
    /// Cost: a stable radix sort of the columns, ⌈log₂(ncols) / 8⌉ passes over the entries for any distribution; about
    /// 12 bytes an entry beside the result, 20 for 2³² entries or more.
    pub(crate) fn transpose_raw(&self, a: &RawCsr) -> Result<RawCsr> {
        let sorter = Sorter::new(self, a.ty(), a.nnz())?;
        sorter.permuted(a, sorter.transpose(&a.pattern)?)
    }
    /// Aᵀ, with the array `beside`, one value for each entry of A, permuted likewise.
    pub(super) fn transpose_beside_raw(&self, a: &RawCsr, beside: &RawBuffer) -> Result<(RawCsr, Arc<RawBuffer>)> {
        let sorter = Sorter::new(self, a.ty(), a.nnz())?;
        let (pattern, positions) = sorter.transpose(&a.pattern)?;
        let permuted = self.alloc_raw(beside.ty(), beside.len(), "an array beside the entries, permuted")?;
        Sorter::new(self, beside.ty(), a.nnz())?.gather("gather_values", &positions, beside, &permuted)?;
        Ok((sorter.permuted(a, (pattern, positions))?, permuted))
    }
    /// The pattern of Aᵀ, rows sorted, by a stable radix sort of the columns.
    /// # Errors
    /// [`Error::IndexOverflow`](crate::Error::IndexOverflow) for 2³² rows or more;
    /// [`Error::DeviceMemory`](crate::Error::DeviceMemory), [`Error::Device`](crate::Error::Device).
    pub fn transpose_pattern(&self, a: &DevicePattern) -> Result<DevicePattern> {
        Ok(Sorter::new(self, Type::U32, a.nnz)?.transpose(a)?.0)
    }
    /// The same entries, columns increasing within each row; if they are sorted already, `a` itself rather than a copy.
    ///
    /// Cost: two stable radix sorts, by column and by row: ⌈log₂(ncols) / 8⌉ + ⌈log₂(nrows) / 8⌉ passes; about 20 bytes
    /// an entry beside the result, 32 for 2³² entries or more.
    /// # Errors
    /// Those of [`transpose_pattern`](Self::transpose_pattern).
    pub fn sorted<T: Value>(&self, a: &DeviceCsr<T>) -> Result<DeviceCsr<T>> {
        self.sorted_raw(&a.raw())?.typed()
    }
    pub(crate) fn sorted_raw(&self, a: &RawCsr) -> Result<RawCsr> {
        if a.pattern.sorted {
            return Ok(a.clone());
        }
        let sorter = Sorter::new(self, a.ty(), a.nnz())?;
        sorter.permuted(a, sorter.sorted(&a.pattern)?)
    }
    /// The same pattern, columns increasing within each row; `a` itself if they do already.
    /// # Errors
    /// Those of [`transpose_pattern`](Self::transpose_pattern).
    pub fn sort_rows(&self, a: &Arc<DevicePattern>) -> Result<Arc<DevicePattern>> {
        if a.sorted {
            return Ok(Arc::clone(a));
        }
        Ok(Arc::new(Sorter::new(self, Type::U32, a.nnz)?.sorted(a)?.0))
    }
}

/// The programs of this file with representative settings, for the test that compiles all.
pub(crate) fn programs() -> Vec<Unit> {
    let hot = &["count_digits", "place_digits", "gather_values"];
    let unit = |size, large| {
        let [position, _] = settings(Type::Bool, large);
        Unit { source: SOURCE, prefix: Prefix::new("", &[position, Setting::Words("Value", size)]).text(), hot }
    };
    vec![unit(8, false), unit(12, false), unit(1, false), unit(32, true)]
}
