//! PLaMo-2: finds the segmentation of least cost, from the end of the text to its start.
//!
//! Reference: llama.cpp's `llm_tokenizer_plamo2::encode`. Scores are integers, in ten-thousandths. At each character
//! the reference tries the entries that match from the longest to the shortest, and then the character as unknown, at a
//! fixed cost; of equal sums the reference keeps the first. Two rules of its table are followed: an entry with the
//! score of an unknown character ends the list, and an entry with a very low score is left out. Entries of kind Byte
//! are not used; of equal entries, the last entry is used. A U+FEFF at the start of the text is skipped.
//!
//! Invariant: the cost of an offset is final before an earlier offset is processed. Cost: one trie walk for each
//! character, at most the length of the text times the length of the longest entry; 16 bytes of memory for each byte of
//! text. Twin: `plamo2` in python/polytok/reference/llama_cpp_models.py.

use polytok_memory::{Collect, Grow};

use crate::error::Result;
use crate::native::Tables;
use crate::segment::Segment;
use crate::spec::Kind;
use crate::token_id::TokenId;
use crate::trie::Trie;
use crate::utf8::char_len;
use crate::vocab::{Row, Vocab};

/// The largest score of entries that are left out.
const MAX_OMITTED_SCORE: i32 = -20_000_000;

/// The score of an unknown character.
const UNKNOWN_SCORE: i32 = -10_000_000;

/// The cost of an offset from which no segmentation reaches the end of the text.
const UNREACHABLE_COST: i64 = 1 << 60;

/// The largest capacity of the scratch buffers that is kept after a call.
const MAX_KEPT_LEN: usize = 1 << 20;

/// A compiled PLaMo-2 model.
pub struct Plamo2 {
    /// The trie from the bytes of an entry to its index in `entries`.
    trie: Trie,
    /// The id and score of each entry.
    entries: Vec<(TokenId, i32)>,
}

/// The best segmentation from an offset to the end of the text: its cost and its first token.
#[derive(Clone, Copy, Debug)]
struct SuffixSegmentation {
    cost: i64,
    id: TokenId,
    len: u32,
}

/// The memory of a call, which later calls use again.
#[derive(Debug, Default)]
pub struct Plamo2Scratch {
    best_from: Vec<SuffixSegmentation>,
    starts: Vec<u32>,
}

impl Plamo2 {
    /// Compiles the model.
    pub fn compile(vocab: &Vocab, tables: &mut Tables) -> Result<Plamo2> {
        let rows: Vec<Row> = vocab.rows().rev().filter(|&row| vocab.kind(row) != Kind::Byte).checked_collect();
        let score = |row: Row| {
            let score = vocab.score(row);
            if score.is_finite() { (score as f64 * 1e4).round() as i32 } else { MAX_OMITTED_SCORE }
        };
        let entries = rows.iter().map(|&row| (vocab.id(row), score(row))).checked_collect();
        let build = || Trie::build(rows.iter().map(|&row| vocab.bytes(row)).zip(0..));
        let trie = Trie::compile(tables, vocab.max_entry_len(), |entry| (entry as usize) < rows.len(), build)?;
        Ok(Plamo2 { trie, entries })
    }

    /// Segments the text. Each character that no entry covers is an unknown segment of its own.
    pub fn segment(
        &self,
        text: &[u8],
        scratch: &mut Plamo2Scratch,
        emit: &mut impl FnMut(Segment) -> Result<()>,
    ) -> Result<()> {
        let mut at = if text.starts_with("\u{FEFF}".as_bytes()) { 3 } else { 0 };
        self.search(text, at, scratch);
        while at < text.len() {
            let SuffixSegmentation { id, len, .. } = scratch.best_from[at];
            emit(Segment { id, start: at as u32, end: at as u32 + len })?;
            at += len as usize;
        }
        if scratch.best_from.capacity() > MAX_KEPT_LEN {
            *scratch = Plamo2Scratch::default();
        }
        Ok(())
    }

    /// Finds the best segmentation from each character to the end of the text.
    fn search(&self, text: &[u8], text_start: usize, scratch: &mut Plamo2Scratch) {
        let Plamo2Scratch { best_from, starts } = scratch;
        best_from.clear();
        best_from.checked_resize(
            text.len() + 1,
            SuffixSegmentation { cost: UNREACHABLE_COST, id: TokenId::UNKNOWN, len: 0 },
        );
        best_from[text.len()].cost = 0;
        starts.clear();
        let mut at = text_start;
        while at < text.len() {
            starts.checked_push(at as u32);
            at += char_len(&text[at..]);
        }
        for &start in starts.iter().rev() {
            best_from[start as usize] = self.find_best(&text[start as usize..], &best_from[start as usize..]);
        }
    }

