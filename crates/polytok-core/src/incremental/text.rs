//! A text with its ids, which are kept when the text changes.
//!
//! The text before the last cut is *settled*: its ids change only if this part of the text changes. Settled text is
//! stored in chunks that copies share. A change of the text opens the chunk in which it begins, and encodes from there
//! to the last cut of the new text, and from this cut to the end. Chunks are small, so the cost of a change is that of
//! encoding the changed text and a few kilobytes; appending costs the appended text and the text after the last cut.
//! Text without cuts is encoded again with each change.

use std::sync::Arc;

use super::settle::OpenText;
use crate::error::Result;
use crate::tokenizer::cuts::{CUT_WINDOW, CutState};
use crate::tokenizer::{EncodeOptions, Tokenizer};
use crate::utf8::is_continuation;

/// The minimum number of bytes of a chunk.
const CHUNK_BYTES: usize = 2048;

/// The number of bytes in which the last cut is searched for.
const BLOCK_BYTES: usize = 4096;

/// A part of the settled text, with its ids.
#[derive(Debug)]
struct Chunk {
    text: Box<[u8]>,
    ids: Box<[u32]>,
}

/// A chunk, with the numbers of bytes, characters and ids up to its end.
#[derive(Clone, Debug)]
struct PlacedChunk {
    chunk: Arc<Chunk>,
    ends: Counts,
    /// The state of the cut at the end of the chunk.
    state: CutState,
}

/// Numbers of bytes, characters and ids.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    bytes: usize,
    chars: usize,
    ids: usize,
}

/// The difference between the ids before and after a change of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The number of ids at the start that stay.
    pub kept: usize,
    /// The ids after them.
    pub ids: Vec<u32>,
}

/// A text with its ids. Calls must pass the same tokenizer and options.
#[derive(Clone, Debug)]
pub struct IncrementalText {
    chunks: Vec<PlacedChunk>,
    /// The text after the last chunk.
    open: OpenText,
    /// The offset of the last cut in `open`.
    settled: usize,
    /// The state of the last cut.
    state: CutState,
    /// The ids of the text in `open` before the last cut.
    settled_ids: Vec<u32>,
    /// The ids of the text after the last cut.
    pending_ids: Vec<u32>,
}

impl IncrementalText {
    /// Creates an empty text.
    pub fn new(tokenizer: &Tokenizer, options: EncodeOptions) -> Result<IncrementalText> {
        let mut text = IncrementalText {
            chunks: Vec::new(),
            open: OpenText::default(),
            settled: 0,
            state: CutState::default(),
            settled_ids: Vec::new(),
            pending_ids: Vec::new(),
        };
        text.replace_from(tokenizer, 0, b"", options)?;
        Ok(text)
    }

    /// Replaces the text from byte `at` on, and returns the change of the ids. If encoding fails, nothing is changed.
    pub fn replace_from(
        &mut self,
        tokenizer: &Tokenizer,
        at: usize,
        text: &[u8],
        options: EncodeOptions,
    ) -> Result<Change> {
        let kept_chunks = self.chunks_before(at);
        let mut next = IncrementalText {
            chunks: Vec::new(),
            open: OpenText::default(),
            settled: self.settled,
            state: self.state,
            settled_ids: Vec::new(),
            pending_ids: Vec::new(),
        };
        let mut old_ids = Vec::new();
        let keeps_settled = self.start_of_open() + self.settled - self.open.context_len + CUT_WINDOW <= at;
        if kept_chunks == self.chunks.len() && keeps_settled {
            next.open = self.open.clone();
            next.settled_ids = self.settled_ids.clone();
        } else {
            next.open = self.reopened(tokenizer, kept_chunks, at);
            next.settled = next.open.context_len;
            next.state = kept_chunks.checked_sub(1).map_or_else(CutState::default, |last| self.chunks[last].state);
            self.chunks[kept_chunks..].iter().for_each(|placed| old_ids.extend_from_slice(&placed.chunk.ids));
            old_ids.extend_from_slice(&self.settled_ids);
        }
        let start = self.counts_before(kept_chunks);
        let base = start.ids + next.settled_ids.len();
        next.open.truncate(next.open.context_len + at - start.bytes);
        next.open.extend(text);
        let mut new_ids = Vec::new();
        next.settle(tokenizer, start, options, &mut new_ids)?;
        let (prefix, suffix) = tokenizer.affixes(options.add_special).unwrap_or_default();
        old_ids.extend_from_slice(&self.pending_ids);
        new_ids.extend_from_slice(&next.pending_ids);
        for ids in [&mut old_ids, &mut new_ids] {
            ids.extend_from_slice(&suffix);
        }
        self.chunks.truncate(kept_chunks);
        self.chunks.append(&mut next.chunks);
        *self = IncrementalText { chunks: std::mem::take(&mut self.chunks), ..next };
        let common = old_ids.iter().zip(&new_ids).take_while(|(old, new)| old == new).count();
        new_ids.drain(..common);
        Ok(Change { kept: prefix.len() + base + common, ids: new_ids })
    }

    /// Appends text.
    pub fn append(&mut self, tokenizer: &Tokenizer, text: &[u8], options: EncodeOptions) -> Result<Change> {
        self.replace_from(tokenizer, self.bytes(), text, options)
    }

    /// Replaces the whole text; only the text after the common start of both texts is encoded.
    pub fn set_text(&mut self, tokenizer: &Tokenizer, text: &[u8], options: EncodeOptions) -> Result<Change> {
        let mut at = 0;
        for part in self.parts() {
            let common = common_len(part, &text[at..]);
            at += common;
            if common < part.len() {
                break;
            }
        }
        while at > 0 && text.get(at).is_some_and(|&byte| is_continuation(byte)) {
            at -= 1;
        }
        self.replace_from(tokenizer, at, &text[at..], options)
    }

