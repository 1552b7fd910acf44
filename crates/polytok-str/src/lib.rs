//! The characters of a Python `str` to UTF-8 and back, without Python: [`utf32`] reads what `str` holds beyond ASCII, [`utf16`] writes
//! what Python's decoder takes fastest.

pub mod utf16;
pub mod utf32;
