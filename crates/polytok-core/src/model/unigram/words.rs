//! Best paths word by word: what the search over a whole text finds, at the cost of a lookup for each word.
//!
//! The text falls into stretches that no piece crosses (`letters`), so every way through it goes through their ends, and each is
//! solved by itself, given the sum before it. The sum is carried as the reference carries it, one rounded addition for each piece. A
//! word whose path is certain at the present sum (`certain`) is taken from memory; any other is searched with the very sums of the
//! reference. The text may also be one that is not normalized yet (`raw`). Twin: `best_path::search` over the whole text.
//!
//! Cost: linear for words seen before; a new word is searched once. Worst input: one long word, which costs what the twin costs.

use super::best_path::{PathState, Score, UNKNOWN_ENTRY, search, walk};
use super::certain::{LONGEST, SearchedWord, code};
use super::letters::{Letters, STRETCHES, Stretch, What};
use super::memo::{END, Memo, PATH, PackedPath, word_key};
use super::raw::{RawCursor, ScanStop};
use crate::cache::PieceKey;
use crate::error::Result;
use crate::normalize::sentencepiece::SentencePieceNormalizer;
use crate::space_mark;
use crate::token_id::TokenId;
use crate::trie::Trie;

/// Scratch of longer words than this is given back after the call.
const KEPT_STATES: usize = 1 << 20;

/// What an entry adds: to the sum, and to the ids.
#[derive(Clone, Copy)]
pub(in crate::model) struct ScoredId<S> {
    pub score: S,
    pub id: TokenId,
}

/// What a model knows of its pieces.
pub(in crate::model) struct WordDictionary<'a, S: Score> {
    pub trie: &'a Trie,
    /// By the trie's values.
    pub scores: &'a [S],
    /// The same with ids, and one more behind the last.
    pub rows: &'a [ScoredId<S>],
    pub unknown_score: S,
    pub letters: &'a Letters,
}

/// Memory that calls share; one per thread.
pub(in crate::model) struct WordsScratch<Sum> {
    memo: Memo,
    word: SearchedWord,
    /// A word with the U+2581 before it.
    spelled: Vec<u8>,
    rewritten: Vec<u8>,
    pub states: Vec<PathState<Sum>>,
}

impl<Sum> Default for WordsScratch<Sum> {
    fn default() -> Self {
        WordsScratch {
            memo: Memo::default(),
            word: SearchedWord::default(),
            spelled: Vec::new(),
            rewritten: Vec::new(),
            states: Vec::new(),
        }
    }
}

impl<Sum> WordsScratch<Sum> {
    /// Forgets all words, and remembers others in at most so many bytes.
    pub fn renew(&mut self, limit: usize) {
        self.memo = Memo::new(limit);
    }

    /// Bytes that words take.
    pub fn remembered_bytes(&self) -> usize {
        self.memo.bytes()
    }

    /// Gives back what one huge text took.
    pub fn release(&mut self) {
        if self.states.capacity() > KEPT_STATES {
            self.states = Vec::new();
        }
        for bytes in [&mut self.spelled, &mut self.rewritten] {
            if bytes.capacity() > KEPT_STATES {
                *bytes = Vec::new();
            }
        }
    }
}

/// Where paths go. Places are those of the normalized text; without meaning for one that is not normalized.
pub(in crate::model) trait Receiver {
    /// A path from memory that starts at this place; so many of these ids are its.
    fn known(&mut self, path: PackedPath, ids: &[TokenId; PATH], count: usize, start: u32) -> Result<()>;
    /// One piece.
    fn piece(&mut self, entry: u32, start: u32, end: u32) -> Result<()>;
    /// Unknown characters.
    fn unknown(&mut self, text: &[u8], start: u32) -> Result<()>;
}

