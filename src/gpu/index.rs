//! Index lists on the device, and row pointers and bitmaps in the form that kernels take: see `cuda/index.cuh` and
//! `cuda/index.cu`.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::arg::Arg;
use super::buffer::Buffer;
use super::csr::column_bound;
use super::defines::{Prefix, Setting};
use super::jit::{Source, Unit, source};
use super::launch::{Shape, args};
use super::pattern::Offsets;
use super::transpose::Sorter;
use super::vector_form::RawVector;
use super::{Cuda, DeviceVector};
use crate::algebra::{Type, Value};
use crate::par::collected;
use crate::sparse::IndexList;
use crate::{Error, Result};

const SOURCE: Source = source!("index.cu");

fn values_of(ty: Type) -> [Setting; 2] {
    [Setting::Switch("VALUES"), Setting::Type("Number", ty.cuda())]
}

/// The indices of a list, uploaded.
#[derive(Debug)]
struct Sent {
    indices: Buffer<u32>,
    /// One past the largest.
    bound: usize,
    /// Whether they increase.
    increases: bool,
    /// Set once the indices are known to be distinct.
    distinct: OnceLock<()>,
}

/// An index list as kernels take it: `List` in `cuda/index.cuh`.
#[derive(Clone, Debug)]
pub(super) struct DeviceList {
    sent: Option<Arc<Sent>>,
    /// The position in the list of each index of the dimension.
    map: Option<Buffer<u32>>,
    start: usize,
    step: isize,
    pub(super) len: usize,
}

impl DeviceList {
    /// `len` indices from `start` on.
    pub(super) fn range(start: usize, len: usize) -> Self {
        Self::strided(start, 1, len)
    }
    /// `start`, `start + step`, and so on.
    pub(super) fn strided(start: usize, step: isize, len: usize) -> Self {
        Self { sent: None, map: None, start, step, len }
    }
    /// The list as a range, if its step is known to be 1.
    pub(super) fn as_range(&self) -> Option<Range<usize>> {
        match (&self.sent, self.len) {
            (None, 0) => Some(0..0),
            (None, len) if self.step == 1 || len == 1 => Some(self.start..self.start + len),
            _ => None,
        }
    }
    /// Whether the list is the whole dimension, in order.
    pub(super) fn is_all(&self, dimension: usize) -> bool {
        self.len == dimension && self.as_range().is_some_and(|range| range.start == 0)
    }
    /// Whether the indices increase.
    pub(super) fn increases(&self) -> bool {
        match &self.sent {
            Some(sent) => sent.increases,
            None => self.step > 0 || self.len <= 1,
        }
    }
    /// Whether indices may repeat; false for lists that increase or decrease by steps.
    pub(super) fn may_repeat(&self) -> bool {
        match &self.sent {
            Some(sent) => !sent.increases,
            None => self.step == 0 && self.len > 1,
        }
    }
}

impl From<&DeviceList> for Arg {
    fn from(list: &DeviceList) -> Self {
        let indices = list.sent.as_ref().map_or(Self::null(), |sent| (&sent.indices).into());
        let numbers = [list.start as u64, list.step as u64, list.len as u64];
        let [start, step, len] = numbers.map(Self::from);
        Self::all([indices, list.map.as_ref().into(), start, step, len])
    }
}

/// Row pointers as `Offsets` of `cuda/index.cuh`.
pub(super) fn offsets(row_ptr: &Offsets) -> Arg {
    Arg::all([row_ptr.into(), u64::from(row_ptr.is_large()).into()])
}
/// No row pointers.
pub(super) fn no_offsets() -> Arg {
    Arg::all([Arg::null(), 0u64.into()])
}
/// A bitmap of entries, with the number of set bits before each word: `Marks` of `cuda/index.cuh`.
pub(super) fn marks(words: &Buffer<u32>, before: &Offsets) -> Arg {
    Arg::all([words.into(), before.into(), u64::from(before.is_large()).into()])
}

/// Whether `queries` of positions pay for an array of the whole dimension, which is written and read, instead of a
/// binary search each.
fn by_map(dimension: usize, queries: usize) -> bool {
    dimension / 8 <= queries
}

