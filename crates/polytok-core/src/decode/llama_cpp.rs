//! llama.cpp's detokenizer: each token prints its text, the first loses a space, and spaces before English punctuation may go.
//!
//! Reference: `token_to_piece` and `detokenize`. The texts do not depend on their neighbours, so they are made beforehand. The cleanup is
//! three passes of replacing over the whole result, each of the bytes that the one before gave; here each pass holds back what
//! may still become a match, four bytes at most, so a stream and a whole cannot differ.

use super::texts::Texts;
use super::{hex_byte, spaced};
use crate::byte_level::byte_of;
use crate::spec::{Family, Kind};
use crate::vocab::Vocab;

/// What each pass looks for and what it puts there. All start with a space and have no other but at the end.
const PASSES: [&[(&[u8], &[u8])]; 3] = [
    &[(b" ?", b"?"), (b" !", b"!"), (b" .", b"."), (b" ,", b",")],
    &[(b" ' ", b"'")],
    &[(b" 's", b"'s"), (b" 'm", b"'m"), (b" 're", b"'re"), (b" 've", b"'ve")],
];

/// The compiled rules.
pub(super) struct LlamaCppDecoder {
    texts: Texts,
    strips_space: bool,
    cleans_spaces: bool,
}

/// What is remembered between ids.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    has_token: bool,
    /// What each pass holds back.
    held: [Vec<u8>; 3],
    /// Memory of a pass.
    text: Vec<u8>,
}

impl LlamaCppDecoder {
    /// Makes the texts of all rows.
    pub fn compile(
        family: Family,
        strips_space: bool,
        cleans_spaces: bool,
        escaped_spaces: bool,
        vocab: &Vocab,
    ) -> LlamaCppDecoder {
        let print = |row| print(family, escaped_spaces, vocab.kind(row), vocab.bytes(row));
        LlamaCppDecoder { texts: Texts::new((0..vocab.len()).map(print)), strips_space, cleans_spaces }
    }

    /// Appends what a row adds.
    #[inline]
    pub fn push(&self, row: usize, state: &mut State, out: &mut Vec<u8>) {
        if state.has_token && !self.cleans_spaces {
            return self.texts.append(row, out);
        }
        self.push_text(self.texts.get(row), state, out);
    }

    /// Appends a text.
    pub fn push_text(&self, text: &[u8], state: &mut State, out: &mut Vec<u8>) {
        let is_first = !std::mem::replace(&mut state.has_token, true);
        let text = if is_first && self.strips_space { text.strip_prefix(b" ").unwrap_or(text) } else { text };
        if self.cleans_spaces { clean(text, 0, state, out) } else { out.extend_from_slice(text) }
    }

    /// A special token that is left out is the first all the same.
    pub fn skip(&self, state: &mut State) {
        state.has_token = true;
    }

    /// Appends what is held back.
    pub fn finish(&self, state: &mut State, out: &mut Vec<u8>) {
        for pass in 0..PASSES.len() {
            let held = std::mem::take(&mut state.held[pass]);
            clean(&held, pass + 1, state, out);
        }
    }
}

/// Sends a text through the passes from this one on.
fn clean(text: &[u8], first: usize, state: &mut State, out: &mut Vec<u8>) {
    let mut input = text.to_vec();
    for (pass, rules) in PASSES.iter().enumerate().skip(first) {
        let mut output = std::mem::take(&mut state.text);
        output.clear();
        input.iter().for_each(|&byte| step(byte, rules, &mut state.held[pass], &mut output));
        state.text = std::mem::replace(&mut input, output);
    }
    out.extend_from_slice(&input);
}

/// One byte through a pass.
#[inline]
fn step(byte: u8, rules: &[(&[u8], &[u8])], held: &mut Vec<u8>, out: &mut Vec<u8>) {
    if held.is_empty() {
        if byte == b' ' { held.push(byte) } else { out.push(byte) }
        return;
    }
    held.push(byte);
    if let Some((_, by)) = rules.iter().find(|(found, _)| found == held) {
        out.extend_from_slice(by);
        held.clear();
    } else if !rules.iter().any(|(found, _)| found.starts_with(held)) {
        // No match starts inside of what is held, but with its last byte.
        held.pop();
        out.append(held);
        if byte == b' ' { held.push(byte) } else { out.push(byte) }
    }
}

/// What a row prints.
fn print(family: Family, escaped_spaces: bool, kind: Kind, piece: &[u8]) -> Vec<u8> {
    let byte = |piece| hex_byte(piece).map_or(Vec::new(), |byte| vec![byte]);
    match (family, kind) {
        (Family::Rwkv, _) => piece.to_vec(),
        (_, Kind::Byte) => byte(piece),
        (Family::Plamo2, _) => piece.to_vec(),
        (_, Kind::Unused) => Vec::new(),
        (_, Kind::Unknown | Kind::Control | Kind::UserDefined) => piece.to_vec(),
        (Family::Bpe, Kind::Normal) if !escaped_spaces => piece.to_vec(),
        (_, Kind::Normal) => spaced(piece),
    }
}
