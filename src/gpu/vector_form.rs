//! Vectors on the device that are full, a bitmap or a list inside, and how they turn into each other: see
//! `cuda/vector.cu`.

use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

use super::Cuda;
use super::buffer::{Buffer, RawBuffer};
use super::csr::column_bound;
use super::front::{Front, Setting};
use super::jit::{Source, source};
use super::launch::{Arg, Program, Shape, args};
use super::scan::Scan;
use crate::algebra::{Slice, Type, Value};
use crate::sparse::SparseVec;
use crate::{Error, Index, Result};

pub(super) const SOURCE: Source = source!("vector.cu");
/// In front of the kernels that know places alone.
pub(super) const PLACES: Front<'_> = Front { operator: "", settings: &[Setting::Switch("PLACES")] };

/// In front of the kernels that move values of type `ty`.
pub(super) fn moves(ty: Type) -> [Setting; 2] {
    [Setting::Switch("MOVES"), Setting::words(ty)]
}

/// Where a vector has entries.
#[derive(Clone, Debug)]
pub(crate) enum Form {
    /// At every place.
    Full,
    /// Where a bitmap is true; values elsewhere mean nothing.
    Bitmap(Present),
    /// At increasing places; there are as many values.
    List(Buffer<u32>),
}

/// A bitmap, and how often it is true, once that was counted.
#[derive(Clone, Debug)]
pub(crate) struct Present {
    pub(crate) places: Buffer<bool>,
    count: Arc<OnceLock<usize>>,
    /// It is true so often at least.
    least: usize,
}

impl From<Buffer<bool>> for Present {
    fn from(places: Buffer<bool>) -> Self {
        Self { places, count: Arc::default(), least: 0 }
    }
}

/// Increasing places and the values that stand there: the entries of a list.
pub(crate) type RawEntries = (Buffer<u32>, Arc<RawBuffer>);

/// A vector on the device whose values are of a type known at run time. Cloning copies nothing.
#[derive(Clone, Debug)]
pub(crate) struct RawVector {
    pub(crate) len: usize,
    pub(crate) form: Form,
    pub(crate) values: Arc<RawBuffer>,
}

impl RawVector {
    /// A value at every place.
    pub(crate) fn full(values: Arc<RawBuffer>) -> Self {
        Self { len: values.len(), form: Form::Full, values }
    }
    /// Values where `present` is true.
    pub(crate) fn bitmap(present: Buffer<bool>, values: Arc<RawBuffer>) -> Self {
        Self { len: values.len(), form: Form::Bitmap(present.into()), values }
    }
    /// Values at increasing places.
    pub(crate) fn list(len: usize, places: Buffer<u32>, values: Arc<RawBuffer>) -> Self {
        Self { len, form: Form::List(places), values }
    }
    /// Type of the values.
    pub(crate) fn ty(&self) -> Type {
        self.values.ty()
    }
    /// Entries that it has at least, as far as that is known without a wait.
    pub(super) fn least_entries(&self) -> usize {
        match &self.form {
            Form::Full => self.len,
            Form::List(places) => places.len(),
            Form::Bitmap(present) => present.count.get().copied().unwrap_or(present.least),
        }
    }
    /// The same vector, which is known to have so many entries at least.
    pub(super) fn with_at_least(mut self, entries: usize) -> Self {
        if let Form::Bitmap(present) = &mut self.form {
            present.least = entries;
        }
        self
    }
    /// The bitmap, as an argument: none where every place has an entry. Not for lists.
    pub(super) fn present(&self) -> Option<&Buffer<bool>> {
        match &self.form {
            Form::Bitmap(present) => Some(&present.places),
            Form::Full | Form::List(_) => None,
        }
    }
    /// The places of a list, as an argument.
    pub(super) fn places(&self) -> Option<&Buffer<u32>> {
        match &self.form {
            Form::List(places) => Some(places),
            Form::Full | Form::Bitmap(_) => None,
        }
    }
    /// The vector as one of T.
    /// # Errors
    /// [`Error::Argument`] if its values are of another type.
    pub(crate) fn typed<T: Value>(self) -> Result<DeviceVector<T>> {
        self.values.check("a vector on the device", T::TYPE)?;
        Ok(DeviceVector { raw: self, of: PhantomData })
    }
}

