//! A sparse tensor of any value type.

use std::any::Any;
use std::sync::Arc;

use super::BinaryOp;
use super::cast::{check_exact, wrapping_cast};
use crate::algebra::{Array, Slice, Type, Value};
use crate::ops::by_formula::summed_groups;
use crate::par::{Threads, collected};
use crate::tensor::{AnyTensor, Pattern, check_indices};
use crate::{Index, Result};

/// A sparse tensor whose value type is known at run time, in host memory: entry e has the value `values[e]` at
/// `(indices[0][e], …, indices[d − 1][e])`. Clones share their memory.
///
/// Entries come in any order; repeated entries mean their sum ([`summed`](Self::summed)). Indices keep their width of
/// 32 or 64 bits.
/// ```
/// use sparring::algebra::{Array, Slice, Type};
/// use sparring::par::Threads;
/// use sparring::runtime::Tensor;
/// let (dims, places) = (vec![2, 3], vec![vec![1u32, 0, 1], vec![2, 0, 2]]);
/// let x = Tensor::new(dims, places, Array::of(vec![1i16, 7, 4]))?;
/// let y = x.summed(&Threads::current())?;
/// assert_eq!((y.ty(), y.dims(), y.values().get::<i16>()), (Type::I16, &[2, 3][..], Some(&[7, 5][..])));
/// assert_eq!(y.cast(Type::F32)?.indices::<u32>(1), Some(&[0, 2][..]));
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tensor(pub(super) Storage);

/// The entries, shared with plans made for them. The float types have typed tensors, which typed products read.
#[derive(Clone, Debug)]
pub(super) enum Storage {
    F32(Arc<crate::Tensor<f32>>),
    F64(Arc<crate::Tensor<f64>>),
    WideF64(Arc<crate::Tensor<f64, u64>>),
    Narrow(Arc<Lists<u32>>),
    Wide(Arc<Lists<u64>>),
}

/// Entries of a type without a typed tensor.
#[derive(Debug)]
pub(super) struct Lists<I> {
    dims: Vec<usize>,
    indices: Vec<Vec<I>>,
    values: Array,
}

/// Indices of the entries, of either width.
pub(super) enum AnyIndices<'a> {
    Narrow(Pattern<'a, u32>),
    Wide(Pattern<'a, u64>),
}

/// Runs `$body` with `$places` bound to the indices of the entries, of either width, and `$values` to their values.
macro_rules! with_entries {
    ($x:expr, ($places:ident, $values:ident) => $body:expr) => {
        match $x.entries() {
            ($crate::runtime::tensor::AnyIndices::Narrow($places), $values) => $body,
            ($crate::runtime::tensor::AnyIndices::Wide($places), $values) => $body,
        }
    };
}
pub(super) use with_entries;

impl<I> Lists<I> {
    fn pattern(&self) -> Pattern<'_, I> {
        Pattern { dims: &self.dims, indices: &self.indices }
    }
}

impl<T: Value, I: Index> From<crate::Tensor<T, I>> for Tensor {
    fn from(x: crate::Tensor<T, I>) -> Self {
        let (dims, indices, values) = x.into_parts();
        Self::of(dims, indices, Array::of(values))
    }
}
impl<T: Value> From<AnyTensor<T>> for Tensor {
    fn from(x: AnyTensor<T>) -> Self {
        match x {
            AnyTensor::Narrow(x) => x.into(),
            AnyTensor::Wide(x) => x.into(),
        }
    }
}

