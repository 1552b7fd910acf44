//! Reads and writes polytok's own file, `.ptok`: named sections of bytes that are used directly from the mapped file.
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
//! Numbers are in the byte order of the machine that wrote the file; the byte order mark in the header identifies this
//! byte order. The Spec has these sections: `spec`, `special` and `extra` are JSON, `data` has the byte strings to
//! which the JSON refers, and `vocab.*` and `model.merges` are columns. All other sections are compiled tables. If the
//! compiled tables have another version than this engine reads, the engine compiles the tokenizer from the Spec in the
//! file.
//!
//! The checksum detects damage, but does not prove that the tables of a file are consistent. Whatever the tables
//! contain, the engine does not run forever and does not read outside of the tables: indexes from one table into
//! another are checked when they are read or when they are used.

mod image;
mod json;
mod outline;
mod plain;
mod special;
mod tables;
mod write;

pub use image::{Image, MAGIC};
pub use tables::{FilePart, PartWriter, Stored, Tables};
pub use write::Sections;

/// The version of the file format and of the Spec in it. A file with a later version is refused.
pub const FORMAT_VERSION: u32 = 1;

/// The version of the compiled tables. A change to the layout or meaning of a table must raise this version.
pub const TABLES_VERSION: u32 = 11;

/// The byte order mark: a machine with another byte order reads another number.
const BYTE_ORDER: u32 = 0x0102_0304;

/// The number of bytes of the header. Each row of the section table has the same size, and sections start at multiples
/// of this number.
const BLOCK: usize = 64;

/// The number of bytes of a section's name.
const NAME_LEN: usize = 48;

/// The header in the layout of the file. The rows of the section table come after the header.
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
    name: [u8; NAME_LEN],
    start: u64,
    length: u64,
}

/// Returns the XXH3 hash of all bytes of a file except the checksum in its header. The hash of the bytes before the
/// checksum is the seed for the hash of the bytes after the checksum.
fn checksum(file: &[u8]) -> u64 {
    use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};
    const CHECKSUM_START: usize = std::mem::offset_of!(Header, checksum);
    const CHECKSUM_END: usize = CHECKSUM_START + size_of::<u64>();
    xxh3_64_with_seed(&file[CHECKSUM_END..], xxh3_64(&file[..CHECKSUM_START]))
}

#[cfg(test)]
pub(crate) mod tests;
