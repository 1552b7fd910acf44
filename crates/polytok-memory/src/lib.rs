//! Asks for memory that the system can refuse. The size of all memory that is allocated here follows from input: from a
//! text, from ids or from a file.
//!
//! The collections of the standard library end the process if memory is refused. The functions of this crate, whose
//! names start with `checked_`, unwind the stack instead, up to the innermost [`catch`], which returns an error. No panic
//! handler runs and no message is printed. So a loop that appends to a vector is as fast as with the standard library,
//! and callbacks need no result. Code that unwinds must leave shared values valid; buffers and unfinished results are
//! freed.
//!
//! ```
//! use polytok_memory::{Grow, Refused, catch, with_capacity};
//!
//! fn repeat(text: &str, times: usize) -> Result<Vec<u8>, Refused> {
//!     catch(|| {
//!         let mut out = with_capacity(text.len() * times);
//!         (0..times).for_each(|_| out.checked_extend_from_slice(text.as_bytes()));
//!         Ok(out)
//!     })
//! }
//!
//! assert_eq!(repeat("ab", 2).unwrap(), b"abab");
//! assert!(repeat("ab", isize::MAX as usize / 2).is_err());
//! ```

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use bytemuck::Zeroable;

/// Memory that was refused; this value unwinds the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The number of bytes that were asked for.
    bytes: usize,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the system refused {} bytes of memory; free memory, or process less at a time", self.bytes)
    }
}

impl std::error::Error for Refused {}

impl Refused {
    /// Unwinds to the innermost [`catch`] of this thread, for example after another thread was refused memory.
    pub fn refuse(self) -> ! {
        resume_unwind(Box::new(self))
    }
}

/// Calls `run`. Returns an error if memory is refused.
#[inline]
pub fn catch<T, E: From<Refused>>(run: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    run_caught(run)?
}

/// Calls `run`. Returns what was refused if memory is refused.
#[inline]
pub fn run_caught<T>(run: impl FnOnce() -> T) -> Result<T, Refused> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| match payload.downcast::<Refused>() {
        Ok(refused) => *refused,
        Err(panic) => resume_unwind(panic),
    })
}

/// Unwinds to the innermost [`catch`].
#[cold]
#[inline(never)]
fn refuse(bytes: usize) -> ! {
    Refused { bytes }.refuse()
}

/// Returns an empty vector with room for `count` items.
pub fn with_capacity<T>(count: usize) -> Vec<T> {
    let mut items = Vec::new();
    if items.try_reserve_exact(count).is_err() {
        refuse(count.saturating_mul(size_of::<T>()));
    }
    items
}

/// Returns a vector of `count` equal items.
pub fn filled<T: Clone>(item: T, count: usize) -> Vec<T> {
    let mut items = with_capacity(count);
    items.resize(count, item);
    items
}

/// Returns a vector of `count` items whose bytes are all zero; the system provides large ones without writing them.
pub fn zeroed<T: Zeroable>(count: usize) -> Vec<T> {
    bytemuck::allocation::try_zeroed_vec(count).unwrap_or_else(|()| refuse(count.saturating_mul(size_of::<T>())))
}

/// Returns a value in a box, all of whose bytes are zero.
pub fn zeroed_box<T: Zeroable>() -> Box<T> {
    bytemuck::allocation::try_zeroed_box().unwrap_or_else(|()| refuse(size_of::<T>()))
}

/// Requests memory and frees it at once. Called before code of another crate, which ends the process if the system
/// refuses its requests: a limit of the process is then noticed here.
pub fn require(bytes: usize) {
    drop(std::hint::black_box(with_capacity::<u8>(bytes))); // the compiler removes memory that nothing uses
}

/// Methods of vectors that grow.
pub trait Grow<T> {
    /// Reserves room for `count` more items.
    fn checked_reserve(&mut self, count: usize);

    /// Appends an item.
    fn checked_push(&mut self, item: T);

    /// Appends the items of an iterator.
    fn checked_extend(&mut self, items: impl IntoIterator<Item = T>);