/// A vector on the device with entries at some places or at all: full, a bitmap or a list inside, whichever an
/// operation makes. Cloning it copies nothing.
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
    /// Another name for the same vector; nothing is copied.
    fn clone(&self) -> Self {
        Self { raw: self.raw.clone(), of: PhantomData }
    }
}

impl<T: Value> DeviceVector<T> {
    /// Places, with or without an entry.
    #[must_use]
    pub fn len(&self) -> usize {
        self.raw.len
    }
    /// Whether there are no places.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.raw.len == 0
    }
    /// Whether every place has an entry, as far as its form tells.
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(self.raw.form, Form::Full)
    }
    /// Whether it is a list inside.
    #[must_use]
    pub fn is_list(&self) -> bool {
        matches!(self.raw.form, Form::List(_))
    }
    /// Bytes of device memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let places = match &self.raw.form {
            Form::Full => 0,
            Form::Bitmap(present) => present.places.bytes(),
            Form::List(places) => places.bytes(),
        };
        places + self.raw.values.bytes()
    }
    /// The vector, its type forgotten.
    pub(crate) fn raw(&self) -> &RawVector {
        &self.raw
    }
    /// The same, to be written to.
    pub(crate) fn raw_mut(&mut self) -> &mut RawVector {
        &mut self.raw
    }
}

impl Cuda {
    /// Starts the kernel `name` of a program of `cuda/vector.cu` with a thread for each of `n` items.
    pub(super) fn each(&self, front: Front<'_>, name: &str, n: usize, arguments: &[Arg]) -> Result<()> {
        self.vector_program(front)?.kernel(name)?.launch(Shape::for_each(n, 256)?, arguments)
    }
    fn vector_program(&self, front: Front<'_>) -> Result<Arc<Program>> {
        self.program_of(SOURCE, front)
    }

    /// Entries. Waits for the device the first time for a bitmap.
    pub(crate) fn vector_nnz_raw(&self, v: &RawVector) -> Result<usize> {
        let present = match &v.form {
            Form::Full => return Ok(v.len),
            Form::List(places) => return Ok(places.len()),
            Form::Bitmap(present) => present,
        };
        if let Some(&known) = present.count.get() {
            return Ok(known);
        }
        let total = self.zeroed::<u64>(1, "entries of a vector")?;
        self.each(PLACES, "count_present", v.len, args![&present.places, v.len as u64, &total])?;
        let count = self.get_at(&total, 0)? as usize;
        Ok(*present.count.get_or_init(|| count))
    }

