//! Tests the patterns outside the scanner's family, which the general engine runs.

use polytok_pattern::{Error, Splitter};

use crate::compared::{ComparedPattern, pieces};

#[test]
fn patterns_outside_the_family_fall_back() {
    let patterns =
        ["(a+)+b", "(?:ab)*", "a*", "a+?b", "(?<=a)b", r"(a)\1", r"\bword\b", "^a", "(?i)a", r"\p{Lu}+\p{L}+\d", ""];
    for pattern in patterns {
        let compared = ComparedPattern::new(pattern, pattern);
        assert!(!compared.splitter.is_scanner(), "{pattern}");
        ["", "aab", "ab word aa", "AAb1", "ééb"].iter().for_each(|text| compared.check(text));
    }
}

#[test]
fn a_bad_pattern_is_shown_with_the_reason() {
    let error = Splitter::compile("(a").err().unwrap();
    assert!(matches!(&error, Error::Pattern(text) if text.contains("\"(a\"") && text.contains("paren")), "{error}");
}

#[test]
fn giving_up_is_an_error_with_the_offset() {
    let splitter = Splitter::compile(r"b|(c)?(?:a|(?=a)a)+(?!a)\1d").unwrap();
    let error = splitter.split(&format!("bb{}", "a".repeat(64)), |_, _| ()).err().unwrap();
    assert!(matches!(&error, Error::Search(text) if text.contains("at byte 2:")), "{error}");
}

/// The texts need more steps than the limit of the general engine, and the only match is at the end.
#[test]
fn a_distant_match_is_found() {
    let text = "ab c\n".repeat(400_000);
    for (pattern, end, expected) in [
        (r"(?<!\n)^", "", vec![(0, 0)]),
        (r"(?<!\n)(?:\A|(?<=\n)(?!\z))", "", vec![(0, 0)]),
        (r"(?<=x)y", "xy", vec![(text.len() + 1, text.len() + 2)]),
        (r"(\d)\1", "11", vec![(text.len(), text.len() + 2)]),
        (r"\b(?!ab)\w{2}(?<=[x-z])", " xz", vec![(text.len() + 1, text.len() + 3)]),
        (r"(?=(?:\d{3})+$)", "1234", vec![(text.len() + 1, text.len() + 1)]),
        (r"\Gab|\Gx|y(?<=y)", "y", vec![(0, 2), (text.len(), text.len() + 1)]),
    ] {
        let splitter = Splitter::compile(pattern).unwrap();
        assert!(!splitter.is_scanner(), "{pattern}");
        assert_eq!(pieces(&splitter, &(text.clone() + end)), expected, "{pattern}");
    }
}

/// A search that reaches the limit of steps finds the same matches as a search without a limit.
#[test]
fn attempts_find_what_a_search_finds() {
    let dashes = "-".repeat(600_000);
    for pattern in
        [r"(?<=a)b|\Gc|(\w)\1", r"\G(?:a|(?<=a))b?|(?<!b)c", r"(?<!-)(?=[abc])|(a)\1?", r"(?<=b)\b|c(?!c)|\Ka"]
    {
        let splitter = Splitter::compile(pattern).unwrap();
        let regex = fancy_regex::RegexBuilder::new(pattern).backtrack_limit(usize::MAX).build().unwrap();
        for near in ["", "a", "ab", "abcc", "c-a", "aab", "cé"] {
            let text = format!("{near}{dashes}{near}{dashes}{near}");
            let expected_pieces: Vec<_> =
                regex.find_iter(&text).map(|m| m.unwrap()).map(|m| (m.start(), m.end())).collect();
            assert_eq!(pieces(&splitter, &text), expected_pieces, "{pattern} near {near:?}");
        }
    }
}

/// A search that needs many steps at a few offsets of a long text succeeds; a search that needs many steps at many
/// offsets is an error.
#[test]
fn a_search_with_too_many_hard_offsets_is_an_error() {
    let splitter = Splitter::compile(r"(?=(?:a(?!b))+c)x|(?<!a)y").unwrap();
    let hard_text = |count: usize| format!("{}-", "a".repeat(2000)).repeat(count) + &"-".repeat(600_000) + "y";
    let few = "a".repeat(540) + &"-".repeat(1_200_000) + "y";
    assert_eq!(pieces(&splitter, &few), [(few.len() - 1, few.len())]);
    let error = splitter.split(&hard_text(100), |_, _| ()).err();
    assert!(matches!(&error, Some(Error::Search(text)) if text.contains("too many steps")), "{error:?}");
}

#[test]
fn a_match_before_the_last_one_is_an_error() {
    for (pattern, text) in [
        (r"(?<=\Ka)", "aa"),
        (r"(?<=\Ka)|x", "aab"),
        (r"(?<=\Kab)|[a-z]", "abab"),
        (r"(?<=\K\n{2}a)|\s{0,2}", "\n\na b"),
        (r"(?<=\Ka)|b?", "aab"),
        (r"(?<=(?:\Ka))", "a"),
        (r"(?<=\g<1>)|(\Ka)", "aa"),
    ] {
        let splitter = Splitter::compile(pattern).unwrap();
        let error = splitter.split(text, |_, _| ()).err();
        assert!(
            matches!(&error, Some(Error::Search(text)) if text.contains(r"\K in a look-behind")),
            "{pattern}: {error:?}"
        );
    }
    // A `\K` in a look-behind is allowed if no matches overlap.
    assert_eq!(pieces(&Splitter::compile(r"(?<=\Ka)b").unwrap(), "abab"), [(0, 2), (2, 4)]);
}
