//! The walk over a text: a table for ASCII, 64 bytes at a time, and a number for each other character.

use super::compile::MARK;
use super::{JOINS_LEFT, JOINS_RIGHT, PIECE, TextTables, UserDefinedPieces, VALUE};
use crate::boundary::pair_set::pair;
use crate::utf8::decode_four;

/// Bytes that are taken at a time.
const BLOCK: usize = 64;

/// Parts that are found at a time.
pub(super) const ROOM: usize = 192;

/// Parts in the order of the text; each starts where the one before it ends. Allocated once and then kept.
pub(super) struct ScannedParts {
    borders: [u32; ROOM + 1],
    values: [u32; ROOM],
    len: usize,
    /// Which parts are a `PIECE`.
    pieces: [u8; ROOM],
    piece_count: usize,
}

/// How far a text is cut.
pub(super) struct ScanCursor {
    /// What is cut so far; the part that is open starts here.
    start: usize,
    /// What is looked at so far.
    at: usize,
    /// Where the next user-defined piece starts, or the end.
    stop: usize,
    /// Where that piece ends, and its id.
    user_defined: (usize, u32),
    end: usize,
    last: ScannedChar,
}

/// A character: its number in the table, its code point (a space for U+2581), its length.
#[derive(Clone, Copy)]
struct ScannedChar {
    number: u32,
    code: u32,
    len: usize,
}

impl ScannedParts {
    /// An empty one.
    pub fn new() -> ScannedParts {
        ScannedParts { borders: [0; ROOM + 1], values: [PIECE; ROOM], len: 0, pieces: [0; ROOM], piece_count: 0 }
    }

    /// Each part: its first byte, the byte after its last one, and its id if it has one (see `PIECE` and its neighbours).
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize, u32)> {
        let borders = self.borders.iter().zip(&self.borders[1..]).zip(&self.values);
        borders.take(self.len).map(|((&start, &end), &value)| (start as usize, end as usize, value))
    }

    /// The same for those that are a `PIECE`, without ids.
    #[inline]
    pub fn pieces(&self) -> impl Iterator<Item = (usize, usize)> {
        let pieces = self.pieces[..self.piece_count].iter();
        pieces.map(|&at| (self.borders[at as usize] as usize, self.borders[at as usize + 1] as usize))
    }

    #[inline]
    fn begin(&mut self, start: usize) {
        self.borders[0] = start as u32;
        (self.len, self.piece_count) = (0, 0);
    }

    #[inline]
    fn push(&mut self, end: usize, value: u32) {
        self.borders[self.len + 1] = end as u32;
        self.values[self.len] = value;
        // No branch: which it is cannot be foreseen.
        self.pieces[self.piece_count] = self.len as u8;
        self.piece_count += (value == PIECE) as usize;
        self.len += 1;
    }

    /// Whether a block, the part before it and a user-defined piece have room.
    #[inline]
    fn has_room(&self) -> bool {
        self.len + BLOCK + 2 <= ROOM
    }
}

impl Default for ScannedParts {
    fn default() -> ScannedParts {
        ScannedParts::new()
    }
}

impl TextTables {
    /// The start of a text that ends at `end`.
    pub fn cursor(&self, text: &[u8], end: usize) -> ScanCursor {
        let nothing = ScannedChar { number: 0, code: 0, len: 0 };
        let mut cursor = ScanCursor { start: 0, at: 0, stop: 0, user_defined: (0, 0), end, last: nothing };
        self.find_user_defined(text, &mut cursor);
        cursor
    }

