//! What would stand for a piece that leaves: the second best segmentation of its own text.
//!
//! Reference: the trainer asks `Lattice::NBest` for two segmentations of each piece. That search decides what is equal, or nearly so,
//! by how its sums happen to round. Where the best segmentation without the piece is better or worse than the piece and than any
//! other by more than rounding can make, the search must find it, so it is found by one pass over the nodes; where not, the search is
//! made.
//!
//! Cost: one step for each node.

use crate::model::unigram::nbest::best_two;
use crate::spec::Line;
use crate::train::unigram::lanes::Node;
use crate::train::unigram::lattice::Lattice;
use crate::train::unigram::pieces::Pieces;
use crate::trie::NONE;

/// What becomes of a piece's occurrences without it.
#[derive(Debug, PartialEq)]
pub enum Without {
    /// It has no other segmentation, so it stays.
    Nothing,
    /// Its text's best segmentation is another one already.
    Better,
    /// These pieces stand for it.
    Pieces(Vec<u32>),
}

/// Longer texts are left to the search, which gives up some of them.
const LONGEST: usize = 16;
/// More than sums of a character's nodes can differ by, as a share of them.
const ROUNDING: f32 = 1e-6;

/// The best way to a place without the piece itself.
#[derive(Clone, Copy)]
struct Way {
    score: f32,
    /// The score of the next best way.
    next: f32,
    /// The last node and where it begins.
    node: u32,
    start: u32,
}

const NO_WAY: Way = Way { score: f32::NEG_INFINITY, next: f32::NEG_INFINITY, node: NONE, start: 0 };

/// Is used for one piece after the other, so that its memory is.
#[derive(Default)]
pub struct Search {
    lattice: Lattice,
    nodes: Vec<Node>,
}

impl Search {
    /// What would stand for a piece.
    pub fn without(&mut self, pieces: &Pieces, id: usize, line: Line) -> Without {
        self.lattice.fill(pieces, pieces.text(id), &mut self.nodes);
        self.sure(pieces).unwrap_or_else(|| self.searched(line))
    }

    /// The answer, where rounding cannot change it.
    fn sure(&self, pieces: &Pieces) -> Option<Without> {
        let len = self.lattice.len();
        if len > LONGEST {
            return None;
        }
        // The piece itself is the longest node of the first place.
        let own = self.nodes.iter().position(|node| node.is_last())?;
        if self.nodes[own].chars() as usize != len {
            return None;
        }
        if len == 1 {
            return Some(Without::Nothing);
        }
        let ways = self.ways(pieces, own);
        let (own, best) = (pieces.score(self.nodes[own].id()), ways[len].score);
        let doubt = (own.abs() + best.abs()) * len as f32 * ROUNDING;
        if best > own + doubt {
            return Some(Without::Better);
        }
        if best + doubt >= own {
            return None;
        }
        let mut others = Vec::with_capacity(len);
        let mut place = len;
        while place > 0 {
            let way = ways[place];
            if way.next + doubt >= way.score {
                return None;
            }
            others.push(self.nodes.get(way.node as usize)?.piece() as u32);
            place = way.start as usize;
        }
        others.reverse();
        Some(Without::Pieces(others))
    }

    fn ways(&self, pieces: &Pieces, own: usize) -> [Way; LONGEST + 1] {
        let mut ways = [NO_WAY; LONGEST + 1];
        ways[0].score = 0.0;
        let mut place = 0;
        for (index, node) in self.nodes.iter().enumerate() {
            let score = ways[place].score + pieces.score(node.id());
            let end = &mut ways[place + node.chars() as usize];
            if index == own {
            } else if score > end.score {
                *end = Way { score, next: end.score, node: index as u32, start: place as u32 };
            } else if score > end.next {
                end.next = score;
            }
            place += node.is_last() as usize;
        }
        ways
    }

    fn searched(&self, line: Line) -> Without {
        match best_two(&self.lattice.columns(&self.nodes), self.lattice.len(), line) {
            None => Without::Nothing,
            Some([first, _]) if first.len() > 1 => Without::Better,
            Some([_, second]) => Without::Pieces(second),
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
        fn sure_answers_are_those_of_the_search(
            pieces in proptest::collection::btree_map("[abé]{2,6}", 0u8..40, 1..20), letters in 1u8..8, step in 1u8..3
        ) {
            let mut texts = WordCounts::default();
            let mut scores = Vec::new();
            let single = (0..3u8).filter(|letter| letters >> letter & 1 == 1).map(|letter| "abé".chars().nth(letter as usize).unwrap());
            let single = single.map(|letter| (letter.to_string(), 9));
            for (text, score) in single.chain(pieces) {
                texts.push(text.as_bytes(), 0);
                scores.push(-(score as f32) / step as f32 * 0.7);
            }
            let pieces = Pieces::new(texts, scores).unwrap();
            let mut search = Search::default();
            for id in 0..pieces.len() {
                for line in [Line::V0_2_1, Line::V0_2_3] {
                    search.lattice.fill(&pieces, pieces.text(id), &mut search.nodes);
                    if let Some(sure) = search.sure(&pieces) {
                        prop_assert_eq!(sure, search.searched(line), "{:?}", pieces.text(id));
                    }
                }
            }
        }
    }
}
