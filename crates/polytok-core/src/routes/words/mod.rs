//! The route for words: if normalization changes the text, a table normalizes the text (`normalize::by_char`); then the
//! words are looked up in the cache.
//!
//! Three families use the route. BERT's normalizer inserts spaces around some characters; the split knows these
//! characters (`SplitChain::compile_with_spaced`) and does not need the spaces. llama.cpp's normalizer of BERT
//! vocabularies inserts U+0000 between words; the route finds the same words without it. Hugging Face's Unigram inserts
//! U+2581 before each word; see `marked`. If the caller needs spans, the spans of the
//! rewritten text are converted (`OriginRuns`), or the text is divided to parts; see `parts`.
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
use crate::normalize::origin::{Origin, Place};
use crate::normalize::{CharMap, CharRewrites, Normalizer};
use crate::post::{IdSink, Sink};
use crate::segmenter::{Context, Segmenter};
use crate::split::chain::SplitChain;
use crate::utf8::valid;
use marked::{MarkedWords, has_mark};
pub(crate) use parts::WordsPart;
use unknown_chars::StandIns;

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
    fn choose(normalizer: &Normalizer, Segmenter { splits, model, vocab, .. }: &Segmenter) -> Option<WordSplit> {
        match model {
            _ if normalizer.bert().is_some() => splits.splits_words().then_some(WordSplit::OfNormalizedText),
            CompiledModel::WordPiece(_) if splits.removes("\0") => {
                SplitChain::compile_words(Some(&normalizer.wpm()?.single_word_class())).map(WordSplit::OfText)
            }
            CompiledModel::WideUnigram(model) if splits.marks_words() => {
                MarkedWords::compile(StandIns::new(model, vocab)).map(WordSplit::WithMarks)
            }
            _ => None,
        }
    }
}

impl WordSplit {
    /// Returns the function that replaces characters of the normalized text, if the model does not distinguish all
    /// characters.
    fn char_map(&self) -> Option<CharMap> {
        match self {
            WordSplit::WithMarks(MarkedWords { stand_ins, .. }) => stand_ins.as_ref().map(StandIns::char_map),
            WordSplit::OfNormalizedText | WordSplit::OfText(_) => None,
        }
    }
}

impl WordsRoute {
    /// Returns the route if the words can be found and the normalizer rewrites characters independently.
    pub fn choose(normalizer: &Arc<Normalizer>, segmenter: &Segmenter) -> Option<WordsRoute> {
        let split = WordSplit::choose(normalizer, segmenter)?;
        let accepts_all_texts = matches!(segmenter.model, CompiledModel::WordPiece(_) | CompiledModel::WideUnigram(_));
        let rewrites = CharRewrites::new(normalizer, split.char_map())?;
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

    /// Encodes a text, rewritten as a whole, for a sink that needs more than ids. The text starts at byte `at` of the
    /// caller's text. None if the route cannot encode the text for this sink.
    pub fn run_with_spans<S: Sink>(
        &self,
        (text, at): (&[u8], usize),
        scratch: &mut RouteScratch,
        context: &mut Context<S>,
    ) -> Option<Result<()>> {
        let text = valid(text).ok()?;
        if !self.accepts_all_texts || !self.finds_spans(context.out.sink) {
            return None;
        }
        let (text, rewritings) = self.rewrites.rewrite_with_origins(text, &mut scratch.rewrite_buffers)?;
        if matches!(self.split, WordSplit::WithMarks(_)) && has_mark(text.as_bytes()) {
            return None;
        }
        let origin = if rewritings.is_empty() { Origin::Same } else { Origin::Runs(rewritings) };
        context.out.begin_part(Place { at: at as u32, origin });
        Some(match &self.split {
            WordSplit::OfNormalizedText => context.encode_pieces(&context.segmenter.splits, text),
            WordSplit::OfText(words) => context.encode_pieces(words, text),
            WordSplit::WithMarks(words) => words.encode_with_spans(text, words.stand_ins.as_deref()?, context),
        })
    }

    /// Reports whether the route can encode texts to a sink that needs more than ids.
    fn finds_spans<S: Sink>(&self, sink: &S) -> bool {
        let needs_normalized_text = || sink.needs_words() || sink.needs_own_texts();
        self.has_whole_chars
            && match &self.split {
                WordSplit::OfNormalizedText | WordSplit::OfText(_) => true,
                WordSplit::WithMarks(words) => words.stand_ins.is_some() && !needs_normalized_text(),
            }
    }

    /// Returns the split that finds the words of a kept part; None if texts are not divided to parts.
    pub fn part_split<'r>(&'r self, segmenter: &'r Segmenter) -> Option<&'r SplitChain> {
        match &self.split {
            WordSplit::OfNormalizedText => Some(&segmenter.splits),
            WordSplit::OfText(words) => Some(words),
            WordSplit::WithMarks(_) => None,
        }
        .filter(|_| self.has_whole_chars && !self.accepts_all_texts)
    }

    /// Returns the text that is divided to parts: the input text, or a text in `buffer` with ASCII in lower case. None
    /// if the text is not UTF-8.
    pub fn text_of_parts<'t>(&self, text: &'t [u8], buffer: &'t mut Vec<u8>) -> Option<&'t str> {
        valid(text).ok().map(|text| self.rewrites.lower_ascii(text, buffer))
    }
}
