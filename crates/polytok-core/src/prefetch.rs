//! Prefetches memory: asks the processor to load memory before it is needed.

/// Prefetches the cache line in which the element at index `at` starts; `at` can be beyond the end of the elements.
/// Does nothing on processors other than x86-64.
#[inline]
pub fn prefetch<T>(elements: &[T], at: usize) {
    prefetch_line(elements.as_ptr().wrapping_add(at));
}

/// Prefetches the cache line of an address, which need not be a valid address.
#[inline]
pub fn prefetch_line<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch changes nothing that the program can see, whatever the address is.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
