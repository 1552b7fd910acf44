//! Encoding with spans by way of ids alone; see `sink::lengths` for the proof.

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

/// Pieces that are asked for at a time.
const PIECES: usize = 256;

/// Which texts have spans by lengths, as far as the vocabulary says.
pub(crate) struct ByLengths {
    covers: Covers,
    lengths: Lazy<Lengths>,
}

/// Which text tokens cover side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Covers {
    /// The text that a route takes, with its spaces.
    Raw,
    /// The normalized text.
    Normalized,
    /// None.
    Nothing,
}

impl ByLengths {
    /// Decides which text it is.
    pub fn compile(segmenter: &Segmenter, route: Option<&Route>) -> ByLengths {
        let Segmenter { model, splits, user_defined, .. } = segmenter;
        // How many words there are depends on the user-defined pieces, which are matched beforehand.
        let has_words = !(splits.is_empty() && user_defined.is_some());
        let covers = match (route.and_then(Route::as_escaped), model) {
            (Some(_), _) if has_words && model.covers_own_bytes() => Covers::Raw,
            (Some(_), _) => Covers::Nothing,
            (_, CompiledModel::Bpe(_)) if has_words && model.covers_own_bytes() => Covers::Normalized,
            (_, CompiledModel::Longest(_)) => Covers::Normalized,
            _ => Covers::Nothing,
        };
        ByLengths { covers, lengths: Lazy::default() }
    }

    /// No text has spans by lengths.
    #[cfg(test)]
    fn never() -> ByLengths {
        ByLengths { covers: Covers::Nothing, lengths: Lazy::default() }
    }

    /// Pushes the tokens of a part that the route takes; false, and nothing is pushed, if they must be found in another way.
    pub fn encode_part<S: Sink>(
        &self,
        segmenter: &Segmenter,
        route: &Route,
        (part, at): (&[u8], usize),
        scratch: &mut Scratch,
        out: &mut Out<S>,
    ) -> bool {
        let Some(escaped) = route.as_escaped().filter(|_| self.covers == Covers::Raw) else { return false };
        if part.is_empty() || valid(part).is_err() || !route.takes(segmenter, part) {
            return false;
        }
        let Escape { prefix, covers_first, .. } = escaped.escape();
        let prefix = prefix.applies(part, at) as usize;
        let mut tiles = std::mem::take(&mut scratch.tiles);
        tiles.clear();
        let ids = &mut Out::new(&segmenter.fallback, &mut tiles.ids);
        let mut context = Context { segmenter, scratch: &mut scratch.segmenter, out: ids };
        let is_tiled = route
            .run((part, at), &mut scratch.route, &mut context)
            .is_ok_and(|()| self.find_ends(segmenter, part, prefix, &mut tiles))
            // The prefix as a token of its own covers the first character, which the next token covers too.
            && !(covers_first && prefix > 0 && tiles.ends.first() == Some(&0));
        if is_tiled {
            tiles.words.push(0);
            out.begin_part(Place::same(at));
            tiles.push(out.sink);
        }
        scratch.tiles = tiles;
        is_tiled
    }

    /// The same for a normalized text, whose place the sink knows.
    pub fn encode_normalized<S: Sink>(
        &self,
        segmenter: &Segmenter,
        text: &[u8],
        scratch: &mut Scratch,
        out: &mut Out<S>,
    ) -> bool {
        if S::by_ids(out).is_some() || self.covers != Covers::Normalized {
            return false;
        }
        let mut tiles = std::mem::take(&mut scratch.tiles);
        tiles.clear();
        let ids = &mut Out::new(&segmenter.fallback, &mut tiles.ids);
        let mut context = Context { segmenter, scratch: &mut scratch.segmenter, out: ids };
        let is_tiled = context.encode_text(text).is_ok()
            && self.find_ends(segmenter, text, 0, &mut tiles)
            && (!out.sink.needs_words() || find_words(segmenter, text, &mut tiles.words));
        if is_tiled {
            tiles.push(out.sink);
        }
        scratch.tiles = tiles;
        is_tiled
    }

    fn find_ends(&self, segmenter: &Segmenter, text: &[u8], prefix: usize, tiles: &mut Tiles) -> bool {
        let Segmenter { vocab, fallback, .. } = segmenter;
        let is_escaped = self.covers == Covers::Raw;
        let without = || segmenter.model.byte_ids().unwrap_or_default();
        let lengths = self.lengths.get(|| Lengths::compile(vocab, fallback, is_escaped, &without()));
        lengths.find_ends(text, prefix, fallback, tiles)
    }
}

/// Finds where pieces of the split start; false if the text cannot be split.
fn find_words(segmenter: &Segmenter, text: &[u8], words: &mut Vec<u32>) -> bool {
    let splits = &segmenter.splits;
    if splits.is_empty() {
        words.push(0);
        return true;
    }
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let (mut cursor, mut pieces) = (SplitCursor::new(), [(0, 0); PIECES]);
    loop {
        match splits.fill(text, &mut cursor, &mut pieces) {
            Ok(0) => return true,
            Ok(count) => words.extend(pieces[..count].iter().map(|&(start, _)| start)),
            Err(_) => return false,
        }
    }
}

#[cfg(test)]
mod tests;
