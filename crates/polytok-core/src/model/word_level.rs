//! The WordLevel model looks each piece up: the piece is an entry or unknown.
//!
//! Reference: Hugging Face's `WordLevel::tokenize`. Entries of every kind are used; if entries are equal, the last is
//! used.

use std::sync::Arc;

use crate::error::Result;
use crate::segment::Segment;
use crate::spec::Kind;
use crate::token_id::TokenId;
use crate::vocab::Vocab;
use crate::vocab::dictionary::Rows;

/// A compiled WordLevel model.
pub struct WordLevel {
    vocab: Arc<Vocab>,
    rows: Rows,
    unknown_id: TokenId,
}

impl WordLevel {
    /// Indexes the vocabulary.
    pub fn compile(vocab: Arc<Vocab>) -> Result<WordLevel> {
        let unknown_id =
            vocab.rows().find(|&row| vocab.kind(row) == Kind::Unknown).map_or(TokenId::UNKNOWN, |row| vocab.id(row));
        Ok(WordLevel { rows: Rows::index_last(&vocab)?, vocab, unknown_id })
    }

    /// Looks a piece up. A piece that is not an entry gets the id of the unknown entry; adjacent unknown pieces are not
    /// joined.
    #[inline]
    pub fn segment(&self, piece: &[u8], emit: &mut impl FnMut(Segment) -> Result<()>) -> Result<()> {
        if piece.is_empty() {
            return Ok(());
        }
        let row = self.rows.find(&self.vocab, piece);
        let id = row.map_or(self.unknown_id, |row| self.vocab.id(row));
        emit(Segment { id, start: 0, end: piece.len() as u32 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::unigram::tests::vocab;

    #[test]
    fn a_piece_is_the_last_of_equal_entries_or_unknown() {
        let rows = [("a", 0.0, Kind::Normal), ("b", 0.0, Kind::Control), ("a", 0.0, Kind::Normal)];
        let model = WordLevel::compile(Arc::new(vocab(&rows))).unwrap();
        let mut ids = Vec::new();
        for piece in ["a", "b", "ab", ""] {
            let mut emit = |segment: Segment| {
                ids.push(segment.id.0);
                Ok(())
            };
            model.segment(piece.as_bytes(), &mut emit).unwrap();
        }
        assert_eq!(ids, [3, 2, 0]);
    }
}
