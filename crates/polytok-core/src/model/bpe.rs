//! Byte-pair encoding in all its families: what the symbols are, which pairs merge, what the final symbols become.
//!
//! A symbol is a vocabulary row, or, for text that SentencePiece may merge without it being an entry (a character that
//! only occurs inside pieces), a number behind the rows. The three kinds of priority differ only in the pair table built
//! at compile time: a list of pairs (minbpe, Hugging Face), or every way to cut an entry into two symbols, by the entry's id
//! (tiktoken) or its score (SentencePiece, llama2.c). Twin: python/polytok/reference/bpe.py.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use super::dictionary::{Dictionary, Emit, Reach};
use super::merge::{INERT, MergeScratch, Symbol, Unwatched, Watch, merge};
use super::pairs::{Pair, Pairs};
use super::whole::refused;
use super::{Segment, UNKNOWN};
use crate::error::{Error, Result};
use crate::rng::Rng;
use crate::spec::{Priority, Symbols};
use crate::trie::Trie;
use crate::utf8;
use crate::vocab::Vocab;

/// llama2.c merges only what scores above this.
const LLAMA2C_FLOOR: f32 = -1e10;

/// Symbols from here on are ids of user-defined pieces, which are smaller: they merge with nothing.
const FROZEN: u32 = 1 << 31;

/// A compiled BPE model.
pub struct Bpe {
    vocab: Arc<Vocab>,
    dictionary: Dictionary,
    pairs: Pairs,
    units: Units,
    /// What each symbol becomes when it is final.
    emits: Vec<Emit>,
    whole_piece_first: bool,
    /// User-defined pieces, matched before merging (SentencePiece), to their ids.
    frozen: Option<Arc<Trie>>,
    /// Rows of kind Unused may be merged into, so that they must be split again.
    resegments: bool,
    /// The normalizer puts a space before every text: a symbol of its own that takes no continuation bytes (llama2.c).
    has_prefix: bool,
    /// llama2.c's byte pieces are initial symbols and merge by their texts, which are not the text they stand for.
    merges_fallbacks: bool,
}

/// Text → initial symbols.
struct Units {
    kind: Symbols,
    ascii: [u32; 128],
    /// Symbols of single bytes: what bytes start as, or fall back to.
    bytes: [u32; 256],
    /// Symbols of characters, by `unit_key`.
    chars: HashMap<u64, u32>,
}

/// Memory of a run, kept between runs.
#[derive(Debug, Default)]
pub struct BpeScratch {
    symbols: Vec<Symbol>,
    merge: MergeScratch,
}

impl BpeScratch {
    /// Gives back buffers of more than `kept` symbols.
    pub fn release(&mut self, kept: usize) {
        if self.symbols.capacity() > kept {
            self.symbols = Vec::new();
        }
    }
}

impl Bpe {
    /// Builds the tables.
    pub fn compile(
        vocab: Arc<Vocab>,
        priority: &Priority,
        symbols: Symbols,
        whole_piece_first: bool,
        reach: Reach,
        frozen: Option<Arc<Trie>>,
        has_prefix: bool,
    ) -> Result<Bpe> {
        if frozen.is_some() && vocab.size() > FROZEN {
            return Err(Error::Spec(format!("vocab: with user-defined pieces ids must be below {FROZEN}")));
        }
        let dictionary = Dictionary::new(&vocab, reach);
        let mut units = Units::new(&vocab, &dictionary, symbols);
        let (pairs, pseudo) = match priority {
            Priority::Merges(merges) => (listed_pairs(&vocab, merges)?, Vec::new()),
            Priority::Rank => cut_pairs(&vocab, &dictionary, &mut units, &ranks_by_id(&vocab)),
            Priority::Score => cut_pairs(&vocab, &dictionary, &mut units, &ranks_by_score(&vocab, symbols)),
        };
        let emit_row = |row: usize| match reach {
            Reach::All | Reach::Plain => Emit::Id(vocab.id(row)),
            _ => dictionary.emit(&vocab, vocab.bytes(row)),
        };
        let emits: Vec<Emit> =
            (0..vocab.len()).map(emit_row).chain(pseudo.iter().map(|bytes| dictionary.emit(&vocab, bytes))).collect();
        let resegments = emits.iter().any(|emit| matches!(emit, Emit::Unused(_)));
        let merges_fallbacks = symbols == Symbols::Groups && pairs.symbols().any(|half| units.bytes.contains(&half));
        Ok(Bpe {
            vocab,
            dictionary,
            pairs,
            units,
            emits,
            whole_piece_first,
            frozen,
            resegments,
            has_prefix,
            merges_fallbacks,
        })
    }

