//! Many texts in, flat ids and row offsets out, over threads.
//!
//! Texts are handed out in runs of similar size to whichever thread is free; each thread keeps its own scratch. Whoever is done with a
//! run appends it to the result, and those behind it that wait for it: in order, so the result does not depend on the number of
//! threads. That is a copy of a run under a lock, a fiftieth of the time that the run took. Threads live for one call: there is no pool
//! that a fork could break. Memory: the ids, and those of runs that wait or are at work. Behind an error no run is begun.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::Error;
use crate::huge;
use crate::scratch::Scratch;
use crate::sink::Count;
use crate::tokenizer::{EncodeOptions, Tokenizer};

/// Bytes of text in one run.
const RUN: usize = 1 << 16;

/// The ids of many texts; row `i` is `ids[offsets[i]..offsets[i + 1]]`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Batch<T> {
    /// All ids, one text after the other.
    pub ids: Vec<T>,
    /// Row borders, one more than there are texts.
    pub offsets: Vec<i64>,
}

/// A number that holds an id.
pub trait Id: Copy + Default + Send + Sync {
    /// Of an id that fits.
    fn of(id: u32) -> Self;
}

impl Id for u32 {
    fn of(id: u32) -> u32 {
        id
    }
}

impl Id for u16 {
    fn of(id: u32) -> u16 {
        id as u16
    }
}

/// An error, and the row of the text that it is about.
pub type RowResult<T> = std::result::Result<T, (usize, Error)>;

/// How texts are encoded.
#[derive(Clone, Copy, Default)]
pub struct BatchOptions<'a> {
    /// Of every text.
    pub encode: EncodeOptions<'a>,
    /// An id before every text.
    pub begin: Option<u32>,
    /// An id behind every text.
    pub end: Option<u32>,
    /// How many there may be.
    pub threads: usize,
}

/// Encodes texts with up to `threads` threads; None has no ids. The first error in text order is returned. Every id must
/// fit `T`.
pub fn encode_batch<T: Id>(
    tokenizer: &Tokenizer,
    texts: &[Option<&[u8]>],
    options: &BatchOptions,
) -> RowResult<Batch<T>> {
    let mut batch = room_for(texts);
    let runs = runs(texts);
    let threads = options.threads.min(runs.len());
    if threads <= 1 {
        let encode =
            |scratch: &mut Scratch| encode_rows(tokenizer, texts, 0..texts.len(), options, scratch, &mut batch);
        return tokenizer.with_scratch(encode).map(|()| batch);
    }
    let joining = Mutex::new(Joining::new(batch));
    in_threads_with(threads, runs.into_iter().enumerate(), |runs| {
        tokenizer.with_scratch(|scratch| {
            for (index, rows) in runs {
                let begin = locked(&joining).begin(rows.start);
                let mut run = match begin {
                    Begin::Reuse(run) => run,
                    Begin::New => room_for(&texts[rows.clone()]),
                    Begin::Skip => break,
                };
                let done = encode_rows(tokenizer, texts, rows, options, scratch, &mut run);
                locked(&joining).add(index, done.map(|()| run));
            }
        });
    });
    let Joining { batch, failed, .. } = joining.into_inner().unwrap_or_else(PoisonError::into_inner);
    failed.map_or(Ok(batch), Err)
}

/// The numbers of ids of texts.
pub fn count_batch(
    tokenizer: &Tokenizer,
    texts: &[Option<&[u8]>],
    options: EncodeOptions,
    threads: usize,
) -> RowResult<Vec<i64>> {
    let runs = runs(texts);
    let threads = threads.min(runs.len());
    let mut done: Vec<Option<RowResult<Vec<i64>>>> = runs.iter().map(|_| None).collect();
    in_threads_with(threads, runs.into_iter().zip(&mut done), |runs| {
        tokenizer.with_scratch(|scratch| {
            runs.for_each(|(rows, place)| *place = Some(count_rows(tokenizer, texts, rows, options, scratch)));
        });
    });
    let counts: RowResult<Vec<Vec<i64>>> = done.into_iter().flatten().collect();
    Ok(counts?.concat())
}

/// Rows of texts in runs.
fn runs(texts: &[Option<&[u8]>]) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let (mut from, mut bytes) = (0, 0);
    for (i, text) in texts.iter().enumerate() {
        bytes += text.map_or(0, <[u8]>::len);
        if bytes >= RUN || i + 1 == texts.len() {
            runs.push(from..i + 1);
            (from, bytes) = (i + 1, 0);
        }
    }
    runs
}

/// Appends rows.
fn encode_rows<T: Id>(
    tokenizer: &Tokenizer,
    texts: &[Option<&[u8]>],
    rows: Range<usize>,
    options: &BatchOptions,
    scratch: &mut Scratch,
    batch: &mut Batch<T>,
) -> RowResult<()> {
    // A text's ids become narrow while they are still in the nearest cache.
    let mut ids = Vec::new();
    for row in rows {
        if let Some(text) = texts[row] {
            ids.clear();
            ids.extend(options.begin);
            tokenizer.encode_to(text, options.encode, scratch, &mut ids).map_err(|error| (row, error))?;
            ids.extend(options.end);
            batch.ids.extend(ids.iter().map(|&id| T::of(id)));
        }
        batch.offsets.push(batch.ids.len() as i64);
    }
    Ok(())
}

