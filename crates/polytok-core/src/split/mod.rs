//! Splits text to pieces.
//!
//! The crate polytok-pattern compiles and runs split patterns. This module has a file for each kind of split step, with
//! or without a pattern; [`chain`] runs the steps. `words` runs BERT's two steps without patterns.

pub mod behavior;
pub mod chain;
pub mod cursor;
pub mod digit_groups;
pub mod fixed_length;
pub mod joint;
pub mod metaspace;
pub mod script;
mod skipped;
mod words;