    /// Whether symbols are bytes, so that any bytes can be encoded.
    pub fn is_of_bytes(&self) -> bool {
        self.units.kind == Symbols::Bytes
    }

    /// Whether pieces that no merge can cross may be taken out of a text and merged on their own. Unused rows are split
    /// again as the last candidate of the whole text says, so then they may not.
    pub fn can_cut(&self) -> bool {
        !self.resegments && !self.merges_fallbacks
    }

    /// The entries that merging can reach.
    pub fn reachable(&self) -> impl Iterator<Item = &[u8]> {
        let rows = (0..self.vocab.len()).filter(|&row| self.dictionary.reaches(&self.vocab, row));
        rows.map(|row| self.vocab.bytes(row))
    }

    /// Whether a piece at this place of the text is cut differently from the same piece elsewhere.
    #[inline]
    pub fn depends_on_place(&self, piece: &[u8], at: usize) -> bool {
        self.has_prefix && at == 0 && piece.get(1).is_some_and(|byte| byte & 0xC0 == 0x80)
    }

    /// Merges one piece without user-defined symbols in it. `at` is where it stands in the text; `is_part` says that it was
    /// cut out of a longer piece, so that it may not be taken as a whole.
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
            && let Some(row) = self.dictionary.normal.find(&self.vocab, piece)
        {
            return emit(Segment { id: self.vocab.id(row as usize), start: 0, end: piece.len() as u32 });
        }
        let BpeScratch { symbols, merge: run } = scratch;
        symbols.clear();
        let prefix = self.depends_on_place(piece, at) as usize;
        self.units.push(&piece[..prefix], 0, symbols);
        self.units.push(&piece[prefix..], prefix, symbols);
        merge(&self.pairs, symbols, run, &mut Unwatched);
        self.emit_symbols(piece, symbols, &Splits::default(), emit)
    }

    /// Merges a whole text: user-defined symbols are matched first and stay as they are, Unused rows are split again,
    /// candidates are dropped with probability `dropout.0`.
    pub fn segment_whole(
        &self,
        text: &[u8],
        dropout: Option<(f32, &mut Rng)>,
        scratch: &mut BpeScratch,
        emit: &mut impl FnMut(Segment) -> Result<()>,
    ) -> Result<()> {
        if self.whole_piece_first
            && dropout.is_none()
            && let Some(row) = self.dictionary.normal.find(&self.vocab, text)
        {
            return emit(Segment { id: self.vocab.id(row as usize), start: 0, end: text.len() as u32 });
        }
        let BpeScratch { symbols, merge: run } = scratch;
        symbols.clear();
        let mut at = self.depends_on_place(text, 0) as usize;
        self.units.push(&text[..at], 0, symbols);
        self.frozen_matches(text, |start, end, id| {
            self.units.push(&text[at..start], at, symbols);
            symbols.push(Symbol::new(FROZEN + id, start));
            at = end;
        });
        self.units.push(&text[at..], at, symbols);
        let mut watch = Watcher { splits: Splits::default(), dropout };
        merge(&self.pairs, symbols, run, &mut watch);
        self.emit_symbols(text, symbols, &watch.splits, emit)
    }

    /// Calls `found(start, end, id)` for each user-defined piece in the text, longest first, left to right.
    #[inline]
    pub fn frozen_matches(&self, text: &[u8], mut found: impl FnMut(usize, usize, u32)) {
        let Some(trie) = &self.frozen else { return };
        let mut at = 0;
        while at < text.len() {
            match trie.longest_prefix(&text[at..]) {
                Some((len, id)) => {
                    found(at, at + len, id);
                    at += len;
                }
                None => at += utf8::char_len(&text[at..]),
            }
        }
    }

    /// How merging the row's own text makes the row (see convert/derivation.rs).
    pub fn derive(&self, row: usize, scratch: &mut BpeScratch) -> Derived {
        let text = self.vocab.bytes(row);
        if self.dictionary.normal.find(&self.vocab, text) != Some(row as u32) {
            return Derived::Reserved;
        }
        let BpeScratch { symbols, merge: run } = scratch;
        symbols.clear();
        self.units.push(text, 0, symbols);
        let mut last = LastMerge(None);
        merge(&self.pairs, symbols, run, &mut last);
        match (symbols.as_slice(), last.0) {
            ([symbol], None) if symbol.symbol == row as u32 => Derived::Initial,
            ([symbol], Some((left, right))) if symbol.symbol == row as u32 => Derived::Merged(left, right),
            _ => Derived::Never,
        }
    }

    fn emit_symbols(
        &self,
        piece: &[u8],
        symbols: &[Symbol],
        splits: &Splits,
        emit: &mut impl FnMut(Segment) -> Result<()>,
    ) -> Result<()> {
        for (i, symbol) in symbols.iter().enumerate() {
            let end = symbols.get(i + 1).map_or(piece.len() as u32, |next| next.start);
            match self.becomes(symbol.symbol, &piece[symbol.start as usize..end as usize]) {
                Emit::Id(id) => emit(Segment { id, start: symbol.start, end })?,
                _ => self.emit_split(piece, (symbol.symbol, symbol.start, end), splits, emit)?,
            }
        }
        Ok(())
    }

    /// A final symbol that is no ordinary entry: one of kind Unused is split into what it was last merged from, and so on
    /// down, in 0.2.3 to a depth of 100.
    #[cold]
    fn emit_split(
        &self,
        piece: &[u8],
        (symbol, start, end): (u32, u32, u32),
        splits: &Splits,
        emit: &mut impl FnMut(Segment) -> Result<()>,
    ) -> Result<()> {
        let mut todo = vec![(symbol, start, end, 0)];
        while let Some((symbol, start, end, depth)) = todo.pop() {
            let bytes = &piece[start as usize..end as usize];
            let mut becomes = self.becomes(symbol, bytes);
            if depth > self.dictionary.max_split_depth() {
                becomes = self.dictionary.emit_by_name(&self.vocab, bytes);
            } else if let (Emit::Unused(_), Some(&(left, right, left_len))) = (becomes, splits.get(&symbol)) {
                let middle = start + left_len;
                todo.push((right, middle, end, depth + 1));
                todo.push((left, start, middle, depth + 1));
                continue;
            }
            match self.dictionary.settle(becomes) {
                Emit::Id(id) => emit(Segment { id, start, end })?,
                Emit::Refused(id) => return Err(refused(id, start as usize)),
                _ => emit(Segment { id: UNKNOWN, start, end })?,
            }
        }
        Ok(())
    }

    #[inline]
    fn becomes(&self, symbol: u32, bytes: &[u8]) -> Emit {
        match self.emits.get(symbol as usize) {
            Some(&emit) => emit,
            None if symbol == INERT => self.dictionary.emit(&self.vocab, bytes),
            None => Emit::Id(symbol - FROZEN),
        }
    }
}

