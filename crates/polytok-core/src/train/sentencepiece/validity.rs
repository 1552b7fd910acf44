//! Decides which strings can be pieces. The length of a string, the positions of its spaces, and its mix of digits and
//! scripts decide.
//!
//! Reference: `IsValidSentencePiece`, the same in 0.2.1 and 0.2.3. Scripts are those of Unicode 9.0. A character
//! without a script is Common; kana and U+30FC are Han. Every character has a class, read from one table. A character
//! with an inherited script has the script of the character before it. A digit of the class `ANY_SCRIPT` can be
//! adjacent to characters of any script.

use polytok_memory as memory;

use super::options::{RARE_CHAR, SentencePieceOptions};
use crate::error::Result;
use crate::space_mark;
use crate::split::script;

/// The class of characters that no piece contains.
const NEVER_IN_PIECE: u8 = 0;
/// The class of the visible space.
const SPACE: u8 = 1;
/// The class of characters that can be adjacent to characters of any script.
const ANY_SCRIPT: u8 = 2;
/// The class of characters that have the script of the character before them.
const INHERITED_SCRIPT: u8 = 3;
/// The class of characters that are always a piece of their own.
const ALWAYS_ALONE: u8 = 4;
/// The class of the first script.
const FIRST_SCRIPT: u8 = 5;

const CODE_POINTS: usize = 0x11_0000;

/// The rules for pieces, compiled from the training options.
pub struct Validity {
    classes: Vec<u8>,
    longest: usize,
    allows_only_spaces: bool,
    spaces_are_suffixes: bool,
    splits_by_space: bool,
}

impl Validity {
    /// Compiles the rules.
    pub fn new(options: &SentencePieceOptions) -> Result<Validity> {
        Ok(Validity {
            classes: build_classes(options)?,
            longest: options.max_sentencepiece_length,
            allows_only_spaces: options.allow_whitespace_only_pieces,
            spaces_are_suffixes: options.treat_whitespace_as_suffix,
            splits_by_space: options.split_by_whitespace,
        })
    }

    /// Returns the largest number of characters of a piece.
    #[inline]
    pub fn max_piece_chars(&self) -> usize {
        self.longest
    }

    /// Returns the class of a character: one of `NEVER_IN_PIECE` to `ALWAYS_ALONE`, or the number of a script.
    #[inline]
    pub fn class(&self, c: char) -> u8 {
        self.classes[c as usize]
    }

    /// Reports whether the characters can be a piece.
    pub fn is_valid(&self, piece: &[char]) -> bool {
        if piece.is_empty() || piece.len() > self.longest {
            return false;
        }
        let is_all_spaces = self.allows_only_spaces && piece.iter().all(|&c| c == space_mark::CHAR);
        let mut before = ANY_SCRIPT;
        for (at, &c) in piece.iter().enumerate() {
            match self.class(c) {
                NEVER_IN_PIECE => return false,
                SPACE if is_all_spaces || self.can_be_space(at, piece.len()) => {}
                SPACE => return false,
                ALWAYS_ALONE if piece.len() > 1 => return false,
                ALWAYS_ALONE | INHERITED_SCRIPT => {}
                class if class != ANY_SCRIPT && before != ANY_SCRIPT && class != before => return false,
                class => before = class,
            }
        }
        true
    }

    /// Reports whether the character with index `at` can be a space, in a piece of `len` characters that has other
    /// characters too.
    fn can_be_space(&self, at: usize, len: usize) -> bool {
        let is_inner = if self.spaces_are_suffixes { at + 1 < len } else { at > 0 };
        let is_wrong_end = if self.spaces_are_suffixes { at == 0 } else { at + 1 == len };
        !is_inner || (!self.splits_by_space && !is_wrong_end)
    }

