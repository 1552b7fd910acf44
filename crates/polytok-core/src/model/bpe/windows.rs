//! Merges a long text window by window, so that the work stays in the nearest caches of the processor and grows
//! linearly.
//!
//! **Borders.** A sequence of symbols is the result of merging its text if every pair of neighbours is the result of
//! merging the text of these two symbols. Proof: until a merge crosses a border between two symbols, the text of each
//! symbol is merged as if it were the whole text. The first merge across a border would also happen if the text of the
//! two symbols next to the border were the whole text. So a window is merged as if it were the text. Its last symbols,
//! which can depend on the text after the window, are removed, and the next window starts where they started. If the
//! first symbol of the new window equals the symbol that was removed at this offset, the symbols on both sides of the
//! border were already neighbours in the previous window, so the border is correct. If not, the previous window is
//! merged again, with twice its length.
//!
//! **Periods.** If a window has the same text as the previous window, its symbols are copied, so repetitions of a short
//! text cost almost nothing. A text that repeats one unit needs no windows, see runs.rs.
//!
//! Cost: linear if symbols depend only on near text, as in all trained vocabularies; n log n at worst, because the
//! number of doublings is limited and long windows use the heap. Twin: one heap for the whole text, see merge.rs.

use polytok_memory::Grow;

use super::merge::{MergeScratch, NoWatcher, PlacedSymbol, merge_long};
use super::merging::Merging;
use super::runs::merge_run;
use super::short;
use super::symbol::Symbol;

/// After this number of correct windows of one size, half the size is tried, unless a smaller size has failed too
/// often.
const WINDOWS_BEFORE_HALVING: u32 = 8;
const MAX_FAILURES: u32 = 16;

/// If two windows are not correct, a text of at most this number of bytes is merged as one window. Long runs of spaces
/// are such texts: an entry of 32 spaces is a symbol only if no longer entry of spaces fits, so small windows fail.
const MAX_WHOLE_BYTES: usize = 512;

/// A window of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// The offset of the first byte of the window.
    at: usize,
    /// The number of final symbols before the window.
    kept_count: usize,
    /// The symbol that must be the first of the window.
    expected_symbol: Option<Symbol>,
}

/// Merges a text and appends the final symbols; initial symbols must be bytes or characters.
#[inline]
pub(super) fn merge_text(merging: &Merging, text: &[u8], symbols: &mut Vec<PlacedSymbol>, scratch: &mut MergeScratch) {
    let end = merging.start(text, 0, &mut scratch.short);
    if end < text.len() {
        return merge_long_text(merging, text, symbols, scratch);
    }
    scratch.short.merge(&merging.pairs);
    symbols.checked_extend(scratch.short.remaining_symbols());
}

