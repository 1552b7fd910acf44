use super::*;
use crate::train::progress::Silent;
use crate::train::sentencepiece::options::Options;
use crate::train::sentencepiece::units::characters;

fn trained(units: &[(&str, u64)], merges: usize) -> Vec<String> {
    let mut words = Words::default();
    units.iter().for_each(|(unit, count)| words.push(unit.as_bytes(), *count));
    let options = Options::default();
    let alphabet = Alphabet::choose(&characters(&words).unwrap(), &options).unwrap();
    let validity = Validity::new(&options).unwrap();
    let most = merges + alphabet.chars.len();
    let pieces = pieces(&words, &alphabet, &validity, most, &mut Silent).unwrap();
    let merged = pieces.len() - alphabet.chars.len();
    pieces.into_iter().take(merged).map(|(text, _)| String::from_utf8(text).unwrap()).collect()
}

#[test]
fn the_shorter_and_lower_goes_first() {
    assert_eq!(trained(&[("xyz", 2), ("ab", 2)], 4), ["ab", "xy", "xyz", "yz"]);
}

#[test]
fn what_was_there_for_a_moment_comes_at_the_end() {
    assert_eq!(trained(&[("abababab", 1)], 9), ["ab", "abab", "abababab", "ba", "aba", "ababab"]);
}

#[test]
fn counts_have_64_bits() {
    assert_eq!(trained(&[("ab", 1 << 40), ("bc", 1 << 41)], 2), ["bc", "ab"]);
    let mut words = Words::default();
    words.push(b"abc", u64::MAX / 2);
    let options = Options::default();
    let validity = Validity::new(&options).unwrap();
    let mut one = Words::default();
    one.push(b"abc", 1);
    let alphabet = Alphabet::choose(&characters(&one).unwrap(), &options).unwrap();
    assert!(pieces(&words, &alphabet, &validity, 9, &mut Silent).is_err());
}
