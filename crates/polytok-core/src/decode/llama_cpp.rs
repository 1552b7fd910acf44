//! llama.cpp's detokenizer: prints the text of each token; can remove a space at the start of the first token, and
//! spaces before English punctuation.
//!
//! Reference: `token_to_piece` and `detokenize`. The text of a token does not depend on its neighbours. To remove the
//! spaces before punctuation, llama.cpp runs three passes over the whole text; each pass reads the output of the
//! previous pass. Here the passes run byte by byte: each pass holds back up to four bytes that can be the start of a
//! match, so decoding ids in several calls cannot differ from decoding them in one call.

use polytok_memory::{self as memory, Copied, Grow};

use super::traced::TracedText;
use super::{hex_byte, unescape_spaces};
use crate::byte_level::byte_of;
use crate::spec::{Family, Kind};
use crate::vocab::{Row, Vocab};

/// The patterns of each pass with their replacements. The first byte of every pattern is a space; only the last byte
/// can be another space.
const PASSES: [&[(&[u8], &[u8])]; 3] = [
    &[(b" ?", b"?"), (b" !", b"!"), (b" .", b"."), (b" ,", b",")],
    &[(b" ' ", b"'")],
    &[(b" 's", b"'s"), (b" 'm", b"'m"), (b" 're", b"'re"), (b" 've", b"'ve")],
];

/// The compiled rules.
pub(super) struct LlamaCppDecoder {
    family: Family,
    strips_space: bool,
    cleans_spaces: bool,
    escaped_spaces: bool,
}

/// The state between ids.
#[derive(Clone, Debug, Default)]
pub(super) struct LlamaCppState {
    has_first_token: bool,
    /// The bytes that each pass holds back.
    held_bytes: [Vec<u8>; 3],
    /// Memory that is used again for the output of each pass.
    buffer: Vec<u8>,
}

impl LlamaCppDecoder {
    /// Compiles the rules.
    pub fn compile(family: Family, strips_space: bool, cleans_spaces: bool, escaped_spaces: bool) -> LlamaCppDecoder {
        LlamaCppDecoder { family, strips_space, cleans_spaces, escaped_spaces }
    }

    /// Returns the text that a row prints.
    pub fn row_text(&self, vocab: &Vocab, row: Row) -> Vec<u8> {
        row_text(self.family, self.escaped_spaces, vocab.kind(row), vocab.bytes(row))
    }

    /// Reports whether the next tokens print exactly the texts of their rows.
    #[inline]
    pub fn is_settled(&self, state: &LlamaCppState) -> bool {
        state.has_first_token && !self.cleans_spaces
    }

    /// Appends the text of a token.
    pub fn push_text(&self, text: &[u8], state: &mut LlamaCppState, out: &mut Vec<u8>) {
        let text = self.strip_first(text, state);
        if self.cleans_spaces { run_passes(text, 0, state, out) } else { out.checked_extend_from_slice(text) }
    }

    /// Returns the text of a token without the space that is removed at the start of the first token.
    pub fn strip_first<'a>(&self, text: &'a [u8], state: &mut LlamaCppState) -> &'a [u8] {
        let is_first = !std::mem::replace(&mut state.has_first_token, true);
        if is_first && self.strips_space { text.strip_prefix(b" ").unwrap_or(text) } else { text }
    }

    /// Reports whether spaces before English punctuation are removed.
    pub fn cleans_spaces(&self) -> bool {
        self.cleans_spaces
    }

    /// Skips a special token, which still counts as the first token.
    pub fn skip_special(&self, state: &mut LlamaCppState) {
        state.has_first_token = true;
    }

    /// Appends the bytes that are held back.
    pub fn finish(&self, mut state: LlamaCppState, out: &mut Vec<u8>) {
        for pass in 0..PASSES.len() {
            let held = std::mem::take(&mut state.held_bytes[pass]);
            run_passes(&held, pass + 1, &mut state, out);
        }
    }
}

