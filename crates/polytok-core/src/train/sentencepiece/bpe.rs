//! SentencePiece's BPE trainer: merges the most frequent pair of adjacent symbols into a new symbol, which is a piece,
//! and repeats.
//!
//! Reference: `bpe::Trainer` of 0.2.3, an exact greedy search. Of two equally frequent pairs, the pair with fewer
//! characters is merged first. If both have the same number of characters, the pair whose text sorts first is merged
//! first. Every occurrence of a pair is counted, even if occurrences overlap. A pair whose text is already a piece is
//! dropped and never merged. A pair stays a candidate after its last occurrence disappears. This also applies to a pair
//! that exists only during a merge: while `ab` is merged in `abab`, the pair `ab a` exists until the second `ab` is
//! merged. If no pair occurs any more, pairs without occurrences are added as pieces.
//!
//! Words are stored as in [`crate::train::bpe`], but positions, counts and the queue are different. The trainer in that
//! module forgets pairs without occurrences, decides between equally frequent pairs by ids or positions, and adds up
//! the changes of counts for each neighbour. This trainer keeps pairs without occurrences, decides by text, and changes
//! counts in the order of the occurrences, because this order decides which pairs exist for a short time.
//!
//! Invariant: all pairs with a new symbol are created during the merge that creates the symbol. Afterwards their counts
//! can only fall, so the queue can update counts late. Cost: a few lookups for each merged occurrence, and one validity
//! check for each distinct pair. Worst input: one long unit without repeated pairs.

pub mod coverage;
mod limited;
mod pairs;
mod positions;
mod queue;
mod symbols;

use std::borrow::BorrowMut;
use std::collections::HashSet;

use limited::{SeenPairTexts, learn};
use pairs::{SymbolPairs, before};
use polytok_memory::{self as memory, Collect, Grow, GrowSet};
use queue::{PairEntry, SymbolPairQueue};
use symbols::NumberedSymbols;

use super::ScoredPiece;
use super::alphabet::Alphabet;
use super::validity::Validity;
use crate::error::{Error, Result};
use crate::train::bpe::StopReason;
use crate::train::bpe::cells::Cells;
use crate::train::counter::{Order, WordCounter};
use crate::train::progress::Progress;

/// The number of merges between two progress reports.
const MERGES_PER_REPORT: usize = 64;

/// Returns at most `max_pieces` pieces: the merged texts, then the characters of the alphabet. Their scores are 0, -1,
/// -2 … Training uses at most `usable_memory` bytes if the units were counted within a memory limit.
pub fn pieces(
    units: impl BorrowMut<WordCounter>,
    alphabet: &Alphabet,
    validity: &Validity,
    max_pieces: usize,
    usable_memory: Option<usize>,
    progress: &mut dyn Progress,
) -> Result<Vec<ScoredPiece>> {
    memory::catch(|| {
        let merges = merges(
            units,
            alphabet,
            validity,
            max_pieces.saturating_sub(alphabet.chars.len()),
            usable_memory,
            progress,
        )?;
        let chars = alphabet.chars.iter().map(|(c, _)| c.to_string());
        Ok(with_falling_scores(merges.into_iter().map(|(text, _)| text).chain(chars)))
    })
}

/// Converts texts to pieces with the scores 0, -1, -2 …
fn with_falling_scores(texts: impl Iterator<Item = String>) -> Vec<ScoredPiece> {
    texts.enumerate().map(|(index, text)| (text.into_bytes(), -(index as f32))).checked_collect()
}

/// Returns the merged texts in merge order, each with the count of its pair at the time of the merge.
fn merges(
    mut units: impl BorrowMut<WordCounter>,
    alphabet: &Alphabet,
    validity: &Validity,
    max_merges: usize,
    usable_memory: Option<usize>,
    progress: &mut dyn Progress,
) -> Result<Vec<(String, u64)>> {
    let mut trainer = PieceMerger::new(alphabet, validity, max_merges, progress);
    if let Some((usable_memory, spill)) = usable_memory.zip(units.borrow().limit().map(|limit| limit.spill.clone())) {
        return learn(units, alphabet, trainer, usable_memory, &*spill);
    }
    let (mut cells, mut counts) = (Cells::default(), Vec::new());
    for_each_segment(units.borrow_mut(), alphabet, trainer.progress, |symbols, count| {
        counts.checked_push(count);
        cells.push(symbols.iter().copied())
    })?;
    drop(units);
    trainer.count(cells, counts, |_, _| true);
    trainer.run(0, usize::MAX)?;
    Ok(trainer.merged)
}

