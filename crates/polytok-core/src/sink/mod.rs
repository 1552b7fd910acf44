//! Where tokens go: the things a caller can want of an encoding, one file each.

mod count;
mod ids;
pub(crate) mod lengths;
mod spans;
mod tokens;
pub mod trim;

pub use count::Count;
pub use spans::Spans;
pub use tokens::{Said, Token, Tokens};
