//! Short lists of columns: sorted and deduplicated in registers.

#[cfg(target_arch = "x86_64")]
mod network;

use std::any::TypeId;

use super::rows::RowsOf;
use crate::{Index, Result, par::out_of_memory};

/// Longest list that [`ShortList`] sorts.
pub(crate) const SHORT: usize = 128;

/// Bits of a position in such a list.
const PLACE: u32 = SHORT.ilog2();

/// A list of columns on the stack, filled by [`push_all`](ShortList::push_all).
pub(crate) struct ShortList<I> {
    cols: [I; SHORT + LANES],
    len: usize,
    by: Registers,
}

/// The vectors that sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Registers {
    /// Vectors of sixteen columns (AVX-512).
    Sixteen,
    /// Of eight (AVX2).
    Eight,
    /// None: another index type, or another processor.
    None,
}

impl Registers {
    /// Those of this processor for columns of type `I`; vectors for `u32` only.
    pub(super) fn new<I: Index>() -> Self {
        #[cfg(target_arch = "x86_64")]
        if TypeId::of::<I>() == TypeId::of::<u32>() && super::has_v3() {
            return if super::has_v4() { Self::Sixteen } else { Self::Eight };
        }
        Self::None
    }
}

/// Columns in the widest vector register.
pub(crate) const LANES: usize = 16;

