//! What is a word of a text.

use aho_corasick::{AhoCorasick, MatchKind};

use crate::error::{Error, Result};
use crate::normalize::Normalizer;
use crate::normalize::growth::limit;
use crate::spec::{Line, Normalize, Split, VocabColumns};
use crate::split::chain::Chain;
use crate::split::cursor::Cursor;
use crate::train::counter::WordCounter;
use crate::vocab::Vocab;

/// Pieces that are counted at once.
const PIECES: usize = 256;

/// Longer texts are read through a window: places in a text have fewer than 32 bits.
const WINDOW: usize = 1 << 30;

/// The steps of a tokenizer before its model.
pub struct TextRules {
    special: Option<AhoCorasick>,
    /// Of the special tokens, in bytes.
    pub(super) longest: usize,
    normalizer: Normalizer,
    pub(super) splits: Chain,
}

/// Memory of one thread.
#[derive(Default)]
pub(super) struct Room {
    normalized: Vec<u8>,
    spare: Vec<u8>,
}

impl TextRules {
    /// Compiles the steps. Of the special tokens the leftmost counts, and at one place the longest.
    pub fn compile(special: &[Vec<u8>], normalize: Vec<Normalize>, split: &[Split]) -> Result<TextRules> {
        if special.iter().any(Vec::is_empty) {
            return Err(Error::Argument("a special token is empty".into()));
        }
        let longest = special.iter().map(Vec::len).max().unwrap_or(0);
        let automaton = || AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(special);
        let automaton = if special.is_empty() { None } else { Some(automaton()) };
        let special = automaton.transpose().map_err(|error| Error::Argument(format!("special tokens: {error}")))?;
        let vocab = Vocab::new(VocabColumns { offsets: vec![0], ..VocabColumns::default() })?;
        let normalizer = Normalizer::compile(normalize.to_vec(), &vocab, None, Line::default())?;
        Ok(TextRules { special, longest, normalizer, splits: Chain::compile(split)? })
    }

    /// Pieces of a text are known one after the other, without its end.
    pub(super) fn is_stream(&self) -> bool {
        self.normalizer.is_empty() && self.splits.is_stream()
    }

    /// The first ordinal behind a text of `len` bytes that begins at `base`.
    pub(super) fn behind(&self, base: u64, len: usize) -> Result<u64> {
        let rewrites = !self.normalizer.is_empty() || self.splits.rewrites();
        let taken = if rewrites { limit(limit(len)) } else { len } as u64;
        let behind = base.checked_add(taken).and_then(|behind| behind.checked_add(1));
        behind.ok_or_else(|| Error::Argument("there are more than 2^64 places in all texts".into()))
    }

    /// Counts the words of a text that begin before `to`, where one ends; the ordinal of the text is `base`.
    pub(super) fn count(
        &self,
        text: &[u8],
        to: usize,
        base: u64,
        room: &mut Room,
        counter: &mut WordCounter,
    ) -> Result<()> {
        self.stretches(text, to, &mut |from, end| {
            // Nearly all texts are valid, and this is the faster way to see it.
            if let Ok(valid) = std::str::from_utf8(&text[from..end]) {
                return self.count_valid(valid, to - from, base + from as u64, room, counter);
            }
            let mut at = from;
            for chunk in text[from..end].utf8_chunks() {
                let (valid, invalid) = (chunk.valid(), chunk.invalid());
                if at < to {
                    self.count_valid(valid, to - at, base + at as u64, room, counter)?;
                }
                at += valid.len();
                if at < to && !invalid.is_empty() {
                    counter.add_at(invalid, 1, base + at as u64)?;
                }
                at += invalid.len();
            }
            Ok(())
        })
    }

    /// Calls `each` with what stands between special tokens and begins before `to`.
    pub(super) fn stretches(
        &self,
        text: &[u8],
        to: usize,
        each: &mut dyn FnMut(usize, usize) -> Result<()>,
    ) -> Result<()> {
        let mut at = 0;
        for found in self.special.iter().flat_map(|special| special.find_iter(text)) {
            each(at, found.start())?;
            at = found.end();
            if at >= to {
                return Ok(());
            }
        }
        each(at, text.len())
    }

    /// A special token stands in this text.
    pub(super) fn has_special(&self, text: &[u8]) -> bool {
        self.special.as_ref().is_some_and(|special| special.is_match(text))
    }

    fn count_valid(&self, text: &str, to: usize, base: u64, room: &mut Room, counter: &mut WordCounter) -> Result<()> {
        if self.is_stream() {
            return self.count_pieces(text, to, base, counter);
        }
        let Room { normalized, spare } = room;
        let text = if self.normalizer.is_empty() || text.is_empty() {
            text.as_bytes()
        } else {
            self.normalizer.normalize(text.as_bytes(), normalized, spare)?;
            normalized
        };
        if text.is_empty() || self.splits.is_empty() {
            return if text.is_empty() { Ok(()) } else { counter.add_at(text, 1, base) };
        }
        let pieces = self.splits.pieces(text, 0, None)?;
        let mut words = pieces.ranges.iter().filter(|(start, end)| start < end);
        words.try_for_each(|&(start, end)| counter.add_at(&pieces.text[start..end], 1, base + start as u64))
    }

    /// Counts the pieces that begin before `to`.
    fn count_pieces(&self, text: &str, to: usize, base: u64, counter: &mut WordCounter) -> Result<()> {
        let mut start = 0;
        while start < to.min(text.len()) {
            let is_border = |at: &usize| text.is_char_boundary(*at);
            let end = (start..=start.saturating_add(WINDOW).min(text.len())).rfind(is_border).unwrap_or(start);
            let (window, base) = (&text[start..end], base + start as u64);
            let count = |pieces: &[(u32, u32)]| {
                let before = pieces.partition_point(|&(begin, _)| start + (begin as usize) < to);
                counter.add_pieces(window.as_bytes(), &pieces[..before], base).map(|()| before == pieces.len())
            };
            let sure = self.pieces(window, end < text.len(), count)?;
            if sure == 0 {
                return Err(Error::Argument(format!("a piece of a text is longer than {WINDOW} bytes")));
            }
            start += sure;
        }
        Ok(())
    }

    /// Calls `each` with some pieces at a time, until it says false. Of an open text only those are told that are certain whatever
    /// comes behind it; the end of the last one, or of the text.
    pub(super) fn pieces(
        &self,
        text: &str,
        is_open: bool,
        mut each: impl FnMut(&[(u32, u32)]) -> Result<bool>,
    ) -> Result<usize> {
        let mut pieces = [(0, 0); PIECES];
        let mut cursor = Cursor::new();
        let mut sure = 0;
        loop {
            let count = self.splits.fill(text, &mut cursor, &mut pieces)?;
            if is_open && (count == 0 || cursor.saw_end(text)) {
                return Ok(sure);
            }
            if count == 0 || !each(&pieces[..count])? {
                return Ok(text.len());
            }
            sure = pieces[count - 1].1 as usize;
        }
    }
}
