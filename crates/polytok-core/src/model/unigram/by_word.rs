//! Encodes texts word by word, with tables that are built after enough text.
//!
//! Before the tables pay, or if the paths of words cannot be proven, `Unigram::segment` searches each text as a whole,
//! with the same ids.

use polytok_memory::Collect;

use super::letters::Letters;
use super::memo::END;
use super::send::{RawSender, Sender};
use super::words::{Receiver, WordDictionary};
use super::{BestPathScores, Unigram, UnigramScratch, certain, raw};
use crate::error::Result;
use crate::normalize::sentencepiece::SentencePieceNormalizer;
use crate::post::tiles::Tiles;
use crate::post::{Fallback, IdSink, Out, Sink};
use crate::space_mark;
use crate::spec::Kind;
use crate::vocab::Vocab;

/// The number of bytes of text after which the tables pay: building them takes as long as searching some hundred
/// kilobytes. Most texts are counted twice, before and after normalization.
pub(super) const TABLES_PAY_AFTER: usize = 1 << 18;

/// The tables for encoding word by word.
pub struct WordTables {
    letters: Letters,
    /// The length of each entry in bytes.
    lens: Vec<u32>,
}

impl WordTables {
    /// Builds the tables for normalized texts; None if the best paths of words cannot be proven, or if a cached path
    /// cannot hold all entries.
    fn new(unigram: &Unigram, vocab: &Vocab) -> Option<WordTables> {
        let pieces = unigram.pieces(vocab);
        let lens: Vec<u32> = pieces.clone().map(|piece| piece.len() as u32).checked_collect();
        if lens.len() > END as usize || !has_provable_scores(unigram) {
            return None;
        }
        Some(WordTables { letters: Letters::new(pieces.zip(0..))?, lens })
    }

    /// Builds the tables for texts before normalization; None if words cannot be proven, or if the normalizer rewrites
    /// too many characters.
    pub fn raw(unigram: &Unigram, normalizer: &SentencePieceNormalizer, vocab: &Vocab) -> Option<WordTables> {
        let mut tables = WordTables::new(unigram, vocab)?;
        let user_defined = vocab.rows_of(Kind::UserDefined).map(|row| vocab.bytes(row));
        tables.letters.add_normalizer(normalizer, user_defined, unigram.pieces(vocab)).then_some(tables)
    }
}

/// Reports whether the best paths of words can be proven for these scores.
fn has_provable_scores(unigram: &Unigram) -> bool {
    certain::is_provable(unigram.unknown_score as f64)
        && match &unigram.best_path {
            BestPathScores::Double(scores) => scores.table.iter().all(|&score| certain::is_provable(score)),
            BestPathScores::Single(scores) => scores.table.iter().all(|&score| certain::is_provable(score as f64)),
        }
}

/// Reports whether `encode_raw` accepts this text.
pub fn accepts_raw(text: &[u8]) -> bool {
    text.len() <= raw::MAX_TEXT_BYTES && memchr::memchr(0, text).is_none()
}

impl Unigram {
    /// Writes the segments of a normalized text of less than 4 GiB, from left to right: word by word once the tables
    /// pay.
    pub fn encode<S: Sink>(
        &self,
        text: &[u8],
        vocab: &Vocab,
        scratch: &mut UnigramScratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        match self.words.get(text.len(), || WordTables::new(self, vocab)) {
            Some(tables) => self.encode_words(tables, None, text, scratch, out),
            None => self.segment(text, scratch, &mut |segment| out.write_segment(text, 0, segment)),
        }
    }

    /// Writes the ids of a text before normalization that `accepts_raw` accepts. `WordTables::raw` builds `tables`.
    pub fn encode_raw<S: IdSink>(
        &self,
        tables: &WordTables,
        normalizer: &SentencePieceNormalizer,
        text: &[u8],
        scratch: &mut UnigramScratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        self.encode_words(tables, Some(normalizer), text, scratch, out)
    }

    /// Reports whether `encode_raw_to_tiles` finds the ends of all tokens. They are not known if unknown text is dropped,
    /// or if the bytes of a U+2581 that the normalizer has inserted are tokens.
    pub fn covers_raw(&self, fallback: &Fallback) -> bool {
        match fallback {
            Fallback::Unk(_) => true,
            Fallback::Bytes(_) => self.trie.get(space_mark::BYTES).is_some(),
            _ => false,
        }
    }

    /// Writes the tokens of a UTF-8 text before normalization that `accepts_raw` accepts, if `covers_raw` is true. Ends
    /// are too large by `RAW_BASE`.
    pub fn encode_raw_to_tiles(
        &self,
        tables: &WordTables,
        normalizer: &SentencePieceNormalizer,
        text: &[u8],
        scratch: &mut UnigramScratch,
        out: &mut Out<Tiles>,
    ) -> Result<()> {
        let mut sender = RawSender::new(Sender::new(&self.ids, &tables.lens, text, out));
        self.solve(tables, Some(normalizer), text, scratch, &mut sender)
    }

    /// Builds the tables for normalized texts even if they do not pay yet.
    pub fn words_now(&self, vocab: &Vocab) -> Option<&WordTables> {
        self.words.build_now(|| WordTables::new(self, vocab))
    }

    /// Builds the tables that encoding would otherwise build later.
    pub fn warm_up(&self, vocab: &Vocab) {
        self.words_now(vocab);
        match &self.best_path {
            BestPathScores::Double(scores) => _ = scores.rows(&self.ids),
            BestPathScores::Single(scores) => _ = scores.rows(&self.ids),
        }
    }

    pub(super) fn encode_words<S: Sink>(
        &self,
        tables: &WordTables,
        normalizer: Option<&SentencePieceNormalizer>,
        text: &[u8],
        scratch: &mut UnigramScratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        let mut sender = Sender::new(&self.ids, &tables.lens, text, out);
        self.solve(tables, normalizer, text, scratch, &mut sender)?;
        sender.flush()
    }

    /// Returns the bytes of the entries, in the order of the tables.
    fn pieces<'v>(&self, vocab: &'v Vocab) -> impl Iterator<Item = &'v [u8]> + Clone {
        self.ids.iter().filter_map(|&id| vocab.row(id)).map(|row| vocab.bytes(row))
    }

    fn solve(
        &self,
        tables: &WordTables,
        normalizer: Option<&SentencePieceNormalizer>,
        text: &[u8],
        scratch: &mut UnigramScratch,
        receiver: &mut impl Receiver,
    ) -> Result<()> {
        let (Unigram { trie, ids, unknown_score, .. }, letters) = (self, &tables.letters);
        let words = &mut scratch.words;
        match &self.best_path {
            BestPathScores::Double(scores) => {
                let (rows, unknown_score) = (scores.rows(ids), *unknown_score as f64);
                WordDictionary { trie, scores: &scores.table, rows, unknown_score, letters }
                    .run(normalizer, text, words, receiver)
            }
            BestPathScores::Single(scores) => {
                let (rows, unknown_score) = (scores.rows(ids), *unknown_score);
                WordDictionary { trie, scores: &scores.table, rows, unknown_score, letters }
                    .run(normalizer, text, words, receiver)
            }
        }
    }
}
