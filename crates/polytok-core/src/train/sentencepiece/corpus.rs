//! Reads texts in several threads: each thread reads parts of texts and passes the sentences to its own sink.
//!
//! Every sentence has an ordinal that depends only on the position of the sentence in the corpus, so results do not
//! depend on the number of threads. Memory: that of the sinks, and the sampled sentences if a sample is drawn.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};

use polytok_memory::{self as memory, Collect, Grow};

use super::loader::{Loader, SkippedSentences};
use super::options::{SentencePieceOptions, SentenceUnit};
use super::sample::Sample;
use crate::error::{Error, Result};

/// The size in bytes of a part, which is a segment of a long text or many short texts.
const PART_BYTES: usize = 1 << 17;

/// The cost of a text independent of its length, in bytes. It is added to the length of each text when texts are
/// grouped to parts.
const TEXT_OVERHEAD: usize = 64;

/// Receives the sentences that one thread reads.
pub trait SentenceSink: Send {
    /// Announces consecutive sentences whose ordinals are at least `ordinal`.
    fn begin(&mut self, _ordinal: u64) {}

    /// Receives a sentence that is empty after normalization.
    fn empty(&mut self) -> Result<()> {
        Ok(())
    }

    /// Receives a normalized sentence, its count, and its ordinal. In the sentence, boundary characters replace
    /// reserved pieces. The ordinal of the next sentence is higher by at least the length of this sentence in bytes.
    fn add_sentence(&mut self, sentence: &str, times: u64, ordinal: u64) -> Result<()>;
}

/// Reads a training corpus into sinks and counts the skipped sentences.
pub struct Corpus<S> {
    loader: Loader,
    sinks: Vec<S>,
    sample: Option<Sample>,
    skipped_sentences: SkippedSentences,
    next_ordinal: u64,
}

/// The texts that a thread reads as one part (or one segment of a text), and the ordinal of the first byte.
struct CorpusPart<'t> {
    texts: &'t [&'t [u8]],
    ordinal: u64,
}

/// Returns the first ordinal after a text. A normalized sentence can be longer than its text, but all its words start
/// within three times the length of the text plus a space.
fn ordinal_after(ordinal: u64, text: &[u8]) -> u64 {
    ordinal + 4 * text.len() as u64 + 4
}

impl<S: SentenceSink> Corpus<S> {
    /// Creates a corpus that reads with one thread for each sink.
    pub fn new(options: &SentencePieceOptions, sinks: Vec<S>) -> Result<Corpus<S>> {
        let (size, is_drawn) = (options.input_sentence_size, options.shuffle_input_sentence);
        Ok(Corpus {
            loader: Loader::compile(options)?,
            sinks,
            sample: (size > 0).then(|| Sample::new(size, is_drawn)),
            skipped_sentences: SkippedSentences::default(),
            next_ordinal: 0,
        })
    }

    /// Returns the number of sentences skipped so far.
    pub fn skipped(&self) -> SkippedSentences {
        self.skipped_sentences
    }

    /// Reads further texts.
    pub fn push(&mut self, texts: &[&[u8]]) -> Result<()> {
        memory::catch(|| {
            if let Some(sample) = &mut self.sample {
                return texts.iter().try_for_each(|text| {
                    self.loader.read(text, &mut self.skipped_sentences, |raw, times| {
                        sample.offer(raw, times);
                        Ok(())
                    })
                });
            }
            let texts = self.split_long_texts(texts);
            let parts = self.parts(&texts);
            let next_part = AtomicUsize::new(0);
            let loader = &self.loader;
            let work = |sink: &mut S| -> Result<SkippedSentences> {
                let mut skipped_sentences = SkippedSentences::default();
                let mut reader = CorpusReader { loader, sink, spare: Vec::new(), sentence: Vec::new() };
                while let Some(part) = parts.get(next_part.fetch_add(1, Ordering::Relaxed)) {
                    reader.part(part, &mut skipped_sentences)?;
                }
                Ok(skipped_sentences)
            };
            let threads = self.sinks.len().min(parts.len());
            for skipped_sentences in run_in_threads(&mut self.sinks[..threads], work)? {
                self.skipped_sentences += skipped_sentences;
            }
            Ok(())
        })
    }

