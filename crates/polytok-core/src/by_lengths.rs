//! Encodes a text to ids without spans, and then computes the spans of the tokens from the lengths of their entries;
//! see `sink::lengths` for the proof.

use crate::lazy::Lazy;
use crate::model::CompiledModel;
use crate::normalize::Escape;
use crate::normalize::origin::Place;
use crate::post::{Out, Sink};
use crate::routes::Route;
use crate::scratch::Scratch;
use crate::segmenter::{Context, Segmenter};
use crate::sink::lengths::{Lengths, Tiles};
use crate::split::cursor::SplitCursor;
use crate::utf8::valid;

/// The number of pieces that the split finds at a time.
const PIECE_BATCH_LEN: usize = 256;

/// The kind of text that tokens cover without gaps, and the lengths of the tokens, from which spans are computed.
pub(crate) struct ByLengths {
    covered_text: CoveredText,
    lengths: Lazy<Lengths>,
}

/// The kind of text that tokens cover without gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CoveredText {
    /// The text before normalization, which a route encodes.
    Raw,
    /// The normalized text.
    Normalized,
    /// No text.
    Nothing,
}

impl ByLengths {
    /// Decides which text the tokens of a vocabulary cover without gaps.
    pub fn compile(segmenter: &Segmenter, route: Option<&Route>) -> ByLengths {
        let Segmenter { model, splits, user_defined, .. } = segmenter;
        // If a vocabulary has user-defined pieces but no split, each user-defined piece starts a new word, and the
        // lengths of tokens do not show where words start.
        let has_words = !(splits.is_empty() && user_defined.is_some());
        let covered_text = match (route.and_then(Route::as_sentencepiece_bpe), model) {
            (Some(_), _) if has_words && model.covers_own_bytes() => CoveredText::Raw,
            (Some(_), _) => CoveredText::Nothing,
            (_, CompiledModel::Bpe(_)) if has_words && model.covers_own_bytes() => CoveredText::Normalized,
            (_, CompiledModel::LongestMatch(_)) => CoveredText::Normalized,
            _ => CoveredText::Nothing,
        };
        ByLengths { covered_text, lengths: Lazy::default() }
    }

    /// Returns a value that disables the computation of spans from lengths.
    #[cfg(test)]
    fn disabled() -> ByLengths {
        ByLengths { covered_text: CoveredText::Nothing, lengths: Lazy::default() }
    }

    /// Encodes a part of the caller's text with the route, and writes its tokens to the sink. Returns false and writes
    /// nothing if the spans of this part cannot be computed from lengths.
    pub fn encode_part<S: Sink>(
        &self,
        segmenter: &Segmenter,
        route: &Route,
        (part, at): (&[u8], usize),
        scratch: &mut Scratch,
        out: &mut Out<S>,
    ) -> bool {
        let Some(escaped) = route.as_sentencepiece_bpe().filter(|_| self.covered_text == CoveredText::Raw) else {
            return false;
        };
        if part.is_empty() || valid(part).is_err() || !route.accepts(segmenter, part) {
            return false;
        }
        let Escape { prefix, covers_first, .. } = escaped.escape();
        let prefix = prefix.adds_space(part, at) as usize;
        let mut tiles = std::mem::take(&mut scratch.tiles);
        tiles.clear();
        let ids = &mut Out::new(&segmenter.fallback, &mut tiles.ids);
        let mut context = Context { segmenter, scratch: &mut scratch.segmenter, out: ids };
        let is_tiled = route
            .run((part, at), &mut scratch.route, &mut context)
            .is_ok_and(|()| self.find_ends(segmenter, part, prefix, &mut tiles))
            // If the inserted prefix is a token, the span of that token is the first character of the text, which the
            // next token covers too.
            && !(covers_first && prefix > 0 && tiles.ends.first() == Some(&0));
        if is_tiled {
            tiles.word_starts.push(0);
            out.begin_part(Place::unchanged_at(at));
            tiles.push(out.sink);
        }
        scratch.tiles = tiles;
        is_tiled
    }

    /// Encodes a normalized text, and writes its tokens to the sink, which knows the position of the text in the
    /// caller's text. Returns false and writes nothing if the spans cannot be computed from lengths.
    pub fn encode_normalized<S: Sink>(
        &self,
        segmenter: &Segmenter,
        text: &[u8],
        scratch: &mut Scratch,
        out: &mut Out<S>,
    ) -> bool {
        if S::by_ids(out).is_some() || self.covered_text != CoveredText::Normalized {
            return false;
        }
        let mut tiles = std::mem::take(&mut scratch.tiles);
        tiles.clear();
        let ids = &mut Out::new(&segmenter.fallback, &mut tiles.ids);
        let mut context = Context { segmenter, scratch: &mut scratch.segmenter, out: ids };
        let is_tiled = context.encode_text(text).is_ok()
            && self.find_ends(segmenter, text, 0, &mut tiles)
            && (!out.sink.needs_words() || find_words(segmenter, text, &mut tiles.word_starts));
        if is_tiled {
            tiles.push(out.sink);
        }
        scratch.tiles = tiles;
        is_tiled
    }

    /// Finds the end of each token; returns false if the tokens do not cover the text without gaps.
    fn find_ends(&self, segmenter: &Segmenter, text: &[u8], prefix: usize, tiles: &mut Tiles) -> bool {
        let Segmenter { vocab, fallback, .. } = segmenter;
        let is_escaped = self.covered_text == CoveredText::Raw;
        let ids_without_length = || segmenter.model.byte_ids().unwrap_or_default();
        let lengths = self.lengths.get(|| Lengths::compile(vocab, fallback, is_escaped, &ids_without_length()));
        lengths.find_ends(text, prefix, fallback, tiles)
    }
}

/// Splits the text and appends the starts of the pieces to `word_starts`; returns false if the text cannot be split.
fn find_words(segmenter: &Segmenter, text: &[u8], word_starts: &mut Vec<u32>) -> bool {
    let splits = &segmenter.splits;
    if splits.is_empty() {
        word_starts.push(0);
        return true;
    }
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let (mut cursor, mut pieces) = (SplitCursor::new(), [(0, 0); PIECE_BATCH_LEN]);
    loop {
        match splits.fill(text, &mut cursor, &mut pieces) {
            Ok(0) => return true,
            Ok(count) => word_starts.extend(pieces[..count].iter().map(|&(start, _)| start)),
            Err(_) => return false,
        }
    }
}

#[cfg(test)]
mod tests;
