//! Divides a text for spans: parts that normalization keeps, and parts around characters that it changes.
//!
//! Words of a kept part are found without a copy of the text, so their offsets are offsets in the text. Only the other
//! parts are normalized, by the steps, with the origin of each byte. The route does so only if the ids of a word depend
//! on its position, because otherwise it rewrites the whole text. A border between two parts is between two kept characters, of
//! which the second is a space or a line break. The steps rewrite the text before and after such a border
//! independently, and no word crosses it.
//!
//! Cost: linear; a byte is checked at most twice. Twin: the general path through the pipeline.

use memchr::{memchr2, memchr2_iter, memrchr2};

use super::WordsRoute;

/// The smallest number of bytes for which a kept part pays.
const MIN_KEPT_BYTES: usize = 64;

/// A part of a text.
pub(crate) struct WordsPart {
    /// The offset of the byte after the part.
    pub end: usize,
    /// True if normalization keeps all characters of the part.
    pub is_kept: bool,
}

impl WordsRoute {
    /// Returns the part of the text that starts at `from`.
    pub fn next_part(&self, text: &str, from: usize) -> WordsPart {
        let kept_end = self.rewrites.kept_end(text, from);
        let kept = &text.as_bytes()[from..kept_end];
        match memrchr2(b' ', b'\n', kept) {
            _ if kept_end == text.len() => WordsPart { end: kept_end, is_kept: true },
            Some(len) if len >= MIN_KEPT_BYTES => WordsPart { end: from + len, is_kept: true },
            _ => WordsPart { end: self.changed_end(text, kept_end), is_kept: false },
        }
    }

    /// Returns the end of the section of a part that starts at `from`. The steps rewrite sections independently: a
    /// section ends between two local characters that are not removed. The second of them is a kept space or line break
    /// before another such character.
    pub fn section_end(&self, part: &str, from: usize) -> usize {
        let has_output = |c: Option<char>| c.is_some_and(|c| self.rewrites.has_output(c));
        let is_border = |&at: &usize| {
            at >= from + MIN_KEPT_BYTES
                && self.rewrites.keeps(&part[at..=at])
                && has_output(part[..at].chars().next_back())
                && has_output(part[at + 1..].chars().next())
        };
        let mut spaces = memchr2_iter(b' ', b'\n', &part.as_bytes()[from..]).map(|len| from + len);
        spaces.find(is_border).unwrap_or(part.len())
    }

    /// Returns the end of a part with changed characters; there is a changed character at `from`.
    fn changed_end(&self, text: &str, from: usize) -> usize {
        let mut at = from;
        while let Some(c) = text[at..].chars().next() {
            let start = at + c.len_utf8();
            at = self.rewrites.kept_end(text, start);
            // The border is after the first kept character.
            let kept = text.as_bytes()[start..at].get(1..).filter(|kept| kept.len() >= MIN_KEPT_BYTES);
            if let Some(len) = kept.and_then(|kept| memchr2(b' ', b'\n', kept)) {
                return start + 1 + len;
            }
        }
        at
    }
}
