//! All rows of Y by columns, and in order of their norms: for rows of X that share a column with few of them.
//!
//! A row of X adds its terms to the sums of the rows that it meets in some column, and lists those. All others are as
//! far as their norm says: they are taken in its order, as many as are wanted. So the work goes by the pairs that share
//! a column, Σ_c |X_c| |Y_c|, and not by all n·m.
//!
//! Where a row of X has columns that very many rows have beside rare ones, and the k nearest are found among the rows
//! that share a rare column, all others are farther by a bound of the measure
//! ([`Recipe::at_least`](super::Recipe::at_least)), and are not looked at.
//!
//! Source: Gustavson 1978 (row-wise products, a list of what was touched); Bayardo, Ma, Srikant 2007, "Scaling Up All
//! Pairs Similarity Search" (rare columns first, a bound for the rest).

use std::ops::Range;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::entries::Entries;
use super::float::Float;
use super::recipe::Apart;
use super::tile::DENSE;
use crate::par::{Threads, collected, filled, reserved};
use crate::simd::prefetch;
use crate::sparse::transposed;
use crate::{Pattern, Result};

/// All rows by columns, and in order of their norms.
pub(crate) struct ByColumns<W> {
    /// The columns that there are, if they are few of all.
    numbers: Option<Vec<u32>>,
    /// The rows that have each, in order.
    columns: Pattern<u32>,
    entries: Vec<W>,
    /// Rows in order of their keys with a row that shares no column with them, those of one norm in order; none if
    /// norms tell nothing.
    order: Vec<u32>,
    /// Where those of each norm begin in `order`, and the end.
    groups: Vec<u32>,
    /// The norms of each group.
    norms: [Vec<W>; 2],
    /// The norms of all rows that have entries, where they are the same.
    alike: [Option<W>; 2],
    /// Columns that at least one row of [`DENSE`] has.
    often: usize,
    /// Whether entries are finite, once that was asked.
    finite: OnceLock<bool>,
    /// Sums that were made, and are not in use.
    stock: Mutex<Vec<RowSums<W>>>,
}

