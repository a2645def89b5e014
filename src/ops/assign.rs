//! `C(I, J) = A` in one pass: rows outside I are copied, rows in I merged with rows of A; and `C⟨M⟩ = s`.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::blocks::{append_rows, blocks, room, row_blocks, stretch};
use super::ewise::PutRows;
use super::extract::Members;
use crate::algebra::Word;
use crate::algebra::words::MovesTwo;
use crate::kernels::fill_words;
use crate::par::{Threads, filled};
use crate::simd::RowUnion;
use crate::sparse::{Checked, IndexList};
use crate::{Error, Index, Pattern, Result};

/// Marks a row that is not assigned.
const ABSENT: usize = usize::MAX;

/// C with its entries in (I, J) deleted and those of A inserted, both only where the mask allows. All rows are sorted.
///
/// Cost: O(m + nnz(C) + nnz(A) + entries of the mask in rows I), and O(n / 64 + |J|) unless J is a range. Rows of A are
/// sorted if J is not; an unsorted I takes one number per row of C.
pub(super) struct AssignRows<'a, I: Index> {
    pub(super) threads: &'a Threads,
    pub(super) c: &'a Pattern<I>,
    pub(super) a: &'a Pattern<I>,
    pub(super) part: (&'a IndexList, &'a IndexList),
    /// The mask's pattern, and whether it is complemented.
    pub(super) mask: Option<(&'a Pattern<I>, bool)>,
}

impl<I: Index> MovesTwo for AssignRows<'_, I> {
    type Structure = Pattern<I>;
    #[inline(never)]
    fn run<W: Word>(self, of_c: &[W], of_a: &[W]) -> Result<(Pattern<I>, Vec<W>)> {
        let Self { threads, c, a, part: (rows, cols), mask } = self;
        let (m, n) = c.shape();
        if let Some((mask, _)) = mask
            && mask.shape() != (m, n)
        {
            return Err(Error::Shape { op: "mask", lhs: (m, n), rhs: mask.shape() });
        }
        let (of_rows, to) = (rows.check("rows", m)?, cols.check("cols", n)?);
        if (of_rows.len(), to.len()) != a.shape() {
            return Err(Error::Shape { op: "assign", lhs: (of_rows.len(), to.len()), rhs: a.shape() });
        }
        of_rows.no_repeats("rows")?;
        to.no_repeats("cols")?;
        let (in_cols, in_order) = (Members::new(&to, n)?, to.is_sorted());
        let sources = Sources::new(&of_rows, m)?;
        let append = |block: Range<usize>, lens: &mut [usize], cols: &mut Vec<I>, values: &mut Vec<W>| {
            let len = |x: &Pattern<I>, i: usize| x.row(i).len();
            let most = c.row_ptr()[block.end] - c.row_ptr()[block.start]
                + sources.of(block.clone()).filter(|p| *p != ABSENT).map(|p| len(a, p)).sum::<usize>();
            let of_block = sources.of(block.clone());
            if let (None, true, Some(&first)) = (mask, in_order, of_c.first().or(of_a.first())) {
                stretch(cols, most, I::default(), "a block of rows")?;
                stretch(values, most, first, "a block of rows")?;
                let mut rows = Rows { c: (c, of_c), to: (cols, values), n: 0, kept: (Vec::new(), Vec::new()), first };
                let (mut union, mut new, mut done) = (RowUnion::new::<I>(), Vec::new(), block.start);
                for ((i, p), len) in block.clone().zip(of_block).zip(lens) {
                    if p == ABSENT {
                        *len = c.row(i).len();
                        continue;
                    }
                    rows.copy(done..i);
                    done = i + 1;
                    new.clear();
                    new.extend(a.row(p).iter().map(|q| I::cast(to.at(q.get()))));
                    let ys = &of_a[a.row_ptr()[p]..a.row_ptr()[p + 1]];
                    *len = rows.merge(&mut union, i, |j| !in_cols.has(j.get()), (&new, ys))?;
                }
                rows.copy(done..block.end);
                let n = rows.n;
                cols.truncate(n);
                values.truncate(n);
                return Ok(());
            }
            room(cols, most, "a block of rows")?;
            room(values, most, "a block of rows")?;
            let mut new: Vec<(I, W)> = Vec::new();
            for ((i, p), len) in block.zip(of_block).zip(lens) {
                let before = cols.len();
                let (js, xs) = (c.row(i), &of_c[c.row_ptr()[i]..c.row_ptr()[i + 1]]);
                if p == ABSENT {
                    cols.extend_from_slice(js);
                    values.extend_from_slice(xs);
                    *len = js.len();
                    continue;
                }
                let allowed = mask.map(|(mask, complement)| (mask.row(i), complement));
                let mut of_row = Allowed { allowed, at: 0 };
                new.clear();
                let ys = &of_a[a.row_ptr()[p]..a.row_ptr()[p + 1]];
                new.extend(a.row(p).iter().zip(ys).map(|(q, y)| (I::cast(to.at(q.get())), *y)));
                if !in_order {
                    new.sort_unstable_by_key(|entry| entry.0);
                }
                let mut next = new.iter().peekable();
                for (j, x) in js.iter().zip(xs) {
                    while let Some(&&(k, y)) = next.peek().filter(|(k, _)| k < j) {
                        next.next();
                        if of_row.has(k) {
                            cols.push(k);
                            values.push(y);
                        }
                    }
                    let replaces = next.next_if(|(k, _)| k == j);
                    if in_cols.has(j.get()) && of_row.has(*j) {
                        if let Some((_, y)) = replaces {
                            cols.push(*j);
                            values.push(*y);
                        }
                    } else {
                        cols.push(*j);
                        values.push(*x);
                    }
                }
                for &(k, y) in next {
                    if of_row.has(k) {
                        cols.push(k);
                        values.push(y);
                    }
                }
                *len = cols.len() - before;
            }
            Ok(())
        };
        let work = |i: usize| (c.row_ptr()[i] + i) as u64;
        let most = c.nnz().saturating_add(a.nnz());
        let (row_ptr, cols, values) = append_rows(threads, "assign", &blocks(m, &work)?, most, &append)?;
        Ok((Pattern::from_parts(m, n, row_ptr, cols, true), values))
    }
}