    /// Appends copies of items.
    fn checked_extend_from_slice(&mut self, items: &[T])
    where
        T: Clone;

    /// Truncates the vector to `count` items, or appends copies of `item` until it has this number of items.
    fn checked_resize(&mut self, count: usize, item: T)
    where
        T: Clone;
}

impl<T> Grow<T> for Vec<T> {
    #[inline]
    fn checked_reserve(&mut self, count: usize) {
        if self.capacity() - self.len() < count {
            grow(self, count);
        }
    }

    #[inline]
    fn checked_push(&mut self, item: T) {
        if self.len() == self.capacity() {
            grow(self, 1);
        }
        self.push(item);
    }

    #[inline]
    fn checked_extend(&mut self, items: impl IntoIterator<Item = T>) {
        let items = items.into_iter();
        match items.size_hint() {
            (count, Some(most)) if count == most => {
                self.checked_reserve(count);
                self.extend(items);
            }
            (count, _) => {
                self.checked_reserve(count);
                items.for_each(|item| self.checked_push(item));
            }
        }
    }

    #[inline]
    fn checked_extend_from_slice(&mut self, items: &[T])
    where
        T: Clone,
    {
        self.checked_reserve(items.len());
        self.extend_from_slice(items);
    }

    #[inline]
    fn checked_resize(&mut self, count: usize, item: T)
    where
        T: Clone,
    {
        self.checked_reserve(count.saturating_sub(self.len()));
        self.resize(count, item);
    }
}

/// Reserves room for `count` more items, and for as many as there are, so that appending takes linear time.
#[cold]
#[inline(never)]
fn grow<T>(items: &mut Vec<T>, count: usize) {
    if items.try_reserve(count).is_err() {
        refuse(items.len().saturating_add(count).saturating_mul(size_of::<T>()));
    }
}

/// Methods of strings that grow.
pub trait GrowText {
    /// Appends a text.
    fn checked_push_str(&mut self, text: &str);

    /// Appends a character.
    fn checked_push_char(&mut self, character: char);
}

impl GrowText for String {
    #[inline]
    fn checked_push_str(&mut self, text: &str) {
        if self.try_reserve(text.len()).is_err() {
            refuse(self.len().saturating_add(text.len()));
        }
        self.push_str(text);
    }

    #[inline]
    fn checked_push_char(&mut self, character: char) {
        self.checked_push_str(character.encode_utf8(&mut [0; 4]));
    }
}

/// Returns a hash map of pairs.
pub fn map<K, V, M: GrowMap<K, V> + Default>(pairs: impl IntoIterator<Item = (K, V)>) -> M {
    let mut map = M::default();
    pairs.into_iter().for_each(|(key, value)| drop(map.checked_insert(key, value)));
    map
}

/// Returns a hash set of items.
pub fn set<K, S: GrowSet<K> + Default>(items: impl IntoIterator<Item = K>) -> S {
    let mut set = S::default();
    items.into_iter().for_each(|item| _ = set.checked_insert(item));
    set
}

/// Reserves room for an item of a heap, which the next insertion uses.
#[inline]
pub fn reserve_item<T>(heap: &mut BinaryHeap<T>) {
    if heap.try_reserve(1).is_err() {
        refuse(heap.len().saturating_mul(2 * size_of::<T>()));
    }
}

/// Methods of hash maps that grow.
pub trait GrowMap<K, V> {
    /// Reserves room for an entry, which the next insertion uses.
    fn reserve_entry(&mut self);

    /// Inserts a value; returns the value that the key had before.
    fn checked_insert(&mut self, key: K, value: V) -> Option<V>;
}

/// Methods of hash sets that grow.
pub trait GrowSet<K> {
    /// Inserts an item; returns false if the set has an equal item.
    fn checked_insert(&mut self, item: K) -> bool;
}

