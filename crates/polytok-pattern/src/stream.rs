//! A text cut by an [`Automaton`], with the help of a [`Rule`].
//!
//! The automaton reads one cell for each character, writes the place behind the candidates that wait, and counts as many ends as
//! the cell commits. There is no branch on what was found, so nothing is mispredicted, and no character is read twice.
//! Long runs of one class lead it through a short cycle, of which all but the first and the last are not read (`by_cycles`).
//!
//! The rule tells most ends of an ASCII text in bulk (`blocks`). Where it asks, the automaton begins anew at the last end
//! and reads on until an end at or behind that place is certain and hardly anything was read beyond it (`NEAR`), so
//! that the rule can go on from there. Hence every character is read a bounded number of times by both, and the
//! whole is linear, whatever the text.
//!
//! Deriving the rule takes milliseconds, so it is done when enough was read.

use super::automaton::{Automaton, GAP, MAX_LEVELS};
use super::blocks::{self, Block, Word};
use super::classes::Classes;
use super::cursor::Cursor;
use super::rule::{BEFORE, Rule};
use super::utf8::is_continuation;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Characters that the automaton reads between two looks at the room that is left.
const CHUNK: usize = 64;
/// The same when the rule waits for its next end.
const SHORT_CHUNK: usize = 8;
/// Ends that a chunk or a word can make, with those that waited before, and the candidates behind them.
const ROOM: usize = CHUNK + 2 * MAX_LEVELS;
/// Characters that may be read again when the rule goes on.
const NEAR: usize = 8;
/// Bytes that are read without a rule.
const PATIENCE: usize = 1 << 17;
/// More questions in a word than these are answered together.
const FEW: u32 = 3;
/// With more questions in a word than these the rule is of no use for the whole block.
const MANY: u32 = 16;
/// Behind the last place of a block.
const FAR: usize = usize::MAX / 2;
/// No place: the rule has nothing more to tell.
const NEVER: usize = usize::MAX;
/// Before this offset there may be too few characters to tell an end.
const START: usize = 4 * BEFORE;

/// An automaton and its rule.
pub(super) struct Stream {
    automaton: Automaton,
    rule: OnceLock<Option<Rule>>,
    /// Bytes read so far, until there is a rule.
    read: AtomicUsize,
}

/// Pieces that were found, and where the last one ends.
struct FoundPieces<'p> {
    pieces: &'p mut [(u32, u32)],
    count: usize,
    from: u32,
}

impl FoundPieces<'_> {
    #[inline]
    fn end(&mut self, end: u32, is_gap: bool) {
        self.pieces[self.count] = (self.from, end);
        self.count += !is_gap as usize;
        self.from = end;
    }

    /// Ends at the places from `first` on that have a bit.
    #[inline]
    fn ends(&mut self, block: &Block, first: usize, mut bits: u64) {
        while bits != 0 {
            self.end(block.offset(first + bits.trailing_zeros() as usize) as u32, false);
            bits &= bits - 1;
        }
    }

    /// The last `count` ends so many times again, each time `step` further; there is room.
    fn repeat(&mut self, count: usize, times: usize, step: usize) {
        if count == 0 {
            return;
        }
        let (ends, room) = self.pieces.split_at_mut(self.count);
        let last = &ends[ends.len() - count..];
        let mut moved = 0;
        for pieces in room.chunks_exact_mut(count).take(times) {
            moved += step as u32;
            for (piece, (start, end)) in pieces.iter_mut().zip(last) {
                *piece = (start + moved, end + moved);
            }
        }
        self.count += count * times;
        self.from += moved;
    }

    #[inline]
    fn has_room_for(&self, more: u32) -> bool {
        self.count + more as usize <= self.pieces.len()
    }
}

impl Stream {
    pub(super) fn new(automaton: Automaton) -> Stream {
        Stream { automaton, rule: OnceLock::new(), read: AtomicUsize::new(0) }
    }

