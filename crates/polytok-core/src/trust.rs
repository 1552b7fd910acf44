//! Encodes a text of which only some runs are trusted: finds the trusted runs of a normalized text, and hides the
//! user-defined pieces of SentencePiece in the other runs.
//!
//! The search for special tokens is in special/trusted.rs. Besides that search, a model can form a special token from
//! plain text, for example if `</s>` is an ordinary entry. A *guard* is a second tokenizer with which a text is encoded
//! that is not trusted as a whole. Its Spec, which polytok/guard.py derives, has other bytes for such entries, bytes that
//! do not occur in UTF-8. No text therefore has these tokens.
//!
//! SentencePiece matches user-defined pieces without splitting the text, so in trusted text they are not found by the
//! search for special tokens. In the guard, the bytes of a user-defined piece are a *code* of the same length, and
//! [`PieceCodes`] writes the code to the text where the piece is found in a trusted run. Offsets therefore stay the same.
//! A code consists of bytes that cannot start a character, the first of another group than the others. No code starts
//! in a text, within a character, or within another code.

use polytok_memory::{Collect, Copied, Grow};

use crate::error::Result;
use crate::normalize::origin::{Origin, Place};
use crate::normalize::output::Span;
use crate::normalize::user_defined::matched_pieces;
use crate::spec::SentencePieceVersion;
use crate::trie::Trie;
use crate::utf8::char_len;
use crate::vocab::Vocab;

/// The trusted runs of a text, or of a part of a text.
#[derive(Clone, Copy, Debug)]
pub struct Trusted<'a> {
    /// The runs, from left to right; no two of them touch.
    pub runs: &'a [Span],
    /// True if the whole text is trusted, so that it is encoded without a guard. This is a property of the whole text: a
    /// part of another text can be trusted and still be encoded with the guard.
    pub is_whole: bool,
}

impl<'a> Trusted<'a> {
    /// Creates the runs of a whole text of `len` bytes.
    pub fn of_text(runs: &'a [Span], len: usize) -> Trusted<'a> {
        Trusted { runs, is_whole: len == 0 || runs == [(0, len as u32)] }
    }
}

/// Returns the trusted runs of a normalized text of `len` bytes: the bytes whose originals are within one of `runs`,
/// which are the trusted runs of the caller's text. Two such runs do not touch, because neither do the originals.
pub fn normalized_runs(place: &Place, len: usize, runs: &[Span]) -> Vec<Span> {
    if matches!(place.origin, Origin::Same | Origin::Kept(_)) {
        return runs_of_part(runs, place.at, place.at + len as u32);
    }
    let mut normalized_runs: Vec<(usize, Span)> = Vec::new();
    for at in 0..len as u32 {
        let (start, end) = place.original(at, at + 1);
        let index = runs.partition_point(|run| run.1 < end);
        if runs.get(index).is_none_or(|run| start < run.0) {
            continue;
        }
        match normalized_runs.last_mut() {
            Some((last_index, last_run)) if *last_index == index && last_run.1 == at => last_run.1 = at + 1,
            _ => normalized_runs.checked_push((index, (at, at + 1))),
        }
    }
    normalized_runs.into_iter().map(|(_, run)| run).checked_collect()
}

/// Returns the runs between two offsets, counted from the first.
pub fn runs_of_part(runs: &[Span], start: u32, end: u32) -> Vec<Span> {
    let from = runs.partition_point(|run| run.1 <= start);
    let runs_before_end = runs[from..].iter().take_while(|run| run.0 < end);
    runs_before_end.map(|run| (run.0.max(start) - start, run.1.min(end) - start)).checked_collect()
}

/// The user-defined pieces of SentencePiece, with the codes that a guard has for them.
pub struct PieceCodes {
    /// All pieces; a value is an index of `codes`.
    pieces: Trie,
    /// The pieces that are found in every text, which have no codes.
    everywhere: Option<Trie>,
    codes: Vec<Option<PieceCode>>,
}

struct PieceCode {
    bytes: Vec<u8>,
    /// True if the piece has a space, which the normalizer rewrites.
    has_space: bool,
}

/// The text in which pieces are replaced: pieces are matched before normalization, and again in the normalized text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The text before normalization, in which the normalizer copies pieces except their spaces.
    Raw,
    /// The normalized text.
    Normalized,
}

