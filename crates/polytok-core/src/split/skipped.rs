//! Skips the patterns after the first pattern of a split, if they do not split the matches of the first pattern.
//!
//! Hugging Face's ByteLevel first splits by GPT-2's pattern. CLIP's `tokenizer.json` splits by a pattern of its own
//! before, and GPT-2's pattern splits two of its matches only: `<|startoftext|>` and `<|endoftext|>`.

use memchr::memmem::Finder;
use polytok_memory::Grow;
use polytok_pattern::{literals_split_again, restrict};

use crate::lazy::Lazy;
use crate::spec::{Behavior, Pattern, Split};

/// The patterns of a chain whose only other step is ByteLevel at the end.
pub(super) struct SkippedPatterns {
    patterns: Box<[Pattern]>,
    /// The matches of the first pattern that the later patterns split; None if they could split other matches.
    split_matches: Lazy<Option<Vec<Finder<'static>>>>,
}

impl SkippedPatterns {
    /// Returns the patterns of such a chain; None for another chain.
    pub fn new(steps: &[Split]) -> Option<SkippedPatterns> {
        let [first, later @ .., Split::ByteLevel] = steps else { return None };
        let regex = |step: &Split| match step {
            Split::Pattern { pattern, .. } if pattern.is_regex => Some(pattern.clone()),
            _ => None,
        };
        let is_isolated = |step: &Split| matches!(step, Split::Pattern { behavior: Behavior::Isolated, .. });
        let patterns = std::iter::once(first).chain(later).map(regex).collect::<Option<_>>()?;
        later.iter().all(is_isolated).then_some(SkippedPatterns { patterns, split_matches: Lazy::default() })
    }

    /// Reports whether the later patterns keep all matches of the first pattern in this text. Can be false if this
    /// cannot be proven.
    pub fn keep_matches(&self, text: &str) -> bool {
        let split_matches = self.split_matches.get(|| self.find_split_matches()).as_ref();
        split_matches.is_some_and(|finders| finders.iter().all(|finder| finder.find(text.as_bytes()).is_none()))
    }

    fn find_split_matches(&self) -> Option<Vec<Finder<'static>>> {
        let (first, later) = self.patterns.split_first()?;
        let text_of = |pattern: &Pattern| Some(restrict(&pattern.text, pattern.unicode.as_deref()).ok()?.into_owned());
        let first = text_of(first)?;
        let mut finders = Vec::new();
        for pattern in later {
            let literals = literals_split_again(&first, &text_of(pattern)?)?;
            finders.checked_extend(literals.iter().map(|literal| Finder::new(literal).into_owned()));
        }
        Some(finders)
    }
}
