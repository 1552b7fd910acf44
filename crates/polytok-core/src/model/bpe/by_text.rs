//! Looks up pairs by their texts, as SentencePiece and tiktoken do, until enough text was encoded to build a table of
//! pairs. Only BPE by score or by id can do this.
//!
//! Two neighbours merge if their concatenated texts are an entry; the score or id of the entry is the rank of the
//! merge. The table of pairs (see merging.rs) maps the symbols of the same pairs. A lookup by text takes several times
//! as long. But building the table takes as long as encoding tens of kilobytes of text by lookups, and many programs
//! encode less text. User-defined symbols have texts too, but never merge.
//!
//! The cost of a lookup is the length of its text, so entries must be short.

use std::ops::Range;

use polytok_memory::Grow;

use super::merge::{PairLookup, PlacedSymbol};
use super::merging::MergingSource;
use super::symbol::{Rank, Symbol};
use crate::spec::{Priority, Symbols};
use crate::utf8;
use crate::vocab::Vocab;
use crate::vocab::dictionary::Dictionary;

/// Building of the table starts when the number of rows of the vocabulary, divided by this number, is less than the
/// number of bytes of encoded text. This is not too early, because most pieces of a text are cached and need no
/// lookups. With ranks by id, the table is built earlier: symbols are bytes, so a text has more symbols, and the table
/// takes less time to build.
const ROWS_PER_BYTE_BY_SCORE: usize = 1;
const ROWS_PER_BYTE_BY_RANK: usize = 8;

/// The number of bytes of a new piece for each row whose pairs are added to the table before the piece is encoded. A row
/// takes about half a microsecond, so a text takes two to three times as long while the table is built. With more rows
/// for each byte, the table is finished earlier, but single texts take many times as long.
const BYTES_PER_ROW_BY_SCORE: usize = 4;
const BYTES_PER_ROW_BY_RANK: usize = 1;

/// Pairs are looked up by their texts only if no entry is longer than this number of bytes.
const MAX_LOOKUP_BYTES: usize = 256;

/// Returns the number of bytes of text after which the table of pairs is built; 0 if pairs cannot be looked up by their
/// texts. They can if characters merge by score or bytes merge by id.
pub(super) fn bytes_before_table(source: &MergingSource, max_entry_len: usize) -> usize {
    let &MergingSource { vocab, priority, symbols, .. } = source;
    let has_ranks = || !vocab.rows().any(|row| vocab.score(row).is_nan());
    match (priority, symbols) {
        _ if max_entry_len > MAX_LOOKUP_BYTES || vocab.size() >= Symbol::USER_DEFINED => 0,
        (Priority::Score, Symbols::Chars) if has_ranks() => vocab.len() / ROWS_PER_BYTE_BY_SCORE,
        (Priority::Rank, Symbols::Bytes) => vocab.len() / ROWS_PER_BYTE_BY_RANK,
        _ => 0,
    }
}

/// Returns the number of rows whose pairs are added to the table before a piece of `len` bytes is encoded.
pub(super) fn rows_per_step(priority: &Priority, len: usize) -> usize {
    match priority {
        Priority::Score => len.div_ceil(BYTES_PER_ROW_BY_SCORE),
        _ => len.div_ceil(BYTES_PER_ROW_BY_RANK),
    }
}

/// Looks up the pairs of symbols of one text.
pub(super) struct ByText<'a> {
    pub(super) vocab: &'a Vocab,
    pub(super) dictionary: &'a Dictionary,
    /// The length of the longest entry.
    pub(super) max_entry_len: usize,
    /// True if symbols are bytes and ranks are ids; otherwise symbols are characters and ranks come from scores.
    pub(super) is_of_bytes: bool,
    pub(super) text: &'a [u8],
}

impl ByText<'_> {
    /// Appends the symbols of the bytes or characters of a part of the text: their rows, or [`Symbol::INERT`].
    pub(super) fn push(&self, part: Range<usize>, symbols: &mut Vec<PlacedSymbol>) {
        let mut at = part.start;
        while at < part.end {
            let end = at + if self.is_of_bytes { 1 } else { utf8::char_len(&self.text[at..part.end]) };
            let row = self.dictionary.reachable_rows.find(self.vocab, &self.text[at..end]);
            symbols.checked_push(PlacedSymbol::new(row.map_or(Symbol::INERT, Symbol::row), at));
            at = end;
        }
    }
}

impl PairLookup for ByText<'_> {
    #[inline]
    fn look_up(&self, left: PlacedSymbol, right: PlacedSymbol, end: impl FnOnce() -> Option<u32>) -> (Rank, Symbol) {
        const NONE: (Rank, Symbol) = (Rank::NONE, Symbol::INERT);
        if left.symbol.is_user_defined() || right.symbol.is_user_defined() {
            return NONE;
        }
        let end = end().map_or(self.text.len(), |end| end as usize);
        let text = &self.text[left.start as usize..end];
        if text.len() > self.max_entry_len {
            return NONE;
        }
        match self.dictionary.reachable_rows.find(self.vocab, text) {
            Some(row) if self.is_of_bytes => (Rank(self.vocab.id(row).0), Symbol::row(row)),
            Some(row) => (rank_of_score(self.vocab.score(row)), Symbol::row(row)),
            None => NONE,
        }
    }
}

/// Converts a score to a rank, so that the highest score has the lowest rank and equal scores have equal ranks. The
/// rank consists of the bits of the score, which must not be NaN, and is never [`Rank::NONE`].
#[inline]
fn rank_of_score(score: f32) -> Rank {
    let bits = (score + 0.0).to_bits(); // one zero
    Rank(if bits >> 31 == 0 { !(bits | 1 << 31) } else { bits })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_in_the_order_of_scores() {
        let scores = [f32::INFINITY, 1e9, 1.0, 1e-40, 0.0, -1e-40, -0.5, -3e4, f32::MIN, f32::NEG_INFINITY];
        let ranks = scores.map(rank_of_score);
        assert!(ranks.is_sorted_by(|rank, next_rank| rank < next_rank) && ranks[9] < Rank::NONE);
        assert_eq!(rank_of_score(0.0), rank_of_score(-0.0));
    }
}
