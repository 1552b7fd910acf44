//! The route of SentencePiece's Unigram: finds words in the text before normalization; see `model::unigram::raw`.

use std::sync::Arc;

use crate::error::Result;
use crate::lazy::Warmup;
use crate::model::unigram::{RAW_BASE, Unigram, WordTables, accepts_raw};
use crate::normalize::Normalizer;
use crate::post::tiles::Tiles;
use crate::post::{IdSink, Out};
use crate::segmenter::{Context, Segmenter, SegmenterScratch};
use crate::utf8::valid;

/// The number of bytes of text after which the tables are built: building the tables takes as long as encoding some
/// hundred kilobytes without tables.
const BYTES_BEFORE_TABLES: usize = 1 << 17;

/// The route.
pub(crate) struct SentencePieceUnigram {
    unigram: Arc<Unigram>,
    normalizer: Arc<Normalizer>,
    tables: Warmup<WordTables>,
}

impl SentencePieceUnigram {
    /// Returns the route if SentencePiece's normalizer is the only step and unknown text is not an error. (The error
    /// for unknown text has an offset in the normalized text, which the route does not know.)
    pub fn choose(unigram: &Arc<Unigram>, normalizer: &Arc<Normalizer>, segmenter: &Segmenter) -> Option<Self> {
        normalizer.sentencepiece()?;
        let (unigram, normalizer) = (unigram.clone(), normalizer.clone());
        let route = SentencePieceUnigram { unigram, normalizer, tables: Warmup::after_bytes(BYTES_BEFORE_TABLES) };
        (!segmenter.fallback.can_fail()).then_some(route)
    }

    #[inline]
    pub fn accepts(&self, segmenter: &Segmenter, text: &[u8]) -> bool {
        self.tables.get(text.len(), || self.build_tables(segmenter)).is_some() && accepts_raw(text)
    }

    /// Builds the tables now, whatever the amount of text.
    pub fn warm_up(&self, segmenter: &Segmenter) {
        self.tables.build_now(|| self.build_tables(segmenter));
    }

    fn build_tables(&self, segmenter: &Segmenter) -> Option<WordTables> {
        WordTables::raw(&self.unigram, self.normalizer.sentencepiece()?, &segmenter.vocab)
    }

    pub fn run<S: IdSink>(&self, text: &[u8], context: &mut Context<S>) -> Result<()> {
        let scratch = &mut context.scratch.model.unigram;
        match (self.tables.peek(), self.normalizer.sentencepiece()) {
            (Some(tables), Some(normalizer)) => self.unigram.encode_raw(tables, normalizer, text, scratch, context.out),
            _ => Ok(()),
        }
    }

    /// Encodes a text that the route accepts to tokens with ends, which count from the start of the first token. Returns
    /// this start; None if the text is not UTF-8 or the ends are not known.
    ///
    /// Proof: the normalizer's offsets are starts of steps. A token ends where the step of the byte after the token
    /// starts, so tokens cover the text without gaps. The pieces and the keys of the normalizer are UTF-8, so tokens
    /// start and end between characters.
    pub fn encode_tiles(
        &self,
        text: &[u8],
        segmenter: &Segmenter,
        scratch: &mut SegmenterScratch,
        tiles: &mut Tiles,
    ) -> Option<usize> {
        let (tables, normalizer) = (self.tables.peek()?, self.normalizer.sentencepiece()?);
        if !self.unigram.covers_raw(&segmenter.fallback) || valid(text).is_err() {
            return None;
        }
        let out = &mut Out::new(&segmenter.fallback, tiles);
        self.unigram.encode_raw_to_tiles(tables, normalizer, text, &mut scratch.model.unigram, out).ok()?;
        let start = normalizer.leading_spaces(text);
        tiles.ends.iter_mut().for_each(|end| *end -= start as u32 + RAW_BASE);
        Some(start)
    }
}
