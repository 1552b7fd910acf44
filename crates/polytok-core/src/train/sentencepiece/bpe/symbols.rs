//! The texts of symbols.

use crate::error::{Error, Result};

/// Symbols by number: the alphabet, then what merging made.
pub struct Symbols {
    text: String,
    ends: Vec<usize>,
    /// In characters, which is in cells.
    lengths: Vec<u32>,
}

impl Symbols {
    pub fn new(alphabet: impl Iterator<Item = char>) -> Symbols {
        let mut symbols = Symbols { text: String::new(), ends: Vec::new(), lengths: Vec::new() };
        for c in alphabet {
            symbols.text.push(c);
            symbols.ends.push(symbols.text.len());
            symbols.lengths.push(1);
        }
        symbols
    }

    /// A new one.
    pub fn push(&mut self, text: &str) -> Result<u32> {
        let id = u32::try_from(self.ends.len())
            .ok()
            .filter(|&id| id < crate::train::bpe::cells::MOST_SYMBOLS)
            .ok_or_else(|| Error::Argument("a vocabulary has fewer than 2^31 pieces".into()))?;
        self.text.push_str(text);
        self.ends.push(self.text.len());
        self.lengths.push(text.chars().count() as u32);
        Ok(id)
    }

    #[inline]
    pub fn text(&self, id: u32) -> &str {
        let start = (id as usize).checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[id as usize]]
    }

    /// The characters of one.
    #[inline]
    pub fn cells(&self, id: u32) -> u32 {
        self.lengths[id as usize]
    }

    /// The characters of each.
    #[inline]
    pub fn lengths(&self) -> &[u32] {
        &self.lengths
    }
}
