//! Maps the bytes of a symbol to a row or an id. BPE uses the lookup for final symbols; SentencePiece's WORD and CHAR
//! models use the same lookup.

use crate::error::Result;
use crate::hash::{Slots, hash_bytes};
use crate::native::{FilePart, PartWriter, Stored, Tables};
use crate::spec::{Kind, Line};
use crate::token_id::TokenId;
use crate::vocab::{Row, Vocab};

/// The result of the lookup of a final symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emit {
    /// The symbol's id.
    Id(TokenId),
    /// The symbol has an Unused row, which the model can merge further. Depending on the version, the symbol is split
    /// again, or gets the id of the row or the unknown id.
    Unused(TokenId),
    /// No row has these bytes.
    Unknown,
    /// The symbol is a control symbol in plain text. SentencePiece 0.2.1 cannot encode a text with a control symbol.
    Refused(TokenId),
}

/// The rule that decides which rows text can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Text reaches all rows, including control symbols (llama2.c).
    All,
    /// Text reaches all rows; of several rows with equal bytes, text reaches the last (llama.cpp, Hugging Face).
    Last,
    /// Text reaches Normal and UserDefined rows (tiktoken, minbpe, RWKV, byte-level vocabularies).
    Plain,
    /// SentencePiece's two maps: text reaches Normal, UserDefined and Unused rows; the other rows are reserved.
    SentencePiece(Line),
}

impl Reach {
    /// Reports whether text reaches rows of this kind.
    fn reaches(self, kind: Kind) -> bool {
        match self {
            Reach::All | Reach::Last => true,
            Reach::Plain => matches!(kind, Kind::Normal | Kind::UserDefined),
            Reach::SentencePiece(_) => is_reachable(kind),
        }
    }
}

/// A map from bytes to some rows of a vocabulary. Of several rows with equal bytes, the map has either the first or the
/// last row.
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

    /// Indexes all rows; of several rows with equal bytes, the last row is found.
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

    /// Returns the row that has exactly these bytes.
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

    /// Reads a map. The rows are checked when a lookup finds them.
    fn read(part: &FilePart) -> Result<Rows> {
        Ok(Rows { slots: Slots::read(part)?, seed: part.number("seed")? })
    }
}

/// The two maps of a vocabulary, and the rule that combines them.
#[derive(Debug)]
pub struct Dictionary {
    /// The rows that text can reach.
    pub normal: Rows,
    reserved: Rows,
    reach: Reach,
}

/// Reports whether SentencePiece puts rows of a kind into the map that text can reach.
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

    /// Reports whether SentencePiece's rules apply.
    pub fn is_sentencepiece(&self) -> bool {
        matches!(self.reach, Reach::SentencePiece(_))
    }

    /// Reports whether the row is in the map that text can reach.
    pub fn reaches(&self, vocab: &Vocab, row: Row) -> bool {
        self.reach.reaches(vocab.kind(row))
    }

    /// Returns the result for a final symbol that has these bytes.
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

    /// Returns the highest depth to which Unused rows are split again.
    pub fn max_split_depth(&self) -> usize {
        if self.reach == Reach::SentencePiece(Line::V0_2_3) { 100 } else { usize::MAX }
    }

    /// Returns the id of the row with these bytes, of any kind. SentencePiece 0.2.3 emits this id when splitting stops.
    pub fn emit_by_name(&self, vocab: &Vocab, bytes: &[u8]) -> Emit {
        let row = self.reserved.find(vocab, bytes).or_else(|| self.normal.find(vocab, bytes));
        match row {
            Some(row) if vocab.kind(row) == Kind::Control => Emit::Refused(vocab.id(row)),
            Some(row) if vocab.kind(row) != Kind::Unknown => Emit::Id(vocab.id(row)),
            _ => Emit::Unknown,
        }
    }

    /// Returns the result for an Unused row that is not split again: the id of the row in SentencePiece 0.2.1, unknown
    /// in 0.2.3.
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
