//! Random texts.

use proptest::prelude::*;

/// Characters of all classes that split patterns distinguish, including characters that are often assigned to a wrong
/// class.
pub(crate) const ALPHABET: &str = concat!(
    "aabbcxstrevmldkSTREVMLDK''''    \t\r\r\n\n\u{85}\u{A0}\u{3000}\u{2028}\u{0}.,!/_-+$",
    "019٣९Ⅷ²½éßÉſ\u{212A}ΣσςДдǅǈʰˆ々ªאعक漢字ひカ한\u{301}\u{93F}\u{20DD}😀👍\u{1F3FD}\u{200D}\u{FE0F}\u{FFFD}\u{10FFFF}𝐀𠀀",
);

/// Generates texts of up to `len` parts; a part is a single character or a run of one character.
pub(crate) fn text(alphabet: &'static str, len: usize) -> impl Strategy<Value = String> {
    let chars: Vec<char> = alphabet.chars().collect();
    let run = (prop::sample::select(chars), 1..5usize, 0..4u8);
    prop::collection::vec(run, 0..len).prop_map(|runs| {
        runs.iter().flat_map(|&(c, n, long)| std::iter::repeat_n(c, if long == 0 { n } else { 1 })).collect()
    })
}

/// Generates texts that fill blocks; a text has several parts, and each part uses one alphabet.
pub(crate) fn long_text() -> impl Strategy<Value = String> {
    let alphabets = ["abcdestrevmlABC '.,", "x \n\r\t", "'sStTrevlLdDm a.", "019 a.", ALPHABET];
    let part = prop::sample::select(alphabets.to_vec()).prop_flat_map(|alphabet| text(alphabet, 60));
    prop::collection::vec(part, 1..12).prop_map(|parts| parts.concat())
}

/// Generates long runs with short texts between the runs; a run repeats one character, or mixes a few characters mostly
/// of one class.
pub(crate) fn long_runs() -> impl Strategy<Value = String> {
    let alphabets = [
        "a",
        "ab",
        "A",
        "aB",
        " ",
        "\n",
        "\r\n",
        " \t",
        "0",
        "0123456789",
        "'",
        ".,!?",
        "$a1",
        "漢",
        "é漢字",
        "😀",
        "\u{301}",
    ];
    let long = (prop::sample::select(alphabets.to_vec()), 40..330usize, any::<u64>());
    let long = long.prop_map(|(alphabet, len, seed)| {
        let chars: Vec<char> = alphabet.chars().collect();
        let pick = |at: u64| (seed ^ at).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        (0..len as u64).map(|at| chars[pick(at) as usize % chars.len()]).collect::<String>()
    });
    let parts = (text(ALPHABET, 4), long).prop_map(|(short, long)| short + &long);
    (prop::collection::vec(parts, 1..5), text(ALPHABET, 4)).prop_map(|(parts, end)| parts.concat() + &end)
}

/// Returns the settings of a property test. Failed cases are not saved to a file; write a separate test for each
/// failure.
pub(crate) fn property_config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}
