//! The one error type of the engine. The binding maps each variant to one Python exception.

use std::fmt;

/// What went wrong, in words that say where and what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A file's bytes are not what its format says (offset or line and field in the text).
    Format(String),
    /// A `Spec` that is readable but cannot be compiled into a tokenizer.
    Spec(String),
    /// A text that this tokenizer cannot encode.
    Encode(String),
    /// A special token stands in a text in which it is not allowed.
    Special(String),
    /// An id that the vocabulary does not have.
    Id(u32),
    /// An option or argument out of its range.
    Argument(String),
    /// A file that cannot be written or read.
    File(String),
    /// The caller wants a long work to stop.
    Interrupted,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Format(text)
            | Error::Spec(text)
            | Error::Encode(text)
            | Error::Special(text)
            | Error::Argument(text)
            | Error::File(text) => f.write_str(text),
            Error::Id(id) => write!(f, "id {id} is not in the vocabulary"),
            Error::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for Error {}

impl From<polytok_pattern::Error> for Error {
    fn from(error: polytok_pattern::Error) -> Error {
        match error {
            polytok_pattern::Error::Pattern(text) => Error::Spec(text),
            polytok_pattern::Error::Search(text) => Error::Encode(text),
        }
    }
}

/// The engine's result.
pub type Result<T> = std::result::Result<T, Error>;

/// The error for bytes that are not UTF-8, which a step takes characters of.
pub fn not_utf8(at: usize) -> Error {
    Error::Encode(format!(
        "the text is not UTF-8 at byte {at}, and this tokenizer takes only characters; decode the bytes first, for example with \
         errors=\"replace\""
    ))
}

/// The error for a text whose places do not fit 32 bits. `which` text it is: the given one, or the normalized one.
pub fn too_long(which: &str) -> Error {
    Error::Encode(format!("the {which} text has 4 GiB or more, and one call takes less; split it into smaller texts"))
}
