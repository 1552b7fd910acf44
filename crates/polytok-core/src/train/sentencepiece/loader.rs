//! Reads texts as normalized sentences, with boundary characters at positions that no piece can cross.
//!
//! Reference: `LoadSentences`. A sentence is skipped if it is empty, is too long, or contains U+2585. Skipped sentences
//! are counted, except empty ones. The other sentences are normalized as if no piece were reserved; then the boundary
//! character replaces each longest match of a reserved piece. In 0.2.3 the boundary character also replaces the
//! delimiter (`pretokenization_delimiter`).

use polytok_memory::Grow;

use super::options::{RARE_CHAR, SentencePieceOptions, SentenceUnit};
use crate::error::{Error, Result};
use crate::normalize::growth::{growth_error, limit};
use crate::normalize::sentencepiece::SentencePieceNormalizer;
use crate::spec::SentencePieceVersion;
use crate::trie::Trie;

/// The largest number of bytes of a sentence, so that offsets in the normalized sentence fit in 32 bits.
const MAX_SENTENCE_BYTES: usize = 1 << 30;

/// The numbers of skipped sentences, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SkippedSentences {
    /// The number of sentences longer than `max_sentence_length`.
    pub long: u64,
    /// The number of sentences that contain U+2585.
    pub reserved: u64,
}

impl std::ops::AddAssign for SkippedSentences {
    fn add_assign(&mut self, other: SkippedSentences) {
        self.long += other.long;
        self.reserved += other.reserved;
    }
}

/// Splits texts into sentences and normalizes sentences.
pub struct Loader {
    normalizer: SentencePieceNormalizer,
    reserved_pieces: Trie,
    /// True for each byte that starts a reserved piece.
    starts_reserved_piece: [bool; 256],
    boundary: String,
    rare: memchr::memmem::Finder<'static>,
    delimiter: Option<memchr::memmem::Finder<'static>>,
    sentences: SentenceUnit,
    is_tsv: bool,
    keeps_reserved: bool,
    max_sentence_bytes: usize,
}

impl Loader {
    /// Compiles the normalizer and the reserved pieces.
    pub fn compile(options: &SentencePieceOptions) -> Result<Loader> {
        let delimiter = Some(options.pretokenization_delimiter.as_bytes());
        let delimiter = delimiter.filter(|text| !text.is_empty() && options.version == SentencePieceVersion::V0_2_3);
        Ok(Loader {
            normalizer: SentencePieceNormalizer::compile(options.normalize.clone(), None, options.version)?,
            reserved_pieces: Trie::build(options.meta.iter().map(|text| (&text[..], 0)))?,
            starts_reserved_piece: std::array::from_fn(|byte| {
                options.meta.iter().any(|text| text.first() == Some(&(byte as u8)))
            }),
            boundary: options.boundary().to_string(),
            rare: memchr::memmem::Finder::new(RARE_CHAR.encode_utf8(&mut [0; 4])).into_owned(),
            delimiter: delimiter.map(|text| memchr::memmem::Finder::new(text).into_owned()),
            sentences: options.sentences,
            is_tsv: options.is_tsv,
            keeps_reserved: options.keeps_reserved,
            max_sentence_bytes: options.max_sentence_length,
        })
    }

    /// Returns how texts are divided into sentences.
    pub fn sentences(&self) -> SentenceUnit {
        self.sentences
    }

    /// Calls `sentence(raw, times)` for each sentence of a text, except skipped sentences; `raw` is not normalized yet.
    pub fn read(
        &self,
        text: &[u8],
        skipped: &mut SkippedSentences,
        mut sentence: impl FnMut(&[u8], u64) -> Result<()>,
    ) -> Result<()> {
        let mut each = |raw: &[u8]| {
            let (raw, times) = if self.is_tsv { split_frequency(raw)? } else { (raw, 1) };
            if raw.is_empty() {
                Ok(())
            } else if raw.len() > self.max_sentence_bytes {
                skipped.long += 1;
                Ok(())
            } else if !self.keeps_reserved && self.rare.find(raw).is_some() {
                skipped.reserved += 1;
                Ok(())
            } else {
                sentence(raw, times)
            }
        };
        match self.sentences {
            SentenceUnit::Texts => each(text),
            SentenceUnit::Items => each(trim_line_ends(text)),
            SentenceUnit::Lines => TextLines { remaining_text: Some(text) }.try_for_each(each),
        }
    }

    /// Writes the normalized form of a sentence to `out`, with boundary characters; `spare` is a buffer.
    pub fn prepare(&self, raw: &[u8], spare: &mut Vec<u8>, out: &mut Vec<u8>) -> Result<()> {
        if raw.len() > MAX_SENTENCE_BYTES {
            return Err(Error::Argument("a sentence is longer than 1 GiB; split it, or train on lines".into()));
        }
        spare.clear();
        out.clear();
        self.normalizer.normalize(raw, spare);
        if spare.len() > limit(raw.len()) {
            return Err(growth_error("normalization"));
        }
        if memchr::memchr(b' ', spare).is_some() {
            return Err(Error::Argument("a normalized sentence contains a space; set escape_whitespaces".into()));
        }
        self.replace_reserved(spare, out);
        if let Some(delimiter) = &self.delimiter {
            std::mem::swap(spare, out);
            out.clear();
            let mut from = 0;
            for at in delimiter.find_iter(spare) {
                out.checked_extend_from_slice(&spare[from..at]);
                out.checked_extend_from_slice(self.boundary.as_bytes());
                from = at + delimiter.needle().len();
            }
            out.checked_extend_from_slice(&spare[from..]);
        }
        Ok(())
    }

