//! The initial symbols of Hugging Face's BPE: characters with their affixes. Unknown characters are handled before
//! merging.
//!
//! Reference: `BPE::merge_word` of tokenizers. A character gets the prefix if it is not the first, and the suffix if it
//! is the last. The symbols of a character are decided by the first of these rules that applies:
//!
//! 1. the entry of the character;
//! 2. the entries of all its bytes;
//! 3. the unknown entry, which is written before the next known character or at the end of the piece, so after entries
//!    of bytes;
//! 4. no symbol; then the neighbours of the character can merge.
//!
//! The reference computes spans from the lengths of symbols. The entry of a byte has length 1, and a character without
//! a symbol has no length, so such a character moves all later spans. Cost: linear.

use hashbrown::HashMap;
use polytok_memory::{self as memory, Copied, Grow, GrowMap};

use super::merge::PlacedSymbol;
use super::pairs::Pairs;
use super::symbol::Symbol;
use crate::error::{Error, Result};
use crate::spec::{Kind, ScalarRules, Unknown};
use crate::utf8::only_char;
use crate::vocab::{Row, Vocab};

/// The compiled rules.
pub(super) struct Scalars {
    /// The rows of characters by their position in a piece: inside, at the end, at the start, or alone. If an affix is
    /// empty, two positions share a map.
    rows_by_position: [HashMap<char, Row>; 4],
    affixes: [Vec<u8>; 2],
    /// The rows of bytes, if unknown characters are encoded as bytes.
    byte_rows: Option<Box<[Option<Row>; 256]>>,
    unknown_rule: UnknownRule,
    fuses_unknown: bool,
}

/// The output for a character that has no row.
#[derive(Clone, Copy)]
enum UnknownRule {
    Row(Row),
    Drop,
    Error,
}

impl Scalars {
    /// Indexes the vocabulary; of equal rows, the last row is used.
    pub fn compile(vocab: &Vocab, rules: &ScalarRules, unknown_rule: Unknown) -> Result<Scalars> {
        let unknown_row = vocab.rows().find(|&row| vocab.kind(row) == Kind::Unknown);
        let unknown_rule = match (unknown_rule, unknown_row) {
            (Unknown::Unk, Some(row)) => UnknownRule::Row(row),
            (Unknown::Drop, _) => UnknownRule::Drop,
            _ => UnknownRule::Error,
        };
        let affixes =
            [rules.continuing_prefix.as_bytes().checked_to_vec(), rules.word_suffix.as_bytes().checked_to_vec()];
        let mut rows_by_position: [HashMap<char, Row>; 4] = Default::default();
        let mut byte_rows = Box::new([None; 256]);
        let position_indexes =
            (0..4).filter(|&index| index == position_index(index & 2 != 0, index & 1 != 0, &affixes));
        let max_entry_len = 6.max(4 + affixes[0].len() + affixes[1].len()); // of a byte, of a character
        for row in vocab.rows() {
            let piece = vocab.bytes(row);
            if piece.len() > max_entry_len {
                continue;
            }
            for index in position_indexes.clone() {
                let text = if index & 2 == 0 { piece.strip_prefix(&affixes[0][..]) } else { Some(piece) };
                let text = if index & 1 == 1 { text.and_then(|text| text.strip_suffix(&affixes[1][..])) } else { text };
                text.and_then(only_char).map(|c| rows_by_position[index].checked_insert(c, row));
            }
            if let Some(byte) = parse_byte_entry(piece) {
                byte_rows[byte as usize] = Some(row);
            }
        }
        let byte_rows = rules.byte_fallback.then_some(byte_rows);
        Ok(Scalars { rows_by_position, affixes, byte_rows, unknown_rule, fuses_unknown: rules.fuse_unknown })
    }

    /// Reports whether pieces can be split at boundaries, if `pairs` are the pairs that merge. They can if the symbols
    /// of a character do not depend on its neighbours, and if entries of bytes never merge. (The text of such an entry
    /// is not the byte that the entry encodes.)
    pub fn can_split_at_boundaries(&self, pairs: &Pairs) -> bool {
        let Some(rows) = self.byte_rows().filter(|_| self.affixes.iter().all(Vec::is_empty)) else { return false };
        let mut are_bytes = memory::filled(false, rows.iter().map(|row| row.index() + 1).max().unwrap_or(0));
        rows.iter().for_each(|row| are_bytes[row.index()] = true);
        let is_byte = |symbol: Symbol| are_bytes.get(symbol.number() as usize).is_some_and(|&is_byte| is_byte);
        !pairs.list().iter().any(|pair| is_byte(pair.left) || is_byte(pair.right) || is_byte(pair.merged))
    }

