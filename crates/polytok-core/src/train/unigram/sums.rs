//! The sums over all segmentations of words: forward, backward, and from both how often each piece is expected.
//!
//! Reference: SentencePiece's `Lattice::PopulateMarginal`, with all pieces normal. The reference computes the sum over the left
//! neighbours of a node for each node anew; it is the same for all nodes that begin at one place, so here it is computed once for
//! each place. Nodes stand in the order of their beginning, then of their length, and are added up in this order, which is the
//! reference's.
//!
//! Each sum waits for the one before it. So the words of a block are laid on two *strands*, one after the other, and the strands are
//! worked off side by side, forward and backward at once: four chains, which keep the processor busy. Nothing branches, for where a
//! group of nodes ends is as hard to foresee as what a sum needs. What is expected is then added in the words' order.
//!
//! Cost: two logarithms and an exponential for each node. Worst input: a long word all of whose substrings are pieces.

use crate::train::unigram::lanes::Node;
use crate::train::unigram::numeric::{Factor, Tables};
use crate::train::unigram::pieces::Pieces;

/// A strand takes no more words when it has so many nodes.
const NODES: usize = 512;

/// A piece's score, and how often it is expected: beside each other, for a word needs both.
pub struct Slot {
    score: f32,
    pub expected: f32,
}

/// A slot for each piece, and at the end one for characters that are none.
pub fn slots(pieces: &Pieces) -> Vec<Slot> {
    let scores = (0..=pieces.len()).map(|id| pieces.score(id as u32));
    scores.map(|score| Slot { score, expected: 0.0 }).collect()
}

/// A node between two places.
#[derive(Clone, Copy)]
struct Arc {
    score: f32,
    start: u32,
    end: u32,
    /// The piece that earns what it is expected: the first one where it is none.
    piece: u32,
}

/// Lattices one after the other. No node connects the last place of one with the first of the next.
#[derive(Default)]
struct Strand {
    arcs: Vec<Arc>,
    /// For each node the next one backward: places from the last to the first, the nodes of each still by their length.
    back: Vec<u32>,
    /// The first node backward.
    last_group: u32,
    /// For each place the sums over all ways to it and from it.
    alpha: Vec<f32>,
    beta: Vec<f32>,
}

impl Strand {
    fn clear(&mut self) {
        self.arcs.clear();
        self.back.clear();
        self.last_group = 0;
        self.alpha.clear();
        self.beta.clear();
    }

    fn push(&mut self, chars: usize, nodes: &[Node], slots: &[Slot]) {
        let (first, place) = (self.arcs.len(), self.alpha.len());
        self.alpha.push(0.0);
        self.alpha.resize(place + chars + 1, f32::NEG_INFINITY);
        self.beta.resize(place + chars, f32::NEG_INFINITY);
        self.beta.push(0.0);
        let none = slots.len() as u32 - 1;
        // A loop of its own, so that many scores are on their way from memory at once.
        self.arcs.extend(nodes.iter().map(|node| {
            let id = node.id().min(none);
            Arc { score: slots[id as usize].score, start: 0, end: 0, piece: if id < none { id } else { 0 } }
        }));
        self.back.resize(self.arcs.len(), 0);
        self.connect(first, place as u32, nodes);
    }

    /// Gives the nodes from `first` on their places and their order backward. Masks instead of branches: all bits where a node is
    /// the last of its group.
    fn connect(&mut self, first: usize, mut place: u32, nodes: &[Node]) {
        let (mut group, mut previous) = (first as u32, self.last_group);
        let new = self.arcs[first..].iter_mut().zip(&mut self.back[first..]);
        for ((index, node), (arc, back)) in (group + 1..).zip(nodes).zip(new) {
            arc.start = place;
            arc.end = place + node.chars();
            let last = (node.is_last() as u32).wrapping_neg();
            *back = previous & last | index & !last;
            previous = group & last | previous & !last;
            group = index & last | group & !last;
            place += last & 1;
        }
        self.last_group = previous;
    }

    /// Forward over one node and backward over another; the next one backward.
    #[inline(always)]
    fn step(&mut self, forward: usize, backward: usize, tables: &Tables) -> usize {
        let arc = self.arcs[forward];
        let way = arc.score + self.alpha[arc.start as usize];
        let sum = &mut self.alpha[arc.end as usize];
        *sum = tables.log_sum_exp(*sum, way);
        let arc = self.arcs[backward];
        let way = arc.score + self.beta[arc.end as usize];
        let sum = &mut self.beta[arc.start as usize];
        *sum = tables.log_sum_exp(*sum, way);
        self.back[backward] as usize
    }
}

/// Where a word lies: its strand, its nodes there and its last place.
struct Word {
    factor: Factor,
    strand: usize,
    nodes: std::ops::Range<usize>,
    last: usize,
}

/// Words that wait for their sums.
#[derive(Default)]
pub struct Block {
    strands: [Strand; 2],
    words: Vec<Word>,
}

impl Block {
    /// Adds a word; when the block is full, what is expected of its words is added to their pieces.
    pub fn push(&mut self, count: f32, chars: u32, nodes: &[Node], slots: &mut [Slot], tables: &Tables) {
        let shortest = (self.strands[1].arcs.len() < self.strands[0].arcs.len()) as usize;
        let strand = &mut self.strands[shortest];
        let first = strand.arcs.len();
        strand.push(chars as usize, nodes, slots);
        let (nodes, last) = (first..strand.arcs.len(), strand.alpha.len() - 1);
        self.words.push(Word { factor: Factor::of(count), strand: shortest, nodes, last });
        if first > NODES {
            self.finish(slots, tables);
        }
    }

    /// Adds what is expected of the words that wait.
    pub fn finish(&mut self, slots: &mut [Slot], tables: &Tables) {
        self.both_ways(tables);
        for word in self.words.drain(..) {
            let Strand { arcs, alpha, beta, .. } = &self.strands[word.strand];
            let all = alpha[word.last];
            for arc in &arcs[word.nodes] {
                let log = alpha[arc.start as usize] + arc.score + beta[arc.end as usize] - all;
                let sum = &mut slots[arc.piece as usize].expected;
                *sum = tables.add_exp(*sum, word.factor, log);
            }
        }
        self.strands.iter_mut().for_each(Strand::clear);
    }

    fn both_ways(&mut self, tables: &Tables) {
        let [one, other] = &mut self.strands;
        let together = one.arcs.len().min(other.arcs.len());
        let (mut here, mut there) = (one.last_group as usize, other.last_group as usize);
        for forward in 0..together {
            here = one.step(forward, here, tables);
            there = other.step(forward, there, tables);
        }
        for forward in together..one.arcs.len() {
            here = one.step(forward, here, tables);
        }
        for forward in together..other.arcs.len() {
            there = other.step(forward, there, tables);
        }
    }
}