/// Calls `each` with the symbols and the count of every segment. A segment is a run of two or more characters of the
/// alphabet inside a unit, as long as possible.
fn for_each_segment(
    units: &mut WordCounter,
    alphabet: &Alphabet,
    progress: &mut dyn Progress,
    mut each: impl FnMut(&[u32], u64) -> Result<()>,
) -> Result<()> {
    let (mut segment, mut total) = (Vec::new(), 0u64);
    units.each(Order::Bytes, progress, &mut |unit, count| {
        let text = memory::lossy(unit);
        for c in text.chars().map(Some).chain([None]) {
            if let Some(symbol) = c.and_then(|c| alphabet.index_of(c)) {
                segment.checked_push(symbol as u32);
                continue;
            }
            if segment.len() > 1 {
                // The count of a pair is at most the number of symbols, so this sum bounds every count.
                let symbols = count.checked_mul(segment.len() as u64);
                total = symbols.and_then(|symbols| total.checked_add(symbols)).ok_or_else(count_overflow)?;
                each(&segment, count)?;
            }
            segment.clear();
        }
        Ok(())
    })
}

struct PieceMerger<'v> {
    validity: &'v Validity,
    progress: &'v mut dyn Progress,
    /// The maximum number of merges.
    max_merges: usize,
    symbols: NumberedSymbols,
    cells: Cells,
    /// The index of the unit of each cell.
    unit_of_cell: Vec<u32>,
    /// The number of occurrences of each unit.
    counts: Vec<u64>,
    pairs: SymbolPairs,
    queue: SymbolPairQueue,
    /// The texts that are already pieces.
    known_texts: HashSet<String>,
    /// The merged texts in merge order, with the counts of their pairs.
    merged: Vec<(String, u64)>,
    /// The texts of created pairs, which are kept only if training within a memory limit forgets pairs without
    /// occurrences.
    seen_pair_texts: Option<SeenPairTexts>,
}

