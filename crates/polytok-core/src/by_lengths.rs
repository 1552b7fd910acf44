//! Encodes a text to ids without spans, and then computes the spans of the tokens from the lengths of their entries;
//! see `post::lengths` for the proof.

mod steps;

use std::sync::Arc;

use memchr::memmem;
use polytok_memory::Grow;

use crate::lazy::Lazy;
use crate::model::CompiledModel;
use crate::normalize::Escape;
use crate::normalize::kept_text::KeptText;
use crate::normalize::origin::{Origin, Place};
use crate::post::lengths::Lengths;
use crate::post::tiles::Tiles;
use crate::post::{Out, Sink};
use crate::routes::{Route, SentencePieceUnigram};
use crate::scratch::Scratch;
use crate::segmenter::{Context, Segmenter};
use crate::space_mark;
use crate::spec::Kind;
use crate::split::cursor::SplitCursor;
use crate::trie::Trie;
use crate::utf8::valid;
use crate::vocab::Vocab;

/// The number of pieces that the split finds at a time.
const PIECE_BATCH_LEN: usize = 256;

/// The kind of text that tokens cover without gaps, and the lengths of the tokens, from which spans are computed.
pub(crate) struct ByLengths {
    covered_text: CoveredText,
    /// False if the lengths of tokens do not show where words start: if a vocabulary has user-defined pieces but no
    /// split, each user-defined piece starts a new word.
    has_words: bool,
    /// The user-defined pieces if some of them are runs of spaces; see `steps`.
    space_pieces: Option<Arc<Trie>>,
    /// True if a token can be a part of a character. In Hugging Face's BPE such a token has the span of the whole
    /// character, so the spans of the bytes of an unknown character are equal.
    splits_chars: bool,
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
        let spaces = user_defined.as_ref().map_or(UserDefinedSpaces::None, |_| user_defined_spaces(&segmenter.vocab));
        let is_sentencepiece_bpe = route.and_then(Route::as_sentencepiece_bpe).is_some();
        let covered_text = match (is_sentencepiece_bpe, model, spaces) {
            (_, _, UserDefinedSpaces::Mixed) => CoveredText::Nothing,
            (true, _, _) if model.covers_own_bytes() => CoveredText::Raw,
            (true, _, _) | (_, _, UserDefinedSpaces::Runs) => CoveredText::Nothing,
            (_, CompiledModel::Bpe(_), _) if model.covers_own_bytes() => CoveredText::Normalized,
            (_, CompiledModel::LongestMatch(_), _) => CoveredText::Normalized,
            _ => CoveredText::Nothing,
        };
        ByLengths {
            covered_text,
            has_words: !(splits.is_empty() && user_defined.is_some()),
            space_pieces: user_defined.clone().filter(|_| spaces == UserDefinedSpaces::Runs),
            splits_chars: covered_text == CoveredText::Raw && model.byte_ids().is_some(),
            lengths: Lazy::default(),
        }
    }

    /// Returns a value that disables the computation of spans from lengths.
    #[cfg(test)]
    pub fn disabled() -> ByLengths {
        ByLengths {
            covered_text: CoveredText::Nothing,
            has_words: false,
            space_pieces: None,
            splits_chars: false,
            lengths: Lazy::default(),
        }
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
        if let Some(unigram) = route.as_sentencepiece_unigram() {
            return !out.sink.needs_own_texts()
                && route.accepts(segmenter, part)
                && encode_unigram(segmenter, unigram, (part, at), scratch, out);
        }
        let Some(escaped) = route.as_sentencepiece_bpe().filter(|_| self.covered_text == CoveredText::Raw) else {
            return false;
        };
        if out.sink.needs_words() && !self.has_words {
            return false;
        }
        let Escape { prefix, covers_first, replaces_invalid } = escaped.escape();
        // If the route does not replace invalid bytes, it accepts only UTF-8.
        if part.is_empty() || replaces_invalid && valid(part).is_err() || !route.accepts(segmenter, part) {
            return false;
        }
        let prefix = prefix.adds_space(part, at) as usize;
        let mut tiles = std::mem::take(&mut scratch.tiles);
        tiles.clear();
        let ids = &mut Out::new(&segmenter.fallback, &mut tiles.ids);
        let mut context = Context { segmenter, scratch: &mut scratch.segmenter, out: ids };
        let is_tiled = route
            .run((part, at), &mut scratch.route, &mut context)
            .is_ok_and(|()| self.find_ends(segmenter, part, prefix, &mut tiles));
        if is_tiled {
            self.push_tiles((part, at), covers_first, &mut tiles, out);
        }
        scratch.tiles = tiles;
        is_tiled
    }

    /// Writes the tokens of a text before normalization to the sink. The text starts at byte `at` of the caller's text.
    fn push_tiles<S: Sink>(&self, (text, at): (&[u8], usize), covers_first: bool, tiles: &mut Tiles, out: &mut Out<S>) {
        if let Some(pieces) = &self.space_pieces {
            steps::move_ends_to_steps(pieces, text, &mut tiles.ends);
        }
        tiles.word_starts.checked_push(0);
        let has_whole_chars = !self.splits_chars && !covers_first || text.is_ascii();
        let origin = if has_whole_chars { Origin::Same } else { Origin::Kept(KeptText::new(text)) };
        out.begin_part(Place { at: at as u32, origin });
        tiles.send(covers_first, out.sink);
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
        let lacks_words = out.sink.needs_words() && !self.has_words;
        if S::by_ids(out).is_some() || lacks_words || self.covered_text != CoveredText::Normalized {
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
            tiles.send(false, out.sink);
        }
        scratch.tiles = tiles;
        is_tiled
    }

    /// Finds the end of each token; returns false if the tokens do not cover the text without gaps.
    fn find_ends(&self, segmenter: &Segmenter, text: &[u8], prefix: usize, tiles: &mut Tiles) -> bool {
        let Tiles { ids, ends, .. } = tiles;
        self.lengths(segmenter).find_ends(text, prefix, &segmenter.fallback, ids, ends)
    }

    /// Returns the lengths of the tokens; the first call computes them.
    fn lengths(&self, Segmenter { vocab, fallback, model, .. }: &Segmenter) -> &Lengths {
        let is_escaped = self.covered_text == CoveredText::Raw;
        self.lengths.get(|| Lengths::compile(vocab, fallback, is_escaped, model.byte_ids().as_deref()))
    }

    /// Computes the lengths of the tokens if encoding would otherwise compute them later.
    pub fn warm_up(&self, segmenter: &Segmenter) {
        if self.covered_text != CoveredText::Nothing {
            self.lengths(segmenter);
        }
    }
}

