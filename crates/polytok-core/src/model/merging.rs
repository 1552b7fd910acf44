//! The tables that BPE merges by: which symbols a text starts from, and which pairs of them merge.
//!
//! By rank or score a pair may merge wherever its concatenation is an entry, so an entry has as many pairs as it can be cut into
//! two symbols. Only one of them is ever merged, the entry's derivation (see convert/derivation.rs). A file has these pairs only
//! ([`Merging::pruned`]), about half. Dropout passes over merges and so meets the others.

use hashbrown::HashMap;

use super::dictionary::Dictionary;
use super::merge::{INERT, MergeScratch, Watch, merge};
use super::pairs::{Pair, Pairs};
use super::units::{Numbering, Units};
use crate::error::{Error, Result};
use crate::native::{Part, PartWriter, Stored};
use crate::spec::{Priority, Symbols};
use crate::utf8;
use crate::vocab::Vocab;

/// llama2.c merges only what scores above this.
const LLAMA2C_FLOOR: f32 = -1e10;

/// The tables.
#[derive(Debug)]
pub(super) struct Merging {
    pub(super) units: Units,
    pub(super) pairs: Pairs,
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
    /// Builds the tables with all pairs.
    pub(super) fn build(&self) -> Result<Merging> {
        let &Source { vocab, dictionary, priority, symbols, prefix } = self;
        let mut units = Numbering::new(vocab, dictionary, symbols);
        let pairs = match priority {
            Priority::Merges(merges) => listed_pairs(vocab, merges, prefix)?,
            Priority::Rank => cut_pairs(vocab, dictionary, &mut units, &ranks_by_id(vocab)),
            Priority::Score => cut_pairs(vocab, dictionary, &mut units, &ranks_by_score(vocab, symbols)),
        };
        Ok(Merging { units: units.finish()?, pairs: Pairs::build(pairs)?, is_pruned: false })
    }
}

impl Merging {
    /// The same with the pairs that encoding needs. A space that the normalizer put before a text takes no continuation bytes in
    /// llama2.c, though it would in an entry, and byte pieces may stand for other text than theirs; then all stay.
    pub(super) fn pruned(self, source: &Source) -> Result<Merging> {
        let vocab = source.vocab;
        let starts_oddly = |row| matches!(*vocab.bytes(row), [b' ', next, ..] if next & 0xC0 == 0x80);
        let is_odd = source.symbols == Symbols::Groups && (self.merges_bytes() || (0..vocab.len()).any(starts_oddly));
        if is_odd || matches!(source.priority, Priority::Merges(_)) {
            return Ok(self);
        }
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
        Ok(Merging { pairs: Pairs::build(pairs)?, units: self.units, is_pruned: true })
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
        out.table("is_pruned", &[self.is_pruned as u32]);
    }

    fn read(part: &Part) -> Result<Merging> {
        Ok(Merging {
            units: Units::read(&part.part("units"))?,
            pairs: Pairs::read(&part.part("pairs"))?,
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
    let mut halves = Halves { vocab, dictionary, units, next: vocab.len() as u32 };
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
fn lengths_of(vocab: &Vocab, dictionary: &Dictionary) -> Vec<bool> {
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
    /// The number of the next character that is no row.
    next: u32,
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
        let symbol = self.units.add(bytes, self.next);
        self.next += (symbol == self.next) as u32;
        Some(symbol)
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
