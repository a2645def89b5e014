//! Cache lines asked for ahead of their use.

/// Asks for the cache line of `slice[i]` ahead of its use; an index behind the end is none to worry about.
#[inline(always)]
pub(crate) fn prefetch<T>(slice: &[T], i: usize) {
    prefetch_at(slice.as_ptr().wrapping_add(i));
}

/// Asks for a cache line; any address will do.
#[inline(always)]
pub(crate) fn prefetch_at<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing and does not fault, whatever the address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
