//! BERT's cleaning: removes control characters, puts spaces around ideographs, removes accents, converts to lower case.
//!
//! Reference: Hugging Face's BertNormalizer, four passes over the text, with the tables of the crates used there
//! (unicode_categories 0.1.1 for marks and control characters, unicode-normalization-alignments for NFD). Its list of
//! ideographs begins one block with U+2B920, not U+2B820.
//!
//! Here one pass: characters that no part touches are kept in runs, ASCII is decided by itself, and the rest is taken
//! in stretches that start at a character nothing behind it can move across. Each character remembers which one of the
//! input it stands for. Cost: linear, except for the sorting of combining marks; worst input: all combining marks.

use unicode_categories::UnicodeCategories;
use unicode_normalization_alignments::UnicodeNormalization;
use unicode_normalization_alignments::char::{canonical_combining_class, decompose_canonical};

use super::lowercase::is_lower;
use super::output::Output;
use super::unchanged::Unchanged;
use super::unicode_form::is_canonical;

/// The options of a [`Bert`].
#[derive(Clone, Copy, Debug)]
pub struct BertOptions {
    /// Control characters are removed, white space becomes a space.
    pub clean_text: bool,
    /// Spaces around ideographs.
    pub handle_chinese_chars: bool,
    /// NFD without nonspacing marks.
    pub strip_accents: bool,
    /// Lower case.
    pub lowercase: bool,
}

/// A compiled step.
pub struct Bert {
    options: BertOptions,
    unchanged: Unchanged,
}

/// A character and the place in the input of the one it stands for.
type Placed = (char, usize);

impl Bert {
    /// Compiles a step.
    pub fn compile(options: BertOptions) -> Bert {
        Bert { options, unchanged: Unchanged::new(move |c| options.leaves(c)) }
    }

    /// Whether text is made lower case.
    pub fn lowercases(&self) -> bool {
        self.options.lowercase
    }

    /// Whether nothing is done to a character except that other white space becomes a space, and that those of the class `apart` get
    /// some.
    pub fn only_spaces(&self, c: char) -> bool {
        self.options.only_spaces(c)
    }

    /// The characters that get spaces around them, as a regular expression's class; empty if there are none.
    pub fn apart(&self) -> String {
        if !self.options.handle_chinese_chars {
            return String::new();
        }
        let ranges = IDEOGRAPHS.map(|(first, last)| format!("\\x{{{first:X}}}-\\x{{{last:X}}}"));
        format!("[{}]", ranges.concat())
    }

    /// Writes the cleaned text.
    pub fn apply<O: Output>(&self, text: &str, out: &mut O) {
        let mut stretch = Vec::new();
        self.unchanged.rewrite(text, out, false, |from, to, out| {
            let mut at = from;
            while at < to {
                at += match self.alone(&text[at..]) {
                    Some(c) => {
                        self.options.write_alone(c, at, out);
                        c.len_utf8()
                    }
                    None => {
                        let len = self.options.stretch(&text[at..to], at, &mut stretch);
                        self.options.write(&mut stretch, out);
                        len
                    }
                };
            }
        });
    }
}

impl Bert {
    /// The first character, if nothing moves up to it and it has no accent to strip, so that it is cleaned by itself.
    fn alone(&self, text: &str) -> Option<char> {
        let mut chars = text.chars();
        let c = chars.next()?;
        if !self.options.strip_accents {
            return Some(c);
        }
        let is_plain = |c: char| match c.is_ascii() {
            true => !is_removed(c),
            false => is_unified(c) || self.unchanged.has(c),
        };
        (is_plain(c) && chars.next().is_none_or(is_plain)).then_some(c)
    }
}

impl BertOptions {
    /// Writes a character that `Bert::alone` gave.
    fn write_alone<O: Output>(&self, c: char, at: usize, out: &mut O) {
        if self.clean_text && is_removed(c) {
            return;
        }
        let mut buffer = [b' '; 6];
        if self.clean_text && c.is_whitespace() {
            out.change(b" ", at);
        } else if self.handle_chinese_chars && is_chinese(c) {
            // No ideograph has another case.
            let len = c.encode_utf8(&mut buffer[1..5]).len();
            buffer[len + 1] = b' ';
            out.change(&buffer[..len + 2], at);
        } else if self.lowercase {
            c.to_lowercase().for_each(|c| out.change(c.encode_utf8(&mut buffer).as_bytes(), at));
        } else {
            out.change(c.encode_utf8(&mut buffer).as_bytes(), at);
        }
    }

    /// Whether the character stays unchanged, whatever its neighbours are.
    fn leaves(&self, c: char) -> bool {
        !(self.clean_text && (is_removed(c) || c.is_whitespace() && c != ' '))
            && !(self.handle_chinese_chars && is_chinese(c))
            && (!self.strip_accents || !c.is_mark_nonspacing() && is_canonical(c) && is_starter(c))
            && (!self.lowercase || is_lower(c))
    }

    /// The same but for spaces, which it may become or get.
    fn only_spaces(&self, c: char) -> bool {
        let options = BertOptions { handle_chinese_chars: false, ..*self };
        options.leaves(c) || c.is_whitespace() && !(self.clean_text && is_removed(c))
    }

    /// Puts the first character of `text` and those that can move up to it, cleaned, into `stretch`; returns their
    /// length.
    fn stretch(&self, text: &str, place: usize, stretch: &mut Vec<Placed>) -> usize {
        stretch.clear();
        let joins = |c: char| self.strip_accents && (!is_starter(c) || self.clean_text && is_removed(c));
        for (i, c) in text.char_indices() {
            if i > 0 && !joins(c) {
                return i;
            }
            if self.clean_text && is_removed(c) {
                continue;
            }
            let c = if self.clean_text && c.is_whitespace() { ' ' } else { c };
            if self.handle_chinese_chars && is_chinese(c) {
                stretch.extend([(' ', place + i), (c, place + i), (' ', place + i)]);
            } else {
                stretch.push((c, place + i));
            }
        }
        text.len()
    }

