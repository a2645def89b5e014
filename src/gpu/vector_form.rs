//! Device vectors in three forms, full, bitmap and sparse, and the conversions between them: see `cuda/vector.cu`.

use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

use super::Cuda;
use super::buffer::{Buffer, RawBuffer};
use super::csr::column_bound;
use super::defines::{Prefix, Setting};
use super::jit::{Source, source};
use super::launch::{Arg, Program, Shape, args};
use super::scan::Scan;
use crate::algebra::{Slice, Type, Value};
use crate::sparse::SparseVec;
use crate::{Error, Index, Result};

pub(super) const SOURCE: Source = source!("vector.cu");
/// Prefix of the kernels that work on patterns alone.
pub(super) const PLACES: Prefix<'_> = Prefix { operator: "", settings: &[Setting::Switch("PLACES")] };

/// Prefix of the kernels that copy values of type `ty`.
pub(super) fn moves(ty: Type) -> [Setting; 2] {
    [Setting::Switch("MOVES"), Setting::words(ty)]
}

/// Where a vector has entries.
#[derive(Clone, Debug)]
pub(crate) enum Form {
    /// Everywhere.
    Full,
    /// Where a bitmap is true; the values elsewhere are undefined.
    Bitmap(Present),
    /// At increasing indices, one value for each.
    List(Buffer<u32>),
}

/// A bitmap with its population count, computed on first use.
#[derive(Clone, Debug)]
pub(crate) struct Present {
    pub(crate) flags: Buffer<bool>,
    count: Arc<OnceLock<usize>>,
    /// A lower bound of the count.
    least: usize,
}

impl From<Buffer<bool>> for Present {
    fn from(flags: Buffer<bool>) -> Self {
        Self { flags, count: Arc::default(), least: 0 }
    }
}

/// Increasing indices and their values: the entries of a sparse vector.
pub(crate) type RawEntries = (Buffer<u32>, Arc<RawBuffer>);

/// A vector on the device whose values are of a type known at run time. Cloning copies nothing.
#[derive(Clone, Debug)]
pub(crate) struct RawVector {
    pub(crate) len: usize,
    pub(crate) form: Form,
    pub(crate) values: Arc<RawBuffer>,
}

impl RawVector {
    /// A full vector.
    pub(crate) fn full(values: Arc<RawBuffer>) -> Self {
        Self { len: values.len(), form: Form::Full, values }
    }
    /// Values where `present` is true.
    pub(crate) fn bitmap(present: Buffer<bool>, values: Arc<RawBuffer>) -> Self {
        Self { len: values.len(), form: Form::Bitmap(present.into()), values }
    }
    /// Values at increasing indices.
    pub(crate) fn list(len: usize, indices: Buffer<u32>, values: Arc<RawBuffer>) -> Self {
        Self { len, form: Form::List(indices), values }
    }
    /// Type of the values.
    pub(crate) fn ty(&self) -> Type {
        self.values.ty()
    }
    /// The values, if the vector is stored as full.
    pub(crate) fn full_values(&self) -> Option<&Arc<RawBuffer>> {
        matches!(self.form, Form::Full).then_some(&self.values)
    }
    /// A lower bound of the number of entries, known without a wait.
    pub(super) fn least_entries(&self) -> usize {
        match &self.form {
            Form::Full => self.len,
            Form::List(indices) => indices.len(),
            Form::Bitmap(present) => present.count.get().copied().unwrap_or(present.least),
        }
    }
    /// The same vector, known to have at least `entries` entries.
    pub(super) fn with_at_least(mut self, entries: usize) -> Self {
        if let Form::Bitmap(present) = &mut self.form {
            present.least = entries;
        }
        self
    }
    /// The bitmap as a kernel argument; `None` for a full vector. Not for sparse vectors.
    pub(super) fn present(&self) -> Option<&Buffer<bool>> {
        match &self.form {
            Form::Bitmap(present) => Some(&present.flags),
            Form::Full | Form::List(_) => None,
        }
    }
    /// The indices of a sparse vector, as a kernel argument.
    pub(super) fn indices(&self) -> Option<&Buffer<u32>> {
        match &self.form {
            Form::List(indices) => Some(indices),
            Form::Full | Form::Bitmap(_) => None,
        }
    }
    /// The vector with its value type T known.
    /// # Errors
    /// [`Error::Argument`] if its values are of another type.
    pub(crate) fn typed<T: Value>(self) -> Result<DeviceVector<T>> {
        self.values.check("a vector on the device", T::TYPE)?;
        Ok(DeviceVector { raw: self, of: PhantomData })
    }
}

