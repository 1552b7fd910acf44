//! Byte-level vocabularies: texts in the characters of GPT-2's table to the bytes they stand for.
//!
//! A text with another character cannot come out of byte-level splitting, so no merge leads to it. It stays as it is, in
//! a row of kind Unused, which tells it from a row of the same bytes that can be reached, and prints its own UTF-8.

use super::super::{no_rows, push_row, rows};
use crate::byte_level::read_bytes;
use crate::error::Result;
use crate::spec::{Kind, VocabColumns};

/// The vocabulary over bytes, and whether it has all 256. None if it lacks one that UTF-8 needs, or if a merge touches a
/// foreign row.
pub fn to_bytes(columns: &VocabColumns, merges: &[[u32; 3]]) -> Result<Option<(VocabColumns, bool)>> {
    let mut out = no_rows();
    let mut bytes = Vec::new();
    let mut seen = [false; 256];
    let mut foreign = Vec::new();
    for (text, &id) in rows(columns).zip(&columns.ids) {
        if as_bytes(text, &mut bytes) {
            push_row(&mut out, &bytes, id, 0.0, Kind::Normal)?;
            if let [byte] = bytes[..] {
                seen[byte as usize] = true;
            }
        } else {
            push_row(&mut out, text, id, 0.0, Kind::Unused)?;
            foreign.push(id);
        }
    }
    foreign.sort_unstable();
    let is_foreign = |id: &u32| foreign.binary_search(id).is_ok();
    let merges_foreign = !foreign.is_empty() && merges.as_flattened().iter().any(is_foreign);
    let complete = seen.iter().all(|&seen| seen);
    let covers_text = (0..=255).all(|byte| seen[byte as usize] || NEVER_IN_TEXT.contains(&byte));
    Ok((covers_text && !merges_foreign).then_some((out, complete)))
}

/// Bytes that valid UTF-8 has nowhere; many vocabularies lack them.
const NEVER_IN_TEXT: [u8; 13] = [0xC0, 0xC1, 0xF5, 0xF6, 0xF7, 0xF8, 0xF9, 0xFA, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF];

/// Whether all characters are of the table; an empty text is not, it stands for nothing.
fn as_bytes(text: &[u8], bytes: &mut Vec<u8>) -> bool {
    !text.is_empty() && std::str::from_utf8(text).is_ok_and(|text| read_bytes(text, bytes))
}
