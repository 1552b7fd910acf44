//! Stores many lists of positions in blocks of one vector. So the exact memory of the lists is known, and no list is
//! copied when it grows.
//!
//! A block holds three positions and the number of the next block. When a list is read, each block is freed for other
//! lists immediately.

use polytok_memory::Grow;

/// The number of positions in a block.
const BLOCK_LEN: usize = 3;

/// The number that means "no block".
const NONE: u32 = u32::MAX;

/// The value of an unused position in a block; real positions are smaller.
const UNSET_POSITION: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct PositionBlock {
    positions: [u32; BLOCK_LEN],
    next: u32,
}

/// A list: the numbers of its first and last block.
#[derive(Clone, Copy)]
pub struct PositionList {
    first: u32,
    last: u32,
}

impl Default for PositionList {
    fn default() -> PositionList {
        PositionList { first: NONE, last: NONE }
    }
}

/// The blocks of all lists.
pub struct PositionLists {
    blocks: Vec<PositionBlock>,
    /// The first free block; its `next` is the next free block.
    first_free_block: u32,
}

impl Default for PositionLists {
    fn default() -> PositionLists {
        PositionLists { blocks: Vec::new(), first_free_block: NONE }
    }
}

impl PositionLists {
    /// Returns the number of bytes of the blocks.
    pub fn memory(&self) -> usize {
        self.blocks.capacity() * size_of::<PositionBlock>()
    }

    /// Appends a position to a list.
    pub fn push(&mut self, list: &mut PositionList, at: u32) {
        if let Some(last) = self.blocks.get_mut(list.last as usize)
            && let Some(position) = last.positions.iter_mut().find(|position| **position == UNSET_POSITION)
        {
            *position = at;
            return;
        }
        let block = self.add_block(at);
        match self.blocks.get_mut(list.last as usize) {
            Some(last) => last.next = block,
            None => list.first = block,
        }
        list.last = block;
    }

    /// Creates a block that holds one position, and returns its number. The number fits in 32 bits: words have fewer
    /// than 2^31 cells, and each merged occurrence removes a position and adds two, so there are always fewer than 2^32
    /// positions.
    fn add_block(&mut self, at: u32) -> u32 {
        let block = PositionBlock { positions: [at, UNSET_POSITION, UNSET_POSITION], next: NONE };
        let number = self.first_free_block;
        match self.blocks.get_mut(number as usize) {
            Some(free) => {
                self.first_free_block = free.next;
                *free = block;
                number
            }
            None => {
                self.blocks.checked_push(block);
                self.blocks.len() as u32 - 1
            }
        }
    }

    /// Removes the first block of a list and returns its positions in order, or `None` at the end of the list.
    pub fn take(&mut self, list: &mut PositionList) -> Option<impl Iterator<Item = u32> + use<>> {
        let number = list.first;
        let block = self.blocks.get_mut(number as usize)?;
        list.first = std::mem::replace(&mut block.next, self.first_free_block);
        self.first_free_block = number;
        Some(block.positions.into_iter().take_while(|&position| position != UNSET_POSITION))
    }

    /// Frees the blocks of a list.
    pub fn clear(&mut self, list: PositionList) {
        if let Some(last) = self.blocks.get_mut(list.last as usize) {
            last.next = self.first_free_block;
            self.first_free_block = list.first;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_keep_their_order_and_free_their_blocks() {
        let (mut positions, mut lists) = (PositionLists::default(), [PositionList::default(); 3]);
        for round in 0..3 {
            (0..30).for_each(|at| positions.push(&mut lists[at as usize % 3], at));
            positions.clear(std::mem::take(&mut lists[2]));
            for (number, list) in lists[..2].iter_mut().enumerate() {
                let mut list = std::mem::take(list);
                let mut read_back = Vec::new();
                while let Some(block) = positions.take(&mut list) {
                    read_back.extend(block);
                }
                assert_eq!(read_back, (number as u32..30).step_by(3).collect::<Vec<_>>(), "{round}");
            }
        }
        assert_eq!(positions.blocks.len(), 12);
    }
}
