//! The rules that divide a text into words.

use aho_corasick::{AhoCorasick, MatchKind};
use polytok_memory as memory;

use crate::error::{Error, Result};
use crate::normalize::Normalizer;
use crate::normalize::growth::limit;
use crate::spec::{Normalize, SentencePieceVersion, Split, VocabColumns};
use crate::special::automaton;
use crate::split::chain::SplitChain;
use crate::split::cursor::SplitCursor;
use crate::train::counter::WordCounter;
use crate::vocab::Vocab;

/// The number of pieces that are counted together.
const PIECES: usize = 256;

/// The number of bytes of a window. A longer text is read in windows, because offsets of pieces have 32 bits.
const WINDOW_BYTES: usize = 1 << 30;

/// The rules that divide texts into words. They are the steps of a tokenizer before its model.
pub struct TextRules {
    special: Option<AhoCorasick>,
    /// The length of the longest special token, in bytes.
    pub(super) max_special_len: usize,
    normalizer: Normalizer,
    pub(super) splits: SplitChain,
}

/// Buffers that one thread reuses from text to text.
#[derive(Default)]
pub(super) struct TextScratch {
    normalized: Vec<u8>,
    spare: Vec<u8>,
}

impl TextRules {
    /// Compiles the rules. The leftmost special token matches first; if several begin at the same position, the
    /// longest.
    pub fn compile(special: &[Vec<u8>], normalize: Vec<Normalize>, split: &[Split]) -> Result<TextRules> {
        memory::catch(|| {
            if special.iter().any(Vec::is_empty) {
                return Err(Error::Argument("a special token is empty; remove it".into()));
            }
            let max_special_len = special.iter().map(Vec::len).max().unwrap_or(0);
            let automaton = (!special.is_empty()).then(|| automaton::build(special, MatchKind::LeftmostLongest));
            let special = automaton.transpose().map_err(|error| Error::Argument(format!("special tokens: {error}")))?;
            let vocab = Vocab::new(VocabColumns { offsets: vec![0], ..VocabColumns::default() })?;
            let normalizer = Normalizer::compile(normalize, &vocab, None, SentencePieceVersion::default())?;
            Ok(TextRules { special, max_special_len, normalizer, splits: SplitChain::compile(split)? })
        })
    }

    /// Reports whether pieces at the start of a text can be read before the end of the text is known.
    pub(super) fn is_stream(&self) -> bool {
        self.normalizer.is_empty() && self.splits.is_stream()
    }

    /// Returns the first ordinal after a text of `len` bytes whose ordinal is `base`.
    pub(super) fn next_ordinal(&self, base: u64, len: usize) -> Result<u64> {
        let rewrites = !self.normalizer.is_empty() || self.splits.rewrites();
        let ordinals = if rewrites { limit(limit(len)) } else { len } as u64;
        let after = base.checked_add(ordinals).and_then(|after| after.checked_add(1));
        after.ok_or_else(|| Error::Argument("the positions of all texts exceed 64 bits; give less text".into()))
    }

    /// Counts the words of a text that begin before `to`; a word ends at `to`. The ordinal of the text is `base`.
    pub(super) fn count(
        &self,
        text: &[u8],
        to: usize,
        base: u64,
        scratch: &mut TextScratch,
        counter: &mut WordCounter,
    ) -> Result<()> {
        self.between_special(text, to, &mut |from, end| {
            // Nearly all texts are valid UTF-8, and this check is faster than `utf8_chunks`.
            if let Ok(valid) = std::str::from_utf8(&text[from..end]) {
                return self.count_valid(valid, to - from, base + from as u64, scratch, counter);
            }
            let mut at = from;
            for chunk in text[from..end].utf8_chunks() {
                let (valid, invalid) = (chunk.valid(), chunk.invalid());
                if at < to {
                    self.count_valid(valid, to - at, base + at as u64, scratch, counter)?;
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

    /// Calls `each` with each range between special tokens, if the range begins before `to`.
    pub(super) fn between_special(
        &self,
        text: &[u8],
        to: usize,
        each: &mut dyn FnMut(usize, usize) -> Result<()>,
    ) -> Result<()> {
        let mut at = 0;
        for token in self.special.iter().flat_map(|special| special.find_iter(text)) {
            each(at, token.start())?;
            at = token.end();
            if at >= to {
                return Ok(());
            }
        }
        each(at, text.len())
    }

    /// Reports whether a text contains a special token.
    pub(super) fn has_special(&self, text: &[u8]) -> bool {
        self.special.as_ref().is_some_and(|special| special.is_match(text))
    }

    fn count_valid(
        &self,
        text: &str,
        to: usize,
        base: u64,
        scratch: &mut TextScratch,
        counter: &mut WordCounter,
    ) -> Result<()> {
        if self.is_stream() {
            return self.count_pieces(text, to, base, counter);
        }
        let TextScratch { normalized, spare } = scratch;
        let text = if self.normalizer.is_empty() || text.is_empty() {
            text.as_bytes()
        } else {
            self.normalizer.normalize(text.as_bytes(), normalized, spare)?;
            normalized
        };
        if text.is_empty() || self.splits.is_empty() {
            return if text.is_empty() { Ok(()) } else { counter.add_at(text, 1, base) };
        }
        let pieces = self.splits.rewrite(text, 0, None)?;
        let mut words = pieces.ranges.iter().filter(|(start, end)| start < end);
        words.try_for_each(|&(start, end)| counter.add_at(&pieces.text[start..end], 1, base + start as u64))
    }

    /// Counts the pieces that begin before `to`.
    fn count_pieces(&self, text: &str, to: usize, base: u64, counter: &mut WordCounter) -> Result<()> {
        let mut start = 0;
        while start < to.min(text.len()) {
            let is_boundary = |at: &usize| text.is_char_boundary(*at);
            let end = (start..=start.saturating_add(WINDOW_BYTES).min(text.len())).rfind(is_boundary).unwrap_or(start);
            let (window, base) = (&text[start..end], base + start as u64);
            let count = |pieces: &[(u32, u32)]| {
                let before = pieces.partition_point(|&(begin, _)| start + (begin as usize) < to);
                counter.add_pieces(window.as_bytes(), &pieces[..before], base).map(|()| before == pieces.len())
            };
            let counted = self.pieces(window, end < text.len(), count)?;
            if counted == 0 {
                return Err(Error::Argument(format!(
                    "a piece of the split has more than {WINDOW_BYTES} bytes; use a pattern with shorter pieces, or \
                     divide the text"
                )));
            }
            start += counted;
        }
        Ok(())
    }

    /// Calls `each` with batches of pieces until `each` returns false. If more text can follow, `each` receives only
    /// the pieces that cannot change any more. Returns the end of the last piece, or the end of the text.
    pub(super) fn pieces(
        &self,
        text: &str,
        is_open: bool,
        mut each: impl FnMut(&[(u32, u32)]) -> Result<bool>,
    ) -> Result<usize> {
        let mut pieces = [(0, 0); PIECES];
        let mut cursor = SplitCursor::new();
        let mut certain_end = 0;
        loop {
            let count = self.splits.fill(text, &mut cursor, &mut pieces)?;
            if is_open && (count == 0 || cursor.saw_end(text)) {
                return Ok(certain_end);
            }
            if count == 0 || !each(&pieces[..count])? {
                return Ok(text.len());
            }
            certain_end = pieces[count - 1].1 as usize;
        }
    }
}
