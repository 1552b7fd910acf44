//! A text cut by an [`Automaton`], with the help of a [`Rule`].
//!
//! The automaton reads one cell for each character, writes the place behind the candidates that wait, and counts as many ends as
//! the cell commits. There is no branch on what was found, so nothing is mispredicted, and no character is read twice.
//!
//! The rule tells most ends of an ASCII text in bulk (`blocks`). Where it asks, the automaton begins anew at the last end
//! and reads on until an end at or behind that place is certain and hardly anything was read beyond it (`NEAR`), so
//! that the rule can go on from there. Hence every character is read a bounded number of times by both, and the
//! whole is linear, whatever the text.
//!
//! Deriving the rule takes milliseconds, so it is done when enough was read.

use super::automaton::{Automaton, GAP, MAX_LEVELS};
use super::blocks;
use super::classes::Classes;
use super::cursor::Cursor;
use super::rule::Rule;
use crate::lazy::Lazy;
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
/// With more questions in a word than these the rule is of no use here.
const MANY: u32 = 16;
/// And this is how far the automaton reads instead.
const FAR: usize = 512;

/// An automaton and its rule.
pub(super) struct Stream {
    automaton: Automaton,
    rule: Lazy<Option<Rule>>,
    /// Bytes read so far, until there is a rule.
    read: AtomicUsize,
}

/// Pieces that were found, and where the last one ends.
struct Found<'p> {
    pieces: &'p mut [(u32, u32)],
    count: usize,
    from: u32,
}

impl Found<'_> {
    #[inline]
    fn end(&mut self, end: u32, is_gap: bool) {
        self.pieces[self.count] = (self.from, end);
        self.count += !is_gap as usize;
        self.from = end;
    }

    /// Ends at the places from `first` on that have a bit.
    #[inline]
    fn ends(&mut self, first: usize, mut bits: u64) {
        while bits != 0 {
            self.end(first as u32 + bits.trailing_zeros(), false);
            bits &= bits - 1;
        }
    }

    fn has_room(&self) -> bool {
        self.count + ROOM <= self.pieces.len()
    }
}

impl Stream {
    pub(super) fn new(automaton: Automaton) -> Stream {
        Stream { automaton, rule: Lazy::default(), read: AtomicUsize::new(0) }
    }

    /// Writes the next matches to `pieces` and says how many; 0 when there are no more.
    pub(super) fn fill(&self, classes: &Classes, text: &[u8], cursor: &mut Cursor, pieces: &mut [(u32, u32)]) -> usize {
        assert!(pieces.len() >= ROOM, "room for {ROOM} pieces is needed");
        let rule = self.rule(classes, text, cursor);
        let mut found = Found { pieces, count: 0, from: cursor.from };
        while found.has_room() && cursor.at <= text.len() {
            match rule {
                Some(rule) if cursor.ask <= found.from as usize && cursor.at <= found.from as usize + NEAR => {
                    by_rule(rule, text, cursor, &mut found);
                }
                _ => self.by_automaton(
                    classes,
                    text,
                    cursor,
                    &mut found,
                    if rule.is_some() { SHORT_CHUNK } else { CHUNK },
                ),
            }
        }
        cursor.from = found.from;
        found.count
    }

    /// The rule, when it pays.
    fn rule(&self, classes: &Classes, text: &[u8], cursor: &Cursor) -> Option<&Rule> {
        if let Some(rule) = self.rule.peek() {
            return rule.as_ref();
        }
        let new = if cursor.at == 0 { text.len() } else { 0 };
        if self.read.fetch_add(new, Ordering::Relaxed) < PATIENCE || !blocks::is_supported() {
            return None;
        }
        self.prepare(classes)
    }

    /// The rule, derived if it was not.
    pub(super) fn prepare(&self, classes: &Classes) -> Option<&Rule> {
        self.rule.get(|| Rule::derive(&self.automaton, classes)).as_ref()
    }

    /// Reads some characters.
    fn by_automaton(&self, classes: &Classes, text: &[u8], cursor: &mut Cursor, found: &mut Found, most: usize) {
        let mut ends = [0; ROOM];
        ends[..MAX_LEVELS].copy_from_slice(&cursor.waiting);
        let count = self.read(classes, text, cursor, most, &mut ends);
        cursor.waiting.copy_from_slice(&ends[count..count + MAX_LEVELS]);
        ends[..count].iter().for_each(|&end| found.end(end & !GAP, end & GAP != 0));
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
fn by_rule(rule: &Rule, text: &[u8], cursor: &mut Cursor, found: &mut Found) {
    let from = cursor.sure.max(found.from as usize);
    let (words, count) = blocks::block(rule, text, from);
    cursor.sure = from;
    // Nothing can be told so near to the start or the end of the text.
    cursor.ask = if count == 0 { if from < super::rule::BEFORE { super::rule::BEFORE } else { usize::MAX } } else { 0 };
    for word in &words[..count] {
        if !found.has_room() {
            break;
        }
        let first = cursor.sure;
        // The place where a piece begins is no question.
        let open = if first == found.from as usize { !1 } else { !0 };
        let (yes, ask) = (word.yes & open, word.ask & open);
        let told = (ask & ask.wrapping_neg()).wrapping_sub(1);
        found.ends(first, yes & told);
        if ask != 0 {
            cursor.ask = first + asked(ask);
            break;
        }
        cursor.sure += 64;
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