impl Tensor {
    /// From the dimensions, one list of indices for each mode, and the values.
    /// # Errors
    /// Those of [`tensor::Tensor::new`](crate::Tensor::new).
    pub fn new<I: Index>(dims: Vec<usize>, indices: Vec<Vec<I>>, values: Array) -> Result<Self> {
        check_indices(&dims, &indices, values.len())?;
        Ok(Self::of(dims, indices, values))
    }
    /// From validated lists.
    fn of<I: Index>(dims: Vec<usize>, indices: Vec<Vec<I>>, values: Array) -> Self {
        let wide: Vec<Vec<u64>> = match (Box::new(indices) as Box<dyn Any>).downcast::<Vec<Vec<u32>>>() {
            Ok(narrow) => return Self::narrow(dims, *narrow, values),
            Err(indices) => match indices.downcast() {
                Ok(wide) => *wide,
                Err(_) => unreachable!("indices have 32 or 64 bits"),
            },
        };
        Self(match values.into_vec() {
            Ok(values) => Storage::WideF64(Arc::new(crate::Tensor::from_parts(dims, wide, values))),
            Err(values) => Storage::Wide(Arc::new(Lists { dims, indices: wide, values })),
        })
    }
    fn narrow(dims: Vec<usize>, indices: Vec<Vec<u32>>, values: Array) -> Self {
        let values = match values.into_vec() {
            Ok(values) => return Self(Storage::F64(Arc::new(crate::Tensor::from_parts(dims, indices, values)))),
            Err(values) => values,
        };
        Self(match values.into_vec() {
            Ok(values) => Storage::F32(Arc::new(crate::Tensor::from_parts(dims, indices, values))),
            Err(values) => Storage::Narrow(Arc::new(Lists { dims, indices, values })),
        })
    }
    /// Indices of the entries, and their values.
    pub(super) fn entries(&self) -> (AnyIndices<'_>, Slice<'_>) {
        match &self.0 {
            Storage::F32(x) => (AnyIndices::Narrow(x.pattern()), Slice::of(x.values())),
            Storage::F64(x) => (AnyIndices::Narrow(x.pattern()), Slice::of(x.values())),
            Storage::WideF64(x) => (AnyIndices::Wide(x.pattern()), Slice::of(x.values())),
            Storage::Narrow(x) => (AnyIndices::Narrow(x.pattern()), x.values.slice()),
            Storage::Wide(x) => (AnyIndices::Wide(x.pattern()), x.values.slice()),
        }
    }
    /// Size of each mode.
    #[must_use]
    pub fn dims(&self) -> &[usize] {
        with_entries!(self, (places, _values) => places.dims)
    }
    /// Number of entries, stored zeros and repeats included.
    #[must_use]
    pub fn nnz(&self) -> usize {
        self.values().len()
    }
    /// Type of the values.
    #[must_use]
    pub fn ty(&self) -> Type {
        self.values().ty()
    }
    /// Values of the entries.
    #[must_use]
    pub fn values(&self) -> Slice<'_> {
        self.entries().1
    }
    /// Indices of the entries in `mode`, if they have this type.
    /// # Panics
    /// If there is no such mode.
    #[must_use]
    pub fn indices<I: Index>(&self, mode: usize) -> Option<&[I]> {
        with_entries!(self, (places, _values) => {
            (&places.indices[mode] as &dyn Any).downcast_ref::<Vec<I>>().map(|list| &list[..])
        })
    }

    /// The tensor sorted by all modes, the last one fastest, with repeated entries summed in order: integers wrap, and
    /// bools are or-ed.
    ///
    /// Cost: a counting sort, O(d·(nnz + bins)).
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Cancelled`](crate::Error::Cancelled);
    /// [`Error::Unsupported`](crate::Error::Unsupported) for structs.
    pub fn summed(&self, threads: &Threads) -> Result<Self> {
        let ty = self.ty();
        let plus = BinaryOp::new(if ty == Type::Bool { "lor" } else { "plus" }, ty)?;
        with_entries!(self, (places, values) => {
            let order = places.order(threads)?;
            let starts = places.groups(&order)?;
            let values = summed_groups(threads, plus.compiled(), &starts, values, &order)?;
            let first = |list: &Vec<_>| {
                let kept = starts[..starts.len() - 1].iter().map(|&p| list[order[p]]);
                collected(kept.len(), kept, "a tensor's indices")
            };
            let indices = places.indices.iter().map(first).collect::<Result<Vec<_>>>()?;
            Ok(Self::of(places.dims.to_vec(), indices, values))
        })
    }
    /// The same entries converted to another type, by the rules of [`Matrix::cast`](super::Matrix::cast). A tensor of
    /// that type is returned unchanged.
    /// # Errors
    /// Those of [`Matrix::cast`](super::Matrix::cast).
    pub fn cast(&self, ty: Type) -> Result<Self> {
        check_exact(self.values(), ty, |e| format!("entry {e}, "))?;
        self.wrapping_cast(ty)
    }
    /// The same entries converted to another type, by the rules of
    /// [`Matrix::wrapping_cast`](super::Matrix::wrapping_cast).
    /// # Errors
    /// Those of [`Matrix::wrapping_cast`](super::Matrix::wrapping_cast).
    pub fn wrapping_cast(&self, ty: Type) -> Result<Self> {
        if ty == self.ty() {
            return Ok(self.clone());
        }
        with_entries!(self, (places, values) => {
            let copy = |list: &Vec<_>| collected(list.len(), list.iter().copied(), "a tensor's indices");
            let indices = places.indices.iter().map(copy).collect::<Result<Vec<_>>>()?;
            Ok(Self::of(places.dims.to_vec(), indices, wrapping_cast(values, ty)?))
        })
    }
    /// The tensor as text: its shape, number of entries and type.
    pub(super) fn described(&self) -> String {
        let dims: Vec<String> = self.dims().iter().map(ToString::to_string).collect();
        format!("{} with {} entries of {}", dims.join("×"), self.nnz(), self.ty())
    }
}
