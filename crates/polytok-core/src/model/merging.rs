//! The tables that BPE merges by: which symbols a text starts from, and which pairs of them merge.
//!
//! By rank or score a pair may merge wherever its concatenation is an entry, so an entry has as many pairs as it can be cut into
//! two symbols. Only one of them is ever merged, the entry's derivation (see convert/derivation.rs), and encoding has a table of
//! these alone: see derived.rs. Dropout passes over merges and so meets the others; so does splitting rows of kind Unused.

use hashbrown::HashMap;

use super::derived::derived_pairs;
use super::dictionary::Dictionary;
use super::merge::{INERT, MergeScratch, Watch, merge};
use super::pairs::{NO_VALUE, Pair, Pairs};
use super::short::{self, Short};
use super::units::{Numbering, Space, Units};
use crate::error::{Error, Result};
use crate::hash::hash_bytes;
use crate::native::{Part, PartWriter, Stored};
use crate::spec::{Priority, Symbols};
use crate::table::Table;
use crate::utf8;
use crate::vocab::Vocab;

/// llama2.c merges only what scores above this.
const LLAMA2C_FLOOR: f32 = -1e10;

/// The tables.
#[derive(Debug)]
pub(super) struct Merging {
    pub(super) units: Units,
    pub(super) pairs: Pairs,
    /// Values of the pairs of units that have a place, which nearly every text starts with: all bytes, or ASCII and U+2581 where symbols
    /// are characters.
    first: Table<u32>,
    /// Pairs that no text needs are left out.
    pub(super) is_pruned: bool,
}

/// What they are made from.
pub(super) struct Source<'a> {
    pub(super) vocab: &'a Vocab,
    pub(super) dictionary: &'a Dictionary,
    pub(super) priority: &'a Priority,
    pub(super) symbols: Symbols,
    /// What the right half of a listed pair loses.
    pub(super) prefix: &'a [u8],
}

impl Source<'_> {
    /// Builds the tables that encoding needs.
    pub(super) fn build(&self) -> Result<Merging> {
        if matches!(self.priority, Priority::Merges(_)) {
            return self.build_all();
        }
        // A space that the normalizer put before a text takes no continuation bytes in llama2.c, though it would in an entry, and byte
        // pieces may stand for other text than theirs.
        if self.symbols != Symbols::Groups {
            let mut units = Numbering::new(self.vocab, self.dictionary, self.symbols);
            let seed = self.seed();
            if let Some(pairs) = derived_pairs(self.vocab, self.dictionary, &mut units, &self.ranks(), seed)? {
                return Ok(Merging::new(units.finish()?, pairs.finish(), true));
            }
        }
        // Pruning takes longer than all else. A table by score waits until it pays; others are built at load.
        match (self.priority, self.symbols) {
            (Priority::Score, Symbols::Chars) => self.build_all()?.pruned(self),
            _ => self.build_all(),
        }
    }

    /// The same with all pairs, which may be several for each entry.
    pub(super) fn build_all(&self) -> Result<Merging> {
        let &Source { vocab, dictionary, priority, symbols, prefix } = self;
        let mut units = Numbering::new(vocab, dictionary, symbols);
        let pairs = match priority {
            Priority::Merges(merges) => listed_pairs(vocab, merges, prefix)?,
            _ => cut_pairs(vocab, dictionary, &mut units, &self.ranks()),
        };
        Ok(Merging::new(units.finish()?, Pairs::build(pairs, self.seed())?, false))
    }

    fn ranks(&self) -> Vec<u32> {
        match self.priority {
            Priority::Score => ranks_by_score(self.vocab, self.symbols),
            _ => ranks_by_id(self.vocab),
        }
    }

    /// Of the hash tables: a hash of all that is in them.
    fn seed(&self) -> u64 {
        let seed = hash_bytes(self.vocab.blob(), self.vocab.len() as u64);
        match self.priority {
            Priority::Merges(merges) => hash_bytes(bytemuck::cast_slice(merges), seed),
            _ => seed,
        }
    }
}

