//! The pattern compiler: its matches are those of fancy_regex, for every pattern and text.

use fancy_regex::RegexBuilder;
use polytok_pattern::{Cursor, Splitter};

use crate::choices::Choices;

/// The limit of steps back in the reference, which makes hard patterns fail soon.
const MAX_STEPS_BACK: usize = 20_000;
const MAX_TEXT_BYTES: usize = 400;

/// Fragments that a pattern is built from if it is not written by the fuzzer.
const FRAGMENTS: &[&str] = &[
    r"\s",
    "+",
    "*",
    "?",
    r"\p{L}",
    r"\p{N}",
    r"[^\s\p{L}\p{N}]",
    "|",
    " ?",
    r"(?!\S)",
    r"\s+",
    "{1,3}",
    "(?i:",
    ")",
    "'s",
    "'t",
    r"[\r\n]",
    r"\p{Lu}",
    r"\p{Ll}",
    r"\p{M}",
    "[",
    "]",
    "^",
    "a-z",
    r"\d",
    r"\w",
    ".",
    "(",
    "(?:",
    r"(?=",
    "+?",
    "++",
    r"\p{Han}",
    "世",
    "é",
    "$",
    r"\b",
    "(?<=",
    "[^",
    "&&",
    r"\P{L}",
    "0-9",
    "{2}",
    "{2,}",
    "A",
    "ſ",
    "K",
];

pub fn run(data: &[u8]) {
    let mut choices = Choices::new(data);
    let is_built = choices.flag();
    let len = choices.below(64);
    let pattern = match is_built {
        true => choices.take(len).iter().map(|&byte| FRAGMENTS[usize::from(byte) % FRAGMENTS.len()]).collect(),
        false => String::from_utf8_lossy(choices.take(len)).into_owned(),
    };
    let mut text = String::from_utf8_lossy(&crate::specs::text(&mut choices)).into_owned();
    text.truncate(text.floor_char_boundary(MAX_TEXT_BYTES));
    let Ok(splitter) = Splitter::compile(&pattern) else { return };
    let built = RegexBuilder::new(&pattern).backtrack_limit(MAX_STEPS_BACK).build();
    let reference = built.unwrap_or_else(|error| panic!("{pattern:?} is refused by fancy_regex: {error}"));
    let Ok(expected) = reference
        .find_iter(&text)
        .take(4 * MAX_TEXT_BYTES)
        .map(|found| found.map(|found| (found.start(), found.end())))
        .collect::<Result<Vec<_>, _>>()
    else {
        return;
    };
    check(&splitter, &pattern, &text, expected);
    splitter.prepare();
    check_breaks(&splitter, &pattern, &text);
}

fn check(splitter: &Splitter, pattern: &str, text: &str, expected: Vec<(usize, usize)>) {
    let mut pieces = Vec::new();
    if splitter.split(text, |start, end| pieces.push((start, end))).is_err() {
        assert!(!splitter.is_scanner());
        return; // a `\K` in a look-behind
    }
    assert_eq!(pieces, expected, "{pattern:?} on {text:?}");
    if splitter.never_empty() {
        assert!(expected.iter().all(|(start, end)| start < end), "{pattern:?} has an empty match in {text:?}");
    }
    if splitter.covers_text() {
        let ends: Vec<usize> = expected.iter().map(|piece| piece.1).collect();
        let starts: Vec<usize> = expected.iter().map(|piece| piece.0).collect();
        assert_eq!(starts, [&[0][..], &ends].concat()[..starts.len()], "{pattern:?} does not cover {text:?}");
        assert_eq!(ends.last().copied().unwrap_or(0), text.len(), "{pattern:?} does not cover {text:?}");
    }
    let full: Vec<_> = expected.into_iter().filter(|(start, end)| start < end).collect();
    assert_eq!(in_bulk(splitter, text), full, "{pattern:?} on {text:?}, in bulk");
}

fn in_bulk(splitter: &Splitter, text: &str) -> Vec<(usize, usize)> {
    let (mut cursor, mut room, mut pieces) = (Cursor::new(), [(0, 0); 128], Vec::new());
    loop {
        let count = splitter.fill(text, &mut cursor, &mut room).unwrap();
        pieces.extend(room[..count].iter().map(|&(start, end)| (start as usize, end as usize)));
        if count == 0 {
            return pieces;
        }
    }
}

/// Checks that a text can be split at the places that the rules name.
fn check_breaks(splitter: &Splitter, pattern: &str, text: &str) {
    let whole = in_bulk(splitter, text);
    for (at, right) in text.char_indices().skip(1) {
        let left = text[..at].chars().next_back().unwrap();
        if splitter.break_between(left, right).is_none() {
            continue;
        }
        let mut joined = in_bulk(splitter, &text[..at]);
        joined.extend(in_bulk(splitter, &text[at..]).iter().map(|(start, end)| (start + at, end + at)));
        assert_eq!(joined, whole, "{pattern:?} on {text:?}, divided at {at}");
    }
    if let Some(end) = splitter.certain_end(text, text.len() / 2) {
        assert!(whole.iter().any(|piece| piece.1 == end), "{pattern:?} on {text:?}: no piece ends at {end}");
    }
}