/// A batch without rows that need not grow while texts of the usual four or so bytes a token come in.
fn room_for<T>(texts: &[Option<&[u8]>]) -> Batch<T> {
    let bytes: usize = texts.iter().flatten().map(|text| text.len()).sum();
    let mut offsets = Vec::with_capacity(texts.len() + 1);
    offsets.push(0);
    Batch { ids: huge::with_capacity(bytes / 3), offsets }
}

fn count_rows(
    tokenizer: &Tokenizer,
    texts: &[Option<&[u8]>],
    rows: Range<usize>,
    options: EncodeOptions,
    scratch: &mut Scratch,
) -> RowResult<Vec<i64>> {
    let count = |row: usize| {
        let mut count = Count(0);
        if let Some(text) = texts[row] {
            tokenizer.encode_to(text, options, scratch, &mut count).map_err(|error| (row, error))?;
        }
        Ok(count.0 as i64)
    };
    rows.map(count).collect()
}

/// How a run begins.
enum Begin<T> {
    /// In the memory of a run that was appended.
    Reuse(Batch<T>),
    /// In memory of its own.
    New,
    /// Not at all: it follows a text that cannot be encoded.
    Skip,
}

/// Runs that become one batch, whichever is done first.
struct Joining<T> {
    batch: Batch<T>,
    /// The run that is appended next.
    next: usize,
    /// Runs behind it that are done.
    waiting: BTreeMap<usize, Batch<T>>,
    /// Memory of runs that were appended.
    spare: Vec<Batch<T>>,
    /// The first error in text order.
    failed: Option<(usize, Error)>,
}

impl<T: Id> Joining<T> {
    fn new(batch: Batch<T>) -> Joining<T> {
        Joining { batch, next: 0, waiting: BTreeMap::new(), spare: Vec::new(), failed: None }
    }

    /// How the run that starts at this row begins.
    fn begin(&mut self, row: usize) -> Begin<T> {
        if self.failed.as_ref().is_some_and(|(failed, _)| row >= *failed) {
            return Begin::Skip;
        }
        self.spare.pop().map_or(Begin::New, Begin::Reuse)
    }

    /// A run is done.
    fn add(&mut self, index: usize, run: RowResult<Batch<T>>) {
        match run {
            Ok(run) => drop(self.waiting.insert(index, run)),
            Err(error) if self.failed.as_ref().is_none_or(|(row, _)| error.0 < *row) => self.failed = Some(error),
            Err(_) => {}
        }
        while let Some(run) = self.waiting.remove(&self.next) {
            self.append(run);
            self.next += 1;
        }
    }

    fn append(&mut self, mut run: Batch<T>) {
        let base = self.batch.ids.len() as i64;
        self.batch.ids.extend_from_slice(&run.ids);
        self.batch.offsets.extend(run.offsets[1..].iter().map(|offset| base + offset));
        run.ids.clear();
        run.offsets.truncate(1);
        self.spare.push(run);
    }
}

fn locked<T>(joining: &Mutex<Joining<T>>) -> MutexGuard<'_, Joining<T>> {
    joining.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Works off items, in up to so many threads.
pub(crate) fn in_threads<T: Send>(threads: usize, items: impl Iterator<Item = T> + Send, work: impl Fn(T) + Sync) {
    in_threads_with(threads, items, |items| items.for_each(&work));
}

/// The same; each thread is given the items that come to it.
fn in_threads_with<T: Send>(
    threads: usize,
    items: impl Iterator<Item = T> + Send,
    work: impl Fn(&mut dyn Iterator<Item = T>) + Sync,
) {
    let items = Mutex::new(items);
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work_off = || work(&mut std::iter::from_fn(next));
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // A thread that cannot be had only leaves more to the others.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work_off);
        }
        work_off();
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// Numbers of runs with their rows, in the order in which they are done.
    fn runs() -> impl Strategy<Value = Vec<(usize, Vec<Vec<u16>>)>> {
        vec(vec(vec(any::<u16>(), 0..4), 1..4), 1..12)
            .prop_flat_map(|runs| Just(runs.into_iter().enumerate().collect::<Vec<_>>()).prop_shuffle())
    }

    proptest! {
        #[test]
        fn runs_are_joined_in_order_whichever_is_first(
            mut runs in runs(),
            failed in proptest::sample::subsequence(vec![0, 1, 2], 0..3),
        ) {
            let mut joining = Joining::new(room_for(&[]));
            for (index, rows) in &runs {
                let mut run = match joining.begin(*index) {
                    Begin::Reuse(run) => run,
                    Begin::New => room_for(&[]),
                    Begin::Skip => continue,
                };
                for row in rows {
                    run.ids.extend_from_slice(row);
                    run.offsets.push(run.ids.len() as i64);
                }
                let is_failed = failed.contains(index);
                joining.add(*index, if is_failed { Err((*index, Error::Id(0))) } else { Ok(run) });
            }
            let failed = failed.into_iter().find(|&index| index < runs.len());
            prop_assert_eq!(joining.failed.map(|(row, _)| row), failed);
            if failed.is_none() {
                runs.sort();
                let rows = runs.into_iter().flat_map(|(_, rows)| rows);
                let mut expected = room_for(&[]);
                for row in rows {
                    expected.ids.extend(row);
                    expected.offsets.push(expected.ids.len() as i64);
                }
                prop_assert_eq!(joining.batch, expected);
            }
        }
    }
}
