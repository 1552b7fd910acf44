//! Spans of tokens by the lengths of their entries.
//!
//! If the tokens of a text, side by side, are that text, spans need not be carried through rewriting, splitting and merging. The text
//! is encoded to ids alone, by the cache, and each token starts where the one before it ends. If all that is rewritten are
//! spaces, as U+2581, this holds of the text before that, too: a token is as long as if it were spelled with spaces.
//!
//! Proof: tokens come from left to right. Each covers text of its own that is as long as its entry; other ids do not count, nor do
//! those that unknown text may become. So the sum of their lengths is at most the length of the text, and it is less if something lies
//! between them, or if a U+2581 of the text was taken for a space. Unknown characters that become their bytes are compared with the
//! text; a space or a U+2581 never is such a character. Only models whose tokens cover no other text than their own bytes take part.
//!
//! Invariant: the spans are those that encoding with spans gives. If the lengths do not add up, the text must be encoded anew, with
//! spans. Cost: that of the ids, and a table lookup for each; at worst both ways are gone.

use crate::post::{Fallback, Sink};
use crate::space_mark;
use crate::spec::Kind;
use crate::token_id::TokenId;
use crate::utf8::char_len;
use crate::vocab::Vocab;

/// Stands in the place of a length: a byte of an unknown character.
const BYTE: u8 = u8::MAX;

/// The number of bytes of text that a token covers, by id; 0 where it is not known.
pub struct Lengths(Vec<u8>);

/// Tokens that cover a text without gaps.
#[derive(Default)]
pub struct Tiles {
    /// The ids.
    pub ids: Vec<u32>,
    /// Where each token ends.
    pub ends: Vec<u32>,
    /// Where the pieces of the split start.
    pub words: Vec<u32>,
}

impl Lengths {
    /// The lengths of all entries. `is_escaped`: in texts a space stands for each U+2581. The ids in `without` have none, since they
    /// stand for other text than their entry's.
    pub fn compile(vocab: &Vocab, fallback: &Fallback, is_escaped: bool, without: &[TokenId]) -> Lengths {
        // There is no table of ids that lie far apart, and so no spans by lengths.
        let count = if vocab.size() as usize <= 4 * vocab.len() + 1024 { vocab.size() } else { 0 };
        let mut lengths: Vec<u8> = (0..count).map(|id| length(vocab, TokenId(id), is_escaped)).collect();
        let (unknown, length) = match fallback {
            Fallback::Bytes(bytes) => (&bytes[..], if is_escaped { BYTE } else { 0 }),
            Fallback::Unk(id) | Fallback::Spelled(id) => (std::slice::from_ref(id), 0),
            Fallback::Error | Fallback::Drop => (&[][..], 0),
        };
        let others = unknown.iter().map(|&id| (id, length)).chain(without.iter().map(|&id| (id, 0)));
        for (id, length) in others {
            if let Some(place) = lengths.get_mut(id.index()) {
                *place = length;
            }
        }
        Lengths(lengths)
    }

    /// Finds the end of each token of a text that a space of `prefix` bytes was put before; false if the tokens are not the text.
    pub fn find_ends(&self, text: &[u8], prefix: usize, fallback: &Fallback, tiles: &mut Tiles) -> bool {
        let Tiles { ids, ends, .. } = tiles;
        let mut at = 0usize;
        let mut rest = TokenId::slice_of(ids);
        ends.clear();
        ends.reserve(ids.len());
        while let Some((&id, others)) = rest.split_first() {
            match self.0.get(id.index()) {
                None | Some(0) => return false,
                Some(&BYTE) => {
                    let Some(start) = at.checked_sub(prefix).filter(|&start| start < text.len()) else { return false };
                    let Some(len) = unknown_char(fallback, rest, &text[start..]) else { return false };
                    ends.extend(std::iter::repeat_n(start as u32, len - 1));
                    rest = &rest[len..];
                    at += len;
                }
                Some(&len) => {
                    rest = others;
                    at += len as usize;
                }
            }
            ends.push(at.saturating_sub(prefix) as u32);
        }
        at == text.len() + prefix
    }
}

/// The bytes of text that an entry covers; 0 if it covers none, or too many for the table.
fn length(vocab: &Vocab, id: TokenId, is_escaped: bool) -> u8 {
    let row = vocab.row(id).filter(|&row| matches!(vocab.kind(row), Kind::Normal | Kind::UserDefined));
    let piece = row.map_or(&[][..], |row| vocab.bytes(row));
    let spaces = if is_escaped { memchr::memmem::find_iter(piece, space_mark::BYTES).count() } else { 0 };
    let length = piece.len() - (space_mark::BYTES.len() - 1) * spaces;
    if length < BYTE as usize { length as u8 } else { 0 }
}

/// The length of the character at the start of `text`, if the next ids are its bytes.
fn unknown_char(fallback: &Fallback, ids: &[TokenId], text: &[u8]) -> Option<usize> {
    let Fallback::Bytes(bytes) = fallback else { return None };
    let char = &text[..char_len(text)];
    let is_spelled = || char.iter().zip(ids).all(|(&byte, &id)| bytes[byte as usize] == id);
    (char != space_mark::BYTES && char.len() <= ids.len() && is_spelled()).then_some(char.len())
}

impl Tiles {
    /// Forgets the tokens.
    pub fn clear(&mut self) {
        self.ids.clear();
        self.words.clear();
    }

    /// Pushes the tokens, and the pieces that start between them.
    pub fn push<S: Sink>(&self, sink: &mut S) {
        if !sink.needs_words() {
            return sink.push_tiles(TokenId::slice_of(&self.ids), &self.ends);
        }
        let mut words = self.words.iter().peekable();
        let mut start = 0;
        for (&id, &end) in TokenId::slice_of(&self.ids).iter().zip(&self.ends) {
            while words.next_if(|&&word| word <= start).is_some() {
                sink.begin_word();
            }
            sink.push(id, start, end);
            start = end;
        }
        words.for_each(|_| sink.begin_word());
    }

    /// Frees buffers of more than `kept` numbers.
    pub fn release(&mut self, kept: usize) {
        for buffer in [&mut self.ids, &mut self.ends, &mut self.words] {
            if buffer.capacity() > kept {
                *buffer = Vec::new();
            }
        }
    }
}
