//! Stores the text that each row prints inside of a sequence, so that appending a text takes one read of memory.
//!
//! In every family most rows always print the same text once the decoder is *settled*: the start of the text is
//! complete, and no bytes are held back. `append_run` decodes a run of such ids. An id whose text depends on other ids
//! is decoded by the rules of the family. Memory: a slot of 16 bytes for each row.

use std::borrow::Cow;

use crate::prefetch::prefetch;
use crate::token_id::TokenId;
use crate::vocab::{Row, Vocab};

/// The output of a row in a settled state, which stays settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Settled<'a> {
    /// The row prints this text.
    Text(Cow<'a, [u8]>),
    /// The row adds this byte to a run of bytes.
    Byte(u8),
    /// The output depends on the state, so the rules of the family decode the row.
    Depends,
}

/// The texts of all rows. A slot has a text of up to 15 bytes and its length, because copying a fixed number of bytes
/// and truncating the copy is faster than copying a variable number.
pub(super) struct RowTexts {
    slots: Vec<TextSlot>,
    /// The longer texts; the slot of such a text has its index in this list.
    long_texts: Vec<Box<[u8]>>,
}

/// A text, with its length or one of the marks LONG_MARK, BYTE_MARK and DEPENDS_MARK in the last byte.
type TextSlot = [u8; SLOT_BYTES];
const SLOT_BYTES: usize = 16;
/// The mark of a text that is too long for a slot.
const LONG_MARK: u8 = u8::MAX;
/// The mark of a row that adds a byte to a run.
const BYTE_MARK: u8 = u8::MAX - 1;
/// The mark of a row that the rules decode.
const DEPENDS_MARK: u8 = u8::MAX - 2;
/// The number that is added to the length of a text that can be skipped.
const SKIPPABLE: u8 = 32;

/// The number of ids ahead whose slots are prefetched: more than the processor prefetches by itself.
const PREFETCH_DISTANCE: usize = 48;

/// The number of bytes that are collected before they are appended.
const BLOCK: usize = 512;

impl RowTexts {
    /// Stores the output of each row; the flag of a row is true if the row is skipped together with special tokens.
    pub fn new<'a>(rows: impl Iterator<Item = (Settled<'a>, bool)>) -> RowTexts {
        let mut long_texts = Vec::new();
        let slot_of = |(settled, is_skippable): (Settled, bool)| match settled {
            Settled::Text(text) if text.len() < SLOT_BYTES => {
                let mut slot = [0; SLOT_BYTES];
                slot[..text.len()].copy_from_slice(&text);
                slot[SLOT_BYTES - 1] = text.len() as u8 + if is_skippable { SKIPPABLE } else { 0 };
                slot
            }
            Settled::Text(text) if !is_skippable => {
                long_texts.push(text.into());
                marked_slot(long_texts.len() as u64 - 1, LONG_MARK)
            }
            Settled::Byte(byte) if !is_skippable => marked_slot(byte.into(), BYTE_MARK),
            _ => marked_slot(0, DEPENDS_MARK),
        };
        RowTexts { slots: rows.map(slot_of).collect(), long_texts }
    }

    /// Returns the output of a row in a settled state.
    pub fn get(&self, row: Row) -> Settled<'_> {
        let slot = &self.slots[row.index()];
        match slot[SLOT_BYTES - 1] {
            LONG_MARK => Settled::Text(self.long_text(slot).into()),
            BYTE_MARK => Settled::Byte(slot[0]),
            DEPENDS_MARK => Settled::Depends,
            len => Settled::Text(slot[..(len % SKIPPABLE) as usize].into()),
        }
    }

    /// Appends the texts of `ids` up to the first id that the rules decode; returns the number of ids appended.
    pub fn append_run(&self, vocab: &Vocab, ids: &[TokenId], skip_special: bool, out: &mut Vec<u8>) -> usize {
        match vocab.is_in_order() {
            true => self.append_while(ids, |id| Some(Row(id.0)), skip_special, out),
            false => self.append_while(ids, |id| vocab.row(id), skip_special, out),
        }
    }

    /// Does the work of `append_run`, with a function that returns the row of an id.
    #[inline]
    fn append_while(
        &self,
        ids: &[TokenId],
        row_of: impl Fn(TokenId) -> Option<Row>,
        skip_special: bool,
        out: &mut Vec<u8>,
    ) -> usize {
        let mut block = [0; BLOCK + SLOT_BYTES];
        let mut len = 0;
        for (i, &id) in ids.iter().enumerate() {
            if let Some(row) = ids.get(i + PREFETCH_DISTANCE).and_then(|&id| row_of(id)) {
                prefetch(&self.slots, row.index());
            }
            let Some(slot) = row_of(id).and_then(|row| self.slots.get(row.index())) else {
                out.extend_from_slice(&block[..len]);
                return i;
            };
            let text_len = slot[SLOT_BYTES - 1] as usize;
            if text_len < SLOT_BYTES {
                block[len..][..SLOT_BYTES].copy_from_slice(slot);
                len += text_len;
                if len < BLOCK {
                    continue;
                }
            }
            out.extend_from_slice(&block[..std::mem::take(&mut len)]);
            if text_len >= SLOT_BYTES && !self.append_marked(slot, skip_special, out) {
                return i;
            }
        }
        out.extend_from_slice(&block[..len]);
        ids.len()
    }

    /// Appends a text that is long or can be skipped; returns false if the rules decode this id.
    fn append_marked(&self, slot: &TextSlot, skip_special: bool, out: &mut Vec<u8>) -> bool {
        match slot[SLOT_BYTES - 1] {
            LONG_MARK => out.extend_from_slice(self.long_text(slot)),
            BYTE_MARK | DEPENDS_MARK => return false,
            _ if skip_special => return false,
            len => out.extend_from_slice(&slot[..(len - SKIPPABLE) as usize]),
        }
        true
    }

    fn long_text(&self, slot: &TextSlot) -> &[u8] {
        let [index @ .., _, _, _, _, _, _, _, _] = slot;
        &self.long_texts[u64::from_le_bytes(*index) as usize]
    }
}

/// Returns a slot that contains a number and a mark.
fn marked_slot(number: u64, mark: u8) -> TextSlot {
    let mut slot = [0; SLOT_BYTES];
    slot[..8].copy_from_slice(&number.to_le_bytes());
    slot[SLOT_BYTES - 1] = mark;
    slot
}
