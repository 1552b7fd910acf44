//! The loop that learns merges; the parent module describes what it computes and what it costs.

use std::collections::HashSet;

use super::around::Side;
use super::cells::{Cells, Neighbour};
use super::forms::Forms;
use super::pairs::{PairCounts, key, symbols};
use super::places::{PairPlaces, PairPosition, PlaceRange, Weights};
use super::queue::{PairQueue, QueuedPair};
use super::{LearnedMerges, MergeWatch};
use crate::error::Result;

/// The number of merges between two progress reports.
const REPORT_EVERY: usize = 16;

/// The number of items between the current item and the prefetched item.
const AHEAD: usize = 12;

/// The order of equally frequent pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// The pair with the lower left symbol is merged first; then the pair with the lower right symbol.
    LowerIds,
    /// The pair that occurs first in the current words is merged first.
    FirstSeen,
}

/// The limits of learning: when it stops, and which pairs are not merged.
#[derive(Clone, Copy, Debug)]
pub struct MergeLimits {
    /// The number of all symbols, including the initial symbols.
    pub symbols: usize,
    /// The minimum count of a merged pair.
    pub min_count: u64,
    /// The limit of a pair's length: a pair counts only if the pair has fewer initial symbols than this limit, or
    /// exactly two initial symbols.
    pub length_limit: usize,
}

/// One merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merge {
    /// The left half.
    pub left: u32,
    /// The right half.
    pub right: u32,
    /// The symbol of the merge. If a symbol with the same text exists, the merge uses that symbol.
    pub id: u32,
    /// The count of the pair.
    pub count: u64,
    /// The number of symbols before the merge.
    pub symbols: usize,
}

/// The reason why merging stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The vocabulary has the requested number of symbols.
    Reached,
    /// No pair occurs often enough.
    Exhausted,
    /// The memory limit is reached.
    Full,
    /// The best pair has the text of an existing symbol, which this learner does not support.
    Known,
}

/// A pair in the queue, with its places.
#[derive(Clone, Copy, Default)]
struct QueueCandidate {
    key: u64,
    list: PlaceRange,
}

/// Learns merges. With `HAS_FORMS`, occurrences of one symbol can have different lengths.
pub struct Learner<const HAS_FORMS: bool> {
    pub(super) cells: Cells,
    pub(super) weights: Weights,
    forms: Forms<HAS_FORMS>,
    pub(super) counts: PairCounts,
    pub(super) places: PairPlaces,
    candidates: Vec<QueueCandidate>,
    free_numbers: Vec<u32>,
    new_pairs: Vec<(u64, PlaceRange)>,
    queue: PairQueue,
    /// The pairs that have places outside of their place lists; empty unless `HAS_FORMS`.
    irregular_pairs: HashSet<u64>,
    left: Side,
    right: Side,
    ties: Ties,
    limits: MergeLimits,
    room: usize,
    stops_at_known: bool,
}

impl<const HAS_FORMS: bool> Learner<HAS_FORMS> {
    /// Creates a learner for words whose symbols have the given lengths. The caller must then count the pairs of the
    /// words.
    pub fn new(cells: Cells, lengths: Vec<u32>, ties: Ties, limits: MergeLimits) -> Self {
        let symbols = lengths.len();
        let mut learner = Learner {
            cells,
            weights: Weights::default(),
            forms: Forms::new(lengths),
            counts: PairCounts::with_capacity(0),
            places: PairPlaces::default(),
            candidates: Vec::new(),
            free_numbers: Vec::new(),
            new_pairs: Vec::new(),
            queue: PairQueue::new(!HAS_FORMS),
            irregular_pairs: HashSet::new(),
            left: Side::default(),
            right: Side::default(),
            ties,
            limits,
            room: usize::MAX,
            stops_at_known: false,
        };
        learner.left.make_room(symbols);
        learner.right.make_room(symbols);
        learner
    }

    /// Sets when learning stops: after the first merge, if learning takes more than `room` bytes; and, with
    /// `stops_at_known`, before a merge whose text equals the text of an existing symbol.
    pub fn stop_at(&mut self, room: usize, stops_at_known: bool) {
        (self.room, self.stops_at_known) = (room, stops_at_known);
    }

    /// Returns the number of symbols.
    pub(super) fn symbols(&self) -> usize {
        self.forms.lengths().len()
    }

    /// Returns the count below which pairs are dropped.
    pub(super) fn min_count(&self) -> u64 {
        // A pair that arises again can become frequent.
        if HAS_FORMS { 0 } else { self.limits.min_count.max(1) }
    }

    /// Returns the current words, and the lengths and cell counts of the symbols.
    pub fn into_words(self) -> (Cells, Forms<HAS_FORMS>) {
        (self.cells, self.forms)
    }

    fn memory(&self) -> usize {
        let pending = self.candidates.capacity() * (size_of::<QueueCandidate>() + size_of::<QueuedPair>());
        let sides = self.left.memory() + self.right.memory();
        self.cells.memory() + self.places.memory() + self.counts.memory() + pending + sides
    }

