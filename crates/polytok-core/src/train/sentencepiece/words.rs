//! Splits sentences into words, before or after each visible space (U+2581).

use crate::space_mark;

/// The rule for splitting sentences into words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WordSplitRule {
    /// True if spaces end words, false if spaces start words.
    pub as_suffix: bool,
    /// True if a run of spaces is not split.
    pub keeps_runs: bool,
}

impl WordSplitRule {
    /// Calls `word(start, end)` for each word of a sentence.
    pub fn words(self, sentence: &[u8], mut word: impl FnMut(usize, usize)) {
        let mut start = 0;
        let mut run_end = None;
        for at in memchr::memmem::find_iter(sentence, space_mark::BYTES) {
            let is_inner = run_end == Some(at);
            if self.as_suffix && !self.keeps_runs {
                word(start, at + space_mark::BYTES.len());
                start = at + space_mark::BYTES.len();
            } else if self.as_suffix {
                // The text before the previous run of spaces and the run itself are one word.
                if let Some(end) = run_end.filter(|&end| end != at) {
                    word(start, end);
                    start = end;
                }
            } else if at > 0 && !(self.keeps_runs && is_inner) {
                word(start, at);
                start = at;
            }
            run_end = Some(at + space_mark::BYTES.len());
        }
        if let Some(end) = run_end.filter(|&end| self.as_suffix && self.keeps_runs && end < sentence.len()) {
            word(start, end);
            start = end;
        }
        if start < sentence.len() {
            word(start, sentence.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(rule: WordSplitRule, sentence: &str) -> Vec<&str> {
        let mut words = Vec::new();
        rule.words(sentence.as_bytes(), |start, end| words.push(&sentence[start..end]));
        words
    }

    #[test]
    fn words_start_or_end_with_a_space() {
        let rule = |as_suffix, keeps_runs| WordSplitRule { as_suffix, keeps_runs };
        let text = "a▁▁b▁c▁▁";
        assert_eq!(words(rule(false, false), text), ["a", "▁", "▁b", "▁c", "▁", "▁"]);
        assert_eq!(words(rule(false, true), text), ["a", "▁▁b", "▁c", "▁▁"]);
        assert_eq!(words(rule(true, false), text), ["a▁", "▁", "b▁", "c▁", "▁"]);
        assert_eq!(words(rule(true, true), text), ["a▁▁", "b▁", "c▁▁"]);
        assert_eq!(words(rule(true, true), "▁▁a"), ["▁▁", "a"]);
        assert_eq!(words(rule(false, true), "▁▁a"), ["▁▁a"]);
        assert!(words(rule(false, false), "").is_empty());
    }
}
