//! A number for each character, by the class of regular expressions that holds it.

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
    /// Compiles a table in which a character has the number of the first class that holds it, or `rest` if none does. None if one of
    /// `classes` is not a class, such as `\s` or `[a-z]`, or if there are too many of them.
    pub fn compile(classes: &[(&str, u8)], rest: u8) -> Option<ClassTable> {
        let sets = classes.iter().map(|(class, _)| pattern::single_set(class)).collect::<Option<Vec<_>>>()?;
        let (table, masks) = Classes::build(&sets)?;
        let number = |class: usize| {
            let holds = |&at: &usize| has(masks[at], class as u8);
            (0..masks.len()).find(holds).map_or(rest, |at| classes[at].1)
        };
        let numbers = CharGroups::build(&table, std::array::from_fn(number));
        Some(ClassTable { classes: table, numbers })
    }

    /// The number of the character whose UTF-8 these bytes begin with; what follows it does not matter.
    // It is called from functions for other processor features, into which it would not be inlined by itself.
    #[inline(always)]
    pub fn first(&self, bytes: [u8; 4]) -> u8 {
        self.numbers.first(&self.classes, bytes)
    }

    /// The number of a character.
    #[inline]
    pub fn get(&self, c: char) -> u8 {
        let mut bytes = [0; 4];
        c.encode_utf8(&mut bytes);
        self.first(bytes)
    }

    /// The numbers of the ASCII characters.
    #[inline]
    pub fn ascii(&self) -> &[u8; 128] {
        &self.numbers.ascii
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_class_that_holds_a_character_counts() {
        let table = ClassTable::compile(&[(r"\s", 7), (r"[a-c\n]", 1), (r"\p{Han}", 2)], 3).unwrap();
        let texts = [(" \n\u{3000}", 7), ("abc", 1), ("漢𠀀", 2), ("dé😀\u{10FFFF}", 3)];
        for (c, number) in texts.into_iter().flat_map(|(text, number)| text.chars().map(move |c| (c, number))) {
            assert_eq!(table.get(c), number, "{c:?}");
            assert!(!c.is_ascii() || table.ascii()[c as usize] == number);
        }
    }

    #[test]
    fn what_is_not_a_class_is_refused() {
        for class in ["", "a+", "ab", "[a", r"\s|a", "(?=a)"] {
            assert!(ClassTable::compile(&[(class, 0)], 1).is_none(), "{class}");
        }
    }
}
