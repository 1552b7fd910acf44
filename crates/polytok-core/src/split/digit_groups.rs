//! Runs of number characters in threes, counted from their right end.
//!
//! Reference: llama.cpp's `unicode_regex_split_custom_afmoe`. What lies between runs joins no group, but the first group of a run
//! is cut where the reference cuts it: text before a run of numbers goes with its first group. Cost: linear.

use polytok_pattern::CharRanges;

use crate::error::Result;

/// A compiled step.
pub struct DigitGroups {
    numbers: CharRanges,
}

impl DigitGroups {
    /// Compiles a step for a version of the Unicode tables.
    pub fn compile(unicode: Option<&str>) -> Result<DigitGroups> {
        let pattern = polytok_pattern::restrict(r"\p{N}", unicode)?;
        Ok(DigitGroups { numbers: CharRanges::parse(&pattern)? })
    }

    /// Calls `piece(start, end)` for each piece of `text`, left to right.
    pub fn split(&self, text: &str, mut piece: impl FnMut(usize, usize)) -> Result<()> {
        let mut start = 0;
        let mut chars = text.char_indices().peekable();
        while let Some(&(at, c)) = chars.peek() {
            if !self.is_number(c) {
                chars.next();
                continue;
            }
            // Where the last, the last but one, … group could start: the reference counts first, and then cuts.
            let digits = text[at..].chars().take_while(|&c| self.is_number(c)).count();
            let mut left = digits;
            while left > 0 {
                let group = if left.is_multiple_of(3) { 3 } else { left % 3 };
                left -= group;
                chars.nth(group - 1);
                let end = chars.peek().map_or(text.len(), |&(at, _)| at);
                piece(start, end);
                start = end;
            }
        }
        if start < text.len() {
            piece(start, text.len());
        }
        Ok(())
    }

    #[inline]
    fn is_number(&self, c: char) -> bool {
        if c.is_ascii() { c.is_ascii_digit() } else { self.numbers.contains(c) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<&str> {
        let mut out = Vec::new();
        DigitGroups::compile(Some("15.0")).unwrap().split(text, |start, end| out.push(&text[start..end])).unwrap();
        out
    }

    #[test]
    fn from_the_right() {
        assert_eq!(pieces("1234567"), ["1", "234", "567"]);
        assert_eq!(pieces("123456"), ["123", "456"]);
        assert_eq!(pieces("12"), ["12"]);
        assert_eq!(pieces(""), [""; 0]);
        assert_eq!(pieces("ab"), ["ab"]);
        assert_eq!(pieces("²٣½四Ⅷ"), ["²٣½", "四Ⅷ"]);
    }

    #[test]
    fn text_before_a_run_goes_with_its_first_group() {
        assert_eq!(pieces("a 1234b5c"), ["a 1", "234", "b5", "c"]);
    }
}
