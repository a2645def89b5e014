//! The masked-product finder: lists the products of a row that a mask allows, before they are computed.
//!
//! A table holds the slot of each allowed column, and each row of B is filtered by that table, branch-free
//! ([`MaskedProducts`]). Under a short mask all products are listed instead, and each allowed column is compared with
//! the columns of sixteen products at once: short rows of B share a register, and no table occupies the cache.

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
    complete: bool,
}

/// Widest C for which there is a table of columns; rows of wider ones are searched.
pub(super) const WIDEST: usize = 1 << 28;
/// Most entries that a four-byte number can count.
const ENTRIES: usize = u32::MAX as usize;

impl ProductFinder {
    /// For rows of `ncols` columns, none of which has a slot.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(super) fn new<I: Index>(ncols: usize) -> Result<Self> {
        Ok(Self {
            slots: filled(table_len(ncols), NONE, "slots of columns")?,
            found: MaskedProducts::new::<I>()?,
            complete: false,
        })
    }
    /// Bytes that [`new`](Self::new) takes.
    pub(super) fn bytes(ncols: usize) -> u128 {
        bytes_of::<u32>(table_len(ncols)) + MaskedProducts::BYTES
    }
    /// Whether products of these operands can be listed.
    pub(super) fn suits<I: Index>((a, b): (&Pattern<I>, &Pattern<I>)) -> bool {
        a.nnz().max(b.nnz()) <= ENTRIES && b.ncols() <= WIDEST
    }
    /// Calls `compute` with the products of row `i` of A whose columns are among `cols`, in batches and in order; the
    /// slot of a product is the position of its column in `cols`. On return no column has a slot.
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
    /// The products of a row of A with columns `ks`, derived from those of the previous row, which has columns `before`
    /// and was the last one queried. Valid where rows `ks` of B and the allowed columns are those of the previous row,
    /// all shifted equally. `None` if they cannot be derived.
    #[inline(always)]
    pub(super) fn shifted<I: Index>(&mut self, b: &Pattern<I>, (ks, before): (&[I], &[I])) -> Option<&MaskedProducts> {
        let mut far = ks.iter().zip(before).map(|(k, l)| b.row_ptr()[k.get()].wrapping_sub(b.row_ptr()[l.get()]));
        let by = far.next()?;
        if !self.complete || !far.all(|far| far == by) {
            return None;
        }
        self.found.move_by(by as u32);
        Some(&self.found)
    }
    /// As [`row`](Self::row), by comparison or by the table.
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
        let Self { slots, found, complete } = self;
        found.clear();
        *complete = true;
        let (of_a, of_b, last) = (RowsOf::without_values(a), RowsOf::without_values(b), slots.len() - 1);
        let slotted = if compares { &[] } else { cols };
        for (s, j) in (0..).zip(slotted) {
            slots[j.get() & last] = s;
        }
        let mut done = |found: &mut MaskedProducts| {
            if compares {
                found.keep(cols);
            }
            compute(found);
        };
        let (ks, upcoming, in_order) = (of_a.row(i).0, of_a.columns_after(i, AHEAD), b.is_sorted());
        for (p, k) in ks.iter().enumerate() {
            if let Some(k) = upcoming.get(p) {
                of_b.prefetch(k.get());
            }
            let (mut js, mut q) = (of_b.row(k.get()).0, b.row_ptr()[k.get()]);
            if let Some(part) = part {
                let range = within(js, part);
                (js, q) = (&js[range.clone()], q + range.start);
            }
            // In the row of a hub, only the allowed columns are searched for.
            let searches = in_order && js.len() / SEARCHED > cols.len();
            let mut first = 0;
            while !js.is_empty() {
                if found.is_full() {
                    done(found);
                    found.clear();
                    *complete = false;
                }
                if searches {
                    let batch = &cols[first..cols.len().min(first + MASKED_AT_ONCE)];
                    found.search(p as u32, q as u32, js, (batch, first), compares);
                    first += batch.len();
                    if first == cols.len() {
                        break;
                    }
                    continue;
                }
                let batch = &js[..js.len().min(MASKED_AT_ONCE)];
                if compares {
                    found.list(p as u32, q as u32, batch);
                } else {
                    found.add(p as u32, q as u32, batch, slots);
                }
                (js, q) = (&js[batch.len()..], q + batch.len());
            }
        }
        done(found);
        for j in slotted {
            slots[j.get() & last] = NONE;
        }
    }
}

/// Columns that are scanned in the time of one search.
const SEARCHED: usize = 16;

/// Prefetch distance: entries of A ahead of the current one whose rows of B are prefetched.
const AHEAD: usize = 8;

fn table_len(ncols: usize) -> usize {
    ncols.max(1).next_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One entry of A whose row of B has all columns, under a mask longer than one batch of searches.
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

    /// More products than one batch holds, in rows of B of any length: by comparison and by table, the products are
    /// those of the definition, in order.
    #[test]
    fn comparison_and_table_list_the_allowed_products() {
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
