//! Text to pieces by the split patterns that tokenizers use.
//!
//! Patterns are compiled and run by the crate polytok-pattern; here are the steps that cut by them, and those that cut or rewrite
//! without one, in a [`chain`]. BERT's two steps are no pattern, but `words`.

pub mod behavior;
pub mod chain;
pub mod cursor;
pub mod digit_groups;
pub mod fixed_length;
pub mod metaspace;
pub mod script;
mod words;