    /// Appends `text` to `out`, with boundary characters in place of reserved pieces. Every match starts at a
    /// character, because the pieces and the text are UTF-8.
    fn replace_reserved(&self, text: &[u8], out: &mut Vec<u8>) {
        let (mut from, mut at) = (0, 0);
        while let Some(skipped) = text[at..].iter().position(|&byte| self.starts_reserved_piece[byte as usize]) {
            at += skipped;
            match self.reserved_pieces.longest_prefix(&text[at..]) {
                Some((len, _)) => {
                    out.checked_extend_from_slice(&text[from..at]);
                    out.checked_extend_from_slice(self.boundary.as_bytes());
                    at += len;
                    from = at;
                }
                None => at += 1,
            }
        }
        out.checked_extend_from_slice(&text[from..]);
    }
}

/// Iterates over the lines of a text, without line feeds.
struct TextLines<'t> {
    remaining_text: Option<&'t [u8]>,
}

impl<'t> Iterator for TextLines<'t> {
    type Item = &'t [u8];

    fn next(&mut self) -> Option<&'t [u8]> {
        let text = self.remaining_text.filter(|text| !text.is_empty())?;
        let end = memchr::memchr(b'\n', text);
        self.remaining_text = end.map(|end| &text[end + 1..]);
        Some(&text[..end.unwrap_or(text.len())])
    }
}

/// Removes trailing line ends.
fn trim_line_ends(text: &[u8]) -> &[u8] {
    let len = text.iter().rposition(|byte| !matches!(byte, b'\r' | b'\n')).map_or(0, |last| last + 1);
    &text[..len]
}

/// Splits a line of a tab-separated file into a text and its count.
fn split_frequency(line: &[u8]) -> Result<(&[u8], u64)> {
    let wrong = |what: &str| {
        let line_start = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
        Error::Argument(format!(
            "a line of tab-separated text {what}: {line_start:?}; write a text, a tab, and a count"
        ))
    };
    let mut parts = line.split(|&byte| byte == b'\t');
    let (Some(text), Some(count), None) = (parts.next(), parts.next(), parts.next()) else {
        return Err(wrong("does not have exactly one tab"));
    };
    let count = std::str::from_utf8(count).ok().and_then(|count| count.trim().parse().ok());
    match count {
        Some(times @ 1..) => Ok((text, times)),
        _ => Err(wrong("has no count of at least 1")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(options: &SentencePieceOptions, text: &str) -> (Vec<(String, u64)>, SkippedSentences) {
        let loader = Loader::compile(options).unwrap();
        let (mut read_sentences, mut skipped) = (Vec::new(), SkippedSentences::default());
        let (mut spare, mut out) = (Vec::new(), Vec::new());
        let read = loader.read(text.as_bytes(), &mut skipped, |raw, times| {
            loader.prepare(raw, &mut spare, &mut out)?;
            read_sentences.push((String::from_utf8(out.clone()).unwrap(), times));
            Ok(())
        });
        read.unwrap();
        (read_sentences, skipped)
    }

    #[test]
    fn sentences_are_normalized_and_marked() {
        let options =
            SentencePieceOptions { meta: vec![b"<s>".to_vec(), b"<sep>".to_vec()], ..SentencePieceOptions::default() };
        let (read_sentences, skipped) = sentences(&options, "a  b<sep>c\n\nx▅y\r\n<s<s>");
        assert_eq!(read_sentences, [("▁a▁b\u{1F}c".into(), 1), ("▁<s\u{1F}".into(), 1)]);
        assert_eq!(skipped, SkippedSentences { long: 0, reserved: 1 });
        let items = SentencePieceOptions { sentences: SentenceUnit::Items, max_sentence_length: 3, ..options.clone() };
        assert_eq!(sentences(&items, "a\nb\r\n\n").0, [("▁a\nb".into(), 1)]);
        assert_eq!(sentences(&items, "a\nbc").1.long, 1);
        let delimiter = SentencePieceOptions { pretokenization_delimiter: "||".into(), ..options };
        assert_eq!(sentences(&delimiter, "a||b").0, [("▁a\u{1F}b".into(), 1)]);
    }

    #[test]
    fn tables_have_counts() {
        let options = SentencePieceOptions { is_tsv: true, ..SentencePieceOptions::default() };
        assert_eq!(sentences(&options, "a b\t3\nc\t1").0, [("▁a▁b".into(), 3), ("▁c".into(), 1)]);
        let loader = Loader::compile(&options).unwrap();
        for wrong in ["a", "a\t0", "a\tx", "a\t1\t2", "\t"] {
            assert!(
                loader.read(wrong.as_bytes(), &mut SkippedSentences::default(), |_, _| Ok(())).is_err(),
                "{wrong:?}"
            );
        }
    }
}
