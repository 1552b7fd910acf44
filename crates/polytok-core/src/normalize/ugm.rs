//! llama.cpp's normalizer of T5 vocabularies: the charsmap, and spaces as U+2581 before words.
//!
//! Reference: `llm_tokenizer_ugm_session::normalize`. At each place the first of these counts: the longest way that the
//! text goes down the trie of user-defined pieces (also where it ends inside of one) stays; the longest key of the
//! charsmap is replaced; a character stays; a byte becomes U+FFFD. A space of the result, wherever it comes from, ends
//! a word and is written only if spaces are not merged; the first character of a word gets one before it if they are,
//! or if it is the first word and a prefix is wanted. A charsmap that leads outside of itself, where llama.cpp fails,
//! ends the search for keys.
//!
//! Cost: linear in the text times the longest key. Worst input: text that is nearly a long key at every place.
//! Twin: python/polytok/reference/llama_cpp_ugm.py.

use super::charsmap::Charsmap;
use super::output::Output;
use crate::error::Result;
use crate::space_mark;
use crate::spec::{Kind, Line};
use crate::trie::{NONE, ROOT, Trie};
use crate::utf8::decode_lenient;
use crate::vocab::{Row, Vocab};

/// U+FFFD.
const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

/// A compiled step.
pub struct UgmNormalize {
    charsmap: Option<Charsmap>,
    user_defined: Option<Trie>,
    add_space_prefix: bool,
    merges_spaces: bool,
}

/// What stands at a place of the text.
enum TextUnit<'a> {
    /// So many bytes that stay.
    Kept(usize),
    /// So many bytes that become others.
    Replaced(usize, &'a [u8]),
}

/// Where the walk is among words.
#[derive(Default)]
struct WordState {
    is_inside: bool,
    has_prefix: bool,
}

impl UgmNormalize {
    /// Compiles a step; pieces of kind UserDefined are taken from the vocabulary.
    pub fn compile(
        charsmap: Vec<u8>,
        add_space_prefix: bool,
        merges_spaces: bool,
        vocab: &Vocab,
    ) -> Result<UgmNormalize> {
        let is_user_defined = |&row: &Row| vocab.kind(row) == Kind::UserDefined && !vocab.bytes(row).is_empty();
        let rows: Vec<Row> = vocab.rows().filter(is_user_defined).collect();
        let trie = || Trie::build(rows.iter().map(|&row| (vocab.bytes(row), 0)));
        let user_defined = (!rows.is_empty()).then(trie).transpose()?;
        let charsmap = match charsmap {
            blob if blob.is_empty() => None,
            blob => Some(Charsmap::parse(blob, Line::V0_2_1)?),
        };
        Ok(UgmNormalize { charsmap, user_defined, add_space_prefix, merges_spaces })
    }

    /// Writes the normalized text.
    pub fn apply<O: Output>(&self, text: &[u8], out: &mut O) {
        let mut words = WordState::default();
        let mut replaced = Vec::new();
        // What stays is kept in runs.
        let (mut kept, mut at) = (0, 0);
        while at < text.len() {
            match self.unit(text, at) {
                TextUnit::Kept(len) => {
                    self.keep(text, (&mut kept, at, at + len), &mut words, out);
                    at += len;
                }
                TextUnit::Replaced(len, by) => {
                    out.keep(text, kept, at);
                    replaced.clear();
                    by.iter().for_each(|&byte| self.push(byte, &mut words, &mut replaced));
                    out.change(&replaced, at);
                    at += len;
                    kept = at;
                }
            }
        }
        out.keep(text, kept, at);
    }