/// Implements the traits for the maps and sets of a module.
macro_rules! grow_maps_of {
    ($($module:ident)::+) => {
        impl<K: Eq + Hash, V, S: BuildHasher> GrowMap<K, V> for $($module)::+::HashMap<K, V, S> {
            #[inline]
            fn reserve_entry(&mut self) {
                if self.try_reserve(1).is_err() {
                    refuse(self.len().saturating_mul(2 * size_of::<(K, V)>()));
                }
            }

            #[inline]
            fn checked_insert(&mut self, key: K, value: V) -> Option<V> {
                self.reserve_entry();
                self.insert(key, value)
            }
        }

        impl<K: Eq + Hash, S: BuildHasher> GrowSet<K> for $($module)::+::HashSet<K, S> {
            #[inline]
            fn checked_insert(&mut self, item: K) -> bool {
                if self.try_reserve(1).is_err() {
                    refuse(self.len().saturating_mul(2 * size_of::<K>()));
                }
                self.insert(item)
            }
        }
    };
}

grow_maps_of!(std::collections);
grow_maps_of!(hashbrown);

/// Reserves room for an item of a hash table, which the next insertion uses.
#[inline]
pub fn reserve_slot<T>(table: &mut hashbrown::HashTable<T>, hash: impl Fn(&T) -> u64) {
    if table.try_reserve(1, hash).is_err() {
        refuse(table.len().saturating_mul(2 * size_of::<T>()));
    }
}

/// Methods of slices that copy.
pub trait Copied<T> {
    /// Returns a vector with copies of the items.
    fn checked_to_vec(&self) -> Vec<T>;
}

impl<T: Clone> Copied<T> for [T] {
    #[inline]
    fn checked_to_vec(&self) -> Vec<T> {
        let mut items = with_capacity(self.len());
        items.extend_from_slice(self);
        items
    }
}

/// Sorts items. Equal items keep their order, as with `sort_by`, whose memory cannot be refused. Items without equals are
/// sorted here too where speed does not matter, because all kinds of items share the code of one sort.
pub fn sort_stably<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let mut sources: Vec<usize> = (0..items.len()).checked_collect();
    sort_indices(&mut sources, &|a, b| compare(&items[a], &items[b]).then(a.cmp(&b)));
    // Each cycle of the permutation is followed from place to place; a place that has its item is its own source.
    for start in 0..items.len() {
        let mut at = start;
        while sources[at] != start {
            let source = std::mem::replace(&mut sources[at], at);
            items.swap(at, source);
            at = source;
        }
        sources[at] = at;
    }
}

/// Sorts indices; not generic, because the code of a sort has 6 KB.
fn sort_indices(indices: &mut [usize], compare: &dyn Fn(usize, usize) -> Ordering) {
    indices.sort_unstable_by(|&a, &b| compare(a, b));
}

/// Returns the concatenation of slices.
pub fn concat<T: Clone>(parts: &[&[T]]) -> Vec<T> {
    let mut items = with_capacity(parts.iter().map(|part| part.len()).sum());
    parts.iter().for_each(|part| items.extend_from_slice(part));
    items
}

/// Returns a copy of a text.
pub fn text(text: &str) -> String {
    let mut copy = String::new();
    copy.checked_push_str(text);
    copy
}

/// Returns a text as UTF-8; U+FFFD replaces bytes that are not UTF-8, as in `String::from_utf8_lossy`.
pub fn lossy(text: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    for chunk in text.utf8_chunks() {
        out.checked_push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            out.checked_push_str("\u{FFFD}");
        }
    }
    Cow::Owned(out)
}

/// Methods of iterators that collect.
pub trait Collect: Iterator + Sized {
    /// Returns the items as a vector.
    #[inline]
    fn checked_collect(self) -> Vec<Self::Item> {
        let mut items = with_capacity(self.size_hint().0);
        items.checked_extend(self);
        items
    }
}

impl<I: Iterator> Collect for I {}

/// Methods of iterators of results that collect.
pub trait TryCollect<T, E>: Iterator<Item = Result<T, E>> + Sized {
    /// Returns the items as a vector, or the first error.
    #[inline]
    fn checked_try_collect(self) -> Result<Vec<T>, E> {
        let mut items = with_capacity(self.size_hint().0);
        for item in self {
            items.checked_push(item?);
        }
        Ok(items)
    }
}

