//! Sparse tensors in coordinates: entries in any order, possibly repeated.

use std::ops::Deref;
use std::sync::Arc;

use crate::algebra::Value;
use crate::par::{Threads, collected, for_each_part};
use crate::{Error, Index, Result};

/// Most modes that a tensor may have.
pub const MAX_ORDER: usize = 255;

/// A sparse tensor: entry e has the value `values[e]` at `(indices[0][e], …, indices[d − 1][e])`.
///
/// Modes and indices count from 0. Entries stand in any order and may be repeated: what they mean is then their sum,
/// which [`summed`](Self::summed) makes one entry. Stored zeros are entries. Memory: d·s + v bytes an entry, for
/// indices of s and values of v bytes.
/// ```
/// use sparring::tensor::Tensor;
/// // x(0, 0, 0) = 2 and x(1, 2, 3) = 5, of 2 × 3 × 4.
/// let x = Tensor::<f64>::new(vec![2, 3, 4], vec![vec![0, 1], vec![0, 2], vec![0, 3]], vec![2.0, 5.0])?;
/// assert_eq!((x.order(), x.nnz()), (3, 2));
/// assert!(Tensor::<f64>::new(vec![2, 3], vec![vec![0], vec![3]], vec![1.0]).is_err());
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor<T, I: Index = u32> {
    dims: Vec<usize>,
    indices: Vec<Vec<I>>,
    values: Vec<T>,
}

impl<T: Value, I: Index> Tensor<T, I> {
    /// From the dimensions, one list of indices for each mode, and the values.
    /// # Errors
    /// [`Error::Argument`] if there are 0 or more than 255 modes; [`Error::IndexOverflow`] if a dimension does not fit
    /// `I`; [`Error::Length`] if the lists differ in length; [`Error::IndexRange`] for the first index of the first
    /// mode that is not below its dimension.
    pub fn new(dims: Vec<usize>, indices: Vec<Vec<I>>, values: Vec<T>) -> Result<Self> {
        check_places(&dims, &indices, values.len())?;
        Ok(Self { dims, indices, values })
    }

    /// From lists that are known to be right, as a reader has checked them; checked in debug builds.
    pub(crate) fn from_parts(dims: Vec<usize>, indices: Vec<Vec<I>>, values: Vec<T>) -> Self {
        debug_assert!(check_dims::<I>(&dims).is_ok() && indices.len() == dims.len());
        debug_assert!(indices.iter().all(|list| list.len() == values.len()));
        debug_assert!(indices.iter().zip(&dims).all(|(list, &n)| list.iter().all(|i| i.get() < n)));
        Self { dims, indices, values }
    }

    /// The tensor without entries.
    /// # Errors
    /// As [`new`](Self::new).
    pub fn empty(dims: Vec<usize>) -> Result<Self> {
        let indices = vec![Vec::new(); dims.len()];
        Self::new(dims, indices, Vec::new())
    }

    /// Number of modes, d.
    #[inline]
    pub fn order(&self) -> usize {
        self.dims.len()
    }
    /// Size of each mode.
    #[inline]
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }
    /// Entries, stored zeros and repeats included.
    #[inline]
    pub fn nnz(&self) -> usize {
        self.values.len()
    }
    /// Indices of the entries in `mode`.
    /// # Panics
    /// If there is no such mode.
    #[inline]
    pub fn indices(&self, mode: usize) -> &[I] {
        &self.indices[mode]
    }
    /// Indices of the entries, mode by mode.
    #[inline]
    pub fn all_indices(&self) -> &[Vec<I>] {
        &self.indices
    }
    /// Values of the entries.
    #[inline]
    pub fn values(&self) -> &[T] {
        &self.values
    }
    /// Values of the entries, for change in place.
    #[inline]
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }
    /// Dimensions, lists of indices, values.
    pub fn into_parts(self) -> (Vec<usize>, Vec<Vec<I>>, Vec<T>) {
        (self.dims, self.indices, self.values)
    }
    /// Entries as (place, value), in their order.
    pub fn iter(&self) -> impl Iterator<Item = (Vec<usize>, &T)> + '_ {
        self.values.iter().enumerate().map(|(e, x)| (self.place(e), x))
    }
    /// Where entry `e` stands.
    /// # Panics
    /// If there is no such entry.
    pub fn place(&self, e: usize) -> Vec<usize> {
        self.indices.iter().map(|list| list[e].get()).collect()
    }
    /// The tensor with other values at the same places.
    /// # Errors
    /// [`Error::Length`] if there is not one for each entry; [`Error::OutOfMemory`].
    pub fn with_values<U: Value>(&self, values: Vec<U>) -> Result<Tensor<U, I>> {
        if values.len() != self.nnz() {
            return Err(Error::Length { what: "values", found: values.len(), expected: self.nnz() });
        }
        Ok(Tensor { dims: self.dims.clone(), indices: copied_lists(&self.indices)?, values })
    }
    /// Bytes of indices and values.
    #[must_use]
    pub fn bytes(&self) -> u128 {
        self.nnz() as u128 * (self.order() * size_of::<I>() + size_of::<T>()) as u128
    }

    /// The entries `order[0]`, `order[1]`, … of this tensor.
    pub(crate) fn gathered(&self, threads: &Threads, order: &[usize]) -> Result<Self> {
        let mut indices = Vec::with_capacity(self.order());
        for list in &self.indices {
            indices.push(gather(threads, list, order)?);
        }
        Ok(Self { dims: self.dims.clone(), indices, values: gather(threads, &self.values, order)? })
    }
}

