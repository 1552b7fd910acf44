//! Finds the parts of a text: boundaries between ASCII bytes for 64 bytes at a time (`AsciiJoins`), and a record for
//! every other character.

use super::compile::MARK;
use super::{JOINS_LEFT, JOINS_RIGHT, PIECE_VALUE, TextTables, UserDefinedPieces, VALUE_BITS};
use crate::boundary::ascii_joins::BLOCK_LEN;
use crate::boundary::pair_set::pack_pair;
use crate::utf8::decode_four_bytes;

/// The largest number of parts in a batch.
pub(super) const MAX_PARTS: usize = 192;

/// A batch of parts in the order of the text. A part starts at the end of the part before it. The memory of the batch
/// is reused.
pub(super) struct ScannedParts {
    boundaries: [u32; MAX_PARTS + 1],
    values: [u32; MAX_PARTS],
    part_count: usize,
    /// The indexes of the parts with the value `PIECE_VALUE`.
    piece_indexes: [u8; MAX_PARTS],
    piece_count: usize,
}

/// The state of the scan of a text.
pub(super) struct ScanCursor {
    /// The start of the current part.
    start: usize,
    /// The offset up to which the text is scanned.
    at: usize,
    /// The start of the next user-defined piece, or the end of the text.
    stop: usize,
    /// The end and the id of the next user-defined piece.
    user_defined: (usize, u32),
    end: usize,
    /// The last scanned character.
    last_char: ScannedChar,
}

/// A character: its record in the table, its code point (a space for U+2581) and its length.
#[derive(Clone, Copy)]
struct ScannedChar {
    record: u32,
    code_point: u32,
    len: usize,
}

impl ScannedParts {
    /// Returns an empty batch.
    pub fn new() -> ScannedParts {
        ScannedParts {
            boundaries: [0; MAX_PARTS + 1],
            values: [PIECE_VALUE; MAX_PARTS],
            part_count: 0,
            piece_indexes: [0; MAX_PARTS],
            piece_count: 0,
        }
    }

    /// Returns the start, the end and the value of each part. A value is an id, `PIECE_VALUE`, `BYTES_VALUE` or
    /// `INVALID_VALUE`.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize, u32)> {
        let boundaries = self.boundaries.iter().zip(&self.boundaries[1..]).zip(&self.values);
        boundaries.take(self.part_count).map(|((&start, &end), &value)| (start as usize, end as usize, value))
    }

    /// Returns the start and the end of each part with the value `PIECE_VALUE`.
    #[inline]
    pub fn pieces(&self) -> impl Iterator<Item = (usize, usize)> {
        let pieces = self.piece_indexes[..self.piece_count].iter();
        pieces.map(|&at| (self.boundaries[at as usize] as usize, self.boundaries[at as usize + 1] as usize))
    }

    #[inline]
    fn start_at(&mut self, start: usize) {
        self.boundaries[0] = start as u32;
        (self.part_count, self.piece_count) = (0, 0);
    }

    #[inline]
    fn push(&mut self, end: usize, value: u32) {
        self.boundaries[self.part_count + 1] = end as u32;
        self.values[self.part_count] = value;
        // The code has no branch, because the processor would mispredict it.
        self.piece_indexes[self.piece_count] = self.part_count as u8;
        self.piece_count += (value == PIECE_VALUE) as usize;
        self.part_count += 1;
    }

    /// Reports whether the batch has room for the parts of a block, the part before the block and a user-defined piece.
    #[inline]
    fn has_room_for_block(&self) -> bool {
        self.part_count + BLOCK_LEN + 2 <= MAX_PARTS
    }
}

impl Default for ScannedParts {
    fn default() -> ScannedParts {
        ScannedParts::new()
    }
}

impl TextTables {
    /// Returns the cursor at the start of a text that ends at `end`.
    pub fn cursor(&self, text: &[u8], end: usize) -> ScanCursor {
        let no_char = ScannedChar { record: 0, code_point: 0, len: 0 };
        let mut cursor = ScanCursor { start: 0, at: 0, stop: 0, user_defined: (0, 0), end, last_char: no_char };
        self.find_user_defined(text, &mut cursor);
        cursor
    }

    /// Writes the next parts to `parts`. Returns false if the text has no more parts.
    pub fn fill(&self, text: &[u8], cursor: &mut ScanCursor, parts: &mut ScannedParts) -> bool {
        parts.start_at(cursor.start);
        while parts.has_room_for_block() {
            if cursor.at < cursor.stop {
                self.scan(text, cursor, parts);
                continue;
            }
            if cursor.start < cursor.at {
                parts.push(cursor.at, cursor.last_char.value_from(cursor.start, cursor.at));
            }
            if cursor.stop == cursor.end {
                return false;
            }
            let (end, id) = cursor.user_defined;
            parts.push(end, id);
            (cursor.start, cursor.at) = (end, end);
            self.find_user_defined(text, cursor);
        }
        true
    }

