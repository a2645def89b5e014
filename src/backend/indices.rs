//! Index arguments of operations: index lists of vectors, and rows or columns of matrices.

use std::borrow::Cow;
use std::ops::{Range, RangeFull};

use crate::par::collected;
use crate::sparse::IndexList;
use crate::{Index, Result};

/// The index list of a vector: a borrowed slice of indices, an [`IndexList`], a range or `..`.
#[derive(Clone, Debug)]
pub enum Indices<'i, I> {
    /// A slice of indices.
    Slice(&'i [I]),
    /// An index list.
    List(IndexList),
}

impl<'i, I: Index> Indices<'i, I> {
    /// Whether it selects all indices.
    pub(super) fn is_all(&self) -> bool {
        matches!(self, Self::List(list) if list.is_all())
    }
    /// The indices; those of a slice are not checked.
    pub(super) fn resolve(&self, dimension: usize) -> Result<Cow<'i, [I]>> {
        match self {
            Self::Slice(indices) => Ok(Cow::Borrowed(indices)),
            Self::List(list) => list_of(list, "indices", dimension).map(Cow::Owned),
        }
    }
    /// The indices without repeats.
    pub(super) fn distinct(&self, dimension: usize) -> Result<Cow<'i, [I]>> {
        let mut indices = self.resolve(dimension)?;
        if !indices.is_sorted_by(|i, j| i < j) {
            let mut sorted = collected(indices.len(), indices.iter().copied(), "indices")?;
            sorted.sort_unstable();
            sorted.dedup();
            indices = Cow::Owned(sorted);
        }
        Ok(indices)
    }
}

/// The indices of a list.
pub(super) fn list_of<I: Index>(list: &IndexList, name: &'static str, dimension: usize) -> Result<Vec<I>> {
    let list = list.check(name, dimension)?;
    collected(list.len(), (0..list.len()).map(|p| I::cast(list.at(p))), "indices")
}

impl<'i, I> From<&'i [I]> for Indices<'i, I> {
    fn from(indices: &'i [I]) -> Self {
        Self::Slice(indices)
    }
}
impl<'i, I> From<&'i Vec<I>> for Indices<'i, I> {
    fn from(indices: &'i Vec<I>) -> Self {
        Self::Slice(indices)
    }
}
impl<'i, I, const N: usize> From<&'i [I; N]> for Indices<'i, I> {
    fn from(indices: &'i [I; N]) -> Self {
        Self::Slice(indices)
    }
}
macro_rules! lists {
    ($($list:ty)*) => {$(
        impl<I> From<$list> for Indices<'_, I> {
            fn from(list: $list) -> Self {
                Self::List(list.into())
            }
        }
    )*};
}
lists! { IndexList &IndexList Range<usize> RangeFull }

/// A row or column of a matrix, restricted to an index list, as a vector.
#[derive(Clone, Debug)]
pub enum Line {
    /// A(i, J).
    Row(usize, IndexList),
    /// A(I, j).
    Column(IndexList, usize),
}

impl Line {
    /// The corresponding line of Aᵀ.
    pub(super) fn transposed(self) -> Self {
        match self {
            Self::Row(i, cols) => Self::Column(cols, i),
            Self::Column(rows, j) => Self::Row(j, rows),
        }
    }
    /// The line as a submatrix (I, J).
    pub(super) fn part(&self) -> (IndexList, IndexList) {
        let one = |i: usize| IndexList::from(i..i.saturating_add(1));
        match self {
            Self::Row(i, cols) => (one(*i), cols.clone()),
            Self::Column(rows, j) => (rows.clone(), one(*j)),
        }
    }
}
