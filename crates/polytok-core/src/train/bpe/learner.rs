//! The loop that learns merges. The parent module describes the algorithm and its cost.

use std::collections::HashSet;

use polytok_memory::{self as memory, Grow, GrowSet};

use super::cells::{Cells, Neighbour};
use super::forms::SymbolForms;
use super::pairs::{PairCounts, key, symbols};
use super::places::{PairPlaces, PairPosition, PlaceRange, WordWeights};
use super::queue::{PairQueue, QueuedPair};
use super::side_changes::SideChanges;
use super::{LearnedMerges, MergeObserver};
use crate::error::Result;

/// The number of merges between two progress reports.
const MERGES_PER_REPORT: usize = 16;

/// The number of items by which a prefetch precedes the use of an item.
const PREFETCH_DISTANCE: usize = 12;

/// The rule that selects one of several equally frequent pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TieRule {
    /// The pair whose left symbol has the lower id is merged first; if the left symbols are equal, the right symbols
    /// decide.
    LowerIds,
    /// The pair that occurs first in the current words is merged first.
    FirstSeen,
}

/// The limits at which learning stops, and the limit of merged pairs.
#[derive(Clone, Copy, Debug)]
pub struct MergeLimits {
    /// The number of all symbols, including the initial symbols.
    pub symbols: usize,
    /// The minimum count of a merged pair.
    pub min_count: u64,
    /// The limit of the length of a pair. A pair is merged only if its length in initial symbols is below this limit,
    /// or if it is two.
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

/// The reason for the end of merging.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The vocabulary has the requested number of symbols.
    SizeReached,
    /// No pair occurs often enough.
    NoFrequentPair,
    /// The memory limit is reached.
    MemoryFull,
    /// The best pair has the text of an existing symbol, which this learner does not support.
    KnownText,
}

/// A queued pair and the list of its places.
#[derive(Clone, Copy, Default)]
struct QueueCandidate {
    key: u64,
    list: PlaceRange,
}

/// Learns merges from words in memory. With `HAS_FORMS`, occurrences of one symbol can have different lengths.
pub struct Learner<const HAS_FORMS: bool> {
    pub(super) cells: Cells,
    pub(super) weights: WordWeights,
    forms: SymbolForms<HAS_FORMS>,
    pub(super) counts: PairCounts,
    pub(super) places: PairPlaces,
    candidates: Vec<QueueCandidate>,
    free_numbers: Vec<u32>,
    new_pairs: Vec<(u64, PlaceRange)>,
    queue: PairQueue,
    /// The pairs whose lists lack some of their places; empty unless `HAS_FORMS`.
    incompletely_listed_pairs: HashSet<u64>,
    left_side: SideChanges,
    right_side: SideChanges,
    ties: TieRule,
    limits: MergeLimits,
    usable_memory: usize,
    stops_at_known_text: bool,
}

impl<const HAS_FORMS: bool> Learner<HAS_FORMS> {
    /// Creates a learner for words whose symbols have the given lengths. The caller must count the pairs of the words
    /// before merging.
    pub fn new(cells: Cells, lengths: Vec<u32>, ties: TieRule, limits: MergeLimits) -> Self {
        let symbols = lengths.len();
        let mut learner = Learner {
            cells,
            weights: WordWeights::default(),
            forms: SymbolForms::new(lengths),
            counts: PairCounts::with_capacity(0),
            places: PairPlaces::default(),
            candidates: Vec::new(),
            free_numbers: Vec::new(),
            new_pairs: Vec::new(),
            queue: PairQueue::new(!HAS_FORMS),
            incompletely_listed_pairs: HashSet::new(),
            left_side: SideChanges::default(),
            right_side: SideChanges::default(),
            ties,
            limits,
            usable_memory: usize::MAX,
            stops_at_known_text: false,
        };
        learner.left_side.extend_tables(symbols);
        learner.right_side.extend_tables(symbols);
        learner
    }