impl<I: Index> ShortList<I> {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self { cols: [I::LAST; SHORT + LANES], len: 0, by: Registers::new::<I>() }
    }

    /// Empties the list.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// Appends `row`, a part of `all`.
    /// # Panics
    /// If the list grows beyond [`SHORT`].
    #[inline(always)]
    pub(crate) fn push_all(&mut self, all: &[I], row: &[I]) {
        assert!(self.len + row.len() <= SHORT);
        let to = &mut self.cols[self.len..];
        let left = (all.as_ptr_range().end as usize).saturating_sub(row.as_ptr() as usize) / size_of::<I>();
        if row.len() <= LANES && left >= LANES && all.as_ptr() <= row.as_ptr() {
            // One whole vector: columns copied beyond the row are overwritten by the next row or by the padding.
            // SAFETY: the row lies in `all`, whose elements reach LANES beyond its start; the list has LANES of slack.
            unsafe { std::ptr::copy_nonoverlapping(row.as_ptr(), to.as_mut_ptr(), LANES) };
        } else {
            to[..row.len()].copy_from_slice(row);
        }
        self.len += row.len();
    }

    /// Writes the columns to `out` in increasing order, without repeats, and returns their number.
    /// # Panics
    /// If `out` is shorter than [`ROOM`](Self::ROOM).
    #[inline(always)]
    pub(crate) fn sort_dedup(&mut self, out: &mut [I]) -> usize {
        assert!(out.len() >= Self::ROOM);
        // SAFETY: `out` has that room.
        unsafe { self.sort_to(out.as_mut_ptr()) }
    }

    /// Appends the columns to `out` in increasing order, without repeats, and returns their number.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    #[inline(always)]
    pub(crate) fn sort_append(&mut self, out: &mut Vec<I>) -> Result<usize> {
        let to = spare(out, Self::ROOM)?;
        // SAFETY: `to` has that room.
        let n = unsafe { self.sort_to(to) };
        // SAFETY: `n` columns were written behind the last, n ≤ SHORT < ROOM ≤ capacity − len.
        unsafe { out.set_len(out.len() + n) };
        Ok(n)
    }

    /// Whether columns below `ncols` can be sorted together with their positions in registers
    /// ([`sort_with_positions`](Self::sort_with_positions)).
    #[inline(always)]
    pub(crate) fn sorts_positions(&self, ncols: usize) -> bool {
        self.by != Registers::None && ncols <= 1 << (32 - PLACE)
    }

    /// Writes `from`, distinct columns, to `cols` in increasing order, and to `places` the original position of each.
    /// Overwrites the list.
    /// # Panics
    /// If there are more than [`SHORT`] columns, or fewer `places`, or `cols` is shorter than [`ROOM`](Self::ROOM). The
    /// result is wrong for columns that do not [allow it](Self::sorts_positions).
    #[inline(always)]
    pub(crate) fn sort_with_positions(&mut self, from: &[I], cols: &mut [I], places: &mut [u32]) {
        let n = from.len();
        assert!(n <= SHORT && places.len() >= n);
        for (p, (key, j)) in self.cols.iter_mut().zip(from).enumerate() {
            *key = I::cast(j.get() << PLACE | p);
        }
        self.len = n;
        self.sort_dedup(cols);
        for (j, place) in cols.iter_mut().zip(&mut places[..n]) {
            (*place, *j) = ((j.get() & (SHORT - 1)) as u32, I::cast(j.get() >> PLACE));
        }
    }

    /// Columns that must fit behind the sorted output: the longest list, and whole vectors that reach beyond it.
    pub(crate) const ROOM: usize = SHORT + 2 * LANES;

    /// Appends the union of the rows `ks` of `rows` to `out`, increasing, if the rows have at most sixteen columns
    /// together and the processor has AVX-512; returns the number of columns. Calls `prefetch` with each position of
    /// `ks` as it is read.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    #[inline(always)]
    pub(crate) fn append_few(
        &self,
        rows: RowsOf<'_, I, ()>,
        ks: &[I],
        prefetch: impl Fn(usize),
        out: &mut Vec<I>,
    ) -> Result<Option<usize>> {
        #[cfg(target_arch = "x86_64")]
        if self.by == Registers::Sixteen {
            let to = spare(out, LANES)?;
            // SAFETY: the processor has AVX-512, `I` is `u32`, and `to` has room for a vector.
            let found = unsafe { Self::few(rows, ks, prefetch, to) };
            if let Some(n) = found {
                // SAFETY: `n` columns were written behind the last, n ≤ LANES ≤ capacity − len.
                unsafe { out.set_len(out.len() + n) };
            }
            return Ok(found);
        }
        Ok(None)
    }

    /// The number of columns that [`append_few`](Self::append_few) would append.
    #[inline(always)]
    pub(crate) fn count_few(&self, rows: RowsOf<'_, I, ()>, ks: &[I], prefetch: impl Fn(usize)) -> Option<usize> {
        #[cfg(target_arch = "x86_64")]
        if self.by == Registers::Sixteen {
            let mut out = [I::LAST; LANES];
            // SAFETY: the processor has AVX-512, `I` is `u32`, and `out` has room for a vector.
            return unsafe { Self::few(rows, ks, prefetch, out.as_mut_ptr()) };
        }
        None
    }

    /// Writes the union of the rows to `to`, if it fits one vector.
    /// # Safety
    /// `I` must be `u32`, the processor have AVX-512, and `to` be valid for a vector.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn few(rows: RowsOf<'_, I, ()>, ks: &[I], prefetch: impl Fn(usize), to: *mut I) -> Option<usize> {
        use network::v4;
        // SAFETY: the processor has the instructions.
        let (mut v, mut len) = (unsafe { v4::none() }, 0);
        for (p, k) in ks.iter().enumerate() {
            prefetch(p);
            let (js, _) = rows.row(k.get());
            if len + js.len() > LANES {
                return None;
            }
            // SAFETY: the processor has the instructions; `js` are 32-bit columns, which together with `len` fit a
            // vector.
            v = unsafe { v4::push(v, len, js.as_ptr().cast(), js.len()) };
            len += js.len();
        }
        // SAFETY: the processor has the instructions, and `to` is valid for a vector (the caller's promise).
        Some(unsafe { v4::sort_dedup_one(v, len, to.cast()) })
    }

    /// Writes the columns to `to` in increasing order, without repeats, and returns their number.
    /// # Safety
    /// `to` must be valid for [`ROOM`](Self::ROOM) columns.
    #[inline(always)]
    unsafe fn sort_to(&mut self, to: *mut I) -> usize {
        #[cfg(target_arch = "x86_64")]
        if self.by != Registers::None {
            // SAFETY: the processor has the vectors given by `by`, and `I` is `u32`; the caller promises the room.
            return unsafe { self.sort_in_registers(self.by == Registers::Sixteen, to) };
        }
        let list = &mut self.cols[..self.len];
        list.sort_unstable();
        let (mut n, mut before) = (0, I::LAST);
        for &j in &*list {
            if j != before {
                // SAFETY: n < len ≤ SHORT < ROOM.
                unsafe { to.add(n).write(j) };
                n += 1;
            }
            before = j;
        }
        n
    }

    /// Like [`sort_to`](Self::sort_to), with vectors of sixteen or eight columns.
    /// # Safety
    /// `I` must be `u32`, and the processor have AVX-512 if `wide`, else AVX2; `to` must be valid for ROOM columns.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn sort_in_registers(&mut self, wide: bool, to: *mut I) -> usize {
        use network::{v3, v4};
        let lanes = if wide { v4::LANES } else { v3::LANES };
        let (used, vectors) = (self.len.div_ceil(lanes), self.len.div_ceil(lanes).next_power_of_two());
        // As many as fit in any case: a fill of constant length takes one instruction.
        self.cols[self.len..][..LANES].fill(I::LAST);
        for v in used..vectors {
            self.cols[v * lanes..][..lanes].fill(I::LAST);
        }
        let (from, to) = (self.cols.as_ptr().cast(), to.cast());
        // SAFETY: 1. the processor has the instructions, and elements are u32 (the caller's promise); 2. `cols` holds
        // `vectors` whole vectors, padded with LAST; 3. each store to `to` begins behind the columns already counted,
        // at most `len` ≤ SHORT, and is at most LANES long.
        unsafe {
            match (used, vectors) {
                (0, _) => 0,
                (_, 1) if wide => v4::sort_dedup::<1>(from, to),
                (_, 2) if wide => v4::sort_dedup::<2>(from, to),
                (_, 4) if wide => v4::sort_dedup::<4>(from, to),
                _ if wide => v4::sort_dedup::<8>(from, to),
                (_, 1) => v3::sort_dedup::<1>(from, to),
                (_, 2) => v3::sort_dedup::<2>(from, to),
                (_, 4) => v3::sort_dedup::<4>(from, to),
                (_, 8) => v3::sort_dedup::<8>(from, to),
                _ => v3::sort_dedup::<16>(from, to),
            }
        }
    }
}

