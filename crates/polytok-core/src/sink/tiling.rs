//! Spans of tokens by way of their ids.
//!
//! Where the tokens of a text, side by side, are that text, nobody need carry spans through rewriting, splitting and merging: the text
//! is encoded to ids as always, by the cache, and each token stands where the one before it ends. Where all that is rewritten are
//! spaces, as U+2581, this holds of the text as it was, too: a token is as long as if it were spelled with spaces.
//!
//! Proof: tokens come from left to right, each for text of its own, which is as long as its entry; other ids do not count, nor do
//! those that unknown text may become. So all their lengths are at most the text's, and less if something lies between
//! them, or if a U+2581 of the text was taken for a space. Unknown characters that become their bytes are compared with the text; a
//! space or a U+2581 never is such a character. Only models whose tokens cover no other text than their own bytes take part.
//!
//! Invariant: what is pushed is what encoding with spans pushes. Where the lengths do not add up, the text is encoded anew, with spans.
//! Cost: that of the ids, and a table lookup for each; at worst both ways are gone.

use crate::post::{Fallback, Origin, Sink};
use crate::routes::stretches::Stretches;
use crate::space_mark;
use crate::spec::Kind;
use crate::split::cursor::Cursor;
use crate::tokenizer::{Compiled, Scratch, Tokenizer};
use crate::utf8::{char_len, valid};

/// Pieces that are looked for at a time.
const PIECES: usize = 256;

/// In the place of a length: a byte of an unknown character.
const BYTE: u8 = u8::MAX;

/// How many bytes of text the tokens cover, by id; 0 where that is not known.
pub struct Lens(Vec<u8>);

/// Memory for one stretch of text.
#[derive(Default)]
pub struct TilingScratch {
    ids: Vec<u32>,
    /// Where each token ends.
    ends: Vec<u32>,
    /// Where pieces of the split start.
    words: Vec<u32>,
}

impl TilingScratch {
    /// Gives back what is larger than this many numbers.
    pub fn release(&mut self, kept: usize) {
        for buffer in [&mut self.ids, &mut self.ends, &mut self.words] {
            if buffer.capacity() > kept {
                *buffer = Vec::new();
            }
        }
    }
}

impl Tokenizer {
    /// Pushes the tokens of a normalized text with their spans; false, and nothing is pushed, if they must be found otherwise.
    pub(crate) fn encode_tiled<S: Sink>(&self, text: &[u8], scratch: &mut Scratch, sink: &mut S) -> bool {
        let may_tile = match &self.model {
            // How many words there are depends on the pieces that are matched beforehand.
            Compiled::Bpe(bpe, _) => {
                bpe.covers_own_bytes()
                    && self.stretches.escape().is_none()
                    && !(self.splits.is_empty() && bpe.has_frozen())
            }
            Compiled::Longest(_) => true,
            _ => false,
        };
        if !may_tile {
            return false;
        }
        let mut tiling = std::mem::take(&mut scratch.tiling);
        tiling.ids.clear();
        let tiles = self.encode_normalized(text, scratch, &mut tiling.ids).is_ok()
            && self.find_ends(text, 0, &mut tiling)
            && self.find_words(text, sink.wants_words(), &mut tiling);
        if tiles {
            tiling.push(sink);
        }
        scratch.tiling = tiling;
        tiles
    }

    /// The same for a text of its own, whose spaces are not escaped.
    pub(crate) fn encode_unescaped_tiled<S: Sink>(
        &self,
        stretches: &Stretches,
        text: &[u8],
        at: usize,
        scratch: &mut Scratch,
        sink: &mut S,
    ) -> bool {
        let has_frozen = matches!(&self.model, Compiled::Bpe(bpe, _) if bpe.has_frozen() || !bpe.covers_own_bytes());
        if text.is_empty() || has_frozen || valid(text).is_err() {
            return false;
        }
        let prefix = self.stretches.escape().map_or(0, |escape| escape.has_prefix as usize);
        let mut tiling = std::mem::take(&mut scratch.tiling);
        tiling.ids.clear();
        let tiles = self.encode_unescaped(stretches, text, at, scratch, &mut tiling.ids).is_ok()
            && self.find_ends(text, prefix, &mut tiling);
        if tiles {
            tiling.words.clear();
            tiling.words.push(0);
            sink.begin_part(at as u32, Origin::Same);
            tiling.push(sink);
        }
        scratch.tiling = tiling;
        tiles
    }