    /// Merges until a limit is reached or no pair is frequent. Appends the merges to `learned`.
    pub fn run(&mut self, learned: &mut LearnedMerges, watch: &mut impl MergeWatch) -> Result<StopReason> {
        let (merges_before, initial_count) = (learned.merges.len(), learned.initial_symbols());
        let requested = self.limits.symbols.saturating_sub(initial_count);
        let min_count = self.limits.min_count.max(1);
        while learned.texts.len() < self.limits.symbols {
            if learned.merges.len().is_multiple_of(REPORT_EVERY) {
                watch.report("merges", (learned.texts.len() - initial_count) as u64, requested as u64)?;
            }
            if learned.merges.len() > merges_before && self.memory() > self.room {
                return Ok(StopReason::Full);
            }
            let Some(best) = self.pop().filter(|best| best.count >= min_count) else {
                return Ok(StopReason::Exhausted);
            };
            let QueueCandidate { key, list } = std::mem::take(&mut self.candidates[best.number as usize]);
            let (left, right) = symbols(key);
            let symbol_id = learned.merge((left, right, best.count), self.stops_at_known, requested, watch)?;
            let Some(id) = symbol_id else { return Ok(StopReason::Known) };
            self.merge(left, right, id, list);
            self.free_numbers.push(best.number);
            self.compact_places();
        }
        Ok(StopReason::Reached)
    }

    /// Removes the best pair from the queue and returns the pair with its current count.
    fn pop(&mut self) -> Option<QueuedPair> {
        let Learner { queue, candidates, counts, cells, places, forms, ties, free_numbers, .. } = self;
        queue.pop(|entry| {
            let candidate = &mut candidates[entry.number as usize];
            let count = counts.get(candidate.key).max(0);
            // If symbols have forms, a pair can arise again.
            if count == 0 && !HAS_FORMS {
                places.free(candidate.list.len);
                free_numbers.push(entry.number);
                *candidate = QueueCandidate::default();
                return None;
            }
            let tie = match ties {
                Ties::LowerIds => entry.tie,
                Ties::FirstSeen => first_place(candidate, cells, places, forms),
            };
            Some(QueuedPair { count: count as u64, tie, number: entry.number })
        })
    }

    /// Merges a pair at all its places.
    fn merge(&mut self, left: u32, right: u32, id: u32, list: PlaceRange) {
        self.forms.prepare_merge(left, right, id);
        self.left.make_room(id as usize + 1);
        self.right.make_room(id as usize + 1);
        if self.irregular_pairs.contains(&key(left, right)) {
            self.merge_words(left, right, id, list);
        } else {
            for index in list.range() {
                self.cells.prefetch(self.places.ahead(index + AHEAD));
                self.merge_at(left, right, id, self.places.get(index));
            }
        }
        self.places.free(list.len);
        self.settle_left(left, id);
        self.settle_right(right, id);
        self.queue_new_pairs();
    }

    /// Merges a pair in every word that contains a place of the list, also at positions that are not in the list. The
    /// package `tokenizers` does the same.
    fn merge_words(&mut self, left: u32, right: u32, id: u32, list: PlaceRange) {
        let mut word_end = 0;
        for index in list.range() {
            let place = self.places.get(index);
            if place.at < word_end {
                continue;
            }
            let mut at = self.cells.word_start(place.at);
            while let Some(Neighbour { id: form, .. }) = self.cells.after(at) {
                self.merge_at(left, right, id, place.at_position(at));
                at += self.forms.cells()[self.cells.after(at).map_or(form, |merged| merged.id) as usize];
            }
            word_end = at;
        }
    }

    #[inline]
    fn merge_at(&mut self, left: u32, right: u32, id: u32, place: PairPosition) {
        let Some((second, after)) = self.forms.pair_at(&self.cells, left, right, place.at) else { return };
        let weight = self.weights.of(place);
        let form = self.forms.merge(self.cells.at(place.at), self.cells.at(second), id);
        if let Some(Neighbour { id: other, at }) = self.cells.before(place.at, self.forms.cells()) {
            let symbol = self.forms.symbol(other);
            self.left.lose(symbol, weight);
            if self.is_short_enough(other, form) {
                self.left.gain(symbol, weight, place.at_position(at));
            } else if HAS_FORMS {
                self.irregular_pairs.insert(key(symbol, id));
            }
        }
        if let Some(Neighbour { id: other, .. }) = self.cells.after(after) {
            let symbol = self.forms.symbol(other);
            self.right.lose(symbol, weight);
            if self.is_short_enough(other, form) {
                self.right.gain(symbol, weight, place);
            } else if HAS_FORMS {
                self.irregular_pairs.insert(key(id, symbol));
            }
        }
        self.cells.merge(place.at, second, after, form);
    }

    #[inline]
    fn is_short_enough(&self, one: u32, other: u32) -> bool {
        let lengths = self.forms.lengths();
        (lengths[one as usize] as usize + lengths[other as usize] as usize) < self.limits.length_limit
    }
}

