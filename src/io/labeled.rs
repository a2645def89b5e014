//! A matrix read from a file, with its row and column labels.

use std::sync::Arc;

use crate::algebra::{Array, Value};
use crate::par::{out_of_memory, reserved};
use crate::pattern::{check_ncols, check_nrows};
use crate::{Csr, Error, Pattern, Result};

/// A matrix read from a file, with the names of its rows and columns in the file.
///
/// `runtime::Matrix::new(file.pattern, file.values)` is a matrix whose type is known at run time, [`csr`](Self::csr)
/// one whose type is known at compile time.
#[derive(Debug)]
#[non_exhaustive]
pub struct LabeledMatrix {
    /// The sparsity pattern.
    pub pattern: Arc<Pattern>,
    /// The values, in the order of the pattern.
    pub values: Array,
    /// Row labels, if the format has them.
    pub labels: Labels,
    /// Column names of a table with a header line.
    pub columns: Labels,
    /// The number of each row and column in the file, if vertices were renumbered.
    pub ids: Vec<i64>,
}

impl LabeledMatrix {
    pub(super) fn new(pattern: Arc<Pattern>, values: Array) -> Self {
        Self { pattern, values, labels: Labels::default(), columns: Labels::default(), ids: Vec::new() }
    }
    /// The matrix as `Csr<T>`, if its values have type `T`; no data is copied.
    /// # Errors
    /// [`Error::Unsupported`] if the values have another type.
    pub fn csr<T: Value>(self) -> Result<Csr<T>> {
        let ty = self.values.ty();
        let values = self.values.into_vec::<T>().map_err(|_| Error::Unsupported {
            what: format!("a matrix of {ty} as one of {}", T::TYPE),
            why: "values are not converted here".into(),
        })?;
        Csr::with_pattern(self.pattern, values)
    }
}

/// A list of strings, stored contiguously.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    text: String,
    ends: Vec<usize>,
}

impl Labels {
    /// A list of these strings.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Result<Self> {
        let mut labels = Self::default();
        texts.into_iter().try_for_each(|text| labels.push(text))?;
        Ok(labels)
    }
    /// Number of strings.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }
    /// Whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
    /// String `i`.
    #[must_use]
    pub fn get(&self, i: usize) -> Option<&str> {
        let end = *self.ends.get(i)?;
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        Some(&self.text[start..end])
    }
    /// All strings, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|i| self.get(i).unwrap_or_default())
    }
    pub(super) fn push(&mut self, label: &str) -> Result<()> {
        let bytes = self.text.len() + label.len();
        self.text.try_reserve(label.len()).map_err(|_| out_of_memory::<u8>("labels", bytes))?;
        self.text.push_str(label);
        self.ends.try_reserve(1).map_err(|_| out_of_memory::<usize>("labels", self.ends.len() + 1))?;
        self.ends.push(self.text.len());
        Ok(())
    }
    /// Concatenates lists.
    fn joined<'a>(lists: impl Iterator<Item = &'a Self> + Clone) -> Result<Self> {
        let (bytes, len) = lists.clone().fold((0, 0), |(b, n), list| (b + list.text.len(), n + list.len()));
        let mut all = Self { text: String::new(), ends: reserved(len, "labels")? };
        all.text.try_reserve_exact(bytes).map_err(|_| out_of_memory::<u8>("labels", bytes))?;
        for list in lists {
            let before = all.text.len();
            all.text.push_str(&list.text);
            all.ends.extend(list.ends.iter().map(|end| before + end));
        }
        Ok(all)
    }
}

/// Consecutive rows with increasing column indices.
#[derive(Debug, Default)]
pub(super) struct Rows<T> {
    /// Number of entries of each row.
    pub(super) lens: Vec<u32>,
    pub(super) cols: Vec<u32>,
    pub(super) values: Vec<T>,
    pub(super) labels: Labels,
}

/// Checks that the shape fits 32-bit indices.
pub(super) fn check_shape(nrows: usize, ncols: usize) -> Result<()> {
    check_nrows::<u32>(nrows)?;
    check_ncols::<u32>(ncols)
}

/// Concatenates blocks of rows into a matrix.
pub(super) fn stacked<T: Value>(blocks: Vec<Rows<T>>, ncols: usize) -> Result<LabeledMatrix> {
    let (nrows, nnz) = blocks.iter().fold((0, 0), |(n, e), rows| (n + rows.lens.len(), e + rows.cols.len()));
    check_shape(nrows, ncols)?;
    let labels = Labels::joined(blocks.iter().map(|rows| &rows.labels))?;
    let mut row_ptr = reserved(nrows + 1, "row pointers")?;
    let (mut cols, mut values) = (reserved(nnz, "column indices")?, reserved(nnz, "values")?);
    let mut end = 0;
    row_ptr.push(0);
    // Each block is freed as soon as it has been copied.
    for rows in blocks {
        row_ptr.extend(rows.lens.iter().map(|&len| {
            end += len as usize;
            end
        }));
        cols.extend_from_slice(&rows.cols);
        values.extend_from_slice(&rows.values);
    }
    let pattern = Pattern::from_parts(nrows, ncols, row_ptr, cols, true);
    Ok(LabeledMatrix { labels, ..LabeledMatrix::new(Arc::new(pattern), Array::of(values)) })
}

/// Sorts the entries of a row by column; returns the first duplicate column, if any.
pub(super) fn sort_row<T: Copy>(cols: &mut [u32], values: &mut [T]) -> Result<Option<u32>> {
    if cols.windows(2).all(|pair| pair[0] < pair[1]) {
        return Ok(None);
    }
    let mut pairs = reserved(cols.len(), "a row")?;
    pairs.extend(cols.iter().copied().zip(values.iter().copied()));
    pairs.sort_unstable_by_key(|&(j, _)| j);
    for ((col, value), &(j, x)) in cols.iter_mut().zip(values).zip(&pairs) {
        (*col, *value) = (j, x);
    }
    Ok(cols.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_labels_are_concatenated() {
        let mut lists = [Labels::default(), Labels::default(), Labels::default()];
        for (list, label) in [(0, "a"), (0, ""), (2, "bc")] {
            lists[list].push(label).unwrap();
        }
        let all = Labels::joined(lists.iter()).unwrap();
        assert_eq!(all.iter().collect::<Vec<_>>(), ["a", "", "bc"]);
        assert_eq!((all.len(), all.get(3)), (3, None));
    }

    #[test]
    fn a_row_is_sorted_and_duplicates_are_found() {
        let (mut cols, mut values) = ([5, 1, 3], [0.5, 0.1, 0.3]);
        assert_eq!(sort_row(&mut cols, &mut values).unwrap(), None);
        assert_eq!((cols, values), ([1, 3, 5], [0.1, 0.3, 0.5]));
        assert_eq!(sort_row(&mut [4, 2, 4], &mut [1, 2, 3]).unwrap(), Some(4));
    }
}
