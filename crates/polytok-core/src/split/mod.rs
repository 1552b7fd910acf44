//! Splits text to pieces.
//!
//! The crate polytok-pattern compiles and runs split patterns. This module has a file for each kind of step, with or
//! without a pattern, and runs the steps in a [`chain`]. BERT's two steps run without patterns, in `words`.

pub mod behavior;
pub mod chain;
pub mod cursor;
pub mod digit_groups;
pub mod fixed_length;
pub mod metaspace;
pub mod script;
mod words;
