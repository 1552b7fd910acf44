//! What each row prints in the middle of a text, kept so that appending it is one read of memory.
//!
//! In every family most rows print the same wherever they stand, once the decoder is *settled*: past what is special about the
//! start of a text, and with nothing that waits for what comes. `append_run` decodes as many such ids as follow each other; all
//! that depends on more goes back to the family's rules, one id at a time. Cost: one slot of 16 bytes an id.

use std::borrow::Cow;

use crate::prefetch::prefetch;
use crate::vocab::{Row, Vocab};

/// What a row prints in a settled state, which stays settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Settled<'a> {
    /// This text.
    Text(Cow<'a, [u8]>),
    /// It adds a byte to a run of bytes.
    Byte(u8),
    /// That depends.
    Depends,
}

/// The texts of all rows. A text of up to 15 bytes stands in its slot, with its length behind it: a copy of a known length
/// that is cut is faster than a copy of unknown length.
pub(super) struct Texts {
    slots: Vec<Slot>,
    /// The longer ones; their slots hold the number.
    long: Vec<Box<[u8]>>,
}

/// A text, and in the last byte its length, or one of these marks.
type Slot = [u8; SLOT];
const SLOT: usize = 16;
/// In the place of a length: the text is a long one.
const LONG: u8 = u8::MAX;
/// A byte of a run.
const BYTE: u8 = u8::MAX - 1;
/// Nothing is known.
const DEPENDS: u8 = u8::MAX - 2;
/// Added to the length of a text that may be skipped.
const SKIPPABLE: u8 = 32;

/// So many ids ahead slots are asked for: more than the processor looks ahead by itself.
const AHEAD: usize = 48;

/// Bytes that are put together before they are appended.
const BLOCK: usize = 512;

impl Texts {
    /// What each row prints, and whether it is skipped where special tokens are.
    pub fn new<'a>(rows: impl Iterator<Item = (Settled<'a>, bool)>) -> Texts {
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
        Texts { slots: rows.map(slot_of).collect(), long }
    }

    /// What a row prints.
    pub fn get(&self, row: Row) -> Settled<'_> {
        let slot = &self.slots[row.index()];
        match slot[SLOT - 1] {
            LONG => Settled::Text(self.long(slot).into()),
            BYTE => Settled::Byte(slot[0]),
            DEPENDS => Settled::Depends,
            len => Settled::Text(slot[..(len % SKIPPABLE) as usize].into()),
        }
    }

    /// Appends the texts of the ids up to the first of which nothing is known here, and says how many they were.
    pub fn append_run(&self, vocab: &Vocab, ids: &[u32], skip_special: bool, out: &mut Vec<u8>) -> usize {
        match vocab.is_in_order() {
            true => self.append_while(ids, |id| Some(Row(id)), skip_special, out),
            false => self.append_while(ids, |id| vocab.row(id), skip_special, out),
        }
    }

    #[inline]
    fn append_while(
        &self,
        ids: &[u32],
        row_of: impl Fn(u32) -> Option<Row>,
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

    /// Appends a text that is long or may be skipped; false if nothing is known.
    fn append_odd(&self, slot: &Slot, skip_special: bool, out: &mut Vec<u8>) -> bool {
        match slot[SLOT - 1] {
            LONG => out.extend_from_slice(self.long(slot)),
            BYTE | DEPENDS => return false,
            _ if skip_special => return false,
            len => out.extend_from_slice(&slot[..(len - SKIPPABLE) as usize]),
        }
        true
    }

    fn long(&self, slot: &Slot) -> &[u8] {
        let [number @ .., _, _, _, _, _, _, _, _] = slot;
        &self.long[u64::from_le_bytes(*number) as usize]
    }
}

/// A slot with a number and a mark.
fn numbered(number: u64, mark: u8) -> Slot {
    let mut slot = [0; SLOT];
    slot[..8].copy_from_slice(&number.to_le_bytes());
    slot[SLOT - 1] = mark;
    slot
}
