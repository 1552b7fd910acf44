//! Cut points for models without a split: places that no vocabulary entry, and so no merge, can cross.
//!
//! Between two neighbouring characters that stand side by side in no reachable entry nothing can ever merge, so what lies
//! between two such places may be merged on its own, and its result cached. SentencePiece vocabularies have one before
//! nearly every word (an entry has `▁` only at its start), and many inside scripts without spaces. The proof needs only the
//! entries: a merge result is an entry, and an entry that covers the place has the two characters side by side.

use rustc_hash::FxHashSet;

use crate::utf8;

/// The pairs of neighbouring characters that some entry joins.
pub struct Boundary {
    ascii: Box<[u128; 128]>,
    others: FxHashSet<u64>,
}

impl Boundary {
    /// Collects the pairs of all entries that merging can reach.
    pub fn new<'a>(entries: impl Iterator<Item = &'a [u8]>) -> Boundary {
        let mut boundary = Boundary { ascii: Box::new([0; 128]), others: FxHashSet::default() };
        for entry in entries {
            let mut at = 0;
            let mut last = None;
            while at < entry.len() {
                let len = utf8::char_len(&entry[at..]);
                let unit = pack(&entry[at..at + len]);
                if let Some(last) = last.replace(unit) {
                    boundary.join(last, unit);
                }
                at += len;
            }
        }
        boundary
    }

    fn join(&mut self, left: u32, right: u32) {
        if left < 128 && right < 128 {
            self.ascii[left as usize] |= 1 << right;
        } else {
            self.others.insert((left as u64) << 32 | right as u64);
        }
    }

    #[inline]
    fn joins(&self, left: u32, right: u32) -> bool {
        if left < 128 && right < 128 {
            return self.ascii[left as usize] >> right & 1 == 1;
        }
        self.others.contains(&((left as u64) << 32 | right as u64))
    }

    /// The end of the stretch that starts at `at`, which must be inside the text.
    #[inline]
    pub fn next_cut(&self, text: &[u8], at: usize) -> usize {
        let mut end = at + utf8::char_len(&text[at..]);
        let mut last = pack(&text[at..end]);
        while end < text.len() {
            let len = utf8::char_len(&text[end..]);
            let unit = pack(&text[end..end + len]);
            // llama2.c groups continuation bytes with what is before them, however many there are.
            let continues = text[end] & 0xC0 == 0x80;
            if !continues && !self.joins(last, unit) {
                break;
            }
            last = unit;
            end += len;
        }
        end
    }
}

/// A character's bytes in one number. A clipped character may share its number with a longer one that ends in NUL bytes: that
/// only joins more than necessary.
#[inline]
fn pack(unit: &[u8]) -> u32 {
    match *unit {
        [a] => a as u32,
        [a, b] => a as u32 | (b as u32) << 8,
        [a, b, c] => a as u32 | (b as u32) << 8 | (c as u32) << 16,
        [a, b, c, d] => u32::from_le_bytes([a, b, c, d]),
        _ => 0,
    }
}
