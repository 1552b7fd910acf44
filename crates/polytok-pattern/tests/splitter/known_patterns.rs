//! Tests published and odd patterns on many texts.

use std::path::PathBuf;

use proptest::prelude::*;

use crate::compared::{COMPARED_PATTERNS, ComparedPattern, pieces_in_bulk, published_patterns};
use crate::texts::{ALPHABET, long_runs, long_text, property_config, text};

#[test]
fn published_and_odd_patterns_are_scanners() {
    for compared in COMPARED_PATTERNS.iter() {
        assert!(compared.splitter.is_scanner(), "{}", compared.name);
    }
}

proptest! {
    #![proptest_config(property_config(1500))]

    #[test]
    fn mixed_text(text in text(ALPHABET, 24)) {
        COMPARED_PATTERNS.iter().for_each(|compared| compared.check(&text));
    }

    #[test]
    fn long_texts(text in long_text()) {
        for compared in COMPARED_PATTERNS.iter() {
            compared.splitter.prepare();
            compared.check(&text);
        }
    }

    #[test]
    fn texts_of_few_letters(text in text("aabbcdx 1'sS.\n", 16)) {
        COMPARED_PATTERNS.iter().for_each(|compared| compared.check(&text));
    }
}

proptest! {
    #![proptest_config(property_config(150))]

    #[test]
    fn texts_of_long_runs(text in long_runs()) {
        for compared in COMPARED_PATTERNS.iter() {
            compared.splitter.prepare();
            compared.check(&text);
        }
    }
}

#[test]
fn runs_of_every_length() {
    let (heads, tails) = (["", "x", " ", "a.\n 12'"], ["", "s", " a", "\n", "1", ".", "漢"]);
    for compared in COMPARED_PATTERNS.iter() {
        compared.splitter.prepare();
        for run in ["a", "Z", "0", " ", "\n", "\r", ".", "'", "漢"] {
            for len in [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33]
                .into_iter()
                .chain(60..=100)
                .chain([127, 128, 129, 256, 257, 500])
            {
                let (head, tail) = (heads[len % heads.len()], tails[len % tails.len()]);
                compared.check(&format!("{head}{}{tail}", run.repeat(len)));
            }
        }
    }
}

/// A piece that begins before a long run can make the first ends in the run differ from the later ends, even if the
/// automaton is in the same state. The run begins at each offset near the end of a chunk of characters.
#[test]
fn pieces_that_begin_before_a_run() {
    let patterns = [
        r"a*b",
        r"c?[^a]",
        r"c{2}|c?[ac]{1,3}+",
        r"a{2,4}[ac]?+|[^a]{3}[ab]$|b",
        r"[ac]{3}(?=a)(?!a)|[^a]?b|(?=a)[ab]",
        r"[ab]{4}$|[ac]",
    ];
    for compared in patterns.map(|pattern| ComparedPattern::new(pattern, pattern)) {
        assert!(compared.splitter.is_scanner(), "{}", compared.name);
        for (head, run) in ["ab", "ac", "ba", "bc", "ca", "cb"].map(|pair| pair.split_at(1)) {
            (50..=66).for_each(|len| compared.check(&format!("{}{}", head.repeat(len), run.repeat(150))));
        }
    }
}

#[test]
fn every_code_point() {
    // Tests each code point between two letters, after a space, and alone on a line. A call checks many code points,
    // because most of the time is spent in calls. The planes 4 to 13 are unassigned in Unicode 17.0, 15 and 16 private.
    for compared in published_patterns() {
        compared.splitter.prepare();
        let mut text = String::new();
        let chars = ('\0'..='\u{3FFFF}').chain('\u{E0000}'..='\u{EFFFF}').chain([char::MAX]);
        for (index, c) in chars.enumerate() {
            text.extend(['a', c, 'B', ' ', c, '\n', c, '\n']);
            if index % 128 == 127 {
                compared.check(&text);
                text.clear();
            }
        }
        compared.check(&text);
    }
}

#[test]
fn every_code_point_alone() {
    for compared in published_patterns() {
        for c in ('\0'..=char::MAX).filter(|&c| (c as u32) < 0x3400 || (c as u32).is_multiple_of(61)) {
            compared.check(c.encode_utf8(&mut [0; 4]));
        }
    }
}

#[test]
fn nasty_texts() {
    let texts = [
        "",
        "\0",
        "\u{10FFFF}",
        " ",
        "  ",
        "\n",
        " \n ",
        "it'ſ",
        "IT'S",
        "'\u{212A}",
        "a\r\n\r\n  b",
        "\u{2028}\u{85}x",
    ];
    for compared in COMPARED_PATTERNS.iter() {
        texts.iter().for_each(|text| compared.check(text));
    }
}

/// The texts would take a quadratic scanner many minutes.
#[test]
fn worst_cases_are_linear() {
    const SIZE: usize = 1 << 18;
    let long = |unit: &str| unit.repeat(SIZE / unit.len());
    let mut texts: Vec<String> = [
        "a", "A", " ", "\n", "\r\n", ".", "1", "aA", "Aa", "AAAa", " \n", "\n ", "'s", "/", "漢", "\u{301}", "ʰ",
        "\u{3000}", "a漢", "ab", "😀",
    ]
    .map(long)
    .to_vec();
    for (head, run, tail) in [
        ("\n", " ", "x"),
        ("", " ", "\n"),
        ("", " ", "\nx"),
        ("", "A", "a"),
        ("", "A", "."),
        ("", "漢", "A"),
        ("x", "ab", "d"),
    ] {
        texts.push(format!("{head}{}{tail}", long(run)));
    }
    texts.push(long(&format!("{}{}", "漢".repeat(500), "A".repeat(500))));
    texts.push(long(&format!("\n{}x", " ".repeat(5000))));
    for compared in COMPARED_PATTERNS.iter() {
        compared.splitter.prepare();
        for text in &texts {
            let mut last = 0;
            compared
                .splitter
                .split(text, |start, end| {
                    assert!(last <= start && start < end);
                    last = end;
                })
                .unwrap();
            assert!(pieces_in_bulk(&compared.splitter, text).last().is_none_or(|&(_, end)| end == last));
        }
    }
}

#[test]
fn corpus_excerpts() {
    let data = std::env::var_os("POLYTOK_DATA")
        .map(PathBuf::from)
        .unwrap_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")));
    let Ok(files) = std::fs::read_dir(data.join("corpus")) else {
        return;
    };
    for file in files {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        // Tests an excerpt from the start, the middle and the end of each file. An excerpt can begin or end inside a
        // character.
        for at in [0, bytes.len() / 2, bytes.len().saturating_sub(12_000)] {
            let chunk = &bytes[at..(at + 12_000).min(bytes.len())];
            let text = String::from_utf8_lossy(chunk);
            for compared in published_patterns() {
                compared.splitter.prepare();
                compared.check(&text);
            }
        }
    }
}
