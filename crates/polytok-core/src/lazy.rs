//! Values that are not built at once: a [`Lazy`] is built when its value is first needed, a [`Warmup`] after enough
//! text was encoded to justify the cost.
//!
//! A value is built before its lock is taken, so no thread waits while another thread builds, and a fork hardly ever
//! happens while the lock is held. The price: two threads can build the same value.

use std::sync::OnceLock;

use polytok_memory as memory;

use crate::sync::{AtomicUsize, Mutex, Ordering, fence};

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
        #[cfg(test)]
        tests::BUILT_TYPES.with_borrow_mut(|types| types.push(std::any::type_name::<T>()));
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
    /// If memory for the value is refused, a later call tries again.
    pub fn build_now(&self, build: impl FnOnce() -> Option<T>) -> Option<&T> {
        match self.value.peek() {
            Some(value) => value.as_ref(),
            None => self.value.insert(memory::run_caught(build).ok()?).as_ref(),
        }
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

/// A [`Warmup`] that is built in steps: after the limit, each caller does a part of the work, in proportion to the
/// caller's text, so that no short text waits until all is built. `B` is the unfinished value.
///
/// A caller that finds another thread at work does no step. If a fork happens during a step, the child process does no
/// more steps; then only a text that alone reaches the limit builds the value.
#[derive(Debug)]
pub struct SteppedWarmup<T, B> {
    warmup: Warmup<T>,
    unfinished: Mutex<Option<B>>,
}

/// The result of a step.
pub enum Step<T, B> {
    /// More steps must follow.
    Unfinished(B),
    /// The value, or `None` if it cannot be built.
    Finished(Option<T>),
}

impl<T, B> SteppedWarmup<T, B> {
    /// Creates a value whose first step follows after this many bytes of text.
    pub fn after_bytes(byte_limit: usize) -> SteppedWarmup<T, B> {
        SteppedWarmup { warmup: Warmup::after_bytes(byte_limit), unfinished: Mutex::new(None) }
    }

    /// Returns the value, if it is built.
    #[inline]
    pub fn peek(&self) -> Option<&T> {
        self.warmup.peek()
    }

    /// Returns the value, and builds all of the value if it is missing, even if little text was encoded so far.
    pub fn build_now(&self, build: impl FnOnce() -> Option<T>) -> Option<&T> {
        let value = self.warmup.build_now(build);
        self.free_steps();
        value
    }

    /// Frees the memory of unfinished steps if the value is built. If another thread is doing a step, that thread frees
    /// it after the step: because of the fences, it sees the value, or this thread sees that the lock is free.
    fn free_steps(&self) {
        fence(Ordering::SeqCst);
        if self.warmup.value.peek().is_some() {
            self.unfinished.try_lock().ok().and_then(|mut unfinished| unfinished.take());
        }
    }

    /// Returns the value for a caller that is about to encode `bytes` bytes; None if the caller must take the slower
    /// path. `build` builds all of the value, for a text that alone reaches the limit; `step` does a part of the work.
    #[inline]
    pub fn get(
        &self,
        bytes: usize,
        build: impl FnOnce() -> Option<T>,
        step: impl FnOnce(Option<B>) -> Step<T, B>,
    ) -> Option<&T> {
        match self.warmup.value.peek() {
            Some(value) => value.as_ref(),
            None => self.advance(bytes, build, step),
        }
    }

    #[cold]
    fn advance(
        &self,
        bytes: usize,
        build: impl FnOnce() -> Option<T>,
        step: impl FnOnce(Option<B>) -> Step<T, B>,
    ) -> Option<&T> {
        let Warmup { bytes: sum, byte_limit, .. } = &self.warmup;
        if bytes >= *byte_limit {
            return self.build_now(build);
        }
        if sum.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) < *byte_limit {
            return None;
        }
        let mut unfinished = self.unfinished.try_lock().ok()?;
        match memory::run_caught(|| step(unfinished.take())).ok()? {
            Step::Unfinished(value) => {
                *unfinished = Some(value);
                drop(unfinished);
                self.free_steps();
                None
            }
            Step::Finished(value) => self.build_now(|| value),
        }
    }
}

