//! SentencePiece's normalizer: rewriting by rules, spaces collapsed and made visible, and where each byte came from.
//!
//! Reference: `Normalizer::Normalize` of 0.2.1 and 0.2.3, which agree. One step consumes, at the current position, the
//! longest user-defined piece (copied), or the longest key of the charsmap (replaced), or one character by strict
//! decoding (copied; a byte that is no character becomes U+FFFD). Replacements are not rewritten again.
//!
//! Invariant: every byte of the output carries the offset at which its step began; one more offset at the end says
//! where the kept text ends. Text that no step changes is copied in runs; what may change is decided per first byte
//! when the normalizer is compiled, and per pair of bytes after that.
//!
//! Cost: linear in the text times the longest key. Worst input: long keys that almost match at every position.

use std::sync::Arc;

use super::charsmap::Charsmap;
use super::escape::{Escape, Prefix};
use super::growth;
use crate::error::Result;
use crate::space_mark;
use crate::spec::{Line, SentencePieceNormalize};
use crate::trie::{NONE, ROOT, Trie};
use crate::utf8::{decode_strict, is_start};

const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

/// ASCII text is taken in pieces of this many bytes.
const CHUNK: usize = 128;

/// What a step does that starts with a certain byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// An ASCII byte other than space: copied, unless a key joins it with a following non-ASCII byte.
    Copy,
    /// A space, with the same restriction.
    Space,
    /// A non-ASCII byte: its character is copied, unless a key starts here.
    Wide,
    /// A user-defined piece or an ASCII key may start here: a full step.
    Step,
}

/// A compiled normalizer.
pub struct SentencePieceNormalizer {
    charsmap: Option<Charsmap>,
    user_defined: Option<Arc<Trie>>,
    add_dummy_prefix: bool,
    remove_extra_whitespaces: bool,
    whitespace_as_suffix: bool,
    space: &'static [u8],
    starts: [Start; 256],
}

impl SentencePieceNormalizer {
    /// Compiles a normalizer. `user_defined` is the prefix matcher of a model's user-defined pieces; a denormalizer and
    /// a normalizer on its own have none.
    pub fn compile(spec: SentencePieceNormalize, user_defined: Option<Arc<Trie>>, line: Line) -> Result<Self> {
        let charsmap = match spec.charsmap {
            blob if blob.is_empty() => None,
            blob => Some(Charsmap::parse(blob, line)?),
        };
        let starts = std::array::from_fn(|byte| start(byte as u8, charsmap.as_ref(), user_defined.as_deref()));
        Ok(SentencePieceNormalizer {
            charsmap,
            user_defined,
            add_dummy_prefix: spec.add_dummy_prefix,
            remove_extra_whitespaces: spec.remove_extra_whitespaces,
            whitespace_as_suffix: spec.whitespace_as_suffix,
            space: if spec.escape_whitespaces { space_mark::BYTES } else { b" " },
            starts,
        })
    }

    /// What is done to a text, if that is nothing but making spaces visible (and mending what is no UTF-8).
    pub fn escape(&self) -> Option<Escape> {
        let is_plain = self.charsmap.is_none() && !self.remove_extra_whitespaces && self.space == space_mark::BYTES;
        let prefix = if self.add_dummy_prefix { Prefix::Always } else { Prefix::Never };
        let has_suffix = self.add_dummy_prefix && self.whitespace_as_suffix;
        (is_plain && !has_suffix).then_some(Escape { prefix, covers_first: false, mends: true })
    }

    /// Whether spaces are made visible, collapsed, and there is one before the text: what models are trained with.
    pub fn is_usual(&self) -> bool {
        self.add_dummy_prefix
            && self.remove_extra_whitespaces
            && !self.whitespace_as_suffix
            && self.space == space_mark::BYTES
    }

    /// The rules for rewriting.
    pub fn charsmap(&self) -> Option<&Charsmap> {
        self.charsmap.as_ref()
    }

    /// Appends the normalized text to `out`.
    pub fn normalize(&self, text: &[u8], out: &mut Vec<u8>) {
        self.run(text, out, &mut ());
    }

    /// Appends the normalized text to `out`, and to `offsets` where in `text` each of its bytes came from, followed by
    /// the end of the kept text. Nothing is appended at all for a text that is empty or, where spaces are removed, all
    /// spaces. `text` must be shorter than 4 GiB.
    pub fn normalize_with_offsets(&self, text: &[u8], out: &mut Vec<u8>, offsets: &mut Vec<u32>) {
        self.run(text, out, offsets);
    }

