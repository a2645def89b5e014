//! Submatrices: A(I, J), the scatter of A's entries to the part (I, J), and the entries within (I, J).

use std::ops::Range;
use std::sync::Arc;

use super::blocks::{append_rows, blocks, fill_rows, in_order, row_blocks, stretch};
use crate::algebra::Value;
use crate::par::{Threads, collected, copied, filled, note, reserved, zeros};
use crate::sparse::{Bitmap, Checked, IndexList, accumulate, count_rows, sorted_values};
use crate::{Csr, Error, Index, Pattern, Result};

/// A table of all columns is used up to this many columns of A per entry and column of C.
const SPARSE: usize = 8;
/// Marks a row that is not extracted.
const ABSENT: usize = usize::MAX;

/// The columns J of C = A(I, J).
enum Columns<I> {
    /// Consecutive columns.
    Range(Range<usize>),
    /// Column j of A is this column of C; `LAST` if it is not extracted.
    Map(Vec<I>),
    /// For repeated columns: column j of A is column `at[p]` of C for each p in `ptr[j]..ptr[j + 1]`.
    Table { ptr: Vec<usize>, at: Vec<I> },
    /// Sorted pairs of columns of A and C.
    Pairs(Vec<(I, I)>),
}

impl<I: Index> Columns<I> {
    fn new(list: &Checked<'_>, ncols: usize, entries: usize) -> Result<Self> {
        if let Some(range) = list.as_range() {
            return Ok(Self::Range(range));
        }
        if ncols / SPARSE > entries.saturating_add(list.len()) {
            let pairs = (0..list.len()).map(|q| (I::cast(list.at(q)), I::cast(q)));
            let mut pairs = collected(list.len(), pairs, "columns of an extract")?;
            pairs.sort_unstable();
            return Ok(Self::Pairs(pairs));
        }
        let mut map = filled(ncols, I::LAST, "columns of an extract")?;
        let is_new = |q: usize| std::mem::replace(&mut map[list.at(q)], I::cast(q)) == I::LAST;
        if (0..list.len()).all(is_new) {
            return Ok(Self::Map(map));
        }
        drop(map);
        let mut ptr = zeros(ncols.saturating_add(2), "columns of an extract")?;
        let mut at = filled(list.len(), I::default(), "columns of an extract")?;
        (0..list.len()).for_each(|q| ptr[list.at(q) + 2] += 1);
        (2..ptr.len()).for_each(|j| ptr[j] += ptr[j - 1]);
        for q in 0..list.len() {
            let next = &mut ptr[list.at(q) + 1];
            at[*next] = I::cast(q);
            *next += 1;
        }
        Ok(Self::Table { ptr, at })
    }
    /// Calls `f` with the column in C of each extracted entry and its position in the sorted row.
    #[inline(always)]
    fn each(&self, row: &[I], mut f: impl FnMut(I, usize)) {
        match self {
            Self::Range(range) => {
                let first = row.partition_point(|j| j.get() < range.start);
                for (p, j) in row.iter().enumerate().skip(first).take_while(|(_, j)| j.get() < range.end) {
                    f(I::cast(j.get() - range.start), p);
                }
            }
            Self::Map(map) => {
                for (p, j) in row.iter().enumerate().filter(|(_, j)| map[j.get()] != I::LAST) {
                    f(map[j.get()], p);
                }
            }
            Self::Table { ptr, at } => {
                for (p, j) in row.iter().enumerate() {
                    at[ptr[j.get()]..ptr[j.get() + 1]].iter().for_each(|&q| f(q, p));
                }
            }
            Self::Pairs(pairs) if pairs.len() < row.len() => {
                for &(j, q) in pairs {
                    if let Ok(p) = row.binary_search(&j) {
                        f(q, p);
                    }
                }
            }
            Self::Pairs(pairs) => {
                for (p, j) in row.iter().enumerate() {
                    let first = pairs.partition_point(|pair| pair.0 < *j);
                    pairs[first..].iter().take_while(|pair| pair.0 == *j).for_each(|pair| f(pair.1, p));
                }
            }
        }
    }
}

