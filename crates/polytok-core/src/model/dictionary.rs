//! Piece bytes → what they become: the lookup that BPE's final symbols, WORD and CHAR share.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::spec::{Kind, Line};
use crate::vocab::Vocab;

/// What a final symbol becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emit {
    /// This id.
    Id(u32),
    /// A row that the model may pass through: split again, or this id, or unknown, as the line has it.
    Unused(u32),
    /// No entry.
    Unknown,
    /// A control symbol out of plain text: SentencePiece 0.2.1 gives up on such a text.
    Refused(u32),
}

/// Which rows text can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// All rows alike, control symbols too (llama2.c).
    All,
    /// The same, and of equal ones the last (llama.cpp, Hugging Face).
    Last,
    /// Rows that are not reserved (tiktoken, minbpe, RWKV).
    Plain,
    /// SentencePiece's two maps: Normal, UserDefined and Unused rows are reached, the others are reserved.
    SentencePiece(Line),
}

/// Bytes → row over some rows of a vocabulary. Of equal bytes the first row wins, or the last. The hash is seeded at random, so that no
/// file can be made of entries that collide.
#[derive(Debug, Default)]
pub struct Rows {
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Rows {
    /// Indexes the rows for which `keep` holds.
    pub fn index(vocab: &Vocab, mut keep: impl FnMut(usize) -> bool) -> Rows {
        Rows::of(vocab, (0..vocab.len()).filter(|&row| keep(row)))
    }

    /// Indexes all rows; of equal bytes the last row wins.
    pub fn index_last(vocab: &Vocab) -> Rows {
        Rows::of(vocab, (0..vocab.len()).rev())
    }

    fn of(vocab: &Vocab, rows: impl Iterator<Item = usize>) -> Rows {
        let hasher = DefaultHashBuilder::default();
        let mut table = HashTable::with_capacity(vocab.len());
        for row in rows {
            let bytes = vocab.bytes(row);
            let same = |&other: &u32| vocab.bytes(other as usize) == bytes;
            let rehash = |&other: &u32| hasher.hash_one(vocab.bytes(other as usize));
            table.entry(hasher.hash_one(bytes), same, rehash).or_insert(row as u32);
        }
        Rows { table, hasher }
    }

    /// The row of exactly these bytes.
    #[inline]
    pub fn find(&self, vocab: &Vocab, bytes: &[u8]) -> Option<u32> {
        let same = |&row: &u32| vocab.bytes(row as usize) == bytes;
        self.table.find(self.hasher.hash_one(bytes), same).copied()
    }
}

/// Both maps of a vocabulary, and the rule that joins them.
#[derive(Debug)]
pub struct Dictionary {
    /// Rows that text can reach.
    pub normal: Rows,
    reserved: Rows,
    reach: Reach,
}

/// Whether SentencePiece puts a kind into the map that text can reach.
pub fn is_reachable(kind: Kind) -> bool {
    matches!(kind, Kind::Normal | Kind::UserDefined | Kind::Unused)
}

impl Dictionary {
    /// Indexes the vocabulary.
    pub fn new(vocab: &Vocab, reach: Reach) -> Dictionary {
        if reach == Reach::Last {
            return Dictionary { normal: Rows::index_last(vocab), reserved: Rows::default(), reach };
        }
        let reaches_all = reach == Reach::All;
        let normal = Rows::index(vocab, |row| reaches_all || is_reachable(vocab.kind(row)));
        let reserved = Rows::index(vocab, |row| !reaches_all && !is_reachable(vocab.kind(row)));
        Dictionary { normal, reserved, reach }
    }

    /// Whether the row is in the map that text can reach.
    pub fn reaches(&self, vocab: &Vocab, row: usize) -> bool {
        matches!(self.reach, Reach::All | Reach::Last) || is_reachable(vocab.kind(row))
    }

    /// What a final symbol with these bytes becomes.
    pub fn emit(&self, vocab: &Vocab, bytes: &[u8]) -> Emit {
        if self.reach == Reach::SentencePiece(Line::V0_2_1)
            && let Some(row) = self.reserved.find(vocab, bytes)
        {
            let row = row as usize;
            return match vocab.kind(row) {
                Kind::Control => Emit::Refused(vocab.id(row)),
                Kind::Unknown => Emit::Unknown,
                _ => Emit::Id(vocab.id(row)),
            };
        }
        match self.normal.find(vocab, bytes) {
            Some(row) if self.is_unused(vocab, row as usize) => Emit::Unused(vocab.id(row as usize)),
            Some(row) => Emit::Id(vocab.id(row as usize)),
            None => Emit::Unknown,
        }
    }

    /// How deep Unused rows are taken apart.
    pub fn max_split_depth(&self) -> usize {
        if self.reach == Reach::SentencePiece(Line::V0_2_3) { 100 } else { usize::MAX }
    }

    /// The id of whatever row has these bytes: what 0.2.3 emits where it stops taking apart.
    pub fn emit_by_name(&self, vocab: &Vocab, bytes: &[u8]) -> Emit {
        let row = self.reserved.find(vocab, bytes).or_else(|| self.normal.find(vocab, bytes));
        match row.map(|row| row as usize) {
            Some(row) if vocab.kind(row) == Kind::Control => Emit::Refused(vocab.id(row)),
            Some(row) if vocab.kind(row) != Kind::Unknown => Emit::Id(vocab.id(row)),
            _ => Emit::Unknown,
        }
    }

    /// What an Unused row becomes where it is not split again: its id in 0.2.1, unknown in 0.2.3.
    pub fn settle(&self, emit: Emit) -> Emit {
        match (emit, self.reach) {
            (Emit::Unused(_), Reach::SentencePiece(Line::V0_2_3)) => Emit::Unknown,
            (Emit::Unused(id), _) => Emit::Id(id),
            (emit, _) => emit,
        }
    }

    fn is_unused(&self, vocab: &Vocab, row: usize) -> bool {
        matches!(self.reach, Reach::SentencePiece(_)) && vocab.active_kind(row) == Kind::Unused
    }
}
