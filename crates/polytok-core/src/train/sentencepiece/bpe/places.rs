//! Lists of places, all in blocks of one vector: what they take is known to the byte, and no list grows by moving.
//!
//! A block is three places and the number of the next block. Blocks that were read are free for other lists at once.

/// Places of a block.
const EACH: usize = 3;

/// No block.
const NONE: u32 = u32::MAX;

/// A place that is not set: no place is as far.
const EMPTY: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct PlaceBlock {
    places: [u32; EACH],
    next: u32,
}

/// A list, by its first and its last block.
#[derive(Clone, Copy)]
pub struct PlaceList {
    first: u32,
    last: u32,
}

impl Default for PlaceList {
    fn default() -> PlaceList {
        PlaceList { first: NONE, last: NONE }
    }
}

/// All lists.
pub struct PlaceLists {
    blocks: Vec<PlaceBlock>,
    /// The first free block, which tells the next.
    free: u32,
}

impl Default for PlaceLists {
    fn default() -> PlaceLists {
        PlaceLists { blocks: Vec::new(), free: NONE }
    }
}

impl PlaceLists {
    /// Bytes taken.
    pub fn memory(&self) -> usize {
        self.blocks.capacity() * size_of::<PlaceBlock>()
    }

    /// Adds a place at the end of a list.
    pub fn push(&mut self, list: &mut PlaceList, at: u32) {
        if let Some(last) = self.blocks.get_mut(list.last as usize)
            && let Some(place) = last.places.iter_mut().find(|place| **place == EMPTY)
        {
            *place = at;
            return;
        }
        let block = self.block(at);
        match self.blocks.get_mut(list.last as usize) {
            Some(last) => last.next = block,
            None => list.first = block,
        }
        list.last = block;
    }

    /// A block with one place. Words have fewer than 2^31 cells, and each merged occurrence takes a place and adds two: so there are
    /// fewer than 2^32 places at any time, and fewer blocks.
    fn block(&mut self, at: u32) -> u32 {
        let block = PlaceBlock { places: [at, EMPTY, EMPTY], next: NONE };
        let number = self.free;
        match self.blocks.get_mut(number as usize) {
            Some(free) => {
                self.free = free.next;
                *free = block;
                number
            }
            None => {
                self.blocks.push(block);
                self.blocks.len() as u32 - 1
            }
        }
    }

    /// Takes the first places out of a list, in order; none where the list is at its end.
    pub fn take(&mut self, list: &mut PlaceList) -> Option<impl Iterator<Item = u32> + use<>> {
        let number = list.first;
        let block = self.blocks.get_mut(number as usize)?;
        list.first = std::mem::replace(&mut block.next, self.free);
        self.free = number;
        Some(block.places.into_iter().take_while(|&place| place != EMPTY))
    }

    /// Forgets the places of a list.
    pub fn clear(&mut self, list: PlaceList) {
        if let Some(last) = self.blocks.get_mut(list.last as usize) {
            last.next = self.free;
            self.free = list.first;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_keep_their_order_and_give_their_blocks_back() {
        let (mut places, mut lists) = (PlaceLists::default(), [PlaceList::default(); 3]);
        for round in 0..3 {
            (0..30).for_each(|at| places.push(&mut lists[at as usize % 3], at));
            places.clear(std::mem::take(&mut lists[2]));
            for (number, list) in lists[..2].iter_mut().enumerate() {
                let mut list = std::mem::take(list);
                let mut found = Vec::new();
                while let Some(some) = places.take(&mut list) {
                    found.extend(some);
                }
                assert_eq!(found, (number as u32..30).step_by(3).collect::<Vec<_>>(), "{round}");
            }
        }
        assert_eq!(places.blocks.len(), 12);
    }
}
