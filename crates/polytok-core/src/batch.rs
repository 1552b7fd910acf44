//! Many texts in, flat ids and row offsets out, over threads.
//!
//! Texts are handed out in runs of similar size to whichever thread is free; each thread keeps its own scratch. The runs are put
//! together in order, which the threads do side by side too, so the result does not depend on their number. Threads live for one
//! call: there is no pool that a fork could break. Memory: at the end the ids are there twice, but with one thread.

use std::sync::{Mutex, PoisonError};

use crate::error::Result;
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
pub trait Id: Copy + Default + Send {
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

/// Encodes texts with up to `threads` threads; the first error in text order is returned. Every id must fit `T`.
pub fn encode_batch<T: Id>(
    tokenizer: &Tokenizer,
    texts: &[&[u8]],
    options: EncodeOptions,
    threads: usize,
) -> Result<Batch<T>> {
    let runs = runs(texts);
    let threads = threads.clamp(1, runs.len().max(1));
    if threads == 1 {
        let Batch { ids, offsets } = encode_run(tokenizer, texts, options)?;
        return Ok(Batch { ids: ids.into_iter().map(T::of).collect(), offsets });
    }
    let mut done: Vec<Option<Result<Batch<u32>>>> = runs.iter().map(|_| None).collect();
    in_threads(threads, runs.into_iter().zip(&mut done), |(texts, place)| {
        *place = Some(encode_run(tokenizer, texts, options));
    });
    Ok(joined(&done.into_iter().flatten().collect::<Result<Vec<_>>>()?, threads))
}

/// Texts in runs.
fn runs<'a, 'b>(texts: &'a [&'b [u8]]) -> Vec<&'a [&'b [u8]]> {
    let mut runs = Vec::new();
    let (mut from, mut bytes) = (0, 0);
    for (i, text) in texts.iter().enumerate() {
        bytes += text.len();
        if bytes >= RUN || i + 1 == texts.len() {
            runs.push(&texts[from..=i]);
            (from, bytes) = (i + 1, 0);
        }
    }
    runs
}

fn encode_run(tokenizer: &Tokenizer, texts: &[&[u8]], options: EncodeOptions) -> Result<Batch<u32>> {
    let mut batch = Batch { ids: Vec::new(), offsets: vec![0] };
    tokenizer.with_scratch(|scratch| {
        for text in texts {
            tokenizer.encode_to(text, options, scratch, &mut batch.ids)?;
            batch.offsets.push(batch.ids.len() as i64);
        }
        Ok(batch)
    })
}

/// All runs as one batch.
fn joined<T: Id>(runs: &[Batch<u32>], threads: usize) -> Batch<T> {
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
        place.iter_mut().zip(&run.ids).for_each(|(place, &id)| *place = T::of(id));
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
