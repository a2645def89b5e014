//! Triangle counting at short rows, without relabeling: the inner loop.
//!
//! A triangle c < b < i is found once, at row i: b and c precede the diagonal in row i, and c is in row b. Since row b
//! is being read, whether it contains i is checked as well, which establishes symmetry.

use std::ops::Range;

use crate::{Index, Pattern};

/// The counts of some rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClosedWedges {
    /// Triangles whose largest vertex is one of the rows.
    pub(crate) triangles: u64,
    /// Entries below the diagonal; each has its mirror image.
    pub(crate) below: u64,
    /// Entries on the diagonal.
    pub(crate) diagonal: u64,
}

/// Triangles with their largest vertex in `rows` of a square, sorted pattern. `None` if an entry below the diagonal
/// there has no mirror image, or if comparisons beyond those of short rows exceed `budget`, each of one column with up
/// to 16.
///
/// Cost: O(l l'/16) for an entry with l entries before it in its row, if the row of its column has l' entries below the
/// diagonal.
/// # Panics
/// If the pattern is not square and sorted, or does not have these rows.
pub(crate) fn close_wedges<I: Index>(a: &Pattern<I>, rows: Range<usize>, budget: u64) -> Option<ClosedWedges> {
    assert!(a.nrows() == a.ncols() && a.is_sorted() && rows.end <= a.nrows());
    #[cfg(target_arch = "x86_64")]
    {
        use std::any::Any;
        let any: &dyn Any = a;
        if let Some(a) = any.downcast_ref::<Pattern<u32>>()
            && a.ncols() <= i32::MAX as usize
            && super::has_v3()
        {
            // SAFETY: the processor has the instructions; `a` is square, narrow enough, and has the rows.
            return unsafe { if super::has_v4() { x86::v4(a, rows, budget) } else { x86::v3(a, rows, budget) } };
        }
    }
    super::dispatch(|| one_by_one(a, rows, budget))
}

/// Comparisons of a list of `len` columns with one of `other` columns.
#[inline(always)]
fn cost(len: usize, other: usize) -> u64 {
    let (short, long) = if len < other { (len, other) } else { (other, len) };
    short as u64 * (long.div_ceil(16) as u64)
}

