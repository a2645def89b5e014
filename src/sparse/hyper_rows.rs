//! Hypersparse rows: the non-empty rows of a matrix and their indices. Empty rows take no memory.

use std::sync::Arc;

use super::rows::Rows;
use super::{copied, out_of_memory, reserved};
use crate::pattern::Pattern;
use crate::{Index, Result};

/// Row `labels[r]` of the matrix is row r of `rows`.
///
/// Source: Buluç and Gilbert 2008 (doubly compressed rows); GraphBLAS' hypersparse form.
#[derive(Debug)]
pub(crate) struct HyperRows<T, I: Index> {
    nrows: usize,
    /// Row indices, increasing and below nrows.
    labels: Arc<Vec<I>>,
    rows: Rows<T, I>,
}

impl<T, I: Index> Clone for HyperRows<T, I> {
    fn clone(&self) -> Self {
        Self { nrows: self.nrows, labels: Arc::clone(&self.labels), rows: self.rows.clone() }
    }
}

impl<T, I: Index> HyperRows<T, I> {
    pub(crate) fn new(nrows: usize, labels: Arc<Vec<I>>, rows: Rows<T, I>) -> Self {
        debug_assert_eq!(labels.len(), rows.pattern.nrows());
        debug_assert!(labels.windows(2).all(|w| w[0] < w[1]) && labels.last().is_none_or(|i| i.get() < nrows));
        Self { nrows, labels, rows }
    }
    /// The non-empty rows of a matrix.
    ///
    /// Cost: O(nrows), plus O(nnz) if some rows are empty.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn of(rows: &Rows<T, I>) -> Result<Self> {
        let (labels, pattern) = with_entries(&rows.pattern)?;
        Ok(Self::new(rows.pattern.nrows(), Arc::new(labels), rows.at(pattern)))
    }
    /// The same matrix without stored empty rows.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn without_empty_rows(mut self) -> Result<Self> {
        (self.labels, self.rows.pattern) = relabelled(self.labels, self.rows.pattern)?;
        Ok(self)
    }
    pub(crate) fn shape(&self) -> (usize, usize) {
        (self.nrows, self.rows.pattern.ncols())
    }
    pub(crate) fn nnz(&self) -> usize {
        self.rows.values.len()
    }
    pub(crate) fn labels(&self) -> &Arc<Vec<I>> {
        &self.labels
    }
    /// The stored rows.
    pub(crate) fn rows(&self) -> &Rows<T, I> {
        &self.rows
    }
    pub(super) fn get(&self, i: usize, j: usize) -> Option<&T> {
        let r = self.labels.binary_search(&I::new(i)?).ok()?;
        self.rows.values.get(self.rows.pattern.find(r, j)?)
    }
    /// The pattern.
    pub(crate) fn pattern(&self) -> HyperRows<(), I> {
        let values = Arc::new(vec![(); self.nnz()].into());
        let rows = Rows { pattern: Arc::clone(&self.rows.pattern), values };
        HyperRows { nrows: self.nrows, labels: Arc::clone(&self.labels), rows }
    }
    /// The rows at `labels`, a superset of the stored row indices.
    ///
    /// Cost: O(labels), plus O(nnz) if it is a proper superset.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn expanded(&self, labels: &[I]) -> Result<Rows<T, I>> {
        Ok(self.rows.at(expanded(&self.rows.pattern, &self.labels, labels.len(), |r| labels[r])?))
    }
    /// All rows; O(nrows) memory.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(super) fn compress(&self) -> Result<Rows<T, I>> {
        Ok(self.rows.at(expanded(&self.rows.pattern, &self.labels, self.nrows, I::cast)?))
    }
}

// The functions below do not depend on the value type, so they are compiled once.

/// The indices of the non-empty rows, and the pattern of these rows.
fn with_entries<I: Index>(pattern: &Arc<Pattern<I>>) -> Result<(Vec<I>, Arc<Pattern<I>>)> {
    let (nrows, ptr) = (pattern.nrows(), pattern.row_ptr());
    let live = || (0..nrows).filter(|&i| ptr[i] < ptr[i + 1]);
    let n = live().count();
    let mut labels = reserved(n, "labels of rows")?;
    labels.extend(live().map(I::cast));
    Ok((labels, renumbered(pattern, n, live().map(|i| ptr[i + 1]))?))
}

/// The non-empty rows, with their labels.
#[allow(clippy::type_complexity, reason = "both are what was given")]
fn relabelled<I: Index>(labels: Arc<Vec<I>>, pattern: Arc<Pattern<I>>) -> Result<(Arc<Vec<I>>, Arc<Pattern<I>>)> {
    let (among, live) = with_entries(&pattern)?;
    if among.len() == labels.len() {
        return Ok((labels, pattern));
    }
    let mut kept = reserved(among.len(), "labels of rows")?;
    kept.extend(among.iter().map(|r| labels[r.get()]));
    Ok((Arc::new(kept), live))
}

/// The rows at `labels` as rows of a pattern of `nrows` rows, of which row r has the label `label(r)`.
fn expanded<I: Index>(
    pattern: &Arc<Pattern<I>>,
    labels: &[I],
    nrows: usize,
    label: impl Fn(usize) -> I,
) -> Result<Arc<Pattern<I>>> {
    let (ptr, mut r) = (pattern.row_ptr(), 0);
    let ends = (0..nrows).map(|i| {
        r += usize::from(labels.get(r) == Some(&label(i)));
        ptr[r]
    });
    renumbered(pattern, nrows, ends)
}

/// The same entries with other row ends: `ends` yields `nrows` of them.
fn renumbered<I: Index>(
    pattern: &Arc<Pattern<I>>,
    nrows: usize,
    ends: impl Iterator<Item = usize>,
) -> Result<Arc<Pattern<I>>> {
    if nrows == pattern.nrows() {
        // The number of rows is unchanged, so the pattern is too.
        return Ok(Arc::clone(pattern));
    }
    let len = nrows.checked_add(1).ok_or_else(|| out_of_memory::<usize>("row pointers", nrows))?;
    let mut row_ptr = reserved(len, "row pointers")?;
    row_ptr.push(0);
    row_ptr.extend(ends);
    let cols = copied(pattern.col_idx(), "column indices")?;
    Ok(Arc::new(Pattern::from_parts(nrows, pattern.ncols(), row_ptr, cols, pattern.is_sorted())))
}

/// The union of two increasing lists of labels.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub(crate) fn union_of<I: Index>(a: &[I], b: &[I]) -> Result<Vec<I>> {
    let mut union = reserved(a.len() + b.len(), "labels of rows")?;
    let (mut p, mut q) = (0, 0);
    while let (Some(i), Some(j)) = (a.get(p), b.get(q)) {
        union.push(*i.min(j));
        (p, q) = (p + usize::from(i <= j), q + usize::from(j <= i));
    }
    union.extend_from_slice(&a[p..]);
    union.extend_from_slice(&b[q..]);
    Ok(union)
}
