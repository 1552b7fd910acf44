//! Splits a text by an [`Automaton`] and a [`Rule`].
//!
//! The automaton reads one cell for each character, writes the current offset to one of the pending candidates, and
//! adds the number of ends in the cell to a total. No branch depends on an end, so the processor mispredicts nothing,
//! and no character is read twice. A long run of characters of one class leads the automaton through a short cycle of
//! states; only the first cycles and the last cycle are read (`find_by_cycles`).
//!
//! The rule finds most of the ends, many ends at a time (`blocks`). At an offset at which the rule is unsure, the
//! automaton starts again at the last end. The automaton reads until it finds an end at or after that offset, at most a
//! few characters (`MAX_REREAD_CHARS`) before the current offset. The rule continues from this end. So the automaton
//! and the rule each read a character a bounded number of times, and splitting is linear for every text.
//!
//! Deriving the rule takes milliseconds, so the rule is derived only after enough bytes.

use super::automaton::{Automaton, GAP, MAX_LEVELS};
use super::blocks::{self, Block, Instructions, Word};
use super::classes::Classes;
use super::cursor::Cursor;
use super::rule::{BEFORE, Rule};
use super::utf8::is_continuation;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of characters that the automaton reads between two checks of the room for pieces.
const CHUNK: usize = 64;
/// The number of characters of a chunk if the rule can continue soon.
const SHORT_CHUNK: usize = 8;
/// The room in `pieces` for the ends of a chunk or a word, for the pending candidates, and for the candidates that
/// follow.
const ROOM: usize = CHUNK + 2 * MAX_LEVELS;
/// The maximum number of characters after the last end that are read again when the rule continues.
const MAX_REREAD_CHARS: usize = 8;
/// The number of bytes that the automaton reads before the rule is derived.
const BYTES_BEFORE_RULE: usize = 1 << 17;
/// The maximum number of unsure positions of a word that the automaton decides one by one.
const MAX_UNSURE_ONE_BY_ONE: u32 = 3;
/// The maximum number of unsure positions of a word; with more unsure positions, the automaton reads the rest of the
/// block.
const MANY: u32 = 16;
/// A position after every position of a block.
const AFTER_ALL_POSITIONS: usize = usize::MAX / 2;
/// An offset after the end of every text: the automaton reads up to it if the rule cannot read the text.
const NEVER: usize = usize::MAX;
/// The first offset that certainly has enough characters before it for a window.
const START: usize = 4 * BEFORE;

/// An automaton and its rule.
pub(super) struct Stream {
    automaton: Automaton,
    rule: OnceLock<Option<Rule>>,
    /// The number of bytes that the automaton has read, up to the derivation of the rule.
    bytes_read: AtomicUsize,
}

/// The pieces that a call of `fill` has found, and the end of the last piece.
struct FoundPieces<'p> {
    pieces: &'p mut [(u32, u32)],
    count: usize,
    from: u32,
}

impl FoundPieces<'_> {
    /// Adds the piece or the gap that ends at `end`.
    #[inline]
    fn end(&mut self, end: u32, is_gap: bool) {
        self.pieces[self.count] = (self.from, end);
        self.count += !is_gap as usize;
        self.from = end;
    }

    /// Adds the pieces that end at the set bits of `ends`; the lowest bit represents offset `base`. Returns false if
    /// the pieces have no room.
    #[inline]
    fn ends(&mut self, instructions: Instructions, base: usize, ends: u64) -> bool {
        let room = &mut self.pieces[self.count..];
        if !blocks::is_room_for(ends, room.len()) {
            return false;
        }
        self.count += instructions.write_pieces(base as u32, ends, self.from, room);
        if ends != 0 {
            self.from = self.pieces[self.count - 1].1;
        }
        true
    }

    /// Repeats the last `count` pieces `times` times, each time `step` bytes further right. The caller must check the
    /// room.
    fn repeat(&mut self, count: usize, times: usize, step: usize) {
        if count == 0 {
            return;
        }
        let (pieces, room) = self.pieces.split_at_mut(self.count);
        let last = &pieces[pieces.len() - count..];
        let mut distance = 0;
        for pieces in room.chunks_exact_mut(count).take(times) {
            distance += step as u32;
            for (piece, (start, end)) in pieces.iter_mut().zip(last) {
                *piece = (start + distance, end + distance);
            }
        }
        self.count += count * times;
        self.from += distance;
    }

    #[inline]
    fn has_room(&self) -> bool {
        self.count + ROOM <= self.pieces.len()
    }
}

impl Stream {
    pub(super) fn new(automaton: Automaton) -> Stream {
        Stream { automaton, rule: OnceLock::new(), bytes_read: AtomicUsize::new(0) }
    }

    /// Writes the next matches to `pieces` and returns their number; 0 after the last match.
    pub(super) fn fill(&self, classes: &Classes, text: &[u8], cursor: &mut Cursor, pieces: &mut [(u32, u32)]) -> usize {
        self.fill_by(self.rule(classes, text, cursor), classes, text, cursor, pieces)
    }

