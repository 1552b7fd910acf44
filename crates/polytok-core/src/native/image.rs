//! Reads a native file: checks the header and the section table, and finds sections by name.

use std::ops::Range;

use bytemuck::AnyBitPattern;
use polytok_memory::{self as memory, TryCollect};

use super::{BLOCK, BYTE_ORDER, FORMAT_VERSION, Header, SectionRow, TABLES_VERSION, checksum};
use crate::error::{Error, Result};
use crate::table::{Shared, Table};

/// The first bytes of a `.ptok` file. The bytes after `ptok` reveal a transfer that has changed line ends or dropped
/// NUL bytes.
pub const MAGIC: [u8; 8] = *b"\x93ptok\r\n\0";

/// A native file whose checksum is right.
#[derive(Clone)]
pub struct Image {
    bytes: Shared,
    header: Header,
    sections: Vec<(String, Range<usize>)>,
}

impl Image {
    /// Checks the bytes of a file, and opens the file. The bytes must be aligned to 64 bytes.
    pub fn open(bytes: Shared) -> Result<Image> {
        memory::catch(|| {
            let file = (*bytes).as_ref();
            let header = read_header(file)?;
            let row_bytes = BLOCK..BLOCK + header.sections as usize * BLOCK;
            let rows: Table<SectionRow> =
                Table::mapped(&bytes, row_bytes).ok_or_else(|| damaged_error("its section table is incomplete"))?;
            let sections = rows.iter().map(|row| parse_section(row, file.len())).checked_try_collect()?;
            Ok(Image { bytes, header, sections })
        })
    }

    /// Copies the bytes of a file to aligned memory, and opens the copy.
    pub fn copy(file: &[u8]) -> Result<Image> {
        memory::catch(|| {
            // The last block can be longer than the remaining bytes of the file; the additional bytes are not part of the
            // image.
            let mut blocks = memory::filled(AlignedBlock([0; BLOCK]), file.len().div_ceil(BLOCK));
            bytemuck::cast_slice_mut::<AlignedBlock, u8>(&mut blocks)[..file.len()].copy_from_slice(file);
            Image::open(std::sync::Arc::new(AlignedBytes { blocks, len: file.len() }))
        })
    }

    /// Reports whether the file's compiled tables have this engine's version.
    pub fn has_tables(&self) -> bool {
        self.header.tables == TABLES_VERSION
    }

    /// Returns the fingerprint in the header of the file.
    pub fn fingerprint(&self) -> [u8; 16] {
        self.header.fingerprint
    }

    /// Returns the names of all sections.
    pub fn section_names(&self) -> impl Iterator<Item = &str> {
        self.sections.iter().map(|(name, _)| name.as_str())
    }

    /// Returns the bytes of a section.
    pub fn section(&self, name: &str) -> Option<&[u8]> {
        let range = self.section_range(name)?;
        (*self.bytes).as_ref().get(range)
    }

    /// Returns a section as an array, or `None` if the section is missing.
    pub fn table<T: AnyBitPattern + Send + Sync>(&self, name: &str) -> Option<Result<Table<T>>> {
        let range = self.section_range(name)?;
        let table = Table::mapped(&self.bytes, range);
        Some(table.ok_or_else(|| damaged_error(&format!("the section {name} does not have a whole number of items"))))
    }

    fn section_range(&self, name: &str) -> Option<Range<usize>> {
        self.sections.iter().find(|(section_name, _)| section_name == name).map(|(_, range)| range.clone())
    }
}

fn read_header(file: &[u8]) -> Result<Header> {
    if !file.starts_with(&MAGIC) {
        return Err(Error::Format("it does not start with the bytes of a ptok file".into()));
    }
    let header_bytes = file.get(..BLOCK).ok_or_else(|| damaged_error("the header is incomplete"))?;
    let header: Header = bytemuck::pod_read_unaligned(header_bytes);
    if header.byte_order != BYTE_ORDER {
        return Err(Error::Format(
            "it was written on a machine of the other byte order: load the original file here and save it again".into(),
        ));
    }
    if header.format > FORMAT_VERSION {
        return Err(Error::Format(format!(
            "it is of version {}, which is newer than the version {FORMAT_VERSION} that this polytok reads: update polytok",
            header.format
        )));
    }
    if header.length != file.len() as u64 {
        return Err(damaged_error(&format!("it has {1} bytes, but its header says {0}", header.length, file.len())));
    }
    if header.checksum != checksum(file) {
        return Err(damaged_error("its checksum is wrong"));
    }
    Ok(header)
}

fn parse_section(row: &SectionRow, file_len: usize) -> Result<(String, Range<usize>)> {
    let len = row.name.iter().position(|&byte| byte == 0).unwrap_or(row.name.len());
    let name = String::from_utf8_lossy(&row.name[..len]).into_owned();
    let end = row.start.checked_add(row.length).filter(|&end| end <= file_len as u64);
    match end {
        Some(end) if row.start.is_multiple_of(BLOCK as u64) => Ok((name, row.start as usize..end as usize)),
        _ => Err(damaged_error(&format!("the section {name} extends beyond the end of the file"))),
    }
}

fn damaged_error(what: &str) -> Error {
    Error::Format(format!("the file is damaged: {what}; get it or write it again"))
}

/// A buffer whose address is a multiple of 64.
struct AlignedBytes {
    blocks: Vec<AlignedBlock>,
    len: usize,
}

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
struct AlignedBlock([u8; BLOCK]);

impl AsRef<[u8]> for AlignedBytes {
    fn as_ref(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.blocks)[..self.len]
    }
}
