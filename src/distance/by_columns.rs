//! All rows of Y indexed by column, and ordered by norm: for rows of X that share a column with few of them.
//!
//! A row of X adds its terms to the sums of the rows that share a column with it, and lists those rows. The distance of
//! every other row follows from its norm alone; these rows are taken in order of their norms, as many as needed. The
//! work is therefore proportional to the pairs that share a column, Σ_c |X_c| |Y_c|, and not to n·m.
//!
//! A row of X may have both very frequent and rare columns. If the k nearest are found among the rows that share a rare
//! column, a bound of the measure ([`Recipe::at_least`](super::Recipe::at_least)) shows that all others are farther,
//! and they are not examined.
//!
//! Source: Gustavson 1978 (row-wise products, a list of touched entries); Bayardo, Ma, Srikant 2007, "Scaling Up All
//! Pairs Similarity Search" (rare columns first, a bound for the rest).

use std::ops::Range;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::entries::Entries;
use super::float::Float;
use super::recipe::DisjointOrder;
use super::tile::DENSE;
use crate::par::{Threads, collected, filled, reserved};
use crate::simd::prefetch;
use crate::sparse::transposed;
use crate::{Pattern, Result};

/// All rows indexed by column, and ordered by norm.
pub(crate) struct ByColumns<W> {
    /// The numbers of the nonempty columns, if most columns are empty.
    numbers: Option<Vec<u32>>,
    /// The rows that have each column, in order.
    columns: Pattern<u32>,
    entries: Vec<W>,
    /// Rows in order of their keys with a row that shares no column with them, those of one norm in order of their
    /// numbers; empty if norms do not determine that order.
    order: Vec<u32>,
    /// Offset of each norm's rows in `order`, and the end.
    groups: Vec<u32>,
    /// The norms of each group.
    norms: [Vec<W>; 2],
    /// The common norms of all nonempty rows, where they are equal.
    uniform: [Option<W>; 2],
    /// Number of columns that at least one row in [`DENSE`] has.
    dense_columns: usize,
    /// Whether entries are finite; computed on first use.
    finite: OnceLock<bool>,
    /// Idle accumulators.
    idle: Mutex<Vec<RowSums<W>>>,
}

