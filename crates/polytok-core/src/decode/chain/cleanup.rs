//! The cleanup of English punctuation that WordPiece and CTC share.

use super::super::traced::TracedText;
use crate::error::Result;

/// The pairs of a text and its replacement, in the order in which the replacements run.
const REPLACEMENTS: [(&str, &str); 11] = [
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
];

/// Removes spaces before punctuation and before the ends of contractions.
pub(super) fn clean_punctuation(text: String) -> String {
    REPLACEMENTS.iter().fold(
        text,
        |text, (pattern, replacement)| if text.contains(pattern) { text.replace(pattern, replacement) } else { text },
    )
}

/// Does the same as [`clean_punctuation`], and keeps the sources.
pub(super) fn clean_traced(text: TracedText) -> Result<TracedText> {
    REPLACEMENTS
        .iter()
        .try_fold(text, |text, (pattern, replacement)| text.replace(pattern.as_bytes(), replacement.as_bytes()))
}
