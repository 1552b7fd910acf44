//! Converts words to sequences of initial symbols.

use polytok_memory::{self as memory, Grow};

use super::MergeRules;
use super::texts::SymbolTexts;
use crate::byte_level::char_of;
use crate::error::Result;
use crate::train::counter::{Order, WordCounter};
use crate::train::progress::Progress;

/// The number of code points; every code point is lower than this number.
const CHARS: usize = char::MAX as usize + 1;

/// The unit of text that is an initial symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordUnit {
    /// Bytes.
    Bytes,
    /// Bytes, each represented by a character of GPT-2's table.
    ByteLevel,
    /// Characters. U+FFFD replaces bytes that are not UTF-8.
    Chars,
}

/// The texts that mark the position of a character in a word. An empty text marks nothing.
#[derive(Clone, Debug, Default)]
pub struct Affixes {
    /// The prefix of all characters except the first.
    pub prefix: Vec<u8>,
    /// The suffix of the last character.
    pub suffix: Vec<u8>,
}

impl Affixes {
    /// Reports whether both affixes are empty.
    pub fn is_none(&self) -> bool {
        self.prefix.is_empty() && self.suffix.is_empty()
    }

    /// Returns the text of a character's symbol.
    pub fn apply(&self, c: char, is_first: bool, is_last: bool) -> Vec<u8> {
        let mut text = if is_first { Vec::new() } else { self.prefix.clone() };
        text.checked_extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        text.checked_extend_from_slice(if is_last { &self.suffix } else { &[] });
        text
    }
}

/// Calls `visit(character, is_first, is_last)` for the characters of a word.
pub fn for_each_char(word: &[u8], unit: WordUnit, mut visit: impl FnMut(char, bool, bool)) {
    let mut last_char: Option<(char, bool)> = None;
    let mut add_char = |c: char| {
        if let Some((previous, is_first)) = last_char.replace((c, last_char.is_none())) {
            visit(previous, is_first, false);
        }
    };
    match unit {
        WordUnit::Bytes => word.iter().for_each(|&byte| add_char(char::from(byte))),
        WordUnit::ByteLevel => word.iter().for_each(|&byte| add_char(char_of(byte))),
        WordUnit::Chars => word.utf8_chunks().for_each(|chunk| {
            chunk.valid().chars().for_each(&mut add_char);
            if !chunk.invalid().is_empty() {
                add_char(char::REPLACEMENT_CHARACTER);
            }
        }),
    }
    if let Some((c, is_first)) = last_char {
        visit(c, is_first, true);
    }
}

/// Calls `visit` with the symbols and the count of every word, in the order of first occurrence. Characters without a
/// symbol are left out.
pub fn for_each_word(
    words: &mut WordCounter,
    texts: &SymbolTexts,
    rules: &MergeRules,
    progress: &mut dyn Progress,
    mut visit: impl FnMut(&[u32], u64) -> Result<()>,
) -> Result<()> {
    let MergeRules { unit, affixes, .. } = rules;
    let mut table = SymbolTable::new(texts, *unit, affixes);
    let mut symbols = Vec::new();
    words.each(Order::FirstSeen, progress, &mut |word, count| {
        symbols.clear();
        for_each_char(word, *unit, |c, is_first, is_last| symbols.checked_extend(table.symbol(c, is_first, is_last)));
        visit(&symbols, count)
    })
}

/// Finds the symbol of a character by the character's position in a word. The text of each symbol is looked up only
/// once.
struct SymbolTable<'a> {
    texts: &'a SymbolTexts,
    unit: WordUnit,
    affixes: &'a Affixes,
    /// One cache for each combination of (is first, is last). The value is 0 before the first lookup, 1 if the
    /// character has no symbol, and otherwise the symbol plus 2.
    cached_symbols: [Vec<u32>; 4],
}

impl<'a> SymbolTable<'a> {
    fn new(texts: &'a SymbolTexts, unit: WordUnit, affixes: &'a Affixes) -> SymbolTable<'a> {
        SymbolTable { texts, unit, affixes, cached_symbols: std::array::from_fn(|_| memory::zeroed(1 << 8)) }
    }

    #[inline]
    fn symbol(&mut self, c: char, is_first: bool, is_last: bool) -> Option<u32> {
        let position = usize::from(is_first && !self.affixes.prefix.is_empty()) * 2
            + usize::from(is_last && !self.affixes.suffix.is_empty());
        let cached = self.cached_symbols[position].get(c as usize).copied().unwrap_or(0);
        if cached == 0 {
            let symbol = self.find(c, is_first, is_last);
            if c as usize >= self.cached_symbols[position].len() {
                self.cached_symbols[position].checked_resize(CHARS, 0);
            }
            self.cached_symbols[position][c as usize] = symbol.map_or(1, |symbol| symbol + 2);
            return symbol;
        }
        cached.checked_sub(2)
    }

    #[cold]
    fn find(&self, c: char, is_first: bool, is_last: bool) -> Option<u32> {
        if self.unit == WordUnit::Bytes {
            return self.texts.find(&[c as u8]);
        }
        self.texts.find(c.encode_utf8(&mut [0; 4]).as_bytes())?;
        self.texts.find(&self.affixes.apply(c, is_first, is_last))
    }
}
