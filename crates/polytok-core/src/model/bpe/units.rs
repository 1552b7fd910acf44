//! Converts text to the initial symbols of BPE: bytes, characters, or llama2.c's groups.
//!
//! A symbol is the number of a row of the vocabulary. A character that occurs only inside of entries has a number that
//! is higher than the numbers of the rows.

use bytemuck::{Pod, Zeroable};
use hashbrown::HashMap;
use polytok_memory::{Collect, Grow, GrowMap};

use super::merge::PlacedSymbol;
use super::symbol::Symbol;
use crate::error::Result;
use crate::hash::{Slots, hash_bytes, hash_number};
use crate::native::{FilePart, PartWriter, Stored};
use crate::spec::Symbols;
use crate::table::Table;
use crate::token_id::TokenId;
use crate::utf8;
use crate::vocab::Vocab;
use crate::vocab::dictionary::Dictionary;

/// The index of U+2581 among the frequent characters, after the ASCII characters.
const MARK_INDEX: usize = 128;
/// The number of frequent characters: ASCII and U+2581.
const FREQUENT_CHAR_COUNT: usize = 129;
/// The bytes of U+2581.
const MARK_BYTES: &[u8] = "\u{2581}".as_bytes();

/// The character that replaces a space of the text for merging.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    /// A space.
    Space,
    /// U+2581.
    Mark,
}

/// The symbols of all units of text.
#[derive(Debug)]
pub(super) struct UnitSymbols {
    pub(super) kind: Symbols,
    /// The symbols of the ASCII characters and then of U+2581, which is in most words of SentencePiece's normalized
    /// texts.
    frequent_chars: [Symbol; FREQUENT_CHAR_COUNT],
    /// The symbols of single bytes, for symbols that are bytes and for byte fallback.
    bytes: [Symbol; 256],
    chars: CharSymbols,
}

/// The symbols of units, while new units can still be numbered.
#[derive(Debug)]
pub(super) struct UnitNumbering {
    pub(super) kind: Symbols,
    bytes: [Symbol; 256],
    /// The symbols of the ASCII characters, which are looked up most often.
    ascii: [Symbol; 128],
    /// The symbols of the other characters, by `unit_key`.
    chars: HashMap<u64, Symbol>,
    /// The number of the next unit that is not a row.
    next_number: u32,
}

/// Symbols of characters, by `unit_key`.
#[derive(Debug)]
struct CharSymbols {
    slots: Slots,
    entries: Table<UnitEntry>,
    seed: u64,
}

/// A character and its symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
struct UnitEntry {
    len: u32,
    bytes: u32,
    symbol: Symbol,
}

impl UnitNumbering {
    /// Collects the symbols that are rows.
    pub(super) fn new(vocab: &Vocab, dictionary: &Dictionary, kind: Symbols) -> UnitNumbering {
        let byte_symbol = |byte: u8| match kind {
            Symbols::Bytes => dictionary.reachable_rows.find(vocab, &[byte]).map(Symbol::row),
            Symbols::Groups => vocab.row(TokenId(byte as u32 + 3)).map(Symbol::row),
            Symbols::Chars | Symbols::Scalars => None,
        };
        let bytes = std::array::from_fn(|byte| byte_symbol(byte as u8).unwrap_or(Symbol::INERT));
        let (ascii, chars) = ([Symbol::INERT; 128], HashMap::new());
        let mut numbering = UnitNumbering { kind, bytes, ascii, chars, next_number: vocab.len() as u32 };
        if kind == Symbols::Bytes {
            return numbering;
        }
        for row in vocab.rows().filter(|&row| dictionary.reaches(vocab, row)) {
            let piece = vocab.bytes(row);
            if let (1..=4, Some(row)) = (piece.len(), dictionary.reachable_rows.find(vocab, piece)) {
                numbering.add(piece, Symbol::row(row));
            }
        }
        numbering
    }

    /// Returns the symbol of a unit. A unit without a symbol gets the next number.
    pub(super) fn symbol(&mut self, unit: &[u8]) -> Symbol {
        let symbol = self.add(unit, Symbol::new(self.next_number));
        self.next_number += (symbol.number() == self.next_number) as u32;
        symbol
    }

    /// Replaces `symbols` with the symbols of a text. Units without a symbol get the next free numbers.
    pub(super) fn number_units(&mut self, text: &[u8], symbols: &mut Vec<PlacedSymbol>) {
        symbols.clear();
        let mut at = 0;
        while at < text.len() {
            let len = if self.kind == Symbols::Bytes { 1 } else { utf8::char_len(&text[at..]) };
            symbols.checked_push(PlacedSymbol::new(self.symbol(&text[at..at + len]), at));
            at += len;
        }
    }

    /// Reports whether this text is one initial symbol.
    pub(super) fn is_unit(&self, text: &[u8]) -> bool {
        let len = if self.kind == Symbols::Bytes { 1 } else { utf8::char_len(text) };
        text.len() == len
    }

