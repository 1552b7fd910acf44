//! The lattice of all segmentations of a text with a Unigram model, for n-best lists and samples.
//!
//! Reference: SentencePiece's `Lattice`. A node is a piece at an offset. Nodes are in the order of their first
//! character, then of their length. Nodes that end at the same offset are also in this order, which decides between
//! equal scores. The first node is the start of the text, the last node is its end. All sums are in single precision,
//! in the reference's order.
//!
//! Cost: a node for each piece at each offset, and an addition for every pair of adjacent nodes.

use polytok_memory::{self as memory, Collect, Copied, Grow};

use crate::model::unigram::Unigram;
use crate::segment::Segment;
use crate::spec::SentencePieceVersion;
use crate::token_id::TokenId;
use crate::trie::NONE;
use crate::utf8::char_len;

/// The index of the node at the start of the text.
pub(super) const START_NODE: u32 = 0;

/// A piece at an offset; `start` and `end` count characters.
#[derive(Clone, Copy, Debug)]
pub(super) struct LatticeNode {
    pub id: TokenId,
    pub start: u32,
    pub end: u32,
    pub score: f32,
}

/// All segmentations of a text.
pub(super) struct Lattice {
    pub nodes: Vec<LatticeNode>,
    /// The offset of the first byte of each character, and the length of the text.
    char_starts: Vec<u32>,
    /// The indices of the nodes, in the order of the characters at which they end.
    nodes_by_end: Vec<u32>,
    /// For each character, the index in `nodes_by_end` of the first node that ends at this character.
    first_by_end: Vec<u32>,
    version: SentencePieceVersion,
}

/// The best path from the start to each node, including the node itself.
pub(super) struct Viterbi {
    pub scores: Vec<f32>,
    previous: Vec<u32>,
}

impl Lattice {
    pub fn new(unigram: &Unigram, norm: &[u8]) -> Lattice {
        let char_starts = char_starts(norm);
        let chars = char_starts.len() - 1;
        let mut nodes = vec![LatticeNode { id: TokenId::UNKNOWN, start: 0, end: 0, score: 0.0 }];
        for (start, &byte) in char_starts[..chars].iter().enumerate() {
            add_nodes(unigram, &norm[byte as usize..], (start as u32, chars as u32), &mut nodes);
        }
        Lattice::from_nodes(nodes, char_starts, chars, unigram.version)
    }

    /// Builds the lattice of nodes with these ids, starts, ends and scores, over `chars` characters.
    pub fn from_pieces(nodes: &[(u32, u32, u32, f32)], chars: usize, version: SentencePieceVersion) -> Lattice {
        let begin = LatticeNode { id: TokenId::UNKNOWN, start: 0, end: 0, score: 0.0 };
        let inner_nodes =
            nodes.iter().map(|&(id, start, end, score)| LatticeNode { id: TokenId(id), start, end, score });
        Lattice::from_nodes(std::iter::once(begin).chain(inner_nodes).checked_collect(), Vec::new(), chars, version)
    }

    /// Builds a lattice from nodes, and adds the node at the end of the text. The first node is the start of the text.
    fn from_nodes(
        mut nodes: Vec<LatticeNode>,
        char_starts: Vec<u32>,
        chars: usize,
        version: SentencePieceVersion,
    ) -> Lattice {
        let (nodes_by_end, first_by_end) = sort_by_end(&nodes, chars);
        nodes.checked_push(LatticeNode { id: TokenId::UNKNOWN, start: chars as u32, end: NONE, score: 0.0 });
        Lattice { nodes, char_starts, nodes_by_end, first_by_end, version }
    }

    /// Returns the index of the node at the end of the text.
    pub fn end(&self) -> u32 {
        self.nodes.len() as u32 - 1
    }

    /// Returns the nodes that end where `node` starts.
    #[inline]
    pub fn left_neighbours(&self, node: u32) -> &[u32] {
        let position = self.nodes[node as usize].start as usize;
        &self.nodes_by_end[self.first_by_end[position] as usize..self.first_by_end[position + 1] as usize]
    }

    pub fn segment(&self, node: u32) -> Segment {
        let node = self.nodes[node as usize];
        Segment { id: node.id, start: self.char_starts[node.start as usize], end: self.char_starts[node.end as usize] }
    }

    pub fn viterbi(&self) -> Viterbi {
        let mut scores = memory::zeroed::<f32>(self.nodes.len());
        let mut previous = memory::filled(NONE, self.nodes.len());
        for node in 1..=self.end() {
            let own_score = self.nodes[node as usize].score;
            let (mut best, mut best_score) = (NONE, 0.0);
            for &left in self.left_neighbours(node) {
                let score = scores[left as usize] + own_score;
                if best == NONE || score > best_score {
                    (best, best_score) = (left, score);
                }
            }
            scores[node as usize] = best_score;
            previous[node as usize] = best;
        }
        Viterbi { scores, previous }
    }