/// C = A(I, J): C(p, q) = A(I(p), J(q)) where that is an entry. All rows are sorted.
///
/// Cost: O(|I| + |J| + entries of these rows), and O(ncols) unless the entries are far fewer than the columns; plus
/// sorting if J is unsorted.
/// # Errors
/// [`Error::ListIndex`]; [`Error::IndexOverflow`], [`Error::OutOfMemory`], [`Error::Cancelled`].
pub(crate) fn extract_values<T: Copy + Send + Sync, I: Index>(
    threads: &Threads,
    a: &Pattern<I>,
    values: &[T],
    (rows, cols): (&IndexList, &IndexList),
) -> Result<(Pattern<I>, Vec<T>)> {
    let (rows, of_cols) = (rows.check("rows", a.nrows())?, cols.check("cols", a.ncols())?);
    let (m, n, ptr) = (rows.len(), of_cols.len(), a.row_ptr());
    if n > I::MAX_LEN {
        return Err(Error::IndexOverflow { what: "columns of an extract", needed: n as u128, max: I::MAX_LEN as u128 });
    }
    let entries_of = |p: usize| ptr[rows.at(p)]..ptr[rows.at(p) + 1];
    let mut starts = zeros(m.saturating_add(1), "row pointers")?;
    (0..m).for_each(|p| starts[p + 1] = entries_of(p).len());
    accumulate(threads, &mut starts)?;
    let columns = Columns::new(&of_cols, a.ncols(), starts[m])?;
    note(|| {
        format!(
            "  {m} rows of {} entries; columns {}",
            starts[m],
            match &columns {
                Columns::Range(_) => "are a range",
                Columns::Map(_) => "are looked up in a table of all columns",
                Columns::Table { .. } => "repeat, and are looked up in a table of all columns",
                Columns::Pairs(_) => "are searched, being far fewer than all columns",
            }
        )
    });
    let work = |p: usize| starts[p] + p;
    let all = matches!(&columns, Columns::Range(range) if range.len() == a.ncols());
    if let (Columns::Map(map), Some(&first)) = (&columns, values.first()) {
        let append = |block: Range<usize>, lens: &mut [usize], cols: &mut Vec<I>, to: &mut Vec<T>| {
            let most = starts[block.end] - starts[block.start];
            stretch(cols, most, I::default(), "a block of rows")?;
            stretch(to, most, first, "a block of rows")?;
            let mut n = 0;
            for (p, len) in block.zip(lens) {
                let start = n;
                // Branch-free: an entry that is not extracted is overwritten by the next.
                for (j, x) in a.row(rows.at(p)).iter().zip(&values[entries_of(p)]) {
                    let q = map[j.get()];
                    (cols[n], to[n]) = (q, *x);
                    n += usize::from(q != I::LAST);
                }
                *len = n - start;
            }
            cols.truncate(n);
            to.truncate(n);
            Ok(())
        };
        let blocks = blocks(m, &|p| work(p) as u64)?;
        let (row_ptr, cols, values) = append_rows(threads, "extract", &blocks, starts[m], &append)?;
        return in_rows(threads, Pattern::from_parts(m, n, row_ptr, cols, of_cols.is_sorted()), values);
    }
    let row_ptr = if all {
        copied(&starts, "row pointers")?
    } else {
        count_rows(
            threads,
            m,
            |p| work(p) as u64,
            || Ok(()),
            |(): &mut (), p| {
                let mut n = 0;
                columns.each(a.row(rows.at(p)), |_, _| n += 1);
                Ok(n)
            },
        )?
    };
    let append = |block: Range<usize>, cols: &mut Vec<I>, to: &mut Vec<T>| {
        for p in block {
            let (js, xs) = (a.row(rows.at(p)), &values[entries_of(p)]);
            if all {
                cols.extend_from_slice(js);
                to.extend_from_slice(xs);
            } else {
                columns.each(js, |q, p| {
                    cols.push(q);
                    to.push(xs[p]);
                });
            }
        }
    };
    let (cols, values) = fill_rows(threads, "extract", &blocks(m, &|p| work(p) as u64)?, &row_ptr, &append)?;
    in_rows(threads, Pattern::from_parts(m, n, row_ptr, cols, of_cols.is_sorted()), values)
}

