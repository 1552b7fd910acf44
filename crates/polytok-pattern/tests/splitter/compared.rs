//! Runs a pattern by polytok and by `fancy_regex`, and compares the matches.

use std::sync::LazyLock;

use polytok_pattern::{Cursor, Splitter};

use crate::patterns::{ODD_PATTERNS, PUBLISHED_PATTERNS};

/// A pattern that is compiled by polytok, and the pattern that is compiled by the reference.
pub(crate) struct ComparedPattern {
    pub(crate) name: String,
    pub(crate) splitter: Splitter,
    pub(crate) reference: fancy_regex::Regex,
}

impl ComparedPattern {
    pub(crate) fn new(name: &str, pattern: &str) -> ComparedPattern {
        ComparedPattern::with_reference(name, pattern, pattern)
    }

    /// Compiles `pattern` for polytok, and `reference` for `fancy_regex` if polytok runs the pattern by its scanner. If
    /// polytok runs the pattern by the general engine, `pattern` itself is compiled for `fancy_regex`.
    pub(crate) fn with_reference(name: &str, pattern: &str, reference: &str) -> ComparedPattern {
        let splitter = Splitter::compile(pattern).unwrap();
        let reference = if splitter.is_scanner() { reference } else { pattern };
        // The engine's own limit of 1,000,000 steps is too low: for a run of n letters, some odd patterns need n² steps.
        let reference = fancy_regex::RegexBuilder::new(reference).backtrack_limit(1 << 30).build().unwrap();
        ComparedPattern { name: name.to_string(), splitter, reference }
    }

    pub(crate) fn check(&self, text: &str) {
        let matches = self.reference.find_iter(text).map(|found| found.unwrap());
        let expected: Vec<_> = matches.map(|found| (found.start(), found.end())).collect();
        assert_eq!(pieces(&self.splitter, text), expected, "{} on {text:?}", self.name);
        let expected: Vec<_> = expected.into_iter().filter(|(start, end)| start < end).collect();
        assert_eq!(pieces_in_bulk(&self.splitter, text), expected, "{} on {text:?}, in bulk", self.name);
    }
}

/// The published patterns, followed by the odd patterns.
pub(crate) static COMPARED_PATTERNS: LazyLock<Vec<ComparedPattern>> = LazyLock::new(|| {
    let odd = ODD_PATTERNS.iter().map(|pattern| (*pattern, *pattern));
    PUBLISHED_PATTERNS.into_iter().chain(odd).map(|(name, pattern)| ComparedPattern::new(name, pattern)).collect()
});

pub(crate) fn published_patterns() -> &'static [ComparedPattern] {
    &COMPARED_PATTERNS[..PUBLISHED_PATTERNS.len()]
}

/// Returns the pieces that `Splitter::split` finds.
pub(crate) fn pieces(splitter: &Splitter, text: &str) -> Vec<(usize, usize)> {
    let mut pieces = Vec::new();
    splitter.split(text, |start, end| pieces.push((start, end))).unwrap();
    pieces
}

/// Returns the pieces that `Splitter::fill` finds.
pub(crate) fn pieces_in_bulk(splitter: &Splitter, text: &str) -> Vec<(usize, usize)> {
    let (mut cursor, mut room, mut pieces) = (Cursor::new(), [(0, 0); 128], Vec::new());
    loop {
        let count = splitter.fill(text, &mut cursor, &mut room).unwrap();
        pieces.extend(room[..count].iter().map(|&(start, end)| (start as usize, end as usize)));
        if count == 0 {
            return pieces;
        }
    }
}
