//! SentencePiece's normalizer: rewrites text by rules, merges spaces, makes spaces visible, and records the offset that
//! each byte comes from.
//!
//! Reference: `Normalizer::Normalize` of 0.2.1 and 0.2.3, which agree. A step consumes, at the current offset, the
//! longest user-defined piece (copied), or the longest key of the charsmap (replaced), or one character by strict
//! decoding (copied; a byte that is not part of a character is replaced by U+FFFD). Replacements are not rewritten
//! again.
//!
//! Invariant: each byte of the output has the offset at which its step began; one additional offset is the end of the
//! kept text. Text that no step changes is copied in runs. A compiled table usually decides by the next byte whether a
//! step can change the text; otherwise the next two bytes decide.
//!
//! Cost: linear in the text times the longest key. Worst input: long keys that almost match at every position.

use std::sync::Arc;

use hashbrown::HashSet;
use polytok_memory::{self as memory, Grow, GrowSet};

use super::charsmap::Charsmap;
use super::escape::{Escape, Prefix};
use super::growth;
use crate::error::Result;
use crate::lazy::Lazy;
use crate::space_mark;
use crate::spec::{SentencePieceNormalize, SentencePieceVersion};
use crate::trie::{NONE, ROOT, Trie};
use crate::utf8::{decode_strict, is_start, only_char};

/// U+FFFD, for a byte that is not part of a character.
const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

/// The number of bytes of ASCII text that are copied at a time.
const CHUNK_BYTES: usize = 128;

/// The kind of step that can start with a certain byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StepKind {
    /// The byte is ASCII, but not a space, and is copied, unless a non-ASCII byte follows and a key starts with the two
    /// bytes.
    Copy,
    /// The byte is a space and is written as a space, unless a non-ASCII byte follows and a key starts with the two
    /// bytes.
    Space,
    /// The byte is not ASCII; its character is copied, unless a key starts with this byte.
    Wide,
    /// The byte can be the start of a user-defined piece or an ASCII key, so all rules are tried.
    Step,
}

/// A compiled normalizer.
pub struct SentencePieceNormalizer {
    charsmap: Option<Charsmap>,
    user_defined: Option<Arc<Trie>>,
    add_dummy_prefix: bool,
    remove_extra_whitespaces: bool,
    whitespace_as_suffix: bool,
    /// The bytes that are written for a space.
    space: &'static [u8],
    /// The kind of step for each first byte.
    step_kinds: [StepKind; 256],
    /// The characters after the first character of a key; None if the keys cannot be listed.
    later_key_chars: Lazy<Option<HashSet<char>>>,
}

impl SentencePieceNormalizer {
    /// Compiles a normalizer. `user_defined` has the user-defined pieces of a model; it is None for a denormalizer and
    /// for a normalizer without a model.
    pub fn compile(
        spec: SentencePieceNormalize,
        user_defined: Option<Arc<Trie>>,
        version: SentencePieceVersion,
    ) -> Result<Self> {
        let charsmap = match spec.charsmap {
            blob if blob.is_empty() => None,
            blob => Some(Charsmap::parse(blob, version)?),
        };
        let step_kinds = std::array::from_fn(|byte| step_kind(byte as u8, charsmap.as_ref(), user_defined.as_deref()));
        Ok(SentencePieceNormalizer {
            charsmap,
            user_defined,
            add_dummy_prefix: spec.add_dummy_prefix,
            remove_extra_whitespaces: spec.remove_extra_whitespaces,
            whitespace_as_suffix: spec.whitespace_as_suffix,
            space: if spec.escape_whitespaces { space_mark::BYTES } else { b" " },
            step_kinds,
            later_key_chars: Lazy::default(),
        })
    }

    /// Returns how the normalizer makes spaces visible; None if it also changes UTF-8 text in another way.
    pub fn as_escape(&self) -> Option<Escape> {
        let is_plain = self.charsmap.is_none() && !self.remove_extra_whitespaces && self.space == space_mark::BYTES;
        let prefix = if self.add_dummy_prefix { Prefix::Always } else { Prefix::Never };
        let has_suffix = self.add_dummy_prefix && self.whitespace_as_suffix;
        (is_plain && !has_suffix).then_some(Escape { prefix, covers_first: false, replaces_invalid: true })
    }

    /// Reports whether spaces are made visible and merged, and a space is inserted before the text, as in most models.
    pub fn has_usual_options(&self) -> bool {
        self.add_dummy_prefix
            && self.remove_extra_whitespaces
            && !self.whitespace_as_suffix
            && self.space == space_mark::BYTES
    }

    /// Reports whether a space is inserted after the text.
    pub fn adds_suffix(&self) -> bool {
        self.add_dummy_prefix && self.whitespace_as_suffix
    }