    /// Sets the cursor's next user-defined piece.
    fn find_user_defined(&self, text: &[u8], cursor: &mut ScanCursor) {
        cursor.stop = cursor.end;
        let Some(UserDefinedPieces { trie, first_bytes }) = &self.user_defined else { return };
        let unscanned = &text[cursor.at..cursor.end];
        for (i, _) in unscanned.iter().enumerate().filter(|(_, byte)| first_bytes[**byte as usize]) {
            if let Some((len, id)) = trie.longest_prefix(&unscanned[i..]) {
                cursor.stop = cursor.at + i;
                cursor.user_defined = (cursor.stop + len, id);
                return;
            }
        }
    }

    /// Adds parts until the batch is full or the cursor is at the next stop.
    fn scan(&self, text: &[u8], cursor: &mut ScanCursor, parts: &mut ScannedParts) {
        let ScanCursor { mut start, mut at, stop, mut last_char, .. } = *cursor;
        while at < stop && parts.has_room_for_block() {
            if at > start && text[at - 1] < 128 {
                let len = ascii_len(text, at).min(stop - at);
                if len > 0 {
                    let mut boundaries = self.boundaries_of(text, at, len);
                    while boundaries != 0 {
                        let boundary = at + boundaries.trailing_zeros() as usize;
                        let value =
                            if boundary == start + 1 { self.ascii_values[text[start] as usize] } else { PIECE_VALUE };
                        parts.push(boundary, value);
                        start = boundary;
                        boundaries &= boundaries - 1;
                    }
                    at += len;
                    let code_point = text[at - 1] as u32;
                    last_char = ScannedChar { record: self.chars.get(code_point), code_point, len: 1 };
                    continue;
                }
            }
            let next = self.char_at(text, at);
            if start < at && !self.can_join(last_char, next) {
                parts.push(at, last_char.value_from(start, at));
                start = at;
            }
            last_char = next;
            at += next.len;
        }
        (cursor.start, cursor.at, cursor.last_char) = (start, at, last_char);
    }

    /// Returns a bit for each of `len` ASCII bytes from `at` on; the bit is set if there is a boundary before the byte.
    /// The byte before `at` must be ASCII too.
    #[inline]
    fn boundaries_of(&self, text: &[u8], at: usize, len: usize) -> u64 {
        let Some(window) = text[at - 1..].first_chunk() else { return 0 };
        self.ascii_joins.ends(window, len)
    }

    #[inline]
    fn can_join(&self, left: ScannedChar, right: ScannedChar) -> bool {
        left.record & JOINS_RIGHT != 0
            && right.record & JOINS_LEFT != 0
            && self.pairs.has(pack_pair(left.code_point, right.code_point))
    }

    /// Returns the character at `at`, decoded by the strict rules of UTF-8. The padding after the text never continues
    /// a character.
    #[inline(always)]
    fn char_at(&self, text: &[u8], at: usize) -> ScannedChar {
        match text[at..].first_chunk().and_then(|&four_bytes| decode_four_bytes(four_bytes)) {
            Some((code_point, len)) => {
                let code_point = if code_point == MARK as u32 { ' ' as u32 } else { code_point };
                ScannedChar { record: self.chars.get(code_point), code_point, len }
            }
            None => ScannedChar { record: self.invalid_record, code_point: char::REPLACEMENT_CHARACTER as u32, len: 1 },
        }
    }
}

impl ScannedChar {
    /// Returns the value of a part that ends with this character. If the part is only this character, the value is the
    /// value of the character.
    #[inline]
    fn value_from(self, start: usize, end: usize) -> u32 {
        if end - start == self.len { self.record & VALUE_BITS } else { PIECE_VALUE }
    }
}

/// Returns the number of consecutive ASCII bytes from `at` on, at most `BLOCK_LEN`.
#[inline]
fn ascii_len(text: &[u8], at: usize) -> usize {
    let Some(block) = text[at..].first_chunk::<BLOCK_LEN>() else { return 0 };
    let (groups, _) = block.as_chunks::<8>();
    for (i, group) in groups.iter().enumerate() {
        let high = u64::from_le_bytes(*group) & 0x8080_8080_8080_8080;
        if high != 0 {
            return 8 * i + high.trailing_zeros() as usize / 8;
        }
    }
    BLOCK_LEN
}
