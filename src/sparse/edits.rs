//! Pending edits: entries that are set or removed one by one, merged into the rows once, at the next read.

use std::sync::{Arc, OnceLock};

use hashbrown::HashMap;

use super::hyper_rows::{HyperRows, union_of};
use super::rows::Rows;
use super::{copied, out_of_memory, reserved};
use crate::algebra::words::{MovesTwo, moved_two};
use crate::algebra::{Value, Word};
use crate::par::collected;
use crate::pattern::Pattern;
use crate::{Error, Index, Result};

/// The edited rows: compressed or hypersparse.
#[derive(Debug)]
pub(super) enum Base<T, I: Index> {
    Rows(Rows<T, I>),
    Hyper(HyperRows<T, I>),
}
impl<T, I: Index> Clone for Base<T, I> {
    fn clone(&self) -> Self {
        match self {
            Self::Rows(rows) => Self::Rows(rows.clone()),
            Self::Hyper(rows) => Self::Hyper(rows.clone()),
        }
    }
}
impl<T, I: Index> Base<T, I> {
    fn shape(&self) -> (usize, usize) {
        match self {
            Self::Rows(rows) => rows.pattern.shape(),
            Self::Hyper(rows) => rows.shape(),
        }
    }
    fn nnz(&self) -> usize {
        match self {
            Self::Rows(rows) => rows.values.len(),
            Self::Hyper(rows) => rows.nnz(),
        }
    }
    fn get(&self, i: usize, j: usize) -> Option<&T> {
        match self {
            Self::Rows(rows) => rows.values.get(rows.pattern.find(i, j)?),
            Self::Hyper(rows) => rows.get(i, j),
        }
    }
}

/// The edited indices (i, j), each once; independent of the value type, so compiled once.
#[derive(Debug)]
struct EditIndex<I> {
    positions: HashMap<(usize, I), usize>,
    indices: Vec<(usize, I)>,
    /// Whether the last edit set an entry, rather than removed it.
    is_entry: Vec<bool>,
}

impl<I: Index> EditIndex<I> {
    fn new() -> Self {
        Self { positions: HashMap::new(), indices: Vec::new(), is_entry: Vec::new() }
    }
    #[inline(never)]
    fn try_clone(&self) -> Result<Self> {
        let mut positions = HashMap::new();
        positions.try_reserve(self.indices.len()).map_err(|_| full(self.indices.len()))?;
        positions.extend(self.indices.iter().copied().zip(0..));
        Ok(Self { positions, indices: copied(&self.indices, "edits")?, is_entry: copied(&self.is_entry, "edits")? })
    }
    /// Position of the edit of (i, j), if there is one.
    #[inline(never)]
    fn position(&self, i: usize, j: usize) -> Option<usize> {
        self.positions.get(&(i, I::new(j)?)).copied()
    }
    /// Position of the edit of this index; a new index is appended.
    #[inline(never)]
    fn put(&mut self, index: (usize, I), is_entry: bool) -> Result<usize> {
        if let Some(&n) = self.positions.get(&index) {
            self.is_entry[n] = is_entry;
            return Ok(n);
        }
        let n = self.indices.len();
        self.positions.try_reserve(1).map_err(|_| full(n + 1))?;
        self.indices.try_reserve(1).map_err(|_| full(n + 1))?;
        self.is_entry.try_reserve(1).map_err(|_| full(n + 1))?;
        self.positions.insert(index, n);
        self.indices.push(index);
        self.is_entry.push(is_entry);
        Ok(n)
    }
    /// The edits, sorted by row and column.
    #[inline(never)]
    fn in_order(&self) -> Result<Vec<Edit<I>>> {
        let edit = |(e, &(row, col)): (usize, &(usize, I))| Edit { row, col, value: self.is_entry[e].then_some(e) };
        let mut edits = collected(self.indices.len(), self.indices.iter().enumerate().map(edit), "edits")?;
        edits.sort_unstable_by_key(|edit| (edit.row, edit.col));
        Ok(edits)
    }
}

/// The edited indices with their last values.
#[derive(Debug)]
struct Edits<T, I> {
    at: EditIndex<I>,
    values: Vec<T>,
}