    /// Reports whether each character of `text[start..end]`, which starts at a step, is copied by a step of its own. Then
    /// these bytes are also the normalized text of the steps, except a space that is inserted before or after the text.
    pub fn copies_chars(&self, text: &[u8], start: usize, end: usize) -> bool {
        let mut at = start;
        while at < end {
            let (output, consumed) = self.step(&text[at..]);
            if output != &text[at..at + consumed] || output == b" " || only_char(output).is_none() {
                return false;
            }
            at += consumed;
        }
        at == end
    }

    /// Reports whether there are user-defined pieces, which are copied.
    pub(super) fn has_user_defined(&self) -> bool {
        self.user_defined.is_some()
    }

    /// Reports whether runs of spaces are merged and spaces at the ends are removed.
    pub(super) fn merges_spaces(&self) -> bool {
        self.remove_extra_whitespaces
    }

    /// Returns the text that is written for a space.
    pub(super) fn space_text(&self) -> &'static str {
        if self.space == space_mark::BYTES { space_mark::TEXT } else { " " }
    }

    /// Reports whether a key of the charsmap can have this character after its first character.
    pub(super) fn continues_key(&self, c: char) -> bool {
        let list_later_chars = || {
            let mut later_chars = HashSet::new();
            let mut visit = |key_char: super::charsmap::KeyChar| {
                if !key_char.is_first {
                    later_chars.checked_insert(key_char.char);
                }
            };
            let is_listed = self.charsmap.as_ref().is_none_or(|map| map.for_each_char(&mut visit));
            is_listed.then_some(later_chars)
        };
        self.later_key_chars.get(list_later_chars).as_ref().is_none_or(|later_chars| later_chars.contains(&c))
    }

    /// The rules for rewriting.
    pub fn charsmap(&self) -> Option<&Charsmap> {
        self.charsmap.as_ref()
    }

    /// Appends the normalized text to `out`.
    pub fn normalize(&self, text: &[u8], out: &mut Vec<u8>) {
        self.run(text, out, &mut ());
    }

    /// Appends the normalized text to `out`. Appends to `offsets` the offset in `text` that each byte comes from, and
    /// then the end of the kept text. Appends nothing if the text is empty or, when extra spaces are removed, has only
    /// spaces. `text` must be shorter than 4 GiB.
    pub fn normalize_with_offsets(&self, text: &[u8], out: &mut Vec<u8>, offsets: &mut Vec<u32>) {
        self.run(text, out, offsets);
    }

    /// Returns the normalized text and its offsets if all offsets are starts of characters. Returns None if a key ends
    /// inside of a character or the normalized text is too long.
    pub fn normalize_whole_chars(&self, text: &[u8]) -> Option<(Vec<u8>, Vec<u32>)> {
        let (mut normalized, mut offsets) = (Vec::new(), memory::with_capacity(text.len() + text.len() / 2 + 4));
        self.normalize_with_offsets(text, &mut normalized, &mut offsets);
        let is_char_start = |&offset: &u32| text.get(offset as usize).is_none_or(|&byte| is_start(byte));
        let is_within_limits = normalized.len() <= growth::limit(text.len()) && normalized.len() < u32::MAX as usize;
        (is_within_limits && (text.is_ascii() || offsets.iter().all(is_char_start))).then_some((normalized, offsets))
    }

    fn run(&self, text: &[u8], out: &mut Vec<u8>, map: &mut impl OffsetMap) {
        let mut at = self.leading_spaces(text);
        if at == text.len() {
            return;
        }
        let (base, map_base) = (out.len(), map.count());
        out.checked_reserve(text.len() + text.len() / 2 + 3);
        if self.add_dummy_prefix && !self.whitespace_as_suffix {
            out.checked_extend_from_slice(self.space);
            map.add_bytes(at, self.space.len());
        }
        self.write_body(text, &mut at, out, map);
        if self.remove_extra_whitespaces {
            // Like the reference, this loop compares bytes, so it also removes a U+2581 of the caller's text.
            while out[base..].ends_with(self.space) {
                out.truncate(out.len() - self.space.len());
                at = map.truncate_to(map_base + out.len() - base).unwrap_or(at);
            }
        }
        if self.add_dummy_prefix && self.whitespace_as_suffix {
            out.checked_extend_from_slice(self.space);
            map.add_bytes(at, self.space.len());
        }
        map.add_bytes(at, 1);
    }

    /// Returns the number of bytes at the start of the text that steps of the normalizer rewrite to spaces.
    pub fn leading_spaces(&self, text: &[u8]) -> usize {
        let mut at = 0;
        while self.remove_extra_whitespaces && at < text.len() {
            let (output, consumed) = self.step(&text[at..]);
            if output != b" " {
                break;
            }
            at += consumed;
        }
        at
    }

    /// Writes the text from `at` to its end, and advances `at`. Stops early if the output exceeds its limit.
    fn write_body(&self, text: &[u8], at: &mut usize, out: &mut Vec<u8>, map: &mut impl OffsetMap) {
        let mut after_space = self.remove_extra_whitespaces;
        let mut ascii_end = 0;
        let max_len = growth::limit(text.len()).saturating_add(out.len());
        while *at < text.len() && out.len() <= max_len {
            if *at >= ascii_end {
                ascii_end = self.ascii_end(text, *at);
            }
            self.write_simple_ascii(&text[..ascii_end], at, &mut after_space, out, map);
            let run = self.copied_non_ascii_len(&text[*at..]);
            if run > 0 {
                out.checked_extend_from_slice(&text[*at..*at + run]);
                map.add_chars(*at, &text[*at..*at + run]);
                *at += run;
                after_space = false;
            } else if *at < text.len() {
                let (output, consumed) = self.step(&text[*at..]);
                let written = if after_space { trim_leading_spaces(output) } else { output };
                self.append(written, *at, out, map);
                if let Some(&last) = written.last() {
                    after_space = last == b' ' && self.remove_extra_whitespaces;
                }
                *at += consumed;
            }
        }
    }

    /// Returns the end of the ASCII text at `from`, without the last ASCII byte if a key can start with that byte and
    /// the byte after it.
    fn ascii_end(&self, text: &[u8], from: usize) -> usize {
        let mut end = from;
        while text[end..].first_chunk::<8>().is_some_and(|eight| eight.is_ascii()) {
            end += 8;
        }
        end += text[end..].iter().take_while(|byte| byte.is_ascii()).count();
        if from < end && end < text.len() && self.can_be_key(&text[end - 1..]) { end - 1 } else { end }
    }

    /// Writes copied bytes and spaces from `at` on, up to the end of `ascii` or a byte that needs a full step.
    fn write_simple_ascii(
        &self,
        ascii: &[u8],
        at: &mut usize,
        after_space: &mut bool,
        out: &mut Vec<u8>,
        map: &mut impl OffsetMap,
    ) {
        while *at < ascii.len() && self.step_kinds[ascii[*at] as usize] != StepKind::Step {
            let mut buffer = [0; 3 * CHUNK_BYTES + 4];
            let chunk = &ascii[*at..ascii.len().min(*at + CHUNK_BYTES)];
            let (read, written) = self.write_simple_chunk(chunk, *at, after_space, &mut buffer, map);
            out.checked_extend_from_slice(&buffer[..written]);
            *at += read;
        }
    }

    /// Does the work of `write_simple_ascii` for one chunk; returns the number of bytes read and the number of bytes
    /// written. For each byte of the input the loop writes four bytes, and then advances by the length of the true
    /// output; so the loop has no branch that the processor mispredicts at the ends of words.
    #[inline]
    fn write_simple_chunk(
        &self,
        chunk: &[u8],
        at: usize,
        after_space: &mut bool,
        buffer: &mut [u8; 3 * CHUNK_BYTES + 4],
        map: &mut impl OffsetMap,
    ) -> (usize, usize) {
        let space = [self.space[0], *self.space.get(1).unwrap_or(&0), *self.space.get(2).unwrap_or(&0), 0];
        let space_len = self.space.len();
        let (mut written, mut after) = (0, *after_space);
        let mut read = 0;
        for &byte in chunk {
            let start = self.step_kinds[byte as usize];
            if start == StepKind::Step {
                break;
            }
            let is_space = start == StepKind::Space;
            let len = if is_space { if after { 0 } else { space_len } } else { 1 };
            let bytes = if is_space { space } else { [byte, 0, 0, 0] };
            buffer[written..written + 4].copy_from_slice(&bytes);
            map.add_bytes(at + read, len);
            written += len;
            read += 1;
            after = is_space && self.remove_extra_whitespaces;
        }
        *after_space = after;
        (read, written)
    }

    /// Appends the output of the step at `at`, with spaces written as the normalizer's options require.
    fn append(&self, output: &[u8], at: usize, out: &mut Vec<u8>, map: &mut impl OffsetMap) {
        for &byte in output {
            let written = if byte == b' ' { self.space } else { std::slice::from_ref(&byte) };
            out.checked_extend_from_slice(written);
            map.add_bytes(at, written.len());
        }
    }

    /// Returns the length of the run of non-ASCII characters at the start of the text that are copied.
    fn copied_non_ascii_len(&self, text: &[u8]) -> usize {
        let mut at = 0;
        while at < text.len()
            && text[at] >= 0x80
            && !self.starts_with_piece(&text[at..])
            && !self.starts_with_key(&text[at..])
        {
            match decode_strict(&text[at..]) {
                Some((_, len)) => at += len,
                None => break,
            }
        }
        at
    }

    #[inline]
    fn starts_with_piece(&self, text: &[u8]) -> bool {
        self.step_kinds[text[0] as usize] == StepKind::Step && self.piece_len(text).is_some()
    }

    /// Returns the length of the longest user-defined piece that `text` starts with.
    fn piece_len(&self, text: &[u8]) -> Option<usize> {
        self.user_defined.as_ref()?.longest_prefix(text).map(|(len, _)| len)
    }

    /// Reports whether `text` can start with a key, judged by the first two bytes of `text`.
    #[inline]
    fn can_be_key(&self, text: &[u8]) -> bool {
        self.charsmap.as_ref().is_some_and(|map| map.can_start_with(text[0], *text.get(1).unwrap_or(&0)))
    }

    #[inline]
    fn starts_with_key(&self, text: &[u8]) -> bool {
        self.can_be_key(text) && self.charsmap.as_ref().is_some_and(|map| map.longest_prefix(text).is_some())
    }

    /// Runs one step at the start of `text`; returns its output and the number of bytes that it consumes.
    pub fn step<'a>(&'a self, text: &'a [u8]) -> (&'a [u8], usize) {
        if self.step_kinds[text[0] as usize] == StepKind::Space && text.get(1).is_none_or(|&next| next < 0x80) {
            return (b" ", 1);
        }
        if let Some(len) = self.piece_len(text) {
            return (&text[..len], len);
        }
        if let Some((len, replacement)) = self.charsmap.as_ref().and_then(|map| map.longest_prefix(text)) {
            return (replacement, len);
        }
        match decode_strict(text) {
            Some((_, len)) => (&text[..len], len),
            None => (REPLACEMENT, 1),
        }
    }
}

