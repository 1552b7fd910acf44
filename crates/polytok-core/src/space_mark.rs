//! U+2581, LOWER ONE EIGHTH BLOCK: SentencePiece writes it for a space, and so do the formats that follow SentencePiece.

/// As a character.
pub const CHAR: char = '\u{2581}';

/// As text.
pub const TEXT: &str = "\u{2581}";

/// In UTF-8.
pub const BYTES: &[u8] = TEXT.as_bytes();