/// Sends a text through the passes from `first_pass` on.
fn run_passes(text: &[u8], first_pass: usize, state: &mut LlamaCppState, out: &mut Vec<u8>) {
    let mut input = text.checked_to_vec();
    for (pass, rules) in PASSES.iter().enumerate().skip(first_pass) {
        let mut output = std::mem::take(&mut state.buffer);
        output.clear();
        input.iter().for_each(|&byte| push_byte(byte, rules, &mut state.held_bytes[pass], &mut output));
        state.buffer = std::mem::replace(&mut input, output);
    }
    out.checked_extend_from_slice(&input);
}

/// Runs the three passes of the reference, each over the whole text. The replacements only remove spaces.
pub(super) fn clean_traced(text: TracedText) -> TracedText {
    PASSES.iter().fold(text, |text, rules| {
        let (mut at, mut out) = (0, TracedText::empty(text.whole));
        while at < text.bytes.len() {
            let end = match rules.iter().find(|(pattern, _)| text.bytes[at..].starts_with(pattern)) {
                Some((pattern, _)) => at + pattern.len(),
                None => {
                    out.push_part(&text, at, at + 1);
                    at += 1;
                    continue;
                }
            };
            (at..end).filter(|&i| text.bytes[i] != b' ').for_each(|i| out.push_part(&text, i, i + 1));
            at = end;
        }
        out
    })
}

/// Sends one byte through a pass.
#[inline]
fn push_byte(byte: u8, rules: &[(&[u8], &[u8])], held: &mut Vec<u8>, out: &mut Vec<u8>) {
    if held.is_empty() {
        if byte == b' ' {
            held.checked_push(byte)
        } else {
            out.checked_push(byte)
        }
        return;
    }
    held.checked_push(byte);
    if let Some((_, replacement)) = rules.iter().find(|(pattern, _)| pattern == held) {
        out.checked_extend_from_slice(replacement);
        held.clear();
    } else if !rules.iter().any(|(pattern, _)| pattern.starts_with(held)) {
        // Only the first and the last byte of a pattern can be a space, so only the last held byte can start another
        // match.
        held.pop();
        out.checked_extend(held.drain(..));
        if byte == b' ' { held.checked_push(byte) } else { out.checked_push(byte) }
    }
}

/// Returns the text that a row prints.
fn row_text(family: Family, escaped_spaces: bool, kind: Kind, piece: &[u8]) -> Vec<u8> {
    let byte_text = |piece| hex_byte(piece).map_or(Vec::new(), |byte| vec![byte]);
    match (family, kind) {
        (Family::Rwkv, _) => piece.checked_to_vec(),
        (_, Kind::Byte) => byte_text(piece),
        (Family::Plamo2, _) => piece.checked_to_vec(),
        (Family::Bpe, Kind::Unused) if !escaped_spaces => unknown_byte_reports(piece),
        (_, Kind::Unused) => Vec::new(),
        (_, Kind::Unknown | Kind::Control | Kind::UserDefined) => piece.checked_to_vec(),
        (Family::Bpe, Kind::Normal) if !escaped_spaces => piece.checked_to_vec(),
        (_, Kind::Normal) => unescape_spaces(piece),
    }
}

/// Returns the text of a byte-level row that has characters outside of GPT-2's table: for each such character,
/// llama.cpp prints a report of the unknown byte (`llama_decode_text`). Only rows of kind Unused have such characters.
/// An Unused row without such characters prints nothing. A row with more than `MAX_REPORTS` such characters prints
/// nothing, because the length of the reports grows with the square of the row's length.
fn unknown_byte_reports(piece: &[u8]) -> Vec<u8> {
    let is_in_table = |c: &char| byte_of(*c).is_some();
    let text = memory::lossy(piece);
    let count = text.chars().filter(|c| !is_in_table(c)).count();
    if count == 0 || count > MAX_REPORTS {
        return Vec::new();
    }
    let mut out = Vec::new();
    for c in text.chars() {
        match byte_of(c) {
            Some(byte) => out.checked_push(byte),
            None => {
                out.checked_extend_from_slice(b"[UNK_BYTE_0x");
                let mut buffer = [0; 4];
                c.encode_utf8(&mut buffer).bytes().for_each(|byte| out.checked_extend(format!("{byte:02x}").bytes()));
                out.checked_extend_from_slice(piece);
                out.checked_push(b']');
            }
        }
    }
    out
}

