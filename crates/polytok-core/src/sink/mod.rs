//! What becomes of ids: spans by the lengths of tokens, spans without white space.

pub(crate) mod tiling;
pub mod trim;
