//! Triangles at rows that are short: the inner loop of counting without new names.
//!
//! A triangle c < b < i is found once, at row i: b and c stand before the diagonal there, and c in row b. Row b is at
//! hand then, so it is also seen whether it names i, which makes the matrix symmetric.

use std::ops::Range;

use crate::{Index, Pattern};

/// What was found in some rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Corners {
    /// Triangles whose largest vertex is one of the rows.
    pub(crate) triangles: u64,
    /// Entries below the diagonal; each has its mirror image.
    pub(crate) below: u64,
    /// Entries on the diagonal.
    pub(crate) diagonal: u64,
}

/// Triangles with their largest vertex in `rows` of a square, sorted pattern; `None` if an entry below the diagonal
/// there has no mirror image, or more than `budget` comparisons, of up to 16 columns with one, would be needed beside
/// those of short rows.
///
/// Cost: O(l l'/16) for an entry before which there are l in its row, if the row of its column has l' below the
/// diagonal.
/// # Panics
/// If there are no such rows.
pub(crate) fn corners_at<I: Index>(a: &Pattern<I>, rows: Range<usize>, budget: u64) -> Option<Corners> {
    assert!(a.nrows() == a.ncols() && a.is_sorted() && rows.end <= a.nrows());
    #[cfg(target_arch = "x86_64")]
    {
        use std::any::Any;
        let any: &dyn Any = a;
        if let Some(a) = any.downcast_ref::<Pattern<u32>>()
            && super::has_v4()
        {
            // SAFETY: the processor has the instructions; `a` is square, and has the rows.
            return unsafe { v4::corners(a, rows, budget) };
        }
    }
    super::dispatch(|| one_by_one(a, rows, budget))
}

/// Comparisons of a list of so many columns with another.
#[inline(always)]
fn cost(len: usize, other: usize) -> u64 {
    let (short, long) = if len < other { (len, other) } else { (other, len) };
    short as u64 * (long.div_ceil(16) as u64)
}

