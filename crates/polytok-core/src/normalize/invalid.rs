//! Replaces bytes that are not part of a character by U+FFFD.
//!
//! The strict rule follows Rust's and Python's "replace": one U+FFFD for each maximal part of a character. The lenient
//! rule follows llama.cpp's `unicode_cpts_from_utf8`, which checks only lead bytes and continuation bytes, and writes
//! one U+FFFD for each byte that starts no character. The lenient rule writes each decoded character in its shortest
//! form, which replaces overlong forms; surrogates stay unchanged. llama.cpp fails at code points above U+10FFFF; here
//! each byte of such a code point is replaced by U+FFFD.
//!
//! Cost: linear; one `keep` call copies all of a valid text.

use super::output::Output;
use crate::utf8::{decode_lenient, valid};

/// U+FFFD.
const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

/// The compiled step.
#[derive(Clone, Copy, Debug)]
pub struct ReplaceInvalid {
    lenient: bool,
}

impl ReplaceInvalid {
    /// Compiles a step.
    pub fn compile(lenient: bool) -> ReplaceInvalid {
        ReplaceInvalid { lenient }
    }

    /// Writes the text with U+FFFD for invalid bytes.
    pub fn apply<O: Output>(&self, text: &[u8], out: &mut O) {
        // This check reads the whole text even if an early byte is invalid, so it runs only once.
        if valid(text).is_ok() {
            return out.keep(text, 0, text.len());
        }
        let mut at = 0;
        while at < text.len() {
            let Err(error) = std::str::from_utf8(&text[at..]) else { return out.keep(text, at, text.len()) };
            let invalid_at = at + error.valid_up_to();
            out.keep(text, at, invalid_at);
            at = if self.lenient {
                replace_until_ascii(text, invalid_at, out)
            } else {
                replace_part(text, invalid_at, error.error_len(), out)
            };
        }
    }
}

/// Replaces, by the strict rule, the invalid bytes at `at` by one U+FFFD; returns the offset after these bytes.
fn replace_part<O: Output>(text: &[u8], at: usize, len: Option<usize>, out: &mut O) -> usize {
    out.change(REPLACEMENT, at);
    len.map_or(text.len(), |len| at + len)
}

/// Rewrites, by the lenient rule, the bytes from `at` to the next ASCII byte, where strict decoding can continue;
/// returns the offset of that ASCII byte.
fn replace_until_ascii<O: Output>(text: &[u8], mut at: usize, out: &mut O) -> usize {
    while at < text.len() && text[at] >= 0x80 {
        let Some((code, len)) = decode_lenient(&text[at..]).filter(|&(code, _)| code <= char::MAX as u32) else {
            out.change(REPLACEMENT, at);
            at += 1;
            continue;
        };
        let mut buffer = [0; 4];
        let shortest_form = char::from_u32(code).map_or(&text[at..at + len], |c| c.encode_utf8(&mut buffer).as_bytes());
        if *shortest_form == text[at..at + len] {
            out.keep(text, at, at + len)
        } else {
            out.change(shortest_form, at)
        }
        at += len;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn replace(lenient: bool, text: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        ReplaceInvalid::compile(lenient).apply(text, &mut out);
        out
    }

    #[test]
    fn the_lenient_rule_keeps_overlong_forms_and_surrogates() {
        assert_eq!(replace(true, b"a\xC1\x81b\xC0\x80\xE0\x81\x81"), b"aAb\0A");
        assert_eq!(replace(true, b"\xED\xA0\x80\xE2\x82"), b"\xED\xA0\x80\xEF\xBF\xBD\xEF\xBF\xBD");
        assert_eq!(replace(true, b"\xF4\x90\x80\x80x"), "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}x".as_bytes());
        assert_eq!(replace(true, b"\xF8\xFFx\x80"), "\u{FFFD}\u{FFFD}x\u{FFFD}".as_bytes());
    }

    proptest! {
        #[test]
        fn the_strict_rule_agrees_with_rust(text in proptest::collection::vec(prop_oneof![any::<u8>(), 0x7Eu8..0x83, 0xC0u8..0xF8], 0..24)) {
            prop_assert_eq!(replace(false, &text), String::from_utf8_lossy(&text).into_owned().into_bytes());
        }

        #[test]
        fn the_lenient_rule_agrees_with_decoding_each_character(text in proptest::collection::vec(prop_oneof![0x7Eu8..0xC3, 0xE0u8..0xF8], 0..24)) {
            let (mut at, mut expected) = (0, Vec::new());
            while at < text.len() {
                let decoded = decode_lenient(&text[at..]).filter(|&(code, _)| code <= 0x10FFFF);
                match decoded.map(|(code, _)| char::from_u32(code)) {
                    None => expected.extend_from_slice(REPLACEMENT),
                    Some(Some(c)) => expected.extend_from_slice(c.to_string().as_bytes()),
                    Some(None) => expected.extend_from_slice(&text[at..at + 3]),
                }
                at += decoded.map_or(1, |(_, len)| len);
            }
            // An overlong surrogate of four bytes stays four bytes long.
            prop_assume!(!text.windows(4).any(|w| w[0] == 0xF0 && w[1] < 0x90 && decode_lenient(w).is_some_and(|(code, _)| char::from_u32(code).is_none())));
            prop_assert_eq!(replace(true, &text), expected);
        }
    }
}