    /// Writes the next matches to `pieces` and says how many; 0 when there are no more.
    pub(super) fn fill(&self, classes: &Classes, text: &[u8], cursor: &mut Cursor, pieces: &mut [(u32, u32)]) -> usize {
        assert!(pieces.len() >= ROOM, "room for {ROOM} pieces is needed");
        let rule = self.rule(classes, text, cursor);
        let mut block = Block::new();
        let mut found = FoundPieces { pieces, count: 0, from: cursor.from };
        while found.has_room_for(ROOM as u32) && cursor.at <= text.len() {
            match rule {
                Some(rule) if cursor.ask <= found.from as usize && cursor.at <= found.from as usize + NEAR => {
                    by_rule(rule, classes, text, &mut block, cursor, &mut found);
                }
                _ if self.by_cycles(classes, text, cursor, &mut found) => {}
                _ => {
                    let is_near = cursor.ask < cursor.at + CHUNK && cursor.at < found.from as usize + CHUNK;
                    let most = if rule.is_some() && is_near { SHORT_CHUNK } else { CHUNK };
                    self.by_automaton(classes, text, cursor, &mut found, most);
                }
            }
        }
        cursor.from = found.from;
        found.count
    }

    /// The rule, when it pays.
    fn rule(&self, classes: &Classes, text: &[u8], cursor: &Cursor) -> Option<&Rule> {
        if let Some(rule) = self.rule.get() {
            return rule.as_ref();
        }
        let new = if cursor.at == 0 { text.len() } else { 0 };
        if self.read.fetch_add(new, Ordering::Relaxed) < PATIENCE || !blocks::is_supported() {
            return None;
        }
        self.prepare(classes)
    }

    /// Matches cover every text.
    pub(super) fn leaves_no_gap(&self) -> bool {
        self.automaton.leaves_no_gap
    }

    /// The rule, derived if it was not.
    pub(super) fn prepare(&self, classes: &Classes) -> Option<&Rule> {
        if self.rule.get().is_none() {
            // Derived outside of the lock, so that a fork hardly ever happens within it; two threads may derive it twice.
            let rule = Rule::derive(&self.automaton, classes);
            return self.rule.get_or_init(|| rule).as_ref();
        }
        self.rule.get()?.as_ref()
    }

    /// A place behind `from`, the border of a character, that the rule tells.
    pub(super) fn certain(&self, classes: &Classes, text: &[u8], from: usize) -> Option<usize> {
        let rule = self.prepare(classes)?;
        let mut block = Block::new();
        // The first window begins with the first characters.
        let mut at = (from.max(START)..text.len()).find(|&at| !is_continuation(text[at]))?;
        loop {
            block.read(rule, classes, text, at);
            if block.places() == 0 {
                return None;
            }
            let told = block.words(0).find(|(_, word)| word.yes & !word.ask != 0);
            if let Some((first, word)) = told {
                return Some(block.offset(first + (word.yes & !word.ask).trailing_zeros() as usize));
            }
            at = block.offset(block.places());
        }
    }

    /// Reads some characters.
    fn by_automaton(&self, classes: &Classes, text: &[u8], cursor: &mut Cursor, found: &mut FoundPieces, most: usize) {
        let mut ends = [0; ROOM];
        ends[..MAX_LEVELS].copy_from_slice(&cursor.waiting);
        let count = self.read(classes, text, cursor, most, &mut ends);
        cursor.waiting.copy_from_slice(&ends[count..count + MAX_LEVELS]);
        ends[..count].iter().for_each(|&end| found.end(end & !GAP, end & GAP != 0));
    }

