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

/// Merges between two reports.
const REPORT_EVERY: usize = 16;

/// The distance of prefetches, in items.
const AHEAD: usize = 12;

/// Which of equally frequent pairs is merged first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// The one with the lower left symbol, then the lower right one.
    LowerIds,
    /// The one that occurs first in the current words.
    FirstSeen,
}

/// When to stop, and which pairs are not merged.
#[derive(Clone, Copy, Debug)]
pub struct MergeLimits {
    /// The number of all symbols, including the initial ones.
    pub symbols: usize,
    /// Pairs that occur less often are not merged.
    pub min_count: u64,
    /// A pair counts only if it has fewer initial symbols than this, or exactly two.
    pub below_length: usize,
}

/// One merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merge {
    /// The left half.
    pub left: u32,
    /// The right half.
    pub right: u32,
    /// The symbol of the merge. If its text is known, this is the existing symbol.
    pub id: u32,
    /// How often the pair occurred.
    pub count: u64,
    /// The number of symbols before the merge.
    pub symbols: usize,
}

/// Why merging stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The requested number of symbols is reached.
    Reached,
    /// No pair occurs often enough.
    Exhausted,
    /// The memory limit is reached.
    Full,
    /// The best pair has a known text, which this learner does not support.
    Known,
}

/// A pending pair.
#[derive(Clone, Copy, Default)]
struct PendingPair {
    key: u64,
    list: PlaceRange,
}

/// Learns merges. `HAS_FORMS`: occurrences of one symbol may have different lengths.
pub struct Learner<const HAS_FORMS: bool> {
    pub(super) cells: Cells,
    pub(super) weights: Weights,
    forms: Forms<HAS_FORMS>,
    pub(super) counts: PairCounts,
    pub(super) places: PairPlaces,
    candidates: Vec<PendingPair>,
    free: Vec<u32>,
    pending: Vec<(u64, PlaceRange)>,
    queue: PairQueue,
    /// Pairs with places outside of their list; empty unless `HAS_FORMS`.
    irregular: HashSet<u64>,
    left: Side,
    right: Side,
    ties: Ties,
    limits: MergeLimits,
    room: usize,
    stops_at_known: bool,
}

