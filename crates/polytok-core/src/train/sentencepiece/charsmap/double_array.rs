//! Converts the automaton to a double array of 32-bit units, with the layout of Darts-clone.
//!
//! A unit holds a label in its low byte. Bit 8 is set if a key ends at this unit. The bits from 10 on hold the xor
//! distance to the children; if bit 9 is set, the distance is this number shifted left by 8 bits. Bit 31 marks a unit
//! that holds a value. The last 16 blocks of 256 units are open: their free units form a ring, which is searched for
//! the first offset with room for all children of a unit. Earlier blocks are closed: their free units get labels that
//! no lookup matches. Subtrees with several parents are stored once, if a unit can encode the distance.
//!
//! Cost: each state tries free units in at most 16 blocks, with one step for each free unit.

use polytok_memory::{self as memory, Grow};

use super::dawg::Dawg;

const BLOCK: u32 = 256;
const OPEN_BLOCKS: u32 = 16;
const LOW_BITS: u32 = 0xFF;
const HIGH_BITS: u32 = 0xFF << 21;
const KEY_END_BIT: u32 = 1 << 8;
const VALUE_BIT: u32 = 1 << 31;

/// The state of a unit in an open block.
#[derive(Clone, Copy, Default)]
struct UnitState {
    /// The free units before and after the unit in the ring.
    before: u32,
    next: u32,
    /// True if the unit is in use.
    is_fixed: bool,
    /// True if the children of a unit start at this offset.
    is_used: bool,
}

/// Returns the double array of an automaton.
pub fn units(dawg: &Dawg) -> Vec<u32> {
    let mut builder = DoubleArrayBuilder {
        units: Vec::new(),
        states: memory::filled(UnitState::default(), (BLOCK * OPEN_BLOCKS) as usize),
        first_free_unit: 0,
    };
    builder.reserve(0);
    builder.state_mut(0).is_used = true;
    builder.set_offset(0, 1);
    if dawg.root != 0 && !dawg.group(dawg.root).is_empty() {
        builder.place(dawg);
    }
    let blocks = builder.block_count();
    (blocks.saturating_sub(OPEN_BLOCKS)..blocks).for_each(|block| builder.close(block));
    builder.units
}

struct DoubleArrayBuilder {
    units: Vec<u32>,
    states: Vec<UnitState>,
    /// The first free unit, or the number of units if no unit is free.
    first_free_unit: u32,
}

impl DoubleArrayBuilder {
    /// Writes the units of all states, depth first.
    fn place(&mut self, dawg: &Dawg) {
        let mut offsets = memory::zeroed(dawg.nodes.len());
        let mut pending = vec![(dawg.root, 0)];
        while let Some((group, at)) = pending.pop() {
            let nodes = dawg.group(group);
            if let Some(offset) = Some(offsets[group as usize]).filter(|&offset| offset != 0)
                && can_encode(offset ^ at)
            {
                if nodes[0].label == 0 {
                    self.units[at as usize] |= KEY_END_BIT;
                }
                self.set_offset(at, offset ^ at);
                continue;
            }
            let offset = self.place_children(nodes, at);
            if dawg.is_shared[group as usize] {
                offsets[group as usize] = offset;
            }
            // The first child must be on top of the stack.
            let inner = nodes.iter().rev().filter(|node| node.label != 0);
            pending.checked_extend(inner.map(|node| (node.child_or_value, offset ^ u32::from(node.label))));
        }
    }

    /// Finds an offset for the children of a unit and writes the children there.
    fn place_children(&mut self, nodes: &[super::dawg::DawgNode], at: u32) -> u32 {
        let offset = self.valid_offset(nodes, at);
        self.set_offset(at, at ^ offset);
        for node in nodes {
            let child = offset ^ u32::from(node.label);
            self.reserve(child);
            if node.label == 0 {
                self.units[at as usize] |= KEY_END_BIT;
                self.units[child as usize] = node.child_or_value | VALUE_BIT;
            } else {
                self.set_label(child, node.label);
            }
        }
        self.state_mut(offset).is_used = true;
        offset
    }

