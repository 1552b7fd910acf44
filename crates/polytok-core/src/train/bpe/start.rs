//! Converts words to the initial symbols.

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
    /// Bytes, written as the characters of GPT-2's table.
    ByteLevel,
    /// Characters. Bytes that are not UTF-8 are replaced by U+FFFD.
    Chars,
}

/// The affixes of characters by their position in a word. An empty text means that there is no affix.
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
        text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        text.extend_from_slice(if is_last { &self.suffix } else { &[] });
        text
    }
}

/// Calls `each(character, is_first, is_last)` for the characters of a word.
pub fn each_char(word: &[u8], unit: WordUnit, mut each: impl FnMut(char, bool, bool)) {
    let mut last_char: Option<(char, bool)> = None;
    let mut add_char = |c: char| {
        if let Some((previous, is_first)) = last_char.replace((c, last_char.is_none())) {
            each(previous, is_first, false);
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
        each(c, is_first, true);
    }
}

/// Calls `each` with the symbols and the count of every word, in the order of first occurrence. Characters without a
/// symbol are left out.
pub fn each_word(
    words: &mut WordCounter,
    texts: &SymbolTexts,
    rules: &MergeRules,
    progress: &mut dyn Progress,
    mut each: impl FnMut(&[u32], u64) -> Result<()>,
) -> Result<()> {
    let MergeRules { unit, affixes, .. } = rules;
    let mut table = SymbolTable::new(texts, *unit, affixes);
    let mut symbols = Vec::new();
    words.each(Order::FirstSeen, progress, &mut |word, count| {
        symbols.clear();
        each_char(word, *unit, |c, is_first, is_last| symbols.extend(table.symbol(c, is_first, is_last)));
        each(&symbols, count)
    })
}

/// The symbols of characters by their position in a word. Each symbol is looked up by text only once.
struct SymbolTable<'a> {
    texts: &'a SymbolTexts,
    unit: WordUnit,
    affixes: &'a Affixes,
    /// The cached symbols, by (is first, is last): 0 if not looked up yet, 1 if the character has no symbol, else the
    /// symbol plus 2.
    cached_symbols: [Vec<u32>; 4],
}

impl<'a> SymbolTable<'a> {
    fn new(texts: &'a SymbolTexts, unit: WordUnit, affixes: &'a Affixes) -> SymbolTable<'a> {
        SymbolTable { texts, unit, affixes, cached_symbols: std::array::from_fn(|_| vec![0; 1 << 8]) }
    }

    #[inline]
    fn symbol(&mut self, c: char, is_first: bool, is_last: bool) -> Option<u32> {
        let position = usize::from(is_first && !self.affixes.prefix.is_empty()) * 2
            + usize::from(is_last && !self.affixes.suffix.is_empty());
        let cached = self.cached_symbols[position].get(c as usize).copied().unwrap_or(0);
        if cached == 0 {
            let symbol = self.find(c, is_first, is_last);
            if c as usize >= self.cached_symbols[position].len() {
                self.cached_symbols[position].resize(CHARS, 0);
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
