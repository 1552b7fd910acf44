//! The text that each row prints within a text, stored so that appending it takes one read of memory.
//!
//! In every family most rows always print the same text once the decoder is *settled*: the start of the text is over,
//! and nothing is pending. `append_run` decodes a run of such ids. An id whose text depends on more goes to the
//! family's rules. Cost: a slot of 16 bytes per id.

use std::borrow::Cow;

use crate::prefetch::prefetch;
use crate::token_id::TokenId;
use crate::vocab::{Row, Vocab};

/// The output of a row in a settled state, which stays settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Settled<'a> {
    /// This text.
    Text(Cow<'a, [u8]>),
    /// It adds a byte to a run of bytes.
    Byte(u8),
    /// It depends on the state.
    Depends,
}

/// The texts of all rows. A text of up to 15 bytes is in its slot, followed by its length: copying a fixed number of
/// bytes and truncating the copy is faster than copying a variable number.
pub(super) struct RowTexts {
    slots: Vec<TextSlot>,
    /// The longer texts; their slots hold the index.
    long: Vec<Box<[u8]>>,
}

/// A text, and in the last byte its length, or one of these marks.
type TextSlot = [u8; SLOT];
const SLOT: usize = 16;
/// In place of a length: the text is a long one.
const LONG: u8 = u8::MAX;
/// A byte of a run.
const BYTE: u8 = u8::MAX - 1;
/// In place of a length: the rules decide.
const DEPENDS: u8 = u8::MAX - 2;
/// Added to the length of a text that may be skipped.
const SKIPPABLE: u8 = 32;

/// The number of ids ahead for which slots are prefetched: more than the processor looks ahead by itself.
const AHEAD: usize = 48;

/// Bytes that are collected before they are appended.
const BLOCK: usize = 512;

impl RowTexts {
    /// The output of each row, and whether it is skipped when special tokens are.
    pub fn new<'a>(rows: impl Iterator<Item = (Settled<'a>, bool)>) -> RowTexts {
        let mut long = Vec::new();
        let slot_of = |(settled, is_skippable): (Settled, bool)| match settled {
            Settled::Text(text) if text.len() < SLOT => {
                let mut slot = [0; SLOT];
                slot[..text.len()].copy_from_slice(&text);
                slot[SLOT - 1] = text.len() as u8 + if is_skippable { SKIPPABLE } else { 0 };
                slot
            }
            Settled::Text(text) if !is_skippable => {
                long.push(text.into());
                numbered(long.len() as u64 - 1, LONG)
            }
            Settled::Byte(byte) if !is_skippable => numbered(byte.into(), BYTE),
            _ => numbered(0, DEPENDS),
        };
        RowTexts { slots: rows.map(slot_of).collect(), long }
    }

    /// The output of a row.
    pub fn get(&self, row: Row) -> Settled<'_> {
        let slot = &self.slots[row.index()];
        match slot[SLOT - 1] {
            LONG => Settled::Text(self.long(slot).into()),
            BYTE => Settled::Byte(slot[0]),
            DEPENDS => Settled::Depends,
            len => Settled::Text(slot[..(len % SKIPPABLE) as usize].into()),
        }
    }

    /// Appends the texts of the ids before the first one that the rules decide, and returns the number of these ids.
    pub fn append_run(&self, vocab: &Vocab, ids: &[TokenId], skip_special: bool, out: &mut Vec<u8>) -> usize {
        match vocab.is_in_order() {
            true => self.append_while(ids, |id| Some(Row(id.0)), skip_special, out),
            false => self.append_while(ids, |id| vocab.row(id), skip_special, out),
        }
    }

    #[inline]
    fn append_while(
        &self,
        ids: &[TokenId],
        row_of: impl Fn(TokenId) -> Option<Row>,
        skip_special: bool,
        out: &mut Vec<u8>,
    ) -> usize {
        let mut block = [0; BLOCK + SLOT];
        let mut len = 0;
        for (i, &id) in ids.iter().enumerate() {
            if let Some(row) = ids.get(i + AHEAD).and_then(|&id| row_of(id)) {
                prefetch(&self.slots, row.index());
            }
            let Some(slot) = row_of(id).and_then(|row| self.slots.get(row.index())) else {
                out.extend_from_slice(&block[..len]);
                return i;
            };
            let more = slot[SLOT - 1] as usize;
            if more < SLOT {
                block[len..][..SLOT].copy_from_slice(slot);
                len += more;
                if len < BLOCK {
                    continue;
                }
            }
            out.extend_from_slice(&block[..std::mem::take(&mut len)]);
            if more >= SLOT && !self.append_odd(slot, skip_special, out) {
                return i;
            }
        }
        out.extend_from_slice(&block[..len]);
        ids.len()
    }

    /// Appends a text that is long or can be skipped; false if the rules decide.
    fn append_odd(&self, slot: &TextSlot, skip_special: bool, out: &mut Vec<u8>) -> bool {
        match slot[SLOT - 1] {
            LONG => out.extend_from_slice(self.long(slot)),
            BYTE | DEPENDS => return false,
            _ if skip_special => return false,
            len => out.extend_from_slice(&slot[..(len - SKIPPABLE) as usize]),
        }
        true
    }

    fn long(&self, slot: &TextSlot) -> &[u8] {
        let [number @ .., _, _, _, _, _, _, _, _] = slot;
        &self.long[u64::from_le_bytes(*number) as usize]
    }
}

/// A slot with a number and a mark.
fn numbered(number: u64, mark: u8) -> TextSlot {
    let mut slot = [0; SLOT];
    slot[..8].copy_from_slice(&number.to_le_bytes());
    slot[SLOT - 1] = mark;
    slot
}
