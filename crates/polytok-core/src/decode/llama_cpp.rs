//! llama.cpp's detokenizer: each token prints its text, the first loses a space, and spaces before English punctuation
//! can be removed.
//!
//! Reference: `token_to_piece` and `detokenize`. The texts do not depend on their neighbours. The cleanup is three
//! passes over the whole result, each of which replaces in the output of the previous one. Here each pass holds back
//! the start of a possible match, at most four bytes, so decoding in parts cannot differ from decoding at once.

use super::{hex_byte, spaced};
use crate::byte_level::byte_of;
use crate::spec::{Family, Kind};
use crate::vocab::{Row, Vocab};

/// The patterns of each pass and their replacements. Every pattern starts with a space and has another one only at its
/// end.
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
    has_token: bool,
    /// The bytes that each pass holds back.
    held: [Vec<u8>; 3],
    /// The output of a pass, kept so that its memory is reused.
    text: Vec<u8>,
}

impl LlamaCppDecoder {
    /// Compiles the rules.
    pub fn compile(family: Family, strips_space: bool, cleans_spaces: bool, escaped_spaces: bool) -> LlamaCppDecoder {
        LlamaCppDecoder { family, strips_space, cleans_spaces, escaped_spaces }
    }

    /// The text that a row prints.
    pub fn print(&self, vocab: &Vocab, row: Row) -> Vec<u8> {
        print(self.family, self.escaped_spaces, vocab.kind(row), vocab.bytes(row))
    }

    /// Whether texts are appended unchanged.
    #[inline]
    pub fn is_settled(&self, state: &LlamaCppState) -> bool {
        state.has_token && !self.cleans_spaces
    }

    /// Appends a text.
    pub fn push_text(&self, text: &[u8], state: &mut LlamaCppState, out: &mut Vec<u8>) {
        let is_first = !std::mem::replace(&mut state.has_token, true);
        let text = if is_first && self.strips_space { text.strip_prefix(b" ").unwrap_or(text) } else { text };
        if self.cleans_spaces { clean(text, 0, state, out) } else { out.extend_from_slice(text) }
    }

    /// A special token that is skipped still counts as the first token.
    pub fn skip(&self, state: &mut LlamaCppState) {
        state.has_token = true;
    }

    /// Appends the bytes that are held back.
    pub fn finish(&self, state: &mut LlamaCppState, out: &mut Vec<u8>) {
        for pass in 0..PASSES.len() {
            let held = std::mem::take(&mut state.held[pass]);
            clean(&held, pass + 1, state, out);
        }
    }
}

/// Sends a text through this pass and the ones after it.
fn clean(text: &[u8], first: usize, state: &mut LlamaCppState, out: &mut Vec<u8>) {
    let mut input = text.to_vec();
    for (pass, rules) in PASSES.iter().enumerate().skip(first) {
        let mut output = std::mem::take(&mut state.text);
        output.clear();
        input.iter().for_each(|&byte| step(byte, rules, &mut state.held[pass], &mut output));
        state.text = std::mem::replace(&mut input, output);
    }
    out.extend_from_slice(&input);
}

/// Sends one byte through a pass.
#[inline]
fn step(byte: u8, rules: &[(&[u8], &[u8])], held: &mut Vec<u8>, out: &mut Vec<u8>) {
    if held.is_empty() {
        if byte == b' ' {
            held.push(byte)
        } else {
            out.push(byte)
        }
        return;
    }
    held.push(byte);
    if let Some((_, by)) = rules.iter().find(|(found, _)| found == held) {
        out.extend_from_slice(by);
        held.clear();
    } else if !rules.iter().any(|(found, _)| found.starts_with(held)) {
        // No match starts inside of the held bytes, except with the last one.
        held.pop();
        out.append(held);
        if byte == b' ' { held.push(byte) } else { out.push(byte) }
    }
}