impl Units {
    fn new(vocab: &Vocab, dictionary: &Dictionary, kind: Symbols) -> Units {
        let mut bytes = [INERT; 256];
        for byte in 0..=255u8 {
            let row = match kind {
                Symbols::Bytes => dictionary.normal.find(vocab, &[byte]),
                Symbols::Groups => vocab.row(byte as u32 + 3).map(|row| row as u32),
                Symbols::Chars | Symbols::Scalars => None,
            };
            bytes[byte as usize] = row.unwrap_or(INERT);
        }
        let mut units = Units { kind, ascii: [INERT; 128], bytes, chars: HashMap::default() };
        if kind == Symbols::Bytes {
            return units;
        }
        for row in (0..vocab.len()).filter(|&row| dictionary.reaches(vocab, row)) {
            let piece = vocab.bytes(row);
            if (1..=4).contains(&piece.len()) {
                units.add(piece, row as u32);
            }
        }
        units
    }

    /// Gives a character its symbol, if it has none yet.
    fn add(&mut self, unit: &[u8], symbol: u32) -> u32 {
        if self.kind == Symbols::Bytes {
            let known = &mut self.bytes[unit[0] as usize];
            if *known == INERT {
                *known = symbol;
            }
            return *known;
        }
        let symbol = *self.chars.entry(unit_key(unit)).or_insert(symbol);
        if let &[byte @ 0..128] = unit {
            self.ascii[byte as usize] = symbol;
        }
        symbol
    }

