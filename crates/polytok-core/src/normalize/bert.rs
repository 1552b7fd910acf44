//! BERT's cleaning: removes control characters, puts spaces around ideographs, removes accents, converts to lower case.
//!
//! Reference: Hugging Face's BertNormalizer, four passes over the text, with the tables of the crates used there
//! (unicode_categories 0.1.1 for marks and control characters, unicode-normalization-alignments for NFD). In the
//! reference's list of ideographs, one block starts at U+2B920 instead of U+2B820.
//!
//! Here one pass is enough. Characters that no option changes are kept in runs. Most other characters are cleaned one
//! by one. The remaining characters are cleaned in groups: a group starts at a character that no later character can
//! move across, and ends before the next such character. Each character of a group is stored with the offset of the
//! input character that it comes from. Cost: linear, except for the sorting of combining marks; worst input: all
//! combining marks.

use polytok_memory::{Collect, Grow};
use unicode_categories::UnicodeCategories;
use unicode_normalization_alignments::UnicodeNormalization;
use unicode_normalization_alignments::char::{canonical_combining_class, decompose_canonical};

use super::lowercase::is_own_lower_case;
use super::output::Output;
use super::unchanged::Unchanged;
use super::unicode_form::is_canonical;

/// The options of a [`Bert`]; the names are Hugging Face's.
#[derive(Clone, Copy, Debug)]
pub struct BertOptions {
    /// True if control characters are removed and each white space is replaced by a space.
    pub clean_text: bool,
    /// True if each ideograph gets a space before and after it.
    pub handle_chinese_chars: bool,
    /// True if text is converted to NFD and nonspacing marks are removed.
    pub strip_accents: bool,
    /// True if text is converted to lower case.
    pub lowercase: bool,
}

/// The compiled step.
pub struct Bert {
    options: BertOptions,
    unchanged: Unchanged,
}

/// A character and the offset of the input's character that it comes from.
type CharWithOffset = (char, usize);

impl Bert {
    /// Compiles a step.
    pub fn compile(options: BertOptions) -> Bert {
        Bert { options, unchanged: Unchanged::new(move |c| options.keeps(c)) }
    }

    /// Reports whether text is converted to lower case.
    pub fn lowercases(&self) -> bool {
        self.options.lowercase
    }

    /// Reports whether cleaning this character changes only spaces: it replaces white space by a space, or adds spaces
    /// around a character of `spaced_class`.
    pub fn changes_only_spaces(&self, c: char) -> bool {
        self.options.changes_only_spaces(c)
    }

    /// Reports whether a character is local: the step always rewrites the character to the same text between local
    /// characters, because no mark moves across local characters.
    pub fn is_local(&self, c: char) -> bool {
        !self.options.strip_accents || is_starter(c)
    }

    /// Returns the characters that get spaces around them, as a class of a regular expression; the class is empty if no
    /// characters get spaces.
    pub fn spaced_class(&self) -> String {
        if !self.options.handle_chinese_chars {
            return String::new();
        }
        let ranges = IDEOGRAPHS.map(|(first, last)| format!("\\x{{{first:X}}}-\\x{{{last:X}}}"));
        format!("[{}]", ranges.concat())
    }

    /// Writes the cleaned text.
    pub fn apply<O: Output>(&self, text: &str, out: &mut O) {
        let mut group = Vec::new();
        self.unchanged.rewrite(text, out, false, |from, to, out| {
            let mut at = from;
            while at < to {
                at += match self.first_if_alone(&text[at..]) {
                    Some(c) => {
                        self.options.write_alone(c, at, out);
                        c.len_utf8()
                    }
                    None => {
                        let len = self.options.read_group(&text[at..to], at, &mut group);
                        self.options.write_group(&mut group, out);
                        len
                    }
                };
            }
        });
    }
}

impl Bert {
    /// Returns the first character if it can be cleaned alone: it has no accent to strip, and no later character can
    /// move next to it.
    fn first_if_alone(&self, text: &str) -> Option<char> {
        let mut chars = text.chars();
        let c = chars.next()?;
        if !self.options.strip_accents {
            return Some(c);
        }
        let is_plain = |c: char| match c.is_ascii() {
            true => !is_control_to_remove(c),
            false => is_unified_ideograph(c) || self.unchanged.has(c),
        };
        (is_plain(c) && chars.next().is_none_or(is_plain)).then_some(c)
    }
}

