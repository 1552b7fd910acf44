//! SentencePiece's BPE before normalization: texts are split at boundaries as they are, in bulk.
//!
//! If the normalizer only makes spaces visible, the text need not be rewritten: a space stands for U+2581, and
//! only a part that is not cached is shown to the model, in the model's spelling. A boundary is proven as in
//! `boundary`: between two characters that are adjacent in no entry nothing can merge. It is asked in three ways. For two
//! ASCII bytes a table says whether there is a boundary between them, 64 at a time. Any other character has a number that says
//! whether some entry has anything before or after it, which settles most cases; the others are looked up in a set of pairs.
//!
//! A character between two boundaries is a part of its own. Its number also holds the id that it becomes, or that it becomes the
//! ids of its bytes, so that scripts whose characters hardly merge need no cache. User-defined pieces are matched beforehand.
//! Bytes that are not UTF-8 are what the normalizer makes of them: each is a U+FFFD.
//!
//! Cost: linear; the longest user-defined piece for each place where one may start. Twin: the general way.

mod compile;
mod run;
mod scan;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::boundary::char_table::CharTable;
use crate::boundary::pair_set::PairSet;
use crate::lazy::Warmup;
use crate::model::bpe::Bpe;
use crate::normalize::{Escape, Normalizer};
use crate::segmenter::Segmenter;
use crate::token_id::TokenId;
use crate::trie::Trie;
use crate::utf8::valid;

pub(crate) use run::TextParts;

/// Bytes of text after which the tables pay: building them takes as long as rewriting some hundred kilobytes.
const TABLES_PAY_AFTER: usize = 1 << 17;

/// Bytes after a text, so that reading many bytes at once never reads beyond its end.
const PADDING: usize = 64;

/// Longer texts might not fit when they are rewritten; the general way says so.
const LONGEST: usize = u32::MAX as usize / 3 - PADDING;

/// Some entry has a character before this one.
const JOINS_LEFT: u32 = 1 << 31;
/// Some entry has a character after this one.
const JOINS_RIGHT: u32 = 1 << 30;
/// The other bits: the id that the character alone becomes, or one of the numbers below.
const VALUE: u32 = (1 << 30) - 1;

/// Not an id: the cache or the model must be asked.
const PIECE: u32 = VALUE;
/// Not an id: the bytes' ids.
const BYTES: u32 = VALUE - 1;
/// Not an id: a byte that is no character, where no entry joins U+FFFD to anything.
const INVALID: u32 = VALUE - 2;

/// The route.
pub(crate) struct SentencePieceBpe {
    bpe: Arc<Bpe>,
    escape: Escape,
    tables: Warmup<TextTables>,
}

/// What the parts of a text are found by.
struct TextTables {
    /// For two ASCII bytes, the first one low, 1 if there is a boundary between them.
    cuts: Box<[u8; 1 << 16]>,
    chars: CharTable,
    /// What ASCII characters alone become; `PIECE` for other bytes.
    ascii: [u32; 256],
    pairs: PairSet<3>,
    user_defined: Option<UserDefinedPieces>,
    /// What unknown characters become byte by byte.
    bytes: Option<Box<[TokenId; 256]>>,
    /// What U+FFFD becomes, if that is ids.
    replacement: Option<Vec<TokenId>>,
    /// The number of a byte that is not UTF-8: that of U+FFFD, or `INVALID`, which joins nothing.
    invalid: u32,
}

/// User-defined pieces that are matched before anything else.
struct UserDefinedPieces {
    trie: Trie,
    /// Bytes that they start with.
    starts: [bool; 256],
}

impl SentencePieceBpe {
    /// The route if spaces are made visible and nothing else is done, by the normalizer or by the split.
    pub fn choose(bpe: &Arc<Bpe>, normalizer: &Normalizer, segmenter: &Segmenter) -> Option<SentencePieceBpe> {
        let splits = &segmenter.splits;
        let escape = match splits.is_empty() {
            true => normalizer.as_escape(),
            false => splits.as_escape().filter(|_| normalizer.keeps_text()),
        };
        Some(SentencePieceBpe { bpe: bpe.clone(), escape: escape?, tables: Warmup::after(TABLES_PAY_AFTER) })
    }

    /// Whether `run` may be called for this text. The tables are built once that pays.
    #[inline]
    pub fn takes(&self, segmenter: &Segmenter, text: &[u8]) -> bool {
        self.tables.get(text.len(), || self.compile(segmenter)).is_some()
            && text.len() < LONGEST
            && (self.escape.replaces_invalid || valid(text).is_ok())
    }

    /// What is done to texts.
    pub fn escape(&self) -> Escape {
        self.escape
    }

    /// Builds the tables now, whether they pay or not.
    #[cfg(test)]
    pub fn warm_up(&self, segmenter: &Segmenter) -> bool {
        self.tables.now(|| self.compile(segmenter)).is_some()
    }

    fn compile(&self, segmenter: &Segmenter) -> Option<TextTables> {
        TextTables::compile(&self.bpe, &segmenter.vocab, &segmenter.fallback)
    }
}
