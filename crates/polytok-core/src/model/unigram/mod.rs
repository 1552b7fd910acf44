//! Unigram: finds the segmentation of a text whose pieces have the largest sum of scores.
//!
//! Reference: SentencePiece's `EncodeOptimized`, bit by bit. A character that is not a piece can be an unknown token,
//! whose score is ten below the lowest score. The function `segment` searches the whole text once (`best_path`), with
//! 12 bytes of memory for each byte of text. After the first texts, text is encoded word by word (`by_word`, `words`).
//! Cost and worst input are those of the search. Hugging Face's and llama.cpp's rules are in `wide`.

pub mod best_path;
mod by_word;
mod certain;
pub mod lattice;
mod letters;
mod memo;
pub mod nbest;
mod raw;
pub mod sample;
mod send;
pub mod wide;
mod words;

use best_path::{Score, UNKNOWN_ENTRY, for_each_piece, search};
use by_word::TABLES_PAY_AFTER;
use polytok_memory::{self as memory, Collect};

use crate::error::{Error, Result};
use crate::lazy::{Lazy, Warmup};
use crate::native::{FilePart, PartWriter, Stored, Tables};
use crate::segment::Segment;
use crate::spec::{Kind, SentencePieceVersion};
use crate::table::Table;
use crate::token_id::TokenId;
use crate::trie::Trie;
use crate::utf8::lead_len;
use crate::vocab::{Row, Vocab};
pub use by_word::{WordTables, accepts_raw};
pub use words::RAW_BASE;
use words::{ScoredId, WordsScratch};

/// The difference between the lowest score and the score of an unknown character.
const UNKNOWN_PENALTY: f32 = 10.0;

/// A compiled Unigram model.
pub struct Unigram {
    /// The map from pieces, without unused pieces, to indexes of the columns below.
    pub(super) trie: Trie,
    pub(super) ids: Table<TokenId>,
    /// The columns of the lattice: score, and length in characters.
    pub(super) lattice_scores: Table<f32>,
    pub(super) char_lens: Table<u32>,
    pub(super) unknown_score: f32,
    pub(super) version: SentencePieceVersion,
    best_path: BestPathScores,
    words: Warmup<WordTables>,
}

/// The scores that `segment` adds, in the precision of the SentencePiece release.
enum BestPathScores {
    Double(EntryScores<f64>),
    Single(EntryScores<f32>),
}

/// Scores by entry.
struct EntryScores<S: 'static> {
    table: Table<S>,
    /// The table that [`EntryScores::rows`] returns.
    rows: Lazy<Vec<ScoredId<S>>>,
}

impl<S: Score> EntryScores<S> {
    fn new(table: Table<S>) -> EntryScores<S> {
        EntryScores { table, rows: Lazy::default() }
    }

    /// Returns the scores with ids, followed by a row that changes no sum. The first call builds the table.
    fn rows(&self, ids: &[TokenId]) -> &[ScoredId<S>] {
        self.rows.get(|| {
            let rows = self.table.iter().zip(ids).map(|(&score, &id)| ScoredId { score, id });
            rows.chain([ScoredId { score: S::ZERO, id: TokenId(0) }]).checked_collect()
        })
    }
}

/// The memory that calls reuse; each thread has its own.
#[derive(Default)]
pub struct UnigramScratch {
    words: WordsScratch,
}

impl UnigramScratch {
    /// Empties the cache of words, and limits the cache to `limit` bytes.
    pub fn renew(&mut self, limit: usize) {
        self.words.renew(limit);
    }

    /// Returns the number of bytes of the cache of words.
    pub fn bytes(&self) -> usize {
        self.words.cached_bytes()
    }
}

impl Unigram {
    /// Compiles the pieces of kind Normal, UserDefined and Unused.
    pub fn compile(vocab: &Vocab, version: SentencePieceVersion, tables: &mut Tables) -> Result<Unigram> {
        let mut unigram = tables.get("unigram", || Unigram::build(vocab, version))?;
        unigram.trie = unigram.trie.with_max_key_len(vocab.max_entry_len());
        if let Some(id) = unigram.ids.iter().find(|&&id| vocab.row(id).is_none()) {
            return Err(Error::Format(format!("the Unigram table has id {id}, which is not in the vocabulary")));
        }
        Ok(unigram)
    }