impl BertOptions {
    /// Writes a character that `Bert::first_if_alone` returned, cleaned.
    fn write_alone<O: Output>(&self, c: char, at: usize, out: &mut O) {
        if self.clean_text && is_control_to_remove(c) {
            return;
        }
        let mut buffer = [b' '; 6];
        if self.clean_text && c.is_whitespace() {
            out.change(b" ", at);
        } else if self.handle_chinese_chars && is_chinese(c) {
            // Ideographs have no case.
            let len = c.encode_utf8(&mut buffer[1..5]).len();
            buffer[len + 1] = b' ';
            out.change(&buffer[..len + 2], at);
        } else if self.lowercase {
            c.to_lowercase().for_each(|c| out.change(c.encode_utf8(&mut buffer).as_bytes(), at));
        } else {
            out.change(c.encode_utf8(&mut buffer).as_bytes(), at);
        }
    }

    /// Reports whether a character stays unchanged, whatever its neighbours are.
    fn keeps(&self, c: char) -> bool {
        !(self.clean_text && (is_control_to_remove(c) || c.is_whitespace() && c != ' '))
            && !(self.handle_chinese_chars && is_chinese(c))
            && (!self.strip_accents || !c.is_mark_nonspacing() && is_canonical(c) && is_starter(c))
            && (!self.lowercase || is_own_lower_case(c))
    }

    /// Reports whether the character stays unchanged, is replaced by a space, or gets spaces around it.
    fn changes_only_spaces(&self, c: char) -> bool {
        let options = BertOptions { handle_chinese_chars: false, ..*self };
        options.keeps(c) || c.is_whitespace() && !(self.clean_text && is_control_to_remove(c))
    }

    /// Writes to `group` the first character of `text` and the characters after it that can move next to it, all
    /// cleaned; `text` starts at byte `offset` of the input. Returns the length of the group in bytes.
    fn read_group(&self, text: &str, offset: usize, group: &mut Vec<CharWithOffset>) -> usize {
        group.clear();
        let joins = |c: char| self.strip_accents && (!is_starter(c) || self.clean_text && is_control_to_remove(c));
        for (i, c) in text.char_indices() {
            if i > 0 && !joins(c) {
                return i;
            }
            if self.clean_text && is_control_to_remove(c) {
                continue;
            }
            let c = if self.clean_text && c.is_whitespace() { ' ' } else { c };
            if self.handle_chinese_chars && is_chinese(c) {
                group.checked_extend([(' ', offset + i), (c, offset + i), (' ', offset + i)]);
            } else {
                group.checked_push((c, offset + i));
            }
        }
        text.len()
    }

    /// Writes the characters of a group; removes accents and converts to lower case if the options require this.
    fn write_group<O: Output>(&self, group: &mut Vec<CharWithOffset>, out: &mut O) {
        if self.strip_accents && !group.iter().all(|(c, _)| c.is_ascii()) {
            *group = strip_accents(group);
        }
        for &(c, offset) in group.iter() {
            let mut write = |c: char| out.change(c.encode_utf8(&mut [0; 4]).as_bytes(), offset);
            if self.lowercase { c.to_lowercase().for_each(&mut write) } else { write(c) }
        }
    }
}

/// Converts a group to NFD and removes nonspacing marks. A character that NFD inserts gets the offset of the character
/// before it.
fn strip_accents(group: &[CharWithOffset]) -> Vec<CharWithOffset> {
    let mut next = 0;
    let decomposed = group.iter().map(|&(c, _)| c).nfd().map(|(c, change)| {
        next += (change == 0) as usize;
        (c, group[next.max(1) - 1].1)
    });
    decomposed.filter(|(c, _)| !c.is_mark_nonspacing()).checked_collect()
}

fn is_control_to_remove(c: char) -> bool {
    let counts_as_space = matches!(c, '\t' | '\n' | '\r');
    !counts_as_space && (matches!(c, '\0' | '\u{FFFD}') || c.is_other())
}

/// Reports whether the canonical decomposition of the character begins with a starter (a character of combining class
/// 0).
fn is_starter(c: char) -> bool {
    let mut first = None;
    decompose_canonical(c, |part| {
        first.get_or_insert(part);
    });
    first.is_none_or(|first| canonical_combining_class(first) == 0)
}

/// Reports whether the character is an ideograph of the two largest blocks, which have no decomposition.
fn is_unified_ideograph(c: char) -> bool {
    matches!(c as u32, 0x4E00..=0x9FFF | 0x3400..=0x4DBF)
}

