//! Stores the current pieces with their scores, and the dictionary that finds pieces in words.
//!
//! Training only removes pieces, so the texts of pieces are stored once. When pieces are removed, the trie does not
//! change; a table maps the values of the trie to the current pieces. The trie is rebuilt when only half of its pieces
//! remain.

use polytok_memory::{self as memory, Collect};

use crate::error::{Error, Result};
use crate::train::words::WordCounts;
use crate::trie::{NONE, Trie};

/// The current pieces, without scores; their ids are 0, 1, 2 …
pub struct PieceSet {
    /// The texts of all pieces, including removed ones.
    texts: WordCounts,
    /// For each piece the index of its text.
    rows: Vec<u32>,
    trie: Trie,
    /// For each value of the trie, the current id of its piece.
    ids: Vec<u32>,
}

impl PieceSet {
    /// Creates pieces from texts. If two pieces have the same text, only the first of them is found in words.
    pub fn new(texts: WordCounts) -> Result<PieceSet> {
        let rows = (0..texts.len() as u32).checked_collect();
        let mut set = PieceSet { texts, rows, trie: Trie::build([])?, ids: Vec::new() };
        set.build_trie()?;
        Ok(set)
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn text(&self, id: usize) -> &[u8] {
        self.texts.word(self.rows[id] as usize)
    }

    /// Keeps only the listed pieces, in the order of the list. Returns the new id of each old piece, or `NONE` for
    /// removed pieces.
    pub fn keep(&mut self, kept_ids: impl Iterator<Item = u32>) -> Result<Vec<u32>> {
        let mut new_ids = memory::filled(NONE, self.rows.len());
        let keep = |(new, old): (usize, u32)| {
            new_ids[old as usize] = new as u32;
            self.rows[old as usize]
        };
        self.rows = kept_ids.enumerate().map(keep).checked_collect();
        for id in self.ids.iter_mut().filter(|id| **id != NONE) {
            *id = new_ids[*id as usize];
        }
        if self.ids.len() > 2 * self.rows.len() {
            self.build_trie()?;
        }
        Ok(new_ids)
    }

    /// Calls `each(length, id)` for each piece that `text` begins with, the shortest first.
    #[inline]
    pub fn for_each_prefix(&self, text: &[u8], mut each: impl FnMut(usize, u32)) {
        self.trie.prefixes(text, |len, value| {
            let id = self.ids[value as usize];
            if id != NONE {
                each(len, id);
            }
        });
    }

    fn build_trie(&mut self) -> Result<()> {
        self.trie = Trie::build((0..self.len()).map(|id| (self.text(id), id as u32)))?;
        self.ids = (0..self.len() as u32).checked_collect();
        Ok(())
    }
}

/// The current pieces with their scores.
pub struct ScoredPieces {
    set: PieceSet,
    pub scores: Vec<f32>,
    /// The score of a character that is not a piece.
    unknown_score: f32,
}

/// The difference between the lowest score of a piece and the score of a character that is not a piece.
const UNKNOWN_PENALTY: f32 = 10.0;

impl ScoredPieces {
    /// Creates pieces from texts and scores. If two pieces have the same text, only the first of them is found in
    /// words.
    pub fn new(texts: WordCounts, scores: Vec<f32>) -> Result<ScoredPieces> {
        let mut pieces = ScoredPieces { set: PieceSet::new(texts)?, scores, unknown_score: 0.0 };
        pieces.set_unknown_score()?;
        Ok(pieces)
    }

    pub fn len(&self) -> usize {
        self.set.len()
    }

    pub fn text(&self, id: usize) -> &[u8] {
        self.set.text(id)
    }

    /// Returns the score of a piece, or of a character that is not a piece.
    #[inline]
    pub fn score(&self, id: u32) -> f32 {
        self.scores.get(id as usize).copied().unwrap_or(self.unknown_score)
    }

    pub fn min_score(&self) -> f32 {
        self.scores.iter().copied().fold(f32::MAX, f32::min)
    }

    /// Keeps only the listed pieces, in the order of the list; the list has their ids and new scores. Returns the new
    /// id of each old piece, or `NONE` for removed pieces.
    pub fn keep(&mut self, kept_pieces: &[(u32, f32)]) -> Result<Vec<u32>> {
        let new_ids = self.set.keep(kept_pieces.iter().map(|&(id, _)| id))?;
        self.scores = kept_pieces.iter().map(|&(_, score)| score).checked_collect();
        self.set_unknown_score()?;
        Ok(new_ids)
    }

    /// Calls `each(length, id)` for each piece that `text` begins with, the shortest first.
    #[inline]
    pub fn for_each_prefix(&self, text: &[u8], each: impl FnMut(usize, u32)) {
        self.set.for_each_prefix(text, each);
    }

    fn set_unknown_score(&mut self) -> Result<()> {
        if self.scores.is_empty() || self.scores.iter().any(|score| score.is_nan()) {
            return Err(Error::Argument(
                "training removed all pieces; give more text, or split words of more than about 10,000 characters, \
                 whose sums exceed single precision"
                    .into(),
            ));
        }
        self.unknown_score = self.min_score() - UNKNOWN_PENALTY;
        Ok(())
    }
}
