//! Finds the parts of a text: boundaries between ASCII bytes for 64 bytes at a time (`AsciiJoins`), and a record for
//! every other character.

use super::compile::MARK;
use super::{JOINS_LEFT, JOINS_RIGHT, PIECE_VALUE, TextTables, UserDefinedPieces, VALUE_BITS};
use crate::boundary::ascii_joins::{BLOCK_LEN, ascii_len};
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
    /// The starts and ends of the parts with the value `PIECE_VALUE`.
    pieces: [(u32, u32); MAX_PARTS],
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
            pieces: [(0, 0); MAX_PARTS],
            piece_count: 0,
        }
    }

    /// Returns the values of the parts. A value is an id, `PIECE_VALUE`, `BYTES_VALUE` or `INVALID_VALUE`.
    #[inline]
    pub fn values(&self) -> &[u32] {
        &self.values[..self.part_count]
    }

    /// Returns the start and the end of the part at this index.
    #[inline]
    pub fn range(&self, at: usize) -> (usize, usize) {
        (self.boundaries[at] as usize, self.boundaries[at + 1] as usize)
    }

    /// Returns the start and the end of each part with the value `PIECE_VALUE`.
    #[inline]
    pub fn pieces(&self) -> &[(u32, u32)] {
        &self.pieces[..self.piece_count]
    }
}

/// Writes a batch. The counts are not fields of the batch, because the compiler then stores and loads them for each
/// part, and each part would wait for the counts of the part before it.
struct PartWriter<'a> {
    batch: &'a mut ScannedParts,
    part_count: usize,
    piece_count: usize,
    /// The start of the next part.
    start: usize,
}

impl<'a> PartWriter<'a> {
    /// Returns a writer of a new batch, whose first part starts at `start`.
    #[inline(always)]
    fn new(batch: &'a mut ScannedParts, start: usize) -> PartWriter<'a> {
        batch.boundaries[0] = start as u32;
        PartWriter { batch, part_count: 0, piece_count: 0, start }
    }

    /// Adds the part from `self.start` to `end`.
    #[inline(always)]
    fn push(&mut self, end: usize, value: u32) {
        self.batch.boundaries[self.part_count + 1] = end as u32;
        self.batch.values[self.part_count] = value;
        // The code has no branch, because the processor would mispredict it.
        self.batch.pieces[self.piece_count] = (self.start as u32, end as u32);
        self.piece_count += (value == PIECE_VALUE) as usize;
        self.part_count += 1;
        self.start = end;
    }

    /// Reports whether the batch has room for the parts of a block, the part before the block and a user-defined piece.
    #[inline(always)]
    fn has_room_for_block(&self) -> bool {
        self.part_count + BLOCK_LEN + 2 <= MAX_PARTS
    }

    /// Stores the counts.
    #[inline(always)]
    fn finish(self) {
        (self.batch.part_count, self.batch.piece_count) = (self.part_count, self.piece_count);
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
        let mut writer = PartWriter::new(parts, cursor.start);
        let has_more = loop {
            if !writer.has_room_for_block() {
                break true;
            }
            if cursor.at < cursor.stop {
                self.scan(text, cursor, &mut writer);
                continue;
            }
            if writer.start < cursor.at {
                writer.push(cursor.at, cursor.last_char.value_from(writer.start, cursor.at));
            }
            if cursor.stop == cursor.end {
                break false;
            }
            let (end, id) = cursor.user_defined;
            writer.push(end, id);
            cursor.at = end;
            self.find_user_defined(text, cursor);
        };
        cursor.start = writer.start;
        writer.finish();
        has_more
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
    #[inline(always)]
    fn scan(&self, text: &[u8], cursor: &mut ScanCursor, parts: &mut PartWriter) {
        let ScanCursor { mut at, stop, mut last_char, .. } = *cursor;
        while at < stop && parts.has_room_for_block() {
            if text[at] < 128 && at > parts.start && text[at - 1] < 128 {
                at += self.scan_ascii(text, at, stop, parts);
                let code_point = text[at - 1] as u32;
                last_char = ScannedChar { record: self.chars.get(code_point), code_point, len: 1 };
                continue;
            }
            let next = self.char_at(text, at);
            if parts.start < at && !self.can_join(last_char, next) {
                parts.push(at, last_char.value_from(parts.start, at));
            }
            last_char = next;
            at += next.len;
        }
        (cursor.at, cursor.last_char) = (at, last_char);
    }

    /// Adds the parts that end before the ASCII bytes from `at` on. The byte before `at` must be ASCII too. Returns the
    /// number of ASCII bytes, which is at most `BLOCK_LEN`.
    #[inline(always)]
    fn scan_ascii(&self, text: &[u8], at: usize, stop: usize, parts: &mut PartWriter) -> usize {
        let Some(block) = text[at..].first_chunk() else { return 1 };
        let len = ascii_len(block).min(stop - at);
        let mut boundaries = self.boundaries_of(text, at, len);
        while boundaries != 0 {
            let boundary = at + boundaries.trailing_zeros() as usize;
            let value_of_char = self.ascii_values[text[parts.start] as usize];
            let value = if boundary == parts.start + 1 { value_of_char } else { PIECE_VALUE };
            parts.push(boundary, value);
            boundaries &= boundaries - 1;
        }
        len
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
