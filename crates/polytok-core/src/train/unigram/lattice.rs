//! Finds the best segmentation of a word. The lattice of a word represents all its segmentations. (The sums over all
//! segmentations are in `sums`.)
//!
//! Reference: SentencePiece's `WordLattice`, with all pieces normal. Nodes are sorted by their start, then by their
//! length. Positions count characters.
//!
//! A character that is not a piece has a node with id 0, as in the reference's trainer: the expected count of such
//! characters goes to piece 0.
//!
//! Cost: one step for each node. Worst input: a long word all of whose substrings are pieces.

use polytok_memory::{Collect, Grow};

use crate::train::unigram::lanes::{PieceNode, add_nodes};
use crate::train::unigram::pieces::ScoredPieces;
use crate::trie::NONE;

/// The lattice of a word, without its nodes (see `lanes`). One value is used for many words, so that memory is
/// allocated only once.
#[derive(Default)]
pub struct WordLattice {
    /// The score of each node.
    scores: Vec<f32>,
    /// For each position, the index of its first node. The last value is the number of nodes.
    first_nodes: Vec<u32>,
    best_paths: Vec<BestPath>,
    /// For each node, the preceding node on the best path to this node.
    previous: Vec<u32>,
    /// For each node the score of the best path that ends with this node.
    path_scores: Vec<f32>,
}

/// The best path to a position.
#[derive(Clone, Copy)]
struct BestPath {
    score: f32,
    /// The last node of the path.
    node: u32,
    /// The best score among the paths whose last node has a lower index than `node`. All these scores are lower.
    second_best_score: f32,
}

const NO_PATH: BestPath = BestPath { score: f32::NEG_INFINITY, node: NONE, second_best_score: f32::NEG_INFINITY };

impl WordLattice {
    /// Loads the lattice of a word that has `chars` characters and these nodes.
    pub fn load(&mut self, pieces: &ScoredPieces, chars: u32, nodes: &[PieceNode]) {
        self.scores.clear();
        self.scores.checked_extend(nodes.iter().map(|node| pieces.score(node.id())));
        self.first_nodes.clear();
        self.first_nodes.checked_resize(chars as usize + 1, 0);
        let mut position = 0;
        for (index, node) in nodes.iter().enumerate() {
            self.first_nodes[position + 1] = index as u32 + 1;
            position += node.is_last() as usize;
        }
    }

    /// Loads the lattice of a text, and replaces `nodes` by the nodes of the text.
    pub fn fill(&mut self, pieces: &ScoredPieces, text: &[u8], nodes: &mut Vec<PieceNode>) {
        nodes.clear();
        let chars = add_nodes(text, pieces, nodes);
        self.load(pieces, chars, nodes);
    }

    /// Returns the number of characters.
    pub fn len(&self) -> usize {
        self.first_nodes.len() - 1
    }

    /// Returns the indexes of the nodes that start at a position.
    fn nodes_at(&self, position: usize) -> std::ops::Range<usize> {
        self.first_nodes[position] as usize..self.first_nodes[position + 1] as usize
    }

    /// Returns for each node its id, start, end and score.
    pub fn columns(&self, nodes: &[PieceNode]) -> Vec<(u32, u32, u32, f32)> {
        let positions =
            (0..self.len()).flat_map(|position| self.nodes_at(position).map(move |index| (position as u32, index)));
        positions
            .map(|(position, index)| {
                let node = nodes[index];
                (node.piece() as u32, position, position + node.chars(), self.scores[index])
            })
            .checked_collect()
    }

    /// Returns the nodes of the best segmentation without the node `skip`, from the last to the first, and the score.
    pub fn best(&mut self, nodes: &[PieceNode], skip: Option<usize>) -> (impl Iterator<Item = usize>, f32) {
        self.best_paths.clear();
        self.best_paths.checked_resize(self.first_nodes.len(), NO_PATH);
        self.best_paths[0].score = 0.0;
        self.previous.clear();
        self.path_scores.clear();
        for position in 0..self.len() {
            for index in self.nodes_at(position) {
                let (previous, score) = self.best_left_neighbour(nodes, position, self.scores[index]);
                let score = if skip == Some(index) { f32::NEG_INFINITY } else { score };
                self.previous.checked_push(previous);
                self.path_scores.checked_push(score);
                let best = &mut self.best_paths[position + nodes[index].chars() as usize];
                if score > best.score {
                    *best = BestPath { score, node: index as u32, second_best_score: best.score };
                }
            }
        }
        let last_path = self.best_paths[self.len()];
        let is_node = |&index: &u32| index != NONE;
        let previous_node = move |index: &u32| Some(self.previous[*index as usize]).filter(is_node);
        let path = std::iter::successors(Some(last_path.node).filter(is_node), previous_node);
        (path.map(|index| index as usize), last_path.score)
    }

    /// Returns the left neighbour of a node on the best path to the node, and the score of this path. If several sums
    /// of the scores of a neighbour and the node are equal *after rounding*, the first neighbour is chosen, which need
    /// not be the best before rounding.
    #[inline]
    fn best_left_neighbour(&self, nodes: &[PieceNode], position: usize, score: f32) -> (u32, f32) {
        let best = self.best_paths[position];
        let sum = best.score + score;
        if best.second_best_score + score < sum || best.node == NONE {
            return (best.node, sum);
        }
        let ends_here = |&(start, index): &(usize, usize)| start + nodes[index].chars() as usize == position;
        let second_best_score = (0..position).flat_map(|start| self.nodes_at(start).map(move |index| (start, index)));
        let first = second_best_score.filter(ends_here).find(|&(_, index)| self.path_scores[index] + score == sum);
        (first.map_or(best.node, |(_, index)| index as u32), sum)
    }
}
