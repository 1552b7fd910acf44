//! The initial symbols of Hugging Face's BPE: characters with their affixes. Unknown characters are handled before
//! merging.
//!
//! Reference: `BPE::merge_word` of tokenizers. A character gets the prefix if it is not the first, and the suffix if it
//! is the last. The first rule that applies decides its symbols:
//!
//! 1. the entry of the character;
//! 2. the entries of all its bytes;
//! 3. the unknown entry, which is written before the next known character or at the end of the piece, so after entries
//!    of bytes;
//! 4. no symbol; then the neighbours of the character can merge.
//!
//! The reference computes spans from the lengths of symbols, and an entry of a byte has length 1, so a character
//! without a symbol moves all later spans. Cost: linear.

use hashbrown::{HashMap, HashSet};

use super::merge::PlacedSymbol;
use super::pairs::Pairs;
use super::symbol::Symbol;
use crate::error::{Error, Result};
use crate::spec::{Kind, ScalarRules, Unknown};
use crate::utf8::only_char;
use crate::vocab::{Row, Vocab};

/// The compiled rules.
pub(super) struct Scalars {
    /// The rows of characters inside of a piece, at its end, at its start, and alone in it. If an affix is empty, some
    /// of these maps are equal.
    rows: [HashMap<char, Row>; 4],
    affixes: [Vec<u8>; 2],
    /// The rows of bytes, if unknown characters are encoded as bytes.
    bytes: Option<Box<[Option<Row>; 256]>>,
    unknown: OnUnknown,
    fuses: bool,
}

/// The output for a character that has no row.
#[derive(Clone, Copy)]
enum OnUnknown {
    Row(Row),
    Drop,
    Error,
}

impl Scalars {
    /// Indexes the vocabulary; of equal rows, the last row is used.
    pub fn compile(vocab: &Vocab, rules: &ScalarRules, unknown: Unknown) -> Result<Scalars> {
        let unk = vocab.rows().find(|&row| vocab.kind(row) == Kind::Unknown);
        let unknown = match (unknown, unk) {
            (Unknown::Unk, Some(row)) => OnUnknown::Row(row),
            (Unknown::Drop, _) => OnUnknown::Drop,
            _ => OnUnknown::Error,
        };
        let affixes = [rules.continuing_prefix.as_bytes().to_vec(), rules.word_suffix.as_bytes().to_vec()];
        let mut rows: [HashMap<char, Row>; 4] = Default::default();
        let mut bytes = Box::new([None; 256]);
        let places = (0..4).filter(|&at| at == place(at & 2 != 0, at & 1 != 0, &affixes));
        let longest = 6.max(4 + affixes[0].len() + affixes[1].len()); // of a byte, of a character
        for row in vocab.rows() {
            let piece = vocab.bytes(row);
            if piece.len() > longest {
                continue;
            }
            for at in places.clone() {
                let rest = if at & 2 == 0 { piece.strip_prefix(&affixes[0][..]) } else { Some(piece) };
                let rest = if at & 1 == 1 { rest.and_then(|rest| rest.strip_suffix(&affixes[1][..])) } else { rest };
                rest.and_then(only_char).map(|c| rows[at].insert(c, row));
            }
            if let Some(byte) = byte_of(piece) {
                bytes[byte as usize] = Some(row);
            }
        }
        let bytes = rules.byte_fallback.then_some(bytes);
        Ok(Scalars { rows, affixes, bytes, unknown, fuses: rules.fuse_unknown })
    }

    /// Reports whether pieces can be split where no pair of `pairs` merges. Splitting requires that the symbols of a
    /// character do not depend on its neighbours, and that entries of bytes do not merge, because the text of such an
    /// entry is not the byte that it encodes.
    pub fn can_split_at_boundaries(&self, pairs: &Pairs) -> bool {
        let Some(rows) = self.byte_rows().filter(|_| self.affixes.iter().all(Vec::is_empty)) else { return false };
        let symbols: HashSet<Symbol> = rows.into_iter().map(Symbol::row).collect();
        let is_byte = |symbol: Symbol| symbols.contains(&symbol);
        !pairs.list().iter().any(|pair| is_byte(pair.left) || is_byte(pair.right) || is_byte(pair.merged))
    }

    /// Returns the rows of all bytes, if characters without a row are encoded as bytes.
    pub fn byte_rows(&self) -> Option<[Row; 256]> {
        let rows = self.bytes.as_ref()?;
        rows.iter().all(Option::is_some).then(|| rows.map(|row| row.unwrap_or(Row(0))))
    }

    /// Returns the row of a character inside of a piece.
    pub fn row(&self, c: char) -> Option<Row> {
        self.rows[place(false, false, &self.affixes)].get(&c).copied()
    }