    /// Returns for each node the logarithm of the sum of exp(`alpha` × score) over all paths to the node, where a path
    /// excludes the node itself.
    pub fn forward(&self, alpha: f32) -> Vec<f32> {
        let mut sums = memory::zeroed::<f32>(self.nodes.len());
        for node in 1..=self.end() {
            let mut sum = None;
            for &left in self.left_neighbours(node) {
                let path_sum = alpha * self.nodes[left as usize].score + sums[left as usize];
                sum = Some(sum.map_or(path_sum, |sum| log_sum_exp(sum, path_sum, self.version)));
            }
            sums[node as usize] = sum.unwrap_or(0.0);
        }
        sums
    }

    /// Returns the entropy in nats of the segmentations, whose probabilities are proportional to exp(`alpha` × score).
    pub fn entropy(&self, alpha: f32) -> f32 {
        let sums = self.forward(alpha);
        let mut negative_entropies = memory::zeroed::<f32>(self.nodes.len());
        for node in 1..=self.end() {
            let mut entropy = 0f32;
            for &left in self.left_neighbours(node) {
                let log_probability =
                    alpha * self.nodes[left as usize].score + sums[left as usize] - sums[node as usize];
                entropy += log_probability.exp() * (negative_entropies[left as usize] + log_probability);
            }
            negative_entropies[node as usize] = entropy;
        }
        -negative_entropies[self.end() as usize]
    }
}

impl Viterbi {
    /// Returns the nodes of the best path, from left to right, without the start and the end.
    pub fn path(&self) -> Vec<u32> {
        let mut path = Vec::new();
        let mut node = self.previous[self.previous.len() - 1];
        while node != START_NODE {
            path.checked_push(node);
            node = self.previous[node as usize];
        }
        path.reverse();
        path
    }
}

fn char_starts(norm: &[u8]) -> Vec<u32> {
    let mut starts = memory::with_capacity(norm.len() + 1);
    let mut at = 0;
    while at < norm.len() {
        starts.checked_push(at as u32);
        at += char_len(&norm[at..]);
    }
    starts.checked_push(norm.len() as u32);
    starts
}

/// Adds the nodes that start at the character `start` of `chars`, which is the first of `rest`.
fn add_nodes(unigram: &Unigram, remaining_text: &[u8], (start, chars): (u32, u32), nodes: &mut Vec<LatticeNode>) {
    let mut has_single_char = false;
    unigram.trie.prefixes(remaining_text, |_, entry| {
        let entry = entry as usize;
        // The lengths of pieces in a damaged file can be wrong.
        let end = start.saturating_add(unigram.char_lens[entry]).clamp(start + 1, chars);
        has_single_char |= end == start + 1;
        nodes.checked_push(LatticeNode { id: unigram.ids[entry], start, end, score: unigram.lattice_scores[entry] });
    });
    if !has_single_char {
        nodes.checked_push(LatticeNode { id: TokenId::UNKNOWN, start, end: start + 1, score: unigram.unknown_score });
    }
}

/// Sorts the nodes by their ends; nodes with the same end stay in their order.
fn sort_by_end(nodes: &[LatticeNode], char_count: usize) -> (Vec<u32>, Vec<u32>) {
    let mut first_by_end = memory::zeroed::<u32>(char_count + 2);
    for node in nodes {
        first_by_end[node.end as usize + 1] += 1;
    }
    for position in 1..first_by_end.len() {
        first_by_end[position] += first_by_end[position - 1];
    }
    let mut next_index = first_by_end.checked_to_vec();
    let mut nodes_by_end = memory::zeroed(nodes.len());
    for (i, node) in nodes.iter().enumerate() {
        let position = &mut next_index[node.end as usize];
        nodes_by_end[*position as usize] = i as u32;
        *position += 1;
    }
    (nodes_by_end, first_by_end)
}

/// Returns log(exp(x) + exp(y)) as the SentencePiece release computes it.
pub(crate) fn log_sum_exp(x: f32, y: f32, version: SentencePieceVersion) -> f32 {
    let (min, max) = if y < x { (y, x) } else { (x, y) };
    if max > min + 50.0 {
        return max;
    }
    let ratio = ((min - max) as f64).exp();
    let log = match version {
        SentencePieceVersion::V0_2_1 => (ratio + 1.0).ln(),
        SentencePieceVersion::V0_2_3 => ratio.ln_1p(),
    };
    (max as f64 + log) as f32
}
