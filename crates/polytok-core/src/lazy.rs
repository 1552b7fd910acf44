//! Values that are not built at once: a [`Lazy`] is built when its value is first needed, a [`Warmup`] after enough
//! text was encoded to justify the cost.
//!
//! A value is built before its lock is taken, so no thread waits while another thread builds, and a fork hardly ever
//! happens while the lock is held. The price: two threads can build the same value.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A value that is built when it is first needed.
#[derive(Debug)]
pub struct Lazy<T>(OnceLock<T>);

impl<T> Default for Lazy<T> {
    fn default() -> Lazy<T> {
        Lazy(OnceLock::new())
    }
}

impl<T> From<T> for Lazy<T> {
    /// Creates a value that is already built.
    fn from(value: T) -> Lazy<T> {
        Lazy(value.into())
    }
}

impl<T> Lazy<T> {
    /// Returns the value, if it is built.
    #[inline]
    pub fn peek(&self) -> Option<&T> {
        self.0.get()
    }

    /// Returns the value; calls `build` if the value is missing.
    #[inline]
    pub fn get(&self, build: impl FnOnce() -> T) -> &T {
        match self.0.get() {
            Some(value) => value,
            None => self.insert(build()),
        }
    }

    #[cold]
    fn insert(&self, value: T) -> &T {
        self.0.get_or_init(|| value)
    }
}

/// Tables that make encoding faster but take long to build. Many programs load a tokenizer to encode a few lines, so
/// the tables are built only after a number of bytes of text. Until then, encoding takes a slower path.
///
/// Each caller reports the number of bytes that it is about to encode. The caller whose bytes bring the sum to the
/// limit builds the tables. While one thread builds the tables, other threads take the slower path; but a thread whose
/// own text alone reaches the limit builds the tables too. If the tables cannot be built, no later caller tries again,
/// and all texts take the slower path.
#[derive(Debug)]
pub struct Warmup<T> {
    value: Lazy<Option<T>>,
    /// The number of bytes of text so far; not updated after the value is built.
    bytes: AtomicUsize,
    byte_limit: usize,
}

impl<T> Warmup<T> {
    /// Creates a value that is built after this many bytes of text.
    pub fn after_bytes(byte_limit: usize) -> Warmup<T> {
        Warmup { value: Lazy::default(), bytes: AtomicUsize::new(0), byte_limit }
    }

    /// Returns the value, if it is built.
    #[inline]
    pub fn peek(&self) -> Option<&T> {
        self.value.peek()?.as_ref()
    }

    /// Returns the value for a caller that is about to encode `bytes` bytes; None if the caller must take the slower
    /// path. `build` returns `None` if the value cannot be built.
    #[inline]
    pub fn get(&self, bytes: usize, build: impl FnOnce() -> Option<T>) -> Option<&T> {
        match self.value.peek() {
            Some(value) => value.as_ref(),
            None => self.build_at_limit(bytes, build),
        }
    }

    /// Returns the value, and builds the value if it is missing, even if little text was encoded so far.
    pub fn build_now(&self, build: impl FnOnce() -> Option<T>) -> Option<&T> {
        self.value.get(build).as_ref()
    }

    #[cold]
    fn build_at_limit(&self, bytes: usize, build: impl FnOnce() -> Option<T>) -> Option<&T> {
        let bytes_before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        let reaches_limit = bytes_before < self.byte_limit && bytes_before.saturating_add(bytes) >= self.byte_limit;
        if reaches_limit || bytes >= self.byte_limit { self.build_now(build) } else { None }
    }
}

impl<T> From<T> for Warmup<T> {
    /// Creates a value that is already built.
    fn from(value: T) -> Warmup<T> {
        Warmup { value: Some(value).into(), ..Warmup::after_bytes(0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lazy_value_is_built_once() {
        let lazy = Lazy::default();
        assert_eq!((lazy.peek(), *lazy.get(|| 1)), (None, 1));
        assert_eq!((*lazy.get(|| 2), lazy.peek()), (1, Some(&1)));
    }

    #[test]
    fn a_warmup_is_built_by_the_text_that_reaches_its_limit() {
        let warmup = Warmup::after_bytes(10);
        let values = [4, 5, 1, 0, 100].map(|bytes| warmup.get(bytes, || Some(bytes)).copied());
        assert_eq!(values, [None, None, Some(1), Some(1), Some(1)]);
    }

    #[test]
    fn one_long_text_builds_a_warmup_immediately() {
        let values = [9, 10].map(|bytes| Warmup::after_bytes(10).get(bytes, || Some(bytes)).copied());
        assert_eq!(values, [None, Some(10)]);
    }

    #[test]
    fn while_a_warmup_is_built_only_long_texts_build_it_too() {
        let warmup = Warmup::after_bytes(10);
        let value = warmup.get(10, || {
            let values = [1, 9, 10, 1].map(|bytes| warmup.get(bytes, || Some(bytes)).copied());
            assert_eq!(values, [None, None, Some(10), Some(10)]);
            Some(7)
        });
        assert_eq!(value, Some(&10), "the first that was built stays");
    }

    #[test]
    fn a_value_that_cannot_be_built_is_not_tried_again() {
        let warmup = Warmup::after_bytes(1);
        assert_eq!(warmup.get(1, || None::<u32>), None);
        assert_eq!(warmup.get(1, || panic!("built again")), None);
        assert_eq!(warmup.build_now(|| panic!("built again")), None);
    }

    #[test]
    fn a_warmup_from_a_value_has_the_value() {
        let warmup = Warmup::from(5);
        assert_eq!((warmup.peek(), warmup.get(0, || None), warmup.build_now(|| None)), (Some(&5), Some(&5), Some(&5)));
        assert_eq!(Warmup::<u32>::after_bytes(0).peek(), None);
    }
}