impl<S: Score> WordDictionary<'_, S> {
    /// Sends the best path of the text, which is normalized or still to be.
    pub fn run(
        &self,
        normalizer: Option<&SentencePieceNormalizer>,
        text: &[u8],
        scratch: &mut WordsScratch<S::Sum>,
        to: &mut impl Receiver,
    ) -> Result<()> {
        let result = match normalizer {
            Some(normalizer) => self.solve_raw(normalizer, text, scratch, to),
            None => self.solve_after(S::Sum::default(), text, &mut [Stretch::NONE; STRETCHES], scratch, to).map(|_| ()),
        };
        scratch.release();
        result
    }

    /// A text that is still to be normalized.
    fn solve_raw(
        &self,
        normalizer: &SentencePieceNormalizer,
        text: &[u8],
        scratch: &mut WordsScratch<S::Sum>,
        to: &mut impl Receiver,
    ) -> Result<()> {
        let mut cursor = RawCursor { at: normalizer.leading_spaces(text), has_space: true };
        let mut sum = S::Sum::default();
        let mut stretches = [Stretch::NONE; STRETCHES];
        loop {
            let (count, stop) = self.letters.fill_raw(text, &mut cursor, &mut stretches);
            sum = self.solve_stretches(sum, text, &stretches[..count], scratch, to)?;
            match stop {
                ScanStop::Full => {}
                ScanStop::End => return Ok(()),
                ScanStop::Rewrite => {
                    let mut rewritten = std::mem::take(&mut scratch.rewritten);
                    self.letters.rewrite(normalizer, text, &mut cursor, &mut rewritten);
                    let result = self.solve_after(sum, &rewritten, &mut stretches, scratch, to);
                    scratch.rewritten = rewritten;
                    sum = result?;
                }
            }
        }
    }

    /// Sends the best path of a text that starts and ends with a cut; the sum behind it.
    fn solve_after(
        &self,
        mut sum: S::Sum,
        text: &[u8],
        stretches: &mut [Stretch; STRETCHES],
        scratch: &mut WordsScratch<S::Sum>,
        to: &mut impl Receiver,
    ) -> Result<S::Sum> {
        let mut at = 0;
        while at < text.len() {
            let (count, end) = self.letters.fill(text, at, stretches);
            sum = self.solve_stretches(sum, text, &stretches[..count], scratch, to)?;
            at = end;
        }
        Ok(sum)
    }

    /// Sends the best paths of stretches; the sum behind them. All keys are made first, so that the processor waits for the memory of
    /// many words at a time.
    #[inline]
    fn solve_stretches(
        &self,
        mut sum: S::Sum,
        text: &[u8],
        stretches: &[Stretch],
        scratch: &mut WordsScratch<S::Sum>,
        to: &mut impl Receiver,
    ) -> Result<S::Sum> {
        let mut keys = [PieceKey::NONE; STRETCHES];
        for (stretch, key) in stretches.iter().zip(&mut keys).filter(|(stretch, _)| stretch.what == What::Word) {
            *key = key_of(text, stretch);
            scratch.memo.prefetch(*key);
        }
        for (stretch, key) in stretches.iter().zip(keys) {
            let (start, end) = (stretch.start as usize, stretch.end as usize);
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
                    to.unknown(if start < end { &text[start..end] } else { space_mark::BYTES }, stretch.start)?;
                    (0..chars).fold(sum, |sum, _| self.unknown_score.behind(sum))
                }
            };
        }
        Ok(sum)
    }

    /// Sends a path from memory; the sum behind it. How long it is cannot be foreseen, so it is no branch: the last row adds nothing.
    #[inline]
    fn remembered(&self, path: PackedPath, sum: S::Sum, start: u32, to: &mut impl Receiver) -> Result<S::Sum> {
        let (mut sum, mut ids, mut count) = (sum, [TokenId(0); PATH], 0);
        for (i, id) in ids.iter_mut().enumerate() {
            let entry = path.entry(i);
            let row = self.rows[(entry as usize).min(self.rows.len() - 1)];
            *id = row.id;
            sum = S::round(row.score.plus(sum));
            count += (entry != END) as usize;
        }
        to.known(path, &ids, count, start)?;
        Ok(sum)
    }

    /// A word that memory does not know, or not for this sum; the sum behind it.
    #[inline(never)]
    fn missed(
        &self,
        text: &[u8],
        stretch: Stretch,
        (key, path): (PieceKey, PackedPath),
        sum: S::Sum,
        scratch: &mut WordsScratch<S::Sum>,
        to: &mut impl Receiver,
    ) -> Result<S::Sum> {
        let word = &text[stretch.start as usize..stretch.end as usize];
        if stretch.has_space {
            let mut spelled = std::mem::take(&mut scratch.spelled);
            spelled.clear();
            spelled.extend_from_slice(space_mark::BYTES);
            spelled.extend_from_slice(word);
            let result = self.missed_word(&spelled, stretch.start, (key, path), sum, scratch, to);
            scratch.spelled = spelled;
            return result;
        }
        self.missed_word(word, stretch.start, (key, path), sum, scratch, to)
    }

    fn missed_word(
        &self,
        word: &[u8],
        at: u32,
        (key, path): (PieceKey, PackedPath),
        sum: S::Sum,
        scratch: &mut WordsScratch<S::Sum>,
        to: &mut impl Receiver,
    ) -> Result<S::Sum> {
        if path.is_known() || word.len() > LONGEST {
            return self.searched(word, at, sum, &mut scratch.states, to);
        }
        let found = &mut scratch.word;
        let limit = found.search(self.trie, self.scores, self.unknown_score.exact(), word);
        if limit == 0 {
            scratch.memo.insert(key, PackedPath::UNCERTAIN);
        } else if let Some(path) = PackedPath::new(found.path().iter().map(|&(entry, _)| entry), limit) {
            // An unknown character is no entry, so this path has none.
            scratch.memo.insert(key, path);
        }
        if code(S::magnitude(sum)) >= limit as u32 {
            return self.searched(word, at, sum, &mut scratch.states, to);
        }
        let mut sum = sum;
        let mut start = 0;
        for &(entry, end) in found.path() {
            if entry == UNKNOWN_ENTRY {
                sum = S::round(self.unknown_score.plus(sum));
                to.unknown(&word[start as usize..end as usize], at + start)?;
            } else {
                sum = S::round(self.scores[entry as usize].plus(sum));
                to.piece(entry, at + start, at + end)?;
            }
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
        states: &mut Vec<PathState<S::Sum>>,
        to: &mut impl Receiver,
    ) -> Result<S::Sum> {
        let (sum, _) = search(self.trie, self.scores, S::round(self.unknown_score), word, sum, states);
        let mut result = Ok(());
        walk(states, |start, end, entry| {
            if result.is_ok() {
                result = match entry {
                    UNKNOWN_ENTRY => to.unknown(&word[start as usize..end as usize], at + start),
                    _ => to.piece(entry, at + start, at + end),
                };
            }
        });
        result.map(|()| sum)
    }
}

#[inline]
fn key_of(text: &[u8], stretch: &Stretch) -> PieceKey {
    let (start, end) = (stretch.start as usize, stretch.end as usize);
    match stretch.has_space {
        true => PieceKey::new(text, start, end, true),
        false => word_key(text, start, end),
    }
}

#[cfg(test)]
mod tests;