impl Merging {
    fn new(units: Units, pairs: Pairs, is_pruned: bool) -> Merging {
        let single = units.of_places();
        let count = single.len();
        let mut first = vec![NO_VALUE; count * count];
        // Where one symbol is that of two bytes, as INERT is, the pairs of all of them count.
        let mut bytes: HashMap<u32, Vec<usize>> = HashMap::new();
        single.iter().enumerate().for_each(|(byte, &symbol)| bytes.entry(symbol).or_default().push(byte));
        for pair in pairs.list() {
            let (Some(lefts), Some(rights)) = (bytes.get(&pair.left), bytes.get(&pair.right)) else { continue };
            for (left, right) in lefts.iter().flat_map(|left| rights.iter().map(move |right| (left, right))) {
                first[left * count + right] = pairs.value(pair.left, pair.right);
            }
        }
        Merging { units, pairs, first: first.into(), is_pruned }
    }

    /// Starts a run with the first symbols of a text that starts at byte `offset` of the piece, as many as have room; where
    /// they end in the text.
    #[inline]
    pub(super) fn start(&self, text: &[u8], offset: usize, run: &mut Short) -> usize {
        match self.units.kind {
            Symbols::Bytes => self.start_bytes(text, offset, run),
            _ => self.start_chars(text, offset, Space::Space, run),
        }
    }

    #[inline]
    fn start_bytes(&self, text: &[u8], offset: usize, run: &mut Short) -> usize {
        run.clear();
        let text = &text[..text.len().min(short::MOST)];
        let symbols = self.units.of_bytes();
        let mut last = 0;
        for (at, &byte) in text.iter().enumerate() {
            let place = (last as usize) << 8 | byte as usize;
            let value = self.first.get(place).copied().unwrap_or(NO_VALUE);
            run.push(symbols[byte as usize], offset + at, self.pairs.rated(value));
            last = byte;
        }
        text.len()
    }

    /// The same where symbols are characters, for what a space stands for.
    #[inline]
    pub(super) fn start_chars(&self, text: &[u8], offset: usize, space: Space, run: &mut Short) -> usize {
        run.clear();
        let count = self.units.of_places().len();
        let (mut at, mut last) = (0, (INERT, None));
        while at < text.len() && run.len() < short::MOST {
            let (symbol, place, len) = self.units.char(&text[at..], space);
            let rated = match (last.1, place) {
                (Some(left), Some(right)) => {
                    let at = left * count + right;
                    self.pairs.rated(self.first.get(at).copied().unwrap_or(NO_VALUE))
                }
                _ => self.pairs.get(last.0, symbol),
            };
            run.push(symbol, offset + at, rated);
            last = (symbol, place);
            at += len;
        }
        at
    }

    /// The same with the pairs that encoding needs, where it is known that others are not.
    fn pruned(self, source: &Source) -> Result<Merging> {
        let vocab = source.vocab;
        let mut scratch = MergeScratch::default();
        let mut symbols = Vec::new();
        let mut derivation = |row: u32| {
            let mut last = LastMerge(None);
            symbols.clear();
            self.units.push(vocab.bytes(row as usize), 0, &mut symbols);
            merge(&self.pairs, &mut symbols, &mut scratch, &mut last);
            last.0.filter(|_| symbols.len() == 1)
        };
        let mut known: HashMap<u32, Option<(u32, u32)>> = HashMap::new();
        let mut is_needed = |pair: &&Pair| {
            let found = *known.entry(pair.merged).or_insert_with(|| derivation(pair.merged));
            found == Some((pair.left, pair.right))
        };
        let pairs = self.pairs.list().iter().filter(|pair| is_needed(pair)).copied().collect();
        Ok(Merging::new(self.units, Pairs::build(pairs, source.seed())?, true))
    }

    /// Whether symbols of single bytes merge (llama2.c's merge by the texts of their pieces).
    pub(super) fn merges_bytes(&self) -> bool {
        self.pairs.list().iter().any(|pair| self.units.is_byte(pair.left) || self.units.is_byte(pair.right))
    }
}

impl Stored for Merging {
    fn write(&self, out: &mut PartWriter) {
        self.units.write(&mut out.part("units"));
        self.pairs.write(&mut out.part("pairs"));
        out.table("first", &self.first);
        out.table("is_pruned", &[self.is_pruned as u32]);
    }

    fn read(part: &Part) -> Result<Merging> {
        Ok(Merging {
            units: Units::read(&part.part("units"))?,
            pairs: Pairs::read(&part.part("pairs"))?,
            first: part.table("first")?,
            is_pruned: part.number::<u32>("is_pruned")? != 0,
        })
    }
}

/// The pair merged last.
pub(super) struct LastMerge(pub(super) Option<(u32, u32)>);

impl Watch for LastMerge {
    fn merged(&mut self, left: u32, right: u32) {
        self.0 = Some((left, right));
    }
}

