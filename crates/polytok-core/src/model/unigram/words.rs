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

use polytok_memory::Grow;

use super::best_path::{PathState, Score, UNKNOWN_ENTRY, for_each_piece, search};
use super::certain::{MAX_WORD_BYTES, SearchedWord, sum_code};
use super::letters::{LetterRun, Letters, RUN_BATCH, RunKind};
use super::memo::{END, MAX_PATH_ENTRIES, Memo, PackedPath, PathPair, word_key};
use super::raw::{RawCursor, ScanStop};
use crate::cache::PieceKey;
use crate::error::Result;
use crate::normalize::sentencepiece::{OffsetMap, SentencePieceNormalizer};
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
pub(in crate::model) struct WordsScratch {
    memo: Memo,
    /// The keys and hashes of the words of a batch.
    keys: Box<[(PieceKey, u32); RUN_BATCH]>,
    searched_word: SearchedWord,
    /// A word with the U+2581 before it.
    marked_word: Vec<u8>,
    rewritten_text: Vec<u8>,
    pub states: Vec<PathState<f32>>,
}

impl Default for WordsScratch {
    fn default() -> Self {
        WordsScratch {
            memo: Memo::default(),
            keys: Box::new([(PieceKey::NONE, 0); RUN_BATCH]),
            searched_word: SearchedWord::default(),
            marked_word: Vec::new(),
            rewritten_text: Vec::new(),
            states: Vec::new(),
        }
    }
}

impl WordsScratch {
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

/// The number of bytes that offsets in a text before normalization are too large by, so that there is room for the
/// U+2581 before the first run.
pub const RAW_BASE: u32 = space_mark::BYTES.len() as u32;

/// A receiver of paths. Offsets are in the normalized text. If the text is not normalized yet, they are in the text
/// before normalization and too large by `RAW_BASE`; only the ends of pieces have a meaning.
pub(in crate::model) trait Receiver {
    /// The offsets of rewritten text that the receiver needs.
    type Offsets: OffsetMap + Default;

