//! Bytes that are not part of a character become U+FFFD.
//!
//! Reference: for the strict rule Rust's and Python's "replace", one U+FFFD for each maximal part of a character; for
//! the lenient one llama.cpp's `unicode_cpts_from_utf8`, which goes by lead byte and continuation bytes alone and gives
//! one U+FFFD for each byte that starts nothing. What it decodes is encoded anew, so that an overlong form becomes the
//! short one; surrogates stay as they are. Numbers above U+10FFFF make llama.cpp fail; here their bytes are U+FFFD too.
//!
//! Cost: linear; valid text is kept in one go.

use super::output::Output;
use crate::utf8::{decode_lenient, valid};

/// U+FFFD.
const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

/// A compiled step.
#[derive(Clone, Copy, Debug)]
pub struct ReplaceInvalid {
    lenient: bool,
}

impl ReplaceInvalid {
    /// Compiles a step.
    pub fn compile(lenient: bool) -> ReplaceInvalid {
        ReplaceInvalid { lenient }
    }

    /// Writes the text without invalid bytes.
    pub fn apply<O: Output>(&self, text: &[u8], out: &mut O) {
        // Checked once, because the check does not stop at the first invalid byte.
        if valid(text).is_ok() {
            return out.keep(text, 0, text.len());
        }
        let mut at = 0;
        while at < text.len() {
            let Err(error) = std::str::from_utf8(&text[at..]) else { return out.keep(text, at, text.len()) };
            let bad = at + error.valid_up_to();
            out.keep(text, at, bad);
            at = if self.lenient {
                replace_stretch(text, bad, out)
            } else {
                replace_one(text, bad, error.error_len(), out)
            };
        }
    }
}

/// The strict rule: bytes that can only be the start of a character become one U+FFFD together.
fn replace_one<O: Output>(text: &[u8], at: usize, len: Option<usize>, out: &mut O) -> usize {
    out.change(REPLACEMENT, at);
    len.map_or(text.len(), |len| at + len)
}

/// The lenient rule, up to the next ASCII byte; strict decoding can continue after it.
fn replace_stretch<O: Output>(text: &[u8], mut at: usize, out: &mut O) -> usize {
    while at < text.len() && text[at] >= 0x80 {
        let Some((code, len)) = decode_lenient(&text[at..]).filter(|&(code, _)| code <= char::MAX as u32) else {
            out.change(REPLACEMENT, at);
            at += 1;
            continue;
        };
        let mut buffer = [0; 4];
        let short = char::from_u32(code).map_or(&text[at..at + len], |c| c.encode_utf8(&mut buffer).as_bytes());
        if *short == text[at..at + len] {
            out.keep(text, at, at + len)
        } else {
            out.change(short, at)
        }
        at += len;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn replaced(lenient: bool, text: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        ReplaceInvalid::compile(lenient).apply(text, &mut out);
        out
    }

    #[test]
    fn lenient_decoding_lets_odd_forms_pass() {
        assert_eq!(replaced(true, b"a\xC1\x81b\xC0\x80\xE0\x81\x81"), b"aAb\0A");
        assert_eq!(replaced(true, b"\xED\xA0\x80\xE2\x82"), b"\xED\xA0\x80\xEF\xBF\xBD\xEF\xBF\xBD");
        assert_eq!(replaced(true, b"\xF4\x90\x80\x80x"), "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}x".as_bytes());
        assert_eq!(replaced(true, b"\xF8\xFFx\x80"), "\u{FFFD}\u{FFFD}x\u{FFFD}".as_bytes());
    }

    proptest! {
        #[test]
        fn strict_is_rusts_rule(text in proptest::collection::vec(prop_oneof![any::<u8>(), 0x7Eu8..0x83, 0xC0u8..0xF8], 0..24)) {
            prop_assert_eq!(replaced(false, &text), String::from_utf8_lossy(&text).into_owned().into_bytes());
        }

        #[test]
        fn lenient_agrees_with_decoding_one_by_one(text in proptest::collection::vec(prop_oneof![0x7Eu8..0xC3, 0xE0u8..0xF8], 0..24)) {
            let (mut at, mut expected) = (0, Vec::new());
            while at < text.len() {
                let found = decode_lenient(&text[at..]).filter(|&(code, _)| code <= 0x10FFFF);
                match found.map(|(code, _)| char::from_u32(code)) {
                    None => expected.extend_from_slice(REPLACEMENT),
                    Some(Some(c)) => expected.extend_from_slice(c.to_string().as_bytes()),
                    Some(None) => expected.extend_from_slice(&text[at..at + 3]),
                }
                at += found.map_or(1, |(_, len)| len);
            }
            // An overlong surrogate of four bytes stays four bytes long.
            prop_assume!(!text.windows(4).any(|w| w[0] == 0xF0 && w[1] < 0x90 && decode_lenient(w).is_some_and(|(code, _)| char::from_u32(code).is_none())));
            prop_assert_eq!(replaced(true, &text), expected);
        }
    }
}
