//! llama.cpp's normalizer of BERT vocabularies: writes words of normalized characters, with U+0000 between words.
//!
//! Reference: `llm_tokenizer_wpm_session::preprocess`, whose tables are those of Unicode 15.0. With `strip_accents`
//! each character is replaced by the first character of its canonical decomposition, and marks are dropped. White space
//! separates words. U+0000, U+FFFD and control, format, private-use and surrogate characters are dropped. Each
//! punctuation character, ASCII symbol and ideograph is a word. The lower case of a character is the first character of
//! its full mapping. Bytes that are not UTF-8 are dropped, because the reference decodes them to U+FFFD.
//!
//! Cost: linear, a binary search per character beyond ASCII. Twin: `_words` in
//! python/polytok/reference/llama_cpp_models.py.

use polytok_pattern::CharRanges;

use super::output::Output;
use crate::error::Result;
use crate::utf8::decode_strict;

/// The regular-expression class of the characters that llama.cpp's version of Unicode has.
const AGE_CLASS: &str = r"\p{Age=15.0}";

/// The compiled step.
pub struct WpmNormalize {
    lowercase: bool,
    strip_accents: bool,
    /// The characters that the step drops: control, format, private-use and surrogate characters.
    dropped_chars: CharRanges,
    /// The combining marks, which `strip_accents` drops.
    mark_chars: CharRanges,
    /// The characters that are one-character words: punctuation, ASCII symbols and ideographs.
    single_word_chars: CharRanges,
    /// The characters that llama.cpp's version of Unicode has.
    assigned_chars: CharRanges,
}

/// The role of a character in words.
enum Role {
    EndsWord,
    IsDropped,
    IsWord,
    IsInWord,
}

impl WpmNormalize {
    /// Compiles a step.
    pub fn compile(lowercase: bool, strip_accents: bool) -> Result<WpmNormalize> {
        let ideographs = r"\x{4E00}-\x{9FFF}\x{3400}-\x{4DBF}\x{20000}-\x{2A6DF}\x{2A700}-\x{2B73F}\x{2B740}-\x{2B81F}";
        // The start U+2B920, instead of U+2B820, is a mistake that llama.cpp shares with Hugging Face.
        let later_ideographs = r"\x{2B920}-\x{2CEAF}\x{F900}-\x{FAFF}\x{2F800}-\x{2FA1F}";
        Ok(WpmNormalize {
            lowercase,
            strip_accents,
            dropped_chars: CharRanges::parse(&format!(r"[\x00\x{{FFFD}}[\p{{Cc}}\p{{Cf}}\p{{Co}}&&{AGE_CLASS}]]"))?,
            mark_chars: CharRanges::parse(&format!(r"[\p{{M}}&&{AGE_CLASS}]"))?,
            single_word_chars: CharRanges::parse(&format!(
                r"[[\p{{P}}&&{AGE_CLASS}][\p{{S}}&&\x00-\x7E]{ideographs}{later_ideographs}]"
            ))?,
            assigned_chars: CharRanges::parse(AGE_CLASS)?,
        })
    }

    /// Reports whether text is converted to lower case.
    pub fn lowercases(&self) -> bool {
        self.lowercase
    }

    /// Returns the characters that are one-character words, as a class of a regular expression.
    pub fn single_word_class(&self) -> String {
        let ranges = self
            .single_word_chars
            .iter()
            .map(|(start, end)| format!("\\x{{{:X}}}-\\x{{{:X}}}", start as u32, end as u32));
        format!("[{}]", ranges.collect::<String>())
    }

    /// Reports whether a character stays unchanged, or is white space and ends a word.
    pub fn keeps(&self, c: char) -> bool {
        let base = self.base(c);
        match self.role(base) {
            Role::EndsWord => c.is_whitespace(),
            Role::IsDropped => false,
            Role::IsWord | Role::IsInWord => base == c && (!self.lowercase || self.lower(c) == c),
        }
    }

    /// Returns the texts that are written for two adjacent characters if a word always ends between them: the second
    /// begins with the U+0000 between words. None if no word ends there, or if a character is dropped.
    pub(super) fn word_end(&self, left: char, right: char) -> Option<(String, String)> {
        let (left, right) = (self.base(left), self.base(right));
        let written = |c: char| if self.lowercase { self.lower(c) } else { c };
        let right_text = match (self.role(left), self.role(right)) {
            (Role::EndsWord | Role::IsDropped, _) | (_, Role::IsDropped) | (Role::IsInWord, Role::IsInWord) => None,
            (Role::IsWord | Role::IsInWord, Role::EndsWord) => Some("\0".to_string()),
            (Role::IsWord | Role::IsInWord, Role::IsWord | Role::IsInWord) => Some(format!("\0{}", written(right))),
        };
        Some((written(left).to_string(), right_text?))
    }

