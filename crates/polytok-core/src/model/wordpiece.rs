//! WordPiece: the first token is the longest entry that the piece starts with; each further token is the longest
//! continuation that the remaining piece starts with. If no entry matches, the whole piece is unknown.
//!
//! Reference: Hugging Face's `WordPiece::tokenize` (a continuation is an entry with a prefix such as `##`, and pieces
//! of too many characters are unknown), and llama.cpp's WPM session (entries at the start of a word begin with U+2581
//! instead). Both references use entries of every kind, and the last of equal entries. One trie has all entries; the
//! continuations are under a byte that UTF-8 never has.
//!
//! Cost: the length of the piece times the longest entry. Worst input: a piece that almost matches a long entry at
//! every offset. The twin of llama.cpp's model is `wpm` in python/polytok/reference/llama_cpp_models.py.

use std::borrow::Cow;

use polytok_memory::{self as memory, Collect, Grow};

use crate::error::Result;
use crate::native::Tables;
use crate::segment::Segment;
use crate::spec::Kind;
use crate::token_id::TokenId;
use crate::trie::{NONE, ROOT, Trie};
use crate::vocab::Vocab;

/// The byte under which the trie has the continuations; UTF-8 never has this byte.
const CONTINUATION_BYTE: u8 = 0xFF;

/// The bytes of U+2581, with which entries at the start of a word begin in llama.cpp's vocabularies.
const SPACE_MARK: &[u8] = "\u{2581}".as_bytes();

/// A compiled WordPiece model.
pub struct WordPiece {
    trie: Trie,
    /// The nodes of the trie at which a search starts: for the first token of a piece, and for continuations.
    roots: [u32; 2],
    /// The entry that is U+2581 alone, if continuations can follow this entry at the start of a word.
    space_entry: Option<TokenId>,
    /// The id of a piece that cannot be split to entries.
    unknown_id: TokenId,
    max_chars: usize,
    phantom_space: bool,
    continuing_prefix_len: usize,
}

impl WordPiece {
    /// Builds the trie of the entries; `spec::Model::WordPiece` documents the options.
    pub fn compile(
        vocab: &Vocab,
        continuing_prefix: &str,
        max_chars: Option<usize>,
        phantom_space: bool,
        tables: &mut Tables,
    ) -> Result<WordPiece> {
        let build = || build_trie(vocab, continuing_prefix);
        let trie = Trie::compile(tables, vocab.max_entry_len() + 1, |id| vocab.row(TokenId(id)).is_some(), build)?;
        let node_under = |path: &[u8]| path.iter().fold(ROOT, |node, &byte| child_or_none(&trie, node, byte));
        let roots = [if phantom_space { node_under(SPACE_MARK) } else { ROOT }, node_under(&[CONTINUATION_BYTE])];
        let space_entry = if phantom_space { trie.get(SPACE_MARK).map(TokenId) } else { None };
        let unknown_id =
            vocab.rows().find(|&row| vocab.kind(row) == Kind::Unknown).map_or(TokenId::UNKNOWN, |row| vocab.id(row));
        Ok(WordPiece {
            roots,
            space_entry,
            unknown_id,
            max_chars: max_chars.unwrap_or(usize::MAX),
            phantom_space,
            continuing_prefix_len: continuing_prefix.len(),
            trie,
        })
    }

    /// Returns the lengths of the prefixes that cover no text: of the entry at the start of a piece, and of
    /// continuations.
    #[inline]
    pub fn prefix_lens(&self) -> [u32; 2] {
        [if self.phantom_space { SPACE_MARK.len() } else { 0 }, self.continuing_prefix_len].map(|len| len as u32)
    }

    /// Splits a piece to entries; a piece that cannot be split is one unknown segment. `scratch` is memory for the
    /// segments.
    #[inline]
    pub fn segment(
        &self,
        piece: &[u8],
        scratch: &mut Vec<Segment>,
        emit: &mut impl FnMut(Segment) -> Result<()>,
    ) -> Result<()> {
        if piece.is_empty() {
            return Ok(());
        }
        scratch.clear();
        if self.is_too_long(piece) || !self.split_piece(piece, scratch) {
            return emit(Segment { id: self.unknown_id, start: 0, end: piece.len() as u32 });
        }
        scratch.iter().try_for_each(|&segment| emit(segment))
    }

