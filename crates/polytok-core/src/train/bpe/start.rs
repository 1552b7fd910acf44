//! Converts words to the initial symbols.

use super::MergeRules;
use super::texts::SymbolTexts;
use crate::byte_level::char_of;
use crate::error::Result;
use crate::train::counter::{Order, WordCounter};
use crate::train::progress::Progress;

/// Characters are below this.
const CHARS: usize = char::MAX as usize + 1;

/// The initial symbols of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordUnit {
    /// Bytes.
    Bytes,
    /// Bytes, as the characters of GPT-2's table.
    ByteLevel,
    /// Characters. Bytes that are not UTF-8 become U+FFFD.
    Chars,
}

/// The affixes of characters by their place in a word; empty for none.
#[derive(Clone, Debug, Default)]
pub struct Affixes {
    /// Before all characters except the first.
    pub prefix: Vec<u8>,
    /// Behind the last.
    pub suffix: Vec<u8>,
}

impl Affixes {
    /// Whether both affixes are empty.
    pub fn is_none(&self) -> bool {
        self.prefix.is_empty() && self.suffix.is_empty()
    }

    /// The text of a character's symbol.
    pub fn applied(&self, c: char, is_first: bool, is_last: bool) -> Vec<u8> {
        let mut text = if is_first { Vec::new() } else { self.prefix.clone() };
        text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        text.extend_from_slice(if is_last { &self.suffix } else { &[] });
        text
    }
}

/// Calls `each(character, is first, is last)` for the characters of a word.
pub fn each_char(word: &[u8], unit: WordUnit, mut each: impl FnMut(char, bool, bool)) {
    let mut last: Option<(char, bool)> = None;
    let mut take = |c: char| {
        if let Some((before, is_first)) = last.replace((c, last.is_none())) {
            each(before, is_first, false);
        }
    };
    match unit {
        WordUnit::Bytes => word.iter().for_each(|&byte| take(char::from(byte))),
        WordUnit::ByteLevel => word.iter().for_each(|&byte| take(char_of(byte))),
        WordUnit::Chars => word.utf8_chunks().for_each(|chunk| {
            chunk.valid().chars().for_each(&mut take);
            if !chunk.invalid().is_empty() {
                take(char::REPLACEMENT_CHARACTER);
            }
        }),
    }
    if let Some((c, is_first)) = last {
        each(c, is_first, true);
    }
}

/// Calls `each` with the symbols of every word and its count, in the order of first occurrence. A character without a
/// symbol is omitted.
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
        each_char(word, *unit, |c, is_first, is_last| symbols.extend(table.of(c, is_first, is_last)));
        each(&symbols, count)
    })
}

/// The symbols of characters by their place in a word. Each is looked up by text once.
struct SymbolTable<'a> {
    texts: &'a SymbolTexts,
    unit: WordUnit,
    affixes: &'a Affixes,
    /// By (is first, is last): 0 if not looked up yet, 1 for none, else the symbol plus 2.
    known: [Vec<u32>; 4],
}

impl<'a> SymbolTable<'a> {
    fn new(texts: &'a SymbolTexts, unit: WordUnit, affixes: &'a Affixes) -> SymbolTable<'a> {
        SymbolTable { texts, unit, affixes, known: std::array::from_fn(|_| vec![0; 1 << 8]) }
    }

    #[inline]
    fn of(&mut self, c: char, is_first: bool, is_last: bool) -> Option<u32> {
        let place = usize::from(is_first && !self.affixes.prefix.is_empty()) * 2
            + usize::from(is_last && !self.affixes.suffix.is_empty());
        let known = self.known[place].get(c as usize).copied().unwrap_or(0);
        if known == 0 {
            let symbol = self.find(c, is_first, is_last);
            if c as usize >= self.known[place].len() {
                self.known[place].resize(CHARS, 0);
            }
            self.known[place][c as usize] = symbol.map_or(1, |symbol| symbol + 2);
            return symbol;
        }
        known.checked_sub(2)
    }

    #[cold]
    fn find(&self, c: char, is_first: bool, is_last: bool) -> Option<u32> {
        if self.unit == WordUnit::Bytes {
            return self.texts.find(&[c as u8]);
        }
        self.texts.find(c.encode_utf8(&mut [0; 4]).as_bytes())?;
        self.texts.find(&self.affixes.applied(c, is_first, is_last))
    }
}