impl Cuda {
    /// The list on the device, its indices checked against a dimension. A list is uploaded at its first use, and stays
    /// on the device for its lifetime.
    pub(super) fn device_list(&self, list: &IndexList, name: &'static str, dimension: usize) -> Result<DeviceList> {
        let on_this = |sent: &Sent| sent.indices.is_on(self.device());
        let send = |indices: &[usize]| {
            column_bound(indices.len())?;
            let bound = indices.iter().max().map_or(0, |last| last + 1);
            column_bound(bound)?;
            let words = collected(indices.len(), indices.iter().map(|&i| i as u32), "indices")?;
            Ok(Sent {
                increases: words.is_sorted_by(|i, j| i < j),
                indices: self.put(&words, "an index list")?,
                bound,
                distinct: OnceLock::new(),
            })
        };
        let made = list.copy_where(on_this, send);
        if let Ok(Some(sent)) = &made
            && sent.bound <= dimension
        {
            let (len, sent) = (sent.indices.len(), Some(Arc::clone(sent)));
            return Ok(DeviceList { sent, map: None, start: 0, step: 1, len });
        }
        // An index out of range is reported before one that does not fit on the device.
        let range = list.check(name, dimension)?;
        made?;
        let at = |p: usize| if p < range.len() { range.at(p) } else { 0 };
        let step = if range.len() > 1 { at(1).wrapping_sub(at(0)) as isize } else { 1 };
        Ok(DeviceList::strided(at(0), step, range.len()))
    }
    /// The values of a vector as an index list that stays on this device, in index order for every form. `None` if a
    /// value is not an index, or if the type has no order.
    ///
    /// Cost: O(entries), a wait for three numbers. An operation on another backend downloads the list.
    pub(crate) fn index_list_raw(&self, v: &RawVector) -> Result<Option<IndexList>> {
        if let Type::ComplexF32 | Type::ComplexF64 | Type::Struct(_) = v.ty() {
            return Ok(None);
        }
        let (_, values) = self.entries_raw(v)?;
        let n = values.len();
        let (indices, facts) = (self.alloc::<u32>(n, "an index list")?, self.zeroed::<u32>(3, "an index list")?);
        let kernel = self.program_of(SOURCE, Prefix::new("", &values_of(v.ty())))?.kernel("list_of_values")?;
        kernel.launch(Shape::for_each(n, 256)?, args![&values, n as u64, &indices, &facts])?;
        let facts = self.get(&facts, "an index list")?;
        let &[0, unordered, bound] = &facts[..] else { return Ok(None) };
        let (cuda, there) = (self.clone(), indices.clone());
        let fetch = move || {
            let indices = cuda.get(&there, "an index list")?;
            collected(indices.len(), indices.iter().map(|&i| i as usize), "indices")
        };
        let distinct = OnceLock::new();
        let sent = Sent { indices, bound: bound as usize, increases: unordered == 0, distinct };
        Ok(Some(IndexList::elsewhere(n, Arc::new(sent), fetch)))
    }
    /// The values of a vector as an index list that stays on this device, where operations read it.
    ///
    /// Cost: O(entries), a wait. An operation on another backend downloads the list.
    /// # Errors
    /// [`Error::Argument`] for a value that is not a valid index: negative, fractional, 2³² − 1 or more;
    /// [`Error::DeviceMemory`], [`Error::Device`].
    /// # Example
    /// ```no_run
    /// use sparring::prelude::*;
    /// let cuda = Cuda::new(0)?;
    /// let f = cuda.upload_full(&[2u32, 2, 0])?;
    /// let g = cuda.extract(&f, cuda.index_list(&f)?).eval()?;
    /// assert_eq!(cuda.download_full(&g, 0)?, [0, 0, 2]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn index_list<T: Value>(&self, v: &DeviceVector<T>) -> Result<IndexList> {
        let message = || format!("a value of type {} is no index", T::TYPE);
        self.index_list_raw(v.raw())?.ok_or_else(|| Error::Argument { name: "indices", message: message() })
    }
    /// The same; an error if an index repeats.
    pub(super) fn distinct_list(&self, list: &IndexList, name: &'static str, dimension: usize) -> Result<DeviceList> {
        let found = self.device_list(list, name, dimension)?;
        if found.may_repeat() && found.sent.as_ref().is_none_or(|sent| sent.distinct.get().is_none()) {
            list.check(name, dimension)?.no_repeats(name)?;
            if let Some(sent) = &found.sent {
                let _ = sent.distinct.set(());
            }
        }
        Ok(found)
    }
    /// The list, prepared for about `queries` lookups of an index's position.
    pub(super) fn inverted(&self, list: DeviceList, dimension: usize, queries: usize) -> Result<DeviceList> {
        let Some(sent) = list.sent.as_ref().filter(|sent| !sent.increases || by_map(dimension, queries)) else {
            return Ok(list);
        };
        let map = self.alloc::<u32>(dimension, "positions of indices")?;
        self.fill_bytes(&map, u8::MAX)?;
        self.on_lists("list_inverse", list.len, args![&sent.indices, list.len as u64, &map])?;
        Ok(DeviceList { map: Some(map), ..list })
    }
    /// The list, prepared for about `queries` membership tests. Its order may change, and with it the positions.
    pub(super) fn members(&self, list: DeviceList, dimension: usize, queries: usize) -> Result<DeviceList> {
        let Some(sent) = list.sent.as_ref().filter(|sent| !sent.increases && !by_map(dimension, queries)) else {
            return self.inverted(list, dimension, queries);
        };
        let sorter = Sorter::new(self, Type::U32, list.len)?;
        let indices = sorter.sort(&sent.indices, None, dimension)?.keys;
        let sent = Sent { indices, bound: sent.bound, increases: true, distinct: OnceLock::new() };
        Ok(DeviceList { sent: Some(Arc::new(sent)), ..list })
    }
    /// The indices as an array.
    pub(super) fn indices_of(&self, list: &DeviceList) -> Result<Buffer<u32>> {
        if let Some(sent) = &list.sent {
            return Ok(sent.indices.clone());
        }
        column_bound(list.len)?;
        let indices = self.alloc::<u32>(list.len, "an index list")?;
        let arguments = args![list.start as u64, list.step as u64, list.len as u64, &indices];
        self.on_lists("list_of_range", list.len, arguments)?;
        Ok(indices)
    }
    fn on_lists(&self, kernel: &str, n: usize, arguments: &[Arg]) -> Result<()> {
        self.program_of(SOURCE, Prefix::new("", &[]))?.kernel(kernel)?.launch(Shape::for_each(n, 256)?, arguments)
    }
}

/// The programs of this file with representative settings, for the test that compiles all.
pub(crate) fn programs() -> Vec<Unit> {
    let values = |ty| Unit { source: SOURCE, prefix: Prefix::new("", &values_of(ty)).text(), hot: &["list_of_values"] };
    vec![
        Unit { source: SOURCE, prefix: String::new(), hot: &["list_inverse"] },
        values(Type::U32),
        values(Type::I8),
        values(Type::F64),
    ]
}
