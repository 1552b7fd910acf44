//! Encodes texts that grow or change, without encoding everything again.
//!
//! [`ChunkEncoder`] accepts a text in chunks and returns the ids that later text cannot change. [`IncrementalText`] has
//! the ids of a whole text at any time, and encodes only the part of the text that a change affects. Both divide the
//! text at cuts (`cuts`), so their ids are those of encoding the whole text. Without a cut, the whole text is pending.

mod chunks;
mod settle;
mod text;

pub use chunks::ChunkEncoder;
pub use settle::Addition;
pub use text::{Change, IncrementalText};
