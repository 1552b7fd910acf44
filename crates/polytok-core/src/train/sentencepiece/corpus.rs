//! Texts in, over threads: each thread takes parts of texts and gives their sentences to a sink of its own.
//!
//! A sentence comes with an ordinal, which tells its place among all of them whoever reads it, so that nothing depends on
//! the number of threads. Memory is what the sinks keep; of sampled sentences, the sample.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::loader::{Loader, Skipped};
use super::options::{SentencePieceOptions, SentenceUnit};
use super::sample::Sample;
use crate::error::{Error, Result};

/// Bytes that one thread takes at once: a stretch of a long text, or many short texts.
const PART: usize = 1 << 17;

/// A text counts for so many bytes besides its own, for the work that it is.
const TEXT: usize = 64;

/// Gets the sentences of one thread.
pub trait SentenceSink: Send {
    /// The sentences that follow stand one after the other, from this place on.
    fn begin(&mut self, _ordinal: u64) {}

    /// A sentence of which normalization leaves nothing.
    fn empty(&mut self) -> Result<()> {
        Ok(())
    }

    /// A normalized sentence in which reserved pieces are the boundary, how often it counts, and its place: sentences of
    /// higher ordinals come later, and the next one's is higher by the bytes of this one at least.
    fn sentence(&mut self, sentence: &str, times: u64, ordinal: u64) -> Result<()>;
}

/// What is read, and what of it was left out.
pub struct Corpus<S> {
    loader: Loader,
    sinks: Vec<S>,
    sample: Option<Sample>,
    skipped: Skipped,
    next: u64,
}

/// Texts, or a stretch of one, and the ordinal of its first byte.
struct CorpusPart<'t> {
    texts: &'t [&'t [u8]],
    ordinal: u64,
}

/// The ordinal behind a text. A sentence may be longer than what it was made of, but no word of it starts behind thrice its bytes
/// and a space.
fn behind(ordinal: u64, text: &[u8]) -> u64 {
    ordinal + 4 * text.len() as u64 + 4
}

impl<S: SentenceSink> Corpus<S> {
    /// Reads with as many threads as there are sinks.
    pub fn new(options: &SentencePieceOptions, sinks: Vec<S>) -> Result<Corpus<S>> {
        let (size, is_drawn) = (options.input_sentence_size, options.shuffle_input_sentence);
        Ok(Corpus {
            loader: Loader::compile(options)?,
            sinks,
            sample: (size > 0).then(|| Sample::new(size, is_drawn)),
            skipped: Skipped::default(),
            next: 0,
        })
    }

    /// What was left out until now.
    pub fn skipped(&self) -> Skipped {
        self.skipped
    }

    /// Reads some more texts.
    pub fn push(&mut self, texts: &[&[u8]]) -> Result<()> {
        if let Some(sample) = &mut self.sample {
            return texts.iter().try_for_each(|text| {
                self.loader.read(text, &mut self.skipped, |raw, times| {
                    sample.offer(raw, times);
                    Ok(())
                })
            });
        }
        let texts = self.cut(texts);
        let parts = self.parts(&texts);
        let taken = AtomicUsize::new(0);
        let loader = &self.loader;
        let work = |sink: &mut S| -> Result<Skipped> {
            let mut skipped = Skipped::default();
            let mut reader = CorpusReader { loader, sink, spare: Vec::new(), sentence: Vec::new() };
            while let Some(part) = parts.get(taken.fetch_add(1, Ordering::Relaxed)) {
                reader.part(part, &mut skipped)?;
            }
            Ok(skipped)
        };
        let threads = self.sinks.len().min(parts.len());
        for skipped in in_threads(&mut self.sinks[..threads], work) {
            self.skipped += skipped?;
        }
        Ok(())
    }

    /// Texts that are not empty; a long one of lines as several.
    fn cut<'t>(&self, texts: &[&'t [u8]]) -> Vec<&'t [u8]> {
        let mut cut = Vec::with_capacity(texts.len());
        for text in texts {
            let mut rest = *text;
            while !rest.is_empty() {
                let is_long = self.loader.sentences() == SentenceUnit::Lines && rest.len() > PART;
                let end = if is_long { memchr::memchr(b'\n', &rest[PART..]).map(|at| PART + at + 1) } else { None };
                let (text, others) = rest.split_at(end.unwrap_or(rest.len()));
                cut.push(text);
                rest = others;
            }
        }
        cut
    }

    /// What threads take at once.
    fn parts<'t>(&mut self, texts: &'t [&'t [u8]]) -> Vec<CorpusPart<'t>> {
        let (mut parts, mut from, mut bytes) = (Vec::new(), 0, 0);
        let mut ordinal = self.next;
        for (at, text) in texts.iter().enumerate() {
            bytes += text.len() + TEXT;
            self.next = behind(self.next, text);
            if bytes >= PART || at + 1 == texts.len() {
                parts.push(CorpusPart { texts: &texts[from..=at], ordinal });
                (from, bytes, ordinal) = (at + 1, 0, self.next);
            }
        }
        parts
    }

    /// Everything was read: the sinks, and the first ordinal behind all sentences.
    pub fn finish(mut self) -> Result<(Vec<S>, u64)> {
        if let (Some(sample), Some(sink)) = (self.sample.take(), self.sinks.first_mut()) {
            let mut reader = CorpusReader { loader: &self.loader, sink, spare: Vec::new(), sentence: Vec::new() };
            reader.sink.begin(0);
            for (ordinal, (raw, times)) in sample.sentences.iter().enumerate() {
                reader.sentence(raw, *times, (ordinal as u64) << 32)?;
            }
            self.next = (sample.sentences.len() as u64) << 32;
        }
        Ok((self.sinks, self.next))
    }
}

struct CorpusReader<'c, S> {
    loader: &'c Loader,
    sink: &'c mut S,
    spare: Vec<u8>,
    sentence: Vec<u8>,
}

impl<S: SentenceSink> CorpusReader<'_, S> {
    fn part(&mut self, part: &CorpusPart, skipped: &mut Skipped) -> Result<()> {
        self.sink.begin(part.ordinal);
        let (loader, mut next) = (self.loader, part.ordinal);
        part.texts.iter().try_for_each(|text| {
            let mut ordinal = next;
            next = behind(next, text);
            loader.read(text, skipped, |raw, times| {
                self.sentence(raw, times, ordinal)?;
                ordinal = behind(ordinal, raw);
                Ok(())
            })
        })
    }

    fn sentence(&mut self, raw: &[u8], times: u64, ordinal: u64) -> Result<()> {
        self.loader.prepare(raw, &mut self.spare, &mut self.sentence)?;
        let sentence = std::str::from_utf8(&self.sentence).map_err(|_| {
            Error::Argument("a normalization rule gives text that is not UTF-8; correct the rule".into())
        })?;
        if sentence.is_empty() {
            return self.sink.empty();
        }
        self.sink.sentence(sentence, times, ordinal)
    }
}

/// What each thread makes of its item.
fn in_threads<T: Send, R: Send>(items: &mut [T], work: impl Fn(&mut T) -> R + Sync) -> Vec<R> {
    if let [one] = items {
        return vec![work(one)];
    }
    let results = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for item in items {
            scope.spawn(|| {
                let result = work(item);
                results.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(result);
            });
        }
    });
    results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}
