//! The lattice of a word represents all its segmentations: sums over all of them, and the best one.
//!
//! Reference: `Lattice` of tokenizers. Nodes are sorted by their start, then by their length; positions count bytes. A
//! character that is not a piece has a node too, which comes after the longer nodes with the same start.
//!
//! Cost: one step for each node. Worst input: a long word all of whose substrings are pieces.

use polytok_memory::Grow;

use super::pieces::Pieces;
use crate::trie::NONE;
use crate::utf8::lead_len;

/// A piece at its place in the word. The id of a character that is not a piece is the number of pieces.
#[derive(Clone, Copy)]
struct Node {
    start: u32,
    end: u32,
    id: u32,
    score: f64,
}

/// The best path to a position: its score and its last node.
#[derive(Clone, Copy)]
struct BestPath {
    score: f64,
    node: u32,
}

/// One value is used for many words, so that memory is allocated only once.
#[derive(Default)]
pub struct Lattice {
    /// The number of bytes of the word.
    len: usize,
    nodes: Vec<Node>,
    /// For each position the logarithm of the sum over all paths from the start, or NaN if there is none.
    forward: Vec<f64>,
    /// For each position the logarithm of the sum over all paths to the end, or NaN if there is none.
    backward: Vec<f64>,
    best_paths: Vec<BestPath>,
}

impl Lattice {
    /// Loads the lattice of a word.
    pub fn fill(&mut self, pieces: &Pieces, word: &[u8]) {
        self.len = word.len();
        self.nodes.clear();
        let mut at = 0;
        while at < word.len() {
            let char_len = lead_len(word[at]);
            let (nodes, start, mut is_piece) = (&mut self.nodes, at as u32, false);
            pieces.for_each_prefix(&word[at..], |len, id| {
                is_piece |= len == char_len;
                nodes.checked_push(Node { start, end: start + len as u32, id, score: pieces.score(id as usize) });
            });
            at += char_len;
            if !is_piece {
                nodes.checked_push(Node {
                    start,
                    end: at as u32,
                    id: pieces.len() as u32,
                    score: pieces.unknown_score,
                });
            }
        }
    }

    /// Adds the expected count of each piece in a word that occurs `count` times. The last value is that of characters
    /// that are not pieces.
    pub fn add_expected(&mut self, count: f64, expected: &mut [f64]) {
        for sums in [&mut self.forward, &mut self.backward] {
            sums.clear();
            sums.checked_resize(self.len + 1, f64::NAN);
        }
        self.forward[0] = 0.0;
        for node in &self.nodes {
            let path = node.score + self.forward[node.start as usize];
            add_to_log(&mut self.forward[node.end as usize], path);
        }
        self.backward[self.len] = 0.0;
        let same_start = |a: &Node, b: &Node| a.start == b.start;
        for nodes in self.nodes.chunk_by(same_start).rev() {
            for node in nodes {
                let path = node.score + self.backward[node.end as usize];
                add_to_log(&mut self.backward[node.start as usize], path);
            }
        }
        let total = self.forward[self.len];
        for node in &self.nodes {
            let path = self.forward[node.start as usize] + node.score + self.backward[node.end as usize];
            expected[node.id as usize] += count * (path - total).exp();
        }
    }

    /// Calls `each` with the ids of the best segmentation, from the last to the first.
    pub fn for_each_best(&mut self, each: impl FnMut(usize)) {
        self.find_best(|_| true);
        self.for_each_on_path(each);
    }

    /// Returns the best segmentation into more than one node, from the last id to the first, if the whole word as one
    /// piece is at least as good; otherwise `None`. The list is empty if the word has only one segmentation.
    pub fn alternative_to_whole(&mut self) -> Option<Vec<usize>> {
        let len = self.len as u32;
        let is_whole = |node: &Node| node.start == 0 && node.end == len;
        let whole_score = self.nodes.iter().find(|node| is_whole(node)).map_or(f64::NEG_INFINITY, |node| node.score);
        self.find_best(|node| !is_whole(node));
        if self.best_paths[self.len].score > whole_score {
            return None;
        }
        let mut ids = Vec::new();
        if self.best_paths[self.len].node != NONE {
            self.for_each_on_path(|id| ids.checked_push(id));
        }
        Some(ids)
    }

    /// Finds the best path to each position along accepted nodes. Of equally good paths, the one whose last node is
    /// longest is best.
    fn find_best(&mut self, accepts: impl Fn(&Node) -> bool) {
        self.best_paths.clear();
        self.best_paths.checked_resize(self.len + 1, BestPath { score: f64::NEG_INFINITY, node: NONE });
        self.best_paths[0].score = 0.0;
        for (index, node) in self.nodes.iter().enumerate().filter(|(_, node)| accepts(node)) {
            let score = self.best_paths[node.start as usize].score + node.score;
            let best = &mut self.best_paths[node.end as usize];
            if best.node == NONE || score > best.score {
                *best = BestPath { score, node: index as u32 };
            }
        }
    }

    fn for_each_on_path(&self, mut each: impl FnMut(usize)) {
        let mut at = self.len;
        while at > 0 {
            let node = self.nodes[self.best_paths[at].node as usize];
            each(node.id as usize);
            at = node.start as usize;
        }
    }
}

/// The distance from which a smaller summand is ignored.
const IGNORED_DISTANCE: f64 = 50.0;

/// Adds exp(`value`) to the number whose logarithm is `sum`; a sum of NaN has no summands yet.
#[inline]
fn add_to_log(sum: &mut f64, value: f64) {
    let (min, max) = if *sum > value { (value, *sum) } else { (*sum, value) };
    *sum = if sum.is_nan() {
        value
    } else if max > min + IGNORED_DISTANCE {
        max
    } else {
        max + ((min - max).exp() + 1.0).ln()
    };
}
