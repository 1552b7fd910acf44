//! The route of words: splits plain text, in which normalization changes only spaces, without normalizing it. Other
//! text is normalized from one cut to another (see `normalize::plain`). A cut is a space, so no word crosses it.
//!
//! Three families use this route. For BERT, the split is compiled with the characters that get spaces around them
//! (`SplitChain::compile_with_spaced`), so the spaces need not be inserted. llama.cpp's normalizer of BERT vocabularies
//! finds the words itself and writes U+0000 between them. Hugging Face's Unigram writes U+2581 before each word (see
//! `marked`).
//!
//! Twin: the general path through the pipeline.

mod marked;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::RouteScratch;
use crate::error::Result;
use crate::model::CompiledModel;
use crate::normalize::origin::Place;
use crate::normalize::{Normalizer, PlainText};
use crate::post::IdSink;
use crate::segmenter::{Context, Segmenter};
use crate::split::chain::SplitChain;
use crate::utf8::valid;

/// The smallest number of bytes that are normalized at a time, because each call has a cost of its own.
const NORMALIZED: usize = 64;

/// The route.
pub(crate) struct WordsRoute {
    normalizer: Arc<Normalizer>,
    plain: PlainText,
    split: WordSplit,
    /// True if words have the same ids whether a text is normalized in parts or as a whole, so that all texts are
    /// accepted.
    takes_all: bool,
}

/// The split that finds words.
enum WordSplit {
    /// The split of normalized text finds words in all text.
    AsNormalized,
    /// This split finds words in plain text.
    Plain(SplitChain),
    /// This split finds words in all text, and U+2581 is written before each word.
    Marked(SplitChain),
}

impl WordSplit {
    fn choose(normalizer: &Normalizer, Segmenter { splits, model, .. }: &Segmenter) -> Option<WordSplit> {
        match model {
            _ if normalizer.bert().is_some() => splits.splits_words().then_some(WordSplit::AsNormalized),
            CompiledModel::WordPiece(_) if splits.removes("\0") => {
                SplitChain::of_words(Some(&normalizer.wpm()?.single_word_class())).map(WordSplit::Plain)
            }
            CompiledModel::WideUnigram(_) if splits.marks_words() => SplitChain::of_words(None).map(WordSplit::Marked),
            _ => None,
        }
    }
}

impl WordsRoute {
    /// Returns the route if a split finds the words of a text before normalization, and it is known which text is
    /// plain.
    pub fn choose(normalizer: &Arc<Normalizer>, segmenter: &Segmenter) -> Option<WordsRoute> {
        let split = WordSplit::choose(normalizer, segmenter)?;
        let takes_all = matches!(segmenter.model, CompiledModel::WordPiece(_) | CompiledModel::WideUnigram(_));
        Some(WordsRoute { normalizer: normalizer.clone(), plain: PlainText::of(normalizer)?, split, takes_all })
    }

    pub fn takes(&self, text: &[u8]) -> bool {
        valid(text).is_ok_and(|text| self.takes_all || self.plain.is_whole(text))
    }

    pub fn run<S: IdSink>(&self, text: &[u8], scratch: &mut RouteScratch, context: &mut Context<S>) -> Result<()> {
        let Ok(text) = valid(text) else { return Ok(()) };
        context.out.begin_part(Place::default());
        if !self.plain.has_lower_case() {
            return self.encode(text, scratch, context);
        }
        let mut lower_case = std::mem::take(&mut scratch.lower_case);
        lower_case.clear();
        lower_case.push_str(text);
        lower_case.make_ascii_lowercase();
        let result = self.encode(&lower_case, scratch, context);
        scratch.lower_case = lower_case;
        result
    }

    /// Encodes plain text and other text in turn.
    fn encode<S: IdSink>(&self, text: &str, scratch: &mut RouteScratch, context: &mut Context<S>) -> Result<()> {
        let RouteScratch { text: normalized, spare, .. } = scratch;
        let mut from = 0;
        while from < text.len() {
            let other = self.plain.end(text, from);
            let plain_end = if other < text.len() { self.plain.last_cut(text, from, other) } else { Some(other) };
            if let Some(end) = plain_end {
                self.encode_plain(&text[from..end], spare, context)?;
                from = end;
                continue;
            }
            let end = self.plain.next_cut(text, other + NORMALIZED);
            self.normalizer.normalize(&text.as_bytes()[from..end], normalized, spare)?;
            self.encode_normalized(normalized, spare, context)?;
            from = end;
        }
        Ok(())
    }

    fn encode_plain<S: IdSink>(&self, text: &str, spare: &mut Vec<u8>, context: &mut Context<S>) -> Result<()> {
        match &self.split {
            WordSplit::AsNormalized => context.encode_pieces(&context.segmenter.splits, text),
            WordSplit::Plain(words) => context.encode_pieces(words, text),
            WordSplit::Marked(words) => marked::encode(words, text, spare, context),
        }
    }

    fn encode_normalized<S: IdSink>(&self, text: &[u8], spare: &mut Vec<u8>, context: &mut Context<S>) -> Result<()> {
        match (&self.split, valid(text)) {
            (WordSplit::Marked(words), Ok(text)) => marked::encode(words, text, spare, context),
            _ => context.encode_text(text),
        }
    }
}