impl<W: Float> ByColumns<W> {
    /// Bytes of so many rows of so many columns and entries, while they are made.
    pub(crate) fn bytes(threads: usize, nrows: usize, ncols: usize, nnz: usize) -> u64 {
        let of_entries = nnz * (16 + size_of::<W>());
        let of_columns = 8 * (ncols + 1) * (1 + threads);
        (of_entries + of_columns + nrows * (16 + 8 + 2 * size_of::<W>())) as u64
    }
    /// The rows of Y by columns; `norms` are those of all rows.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn new(threads: &Threads, y: &Entries<'_, W>, norms: [&[W]; 2], apart: Apart) -> Result<Self> {
        let (pattern, nrows) = (&y.pattern, y.nrows());
        let (order, groups, of_groups) = match in_order(threads, norms, apart)? {
            Some(found) => found,
            None => (Vec::new(), vec![0], [Vec::new(), Vec::new()]),
        };
        let row_ptr = pattern.row_ptr();
        let (numbers, (columns, entries)) = if y.has_few_columns() {
            let mut used = collected(pattern.nnz(), pattern.col_idx().iter().copied(), "columns")?;
            used.sort_unstable();
            used.dedup();
            let places = pattern.col_idx().iter().map(|c| used.partition_point(|x| x < c) as u32);
            let places = collected(pattern.nnz(), places, "columns")?;
            let row_ptr = collected(nrows + 1, row_ptr.iter().copied(), "row pointers")?;
            let pattern = Pattern::new(nrows, used.len(), row_ptr, places)?;
            (Some(used), transposed(threads, &pattern, &y.values)?)
        } else {
            (None, transposed(threads, pattern, &y.values)?)
        };
        let alike = norms.map(|norms| {
            let mut of_full = norms.iter().zip(row_ptr.windows(2)).filter(|(_, p)| p[0] < p[1]).map(|(&x, _)| x);
            let one = of_full.next().unwrap_or(W::ZERO);
            of_full.all(|x| x == one).then_some(one)
        });
        let stock = Mutex::default();
        let is_often = |p: &&[usize]| nrows > 0 && (p[1] - p[0]) * DENSE >= nrows;
        let often = columns.row_ptr().windows(2).filter(is_often).count();
        Ok(Self {
            numbers,
            columns,
            entries,
            order,
            groups,
            norms: of_groups,
            alike,
            often,
            finite: OnceLock::new(),
            stock,
        })
    }
    /// Whether the norms tell in which order rows that share no column come.
    pub(crate) fn is_ordered(&self) -> bool {
        !self.order.is_empty()
    }
    /// Sums for one row of X, all of them nothing.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn sums(&self, nrows: usize, counts: bool) -> Result<RowSums<W>> {
        let had = self.stock.lock().unwrap_or_else(PoisonError::into_inner).pop();
        had.map_or_else(|| RowSums::new(nrows, counts), Ok)
    }
    /// Takes them back.
    pub(crate) fn give_back(&self, mut sums: RowSums<W>) {
        sums.clear();
        let mut stock = self.stock.lock().unwrap_or_else(PoisonError::into_inner);
        // Where there is no room they are made again.
        if stock.try_reserve(1).is_ok() {
            stock.push(sums);
        }
    }
    /// Where column `c` lies.
    #[inline(always)]
    fn range(&self, c: u32) -> Range<usize> {
        let place = match &self.numbers {
            None => c as usize,
            Some(numbers) => match numbers.binary_search(&c) {
                Ok(place) => place,
                Err(_) => return 0..0,
            },
        };
        self.columns.row_ptr()[place]..self.columns.row_ptr()[place + 1]
    }
    /// Columns that so many rows have that a tile keeps them dense.
    pub(crate) fn often(&self) -> usize {
        self.often
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
    /// Asks for where column `c` begins, ahead of its use.
    #[inline(always)]
    pub(crate) fn prefetch_start(&self, c: u32) {
        prefetch(self.columns.row_ptr(), c as usize);
    }
    /// Asks for what column `c` begins with.
    #[inline(always)]
    pub(crate) fn prefetch(&self, c: u32) {
        if self.numbers.is_none() {
            let (start, line) = (self.columns.row_ptr()[c as usize], 64 / size_of::<W>());
            prefetch(self.columns.col_idx(), start);
            prefetch(&self.entries, start);
            // Entries have two lines where their rows have one.
            if self.columns.row_ptr()[c as usize + 1] - start > line / 2 {
                prefetch(&self.entries, start + line);
            }
        }
    }
    /// Rows that have column `c`.
    pub(crate) fn count(&self, c: u32) -> usize {
        self.range(c).len()
    }
    /// Norms that there are.
    pub(crate) fn groups(&self) -> usize {
        self.norms[0].len()
    }
    /// Rows of a norm, in order.
    pub(crate) fn group(&self, group: usize) -> &[u32] {
        &self.order[self.groups[group] as usize..self.groups[group + 1] as usize]
    }
    /// The norms of some groups.
    pub(crate) fn norms(&self, first: usize, len: usize) -> [&[W]; 2] {
        [&self.norms[0][first..][..len], &self.norms[1][first..][..len]]
    }
    /// The norms that all rows with entries have.
    pub(crate) fn alike(&self) -> [Option<W>; 2] {
        self.alike
    }
}

/// Rows in order, where those of each norm begin and the end, and the norms of each group.
pub(crate) type InOrder<W> = (Vec<u32>, Vec<u32>, [Vec<W>; 2]);

