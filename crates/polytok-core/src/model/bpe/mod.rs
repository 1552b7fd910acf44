//! Byte-pair encoding for all families of vocabularies: the initial symbols, the pairs that merge, and the ids of the
//! final symbols.
//!
//! A symbol is the number of a vocabulary row. SentencePiece also merges characters that are not entries but occur
//! inside of entries. Their numbers follow the numbers of the rows. The three kinds of priority differ only in the
//! table of pairs that is built when the model is compiled. Either the pairs are listed (minbpe, Hugging Face), or the
//! table has the pairs that merge to each entry, ordered by the id (tiktoken) or by the score (SentencePiece, llama2.c)
//! of the entry. Twin: python/polytok/reference/bpe.py.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use by_text::{ByText, bytes_before_table, rows_per_step};
use derived::PairDerivation;
use hashbrown::HashMap;
use merge::{MergeScratch, NoWatcher, PlacedSymbol, merge};
use merging::{Merging, MergingSource};
use polytok_memory::{Grow, GrowMap};
use scalars::Scalars;
use windows::merge_text;

use crate::error::{Error, Result};
use crate::lazy::{Lazy, Step, SteppedWarmup};
use crate::model::OwnEntries;
use crate::model::whole::control_symbol_error;
use crate::native::Tables;
use crate::normalize::user_defined;
use crate::rng::Rng;
use crate::segment::Segment;
use crate::spec::{Kind, Priority, Symbols};
use crate::token_id::TokenId;
use crate::trie::Trie;
use crate::vocab::dictionary::{Dictionary, SymbolOutput};
use crate::vocab::{Row, Vocab};

mod broken;
mod by_text;
mod derive;
mod derived;
mod encode_short;
pub mod merge;
pub(crate) mod merging;
mod pair_filter;
mod pair_values;
pub mod pairs;
mod raw;
mod rules;
mod runs;
mod scalars;
mod short;
pub(crate) mod symbol;
#[cfg(test)]
mod tests;
pub(crate) mod units;
mod watcher;
mod windows;

use broken::ByteBoundaries;
pub use derive::RowDerivation;
use encode_short::SplitEntries;
pub use rules::BpeRules;
use symbol::{Symbol, SymbolKind};
use watcher::{Halves, SplitsOfSymbols, Watcher};

/// A compiled BPE model.
pub struct Bpe {
    vocab: Arc<Vocab>,
    dictionary: Dictionary,
    symbols: Symbols,
    /// The tables of symbols and pairs. Until the tables are built, or if building fails, pairs are looked up by their
    /// texts.
    merging: SteppedWarmup<Merging, PairDerivation>,
    /// The length of the longest entry.
    max_entry_len: usize,
    /// Hugging Face's initial symbols.
    scalars: Option<Scalars>,
    /// The tables with all pairs, if `merging` has only the pairs that encoding needs; built at the first dropout.
    all_pairs: Lazy<Option<Merging>>,
    priority: Priority,
    /// The outputs of the rows whose output is not their own id.
    exceptions: HashMap<Row, SymbolOutput>,
    whole_piece_first: bool,
    /// A map from user-defined pieces, which are matched before merging (SentencePiece), to their ids.
    user_defined: Option<Arc<Trie>>,
    /// True if merging can result in rows of kind Unused, which are then split again.
    splits_unused: bool,
    /// True if the normalizer inserts a space before every text; this space is a symbol without continuation bytes
    /// (llama2.c).
    has_prefix: bool,
    /// The result of `Merging::own_row_bits`, built when a piece first needs it.
    own_row_bits: Lazy<Option<Vec<u64>>>,
    /// The entries that merging can split; built when a piece first needs it.
    split_entries: Lazy<SplitEntries>,
    /// The boundaries between bytes that are not UTF-8; built when a text has such bytes.
    byte_boundaries: Lazy<ByteBoundaries>,
    /// See `can_split_at_boundaries`.
    can_split_at_boundaries: bool,
}

/// The buffers of a merge run, which are reused by later runs.
#[derive(Debug, Default)]
pub struct BpeScratch {
    symbols: Vec<PlacedSymbol>,
    merge: MergeScratch,
    normalized: Vec<u8>,
}