/// Returns the kind of step that can start with `byte`.
fn step_kind(byte: u8, charsmap: Option<&Charsmap>, user_defined: Option<&Trie>) -> StepKind {
    let starts_ascii_key = charsmap.is_some_and(|map| (0..0x80).any(|second| map.can_start_with(byte, second)));
    let node = user_defined.map_or(NONE, |trie| trie.child(ROOT, byte));
    let is_piece = |trie: &Trie| trie.value(node) != NONE && (0..=255).all(|next| trie.child(node, next) == NONE);
    match byte {
        // The byte is a user-defined piece and no longer piece starts with it, so it is copied like any other byte.
        0..0x80 if node != NONE && byte != b' ' && user_defined.is_some_and(is_piece) => StepKind::Copy,
        _ if node != NONE => StepKind::Step,
        0x80.. => StepKind::Wide,
        _ if starts_ascii_key => StepKind::Step,
        b' ' => StepKind::Space,
        _ => StepKind::Copy,
    }
}

/// The offsets that output bytes come from. `()` keeps none.
pub trait OffsetMap {
    /// Returns the number of offsets.
    fn count(&self) -> usize;
    /// Adds the offsets of UTF-8 text that is copied from `at`. All bytes of a character have the offset of its first
    /// byte.
    fn add_chars(&mut self, at: usize, chars: &[u8]);
    /// Adds the offset `at` for `n` bytes.
    fn add_bytes(&mut self, at: usize, n: usize);
    /// Truncates the map to `len` entries; returns the first entry that was removed.
    fn truncate_to(&mut self, len: usize) -> Option<usize>;
}

impl OffsetMap for () {
    fn count(&self) -> usize {
        0
    }

    fn add_chars(&mut self, _: usize, _: &[u8]) {}

    fn add_bytes(&mut self, _: usize, _: usize) {}

    fn truncate_to(&mut self, _: usize) -> Option<usize> {
        None
    }
}

impl OffsetMap for Vec<u32> {
    fn count(&self) -> usize {
        self.len()
    }

    fn add_chars(&mut self, at: usize, chars: &[u8]) {
        let mut first = at as u32;
        self.checked_extend((at as u32..).zip(chars).map(|(offset, &byte)| {
            if is_start(byte) {
                first = offset;
            }
            first
        }));
    }

    fn add_bytes(&mut self, at: usize, n: usize) {
        for _ in 0..n {
            self.checked_push(at as u32);
        }
    }

    fn truncate_to(&mut self, len: usize) -> Option<usize> {
        let first = self.get(len).map(|&at| at as usize);
        self.truncate(len);
        first
    }
}

fn trim_leading_spaces(output: &[u8]) -> &[u8] {
    let spaces = output.iter().take_while(|&&byte| byte == b' ').count();
    &output[spaces..]
}

#[cfg(test)]
mod tests;
