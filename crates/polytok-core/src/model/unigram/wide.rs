//! The Unigram models of Hugging Face and llama.cpp, with sums in double precision.
//!
//! Reference: `Unigram::encode_optimized` and `tokenize` of tokenizers, `llm_tokenizer_ugm_session` of llama.cpp; the
//! search is in `best_path`. Both references merge adjacent unknown characters into one token, and the text of the
//! unknown entry also counts as unknown. If entries are equal, both references use the last entry. Hugging Face matches
//! entries of every kind. Hugging Face looks each run of unknown characters up as a whole, and then replaces the run by
//! the entries of its bytes if every byte has an entry. If the best path to any offset ever ends with an unknown
//! character and no entry is of kind Unknown, Hugging Face fails, even if the final path has no unknown character.
//! llama.cpp ignores reserved entries, and its user-defined entries have score 0.
//!
//! Memory: 16 bytes per byte of text. The twin of llama.cpp's model is python/polytok/reference/llama_cpp_ugm.py.

use polytok_memory::Collect;

use super::best_path::{PathState, WideScore, for_each_piece, search};
use crate::error::{Error, Result};
use crate::native::Tables;
use crate::segment::Segment;
use crate::spec::{Kind, UnigramRules};
use crate::token_id::TokenId;
use crate::trie::Trie;
use crate::vocab::dictionary::is_reachable;
use crate::vocab::{Row, Vocab};

/// The difference between the lowest score and the score of an unknown character.
const UNKNOWN_PENALTY: f32 = 10.0;

/// The largest number of search states whose memory is kept after a call.
const MAX_KEPT_STATES: usize = 1 << 20;

/// A compiled Unigram model of Hugging Face or llama.cpp.
pub struct WideUnigram {
    /// The map from pieces to indexes in the columns.
    trie: Trie,
    ids: Vec<TokenId>,
    scores: Vec<WideScore>,
    unknown_score: f64,
    unknown_id: Option<TokenId>,
    is_hugging_face: bool,
    /// The id of the entry of each byte, if the byte has an entry, for Hugging Face's byte fallback.
    ids_of_bytes: Option<Box<[Option<TokenId>; 256]>>,
}

/// The memory that calls reuse.
#[derive(Default)]
pub struct WideScratch {
    states: Vec<PathState<f64>>,
}

impl WideUnigram {
    /// Compiles a model with the rules of Hugging Face or llama.cpp; `Unigram` has SentencePiece's rules.
    pub fn compile(vocab: &Vocab, rules: UnigramRules, tables: &mut Tables) -> Result<WideUnigram> {
        let is_hugging_face = matches!(rules, UnigramRules::HuggingFace { .. });
        // The rows are reversed, because the trie keeps the first of equal keys.
        let is_used = |&row: &Row| is_hugging_face || is_reachable(vocab.kind(row));
        let rows: Vec<Row> = vocab.rows().rev().filter(is_used).checked_collect();
        let build = || Trie::build(rows.iter().map(|&row| vocab.bytes(row)).zip(0..));
        let trie = Trie::compile(tables, vocab.max_entry_len(), |entry| (entry as usize) < rows.len(), build)?;
        let ids: Vec<TokenId> = rows.iter().map(|&row| vocab.id(row)).checked_collect();
        let id_of_byte =
            |id_of_byte: usize| trie.get(format!("<0x{id_of_byte:02X}>").as_bytes()).map(|entry| ids[entry as usize]);
        let has_fallback = matches!(rules, UnigramRules::HuggingFace { byte_fallback: true });
        let ids_of_bytes = has_fallback.then(|| Box::new(std::array::from_fn(id_of_byte)));
        let unknown_row = vocab.rows().find(|&row| vocab.kind(row) == Kind::Unknown);
        let score = |row: Row| match is_hugging_face {
            true => vocab.wide_score(row),
            false if vocab.kind(row) == Kind::UserDefined => 0.0,
            false => vocab.score(row) as f64,
        };
        Ok(WideUnigram {
            scores: rows.iter().map(|&row| WideScore(score(row))).checked_collect(),
            unknown_score: unknown_score(vocab, is_hugging_face),
            unknown_id: unknown_row.map(|row| vocab.id(row)),
            is_hugging_face,
            trie,
            ids_of_bytes,
            ids,
        })
    }