/// A sparse vector on the device, stored full, as a bitmap or as a list of indices, whichever the operation that makes
/// it yields. A clone shares the arrays.
///
/// # Example
/// ```no_run
/// use sparring::prelude::*;
/// let cuda = Cuda::new(0)?;
/// let u = cuda.upload_vector(&Vector::new(4, vec![1, 3], vec![10.0, 30.0])?)?;
/// let v = cuda.upload_full(&[1.0, 2.0, 3.0, 4.0])?;
/// let w = cuda.ewise_add(Plus::<f64>::new(), &u, &v).eval()?;
/// assert_eq!(cuda.download_full(&w, 0.0)?, [1.0, 12.0, 3.0, 34.0]);
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Debug)]
pub struct DeviceVector<T> {
    raw: RawVector,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for DeviceVector<T> {
    /// Shares the arrays; nothing is copied.
    fn clone(&self) -> Self {
        Self { raw: self.raw.clone(), of: PhantomData }
    }
}

impl<T: Value> DeviceVector<T> {
    /// The dimension: the number of indices, with or without an entry.
    #[must_use]
    pub fn len(&self) -> usize {
        self.raw.len
    }
    /// Whether the dimension is 0.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.raw.len == 0
    }
    /// Whether every index has an entry, as far as its form tells.
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(self.raw.form, Form::Full)
    }
    /// Whether it is stored as a list of indices.
    #[must_use]
    pub fn is_list(&self) -> bool {
        matches!(self.raw.form, Form::List(_))
    }
    /// Bytes of device memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let form = match &self.raw.form {
            Form::Full => 0,
            Form::Bitmap(present) => present.flags.bytes(),
            Form::List(indices) => indices.bytes(),
        };
        form + self.raw.values.bytes()
    }
    /// The vector without its static value type.
    pub(crate) fn raw(&self) -> &RawVector {
        &self.raw
    }
    /// The same, for writing.
    pub(crate) fn raw_mut(&mut self) -> &mut RawVector {
        &mut self.raw
    }
}

impl Cuda {
    /// Starts the kernel `name` of a program of `cuda/vector.cu` with a thread for each of `n` items.
    pub(super) fn each(&self, prefix: Prefix<'_>, name: &str, n: usize, arguments: &[Arg]) -> Result<()> {
        self.vector_program(prefix)?.kernel(name)?.launch(Shape::for_each(n, 256)?, arguments)
    }
    fn vector_program(&self, prefix: Prefix<'_>) -> Result<Arc<Program>> {
        self.program_of(SOURCE, prefix)
    }

    /// Entries. Waits for the device the first time it counts a bitmap.
    pub(crate) fn vector_nnz_raw(&self, v: &RawVector) -> Result<usize> {
        let present = match &v.form {
            Form::Full => return Ok(v.len),
            Form::List(indices) => return Ok(indices.len()),
            Form::Bitmap(present) => present,
        };
        if let Some(&known) = present.count.get() {
            return Ok(known);
        }
        let total = self.zeroed::<u64>(1, "entries of a vector")?;
        self.each(PLACES, "count_present", v.len, args![&present.flags, v.len as u64, &total])?;
        let count = self.get_at(&total, 0)? as usize;
        Ok(*present.count.get_or_init(|| count))
    }