/// `from[order[0]]`, `from[order[1]]`, …
pub(super) fn gather<X: Copy + Send + Sync>(threads: &Threads, from: &[X], order: &[usize]) -> Result<Vec<X>> {
    const PIECE: usize = 1 << 15;
    let Some(&first) = from.first() else { return Ok(Vec::new()) };
    let mut to = crate::par::filled(order.len(), first, "a tensor's entries")?;
    let parts = collected(order.len().div_ceil(PIECE), to.chunks_mut(PIECE).zip(order.chunks(PIECE)), "parts")?;
    for_each_part(
        threads,
        parts,
        || Ok(()),
        |(), (to, order)| {
            for (x, &e) in to.iter_mut().zip(order) {
                *x = from[e];
            }
            Ok(())
        },
    )?;
    Ok(to)
}

fn copied_lists<I: Index>(lists: &[Vec<I>]) -> Result<Vec<Vec<I>>> {
    lists.iter().map(|list| collected(list.len(), list.iter().copied(), "a tensor's indices")).collect()
}

/// Whether `nnz` entries may stand so.
/// # Errors
/// Those of [`Tensor::new`].
pub(crate) fn check_places<I: Index>(dims: &[usize], indices: &[Vec<I>], nnz: usize) -> Result<()> {
    check_dims::<I>(dims)?;
    if indices.len() != dims.len() {
        return Err(Error::Length { what: "lists of indices", found: indices.len(), expected: dims.len() });
    }
    for list in indices {
        if list.len() != nnz {
            return Err(Error::Length { what: "indices of a mode", found: list.len(), expected: nnz });
        }
    }
    for (mode, (list, &bound)) in indices.iter().zip(dims).enumerate() {
        if let Some(position) = list.iter().position(|i| i.get() >= bound) {
            let index = list[position].get() as u128;
            return Err(Error::IndexRange { axis: mode_name(mode), position, index, bound });
        }
    }
    Ok(())
}

/// Whether a tensor may have these dimensions.
pub(crate) fn check_dims<I: Index>(dims: &[usize]) -> Result<()> {
    if dims.is_empty() || dims.len() > MAX_ORDER {
        let message = format!("a tensor has 1 to {MAX_ORDER} modes, not {}", dims.len());
        return Err(Error::Argument { name: "dims", message });
    }
    match dims.iter().position(|&n| n > I::MAX_LEN) {
        Some(mode) => {
            let (needed, max) = (dims[mode] as u128, I::MAX_LEN as u128);
            Err(Error::IndexOverflow { what: mode_name(mode), needed, max })
        }
        None => Ok(()),
    }
}

/// What errors call a mode.
pub(crate) fn mode_name(mode: usize) -> &'static str {
    const NAMES: [&str; 9] =
        ["mode 0", "mode 1", "mode 2", "mode 3", "mode 4", "mode 5", "mode 6", "mode 7", "a mode above 7"];
    NAMES[mode.min(8)]
}

/// A tensor that a plan reads: borrowed, or shared with the plan, which then lives as long as its owner wants.
#[derive(Clone, Debug)]
pub enum TensorRef<'x, T, I: Index = u32> {
    /// The caller's, for as long as the plan lives.
    Borrowed(&'x Tensor<T, I>),
    /// One of several owners.
    Shared(Arc<Tensor<T, I>>),
}

impl<T, I: Index> Deref for TensorRef<'_, T, I> {
    type Target = Tensor<T, I>;
    fn deref(&self) -> &Tensor<T, I> {
        match self {
            Self::Borrowed(x) => x,
            Self::Shared(x) => x,
        }
    }
}
impl<'x, T, I: Index> From<&'x Tensor<T, I>> for TensorRef<'x, T, I> {
    fn from(x: &'x Tensor<T, I>) -> Self {
        Self::Borrowed(x)
    }
}
impl<T, I: Index> From<Arc<Tensor<T, I>>> for TensorRef<'_, T, I> {
    fn from(x: Arc<Tensor<T, I>>) -> Self {
        Self::Shared(x)
    }
}

/// A tensor whose indices are as wide as its dimensions need.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyTensor<T> {
    /// Every dimension fits 32 bits.
    Narrow(Tensor<T, u32>),
    /// Some dimension does not.
    Wide(Tensor<T, u64>),
}

/// Runs `$body` with `$x` the tensor, whichever its indices are.
#[macro_export]
#[doc(hidden)]
macro_rules! with_tensor {
    ($any:expr, $x:ident => $body:expr) => {
        match $any {
            $crate::tensor::AnyTensor::Narrow($x) => $body,
            $crate::tensor::AnyTensor::Wide($x) => $body,
        }
    };
}

impl<T: Value> AnyTensor<T> {
    /// Number of modes.
    pub fn order(&self) -> usize {
        with_tensor!(self, x => x.order())
    }
    /// Size of each mode.
    pub fn dims(&self) -> &[usize] {
        with_tensor!(self, x => x.dims())
    }
    /// Entries.
    pub fn nnz(&self) -> usize {
        with_tensor!(self, x => x.nnz())
    }
    /// Values of the entries.
    pub fn values(&self) -> &[T] {
        with_tensor!(self, x => x.values())
    }
    /// The tensor, if its indices are of 32 bits.
    pub fn narrow(self) -> Option<Tensor<T, u32>> {
        match self {
            Self::Narrow(x) => Some(x),
            Self::Wide(_) => None,
        }
    }
}