    /// Reports whether a valid piece can contain the two characters next to each other. If not, a text can be split
    /// between them.
    #[inline]
    pub fn can_join(&self, left: char, right: char) -> bool {
        match (self.class(left), self.class(right)) {
            (NEVER_IN_PIECE | ALWAYS_ALONE, _) | (_, NEVER_IN_PIECE | ALWAYS_ALONE) => false,
            (SPACE, SPACE) if self.allows_only_spaces => true,
            (SPACE, _) if self.spaces_are_suffixes => !self.splits_by_space,
            (_, SPACE) if !self.spaces_are_suffixes => !self.splits_by_space,
            (SPACE | ANY_SCRIPT | INHERITED_SCRIPT, _) | (_, SPACE | ANY_SCRIPT | INHERITED_SCRIPT) => true,
            (left, right) => left == right,
        }
    }
}

fn build_classes(options: &SentencePieceOptions) -> Result<Vec<u8>> {
    let common = FIRST_SCRIPT + script::script("Common");
    let inherited_script = script::script("Inherited");
    let mut classes = memory::filled(common, CODE_POINTS);
    for (first, last, number) in script::ranges()? {
        let class = if number == inherited_script { INHERITED_SCRIPT } else { FIRST_SCRIPT + number };
        classes[first as usize..=last as usize].fill(class);
    }
    if !options.split_by_unicode_script {
        classes.fill(common);
    }
    let digit_class =
        if options.split_digits { Some(ALWAYS_ALONE) } else { (!options.split_by_number).then_some(ANY_SCRIPT) };
    if let Some(class) = digit_class {
        classes['0' as usize..='9' as usize].fill(class);
        classes['０' as usize..='９' as usize].fill(class);
    }
    classes[space_mark::CHAR as usize] = SPACE;
    for char in ['\0', ' ', RARE_CHAR, options.boundary()] {
        classes[char as usize] = NEVER_IN_PIECE;
    }
    Ok(classes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_valid(options: &SentencePieceOptions, piece: &str) -> bool {
        Validity::new(options).unwrap().is_valid(&piece.chars().collect::<Vec<_>>())
    }

    #[test]
    fn scripts_do_not_mix() {
        let plain = SentencePieceOptions::default();
        for (piece, expected) in
            [("▁abc", true), ("a1", false), ("りンー漢", true), ("aー", false), ("é\u{301}", true), ("a▁", false)]
        {
            assert_eq!(is_valid(&plain, piece), expected, "{piece}");
        }
        let numbers = SentencePieceOptions { split_by_number: false, ..plain.clone() };
        assert!(is_valid(&numbers, "a1я") && !is_valid(&numbers, "aя"));
        let mixed_script_options = SentencePieceOptions { split_by_unicode_script: false, ..plain };
        assert!(is_valid(&mixed_script_options, "aя1."));
    }

    #[test]
    fn spaces_are_valid_at_one_end() {
        let suffix = SentencePieceOptions { treat_whitespace_as_suffix: true, ..SentencePieceOptions::default() };
        assert!(
            is_valid(&suffix, "a▁") && !is_valid(&suffix, "▁a") && !is_valid(&suffix, "▁▁") && is_valid(&suffix, "▁")
        );
        let long = SentencePieceOptions { split_by_whitespace: false, ..SentencePieceOptions::default() };
        assert!(is_valid(&long, "▁a▁b") && !is_valid(&long, "a▁") && is_valid(&long, "▁▁a"));
        let whitespace_options =
            SentencePieceOptions { allow_whitespace_only_pieces: true, ..SentencePieceOptions::default() };
        assert!(is_valid(&whitespace_options, "▁▁▁") && !is_valid(&whitespace_options, "▁▁a"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn no_piece_has_characters_that_cannot_join(text in "[▁▁ab1２яりー漢\u{301}.]{2,6}", flags in 0u8..64) {
            let flag = |bit: u8| flags >> bit & 1 == 1;
            let options = SentencePieceOptions {
                split_by_unicode_script: flag(0),
                split_by_whitespace: flag(1),
                split_by_number: flag(2),
                split_digits: flag(3),
                treat_whitespace_as_suffix: flag(4),
                allow_whitespace_only_pieces: flag(5),
                ..SentencePieceOptions::default()
            };
            let validity = Validity::new(&options).unwrap();
            let chars: Vec<char> = text.chars().collect();
            if validity.is_valid(&chars) {
                prop_assert!(chars.windows(2).all(|two| validity.can_join(two[0], two[1])));
            }
        }
    }
}
