//! Builds the tables of the route from the entries of a vocabulary.

use polytok_memory::{Collect, Grow};

use super::{
    BYTES_VALUE, INVALID_VALUE, JOINS_LEFT, JOINS_RIGHT, PIECE_VALUE, TextTables, UserDefinedPieces, VALUE_BITS,
};
use crate::boundary::ascii_joins::AsciiJoins;
use crate::boundary::char_table::CharTable;
use crate::boundary::neighbours::{CharPairs, EntryUnits};
use crate::boundary::pair_set::{PairSet, pack_pair};
use crate::model::bpe::Bpe;
use crate::normalize::user_defined::matched_pieces;
use crate::post::Fallback;
use crate::space_mark;
use crate::spec::SentencePieceVersion;
use crate::token_id::TokenId;
use crate::trie::Trie;
use crate::utf8::only_char;
use crate::vocab::Vocab;

/// The character that replaces spaces.
pub(super) const MARK: char = space_mark::CHAR;

impl TextTables {
    /// Builds the tables; None if texts must be normalized first.
    pub fn compile(bpe: &Bpe, vocab: &Vocab, fallback: &Fallback) -> Option<TextTables> {
        if !bpe.can_split_at_boundaries() {
            return None;
        }
        let byte_ids = match fallback {
            _ if bpe.is_of_scalars() => Some(bpe.byte_ids()?),
            Fallback::Bytes(ids) if !ids.contains(&TokenId::UNKNOWN) => Some(ids.clone()),
            // The error for unknown text names an offset in the normalized text, which the route does not know.
            Fallback::Bytes(_) | Fallback::Error => return None,
            _ => None,
        };
        let value_of_char = |c: char| value_of_char(bpe, c, byte_ids.is_some());
        if value_of_char(MARK) > INVALID_VALUE || bpe.encodes_entries_whole() {
            return None;
        }
        let joined_chars = pairs_in_texts(bpe)?;
        let mut chars = CharTable::new(if byte_ids.is_some() { BYTES_VALUE } else { PIECE_VALUE });
        for entry in bpe.reachable_entries().filter(|entry| entry.len() <= 4) {
            if let Some(c) = only_char(entry) {
                *chars.get_mut(c) = value_of_char(c);
            }
        }
        flag_joined_chars(&mut chars, &joined_chars);
        let replacement_ids =
            ids_of_value(value_of_char(char::REPLACEMENT_CHARACTER), char::REPLACEMENT_CHARACTER, byte_ids.as_deref());
        let invalid_record = match chars.get(char::REPLACEMENT_CHARACTER as u32) {
            // U+FFFD can be in a part that the model segments, so U+FFFD must have an id.
            record if record > VALUE_BITS && record & VALUE_BITS < INVALID_VALUE => record,
            record if record > VALUE_BITS => return None,
            _ => INVALID_VALUE,
        };
        let mark_record = chars.get(MARK as u32);
        let mut ascii_pairs = ascii_pairs(&joined_chars);
        let ascii_values = [PIECE_VALUE; 256];
        let mut tables = TextTables {
            ascii_joins: AsciiJoins::new(&[0; 128]),
            pairs: pair_set(&joined_chars),
            chars,
            ascii_values,
            user_defined: None,
            byte_ids,
            replacement_ids,
            invalid_record,
        };
        if bpe.has_user_defined() {
            tables.add_user_defined(matched_pieces(vocab, SentencePieceVersion::V0_2_3), bpe, &mut ascii_pairs)?;
        }
        tables.ascii_joins = AsciiJoins::new(&ascii_pairs);
        *tables.chars.get_mut(' ') = mark_record;
        tables.replace_bytes_of_ascii();
        (0..128).for_each(|byte| tables.ascii_values[byte] = tables.chars.get(byte as u32) & VALUE_BITS);
        Some(tables)
    }

    /// Replaces `BYTES_VALUE` of the ASCII characters by the id of their byte, so that line breaks, for example, are
    /// encoded like other single characters.
    fn replace_bytes_of_ascii(&mut self) {
        let Some(byte_ids) = &self.byte_ids else { return };
        for (char, id) in ('\0'..='\x7F').zip(byte_ids.iter()) {
            let record = self.chars.get_mut(char);
            if *record & VALUE_BITS == BYTES_VALUE && id.0 < INVALID_VALUE {
                *record = *record & !VALUE_BITS | id.0;
            }
        }
    }

