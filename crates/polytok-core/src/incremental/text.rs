//! A text with its ids, which are kept when the text changes.
//!
//! The text before the last cut is *settled*: its ids change only if this part of the text changes. Settled text is
//! stored in chunks that copies share. A change of the text opens the chunk in which it begins, and encodes from there
//! to the last cut of the new text, and from this cut to the end. Chunks are small, so the cost of a change is that of
//! encoding the changed text and a few kilobytes; appending costs the appended text and the text after the last cut.
//! Text without cuts is encoded again with each change.
//!
//! Settled text in parts keeps its trusted runs. Its ids do not depend on the trust of the text after it, except that a
//! text that is trusted as a whole is encoded without the guard; if this changes, the whole text is encoded again.

use std::borrow::Cow;
use std::sync::Arc;

use polytok_memory::{self as memory, Collect, Copied, Grow};

use super::settle::{Addition, OpenText, Trust, offset};
use crate::error::Result;
use crate::normalize::output::Span;
use crate::tokenizer::cuts::{CUT_WINDOW, CutState};
use crate::tokenizer::{EncodeOptions, Tokenizer};
use crate::trust::runs_of_part;
use crate::utf8::is_continuation;

/// The minimum number of bytes of a chunk.
const CHUNK_BYTES: usize = 2048;

/// The number of bytes in which the last cut is searched for.
const BLOCK_BYTES: usize = 4096;

/// A part of the settled text, with its ids.
#[derive(Debug)]
struct Chunk {
    text: Box<[u8]>,
    /// The trusted runs of the text.
    runs: Box<[Span]>,
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

/// The text of a chunk or the open text, with its trusted runs.
struct Part<'a> {
    text: &'a [u8],
    runs: Cow<'a, [Span]>,
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
#[derive(Debug)]
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

impl Clone for IncrementalText {
    fn clone(&self) -> IncrementalText {
        IncrementalText {
            chunks: self.chunks.checked_to_vec(),
            open: self.open.clone(),
            settled: self.settled,
            state: self.state,
            settled_ids: self.settled_ids.checked_to_vec(),
            pending_ids: self.pending_ids.checked_to_vec(),
        }
    }
}

impl IncrementalText {
    /// Creates an empty text.
    pub fn new(tokenizer: &Tokenizer, options: EncodeOptions) -> Result<IncrementalText> {
        memory::catch(|| {
            let mut text = IncrementalText {
                chunks: Vec::new(),
                open: OpenText::default(),
                settled: 0,
                state: CutState::default(),
                settled_ids: Vec::new(),
                pending_ids: Vec::new(),
            };
            text.replace_from(tokenizer, 0, Addition { text: b"", runs: None }, options)?;
            Ok(text)
        })
    }

    /// Replaces the text from byte `at` on, and returns the change of the ids. If encoding fails, nothing is changed.
    /// Text in parts can only be added to text in parts, and other text only to other text.
    pub fn replace_from(
        &mut self,
        tokenizer: &Tokenizer,
        at: usize,
        added: Addition,
        options: EncodeOptions,
    ) -> Result<Change> {
        memory::catch(|| {
            let trust = self.open.trust.after(tokenizer, (at > 0, self.is_trusted_to(at)), added)?;
            if at > 0 && trust != self.open.trust {
                // The text was trusted as a whole and no longer is, or the reverse, so all of it is encoded again.
                let mut whole = OpenText::default();
                self.copy_to(&mut whole, 0, at);
                whole.extend(added.text, added.runs.unwrap_or_default());
                return self.replace_from(
                    tokenizer,
                    0,
                    Addition { text: &whole.bytes, runs: Some(&whole.runs) },
                    options,
                );
            }
            let kept_chunks = self.chunks_before(at);
            let (mut next, mut old_ids) = self.start_of_next(tokenizer, kept_chunks, at);
            let start = self.counts_before(kept_chunks);
            let base = start.ids + next.settled_ids.len();
            next.open.trust = trust;
            next.open.truncate(next.open.context_len + at - start.bytes);
            next.open.extend(added.text, added.runs.unwrap_or_default());
            let mut new_ids = Vec::new();
            next.settle(tokenizer, start, options, &mut new_ids)?;
            let (prefix, suffix) = tokenizer.affixes(options.add_special).unwrap_or_default();
            old_ids.checked_extend_from_slice(&self.pending_ids);
            new_ids.checked_extend_from_slice(&next.pending_ids);
            for ids in [&mut old_ids, &mut new_ids] {
                ids.checked_extend_from_slice(&suffix);
            }
            self.chunks.checked_reserve(next.chunks.len()); // the last step that can fail
            self.chunks.truncate(kept_chunks);
            self.chunks.append(&mut next.chunks);
            *self = IncrementalText { chunks: std::mem::take(&mut self.chunks), ..next };
            let common = old_ids.iter().zip(&new_ids).take_while(|(old, new)| old == new).count();
            new_ids.drain(..common);
            Ok(Change { kept: prefix.len() + base + common, ids: new_ids })
        })
    }