    fn build(vocab: &Vocab, version: SentencePieceVersion) -> Result<Unigram> {
        let rows = dictionary_rows(vocab, version)?;
        let (min_score, max_score) = score_range(vocab);
        let used_rows: Vec<Row> =
            rows.into_iter().filter(|&row| vocab.active_kind(row) != Kind::Unused).checked_collect();
        let columns = UnigramColumns { vocab, rows: &used_rows, version, max_score };
        Ok(Unigram {
            trie: Trie::build(used_rows.iter().map(|&row| vocab.bytes(row)).zip(0..))?,
            ids: used_rows.iter().map(|&row| vocab.id(row)).checked_collect().into(),
            lattice_scores: columns.lattice_scores().into(),
            char_lens: used_rows.iter().map(|&row| char_count(vocab.bytes(row))).checked_collect().into(),
            unknown_score: min_score - UNKNOWN_PENALTY,
            version,
            best_path: columns.best_path_scores(),
            words: Warmup::after_bytes(TABLES_PAY_AFTER),
        })
    }

    /// Segments the normalized text `norm`, from left to right. `norm` must be shorter than 4 GiB.
    pub fn segment(
        &self,
        norm: &[u8],
        scratch: &mut UnigramScratch,
        emit: &mut impl FnMut(Segment) -> Result<()>,
    ) -> Result<()> {
        self.segment_from(norm, 0.0, scratch, emit).map(drop)
    }

    /// Segments a part of a normalized text, before which the sum of scores is `start_sum`. No piece can reach over the
    /// start of the part. Returns the sum after the part.
    pub fn segment_from(
        &self,
        norm: &[u8],
        start_sum: f32,
        scratch: &mut UnigramScratch,
        emit: &mut impl FnMut(Segment) -> Result<()>,
    ) -> Result<f32> {
        let (trie, unknown_score, states) = (&self.trie, self.unknown_score, &mut scratch.words.states);
        let (sum, _) = match &self.best_path {
            BestPathScores::Double(scores) => search(trie, &scores.table, unknown_score, norm, start_sum, states),
            BestPathScores::Single(scores) => search(trie, &scores.table, unknown_score, norm, start_sum, states),
        };
        let mut result = Ok(());
        for_each_piece(states, |start, end, entry| {
            if result.is_ok() {
                let id = if entry == UNKNOWN_ENTRY { TokenId::UNKNOWN } else { self.ids[entry as usize] };
                result = emit(Segment { id, start, end });
            }
        });
        scratch.words.release();
        result.map(|()| sum)
    }
}

impl Stored for Unigram {
    fn write(&self, out: &mut PartWriter) {
        self.trie.write(out);
        out.table("ids", &self.ids);
        out.table("lattice_scores", &self.lattice_scores);
        out.table("char_lens", &self.char_lens);
        out.table("unknown_score", &[self.unknown_score]);
        match &self.best_path {
            BestPathScores::Double(scores) => out.table("double_scores", &scores.table),
            BestPathScores::Single(scores) => out.table("single_scores", &scores.table),
        }
    }

    fn read(part: &FilePart) -> Result<Unigram> {
        let (version, best_path) = match part.optional_table("double_scores")? {
            Some(scores) => (SentencePieceVersion::V0_2_1, BestPathScores::Double(EntryScores::new(scores))),
            None => {
                (SentencePieceVersion::V0_2_3, BestPathScores::Single(EntryScores::new(part.table("single_scores")?)))
            }
        };
        let unigram = Unigram {
            trie: Trie::read(part)?,
            ids: part.table("ids")?,
            lattice_scores: part.table("lattice_scores")?,
            char_lens: part.table("char_lens")?,
            unknown_score: part.number("unknown_score")?,
            version,
            best_path,
            words: Warmup::after_bytes(TABLES_PAY_AFTER),
        };
        let entry_count = match &unigram.best_path {
            BestPathScores::Double(scores) => scores.table.len(),
            BestPathScores::Single(scores) => scores.table.len(),
        };
        let lengths = [unigram.ids.len(), unigram.lattice_scores.len(), unigram.char_lens.len()];
        let are_in_range = unigram.trie.values().all(|entry| (entry as usize) < entry_count);
        if lengths.iter().any(|&length| length != entry_count) || !are_in_range {
            return Err(part.section_error("ids", "do not fit the other tables"));
        }
        Ok(unigram)
    }
}