    /// Adds the user-defined pieces; None if texts must be normalized first. A piece of one character that no other
    /// piece starts with is a character with boundaries on both sides.
    fn add_user_defined(
        &mut self,
        mut pieces: Vec<(&[u8], TokenId)>,
        bpe: &Bpe,
        ascii_pairs: &mut [u128; 128],
    ) -> Option<()> {
        pieces.retain(|(piece, _)| !piece.contains(&b' ')); // the normalizer replaces spaces before pieces are matched
        let has_replaced_char = |piece: &[u8]| {
            std::str::from_utf8(piece).map_or(true, |text| text.contains([MARK, char::REPLACEMENT_CHARACTER]))
        };
        if pieces.iter().any(|(piece, _)| has_replaced_char(piece)) {
            return None;
        }
        let mut trie_pieces = Vec::new();
        for (at, &(piece, id)) in pieces.iter().enumerate() {
            let starts_next = pieces.get(at + 1).is_some_and(|(next, _)| next.starts_with(piece));
            match only_char(piece).filter(|_| !starts_next && bpe.id_of_char(piece) == Some(id) && id.0 < INVALID_VALUE)
            {
                Some(c) => self.isolate_char(c, id, ascii_pairs),
                None => trie_pieces.checked_push((piece, id.0)),
            }
        }
        if !trie_pieces.is_empty() {
            let first_bytes =
                std::array::from_fn(|byte| trie_pieces.iter().any(|(piece, _)| piece[0] as usize == byte));
            self.user_defined = Some(UserDefinedPieces { trie: Trie::build(trie_pieces).ok()?, first_bytes });
        }
        Some(())
    }

    /// Adds boundaries on both sides of a character.
    fn isolate_char(&mut self, c: char, id: TokenId, ascii_pairs: &mut [u128; 128]) {
        *self.chars.get_mut(c) = id.0;
        if c.is_ascii() {
            ascii_pairs[c as usize] = 0;
            ascii_pairs.iter_mut().for_each(|right_chars| *right_chars &= !(1 << c as usize));
        }
    }
}

/// Returns the value of a character between two boundaries.
fn value_of_char(bpe: &Bpe, c: char, has_byte_ids: bool) -> u32 {
    let mut buffer = [0; 4];
    let unit = c.encode_utf8(&mut buffer).as_bytes();
    match bpe.id_of_char(unit) {
        Some(TokenId(id)) if id < INVALID_VALUE => id,
        None if has_byte_ids && bpe.is_unknown(unit) => BYTES_VALUE,
        _ => PIECE_VALUE,
    }
}

/// Returns the ids of a character with this value.
fn ids_of_value(value: u32, c: char, byte_ids: Option<&[TokenId; 256]>) -> Option<Vec<TokenId>> {
    match (value, byte_ids) {
        (PIECE_VALUE, _) => None,
        (BYTES_VALUE, byte_ids) => {
            byte_ids.map(|ids| c.to_string().bytes().map(|byte| ids[byte as usize]).checked_collect())
        }
        (id, _) => Some(vec![TokenId(id)]),
    }
}

/// Returns the pairs of characters that are adjacent in entries, with a space instead of U+2581, as in texts. None if
/// an entry is not UTF-8.
fn pairs_in_texts(bpe: &Bpe) -> Option<Vec<(char, char)>> {
    // An entry with a space matches nothing, because the normalizer replaces spaces.
    let entries = || bpe.reachable_entries().filter(|entry| !entry.contains(&b' '));
    if !entries().all(|entry| std::str::from_utf8(entry).is_ok()) {
        return None;
    }
    let char_pairs = CharPairs::from_entries(entries(), EntryUnits::Chars);
    let text_char = |c: char| if c == MARK { ' ' } else { c };
    let pairs = char_pairs.ascii_char_pairs().chain(char_pairs.other_char_pairs());
    Some(pairs.map(|(left, right)| (text_char(left), text_char(right))).checked_collect())
}

/// Returns a bit for each ASCII character that follows another one in an entry, for each of these other characters.
fn ascii_pairs(pairs: &[(char, char)]) -> [u128; 128] {
    let mut ascii_pairs = [0; 128];
    for (left, right) in pairs.iter().filter(|(left, right)| left.is_ascii() && right.is_ascii()) {
        ascii_pairs[*left as usize] |= 1 << *right as usize;
    }
    ascii_pairs
}

/// Sets the flags of characters that are adjacent to other characters in entries.
fn flag_joined_chars(chars: &mut CharTable, pairs: &[(char, char)]) {
    let entry_char = |c: char| if c == ' ' { MARK } else { c };
    for &(left, right) in pairs {
        *chars.get_mut(entry_char(left)) |= JOINS_RIGHT;
        *chars.get_mut(entry_char(right)) |= JOINS_LEFT;
    }
}

fn pair_set(pairs: &[(char, char)]) -> PairSet<3> {
    let pairs: Vec<u64> = pairs.iter().map(|&(left, right)| pack_pair(left as u32, right as u32)).checked_collect();
    PairSet::new(&pairs)
}
