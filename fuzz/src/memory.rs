//! An allocator that refuses large requests, so that an input that asks for too much memory is found as an abort.

use std::alloc::{GlobalAlloc, Layout, System};

/// The largest request. Inputs are a few kilobytes, and every reader must limit memory by the size of its input.
const MAX_BYTES: usize = 1 << 28;

/// The system's allocator with a limit for each request.
pub struct LimitedMemory;

// SAFETY: a refused request returns null; all other calls are those of the system's allocator.
unsafe impl GlobalAlloc for LimitedMemory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > MAX_BYTES {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promises are those of `System.alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.size() > MAX_BYTES {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promises are those of `System.alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if new_size > MAX_BYTES {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promises are those of `System.realloc`.
        unsafe { System.realloc(pointer, layout, new_size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the memory is from `System`.
        unsafe { System.dealloc(pointer, layout) }
    }
}