    /// The normalized text and its offsets, which lead to characters only, or to bytes that are none; None where it is
    /// too long, and for keys that end within characters.
    pub fn whole_chars(&self, text: &[u8]) -> Option<(Vec<u8>, Vec<u32>)> {
        let (mut normalized, mut offsets) = (Vec::new(), Vec::with_capacity(text.len() + text.len() / 2 + 4));
        self.normalize_with_offsets(text, &mut normalized, &mut offsets);
        let is_whole = |&offset: &u32| text.get(offset as usize).is_none_or(|&byte| is_start(byte));
        let fits = normalized.len() <= growth::limit(text.len()) && normalized.len() < u32::MAX as usize;
        (fits && (text.is_ascii() || offsets.iter().all(is_whole))).then_some((normalized, offsets))
    }

    fn run(&self, text: &[u8], out: &mut Vec<u8>, map: &mut impl OffsetMap) {
        let mut at = self.leading_spaces(text);
        if at == text.len() {
            return;
        }
        let (base, map_base) = (out.len(), map.len());
        out.reserve(text.len() + text.len() / 2 + 3);
        if self.add_dummy_prefix && !self.whitespace_as_suffix {
            out.extend_from_slice(self.space);
            map.all_from(at, self.space.len());
        }
        self.body(text, &mut at, out, map);
        if self.remove_extra_whitespaces {
            // Bytes are compared, so a U+2581 that stood in the text goes too.
            while out[base..].ends_with(self.space) {
                out.truncate(out.len() - self.space.len());
                at = map.cut(map_base + out.len() - base).unwrap_or(at);
            }
        }
        if self.add_dummy_prefix && self.whitespace_as_suffix {
            out.extend_from_slice(self.space);
            map.all_from(at, self.space.len());
        }
        map.all_from(at, 1);
    }

    /// The length of the steps at the start that give exactly one space.
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

    fn body(&self, text: &[u8], at: &mut usize, out: &mut Vec<u8>, map: &mut impl OffsetMap) {
        let mut after_space = self.remove_extra_whitespaces;
        let mut ascii_end = 0;
        let most = growth::limit(text.len()).saturating_add(out.len());
        while *at < text.len() && out.len() <= most {
            if *at >= ascii_end {
                ascii_end = self.ascii_end(text, *at);
            }
            self.simple_ascii(&text[..ascii_end], at, &mut after_space, out, map);
            let run = self.copied_wide(&text[*at..]);
            if run > 0 {
                out.extend_from_slice(&text[*at..*at + run]);
                map.chars_from(*at, &text[*at..*at + run]);
                *at += run;
                after_space = false;
            } else if *at < text.len() {
                let (output, consumed) = self.step(&text[*at..]);
                let kept = if after_space { without_leading_spaces(output) } else { output };
                self.append(kept, *at, out, map);
                if let Some(&last) = kept.last() {
                    after_space = last == b' ' && self.remove_extra_whitespaces;
                }
                *at += consumed;
            }
        }
    }

    /// Where the ASCII text at `from` ends, without a last byte that may be joined to what follows.
    fn ascii_end(&self, text: &[u8], from: usize) -> usize {
        let mut end = from;
        while text[end..].first_chunk::<8>().is_some_and(|eight| eight.is_ascii()) {
            end += 8;
        }
        end += text[end..].iter().take_while(|byte| byte.is_ascii()).count();
        if from < end && end < text.len() && self.may_be_key(&text[end - 1..]) { end - 1 } else { end }
    }

    /// Takes the bytes from `at` on that are copied, and spaces, up to the end of `ascii` or a full step.
    fn simple_ascii(
        &self,
        ascii: &[u8],
        at: &mut usize,
        after_space: &mut bool,
        out: &mut Vec<u8>,
        map: &mut impl OffsetMap,
    ) {
        while *at < ascii.len() && self.starts[ascii[*at] as usize] != Start::Step {
            let mut buffer = [0; 3 * CHUNK + 4];
            let chunk = &ascii[*at..ascii.len().min(*at + CHUNK)];
            let (taken, given) = self.simple_chunk(chunk, *at, after_space, &mut buffer, map);
            out.extend_from_slice(&buffer[..given]);
            *at += taken;
        }
    }

    /// The same for one chunk; how many bytes were taken and given. Each byte writes four and then advances by what it
    /// gives, so the loop has no branch that the ends of words would mispredict.
    #[inline]
    fn simple_chunk(
        &self,
        chunk: &[u8],
        at: usize,
        after_space: &mut bool,
        buffer: &mut [u8; 3 * CHUNK + 4],
        map: &mut impl OffsetMap,
    ) -> (usize, usize) {
        let space = [self.space[0], *self.space.get(1).unwrap_or(&0), *self.space.get(2).unwrap_or(&0), 0];
        let space_len = self.space.len();
        let (mut given, mut after) = (0, *after_space);
        let mut taken = 0;
        for &byte in chunk {
            let start = self.starts[byte as usize];
            if start == Start::Step {
                break;
            }
            let is_space = start == Start::Space;
            let len = if is_space { if after { 0 } else { space_len } } else { 1 };
            let bytes = if is_space { space } else { [byte, 0, 0, 0] };
            buffer[given..given + 4].copy_from_slice(&bytes);
            map.all_from(at + taken, len);
            given += len;
            taken += 1;
            after = is_space && self.remove_extra_whitespaces;
        }
        *after_space = after;
        (taken, given)
    }