    /// Returns the rows of all bytes, if characters without a row are encoded as bytes.
    pub fn byte_rows(&self) -> Option<[Row; 256]> {
        let rows = self.byte_rows.as_ref()?;
        rows.iter().all(Option::is_some).then(|| rows.map(|row| row.unwrap_or(Row(0))))
    }

    /// Returns the text that is written before every character of a piece except the first, and after the last.
    pub fn affixes(&self) -> [&[u8]; 2] {
        [&self.affixes[0], &self.affixes[1]]
    }

    /// Returns the length of the suffix of the last entry of a piece; None if entries can cover other bytes of a piece
    /// than their own bytes without this suffix.
    pub fn covered_suffix_len(&self) -> Option<usize> {
        (self.affixes[0].is_empty() && self.byte_rows.is_none()).then_some(self.affixes[1].len())
    }

    /// Returns the row of a character inside of a piece.
    pub fn row(&self, c: char) -> Option<Row> {
        self.rows_by_position[position_index(false, false, &self.affixes)].get(&c).copied()
    }

    /// Appends the symbols of a piece; returns the sum of their lengths.
    pub fn push(&self, piece: &[u8], symbols: &mut Vec<PlacedSymbol>) -> Result<u32> {
        let text = std::str::from_utf8(piece).map_err(|_| {
            Error::Encode(
                "the text is not UTF-8, which this BPE model needs; replace the invalid bytes (errors=\"replace\")"
                    .into(),
            )
        })?;
        let mut run = SymbolRun { symbols, len: 0, pending_unknown: None };
        for (at, c) in text.char_indices() {
            let (is_first, is_last) = (at == 0, at + c.len_utf8() == text.len());
            let len = c.len_utf8() as u32;
            if let Some(&row) = self.rows_by_position[position_index(is_first, is_last, &self.affixes)].get(&c) {
                run.flush();
                run.add(row, len);
            } else if !self.push_bytes(&text[at..at + c.len_utf8()], is_first, is_last, &mut run) {
                self.push_unknown(c, len, &mut run)?;
            }
        }
        run.flush();
        Ok(run.len)
    }

    /// Appends the entries of the bytes of a character and of its affixes. Returns false and appends nothing if an
    /// entry is missing.
    fn push_bytes(&self, text: &str, is_first: bool, is_last: bool, run: &mut SymbolRun) -> bool {
        let Some(rows) = &self.byte_rows else { return false };
        let [prefix, suffix] = &self.affixes;
        let prefix = if is_first { &[][..] } else { prefix };
        let suffix = if is_last { suffix } else { &[][..] };
        let bytes = || prefix.iter().chain(text.as_bytes()).chain(suffix).map(|&byte| rows[byte as usize]);
        if !bytes().all(|row| row.is_some()) {
            return false;
        }
        bytes().flatten().for_each(|row| run.add(row, 1));
        true
    }

    fn push_unknown(&self, c: char, len: u32, run: &mut SymbolRun) -> Result<()> {
        match self.unknown_rule {
            UnknownRule::Row(row) => {
                if !self.fuses_unknown {
                    run.flush();
                }
                run.pending_unknown = Some((row, len + run.pending_unknown.map_or(0, |(_, pending_len)| pending_len)));
                Ok(())
            }
            UnknownRule::Drop => Ok(()),
            UnknownRule::Error => Err(Error::Encode(format!(
                "no entry covers the character {c:?}, and this BPE model has no unknown token in its vocabulary"
            ))),
        }
    }
}

/// The symbols of a piece that are being written.
struct SymbolRun<'a> {
    symbols: &'a mut Vec<PlacedSymbol>,
    len: u32,
    /// The row of an unknown entry that is not written yet, and its length.
    pending_unknown: Option<(Row, u32)>,
}

impl SymbolRun<'_> {
    fn add(&mut self, row: Row, len: u32) {
        self.symbols.checked_push(PlacedSymbol::new(Symbol::row(row), self.len as usize));
        self.len += len;
    }

    fn flush(&mut self) {
        if let Some((row, len)) = self.pending_unknown.take() {
            self.add(row, len);
        }
    }
}

