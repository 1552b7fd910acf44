//! The route of SentencePiece's BPE: splits texts at boundaries before normalization.
//!
//! This route is for normalizers that only replace spaces by U+2581. The text is not rewritten: the tables treat a
//! space as U+2581, and only parts that are not cached are normalized for the model. As in `boundary`, there is a
//! boundary between two characters that are adjacent in no entry, because nothing can merge there. Boundaries between
//! ASCII bytes are found for 64 bytes together (boundary/ascii_joins.rs). Every other character has a 32-bit record:
//! two flags and a value. The flags are true if another character precedes or follows the character in some entry. The
//! flags decide most pairs of characters; the other pairs are looked up in a set of pairs.
//!
//! A character between two boundaries is a part by itself. The value of a character is the id of the part that consists
//! of this character, or a mark that the part is encoded as bytes. So scripts whose characters rarely merge need no
//! cache. User-defined pieces are matched first. Like the normalizer, the route replaces each byte that is not UTF-8 by
//! U+FFFD.
//!
//! Cost: linear in the text, and in the length of the longest user-defined piece at each offset where a piece can
//! start. Twin: the pipeline without a route.

mod compile;
mod run;
mod scan;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::boundary::ascii_joins::AsciiJoins;
use crate::boundary::char_table::CharTable;
use crate::boundary::pair_set::PairSet;
use crate::cache::Cache;
use crate::lazy::Warmup;
use crate::model::bpe::Bpe;
use crate::normalize::{Escape, Normalizer};
use crate::segmenter::Segmenter;
use crate::token_id::TokenId;
use crate::trie::Trie;
use crate::utf8::valid;

pub(crate) use run::TextParts;

/// The number of bytes of text after which the tables are built: building the tables takes as long as normalizing some
/// hundred kilobytes.
const BYTES_BEFORE_TABLES: usize = 1 << 17;

/// The number of bytes after a text, so that reads of many bytes stay inside the buffer.
const PADDING: usize = 64;

/// The largest number of bytes of a text that the route accepts. Normalization could make longer texts too long. The
/// pipeline without a route reports this error.
const MAX_BYTES: usize = u32::MAX as usize / 3 - PADDING;

/// A flag of a character; set if another character precedes the character in some entry.
const JOINS_LEFT: u32 = 1 << 31;
/// A flag of a character; set if another character follows the character in some entry.
const JOINS_RIGHT: u32 = 1 << 30;
/// The bits of the value of a character: the id of the character between two boundaries, or `PIECE_VALUE`,
/// `BYTES_VALUE` or `INVALID_VALUE`.
const VALUE_BITS: u32 = (1 << 30) - 1;

/// The value of a part whose ids are looked up in the cache or computed by the model.
const PIECE_VALUE: u32 = VALUE_BITS;
/// The value of a part that is encoded as the ids of its bytes.
const BYTES_VALUE: u32 = VALUE_BITS - 1;
/// The value of a byte that is not UTF-8, if no entry joins U+FFFD to another character.
const INVALID_VALUE: u32 = VALUE_BITS - 2;

/// The route of SentencePiece's BPE.
pub(crate) struct SentencePieceBpe {
    bpe: Arc<Bpe>,
    escape: Escape,
    tables: Warmup<TextTables>,
}

/// The tables that find the parts of a text.
struct TextTables {
    /// The pairs of ASCII bytes without a boundary between the two bytes.
    ascii_joins: AsciiJoins,
    /// The record of each character: flags and a value.
    chars: CharTable,
    /// The values of the ASCII characters; `PIECE_VALUE` for other bytes.
    ascii_values: [u32; 256],
    pairs: PairSet<3>,
    user_defined: Option<UserDefinedPieces>,
    /// The id of each byte, if unknown characters are encoded as bytes.
    byte_ids: Option<Box<[TokenId; 256]>>,
    /// The ids of U+FFFD between two boundaries; None if the ids must be computed by the model.
    replacement_ids: Option<Vec<TokenId>>,
    /// The record of a byte that is not UTF-8: the record of U+FFFD, or `INVALID_VALUE`, which has boundaries on both
    /// sides.
    invalid_record: u32,
}

/// User-defined pieces that are matched before anything else.
struct UserDefinedPieces {
    trie: Trie,
    /// For each byte, true if a piece starts with the byte.
    first_bytes: [bool; 256],
}

impl SentencePieceBpe {
    /// Returns the route if the normalizer or the split replaces spaces by U+2581 and nothing else changes texts.
    pub fn choose(bpe: &Arc<Bpe>, normalizer: &Normalizer, segmenter: &Segmenter) -> Option<SentencePieceBpe> {
        let splits = &segmenter.splits;
        let escape = match splits.is_empty() {
            true => normalizer.as_escape(),
            false => splits.as_escape().filter(|_| normalizer.keeps_text()),
        };
        Some(SentencePieceBpe { bpe: bpe.clone(), escape: escape?, tables: Warmup::after_bytes(BYTES_BEFORE_TABLES) })
    }

    /// Reports whether `run` accepts this text. Also builds the tables after enough text was encoded to justify the
    /// cost.
    #[inline]
    pub fn accepts(&self, segmenter: &Segmenter, text: &[u8]) -> bool {
        self.tables.get(text.len(), || self.compile(segmenter)).is_some()
            && text.len() < MAX_BYTES
            && (self.escape.replaces_invalid || valid(text).is_ok())
    }

    /// Returns how the route replaces spaces.
    pub fn escape(&self) -> Escape {
        self.escape
    }

    /// Builds the tables now, whatever the amount of text. Returns false if the route cannot encode texts.
    pub fn warm_up(&self, segmenter: &Segmenter) -> bool {
        self.tables.build_now(|| self.compile(segmenter)).is_some()
    }

    /// Inserts the vocabulary entries that encode to their own id into a cache.
    pub fn insert_entries(&self, segmenter: &Segmenter, cache: &mut Cache) {
        cache.insert_entries(segmenter.vocab.len(), || self.bpe.own_entries_raw());
    }

    fn compile(&self, segmenter: &Segmenter) -> Option<TextTables> {
        TextTables::compile(&self.bpe, &segmenter.vocab, &segmenter.fallback)
    }
}
