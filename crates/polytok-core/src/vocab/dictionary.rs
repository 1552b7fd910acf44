//! Looks up the vocabulary row or the output of a symbol by its bytes, for the final symbols of BPE and for
//! SentencePiece's WORD and CHAR models.

use crate::error::Result;
use crate::hash::{Slots, hash_bytes};
use crate::native::{FilePart, PartWriter, Stored, Tables};
use crate::spec::{Kind, SentencePieceVersion};
use crate::token_id::TokenId;
use crate::vocab::{Row, Vocab};

/// The result of the lookup of a final symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolOutput {
    /// The symbol's id.
    Id(TokenId),
    /// The symbol is a row of kind Unused. Depending on the SentencePiece version, the symbol is split again, or is
    /// emitted as the id of the row, or is unknown.
    Unused(TokenId),
    /// No row has these bytes.
    Unknown,
    /// The symbol is a control symbol that occurs in plain text. SentencePiece 0.2.1 cannot encode such a text.
    Refused(TokenId),
}

/// The rule that decides which rows text can be encoded to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReachRule {
    /// Text can be encoded to all rows, including control symbols (llama2.c).
    AllRows,
    /// Text can be encoded to all rows, except that only the last of several rows with equal bytes is used (llama.cpp,
    /// Hugging Face).
    LastOfEqualRows,
    /// Text can be encoded to Normal and UserDefined rows (tiktoken, minbpe, RWKV, byte-level vocabularies).
    PlainRows,
    /// SentencePiece's rule: text can be encoded to Normal, UserDefined and Unused rows; the other rows are reserved.
    SentencePiece(SentencePieceVersion),
}

impl ReachRule {
    /// Reports whether text can be encoded to rows of this kind.
    fn reaches(self, kind: Kind) -> bool {
        match self {
            ReachRule::AllRows | ReachRule::LastOfEqualRows => true,
            ReachRule::PlainRows => matches!(kind, Kind::Normal | Kind::UserDefined),
            ReachRule::SentencePiece(_) => is_reachable(kind),
        }
    }
}

/// A map from bytes to rows, for some of the rows of a vocabulary. Of several rows with equal bytes, the map has only
/// the first or only the last.
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

    /// Builds the map of all rows; of several rows with equal bytes, the map has the last.
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

    /// Builds the map of SentencePiece's reserved rows, to which text is not encoded.
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

    /// Reads a map. The rows are not checked here, because `find` compares the bytes of each row that it finds.
    fn read(part: &FilePart) -> Result<Rows> {
        Ok(Rows { slots: Slots::read(part)?, seed: part.number("seed")? })
    }
}

/// The map of the rows that text can be encoded to, the map of the reserved rows, and the rule that decides between
/// them.
#[derive(Debug)]
pub struct Dictionary {
    /// The rows that text can be encoded to.
    pub reachable_rows: Rows,
    reserved: Rows,
    reach: ReachRule,
}

/// Reports whether SentencePiece can encode text to rows of this kind.
pub fn is_reachable(kind: Kind) -> bool {
    matches!(kind, Kind::Normal | Kind::UserDefined | Kind::Unused)
}

impl Dictionary {
    /// Indexes the vocabulary.
    pub fn new(vocab: &Vocab, reach: ReachRule, tables: &mut Tables) -> Result<Dictionary> {
        let reaches_all = matches!(reach, ReachRule::AllRows | ReachRule::LastOfEqualRows);
        let reached = vocab.rows().filter(|&row| reach.reaches(vocab.kind(row)));
        let reachable_rows = tables.get("rows", || Rows::build(vocab, reached, reach == ReachRule::LastOfEqualRows))?;
        let reserved = if reaches_all { Rows::index(vocab, std::iter::empty())? } else { Rows::reserved(vocab)? };
        Ok(Dictionary { reachable_rows, reserved, reach })
    }

    /// Reports whether several of the rows that text can be encoded to have equal bytes.
    pub fn has_equal_rows(&self, vocab: &Vocab) -> bool {
        self.reachable_rows.slots.count() < vocab.rows().filter(|&row| self.reaches(vocab, row)).count()
    }

    /// Reports whether SentencePiece's rules apply.
    pub fn is_sentencepiece(&self) -> bool {
        matches!(self.reach, ReachRule::SentencePiece(_))
    }

    /// Reports whether text can be encoded to the row.
    pub fn reaches(&self, vocab: &Vocab, row: Row) -> bool {
        self.reach.reaches(vocab.kind(row))
    }

    /// Returns the result for a final symbol that has these bytes.
    pub fn output_of(&self, vocab: &Vocab, bytes: &[u8]) -> SymbolOutput {
        if self.reach == ReachRule::SentencePiece(SentencePieceVersion::V0_2_1)
            && let Some(row) = self.reserved.find(vocab, bytes)
        {
            return match vocab.kind(row) {
                Kind::Control => SymbolOutput::Refused(vocab.id(row)),
                Kind::Unknown => SymbolOutput::Unknown,
                _ => SymbolOutput::Id(vocab.id(row)),
            };
        }
        match self.reachable_rows.find(vocab, bytes) {
            Some(row) if self.is_unused(vocab, row) => SymbolOutput::Unused(vocab.id(row)),
            Some(row) => SymbolOutput::Id(vocab.id(row)),
            None => SymbolOutput::Unknown,
        }
    }

    /// Returns the largest depth to which Unused rows are split again.
    pub fn max_split_depth(&self) -> usize {
        if self.reach == ReachRule::SentencePiece(SentencePieceVersion::V0_2_3) { 100 } else { usize::MAX }
    }

    /// Returns the output of the row with these bytes, whatever its kind. SentencePiece 0.2.3 uses this output when
    /// splitting reaches the largest depth.
    pub fn output_by_name(&self, vocab: &Vocab, bytes: &[u8]) -> SymbolOutput {
        let row = self.reserved.find(vocab, bytes).or_else(|| self.reachable_rows.find(vocab, bytes));
        match row {
            Some(row) if vocab.kind(row) == Kind::Control => SymbolOutput::Refused(vocab.id(row)),
            Some(row) if vocab.kind(row) != Kind::Unknown => SymbolOutput::Id(vocab.id(row)),
            _ => SymbolOutput::Unknown,
        }
    }

    /// Returns the result for an Unused row that is not split again: the id of the row in SentencePiece 0.2.1, unknown
    /// in 0.2.3.
    pub fn settle_unused(&self, emit: SymbolOutput) -> SymbolOutput {
        match (emit, self.reach) {
            (SymbolOutput::Unused(_), ReachRule::SentencePiece(SentencePieceVersion::V0_2_3)) => SymbolOutput::Unknown,
            (SymbolOutput::Unused(id), _) => SymbolOutput::Id(id),
            (emit, _) => emit,
        }
    }

    fn is_unused(&self, vocab: &Vocab, row: Row) -> bool {
        matches!(self.reach, ReachRule::SentencePiece(_)) && vocab.active_kind(row) == Kind::Unused
    }
}
