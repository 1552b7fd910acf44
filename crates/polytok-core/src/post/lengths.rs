//! Computes the spans of tokens from the lengths of their entries.
//!
//! If the concatenated entries of the tokens of a text are equal to the text, then the lengths of the entries determine
//! the spans, and no step must track spans. The text is encoded only to ids, with the cache, and each token starts at
//! the end of the token before it. If the normalizer only writes spaces as U+2581, the same is true for the text before
//! normalization: each U+2581 of an entry counts as a space.
//!
//! Proof: the tokens are in the order of the text, and each token covers a part of the text that is as long as the
//! token's entry. So the sum of the lengths of the tokens is at most the length of the text. The sum is smaller if some
//! text is not covered by a token, or if a U+2581 of the text itself was counted as a space. Some tokens, such as the
//! unknown token, can cover text that differs from their entry. Their ids have no length in the table, and the spans of
//! a text with such an id are not computed here. If an unknown character is encoded as the ids of its bytes, these
//! bytes are compared with the text; a space or a U+2581 is never encoded in this way. In Hugging Face's BPE the id of a
//! byte always counts as one byte (`compile`). Lengths are used only for models whose tokens cover exactly the bytes of
//! their entries.
//!
//! Invariant: the computed spans are equal to the spans that encoding with spans returns. If the sum of the lengths is
//! not the length of the text, the text is encoded again, with spans. Cost: the cost of encoding to ids, and a table
//! lookup for each id; in the worst case the text is encoded twice.

use polytok_memory::{Collect, Grow};

use super::Fallback;
use crate::space_mark;
use crate::spec::Kind;
use crate::token_id::TokenId;
use crate::utf8::char_len;
use crate::vocab::Vocab;

/// The value in the table for the id of a byte, which can encode a byte of an unknown character.
const BYTE_MARK: u8 = u8::MAX;

/// The number of bytes of text that a token covers, by id; 0 if the number is not known.
pub struct Lengths(Vec<u8>);

impl Lengths {
    /// Computes the lengths of all entries. If `is_escaped` is true, a U+2581 of an entry covers a space of the text.
    /// `byte_ids` are the ids of the bytes if the model encodes unknown characters as bytes. Such an id covers one byte,
    /// or more if a piece is the name of the entry, which makes the sum of the lengths too small.
    pub fn compile(vocab: &Vocab, fallback: &Fallback, is_escaped: bool, byte_ids: Option<&[TokenId]>) -> Lengths {
        // If the vocabulary has few entries but large ids, the table is empty, and all texts are encoded with spans.
        let count = if vocab.size() as usize <= 4 * vocab.len() + 1024 { vocab.size() } else { 0 };
        let mut lengths: Vec<u8> = (0..count).map(|id| length(vocab, TokenId(id), is_escaped)).checked_collect();
        let (unknown, length) = match fallback {
            Fallback::Bytes(bytes) => (&bytes[..], if is_escaped { BYTE_MARK } else { 0 }),
            Fallback::Unk(id) | Fallback::ModelUnk(id) => (std::slice::from_ref(id), 0),
            Fallback::Error | Fallback::Drop => (&[][..], 0),
        };
        let byte_lengths = byte_ids.into_iter().flatten().map(|&id| (id, 1));
        let special_lengths = unknown.iter().map(|&id| (id, length)).chain(byte_lengths);
        for (id, length) in special_lengths {
            if let Some(slot) = lengths.get_mut(id.index()) {
                *slot = length;
            }
        }
        Lengths(lengths)
    }

    /// Returns the number of bytes that the token with an id covers; None if the number is not known.
    #[inline]
    pub fn get(&self, id: TokenId) -> Option<usize> {
        self.0.get(id.index()).filter(|&&length| length != 0 && length != BYTE_MARK).map(|&length| length as usize)
    }

    /// Returns the number of bytes that the token with an id covers; 0 if the number is not known. `compile` must have
    /// been called without `is_escaped`.
    #[inline]
    pub fn get_or_zero(&self, id: TokenId) -> u32 {
        self.0.get(id.index()).map_or(0, |&length| length as u32)
    }

    /// Finds the end of each token of a text; returns false if the tokens do not cover the text without gaps. The
    /// normalizer has inserted a space of `prefix` bytes before the text.
    pub fn find_ends(&self, text: &[u8], prefix: usize, fallback: &Fallback, ids: &[u32], ends: &mut Vec<u32>) -> bool {
        let mut at = 0usize;
        let mut remaining_ids = TokenId::slice_of(ids);
        ends.clear();
        ends.checked_reserve(ids.len());
        while let Some((&id, later_ids)) = remaining_ids.split_first() {
            match self.0.get(id.index()) {
                None | Some(0) => return false,
                Some(&BYTE_MARK) => {
                    let Some(start) = at.checked_sub(prefix).filter(|&start| start < text.len()) else { return false };
                    let Some(len) = unknown_char_len(fallback, remaining_ids, &text[start..]) else { return false };
                    ends.checked_extend(std::iter::repeat_n(start as u32, len - 1));
                    remaining_ids = &remaining_ids[len..];
                    at += len;
                }
                Some(&len) => {
                    remaining_ids = later_ids;
                    at += len as usize;
                }
            }
            ends.checked_push(at.saturating_sub(prefix) as u32);
        }
        at == text.len() + prefix
    }
}

/// Returns the number of bytes of text that an entry covers; 0 if the entry covers no bytes, or too many for the table.
fn length(vocab: &Vocab, id: TokenId, is_escaped: bool) -> u8 {
    let row = vocab.row(id).filter(|&row| matches!(vocab.kind(row), Kind::Normal | Kind::UserDefined));
    let piece = row.map_or(&[][..], |row| vocab.bytes(row));
    let spaces = if is_escaped { memchr::memmem::find_iter(piece, space_mark::BYTES).count() } else { 0 };
    let length = piece.len() - (space_mark::BYTES.len() - 1) * spaces;
    if length < BYTE_MARK as usize { length as u8 } else { 0 }
}

/// Returns the length of the character at the start of `text` if the first ids are the ids of the bytes of this
/// character.
fn unknown_char_len(fallback: &Fallback, ids: &[TokenId], text: &[u8]) -> Option<usize> {
    let Fallback::Bytes(bytes) = fallback else { return None };
    let char = &text[..char_len(text)];
    let is_spelled_by_bytes = || char.iter().zip(ids).all(|(&byte, &id)| bytes[byte as usize] == id);
    (char != space_mark::BYTES && char.len() <= ids.len() && is_spelled_by_bytes()).then_some(char.len())
}