    /// Implements `fill` with a rule and the instructions by which the rule is applied.
    fn fill_by(
        &self,
        rule: Option<(&Rule, Instructions)>,
        classes: &Classes,
        text: &[u8],
        cursor: &mut Cursor,
        pieces: &mut [(u32, u32)],
    ) -> usize {
        assert!(pieces.len() >= ROOM, "`pieces` must have room for {ROOM} pieces");
        let mut writer = FoundPieces { pieces, count: 0, from: cursor.from };
        while cursor.at <= text.len() {
            match rule {
                Some((rule, instructions))
                    if cursor.must_read_to <= writer.from as usize
                        && cursor.at <= writer.from as usize + MAX_REREAD_CHARS =>
                {
                    if !find_by_rule(rule, instructions, classes, text, cursor, &mut writer) {
                        break;
                    }
                }
                _ if !writer.has_room() => break,
                _ if self.find_by_cycles(classes, text, cursor, &mut writer) => {}
                _ => {
                    let is_near = cursor.must_read_to < cursor.at + CHUNK && cursor.at < writer.from as usize + CHUNK;
                    let max_chars = if rule.is_some() && is_near { SHORT_CHUNK } else { CHUNK };
                    self.find_by_automaton(classes, text, cursor, &mut writer, max_chars);
                }
            }
        }
        cursor.from = writer.from;
        writer.count
    }

    /// Returns the rule and the instructions by which it is applied; None before enough bytes were read to pay for
    /// deriving the rule.
    fn rule(&self, classes: &Classes, text: &[u8], cursor: &Cursor) -> Option<(&Rule, Instructions)> {
        let instructions = Instructions::current()?;
        if let Some(rule) = self.rule.get() {
            return Some((rule.as_ref()?, instructions));
        }
        let new = if cursor.at == 0 { text.len() } else { 0 };
        if self.bytes_read.fetch_add(new, Ordering::Relaxed) < BYTES_BEFORE_RULE {
            return None;
        }
        Some((self.prepare(classes)?, instructions))
    }

    pub(super) fn automaton(&self) -> &Automaton {
        &self.automaton
    }

    /// Reports whether the matches cover every text.
    pub(super) fn covers_text(&self) -> bool {
        self.automaton.covers_text
    }

    /// Returns the rule, and derives the rule at the first call.
    pub(super) fn prepare(&self, classes: &Classes) -> Option<&Rule> {
        if self.rule.get().is_none() {
            // The rule is derived outside the lock, so that a fork hardly ever happens while the lock is held. Two
            // threads can each derive the rule.
            let rule = Rule::derive(&self.automaton, classes);
            return self.rule.get_or_init(|| rule).as_ref();
        }
        self.rule.get()?.as_ref()
    }

    /// Reports whether the rule is derived, or known not to exist.
    pub(super) fn is_prepared(&self) -> bool {
        self.rule.get().is_some()
    }

    /// Finds all pieces of a text by the automaton and the given instructions, with `room` pieces in a call of `fill`.
    #[cfg(test)]
    pub(super) fn pieces_by(
        &self,
        instructions: Option<Instructions>,
        classes: &Classes,
        text: &str,
        room: usize,
    ) -> Vec<(u32, u32)> {
        let (mut cursor, mut found, mut pieces) = (Cursor::new(), vec![(0, 0); room], Vec::new());
        let rule = self.rule.get().and_then(Option::as_ref).zip(instructions);
        loop {
            match self.fill_by(rule, classes, text.as_bytes(), &mut cursor, &mut found) {
                0 => return pieces,
                count => pieces.extend_from_slice(&found[..count]),
            }
        }
    }

    /// Returns an offset at or after `from` at which a match ends, whatever the text before `from` is; None if the rule
    /// finds no such offset.
    pub(super) fn certain_end(&self, classes: &Classes, text: &[u8], from: usize) -> Option<usize> {
        let (rule, instructions) = (self.prepare(classes)?, Instructions::current()?);
        let mut block = Block::default();
        let mut at = (from.max(START)..text.len()).find(|&at| !is_continuation(text[at]))?;
        loop {
            block.read(instructions, rule, classes, text, at);
            let certain = block.words(block.position(at)?).find(|(_, word)| word.ends & !word.unsure != 0);
            if let Some((first, word)) = certain {
                return Some(block.offset(first + (word.ends & !word.unsure).trailing_zeros() as usize));
            }
            at = block.end();
        }
    }

    /// Finds ends by reading up to `max_chars` characters.
    fn find_by_automaton(
        &self,
        classes: &Classes,
        text: &[u8],
        cursor: &mut Cursor,
        writer: &mut FoundPieces,
        max_chars: usize,
    ) {
        let mut ends = [0; ROOM];
        ends[..MAX_LEVELS].copy_from_slice(&cursor.candidates);
        let count = self.read(classes, text, cursor, max_chars, &mut ends);
        cursor.candidates.copy_from_slice(&ends[count..count + MAX_LEVELS]);
        ends[..count].iter().for_each(|&end| writer.end(end & !GAP, end & GAP != 0));
    }

