//! Merges pieces of a text before normalization, for models whose normalizer only replaces spaces by U+2581 and bytes
//! that are not UTF-8 by U+FFFD.
//!
//! The entries have U+2581 and U+FFFD where the text has spaces and bytes that are not UTF-8. Only pieces that are not
//! cached, and that `encode_short_raw` refuses, are merged here. A piece that is an entry is usually encoded as this
//! entry. The table of pairs contains the exact list of such entries (see derived.rs). Cost: a copy of each piece.

use std::borrow::Cow;

use polytok_memory::Grow;

use super::{Bpe, BpeScratch, SymbolOutput};
use crate::error::Result;
use crate::model::bpe::symbol::Symbol;
use crate::segment::Segment;
use crate::space_mark;
use crate::token_id::TokenId;
use crate::utf8::{decode_strict, only_char};
use crate::vocab::Row;

/// The replacement of a byte that is not part of a character, U+FFFD.
const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

impl Bpe {
    /// Segments a piece of text that is not normalized; the offsets of segments count from the start of the piece.
    /// `replaces_invalid` is true if bytes that are not UTF-8 are replaced by U+FFFD.
    pub fn segment_raw(
        &self,
        piece: &[u8],
        replaces_invalid: bool,
        scratch: &mut BpeScratch,
        emit: &mut impl FnMut(Segment) -> Result<()>,
    ) -> Result<()> {
        if !piece.contains(&b' ') && (!replaces_invalid || std::str::from_utf8(piece).is_ok()) {
            return match self.own_id(piece) {
                Some(id) => emit(Segment { id, start: 0, end: piece.len() as u32 }),
                None => self.segment(piece, 0, true, scratch, emit),
            };
        }
        let mut normalized = std::mem::take(&mut scratch.normalized);
        normalized.clear();
        let mut at = 0;
        while at < piece.len() {
            let (text, len) = normalize_first_char(&piece[at..], replaces_invalid);
            normalized.checked_extend_from_slice(text);
            at += len;
        }
        if let Some(id) = self.own_id(&normalized) {
            scratch.normalized = normalized;
            return emit(Segment { id, start: 0, end: piece.len() as u32 });
        }
        // The end of the last segment in the normalized and in the raw text.
        let (mut at, mut raw_at) = (0, 0);
        let mut raw_offset = |to: u32| {
            while at < to {
                let (text, len) = normalize_first_char(&piece[raw_at..], replaces_invalid);
                at += text.len() as u32;
                raw_at += len;
            }
            raw_at as u32
        };
        let result = self.segment(&normalized, 0, true, scratch, &mut |segment| {
            let (start, end) = (raw_offset(segment.start), raw_offset(segment.end));
            emit(Segment { id: segment.id, start, end })
        });
        scratch.normalized = normalized;
        result
    }

    /// Returns the entries whose own text merges to the entry, as texts before normalization, with their ids.
    pub fn own_entries_raw(&self) -> Option<impl Iterator<Item = (Cow<'_, [u8]>, TokenId)>> {
        Some(self.own_rows()?.filter_map(|(entry, id)| {
            let text = std::str::from_utf8(entry).ok().filter(|text| !text.contains(' '))?;
            let raw_text = match text.contains(space_mark::CHAR) {
                true => Cow::Owned(text.replace(space_mark::CHAR, " ").into_bytes()),
                false => Cow::Borrowed(entry),
            };
            Some((raw_text, id))
        }))
    }

    /// Returns the id of a text that is an entry and merges to this entry. Returns None for any other text, and if the
    /// tables do not show how the entry merges.
    pub(super) fn own_id(&self, text: &[u8]) -> Option<TokenId> {
        let merging = self.merging.peek()?;
        let own_row_bits = self.own_row_bits(merging)?;
        let row = self.dictionary.reachable_rows.find(&self.vocab, text)?;
        let encodes_to_itself =
            own_row_bits.get(row.index() / 64).is_some_and(|bits| bits >> (row.index() % 64) & 1 == 1);
        match encodes_to_itself.then(|| self.symbol_output(Symbol::row(row), text)) {
            Some(SymbolOutput::Id(id)) => Some(id),
            _ => None,
        }
    }

    /// Returns the id that a character alone encodes to; None if the character is unknown or its output is not an id.
    pub fn id_of_char(&self, unit: &[u8]) -> Option<TokenId> {
        let output = match self.row_of_char(unit) {
            Some(row) => self.symbol_output(Symbol::row(row), unit),
            None => self.dictionary.output_of(&self.vocab, unit),
        };
        if let SymbolOutput::Id(id) = output { Some(id) } else { None }
    }

    /// Reports whether a character alone is unknown.
    pub fn is_unknown(&self, unit: &[u8]) -> bool {
        let lacks_output =
            || self.is_of_scalars() || self.dictionary.output_of(&self.vocab, unit) == SymbolOutput::Unknown;
        self.row_of_char(unit).is_none() && lacks_output()
    }

    fn row_of_char(&self, unit: &[u8]) -> Option<Row> {
        match &self.scalars {
            Some(scalars) => only_char(unit).and_then(|c| scalars.row(c)),
            None => self.dictionary.reachable_rows.find(&self.vocab, unit),
        }
    }
}

/// Returns the normalized first character of a text, and its length in the text. The length is never 0, even for an
/// empty text, so that every loop advances.
#[inline]
fn normalize_first_char(text: &[u8], replaces_invalid: bool) -> (&[u8], usize) {
    match text.first() {
        None => (REPLACEMENT, 0),
        Some(b' ') => (space_mark::BYTES, 1),
        Some(0..0x80) => (&text[..1], 1),
        _ if !replaces_invalid => (&text[..1], 1),
        _ => decode_strict(text).map_or((REPLACEMENT, 1), |(_, len)| (&text[..len], len)),
    }
}
