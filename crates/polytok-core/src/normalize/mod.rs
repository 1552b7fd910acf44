//! Text to rewritten text, with offsets kept: one file per step.

pub mod charsmap;
pub mod sentencepiece;
pub mod user_defined;
