//! A value that is made when it is first asked for.

use std::sync::OnceLock;

/// The value. It is made outside of the lock, so that a fork hardly ever happens within it; two threads may make it twice.
#[derive(Debug)]
pub struct Lazy<T>(OnceLock<T>);

impl<T> Default for Lazy<T> {
    fn default() -> Lazy<T> {
        Lazy(OnceLock::new())
    }
}

impl<T> From<T> for Lazy<T> {
    /// A value that is there already.
    fn from(value: T) -> Lazy<T> {
        Lazy(value.into())
    }
}

impl<T> Lazy<T> {
    /// The value, if it is there.
    #[inline]
    pub fn peek(&self) -> Option<&T> {
        self.0.get()
    }

    /// The value, made by `make` if it is not there yet.
    #[inline]
    pub fn get(&self, make: impl FnOnce() -> T) -> &T {
        match self.0.get() {
            Some(value) => value,
            None => self.put(make()),
        }
    }

    #[cold]
    fn put(&self, value: T) -> &T {
        self.0.get_or_init(|| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_made_once() {
        let lazy = Lazy::default();
        assert_eq!(*lazy.get(|| 1), 1);
        assert_eq!(*lazy.get(|| 2), 1);
    }
}
