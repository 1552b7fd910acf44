//! Learns merges of bytes or characters in rounds, within a memory limit.

use polytok_memory::{self as memory, Copied, Grow};

use super::cells::Cells;
use super::initial_symbols::for_each_word;
use super::learner::{Learner, StopReason, TieRule};
use super::memory_spread::ItemSizes;
use super::pairs::key;
use super::rounds::{RoundLearner, WordCollector};
use super::stream::{CountedPair, StreamMerge, is_next_best};
use super::{LearnedMerges, MergeLimits, MergeObserver, MergeRules, add_symbol_count};
use crate::error::Result;
use crate::train::counter::{Spill, WordCounter};

/// Appends the learned merges to `learned`, which must have no merges yet. Returns `None` if a merged text equals the
/// text of an existing symbol. In this case even a pair that a round has dropped could arise again, so rounds would not
/// be exact.
pub(super) fn learn(
    words: &mut WordCounter,
    learned: LearnedMerges,
    rules: &MergeRules,
    usable_memory: usize,
    spill: &dyn Spill,
    watch: &mut impl MergeObserver,
) -> Result<Option<LearnedMerges>> {
    let (mut symbol_count, mut collector) = (0, WordCollector::new(usable_memory, spill)?);
    for_each_word(words, &learned.texts, rules, watch, |symbols, count| {
        symbol_count = add_symbol_count(symbol_count, symbols, count)?;
        collector.push(symbols, count, |_, _| true)
    })?;
    let lengths = memory::filled(1, learned.texts.len());
    let learner = Learner::new(Cells::default(), Vec::new(), rules.ties, rules.limits);
    let mut limited = LimitedLearner { learned, lengths, learner, rules, watch };
    let stop_reason = collector.learn(&mut limited, usable_memory, spill)?;
    Ok((stop_reason != StopReason::KnownText).then_some(limited.learned))
}

/// Learns in rounds: holds the merges so far, and the learner of the current round.
struct LimitedLearner<'a, W> {
    learned: LearnedMerges,
    /// The length of each symbol, in initial symbols.
    lengths: Vec<u32>,
    learner: Learner<false>,
    rules: &'a MergeRules,
    watch: &'a mut W,
}

impl<W: MergeObserver> RoundLearner for LimitedLearner<'_, W> {
    const SIZES: ItemSizes = ItemSizes { cell: 4, segment: 8, place: 12, pair: 160 };
    const KEEPS_WHOLE_WORDS: bool = false;

    fn min_count(&self) -> u64 {
        self.rules.limits.min_count.max(1)
    }

    /// Reports whether a pair is short enough to be merged.
    fn is_open(&self, left: u32, right: u32) -> bool {
        let max_length = self.rules.limits.length_limit;
        let length = || self.lengths[left as usize] as usize + self.lengths[right as usize] as usize;
        max_length == usize::MAX || length() == 2 || length() < max_length
    }

    fn load(&mut self, cells: Cells, counts: Vec<u64>, min_count: u64, is_frequent: impl Fn(u32, u32) -> bool) {
        let limits = MergeLimits { min_count, ..self.rules.limits };
        let mut learner = Learner::new(cells, self.lengths.checked_to_vec(), self.rules.ties, limits);
        let is_counted = |left, right| is_frequent(left, right) && self.is_open(left, right);
        learner.count_pairs(|word| counts[word], is_counted);
        self.learner = learner;
    }

    fn run(&mut self, _: u64, usable_memory: usize) -> Result<StopReason> {
        self.learner.set_stop_conditions(usable_memory, !self.rules.affixes.is_none());
        self.learner.run(&mut self.learned, self.watch)
    }

    fn merge_counted(&mut self, mut pairs: Vec<CountedPair>) -> Result<(Vec<StreamMerge>, StopReason)> {
        pairs.retain(|pair| self.is_open(pair.left, pair.right));
        pairs.sort_unstable_by_key(|pair| {
            let tie_breaker =
                if self.rules.ties == TieRule::FirstSeen { pair.first_position } else { key(pair.left, pair.right) };
            (std::cmp::Reverse(pair.count), tie_breaker)
        });
        let (mut merges, symbols) = (Vec::new(), self.rules.limits.symbols);
        let requested_merges = symbols.saturating_sub(self.learned.initial_symbols());
        for (index, &CountedPair { left, right, count, .. }) in pairs.iter().enumerate() {
            if self.learned.texts.len() >= symbols {
                return Ok((merges, StopReason::SizeReached));
            }
            if !is_next_best(&merges, &pairs, index) {
                break;
            }
            let symbol_id = self.learned.merge(
                (left, right, count),
                !self.rules.affixes.is_none(),
                requested_merges,
                self.watch,
            )?;
            let Some(id) = symbol_id else { return Ok((merges, StopReason::KnownText)) };
            // If a merge has the text of an initial symbol, that symbol gets the length of the merge.
            self.lengths.checked_resize(self.learned.texts.len(), 1);
            self.lengths[id as usize] = self.lengths[left as usize] + self.lengths[right as usize];
            merges.checked_push((left, right, id));
        }
        self.watch.report("merges", self.learned.merges.len() as u64, requested_merges as u64)?;
        Ok((merges, StopReason::MemoryFull))
    }

    fn last_count(&self) -> u64 {
        self.learned.merges.last().map_or(u64::MAX, |merge| merge.count)
    }

    fn take_words(&mut self) -> (Cells, Vec<u32>) {
        let empty_learner = Learner::new(Cells::default(), Vec::new(), self.rules.ties, self.rules.limits);
        let (cells, forms) = std::mem::replace(&mut self.learner, empty_learner).into_words();
        self.lengths = forms.lengths().checked_to_vec();
        (cells, forms.cells().checked_to_vec())
    }
}