    /// The vector with values that stand at their places: full, or a bitmap. Itself if it is no list.
    pub(crate) fn to_bitmap_raw(&self, v: &RawVector) -> Result<RawVector> {
        let Form::List(places) = &v.form else { return Ok(v.clone()) };
        let values = self.alloc_raw(v.ty(), v.len, "values of a vector")?;
        let n = places.len();
        let front = moves(v.ty());
        self.each(Front::new("", &front), "scatter", n, args![places, n as u64, &v.values, &values])?;
        Ok(RawVector::bitmap(self.present_of(v.len, places)?, values))
    }
    /// A bitmap of `len` places that is true at those of a list.
    pub(super) fn present_of(&self, len: usize, places: &Buffer<u32>) -> Result<Buffer<bool>> {
        let present = self.zeroed::<bool>(len, "places of a vector")?;
        self.each(PLACES, "set_present", places.len(), args![places, places.len() as u64, &present])?;
        Ok(present)
    }
    /// A bitmap that is true at all of `len` places.
    pub(super) fn filled_places(&self, len: usize) -> Result<Buffer<bool>> {
        let all = self.alloc::<bool>(len, "places of a vector")?;
        self.fill_bytes(&all, 1)?;
        Ok(all)
    }
    /// The vector as a list: itself if it is one. Waits for the number of entries of a bitmap.
    pub(crate) fn to_list_raw(&self, v: &RawVector) -> Result<RawVector> {
        let (places, values) = self.entries_raw(v)?;
        Ok(RawVector::list(v.len, places, values))
    }
    /// Its entries as a list has them. Waits for the number of entries of a bitmap.
    pub(crate) fn entries_raw(&self, v: &RawVector) -> Result<RawEntries> {
        match &v.form {
            Form::List(places) => Ok((places.clone(), Arc::clone(&v.values))),
            Form::Full => {
                column_bound(v.len)?;
                let places = self.alloc::<u32>(v.len, "places of a vector")?;
                self.each(PLACES, "numbers", v.len, args![v.len as u64, &places])?;
                Ok((places, Arc::clone(&v.values)))
            }
            Form::Bitmap(present) => {
                let marks = self.alloc::<u32>(v.len, "places of a vector")?;
                self.each(PLACES, "marks_of", v.len, args![&present.places, v.len as u64, &marks])?;
                let (places, values) = self.kept_entries(v.len, [None; 2], &v.values, &marks)?;
                let _ = present.count.set(places.len());
                Ok((places, values))
            }
        }
    }
    /// The vector with `fill` where it has no entry; itself if it has all.
    pub(crate) fn to_full_raw(&self, v: &RawVector, fill: Slice<'_>) -> Result<RawVector> {
        if matches!(v.form, Form::Full) {
            return Ok(v.clone());
        }
        let fill = self.scalar(fill, v.ty())?;
        let values = self.alloc_raw(v.ty(), v.len, "values of a vector")?;
        let (front, n) = (moves(v.ty()), v.len as u64);
        let front = Front::new("", &front);
        let filled = |present: Option<&Buffer<bool>>| {
            self.each(front, "fill_absent", v.len, args![present, &v.values, &fill, n, &values])
        };
        match &v.form {
            Form::List(places) => {
                filled(None)?;
                let entries = places.len();
                self.each(front, "scatter", entries, args![places, entries as u64, &v.values, &values])?;
            }
            Form::Full | Form::Bitmap(_) => filled(v.present())?,
        }
        Ok(RawVector::full(values))
    }

    /// Makes w a full vector or a bitmap that no one shares, to be written to.
    pub(super) fn make_writable(&self, w: &mut RawVector) -> Result<()> {
        *w = self.to_bitmap_raw(w)?;
        if Arc::get_mut(&mut w.values).is_none() {
            w.values = self.duplicate_raw(&w.values, 0..w.len, "values of a vector")?;
        }
        if let Form::Bitmap(present) = &mut w.form {
            if Arc::get_mut(present.places.raw_mut()).is_none() {
                present.places = self.duplicate(&present.places, "places of a vector")?;
            }
            // It will be another number.
            (present.count, present.least) = Default::default();
        }
        Ok(())
    }

    /// The list of the entries that are marked, of a vector of `len` places: entry p at `places[p]`, or p, with the
    /// value `from[at[p]]`, or `from[p]`. Waits for their number.
    pub(super) fn marked(
        &self,
        len: usize,
        places: Option<&Buffer<u32>>,
        at: Option<&Buffer<u32>>,
        from: &RawBuffer,
        marks: &Buffer<u32>,
    ) -> Result<RawVector> {
        let (places, values) = self.kept_entries(len, [places, at], from, marks)?;
        Ok(RawVector::list(len, places, values))
    }
    fn kept_entries(
        &self,
        len: usize,
        [places, at]: [Option<&Buffer<u32>>; 2],
        from: &RawBuffer,
        marks: &Buffer<u32>,
    ) -> Result<RawEntries> {
        column_bound(len)?;
        // There are fewer than 2³² marks, each 0 or 1.
        let scan = Scan::begin(self, marks, marks.len() as u64, 0)?;
        let before = scan.offsets(self, marks, false, "entries of a vector")?;
        let nnz = scan.get(self)?.0 as usize;
        let kept = self.alloc::<u32>(nnz, "places of a vector")?;
        let values = self.alloc_raw(from.ty(), nnz, "values of a vector")?;
        let (front, n) = (moves(from.ty()), marks.len());
        let arguments = args![places, at, from, n as u64, &before, &kept, &values];
        self.each(Front::new("", &front), "compact", n, arguments)?;
        Ok((kept, values))
    }

