//! Finds the spans of the tokens of words before which normalization inserts U+2581.
//!
//! Proof: the tokens of a word cover U+2581 and the word in order. Each token covers the bytes of its entry, except the
//! unknown token, which covers a run of unknown characters. If a word has one token whose length is not known, the
//! lengths of the others show it. If it has several, each is taken to cover the stand-ins at its start. No entry
//! contains a stand-in, so these tokens cover at least all stand-ins of the word. If the lengths then add up to the
//! length of the word, they cover nothing else, so each covers exactly a run of stand-ins. The model segments all other
//! words again. The inserted U+2581 has the span of the first character of the word.

use polytok_memory::Grow;

use super::marked::{MarkedWords, write_marked};
use super::unknown_chars::StandIns;
use crate::cache::{BLOCK_LEN, Block, BlockPiece, CachedPieces, PieceKey};
use crate::error::Result;
use crate::normalize::output::Span;
use crate::post::Sink;
use crate::post::lengths::Lengths;
use crate::segmenter::{Context, collect_segments, room_for};
use crate::space_mark;
use crate::split::cursor::SplitCursor;
use crate::token_id::TokenId;
use crate::utf8::char_len;

/// The length of U+2581.
const MARK_LEN: u32 = space_mark::BYTES.len() as u32;

/// A rewritten text without U+2581.
#[derive(Clone, Copy)]
struct MarkedText<'t> {
    text: &'t [u8],
    /// The stand-ins of unknown characters in the text.
    stand_ins: &'t StandIns,
}

impl MarkedWords {
    /// Encodes a rewritten text without U+2581 for a sink that needs spans, but neither words nor the texts of unknown
    /// tokens.
    pub fn encode_with_spans<S: Sink>(&self, text: &str, stand_ins: &StandIns, context: &mut Context<S>) -> Result<()> {
        let mut block = context.scratch.take_block();
        let mut cursor = SplitCursor::new();
        let marked_text = MarkedText { text: text.as_bytes(), stand_ins };
        while block.fill(|pieces| self.words.fill(text, &mut cursor, pieces))? > 0 {
            marked_text.encode_block(&mut block, context)?;
            block.clear();
        }
        context.scratch.blocks.checked_push(block);
        Ok(())
    }
}

