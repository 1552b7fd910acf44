//! Chooses the entries among the strings of the pool: removes strings in rounds until the requested number remains,
//! then swaps entries as long as that saves tokens.
//!
//! A round knows the effect of every single change, and makes many changes at once. Two changes that affect the same
//! text save less together than the sum of both. So a round removes few strings, and new entries compete with all
//! others when the cheapest are removed. A swap that does not save tokens is undone, and the next one is smaller.

use super::pool::StringPool;
use super::tally::{ChosenEntries, Tally};
use crate::error::Result;
use crate::train::progress::Progress;
use crate::train::words::WordCounts;

/// The share of strings that a round keeps.
const KEPT_SHARE: f64 = 0.8;
/// The share of entries that the first swap exchanges, and the smallest share.
const FIRST_SWAP: f64 = 0.06;
const LAST_SWAP: f64 = 0.002;
/// The most swaps.
const SWAPS: u64 = 16;
/// If a swap saves at most one token in `LITTLE`, the next one is smaller.
const LITTLE: i64 = 2000;
const DROPPING: &str = "dropping entries";
const SWAPPING: &str = "swapping entries";

/// The search, over the words.
pub(super) struct EntrySearch<'p> {
    words: &'p WordCounts,
    pool: &'p StringPool<'p>,
    threads: usize,
    progress: &'p mut dyn Progress,
    /// The progress to report: the stage, the round, and the number of rounds.
    round: (&'static str, u64, u64),
}

impl<'p> EntrySearch<'p> {
    pub fn new(
        words: &'p WordCounts,
        pool: &'p StringPool<'p>,
        threads: usize,
        progress: &'p mut dyn Progress,
    ) -> EntrySearch<'p> {
        EntrySearch { words, pool, threads, progress, round: (DROPPING, 0, 0) }
    }

    /// Chooses `entries` entries. Returns for each string whether it is one, and the number of tokens of the words.
    pub fn run(mut self, entries: usize) -> Result<(Vec<bool>, i64)> {
        let mut is_entry = vec![true; self.pool.len()];
        let mut left = self.pool.len();
        let rounds = rounds(left, entries);
        for round in 0..rounds {
            self.round = (DROPPING, round, rounds);
            left = ((left as f64 * KEPT_SHARE) as usize).max(entries);
            let tally = self.tally(&is_entry)?;
            self.remove_cheapest(&mut is_entry, &tally, left);
        }
        self.progress.report(DROPPING, rounds, rounds)?;
        let best = self.swap(is_entry, entries)?;
        self.progress.report(SWAPPING, SWAPS, SWAPS)?;
        Ok(best)
    }

    fn tally(&mut self, is_entry: &[bool]) -> Result<Tally> {
        let (stage, done, of) = self.round;
        let go_on = || self.progress.report(stage, done, of);
        ChosenEntries::new(self.pool, is_entry).tally(self.words, self.threads, go_on)
    }

    /// Swaps entries for absent strings.
    fn swap(&mut self, mut is_entry: Vec<bool>, entries: usize) -> Result<(Vec<bool>, i64)> {
        self.round = (SWAPPING, 0, SWAPS);
        let mut best = self.tally(&is_entry)?;
        let mut share = FIRST_SWAP;
        for swap in 0..SWAPS {
            let many = (entries as f64 * share) as usize;
            if share < LAST_SWAP || many == 0 {
                break;
            }
            self.round = (SWAPPING, swap, SWAPS);
            let other = self.swapped(&is_entry, &best, entries, many)?;
            let tally = self.tally(&other)?;
            let saved = best.tokens - tally.tokens;
            if saved <= best.tokens / LITTLE {
                share *= 0.6;
            }
            if saved > 0 {
                (is_entry, best) = (other, tally);
            }
        }
        Ok((is_entry, best.tokens))
    }

    /// Adds `many` of the best absent strings, then removes the cheapest entries. It removes them in two steps, because
    /// the new entries make each other cheap.
    fn swapped(&mut self, is_entry: &[bool], tally: &Tally, entries: usize, many: usize) -> Result<Vec<bool>> {
        let mut other = is_entry.to_vec();
        add_best(&mut other, tally, many);
        for left in [entries + many / 3, entries] {
            let tally = self.tally(&other)?;
            self.remove_cheapest(&mut other, &tally, left);
        }
        Ok(other)
    }

    /// Removes the entries that cost least, until `left` remain or all others are forced. Of equal ones the shorter is
    /// removed.
    fn remove_cheapest(&self, is_entry: &mut [bool], tally: &Tally, left: usize) {
        let entries = is_entry.iter().filter(|&&is_entry| is_entry).count();
        let droppable = (0..is_entry.len()).filter(|&number| is_entry[number] && !self.pool.is_forced[number]);
        let cheapest =
            first(droppable.map(|number| (tally.loss[number], number)).collect(), entries.saturating_sub(left));
        cheapest.into_iter().for_each(|number| is_entry[number] = false);
    }
}

/// Makes the absent strings that save most tokens entries.
fn add_best(is_entry: &mut [bool], tally: &Tally, many: usize) {
    let useful = (0..is_entry.len()).filter(|&number| !is_entry[number] && tally.gain[number] > 0);
    let best = first(useful.map(|number| (-tally.gain[number], number)).collect(), many);
    best.into_iter().for_each(|number| is_entry[number] = true);
}

/// The numbers with the lowest values; of equal ones the lowest numbers.
fn first(mut values: Vec<(i64, usize)>, many: usize) -> Vec<usize> {
    values.sort_unstable();
    values.into_iter().take(many).map(|(_, number)| number).collect()
}

/// The number of rounds from `from` strings to `to`.
fn rounds(mut from: usize, to: usize) -> u64 {
    let mut rounds = 0;
    while from > to {
        from = ((from as f64 * KEPT_SHARE) as usize).max(to);
        rounds += 1;
    }
    rounds
}
