//! Tests the syntax of the scanner's family, and versions of Unicode.

use polytok_pattern::Splitter;

use crate::compared::ComparedPattern;

#[test]
fn patterns_for_an_older_version_of_unicode_are_scanners() {
    // U+A7DC and U+1C8A have been letters since Unicode 16.0.
    let text = "a\u{A7DC} \u{1C8A}\u{301} 12\u{10D40}!\n x";
    let patterns = [
        r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        r"[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}{1,3}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+",
        r"\p{Han}+|[\p{P}\p{S}]+|\P{L}+|\p{^N}",
    ];
    let pieces = |splitter: &Splitter| {
        let mut found = Vec::new();
        splitter.split(text, |start, end| found.push(&text[start..end])).unwrap();
        found
    };
    for pattern in patterns {
        let scanner = Splitter::compile_for(pattern, Some("15.0")).unwrap();
        // A look-ahead with a capture group is outside the scanner's family.
        let general = Splitter::compile_for(&format!("(?:{pattern})(?=|(x))"), Some("15.0")).unwrap();
        assert!(scanner.is_scanner() && !general.is_scanner());
        assert_eq!(pieces(&scanner), pieces(&general), "{pattern}");
        assert_ne!(pieces(&scanner), pieces(&Splitter::compile_for(pattern, Some("16.0")).unwrap()), "{pattern}");
    }
}

#[test]
fn patterns_of_llama_cpp_are_scanners() {
    for pattern in [
        r"\p{N}{1,3}",
        r"[一-龥\u{3040}-ゟ゠-ヿ]+",
        r"[\p{P}\$\+<=>\^~\|`]+",
        r"[0-9][0-9][0-9]",
        r"\s?\p{L}+",
        r"\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+",
        r"\s{512}(?!\S)|\s{256}(?!\S)|\s{1,2}(?!\S)|\s{1}",
        r"[^\n]+|[\n]+",
        r"\S+",
        r"\s?[A-Za-z\xb5\u00C0-\u{d6}\x{D8}-\u01ba]+",
    ] {
        let pattern = pattern.replace(r"\u{3040}", "\u{3040}");
        assert!(Splitter::compile(&pattern).unwrap().is_scanner(), "{pattern}");
    }
}

#[test]
fn escaped_code_points_are_those_of_the_general_engine() {
    for pattern in [r"\x41|\u00e9|\u{6f22}", r"[\x41-\x43\u00e9\x{6F22}\u{1F600}]+", r"(?i:\x6b+)x", r"\x4\x41|a"] {
        let reference = fancy_regex::Regex::new(pattern);
        let splitter = Splitter::compile(pattern);
        assert_eq!(splitter.is_ok(), reference.is_ok(), "{pattern}");
        let (Ok(splitter), Ok(reference)) = (splitter, reference) else { continue };
        assert!(splitter.is_scanner(), "{pattern}");
        ComparedPattern { name: pattern.into(), splitter, reference }.check("ABCé漢😀 kK\u{212A}x a");
    }
}
