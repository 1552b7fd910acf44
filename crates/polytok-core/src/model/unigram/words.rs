//! Best paths word by word: what the search over a whole text finds, at the cost of a lookup for each word.
//!
//! The text falls into stretches that no piece crosses (`letters`), so every way through it goes through their ends, and each is
//! solved by itself, given the sum before it. The sum is carried as the reference carries it, one rounded addition for each piece. A
//! word whose path is certain at the present sum (`certain`) is taken from memory; any other is searched with the very sums of the
//! reference. Twin: `best_path::search` over the whole text.
//!
//! Cost: linear for words seen before; a new word is searched once. Worst input: one long word, which costs what the twin costs.

use super::super::UNKNOWN;
use super::super::best_path::{Score, State, search, walk};
use super::certain::{LONGEST, Word, code};
use super::letters::{Letters, STRETCHES, Stretch, What};
use super::memo::{Key, Memo, PATH, Path};
use crate::error::Result;
use crate::trie::Trie;

/// Scratch of longer words than this is given back after the call.
const KEPT_STATES: usize = 1 << 20;

/// What a model knows of its pieces.
pub(in crate::model) struct Dictionary<'a, S: Score> {
    pub trie: &'a Trie,
    /// By the trie's values.
    pub scores: &'a [S],
    pub unknown_score: S,
    pub letters: &'a Letters,
}

/// Memory that calls share; one per thread.
pub(in crate::model) struct WordsScratch<Sum> {
    memo: Memo,
    word: Word,
    pub states: Vec<State<Sum>>,
}

impl<Sum> Default for WordsScratch<Sum> {
    fn default() -> Self {
        WordsScratch { memo: Memo::default(), word: Word::default(), states: Vec::new() }
    }
}

impl<Sum> WordsScratch<Sum> {
    /// Gives back what one huge text took.
    pub fn release(&mut self) {
        if self.states.capacity() > KEPT_STATES {
            self.states = Vec::new();
        }
    }
}

/// Where paths go.
pub(in crate::model) trait Receiver {
    /// A path from memory that starts at this place.
    fn known(&mut self, path: Path, start: u32) -> Result<()>;
    /// One piece, or an unknown character.
    fn piece(&mut self, entry: u32, start: u32, end: u32) -> Result<()>;
    /// So many unknown characters.
    fn unknown(&mut self, start: u32, end: u32) -> Result<()>;
}

impl<S: Score> Dictionary<'_, S> {
    /// Sends the best path of the text.
    pub fn solve(&self, text: &[u8], scratch: &mut WordsScratch<S::Sum>, to: &mut impl Receiver) -> Result<()> {
        let (mut sum, mut at) = (S::Sum::default(), 0);
        let mut stretches = [Stretch::NONE; STRETCHES];
        let mut keys = [Key::NONE; STRETCHES];
        while at < text.len() {
            let (count, end) = self.letters.fill(text, at, &mut stretches);
            for (key, stretch) in keys.iter_mut().zip(&stretches[..count]) {
                *key = Key::new(text, stretch.start as usize, stretch.end as usize);
            }
            for (stretch, &key) in stretches[..count].iter().zip(&keys) {
                sum = match stretch.what {
                    What::Word => {
                        let path = scratch.memo.get(key);
                        match code(S::magnitude(sum)) < path.limit() {
                            true => self.remembered(path, sum, stretch.start, to)?,
                            false => self.missed(text, *stretch, (key, path), sum, scratch, to)?,
                        }
                    }
                    What::Piece(entry) => {
                        to.piece(entry, stretch.start, stretch.end)?;
                        self.scores[entry as usize].behind(sum)
                    }
                    What::Unknown(chars) => {
                        to.unknown(stretch.start, stretch.end)?;
                        (0..chars).fold(sum, |sum, _| self.unknown_score.behind(sum))
                    }
                };
            }
            at = end;
        }
        scratch.release();
        Ok(())
    }

    /// Sends a path from memory; the sum behind it. How long it is cannot be foreseen, so it is no branch.
    #[inline]
    fn remembered(&self, path: Path, sum: S::Sum, start: u32, to: &mut impl Receiver) -> Result<S::Sum> {
        to.known(path, start)?;
        let mut sum = sum;
        for i in 0..PATH {
            sum = S::round(self.score(path.entry(i)).plus(sum));
        }
        Ok(sum)
    }

    /// The score of an entry; `NOTHING` for `END`.
    #[inline]
    fn score(&self, entry: u32) -> S {
        match self.scores.get(entry as usize) {
            Some(&score) => score,
            None => S::NOTHING,
        }
    }

    /// A word that memory does not know, or not for this sum; the sum behind it.
    #[inline(never)]
    fn missed(
        &self,
        text: &[u8],
        stretch: Stretch,
        (key, path): (Key, Path),
        sum: S::Sum,
        scratch: &mut WordsScratch<S::Sum>,
        to: &mut impl Receiver,
    ) -> Result<S::Sum> {
        let word = &text[stretch.start as usize..stretch.end as usize];
        if path.is_known() || word.len() > LONGEST {
            return self.searched(word, stretch.start, sum, &mut scratch.states, to);
        }
        let found = &mut scratch.word;
        let limit = found.search(self.trie, self.scores, self.unknown_score.exact(), word);
        if limit == 0 {
            scratch.memo.insert(key, Path::UNCERTAIN);
        } else if let Some(path) = Path::new(found.path().iter().map(|&(entry, _)| entry), limit) {
            // An unknown character is no entry, so this path has none.
            scratch.memo.insert(key, path);
        }
        if code(S::magnitude(sum)) >= limit as u32 {
            return self.searched(word, stretch.start, sum, &mut scratch.states, to);
        }
        let mut sum = sum;
        let mut start = stretch.start;
        for &(entry, end) in found.path() {
            let end = stretch.start + end;
            let score = if entry == UNKNOWN { self.unknown_score } else { self.scores[entry as usize] };
            sum = S::round(score.plus(sum));
            to.piece(entry, start, end)?;
            start = end;
        }
        Ok(sum)
    }

    /// Searches a word with the sums of the reference.
    fn searched(
        &self,
        word: &[u8],
        at: u32,
        sum: S::Sum,
        states: &mut Vec<State<S::Sum>>,
        to: &mut impl Receiver,
    ) -> Result<S::Sum> {
        let (sum, _) = search(self.trie, self.scores, S::round(self.unknown_score), word, sum, states);
        let mut result = Ok(());
        walk(states, |start, end, entry| {
            if result.is_ok() {
                result = to.piece(entry, at + start, at + end);
            }
        });
        result.map(|()| sum)
    }
}

#[cfg(test)]
mod tests;