/// The text that a row prints.
fn print(family: Family, escaped_spaces: bool, kind: Kind, piece: &[u8]) -> Vec<u8> {
    let byte = |piece| hex_byte(piece).map_or(Vec::new(), |byte| vec![byte]);
    match (family, kind) {
        (Family::Rwkv, _) => piece.to_vec(),
        (_, Kind::Byte) => byte(piece),
        (Family::Plamo2, _) => piece.to_vec(),
        (Family::Bpe, Kind::Unused) if !escaped_spaces => foreign(piece),
        (_, Kind::Unused) => Vec::new(),
        (_, Kind::Unknown | Kind::Control | Kind::UserDefined) => piece.to_vec(),
        (Family::Bpe, Kind::Normal) if !escaped_spaces => piece.to_vec(),
        (_, Kind::Normal) => spaced(piece),
    }
}

/// The text of a byte-level row with characters that stand for no byte: a report for each of them
/// (`llama_decode_text`). Such rows are of kind Unused. Rows that print nothing are Unused too, but their characters
/// all stand for bytes. Nothing is printed for more than a few such characters, because the length of the reports is
/// the square of the text's.
fn foreign(piece: &[u8]) -> Vec<u8> {
    let is_byte = |c: &char| byte_of(*c).is_some();
    let text = String::from_utf8_lossy(piece);
    let count = text.chars().filter(|c| !is_byte(c)).count();
    if count == 0 || count > MOST_REPORTS {
        return Vec::new();
    }
    let mut out = Vec::new();
    for c in text.chars() {
        match byte_of(c) {
            Some(byte) => out.push(byte),
            None => {
                out.extend_from_slice(b"[UNK_BYTE_0x");
                let mut buffer = [0; 4];
                c.encode_utf8(&mut buffer).bytes().for_each(|byte| out.extend(format!("{byte:02x}").bytes()));
                out.extend_from_slice(piece);
                out.push(b']');
            }
        }
    }
    out
}

/// The most reports that a row prints.
const MOST_REPORTS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::unigram::tests::vocab;
    use proptest::prelude::*;

    /// The three passes of the reference, each over the whole.
    fn naive(text: &[u8]) -> Vec<u8> {
        let mut text = text.to_vec();
        for rules in PASSES {
            let (mut at, mut out) = (0, Vec::new());
            while at < text.len() {
                match rules.iter().find(|(found, _)| text[at..].starts_with(found)) {
                    Some((found, by)) => {
                        out.extend_from_slice(by);
                        at += found.len();
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

    fn stream(parts: &[&[u8]]) -> Vec<u8> {
        let decoder = LlamaCppDecoder::compile(Family::Wpm, false, true, false);
        let (mut state, mut out) = (LlamaCppState::default(), Vec::new());
        parts.iter().for_each(|part| decoder.push_text(part, &mut state, &mut out));
        decoder.finish(&mut state, &mut out);
        out
    }

    #[test]
    fn cleanup() {
        for (text, expected) in [
            ("a , b . c ?!", "a, b. c?!"),
            ("it ' s ' ' x", "it's'' x"),
            ("I 'm we 're 've 't 'll 'd ' m", "I'm we're've 't 'll 'd'm"),
            ("  ,", " ,"),
            (" '", " '"),
            (" 'r", " 'r"),
            (" ' 's", "''s"),
        ] {
            assert_eq!(String::from_utf8(stream(&[text.as_bytes()])).unwrap(), expected, "{text:?}");
        }
    }

    #[test]
    fn families_and_the_first_space() {
        let rows = [
            ("\u{2581}a", 0.0, Kind::Normal),
            ("<0x20>", 0.0, Kind::Byte),
            ("\u{2581}u", 0.0, Kind::UserDefined),
            ("x", 0.0, Kind::Unused),
        ];
        let decode = |family, escaped, numbers: &[u32]| {
            let decoder = LlamaCppDecoder::compile(family, true, false, escaped);
            let (mut state, mut out) = (LlamaCppState::default(), Vec::new());
            let vocab = vocab(&rows);
            numbers.iter().for_each(|&row| decoder.push_text(&decoder.print(&vocab, Row(row)), &mut state, &mut out));
            decoder.finish(&mut state, &mut out);
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
        fn a_stream_is_the_whole(parts in proptest::collection::vec("[ 'srevm,a]{0,4}", 0..8)) {
            let bytes: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
            prop_assert_eq!(stream(&bytes), naive(&bytes.concat()));
        }
    }
}
