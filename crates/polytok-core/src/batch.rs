//! Many texts in, flat ids and row offsets out, over threads.
//!
//! Texts are handed out in runs of similar size to whichever thread is free; each thread keeps its own scratch. The runs are put
//! together in order, which the threads do side by side too, so the result does not depend on their number. Threads live for one
//! call: there is no pool that a fork could break. Memory: at the end the ids are there twice, but with one thread.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::error::Error;
use crate::post::Count;
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
    let mut done = by_runs(texts, options.threads, |rows| encode_run(tokenizer, texts, rows, options))?;
    Ok(if done.len() == 1 { done.swap_remove(0) } else { joined(&done, options.threads) })
}

/// The numbers of ids of texts.
pub fn count_batch(
    tokenizer: &Tokenizer,
    texts: &[Option<&[u8]>],
    options: EncodeOptions,
    threads: usize,
) -> RowResult<Vec<i64>> {
    Ok(by_runs(texts, threads, |rows| count_run(tokenizer, texts, rows, options))?.concat())
}

/// What is made of each run of texts, in order. One thread has one run.
fn by_runs<T: Send>(
    texts: &[Option<&[u8]>],
    threads: usize,
    work: impl Fn(Range<usize>) -> RowResult<T> + Sync,
) -> RowResult<Vec<T>> {
    if threads <= 1 {
        return Ok(vec![work(0..texts.len())?]);
    }
    let runs = runs(texts);
    let threads = threads.min(runs.len());
    let mut done: Vec<Option<RowResult<T>>> = runs.iter().map(|_| None).collect();
    in_threads(threads, runs.into_iter().zip(&mut done), |(rows, place)| *place = Some(work(rows)));
    done.into_iter().flatten().collect()
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

fn encode_run<T: Id>(
    tokenizer: &Tokenizer,
    texts: &[Option<&[u8]>],
    rows: Range<usize>,
    options: &BatchOptions,
) -> RowResult<Batch<T>> {
    let mut batch = room_for(&texts[rows.clone()]);
    // A text's ids become narrow while they are still in the nearest cache.
    let mut ids = Vec::new();
    tokenizer.with_scratch(|scratch| {
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
        Ok(batch)
    })
}

/// A batch without rows that need not grow while texts of the usual four or so bytes a token come in.
fn room_for<T>(texts: &[Option<&[u8]>]) -> Batch<T> {
    let bytes: usize = texts.iter().flatten().map(|text| text.len()).sum();
    let mut offsets = Vec::with_capacity(texts.len() + 1);
    offsets.push(0);
    Batch { ids: Vec::with_capacity(bytes / 3), offsets }
}

fn count_run(
    tokenizer: &Tokenizer,
    texts: &[Option<&[u8]>],
    rows: Range<usize>,
    options: EncodeOptions,
) -> RowResult<Vec<i64>> {
    let mut counts = Vec::with_capacity(rows.len());
    tokenizer.with_scratch(|scratch| {
        for row in rows {
            let mut count = Count(0);
            if let Some(text) = texts[row] {
                tokenizer.encode_to(text, options, scratch, &mut count).map_err(|error| (row, error))?;
            }
            counts.push(count.0 as i64);
        }
        Ok(counts)
    })
}

/// All runs as one batch.
fn joined<T: Id>(runs: &[Batch<T>], threads: usize) -> Batch<T> {
    let mut offsets = vec![0];
    let mut ids = vec![T::default(); runs.iter().map(|run| run.ids.len()).sum()];
    let mut places = Vec::with_capacity(runs.len());
    let mut rest = &mut ids[..];
    let mut base = 0;
    for run in runs {
        offsets.extend(run.offsets[1..].iter().map(|offset| base + offset));
        base += run.ids.len() as i64;
        let (place, after) = std::mem::take(&mut rest).split_at_mut(run.ids.len());
        places.push(place);
        rest = after;
    }
    in_threads(threads, places.into_iter().zip(runs), |(place, run)| {
        place.copy_from_slice(&run.ids);
    });
    Batch { ids, offsets }
}

/// Works off items, in up to so many threads.
pub(crate) fn in_threads<T: Send>(threads: usize, items: impl Iterator<Item = T> + Send, work: impl Fn(T) + Sync) {
    let items = Mutex::new(items);
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work_off = || {
        while let Some(item) = next() {
            work(item);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // A thread that cannot be had only leaves more to the others.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work_off);
        }
        work_off();
    });
}
