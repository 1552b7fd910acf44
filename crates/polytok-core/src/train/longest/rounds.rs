//! Which strings of the pool are entries: dropped in rounds until so many are left, then swapped as long as it pays.
//!
//! A round takes what every change would bring on its own, and makes many at once. Where two of them serve the same text they bring
//! less together; so few are dropped at a time, and what came in has to hold its place against all others when the
//! cheapest go. A swap that does not pay is undone and the next one is smaller.

use super::pool::Pool;
use super::tally::{Chosen, Tally};
use crate::error::Result;
use crate::train::progress::Progress;
use crate::train::words::WordCounts;

/// What is left when the cheapest are dropped.
const KEPT: f64 = 0.8;
/// How many entries the first swap exchanges, and a swap so small that it is the last.
const FIRST_SWAP: f64 = 0.06;
const LAST_SWAP: f64 = 0.002;
/// The most swaps.
const SWAPS: u64 = 16;
/// A swap that spares no more than one in so many tokens is followed by a smaller one.
const LITTLE: i64 = 2000;
const DROPPING: &str = "dropping entries";
const SWAPPING: &str = "swapping entries";

/// The search, over the words.
pub(super) struct Search<'p> {
    words: &'p WordCounts,
    pool: &'p Pool<'p>,
    threads: usize,
    progress: &'p mut dyn Progress,
    /// What is reported: the stage, the round, and of how many.
    round: (&'static str, u64, u64),
}

impl<'p> Search<'p> {
    pub fn new(
        words: &'p WordCounts,
        pool: &'p Pool<'p>,
        threads: usize,
        progress: &'p mut dyn Progress,
    ) -> Search<'p> {
        Search { words, pool, threads, progress, round: (DROPPING, 0, 0) }
    }

    /// For each string whether it is one of so many entries, and the tokens of the words.
    pub fn run(mut self, entries: usize) -> Result<(Vec<bool>, i64)> {
        let mut is_entry = vec![true; self.pool.len()];
        let mut left = self.pool.len();
        let rounds = rounds(left, entries);
        for round in 0..rounds {
            self.round = (DROPPING, round, rounds);
            left = ((left as f64 * KEPT) as usize).max(entries);
            let tally = self.tally(&is_entry)?;
            self.drop_cheapest(&mut is_entry, &tally, left);
        }
        self.progress.report(DROPPING, rounds, rounds)?;
        let found = self.swap(is_entry, entries)?;
        self.progress.report(SWAPPING, SWAPS, SWAPS)?;
        Ok(found)
    }

    fn tally(&mut self, is_entry: &[bool]) -> Result<Tally> {
        let (stage, done, of) = self.round;
        let go_on = || self.progress.report(stage, done, of);
        Chosen::new(self.pool, is_entry).tally(self.words, self.threads, go_on)
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
            let spared = best.tokens - tally.tokens;
            if spared <= best.tokens / LITTLE {
                share *= 0.6;
            }
            if spared > 0 {
                (is_entry, best) = (other, tally);
            }
        }
        Ok((is_entry, best.tokens))
    }

    /// The entries with many of the best absent strings, but without the cheapest; these go in two steps, for the new ones
    /// make each other cheap.
    fn swapped(&mut self, is_entry: &[bool], tally: &Tally, entries: usize, many: usize) -> Result<Vec<bool>> {
        let mut other = is_entry.to_vec();
        add_best(&mut other, tally, many);
        for left in [entries + many / 3, entries] {
            let tally = self.tally(&other)?;
            self.drop_cheapest(&mut other, &tally, left);
        }
        Ok(other)
    }

    /// Drops the entries that cost the least, until so many are left or all others are forced. Ties: the shorter goes.
    fn drop_cheapest(&self, is_entry: &mut [bool], tally: &Tally, left: usize) {
        let entries = is_entry.iter().filter(|&&is_entry| is_entry).count();
        let droppable = (0..is_entry.len()).filter(|&number| is_entry[number] && !self.pool.is_forced[number]);
        let cheapest =
            first(droppable.map(|number| (tally.loss[number], number)).collect(), entries.saturating_sub(left));
        cheapest.into_iter().for_each(|number| is_entry[number] = false);
    }
}

/// Makes entries of the absent strings that spare the most.
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

/// How often the cheapest are dropped until so many are left.
fn rounds(mut from: usize, to: usize) -> u64 {
    let mut rounds = 0;
    while from > to {
        from = ((from as f64 * KEPT) as usize).max(to);
        rounds += 1;
    }
    rounds
}