#[cold]
fn merge_long_text(merging: &Merging, text: &[u8], symbols: &mut Vec<PlacedSymbol>, scratch: &mut MergeScratch) {
    if !merge_run(merging, text, symbols) {
        WindowRun::new(merging, text).merge(symbols, scratch);
    }
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

    fn merge(&mut self, symbols: &mut Vec<PlacedSymbol>, scratch: &mut MergeScratch) {
        let mut earlier_windows = std::mem::take(&mut scratch.windows);
        earlier_windows.clear();
        let mut next_window = Window { at: 0, kept_count: symbols.len(), expected_symbol: None };
        loop {
            symbols.truncate(next_window.kept_count);
            let end = self.merge_window(next_window.at, symbols, scratch);
            let is_expected =
                |expected| symbols.get(next_window.kept_count).is_some_and(|first| first.symbol == expected);
            if !next_window.expected_symbol.is_none_or(is_expected) {
                next_window = earlier_windows.pop().unwrap_or(Window { expected_symbol: None, ..next_window });
                self.grow();
            } else if end == self.text.len() {
                break;
            } else if let Some(border) = self.border(next_window, end, symbols) {
                let PlacedSymbol { symbol, start, .. } = symbols[border];
                symbols.truncate(border);
                earlier_windows.checked_push(next_window);
                self.count_correct_window();
                let at = self.repeat(next_window, end, start as usize, symbol, symbols);
                next_window = Window { at, kept_count: symbols.len(), expected_symbol: Some(symbol) };
            } else {
                self.grow();
            }
        }
        earlier_windows.truncate(short::MAX_SYMBOLS);
        earlier_windows.shrink_to(short::MAX_SYMBOLS);
        scratch.windows = earlier_windows;
    }

    /// Merges a window alone; returns its end in the text.
    fn merge_window(&self, at: usize, symbols: &mut Vec<PlacedSymbol>, scratch: &mut MergeScratch) -> usize {
        let remaining_text = &self.text[at..];
        if self.size <= short::MAX_SYMBOLS {
            let end = at + self.merging.start(remaining_text, at, &mut scratch.short);
            scratch.short.merge(&self.merging.pairs);
            symbols.checked_extend(scratch.short.remaining_symbols());
            return end;
        }
        let mut window_symbols = std::mem::take(&mut scratch.symbols);
        window_symbols.clear();
        let end = at + self.merging.units.push_up_to(remaining_text, at, self.size, &mut window_symbols);
        merge_long(&self.merging.pairs, &mut window_symbols, scratch, &mut NoWatcher);
        symbols.checked_extend_from_slice(&window_symbols);
        scratch.symbols = window_symbols;
        end
    }

    /// Returns the index of the first symbol of the window that is removed. At least a quarter of the window is
    /// removed, because the symbols before the border usually depend on less text than that.
    fn border(&self, window: Window, end: usize, symbols: &[PlacedSymbol]) -> Option<usize> {
        let margin = (end - window.at) / 4;
        let latest = (end - margin) as u32;
        let from = window.kept_count + 1;
        symbols.get(from..)?.iter().rposition(|symbol| symbol.start <= latest).map(|border| from + border)
    }

    /// If the text after the kept symbols repeats the text of the window, and the next symbol equals the first symbol
    /// of the window, copies the kept symbols once for each repetition. Returns the end of the repetitions in the text.
    fn repeat(&self, window: Window, end: usize, at: usize, symbol: Symbol, symbols: &mut Vec<PlacedSymbol>) -> usize {
        let (len, period) = (end - window.at, at - window.at);
        let common_len = common_prefix_len(&self.text[window.at..], &self.text[at..]);
        if common_len < len || symbols[window.kept_count].symbol != symbol {
            return at;
        }
        // The last repetition must not end at the end of the text, where all symbols are kept.
        let repeat_count = (common_len - len) / period + (at + common_len < self.text.len()) as usize;
        let kept_symbols = window.kept_count..symbols.len();
        for repeat in 1..=repeat_count {
            for i in kept_symbols.clone() {
                let PlacedSymbol { symbol, start, .. } = symbols[i];
                symbols.checked_push(PlacedSymbol::new(symbol, start as usize + repeat * period));
            }
        }
        at + repeat_count * period
    }

    fn grow(&mut self) {
        let is_whole_next = self.failures > 0 && self.text.len() <= MAX_WHOLE_BYTES;
        self.size = if is_whole_next { MAX_WHOLE_BYTES } else { 2 * self.size };
        self.correct_windows = 0;
        self.failures += 1;
    }

    fn count_correct_window(&mut self) {
        self.correct_windows += 1;
        if self.correct_windows == WINDOWS_BEFORE_HALVING
            && self.size > short::MAX_SYMBOLS
            && self.failures < MAX_FAILURES
        {
            self.size /= 2;
            self.correct_windows = 0;
        }
    }
}

/// Returns a lower bound of the number of bytes that two texts have in common at their starts.
fn common_prefix_len(left: &[u8], right: &[u8]) -> usize {
    const BLOCK_LEN: usize = 64;
    let blocks = left.chunks_exact(BLOCK_LEN).zip(right.chunks_exact(BLOCK_LEN));
    BLOCK_LEN * blocks.take_while(|(left, right)| left == right).count()
}
