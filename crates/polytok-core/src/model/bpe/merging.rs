//! The tables of BPE: the initial symbols of a text, and the pairs of symbols that merge.
//!
//! If merges are ordered by id or score, every pair whose concatenation is an entry can merge. So an entry has one pair
//! for each way to split the entry into two symbols. When text is encoded, only one of these pairs is ever merged to
//! the entry. This pair is the derivation of the entry (see convert/derivation.rs). So the table for encoding has only
//! derivations (see derived.rs). Dropout and splitting rows of kind Unused need all pairs, because they can merge pairs
//! that encoding never merges.

use hashbrown::HashMap;
use polytok_memory::{self as memory, Collect, Grow, GrowMap};

use super::derived::PairDerivation;
use super::merge::Watch;
use super::pairs::{NO_VALUE, Pair, Pairs};
use super::short::{self, ShortPiece};
use super::symbol::{Rank, Symbol};
use super::units::{Space, UnitNumbering, UnitSymbols, frequent_index};
use crate::error::{Error, Result};
use crate::hash::hash_bytes;
use crate::native::{FilePart, PartWriter, Stored};
use crate::spec::{Priority, Symbols};
use crate::table::Table;
use crate::token_id::TokenId;
use crate::utf8;
use crate::vocab::dictionary::Dictionary;
use crate::vocab::{Row, Vocab};

/// llama2.c merges a pair only if the score of the merged entry is higher than this score.
const LLAMA2C_MIN_SCORE: f32 = -1e10;

/// The tables of symbols and pairs.
#[derive(Debug)]
pub(super) struct Merging {
    pub(super) units: UnitSymbols,
    pub(super) pairs: Pairs,
    /// The values of all pairs of frequent units. Most initial pairs of a text are such pairs. The frequent units are
    /// all bytes, or ASCII and U+2581 if symbols are characters.
    frequent_pair_values: Table<u32>,
    /// True if the tables have only the pairs that encoding needs.
    pub(super) is_pruned: bool,
    /// The rows that have pairs, although their own texts can merge to several symbols, in ascending order.
    late_rows: Table<Row>,
}

/// The data from which the tables are built.
pub(super) struct MergingSource<'a> {
    pub(super) vocab: &'a Vocab,
    pub(super) dictionary: &'a Dictionary,
    pub(super) priority: &'a Priority,
    pub(super) symbols: Symbols,
    /// The prefix that is removed from the right half of a listed pair.
    pub(super) prefix: &'a [u8],
}

impl MergingSource<'_> {
    /// Builds the tables that encoding needs.
    pub(super) fn build(&self) -> Result<Merging> {
        if matches!(self.priority, Priority::Merges(_)) {
            return self.build_all();
        }
        // In llama2.c, a space that the normalizer inserts has no continuation bytes, while a space inside of an entry
        // can have some, and byte pieces can encode other text than their own.
        if self.symbols != Symbols::Groups {
            let mut derivation = PairDerivation::start(self);
            derivation.advance(self, usize::MAX)?;
            return derivation.finish();
        }
        self.build_all()
    }

    /// Builds the tables with all pairs; several pairs can merge to the same entry.
    pub(super) fn build_all(&self) -> Result<Merging> {
        let &MergingSource { vocab, dictionary, priority, symbols, prefix } = self;
        let mut units = UnitNumbering::new(vocab, dictionary, symbols);
        let pairs = match priority {
            Priority::Merges(merges) => listed_pairs(vocab, merges, prefix)?,
            _ => pairs_by_splitting(self, &mut units),
        };
        Ok(Merging::new(units.finish()?, Pairs::build(pairs, self.seed())?))
    }

    /// Returns the rank of each row.
    pub(super) fn ranks(&self) -> Vec<Rank> {
        match self.priority {
            Priority::Score => ranks_by_score(self.vocab, self.symbols),
            _ => ranks_by_id(self.vocab),
        }
    }

    /// Returns the seed of the hash tables: a hash of their contents.
    pub(super) fn seed(&self) -> u64 {
        let seed = hash_bytes(self.vocab.blob(), self.vocab.len() as u64);
        match self.priority {
            Priority::Merges(merges) => hash_bytes(bytemuck::cast_slice(merges), seed),
            _ => seed,
        }
    }
}

impl Merging {
    /// Returns tables that have only the pairs that encoding needs. `late_rows` must be in ascending order.
    pub(super) fn from_derived(units: UnitSymbols, pairs: Pairs, late_rows: Vec<Row>) -> Merging {
        Merging { is_pruned: true, late_rows: late_rows.into(), ..Merging::new(units, pairs) }
    }