    /// A full vector of values of a type known at run time.
    pub(crate) fn upload_full_raw(&self, values: Slice<'_>) -> Result<RawVector> {
        column_bound(values.len())?;
        Ok(RawVector::full(self.put_raw(values, "values of a vector")?))
    }
    /// A bitmap vector of values of a type known at run time.
    pub(crate) fn upload_bitmap_raw(&self, present: &[bool], values: Slice<'_>) -> Result<RawVector> {
        column_bound(values.len())?;
        if present.len() != values.len() {
            let (what, found, expected) = ("places of a vector", present.len(), values.len());
            return Err(Error::Length { what, found, expected });
        }
        let present = self.put(present, "places of a vector")?;
        Ok(RawVector::bitmap(present, self.put_raw(values, "values of a vector")?))
    }
    /// A vector of `len` places with values at these, which increase (the caller knows).
    pub(crate) fn upload_list_raw(&self, len: usize, places: &[u32], values: Slice<'_>) -> Result<RawVector> {
        column_bound(len)?;
        if places.len() != values.len() {
            let (what, found, expected) = ("places of a vector", places.len(), values.len());
            return Err(Error::Length { what, found, expected });
        }
        let places = self.put(places, "places of a vector")?;
        Ok(RawVector::list(len, places, self.put_raw(values, "values of a vector")?))
    }

    /// A vector with these values at all places.
    /// # Errors
    /// [`Error::IndexOverflow`] for 2³² places or more; [`Error::DeviceMemory`], [`Error::Device`].
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
        let what = "places of a vector";
        column_bound(v.len())?;
        let places = crate::par::collected(v.nnz(), v.indices().iter().map(|i| i.get() as u32), what)?;
        self.upload_list_raw(v.len(), &places, Slice::of(v.values()))?.typed()
    }
    /// The entries on the host, whatever its form.
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::DeviceMemory`], [`Error::Device`].
    pub fn download_list<T: Value, I: Index>(&self, v: &DeviceVector<T>) -> Result<SparseVec<T, I>> {
        let ((places, values), what) = (self.entries_raw(v.raw())?, "places of a vector");
        let places = self.get(&places, what)?;
        let places = crate::par::collected(places.len(), places.iter().map(|&i| I::cast(i as usize)), what)?;
        SparseVec::new(v.len(), places, self.get(&Buffer::of(values)?, "values of a vector")?)
    }
    /// All values on the host, `fill` at places without an entry.
    /// # Errors
    /// Those of [`download_list`](Self::download_list).
    pub fn download_full<T: Value>(&self, v: &DeviceVector<T>, fill: T) -> Result<Vec<T>> {
        self.get(&Buffer::of(self.to_full_raw(v.raw(), Slice::of(&[fill]))?.values)?, "values of a vector")
    }
    /// The vector with values that stand at their places, full or a bitmap; itself if it is no list.
    /// # Errors
    /// [`Error::DeviceMemory`], [`Error::Device`].
    pub fn to_bitmap<T: Value>(&self, v: &DeviceVector<T>) -> Result<DeviceVector<T>> {
        self.to_bitmap_raw(v.raw())?.typed()
    }
    /// The vector as a list; itself if it is one. Waits for the number of entries of a bitmap.
    /// # Errors
    /// [`Error::DeviceMemory`], [`Error::Device`].
    pub fn to_list<T: Value>(&self, v: &DeviceVector<T>) -> Result<DeviceVector<T>> {
        self.to_list_raw(v.raw())?.typed()
    }
    /// The vector with `fill` where it has no entry; itself if it is full.
    /// # Errors
    /// [`Error::DeviceMemory`], [`Error::Device`].
    pub fn to_full<T: Value>(&self, v: &DeviceVector<T>, fill: T) -> Result<DeviceVector<T>> {
        self.to_full_raw(v.raw(), Slice::of(&[fill]))?.typed()
    }
}