impl<T: Value, I: Index> Edits<T, I> {
    fn new() -> Self {
        Self { at: EditIndex::new(), values: Vec::new() }
    }
    fn try_clone(&self) -> Result<Self> {
        Ok(Self { at: self.at.try_clone()?, values: copied(&self.values, "edits")? })
    }
    fn put(&mut self, index: (usize, I), x: T, is_entry: bool) -> Result<()> {
        let len = self.values.len();
        self.values.try_reserve(1).map_err(|_| full(len + 1))?;
        let n = self.at.put(index, is_entry)?;
        match self.values.get_mut(n) {
            Some(value) => *value = x,
            None => self.values.push(x),
        }
        Ok(())
    }
}
#[cold]
fn full(n: usize) -> crate::Error {
    out_of_memory::<(usize, usize, usize)>("edits of a matrix", n)
}

/// Merges edits into rows.
type MergeFn<T, I> = fn(&Base<T, I>, &Edits<T, I>) -> Result<Base<T, I>>;

/// Rows with pending edits.
#[derive(Debug)]
pub(super) struct Edited<T, I: Index> {
    base: Base<T, I>,
    edits: Arc<Edits<T, I>>,
    nnz: usize,
    merged: OnceLock<Base<T, I>>,
    /// A function pointer, because merging needs `T: Value` and reading a matrix does not.
    merge: MergeFn<T, I>,
}
impl<T, I: Index> Clone for Edited<T, I> {
    fn clone(&self) -> Self {
        let Self { base, edits, nnz, merged, merge } = self;
        Self { base: base.clone(), edits: Arc::clone(edits), nnz: *nnz, merged: merged.clone(), merge: *merge }
    }
}

impl<T, I: Index> Edited<T, I> {
    pub(super) fn shape(&self) -> (usize, usize) {
        self.base.shape()
    }
    pub(super) fn nnz(&self) -> usize {
        self.nnz
    }
    pub(super) fn get(&self, i: usize, j: usize) -> Option<&T> {
        match self.edits.at.position(i, j) {
            Some(n) => self.edits.at.is_entry[n].then(|| &self.edits.values[n]),
            None => self.base.get(i, j),
        }
    }
    /// Whether the rows are hypersparse.
    pub(super) fn is_hyper(&self) -> bool {
        matches!(self.base, Base::Hyper(_))
    }
    /// The rows with the edits merged; computed at the first call and cached.
    pub(super) fn merged(&self) -> Result<&Base<T, I>> {
        if let Some(merged) = self.merged.get() {
            return Ok(merged);
        }
        let made = (self.merge)(&self.base, &self.edits)?;
        Ok(self.merged.get_or_init(|| made))
    }
    /// The merged rows as compressed rows.
    pub(super) fn compress(&self) -> Result<Rows<T, I>> {
        match self.merged()? {
            Base::Rows(rows) => Ok(rows.clone()),
            Base::Hyper(rows) => rows.compress(),
        }
    }
}

impl<T: Value, I: Index> Edited<T, I> {
    /// From sorted rows.
    pub(super) fn new(base: Base<T, I>) -> Self {
        let (nnz, edits) = (base.nnz(), Arc::new(Edits::new()));
        Self { base, edits, nnz, merged: OnceLock::new(), merge }
    }
    /// Sets the entry (i, j), which is within the shape, or removes it for `None`; returns the previous value.
    ///
    /// Rows that are already merged become the new base.
    /// # Errors
    /// [`Error::IndexOverflow`] for a row of a hypersparse matrix that does not fit `I`; [`Error::OutOfMemory`].
    pub(super) fn edit(&mut self, i: usize, j: usize, x: Option<T>) -> Result<Option<T>> {
        let old = self.get(i, j).copied();
        let Some(value) = x.or(old) else { return Ok(None) };
        if self.is_hyper() && I::new(i).is_none() {
            let (needed, max) = (i as u128, I::LAST.get() as u128);
            return Err(Error::IndexOverflow { what: "the row of an entry in a hypersparse matrix", needed, max });
        }
        if let Some(merged) = self.merged.take() {
            *self = Self::new(merged);
        }
        if Arc::get_mut(&mut self.edits).is_none() {
            self.edits = Arc::new(self.edits.try_clone()?);
        }
        if let Some(edits) = Arc::get_mut(&mut self.edits) {
            edits.put((i, I::cast(j)), value, x.is_some())?;
        }
        self.nnz = self.nnz + usize::from(x.is_some()) - usize::from(old.is_some());
        Ok(old)
    }
}