    /// Finds the end of each token of a text that a space of so many bytes was put before; false if the tokens are not the text.
    fn find_ends(&self, text: &[u8], prefix: usize, TilingScratch { ids, ends, .. }: &mut TilingScratch) -> bool {
        let Lens(lens) = self.lens.get(|| self.compile_lens());
        let mut at = 0usize;
        let mut left = &ids[..];
        ends.clear();
        ends.reserve(ids.len());
        while let Some((&id, rest)) = left.split_first() {
            match lens.get(id as usize) {
                None | Some(0) => return false,
                Some(&BYTE) => {
                    let Some(start) = at.checked_sub(prefix).filter(|&start| start < text.len()) else { return false };
                    let Some(len) = self.unknown_char(left, &text[start..]) else { return false };
                    ends.extend(std::iter::repeat_n(start as u32, len - 1));
                    left = &left[len..];
                    at += len;
                }
                Some(&len) => {
                    left = rest;
                    at += len as usize;
                }
            }
            ends.push(at.saturating_sub(prefix) as u32);
        }
        at == text.len() + prefix
    }

    /// The length of the character at the start of `text`, if the next ids are its bytes.
    fn unknown_char(&self, ids: &[u32], text: &[u8]) -> Option<usize> {
        let Fallback::Bytes(bytes) = &self.fallback else { return None };
        let char = &text[..char_len(text)];
        let is_spelled = || char.iter().zip(ids).all(|(&byte, &id)| bytes[byte as usize] == id);
        (char != space_mark::BYTES && char.len() <= ids.len() && is_spelled()).then_some(char.len())
    }

    fn compile_lens(&self) -> Lens {
        let is_escaped = self.stretches.escape().is_some();
        // Of ids that lie far apart there is no table, and no text is tiled.
        let count = if self.vocab.size() as usize <= 4 * self.vocab.len() + 1024 { self.vocab.size() } else { 0 };
        let len_of = |id: u32| {
            let row =
                self.vocab.row(id).filter(|&row| matches!(self.vocab.kind(row), Kind::Normal | Kind::UserDefined));
            let piece = row.map_or(&[][..], |row| self.vocab.bytes(row));
            let spaces = if is_escaped { memchr::memmem::find_iter(piece, space_mark::BYTES).count() } else { 0 };
            let len = piece.len() - (space_mark::BYTES.len() - 1) * spaces;
            if len < BYTE as usize { len as u8 } else { 0 }
        };
        let mut lens: Vec<u8> = (0..count).map(len_of).collect();
        let (unknown, len) = match &self.fallback {
            Fallback::Bytes(bytes) => (&bytes[..], if is_escaped { BYTE } else { 0 }),
            Fallback::Unk(id) | Fallback::Spelled(id) => (std::slice::from_ref(id), 0),
            Fallback::Error | Fallback::Drop => (&[][..], 0),
        };
        for &id in unknown {
            if let Some(place) = lens.get_mut(id as usize) {
                *place = len;
            }
        }
        Lens(lens)
    }

    /// Finds where words start, if that is wanted; false if the text cannot be split.
    fn find_words(&self, text: &[u8], is_wanted: bool, TilingScratch { words, .. }: &mut TilingScratch) -> bool {
        words.clear();
        if !is_wanted {
            return true;
        }
        if self.splits.is_empty() {
            words.push(0);
            return true;
        }
        let Ok(text) = std::str::from_utf8(text) else { return false };
        let (mut cursor, mut pieces) = (Cursor::new(), [(0, 0); PIECES]);
        loop {
            match self.splits.fill(text, &mut cursor, &mut pieces) {
                Ok(0) => return true,
                Ok(count) => words.extend(pieces[..count].iter().map(|&(start, _)| start)),
                Err(_) => return false,
            }
        }
    }
}

impl TilingScratch {
    fn push<S: Sink>(&self, sink: &mut S) {
        if !sink.wants_words() {
            return sink.push_tiles(&self.ids, &self.ends);
        }
        let mut words = self.words.iter().peekable();
        let mut start = 0;
        for (&id, &end) in self.ids.iter().zip(&self.ends) {
            while words.next_if(|&&word| word <= start).is_some() {
                sink.begin_word();
            }
            sink.push(id, start, end);
            start = end;
        }
        words.for_each(|_| sink.begin_word());
    }
}

#[cfg(test)]
mod tests;
