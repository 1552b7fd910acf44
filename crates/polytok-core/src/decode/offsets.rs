//! Decodes ids to a text with the characters that each id has contributed.
//!
//! The rules run over whole texts that keep the source of each byte (traced.rs). They are a second implementation of
//! decoding; tests compare its texts with those of the state machines.

use polytok_memory::{Copied, Grow, GrowText};

use super::traced::{Source, TracedText};
use super::{DecodeRules, DecodeState, Decoder, llama_cpp};
use crate::error::{Error, Result};
use crate::special::Specials;
use crate::token_id::TokenId;
use crate::vocab::Vocab;

/// The text of ids, and the characters of each id.
#[derive(Debug, Default)]
pub struct TextWithOffsets {
    /// The text.
    pub text: String,
    /// The end, in bytes of the text, of the piece of each id. A character of several ids belongs to the piece of the
    /// last of them, so the pieces joined are the text.
    pub piece_ends: Vec<usize>,
    /// The index of the first character that each id has contributed to.
    pub starts: Vec<i64>,
    /// The index after the last character that each id has contributed to. An id without text has an empty span.
    pub ends: Vec<i64>,
}

impl Decoder {
    /// Decodes ids to bytes with their sources, which are indices of ids.
    pub fn decode_traced(
        &self,
        vocab: &Vocab,
        specials: &Specials,
        ids: &[TokenId],
        skip_special: bool,
    ) -> Result<TracedText> {
        let indexed_ids = || (0u32..).zip(ids.iter().copied());
        let is_decoded = |id| !(skip_special && specials.is_skippable(id));
        if let DecodeRules::Chain(chain) = &self.rules {
            let tokens = indexed_ids().filter(|&(_, id)| is_decoded(id));
            return chain.decode_traced(
                tokens.filter_map(|(index, id)| Some(TracedText::of_id(&chain.token(vocab, specials, id)?, index))),
            );
        }
        let texts = self.texts(vocab, specials);
        let (mut state, mut byte_sources, mut out) = (DecodeState::default(), Vec::new(), Vec::new());
        let mut traced = TracedText::empty((0, (ids.len() as u32).saturating_sub(1)));
        for (index, id) in indexed_ids() {
            if !is_decoded(id) {
                self.skip_special(&mut state);
                continue;
            }
            match (&self.rules, vocab.row(id)) {
                (DecodeRules::SentencePiece(rules), row) => {
                    let token = (row, specials.text(id));
                    let state = &mut state.sentencepiece;
                    let pushed = rules.push_traced(vocab, token, index, state, &mut byte_sources, &mut traced);
                    pushed.ok_or(Error::Id(id.0))?
                }
                (DecodeRules::LlamaCpp(rules), row) => {
                    let text = row
                        .map(|row| rules.row_text(vocab, row))
                        .or_else(|| specials.text(id).map(Copied::checked_to_vec));
                    let text = text.ok_or(Error::Id(id.0))?;
                    traced.push(rules.strip_first(&text, &mut state.llama_cpp), (index, index));
                }
                _ => {
                    out.clear();
                    self.push(vocab, specials, texts, id, &mut state, &mut out)?;
                    traced.push(&out, (index, index));
                }
            }
        }
        Ok(match &self.rules {
            DecodeRules::SentencePiece(rules) => {
                rules.finish_traced(&mut state.sentencepiece, &mut byte_sources, traced)
            }
            DecodeRules::LlamaCpp(rules) if rules.cleans_spaces() => llama_cpp::clean_traced(traced),
            _ => traced,
        })
    }
}

/// Converts bytes with their sources to a text with the characters of each of `count` ids. `replacement` is written for
/// bytes that are not UTF-8; None if there must be none.
pub fn text_with_offsets(traced: &TracedText, count: usize, replacement: Option<&str>) -> Option<TextWithOffsets> {
    let mut decoded = TextWithOffsets::default();
    let mut chars = CharSources::default();
    let mut at = 0;
    for chunk in traced.bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            chars.push(&traced.sources[at..at + c.len_utf8()], decoded.text.len());
            decoded.text.checked_push_char(c);
            at += c.len_utf8();
        }
        if !chunk.invalid().is_empty() {
            for c in replacement?.chars() {
                chars.push(&traced.sources[at..at + chunk.invalid().len()], decoded.text.len());
                decoded.text.checked_push_char(c);
            }
            at += chunk.invalid().len();
        }
    }
    chars.set_spans(count, &mut decoded);
    Some(decoded)
}

/// The sources of the characters, in order.
#[derive(Default)]
struct CharSources {
    /// The source of each byte, with the index of its character.
    sources: Vec<(Source, i64)>,
    /// The last id of each character, with the offset at which the character starts.
    owners: Vec<(u32, usize)>,
}

impl CharSources {
    /// Adds a character that starts at an offset in bytes.
    fn push(&mut self, sources: &[Source], start: usize) {
        let index = self.owners.len() as i64;
        for &source in sources {
            if self.sources.last() != Some(&(source, index)) {
                self.sources.checked_push((source, index));
            }
        }
        self.owners.checked_push((sources.last().map_or(0, |source| source.1), start));
    }

    /// Computes the spans and pieces of all ids.
    fn set_spans(&self, count: usize, decoded: &mut TextWithOffsets) {
        let (mut next, mut following, mut owner, mut end) = (0, 0, 0, 0);
        for id in 0..count as u32 {
            while self.sources.get(next).is_some_and(|&((_, last), _)| last < id) {
                next += 1;
            }
            while self.sources.get(following).is_some_and(|&((first, _), _)| first <= id) {
                following += 1;
            }
            let own = self.sources.get(next..following).unwrap_or_default();
            let start = own.first().map_or(end, |&(_, index)| index);
            end = own.last().map_or(end, |&(_, index)| index + 1);
            decoded.starts.checked_push(start);
            decoded.ends.checked_push(end);
            while self.owners.get(owner).is_some_and(|&(last, _)| last <= id) {
                owner += 1;
            }
            decoded.piece_ends.checked_push(self.owners.get(owner).map_or(decoded.text.len(), |&(_, start)| start));
        }
    }
}
