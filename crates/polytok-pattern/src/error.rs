//! The errors of compiling a pattern and of searching a text.

use std::fmt;

/// An error. The text says what is wrong, where, and what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The pattern, or the version of Unicode, cannot be used.
    Pattern(String),
    /// The search stopped before the end of the text.
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

/// The result type of all functions of this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;
