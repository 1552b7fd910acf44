//! The trusted runs of a text, and the normalized text between two special tokens, in which the user-defined pieces of
//! trusted runs are codes (trust.rs).

use polytok_memory::Copied;

use super::Tokenizer;
use crate::error::{Result, too_long};
use crate::normalize::origin::Place;
use crate::normalize::output::Span;
use crate::special::trusted::TrustedSet;
use crate::trust::{self, PieceCodes, Stage};

/// The trusted runs of a text, with the special tokens and the user-defined pieces that are recognized in them.
#[derive(Clone, Copy)]
pub struct TrustedRuns<'a> {
    /// The special tokens.
    pub set: &'a TrustedSet,
    /// The runs, from left to right; no two of them touch.
    pub runs: &'a [Span],
    codes: Option<&'a PieceCodes>,
}

/// The normalized text of a part between two special tokens, with codes for its trusted user-defined pieces.
pub struct NormalizedPart {
    /// The text.
    pub text: Vec<u8>,
    /// The place of the text in the caller's text.
    pub place: Place,
    /// The trusted runs of the normalized text.
    pub runs: Vec<Span>,
}

impl<'a> TrustedRuns<'a> {
    /// Creates the runs of a text that `tokenizer`, or its guard, encodes.
    pub fn new(tokenizer: &'a Tokenizer, runs: &'a [Span]) -> Result<TrustedRuns<'a>> {
        let codes = tokenizer.guard().and_then(|guard| guard.codes.as_ref());
        Ok(TrustedRuns { set: tokenizer.trusted_set()?, runs, codes })
    }

    /// Normalizes a part of the text between two special tokens. `tokenizer` is the guard if there is one. None if the
    /// part has no codes and cannot have special tokens, so that it is encoded like every other text.
    pub fn normalized(self, tokenizer: &Tokenizer, part: &[u8], at: usize) -> Result<Option<NormalizedPart>> {
        let part_runs = trust::runs_of_part(self.runs, at as u32, (at + part.len()) as u32);
        let codes = self.codes.filter(|_| !part_runs.is_empty());
        let has_special = self.set.has_normalized(!part_runs.is_empty());
        if codes.is_none() && !has_special {
            return Ok(None);
        }
        let mut coded_part = part.checked_to_vec();
        // Other normalizers take only UTF-8, and change pieces as they change other text.
        let has_codes = tokenizer.normalizer.copies_user_defined()
            && codes.is_some_and(|codes| codes.replace(&mut coded_part, &part_runs, Stage::Raw));
        let mut text = Vec::new();
        let origin = tokenizer.normalizer.normalize_with_origin(&coded_part, false, &mut text)?;
        if text.len() >= u32::MAX as usize {
            return Err(too_long("normalized"));
        }
        let place = Place { at: at as u32, origin };
        let runs = trust::normalized_runs(&place, text.len(), self.runs);
        let has_more_codes = codes.is_some_and(|codes| codes.replace(&mut text, &runs, Stage::Normalized));
        Ok((has_special || has_codes || has_more_codes).then_some(NormalizedPart { text, place, runs }))
    }
}