    /// Appends the initial symbols of a text that starts at byte `offset` of the piece.
    #[inline]
    fn push(&self, text: &[u8], offset: usize, symbols: &mut Vec<Symbol>) {
        match self.kind {
            Symbols::Bytes => symbols
                .extend(text.iter().enumerate().map(|(i, &byte)| Symbol::new(self.bytes[byte as usize], offset + i))),
            Symbols::Chars | Symbols::Scalars => self.push_chars(text, offset, symbols),
            Symbols::Groups => self.push_groups(text, offset, symbols),
        }
    }

    #[inline]
    fn push_chars(&self, text: &[u8], offset: usize, symbols: &mut Vec<Symbol>) {
        let mut at = 0;
        while at < text.len() {
            let len = utf8::char_len(&text[at..]);
            let symbol = self.char_symbol(&text[at..at + len]);
            symbols.push(Symbol::new(symbol, offset + at));
            at += len;
        }
    }

    #[inline]
    fn char_symbol(&self, unit: &[u8]) -> u32 {
        match unit {
            &[byte @ 0..128] => self.ascii[byte as usize],
            _ => self.chars.get(&unit_key(unit)).copied().unwrap_or(INERT),
        }
    }

    /// A group is a byte and the continuation bytes behind it, four at most; one that is no entry becomes its bytes.
    fn push_groups(&self, text: &[u8], offset: usize, symbols: &mut Vec<Symbol>) {
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at + 1..text.len().min(at + 4)];
            let len = 1 + rest.iter().take_while(|&&byte| byte & 0xC0 == 0x80).count();
            match self.char_symbol(&text[at..at + len]) {
                INERT => {
                    let bytes = text[at..at + len].iter().zip(at..);
                    symbols.extend(bytes.map(|(&byte, i)| Symbol::new(self.bytes[byte as usize], offset + i)));
                }
                symbol => symbols.push(Symbol::new(symbol, offset + at)),
            }
            at += len;
        }
    }
}

/// Bytes and length of a unit in one number, so that a NUL byte differs from no byte.
#[inline]
fn unit_key(unit: &[u8]) -> u64 {
    let mut bytes = [0; 4];
    bytes[..unit.len()].copy_from_slice(unit);
    (unit.len() as u64) << 32 | u32::from_le_bytes(bytes) as u64
}

/// Merged symbol → the halves of the last candidate considered for it, and the length of the left one.
type Splits = HashMap<u32, (u32, u32, u32)>;

/// What re-segmentation and dropout need to know of a run.
struct Watcher<'a> {
    splits: Splits,
    dropout: Option<(f32, &'a mut Rng)>,
}

impl Watch for Watcher<'_> {
    fn considered(&mut self, merged: u32, left: u32, right: u32, left_len: u32) {
        self.splits.insert(merged, (left, right, left_len));
    }

    fn keeps(&mut self) -> bool {
        match &mut self.dropout {
            None => true,
            Some((probability, rng)) => {
                *probability <= 0.0 || (*probability < 1.0 && rng.uniform() >= *probability as f64)
            }
        }
    }
}

/// How a row is made; the halves are symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derived {
    /// Merging starts from it.
    Initial,
    /// Out of these two, at last.
    Merged(u32, u32),
    /// Merging its text ends in something else.
    Never,
    /// Text does not reach it.
    Reserved,
}

/// The pair merged last.
struct LastMerge(Option<(u32, u32)>);

impl Watch for LastMerge {
    fn merged(&mut self, left: u32, right: u32) {
        self.0 = Some((left, right));
    }
}

