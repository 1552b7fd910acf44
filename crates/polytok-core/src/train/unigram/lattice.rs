//! All segmentations of one word: the sums over them (forward and backward), and the best of them.
//!
//! Reference: SentencePiece's `Lattice`, with all pieces normal. The reference computes the sum over the left neighbours of a node for
//! each node anew; it is the same for all nodes that begin at one place, so here it is computed once for each place. Nodes stand in the
//! order of their beginning, then of their length, and are added up in this order, which is the reference's. Places are characters.
//!
//! A character that is no piece has a node with id 0: so the reference's trainer does, and what such characters earn goes to the first
//! piece.
//!
//! Cost: one step for each node. Worst input: a long word all of whose substrings are pieces.

use crate::train::unigram::lanes::{self, NO_PIECE, Node as Found};
use crate::train::unigram::numeric::Tables;
use crate::train::unigram::pieces::Pieces;
use crate::trie::NONE;

/// A piece at a place.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    pub start: u32,
    pub end: u32,
    pub id: u32,
    pub score: f32,
}

/// Is used for one word after the other, so that its memory is.
#[derive(Default)]
pub struct Lattice {
    pub nodes: Vec<Node>,
    /// Where the nodes of each place begin, and their number at the end.
    groups: Vec<u32>,
    alpha: Vec<f32>,
    beta: Vec<f32>,
    best: Vec<Best>,
    /// For each node its left neighbour on the best way to it.
    previous: Vec<u32>,
    /// For each node the score of the best way to it, itself included.
    ways: Vec<f32>,
    found: Vec<Found>,
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
    /// The lattice of a word of so many characters, whose nodes are the first of those given; how many they are.
    pub fn load(&mut self, pieces: &Pieces, chars: u32, found: &[Found]) -> usize {
        self.nodes.clear();
        self.groups.clear();
        let mut found = found.iter();
        for start in 0..chars {
            self.groups.push(self.nodes.len() as u32);
            for node in found.by_ref() {
                let (id, end) = (node.id(), start + node.chars());
                self.nodes.push(match id {
                    NO_PIECE => Node { start, end, id: 0, score: pieces.unknown },
                    _ => Node { start, end, id, score: pieces.scores[id as usize] },
                });
                if node.is_last() {
                    break;
                }
            }
        }
        self.groups.push(self.nodes.len() as u32);
        self.nodes.len()
    }

    /// The lattice of a text.
    pub fn fill(&mut self, pieces: &Pieces, text: &[u8]) {
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        let chars = lanes::add_nodes(text, pieces, &mut found);
        self.load(pieces, chars, &found);
        self.found = found;
    }

    /// The number of characters.
    pub fn len(&self) -> usize {
        self.groups.len() - 1
    }

    /// Adds `count` times each node's probability to the sum of its piece.
    pub fn add_marginals(&mut self, tables: &Tables, count: f32, sums: &mut [f32]) {
        self.forward(tables);
        self.backward(tables);
        let all = self.alpha[self.len()];
        for node in &self.nodes {
            let log = self.alpha[node.start as usize] + node.score + self.beta[node.end as usize] - all;
            let sum = &mut sums[node.id as usize];
            *sum = tables.add_exp(*sum, count as f64, log);
        }
    }

    fn forward(&mut self, tables: &Tables) {
        self.alpha.clear();
        self.alpha.resize(self.groups.len(), f32::NEG_INFINITY);
        self.alpha[0] = 0.0;
        for node in &self.nodes {
            let way = node.score + self.alpha[node.start as usize];
            let sum = &mut self.alpha[node.end as usize];
            *sum = tables.log_sum_exp(*sum, way);
        }
    }

    fn backward(&mut self, tables: &Tables) {
        self.beta.clear();
        self.beta.resize(self.groups.len(), 0.0);
        for (place, group) in self.groups.windows(2).enumerate().rev() {
            let mut sum = f32::NEG_INFINITY;
            for node in &self.nodes[group[0] as usize..group[1] as usize] {
                sum = tables.log_sum_exp(sum, node.score + self.beta[node.end as usize]);
            }
            self.beta[place] = sum;
        }
    }

    /// The nodes of the best segmentation, from the last to the first, and its score. `skip` is a node to do without.
    pub fn best(&mut self, skip: Option<u32>) -> (impl Iterator<Item = &Node>, f32) {
        self.best.clear();
        self.best.resize(self.groups.len(), NO_WAY);
        self.best[0].score = 0.0;
        self.previous.clear();
        self.ways.clear();
        for index in 0..self.nodes.len() {
            let node = self.nodes[index];
            let (previous, score) = self.left_of(&node);
            let score = if skip == Some(index as u32) { f32::NEG_INFINITY } else { score };
            self.previous.push(previous);
            self.ways.push(score);
            let best = &mut self.best[node.end as usize];
            if score > best.score {
                *best = Best { score, node: index as u32, earlier: best.score };
            }
        }
        let last = self.best[self.len()];
        let before = |index: &u32| Some(self.previous[*index as usize]).filter(|&index| index != NONE);
        let path = std::iter::successors(Some(last.node).filter(|&index| index != NONE), before);
        (path.map(|index| &self.nodes[index as usize]), last.score)
    }

    /// The left neighbour of a node on the best way to it, and this way's score with the node: the first of those whose sum with the
    /// node's score is largest *after rounding*, which may be one before the best.
    fn left_of(&self, node: &Node) -> (u32, f32) {
        let best = self.best[node.start as usize];
        let score = best.score + node.score;
        if best.earlier + node.score < score || best.node == NONE {
            return (best.node, score);
        }
        let reaches =
            |&left: &u32| self.nodes[left as usize].end == node.start && self.ways[left as usize] + node.score == score;
        ((0..best.node).find(reaches).unwrap_or(best.node), score)
    }
}