    /// The vector with values stored by index: full, or a bitmap. A full or bitmap vector is returned as is.
    pub(crate) fn to_bitmap_raw(&self, v: &RawVector) -> Result<RawVector> {
        let Form::List(indices) = &v.form else { return Ok(v.clone()) };
        let values = self.alloc_raw(v.ty(), v.len, "values of a vector")?;
        let n = indices.len();
        let settings = moves(v.ty());
        self.each(Prefix::new("", &settings), "scatter", n, args![indices, n as u64, &v.values, &values])?;
        Ok(RawVector::bitmap(self.present_of(v.len, indices)?, values))
    }
    /// A bitmap of length `len` that is true at the given indices.
    pub(super) fn present_of(&self, len: usize, indices: &Buffer<u32>) -> Result<Buffer<bool>> {
        let present = self.zeroed::<bool>(len, "the bitmap of a vector")?;
        self.each(PLACES, "set_present", indices.len(), args![indices, indices.len() as u64, &present])?;
        Ok(present)
    }
    /// A bitmap of length `len` that is true everywhere.
    pub(super) fn filled_bitmap(&self, len: usize) -> Result<Buffer<bool>> {
        let all = self.alloc::<bool>(len, "the bitmap of a vector")?;
        self.fill_bytes(&all, 1)?;
        Ok(all)
    }
    /// The vector as a list of indices and values. Waits for the number of entries of a bitmap.
    pub(crate) fn to_list_raw(&self, v: &RawVector) -> Result<RawVector> {
        let (indices, values) = self.entries_raw(v)?;
        Ok(RawVector::list(v.len, indices, values))
    }
    /// Its entries as a list of indices and values. Waits for the number of entries of a bitmap.
    pub(crate) fn entries_raw(&self, v: &RawVector) -> Result<RawEntries> {
        match &v.form {
            Form::List(indices) => Ok((indices.clone(), Arc::clone(&v.values))),
            Form::Full => {
                column_bound(v.len)?;
                let indices = self.alloc::<u32>(v.len, "indices of a vector")?;
                self.each(PLACES, "numbers", v.len, args![v.len as u64, &indices])?;
                Ok((indices, Arc::clone(&v.values)))
            }
            Form::Bitmap(present) => {
                let marks = self.alloc::<u32>(v.len, "marks of a vector's entries")?;
                self.each(PLACES, "marks_of", v.len, args![&present.flags, v.len as u64, &marks])?;
                let (indices, values) = self.kept_entries(v.len, [None; 2], &v.values, &marks)?;
                let _ = present.count.set(indices.len());
                Ok((indices, values))
            }
        }
    }
    /// The vector with `fill` where it has no entry; a full vector is returned as is.
    pub(crate) fn to_full_raw(&self, v: &RawVector, fill: Slice<'_>) -> Result<RawVector> {
        if matches!(v.form, Form::Full) {
            return Ok(v.clone());
        }
        let fill = self.scalar(fill, v.ty())?;
        let values = self.alloc_raw(v.ty(), v.len, "values of a vector")?;
        let (settings, n) = (moves(v.ty()), v.len as u64);
        let prefix = Prefix::new("", &settings);
        let filled = |present: Option<&Buffer<bool>>| {
            self.each(prefix, "fill_absent", v.len, args![present, &v.values, &fill, n, &values])
        };
        match &v.form {
            Form::List(indices) => {
                filled(None)?;
                let entries = indices.len();
                self.each(prefix, "scatter", entries, args![indices, entries as u64, &v.values, &values])?;
            }
            Form::Full | Form::Bitmap(_) => filled(v.present())?,
        }
        Ok(RawVector::full(values))
    }

    /// Turns w into a full vector or a bitmap that shares no array, for writing.
    pub(super) fn make_writable(&self, w: &mut RawVector) -> Result<()> {
        *w = self.to_bitmap_raw(w)?;
        if Arc::get_mut(&mut w.values).is_none() {
            w.values = self.duplicate_raw(&w.values, 0..w.len, "values of a vector")?;
        }
        if let Form::Bitmap(present) = &mut w.form {
            if Arc::get_mut(present.flags.raw_mut()).is_none() {
                present.flags = self.duplicate(&present.flags, "the bitmap of a vector")?;
            }
            // The count is about to change.
            (present.count, present.least) = Default::default();
        }
        Ok(())
    }

    /// The sparse vector of the flagged entries, of length `len`: entry p has index `indices[p]`, or p, and value
    /// `from[at[p]]`, or `from[p]`. Waits for the number of entries.
    pub(super) fn marked(
        &self,
        len: usize,
        indices: Option<&Buffer<u32>>,
        at: Option<&Buffer<u32>>,
        from: &RawBuffer,
        marks: &Buffer<u32>,
    ) -> Result<RawVector> {
        let (indices, values) = self.kept_entries(len, [indices, at], from, marks)?;
        Ok(RawVector::list(len, indices, values))
    }
    fn kept_entries(
        &self,
        len: usize,
        [indices, at]: [Option<&Buffer<u32>>; 2],
        from: &RawBuffer,
        marks: &Buffer<u32>,
    ) -> Result<RawEntries> {
        column_bound(len)?;
        // Fewer than 2³² flags, each 0 or 1.
        let scan = Scan::begin(self, marks, marks.len() as u64, 0)?;
        let before = scan.offsets(self, marks, false, "entries of a vector")?;
        let nnz = scan.get(self)?.0 as usize;
        let kept = self.alloc::<u32>(nnz, "indices of a vector")?;
        let values = self.alloc_raw(from.ty(), nnz, "values of a vector")?;
        let (settings, n) = (moves(from.ty()), marks.len());
        let arguments = args![indices, at, from, n as u64, &before, &kept, &values];
        self.each(Prefix::new("", &settings), "compact", n, arguments)?;
        Ok((kept, values))
    }

