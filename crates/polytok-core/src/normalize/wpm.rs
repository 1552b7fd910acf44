//! llama.cpp's normalizer of BERT vocabularies: words of normalized characters, with U+0000 between them.
//!
//! Reference: `llm_tokenizer_wpm_session::preprocess`, whose tables are those of Unicode 15.0. With `strip_accents`
//! each character becomes the first of its canonical decomposition and marks go. White space ends a word; U+0000,
//! U+FFFD and control, format, private-use and surrogate characters go; punctuation, ASCII symbols and ideographs are
//! words of their own. Lower case is the first character of the full mapping. Bytes that are no character are dropped,
//! for they would become U+FFFD.
//!
//! Cost: linear, a binary search per character beyond ASCII. Twin: `_words` in
//! python/polytok/reference/llama_cpp_models.py.

use polytok_pattern::CharRanges;

use super::output::Output;
use crate::error::Result;
use crate::utf8::decode_strict;

/// The version of llama.cpp's tables.
const AGE: &str = r"\p{Age=15.0}";

/// A compiled step.
pub struct WpmNormalize {
    lowercase: bool,
    strip_accents: bool,
    dropped: CharRanges,
    marks: CharRanges,
    alone: CharRanges,
    assigned: CharRanges,
}

/// The role of a character.
enum Role {
    Ends,
    Goes,
    Alone,
    Joins,
}

impl WpmNormalize {
    /// Compiles a step.
    pub fn compile(lowercase: bool, strip_accents: bool) -> Result<WpmNormalize> {
        let ideographs = r"\x{4E00}-\x{9FFF}\x{3400}-\x{4DBF}\x{20000}-\x{2A6DF}\x{2A700}-\x{2B73F}\x{2B740}-\x{2B81F}";
        // 2B920 is a slip that the reference shares with Hugging Face.
        let rest = r"\x{2B920}-\x{2CEAF}\x{F900}-\x{FAFF}\x{2F800}-\x{2FA1F}";
        Ok(WpmNormalize {
            lowercase,
            strip_accents,
            dropped: CharRanges::parse(&format!(r"[\x00\x{{FFFD}}[\p{{Cc}}\p{{Cf}}\p{{Co}}&&{AGE}]]"))?,
            marks: CharRanges::parse(&format!(r"[\p{{M}}&&{AGE}]"))?,
            alone: CharRanges::parse(&format!(r"[[\p{{P}}&&{AGE}][\p{{S}}&&\x00-\x7E]{ideographs}{rest}]"))?,
            assigned: CharRanges::parse(AGE)?,
        })
    }

    /// Whether text is made lower case.
    pub fn lowercases(&self) -> bool {
        self.lowercase
    }

    /// The characters that are words of their own, as a regular expression's class.
    pub fn alone(&self) -> String {
        let ranges = self.alone.iter().map(|(start, end)| format!("\\x{{{:X}}}-\\x{{{:X}}}", start as u32, end as u32));
        format!("[{}]", ranges.collect::<String>())
    }

    /// Whether a character stays as it is, or ends a word, as white space does.
    pub fn leaves(&self, c: char) -> bool {
        let base = self.base(c);
        match self.role(base) {
            Role::Ends => c.is_whitespace(),
            Role::Goes => false,
            Role::Alone | Role::Joins => base == c && (!self.lowercase || self.lower(c) == c),
        }
    }

    /// Writes the words.
    pub fn apply<O: Output>(&self, text: &[u8], out: &mut O) {
        let (mut at, mut kept) = (0, 0);
        let (mut has_word, mut is_open) = (false, false);
        while at < text.len() {
            let Some((c, len)) = decode_strict(&text[at..]) else {
                out.keep(text, kept, at);
                at += 1;
                kept = at;
                continue;
            };
            let base = self.base(c);
            let role = self.role(base);
            if matches!(role, Role::Ends | Role::Goes) {
                out.keep(text, kept, at);
                kept = at + len;
                is_open &= matches!(role, Role::Goes);
            } else {
                if has_word && (!is_open || matches!(role, Role::Alone)) {
                    out.keep(text, kept, at);
                    out.insert(b"\0", at);
                    kept = at;
                }
                (has_word, is_open) = (true, matches!(role, Role::Joins));
                let written = if self.lowercase { self.lower(base) } else { base };
                if written != c {
                    out.keep(text, kept, at);
                    out.change(written.encode_utf8(&mut [0; 4]).as_bytes(), at);
                    kept = at + len;
                }
            }
            at += len;
        }
        out.keep(text, kept, at);
    }

    fn role(&self, c: char) -> Role {
        if c.is_whitespace() {
            Role::Ends
        } else if self.dropped.contains(c) || (self.strip_accents && self.marks.contains(c)) {
            Role::Goes
        } else if self.alone.contains(c) {
            Role::Alone
        } else {
            Role::Joins
        }
    }

    /// The first character of the canonical decomposition.
    fn base(&self, c: char) -> char {
        if !self.strip_accents || c.is_ascii() {
            return c;
        }
        let mut first = None;
        unicode_normalization_alignments::char::decompose_canonical(c, |part| first = first.or(Some(part)));
        first.unwrap_or(c)
    }

    fn lower(&self, c: char) -> char {
        if c.is_ascii() {
            return c.to_ascii_lowercase();
        }
        c.to_lowercase().next().filter(|_| self.assigned.contains(c)).unwrap_or(c)
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
    fn characters() {
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

    /// Python's tables of Unicode 14.0 have 13233 characters whose decomposition starts with another; one of those came
    /// after the crate's tables, U+11938, a mark, which goes anyway.
    #[test]
    fn decompositions_are_known() {
        let step = WpmNormalize::compile(true, true).unwrap();
        assert_eq!((0..=0x10FFFF).filter_map(char::from_u32).filter(|&c| step.base(c) != c).count(), 13232);
        assert!(matches!(step.role('\u{11938}'), Role::Goes));
    }
}
