//! The automaton as a double array of 32-bit units, laid out as Darts-clone lays it out.
//!
//! A unit has a label in its low byte, bit 8 if a key ends there, and the distance (xor) to its children from bit 10 on; bit 9
//! shifts the distance by 8 more. A value has bit 31. Free units of the last 16 blocks of 256 form a ring, in which the first place
//! that takes all children is looked for; blocks before that are closed, their free units get labels that no walk
//! finds. Subtrees that several parents share are placed once, where the distance can be said.
//!
//! Cost: for each state the free places that are tried; at most 16 blocks of them.

use super::dawg::Dawg;

const BLOCK: u32 = 256;
const OPEN_BLOCKS: u32 = 16;
const LOW: u32 = 0xFF;
const HIGH: u32 = 0xFF << 21;
const LEAF: u32 = 1 << 8;
const VALUE: u32 = 1 << 31;

/// What is known of a unit of the open blocks.
#[derive(Clone, Copy, Default)]
struct Extra {
    before: u32,
    next: u32,
    /// It is taken.
    is_fixed: bool,
    /// Children of some unit start here.
    is_used: bool,
}

/// The units of an automaton.
pub fn units(dawg: &Dawg) -> Vec<u32> {
    let mut builder = DoubleArrayBuilder {
        units: Vec::new(),
        extras: vec![Extra::default(); (BLOCK * OPEN_BLOCKS) as usize],
        head: 0,
    };
    builder.reserve(0);
    builder.extra(0).is_used = true;
    builder.set_offset(0, 1);
    if dawg.root != 0 && !dawg.group(dawg.root).is_empty() {
        builder.place(dawg);
    }
    let blocks = builder.blocks();
    (blocks.saturating_sub(OPEN_BLOCKS)..blocks).for_each(|block| builder.close(block));
    builder.units
}

struct DoubleArrayBuilder {
    units: Vec<u32>,
    extras: Vec<Extra>,
    /// The first free unit, or one behind all if there is none.
    head: u32,
}

impl DoubleArrayBuilder {
    /// Places all states, depth first.
    fn place(&mut self, dawg: &Dawg) {
        let mut offsets = vec![0; dawg.nodes.len()];
        let mut todo = vec![(dawg.root, 0)];
        while let Some((group, at)) = todo.pop() {
            let nodes = dawg.group(group);
            if let Some(offset) = Some(offsets[group as usize]).filter(|&offset| offset != 0)
                && fits(offset ^ at)
            {
                if nodes[0].label == 0 {
                    self.units[at as usize] |= LEAF;
                }
                self.set_offset(at, offset ^ at);
                continue;
            }
            let offset = self.arrange(nodes, at);
            if dawg.is_shared[group as usize] {
                offsets[group as usize] = offset;
            }
            // The first child is to be on top.
            let inner = nodes.iter().rev().filter(|node| node.label != 0);
            todo.extend(inner.map(|node| (node.child, offset ^ u32::from(node.label))));
        }
    }

    /// Finds a place for the children of a unit and takes it.
    fn arrange(&mut self, nodes: &[super::dawg::DawgNode], at: u32) -> u32 {
        let offset = self.valid_offset(nodes, at);
        self.set_offset(at, at ^ offset);
        for node in nodes {
            let child = offset ^ u32::from(node.label);
            self.reserve(child);
            if node.label == 0 {
                self.units[at as usize] |= LEAF;
                self.units[child as usize] = node.child | VALUE;
            } else {
                self.set_label(child, node.label);
            }
        }
        self.extra(offset).is_used = true;
        offset
    }

    fn valid_offset(&self, nodes: &[super::dawg::DawgNode], at: u32) -> u32 {
        let behind = self.units.len() as u32 | (at & LOW);
        if self.head as usize >= self.units.len() {
            return behind;
        }
        let mut free = self.head;
        loop {
            let offset = free ^ u32::from(nodes[0].label);
            if self.is_valid(nodes, at, offset) {
                return offset;
            }
            free = self.known(free).next;
            if free == self.head {
                return behind;
            }
        }
    }

    fn is_valid(&self, nodes: &[super::dawg::DawgNode], at: u32, offset: u32) -> bool {
        let is_taken = |node: &super::dawg::DawgNode| self.known(offset ^ u32::from(node.label)).is_fixed;
        !self.known(offset).is_used && fits(at ^ offset) && !nodes[1..].iter().any(is_taken)
    }

    /// Takes a unit out of the ring of free ones.
    fn reserve(&mut self, at: u32) {
        if at as usize >= self.units.len() {
            self.expand();
        }
        let Extra { before, next, .. } = *self.known(at);
        if at == self.head {
            self.head = if next == at { self.units.len() as u32 } else { next };
        }
        self.extra(before).next = next;
        self.extra(next).before = before;
        self.extra(at).is_fixed = true;
    }

    /// Adds a block to the ring, and closes the oldest open one if there are too many.
    fn expand(&mut self) {
        let (start, blocks) = (self.units.len() as u32, self.blocks());
        let end = start + BLOCK;
        if blocks + 1 > OPEN_BLOCKS {
            self.close(blocks - OPEN_BLOCKS);
        }
        self.units.resize(end as usize, 0);
        for at in start..end {
            *self.extra(at) = Extra { before: at.wrapping_sub(1), next: at + 1, is_fixed: false, is_used: false };
        }
        let head = self.head;
        // With no free unit before, the head is the first of the new ones.
        let last = if head == start { end - 1 } else { self.known(head).before };
        self.extra(start).before = last;
        self.extra(end - 1).next = head;
        self.extra(last).next = start;
        self.extra(head).before = end - 1;
    }

    /// The free units of a block get labels under which no walk comes to them.
    fn close(&mut self, block: u32) {
        let (start, end) = (block * BLOCK, (block + 1) * BLOCK);
        let unused = (start..end).find(|&at| !self.known(at).is_used).unwrap_or(0);
        for at in start..end {
            if !self.known(at).is_fixed {
                self.reserve(at);
                self.set_label(at, (at ^ unused) as u8);
            }
        }
    }

    fn set_label(&mut self, at: u32, label: u8) {
        let unit = &mut self.units[at as usize];
        *unit = *unit & !LOW | u32::from(label);
    }

    fn set_offset(&mut self, at: u32, offset: u32) {
        let kept = self.units[at as usize] & (VALUE | LEAF | LOW);
        self.units[at as usize] = kept | if offset < 1 << 21 { offset << 10 } else { offset << 2 | 1 << 9 };
    }

    fn blocks(&self) -> u32 {
        self.units.len() as u32 / BLOCK
    }

    fn known(&self, at: u32) -> &Extra {
        &self.extras[(at % (BLOCK * OPEN_BLOCKS)) as usize]
    }

    fn extra(&mut self, at: u32) -> &mut Extra {
        &mut self.extras[(at % (BLOCK * OPEN_BLOCKS)) as usize]
    }
}

/// Whether a unit can say this distance.
fn fits(distance: u32) -> bool {
    distance & LOW == 0 || distance & HIGH == 0
}