impl MarkedText<'_> {
    fn encode_block<S: Sink>(self, block: &mut Block, context: &mut Context<S>) -> Result<()> {
        block.prepare(self.text, &context.scratch.cache, false);
        let mut at = 0;
        loop {
            let (missing, id_count) = block.look_up::<true>(at, self.text, &context.scratch.cache);
            self.write_cached(block.cached_pieces(at..missing, id_count), context)?;
            if missing == block.count() {
                return Ok(());
            }
            self.write_missing(block.piece(missing), block.key(missing), context)?;
            at = missing + 1;
        }
    }

    /// Writes the tokens of cached words. The first loop does not branch on the number of tokens of a word, because the
    /// processor could not predict it.
    fn write_cached<S: Sink>(self, words: CachedPieces, context: &mut Context<S>) -> Result<()> {
        let mut spans = std::mem::take(&mut context.scratch.spans);
        let word_spans = room_for(&mut spans, words.ids.len());
        let (mut long_words, mut long_count, mut id_start) = ([(0, 0); BLOCK_LEN], 0, 0);
        for (word, (&(start, end), &id_end)) in words.ranges.iter().zip(words.id_ends).enumerate() {
            let last = id_end as usize - 1;
            word_spans[id_start].0 = start;
            word_spans[last].1 = end;
            long_words[long_count] = (word, id_start);
            long_count += (id_start < last) as usize;
            id_start = last + 1;
        }
        let lengths = context.segmenter.entry_lengths();
        for &(word, id_start) in &long_words[..long_count] {
            let tokens = id_start..words.id_ends[word] as usize;
            let token_spans = &mut word_spans[tokens.clone()];
            let range = words.ranges[word];
            if !self.find_spans(range, lengths, &words.ids[tokens], token_spans) {
                self.segment(range, context)?;
                token_spans.copy_from_slice(&context.scratch.spans);
            }
        }
        let result = context.out.write_known(self.text, words.ids, word_spans);
        context.scratch.spans = spans;
        result
    }

    /// Writes the tokens of a word that is not among the entries of the cache with ids.
    #[inline(never)]
    fn write_missing<S: Sink>(
        self,
        BlockPiece { start, end, .. }: BlockPiece,
        key: PieceKey,
        context: &mut Context<S>,
    ) -> Result<()> {
        let (range, word) = ((start as u32, end as u32), &self.text[start..end]);
        let Context { segmenter, scratch, out } = context;
        if let Some(ids) = scratch.cache.get_record(word, key) {
            let spans = room_for(&mut scratch.spans, ids.len());
            if self.find_spans(range, segmenter.entry_lengths(), ids, spans) {
                return out.write_known(self.text, ids, spans);
            }
        }
        self.segment(range, context)?;
        let Context { scratch, out, .. } = context;
        scratch.cache.insert(word, key, &scratch.ids);
        out.write_known(self.text, &scratch.ids, &scratch.spans)
    }

    /// Segments a word by the model. Writes the ids and spans of its tokens to the scratch.
    fn segment<S: Sink>(self, (start, end): Span, context: &mut Context<S>) -> Result<()> {
        let Context { segmenter, scratch, .. } = context;
        let mut marked = Vec::new();
        write_marked(&self.text[start as usize..end as usize], &mut marked);
        scratch.run_model(|model, segments| {
            segmenter.model.segment(&marked, 0, false, model, &mut collect_segments(segments))
        })?;
        let first_end = self.char_end(start);
        scratch.spans.clear();
        scratch
            .spans
            .checked_extend(scratch.segments.iter().map(|s| unmarked_span((s.start, s.end), start, first_end)));
        Ok(())
    }

    /// Writes the span of each token of a word. Returns false if the lengths of the tokens do not show the spans.
    #[inline]
    fn find_spans(self, (start, end): Span, lengths: &Lengths, ids: &[TokenId], spans: &mut [Span]) -> bool {
        let (mut known_len, mut unknown_count) = (0, 0);
        for &id in ids {
            let len = lengths.get_or_zero(id);
            known_len += len;
            unknown_count += (len == 0) as u32;
        }
        let marked_len = MARK_LEN + end - start;
        let unknown_len = marked_len.wrapping_sub(known_len);
        if known_len > marked_len || (unknown_len == 0) != (unknown_count == 0) {
            return false;
        }
        let first_end = self.char_end(start);
        let mut at = 0;
        for (&id, span) in ids.iter().zip(spans) {
            let token_end = at
                + match lengths.get_or_zero(id) {
                    0 if unknown_count == 1 => unknown_len,
                    0 => self.unknown_len(at, (start, end)),
                    len => len,
                };
            *span = unmarked_span((at, token_end), start, first_end);
            at = token_end;
        }
        at == marked_len
    }

    /// Returns the number of stand-ins from byte `at` of a word with U+2581 before it.
    fn unknown_len(self, at: u32, (start, end): Span) -> u32 {
        let Some(at) = at.checked_sub(MARK_LEN) else { return 0 };
        self.text.get((start + at) as usize..end as usize).map_or(0, |text| self.stand_ins.run_len(text) as u32)
    }

    /// Returns the end of the character at `start`.
    fn char_end(self, start: u32) -> u32 {
        start + char_len(&self.text[start as usize..]) as u32
    }
}

/// Converts the span of a token of a word after U+2581 to a span of the text; the word starts at `start`, and its first
/// character ends at `first_end`.
#[inline]
fn unmarked_span((from, to): Span, start: u32, first_end: u32) -> Span {
    let end = if to <= MARK_LEN { first_end } else { start + to - MARK_LEN };
    (start + from.saturating_sub(MARK_LEN), end)
}
