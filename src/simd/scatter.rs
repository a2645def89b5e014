//! Indexed updates: the innermost loop of row-wise products.

use crate::Index;

/// `acc[j & mask] = f(acc[j & mask], y, j)` for each column `j` and value `y` of a row of B, in order.
///
/// The columns of a row are distinct modulo mask + 1, or the caller handles collisions.
/// # Panics
/// If `mask` is not an index of `acc`, or the row's parts differ in length.
#[inline(always)]
pub(crate) fn scatter<I: Index, Y: Copy, T: Copy>(
    acc: &mut [T],
    mask: usize,
    cols: &[I],
    values: &[Y],
    f: impl Fn(T, Y, I) -> T,
) {
    assert!(mask < acc.len() && cols.len() == values.len());
    for (&j, &y) in cols.iter().zip(values) {
        // SAFETY: j & mask ≤ mask < acc.len().
        let slot = unsafe { acc.get_unchecked_mut(j.get() & mask) };
        *slot = f(*slot, y, j);
    }
}

/// Like [`scatter`], into one of `N` interleaved accumulators.
/// # Panics
/// If `mask` is not an index of `acc`, `lane` is not below `N`, or the row's parts differ in length.
#[inline(always)]
pub(crate) fn scatter_lane<I: Index, Y: Copy, T: Copy, const N: usize>(
    acc: &mut [[T; N]],
    mask: usize,
    lane: usize,
    cols: &[I],
    values: &[Y],
    f: impl Fn(T, Y) -> T,
) {
    assert!(mask < acc.len() && lane < N && cols.len() == values.len());
    for (&j, &y) in cols.iter().zip(values) {
        // SAFETY: j & mask ≤ mask < acc.len(), and lane < N.
        let slot = unsafe { acc.get_unchecked_mut(j.get() & mask).get_unchecked_mut(lane) };
        *slot = f(*slot, y);
    }
}

/// `acc[p & mask] = f(acc[p & mask], y)` for each position `p` and value `y`, in order.
/// # Panics
/// If `mask` is not an index of `acc`, or positions and values differ in number.
#[inline(always)]
pub(crate) fn scatter_positions<Y: Copy, T: Copy>(
    acc: &mut [T],
    mask: usize,
    places: &[u16],
    values: &[Y],
    f: impl Fn(T, Y) -> T,
) {
    assert!(mask < acc.len() && places.len() == values.len());
    for (&p, &y) in places.iter().zip(values) {
        // SAFETY: p & mask ≤ mask < acc.len().
        let slot = unsafe { acc.get_unchecked_mut(usize::from(p) & mask) };
        *slot = f(*slot, y);
    }
}

/// `row[place[j & mask]] = f(row[place[j & mask]], y, j)`: like [`scatter`], into a row of C whose columns have been
/// assigned positions.
///
/// A position beyond the row is skipped: under a mask, columns that C lacks have such a position.
/// # Panics
/// If `mask` is not an index of `place`, or the row's parts differ in length.
#[inline(always)]
pub(crate) fn scatter_at<I: Index, P: Copy + Into<u64>, Y: Copy, T: Copy>(
    row: &mut [T],
    place: &[P],
    mask: usize,
    cols: &[I],
    values: &[Y],
    f: impl Fn(T, Y, I) -> T,
) {
    assert!(mask < place.len() && cols.len() == values.len());
    for (&j, &y) in cols.iter().zip(values) {
        // SAFETY: j & mask ≤ mask < place.len().
        let p: u64 = unsafe { *place.get_unchecked(j.get() & mask) }.into();
        if let Some(slot) = row.get_mut(p as usize) {
            *slot = f(*slot, y, j);
        }
    }
}

/// Marks each column with `row`, and returns the number of columns that had another mark.
/// # Panics
/// If a column is out of range.
#[inline(always)]
pub(crate) fn count_new<I: Index>(marks: &mut [u32], row: u32, cols: &[I]) -> usize {
    let mut n = 0;
    for j in cols {
        n += usize::from(std::mem::replace(&mut marks[j.get()], row) != row);
    }
    n
}

/// Sets the bit of each column.
/// # Panics
/// If `mask` is not an index of `words`.
#[inline(always)]
pub(crate) fn or_bits<I: Index>(words: &mut [u64], mask: usize, cols: &[I]) {
    assert!(mask < words.len());
    for &j in cols {
        // SAFETY: the index is ≤ mask < words.len().
        let word = unsafe { words.get_unchecked_mut((j.get() >> 6) & mask) };
        *word |= 1 << (j.get() & 63);
    }
}

/// Sets the bits of each compressed column set.
/// # Panics
/// If `mask` is not an index of `words`, or the row's parts differ in length.
#[inline(always)]
pub(crate) fn or_words<I: Index>(words: &mut [u64], mask: usize, sets: &[I], bits: &[u64]) {
    assert!(mask < words.len() && sets.len() == bits.len());
    for (&w, &b) in sets.iter().zip(bits) {
        // SAFETY: the index is ≤ mask < words.len().
        let word = unsafe { words.get_unchecked_mut(w.get() & mask) };
        *word |= b;
    }
}

/// Like [`or_bits`], and sets `flags[w / 8]` for each word `w` touched.
/// # Panics
/// If `mask` is not an index of `words`, or `mask / 8` not one of `flags`.
#[inline(always)]
pub(crate) fn or_bits_flagged<I: Index>(words: &mut [u64], flags: &mut [u8], mask: usize, cols: &[I]) {
    assert!(mask < words.len() && mask >> 3 < flags.len());
    for &j in cols {
        let w = (j.get() >> 6) & mask;
        // SAFETY: w ≤ mask < words.len(), and w / 8 ≤ mask / 8 < flags.len().
        unsafe {
            *words.get_unchecked_mut(w) |= 1 << (j.get() & 63);
            *flags.get_unchecked_mut(w >> 3) = 1;
        }
    }
}

/// Like [`or_words`], and sets `flags[w / 8]` for each word `w` touched.
/// # Panics
/// If `mask` is not an index of `words`, `mask / 8` not one of `flags`, or lengths differ.
#[inline(always)]
pub(crate) fn or_words_flagged<I: Index>(words: &mut [u64], flags: &mut [u8], mask: usize, sets: &[I], bits: &[u64]) {
    assert!(mask < words.len() && mask >> 3 < flags.len() && sets.len() == bits.len());
    for (&w, &b) in sets.iter().zip(bits) {
        let w = w.get() & mask;
        // SAFETY: w ≤ mask < words.len(), and w / 8 ≤ mask / 8 < flags.len().
        unsafe {
            *words.get_unchecked_mut(w) |= b;
            *flags.get_unchecked_mut(w >> 3) = 1;
        }
    }
}
