//! The tables of the route, from the entries of a vocabulary.

use super::{BYTES, INVALID, JOINS_LEFT, JOINS_RIGHT, PIECE, TextTables, UserDefinedPieces, VALUE};
use crate::boundary::char_table::CharTable;
use crate::boundary::neighbours::{CharPairs, EntryUnits};
use crate::boundary::pair_set::{PairSet, pair};
use crate::model::bpe::Bpe;
use crate::normalize::user_defined::matched_pieces;
use crate::post::Fallback;
use crate::space_mark;
use crate::spec::Line;
use crate::token_id::TokenId;
use crate::trie::Trie;
use crate::utf8::only_char;
use crate::vocab::Vocab;

/// What spaces become.
pub(super) const MARK: char = space_mark::CHAR;

impl TextTables {
    /// The tables; None if texts must be rewritten first.
    pub fn compile(bpe: &Bpe, vocab: &Vocab, fallback: &Fallback) -> Option<TextTables> {
        if !bpe.can_cut() {
            return None;
        }
        let bytes = match fallback {
            _ if bpe.is_of_scalars() => Some(bpe.byte_ids()?),
            Fallback::Bytes(ids) if !ids.contains(&TokenId::UNKNOWN) => Some(ids.clone()),
            // An error names a place in the rewritten text.
            Fallback::Bytes(_) | Fallback::Error => return None,
            _ => None,
        };
        let value = |c: char| value(bpe, c, bytes.is_some());
        if value(MARK) > INVALID || bpe.takes_whole_pieces() {
            return None;
        }
        let joined = pairs_in_texts(bpe)?;
        let mut chars = CharTable::new(if bytes.is_some() { BYTES } else { PIECE });
        for entry in bpe.reachable().filter(|entry| entry.len() <= 4) {
            if let Some(c) = only_char(entry) {
                *chars.at(c) = value(c);
            }
        }
        mark(&mut chars, &joined);
        let replacement = ids_of(value(char::REPLACEMENT_CHARACTER), char::REPLACEMENT_CHARACTER, bytes.as_deref());
        let invalid = match chars.get(char::REPLACEMENT_CHARACTER as u32) {
            // It may be a part of what the model is asked, which must then have an id for it.
            number if number > VALUE && number & VALUE < INVALID => number,
            number if number > VALUE => return None,
            _ => INVALID,
        };
        let space = chars.get(MARK as u32);
        let (cuts, pairs) = (cuts(&joined), set_of(&joined));
        let ascii = [PIECE; 256];
        let mut tables = TextTables { cuts, pairs, chars, ascii, user_defined: None, bytes, replacement, invalid };
        if bpe.has_user_defined() {
            tables.add_user_defined(matched_pieces(vocab, Line::V0_2_3), bpe)?;
        }
        *tables.chars.at(' ') = space;
        (0..128).for_each(|byte| tables.ascii[byte] = tables.chars.get(byte as u32) & VALUE);
        Some(tables)
    }

    /// Takes up the user-defined pieces. One that is a character, and starts no other, is like any character that joins nothing.
    fn add_user_defined(&mut self, mut pieces: Vec<(&[u8], TokenId)>, bpe: &Bpe) -> Option<()> {
        pieces.retain(|(piece, _)| !piece.contains(&b' ')); // spaces are gone when they are looked for
        let is_odd = |piece: &[u8]| {
            std::str::from_utf8(piece).map_or(true, |text| text.contains([MARK, char::REPLACEMENT_CHARACTER]))
        };
        if pieces.iter().any(|(piece, _)| is_odd(piece)) {
            return None;
        }
        let mut searched = Vec::new();
        for (at, &(piece, id)) in pieces.iter().enumerate() {
            let starts_next = pieces.get(at + 1).is_some_and(|(next, _)| next.starts_with(piece));
            match only_char(piece).filter(|_| !starts_next && bpe.id_of_char(piece) == Some(id) && id.0 < INVALID) {
                Some(c) => self.isolate(c, id),
                None => searched.push((piece, id.0)),
            }
        }
        if !searched.is_empty() {
            let starts = std::array::from_fn(|byte| searched.iter().any(|(piece, _)| piece[0] as usize == byte));
            self.user_defined = Some(UserDefinedPieces { trie: Trie::build(searched).ok()?, starts });
        }
        Some(())
    }

    /// A character that joins nothing.
    fn isolate(&mut self, c: char, id: TokenId) {
        *self.chars.at(c) = id.0;
        if c.is_ascii() {
            for other in 0..128 {
                self.cuts[c as usize | other << 8] = 1;
                self.cuts[other | (c as usize) << 8] = 1;
            }
        }
    }
}

/// What a character alone becomes.
fn value(bpe: &Bpe, c: char, has_bytes: bool) -> u32 {
    let mut buffer = [0; 4];
    let unit = c.encode_utf8(&mut buffer).as_bytes();
    match bpe.id_of_char(unit) {
        Some(TokenId(id)) if id < INVALID => id,
        None if has_bytes && bpe.is_unknown(unit) => BYTES,
        _ => PIECE,
    }
}

/// The ids of a character with this value.
fn ids_of(value: u32, c: char, bytes: Option<&[TokenId; 256]>) -> Option<Vec<TokenId>> {
    match (value, bytes) {
        (PIECE, _) => None,
        (BYTES, bytes) => bytes.map(|ids| c.to_string().bytes().map(|byte| ids[byte as usize]).collect()),
        (id, _) => Some(vec![TokenId(id)]),
    }
}

/// The pairs of adjacent characters of entries, as texts have them: a space for each U+2581. None if entries are not characters.
fn pairs_in_texts(bpe: &Bpe) -> Option<Vec<(char, char)>> {
    // An entry with a space is found in no text, as spaces are gone when it is looked for.
    let entries = || bpe.reachable().filter(|entry| !entry.contains(&b' '));
    if !entries().all(|entry| std::str::from_utf8(entry).is_ok()) {
        return None;
    }
    let joined = CharPairs::of(entries(), EntryUnits::Chars);
    let in_text = |c: char| if c == MARK { ' ' } else { c };
    let pairs = joined.ascii_chars().chain(joined.other_chars());
    Some(pairs.map(|(left, right)| (in_text(left), in_text(right))).collect())
}

/// For two ASCII characters, the left one low, 1 if no entry joins them.
fn cuts(pairs: &[(char, char)]) -> Box<[u8; 1 << 16]> {
    let mut cuts = Box::new([0; 1 << 16]);
    for (left, right) in (0..128).flat_map(|left| (0..128).map(move |right| (left, right))) {
        cuts[left | right << 8] = 1;
    }
    for (left, right) in pairs.iter().filter(|(left, right)| left.is_ascii() && right.is_ascii()) {
        cuts[*left as usize | (*right as usize) << 8] = 0;
    }
    cuts
}

/// Notes what characters are joined to others.
fn mark(chars: &mut CharTable, pairs: &[(char, char)]) {
    let real = |c: char| if c == ' ' { MARK } else { c };
    for &(left, right) in pairs {
        *chars.at(real(left)) |= JOINS_RIGHT;
        *chars.at(real(right)) |= JOINS_LEFT;
    }
}

fn set_of(pairs: &[(char, char)]) -> PairSet<3> {
    let pairs: Vec<u64> = pairs.iter().map(|&(left, right)| pair(left as u32, right as u32)).collect();
    PairSet::new(&pairs)
}