/// Merges n edits into the rows: O(nrows + nnz + n log n), nrows being the number of stored rows if hypersparse.
fn merge<T: Value, I: Index>(base: &Base<T, I>, edits: &Edits<T, I>) -> Result<Base<T, I>> {
    let mut list = edits.at.in_order()?;
    match base {
        Base::Rows(rows) => Ok(Base::Rows(merged_rows(rows, &list, &edits.values)?)),
        Base::Hyper(rows) => {
            let labels = labelled(rows.labels(), &mut list)?;
            let made = merged_rows(&rows.expanded(&labels)?, &list, &edits.values)?;
            Ok(Base::Hyper(HyperRows::new(rows.shape().0, Arc::new(labels), made).without_empty_rows()?))
        }
    }
}

/// The union of the row labels and the edited rows; each edit's row becomes its position in the union.
fn labelled<I: Index>(labels: &[I], edits: &mut [Edit<I>]) -> Result<Vec<I>> {
    let mut of_edits = collected(edits.len(), edits.iter().map(|edit| I::cast(edit.row)), "labels of rows")?;
    of_edits.dedup();
    let labels = union_of(labels, &of_edits)?;
    for edit in edits {
        edit.row = labels.binary_search(&I::cast(edit.row)).unwrap_or_default();
    }
    Ok(labels)
}

/// An edit of (row, col): the position of its value, or `None` for a removal.
struct Edit<I> {
    row: usize,
    col: I,
    value: Option<usize>,
}

fn merged_rows<T: Value, I: Index>(rows: &Rows<T, I>, edits: &[Edit<I>], values: &[T]) -> Result<Rows<T, I>> {
    let (pattern, values) = moved_two(Merge { base: &rows.pattern, edits }, &rows.values, values)?;
    Ok(Rows { pattern: Arc::new(pattern), values: Arc::new(values.into()) })
}

/// Merges edits, sorted by row and column, into sorted rows.
struct Merge<'a, I: Index> {
    base: &'a Pattern<I>,
    edits: &'a [Edit<I>],
}
impl<I: Index> MovesTwo for Merge<'_, I> {
    type Structure = Pattern<I>;
    fn run<W: Word>(self, of_base: &[W], of_edits: &[W]) -> Result<(Pattern<I>, Vec<W>)> {
        let Self { base, edits } = self;
        let (nrows, ptr, js) = (base.nrows(), base.row_ptr(), base.col_idx());
        let most = base.nnz() + edits.len();
        let mut row_ptr: Vec<usize> = reserved(nrows + 1, "row pointers")?;
        let (mut cols, mut values) = (reserved(most, "column indices")?, reserved(most, "values")?);
        row_ptr.push(0);
        // Runs of rows without edits are copied at once.
        let copy = |rows: std::ops::Range<usize>, row_ptr: &mut Vec<usize>, cols: &mut Vec<I>, values: &mut Vec<W>| {
            let (from, to) = (ptr[rows.start], cols.len());
            let range = from..ptr[rows.end];
            row_ptr.extend(ptr[rows.start + 1..rows.end + 1].iter().map(|p| p - from + to));
            cols.extend_from_slice(&js[range.clone()]);
            values.extend_from_slice(&of_base[range]);
        };
        let mut next = 0;
        for of_row in edits.chunk_by(|a, b| a.row == b.row) {
            let row = of_row[0].row;
            copy(next..row, &mut row_ptr, &mut cols, &mut values);
            let (mut p, end) = (ptr[row], ptr[row + 1]);
            for edit in of_row {
                let q = p + js[p..end].partition_point(|j| *j < edit.col);
                cols.extend_from_slice(&js[p..q]);
                values.extend_from_slice(&of_base[p..q]);
                p = q + usize::from(q < end && js[q] == edit.col);
                if let Some(e) = edit.value {
                    cols.push(edit.col);
                    values.push(of_edits[e]);
                }
            }
            cols.extend_from_slice(&js[p..end]);
            values.extend_from_slice(&of_base[p..end]);
            row_ptr.push(cols.len());
            next = row + 1;
        }
        copy(next..nrows, &mut row_ptr, &mut cols, &mut values);
        Ok((Pattern::from_parts(nrows, base.ncols(), row_ptr, cols, true), values))
    }
}