    /// Goes through a long run of characters of one class by the cycle that they lead the automaton through, if they do. Once a
    /// candidate can be no older than the cycle, each end stands a cycle behind the one of the cycle before.
    fn by_cycles(&self, classes: &Classes, text: &[u8], cursor: &mut Cursor, found: &mut FoundPieces) -> bool {
        let Some(start @ &[first @ 0..0x80, ..]) = text.get(cursor.at..).and_then(<[u8]>::first_chunk::<CHUNK>) else {
            return false;
        };
        let class = classes.ascii(first);
        // Ordinary text is soon of another class.
        if start.iter().any(|&byte| byte >= 0x80 || classes.ascii(byte) != class) {
            return false;
        }
        let Some(cycle) = self.automaton.cycle(cursor.row, class) else { return false };
        // A candidate that was not noted anew is an end by now, since each cycle with ends takes one at least.
        self.by_automaton(classes, text, cursor, found, cycle.len * (MAX_LEVELS + 1));
        let room = (found.pieces.len() - found.count).checked_div(cycle.ends);
        let rest = &text[cursor.at..];
        let most = room.map_or(rest.len(), |room| rest.len().min((room + 1) * cycle.len));
        // The last cycle is read, so that what it notes need not be told.
        let repeats = (classes.run(&rest[..most], class) / cycle.len).saturating_sub(1);
        found.repeat(cycle.ends, repeats, cycle.len);
        let passed = repeats * cycle.len;
        if cycle.ends > 0 {
            cursor.waiting.iter_mut().for_each(|at| *at = at.wrapping_add(passed as u32));
        }
        cursor.at += passed;
        // The rule would ask within the run.
        cursor.ask = cursor.ask.max(cursor.at + 1);
        true
    }

    /// Reads at most `most` characters, or the end of the text; the number of ends found. Candidates stand behind them.
    #[inline]
    fn read(&self, classes: &Classes, text: &[u8], cursor: &mut Cursor, most: usize, ends: &mut [u32; ROOM]) -> usize {
        let (mut at, mut row, mut count) = (cursor.at, cursor.row, 0);
        for _ in 0..most {
            if at > text.len() {
                break;
            }
            let (class, len) = classes.at(text, at);
            let cell = self.automaton.cells[row + class as usize];
            ends[count + cell.store()] = at as u32 | cell.gap();
            count += cell.commit();
            row = cell.row();
            // The end of the text is behind the last character.
            at += if at == text.len() { 1 } else { len };
        }
        (cursor.at, cursor.row) = (at, row);
        count
    }
}

/// Finds ends by the rule, up to the first place at which it asks. The cursor then stands at the last end, with the automaton
/// at its beginning.
fn by_rule(
    rule: &Rule,
    classes: &Classes,
    text: &[u8],
    block: &mut Block,
    cursor: &mut Cursor,
    found: &mut FoundPieces,
) {
    let from = cursor.sure.max(found.from as usize);
    let start = block.place(from).unwrap_or_else(|| {
        block.read(rule, classes, text, from);
        0
    });
    // Nothing can be told so near to the start or the end of the text.
    cursor.ask = match block.places() {
        0 if from < START => START,
        0 => NEVER,
        _ => 0,
    };
    cursor.sure = if block.places() == 0 { from } else { block.offset(block.places()) };
    // The place where a piece begins is no question.
    let start = start + (from == found.from as usize) as usize;
    for (first, word) in block.words(start) {
        let Word { yes, ask } = word;
        let told = yes & (ask & ask.wrapping_neg()).wrapping_sub(1);
        let room = found.has_room_for(told.count_ones());
        if room {
            found.ends(block, first, told);
        }
        if !room || ask != 0 {
            cursor.sure = block.offset(first.max(start));
            cursor.ask = if room { block.offset((first + asked(ask)).min(block.places())) } else { 0 };
            break;
        }
    }
    cursor.at = found.from as usize;
    cursor.row = 0;
}

/// Up to which place of a word in which the rule asks the automaton is to read.
fn asked(ask: u64) -> usize {
    match ask.count_ones() {
        count if count <= FEW => ask.trailing_zeros() as usize,
        count if count <= MANY => 63 - ask.leading_zeros() as usize,
        _ => FAR,
    }
}