/// Returns the rows to which text can be encoded, after checks; reference: `InitializePieces` and `BuildTrie`.
fn dictionary_rows(vocab: &Vocab, version: SentencePieceVersion) -> Result<Vec<Row>> {
    let refuse_row = |row: Row, what: &str| {
        let piece = memory::lossy(vocab.bytes(row)).into_owned();
        Err(Error::Spec(format!("vocab: the piece {piece:?} with id {} {what}", vocab.id(row))))
    };
    let is_in_dictionary = |&row: &Row| matches!(vocab.kind(row), Kind::Normal | Kind::UserDefined | Kind::Unused);
    let mut rows: Vec<Row> = vocab.rows().filter(is_in_dictionary).checked_collect();
    if version == SentencePieceVersion::V0_2_3 {
        if let Some(row) = vocab.rows().find(|&row| !vocab.score(row).is_finite()) {
            return refuse_row(row, "has a score that is not finite");
        }
        // 0.2.3 ignores this piece, which old models with byte fallback have.
        rows.retain(|&row| !(vocab.bytes(row) == b"\0" && vocab.kind(row) == Kind::Unused));
    }
    for &row in &rows {
        match vocab.bytes(row) {
            [] => return refuse_row(row, "is empty"),
            piece if piece.contains(&0) => return refuse_row(row, "contains NUL"),
            _ => {}
        }
    }
    if rows.is_empty() {
        return Err(Error::Spec("vocab: a Unigram model needs a normal, user-defined or unused piece".into()));
    }
    sort_by_bytes(vocab, &mut rows);
    if let Some(pair) = rows.windows(2).find(|pair| vocab.bytes(pair[0]) == vocab.bytes(pair[1])) {
        return refuse_row(pair[1], &format!("is already defined as id {}", vocab.id(pair[0])));
    }
    Ok(rows)
}

/// Sorts rows by their bytes; equal rows stay in their order. The first eight bytes are compared as a number first,
/// because they nearly always decide.
fn sort_by_bytes(vocab: &Vocab, rows: &mut [Row]) {
    let first_bytes = |row: Row| {
        let (bytes, mut first_bytes) = (vocab.bytes(row), [0; 8]);
        let len = bytes.len().min(8);
        first_bytes[..len].copy_from_slice(&bytes[..len]);
        u64::from_be_bytes(first_bytes)
    };
    let mut keys: Vec<(u64, Row)> = rows.iter().map(|&row| (first_bytes(row), row)).checked_collect();
    keys.sort_unstable_by(|left, right| {
        let all_bytes = || vocab.bytes(left.1).cmp(vocab.bytes(right.1));
        left.0.cmp(&right.0).then_with(all_bytes).then(left.1.cmp(&right.1))
    });
    rows.iter_mut().zip(keys).for_each(|(row, (_, sorted_row))| *row = sorted_row);
}

/// Returns the lowest and highest score of the normal pieces. As in the reference, the highest score is at least the
/// smallest positive float, so with log probabilities the highest score is about 0; the scores of user-defined pieces
/// in 0.2.1 depend on it.
fn score_range(vocab: &Vocab) -> (f32, f32) {
    let normal_scores = vocab.rows().filter(|&row| vocab.kind(row) == Kind::Normal).map(|row| vocab.score(row));
    normal_scores.fold((f32::MAX, f32::MIN_POSITIVE), |(min, max), score| (min.min(score), max.max(score)))
}

/// Returns the number of characters by the lead-byte rule; a character that the piece has only in part counts too.
fn char_count(piece: &[u8]) -> u32 {
    let (mut at, mut chars) = (0, 0);
    while at < piece.len() {
        at += lead_len(piece[at]);
        chars += 1;
    }
    chars
}

struct UnigramColumns<'a> {
    vocab: &'a Vocab,
    rows: &'a [Row],
    version: SentencePieceVersion,
    max_score: f32,
}

impl UnigramColumns<'_> {
    /// Returns the score of each row, in double precision because 0.2.1 computes the scores of user-defined pieces in
    /// double precision. The length that decides the score of a user-defined piece is in bytes for the best path and in
    /// characters for the lattice.
    fn scores(&self, user_defined_len: impl Fn(&[u8]) -> u32) -> impl Iterator<Item = f64> {
        self.rows.iter().map(move |&row| {
            if self.vocab.active_kind(row) != Kind::UserDefined {
                return self.vocab.score(row) as f64;
            }
            let len = user_defined_len(self.vocab.bytes(row));
            match self.version {
                SentencePieceVersion::V0_2_1 => (len as f32 * self.max_score) as f64 - 0.1,
                SentencePieceVersion::V0_2_3 => 0.1 * (len - 1) as f64,
            }
        })
    }

    fn lattice_scores(&self) -> Vec<f32> {
        self.scores(char_count).map(|score| score as f32).checked_collect()
    }

    fn best_path_scores(&self) -> BestPathScores {
        let scores = self.scores(|piece| piece.len() as u32);
        match self.version {
            SentencePieceVersion::V0_2_1 => BestPathScores::Double(EntryScores::new(scores.checked_collect().into())),
            SentencePieceVersion::V0_2_3 => {
                BestPathScores::Single(EntryScores::new(scores.map(|score| score as f32).checked_collect().into()))
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