    /// Puts the next parts into `parts`; false if these are the last.
    pub fn fill(&self, text: &[u8], cursor: &mut ScanCursor, parts: &mut ScannedParts) -> bool {
        parts.begin(cursor.start);
        while parts.has_room() {
            if cursor.at < cursor.stop {
                self.scan(text, cursor, parts);
                continue;
            }
            if cursor.start < cursor.at {
                parts.push(cursor.at, cursor.last.value_from(cursor.start, cursor.at));
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

    /// Where the next user-defined piece is.
    fn find_user_defined(&self, text: &[u8], cursor: &mut ScanCursor) {
        cursor.stop = cursor.end;
        let Some(UserDefinedPieces { trie, starts }) = &self.user_defined else { return };
        let rest = &text[cursor.at..cursor.end];
        for (i, _) in rest.iter().enumerate().filter(|(_, byte)| starts[**byte as usize]) {
            if let Some((len, id)) = trie.longest_prefix(&rest[i..]) {
                cursor.stop = cursor.at + i;
                cursor.user_defined = (cursor.stop + len, id);
                return;
            }
        }
    }

    /// Goes on until the parts is full, or up to the next stop.
    fn scan(&self, text: &[u8], cursor: &mut ScanCursor, parts: &mut ScannedParts) {
        let ScanCursor { mut start, mut at, stop, mut last, .. } = *cursor;
        while at < stop && parts.has_room() {
            if at > start && text[at - 1] < 128 {
                let len = ascii_len(text, at).min(stop - at);
                if len > 0 {
                    let mut cuts = self.cuts_of(text, at, len);
                    while cuts != 0 {
                        let cut = at + cuts.trailing_zeros() as usize;
                        let value = if cut == start + 1 { self.ascii[text[start] as usize] } else { PIECE };
                        parts.push(cut, value);
                        start = cut;
                        cuts &= cuts - 1;
                    }
                    at += len;
                    let code = text[at - 1] as u32;
                    last = ScannedChar { number: self.chars.get(code), code, len: 1 };
                    continue;
                }
            }
            let next = self.char_at(text, at);
            if start < at && !self.joins(last, next) {
                parts.push(at, last.value_from(start, at));
                start = at;
            }
            last = next;
            at += next.len;
        }
        (cursor.start, cursor.at, cursor.last) = (start, at, last);
    }

    /// A bit for each of the ASCII bytes from `at` on before which there is a cut. The byte before them is ASCII too.
    #[inline]
    fn cuts_of(&self, text: &[u8], at: usize, len: usize) -> u64 {
        let Some(window) = text[at - 1..].first_chunk::<{ BLOCK + 1 }>() else { return 0 };
        let mut cuts = 0;
        for from in (0..len.min(BLOCK)).step_by(8) {
            let mut eight = 0;
            for i in 0..8 {
                let pair = u16::from_le_bytes([window[from + i], window[from + i + 1]]);
                eight |= self.cuts[pair as usize] << i;
            }
            cuts |= (eight as u64) << from;
        }
        cuts & u64::MAX >> (BLOCK - len)
    }

    #[inline]
    fn joins(&self, left: ScannedChar, right: ScannedChar) -> bool {
        left.number & JOINS_RIGHT != 0 && right.number & JOINS_LEFT != 0 && self.pairs.has(pair(left.code, right.code))
    }

    /// The character at `at`, by strict decoding. The bytes after the text continue nothing.
    #[inline(always)]
    fn char_at(&self, text: &[u8], at: usize) -> ScannedChar {
        match text[at..].first_chunk().and_then(|&four| decode_four(four)) {
            Some((code, len)) => {
                let code = if code == MARK as u32 { ' ' as u32 } else { code };
                ScannedChar { number: self.chars.get(code), code, len }
            }
            None => ScannedChar { number: self.invalid, code: char::REPLACEMENT_CHARACTER as u32, len: 1 },
        }
    }
}

impl ScannedChar {
    /// The id of a part that this character ends, if it is alone there.
    #[inline]
    fn value_from(self, start: usize, end: usize) -> u32 {
        if end - start == self.len { self.number & VALUE } else { PIECE }
    }
}

/// How many ASCII bytes there are at `at`, at most a block.
#[inline]
fn ascii_len(text: &[u8], at: usize) -> usize {
    let Some(block) = text[at..].first_chunk::<BLOCK>() else { return 0 };
    let (eights, _) = block.as_chunks::<8>();
    for (i, eight) in eights.iter().enumerate() {
        let high = u64::from_le_bytes(*eight) & 0x8080_8080_8080_8080;
        if high != 0 {
            return 8 * i + high.trailing_zeros() as usize / 8;
        }
    }
    BLOCK
}
