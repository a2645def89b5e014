//! Triangle counting by the algorithm *forward*: the inner loops.
//!
//! Each edge is directed from its end of lower degree to the other, with ties broken by the vertex number. A triangle
//! u, v, w is found once: v and w are out-neighbors of u, and w of v.

use std::ops::Range;

use crate::{Index, Pattern};

/// Longest row that is scanned rather than searched.
const SHORT: usize = 64;

/// Offset and number of a vertex's out-neighbors.
pub(crate) type Span = [u32; 2];

/// Counts of some rows of a square matrix, if each of their entries (i, j), j < i, has a mirror image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mirrored {
    /// Entries below the diagonal. If these are half of the off-diagonal entries over all rows of a matrix, it is
    /// symmetric.
    pub(crate) below: u64,
    /// Entries on the diagonal.
    pub(crate) diagonal: u64,
}

/// Output arrays for the out-neighbors of some vertices.
pub(crate) struct Oriented<'a> {
    /// One per vertex.
    pub(crate) spans: &'a mut [Span],
    /// Out-neighbors; as long as the rows' entries.
    pub(crate) heads: &'a mut [u32],
    /// The offset of the first head in the list of all vertices.
    pub(crate) base: usize,
}

/// Checks that the entries below the diagonal in `rows` of a square, sorted pattern have mirror images, and optionally
/// lists the out-neighbors of each row in row order; `None` if an entry has no mirror image.
///
/// With rows processed in order, the rows i that contain j < i come in the order in which row j contains them. So a
/// cursor ("finger") in row j, advanced by each of them, points to the next one or shows that it is missing. For rows j
/// before `rows`, a finger is initialized by a search on first use.
/// # Panics
/// If there are no such rows; if `fingers` is not one zero for each row, fewer than 2³²; if the lists have no room, or
/// there are 2³² entries or more to list.
pub(crate) fn mirrored<I: Index>(
    a: &Pattern<I>,
    rows: Range<usize>,
    fingers: &mut [u32],
    oriented: Option<Oriented<'_>>,
) -> Option<Mirrored> {
    match oriented {
        Some(oriented) => super::dispatch_work(Walk::<I, true> { a, rows, fingers, oriented }),
        None => {
            let oriented = Oriented { spans: &mut [], heads: &mut [], base: 0 };
            super::dispatch_work(Walk::<I, false> { a, rows, fingers, oriented })
        }
    }
}

struct Walk<'a, I: Index, const LIST: bool> {
    a: &'a Pattern<I>,
    rows: Range<usize>,
    fingers: &'a mut [u32],
    oriented: Oriented<'a>,
}

impl<I: Index, const LIST: bool> super::Work for Walk<'_, I, LIST> {
    type Out = Option<Mirrored>;
    #[inline(always)]
    fn run(self) -> Option<Mirrored> {
        let Self { a, rows, fingers, oriented: Oriented { spans, heads, base } } = self;
        let (n, ptr, cols, first) = (a.nrows(), a.row_ptr(), a.col_idx(), rows.start);
        assert!(a.ncols() == n && a.is_sorted() && rows.end <= n && fingers.len() == n && n <= u32::MAX as usize);
        if LIST {
            let entries = ptr[rows.end] - ptr[rows.start];
            assert!(spans.len() == rows.len() && heads.len() == entries && base + entries <= u32::MAX as usize);
        }
        let (mut found, mut listed) = (Mirrored::default(), 0);
        for u in rows {
            // SAFETY: 1. u and its columns are rows of the square `a`, so their pointers exist and delimit entries; 2.
            // there is one finger per row, and one span per processed row; 3. there is one head per entry of the rows,
            // and `listed` counts some of the entries passed.
            unsafe {
                let (begin, end) = (*ptr.get_unchecked(u), *ptr.get_unchecked(u + 1));
                let (degree, before) = (end - begin, listed);
                let mut at = begin;
                while at < end {
                    let v = cols.get_unchecked(at).get();
                    if v >= u {
                        break;
                    }
                    let row = cols.get_unchecked(*ptr.get_unchecked(v)..*ptr.get_unchecked(v + 1));
                    let finger = fingers.get_unchecked_mut(v);
                    if *finger == 0 && v < first {
                        // Short rows are counted with vectors: the branches of a search are unpredictable.
                        let before = |j: &I| j.get() < first;
                        *finger = if row.len() <= SHORT {
                            row.iter().map(|j| u32::from(before(j))).sum()
                        } else {
                            row.partition_point(before) as u32
                        };
                    }
                    if row.get(*finger as usize).is_none_or(|i| i.get() != u) {
                        return None;
                    }
                    // A row has at most n < 2³² columns.
                    *finger += 1;
                    if LIST {
                        *heads.get_unchecked_mut(listed) = v as u32;
                        listed += usize::from(row.len() > degree);
                    }
                    at += 1;
                }
                found.below += (at - begin) as u64;
                if at < end && cols.get_unchecked(at).get() == u {
                    found.diagonal += 1;
                    at += 1;
                }
                *fingers.get_unchecked_mut(u) = (at - begin) as u32;
                if LIST {
                    for v in cols.get_unchecked(at..end) {
                        let v = v.get();
                        *heads.get_unchecked_mut(listed) = v as u32;
                        listed += usize::from(*ptr.get_unchecked(v + 1) - *ptr.get_unchecked(v) >= degree);
                    }
                    *spans.get_unchecked_mut(u - first) = [(base + before) as u32, (listed - before) as u32];
                }
            }
        }
        Some(found)
    }
}

