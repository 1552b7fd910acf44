//! The cleanup of English punctuation that WordPiece and CTC share.

/// The texts to replace, each with its replacement, in the order of application.
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
pub(super) fn cleanup(text: String) -> String {
    REPLACEMENTS.iter().fold(text, |text, (from, to)| if text.contains(from) { text.replace(from, to) } else { text })
}
