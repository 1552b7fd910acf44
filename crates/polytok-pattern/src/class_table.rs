//! Maps each character to the number of its class; characters that no class of the pattern distinguishes have the same
//! number.

use crate::char_groups::CharGroups;
use crate::classes::Classes;
use crate::pattern;
use crate::program::has;

/// A table from characters to numbers.
pub struct ClassTable {
    classes: Classes,
    numbers: CharGroups,
}

impl ClassTable {
    /// Compiles a table in which a character has the number of the first class that contains the character, or `rest`
    /// if no class contains the character. Each class is written like `\s` or `[a-z]`. Returns None if an item of
    /// `classes` is not a class, or if there are too many classes.
    pub fn compile(classes: &[(&str, u8)], rest: u8) -> Option<ClassTable> {
        let sets = classes.iter().map(|(class, _)| pattern::single_set(class)).collect::<Option<Vec<_>>>()?;
        let (table, masks) = Classes::build(&sets)?;
        let number = |class: usize| {
            let contains = |&at: &usize| has(masks[at], class as u8);
            (0..masks.len()).find(contains).map_or(rest, |at| classes[at].1)
        };
        let numbers = CharGroups::build(&table, std::array::from_fn(number));
        Some(ClassTable { classes: table, numbers })
    }

    /// Returns the number of the first character of `bytes`, which must be UTF-8; the bytes after that character have
    /// no effect.
    // The attribute is needed: callers that are compiled for other processor features would not inline the function.
    #[inline(always)]
    pub fn first(&self, bytes: [u8; 4]) -> u8 {
        self.numbers.first(&self.classes, bytes)
    }

    /// Returns the number of a character.
    #[inline]
    pub fn get(&self, c: char) -> u8 {
        let mut bytes = [0; 4];
        c.encode_utf8(&mut bytes);
        self.first(bytes)
    }

    /// Returns the numbers of the ASCII characters.
    #[inline]
    pub fn ascii(&self) -> &[u8; 128] {
        &self.numbers.ascii
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_has_the_number_of_its_first_class() {
        let table = ClassTable::compile(&[(r"\s", 7), (r"[a-c\n]", 1), (r"\p{Han}", 2)], 3).unwrap();
        let texts = [(" \n\u{3000}", 7), ("abc", 1), ("漢𠀀", 2), ("dé😀\u{10FFFF}", 3)];
        for (c, number) in texts.into_iter().flat_map(|(text, number)| text.chars().map(move |c| (c, number))) {
            assert_eq!(table.get(c), number, "{c:?}");
            assert!(!c.is_ascii() || table.ascii()[c as usize] == number);
        }
    }

    #[test]
    fn texts_that_are_not_classes_are_refused() {
        for class in ["", "a+", "ab", "[a", r"\s|a", "(?=a)"] {
            assert!(ClassTable::compile(&[(class, 0)], 1).is_none(), "{class}");
        }
    }
}