/// The row of A assigned to each row of C.
struct Sources<'a> {
    rows: &'a Checked<'a>,
    /// One element per row of C; `None` if the list is sorted.
    table: Option<Vec<usize>>,
}

impl<'a> Sources<'a> {
    /// Sources for a list without repeats and a matrix of `m` rows.
    fn new(rows: &'a Checked<'a>, m: usize) -> Result<Self> {
        let mut table = None;
        if !rows.is_sorted() {
            let mut source = filled(m, ABSENT, "rows of an assign")?;
            (0..rows.len()).for_each(|p| source[rows.at(p)] = p);
            table = Some(source);
        }
        Ok(Self { rows, table })
    }
    /// The sources of some rows, in order; [`ABSENT`] for a row that is not assigned.
    fn of(&self, block: Range<usize>) -> impl Iterator<Item = usize> {
        let Self { rows, table } = self;
        let (mut next, mut end) = (0, if table.is_some() { 0 } else { rows.len() });
        while next < end {
            let middle = next.midpoint(end);
            if rows.at(middle) < block.start {
                next = middle + 1;
            } else {
                end = middle;
            }
        }
        block.map(move |i| match table {
            Some(table) => table[i],
            None if next < rows.len() && rows.at(next) == i => {
                next += 1;
                next - 1
            }
            None => ABSENT,
        })
    }
}

/// Writer of consecutive rows of C.
struct Rows<'a, 'b, W, I: Index> {
    c: (&'a Pattern<I>, &'a [W]),
    to: (&'b mut [I], &'b mut [W]),
    /// Number of entries written.
    n: usize,
    /// Retained entries of a row.
    kept: (Vec<I>, Vec<W>),
    /// Filler value.
    first: W,
}

impl<W: Word, I: Index> Rows<'_, '_, W, I> {
    /// Copies rows unchanged.
    fn copy(&mut self, rows: Range<usize>) {
        let (c, values) = self.c;
        let entries = c.row_ptr()[rows.start]..c.row_ptr()[rows.end];
        let to = self.n..self.n + entries.len();
        self.to.0[to.clone()].copy_from_slice(&c.col_idx()[entries.clone()]);
        self.to.1[to.clone()].copy_from_slice(&values[entries]);
        self.n = to.end;
    }
    /// Writes the entries of row i that satisfy `keeps` merged with new entries, which are disjoint from them. Returns
    /// the number of entries.
    fn merge(&mut self, union: &mut RowUnion, i: usize, keeps: impl Fn(I) -> bool, new: (&[I], &[W])) -> Result<usize> {
        let ((c, values), (cols, kept)) = (self.c, &mut self.kept);
        let js = c.row(i);
        stretch(cols, js.len(), I::default(), "a row")?;
        stretch(kept, js.len(), self.first, "a row")?;
        let mut m = 0;
        // Branch-free: a dropped entry is overwritten by the next.
        for (&j, &x) in js.iter().zip(&values[c.row_ptr()[i]..]) {
            (cols[m], kept[m]) = (j, x);
            m += usize::from(keeps(j));
        }
        let to = (&mut self.to.0[self.n..], &mut self.to.1[self.n..]);
        let len = union.rows((&cols[..m], &kept[..m]), new, to, |_, y| y);
        self.n += len;
        Ok(len)
    }
}