    fn new(units: UnitSymbols, pairs: Pairs) -> Merging {
        let frequent_symbols = units.frequent_symbols();
        let frequent_count = frequent_symbols.len();
        let mut frequent_pair_values = memory::filled(NO_VALUE, frequent_count * frequent_count);
        // Several units can have the same symbol, such as INERT; then the values are written for all of these units.
        let mut indexes_of_symbol: HashMap<Symbol, Vec<usize>> = HashMap::new();
        frequent_symbols.iter().enumerate().for_each(|(index, &symbol)| {
            indexes_of_symbol.reserve_entry();
            indexes_of_symbol.entry(symbol).or_default().checked_push(index);
        });
        for pair in pairs.list() {
            let Some(lefts) = indexes_of_symbol.get(&pair.left) else { continue };
            let Some(rights) = indexes_of_symbol.get(&pair.right) else { continue };
            for (left, right) in lefts.iter().flat_map(|left| rights.iter().map(move |right| (left, right))) {
                frequent_pair_values[left * frequent_count + right] = pairs.value(pair.left, pair.right);
            }
        }
        Merging {
            units,
            pairs,
            frequent_pair_values: frequent_pair_values.into(),
            is_pruned: false,
            late_rows: Vec::new().into(),
        }
    }

    /// Writes the first symbols of a text to a run, until the run is full, and returns the end of these symbols in the
    /// text. The text starts at byte `offset` of the piece.
    #[inline]
    pub(super) fn start(&self, text: &[u8], offset: usize, short_piece: &mut ShortPiece) -> usize {
        match self.units.kind {
            Symbols::Bytes => self.start_bytes(text, offset, short_piece),
            _ => self.start_chars(text, offset, Space::Space, short_piece),
        }
    }

    #[inline]
    fn start_bytes(&self, text: &[u8], offset: usize, short_piece: &mut ShortPiece) -> usize {
        short_piece.clear();
        let text = &text[..text.len().min(short::MAX_SYMBOLS)];
        let symbols = self.units.byte_symbols();
        let mut last_byte = 0;
        for (at, &byte) in text.iter().enumerate() {
            let index = (last_byte as usize) << 8 | byte as usize;
            let value = self.frequent_pair_values.get(index).copied().unwrap_or(NO_VALUE);
            short_piece.push(symbols[byte as usize], offset + at, self.pairs.rank_and_merged(value));
            last_byte = byte;
        }
        text.len()
    }

    /// Does the work of `start` for symbols that are characters; `space` is the character that replaces a space for
    /// merging.
    #[inline]
    pub(super) fn start_chars(&self, text: &[u8], offset: usize, space: Space, short_piece: &mut ShortPiece) -> usize {
        let frequent_count = self.units.frequent_symbols().len();
        let (mut at, mut last_char) = self.start_ascii(text, offset, space, short_piece);
        while at < text.len() && short_piece.len() < short::MAX_SYMBOLS {
            let (symbol, index, len) = self.units.char(&text[at..], space);
            let rank_and_merged = match (last_char.1, index) {
                (Some(left), Some(right)) => {
                    let at = left * frequent_count + right;
                    self.pairs.rank_and_merged(self.frequent_pair_values.get(at).copied().unwrap_or(NO_VALUE))
                }
                _ => self.pairs.get(last_char.0, symbol),
            };
            short_piece.push(symbol, offset + at, rank_and_merged);
            last_char = (symbol, index);
            at += len;
        }
        at
    }

    /// Writes the symbols of the ASCII characters at the start of a text, whose symbols are characters. Returns the
    /// length of these characters, and the last symbol with its index in `frequent_symbols`.
    #[inline(always)]
    fn start_ascii(
        &self,
        text: &[u8],
        offset: usize,
        space: Space,
        short_piece: &mut ShortPiece,
    ) -> (usize, (Symbol, Option<usize>)) {
        short_piece.clear();
        let symbols = self.units.frequent_symbols();
        // The first symbol has no left neighbour; merging ignores the pair that it ends.
        let (mut len, mut last_char, mut left) = (0, (Symbol::INERT, None), 0);
        for &byte in text.iter().take(short::MAX_SYMBOLS).take_while(|byte| byte.is_ascii()) {
            let index = frequent_index(byte, space);
            let value = self.frequent_pair_values.get(left * symbols.len() + index).copied().unwrap_or(NO_VALUE);
            short_piece.push(symbols[index], offset + len, self.pairs.rank_and_merged(value));
            last_char = (symbols[index], Some(index));
            left = index;
            len += 1;
        }
        (len, last_char)
    }

