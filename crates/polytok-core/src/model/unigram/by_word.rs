//! Texts word by word, by tables that are built once they pay.
//!
//! Until then, and where words cannot be proven, `Unigram::segment` searches each text as a whole, with the same ids.

use super::letters::Letters;
use super::send::Sender;
use super::words::{Dictionary, Receiver};
use super::{BestPathScores, Unigram, UnigramScratch, certain, raw};
use crate::error::Result;
use crate::normalize::sentencepiece::SentencePieceNormalizer;
use crate::post::{Out, Sink};
use crate::spec::Kind;
use crate::vocab::Vocab;

/// Bytes of text after which the tables pay: building them takes as long as searching some hundred kilobytes. Most texts are
/// counted twice, before they are normalized and after.
pub(super) const TABLES_PAY_AFTER: usize = 1 << 18;

/// The tables.
pub(super) struct WordTables {
    letters: Letters,
    /// The length of each entry in bytes.
    lens: Vec<u32>,
    /// Whether texts need not be normalized first.
    takes_raw: bool,
}

impl WordTables {
    fn new(unigram: &Unigram, normalizer: Option<&SentencePieceNormalizer>, vocab: &Vocab) -> Option<WordTables> {
        let pieces = unigram.ids.iter().filter_map(|&id| vocab.row(id)).map(|row| vocab.bytes(row));
        let mut letters = if is_tame(unigram) { Letters::new(pieces.clone().zip(0..))? } else { return None };
        let lens = pieces.clone().map(|piece| piece.len() as u32).collect();
        let user_defined = vocab.rows_of(Kind::UserDefined).map(|row| vocab.bytes(row));
        let takes_raw = normalizer.is_some_and(|normalizer| letters.learn(normalizer, user_defined, pieces));
        Some(WordTables { letters, lens, takes_raw })
    }
}

/// Whether words can be proven.
fn is_tame(unigram: &Unigram) -> bool {
    certain::is_tame(unigram.unknown_score as f64)
        && match &unigram.best_path {
            BestPathScores::Double(scores) => scores.table.iter().all(|&score| certain::is_tame(score)),
            BestPathScores::Single(scores) => scores.table.iter().all(|&score| certain::is_tame(score as f64)),
        }
}

/// A model that takes texts word by word.
#[derive(Clone, Copy)]
pub struct ByWord<'a> {
    unigram: &'a Unigram,
    tables: &'a WordTables,
}

impl Unigram {
    /// What takes a text of this many bytes word by word; None until it pays, and if words cannot be proven. The vocabulary and
    /// the normalizer are the model's.
    #[inline]
    pub fn by_word(
        &self,
        bytes: usize,
        normalizer: Option<&SentencePieceNormalizer>,
        vocab: &Vocab,
    ) -> Option<ByWord<'_>> {
        let tables = self.by_word.get(bytes, || WordTables::new(self, normalizer, vocab));
        tables.map(|tables| ByWord { unigram: self, tables })
    }

    /// The same, whether it pays or not.
    #[cfg(test)]
    pub fn by_word_now(&self, normalizer: Option<&SentencePieceNormalizer>, vocab: &Vocab) -> Option<ByWord<'_>> {
        self.by_word(TABLES_PAY_AFTER, normalizer, vocab)
    }
}

impl<'a> ByWord<'a> {
    /// Sends the segments of `text`, left to right. `text` must be shorter than 4 GiB.
    pub fn encode<S: Sink>(self, text: &[u8], scratch: &mut UnigramScratch, out: &mut Out<S>) -> Result<()> {
        self.send(None, text, scratch, out)
    }

    /// Whether `encode_raw` takes this text.
    pub fn takes_raw(self, text: &[u8]) -> bool {
        self.tables.takes_raw && text.len() <= raw::LONGEST && memchr::memchr(0, text).is_none()
    }

    /// The same as `encode` for a text that the normalizer did not see yet; without spans.
    pub fn encode_raw<S: Sink>(
        self,
        normalizer: &SentencePieceNormalizer,
        text: &[u8],
        scratch: &mut UnigramScratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        self.send(Some(normalizer), text, scratch, out)
    }

    fn send<S: Sink>(
        self,
        normalizer: Option<&SentencePieceNormalizer>,
        text: &[u8],
        scratch: &mut UnigramScratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        let mut sender = Sender::new(&self.unigram.ids, &self.tables.lens, out);
        self.solve(normalizer, text, scratch, &mut sender)?;
        sender.flush();
        Ok(())
    }

    fn solve(
        self,
        normalizer: Option<&SentencePieceNormalizer>,
        text: &[u8],
        scratch: &mut UnigramScratch,
        to: &mut impl Receiver,
    ) -> Result<()> {
        let (Unigram { trie, ids, unknown_score, .. }, letters) = (self.unigram, &self.tables.letters);
        let words = &mut scratch.words;
        match &self.unigram.best_path {
            BestPathScores::Double(scores) => {
                let (rows, unknown_score) = (scores.rows(ids), *unknown_score as f64);
                Dictionary { trie, scores: &scores.table, rows, unknown_score, letters }
                    .run(normalizer, text, words, to)
            }
            BestPathScores::Single(scores) => {
                let (rows, unknown_score) = (scores.rows(ids), *unknown_score);
                Dictionary { trie, scores: &scores.table, rows, unknown_score, letters }
                    .run(normalizer, text, words, to)
            }
        }
    }
}