    /// Returns the text after the first `kept_chunks` chunks as it is before a change from byte `at` on, and the ids that
    /// it no longer has, up to the pending ones.
    fn start_of_next(&self, tokenizer: &Tokenizer, kept_chunks: usize, at: usize) -> (IncrementalText, Vec<u32>) {
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
            next.settled_ids = self.settled_ids.checked_to_vec();
        } else {
            next.open = self.reopened(tokenizer, kept_chunks, at);
            next.settled = next.open.context_len;
            next.state = kept_chunks.checked_sub(1).map_or_else(CutState::default, |last| self.chunks[last].state);
            self.chunks[kept_chunks..].iter().for_each(|placed| old_ids.checked_extend_from_slice(&placed.chunk.ids));
            old_ids.checked_extend_from_slice(&self.settled_ids);
        }
        (next, old_ids)
    }

    /// Appends text.
    pub fn append(&mut self, tokenizer: &Tokenizer, added: Addition, options: EncodeOptions) -> Result<Change> {
        memory::catch(|| self.replace_from(tokenizer, self.bytes(), added, options))
    }

    /// Replaces the whole text; only the text after the common start of both texts is encoded. Text that is trusted in
    /// one of them only is not common.
    pub fn set_text(&mut self, tokenizer: &Tokenizer, new: Addition, options: EncodeOptions) -> Result<Change> {
        memory::catch(|| {
            let (text, mut at) = (new.text, 0);
            for Part { text: part, .. } in self.parts() {
                let common = common_len(part, &text[at..]);
                at += common;
                if common < part.len() {
                    break;
                }
            }
            at = match (self.runs(), new.runs) {
                (Some(runs), Some(new_runs)) => at.min(common_trust_len(&runs, new_runs)),
                (None, None) => at,
                _ => 0,
            };
            while at > 0 && text.get(at).is_some_and(|&byte| is_continuation(byte)) {
                at -= 1;
            }
            let new_runs = new.runs.map(|runs| runs_of_part(runs, offset(at), u32::MAX));
            self.replace_from(tokenizer, at, Addition { text: &text[at..], runs: new_runs.as_deref() }, options)
        })
    }

    /// Keeps the first `chars` characters.
    pub fn truncate(&mut self, tokenizer: &Tokenizer, chars: usize, options: EncodeOptions) -> Result<Change> {
        memory::catch(|| {
            let kept_chunks = self.chunks.partition_point(|placed| placed.ends.chars < chars);
            let start = self.counts_before(kept_chunks);
            let part = self.parts().nth(kept_chunks).map_or(&[][..], |part| part.text);
            let mut char_starts = (0..part.len()).filter(|&at| !is_continuation(part[at]));
            let offset = char_starts.nth(chars - start.chars).unwrap_or(part.len());
            let runs = (self.open.trust != Trust::Unparted).then_some(&[][..]);
            self.replace_from(tokenizer, start.bytes + offset, Addition { text: b"", runs }, options)
        })
    }

    /// Returns the ids of the text.
    pub fn ids(&self, tokenizer: &Tokenizer, options: EncodeOptions) -> Vec<u32> {
        let (mut ids, suffix) = tokenizer.affixes(options.add_special).unwrap_or_default();
        self.chunks.iter().for_each(|placed| ids.checked_extend_from_slice(&placed.chunk.ids));
        [&self.settled_ids, &self.pending_ids, &suffix]
            .into_iter()
            .for_each(|part| ids.checked_extend_from_slice(part));
        ids
    }

    /// Returns the text.
    pub fn text(&self) -> Vec<u8> {
        memory::concat(&self.parts().map(|part| part.text).checked_collect())
    }

