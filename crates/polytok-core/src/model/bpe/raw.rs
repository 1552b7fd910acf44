//! Merges pieces of a text before normalization, if SentencePiece's normalizer only makes spaces visible and replaces
//! bytes that are not UTF-8.
//!
//! The entries have U+2581 and U+FFFD where the text has spaces and bytes that are not UTF-8. Only pieces that are not
//! cached are merged here. A short piece merges without being rewritten; the cache has the short pieces that are
//! entries. A longer piece that is an entry usually encodes to this entry; the table of pairs has the entries that do
//! (see derived.rs). Cost: a copy of each longer piece.

use std::borrow::Cow;

use super::{Bpe, BpeScratch, Emit, Splits};
use crate::cache::KEY;
use crate::error::Result;
use crate::model::bpe::merge::MergeScratch;
use crate::model::bpe::merging::Merging;
use crate::model::bpe::symbol::{Symbol, SymbolKind};
use crate::model::bpe::units::Space;
use crate::segment::Segment;
use crate::space_mark;
use crate::spec::Symbols;
use crate::token_id::TokenId;
use crate::utf8::{decode_strict, only_char};
use crate::vocab::Row;

/// The replacement of a byte that is not part of a character, U+FFFD.
const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

impl Bpe {
    /// Segments a part of a text that is not normalized; the offsets of segments are relative to this part. `mends` is
    /// true if bytes that are not UTF-8 are replaced by U+FFFD.
    pub fn segment_raw(
        &self,
        piece: &[u8],
        mends: bool,
        scratch: &mut BpeScratch,
        emit: &mut impl FnMut(Segment) -> Result<()>,
    ) -> Result<()> {
        if piece.len() <= KEY
            && (!mends || std::str::from_utf8(piece).is_ok())
            && let Some(merging) = self.merging.peek().filter(|merging| self.merges_raw(merging))
        {
            return self.merge_raw(merging, piece, scratch, emit);
        }
        if !piece.contains(&b' ') && (!mends || std::str::from_utf8(piece).is_ok()) {
            return match self.own_id(piece) {
                Some(id) => emit(Segment { id, start: 0, end: piece.len() as u32 }),
                None => self.segment(piece, 0, true, scratch, emit),
            };
        }
        let mut rewritten = std::mem::take(&mut scratch.rewritten);
        rewritten.clear();
        let mut at = 0;
        while at < piece.len() {
            let (text, len) = rewrite(&piece[at..], mends);
            rewritten.extend_from_slice(text);
            at += len;
        }
        if let Some(id) = self.own_id(&rewritten) {
            scratch.rewritten = rewritten;
            return emit(Segment { id, start: 0, end: piece.len() as u32 });
        }
        // The end of the last segment in the normalized and in the raw text.
        let (mut at, mut raw) = (0, 0);
        let mut place = |to: u32| {
            while at < to {
                let (text, len) = rewrite(&piece[raw..], mends);
                at += text.len() as u32;
                raw += len;
            }
            raw as u32
        };
        let result = self.segment(&rewritten, 0, true, scratch, &mut |segment| {
            let (start, end) = (place(segment.start), place(segment.end));
            emit(Segment { id: segment.id, start, end })
        });
        scratch.rewritten = rewritten;
        result
    }

    /// Reports whether a piece can be merged with spaces instead of U+2581. Symbols of Hugging Face's BPE are also
    /// characters here, because this route is only for vocabularies without affixes that have an entry for each byte.
    fn merges_raw(&self, merging: &Merging) -> bool {
        matches!(self.symbols, Symbols::Chars | Symbols::Scalars)
            && matches!(merging.units.mark_symbol().kind(self.vocab.len()), SymbolKind::Row(_))
    }

    /// Merges a short piece without rewriting it. The cache has most entries of this length, so the piece is not looked
    /// up as an entry.
    fn merge_raw(
        &self,
        merging: &Merging,
        piece: &[u8],
        scratch: &mut BpeScratch,
        emit: &mut impl FnMut(Segment) -> Result<()>,
    ) -> Result<()> {
        let BpeScratch { symbols, merge: MergeScratch { short, .. }, .. } = scratch;
        merging.start_chars(piece, 0, Space::Mark, short);
        short.merge(&merging.pairs);
        symbols.clear();
        symbols.extend(short.left());
        self.emit_symbols(piece, symbols, &Splits::default(), emit)
    }

    /// Returns the entries of `own_entries` with their texts before normalization.
    pub fn own_entries_raw(&self) -> Option<impl Iterator<Item = (Cow<'_, [u8]>, TokenId)>> {
        Some(self.own_rows()?.filter_map(|(entry, id)| {
            let text = std::str::from_utf8(entry).ok().filter(|text| !text.contains(' '))?;
            let raw = match text.contains(space_mark::CHAR) {
                true => Cow::Owned(text.replace(space_mark::CHAR, " ").into_bytes()),
                false => Cow::Borrowed(entry),
            };
            Some((raw, id))
        }))
    }

    /// Returns the id of the entry that a text encodes to, if the text is an entry. None if the text is not an entry,
    /// or if only merging can determine the entry.
    pub(super) fn own_id(&self, text: &[u8]) -> Option<TokenId> {
        let merging = self.merging.peek()?;
        let own_row_bits = self.own_row_bits.get(|| merging.own_row_bits(self.vocab.len())).as_ref()?;
        let row = self.dictionary.normal.find(&self.vocab, text)?;
        let is_own = own_row_bits.get(row.index() / 64).is_some_and(|bits| bits >> (row.index() % 64) & 1 == 1);
        match is_own.then(|| self.symbol_output(Symbol::row(row), text)) {
            Some(Emit::Id(id)) => Some(id),
            _ => None,
        }
    }

    /// Returns the id that a character alone encodes to; None if the character is unknown or its output is not an id.
    pub fn id_of_char(&self, unit: &[u8]) -> Option<TokenId> {
        let emit = match self.row_of_char(unit) {
            Some(row) => self.symbol_output(Symbol::row(row), unit),
            None => self.dictionary.emit(&self.vocab, unit),
        };
        if let Emit::Id(id) = emit { Some(id) } else { None }
    }

    /// Reports whether a character alone is unknown.
    pub fn is_unknown(&self, unit: &[u8]) -> bool {
        let is_unknown = || self.is_of_scalars() || self.dictionary.emit(&self.vocab, unit) == Emit::Unknown;
        self.row_of_char(unit).is_none() && is_unknown()
    }

    fn row_of_char(&self, unit: &[u8]) -> Option<Row> {
        match &self.scalars {
            Some(scalars) => only_char(unit).and_then(|c| scalars.row(c)),
            None => self.dictionary.normal.find(&self.vocab, unit),
        }
    }
}

/// Returns the normalized first character of a text, and its length in the text. The length is never 0, even for an
/// empty text, so that every loop advances.
#[inline]
fn rewrite(text: &[u8], mends: bool) -> (&[u8], usize) {
    match text.first() {
        None => (REPLACEMENT, 0),
        Some(b' ') => (space_mark::BYTES, 1),
        Some(0..0x80) => (&text[..1], 1),
        _ if !mends => (&text[..1], 1),
        _ => decode_strict(text).map_or((REPLACEMENT, 1), |(_, len)| (&text[..len], len)),
    }
}