    /// Returns the words that are entries, with their ids, from the last entry to the first, because the last entries
    /// are the rarest words.
    pub fn own_entries<'v>(&'v self, vocab: &'v Vocab) -> impl Iterator<Item = (Cow<'v, [u8]>, TokenId)> {
        let mut segments = Vec::new();
        vocab.rows().rev().filter_map(move |row| {
            let entry = vocab.bytes(row);
            let word = if self.phantom_space { entry.strip_prefix(SPACE_MARK)? } else { entry };
            segments.clear();
            let is_split = !word.is_empty() && !self.is_too_long(word) && self.split_piece(word, &mut segments);
            let &[segment] = segments.as_slice() else { return None };
            is_split.then_some((Cow::Borrowed(word), segment.id))
        })
    }

    /// Reports whether a piece has too many characters.
    #[inline]
    fn is_too_long(&self, piece: &[u8]) -> bool {
        piece.len() > self.max_chars && piece.iter().filter(|&&byte| byte & 0xC0 != 0x80).count() > self.max_chars
    }

    /// Splits a piece to entries; returns false if that is not possible.
    #[inline]
    fn split_piece(&self, piece: &[u8], segments: &mut Vec<Segment>) -> bool {
        let [start_root, continuation_root] = self.roots;
        let mut at = 0;
        let (mut len, mut id) = self.longest_entry(start_root, piece);
        if len == 0 {
            // The first token is U+2581 alone, and a continuation follows.
            let Some(space) = self.space_entry else { return false };
            segments.checked_push(Segment { id: space, start: 0, end: 0 });
            (len, id) = self.longest_entry(continuation_root, piece);
        }
        while len > 0 {
            segments.checked_push(Segment { id, start: at as u32, end: (at + len) as u32 });
            at += len;
            (len, id) = self.longest_entry(continuation_root, &piece[at..]);
        }
        at == piece.len()
    }

    /// Returns the length and id of the longest entry under `root` that `text` starts with; the length is 0 if no entry
    /// matches.
    #[inline]
    fn longest_entry(&self, root: u32, text: &[u8]) -> (usize, TokenId) {
        let mut longest = (0, TokenId::UNKNOWN);
        if root != NONE {
            self.trie.prefixes_under(root, text, |len, id| longest = (len, TokenId(id)));
        }
        longest
    }
}

fn child_or_none(trie: &Trie, node: u32, byte: u8) -> u32 {
    if node == NONE { NONE } else { trie.child(node, byte) }
}

