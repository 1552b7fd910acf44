//! Runs a [`Program`] over a text: the leftmost matches, of those the first in the order of alternatives.
//!
//! Reference: a backtracking regex engine (`fancy_regex`). The first two characters choose the alternatives to try;
//! those are followed in order, and a run that must give back does so one character at a time.
//!
//! Invariant and cost: a step and a position alone decide how the rest goes, so a failure can be remembered and holds
//! for the whole text. Only runs without a bound can take long and fail, and a path meets at most one of them. For each
//! one `Failures` keeps one stretch of positions from which it is known to fail. An attempt enters such a run within a
//! bounded distance of where it starts, and starts only move right, so of two stretches the one further right is worth
//! keeping. Hence no character is passed by the same run more than a bounded number of times, and the whole is linear,
//! also where nothing matches and for `"\n" + " " * n` under `\s*[\r\n]`. Recursion is bounded by the program's length.

use super::classes::Mask;
use super::pattern::UNBOUNDED;
use super::program::{MAX_SLOTS, Program, Run, Set, Step, has};
use super::utf8::previous_char;

/// For each slot the positions `lo..=hi` at which its run is known to fail.
pub(super) struct Failures([(usize, usize); MAX_SLOTS]);

impl Failures {
    pub(super) fn new() -> Failures {
        Failures([(usize::MAX, 0); MAX_SLOTS])
    }

    fn known(&self, slot: Option<u8>) -> (usize, usize) {
        slot.map_or((usize::MAX, 0), |slot| self.0[slot as usize])
    }

    fn add(&mut self, slot: Option<u8>, lo: usize, hi: usize) {
        let Some(slot) = slot else { return };
        let known = &mut self.0[slot as usize];
        if lo <= known.1 && known.0 <= hi {
            *known = (lo.min(known.0), hi.max(known.1));
        } else if hi > known.1 {
            *known = (lo, hi);
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

    /// The first match at or after `pos`. `failures` are those of this text so far.
    #[inline]
    pub(super) fn next(&self, text: &[u8], mut pos: usize, failures: &mut Failures) -> Option<(usize, usize)> {
        while pos < text.len() {
            let (first, len) = self.classes.at(text, pos);
            let (second, second_len) = self.classes.at(text, pos + len);
            let after = [pos, pos + len, pos + len + second_len];
            let mut entries = self.dispatch.entries(first, second).iter();
            match entries.find_map(|e| self.follow(e.pc as usize, text, after[e.taken as usize], failures)) {
                Some(end) => return Some((pos, end)),
                None => pos += len,
            }
        }
        None
    }

    /// The end of the match that goes on with step `pc` at `pos`.
    fn follow(&self, mut pc: usize, text: &[u8], mut pos: usize, failures: &mut Failures) -> Option<usize> {
        loop {
            match &self.steps[pc] {
                Step::Accept => return Some(pos),
                Step::Jump(to) => {
                    pc = *to as usize;
                    continue;
                }
                Step::Look(mask) => {
                    if !self.comes(*mask, text, pos) {
                        return None;
                    }
                }
                Step::Split { first, other } => {
                    if self.comes(*first, text, pos)
                        && let Some(end) = self.follow(pc + 1, text, pos, failures)
                    {
                        return Some(end);
                    }
                    pc = *other as usize;
                    continue;
                }
                Step::Run(run) if run.gives_back || run.slot.is_some() => {
                    return self.retreat(run, text, pos, failures);
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

    /// `run` at `pos` and then its rest, with ever fewer characters where the run gives back.
    fn retreat(&self, run: &Run, text: &[u8], pos: usize, failures: &mut Failures) -> Option<usize> {
        let (lo, hi) = failures.known(run.slot);
        if lo <= pos && pos <= hi {
            return None;
        }
        // A run that reaches the known failures fails from there on.
        let limit = if pos < lo { lo.min(text.len()) } else { text.len() };
        let (least, end) = self.take(run, &text[..limit], pos)?;
        let last = if run.gives_back { least } else { end };
        let mut at = end;
        loop {
            if at != lo
                && self.comes(run.next, text, at)
                && let Some(found) = self.follow(run.to as usize, text, at, failures)
            {
                if at < end {
                    failures.add(run.slot, at + self.classes.at(text, at).1, end);
                }
                return Some(found);
            }
            if at == last {
                break;
            }
            at = previous_char(text, at);
        }
        failures.add(run.slot, least, end);
        None
    }

    /// Where `run` at `pos` ends after as few and after as many characters as it may take.
    #[inline]
    fn take(&self, run: &Run, text: &[u8], pos: usize) -> Option<(usize, usize)> {
        let set = &self.sets[run.set as usize];
        let mut least = pos;
        for _ in 0..run.min {
            least = self.one(set, text, least)?;
        }
        if run.max == UNBOUNDED {
            return Some((least, self.all(set, text, least)));
        }
        let mut most = least;
        for _ in run.min..run.max {
            match self.one(set, text, most) {
                Some(end) => most = end,
                None => break,
            }
        }
        Some((least, most))
    }

    /// The end of one character of `set` at `pos`.
    #[inline]
    fn one(&self, set: &Set, text: &[u8], pos: usize) -> Option<usize> {
        let (class, len) = self.classes.at(text, pos);
        has(set.mask, class).then_some(pos + len)
    }

    /// The end of all characters of `set` from `pos` on.
    #[inline]
    fn all(&self, set: &Set, text: &[u8], mut pos: usize) -> usize {
        loop {
            while pos < text.len() && set.ascii[text[pos] as usize] {
                pos += 1;
            }
            if pos == text.len() || text[pos] < 0x80 {
                return pos;
            }
            match self.one(set, text, pos) {
                Some(end) => pos = end,
                None => return pos,
            }
        }
    }

    /// What comes at `pos`, a character or the end of the text, is of a class in `mask`.
    #[inline]
    fn comes(&self, mask: Mask, text: &[u8], pos: usize) -> bool {
        has(mask, self.classes.at(text, pos).0)
    }
}
