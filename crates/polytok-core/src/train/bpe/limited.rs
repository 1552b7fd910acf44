//! Learning merges of bytes or characters in rounds, within a memory limit.

use super::cells::Cells;
use super::learner::{Learner, Stop};
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
    const SIZES: Sizes = Sizes { cell: 4, word: 8, place: 12, pair: 160 };

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
