//! Reads the characters of a `str` and the items of a `list` without a call for each, and creates both.
//!
//! A build for one version of Python uses the functions that Python's headers have for this version (exact.rs). A build
//! with the feature `abi3`, as in the wheels, must not use these functions (stable.rs).

#[cfg(not(feature = "abi3"))]
mod exact;
#[cfg(feature = "abi3")]
mod stable;

#[cfg(not(feature = "abi3"))]
pub use exact::*;
#[cfg(feature = "abi3")]
pub use stable::*;

/// The characters of a `str`.
pub enum Characters<'a> {
    Ascii(&'a [u8]),
    Ucs1(&'a [u8]),
    Ucs2(&'a [u16]),
    Ucs4(&'a [u32]),
    /// A copy, where the memory of the `str` is not known.
    #[cfg_attr(not(feature = "abi3"), allow(dead_code))]
    Copied(Vec<u32>),
}