    /// Keeps the first `chars` characters.
    pub fn truncate(&mut self, tokenizer: &Tokenizer, chars: usize, options: EncodeOptions) -> Result<Change> {
        let kept_chunks = self.chunks.partition_point(|placed| placed.ends.chars < chars);
        let start = self.counts_before(kept_chunks);
        let part = self.parts().nth(kept_chunks).unwrap_or_default();
        let mut char_starts = (0..part.len()).filter(|&at| !is_continuation(part[at]));
        let offset = char_starts.nth(chars - start.chars).unwrap_or(part.len());
        self.replace_from(tokenizer, start.bytes + offset, b"", options)
    }

    /// Returns the ids of the text.
    pub fn ids(&self, tokenizer: &Tokenizer, options: EncodeOptions) -> Vec<u32> {
        let (mut ids, suffix) = tokenizer.affixes(options.add_special).unwrap_or_default();
        self.chunks.iter().for_each(|placed| ids.extend_from_slice(&placed.chunk.ids));
        [&self.settled_ids, &self.pending_ids, &suffix].into_iter().for_each(|part| ids.extend_from_slice(part));
        ids
    }

    /// Returns the text.
    pub fn text(&self) -> Vec<u8> {
        self.parts().collect::<Vec<_>>().concat()
    }

    /// Returns the number of bytes of the text.
    pub fn bytes(&self) -> usize {
        self.start_of_open() + self.open.bytes.len() - self.open.context_len
    }

    /// Returns the number of leading ids that no text appended later changes.
    pub fn settled_count(&self, tokenizer: &Tokenizer, options: EncodeOptions) -> usize {
        let (prefix, _) = tokenizer.affixes(options.add_special).unwrap_or_default();
        prefix.len() + self.counts_before(self.chunks.len()).ids + self.settled_ids.len()
    }

    /// Returns the parts of the text, from left to right.
    fn parts(&self) -> impl Iterator<Item = &[u8]> {
        let chunks = self.chunks.iter().map(|placed| &placed.chunk.text[..]);
        chunks.chain([&self.open.bytes[self.open.context_len..]])
    }

    /// Returns the counts before the chunk with an index.
    fn counts_before(&self, chunk: usize) -> Counts {
        chunk.checked_sub(1).map_or_else(Counts::default, |last| self.chunks[last].ends)
    }

    /// Returns the offset at which the open text starts.
    fn start_of_open(&self) -> usize {
        self.counts_before(self.chunks.len()).bytes
    }

    /// Returns the number of chunks that a change at byte `at` does not affect: the proof of the cut at the end of a
    /// chunk reads a few bytes after the cut.
    fn chunks_before(&self, at: usize) -> usize {
        self.chunks.partition_point(|placed| placed.ends.bytes + CUT_WINDOW <= at)
    }

    /// Returns the text from the end of a chunk to byte `end`, or a little further, with the context of its start.
    fn reopened(&self, tokenizer: &Tokenizer, kept_chunks: usize, end: usize) -> OpenText {
        let mut open = OpenText::default();
        if let Some(last) = kept_chunks.checked_sub(1) {
            let text = &self.chunks[last].chunk.text;
            open.extend(&text[tokenizer.context_start(text, text.len())..]);
            open.context_len = open.bytes.len();
        }
        let start = self.counts_before(kept_chunks).bytes;
        open.start = start - open.context_len;
        let mut missing = end - start;
        for part in self.parts().skip(kept_chunks) {
            let part = &part[..part.len().min(missing)];
            open.extend(part);
            missing -= part.len();
        }
        open
    }

    /// Finds the cuts of the open text, and appends the ids between them to `new_ids`. `start` are the counts before
    /// the open text.
    fn settle(
        &mut self,
        tokenizer: &Tokenizer,
        start: Counts,
        options: EncodeOptions,
        new_ids: &mut Vec<u32>,
    ) -> Result<()> {
        let mut ends = start;
        if tokenizer.affixes(options.add_special).is_none() {
            // The template has the text several times, so all ids are pending.
            return tokenizer.encode(&self.open.bytes, options, &mut self.pending_ids);
        }
        while let Some(cut) = self.open.next_cut(tokenizer, self.settled, BLOCK_BYTES, options) {
            let from = new_ids.len();
            self.open.encode(tokenizer, (self.settled, cut), &mut self.state, options, new_ids)?;
            self.settled_ids.extend_from_slice(&new_ids[from..]);
            self.settled = cut;
            if cut - self.open.context_len >= CHUNK_BYTES {
                self.seal(tokenizer, &mut ends);
            }
        }
        let (end, mut end_state) = (self.open.bytes.len(), self.state);
        self.open.encode(tokenizer, (self.settled, end), &mut end_state, options, &mut self.pending_ids)
    }

    /// Moves the settled text to a chunk. `ends` are the counts before the open text.
    fn seal(&mut self, tokenizer: &Tokenizer, ends: &mut Counts) {
        let text: Box<[u8]> = self.open.bytes[self.open.context_len..self.settled].into();
        let ids: Box<[u32]> = std::mem::take(&mut self.settled_ids).into();
        ends.bytes += text.len();
        ends.chars += text.iter().filter(|&&byte| !is_continuation(byte)).count();
        ends.ids += ids.len();
        self.chunks.push(PlacedChunk { chunk: Arc::new(Chunk { text, ids }), ends: *ends, state: self.state });
        self.open.remove_before(tokenizer, self.settled);
        self.settled = self.open.context_len;
    }
}

/// Returns the number of equal bytes at the start of two texts.
fn common_len(one: &[u8], other: &[u8]) -> usize {
    let len = one.len().min(other.len());
    if one[..len] == other[..len] {
        return len;
    }
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}
