//! Sentences cut into words: before each visible space, or after it.

use crate::space_mark;

/// How sentences are cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WordCut {
    /// Spaces end words, instead of starting them.
    pub as_suffix: bool,
    /// Several spaces stay together.
    pub keeps_runs: bool,
}

impl WordCut {
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
                // What stood before the last run and that run are a word if something follows.
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

    fn words(cut: WordCut, sentence: &str) -> Vec<&str> {
        let mut found = Vec::new();
        cut.words(sentence.as_bytes(), |start, end| found.push(&sentence[start..end]));
        found
    }

    #[test]
    fn words_start_or_end_with_a_space() {
        let cut = |as_suffix, keeps_runs| WordCut { as_suffix, keeps_runs };
        let text = "a▁▁b▁c▁▁";
        assert_eq!(words(cut(false, false), text), ["a", "▁", "▁b", "▁c", "▁", "▁"]);
        assert_eq!(words(cut(false, true), text), ["a", "▁▁b", "▁c", "▁▁"]);
        assert_eq!(words(cut(true, false), text), ["a▁", "▁", "b▁", "c▁", "▁"]);
        assert_eq!(words(cut(true, true), text), ["a▁▁", "b▁", "c▁▁"]);
        assert_eq!(words(cut(true, true), "▁▁a"), ["▁▁", "a"]);
        assert_eq!(words(cut(false, true), "▁▁a"), ["▁▁a"]);
        assert!(words(cut(false, false), "").is_empty());
    }
}
