//! The locks and atomic numbers that threads share: the standard library's, or those of loom, which runs a test with
//! every order of the threads' steps (`make sanitize`).

#[cfg(all(test, loom))]
pub use loom::sync::{
    Mutex,
    atomic::{AtomicPtr, AtomicUsize, Ordering, fence},
};
#[cfg(not(all(test, loom)))]
pub use std::sync::{
    Mutex,
    atomic::{AtomicPtr, AtomicUsize, Ordering, fence},
};