/// `Σ |out(u) ∩ out(v)|` over the out-neighbors v of the vertices u in `rows`: the triangles whose vertex of lowest
/// degree is in `rows`. Lists have no repeats. `words` is all zeros before and after, and has a bit for each vertex;
/// its length is a power of two.
/// # Panics
/// If a span is out of range, or there are too few words.
pub(crate) fn count_forward(spans: &[Span], heads: &[u32], rows: Range<usize>, words: &mut [u32]) -> u64 {
    assert!(words.len().is_power_of_two() && spans.len() <= words.len().saturating_mul(32));
    #[cfg(target_arch = "x86_64")]
    if super::has_v3() {
        // SAFETY: the processor has the instructions.
        return unsafe {
            if super::has_v4() { x86::v4(spans, heads, rows, words) } else { x86::v3(spans, heads, rows, words) }
        };
    }
    count_scalar(spans, heads, rows, words)
}

#[inline(always)]
fn list(heads: &[u32], [at, len]: Span) -> &[u32] {
    &heads[at as usize..at as usize + len as usize]
}

/// Sets or clears the bits of a list of vertices.
#[inline(always)]
fn mark(words: &mut [u32], list: &[u32], set: bool) {
    for &v in list {
        let word = &mut words[v as usize >> 5];
        *word = if set { *word | 1 << (v & 31) } else { 0 };
    }
}