    /// Starts a part that was rewritten from byte `from` of the text on. `offsets` has the offset in the text of each
    /// byte, and then the offset of the byte after the part.
    fn begin_rewritten(&mut self, _offsets: &Self::Offsets, _from: usize) {}
    /// Ends a part that was rewritten; the offsets of its pieces are in the rewritten text.
    fn end_rewritten(&mut self, _offsets: &Self::Offsets) {}
    /// Receives a cached path of one or two entries, from `start` to `end`.
    fn receive_pair(&mut self, pair: PathPair, start: u32, end: u32) -> Result<()>;
    /// Receives a cached list that starts at `start`; the first `count` of `ids` are the ids of the list.
    fn receive_list(
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

impl<S: Score<Sum = f32>> WordDictionary<'_, S> {
    /// Sends the best path of the text. With a normalizer, the text is not normalized yet.
    pub fn run<R: Receiver>(
        &self,
        normalizer: Option<&SentencePieceNormalizer>,
        text: &[u8],
        scratch: &mut WordsScratch,
        receiver: &mut R,
    ) -> Result<()> {
        let result = match normalizer {
            Some(normalizer) => self.solve_raw(normalizer, text, scratch, receiver),
            None => self.solve_normalized(0.0, text, &mut [LetterRun::NONE; RUN_BATCH], scratch, receiver).map(|_| ()),
        };
        scratch.release();
        result
    }

    /// Sends the best path of a text that is not normalized yet.
    fn solve_raw<R: Receiver>(
        &self,
        normalizer: &SentencePieceNormalizer,
        text: &[u8],
        scratch: &mut WordsScratch,
        receiver: &mut R,
    ) -> Result<()> {
        let mut cursor = RawCursor { at: normalizer.leading_spaces(text), has_space: true };
        let mut sum = 0.0;
        let mut runs = [LetterRun::NONE; RUN_BATCH];
        loop {
            let (count, stop) = self.letters.fill_raw_runs(text, &mut cursor, &mut runs);
            sum = self.solve_runs::<true>(sum, text, &runs[..count], scratch, receiver)?;
            match stop {
                ScanStop::Full => {}
                ScanStop::End => return Ok(()),
                ScanStop::Rewrite => {
                    let mut rewritten_text = std::mem::take(&mut scratch.rewritten_text);
                    let (mut offsets, from) = (R::Offsets::default(), cursor.at);
                    self.letters.rewrite(normalizer, text, &mut cursor, &mut rewritten_text, &mut offsets);
                    receiver.begin_rewritten(&offsets, from);
                    let result = self.solve_normalized(sum, &rewritten_text, &mut runs, scratch, receiver);
                    receiver.end_rewritten(&offsets);
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
        mut sum: f32,
        text: &[u8],
        runs: &mut [LetterRun; RUN_BATCH],
        scratch: &mut WordsScratch,
        receiver: &mut impl Receiver,
    ) -> Result<f32> {
        let mut at = 0;
        while at < text.len() {
            let (count, end) = self.letters.fill_runs(text, at, runs);
            sum = self.solve_runs::<false>(sum, text, &runs[..count], scratch, receiver)?;
            at = end;
        }
        Ok(sum)
    }

    /// Sends the best paths of runs of letters. Returns the sum of scores after the runs. All keys are computed first,
    /// so that the processor loads the cache lines of many words in parallel.
    #[inline]
    fn solve_runs<const IS_RAW: bool>(
        &self,
        mut sum: f32,
        text: &[u8],
        runs: &[LetterRun],
        scratch: &mut WordsScratch,
        receiver: &mut impl Receiver,
    ) -> Result<f32> {
        for (run, slot) in runs.iter().zip(scratch.keys.iter_mut()).filter(|(run, _)| run.kind == RunKind::Word) {
            let key = if IS_RAW { raw_key(text, run) } else { normalized_key(text, run) };
            let hash = key.hash();
            scratch.memo.prefetch(hash);
            *slot = (key, hash);
        }
        for (i, run) in runs.iter().enumerate() {
            let base = if IS_RAW { RAW_BASE } else { 0 };
            let (start, end) = (run.start + base - if run.has_space { RAW_BASE } else { 0 }, run.end + base);
            sum = match run.kind {
                RunKind::Word => {
                    let (key, hash) = scratch.keys[i];
                    let path = scratch.memo.get(key, hash);
                    match sum_code(sum) < path.pair_limit() {
                        true => self.send_pair(path.to_pair(), sum, (start, end), receiver)?,
                        false => self.solve_other((text, start), *run, (key, path), sum, scratch, receiver)?,
                    }
                }
                RunKind::Piece(entry) => {
                    receiver.receive_piece(entry, start, end)?;
                    self.scores[entry as usize].add_to(sum)
                }
                RunKind::Unknown(chars) => self.send_unknown((text, start), *run, chars, sum, receiver)?,
            };
        }
        Ok(sum)
    }

    /// Sends a run of unknown characters, or an unknown U+2581 that is not in the text. Returns the sum of scores after
    /// the run.
    #[inline(never)]
    fn send_unknown(
        &self,
        (text, start): (&[u8], u32),
        run: LetterRun,
        chars: u32,
        sum: f32,
        receiver: &mut impl Receiver,
    ) -> Result<f32> {
        let unknown_text = &text[run.start as usize..run.end as usize];
        receiver.receive_unknown(if unknown_text.is_empty() { space_mark::BYTES } else { unknown_text }, start)?;
        Ok((0..chars).fold(sum, |sum, _| self.unknown_score.add_to(sum)))
    }

    /// Sends a cached pair. Returns the sum of scores after the pair. The scores of a pair have single precision, so
    /// the sum in double precision, rounded to single precision, is the sum in single precision.
    #[inline]
    fn send_pair(
        &self,
        pair: PathPair,
        sum: f32,
        (start, end): (u32, u32),
        receiver: &mut impl Receiver,
    ) -> Result<f32> {
        receiver.receive_pair(pair, start, end)?;
        Ok(sum + pair.scores[0] + pair.scores[1])
    }

    /// Sends the path of a word that is cached as a list or not cached, or whose cached path is not certain at this
    /// sum. Returns the sum of scores after the word.
    #[inline(never)]
    fn solve_other(
        &self,
        (text, start): (&[u8], u32),
        run: LetterRun,
        (key, path): (PieceKey, PackedPath),
        sum: f32,
        scratch: &mut WordsScratch,
        receiver: &mut impl Receiver,
    ) -> Result<f32> {
        match sum_code(sum) < path.list_limit() {
            true => self.send_list(path, sum, start, receiver),
            false => self.solve_missing((text, start), run, (key, path), sum, scratch, receiver),
        }
    }

    /// Sends a cached list. Returns the sum of scores after the list. The loop does not branch on the number of
    /// entries, because the processor would mispredict that branch: missing entries use the last row, which changes no
    /// sum.
    #[inline]
    fn send_list(&self, path: PackedPath, sum: f32, start: u32, receiver: &mut impl Receiver) -> Result<f32> {
        let (mut sum, mut ids, mut count) = (sum, [TokenId(0); MAX_PATH_ENTRIES], 0);
        for (i, id) in ids.iter_mut().enumerate() {
            let entry = path.entry(i);
            let row = self.rows[(entry as usize).min(self.rows.len() - 1)];
            *id = row.id;
            sum = S::round(row.score.plus(sum));
            count += (entry != END) as usize;
        }
        receiver.receive_list(path, &ids, count, start)?;
        Ok(sum)
    }

    /// Sends the path of a word that is not cached, or whose cached path is not certain at this sum. Returns the sum of
    /// scores after the word.
    #[inline(never)]
    fn solve_missing(
        &self,
        (text, start): (&[u8], u32),
        run: LetterRun,
        (key, path): (PieceKey, PackedPath),
        sum: f32,
        scratch: &mut WordsScratch,
        receiver: &mut impl Receiver,
    ) -> Result<f32> {
        let word = &text[run.start as usize..run.end as usize];
        if run.has_space {
            let mut marked_word = std::mem::take(&mut scratch.marked_word);
            marked_word.clear();
            marked_word.checked_extend_from_slice(space_mark::BYTES);
            marked_word.checked_extend_from_slice(word);
            let result = self.solve_missing_word(&marked_word, start, (key, path), sum, scratch, receiver);
            scratch.marked_word = marked_word;
            return result;
        }
        self.solve_missing_word(word, start, (key, path), sum, scratch, receiver)
    }

    fn solve_missing_word(
        &self,
        word: &[u8],
        at: u32,
        (key, path): (PieceKey, PackedPath),
        sum: f32,
        scratch: &mut WordsScratch,
        receiver: &mut impl Receiver,
    ) -> Result<f32> {
        if path.is_cached() || word.len() > MAX_WORD_BYTES {
            return self.search_and_send(word, at, sum, &mut scratch.states, receiver);
        }
        let searched = &mut scratch.searched_word;
        let limit = searched.search(self.trie, self.scores, self.unknown_score.to_double(), word);
        if let Some(path) = self.pack(searched.path(), limit) {
            scratch.memo.insert(key, path);
        }
        if sum_code(sum) >= limit as u32 {
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

    /// Packs a path with its limit; None if the path has unknown characters or is too long.
    fn pack(&self, path: &[(u32, u32)], limit: u8) -> Option<PackedPath> {
        if limit == 0 {
            return Some(PackedPath::UNCERTAIN);
        }
        // `PackedPath::list` refuses `UNKNOWN_ENTRY`, so a list has no unknown characters.
        let list = || PackedPath::list(path.iter().map(|&(entry, _)| entry), limit);
        self.pair(path).and_then(|pair| PackedPath::pair(pair, limit)).or_else(list)
    }

    /// Returns a path of one or two entries as a pair; None if the path is longer or has unknown characters, or if a
    /// score has double precision.
    fn pair(&self, path: &[(u32, u32)]) -> Option<PathPair> {
        let &[(_, first_len), ..] = path else { return None };
        let mut pair = PathPair { ids: [TokenId(0); 2], scores: [-0.0; 2], first_len, has_second: path.len() == 2 };
        for (i, &(entry, _)) in path.iter().enumerate() {
            let score = self.rows.get(entry as usize)?.score.to_double();
            *pair.ids.get_mut(i)? = self.rows[entry as usize].id;
            pair.scores[i] = score as f32;
            if pair.scores[i] as f64 != score {
                return None;
            }
        }
        Some(pair)
    }

    /// Searches a word with the sums of the reference, and sends the path. Returns the sum of scores after the word.
    fn search_and_send(
        &self,
        word: &[u8],
        at: u32,
        sum: f32,
        states: &mut Vec<PathState<f32>>,
        receiver: &mut impl Receiver,
    ) -> Result<f32> {
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

/// Returns the key of a word in text before normalization, in which U+2581 is never copied.
#[inline]
fn raw_key(text: &[u8], run: &LetterRun) -> PieceKey {
    PieceKey::new(text, run.start as usize, run.end as usize, run.has_space)
}

/// Returns the key of a word in normalized text.
#[inline]
fn normalized_key(text: &[u8], run: &LetterRun) -> PieceKey {
    word_key(text, run.start as usize, run.end as usize)
}

#[cfg(test)]
mod tests;
