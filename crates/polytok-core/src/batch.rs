//! Encodes many texts in parallel threads, to one array of all ids and an array with the offset of each text.
//!
//! Consecutive texts with about 64 KB together are a *run*; each free thread encodes the next run with its own scratch.
//! The thread that finishes a run appends this run to the result, and then the following runs that other threads have
//! already finished. Runs are appended in order, so the result does not depend on the number of threads. A thread holds
//! a lock while it appends a run, which takes about a fiftieth of the time of encoding the run. The threads end with
//! the call, so there is no pool of threads that a fork could break. After an error no thread starts a run after the
//! text with the error. Memory: the ids of the result, and the ids of the runs that are not appended yet.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use polytok_memory::{self as memory, Collect, Grow};

use crate::error::{Error, Result};
use crate::huge;
use crate::normalize::output::Span;
use crate::scratch::Scratch;
use crate::sink::Count;
use crate::tokenizer::{EncodeOptions, Tokenizer, Trusted};

/// The number of bytes of text in one run.
pub(crate) const RUN_BYTES: usize = 1 << 16;

/// The ids of many texts; row `i` is `ids[offsets[i]..offsets[i + 1]]`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Batch<T> {
    /// The ids of all texts, concatenated.
    pub ids: Vec<T>,
    /// The start of each row in `ids`, and the end of the last row.
    pub offsets: Vec<i64>,
}

/// A number type that can hold an id.
pub trait Id: Copy + Default + Send + Sync {
    /// Converts an id that fits into this type.
    fn from_id(id: u32) -> Self;
}

impl Id for u32 {
    fn from_id(id: u32) -> u32 {
        id
    }
}

impl Id for u16 {
    fn from_id(id: u32) -> u16 {
        id as u16
    }
}

/// A text of a batch, in the form in which the caller stores it.
pub trait BatchText: Sync {
    /// The number of bytes in memory, by which the texts are divided among the threads.
    fn stored_bytes(&self) -> usize;

    /// Returns the text as UTF-8, which can be written to `buffer`; `None` if the text is missing.
    fn utf8<'a>(&'a self, buffer: &'a mut String) -> Result<Option<&'a [u8]>>;

    /// Returns the trusted runs of the text; None if this is not a text with runs.
    fn trusted(&self) -> Option<&[Span]> {
        None
    }
}

impl BatchText for Option<&[u8]> {
    fn stored_bytes(&self) -> usize {
        self.map_or(0, <[u8]>::len)
    }

    fn utf8<'a>(&'a self, _buffer: &'a mut String) -> Result<Option<&'a [u8]>> {
        Ok(*self)
    }
}

/// A result whose error comes with the index of the text that caused the error.
pub type RowResult<T> = std::result::Result<T, (usize, Error)>;

/// The options of encoding a batch.
#[derive(Clone, Copy, Default)]
pub struct BatchOptions<'a> {
    /// The options for encoding each text.
    pub encode: EncodeOptions<'a>,
    /// The id that is inserted before every text.
    pub begin: Option<u32>,
    /// The id that is inserted after every text.
    pub end: Option<u32>,
    /// The highest number of threads.
    pub threads: usize,
}

/// Encodes texts with up to `threads` threads. A `None` text has no ids. If several texts cannot be encoded, returns
/// the error of the first of these texts. Every id of the vocabulary must fit into `T`.
pub fn encode_batch<T: Id>(
    tokenizer: &Tokenizer,
    texts: &[impl BatchText],
    options: &BatchOptions,
) -> RowResult<Batch<T>> {
    catch_row(|| encode_runs(tokenizer, texts, options))
}

/// Encodes texts as `encode_batch` does.
fn encode_runs<T: Id>(tokenizer: &Tokenizer, texts: &[impl BatchText], options: &BatchOptions) -> RowResult<Batch<T>> {
    let mut batch = new_batch(texts);
    let runs = divide_into_runs(texts);
    let threads = options.threads.min(runs.len());
    if threads <= 1 {
        let encode_all =
            |scratch: &mut Scratch| encode_rows(tokenizer, texts, 0..texts.len(), options, scratch, &mut batch);
        return tokenizer.with_scratch(encode_all).map(|()| batch);
    }
    let joiner = Mutex::new(RunJoiner::new(batch));
    in_threads_with(threads, runs.into_iter().enumerate(), |runs| {
        tokenizer.with_scratch(|scratch| {
            for (index, rows) in runs {
                let memory = lock_joiner(&joiner).take_memory(rows.start);
                let mut run = match memory {
                    RunMemory::Reuse(run) => run,
                    RunMemory::New => new_batch(&texts[rows.clone()]),
                    RunMemory::Skip => break,
                };
                let encoded = encode_rows(tokenizer, texts, rows, options, scratch, &mut run);
                lock_joiner(&joiner).add(index, encoded.map(|()| run));
            }
        });
    });
    let RunJoiner { batch, first_error, .. } = joiner.into_inner().unwrap_or_else(PoisonError::into_inner);
    first_error.map_or(Ok(batch), Err)
}