    /// Appends the symbols of a piece; returns the sum of their lengths.
    pub fn push(&self, piece: &[u8], symbols: &mut Vec<PlacedSymbol>) -> Result<u32> {
        let text = std::str::from_utf8(piece).map_err(|_| {
            Error::Encode(
                "this BPE takes characters, and the text is not UTF-8: replace what is not (errors=\"replace\")".into(),
            )
        })?;
        let mut run = SymbolRun { symbols, len: 0, pending_unknown: None };
        for (at, c) in text.char_indices() {
            let (is_first, is_last) = (at == 0, at + c.len_utf8() == text.len());
            let len = c.len_utf8() as u32;
            if let Some(&row) = self.rows[place(is_first, is_last, &self.affixes)].get(&c) {
                run.flush();
                run.add(row, len);
            } else if !self.push_bytes(&text[at..at + c.len_utf8()], is_first, is_last, &mut run) {
                self.push_unknown(c, len, &mut run)?;
            }
        }
        run.flush();
        Ok(run.len)
    }

    /// Appends the entries of the bytes of a character and its affixes; returns false if any entry is missing.
    fn push_bytes(&self, text: &str, is_first: bool, is_last: bool, run: &mut SymbolRun) -> bool {
        let Some(rows) = &self.bytes else { return false };
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
        match self.unknown {
            OnUnknown::Row(row) => {
                if !self.fuses {
                    run.flush();
                }
                run.pending_unknown =
                    Some((row, len + run.pending_unknown.map_or(0, |(_, pending_unknown)| pending_unknown)));
                Ok(())
            }
            OnUnknown::Drop => Ok(()),
            OnUnknown::Error => Err(Error::Encode(format!(
                "no entry covers the character {c:?}, and this BPE model has no unknown token in its vocabulary"
            ))),
        }
    }
}

/// The symbols of a piece that are being written.
struct SymbolRun<'a> {
    symbols: &'a mut Vec<PlacedSymbol>,
    len: u32,
    /// The unknown entry that is not written yet, and its length.
    pending_unknown: Option<(Row, u32)>,
}

