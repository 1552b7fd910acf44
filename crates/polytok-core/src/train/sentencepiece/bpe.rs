//! SentencePiece's BPE: the most frequent pair of neighbours becomes a symbol, and a piece, again and again.
//!
//! Reference: `bpe::Trainer` of 0.2.3, an exact greedy search. A pair is two symbols; of equally frequent pairs the one of fewer
//! characters goes first, then the lower text. Overlapping pairs count each. A pair whose text is a piece already is
//! dropped: it stays unmerged where it stands. A pair that came to be, if only for a moment between two merges of one symbol
//! (in `abab`, when the second `ab` is not merged yet, `ab a`), is a candidate for good, even when nothing is left of it: at
//! the very end, such pairs are pieces.
//!
//! The cells are those of [`crate::train::bpe`]; lists, counts and queue are not. There a pair without occurrences is forgotten, ties go
//! by ids or places, and changes are added up for each neighbour; here it stays a candidate, ties go by texts, and counts change in
//! the order of the occurrences, which decides what was there for a moment.
//!
//! Invariant: all pairs beside a new symbol come to be while it is merged, so the count of a pair only falls once that is
//! over, and the queue may be lazy. Cost: a few lookups for each merged occurrence; each distinct pair is judged
//! once. Worst input: one long unit without equal pairs.

pub mod coverage;
mod limited;
mod pairs;
mod places;
mod queue;
mod symbols;

use std::borrow::BorrowMut;
use std::collections::HashSet;

use super::ScoredPiece;
use super::alphabet::Alphabet;
use super::validity::Validity;
use crate::error::{Error, Result};
use crate::train::bpe::StopReason;
use crate::train::bpe::cells::Cells;
use crate::train::counter::{Order, WordCounter};
use crate::train::progress::Progress;
use limited::{Seen, learn};
use pairs::{SymbolPairs, before};
use queue::{PairEntry, Queue};
use symbols::NumberedSymbols;

/// Merges between two reports.
const EACH: usize = 64;

/// What merging makes, and the alphabet behind it: at most that many pieces, scores falling by one from 0. Within `room`, in bytes,
/// where the units were counted within a limit.
pub fn pieces(
    units: impl BorrowMut<WordCounter>,
    alphabet: &Alphabet,
    validity: &Validity,
    most: usize,
    room: Option<usize>,
    progress: &mut dyn Progress,
) -> Result<Vec<ScoredPiece>> {
    let merges = merges(units, alphabet, validity, most.saturating_sub(alphabet.chars.len()), room, progress)?;
    let chars = alphabet.chars.iter().map(|(c, _)| c.to_string());
    Ok(ranked(merges.into_iter().map(|(text, _)| text).chain(chars)))
}

/// Pieces in order, with scores that fall by one from 0.
fn ranked(texts: impl Iterator<Item = String>) -> Vec<ScoredPiece> {
    texts.enumerate().map(|(place, text)| (text.into_bytes(), -(place as f32))).collect()
}

/// The texts that merging makes, in order, and how often each pair occurred when it was merged.
fn merges(
    mut units: impl BorrowMut<WordCounter>,
    alphabet: &Alphabet,
    validity: &Validity,
    most: usize,
    room: Option<usize>,
    progress: &mut dyn Progress,
) -> Result<Vec<(String, u64)>> {
    let mut trainer = Trainer::new(alphabet, validity, most, progress);
    if let Some((room, spill)) = room.zip(units.borrow().limit().map(|limit| limit.spill.clone())) {
        return learn(units, alphabet, trainer, room, &*spill);
    }
    let (mut cells, mut counts) = (Cells::default(), Vec::new());
    each_stretch(units.borrow_mut(), alphabet, trainer.progress, |symbols, count| {
        counts.push(count);
        cells.push(symbols.iter().copied())
    })?;
    drop(units);
    trainer.count(cells, counts, |_, _| true);
    trainer.run(0, usize::MAX)?;
    Ok(trainer.found)
}

/// Calls `each` with the symbols and the count of every stretch of the alphabet's characters that has several of them.
fn each_stretch(
    units: &mut WordCounter,
    alphabet: &Alphabet,
    progress: &mut dyn Progress,
    mut each: impl FnMut(&[u32], u64) -> Result<()>,
) -> Result<()> {
    let (mut stretch, mut total) = (Vec::new(), 0u64);
    units.each(Order::Bytes, progress, &mut |unit, count| {
        let text = String::from_utf8_lossy(unit);
        for c in text.chars().map(Some).chain([None]) {
            if let Some(place) = c.and_then(|c| alphabet.place(c)) {
                stretch.push(place as u32);
                continue;
            }
            if stretch.len() > 1 {
                // No pair occurs more often than there are symbols.
                let symbols = count.checked_mul(stretch.len() as u64);
                total = symbols.and_then(|symbols| total.checked_add(symbols)).ok_or_else(too_many)?;
                each(&stretch, count)?;
            }
            stretch.clear();
        }
        Ok(())
    })
}

struct Trainer<'v> {
    validity: &'v Validity,
    progress: &'v mut dyn Progress,
    /// How many merges are wanted.
    most: usize,
    symbols: NumberedSymbols,
    cells: Cells,
    /// The unit that each cell is of.
    unit_of: Vec<u32>,
    /// How often each unit occurs.
    counts: Vec<u64>,
    pairs: SymbolPairs,
    queue: Queue,
    /// Texts that are pieces.
    taken: HashSet<String>,
    /// The pieces in order, with their counts.
    found: Vec<(String, u64)>,
    /// The pairs that came to be, where those without occurrences are forgotten.
    seen: Option<Seen>,
}

