//! The sinks of tokens, one file for each kind of result that a caller can get from encoding.

mod count;
mod ids;
mod spans;
mod texts_and_spans;
mod tokens;
pub mod trim;

pub use count::Count;
pub use spans::Spans;
pub use texts_and_spans::TextsAndSpans;
pub use tokens::{OwnText, Token, Tokens};