/// Proof that this processor sorts sixteen 32-bit columns in one register (AVX-512).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sixteen(());

/// Columns sorted by [`Sixteen::append_sorted`].
pub(crate) struct SortedColumns {
    /// A bit for each column that differs from its predecessor, lowest first.
    pub new: u32,
    /// Number of columns.
    pub len: usize,
}

impl Sixteen {
    /// The proof, for columns of type `I`, all below `ncols`.
    pub(crate) fn of<I: Index>(ncols: usize) -> Option<Self> {
        // Four bits of a column's lane hold its original position.
        (Registers::new::<I>() == Registers::Sixteen && ncols < 1 << 28).then_some(Self(()))
    }

    /// Runs `work`, compiled for AVX-512.
    #[inline(always)]
    pub(crate) fn run<W: super::Work>(self, work: W) -> W::Out {
        #[cfg(target_arch = "x86_64")]
        {
            // SAFETY: the processor has the instructions, as `self` proves.
            unsafe { super::v4(work) }
        }
        #[cfg(not(target_arch = "x86_64"))]
        work.run()
    }

    /// Whether one of the rows `ks` of `rows` contains one of `cols`, if these rows have at most sixteen columns
    /// together. To be called within [`run`](Self::run).
    #[inline(always)]
    pub(crate) fn intersects<I: Index, Y>(self, rows: RowsOf<'_, I, Y>, ks: &[I], cols: &[I]) -> Option<bool> {
        #[cfg(target_arch = "x86_64")]
        {
            use network::v4;
            assert!(TypeId::of::<I>() == TypeId::of::<u32>());
            // SAFETY: the processor has the instructions, as `self` proves.
            let (mut v, mut len) = (unsafe { v4::none() }, 0);
            for k in ks {
                let js = rows.row(k.get()).0;
                if len + js.len() > LANES {
                    return None;
                }
                // SAFETY: the processor has the instructions; `js` are 32-bit columns, which together with `len` fit a
                // vector.
                v = unsafe { v4::push(v, len, js.as_ptr().cast(), js.len()) };
                len += js.len();
            }
            // SAFETY: the processor has the instructions; `cols` are 32-bit columns.
            Some(unsafe { v4::has_any(v, len, cols.as_ptr().cast(), cols.len()) })
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = (rows, ks, cols);
            None
        }
    }

