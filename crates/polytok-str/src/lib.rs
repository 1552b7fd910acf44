//! Converts between UTF-8 and the units in which Python stores the characters of a str. Nothing in this crate knows
//! Python.
//!
//! Each conversion has a version with AVX-512, a version with AVX2 and a version without vectors.

pub mod from_utf8;
pub mod to_utf8;
mod unit;

pub use unit::Unit;