impl<T: Value, I: Index> Csr<T, I> {
    /// A(rows, columns) for lists of indices in any order, with or without repeats (`GrB_extract`); rows sorted.
    ///
    /// Cost: O(|I| + |J| + entries of these rows), and O(columns) unless the columns far outnumber these entries.
    /// ```
    /// use sparring::par::Threads;
    /// use sparring::sparse::IndexList;
    /// use sparring::Csr;
    /// let a = Csr::<i32>::new(2, 3, vec![0, 2, 4], vec![0, 2, 1, 2], vec![1, 2, 3, 4])?;
    /// let c = a.extract(&Threads::current(), &IndexList::all(), &vec![2, 0].into())?;
    /// assert_eq!(c, Csr::new(2, 2, vec![0, 2, 3], vec![0, 1, 0], vec![2, 1, 4])?);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// [`Error::ListIndex`]; [`Error::IndexOverflow`], [`Error::OutOfMemory`],
    /// [`Error::Cancelled`].
    pub fn extract(&self, threads: &Threads, rows: &IndexList, columns: &IndexList) -> Result<Self> {
        let a = &*in_order(threads, self)?;
        let (pattern, values) = extract_values(threads, a.pattern(), a.values(), (rows, columns))?;
        Self::with_pattern(Arc::new(pattern), values)
    }
    /// A(rows, columns) for two ranges.
    ///
    /// ```
    /// use sparring::Csr;
    /// let a = Csr::<i32>::new(2, 3, vec![0, 2, 4], vec![0, 2, 1, 2], vec![1, 2, 3, 4])?;
    /// assert_eq!(a.submatrix(1..2, 1..3)?, Csr::new(1, 2, vec![0, 2], vec![0, 1], vec![3, 4])?);
    /// assert!(a.submatrix(1..2, 1..4).is_err());
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// As for [`extract`](Self::extract).
    pub fn submatrix(&self, rows: Range<usize>, columns: Range<usize>) -> Result<Self> {
        self.extract(&Threads::current(), &rows.into(), &columns.into())
    }
}

/// T(I(p), J(q)) = A(p, q): the matrix of this shape with the entries of A scattered to its part (I, J); rows sorted.
///
/// Cost: O(rows of T + |J| + nnz(A)), plus sorting if J or rows of A are unsorted.
/// # Errors
/// [`Error::Shape`] unless A is |I|×|J|; [`Error::ListIndex`], [`Error::RepeatedIndex`];
/// [`Error::OutOfMemory`], [`Error::Cancelled`].
pub(crate) fn place_values<T: Copy + Send + Sync, I: Index>(
    threads: &Threads,
    a: &Pattern<I>,
    values: &[T],
    (rows, cols): (&IndexList, &IndexList),
    (nrows, ncols): (usize, usize),
) -> Result<(Pattern<I>, Vec<T>)> {
    let (rows, to) = (rows.check("rows", nrows)?, cols.check("cols", ncols)?);
    if (rows.len(), to.len()) != a.shape() {
        return Err(Error::Shape { op: "assign", lhs: (rows.len(), to.len()), rhs: a.shape() });
    }
    rows.no_repeats("rows")?;
    to.no_repeats("cols")?;
    let mut row_ptr = zeros(nrows.saturating_add(1), "row pointers")?;
    let mut source = filled(nrows, ABSENT, "rows of an assign")?;
    for p in 0..rows.len() {
        let i = rows.at(p);
        (source[i], row_ptr[i + 1]) = (p, a.row(p).len());
    }
    accumulate(threads, &mut row_ptr)?;
    let work = |i: usize| (row_ptr[i] + i) as u64;
    let append = |block: Range<usize>, cols: &mut Vec<I>, out: &mut Vec<T>| {
        for &p in source[block].iter().filter(|p| **p != ABSENT) {
            cols.extend(a.row(p).iter().map(|q| I::cast(to.at(q.get()))));
            out.extend_from_slice(&values[a.row_ptr()[p]..a.row_ptr()[p + 1]]);
        }
    };
    let (cols, values) = fill_rows(threads, "assign", &blocks(nrows, &work)?, &row_ptr, &append)?;
    in_rows(threads, Pattern::from_parts(nrows, ncols, row_ptr, cols, a.is_sorted() && to.is_sorted()), values)
}

