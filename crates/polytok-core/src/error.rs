//! The error type of all functions of the engine. The binding maps each variant to one Python exception.

use std::fmt;

use polytok_memory::Refused;

/// An error. The message of an error says what is wrong, where, and what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A file whose bytes do not follow its format. The message names the offset, or the line and field.
    Format(String),
    /// A `Spec` that can be read but not compiled to a tokenizer.
    Spec(String),
    /// A text that this tokenizer cannot encode.
    Encode(String),
    /// A text that contains a special token which the caller does not allow.
    Special(String),
    /// An id that the vocabulary does not have.
    Id(u32),
    /// An option or argument that is out of its range.
    Argument(String),
    /// A file that cannot be written or read.
    File(String),
    /// Memory that the system refuses.
    Memory(String),
    /// A long job that the caller interrupted.
    Interrupted,
}

impl Error {
    /// Adds to a message about a part of a text the offset at which the part starts.
    pub(crate) fn in_part_from(self, start: usize) -> Error {
        let add_start = |text: String| match start {
            0 => text,
            _ => format!("{text} (the text of this message starts at byte {start} of the whole text)"),
        };
        match self {
            Error::Encode(text) => Error::Encode(add_start(text)),
            Error::Special(text) => Error::Special(add_start(text)),
            other => other,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Format(text)
            | Error::Spec(text)
            | Error::Encode(text)
            | Error::Special(text)
            | Error::Argument(text)
            | Error::File(text)
            | Error::Memory(text) => f.write_str(text),
            Error::Id(id) => write!(f, "id {id} is not in the vocabulary"),
            Error::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for Error {}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Error {
        Error::Memory(refused.to_string())
    }
}

impl From<polytok_pattern::Error> for Error {
    fn from(error: polytok_pattern::Error) -> Error {
        match error {
            polytok_pattern::Error::Pattern(text) => Error::Spec(text),
            polytok_pattern::Error::Search(text) => Error::Encode(text),
        }
    }
}

/// The result type of the engine.
pub type Result<T> = std::result::Result<T, Error>;

/// Returns the error for bytes that are not UTF-8 in a step that needs characters.
pub fn not_utf8(offset: usize) -> Error {
    Error::Encode(format!(
        "the text is not UTF-8 at byte {offset}, and this tokenizer takes only characters; decode the bytes first, for example with \
         errors=\"replace\""
    ))
}

/// Returns the error for a text whose positions exceed 32 bits. `which_text` is "given" or "normalized".
pub fn too_long(which_text: &str) -> Error {
    Error::Encode(format!(
        "the {which_text} text has 4 GiB or more, and one call takes less; split it into smaller texts"
    ))
}