    fn append(&self, output: &[u8], at: usize, out: &mut Vec<u8>, map: &mut impl OffsetMap) {
        for &byte in output {
            let written = if byte == b' ' { self.space } else { std::slice::from_ref(&byte) };
            out.extend_from_slice(written);
            map.all_from(at, written.len());
        }
    }

    /// The length of the non-ASCII characters at the start that steps would copy one by one.
    fn copied_wide(&self, text: &[u8]) -> usize {
        let mut at = 0;
        while at < text.len() && text[at] >= 0x80 && !self.is_piece(&text[at..]) && !self.is_key(&text[at..]) {
            match decode_strict(&text[at..]) {
                Some((_, len)) => at += len,
                None => break,
            }
        }
        at
    }

    #[inline]
    fn is_piece(&self, text: &[u8]) -> bool {
        self.starts[text[0] as usize] == Start::Step && self.piece(text).is_some()
    }

    /// The length of the user-defined piece at the start.
    fn piece(&self, text: &[u8]) -> Option<usize> {
        self.user_defined.as_ref()?.longest_prefix(text).map(|(len, _)| len)
    }

    /// Whether a key starts `text`, judged by its first two bytes.
    #[inline]
    fn may_be_key(&self, text: &[u8]) -> bool {
        self.charsmap.as_ref().is_some_and(|map| map.may_start(text[0], *text.get(1).unwrap_or(&0)))
    }

    #[inline]
    fn is_key(&self, text: &[u8]) -> bool {
        self.may_be_key(text) && self.charsmap.as_ref().is_some_and(|map| map.longest_prefix(text).is_some())
    }

    /// One step at the start of `text`: what it gives and how many bytes it consumes.
    pub fn step<'a>(&'a self, text: &'a [u8]) -> (&'a [u8], usize) {
        if self.starts[text[0] as usize] == Start::Space && text.get(1).is_none_or(|&next| next < 0x80) {
            return (b" ", 1);
        }
        if let Some(len) = self.piece(text) {
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

fn start(byte: u8, charsmap: Option<&Charsmap>, user_defined: Option<&Trie>) -> Start {
    let starts_ascii_key = charsmap.is_some_and(|map| (0..0x80).any(|second| map.may_start(byte, second)));
    let node = user_defined.map_or(NONE, |trie| trie.child(ROOT, byte));
    let is_piece = |trie: &Trie| trie.value(node) != NONE && (0..=255).all(|next| trie.child(node, next) == NONE);
    match byte {
        // A piece that is this byte alone: a copy like any other, and rules do not touch it.
        0..0x80 if node != NONE && byte != b' ' && user_defined.is_some_and(is_piece) => Start::Copy,
        _ if node != NONE => Start::Step,
        0x80.. => Start::Wide,
        _ if starts_ascii_key => Start::Step,
        b' ' => Start::Space,
        _ => Start::Copy,
    }
}

/// Where output bytes came from; `()` keeps nothing.
trait OffsetMap {
    fn len(&self) -> usize;
    /// Well-formed text that stood at `at`: the bytes of a character all came from its first.
    fn chars_from(&mut self, at: usize, chars: &[u8]);
    /// `n` bytes that all came from `at`.
    fn all_from(&mut self, at: usize, n: usize);
    /// Shortens the map to `len`; the first entry that went.
    fn cut(&mut self, len: usize) -> Option<usize>;
}

impl OffsetMap for () {
    fn len(&self) -> usize {
        0
    }

    fn chars_from(&mut self, _: usize, _: &[u8]) {}

    fn all_from(&mut self, _: usize, _: usize) {}

    fn cut(&mut self, _: usize) -> Option<usize> {
        None
    }
}

impl OffsetMap for Vec<u32> {
    fn len(&self) -> usize {
        self.len()
    }

    fn chars_from(&mut self, at: usize, chars: &[u8]) {
        let mut first = at as u32;
        self.extend((at as u32..).zip(chars).map(|(place, &byte)| {
            if is_start(byte) {
                first = place;
            }
            first
        }));
    }

    fn all_from(&mut self, at: usize, n: usize) {
        for _ in 0..n {
            self.push(at as u32);
        }
    }

    fn cut(&mut self, len: usize) -> Option<usize> {
        let first = self.get(len).map(|&at| at as usize);
        self.truncate(len);
        first
    }
}

fn without_leading_spaces(output: &[u8]) -> &[u8] {
    let spaces = output.iter().take_while(|&&byte| byte == b' ').count();
    &output[spaces..]
}

#[cfg(test)]
mod tests;
