//! A table that maps each character to a number. Characters are divided into blocks, and a block is stored only if it
//! has a number other than the default.

use polytok_memory::{self as memory, Grow};

/// The number of characters in a block.
const BLOCK_LEN: usize = 64;

/// A table that maps each character to a number.
pub(crate) struct CharTable {
    /// For each block of characters, the index at which `numbers` stores the block; 0 if all characters of the block
    /// have the default.
    block_indexes: Box<[u16]>,
    /// The numbers of the stored blocks; the first block has the default for all characters.
    numbers: Vec<u32>,
}

impl CharTable {
    /// Returns a table with the same number for all characters.
    pub fn new(default: u32) -> CharTable {
        CharTable {
            block_indexes: memory::zeroed(0x11_0000 / BLOCK_LEN).into(),
            numbers: memory::filled(default, BLOCK_LEN),
        }
    }

    /// Returns the number of a code point; the default if the code point is not a character.
    #[inline]
    pub fn get(&self, code: u32) -> u32 {
        let block_index =
            self.block_indexes.get(code as usize / BLOCK_LEN).map_or(0, |&block_index| block_index as usize);
        self.numbers.get(block_index * BLOCK_LEN + code as usize % BLOCK_LEN).copied().unwrap_or(self.numbers[0])
    }

    /// Returns a mutable reference to the number of a character.
    pub fn get_mut(&mut self, code: char) -> &mut u32 {
        let block_index = &mut self.block_indexes[code as usize / BLOCK_LEN];
        if *block_index == 0 {
            *block_index = (self.numbers.len() / BLOCK_LEN) as u16;
            self.numbers.checked_reserve(BLOCK_LEN);
            self.numbers.extend_from_within(..BLOCK_LEN);
        }
        &mut self.numbers[*block_index as usize * BLOCK_LEN + code as usize % BLOCK_LEN]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_have_the_default_until_they_are_set() {
        let mut table = CharTable::new(7);
        for code in ['a', '\0', '世', char::MAX] {
            *table.get_mut(code) = code as u32 + 1;
        }
        let changed_chars = ['a', '\0', '世', char::MAX];
        for code in (0..0x11_0000).chain([u32::MAX]) {
            let is_set = changed_chars.iter().any(|&c| c as u32 == code);
            assert_eq!(table.get(code), if is_set { code + 1 } else { 7 });
        }
    }
}