impl<'v> Trainer<'v> {
    fn new(alphabet: &Alphabet, validity: &'v Validity, most: usize, progress: &'v mut dyn Progress) -> Trainer<'v> {
        Trainer {
            validity,
            progress,
            most,
            symbols: NumberedSymbols::new(alphabet.chars.iter().map(|&(c, _)| c)),
            cells: Cells::default(),
            unit_of: Vec::new(),
            counts: Vec::new(),
            pairs: SymbolPairs::default(),
            queue: Queue::default(),
            taken: HashSet::new(),
            found: Vec::new(),
            seen: None,
        }
    }

    /// Takes units, and counts those of their pairs that are wanted.
    fn count(&mut self, cells: Cells, counts: Vec<u64>, is_wanted: impl Fn(u32, u32) -> bool) {
        let (pairs, symbols, validity) = (&mut self.pairs, &self.symbols, self.validity);
        cells.pairs(|left, right, at, unit| {
            if is_wanted(left, right)
                && let Some(pair) = pairs.of(left, right, symbols, validity)
            {
                pairs.add(pair, at, counts[unit]);
            }
        });
        self.unit_of = cells.words();
        (self.cells, self.counts) = (cells, counts);
        self.enqueue(0);
    }

    /// Pairs from this number on are new.
    fn enqueue(&mut self, first: u32) {
        let (pairs, symbols) = (&self.pairs, &self.symbols);
        for pair in first..pairs.len() as u32 {
            let entry = PairEntry { count: pairs.count(pair), pair };
            self.queue.push(entry, &|one, other| before(one, other, pairs, symbols));
        }
    }

    /// Bytes taken.
    fn memory(&self) -> usize {
        self.cells.memory() + 4 * self.unit_of.len() + 8 * self.counts.len() + self.pairs.memory() + self.queue.memory()
    }

    /// Merges the pairs that occur so often or more, and at least one before so many bytes are too few.
    fn run(&mut self, least: u64, room: usize) -> Result<StopReason> {
        let before = self.found.len();
        while self.found.len() < self.most {
            if self.found.len() > before && self.memory() > room {
                return Ok(StopReason::Full);
            }
            let Some(pair) = self.next().filter(|&pair| self.pairs.count(pair) >= least) else {
                return Ok(StopReason::Exhausted);
            };
            let (left, right) = self.pairs.symbols(pair);
            let text = [self.symbols.text(left), self.symbols.text(right)].concat();
            if !self.taken.insert(text.clone()) {
                self.pairs.drop(pair);
                continue;
            }
            let cells = self.symbols.cells();
            let id = self.symbols.push(&text, cells[left as usize] + cells[right as usize])?;
            self.found.push((text, self.pairs.count(pair)));
            self.merge(pair, id);
            if self.found.len().is_multiple_of(EACH) {
                self.progress.report("merging", self.found.len() as u64, self.most as u64)?;
            }
        }
        Ok(StopReason::Reached)
    }

    /// The best pair; it leaves the queue.
    fn next(&mut self) -> Option<u32> {
        let (pairs, symbols) = (&self.pairs, &self.symbols);
        let order = |one: &PairEntry, other: &PairEntry| before(one, other, pairs, symbols);
        self.queue.pop(&order, |pair| pairs.count(pair)).map(|entry| entry.pair)
    }

    /// Makes one symbol of a pair wherever it stands.
    fn merge(&mut self, pair: u32, id: u32) {
        let first_new = self.pairs.len() as u32;
        let mut taken = self.pairs.take_places(pair);
        while let Some(places) = self.pairs.next_places(&mut taken) {
            places.for_each(|at| self.merge_at(at, pair, id));
        }
        self.enqueue(first_new);
    }

    /// Makes one symbol of a pair where it stood once, if it stands there.
    fn merge_at(&mut self, at: u32, pair: u32, id: u32) {
        let ((left, right), cells) = (self.pairs.symbols(pair), self.symbols.cells());
        let (behind_left, end) = (at + cells[left as usize], at + cells[id as usize]);
        if self.cells.at(at) != left || self.cells.at(behind_left) != right {
            return;
        }
        let count = self.counts[self.unit_of[at as usize] as usize];
        let before = self.cells.before(at, cells);
        let after = self.cells.after(end);
        if let Some(before) = before {
            self.lose(before.id, left, pair, count);
        }
        if let Some(after) = after {
            self.lose(right, after.id, pair, count);
        }
        self.cells.merge(at, behind_left, end, id);
        if let Some(before) = before {
            self.gain(before.id, id, before.at, count);
        }
        if let Some(after) = after {
            self.gain(id, after.id, at, count);
        }
    }

    /// A pair beside the merged one is no more.
    fn lose(&mut self, left: u32, right: u32, merged: u32, count: u64) {
        if let Some(pair) = self.pairs.known(left, right).filter(|&pair| pair != merged) {
            self.pairs.lose(pair, count);
        }
    }

    fn gain(&mut self, left: u32, right: u32, at: u32, count: u64) {
        let known = self.pairs.len();
        let Some(pair) = self.pairs.of(left, right, &self.symbols, self.validity) else { return };
        self.pairs.add(pair, at, count);
        if let Some(seen) = self.seen.as_mut().filter(|_| self.pairs.len() > known) {
            seen.add(self.symbols.text(left), self.symbols.text(right));
        }
    }
}

fn too_many() -> Error {
    Error::Argument("the counts of pairs can exceed 64 bits; scale the counts down, or give less text".into())
}

#[cfg(test)]
mod tests;
