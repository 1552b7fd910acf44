//! Faster ways through the pipeline, each for one family of vocabularies. A tokenizer has at most one of them, chosen when it is
//! compiled.
//!
//! A route gives ids alone, of texts before normalization. It says which texts it takes, has a memory of its own, and is tested against
//! the general way: normalize, split, model.

mod sentencepiece_bpe;
mod sentencepiece_unigram;
mod words;

use std::sync::Arc;

use crate::error::Result;
use crate::huge::release;
use crate::model::CompiledModel;
use crate::normalize::Normalizer;
use crate::post::IdSink;
use crate::segmenter::{Context, Segmenter};
use crate::spec::Line;
use sentencepiece_bpe::{SentencePieceBpe, TextParts};
use sentencepiece_unigram::SentencePieceUnigram;
use words::WordsRoute;

/// The route of a tokenizer.
pub(crate) enum Route {
    SentencePieceBpe(Box<SentencePieceBpe>),
    SentencePieceUnigram(SentencePieceUnigram),
    Words(Box<WordsRoute>),
}

/// The memory of routes.
#[derive(Default)]
pub(crate) struct RouteScratch {
    text: Vec<u8>,
    spare: Vec<u8>,
    lower_case: String,
    parts: Option<Box<TextParts>>,
}

impl RouteScratch {
    /// Frees buffers of more than `kept` bytes.
    pub fn release(&mut self, kept: usize) {
        release(&mut self.text, kept);
        release(&mut self.spare, kept);
        if self.lower_case.capacity() > kept {
            self.lower_case = String::new();
        }
    }
}

impl Route {
    /// The route of texts of this vocabulary, if there is one.
    pub fn choose(normalizer: &Arc<Normalizer>, segmenter: &Segmenter, line: Line) -> Option<Route> {
        let Segmenter { model, splits, .. } = segmenter;
        match model {
            CompiledModel::Bpe(bpe) if line == Line::V0_2_3 => {
                SentencePieceBpe::choose(bpe, normalizer, segmenter).map(Box::new).map(Route::SentencePieceBpe)
            }
            CompiledModel::Unigram(unigram) if splits.is_empty() => {
                SentencePieceUnigram::choose(unigram, normalizer, segmenter).map(Route::SentencePieceUnigram)
            }
            _ => WordsRoute::choose(normalizer, segmenter).map(Box::new).map(Route::Words),
        }
    }

    /// Whether `run` may be called for this text. Tables may be built meanwhile.
    #[inline]
    pub fn takes(&self, segmenter: &Segmenter, text: &[u8]) -> bool {
        match self {
            Route::SentencePieceBpe(route) => route.takes(segmenter, text),
            Route::SentencePieceUnigram(route) => route.takes(segmenter, text),
            Route::Words(route) => route.takes(text),
        }
    }

    /// Encodes a text that the route takes, which starts at byte `at` of the caller's text.
    pub fn run<S: IdSink>(
        &self,
        (text, at): (&[u8], usize),
        scratch: &mut RouteScratch,
        context: &mut Context<S>,
    ) -> Result<()> {
        match self {
            Route::SentencePieceBpe(route) => route.run((text, at), scratch, context),
            Route::SentencePieceUnigram(route) => route.run(text, context),
            Route::Words(route) => route.run(text, scratch, context),
        }
    }

    /// The route if its tokens, side by side, are the text with its spaces.
    pub fn as_escaped(&self) -> Option<&SentencePieceBpe> {
        if let Route::SentencePieceBpe(route) = self { Some(route) } else { None }
    }
}