/// The entries A(i, j) with i in I and j in J. All rows are sorted.
///
/// Cost: O(nrows + ncols / 64 + |I| + |J| + nnz(A)).
/// # Errors
/// [`Error::ListIndex`]; [`Error::OutOfMemory`], [`Error::Cancelled`].
pub(crate) fn within_values<T: Copy + Send + Sync, I: Index>(
    threads: &Threads,
    a: &Pattern<I>,
    values: &[T],
    (rows, cols): (&IndexList, &IndexList),
) -> Result<(Pattern<I>, Vec<T>)> {
    let (rows, cols) = (rows.check("rows", a.nrows())?, cols.check("cols", a.ncols())?);
    let (rows, cols) = (Members::new(&rows, a.nrows())?, Members::new(&cols, a.ncols())?);
    let of = |i: usize| a.row(i).iter().enumerate().filter(|(_, j)| cols.has(j.get()));
    let count = |(): &mut (), i: usize| Ok(if rows.has(i) { of(i).count() } else { 0 });
    let row_ptr = count_rows(threads, a.nrows(), |i| (a.row_ptr()[i] + i) as u64, || Ok(()), count)?;
    let append = |block: Range<usize>, to: &mut Vec<I>, out: &mut Vec<T>| {
        for i in block.filter(|i| rows.has(*i)) {
            let xs = &values[a.row_ptr()[i]..];
            for (p, j) in of(i) {
                to.push(*j);
                out.push(xs[p]);
            }
        }
    };
    let (cols, values) = fill_rows(threads, "extract", &row_blocks(a)?, &row_ptr, &append)?;
    Ok((Pattern::from_parts(a.nrows(), a.ncols(), row_ptr, cols, a.is_sorted()), values))
}

/// A set of indices.
pub(super) enum Members {
    Range(Range<usize>),
    Bits(Bitmap),
}
impl Members {
    pub(super) fn new(list: &Checked<'_>, dimension: usize) -> Result<Self> {
        if let Some(range) = list.as_range() {
            return Ok(Self::Range(range));
        }
        let mut bits = Bitmap::empty(dimension)?;
        (0..list.len()).for_each(|p| _ = bits.insert(list.at(p)));
        Ok(Self::Bits(bits))
    }
    #[inline(always)]
    pub(super) fn has(&self, i: usize) -> bool {
        match self {
            Self::Range(range) => range.contains(&i),
            Self::Bits(bits) => bits.get(i),
        }
    }
}

/// The matrix with sorted rows. Inlined into each caller, the copies would take 37 kB of the C library.
#[inline(never)]
fn in_rows<T: Copy + Send + Sync, I: Index>(
    threads: &Threads,
    pattern: Pattern<I>,
    values: Vec<T>,
) -> Result<(Pattern<I>, Vec<T>)> {
    if pattern.is_sorted() { Ok((pattern, values)) } else { sorted_values(threads, &pattern, &values) }
}

/// The entries of w = v(I) as two lists: their positions in `0..entries.len()` of v's entries, and their indices in w.
///
/// Cost: O(|I|), times a binary search if v is a list.
/// # Errors
/// [`Error::ListIndex`]; [`Error::OutOfMemory`].
pub(crate) fn extract_positions(
    list: &IndexList,
    len: usize,
    find: impl Fn(usize) -> Option<usize>,
) -> Result<(Vec<u32>, Vec<usize>)> {
    let list = list.check("indices", len)?;
    if list.len() > u32::MAX_LEN {
        return Err(Error::IndexOverflow {
            what: "indices of an extract",
            needed: list.len() as u128,
            max: u32::MAX_LEN as u128,
        });
    }
    let (mut indices, mut positions) = (reserved(list.len(), "indices")?, reserved(list.len(), "positions")?);
    for p in 0..list.len() {
        if let Some(at) = find(list.at(p)) {
            indices.push(u32::cast(p));
            positions.push(at);
        }
    }
    Ok((indices, positions))
}