/// Counts the ids of each text.
pub fn count_batch(
    tokenizer: &Tokenizer,
    texts: &[impl BatchText],
    options: EncodeOptions,
    threads: usize,
) -> RowResult<Vec<i64>> {
    catch_row(|| count_runs(tokenizer, texts, options, threads))
}

/// Counts the ids of each text as `count_batch` does.
fn count_runs(
    tokenizer: &Tokenizer,
    texts: &[impl BatchText],
    options: EncodeOptions,
    threads: usize,
) -> RowResult<Vec<i64>> {
    let runs = divide_into_runs(texts);
    let threads = threads.min(runs.len());
    let mut run_counts: Vec<Option<RowResult<Vec<i64>>>> = runs.iter().map(|_| None).checked_collect();
    in_threads_with(threads, runs.into_iter().zip(&mut run_counts), |runs| {
        tokenizer.with_scratch(|scratch| {
            runs.for_each(|(rows, counts)| *counts = Some(count_rows(tokenizer, texts, rows, options, scratch)));
        });
    });
    let mut counts = memory::with_capacity(texts.len());
    for run in run_counts.into_iter().flatten() {
        counts.checked_extend(run?);
    }
    Ok(counts)
}

/// Calls `run`. If memory is refused, the error does not depend on a text, and the index is 0.
fn catch_row<T>(run: impl FnOnce() -> RowResult<T>) -> RowResult<T> {
    memory::run_caught(run).unwrap_or_else(|refused| Err((0, refused.into())))
}

/// Divides the texts into runs of at least `RUN_BYTES` bytes; the last run can be shorter.
fn divide_into_runs(texts: &[impl BatchText]) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let (mut from, mut bytes) = (0, 0);
    for (i, text) in texts.iter().enumerate() {
        bytes += text.stored_bytes();
        if bytes >= RUN_BYTES || i + 1 == texts.len() {
            runs.checked_push(from..i + 1);
            (from, bytes) = (i + 1, 0);
        }
    }
    runs
}

/// Encodes rows and appends them to a batch.
fn encode_rows<T: Id>(
    tokenizer: &Tokenizer,
    texts: &[impl BatchText],
    rows: Range<usize>,
    options: &BatchOptions,
    scratch: &mut Scratch,
    batch: &mut Batch<T>,
) -> RowResult<()> {
    // The ids are converted to `T` text by text, while the ids of the text are still in the L1 cache.
    let (mut ids, mut buffer) = (Vec::new(), String::new());
    for row in rows {
        let fail = |error| (row, error);
        if let Some(text) = texts[row].utf8(&mut buffer).map_err(fail)? {
            ids.clear();
            ids.checked_extend(options.begin);
            let trusted = texts[row].trusted().map(|runs| Trusted::of_text(runs, text.len()));
            let options_of_text = EncodeOptions { trusted, ..options.encode };
            tokenizer.encode_to(text, options_of_text, scratch, &mut ids).map_err(fail)?;
            ids.checked_extend(options.end);
            batch.ids.checked_extend(ids.iter().map(|&id| T::from_id(id)));
        }
        batch.offsets.checked_push(batch.ids.len() as i64);
    }
    Ok(())
}

/// Creates an empty batch with capacity for one id per three bytes of the texts.
fn new_batch<T>(texts: &[impl BatchText]) -> Batch<T> {
    let bytes: usize = texts.iter().map(BatchText::stored_bytes).sum();
    let mut offsets = memory::with_capacity(texts.len() + 1);
    offsets.checked_push(0);
    Batch { ids: huge::with_capacity(bytes / 3), offsets }
}

fn count_rows(
    tokenizer: &Tokenizer,
    texts: &[impl BatchText],
    rows: Range<usize>,
    options: EncodeOptions,
    scratch: &mut Scratch,
) -> RowResult<Vec<i64>> {
    let mut buffer = String::new();
    let mut count_row = |row: usize| {
        let (mut count, fail) = (Count(0), |error| (row, error));
        if let Some(text) = texts[row].utf8(&mut buffer).map_err(fail)? {
            let trusted = texts[row].trusted().map(|runs| Trusted::of_text(runs, text.len()));
            let options_of_text = EncodeOptions { trusted, ..options };
            tokenizer.encode_to(text, options_of_text, scratch, &mut count).map_err(fail)?;
        }
        Ok(count.0 as i64)
    };
    let mut counts = memory::with_capacity(rows.len());
    for row in rows {
        counts.checked_push(count_row(row)?);
    }
    Ok(counts)
}

/// The memory that a new run is written to.
enum RunMemory<T> {
    /// The memory of a run that has been appended.
    Reuse(Batch<T>),
    /// New memory.
    New,
    /// No memory: the run is skipped, because an earlier text cannot be encoded.
    Skip,
}

/// Joins runs into one batch in the order of their rows; runs can finish in any order.
struct RunJoiner<T> {
    batch: Batch<T>,
    /// The index of the run that is appended next.
    next_run: usize,
    /// The finished runs that cannot be appended yet, because an earlier run is not finished.
    pending_runs: BTreeMap<usize, Batch<T>>,
    /// The memory of appended runs, which later runs use.
    spare_batches: Vec<Batch<T>>,
    /// The error of the first text that cannot be encoded, with the index of this text.
    first_error: Option<(usize, Error)>,
}

