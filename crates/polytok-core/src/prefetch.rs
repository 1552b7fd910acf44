//! Asks the processor for memory before it is needed.

/// Asks for the line in which an element begins, which may be beyond the end. Does nothing where there is no way to.
#[inline]
pub fn prefetch<T>(elements: &[T], at: usize) {
    prefetch_line(elements.as_ptr().wrapping_add(at));
}

/// Asks for the line of an address, which may be any.
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
