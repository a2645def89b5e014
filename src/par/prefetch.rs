//! Software prefetching.

/// Prefetches the cache line of `slice[i]`; an index out of range is harmless.
#[inline(always)]
pub(crate) fn prefetch<T>(slice: &[T], i: usize) {
    prefetch_at(slice.as_ptr().wrapping_add(i));
}

/// Prefetches a cache line; any address is allowed.
#[inline(always)]
pub(crate) fn prefetch_at<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing and does not fault, at any address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
