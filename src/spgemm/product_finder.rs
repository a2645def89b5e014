//! Finds the products of a row that a mask allows, before they are computed.
//!
//! A table holds the slot of each allowed column. Each row of B is filtered by that table, branch-free
//! ([`MaskedProducts`]). Under a short mask all products are listed instead, and each allowed column is compared with
//! those of sixteen products at once: short rows of B fill a register together, and no table occupies a cache.

use std::ops::Range;

use super::budget::bytes_of;
use super::choice;
use crate::par::filled;
use crate::simd::{MASKED_AT_ONCE, MaskedProducts, NONE, RowsOf, within};
use crate::{Index, Pattern, Result};

/// Slots of columns, and the products found. One per thread.
pub(super) struct ProductFinder {
    slots: Vec<u32>,
    found: MaskedProducts,
    /// Whether `found` has all products of the last row.
    whole: bool,
}

/// Widest C with a table of columns; wider ones are searched.
pub(super) const WIDEST: usize = 1 << 28;
/// Most entries that are counted in four bytes.
const ENTRIES: usize = u32::MAX as usize;

impl ProductFinder {
    /// For rows of `ncols` columns, none of which has a slot.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(super) fn new<I: Index>(ncols: usize) -> Result<Self> {
        Ok(Self {
            slots: filled(places(ncols), NONE, "slots of columns")?,
            found: MaskedProducts::new::<I>()?,
            whole: false,
        })
    }
    /// Bytes that [`new`](Self::new) takes.
    pub(super) fn bytes(ncols: usize) -> u128 {
        bytes_of::<u32>(places(ncols)) + MaskedProducts::BYTES
    }
    /// Whether products of these can be listed.
    pub(super) fn suits<I: Index>((a, b): (&Pattern<I>, &Pattern<I>)) -> bool {
        a.nnz().max(b.nnz()) <= ENTRIES && b.ncols() <= WIDEST
    }
    /// Calls `compute` with the products of row `i` of A whose columns are among `cols`, their slots being the
    /// positions there, some at a time and in order; then no column has a slot.
    #[inline(always)]
    pub(super) fn row<I: Index>(
        &mut self,
        (a, b): (&Pattern<I>, &Pattern<I>),
        i: usize,
        part: Option<&Range<usize>>,
        cols: &[I],
        compute: impl FnMut(&MaskedProducts),
    ) {
        let compares = self.found.compares(cols.len()) && choice::compares(b.shape(), b.nnz());
        self.row_by((a, b), i, part, cols, compares, compute);
    }
    /// The products of a row of A that has columns `ks` where the row before, the last that was asked for, has
    /// `before`, if that can be told from the latter's: where rows `ks` of B and the columns that count are those of
    /// the row before, all shifted equally.
    #[inline(always)]
    pub(super) fn shifted<I: Index>(&mut self, b: &Pattern<I>, (ks, before): (&[I], &[I])) -> Option<&MaskedProducts> {
        let mut far = ks.iter().zip(before).map(|(k, l)| b.row_ptr()[k.get()].wrapping_sub(b.row_ptr()[l.get()]));
        let by = far.next()?;
        if !self.whole || !far.all(|far| far == by) {
            return None;
        }
        self.found.move_by(by as u32);
        Some(&self.found)
    }
    /// As [`row`](Self::row): columns are compared, or looked up.
    #[inline(always)]
    fn row_by<I: Index>(
        &mut self,
        (a, b): (&Pattern<I>, &Pattern<I>),
        i: usize,
        part: Option<&Range<usize>>,
        cols: &[I],
        compares: bool,
        mut compute: impl FnMut(&MaskedProducts),
    ) {
        let Self { slots, found, whole } = self;
        found.clear();
        *whole = true;
        let (of_a, of_b, last) = (RowsOf::without_values(a), RowsOf::without_values(b), slots.len() - 1);
        let told = if compares { &[] } else { cols };
        for (s, j) in (0..).zip(told) {
            slots[j.get() & last] = s;
        }
        let mut done = |found: &mut MaskedProducts| {
            if compares {
                found.keep(cols);
            }
            compute(found);
        };
        let (ks, soon, in_order) = (of_a.row(i).0, of_a.columns_after(i, AHEAD), b.is_sorted());
        for (p, k) in ks.iter().enumerate() {
            if let Some(k) = soon.get(p) {
                of_b.prefetch(k.get());
            }
            let (mut js, mut q) = (of_b.row(k.get()).0, b.row_ptr()[k.get()]);
            if let Some(part) = part {
                let range = within(js, part);
                (js, q) = (&js[range.clone()], q + range.start);
            }
            // Of the row of a hub only what counts is looked for.
            let searches = in_order && js.len() / SEARCHED > cols.len();
            let mut first = 0;
            while !js.is_empty() {
                if found.is_full() {
                    done(found);
                    found.clear();
                    *whole = false;
                }
                if searches {
                    let some = &cols[first..cols.len().min(first + MASKED_AT_ONCE)];
                    found.search(p as u32, q as u32, js, (some, first), compares);
                    first += some.len();
                    if first == cols.len() {
                        break;
                    }
                    continue;
                }
                let some = &js[..js.len().min(MASKED_AT_ONCE)];
                if compares {
                    found.list(p as u32, q as u32, some);
                } else {
                    found.add(p as u32, q as u32, some, slots);
                }
                (js, q) = (&js[some.len()..], q + some.len());
            }
        }
        done(found);
        for j in told {
            slots[j.get() & last] = NONE;
        }
    }
}