/// The largest number of reports that a row prints.
const MAX_REPORTS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::unigram::tests::vocab;
    use proptest::prelude::*;

    /// Runs the three passes of the reference, each over the whole text.
    fn run_whole_passes(text: &[u8]) -> Vec<u8> {
        let mut text = text.to_vec();
        for rules in PASSES {
            let (mut at, mut out) = (0, Vec::new());
            while at < text.len() {
                match rules.iter().find(|(pattern, _)| text[at..].starts_with(pattern)) {
                    Some((pattern, replacement)) => {
                        out.extend_from_slice(replacement);
                        at += pattern.len();
                    }
                    None => {
                        out.push(text[at]);
                        at += 1;
                    }
                }
            }
            text = out;
        }
        text
    }

    fn decode_parts(parts: &[&[u8]]) -> Vec<u8> {
        let decoder = LlamaCppDecoder::compile(Family::Wpm, false, true, false);
        let (mut state, mut out) = (LlamaCppState::default(), Vec::new());
        parts.iter().for_each(|part| decoder.push_text(part, &mut state, &mut out));
        decoder.finish(state, &mut out);
        out
    }

    #[test]
    fn spaces_before_punctuation_are_removed() {
        for (text, expected) in [
            ("a , b . c ?!", "a, b. c?!"),
            ("it ' s ' ' x", "it's'' x"),
            ("I 'm we 're 've 't 'll 'd ' m", "I'm we're've 't 'll 'd'm"),
            ("  ,", " ,"),
            (" '", " '"),
            (" 'r", " 'r"),
            (" ' 's", "''s"),
        ] {
            assert_eq!(String::from_utf8(decode_parts(&[text.as_bytes()])).unwrap(), expected, "{text:?}");
        }
    }

    #[test]
    fn each_family_prints_rows_and_the_first_space_is_removed() {
        let entries = [
            ("\u{2581}a", 0.0, Kind::Normal),
            ("<0x20>", 0.0, Kind::Byte),
            ("\u{2581}u", 0.0, Kind::UserDefined),
            ("x", 0.0, Kind::Unused),
        ];
        let decode = |family, escaped_spaces, rows: &[u32]| {
            let decoder = LlamaCppDecoder::compile(family, true, false, escaped_spaces);
            let (mut state, mut out) = (LlamaCppState::default(), Vec::new());
            let vocab = vocab(&entries);
            rows.iter().for_each(|&row| decoder.push_text(&decoder.row_text(&vocab, Row(row)), &mut state, &mut out));
            decoder.finish(state, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(decode(Family::Spm, false, &[1, 1, 2, 3, 4]), "a a \u{2581}u");
        assert_eq!(decode(Family::Spm, false, &[2, 1]), " a");
        assert_eq!(decode(Family::Bpe, false, &[1]), "\u{2581}a");
        assert_eq!(decode(Family::Bpe, true, &[4, 1]), " a");
        assert_eq!(decode(Family::Plamo2, false, &[1, 2, 4]), "\u{2581}a x");
    }

    proptest! {
        #[test]
        fn parts_are_cleaned_like_the_whole_text(parts in proptest::collection::vec("[ 'srevm,a]{0,4}", 0..8)) {
            let bytes: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
            prop_assert_eq!(decode_parts(&bytes), run_whole_passes(&bytes.concat()));
        }
    }
}