    /// Bytes that stay, but for spaces and what comes before words.
    fn keep<O: Output>(
        &self,
        text: &[u8],
        (kept, from, to): (&mut usize, usize, usize),
        words: &mut WordState,
        out: &mut O,
    ) {
        for (at, &byte) in text.iter().enumerate().take(to).skip(from) {
            if byte == b' ' {
                out.keep(text, *kept, at);
                words.is_inside = false;
                if !self.merges_spaces {
                    out.change(space_mark::BYTES, at);
                }
                *kept = at + 1;
            } else if !words.is_inside && self.starts_word(words) {
                out.keep(text, *kept, at);
                out.insert(space_mark::BYTES, at);
                *kept = at;
            }
        }
    }

    /// The same for a byte of a replacement.
    fn push(&self, byte: u8, words: &mut WordState, out: &mut Vec<u8>) {
        if byte == b' ' {
            words.is_inside = false;
            if !self.merges_spaces {
                out.extend_from_slice(space_mark::BYTES);
            }
            return;
        }
        if !words.is_inside && self.starts_word(words) {
            out.extend_from_slice(space_mark::BYTES);
        }
        out.push(byte);
    }

    /// A word starts; whether a space goes before it.
    fn starts_word(&self, words: &mut WordState) -> bool {
        words.is_inside = true;
        let wants_space = self.merges_spaces || (self.add_space_prefix && !words.has_prefix);
        words.has_prefix |= wants_space;
        wants_space
    }

    #[inline]
    fn unit(&self, text: &[u8], at: usize) -> TextUnit<'_> {
        let rest = &text[at..];
        if let Some(len) = self.user_defined.as_ref().map(|trie| path_len(trie, rest)).filter(|&len| len > 0) {
            return TextUnit::Kept(len);
        }
        if let Some((len, by)) = self.charsmap.as_ref().and_then(|map| map.longest_prefix_llama_cpp(rest)) {
            return TextUnit::Replaced(len, by);
        }
        match decode_lenient(rest) {
            Some((_, len)) => TextUnit::Kept(len),
            None => TextUnit::Replaced(1, REPLACEMENT),
        }
    }
}

/// How far the text goes down the trie.
#[inline]
fn path_len(trie: &Trie, text: &[u8]) -> usize {
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

    fn normalized(prefix: bool, merges: bool, text: &[u8]) -> String {
        let rows = [("<x1>", 0.0, Kind::UserDefined), ("a", 0.0, Kind::Normal)];
        let map = blob(&[("A", "a"), ("\u{3000}", " "), ("ß", "s s"), ("<x1", "no"), ("x", "y"), ("-", "")]);
        let step = UgmNormalize::compile(map.clone(), prefix, merges, &vocab(&rows)).unwrap();
        let mut out = Vec::new();
        step.apply(text, &mut out);
        String::from_utf8_lossy(&out).replace(space_mark::CHAR, "_")
    }

    #[test]
    fn spaces() {
        for (text, merged, plain, prefixed) in [
            ("", "", "", ""),
            ("  ", "", "__", "__"),
            ("Ab c", "_ab_c", "ab_c", "_ab_c"),
            (" a  b ", "_a_b", "_a__b_", "__a__b_"),
            ("a\u{3000}ßc", "_a_s_sc", "a_s_sc", "_a_s_sc"),
            ("-", "", "", ""),
        ] {
            assert_eq!(normalized(true, true, text.as_bytes()), merged);
            assert_eq!(normalized(false, true, text.as_bytes()), merged);
            assert_eq!(normalized(false, false, text.as_bytes()), plain);
            assert_eq!(normalized(true, false, text.as_bytes()), prefixed);
        }
    }

    #[test]
    fn user_defined_pieces_and_what_starts_like_them_stay() {
        assert_eq!(normalized(false, false, b"<x1>x"), "<x1>y");
        assert_eq!(normalized(false, false, b"<xAx"), "<xay");
        assert_eq!(normalized(false, false, b"<x1"), "<x1");
    }

    #[test]
    fn invalid_bytes() {
        assert_eq!(normalized(false, false, b"a\xFFb\xE2\x82"), "a\u{FFFD}b\u{FFFD}\u{FFFD}");
    }
}
