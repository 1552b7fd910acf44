//! Computes the sums over all segmentations of each word, forward and backward, and from the sums the expected count of
//! each piece.
//!
//! Reference: SentencePiece's `Lattice::PopulateMarginal`, with all pieces normal. For each node, the reference
//! computes the sum over its left neighbours. All nodes that begin at the same position have the same sum, so this
//! module computes it once for each position. Nodes are sorted by start, then by length, and are added up in this
//! order, as in the reference.
//!
//! Each sum depends on the preceding sum, so one chain of sums would leave the processor waiting. Therefore the words
//! of a block are distributed over two lists, called *strands*. Both strands are processed together, forward and
//! backward, which makes four independent chains of sums. The code has no branches, because the processor could not
//! predict where a group of nodes ends. The expected counts are then added in the order of the words.
//!
//! Cost: two logarithms and an exponential for each node. Worst input: a long word all of whose substrings are pieces.

use polytok_memory::{Collect, Grow};

use crate::train::unigram::lanes::PieceNode;
use crate::train::unigram::numeric::{ApproximationTables, ExpFactor};
use crate::train::unigram::pieces::ScoredPieces;

/// A block is full when one of its strands has more than this number of edges.
const MAX_STRAND_EDGES: usize = 512;

/// The score and the expected count of a piece. They are adjacent in memory, because each word needs both numbers.
pub struct PieceSlot {
    score: f32,
    pub expected: f32,
}

/// Creates a slot for each piece, and a last slot for characters that are not pieces.
pub fn create_slots(pieces: &ScoredPieces) -> Vec<PieceSlot> {
    let scores = (0..=pieces.len()).map(|id| pieces.score(id as u32));
    scores.map(|score| PieceSlot { score, expected: 0.0 }).checked_collect()
}

/// A node of a lattice, as an edge between two positions.
#[derive(Clone, Copy)]
struct Edge {
    score: f32,
    start: u32,
    end: u32,
    /// The piece to whose expected count this edge adds: piece 0 for a character that is not a piece.
    piece: u32,
}

/// The lattices of several words in one array. No edge connects a lattice with the next.
#[derive(Default)]
struct LatticeStrand {
    edges: Vec<Edge>,
    /// For each edge, the next edge in backward order. Backward order visits the start positions of edges from the last
    /// to the first, and the edges of a position by length.
    next_backward: Vec<u32>,
    /// The first edge in backward order.
    first_backward_edge: u32,
    /// For each position the sum over all paths that end at the position.
    alpha: Vec<f32>,
    /// For each position the sum over all paths that start at the position.
    beta: Vec<f32>,
}

impl LatticeStrand {
    fn clear(&mut self) {
        self.edges.clear();
        self.next_backward.clear();
        self.first_backward_edge = 0;
        self.alpha.clear();
        self.beta.clear();
    }

    fn push(&mut self, chars: usize, nodes: &[PieceNode], slots: &[PieceSlot]) {
        let (first, position) = (self.edges.len(), self.alpha.len());
        self.alpha.checked_push(0.0);
        self.alpha.checked_resize(position + chars + 1, f32::NEG_INFINITY);
        self.beta.checked_resize(position + chars, f32::NEG_INFINITY);
        self.beta.checked_push(0.0);
        let no_piece = slots.len() as u32 - 1;
        // The scores are read in a separate loop, so that the processor loads many scores at the same time.
        self.edges.checked_extend(nodes.iter().map(|node| {
            let id = node.id().min(no_piece);
            Edge { score: slots[id as usize].score, start: 0, end: 0, piece: if id < no_piece { id } else { 0 } }
        }));
        self.next_backward.checked_resize(self.edges.len(), 0);
        self.link_edges(first, position as u32, nodes);
    }

    /// Sets the positions and the backward order of the edges from index `first` on. Masks replace branches: all bits
    /// of `last` are set if a node is the last node of its position.
    fn link_edges(&mut self, first: usize, mut position: u32, nodes: &[PieceNode]) {
        let (mut group, mut previous) = (first as u32, self.first_backward_edge);
        let new = self.edges[first..].iter_mut().zip(&mut self.next_backward[first..]);
        for ((index, node), (edge, back)) in (group + 1..).zip(nodes).zip(new) {
            edge.start = position;
            edge.end = position + node.chars();
            let last = (node.is_last() as u32).wrapping_neg();
            *back = previous & last | index & !last;
            previous = group & last | previous & !last;
            group = index & last | group & !last;
            position += last & 1;
        }
        self.first_backward_edge = previous;
    }

    /// Adds one edge to the forward sums and another edge to the backward sums. Returns the next edge in backward
    /// order.
    #[inline(always)]
    fn add_edges(&mut self, forward: usize, backward: usize, tables: &ApproximationTables) -> usize {
        let edge = self.edges[forward];
        let path = edge.score + self.alpha[edge.start as usize];
        let sum = &mut self.alpha[edge.end as usize];
        *sum = tables.log_sum_exp(*sum, path);
        let edge = self.edges[backward];
        let path = edge.score + self.beta[edge.end as usize];
        let sum = &mut self.beta[edge.start as usize];
        *sum = tables.log_sum_exp(*sum, path);
        self.next_backward[backward] as usize
    }
}

/// A word of a block: its strand, its edges, and its last position.
struct PendingWord {
    factor: ExpFactor,
    strand: usize,
    nodes: std::ops::Range<usize>,
    last_position: usize,
}

/// A block of words whose sums are not computed yet.
#[derive(Default)]
pub struct WordBlock {
    strands: [LatticeStrand; 2],
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
        let shorter_strand = (self.strands[1].edges.len() < self.strands[0].edges.len()) as usize;
        let strand = &mut self.strands[shorter_strand];
        let first = strand.edges.len();
        strand.push(chars as usize, nodes, slots);
        let (nodes, last_position) = (first..strand.edges.len(), strand.alpha.len() - 1);
        self.words.checked_push(PendingWord {
            factor: ExpFactor::new(count),
            strand: shorter_strand,
            nodes,
            last_position,
        });
        if first > MAX_STRAND_EDGES {
            self.finish(slots, tables);
        }
    }

    /// Adds the expected counts of the pending words to their pieces.
    pub fn finish(&mut self, slots: &mut [PieceSlot], tables: &ApproximationTables) {
        self.sum_both_directions(tables);
        for word in self.words.drain(..) {
            let LatticeStrand { edges, alpha, beta, .. } = &self.strands[word.strand];
            let word_sum = alpha[word.last_position];
            for edge in &edges[word.nodes] {
                let log = alpha[edge.start as usize] + edge.score + beta[edge.end as usize] - word_sum;
                let sum = &mut slots[edge.piece as usize].expected;
                *sum = tables.add_exp(*sum, word.factor, log);
            }
        }
        self.strands.iter_mut().for_each(LatticeStrand::clear);
    }

    fn sum_both_directions(&mut self, tables: &ApproximationTables) {
        let [first, second] = &mut self.strands;
        let common_count = first.edges.len().min(second.edges.len());
        let (mut first_edge, mut second_edge) =
            (first.first_backward_edge as usize, second.first_backward_edge as usize);
        for forward in 0..common_count {
            first_edge = first.add_edges(forward, first_edge, tables);
            second_edge = second.add_edges(forward, second_edge, tables);
        }
        for forward in common_count..first.edges.len() {
            first_edge = first.add_edges(forward, first_edge, tables);
        }
        for forward in common_count..second.edges.len() {
            second_edge = second.add_edges(forward, second_edge, tables);
        }
    }
}
