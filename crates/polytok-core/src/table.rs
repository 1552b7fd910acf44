//! A read-only array that is either owned or a part of a shared mapping. The big compiled tables are stored in such
//! arrays.
//!
//! The engine uses owned and mapped arrays in the same way: as a pointer and a length. The array keeps the owner of its
//! memory alive.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

use bytemuck::AnyBitPattern;
use yoke::Yoke;

/// Bytes that several tables share: a mapped file, or its copy in memory.
pub type Shared = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// A read-only array. Cloning a table does not copy its items.
#[derive(Clone)]
pub struct Table<T: 'static>(Yoke<&'static [T], Arc<dyn AsRef<[T]> + Send + Sync>>);

/// A part of shared bytes that is read as an array.
struct MappedView {
    bytes: Shared,
    range: Range<usize>,
}

impl<T: AnyBitPattern> AsRef<[T]> for MappedView {
    fn as_ref(&self) -> &[T] {
        let bytes = (*self.bytes).as_ref().get(self.range.clone());
        bytes.and_then(|bytes| bytemuck::try_cast_slice(bytes).ok()).unwrap_or_default()
    }
}

impl<T: AnyBitPattern + Send + Sync> Table<T> {
    /// Returns a range of the bytes as an array, or `None` if the range is outside of the bytes, badly aligned or not a
    /// whole number of items.
    pub fn mapped(bytes: &Shared, range: Range<usize>) -> Option<Table<T>> {
        bytemuck::try_cast_slice::<u8, T>((**bytes).as_ref().get(range.clone())?).ok()?;
        Some(Table(Yoke::attach_to_cart(Arc::new(MappedView { bytes: bytes.clone(), range }), |view| view.as_ref())))
    }
}

impl<T: Send + Sync> From<Vec<T>> for Table<T> {
    fn from(items: Vec<T>) -> Table<T> {
        Table(Yoke::attach_to_cart(Arc::new(items), |items| items.as_ref()))
    }
}

impl<T: Send + Sync> Default for Table<T> {
    fn default() -> Table<T> {
        Vec::new().into()
    }
}

impl<T> Deref for Table<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.0.get()
    }
}

impl<T: fmt::Debug> fmt::Debug for Table<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Table of {}", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapped_table_is_the_bytes() {
        let words: Vec<u64> = vec![1, 2, 3];
        let bytes: Shared = Arc::new(bytemuck::cast_slice::<u64, u8>(&words).to_vec());
        let Some(table) = Table::<u8>::mapped(&bytes, 8..24) else { panic!("bytes are always aligned") };
        drop(bytes);
        assert_eq!(table[0], 2);
        assert_eq!(table.clone().len(), 16);
    }

    #[test]
    fn invalid_ranges_are_refused() {
        let bytes: Shared = Arc::new(vec![0u8; 64]);
        assert!(Table::<u32>::mapped(&bytes, 0..65).is_none());
        assert!(Table::<u32>::mapped(&bytes, 0..7).is_none());
        assert!((0..4).filter(|&at| Table::<u32>::mapped(&bytes, at..at + 8).is_some()).count() == 1);
    }
}
