//! The units of a str.

/// A number that stores a character of a `str`: `u8` for Latin-1, `u16` for UCS-2 and `u32` for UCS-4.
pub trait Unit: Copy + Default + Into<u32> + Sealed {
    /// The maximum number of bytes of a character in UTF-8.
    const MAX_UTF8_BYTES: usize;

    /// Converts a code point that fits in the unit.
    fn new(code: u32) -> Self;
}

/// Only this crate implements `Unit`, because the vector code chooses the instructions by the size of a unit.
pub trait Sealed {}

macro_rules! units {
    ($($unit:ty: $max_utf8_bytes:literal),*) => {$(
        impl Sealed for $unit {}

        impl Unit for $unit {
            const MAX_UTF8_BYTES: usize = $max_utf8_bytes;

            fn new(code: u32) -> Self {
                code as $unit
            }
        }
    )*};
}

units!(u8: 2, u16: 3, u32: 4);