    fn add(&mut self, unit: &[u8], symbol: Symbol) -> Symbol {
        let unit_symbol = match unit {
            _ if self.kind == Symbols::Bytes => &mut self.bytes[unit[0] as usize],
            &[byte @ 0..128] => &mut self.ascii[byte as usize],
            _ => {
                self.chars.reserve_entry();
                return *self.chars.entry(unit_key(unit)).or_insert(symbol);
            }
        };
        if *unit_symbol == Symbol::INERT {
            *unit_symbol = symbol;
        }
        *unit_symbol
    }

    /// Returns the finished table.
    pub(super) fn finish(mut self) -> Result<UnitSymbols> {
        let ascii = (0u8..).zip(self.ascii).filter(|&(_, symbol)| symbol != Symbol::INERT);
        self.chars.extend(ascii.map(|(byte, symbol)| (unit_key(&[byte]), symbol)));
        let symbol_of = |unit: &[u8]| self.chars.get(&unit_key(unit)).copied().unwrap_or(Symbol::INERT);
        let frequent_chars = |at| if at == MARK_INDEX { symbol_of(MARK_BYTES) } else { symbol_of(&[at as u8]) };
        let frequent_chars = std::array::from_fn(frequent_chars);
        Ok(UnitSymbols { kind: self.kind, frequent_chars, bytes: self.bytes, chars: CharSymbols::build(self.chars)? })
    }
}

impl UnitEntry {
    #[inline]
    fn key(&self) -> u64 {
        pack_unit_key(self.len, self.bytes)
    }
}

impl CharSymbols {
    fn build(symbols: HashMap<u64, Symbol>) -> Result<CharSymbols> {
        let new_entry = |(key, symbol): (u64, Symbol)| UnitEntry { len: (key >> 32) as u32, bytes: key as u32, symbol };
        let mut entries: Vec<UnitEntry> = symbols.into_iter().map(new_entry).checked_collect();
        entries.sort_unstable(); // the same symbols make the same table
        let seed = hash_bytes(bytemuck::cast_slice(&entries), 0);
        let key = |index: u32| entries[index as usize].key();
        let hash = |index| hash_number(key(index), seed);
        let indexes = 0..entries.len() as u32;
        let slots = Slots::build(indexes, entries.len(), hash, false, |left, right| key(left) == key(right))?;
        Ok(CharSymbols { slots, entries: entries.into(), seed })
    }

    #[inline]
    fn get(&self, key: u64) -> Option<Symbol> {
        let has_key = |index: u32| self.entries.get(index as usize).is_some_and(|new_entry| new_entry.key() == key);
        let index = self.slots.find(hash_number(key, self.seed), has_key)?;
        self.entries.get(index as usize).map(|new_entry| new_entry.symbol)
    }
}

impl UnitSymbols {
    /// Reports whether this is the symbol of a single byte.
    pub(super) fn is_byte(&self, symbol: Symbol) -> bool {
        self.bytes.contains(&symbol)
    }

    /// Returns the symbol of U+2581.
    pub(super) fn mark_symbol(&self) -> Symbol {
        self.frequent_chars[MARK_INDEX]
    }

    /// Returns the symbols of the frequent units, by index: all bytes, or ASCII and U+2581 if symbols are characters.
    pub(super) fn frequent_symbols(&self) -> &[Symbol] {
        if self.kind == Symbols::Bytes { &self.bytes } else { &self.frequent_chars }
    }

    /// Returns the symbols of bytes.
    #[inline]
    pub(super) fn byte_symbols(&self) -> &[Symbol; 256] {
        &self.bytes
    }

    /// Looks up the first character of a text. Returns its symbol, its index in `frequent_symbols` (None if the
    /// character is not frequent), and its length.
    #[inline]
    pub(super) fn char(&self, text: &[u8], space: Space) -> (Symbol, Option<usize>, usize) {
        match *text {
            [byte @ 0..128, ..] => {
                let index = frequent_index(byte, space);
                (self.frequent_chars[index], Some(index), 1)
            }
            [0xE2, 0x96, 0x81, ..] => (self.frequent_chars[MARK_INDEX], Some(MARK_INDEX), 3),
            _ => {
                let len = utf8::char_len(text);
                (self.chars.get(unit_key(&text[..len])).unwrap_or(Symbol::INERT), None, len)
            }
        }
    }

    /// Returns the first initial symbol of a text and its length in bytes. The kind of the symbols must not be groups,
    /// and the text must not be empty.
    pub(super) fn first(&self, text: &[u8]) -> (Symbol, usize) {
        if self.kind == Symbols::Bytes {
            return (self.bytes[text[0] as usize], 1);
        }
        let (symbol, _, len) = self.char(text, Space::Space);
        (symbol, len)
    }

