//! Runs a [`Program`] over a text: finds the leftmost match, and among the matches with the same start the match of the
//! first alternative.
//!
//! Reference: a backtracking regex engine (`fancy_regex`). The first two characters choose the alternatives to try. The
//! alternatives are tried in order, and a run that must give back characters gives them back one by one.
//!
//! Invariant and cost: the rest of a match depends only on the step and the offset, so a failure that is recorded holds
//! for the whole text. Only unbounded runs can read many characters and then fail, and a path has at most one such run.
//! For each unbounded run that can fail, `Failures` keeps one range of offsets at which the run is known to fail. An
//! attempt enters the run within a bounded distance of the start of the attempt, and each attempt starts further right
//! than the preceding attempt. So of two ranges, the range further right is kept. Hence a run reads each character a
//! bounded number of times, and the search is linear in the text, even if nothing matches, for example for `"\n" + " "
//! * n` under `\s*[\r\n]`. The recursion depth is bounded by the length of the program.

use super::classes::Mask;
use super::pattern::UNBOUNDED;
use super::program::{MAX_SLOTS, Program, Run, Set, Step, has};
use super::utf8::previous_char;

/// For each slot, the range of offsets `lo..=hi` at which the run of the slot is known to fail.
pub(super) struct Failures([(usize, usize); MAX_SLOTS]);

impl Failures {
    pub(super) fn new() -> Failures {
        Failures([(usize::MAX, 0); MAX_SLOTS])
    }

    fn range(&self, slot: Option<u8>) -> (usize, usize) {
        slot.map_or((usize::MAX, 0), |slot| self.0[slot as usize])
    }

    fn add(&mut self, slot: Option<u8>, lo: usize, hi: usize) {
        let Some(slot) = slot else { return };
        let range = &mut self.0[slot as usize];
        if lo <= range.1 && range.0 <= hi {
            *range = (lo.min(range.0), hi.max(range.1));
        } else if hi > range.1 {
            *range = (lo, hi);
        }
    }
}

impl Program {
    /// Calls `piece(start, end)` for each match in `text`, left to right.
    #[inline]
    pub(super) fn scan(&self, text: &str, mut piece: impl FnMut(usize, usize)) {
        let (mut failures, mut pos) = (Failures::new(), 0);
        while let Some((start, end)) = self.next(text.as_bytes(), pos, &mut failures) {
            piece(start, end);
            pos = end;
        }
    }

    /// Finds the first match at or after `pos`. `failures` has the failures of earlier searches in the same text.
    #[inline]
    pub(super) fn next(&self, text: &[u8], mut pos: usize, failures: &mut Failures) -> Option<(usize, usize)> {
        while pos < text.len() {
            let (first, len) = self.classes.at(text, pos);
            let (second, second_len) = self.classes.at(text, pos + len);
            let after = [pos, pos + len, pos + len + second_len];
            let mut entries = self.dispatch.entries(first, second).iter();
            match entries
                .find_map(|entry| self.follow(entry.pc as usize, text, after[entry.chars_taken as usize], failures))
            {
                Some(end) => return Some((pos, end)),
                None => pos += len,
            }
        }
        None
    }

    /// Returns the end of the match whose rest starts with step `pc` at `pos`; None if the rest fails.
    fn follow(&self, mut pc: usize, text: &[u8], mut pos: usize, failures: &mut Failures) -> Option<usize> {
        loop {
            match &self.steps[pc] {
                Step::Accept => return Some(pos),
                Step::Jump(to) => {
                    pc = *to as usize;
                    continue;
                }
                Step::Look(mask) => {
                    if !self.is_next(*mask, text, pos) {
                        return None;
                    }
                }
                Step::Split { first, other } => {
                    if self.is_next(*first, text, pos)
                        && let Some(end) = self.follow(pc + 1, text, pos, failures)
                    {
                        return Some(end);
                    }
                    pc = *other as usize;
                    continue;
                }
                Step::Run(run) if run.gives_back || run.slot.is_some() => {
                    return self.follow_run(run, text, pos, failures);
                }
                Step::Run(run) => {
                    pos = self.take(run, text, pos)?.1;
                    pc = run.to as usize;
                    continue;
                }
            }
            pc += 1;
        }
    }

    /// Returns the end of the match whose rest starts with `run` at `pos`; None if the rest fails. A run that gives
    /// back characters is tried with fewer and fewer characters.
    fn follow_run(&self, run: &Run, text: &[u8], pos: usize, failures: &mut Failures) -> Option<usize> {
        let (lo, hi) = failures.range(run.slot);
        if lo <= pos && pos <= hi {
            return None;
        }
        // At an offset in the range of known failures, the run fails.
        let limit = if pos < lo { lo.min(text.len()) } else { text.len() };
        let (min_end, max_end) = self.take(run, &text[..limit], pos)?;
        let last = if run.gives_back { min_end } else { max_end };
        let mut at = max_end;
        loop {
            if at != lo
                && self.is_next(run.next_classes, text, at)
                && let Some(end) = self.follow(run.to as usize, text, at, failures)
            {
                if at < max_end {
                    failures.add(run.slot, at + self.classes.at(text, at).1, max_end);
                }
                return Some(end);
            }
            if at == last {
                break;
            }
            at = previous_char(text, at);
        }
        failures.add(run.slot, min_end, max_end);
        None
    }

    /// Returns the ends of the shortest and the longest match of `run` at `pos`; None if the text has too few
    /// characters of the set.
    #[inline]
    fn take(&self, run: &Run, text: &[u8], pos: usize) -> Option<(usize, usize)> {
        let set = &self.sets[run.set as usize];
        let mut min_end = pos;
        for _ in 0..run.min {
            min_end = self.take_one(set, text, min_end)?;
        }
        if run.max == UNBOUNDED {
            return Some((min_end, self.take_all(set, text, min_end)));
        }
        let mut max_end = min_end;
        for _ in run.min..run.max {
            match self.take_one(set, text, max_end) {
                Some(end) => max_end = end,
                None => break,
            }
        }
        Some((min_end, max_end))
    }

    /// Returns the end of the character at `pos` if the character is in `set`.
    #[inline]
    fn take_one(&self, set: &Set, text: &[u8], pos: usize) -> Option<usize> {
        let (class, len) = self.classes.at(text, pos);
        has(set.mask, class).then_some(pos + len)
    }

    /// Returns the end of the run of characters of `set` that starts at `pos`.
    #[inline]
    fn take_all(&self, set: &Set, text: &[u8], mut pos: usize) -> usize {
        loop {
            while pos < text.len() && set.ascii[text[pos] as usize] {
                pos += 1;
            }
            if pos == text.len() || text[pos] < 0x80 {
                return pos;
            }
            match self.take_one(set, text, pos) {
                Some(end) => pos = end,
                None => return pos,
            }
        }
    }

    /// Reports whether the class of the character at `pos`, or of the end of the text, is in `mask`.
    #[inline]
    fn is_next(&self, mask: Mask, text: &[u8], pos: usize) -> bool {
        has(mask, self.classes.at(text, pos).0)
    }
}
