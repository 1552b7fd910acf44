//! Plain text: what a normalizer leaves alone, except for spaces, so that words can be found in the text before
//! normalization.
//!
//! A character is plain if every step leaves it alone whatever plain characters are adjacent, or if it is white space
//! and becomes other white space. Texts that a step replaces are looked for besides. The remainder is normalized by
//! itself, from one cut to another. A cut is a space that stays a space whatever the steps do to both sides, and they
//! do the same to the sides as to the whole. BERT's steps clean words, and no word has a space, so each space is a cut.
//! In a list of steps the characters before and after the space must be ASCII, plain, and in no text that is replaced,
//! and no text that is replaced may have white space. Then the space is a cluster by itself, composes with nothing, and
//! lets no mark pass.

use std::sync::Arc;

use memchr::{memchr_iter, memmem, memrchr_iter};

use super::unchanged::Unchanged;
use super::{NormalizeStep, Normalizer};

/// Bytes that are looked at in one go, so that a text that is replaced is not searched for far beyond the next one.
const WINDOW: usize = 1 << 14;

/// What is plain to a normalizer.
pub struct PlainText {
    chars: Unchanged,
    replaced: Vec<memmem::Finder<'static>>,
    /// For each byte, whether a space beside it can be a cut.
    cuts: [bool; 256],
    /// See `has_lower_case`.
    has_lower_case: bool,
}

impl PlainText {
    /// What is plain to this normalizer; None if that is not known.
    pub fn of(normalizer: &Arc<Normalizer>) -> Option<PlainText> {
        let (cuts, has_lower_case) = match normalizer.steps_for_utf8() {
            [NormalizeStep::Bert(step)] => ([true; 256], step.lowercases()),
            [NormalizeStep::Wpm(step)] => ([true; 256], step.lowercases()),
            [] => return None,
            steps => (cuts(normalizer, steps)?, false),
        };
        let replaced = normalizer
            .steps
            .iter()
            .filter_map(NormalizeStep::replaced)
            .map(|text| memmem::Finder::new(text).into_owned());
        let (replaced, normalizer) = (replaced.collect(), normalizer.clone());
        let chars = Unchanged::new(move |c| normalizer.leaves(c));
        Some(PlainText { chars, replaced, cuts, has_lower_case })
    }

    /// Whether ASCII characters may be in lower case beforehand: normalization gives the same text then.
    pub fn has_lower_case(&self) -> bool {
        self.has_lower_case
    }

    /// Where the text from `from` on stops being plain, or a place before that.
    pub fn end(&self, text: &str, from: usize) -> usize {
        let most = (from..=text.len().min(from + WINDOW)).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(from);
        let end = self.chars.run_end(&text[..most], from);
        let replaced = self.replaced.iter().filter_map(|finder| finder.find(&text.as_bytes()[from..end]));
        replaced.min().map_or(end, |at| from + at)
    }

    /// Whether all of the text is plain.
    pub fn is_whole(&self, text: &str) -> bool {
        let mut at = 0;
        while at < text.len() {
            match self.end(text, at) {
                end if end == at => return false,
                end => at = end,
            }
        }
        true
    }

    /// The last cut between `from` and `to`.
    pub fn last_cut(&self, text: &str, from: usize, to: usize) -> Option<usize> {
        let bytes = text.as_bytes();
        memrchr_iter(b' ', &bytes[from..to]).map(|at| from + at).find(|&at| at > from && self.is_cut(bytes, at))
    }

    /// The first cut from `from` on, or the end of the text.
    pub fn next_cut(&self, text: &str, from: usize) -> usize {
        let (bytes, from) = (text.as_bytes(), from.clamp(1, text.len().max(1)));
        let mut spaces = memchr_iter(b' ', bytes.get(from..).unwrap_or_default()).map(|at| from + at);
        spaces.find(|&at| self.is_cut(bytes, at)).unwrap_or(text.len())
    }

    /// Whether the space at `at`, which is not the first byte, is a cut.
    fn is_cut(&self, text: &[u8], at: usize) -> bool {
        self.cuts[text[at - 1] as usize] && text.get(at + 1).is_none_or(|&next| self.cuts[next as usize])
    }
}

/// The bytes beside which a space can be a cut in all of the steps; None if a step is not known to allow cuts.
fn cuts(normalizer: &Normalizer, steps: &[NormalizeStep]) -> Option<[bool; 256]> {
    let mut replaced = steps.iter().filter_map(NormalizeStep::replaced).flatten().copied().peekable();
    let (last, others) = steps.split_last()?;
    let is_local = |step: &NormalizeStep| match step {
        NormalizeStep::Replace(step) => step.literal().is_some_and(|text| !text.contains(char::is_whitespace)),
        NormalizeStep::ReplaceInvalid(_)
        | NormalizeStep::Unicode(_)
        | NormalizeStep::StripAccents(_)
        | NormalizeStep::Lowercase(_) => true,
        _ => false,
    };
    // Its clusters can take a character along that a later step would need.
    let is_last = matches!(last, NormalizeStep::Precompiled(_)) || is_local(last);
    if !is_last || !others.iter().all(is_local) || !normalizer.leaves(' ') {
        return None;
    }
    let mut cuts = std::array::from_fn(|byte| byte < 128 && normalizer.leaves(byte as u8 as char));
    replaced.by_ref().for_each(|byte| cuts[byte as usize] = false);
    Some(cuts)
}

impl Normalizer {
    /// The steps that do something to text that is UTF-8.
    fn steps_for_utf8(&self) -> &[NormalizeStep] {
        if let [NormalizeStep::ReplaceInvalid(_), rest @ ..] = &self.steps[..] { rest } else { &self.steps }
    }

    /// Whether nothing is done to a character beside plain ones, texts that are replaced apart, except that white space
    /// can become other white space.
    fn leaves(&self, c: char) -> bool {
        let last = self.steps_for_utf8().iter().try_fold(c, |c, step| step.plain(c));
        last.is_some_and(|last| last == c || c.is_whitespace() && last.is_whitespace())
    }
}

impl NormalizeStep {
    /// What a character becomes beside plain ones, if that is known and the character itself or white space.
    fn plain(&self, c: char) -> Option<char> {
        match self {
            NormalizeStep::Bert(step) => Some(c).filter(|&c| step.changes_only_spaces(c)),
            NormalizeStep::Wpm(step) => Some(c).filter(|&c| step.keeps(c)),
            NormalizeStep::Replace(_) | NormalizeStep::ReplaceInvalid(_) => Some(c),
            NormalizeStep::Unicode(step) => Some(c).filter(|&c| step.keeps(c)),
            NormalizeStep::StripAccents(step) => Some(c).filter(|&c| step.keeps(c)),
            NormalizeStep::Lowercase(step) => Some(c).filter(|&c| step.keeps(c)),
            NormalizeStep::Precompiled(step) => step.plain_replacement(c),
            _ => None,
        }
    }

    /// The text that the step replaces, if that is all it does.
    fn replaced(&self) -> Option<&[u8]> {
        if let NormalizeStep::Replace(step) = self { step.literal().map(str::as_bytes) } else { None }
    }
}
