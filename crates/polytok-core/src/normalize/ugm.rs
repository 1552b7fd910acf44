//! llama.cpp's normalizer of T5 vocabularies: applies the charsmap and writes spaces as U+2581 before words.
//!
//! Reference: `llm_tokenizer_ugm_session::normalize`. At each offset the first rule that matches is applied:
//!
//! 1. The longest text with which a user-defined piece starts stays unchanged, even if it is only a part of the piece.
//! 2. The longest key of the charsmap is replaced.
//! 3. A character stays.
//! 4. A byte is replaced by U+FFFD.
//!
//! A space of the result, whether from the text or a replacement, ends a word. If spaces are merged, no space is
//! written, and every word gets a U+2581 before it. If spaces are not merged, each space is written as U+2581, and the
//! first word gets a U+2581 before it if the model adds a prefix. llama.cpp fails at an offset outside of the
//! charsmap's array; here such an offset ends the search for keys.
//!
//! Cost: linear in the text times the longest key. Worst input: text that is nearly a long key at every offset.
//! Twin: python/polytok/reference/llama_cpp_ugm.py.

use polytok_memory::{Collect, Grow};

use super::charsmap::Charsmap;
use super::output::Output;
use crate::error::Result;
use crate::space_mark;
use crate::spec::{Kind, SentencePieceVersion};
use crate::trie::{NONE, ROOT, Trie};
use crate::utf8::decode_lenient;
use crate::vocab::{Row, Vocab};

/// U+FFFD.
const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

/// The compiled step.
pub struct UgmNormalize {
    charsmap: Option<Charsmap>,
    user_defined: Option<Trie>,
    add_space_prefix: bool,
    merges_spaces: bool,
}

/// The bytes that one rule consumes, and their output.
enum TextUnit<'a> {
    /// A number of bytes that stay unchanged.
    Kept(usize),
    /// A number of bytes, and the bytes that replace them.
    Replaced(usize, &'a [u8]),
}

/// The state of the output between two calls: whether it is in a word.
#[derive(Default)]
struct WordState {
    /// True if the last character written is in a word.
    is_inside: bool,
    /// True if a U+2581 was already written before a word.
    has_prefix: bool,
}

impl UgmNormalize {
    /// Compiles a step with the user-defined pieces of the vocabulary.
    pub fn compile(
        charsmap: Vec<u8>,
        add_space_prefix: bool,
        merges_spaces: bool,
        vocab: &Vocab,
    ) -> Result<UgmNormalize> {
        let is_user_defined = |&row: &Row| vocab.kind(row) == Kind::UserDefined && !vocab.bytes(row).is_empty();
        let rows: Vec<Row> = vocab.rows().filter(is_user_defined).checked_collect();
        let trie = || Trie::build(rows.iter().map(|&row| (vocab.bytes(row), 0)));
        let user_defined = (!rows.is_empty()).then(trie).transpose()?;
        let charsmap = match charsmap {
            blob if blob.is_empty() => None,
            blob => Some(Charsmap::parse(blob, SentencePieceVersion::V0_2_1)?),
        };
        Ok(UgmNormalize { charsmap, user_defined, add_space_prefix, merges_spaces })
    }

    /// Writes the normalized text.
    pub fn apply<O: Output>(&self, text: &[u8], out: &mut O) {
        let mut words = WordState::default();
        let mut rewritten = Vec::new();
        // Bytes that stay are kept in runs.
        let (mut kept_from, mut at) = (0, 0);
        while at < text.len() {
            match self.unit(text, at) {
                TextUnit::Kept(len) => {
                    self.keep(text, (&mut kept_from, at, at + len), &mut words, out);
                    at += len;
                }
                TextUnit::Replaced(len, replacement) => {
                    out.keep(text, kept_from, at);
                    rewritten.clear();
                    replacement.iter().for_each(|&byte| self.push(byte, &mut words, &mut rewritten));
                    out.change(&rewritten, at);
                    at += len;
                    kept_from = at;
                }
            }
        }
        out.keep(text, kept_from, at);
    }

    /// Keeps the bytes from `from` to `to`, except that spaces are rewritten and words get a U+2581. `kept_from` is the
    /// start of the run of bytes that stay and are not written yet.
    fn keep<O: Output>(
        &self,
        text: &[u8],
        (kept_from, from, to): (&mut usize, usize, usize),
        words: &mut WordState,
        out: &mut O,
    ) {
        for (at, &byte) in text.iter().enumerate().take(to).skip(from) {
            if byte == b' ' {
                out.keep(text, *kept_from, at);
                words.is_inside = false;
                if !self.merges_spaces {
                    out.change(space_mark::BYTES, at);
                }
                *kept_from = at + 1;
            } else if !words.is_inside && self.start_word(words) {
                out.keep(text, *kept_from, at);
                out.insert(space_mark::BYTES, at);
                *kept_from = at;
            }
        }
    }

