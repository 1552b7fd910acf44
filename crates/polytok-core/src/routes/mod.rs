//! Faster ways through the pipeline, each for one family.

pub(crate) mod stretches;
pub(crate) mod unescaped;