impl<T: Id> RunJoiner<T> {
    fn new(batch: Batch<T>) -> RunJoiner<T> {
        RunJoiner { batch, next_run: 0, pending_runs: BTreeMap::new(), spare_batches: Vec::new(), first_error: None }
    }

    /// Returns the memory for the run whose first text has the index `row`.
    fn take_memory(&mut self, row: usize) -> RunMemory<T> {
        if self.first_error.as_ref().is_some_and(|(failed_row, _)| row >= *failed_row) {
            return RunMemory::Skip;
        }
        self.spare_batches.pop().map_or(RunMemory::New, RunMemory::Reuse)
    }

    /// Adds a finished run.
    fn add(&mut self, index: usize, run: RowResult<Batch<T>>) {
        match run {
            Ok(run) => drop(self.pending_runs.insert(index, run)),
            Err(error) if self.first_error.as_ref().is_none_or(|(row, _)| error.0 < *row) => {
                self.first_error = Some(error)
            }
            Err(_) => {}
        }
        while let Some(run) = self.pending_runs.remove(&self.next_run) {
            self.append(run);
            self.next_run += 1;
        }
    }

    fn append(&mut self, mut run: Batch<T>) {
        let id_count = self.batch.ids.len() as i64;
        self.batch.ids.checked_extend_from_slice(&run.ids);
        self.batch.offsets.checked_extend(run.offsets[1..].iter().map(|offset| id_count + offset));
        run.ids.clear();
        run.offsets.truncate(1);
        self.spare_batches.checked_push(run);
    }
}

fn lock_joiner<T>(joiner: &Mutex<RunJoiner<T>>) -> MutexGuard<'_, RunJoiner<T>> {
    joiner.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Processes items in up to `threads` threads.
pub(crate) fn in_threads<T: Send>(threads: usize, items: impl Iterator<Item = T> + Send, work: impl Fn(T) + Sync) {
    in_threads_with(threads, items, |items| items.for_each(&work));
}

/// Processes items in up to `threads` threads. Each thread calls `work` once, with an iterator that returns the next
/// item that no thread has taken. If memory is refused to one thread, no thread takes another item.
fn in_threads_with<T: Send>(
    threads: usize,
    items: impl Iterator<Item = T> + Send,
    work: impl Fn(&mut dyn Iterator<Item = T>) + Sync,
) {
    let items = Mutex::new(items);
    let refused = OnceLock::new();
    let take_item = || items.lock().unwrap_or_else(PoisonError::into_inner).next().filter(|_| refused.get().is_none());
    let process_items = || {
        if let Err(memory) = memory::run_caught(|| work(&mut std::iter::from_fn(take_item))) {
            let _ = refused.set(memory);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // If a thread cannot start, the remaining threads process all items.
            let _ = std::thread::Builder::new().spawn_scoped(scope, process_items);
        }
        process_items();
    });
    if let Some(memory) = refused.get() {
        memory.refuse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const NO_TEXTS: &[Option<&[u8]>] = &[];

    /// Returns the index and the rows of each run, in the order in which the runs finish.
    fn shuffled_runs() -> impl Strategy<Value = Vec<(usize, Vec<Vec<u16>>)>> {
        vec(vec(vec(any::<u16>(), 0..4), 1..4), 1..12)
            .prop_flat_map(|runs| Just(runs.into_iter().enumerate().collect::<Vec<_>>()).prop_shuffle())
    }

    proptest! {
        #[test]
        fn runs_are_joined_in_order_whichever_finishes_first(
            mut runs in shuffled_runs(),
            failed_runs in proptest::sample::subsequence(vec![0, 1, 2], 0..3),
        ) {
            let mut joiner = RunJoiner::new(new_batch(NO_TEXTS));
            for (index, rows) in &runs {
                let mut run = match joiner.take_memory(*index) {
                    RunMemory::Reuse(run) => run,
                    RunMemory::New => new_batch(NO_TEXTS),
                    RunMemory::Skip => continue,
                };
                for row in rows {
                    run.ids.extend_from_slice(row);
                    run.offsets.push(run.ids.len() as i64);
                }
                let fails = failed_runs.contains(index);
                joiner.add(*index, if fails { Err((*index, Error::Id(0))) } else { Ok(run) });
            }
            let first_failed_run = failed_runs.into_iter().find(|&index| index < runs.len());
            prop_assert_eq!(joiner.first_error.map(|(row, _)| row), first_failed_run);
            if first_failed_run.is_none() {
                runs.sort();
                let rows = runs.into_iter().flat_map(|(_, rows)| rows);
                let mut expected = new_batch(NO_TEXTS);
                for row in rows {
                    expected.ids.extend(row);
                    expected.offsets.push(expected.ids.len() as i64);
                }
                prop_assert_eq!(joiner.batch, expected);
            }
        }
    }
}
