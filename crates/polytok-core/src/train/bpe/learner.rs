//! The loop that learns merges; see the parent for what it computes and what it costs.

use std::collections::HashSet;

use super::around::Side;
use super::cells::{Cells, Neighbour};
use super::forms::Forms;
use super::pairs::{PairCounts, key, symbols};
use super::places::{List, Place, Places, Weights};
use super::queue::{Entry, Queue};
use super::{Learnt, Watch};
use crate::error::Result;

/// Merges between two reports.
const EACH: usize = 16;

/// How far ahead memory is asked for.
const AHEAD: usize = 12;

/// Which of equally frequent pairs goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// The one with the lower left symbol, then the lower right one.
    LowerIds,
    /// The one that stands first in the words as they are.
    FirstSeen,
}

/// When to stop, and what is left out.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Symbols in all, with those before merging.
    pub symbols: usize,
    /// Pairs that occur less often are not merged.
    pub min_count: u64,
    /// A pair counts only if it is of fewer initial symbols than this, or of two of them.
    pub below_length: usize,
}

/// One merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merge {
    /// The left half.
    pub left: u32,
    /// The right half.
    pub right: u32,
    /// The symbol that it makes; one that is there already if its text was.
    pub id: u32,
    /// How often the pair occurred.
    pub count: u64,
    /// How many symbols there were before.
    pub symbols: usize,
}

/// Why merging came to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// There are as many symbols as are wanted.
    Reached,
    /// No pair occurs often enough.
    Exhausted,
    /// More memory would be taken than was allowed.
    Full,
    /// The best pair makes a symbol that is there already, which this learner is not made for.
    Known,
}

/// A pair that waits to be merged.
#[derive(Clone, Copy, Default)]
struct Candidate {
    key: u64,
    list: List,
}

/// Learns merges. `HAS_FORMS`: occurrences of one symbol may have different lengths.
pub struct Learner<const HAS_FORMS: bool> {
    pub(super) cells: Cells,
    pub(super) weights: Weights,
    forms: Forms<HAS_FORMS>,
    pub(super) counts: PairCounts,
    pub(super) places: Places,
    candidates: Vec<Candidate>,
    free: Vec<u32>,
    waiting: Vec<(u64, List)>,
    queue: Queue,
    /// Pairs that stand elsewhere too than in one list; none unless `HAS_FORMS`.
    irregular: HashSet<u64>,
    left: Side,
    right: Side,
    ties: Ties,
    limits: Limits,
    room: usize,
    stops_at_known: bool,
}

