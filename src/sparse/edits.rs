//! Entries that are set or removed one by one: they wait beside the rows, and are merged once, when these are read.

use std::sync::{Arc, OnceLock};

use hashbrown::HashMap;

use super::hyper_rows::{HyperRows, union_of};
use super::rows::Rows;
use super::{copied, out_of_memory, reserved};
use crate::algebra::words::{MovesTwo, moved_two};
use crate::algebra::{Value, Word};
use crate::par::collected;
use crate::pattern::Pattern;
use crate::{Index, Result};

/// What is edited: all rows, or those that have entries.
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

/// The places that were edited, each once, with its last value.
#[derive(Debug)]
struct Edits<T, I> {
    numbers: HashMap<(usize, I), usize>,
    places: Vec<(usize, I)>,
    values: Vec<T>,
    /// Whether the place has an entry now.
    is_entry: Vec<bool>,
}

impl<T: Value, I: Index> Edits<T, I> {
    fn new() -> Self {
        Self { numbers: HashMap::new(), places: Vec::new(), values: Vec::new(), is_entry: Vec::new() }
    }
    fn try_clone(&self) -> Result<Self> {
        let mut numbers = HashMap::new();
        numbers.try_reserve(self.places.len()).map_err(|_| full(self.places.len()))?;
        numbers.extend(self.places.iter().copied().zip(0..));
        let (places, values) = (copied(&self.places, "edits")?, copied(&self.values, "edits")?);
        Ok(Self { numbers, places, values, is_entry: copied(&self.is_entry, "edits")? })
    }
    fn put(&mut self, place: (usize, I), x: T, is_entry: bool) -> Result<()> {
        if let Some(&n) = self.numbers.get(&place) {
            (self.values[n], self.is_entry[n]) = (x, is_entry);
            return Ok(());
        }
        let n = self.places.len();
        self.numbers.try_reserve(1).map_err(|_| full(n + 1))?;
        self.places.try_reserve(1).map_err(|_| full(n + 1))?;
        self.values.try_reserve(1).map_err(|_| full(n + 1))?;
        self.is_entry.try_reserve(1).map_err(|_| full(n + 1))?;
        self.numbers.insert(place, n);
        self.places.push(place);
        self.values.push(x);
        self.is_entry.push(is_entry);
        Ok(())
    }
}
#[cold]
fn full(n: usize) -> crate::Error {
    out_of_memory::<(usize, usize, usize)>("edits of a matrix", n)
}

/// Makes one of rows and edits.
type MergeFn<T, I> = fn(&Base<T, I>, &Edits<T, I>) -> Result<Base<T, I>>;

/// Rows, and entries that were set or removed since they were made.
#[derive(Debug)]
pub(super) struct Edited<T, I: Index> {
    base: Base<T, I>,
    edits: Arc<Edits<T, I>>,
    nnz: usize,
    merged: OnceLock<Base<T, I>>,
    /// Here, because it needs to know more of T than reading a matrix does.
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
        let edit = I::new(j).and_then(|j| self.edits.numbers.get(&(i, j)));
        match edit {
            Some(&n) => self.edits.is_entry[n].then(|| &self.edits.values[n]),
            None => self.base.get(i, j),
        }
    }
    /// Whether the rows that have entries are kept alone.
    pub(super) fn is_hyper(&self) -> bool {
        matches!(self.base, Base::Hyper(_))
    }
    /// The matrix without edits, made when it is first asked for.
    pub(super) fn merged(&self) -> Result<&Base<T, I>> {
        if let Some(merged) = self.merged.get() {
            return Ok(merged);
        }
        let made = (self.merge)(&self.base, &self.edits)?;
        Ok(self.merged.get_or_init(|| made))
    }
    /// The same as compressed rows.
    pub(super) fn compress(&self) -> Result<Rows<T, I>> {
        match self.merged()? {
            Base::Rows(rows) => Ok(rows.clone()),
            Base::Hyper(rows) => rows.compress(),
        }
    }
}

impl<T: Value, I: Index> Edited<T, I> {
    /// Of sorted rows.
    pub(super) fn new(base: Base<T, I>) -> Self {
        let (nnz, edits) = (base.nnz(), Arc::new(Edits::new()));
        Self { base, edits, nnz, merged: OnceLock::new(), merge }
    }
    /// Puts an entry at a place within the shape, or takes away the one that is there; the entry that was there.
    ///
    /// What was merged before is edited from here on.
    pub(super) fn edit(&mut self, i: usize, j: usize, x: Option<T>) -> Result<Option<T>> {
        let old = self.get(i, j).copied();
        let Some(value) = x.or(old) else { return Ok(None) };
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

/// The rows with their edits: O(nrows + nnz + n log n) for n edits, of hypersparse rows their number for nrows.
fn merge<T: Value, I: Index>(base: &Base<T, I>, edits: &Edits<T, I>) -> Result<Base<T, I>> {
    let n = edits.places.len();
    let mut order: Vec<usize> = collected(n, 0..n, "edits")?;
    order.sort_unstable_by_key(|&e| edits.places[e]);
    let merged = |rows: &Rows<T, I>, row_of: &dyn Fn(usize) -> usize| {
        let list = order.iter().map(|&e| {
            let (i, j) = edits.places[e];
            Edit { row: row_of(i), col: j, value: edits.is_entry[e].then_some(e) }
        });
        merged_rows(rows, &collected(n, list, "edits")?, &edits.values)
    };
    match base {
        Base::Rows(rows) => Ok(Base::Rows(merged(rows, &|i| i)?)),
        Base::Hyper(rows) => {
            let mut of_edits = collected(n, order.iter().map(|&e| I::cast(edits.places[e].0)), "labels of rows")?;
            of_edits.dedup();
            let labels = union_of(rows.labels(), &of_edits)?;
            let at = |i: usize| labels.binary_search(&I::cast(i)).unwrap_or_default();
            let made = merged(&rows.expanded(&labels)?, &at)?;
            Ok(Base::Hyper(HyperRows::new(rows.shape().0, Arc::new(labels), made).without_empty_rows()?))
        }
    }
}

/// An edit of (row, col): its value's number, or none where there is no entry any more.
struct Edit<I> {
    row: usize,
    col: I,
    value: Option<usize>,
}

fn merged_rows<T: Value, I: Index>(rows: &Rows<T, I>, edits: &[Edit<I>], values: &[T]) -> Result<Rows<T, I>> {
    let (pattern, values) = moved_two(Merge { base: &rows.pattern, edits }, &rows.values, values)?;
    Ok(Rows { pattern: Arc::new(pattern), values: Arc::new(values.into()) })
}

/// Edits in the order of rows and columns come to sorted rows.
struct Merge<'a, I: Index> {
    base: &'a Pattern<I>,
    edits: &'a [Edit<I>],
}
impl<I: Index> MovesTwo for Merge<'_, I> {
    type Found = Pattern<I>;
    fn run<W: Word>(self, of_base: &[W], of_edits: &[W]) -> Result<(Pattern<I>, Vec<W>)> {
        let Self { base, edits } = self;
        let (nrows, ptr, js) = (base.nrows(), base.row_ptr(), base.col_idx());
        let most = base.nnz() + edits.len();
        let mut row_ptr: Vec<usize> = reserved(nrows + 1, "row pointers")?;
        let (mut cols, mut values) = (reserved(most, "column indices")?, reserved(most, "values")?);
        row_ptr.push(0);
        // Rows without edits are copied many at once.
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