    /// Finds the ends in a long run of characters of one class from the cycle of states of the run; returns false if
    /// the text does not continue with a long run. Once all candidates are from the last cycle, each end is one cycle
    /// after an end of the preceding cycle.
    fn find_by_cycles(&self, classes: &Classes, text: &[u8], cursor: &mut Cursor, writer: &mut FoundPieces) -> bool {
        let Some(start @ &[first @ 0..0x80, ..]) = text.get(cursor.at..).and_then(<[u8]>::first_chunk::<CHUNK>) else {
            return false;
        };
        let class = classes.ascii(first);
        // Ordinary text returns at this check, because the class changes after a few characters.
        if start.iter().any(|&byte| byte >= 0x80 || classes.ascii(byte) != class) {
            return false;
        }
        let Some(cycle) = self.automaton.cycle(cursor.row, class) else { return false };
        // After `MAX_LEVELS` cycles no old candidate is pending, because each cycle with ends uses up at least one
        // candidate.
        self.find_by_automaton(classes, text, cursor, writer, cycle.len * (MAX_LEVELS + 1));
        let room = (writer.pieces.len() - writer.count).checked_div(cycle.ends);
        let remaining_text = &text[cursor.at..];
        let max_bytes = room.map_or(remaining_text.len(), |room| remaining_text.len().min((room + 1) * cycle.len));
        // The automaton reads the last cycle, which writes its candidates.
        let repeats = (classes.run_len(&remaining_text[..max_bytes], class) / cycle.len).saturating_sub(1);
        writer.repeat(cycle.ends, repeats, cycle.len);
        let bytes_skipped = repeats * cycle.len;
        if cycle.ends > 0 {
            cursor.candidates.iter_mut().for_each(|at| *at = at.wrapping_add(bytes_skipped as u32));
        }
        cursor.at += bytes_skipped;
        // The rule would be unsure inside the run.
        cursor.must_read_to = cursor.must_read_to.max(cursor.at + 1);
        true
    }

    /// Reads at most `max_chars` characters; the end of the text counts as a character. Writes the ends, then the
    /// pending candidates, and returns the number of ends.
    #[inline]
    fn read(
        &self,
        classes: &Classes,
        text: &[u8],
        cursor: &mut Cursor,
        max_chars: usize,
        ends: &mut [u32; ROOM],
    ) -> usize {
        let (mut at, mut row, mut count) = (cursor.at, cursor.row, 0);
        for _ in 0..max_chars {
            if at > text.len() {
                break;
            }
            let (class, len) = classes.at(text, at);
            let cell = self.automaton.cells[row + class as usize];
            ends[count + cell.slot()] = at as u32 | cell.gap();
            count += cell.ends();
            row = cell.row();
            // Reading the end of the text counts as one byte.
            at += if at == text.len() { 1 } else { len };
        }
        (cursor.at, cursor.row) = (at, row);
        count
    }
}

/// Finds ends by the rule, up to the first offset at which the rule is unsure. Afterwards the cursor is at the last
/// end, with the automaton in its first state. Returns false if the room for pieces is used up.
fn find_by_rule(
    rule: &Rule,
    instructions: Instructions,
    classes: &Classes,
    text: &[u8],
    cursor: &mut Cursor,
    writer: &mut FoundPieces,
) -> bool {
    let from = cursor.checked_to.max(writer.from as usize);
    if cursor.block.position(from).is_none() {
        cursor.block.read(instructions, rule, classes, text, from);
    }
    let mut had_room = true;
    if let Some(position) = cursor.block.position(from) {
        // The start of the next piece is a known end, which needs no decision.
        let start = position + (from == writer.from as usize) as usize;
        had_room = write_decided(instructions, cursor, start, writer);
    } else {
        // Near the start and the end of the text, a window does not fit into the text.
        cursor.must_read_to = if from < START { START } else { NEVER };
        cursor.checked_to = from;
    }
    cursor.at = writer.from as usize;
    cursor.row = 0;
    had_room
}

/// Writes the pieces of the cursor's block from position `start` on, up to the first unsure position or until the room
/// is used up. Returns false if the room is used up.
fn write_decided(instructions: Instructions, cursor: &mut Cursor, start: usize, writer: &mut FoundPieces) -> bool {
    let block = &cursor.block;
    (cursor.must_read_to, cursor.checked_to) = (0, block.end());
    for (first, Word { ends, unsure }) in block.words(start) {
        let certain = ends & (unsure & unsure.wrapping_neg()).wrapping_sub(1);
        let had_room = writer.ends(instructions, block.offset(first), certain);
        if !had_room || unsure != 0 {
            cursor.checked_to = block.offset(first.max(start));
            cursor.must_read_to = if had_room { block.offset(first + last_position_to_read(unsure)) } else { 0 };
            return had_room;
        }
    }
    true
}

/// Returns the position in a word up to which the automaton must read; `unsure` has a bit for each unsure position.
fn last_position_to_read(unsure: u64) -> usize {
    match unsure.count_ones() {
        count if count <= MAX_UNSURE_ONE_BY_ONE => unsure.trailing_zeros() as usize,
        count if count <= MANY => 63 - unsure.leading_zeros() as usize,
        _ => AFTER_ALL_POSITIONS,
    }
}
