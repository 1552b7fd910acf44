//! Writes a native file: collects the sections, then concatenates the sections after the header.

use polytok_memory::{self as memory, Collect, Grow};

use super::{BLOCK, BYTE_ORDER, FORMAT_VERSION, Header, MAGIC, NAME_LEN, SectionRow, TABLES_VERSION, checksum};

/// The sections of a file that is being written.
#[derive(Debug, Default)]
pub struct Sections(Vec<(String, Vec<u8>)>);

impl Sections {
    /// Adds a section. All section names are constants of the engine, so no name is too long.
    pub fn push(&mut self, name: &str, bytes: Vec<u8>) {
        debug_assert!(name.len() <= NAME_LEN && self.0.iter().all(|(section_name, _)| section_name != name), "{name}");
        self.0.checked_push((name.to_owned(), bytes));
    }

    /// Returns the bytes of the file.
    pub fn finish(&self, fingerprint: [u8; 16]) -> Vec<u8> {
        let rows = self.rows();
        let end = rows.last().map_or(BLOCK, |row| row.start as usize + (row.length as usize).next_multiple_of(BLOCK));
        let header = Header {
            magic: MAGIC,
            format: FORMAT_VERSION,
            tables: TABLES_VERSION,
            byte_order: BYTE_ORDER,
            sections: rows.len() as u32,
            length: end as u64,
            checksum: 0,
            fingerprint,
            zero: 0,
        };
        let mut file = memory::with_capacity(end);
        file.checked_extend_from_slice(bytemuck::bytes_of(&header));
        file.checked_extend_from_slice(bytemuck::cast_slice(&rows));
        for (_, bytes) in &self.0 {
            file.checked_extend_from_slice(bytes);
            file.checked_resize(file.len().next_multiple_of(BLOCK), 0);
        }
        write_checksum(&mut file);
        file
    }

    fn rows(&self) -> Vec<SectionRow> {
        let mut start = BLOCK + self.0.len() * BLOCK;
        let section_row = |(name, bytes): &(String, Vec<u8>)| {
            let mut padded_name = [0; NAME_LEN];
            padded_name[..name.len()].copy_from_slice(name.as_bytes());
            let row = SectionRow { name: padded_name, start: start as u64, length: bytes.len() as u64 };
            start += bytes.len().next_multiple_of(BLOCK);
            row
        };
        self.0.iter().map(section_row).checked_collect()
    }
}

/// Writes the checksum into the header of a file.
pub(super) fn write_checksum(file: &mut [u8]) {
    const CHECKSUM_OFFSET: usize = std::mem::offset_of!(Header, checksum);
    let checksum = checksum(file);
    file[CHECKSUM_OFFSET..CHECKSUM_OFFSET + size_of::<u64>()].copy_from_slice(&checksum.to_ne_bytes());
}