impl<W: Float> ByColumns<W> {
    /// Upper bound on the bytes of the index, including its construction.
    pub(crate) fn bytes(threads: usize, nrows: usize, ncols: usize, nnz: usize) -> u64 {
        let of_entries = nnz * (16 + size_of::<W>());
        let of_columns = 8 * (ncols + 1) * (1 + threads);
        (of_entries + of_columns + nrows * (16 + 8 + 2 * size_of::<W>())) as u64
    }
    /// The index of the rows of Y; `norms` are those of all rows.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn new(
        threads: &Threads,
        y: &Entries<'_, W>,
        norms: [&[W]; 2],
        disjoint_order: DisjointOrder,
    ) -> Result<Self> {
        let (pattern, nrows) = (&y.pattern, y.nrows());
        let (order, groups, of_groups) = match in_order(threads, norms, disjoint_order)? {
            Some(found) => found,
            None => (Vec::new(), vec![0], [Vec::new(), Vec::new()]),
        };
        let row_ptr = pattern.row_ptr();
        let (numbers, (columns, entries)) = if y.has_few_columns() {
            let mut used = collected(pattern.nnz(), pattern.col_idx().iter().copied(), "columns")?;
            used.sort_unstable();
            used.dedup();
            let positions = pattern.col_idx().iter().map(|c| used.partition_point(|x| x < c) as u32);
            let positions = collected(pattern.nnz(), positions, "columns")?;
            let row_ptr = collected(nrows + 1, row_ptr.iter().copied(), "row pointers")?;
            let pattern = Pattern::new(nrows, used.len(), row_ptr, positions)?;
            (Some(used), transposed(threads, &pattern, &y.values)?)
        } else {
            (None, transposed(threads, pattern, &y.values)?)
        };
        let uniform = norms.map(|norms| {
            let mut of_full = norms.iter().zip(row_ptr.windows(2)).filter(|(_, p)| p[0] < p[1]).map(|(&x, _)| x);
            let one = of_full.next().unwrap_or(W::ZERO);
            of_full.all(|x| x == one).then_some(one)
        });
        let idle = Mutex::default();
        let is_frequent = |p: &&[usize]| nrows > 0 && (p[1] - p[0]) * DENSE >= nrows;
        let dense_columns = columns.row_ptr().windows(2).filter(is_frequent).count();
        Ok(Self {
            numbers,
            columns,
            entries,
            order,
            groups,
            norms: of_groups,
            uniform,
            dense_columns,
            finite: OnceLock::new(),
            idle,
        })
    }
    /// Whether norms determine the order of rows that share no column.
    pub(crate) fn is_ordered(&self) -> bool {
        !self.order.is_empty()
    }
    /// Empty sums for one row of X.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn sums(&self, nrows: usize, counts: bool) -> Result<RowSums<W>> {
        let had = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        had.map_or_else(|| RowSums::new(nrows, counts), Ok)
    }
    /// Returns sums to the free list.
    pub(crate) fn give_back(&self, mut sums: RowSums<W>) {
        sums.clear();
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        // Without memory for the list they are allocated again next time.
        if idle.try_reserve(1).is_ok() {
            idle.push(sums);
        }
    }
    /// The range of column `c`.
    #[inline(always)]
    fn range(&self, c: u32) -> Range<usize> {
        let position = match &self.numbers {
            None => c as usize,
            Some(numbers) => match numbers.binary_search(&c) {
                Ok(position) => position,
                Err(_) => return 0..0,
            },
        };
        self.columns.row_ptr()[position]..self.columns.row_ptr()[position + 1]
    }
    /// Number of columns frequent enough to be stored dense in a tile.
    pub(crate) fn dense_columns(&self) -> usize {
        self.dense_columns
    }
    /// Whether entries are finite.
    pub(crate) fn is_finite(&self) -> bool {
        *self.finite.get_or_init(|| self.entries.iter().fold(true, |all, x| all & x.as_f64().is_finite()))
    }
    /// The rows that have column `c`, in order, and their entries.
    #[inline(always)]
    pub(crate) fn column(&self, c: u32) -> (&[u32], &[W]) {
        let range = self.range(c);
        (&self.columns.col_idx()[range.clone()], &self.entries[range])
    }
    /// Prefetches the pointer of column `c`, ahead of its use.
    #[inline(always)]
    pub(crate) fn prefetch_start(&self, c: u32) {
        prefetch(self.columns.row_ptr(), c as usize);
    }
    /// Prefetches the beginning of column `c`.
    #[inline(always)]
    pub(crate) fn prefetch(&self, c: u32) {
        if self.numbers.is_none() {
            let (start, line) = (self.columns.row_ptr()[c as usize], 64 / size_of::<W>());
            prefetch(self.columns.col_idx(), start);
            prefetch(&self.entries, start);
            // Entries span two cache lines where their rows span one.
            if self.columns.row_ptr()[c as usize + 1] - start > line / 2 {
                prefetch(&self.entries, start + line);
            }
        }
    }
    /// Number of rows that have column `c`.
    pub(crate) fn count(&self, c: u32) -> usize {
        self.range(c).len()
    }
    /// Number of distinct norms.
    pub(crate) fn groups(&self) -> usize {
        self.norms[0].len()
    }
    /// Rows of a norm, in order.
    pub(crate) fn group(&self, group: usize) -> &[u32] {
        &self.order[self.groups[group] as usize..self.groups[group + 1] as usize]
    }
    /// The norms of a range of groups.
    pub(crate) fn norms(&self, first: usize, len: usize) -> [&[W]; 2] {
        [&self.norms[0][first..][..len], &self.norms[1][first..][..len]]
    }
    /// The common norms of all nonempty rows, where they are equal.
    pub(crate) fn uniform(&self) -> [Option<W>; 2] {
        self.uniform
    }
}

