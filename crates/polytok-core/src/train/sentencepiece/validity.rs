//! Which strings may be pieces: their length, where spaces may stand, and that digits and scripts are not mixed.
//!
//! Reference: `IsValidSentencePiece`, the same in 0.2.1 and 0.2.3. Scripts are those of Unicode 9.0, a character without one is
//! Common, kana and U+30FC are Han. Every character has a class, looked up in one table; a character that inherits its
//! script takes that of the character before it, and a digit that may stand anywhere allows any script behind it.

use super::options::{RARE, SentencePieceOptions};
use crate::error::Result;
use crate::space_mark;
use crate::split::script;

/// No piece has it.
const NEVER: u8 = 0;
/// The visible space.
const WHITE: u8 = 1;
/// Any script may stand on both sides.
const ANY: u8 = 2;
/// The script of what stands before it.
const INHERITED: u8 = 3;
/// A piece of its own.
const ALONE: u8 = 4;
/// Scripts have the numbers from here on.
const SCRIPTS: u8 = 5;

const CODES: usize = 0x11_0000;

/// The rules of one set of options.
pub struct Validity {
    classes: Vec<u8>,
    longest: usize,
    white_only: bool,
    as_suffix: bool,
    by_space: bool,
}

impl Validity {
    /// Compiles the rules.
    pub fn new(options: &SentencePieceOptions) -> Result<Validity> {
        Ok(Validity {
            classes: classes(options)?,
            longest: options.max_sentencepiece_length,
            white_only: options.allow_whitespace_only_pieces,
            as_suffix: options.treat_whitespace_as_suffix,
            by_space: options.split_by_whitespace,
        })
    }

    /// The most characters of a piece.
    #[inline]
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// What a character counts as where pieces are judged: characters of one class are of one script.
    #[inline]
    pub fn class(&self, c: char) -> u8 {
        self.classes[c as usize]
    }

    /// Whether the characters may be a piece.
    pub fn is_valid(&self, piece: &[char]) -> bool {
        if piece.is_empty() || piece.len() > self.longest {
            return false;
        }
        let may_be_white = self.white_only && piece.iter().all(|&c| c == space_mark::CHAR);
        let mut before = ANY;
        for (at, &c) in piece.iter().enumerate() {
            match self.class(c) {
                NEVER => return false,
                WHITE if may_be_white || self.may_be_space(at, piece.len()) => {}
                WHITE => return false,
                ALONE if piece.len() > 1 => return false,
                ALONE | INHERITED => {}
                class if class != ANY && before != ANY && class != before => return false,
                class => before = class,
            }
        }
        true
    }

    /// Whether a space may stand there in a piece of that many characters, not all of them spaces.
    fn may_be_space(&self, at: usize, len: usize) -> bool {
        let is_inner = if self.as_suffix { at + 1 < len } else { at > 0 };
        let is_wrong_end = if self.as_suffix { at == 0 } else { at + 1 == len };
        !is_inner || (!self.by_space && !is_wrong_end)
    }

    /// False if no valid piece has the two characters side by side, so that a text may be cut there.
    #[inline]
    pub fn may_join(&self, left: char, right: char) -> bool {
        match (self.class(left), self.class(right)) {
            (NEVER | ALONE, _) | (_, NEVER | ALONE) => false,
            (WHITE, WHITE) if self.white_only => true,
            (WHITE, _) if self.as_suffix => !self.by_space,
            (_, WHITE) if !self.as_suffix => !self.by_space,
            (WHITE | ANY | INHERITED, _) | (_, WHITE | ANY | INHERITED) => true,
            (one, other) => one == other,
        }
    }
}

fn classes(options: &SentencePieceOptions) -> Result<Vec<u8>> {
    let common = SCRIPTS + script::script("Common");
    let inherited = script::script("Inherited");
    let mut classes = vec![common; CODES];
    for (first, last, number) in script::ranges()? {
        let class = if number == inherited { INHERITED } else { SCRIPTS + number };
        classes[first as usize..=last as usize].fill(class);
    }
    if !options.split_by_unicode_script {
        classes.fill(common);
    }
    let digit = if options.split_digits { Some(ALONE) } else { (!options.split_by_number).then_some(ANY) };
    if let Some(class) = digit {
        classes['0' as usize..='9' as usize].fill(class);
        classes['０' as usize..='９' as usize].fill(class);
    }
    classes[space_mark::CHAR as usize] = WHITE;
    for never in ['\0', ' ', RARE, options.boundary()] {
        classes[never as usize] = NEVER;
    }
    Ok(classes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn valid(options: &SentencePieceOptions, piece: &str) -> bool {
        Validity::new(options).unwrap().is_valid(&piece.chars().collect::<Vec<_>>())
    }

    #[test]
    fn scripts_do_not_mix() {
        let plain = SentencePieceOptions::default();
        for (piece, expected) in
            [("▁abc", true), ("a1", false), ("りンー漢", true), ("aー", false), ("é\u{301}", true), ("a▁", false)]
        {
            assert_eq!(valid(&plain, piece), expected, "{piece}");
        }
        let numbers = SentencePieceOptions { split_by_number: false, ..plain.clone() };
        assert!(valid(&numbers, "a1я") && !valid(&numbers, "aя"));
        let mixed = SentencePieceOptions { split_by_unicode_script: false, ..plain };
        assert!(valid(&mixed, "aя1."));
    }

    #[test]
    fn spaces_have_their_place() {
        let suffix = SentencePieceOptions { treat_whitespace_as_suffix: true, ..SentencePieceOptions::default() };
        assert!(valid(&suffix, "a▁") && !valid(&suffix, "▁a") && !valid(&suffix, "▁▁") && valid(&suffix, "▁"));
        let long = SentencePieceOptions { split_by_whitespace: false, ..SentencePieceOptions::default() };
        assert!(valid(&long, "▁a▁b") && !valid(&long, "a▁") && valid(&long, "▁▁a"));
        let white = SentencePieceOptions { allow_whitespace_only_pieces: true, ..SentencePieceOptions::default() };
        assert!(valid(&white, "▁▁▁") && !valid(&white, "▁▁a"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn what_may_not_join_is_in_no_piece(text in "[▁▁ab1２яりー漢\u{301}.]{2,6}", flags in 0u8..64) {
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
                prop_assert!(chars.windows(2).all(|two| validity.may_join(two[0], two[1])));
            }
        }
    }
}
