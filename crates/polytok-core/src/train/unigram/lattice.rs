//! All segmentations of one word, and the best of them. (The sums over all of them are in `sums`.)
//!
//! Reference: SentencePiece's `Lattice`, with all pieces normal. Nodes stand in the order of their beginning, then of their length.
//! Places are characters.
//!
//! A character that is no piece has a node with id 0: so the reference's trainer does, and what such characters earn goes to the first
//! piece.
//!
//! Cost: one step for each node. Worst input: a long word all of whose substrings are pieces.

use crate::train::unigram::lanes::{Node, add_nodes};
use crate::train::unigram::pieces::Pieces;
use crate::trie::NONE;

/// Is used for one word after the other, so that its memory is. The nodes themselves are elsewhere (see `lanes`).
#[derive(Default)]
pub struct Lattice {
    /// The score of each node.
    scores: Vec<f32>,
    /// Where the nodes of each place begin, and their number at the end.
    groups: Vec<u32>,
    best: Vec<Best>,
    /// For each node its left neighbour on the best way to it.
    previous: Vec<u32>,
    /// For each node the score of the best way to it, itself included.
    ways: Vec<f32>,
}

/// The best way to a place.
#[derive(Clone, Copy)]
struct Best {
    score: f32,
    /// The last node of it.
    node: u32,
    /// The best score of the nodes that come before this node, all worse.
    earlier: f32,
}

const NO_WAY: Best = Best { score: f32::NEG_INFINITY, node: NONE, earlier: f32::NEG_INFINITY };

impl Lattice {
    /// The lattice of a word of so many characters, which has these nodes.
    pub fn load(&mut self, pieces: &Pieces, chars: u32, nodes: &[Node]) {
        self.scores.clear();
        self.scores.extend(nodes.iter().map(|node| pieces.score(node.id())));
        self.groups.clear();
        self.groups.resize(chars as usize + 1, 0);
        let mut place = 0;
        for (index, node) in nodes.iter().enumerate() {
            self.groups[place + 1] = index as u32 + 1;
            place += node.is_last() as usize;
        }
    }

    /// The lattice of a text; `nodes` become its nodes.
    pub fn fill(&mut self, pieces: &Pieces, text: &[u8], nodes: &mut Vec<Node>) {
        nodes.clear();
        let chars = add_nodes(text, pieces, nodes);
        self.load(pieces, chars, nodes);
    }

    /// The number of characters.
    pub fn len(&self) -> usize {
        self.groups.len() - 1
    }

    /// The numbers of the nodes of a place.
    fn group(&self, place: usize) -> std::ops::Range<usize> {
        self.groups[place] as usize..self.groups[place + 1] as usize
    }

    /// For each node its id, start, end and score.
    pub fn columns(&self, nodes: &[Node]) -> Vec<(u32, u32, u32, f32)> {
        let places = (0..self.len()).flat_map(|place| self.group(place).map(move |index| (place as u32, index)));
        places
            .map(|(place, index)| {
                let node = nodes[index];
                (node.piece() as u32, place, place + node.chars(), self.scores[index])
            })
            .collect()
    }

    /// The nodes of the best segmentation, from the last to the first, and its score. `skip` is a node to do without.
    pub fn best(&mut self, nodes: &[Node], skip: Option<usize>) -> (impl Iterator<Item = usize>, f32) {
        self.best.clear();
        self.best.resize(self.groups.len(), NO_WAY);
        self.best[0].score = 0.0;
        self.previous.clear();
        self.ways.clear();
        for place in 0..self.len() {
            for index in self.group(place) {
                let (previous, score) = self.left_of(nodes, place, self.scores[index]);
                let score = if skip == Some(index) { f32::NEG_INFINITY } else { score };
                self.previous.push(previous);
                self.ways.push(score);
                let best = &mut self.best[place + nodes[index].chars() as usize];
                if score > best.score {
                    *best = Best { score, node: index as u32, earlier: best.score };
                }
            }
        }
        let last = self.best[self.len()];
        let known = |&index: &u32| index != NONE;
        let before = move |index: &u32| Some(self.previous[*index as usize]).filter(known);
        let path = std::iter::successors(Some(last.node).filter(known), before);
        (path.map(|index| index as usize), last.score)
    }

    /// The left neighbour of a node on the best way to it, and this way's score with the node: the first of those whose sum with the
    /// node's score is largest *after rounding*, which may be one before the best.
    #[inline]
    fn left_of(&self, nodes: &[Node], place: usize, score: f32) -> (u32, f32) {
        let best = self.best[place];
        let sum = best.score + score;
        if best.earlier + score < sum || best.node == NONE {
            return (best.node, sum);
        }
        let ends_here = |&(start, index): &(usize, usize)| start + nodes[index].chars() as usize == place;
        let earlier = (0..place).flat_map(|start| self.group(start).map(move |index| (start, index)));
        let first = earlier.filter(ends_here).find(|&(_, index)| self.ways[index] + score == sum);
        (first.map_or(best.node, |(_, index)| index as u32), sum)
    }
}