impl<const HAS_FORMS: bool> Learner<HAS_FORMS> {
    /// A learner for words whose symbols have these lengths. The caller counts their pairs next.
    pub fn new(cells: Cells, lengths: Vec<u32>, ties: Ties, limits: MergeLimits) -> Self {
        let symbols = lengths.len();
        let mut learner = Learner {
            cells,
            weights: Weights::default(),
            forms: Forms::new(lengths),
            counts: PairCounts::with_capacity(0),
            places: PairPlaces::default(),
            candidates: Vec::new(),
            free: Vec::new(),
            pending: Vec::new(),
            queue: PairQueue::new(!HAS_FORMS),
            irregular: HashSet::new(),
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

    /// Stops when more than `room` bytes are taken, but not before one merge. With `stops_at_known` it also stops
    /// before a merge whose text is known.
    pub fn stop_at(&mut self, room: usize, stops_at_known: bool) {
        (self.room, self.stops_at_known) = (room, stops_at_known);
    }

    /// The number of symbols.
    pub(super) fn symbols(&self) -> usize {
        self.forms.lengths().len()
    }

    /// Pairs that occur less often are dropped.
    pub(super) fn least(&self) -> u64 {
        // A pair that arises again can become frequent.
        if HAS_FORMS { 0 } else { self.limits.min_count.max(1) }
    }

    /// The current words, and the lengths and cells of their symbols.
    pub fn into_words(self) -> (Cells, Forms<HAS_FORMS>) {
        (self.cells, self.forms)
    }

    fn memory(&self) -> usize {
        let pending = self.candidates.capacity() * (size_of::<PendingPair>() + size_of::<QueuedPair>());
        let sides = self.left.memory() + self.right.memory();
        self.cells.memory() + self.places.memory() + self.counts.memory() + pending + sides
    }

    /// Merges until the limits are reached or no pair is frequent; appends the merges to `learned`.
    pub fn run(&mut self, learned: &mut LearnedMerges, watch: &mut impl MergeWatch) -> Result<StopReason> {
        let (before, first) = (learned.merges.len(), learned.initial());
        let wanted = self.limits.symbols.saturating_sub(first);
        let least = self.limits.min_count.max(1);
        while learned.texts.len() < self.limits.symbols {
            if learned.merges.len().is_multiple_of(REPORT_EVERY) {
                watch.report("merges", (learned.texts.len() - first) as u64, wanted as u64)?;
            }
            if learned.merges.len() > before && self.memory() > self.room {
                return Ok(StopReason::Full);
            }
            let Some(best) = self.pop().filter(|best| best.count >= least) else { return Ok(StopReason::Exhausted) };
            let PendingPair { key, list } = std::mem::take(&mut self.candidates[best.number as usize]);
            let (left, right) = symbols(key);
            let symbol_id = learned.merge((left, right, best.count), self.stops_at_known, wanted, watch)?;
            let Some(id) = symbol_id else { return Ok(StopReason::Known) };
            self.merge(left, right, id, list);
            self.free.push(best.number);
            self.collect();
        }
        Ok(StopReason::Reached)
    }

    /// Removes the best pair from the queue, with its current count.
    fn pop(&mut self) -> Option<QueuedPair> {
        let Learner { queue, candidates, counts, cells, places, forms, ties, free, .. } = self;
        queue.pop(|entry| {
            let candidate = &mut candidates[entry.number as usize];
            let count = counts.get(candidate.key).max(0);
            // With forms, a pair can arise again.
            if count == 0 && !HAS_FORMS {
                places.free(candidate.list.len);
                free.push(entry.number);
                *candidate = PendingPair::default();
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
        self.forms.start(left, right, id);
        self.left.make_room(id as usize + 1);
        self.right.make_room(id as usize + 1);
        if self.irregular.contains(&key(left, right)) {
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
        self.push_pending();
    }

    /// Merges a pair in every word that has a place in the list. tokenizers does so too, wherever the other places come
    /// from.
    fn merge_words(&mut self, left: u32, right: u32, id: u32, list: PlaceRange) {
        let mut after = 0;
        for index in list.range() {
            let place = self.places.get(index);
            if place.at < after {
                continue;
            }
            let mut at = self.cells.word_start(place.at);
            while let Some(Neighbour { id: form, .. }) = self.cells.after(at) {
                self.merge_at(left, right, id, place.moved(at));
                at += self.forms.cells()[self.cells.after(at).map_or(form, |now| now.id) as usize];
            }
            after = at;
        }
    }

    #[inline]
    fn merge_at(&mut self, left: u32, right: u32, id: u32, place: PairPosition) {
        let Some((second, after)) = self.forms.pair_at(&self.cells, left, right, place.at) else { return };
        let weight = self.weights.of(place);
        let form = self.forms.merged(self.cells.at(place.at), self.cells.at(second), id);
        if let Some(Neighbour { id: other, at }) = self.cells.before(place.at, self.forms.cells()) {
            let symbol = self.forms.symbol(other);
            self.left.lose(symbol, weight);
            if self.counts_together(other, form) {
                self.left.gain(symbol, weight, place.moved(at));
            } else if HAS_FORMS {
                self.irregular.insert(key(symbol, id));
            }
        }
        if let Some(Neighbour { id: other, .. }) = self.cells.after(after) {
            let symbol = self.forms.symbol(other);
            self.right.lose(symbol, weight);
            if self.counts_together(other, form) {
                self.right.gain(symbol, weight, place);
            } else if HAS_FORMS {
                self.irregular.insert(key(id, symbol));
            }
        }
        self.cells.merge(place.at, second, after, form);
    }

    #[inline]
    fn counts_together(&self, one: u32, other: u32) -> bool {
        let lengths = self.forms.lengths();
        (lengths[one as usize] as usize + lengths[other as usize] as usize) < self.limits.below_length
    }
}

impl<const HAS_FORMS: bool> Learner<HAS_FORMS> {
    /// Updates the counts of pairs with the symbols before a merged pair.
    fn settle_left(&mut self, gone: u32, symbol_id: u32) {
        let mut side = std::mem::take(&mut self.left);
        self.settle(&mut side, symbol_id, |symbol| (key(symbol, gone), key(symbol, symbol_id)));
        self.left = side;
    }

    /// Updates the counts of pairs with the symbols after a merged pair.
    fn settle_right(&mut self, gone: u32, symbol_id: u32) {
        let mut side = std::mem::take(&mut self.right);
        self.settle(&mut side, symbol_id, |symbol| (key(gone, symbol), key(symbol_id, symbol)));
        self.right = side;
    }

    fn settle(&mut self, side: &mut Side, symbol_id: u32, keys: impl Fn(u32) -> (u64, u64)) {
        let Learner { counts, places, limits, pending, irregular, .. } = self;
        // A pair that is too rare now is never merged, unless it arises again.
        let least = limits.min_count.max(1);
        for index in 0..side.touched().len() {
            if let Some(&symbol) = side.touched().get(index + AHEAD) {
                let (old, new) = keys(symbol);
                counts.prefetch(old);
                counts.prefetch(new);
            }
            let symbol = side.touched()[index];
            let (old, new) = keys(symbol);
            let (lost, gained, len) = side.take(symbol);
            // Pairs of the new symbol with itself can lose before they gain.
            let is_kept = HAS_FORMS || symbol == symbol_id;
            if is_kept {
                _ = counts.add(old, -lost)
            } else {
                counts.lose(old, lost)
            }
            if HAS_FORMS && len > 0 && counts.contains(new) {
                irregular.insert(new);
            }
            let is_frequent = |count| HAS_FORMS || u64::try_from(count).is_ok_and(|count| count >= least);
            let is_counted = len > 0 && (is_kept || is_frequent(gained));
            let is_listed = is_counted && is_frequent(counts.add(new, gained));
            let list = is_listed.then(|| places.reserve(len));
            pending.extend(list.map(|list| (new, list)));
            side.send(symbol, list);
        }
        side.settle(places);
    }

    /// Queues the new pairs.
    fn push_pending(&mut self) {
        let mut pending = std::mem::take(&mut self.pending);
        if HAS_FORMS {
            pending = self.united(pending);
        }
        for (key, list) in pending.drain(..) {
            match u64::try_from(self.counts.get(key)) {
                Ok(count @ 1..) => self.push(key, count, list),
                _ => {
                    self.places.free(list.len);
                    if HAS_FORMS {
                        self.irregular.insert(key);
                    }
                }
            }
        }
        self.pending = pending;
    }

    /// Joins the lists of each pair, which can arise on both sides of a merge.
    fn united(&mut self, mut pending: Vec<(u64, PlaceRange)>) -> Vec<(u64, PlaceRange)> {
        pending.sort_unstable_by_key(|&(key, list)| (key, list.start));
        let mut united: Vec<(u64, PlaceRange)> = Vec::with_capacity(pending.len());
        for (key, list) in pending {
            match united.last_mut().filter(|last| last.0 == key) {
                Some(last) => last.1 = self.places.join(last.1, list),
                None => united.push((key, list)),
            }
        }
        united
    }

    /// Queues a pair.
    pub(super) fn push(&mut self, key: u64, count: u64, list: PlaceRange) {
        let tie = match self.ties {
            Ties::LowerIds => key,
            Ties::FirstSeen => u64::from(self.places.get(list.start).at),
        };
        let candidate = PendingPair { key, list };
        let number = match self.free.pop() {
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

    /// Compacts the places when most of them are unused.
    fn collect(&mut self) {
        if self.places.is_wasteful() {
            self.places.collect(self.candidates.iter_mut().map(|candidate| &mut candidate.list));
        }
    }
}

/// The first place where a pair still stands; earlier places are dropped from its list.
fn first_place<const HAS_FORMS: bool>(
    candidate: &mut PendingPair,
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
