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
mod pairs;
mod queue;
mod symbols;

use std::collections::HashSet;

use super::Scored;
use super::alphabet::Alphabet;
use super::validity::Validity;
use crate::error::{Error, Result};
use crate::train::bpe::cells::Cells;
use crate::train::progress::Progress;
use crate::train::words::Words;
use pairs::{Pairs, before};
use queue::{Entry, Queue};
use symbols::Symbols;

/// Merges between two reports.
const EACH: usize = 64;

/// What merging makes, and the alphabet behind it: at most that many pieces, scores falling by one from 0.
pub fn pieces(
    units: &Words,
    alphabet: &Alphabet,
    validity: &Validity,
    most: usize,
    progress: &mut dyn Progress,
) -> Result<Vec<Scored>> {
    let merges = merges(units, alphabet, validity, most.saturating_sub(alphabet.chars.len()), progress)?;
    let chars = alphabet.chars.iter().map(|(c, _)| c.to_string());
    Ok(ranked(merges.into_iter().map(|(text, _)| text).chain(chars)))
}

/// Pieces in order, with scores that fall by one from 0.
fn ranked(texts: impl Iterator<Item = String>) -> Vec<Scored> {
    texts.enumerate().map(|(place, text)| (text.into_bytes(), -(place as f32))).collect()
}

/// The texts that merging makes, in order, and how often each pair occurred when it was merged.
fn merges(
    units: &Words,
    alphabet: &Alphabet,
    validity: &Validity,
    most: usize,
    progress: &mut dyn Progress,
) -> Result<Vec<(String, u64)>> {
    let mut trainer = Trainer::new(units, alphabet, validity, progress)?;
    trainer.run(most, progress)?;
    Ok(trainer.found)
}

struct Trainer<'v> {
    validity: &'v Validity,
    symbols: Symbols,
    cells: Cells,
    /// The unit that each cell is of.
    unit_of: Vec<u32>,
    /// How often each unit occurs.
    counts: Vec<u64>,
    /// Symbols in all; no pair occurs more often.
    total: u64,
    pairs: Pairs,
    queue: Queue,
    /// Texts that are pieces.
    taken: HashSet<String>,
    /// The pieces in order, with their counts.
    found: Vec<(String, u64)>,
}

