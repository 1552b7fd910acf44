//! U+2581, LOWER ONE EIGHTH BLOCK: SentencePiece writes it for a space, and so do the formats that follow
//! SentencePiece.

/// U+2581 as a character.
pub const CHAR: char = '\u{2581}';

/// U+2581 as text.
pub const TEXT: &str = "\u{2581}";

/// The bytes of U+2581 in UTF-8.
pub const BYTES: &[u8] = TEXT.as_bytes();