#[inline(always)]
fn one_by_one<I: Index>(a: &Pattern<I>, rows: Range<usize>, budget: u64) -> Option<Corners> {
    let below = |i: usize| {
        let row = a.row(i);
        (row, row.partition_point(|j| j.get() < i))
    };
    let (mut found, mut left) = (Corners::default(), budget);
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
mod v4 {
    use super::{Corners, Pattern, Range, cost};
    use std::arch::x86_64::{
        _mm512_cmpeq_epi32_mask, _mm512_cmplt_epu32_mask, _mm512_mask_cmpeq_epi32_mask, _mm512_maskz_loadu_epi32,
        _mm512_set1_epi32,
    };

    /// Rows of so many columns are looked at from end to end.
    const SHORT: usize = 64;

    /// So few columns are looked for one by one in a longer row.
    const FEW: usize = 4;

    /// The first `len` lanes.
    #[inline(always)]
    fn lanes(len: usize) -> u16 {
        if len < 16 { (1 << len) - 1 } else { u16::MAX }
    }

    /// How many of `few` are among the `many`, of which none stands twice.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn met(few: &[u32], many: &[u32]) -> u32 {
        let mut sum = 0;
        for sixteen in many.chunks(16) {
            let at = lanes(sixteen.len());
            // SAFETY: the lanes loaded lie in the chunk.
            let many = unsafe { _mm512_maskz_loadu_epi32(at, sixteen.as_ptr().cast()) };
            // No two of the few meet the same lane.
            let mut met = 0;
            for &c in few {
                met |= _mm512_mask_cmpeq_epi32_mask(at, many, _mm512_set1_epi32(c as i32));
            }
            sum += met.count_ones();
        }
        sum
    }

    /// # Safety
    /// `a` is square and has the rows.
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) unsafe fn corners(a: &Pattern<u32>, rows: Range<usize>, budget: u64) -> Option<Corners> {
        let (ptr, cols) = (a.row_ptr(), a.col_idx());
        // SAFETY: for a row of `a`: 1. its pointers are there; 2. they name a range of `cols`.
        let row = |i: usize| unsafe { cols.get_unchecked(*ptr.get_unchecked(i)..*ptr.get_unchecked(i + 1)) };
        let (mut found, mut left) = (Corners::default(), budget);
        for i in rows {
            let own = row(i);
            let name = _mm512_set1_epi32(i as i32);
            let len = if own.len() <= 16 {
                let at = lanes(own.len());
                // SAFETY: the lanes loaded lie in the row.
                let own = unsafe { _mm512_maskz_loadu_epi32(at, own.as_ptr().cast()) };
                found.diagonal += u64::from((_mm512_cmpeq_epi32_mask(own, name) & at).count_ones());
                (_mm512_cmplt_epu32_mask(own, name) & at).count_ones() as usize
            } else {
                let len = own.partition_point(|&j| j < i as u32);
                found.diagonal += u64::from(own.get(len) == Some(&(i as u32)));
                len
            };
            found.below += len as u64;
            for t in 0..len {
                let (before, b) = (&own[..t], own[t]);
                // A column is below ncols = nrows.
                let other = row(b as usize);
                if t <= 16 && other.len() <= SHORT {
                    let (mut named, mut met) = (0, 0);
                    for sixteen in other.chunks(16) {
                        let at = lanes(sixteen.len());
                        // SAFETY: the lanes loaded lie in the chunk.
                        let other = unsafe { _mm512_maskz_loadu_epi32(at, sixteen.as_ptr().cast()) };
                        named |= _mm512_mask_cmpeq_epi32_mask(at, other, name);
                        // Columns are distinct, so that no two meet the same lane.
                        let mut lanes = 0;
                        for &c in before {
                            lanes |= _mm512_mask_cmpeq_epi32_mask(at, other, _mm512_set1_epi32(c as i32));
                        }
                        met += lanes.count_ones();
                    }
                    if named == 0 {
                        return None;
                    }
                    found.triangles += u64::from(met);
                    continue;
                }
                if t <= FEW {
                    // The row of a hub: of it only what is looked for is read.
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
                found.triangles += u64::from(met(few, many));
            }
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of all lengths, in and beyond a register, with and without a hub: by vectors, one by one, and by the
    /// definition.
    #[test]
    fn vectors_find_what_a_table_finds() {
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
            let mut want = Corners::default();
            for i in 0..n {
                want.diagonal += u64::from(joined[i][i]);
                for b in (0..i).filter(|&b| joined[i][b]) {
                    want.below += 1;
                    want.triangles += (0..b).filter(|&c| joined[i][c] && joined[b][c]).count() as u64;
                }
            }
            assert_eq!(corners_at(&a, 0..n, u64::MAX), Some(want));
            assert_eq!(one_by_one(&a, 0..n, u64::MAX), Some(want));
            // Without one entry, wherever it is: nothing, or fewer below than above.
            let cols = a.col_idx();
            for gone in 0..if cfg!(miri) { 2 } else { cols.len().min(200) } {
                let i = a.row_ptr().partition_point(|&p| p <= gone) - 1;
                if cols[gone] as usize == i {
                    continue;
                }
                let ptr = a.row_ptr().iter().enumerate().map(|(r, &p)| p - usize::from(r > i)).collect();
                let cols = [&cols[..gone], &cols[gone + 1..]].concat();
                let less = Pattern::<u32>::new(n, n, ptr, cols).unwrap();
                for found in [corners_at(&less, 0..n, u64::MAX), one_by_one(&less, 0..n, u64::MAX)] {
                    let symmetric = |f: Corners| 2 * f.below + f.diagonal == less.nnz() as u64;
                    assert!(found.is_none_or(|f| !symmetric(f)), "{found:?}");
                }
            }
        }
    }

    #[test]
    fn the_budget_ends_it() {
        let n = 200;
        let full =
            Pattern::<u32>::new(n, n, (0..=n).map(|i| i * n).collect(), (0..n as u32).collect::<Vec<_>>().repeat(n));
        let full = full.unwrap();
        assert_eq!(corners_at(&full, 0..n, 10), None);
        assert_eq!(one_by_one(&full, 0..n, 10), None);
        assert_eq!(corners_at(&full, 0..n, u64::MAX).map(|f| f.triangles), Some((200 * 199 * 198 / 6) as u64));
    }
}