impl<'v> Trainer<'v> {
    fn new(
        units: &Words,
        alphabet: &Alphabet,
        validity: &'v Validity,
        progress: &mut dyn Progress,
    ) -> Result<Trainer<'v>> {
        let mut trainer = Trainer {
            validity,
            symbols: Symbols::new(alphabet.chars.iter().map(|&(c, _)| c)),
            cells: Cells::default(),
            unit_of: vec![0],
            counts: Vec::new(),
            total: 0,
            pairs: Pairs::default(),
            queue: Queue::default(),
            taken: HashSet::new(),
            found: Vec::new(),
        };
        trainer.load(units, alphabet)?;
        trainer.count(progress)?;
        Ok(trainer)
    }

    /// Stretches of the alphabet's characters become sequences of symbols.
    fn load(&mut self, units: &Words, alphabet: &Alphabet) -> Result<()> {
        let mut stretch = Vec::new();
        for (unit, count) in units.iter() {
            let text = String::from_utf8_lossy(unit);
            for c in text.chars().map(Some).chain([None]) {
                match c.and_then(|c| alphabet.place(c)) {
                    Some(place) => stretch.push(place as u32),
                    None if stretch.len() > 1 => self.push(&mut stretch, count)?,
                    None => stretch.clear(),
                }
            }
        }
        Ok(())
    }

    fn push(&mut self, stretch: &mut Vec<u32>, count: u64) -> Result<()> {
        let number = u32::try_from(self.counts.len()).map_err(|_| too_many())?;
        let symbols = count.checked_mul(stretch.len() as u64);
        self.total = symbols.and_then(|symbols| self.total.checked_add(symbols)).ok_or_else(too_many)?;
        self.cells.push(stretch.drain(..))?;
        self.unit_of.resize(self.cells.len(), number);
        self.counts.push(count);
        Ok(())
    }

    /// Counts the pairs that are there at the start.
    fn count(&mut self, progress: &mut dyn Progress) -> Result<()> {
        let (pairs, symbols, validity) = (&mut self.pairs, &self.symbols, self.validity);
        let longest = self.cells.len() as u64;
        progress.report("counting pairs", 0, longest)?;
        let counts = &self.counts;
        self.cells.pairs(|left, right, at, unit| {
            if let Some(pair) = pairs.of(left, right, symbols, validity) {
                pairs.add(pair, at, counts[unit]);
            }
        });
        self.enqueue(0);
        Ok(())
    }

    /// Pairs from this number on are new.
    fn enqueue(&mut self, first: u32) {
        let (pairs, symbols) = (&self.pairs, &self.symbols);
        for pair in first..pairs.len() as u32 {
            let entry = Entry { count: pairs.count(pair), pair };
            self.queue.push(entry, &|one, other| before(one, other, pairs, symbols));
        }
    }

    fn run(&mut self, merges: usize, progress: &mut dyn Progress) -> Result<()> {
        while self.found.len() < merges {
            let Some(pair) = self.next() else { break };
            let (left, right) = self.pairs.symbols(pair);
            let text = [self.symbols.text(left), self.symbols.text(right)].concat();
            if !self.taken.insert(text.clone()) {
                self.pairs.take_places(pair);
                continue;
            }
            let id = self.symbols.push(&text)?;
            self.found.push((text, self.pairs.count(pair)));
            self.merge(pair, id);
            if self.found.len().is_multiple_of(EACH) {
                progress.report("merging", self.found.len() as u64, merges as u64)?;
            }
        }
        progress.report("merging", merges as u64, merges as u64)
    }

    /// The best pair; it leaves the queue.
    fn next(&mut self) -> Option<u32> {
        let (pairs, symbols) = (&self.pairs, &self.symbols);
        let order = |one: &Entry, other: &Entry| before(one, other, pairs, symbols);
        self.queue.pop(&order, |pair| pairs.count(pair)).map(|entry| entry.pair)
    }

    /// Makes one symbol of a pair wherever it stands.
    fn merge(&mut self, pair: u32, id: u32) {
        let (left, right) = self.pairs.symbols(pair);
        let first_new = self.pairs.len() as u32;
        for at in self.pairs.take_places(pair) {
            let (behind_left, end) = (at + self.symbols.cells(left), at + self.symbols.cells(id));
            if self.cells.at(at) != left || self.cells.at(behind_left) != right {
                continue;
            }
            let unit = self.unit_of[at as usize];
            let count = self.counts[unit as usize];
            let before = self.cells.before(at, self.symbols.lengths());
            let behind = self.cells.behind(end);
            if let Some(before) = before {
                self.lose(before.id, left, pair, count);
            }
            if let Some(behind) = behind {
                self.lose(right, behind.id, pair, count);
            }
            self.cells.merge(at, behind_left, end, id);
            if let Some(before) = before {
                self.gain(before.id, id, before.at, count);
            }
            if let Some(behind) = behind {
                self.gain(id, behind.id, at, count);
            }
        }
        self.enqueue(first_new);
    }

    /// A pair beside the merged one is no more.
    fn lose(&mut self, left: u32, right: u32, merged: u32, count: u64) {
        if let Some(pair) = self.pairs.known(left, right).filter(|&pair| pair != merged) {
            self.pairs.lose(pair, count);
        }
    }

    fn gain(&mut self, left: u32, right: u32, at: u32, count: u64) {
        if let Some(pair) = self.pairs.of(left, right, &self.symbols, self.validity) {
            self.pairs.add(pair, at, count);
        }
    }
}

fn too_many() -> Error {
    Error::Argument("the text is too large for one vocabulary: its pairs could occur more than 2^64 times".into())
}

#[cfg(test)]
mod tests;
