//! Converts byte-level vocabularies from the characters of GPT-2's table to bytes.
//!
//! Byte-level pre-tokenization produces only characters of the table, so no text encodes to a token with another
//! character. The text of such a token stays unchanged, in a row of kind Unused, because a usable row can have the same
//! bytes. Decoding prints the UTF-8 of this text.

use polytok_memory::{self as memory, Grow};

use super::super::{empty_columns, push_row, rows};
use crate::byte_level::read_bytes;
use crate::error::Result;
use crate::spec::{Kind, VocabColumns};

/// Returns the converted vocabulary, and whether it has a token for each of the 256 bytes. Returns `None` if it lacks a
/// byte that UTF-8 uses, or if a token of a merge has a character that is not in the table.
pub fn to_bytes(columns: &VocabColumns, merges: &[[u32; 3]]) -> Result<Option<(VocabColumns, bool)>> {
    memory::catch(|| {
        let mut out = empty_columns();
        let mut bytes = Vec::new();
        let mut has_byte = [false; 256];
        let mut unmapped_ids = Vec::new();
        for (text, &id) in rows(columns).zip(&columns.ids) {
            if read_table_bytes(text, &mut bytes) {
                push_row(&mut out, &bytes, id, 0.0, Kind::Normal)?;
                if let [byte] = bytes[..] {
                    has_byte[byte as usize] = true;
                }
            } else {
                push_row(&mut out, text, id, 0.0, Kind::Unused)?;
                unmapped_ids.checked_push(id);
            }
        }
        unmapped_ids.sort_unstable();
        let is_unmapped = |id: &u32| unmapped_ids.binary_search(id).is_ok();
        let merges_unmapped_id = !unmapped_ids.is_empty() && merges.as_flattened().iter().any(is_unmapped);
        let has_all_bytes = has_byte.iter().all(|&has_byte| has_byte);
        let covers_text = (0..=255).all(|byte| has_byte[byte as usize] || INVALID_UTF8_BYTES.contains(&byte));
        Ok((covers_text && !merges_unmapped_id).then_some((out, has_all_bytes)))
    })
}

/// The bytes that never occur in valid UTF-8; many vocabularies lack these bytes.
const INVALID_UTF8_BYTES: [u8; 13] = [0xC0, 0xC1, 0xF5, 0xF6, 0xF7, 0xF8, 0xF9, 0xFA, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF];

/// Writes the bytes of a text to `bytes`; returns false if a character is not in the table, or if the text is empty.
fn read_table_bytes(text: &[u8], bytes: &mut Vec<u8>) -> bool {
    !text.is_empty() && std::str::from_utf8(text).is_ok_and(|text| read_bytes(text, bytes))
}