impl BpeScratch {
    /// Frees buffers of more than `kept` symbols.
    pub fn release(&mut self, max_kept: usize) {
        if self.symbols.capacity() > max_kept {
            self.symbols = Vec::new();
        }
    }
}

impl Bpe {
    /// Builds the tables, or takes them from a file.
    pub fn compile(
        vocab: Arc<Vocab>,
        priority: &Priority,
        rules: &BpeRules,
        user_defined: Option<Arc<Trie>>,
        tables: &mut Tables,
    ) -> Result<Bpe> {
        let &BpeRules { symbols, whole_piece_first, reach, has_prefix, .. } = rules;
        if user_defined.is_some() && vocab.size() > Symbol::USER_DEFINED {
            let id_limit = Symbol::USER_DEFINED;
            return Err(Error::Spec(format!(
                "vocab: a vocabulary with user-defined pieces must have ids below {id_limit}"
            )));
        }
        let dictionary = Dictionary::new(&vocab, reach, tables)?;
        let exceptions = exceptions(&vocab, &dictionary);
        let splits_unused = exceptions.values().any(|emit| matches!(emit, SymbolOutput::Unused(_)));
        let prefix = rules.scalars.continuing_prefix.as_bytes();
        let source = MergingSource { vocab: &vocab, dictionary: &dictionary, priority, symbols, prefix };
        let max_entry_len = vocab.max_entry_len();
        let bytes_before_table = bytes_before_table(&source, max_entry_len);
        // Splitting Unused rows again needs all pairs. Their merged symbols must be checked, so the pairs are not read
        // from a file.
        let merging = match splits_unused {
            _ if bytes_before_table > 0 && (splits_unused || !tables.are_stored()) => {
                SteppedWarmup::after_bytes(bytes_before_table)
            }
            true => source.build_all()?.into(),
            false => tables.get("bpe", || source.build())?.into(),
        };
        // llama2.c's byte pieces are initial symbols and merge by their texts, which are not the bytes that they
        // encode.
        let merges_byte_pieces = symbols == Symbols::Groups && merging.peek().is_some_and(Merging::merges_bytes);
        let scalars = match symbols {
            Symbols::Scalars => Some(Scalars::compile(&vocab, &rules.scalars, rules.unknown)?),
            _ => None,
        };
        // Without boundaries: an Unused row is split again into the last candidate for the row in the whole text.
        let can_split_symbols =
            |scalars: &Scalars| merging.peek().is_some_and(|merging| scalars.can_split_at_boundaries(&merging.pairs));
        let can_split_at_boundaries =
            !splits_unused && !merges_byte_pieces && scalars.as_ref().is_none_or(can_split_symbols);
        Ok(Bpe {
            can_split_at_boundaries,
            vocab,
            dictionary,
            symbols,
            scalars,
            merging,
            max_entry_len,
            all_pairs: Lazy::default(),
            exceptions,
            whole_piece_first,
            user_defined,
            splits_unused,
            has_prefix,
            own_row_bits: Lazy::default(),
            split_entries: Lazy::default(),
            byte_boundaries: Lazy::default(),
            priority: match priority {
                Priority::Merges(_) => Priority::Merges(Vec::new()), // never pruned
                other => other.clone(),
            },
        })
    }

    /// Builds the tables that encoding would otherwise build later.
    pub fn warm_up(&self) {
        let Some(merging) = self.merging.build_now(|| self.build_merging()) else { return };
        self.own_row_bits(merging);
        if self.is_of_bytes() && self.whole_piece_first {
            self.split_entries(merging);
        }
        if self.splits_broken_pieces() {
            self.byte_boundaries(merging);
        }
    }

    /// Reports whether every token covers exactly the bytes of its entry.
    pub fn covers_own_bytes(&self) -> bool {
        matches!(self.symbols, Symbols::Bytes | Symbols::Chars)
            || self.is_of_scalars() && self.can_split_at_boundaries()
    }

