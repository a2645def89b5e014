//! Matrices and vectors imported from foreign arrays in a GPU's memory, and exported: see `cuda/adopt.cu`.

use std::sync::Arc;

use super::Cuda;
use super::buffer::{Buffer, RawBuffer};
use super::csr::{RawCsr, column_bound};
use super::defines::Prefix;
use super::driver::DeviceArray;
use super::index::offsets;
use super::jit::{Source, Unit, source};
use super::launch::{Shape, args};
use super::pattern::{DevicePattern, Offsets};
use super::vector_form::RawVector;
use crate::algebra::Type;
use crate::{Error, Result};

const SOURCE: Source = source!("adopt.cu");
const CHECKS: Prefix<'_> = Prefix { operator: "", settings: &[] };

/// Results of the checks, as in the source.
const POINTERS: u32 = 1;
const COLUMNS: u32 = 2;
const UNSORTED: u32 = 4;

impl Cuda {
    /// A copy of a foreign array on this GPU. The caller has waited for all earlier work on the GPU.
    pub(crate) fn copy_of(&self, array: &DeviceArray, what: &'static str) -> Result<Arc<RawBuffer>> {
        self.device().check_foreign(array, what)?;
        let buffer = self.alloc_raw(array.ty(), array.len(), what)?;
        self.device().copy_foreign(buffer.at, array)?;
        Ok(buffer)
    }
    /// A full vector copied from a foreign array.
    pub(crate) fn adopt_vector(&self, values: &DeviceArray) -> Result<RawVector> {
        self.device().wait_for_all()?;
        let values = self.copy_of(values, "values")?;
        self.synchronize()?;
        Ok(RawVector::full(values))
    }
    /// A matrix copied from foreign arrays: row pointers and columns of i32 or u32, columns increasing within rows, and
    /// values.
    ///
    /// Cost: O(nrows + nnz), a copy within the device.
    /// # Errors
    /// [`Error::Argument`] for arrays that are not such a matrix, or not on this GPU; [`Error::Length`],
    /// [`Error::DeviceMemory`], [`Error::Device`].
    pub(crate) fn adopt(
        &self,
        (nrows, ncols): (usize, usize),
        row_ptr: &DeviceArray,
        col_idx: &DeviceArray,
        values: &DeviceArray,
    ) -> Result<RawCsr> {
        column_bound(ncols)?;
        for (what, array) in [("row pointers", row_ptr), ("columns", col_idx)] {
            if !matches!(array.ty(), Type::I32 | Type::U32) {
                let message = format!("they are {}, not i32 or u32", array.ty());
                return Err(Error::Argument { name: what, message });
            }
        }
        for (what, found, expected) in
            [("row pointers", row_ptr.len(), nrows.saturating_add(1)), ("values", values.len(), col_idx.len())]
        {
            if found != expected {
                return Err(Error::Length { what, found, expected });
            }
        }
        // Their owners may still be writing to them.
        self.device().wait_for_all()?;
        let unsigned = |array: &DeviceArray, what| -> Result<Buffer<u32>> {
            self.device().check_foreign(array, what)?;
            let buffer = self.alloc::<u32>(array.len(), what)?;
            self.device().copy_foreign(buffer.at, array)?;
            Ok(buffer)
        };
        let row_ptr = Offsets::Small(unsigned(row_ptr, "row pointers")?);
        let (col_idx, values) = (unsigned(col_idx, "columns")?, self.copy_of(values, "values")?);
        self.checked((nrows, ncols), (row_ptr, col_idx, values))
    }
    /// The matrix of arrays filled by others, after checking that its columns increase within rows.
    fn checked(
        &self,
        (nrows, ncols): (usize, usize),
        (row_ptr, col_idx, values): (Offsets, Buffer<u32>, Arc<RawBuffer>),
    ) -> Result<RawCsr> {
        let nnz = col_idx.len();
        let found = self.zeroed::<u32>(1, "checks of a matrix")?;
        let program = self.program_of(SOURCE, CHECKS)?;
        let flags = || Ok(self.get(&found, "checks of a matrix")?.first().copied().unwrap_or_default());
        let arguments = args![offsets(&row_ptr), nrows as u64, nnz as u64, &found];
        program.kernel("check_pointers")?.launch(Shape::for_each(nrows + 1, 256)?, arguments)?;
        if flags()? & POINTERS != 0 {
            let message = format!("they do not increase from 0 to {nnz}, the number of entries");
            return Err(Error::Argument { name: "row pointers", message });
        }
        let arguments = args![offsets(&row_ptr), nrows as u64, &col_idx, ncols as u64, &found];
        program.kernel("check_columns")?.launch(Shape::for_each(nrows.saturating_mul(32), 256)?, arguments)?;
        let flags = flags()?;
        if flags & COLUMNS != 0 {
            let message = format!("an index is not below {ncols}");
            return Err(Error::Argument { name: "columns", message });
        }
        if flags & UNSORTED != 0 {
            let message = "they do not increase within every row: sort each row and add up repeated entries".into();
            return Err(Error::Argument { name: "columns", message });
        }
        Ok(RawCsr::new(DevicePattern::new((nrows, ncols), true, row_ptr, col_idx), values))
    }
    /// Matrices of these shapes and numbers of entries. `fill` writes their arrays, and must be done with them when it
    /// returns.
    pub(crate) fn filled(
        &self,
        ty: Type,
        sizes: &[((usize, usize), usize)],
        fill: impl FnOnce(&[[DeviceArray; 3]]) -> Result<()>,
    ) -> Result<Vec<RawCsr>> {
        let what = "a matrix to be filled";
        let room = |&((nrows, ncols), nnz): &((usize, usize), usize)| {
            column_bound(ncols)?;
            let pointers = nrows.saturating_add(1);
            let row_ptr = match u32::try_from(nnz) {
                Ok(_) => Offsets::Small(self.alloc(pointers, what)?),
                Err(_) => Offsets::Large(self.alloc(pointers, what)?),
            };
            Ok((row_ptr, self.alloc(nnz, what)?, self.alloc_raw(ty, nnz, what)?))
        };
        let rooms = sizes.iter().map(room).collect::<Result<Vec<_>>>()?;
        // Memory allocated in the order of our stream is valid for others only after a wait.
        self.synchronize()?;
        fill(&rooms.iter().map(|(row_ptr, col_idx, values)| arrays(row_ptr, col_idx, values)).collect::<Vec<_>>())?;
        sizes.iter().zip(rooms).map(|((shape, _), room)| self.checked(*shape, room)).collect()
    }
    /// Copies of another GPU's arrays, made without the host; `None` if this GPU cannot read the other's memory.
    ///
    /// Waits for all work of the other GPU, and for the copies: its owner may free the arrays then.
    fn copies_from<const N: usize>(
        &self,
        other: &Self,
        arrays: [&RawBuffer; N],
        what: &'static str,
    ) -> Result<Option<[Arc<RawBuffer>; N]>> {
        if !self.device().reaches(other.device())? {
            return Ok(None);
        }
        other.synchronize()?;
        let mut made = Vec::with_capacity(N);
        for array in arrays {
            let copy = self.alloc_raw(array.ty(), array.len(), what)?;
            let bytes = array.len() * array.ty().size();
            self.device().copy_from(other.device(), (copy.at, array.at), bytes)?;
            made.push(copy);
        }
        self.synchronize()?;
        Ok(made.try_into().ok())
    }
    /// A copy of a matrix in another GPU's memory, likewise.
    pub(crate) fn matrix_from(&self, other: &Self, a: &RawCsr) -> Result<Option<RawCsr>> {
        let p = &*a.pattern;
        let row_ptr: &RawBuffer = match &p.row_ptr {
            Offsets::Small(at) => at,
            Offsets::Large(at) => at,
        };
        let Some([row_ptr, columns, values]) =
            self.copies_from(other, [row_ptr, &p.col_idx, &a.values], "a matrix of another GPU")?
        else {
            return Ok(None);
        };
        let row_ptr = match &p.row_ptr {
            Offsets::Small(_) => Offsets::Small(Buffer::of(row_ptr)?),
            Offsets::Large(_) => Offsets::Large(Buffer::of(row_ptr)?),
        };
        let pattern = DevicePattern::new(p.shape(), p.sorted, row_ptr, Buffer::of(columns)?);
        Ok(Some(RawCsr::new(pattern, values)))
    }
    /// A copy of a vector in another GPU's memory, likewise.
    pub(crate) fn vector_from(&self, other: &Self, x: &RawVector) -> Result<Option<RawVector>> {
        let what = "a vector of another GPU";
        Ok(match (x.present(), x.indices()) {
            (None, None) => self.copies_from(other, [&*x.values], what)?.map(|[values]| RawVector::full(values)),
            (Some(present), _) => match self.copies_from(other, [present, &x.values], what)? {
                Some([present, values]) => Some(RawVector::bitmap(Buffer::of(present)?, values)),
                None => None,
            },
            (None, Some(indices)) => match self.copies_from(other, [indices, &x.values], what)? {
                Some([indices, values]) => Some(RawVector::list(x.len, Buffer::of(indices)?, values)),
                None => None,
            },
        })
    }
    /// Passes row pointers, columns increasing within rows, and values to `read`, after waiting for all work on them.
    pub(crate) fn with_arrays<T>(&self, a: &RawCsr, read: impl FnOnce(&[DeviceArray; 3]) -> Result<T>) -> Result<T> {
        let a = self.sorted_raw(a)?;
        read(&self.arrays_of(&a)?)
    }
    /// Row pointers, columns and values in place, after waiting for all work on them. Row pointers are u32 below 2³²
    /// entries, else u64.
    pub(crate) fn arrays_of(&self, a: &RawCsr) -> Result<[DeviceArray; 3]> {
        self.synchronize()?;
        Ok(arrays(&a.pattern.row_ptr, &a.pattern.col_idx, &a.values))
    }
    /// The values of a full vector; `None` for other forms.
    pub(crate) fn array_of(&self, x: &RawVector) -> Result<Option<DeviceArray>> {
        self.synchronize()?;
        let is_full = x.present().is_none() && x.indices().is_none();
        Ok(is_full.then(|| DeviceArray::own(x.values.at, x.values.len(), x.values.ty())))
    }
}

fn arrays(row_ptr: &Offsets, columns: &Buffer<u32>, values: &RawBuffer) -> [DeviceArray; 3] {
    let row_ptr = match row_ptr {
        Offsets::Small(p) => DeviceArray::own(p.at, p.len(), Type::U32),
        Offsets::Large(p) => DeviceArray::own(p.at, p.len(), Type::U64),
    };
    let columns = DeviceArray::own(columns.at, columns.len(), Type::U32);
    [row_ptr, columns, DeviceArray::own(values.at, values.len(), values.ty())]
}

/// Programs that are compiled in tests.
pub(crate) fn programs() -> Vec<Unit> {
    vec![Unit { source: SOURCE, prefix: CHECKS.text(), hot: &["check_columns"] }]
}
