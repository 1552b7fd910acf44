//! The cleanup of English punctuation that WordPiece and CTC share.

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
