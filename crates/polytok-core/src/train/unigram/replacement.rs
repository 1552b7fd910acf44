//! Finds the replacement of a removed piece: the second best segmentation of its own text.
//!
//! Reference: the trainer calls `WordLattice::NBest` for two segmentations of each piece. If two segmentations have
//! nearly equal scores, the result of `NBest` depends on the rounding of its sums. Here, one pass over the nodes finds
//! the best segmentation without the piece. If its score differs from the score of the piece and from the scores of all
//! other segmentations by more than the rounding errors, it is also the result of `NBest`. Otherwise the search of
//! `NBest` is done in the same way as in the reference.
//!
//! Cost: one step for each node.

use polytok_memory::{self as memory, Grow};

use crate::model::unigram::nbest::best_two;
use crate::spec::SentencePieceVersion;
use crate::train::unigram::lanes::PieceNode;
use crate::train::unigram::lattice::WordLattice;
use crate::train::unigram::pieces::ScoredPieces;
use crate::trie::NONE;

/// The replacement of a piece's occurrences when the piece is removed.
#[derive(Debug, PartialEq)]
pub enum Replacement {
    /// The text of the piece has no other segmentation, so the piece is kept.
    Impossible,
    /// The best segmentation of the text of the piece has other pieces, so the piece is removed.
    AlreadyBetter,
    /// The pieces of the second best segmentation.
    Pieces(Vec<u32>),
}

/// The maximum length in characters of a piece for which the pass over the nodes is used. For some longer texts,
/// `NBest` stops without a result.
const MAX_CHARS: usize = 16;
/// An upper bound of the relative rounding error of a sum of scores, for each character.
const ROUNDING_ERROR: f32 = 1e-6;

/// The two best paths to a position, without the piece itself.
#[derive(Clone, Copy)]
struct TwoBestPaths {
    score: f32,
    /// The score of the second best path.
    second_score: f32,
    /// The last node of the best path, and the position where this node begins.
    node: u32,
    start: u32,
}

const NO_PATH: TwoBestPaths =
    TwoBestPaths { score: f32::NEG_INFINITY, second_score: f32::NEG_INFINITY, node: NONE, start: 0 };

/// Finds replacements. One value is used for many pieces, so that memory is allocated only once.
#[derive(Default)]
pub struct ReplacementSearch {
    lattice: WordLattice,
    nodes: Vec<PieceNode>,
}

impl ReplacementSearch {
    /// Returns the replacement of a piece.
    pub fn replacement(&mut self, pieces: &ScoredPieces, id: usize, version: SentencePieceVersion) -> Replacement {
        self.lattice.fill(pieces, pieces.text(id), &mut self.nodes);
        self.certain_replacement(pieces).unwrap_or_else(|| self.replacement_by_search(version))
    }

    /// Returns the replacement if rounding cannot change it.
    fn certain_replacement(&self, pieces: &ScoredPieces) -> Option<Replacement> {
        let len = self.lattice.len();
        if len > MAX_CHARS {
            return None;
        }
        // The piece itself is the longest node at the first position.
        let own_node = self.nodes.iter().position(|node| node.is_last())?;
        if self.nodes[own_node].chars() as usize != len {
            return None;
        }
        if len == 1 {
            return Some(Replacement::Impossible);
        }
        let best_paths = self.best_paths(pieces, own_node);
        let (own_score, best) = (pieces.score(self.nodes[own_node].id()), best_paths[len].score);
        let tolerance = (own_score.abs() + best.abs()) * len as f32 * ROUNDING_ERROR;
        if best > own_score + tolerance {
            return Some(Replacement::AlreadyBetter);
        }
        if best + tolerance >= own_score {
            return None;
        }
        let mut others = memory::with_capacity(len);
        let mut position = len;
        while position > 0 {
            let path = best_paths[position];
            if path.second_score + tolerance >= path.score {
                return None;
            }
            others.checked_push(self.nodes.get(path.node as usize)?.piece() as u32);
            position = path.start as usize;
        }
        others.reverse();
        Some(Replacement::Pieces(others))
    }

    fn best_paths(&self, pieces: &ScoredPieces, own_node: usize) -> [TwoBestPaths; MAX_CHARS + 1] {
        let mut best_paths = [NO_PATH; MAX_CHARS + 1];
        best_paths[0].score = 0.0;
        let mut position = 0;
        for (index, node) in self.nodes.iter().enumerate() {
            let score = best_paths[position].score + pieces.score(node.id());
            let end = &mut best_paths[position + node.chars() as usize];
            if index == own_node {
            } else if score > end.score {
                *end = TwoBestPaths { score, second_score: end.score, node: index as u32, start: position as u32 };
            } else if score > end.second_score {
                end.second_score = score;
            }
            position += node.is_last() as usize;
        }
        best_paths
    }

    fn replacement_by_search(&self, version: SentencePieceVersion) -> Replacement {
        match best_two(&self.lattice.columns(&self.nodes), self.lattice.len(), version) {
            None => Replacement::Impossible,
            Some([first, _]) if first.len() > 1 => Replacement::AlreadyBetter,
            Some([_, second]) => Replacement::Pieces(second),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::words::WordCounts;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]
        #[test]
        fn certain_replacements_equal_those_of_the_search(
            pieces in proptest::collection::btree_map("[abé]{2,6}", 0u8..40, 1..20), letters in 1u8..8, step in 1u8..3
        ) {
            let mut texts = WordCounts::default();
            let mut scores = Vec::new();
            let single_letters = "abé".chars().enumerate().filter(|&(bit, _)| letters >> bit & 1 == 1);
            let single_letters = single_letters.map(|(_, letter)| (letter.to_string(), 9));
            for (text, score) in single_letters.chain(pieces) {
                texts.push(text.as_bytes(), 0);
                scores.push(-(score as f32) / step as f32 * 0.7);
            }
            let pieces = ScoredPieces::new(texts, scores).unwrap();
            let mut search = ReplacementSearch::default();
            for id in 0..pieces.len() {
                for version in [SentencePieceVersion::V0_2_1, SentencePieceVersion::V0_2_3] {
                    search.lattice.fill(&pieces, pieces.text(id), &mut search.nodes);
                    if let Some(certain) = search.certain_replacement(&pieces) {
                        prop_assert_eq!(certain, search.replacement_by_search(version), "{:?}", pieces.text(id));
                    }
                }
            }
        }
    }
}
