//! The remaining pieces of the vocabulary with their scores, and the dictionary that finds them in words.
//!
//! Pieces are only removed, so their texts are stored once. A removal does not change the trie; a table maps its values to the
//! remaining pieces. The trie is rebuilt when it holds twice as many pieces as remain.

use crate::error::{Error, Result};
use crate::train::words::WordCounts;
use crate::trie::{NONE, Trie};

/// Pieces with ids 0, 1, 2 …
pub struct Pieces {
    /// The texts of all pieces, including removed ones.
    texts: WordCounts,
    /// For each piece its text.
    rows: Vec<u32>,
    pub scores: Vec<f32>,
    /// The score of a character that is not a piece.
    unknown: f32,
    trie: Trie,
    /// The current id for each value of the trie.
    ids: Vec<u32>,
}

/// The difference between the score of the worst piece and that of a character that is not a piece.
const UNKNOWN_PENALTY: f32 = 10.0;

impl Pieces {
    /// Of equal texts the first counts.
    pub fn new(texts: WordCounts, scores: Vec<f32>) -> Result<Pieces> {
        let rows = (0..texts.len() as u32).collect();
        let empty = Trie::build([])?;
        let mut pieces = Pieces { texts, rows, scores, unknown: 0.0, trie: empty, ids: Vec::new() };
        pieces.index()?;
        pieces.set_unknown()?;
        Ok(pieces)
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn text(&self, id: usize) -> &[u8] {
        self.texts.word(self.rows[id] as usize)
    }

    /// The score of a piece, or of a character that is not a piece.
    #[inline]
    pub fn score(&self, id: u32) -> f32 {
        self.scores.get(id as usize).copied().unwrap_or(self.unknown)
    }

    pub fn min_score(&self) -> f32 {
        self.scores.iter().copied().fold(f32::MAX, f32::min)
    }

    /// Keeps these pieces, given by their ids, in this order, with new scores. Returns the new id of each old piece, or `NONE`.
    pub fn keep(&mut self, kept: &[(u32, f32)]) -> Result<Vec<u32>> {
        let mut moved = vec![NONE; self.rows.len()];
        for (new, &(old, _)) in kept.iter().enumerate() {
            moved[old as usize] = new as u32;
        }
        self.rows = kept.iter().map(|&(old, _)| self.rows[old as usize]).collect();
        self.scores = kept.iter().map(|&(_, score)| score).collect();
        for id in self.ids.iter_mut().filter(|id| **id != NONE) {
            *id = moved[*id as usize];
        }
        if self.ids.len() > 2 * self.rows.len() {
            self.index()?;
        }
        self.set_unknown()?;
        Ok(moved)
    }

    /// Calls `found(length, id)` for each piece that `text` begins with, shortest first.
    #[inline]
    pub fn prefixes(&self, text: &[u8], mut found: impl FnMut(usize, u32)) {
        self.trie.prefixes(text, |len, value| {
            let id = self.ids[value as usize];
            if id != NONE {
                found(len, id);
            }
        });
    }

    fn index(&mut self) -> Result<()> {
        self.trie = Trie::build((0..self.len()).map(|id| (self.text(id), id as u32)))?;
        self.ids = (0..self.len() as u32).collect();
        Ok(())
    }

    fn set_unknown(&mut self) -> Result<()> {
        if self.rows.is_empty() || self.scores.iter().any(|score| score.is_nan()) {
            return Err(Error::Argument(
                "training removed all pieces; give more text, or split words of more than about ten thousand characters, \
                 which exceed single precision"
                    .into(),
            ));
        }
        self.unknown = self.min_score() - UNKNOWN_PENALTY;
        Ok(())
    }
}