/// Encodes a part of the caller's text with the route of SentencePiece's Unigram, which finds the ends of tokens itself.
/// Returns false and writes nothing if the route cannot find the ends. The sink needs no words.
fn encode_unigram<S: Sink>(
    segmenter: &Segmenter,
    route: &SentencePieceUnigram,
    (part, at): (&[u8], usize),
    scratch: &mut Scratch,
    out: &mut Out<S>,
) -> bool {
    let mut tiles = std::mem::take(&mut scratch.tiles);
    tiles.clear();
    let start = route.encode_tiles(part, segmenter, &mut scratch.segmenter, &mut tiles);
    if let Some(start) = start {
        out.begin_part(Place::unchanged_at(at + start));
        tiles.send(false, out.sink);
    }
    scratch.tiles = tiles;
    start.is_some()
}

/// The user-defined pieces that have a space or U+2581.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UserDefinedSpaces {
    /// There are none.
    None,
    /// These pieces consist of spaces only.
    Runs,
    /// Some of these pieces also have other characters or U+2581.
    Mixed,
}

/// Returns the kind of the user-defined pieces that have a space or U+2581.
fn user_defined_spaces(vocab: &Vocab) -> UserDefinedSpaces {
    let pieces = || vocab.rows_of(Kind::UserDefined).map(|row| vocab.bytes(row));
    let is_run = |piece: &[u8]| piece.iter().all(|&byte| byte == b' ');
    let has_mark = |piece: &[u8]| memmem::find(piece, space_mark::BYTES).is_some();
    match pieces().any(|piece| piece.contains(&b' ')) {
        _ if pieces().any(|piece| has_mark(piece) || piece.contains(&b' ') && !is_run(piece)) => {
            UserDefinedSpaces::Mixed
        }
        true => UserDefinedSpaces::Runs,
        false => UserDefinedSpaces::None,
    }
}

/// Splits the text and appends the starts of the pieces to `word_starts`; returns false if the text cannot be split.
fn find_words(segmenter: &Segmenter, text: &[u8], word_starts: &mut Vec<u32>) -> bool {
    let splits = &segmenter.splits;
    if splits.is_empty() {
        word_starts.checked_push(0);
        return true;
    }
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let (mut cursor, mut pieces) = (SplitCursor::new(), [(0, 0); PIECE_BATCH_LEN]);
    loop {
        match splits.fill(text, &mut cursor, &mut pieces) {
            Ok(0) => return true,
            Ok(count) => word_starts.checked_extend(pieces[..count].iter().map(|&(start, _)| start)),
            Err(_) => return false,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
