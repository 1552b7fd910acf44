//! Splits runs of number characters to groups of three, counted from the right end of the run.
//!
//! Reference: llama.cpp's `unicode_regex_split_custom_afmoe`. As in the reference, the text before a run and the first
//! group of the run are one piece. Cost: linear.

use polytok_pattern::CharRanges;

use crate::error::Result;

/// The compiled step.
pub struct DigitGroups {
    numbers: CharRanges,
}

impl DigitGroups {
    /// Compiles the step for a version of the Unicode tables.
    pub fn compile(unicode: Option<&str>) -> Result<DigitGroups> {
        let pattern = polytok_pattern::restrict(r"\p{N}", unicode)?;
        Ok(DigitGroups { numbers: CharRanges::parse(&pattern)? })
    }

    /// Calls `piece(start, end)` for each piece of `text`, from left to right.
    pub fn split(&self, text: &str, mut piece: impl FnMut(usize, usize)) -> Result<()> {
        let mut start = 0;
        let mut chars = text.char_indices().peekable();
        while let Some(&(at, c)) = chars.peek() {
            if !self.is_number(c) {
                chars.next();
                continue;
            }
            let mut remaining_digits = text[at..].chars().take_while(|&c| self.is_number(c)).count();
            while remaining_digits > 0 {
                let group = if remaining_digits.is_multiple_of(3) { 3 } else { remaining_digits % 3 };
                remaining_digits -= group;
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
    fn groups_are_counted_from_the_right() {
        assert_eq!(pieces("1234567"), ["1", "234", "567"]);
        assert_eq!(pieces("123456"), ["123", "456"]);
        assert_eq!(pieces("12"), ["12"]);
        assert_eq!(pieces(""), [""; 0]);
        assert_eq!(pieces("ab"), ["ab"]);
        assert_eq!(pieces("²٣½四Ⅷ"), ["²٣½", "四Ⅷ"]);
    }

    #[test]
    fn text_before_a_run_is_in_the_piece_of_its_first_group() {
        assert_eq!(pieces("a 1234b5c"), ["a 1", "234", "b5", "c"]);
    }
}