/// Columns that are passed over in the time in which one is searched for.
const SEARCHED: usize = 16;

/// Entries of A ahead of the current one whose rows of B are asked for.
const AHEAD: usize = 8;

fn places(ncols: usize) -> usize {
    ncols.max(1).next_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One entry of A, whose row of B is all columns: a mask longer than what is searched for at once.
    #[test]
    fn a_long_mask_beside_a_hub() {
        let n = MASKED_AT_ONCE * (SEARCHED + 1) * 2;
        let a = Pattern::<u32>::new(1, 1, vec![0, 1], vec![0]).unwrap();
        let b = Pattern::<u32>::new(1, n, vec![0, n], (0..n as u32).collect()).unwrap();
        let cols: Vec<u32> = (0..n as u32).step_by(SEARCHED + 1).collect();
        assert!(cols.len() > MASKED_AT_ONCE && n / SEARCHED > cols.len());
        let (mut finder, mut found) = (ProductFinder::new::<u32>(n).unwrap(), vec![]);
        finder.row((&a, &b), 0, None, &cols, |list| {
            let (_, q, s) = list.each();
            found.extend(q.iter().copied().zip(s.iter().copied()));
        });
        assert_eq!(found, cols.iter().copied().zip(0..).collect::<Vec<_>>());
    }

    /// More products than are remembered at once, in rows of B of any length: by either way those of the definition, in
    /// order.
    #[test]
    fn either_way_lists_what_counts() {
        let n = 2000usize;
        let row = |i: usize, len: usize| {
            let mut cols: Vec<u32> = (0..len).map(|t| ((i * 7919 + t * 613) % n) as u32).collect();
            cols.sort_unstable();
            cols.dedup();
            cols
        };
        let of = |len: &dyn Fn(usize) -> usize| {
            let rows: Vec<Vec<u32>> = (0..n).map(|i| row(i, len(i))).collect();
            let ends = rows.iter().scan(0, |end, row| {
                *end += row.len();
                Some(*end)
            });
            Pattern::<u32>::new(n, n, std::iter::once(0).chain(ends).collect(), rows.concat()).unwrap()
        };
        let (a, b) = (of(&|i| i % 60), of(&|k| if k % 9 == 0 { 700 } else { k % 40 }));
        let mut finder = ProductFinder::new::<u32>(n).unwrap();
        for (i, part) in (0..n).step_by(7).zip([None, Some(300..1500)].iter().cycle()) {
            let mut mask = row(i + 1, i % 17);
            mask.retain(|j| part.as_ref().is_none_or(|part| part.contains(&(*j as usize))));
            let mut want = Vec::new();
            for (p, k) in a.row(i).iter().enumerate() {
                for q in b.row_ptr()[k.get()]..b.row_ptr()[k.get() + 1] {
                    if let Ok(s) = mask.binary_search(&b.col_idx()[q]) {
                        want.push((p as u32, q as u32, s as u32));
                    }
                }
            }
            for compares in [false, finder.found.compares(mask.len())] {
                let mut found = Vec::new();
                finder.row_by((&a, &b), i, part.as_ref(), &mask, compares, |list| {
                    let (p, q, s) = list.each();
                    found.extend(p.iter().zip(q).zip(s).map(|((&p, &q), &s)| (p, q, s)));
                });
                assert_eq!(found, want, "row {i}, compared: {compares}");
            }
        }
    }
}
