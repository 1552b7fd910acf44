//! Many texts in, flat ids and row offsets out, over threads.
//!
//! Texts are handed out in runs of similar size to whichever thread is free; each thread keeps its own scratch, and the runs are put
//! together in order, so the result does not depend on the number of threads. Threads live for one call: there is no
//! pool that a fork could break.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::Result;
use crate::tokenizer::{EncodeOptions, Tokenizer};

/// Bytes of text in one run.
const RUN: usize = 1 << 16;

/// The ids of many texts; row `i` is `ids[offsets[i]..offsets[i + 1]]`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// All ids, one text after the other.
    pub ids: Vec<u32>,
    /// Row borders, one more than there are texts.
    pub offsets: Vec<i64>,
}

impl Batch {
    fn append(&mut self, other: &Batch) {
        let base = self.ids.len() as i64;
        self.ids.extend_from_slice(&other.ids);
        self.offsets.extend(other.offsets[1..].iter().map(|offset| base + offset));
    }

    fn empty() -> Batch {
        Batch { ids: Vec::new(), offsets: vec![0] }
    }
}

/// Encodes texts with up to `threads` threads; the first error in text order is returned.
pub fn encode_batch(tokenizer: &Tokenizer, texts: &[&[u8]], options: EncodeOptions, threads: usize) -> Result<Batch> {
    let runs = runs(texts);
    let threads = threads.clamp(1, runs.len().max(1));
    if threads == 1 {
        return encode_run(tokenizer, texts, options);
    }
    let next = AtomicUsize::new(0);
    let done: Vec<Mutex<Option<Result<Batch>>>> = runs.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        while let Some(run) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let result = encode_run(tokenizer, &texts[run.from..run.to], options);
            if let Ok(mut place) = done[run.number].lock() {
                *place = Some(result);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // A thread that cannot be had only leaves more to the others.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    let mut whole = Batch::empty();
    for place in done {
        if let Ok(Some(result)) = place.into_inner() {
            whole.append(&result?);
        }
    }
    Ok(whole)
}

struct Run {
    number: usize,
    from: usize,
    to: usize,
}

fn runs(texts: &[&[u8]]) -> Vec<Run> {
    let mut runs = Vec::new();
    let (mut from, mut bytes) = (0, 0);
    for (i, text) in texts.iter().enumerate() {
        bytes += text.len();
        if bytes >= RUN || i + 1 == texts.len() {
            runs.push(Run { number: runs.len(), from, to: i + 1 });
            (from, bytes) = (i + 1, 0);
        }
    }
    runs
}

fn encode_run(tokenizer: &Tokenizer, texts: &[&[u8]], options: EncodeOptions) -> Result<Batch> {
    let mut batch = Batch::empty();
    tokenizer.with_scratch(|scratch| {
        for text in texts {
            tokenizer.encode_to(text, options, scratch, &mut batch.ids)?;
            batch.offsets.push(batch.ids.len() as i64);
        }
        Ok(batch)
    })
}