impl<const HAS_FORMS: bool> Learner<HAS_FORMS> {
    /// Updates the counts of pairs of the symbols before a merged pair.
    fn settle_left(&mut self, old_id: u32, new_id: u32) {
        let mut side = std::mem::take(&mut self.left);
        self.settle(&mut side, new_id, |symbol| (key(symbol, old_id), key(symbol, new_id)));
        self.left = side;
    }

    /// Updates the counts of pairs of the symbols after a merged pair.
    fn settle_right(&mut self, old_id: u32, new_id: u32) {
        let mut side = std::mem::take(&mut self.right);
        self.settle(&mut side, new_id, |symbol| (key(old_id, symbol), key(new_id, symbol)));
        self.right = side;
    }

    fn settle(&mut self, side: &mut Side, new_id: u32, keys: impl Fn(u32) -> (u64, u64)) {
        let Learner { counts, places, limits, new_pairs, irregular_pairs, .. } = self;
        // A pair that is too rare now is never merged, unless the pair arises again.
        let min_count = limits.min_count.max(1);
        for index in 0..side.changed_symbols().len() {
            if let Some(&symbol) = side.changed_symbols().get(index + AHEAD) {
                let (old, new) = keys(symbol);
                counts.prefetch(old);
                counts.prefetch(new);
            }
            let symbol = side.changed_symbols()[index];
            let (old, new) = keys(symbol);
            let (lost, gained, len) = side.take(symbol);
            // The pair of the new symbol with itself can lose occurrences before the pair gains occurrences.
            let is_kept = HAS_FORMS || symbol == new_id;
            if is_kept {
                _ = counts.add(old, -lost)
            } else {
                counts.lose(old, lost)
            }
            if HAS_FORMS && len > 0 && counts.contains(new) {
                irregular_pairs.insert(new);
            }
            let is_frequent = |count| HAS_FORMS || u64::try_from(count).is_ok_and(|count| count >= min_count);
            let is_counted = len > 0 && (is_kept || is_frequent(gained));
            let is_listed = is_counted && is_frequent(counts.add(new, gained));
            let list = is_listed.then(|| places.reserve(len));
            new_pairs.extend(list.map(|list| (new, list)));
            side.set_list(symbol, list);
        }
        side.write_places(places);
    }

    /// Queues the new pairs.
    fn queue_new_pairs(&mut self) {
        let mut new_pairs = std::mem::take(&mut self.new_pairs);
        if HAS_FORMS {
            new_pairs = self.join_lists(new_pairs);
        }
        for (key, list) in new_pairs.drain(..) {
            match u64::try_from(self.counts.get(key)) {
                Ok(count @ 1..) => self.push(key, count, list),
                _ => {
                    self.places.free(list.len);
                    if HAS_FORMS {
                        self.irregular_pairs.insert(key);
                    }
                }
            }
        }
        self.new_pairs = new_pairs;
    }

    /// Joins the lists of each pair. A pair can have several lists, because a pair can arise on both sides of a merge.
    fn join_lists(&mut self, mut new_pairs: Vec<(u64, PlaceRange)>) -> Vec<(u64, PlaceRange)> {
        new_pairs.sort_unstable_by_key(|&(key, list)| (key, list.start));
        let mut joined_pairs: Vec<(u64, PlaceRange)> = Vec::with_capacity(new_pairs.len());
        for (key, list) in new_pairs {
            match joined_pairs.last_mut().filter(|last| last.0 == key) {
                Some(last) => last.1 = self.places.join(last.1, list),
                None => joined_pairs.push((key, list)),
            }
        }
        joined_pairs
    }

    /// Queues a pair.
    pub(super) fn push(&mut self, key: u64, count: u64, list: PlaceRange) {
        let tie = match self.ties {
            Ties::LowerIds => key,
            Ties::FirstSeen => u64::from(self.places.get(list.start).at),
        };
        let candidate = QueueCandidate { key, list };
        let number = match self.free_numbers.pop() {
            Some(number) => {
                self.candidates[number as usize] = candidate;
                number
            }
            None => {
                self.candidates.push(candidate);
                self.candidates.len() as u32 - 1
            }
        };
        self.queue.push(QueuedPair { count, tie, number });
    }

    /// Compacts the vector of places if most places are unused.
    fn compact_places(&mut self) {
        if self.places.is_wasteful() {
            self.places.collect(self.candidates.iter_mut().map(|candidate| &mut candidate.list));
        }
    }
}

/// Returns the first position where a pair still occurs, and drops the earlier places from the pair's list.
fn first_place<const HAS_FORMS: bool>(
    candidate: &mut QueueCandidate,
    cells: &Cells,
    places: &mut PairPlaces,
    forms: &Forms<HAS_FORMS>,
) -> u64 {
    let (left, right) = symbols(candidate.key);
    let list = &mut candidate.list;
    while list.len > 0 && forms.pair_at(cells, left, right, places.get(list.start).at).is_none() {
        *list = PlaceRange { start: list.start + 1, len: list.len - 1 };
        places.free(1);
    }
    if list.len > 0 { u64::from(places.get(list.start).at) } else { u64::MAX }
}