    /// Returns the trusted runs of the text, no two of which touch; None if the text is not in parts.
    pub fn runs(&self) -> Option<Vec<(usize, usize)>> {
        if self.open.trust == Trust::Unparted {
            return None;
        }
        let (mut runs, mut start) = (Vec::<(usize, usize)>::new(), 0);
        for part in self.parts() {
            for &(from, to) in part.runs.iter() {
                let (from, to) = (start + from as usize, start + to as usize);
                match runs.last_mut() {
                    Some(last) if last.1 == from => last.1 = to,
                    _ => runs.checked_push((from, to)),
                }
            }
            start += part.text.len();
        }
        Some(runs)
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
    fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        let chunks = self.chunks.iter().map(|placed| &placed.chunk);
        let parts = chunks.map(|chunk| Part { text: &chunk.text, runs: Cow::Borrowed(&chunk.runs) });
        let OpenText { bytes, runs, context_len, .. } = &self.open;
        let open_runs = Cow::Owned(runs_of_part(runs, offset(*context_len), u32::MAX));
        parts.chain([Part { text: &bytes[*context_len..], runs: open_runs }])
    }

    /// Reports whether the text up to byte `at` is trusted. The whole text can be trusted only if it says so itself.
    fn is_trusted_to(&self, at: usize) -> bool {
        match self.open.trust {
            Trust::Whole => true,
            Trust::Partial if at == self.bytes() => at == 0,
            Trust::Partial => {
                at == 0 || self.runs().is_some_and(|runs| matches!(runs.first(), Some(&(0, end)) if end >= at))
            }
            Trust::Unparted => at == 0,
        }
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
            let Chunk { text, runs, .. } = &*self.chunks[last].chunk;
            let context_start = tokenizer.context_start(text, text.len());
            open.extend(&text[context_start..], &runs_of_part(runs, offset(context_start), offset(text.len())));
            open.context_len = open.bytes.len();
        }
        open.start = self.counts_before(kept_chunks).bytes - open.context_len;
        self.copy_to(&mut open, kept_chunks, end);
        open
    }

    /// Appends the text from a chunk to byte `end` to an open text.
    fn copy_to(&self, open: &mut OpenText, chunk: usize, end: usize) {
        let mut missing = end - self.counts_before(chunk).bytes;
        for Part { text, runs } in self.parts().skip(chunk) {
            let len = text.len().min(missing);
            open.extend(&text[..len], &runs_of_part(&runs, 0, offset(len)));
            missing -= len;
        }
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
            return self.open.encode_all(tokenizer, options, &mut self.pending_ids);
        }
        while let Some(cut) = self.open.next_cut(tokenizer, self.settled, BLOCK_BYTES, options) {
            let from = new_ids.len();
            self.open.encode(tokenizer, (self.settled, cut), &mut self.state, options, new_ids)?;
            self.settled_ids.checked_extend_from_slice(&new_ids[from..]);
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
        let OpenText { bytes, runs, context_len, .. } = &self.open;
        let text = bytes[*context_len..self.settled].checked_to_vec().into_boxed_slice();
        let runs = runs_of_part(runs, offset(*context_len), offset(self.settled)).into();
        let ids: Box<[u32]> = std::mem::take(&mut self.settled_ids).into();
        ends.bytes += text.len();
        ends.chars += text.iter().filter(|&&byte| !is_continuation(byte)).count();
        ends.ids += ids.len();
        self.chunks.checked_push(PlacedChunk {
            chunk: Arc::new(Chunk { text, runs, ids }),
            ends: *ends,
            state: self.state,
        });
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

/// Returns the length of the common start of two texts with these trusted runs, if the texts are equal.
fn common_trust_len(runs: &[(usize, usize)], other_runs: &[Span]) -> usize {
    let others = other_runs.iter().map(|&(start, end)| (start as usize, end as usize));
    for (run, other) in runs.iter().copied().zip(others) {
        if run.0 != other.0 {
            return run.0.min(other.0);
        }
        if run.1 != other.1 {
            return run.1.min(other.1);
        }
    }
    let common = runs.len().min(other_runs.len());
    let next = runs.get(common).map(|run| run.0).or(other_runs.get(common).map(|run| run.0 as usize));
    next.unwrap_or(usize::MAX)
}
