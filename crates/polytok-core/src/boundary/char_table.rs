//! A table that maps each character to a number, in two stages: only blocks with a number other than the default are
//! stored.

/// The number of characters in a block.
const BLOCK_LEN: usize = 64;

/// A table that maps each character to a number.
pub(crate) struct CharTable {
    /// For each block of characters, the index of its block in `numbers`.
    places: Box<[u16]>,
    /// The numbers of the stored blocks; the first block has the default for all characters.
    numbers: Vec<u32>,
}

impl CharTable {
    /// Returns a table with the same number for all characters.
    pub fn new(default: u32) -> CharTable {
        CharTable { places: vec![0; 0x11_0000 / BLOCK_LEN].into(), numbers: vec![default; BLOCK_LEN] }
    }

    /// Returns the number of a code point; the default if the code point is not a character.
    #[inline]
    pub fn get(&self, code: u32) -> u32 {
        let place = self.places.get(code as usize / BLOCK_LEN).map_or(0, |&place| place as usize);
        self.numbers.get(place * BLOCK_LEN + code as usize % BLOCK_LEN).copied().unwrap_or(self.numbers[0])
    }

    /// Returns a mutable reference to the number of a character.
    pub fn at(&mut self, code: char) -> &mut u32 {
        let place = &mut self.places[code as usize / BLOCK_LEN];
        if *place == 0 {
            *place = (self.numbers.len() / BLOCK_LEN) as u16;
            self.numbers.extend_from_within(..BLOCK_LEN);
        }
        &mut self.numbers[*place as usize * BLOCK_LEN + code as usize % BLOCK_LEN]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_numbers_that_were_set_differ_from_the_default() {
        let mut table = CharTable::new(7);
        for code in ['a', '\0', '世', char::MAX] {
            *table.at(code) = code as u32 + 1;
        }
        let set = ['a', '\0', '世', char::MAX];
        for code in (0..0x11_0000).chain([u32::MAX]) {
            let is_set = set.iter().any(|&c| c as u32 == code);
            assert_eq!(table.get(code), if is_set { code + 1 } else { 7 });
        }
    }
}
