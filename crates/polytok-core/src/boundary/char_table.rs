//! A number for each character: a table in two stages, of blocks that hold what differs from the default.

/// Characters of a block.
const BLOCK: usize = 64;

/// The table.
pub(crate) struct CharTable {
    /// For each block of characters where its numbers are, in blocks.
    places: Box<[u16]>,
    /// The first block holds the default.
    numbers: Vec<u32>,
}

impl CharTable {
    /// The same number for all.
    pub fn new(default: u32) -> CharTable {
        CharTable { places: vec![0; 0x11_0000 / BLOCK].into(), numbers: vec![default; BLOCK] }
    }

    /// The number of a character; the default for what is none.
    #[inline]
    pub fn get(&self, code: u32) -> u32 {
        let place = self.places.get(code as usize / BLOCK).map_or(0, |&place| place as usize);
        self.numbers.get(place * BLOCK + code as usize % BLOCK).copied().unwrap_or(self.numbers[0])
    }

    /// The number of a character, to be changed.
    pub fn at(&mut self, code: char) -> &mut u32 {
        let place = &mut self.places[code as usize / BLOCK];
        if *place == 0 {
            *place = (self.numbers.len() / BLOCK) as u16;
            self.numbers.extend_from_within(..BLOCK);
        }
        &mut self.numbers[*place as usize * BLOCK + code as usize % BLOCK]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_set_is_there_and_nothing_else() {
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