    /// Appends the union of the rows `ks` of `rows` to `out`, increasing, if the rows have at most sixteen columns
    /// together. `order` receives the original position of each column in sorted order, stably; entries beyond the last
    /// are below 16. Calls `each(p, at, columns, values)` for each non-empty row `ks[p]`, `at` being the number of
    /// earlier columns; if the rows turn out too long, only for some of them. To be called within [`run`](Self::run).
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    #[inline(always)]
    pub(crate) fn append_sorted<I: Index, Y>(
        self,
        rows: RowsOf<'_, I, Y>,
        ks: &[I],
        mut each: impl FnMut(usize, usize, &[I], &[Y]),
        out: &mut Vec<I>,
        order: &mut [u32; LANES],
    ) -> Result<Option<SortedColumns>> {
        #[cfg(target_arch = "x86_64")]
        {
            use network::v4;
            assert!(TypeId::of::<I>() == TypeId::of::<u32>());
            let to = spare(out, LANES)?;
            // SAFETY: the processor has the instructions, as `self` proves.
            let (mut v, mut len) = (unsafe { v4::none() }, 0);
            for (p, k) in ks.iter().enumerate() {
                let (js, ys) = rows.row(k.get());
                if js.is_empty() {
                    continue;
                }
                if len + js.len() > LANES {
                    return Ok(None);
                }
                // SAFETY: the processor has the instructions; `js` are 32-bit columns, which together with `len` fit a
                // vector.
                v = unsafe { v4::push(v, len, js.as_ptr().cast(), js.len()) };
                each(p, len, js, ys);
                len += js.len();
            }
            // SAFETY: the processor has the instructions, and `to` has room for a vector.
            let new = unsafe { v4::store_sorted(v, len, to.cast(), order) };
            // SAFETY: this many columns, at most LANES, were written behind the last.
            unsafe { out.set_len(out.len() + new.count_ones() as usize) };
            Ok(Some(SortedColumns { new, len }))
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = (rows, ks, &mut each, out, order);
            Ok(None)
        }
    }
}

/// The address of the next `room` elements of `out`, after reserving them.
#[inline(always)]
pub(super) fn spare<T>(out: &mut Vec<T>, room: usize) -> Result<*mut T> {
    if out.capacity() - out.len() < room {
        out.try_reserve(room).map_err(|_| out_of_memory::<T>("columns of a block of rows", out.len() + room))?;
    }
    Ok(out.spare_capacity_mut().as_mut_ptr().cast())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_and_dedups_like_the_standard_library() {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state >> 33
        };
        for len in (0..=SHORT).step_by(if cfg!(miri) { 9 } else { 1 }) {
            for bound in [1, 3, 50, 1 << 20, u64::from(u32::MAX) - 1] {
                let all: Vec<u32> = (0..len).map(|_| (next() % bound) as u32).collect();
                let mut list = ShortList::<u32>::new();
                let mut wide = ShortList::<u64>::new();
                let cut = if len == 0 { 0 } else { next() as usize % len };
                list.push_all(&all, &all[..cut]);
                list.push_all(&all, &all[cut..]);
                let all_wide: Vec<u64> = all.iter().map(|&j| u64::from(j)).collect();
                wide.push_all(&all_wide, &all_wide);
                let mut want = all.clone();
                want.sort_unstable();
                want.dedup();
                let mut out = vec![0; SHORT + 64];
                #[cfg(target_arch = "x86_64")]
                if crate::simd::has_v3() {
                    let mut narrow = ShortList { cols: list.cols, len, by: Registers::Eight };
                    let n = narrow.sort_dedup(&mut out);
                    assert_eq!(&out[..n], &want[..], "{len} columns below {bound}, eight at a time");
                    out.fill(0);
                }
                let n = list.sort_dedup(&mut out);
                assert_eq!(&out[..n], &want[..], "{len} columns below {bound}");
                let mut out = vec![0; SHORT + 64];
                let n = wide.sort_dedup(&mut out);
                assert!(out[..n].iter().copied().eq(want.iter().map(|&j| u64::from(j))));
            }
        }
    }

    /// Rows that contain some of the columns, in any lane, or none; and more columns than a register holds.
    #[test]
    fn intersecting_agrees_with_a_search() {
        let Some(by) = Sixteen::of::<u32>(1 << 20) else { return println!("skipped: no AVX-512") };
        assert!(Sixteen::of::<u64>(1).is_none() && Sixteen::of::<u32>(1 << 28).is_none());
        let b = crate::Pattern::<u32>::new(5, 100, vec![0, 3, 3, 4, 14, 20], (0..20).map(|j| j * 3).collect()).unwrap();
        for ks in [&[][..], &[0], &[1], &[0, 2], &[0, 1, 3], &[0, 2, 3], &[3, 4], &[3, 4, 2], &[0, 2, 3, 4]] {
            let js: Vec<u32> = ks.iter().flat_map(|&k: &u32| b.row(k as usize).to_vec()).collect();
            for cols in (0..60).map(|j| vec![j]).chain([vec![], vec![99, 57], vec![1, 2, 4, 39], vec![u32::MAX]]) {
                let want = (js.len() <= LANES).then(|| cols.iter().any(|j| js.contains(j)));
                assert_eq!(by.intersects(RowsOf::without_values(&b), ks, &cols), want, "{ks:?} {cols:?}");
            }
        }
    }
}
