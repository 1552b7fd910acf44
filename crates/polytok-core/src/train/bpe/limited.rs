//! Learning merges of bytes or characters in rounds, within a memory limit.

use super::cells::Cells;
use super::learner::{Learner, Stop, Ties};
use super::pairs::key;
use super::passes::{Joined, Passed, is_next};
use super::rounds::{Intake, Learning};
use super::spread::Sizes;
use super::start::each_word;
use super::{Learnt, Limits, Rules, Watch, add};
use crate::error::Result;
use crate::train::counter::{Spill, WordCounter};

/// Learns merges behind those of `learnt`, which has none. None if a pair makes a text that is known: then pairs may come again,
/// and what a round forgot may matter.
pub(super) fn learn(
    words: &mut WordCounter,
    learnt: Learnt,
    rules: &Rules,
    room: usize,
    spill: &dyn Spill,
    watch: &mut impl Watch,
) -> Result<Option<Learnt>> {
    let (mut sum, mut intake) = (0, Intake::new(room, spill)?);
    each_word(words, &learnt.texts, rules, watch, |symbols, count| {
        sum = add(sum, symbols, count)?;
        intake.push(symbols, count, |_, _| true)
    })?;
    let lengths = vec![1; learnt.texts.len()];
    let learner = Learner::new(Cells::default(), Vec::new(), rules.ties, rules.limits);
    let mut limited = Limited { learnt, lengths, learner, rules, watch };
    let stop = intake.learn(&mut limited, room, spill)?;
    Ok((stop != Stop::Known).then_some(limited.learnt))
}

/// What is learnt, and the learner of one round.
struct Limited<'a, W> {
    learnt: Learnt,
    /// How long the symbols are.
    lengths: Vec<u32>,
    learner: Learner<false>,
    rules: &'a Rules,
    watch: &'a mut W,
}

impl<W: Watch> Learning for Limited<'_, W> {
    const SIZES: Sizes = Sizes { cell: 4, stretch: 8, place: 12, pair: 160 };
    const HOLDS_WHOLE: bool = false;

    fn least(&self) -> u64 {
        self.rules.limits.min_count.max(1)
    }

    /// A pair counts only if it is short enough, or of two initial symbols.
    fn is_open(&self, left: u32, right: u32) -> bool {
        let below = self.rules.limits.below_length;
        let length = || self.lengths[left as usize] as usize + self.lengths[right as usize] as usize;
        below == usize::MAX || length() == 2 || length() < below
    }

    fn load(&mut self, cells: Cells, counts: Vec<u64>, from: u64, is_frequent: impl Fn(u32, u32) -> bool) {
        let limits = Limits { min_count: from, ..self.rules.limits };
        let mut learner = Learner::new(cells, self.lengths.clone(), self.rules.ties, limits);
        let is_counted = |left, right| is_frequent(left, right) && self.is_open(left, right);
        learner.count_pairs(|word| counts[word], is_counted);
        self.learner = learner;
    }

    fn run(&mut self, _: u64, room: usize) -> Result<Stop> {
        self.learner.stop_at(room, !self.rules.affixes.is_none());
        self.learner.run(&mut self.learnt, self.watch)
    }

    fn merge_passed(&mut self, mut pairs: Vec<Passed>) -> Result<(Vec<Joined>, Stop)> {
        pairs.retain(|pair| self.is_open(pair.left, pair.right));
        pairs.sort_unstable_by_key(|pair| {
            let tie = if self.rules.ties == Ties::FirstSeen { pair.first } else { key(pair.left, pair.right) };
            (std::cmp::Reverse(pair.count), tie)
        });
        let (mut merged, symbols) = (Vec::new(), self.rules.limits.symbols);
        let wanted = symbols.saturating_sub(self.learnt.initial());
        for (index, &Passed { left, right, count, .. }) in pairs.iter().enumerate() {
            if self.learnt.texts.len() >= symbols {
                return Ok((merged, Stop::Reached));
            }
            if !is_next(&merged, &pairs, index) {
                break;
            }
            let made = self.learnt.merge((left, right, count), !self.rules.affixes.is_none(), wanted, self.watch)?;
            let Some(id) = made else { return Ok((merged, Stop::Known)) };
            // The text of an initial symbol may be merged anew, then the symbol is as long as the merge.
            self.lengths.resize(self.learnt.texts.len(), 1);
            self.lengths[id as usize] = self.lengths[left as usize] + self.lengths[right as usize];
            merged.push((left, right, id));
        }
        self.watch.report("merges", self.learnt.merges.len() as u64, wanted as u64)?;
        Ok((merged, Stop::Full))
    }

    fn last_count(&self) -> u64 {
        self.learnt.merges.last().map_or(u64::MAX, |merge| merge.count)
    }

    fn unload(&mut self) -> (Cells, Vec<u32>) {
        let empty = Learner::new(Cells::default(), Vec::new(), self.rules.ties, self.rules.limits);
        let (cells, forms) = std::mem::replace(&mut self.learner, empty).into_words();
        self.lengths = forms.lengths().to_vec();
        (cells, forms.cells().to_vec())
    }
}
