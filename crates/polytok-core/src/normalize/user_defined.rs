//! The prefix matcher: finds the longest user-defined piece that a text starts with.
//!
//! SentencePiece uses its prefix matcher before the charsmap when it normalizes, and again on the normalized text in
//! BPE and CHAR models. If several pieces match at an offset, SentencePiece's matcher finds only the 64 shortest of
//! these pieces. The number of pieces that are prefixes of a piece does not depend on the text, so here the pieces
//! beyond 64 are left out of the trie. In SentencePiece 0.2.1 a piece ends at its first NUL.

use std::sync::Arc;

use polytok_memory::{self as memory, Collect, Grow};

use crate::error::Result;
use crate::spec::{Kind, SentencePieceVersion};
use crate::token_id::TokenId;
use crate::trie::Trie;
use crate::utf8::char_len;
use crate::vocab::Vocab;

/// The largest number of pieces, each a prefix of the next, that the reference finds.
const MAX_NESTED_PIECES: usize = 64;

/// Builds the trie of the user-defined pieces with their ids; `None` if there are no such pieces.
pub fn prefix_matcher(vocab: &Vocab, version: SentencePieceVersion) -> Result<Option<Arc<Trie>>> {
    match matched_pieces(vocab, version) {
        pieces if pieces.is_empty() => Ok(None),
        pieces => Ok(Some(Arc::new(Trie::build(pieces.into_iter().map(|(piece, id)| (piece, id.0)))?))),
    }
}

/// Returns the user-defined pieces that the reference can find, with their ids, in the order of their bytes.
pub fn matched_pieces(vocab: &Vocab, version: SentencePieceVersion) -> Vec<(&[u8], TokenId)> {
    let user_defined = vocab.rows_of(Kind::UserDefined);
    let mut pieces: Vec<(&[u8], TokenId)> =
        user_defined.map(|row| (searched_bytes(vocab.bytes(row), version), vocab.id(row))).checked_collect();
    pieces.retain(|(piece, _)| !piece.is_empty());
    // In this order the pieces that start with a certain piece come directly after this piece.
    memory::sort_stably(&mut pieces, |a, b| a.0.cmp(b.0));
    pieces.dedup_by_key(|&mut (piece, _)| piece);
    let mut nested_pieces: Vec<&[u8]> = Vec::new();
    pieces.retain(|&(piece, _)| {
        while nested_pieces.last().is_some_and(|outer| !piece.starts_with(outer)) {
            nested_pieces.pop();
        }
        nested_pieces.checked_push(piece);
        nested_pieces.len() <= MAX_NESTED_PIECES
    });
    pieces
}

/// Returns the start, end and id of each user-defined piece in a text, from left to right; at each offset the longest
/// piece is taken.
pub fn matches<'t>(trie: Option<&'t Trie>, text: &'t [u8]) -> impl Iterator<Item = (usize, usize, TokenId)> + 't {
    let mut at = if trie.is_some() { 0 } else { text.len() };
    std::iter::from_fn(move || {
        let trie = trie?;
        while at < text.len() {
            let start = at;
            match trie.longest_prefix(&text[at..]) {
                Some((len, id)) => {
                    at += len;
                    return Some((start, at, TokenId(id)));
                }
                None => at += char_len(&text[at..]),
            }
        }
        None
    })
}

/// Returns the bytes of a piece that the reference searches for.
fn searched_bytes(piece: &[u8], version: SentencePieceVersion) -> &[u8] {
    match version {
        SentencePieceVersion::V0_2_1 => piece.split(|&byte| byte == 0).next().unwrap_or_default(),
        SentencePieceVersion::V0_2_3 => piece,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::VocabColumns;

    fn vocab(pieces: &[Vec<u8>]) -> Vocab {
        Vocab::new(VocabColumns::from_rows(pieces.iter().map(|piece| (piece, 0.0, Kind::UserDefined)))).unwrap()
    }

    #[test]
    fn only_64_nested_pieces_are_found() {
        let pieces: Vec<_> = (1..=70).map(|n| vec![b'a'; n]).chain([b"b".to_vec()]).collect();
        let matcher = prefix_matcher(&vocab(&pieces), SentencePieceVersion::V0_2_3).unwrap().unwrap();
        assert_eq!(matcher.longest_prefix(&[b'a'; 100]), Some((64, 63)));
        assert_eq!(matcher.longest_prefix(b"ba"), Some((1, 70)));
    }

    #[test]
    fn a_nul_ends_a_piece_in_0_2_1() {
        let pieces = vocab(&[b"a\0b".to_vec(), b"\0".to_vec()]);
        assert_eq!(
            prefix_matcher(&pieces, SentencePieceVersion::V0_2_1).unwrap().unwrap().longest_prefix(b"ax"),
            Some((1, 0))
        );
        assert_eq!(prefix_matcher(&pieces, SentencePieceVersion::V0_2_3).unwrap().unwrap().longest_prefix(b"ax"), None);
        assert!(prefix_matcher(&vocab(&[]), SentencePieceVersion::V0_2_3).unwrap().is_none());
    }
}
