//! Converts between the characters of a Python `str` and UTF-8, without calling Python. [`utf32`] converts the
//! characters of a `str` to UTF-8. [`utf16`] converts UTF-8 to UTF-16, the encoding that Python decodes fastest.

pub mod utf16;
pub mod utf32;
