//! Merges a long text window by window, so that the work stays in the nearest caches of the processor and grows
//! linearly.
//!
//! **Seams.** A sequence of symbols is the result of merging its text if every two neighbours are the result of merging
//! their own text. Proof: until a merge crosses a border between two symbols, the text of each symbol is merged as if
//! it were the whole text. The first merge across a border would also happen if the text of the two symbols next to the
//! border were the whole text. So a window is merged as if it were the text. Its last symbols, which can depend on the
//! text after the window, are removed, and the next window starts where they started. If the new window's first symbol
//! is the symbol that was removed at this offset, the border is between two neighbours of one correct sequence, so the
//! border is correct. If not, the previous window is merged again, with twice its length.
//!
//! **Periods.** If a window has the same text as the previous window, its symbols are copied, so runs of one character
//! cost almost nothing.
//!
//! Cost: linear if symbols depend only on near text, as in all trained vocabularies; n log n at worst, because the
//! number of doublings is limited and long windows use the heap. Twin: one heap for the whole text, see merge.rs.

use super::merge::{MergeScratch, NoWatcher, PlacedSymbol, merge_long};
use super::merging::Merging;
use super::short;
use super::symbol::Symbol;

/// The number of correct windows of one size after which half the size is tried, unless halving has failed too often.
const WINDOWS_BEFORE_HALVING: u32 = 8;
const MOST_FAILURES: u32 = 16;

/// A window of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// The offset of the first byte of the window.
    at: usize,
    /// The number of final symbols before the window.
    kept: usize,
    /// The symbol that must be the first of the window.
    expected: Option<Symbol>,
}

/// Merges a text and appends the final symbols; initial symbols must be bytes or characters.
#[inline]
pub(super) fn merge_text(merging: &Merging, text: &[u8], symbols: &mut Vec<PlacedSymbol>, scratch: &mut MergeScratch) {
    let end = merging.start(text, 0, &mut scratch.short);
    if end < text.len() {
        return WindowRun::new(merging, text).merge(symbols, scratch);
    }
    scratch.short.merge(&merging.pairs);
    symbols.extend(scratch.short.left());
}

/// A text that is being merged window by window.
struct WindowRun<'a> {
    merging: &'a Merging,
    text: &'a [u8],
    /// The largest number of symbols of a window.
    size: usize,
    /// The number of correct windows of this size.
    correct_windows: u32,
    failures: u32,
}

impl<'a> WindowRun<'a> {
    fn new(merging: &'a Merging, text: &'a [u8]) -> WindowRun<'a> {
        WindowRun { merging, text, size: short::MAX_SYMBOLS, correct_windows: 0, failures: 0 }
    }

    #[cold]
    fn merge(&mut self, symbols: &mut Vec<PlacedSymbol>, scratch: &mut MergeScratch) {
        let mut windows = std::mem::take(&mut scratch.windows);
        windows.clear();
        let mut next = Window { at: 0, kept: symbols.len(), expected: None };
        loop {
            symbols.truncate(next.kept);
            let end = self.window(next.at, symbols, scratch);
            let is_expected = |expected| symbols.get(next.kept).is_some_and(|first| first.symbol == expected);
            if !next.expected.is_none_or(is_expected) {
                next = windows.pop().unwrap_or(Window { expected: None, ..next });
                self.grow();
            } else if end == self.text.len() {
                break;
            } else if let Some(seam) = self.seam(next, end, symbols) {
                let PlacedSymbol { symbol, start, .. } = symbols[seam];
                symbols.truncate(seam);
                windows.push(next);
                self.count_correct_window();
                let at = self.repeat(next, end, start as usize, symbol, symbols);
                next = Window { at, kept: symbols.len(), expected: Some(symbol) };
            } else {
                self.grow();
            }
        }
        windows.truncate(short::MAX_SYMBOLS);
        windows.shrink_to(short::MAX_SYMBOLS);
        scratch.windows = windows;
    }

    /// Merges a window alone; returns its end in the text.
    fn window(&self, at: usize, symbols: &mut Vec<PlacedSymbol>, scratch: &mut MergeScratch) -> usize {
        let rest = &self.text[at..];
        if self.size <= short::MAX_SYMBOLS {
            let end = at + self.merging.start(rest, at, &mut scratch.short);
            scratch.short.merge(&self.merging.pairs);
            symbols.extend(scratch.short.left());
            return end;
        }
        let mut own = std::mem::take(&mut scratch.symbols);
        own.clear();
        let end = at + self.merging.units.push_some(rest, at, self.size, &mut own);
        merge_long(&self.merging.pairs, &mut own, scratch, &mut NoWatcher);
        symbols.extend_from_slice(&own);
        scratch.symbols = own;
        end
    }

    /// Returns the index of the first symbol that is removed. The last quarter of the window is usually more than the
    /// text on which the symbols before it depend.
    fn seam(&self, window: Window, end: usize, symbols: &[PlacedSymbol]) -> Option<usize> {
        let margin = (end - window.at) / 4;
        let latest = (end - margin) as u32;
        let from = window.kept + 1;
        symbols.get(from..)?.iter().rposition(|symbol| symbol.start <= latest).map(|seam| from + seam)
    }

    /// Repeats the kept symbols of a window once per repetition of the text, if the symbol after the kept symbols
    /// equals the window's first symbol. Returns the end of the repetitions in the text.
    fn repeat(&self, window: Window, end: usize, at: usize, symbol: Symbol, symbols: &mut Vec<PlacedSymbol>) -> usize {
        let (len, period) = (end - window.at, at - window.at);
        let same = common_prefix_len(&self.text[window.at..], &self.text[at..]);
        if same < len || symbols[window.kept].symbol != symbol {
            return at;
        }
        // The last repetition must not end at the end of the text, where all symbols are kept.
        let repeats = (same - len) / period + (at + same < self.text.len()) as usize;
        let kept = window.kept..symbols.len();
        for repeat in 1..=repeats {
            for i in kept.clone() {
                let PlacedSymbol { symbol, start, .. } = symbols[i];
                symbols.push(PlacedSymbol::new(symbol, start as usize + repeat * period));
            }
        }
        at + repeats * period
    }

    fn grow(&mut self) {
        self.size *= 2;
        self.correct_windows = 0;
        self.failures += 1;
    }

    fn count_correct_window(&mut self) {
        self.correct_windows += 1;
        if self.correct_windows == WINDOWS_BEFORE_HALVING
            && self.size > short::MAX_SYMBOLS
            && self.failures < MOST_FAILURES
        {
            self.size /= 2;
            self.correct_windows = 0;
        }
    }
}

/// Returns a lower bound of the number of bytes that two texts have in common at their starts.
fn common_prefix_len(one: &[u8], other: &[u8]) -> usize {
    const BLOCK: usize = 64;
    let blocks = one.chunks_exact(BLOCK).zip(other.chunks_exact(BLOCK));
    BLOCK * blocks.take_while(|(one, other)| one == other).count()
}
