//! Merging a long text window by window, so that the work stays in the nearest caches and grows with the length alone.
//!
//! **Seams.** A sequence of symbols is what merging makes of its text if each two neighbours are what merging makes of theirs: as long
//! as nothing has crossed a border between the symbols, each of them is merged as it would be alone, and the first merge to cross one
//! would cross it too if the two symbols beside it were all the text. So a window is merged as if it were the text, the symbols at its
//! end, which may depend on what comes behind it, are taken back, and the next window starts where they did. If its first symbol is the
//! one that stood there before, then the border is one between neighbours of one correct sequence and it stays. If not, the
//! window before is merged again, twice as long.
//!
//! **Periods.** A window with the text of the last one gives the same symbols, so that runs of one character cost next to nothing.
//!
//! Cost: linear where symbols depend on what is near, as they do in all trained vocabularies; n log n at worst, since windows are
//! doubled only so often and long ones use the heap. Twin: one heap for all, see merge.rs.

use super::merge::{MergeScratch, PlacedSymbol, Unwatched, merge_long};
use super::merging::Merging;
use super::short;
use super::symbol::Symbol;

/// After so many windows of a size that held, half of it is tried, unless it went wrong too often.
const CALM: u32 = 8;
const MOST_FAILURES: u32 = 16;

/// A window, of which symbols will be kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// Its first byte.
    at: usize,
    /// How many symbols there were before it.
    kept: usize,
    /// The symbol that has to be its first.
    expected: Option<Symbol>,
}

/// Appends what a text becomes, whose symbols are bytes or characters.
#[inline]
pub(super) fn merge_text(merging: &Merging, text: &[u8], symbols: &mut Vec<PlacedSymbol>, scratch: &mut MergeScratch) {
    let end = merging.start(text, 0, &mut scratch.short);
    if end < text.len() {
        return WindowRun::new(merging, text).merge(symbols, scratch);
    }
    scratch.short.merge(&merging.pairs);
    symbols.extend(scratch.short.left());
}

/// A text on its way.
struct WindowRun<'a> {
    merging: &'a Merging,
    text: &'a [u8],
    /// The most symbols of a window.
    size: usize,
    /// How many windows of this size held.
    calm: u32,
    failures: u32,
}

impl<'a> WindowRun<'a> {
    fn new(merging: &'a Merging, text: &'a [u8]) -> WindowRun<'a> {
        WindowRun { merging, text, size: short::MOST, calm: 0, failures: 0 }
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
                self.hold();
                let at = self.repeat(next, end, start as usize, symbol, symbols);
                next = Window { at, kept: symbols.len(), expected: Some(symbol) };
            } else {
                self.grow();
            }
        }
        windows.truncate(short::MOST);
        windows.shrink_to(short::MOST);
        scratch.windows = windows;
    }

    /// Merges a window on its own; where it ends.
    fn window(&self, at: usize, symbols: &mut Vec<PlacedSymbol>, scratch: &mut MergeScratch) -> usize {
        let rest = &self.text[at..];
        if self.size <= short::MOST {
            let end = at + self.merging.start(rest, at, &mut scratch.short);
            scratch.short.merge(&self.merging.pairs);
            symbols.extend(scratch.short.left());
            return end;
        }
        let mut own = std::mem::take(&mut scratch.symbols);
        own.clear();
        let end = at + self.merging.units.push_some(rest, at, self.size, &mut own);
        merge_long(&self.merging.pairs, &mut own, scratch, &mut Unwatched);
        symbols.extend_from_slice(&own);
        scratch.symbols = own;
        end
    }

    /// The first symbol that is taken back: a quarter of the window is enough for what stands before it to be settled.
    fn seam(&self, window: Window, end: usize, symbols: &[PlacedSymbol]) -> Option<usize> {
        let margin = (end - window.at) / 4;
        let latest = (end - margin) as u32;
        let from = window.kept + 1;
        symbols.get(from..)?.iter().rposition(|symbol| symbol.start <= latest).map(|seam| from + seam)
    }

    /// Repeats what was kept of a window while the text does, if its first symbol is the one after it too. Where it ends.
    fn repeat(&self, window: Window, end: usize, at: usize, symbol: Symbol, symbols: &mut Vec<PlacedSymbol>) -> usize {
        let (len, period) = (end - window.at, at - window.at);
        let same = common(&self.text[window.at..], &self.text[at..]);
        if same < len || symbols[window.kept].symbol != symbol {
            return at;
        }
        // The last one must not be the end of the text, where all symbols are kept.
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
        self.calm = 0;
        self.failures += 1;
    }

    fn hold(&mut self) {
        self.calm += 1;
        if self.calm == CALM && self.size > short::MOST && self.failures < MOST_FAILURES {
            self.size /= 2;
            self.calm = 0;
        }
    }
}

/// At least how many bytes two texts start with alike, at most all.
fn common(one: &[u8], other: &[u8]) -> usize {
    const BLOCK: usize = 64;
    let blocks = one.chunks_exact(BLOCK).zip(other.chunks_exact(BLOCK));
    BLOCK * blocks.take_while(|(one, other)| one == other).count()
}