impl<const HAS_FORMS: bool> Learner<HAS_FORMS> {
    /// Of words whose symbols have these lengths. Their pairs are to be counted next.
    pub fn new(cells: Cells, lengths: Vec<u32>, ties: Ties, limits: Limits) -> Self {
        let symbols = lengths.len();
        let mut learner = Learner {
            cells,
            weights: Weights::default(),
            forms: Forms::new(lengths),
            counts: PairCounts::with_capacity(0),
            places: Places::default(),
            candidates: Vec::new(),
            free: Vec::new(),
            waiting: Vec::new(),
            queue: Queue::new(!HAS_FORMS),
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

    /// Stops before more than so many bytes are taken (but for one merge), and if told so before a merge whose text is known.
    pub fn stop_at(&mut self, room: usize, stops_at_known: bool) {
        (self.room, self.stops_at_known) = (room, stops_at_known);
    }

    /// How many symbols there are.
    pub(super) fn symbols(&self) -> usize {
        self.forms.lengths().len()
    }

    /// Pairs that occur less often are forgotten.
    pub(super) fn least(&self) -> u64 {
        // A pair that comes again may become frequent once more.
        if HAS_FORMS { 0 } else { self.limits.min_count.max(1) }
    }

    /// The words as they are, and how long their symbols are and how many cells they take; everything else goes.
    pub fn into_words(self) -> (Cells, Forms<HAS_FORMS>) {
        (self.cells, self.forms)
    }

    fn memory(&self) -> usize {
        let waiting = self.candidates.capacity() * (size_of::<Candidate>() + size_of::<Entry>());
        let sides = self.left.memory() + self.right.memory();
        self.cells.memory() + self.places.memory() + self.counts.memory() + waiting + sides
    }

    /// Merges until the limits are reached or nothing is left; the merges go behind those that there are already.
    pub fn run(&mut self, learnt: &mut Learnt, watch: &mut impl Watch) -> Result<Stop> {
        let (before, first) = (learnt.merges.len(), learnt.initial());
        let wanted = self.limits.symbols.saturating_sub(first);
        let least = self.limits.min_count.max(1);
        while learnt.texts.len() < self.limits.symbols {
            if learnt.merges.len().is_multiple_of(EACH) {
                watch.report("merges", (learnt.texts.len() - first) as u64, wanted as u64)?;
            }
            if learnt.merges.len() > before && self.memory() > self.room {
                return Ok(Stop::Full);
            }
            let Some(best) = self.pop().filter(|best| best.count >= least) else { return Ok(Stop::Exhausted) };
            let Candidate { key, list } = std::mem::take(&mut self.candidates[best.number as usize]);
            let (left, right) = symbols(key);
            let made = learnt.merge((left, right, best.count), self.stops_at_known, wanted, watch)?;
            let Some(id) = made else { return Ok(Stop::Known) };
            self.merge(left, right, id, list);
            self.free.push(best.number);
            self.collect();
        }
        Ok(Stop::Reached)
    }

    /// The best pair as it is now.
    fn pop(&mut self) -> Option<Entry> {
        let Learner { queue, candidates, counts, cells, places, forms, ties, free, .. } = self;
        queue.pop(|entry| {
            let candidate = &mut candidates[entry.number as usize];
            let count = counts.get(candidate.key).max(0);
            // A pair that came to be again may do so once more.
            if count == 0 && !HAS_FORMS {
                places.free(candidate.list.len);
                free.push(entry.number);
                *candidate = Candidate::default();
                return None;
            }
            let tie = match ties {
                Ties::LowerIds => entry.tie,
                Ties::FirstSeen => first_place(candidate, cells, places, forms),
            };
            Some(Entry { count: count as u64, tie, number: entry.number })
        })
    }

    /// Makes one symbol of a pair wherever it stands.
    fn merge(&mut self, left: u32, right: u32, id: u32, list: List) {
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
        self.push_waiting();
    }

    /// Merges a pair in the whole words that have a place in a list, as tokenizers does wherever the other places come from.
    fn merge_words(&mut self, left: u32, right: u32, id: u32, list: List) {
        let mut behind = 0;
        for index in list.range() {
            let place = self.places.get(index);
            if place.at < behind {
                continue;
            }
            let mut at = self.cells.word_start(place.at);
            while let Some(Neighbour { id: form, .. }) = self.cells.behind(at) {
                self.merge_at(left, right, id, place.moved(at));
                at += self.forms.cells()[self.cells.behind(at).map_or(form, |now| now.id) as usize];
            }
            behind = at;
        }
    }

    #[inline]
    fn merge_at(&mut self, left: u32, right: u32, id: u32, place: Place) {
        let Some((second, behind)) = self.forms.pair_at(&self.cells, left, right, place.at) else { return };
        let weight = self.weights.of(place);
        let made = self.forms.joined(self.cells.at(place.at), self.cells.at(second), id);
        if let Some(Neighbour { id: other, at }) = self.cells.before(place.at, self.forms.cells()) {
            let symbol = self.forms.symbol(other);
            self.left.lose(symbol, weight);
            if self.counts_together(other, made) {
                self.left.gain(symbol, weight, place.moved(at));
            } else if HAS_FORMS {
                self.irregular.insert(key(symbol, id));
            }
        }
        if let Some(Neighbour { id: other, .. }) = self.cells.behind(behind) {
            let symbol = self.forms.symbol(other);
            self.right.lose(symbol, weight);
            if self.counts_together(other, made) {
                self.right.gain(symbol, weight, place);
            } else if HAS_FORMS {
                self.irregular.insert(key(id, symbol));
            }
        }
        self.cells.merge(place.at, second, behind, made);
    }

    #[inline]
    fn counts_together(&self, one: u32, other: u32) -> bool {
        let lengths = self.forms.lengths();
        (lengths[one as usize] as usize + lengths[other as usize] as usize) < self.limits.below_length
    }
}

impl<const HAS_FORMS: bool> Learner<HAS_FORMS> {
    /// Counts pairs with the symbols before a merged pair anew.
    fn settle_left(&mut self, gone: u32, made: u32) {
        let mut side = std::mem::take(&mut self.left);
        self.settle(&mut side, made, |symbol| (key(symbol, gone), key(symbol, made)));
        self.left = side;
    }

    /// Counts pairs with the symbols behind a merged pair anew.
    fn settle_right(&mut self, gone: u32, made: u32) {
        let mut side = std::mem::take(&mut self.right);
        self.settle(&mut side, made, |symbol| (key(gone, symbol), key(made, symbol)));
        self.right = side;
    }

    fn settle(&mut self, side: &mut Side, made: u32, keys: impl Fn(u32) -> (u64, u64)) {
        let Learner { counts, places, limits, waiting, irregular, .. } = self;
        // What occurs too rarely now never will be merged, but for pairs that come again.
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
            // Pairs with the new symbol twice may lose before they gain.
            let is_kept = HAS_FORMS || symbol == made;
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
            let is_wanted = is_counted && is_frequent(counts.add(new, gained));
            let list = is_wanted.then(|| places.reserve(len));
            waiting.extend(list.map(|list| (new, list)));
            side.send(symbol, list);
        }
        side.settle(places);
    }

    /// Lets the pairs wait that came to be.
    fn push_waiting(&mut self) {
        let mut waiting = std::mem::take(&mut self.waiting);
        if HAS_FORMS {
            waiting = self.united(waiting);
        }
        for (key, list) in waiting.drain(..) {
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
        self.waiting = waiting;
    }

    /// The same with one list for each pair, which may have come to be on both sides.
    fn united(&mut self, mut waiting: Vec<(u64, List)>) -> Vec<(u64, List)> {
        waiting.sort_unstable_by_key(|&(key, list)| (key, list.start));
        let mut united: Vec<(u64, List)> = Vec::with_capacity(waiting.len());
        for (key, list) in waiting {
            match united.last_mut().filter(|last| last.0 == key) {
                Some(last) => last.1 = self.places.united(last.1, list),
                None => united.push((key, list)),
            }
        }
        united
    }

    /// Lets a pair wait.
    pub(super) fn push(&mut self, key: u64, count: u64, list: List) {
        let tie = match self.ties {
            Ties::LowerIds => key,
            Ties::FirstSeen => u64::from(self.places.get(list.start).at),
        };
        let candidate = Candidate { key, list };
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
        self.queue.push(Entry { count, tie, number });
    }

    /// Moves the places together when most of them are done with.
    fn collect(&mut self) {
        if self.places.is_wasteful() {
            self.places.collect(self.candidates.iter_mut().map(|candidate| &mut candidate.list));
        }
    }
}

/// The first place where a pair still stands; those before are dropped from its list.
fn first_place<const HAS_FORMS: bool>(
    candidate: &mut Candidate,
    cells: &Cells,
    places: &mut Places,
    forms: &Forms<HAS_FORMS>,
) -> u64 {
    let (left, right) = symbols(candidate.key);
    let list = &mut candidate.list;
    while list.len > 0 && forms.pair_at(cells, left, right, places.get(list.start).at).is_none() {
        *list = List { start: list.start + 1, len: list.len - 1 };
        places.free(1);
    }
    if list.len > 0 { u64::from(places.get(list.start).at) } else { u64::MAX }
}
