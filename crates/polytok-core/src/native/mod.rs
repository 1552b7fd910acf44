//! polytok's own file, `.ptok`: named sections of bytes that are used where they lie.
//!
//! ```text
//! 0   magic, 8 bytes            32  checksum, u64: XXH3 of everything else
//! 8   format version, u32       40  fingerprint of the encoding, 16 bytes
//! 12  version of the tables     56  zero
//! 16  byte order mark           64  for each section 64 bytes: name (48, padded with zeros), start, length (u64)
//! 20  number of sections        ..  the sections, each at a multiple of 64, padded with zeros
//! 24  length of the file, u64
//! ```
//!
//! Numbers are in the byte order of the machine that wrote the file, which the mark tells. The sections of the format are the
//! Spec: `spec`, `special` and `extra` are JSON, `data` the byte strings that it points into, `vocab.*` and `model.merges` columns.
//! All others are compiled tables: a file whose tables are of another version is compiled from its Spec instead.
//!
//! A checksum says that a file is not damaged, not that its tables make sense. Whatever they hold, the engine ends and stays inside
//! of them: numbers that lead from one table into another are checked when they are read, or where they are followed.

mod image;
mod special;
mod tables;
mod write;

pub use image::{Image, MAGIC};
pub use tables::{FilePart, PartWriter, Stored, Tables};
pub use write::Sections;

/// The version of the container and of the Spec in it; files of later ones are refused.
pub const FORMAT_VERSION: u32 = 1;

/// The version of the compiled tables: to be raised whenever the engine would read them in another way.
pub const TABLES_VERSION: u32 = 7;

/// Reads as itself only on machines of one byte order.
const BYTE_ORDER: u32 = 0x0102_0304;

/// Bytes of the header, and of each row of the section table; sections start at multiples of it.
const BLOCK: usize = 64;

/// Bytes of a section's name.
const NAME: usize = 48;

/// The header and the rows of the section table, as they lie in the file.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Header {
    magic: [u8; 8],
    format: u32,
    tables: u32,
    byte_order: u32,
    sections: u32,
    length: u64,
    checksum: u64,
    fingerprint: [u8; 16],
    zero: u64,
}

#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct SectionRow {
    name: [u8; NAME],
    start: u64,
    length: u64,
}

/// XXH3 of a file without its checksum; the part before it is the seed of the rest.
fn checksum(file: &[u8]) -> u64 {
    use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};
    const BEFORE: usize = std::mem::offset_of!(Header, checksum);
    const BEHIND: usize = BEFORE + size_of::<u64>();
    xxh3_64_with_seed(&file[BEHIND..], xxh3_64(&file[..BEFORE]))
}

#[cfg(test)]
pub(crate) mod tests;