/// Rows in order, the offset of each norm's rows and the end, and the norms of each group.
pub(crate) type InOrder<W> = (Vec<u32>, Vec<u32>, [Vec<W>; 2]);

/// Rows in order of their keys with a row that shares no column with them; `None` where their norms do not determine
/// it.
pub(crate) fn in_order<W: Float>(
    threads: &Threads,
    [first, second]: [&[W]; 2],
    disjoint_order: DisjointOrder,
) -> Result<Option<InOrder<W>>> {
    let nrows = first.len();
    if disjoint_order == DisjointOrder::Unknown || !first.iter().all(|x| x.as_f64().is_finite()) {
        return Ok(None);
    }
    let mut sorted: Vec<(u64, u32)> = reserved(nrows, "rows in order")?;
    let sort_key = |x: W| {
        // Maps numbers to bits in the same order; −0 becomes 0.
        let bits = (x.as_f64() + 0.0).to_bits();
        let bits = if bits >> 63 == 0 { bits | 1 << 63 } else { !bits };
        if disjoint_order == DisjointOrder::Decreasing { !bits } else { bits }
    };
    sorted.extend(first.iter().zip(0..).map(|(&x, i)| (sort_key(x), i)));
    if !sorted.is_sorted() {
        threads.sort(&mut sorted);
    }
    let mut order: Vec<u32> = reserved(nrows, "rows in order")?;
    order.extend(sorted.iter().map(|&(_, i)| i));
    let count = sorted.chunk_by(|a, b| a.0 == b.0).count();
    let mut groups: Vec<u32> = reserved(count + 1, "rows in order")?;
    let mut norms = [reserved(count, "norms")?, reserved(count, "norms")?];
    let mut end = 0;
    for group in sorted.chunk_by(|a, b| a.0 == b.0) {
        let of_first = second[group[0].1 as usize];
        if group.iter().any(|&(_, i)| second[i as usize] != of_first) {
            return Ok(None);
        }
        groups.push(end);
        end += group.len() as u32;
        norms[0].push(first[group[0].1 as usize]);
        norms[1].push(of_first);
    }
    groups.push(end);
    Ok(Some((order, groups, norms)))
}

/// A sparse accumulator over the rows of Y: the sums of the touched rows, in the order of their first terms. Only the
/// position of a row is a scattered access; clearing is contiguous.
///
/// Source: Briggs, Torczon 1993, "An Efficient Representation for Sparse Sets".
pub(crate) struct RowSums<W> {
    /// The position of each row of Y in `rows`; valid only if `rows` has the row there.
    positions: Vec<u32>,
    /// The touched rows, then [`u32::MAX`].
    rows: Vec<u32>,
    /// The sum of each touched row; then 0.
    sums: Vec<W>,
    /// The number of shared columns of each, if counted; then 0.
    shared: Vec<W>,
    len: usize,
}

/// The position of row `j` among the touched rows, behind the last if it is new. Branch-free.
#[inline(always)]
fn position_in(positions: &mut [u32], touched: &mut [u32], len: &mut usize, j: u32) -> usize {
    let position = &mut positions[j as usize];
    let before = *position as usize;
    let present = touched[before] == j;
    let at = if present { before } else { *len };
    *position = at as u32;
    touched[at] = j;
    *len += usize::from(!present);
    at
}