impl<T, E, I: Iterator<Item = Result<T, E>>> TryCollect<T, E> for I {}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number of items for which no system has memory.
    const TOO_MANY: usize = isize::MAX as usize / 16;

    /// Reports whether `run` is refused memory.
    fn is_refused<T: std::fmt::Debug>(run: impl FnOnce() -> T) -> bool {
        matches!(run_caught(run), Err(refused) if refused.to_string().contains("bytes of memory"))
    }

    #[test]
    fn refused_memory_is_an_error() {
        assert!(is_refused(|| with_capacity::<u64>(TOO_MANY)));
        assert!(is_refused(|| filled(1u64, TOO_MANY)));
        assert!(is_refused(|| zeroed::<u64>(TOO_MANY)));
        assert!(is_refused(|| zeroed::<u64>(usize::MAX)));
        assert!(is_refused(|| (0..TOO_MANY).checked_collect()));
        let mut items = vec![1u64];
        assert!(is_refused(|| items.checked_reserve(TOO_MANY)));
        assert!(is_refused(|| items.checked_resize(TOO_MANY, 0)));
        assert!(is_refused(|| items.checked_extend((0..TOO_MANY).map(|item| item as u64))));
        assert_eq!(items, [1]);
    }

    #[test]
    fn granted_memory_is_as_that_of_std() {
        let mut items = with_capacity(2);
        (0..5).for_each(|item| items.checked_push(item));
        items.checked_extend([5, 6]);
        items.checked_extend((0..20).filter(|item| item % 10 == 7));
        items.checked_extend_from_slice(&[8]);
        items.checked_resize(11, 9);
        assert_eq!(items, [0, 1, 2, 3, 4, 5, 6, 7, 17, 8, 9]);
        items.checked_resize(2, 0);
        assert_eq!(items[..].checked_to_vec(), [0, 1]);
        assert_eq!(((0..3).checked_collect(), concat(&[&[1, 2], &[], &[3]])), (vec![0, 1, 2], vec![1, 2, 3]));
        for text in [&b"a\xFFb\xE2\x82"[..], b"\xC3\xA9"] {
            assert_eq!(lossy(text), String::from_utf8_lossy(text));
        }
        assert_eq!((filled(7, 2), zeroed::<u8>(2)), (vec![7, 7], vec![0, 0]));
        assert_eq!([Ok(1), Err(2)].into_iter().checked_try_collect(), Err(2));
        assert_eq!([Ok::<_, ()>(1), Ok(2)].into_iter().checked_try_collect(), Ok(vec![1, 2]));
        let mut text = String::from("a");
        text.checked_push_char('b');
        let (map, set): (hashbrown::HashMap<_, _>, std::collections::HashSet<_>) = (map([(1, 2), (1, 3)]), set([3, 3]));
        assert_eq!((text.as_str(), map[&1], set.len()), ("ab", 3, 1));
    }

    #[test]
    fn equal_items_keep_their_order() {
        for count in 0..60usize {
            let items: Vec<(usize, usize)> = (0..count).map(|at| (at * 7919 % 5, at)).collect();
            let (mut actual, mut expected) = (items.clone(), items);
            sort_stably(&mut actual, |a, b| b.0.cmp(&a.0));
            expected.sort_by_key(|item| std::cmp::Reverse(item.0));
            assert_eq!(actual, expected);
        }
    }

    #[test]
    fn other_panics_and_errors_pass() {
        assert_eq!(catch(|| Err::<(), _>(Refused { bytes: 1 })), Err(Refused { bytes: 1 }));
        assert!(catch_unwind(|| run_caught(|| std::panic::panic_any(1))).is_err());
    }

    #[test]
    fn another_thread_can_pass_a_refusal_on() {
        let refused = std::thread::scope(|scope| scope.spawn(|| run_caught(|| refuse(3)).unwrap_err()).join().unwrap());
        assert_eq!(catch(|| refused.refuse()), Err::<(), _>(refused));
    }
}