/// The first and last characters of the blocks that the reference treats as ideographs.
const IDEOGRAPHS: [(u32, u32); 8] = [
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x2_0000, 0x2_A6DF),
    (0x2_A700, 0x2_B73F),
    (0x2_B740, 0x2_B81F),
    (0x2_B920, 0x2_CEAF),
    (0xF900, 0xFAFF),
    (0x2_F800, 0x2_FA1F),
];

fn is_chinese(c: char) -> bool {
    IDEOGRAPHS.iter().any(|&(first, last)| (first..=last).contains(&(c as u32)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::output::{AlignedOutput, char_spans};
    use crate::spec::{Behavior, Pattern, Split};
    use crate::split::chain::SplitChain;
    use proptest::prelude::*;

    /// Cleans the text group by group, without the faster paths for single characters and for runs of unchanged
    /// characters.
    fn clean_by_groups<O: Output>(options: BertOptions, text: &str, out: &mut O) {
        let (mut at, mut group) = (0, Vec::new());
        while at < text.len() {
            let end = at + options.read_group(&text[at..], at, &mut group);
            options.write_group(&mut group, out);
            at = end;
        }
    }

    fn options(flags: u8) -> BertOptions {
        let has_flag = |bit: u8| flags >> bit & 1 == 1;
        BertOptions {
            clean_text: has_flag(0),
            handle_chinese_chars: has_flag(1),
            strip_accents: has_flag(2),
            lowercase: has_flag(3),
        }
    }

    /// If cleaning changes only spaces in the text, checks that the text and the cleaned text have the same words, and
    /// returns true.
    fn has_words_of_cleaned_text(text: &str, options: BertOptions, [raw, cleaned]: &[SplitChain; 2]) -> bool {
        let bert = Bert::compile(options);
        let mut out = Vec::new();
        bert.apply(text, &mut out);
        let out = String::from_utf8(out).unwrap();
        let words = |chain: &SplitChain, text: &str| {
            let mut words = Vec::new();
            chain.split(text, |start, end| words.push(text[start..end].to_owned())).unwrap();
            words
        };
        let changes_only_spaces = text.chars().all(|c| bert.changes_only_spaces(c));
        assert!(!changes_only_spaces || words(raw, text) == words(cleaned, &out), "{text:?}");
        changes_only_spaces
    }

    fn chains(options: BertOptions) -> [SplitChain; 2] {
        let step = |text: &str, behavior| Split::Pattern {
            pattern: Pattern { text: text.into(), is_regex: true, unicode: None },
            behavior,
            invert: false,
        };
        let steps = [step(r"\s", Behavior::Removed), step(r"[\x{21}-\x{2F}\x{3002}]", Behavior::Isolated)];
        let classes = [Bert::compile(options).spaced_class(), String::new()];
        classes.map(|class| SplitChain::compile_with_spaced(&steps, &class).unwrap())
    }

    #[test]
    fn words_next_to_every_character_are_those_of_the_cleaned_text() {
        let options = options(0b11);
        let (chains, mut text) = (chains(options), String::new());
        for (i, c) in ('\0'..=char::MAX).filter(|&c| options.changes_only_spaces(c)).enumerate() {
            text.extend([c, 'a', c, c, ' ']);
            if i % 256 == 255 {
                assert!(has_words_of_cleaned_text(&std::mem::take(&mut text), options, &chains));
            }
        }
        assert!(has_words_of_cleaned_text(&text, options, &chains));
        assert!(
            has_words_of_cleaned_text("a\nb 漢,", options, &chains)
                && !has_words_of_cleaned_text("a\0b", options, &chains)
        );
    }

    proptest! {
        #[test]
        fn runs_and_single_characters_are_cleaned_as_groups_are(
            text in "([a-zA-Z ,]{0,40}|[\n\t\u{0}\u{7F}]|[éÉßİΣ中国豈\u{2F800}ｶ한]|[\u{300}-\u{345}]|[\u{AD}\u{200B}\u{3000}\u{FFFD}]){0,12}",
            flags in 0u8..16,
        ) {
            let options = options(flags);
            has_words_of_cleaned_text(&text, options, &chains(options));
            let spans = char_spans(text.as_bytes());
            let (mut fast, mut expected) = (AlignedOutput::new(&spans), AlignedOutput::new(&spans));
            Bert::compile(options).apply(&text, &mut fast);
            clean_by_groups(options, &text, &mut expected);
            prop_assert_eq!(fast.text, expected.text);
            prop_assert_eq!(fast.spans, expected.spans);
        }
    }
}
