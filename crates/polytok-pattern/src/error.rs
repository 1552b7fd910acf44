//! What can go wrong when a pattern is compiled or a text is searched.

use std::fmt;

/// An error whose text says what is wrong, where, and what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The pattern, or the version of Unicode, cannot be used.
    Pattern(String),
    /// The search of a text stopped before its end.
    Search(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Pattern(text) | Error::Search(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Error {}

/// The result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;