    /// Returns the rows that merging their own text makes, without initial symbols and with the last row first; None if
    /// these rows are not known.
    pub(super) fn own_rows(&self) -> Option<impl Iterator<Item = Row>> {
        let rows = self.pairs.list().iter().rev().map(|pair| Row(pair.merged.number()));
        self.is_pruned.then(|| rows.filter(|row| self.late_rows.binary_search(row).is_err()))
    }

    /// Returns a bit for each of `row_count` rows; the bit is set if `own_rows` returns the row.
    pub(super) fn own_row_bits(&self, row_count: usize) -> Option<Vec<u64>> {
        let mut bits = memory::zeroed::<u64>(row_count.div_ceil(64));
        // The table of a damaged file can contain any number instead of a row.
        let is_row = |row: &usize| *row < row_count;
        let merged_rows = self.pairs.list().iter().map(|pair| pair.merged.number() as usize);
        merged_rows.filter(is_row).for_each(|row| bits[row / 64] |= 1 << (row % 64));
        self.late_rows
            .iter()
            .map(|row| row.index())
            .filter(is_row)
            .for_each(|row| bits[row / 64] &= !(1 << (row % 64)));
        self.is_pruned.then_some(bits)
    }

    /// Reports whether symbols of single bytes merge (llama2.c merges them by the texts of their pieces).
    pub(super) fn merges_bytes(&self) -> bool {
        self.pairs.list().iter().any(|pair| self.units.is_byte(pair.left) || self.units.is_byte(pair.right))
    }
}

impl Stored for Merging {
    fn write(&self, out: &mut PartWriter) {
        self.units.write(&mut out.part("units"));
        self.pairs.write(&mut out.part("pairs"));
        out.table("first", &self.frequent_pair_values);
        out.table("is_pruned", &[self.is_pruned as u32]);
        out.table("late", &self.late_rows);
    }

    fn read(part: &FilePart) -> Result<Merging> {
        Ok(Merging {
            units: UnitSymbols::read(&part.part("units"))?,
            pairs: Pairs::read(&part.part("pairs"))?,
            frequent_pair_values: part.table("first")?,
            is_pruned: part.number::<u32>("is_pruned")? != 0,
            late_rows: part.table("late")?,
        })
    }
}

/// A watcher that records the pair that was merged last.
pub(super) struct LastMergeRecorder(pub(super) Option<(Symbol, Symbol)>);

impl Watch for LastMergeRecorder {
    fn merged(&mut self, left: Symbol, right: Symbol) {
        self.0 = Some((left, right));
    }
}

/// Returns the listed pairs. The prefix of continuations is removed from the right half of a pair (Hugging Face).
fn listed_pairs(vocab: &Vocab, merges: &[[u32; 3]], prefix: &[u8]) -> Result<Vec<Pair>> {
    let row_symbol = |id: u32, at: usize| match vocab.row(TokenId(id)) {
        Some(row_symbol) => Ok(Symbol::row(row_symbol)),
        None => Err(Error::Spec(format!("model.merges: merge {at} names id {id}, which the vocabulary does not have"))),
    };
    let mut entries = memory::with_capacity(merges.len());
    for (at, &[left, right, merged]) in merges.iter().enumerate() {
        let pair = Pair {
            left: row_symbol(left, at)?,
            right: row_symbol(right, at)?,
            rank: Rank(at as u32),
            merged: row_symbol(merged, at)?,
        };
        let bytes = |symbol: Symbol| vocab.bytes(Row(symbol.number()));
        let right_text = bytes(pair.right).get(prefix.len()..);
        if right_text.is_none_or(|right| bytes(pair.merged).strip_prefix(bytes(pair.left)) != Some(right)) {
            return Err(Error::Spec(format!(
                "model.merges: merge {at} makes id {merged}, whose bytes are not those of ids {left} and {right} together"
            )));
        }
        entries.checked_push(pair);
    }
    Ok(entries)
}

