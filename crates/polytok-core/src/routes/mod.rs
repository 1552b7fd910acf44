//! Routes: faster paths through the pipeline, each for one family of vocabularies. A tokenizer has at most one route,
//! chosen when it is compiled.
//!
//! A route encodes texts before normalization, and returns only ids. The route for words can also convert spans of the
//! rewritten text to spans of the text. A route decides which texts it accepts, has its own memory, and is tested against
//! the general path: normalize, split, model.

mod sentencepiece_bpe;
mod sentencepiece_unigram;
mod words;

use std::sync::Arc;

use crate::cache::Cache;
use crate::error::Result;
use crate::huge::release;
use crate::model::CompiledModel;
use crate::normalize::{Normalizer, RewriteBuffers};
use crate::post::IdSink;
use crate::segmenter::{Context, Segmenter};
use crate::spec::SentencePieceVersion;
use sentencepiece_bpe::{SentencePieceBpe, TextParts};
pub(crate) use sentencepiece_unigram::SentencePieceUnigram;
pub(crate) use words::{WordsPart, WordsRoute};

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
    rewrite_buffers: RewriteBuffers,
    parts: Option<Box<TextParts>>,
}

impl RouteScratch {
    /// Frees buffers of more than `max_kept` bytes.
    pub fn release(&mut self, max_kept: usize) {
        release(&mut self.text, max_kept);
        self.rewrite_buffers.release(max_kept);
    }
}

impl Route {
    /// Returns the route of a vocabulary, if one of the routes can encode its texts.
    pub fn choose(normalizer: &Arc<Normalizer>, segmenter: &Segmenter, version: SentencePieceVersion) -> Option<Route> {
        let Segmenter { model, splits, .. } = segmenter;
        match model {
            CompiledModel::Bpe(bpe) if version == SentencePieceVersion::V0_2_3 => {
                SentencePieceBpe::choose(bpe, normalizer, segmenter).map(Box::new).map(Route::SentencePieceBpe)
            }
            CompiledModel::Unigram(unigram) if splits.is_empty() => {
                SentencePieceUnigram::choose(unigram, normalizer, segmenter).map(Route::SentencePieceUnigram)
            }
            _ => WordsRoute::choose(normalizer, segmenter).map(Box::new).map(Route::Words),
        }
    }

    /// Reports whether the route accepts this text. Also builds the tables of the route after enough text was encoded
    /// to justify the cost.
    #[inline]
    pub fn accepts(&self, segmenter: &Segmenter, text: &[u8]) -> bool {
        match self {
            Route::SentencePieceBpe(route) => route.accepts(segmenter, text),
            Route::SentencePieceUnigram(route) => route.accepts(segmenter, text),
            Route::Words(route) => route.accepts(text),
        }
    }

    /// Builds the tables that encoding would otherwise build later.
    pub fn warm_up(&self, segmenter: &Segmenter) {
        match self {
            Route::SentencePieceBpe(route) => _ = route.warm_up(segmenter),
            Route::SentencePieceUnigram(route) => route.warm_up(segmenter),
            Route::Words(route) => route.warm_up(),
        }
    }

    /// Inserts the vocabulary entries that encode to their own id into a cache.
    pub fn insert_entries(&self, segmenter: &Segmenter, cache: &mut Cache) {
        match self {
            Route::SentencePieceBpe(route) => route.insert_entries(segmenter, cache),
            Route::SentencePieceUnigram(_) | Route::Words(_) => segmenter.insert_entries(cache),
        }
    }

    /// Encodes a text that the route accepts. The text starts at byte `at` of the caller's text.
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

    /// Returns the route if it is SentencePiece's BPE route, whose tokens cover a text, including its spaces, without
    /// gaps.
    pub fn as_sentencepiece_bpe(&self) -> Option<&SentencePieceBpe> {
        if let Route::SentencePieceBpe(route) = self { Some(route) } else { None }
    }

    /// Returns the route if it is the route of SentencePiece's Unigram.
    pub fn as_sentencepiece_unigram(&self) -> Option<&SentencePieceUnigram> {
        if let Route::SentencePieceUnigram(route) = self { Some(route) } else { None }
    }

    /// Returns the route if it is the route for words.
    pub fn as_words(&self) -> Option<&WordsRoute> {
        if let Route::Words(route) = self { Some(route) } else { None }
    }
}