fn listed_pairs(vocab: &Vocab, merges: &[[u32; 3]]) -> Result<Pairs> {
    let row = |id: u32, at: usize| match vocab.row(id) {
        Some(row) => Ok(row as u32),
        None => Err(Error::Spec(format!("model.merges: merge {at} names id {id}, which the vocabulary does not have"))),
    };
    let mut entries = Vec::with_capacity(merges.len());
    for (at, &[left, right, merged]) in merges.iter().enumerate() {
        let pair = Pair { left: row(left, at)?, right: row(right, at)?, rank: at as u32, merged: row(merged, at)? };
        let bytes = |row: u32| vocab.bytes(row as usize);
        if bytes(pair.merged) != [bytes(pair.left), bytes(pair.right)].concat() {
            return Err(Error::Spec(format!(
                "model.merges: merge {at} makes id {merged}, whose bytes are not those of ids {left} and {right} together"
            )));
        }
        entries.push(pair);
    }
    Ok(Pairs::build(entries))
}

/// Every way to cut a reachable row into two symbols, and the bytes of the symbols behind the rows.
fn cut_pairs(vocab: &Vocab, dictionary: &Dictionary, units: &mut Units, ranks: &[u32]) -> (Pairs, Vec<Vec<u8>>) {
    let mut entries = Vec::new();
    let mut pseudo: Vec<Vec<u8>> = Vec::new();
    // Halves have lengths that occur: a file of one huge entry has few, so that its cuts are not tried one by one.
    let lengths = lengths_of(vocab, dictionary);
    for (row, &rank) in ranks.iter().enumerate() {
        let piece = vocab.bytes(row);
        let is_first = || dictionary.normal.find(vocab, piece) == Some(row as u32);
        if rank == INERT || piece.len() < 2 || !dictionary.reaches(vocab, row) || !is_first() {
            continue;
        }
        for cut in 1..piece.len() {
            if !lengths.contains(&cut) || !lengths.contains(&(piece.len() - cut)) {
                continue;
            }
            let (left, right) = piece.split_at(cut);
            let Some(left) = half(vocab, dictionary, units, &mut pseudo, left, false) else { continue };
            let Some(right) = half(vocab, dictionary, units, &mut pseudo, right, true) else { continue };
            entries.push(Pair { left, right, rank, merged: row as u32 });
        }
    }
    (Pairs::build(entries), pseudo)
}

/// The lengths of what may be a half: reachable rows, and characters.
fn lengths_of(vocab: &Vocab, dictionary: &Dictionary) -> HashSet<usize> {
    let rows = (0..vocab.len()).filter(|&row| dictionary.reaches(vocab, row));
    rows.map(|row| vocab.bytes(row).len()).chain(1..=4).collect()
}

/// The symbol of one half of a cut: a row, or a character that is no row. Only the right half, at the very end of a text, can be a
/// character that its lead byte announces to be longer.
fn half(
    vocab: &Vocab,
    dictionary: &Dictionary,
    units: &mut Units,
    pseudo: &mut Vec<Vec<u8>>,
    bytes: &[u8],
    may_be_clipped: bool,
) -> Option<u32> {
    if let Some(row) = dictionary.normal.find(vocab, bytes) {
        return Some(row);
    }
    let announced = match units.kind {
        Symbols::Bytes => 1,
        Symbols::Chars | Symbols::Scalars => utf8::lead_len(bytes[0]),
        Symbols::Groups => return None,
    };
    if bytes.len() > announced || (bytes.len() < announced && !may_be_clipped) {
        return None;
    }
    let number = (vocab.len() + pseudo.len()) as u32;
    let symbol = units.add(bytes, number);
    if symbol == number {
        pseudo.push(bytes.to_vec());
    }
    Some(symbol)
}

fn ranks_by_id(vocab: &Vocab) -> Vec<u32> {
    (0..vocab.len()).map(|row| vocab.id(row)).collect()
}

/// Scores as ranks, the highest first; equal scores have equal ranks, so that the leftmost wins among them.
fn ranks_by_score(vocab: &Vocab, symbols: Symbols) -> Vec<u32> {
    let mut order: Vec<usize> = (0..vocab.len()).collect();
    order.sort_by(|&a, &b| (vocab.score(b) + 0.0).total_cmp(&(vocab.score(a) + 0.0)));
    let mut ranks = vec![0; vocab.len()];
    let mut rank = 0;
    for (i, &row) in order.iter().enumerate() {
        if i > 0 && vocab.score(order[i - 1]) != vocab.score(row) {
            rank += 1;
        }
        let may_merge = symbols != Symbols::Groups || vocab.score(row) > LLAMA2C_FLOOR;
        ranks[row] = if may_merge { rank } else { INERT };
    }
    ranks
}