impl<W: Float> RowSums<W> {
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn new(nrows: usize, counts: bool) -> Result<Self> {
        Ok(Self {
            positions: filled(nrows, 0, "rows that share a column")?,
            rows: filled(nrows + 1, u32::MAX, "rows that share a column")?,
            sums: filled(nrows + 1, W::ZERO, "sums")?,
            shared: filled(if counts { nrows + 1 } else { 0 }, W::ZERO, "shared columns")?,
            len: 0,
        })
    }
    /// Sums for no rows.
    pub(crate) fn nothing() -> Self {
        Self { positions: Vec::new(), rows: Vec::new(), sums: Vec::new(), shared: Vec::new(), len: 0 }
    }
    /// Bytes of sums for `nrows` rows.
    pub(crate) fn bytes(nrows: usize, counts: bool) -> u64 {
        (nrows * (8 + size_of::<W>() * if counts { 2 } else { 1 })) as u64
    }
    /// Adds a term to the sum of each row.
    #[inline(always)]
    pub(crate) fn add(&mut self, rows: &[u32], terms: &[W]) {
        self.add_each(rows, terms, |term| term);
    }
    /// Adds the term of each entry to the sum of its row.
    #[inline(always)]
    pub(crate) fn add_each(&mut self, rows: &[u32], entries: &[W], term: impl Fn(W) -> W) {
        let (positions, touched, sums, mut len) =
            (&mut self.positions[..], &mut self.rows[..], &mut self.sums[..], self.len);
        for (&j, &entry) in rows.iter().zip(entries) {
            let at = position_in(positions, touched, &mut len, j);
            sums[at] = sums[at].wrapping_add(term(entry));
        }
        self.len = len;
        if !self.shared.is_empty() {
            self.count(rows);
        }
    }
    /// Counts a column that those touched rows share. Not inlined, so that it is not compiled once per ⊗.
    #[inline(never)]
    fn count(&mut self, rows: &[u32]) {
        for &j in rows {
            let shared = &mut self.shared[self.positions[j as usize] as usize];
            *shared = shared.wrapping_add(W::ONE);
        }
    }
    /// The touched rows, in no order.
    pub(crate) fn rows(&self) -> &[u32] {
        &self.rows[..self.len]
    }
    /// Their sums, and the number of columns shared with each, if counted.
    pub(crate) fn sums(&self) -> (&[W], &[W]) {
        (&self.sums[..self.len], &self.shared[..self.len.min(self.shared.len())])
    }
    /// The position of row `j` among the touched rows, if it is one.
    #[inline(always)]
    pub(crate) fn position(&self, j: u32) -> Option<usize> {
        let position = self.positions[j as usize] as usize;
        (self.rows[position] == j).then_some(position)
    }
    /// The sum of a row, 0 if it is not touched, and its shared columns.
    #[inline(always)]
    pub(crate) fn sum(&self, j: usize) -> (W, W) {
        self.position(j as u32).map_or((W::ZERO, W::ZERO), |position| {
            (self.sums[position], self.shared.get(position).copied().unwrap_or(W::ZERO))
        })
    }
    /// Resets to the empty state.
    pub(crate) fn clear(&mut self) {
        let len = std::mem::take(&mut self.len);
        self.rows[..len].fill(u32::MAX);
        self.sums[..len].fill(W::ZERO);
        if !self.shared.is_empty() {
            self.shared[..len].fill(W::ZERO);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A recipe may break its promise that equal first norms imply equal second norms; its rows are then not ordered.
    #[test]
    fn rows_are_in_order_only_where_their_norms_determine_it() {
        let threads = Threads::new(2).unwrap();
        let first = [2.0, 1.0, 2.0];
        let of = |second: &[f64; 3], order| in_order(&threads, [&first, second], order).unwrap();
        let expected = (vec![1, 0, 2], vec![0, 1, 3], [vec![1.0, 2.0], vec![4.0, 5.0]]);
        assert_eq!(of(&[5.0, 4.0, 5.0], DisjointOrder::Increasing), Some(expected));
        assert_eq!(of(&[5.0, 4.0, 6.0], DisjointOrder::Increasing), None);
        assert_eq!(of(&[5.0, 4.0, 5.0], DisjointOrder::Unknown), None);
        assert_eq!(in_order(&threads, [&[f64::NAN], &[0.0]], DisjointOrder::Decreasing).unwrap(), None);
    }
}
