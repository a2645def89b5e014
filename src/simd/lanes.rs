//! Integer vectors, for loops that are generic in their width.

use std::arch::x86_64::*;

/// A vector of columns, compared lane by lane.
///
/// # Safety
/// Of all functions: the processor has the vector's instructions, and the caller enables them.
pub(super) trait Lanes: Copy {
    /// One bit, or one word, for each lane.
    type Hits: Copy;
    const LANES: usize;
    /// The columns of a list that fits; the remaining lanes hold the largest number.
    unsafe fn load(list: &[u32]) -> Self;
    /// Broadcasts lane `lane`.
    unsafe fn lane(self, lane: usize) -> Self;
    unsafe fn splat(x: u32) -> Self;
    unsafe fn equal(self, other: Self) -> Self::Hits;
    /// The lanes below those of `other`, for numbers below 2³¹.
    unsafe fn below(self, other: Self) -> Self::Hits;
    unsafe fn none() -> Self::Hits;
    unsafe fn or(a: Self::Hits, b: Self::Hits) -> Self::Hits;
    unsafe fn and(a: Self::Hits, b: Self::Hits) -> Self::Hits;
    /// Number of hits in the first `len` lanes; `len` ≤ [`LANES`](Self::LANES).
    unsafe fn count(hits: Self::Hits, len: usize) -> u32;
    /// 1 in each of the first `len` lanes x whose bit x of `words` is set, else 0. The word's index is x / 32 & mask.
    ///
    /// # Safety
    /// In addition: `mask` is an index of `words`, below 2³¹.
    unsafe fn bits(self, len: usize, words: &[u32], mask: u32) -> Self;
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn sum(self) -> u64;
}

#[inline(always)]
unsafe fn first_of_eight(len: usize) -> __m256i {
    // SAFETY: the caller's promise: the processor has the instructions.
    unsafe { _mm256_cmpgt_epi32(_mm256_set1_epi32(len as i32), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)) }
}

#[inline(always)]
fn first_of_sixteen(len: usize) -> u16 {
    debug_assert!(len <= 16);
    ((1u32 << len) - 1) as u16
}

// SAFETY of all blocks: the caller's promise: the processor has the instructions; `load` reads only the list.
impl Lanes for __m256i {
    type Hits = __m256i;
    const LANES: usize = 8;
    #[inline(always)]
    unsafe fn load(list: &[u32]) -> Self {
        debug_assert!(list.len() <= 8);
        // SAFETY: as said above.
        unsafe {
            let lanes = first_of_eight(list.len());
            let beyond = _mm256_xor_si256(lanes, _mm256_set1_epi32(-1));
            _mm256_or_si256(_mm256_maskload_epi32(list.as_ptr().cast(), lanes), beyond)
        }
    }
    #[inline(always)]
    unsafe fn lane(self, lane: usize) -> Self {
        // SAFETY: as said above.
        unsafe { _mm256_permutevar8x32_epi32(self, _mm256_set1_epi32(lane as i32)) }
    }
    #[inline(always)]
    unsafe fn splat(x: u32) -> Self {
        // SAFETY: as said above.
        unsafe { _mm256_set1_epi32(x as i32) }
    }
    #[inline(always)]
    unsafe fn equal(self, other: Self) -> Self {
        // SAFETY: as said above.
        unsafe { _mm256_cmpeq_epi32(self, other) }
    }
    #[inline(always)]
    unsafe fn below(self, other: Self) -> Self {
        // SAFETY: as said above.
        unsafe { _mm256_cmpgt_epi32(other, self) }
    }
    #[inline(always)]
    unsafe fn none() -> Self {
        // SAFETY: as said above.
        unsafe { _mm256_setzero_si256() }
    }
    #[inline(always)]
    unsafe fn or(a: Self, b: Self) -> Self {
        // SAFETY: as said above.
        unsafe { _mm256_or_si256(a, b) }
    }
    #[inline(always)]
    unsafe fn and(a: Self, b: Self) -> Self {
        // SAFETY: as said above.
        unsafe { _mm256_and_si256(a, b) }
    }
    #[inline(always)]
    unsafe fn count(hits: Self, len: usize) -> u32 {
        // SAFETY: as said above.
        let bits = unsafe { _mm256_movemask_ps(_mm256_castsi256_ps(hits)) } as u32;
        (bits & ((1 << len) - 1)).count_ones()
    }
    #[inline(always)]
    unsafe fn bits(self, len: usize, words: &[u32], mask: u32) -> Self {
        // SAFETY: as said above; an index is ≤ mask, thus within `words` and nonnegative as i32.
        unsafe {
            let at = _mm256_and_si256(_mm256_srli_epi32::<5>(self), _mm256_set1_epi32(mask as i32));
            let words = words.as_ptr().cast();
            let found = _mm256_mask_i32gather_epi32::<4>(_mm256_setzero_si256(), words, at, first_of_eight(len));
            let bit = _mm256_srlv_epi32(found, _mm256_and_si256(self, _mm256_set1_epi32(31)));
            _mm256_and_si256(bit, _mm256_set1_epi32(1))
        }
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        // SAFETY: as said above.
        unsafe { _mm256_add_epi32(self, other) }
    }
    #[inline(always)]
    unsafe fn sum(self) -> u64 {
        let mut lanes = [0u32; 8];
        // SAFETY: as said above, and the array has eight lanes.
        unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), self) };
        lanes.into_iter().map(u64::from).sum()
    }
}