    /// Sets two further limits. Learning stops after a merge if it takes more than `usable_memory` bytes. With
    /// `stops_at_known_text`, it also stops before a merge whose text equals the text of an existing symbol.
    pub fn set_stop_conditions(&mut self, usable_memory: usize, stops_at_known_text: bool) {
        (self.usable_memory, self.stops_at_known_text) = (usable_memory, stops_at_known_text);
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

    /// Returns the words after the last merge, and the lengths and cell counts of the symbols.
    pub fn into_words(self) -> (Cells, SymbolForms<HAS_FORMS>) {
        (self.cells, self.forms)
    }

    fn memory(&self) -> usize {
        let candidate_bytes = self.candidates.capacity() * (size_of::<QueueCandidate>() + size_of::<QueuedPair>());
        let side_bytes = self.left_side.memory() + self.right_side.memory();
        self.cells.memory() + self.places.memory() + self.counts.memory() + candidate_bytes + side_bytes
    }

    /// Merges until a limit is reached or no pair is frequent. Appends the merges to `learned`.
    pub fn run(&mut self, learned: &mut LearnedMerges, watch: &mut impl MergeObserver) -> Result<StopReason> {
        let (merges_before, initial_count) = (learned.merges.len(), learned.initial_symbols());
        let requested_merges = self.limits.symbols.saturating_sub(initial_count);
        let min_count = self.limits.min_count.max(1);
        while learned.texts.len() < self.limits.symbols {
            if learned.merges.len().is_multiple_of(MERGES_PER_REPORT) {
                watch.report("merges", (learned.texts.len() - initial_count) as u64, requested_merges as u64)?;
            }
            if learned.merges.len() > merges_before && self.memory() > self.usable_memory {
                return Ok(StopReason::MemoryFull);
            }
            let Some(best) = self.pop().filter(|best| best.count >= min_count) else {
                return Ok(StopReason::NoFrequentPair);
            };
            let QueueCandidate { key, list } = std::mem::take(&mut self.candidates[best.number as usize]);
            let (left, right) = symbols(key);
            let symbol_id =
                learned.merge((left, right, best.count), self.stops_at_known_text, requested_merges, watch)?;
            let Some(id) = symbol_id else { return Ok(StopReason::KnownText) };
            self.merge(left, right, id, list);
            self.free_numbers.checked_push(best.number);
            self.compact_places();
        }
        Ok(StopReason::SizeReached)
    }

    /// Removes the best pair from the queue and returns it with its current count.
    fn pop(&mut self) -> Option<QueuedPair> {
        let Learner { queue, candidates, counts, cells, places, forms, ties, free_numbers, .. } = self;
        queue.pop(|entry| {
            let candidate = &mut candidates[entry.number as usize];
            let count = counts.get(candidate.key).max(0);
            // If symbols have forms, a pair can arise again.
            if count == 0 && !HAS_FORMS {
                places.mark_unused(candidate.list.len);
                free_numbers.checked_push(entry.number);
                *candidate = QueueCandidate::default();
                return None;
            }
            let tie_breaker = match ties {
                TieRule::LowerIds => entry.tie_breaker,
                TieRule::FirstSeen => first_place(candidate, cells, places, forms),
            };
            Some(QueuedPair { count: count as u64, tie_breaker, number: entry.number })
        })
    }

    /// Merges a pair at all its places.
    fn merge(&mut self, left: u32, right: u32, id: u32, list: PlaceRange) {
        self.forms.prepare_merge(left, right, id);
        self.left_side.extend_tables(id as usize + 1);
        self.right_side.extend_tables(id as usize + 1);
        if self.incompletely_listed_pairs.contains(&key(left, right)) {
            self.merge_words(left, right, id, list);
        } else {
            for index in list.range() {
                self.cells.prefetch(self.places.position_ahead(index + PREFETCH_DISTANCE));
                self.merge_at(left, right, id, self.places.get(index));
            }
        }
        self.places.mark_unused(list.len);
        self.update_left_counts(left, id);
        self.update_right_counts(right, id);
        self.queue_new_pairs();
    }

    /// Merges a pair in whole words, as `tokenizers` does: in every word that has a place in the list, the pair is
    /// merged wherever it occurs.
    fn merge_words(&mut self, left: u32, right: u32, id: u32, list: PlaceRange) {
        let mut word_end = 0;
        for index in list.range() {
            let place = self.places.get(index);
            if place.at < word_end {
                continue;
            }
            let mut at = self.cells.word_start(place.at);
            while let Some(Neighbour { id: form, .. }) = self.cells.after(at) {
                self.merge_at(left, right, id, place.with_position(at));
                at += self.forms.cells()[self.cells.after(at).map_or(form, |merged_symbol| merged_symbol.id) as usize];
            }
            word_end = at;
        }
    }

    #[inline]
    fn merge_at(&mut self, left: u32, right: u32, id: u32, place: PairPosition) {
        let Some((second, after)) = self.forms.pair_at(&self.cells, left, right, place.at) else { return };
        let weight = self.weights.count_of(place);
        let form = self.forms.merge(self.cells.at(place.at), self.cells.at(second), id);
        if let Some(Neighbour { id: other, at }) = self.cells.before(place.at, self.forms.cells()) {
            let symbol = self.forms.symbol(other);
            self.left_side.record_removed_pair(symbol, weight);
            if self.is_short_enough(other, form) {
                self.left_side.record_added_pair(symbol, weight, place.with_position(at));
            } else if HAS_FORMS {
                self.incompletely_listed_pairs.checked_insert(key(symbol, id));
            }
        }
        if let Some(Neighbour { id: other, .. }) = self.cells.after(after) {
            let symbol = self.forms.symbol(other);
            self.right_side.record_removed_pair(symbol, weight);
            if self.is_short_enough(other, form) {
                self.right_side.record_added_pair(symbol, weight, place);
            } else if HAS_FORMS {
                self.incompletely_listed_pairs.checked_insert(key(id, symbol));
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
    /// Updates the counts of the pairs that overlap the start of the merged pair.
    fn update_left_counts(&mut self, old_id: u32, new_id: u32) {
        let mut side = std::mem::take(&mut self.left_side);
        self.update_counts(&mut side, new_id, |symbol| (key(symbol, old_id), key(symbol, new_id)));
        self.left_side = side;
    }

    /// Updates the counts of the pairs that overlap the end of the merged pair.
    fn update_right_counts(&mut self, old_id: u32, new_id: u32) {
        let mut side = std::mem::take(&mut self.right_side);
        self.update_counts(&mut side, new_id, |symbol| (key(old_id, symbol), key(new_id, symbol)));
        self.right_side = side;
    }

    fn update_counts(&mut self, side: &mut SideChanges, new_id: u32, keys: impl Fn(u32) -> (u64, u64)) {
        let Learner { counts, places, limits, new_pairs, incompletely_listed_pairs, .. } = self;
        // A pair that is too rare now is never merged, unless the pair arises again.
        let min_count = limits.min_count.max(1);
        for index in 0..side.changed_symbols().len() {
            if let Some(&symbol) = side.changed_symbols().get(index + PREFETCH_DISTANCE) {
                let (old_key, new_key) = keys(symbol);
                counts.prefetch(old_key);
                counts.prefetch(new_key);
            }
            let symbol = side.changed_symbols()[index];
            let (old_key, new_key) = keys(symbol);
            let (removed_count, added_count, len) = side.take_changes(symbol);
            // The pair of the new symbol with itself can lose occurrences before its own count is complete.
            let is_kept = HAS_FORMS || symbol == new_id;
            if is_kept {
                _ = counts.add(old_key, -removed_count)
            } else {
                counts.subtract(old_key, removed_count)
            }
            if HAS_FORMS && len > 0 && counts.contains(new_key) {
                incompletely_listed_pairs.checked_insert(new_key);
            }
            let is_frequent = |count| HAS_FORMS || u64::try_from(count).is_ok_and(|count| count >= min_count);
            let is_counted = len > 0 && (is_kept || is_frequent(added_count));
            let is_listed = is_counted && is_frequent(counts.add(new_key, added_count));
            let list = is_listed.then(|| places.reserve(len));
            new_pairs.checked_extend(list.map(|list| (new_key, list)));
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
                    self.places.mark_unused(list.len);
                    if HAS_FORMS {
                        self.incompletely_listed_pairs.checked_insert(key);
                    }
                }
            }
        }
        self.new_pairs = new_pairs;
    }

    /// Joins the lists of the same pair. A pair has two lists if it arises on both sides of a merge.
    fn join_lists(&mut self, mut new_pairs: Vec<(u64, PlaceRange)>) -> Vec<(u64, PlaceRange)> {
        new_pairs.sort_unstable_by_key(|&(key, list)| (key, list.start));
        let mut joined_pairs: Vec<(u64, PlaceRange)> = memory::with_capacity(new_pairs.len());
        for (key, list) in new_pairs {
            match joined_pairs.last_mut().filter(|last| last.0 == key) {
                Some(last) => last.1 = self.places.join(last.1, list),
                None => joined_pairs.checked_push((key, list)),
            }
        }
        joined_pairs
    }

    /// Queues a pair.
    pub(super) fn push(&mut self, key: u64, count: u64, list: PlaceRange) {
        let tie_breaker = match self.ties {
            TieRule::LowerIds => key,
            TieRule::FirstSeen => u64::from(self.places.get(list.start).at),
        };
        let candidate = QueueCandidate { key, list };
        let number = match self.free_numbers.pop() {
            Some(number) => {
                self.candidates[number as usize] = candidate;
                number
            }
            None => {
                self.candidates.checked_push(candidate);
                self.candidates.len() as u32 - 1
            }
        };
        self.queue.push(QueuedPair { count, tie_breaker, number });
    }

    /// Compacts the vector of places if most places are unused.
    fn compact_places(&mut self) {
        if self.places.has_many_unused_places() {
            self.places.compact(self.candidates.iter_mut().map(|candidate| &mut candidate.list));
        }
    }
}

/// Returns the first position where a pair still occurs, and removes all earlier places from its list.
fn first_place<const HAS_FORMS: bool>(
    candidate: &mut QueueCandidate,
    cells: &Cells,
    places: &mut PairPlaces,
    forms: &SymbolForms<HAS_FORMS>,
) -> u64 {
    let (left, right) = symbols(candidate.key);
    let list = &mut candidate.list;
    while list.len > 0 && forms.pair_at(cells, left, right, places.get(list.start).at).is_none() {
        *list = PlaceRange { start: list.start + 1, len: list.len - 1 };
        places.mark_unused(1);
    }
    if list.len > 0 { u64::from(places.get(list.start).at) } else { u64::MAX }
}
