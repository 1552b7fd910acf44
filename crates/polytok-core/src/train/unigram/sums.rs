//! Computes the sums over all segmentations of each word, forward and backward, and from the sums the expected count of
//! each piece.
//!
//! Reference: SentencePiece's `Lattice::PopulateMarginal`, with all pieces normal. The reference computes the sum over
//! the left neighbours of a node for each node. The sum is equal for all nodes that begin at one position, so this
//! module computes the sum once for each position. Nodes are sorted by start, then by length, and are added up in this
//! order, as in the reference.
//!
//! Each sum depends on the preceding sum, so one chain of sums would leave the processor waiting. Therefore the words
//! of a block are distributed over two *strands*. The strands are processed together, forward and backward, as four
//! independent chains of sums. The code has no branches, because the processor could not predict where a group of nodes
//! ends. The expected counts are then added in the order of the words.
//!
//! Cost: two logarithms and an exponential for each node. Worst input: a long word all of whose substrings are pieces.

use crate::train::unigram::lanes::PieceNode;
use crate::train::unigram::numeric::{ApproximationTables, Factor};
use crate::train::unigram::pieces::ScoredPieces;

/// The limit of the nodes of a strand: a block is full when a strand has more nodes.
const FULL_STRAND: usize = 512;

/// The score and the expected count of a piece, adjacent in memory because each word needs the two numbers.
pub struct PieceSlot {
    score: f32,
    pub expected: f32,
}

/// Creates a slot for each piece, and a last slot for characters that are not pieces.
pub fn slots(pieces: &ScoredPieces) -> Vec<PieceSlot> {
    let scores = (0..=pieces.len()).map(|id| pieces.score(id as u32));
    scores.map(|score| PieceSlot { score, expected: 0.0 }).collect()
}

/// A node between two positions.
#[derive(Clone, Copy)]
struct Edge {
    score: f32,
    start: u32,
    end: u32,
    /// The piece whose expected count grows; piece 0 for a character that is not a piece.
    piece: u32,
}

/// Several lattices in one array. No edge connects the last position of a lattice with the first position of the next.
#[derive(Default)]
struct Strand {
    edges: Vec<Edge>,
    /// For each edge the next edge in backward order. Backward order goes from the last position to the first, and
    /// sorts the edges of a position by length.
    back: Vec<u32>,
    /// The first edge in backward order.
    last_group: u32,
    /// For each position the sum over all paths that end at the position.
    alpha: Vec<f32>,
    /// For each position the sum over all paths that start at the position.
    beta: Vec<f32>,
}

impl Strand {
    fn clear(&mut self) {
        self.edges.clear();
        self.back.clear();
        self.last_group = 0;
        self.alpha.clear();
        self.beta.clear();
    }

    fn push(&mut self, chars: usize, nodes: &[PieceNode], slots: &[PieceSlot]) {
        let (first, position) = (self.edges.len(), self.alpha.len());
        self.alpha.push(0.0);
        self.alpha.resize(position + chars + 1, f32::NEG_INFINITY);
        self.beta.resize(position + chars, f32::NEG_INFINITY);
        self.beta.push(0.0);
        let no_piece = slots.len() as u32 - 1;
        // The scores are read in a separate loop, so that the processor loads many scores at the same time.
        self.edges.extend(nodes.iter().map(|node| {
            let id = node.id().min(no_piece);
            Edge { score: slots[id as usize].score, start: 0, end: 0, piece: if id < no_piece { id } else { 0 } }
        }));
        self.back.resize(self.edges.len(), 0);
        self.connect(first, position as u32, nodes);
    }

    /// Sets the positions and the backward order of the edges from `first` on. Masks replace branches: `last` has all
    /// bits set if a node is the last of its group.
    fn connect(&mut self, first: usize, mut position: u32, nodes: &[PieceNode]) {
        let (mut group, mut previous) = (first as u32, self.last_group);
        let new = self.edges[first..].iter_mut().zip(&mut self.back[first..]);
        for ((index, node), (edge, back)) in (group + 1..).zip(nodes).zip(new) {
            edge.start = position;
            edge.end = position + node.chars();
            let last = (node.is_last() as u32).wrapping_neg();
            *back = previous & last | index & !last;
            previous = group & last | previous & !last;
            group = index & last | group & !last;
            position += last & 1;
        }
        self.last_group = previous;
    }

    /// Adds one edge forward and another edge backward. Returns the next edge in backward order.
    #[inline(always)]
    fn step(&mut self, forward: usize, backward: usize, tables: &ApproximationTables) -> usize {
        let edge = self.edges[forward];
        let path = edge.score + self.alpha[edge.start as usize];
        let sum = &mut self.alpha[edge.end as usize];
        *sum = tables.log_sum_exp(*sum, path);
        let edge = self.edges[backward];
        let path = edge.score + self.beta[edge.end as usize];
        let sum = &mut self.beta[edge.start as usize];
        *sum = tables.log_sum_exp(*sum, path);
        self.back[backward] as usize
    }
}

/// The strand of a word, the word's edges and its last position.
struct PendingWord {
    factor: Factor,
    strand: usize,
    nodes: std::ops::Range<usize>,
    last: usize,
}

/// Words whose sums are pending.
#[derive(Default)]
pub struct WordBlock {
    strands: [Strand; 2],
    words: Vec<PendingWord>,
}

impl WordBlock {
    /// Adds a word. If the block is full, adds the expected counts of its words to their pieces.
    pub fn push(
        &mut self,
        count: f32,
        chars: u32,
        nodes: &[PieceNode],
        slots: &mut [PieceSlot],
        tables: &ApproximationTables,
    ) {
        let shortest = (self.strands[1].edges.len() < self.strands[0].edges.len()) as usize;
        let strand = &mut self.strands[shortest];
        let first = strand.edges.len();
        strand.push(chars as usize, nodes, slots);
        let (nodes, last) = (first..strand.edges.len(), strand.alpha.len() - 1);
        self.words.push(PendingWord { factor: Factor::new(count), strand: shortest, nodes, last });
        if first > FULL_STRAND {
            self.finish(slots, tables);
        }
    }

    /// Adds the expected counts of the pending words to their pieces.
    pub fn finish(&mut self, slots: &mut [PieceSlot], tables: &ApproximationTables) {
        self.sum_both_directions(tables);
        for word in self.words.drain(..) {
            let Strand { edges, alpha, beta, .. } = &self.strands[word.strand];
            let word_sum = alpha[word.last];
            for edge in &edges[word.nodes] {
                let log = alpha[edge.start as usize] + edge.score + beta[edge.end as usize] - word_sum;
                let sum = &mut slots[edge.piece as usize].expected;
                *sum = tables.add_exp(*sum, word.factor, log);
            }
        }
        self.strands.iter_mut().for_each(Strand::clear);
    }

    fn sum_both_directions(&mut self, tables: &ApproximationTables) {
        let [first, second] = &mut self.strands;
        let common_count = first.edges.len().min(second.edges.len());
        let (mut first_edge, mut second_edge) = (first.last_group as usize, second.last_group as usize);
        for forward in 0..common_count {
            first_edge = first.step(forward, first_edge, tables);
            second_edge = second.step(forward, second_edge, tables);
        }
        for forward in common_count..first.edges.len() {
            first_edge = first.step(forward, first_edge, tables);
        }
        for forward in common_count..second.edges.len() {
            second_edge = second.step(forward, second_edge, tables);
        }
    }
}
