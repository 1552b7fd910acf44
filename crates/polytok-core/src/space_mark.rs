//! Defines U+2581, LOWER ONE EIGHTH BLOCK, which SentencePiece and the formats derived from SentencePiece write for a
//! space.

/// U+2581 as a character.
pub const CHAR: char = '\u{2581}';

/// U+2581 as text.
pub const TEXT: &str = "\u{2581}";

/// The bytes of U+2581 in UTF-8.
pub const BYTES: &[u8] = TEXT.as_bytes();
