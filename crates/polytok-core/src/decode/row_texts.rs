//! Stores the text that each vocabulary row prints in the middle of a sequence, so that decoding an id takes one memory
//! access.
//!
//! In every family most rows always print the same text when the decoder is *settled*: all changes to the start of the
//! text are done, and no bytes are held back. `append_run` appends the texts of consecutive ids with a stored text. The
//! rules of the family decode an id whose text depends on other ids. Memory: a slot of 16 bytes for each row.

use std::borrow::Cow;
use std::mem::MaybeUninit;

use polytok_memory::{Collect, Copied, Grow};

use crate::prefetch::prefetch;
use crate::token_id::TokenId;
use crate::vocab::{Row, Vocab};

/// The output of a row in a settled state, if the state stays settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SettledOutput<'a> {
    /// The row prints this text.
    Text(Cow<'a, [u8]>),
    /// The row adds this byte to a run of bytes.
    Byte(u8),
    /// The output depends on the state, so the rules of the family decode the row.
    Depends,
}

/// The texts of all rows. A text of up to 15 bytes is stored with its length in a slot of fixed size, because copying a
/// whole slot is faster than copying a variable number of bytes.
pub(super) struct RowTexts {
    slots: Vec<TextSlot>,
    /// The texts of more than 15 bytes; the slot of such a row has the index of its text in this list.
    long_texts: Vec<Box<[u8]>>,
}

/// The slot of a row. The last byte is the length of the text or a mark: LONG_MARK, BYTE_MARK or DEPENDS_MARK.
type TextSlot = [u8; SLOT_BYTES];
const SLOT_BYTES: usize = 16;
/// The mark of a text that is too long for a slot.
const LONG_MARK: u8 = u8::MAX;
/// The mark of a row that adds a byte to a run.
const BYTE_MARK: u8 = u8::MAX - 1;
/// The mark of a row that the rules of the family decode.
const DEPENDS_MARK: u8 = u8::MAX - 2;
/// The number added to the length if the row is skipped together with special tokens.
const SKIPPABLE_MARK: u8 = 32;

/// How many ids ahead of the current id a slot is prefetched.
const PREFETCH_DISTANCE: usize = 48;

/// The number of bytes of text that are collected on the stack before they are appended to the output.
const BLOCK_BYTES: usize = 512;

