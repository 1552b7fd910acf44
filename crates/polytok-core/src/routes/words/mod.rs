//! The route for words: if normalization changes the text, a table normalizes the text (`normalize::by_char`); then the
//! words are looked up in the cache.
//!
//! Three families use the route. BERT's normalizer inserts spaces around some characters; the split knows these
//! characters (`SplitChain::compile_with_spaced`) and does not need the spaces. llama.cpp's normalizer of BERT
//! vocabularies inserts U+0000 between words; the route finds the same words without it. Hugging Face's Unigram inserts
//! U+2581 before each word; see `marked`. If the caller needs spans, a text is divided to parts; see `parts`.
//!
//! Twin: the general path through the pipeline.

mod marked;
mod marked_spans;
mod parts;
#[cfg(test)]
mod tests;
mod unknown_chars;

use std::sync::Arc;

use super::RouteScratch;
use crate::error::Result;
use crate::model::CompiledModel;
use crate::normalize::origin::Place;
use crate::normalize::{CharMap, CharRewrites, Normalizer};
use crate::post::{IdSink, Sink};
use crate::segmenter::{Context, Segmenter};
use crate::split::chain::SplitChain;
use crate::utf8::valid;
use marked::{MarkedWords, has_mark};
pub(crate) use parts::WordsPart;

/// The route.
pub(crate) struct WordsRoute {
    rewrites: CharRewrites,
    split: WordSplit,
    /// True if the ids of a word do not depend on its position in a text. Then the text may have other spaces than the
    /// normalized text.
    accepts_all_texts: bool,
    /// True if all entries are UTF-8, so that tokens of UTF-8 text start and end between characters.
    has_whole_chars: bool,
}

/// The split that finds the words of a text.
enum WordSplit {
    /// The split of normalized text finds the words.
    OfNormalizedText,
    /// A split of the text before normalization finds the words.
    OfText(SplitChain),
    /// A split of the text before normalization finds the words, and U+2581 is inserted before each word.
    WithMarks(MarkedWords),
}

impl WordSplit {
    fn choose(normalizer: &Normalizer, Segmenter { splits, model, .. }: &Segmenter) -> Option<WordSplit> {
        match model {
            _ if normalizer.bert().is_some() => splits.splits_words().then_some(WordSplit::OfNormalizedText),
            CompiledModel::WordPiece(_) if splits.removes("\0") => {
                SplitChain::compile_words(Some(&normalizer.wpm()?.single_word_class())).map(WordSplit::OfText)
            }
            CompiledModel::WideUnigram(model) if splits.marks_words() => {
                MarkedWords::compile(model.has_same_id_for_unknown()).map(WordSplit::WithMarks)
            }
            _ => None,
        }
    }
}

impl WordSplit {
    /// Returns the function that replaces characters of the normalized text, if the model does not distinguish all
    /// characters.
    fn char_map(&self, Segmenter { model, vocab, .. }: &Segmenter) -> Option<CharMap> {
        match (self, model) {
            (WordSplit::WithMarks(_), CompiledModel::WideUnigram(model)) => unknown_chars::char_map(model, vocab),
            _ => None,
        }
    }
}

impl WordsRoute {
    /// Returns the route if the words can be found and the normalizer rewrites characters independently.
    pub fn choose(normalizer: &Arc<Normalizer>, segmenter: &Segmenter) -> Option<WordsRoute> {
        let split = WordSplit::choose(normalizer, segmenter)?;
        let accepts_all_texts = matches!(segmenter.model, CompiledModel::WordPiece(_) | CompiledModel::WideUnigram(_));
        let rewrites = CharRewrites::new(normalizer, split.char_map(segmenter))?;
        let Segmenter { vocab, .. } = segmenter;
        let has_whole_chars = vocab.rows().all(|row| valid(vocab.bytes(row)).is_ok());
        Some(WordsRoute { rewrites, split, accepts_all_texts, has_whole_chars })
    }

    /// Builds the tables of the split that encoding would otherwise build later.
    pub fn warm_up(&self) {
        match &self.split {
            WordSplit::OfNormalizedText => {} // the split of the segmenter
            WordSplit::OfText(words) => words.warm_up(),
            WordSplit::WithMarks(words) => words.warm_up(),
        }
    }

    pub fn accepts(&self, text: &[u8]) -> bool {
        valid(text).is_ok_and(|text| self.accepts_all_texts || self.rewrites.keeps(text))
    }

    pub fn run<S: IdSink>(&self, text: &[u8], scratch: &mut RouteScratch, context: &mut Context<S>) -> Result<()> {
        let Ok(text) = valid(text) else { return Ok(()) };
        context.out.begin_part(Place::default());
        let RouteScratch { text: buffer, rewrite_buffers, .. } = scratch;
        let text = self.rewrites.rewrite(text, rewrite_buffers)?;
        match &self.split {
            WordSplit::OfNormalizedText => context.encode_pieces(&context.segmenter.splits, text),
            WordSplit::OfText(words) => context.encode_pieces(words, text),
            WordSplit::WithMarks(words) => words.encode(text, buffer, context),
        }
    }

    /// Returns the split that finds the words of a part; None if the route cannot encode parts.
    pub fn part_split<'r>(&'r self, segmenter: &'r Segmenter) -> Option<&'r SplitChain> {
        match &self.split {
            WordSplit::OfNormalizedText => Some(&segmenter.splits),
            WordSplit::OfText(words) => Some(words),
            WordSplit::WithMarks(_) => None,
        }
        .filter(|_| self.has_whole_chars)
    }

    /// Encodes a text for a sink that needs more than ids, if U+2581 is inserted before each word. The text starts at
    /// byte `at` of the caller's text. None if the route cannot encode the text for this sink.
    pub fn encode_marked<S: Sink>(
        &self,
        (text, at): (&[u8], usize),
        scratch: &mut RouteScratch,
        context: &mut Context<S>,
    ) -> Option<Result<()>> {
        let (WordSplit::WithMarks(words), Ok(text)) = (&self.split, valid(text)) else { return None };
        let needs_normalized_text = || context.out.sink.needs_words() || context.out.sink.needs_own_texts();
        if !self.has_whole_chars || !words.finds_spans() || needs_normalized_text() {
            return None;
        }
        let (text, origins) = self.rewrites.rewrite_with_origins(text, &mut scratch.rewrite_buffers)?;
        if has_mark(text.as_bytes()) {
            return None;
        }
        context.out.begin_part(Place::unchanged_at(at));
        Some(words.encode_with_spans(text, origins, context))
    }

    /// Returns the text that is divided to parts: the input text, or a text in `buffer` with ASCII in lower case. None
    /// if the text is not UTF-8.
    pub fn text_of_parts<'t>(&self, text: &'t [u8], buffer: &'t mut Vec<u8>) -> Option<&'t str> {
        valid(text).ok().map(|text| self.rewrites.lower_ascii(text, buffer))
    }
}