/// Returns the index of the map of rows for a position in a piece.
#[inline]
fn position_index(is_first: bool, is_last: bool, [prefix, suffix]: &[Vec<u8>; 2]) -> usize {
    2 * (is_first || prefix.is_empty()) as usize + (is_last && !suffix.is_empty()) as usize
}

/// Returns the byte of an entry `<0xHH>` with two upper-case digits.
fn parse_byte_entry(piece: &[u8]) -> Option<u8> {
    let digits = piece.strip_prefix(b"<0x")?.strip_suffix(b">")?;
    let byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    (format!("{byte:02X}").as_bytes() == digits).then_some(byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::bpe::{Bpe, BpeRules, BpeScratch};
    use crate::native::Tables;
    use crate::spec::{Priority, SentencePieceVersion, Symbols, VocabColumns};
    use std::sync::Arc;

    const AFFIXED_PIECES: [&str; 14] = [
        "<unk>", "a", "b", "c", "##b", "##c", "c</w>", "##c</w>", "ab", "abc</w>", "<0xC3>", "<0xA9>", "##bc", "<0x23>",
    ];
    const PLAIN_PIECES: [&str; 8] = ["<unk>", "a", "b", "ab", "<0xC3>", "<0xA9>", "aa", "<unk>a"];

    fn compile_bpe(pieces: &[&str], merges: &[[u32; 3]], scalars: ScalarRules, unknown: Unknown) -> Result<Bpe> {
        let kinds = std::iter::once(Kind::Unknown).chain(std::iter::repeat(Kind::Normal));
        let columns = VocabColumns::from_rows(pieces.iter().zip(kinds).map(|(piece, kind)| (piece, 0.0, kind)));
        let rules =
            BpeRules { scalars, unknown, ..BpeRules::new(Symbols::Scalars, false, SentencePieceVersion::default()) };
        let vocab = Arc::new(Vocab::new(columns)?);
        Bpe::compile(vocab, &Priority::Merges(merges.to_vec()), &rules, None, &mut Tables::default())
    }

    fn encode_both_ways(compile_bpe: &Bpe, text: &str) -> Vec<(u32, u32, u32)> {
        let mut segments = Vec::new();
        let mut emit = |segment: crate::segment::Segment| {
            segments.push((segment.id.0, segment.start, segment.end));
            Ok(())
        };
        compile_bpe.segment(text.as_bytes(), 0, false, &mut BpeScratch::default(), &mut emit).unwrap();
        let mut whole_text_segments = Vec::new();
        let mut emit = |segment: crate::segment::Segment| {
            whole_text_segments.push((segment.id.0, segment.start, segment.end));
            Ok(())
        };
        compile_bpe.segment_whole(text.as_bytes(), None, &mut BpeScratch::default(), &mut emit).unwrap();
        assert_eq!(segments, whole_text_segments);
        segments
    }

    // The expected values below are those of tokenizers 0.23.3.

    #[test]
    fn affixes() {
        let rules = |suffix: &str| ScalarRules {
            continuing_prefix: "##".into(),
            word_suffix: suffix.into(),
            ..ScalarRules::default()
        };
        let with_prefix = compile_bpe(&AFFIXED_PIECES, &[[1, 4, 8], [4, 5, 12]], rules(""), Unknown::Unk).unwrap();
        assert_eq!(encode_both_ways(&with_prefix, "abc"), [(8, 0, 2), (5, 2, 3)]);
        assert_eq!(encode_both_ways(&with_prefix, "bca"), [(2, 0, 1), (5, 1, 2), (0, 2, 3)]);
        assert_eq!(encode_both_ways(&with_prefix, "xay"), [(0, 0, 1), (0, 1, 2), (0, 2, 3)]);
        assert_eq!(encode_both_ways(&with_prefix, "aé"), [(1, 0, 1), (0, 1, 3)]);
        let with_affixes = compile_bpe(&AFFIXED_PIECES, &[[1, 4, 8], [8, 7, 9]], rules("</w>"), Unknown::Unk).unwrap();
        assert_eq!(encode_both_ways(&with_affixes, "abc"), [(9, 0, 3)]);
        assert_eq!(encode_both_ways(&with_affixes, "ab"), [(1, 0, 1), (0, 1, 2)]);
        assert_eq!(encode_both_ways(&with_affixes, "c"), [(6, 0, 1)]);
        assert_eq!(encode_both_ways(&with_affixes, "abcab"), [(8, 0, 2), (5, 2, 3), (0, 3, 4), (0, 4, 5)]);
        assert!(compile_bpe(&AFFIXED_PIECES, &[[1, 2, 8]], rules(""), Unknown::Unk).is_err());
        // Lengths include the bytes of the prefix; a span that exceeds the piece is truncated to the end of the piece.
        let with_bytes = ScalarRules { byte_fallback: true, ..rules("") };
        let with_bytes = compile_bpe(&AFFIXED_PIECES, &[], with_bytes, Unknown::Unk).unwrap();
        assert_eq!(encode_both_ways(&with_bytes, "aé"), [(1, 0, 1), (13, 1, 2), (13, 2, 3), (10, 3, 3), (11, 3, 3)]);
    }

    #[test]
    fn unknown_characters() {
        let merges = [[1, 2, 3]];
        let rules = |byte_fallback, fuse_unknown| ScalarRules { byte_fallback, fuse_unknown, ..ScalarRules::default() };
        let unfused = compile_bpe(&PLAIN_PIECES, &merges, rules(false, false), Unknown::Unk).unwrap();
        assert_eq!(encode_both_ways(&unfused, "xxab"), [(0, 0, 1), (0, 1, 2), (3, 2, 4)]);
        let fused = compile_bpe(&PLAIN_PIECES, &merges, rules(false, true), Unknown::Unk).unwrap();
        assert_eq!(encode_both_ways(&fused, "axyb"), [(1, 0, 1), (0, 1, 3), (2, 3, 4)]);
        let with_bytes = compile_bpe(&PLAIN_PIECES, &merges, rules(true, true), Unknown::Unk).unwrap();
        assert_eq!(encode_both_ways(&with_bytes, "xéab"), [(4, 0, 1), (5, 1, 2), (0, 2, 3), (3, 3, 5)]);
        assert_eq!(encode_both_ways(&with_bytes, "xéy"), [(4, 0, 1), (5, 1, 2), (0, 2, 4)]);
        let dropping = compile_bpe(&PLAIN_PIECES, &merges, rules(false, false), Unknown::Drop).unwrap();
        assert_eq!(encode_both_ways(&dropping, "éaxbéa"), [(3, 0, 2), (1, 2, 3)]);
        let with_bytes = compile_bpe(&PLAIN_PIECES, &merges, rules(true, false), Unknown::Drop).unwrap();
        assert_eq!(encode_both_ways(&with_bytes, "axéb"), [(1, 0, 1), (4, 1, 2), (5, 2, 3), (2, 3, 4)]);
        let failing = compile_bpe(&PLAIN_PIECES, &merges, rules(false, false), Unknown::Error).unwrap();
        let mut scratch = BpeScratch::default();
        assert!(matches!(failing.segment(b"ax", 0, false, &mut scratch, &mut |_| Ok(())), Err(Error::Encode(_))));
        assert!(matches!(failing.segment(b"a\xFF", 0, false, &mut scratch, &mut |_| Ok(())), Err(Error::Encode(_))));
    }

    #[test]
    fn unknowns_merge_and_later_pairs_count() {
        let compile_plain =
            |merges: &[[u32; 3]]| compile_bpe(&PLAIN_PIECES, merges, ScalarRules::default(), Unknown::Unk).unwrap();
        let with_unknown_pair = compile_plain(&[[1, 2, 3], [0, 1, 7]]);
        assert_eq!(encode_both_ways(&with_unknown_pair, "xab"), [(0, 0, 1), (3, 1, 3)]);
        assert_eq!(encode_both_ways(&with_unknown_pair, "xaa"), [(7, 0, 2), (1, 2, 3)]);
        let with_repeated_merge = compile_plain(&[[1, 1, 6], [1, 2, 3], [1, 1, 6]]);
        assert_eq!(encode_both_ways(&with_repeated_merge, "aab"), [(1, 0, 1), (3, 1, 3)]);
        assert_eq!(encode_both_ways(&with_repeated_merge, "aaab"), [(6, 0, 2), (3, 2, 4)]);
    }
}
