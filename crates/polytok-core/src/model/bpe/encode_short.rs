//! Encodes short pieces to ids, without offsets: the pieces of byte-level vocabularies, and those of SentencePiece's BPE
//! before normalization. Most pieces that are not cached are such pieces.
//!
//! The ids are those of `Bpe::segment` and `Bpe::segment_raw`. With tiktoken's rule, `segment` first looks up the piece
//! among all entries. But most entries merge to themselves, so here the piece is looked up only among the others; cl100k
//! has none, and Llama 3 has some. A lookup among all entries would wait for distant memory, and nearly always fail.

use polytok_memory::Grow;

use super::merging::Merging;
use super::short::ShortPiece;
use super::symbol::SymbolKind;
use super::units::Space;
use super::{Bpe, BpeScratch};
use crate::spec::Symbols;
use crate::token_id::TokenId;
use crate::vocab::Row;
use crate::vocab::dictionary::Rows;

/// The largest length in bytes of a short piece.
pub(super) const MAX_SHORT_BYTES: usize = 32;

/// The entries that merging can split, although they encode to their own id if they are whole pieces.
pub(super) enum SplitEntries {
    /// No entry.
    None,
    /// These entries.
    Some(Rows),
    /// Perhaps any entry, because the tables do not show how entries merge.
    Unknown,
}

impl Bpe {
    /// Writes the ids of a short piece to `ids`. Returns false if only `segment` can encode the piece: if the piece is
    /// too long, has unknown text, or is an entry that merging can split, or if the tables for merging bytes are missing.
    #[inline]
    pub fn encode_short(&self, piece: &[u8], is_part: bool, scratch: &mut BpeScratch, ids: &mut Vec<TokenId>) -> bool {
        let can_merge = self.is_of_bytes() && piece.len() <= MAX_SHORT_BYTES;
        let Some(merging) = self.merging.peek().filter(|_| can_merge) else { return false };
        if self.whole_piece_first && !is_part && self.may_split_entry(piece, merging) {
            return false;
        }
        let short = &mut scratch.merge.short;
        merging.start(piece, 0, short);
        self.merge_to_ids(merging, short, ids)
    }

    /// Does the work of `encode_short` for the pieces of `segment_raw`, which have spaces instead of U+2581. Returns
    /// false if only `segment_raw` can encode the piece. The piece is not rewritten, and not looked up as an entry,
    /// because the cache already has most entries.
    #[inline]
    pub fn encode_short_raw(
        &self,
        piece: &[u8],
        replaces_invalid: bool,
        scratch: &mut BpeScratch,
        ids: &mut Vec<TokenId>,
    ) -> bool {
        let is_valid = || !replaces_invalid || piece.is_ascii() || std::str::from_utf8(piece).is_ok();
        let can_merge = piece.len() <= MAX_SHORT_BYTES && is_valid();
        let Some(merging) = self.merging.peek().filter(|merging| can_merge && self.merges_raw(merging)) else {
            return false;
        };
        let short = &mut scratch.merge.short;
        merging.start_chars(piece, 0, Space::Mark, short);
        self.merge_to_ids(merging, short, ids)
    }

    /// Reports whether pieces can be merged without replacing spaces by U+2581 first. The initial symbols of Hugging
    /// Face's BPE also qualify, because this route is only for vocabularies that have no affixes and an entry for each
    /// byte.
    fn merges_raw(&self, merging: &Merging) -> bool {
        matches!(self.symbols, Symbols::Chars | Symbols::Scalars)
            && matches!(merging.units.mark_symbol().kind(self.vocab.len()), SymbolKind::Row(_))
    }

    /// Merges a short piece and writes its ids. Returns false if the output of a symbol is not the id of its entry.
    #[inline(always)]
    fn merge_to_ids(&self, merging: &Merging, short: &mut ShortPiece, ids: &mut Vec<TokenId>) -> bool {
        short.merge(&merging.pairs);
        ids.clear();
        for symbol in short.remaining_symbols() {
            let SymbolKind::Row(row) = symbol.symbol.kind(self.vocab.len()) else { return false };
            if !self.exceptions.is_empty() && self.exceptions.contains_key(&row) {
                return false;
            }
            ids.checked_push(self.vocab.id(row));
        }
        true
    }

    /// Reports whether the piece can be an entry that merging splits.
    #[inline]
    fn may_split_entry(&self, piece: &[u8], merging: &Merging) -> bool {
        match self.split_entries(merging) {
            SplitEntries::None => false,
            SplitEntries::Some(rows) => rows.find(&self.vocab, piece).is_some(),
            SplitEntries::Unknown => self.dictionary.reachable_rows.find(&self.vocab, piece).is_some(),
        }
    }

    /// Returns the result of `find_split_entries`; the first call computes it.
    #[inline]
    pub(super) fn split_entries(&self, merging: &Merging) -> &SplitEntries {
        self.split_entries.get(|| self.find_split_entries(merging))
    }

    /// Returns the entries that `segment` finds before it merges, and whose own text is not known to merge to the entry.
    /// An entry of one byte is an initial symbol and cannot split.
    fn find_split_entries(&self, merging: &Merging) -> SplitEntries {
        let Some(own_row_bits) = self.own_row_bits(merging) else { return SplitEntries::Unknown };
        let is_own = |row: Row| own_row_bits[row.index() / 64] >> (row.index() % 64) & 1 == 1;
        let is_found = |row: Row| match self.vocab.bytes(row) {
            [_] => false,
            entry => self.dictionary.reachable_rows.find(&self.vocab, entry) == Some(row),
        };
        let rows = || self.vocab.rows().filter(|&row| !is_own(row) && is_found(row));
        match rows().next() {
            None => SplitEntries::None,
            Some(_) => Rows::index(&self.vocab, rows()).map_or(SplitEntries::Unknown, SplitEntries::Some),
        }
    }
}