impl<T, B> From<T> for SteppedWarmup<T, B> {
    /// Creates a value that is already built.
    fn from(value: T) -> SteppedWarmup<T, B> {
        SteppedWarmup { warmup: value.into(), unfinished: Mutex::new(None) }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::RefCell;

    use super::*;

    thread_local! {
        /// The types of all values that this thread has built.
        pub(super) static BUILT_TYPES: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
    }

    /// Returns the types of the values that are built while `run` runs.
    pub(crate) fn types_built_by(run: impl FnOnce()) -> Vec<&'static str> {
        BUILT_TYPES.take();
        run();
        BUILT_TYPES.take()
    }

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
    /// Each step adds the bytes of its text; the value is finished at 5.
    fn get(warmup: &SteppedWarmup<usize, usize>, bytes: usize) -> Option<usize> {
        let step = |sum: Option<usize>| match sum.unwrap_or(0) + bytes {
            sum @ 5.. => Step::Finished(Some(sum)),
            sum => Step::Unfinished(sum),
        };
        warmup.get(bytes, || Some(1000), step).copied()
    }

    #[test]
    fn a_stepped_warmup_is_built_by_several_texts_after_its_limit() {
        let warmup = SteppedWarmup::after_bytes(10);
        assert_eq!([7, 2, 3, 1, 2, 9].map(|bytes| get(&warmup, bytes)), [None, None, None, None, Some(6), Some(6)]);
    }

    #[test]
    fn one_long_text_builds_a_stepped_warmup_immediately() {
        let warmup = SteppedWarmup::after_bytes(10);
        assert_eq!([9, 1, 10, 1].map(|bytes| get(&warmup, bytes)), [None, None, Some(1000), Some(1000)]);
        assert!(warmup.unfinished.lock().unwrap().is_none(), "the memory of the steps is freed");
    }

    #[test]
    fn during_a_step_other_callers_take_the_slower_path() {
        let warmup = SteppedWarmup::<usize, usize>::after_bytes(2);
        assert_eq!(get(&warmup, 1), None);
        let during_step = |_| {
            assert_eq!(get(&warmup, 1), None);
            Step::Finished(Some(7))
        };
        assert_eq!((warmup.get(1, || None, during_step), warmup.peek()), (Some(&7), Some(&7)));
        assert_eq!(SteppedWarmup::<_, usize>::from(5).peek(), Some(&5));
    }

    #[test]
    fn a_stepped_value_that_cannot_be_built_is_not_tried_again() {
        let warmup = SteppedWarmup::<usize, usize>::after_bytes(2);
        assert_eq!(warmup.get(1, || None, |_| panic!("too early")), None);
        assert_eq!(warmup.get(1, || None, |_| Step::Finished(None)), None);
        assert_eq!(warmup.get(1, || panic!("built again"), |_| panic!("built again")), None);
    }
}

/// Runs the callers of a warm-up in every order.
#[cfg(all(test, loom))]
mod loom_tests {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    #[test]
    fn a_warmup_is_built_in_every_order_of_its_callers() {
        loom::model(|| {
            let warmup = Arc::new(Warmup::after_bytes(10));
            let callers = [4, 5, 1].map(|bytes| {
                let warmup = Arc::clone(&warmup);
                thread::spawn(move || warmup.get(bytes, || Some(7)).is_some_and(|&value| value == 7))
            });
            let built = callers.map(|caller| caller.join().unwrap());
            assert!(built.contains(&true));
            assert_eq!(warmup.peek(), Some(&7));
        });
    }

    type Steps = SteppedWarmup<u32, u32>;

    /// Gets the value after 1 byte, or does a step, during which other threads run; two steps finish the value.
    fn get(warmup: &Steps) -> Option<u32> {
        let step = |done: Option<u32>| {
            thread::yield_now();
            match done {
                None => Step::Unfinished(1),
                Some(done) => Step::Finished(Some(done + 1)),
            }
        };
        warmup.get(1, || panic!("the text is short"), step).copied()
    }

    #[test]
    fn the_steps_of_a_warmup_are_done_once_and_in_order() {
        loom::model(|| {
            let warmup = Arc::new(Steps::after_bytes(2));
            let callers = [(); 2].map(|()| {
                let warmup = Arc::clone(&warmup);
                thread::spawn(move || get(&warmup))
            });
            for caller in callers {
                assert_eq!(caller.join().unwrap(), None);
            }
            assert_eq!([get(&warmup), get(&warmup)], [Some(2), Some(2)]);
        });
    }

    #[test]
    fn the_memory_of_the_steps_is_freed_by_a_long_text_in_every_order() {
        loom::model(|| {
            let warmup = Arc::new(Steps::after_bytes(2));
            get(&warmup);
            let steps = Arc::clone(&warmup);
            let stepper = thread::spawn(move || get(&steps));
            let build = || {
                thread::yield_now();
                Some(7)
            };
            assert_eq!(warmup.get(2, build, |_| panic!("the text is long")), Some(&7));
            stepper.join().unwrap();
            assert!(warmup.unfinished.lock().unwrap().is_none());
        });
    }
}