impl SymbolRun<'_> {
    fn add(&mut self, row: Row, len: u32) {
        self.symbols.push(PlacedSymbol::new(Symbol::row(row), self.len as usize));
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
fn place(is_first: bool, is_last: bool, [prefix, suffix]: &[Vec<u8>; 2]) -> usize {
    2 * (is_first || prefix.is_empty()) as usize + (is_last && !suffix.is_empty()) as usize
}

/// Returns the byte of `<0xHH>` in upper case.
fn byte_of(piece: &[u8]) -> Option<u8> {
    let digits = piece.strip_prefix(b"<0x")?.strip_suffix(b">")?;
    let byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    (format!("{byte:02X}").as_bytes() == digits).then_some(byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::bpe::{Bpe, BpeRules, BpeScratch};
    use crate::native::Tables;
    use crate::spec::{Line, Priority, Symbols, VocabColumns};
    use std::sync::Arc;

    const AFFIXED: [&str; 14] = [
        "<unk>", "a", "b", "c", "##b", "##c", "c</w>", "##c</w>", "ab", "abc</w>", "<0xC3>", "<0xA9>", "##bc", "<0x23>",
    ];
    const PLAIN: [&str; 8] = ["<unk>", "a", "b", "ab", "<0xC3>", "<0xA9>", "aa", "<unk>a"];

    fn bpe(pieces: &[&str], merges: &[[u32; 3]], scalars: ScalarRules, unknown: Unknown) -> Result<Bpe> {
        let mut columns = VocabColumns { offsets: vec![0], ..Default::default() };
        for (id, piece) in pieces.iter().enumerate() {
            columns.blob.extend_from_slice(piece.as_bytes());
            columns.offsets.push(columns.blob.len() as u32);
            columns.ids.push(id as u32);
            columns.scores.push(0.0);
            columns.kinds.push(if id == 0 { Kind::Unknown } else { Kind::Normal });
        }
        let rules = BpeRules { scalars, unknown, ..BpeRules::new(Symbols::Scalars, false, Line::default()) };
        let vocab = Arc::new(Vocab::new(columns)?);
        Bpe::compile(vocab, &Priority::Merges(merges.to_vec()), &rules, None, &mut Tables::default())
    }

    fn segments(bpe: &Bpe, text: &str) -> Vec<(u32, u32, u32)> {
        let mut out = Vec::new();
        let mut emit = |segment: crate::segment::Segment| {
            out.push((segment.id.0, segment.start, segment.end));
            Ok(())
        };
        bpe.segment(text.as_bytes(), 0, false, &mut BpeScratch::default(), &mut emit).unwrap();
        let mut whole = Vec::new();
        let mut emit = |segment: crate::segment::Segment| {
            whole.push((segment.id.0, segment.start, segment.end));
            Ok(())
        };
        bpe.segment_whole(text.as_bytes(), None, &mut BpeScratch::default(), &mut emit).unwrap();
        assert_eq!(out, whole);
        out
    }

    // The expected values below are those of tokenizers 0.23.3.

    #[test]
    fn affixes() {
        let rules = |suffix: &str| ScalarRules {
            continuing_prefix: "##".into(),
            word_suffix: suffix.into(),
            ..ScalarRules::default()
        };
        let prefixed = bpe(&AFFIXED, &[[1, 4, 8], [4, 5, 12]], rules(""), Unknown::Unk).unwrap();
        assert_eq!(segments(&prefixed, "abc"), [(8, 0, 2), (5, 2, 3)]);
        assert_eq!(segments(&prefixed, "bca"), [(2, 0, 1), (5, 1, 2), (0, 2, 3)]);
        assert_eq!(segments(&prefixed, "xay"), [(0, 0, 1), (0, 1, 2), (0, 2, 3)]);
        assert_eq!(segments(&prefixed, "aé"), [(1, 0, 1), (0, 1, 3)]);
        let both = bpe(&AFFIXED, &[[1, 4, 8], [8, 7, 9]], rules("</w>"), Unknown::Unk).unwrap();
        assert_eq!(segments(&both, "abc"), [(9, 0, 3)]);
        assert_eq!(segments(&both, "ab"), [(1, 0, 1), (0, 1, 2)]);
        assert_eq!(segments(&both, "c"), [(6, 0, 1)]);
        assert_eq!(segments(&both, "abcab"), [(8, 0, 2), (5, 2, 3), (0, 3, 4), (0, 4, 5)]);
        assert!(bpe(&AFFIXED, &[[1, 2, 8]], rules(""), Unknown::Unk).is_err());
        // Lengths include the bytes of the prefix; a span that exceeds the piece is truncated to the end of the piece.
        let bytes = ScalarRules { byte_fallback: true, ..rules("") };
        let bytes = bpe(&AFFIXED, &[], bytes, Unknown::Unk).unwrap();
        assert_eq!(segments(&bytes, "aé"), [(1, 0, 1), (13, 1, 2), (13, 2, 3), (10, 3, 3), (11, 3, 3)]);
    }

    #[test]
    fn unknown_characters() {
        let merges = [[1, 2, 3]];
        let rules = |byte_fallback, fuse_unknown| ScalarRules { byte_fallback, fuse_unknown, ..ScalarRules::default() };
        let plain = bpe(&PLAIN, &merges, rules(false, false), Unknown::Unk).unwrap();
        assert_eq!(segments(&plain, "xxab"), [(0, 0, 1), (0, 1, 2), (3, 2, 4)]);
        let fused = bpe(&PLAIN, &merges, rules(false, true), Unknown::Unk).unwrap();
        assert_eq!(segments(&fused, "axyb"), [(1, 0, 1), (0, 1, 3), (2, 3, 4)]);
        let bytes = bpe(&PLAIN, &merges, rules(true, true), Unknown::Unk).unwrap();
        assert_eq!(segments(&bytes, "xéab"), [(4, 0, 1), (5, 1, 2), (0, 2, 3), (3, 3, 5)]);
        assert_eq!(segments(&bytes, "xéy"), [(4, 0, 1), (5, 1, 2), (0, 2, 4)]);
        let dropped = bpe(&PLAIN, &merges, rules(false, false), Unknown::Drop).unwrap();
        assert_eq!(segments(&dropped, "éaxbéa"), [(3, 0, 2), (1, 2, 3)]);
        let bytes = bpe(&PLAIN, &merges, rules(true, false), Unknown::Drop).unwrap();
        assert_eq!(segments(&bytes, "axéb"), [(1, 0, 1), (4, 1, 2), (5, 2, 3), (2, 3, 4)]);
        let strict = bpe(&PLAIN, &merges, rules(false, false), Unknown::Error).unwrap();
        let mut scratch = BpeScratch::default();
        assert!(matches!(strict.segment(b"ax", 0, false, &mut scratch, &mut |_| Ok(())), Err(Error::Encode(_))));
        assert!(matches!(strict.segment(b"a\xFF", 0, false, &mut scratch, &mut |_| Ok(())), Err(Error::Encode(_))));
    }

    #[test]
    fn unknowns_merge_and_later_pairs_count() {
        let plain = |merges: &[[u32; 3]]| bpe(&PLAIN, merges, ScalarRules::default(), Unknown::Unk).unwrap();
        let unknown = plain(&[[1, 2, 3], [0, 1, 7]]);
        assert_eq!(segments(&unknown, "xab"), [(0, 0, 1), (3, 1, 3)]);
        assert_eq!(segments(&unknown, "xaa"), [(7, 0, 2), (1, 2, 3)]);
        let twice = plain(&[[1, 1, 6], [1, 2, 3], [1, 1, 6]]);
        assert_eq!(segments(&twice, "aab"), [(1, 0, 1), (3, 1, 3)]);
        assert_eq!(segments(&twice, "aaab"), [(6, 0, 2), (3, 2, 4)]);
    }
}