#[inline(always)]
fn one_by_one<I: Index>(a: &Pattern<I>, rows: Range<usize>, budget: u64) -> Option<ClosedWedges> {
    let below = |i: usize| {
        let row = a.row(i);
        (row, row.partition_point(|j| j.get() < i))
    };
    let (mut found, mut left) = (ClosedWedges::default(), budget);
    for i in rows {
        let (row, len) = below(i);
        for t in 0..len {
            let (other, prefix) = below(row[t].get());
            left = left.checked_sub(cost(t, prefix))?;
            other[prefix..].binary_search(&I::cast(i)).ok()?;
            let mut cs = other[..prefix].iter().peekable();
            for c in &row[..t] {
                while cs.next_if(|x| *x < c).is_some() {}
                found.triangles += u64::from(cs.next_if_eq(&c).is_some());
            }
        }
        found.below += len as u64;
        found.diagonal += u64::from(row.get(len).is_some_and(|j| j.get() == i));
    }
    Some(found)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{ClosedWedges, Pattern, Range, cost};
    use crate::simd::lanes::Lanes;
    use std::arch::x86_64::{__m256i, __m512i};

    /// Longest row that is read from end to end.
    const SHORT: usize = 64;

    /// Most columns that are held in one register each, or searched for individually in a longer row.
    const FEW: usize = 4;

    /// Longest list that is compared with rows of up to [`SHORT`] columns regardless of the budget.
    const FREE: usize = 16;

    /// Number of columns of `few` that are in `many`, which has no repeats.
    #[inline(always)]
    unsafe fn common<R: Lanes>(few: &[u32], many: &[u32]) -> u32 {
        let mut sum = 0;
        for part in many.chunks(R::LANES) {
            // SAFETY: the caller's promise: the processor has the instructions.
            unsafe {
                let columns = R::load(part);
                let mut hits = R::none();
                for &c in few {
                    hits = R::or(hits, columns.equal(R::splat(c)));
                }
                sum += R::count(hits, part.len());
            }
        }
        sum
    }

    /// # Safety
    /// `a` is square, of fewer than 2³¹ columns, and has the rows; the processor has the instructions.
    #[inline(always)]
    unsafe fn wedges<R: Lanes>(a: &Pattern<u32>, rows: Range<usize>, budget: u64) -> Option<ClosedWedges> {
        let (ptr, cols) = (a.row_ptr(), a.col_idx());
        // SAFETY: for a row of `a`: 1. its pointers exist; 2. they delimit a range of `cols`.
        let row = |i: usize| unsafe { cols.get_unchecked(*ptr.get_unchecked(i)..*ptr.get_unchecked(i + 1)) };
        let (mut found, mut left) = (ClosedWedges::default(), budget);
        for i in rows {
            let own = row(i);
            // SAFETY: the caller's promise, here and below: the processor has the instructions. Each load fits a
            // register.
            let (name, first) = unsafe { (R::splat(i as u32), R::load(&own[..own.len().min(R::LANES)])) };
            let len = if own.len() <= R::LANES {
                // SAFETY: as above.
                unsafe {
                    found.diagonal += u64::from(R::count(first.equal(name), own.len()));
                    R::count(first.below(name), own.len()) as usize
                }
            } else {
                let len = own.partition_point(|&j| j < i as u32);
                found.diagonal += u64::from(own.get(len) == Some(&(i as u32)));
                len
            };
            found.below += len as u64;
            // Lanes beyond the list are not below i. (A closure would be compiled without the instructions.)
            // SAFETY: as above.
            let few = unsafe { [first.lane(0), first.lane(1), first.lane(2), first.lane(3)] };
            for t in 0..len {
                let (before, b) = (&own[..t], own[t]);
                // A column is below ncols = nrows.
                let other = row(b as usize);
                if t <= FREE && other.len() <= SHORT {
                    // SAFETY: as above, and a part fits a register.
                    unsafe {
                        let (mut named, bound) = (R::none(), R::splat(b));
                        for part in other.chunks(R::LANES) {
                            let columns = R::load(part);
                            named = R::or(named, columns.equal(name));
                            let mut hits = R::none();
                            if t == 0 {
                                continue;
                            } else if len <= FEW && R::LANES == 8 {
                                // Compares with the whole list at once, and discards columns that are not below b. No
                                // branch depends on t, which saves more than the comparisons cost; with masks of
                                // sixteen lanes it does not.
                                for c in few {
                                    hits = R::or(hits, columns.equal(c));
                                }
                                hits = R::and(hits, columns.below(bound));
                            } else {
                                for &c in before {
                                    hits = R::or(hits, columns.equal(R::splat(c)));
                                }
                            }
                            found.triangles += u64::from(R::count(hits, part.len()));
                        }
                        if R::count(named, R::LANES) == 0 {
                            return None;
                        }
                    }
                    continue;
                }
                if t <= FEW {
                    // A hub's row: only the probed columns are read.
                    left = left.checked_sub(t as u64)?;
                    other.binary_search(&(i as u32)).ok()?;
                    found.triangles += before.iter().map(|c| u64::from(other.binary_search(c).is_ok())).sum::<u64>();
                    continue;
                }
                let prefix = other.partition_point(|&j| j < b);
                left = left.checked_sub(cost(t, prefix))?;
                other[prefix..].binary_search(&(i as u32)).ok()?;
                let other = &other[..prefix];
                let (few, many) = if t < prefix { (before, other) } else { (other, before) };
                // SAFETY: as above.
                found.triangles += u64::from(unsafe { common::<R>(few, many) });
            }
        }
        Some(found)
    }

    /// # Safety
    /// `a` is square, of fewer than 2³¹ columns, and has the rows.
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) unsafe fn v3(a: &Pattern<u32>, rows: Range<usize>, budget: u64) -> Option<ClosedWedges> {
        // SAFETY: the caller's promise, and the features are enabled here.
        unsafe { wedges::<__m256i>(a, rows, budget) }
    }

    /// # Safety
    /// As [`v3`].
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) unsafe fn v4(a: &Pattern<u32>, rows: Range<usize>, budget: u64) -> Option<ClosedWedges> {
        // SAFETY: as above.
        unsafe { wedges::<__m512i>(a, rows, budget) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of all lengths, within and beyond a register, with and without a hub: vectors and the scalar loop, compared
    /// with the definition.
    #[test]
    fn vectors_agree_with_a_table() {
        let mut state = 7u64;
        let mut next = move |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for (n, edges, hub) in [(1, 0, false), (9, 12, true), (60, 150, false), (90, 900, true), (100, 3000, false)] {
            let mut joined = vec![vec![false; n]; n];
            for _ in 0..edges {
                let (i, j) = (next(n), next(n));
                (joined[i][j], joined[j][i]) = (true, true);
            }
            if hub {
                joined[n / 2].fill(true);
                joined.iter_mut().for_each(|row| row[n / 2] = true);
            }
            let rows: Vec<Vec<u32>> = joined
                .iter()
                .map(|row| (0u32..).zip(row).filter(|(_, joined)| **joined).map(|(j, _)| j).collect())
                .collect();
            let ptr = std::iter::once(0).chain(rows.iter().scan(0, |p, row| {
                *p += row.len();
                Some(*p)
            }));
            let a = Pattern::<u32>::new(n, n, ptr.collect(), rows.concat()).unwrap();
            let mut want = ClosedWedges::default();
            for i in 0..n {
                want.diagonal += u64::from(joined[i][i]);
                for b in (0..i).filter(|&b| joined[i][b]) {
                    want.below += 1;
                    want.triangles += (0..b).filter(|&c| joined[i][c] && joined[b][c]).count() as u64;
                }
            }
            assert_eq!(close_wedges(&a, 0..n, u64::MAX), Some(want));
            assert_eq!(one_by_one(&a, 0..n, u64::MAX), Some(want));
            // With one entry removed, wherever it is: `None`, or fewer entries below the diagonal than above.
            let cols = a.col_idx();
            for gone in 0..if cfg!(miri) { 2 } else { cols.len().min(200) } {
                let i = a.row_ptr().partition_point(|&p| p <= gone) - 1;
                if cols[gone] as usize == i {
                    continue;
                }
                let ptr = a.row_ptr().iter().enumerate().map(|(r, &p)| p - usize::from(r > i)).collect();
                let cols = [&cols[..gone], &cols[gone + 1..]].concat();
                let less = Pattern::<u32>::new(n, n, ptr, cols).unwrap();
                for found in [close_wedges(&less, 0..n, u64::MAX), one_by_one(&less, 0..n, u64::MAX)] {
                    let symmetric = |f: ClosedWedges| 2 * f.below + f.diagonal == less.nnz() as u64;
                    assert!(found.is_none_or(|f| !symmetric(f)), "{found:?}");
                }
            }
        }
    }

    #[test]
    fn the_budget_stops_the_search() {
        let n = 200;
        let full =
            Pattern::<u32>::new(n, n, (0..=n).map(|i| i * n).collect(), (0..n as u32).collect::<Vec<_>>().repeat(n));
        let full = full.unwrap();
        assert_eq!(close_wedges(&full, 0..n, 10), None);
        assert_eq!(one_by_one(&full, 0..n, 10), None);
        assert_eq!(close_wedges(&full, 0..n, u64::MAX).map(|f| f.triangles), Some((200 * 199 * 198 / 6) as u64));
    }
}