    /// Appends the initial symbols of a text that starts at byte `offset` of the piece.
    #[inline]
    pub(super) fn push(&self, text: &[u8], offset: usize, symbols: &mut Vec<PlacedSymbol>) {
        match self.kind {
            Symbols::Groups => self.push_groups(text, offset, symbols),
            _ => _ = self.push_up_to(text, offset, usize::MAX, symbols),
        }
    }

    /// Appends at most `max_symbols` initial symbols of a text, and returns the end of these symbols in the text. The
    /// kind of the symbols must not be groups.
    pub(super) fn push_up_to(
        &self,
        text: &[u8],
        offset: usize,
        max_symbols: usize,
        symbols: &mut Vec<PlacedSymbol>,
    ) -> usize {
        if self.kind == Symbols::Bytes {
            let text = &text[..text.len().min(max_symbols)];
            let bytes = text.iter().enumerate();
            symbols.checked_extend(bytes.map(|(i, &byte)| PlacedSymbol::new(self.bytes[byte as usize], offset + i)));
            return text.len();
        }
        let mut at = 0;
        for _ in 0..max_symbols {
            if at == text.len() {
                break;
            }
            let (symbol, _, len) = self.char(&text[at..], Space::Space);
            symbols.checked_push(PlacedSymbol::new(symbol, offset + at));
            at += len;
        }
        at
    }

    #[inline]
    fn group_symbol(&self, unit: &[u8]) -> Symbol {
        match unit {
            &[byte @ 0..128] => self.frequent_chars[byte as usize],
            _ => self.chars.get(unit_key(unit)).unwrap_or(Symbol::INERT),
        }
    }

    /// Appends the symbols of llama2.c's groups: a byte and the continuation bytes after it, at most four bytes in all.
    /// A group that is not an entry is written as the symbols of its bytes.
    fn push_groups(&self, text: &[u8], offset: usize, symbols: &mut Vec<PlacedSymbol>) {
        let mut at = 0;
        while at < text.len() {
            let next_bytes = &text[at + 1..text.len().min(at + 4)];
            let len = 1 + next_bytes.iter().take_while(|&&byte| byte & 0xC0 == 0x80).count();
            match self.group_symbol(&text[at..at + len]) {
                Symbol::INERT => {
                    let bytes = text[at..at + len].iter().zip(at..);
                    symbols.checked_extend(
                        bytes.map(|(&byte, i)| PlacedSymbol::new(self.bytes[byte as usize], offset + i)),
                    );
                }
                symbol => symbols.checked_push(PlacedSymbol::new(symbol, offset + at)),
            }
            at += len;
        }
    }
}

impl Stored for UnitSymbols {
    fn write(&self, out: &mut PartWriter) {
        out.table("kind", &[self.kind as u32]);
        out.table("ascii", &self.frequent_chars);
        out.table("bytes", &self.bytes);
        out.table("entries", &self.chars.entries);
        out.table("seed", &[self.chars.seed]);
        self.chars.slots.write(out);
    }

    /// Reads the table of a file. The symbols are not checked, because merging and emitting accept any number as a
    /// symbol.
    fn read(part: &FilePart) -> Result<UnitSymbols> {
        let kinds = [Symbols::Bytes, Symbols::Chars, Symbols::Groups, Symbols::Scalars];
        let kind_number: u32 = part.number("kind")?;
        let kind = kinds.into_iter().find(|&kind| kind as u32 == kind_number);
        let (frequent_chars, bytes): (Table<Symbol>, Table<Symbol>) = (part.table("ascii")?, part.table("bytes")?);
        let chars =
            CharSymbols { slots: Slots::read(part)?, entries: part.table("entries")?, seed: part.number("seed")? };
        match (kind, <[Symbol; FREQUENT_CHAR_COUNT]>::try_from(&*frequent_chars), <[Symbol; 256]>::try_from(&*bytes)) {
            (Some(kind), Ok(frequent_chars), Ok(bytes)) => Ok(UnitSymbols { kind, frequent_chars, bytes, chars }),
            _ => Err(part.section_error("kind", "do not match the neighbouring sections")),
        }
    }
}

/// Returns the index of an ASCII character in the table of frequent characters.
#[inline(always)]
pub(super) fn frequent_index(byte: u8, space: Space) -> usize {
    if byte == b' ' && space == Space::Mark { MARK_INDEX } else { byte as usize }
}

/// Packs the bytes and the length of a unit into one number. The length distinguishes a unit that ends with a NUL byte
/// from a shorter unit.
#[inline]
fn unit_key(unit: &[u8]) -> u64 {
    let mut bytes = [0; 4];
    bytes[..unit.len()].copy_from_slice(unit);
    pack_unit_key(unit.len() as u32, u32::from_le_bytes(bytes))
}

#[inline]
fn pack_unit_key(len: u32, bytes: u32) -> u64 {
    (len as u64) << 32 | bytes as u64
}