    /// A full vector, the type of its values known at run time.
    pub(crate) fn upload_full_raw(&self, values: Slice<'_>) -> Result<RawVector> {
        column_bound(values.len())?;
        Ok(RawVector::full(self.put_raw(values, "values of a vector")?))
    }
    /// A bitmap vector, the type of its values known at run time.
    pub(crate) fn upload_bitmap_raw(&self, present: &[bool], values: Slice<'_>) -> Result<RawVector> {
        column_bound(values.len())?;
        if present.len() != values.len() {
            let (what, found, expected) = ("the bitmap of a vector", present.len(), values.len());
            return Err(Error::Length { what, found, expected });
        }
        let present = self.put(present, "the bitmap of a vector")?;
        Ok(RawVector::bitmap(present, self.put_raw(values, "values of a vector")?))
    }
    /// A vector of length `len` with values at the given indices, which the caller guarantees to increase.
    pub(crate) fn upload_list_raw(&self, len: usize, indices: &[u32], values: Slice<'_>) -> Result<RawVector> {
        column_bound(len)?;
        if indices.len() != values.len() {
            let (what, found, expected) = ("indices of a vector", indices.len(), values.len());
            return Err(Error::Length { what, found, expected });
        }
        let indices = self.put(indices, "indices of a vector")?;
        Ok(RawVector::list(len, indices, self.put_raw(values, "values of a vector")?))
    }

    /// A full vector.
    /// # Errors
    /// [`Error::IndexOverflow`] for 2³² values or more; [`Error::DeviceMemory`], [`Error::Device`].
    pub fn upload_full<T: Value>(&self, values: &[T]) -> Result<DeviceVector<T>> {
        self.upload_full_raw(Slice::of(values))?.typed()
    }
    /// A vector with values where `present` is true.
    /// # Errors
    /// [`Error::Length`]; those of [`upload_full`](Self::upload_full).
    pub fn upload_bitmap<T: Value>(&self, present: &[bool], values: &[T]) -> Result<DeviceVector<T>> {
        self.upload_bitmap_raw(present, Slice::of(values))?.typed()
    }
    /// A sparse vector.
    /// # Errors
    /// Those of [`upload_full`](Self::upload_full), and [`Error::OutOfMemory`].
    pub fn upload_list<T: Value, I: Index>(&self, v: &SparseVec<T, I>) -> Result<DeviceVector<T>> {
        let what = "indices of a vector";
        column_bound(v.len())?;
        let indices = crate::par::collected(v.nnz(), v.indices().iter().map(|i| i.get() as u32), what)?;
        self.upload_list_raw(v.len(), &indices, Slice::of(v.values()))?.typed()
    }
    /// The entries on the host, for any form.
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::DeviceMemory`], [`Error::Device`].
    pub fn download_list<T: Value, I: Index>(&self, v: &DeviceVector<T>) -> Result<SparseVec<T, I>> {
        let ((indices, values), what) = (self.entries_raw(v.raw())?, "indices of a vector");
        let indices = self.get(&indices, what)?;
        let indices = crate::par::collected(indices.len(), indices.iter().map(|&i| I::cast(i as usize)), what)?;
        SparseVec::new(v.len(), indices, self.get(&Buffer::of(values)?, "values of a vector")?)
    }
    /// All values on the host, `fill` where there is no entry.
    /// # Errors
    /// Those of [`download_list`](Self::download_list).
    pub fn download_full<T: Value>(&self, v: &DeviceVector<T>, fill: T) -> Result<Vec<T>> {
        self.get(&Buffer::of(self.to_full_raw(v.raw(), Slice::of(&[fill]))?.values)?, "values of a vector")
    }
    /// The vector with values stored by index, full or a bitmap. A full or bitmap vector is returned as is.
    /// # Errors
    /// [`Error::DeviceMemory`], [`Error::Device`].
    pub fn to_bitmap<T: Value>(&self, v: &DeviceVector<T>) -> Result<DeviceVector<T>> {
        self.to_bitmap_raw(v.raw())?.typed()
    }
    /// The vector as a list of indices and values. Waits for the number of entries of a bitmap.
    /// # Errors
    /// [`Error::DeviceMemory`], [`Error::Device`].
    pub fn to_list<T: Value>(&self, v: &DeviceVector<T>) -> Result<DeviceVector<T>> {
        self.to_list_raw(v.raw())?.typed()
    }
    /// The vector with `fill` where it has no entry; a full vector is returned as is.
    /// # Errors
    /// [`Error::DeviceMemory`], [`Error::Device`].
    pub fn to_full<T: Value>(&self, v: &DeviceVector<T>, fill: T) -> Result<DeviceVector<T>> {
        self.to_full_raw(v.raw(), Slice::of(&[fill]))?.typed()
    }
}