    /// Segments the text.
    pub fn segment(
        &self,
        text: &[u8],
        scratch: &mut WideScratch,
        emit: &mut impl FnMut(Segment) -> Result<()>,
    ) -> Result<()> {
        let states = &mut scratch.states;
        let (_, has_unknown) = search(&self.trie, &self.scores, self.unknown_score, text, 0.0, states);
        if has_unknown && self.is_hugging_face && self.unknown_id.is_none() {
            return Err(Error::Encode(
                "the text has characters that the vocabulary lacks, and this Unigram model has no unknown token (unk_id)".into(),
            ));
        }
        let (mut result, mut unknown_start) = (Ok(()), None);
        for_each_piece(states, |start, end, entry| {
            let id = self.ids.get(entry as usize).copied().filter(|&id| Some(id) != self.unknown_id);
            let Some(id) = id else {
                unknown_start.get_or_insert(start);
                return;
            };
            let unknown_result =
                unknown_start.take().map_or(Ok(()), |run_start| self.emit_unknown(text, run_start, start, emit));
            let emit_next = |()| unknown_result.and_then(|()| emit(Segment { id, start, end }));
            result = std::mem::replace(&mut result, Ok(())).and_then(emit_next);
        });
        if states.capacity() > MAX_KEPT_STATES {
            *states = Vec::new();
        }
        result?;
        unknown_start.map_or(Ok(()), |run_start| self.emit_unknown(text, run_start, text.len() as u32, emit))
    }

    /// Emits a run of unknown characters.
    fn emit_unknown(
        &self,
        text: &[u8],
        start: u32,
        end: u32,
        emit: &mut impl FnMut(Segment) -> Result<()>,
    ) -> Result<()> {
        let bytes = &text[start as usize..end as usize];
        let mut send = |id| emit(Segment { id, start, end });
        if self.is_hugging_face
            && let Some(entry) = self.trie.get(bytes)
        {
            return send(self.ids[entry as usize]);
        }
        match self.fallback_ids(bytes) {
            Some(mut ids) => ids.try_for_each(send),
            None => send(self.unknown_id.unwrap_or(TokenId::UNKNOWN)),
        }
    }

    /// Returns the ids of the bytes of a run of unknown characters; None if a byte has no entry.
    fn fallback_ids(&self, bytes: &[u8]) -> Option<impl Iterator<Item = TokenId>> {
        let ids = self.ids_of_bytes.as_deref()?;
        let has_all_bytes = bytes.iter().all(|&byte| ids[byte as usize].is_some());
        has_all_bytes.then(|| bytes.iter().filter_map(|&byte| ids[byte as usize]))
    }

    /// Reports whether every run of characters that no entry contains has the same id.
    pub fn has_same_id_for_unknown(&self) -> bool {
        self.is_hugging_face && self.unknown_id.is_some() && self.ids_of_bytes.is_none()
    }

    /// Reports whether a run of unknown characters is replaced by the entries of its bytes.
    pub fn falls_back(&self, bytes: &[u8]) -> bool {
        self.trie.get(bytes).is_none() && self.fallback_ids(bytes).is_some()
    }
}

