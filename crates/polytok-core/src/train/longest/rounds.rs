//! Chooses the entries among the strings of the pool. First removes strings in rounds until the requested number
//! remains, then swaps entries for removed strings as long as a swap saves tokens.
//!
//! A round computes the effect of each change alone, but makes many changes together. Two changes that affect the same
//! text can save less together than the sum of their effects. So a round removes only some of the strings, and a swap
//! can remove entries that it has just added. A swap that does not save tokens is undone, and the next swap is smaller.

use polytok_memory::{self as memory, Collect, Copied};

use super::pool::StringPool;
use super::tally::{ChosenEntries, Tally};
use crate::error::Result;
use crate::train::progress::Progress;
use crate::train::words::WordCounts;

/// The share of strings that a round keeps.
const KEPT_FRACTION: f64 = 0.8;
/// The share of the entries that the first swap exchanges.
const FIRST_SWAP_FRACTION: f64 = 0.06;
/// The share of the entries that the smallest swap exchanges.
const LAST_SWAP_FRACTION: f64 = 0.002;
/// The highest number of swaps.
const MAX_SWAPS: u64 = 16;
/// If a swap saves at most one in `MIN_GAIN_DIVISOR` tokens, the next swap is smaller.
const MIN_GAIN_DIVISOR: i64 = 2000;
const DROPPING_STAGE: &str = "dropping entries";
const SWAPPING_STAGE: &str = "swapping entries";

/// The search for the best entries.
pub(super) struct EntrySearch<'p> {
    words: &'p WordCounts,
    pool: &'p StringPool<'p>,
    threads: usize,
    progress: &'p mut dyn Progress,
    /// The progress to report: the stage, the round, and the number of rounds.
    progress_state: (&'static str, u64, u64),
}

impl<'p> EntrySearch<'p> {
    pub fn new(
        words: &'p WordCounts,
        pool: &'p StringPool<'p>,
        threads: usize,
        progress: &'p mut dyn Progress,
    ) -> EntrySearch<'p> {
        EntrySearch { words, pool, threads, progress, progress_state: (DROPPING_STAGE, 0, 0) }
    }

    /// Chooses `entries` entries. Returns a flag for each string, which is true if the string is an entry, and the
    /// number of tokens of all words.
    pub fn run(mut self, entries: usize) -> Result<(Vec<bool>, i64)> {
        let mut is_entry = memory::filled(true, self.pool.len());
        let mut remaining = self.pool.len();
        let rounds = count_rounds(remaining, entries);
        for round in 0..rounds {
            self.progress_state = (DROPPING_STAGE, round, rounds);
            remaining = ((remaining as f64 * KEPT_FRACTION) as usize).max(entries);
            let tally = self.tally(&is_entry)?;
            self.remove_cheapest(&mut is_entry, &tally, remaining);
        }
        self.progress.report(DROPPING_STAGE, rounds, rounds)?;
        let best = self.swap_entries(is_entry, entries)?;
        self.progress.report(SWAPPING_STAGE, MAX_SWAPS, MAX_SWAPS)?;
        Ok(best)
    }

    fn tally(&mut self, is_entry: &[bool]) -> Result<Tally> {
        let (stage, done, total) = self.progress_state;
        let check_progress = || self.progress.report(stage, done, total);
        ChosenEntries::new(self.pool, is_entry).tally(self.words, self.threads, check_progress)
    }

    /// Swaps entries for absent strings until a swap saves hardly any tokens.
    fn swap_entries(&mut self, mut is_entry: Vec<bool>, entries: usize) -> Result<(Vec<bool>, i64)> {
        self.progress_state = (SWAPPING_STAGE, 0, MAX_SWAPS);
        let mut best = self.tally(&is_entry)?;
        let mut swap_share = FIRST_SWAP_FRACTION;
        for swap in 0..MAX_SWAPS {
            let swap_size = (entries as f64 * swap_share) as usize;
            if swap_share < LAST_SWAP_FRACTION || swap_size == 0 {
                break;
            }
            self.progress_state = (SWAPPING_STAGE, swap, MAX_SWAPS);
            let swapped_entries = self.entries_after_swap(&is_entry, &best, entries, swap_size)?;
            let tally = self.tally(&swapped_entries)?;
            let tokens_saved = best.tokens - tally.tokens;
            if tokens_saved <= best.tokens / MIN_GAIN_DIVISOR {
                swap_share *= 0.6;
            }
            if tokens_saved > 0 {
                (is_entry, best) = (swapped_entries, tally);
            }
        }
        Ok((is_entry, best.tokens))
    }

    /// Returns the entries after a swap of `swap_count` strings: adds the absent strings that save the most tokens,
    /// then removes the entries whose removal costs least. Entries are removed in two steps, because the removal of a
    /// new entry makes similar new entries more valuable.
    fn entries_after_swap(
        &mut self,
        is_entry: &[bool],
        tally: &Tally,
        entries: usize,
        swap_count: usize,
    ) -> Result<Vec<bool>> {
        let mut is_new_entry = is_entry.checked_to_vec();
        add_best(&mut is_new_entry, tally, swap_count);
        for target in [entries + swap_count / 3, entries] {
            let tally = self.tally(&is_new_entry)?;
            self.remove_cheapest(&mut is_new_entry, &tally, target);
        }
        Ok(is_new_entry)
    }

    /// Removes the entries that cost least, until `target` entries remain or only forced entries remain. Of two entries
    /// with equal cost, the shorter one is removed first.
    fn remove_cheapest(&self, is_entry: &mut [bool], tally: &Tally, target: usize) {
        let entries = is_entry.iter().filter(|&&is_entry| is_entry).count();
        let removable_entries = (0..is_entry.len()).filter(|&number| is_entry[number] && !self.pool.is_forced[number]);
        let cheapest_entries = indexes_of_lowest(
            removable_entries.map(|number| (tally.removal_costs[number], number)).checked_collect(),
            entries.saturating_sub(target),
        );
        cheapest_entries.into_iter().for_each(|number| is_entry[number] = false);
    }
}

/// Adds the `swap_count` absent strings that save the most tokens to the entries.
fn add_best(is_entry: &mut [bool], tally: &Tally, swap_count: usize) {
    let useful_strings = (0..is_entry.len()).filter(|&number| !is_entry[number] && tally.addition_savings[number] > 0);
    let best = indexes_of_lowest(
        useful_strings.map(|number| (-tally.addition_savings[number], number)).checked_collect(),
        swap_count,
    );
    best.into_iter().for_each(|number| is_entry[number] = true);
}

/// Returns the indexes of the `swap_count` lowest values; if values are equal, the lowest indexes.
fn indexes_of_lowest(mut values: Vec<(i64, usize)>, swap_count: usize) -> Vec<usize> {
    values.sort_unstable();
    values.into_iter().take(swap_count).map(|(_, number)| number).checked_collect()
}

/// Returns the number of rounds that it takes to reduce `from` strings to `to`.
fn count_rounds(mut from: usize, to: usize) -> u64 {
    let mut rounds = 0;
    while from > to {
        from = ((from as f64 * KEPT_FRACTION) as usize).max(to);
        rounds += 1;
    }
    rounds
}
