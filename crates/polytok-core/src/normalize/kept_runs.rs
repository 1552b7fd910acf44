//! Finds the runs of a text that a normalizer keeps, if the normalizer rewrites characters independently (`by_char`) and
//! can also replace literal texts.
//!
//! Cost: linear, because the next match of each literal text is stored.

use super::NormalizeStep;
use super::by_char::CharRewrites;
use super::replace::Replacer;

/// The runs of a text that a normalizer keeps.
pub struct KeptRuns<'t> {
    rewrites: &'t CharRewrites,
    /// The text.
    pub text: &'t str,
    /// The steps that replace texts, and the offset of the next match of each step.
    replacers: Vec<(&'t Replacer, usize)>,
    /// The length of the longest replaced text, at least 1.
    pub max_replaced_len: usize,
}

impl<'t> KeptRuns<'t> {
    /// Returns the runs; None if a replaced text can contain white space, so that white space does not separate the
    /// matches of different steps, or if the start of the text can change the spans of all later characters.
    pub fn new(rewrites: &'t CharRewrites, text: &'t str) -> Option<KeptRuns<'t>> {
        let replacer = |step: &'t NormalizeStep| match step {
            NormalizeStep::Replace(step) if !step.literal()?.contains(char::is_whitespace) => {
                Some((step, step.next_match(text, 0)))
            }
            _ => None,
        };
        let replacers = rewrites.replacing_steps().iter().map(replacer).collect::<Option<Vec<_>>>()?;
        let replaced_at = replacers.iter().map(|&(_, next_match)| next_match).min().unwrap_or(text.len());
        if rewrites.can_shift_spans(text, replaced_at) {
            return None;
        }
        let replaced_lens = replacers.iter().filter_map(|(step, _)| Some(step.literal()?.len()));
        let max_replaced_len = replaced_lens.max().unwrap_or(1);
        Some(KeptRuns { rewrites, text, replacers, max_replaced_len })
    }

    /// Returns the end of the run of kept characters at `from`. The offsets of successive calls must not decrease.
    pub fn end(&mut self, from: usize) -> usize {
        let mut limit = self.text.len();
        for (replacer, next_match) in &mut self.replacers {
            if *next_match < from {
                *next_match = replacer.next_match(self.text, from);
            }
            limit = limit.min(*next_match);
        }
        self.rewrites.kept_end(&self.text[..limit], from)
    }
}
