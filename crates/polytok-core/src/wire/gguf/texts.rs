//! Converts token texts from the characters of GPT-2's table to bytes and back, and lists of merges from lines of text
//! to ids and back.

use std::hash::RandomState;

use hashbrown::HashMap;
use polytok_memory::{self as memory, Grow, GrowMap, GrowSet, GrowText};

use super::GgufTexts;
use crate::byte_level::{char_of, read_bytes};
use crate::error::{Error, Result};
use crate::wire::show;

/// Converts the texts for whose index `is_mapped` returns true from the characters of GPT-2's table to bytes. A text
/// with a character that is not in the table stays unchanged; the second result has the indexes of these texts.
pub fn byte_level(texts: &GgufTexts, is_mapped: impl Fn(usize) -> bool) -> Result<(GgufTexts, Vec<u32>)> {
    memory::catch(|| {
        let mut out = GgufTexts::new();
        let mut unmapped_texts = Vec::new();
        let mut bytes = Vec::new();
        for (index, text) in texts.iter().enumerate() {
            if !is_mapped(index) {
                out.push(text)?;
            } else if std::str::from_utf8(text).is_ok_and(|text| read_bytes(text, &mut bytes)) {
                out.push(&bytes)?;
            } else {
                out.push(text)?;
                unmapped_texts.checked_push(index as u32);
            }
        }
        Ok((out, unmapped_texts))
    })
}

/// Converts the texts for whose index `is_mapped` returns true from bytes to the characters of GPT-2's table.
pub fn byte_level_texts(texts: &GgufTexts, is_mapped: impl Fn(usize) -> bool) -> Result<GgufTexts> {
    memory::catch(|| {
        let mut out = GgufTexts::new();
        let mut table_text = String::new();
        for (index, text) in texts.iter().enumerate() {
            if is_mapped(index) {
                table_text.clear();
                text.iter().for_each(|&byte| table_text.checked_push_char(char_of(byte)));
                out.push(table_text.as_bytes())?;
            } else {
                out.push(text)?;
            }
        }
        Ok(out)
    })
}

/// Converts merge lines to the left, right and merged ids, in order. A line is split at the first space after its first
/// byte. A line without such a space, or with a text that is not a token, is skipped. If several lines have the same
/// pair, the first line counts.
pub fn resolve_merges(tokens: &GgufTexts, lines: &GgufTexts) -> Result<Vec<[u32; 3]>> {
    memory::catch(|| {
        let hasher = RandomState::new();
        let mut ids: HashMap<&[u8], u32, RandomState> = HashMap::with_hasher(hasher.clone());
        for (id, text) in tokens.iter().enumerate() {
            ids.checked_insert(text, id as u32);
        }
        let mut seen_pairs = hashbrown::HashSet::with_hasher(hasher);
        let mut merges = memory::with_capacity(lines.len());
        let mut text = Vec::new();
        for (number, line) in lines.iter().enumerate() {
            let Some(space) = line.get(1..).and_then(|tail| memchr::memchr(b' ', tail)) else { continue };
            let (left, right) = (&line[..space + 1], &line[space + 2..]);
            let (Some(&left_id), Some(&right_id)) = (ids.get(left), ids.get(right)) else { continue };
            if !seen_pairs.checked_insert((left_id, right_id)) {
                continue;
            }
            text.clear();
            text.checked_extend_from_slice(left);
            text.checked_extend_from_slice(right);
            let merged = ids.get(text.as_slice()).ok_or_else(|| {
                Error::Format(format!(
                    "merge {number}, {}, merges to {}, which is not a token",
                    show(line),
                    show(&text)
                ))
            })?;
            merges.checked_push([left_id, right_id, *merged]);
        }
        Ok(merges)
    })
}

/// Converts merges to lines with two tokens and a space between them.
pub fn merge_lines(tokens: &GgufTexts, merges: impl Iterator<Item = (u32, u32)>) -> Result<GgufTexts> {
    memory::catch(|| {
        let mut lines = GgufTexts::new();
        let mut line = Vec::new();
        for (left, right) in merges {
            let missing_error = |id: u32| Error::Format(format!("a merge has the id {id}, but no token has this id"));
            let text = |id: u32| {
                if (id as usize) < tokens.len() { Ok(tokens.get(id as usize)) } else { Err(missing_error(id)) }
            };
            line.clear();
            line.checked_extend_from_slice(text(left)?);
            line.checked_push(b' ');
            line.checked_extend_from_slice(text(right)?);
            lines.push(&line)?;
        }
        Ok(lines)
    })
}
