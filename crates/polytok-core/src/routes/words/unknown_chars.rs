//! Replaces each character that no entry contains by a *stand-in*: a character of one byte that is in no entry either.
//!
//! A Unigram model of Hugging Face gives all such characters the same score, merges adjacent ones into one token, and
//! does not look at the characters themselves unless it encodes them as bytes. So the ids stay the same, while words of
//! scripts that the vocabulary lacks become equal and a third as long: most of them are cached. White space and U+2581
//! stay, because they separate words. Characters beyond U+FFFF stay, because they are rare. Cost: linear.

use crate::model::unigram::wide::WideUnigram;
use crate::space_mark;
use crate::utf8::valid;
use crate::vocab::Vocab;

/// The number of characters that the table has a bit for: those up to U+FFFF.
const CHARS: usize = 1 << 16;

/// The characters that no entry contains, and their stand-in.
pub(super) struct UnknownChars {
    /// A bit for each character that stays.
    kept: Box<[u64; CHARS / 64]>,
    stand_in: u8,
}

impl UnknownChars {
    /// Returns the table; None if the ids can depend on unknown characters, or if no character can be the stand-in.
    pub fn new(model: &WideUnigram, vocab: &Vocab) -> Option<UnknownChars> {
        if !model.has_same_id_for_unknown() {
            return None;
        }
        let mut unknown = UnknownChars { kept: Box::new([0; CHARS / 64]), stand_in: 0 };
        for row in vocab.rows() {
            valid(vocab.bytes(row)).ok()?.chars().for_each(|c| unknown.keep(c));
        }
        ('\0'..='\u{FFFF}').filter(|&c| c.is_whitespace() || c == space_mark::CHAR).for_each(|c| unknown.keep(c));
        unknown.stand_in = (1..128).find(|&byte| unknown.is_unknown(byte as char))?;
        Some(unknown)
    }

    fn keep(&mut self, c: char) {
        if let Some(word) = self.kept.get_mut(c as usize / 64) {
            *word |= 1 << (c as usize % 64);
        }
    }

    #[inline]
    fn is_unknown(&self, c: char) -> bool {
        self.kept.get(c as usize / 64).is_some_and(|word| word >> (c as usize % 64) & 1 == 0)
    }

    /// Returns the text with stand-ins; it is the input text, or a text in `out`. ASCII characters stay.
    pub fn replace<'t>(&self, text: &'t str, out: &'t mut Vec<u8>) -> &'t str {
        out.clear();
        let (bytes, mut copied, mut at) = (text.as_bytes(), 0, 0);
        loop {
            at += ascii_run_len(&bytes[at..]);
            let Some(c) = text[at..].chars().next() else { break };
            if self.is_unknown(c) {
                out.extend_from_slice(&bytes[copied..at]);
                out.push(self.stand_in);
                copied = at + c.len_utf8();
            }
            at += c.len_utf8();
        }
        if copied == 0 {
            return text;
        }
        out.extend_from_slice(&bytes[copied..]);
        valid(out).unwrap_or_default()
    }
}

/// Returns the number of ASCII characters at the start.
#[inline]
fn ascii_run_len(text: &[u8]) -> usize {
    let mut at = 0;
    while text[at..].first_chunk::<32>().is_some_and(|bytes| bytes.is_ascii()) {
        at += 32;
    }
    at + text[at..].iter().take_while(|byte| byte.is_ascii()).count()
}