/// C with one value at each position of a mask; rows of both are sorted.
///
/// Cost: O(m + nnz(C) + nnz(M)). If C has all positions of the mask, only values are written.
pub(super) struct FillRows<'a, I: Index> {
    pub(super) threads: &'a Threads,
    pub(super) c: &'a Arc<Pattern<I>>,
    pub(super) mask: &'a Pattern<I>,
}

impl<I: Index> MovesTwo for FillRows<'_, I> {
    type Structure = Arc<Pattern<I>>;
    #[inline(never)]
    fn run<W: Word>(self, of_c: &[W], s: &[W]) -> Result<(Arc<Pattern<I>>, Vec<W>)> {
        let Self { threads, c, mask } = self;
        if c.shape() != mask.shape() {
            return Err(Error::Shape { op: "mask", lhs: c.shape(), rhs: mask.shape() });
        }
        let s = s[0];
        let (ptr, lacks) = (c.row_ptr(), AtomicBool::new(mask.nnz() > c.nnz()));
        if !lacks.load(Relaxed) {
            let values = fill_words(threads, "assign", &row_blocks(c)?, &|i| ptr[i], s, &|rows, to| {
                if lacks.load(Relaxed) {
                    return;
                }
                let mut start = 0;
                for i in rows {
                    let (js, xs, allowed) = (c.row(i), &of_c[ptr[i]..ptr[i + 1]], mask.row(i));
                    let to = &mut to[start..start + js.len()];
                    start += js.len();
                    if let Some(last) = allowed.len().checked_sub(1) {
                        // While the row has them all, the next mask column is here or still to come.
                        let mut q = 0;
                        for ((to, &x), &j) in to.iter_mut().zip(xs).zip(js) {
                            let met = (allowed[q.min(last)] == j) & (q <= last);
                            *to = if met { s } else { x };
                            q += usize::from(met);
                        }
                        if q <= last {
                            return lacks.store(true, Relaxed);
                        }
                    } else {
                        to.copy_from_slice(xs);
                    }
                }
            })?;
            if !lacks.into_inner() {
                return Ok((Arc::clone(c), values));
            }
        }
        let new = filled(mask.nnz(), s, "values of an assign")?;
        let (pattern, values) = PutRows { threads, a: c, b: mask }.run(of_c, &new)?;
        Ok((Arc::new(pattern), values))
    }
}

/// The positions a mask allows in a row, queried in increasing column order.
struct Allowed<'a, I> {
    allowed: Option<(&'a [I], bool)>,
    at: usize,
}
impl<I: Index> Allowed<'_, I> {
    #[inline(always)]
    fn has(&mut self, j: I) -> bool {
        let Some((row, complement)) = self.allowed else { return true };
        while row.get(self.at).is_some_and(|k| *k < j) {
            self.at += 1;
        }
        (row.get(self.at) == Some(&j)) != complement
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sorted and unsorted lists of every kind, queried in blocks with arbitrary starts.
    #[test]
    fn each_row_finds_its_source() {
        let lists: [IndexList; 8] = [
            IndexList::all(),
            (3..17).into(),
            (5..5).into(),
            IndexList::strided(1, 4, 5),
            IndexList::strided(19, -3, 6),
            vec![0, 4, 5, 19].into(),
            vec![7, 2, 11].into(),
            vec![19].into(),
        ];
        for list in &lists {
            let rows = list.check("rows", 20).unwrap();
            let sources = Sources::new(&rows, 20).unwrap();
            for block in [0..20, 0..1, 3..9, 7..7, 19..20, 4..20] {
                let want = block.clone().map(|i| (0..rows.len()).find(|&p| rows.at(p) == i).unwrap_or(ABSENT));
                assert!(sources.of(block.clone()).eq(want), "{list:?}, {block:?}");
            }
        }
    }
}
