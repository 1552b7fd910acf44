//! The cleanup of English punctuation that WordPiece and CTC share.

/// The replacements, in their order.
const MENDED: [(&str, &str); 11] = [
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

/// The text without spaces before punctuation and the ends of contractions.
pub(super) fn cleanup(text: String) -> String {
    MENDED.iter().fold(text, |text, (from, to)| if text.contains(from) { text.replace(from, to) } else { text })
}