    /// Returns the length of the suffix of the last token of a piece, if every token covers the bytes of its entry
    /// without this suffix. If a character has no symbol, the tokens cover fewer bytes than the piece has.
    pub fn covered_suffix_len(&self) -> Option<usize> {
        let is_plain = !self.whole_piece_first && !self.splits_unused && self.user_defined.is_none();
        self.scalars.as_ref().filter(|_| is_plain)?.covered_suffix_len()
    }

    /// Returns the text that is written before every character of a piece except the first, and after the last.
    pub fn affixes(&self) -> [&[u8]; 2] {
        self.scalars.as_ref().map_or([&[], &[]], Scalars::affixes)
    }

    /// Reports whether the initial symbols are Hugging Face's characters.
    pub fn is_of_scalars(&self) -> bool {
        self.scalars.is_some()
    }

    /// Returns the ids of the 256 bytes for models of Hugging Face that encode characters without an entry as bytes.
    /// Returns None for other models, and if a byte has no id.
    pub fn byte_ids(&self) -> Option<Box<[TokenId; 256]>> {
        let rows = self.scalars.as_ref()?.byte_rows()?;
        Some(Box::new(rows.map(|row| self.vocab.id(row))))
    }

    /// Reports whether the vocabulary has user-defined pieces, which are matched before merging.
    pub fn has_user_defined(&self) -> bool {
        self.user_defined.is_some()
    }

    /// Reports whether the initial symbols are bytes, so that any bytes can be encoded.
    pub fn is_of_bytes(&self) -> bool {
        self.symbols == Symbols::Bytes
    }

    /// Returns the kind of the initial symbols.
    pub fn symbols(&self) -> Symbols {
        self.symbols
    }

    /// Reports whether a piece that is an entry is encoded without merging.
    #[inline]
    pub fn encodes_entries_whole(&self) -> bool {
        self.whole_piece_first
    }

    /// Reports whether pieces can be split at boundaries, and their parts merged alone.
    pub fn can_split_at_boundaries(&self) -> bool {
        self.can_split_at_boundaries
    }

    /// Returns the entries that can be the result of merges.
    pub fn reachable_entries(&self) -> impl Iterator<Item = &[u8]> {
        let rows = self.vocab.rows().filter(|&row| self.dictionary.reaches(&self.vocab, row));
        rows.map(|row| self.vocab.bytes(row))
    }