// SAFETY of all blocks: as above.
impl Lanes for __m512i {
    type Hits = u16;
    const LANES: usize = 16;
    #[inline(always)]
    unsafe fn load(list: &[u32]) -> Self {
        // SAFETY: as said above.
        unsafe { _mm512_mask_loadu_epi32(_mm512_set1_epi32(-1), first_of_sixteen(list.len()), list.as_ptr().cast()) }
    }
    #[inline(always)]
    unsafe fn lane(self, lane: usize) -> Self {
        // SAFETY: as said above.
        unsafe { _mm512_permutexvar_epi32(_mm512_set1_epi32(lane as i32), self) }
    }
    #[inline(always)]
    unsafe fn splat(x: u32) -> Self {
        // SAFETY: as said above.
        unsafe { _mm512_set1_epi32(x as i32) }
    }
    #[inline(always)]
    unsafe fn equal(self, other: Self) -> u16 {
        // SAFETY: as said above.
        unsafe { _mm512_cmpeq_epi32_mask(self, other) }
    }
    #[inline(always)]
    unsafe fn below(self, other: Self) -> u16 {
        // SAFETY: as said above.
        unsafe { _mm512_cmplt_epu32_mask(self, other) }
    }
    #[inline(always)]
    unsafe fn none() -> u16 {
        0
    }
    #[inline(always)]
    unsafe fn or(a: u16, b: u16) -> u16 {
        a | b
    }
    #[inline(always)]
    unsafe fn and(a: u16, b: u16) -> u16 {
        a & b
    }
    #[inline(always)]
    unsafe fn count(hits: u16, len: usize) -> u32 {
        (hits & first_of_sixteen(len)).count_ones()
    }
    #[inline(always)]
    unsafe fn bits(self, len: usize, words: &[u32], mask: u32) -> Self {
        // SAFETY: as said above; an index is ≤ mask, thus within `words` and nonnegative as i32.
        unsafe {
            let at = _mm512_and_si512(_mm512_srli_epi32::<5>(self), _mm512_set1_epi32(mask as i32));
            let (lanes, words) = (first_of_sixteen(len), words.as_ptr().cast());
            let found = _mm512_mask_i32gather_epi32::<4>(_mm512_setzero_si512(), lanes, at, words);
            let bit = _mm512_srlv_epi32(found, _mm512_and_si512(self, _mm512_set1_epi32(31)));
            _mm512_and_si512(bit, _mm512_set1_epi32(1))
        }
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        // SAFETY: as said above.
        unsafe { _mm512_add_epi32(self, other) }
    }
    #[inline(always)]
    unsafe fn sum(self) -> u64 {
        let mut lanes = [0u32; 16];
        // SAFETY: as said above, and the array has sixteen lanes.
        unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), self) };
        lanes.into_iter().map(u64::from).sum()
    }
}
