//! Piece bytes → what they become: the lookup that BPE's final symbols, WORD and CHAR share.

use crate::error::Result;
use crate::hash::{Slots, hash_bytes};
use crate::native::{FilePart, PartWriter, Stored, Tables};
use crate::spec::{Kind, Line};
use crate::token_id::TokenId;
use crate::vocab::{Row, Vocab};

/// What a final symbol becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emit {
    /// This id.
    Id(TokenId),
    /// A row that the model may pass through: split again, or this id, or unknown, as the line has it.
    Unused(TokenId),
    /// No entry.
    Unknown,
    /// A control symbol out of plain text: SentencePiece 0.2.1 gives up on such a text.
    Refused(TokenId),
}

/// Which rows text can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// All rows alike, control symbols too (llama2.c).
    All,
    /// The same, and of equal ones the last (llama.cpp, Hugging Face).
    Last,
    /// Normal and UserDefined rows (tiktoken, minbpe, RWKV, byte-level vocabularies).
    Plain,
    /// SentencePiece's two maps: Normal, UserDefined and Unused rows are reached, the others are reserved.
    SentencePiece(Line),
}

impl Reach {
    /// Whether text reaches rows of this kind.
    fn reaches(self, kind: Kind) -> bool {
        match self {
            Reach::All | Reach::Last => true,
            Reach::Plain => matches!(kind, Kind::Normal | Kind::UserDefined),
            Reach::SentencePiece(_) => is_reachable(kind),
        }
    }
}

/// Bytes → row over some rows of a vocabulary. Of equal bytes the first row wins, or the last.
#[derive(Debug)]
pub struct Rows {
    slots: Slots,
    seed: u64,
}

impl Rows {
    /// Indexes these rows.
    pub fn index(vocab: &Vocab, rows: impl Iterator<Item = Row> + Clone) -> Result<Rows> {
        Rows::build(vocab, rows, false)
    }

    /// Indexes all rows; of equal bytes the last row wins.
    pub fn index_last(vocab: &Vocab) -> Result<Rows> {
        Rows::build(vocab, vocab.rows(), true)
    }

    fn build(vocab: &Vocab, rows: impl Iterator<Item = Row> + Clone, last_wins: bool) -> Result<Rows> {
        let seed = hash_bytes(vocab.blob(), vocab.len() as u64);
        let bytes = |row: u32| vocab.bytes(Row(row));
        let hash = |row| hash_bytes(bytes(row), seed);
        let is_same = |one, other| bytes(one) == bytes(other);
        let slots = Slots::build(rows.map(|row| row.0), vocab.len(), hash, last_wins, is_same)?;
        Ok(Rows { slots, seed })
    }

    /// Indexes the rows that text does not reach.
    pub fn reserved(vocab: &Vocab) -> Result<Rows> {
        Rows::index(vocab, vocab.odd_rows().filter(|&row| !is_reachable(vocab.kind(row))))
    }

    /// The row of exactly these bytes.
    #[inline]
    pub fn find(&self, vocab: &Vocab, bytes: &[u8]) -> Option<Row> {
        self.slots.find(hash_bytes(bytes, self.seed), |row| vocab.get_bytes(Row(row)) == Some(bytes)).map(Row)
    }
}

impl Stored for Rows {
    fn write(&self, out: &mut PartWriter) {
        self.slots.write(out);
        out.table("seed", &[self.seed]);
    }

    /// Rows are checked where they are found.
    fn read(part: &FilePart) -> Result<Rows> {
        Ok(Rows { slots: Slots::read(part)?, seed: part.number("seed")? })
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
    pub fn new(vocab: &Vocab, reach: Reach, tables: &mut Tables) -> Result<Dictionary> {
        let reaches_all = matches!(reach, Reach::All | Reach::Last);
        let reached = vocab.rows().filter(|&row| reach.reaches(vocab.kind(row)));
        let normal = tables.get("rows", || Rows::build(vocab, reached, reach == Reach::Last))?;
        let reserved = if reaches_all { Rows::index(vocab, std::iter::empty())? } else { Rows::reserved(vocab)? };
        Ok(Dictionary { normal, reserved, reach })
    }

    /// Whether SentencePiece's rules hold.
    pub fn is_sentencepiece(&self) -> bool {
        matches!(self.reach, Reach::SentencePiece(_))
    }

    /// Whether the row is in the map that text can reach.
    pub fn reaches(&self, vocab: &Vocab, row: Row) -> bool {
        self.reach.reaches(vocab.kind(row))
    }

    /// What a final symbol with these bytes becomes.
    pub fn emit(&self, vocab: &Vocab, bytes: &[u8]) -> Emit {
        if self.reach == Reach::SentencePiece(Line::V0_2_1)
            && let Some(row) = self.reserved.find(vocab, bytes)
        {
            return match vocab.kind(row) {
                Kind::Control => Emit::Refused(vocab.id(row)),
                Kind::Unknown => Emit::Unknown,
                _ => Emit::Id(vocab.id(row)),
            };
        }
        match self.normal.find(vocab, bytes) {
            Some(row) if self.is_unused(vocab, row) => Emit::Unused(vocab.id(row)),
            Some(row) => Emit::Id(vocab.id(row)),
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
        match row {
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

    fn is_unused(&self, vocab: &Vocab, row: Row) -> bool {
        matches!(self.reach, Reach::SentencePiece(_)) && vocab.active_kind(row) == Kind::Unused
    }
}