    /// Writes a byte of a replacement, with the same rules for spaces and words as `keep`.
    fn push(&self, byte: u8, words: &mut WordState, out: &mut Vec<u8>) {
        if byte == b' ' {
            words.is_inside = false;
            if !self.merges_spaces {
                out.checked_extend_from_slice(space_mark::BYTES);
            }
            return;
        }
        if !words.is_inside && self.start_word(words) {
            out.checked_extend_from_slice(space_mark::BYTES);
        }
        out.checked_push(byte);
    }

    /// Records that a word starts; returns whether a U+2581 is written before it.
    fn start_word(&self, words: &mut WordState) -> bool {
        words.is_inside = true;
        let needs_mark = self.merges_spaces || (self.add_space_prefix && !words.has_prefix);
        words.has_prefix |= needs_mark;
        needs_mark
    }

    /// Returns the bytes at `at` that the first matching rule consumes.
    #[inline]
    fn unit(&self, text: &[u8], at: usize) -> TextUnit<'_> {
        let remaining_text = &text[at..];
        if let Some(len) =
            self.user_defined.as_ref().map(|trie| prefix_len(trie, remaining_text)).filter(|&len| len > 0)
        {
            return TextUnit::Kept(len);
        }
        let longest_key = self.charsmap.as_ref().and_then(|map| map.longest_prefix_llama_cpp(remaining_text));
        if let Some((len, replacement)) = longest_key {
            return TextUnit::Replaced(len, replacement);
        }
        match decode_lenient(remaining_text) {
            Some((_, len)) => TextUnit::Kept(len),
            None => TextUnit::Replaced(1, REPLACEMENT),
        }
    }
}

/// Returns the length of the longest prefix of the text that an entry of the trie starts with.
#[inline]
fn prefix_len(trie: &Trie, text: &[u8]) -> usize {
    let mut node = ROOT;
    for (i, &byte) in text.iter().enumerate() {
        node = trie.child(node, byte);
        if node == NONE {
            return i;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::unigram::tests::vocab;
    use crate::normalize::charsmap::tests::blob;

    fn normalize(prefix: bool, merges: bool, text: &[u8]) -> String {
        let rows = [("<x1>", 0.0, Kind::UserDefined), ("a", 0.0, Kind::Normal)];
        let map = blob(&[("A", "a"), ("\u{3000}", " "), ("ß", "s s"), ("<x1", "no"), ("x", "y"), ("-", "")]);
        let step = UgmNormalize::compile(map.clone(), prefix, merges, &vocab(&rows)).unwrap();
        let mut out = Vec::new();
        step.apply(text, &mut out);
        String::from_utf8_lossy(&out).replace(space_mark::CHAR, "_")
    }

    #[test]
    fn spaces_are_marked_before_words() {
        for (text, merged, plain, prefixed) in [
            ("", "", "", ""),
            ("  ", "", "__", "__"),
            ("Ab c", "_ab_c", "ab_c", "_ab_c"),
            (" a  b ", "_a_b", "_a__b_", "__a__b_"),
            ("a\u{3000}ßc", "_a_s_sc", "a_s_sc", "_a_s_sc"),
            ("-", "", "", ""),
        ] {
            assert_eq!(normalize(true, true, text.as_bytes()), merged);
            assert_eq!(normalize(false, true, text.as_bytes()), merged);
            assert_eq!(normalize(false, false, text.as_bytes()), plain);
            assert_eq!(normalize(true, false, text.as_bytes()), prefixed);
        }
    }

    #[test]
    fn user_defined_pieces_and_their_prefixes_stay() {
        assert_eq!(normalize(false, false, b"<x1>x"), "<x1>y");
        assert_eq!(normalize(false, false, b"<xAx"), "<xay");
        assert_eq!(normalize(false, false, b"<x1"), "<x1");
    }

    #[test]
    fn invalid_bytes_are_replaced() {
        assert_eq!(normalize(false, false, b"a\xFFb\xE2\x82"), "a\u{FFFD}b\u{FFFD}\u{FFFD}");
    }
}