/// The right half loses as many bytes as the prefix of continuations has (Hugging Face).
fn listed_pairs(vocab: &Vocab, merges: &[[u32; 3]], prefix: &[u8]) -> Result<Vec<Pair>> {
    let row = |id: u32, at: usize| match vocab.row(id) {
        Some(row) => Ok(row as u32),
        None => Err(Error::Spec(format!("model.merges: merge {at} names id {id}, which the vocabulary does not have"))),
    };
    let mut entries = Vec::with_capacity(merges.len());
    for (at, &[left, right, merged]) in merges.iter().enumerate() {
        let pair = Pair { left: row(left, at)?, right: row(right, at)?, rank: at as u32, merged: row(merged, at)? };
        let bytes = |row: u32| vocab.bytes(row as usize);
        let rest = bytes(pair.right).get(prefix.len()..);
        if rest.is_none_or(|rest| bytes(pair.merged) != [bytes(pair.left), rest].concat()) {
            return Err(Error::Spec(format!(
                "model.merges: merge {at} makes id {merged}, whose bytes are not those of ids {left} and {right} together"
            )));
        }
        entries.push(pair);
    }
    Ok(entries)
}

/// Every way to cut a reachable row into two symbols. Halves that are characters but no rows get their symbols here.
fn cut_pairs(vocab: &Vocab, dictionary: &Dictionary, units: &mut Numbering, ranks: &[u32]) -> Vec<Pair> {
    let mut entries = Vec::with_capacity(2 * vocab.len());
    let mut halves = Halves { vocab, dictionary, units };
    // Halves have lengths that occur: a file of one huge entry has few, so that its cuts are not tried one by one.
    let lengths = lengths_of(vocab, dictionary);
    let cuts_chars = units_may_be_cut(vocab, dictionary, halves.units.kind);
    for (row, &rank) in ranks.iter().enumerate() {
        let piece = vocab.bytes(row);
        let is_first = || dictionary.normal.find(vocab, piece) == Some(row as u32);
        if rank == INERT || piece.len() < 2 || !dictionary.reaches(vocab, row) || !is_first() {
            continue;
        }
        for cut in 1..piece.len() {
            if !lengths[cut] || !lengths[piece.len() - cut] || (!cuts_chars && is_continuation(piece[cut])) {
                continue;
            }
            let (left, right) = piece.split_at(cut);
            let Some(left) = halves.symbol(left, false) else { continue };
            let Some(right) = halves.symbol(right, true) else { continue };
            entries.push(Pair { left, right, rank, merged: row as u32 });
        }
    }
    entries
}

/// Whether some reachable row starts or ends inside of a character. If not, no half does either.
fn units_may_be_cut(vocab: &Vocab, dictionary: &Dictionary, kind: Symbols) -> bool {
    let is_whole = |row: usize| std::str::from_utf8(vocab.bytes(row)).is_ok();
    kind == Symbols::Bytes || !(0..vocab.len()).filter(|&row| dictionary.reaches(vocab, row)).all(is_whole)
}

#[inline]
fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// For each length whether something that may be a half has it: a reachable row, or a character.
pub(super) fn lengths_of(vocab: &Vocab, dictionary: &Dictionary) -> Vec<bool> {
    let mut lengths = vec![false; vocab.longest().max(4) + 1];
    lengths[1..=4].fill(true);
    let rows = (0..vocab.len()).filter(|&row| dictionary.reaches(vocab, row));
    rows.for_each(|row| lengths[vocab.bytes(row).len()] = true);
    lengths
}

/// Gives halves of cuts their symbols.
struct Halves<'a> {
    vocab: &'a Vocab,
    dictionary: &'a Dictionary,
    units: &'a mut Numbering,
}

impl Halves<'_> {
    /// The symbol of one half: a row, or a character that is no row. Only the right half, at the very end of a text, can be a
    /// character that its lead byte announces to be longer.
    fn symbol(&mut self, bytes: &[u8], may_be_clipped: bool) -> Option<u32> {
        if let Some(row) = self.dictionary.normal.find(self.vocab, bytes) {
            return Some(row);
        }
        let announced = match self.units.kind {
            Symbols::Bytes => 1,
            Symbols::Chars | Symbols::Scalars => utf8::lead_len(bytes[0]),
            Symbols::Groups => return None,
        };
        if bytes.len() > announced || (bytes.len() < announced && !may_be_clipped) {
            return None;
        }
        Some(self.units.symbol(bytes))
    }
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