/// Rows in order of their keys with a row that shares no column with them; nothing where their norms do not tell it.
pub(crate) fn in_order<W: Float>(
    threads: &Threads,
    [first, second]: [&[W]; 2],
    apart: Apart,
) -> Result<Option<InOrder<W>>> {
    let nrows = first.len();
    if apart == Apart::Unknown || !first.iter().all(|x| x.as_f64().is_finite()) {
        return Ok(None);
    }
    let mut sorted: Vec<(u64, u32)> = reserved(nrows, "rows in order")?;
    let place = |x: W| {
        // The order of numbers as that of their bits; −0 is 0.
        let bits = (x.as_f64() + 0.0).to_bits();
        let bits = if bits >> 63 == 0 { bits | 1 << 63 } else { !bits };
        if apart == Apart::Falls { !bits } else { bits }
    };
    sorted.extend(first.iter().zip(0..).map(|(&x, i)| (place(x), i)));
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
/// place of a row is a scattered access; clearing is contiguous.
///
/// Source: Briggs, Torczon 1993, "An Efficient Representation for Sparse Sets".
pub(crate) struct RowSums<W> {
    /// Where each row of Y stands in `rows`, if that has it there.
    places: Vec<u32>,
    /// The touched rows, then [`u32::MAX`].
    rows: Vec<u32>,
    /// The sum of each touched row; then 0.
    sums: Vec<W>,
    /// Shared columns of each, if they are counted; then 0.
    shared: Vec<W>,
    len: usize,
}

/// The place of row `j` among the touched rows, behind the last if it is new. Branch-free.
#[inline(always)]
fn place_in(places: &mut [u32], touched: &mut [u32], len: &mut usize, j: u32) -> usize {
    let place = &mut places[j as usize];
    let before = *place as usize;
    let again = touched[before] == j;
    let at = if again { before } else { *len };
    *place = at as u32;
    touched[at] = j;
    *len += usize::from(!again);
    at
}

impl<W: Float> RowSums<W> {
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn new(nrows: usize, counts: bool) -> Result<Self> {
        Ok(Self {
            places: filled(nrows, 0, "rows that share a column")?,
            rows: filled(nrows + 1, u32::MAX, "rows that share a column")?,
            sums: filled(nrows + 1, W::ZERO, "sums")?,
            shared: filled(if counts { nrows + 1 } else { 0 }, W::ZERO, "shared columns")?,
            len: 0,
        })
    }
    /// Of no rows.
    pub(crate) fn nothing() -> Self {
        Self { places: Vec::new(), rows: Vec::new(), sums: Vec::new(), shared: Vec::new(), len: 0 }
    }
    /// Bytes of sums for so many rows.
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
        let (places, met, sums, mut len) = (&mut self.places[..], &mut self.rows[..], &mut self.sums[..], self.len);
        for (&j, &entry) in rows.iter().zip(entries) {
            let at = place_in(places, met, &mut len, j);
            sums[at] = sums[at].wrapping_add(term(entry));
        }
        self.len = len;
        if !self.shared.is_empty() {
            self.count(rows);
        }
    }
    /// Counts a column that those rows share, which were met. Not for each ⊗.
    #[inline(never)]
    fn count(&mut self, rows: &[u32]) {
        for &j in rows {
            let shared = &mut self.shared[self.places[j as usize] as usize];
            *shared = shared.wrapping_add(W::ONE);
        }
    }
    /// The rows that were met, in no order.
    pub(crate) fn rows(&self) -> &[u32] {
        &self.rows[..self.len]
    }
    /// Their sums, and the columns shared with each, if they are counted.
    pub(crate) fn sums(&self) -> (&[W], &[W]) {
        (&self.sums[..self.len], &self.shared[..self.len.min(self.shared.len())])
    }
    /// Where row `j` stands among them, if it was met.
    #[inline(always)]
    pub(crate) fn place(&self, j: u32) -> Option<usize> {
        let place = self.places[j as usize] as usize;
        (self.rows[place] == j).then_some(place)
    }
    /// The sum of a row, 0 if it was not met, and its shared columns.
    #[inline(always)]
    pub(crate) fn sum(&self, j: usize) -> (W, W) {
        self.place(j as u32)
            .map_or((W::ZERO, W::ZERO), |place| (self.sums[place], self.shared.get(place).copied().unwrap_or(W::ZERO)))
    }
    /// As new.
    pub(crate) fn clear(&mut self) {
        let len = std::mem::take(&mut self.len);
        self.rows[..len].fill(u32::MAX);
        self.sums[..len].fill(W::ZERO);
        if !self.shared.is_empty() {
            self.shared[..len].fill(W::ZERO);
        }
    }
}