    /// Returns the entries that encode to their own id wherever they are whole pieces, with their ids, the rarest first.
    /// Returns None if these entries are not known yet. Returns None for models whose symbols are not bytes, because
    /// their route caches text before normalization.
    pub fn own_entries(&self) -> Option<OwnEntries<'_>> {
        if !self.is_of_bytes() {
            return None;
        }
        let with_text = |(entry, id)| (Cow::Borrowed(entry), id);
        match self.own_rows() {
            Some(entries) => Some(Box::new(entries.map(with_text))),
            None if self.whole_piece_first => Some(Box::new(self.whole_entries().map(with_text))),
            None => None,
        }
    }

    /// Returns the bytes and ids of the rows that `segment` finds before it merges.
    fn whole_entries(&self) -> impl Iterator<Item = (&[u8], TokenId)> {
        let Bpe { vocab, dictionary, .. } = self;
        // A lookup of each entry would take tens of milliseconds.
        let has_equal_rows = dictionary.has_equal_rows(vocab);
        let is_found = move |&row: &Row| {
            dictionary.reaches(vocab, row)
                && (!has_equal_rows || dictionary.reachable_rows.find(vocab, vocab.bytes(row)) == Some(row))
        };
        vocab.rows().rev().filter(is_found).map(|row| (vocab.bytes(row), vocab.id(row)))
    }

    /// Returns the bytes and ids of the rows whose own text merges to the row.
    fn own_rows(&self) -> Option<impl Iterator<Item = (&[u8], TokenId)>> {
        // The table of a damaged file can contain any number instead of a row.
        Some(self.merging.peek()?.own_rows()?.filter_map(|row| {
            let entry = self.vocab.get_bytes(row)?;
            match self.symbol_output(Symbol::row(row), entry) {
                SymbolOutput::Id(id) => Some((entry, id)),
                _ => None,
            }
        }))
    }

    /// Reports whether a piece at byte `at` can have other symbols than an equal piece elsewhere in the text.
    #[inline]
    pub fn depends_on_position(&self, piece: &[u8], at: usize) -> bool {
        self.has_prefix && at == 0 && piece.get(1).is_some_and(|byte| byte & 0xC0 == 0x80)
    }

    /// Merges a piece without user-defined pieces, which is at byte `at` of the text. If `is_part` is true, the piece
    /// is a part of a longer piece and must be merged even if it is an entry.
    #[inline]
    pub fn segment(
        &self,
        piece: &[u8],
        at: usize,
        is_part: bool,
        scratch: &mut BpeScratch,
        emit: &mut impl FnMut(Segment) -> Result<()>,
    ) -> Result<()> {
        if self.whole_piece_first
            && !is_part
            && let Some(row) = self.dictionary.reachable_rows.find(&self.vocab, piece)
        {
            return emit(Segment { id: self.vocab.id(row), start: 0, end: piece.len() as u32 });
        }
        let BpeScratch { symbols, merge: merge_scratch, .. } = scratch;
        symbols.clear();
        let Some(merging) = self.merging(piece.len()) else {
            let by_text = self.by_text(piece);
            by_text.push(0..piece.len(), symbols);
            merge(&by_text, symbols, merge_scratch, &mut NoWatcher);
            return self.emit_symbols(piece, symbols, &SplitsOfSymbols::default(), emit);
        };
        if let Some(scalars) = &self.scalars {
            let len = scalars.push(piece, symbols)?;
            merge(&merging.pairs, symbols, merge_scratch, &mut NoWatcher);
            return self.emit_scalars(piece, symbols, len, emit);
        }
        if self.symbols == Symbols::Groups {
            let prefix = self.depends_on_position(piece, at) as usize;
            merging.units.push(&piece[..prefix], 0, symbols);
            merging.units.push(&piece[prefix..], prefix, symbols);
            merge(&merging.pairs, symbols, merge_scratch, &mut NoWatcher);
        } else if piece.len() > encode_short::MAX_SHORT_BYTES
            && let Some(id) = self.own_id(piece)
        {
            return emit(Segment { id, start: 0, end: piece.len() as u32 });
        } else {
            merge_text(merging, piece, symbols, merge_scratch);
        }
        self.emit_symbols(piece, symbols, &SplitsOfSymbols::default(), emit)
    }

    /// Merges a whole text: user-defined pieces are matched first and do not merge, Unused rows are split again, and
    /// merges are dropped with probability `dropout.0`.
    pub fn segment_whole(
        &self,
        text: &[u8],
        dropout: Option<(f32, &mut Rng)>,
        scratch: &mut BpeScratch,
        emit: &mut impl FnMut(Segment) -> Result<()>,
    ) -> Result<()> {
        if self.whole_piece_first
            && dropout.is_none()
            && let Some(row) = self.dictionary.reachable_rows.find(&self.vocab, text)
        {
            return emit(Segment { id: self.vocab.id(row), start: 0, end: text.len() as u32 });
        }
        let BpeScratch { symbols, merge: merge_scratch, .. } = scratch;
        symbols.clear();
        let is_dropout = dropout.is_some();
        let mut watcher = Watcher { splits: SplitsOfSymbols::default(), dropout };
        let merging =
            self.merging(text.len()).map(|merging| if is_dropout { self.all_pairs(merging) } else { merging });
        let Some(merging) = merging else {
            let by_text = self.by_text(text);
            self.push_user_defined(text, 0, symbols, |range, symbols| by_text.push(range, symbols));
            merge(&by_text, symbols, merge_scratch, &mut watcher);
            return self.emit_symbols(text, symbols, &watcher.splits, emit);
        };
        if let Some(scalars) = &self.scalars {
            let len = scalars.push(text, symbols)?;
            merge(&merging.pairs, symbols, merge_scratch, &mut watcher);
            return self.emit_scalars(text, symbols, len, emit);
        }
        let push_range =
            |range: Range<usize>, symbols: &mut _| merging.units.push(&text[range.clone()], range.start, symbols);
        let prefix = self.depends_on_position(text, 0) as usize;
        push_range(0..prefix, symbols);
        self.push_user_defined(text, prefix, symbols, push_range);
        merge(&merging.pairs, symbols, merge_scratch, &mut watcher);
        self.emit_symbols(text, symbols, &watcher.splits, emit)
    }

    /// Appends the symbols of a text from `at` on: the symbols of user-defined pieces, and for the text between them
    /// the symbols that `push` appends.
    fn push_user_defined(
        &self,
        text: &[u8],
        mut at: usize,
        symbols: &mut Vec<PlacedSymbol>,
        push_range: impl Fn(Range<usize>, &mut Vec<PlacedSymbol>),
    ) {
        for (start, end, id) in user_defined::matches(self.user_defined.as_deref(), text) {
            push_range(at..start, symbols);
            symbols.checked_push(PlacedSymbol::new(Symbol::user_defined(id), start));
            at = end;
        }
        push_range(at..text.len(), symbols);
    }

    /// Returns the tables to merge a text of `len` bytes; None if pairs are looked up by their texts.
    #[inline]
    fn merging(&self, len: usize) -> Option<&Merging> {
        self.merging.get(len, || self.build_merging(), |derivation| self.advance_merging(derivation, len))
    }

    /// Does a part of the work of `build_merging`, before a piece of `len` bytes is encoded.
    fn advance_merging(&self, derivation: Option<PairDerivation>, len: usize) -> Step<Merging, PairDerivation> {
        if self.splits_unused {
            return Step::Finished(self.build_merging());
        }
        let source = self.source();
        let mut derivation = derivation.unwrap_or_else(|| PairDerivation::start(&source));
        match derivation.advance(&source, rows_per_step(&self.priority, len)) {
            Ok(false) => Step::Unfinished(derivation),
            Ok(true) => Step::Finished(derivation.finish().ok()),
            Err(_) => Step::Finished(None),
        }
    }

    fn build_merging(&self) -> Option<Merging> {
        let source = self.source();
        if self.splits_unused { source.build_all().ok() } else { source.build().ok() }
    }

    /// Returns the result of `Merging::own_row_bits`; the first call computes it.
    fn own_row_bits(&self, merging: &Merging) -> Option<&Vec<u64>> {
        self.own_row_bits.get(|| merging.own_row_bits(self.vocab.len())).as_ref()
    }

    fn by_text<'a>(&'a self, text: &'a [u8]) -> ByText<'a> {
        let (vocab, dictionary) = (&*self.vocab, &self.dictionary);
        ByText { vocab, dictionary, max_entry_len: self.max_entry_len, is_of_bytes: self.is_of_bytes(), text }
    }

    /// Returns the data from which the tables are built, without listed merges, because tables of listed merges are
    /// never built again.
    fn source(&self) -> MergingSource<'_> {
        let Bpe { vocab, dictionary, priority, symbols, .. } = self;
        MergingSource { vocab, dictionary, priority, symbols: *symbols, prefix: &[] }
    }

    /// Emits the final symbols of Hugging Face's BPE, which are rows. `len` is the sum of the lengths of the initial
    /// symbols, which can differ from the length of the piece.
    fn emit_scalars(
        &self,
        piece: &[u8],
        symbols: &[PlacedSymbol],
        len: u32,
        emit: &mut impl FnMut(Segment) -> Result<()>,
    ) -> Result<()> {
        let clamp_to_piece = |at: u32| at.min(piece.len() as u32);
        for (i, symbol) in symbols.iter().enumerate() {
            let (start, end) =
                (clamp_to_piece(symbol.start), clamp_to_piece(symbols.get(i + 1).map_or(len, |next| next.start)));
            // A table of a damaged file can have any symbol.
            let id = match symbol.symbol.kind(self.vocab.len()) {
                SymbolKind::Row(row) => self.vocab.id(row),
                _ => TokenId::UNKNOWN,
            };
            emit(Segment { id, start, end })?;
        }
        Ok(())
    }

    fn emit_symbols(
        &self,
        piece: &[u8],
        symbols: &[PlacedSymbol],
        splits: &SplitsOfSymbols,
        emit: &mut impl FnMut(Segment) -> Result<()>,
    ) -> Result<()> {
        for (i, symbol) in symbols.iter().enumerate() {
            let end = symbols.get(i + 1).map_or(piece.len() as u32, |next| next.start);
            match self.symbol_output(symbol.symbol, &piece[symbol.start as usize..end as usize]) {
                SymbolOutput::Id(id) => emit(Segment { id, start: symbol.start, end })?,
                _ => self.emit_split(piece, (symbol.symbol, symbol.start, end), splits, emit)?,
            }
        }
        Ok(())
    }

    /// Emits a final symbol whose output is not an id. An Unused symbol is split into the two halves of the last
    /// candidate for this symbol. Halves that are Unused are split again, in 0.2.3 to a depth of 100.
    #[cold]
    fn emit_split(
        &self,
        piece: &[u8],
        (symbol, start, end): (Symbol, u32, u32),
        splits: &SplitsOfSymbols,
        emit: &mut impl FnMut(Segment) -> Result<()>,
    ) -> Result<()> {
        let mut pending_symbols = vec![(symbol, start, end, 0)];
        while let Some((symbol, start, end, depth)) = pending_symbols.pop() {
            let bytes = &piece[start as usize..end as usize];
            let mut output = self.symbol_output(symbol, bytes);
            if depth > self.dictionary.max_split_depth() {
                output = self.dictionary.output_by_name(&self.vocab, bytes);
            } else if let (SymbolOutput::Unused(_), Some(&Halves { left, right, left_len })) =
                (output, splits.get(&symbol))
            {
                let split_at = start + left_len;
                pending_symbols.checked_push((right, split_at, end, depth + 1));
                pending_symbols.checked_push((left, start, split_at, depth + 1));
                continue;
            }
            match self.dictionary.settle_unused(output) {
                SymbolOutput::Id(id) => emit(Segment { id, start, end })?,
                SymbolOutput::Refused(id) => return Err(control_symbol_error(id, start as usize)),
                _ => emit(Segment { id: TokenId::UNKNOWN, start, end })?,
            }
        }
        Ok(())
    }

    /// Returns the output for a final symbol. Tables of a damaged file can have any symbol, so every symbol is checked.
    #[inline]
    fn symbol_output(&self, symbol: Symbol, bytes: &[u8]) -> SymbolOutput {
        match symbol.kind(self.vocab.len()) {
            SymbolKind::Row(row) => {
                let id = SymbolOutput::Id(self.vocab.id(row));
                if self.exceptions.is_empty() { id } else { *self.exceptions.get(&row).unwrap_or(&id) }
            }
            SymbolKind::UserDefined(id) if self.vocab.row(id).is_some() => SymbolOutput::Id(id),
            _ => self.dictionary.output_of(&self.vocab, bytes),
        }
    }

    /// Returns the tables with all pairs. Dropout skips merges, so it can merge pairs that encoding never merges.
    fn all_pairs<'a>(&'a self, merging: &'a Merging) -> &'a Merging {
        if !merging.is_pruned {
            return merging;
        }
        // Building the tables does not fail here, because the same tables were built before the file was written.
        self.all_pairs.get(|| self.source().build_all().ok()).as_ref().unwrap_or(merging)
    }
}

/// Returns the outputs of the rows whose output is not their own id: rows of kind Unused, and rows that have the same
/// bytes as a reserved row.
fn exceptions(vocab: &Vocab, dictionary: &Dictionary) -> HashMap<Row, SymbolOutput> {
    let mut exceptions = HashMap::new();
    if !dictionary.is_sentencepiece() {
        return exceptions;
    }
    for row in vocab.odd_rows() {
        let row = match dictionary.reaches(vocab, row) {
            true if vocab.active_kind(row) == Kind::Unused => row,
            true => continue,
            false => match dictionary.reachable_rows.find(vocab, vocab.bytes(row)) {
                Some(row) => row,
                None => continue,
            },
        };
        let output = dictionary.output_of(vocab, vocab.bytes(row));
        if output != SymbolOutput::Id(vocab.id(row)) {
            exceptions.checked_insert(row, output);
        }
    }
    exceptions
}
