//! Finds the best path of a text word by word, with a cache lookup for each word instead of a search over the text.
//!
//! No piece crosses the boundaries between runs of letters (`letters`), so every path contains all boundaries, and the
//! best path of each run depends only on the run and the sum before the run. The sum is computed as in the reference,
//! with one rounded addition for each piece. If the cached path of a word is certain at the current sum (`certain`),
//! that path is used. If the path is not certain, the word is searched with the sums of the reference. Texts before
//! normalization are also supported (`raw`). The twin is `best_path::search` over the whole text.
//!
//! Cost: linear for cached words; a new word is searched once. Worst input: one long word, which costs the same as in
//! the twin.

use super::best_path::{PathState, Score, UNKNOWN_ENTRY, for_each_piece, search};
use super::certain::{MAX_WORD_BYTES, SearchedWord, sum_code};
use super::letters::{LetterRun, Letters, RUN_BATCH, RunKind};
use super::memo::{END, MAX_PATH_ENTRIES, Memo, PackedPath, word_key};
use super::raw::{RawCursor, ScanStop};
use crate::cache::PieceKey;
use crate::error::Result;
use crate::normalize::sentencepiece::SentencePieceNormalizer;
use crate::space_mark;
use crate::token_id::TokenId;
use crate::trie::Trie;

/// The largest capacity of a buffer that is kept after a call.
const MAX_KEPT_LEN: usize = 1 << 20;

/// The score and the id of an entry.
#[derive(Clone, Copy)]
pub(in crate::model) struct ScoredId<S> {
    pub score: S,
    pub id: TokenId,
}

/// The tables of a model's pieces.
pub(in crate::model) struct WordDictionary<'a, S: Score> {
    pub trie: &'a Trie,
    /// The score of each value of the trie.
    pub scores: &'a [S],
    /// The scores with ids, followed by a row that changes no sum.
    pub rows: &'a [ScoredId<S>],
    pub unknown_score: S,
    pub letters: &'a Letters,
}

/// The memory that calls reuse; each thread has its own.
pub(in crate::model) struct WordsScratch<Sum> {
    memo: Memo,
    searched_word: SearchedWord,
    /// A word with the U+2581 before it.
    marked_word: Vec<u8>,
    rewritten_text: Vec<u8>,
    pub states: Vec<PathState<Sum>>,
}

impl<Sum> Default for WordsScratch<Sum> {
    fn default() -> Self {
        WordsScratch {
            memo: Memo::default(),
            searched_word: SearchedWord::default(),
            marked_word: Vec::new(),
            rewritten_text: Vec::new(),
            states: Vec::new(),
        }
    }
}

impl<Sum> WordsScratch<Sum> {
    /// Empties the cache of words, and limits the cache to `limit` bytes.
    pub fn renew(&mut self, limit: usize) {
        self.memo = Memo::new(limit);
    }

    /// Returns the number of bytes of the cache of words.
    pub fn cached_bytes(&self) -> usize {
        self.memo.bytes()
    }

    /// Frees buffers that a huge text made large.
    pub fn release(&mut self) {
        if self.states.capacity() > MAX_KEPT_LEN {
            self.states = Vec::new();
        }
        for bytes in [&mut self.marked_word, &mut self.rewritten_text] {
            if bytes.capacity() > MAX_KEPT_LEN {
                *bytes = Vec::new();
            }
        }
    }
}

/// A receiver of paths. Offsets are in the normalized text; if the text is not normalized yet, offsets have no meaning.
pub(in crate::model) trait Receiver {
    /// Receives a cached path that starts at `start`; the first `count` of `ids` are the ids of the path.
    fn receive_path(
        &mut self,
        path: PackedPath,
        ids: &[TokenId; MAX_PATH_ENTRIES],
        count: usize,
        start: u32,
    ) -> Result<()>;
    /// Receives one piece.
    fn receive_piece(&mut self, entry: u32, start: u32, end: u32) -> Result<()>;
    /// Receives unknown characters.
    fn receive_unknown(&mut self, text: &[u8], start: u32) -> Result<()>;
}