    /// Writes the words.
    pub fn apply<O: Output>(&self, text: &[u8], out: &mut O) {
        let (mut at, mut kept_from) = (0, 0);
        let (mut has_word, mut is_open) = (false, false);
        while at < text.len() {
            let Some((c, len)) = decode_strict(&text[at..]) else {
                out.keep(text, kept_from, at);
                at += 1;
                kept_from = at;
                continue;
            };
            let base = self.base(c);
            let base_role = self.role(base);
            if matches!(base_role, Role::EndsWord | Role::IsDropped) {
                out.keep(text, kept_from, at);
                kept_from = at + len;
                is_open &= matches!(base_role, Role::IsDropped);
            } else {
                if has_word && (!is_open || matches!(base_role, Role::IsWord)) {
                    out.keep(text, kept_from, at);
                    out.insert(b"\0", at);
                    kept_from = at;
                }
                (has_word, is_open) = (true, matches!(base_role, Role::IsInWord));
                let written = if self.lowercase { self.lower(base) } else { base };
                if written != c {
                    out.keep(text, kept_from, at);
                    out.change(written.encode_utf8(&mut [0; 4]).as_bytes(), at);
                    kept_from = at + len;
                }
            }
            at += len;
        }
        out.keep(text, kept_from, at);
    }

    fn role(&self, c: char) -> Role {
        if c.is_whitespace() {
            Role::EndsWord
        } else if self.dropped_chars.contains(c) || (self.strip_accents && self.mark_chars.contains(c)) {
            Role::IsDropped
        } else if self.single_word_chars.contains(c) {
            Role::IsWord
        } else {
            Role::IsInWord
        }
    }

    /// Returns the first character of the canonical decomposition, or the character itself if accents stay.
    fn base(&self, c: char) -> char {
        if !self.strip_accents || c.is_ascii() {
            return c;
        }
        let mut first = None;
        unicode_normalization_alignments::char::decompose_canonical(c, |part| first = first.or(Some(part)));
        first.unwrap_or(c)
    }

    /// Returns the first character of the lower case of a character that llama.cpp's version of Unicode has.
    fn lower(&self, c: char) -> char {
        if c.is_ascii() {
            return c.to_ascii_lowercase();
        }
        c.to_lowercase().next().filter(|_| self.assigned_chars.contains(c)).unwrap_or(c)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(lowercase: bool, strip_accents: bool, text: &[u8]) -> String {
        let mut out = Vec::new();
        WpmNormalize::compile(lowercase, strip_accents).unwrap().apply(text, &mut out);
        String::from_utf8_lossy(&out).replace('\0', "|")
    }

    #[test]
    fn words_of_normalized_characters() {
        for (text, expected) in [
            ("", ""),
            ("  Hello,  World! ", "hello|,|world|!"),
            ("a$b\u{7E}c\u{20AC}d", "a|$|b|~|cd\u{20AC}".replace("cd\u{20AC}", "c\u{20AC}d").as_str()),
            ("Ünï\u{301}côde", "unicode"),
            ("x中国y", "x|中|国|y"),
            ("\u{2B820}\u{2B920}", "\u{2B820}|\u{2B920}"),
            ("a\u{AD}b\u{200B}c\u{0}d\u{FFFD}e", "abcde"),
            ("İI", "ii"),
            ("한", "\u{1112}"),
            ("\u{A7CB}\u{1C89}", "\u{A7CB}\u{1C89}"),
            ("a\u{85}b\u{3000}c", "a|b|c"),
            (" ,, ", ",|,"),
        ] {
            assert_eq!(words(true, true, text.as_bytes()), expected, "{text:?}");
        }
        assert_eq!(words(false, false, "Ünï\u{301}c".as_bytes()), "Ünï\u{301}c");
        assert_eq!(words(true, false, "ÜÉ".as_bytes()), "üé");
        assert_eq!(words(true, true, b"a\xFFb\xE2\x82 c"), "ab|c");
    }

    /// Python's tables of Unicode 14.0 have 13233 characters whose decomposition starts with another character. The
    /// crate's older tables lack U+11938, which is dropped anyway because it is a mark.
    #[test]
    fn the_crate_knows_the_decompositions() {
        let step = WpmNormalize::compile(true, true).unwrap();
        assert_eq!((0..=0x10FFFF).filter_map(char::from_u32).filter(|&c| step.base(c) != c).count(), 13232);
        assert!(matches!(step.role('\u{11938}'), Role::IsDropped));
    }
}