fn count_scalar(spans: &[Span], heads: &[u32], rows: Range<usize>, words: &mut [u32]) -> u64 {
    let mut sum = 0;
    for &span in spans[rows].iter().filter(|span| span[1] >= 2) {
        let own = list(heads, span);
        mark(words, own, true);
        for &v in own {
            for &w in list(heads, spans[v as usize]) {
                sum += u64::from(words[w as usize >> 5] >> (w & 31) & 1);
            }
        }
        mark(words, own, false);
    }
    sum
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Range, Span, list, mark};
    use crate::simd::lanes::Lanes;
    use std::arch::x86_64::{__m256i, __m512i};

    /// Most out-neighbors that are held in one register each; longer lists are looked up in a bitmap.
    const FEW: usize = 4;

    /// # Safety
    /// The processor has the instructions.
    #[inline(always)]
    unsafe fn count<R: Lanes>(spans: &[Span], heads: &[u32], rows: Range<usize>, words: &mut [u32]) -> u64 {
        let within = (words.len() - 1).min(i32::MAX as usize) as u32;
        let mut sum = 0;
        for &span in spans[rows].iter().filter(|span| span[1] >= 2) {
            let own = list(heads, span);
            if own.len() <= FEW {
                // Lanes beyond the list hold the largest number, which is no vertex. (A closure would be compiled
                // without the instructions.)
                // SAFETY: the caller's promise: the processor has the instructions.
                let few = unsafe {
                    let own = R::load(own);
                    [own.lane(0), own.lane(1), own.lane(2), own.lane(3)]
                };
                for &v in own {
                    for part in list(heads, spans[v as usize]).chunks(R::LANES) {
                        // SAFETY: as above, and the part fits a register.
                        let found = unsafe {
                            let (w, mut hits) = (R::load(part), R::none());
                            for v in few {
                                hits = R::or(hits, w.equal(v));
                            }
                            R::count(hits, part.len())
                        };
                        sum += u64::from(found);
                    }
                }
                continue;
            }
            mark(words, own, true);
            // SAFETY: as above; the mask is an index of `words`, capped below 2³¹.
            sum += unsafe {
                let mut found = R::splat(0);
                for &v in own {
                    for part in list(heads, spans[v as usize]).chunks(R::LANES) {
                        found = found.add(R::load(part).bits(part.len(), words, within));
                    }
                }
                found.sum()
            };
            mark(words, own, false);
        }
        sum
    }

    /// # Safety
    /// The processor has the instructions.
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) unsafe fn v3(spans: &[Span], heads: &[u32], rows: Range<usize>, words: &mut [u32]) -> u64 {
        // SAFETY: the features are enabled here.
        unsafe { count::<__m256i>(spans, heads, rows, words) }
    }

    /// # Safety
    /// The processor has the instructions.
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) unsafe fn v4(spans: &[Span], heads: &[u32], rows: Range<usize>, words: &mut [u32]) -> u64 {
        // SAFETY: as above.
        unsafe { count::<__m512i>(spans, heads, rows, words) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A graph of `n` vertices with loops, isolated vertices and a hub, as rows of columns.
    fn graph(n: usize, edges: usize, seed: u64) -> Vec<std::collections::BTreeSet<u32>> {
        let mut seed = seed;
        let mut next = |below: usize| {
            seed += 1;
            sparring_generate::splitmix64(seed) as usize % below
        };
        let mut rows = vec![std::collections::BTreeSet::new(); n];
        for _ in 0..edges {
            let (i, j) = (next(n), next(n));
            rows[i].insert(j as u32);
            rows[j].insert(i as u32);
        }
        if n > 5 {
            for i in (0..n).step_by(3) {
                rows[n / 2].insert(i as u32);
                rows[i].insert((n / 2) as u32);
            }
        }
        rows
    }

    fn pattern(rows: &[std::collections::BTreeSet<u32>]) -> Pattern<u32> {
        let ends = rows.iter().scan(0, |end, row| {
            *end += row.len();
            Some(*end)
        });
        let cols = rows.iter().flatten().copied().collect();
        Pattern::new(rows.len(), rows.len(), std::iter::once(0).chain(ends).collect(), cols).unwrap()
    }

    /// Rows split anywhere: lists match the definition, and each triangle is counted once with every instruction set.
    #[test]
    fn lists_and_counts_are_the_definition() {
        for (n, edges) in [(1, 0), (1, 1), (7, 9), (40, 60), (90, 1500), (if cfg!(miri) { 60 } else { 300 }, 2500)] {
            let rows = graph(n, edges, n as u64);
            let a = pattern(&rows);
            let rank = |u: u32| (rows[u as usize].len(), u);
            let out = |u: u32| rows[u as usize].iter().copied().filter(|&v| rank(v) > rank(u)).collect::<Vec<_>>();
            let mut want = 0;
            for u in 0..n as u32 {
                want +=
                    out(u).iter().map(|&v| out(v).iter().filter(|w| out(u).contains(w)).count() as u64).sum::<u64>();
            }
            for cut in [0, n / 3, n] {
                let (mut spans, mut heads, mut found) = (vec![[0, 0]; n], vec![0; a.nnz()], Mirrored::default());
                for rows in [0..cut, cut..n] {
                    let base = a.row_ptr()[rows.start];
                    let heads = &mut heads[base..a.row_ptr()[rows.end]];
                    let oriented = Oriented { spans: &mut spans[rows.clone()], heads, base };
                    let part = mirrored(&a, rows, &mut vec![0; n], Some(oriented)).expect("a symmetric matrix");
                    found.below += part.below;
                    found.diagonal += part.diagonal;
                }
                assert_eq!(2 * found.below + found.diagonal, a.nnz() as u64);
                (0..n).for_each(|u| assert_eq!(list(&heads, spans[u]), out(u as u32)));
                let mut words = vec![0; n.div_ceil(32).next_power_of_two()];
                let by = [
                    count_forward(&spans, &heads, 0..n, &mut words),
                    count_scalar(&spans, &heads, 0..cut, &mut words) + count_scalar(&spans, &heads, cut..n, &mut words),
                    #[cfg(target_arch = "x86_64")]
                    if crate::simd::has_v3() {
                        // SAFETY: the processor has the instructions.
                        unsafe { x86::v3(&spans, &heads, 0..n, &mut words) }
                    } else {
                        want
                    },
                ];
                assert!(by.iter().all(|&n| n == want) && words.iter().all(|&w| w == 0), "{by:?}, not {want}");
            }
        }
    }

    /// With one off-diagonal entry removed: no mirror image, or fewer entries below the diagonal than above.
    #[test]
    fn a_missing_entry_is_detected() {
        let n = 40;
        let rows = graph(n, 60, 3);
        for i in 0..n {
            for &j in rows[i].iter().filter(|&&j| j as usize != i) {
                let mut less = rows.clone();
                less[i].remove(&j);
                let a = pattern(&less);
                let parts = [0..n / 2, n / 2..n].map(|rows| mirrored(&a, rows, &mut vec![0; n], None));
                let sum: Option<u64> = parts.into_iter().map(|part| part.map(|p| 2 * p.below + p.diagonal)).sum();
                assert_ne!(sum, Some(a.nnz() as u64), "without {i}, {j}");
            }
        }
    }
}