/// Returns the score of unknown characters: the lowest score minus the penalty. Hugging Face compares all entries in
/// double precision, llama.cpp the normal entries in single precision.
fn unknown_score(vocab: &Vocab, is_hugging_face: bool) -> f64 {
    let rows = vocab.rows();
    if is_hugging_face {
        return rows.map(|row| vocab.wide_score(row)).fold(f64::INFINITY, f64::min) - UNKNOWN_PENALTY as f64;
    }
    let normal_scores = rows.filter(|&row| vocab.kind(row) == Kind::Normal).map(|row| vocab.score(row));
    (normal_scores.fold(f32::MAX, f32::min) - UNKNOWN_PENALTY) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::unigram::tests::vocab;

    const HUGGING_FACE: UnigramRules = UnigramRules::HuggingFace { byte_fallback: false };
    const HUGGING_FACE_WITH_BYTES: UnigramRules = UnigramRules::HuggingFace { byte_fallback: true };

    fn segment(rules: UnigramRules, rows: &[(&str, f32, Kind)], text: &str) -> Vec<(u32, u32, u32)> {
        let mut segments = Vec::new();
        let mut emit = |segment: Segment| {
            segments.push((segment.id.0, segment.start, segment.end));
            Ok(())
        };
        let model = WideUnigram::compile(&vocab(rows), rules, &mut Tables::default()).unwrap();
        model.segment(text.as_bytes(), &mut WideScratch::default(), &mut emit).unwrap();
        segments
    }

    /// The expected ids are those of tokenizers 0.23.3.
    #[test]
    fn hugging_face_ids() {
        let rows = [
            ("a", -1.0, Kind::Normal),
            ("b", -2.0, Kind::Normal),
            ("ab", -3.0, Kind::Control),
            ("<0x78>", -4.0, Kind::Byte),
            ("<0x79>", -4.0, Kind::Byte),
            ("xz", -50.0, Kind::Normal),
        ];
        assert_eq!(segment(HUGGING_FACE, &rows, "ab"), [(3, 0, 2)]);
        assert_eq!(segment(HUGGING_FACE, &rows, "axyb"), [(1, 0, 1), (0, 1, 3), (2, 3, 4)]);
        assert_eq!(segment(HUGGING_FACE_WITH_BYTES, &rows, "axyb"), [(1, 0, 1), (4, 1, 3), (5, 1, 3), (2, 3, 4)]);
        assert_eq!(segment(HUGGING_FACE_WITH_BYTES, &rows, "xq"), [(0, 0, 2)]);
        assert_eq!(segment(HUGGING_FACE, &rows, "<unk>"), [(0, 0, 5)]);
        assert_eq!(segment(HUGGING_FACE, &rows, ""), []);
        // An entry that loses against unknown characters is found when the whole run is looked up.
        let costly_pieces = [("a", -1.0, Kind::Normal), ("xz", -30.0, Kind::Normal), ("q", 100.0, Kind::Normal)];
        assert_eq!(segment(HUGGING_FACE, &costly_pieces, "xz"), [(2, 0, 2)]);
        let lowest_pieces = [("a", 0.0, Kind::Normal), ("xyz", -1000.0, Kind::Normal)];
        assert_eq!(segment(HUGGING_FACE, &lowest_pieces, "xyz"), [(2, 0, 3)]);
    }

    #[test]
    fn hugging_face_without_an_unknown_token() {
        let mut columns = crate::spec::VocabColumns { offsets: vec![0, 1], ..Default::default() };
        columns.blob = b"a".to_vec();
        (columns.ids, columns.scores, columns.kinds) = (vec![0], vec![-1.0], vec![Kind::Normal]);
        let model = WideUnigram::compile(&Vocab::new(columns).unwrap(), HUGGING_FACE, &mut Tables::default()).unwrap();
        let segment_text = |text: &[u8]| model.segment(text, &mut WideScratch::default(), &mut |_| Ok(()));
        assert!(segment_text(b"aa").is_ok());
        assert!(matches!(segment_text(b"ab"), Err(Error::Encode(_))));
    }

    #[test]
    fn llama_cpp() {
        let rows = [
            ("a", -1.0, Kind::Normal),
            ("ab", -5.0, Kind::UserDefined),
            ("b", -1.0, Kind::Normal),
            ("c", -3.0, Kind::Control),
            ("b", -2.0, Kind::Unused),
        ];
        assert_eq!(segment(UnigramRules::LlamaCpp, &rows, "ab"), [(2, 0, 2)]);
        assert_eq!(segment(UnigramRules::LlamaCpp, &rows, "bccxb"), [(5, 0, 1), (0, 1, 4), (5, 4, 5)]);
    }
}
