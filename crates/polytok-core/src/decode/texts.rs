//! What each row prints, kept so that appending it is one read of memory.

/// The texts of all rows. A text of up to 15 bytes stands in its slot, with its length behind it: one read of memory, and
/// a copy of a known length that is cut, which is faster than a copy of unknown length.
pub(super) struct Texts {
    slots: Vec<[u8; SLOT]>,
    /// The longer ones; their slots hold the number.
    long: Vec<Box<[u8]>>,
}

/// Bytes of a slot.
const SLOT: usize = 16;
/// In the place of a length: the text is a long one.
const LONG: u8 = u8::MAX;

impl Texts {
    /// One text for each row.
    pub fn new(texts: impl Iterator<Item = impl AsRef<[u8]>>) -> Texts {
        let mut long = Vec::new();
        let mut slot_of = |text: &[u8]| {
            let mut slot = [0; SLOT];
            if text.len() < SLOT {
                slot[..text.len()].copy_from_slice(text);
                slot[SLOT - 1] = text.len() as u8;
            } else {
                slot[..8].copy_from_slice(&(long.len() as u64).to_le_bytes());
                slot[SLOT - 1] = LONG;
                long.push(text.into());
            }
            slot
        };
        let slots = texts.map(|text| slot_of(text.as_ref())).collect();
        Texts { slots, long }
    }

    /// Appends the text of a row.
    #[inline]
    pub fn append(&self, row: usize, out: &mut Vec<u8>) {
        let slot = &self.slots[row];
        match slot[SLOT - 1] {
            LONG => out.extend_from_slice(self.long(slot)),
            len => {
                out.extend_from_slice(slot);
                out.truncate(out.len() - SLOT + len as usize);
            }
        }
    }

    /// The text of a row.
    pub fn get(&self, row: usize) -> &[u8] {
        let slot = &self.slots[row];
        match slot[SLOT - 1] {
            LONG => self.long(slot),
            len => &slot[..len as usize],
        }
    }

    fn long(&self, slot: &[u8; SLOT]) -> &[u8] {
        let [number @ .., _, _, _, _, _, _, _, _] = slot;
        &self.long[u64::from_le_bytes(*number) as usize]
    }
}