    fn write<O: Output>(&self, stretch: &mut Vec<Placed>, out: &mut O) {
        if self.strip_accents && !stretch.iter().all(|(c, _)| c.is_ascii()) {
            *stretch = without_accents(stretch);
        }
        for &(c, place) in stretch.iter() {
            let mut write = |c: char| out.change(c.encode_utf8(&mut [0; 4]).as_bytes(), place);
            if self.lowercase { c.to_lowercase().for_each(&mut write) } else { write(c) }
        }
    }
}

/// NFD, and of that what is no nonspacing mark. A new character stands for the one before it.
fn without_accents(stretch: &[Placed]) -> Vec<Placed> {
    let mut next = 0;
    let decomposed = stretch.iter().map(|&(c, _)| c).nfd().map(|(c, change)| {
        next += (change == 0) as usize;
        (c, stretch[next.max(1) - 1].1)
    });
    decomposed.filter(|(c, _)| !c.is_mark_nonspacing()).collect()
}

fn is_removed(c: char) -> bool {
    let counts_as_space = matches!(c, '\t' | '\n' | '\r');
    !counts_as_space && (matches!(c, '\0' | '\u{FFFD}') || c.is_other())
}

/// The character, or what it is decomposed to, starts with a starter.
fn is_starter(c: char) -> bool {
    let mut first = None;
    decompose_canonical(c, |part| {
        first.get_or_insert(part);
    });
    first.is_none_or(|first| canonical_combining_class(first) == 0)
}

/// An ideograph that is not decomposed, and so a starter.
fn is_unified(c: char) -> bool {
    matches!(c as u32, 0x4E00..=0x9FFF | 0x3400..=0x4DBF)
}

/// The characters that the reference treats as ideographs.
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
    use crate::normalize::output::{Aligned, spans_of};
    use crate::spec::{Behavior, Pattern, Split};
    use crate::split::chain::SplitChain;
    use proptest::prelude::*;

    /// Each stretch cleaned the long way.
    fn slow<O: Output>(options: BertOptions, text: &str, out: &mut O) {
        let (mut at, mut stretch) = (0, Vec::new());
        while at < text.len() {
            let end = at + options.stretch(&text[at..], at, &mut stretch);
            options.write(&mut stretch, out);
            at = end;
        }
    }

    fn options(flags: u8) -> BertOptions {
        let flag = |bit: u8| flags >> bit & 1 == 1;
        BertOptions { clean_text: flag(0), handle_chinese_chars: flag(1), strip_accents: flag(2), lowercase: flag(3) }
    }

    /// If only spaces are made of a text, its words are those of the cleaned one; whether it is so.
    fn check_words(text: &str, options: BertOptions, [raw, cleaned]: &[SplitChain; 2]) -> bool {
        let bert = Bert::compile(options);
        let mut out = Vec::new();
        bert.apply(text, &mut out);
        let out = String::from_utf8(out).unwrap();
        let words = |chain: &SplitChain, text: &str| {
            let mut words = Vec::new();
            chain.split(text, |start, end| words.push(text[start..end].to_owned())).unwrap();
            words
        };
        let is_so = text.chars().all(|c| bert.only_spaces(c));
        assert!(!is_so || words(raw, text) == words(cleaned, &out), "{text:?}");
        is_so
    }

    fn chains(options: BertOptions) -> [SplitChain; 2] {
        let step = |text: &str, behavior| Split::Pattern {
            pattern: Pattern { text: text.into(), is_regex: true, unicode: None },
            behavior,
            invert: false,
        };
        let steps = [step(r"\s", Behavior::Removed), step(r"[\x{21}-\x{2F}\x{3002}]", Behavior::Isolated)];
        [Bert::compile(options).apart(), String::new()].map(|apart| SplitChain::compile_apart(&steps, &apart).unwrap())
    }

    #[test]
    fn words_around_every_character() {
        let options = options(0b11);
        let (chains, mut text) = (chains(options), String::new());
        for (i, c) in ('\0'..=char::MAX).filter(|&c| options.only_spaces(c)).enumerate() {
            text.extend([c, 'a', c, c, ' ']);
            if i % 256 == 255 {
                assert!(check_words(&std::mem::take(&mut text), options, &chains));
            }
        }
        assert!(check_words(&text, options, &chains));
        assert!(check_words("a\nb 漢,", options, &chains) && !check_words("a\0b", options, &chains));
    }

    proptest! {
        #[test]
        fn short_ways_change_nothing(
            text in "([a-zA-Z ,]{0,40}|[\n\t\u{0}\u{7F}]|[éÉßİΣ中国豈\u{2F800}ｶ한]|[\u{300}-\u{345}]|[\u{AD}\u{200B}\u{3000}\u{FFFD}]){0,12}",
            flags in 0u8..16,
        ) {
            let options = options(flags);
            check_words(&text, options, &chains(options));
            let spans = spans_of(text.as_bytes());
            let (mut fast, mut expected) = (Aligned::new(&spans), Aligned::new(&spans));
            Bert::compile(options).apply(&text, &mut fast);
            slow(options, &text, &mut expected);
            prop_assert_eq!(fast.text, expected.text);
            prop_assert_eq!(fast.spans, expected.spans);
        }
    }
}