/// Returns every pair of symbols whose concatenation is a reachable row.
fn pairs_by_splitting(source: &MergingSource, units: &mut UnitNumbering) -> Vec<Pair> {
    let &MergingSource { vocab, dictionary, .. } = source;
    let splitter = RowSplitter::new(source);
    let mut pairs = memory::with_capacity(2 * vocab.len());
    for (row, rank) in vocab.rows().zip(source.ranks()) {
        let piece = vocab.bytes(row);
        let is_first_row = || dictionary.reachable_rows.find(vocab, piece) == Some(row);
        if rank != Rank::NONE && piece.len() > 1 && dictionary.reaches(vocab, row) && is_first_row() {
            splitter.push(source, row, rank, units, &mut pairs);
        }
    }
    pairs
}

/// Splits rows into two symbols.
#[derive(Debug)]
pub(super) struct RowSplitter {
    /// For each length in bytes, true if a half can have this length, which is the length of a reachable row or of a
    /// character. This limits the splits that are tried for a huge entry.
    is_half_len: Vec<bool>,
    /// True if a reachable row starts or ends inside of a character. If false, no half starts or ends inside of a
    /// character.
    splits_chars: bool,
}

impl RowSplitter {
    /// Returns a splitter of the rows that text can reach.
    pub(super) fn new(source: &MergingSource) -> RowSplitter {
        let &MergingSource { vocab, dictionary, .. } = source;
        let rows = || vocab.rows().filter(|&row| dictionary.reaches(vocab, row));
        let mut is_half_len = memory::filled(false, vocab.max_entry_len().max(4) + 1);
        is_half_len[1..=4].fill(true);
        rows().for_each(|row| is_half_len[vocab.bytes(row).len()] = true);
        let is_utf8 = |row: Row| std::str::from_utf8(vocab.bytes(row)).is_ok();
        let splits_chars = source.symbols == Symbols::Bytes || !rows().all(is_utf8);
        RowSplitter { is_half_len, splits_chars }
    }

    /// Adds every pair of symbols whose concatenation is a row. A half that is a character but not a row gets a symbol.
    pub(super) fn push(
        &self,
        source: &MergingSource,
        row: Row,
        rank: Rank,
        units: &mut UnitNumbering,
        pairs: &mut Vec<Pair>,
    ) {
        let piece = source.vocab.bytes(row);
        for split_at in 1..piece.len() {
            let has_half_lengths = self.is_half_len[split_at] && self.is_half_len[piece.len() - split_at];
            if !has_half_lengths || (!self.splits_chars && is_continuation(piece[split_at])) {
                continue;
            }
            let (left, right) = piece.split_at(split_at);
            let Some(left) = source.half_symbol(left, false, units) else { continue };
            let Some(right) = source.half_symbol(right, true, units) else { continue };
            pairs.checked_push(Pair { left, right, rank, merged: Symbol::row(row) });
        }
    }
}

impl MergingSource<'_> {
    /// Returns the symbol of a half: a row, or a character that is not a row. A character can be incomplete only at the
    /// end of a text, so only in the right half.
    fn half_symbol(&self, bytes: &[u8], is_at_end: bool, units: &mut UnitNumbering) -> Option<Symbol> {
        if let Some(row) = self.dictionary.reachable_rows.find(self.vocab, bytes) {
            return Some(Symbol::row(row));
        }
        let lead_len = match units.kind {
            Symbols::Bytes => 1,
            Symbols::Chars | Symbols::Scalars => utf8::lead_len(bytes[0]),
            Symbols::Groups => return None,
        };
        if bytes.len() > lead_len || (bytes.len() < lead_len && !is_at_end) {
            return None;
        }
        Some(units.symbol(bytes))
    }
}

#[inline]
fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

fn ranks_by_id(vocab: &Vocab) -> Vec<Rank> {
    vocab.rows().map(|row| Rank(vocab.id(row).0)).checked_collect()
}

/// Converts scores to ranks: the highest score gets the lowest rank. Equal scores have equal ranks, so the leftmost of
/// equal pairs merges.
fn ranks_by_score(vocab: &Vocab, symbols: Symbols) -> Vec<Rank> {
    let mut rows: Vec<Row> = vocab.rows().checked_collect();
    memory::sort_stably(&mut rows, |&a, &b| (vocab.score(b) + 0.0).total_cmp(&(vocab.score(a) + 0.0)));
    let mut ranks = memory::filled(Rank::NONE, vocab.len());
    let mut rank = 0;
    for (i, &row) in rows.iter().enumerate() {
        if i > 0 && vocab.score(rows[i - 1]) != vocab.score(row) {
            rank += 1;
        }
        let can_merge = symbols != Symbols::Groups || vocab.score(row) > LLAMA2C_MIN_SCORE;
        if can_merge {
            ranks[row.index()] = Rank(rank);
        }
    }
    ranks
}