impl<'v> PieceMerger<'v> {
    fn new(
        alphabet: &Alphabet,
        validity: &'v Validity,
        max_merges: usize,
        progress: &'v mut dyn Progress,
    ) -> PieceMerger<'v> {
        PieceMerger {
            validity,
            progress,
            max_merges,
            symbols: NumberedSymbols::new(alphabet.chars.iter().map(|&(c, _)| c)),
            cells: Cells::default(),
            unit_of_cell: Vec::new(),
            counts: Vec::new(),
            pairs: SymbolPairs::default(),
            queue: SymbolPairQueue::default(),
            known_texts: HashSet::new(),
            merged: Vec::new(),
            seen_pair_texts: None,
        }
    }

    /// Loads units and counts the pairs for which `is_wanted` is true.
    fn count(&mut self, cells: Cells, counts: Vec<u64>, is_wanted: impl Fn(u32, u32) -> bool) {
        let (pairs, symbols, validity) = (&mut self.pairs, &self.symbols, self.validity);
        cells.for_each_pair(|left, right, at, unit| {
            if is_wanted(left, right)
                && let Some(pair) = pairs.find_or_add(left, right, symbols, validity)
            {
                pairs.add(pair, at, counts[unit]);
            }
        });
        self.unit_of_cell = cells.words();
        (self.cells, self.counts) = (cells, counts);
        self.enqueue(0);
    }

    /// Queues all pairs whose number is at least `first`.
    fn enqueue(&mut self, first: u32) {
        let (pairs, symbols) = (&self.pairs, &self.symbols);
        for pair in first..pairs.len() as u32 {
            let entry = PairEntry { count: pairs.count(pair), pair };
            self.queue.push(entry, &|one, other| before(one, other, pairs, symbols));
        }
    }

    /// Returns the number of bytes of the trainer's tables.
    fn memory(&self) -> usize {
        self.cells.memory()
            + 4 * self.unit_of_cell.len()
            + 8 * self.counts.len()
            + self.pairs.memory()
            + self.queue.memory()
    }

    /// Merges pairs that occur at least `min_count` times. Stops when the tables exceed `usable_memory` bytes, but
    /// never before the first merge.
    fn run(&mut self, min_count: u64, usable_memory: usize) -> Result<StopReason> {
        let merges_before = self.merged.len();
        while self.merged.len() < self.max_merges {
            if self.merged.len() > merges_before && self.memory() > usable_memory {
                return Ok(StopReason::MemoryFull);
            }
            let Some(pair) = self.pop_best().filter(|&pair| self.pairs.count(pair) >= min_count) else {
                return Ok(StopReason::NoFrequentPair);
            };
            let (left, right) = self.pairs.symbols(pair);
            let text = [self.symbols.text(left), self.symbols.text(right)].concat();
            if !self.known_texts.checked_insert(text.clone()) {
                self.pairs.mark_invalid(pair);
                continue;
            }
            let cells = self.symbols.cells();
            let id = self.symbols.push(&text, cells[left as usize] + cells[right as usize])?;
            self.merged.checked_push((text, self.pairs.count(pair)));
            self.merge(pair, id);
            if self.merged.len().is_multiple_of(MERGES_PER_REPORT) {
                self.progress.report("merging", self.merged.len() as u64, self.max_merges as u64)?;
            }
        }
        Ok(StopReason::SizeReached)
    }

    /// Removes the best pair from the queue and returns its number.
    fn pop_best(&mut self) -> Option<u32> {
        let (pairs, symbols) = (&self.pairs, &self.symbols);
        let order = |one: &PairEntry, other: &PairEntry| before(one, other, pairs, symbols);
        self.queue.pop(&order, |pair| pairs.count(pair)).map(|entry| entry.pair)
    }

    /// Merges a pair at all its positions into the symbol `id`.
    fn merge(&mut self, pair: u32, id: u32) {
        let first_new_pair = self.pairs.len() as u32;
        let mut positions = self.pairs.take_positions(pair);
        while let Some(block) = self.pairs.next_positions(&mut positions) {
            block.for_each(|at| self.merge_at(at, pair, id));
        }
        self.enqueue(first_new_pair);
    }

    /// Merges a pair at a position into the symbol `id`, if the pair is still at that position.
    fn merge_at(&mut self, at: u32, pair: u32, id: u32) {
        let ((left, right), cells) = (self.pairs.symbols(pair), self.symbols.cells());
        let (right_at, end) = (at + cells[left as usize], at + cells[id as usize]);
        if self.cells.at(at) != left || self.cells.at(right_at) != right {
            return;
        }
        let count = self.counts[self.unit_of_cell[at as usize] as usize];
        let before = self.cells.before(at, cells);
        let after = self.cells.after(end);
        if let Some(before) = before {
            self.lose(before.id, left, pair, count);
        }
        if let Some(after) = after {
            self.lose(right, after.id, pair, count);
        }
        self.cells.merge(at, right_at, end, id);
        if let Some(before) = before {
            self.gain(before.id, id, before.at, count);
        }
        if let Some(after) = after {
            self.gain(id, after.id, at, count);
        }
    }

    /// Subtracts `count` occurrences of a pair that disappear because a symbol of the pair is merged with its other
    /// neighbour.
    fn lose(&mut self, left: u32, right: u32, merged: u32, count: u64) {
        if let Some(pair) = self.pairs.find(left, right).filter(|&pair| pair != merged) {
            self.pairs.lose(pair, count);
        }
    }

    /// Counts `count` occurrences of a pair that a merge creates at the position `at`.
    fn gain(&mut self, left: u32, right: u32, at: u32, count: u64) {
        let pairs_before = self.pairs.len();
        let Some(pair) = self.pairs.find_or_add(left, right, &self.symbols, self.validity) else { return };
        self.pairs.add(pair, at, count);
        if let Some(seen) = self.seen_pair_texts.as_mut().filter(|_| self.pairs.len() > pairs_before) {
            seen.add(self.symbols.text(left), self.symbols.text(right));
        }
    }
}

fn count_overflow() -> Error {
    Error::Argument("the counts of pairs can exceed 64 bits; scale the counts down, or pass less text".into())
}

#[cfg(test)]
mod tests;