    /// Returns the best segmentation of `text`; `places` has the best segmentation from each later offset of `text`.
    fn find_best(&self, text: &[u8], best_from: &[SuffixSegmentation]) -> SuffixSegmentation {
        let char_len = char_len(text);
        let unknown = SuffixSegmentation {
            cost: best_from[char_len].cost - UNKNOWN_SCORE as i64,
            id: TokenId::UNKNOWN,
            len: char_len as u32,
        };
        let mut best = SuffixSegmentation { cost: UNREACHABLE_COST, id: TokenId::UNKNOWN, len: 0 };
        let mut has_list_end = false;
        // The trie finds the shortest entry first, the reverse of the reference's order. So of equal sums the later sum
        // wins, and an entry that ends the reference's list discards the entries that the trie found before.
        self.trie.prefixes(text, |len, entry| {
            let (id, score) = self.entries[entry as usize];
            if score <= MAX_OMITTED_SCORE || best_from[len].cost == UNREACHABLE_COST {
                return;
            }
            if score == UNKNOWN_SCORE {
                (best.cost, has_list_end) = (UNREACHABLE_COST, true);
            }
            let cost = best_from[len].cost - score as i64;
            if cost <= best.cost {
                best = SuffixSegmentation { cost, id, len: len as u32 };
            }
        });
        if !has_list_end && unknown.cost < best.cost { unknown } else { best }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::unigram::tests::vocab;
    use proptest::prelude::*;

    fn segment_text(rows: &[(&str, f32, Kind)], text: &str) -> Vec<(u32, u32, u32)> {
        let mut segments = Vec::new();
        let mut emit = |segment: Segment| {
            segments.push((segment.id.0, segment.start, segment.end));
            Ok(())
        };
        Plamo2::compile(&vocab(rows), &mut Tables::default())
            .unwrap()
            .segment(text.as_bytes(), &mut Plamo2Scratch::default(), &mut emit)
            .unwrap();
        segments
    }

    #[test]
    fn ties_unknowns_and_the_byte_order_mark() {
        let rows = [
            ("a", -1.0, Kind::Normal),
            ("aa", -2.0, Kind::Control),
            ("b", -1000.0, Kind::Normal),
            ("ba", -999.0, Kind::Normal),
            ("c", f32::NEG_INFINITY, Kind::Normal),
            ("d", -1.0, Kind::Byte),
        ];
        assert_eq!(segment_text(&rows, "aa"), [(2, 0, 2)]);
        assert_eq!(segment_text(&rows, "\u{FEFF}aaé"), [(2, 3, 5), (TokenId::UNKNOWN.0, 5, 7)]);
        assert_eq!(segment_text(&rows, "ba"), [(4, 0, 2)]);
        assert_eq!(segment_text(&rows, "bc"), [(3, 0, 1), (TokenId::UNKNOWN.0, 1, 2)]);
        assert_eq!(segment_text(&rows, "d"), [(TokenId::UNKNOWN.0, 0, 1)]);
        assert_eq!(segment_text(&rows, ""), []);
    }

    proptest! {
        /// The reference's loop over a list of entries, longest first.
        #[test]
        fn agrees_with_the_naive_loop(entries in proptest::collection::btree_map("[ab]{1,3}", -30i32..3, 1..8), text in "[abé]{0,9}") {
            let rows: Vec<_> = entries.iter().map(|(piece, score)| (piece.as_str(), *score as f32 * 100.0, Kind::Normal)).collect();
            let mut best: Vec<(i64, u32, usize)> = vec![(0, 0, 0); text.len() + 1];
            for (at, character) in text.char_indices().rev() {
                let mut candidates: Vec<(usize, i64, u32)> = rows.iter().zip(1..)
                    .filter(|((piece, _, _), _)| text[at..].starts_with(piece))
                    .map(|((piece, score, _), id)| (piece.len(), (*score as f64 * 1e4) as i64, id)).collect();
                candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.0));
                candidates.push((character.len_utf8(), UNKNOWN_SCORE as i64, TokenId::UNKNOWN.0));
                best[at] = (i64::MAX, 0, 0);
                for (len, score, id) in candidates.into_iter().filter(|candidate| candidate.1 > MAX_OMITTED_SCORE as i64) {
                    let cost = best[at + len].0 - score;
                    if cost < best[at].0 {
                        best[at] = (cost, id, len);
                    }
                    if score == UNKNOWN_SCORE as i64 {
                        break;
                    }
                }
            }
            let (mut at, mut expected) = (0, Vec::new());
            while at < text.len() {
                let (_, id, len) = best[at];
                expected.push((id, at as u32, (at + len) as u32));
                at += len;
            }
            prop_assert_eq!(segment_text(&rows, &text), expected);
        }
    }
}