impl RowTexts {
    /// Stores the output of each row, with a flag that is true if the row is skipped together with special tokens.
    pub fn new<'a>(rows: impl Iterator<Item = (SettledOutput<'a>, bool)>) -> RowTexts {
        let mut long_texts = Vec::new();
        let slot_of_row = |(output, is_skippable): (SettledOutput, bool)| match output {
            SettledOutput::Text(text) if text.len() < SLOT_BYTES => {
                let mut slot = [0; SLOT_BYTES];
                slot[..text.len()].copy_from_slice(&text);
                slot[SLOT_BYTES - 1] = text.len() as u8 + if is_skippable { SKIPPABLE_MARK } else { 0 };
                slot
            }
            SettledOutput::Text(text) if !is_skippable => {
                long_texts.checked_push(text.checked_to_vec().into_boxed_slice());
                marked_slot(long_texts.len() as u64 - 1, LONG_MARK)
            }
            SettledOutput::Byte(byte) if !is_skippable => marked_slot(byte.into(), BYTE_MARK),
            _ => marked_slot(0, DEPENDS_MARK),
        };
        RowTexts { slots: rows.map(slot_of_row).checked_collect(), long_texts }
    }

    /// Returns the output of a row in a settled state.
    pub fn get(&self, row: Row) -> SettledOutput<'_> {
        let slot = &self.slots[row.index()];
        match slot[SLOT_BYTES - 1] {
            LONG_MARK => SettledOutput::Text(self.long_text(slot).into()),
            BYTE_MARK => SettledOutput::Byte(slot[0]),
            DEPENDS_MARK => SettledOutput::Depends,
            len => SettledOutput::Text(slot[..(len % SKIPPABLE_MARK) as usize].into()),
        }
    }

    /// Appends the texts of `ids` up to the first id that the rules of the family must decode; returns the number of
    /// ids before this id. The loop is a function of its own: inlined into its caller, it is 3 to 5 % slower.
    #[inline(never)]
    pub fn append_run(&self, vocab: &Vocab, ids: &[TokenId], skip_special: bool, out: &mut Vec<u8>) -> usize {
        match vocab.is_in_order() {
            true => self.append_while(ids, |id| Some(Row(id.0)), skip_special, out),
            false => self.append_while(ids, |id| vocab.row(id), skip_special, out),
        }
    }

    /// Does the work of `append_run`; `row_of` returns the row of an id.
    #[inline]
    fn append_while(
        &self,
        ids: &[TokenId],
        row_of: impl Fn(TokenId) -> Option<Row>,
        skip_special: bool,
        out: &mut Vec<u8>,
    ) -> usize {
        let mut block = TextBlock::new();
        for (i, &id) in ids.iter().enumerate() {
            if let Some(row) = ids.get(i + PREFETCH_DISTANCE).and_then(|&id| row_of(id)) {
                prefetch(&self.slots, row.index());
            }
            let Some(slot) = row_of(id).and_then(|row| self.slots.get(row.index())) else {
                block.move_to(out);
                return i;
            };
            let text_len = slot[SLOT_BYTES - 1] as usize;
            if text_len < SLOT_BYTES {
                block.push(slot, text_len);
                if block.len < BLOCK_BYTES {
                    continue;
                }
            }
            block.move_to(out);
            if text_len >= SLOT_BYTES && !self.append_marked(slot, skip_special, out) {
                return i;
            }
        }
        block.move_to(out);
        ids.len()
    }

    /// Appends the text of a slot whose last byte is not a plain length; returns false if the rules of the family must
    /// decode the id.
    #[inline(never)]
    fn append_marked(&self, slot: &TextSlot, skip_special: bool, out: &mut Vec<u8>) -> bool {
        match slot[SLOT_BYTES - 1] {
            LONG_MARK => out.checked_extend_from_slice(self.long_text(slot)),
            BYTE_MARK | DEPENDS_MARK => return false,
            _ if skip_special => return false,
            len => out.checked_extend_from_slice(&slot[..(len - SKIPPABLE_MARK) as usize]),
        }
        true
    }

    fn long_text(&self, slot: &TextSlot) -> &[u8] {
        let [index @ .., _, _, _, _, _, _, _, _] = slot;
        &self.long_texts[u64::from_le_bytes(*index) as usize]
    }
}

/// Texts that are collected on the stack. The memory is not initialized, which would take longer than decoding a few
/// ids.
struct TextBlock {
    bytes: [MaybeUninit<u8>; BLOCK_BYTES + SLOT_BYTES],
    /// The number of bytes of text, which are initialized.
    len: usize,
}

impl TextBlock {
    #[inline]
    fn new() -> TextBlock {
        TextBlock { bytes: [MaybeUninit::uninit(); BLOCK_BYTES + SLOT_BYTES], len: 0 }
    }

    /// Appends a slot, of which the first `text_len` bytes are text.
    #[inline]
    fn push(&mut self, slot: &TextSlot, text_len: usize) {
        let place = &mut self.bytes[self.len..][..SLOT_BYTES];
        // SAFETY: the place has the length of a slot.
        unsafe { place.as_mut_ptr().cast::<TextSlot>().write_unaligned(*slot) };
        self.len += text_len.min(SLOT_BYTES);
    }

    /// Appends the text to `out`, and empties the block.
    #[inline]
    fn move_to(&mut self, out: &mut Vec<u8>) {
        let bytes = &self.bytes[..std::mem::take(&mut self.len)];
        // SAFETY: `push` has initialized these bytes.
        out.checked_extend_from_slice(unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len()) });
    }
}

/// Returns a slot that contains a number and a mark.
fn marked_slot(number: u64, mark: u8) -> TextSlot {
    let mut slot = [0; SLOT_BYTES];
    slot[..8].copy_from_slice(&number.to_le_bytes());
    slot[SLOT_BYTES - 1] = mark;
    slot
}