    /// Removes empty texts. If sentences are lines, also splits long texts into segments of whole lines.
    fn split_long_texts<'t>(&self, texts: &[&'t [u8]]) -> Vec<&'t [u8]> {
        let mut segments = memory::with_capacity(texts.len());
        for text in texts {
            let mut remaining_text = *text;
            while !remaining_text.is_empty() {
                let is_long = self.loader.sentences() == SentenceUnit::Lines && remaining_text.len() > PART_BYTES;
                let end = if is_long {
                    memchr::memchr(b'\n', &remaining_text[PART_BYTES..]).map(|at| PART_BYTES + at + 1)
                } else {
                    None
                };
                let (segment, after) = remaining_text.split_at(end.unwrap_or(remaining_text.len()));
                segments.checked_push(segment);
                remaining_text = after;
            }
        }
        segments
    }

    /// Groups texts into parts of similar size.
    fn parts<'t>(&mut self, texts: &'t [&'t [u8]]) -> Vec<CorpusPart<'t>> {
        let (mut parts, mut from, mut bytes) = (Vec::new(), 0, 0);
        let mut ordinal = self.next_ordinal;
        for (at, text) in texts.iter().enumerate() {
            bytes += text.len() + TEXT_OVERHEAD;
            self.next_ordinal = ordinal_after(self.next_ordinal, text);
            if bytes >= PART_BYTES || at + 1 == texts.len() {
                parts.checked_push(CorpusPart { texts: &texts[from..=at], ordinal });
                (from, bytes, ordinal) = (at + 1, 0, self.next_ordinal);
            }
        }
        parts
    }

    /// Ends reading. Returns the sinks and the first ordinal after all sentences.
    pub fn finish(mut self) -> Result<(Vec<S>, u64)> {
        memory::catch(|| {
            if let (Some(sample), Some(sink)) = (self.sample.take(), self.sinks.first_mut()) {
                let mut reader = CorpusReader { loader: &self.loader, sink, spare: Vec::new(), sentence: Vec::new() };
                reader.sink.begin(0);
                for (ordinal, (raw, times)) in sample.sentences.iter().enumerate() {
                    reader.add_sentence(raw, *times, (ordinal as u64) << 32)?;
                }
                self.next_ordinal = (sample.sentences.len() as u64) << 32;
            }
            Ok((self.sinks, self.next_ordinal))
        })
    }
}

/// Reads parts for one sink.
struct CorpusReader<'c, S> {
    loader: &'c Loader,
    sink: &'c mut S,
    spare: Vec<u8>,
    sentence: Vec<u8>,
}

impl<S: SentenceSink> CorpusReader<'_, S> {
    fn part(&mut self, part: &CorpusPart, skipped_sentences: &mut SkippedSentences) -> Result<()> {
        self.sink.begin(part.ordinal);
        let (loader, mut next) = (self.loader, part.ordinal);
        part.texts.iter().try_for_each(|text| {
            let mut ordinal = next;
            next = ordinal_after(next, text);
            loader.read(text, skipped_sentences, |raw, times| {
                self.add_sentence(raw, times, ordinal)?;
                ordinal = ordinal_after(ordinal, raw);
                Ok(())
            })
        })
    }

    fn add_sentence(&mut self, raw: &[u8], times: u64, ordinal: u64) -> Result<()> {
        self.loader.prepare(raw, &mut self.spare, &mut self.sentence)?;
        let sentence = std::str::from_utf8(&self.sentence).map_err(|_| {
            Error::Argument("a normalization rule produces text that is not UTF-8; correct the rule".into())
        })?;
        if sentence.is_empty() {
            return self.sink.empty();
        }
        self.sink.add_sentence(sentence, times, ordinal)
    }
}

/// Runs `work` for each item, each in a separate thread, and returns the results. The calling thread works too. If a
/// thread cannot start, its item is left out, so the other threads must be able to do its work.
fn run_in_threads<T: Send, R: Send>(items: &mut [T], work: impl Fn(&mut T) -> Result<R> + Sync) -> Result<Vec<R>> {
    let Some((own, others)) = items.split_first_mut() else { return Ok(Vec::new()) };
    let work = &|item: &mut T| memory::catch(|| work(item));
    std::thread::scope(|scope| {
        let spawn = |item| std::thread::Builder::new().spawn_scoped(scope, move || work(item));
        let threads = others.iter_mut().flat_map(spawn).checked_collect();
        let mut results = vec![work(own)];
        results.extend(threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))));
        results.into_iter().collect()
    })
}