impl<S: Score> WordDictionary<'_, S> {
    /// Sends the best path of the text. With a normalizer, the text is not normalized yet.
    pub fn run(
        &self,
        normalizer: Option<&SentencePieceNormalizer>,
        text: &[u8],
        scratch: &mut WordsScratch<S::Sum>,
        receiver: &mut impl Receiver,
    ) -> Result<()> {
        let result = match normalizer {
            Some(normalizer) => self.solve_raw(normalizer, text, scratch, receiver),
            None => self
                .solve_normalized(S::Sum::default(), text, &mut [LetterRun::NONE; RUN_BATCH], scratch, receiver)
                .map(|_| ()),
        };
        scratch.release();
        result
    }

    /// Sends the best path of a text that is not normalized yet.
    fn solve_raw(
        &self,
        normalizer: &SentencePieceNormalizer,
        text: &[u8],
        scratch: &mut WordsScratch<S::Sum>,
        receiver: &mut impl Receiver,
    ) -> Result<()> {
        let mut cursor = RawCursor { at: normalizer.leading_spaces(text), has_space: true };
        let mut sum = S::Sum::default();
        let mut runs = [LetterRun::NONE; RUN_BATCH];
        loop {
            let (count, stop) = self.letters.fill_raw_runs(text, &mut cursor, &mut runs);
            sum = self.solve_runs(sum, text, &runs[..count], scratch, receiver)?;
            match stop {
                ScanStop::Full => {}
                ScanStop::End => return Ok(()),
                ScanStop::Rewrite => {
                    let mut rewritten_text = std::mem::take(&mut scratch.rewritten_text);
                    self.letters.rewrite(normalizer, text, &mut cursor, &mut rewritten_text);
                    let result = self.solve_normalized(sum, &rewritten_text, &mut runs, scratch, receiver);
                    scratch.rewritten_text = rewritten_text;
                    sum = result?;
                }
            }
        }
    }

    /// Sends the best path of a normalized text that starts and ends at boundaries. Returns the sum of scores after the
    /// text.
    fn solve_normalized(
        &self,
        mut sum: S::Sum,
        text: &[u8],
        runs: &mut [LetterRun; RUN_BATCH],
        scratch: &mut WordsScratch<S::Sum>,
        receiver: &mut impl Receiver,
    ) -> Result<S::Sum> {
        let mut at = 0;
        while at < text.len() {
            let (count, end) = self.letters.fill_runs(text, at, runs);
            sum = self.solve_runs(sum, text, &runs[..count], scratch, receiver)?;
            at = end;
        }
        Ok(sum)
    }

    /// Sends the best paths of runs of letters. Returns the sum of scores after the runs. All keys are computed first,
    /// so that the processor loads the cache lines of many words in parallel.
    #[inline]
    fn solve_runs(
        &self,
        mut sum: S::Sum,
        text: &[u8],
        runs: &[LetterRun],
        scratch: &mut WordsScratch<S::Sum>,
        receiver: &mut impl Receiver,
    ) -> Result<S::Sum> {
        let mut keys = [PieceKey::NONE; RUN_BATCH];
        for (run, key) in runs.iter().zip(&mut keys).filter(|(run, _)| run.kind == RunKind::Word) {
            *key = run_key(text, run);
            scratch.memo.prefetch(*key);
        }
        for (run, key) in runs.iter().zip(keys) {
            let (start, end) = (run.start as usize, run.end as usize);
            sum = match run.kind {
                RunKind::Word => {
                    let path = scratch.memo.get(key);
                    match sum_code(S::magnitude(sum)) < path.limit() {
                        true => self.send_cached(path, sum, run.start, receiver)?,
                        false => self.solve_missing(text, *run, (key, path), sum, scratch, receiver)?,
                    }
                }
                RunKind::Piece(entry) => {
                    receiver.receive_piece(entry, run.start, run.end)?;
                    self.scores[entry as usize].add_to(sum)
                }
                RunKind::Unknown(chars) => {
                    receiver
                        .receive_unknown(if start < end { &text[start..end] } else { space_mark::BYTES }, run.start)?;
                    (0..chars).fold(sum, |sum, _| self.unknown_score.add_to(sum))
                }
            };
        }
        Ok(sum)
    }

    /// Sends a cached path. Returns the sum of scores after the path. The loop does not branch on the number of
    /// entries, because the processor would mispredict that branch: missing entries use the last row, which changes no
    /// sum.
    #[inline]
    fn send_cached(&self, path: PackedPath, sum: S::Sum, start: u32, receiver: &mut impl Receiver) -> Result<S::Sum> {
        let (mut sum, mut ids, mut count) = (sum, [TokenId(0); MAX_PATH_ENTRIES], 0);
        for (i, id) in ids.iter_mut().enumerate() {
            let entry = path.entry(i);
            let row = self.rows[(entry as usize).min(self.rows.len() - 1)];
            *id = row.id;
            sum = S::round(row.score.plus(sum));
            count += (entry != END) as usize;
        }
        receiver.receive_path(path, &ids, count, start)?;
        Ok(sum)
    }

    /// Sends the path of a word that is not cached, or whose cached path is not certain at this sum. Returns the sum of
    /// scores after the word.
    #[inline(never)]
    fn solve_missing(
        &self,
        text: &[u8],
        run: LetterRun,
        (key, path): (PieceKey, PackedPath),
        sum: S::Sum,
        scratch: &mut WordsScratch<S::Sum>,
        receiver: &mut impl Receiver,
    ) -> Result<S::Sum> {
        let word = &text[run.start as usize..run.end as usize];
        if run.has_space {
            let mut marked_word = std::mem::take(&mut scratch.marked_word);
            marked_word.clear();
            marked_word.extend_from_slice(space_mark::BYTES);
            marked_word.extend_from_slice(word);
            let result = self.solve_missing_word(&marked_word, run.start, (key, path), sum, scratch, receiver);
            scratch.marked_word = marked_word;
            return result;
        }
        self.solve_missing_word(word, run.start, (key, path), sum, scratch, receiver)
    }

    fn solve_missing_word(
        &self,
        word: &[u8],
        at: u32,
        (key, path): (PieceKey, PackedPath),
        sum: S::Sum,
        scratch: &mut WordsScratch<S::Sum>,
        receiver: &mut impl Receiver,
    ) -> Result<S::Sum> {
        if path.is_cached() || word.len() > MAX_WORD_BYTES {
            return self.search_and_send(word, at, sum, &mut scratch.states, receiver);
        }
        let searched = &mut scratch.searched_word;
        let limit = searched.search(self.trie, self.scores, self.unknown_score.to_double(), word);
        if limit == 0 {
            scratch.memo.insert(key, PackedPath::UNCERTAIN);
        } else if let Some(path) = PackedPath::new(searched.path().iter().map(|&(entry, _)| entry), limit) {
            // `PackedPath::new` refuses `UNKNOWN_ENTRY`, so this path has no unknown characters.
            scratch.memo.insert(key, path);
        }
        if sum_code(S::magnitude(sum)) >= limit as u32 {
            return self.search_and_send(word, at, sum, &mut scratch.states, receiver);
        }
        let mut sum = sum;
        let mut start = 0;
        for &(entry, end) in searched.path() {
            if entry == UNKNOWN_ENTRY {
                sum = S::round(self.unknown_score.plus(sum));
                receiver.receive_unknown(&word[start as usize..end as usize], at + start)?;
            } else {
                sum = S::round(self.scores[entry as usize].plus(sum));
                receiver.receive_piece(entry, at + start, at + end)?;
            }
            start = end;
        }
        Ok(sum)
    }

    /// Searches a word with the sums of the reference, and sends the path. Returns the sum of scores after the word.
    fn search_and_send(
        &self,
        word: &[u8],
        at: u32,
        sum: S::Sum,
        states: &mut Vec<PathState<S::Sum>>,
        receiver: &mut impl Receiver,
    ) -> Result<S::Sum> {
        let (sum, _) = search(self.trie, self.scores, S::round(self.unknown_score), word, sum, states);
        let mut result = Ok(());
        for_each_piece(states, |start, end, entry| {
            if result.is_ok() {
                result = match entry {
                    UNKNOWN_ENTRY => receiver.receive_unknown(&word[start as usize..end as usize], at + start),
                    _ => receiver.receive_piece(entry, at + start, at + end),
                };
            }
        });
        result.map(|()| sum)
    }
}

#[inline]
fn run_key(text: &[u8], run: &LetterRun) -> PieceKey {
    let (start, end) = (run.start as usize, run.end as usize);
    match run.has_space {
        true => PieceKey::new(text, start, end, true),
        false => word_key(text, start, end),
    }
}

#[cfg(test)]
mod tests;
