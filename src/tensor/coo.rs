//! Sparse tensors in coordinate format: entries in any order, possibly with duplicates.

use std::ops::Deref;
use std::sync::Arc;

use crate::algebra::Value;
use crate::par::{Threads, collected, for_each_part};
use crate::{Error, Index, Result};

/// Greatest number of modes of a tensor.
pub const MAX_ORDER: usize = 255;

/// A sparse tensor: entry e has the value `values[e]` at `(indices[0][e], …, indices[d − 1][e])`.
///
/// Modes and indices count from 0. Entries may be in any order and may repeat an index tuple: duplicates mean their
/// sum, which [`summed`](Self::summed) computes. Stored zeros are entries. Memory: d·s + v bytes per entry, for indices
/// of s and values of v bytes.
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
        check_indices(&dims, &indices, values.len())?;
        Ok(Self { dims, indices, values })
    }

    /// From lists known to be valid, e.g. because a reader has checked them; validated in debug builds only.
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
    /// Number of entries, including stored zeros and duplicates.
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
    /// Mutable values of the entries.
    #[inline]
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }
    /// Dimensions, lists of indices, values.
    pub fn into_parts(self) -> (Vec<usize>, Vec<Vec<I>>, Vec<T>) {
        (self.dims, self.indices, self.values)
    }
    /// Entries as (index tuple, value), in stored order.
    pub fn iter(&self) -> impl Iterator<Item = (Vec<usize>, &T)> + '_ {
        self.values.iter().enumerate().map(|(e, x)| (self.coordinates(e), x))
    }
    /// Coordinates of entry `e`: its index in each mode.
    /// # Panics
    /// If there is no such entry.
    pub fn coordinates(&self, e: usize) -> Vec<usize> {
        self.indices.iter().map(|list| list[e].get()).collect()
    }
    /// The tensor with the same indices and other values.
    /// # Errors
    /// [`Error::Length`] if there is not one value for each entry; [`Error::OutOfMemory`].
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

/// Checks the dimensions and index lists of a tensor of `nnz` entries.
/// # Errors
/// Those of [`Tensor::new`].
pub(crate) fn check_indices<I: Index>(dims: &[usize], indices: &[Vec<I>], nnz: usize) -> Result<()> {
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

/// Checks the number of modes and the dimensions.
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

/// The name of a mode in error messages.
pub(crate) fn mode_name(mode: usize) -> &'static str {
    const NAMES: [&str; 9] =
        ["mode 0", "mode 1", "mode 2", "mode 3", "mode 4", "mode 5", "mode 6", "mode 7", "a mode above 7"];
    NAMES[mode.min(8)]
}

/// A tensor that a plan reads: borrowed, or shared with the plan, which then has no lifetime bound.
#[derive(Clone, Debug)]
pub enum TensorRef<'x, T, I: Index = u32> {
    /// Borrowed from the caller for the lifetime of the plan.
    Borrowed(&'x Tensor<T, I>),
    /// Owned jointly with others.
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

/// A tensor with 32-bit indices where its dimensions fit them, else with 64-bit indices.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyTensor<T> {
    /// All dimensions fit 32 bits.
    Narrow(Tensor<T, u32>),
    /// Some dimension needs 64 bits.
    Wide(Tensor<T, u64>),
}

/// Evaluates `$body` with `$x` bound to the tensor, for either width of index.
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
    /// Number of entries.
    pub fn nnz(&self) -> usize {
        with_tensor!(self, x => x.nnz())
    }
    /// Values of the entries.
    pub fn values(&self) -> &[T] {
        with_tensor!(self, x => x.values())
    }
    /// The tensor, if its indices have 32 bits.
    pub fn narrow(self) -> Option<Tensor<T, u32>> {
        match self {
            Self::Narrow(x) => Some(x),
            Self::Wide(_) => None,
        }
    }
}