    /// Returns the first valid offset for children, in the ring or after all units.
    fn valid_offset(&self, nodes: &[super::dawg::DawgNode], at: u32) -> u32 {
        let offset_after_all = self.units.len() as u32 | (at & LOW_BITS);
        if self.first_free_unit as usize >= self.units.len() {
            return offset_after_all;
        }
        let mut free = self.first_free_unit;
        loop {
            let offset = free ^ u32::from(nodes[0].label);
            if self.is_valid(nodes, at, offset) {
                return offset;
            }
            free = self.state(free).next;
            if free == self.first_free_unit {
                return offset_after_all;
            }
        }
    }

    fn is_valid(&self, nodes: &[super::dawg::DawgNode], at: u32, offset: u32) -> bool {
        let is_taken = |node: &super::dawg::DawgNode| self.state(offset ^ u32::from(node.label)).is_fixed;
        !self.state(offset).is_used && can_encode(at ^ offset) && !nodes[1..].iter().any(is_taken)
    }

    /// Removes a unit from the ring of free units.
    fn reserve(&mut self, at: u32) {
        if at as usize >= self.units.len() {
            self.expand();
        }
        let UnitState { before, next, .. } = *self.state(at);
        if at == self.first_free_unit {
            self.first_free_unit = if next == at { self.units.len() as u32 } else { next };
        }
        self.state_mut(before).next = next;
        self.state_mut(next).before = before;
        self.state_mut(at).is_fixed = true;
    }

    /// Adds a block to the ring, and closes the oldest open block if too many blocks are open.
    fn expand(&mut self) {
        let (start, blocks) = (self.units.len() as u32, self.block_count());
        let end = start + BLOCK;
        if blocks + 1 > OPEN_BLOCKS {
            self.close(blocks - OPEN_BLOCKS);
        }
        self.units.checked_resize(end as usize, 0);
        for at in start..end {
            *self.state_mut(at) =
                UnitState { before: at.wrapping_sub(1), next: at + 1, is_fixed: false, is_used: false };
        }
        let first_free_unit = self.first_free_unit;
        // If no unit was free, the ring starts at the first new unit.
        let last = if first_free_unit == start { end - 1 } else { self.state(first_free_unit).before };
        self.state_mut(start).before = last;
        self.state_mut(end - 1).next = first_free_unit;
        self.state_mut(last).next = start;
        self.state_mut(first_free_unit).before = end - 1;
    }

    /// Closes a block: its free units get labels that no lookup matches.
    fn close(&mut self, block: u32) {
        let (start, end) = (block * BLOCK, (block + 1) * BLOCK);
        let unused = (start..end).find(|&at| !self.state(at).is_used).unwrap_or(0);
        for at in start..end {
            if !self.state(at).is_fixed {
                self.reserve(at);
                self.set_label(at, (at ^ unused) as u8);
            }
        }
    }

    fn set_label(&mut self, at: u32, label: u8) {
        let unit = &mut self.units[at as usize];
        *unit = *unit & !LOW_BITS | u32::from(label);
    }

    fn set_offset(&mut self, at: u32, offset: u32) {
        let kept = self.units[at as usize] & (VALUE_BIT | KEY_END_BIT | LOW_BITS);
        self.units[at as usize] = kept | if offset < 1 << 21 { offset << 10 } else { offset << 2 | 1 << 9 };
    }

    fn block_count(&self) -> u32 {
        self.units.len() as u32 / BLOCK
    }

    fn state(&self, at: u32) -> &UnitState {
        &self.states[(at % (BLOCK * OPEN_BLOCKS)) as usize]
    }

    fn state_mut(&mut self, at: u32) -> &mut UnitState {
        &mut self.states[(at % (BLOCK * OPEN_BLOCKS)) as usize]
    }
}

/// Reports whether a unit can encode a distance.
fn can_encode(distance: u32) -> bool {
    distance & LOW_BITS == 0 || distance & HIGH_BITS == 0
}