impl PieceCodes {
    /// Collects the codes of the user-defined pieces of a vocabulary from the vocabulary of its guard; None if no piece
    /// has a code.
    pub fn new(vocab: &Vocab, guard: &Vocab, version: SentencePieceVersion) -> Result<Option<PieceCodes>> {
        let (mut pairs, mut codes, mut everywhere) = (Vec::new(), Vec::new(), Vec::new());
        for (piece, id) in matched_pieces(vocab, version) {
            let Some(bytes) = guard.row(id).map(|row| guard.bytes(row)) else { continue };
            let is_code = bytes.len() == piece.len() && bytes.iter().all(|byte| (0x80..0xC0).contains(byte));
            if bytes == piece {
                everywhere.checked_push((piece, codes.len() as u32));
            } else if !is_code {
                continue;
            }
            pairs.checked_push((piece, codes.len() as u32));
            let code = PieceCode { bytes: bytes.checked_to_vec(), has_space: piece.contains(&b' ') };
            codes.checked_push((bytes != piece).then_some(code));
        }
        if codes.iter().all(Option::is_none) {
            return Ok(None);
        }
        let everywhere = if everywhere.is_empty() { None } else { Some(Trie::build(everywhere)?) };
        Ok(Some(PieceCodes { pieces: Trie::build(pairs)?, everywhere, codes }))
    }

    /// Replaces the pieces in the trusted `runs` of a text by their codes. At each offset the longest piece is taken, as
    /// by SentencePiece's prefix matcher (normalize/user_defined.rs). Reports whether a piece was replaced.
    pub fn replace(&self, text: &mut [u8], runs: &[Span], stage: Stage) -> bool {
        let (mut at, mut runs, mut is_replaced) = (0, runs, false);
        while let Some(&(run_start, run_end)) = runs.first() {
            let (run_start, run_end) = (run_start as usize, run_end as usize);
            if at >= run_end {
                runs = &runs[1..];
                continue;
            }
            if at < run_start && self.everywhere.is_none() {
                at = run_start;
            }
            let in_run = if at < run_start { None } else { self.pieces.longest_prefix(&text[at..run_end]) };
            let anywhere = self.everywhere.as_ref().and_then(|trie| trie.longest_prefix(&text[at..]));
            let Some((len, index)) = in_run.max(anywhere) else {
                at += char_len(&text[at..]);
                continue;
            };
            if let Some(code) = &self.codes[index as usize]
                && !(code.has_space && stage == Stage::Raw)
            {
                text[at..at + len].copy_from_slice(&code.bytes);
                is_replaced = true;
            }
            at += len;
        }
        is_replaced
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Kind, VocabColumns};

    fn vocab(pieces: &[&[u8]]) -> Vocab {
        Vocab::new(VocabColumns::from_rows(pieces.iter().map(|piece| (piece, 0.0, Kind::UserDefined)))).unwrap()
    }

    #[test]
    fn the_runs_of_a_part_count_from_its_start() {
        let runs = [(0, 2), (3, 6), (8, 9)];
        assert_eq!(runs_of_part(&runs, 1, 5), [(0, 1), (2, 4)]);
        assert_eq!(runs_of_part(&runs, 6, 8), []);
        assert_eq!(runs_of_part(&runs, 0, 9), runs);
    }

    #[test]
    fn a_byte_is_trusted_if_all_that_it_comes_from_is() {
        // The bytes come from the bytes 0 to 2, 2, 3, the end of 3, and 4 to 6.
        let spans = vec![(0, 2), (2, 3), (3, 4), (4, 4), (4, 6)];
        let place = Place { at: 10, origin: Origin::Spans(spans) };
        assert_eq!(normalized_runs(&place, 5, &[(10, 14)]), [(0, 4)]);
        assert_eq!(normalized_runs(&place, 5, &[(11, 13), (14, 16)]), [(1, 2), (3, 5)]);
        assert_eq!(normalized_runs(&place, 5, &[]), []);
        assert_eq!(normalized_runs(&Place::unchanged_at(10), 5, &[(0, 12), (14, 20)]), [(0, 2), (4, 5)]);
    }

    #[test]
    fn pieces_in_trusted_runs_are_replaced_by_codes() {
        let guard = vocab(&[b"\x80\x90\x90", b"\x81\x90\x90\x90", b" ", b"\x80\x91\x91"]);
        let codes =
            PieceCodes::new(&vocab(&[b"<x>", b"<x>y", b" ", b"a b"]), &guard, Default::default()).unwrap().unwrap();
        let replaced = |text: &[u8], runs: &[Span], stage| {
            let mut replaced = text.to_vec();
            codes.replace(&mut replaced, runs, stage);
            replaced
        };
        assert_eq!(replaced(b"<x>y<x>", &[(0, 7)], Stage::Raw), b"\x81\x90\x90\x90\x80\x90\x90");
        assert_eq!(replaced(b"<x>y<x>", &[(0, 3), (5, 7)], Stage::Raw), b"\x80\x90\x90y<x>");
        assert_eq!(replaced(b"<x> a b", &[(4, 7)], Stage::Raw), b"<x> a b");
        assert_eq!(replaced(b"<x> a b", &[(4, 7)], Stage::Normalized), b"<x> \x80\x91\x91");
        assert!(PieceCodes::new(&guard, &guard, Default::default()).unwrap().is_none());
    }
}