/// Builds the trie of the entries at the start of a word, and of the continuations after the byte `CONTINUATION_BYTE`.
fn build_trie(vocab: &Vocab, continuing_prefix: &str) -> Result<Trie> {
    // The rows are reversed, because the trie keeps the first of equal keys.
    let rows = || vocab.rows().rev().map(|row| (vocab.bytes(row), vocab.id(row).0));
    let continuations: Vec<(Vec<u8>, u32)> = rows()
        .filter_map(|(bytes, id)| Some((bytes.strip_prefix(continuing_prefix.as_bytes())?, id)))
        .filter(|(continuation, _)| !continuation.is_empty())
        .map(|(continuation, id)| (memory::concat(&[&[CONTINUATION_BYTE], continuation]), id))
        .checked_collect();
    let continuation_keys = continuations.iter().map(|(key, id)| (key.as_slice(), *id));
    let word_start_keys = rows().filter(|(bytes, _)| bytes.first() != Some(&CONTINUATION_BYTE));
    Trie::build(word_start_keys.chain(continuation_keys))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::unigram::tests::vocab;
    use proptest::prelude::*;

    fn split_piece(model: &WordPiece, piece: &str) -> Vec<(u32, u32, u32)> {
        let mut segments = Vec::new();
        let mut emit = |segment: Segment| {
            segments.push((segment.id.0, segment.start, segment.end));
            Ok(())
        };
        model.segment(piece.as_bytes(), &mut Vec::new(), &mut emit).unwrap();
        segments
    }

    fn model(entries: &[&str], prefix: &str, max_chars: Option<usize>, has_phantom_space: bool) -> WordPiece {
        let rows: Vec<_> = entries.iter().map(|&entry| (entry, 0.0, Kind::Normal)).collect();
        WordPiece::compile(&vocab(&rows), prefix, max_chars, has_phantom_space, &mut Tables::default()).unwrap()
    }

    #[test]
    fn hugging_face() {
        let model = model(&["un", "##aff", "##able", "##a", "##affab", "##", "é"], "##", Some(9), false);
        assert_eq!(split_piece(&model, "unaffable"), [(0, 0, 9)]); // greedy: ##affab leaves "le"
        assert_eq!(split_piece(&model, "unaffa"), [(1, 0, 2), (2, 2, 5), (4, 5, 6)]);
        assert_eq!(split_piece(&model, "##aff"), [(2, 0, 5)]);
        assert_eq!(split_piece(&model, "éa"), [(7, 0, 2), (4, 2, 3)]);
        assert_eq!(split_piece(&model, "unaaaaaaaa"), [(0, 0, 10)]);
        assert_eq!(split_piece(&model, "unaaaaaaa").len(), 8);
        assert_eq!(split_piece(&model, ""), []);
    }

    #[test]
    fn llama_cpp() {
        let wpm = model(&["\u{2581}un", "aff", "\u{2581}", "able", "un", "un"], "", None, true);
        assert_eq!(split_piece(&wpm, "unaff"), [(1, 0, 2), (2, 2, 5)]);
        assert_eq!(split_piece(&wpm, "affun"), [(3, 0, 0), (2, 0, 3), (6, 3, 5)]);
        assert_eq!(split_piece(&wpm, "affx"), [(0, 0, 4)]);
    }

    /// Splits a piece as the reference does: tries every length, the longest first.
    fn naive_segments(entries: &[String], piece: &str) -> Vec<(u32, u32, u32)> {
        let (mut at, mut segments) = (0, Vec::new());
        while at < piece.len() {
            let key = |end: usize| format!("{}{}", if at > 0 { "##" } else { "" }, &piece[at..end]);
            let find = |end: usize| Some((entries.iter().rposition(|entry| *entry == key(end))?, end));
            let Some((row, end)) = (at + 1..=piece.len()).rev().find_map(find) else {
                return vec![(0, 0, piece.len() as u32)];
            };
            segments.push((row as u32 + 1, at as u32, end as u32));
            at = end;
        }
        segments
    }

    proptest! {
        #[test]
        fn agrees_with_the_naive_loop(entries in proptest::collection::vec("(##)?[ab#]{1,3}", 1..12), piece in "[ab#]{0,8}") {
            let entry_texts: Vec<&str> = entries.iter().map(String::as_str).collect();
            prop_assert_eq!(split_piece(&model(&entry_texts, "##", None, false), &piece), naive_segments(&entries, &piece));
        }

        #[test]
        fn own_entries_are_their_own_ids(
            entries in proptest::collection::vec("[▁#]{0,2}[ab]{0,3}", 1..12),
            max_chars in 1usize..4,
            has_phantom_space in any::<bool>(),
        ) {
            let rows: Vec<_> = entries.iter().map(|entry| (entry.as_str(), 0.0, Kind::Normal)).collect();
            let (vocab, prefix) = (vocab(&rows), if has_phantom_space { "" } else { "##" });
            let model = WordPiece::compile(&vocab, prefix, Some(max_chars), has_phantom_space, &mut Tables::default()).unwrap();
            for (word, id) in model.own_entries(&vocab) {
                let word = std::str::from_utf8(&word).unwrap();
                prop_assert_eq!(split_piece(&model, word), [(id.0, 0, word.len() as u32)]);
            }
        }
    }
}
